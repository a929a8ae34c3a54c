//! The machine code of a function, by tier and by the bytecode at which it starts.
//!
//! In: code, from the compilers. Out: the best code to resume in at a bytecode. Code for calls from other functions is kept in
//! `call_state.rs`. A call that runs code shares its ownership, so the code outlives its removal from the table.

use crate::engine::native::{BaselineCode, Compiled};
use crate::engine::tiers::Tier;
use std::cell::{Cell, RefCell};
use std::rc::Rc;

/// A function's code. See the module's head.
#[derive(Debug, Default)]
pub(crate) struct CodeTable {
    code: RefCell<Entries>,
    /// The number of the engine's call that called the function last.
    last_use: Cell<u64>,
}

#[derive(Debug, Default)]
struct Entries {
    baseline: Option<Rc<BaselineCode>>,
    /// The optimizer's code for the function from its start.
    start: Option<Rc<Compiled>>,
    /// The optimizer's code that starts at these bytecodes, none of them the first.
    inside: Vec<(u32, Rc<Compiled>)>,
}

impl Entries {
    #[inline(always)]
    fn optimized(&self, at: u32) -> Option<&Rc<Compiled>> {
        match at {
            0 => self.start.as_ref(),
            _ => self.inside.iter().find(|(entry, _)| *entry == at).map(|(_, code)| code),
        }
    }
}

/// Code of one of the compilers.
#[derive(Clone, Debug)]
pub(crate) enum TierCode {
    /// The optimizer's code, which starts at the requested bytecode.
    Optimized(Rc<Compiled>),
    /// Baseline code, which can be entered at every jump target and at its start.
    Baseline(Rc<BaselineCode>),
}

impl TierCode {
    pub(crate) fn tier(&self) -> Tier {
        match self {
            TierCode::Optimized(_) => Tier::Optimizer,
            TierCode::Baseline(_) => Tier::Baseline,
        }
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        match self {
            TierCode::Optimized(code) => code.bytes(),
            TierCode::Baseline(code) => code.bytes(),
        }
    }

    pub(crate) fn entry(&self) -> *const u8 {
        match self {
            TierCode::Optimized(code) => code.entry(),
            TierCode::Baseline(code) => code.entry(),
        }
    }

    /// The offsets in the code at which bytecodes start.
    pub(crate) fn map(&self) -> Vec<(u32, u32)> {
        match self {
            TierCode::Optimized(code) => code.map().to_vec(),
            TierCode::Baseline(code) => code.map(),
        }
    }
}

impl CodeTable {
    /// The best code that can resume at a bytecode.
    #[inline(always)]
    pub(crate) fn best_at(&self, at: u32) -> Option<TierCode> {
        let code = self.code.borrow();
        match code.optimized(at) {
            Some(code) => Some(TierCode::Optimized(Rc::clone(code))),
            None => code.baseline.clone().map(TierCode::Baseline),
        }
    }

    /// The code that an adapter for calls may enter: the optimizer's, and the baseline's.
    pub(crate) fn at_start(&self) -> [Option<TierCode>; 2] {
        let Entries { start, baseline, .. } = &*self.code.borrow();
        [start.clone().map(TierCode::Optimized), baseline.clone().map(TierCode::Baseline)]
    }

    /// Whether there is code for calls from outside.
    #[inline(always)]
    pub(crate) fn has_any(&self) -> bool {
        let code = self.code.borrow();
        code.start.is_some() || code.baseline.is_some()
    }

    /// Whether there is code for calls, and nothing better is known than that: the optimizer has not compiled loops alone.
    #[inline(always)]
    pub(crate) fn has_good_entry(&self) -> bool {
        let code = self.code.borrow();
        code.start.is_some() || code.baseline.is_some() && code.inside.is_empty()
    }

    pub(crate) fn has_baseline(&self) -> bool {
        self.code.borrow().baseline.is_some()
    }

    /// Whether there is baseline code in which there are cases of sites.
    pub(crate) fn knows_cases(&self) -> bool {
        self.code.borrow().baseline.as_ref().is_some_and(|code| code.knows_cases())
    }

    /// Whether there is baseline code that lacks something of a bytecode.
    pub(crate) fn lacks(&self, at: u32) -> bool {
        self.code.borrow().baseline.as_ref().is_some_and(|code| code.lacks(at))
    }

    /// Whether there is code of the optimizer that starts at a bytecode.
    pub(crate) fn has_optimized(&self, at: u32) -> bool {
        self.code.borrow().optimized(at).is_some()
    }

    /// Whether the optimizer has compiled loops of the function, but not the function from its start.
    #[inline(always)]
    pub(crate) fn has_only_loops(&self) -> bool {
        let code = self.code.borrow();
        code.start.is_none() && !code.inside.is_empty()
    }

    /// How many bytecodes besides the first one have code of the optimizer that starts there.
    pub(crate) fn loops(&self) -> usize {
        self.code.borrow().inside.len()
    }

    pub(crate) fn set_baseline(&self, code: BaselineCode) {
        self.code.borrow_mut().baseline = Some(Rc::new(code));
    }

    pub(crate) fn set_optimized(&self, at: u32, code: Compiled) {
        let entries = &mut *self.code.borrow_mut();
        match at {
            0 => entries.start = Some(Rc::new(code)),
            _ => {
                // Both the worker and this thread may have compiled this entry.
                entries.inside.retain(|(entry, _)| *entry != at);
                entries.inside.push((at, Rc::new(code)));
            }
        }
    }

    /// Discards baseline code.
    pub(crate) fn clear_baseline(&self) {
        self.code.borrow_mut().baseline = None;
    }

    /// Discards the optimizer's code.
    pub(crate) fn clear_optimized(&self) {
        let entries = &mut *self.code.borrow_mut();
        entries.start = None;
        entries.inside.clear();
    }

    /// Discards all code.
    pub(crate) fn clear(&self) {
        drop(self.code.take());
    }

    /// The largest number of owners of any of the code, where each call that runs it counts as one; `None` if there is no code.
    pub(crate) fn most_holders(&self) -> Option<usize> {
        let Entries { baseline, start, inside } = &*self.code.borrow();
        let optimized = start.iter().chain(inside.iter().map(|(_, code)| code)).map(Rc::strong_count);
        optimized.chain(baseline.iter().map(Rc::strong_count)).max()
    }

    /// Records that the engine's call of this number calls the function.
    #[inline(always)]
    pub(crate) fn note_use(&self, now: u64) {
        self.last_use.set(now);
    }

    pub(crate) fn last_use(&self) -> u64 {
        self.last_use.get()
    }
}
