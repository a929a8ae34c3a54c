//! Declarations and assignments.

use super::expression::{NamedOperand, Operand, may_be_put};
use super::function::upvalue;
use super::{Builder, CLOSURE, Place};
use crate::object::value::Value;
use crate::run::bytecode::Op;
use crate::syntax::ast::{Expr, Function, Line, LocalId, Name, SuffixKind};
use azulejo::{RegsMut, Site};

/// What is assigned to, with its parts evaluated.
enum Target {
    Register(u32),
    Cell(u32),
    Upvalue(u32),
    Global(Name),
    Field { object: NamedOperand, key: Name },
    Element { object: NamedOperand, key: Operand },
}

impl Builder<'_> {
    /// `local a, b = 1, 2`
    pub(super) fn declare_all(&mut self, locals: &[LocalId], values: &[Expr]) {
        let first = self.take(locals.len() as u32);
        self.put_all(first, locals.len() as u32, values);
        for (local, register) in locals.iter().zip(first..) {
            self.declare(*local, register);
        }
        self.note_values(locals.iter().copied().map(Some), values);
    }

    /// Puts as many values as are wanted into registers in a row, which nothing else uses.
    pub(super) fn put_all(&mut self, first: u32, count: u32, values: &[Expr]) {
        for (at, value) in (0u32..).zip(values) {
            let is_last = at as usize + 1 == values.len();
            if at >= count {
                // It is computed, but nobody wants it.
                self.scratch(|builder| builder.push(value));
            } else if is_last && matches!(value, Expr::Vararg) {
                return self.take_varargs(first + at, count - at);
            } else if is_last && value.is_multiple() && count > at + 1 {
                self.put_multiple(first + at, value);
                return self.take_results(first + at, count - at);
            } else {
                self.put(first + at, value);
            }
        }
        let given = (values.len() as u32).min(count);
        self.nils(first + given, count - given);
    }

    /// Puts as many results of the last call as are wanted into registers in a row, in which the first one is.
    pub(super) fn take_results(&mut self, first: u32, count: u32) {
        let (a, b, c) = (first.into(), (first + 1).into(), first + 2);
        match count {
            0 | 1 => {}
            2 => drop(self.emit(Op::TakeTwo { a, b })),
            3 => drop(self.emit(Op::TakeThree { a, b, c: c.into() })),
            _ => drop(self.emit(Op::TakeResults { results: RegsMut { first, count } })),
        }
    }

    /// `local function f() … end`
    pub(super) fn declare_function(&mut self, local: LocalId, function: &Function) {
        let register = self.take(1);
        if !self.function.local(local).is_assigned {
            self.functions[local.0 as usize] = Some(function.text.bytes.start);
        }
        if self.is_in_cell(local) {
            self.constant(register, Value::NIL);
            self.declare(local, register);
            self.scratch(|builder| {
                let value = builder.take(1);
                builder.line = function.last_line;
                builder.closure(value, function, None);
                builder.emit(Op::SetCell { cell: register.into(), value: value.into() });
            });
        } else {
            self.line = function.last_line;
            self.closure(register, function, Some(local));
            self.declare(local, register);
        }
        self.note_owner(local);
    }

    /// `a, b.c = 1, 2`
    pub(super) fn assign(&mut self, targets: &[Expr], values: &[Expr], line: Line) {
        let locals = targets.iter().map(|target| match target {
            Expr::Local(local) => Some(*local),
            _ => None,
        });
        self.keep_overwritten(locals.clone().flatten());
        self.note_values(locals, values);
        self.scratch(|builder| {
            if let ([target], [value]) = (targets, values) {
                if let Expr::Local(local) = target
                    && let Place::Register(register) = builder.place(*local)
                    && may_be_put(value)
                {
                    return builder.put(register, value);
                }
                let target = builder.target(target);
                let value = builder.any(value);
                builder.line = line;
                return builder.store(target, value);
            }
            let mut places: Vec<Target> = Vec::new();
            for target in targets {
                if let Expr::Local(local) = target {
                    builder.copy_parts(&mut places, *local);
                }
                places.push(builder.target(target));
            }
            let first = builder.take(targets.len() as u32);
            builder.put_all(first, targets.len() as u32, values);
            builder.line = line;
            for (at, target) in places.into_iter().enumerate().rev() {
                builder.store(target, first + at as u32);
            }
        });
    }

    /// Copies a variable that is assigned to before others to whose parts it belongs: the last one is assigned to first.
    fn copy_parts(&mut self, targets: &mut [Target], variable: LocalId) {
        let mut copy = None;
        for target in targets {
            let (object, key) = match target {
                Target::Field { object, .. } => (object, None),
                Target::Element { object, key } => (object, Some(key)),
                _ => continue,
            };
            for part in std::iter::once(&mut object.0).chain(key) {
                if *part == Operand::Local(variable) {
                    let register = copy.get_or_insert_with(|| self.push(&Expr::Local(variable)));
                    *part = Operand::In(*register);
                }
            }
        }
    }

    /// Evaluates the parts of what is assigned to.
    fn target(&mut self, target: &Expr) -> Target {
        match target {
            Expr::Local(local) => match self.place(*local) {
                Place::Register(register) => Target::Register(register),
                Place::Cell(register) => Target::Cell(register),
                Place::Nowhere => unreachable!("a variable is used in its scope"),
            },
            Expr::Upvalue(at) => Target::Upvalue(*at),
            Expr::Global(name, _) => Target::Global((*name).clone()),
            Expr::Suffixed(first, suffixes) => {
                let (last, before) = suffixes.split_last().expect("there is one");
                let object = self.before(first, before);
                match &last.kind {
                    SuffixKind::Field(key) | SuffixKind::Index(Expr::String(key)) => {
                        Target::Field { object, key: (*key).clone() }
                    }
                    SuffixKind::Index(key) => Target::Element { object, key: self.operand(key) },
                    _ => unreachable!("nobody assigns to a call"),
                }
            }
            _ => unreachable!("nobody assigns to a value"),
        }
    }

    fn store(&mut self, target: Target, value: u32) {
        let from = value.into();
        match target {
            Target::Register(dst) => drop(self.emit(Op::Move { dst: dst.into(), a: from })),
            Target::Cell(cell) => drop(self.emit(Op::SetCell { cell: cell.into(), value: from })),
            Target::Upvalue(at) => {
                let closure = CLOSURE.into();
                self.emit(Op::SetSharedUpvalue { closure, at: upvalue(at), value: from });
            }
            Target::Global(name) => {
                let (key, closure) = (self.key(&name), CLOSURE.into());
                self.emit(Op::SetGlobal { closure, key, value: from, cache: Site::new(), seen: Site::new() });
            }
            Target::Field { object: (object, name), key } => {
                let (object, key) = (self.read(object).into(), self.key(&key));
                self.emit(Op::SetField { object, key, value: from, cache: Site::new(), seen: Site::new() });
                self.name(0, name);
            }
            Target::Element { object: (object, name), key } => {
                let (object, key) = (self.read(object).into(), self.read(key).into());
                self.emit(Op::SetIndex { object, key, value: from, seen: Site::new(), by: Site::new() });
                self.name(0, name);
            }
        }
    }
}
