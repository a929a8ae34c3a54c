//! Vararg functions that know how many arguments they get.
//!
//! In: a closure, and how many arguments a call gives it. Out: the code that the call enters. That of a vararg function takes a pack of the
//! arguments behind the parameters, whatever their number is. Where calls give it the same number again and again it has a form for that
//! number, in which they are in registers as if they were parameters: no call makes a pack, and the form is inlined as any other function.

use super::vm::{Vm, prototype};
use crate::object::function::Closure;
use crate::object::heap::Gc;
use std::cell::{Cell, RefCell};

/// There are forms for up to so many arguments behind the parameters.
const MOST: usize = 8;

/// The forms of a vararg function.
#[derive(Debug)]
pub(crate) struct VarargForms {
    parameters: u32,
    /// Whether a call has asked for one. The first call gets none: many functions are called once.
    was_asked: Cell<bool>,
    /// The address by which bytecode calls each form, by the number of arguments behind the parameters.
    code: RefCell<[Option<u64>; MOST + 1]>,
}

impl VarargForms {
    /// Forms of a function with so many parameters, of which there is none yet.
    pub(crate) fn new(parameters: u32) -> VarargForms {
        VarargForms { parameters, was_asked: Cell::new(false), code: RefCell::default() }
    }

    /// Whether some sites may know of a form, which they call in place of the function.
    pub(crate) fn has_some(&self) -> bool {
        self.code.borrow().iter().any(Option::is_some)
    }
}

impl Vm {
    /// The address by which a call enters a closure that it gives so many arguments; `None` if it is better to ask at the next call.
    pub(crate) fn code_for(&mut self, closure: Gc<Closure>, arguments: u32) -> Option<u64> {
        /// A function of the library may have code of its own for so many arguments.
        const FEW: u32 = 3;
        let any = if arguments <= FEW { closure.code.get() } else { closure.definition.code.get() };
        let prototype = prototype(closure);
        let Some(forms) = &prototype.varargs else { return Some(any) };
        let more = arguments.saturating_sub(forms.parameters);
        let Some(known) = forms.code.borrow().get(more as usize).copied() else { return Some(any) };
        if known.is_none() && !forms.was_asked.replace(true) {
            return None;
        }
        let code = known.unwrap_or_else(|| {
            let recipe = prototype.recipe.as_ref();
            match recipe.and_then(|recipe| recipe.with_arguments(self, &prototype, more)) {
                Some(form) => {
                    self.heap.keep_with(closure.definition, form.header());
                    form.code.get()
                }
                None => any,
            }
        });
        forms.code.borrow_mut()[more as usize] = Some(code);
        Some(code)
    }
}
