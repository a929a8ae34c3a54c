//! Whether what a function says of its temporaries is true.
//!
//! In: verified bytecode, and the first VM register that is said to be a temporary. Out: whether it is true, or the first bytecode
//! found that may read a temporary again: one whose value another operand has read, on some way there, and that was not surely
//! written since. A run of registers that is there to be written counts as written. Cost: a set of temporaries for each place
//! that is jumped to; what lies between two of them is gone through again whenever the set there grows. Of a function for which
//! that is too much nothing is known.

use crate::ir::bits::BitSet;
use crate::ir::bytecode::{Bytecode, OperandKind, run_of};
use crate::ir::template::{Resume, Step, Template};
use crate::verify::{Fault, Shape, VerifyError, falls_through, targets};
use core::ops::Range;

/// How many words all sets may have.
const MAX_WORDS: usize = 1 << 20;

/// Looks at all that a function reads of its temporaries. Whether that was done: it is not where it would be too much.
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
    /// By opcode: the operands that are surely written, a bit each, once it was met.
    written: Vec<Option<u16>>,
    ways: Ways,
}

struct Ways {
    /// For the first bytecode and those that are jumped to: the temporaries whose value was read on some way there.
    /// Nothing where no way was found yet.
    before: Vec<Option<BitSet>>,
    /// Those for which there is something new.
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
    /// Goes over a bytecode; whether control goes on at the next.
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
                    return Err(VerifyError { at: at as u32, fault: Fault::ReadAgain { operand, register } });
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

    /// Which of some registers are temporaries.
    fn temporaries(&self, registers: Range<usize>) -> Range<usize> {
        registers.start.max(self.first as usize)..registers.end
    }
}

/// The operands that are written whichever way control goes on; a bit each.
fn surely_written(template: &Template) -> u16 {
    let mut on_all_ways = u16::MAX;
    let at_end = template.follow_writes(|step, written| match step {
        // All of it is done again.
        Step::Exit { to: Resume::Here } => {}
        Step::Goto { .. } | Step::Switch { .. } | Step::Next | Step::Exit { .. } => {
            on_all_ways &= written.unwrap_or(u16::MAX);
        }
        _ => {}
    });
    on_all_ways & at_end.unwrap_or(u16::MAX)
}
