//! The occupied positions of each register, and their holders.
//!
//! Reservations of instructions (clobbers and operands in fixed registers) are known from the start and stay; they are
//! short, sorted and may overlap one another. Intervals and reloads come and go, and are disjoint in each register.
//!
//! Positions are grouped into chunks of 64, so that one word has a bit for each position in a chunk at which a register is
//! taken. These words answer most queries. The holders are in a list for each chunk and register, with one entry for each
//! interval there. A long interval costs one step for each chunk that it covers; a short one costs one or two steps.

use super::Reload;
use super::intervals::Interval;
use crate::ir::index::{LiveRange, index};
use crate::ir::ranges::{Pos, STEP, Segment};
use crate::target::{Reg, RegSet, RegisterFile};
use crate::vocab::Class;

/// The holder of a register.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Holder {
    /// An interval of a live range.
    Interval(Interval),
    /// The reload of an operand in memory, for one instruction.
    Reload(Reload),
    /// An instruction that clobbers the register.
    Machine,
    /// An instruction with an operand of this range in that register.
    Owned(LiveRange),
}

/// Positions in a chunk, one bit each.
const CHUNK: u32 = u64::BITS;
const _: () = assert!(CHUNK.is_multiple_of(STEP), "an instruction lies in one chunk");

/// How many registers are in a row.
const LANES: usize = 16;

index! {
    /// The positions of one register in one chunk that one interval or reload holds.
    Entry, "entry"
}

/// An entry's data.
#[derive(Clone, Copy, Debug)]
struct EntryData {
    positions: u64,
    holder: Holder,
    /// The holder's weight.
    weight: f32,
    next: Entry,
}

/// The registers of one class in a chunk.
#[derive(Clone, Copy, Debug)]
struct ClassRow {
    /// For each register its taken positions.
    taken: [u64; LANES],
    /// For each register the first of its entries.
    entries: [Entry; LANES],
    /// Which registers have reservations in the chunk.
    reserved: u16,
}

const FREE: ClassRow = ClassRow { taken: [0; LANES], entries: [Entry::NONE; LANES], reserved: 0 };

/// A cache of the holder's weight, or of its absence, for each register of a row: valid for a span of positions around the
/// last query. Invalidated when the register changes its holder.
#[derive(Clone, Copy, Debug)]
struct Recent {
    starts: [u32; LANES],
    lengths: [u32; LANES],
    weights: [f32; LANES],
}

impl Recent {
    const NONE: Recent = Recent { starts: [0; LANES], lengths: [0; LANES], weights: [0.0; LANES] };

    fn set(&mut self, at: u8, segment: Segment, weight: f32) {
        self.starts[at as usize] = segment.start.0;
        self.lengths[at as usize] = segment.n_positions();
        self.weights[at as usize] = weight;
    }
}

/// The most registers that a class may have.
pub(super) const MAX_REGISTERS: usize = 2 * LANES;
/// The weight of a free register: every interval outweighs it.
pub(super) const NOBODY: f32 = -1.0;

/// The place of a register's bits: the row in a chunk, and the index there. The registers of a class are in allocation
/// order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Lane {
    row: u8,
    at: u8,
}

impl Lane {
    /// Its index among the lanes of all rows.
    fn number(self) -> usize {
        self.row as usize * LANES + self.at as usize
    }
}

/// The taken positions of all registers.
#[derive(Debug, Default)]
pub(super) struct Occupied {
    /// The lane of each register; registers of unused classes have none.
    lanes: Vec<Option<Lane>>,
    /// By class: its first row in a chunk, and the number of its rows.
    of_class: [(u8, u8); 2],
    n_rows: usize,
    /// The rows of all chunks.
    rows: Vec<ClassRow>,
    entries: Vec<EntryData>,
    /// The head of the list of unused entries.
    unused: Entry,
    /// By row: the results of the last queries.
    recent: Vec<Recent>,
    /// By lane: reservations by position.
    reservations: Vec<Vec<(Segment, Holder)>>,
    /// By class: the registers that all calls clobber, one bit each. By chunk: the positions at which calls clobber them.
    call_clobbered: [u32; 2],
    calls_at: Vec<u64>,
}

/// A call that clobbers registers while an interval is live.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clobber {
    /// The clobbered registers, one bit for each register of the interval's class.
    pub(super) registers: u32,
    /// The first position at which that happens.
    pub(super) at: Pos,
}

