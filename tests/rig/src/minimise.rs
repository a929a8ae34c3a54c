//! Minimises failing programs.
//!
//! In: a program and a predicate for failing. Out: a program that fails too, from which no part can be removed, and that
//! surely ends.

use crate::machine::Op;
use crate::program::{FIRST_COUNTER, FIRST_TEMPORARY, Instruction, MOST_JUMPS_BACK, Program, is_for_anybody};
use azulejo::{Bytecode, OperandKind as Kind};
use std::ops::Range;

/// How many bytecodes are compiled before minimising gives up: a long program may fail only because it is long.
const MOST_BYTECODES: usize = 1 << 20;

/// Removes parts of a program as long as the rest still fails.
pub fn minimise(program: &Program, mut fails: impl FnMut(&Program) -> bool) -> Program {
    let mut best = program.clone();
    let mut step = best.code.len() / 2;
    let mut compiled = 0;
    while step > 0 {
        let mut at = 0;
        while at < best.code.len() && compiled < MOST_BYTECODES {
            compiled += best.code.len();
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

/// Removes instructions; labels to them lead to the instruction behind them.
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

/// Whether a program can be run and surely ends soon. Only counting opcodes may jump back. A counter that is not written
/// behind the first target of a jump back bounds the number of jumps back, wherever those go. The other counters belong to
/// loops, which nest, and no loop writes its counter inside. All counters hold small numbers.
pub fn ends(program: &Program) -> bool {
    let is_counter = |register: u64| (FIRST_COUNTER..FIRST_TEMPORARY).contains(&register);
    let name = |at: &Instruction| Op::OPCODES[at.opcode].name;
    let is_back = |(at, instruction): &(usize, &Instruction)| {
        COUNTS.contains(&name(instruction)) && instruction.operands[1] as usize <= *at
    };
    let all = || program.code.iter().enumerate();
    let first_head = all().filter(is_back).map(|(_, back)| back.operands[1] as usize).min();
    let looped = &program.code[first_head.unwrap_or(program.code.len())..];
    let set_once: Vec<bool> = (FIRST_COUNTER..FIRST_TEMPORARY)
        .map(|counter| !looped.iter().any(|at| writes(at, counter)))
        .collect();
    let is_set_once = |counter: u64| set_once[(counter - FIRST_COUNTER) as usize];
    let mut loops: Vec<Range<usize>> = Vec::new();
    for (at, instruction) in all() {
        let Instruction { opcode, operands } = instruction;
        let info = &Op::OPCODES[*opcode];
        if COUNTS.contains(&info.name) {
            let (counter, head) = (operands[0], operands[1] as usize);
            if head <= at && !(is_counter(counter) && is_set_once(counter)) {
                let inside = &program.code[head..at];
                if !is_counter(counter) || inside.iter().any(|inner| writes(inner, counter)) {
                    return false;
                }
                loops.push(head..at);
            }
            continue;
        }
        let is_small = |counter| {
            let most = if is_set_once(counter) { MOST_JUMPS_BACK } else { 7 };
            info.name == "ConstI32" && operands[1] <= most
        };
        let is_written = |counter: &u64| writes(instruction, *counter);
        if !(FIRST_COUNTER..FIRST_TEMPORARY).filter(is_written).all(is_small) {
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
    // Loops are in the order of their ends: a later one contains all of an earlier one, or is disjoint from it.
    loops.iter().enumerate().all(|(at, outer)| {
        loops[..at].iter().all(|inner| inner.end < outer.start || inner.start >= outer.start)
    })
}

/// The opcodes that count.
const COUNTS: [&str; 2] = ["Count", "CountIf"];

/// Whether an instruction other than a count writes a register.
fn writes(at: &Instruction, register: u64) -> bool {
    let info = &Op::OPCODES[at.opcode];
    std::iter::zip(&at.operands, info.operands).any(|(operand, operand_info)| match operand_info.kind {
        Kind::Out => *operand == register,
        Kind::InOut => *operand == register && !COUNTS.contains(&info.name),
        Kind::RegsMut => {
            let (first, count) = (*operand as u32 as u64, operand >> 32);
            (first..first + count).contains(&register)
        }
        _ => false,
    })
}
