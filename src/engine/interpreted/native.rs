//! The names of `src/engine/native` where no machine code can be made: types of code have no values, and nothing is compiled.
//!
//! In: nothing. Out: a pending tail call, which the interpreter needs too.

use crate::inside::Watch;
use azulejo_core::error::{Error, Unsupported};
use azulejo_core::ir::bytecode::Callable;
use azulejo_core::ir::inlining::LeftFrames;
use azulejo_core::ir::interpreted::{Record, RecordParts};
use azulejo_core::pass::build::{FunctionSource, Linkage};
use azulejo_core::verify;
use azulejo_core::vocab::{Op, Trap};
use std::cell::{Cell, RefCell};
use std::marker::PhantomData;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

/// How many arguments calls have in registers, where there are any.
pub(crate) const MAX_REGISTER_ARGUMENTS: usize = Op::ARGUMENTS.len();

/// A backend that cannot compile.
#[derive(Debug)]
pub(crate) struct Backend;

/// Code of the optimizer, of which there is none.
#[derive(Debug)]
pub(crate) enum Compiled {}

/// Code of the baseline compiler, of which there is none.
#[derive(Debug)]
pub(crate) enum BaselineCode {}

/// The interpreter in machine code, of which there is none.
#[derive(Debug)]
pub(crate) enum Interpreter<B> {
    #[expect(dead_code, reason = "there is none")]
    Never(std::convert::Infallible, PhantomData<B>),
}

impl<B> Clone for Interpreter<B> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<B> Copy for Interpreter<B> {}

impl<B> Interpreter<B> {
    fn never(&self) -> ! {
        let Interpreter::Never(never, _) = *self;
        match never {}
    }

    pub(crate) fn prepare(&self, _: &[B]) -> bool {
        self.never()
    }

    pub(crate) fn knows(&self, _: &[B]) -> bool {
        self.never()
    }

    pub(crate) fn table(&self) -> *const usize {
        self.never()
    }

    pub(crate) unsafe fn record(&self, _: &RecordParts) -> Record {
        self.never()
    }

    pub(crate) fn stack_bytes(&self) -> usize {
        self.never()
    }

    pub(crate) unsafe fn enter(&self, _: &Record, _: *mut (), _: *mut u64, _: u32, _: u32) -> Status {
        self.never()
    }
}

/// An adapter, of which there is none.
#[derive(Debug)]
pub(crate) enum Adapter {}

impl Adapter {
    pub(crate) fn addresses(&self) -> std::ops::Range<usize> {
        match *self {}
    }
}

/// How compiled code would end.
#[derive(Debug)]
#[expect(dead_code, reason = "nothing is compiled, so nothing is left")]
pub(crate) enum Status {
    Returned(u64),
    Exited { at: u32 },
    MovedOn { at: u32 },
    Missed { at: u32 },
    Inlined { at: u32 },
    Trapped { trap: Trap, at: u32 },
    Tailed,
}

/// No frames were left.
pub(crate) fn take_inlined() -> LeftFrames {
    LeftFrames::default()
}

pub(crate) fn can_compile() -> Result<(), Unsupported> {
    Err(if cfg!(target_arch = "x86_64") { Unsupported::System } else { Unsupported::Architecture })
}

pub(crate) fn can_guard() -> bool {
    false
}

pub(crate) fn prepare_thread() {}

/// The options, all of which are ignored.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Choice;

impl Choice {
    pub(crate) fn only_features(&mut self, _: &[&str]) {}

    pub(crate) fn set_checks(&mut self, _: bool) {}

    pub(crate) fn set_guards(&mut self, _: bool) {}

    pub(crate) fn guards(&self) -> bool {
        false
    }

    pub(crate) fn set_frame_pointers(&mut self, _: bool) {}

    pub(crate) fn set_backtraces(&mut self, _: bool) {}

    pub(crate) fn set_own_stencils(&mut self, _: bool) {}

    pub(crate) fn set_rust_interpreter(&mut self, _: bool) {}

    pub(crate) fn set_debugger(&mut self, _: bool) {}

    pub(crate) fn set_perf_map(&mut self, _: bool) {}

    pub(crate) fn set_dump(&mut self, _: &std::path::Path) {}

    pub(crate) fn set_rules(&mut self, _: &'static [crate::rules::Matcher]) {}
}

impl Backend {
    pub(crate) fn new(_: usize, _: Choice) -> Backend {
        Backend
    }

    pub(crate) fn memory(&self) -> (usize, usize) {
        (0, 0)
    }

    pub(crate) fn stencils_made(&self) -> u64 {
        0
    }

    pub(crate) fn interpreter<B>(&self, _: bool, _: bool) -> Option<Interpreter<B>> {
        None
    }

    pub(crate) fn steps_without_stencils<B>(&self, _: &[B]) -> usize {
        0
    }

    pub(crate) fn compile(&mut self, _: &FunctionSource<'_>, _: &mut Watch<'_>) -> Result<Compiled, Error> {
        can_compile()?;
        Err(Error::Internal("compile"))
    }

    pub(crate) fn baseline<B>(
        &mut self,
        _: &verify::Function<'_, B>,
        _: Linkage<'_>,
        _: &mut Watch<'_>,
    ) -> Result<BaselineCode, Error> {
        can_compile()?;
        Err(Error::Internal("compile"))
    }
}

impl BaselineCode {
    pub(crate) unsafe fn enter(&self, _: *mut (), _: *mut u64, _: u32) -> Status {
        match *self {}
    }

