//! Generated code of any length: straight-line, branchy, and tiny.

use super::{Kind, Program, Random};
use crate::assembler::{Assembler, Reg};

const REGISTERS: usize = 32;

/// Arithmetic on many registers. Half of the instructions update a register and the others overwrite one, so that
/// few results are dead. The final result depends on all registers.
fn arithmetic(a: &mut Assembler, random: &mut Random, regs: &[Reg]) {
    let x = random.below(regs.len());
    let y = (x + 1 + random.below(regs.len() - 1)) % regs.len();
    let dst = if random.below(2) == 0 { x } else { random.below(regs.len()) };
    let [dst, x, y] = [dst, x, y].map(|at| regs[at]);
    let k = random.below(1000) as i32 + 1;
    match random.below(12) {
        0..=2 => a.add(dst, x, y),
        3 => a.sub(dst, x, y),
        4 => a.mul(dst, x, y),
        5 => a.xor(dst, x, y),
        6 => a.and(dst, x, y),
        7 => a.or(dst, x, y),
        8 => a.add_const(dst, x, k),
        9 => a.shl_const(dst, x, k & 15),
        10 => a.shr_const(dst, x, k & 15),
        _ => a.add32(dst, x, y),
    }
}

/// Initializes the registers from one argument.
fn prologue(a: &mut Assembler) -> Vec<Reg> {
    let first = a.reg();
    let mut regs = vec![first];
    for at in 1..REGISTERS {
        let reg = a.reg();
        a.add_const(reg, regs[at / 2], at as i32);
        regs.push(reg);
    }
    regs
}

fn epilogue(a: &mut Assembler, regs: &[Reg]) {
    for reg in &regs[1..] {
        a.xor(regs[0], regs[0], *reg);
    }
    a.ret(regs[0]);
}

/// Straight-line code of `size` instructions.
pub(super) fn straight(size: usize) -> Program {
    let mut random = Random(size as u64);
    let mut a = Assembler::default();
    let regs = prologue(&mut a);
    while a.len() + REGISTERS < size {
        arithmetic(&mut a, &mut random, &regs);
    }
    epilogue(&mut a, &regs);
    Program::without_twin(Kind::Generated, a, vec![7])
}

/// Code of `size` instructions. Every eighth one skips some others on a data-dependent condition.
pub(super) fn branchy(size: usize) -> Program {
    let mut random = Random(size as u64 + 1);
    let mut a = Assembler::default();
    let regs = prologue(&mut a);
    while a.len() + REGISTERS + 1 < size {
        let mut any = || regs[random.below(REGISTERS)];
        let (x, y) = (any(), any());
        let skip = a.place();
        if random.below(2) == 0 {
            a.jump_lt(x, y, skip)
        } else {
            a.jump_ne_const(x, 3, skip)
        }
        let count = 7.min(size - REGISTERS - a.len());
        let skipped = random.below(count + 1);
        for at in 0..=count {
            if at == skipped {
                a.bind(skip);
            }
            if at < count {
                arithmetic(&mut a, &mut random, &regs);
            }
        }
    }
    epilogue(&mut a, &regs);
    Program::without_twin(Kind::Generated, a, vec![7])
}

/// Ten instructions.
pub(super) fn tiny() -> Program {
    let mut a = Assembler::default();
    let [n, i, sum, x] = a.regs();
    a.int(i, 0);
    a.int(sum, 0);
    let head = a.here();
    let even = a.place();
    a.and_const(x, i, 1);
    a.jump_eq_const(x, 0, even);
    a.mul_const(sum, sum, 3);
    a.bind(even);
    a.add(sum, sum, i);
    a.xor(sum, sum, n);
    a.add_const(i, i, 1);
    a.jump_lt(i, n, head);
    a.ret(sum);
    assert_eq!(a.len(), 10);
    Program::without_twin(Kind::Tiny, a, vec![10])
}
