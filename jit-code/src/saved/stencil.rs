//! Stencils that are saved.
//!
//! In: what a stencil is made of; a [`Stencil`], or that none can be made. Out: the same, from an earlier process.

use super::{CodeKey, Image, KeyOf, Packer, Unpacker, read_field, write_field};
use crate::stencil::{Distance, Hole, LeadsTo, Part, Stencil};
use azulejo_core::ir::bytecode::Bytecode;
use azulejo_core::ir::stencil::HoleSource;
use azulejo_core::pass::build::{CachedValue, KnownCases, StencilFacts, StencilRequest};
use azulejo_core::target::RegSet;
use azulejo_core::vocab::Type;
use core::any::TypeId;

/// The key of a stencil; `of` is that of all that stencils of the same compiler depend on.
pub(crate) fn key_of(of: &KeyOf<'_>, request: &StencilRequest<'_>) -> Option<CodeKey> {
    let StencilRequest {
        // It belongs to the type of bytecode, as far as it is not the process's.
        vocab: _,
        functions: _,
        opcode,
        template,
        cached,
        is_cached_as_float,
        omits_store,
        keeps_unit,
        cases,
        is_lean,
        pinned,
        constants,
    } = *request;
    // What is known of the first case follows from the template.
    let cases = match cases {
        KnownCases::Nothing => (0, 0, None),
        KnownCases::None(operands) => (1, operands, None),
        KnownCases::First(case) => (2, 0, Some(case.sort)),
        KnownCases::Only(case) => (3, 0, Some(case.sort)),
    };
    let [opcode, template] =
        [core::ptr::from_ref(opcode).addr(), core::ptr::from_ref(template).addr()].map(|at| at as u64);
    let of = of.clone().address(opcode).address(template);
    let of = of.value((cached, is_cached_as_float, omits_store, keeps_unit));
    of.value((cases, is_lean, pinned, constants)).key()
}

/// The key of what says that stencils of an opcode are saved. (A constant may have several addresses in a program, so a name says which opcode.)
fn key_of_opcode(image: &Image, bytecode: TypeId, name: &str) -> Option<CodeKey> {
    KeyOf::new(image).value(("opcode", bytecode, name)).key()
}

/// Whether stencils of an opcode were saved by an earlier process.
pub fn has_stencils_of<B: Bytecode>(opcode: usize) -> bool {
    let key = |image| key_of_opcode(image, TypeId::of::<B>(), B::OPCODES[opcode].name);
    super::image().and_then(key).is_some_and(super::has)
}

/// The stencil with this key, or that none can be made, if an earlier process has found out.
pub(crate) fn find(key: CodeKey) -> Option<Option<Stencil>> {
    super::find(key, read)
}

/// Keeps a stencil of a type of bytecode, or that none can be made, if that is the same in all processes.
pub(crate) fn keep(key: CodeKey, bytecode: TypeId, request: &StencilRequest<'_>, stencil: Option<&Stencil>) {
    let Some(image) = super::image().filter(|image| image.holds_all_of(request.template)) else { return };
    super::keep(key, |to| write(to, stencil));
    if let Some(key) = key_of_opcode(image, bytecode, request.opcode.name) {
        super::keep(key, |_| {});
    }
}

/// Writes a stencil, or that none can be made.
fn write(to: &mut Packer<'_>, stencil: Option<&Stencil>) {
    to.flag(stencil.is_some());
    let Some(Stencil { hot, cold, holes, distances, sites, facts, frame_bytes, saved }) = stencil else {
        return;
    };
    to.run(hot);
    to.run(cold);
    to.list(holes, write_hole);
    to.list(distances, write_distance);
    to.list(sites, |to, &(part, start, end, code)| {
        write_part(to, part);
        [start, end, code].into_iter().for_each(|word| to.word(word));
    });
    let StencilFacts { cached, can_omit_store, takes_cached, reads_unit, reads_pinned } = *facts;
    to.flag(cached.is_some());
    if let Some(CachedValue { operand, ty }) = cached {
        to.byte(operand);
        to.byte(ty as u8);
    }
    [can_omit_store, takes_cached, reads_unit, reads_pinned].into_iter().for_each(|flag| to.flag(flag));
    to.word(*frame_bytes);
    to.long(saved.0);
}

