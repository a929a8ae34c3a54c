//! Make a stencil: the machine code of an opcode, with holes that each bytecode fills.
//!
//! In: an opcode's template. Out: a [`Stencil`]. The template goes through the passes like a function of its own, with a placeholder
//! in each hole. Its tiles are emitted several times with different placeholders. Where the results differ, there must be a whole
//! placeholder, and that place is a hole. Any other difference (an immediate folded into something, an encoding that depends on
//! a number's sign) is found, and the opcode is compiled again with constants of any value. If that fails too, the opcode has no
//! stencil. So a stencil is right if its tiles are: no tile knows that it is used for one.

use crate::emit::{Code, Emitter, Options, Scratch as Emission, Set};
use crate::jump::Jump;
use crate::regs::CALLEE_SAVED;
use azulejo_code::emit::{Form, Goal, LEFT, NEXT, OUT, Outline, emit_as};
use azulejo_core::error::Error;
use azulejo_core::ir::assignment::{Assignment, Source as From};
use azulejo_core::ir::index::Node;
use azulejo_core::ir::stencil::{HoleValue, HoleValues, REACH, ROUNDS, Range, Source, placeholder};
use azulejo_core::ir::tiles::TileList;
use azulejo_core::pass::build::{StencilFacts, StencilRequest};
use azulejo_core::pass::{Compilation, Observer, Target};
use azulejo_core::target::RegSet;
use azulejo_core::vocab::Op;

/// Where cold parts and the constants behind them start.
pub(crate) const COLD_ALIGNMENT: usize = 16;

/// A template's machine code with holes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stencil {
    /// The code that runs from bytecode to bytecode.
    pub(crate) hot: Vec<u8>,
    /// Code that stands apart, at a multiple of [`COLD_ALIGNMENT`], and the constants.
    pub(crate) cold: Vec<u8>,
    pub(crate) holes: Vec<Hole>,
    pub(crate) distances: Vec<Distance>,
    /// Where accesses may fault: the part, where it starts and ends there, and the trap's code.
    pub(crate) sites: Vec<(Part, u32, u32, u32)>,
    /// The value it leaves cached, and how it uses the one it finds cached.
    pub(crate) facts: StencilFacts,
    /// How much of the machine's stack it uses.
    pub(crate) frame_bytes: u32,
    /// The registers that it uses and a function must give back.
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
    pub(crate) source: Source,
    pub(crate) scale: u8,
    pub(crate) add: i64,
    pub(crate) bits: Bits,
}

/// The bits of the value that stand in the code.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Bits {
    All,
    Low32,
    High32,
    /// These bits of the lowest byte.
    Low(u8),
}

impl Bits {
    /// How many bytes the hole has.
    fn bytes(self) -> usize {
        match self {
            Bits::All => 8,
            Bits::Low32 | Bits::High32 => 4,
            Bits::Low(_) => 1,
        }
    }
}

/// A place of 32 bits that holds a distance, counted from behind the place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Distance {
    pub(crate) part: Part,
    pub(crate) at: u32,
    pub(crate) to: Place,
}

/// Where a distance leads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Place {
    /// The next bytecode.
    Next,
    /// The bytecode that this label operand names.
    Label(u8),
    /// Out of the function.
    Out,
    /// Out of it before its end.
    Left,
    /// Something outside of the function.
    Address(u64),
    /// So far into a part of this stencil.
    In(Part, u32),
}

/// A distance that stays open: where it is, what kind of place that is, where it leads, and how far into the code that is.
type Open = (u32, Jump, Goal, Option<u32>);

/// Memory used for making stencils.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    values: HoleValues,
    rounds: [Code; ROUNDS],
    tiles: TileList,
    assignment: Assignment,
}

/// Makes the stencil of an opcode.
pub(crate) fn make(
    scratch: &mut Scratch,
    compilation: &mut Compilation,
    emission: &mut Emission,
    (target, set, options): (&Target<'_>, &Set, &Options),
    request: &StencilRequest<'_>,
    observer: &mut dyn Observer,
) -> Result<Stencil, Error> {
    let facts = compilation.stencil(request, &mut scratch.values, target, observer)?;
    let mut distances = Vec::new();
    for round in 0..ROUNDS {
        scratch.write_round(compilation, round);
        let Scratch { tiles, assignment, rounds, .. } = scratch;
        let outline = outline(compilation, tiles, assignment);
        let form = Form::<fn(&mut Emitter) -> u32>::Stencil(outline);
        emit_as(emission, tiles, assignment, set, options, form, &mut rounds[round])?;
        let found: Vec<Open> = emission.buffer().open_distances(&rounds[round]).collect();
        if round == 0 {
            distances = found;
        } else if distances != found {
            return Err(Error::Internal("stencil"));
        }
    }
    let code = &scratch.rounds[0];
    let ends = |code: &Code| (code.cold, code.end, code.bytes.len());
    if !scratch.rounds.iter().all(|other| ends(other) == ends(code)) {
        return Err(Error::Internal("stencil"));
    }
    let cold_start = code.cold as usize & !(COLD_ALIGNMENT - 1);
    let place = |at: u32| match at < code.cold {
        true => (Part::Hot, at),
        false => (Part::Cold, at - cold_start as u32),
    };
    let mut stencil = Stencil {
        hot: code.bytes[..code.cold as usize].to_vec(),
        cold: Vec::new(),
        holes: scratch.find_holes(&distances, place).ok_or(Error::Internal("stencil"))?,
        distances: Vec::new(),
        sites: Vec::new(),
        facts,
        saved: compilation.assignment.used.intersection(CALLEE_SAVED),
        frame_bytes: (compilation.tiles.out_args as u32 + compilation.assignment.slots) * 8,
    };
    if code.bytes.len() > code.cold as usize {
        stencil.cold = code.bytes[cold_start..].to_vec();
    }
    for site in &code.sites {
        let (part, start) = place(site.start);
        stencil.sites.push((part, start, start + site.end - site.start, site.code));
    }
    for (at, _, target, to) in distances {
        let (part, at) = place(at);
        let to = match (target, to) {
            (_, Some(to)) => {
                let (part, to) = place(to);
                Place::In(part, to)
            }
            (Goal::Exit(NEXT), _) => Place::Next,
            (Goal::Exit(OUT), _) => Place::Out,
            (Goal::Exit(LEFT), _) => Place::Left,
            (Goal::Address(address), _) => Place::Address(address),
            (Goal::Exit(exit), _) => Place::Label(exit as u8 - 1),
            (other, None) => unreachable!("{other:?} is in the code"),
        };
        stencil.distances.push(Distance { part, at, to });
    }
    Ok(stencil)
}

/// Which blocks do nothing but go to another bytecode, and which goes to the next.
fn outline(compilation: &Compilation, tiles: &TileList, assignment: &Assignment) -> Outline {
    let mut outline = Outline { exits: vec![None; tiles.position.len()], next: None };
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
        let has_moves = assignment.moves.iter().any(|next| next.before as usize == last);
        if block.insts.len == 1 && !has_moves {
            outline.exits[block.block.at()] = Some(exit);
        }
    }
    outline
}

