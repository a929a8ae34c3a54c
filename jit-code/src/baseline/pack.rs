//! Stencils as copying and patching need them: flat, with the most common holes in a form that is filled without a branch.

use super::faults::{Behind, Faulty};
use super::fixed::{JUMP, LEAVE, N_FIXED};
use super::operand::{LowWord, Operand, spare};
use crate::field::Field;
use crate::machine::Machine;
use crate::stencil::{COLD_ALIGNMENT, Distance, Hole, LeadsTo, Part, Stencil};
use azulejo_core::ir::bytecode::{OpcodeInfo, OperandKind};
use azulejo_core::ir::index::index;
use azulejo_core::ir::stencil::HoleSource;
use azulejo_core::ir::template::{Step, Template};
use std::sync::Arc;

/// How many bytes are always copied; the excess is overwritten by the next stencil.
pub(super) const COPIED: usize = 32;
/// The size of the pieces in which the rest of a longer stencil is copied.
pub(super) const CHUNK: usize = 16;
/// The size of a quick hole in bytes.
pub(super) const HOLE: usize = 4;
/// How many quick holes are always filled.
const QUICK: usize = 3;

/// All stencils of a stock.
#[derive(Clone, Debug)]
pub(super) struct Packed {
    machine: &'static Machine,
    pub(super) stencils: Vec<PackedStencil>,
    /// The rest of the hot parts, behind the bytes that are always copied, in whole chunks; and cold parts.
    pub(super) bytes: Vec<u8>,
    pub(super) links: Vec<Link>,
    pub(super) patches: Vec<Patch>,
    pub(super) tables: Vec<Table>,
    /// For each stencil that does not do all, the one that stands behind the hot parts: that of the same variant which does all, or the one
    /// that leaves the function.
    pub(super) generals: Vec<StencilId>,
    /// The stencils that are no opcode's, once they have been needed.
    pub(super) fixed: [StencilId; N_FIXED],
    /// The stencils' accesses that may fault. Code made from the stencils holds it for as long as it lives.
    pub(super) faulty: Arc<Faulty>,
}

index! {
    /// A stencil of a stock.
    pub(super) StencilId, "stencil"
}
index! {
    /// A table that stencils jump by.
    pub(super) TableId, "table"
}

/// A stencil in the form in which it is copied. The first half is all that most stencils need.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub(super) struct PackedStencil {
    /// The start of the hot part.
    pub(super) bytes: [u8; COPIED],
    pub(super) hot: u32,
    /// Whether copying these bytes and filling three holes completes the hot part, but for its patches.
    pub(super) is_plain: bool,
    /// How many of the quick holes are in use. In a plain stencil, the others write right behind the hot part; in any other
    /// stencil, they are not filled.
    pub(super) n_quick: u8,
    pub(super) quick: [Quick; QUICK],
    /// The rest of the hot part.
    pub(super) more: Run,
    pub(super) cold: Run,
    /// The holes and distances that are links.
    pub(super) links: Run,
    /// All other holes and distances.
    pub(super) patches: Run,
    /// The jump table, if there is one.
    pub(super) table: TableId,
    /// The no-store variant of this stencil, or one of the constants below.
    pub(super) no_store: StencilId,
}

impl PackedStencil {
    /// There is no no-store variant.
    pub(super) const NONE: StencilId = StencilId::NONE;
    /// The no-store variant has not been needed yet.
    pub(super) const UNKNOWN: StencilId = StencilId(u32::MAX - 1);

    /// Whether the stencil needs more than copying the hot part and filling its quick holes.
    pub(super) fn has_more_to_do(&self) -> bool {
        self.patches.len > 0 || self.links.len > 0 || self.cold.len > 0
    }
}

const _: () = assert!(size_of::<PackedStencil>() == 128, "two lines of the cache");

/// A range of a list's entries.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Run {
    start: u32,
    pub(super) len: u32,
}

impl Run {
    #[inline]
    pub(super) fn of<T>(self, list: &[T]) -> &[T] {
        &list[self.start as usize..][..self.len as usize]
    }

