//! The second pass: copy stencils to where they will run, and fill their holes.
//!
//! Everything's place is known, so a hole is filled when its stencil is copied, whichever way it points.

use super::pack::{CHUNK, CHUNKS, Packed, PackedStencil, Patch};
use super::{BaselineCode, COUNTS, Placed, Plan, Table};
use crate::emit::BaselineFrame;
use crate::memory::CodeMemory;
use crate::stencil::{Bits, COLD_ALIGNMENT, Distance, Hole, Part, Place};
use crate::unwind::Described;
use azulejo_core::error::Error;
use azulejo_core::ir::bytecode::{MAX_OPERANDS, Raw};
use azulejo_core::ir::stencil::Source;

/// What stands around the stencils, and what bytecode refers to beside itself.
#[derive(Clone, Copy, Debug)]
pub(super) struct Around<'a> {
    pub(super) frame: &'a BaselineFrame,
    pub(super) labels: &'a [u32],
    pub(super) unit: u64,
    /// The stencil that counts, and the address where.
    pub(super) count: Option<(u32, u64)>,
}

/// Where the sections of the code start.
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

/// How far behind the hot parts copies and holes that are not there may write.
const SPILL: usize = CHUNK * CHUNKS + HOLE;
/// How many bytes a hole has that is quickly filled.
const HOLE: usize = 4;
const ENTRY_BYTES: usize = 8;
const POSITION_BYTES: usize = 4;

impl Sections {
    fn of(plan: &Plan, around: &Around<'_>) -> Sections {
        let hot = around.frame.prologue.len();
        let epilogue = hot + plan.hot as usize;
        let cold = (epilogue + around.frame.epilogue.len().max(SPILL)).next_multiple_of(COLD_ALIGNMENT);
        let code_end = cold + plan.cold as usize;
        let tables = code_end.next_multiple_of(ENTRY_BYTES);
        let positions = tables + plan.entries as usize * ENTRY_BYTES;
        let end = positions + plan.placed.len() * POSITION_BYTES;
        Sections { hot, epilogue, cold, code_end, tables, positions, end }
    }
}

/// Writes a function's code into code memory.
pub(super) fn fill(
    plan: &Plan,
    packed: &Packed,
    around: Around<'_>,
    memory: &CodeMemory,
) -> Result<BaselineCode, Error> {
    let at = Sections::of(plan, &around);
    if at.end > i32::MAX as usize {
        return Err(Error::OutOfCodeMemory);
    }
    let (frame, leaves) = (around.frame.frame, [at.epilogue as u32]);
    let described = Described { frame: &frame, leaves: &leaves, end: at.code_end };
    let installed = memory.install_with(described, at.end, |address, bytes| {
        bytes[..at.hot].copy_from_slice(&around.frame.prologue);
        Filler { plan, packed, around: &around, at, address, bytes }.fill();
    })?;
    Ok(BaselineCode {
        announced: None,
        installed,
        frame,
        leaves,
        positions: at.positions as u32,
        n_bytecodes: plan.placed.len() as u32,
        code_bytes: at.code_end as u32,
    })
}

struct Filler<'a> {
    plan: &'a Plan,
    packed: &'a Packed,
    around: &'a Around<'a>,
    at: Sections,
    /// Where the code will run.
    address: usize,
    bytes: &'a mut [u8],
}

