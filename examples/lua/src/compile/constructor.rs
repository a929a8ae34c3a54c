//! Constructors of tables.
//!
//! In: a constructor. Out: its values in registers, and then a table of a [`Layout`], where all keys are names and there are few values. Such
//! tables have one shape, whatever the values. Otherwise the table is made first, and gets one item after the other.

use super::call::More;
use super::{Builder, Watch};
use crate::object::heap::Gc;
use crate::object::layout::Layout;
use crate::object::string::Str;
use crate::run::bytecode::Op;
use crate::syntax::ast::{
    Constructor, ConstructorItem, Expr, LocalId, Name, Statement, StatementKind, Suffix, SuffixKind,
};
use azulejo::{Imm, Regs, Site};
use std::rc::Rc;

/// How many elements are in registers before they are put into the table.
const ELEMENTS_AT_ONCE: u32 = 50;
/// In so many statements behind a table's constructor fields are looked for that it will get.
const LOOKED_AT: usize = 32;

/// The constructor of a table that is the value of an expression: by itself, or as the argument of `setmetatable` or another function.
fn constructor_of<'a>(value: &Expr<'a>) -> Option<&'a Constructor<'a>> {
    match value {
        Expr::Table(table) => Some(table),
        Expr::Suffixed(callee, suffixes)
            if matches!(**callee, Expr::Global(..) | Expr::Local(_) | Expr::Upvalue(_)) =>
        {
            match &suffixes[..] {
                [Suffix { kind: SuffixKind::Call(arguments), .. }] => match arguments.first()? {
                    Expr::Table(table) => Some(table),
                    _ => None,
                },
                _ => None,
            }
        }
        _ => None,
    }
}

/// How many fields a table gets by statements that follow its constructor in the same block. A variable is given its value by the first
/// statement.
pub(super) fn fields_to_come(statement: &Statement, behind: &[Statement]) -> u32 {
    let StatementKind::Local(locals, values) = &statement.kind else { return 0 };
    let ([local], [value]) = (&locals[..], &values[..]) else { return 0 };
    let Some(table) = constructor_of(value) else { return 0 };
    let mut names: Vec<&Name> = Vec::new();
    let has = |name: &Name| {
        let is_name = |key: &Expr| matches!(key, Expr::String(text) if *text == name);
        table.items.iter().any(|item| matches!(item, ConstructorItem::Keyed(key, _) if is_name(key)))
    };
    for statement in behind.iter().take(LOOKED_AT) {
        let StatementKind::Assign(targets, _, _) = &statement.kind else { continue };
        for target in *targets {
            if let Some(name) = field_of(target, *local)
                && names.len() < Layout::MAX_VALUES
                && !names.contains(&name)
                && !has(name)
            {
                names.push(name);
            }
        }
    }
    names.len() as u32
}

/// The name of the field of a variable's table that is assigned to.
fn field_of<'a>(target: &Expr<'a>, local: LocalId) -> Option<&'a Name> {
    let Expr::Suffixed(object, suffixes) = target else { return None };
    match (&**object, &suffixes[..]) {
        (Expr::Local(of), [Suffix { kind: SuffixKind::Field(name), .. }]) if *of == local => Some(name),
        _ => None,
    }
}

