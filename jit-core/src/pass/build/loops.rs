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
}

/// For each block of a template, whether it is the head of a loop that leaves VM registers as they are.
pub(super) fn keepers(template: &Template, vocab: Vocabulary) -> Vec<bool> {
    let n_blocks = template.blocks as usize;
    // Where each block starts, and the first edge into it.
    let (mut starts, mut entries) = (vec![None; n_blocks], vec![None; n_blocks]);
    let mut loops: Vec<Loop> = Vec::new();
    for (at, step) in template.steps.iter().enumerate() {
        let mut edge = |block: BlockRef| {
            entries[block as usize].get_or_insert(at);
            let Some(start) = starts[block as usize] else { return };
            match loops.iter_mut().find(|known| known.block == block) {
                Some(known) => known.steps.end = at,
                None => loops.push(Loop { block, steps: start..at }),
            }
        };
        match *step {
            Step::Jump { block, .. } | Step::General { none: block } => edge(block),
            Step::Branch { then, otherwise, .. } => {
                edge(then);
                edge(otherwise);
            }
            Step::Block { block, .. } => starts[block as usize] = Some(at),
            _ => {}
        }
    }
    // Control may leave a loop's steps and come back by the head of one within, which that one's steps tell.
    let writes = |known: &Loop| !template.steps[known.steps.clone()].iter().all(|step| keeps(step, vocab));
    let writing: Vec<usize> =
        loops.iter().filter(|known| writes(known)).map(|known| known.steps.start).collect();
    let mut all = vec![false; n_blocks];
    for known in &loops {
        let Loop { block, ref steps } = *known;
        let is_written = writing.iter().any(|start| steps.contains(start));
        // What comes into the middle of the loop has not passed its head.
        let is_entered_within =
            core::iter::zip(&starts, &entries).enumerate().any(|(other, (start, entry))| {
                let is_within = other != block as usize && start.is_some_and(|start| steps.contains(&start));
                is_within && entry.is_some_and(|entry| entry < steps.start)
            });
        all[block as usize] = !is_written && !is_entered_within;
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
        | Step::Outside { .. }
        | Step::Block { .. }
        | Step::Jump { .. }
        | Step::Branch { .. } => true,
        _ => false,
    }
}
