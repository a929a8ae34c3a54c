//! Which steps of a template control comes to.
//!
//! In: a template, and which of its values are known. Out: the steps to which control may come. Cost: what follows from the template alone is
//! found once, linear in its steps ([`ControlFlow`]); then it is linear in the blocks that control comes to, and in what computes the flags
//! there.

use super::FunctionSource;
use super::calls::{CalleeAt, OpcodeCalls};
use crate::ir::bytecode::Raw;
use crate::ir::sites::COUNT_OFFSET;
use crate::ir::template::{BlockRef, Ref, Step, StepImm, Template};
use crate::vocab::{Op, Vocabulary};

/// No operator that only computes has more inputs.
const MAX_INPUTS: usize = 3;

/// Where control goes in a template.
#[derive(Debug)]
pub(super) struct ControlFlow {
    /// The blocks in order. The first has no number.
    blocks: Vec<ControlBlock>,
    /// For each block's number, which of the blocks it is.
    by_number: Vec<u32>,
    /// For each value the step that computes it, or [`NEVER_KNOWN`].
    computed_by: Vec<u32>,
}

/// Stands for the step of a value of which nothing will be known, since what it depends on is never known.
const NEVER_KNOWN: u32 = u32::MAX;

#[derive(Clone, Copy, Debug)]
struct ControlBlock {
    start: u32,
    /// Where the slow path starts, if it does so in this block.
    slow: Option<u32>,
    end: ControlEnd,
}

/// Where control goes from a block, within the template.
#[derive(Clone, Copy, Debug)]
enum ControlEnd {
    Leaves,
    Jump(BlockRef),
    Branch(Ref, BlockRef, BlockRef),
}

/// The steps of a template to which control may come.
pub(super) struct ReachedSteps<'a> {
    control: &'a ControlFlow,
    lacks_slow_path: bool,
    /// For each block, in order.
    comes: Vec<bool>,
}

impl ControlFlow {
    pub(super) fn of(vocab: Vocabulary, template: &Template) -> ControlFlow {
        let mut blocks = vec![ControlBlock { start: 0, slow: None, end: ControlEnd::Leaves }];
        let (mut by_number, mut computed_by) = (vec![0; template.blocks as usize], Vec::new());
        for (number, step) in template.steps.iter().enumerate() {
            let start = number as u32;
            if let Step::Block { block, .. } = *step {
                by_number[block as usize] = blocks.len() as u32;
                blocks.push(ControlBlock { start, slow: None, end: ControlEnd::Leaves });
            }
            let block = blocks.last_mut().expect("there is the first");
            match *step {
                Step::Slow => _ = block.slow.get_or_insert(start),
                Step::Jump { block: to, .. } => block.end = ControlEnd::Jump(to),
                Step::Branch { flag, then, otherwise, .. } => {
                    block.end = ControlEnd::Branch(flag, then, otherwise);
                }
                _ => {}
            }
            let may_be_known = match *step {
                Step::Constant { .. } | Step::SiteValue { .. } | Step::Node { op: Op::KEPT, .. } => true,
                Step::Node { op, inputs, imm: StepImm::Known(_), .. } => {
                    let may_be = |input: &Ref| computed_by[*input as usize] != NEVER_KNOWN;
                    vocab.info(op).reference.is_some() && inputs.iter().all(may_be)
                }
                _ => false,
            };
            let by = if may_be_known { start } else { NEVER_KNOWN };
            computed_by.extend(core::iter::repeat_n(by, step.n_values()));
        }
        ControlFlow { blocks, by_number, computed_by }
    }

    /// To which steps control may come, also without the slow path if that is left out. `flag` is asked for flags.
    fn reached(&self, lacks_slow_path: bool, mut flag: impl FnMut(Ref) -> Option<u64>) -> ReachedSteps<'_> {
        let mut comes = vec![false; self.blocks.len()];
        comes[0] = true;
        let mut next = vec![0];
        while let Some(at) = next.pop() {
            let ControlBlock { slow, end, .. } = self.blocks[at as usize];
            if slow.is_some() && lacks_slow_path {
                continue;
            }
            let mut reach = |block: BlockRef| {
                let to = self.by_number[block as usize];
                if !core::mem::replace(&mut comes[to as usize], true) {
                    next.push(to);
                }
            };
            match end {
                ControlEnd::Leaves => {}
                ControlEnd::Jump(to) => reach(to),
                ControlEnd::Branch(condition, then, otherwise) => {
                    let known = flag(condition);
                    if known != Some(0) {
                        reach(then);
                    }
                    if known.is_none_or(|flag| flag == 0) {
                        reach(otherwise);
                    }
                }
            }
        }
        ReachedSteps { control: self, lacks_slow_path, comes }
    }
}

