//! Find the bytecode that faulted from the code's offset, when the fault happens.
//!
//! In: the sites of each stencil ([`Faulty`]), and the stencil of each bytecode. Out: for an offset in the code, the trap and
//! the bytecode. Compiling a function records nothing but its list of stencils, which is copied as a whole.
//!
//! Hot parts stand in the order of bytecodes, and the start of each is known. The counting stencil may stand before a
//! bytecode's own, so offsets are counted from the end. Cold parts stand in the same order, each with what its stencil leads to, but only
//! their lengths are known: they are added up.

use super::pack::StencilId;
use crate::faults::Locate;
use crate::stencil::{Part, Stencil};
use std::sync::Arc;

/// The lengths and the sites of all stencils.
#[derive(Clone, Debug, Default)]
pub(super) struct Faulty {
    /// The lengths of the two parts of each stencil, as they are copied.
    parts: Vec<(u32, u32)>,
    /// What stands behind the cold part of each stencil.
    behind: Vec<Option<Behind>>,
    /// The accesses that may fault, ordered by stencil.
    sites: Vec<StencilSite>,
}

/// A stencil that stands, as a whole, behind another one's cold part.
#[derive(Clone, Copy, Debug)]
pub(super) struct Behind {
    pub(super) stencil: StencilId,
    /// The size of its hot part, with all that is behind that but its cold part.
    pub(super) size: u32,
}

#[derive(Clone, Copy, Debug)]
struct StencilSite {
    stencil: StencilId,
    part: Part,
    start: u32,
    end: u32,
    code: u32,
}

impl Faulty {
    /// Adds the next stencil; its cold part has `cold` bytes when it is copied.
    pub(super) fn add(&mut self, stencil: &Stencil, cold: u32) {
        let number = StencilId::from(self.parts.len());
        self.parts.push((stencil.hot.len() as u32, cold));
        self.behind.push(None);
        let site = |&(part, start, end, code)| StencilSite { stencil: number, part, start, end, code };
        self.sites.extend(stencil.sites.iter().map(site));
    }

    /// Notes what stands behind a stencil's cold part.
    pub(super) fn lead(&mut self, stencil: StencilId, behind: Behind) {
        self.behind[stencil.at()] = Some(behind);
    }

    /// Whether any stencil has accesses that may fault.
    pub(super) fn any(&self) -> bool {
        !self.sites.is_empty()
    }

    fn code(&self, stencil: StencilId, part: Part, at: u32) -> Option<u32> {
        let first = self.sites.partition_point(|site| site.stencil < stencil);
        let mut sites = self.sites[first..].iter().take_while(|site| site.stencil == stencil);
        sites.find(|site| site.part == part && (site.start..site.end).contains(&at)).map(|site| site.code)
    }
}

/// The sites of a function's code.
pub(super) struct Sites {
    pub(super) faulty: Arc<Faulty>,
    /// The stencil of each bytecode.
    pub(super) stencils: Box<[StencilId]>,
    /// The address of the table of positions, with the start of each bytecode's code.
    pub(super) positions: usize,
    /// The end of the hot parts.
    pub(super) hot_end: u32,
    /// The start of the bytecodes' cold parts.
    pub(super) cold: u32,
}

impl Sites {
    fn position(&self, at: usize) -> u32 {
        if at == self.stencils.len() {
            return self.hot_end;
        }
        let positions: *const u32 = core::ptr::with_exposed_provenance(self.positions);
        // SAFETY: the table has an entry for each bytecode, and lives as long as the code is registered.
        unsafe { positions.add(at).read_unaligned() }
    }

    /// The bytecode whose hot part, or the counting stencil before it, is at an offset; if several start there, the last one.
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
        let cold = |stencil: StencilId| (stencil, Part::Cold, self.faulty.parts[stencil.at()].1);
        for (bytecode, &stencil) in self.stencils.iter().enumerate() {
            let behind = self.faulty.behind[stencil.at()];
            let behind = behind.map(|Behind { stencil, size }| [(stencil, Part::Hot, size), cold(stencil)]);
            for (stencil, part, len) in core::iter::once(cold(stencil)).chain(behind.into_iter().flatten()) {
                if into < len {
                    return Some((self.faulty.code(stencil, part, into)?, bytecode as u32));
                }
                into -= len;
            }
        }
        None
    }
}
