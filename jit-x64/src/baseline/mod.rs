//! The baseline compiler: copy a stencil for each bytecode and fill its holes.
//!
//! In: verified bytecode. Out: [`BaselineCode`], which can be entered at any bytecode, and which has every VM register
//! in its slot at every bytecode. Cost: linear, a few nanoseconds a bytecode; nothing is allocated once scratch memory
//! is large enough.
//!
//! Two passes. [`plan`](Baseline::plan) decodes the bytecode, chooses a stencil for each and adds up sizes, so that it is
//! known where everything will be; [`fill`] then copies and patches, into the place where the code will run.
//!
//! The value that the last bytecode wrote is still in a machine register. If the next one reads that VM register, and
//! nothing else jumps to it, a variant of its stencil takes the value from there.
//!
//! ```text
//! prologue | hot parts in order | epilogue | cold parts, each with its constants | tables of switches | positions
//! ```

mod count;
mod fill;
mod pack;

use crate::compile::{Entry, Status};
use crate::emit::{self, BaselineFrame, Options};
use crate::frame::{Frame, MAX_FRAME_BYTES};
use crate::memory::{CodeMemory, Installed};
use crate::set::Set;
use crate::stencil::{self, Stencil};
use crate::unwind::Described;
use crate::watchers::Announced;
use azulejo_core::error::Error;
use azulejo_core::ir::bytecode::{Bytecode, MAX_OPERANDS, OpcodeInfo, OperandInfo, OperandKind, Raw};
use azulejo_core::ir::template::Template;
use azulejo_core::pass::build::{Carry, Constants, Opening, first_reads};
use azulejo_core::pass::{Compilation, Observer, Target};
use azulejo_core::verify::{Function, Shape};
use azulejo_core::vocab::{Scalar, Vocabulary};
use fill::Around;
use pack::{Packed, Sizes};

/// Stencils of one bytecode, made when they are first needed, and memory kept between functions.
#[derive(Debug, Default)]
pub struct Baseline {
    opcodes: Vec<OpcodePlan>,
    packed: Packed,
    /// The stencil that counts, once it was needed.
    count: Option<u32>,
    /// The largest part of the machine's stack that any stencil uses.
    room: u32,
    frame: BaselineFrame,
    plan: Plan,
    scratch: stencil::Scratch,
}

/// A function's baseline code.
#[derive(Debug)]
pub struct BaselineCode {
    /// Goes first: nobody may look for code that is not there any more.
    pub(crate) announced: Option<Announced>,
    installed: Installed,
    frame: Frame,
    leaves: [u32; 1],
    /// Where the code of each bytecode starts is in a table behind the code: where that is, and how long.
    positions: u32,
    n_bytecodes: u32,
    code_bytes: u32,
}

/// A value at hand, as a number: what kind of value, and which VM register's. Different numbers are never the same value.
type Held = u64;

const NOTHING: Held = u64::MAX;
/// Never equal to anything that is held.
const NEVER: Held = u64::MAX - 1;

/// How a stencil is chosen for an opcode.
#[derive(Clone, Debug)]
struct OpcodePlan {
    /// The operands that a variant may find at hand.
    reads: [Key; 2],
    /// What is at hand afterwards.
    carry: Key,
    /// The constant that tells whether the wide variant is needed, and its bits, or none if there is no such constant.
    wide: u8,
    wide_mask: u64,
    /// More such constants, a bit each, which are looked at one by one.
    more_wide: u16,
    /// There are more such constants, or places on the operand stack, so that a bytecode may be unreached.
    is_unusual: bool,
    n_operands: u32,
    /// The operands that a switch's table is made from; none for most.
    table: Option<Table>,
    /// Stencils by variant: bits 0 and 1 say which of `reads` is at hand, bit 2 that constants are wide.
    variants: [Choice; 8],
}

/// A stencil, if it was made, and its sizes.
#[derive(Clone, Copy, Debug)]
struct Choice {
    stencil: u32,
    sizes: Sizes,
}

const MISSING: u32 = u32::MAX;
const WIDE: usize = 4;

/// Makes a [`Held`] of an operand.
#[derive(Clone, Copy, Debug)]
struct Key {
    operand: u8,
    /// The bits of the operand that count: none if the key is always the same.
    mask: u64,
    /// In the upper half what kind of value.
    kind: Held,
}

