//! The second pass: copy stencils to where they will run, and fill their holes.
//!
//! All places are known, so a distance can be filled in whether it points forward or backward. Hot parts are copied first, all
//! in a row, and their quick holes filled; then follow the bytecodes on the plan's list, which need more than that.

use super::BaselineCode;
use super::faults::Sites;
use super::operand::{Here, Operand};
use super::pack::{
    CHUNK, COPIED, HOLE, Link, LinkBase, Packed, PackedStencil, Patch, Quick, StencilId, Table, What,
};
use super::plan::{MAX_BYTES, Plan, Slow};
use crate::CodeMemory;
use crate::call::KeptValues;
use crate::emit::{Backend, BaselineFrame, Frame, OwnFrame};
use crate::faults::{Guarded, Registered};
use crate::field::Field;
use crate::stencil::{COLD_ALIGNMENT, Hole, Part};
use crate::unwind::{Described, MADE_AT_ONCE};
use azulejo_core::error::Error;
use azulejo_core::ir::bytecode::Bytecode;
use azulejo_core::ir::sites;
use azulejo_core::ir::stencil::HoleSource;
use azulejo_core::pass::build::Linkage;
use azulejo_core::verify::{Function, Shape};
use std::sync::Arc;

/// The code around the stencils, and what bytecode refers to outside of itself.
#[derive(Debug)]
pub(super) struct Around<'a, M: Backend> {
    pub(super) frame: &'a BaselineFrame<M>,
    pub(super) own: OwnFrame<M>,
    pub(super) code: CodeView<'a>,
    pub(super) labels: &'a [u32],
    pub(super) unit: u64,
    pub(super) kept: KeptValues,
    /// The address of the entries that slow paths set, a byte for each bytecode.
    pub(super) slow_paths: u64,
    /// The functions that the bytecode may call.
    pub(super) functions: Linkage<'a>,
    pub(super) shape: &'a Shape,
    pub(super) count: Option<Count>,
}

/// The counting stencil, and its addresses: it reads them as operands, as from a bytecode.
#[derive(Debug)]
pub(super) struct Count {
    pub(super) stencil: StencilId,
    /// At the heads of loops without loops in them.
    pub(super) innermost: [u64; 3],
    /// At the heads of all other loops.
    pub(super) around: [u64; 3],
}

impl Count {
    /// The operands of the stencil at a loop's head.
    fn operands(&self, shape: &Shape, head: usize) -> Here<'_> {
        let addresses = if shape.has_inner_loop(head as u32) { &self.around } else { &self.innermost };
        Here { op: core::ptr::from_ref(addresses).cast(), top: &0 }
    }
}

/// Bytecode of any type.
#[derive(Clone, Copy, Debug)]
pub(super) struct CodeView<'a> {
    start: *const u8,
    stride: usize,
    len: usize,
    depths: &'a [u32],
    registers: u32,
}

impl<'a> CodeView<'a> {
    pub(super) fn of<B: Bytecode>(function: &Function<'a, B>) -> CodeView<'a> {
        let Function { code, registers, shape, .. } = *function;
        CodeView {
            start: code.as_ptr().cast(),
            stride: size_of::<B>(),
            len: code.len(),
            depths: &shape.depths,
            registers,
        }
    }

    #[inline]
    fn top(&self, at: usize) -> u32 {
        self.depths.get(at).map_or(0, |depth| self.registers.wrapping_add(*depth))
    }

    #[inline]
    fn here<'t>(&self, at: usize, top: &'t u32) -> Here<'t> {
        assert!(at < self.len);
        Here { op: self.start.wrapping_add(at * self.stride), top }
    }
}

/// The offsets of the code's sections.
#[derive(Clone, Copy, Debug)]
struct Sections {
    hot: usize,
    epilogue: usize,
    cold: usize,
    code_end: usize,
    tables: usize,
    positions: usize,
    end: usize,
}