    /// The entries added since the list had length `start`.
    fn since<T>(start: usize, list: &[T]) -> Run {
        Run { start: start as u32, len: (list.len() - start) as u32 }
    }
}

/// A hole of 32 bits in the hot part: an operand, scaled, plus a number.
#[derive(Clone, Copy, Debug)]
pub(super) struct Quick {
    pub(super) at: u16,
    pub(super) word: LowWord,
    pub(super) scale: u32,
    pub(super) add: u32,
}

/// A word of 32 bits: so much more than one of a few numbers that depend on the bytecode.
#[derive(Clone, Copy, Debug)]
pub(super) struct Link {
    pub(super) at: u32,
    pub(super) part: Part,
    pub(super) to: LinkBase,
    pub(super) add: u64,
}

/// The number that is the same for all [`Link`]s of this kind in a bytecode's code.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub(super) enum LinkBase {
    /// Zero.
    Nothing,
    /// The distance from one part to the other, to the stencil that knows no case, to the ways out of the function, and to the address zero.
    HotToCold,
    ColdToHot,
    HotToGeneral,
    ColdToGeneral,
    HotToOut,
    ColdToOut,
    HotToLeft,
    ColdToLeft,
    HotToZero,
    ColdToZero,
    /// The bytecode's number.
    Here,
    /// The two words of the address of the bytecode's entry among the slow paths.
    SlowPath,
    SlowPathUpper,
}

impl LinkBase {
    /// How many there are.
    pub(super) const COUNT: usize = LinkBase::SlowPathUpper as usize + 1;

    /// Whether links of this kind are distances, which must fit.
    pub(super) fn is_distance(self) -> bool {
        !matches!(self, LinkBase::Here | LinkBase::SlowPath | LinkBase::SlowPathUpper)
    }
}

/// Another hole or distance: its place, and what fills it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Patch {
    pub(super) part: Part,
    pub(super) at: u32,
    /// The field, and the position from which a distance counts, as an offset from the start of the field.
    pub(super) field: Field,
    pub(super) base: u8,
    pub(super) what: What,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum What {
    /// The distance to the bytecode that a label names.
    Label(LowWord),
    /// What a [`Link`] would hold, in a field of another size.
    Link(LinkBase, u64),
    /// A value, and the operand that it is made from; an arbitrary one if it needs none.
    Value(Hole, Operand),
}

/// The labels of a switch.
#[derive(Clone, Debug)]
pub(super) enum Table {
    /// In the run that this operand names.
    Run(Operand),
    /// In these label operands.
    Operands(Vec<Operand>),
}

impl Packed {
    /// A list with only the empty stencil.
    pub(super) fn of(machine: &'static Machine) -> Packed {
        let (bytes, links, patches, tables, faulty) = Default::default();
        let (stencils, generals, fixed) = (Vec::new(), Vec::new(), [StencilId::NONE; N_FIXED]);
        let mut packed = Packed { machine, stencils, bytes, links, patches, tables, generals, fixed, faulty };
        packed.add(&Stencil::default(), &[], TableId::NONE);
        packed
    }

    /// The empty stencil, for unreachable bytecodes.
    pub(super) const NOTHING: StencilId = StencilId(0);

