//! The judge of assignments notices every kind of damage that it has to notice.

#![cfg(all(target_arch = "x86_64", unix))]

use azulejo::x64::regs::{R8, RAX, XMM0};
use azulejo_core::check::assignment::assignment as judge;

use azulejo_core::ir::assignment::{Assignment, Loc, Source};
use azulejo_core::ir::index::Slot;
use azulejo_core::ir::tiles::{Constraint, Operand, Role, TileList};
use azulejo_core::pass::{Allocated, Observer, Target};
use azulejo_core::random::Random;
use azulejo_core::vocab::Class;
use azulejo_rig::compare::{Rig, WAYS};
use azulejo_rig::program::program;
use azulejo_rig::run::Verified;

#[derive(Default)]
struct Seen(Vec<(TileList, Assignment)>);

impl Observer for Seen {
    fn assignment(&mut self, _: &Target<'_>, allocated: &Allocated<'_>) {
        self.0.push((allocated.tiles.clone(), allocated.assignment.clone()));
    }
}

/// Assignments of random programs with few registers, which have moves and spill slots.
fn assignments(count: u64) -> Vec<(TileList, Assignment)> {
    let mut rig = Rig::default();
    rig.ways = WAYS.iter().position(|way| way.name == "optimizer with few registers").into_iter().collect();
    let mut seen = Seen::default();
    for seed in 0..count {
        let program = program(&mut Random::new(seed), 50);
        let program = Verified::new(&program).expect("it is a good one");
        assert_eq!(rig.show(&program, &mut seen), Ok(()));
    }
    seen.0
}

/// Damages assignments wherever `damage` can, and checks that the judge reports it. A few damages do no harm: a move may
/// bring a value that no path reads.
#[track_caller]
fn notices(words: &str, mut damage: impl FnMut(&TileList, &mut Assignment, usize) -> bool) {
    let (mut damaged, mut told) = (0, 0);
    for (tiles, right) in assignments(24) {
        assert_eq!(judge(&tiles, &right), []);
        let n_places = right.locs.len().max(right.moves.len()) + 1;
        for at in (0..n_places).step_by(1 + n_places / 40) {
            let mut wrong = right.clone();
            if !damage(&tiles, &mut wrong, at) {
                continue;
            }
            damaged += 1;
            let said = judge(&tiles, &wrong);
            told += said.iter().any(|violation| violation.to_string().contains(words)) as u32;
        }
    }
    assert!(damaged >= 10, "only {damaged} could be damaged");
    assert!(told * 10 >= damaged * 9, "`{words}` is told {told} times of {damaged}");
}

fn operand(tiles: &TileList, at: usize, fits: impl Fn(&Operand) -> bool) -> Option<&Operand> {
    tiles.operands.get(at).filter(|operand| fits(operand))
}

/// Assigns another place to the operand at a position, if the operand fits.
fn elsewhere(
    tiles: &TileList,
    wrong: &mut Assignment,
    at: usize,
    to: Loc,
    fits: impl Fn(&Operand) -> bool,
) -> bool {
    let fits = operand(tiles, at, fits).is_some();
    if fits {
        wrong.locs[at] = to;
    }
    fits
}

fn is_read(operand: &Operand) -> bool {
    matches!(operand.role, Role::Use | Role::LateUse)
}

fn class(tiles: &TileList, operand: &Operand) -> Class {
    tiles.vregs[operand.vreg.at()].ty.class()
}

#[test]
fn a_missing_place() {
    notices("not every operand has a place", |_, wrong, _| wrong.locs.pop().is_some());
}

#[test]
fn moves_out_of_order() {
    notices("are not in the order of the instructions", |_, wrong, at| {
        let is_pair = at + 1 < wrong.moves.len() && wrong.moves[at].before < wrong.moves[at + 1].before;
        if is_pair {
            wrong.moves.swap(at, at + 1);
        }
        is_pair
    });
}

#[test]
fn a_move_that_is_missing() {
    notices("reads a place that does not hold the value", |_, wrong, at| {
        // A slot may be written for paths that never read it, and a constant may be in its register already.
        let is_needed = wrong.moves.get(at).is_some_and(|moved| {
            matches!((moved.from, moved.to), (Source::Loc(_), Loc::Reg(_) | Loc::OutArg(_)))
        });
        if is_needed {
            // One of several equal moves may be redundant, so all of them are removed.
            let gone = wrong.moves[at];
            wrong.moves.retain(|moved| (moved.from, moved.to) != (gone.from, gone.to));
        }
        is_needed
    });
}

#[test]
fn a_move_from_elsewhere() {
    notices("reads a place that does not hold the value", |tiles, wrong, at| {
        let Some(moved) = wrong.moves.get(at).copied() else { return false };
        // What it brings may be read on no path; that all those that are read are missed is another test.
        let mut without = wrong.clone();
        without.moves.remove(at);
        let is_needed = moved.from != Source::Const(0x1234_5678) && !judge(tiles, &without).is_empty();
        if is_needed {
            wrong.moves[at].from = Source::Const(0x1234_5678);
        }
        is_needed
    });
}

