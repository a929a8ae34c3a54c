//! Which loops of a template leave all VM registers as they are.
//!
//! In: a template. Out: for each block that is entered from behind, whether nothing on the way around may write a VM register, or memory.
//! What a stencil knows of registers in front of such a loop is true in it. Cost: linear in the steps, and quadratic in the loops.

use crate::ir::template::{BlockRef, Step, Template};
use crate::vocab::{Op, Props, Vocabulary};

/// A block that is entered from behind, and the steps from its start to the last edge into it.
struct Loop {
    block: BlockRef,
    steps: core::ops::Range<usize>,
    keeps: bool,
}

/// For each block of a template, whether it is the head of a loop that leaves VM registers as they are.
pub(super) fn keepers(template: &Template, vocab: Vocabulary) -> Vec<bool> {
    let mut starts = vec![None; template.blocks as usize];
    let mut loops: Vec<Loop> = Vec::new();
    for (at, step) in template.steps.iter().enumerate() {
        let mut edge = |block: BlockRef| {
            let Some(start) = starts[block as usize] else { return };
            match loops.iter_mut().find(|known| known.block == block) {
                Some(known) => known.steps.end = at,
                None => loops.push(Loop { block, steps: start..at, keeps: true }),
            }
        };
        match *step {
            Step::Jump { block, .. } => edge(block),
            Step::Branch { then, otherwise, .. } => {
                edge(then);
                edge(otherwise);
            }
            Step::Block { block, .. } => starts[block as usize] = Some(at),
            _ => {}
        }
    }
    for known in &mut loops {
        known.keeps = template.steps[known.steps.clone()].iter().all(|step| keeps(step, vocab));
    }
    // Control may leave a loop's steps and come back by the head of one within, which that one's steps tell.
    let changing: Vec<usize> =
        loops.iter().filter(|known| !known.keeps).map(|known| known.steps.start).collect();
    let mut all = vec![false; template.blocks as usize];
    for known in &loops {
        let is_changed = changing.iter().any(|start| known.steps.contains(start));
        all[known.block as usize] = known.keeps && !is_changed;
    }
    all
}

/// Whether a step leaves VM registers and memory as they are, and gives nobody the address of a register.
fn keeps(step: &Step, vocab: Vocabulary) -> bool {
    match *step {
        Step::Node { op, .. } => op != Op::LOCAL && !vocab.info(op).props.contains(Props::WRITES),
        Step::Read { .. }
        | Step::Constant { .. }
        | Step::WindowLength { .. }
        | Step::SiteValue { .. }
        | Step::KnownCase { .. }
        | Step::Block { .. }
        | Step::Jump { .. }
        | Step::Branch { .. } => true,
        _ => false,
    }
}
