//! The names of `src/engine/stacks.rs` where nothing switches between stacks.
//!
//! In: the size of a stack. Out: an error; so no fiber is ever made.

use super::stack::FrameStack;
use crate::{Error, Unsupported};
use std::convert::Infallible;
use std::marker::PhantomData;
use std::ops::Range;

/// A coroutine, of which there is none.
#[derive(Debug)]
pub(crate) struct Coroutine<Input, Yield, Return>(FiberStack, PhantomData<(Input, Yield, Return)>);

/// How a coroutine would come back.
#[expect(dead_code, reason = "there is no coroutine")]
pub(crate) enum CoroutineResult<Yield, Return> {
    Yield(Yield),
    Return(Return),
}

/// What would suspend a coroutine.
#[derive(Debug)]
pub(crate) struct Yielder<Input, Yield>(FiberStack, PhantomData<(Input, Yield)>);

impl<Input, Yield> Yielder<Input, Yield> {
    pub(crate) fn suspend(&self, _: Yield) -> Input {
        match self.0.0 {}
    }

    pub(crate) fn on_parent_stack<R>(&self, _: impl FnOnce() -> R + Send) -> R {
        match self.0.0 {}
    }
}

pub(crate) unsafe fn coroutine<Input, Yield, Return>(
    stack: FiberStack,
    _: impl FnOnce(&Yielder<Input, Yield>, Input) -> Return,
) -> Coroutine<Input, Yield, Return> {
    match stack.0 {}
}

impl<Input, Yield, Return> Coroutine<Input, Yield, Return> {
    pub(crate) fn resume(&mut self, _: Input) -> CoroutineResult<Yield, Return> {
        match self.0.0 {}
    }

    pub(crate) fn started(&self) -> bool {
        match self.0.0 {}
    }

    pub(crate) fn done(&self) -> bool {
        match self.0.0 {}
    }

    pub(crate) fn force_unwind(&mut self) {
        match self.0.0 {}
    }

    pub(crate) fn into_stack(self) -> FiberStack {
        self.0
    }
}

/// Whether fibers exist on this machine.
pub(crate) const CAN_SWITCH: bool = false;

/// The stacks of an engine's fibers, of which there are none.
#[derive(Debug)]
pub(crate) struct StackPool;

impl StackPool {
    pub(crate) fn new(_: (usize, usize)) -> StackPool {
        StackPool
    }

    pub(crate) fn take(&self) -> Result<FiberStack, Error> {
        Err(Error::Unsupported(Unsupported::Architecture))
    }

    pub(crate) fn give_back(&self, stack: FiberStack) {
        match stack.0 {}
    }

    pub(crate) fn in_use(&self) -> usize {
        0
    }
}

/// A stack, of which there is none.
#[derive(Debug)]
pub(crate) struct FiberStack(Infallible);

impl FiberStack {
    pub(crate) fn addresses(&self) -> Range<usize> {
        match self.0 {}
    }

    pub(crate) fn frames(&self) -> FrameStack {
        match self.0 {}
    }
}
