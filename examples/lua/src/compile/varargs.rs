//! The forms of vararg functions, for known numbers of arguments.
//!
//! In: a vararg function, and how many arguments are behind its parameters. Out: bytecode in which these are in registers that follow those
//! of the parameters. Forms are compiled when calls want them, from the source, which stays as long as its functions.

use super::names::name_of;
use super::{Builder, CapturedVariable, Form, Watch};
use crate::object::function::{Closure, Definition};
use crate::object::heap::Gc;
use crate::run::bytecode::Op;
use crate::run::draft::Draft;
use crate::run::varargs::{MakeForm, VarargForms};
use crate::run::vm::{Vm, prototype};
use crate::syntax;
use crate::syntax::ast::{Expr, Name, Suffix, SuffixKind};
use azulejo::Site;

/// A function of more bytecodes has no forms: it takes longer than a pack does.
const LONGEST: usize = 128;

/// How to compile a function again.
struct Recipe {
    form: Form,
    /// Where the text of the function starts that each upvalue always is, if it is known.
    functions: Vec<Option<usize>>,
}

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
        may_have.then(|| {
            let recipe = Recipe { form: self.form, functions: self.captured_functions.clone() };
            VarargForms::new(function.parameters, Box::new(recipe))
        })
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
            let is_count = matches!(which, Expr::String(text) if **text == *b"#");
            let (call, _) = builder.lay_out(callee.0, None, arguments);
            builder.line = *line;
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

impl MakeForm for Recipe {
    #[cold]
    fn make(&self, vm: &mut Vm, closure: Gc<Closure>, more: u32) -> Option<Gc<Definition>> {
        let prototype = prototype(closure);
        let (source, text) = prototype.text.as_ref()?;
        let names: Vec<Name> = prototype.upvalues.iter().map(|(name, _)| name.clone()).collect();
        let own = &source[text.bytes.clone()];
        let (function, _) = syntax::parse_function(own, text, &names, prototype.span.0).ok()??;
        let is_shared = prototype.upvalues.iter().map(|(_, is_shared)| *is_shared);
        let captures = CapturedVariable::of_alone(is_shared.zip(self.functions.iter().copied()));
        let mut builder = Builder::new(&mut vm.heap, &function, &captures, self.form);
        builder.varargs = Some(more);
        let draft = Draft { text: Some(text.clone()), ..builder.finish().ok()? };
        Some(vm.define(draft, &prototype.chunk, source))
    }
}
