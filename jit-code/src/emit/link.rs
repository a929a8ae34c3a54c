//! Link: give jumps their shortest form, put constants behind the code, and fill in every distance.
//!
//! In: code as it was emitted, with the longest form of each jump, and the list of the places that hold distances, in order.
//! Out: the same code, in place, shorter where the machine has a shorter form; block starts and the map are updated. A jump is
//! made short if its distance was short before anything shrank: distances only get smaller, so this is safe, and one pass is
//! enough. Cost: linear.

use super::code::Code;
use super::{Backend, Buffer};
use crate::field::Field;
use azulejo_core::ir::index::Block;
use std::collections::HashMap;
use std::fmt;

/// The size and the alignment of each entry of the pool, in bytes.
const ENTRY: usize = 16;

/// The kinds of places in a machine's instructions that hold a distance.
pub trait DistanceForm: Copy + PartialEq + fmt::Debug + 'static {
    /// The field that holds the distance.
    fn field(self) -> Field;

    /// The position from which the distance counts, as an offset from the start of the place.
    fn base(self) -> u32;

    /// The shorter instruction for short distances, if the machine has one.
    fn shorter(self) -> Option<Shorter<Self>>;
}

/// A shorter form of an instruction that ends with a distance: one byte, and a field.
#[derive(Clone, Copy, Debug)]
pub struct Shorter<F> {
    /// The kind of place in the short form.
    pub form: F,
    /// How many bytes stand before the place in the long form.
    pub opcode: u8,
    /// Maps the last of these bytes to the one byte before the place in the short form.
    pub short: fn(u8) -> u8,
}

/// Constants that stand behind the code, 16 bytes each.
#[derive(Debug, Default)]
pub struct Pool {
    entries: Vec<u128>,
    known: HashMap<u128, u32>,
}

impl Pool {
    pub(super) fn clear(&mut self) {
        self.entries.clear();
        self.known.clear();
    }

    /// The number of a constant's entry.
    pub fn entry(&mut self, bits: u128) -> u32 {
        let entries = &mut self.entries;
        *self.known.entry(bits).or_insert_with(|| {
            entries.push(bits);
            entries.len() as u32 - 1
        })
    }
}

/// The target of a distance.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Goal {
    /// A block.
    Block(Block),
    /// An entry of the pool.
    Constant(u32),
    /// An address outside of the code: its distance is known once the code is installed.
    Address(u64),
    /// In a stencil, another bytecode, by the number of the exit.
    Exit(u32),
}

/// A place that is to hold the distance to a goal, plus the number that it holds now.
#[derive(Clone, Copy, Debug)]
pub struct Fixup<F> {
    /// The offset of the place.
    pub at: u32,
    /// The goal of the distance.
    pub to: Goal,
    /// The kind of place.
    pub form: F,
    /// Whether the distance stays unresolved, because the place and its goal are installed apart.
    pub is_unresolved: bool,
}

/// Memory kept between functions.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    /// For each jump that was shortened, the offset of its distance, and the bytes saved up to and including it.
    cuts: Vec<(u32, u32)>,
}

