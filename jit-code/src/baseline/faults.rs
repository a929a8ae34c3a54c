//! Which bytecode faulted: found from where in the code that was, when it happens.
//!
//! In: what stencils say of themselves ([`Faulty`]), and which stencil each bytecode has. Out: for a place in the code the trap and
//! the bytecode. Nothing is written down for a bytecode when it is compiled but its stencil's number, all at once.
//!
//! Hot parts stand in the order of bytecodes, and where each starts is known; the one that counts may stand before a
//! bytecode's own, so places are counted from the end. Cold parts stand in order too, but only their lengths are known:
//! they are added up.

use super::pack::StencilId;
use crate::faults::Locate;
use crate::stencil::{Part, Stencil};
use std::sync::Arc;

/// What is known of each stencil.
#[derive(Clone, Debug, Default)]
pub(super) struct Faulty {
    /// How long the two parts of each are as they are put down.
    parts: Vec<(u32, u32)>,
    /// Where accesses may fault, by stencil.
    sites: Vec<Site>,
}

#[derive(Clone, Copy, Debug)]
struct Site {
    stencil: StencilId,
    part: Part,
    start: u32,
    end: u32,
    code: u32,
}

impl Faulty {
    /// Adds the next stencil, with the cold part as long as it will be put down.
    pub(super) fn add(&mut self, stencil: &Stencil, cold: u32) {
        let number = StencilId::from(self.parts.len());
        self.parts.push((stencil.hot.len() as u32, cold));
        let site = |&(part, start, end, code)| Site { stencil: number, part, start, end, code };
        self.sites.extend(stencil.sites.iter().map(site));
    }

    /// Whether any of them has accesses that may fault.
    pub(super) fn any(&self) -> bool {
        !self.sites.is_empty()
    }

    fn code(&self, stencil: StencilId, part: Part, at: u32) -> Option<u32> {
        let first = self.sites.partition_point(|site| site.stencil < stencil);
        let mut sites = self.sites[first..].iter().take_while(|site| site.stencil == stencil);
        sites.find(|site| site.part == part && (site.start..site.end).contains(&at)).map(|site| site.code)
    }
}

/// A function's code.
pub(super) struct Sites {
    pub(super) faulty: Arc<Faulty>,
    /// Of each bytecode.
    pub(super) stencils: Box<[StencilId]>,
    /// The address of the table that says where each bytecode's code starts.
    pub(super) positions: usize,
    /// Where hot parts end.
    pub(super) hot_end: u32,
    /// Where the cold parts of bytecodes start.
    pub(super) cold: u32,
}

impl Sites {
    fn position(&self, at: usize) -> u32 {
        if at == self.stencils.len() {
            return self.hot_end;
        }
        let positions: *const u32 = core::ptr::with_exposed_provenance(self.positions);
        // SAFETY: the table is as long as there are bytecodes, and there for as long as the code is registered.
        unsafe { positions.add(at).read_unaligned() }
    }

    /// The bytecode whose hot part, or what counts before it, is at a place; the last one of those that start there.
    fn bytecode(&self, at: u32) -> Option<usize> {
        let (mut first, mut len) = (0, self.stencils.len());
        while len > 0 {
            let half = len / 2;
            match self.position(first + half) <= at {
                true => (first, len) = (first + half + 1, len - half - 1),
                false => len = half,
            }
        }
        first.checked_sub(1)
    }
}

impl Locate for Sites {
    fn locate(&self, at: u32) -> Option<(u32, u32)> {
        if at < self.hot_end {
            let bytecode = self.bytecode(at)?;
            let stencil = self.stencils[bytecode];
            let (hot, _) = self.faulty.parts[stencil.at()];
            let before_end = self.position(bytecode + 1) - at;
            let code = self.faulty.code(stencil, Part::Hot, hot.checked_sub(before_end)?)?;
            return Some((code, bytecode as u32));
        }
        let mut into = at.checked_sub(self.cold)?;
        for (bytecode, &stencil) in self.stencils.iter().enumerate() {
            let (_, cold) = self.faulty.parts[stencil.at()];
            if into < cold {
                return Some((self.faulty.code(stencil, Part::Cold, into)?, bytecode as u32));
            }
            into -= cold;
        }
        None
    }
}
