//! Vararg functions that know how many arguments they get.
//!
//! In: a vararg function, and how many arguments are behind its parameters. Out: a form of it that has these in registers of their own, as if
//! they were parameters. A call that enters it makes no pack of them, and it can be inlined as any other function. Forms are compiled from
//! the source again, when calls learn what they call; the code that takes a pack stays for all other calls.

use super::names::name_of;
use super::{Builder, CapturedVariable, Form, Watch};
use crate::object::function::Closure;
use crate::object::heap::Gc;
use crate::run::bytecode::Op;
use crate::run::draft::Draft;
use crate::run::vm::{Prototype, Vm, prototype};
use crate::syntax;
use crate::syntax::ast::{Expr, LocalId, Name, Suffix, SuffixKind, UpvalueSource};
use azulejo::Site;
use std::cell::{Cell, RefCell};

/// There are forms for up to so many arguments behind the parameters.
const MOST: usize = 8;
/// A function of more bytecodes has no forms: it takes longer than a pack does.
const LONGEST: usize = 128;

/// The forms of a vararg function.
#[derive(Debug)]
pub(crate) struct VarargForms {
    form: Form,
    parameters: u32,
    /// Where the text of the function starts that each upvalue always is, if it is known.
    functions: Vec<Option<usize>>,
    /// Whether a call has asked for one. The first call gets none: many functions are called once.
    was_asked: Cell<bool>,
    /// The address by which bytecode calls each form, by the number of arguments behind the parameters.
    code: RefCell<[Option<u64>; MOST + 1]>,
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
        may_have.then(|| VarargForms {
            form: self.form,
            parameters: function.parameters,
            functions: self.captured_functions.clone(),
            was_asked: Cell::new(false),
            code: RefCell::default(),
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

impl Vm {
    /// The address by which a call enters a closure that gives it so many arguments; `None` if it is better to ask at the next call.
    pub(crate) fn code_for(&mut self, closure: Gc<Closure>, arguments: u32) -> Option<u64> {
        /// A builtin has a form for so many arguments.
        const FEW: u32 = 3;
        let prototype = prototype(closure);
        let any = if arguments <= FEW { closure.code.get() } else { closure.definition.code };
        let Some(forms) = &prototype.varargs else { return Some(any) };
        let more = arguments.saturating_sub(forms.parameters) as usize;
        let Some(known) = forms.code.borrow().get(more).copied() else { return Some(any) };
        if known.is_none() && !forms.was_asked.replace(true) {
            return None;
        }
        let code = known.or_else(|| self.make_form(closure, &prototype, forms, more)).unwrap_or(any);
        forms.code.borrow_mut()[more] = Some(code);
        Some(code)
    }

    /// Compiles a form. It stays as long as the function.
    #[cold]
    #[inline(never)]
    fn make_form(
        &mut self,
        closure: Gc<Closure>,
        prototype: &Prototype,
        forms: &VarargForms,
        more: usize,
    ) -> Option<u64> {
        let (source, text) = prototype.text.as_ref()?;
        let names: Vec<Name> = prototype.upvalues.iter().map(|(name, _)| name.clone()).collect();
        let own = &source[text.bytes.clone()];
        let (function, _) = syntax::parse_function(own, text, &names, prototype.span.0).ok()??;
        let captures: Vec<CapturedVariable> = (0..)
            .zip(prototype.upvalues.iter().zip(&forms.functions))
            .map(|(at, ((_, is_shared), function))| CapturedVariable {
                source: UpvalueSource::Local(LocalId(at)),
                is_shared: *is_shared,
                function: *function,
            })
            .collect();
        let mut builder = Builder::new(&mut self.heap, &function, &captures, forms.form);
        builder.varargs = Some(more as u32);
        let draft = Draft { text: Some(text.clone()), ..builder.finish().ok()? };
        let form = self.define(draft, &prototype.chunk, source);
        self.heap.keep_with(closure.definition, form.header());
        Some(form.code)
    }
}