impl ReachedSteps<'_> {
    /// Whether control may come to a step.
    pub(super) fn contains(&self, step: usize) -> bool {
        let behind = self.control.blocks.partition_point(|block| block.start as usize <= step);
        let is_left_out = |slow: u32| self.lacks_slow_path && slow as usize <= step;
        self.comes[behind - 1] && !self.control.blocks[behind - 1].slow.is_some_and(is_left_out)
    }
}

/// What is known of a template's values, found where it is asked for.
struct KnownValues<'a, F> {
    vocab: Vocabulary,
    template: &'a Template,
    control: &'a ControlFlow,
    /// What a step gives that computes nothing, if that is known.
    given: F,
    /// Those that were asked for.
    found: Vec<(Ref, Option<u64>)>,
}

impl<F: Fn(&Step) -> Option<u64>> KnownValues<'_, F> {
    fn get(&mut self, value: Ref) -> Option<u64> {
        let computed_by = self.control.computed_by[value as usize];
        if computed_by == NEVER_KNOWN {
            return None;
        }
        if let Some((_, known)) = self.found.iter().find(|(other, _)| *other == value) {
            return *known;
        }
        let step = &self.template.steps[computed_by as usize];
        let known = match step {
            Step::Node { op, .. } if *op != Op::KEPT => self.computed(step),
            _ => (self.given)(step),
        };
        self.found.push((value, known));
        known
    }

    /// What a step computes of values that are known.
    fn computed(&mut self, step: &Step) -> Option<u64> {
        let Step::Node { op, sig, inputs, imm: StepImm::Known(imm) } = *step else { return None };
        let reference = self.vocab.info(op).reference?;
        let mut operands = [imm as u64; MAX_INPUTS + 1];
        let known = operands.get_mut(..inputs.len()).filter(|known| known.len() <= MAX_INPUTS)?;
        for (known, input) in core::iter::zip(known, inputs.iter()) {
            *known = self.get(*input)?;
        }
        reference(sig, &operands[..=inputs.len()]).ok()
    }
}

/// Whether control comes to each step without the slow path.
pub(super) fn quick_steps(template: &Template) -> Vec<bool> {
    let mut reaches = vec![false; template.blocks as usize];
    let mut comes = true;
    let comes_to = |step: &Step| {
        let mut reach = |block: BlockRef| reaches[block as usize] |= comes;
        match *step {
            Step::Slow => comes = false,
            // Control comes to each block from an earlier one: only loops are entered again from behind.
            Step::Block { block, .. } => comes = reaches[block as usize],
            Step::Jump { block, .. } => reach(block),
            Step::Branch { then, otherwise, .. } => {
                reach(then);
                reach(otherwise);
            }
            _ => {}
        }
        comes
    };
    template.steps.iter().map(comes_to).collect()
}

/// To which steps control comes also if the memory is not made that the template makes.
pub(super) fn steps_without_made<'a>(
    vocab: Vocabulary,
    template: &'a Template,
    control: &'a ControlFlow,
) -> ReachedSteps<'a> {
    let given = |step: &Step| matches!(step, Step::Node { op: Op::KEPT, .. }).then_some(0);
    let mut values = KnownValues { vocab, template, control, given, found: Vec::new() };
    control.reached(false, |flag| values.get(flag))
}

/// To which steps control comes without the slow path, if a site has no cases.
pub(super) fn steps_without_cases<'a>(
    vocab: Vocabulary,
    template: &'a Template,
    control: &'a ControlFlow,
    site: u8,
) -> ReachedSteps<'a> {
    let given = |step: &Step| match *step {
        Step::SiteValue { operand, offset, .. } => {
            (operand == site && offset as usize == COUNT_OFFSET).then_some(0)
        }
        _ => None,
    };
    let mut values = KnownValues { vocab, template, control, given, found: Vec::new() };
    control.reached(true, |flag| values.get(flag))
}

