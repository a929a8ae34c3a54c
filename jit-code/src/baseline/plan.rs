//! The first pass: choose a stencil for each bytecode and add up sizes, which gives each its place.
//!
//! In: verified bytecode, and the facts of each opcode ([`Opcodes`]). Out: a [`Plan`]. The pass reads only the operands that a
//! choice depends on. Most bytecodes have only a hot part, which the next pass fills as it copies. The others go on a list, so
//! that no pass has to check every bytecode for more.
//!
//! If a bytecode reads a temporary from the machine register in which the one before left it, the temporary's slot is never read.
//! Then the bytecode before gets the *no-store variant* of its stencil, which does not write the slot.

use super::cached::{CacheKey, CachedNumber, NEVER, UNKNOWN};
use super::narrow::{Learned, Narrowing, PlannedAs};
use super::opcodes::{Detail, Opcodes};
use super::operand::{Here, LowWord, spare, use_stack};
use super::pack::{Packed, PackedStencil, StencilId, Table};
use azulejo_core::error::Error;
use azulejo_core::ir::bits::BitSet;
use azulejo_core::ir::bytecode::{Bytecode, Raw};
use azulejo_core::verify::{Function, Shape};

/// Bits 0 and 1 of a variant's number say which of [`OpcodePlan::reads`] is cached; this bit says that constants are wide.
pub(super) const WIDE: usize = 4;
/// This one says that what is cached is a float of 64 bits.
pub(super) const FLOAT: usize = 8;
pub(super) const VARIANTS: usize = 16;

/// How a stencil is chosen for an opcode: all that the pass reads, in three cache lines.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub(super) struct OpcodePlan {
    /// The operands that a variant may find cached.
    reads: [CacheKey; 2],
    /// The value that the opcode leaves cached.
    pub(super) carry: CacheKey,
    pub(super) odd: Odd,
    pub(super) variants: [Choice; VARIANTS],
}

bitflags::bitflags! {
    /// Reasons why choosing a stencil takes more than comparing keys.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub(super) struct Odd: u8 {
        /// Some constants may be wide.
        const WIDE = 1;
        /// There is no word to make keys from.
        const BARE = 2;
        /// The opcode uses the operand stack, which matters only in functions without one.
        const STACK = 4;
        /// It has a site, of whose first case a stencil may know.
        const SITE = 8;
        /// It has a slow path, which may be left out.
        const SLOW = 16;
    }
}

const _: () = assert!(size_of::<OpcodePlan>() == 192, "three lines of the cache");

/// A stencil, the length of its hot part, and its properties.
#[derive(Clone, Copy, Debug)]
pub(super) struct Choice {
    /// None if it has not been made yet.
    pub(super) stencil: StencilId,
    pub(super) hot: u16,
    pub(super) has: Has,
}

bitflags::bitflags! {
    /// Properties of a stencil.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub(super) struct Has: u16 {
        /// It needs more than copying and its quick holes: its bytecodes go on the list.
        const MORE_TO_DO = 1;
        /// It reads its cached operand from the machine register only.
        const TAKES_CACHED = 2;
        /// It reads the reserved register of `(cu)`.
        const READS_UNIT = 4;
        /// It reads the reserved registers of pinned constants.
        const READS_PINNED = 8;
        /// It knows the first case of a site.
        const KNOWS_CASE = 16;
    }
}

impl Choice {
    const MISSING: Choice = Choice { stencil: StencilId::NONE, hot: 0, has: Has::empty() };

    /// How many list entries each of its bytecodes takes.
    #[inline(always)]
    fn entries(self) -> usize {
        (self.has.bits() & Has::MORE_TO_DO.bits()) as usize
    }
}

/// What is not known yet of a bytecode that is planned.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Unknown {
    /// Its stencil.
    Stencil(Missing),
    /// This narrowing of its opcode.
    Narrowing(usize, Narrowing),
}