impl Key {
    fn new(carry: Carry) -> Key {
        Key { operand: carry.operand, mask: u32::MAX as u64, kind: (carry.ty as u64 + 1) << 32 }
    }

    /// The same for all operands.
    const fn always(kind: Held) -> Key {
        Key { operand: 0, mask: 0, kind }
    }

    #[inline(always)]
    fn of(self, operands: &[Raw; MAX_OPERANDS]) -> Held {
        operands[self.operand as usize % MAX_OPERANDS] & self.mask | self.kind
    }
}

/// Where a switch's labels are.
#[derive(Clone, Copy, Debug)]
enum Table {
    /// In the run that this operand names.
    Run(u8),
    /// In these label operands.
    Operands(&'static [u8]),
}

/// What the first pass finds out.
#[derive(Debug, Default)]
struct Plan {
    /// For each bytecode its stencil and where its parts go.
    placed: Vec<Placed>,
    /// The operands of all bytecodes.
    operands: Vec<Raw>,
    /// Switches: which bytecode, where its table is among all entries, what is in it.
    tables: Vec<(u32, u32, Table)>,
    hot: u32,
    cold: u32,
    entries: u32,
}

/// How far planning has come.
#[derive(Clone, Copy, Debug)]
struct Progress {
    at: usize,
    operands: u32,
    hot: u32,
    cold: u32,
    entries: u32,
    held: Held,
}

/// In [`Placed::stencil`]: the stencil that counts comes first.
const COUNTS: u32 = 1 << 31;

#[derive(Clone, Copy, Debug)]
struct Placed {
    stencil: u32,
    operands: u32,
    hot: u32,
    cold: u32,
}

/// What the compiler and the baseline share.
pub(crate) struct Machinery<'a> {
    pub(crate) compilation: &'a mut Compilation,
    pub(crate) emission: &'a mut emit::Scratch,
    pub(crate) target: Target<'a>,
    pub(crate) set: &'a Set,
    pub(crate) options: &'a Options,
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
        if self.opcodes.is_empty() {
            self.opcodes =
                core::iter::zip(B::OPCODES, B::templates()).map(|(info, of)| plan(info, of)).collect();
        }
        if function.shape.slots > i32::MAX as u32 / 8 {
            return Err(Error::FrameTooLarge { bytes: function.shape.slots as usize * 8 });
        }
        if function.budget.is_some() && self.count.is_none() {
            let opening = Opening {
                vocab: Vocabulary::BUILTIN,
                opcode: &count::OPCODE,
                template: &count::TEMPLATE,
                carried: 0,
                constants: Constants::Long,
            };
            let stencil = self.make_stencil(&opening, machinery)?;
            self.count = Some(self.packed.add(&stencil));
        }
        self.plan(function, machinery)?;
        if self.frame.room != self.room || self.frame.prologue.is_empty() {
            self.frame = BaselineFrame::new(self.room, machinery.options);
        }
        let Function { labels, unit, budget, .. } = *function;
        let count = self.count.zip(budget).map(|(stencil, budget)| (stencil, budget.addr() as u64));
        let around = Around { frame: &self.frame, labels, unit: unit as u64, count };
        fill::fill(&self.plan, &self.packed, around, memory)
    }

    /// Chooses a stencil for each bytecode and a place for it.
    fn plan<B: Bytecode>(
        &mut self,
        function: &Function<'_, B>,
        machinery: &mut Machinery<'_>,
    ) -> Result<(), Error> {
        let Plan { placed, operands, tables, .. } = &mut self.plan;
        placed.clear();
        placed.reserve(function.code.len());
        tables.clear();
        let n_operands = (function.code.len() + 1) * MAX_OPERANDS;
        if operands.len() < n_operands {
            operands.resize(n_operands, 0);
        }
        let mut progress = Progress { at: 0, operands: 0, hot: 0, cold: 0, entries: 0, held: NOTHING };
        while let Some((opcode, variant)) = self.plan_on(function, &mut progress) {
            let (info, template) = (&B::OPCODES[opcode], B::templates()[opcode]);
            self.make(opcode, variant, info, template, B::OPERATORS, machinery)?;
        }
        (self.plan.hot, self.plan.cold, self.plan.entries) = (progress.hot, progress.cold, progress.entries);
        Ok(())
    }

    /// Goes on to the end, or to a bytecode whose stencil there is not yet; then says which that is.
    fn plan_on<B: Bytecode>(
        &mut self,
        function: &Function<'_, B>,
        progress: &mut Progress,
    ) -> Option<(usize, usize)> {
        let Function { code, registers, shape, .. } = *function;
        let Baseline { opcodes, plan: Plan { placed, operands, tables, .. }, packed, .. } = self;
        let count = self.count.filter(|_| function.budget.is_some()).map(|count| packed.sizes(count));
        let mut now = *progress;
        for (at, op) in code.iter().enumerate().skip(now.at) {
            let depth = if shape.depths.is_empty() { 0 } else { shape.depths[at] };
            let raw = operands[now.operands as usize..].first_chunk_mut().expect("there is room for more");
            op.decode(registers.wrapping_add(depth), raw);
            let (word, bit) = (at / 64, at % 64);
            // Whoever jumps here brings nothing along.
            let held = if shape.targets[word] >> bit & 1 != 0 { NOTHING } else { now.held };
            let opcode = op.opcode();
            let plan = &opcodes[opcode];
            let mut variant = (plan.reads[0].of(raw) == held) as usize
                | ((plan.reads[1].of(raw) == held) as usize) << 1
                | (is_wide(raw[plan.wide as usize] & plan.wide_mask) as usize * WIDE);
            let mut flags = 0;
            let (mut hot, mut cold) = (0, 0);
            if plan.is_unusual || depth == Shape::UNREACHED {
                if depth == Shape::UNREACHED {
                    placed.push(Placed {
                        stencil: Packed::NOTHING,
                        operands: 0,
                        hot: now.hot,
                        cold: now.cold,
                    });
                    now.held = NOTHING;
                    continue;
                }
                if any_wide(plan.more_wide, raw) {
                    variant |= WIDE;
                }
            }
            if let Some(sizes) = count
                && shape.heads[word] >> bit & 1 != 0
            {
                (flags, hot, cold) = (COUNTS, sizes.hot, sizes.cold);
            }
            let choice = plan.variants[variant];
            if choice.stencil == MISSING {
                *progress = Progress { at, ..now };
                return Some((opcode, variant));
            }
            if let Some(table) = plan.table {
                tables.push((at as u32, now.entries, table));
                now.entries += table.len(raw) as u32;
            }
            now.held = plan.carry.of(raw);
            placed.push(Placed {
                stencil: choice.stencil | flags,
                operands: now.operands,
                hot: now.hot,
                cold: now.cold,
            });
            now.operands += plan.n_operands;
            now.hot += hot + choice.sizes.hot;
            now.cold += cold + choice.sizes.cold;
        }
        *progress = now;
        None
    }

    /// Makes a stencil that was not needed before.
    #[cold]
    #[inline(never)]
    fn make(
        &mut self,
        opcode: usize,
        variant: usize,
        info: &OpcodeInfo,
        template: &'static Template,
        operators: &'static [azulejo_core::vocab::OpInfo],
        machinery: &mut Machinery<'_>,
    ) -> Result<(), Error> {
        let plan = &self.opcodes[opcode];
        let carried = (0..2)
            .filter(|read| variant >> read & 1 != 0)
            .fold(0, |carried, read| carried | 1 << plan.reads[read].operand);
        let vocab = Vocabulary { extra: operators };
        let constants = if variant & WIDE == 0 { Constants::Short } else { Constants::Long };
        let mut opening = Opening { vocab, opcode: info, template, carried, constants };
        let Machinery { compilation, emission, target, set, options, observer } = machinery;
        let mut make = |opening: &Opening<'_>| {
            stencil::make(
                &mut self.scratch,
                compilation,
                emission,
                (target, set, options),
                opening,
                *observer,
            )
        };
        let stencil = match make(&opening) {
            Err(Error::Internal("stencil")) => {
                opening.constants = Constants::Held;
                make(&opening)?
            }
            result => result?,
        };
        if stencil.frame_bytes as usize > MAX_FRAME_BYTES {
            return Err(Error::FrameTooLarge { bytes: stencil.frame_bytes as usize });
        }
        self.room = self.room.max(stencil.frame_bytes);
        let number = self.packed.add(&stencil);
        let plan = &mut self.opcodes[opcode];
        plan.variants[variant] = Choice { stencil: number, sizes: self.packed.sizes(number) };
        if let Some(carry) = stencil.carry {
            plan.carry = Key::new(carry);
        }
        Ok(())
    }
}

