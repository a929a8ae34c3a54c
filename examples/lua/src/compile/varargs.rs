//! The forms of vararg functions, for known numbers of arguments.
//!
//! In: a vararg function, and how many arguments are behind its parameters. Out: bytecode in which these are in registers that follow those
//! of the parameters. Forms are compiled when calls want them (`again`).

use super::names::name_of;
use super::{Builder, Watch};
use crate::run::bytecode::Op;
use crate::run::varargs::VarargForms;
use crate::syntax::ast::{Expr, Suffix, SuffixKind};
use azulejo::Site;

/// A function of more bytecodes has no forms: it takes longer than a pack does.
const LONGEST: usize = 128;

impl Builder<'_> {
    /// The forms that the function may have: if it is compiled now as one that takes a pack, is no chunk, and makes no closures, which would be
    /// of other functions in each form.
    pub(super) fn vararg_forms(&self) -> Option<VarargForms> {
        let function = self.function;
        let wants_table = function.arg.is_some_and(|arg| !function.uses_dots && function.local(arg).is_used);
        let may_have = function.is_vararg
            && function.line != 0
            && self.varargs.is_none()
            && self.form.watch != Watch::All
            && self.inner.is_empty()
            && self.code.len() <= LONGEST
            && !wants_table;
        may_have.then(|| VarargForms::new(function.parameters))
    }

    /// Puts the result of `select(which, ...)` into a register, if it is known how many values there are; returns whether it has. Nobody wants
    /// more than the first result.
    pub(super) fn put_selected(&mut self, dst: u32, expr: &Expr) -> bool {
        if self.varargs.is_none() {
            return false;
        }
        let Expr::Suffixed(callee, suffixes) = expr else { return false };
        let [Suffix { kind: SuffixKind::Call(arguments), line }] = &suffixes[..] else { return false };
        let [which, Expr::Vararg] = &arguments[..] else { return false };
        let Some(name) = name_of(self, callee).filter(|(_, name)| **name == *b"select") else {
            return false;
        };
        self.scratch(|builder| {
            let callee = (builder.any(callee), Some(name));
            let is_count = matches!(which, Expr::String(text) if ***text == *b"#");
            let (call, _) = builder.lay_out(callee.0, None, arguments);
            builder.line = line.get();
            let (dst, function, cache) = (dst.into(), callee.0.into(), Site::new());
            let op = match is_count {
                true => Op::CountValues { dst, function, call, cache },
                false => Op::SelectValue { dst, function, which: (call.first + 1).into(), call, cache },
            };
            builder.emit_call(&callee, op);
        });
        true
    }
}