/// A stencil that does not exist yet: a variant for an opcode, or the no-store variant of a stencil.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Missing {
    pub(super) opcode: usize,
    pub(super) variant: usize,
    pub(super) no_store_of: Option<StencilId>,
}

/// The result of the pass. Lists are longer than their contents, so that adding an entry is a single store.
#[derive(Debug, Default)]
pub(super) struct Plan {
    stencils: Vec<StencilId>,
    slow: Vec<u32>,
    /// The bytecodes that a counting stencil precedes.
    pub(super) counted: Vec<u32>,
    /// The switches: the bytecode, and its first entry among those of all tables.
    pub(super) tables: Vec<(u32, u32)>,
    /// The bytecodes whose stencils lead out of the function, for what they lack.
    pub(super) lacking: Vec<u32>,
    n_bytecodes: usize,
    n_slow: usize,
    /// The first VM register that is a temporary; all behind it are temporaries, too.
    temporaries: u32,
    /// Whether a counting stencil also precedes the first bytecode.
    counts_start: bool,
    /// How many functions have call cells.
    n_functions: usize,
    pub(super) hot: u32,
    pub(super) cold: usize,
    pub(super) entries: usize,
    held: CachedNumber,
    /// The union of the properties of all stencils.
    has: u16,
}

/// A bytecode on the list of those that need more than their hot part.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slow {
    pub(super) at: u32,
    /// Whether a counting stencil precedes it.
    pub(super) is_counted: bool,
}

/// The bit of a list entry that holds [`Slow::is_counted`].
const COUNTED: u32 = 1 << 31;

/// The limit on the length of code: distances have 32 bits.
pub(super) const MAX_BYTES: usize = i32::MAX as usize;
/// How many bytecodes are planned between two checks of the length. The jump targets among them are the bits of one word.
const RUN: usize = u64::BITS as usize;
/// The limit on a part of a stencil: the sizes of a run cannot overflow a length that is within its limit.
pub(super) const MAX_PART: usize = u16::MAX as usize;

fn is_wide(value: Raw) -> bool {
    value as i64 != value as i32 as i64
}

impl OpcodePlan {
    /// The plan of an opcode that was not met. It makes the pass ask for a stencil.
    pub(super) const UNKNOWN: OpcodePlan = {
        let none = CacheKey::of_kind(NEVER, LowWord::FIRST);
        OpcodePlan { reads: [none; 2], carry: none, odd: Odd::BARE, variants: [Choice::MISSING; VARIANTS] }
    };

    /// The plan of an opcode that has no stencils yet.
    pub(super) fn new(detail: &Detail) -> OpcodePlan {
        let Detail { operands, reads, wides, .. } = detail;
        let spare = spare(operands);
        let word = spare.unwrap_or(LowWord::FIRST);
        let none = |kind: u32| CacheKey::of_kind(kind, word);
        let read = |at: usize| reads.get(at).map_or(none(NEVER), |read| CacheKey::new(*read, operands));
        let mut odd = Odd::empty();
        odd.set(Odd::WIDE, !wides.is_empty());
        odd.set(Odd::BARE, spare.is_none());
        odd.set(Odd::STACK, use_stack(operands));
        odd.set(Odd::SITE, detail.sorts.is_some());
        odd.set(Odd::SLOW, detail.has_slow_path);
        OpcodePlan {
            reads: [read(0), read(1)],
            carry: none(UNKNOWN),
            odd,
            variants: [Choice::MISSING; VARIANTS],
        }
    }

    /// The number of the variant whose reads are cached now.
    ///
    /// # Safety
    ///
    /// As for [`LowWord::read`], for all words of this opcode.
    #[inline(always)]
    unsafe fn compare<const STACK: bool>(&self, here: Here<'_>, held: CachedNumber) -> usize {
        // SAFETY: the caller guarantees it.
        let [first, second] = self.reads.map(|key| unsafe { key.fits::<STACK>(here, held) });
        let is_float = (first | second) & held.is_float();
        first as usize | (second as usize) << 1 | if is_float { FLOAT } else { 0 }
    }
}

