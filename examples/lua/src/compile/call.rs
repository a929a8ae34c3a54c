//! Calls, and expressions with several values.

use super::condition::LATER;
use super::{Builder, NameKind};
use crate::run::bytecode::Op;
use crate::syntax::ast::{Expr, Line, Name, Suffix, SuffixKind};
use azulejo::{Regs, RegsMut, Site};

/// A register, and what is in it is called.
pub(super) type Named = (u32, Option<(NameKind, Name)>);

/// The arguments of a call, in registers.
enum Given {
    /// Three at most.
    Few(Vec<u32>),
    /// Any number, in a row behind the function.
    Many {
        call: Regs,
        /// What follows them.
        more: More,
    },
}

/// What follows values in registers in a row.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum More {
    Nothing,
    /// The other results of the last call, whose first is the last of the values.
    Results,
    /// The values of `...`.
    Varargs,
}

/// A call of the function in the first of some registers, with the arguments behind it.
fn as_they_are(call: Regs) -> Given {
    match call.count - 1 {
        0..=3 => Given::Few((call.first + 1..call.first + call.count).collect()),
        _ => Given::Many { call, more: More::Nothing },
    }
}

impl Builder<'_> {
    /// Calls what is in a register; the first result is in `dst` then.
    pub(super) fn call(&mut self, dst: u32, callee: Named, arguments: &[Expr], line: Line) {
        self.scratch(|builder| builder.call_with(dst, callee, None, arguments, line));
    }

    /// Gets a method.
    fn get_method(&mut self, line: Line, dst: u32, object: u32, key: &Name) {
        let (dst, object, key) = (dst.into(), object.into(), self.key(key));
        self.emit_at(line, Op::GetMethod { dst, object, key, cache: Site::new(), seen: Site::new() });
    }

    /// Calls a method of what is in a register.
    pub(super) fn method(
        &mut self,
        dst: u32,
        object: Named,
        (name, arguments): (&Name, &[Expr]),
        line: Line,
    ) {
        self.scratch(|builder| {
            let callee = builder.take(1);
            builder.get_method(line, callee, object.0, name);
            builder.name(0, object.1);
            let callee = (callee, Some((NameKind::Method, name.clone())));
            builder.call_with(dst, callee, Some(object.0), arguments, line);
        });
    }

    /// Makes a call with the object of a method in front of the arguments.
    fn call_with(&mut self, dst: u32, callee: Named, object: Option<u32>, arguments: &[Expr], line: Line) {
        let given = self.put_arguments(callee.0, object, arguments);
        self.line = line;
        self.call_given(dst, &callee, &given);
    }

    /// Puts arguments into registers.
    fn put_arguments(&mut self, callee: u32, object: Option<u32>, arguments: &[Expr]) -> Given {
        let has_more = arguments.last().is_some_and(Expr::is_multiple);
        if has_more || arguments.len() + object.is_some() as usize > 3 {
            return match self.lay_out(callee, object, arguments) {
                (call, More::Nothing) => as_they_are(call),
                (call, more) => Given::Many { call, more },
            };
        }
        let mut registers: Vec<u32> = object.into_iter().collect();
        for argument in arguments {
            registers.push(self.any(argument));
        }
        Given::Few(registers)
    }

    /// Makes a call. If the last argument is a call, it has given one result nearly always: the call is one of so many arguments then.
    fn call_given(&mut self, dst: u32, callee: &Named, given: &Given) {
        match given {
            Given::Many { call, more: More::Results } => {
                let otherwise = self.emit(Op::IfOneResult { otherwise: LATER });
                self.call_as_given(dst, callee, &as_they_are(*call));
                let end = self.jump_later();
                self.land([otherwise]);
                self.call_as_given(dst, callee, given);
                self.land([end]);
            }
            _ => self.call_as_given(dst, callee, given),
        }
    }

    fn call_as_given(&mut self, dst: u32, callee: &Named, given: &Given) {
        let (dst, function, cache) = (dst.into(), callee.0.into(), Site::new());
        let op = match given {
            Given::Many { call, more: More::Nothing } => {
                let (function, call) = (call.first.into(), *call);
                Op::Call { dst, function, call, cache: Site::new() }
            }
            Given::Many { call, more: More::Results } => Op::CallWithResults { dst, call: *call },
            Given::Many { call, more: More::Varargs } => {
                Op::CallWithVarargs { dst, call: *call, pack: self.behind_parameters().into() }
            }
            Given::Few(few) => match few[..] {
                [] => Op::Call0 { dst, function, cache },
                [a] => Op::Call1 { dst, function, a: a.into(), cache },
                [a, b] => Op::Call2 { dst, function, a: a.into(), b: b.into(), cache },
                [a, b, c] => Op::Call3 { dst, function, a: a.into(), b: b.into(), c: c.into(), cache },
                _ => unreachable!("there are at most three"),
            },
        };
        self.emit_call(callee, op);
    }

    /// Puts a function and its arguments into registers in a row, and says what follows them.
    pub(super) fn lay_out(&mut self, callee: u32, object: Option<u32>, arguments: &[Expr]) -> (Regs, More) {
        let first = self.take(1);
        self.emit(Op::Move { dst: first.into(), a: callee.into() });
        if let Some(object) = object {
            let to = self.take(1);
            self.emit(Op::Move { dst: to.into(), a: object.into() });
        }
        let more = self.push_all(arguments);
        (Regs { first, count: self.free - first }, more)
    }

    /// Puts expressions into registers in a row, and says what follows them, if the last one has several values.
    pub(super) fn push_all(&mut self, exprs: &[Expr]) -> More {
        let Some((last, before)) = exprs.split_last() else { return More::Nothing };
        for expr in before {
            self.push(expr);
        }
        self.push_last(last)
    }

    /// Likewise, the last one of them.
    pub(super) fn push_last(&mut self, expr: &Expr) -> More {
        if let Expr::Vararg = expr {
            let Some(there) = self.varargs else { return More::Varargs };
            let first = self.take(there);
            self.take_varargs(first, there);
            return More::Nothing;
        }
        // Calls say what their results are, whoever wants them.
        let dst = self.take(1);
        self.put_multiple(dst, expr);
        if expr.is_multiple() { More::Results } else { More::Nothing }
    }

    /// Puts as many values of `...` as are wanted into registers in a row.
    pub(super) fn take_varargs(&mut self, first: u32, count: u32) {
        let from = self.behind_parameters();
        if let Some(there) = self.varargs {
            let given = count.min(there);
            (0..given)
                .for_each(|at| _ = self.emit(Op::Move { dst: (first + at).into(), a: (from + at).into() }));
            return self.nils(first + given, count - given);
        }
        let pack = from.into();
        self.emit(Op::TakeVarargs { values: RegsMut { first, count }, pack });
    }

    /// Ends the function with the result of a call.
    pub(super) fn tail_call(&mut self, first: &Expr, suffixes: &[Suffix]) {
        let (last, before) = suffixes.split_last().expect("there is one");
        self.scratch(|builder| {
            let (object, object_name) = builder.before(first, before);
            let object = builder.read(object);
            let (callee, name, object, arguments) = match &last.kind {
                SuffixKind::Call(arguments) => (object, object_name, None, arguments),
                SuffixKind::Method(name, arguments) => {
                    let callee = builder.take(1);
                    builder.get_method(last.line.get(), callee, object, name);
                    builder.name(0, object_name);
                    (callee, Some((NameKind::Method, (*name).clone())), Some(object), arguments)
                }
                _ => unreachable!("it is a call"),
            };
            let given = builder.put_arguments(callee, object, arguments);
            builder.line = last.line.get();
            if let Given::Many { call, more: More::Results } = given {
                let otherwise = builder.emit(Op::IfOneResult { otherwise: LATER });
                builder.end_with(&(callee, name.clone()), &as_they_are(call));
                builder.land([otherwise]);
            }
            builder.end_with(&(callee, name), &given);
        });
    }

    /// Ends the function with a call.
    fn end_with(&mut self, callee: &Named, given: &Given) {
        let (function, pack, cache) = (callee.0.into(), self.behind_parameters().into(), Site::new());
        self.emit(match given {
            Given::Many { call, more: More::Nothing } => Op::TailCall { function, call: *call, cache },
            Given::Many { call, more: More::Results } => Op::TailCallWithResults { call: *call },
            Given::Many { call, more: More::Varargs } => Op::TailCallWithVarargs { call: *call, pack },
            Given::Few(few) => match few[..] {
                [] => Op::TailCall0 { function, cache },
                [a] => Op::TailCall1 { function, a: a.into(), cache },
                [a, b] => Op::TailCall2 { function, a: a.into(), b: b.into(), cache },
                [a, b, c] => Op::TailCall3 { function, a: a.into(), b: b.into(), c: c.into(), cache },
                _ => unreachable!("there are at most three"),
            },
        });
        // It is no closure.
        let dst = self.take(1);
        self.call_as_given(dst, callee, given);
        self.emit(Op::ReturnGiven { a: dst.into() });
    }
}