/// How far behind the hot parts the copies of fixed size and the unused quick holes may write.
const SPILL: usize = COPIED + HOLE;
const ENTRY_BYTES: usize = 8;
const POSITION_BYTES: usize = 4;

impl Sections {
    fn of<M: Backend>(plan: &Plan, around: &Around<'_, M>) -> Sections {
        let hot = around.frame.prologue.len();
        let epilogue = hot + plan.hot as usize;
        let cold = (epilogue + around.frame.epilogue.len().max(SPILL)).next_multiple_of(COLD_ALIGNMENT);
        let code_end = cold + plan.cold;
        let tables = code_end.next_multiple_of(ENTRY_BYTES);
        let positions = tables + plan.entries * ENTRY_BYTES;
        let end = positions + around.code.len * POSITION_BYTES;
        Sections { hot, epilogue, cold, code_end, tables, positions, end }
    }
}

/// Writes a function's code into code memory.
pub(super) fn fill<M: Backend>(
    plan: &Plan,
    packed: &Packed,
    around: Around<'_, M>,
    memory: &CodeMemory,
) -> Result<BaselineCode<M>, Error> {
    let at = Sections::of(plan, &around);
    if at.end > MAX_BYTES {
        return Err(Error::OutOfCodeMemory);
    }
    let frame = around.own.frame;
    let leaves = around.frame.leaves.map(|leave| at.epilogue as u32 + leave);
    let described = Described {
        machine: M::MACHINE,
        frame: &frame,
        frames: MADE_AT_ONCE,
        leaves: &leaves,
        end: at.code_end,
    };
    let installed = memory.install_with(described, at.end, |address, bytes| {
        bytes[..at.hot].copy_from_slice(&around.frame.prologue);
        frame.write_room(&mut bytes[around.frame.make_at..]);
        for &(at, field) in &around.frame.unit_at {
            field.put(&mut bytes[at..], around.unit);
        }
        Filler { plan, packed, around: &around, at, address, bytes }.fill();
    })?;
    let faults = packed.faulty.any().then(|| {
        let counter = around.count.as_ref().map_or(0, |count| packed.stencils[count.stencil.at()].cold.len);
        let sites = Sites {
            faulty: Arc::clone(&packed.faulty),
            stencils: plan.stencils().into(),
            positions: installed.address().addr() + at.positions,
            hot_end: at.epilogue as u32,
            cold: at.cold as u32 + plan.counted.len() as u32 * counter,
        };
        Registered::new(Guarded {
            start: installed.address().addr(),
            len: at.code_end,
            leave: at.epilogue as u32,
            is_call_entry: false,
            sites: Box::new(sites),
        })
    });
    Ok(BaselineCode {
        announced: None,
        _faults: faults,
        installed,
        own: around.own,
        kept: around.kept,
        leaves,
        positions: at.positions as u32,
        n_bytecodes: around.code.len as u32,
        code_bytes: at.code_end as u32,
        knows_cases: plan.knows_cases(),
        lacking: plan.lacking.as_slice().into(),
    })
}

struct Filler<'a, M: Backend> {
    plan: &'a Plan,
    packed: &'a Packed,
    around: &'a Around<'a, M>,
    at: Sections,
    /// The address that the code will run at.
    address: usize,
    bytes: &'a mut [u8],
}

/// A stencil that has been copied to its place, and its bytecode.
struct Placed<'a> {
    at: usize,
    here: Here<'a>,
    stencil: &'a PackedStencil,
    hot: usize,
    cold: usize,
    /// Where the stencil is to which it leads if it knows a case that is not the one at hand.
    general: usize,
    /// The number of its table.
    table: usize,
}

