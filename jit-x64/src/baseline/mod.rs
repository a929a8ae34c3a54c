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
use azulejo_core::ir::bytecode::{Bytecode, MAX_OPERANDS, OpcodeInfo, OperandKind, Raw};
use azulejo_core::ir::template::Template;
use azulejo_core::pass::build::{Constants, Opening, first_reads};
use azulejo_core::pass::{Compilation, Observer, Target};
use azulejo_core::verify::Shape;
use azulejo_core::vocab::{Scalar, Type, Vocabulary};
use fill::Around;
use pack::Packed;
use std::cell::Cell;

/// Stencils of one bytecode, made when they are first needed, and memory kept between functions.
#[derive(Debug, Default)]
pub struct Baseline {
    opcodes: Vec<OpcodePlan>,
    packed: Packed,
    /// The stencil that counts; [`MISSING`] until it is needed.
    count: Option<u32>,
    /// The largest part of the machine's stack that any stencil uses.
    room: u32,
    frame: BaselineFrame,
    plan: Plan,
    scratch: stencil::Scratch,
}

/// What is compiled.
#[derive(Debug)]
pub struct Function<'a, B> {
    /// The bytecode.
    pub code: &'a [B],
    /// What `Labels` operands point into.
    pub labels: &'a [u32],
    /// How many VM registers there are; the operand stack is behind them.
    pub registers: u32,
    /// What verification learned.
    pub shape: &'a Shape,
    /// What `(cu)` is.
    pub unit: *const (),
    /// Where loops count, if they do: each time around takes one away, and below zero the code is left at the loop's
    /// head.
    pub budget: Option<*const Cell<i32>>,
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
/// An operand that is always zero.
const ZERO: u8 = MAX_OPERANDS as u8;

/// How a stencil is chosen for an opcode.
#[derive(Clone, Debug)]
struct OpcodePlan {
    /// The operands that a variant may find at hand.
    reads: [Key; 2],
    /// What is at hand afterwards.
    carry: Key,
    /// The constant that tells whether the wide variant is needed; more than one are looked at one by one.
    wide: u8,
    more_wide: u16,
    /// The operands that a switch's table is made from; none for most.
    table: Option<Table>,
    /// Stencils by variant: bits 0 and 1 say which of `reads` is at hand, bit 2 that constants are wide.
    variants: [u32; 8],
}

const MISSING: u32 = u32::MAX;
const WIDE: usize = 4;

/// Makes a [`Held`] of an operand.
#[derive(Clone, Copy, Debug)]
struct Key {
    operand: u8,
    /// In the upper half what kind of value; [`NEVER`] or [`NOTHING`] altogether if there is none.
    kind: Held,
}

