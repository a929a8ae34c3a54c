//! The baseline compiler: copy a stencil for each bytecode and fill its holes.
//!
//! In: verified bytecode. Out: [`BaselineCode`], which can be entered at its start and wherever something jumps to, and
//! which has every VM register in its slot at every bytecode, but for temporaries that were read. Cost: linear, a few
//! nanoseconds a bytecode; nothing is allocated once scratch memory is large enough.
//!
//! Two passes. [`plan`] chooses a stencil for each bytecode and adds up sizes, so that it is known where everything will
//! be; [`fill`] then copies and patches, into the place where the code will run. Neither takes bytecode apart: each operand is
//! read where it is, when it is wanted ([`operand`]).
//!
//! The value that the last bytecode wrote is still in a machine register. If the next one reads that VM register, and
//! nothing else jumps to it, a variant of its stencil takes the value from there; and if that was a temporary, it need not be
//! written to its slot.
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

use crate::bare::{BaselineFrame, LEAVES, OwnFrame};
use crate::compile::{Status, TurnedStatus};
use crate::emit::{self, Options};
use crate::faults::Registered;
use crate::frame::MAX_FRAME_BYTES;
use crate::memory::{CodeMemory, Installed};
use crate::set::Set;
use crate::stencil::{self, Stencil};
use crate::unwind::Described;
use crate::watchers::Announced;
use azulejo_core::error::Error;
use azulejo_core::ir::bytecode::{Bytecode, OpcodeInfo};
use azulejo_core::ir::template::Template;
use azulejo_core::pass::build::{Constants, Functions, Opening};
use azulejo_core::pass::{Compilation, Observer, Target};
use azulejo_core::target::RegSet;
use azulejo_core::verify::Function;
use azulejo_core::vocab::Vocabulary;
use core::any::TypeId;
use fill::Around;
use operand::operands;
use pack::{Packed, PackedStencil};
use plan::{MAX_PART, Missing, Opcodes, Plan, WIDE};

/// Stencils of one bytecode, made when they are first needed, and memory kept between functions.
#[derive(Debug, Default)]
pub struct Baseline {
    /// Whose opcodes they are.
    bytecode: Option<TypeId>,
    opcodes: Opcodes,
    packed: Packed,
    /// The stencils that count, once they were needed: without and with a look whether the program is to stop, and with fuel, too.
    counters: [Option<u32>; 3],
    /// The largest part of the machine's stack that any stencil uses.
    room: u32,
    /// The registers to be given back that stencils use.
    saved: RegSet,
    /// What stands around functions that do not keep `(cu)` in a register, and around those that do.
    frames: [BaselineFrame; 2],
    plan: Plan,
    scratch: stencil::Scratch,
}

/// A function's baseline code.
#[derive(Debug)]
pub struct BaselineCode {
    /// Goes first: nobody may look for code that is not there any more.
    pub(crate) announced: Option<Announced>,
    _faults: Option<Registered>,
    installed: Installed,
    own: OwnFrame,
    /// What `(cu)` is, if it is kept in a register.
    unit: Option<u64>,
    leaves: [u32; LEAVES],
    /// Where the code of each bytecode starts is in a table behind the code: where that is, and how long.
    positions: u32,
    n_bytecodes: u32,
    code_bytes: u32,
}

/// What the compiler and the baseline share.
pub(crate) struct Machinery<'a> {
    pub(crate) compilation: &'a mut Compilation,
    pub(crate) emission: &'a mut emit::Scratch,
    pub(crate) target: Target<'a>,
    pub(crate) set: &'a Set,
    pub(crate) options: &'a Options,
    pub(crate) functions: Functions<'a>,
    /// Whether `(cu)` has a register of its own in baseline code.
    pub(crate) keeps_unit: bool,
    /// By opcode.
    pub(crate) templates: &'static [&'static Template],
    pub(crate) observer: &'a mut dyn Observer,
}

