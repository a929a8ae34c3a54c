//! Makes failing programs short.
//!
//! In: a program and whether one fails. Out: one that fails too, has no part that could be left out, and surely ends.

use crate::machine::Op;
use crate::program::{FIRST_COUNTER, FIRST_TEMPORARY, Instruction, Program, is_for_anybody};
use azulejo::{Bytecode, OperandKind as Kind};
use std::ops::Range;

/// Makes a program shorter as long as it fails.
pub fn minimise(program: &Program, mut fails: impl FnMut(&Program) -> bool) -> Program {
    let mut best = program.clone();
    let mut step = best.code.len() / 2;
    while step > 0 {
        let mut at = 0;
        while at < best.code.len() {
            let mut shorter = best.clone();
            remove(&mut shorter, at..(at + step).min(best.code.len()));
            if ends(&shorter) && fails(&shorter) {
                best = shorter;
            } else {
                at += step;
            }
        }
        step /= 2;
    }
    best
}

/// Takes instructions out; labels to them lead to what follows.
fn remove(program: &mut Program, gone: Range<usize>) {
    let moved = |label: u64| match label as usize {
        label if label < gone.start => label as u64,
        label if label < gone.end => gone.start as u64,
        label => (label - gone.len()) as u64,
    };
    program.code.drain(gone.clone());
    for at in &mut program.code {
        for (operand, info) in std::iter::zip(&mut at.operands, Op::OPCODES[at.opcode].operands) {
            if info.kind == Kind::Label {
                *operand = moved(*operand);
            }
        }
    }
    program.labels.iter_mut().for_each(|label| *label = moved(*label as u64) as u32);
}

/// Whether a program surely ends, and soon, and can be run. Only counted loops go back; they nest; and their counters hold small numbers,
/// which nobody else writes inside of the loop.
pub fn ends(program: &Program) -> bool {
    let is_counter = |register: u64| (FIRST_COUNTER..FIRST_TEMPORARY).contains(&register);
    let mut loops: Vec<Range<usize>> = Vec::new();
    for (at, instruction) in program.code.iter().enumerate() {
        let Instruction { opcode, operands } = instruction;
        let info = &Op::OPCODES[*opcode];
        if info.name == "Count" {
            let (counter, head) = (operands[0], operands[1] as usize);
            if head <= at {
                let inside = &program.code[head..at];
                if !is_counter(counter) || inside.iter().any(|inner| writes(inner, counter)) {
                    return false;
                }
                loops.push(head..at);
            }
            continue;
        }
        let is_small = info.name == "ConstI32" && operands[1] < 8;
        if !is_small && (FIRST_COUNTER..FIRST_TEMPORARY).any(|counter| writes(instruction, counter)) {
            return false;
        }
        if !is_for_anybody(instruction) {
            return false;
        }
        let goes_on = std::iter::zip(operands, info.operands).all(|(operand, info)| match info.kind {
            Kind::Label => *operand as usize > at,
            Kind::Labels => {
                let (first, count) = (*operand as u32 as usize, (operand >> 32) as usize);
                let run = program.labels.get(first..first.saturating_add(count)).unwrap_or(&[]);
                run.iter().all(|label| *label as usize > at)
            }
            _ => true,
        });
        if !goes_on {
            return false;
        }
    }
    // In the order of their ends: a later one has all of an earlier one, or nothing.
    loops.iter().enumerate().all(|(at, outer)| {
        loops[..at].iter().all(|inner| inner.end < outer.start || inner.start >= outer.start)
    })
}

/// Whether an instruction other than a count writes a register.
fn writes(at: &Instruction, register: u64) -> bool {
    let info = &Op::OPCODES[at.opcode];
    std::iter::zip(&at.operands, info.operands).any(|(operand, operand_info)| match operand_info.kind {
        Kind::Out => *operand == register,
        Kind::InOut => *operand == register && info.name != "Count",
        Kind::RegsMut => {
            let (first, count) = (*operand as u32 as u64, operand >> 32);
            (first..first + count).contains(&register)
        }
        _ => false,
    })
}
