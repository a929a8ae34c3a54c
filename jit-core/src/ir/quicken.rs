//! Bytecodes that become others: what is known of all that an opcode may become.
//!
//! In: the templates of an enum, in which [`Step::Quicken`] names opcodes. Out: the opcodes that a bytecode may become, and what is true of
//! one of them. Needs: a bytecode keeps its operands, which the macros see to.

use super::template::{Step, Template};

impl Template {
    /// The other opcodes that bytecodes with this one may become, at some time.
    pub fn may_become(templates: &[&Template], opcode: usize) -> Vec<usize> {
        let (mut others, mut from, mut next) = (Vec::new(), opcode, 0);
        loop {
            for step in templates[from].steps {
                if let Step::Quicken { opcode: to } = *step
                    && to != opcode
                    && !others.contains(&to)
                {
                    others.push(to);
                }
            }
            let Some(&other) = others.get(next) else { return others };
            (from, next) = (other, next + 1);
        }
    }

    /// For each template, whether something is true of it, or of one that its bytecodes may become.
    pub(super) const fn or_become<const N: usize>(
        templates: &[&Template; N],
        mut is_true: [bool; N],
    ) -> [bool; N] {
        loop {
            let (mut has_changed, mut at) = (false, 0);
            while at < N {
                let (steps, mut step) = (templates[at].steps, 0);
                while step < steps.len() {
                    if let Step::Quicken { opcode } = steps[step]
                        && is_true[opcode]
                        && !is_true[at]
                    {
                        (is_true[at], has_changed) = (true, true);
                    }
                    step += 1;
                }
                at += 1;
            }
            if !has_changed {
                return is_true;
            }
        }
    }

    /// Panics unless a bytecode becomes another one if its first byte is changed: that is its opcode's number, and the operands are at
    /// the same places.
    pub const fn assert_become_by_first_byte<const N: usize>(
        templates: &[&Template; N],
        offsets: &[&[u16]],
        first_bytes: &[u8],
    ) {
        let mut at = 0;
        while at < N {
            let (steps, mut step) = (templates[at].steps, 0);
            while step < steps.len() {
                if let Step::Quicken { opcode } = steps[step] {
                    let (own, others) = (offsets[at], offsets[opcode]);
                    let mut is_same = own.len() == others.len()
                        && first_bytes[at] as usize == at
                        && first_bytes[opcode] as usize == opcode;
                    let mut operand = 0;
                    while operand < own.len() && is_same {
                        is_same = own[operand] == others[operand];
                        operand += 1;
                    }
                    assert!(
                        is_same,
                        "a bytecode becomes another one by its first byte, which is not the opcode's number here: \
                         mark the enum `#[repr(u8)]`, and let the opcodes that become others be among the first 256"
                    );
                }
                step += 1;
            }
            at += 1;
        }
    }
}
