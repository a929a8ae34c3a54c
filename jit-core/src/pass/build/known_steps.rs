//! Which steps of a template control comes to, for one bytecode.
//!
//! In: a template, the operands of a bytecode, and what its sites have learned. Out: for each step whether control may come there, given what is
//! known: constants, the cases of a site that is full, whether the slow path is left out. Cost: linear in the steps.

use super::FunctionSource;
use super::calls::CalleeAt;
use crate::ir::bytecode::Raw;
use crate::ir::template::{BlockRef, Ref, Step, StepImm, Template};
use crate::vocab::Op;

/// Whether control may come to each step.
pub(super) fn reached_steps(
    source: &FunctionSource<'_>,
    template: &Template,
    raws: &[Raw],
    lacks_slow_path: bool,
) -> Vec<bool> {
    let mut reaches = vec![false; template.blocks as usize];
    let mut values: Vec<Option<u64>> = Vec::new();
    let mut comes = true;
    let mut all = Vec::with_capacity(template.steps.len());
    for step in template.steps {
        let mut reach = |block: BlockRef, comes: bool| reaches[block as usize] |= comes;
        let mut value = None;
        match *step {
            Step::Slow if lacks_slow_path => comes = false,
            // Only loops are entered from behind.
            Step::Block { block, .. } => comes = reaches[block as usize],
            Step::Jump { block, .. } => reach(block, comes),
            Step::Branch { flag, then, otherwise, .. } => {
                let known = values[flag as usize];
                reach(then, comes && known != Some(0));
                reach(otherwise, comes && known.is_none_or(|flag| flag == 0));
            }
            Step::Constant { operand, ty } => value = Some(ty.truncate(raws[operand as usize])),
            Step::SiteValue { operand, offset, ty, learns_slowly } => {
                let site = CalleeAt::Site { operand, offset, learns_slowly };
                value = site.known(source, raws, ty, lacks_slow_path);
            }
            Step::Node { op, sig, inputs, imm: StepImm::Known(imm) } if op != Op::KEPT => {
                let known = |input: &Ref| values[*input as usize];
                let operands: Option<Vec<u64>> = inputs.iter().map(known).collect();
                let reference = source.vocab.info(op).reference;
                if let (Some(mut operands), Some(reference)) = (operands, reference) {
                    operands.push(imm as u64);
                    value = reference(sig, &operands).ok();
                }
            }
            _ => {}
        }
        all.push(comes);
        values.extend(core::iter::repeat_n(value, step.n_values()));
    }
    all
}