    /// Adds a stencil of an opcode with these operands and this table, and returns its number.
    pub(super) fn add(&mut self, stencil: &Stencil, operands: &[Operand], table: TableId) -> StencilId {
        let hot = stencil.hot.len();
        let start = hot.min(COPIED);
        let mut bytes = [0; COPIED];
        self.machine.fill_up(&mut bytes, 0);
        bytes[..start].copy_from_slice(&stencil.hot[..start]);
        let more = self.add_chunks(&stencil.hot[start..]);
        let cold = self.add_chunks(&stencil.cold);

        let mut quick = [Quick { at: hot as u16, word: LowWord::FIRST, scale: 0, add: 0 }; QUICK];
        let mut n_quick = 0;
        let (first_link, first_patch) = (self.links.len(), self.patches.len());
        // Quick holes of a byte come first, because filling one writes the bytes before it, which may be another hole's.
        let (bytes_first, others): (Vec<&Hole>, Vec<&Hole>) =
            stencil.holes.iter().partition(|hole| is_quick_byte(hole, stencil));
        for hole in bytes_first.into_iter().chain(others) {
            let links = Link::of_hole(hole);
            if links[0].is_some() {
                self.links.extend(links.into_iter().flatten());
                continue;
            }
            let found: Vec<Quick> = as_quick(hole, stencil, operands).into_iter().flatten().collect();
            if found.is_empty() || n_quick + found.len() > QUICK {
                self.patches.push(Patch::hole(hole, operands));
            } else {
                quick[n_quick..][..found.len()].copy_from_slice(&found);
                n_quick += found.len();
            }
        }
        for distance in &stencil.distances {
            match Link::of_distance(distance, hot as u32) {
                Some(link) if distance.field == Field::WORD => self.links.push(link),
                link => self.patches.push(Patch::distance(distance, link, operands)),
            }
        }
        let spare = spare(operands).filter(|_| hot <= COPIED);
        quick[n_quick..].iter_mut().for_each(|hole| hole.word = spare.unwrap_or(hole.word));
        let is_within = |hole: &Quick| hole.at as usize + HOLE <= hot;
        assert!(quick[..n_quick].iter().all(is_within), "a hole is in its stencil");

        // Nothing fails from here on: each stencil has one entry in both lists.
        Arc::make_mut(&mut self.faulty).add(stencil, cold.len);
        self.stencils.push(PackedStencil {
            bytes,
            hot: hot as u32,
            is_plain: spare.is_some(),
            n_quick: n_quick as u8,
            quick,
            more,
            cold,
            links: Run::since(first_link, &self.links),
            patches: Run::since(first_patch, &self.patches),
            table,
            no_store: if stencil.facts.can_omit_store { PackedStencil::UNKNOWN } else { PackedStencil::NONE },
        });
        self.generals.push(StencilId::NONE);
        StencilId::from(self.stencils.len() - 1)
    }

    /// Makes a stencil lead to another one, which stands behind the hot parts.
    pub(super) fn lead(&mut self, stencil: StencilId, general: StencilId) {
        self.generals[stencil.at()] = general;
        let behind = Behind { stencil: general, size: self.general_bytes(general) as u32 };
        Arc::make_mut(&mut self.faulty).lead(stencil, behind);
    }

    /// The stencil that stands behind the hot parts for a bytecode with this stencil.
    pub(super) fn general(&self, stencil: StencilId) -> Option<StencilId> {
        Some(self.generals[stencil.at()]).filter(|general| general.is_some())
    }

    /// Whether this stencil leaves the function.
    pub(super) fn leaves(&self, stencil: StencilId) -> bool {
        stencil == self.fixed[LEAVE]
    }

    /// The jump that stands behind a general stencil.
    pub(super) fn jump(&self) -> &PackedStencil {
        &self.stencils[self.fixed[JUMP].at()]
    }

    /// The size of the general stencil's hot part and of the jump behind it, with room for what copying writes behind that. The stencil
    /// that leaves the function is copied as it is, and nothing follows.
    pub(super) fn general_bytes(&self, general: StencilId) -> usize {
        let hot = self.stencils[general.at()].hot as usize;
        let behind = if self.leaves(general) { 0 } else { (self.jump().hot as usize).max(COPIED + HOLE) };
        (hot + behind).next_multiple_of(COLD_ALIGNMENT)
    }

    /// Adds a table and returns its number.
    pub(super) fn add_table(&mut self, table: Table) -> TableId {
        self.tables.push(table);
        TableId::from(self.tables.len() - 1)
    }

