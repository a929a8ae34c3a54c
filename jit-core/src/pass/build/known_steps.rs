//! Which steps of a template control comes to.
//!
//! In: a template, and which of its values are known. Out: for each step whether control may come there. Cost: linear in the steps.

use super::FunctionSource;
use super::calls::CalleeAt;
use crate::ir::bytecode::Raw;
use crate::ir::sites::COUNT_OFFSET;
use crate::ir::template::{BlockRef, Ref, Step, StepImm, Template};
use crate::vocab::{Op, Vocabulary};

/// No operator that only computes has more inputs.
const MAX_INPUTS: usize = 3;

/// The values of a template that are known, by number.
#[derive(Default)]
struct KnownValues(Vec<Option<u64>>);

impl KnownValues {
    fn get(&self, value: Ref) -> Option<u64> {
        self.0.get(value as usize).copied().flatten()
    }

    fn set(&mut self, value: usize, bits: u64) {
        self.0.resize(value, None);
        self.0.push(Some(bits));
    }
}

/// Follows control through the steps of a template, in order.
struct Reach {
    reaches: Vec<bool>,
    comes: bool,
    lacks_slow_path: bool,
}

impl Reach {
    fn new(template: &Template, lacks_slow_path: bool) -> Reach {
        Reach { reaches: vec![false; template.blocks as usize], comes: true, lacks_slow_path }
    }

    /// Whether control comes to the next step. `known` is asked for flags.
    #[inline(always)]
    fn comes_to(&mut self, step: &Step, known: impl Fn(Ref) -> Option<u64>) -> bool {
        match *step {
            Step::Slow if self.lacks_slow_path => self.comes = false,
            // Control comes to each block from an earlier one: only loops are entered again from behind.
            Step::Block { block, .. } => self.comes = self.reaches[block as usize],
            Step::Jump { block, .. } => self.reach(block, true),
            Step::Branch { flag, then, otherwise, .. } => {
                let flag = known(flag);
                self.reach(then, flag != Some(0));
                self.reach(otherwise, flag.is_none_or(|flag| flag == 0));
            }
            _ => {}
        }
        self.comes
    }

    fn reach(&mut self, block: BlockRef, goes: bool) {
        self.reaches[block as usize] |= self.comes && goes;
    }
}

/// Whether control may come to each step, also without the slow path if that is left out. `known` is asked for the value of a step, with
/// the values of those before it.
fn reached_steps(
    template: &Template,
    lacks_slow_path: bool,
    known: impl Fn(&Step, &KnownValues) -> Option<u64>,
) -> Vec<bool> {
    let (mut values, mut n_values) = (KnownValues::default(), 0);
    let mut reach = Reach::new(template, lacks_slow_path);
    let comes_to = |step: &Step| {
        let comes = reach.comes_to(step, |flag| values.get(flag));
        if comes && let Some(bits) = known(step, &values) {
            values.set(n_values, bits);
        }
        n_values += step.n_values();
        comes
    };
    template.steps.iter().map(comes_to).collect()
}

/// Whether control comes to each step without the slow path.
pub(super) fn quick_steps(template: &Template) -> Vec<bool> {
    let mut reach = Reach::new(template, true);
    template.steps.iter().map(|step| reach.comes_to(step, |_| None)).collect()
}

/// Follows the steps of a template in order; says of each whether control comes there without the slow path.
pub(super) fn each_step(template: &Template, mut look: impl FnMut(usize, &Step, bool)) {
    for (number, (step, quick)) in core::iter::zip(template.steps, quick_steps(template)).enumerate() {
        look(number, step, quick);
    }
}

/// Whether control comes to each step also if the memory is not made that the template makes.
pub(super) fn steps_without_made(template: &Template) -> Vec<bool> {
    reached_steps(template, false, |step, _| matches!(step, Step::Node { op: Op::KEPT, .. }).then_some(0))
}

/// Whether control comes to each step without the slow path, if a site has no cases.
pub(super) fn steps_without_cases(vocab: Vocabulary, template: &Template, site: u8) -> Vec<bool> {
    reached_steps(template, true, |step, values| match *step {
        Step::SiteValue { operand, offset, .. } => {
            (operand == site && offset as usize == COUNT_OFFSET).then_some(0)
        }
        _ => computed(vocab, step, values),
    })
}

/// Whether control may come to each step for one bytecode, given its constants and what its sites have learned.
pub(super) fn steps_of_bytecode(
    source: &FunctionSource<'_>,
    template: &Template,
    raws: &[Raw],
    lacks_slow_path: bool,
) -> Vec<bool> {
    reached_steps(template, lacks_slow_path, |step, values| match *step {
        Step::Constant { operand, ty } => Some(ty.truncate(raws[operand as usize])),
        Step::SiteValue { operand, offset, ty, learns_slowly } => {
            let site = CalleeAt::Site { operand, offset, learns_slowly };
            site.known(source, raws, ty, lacks_slow_path)
        }
        _ => computed(source.vocab, step, values),
    })
}

/// What a step computes of values that are known.
fn computed(vocab: Vocabulary, step: &Step, values: &KnownValues) -> Option<u64> {
    let Step::Node { op, sig, inputs, imm: StepImm::Known(imm) } = *step else { return None };
    let reference = vocab.info(op).reference.filter(|_| op != Op::KEPT)?;
    let mut operands = [imm as u64; MAX_INPUTS + 1];
    let known = operands.get_mut(..inputs.len()).filter(|known| known.len() <= MAX_INPUTS)?;
    for (known, input) in core::iter::zip(known, inputs.iter()) {
        *known = values.get(*input)?;
    }
    reference(sig, &operands[..=inputs.len()]).ok()
}
