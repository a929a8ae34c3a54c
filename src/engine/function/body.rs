//! The bytecode of a function, verified once, which may be made on first use.
//!
//! In: a [`Code`], or a closure that makes one. Out: a [`Body`], which the interpreter and the compilers of every thread read.
//!
//! | State      | Holds                | Left when |
//! |------------|----------------------|-----------|
//! | declared   | the maker            | the bytecode is first used: being made |
//! | being made | nothing              | the maker returns: made, or failed |
//! | made       | the body             | never |
//! | failed     | the error            | never |
//!
//! A use of bytecode that is being made fails with [`Error::NotMade`].

use super::interpreted::EngineWords;
use super::layout::{FrameLayout, Showing};
use super::running::{RunningOps, Snapshot};
use super::speculation::Speculation;
use super::tier_state::Budget;
use crate::Error;
use crate::engine::code::{Code, Surplus, Temporaries};
use crate::inside::{Form, Learned, Subject};
use azulejo_core::check::{self, temporaries::temporaries};
use azulejo_core::ir::bytecode::{Bytecode, Functions, Machine};
use azulejo_core::ir::frames::ShowPlan;
use azulejo_core::ir::interpreted::RecordParts;
use azulejo_core::ir::sites::Sites;
use azulejo_core::pass::build::{
    self, FunctionSource, Instructions, NeededAtStart, StartScratch, needed_at_start,
};
use azulejo_core::verify::{self, Fault, Shape, VerifyError};
use azulejo_core::vocab::Vocabulary;
use std::borrow::Cow;
use std::cell::{Cell, OnceCell, RefCell};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

/// Verified bytecode, with everything that a compiler on any thread needs to know of the function.
pub(crate) struct Body<B: Bytecode> {
    name: Arc<str>,
    /// The bytecode as it was defined.
    code: Code<B>,
    /// The bytecode that runs, if bytecodes may become others: see [`RunningOps`].
    running: Option<RunningOps<B>>,
    registers: u32,
    shape: Shape,
    /// The registers that have to be zero when others call it, once somebody has asked.
    needed_at_start: OnceLock<NeededAtStart>,
    /// How often all code was discarded. Code that was requested in an earlier generation is not installed.
    generation: AtomicU32,
    /// Whether the function is compiled so that accesses may fault.
    guards: bool,
    /// Its slow paths, and which of them the optimizer leaves out.
    pub(crate) speculation: Speculation,
    /// What its bytecodes have learned.
    pub(crate) sites: Sites,
    /// How it shows its frames, if it does, and what they lead to.
    show: Option<(ShowPlan, Box<FrameLayout>)>,
}

/// Makes a function's bytecode.
pub(crate) type Maker<B> = Box<dyn FnOnce() -> Result<Body<B>, Error>>;

/// A body, or its maker. The module's head lists the states.
pub(crate) struct LazyBody<B: Bytecode> {
    /// Set when the maker has returned.
    made: OnceCell<Result<Arc<Body<B>>, Error>>,
    /// Taken when the maker starts.
    maker: Cell<Option<Maker<B>>>,
}

impl<B: Bytecode> LazyBody<B> {
    pub(crate) fn made(body: Arc<Body<B>>) -> Self {
        LazyBody { made: OnceCell::from(Ok(body)), maker: Cell::new(None) }
    }

    pub(crate) fn declared(maker: Maker<B>) -> Self {
        LazyBody { made: OnceCell::new(), maker: Cell::new(Some(maker)) }
    }

    /// The body, or the error of its maker; `None` while it is declared or being made.
    #[inline(always)]
    pub(crate) fn get(&self) -> Option<Result<&Arc<Body<B>>, Error>> {
        self.made.get().map(|body| body.as_ref().map_err(|error| *error))
    }

    /// Makes the body, which must be declared.
    pub(crate) fn make(&self) -> Result<(), Error> {
        // The maker may call other functions, but not this one: it finds no maker here.
        let maker = self.maker.take().ok_or(Error::NotMade)?;
        let body = maker().map(Arc::new);
        let result = body.as_ref().map(|_| ()).map_err(|error| *error);
        let is_first = self.made.set(body).is_ok();
        debug_assert!(is_first, "nobody else had the maker");
        result
    }
}