impl<M: Backend> Filler<'_, M> {
    fn fill(&mut self) {
        match self.around.code.depths.is_empty() {
            true => self.hot::<false>(),
            false => self.hot::<true>(),
        }
        // From here on, nothing writes behind the last stencil any more.
        let epilogue_end = self.at.epilogue + self.around.frame.epilogue.len();
        self.bytes[self.at.epilogue..epilogue_end].copy_from_slice(&self.around.frame.epilogue);
        M::MACHINE.fill_up(&mut self.bytes[epilogue_end..self.at.cold], epilogue_end);
        for leave in self.around.frame.leaves {
            let at = self.at.epilogue + leave as usize;
            self.around.own.frame.write_room(&mut self.bytes[at..]);
        }
        self.slow();
        M::MACHINE.fill_up(&mut self.bytes[self.at.code_end..self.at.tables], self.at.code_end);
        for table in 0..self.plan.tables.len() {
            self.table(table);
        }
    }

    /// Copies all hot parts, each over the excess bytes of the one before, and records where each starts.
    fn hot<const STACK: bool>(&mut self) {
        let (mut at, mut to) = (0, self.at.hot);
        let mut head = None;
        for next in self.plan.counted.iter().map(|next| *next as usize).chain([self.around.code.len]) {
            let start = to;
            if let (Some(count), Some(head)) = (&self.around.count, head) {
                let here = count.operands(self.around.shape, head);
                let count = &self.packed.stencils[count.stencil.at()];
                // SAFETY: the plan has room for the stencil here, and its operands are the addresses that `here` points to.
                unsafe {
                    place::<false>(count, self.packed, self.bytes[to..self.at.cold].as_mut_ptr(), here)
                };
                to += count.hot as usize;
            }
            to = self.run::<STACK>(at..next, to);
            if let Some(head) = head {
                self.put(self.at.positions + head * POSITION_BYTES, (start as u32).to_le_bytes());
            }
            (at, head) = (next, Some(next));
        }
        debug_assert_eq!(to, self.at.epilogue);
    }

    /// Copies the hot parts of some bytecodes, and returns the offset of their end.
    #[inline(never)]
    fn run<const STACK: bool>(&mut self, run: core::ops::Range<usize>, start: usize) -> usize {
        let Around { code, .. } = *self.around;
        let stencils = &self.plan.stencils()[run.clone()];
        let depths = if STACK { &code.depths[run.clone()] } else { &[] };
        let mut op = code.start.wrapping_add(run.start * code.stride);
        let packed = self.packed;
        let (code_room, behind) = self.bytes.split_at_mut(self.at.code_end);
        let positions = &mut behind[self.at.positions - self.at.code_end..].as_chunks_mut().0[run];
        let room = &mut code_room[..self.at.cold];
        let mut to = start;
        for (at, (stencil, position)) in core::iter::zip(stencils, positions).enumerate() {
            // SAFETY: the plan has only numbers of stencils.
            let stencil = unsafe { packed.stencils.get_unchecked(stencil.at()) };
            let top = if STACK { code.registers.wrapping_add(depths[at]) } else { 0 };
            debug_assert!(to + stencil.hot as usize + SPILL <= room.len());
            *position = (to as u32).to_le_bytes();
            // SAFETY: the plan added up the sizes of these very stencils, and there is spare room behind the last of them. Each
            // belongs to its bytecode's opcode.
            unsafe {
                let to = room.as_mut_ptr().add(to);
                place::<STACK>(stencil, packed, to, Here { op, top: &top });
            }
            to += stencil.hot as usize;
            op = op.wrapping_add(code.stride);
        }
        to
    }

    /// The offset of a bytecode's code, once hot parts have been copied.
    fn start(&self, at: usize) -> usize {
        let positions = self.bytes[self.at.positions..].as_chunks().0;
        u32::from_le_bytes(positions[at]) as usize
    }

    /// Handles the bytecodes on the plan's list, and the counting stencils.
    fn slow(&mut self) {
        let Around { code, ref count, shape, .. } = *self.around;
        let (mut cold, mut table) = (self.at.cold, 0);
        let mut counter = 0;
        if let Some(count) = count {
            let stencil = &self.packed.stencils[count.stencil.at()];
            counter = stencil.hot as usize;
            for &at in &self.plan.counted {
                let at = at as usize;
                let here = count.operands(shape, at);
                self.patch(&Placed { at, here, stencil, hot: self.start(at), cold, general: cold, table });
                cold += stencil.cold.len as usize;
            }
        }
        for Slow { at, is_counted } in self.plan.slow() {
            let at = at as usize;
            let top = code.top(at);
            let chosen = self.plan.stencils()[at];
            let stencil = &self.packed.stencils[chosen.at()];
            let hot = self.start(at) + if is_counted { counter } else { 0 };
            let (here, general) = (code.here(at, &top), cold + stencil.cold.len as usize);
            self.patch(&Placed { at, here, stencil, hot, cold, general, table });
            cold = general;
            let after = hot + stencil.hot as usize;
            if let Some(number) = self.packed.general(chosen) {
                let (stencil, size) = (&self.packed.stencils[number.at()], self.packed.general_bytes(number));
                cold += size;
                let placed = Placed { at, here, stencil, hot: general, cold, general, table };
                match self.packed.leaves(number) {
                    true => self.leave(&placed, size),
                    false => self.general(&placed, size, after),
                }
                cold += stencil.cold.len as usize;
            }
            table += stencil.table.is_some() as usize;
        }
        debug_assert_eq!((cold, table), (self.at.code_end, self.plan.tables.len()));
    }

    fn put<const N: usize>(&mut self, at: usize, bytes: [u8; N]) {
        *self.bytes[at..].first_chunk_mut().expect("it is within the code") = bytes;
    }

    /// Copies the stencil that leaves the function as it is. It has no quick holes.
    fn leave(&mut self, placed: &Placed<'_>, size: usize) {
        let PackedStencil { bytes, hot, more, .. } = placed.stencil;
        let hot = *hot as usize;
        let room = &mut self.bytes[placed.hot..][..size];
        let (start, rest) = room[..hot].split_at_mut(hot.min(COPIED));
        start.copy_from_slice(&bytes[..start.len()]);
        rest.copy_from_slice(&more.of(&self.packed.bytes)[..rest.len()]);
        M::MACHINE.fill_up(&mut room[hot..], hot);
        self.patch(placed);
    }

    /// Copies a whole stencil to where nothing follows, and then a jump to what would follow.
    fn general(&mut self, placed: &Placed<'_>, size: usize, after: usize) {
        let packed = self.packed;
        let room = &mut self.bytes[placed.hot..][..size];
        // SAFETY: the room is as large as the stencil, and what is written behind it. The stencil belongs to the bytecode's opcode.
        unsafe { place::<true>(placed.stencil, packed, room.as_mut_ptr(), placed.here) };
        let (jump, at) = (packed.jump(), placed.hot + placed.stencil.hot as usize);
        let end = at + jump.hot as usize;
        self.bytes[at..end].copy_from_slice(&jump.bytes[..end - at]);
        M::MACHINE.fill_up(&mut self.bytes[end..placed.hot + size], end - placed.hot);
        for Patch { at: place, field, base, .. } in jump.patches.of(&packed.patches) {
            let place = at + *place as usize;
            field.put(&mut self.bytes[place..], after.wrapping_sub(place + *base as usize) as u64);
        }
        self.patch(placed);
    }

    /// Copies a cold part, and fills the remaining holes.
    #[inline(always)]
    fn patch(&mut self, placed: &Placed<'_>) {
        let Placed { here, stencil, cold, .. } = *placed;
        let from = stencil.cold.of(&self.packed.bytes).as_chunks::<CHUNK>().0;
        let to = self.bytes[cold..][..stencil.cold.len as usize].as_chunks_mut::<CHUNK>().0;
        to.iter_mut().zip(from).for_each(|(to, from)| *to = *from);
        let bases = self.link_bases(placed);
        for Link { at, part, to, add } in stencil.links.of(&self.packed.links) {
            let number = bases[*to as usize].wrapping_add(*add);
            debug_assert!(!to.is_distance() || Field::WORD.fits(number as i64), "{to:?}: {number}");
            self.put(placed.part(*part) + *at as usize, (number as u32).to_le_bytes());
        }
        for Patch { part, at, field, base, what } in stencil.patches.of(&self.packed.patches) {
            let place = placed.part(*part) + *at as usize;
            let number = match *what {
                What::Label(label) => {
                    // SAFETY: the word belongs to this bytecode's opcode, and it is a field, as labels are.
                    let to = self.start(unsafe { label.read::<false>(here) } as usize);
                    to.wrapping_sub(place + *base as usize) as u64
                }
                What::Link(to, add) => bases[to as usize].wrapping_add(add),
                What::Value(ref hole, operand) => self.value(placed, hole, operand),
            };
            let is_distance = !matches!(what, What::Value(..));
            debug_assert!(!is_distance || field.fits(number as i64), "{what:?}: {number}");
            field.put(&mut self.bytes[place..], number);
        }
    }

    /// The numbers to which a stencil's links add theirs.
    #[inline(always)]
    fn link_bases(&self, &Placed { at, hot, cold, general, .. }: &Placed<'_>) -> [u64; LinkBase::COUNT] {
        let (out, left) = (self.at.epilogue, self.at.epilogue + self.around.frame.left);
        let zero = 0usize.wrapping_sub(self.address);
        let slow_path = self.around.slow_paths.wrapping_add(at as u64);
        let distance = |from: usize, to: usize| to.wrapping_sub(from) as u64;
        let mut bases = [0; LinkBase::COUNT];
        for (base, number) in [
            (LinkBase::HotToCold, distance(hot, cold)),
            (LinkBase::ColdToHot, distance(cold, hot)),
            (LinkBase::HotToGeneral, distance(hot, general)),
            (LinkBase::ColdToGeneral, distance(cold, general)),
            (LinkBase::HotToOut, distance(hot, out)),
            (LinkBase::ColdToOut, distance(cold, out)),
            (LinkBase::HotToLeft, distance(hot, left)),
            (LinkBase::ColdToLeft, distance(cold, left)),
            (LinkBase::HotToZero, distance(hot, zero)),
            (LinkBase::ColdToZero, distance(cold, zero)),
            (LinkBase::Here, at as u64),
            (LinkBase::SlowPath, slow_path),
            (LinkBase::SlowPathUpper, slow_path >> u32::BITS),
        ] {
            bases[base as usize] = number;
        }
        bases
    }

    #[inline(never)]
    fn value(&self, placed: &Placed<'_>, hole: &Hole, operand: Operand) -> u64 {
        let Hole { source, scale, add, .. } = *hole;
        // SAFETY: the operand belongs to this bytecode's opcode.
        let operand = unsafe { operand.read(placed.here) };
        let value = match source {
            HoleSource::Operand(_) => operand,
            HoleSource::Count(_) => operand >> 32,
            HoleSource::Last(_) => (operand >> 32).wrapping_sub(1),
            // SAFETY: the plan chose this stencil for a site with a case, which has the field.
            HoleSource::Case(_, offset, bytes) => unsafe { sites::Sites::read(operand, offset, bytes) },
            // The plan chose a wide variant where there is no cell.
            HoleSource::Cell(_) => self.around.functions.cells[operand as usize],
            HoleSource::Functions => self.around.functions.table,
            HoleSource::Newest => self.around.functions.show.unwrap_or_default().newest,
            HoleSource::Layout => self.around.functions.show.unwrap_or_default().layout,
            HoleSource::Shown => self.around.functions.show.unwrap_or_default().offset(),
            HoleSource::Here => placed.at as u64,
            HoleSource::Bytecode => placed.here.op.addr() as u64,
            HoleSource::Unit => self.around.unit,
            HoleSource::SlowPath => self.around.slow_paths.wrapping_add(placed.at as u64),
            HoleSource::Table => {
                let entries = self.plan.tables[placed.table].1 as usize;
                (self.address + self.at.tables + entries * ENTRY_BYTES) as u64
            }
        };
        value.wrapping_mul(scale as u64).wrapping_add(add as u64)
    }

    /// Writes the jump table of a switch.
    fn table(&mut self, table: usize) {
        let Around { code, labels, .. } = *self.around;
        let (at, first) = self.plan.tables[table];
        let top = code.top(at as usize);
        let here = code.here(at as usize, &top);
        let stencil = &self.packed.stencils[self.plan.stencils()[at as usize].at()];
        let mut place = self.at.tables + first as usize * ENTRY_BYTES;
        let mut put = |filler: &mut Self, to: u32| {
            let target = filler.address + filler.start(to as usize);
            filler.put(place, (target as u64).to_le_bytes());
            place += ENTRY_BYTES;
        };
        // SAFETY: the operands belong to this bytecode's opcode.
        let read = |operand: &Operand| unsafe { operand.read(here) };
        match &self.packed.tables[stencil.table.at()] {
            Table::Run(run) => {
                let run = read(run);
                let labels = &labels[run as u32 as usize..][..(run >> 32) as usize];
                labels.iter().for_each(|&to| put(self, to));
            }
            Table::Operands(labels) => labels.iter().for_each(|label| put(self, read(label) as u32)),
        }
    }
}

