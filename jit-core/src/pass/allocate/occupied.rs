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
    /// By lane: reservations by position.
    reservations: Vec<Vec<(Segment, Holder)>>,
}

/// The chunks that a segment touches, and which positions of each.
fn chunks(segment: Segment) -> impl Iterator<Item = (usize, u64)> {
    let (first, last) = (segment.start / CHUNK, (segment.end - 1) / CHUNK);
    (first..=last).map(move |chunk| {
        let from = if chunk == first { segment.start % CHUNK } else { 0 };
        let to = if chunk == last { (segment.end - 1) % CHUNK } else { CHUNK - 1 };
        (chunk as usize, u64::MAX >> (CHUNK - 1 - to) & u64::MAX << from)
    })
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
        for (chunk, positions) in chunks(segment) {
            self.cells[chunk * self.n_lanes + lane as usize].reserved |= positions;
        }
    }

    /// Gives a register to a piece or moment, which has to be free for it.
    pub(super) fn take(&mut self, reg: Reg, segments: &[Segment], holder: Holder) {
        let lane = self.lane(reg);
        for (chunk, positions) in segments.iter().flat_map(|segment| chunks(*segment)) {
            let cell = &mut self.cells[chunk * self.n_lanes + lane];
            debug_assert_eq!(cell.taken & positions, 0, "{reg:?} is taken twice");
            cell.taken |= positions;
            if let Some(entry) = self.entries.get_mut(cell.entries as usize)
                && entry.holder == holder
            {
                entry.positions |= positions;
                continue;
            }
            let entry = Entry { positions, holder, next: cell.entries };
            if self.unused == NONE {
                cell.entries = self.entries.len() as u32;
                self.entries.push(entry);
            } else {
                cell.entries = self.unused;
                let place = &mut self.entries[cell.entries as usize];
                self.unused = core::mem::replace(place, entry).next;
            }
        }
    }

    /// Takes a register away again.
    pub(super) fn give_back(&mut self, reg: Reg, segments: &[Segment], holder: Holder) {
        let lane = self.lane(reg);
        for (chunk, positions) in segments.iter().flat_map(|segment| chunks(*segment)) {
            let cell = &mut self.cells[chunk * self.n_lanes + lane];
            cell.taken &= !positions;
            let (mut before, mut at) = (NONE, cell.entries);
            // An entry for several segments went with the first of them.
            while at != NONE && self.entries[at as usize].holder != holder {
                (before, at) = (at, self.entries[at as usize].next);
            }
            if at == NONE {
                continue;
            }
            let next = self.entries[at as usize].next;
            match before {
                NONE => cell.entries = next,
                before => self.entries[before as usize].next = next,
            }
            self.entries[at as usize].next = self.unused;
            self.unused = at;
        }
    }

    /// Tells everyone who has the register at some position of the segments, and from which position of them on:
    /// one chunk after the other, and no further than the chunk in which `go_on` says no. Who is in several chunks
    /// is told of in each.
    #[inline]
    pub(super) fn conflicts(
        &self,
        reg: Reg,
        segments: &[Segment],
        mut go_on: impl FnMut(Holder, u32) -> bool,
    ) {
        let lane = self.lane(reg);
        for segment in segments {
            let (first, last) = (segment.start / CHUNK, (segment.end - 1) / CHUNK);
            let mut positions = u64::MAX << (segment.start % CHUNK);
            let cells = self.cells[lane + first as usize * self.n_lanes..].iter().step_by(self.n_lanes);
            for (chunk, cell) in core::iter::zip(first..=last, cells) {
                if chunk == last {
                    positions &= u64::MAX >> (CHUNK - 1 - (segment.end - 1) % CHUNK);
                }
                if (cell.taken | cell.reserved) & positions != 0
                    && !self.conflicts_in(lane, cell, chunk * CHUNK, positions, &mut go_on)
                {
                    return;
                }
                positions = u64::MAX;
            }
        }
    }

    /// The same for positions in one chunk; whether all said yes.
    fn conflicts_in(
        &self,
        lane: usize,
        cell: &Cell,
        start: u32,
        positions: u64,
        go_on: &mut impl FnMut(Holder, u32) -> bool,
    ) -> bool {
        let mut all_yes = true;
        if cell.reserved & positions != 0 {
            let first = start + positions.trailing_zeros();
            let last = start + CHUNK - 1 - positions.leading_zeros();
            let list = &self.reservations[lane];
            // A reservation ends with its instruction.
            let from = list.partition_point(|(held, _)| held.start + STEP <= first);
            for (held, holder) in list[from..].iter().take_while(|(held, _)| held.start <= last) {
                if held.end > first {
                    all_yes &= go_on(*holder, held.start.max(first));
                }
            }
        }
        let mut at = if cell.taken & positions == 0 { NONE } else { cell.entries };
        while let Some(entry) = self.entries.get(at as usize) {
            if entry.positions & positions != 0 {
                let from = start + (entry.positions & positions).trailing_zeros();
                all_yes &= go_on(entry.holder, from);
            }
            at = entry.next;
        }
        all_yes
    }

    /// The pieces that have the register at some position of the segments, some of them several times.
    pub(super) fn find_pieces(&self, reg: Reg, segments: &[Segment], out: &mut Vec<u32>) {
        out.clear();
        self.conflicts(reg, segments, |holder, _| {
            if let Holder::Piece(piece) = holder {
                out.push(piece);
            }
            true
        });
    }

    /// Whether nobody has the register, nor destroys it.
    pub(super) fn is_free(&self, reg: Reg, segment: Segment) -> bool {
        // Nothing is in registers of a class that nothing uses.
        let Some(lane) = self.lanes[reg.0 as usize] else { return true };
        let lane = lane as usize;
        chunks(segment).all(|(chunk, positions)| {
            let cell = &self.cells[chunk * self.n_lanes + lane];
            (cell.taken | cell.reserved) & positions == 0
        })
    }
}
