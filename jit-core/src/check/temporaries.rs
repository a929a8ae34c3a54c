//! Checks the promise of a function about its temporaries.
//!
//! In: verified bytecode, and the first VM register that is promised to be a temporary. Out: whether the promise was checked,
//! or the first bytecode found that may read a temporary again. That is a temporary whose value another operand has read on
//! some path there, and which was not written since on every path. A run of registers that may be written counts as written.
//! Cost: a set of temporaries for each jump target. The code between two targets is visited again whenever the set at the
//! first one grows. Functions for which that is too expensive are not checked.

use crate::ir::bits::BitSet;
use crate::ir::bytecode::{Bytecode, OperandKind, run_of};
use crate::ir::template::{Resume, Step, Template};
use crate::verify::{Fault, Shape, VerifyError, falls_through, targets};
use core::ops::Range;

/// The greatest number of words in all sets together.
const MAX_WORDS: usize = 1 << 20;

/// Checks all reads of temporaries in a function. Returns `false` if that is too expensive and was not done.
///
/// ```
/// # use azulejo_core::{ir::bytecode::Bytecode, check::temporaries::temporaries, verify::{VerifyError, verify}};
/// /// Whether nothing behind the first ten registers is read twice.
/// fn is_right<B: Bytecode>(code: &[B], registers: u32) -> Result<bool, VerifyError> {
///     let shape = verify(code, &[], registers)?;
///     temporaries(code, &[], &shape, 10)
/// }
/// ```
pub fn temporaries<B: Bytecode>(
    code: &[B],
    labels: &[u32],
    shape: &Shape,
    first: u32,
) -> Result<bool, VerifyError> {
    let n_temporaries = shape.slots.saturating_sub(first) as usize;
    let nothing = BitSet::new(n_temporaries);
    if nothing.words().len() * (shape.targets.len() + 1) > MAX_WORDS {
        return Ok(false);
    }
    let written = vec![None; B::templates().len()];
    let ways = Ways { before: vec![None; code.len()], open: vec![0] };
    let mut judge = Judge { code, labels, first, written, ways };
    judge.ways.before[0] = Some(nothing);
    while let Some(start) = judge.ways.open.pop() {
        let mut read = judge.ways.before[start].clone().expect("a way leads here");
        for at in start.. {
            if at > start && shape.targets.contains(at) {
                judge.ways.reach(at, &read);
                break;
            }
            if !judge.pass(at, &mut read)? {
                break;
            }
        }
    }
    Ok(true)
}

struct Judge<'a, B> {
    code: &'a [B],
    labels: &'a [u32],
    first: u32,
    /// For each opcode that was met, the operands that are written on every path, as one bit each.
    written: Vec<Option<u16>>,
    ways: Ways,
}

struct Ways {
    /// For the first bytecode and the jump targets, the temporaries whose value was read on some path there; `None` if no path
    /// was found yet.
    before: Vec<Option<BitSet>>,
    /// The bytecodes in `before` whose sets have changed since they were visited.
    open: Vec<usize>,
}

impl Ways {
    fn reach(&mut self, to: usize, read: &BitSet) {
        let known = self.before[to].get_or_insert_with(|| {
            self.open.push(to);
            read.clone()
        });
        if known.unite(read) {
            self.open.push(to);
        }
    }
}

impl<B: Bytecode> Judge<'_, B> {
    /// Visits a bytecode. Returns whether control can continue at the next one.
    fn pass(&mut self, at: usize, read: &mut BitSet) -> Result<bool, VerifyError> {
        let op = &self.code[at];
        let (opcode, operands) = (op.opcode(), op.operands());
        let one = |raw| raw as usize..raw as usize + 1;
        let all = || core::iter::zip(0u8.., core::iter::zip(B::OPCODES[opcode].operands, operands));
        for (operand, (info, raw)) in all() {
            let registers = match info.kind {
                OperandKind::In | OperandKind::InOut => one(raw),
                OperandKind::Regs | OperandKind::RegsMut => run_of(raw),
                _ => continue,
            };
            for register in self.temporaries(registers) {
                if !read.insert(register - self.first as usize) {
                    let register = register as u32;
                    return Err(VerifyError::at(self.code, at, Fault::ReadAgain { operand, register }));
                }
            }
        }
        let template = B::templates()[opcode];
        let written = *self.written[opcode].get_or_insert_with(|| surely_written(template));
        for (operand, (info, raw)) in all() {
            let registers = match info.kind {
                OperandKind::Out | OperandKind::InOut if written & 1 << operand != 0 => one(raw),
                OperandKind::RegsMut => run_of(raw),
                _ => continue,
            };
            for register in self.temporaries(registers) {
                read.remove(register - self.first as usize);
            }
        }
        targets(op, self.labels).for_each(|to| self.ways.reach(to, read));
        Ok(falls_through(template))
    }

    /// The temporaries among some registers.
    fn temporaries(&self, registers: Range<usize>) -> Range<usize> {
        registers.start.max(self.first as usize)..registers.end
    }
}

/// The operands that are written on every path to another bytecode, as one bit each.
fn surely_written(template: &Template) -> u16 {
    let mut on_all_ways = u16::MAX;
    let at_end = template.follow_writes(|step, written| match step {
        // The bytecode is executed again from its start.
        Step::Exit { to: Resume::Here } => {}
        Step::Goto { .. } | Step::Switch { .. } | Step::Next | Step::Exit { .. } => {
            on_all_ways &= written.unwrap_or(u16::MAX);
        }
        _ => {}
    });
    on_all_ways & at_end.unwrap_or(u16::MAX)
}
