//! The registers that a function may read before it writes them, if it starts without a frame of zeros.
//!
//! In: verified bytecode. Out: [`NeededAtStart`]. Control is followed in the order of the bytecode, with the registers that have
//! been written on all paths so far: a register is needed if a reachable bytecode reads it and it is not among these. Where paths meet,
//! the sets are intersected. A jump back to a bytecode that has been reached by fewer writes changes nothing, as in all code whose loops are
//! entered at their heads, so that one round is enough for that. Cost: linear, for each round.

use super::FunctionSource;
use super::effects::{ByOpcode, DecodedEffects, Effects};
use crate::check;
use crate::ir::bits::{BitSet, BitSets};

const NONE: u32 = u32::MAX;

/// The registers that have to be zero, or to hold an argument, when a function starts.
#[derive(Clone, Debug, Default)]
pub struct NeededAtStart {
    /// `None` if all of them have to.
    slots: Option<BitSet>,
}

/// Memory kept between functions.
#[derive(Debug, Default)]
pub struct StartScratch {
    effects: ByOpcode<Effects>,
    /// For each bytecode that is a jump target the number of its set.
    target: Vec<u32>,
    /// The registers that are written on all paths to a target so far, for those that have been reached.
    ways_in: BitSets,
    is_reached: Vec<bool>,
    written: BitSet,
}

impl NeededAtStart {
    /// Whether a register is one of them.
    pub fn contains(&self, register: u32) -> bool {
        self.slots.as_ref().is_none_or(|slots| slots.contains(register as usize))
    }

    /// One more than the last of them, in a function with so many slots.
    pub fn end(&self, slots: u32) -> u32 {
        (0..slots).rev().find(|slot| self.contains(*slot)).map_or(0, |last| last + 1)
    }
}

/// Finds the registers that the function needs at its start: all of them if one of its templates takes the frame's address. What bytecodes
/// become reads the same ([`assert_may_become`](super::assert_may_become)).
pub fn needed_at_start(scratch: &mut StartScratch, source: &FunctionSource<'_>) -> NeededAtStart {
    let mut needed = BitSet::new(source.slots as usize);
    source.captured.iter().for_each(|register| _ = needed.insert(*register as usize));
    if !scratch.find_targets(source) {
        return NeededAtStart::default();
    }
    while scratch.follow(source, &mut needed) {}
    let needed = NeededAtStart { slots: Some(needed) };
    debug_assert_eq!(check::start::start(source, &needed), []);
    needed
}

impl StartScratch {
    /// Notes which bytecodes are jumped to. Returns false if registers are read that no operand names.
    fn find_targets(&mut self, source: &FunctionSource<'_>) -> bool {
        let n_code = source.code.len();
        let StartScratch { effects, target, ways_in, is_reached, .. } = self;
        target.clear();
        target.resize(n_code, NONE);
        is_reached.clear();
        ways_in.reset(source.slots as usize);
        for at in 0..n_code {
            let bytecode = DecodedEffects::of(source, at, effects);
            if bytecode.effects.exposes {
                return false;
            }
            for to in bytecode.targets(source) {
                if target[to] == NONE {
                    target[to] = ways_in.add() as u32;
                    is_reached.push(false);
                }
            }
        }
        true
    }

    /// Follows control once through the function. Returns whether that has to be done again, since a jump back brings less than was
    /// known to be written.
    fn follow(&mut self, source: &FunctionSource<'_>, needed: &mut BitSet) -> bool {
        let StartScratch { effects, target, ways_in, is_reached, written } = self;
        let mut is_over = true;
        written.reset(source.slots as usize);
        let mut falls_through = true;
        for at in 0..source.code.len() {
            let number = target[at];
            if number != NONE {
                let number = number as usize;
                if falls_through {
                    arrive(ways_in, is_reached, number, written);
                }
                falls_through = is_reached[number];
                written.clear();
                written.unite(&ways_in.set(number));
            }
            if !falls_through {
                continue;
            }
            let bytecode = DecodedEffects::of(source, at, effects);
            bytecode.each_read(|register| needed.insert_but(register, written));
            for to in bytecode.targets(source) {
                let has_changed = arrive(ways_in, is_reached, target[to] as usize, written);
                is_over &= to > at || !has_changed;
            }
            bytecode.each_kill(|register| _ = written.insert(register));
            falls_through = bytecode.effects.falls_through;
        }
        !is_over
    }
}

/// Control comes to a target by one more way. Returns whether less has been written there than was known.
fn arrive(ways_in: &mut BitSets, is_reached: &mut [bool], number: usize, written: &BitSet) -> bool {
    match core::mem::replace(&mut is_reached[number], true) {
        true => ways_in.set_mut(number).intersect(written),
        false => {
            ways_in.set_mut(number).unite(written);
            true
        }
    }
}
