//! Which register is taken when, and by whom.
//!
//! Reservations of instructions (what they destroy, what they want in a fixed register) are known from the start
//! and stay; they are short, sorted and may overlap one another. Pieces and moments come and go, and are disjoint
//! in each register.
//!
//! Positions are grouped in chunks of 64, so that a word says when in a chunk a register is taken. Most questions
//! are answered by such words. Who it is that has the register is in a list for each chunk and register, with one
//! entry for each piece there; it holds what its entries' words say together. A long piece costs one step for each
//! chunk that it covers, a short one only those of its segments.

use crate::ir::ranges::{STEP, Segment};
use crate::target::{Reg, RegisterFile};
use crate::vocab::Class;

/// Who has a register.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Holder {
    /// A piece of a live range.
    Piece(u32),
    /// An operand that is in memory, for one instruction.
    Moment(u32),
    /// An instruction that destroys it.
    Machine,
    /// An instruction that has an operand of this range there.
    Owned(u32),
}

/// Positions in a chunk: a bit for each.
const CHUNK: u32 = u64::BITS;
const _: () = assert!(CHUNK.is_multiple_of(STEP), "an instruction lies in one chunk");

/// What one piece or moment takes of one register in one chunk.
#[derive(Clone, Copy, Debug)]
struct Entry {
    positions: u64,
    holder: Holder,
    /// How much the holder weighs.
    weight: f32,
    next: u32,
}

/// A register in a chunk.
#[derive(Clone, Copy, Debug)]
struct Cell {
    /// Where pieces and moments have it.
    taken: u64,
    /// Where instructions have it.
    reserved: u64,
    /// The first of its entries.
    entries: u32,
}

const NONE: u32 = u32::MAX;
const FREE: Cell = Cell { taken: 0, reserved: 0, entries: NONE };

/// Who has a register for some positions around one that was asked for; forgotten when the register changes hands.
#[derive(Clone, Copy, Debug)]
struct Recent {
    start: u32,
    end: u32,
    weight: f32,
}

const NOBODY: Recent = Recent { start: 0, end: 0, weight: 0.0 };

/// For each register, what is taken.
#[derive(Debug, Default)]
pub(super) struct Occupied {
    /// Where each register is among those of a chunk; there are no cells for classes that nothing uses.
    lanes: Vec<Option<u8>>,
    n_lanes: usize,
    /// By chunk, then by lane.
    cells: Vec<Cell>,
    entries: Vec<Entry>,
    /// Entries that are not in use, linked.
    unused: u32,
    /// By lane: what was asked last.
    recent: Vec<Recent>,
    /// By lane: reservations by position.
    reservations: Vec<Vec<(Segment, Holder)>>,
}

/// Visits the chunks that sorted segments touch, with their positions in each, until `visit` says no.
#[inline(always)]
fn each_chunk(segments: &[Segment], mut visit: impl FnMut(u32, u64) -> bool) {
    let (mut chunk, mut positions) = (0, 0);
    for segment in segments {
        let (first, last) = (segment.start / CHUNK, (segment.end - 1) / CHUNK);
        if first != chunk {
            if positions != 0 && !visit(chunk, positions) {
                return;
            }
            positions = 0;
        }
        let mut start = u64::MAX << (segment.start % CHUNK);
        for chunk in first..last {
            if !visit(chunk, positions | start) {
                return;
            }
            (positions, start) = (0, u64::MAX);
        }
        chunk = last;
        positions |= start & u64::MAX >> (CHUNK - 1 - (segment.end - 1) % CHUNK);
    }
    if positions != 0 {
        visit(chunk, positions);
    }
}

impl Occupied {
    /// Nothing is taken, of the registers of these classes, up to a position.
    pub(super) fn clear(&mut self, regs: &RegisterFile, classes: impl Iterator<Item = Class>, end: u32) {
        self.lanes.clear();
        self.lanes.resize(Reg::COUNT, None);
        self.n_lanes = 0;
        for reg in classes.flat_map(|class| regs.of(class)) {
            self.lanes[reg.0 as usize] = Some(self.n_lanes as u8);
            self.n_lanes += 1;
        }
        self.cells.clear();
        self.cells.resize((end / CHUNK + 1) as usize * self.n_lanes, FREE);
        self.entries.clear();
        self.unused = NONE;
        self.recent.clear();
        self.recent.resize(self.n_lanes, NOBODY);
        self.reservations.iter_mut().for_each(Vec::clear);
        if self.reservations.len() < self.n_lanes {
            self.reservations.resize_with(self.n_lanes, Vec::new);
        }
    }

    fn lane(&self, reg: Reg) -> usize {
        self.lanes[reg.0 as usize].expect("only registers that may be given out are asked for") as usize
    }

    /// Adds a reservation of an instruction; those of earlier instructions come first.
    pub(super) fn reserve(&mut self, reg: Reg, segment: Segment, holder: Holder) {
        // Nothing is ever put in a register that is not given out.
        let Some(lane) = self.lanes[reg.0 as usize] else { return };
        let list = &mut self.reservations[lane as usize];
        let mut at = list.len();
        while at > 0 && list[at - 1].0.start > segment.start {
            at -= 1;
        }
        list.insert(at, (segment, holder));
        each_chunk(&[segment], |chunk, positions| {
            self.cells[chunk as usize * self.n_lanes + lane as usize].reserved |= positions;
            true
        });
    }