impl Baseline {
    /// Compiles a function.
    pub(crate) fn compile<B: Bytecode>(
        &mut self,
        function: &Function<'_, B>,
        machinery: &mut Machinery<'_>,
        memory: &CodeMemory,
    ) -> Result<BaselineCode, Error> {
        if self.bytecode != Some(TypeId::of::<B>()) {
            (self.packed, self.counters) = (Packed::default(), [None; 3]);
            self.opcodes = Opcodes::of::<B>();
            self.bytecode = Some(TypeId::of::<B>());
        }
        if function.shape.slots > i32::MAX as u32 / 8 {
            return Err(Error::FrameTooLarge { bytes: function.shape.slots as usize * 8 });
        }
        let count = match function.budget {
            Some(budget) => {
                let Functions { stop, fuel, .. } = machinery.functions;
                let kind = if fuel.is_some() { 2 } else { stop.is_some() as usize };
                let addresses = [budget.addr() as u64, stop.unwrap_or(0), fuel.unwrap_or(0)];
                Some((self.counter(machinery, kind)?, addresses))
            }
            None => None,
        };
        let counter = count.map(|(counter, _)| counter);
        match function.shape.depths.is_empty() {
            true => self.plan::<B, false>(function, machinery, counter)?,
            false => self.plan::<B, true>(function, machinery, counter)?,
        }
        let keeps_unit = self.plan.keeps_unit();
        let frame = &mut self.frames[keeps_unit as usize];
        if (frame.saved, frame.room) != (self.saved, self.room) || frame.prologue.is_empty() {
            *frame = BaselineFrame::new(self.saved, self.room, keeps_unit, machinery.options);
        }
        let Function { labels, unit, .. } = *function;
        let code = fill::Code::of(function);
        let records = machinery.functions.records;
        let own = frame.of(function.shape.slots);
        let around = Around { frame, own, code, labels, unit: unit as u64, records, count };
        fill::fill(&self.plan, &self.packed, around, memory)
    }

    /// Chooses a stencil for each bytecode and a place for it.
    fn plan<B: Bytecode, const STACK: bool>(
        &mut self,
        function: &Function<'_, B>,
        machinery: &mut Machinery<'_>,
        count: Option<u32>,
    ) -> Result<(), Error> {
        let Functions { records, fuel, .. } = machinery.functions;
        self.plan.clear(function, records.len(), fuel.is_some())?;
        let size = count.map(|count| self.packed.stencils[count as usize].hot);
        while let Some(missing) =
            self.plan.go_on::<B, STACK>((&self.opcodes, &self.packed), function, size)?
        {
            let opcode = missing.opcode;
            let (info, template) = (&B::OPCODES[opcode], machinery.templates[opcode]);
            if !self.opcodes.learn::<B>(opcode, &mut self.packed, template) {
                // Now it can be said which one is wanted.
                continue;
            }
            self.make(missing, (info, template), B::OPERATORS, machinery)?;
        }
        let count = count.map(|count| &self.packed.stencils[count as usize]);
        self.plan.finish(&self.packed, function, count);
        Ok(())
    }

    /// The stencil that counts, which is made when it is first needed.
    fn counter(&mut self, machinery: &mut Machinery<'_>, kind: usize) -> Result<u32, Error> {
        if let Some(count) = self.counters[kind] {
            return Ok(count);
        }
        let opening = Opening {
            vocab: Vocabulary::BUILTIN,
            opcode: &count::OPCODES[kind],
            template: &count::TEMPLATES[kind],
            carried: 0,
            hands_over: false,
            keeps_unit: machinery.keeps_unit,
            constants: Constants::Long,
            functions: machinery.functions,
        };
        let stencil = self.make_stencil(&opening, machinery)?;
        let operands = operands(&count::OPCODES[kind], count::OFFSETS[kind]);
        let count = self.packed.add(&stencil, &operands, Packed::NO_TABLE);
        self.counters[kind] = Some(count);
        Ok(count)
    }