impl Baseline {
    fn make_stencil(
        &mut self,
        opening: &Opening<'_>,
        machinery: &mut Machinery<'_>,
    ) -> Result<Stencil, Error> {
        let Machinery { compilation, emission, target, set, options, observer } = machinery;
        let machine = (&*target, *set, *options);
        let stencil = stencil::make(&mut self.scratch, compilation, emission, machine, opening, *observer)?;
        if stencil.frame_bytes as usize > MAX_FRAME_BYTES {
            return Err(Error::FrameTooLarge { bytes: stencil.frame_bytes as usize });
        }
        self.room = self.room.max(stencil.frame_bytes);
        Ok(stencil)
    }
}

/// What is known of an opcode before there is any stencil of it.
fn plan(info: &OpcodeInfo, template: &'static Template) -> OpcodePlan {
    let mut reads = [Key::always(NEVER); 2];
    for (key, read) in core::iter::zip(&mut reads, first_reads(template)) {
        *key = Key::new(read);
    }
    let is_long = |scalar| matches!(scalar, Some(Scalar::U32 | Scalar::I64 | Scalar::U64 | Scalar::Ptr));
    let wide = info
        .operands
        .iter()
        .enumerate()
        .filter(|(_, operand)| operand.kind == OperandKind::Imm && is_long(operand.scalar))
        .fold(0u16, |wide, (at, _)| wide | 1 << at);
    let more_wide = wide & wide.wrapping_sub(1);
    let is_on_stack = |operand: &OperandInfo| matches!(operand.kind, OperandKind::Pop | OperandKind::Push);
    OpcodePlan {
        reads,
        carry: Key::always(NOTHING),
        wide: wide.trailing_zeros() as u8 % MAX_OPERANDS as u8,
        wide_mask: if wide == 0 { 0 } else { u64::MAX },
        more_wide,
        is_unusual: more_wide != 0 || info.operands.iter().any(is_on_stack),
        n_operands: info.operands.len() as u32,
        table: pack::table(info, template),
        variants: [Choice { stencil: MISSING, sizes: Sizes::default() }; 8],
    }
}