impl Scratch {
    /// Copies tiles and assignment with the placeholders of a round.
    fn write_round(&mut self, compilation: &Compilation, round: usize) {
        let Scratch { values, tiles, assignment, .. } = self;
        tiles.clone_from(&compilation.tiles);
        assignment.clone_from(&compilation.assignment);
        for imm in &mut tiles.imms {
            *imm = values.in_round(*imm, round);
        }
        for inst in &mut tiles.insts {
            inst.origin = values.in_round(inst.origin as i64, round) as u32;
        }
        for next in &mut assignment.moves {
            if let From::Const(bits) = &mut next.from {
                *bits = values.in_round(*bits as i64, round) as u64;
            }
        }
    }

    /// Finds where the rounds differ. `None` if that is not always a whole placeholder, and the same.
    fn find_holes(&self, distances: &[Open], place: impl Fn(u32) -> (Part, u32)) -> Option<Vec<Hole>> {
        let [first, others @ ..] = self.rounds.each_ref().map(|code| &code.bytes);
        let end = self.rounds[0].end as usize;
        let mut holes = Vec::new();
        let mut at = 0;
        while at < end {
            let is_distance = distances.iter().any(|(start, ..)| (*start..start + 4).contains(&(at as u32)));
            if let Some((open, add, bits)) = (!is_distance).then(|| self.hole(at)).flatten() {
                let (part, start) = place(at as u32);
                let HoleValue { source, scale, .. } = self.values.list()[open];
                holes.push(Hole { part, at: start, source, scale, add, bits });
                at += bits.bytes();
                continue;
            }
            if others.iter().any(|other| other[at] != first[at]) {
                return None;
            }
            at += 1;
        }
        // Constants behind the code are as they are.
        let is_same = others.iter().all(|other| other[end..] == first[end..]);
        is_same.then_some(holes)
    }

    /// Which open value stands at a place in all rounds.
    fn hole(&self, at: usize) -> Option<(usize, i64, Bits)> {
        let values = || self.values.list().iter().enumerate();
        let whole = values().find_map(|(open, &HoleValue { range, .. })| {
            let number = |round| placeholder(open, range, round);
            // The whole value, where it is longer than 32 bits.
            let all = same(|round| {
                let distance = (self.field(round, at, 8)? as i64).wrapping_sub(number(round));
                (range == Range::Any && (-REACH..REACH).contains(&distance)).then_some(distance)
            });
            let low = || {
                same(|round| {
                    let low = self.field(round, at, 4)? as u32;
                    let distance = low.wrapping_sub(number(round) as u32) as i32 as i64;
                    (-REACH..REACH).contains(&distance).then_some(distance)
                })
            };
            let is_upper =
                |round| self.field(round, at, 4).is_some_and(|upper| upper == number(round) as u64 >> 32);
            let high =
                || (range == Range::Any && (0..ROUNDS).all(is_upper)).then_some((open, 0, Bits::High32));
            let all = all.map(|add| (open, add, Bits::All));
            all.or_else(|| low().map(|add| (open, add, Bits::Low32))).or_else(high)
        });
        whole.or_else(|| {
            values().find_map(|(open, &HoleValue { range, .. })| {
                // The number of a shift, of which only so many bits count.
                let is_masked = |mask: u8| {
                    (0..ROUNDS).all(|round| {
                        let low = placeholder(open, range, round) as u8 & mask;
                        self.field(round, at, 1) == Some(low as u64)
                    })
                };
                let mask =
                    (3..=8).map(|bits| (0xff_u16 >> (8 - bits)) as u8).find(|mask| is_masked(*mask))?;
                Some((open, 0, Bits::Low(mask)))
            })
        })
    }

    /// So many bytes of a round's code.
    fn field(&self, round: usize, at: usize, bytes: usize) -> Option<u64> {
        let code = &self.rounds[round];
        let field = code.bytes[..code.end as usize].get(at..at + bytes)?;
        let mut all = [0; 8];
        all[..bytes].copy_from_slice(field);
        Some(u64::from_le_bytes(all))
    }
}

/// What is found in each round, if it is the same in all.
fn same(find: impl Fn(usize) -> Option<i64>) -> Option<i64> {
    let first = find(0)?;
    (1..ROUNDS).all(|round| find(round) == Some(first)).then_some(first)
}