impl<B: Bytecode> Body<B> {
    pub(crate) fn verified(
        name: Arc<str>,
        mut code: Code<B>,
        registers: u32,
        guards: bool,
        showing: Option<Showing>,
    ) -> Result<Self, Error> {
        let mut shape = verify::verify(&code.ops, &code.labels, registers)?;
        debug_assert_eq!(check::shape::shape(&code.ops, &code.labels, registers, &shape), []);
        if let (None, [_, ..]) = (code.promises.unit, B::TAKES_UNIT)
            && let Some(at) = code.ops.iter().position(|op| B::TAKES_UNIT[op.opcode()])
        {
            return Err(VerifyError::at(&code.ops, at, Fault::NoUnit).into());
        }
        if let Some(Temporaries { first, is_vouched_for }) = code.promises.temporaries
            && (!is_vouched_for || cfg!(debug_assertions))
        {
            let is_known = temporaries(&code.ops, &code.labels, &shape, first)?;
            if !is_known && !is_vouched_for {
                code.promises.temporaries = None;
            }
        }
        code.captured.sort_unstable();
        code.captured.dedup();
        let first_temporary = code.promises.temporaries.map_or(registers, |temporaries| temporaries.first);
        if let Some(&register) = code.captured.last()
            && register >= registers.min(first_temporary)
        {
            return Err(VerifyError::of_function(Fault::Captured { register }).into());
        }
        if !code.captured.is_empty() {
            shape.capture(&code.ops, &code.captured);
        }
        if code.surplus == Surplus::Packed {
            let register = code.arguments.unwrap_or(registers);
            if register >= registers {
                return Err(VerifyError::of_function(Fault::Surplus { register }).into());
            }
        }
        let (generation, speculation) = (AtomicU32::new(0), Speculation::of(&code.ops));
        let sites = Sites::of(&mut code.ops, speculation.slow_paths());
        let running = RunningOps::of(&code.ops);
        let show = showing.map(|showing| {
            let newest = showing.newest;
            let start = running.as_ref().map_or(code.ops.as_ptr(), |running| running.ops().cast());
            let ops = (&code.ops[..], start, &code.labels[..]);
            let layout = FrameLayout::new(showing, ops, (registers, &code.captured), &mut shape);
            (layout.plan(newest), layout)
        });
        Ok(Body {
            name,
            code,
            running,
            registers,
            shape,
            needed_at_start: OnceLock::new(),
            generation,
            guards,
            speculation,
            sites,
            show,
        })
    }

    pub(crate) fn name(&self) -> &Arc<str> {
        &self.name
    }

    /// The bytecode as it was defined.
    pub(crate) fn ops(&self) -> &[B] {
        &self.code.ops
    }

    /// How many steps the templates of its bytecodes have, which says how long the optimizer takes for it.
    pub(crate) fn template_steps(&self) -> usize {
        let templates = B::templates();
        self.code.ops.iter().map(|op| templates[op.opcode()].steps.len()).sum()
    }

    /// About how many bytecodes run each time that the budget is counted at one: an iteration of the loop that begins there, or a call. A
    /// function that is called again and again may count in a small loop most of the time, so that is a part of the function at least.
    pub(crate) fn bytecodes_at_once(&self, at: u32) -> usize {
        /// One count is taken for so much of the function.
        const LEAST: usize = 16;
        let all = self.code.ops.len();
        let iteration =
            self.shape.loops.iter().find(|span| span.head == at).map(|span| span.last + 1 - span.head);
        iteration.map_or(all.div_ceil(2), |bytecodes| (bytecodes as usize).max(all.div_ceil(LEAST)))
    }

    /// The bytecode that runs. Whatever runs may write there.
    #[inline(always)]
    pub(crate) fn running(&self) -> *const [B] {
        match &self.running {
            Some(running) => running.ops(),
            None => &raw const self.code.ops[..],
        }
    }

