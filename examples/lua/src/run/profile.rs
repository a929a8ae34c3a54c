//! Samples of where the program is.
//!
//! In: time that has gone by, which another thread counts in [`Profile::due`]. Out: how often each row of functions and lines was found. The
//! program's own thread takes a sample where it comes by a [`Op::SampleIfDue`](super::bytecode::Op), which only functions have that were compiled to be sampled
//! (`compile/watch.rs`): behind each statement and each call, in front of each return, and where an iteration begins. So a sample is of the line
//! that has just been done, and all other code pays nothing. Time in functions of Rust is that of the line which calls them.

use super::vm::{Prototype, Vm};
use crate::syntax::ast::Line;
use azulejo::Frames;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// So many of the innermost functions a sample has.
const DEEPEST: usize = 200;

/// A line in a function, by its number in the profile.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct Spot {
    pub(crate) function: usize,
    pub(crate) line: Line,
}

/// What was found.
#[derive(Default)]
pub(crate) struct Profile {
    due: Arc<AtomicU32>,
    /// The functions that were found. They stay, so that what they are known by stays theirs.
    pub(crate) functions: Vec<Rc<Prototype>>,
    numbers: HashMap<(*const u8, usize), usize>,
    /// How many samples found these spots, the innermost first.
    pub(crate) stacks: HashMap<Box<[Spot]>, u64>,
}

impl Profile {
    /// The number of samples that are to be taken. Any thread may add to it.
    pub(crate) fn due(&self) -> Arc<AtomicU32> {
        self.due.clone()
    }

    /// Where that is.
    pub(crate) fn address(&self) -> u64 {
        Arc::as_ptr(&self.due).expose_provenance() as u64
    }

    fn number(&mut self, function: &Rc<Prototype>) -> usize {
        *self.numbers.entry(function.identity()).or_insert_with(|| {
            self.functions.push(function.clone());
            self.functions.len() - 1
        })
    }
}

/// Takes all samples that are due. They find the program where it is now.
pub(crate) fn take_sample(vm: &mut Vm, frames: Frames<'_>) {
    let Some(mut profile) = vm.profile.take() else { return };
    let count = profile.due.swap(0, Relaxed) as u64;
    let stack: Box<[Spot]> = frames
        .iter()
        .filter_map(|frame| {
            let prototype = vm.prototype_of(&frame).filter(|prototype| !prototype.lines.is_empty())?;
            let line = prototype.lines[frame.bytecode() as usize];
            Some(Spot { function: profile.number(prototype), line })
        })
        .take(DEEPEST)
        .collect();
    *profile.stacks.entry(stack).or_default() += count;
    vm.profile = Some(profile);
}
