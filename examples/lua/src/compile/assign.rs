//! Declarations and assignments.

use super::expression::may_be_put;
use super::function::upvalue;
use super::{Builder, CLOSURE, NameKind, Place};
use crate::object::value::Value;
use crate::run::bytecode::Op;
use crate::syntax::ast::{Expr, Function, Line, LocalId, Name, SuffixKind};
use azulejo::{RegsMut, Site};

/// What is assigned to, with its parts in registers.
enum Target {
    Register(u32),
    Cell(u32),
    Upvalue(u32),
    Global(Name),
    Field { object: u32, name: Option<(NameKind, Name)>, key: Name },
    Element { object: u32, name: Option<(NameKind, Name)>, key: u32 },
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
                let target = builder.target(target, false);
                let value = builder.any(value);
                builder.line = line;
                return builder.store(target, value);
            }
            let has_locals = targets.iter().any(|target| matches!(target, Expr::Local(_)));
            let places: Vec<Target> =
                targets.iter().map(|target| builder.target(target, has_locals)).collect();
            let first = builder.take(targets.len() as u32);
            builder.put_all(first, targets.len() as u32, values);
            builder.line = line;
            for (target, value) in places.into_iter().zip(first..).collect::<Vec<_>>().into_iter().rev() {
                builder.store(target, value);
            }
        });
    }

    /// Evaluates the parts of what is assigned to. Where variables are assigned to as well, parts are copied.
    fn target(&mut self, target: &Expr, copies: bool) -> Target {
        match target {
            Expr::Local(local) => match self.place(*local) {
                Place::Register(register) => Target::Register(register),
                Place::Cell(register) => Target::Cell(register),
                Place::Nowhere => unreachable!("a variable is used in its scope"),
            },
            Expr::Upvalue(at) => Target::Upvalue(*at),
            Expr::Global(name, _) => Target::Global(name.clone()),
            Expr::Suffixed(first, suffixes) => {
                let (last, before) = suffixes.split_last().expect("there is one");
                let (object, name) = self.before(first, before);
                let object = if copies { self.copy(object) } else { object };
                match &last.kind {
                    SuffixKind::Field(key) | SuffixKind::Index(Expr::String(key)) => {
                        Target::Field { object, name, key: key.clone() }
                    }
                    SuffixKind::Index(key) => {
                        let key = if copies { self.push(key) } else { self.any(key) };
                        Target::Element { object, name, key }
                    }
                    _ => unreachable!("nobody assigns to a call"),
                }
            }
            _ => unreachable!("nobody assigns to a value"),
        }
    }

    fn copy(&mut self, a: u32) -> u32 {
        let dst = self.take(1);
        self.emit(Op::Move { dst: dst.into(), a: a.into() });
        dst
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
            Target::Field { object, name, key } => {
                let key = self.key(&key);
                self.emit(Op::SetField {
                    object: object.into(),
                    key,
                    value: from,
                    cache: Site::new(),
                    seen: Site::new(),
                });
                self.name(0, name);
            }
            Target::Element { object, name, key } => {
                self.emit(Op::SetIndex {
                    object: object.into(),
                    key: key.into(),
                    value: from,
                    seen: Site::new(),
                    by: Site::new(),
                });
                self.name(0, name);
            }
        }
    }
}