/// The variant for a bytecode, and the value cached afterwards, if choosing takes more than comparing keys.
///
/// # Safety
///
/// `here` must refer to a bytecode of this opcode.
#[inline(never)]
unsafe fn choose<const STACK: bool>(
    plan: &OpcodePlan,
    detail: &Detail,
    here: Here<'_>,
    held: CachedNumber,
    n_functions: usize,
) -> (usize, CachedNumber) {
    assert!(STACK || !plan.odd.contains(Odd::STACK), "verification found all uses of the operand stack");
    // SAFETY: the caller guarantees the bytecode, and there is an operand stack if it uses one.
    unsafe {
        let is_wide = detail.wides.iter().any(|wide| is_wide(wide.read(here)));
        let is_unknown = detail.functions.iter().any(|number| number.read(here) >= n_functions as u64);
        let wide = if is_wide || is_unknown { WIDE } else { 0 };
        match plan.odd.contains(Odd::BARE) {
            true => (wide, CachedNumber::NOTHING),
            false => (wide | plan.compare::<STACK>(here, held), plan.carry.of::<STACK>(here)),
        }
    }
}

impl Plan {
    /// Empties the plan for a function.
    ///
    /// # Panics
    ///
    /// If verification was of another function.
    pub(super) fn clear<B: Bytecode>(
        &mut self,
        function: &Function<'_, B>,
        n_functions: usize,
        counts_start: bool,
    ) -> Result<(), Error> {
        let (n, shape) = (function.code.len(), function.shape);
        if n > MAX_BYTES {
            return Err(Error::OutOfCodeMemory);
        }
        let is_its_own = |set: &BitSet| set.words().len() == n.div_ceil(RUN);
        assert!(is_its_own(&shape.targets) && is_its_own(&shape.heads), "the function was verified");
        assert!(shape.depths.is_empty() || shape.depths.len() == n, "the function was verified");
        if self.stencils.len() < n {
            self.stencils.resize(n, Packed::NOTHING);
            self.slow.resize(n, 0);
        }
        self.counts_start = counts_start;
        self.counted.clear();
        self.tables.clear();
        self.lacking.clear();
        (self.n_bytecodes, self.n_slow, self.hot, self.cold, self.entries) = (0, 0, 0, 0, 0);
        (self.held, self.has, self.n_functions) = (CachedNumber::NOTHING, 0, n_functions);
        // A popped value is not read again, so the slots of the operand stack are temporaries.
        self.temporaries = if shape.depths.is_empty() { u32::MAX } else { function.registers };
        self.temporaries = self.temporaries.min(function.temporaries.unwrap_or(u32::MAX));
        Ok(())
    }

    /// Resumes planning, to the end or up to a stencil that does not exist yet, which it returns. `count` is the size of the
    /// counting stencil, if the function counts.
    pub(super) fn resume<B: Bytecode, const STACK: bool>(
        &mut self,
        (opcodes, packed): (&Opcodes, &Packed),
        function: &Function<'_, B>,
        count: Option<u32>,
    ) -> Result<Option<Unknown>, Error> {
        let Function { code, shape, .. } = function;
        while self.n_bytecodes < code.len() {
            let at = self.n_bytecodes;
            let (word, bit) = (at / RUN, at % RUN);
            let start = (at == 0 && self.counts_start) as u64;
            let heads = count.map_or(0, |_| shape.heads.words()[word] >> bit | start);
            let is_counted = heads & 1 != 0;
            // Up to the next loop head, or to the end of the word.
            let len = (RUN - bit).min((heads & !1).trailing_zeros() as usize).min(code.len() - at);
            let (start, n_slow) = (self.hot, self.n_slow);
            if let Some(count) = count.filter(|_| is_counted) {
                self.hot += count;
            }
            let missing = self.run::<B, STACK>(opcodes, packed, function, len);
            if is_counted {
                if self.n_bytecodes == at {
                    self.hot = start;
                } else {
                    self.counted.push(at as u32);
                    if self.n_slow > n_slow && self.slow[n_slow] == at as u32 {
                        self.slow[n_slow] |= COUNTED;
                    }
                }
            }
            if missing.is_some() {
                return Ok(missing);
            }
            if self.hot as usize > MAX_BYTES {
                return Err(Error::OutOfCodeMemory);
            }
        }
        Ok(None)
    }