/// Visits the chunks that sorted segments touch, with their positions in each, until `visit` returns false.
#[inline(always)]
fn each_chunk(segments: &[Segment], mut visit: impl FnMut(u32, u64) -> bool) {
    let (mut chunk, mut positions) = (0, 0);
    for segment in segments {
        let (start, last_at) = (segment.start.0, segment.end.0 - 1);
        let (first, last) = (start / CHUNK, last_at / CHUNK);
        if first != chunk {
            if positions != 0 && !visit(chunk, positions) {
                return;
            }
            positions = 0;
        }
        let mut start = u64::MAX << (start % CHUNK);
        for chunk in first..last {
            if !visit(chunk, positions | start) {
                return;
            }
            (positions, start) = (0, u64::MAX);
        }
        chunk = last;
        positions |= start & u64::MAX >> (CHUNK - 1 - last_at % CHUNK);
    }
    if positions != 0 {
        visit(chunk, positions);
    }
}

impl Occupied {
    /// Frees all registers of these classes, up to a position.
    pub(super) fn clear(&mut self, regs: &RegisterFile, classes: impl Iterator<Item = Class>, end: Pos) {
        self.lanes.clear();
        self.lanes.resize(Reg::COUNT, None);
        self.n_rows = 0;
        for class in classes {
            let of = regs.of(class);
            self.of_class[class as usize] = (self.n_rows as u8, of.len().div_ceil(LANES) as u8);
            for (at, reg) in of.iter().enumerate() {
                let row = (self.n_rows + at / LANES) as u8;
                self.lanes[reg.0 as usize] = Some(Lane { row, at: (at % LANES) as u8 });
            }
            self.n_rows += of.len().div_ceil(LANES);
        }
        self.rows.clear();
        let n_chunks = (end.0 / CHUNK + 1) as usize;
        self.rows.resize(n_chunks * self.n_rows, FREE);
        self.entries.clear();
        self.unused = Entry::NONE;
        let n_lanes = self.n_rows * LANES;
        self.recent.clear();
        self.recent.resize(self.n_rows, Recent::NONE);
        self.call_clobbered = [0; 2];
        self.calls_at.clear();
        self.calls_at.resize(n_chunks, 0);
        self.reservations.iter_mut().for_each(Vec::clear);
        if self.reservations.len() < n_lanes {
            self.reservations.resize_with(n_lanes, Vec::new);
        }
    }

    fn lane(&self, reg: Reg) -> Lane {
        self.lanes[reg.0 as usize].expect("only registers that may be given out are asked for")
    }

    /// A register's index among those of its class.
    pub(super) fn number(&self, reg: Reg) -> usize {
        let Lane { row, at } = self.lane(reg);
        (row - self.of_class[reg.class() as usize].0) as usize * LANES + at as usize
    }

    fn row(&self, chunk: u32, lane: Lane) -> &ClassRow {
        &self.rows[chunk as usize * self.n_rows + lane.row as usize]
    }

    /// Adds a reservation of an instruction; reservations of earlier instructions are added first.
    pub(super) fn reserve(&mut self, reg: Reg, segment: Segment, holder: Holder) {
        // A register outside the allocatable ones never holds anything.
        let Some(lane) = self.lanes[reg.0 as usize] else { return };
        let list = &mut self.reservations[lane.number()];
        let mut at = list.len();
        while at > 0 && list[at - 1].0.start > segment.start {
            at -= 1;
        }
        list.insert(at, (segment, holder));
        each_chunk(&[segment], |chunk, positions| {
            let row = &mut self.rows[chunk as usize * self.n_rows + lane.row as usize];
            row.reserved |= 1 << lane.at;
            row.taken[lane.at as usize] |= positions;
            true
        });
    }

    /// Sets the registers that all calls clobber.
    pub(super) fn set_call_clobbered(&mut self, set: RegSet) {
        for reg in set.iter().filter(|reg| self.lanes[reg.0 as usize].is_some()) {
            self.call_clobbered[reg.class() as usize] |= 1 << self.number(reg);
        }
    }

    /// Adds a call, which clobbers the registers of [`set_call_clobbered`](Self::set_call_clobbered).
    pub(super) fn clobber(&mut self, segment: Segment) {
        self.calls_at[(segment.start.0 / CHUNK) as usize] |= in_chunk(segment);
    }

