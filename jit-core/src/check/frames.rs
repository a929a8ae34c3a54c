//! Judge of late frames: what runs before the frame is made does without it.
//!
//! In: a tile list with an assignment, and the registers that callees save. Out: violations.

use super::Violation;
use crate::ir::assignment::{Assignment, Loc, Source};
use crate::ir::index::InstId;
use crate::ir::tiles::{TileBlock, TileList};
use crate::target::RegSet;

/// All violations in the order of the blocks.
pub fn frames(tiles: &TileList, assignment: &Assignment, callee_saved: RegSet) -> Vec<Violation> {
    let mut found = Vec::new();
    let mut wrong = |place: String, problem: String| found.push(Violation { place, problem });
    let entry = &tiles.blocks[0];
    if assignment.has_late_frame && entry.framed {
        wrong(entry.block.to_string(), "has the frame, which is made late".into());
    }
    // By position: a block with the frame, and one without it, that lead there.
    let mut preds = vec![[None::<&TileBlock>; 2]; tiles.blocks.len()];
    for block in &tiles.blocks {
        for edge in tiles.edges(block) {
            preds[tiles.position[edge.to.at()] as usize][block.framed as usize] = Some(block);
        }
    }
    for (block, [without, with]) in core::iter::zip(&tiles.blocks, preds) {
        if let Some(with) = with.filter(|_| !block.framed || without.is_some()) {
            let problem = match without {
                Some(without) => {
                    format!("is entered from {}, with the frame, and from {}", with.block, without.block)
                }
                None => format!("has no frame, and is entered from {}, which has one", with.block),
            };
            wrong(block.block.to_string(), problem);
        }
        if block.uses_frame && !block.framed {
            wrong(block.block.to_string(), "uses the frame, which is not there".into());
        }
        let is_cold = block.cold && !block.framed;
        if is_cold {
            wrong(block.block.to_string(), "is cold, and has no frame".into());
        }
    }
    if !assignment.has_late_frame {
        return found;
    }
    let is_framed = |loc: Loc| match loc {
        Loc::Reg(reg) => callee_saved.contains(reg),
        Loc::Slot(_) | Loc::OutArg(_) => true,
    };
    for block in tiles.blocks.iter().filter(|block| !block.framed) {
        for inst in block.insts.range() {
            let operands = &assignment.locs[tiles.insts[inst].operands.range()];
            let moves = assignment.moves.iter().filter(|moved| moved.before == InstId::from(inst));
            let moved = moves.flat_map(|moved| {
                let from = match moved.from {
                    Source::Loc(loc) => Some(loc),
                    Source::Const(_) => None,
                };
                from.into_iter().chain([moved.to])
            });
            for loc in operands.iter().copied().chain(moved).filter(|loc| is_framed(*loc)) {
                wrong(format!("{}: {inst}", block.block), format!("uses {loc:?} without the frame"));
            }
            if !tiles.insts[inst].clobbers.intersection(callee_saved).is_empty() {
                wrong(format!("{}: {inst}", block.block), "changes a register that callees save".into());
            }
        }
    }
    found
}