    /// Plans `len` bytecodes within a word of targets, up to a stencil that does not exist yet.
    #[inline(never)]
    fn run<B: Bytecode, const STACK: bool>(
        &mut self,
        opcodes: &Opcodes,
        packed: &Packed,
        function: &Function<'_, B>,
        len: usize,
    ) -> Option<Unknown> {
        let Function { code, registers, shape, .. } = function;
        let learned = Learned::of(function);
        let (start, end) = (self.n_bytecodes, self.n_bytecodes + len);
        let mut targets = shape.targets.words()[start / RUN] >> (start % RUN);
        let depths = if STACK { &shape.depths[..end] } else { &[] };
        assert!(self.n_slow <= start && end <= code.len() && opcodes.plans.len() >= B::OPCODES.len());
        let stencils = self.stencils[..end].as_mut_ptr();
        let mut slow = self.slow[..end][self.n_slow..].as_mut_ptr();
        let (mut hot, mut held, mut all) = (self.hot, self.held, self.has);
        let mut missing = None;
        let mut at = start;
        while at < end {
            // SAFETY: the bytecode is one of the function's, as asserted above; the same holds below.
            let op = unsafe { code.get_unchecked(at) };
            // At a jump target nothing is cached.
            held.forget_if(targets & 1 != 0);
            targets >>= 1;
            let mut top = *registers;
            if STACK {
                if depths[at] == Shape::UNREACHED {
                    // SAFETY: as above.
                    unsafe { stencils.add(at).write(Packed::NOTHING) };
                    held = CachedNumber::NOTHING;
                    at += 1;
                    continue;
                }
                top = top.wrapping_add(depths[at]);
            }
            let here = Here { op: core::ptr::from_ref(op).cast(), top: if STACK { &top } else { registers } };
            let mut opcode = op.opcode();
            // SAFETY: there is a plan for each opcode, as asserted above, and `Bytecode` promises that this is an opcode.
            let mut plan = unsafe { opcodes.plans.get_unchecked(opcode) };
            let odd = if STACK { Odd::all().difference(Odd::STACK) } else { Odd::all() };
            // SAFETY: this is a bytecode of that opcode; it is not bare; and if it uses the operand stack, there is one.
            let (variant, next) = unsafe {
                match plan.odd.intersects(odd) {
                    false => (plan.compare::<STACK>(here, held), plan.carry.of::<STACK>(here)),
                    true => {
                        match opcodes.narrowed(opcode, here, &learned, at) {
                            PlannedAs::Opcode(number) => opcode = number,
                            PlannedAs::New(narrowing) => {
                                missing = Some(Unknown::Narrowing(opcode, narrowing));
                                break;
                            }
                        }
                        plan = &opcodes.plans[opcode];
                        choose::<STACK>(plan, &opcodes.details[opcode], here, held, self.n_functions)
                    }
                }
            };
            let choice @ Choice { stencil, hot: size, has } = plan.variants[variant % VARIANTS];
            if !stencil.is_some() {
                missing = Some(Unknown::Stencil(Missing { opcode, variant, no_store_of: None }));
                break;
            }
            if has.contains(Has::TAKES_CACHED) && held.register() >= self.temporaries {
                // SAFETY: a value is cached, so there is a bytecode before this one, which has its stencil.
                let before = unsafe { &mut *stencils.add(at - 1) };
                let old = &packed.stencils[before.at()];
                match old.no_store {
                    PackedStencil::UNKNOWN => {
                        missing = Some(Unknown::Stencil(opcodes.no_store(*before, code[at - 1].opcode())));
                        break;
                    }
                    PackedStencil::NONE => {}
                    no_store => {
                        hot = hot - old.hot + packed.stencils[no_store.at()].hot;
                        *before = no_store;
                    }
                }
            }
            // SAFETY: the lists are as long as the code, and hold at most one entry for each bytecode.
            unsafe {
                stencils.add(at).write(stencil);
                slow.write(at as u32);
                slow = slow.add(choice.entries());
            }
            hot += size as u32;
            all |= has.bits();
            held = next;
            at += 1;
        }
        (self.n_bytecodes, self.hot, self.held, self.has) = (at, hot, held, all);
        // SAFETY: the pointer is into the list, or to its end.
        self.n_slow = unsafe { slow.offset_from_unsigned(self.slow.as_ptr()) };
        missing
    }