#[test]
fn a_move_of_nothing() {
    notices("a move takes what nothing is known of", |_, wrong, at| {
        let slots = wrong.slots;
        match wrong.moves.get_mut(at) {
            Some(moved) => {
                moved.from = Source::Loc(Loc::Slot(Slot(slots + 7)));
                true
            }
            None => false,
        }
    });
}

#[test]
fn a_move_to_elsewhere() {
    notices("writes a spill slot that there is not", |_, wrong, at| {
        let slots = wrong.slots;
        match wrong.moves.get_mut(at) {
            Some(moved) => {
                moved.to = Loc::Slot(Slot(slots));
                true
            }
            None => false,
        }
    });
}

#[test]
fn an_operand_read_elsewhere() {
    notices("reads a place that does not hold the value", |tiles, wrong, at| {
        elsewhere(tiles, wrong, at, Loc::Reg(R8), |operand| {
            is_read(operand) && operand.constraint == Constraint::Reg && class(tiles, operand) == Class::Int
        })
    });
}

#[test]
fn a_fixed_operand_elsewhere() {
    notices("is not where it must be", |tiles, wrong, at| {
        elsewhere(
            tiles,
            wrong,
            at,
            Loc::Reg(R8),
            |operand| matches!(operand.constraint, Constraint::Fixed(reg) if reg != R8),
        )
    });
}

#[test]
fn a_tied_result_elsewhere() {
    notices("is not where it must be", |tiles, wrong, at| {
        elsewhere(tiles, wrong, at, Loc::Reg(R8), |operand| matches!(operand.constraint, Constraint::Tied(_)))
    });
}

#[test]
fn an_argument_elsewhere() {
    notices("is not where it must be", |tiles, wrong, at| {
        let fits = |operand: &Operand| matches!(operand.constraint, Constraint::OutArg(_));
        // Such operands are rare, so search for the next one.
        let next = (at..tiles.operands.len()).find(|next| operand(tiles, *next, fits).is_some());
        next.is_some_and(|next| elsewhere(tiles, wrong, next, Loc::OutArg(99), fits))
    });
}

#[test]
fn a_register_of_the_other_class() {
    notices("is in a register of the other class", |tiles, wrong, at| {
        let Some(operand) = tiles.operands.get(at) else { return false };
        wrong.locs[at] = Loc::Reg(if class(tiles, operand) == Class::Int { XMM0 } else { RAX });
        true
    });
}

#[test]
fn a_register_that_is_not_told() {
    notices("writes a register that is not said to be used", |tiles, wrong, at| {
        let fits = |operand: &Operand| !is_read(operand);
        let Some(Loc::Reg(reg)) = operand(tiles, at, fits).map(|_| wrong.locs[at]) else { return false };
        wrong.used.remove(reg);
        true
    });
}

#[test]
fn too_few_spill_slots() {
    notices("writes a spill slot that there is not", |_, wrong, _| {
        let has_slots = wrong.moves.iter().any(|moved| matches!(moved.to, Loc::Slot(_)));
        wrong.slots = 0;
        has_slots
    });
}

#[test]
fn two_operands_in_one_register() {
    notices("share a register at once", |tiles, wrong, at| {
        let Some(inst) = tiles.insts.iter().find(|inst| inst.operands.range().contains(&at)) else {
            return false;
        };
        let range = inst.operands.range();
        let other = range.clone().find(|other| {
            let (a, b) = (&tiles.operands[at], &tiles.operands[*other]);
            let both = is_read(a) && is_read(b) && a.vreg != b.vreg;
            *other != at && both && class(tiles, a) == class(tiles, b)
        });
        match other {
            Some(other)
                if matches!(wrong.locs[other], Loc::Reg(_)) && matches!(wrong.locs[at], Loc::Reg(_)) =>
            {
                wrong.locs[at] = wrong.locs[other];
                true
            }
            _ => false,
        }
    });
}

/// Adds clobbers to the tiles instead of damaging the assignment, which was made without them.
#[test]
fn what_an_instruction_destroys() {
    let mut noticed = 0;
    for (mut tiles, right) in assignments(24) {
        for at in 0..tiles.insts.len() {
            let operands = tiles.insts[at].operands.range();
            let late = operands.clone().find(|index| {
                matches!(tiles.operands[*index].role, Role::Temp | Role::LateUse)
                    && matches!(right.locs[*index], Loc::Reg(_))
            });
            let Some(Loc::Reg(reg)) = late.map(|index| right.locs[index]) else { continue };
            let before = tiles.insts[at].clobbers;
            tiles.insts[at].clobbers.insert(reg);
            let said = judge(&tiles, &right);
            tiles.insts[at].clobbers = before;
            assert!(
                said.iter()
                    .any(|violation| violation.to_string().contains("is overwritten while it is needed")),
                "{said:?}"
            );
            noticed += 1;
        }
    }
    assert!(noticed > 10, "{noticed}");
}