    /// The bytecode as it is now. For the engine's thread.
    pub(crate) fn ops_now(&self) -> Cow<'_, [B]> {
        match &self.running {
            Some(running) => Cow::Owned(running.now()),
            None => Cow::Borrowed(&self.code.ops),
        }
    }

    pub(crate) fn registers(&self) -> u32 {
        self.registers
    }

    /// How many slots a frame has: the registers, followed by the operand stack, and by room in which the frame is shown.
    pub(crate) fn slots(&self) -> usize {
        self.shape.slots as usize
    }

    /// The height of the operand stack before a bytecode.
    pub(crate) fn depth(&self, at: u32) -> u32 {
        self.shape.depths.get(at as usize).copied().unwrap_or(0)
    }

    /// The maximum number of arguments.
    pub(crate) fn most_arguments(&self) -> u32 {
        self.code.arguments.map_or(self.registers, |most| most.min(self.registers))
    }

    /// The maximum number of arguments with which code is entered: a packed surplus is one more.
    pub(crate) fn entry_arguments(&self) -> u32 {
        self.most_arguments() + (self.code.surplus == Surplus::Packed) as u32
    }

    /// Sets the slots of the arguments that a call with this many does not pass, in a frame of zeros.
    #[inline(always)]
    pub(crate) fn fill_missing(&self, frame: &mut [u64], given: usize) {
        let most = self.most_arguments() as usize;
        if self.code.missing != 0 && given < most {
            frame[given..most].fill(self.code.missing);
        }
    }

    /// The bits of an argument that a call does not pass.
    pub(crate) fn missing(&self) -> u64 {
        self.code.missing
    }

    /// What happens to more arguments.
    pub(crate) fn surplus(&self) -> Surplus {
        self.code.surplus
    }

    /// Whether calls with this many arguments need not be looked at before they are made.
    #[inline(always)]
    pub(crate) fn takes(&self, given: usize) -> bool {
        given <= self.most_arguments() as usize && self.code.surplus != Surplus::Packed
    }

    /// How many of so many arguments have registers, or all if it is not for the function to drop the others.
    #[inline(always)]
    pub(crate) fn taken(&self, given: usize) -> usize {
        match self.code.surplus {
            Surplus::Dropped => given.min(self.most_arguments() as usize),
            Surplus::Refused | Surplus::Packed => given,
        }
    }

    /// The number of arguments that was promised, if there are enough registers for it.
    pub(crate) fn promised_arguments(&self) -> Option<u32> {
        self.code.arguments.filter(|most| *most <= self.registers)
    }

    /// The value of `(cu)`.
    pub(crate) fn unit(&self) -> *const () {
        match self.code.promises.unit {
            Some(address) => std::ptr::with_exposed_provenance(address),
            None => self.code.ops.as_ptr().cast(),
        }
    }

    /// Whether a template of the function takes the address of the whole frame.
    pub(crate) fn takes_address_of_frame(&self) -> bool {
        let takes = B::FRAME_ADDRESSES;
        !takes.is_empty() && self.code.ops.iter().any(|op| takes[op.opcode()])
    }

    /// Whether a bytecode is the first, or the target of a jump: there baseline code takes all from VM registers.
    pub(crate) fn is_entry(&self, at: u32) -> bool {
        at == 0 || self.shape.targets.contains(at as usize)
    }

    /// Whether the loop whose head is at a bytecode is in others.
    pub(crate) fn is_in_loops(&self, head: u32) -> bool {
        self.shape.has_outer_loop(head)
    }

    /// A number that changes when all code is discarded.
    pub(crate) fn generation(&self) -> u32 {
        self.generation.load(Ordering::Relaxed)
    }

    /// Called when all code was discarded.
    pub(crate) fn begin_generation(&self) {
        self.generation.fetch_add(1, Ordering::Relaxed);
    }

    /// The state with which the interpreter runs the function, which it does now.
    pub(crate) fn machine<'a>(
        &'a self,
        frame: *mut u64,
        context: *mut B::Context,
        budget: &'a Cell<i32>,
        stop: &'a AtomicU64,
        functions: &'a dyn Functions<B::Context>,
    ) -> Machine<'a, B::Context> {
        self.speculation.note_run();
        let (labels, slow_paths) = (&self.code.labels, self.speculation.slow_paths());
        let show = self.show_plan();
        Machine { frame, context, unit: self.unit(), labels, budget, stop, functions, slow_paths, show }
    }

    /// What machine code that interprets the function knows of it, with these words of its engine.
    pub(crate) fn record_parts(&self, words: EngineWords, budget: &Budget) -> RecordParts {
        let slow_paths = self.speculation.slow_paths();
        let EngineWords { functions, stop, fuel } = words;
        RecordParts {
            code: self.running().cast(),
            labels: self.code.labels.as_ptr(),
            unit: self.unit(),
            functions,
            slow_paths: slow_paths.address(),
            budget: budget.counter().as_ptr().cast_const(),
            stop,
            fuel,
            taken_arguments: self.entry_arguments(),
            drops_surplus: self.code.surplus == Surplus::Dropped,
            missing: self.code.missing,
            slots: self.shape.slots,
            cleared: self.shape.slots,
            registers: self.registers,
            show: self.show_plan(),
        }
    }

    /// How the function shows its frames, if it does.
    pub(crate) fn show_plan(&self) -> Option<ShowPlan> {
        self.show.as_ref().map(|(plan, _)| *plan)
    }

    /// What compilers know of all functions, with how this one shows its frames.
    pub(crate) fn linkage<'a>(&self, functions: build::Linkage<'a>) -> build::Linkage<'a> {
        build::Linkage { show: self.show_plan(), ..functions }
    }

    /// The function as observers of compilations see it. Only the thread that runs the function knows what it has learned: there
    /// it is the body itself that tells.
    pub(crate) fn subject<'a>(
        &'a self,
        code: &'a [B],
        form: Form,
        learned: &'a dyn Learned,
    ) -> Subject<'a, B> {
        Subject { name: &self.name, code, form, learned }
    }

    /// What the optimizer is to know of what the function has been through. For the engine's thread.
    pub(crate) fn snapshot(&self) -> Snapshot<B> {
        Snapshot {
            sites: self.speculation.left_out().and_then(|_| self.sites.snapshot()),
            ops: self.running.as_ref().map(RunningOps::snapshot),
        }
    }

    /// The function as the optimizer takes it, to start at the bytecode `entry`, with what is in the snapshot.
    pub(crate) fn source<'a>(
        &'a self,
        entry: u32,
        functions: build::Linkage<'a>,
        snapshot: &'a Snapshot<B>,
    ) -> FunctionSource<'a> {
        let code: &dyn Instructions = match &snapshot.ops {
            Some(ops) => ops,
            None => &self.code.ops,
        };
        FunctionSource {
            vocab: Vocabulary { extra: B::OPERATORS },
            opcodes: B::OPCODES,
            templates: if self.guards { B::guarded_templates() } else { B::templates() },
            code,
            labels: &self.code.labels,
            locals: self.registers,
            slots: self.shape.slots,
            depths: &self.shape.depths,
            entry,
            arguments: match self.code.surplus {
                Surplus::Packed => Some(self.entry_arguments()),
                Surplus::Refused | Surplus::Dropped => self.code.arguments,
            },
            functions: self.linkage(functions),
            slow_paths: self.speculation.left_out(),
            sites: snapshot.sites.as_ref(),
            missing: self.code.missing,
            drops_surplus: self.code.surplus == Surplus::Dropped,
            captured: &self.code.captured,
            call_entry: None,
            callees: &[],
        }
    }

    /// The registers that have to be zero, or to hold an argument, when other functions call this one.
    pub(crate) fn needed_at_start(&self, scratch: &RefCell<StartScratch>) -> &NeededAtStart {
        self.needed_at_start.get_or_init(|| {
            let source = self.source(0, build::Linkage::default(), &Snapshot::NOTHING);
            needed_at_start(&mut scratch.borrow_mut(), &source)
        })
    }

    /// The function as the baseline compiler takes it. Its loops decrement these budgets, if there are any. For the engine's thread.
    pub(crate) fn bytecode(&self, budget: Option<*const [Cell<i32>; 2]>) -> verify::Function<'_, B> {
        // SAFETY: the bytecode exists as long as the body, and nobody writes it while it is compiled on its thread.
        let code = unsafe { &*self.running() };
        verify::Function {
            code,
            labels: &self.code.labels,
            registers: self.registers,
            shape: &self.shape,
            unit: self.unit(),
            temporaries: self.code.promises.temporaries.map(|temporaries| temporaries.first),
            slow_paths: self.speculation.slow_paths(),
            leaves_out: self.speculation.has_gaps(),
            sites: self.speculation.may_know_cases().then_some(&self.sites),
            budget,
        }
    }
}