    /// Gives a register to a piece or moment of this weight, which has to be free for it.
    pub(super) fn take(&mut self, reg: Reg, segments: &[Segment], holder: Holder, weight: f32) {
        let lane = self.lane(reg);
        self.recent[lane] = NOBODY;
        let Occupied { cells, entries, unused, n_lanes, .. } = self;
        each_chunk(segments, |chunk, positions| {
            let cell = &mut cells[chunk as usize * *n_lanes + lane];
            debug_assert_eq!(cell.taken & positions, 0, "{reg:?} is taken twice");
            cell.taken |= positions;
            let entry = Entry { positions, holder, weight, next: cell.entries };
            if *unused == NONE {
                cell.entries = entries.len() as u32;
                entries.push(entry);
            } else {
                cell.entries = *unused;
                *unused = core::mem::replace(&mut entries[*unused as usize], entry).next;
            }
            true
        });
    }

    /// Takes a register away again, at some or all of the positions that a piece or moment has it.
    pub(super) fn give_back(&mut self, reg: Reg, segments: &[Segment], holder: Holder) {
        let lane = self.lane(reg);
        self.recent[lane] = NOBODY;
        let Occupied { cells, entries, unused, n_lanes, .. } = self;
        each_chunk(segments, |chunk, positions| {
            let cell = &mut cells[chunk as usize * *n_lanes + lane];
            cell.taken &= !positions;
            let (mut before, mut at) = (NONE, cell.entries);
            while entries[at as usize].holder != holder {
                (before, at) = (at, entries[at as usize].next);
            }
            let entry = &mut entries[at as usize];
            entry.positions &= !positions;
            if entry.positions == 0 {
                let next = core::mem::replace(&mut entry.next, *unused);
                *unused = at;
                match before {
                    NONE => cell.entries = next,
                    before => entries[before as usize].next = next,
                }
            }
            true
        });
    }

    /// How much the piece or moment weighs that has the register at a position. Most pieces that wait are in the way of
    /// others where they start, and the same answer serves many of them.
    #[inline]
    pub(super) fn weight_at(&mut self, reg: Reg, position: u32) -> Option<f32> {
        let lane = self.lane(reg);
        let recent = &self.recent[lane];
        if recent.start <= position && position < recent.end {
            return Some(recent.weight);
        }
        self.find_weight_at(lane, position)
    }

    fn find_weight_at(&mut self, lane: usize, position: u32) -> Option<f32> {
        let bit = position % CHUNK;
        let cell = &self.cells[(position / CHUNK) as usize * self.n_lanes + lane];
        if cell.taken & 1 << bit == 0 {
            return None;
        }
        let mut entry = &self.entries[cell.entries as usize];
        while entry.positions & 1 << bit == 0 {
            entry = &self.entries[entry.next as usize];
        }
        let end = position + (entry.positions >> bit).trailing_ones();
        let start = position + 1 - (entry.positions << (CHUNK - 1 - bit)).leading_ones();
        self.recent[lane] = Recent { start, end, weight: entry.weight };
        Some(entry.weight)
    }

    /// Tells everyone who has the register at some position of the segments, how much they weigh, and from which
    /// position of the segments on they have it: one chunk after the other, and no further than the chunk in which
    /// `go_on` says no. Who is in several chunks is told of in each.
    #[inline]
    pub(super) fn conflicts(
        &self,
        reg: Reg,
        segments: &[Segment],
        mut go_on: impl FnMut(Holder, f32, u32) -> bool,
    ) {
        let lane = self.lane(reg);
        each_chunk(segments, |chunk, positions| {
            let cell = &self.cells[chunk as usize * self.n_lanes + lane];
            (cell.taken | cell.reserved) & positions == 0
                || self.conflicts_in(lane, cell, chunk * CHUNK, positions, &mut go_on)
        });
    }

    /// The same for positions in one chunk; whether all said yes.
    fn conflicts_in(
        &self,
        lane: usize,
        cell: &Cell,
        start: u32,
        positions: u64,
        go_on: &mut impl FnMut(Holder, f32, u32) -> bool,
    ) -> bool {
        let mut all_yes = true;
        if cell.reserved & positions != 0 {
            let list = &self.reservations[lane];
            let first = list.partition_point(|(held, _)| held.start < start);
            for (held, holder) in list[first..].iter().take_while(|(held, _)| held.start < start + CHUNK) {
                // A reservation is for one instruction, which lies in one chunk.
                let length = held.end - held.start;
                let both = ((1 << length) - 1) << (held.start - start) & positions;
                if both != 0 {
                    all_yes &= go_on(*holder, f32::INFINITY, start + both.trailing_zeros());
                }
            }
        }
        let mut at = if cell.taken & positions == 0 { NONE } else { cell.entries };
        while let Some(entry) = self.entries.get(at as usize) {
            if entry.positions & positions != 0 {
                let from = (entry.positions & positions).trailing_zeros();
                all_yes &= go_on(entry.holder, entry.weight, start + from);
            }
            at = entry.next;
        }
        all_yes
    }

    /// The pieces that have the register at some position of the segments.
    pub(super) fn find_pieces(&self, reg: Reg, segments: &[Segment], out: &mut Vec<u32>) {
        out.clear();
        self.conflicts(reg, segments, |holder, _, _| {
            if let Holder::Piece(piece) = holder {
                out.push(piece);
            }
            true
        });
        // One that is in several chunks is told of several times.
        out.sort_unstable();
        out.dedup();
    }

    /// Whether nobody has the register, nor destroys it.
    pub(super) fn is_free(&self, reg: Reg, segment: Segment) -> bool {
        // Nothing is in registers of a class that nothing uses.
        let Some(lane) = self.lanes[reg.0 as usize] else { return true };
        let lane = lane as usize;
        let mut is_free = true;
        each_chunk(&[segment], |chunk, positions| {
            let cell = &self.cells[chunk as usize * self.n_lanes + lane];
            is_free &= (cell.taken | cell.reserved) & positions == 0;
            is_free
        });
        is_free
    }
}
