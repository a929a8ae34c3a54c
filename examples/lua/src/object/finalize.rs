//! Userdata with finalizers.
//!
//! In: userdata that get metatables, and in each cycle of the collector which were not reached. Out: those of which a finalizer is to
//! run, those that got it last first. What they refer to stays until then.

use super::header::{Gc, color};
use super::heap::Heap;
use crate::object::function::Userdata;
use crate::object::table::Table;
use crate::object::value::Value;

/// The userdata that may have finalizers.
#[derive(Default)]
pub(super) struct Finalizers {
    /// Those that have had a metatable, in the order in which they got it.
    all: Vec<Gc<Userdata>>,
    /// Those in front of this were looked at in this cycle, or had been reached.
    next: usize,
    /// The places of those that had not been reached.
    candidates: Vec<usize>,
    /// Userdata that nothing refers to, as this cycle has found.
    lost: Vec<Gc<Userdata>>,
    /// Those of cycles before, whose finalizers have not run.
    waiting: Vec<Gc<Userdata>>,
}

/// How many userdata are looked at at once.
const PORTION: usize = 1024;

impl Finalizers {
    /// What stays until its finalizer has run.
    pub(super) fn unfinalized(&self) -> impl Iterator<Item = Gc<Userdata>> {
        self.lost.iter().chain(&self.waiting).copied()
    }

    /// A cycle begins.
    pub(super) fn begin_marking(&mut self) {
        self.next = 0;
        self.candidates.clear();
    }

    /// All is marked: finalizers may run.
    pub(super) fn end_marking(&mut self) {
        self.waiting.append(&mut self.lost);
    }

    /// Looks for userdata that were not reached; returns how much work that was, or `None` if all have been looked at.
    pub(super) fn look_at_some(&mut self, white: u8) -> Option<usize> {
        if self.next >= self.all.len() {
            return None;
        }
        let end = (self.next + PORTION).min(self.all.len());
        for place in self.next..end {
            if self.all[place].header().color.get() == white {
                self.candidates.push(place);
            }
        }
        self.next = end;
        Some(PORTION * size_of::<Userdata>() / 2)
    }
}

impl Heap {
    /// Userdata with finalizers that were not reached are kept until these have run. Returns whether there are any.
    pub(super) fn find_finalizable(&mut self) -> bool {
        let white = self.white();
        let mut candidates = std::mem::take(&mut self.collector.finalizers.candidates);
        candidates.retain(|place| self.collector.finalizers.all[*place].header().color.get() == white);
        let Some(first) = candidates.first().copied() else { return false };
        let mut gone = candidates.iter().copied().peekable();
        let (mut kept, mut lost) = (first, Vec::new());
        for place in first..self.collector.finalizers.all.len() {
            let userdata = self.collector.finalizers.all[place];
            match gone.next_if(|gone| *gone == place) {
                Some(_) if self.finalizer(userdata).is_some() => lost.push(userdata),
                // Nobody will miss it.
                Some(_) => userdata.leave_finalizers(),
                None => {
                    self.collector.finalizers.all[kept] = userdata;
                    kept += 1;
                }
            }
        }
        let finalizers = &mut self.collector.finalizers;
        finalizers.all.truncate(kept);
        finalizers.next = kept;
        lost.iter().for_each(|userdata| userdata.set_finalized());
        finalizers.lost.extend_from_slice(&lost);
        let mut marker = self.marker();
        lost.iter().for_each(|userdata| marker.object(userdata.header()));
        !lost.is_empty()
    }

    /// Gives a userdata a metatable, or takes it.
    pub(crate) fn set_userdata_metatable(&mut self, userdata: Gc<Userdata>, metatable: Option<Gc<Table>>) {
        userdata.metatable.set(metatable);
        if userdata.header().color.get() == color::BLACK {
            self.again(userdata.header());
        }
        // Its metatable may get a finalizer later.
        if !userdata.is_finalized() && userdata.join_finalizers() {
            self.collector.finalizers.all.push(userdata);
        }
    }

    /// The finalizer that a userdata's metatable has.
    pub(crate) fn finalizer(&self, userdata: Gc<Userdata>) -> Option<Value> {
        let method = userdata.metatable.get()?.get_string(self.gc_name?);
        (!method.is_nil()).then_some(method)
    }

    /// Whether the finalizer of some userdata is to run.
    pub(crate) fn has_unfinalized(&self) -> bool {
        !self.collector.finalizers.waiting.is_empty()
    }

    /// The next userdata whose finalizer is to run: those that got it last come first.
    pub(crate) fn next_unfinalized(&mut self) -> Option<Gc<Userdata>> {
        self.collector.finalizers.waiting.pop()
    }

    /// All userdata with finalizers are to be finalized: the program ends.
    pub(crate) fn finalize_all(&mut self) {
        let finalizers = &mut self.collector.finalizers;
        finalizers.begin_marking();
        let all = std::mem::take(&mut finalizers.all);
        all.iter().for_each(|userdata| userdata.set_finalized());
        finalizers.end_marking();
        finalizers.waiting.extend(all);
    }
}
