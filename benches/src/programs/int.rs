//! Integers in registers: loops, recursion, division, hashing.

use super::{Kind, Program};
use crate::assembler::Assembler;
use std::hint::black_box;

/// The sum of the numbers below `n`.
pub(super) fn sum() -> Program {
    const N: i64 = 100_000;
    #[inline(never)]
    fn twin(n: i64) -> i64 {
        (0..n).sum()
    }
    let mut a = Assembler::default();
    let [n, i, sum] = a.regs();
    a.int(i, 0);
    a.int(sum, 0);
    let head = a.here();
    a.add(sum, sum, i);
    a.add_const(i, i, 1);
    a.jump_lt(i, n, head);
    a.ret(sum);
    Program::with_twin(Kind::Folds, a, vec![N as u64], vec![], || twin(black_box(N)) as u64)
}

/// Two nested loops with a multiplication in the inner one.
pub(super) fn nested() -> Program {
    const N: i64 = 300;
    #[inline(never)]
    fn twin(n: i64) -> i64 {
        let mut sum = 0i64;
        for i in 0..n {
            for j in 0..n {
                sum = sum.wrapping_add(i * j) ^ j;
            }
        }
        sum
    }
    let mut a = Assembler::default();
    let [n, i, j, sum, product] = a.regs();
    a.int(i, 0);
    a.int(sum, 0);
    let outer = a.here();
    a.int(j, 0);
    let inner = a.here();
    a.mul(product, i, j);
    a.add(sum, sum, product);
    a.xor(sum, sum, j);
    a.add_const(j, j, 1);
    a.jump_lt(j, n, inner);
    a.add_const(i, i, 1);
    a.jump_lt(i, n, outer);
    a.ret(sum);
    Program::with_twin(Kind::Serial, a, vec![N as u64], vec![], || twin(black_box(N)) as u64)
}

/// Fibonacci numbers by naive recursion.
pub(super) fn fib() -> Program {
    const N: i64 = 20;
    #[inline(never)]
    fn twin(n: i64) -> i64 {
        if n < 2 { n } else { twin(n - 1) + twin(n - 2) }
    }
    let mut a = Assembler::default();
    let [n, left, right] = a.regs();
    let small = a.place();
    a.jump_lt_const(n, 2, small);
    a.add_const(left, n, -1);
    a.invoke(left, 0, left);
    a.add_const(right, n, -2);
    a.invoke(right, 0, right);
    a.add(left, left, right);
    a.ret(left);
    a.bind(small);
    a.ret(n);
    Program::with_twin(Kind::Serial, a, vec![N as u64], vec![], || twin(black_box(N)) as u64)
}

/// Greatest common divisors, by Euclid.
pub(super) fn gcd() -> Program {
    const N: u64 = 1000;
    const M: u64 = 360_360;
    #[inline(never)]
    fn twin(n: u64, m: u64) -> u64 {
        let mut sum = 0;
        for i in 1..n {
            let (mut x, mut y) = (m, i);
            while y != 0 {
                (x, y) = (y, x % y);
            }
            sum += x;
        }
        sum
    }
    let mut a = Assembler::default();
    let [n, m, i, sum, x, y, rest] = a.regs();
    a.int(i, 1);
    a.int(sum, 0);
    let outer = a.here();
    a.mov(x, m);
    a.mov(y, i);
    let inner = a.here();
    a.rem(rest, x, y);
    a.mov(x, y);
    a.mov(y, rest);
    a.jump_ne_const(y, 0, inner);
    a.add(sum, sum, x);
    a.add_const(i, i, 1);
    a.jump_lt(i, n, outer);
    a.ret(sum);
    Program::with_twin(Kind::Serial, a, vec![N, M], vec![], || twin(black_box(N), black_box(M)))
}

/// The sum of the numbers from Marsaglia's xorshift.
pub(super) fn xorshift() -> Program {
    const N: i64 = 50_000;
    const SEED: u64 = 0x9e37_79b9_7f4a_7c15;
    #[inline(never)]
    fn twin(n: i64, seed: u64) -> u64 {
        let (mut x, mut sum) = (seed, 0u64);
        for _ in 0..n {
            x ^= x << 13;
            x ^= x >> 7;
            x ^= x << 17;
            sum = sum.wrapping_add(x);
        }
        sum
    }
    let mut a = Assembler::default();
    let [n, x, i, sum, shifted] = a.regs();
    a.int(i, 0);
    a.int(sum, 0);
    let head = a.here();
    a.shl_const(shifted, x, 13);
    a.xor(x, x, shifted);
    a.shr_const(shifted, x, 7);
    a.xor(x, x, shifted);
    a.shl_const(shifted, x, 17);
    a.xor(x, x, shifted);
    a.add(sum, sum, x);
    a.add_const(i, i, 1);
    a.jump_lt(i, n, head);
    a.ret(sum);
    let args = vec![N as u64, SEED];
    Program::with_twin(Kind::Serial, a, args, vec![], || twin(black_box(N), black_box(SEED)))
}

/// MurmurHash's finalizer on 32-bit numbers.
pub(super) fn hash32() -> Program {
    const N: i32 = 30_000;
    #[inline(never)]
    fn twin(n: i32, seed: i32) -> i32 {
        let mut hash = seed;
        for i in 0..n {
            let k = i.wrapping_mul(-862_048_943).rotate_left(15).wrapping_mul(461_845_907);
            hash = (hash ^ k).rotate_left(13).wrapping_mul(5).wrapping_add(-430_675_100);
        }
        hash
    }
    let mut a = Assembler::default();
    let [n, hash, i, c1, c2, five, k] = a.regs();
    a.int(i, 0);
    a.int(c1, -862_048_943);
    a.int(c2, 461_845_907);
    a.int(five, 5);
    let head = a.here();
    a.mul32(k, i, c1);
    a.rotl_const32(k, k, 15);
    a.mul32(k, k, c2);
    a.xor32(hash, hash, k);
    a.rotl_const32(hash, hash, 13);
    a.mul32(hash, hash, five);
    a.add_const32(hash, hash, -430_675_100);
    a.add_const32(i, i, 1);
    a.jump_lt32(i, n, head);
    a.ret(hash);
    let args = vec![N as u64, 42];
    Program::with_twin(Kind::Serial, a, args, vec![], || twin(black_box(N), black_box(42)) as u32 as u64)
}