    /// Finds the registers of a class that calls clobber at any of the segments: one query instead of one for each
    /// register.
    pub(super) fn find_clobber(&self, class: Class, segments: &[Segment]) -> Option<Clobber> {
        let registers = self.call_clobbered[class as usize];
        if registers == 0 {
            return None;
        }
        let mut found = None;
        each_chunk(segments, |chunk, positions| {
            let both = self.calls_at[chunk as usize] & positions;
            if both != 0 {
                found = Some(Clobber { registers, at: Pos(chunk * CHUNK + both.trailing_zeros()) });
            }
            both == 0
        });
        found
    }

    /// The registers of a class that are free at all positions of the segments: one bit each, in the order of the register
    /// file.
    #[inline]
    pub(super) fn free(&self, class: Class, n_registers: usize, segments: &[Segment]) -> u32 {
        let (first, count) = self.of_class[class as usize];
        let mut free = (u64::MAX >> (u64::BITS as usize - n_registers)) as u32;
        each_chunk(segments, |chunk, positions| {
            let rows = &self.rows[chunk as usize * self.n_rows + first as usize..][..count as usize];
            for (number, row) in rows.iter().enumerate() {
                let taken = row.taken.iter().enumerate();
                let taken = taken.fold(0, |bits, (at, taken)| bits | ((taken & positions != 0) as u32) << at);
                free &= !(taken << (number * LANES));
            }
            free != 0
        });
        free
    }

    /// Assigns a register to an interval or reload of this weight; the register must be free at the segments.
    pub(super) fn take(&mut self, reg: Reg, segments: &[Segment], holder: Holder, weight: f32) {
        let lane = self.lane(reg);
        self.recent[lane.row as usize].set(lane.at, segments[0], weight);
        let Occupied { rows, entries, unused, n_rows, .. } = self;
        each_chunk(segments, |chunk, positions| {
            let row = &mut rows[chunk as usize * *n_rows + lane.row as usize];
            row.taken[lane.at as usize] |= positions;
            let first = &mut row.entries[lane.at as usize];
            let entry = EntryData { positions, holder, weight, next: *first };
            if !unused.is_some() {
                *first = Entry::from(entries.len());
                entries.push(entry);
            } else {
                *first = *unused;
                *unused = core::mem::replace(&mut entries[unused.at()], entry).next;
            }
            true
        });
    }

    /// Frees a register at some or all of the positions at which an interval or reload holds it.
    pub(super) fn give_back(&mut self, reg: Reg, segments: &[Segment], holder: Holder) {
        let lane = self.lane(reg);
        self.recent[lane.row as usize].lengths[lane.at as usize] = 0;
        let Occupied { rows, entries, unused, n_rows, reservations, .. } = self;
        each_chunk(segments, |chunk, positions| {
            let row = &mut rows[chunk as usize * *n_rows + lane.row as usize];
            row.taken[lane.at as usize] &= !positions;
            if row.reserved & 1 << lane.at != 0 {
                // The register may be reserved for the very range that gives it back.
                for (held, _) in reserved_in(&reservations[lane.number()], chunk) {
                    row.taken[lane.at as usize] |= in_chunk(*held);
                }
            }
            let (mut before, mut at) = (Entry::NONE, row.entries[lane.at as usize]);
            while entries[at.at()].holder != holder {
                (before, at) = (at, entries[at.at()].next);
            }
            let entry = &mut entries[at.at()];
            entry.positions &= !positions;
            if entry.positions == 0 {
                let next = core::mem::replace(&mut entry.next, *unused);
                *unused = at;
                match before {
                    Entry::NONE => row.entries[lane.at as usize] = next,
                    before => entries[before.at()].next = next,
                }
            }
            true
        });
    }

    /// The weights of the intervals and reloads that hold the registers of a class at a position, in the order of the
    /// register file. The weight is [`NOBODY`] if there is none, even if the register is reserved. Most waiting intervals
    /// conflict with others where they start, and one answer serves many of them.
    #[inline]
    pub(super) fn weights_at(&mut self, class: Class, position: Pos, weights: &mut [f32; MAX_REGISTERS]) {
        let (first, count) = self.of_class[class as usize];
        for (row, weights) in (first..first + count).zip(weights.chunks_exact_mut(LANES)) {
            let recent = &self.recent[row as usize];
            let spans = core::iter::zip(&recent.starts, &recent.lengths).enumerate();
            let is_known = |start: u32, length: u32| position.0.wrapping_sub(start) < length;
            let known = spans
                .fold(0u32, |bits, (at, (&start, &length))| bits | (is_known(start, length) as u32) << at);
            let mut unknown = !known & ((1 << LANES) - 1);
            while unknown != 0 {
                self.find_weight_at(Lane { row, at: unknown.trailing_zeros() as u8 }, position);
                unknown &= unknown - 1;
            }
            weights.copy_from_slice(&self.recent[row as usize].weights);
        }
    }