/// Reads a stencil, or that none can be made.
fn read(from: &mut Unpacker<'_>) -> Option<Option<Stencil>> {
    if !from.flag()? {
        return Some(None);
    }
    Some(Some(Stencil {
        hot: from.run()?,
        cold: from.run()?,
        holes: from.list(read_hole)?,
        distances: from.list(read_distance)?,
        sites: from.list(|from| Some((read_part(from)?, from.word()?, from.word()?, from.word()?)))?,
        facts: read_facts(from)?,
        frame_bytes: from.word()?,
        saved: RegSet(from.long()?),
    }))
}

fn read_facts(from: &mut Unpacker<'_>) -> Option<StencilFacts> {
    let cached = match from.flag()? {
        true => Some(CachedValue { operand: from.byte()?, ty: read_type(from)? }),
        false => None,
    };
    let [can_omit_store, takes_cached, reads_unit, reads_pinned] =
        [from.flag()?, from.flag()?, from.flag()?, from.flag()?];
    Some(StencilFacts { cached, can_omit_store, takes_cached, reads_unit, reads_pinned })
}

/// The types of cached values.
fn read_type(from: &mut Unpacker<'_>) -> Option<Type> {
    let ty = from.byte()?;
    [Type::I32, Type::I64, Type::F32, Type::F64].into_iter().find(|known| *known as u8 == ty)
}

fn write_part(to: &mut Packer<'_>, part: Part) {
    to.flag(part == Part::Cold);
}

fn read_part(from: &mut Unpacker<'_>) -> Option<Part> {
    Some(if from.flag()? { Part::Cold } else { Part::Hot })
}

fn write_hole(to: &mut Packer<'_>, hole: &Hole) {
    let Hole { part, at, source, scale, add, field } = *hole;
    write_part(to, part);
    to.word(at);
    write_source(to, source);
    to.byte(scale);
    to.long(add as u64);
    write_field(to, field);
}

fn read_hole(from: &mut Unpacker<'_>) -> Option<Hole> {
    Some(Hole {
        part: read_part(from)?,
        at: from.word()?,
        source: read_source(from)?,
        scale: from.byte()?,
        add: from.long()? as i64,
        field: read_field(from)?,
    })
}

fn write_source(to: &mut Packer<'_>, source: HoleSource) {
    let (number, operand, field) = match source {
        HoleSource::Operand(operand) => (0, operand, (0, 0)),
        HoleSource::Count(operand) => (1, operand, (0, 0)),
        HoleSource::Last(operand) => (2, operand, (0, 0)),
        HoleSource::Cell(operand) => (3, operand, (0, 0)),
        HoleSource::Case(operand, distance, bytes) => (4, operand, (distance, bytes)),
        HoleSource::Functions => (5, 0, (0, 0)),
        HoleSource::Table => (6, 0, (0, 0)),
        HoleSource::Unit => (7, 0, (0, 0)),
        HoleSource::Here => (8, 0, (0, 0)),
        HoleSource::Bytecode => (9, 0, (0, 0)),
        HoleSource::SlowPath => (10, 0, (0, 0)),
        HoleSource::Newest => (11, 0, (0, 0)),
        HoleSource::Layout => (12, 0, (0, 0)),
        HoleSource::Shown => (13, 0, (0, 0)),
    };
    to.byte(number);
    to.byte(operand);
    to.word(field.0);
    to.byte(field.1);
}

fn read_source(from: &mut Unpacker<'_>) -> Option<HoleSource> {
    let (number, operand, distance, bytes) = (from.byte()?, from.byte()?, from.word()?, from.byte()?);
    Some(match number {
        0 => HoleSource::Operand(operand),
        1 => HoleSource::Count(operand),
        2 => HoleSource::Last(operand),
        3 => HoleSource::Cell(operand),
        4 => HoleSource::Case(operand, distance, bytes),
        5 => HoleSource::Functions,
        6 => HoleSource::Table,
        7 => HoleSource::Unit,
        8 => HoleSource::Here,
        9 => HoleSource::Bytecode,
        10 => HoleSource::SlowPath,
        11 => HoleSource::Newest,
        12 => HoleSource::Layout,
        13 => HoleSource::Shown,
        _ => return None,
    })
}

