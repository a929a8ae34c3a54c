//! Mutates programs at random, to test verification.

use crate::machine::{self, Op};
use crate::program::{Instruction, Program};
use azulejo::{Bytecode, OperandKind};
use azulejo_core::fuzzing::Random;

/// Changes a few parts of a program: operands of all kinds, opcodes, their order, the labels, the number of registers.
pub fn mutate(random: &mut Random, program: &mut Program) {
    for _ in 0..1 + random.below(3) {
        let n_code = program.code.len();
        if n_code == 0 {
            return;
        }
        let at = random.below(n_code);
        if random.one_in(2) && jump_amid_the_stack(random, program) {
            continue;
        }
        match random.below(10) {
            0..6 => {
                let operands = Op::OPCODES[program.code[at].opcode].operands.len().max(1);
                let operand = &mut program.code[at].operands[random.below(operands)];
                *operand = match random.below(4) {
                    0 => random.number(),
                    1 => operand.wrapping_add(random.below(9) as u64).wrapping_sub(4),
                    2 => random.below(2 * n_code) as u64,
                    _ => random.below(40) as u64 | (random.below(40) as u64) << 32,
                };
                let Instruction { opcode, operands } = &mut program.code[at];
                // Normalize the operands to the bits that their types keep.
                *operands = machine::from_raw(*opcode, operands).operands();
            }
            6 => {
                let Instruction { opcode, operands } = &mut program.code[at];
                *opcode = random.below(Op::OPCODES.len());
                *operands = machine::from_raw(*opcode, operands).operands();
            }
            7 => {
                program.code.remove(at);
            }
            8 => {
                let other = random.below(n_code);
                program.code.swap(at, other);
            }
            _ => {
                if random.one_in(2) || program.labels.is_empty() {
                    program.registers = random.below(30) as u32;
                } else {
                    let label = random.below(program.labels.len());
                    program.labels[label] = random.below(2 * n_code) as u32;
                }
            }
        }
    }
}

/// Makes a jump go into the middle of work on the operand stack, or out of it. Returns whether there is any such work.
fn jump_amid_the_stack(random: &mut Random, program: &mut Program) -> bool {
    let info = |at: &Instruction| &Op::OPCODES[at.opcode];
    let is_work = |at: &Instruction| {
        let is_on_stack = |kind| matches!(kind, OperandKind::Pop | OperandKind::Push);
        info(at).operands.iter().any(|operand| is_on_stack(operand.kind))
    };
    let positions = |fits: &dyn Fn(&Instruction) -> bool| -> Vec<usize> {
        (0..program.code.len()).filter(|at| fits(&program.code[*at])).collect()
    };
    let label =
        |at: &Instruction| info(at).operands.iter().position(|operand| operand.kind == OperandKind::Label);
    let (work, jumps) = (positions(&is_work), positions(&|at| label(at).is_some()));
    if work.is_empty() || jumps.is_empty() {
        return false;
    }
    let (amid, jump) = (work[random.below(work.len())], jumps[random.below(jumps.len())]);
    if random.one_in(2) {
        let label = label(&program.code[jump]).expect("it is a jump");
        program.code[jump].operands[label] = amid as u64;
    } else {
        program.code.insert(amid, program.code[jump]);
    }
    true
}