    /// Makes a stencil that was not needed before.
    #[cold]
    #[inline(never)]
    fn make(
        &mut self,
        Missing { opcode, variant, twin_of }: Missing,
        (info, template): (&OpcodeInfo, &'static Template),
        operators: &'static [azulejo_core::vocab::OpInfo],
        machinery: &mut Machinery<'_>,
    ) -> Result<(), Error> {
        let reads = self.opcodes.details[opcode].reads.iter().enumerate();
        let carried = reads
            .filter(|(at, _)| variant >> at & 1 != 0)
            .fold(0, |carried, (_, read)| carried | 1 << read.operand);
        let vocab = Vocabulary { extra: operators };
        let constants = if variant & WIDE == 0 { Constants::Short } else { Constants::Long };
        let functions = machinery.functions;
        let hands_over = twin_of.is_some();
        let keeps_unit = machinery.keeps_unit;
        let mut opening =
            Opening { vocab, opcode: info, template, carried, hands_over, keeps_unit, constants, functions };
        let stencil = match self.make_stencil(&opening, machinery) {
            Err(Error::Internal("stencil")) => {
                opening.constants = Constants::Held;
                self.make_stencil(&opening, machinery)?
            }
            result => result?,
        };
        let detail = &self.opcodes.details[opcode];
        let number = self.packed.add(&stencil, &detail.operands, detail.table);
        match twin_of {
            None => self.opcodes.set(opcode, variant, &stencil, number, &self.packed),
            Some(of) => {
                let stencils = &mut self.packed.stencils;
                let [is_listed, is_to_be] = [of, number].map(|one| stencils[one as usize].has_more_to_do());
                // Its bytecodes are on the list already, or stay off it.
                let fits = is_listed || !is_to_be;
                stencils[of as usize].twin = if fits { number } else { PackedStencil::NONE };
            }
        }
        Ok(())
    }

    fn make_stencil(
        &mut self,
        opening: &Opening<'_>,
        machinery: &mut Machinery<'_>,
    ) -> Result<Stencil, Error> {
        let Machinery { compilation, emission, target, set, options, observer, .. } = machinery;
        let machine = (&*target, *set, *options);
        let stencil = stencil::make(&mut self.scratch, compilation, emission, machine, opening, *observer)?;
        if stencil.frame_bytes as usize > MAX_FRAME_BYTES {
            return Err(Error::FrameTooLarge { bytes: stencil.frame_bytes as usize });
        }
        if stencil.hot.len().max(stencil.cold.len()) > MAX_PART {
            return Err(Error::OutOfCodeMemory);
        }
        self.room = self.room.max(stencil.frame_bytes);
        self.saved = self.saved.union(stencil.saved);
        Ok(stencil)
    }
}

/// What baseline code is called as: context, frame, and where to go on.
type Entry = unsafe extern "sysv64-unwind" fn(*mut (), *mut u64, *const ()) -> TurnedStatus;

impl BaselineCode {
    /// Runs it from a bytecode on.
    ///
    /// # Safety
    ///
    /// The frame must have the slots that verification asked for, with what the code expects in them; the context must
    /// be what the templates take it for; and the bytecode must be the first, or one that can be reached by a jump: others
    /// may take from a machine register what the one before left there. What the compiler was given must be right: tiles, rules,
    /// and what the function says of its temporaries.
    pub unsafe fn enter(&self, context: *mut (), frame: *mut u64, at: u32) -> Status {
        // SAFETY: this is the start of code that was emitted as a function of this type.
        let entry: Entry = unsafe { core::mem::transmute(self.installed.address()) };
        // SAFETY: the position is within the code; the caller promises what the code relies on.
        Status::from(unsafe { entry(context, frame, self.address(at)) })
    }

    /// What `(cu)` is, if it is kept in a register while the code runs.
    pub(crate) fn unit(&self) -> Option<u64> {
        self.unit
    }

    /// Where its own frame has the slots of VM registers, if it has them.
    pub(crate) fn own(&self) -> &OwnFrame {
        &self.own
    }

    pub(crate) fn described(&self) -> Described<'_> {
        Described { frame: &self.own.frame, leaves: &self.leaves, end: self.code_bytes as usize }
    }

    /// Where it starts: an `extern "sysv64" fn(context, frame, address) -> TurnedStatus` that goes on at the address, for
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

    /// Where each bytecode's code starts, in order, and which one it is; as [`Compiled::map`](crate::Compiled::map) has it.
    pub fn map(&self) -> Vec<(u32, u32)> {
        // The code of each stands behind that of the one before.
        (0..self.n_bytecodes).map(|at| (self.position(at), at)).collect()
    }

    fn positions(&self) -> *const u32 {
        self.installed.address().wrapping_add(self.positions as usize).cast()
    }

    /// How much of the machine's stack it takes while it runs, besides what it calls.
    pub fn stack_bytes(&self) -> usize {
        self.own.frame.size() as usize
    }

    /// The machine code, without what stands behind it.
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: the memory is this function's, and nothing writes it while it is installed.
        unsafe { core::slice::from_raw_parts(self.installed.address(), self.code_bytes as usize) }
    }
}
