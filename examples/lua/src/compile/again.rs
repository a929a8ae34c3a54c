//! Functions that are compiled once more, from the source, which stays as long as its functions.
//!
//! In: what is known of a function, and what its code is to be now: a form for so many arguments, or code that lets hooks see it. Out: another
//! definition, whose code has the same upvalues, lines and names. Texts are where they were in the source, so calls of known functions are
//! still seen to be that.

use super::{Builder, CapturedVariable, Form, Watch};
use crate::object::function::Definition;
use crate::object::heap::Gc;
use crate::run::draft::{Draft, Recipe};
use crate::run::vm::{Prototype, Vm};
use crate::syntax::ast::Name;
use crate::syntax::{self, Arena};

/// How a function was compiled.
struct Again {
    form: Form,
    /// Where the text of the function starts that each upvalue always is, if it is known.
    functions: Vec<Option<usize>>,
}

impl Builder<'_> {
    /// How the function is compiled again. A form is not: the function that it is one of is.
    pub(super) fn recipe(&self) -> Option<Box<dyn Recipe>> {
        let again = || Again { form: self.form, functions: self.captured_functions.clone() };
        self.varargs.is_none().then(|| Box::new(again()) as Box<dyn Recipe>)
    }
}

impl Again {
    fn make(
        &self,
        vm: &mut Vm,
        prototype: &Prototype,
        change: impl FnOnce(&mut Builder<'_>),
    ) -> Option<Gc<Definition>> {
        let (source, text) = prototype.text.as_ref()?;
        let arena = Arena::default();
        let function = match prototype.span.0 {
            0 => syntax::parse(&arena, source).ok()?,
            line => {
                let names: Vec<Name> = prototype.upvalues.iter().map(|(name, _)| name.clone()).collect();
                syntax::parse_function(&arena, source, text, &names, line).ok()??.0
            }
        };
        let is_shared = prototype.upvalues.iter().map(|(_, is_shared)| *is_shared);
        let captures = CapturedVariable::of_alone(is_shared.zip(self.functions.iter().copied()));
        let mut builder = Builder::new(&mut vm.heap, &function, &captures, self.form);
        change(&mut builder);
        let draft = builder.finish().ok()?;
        Some(vm.define(Draft { text: Some(text.clone()), ..draft }, &prototype.chunk, source))
    }
}

impl Recipe for Again {
    #[cold]
    fn with_arguments(&self, vm: &mut Vm, prototype: &Prototype, more: u32) -> Option<Gc<Definition>> {
        self.make(vm, prototype, |builder| builder.varargs = Some(more))
    }

    #[cold]
    fn watched(&self, vm: &mut Vm, prototype: &Prototype) -> Option<Gc<Definition>> {
        let watch = |builder: &mut Builder<'_>| builder.form.watch = Watch::All;
        (self.form.watch != Watch::All).then(|| self.make(vm, prototype, watch))?
    }
}