impl Placed<'_> {
    #[inline]
    fn part(&self, part: Part) -> usize {
        match part {
            Part::Hot => self.hot,
            Part::Cold => self.cold,
        }
    }
}

/// Copies a hot part, and fills its quick holes.
///
/// # Safety
///
/// The stencil must belong to the bytecode's opcode, and `to` must have room for it and [`SPILL`] more bytes.
#[inline(always)]
unsafe fn place<const STACK: bool>(stencil: &PackedStencil, packed: &Packed, to: *mut u8, here: Here<'_>) {
    // SAFETY: the caller guarantees it.
    unsafe {
        to.copy_from_nonoverlapping(stencil.bytes.as_ptr(), COPIED);
        match stencil.is_plain {
            true => stencil.quick.iter().for_each(|hole| hole.fill::<STACK>(to, here)),
            false => place_on::<STACK>(stencil, stencil.more.of(&packed.bytes), to, here),
        }
    }
}

/// Copies the rest of a stencil that is not plain, and fills its quick holes.
///
/// # Safety
///
/// As for [`place`].
#[inline(never)]
unsafe fn place_on<const STACK: bool>(stencil: &PackedStencil, more: &[u8], to: *mut u8, here: Here<'_>) {
    // SAFETY: the copy ends less than a chunk behind the stencil, and the holes are in the stencil.
    unsafe {
        for (at, chunk) in more.as_chunks::<CHUNK>().0.iter().enumerate() {
            to.add(COPIED + at * CHUNK).copy_from_nonoverlapping(chunk.as_ptr(), CHUNK);
        }
        let quick = &stencil.quick[..stencil.n_quick as usize];
        quick.iter().for_each(|hole| hole.fill::<STACK>(to, here));
    }
}

impl Quick {
    /// # Safety
    ///
    /// `to` must be the place of the hole's stencil.
    #[inline(always)]
    unsafe fn fill<const STACK: bool>(&self, to: *mut u8, here: Here<'_>) {
        // SAFETY: `Packed::add` made sure that the hole starts no later than right behind the stencil.
        unsafe {
            let value = self.word.read::<STACK>(here).wrapping_mul(self.scale).wrapping_add(self.add);
            to.add(self.at as usize).cast::<u32>().write_unaligned(value);
        }
    }
}
