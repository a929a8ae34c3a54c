//! A state machine with a jump table.

use super::{Kind, Program, Random, address, bytes};
use crate::assembler::Assembler;
use std::hint::black_box;

/// Eight kinds of input update two numbers, each in a different way.
pub(super) fn machine() -> Program {
    const N: usize = 8192;
    #[inline(never)]
    fn twin(input: &[u8]) -> u64 {
        let (mut x, mut y) = (1u64, 2u64);
        for byte in input {
            match byte {
                0 => x = x.wrapping_add(y),
                1 => y ^= x,
                2 => x = x.rotate_left(9),
                3 => y = y.wrapping_sub(x),
                4 => x = x.wrapping_mul(13),
                5 => y = y.wrapping_add(77),
                6 => x ^= y >> 3,
                _ => y = y.rotate_left(1),
            }
        }
        x ^ y
    }
    let mut random = Random(5);
    // Inputs repeat in runs, like the words of a text.
    let pattern: Vec<u8> = (0..64).map(|_| random.below(9) as u8).collect();
    let input: Vec<u8> = (0..N).map(|at| pattern[(at + at / 512) % 64]).collect();
    let mut own = bytes(N);
    for (word, chunk) in own.iter_mut().zip(input.chunks(8)) {
        *word = u64::from_le_bytes(chunk.try_into().expect("the input is whole words"));
    }
    let mut a = Assembler::default();
    let [base, n, i, byte, x, y, part] = a.regs();
    a.int(i, 0);
    a.int(x, 1);
    a.int(y, 2);
    let head = a.here();
    let next = a.place();
    let arms: [_; 8] = std::array::from_fn(|_| a.place());
    a.load_u8(byte, base, i);
    a.switch(byte, &arms);
    a.bind(arms[0]);
    a.add(x, x, y);
    a.jump(next);
    a.bind(arms[1]);
    a.xor(y, y, x);
    a.jump(next);
    a.bind(arms[2]);
    a.rotl_const(x, x, 9);
    a.jump(next);
    a.bind(arms[3]);
    a.sub(y, y, x);
    a.jump(next);
    a.bind(arms[4]);
    a.mul_const(x, x, 13);
    a.jump(next);
    a.bind(arms[5]);
    a.add_const(y, y, 77);
    a.jump(next);
    a.bind(arms[6]);
    a.shr_const(part, y, 3);
    a.xor(x, x, part);
    a.jump(next);
    a.bind(arms[7]);
    a.rotl_const(y, y, 1);
    a.bind(next);
    a.add_const(i, i, 1);
    a.jump_lt(i, n, head);
    a.xor(x, x, y);
    a.ret(x);
    let args = vec![address(&mut own), N as u64];
    Program::with_twin(Kind::Serial, a, args, vec![own], move || twin(black_box(&input)))
}