    pub(crate) fn entry(&self) -> *const u8 {
        match *self {}
    }

    pub(crate) fn map(&self) -> Vec<(u32, u32)> {
        match *self {}
    }

    pub(crate) fn stack_bytes(&self) -> usize {
        match *self {}
    }

    pub(crate) fn knows_cases(&self) -> bool {
        match *self {}
    }

    pub(crate) fn lacks(&self, _: u32) -> bool {
        match *self {}
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        match *self {}
    }
}

impl Compiled {
    pub(crate) unsafe fn enter(&self, _: *mut (), _: *mut u64, _: *const ()) -> Status {
        match *self {}
    }

    pub(crate) fn entry(&self) -> *const u8 {
        match *self {}
    }

    pub(crate) fn stack_bytes(&self) -> usize {
        match *self {}
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        match *self {}
    }

    pub(crate) fn map(&self) -> &[(u32, u32)] {
        match *self {}
    }
}

/// Without compiled code there are no call cells, only the interpreter's pending tail call.
#[derive(Debug, Default)]
pub(crate) struct Links {
    /// The function of the pending tail call, and its arguments.
    next: RefCell<(u32, Vec<u64>)>,
    /// The number of each function, at the address by which templates call it.
    #[allow(clippy::vec_box, reason = "templates have the numbers' addresses")]
    numbers: Vec<Box<u32>>,
    remote: Remote,
    /// Whether a failure that was noted has gone no further.
    has_caught: Cell<bool>,
}

/// The counterpart of the word that compiled code accesses.
#[derive(Debug, Default)]
pub(crate) struct Word(AtomicU64);

impl Word {
    pub(crate) fn new() -> Word {
        Word::default()
    }
}

impl std::ops::Deref for Word {
    type Target = AtomicU64;

    fn deref(&self) -> &AtomicU64 {
        &self.0
    }
}

/// A handle with which other threads stop the program.
#[derive(Clone, Debug, Default)]
pub(crate) struct Remote(Arc<AtomicU64>);

impl Remote {
    pub(crate) fn stop(&self) {
        self.0.store(1, Relaxed);
    }

    pub(crate) fn withdraw(&self) {
        self.0.store(0, Relaxed);
    }

    pub(crate) fn word(&self) -> &AtomicU64 {
        &self.0
    }
}

impl Links {
    pub(crate) fn add(&mut self) {
        self.numbers.push(Box::new(self.numbers.len() as u32));
    }

    pub(crate) fn callee(&self, number: u32) -> *const Callable {
        let callee = std::ptr::from_ref(&*self.numbers[number as usize]).cast::<Callable>();
        callee.expose_provenance();
        callee
    }

    pub(crate) unsafe fn number(callee: *const Callable) -> u32 {
        // SAFETY: the caller guarantees that it is the address of a function; it lives as long as the engine.
        unsafe { *callee.cast::<u32>() }
    }

    pub(crate) fn function_at(&mut self, _: u64) -> Option<u32> {
        None
    }

    pub(crate) fn begin(&self, _: *const (), _: usize) {}

    pub(crate) fn set_lowest(&self, _: usize) {}

    pub(crate) fn close(&self, _: u32) {}

    pub(crate) fn close_fallback(&self, _: u32) {}

    pub(crate) fn renew(&self, _: u32) {}

    pub(crate) unsafe fn call(
        _: &RefCell<Links>,
        _: u32,
        _: *mut (),
        _: &[u64],
    ) -> Option<Result<u64, Trap>> {
        None
    }

    pub(crate) unsafe fn call_with_few(
        _: &RefCell<Links>,
        _: u32,
        _: *mut (),
        _: &[u64; MAX_REGISTER_ARGUMENTS],
        _: usize,
    ) -> Option<Result<u64, Trap>> {
        None
    }

    pub(crate) unsafe fn call_next(_: &RefCell<Links>, _: *mut ()) -> Option<Result<u64, Trap>> {
        None
    }

    pub(crate) fn set_tail_call(&self, _: *mut (), number: u32, args: &[u64]) {
        let mut next = self.next.borrow_mut();
        next.0 = number;
        next.1.clear();
        next.1.extend_from_slice(args);
    }

    pub(crate) fn caught(&self, trap: Trap) -> u32 {
        let trap = if self.remote.word().load(Relaxed) == 0 { trap } else { Trap::Ended };
        // The end of the program goes on.
        self.has_caught.set(self.has_caught.get() || trap != Trap::Ended);
        trap.code()
    }

    pub(crate) fn take_caught(&self) -> bool {
        self.has_caught.take()
    }

    pub(crate) fn next(&self) -> (u32, usize) {
        let next = self.next.borrow();
        (next.0, next.1.len())
    }

    pub(crate) fn give_next(&self, frame: &mut [u64]) {
        let args = &self.next.borrow().1;
        frame[..args.len()].copy_from_slice(args);
    }

    pub(crate) fn save_tail_call(&self) -> (u32, Vec<u64>) {
        self.next.borrow().clone()
    }

    pub(crate) fn restore_tail_call(&self, saved: (u32, Vec<u64>)) {
        *self.next.borrow_mut() = saved;
    }

    pub(crate) fn functions(&self) -> Linkage<'_> {
        Linkage::default()
    }

    pub(crate) fn remote(&self) -> Remote {
        self.remote.clone()
    }

    pub(crate) fn allow_stops(&self) {}

    pub(crate) fn set_only_read(&mut self, _: bool) -> bool {
        false
    }

    pub(crate) fn set_fuel(&mut self, _: &Word) {}
}
