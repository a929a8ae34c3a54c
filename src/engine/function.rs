//! A function of an engine: verified bytecode, and its machine code once there is some.

use super::backend::Compiled;
use crate::Error;
use azulejo_core::ir::bytecode::Bytecode;
use azulejo_core::pass::build::Source;
use azulejo_core::verify::{Shape, verify};
use azulejo_core::vocab::Vocabulary;
use std::cell::{Cell, RefCell};
use std::rc::Rc;

/// Names a function of one engine.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct FunctionId(pub(super) u32);

/// The bytecode of a function, with the lists of labels that its `Labels` operands name.
#[derive(Clone, Debug)]
pub struct Code<B> {
    /// The bytecode.
    pub ops: Vec<B>,
    /// What `Labels` operands are runs of.
    pub labels: Vec<u32>,
}

impl<B> From<Vec<B>> for Code<B> {
    fn from(ops: Vec<B>) -> Self {
        Code { ops, labels: Vec::new() }
    }
}

impl<B: Clone> From<&[B]> for Code<B> {
    fn from(ops: &[B]) -> Self {
        Code { ops: ops.to_vec(), labels: Vec::new() }
    }
}

/// Bytecode that was verified.
pub(super) struct Function<B: Bytecode> {
    name: String,
    code: Code<B>,
    registers: u32,
    shape: Shape,
    /// Shared with the calls that run it: they keep it if it is thrown away.
    compiled: RefCell<Option<Rc<Compiled>>>,
    /// When it was called last, in calls of the engine.
    last_call: Cell<u64>,
}

impl<B: Bytecode> Function<B> {
    pub(super) fn verified(name: String, code: Code<B>, registers: u32) -> Result<Self, Error> {
        let shape = verify(&code.ops, &code.labels, registers)?;
        Ok(Function { name, code, registers, shape, compiled: RefCell::default(), last_call: Cell::new(0) })
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn code(&self) -> &[B] {
        &self.code.ops
    }

    pub(super) fn labels(&self) -> &[u32] {
        &self.code.labels
    }

    pub(super) fn registers(&self) -> u32 {
        self.registers
    }

    pub(super) fn slots(&self) -> usize {
        self.shape.slots as usize
    }

    /// The height of the operand stack before a bytecode.
    pub(super) fn depth(&self, at: u32) -> u32 {
        self.shape.depths.get(at as usize).copied().unwrap_or(0)
    }

    /// What `(cu)` is: the bytecode itself, by which a template can tell functions apart.
    pub(super) fn unit(&self) -> *const () {
        self.code.ops.as_ptr().cast()
    }

    pub(super) fn compiled(&self) -> Option<Rc<Compiled>> {
        self.compiled.borrow().clone()
    }

    pub(super) fn set_compiled(&self, compiled: Option<Compiled>) {
        *self.compiled.borrow_mut() = compiled.map(Rc::new);
    }

    /// Whether there is code, and no call runs it: throwing it away frees memory now.
    pub(super) fn has_idle_code(&self) -> bool {
        self.compiled.borrow().as_ref().is_some_and(|code| Rc::strong_count(code) == 1)
    }

    pub(super) fn last_call(&self) -> u64 {
        self.last_call.get()
    }

    pub(super) fn called(&self, now: u64) {
        self.last_call.set(now);
    }

    pub(super) fn source(&self) -> Source<'_> {
        Source {
            vocab: Vocabulary { extra: B::OPERATORS },
            opcodes: B::OPCODES,
            templates: B::templates(),
            code: &self.code.ops,
            labels: &self.code.labels,
            locals: self.registers,
            slots: self.shape.slots,
            depths: &self.shape.depths,
        }
    }
}