/// Shortens and links the contents of a buffer, whose bytes are already in `code`. `order` are the blocks that were emitted, in
/// order, and `others` some more in any order.
pub(super) fn link<M: Backend>(
    scratch: &mut Scratch,
    code: &mut Code<M>,
    buffer: &mut Buffer<M>,
    order: impl Iterator<Item = Block>,
    others: impl Iterator<Item = Block>,
    may_shrink: bool,
) {
    let Buffer { fixups, starts, pool, .. } = buffer;
    scratch.cuts.clear();
    if may_shrink {
        shorten(&mut scratch.cuts, &mut code.bytes, fixups, starts);
    }
    if !scratch.cuts.is_empty() {
        let mut moved = moved(&scratch.cuts);
        order.for_each(|block| starts[block.at()] = moved(starts[block.at()]));
        for block in others {
            let start = &mut starts[block.at()];
            let n_before = scratch.cuts.partition_point(|(at, _)| at < start);
            *start -= n_before.checked_sub(1).map_or(0, |last| scratch.cuts[last].1);
        }
        let mut moved = self::moved(&scratch.cuts);
        code.map.iter_mut().for_each(|(at, _)| *at = moved(*at));
        let mut moved = self::moved(&scratch.cuts);
        code.leaves.iter_mut().for_each(|at| *at = moved(*at));
        let mut moved = self::moved(&scratch.cuts);
        code.frames.iter_mut().for_each(|(at, _)| *at = moved(*at));
        let mut moved = self::moved(&scratch.cuts);
        for site in &mut code.sites {
            (site.start, site.end) = (moved(site.start), moved(site.end));
        }
        code.cold = self::moved(&scratch.cuts)(code.cold);
    }
    code.end = code.bytes.len() as u32;
    if !pool.entries.is_empty() {
        let (end, aligned) = (code.bytes.len(), code.bytes.len().next_multiple_of(ENTRY));
        code.bytes.resize(aligned, 0);
        M::MACHINE.fill_up(&mut code.bytes[end..], end);
    }
    for entry in &pool.entries {
        code.bytes.extend_from_slice(&entry.to_le_bytes());
    }
    code.addresses.clear();
    for fixup in fixups.iter_mut().filter(|fixup| !fixup.is_unresolved) {
        let to = match fixup.to {
            Goal::Address(address) => {
                code.addresses.push((fixup.at, address));
                continue;
            }
            Goal::Block(block) => starts[block.at()] as i64,
            Goal::Constant(entry) => constant_at(code.end, entry) as i64,
            Goal::Exit(_) => unreachable!("an exit to another bytecode stays unresolved"),
        };
        let place = &mut code.bytes[fixup.at as usize..];
        let field = fixup.form.field();
        let distance = to - (fixup.at + fixup.form.base()) as i64 + field.read(place);
        // A truncated distance would lead to another target.
        assert!(field.fits(distance), "{distance} in {fixup:?}");
        field.write(place, distance);
    }
}

/// The offset of a constant behind code that ends at `end`.
pub(super) fn constant_at(end: u32, entry: u32) -> u32 {
    end.next_multiple_of(ENTRY as u32) + entry * ENTRY as u32
}

/// Finds the jumps that have a short form, and closes the gaps between the remaining bytes.
fn shorten<F: DistanceForm>(
    cuts: &mut Vec<(u32, u32)>,
    bytes: &mut Vec<u8>,
    fixups: &mut [Fixup<F>],
    starts: &[u32],
) {
    let (mut read, mut write, mut saved) = (0, 0, 0);
    for fixup in fixups {
        let Fixup { at, to, form, is_unresolved } = *fixup;
        fixup.at -= saved;
        let (Goal::Block(block), Some(shorter), false) = (to, form.shorter(), is_unresolved) else {
            continue;
        };
        let (long, short) = (form.field(), shorter.form.field());
        if !short.fits(starts[block.at()] as i64 - (at + form.base()) as i64) {
            continue;
        }
        let (at, len) = (at as usize, long.bytes as usize);
        let start = at - shorter.opcode as usize;
        let opcode = (shorter.short)(bytes[at - 1]);
        bytes.copy_within(read..start, write);
        write += start - read;
        bytes[write] = opcode;
        write += 1;
        *fixup = Fixup { at: write as u32, form: shorter.form, ..*fixup };
        bytes[write..write + short.bytes as usize].fill(0);
        (read, write) = (at + len, write + short.bytes as usize);
        saved = (read - write) as u32;
        cuts.push((at as u32, saved));
    }
    let end = bytes.len();
    bytes.copy_within(read..end, write);
    bytes.truncate(write + end - read);
}

/// Maps offsets before shortening to those after it; they must be passed in ascending order.
fn moved(cuts: &[(u32, u32)]) -> impl FnMut(u32) -> u32 {
    let mut next = 0;
    move |position| {
        while cuts.get(next).is_some_and(|(at, _)| *at < position) {
            next += 1;
        }
        position - if next == 0 { 0 } else { cuts[next - 1].1 }
    }
}
