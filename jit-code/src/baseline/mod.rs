//! The baseline compiler: copy a stencil for each bytecode and fill its holes.
//!
//! In: verified bytecode. Out: [`BaselineCode`], which can be entered at its start and wherever something jumps to, and
//! which has every VM register in its slot at every bytecode, but for temporaries that were read. Cost: linear, a few
//! nanoseconds a bytecode; nothing is allocated once scratch memory is large enough.
//!
//! Two passes. [`plan`] chooses a stencil for each bytecode and adds up sizes, which gives each its place; [`fill`] then copies and
//! patches, into the memory where the code will run. Neither decodes bytecode: each operand is read at its offset in the enum,
//! when it is needed ([`operand`]).
//!
//! The value that the last bytecode wrote is cached in a machine register. If the next bytecode reads that VM register, and no
//! jump leads there, a variant of its stencil reads the machine register. If the VM register is a temporary as well, its store is
//! omitted.
//!
//! ```text
//! prologue | hot parts in order | epilogue | cold parts, each with its constants | tables of switches | positions
//! ```

mod count;
#[cfg_attr(
    not(target_os = "linux"),
    allow(dead_code, reason = "where there is no signal handler, nobody asks what a fault is")
)]
mod faults;
mod fill;
mod operand;
mod pack;
mod plan;
mod stock;

use crate::call::TargetCode;
use crate::emit::{self, Backend, BaselineFrame, LEAVES, MAX_FRAME_BYTES, Options, OwnFrame, Set};
use crate::faults::Registered;
use crate::status::Status;
use crate::stencil::{self, Stencil};
use crate::unwind::{Described, StackFrame};
use crate::watch::Announced;
use crate::{CodeMemory, Installed};
use azulejo_core::error::Error;
use azulejo_core::ir::bytecode::{Bytecode, OpcodeInfo};
use azulejo_core::ir::template::Template;
use azulejo_core::pass::build::{Constants, Functions, StencilRequest};
use azulejo_core::pass::{Compilation, Observer, Target};
use azulejo_core::verify::Function;
use azulejo_core::vocab::Vocabulary;
use count::Wanted;
use fill::Around;
use operand::operands;
use pack::{StencilId, TableId};
use plan::{MAX_PART, Missing, Plan, WIDE};
use stock::{Key, Shelf, Stock};

/// Where the stencils are, made when they are first needed, and memory kept between functions.
#[derive(Debug)]
pub struct Baseline<M: Backend> {
    /// The stencils of the bytecode that was compiled last.
    shelf: Option<Shelf>,
    /// Whether it makes all stencils that it needs, and nobody else gets them.
    is_alone: bool,
    /// How many stencils it has made.
    made: u64,
    /// What stands around functions that do not keep `(cu)` in a register, and around those that do.
    frames: [Option<BaselineFrame<M>>; 2],
    plan: Plan,
    scratch: stencil::Scratch<M>,
}

impl<M: Backend> Default for Baseline<M> {
    fn default() -> Self {
        let (plan, scratch) = Default::default();
        Baseline { shelf: None, is_alone: false, made: 0, frames: [None, None], plan, scratch }
    }
}

/// A function's baseline code.
#[derive(Debug)]
pub struct BaselineCode<M: Backend> {
    /// Who has been told of it. Goes first: nobody may look for code that is not there any more.
    pub announced: Option<Announced>,
    _faults: Option<Registered>,
    installed: Installed,
    own: OwnFrame<M>,
    /// What `(cu)` is, if it is kept in a register.
    unit: Option<u64>,
    leaves: [u32; LEAVES],
    /// Where the code of each bytecode starts is in a table behind the code: where that is, and how long.
    positions: u32,
    n_bytecodes: u32,
    code_bytes: u32,
}

/// What the compiler and the baseline share.
#[allow(missing_debug_implementations, reason = "nobody can say what an observer is")]
pub struct Machinery<'a, M: Backend> {
    /// The passes.
    pub compilation: &'a mut Compilation,
    /// Memory for emitting.
    pub emission: &'a mut emit::Scratch<M>,
    /// What the passes compile for.
    pub target: Target<'static>,
    /// How tiles are emitted.
    pub set: &'static Set<M>,
    /// How stencils are emitted: for any engine's memory.
    pub options: &'a Options,
    /// What the engine has for calls.
    pub functions: Functions<'a>,
    /// Whether `(cu)` has a register of its own in baseline code.
    pub keeps_unit: bool,
    /// By opcode.
    pub templates: &'static [&'static Template],
    /// Who looks at each stage.
    pub observer: &'a mut dyn Observer,
}