fn is_wide(value: Raw) -> bool {
    value as i64 != value as i32 as i64
}

fn any_wide(operands: u16, window: &[Raw; MAX_OPERANDS]) -> bool {
    (0..MAX_OPERANDS).any(|at| operands >> at & 1 != 0 && is_wide(window[at]))
}

impl Table {
    fn len(self, operands: &[Raw; MAX_OPERANDS]) -> usize {
        match self {
            Table::Run(operand) => (operands[operand as usize] >> 32) as usize,
            Table::Operands(operands) => operands.len(),
        }
    }
}

impl BaselineCode {
    /// Runs it from a bytecode on.
    ///
    /// # Safety
    ///
    /// The frame must have the slots that verification asked for, with what the code expects in them; the context must
    /// be what the templates take it for; and the bytecode must be one that can be reached.
    pub unsafe fn enter(&self, context: *mut (), frame: *mut u64, at: u32) -> Status {
        // SAFETY: this is the start of code that was emitted as a function of this type.
        let entry: Entry = unsafe { core::mem::transmute(self.installed.address()) };
        // SAFETY: the position is within the code; the caller promises what the code relies on.
        Status::from(unsafe { entry(context, frame, self.address(at)) })
    }

    pub(crate) fn described(&self) -> Described<'_> {
        Described { frame: &self.frame, leaves: &self.leaves, end: self.code_bytes as usize }
    }

    /// Where it starts: an `extern "sysv64" fn(context, frame, address) -> RawStatus` that goes on at the address, for
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

    fn positions(&self) -> *const u32 {
        self.installed.address().wrapping_add(self.positions as usize).cast()
    }

    /// How much of the machine's stack it takes while it runs, besides what it calls.
    pub fn stack_bytes(&self) -> usize {
        self.frame.size() as usize
    }

    /// The machine code, without what stands behind it.
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: the memory is this function's, and nothing writes it while it is installed.
        unsafe { core::slice::from_raw_parts(self.installed.address(), self.code_bytes as usize) }
    }
}
