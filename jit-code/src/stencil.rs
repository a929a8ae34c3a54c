//! Make a stencil: the machine code of an opcode, with holes that each bytecode fills.
//!
//! In: an opcode's template. Out: a [`Stencil`]. The template goes through the passes as a function of its own, with a
//! placeholder in each hole. Its tiles are emitted several times with different placeholders. Where the results differ, there
//! must be a whole placeholder, and that place is a hole. Any other difference (an immediate folded into something, an encoding
//! that depends on a number's sign) is detected, and the opcode is compiled again with its constants in registers. If that
//! fails too, the opcode has no stencil. So a stencil is right if its tiles are: none knows that it is used for one, but for loads of constants,
//! which are told which numbers stand for others of either sign ([`Outline::signed`]).

use crate::emit::{
    self, Backend, Code, DistanceForm, Form, Goal, LEFT, NEXT, OUT, Options, Outline, Set, emit_as,
};
use crate::field::Field;
use azulejo_core::error::Error;
use azulejo_core::ir::assignment::{Assignment, Source};
use azulejo_core::ir::index::Node;
use azulejo_core::ir::stencil::{HoleSource, HoleValue, HoleValues, REACH, ROUNDS, Range};
use azulejo_core::ir::tiles::TileList;
use azulejo_core::pass::build::{GENERAL, StencilFacts, StencilRequest};
use azulejo_core::pass::{Compilation, Observer, Target};
use azulejo_core::target::RegSet;
use azulejo_core::vocab::Op;

/// The alignment of the cold part, which the constants follow.
pub(crate) const COLD_ALIGNMENT: usize = 16;

/// A template's machine code with holes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stencil {
    /// The code that falls through from bytecode to bytecode.
    pub(crate) hot: Vec<u8>,
    /// The cold code, which is placed elsewhere at a multiple of [`COLD_ALIGNMENT`], and the constants.
    pub(crate) cold: Vec<u8>,
    pub(crate) holes: Vec<Hole>,
    pub(crate) distances: Vec<Distance>,
    /// The accesses that may fault: the part, the start and the end in it, and the trap's code.
    pub(crate) sites: Vec<(Part, u32, u32, u32)>,
    /// The value that the stencil leaves cached, and how it uses the one that it finds cached.
    pub(crate) facts: StencilFacts,
    /// How many bytes of the machine's stack it uses.
    pub(crate) frame_bytes: u32,
    /// The callee-saved registers that it uses.
    pub(crate) saved: RegSet,
}

/// One of the two parts of a stencil.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Part {
    Hot,
    Cold,
}

/// A place in the code that holds a hole's value plus a number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Hole {
    pub(crate) part: Part,
    pub(crate) at: u32,
    pub(crate) source: HoleSource,
    pub(crate) scale: u8,
    pub(crate) add: i64,
    /// The place of the sum, and which of its bits are stored.
    pub(crate) field: Field,
}

/// A place in the code that holds a distance.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Distance {
    pub(crate) part: Part,
    pub(crate) at: u32,
    /// The field of the distance, and the position from which it counts, as an offset from the start of the field.
    pub(crate) field: Field,
    pub(crate) base: u8,
    pub(crate) to: LeadsTo,
}

/// The target of a distance.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum LeadsTo {
    /// The next bytecode.
    Next,
    /// The bytecode that this label operand names.
    Label(u8),
    /// The stencil of the same bytecode that knows no case.
    General,
    /// Out of the function.
    Out,
    /// Out of the function before its end.
    Left,
    /// Something outside of the function.
    Address(u64),
    /// This many bytes into a part of this stencil.
    In(Part, u32),
}

/// A distance that stays unresolved: its offset, its kind, its goal, and the goal's offset if the goal is in the code.
type Unresolved<M> = (u32, <M as Backend>::Form, Goal, Option<u32>);

/// Memory used for making stencils.
#[derive(Debug)]
pub(crate) struct Scratch<M: Backend> {
    values: HoleValues,
    rounds: [Code<M>; ROUNDS],
    tiles: TileList,
    assignment: Assignment,
}