impl<M: Backend> Baseline<M> {
    /// Compiles a function.
    pub fn compile<B: Bytecode>(
        &mut self,
        function: &Function<'_, B>,
        machinery: &mut Machinery<'_, M>,
        memory: &CodeMemory,
    ) -> Result<BaselineCode<M>, Error> {
        self.open::<B>(machinery);
        if function.shape.slots > i32::MAX as u32 / 8 {
            return Err(Error::FrameTooLarge { bytes: function.shape.slots as usize * 8 });
        }
        let Functions { stop, fuel, .. } = machinery.functions;
        let budget = function.budget.map(|budget| budget.addr() as u64);
        let count = match (Wanted { budget, stop, fuel }).kind() {
            Some((kind, addresses)) => Some((self.counter(machinery, kind)?, addresses)),
            None => None,
        };
        let counter = count.map(|(counter, _)| counter);
        match function.shape.depths.is_empty() {
            true => self.plan::<B, false>(function, machinery, counter)?,
            false => self.plan::<B, true>(function, machinery, counter)?,
        }
        let keeps_unit = self.plan.keeps_unit();
        let Stock { saved, room, ref packed, .. } = *Self::stock(&self.shelf);
        let known = &mut self.frames[keeps_unit as usize];
        known.take_if(|frame| (frame.saved, frame.room) != (saved, room));
        let frame =
            known.get_or_insert_with(|| M::around_stencils(saved, room, keeps_unit, machinery.options));
        let Function { labels, unit, .. } = *function;
        let code = fill::Code::of(function);
        let functions = machinery.functions;
        let own = frame.of(function.shape.slots);
        let around = Around { frame, own, code, labels, unit: unit as u64, functions, count };
        fill::fill(&self.plan, packed, around, memory)
    }

    /// Has it make all stencils by itself from now on: for who looks at how they are made, or has them made in another way.
    pub fn set_alone(&mut self) {
        self.is_alone = true;
    }

    /// How many stencils it has made.
    pub fn made(&self) -> u64 {
        self.made
    }

    /// Goes to where the stencils are.
    fn open<B: Bytecode>(&mut self, machinery: &Machinery<'_, M>) {
        let Machinery { templates, target, set, options, functions, .. } = machinery;
        let key = Key::of::<B>(templates, target, set, options, functions);
        if !self.shelf.as_ref().is_some_and(|shelf| shelf.is_for(&key, !self.is_alone)) {
            let shelf = if self.is_alone {
                Shelf::own::<B>(key, M::MACHINE)
            } else {
                Shelf::shared::<B>(key, M::MACHINE)
            };
            self.shelf = Some(shelf);
        }
    }

    fn stock(shelf: &Option<Shelf>) -> &Stock {
        shelf.as_ref().expect("it was opened").stock()
    }

    fn shelf(&mut self) -> &mut Shelf {
        self.shelf.as_mut().expect("it was opened")
    }

    /// Chooses a stencil for each bytecode and a place for it.
    fn plan<B: Bytecode, const STACK: bool>(
        &mut self,
        function: &Function<'_, B>,
        machinery: &mut Machinery<'_, M>,
        count: Option<StencilId>,
    ) -> Result<(), Error> {
        let Functions { cells, fuel, .. } = machinery.functions;
        self.plan.clear(function, cells.len(), fuel.is_some())?;
        loop {
            let Stock { opcodes, packed, .. } = Self::stock(&self.shelf);
            let count = count.map(|count| &packed.stencils[count.at()]);
            let size = count.map(|count| count.hot);
            let Some(missing) = self.plan.go_on::<B, STACK>((opcodes, packed), function, size)? else {
                self.plan.finish(packed, function, count);
                return Ok(());
            };
            if self.shelf().look_again() {
                // It may be there by now.
                continue;
            }
            let opcode = missing.opcode;
            let (info, template) = (&B::OPCODES[opcode], machinery.templates[opcode]);
            if Self::stock(&self.shelf).opcodes.knows(opcode) {
                self.make(missing, (info, template), B::OPERATORS, machinery)?;
            } else {
                // Then it can be said which one is wanted.
                self.shelf().add(|stock| stock.opcodes.learn::<B>(opcode, &mut stock.packed, template));
            }
        }
    }

    /// The stencil that counts, which is made when it is first needed.
    fn counter(&mut self, machinery: &mut Machinery<'_, M>, kind: usize) -> Result<StencilId, Error> {
        let known = |baseline: &Self| Self::stock(&baseline.shelf).counters[kind];
        if known(self).is_none() {
            self.shelf().look_again();
        }
        if let Some(count) = known(self) {
            return Ok(count);
        }
        let request = StencilRequest {
            vocab: Vocabulary::BUILTIN,
            opcode: &count::OPCODES[kind],
            template: &count::TEMPLATES[kind],
            cached: 0,
            omits_store: false,
            keeps_unit: machinery.keeps_unit,
            constants: Constants::Long,
            functions: machinery.functions.of_process(),
        };
        let stencil = self.make_stencil(&request, machinery)?;
        let operands = operands(&count::OPCODES[kind], count::OFFSETS[kind]);
        self.shelf().add(|stock| {
            if stock.counters[kind].is_none() {
                stock.counters[kind] = Some(stock.add(&stencil, &operands, TableId::NONE));
            }
        });
        Ok(known(self).expect("it was added"))
    }