impl Key {
    fn of(self, operands: &[Raw; MAX_OPERANDS + 1]) -> Held {
        self.kind | operands[self.operand as usize] as u32 as u64
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
            self.count = Some(self.packed.add(&stencil, 0));
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
        let Function { code, registers, shape, .. } = *function;
        let Plan { placed, operands, tables, .. } = &mut self.plan;
        placed.clear();
        placed.reserve(code.len());
        tables.clear();
        if operands.len() < (code.len() + 1) * MAX_OPERANDS {
            operands.resize((code.len() + 1) * MAX_OPERANDS, 0);
        }
        let (mut next_operand, mut hot, mut cold, mut entries) = (0, 0, 0, 0);
        let count = self.count.filter(|_| function.budget.is_some()).unwrap_or(MISSING);
        let mut held = NOTHING;
        let mut window = [0; MAX_OPERANDS + 1];
        for (at, op) in code.iter().enumerate() {
            let depth = shape.depths.get(at).copied().unwrap_or(0);
            let (raw, _) = window.split_first_chunk_mut().expect("it is longer by one");
            op.decode(registers.wrapping_add(depth), raw);
            let opcode = op.opcode();
            let is_target = shape.targets[at / 64] >> (at % 64) & 1 != 0;
            held = if is_target { NOTHING } else { held };
            let plan = &self.opcodes[opcode];
            let mut variant = (plan.reads[0].of(&window) == held) as usize
                | ((plan.reads[1].of(&window) == held) as usize) << 1
                | (is_wide(window[plan.wide as usize]) as usize * WIDE);
            if plan.more_wide != 0 && any_wide(plan.more_wide, &window) {
                variant |= WIDE;
            }
            held = plan.carry.of(&window);
            if depth == Shape::UNREACHED {
                self.plan.placed.push(Placed { stencil: Packed::NOTHING, operands: 0, hot, cold });
                continue;
            }
            if let Some(table) = plan.table {
                self.plan.tables.push((at as u32, entries, table));
                entries += table.len(&window) as u32;
            }
            let mut stencil = plan.variants[variant];
            if stencil == MISSING {
                let (info, template) = (&B::OPCODES[opcode], B::templates()[opcode]);
                stencil = self.make(opcode, variant, info, template, B::OPERATORS, machinery)?;
                held = self.opcodes[opcode].carry.of(&window);
            }
            let Plan { placed, operands, .. } = &mut self.plan;
            let mut flags = 0;
            if count != MISSING && shape.heads[at / 64] >> (at % 64) & 1 != 0 {
                flags = COUNTS;
            }
            placed.push(Placed { stencil: stencil | flags, operands: next_operand, hot, cold });
            if flags != 0 {
                let sizes = self.packed.sizes(count);
                hot += sizes.hot;
                cold += sizes.cold;
            }
            let sizes = self.packed.sizes(stencil);
            let room = &mut operands[next_operand as usize..][..MAX_OPERANDS];
            room.copy_from_slice(&window[..MAX_OPERANDS]);
            next_operand += sizes.operands;
            hot += sizes.hot;
            cold += sizes.cold;
        }
        (self.plan.hot, self.plan.cold, self.plan.entries) = (hot, cold, entries);
        Ok(())
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
    ) -> Result<u32, Error> {
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
        let number = self.packed.add(&stencil, info.operands.len());
        let plan = &mut self.opcodes[opcode];
        plan.variants[variant] = number;
        if let Some(carry) = stencil.carry {
            plan.carry = Key { operand: carry.operand, kind: kind(carry.ty) };
        }
        Ok(number)
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
    let nobody = Key { operand: ZERO, kind: NEVER };
    let mut reads = [nobody; 2];
    for (key, read) in core::iter::zip(&mut reads, first_reads(template)) {
        *key = Key { operand: read.operand, kind: kind(read.ty) };
    }
    let is_long = |scalar| matches!(scalar, Some(Scalar::U32 | Scalar::I64 | Scalar::U64 | Scalar::Ptr));
    let wide = info
        .operands
        .iter()
        .enumerate()
        .filter(|(_, operand)| operand.kind == OperandKind::Imm && is_long(operand.scalar))
        .fold(0u16, |wide, (at, _)| wide | 1 << at);
    let first_wide = if wide == 0 { ZERO } else { wide.trailing_zeros() as u8 };
    OpcodePlan {
        reads,
        carry: Key { operand: ZERO, kind: NOTHING },
        wide: first_wide,
        more_wide: wide & wide.wrapping_sub(1),
        table: pack::table(info, template),
        variants: [MISSING; 8],
    }
}

fn kind(ty: Type) -> Held {
    (ty as u64 + 1) << 32
}

fn is_wide(value: Raw) -> bool {
    value as i64 != value as i32 as i64
}

fn any_wide(operands: u16, window: &[Raw; MAX_OPERANDS + 1]) -> bool {
    (0..MAX_OPERANDS).any(|at| operands >> at & 1 != 0 && is_wide(window[at]))
}

impl Table {
    fn len(self, operands: &[Raw; MAX_OPERANDS + 1]) -> usize {
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