impl Filler<'_> {
    fn fill(&mut self) {
        let mut n_tables = 0;
        for (at, placed) in self.plan.placed.iter().enumerate() {
            let start = (self.at.hot + placed.hot as usize) as u32;
            self.put(self.at.positions + at * POSITION_BYTES, start.to_le_bytes());
            let Placed { mut stencil, operands, mut hot, mut cold } = *placed;
            if stencil & COUNTS != 0
                && let Some((count, budget)) = self.around.count
            {
                let sizes = self.packed.sizes(count);
                let mut operands = [0; MAX_OPERANDS];
                operands[0] = budget;
                self.place(at, Placed { stencil: count, operands: 0, hot, cold }, &operands, &mut n_tables);
                stencil ^= COUNTS;
                hot += sizes.hot;
                cold += sizes.cold;
            }
            let placed = Placed { stencil, operands, hot, cold };
            let operands =
                self.plan.operands[operands as usize..].first_chunk().expect("there is room for more");
            self.place(at, placed, operands, &mut n_tables);
        }
        // Only now is nothing written behind the last stencil any more.
        let epilogue_end = self.at.epilogue + self.around.frame.epilogue.len();
        self.bytes[self.at.epilogue..epilogue_end].copy_from_slice(&self.around.frame.epilogue);
        self.bytes[epilogue_end..self.at.cold].fill(0xcc);
        self.bytes[self.at.code_end..self.at.tables].fill(0xcc);
        for table in 0..self.plan.tables.len() {
            self.table(table);
        }
    }

    #[inline(always)]
    fn place(&mut self, at: usize, placed: Placed, operands: &[Raw; MAX_OPERANDS], n_tables: &mut usize) {
        let stencil = &self.packed.stencils[placed.stencil as usize];
        self.copy(stencil, self.at.hot + placed.hot as usize, operands);
        if stencil.n_patches > 0 {
            while self.plan.tables.get(*n_tables).is_some_and(|table| (table.0 as usize) < at) {
                *n_tables += 1;
            }
            self.patch(at, &placed, stencil, operands, *n_tables);
        }
    }

    /// Copies a hot part, and fills the holes that are quickly filled.
    #[inline(always)]
    fn copy(&mut self, stencil: &PackedStencil, to: usize, operands: &[Raw; MAX_OPERANDS]) {
        let copied = stencil.copied as usize;
        let from = self.packed.bytes[stencil.hot_at as usize..][..copied].as_ptr();
        let room = &mut self.bytes[to..][..copied + HOLE];
        let to = room.as_mut_ptr();
        // SAFETY: both are `copied` bytes long, which is whole chunks and no less than the first ones.
        unsafe {
            to.copy_from_nonoverlapping(from, CHUNK * CHUNKS);
            let mut at = CHUNK * CHUNKS;
            while at < copied {
                to.add(at).copy_from_nonoverlapping(from.add(at), CHUNK);
                at += CHUNK;
            }
        }
        for hole in &stencil.quick {
            let value =
                (operands[hole.operand as usize % MAX_OPERANDS] as u32).wrapping_mul(hole.scale as u32);
            debug_assert!(hole.at as usize + HOLE <= room.len());
            // SAFETY: `Packed::add` saw to it that the hole starts no later than right behind what is copied.
            unsafe { to.add(hole.at as usize).cast::<u32>().write_unaligned(value.wrapping_add(hole.add)) };
        }
    }

    fn put<const N: usize>(&mut self, at: usize, bytes: [u8; N]) {
        self.bytes[at..at + N].copy_from_slice(&bytes);
    }

    /// Copies the cold part, and fills what else there is to fill.
    fn patch(&mut self, at: usize, placed: &Placed, stencil: &PackedStencil, operands: &[Raw], table: usize) {
        let hot = self.at.hot + placed.hot as usize;
        let cold = self.at.cold + placed.cold as usize;
        let part = |part: Part| if part == Part::Hot { hot } else { cold };
        let from = stencil.cold_at as usize;
        let copied = stencil.cold as usize;
        self.bytes[cold..cold + copied].copy_from_slice(&self.packed.bytes[from..from + copied]);
        let patches = &self.packed.patches[stencil.first_patch as usize..][..stencil.n_patches as usize];
        for patch in patches {
            match *patch {
                Patch::Distance(Distance { part: of, at, to }) => {
                    let to = match to {
                        Place::Next => hot + stencil.hot as usize,
                        Place::Out => self.at.epilogue,
                        Place::Label(operand) => {
                            self.at.hot + self.plan.placed[operands[operand as usize] as usize].hot as usize
                        }
                        Place::In(of, at) => part(of) + at as usize,
                        Place::Address(address) => (address as usize).wrapping_sub(self.address),
                    };
                    let place = part(of) + at as usize;
                    let distance = (to as i64).wrapping_sub(place as i64 + 4);
                    self.put(place, (distance as i32).to_le_bytes());
                }
                Patch::Hole(Hole { part: of, at: place, source, scale, add, bits }) => {
                    let value = self.value(source, at, operands, table);
                    let value = value.wrapping_mul(scale as u64).wrapping_add(add as u64);
                    let place = part(of) + place as usize;
                    match bits {
                        Bits::All => self.put(place, value.to_le_bytes()),
                        Bits::Low32 => self.put(place, (value as u32).to_le_bytes()),
                        Bits::Low(mask) => self.put(place, [value as u8 & mask]),
                        Bits::High32 => self.put(place, ((value >> 32) as u32).to_le_bytes()),
                    }
                }
            }
        }
    }

    fn value(&self, source: Source, at: usize, operands: &[Raw], table: usize) -> u64 {
        match source {
            Source::Operand(operand) => operands[operand as usize],
            Source::Count(operand) => operands[operand as usize] >> 32,
            Source::Last(operand) => (operands[operand as usize] >> 32).wrapping_sub(1),
            Source::Here => at as u64,
            Source::Unit => self.around.unit,
            Source::Table => {
                let entries = self.plan.tables[table].1 as usize;
                (self.address + self.at.tables + entries * ENTRY_BYTES) as u64
            }
        }
    }

    /// Writes the addresses that a switch jumps to.
    fn table(&mut self, table: usize) {
        let (at, first, table) = self.plan.tables[table];
        let operands = &self.plan.operands[self.plan.placed[at as usize].operands as usize..];
        let mut place = self.at.tables + first as usize * ENTRY_BYTES;
        let mut put = |filler: &mut Self, to: u32| {
            let target = filler.address + filler.at.hot + filler.plan.placed[to as usize].hot as usize;
            filler.put(place, (target as u64).to_le_bytes());
            place += ENTRY_BYTES;
        };
        match table {
            Table::Run(operand) => {
                let run = operands[operand as usize];
                let labels = &self.around.labels[run as u32 as usize..][..(run >> 32) as usize];
                labels.iter().for_each(|&to| put(self, to));
            }
            Table::Operands(list) => {
                list.iter().for_each(|&operand| put(self, operands[operand as usize] as u32))
            }
        }
    }
}