    /// Makes a stencil that was not needed before.
    #[cold]
    #[inline(never)]
    fn make(
        &mut self,
        missing: Missing,
        (info, template): (&OpcodeInfo, &'static Template),
        operators: &'static [azulejo_core::vocab::OpInfo],
        machinery: &mut Machinery<'_, M>,
    ) -> Result<(), Error> {
        let Missing { opcode, variant, no_store_of } = missing;
        let reads = Self::stock(&self.shelf).opcodes.details[opcode].reads.iter().enumerate();
        let cached = reads
            .filter(|(at, _)| variant >> at & 1 != 0)
            .fold(0, |cached, (_, read)| cached | 1 << read.operand);
        let vocab = Vocabulary { extra: operators };
        let constants = if variant & WIDE == 0 { Constants::Short } else { Constants::Long };
        let functions = machinery.functions.of_process();
        let omits_store = no_store_of.is_some();
        let keeps_unit = machinery.keeps_unit;
        let mut request = StencilRequest {
            vocab,
            opcode: info,
            template,
            cached,
            omits_store,
            keeps_unit,
            constants,
            functions,
        };
        let stencil = match self.make_stencil(&request, machinery) {
            Err(Error::Internal("stencil")) => {
                request.constants = Constants::Held;
                self.make_stencil(&request, machinery)?
            }
            result => result?,
        };
        self.shelf().add(|stock| stock.set(missing, &stencil));
        Ok(())
    }

    fn make_stencil(
        &mut self,
        request: &StencilRequest<'_>,
        machinery: &mut Machinery<'_, M>,
    ) -> Result<Stencil, Error> {
        let Machinery { compilation, emission, target, set, options, observer, .. } = machinery;
        let machine = (&*target, *set, *options);
        let stencil = stencil::make(&mut self.scratch, compilation, emission, machine, request, *observer)?;
        if stencil.frame_bytes as usize > MAX_FRAME_BYTES {
            return Err(Error::FrameTooLarge { bytes: stencil.frame_bytes as usize });
        }
        if stencil.hot.len().max(stencil.cold.len()) > MAX_PART {
            return Err(Error::OutOfCodeMemory);
        }
        self.made += 1;
        Ok(stencil)
    }
}

impl<M: Backend> BaselineCode<M> {
    /// Runs it from a bytecode on.
    ///
    /// # Safety
    ///
    /// The frame must have the slots that verification asked for, with what the code expects in them; the context must
    /// be what the templates take it for; and the bytecode must be the first, or one that can be reached by a jump: others
    /// may take from a machine register what the one before left there. What the compiler was given must be right: tiles, rules,
    /// and what the function says of its temporaries.
    pub unsafe fn enter(&self, context: *mut (), frame: *mut u64, at: u32) -> Status {
        // SAFETY: this is the start of a function that goes on where it is told, which is within the code; the caller promises
        // what the code relies on.
        let raw = unsafe { M::enter(self.installed.address(), context, frame, self.address(at)) };
        Status::from(raw.turned())
    }

    /// As adapters call it.
    pub fn as_target(&self) -> TargetCode<M::Frame> {
        let start = self.address(0);
        match self.own.places() {
            Some(places) => TargetCode::RunsInFrame { frame: self.own.frame, places, unit: self.unit, start },
            None => TargetCode::TakesFrame {
                entry: self.entry(),
                third: start,
                stack_bytes: self.stack_bytes(),
                is_turned: true,
            },
        }
    }

    /// As debuggers and unwinders are told of it.
    pub fn described(&self) -> Described<'_> {
        let end = self.code_bytes as usize;
        Described { machine: M::MACHINE, frame: &self.own.frame, leaves: &self.leaves, end }
    }

    /// Where it starts: an `extern "sysv64-unwind" fn(context, frame, address) -> TurnedStatus` that goes on at the address, for
    /// callers that enter it in a way of their own.
    pub fn entry(&self) -> *const u8 {
        self.installed.address()
    }

    /// Where the code of a bytecode is.
    pub fn address(&self, at: u32) -> *const () {
        self.installed.address().wrapping_add(self.position(at) as usize).cast()
    }

    /// Where the code of a bytecode starts.
    pub fn position(&self, at: u32) -> u32 {
        assert!(at < self.n_bytecodes, "bytecode {at} is not among {}", self.n_bytecodes);
        // SAFETY: the table is as long as there are bytecodes, and nobody writes to it.
        unsafe { self.positions().add(at as usize).read_unaligned() }
    }

    /// Where each bytecode's code starts, in order, and which one it is; as compiled functions have it.
    pub fn map(&self) -> Vec<(u32, u32)> {
        // The code of each stands behind that of the one before.
        (0..self.n_bytecodes).map(|at| (self.position(at), at)).collect()
    }

    fn positions(&self) -> *const u32 {
        self.installed.address().wrapping_add(self.positions as usize).cast()
    }

    /// How much of the machine's stack it takes while it runs, besides what it calls.
    pub fn stack_bytes(&self) -> usize {
        StackFrame::size(&self.own.frame) as usize
    }

    /// The machine code, without what stands behind it.
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: the memory is this function's, and nothing writes it while it is installed.
        unsafe { core::slice::from_raw_parts(self.installed.address(), self.code_bytes as usize) }
    }
}