impl Builder<'_> {
    /// Makes a table and puts it into a register.
    pub(super) fn table(&mut self, dst: u32, table: &Constructor) {
        let more = std::mem::take(&mut self.fields_to_come);
        // A program that wants the collector to work, or to see memory grow, makes tables that get nothing: these are made.
        let is_for_nothing = table.items.is_empty() && more == 0;
        match self.layout_of(table).filter(|_| !is_for_nothing) {
            Some(keys) => self.object(dst, table, keys, more),
            None => self.table_by_parts(dst, table, more),
        }
    }

    /// The keys of the fields, if it is known where in the table all values will be. `None` also where hooks are to see item after item.
    fn layout_of<'t>(&self, table: &'t Constructor) -> Option<Vec<&'t Name>> {
        let last = table.items.last();
        let has_more = matches!(last, Some(ConstructorItem::Positional(value)) if value.is_multiple());
        if table.items.len() > Layout::MAX_VALUES || has_more || self.form.watch == Watch::All {
            return None;
        }
        let mut keys: Vec<&Name> = Vec::new();
        for item in table.items {
            if let ConstructorItem::Keyed(key, _) = item {
                // What metamethods are called is for the heap to see.
                let Expr::String(name) = key else { return None };
                if name.starts_with(b"__") || keys.contains(name) {
                    return None;
                }
                keys.push(name);
            }
        }
        Some(keys)
    }

    /// Makes a table when all values are in registers, and puts them there.
    fn object(&mut self, dst: u32, table: &Constructor, keys: Vec<&Name>, more: u32) {
        let keys: Vec<Gc<Str>> = keys.into_iter().map(|key| self.string(key)).collect();
        let elements = (table.items.len() - keys.len()) as u32;
        let layout = Rc::new(self.heap.layout(&keys, elements, more));
        self.scratch(|builder| {
            // The register may be that of a variable, which is one of the values.
            let to = builder.take(1);
            let values: Vec<u32> = table.items.iter().map(|item| builder.any(item.value())).collect();
            let [at, shape, counts] = [layout.address(), layout.shape.word(), layout.counts()].map(Imm);
            builder.emit_at(table.line, Op::NewObject { dst: to.into(), layout: at, shape, counts });
            // The fields are behind the elements.
            let (mut element, mut field) = (0, elements);
            for (item, value) in table.items.iter().zip(values) {
                let (object, value) = (to.into(), value.into());
                match item {
                    ConstructorItem::Positional(_) => {
                        builder.emit(Op::PutElement { object, value, at: Imm(element) });
                        element += 1;
                    }
                    ConstructorItem::Keyed(..) => {
                        builder.emit(Op::PutField { object, value, at: Imm(field) });
                        field += 1;
                    }
                }
            }
            builder.emit(Op::Move { dst: dst.into(), a: to.into() });
            builder.layouts.push(layout);
        });
    }

    fn table_by_parts(&mut self, dst: u32, table: &Constructor, more: u32) {
        let is_positional = |item: &&ConstructorItem| matches!(item, ConstructorItem::Positional(_));
        let elements = table.items.iter().filter(is_positional).count() as u32;
        let is_named = |item: &&ConstructorItem| matches!(item, ConstructorItem::Keyed(Expr::String(_), _));
        let slots = table.items.iter().filter(is_named).count() as u32 + more;
        self.scratch(|builder| {
            // The register may be that of a variable, which the items use.
            let to = builder.take(1);
            builder.emit_at(
                table.line,
                Op::NewTable { dst: to.into(), slots: Imm(slots), elements: Imm(elements) },
            );
            let (mut waiting, mut done) = (0, 0);
            let mut first = builder.free;
            for (at, item) in table.items.iter().enumerate() {
                match item {
                    ConstructorItem::Keyed(key, value) => {
                        builder.scratch(|builder| builder.store_item(to, key, value))
                    }
                    ConstructorItem::Positional(value) => {
                        if waiting == 0 {
                            first = builder.free;
                        }
                        let is_last = at + 1 == table.items.len();
                        if is_last && value.is_multiple() {
                            let more = builder.push_last(value);
                            let values = Regs { first, count: builder.free - first };
                            let (table, first, pack) =
                                (to.into(), Imm(done + 1), builder.behind_parameters().into());
                            waiting = 0;
                            builder.emit(match more {
                                More::Varargs => Op::SetListAndVarargs { table, first, values, pack },
                                More::Results => Op::SetListAndResults { table, first, values },
                                // It is known how many there are: they are as others.
                                More::Nothing => {
                                    waiting = values.count;
                                    continue;
                                }
                            });
                            builder.free = values.first;
                            continue;
                        }
                        builder.push(value);
                        waiting += 1;
                        if waiting == ELEMENTS_AT_ONCE {
                            builder.set_list(to, &mut done, first, &mut waiting);
                        }
                    }
                }
            }
            builder.set_list(to, &mut done, first, &mut waiting);
            builder.emit(Op::Move { dst: dst.into(), a: to.into() });
        });
    }

    fn set_list(&mut self, table: u32, done: &mut u32, first: u32, waiting: &mut u32) {
        if *waiting > 0 {
            let values = Regs { first, count: *waiting };
            self.emit(Op::SetList { table: table.into(), first: Imm(*done + 1), values });
            *done += *waiting;
            *waiting = 0;
            self.free = first;
        }
    }

    fn store_item(&mut self, table: u32, key: &Expr, value: &Expr) {
        if let Expr::String(name) = key {
            let key = self.key(name);
            let value = self.any(value);
            self.emit(Op::SetField {
                object: table.into(),
                key,
                value: value.into(),
                cache: Site::new(),
                seen: Site::new(),
            });
        } else {
            let (key, value) = (self.operand(key), self.operand(value));
            let (key, value) = (self.read(key).into(), self.read(value).into());
            self.emit(Op::SetIndex { object: table.into(), key, value, seen: Site::new(), by: Site::new() });
        }
    }
}
