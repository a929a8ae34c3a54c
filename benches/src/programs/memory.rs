//! Arrays: hashing, a sieve, text scanning, sorting.

use super::{Kind, Program, Random, address, bytes};
use crate::assembler::Assembler;
use std::hint::black_box;

/// A hash of an array of 64-bit numbers.
pub(super) fn hash() -> Program {
    const N: usize = 16_384;
    const K: u64 = 0x87c3_7b91_1142_53d5;
    #[inline(never)]
    fn twin(data: &[u64]) -> u64 {
        let mut hash = 0u64;
        for x in data {
            hash = (hash ^ x.wrapping_mul(K)).rotate_left(27).wrapping_mul(5).wrapping_add(0x52dc_e729);
        }
        hash
    }
    let mut random = Random(1);
    let data: Box<[u64]> = (0..N).map(|_| random.next()).collect();
    let mut own = data.clone();
    let mut a = Assembler::default();
    let [base, n, i, hash, k, x] = a.regs();
    a.int(i, 0);
    a.int(hash, 0);
    a.int(k, K as i64);
    let head = a.here();
    a.load_i64(x, base, i);
    a.mul(x, x, k);
    a.xor(hash, hash, x);
    a.rotl_const(hash, hash, 27);
    a.mul_const(hash, hash, 5);
    a.add_const(hash, hash, 0x52dc_e729);
    a.add_const(i, i, 1);
    a.jump_lt(i, n, head);
    a.ret(hash);
    let args = vec![address(&mut own), N as u64];
    Program::with_twin(Kind::Serial, a, args, vec![own], move || twin(black_box(&data)))
}

/// The number of primes found by the sieve of Eratosthenes.
pub(super) fn sieve() -> Program {
    const N: usize = 50_000;
    #[inline(never)]
    fn twin(is_composite: &mut [u8]) -> u64 {
        is_composite.fill(0);
        let mut count = 0;
        for i in 2..is_composite.len() {
            if is_composite[i] == 0 {
                count += 1;
                let mut j = i * i;
                while j < is_composite.len() {
                    is_composite[j] = 1;
                    j += i;
                }
            }
        }
        count
    }
    let mut own = bytes(N);
    let mut a = Assembler::default();
    let [base, n, words, i, j, count, zero, one, flag] = a.regs();
    a.int(i, 0);
    a.int(zero, 0);
    a.int(one, 1);
    let clear = a.here();
    a.store_i64(base, i, zero);
    a.add_const(i, i, 1);
    a.jump_lt(i, words, clear);
    a.int(i, 2);
    a.int(count, 0);
    let outer = a.here();
    let next = a.place();
    a.load_u8(flag, base, i);
    a.jump_ne_const(flag, 0, next);
    a.add_const(count, count, 1);
    a.mul(j, i, i);
    a.jump_le(n, j, next);
    let inner = a.here();
    a.store_u8(base, j, one);
    a.add(j, j, i);
    a.jump_lt(j, n, inner);
    a.bind(next);
    a.add_const(i, i, 1);
    a.jump_lt(i, n, outer);
    a.ret(count);
    let args = vec![address(&mut own), N as u64, own.len() as u64];
    let mut flags = vec![0; N];
    Program::with_twin(Kind::Serial, a, args, vec![own], move || twin(black_box(&mut flags)))
}

/// A hash of the lengths of a text's lines.
pub(super) fn scan() -> Program {
    const N: usize = 20_000;
    #[inline(never)]
    fn twin(text: &[u8]) -> u64 {
        let (mut mix, mut len) = (0u64, 0u64);
        for byte in text {
            if *byte == b'\n' {
                mix = mix.wrapping_mul(31).wrapping_add(len);
                len = 0;
            } else {
                len += 1;
            }
        }
        mix ^ len
    }
    let mut random = Random(7);
    let text: Vec<u8> =
        (0..N).map(|_| if random.below(40) == 0 { b'\n' } else { 32 + random.below(90) as u8 }).collect();
    let mut own = bytes(N);
    for (word, chunk) in own.iter_mut().zip(text.chunks(8)) {
        *word = u64::from_le_bytes(chunk.try_into().expect("the text is whole words"));
    }
    let mut a = Assembler::default();
    let [base, n, i, byte, mix, len] = a.regs();
    a.int(i, 0);
    a.int(mix, 0);
    a.int(len, 0);
    let head = a.here();
    let (line, next) = (a.place(), a.place());
    a.load_u8(byte, base, i);
    a.jump_eq_const(byte, 10, line);
    a.add_const(len, len, 1);
    a.jump(next);
    a.bind(line);
    a.mul_const(mix, mix, 31);
    a.add(mix, mix, len);
    a.int(len, 0);
    a.bind(next);
    a.add_const(i, i, 1);
    a.jump_lt(i, n, head);
    a.xor(mix, mix, len);
    a.ret(mix);
    let args = vec![address(&mut own), N as u64];
    Program::with_twin(Kind::Serial, a, args, vec![own], move || twin(black_box(&text)))
}

/// Bubble-sorts a copy of an array. Returns the sum of each element times its index.
pub(super) fn bubble_sort() -> Program {
    const N: usize = 200;
    #[inline(never)]
    fn twin(from: &[i64], to: &mut [i64]) -> i64 {
        to.copy_from_slice(from);
        for end in (1..to.len()).rev() {
            for i in 0..end {
                if to[i] > to[i + 1] {
                    to.swap(i, i + 1);
                }
            }
        }
        to.iter().zip(0..).map(|(x, i)| x * i).sum()
    }
    let mut random = Random(3);
    let from: Vec<i64> = (0..N).map(|_| random.below(1 << 20) as i64).collect();
    let mut own: Box<[u64]> = from.iter().map(|x| *x as u64).collect();
    let mut sorted = bytes(8 * N);
    let mut a = Assembler::default();
    let [from_base, base, n, i, end, next, x, y, sum] = a.regs();
    a.int(i, 0);
    let copy = a.here();
    a.load_i64(x, from_base, i);
    a.store_i64(base, i, x);
    a.add_const(i, i, 1);
    a.jump_lt(i, n, copy);
    a.add_const(end, n, -1);
    let outer = a.here();
    a.int(i, 0);
    let inner = a.here();
    let in_order = a.place();
    a.load_i64(x, base, i);
    a.add_const(next, i, 1);
    a.load_i64(y, base, next);
    a.jump_le(x, y, in_order);
    a.store_i64(base, i, y);
    a.store_i64(base, next, x);
    a.bind(in_order);
    a.mov(i, next);
    a.jump_lt(i, end, inner);
    a.add_const(end, end, -1);
    a.jump_ne_const(end, 0, outer);
    a.int(i, 0);
    a.int(sum, 0);
    let add = a.here();
    a.load_i64(x, base, i);
    a.mul(x, x, i);
    a.add(sum, sum, x);
    a.add_const(i, i, 1);
    a.jump_lt(i, n, add);
    a.ret(sum);
    let args = vec![address(&mut own), address(&mut sorted), N as u64];
    let mut to = vec![0; N];
    Program::with_twin(Kind::Serial, a, args, vec![own, sorted], move || {
        twin(black_box(&from), black_box(&mut to)) as u64
    })
}