/// To which steps control may come for one bytecode, given its constants and what its sites have learned.
pub(super) fn steps_of_bytecode<'a>(
    source: &FunctionSource<'_>,
    (opcode, calls): (usize, &'a OpcodeCalls),
    raws: &[Raw],
    lacks_slow_path: bool,
) -> ReachedSteps<'a> {
    let (vocab, template) = (source.vocab, source.templates[opcode]);
    let control = calls.control(vocab, template);
    let given = |step: &Step| match *step {
        Step::Constant { operand, ty } => Some(ty.truncate(raws[operand as usize])),
        Step::SiteValue { operand, offset, ty, learns_slowly } => {
            let site = CalleeAt::Site { operand, offset, learns_slowly };
            site.known(source, raws, ty, lacks_slow_path)
        }
        _ => None,
    };
    let mut values = KnownValues { vocab, template, control, given, found: Vec::new() };
    control.reached(lacks_slow_path, |flag| values.get(flag))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::list::{Refs, TypeList};
    use crate::ir::template::Likelihood;
    use crate::vocab::{Sig, Type};

    const fn flag(op: Op, inputs: &[Ref]) -> Step {
        let sig = Sig { from: Type::I64, ty: Type::Flag };
        Step::Node { op, sig, inputs: Refs::of(inputs), imm: StepImm::Known(0) }
    }

    const fn block(block: BlockRef) -> Step {
        Step::Block { block, params: TypeList::EMPTY, cold: false }
    }

    const fn branch(flag: Ref, then: BlockRef, otherwise: BlockRef) -> Step {
        Step::Branch { flag, then, otherwise, likelihood: Likelihood::Even }
    }

    /// A constant decides first, then a register, then the opposite of what the constant says. One way has a loop, one the slow path.
    const STEPS: &[Step] = &[
        Step::Constant { operand: 0, ty: Type::I64 },
        flag(Op::NZ, &[0]),
        branch(1, 1, 2),
        block(1),
        Step::Read { operand: 1, ty: Type::I64 },
        flag(Op::NZ, &[2]),
        branch(3, 1, 3),
        block(2),
        Step::Slow,
        Step::Next,
        block(3),
        Step::Node {
            op: Op::NOTF,
            sig: Sig { from: Type::Void, ty: Type::Flag },
            inputs: Refs::of(&[1]),
            imm: StepImm::Known(0),
        },
        branch(4, 2, 4),
        block(4),
        Step::Next,
    ];

    /// The steps that are reached, if the constant is known or not.
    fn reached(constant: Option<u64>, lacks_slow_path: bool) -> Vec<usize> {
        let (vocab, template) = (Vocabulary::BUILTIN, &Template::plain(STEPS, 5));
        let control = ControlFlow::of(vocab, template);
        let given = |step: &Step| constant.filter(|_| matches!(step, Step::Constant { .. }));
        let mut values = KnownValues { vocab, template, control: &control, given, found: Vec::new() };
        let reached = control.reached(lacks_slow_path, |flag| values.get(flag));
        (0..STEPS.len()).filter(|step| reached.contains(*step)).collect()
    }

    #[test]
    fn what_is_known_decides_branches() {
        assert_eq!(reached(None, false), (0..STEPS.len()).collect::<Vec<_>>());
        assert_eq!(reached(None, true), [0, 1, 2, 3, 4, 5, 6, 7, 10, 11, 12, 13, 14]);
        assert_eq!(reached(Some(0), false), [0, 1, 2, 7, 8, 9]);
        assert_eq!(reached(Some(0), true), [0, 1, 2, 7]);
        // The flag that is computed of the constant's is known behind the loop, too.
        assert_eq!(reached(Some(5), false), [0, 1, 2, 3, 4, 5, 6, 10, 11, 12, 13, 14]);
    }

    #[test]
    fn steps_are_reached_without_the_slow_path() {
        let quick = quick_steps(&Template::plain(STEPS, 5));
        let quick: Vec<usize> = (0..STEPS.len()).filter(|step| quick[*step]).collect();
        assert_eq!(quick, reached(None, true));
    }
}