    /// Adds bytes, padded to whole chunks.
    fn add_chunks(&mut self, bytes: &[u8]) -> Run {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(bytes);
        let end = self.bytes.len();
        self.bytes.resize(start + bytes.len().next_multiple_of(CHUNK), 0);
        self.machine.fill_up(&mut self.bytes[end..], bytes.len());
        Run::since(start, &self.bytes)
    }
}

impl Link {
    /// A distance as a link, but for that to a label; `hot` is the size of the stencil's hot part.
    fn of_distance(distance: &Distance, hot: u32) -> Option<Link> {
        let &Distance { part, at, base, ref to, .. } = distance;
        let (from_hot, from_cold, add) = match *to {
            LeadsTo::Label(_) => return None,
            LeadsTo::Next => (LinkBase::Nothing, LinkBase::ColdToHot, hot as u64),
            LeadsTo::General => (LinkBase::HotToGeneral, LinkBase::ColdToGeneral, 0),
            LeadsTo::Out => (LinkBase::HotToOut, LinkBase::ColdToOut, 0),
            LeadsTo::Left => (LinkBase::HotToLeft, LinkBase::ColdToLeft, 0),
            LeadsTo::In(Part::Hot, to) => (LinkBase::Nothing, LinkBase::ColdToHot, to as u64),
            LeadsTo::In(Part::Cold, to) => (LinkBase::HotToCold, LinkBase::Nothing, to as u64),
            LeadsTo::Address(address) => (LinkBase::HotToZero, LinkBase::ColdToZero, address),
        };
        let to = if part == Part::Hot { from_hot } else { from_cold };
        Some(Link { at, part, to, add: add.wrapping_sub(at as u64 + base as u64) })
    }

    /// A hole as one or two links, if it can be filled that way.
    fn of_hole(hole: &Hole) -> [Option<Link>; 2] {
        let &Hole { part, at, source, scale, add, field } = hole;
        let link = |at, to, add| Some(Link { at, part, to, add });
        match (source, field) {
            (HoleSource::Here, Field::WORD) if scale == 1 => [link(at, LinkBase::Here, add as u64), None],
            (HoleSource::SlowPath, Field::LONG) if (scale, add) == (1, 0) => {
                [link(at, LinkBase::SlowPath, 0), link(at + HOLE as u32, LinkBase::SlowPathUpper, 0)]
            }
            _ => [None; 2],
        }
    }
}

impl Patch {
    fn hole(hole: &Hole, operands: &[Operand]) -> Patch {
        let operand = match hole.source {
            HoleSource::Operand(operand)
            | HoleSource::Count(operand)
            | HoleSource::Last(operand)
            | HoleSource::Case(operand, ..)
            | HoleSource::Cell(operand) => operands[operand as usize],
            HoleSource::Table
            | HoleSource::Unit
            | HoleSource::Here
            | HoleSource::Bytecode
            | HoleSource::SlowPath
            | HoleSource::Newest
            | HoleSource::Layout
            | HoleSource::Shown
            | HoleSource::Functions => Operand::TOP,
        };
        let Hole { part, at, field, .. } = *hole;
        Patch { part, at, field, base: 0, what: What::Value(*hole, operand) }
    }

    /// A distance to a label, or one that is a link but for its size.
    fn distance(distance: &Distance, link: Option<Link>, operands: &[Operand]) -> Patch {
        let what = match (&distance.to, link) {
            (_, Some(link)) => What::Link(link.to, link.add),
            (LeadsTo::Label(label), None) => {
                let (label, _) = operands[*label as usize].word().expect("a label has 32 bits");
                What::Label(label)
            }
            (to, None) => unreachable!("{to:?} is a link"),
        };
        let Distance { part, at, field, base, .. } = *distance;
        Patch { part, at, field, base, what }
    }
}

/// Whether a hole is a byte that can be filled together with the three bytes before it, all of which are code, or holes that are
/// filled later. So a shift by a constant costs no more than other instructions.
fn is_quick_byte(hole: &Hole, stencil: &Stencil) -> bool {
    let reaches = |other: &Hole| {
        other.field == Field::BYTE && (1..HOLE as u32).contains(&(hole.at.wrapping_sub(other.at)))
    };
    hole.part == Part::Hot
        && hole.field == Field::BYTE
        && hole.at as usize + 1 >= HOLE
        && !stencil.holes.iter().any(|other| other.part == Part::Hot && reaches(other))
}