fn write_distance(to: &mut Packer<'_>, distance: &Distance) {
    let Distance { part, at, field, base, to: goal } = *distance;
    write_part(to, part);
    to.word(at);
    write_field(to, field);
    to.byte(base);
    match goal {
        LeadsTo::Next => to.byte(0),
        LeadsTo::Label(label) => [1, label].into_iter().for_each(|byte| to.byte(byte)),
        LeadsTo::General => to.byte(2),
        LeadsTo::Out => to.byte(3),
        LeadsTo::Left => to.byte(4),
        LeadsTo::Address(address) => {
            to.byte(5);
            to.address(address);
        }
        LeadsTo::In(part, offset) => {
            to.byte(6);
            write_part(to, part);
            to.word(offset);
        }
    }
}

fn read_distance(from: &mut Unpacker<'_>) -> Option<Distance> {
    Some(Distance {
        part: read_part(from)?,
        at: from.word()?,
        field: read_field(from)?,
        base: from.byte()?,
        to: match from.byte()? {
            0 => LeadsTo::Next,
            1 => LeadsTo::Label(from.byte()?),
            2 => LeadsTo::General,
            3 => LeadsTo::Out,
            4 => LeadsTo::Left,
            5 => LeadsTo::Address(from.address()?),
            6 => LeadsTo::In(read_part(from)?, from.word()?),
            _ => return None,
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::field::Field;

    #[test]
    fn a_stencil_is_read_as_it_was_written() {
        let sources = [
            HoleSource::Operand(1),
            HoleSource::Count(2),
            HoleSource::Last(3),
            HoleSource::Cell(4),
            HoleSource::Case(5, 0x1_0002, 8),
            HoleSource::Functions,
            HoleSource::Table,
            HoleSource::Unit,
            HoleSource::Here,
            HoleSource::Bytecode,
            HoleSource::SlowPath,
            HoleSource::Newest,
            HoleSource::Layout,
            HoleSource::Shown,
        ];
        let goals = [
            LeadsTo::Next,
            LeadsTo::Label(9),
            LeadsTo::General,
            LeadsTo::Out,
            LeadsTo::Left,
            LeadsTo::Address(0x1234),
            LeadsTo::In(Part::Cold, 77),
        ];
        let field = Field { bytes: 4, first: 3, width: 12, shift: 1 };
        let hole = |source| Hole { part: Part::Cold, at: 6, source, scale: 8, add: -5, field };
        let distance = |to| Distance { part: Part::Hot, at: 2, field: Field::WORD, base: 4, to };
        for ty in [Type::I32, Type::I64, Type::F32, Type::F64] {
            let stencil = Stencil {
                hot: vec![1, 2, 3],
                cold: vec![4],
                holes: sources.map(hole).to_vec(),
                distances: goals.map(distance).to_vec(),
                sites: vec![(Part::Hot, 1, 2, 3)],
                facts: StencilFacts {
                    cached: Some(CachedValue { operand: 2, ty }),
                    takes_cached: true,
                    reads_pinned: true,
                    ..StencilFacts::default()
                },
                frame_bytes: 48,
                saved: RegSet(0xf0),
            };
            let image = Image::test(0x1000..0x2000);
            let mut writer = Packer::new(&image);
            write(&mut writer, Some(&stencil));
            let found = Unpacker::all(&writer.bytes, &image, read).expect("it can be read");
            assert_eq!(format!("{found:?}"), format!("{:?}", Some(&stencil)));
            for len in 0..writer.bytes.len() {
                assert!(Unpacker::all(&writer.bytes[..len], &image, read).is_none(), "{len}");
            }
        }
    }
}