impl<M: Backend> Default for Scratch<M> {
    fn default() -> Self {
        let (values, rounds, tiles, assignment) = Default::default();
        Scratch { values, rounds, tiles, assignment }
    }
}

/// Makes the stencil of an opcode.
pub(crate) fn make<M: Backend>(
    scratch: &mut Scratch<M>,
    compilation: &mut Compilation,
    emission: &mut emit::Scratch<M>,
    (target, set, options): (&Target<'_>, &Set<M>, &Options),
    request: &StencilRequest<'_>,
    observer: &mut dyn Observer,
) -> Result<Stencil, Error> {
    let facts = compilation.stencil(request, &mut scratch.values, target, observer)?;
    let mut distances = Vec::new();
    for round in 0..ROUNDS {
        scratch.write_round(compilation, round);
        let Scratch { ref values, ref tiles, ref assignment, ref mut rounds } = *scratch;
        let signed = values.signed(round).collect();
        let outline = Outline { signed, ..outline(compilation, tiles, assignment) };
        let form = Form::<fn(&mut M) -> u32>::Stencil(outline);
        emit_as(emission, tiles, assignment, set, options, form, &mut rounds[round])?;
        let found: Vec<Unresolved<M>> = emission.buffer().unresolved_distances(&rounds[round]).collect();
        if round == 0 {
            distances = found;
        } else if distances != found {
            return Err(Error::Internal("stencil"));
        }
    }
    let code = &scratch.rounds[0];
    let ends = |code: &Code<M>| (code.cold, code.end, code.bytes.len());
    if !scratch.rounds.iter().all(|other| ends(other) == ends(code)) {
        return Err(Error::Internal("stencil"));
    }
    let place = |at| place(code, at);
    let mut stencil = Stencil {
        hot: code.bytes[..code.cold as usize].to_vec(),
        cold: Vec::new(),
        holes: scratch
            .find_holes(&distances, &sums::<M>(&scratch.values, compilation))
            .ok_or(Error::Internal("stencil"))?,
        distances: distances.into_iter().map(|unresolved| distance(code, unresolved)).collect(),
        sites: Vec::new(),
        facts,
        saved: compilation.assignment.used.intersection(target.registers.callee_saved),
        frame_bytes: emit::slot_offset(compilation.tiles.out_args, compilation.assignment.slots),
    };
    if code.bytes.len() > code.cold as usize {
        stencil.cold = code.bytes[cold_start(code) as usize..].to_vec();
    }
    for site in &code.sites {
        let (part, start) = place(site.start);
        stencil.sites.push((part, start, start + site.end - site.start, site.code));
    }
    Ok(stencil)
}

/// The offset from which the cold part is copied: the alignment's multiple at or below the first cold byte.
fn cold_start<M: Backend>(code: &Code<M>) -> u32 {
    code.cold & !(COLD_ALIGNMENT as u32 - 1)
}

/// The part that an offset is in, and the offset in that part.
fn place<M: Backend>(code: &Code<M>, at: u32) -> (Part, u32) {
    match at < code.cold {
        true => (Part::Hot, at),
        false => (Part::Cold, at - cold_start(code)),
    }
}

fn distance<M: Backend>(code: &Code<M>, (at, form, goal, to): Unresolved<M>) -> Distance {
    let to = match (goal, to) {
        (_, Some(to)) => {
            let (part, to) = place(code, to);
            LeadsTo::In(part, to)
        }
        (Goal::Exit(NEXT), _) => LeadsTo::Next,
        (Goal::Exit(exit), _) if exit == GENERAL as u32 => LeadsTo::General,
        (Goal::Exit(OUT), _) => LeadsTo::Out,
        (Goal::Exit(LEFT), _) => LeadsTo::Left,
        (Goal::Address(address), _) => LeadsTo::Address(address),
        (Goal::Exit(exit), _) => LeadsTo::Label(exit as u8 - 1),
        (other, None) => unreachable!("{other:?} is in the code"),
    };
    let (part, at) = place(code, at);
    Distance { part, at, field: form.field(), base: form.base() as u8, to }
}

/// Finds the blocks that only go to other bytecodes, and the one that goes to the next.
fn outline(compilation: &Compilation, tiles: &TileList, assignment: &Assignment) -> Outline {
    let mut outline = Outline { exits: vec![None; tiles.position.len()], ..Outline::default() };
    for block in &tiles.blocks {
        let last = block.insts.range().last().expect("a block ends with an instruction");
        let node = tiles.insts[last].node;
        if node == Node::NONE || !matches!(compilation.graph.node(node).op, Op::CONTINUE | Op::CONTINUE_WITH)
        {
            continue;
        }
        let exit = compilation.graph.node(node).imm as u32;
        if exit == NEXT {
            outline.next = Some(block.block);
        }
        let has_moves = assignment.moves.iter().any(|next| next.before.at() == last);
        if block.insts.len == 1 && !has_moves {
            outline.exits[block.block.at()] = Some(exit);
        }
    }
    outline
}

impl<M: Backend> Scratch<M> {
    /// Copies tiles and assignment, and puts in the placeholders of a round.
    fn write_round(&mut self, compilation: &Compilation, round: usize) {
        let Scratch { values, tiles, assignment, .. } = self;
        tiles.clone_from(&compilation.tiles);
        assignment.clone_from(&compilation.assignment);
        if round == 0 {
            // The passes have seen this round's.
            return;
        }
        for imm in &mut tiles.imms {
            *imm = values.in_round(*imm, round);
        }
        for inst in &mut tiles.insts {
            inst.origin = values.in_round(inst.origin as i64, round) as u32;
        }
        for next in &mut assignment.moves {
            if let Source::Const(bits) = &mut next.from {
                *bits = values.in_round(*bits as i64, round) as u64;
            }
        }
    }

    /// Finds the places where the rounds differ. `None` if one of them is not a whole placeholder, or not the same one in all
    /// rounds.
    fn find_holes(&self, distances: &[Unresolved<M>], sums: &[(usize, i64)]) -> Option<Vec<Hole>> {
        let [first, others @ ..] = self.rounds.each_ref().map(|code| &code.bytes);
        let (end, unit) = (self.rounds[0].end as usize, M::MACHINE.unit as usize);
        let mut holes = Vec::new();
        let mut at = 0;
        let mut before = None;
        while at < end {
            // Placeholders differ in the first unit of each field that holds one, so a hole is only where the code differs.
            let end_of_unit = (at + unit).min(end);
            if others.iter().all(|other| other[at..end_of_unit] == first[at..end_of_unit]) {
                at = end_of_unit;
                continue;
            }
            let holds = |(start, form, ..): &Unresolved<M>| {
                (*start..*start + form.field().bytes as u32).contains(&(at as u32))
            };
            if distances.iter().any(holds) {
                return None;
            }
            let (number, add, field) = self.hole(at, sums, before)?;
            let (part, start) = place(&self.rounds[0], at as u32);
            let HoleValue { source, scale, .. } = self.values.list()[number];
            holes.push(Hole { part, at: start, source, scale, add, field });
            at += field.bytes as usize;
            before = Some((number, add));
        }
        // Constants behind the code cannot have holes.
        let is_same = others.iter().all(|other| other[end..] == first[end..]);
        is_same.then_some(holes)
    }

    /// The hole whose value is at a place in all rounds, the number added to it, and the field that holds the sum.
    ///
    /// Where several instructions hold the parts of a constant, the lowest part says what is added: the upper ones belong to
    /// `before`, the last hole that was found, so that a carry out of the lowest part reaches them.
    fn hole(
        &self,
        at: usize,
        sums: &[(usize, i64)],
        before: Option<(usize, i64)>,
    ) -> Option<(usize, i64, Field)> {
        M::MACHINE.immediates.iter().find_map(|field| {
            let holds = |(number, add): &(usize, i64)| self.holds(at, *field, *number, *add);
            let (number, add) = if field.shift > 0 {
                before.filter(holds)?
            } else if is_lowest_part(field) {
                sums.iter().copied().find(holds)?
            } else {
                let mut values = self.values.list().iter().enumerate();
                values.find_map(|(number, value)| {
                    Some((number, self.added(at, *field, number, value.range)?))
                })?
            };
            Some((number, add, *field))
        })
    }

    /// Whether this field holds its part of a hole's value plus a number in all rounds.
    fn holds(&self, at: usize, field: Field, number: usize, add: i64) -> bool {
        let range = self.values.list()[number].range;
        let unused = 64 - field.width;
        let part = |value: i64| value >> field.shift << unused;
        suits(field, range)
            && same(|round| self.field(at, field, round).map(|(_, around)| around)).is_some()
            && (0..ROUNDS).all(|round| {
                let sum = self.values.in_hole(number, round).wrapping_add(add);
                self.field(at, field, round).is_some_and(|(found, _)| part(found) == part(sum))
            })
    }

    /// The number in a field, and the bits around it.
    fn field(&self, at: usize, field: Field, round: usize) -> Option<(i64, u64)> {
        let code = &self.rounds[round];
        let code = code.bytes[..code.end as usize].get(at..at + field.bytes as usize)?;
        Some((field.read(code), field.around(code)))
    }

    /// The number that is added to a hole's value in this field, if it is the same in all rounds.
    fn added(&self, at: usize, field: Field, number: usize, range: Range) -> Option<i64> {
        if !suits(field, range) {
            return None;
        }
        let (_, around) = self.field(at, field, 0)?;
        let reach = if field.width >= 32 { -REACH..REACH } else { 0..1 };
        let unused = 64 - field.width;
        same(|round| {
            let (found, _) = self.field(at, field, round).filter(|(_, found)| *found == around)?;
            // Compares only the bits that the field holds.
            let add = found.wrapping_sub(self.values.in_hole(number, round)) << unused >> unused;
            reach.contains(&add).then_some(add)
        })
    }
}

/// Whether a field is the lowest of several that hold the parts of a constant. It is too narrow to tell what is added to a hole.
fn is_lowest_part(field: &Field) -> bool {
    field.shift == 0 && (12..32).contains(&field.width)
}

/// Each hole with the numbers that the constants of tiles and moves add to it, for machines on which code does not tell.
fn sums<M: Backend>(values: &HoleValues, compilation: &Compilation) -> Vec<(usize, i64)> {
    if !M::MACHINE.immediates.iter().any(is_lowest_part) {
        return Vec::new();
    }
    let Compilation { tiles, assignment, .. } = compilation;
    let consts = assignment.moves.iter().filter_map(|next| match next.from {
        Source::Const(bits) => Some(bits as i64),
        Source::Loc(_) => None,
    });
    let origins = tiles.insts.iter().map(|inst| inst.origin as i64);
    let numbers = tiles.imms.iter().copied().chain(origins).chain(consts);
    let holes = (0..values.list().len()).map(|number| (number, 0));
    let mut sums: Vec<(usize, i64)> = holes.chain(numbers.filter_map(|number| values.find(number))).collect();
    sums.sort_unstable();
    sums.dedup();
    sums
}

/// Whether a field may hold a part of such a value. A placeholder of 32 bits cannot show whether the code extends it with its sign
/// or with zeros, so a wider field may not.
fn suits(field: Field, range: Range) -> bool {
    field.width as u32 + field.shift as u32 <= 32 || range == Range::Any
}

/// The result of `find`, if it is the same in every round.
fn same<T: Copy + PartialEq>(find: impl Fn(usize) -> Option<T>) -> Option<T> {
    let first = find(0)?;
    (1..ROUNDS).all(|round| find(round) == Some(first)).then_some(first)
}