/// A hole as one or two quick holes, if it can be filled that way.
fn as_quick(hole: &Hole, stencil: &Stencil, operands: &[Operand]) -> [Option<Quick>; 2] {
    let &Hole { part: Part::Hot, at, source: HoleSource::Operand(operand), scale, add, field } = hole else {
        return [None; 2];
    };
    let operand = operands[operand as usize];
    let quick = |at: u32, (word, more): (LowWord, i32)| {
        let add = (add as u32).wrapping_add((more as u32).wrapping_mul(scale as u32));
        Some(Quick { at: u16::try_from(at).ok()?, word, scale: scale as u32, add })
    };
    let upper = operand.upper_word().filter(|_| (scale, add) == (1, 0));
    let lower = operand.word();
    match field {
        Field::WORD => [lower.and_then(|word| quick(at, word)), None],
        Field::UPPER_WORD => [upper.and_then(|word| quick(at, word)), None],
        Field::LONG if upper.is_some() => [(at, lower), (at + 4, upper)].map(|(at, word)| quick(at, word?)),
        Field::BYTE if is_quick_byte(hole, stencil) => {
            // The operand's lowest byte is multiplied to the highest one of the word.
            let start = at as usize + 1 - HOLE;
            let before = &stencil.hot[start..at as usize];
            let before = before.iter().rev().fold(0, |word, byte| word << 8 | *byte as u32);
            let byte = lower.and_then(|word| quick(start as u32, word));
            [byte.map(|byte| Quick { scale: byte.scale << 24, add: byte.add << 24 | before, ..byte }), None]
        }
        _ => [None; 2],
    }
}

/// The operands from which an opcode's switch makes its table.
pub(super) fn table(info: &OpcodeInfo, template: &Template, operands: &[Operand]) -> Option<Table> {
    template.steps.iter().find_map(|step| match step {
        Step::Switch { operands: labels, .. } => match labels[..] {
            [run] if info.operands[run as usize].kind == OperandKind::Labels => {
                Some(Table::Run(operands[run as usize]))
            }
            _ => Some(Table::Operands(labels.iter().map(|label| operands[*label as usize]).collect())),
        },
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::baseline::operand::FieldForm;
    use crate::machine::toy::TOY;

    #[test]
    fn a_byte_is_filled_with_the_bytes_before_it() {
        let hole = |at, field| {
            let source = HoleSource::Operand(0);
            Hole { part: Part::Hot, at, source, scale: 1, add: 0, field }
        };
        // The first byte comes right behind a word, the second one so close to the first that filling it would undo that.
        let holes = vec![hole(1, Field::WORD), hole(6, Field::BYTE), hole(8, Field::BYTE)];
        let stencil = Stencil { hot: (1..=9).collect(), holes, ..Stencil::default() };
        let mut packed = Packed::of(&TOY);
        let added = packed.add(&stencil, &[Operand::Field(0, FieldForm::Unsigned32)], TableId::NONE);
        let packed_stencil = &packed.stencils[added.at()];
        let mut bytes = packed_stencil.bytes;
        for quick in &packed_stencil.quick[..packed_stencil.n_quick as usize] {
            let value = 0x0a0b_0c0d_u32.wrapping_mul(quick.scale).wrapping_add(quick.add);
            bytes[quick.at as usize..][..HOLE].copy_from_slice(&value.to_le_bytes());
        }
        assert_eq!(bytes[..9], [1, 0x0d, 0x0c, 0x0b, 0x0a, 6, 0x0d, 8, 9]);
        let patches: Vec<u32> =
            packed_stencil.patches.of(&packed.patches).iter().map(|patch| patch.at).collect();
        assert_eq!(patches, [8]);
    }
}
