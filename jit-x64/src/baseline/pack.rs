//! Stencils as copying and patching wants them: flat, and the usual holes where no question need be asked.

use super::Table;
use crate::stencil::{Bits, Distance, Hole, Part, Stencil};
use azulejo_core::ir::bytecode::{OpcodeInfo, OperandKind};
use azulejo_core::ir::stencil::Source;
use azulejo_core::ir::template::{Step, Template};

/// So many bytes are copied at once: what stands behind a stencil is written over.
pub(super) const CHUNK: usize = 16;
/// So many chunks are always copied.
pub(super) const CHUNKS: usize = 2;
/// So many holes are always filled.
const QUICK: usize = 3;

/// Every stencil that was made.
#[derive(Debug)]
pub(super) struct Packed {
    /// Hot parts, each as long as what is copied of it, and cold parts.
    pub(super) bytes: Vec<u8>,
    pub(super) stencils: Vec<PackedStencil>,
    pub(super) patches: Vec<Patch>,
}

/// A stencil.
#[derive(Clone, Copy, Debug)]
pub(super) struct PackedStencil {
    pub(super) hot_at: u32,
    pub(super) hot: u32,
    /// How much of the hot part is copied: whole chunks.
    pub(super) copied: u32,
    /// Holes of 32 bits in the hot part for operands; those that there are not, are behind it.
    pub(super) quick: [Quick; QUICK],
    pub(super) cold_at: u32,
    pub(super) cold: u32,
    /// All other holes and distances.
    pub(super) first_patch: u32,
    pub(super) n_patches: u32,
}

/// A hole of 32 bits in the hot part: an operand, scaled, plus a number.
#[derive(Clone, Copy, Debug)]
pub(super) struct Quick {
    pub(super) at: u32,
    pub(super) operand: u8,
    pub(super) scale: u8,
    pub(super) add: u32,
}

/// What else is to be filled in.
#[derive(Clone, Copy, Debug)]
pub(super) enum Patch {
    Hole(Hole),
    Distance(Distance),
}

/// How much room a stencil takes.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sizes {
    pub(super) hot: u32,
    pub(super) cold: u32,
}

impl Default for Packed {
    fn default() -> Self {
        let mut packed = Packed { bytes: Vec::new(), stencils: Vec::new(), patches: Vec::new() };
        packed.add(&Stencil::default());
        packed
    }
}

impl Packed {
    /// The stencil without code, for what no way leads to.
    pub(super) const NOTHING: u32 = 0;

    pub(super) fn sizes(&self, stencil: u32) -> Sizes {
        let PackedStencil { hot, cold, .. } = self.stencils[stencil as usize];
        Sizes { hot, cold }
    }

    /// Adds a stencil and gives its number.
    pub(super) fn add(&mut self, stencil: &Stencil) -> u32 {
        let hot_at = self.bytes.len();
        self.bytes.extend_from_slice(&stencil.hot);
        let copied = stencil.hot.len().next_multiple_of(CHUNK).max(CHUNK * CHUNKS);
        self.bytes.resize(hot_at + copied, 0xcc);
        let cold_at = self.bytes.len();
        self.bytes.extend_from_slice(&stencil.cold);
        self.bytes.resize(cold_at + stencil.cold.len().next_multiple_of(CHUNK), 0xcc);
        let unused = Quick { at: stencil.hot.len() as u32, operand: 0, scale: 0, add: 0 };
        let mut quick = [unused; QUICK];
        let mut n_quick = 0;
        let first_patch = self.patches.len() as u32;
        for hole in &stencil.holes {
            match as_quick(hole).filter(|_| n_quick < QUICK) {
                Some(found) => {
                    quick[n_quick] = found;
                    n_quick += 1;
                }
                None => self.patches.push(Patch::Hole(*hole)),
            }
        }
        self.patches.extend(stencil.distances.iter().map(|distance| Patch::Distance(*distance)));
        let is_within = |hole: &Quick| hole.at as usize <= stencil.hot.len();
        assert!(quick.iter().all(is_within), "a hole is in its stencil, or right behind it");
        self.stencils.push(PackedStencil {
            hot_at: hot_at as u32,
            hot: stencil.hot.len() as u32,
            copied: copied as u32,
            quick,
            cold_at: cold_at as u32,
            cold: (self.bytes.len() - cold_at) as u32,
            first_patch,
            n_patches: self.patches.len() as u32 - first_patch,
        });
        self.stencils.len() as u32 - 1
    }
}

fn as_quick(hole: &Hole) -> Option<Quick> {
    let &Hole { part: Part::Hot, at, source: Source::Operand(operand), scale, add, bits: Bits::Low32 } = hole
    else {
        return None;
    };
    Some(Quick { at, operand, scale, add: add as u32 })
}

/// From which operands an opcode's switch makes its table.
pub(super) fn table(info: &OpcodeInfo, template: &'static Template) -> Option<Table> {
    template.steps.iter().find_map(|step| match *step {
        Step::Switch { operands: [run], .. } if info.operands[*run as usize].kind == OperandKind::Labels => {
            Some(Table::Run(*run))
        }
        Step::Switch { operands, .. } => Some(Table::Operands(operands)),
        _ => None,
    })
}