    /// Adds up the cold parts and the tables. `count` is the counting stencil, if the function counts.
    pub(super) fn finish<B: Bytecode>(
        &mut self,
        packed: &Packed,
        function: &Function<'_, B>,
        count: Option<&PackedStencil>,
    ) {
        self.cold = self.counted.len() * count.map_or(0, |count| count.cold.len as usize);
        for at in 0..self.n_slow {
            let at = (self.slow[at] & !COUNTED) as usize;
            let stencil = &packed.stencils[self.stencils[at].at()];
            self.cold += stencil.cold.len as usize;
            if let Some(general) = packed.general(self.stencils[at]) {
                let cold = packed.stencils[general.at()].cold.len;
                self.cold += packed.general_bytes(general) + cold as usize;
                if packed.leaves(general) {
                    self.lacking.push(at as u32);
                }
            }
            if stencil.table.is_some() {
                let top =
                    function.shape.depths.get(at).map_or(0, |depth| function.registers.wrapping_add(*depth));
                let here = Here { op: (&raw const function.code[at]).cast(), top: &top };
                self.tables.push((at as u32, self.entries as u32));
                // SAFETY: the stencil belongs to this bytecode's opcode.
                self.entries += unsafe { packed.tables[stencil.table.at()].len(here) };
            }
        }
    }

    /// Whether one of the stencils reads the reserved register of `(cu)`, and whether one reads those of pinned constants.
    #[inline]
    pub(super) fn keeps(&self) -> [bool; 2] {
        let has = Has::from_bits_truncate(self.has);
        [Has::READS_UNIT, Has::READS_PINNED].map(|reads| has.contains(reads))
    }

    /// Whether one of the stencils knows the first case of a site.
    #[inline]
    pub(super) fn knows_cases(&self) -> bool {
        Has::from_bits_truncate(self.has).contains(Has::KNOWS_CASE)
    }

    /// The stencil of each bytecode.
    #[inline]
    pub(super) fn stencils(&self) -> &[StencilId] {
        &self.stencils[..self.n_bytecodes]
    }

    /// The bytecodes that need more than their hot part.
    #[inline]
    pub(super) fn slow(&self) -> impl Iterator<Item = Slow> {
        let slow = self.slow[..self.n_slow].iter();
        slow.map(|slow| Slow { at: slow & !COUNTED, is_counted: slow & COUNTED != 0 })
    }
}

impl Table {
    /// How many entries it has.
    ///
    /// # Safety
    ///
    /// `here` must refer to a bytecode of the table's opcode.
    unsafe fn len(&self, here: Here<'_>) -> usize {
        match self {
            // SAFETY: the operand belongs to the opcode.
            Table::Run(run) => unsafe { run.read(here) as usize >> 32 },
            Table::Operands(operands) => operands.len(),
        }
    }
}