    fn find_weight_at(&mut self, lane: Lane, position: Pos) {
        let bit = position.0 % CHUNK;
        let row = self.row(position.0 / CHUNK, lane);
        let (mut taken, mut weight) = (0, NOBODY);
        let mut at = row.entries[lane.at as usize];
        while let Some(entry) = self.entries.get(at.at()) {
            if entry.positions & 1 << bit != 0 {
                (taken, weight) = (!entry.positions, entry.weight);
                break;
            }
            taken |= entry.positions;
            at = entry.next;
        }
        // The surrounding positions with the same answer.
        let end = Pos(position.0 + (!taken >> bit).trailing_ones());
        let start = Pos(position.0 + 1 - (!taken << (CHUNK - 1 - bit)).leading_ones());
        self.recent[lane.row as usize].set(lane.at, Segment { start, end }, weight);
    }

    /// Reports all holders of the register at the segments, with their weight and the first position of the conflict, chunk
    /// by chunk. Stops after the chunk in which `report` returns false. A holder that is in several chunks is reported in
    /// each.
    #[inline]
    pub(super) fn conflicts(
        &self,
        reg: Reg,
        segments: &[Segment],
        mut report: impl FnMut(Holder, f32, Pos) -> bool,
    ) {
        let lane = self.lane(reg);
        each_chunk(segments, |chunk, positions| {
            let row = self.row(chunk, lane);
            let is_empty = row.taken[lane.at as usize] & positions == 0;
            is_empty || self.conflicts_in(lane, row, chunk, positions, &mut report)
        });
    }

    /// Reports the holders in one chunk; returns whether `report` always returned true.
    fn conflicts_in(
        &self,
        lane: Lane,
        row: &ClassRow,
        chunk: u32,
        positions: u64,
        report: &mut impl FnMut(Holder, f32, Pos) -> bool,
    ) -> bool {
        let mut all_yes = true;
        let start = chunk * CHUNK;
        if row.reserved & 1 << lane.at != 0 {
            for &(held, holder) in reserved_in(&self.reservations[lane.number()], chunk) {
                let both = in_chunk(held) & positions;
                if both != 0 {
                    all_yes &= report(holder, f32::INFINITY, Pos(start + both.trailing_zeros()));
                }
            }
        }
        let mut at = row.entries[lane.at as usize];
        while let Some(entry) = self.entries.get(at.at()) {
            if entry.positions & positions != 0 {
                let from = (entry.positions & positions).trailing_zeros();
                all_yes &= report(entry.holder, entry.weight, Pos(start + from));
            }
            at = entry.next;
        }
        all_yes
    }

    /// Finds the intervals that hold the register at any position of the segments.
    pub(super) fn find_interval(&self, reg: Reg, segments: &[Segment], out: &mut Vec<Interval>) {
        out.clear();
        self.conflicts(reg, segments, |holder, _, _| {
            if let Holder::Interval(interval) = holder {
                out.push(interval);
            }
            true
        });
        // An interval is reported in each of its chunks.
        out.sort_unstable();
        out.dedup();
    }

    /// Whether the register is neither held nor reserved.
    pub(super) fn is_free(&self, reg: Reg, segment: Segment) -> bool {
        // A register of an unused class is always free.
        let Some(lane) = self.lanes[reg.0 as usize] else { return true };
        let mut is_free = true;
        each_chunk(&[segment], |chunk, positions| {
            is_free = self.row(chunk, lane).taken[lane.at as usize] & positions == 0;
            is_free
        });
        is_free
    }
}

/// The positions of a reservation in its chunk. A reservation is for one instruction, which lies in one chunk.
fn in_chunk(held: Segment) -> u64 {
    ((1 << held.n_positions()) - 1) << (held.start.0 % CHUNK)
}

/// The reservations of a register in a chunk.
fn reserved_in(list: &[(Segment, Holder)], chunk: u32) -> impl Iterator<Item = &(Segment, Holder)> {
    let (start, end) = (Pos(chunk * CHUNK), Pos((chunk + 1) * CHUNK));
    let first = list.partition_point(|(held, _)| held.start < start);
    list[first..].iter().take_while(move |(held, _)| held.start < end)
}
