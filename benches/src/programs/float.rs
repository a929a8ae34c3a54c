//! Floating point: matrices, the Mandelbrot set, an n-body simulation.

use super::{Kind, Program, Random, address, bytes};
use crate::assembler::{Assembler, Reg};
use std::hint::black_box;

/// The trace of a product of square matrices.
pub(super) fn matrix() -> Program {
    const N: usize = 40;
    #[inline(never)]
    fn twin(n: usize, a: &[f64], b: &[f64], c: &mut [f64]) -> f64 {
        for i in 0..n {
            for j in 0..n {
                let mut sum = 0.0;
                for k in 0..n {
                    sum += a[i * n + k] * b[k * n + j];
                }
                c[i * n + j] = sum;
            }
        }
        (0..n).map(|i| c[i * n + i]).sum()
    }
    let mut random = Random(11);
    let mut fill = || -> Vec<f64> { (0..N * N).map(|_| random.below(1000) as f64 / 64.0).collect() };
    let (left, right) = (fill(), fill());
    let own = |matrix: &[f64]| -> Box<[u64]> { matrix.iter().map(|x| x.to_bits()).collect() };
    let (mut own_left, mut own_right, mut own_product) = (own(&left), own(&right), bytes(8 * N * N));
    let mut a = Assembler::default();
    let [l, r, p, n, i, j, k, row, at, to] = a.regs();
    let [sum, x, y] = a.regs();
    a.int(i, 0);
    let rows = a.here();
    a.mul(row, i, n);
    a.int(j, 0);
    let columns = a.here();
    a.float(sum, 0.0);
    a.int(k, 0);
    let inner = a.here();
    a.add(at, row, k);
    a.load_f64(x, l, at);
    a.mul(at, k, n);
    a.add(at, at, j);
    a.load_f64(y, r, at);
    a.mul_float(x, x, y);
    a.add_float(sum, sum, x);
    a.add_const(k, k, 1);
    a.jump_lt(k, n, inner);
    a.add(to, row, j);
    a.store_f64(p, to, sum);
    a.add_const(j, j, 1);
    a.jump_lt(j, n, columns);
    a.add_const(i, i, 1);
    a.jump_lt(i, n, rows);
    a.float(sum, 0.0);
    a.int(i, 0);
    let diagonal = a.here();
    a.mul(at, i, n);
    a.add(at, at, i);
    a.load_f64(x, p, at);
    a.add_float(sum, sum, x);
    a.add_const(i, i, 1);
    a.jump_lt(i, n, diagonal);
    a.ret_float(sum);
    let args = vec![address(&mut own_left), address(&mut own_right), address(&mut own_product), N as u64];
    let memory = vec![own_left, own_right, own_product];
    let mut product = vec![0.0; N * N];
    Program::with_twin(Kind::Serial, a, args, memory, move || {
        twin(black_box(N), black_box(&left), black_box(&right), black_box(&mut product)).to_bits()
    })
}

/// The number of iterations for which the points of a grid stay bounded.
pub(super) fn mandelbrot() -> Program {
    const N: i64 = 48;
    const LIMIT: i64 = 100;
    #[inline(never)]
    fn twin(n: i64, limit: i64) -> i64 {
        let mut total = 0;
        for row in 0..n {
            for column in 0..n {
                let c_re = column as f64 * 3.0 / n as f64 - 2.0;
                let c_im = row as f64 * 2.0 / n as f64 - 1.0;
                let (mut re, mut im, mut rounds) = (0.0, 0.0, 0);
                while rounds < limit {
                    let (re2, im2) = (re * re, im * im);
                    if re2 + im2 > 4.0 {
                        break;
                    }
                    im = 2.0 * re * im + c_im;
                    re = re2 - im2 + c_re;
                    rounds += 1;
                }
                total += rounds;
            }
        }
        total
    }
    let mut a = Assembler::default();
    let [n, limit, row, column, rounds, total] = a.regs();
    let [c_re, c_im, re, im, re2, im2, size, two, three, four, one] = a.regs();
    a.float(one, 1.0);
    a.float(two, 2.0);
    a.float(three, 3.0);
    a.float(four, 4.0);
    a.float_of(size, n);
    a.int(total, 0);
    a.int(row, 0);
    let rows = a.here();
    a.int(column, 0);
    let columns = a.here();
    a.float_of(c_re, column);
    a.mul_float(c_re, c_re, three);
    a.div_float(c_re, c_re, size);
    a.sub_float(c_re, c_re, two);
    a.float_of(c_im, row);
    a.mul_float(c_im, c_im, two);
    a.div_float(c_im, c_im, size);
    a.sub_float(c_im, c_im, one);
    a.float(re, 0.0);
    a.float(im, 0.0);
    a.int(rounds, 0);
    let (again, escaped) = (a.here(), a.place());
    let sum = a.reg();
    a.mul_float(re2, re, re);
    a.mul_float(im2, im, im);
    a.add_float(sum, re2, im2);
    a.jump_lt_float(four, sum, escaped);
    a.mul_float(re, two, re);
    a.mul_float(im, re, im);
    a.add_float(im, im, c_im);
    a.sub_float(re, re2, im2);
    a.add_float(re, re, c_re);
    a.add_const(rounds, rounds, 1);
    a.jump_lt(rounds, limit, again);
    a.bind(escaped);
    a.add(total, total, rounds);
    a.add_const(column, column, 1);
    a.jump_lt(column, n, columns);
    a.add_const(row, row, 1);
    a.jump_lt(row, n, rows);
    a.ret(total);
    let args = vec![N as u64, LIMIT as u64];
    Program::with_twin(Kind::Serial, a, args, vec![], || twin(black_box(N), black_box(LIMIT)) as u64)
}

#[derive(Clone, Copy, Default)]
#[repr(C)]
struct Body {
    at: [f64; 3],
    speed: [f64; 3],
    mass: f64,
}

/// A few bodies that attract each other.
pub(super) fn bodies() -> Program {
    const N: usize = 5;
    const STEPS: i64 = 500;
    const DT: f64 = 0.01;
    #[inline(never)]
    fn twin(start: &[Body], bodies: &mut [Body], steps: i64) -> f64 {
        bodies.copy_from_slice(start);
        for _ in 0..steps {
            for i in 0..bodies.len() {
                let (head, tail) = bodies.split_at_mut(i + 1);
                let a = &mut head[i];
                for b in tail {
                    let [dx, dy, dz] = [a.at[0] - b.at[0], a.at[1] - b.at[1], a.at[2] - b.at[2]];
                    let distance2 = dx * dx + dy * dy + dz * dz;
                    let pull = DT / (distance2 * distance2.sqrt());
                    let (pull_a, pull_b) = (b.mass * pull, a.mass * pull);
                    a.speed[0] -= dx * pull_a;
                    a.speed[1] -= dy * pull_a;
                    a.speed[2] -= dz * pull_a;
                    b.speed[0] += dx * pull_b;
                    b.speed[1] += dy * pull_b;
                    b.speed[2] += dz * pull_b;
                }
            }
            for body in bodies.iter_mut() {
                for axis in 0..3 {
                    body.at[axis] += body.speed[axis] * DT;
                }
            }
        }
        bodies.iter().map(|body| body.at[0]).sum()
    }
    let mut random = Random(13);
    let mut number = || random.below(2000) as f64 / 100.0 - 10.0;
    let start: Vec<Body> = (0..N)
        .map(|_| Body {
            at: [number(), number(), number()],
            speed: [number() / 10.0, number() / 10.0, number() / 10.0],
            mass: number().abs() + 1.0,
        })
        .collect();
    let words = start.iter().flat_map(|body| [&body.at[..], &body.speed[..], &[body.mass]].concat());
    let mut own: Box<[u64]> = words.map(f64::to_bits).collect();
    let mut moved = bytes(size_of::<Body>() * N);
    let args = vec![address(&mut own), address(&mut moved), (7 * N) as u64, STEPS as u64];
    let mut bodies = vec![Body::default(); N];
    Program::with_twin(Kind::Serial, bodies_code(DT), args, vec![own, moved], move || {
        twin(black_box(&start), black_box(&mut bodies), black_box(STEPS)).to_bits()
    })
}

/// The bytecode of [`bodies`]. Its arguments: `from`, `to`, the number of words, the number of steps.
fn bodies_code(dt_value: f64) -> Assembler {
    const BODY: i32 = size_of::<Body>() as i32;
    const FIELDS: [i32; 3] = [0, 8, 16];
    const SPEED: i32 = std::mem::offset_of!(Body, speed) as i32;
    const MASS: i32 = std::mem::offset_of!(Body, mass) as i32;
    let mut a = Assembler::default();
    let [from, base, words, steps, i, end, first, second, step] = a.regs();
    let [dt, x, distance2, pull, mass, part] = a.regs();
    let d: [Reg; 3] = a.regs();
    a.int(i, 0);
    let copy = a.here();
    a.load_f64(x, from, i);
    a.store_f64(base, i, x);
    a.add_const(i, i, 1);
    a.jump_lt(i, words, copy);
    a.float(dt, dt_value);
    a.shl_const(end, words, 3);
    a.add(end, base, end);
    a.int(step, 0);
    let steps_head = a.here();
    a.mov(first, base);
    let outer = a.here();
    let outer_next = a.place();
    a.add_const(second, first, BODY);
    a.jump_le(end, second, outer_next);
    let inner = a.here();
    for (d, at) in d.into_iter().zip(FIELDS) {
        a.get_f64(d, first, at);
        a.get_f64(x, second, at);
        a.sub_float(d, d, x);
    }
    a.mul_float(distance2, d[0], d[0]);
    for axis in &d[1..] {
        a.mul_float(x, *axis, *axis);
        a.add_float(distance2, distance2, x);
    }
    a.sqrt_float(x, distance2);
    a.mul_float(x, distance2, x);
    a.div_float(pull, dt, x);
    a.get_f64(mass, second, MASS);
    a.mul_float(part, mass, pull);
    for (d, at) in d.into_iter().zip(FIELDS) {
        a.get_f64(x, first, SPEED + at);
        a.mul_float(mass, d, part);
        a.sub_float(x, x, mass);
        a.put_f64(first, SPEED + at, x);
    }
    a.get_f64(mass, first, MASS);
    a.mul_float(part, mass, pull);
    for (d, at) in d.into_iter().zip(FIELDS) {
        a.get_f64(x, second, SPEED + at);
        a.mul_float(mass, d, part);
        a.add_float(x, x, mass);
        a.put_f64(second, SPEED + at, x);
    }
    a.add_const(second, second, BODY);
    a.jump_lt(second, end, inner);
    a.bind(outer_next);
    a.add_const(first, first, BODY);
    a.jump_lt(first, end, outer);
    a.mov(first, base);
    let moves = a.here();
    for at in FIELDS {
        a.get_f64(x, first, SPEED + at);
        a.mul_float(x, x, dt);
        a.get_f64(part, first, at);
        a.add_float(part, part, x);
        a.put_f64(first, at, part);
    }
    a.add_const(first, first, BODY);
    a.jump_lt(first, end, moves);
    a.add_const(step, step, 1);
    a.jump_lt(step, steps, steps_head);
    a.float(part, 0.0);
    a.mov(first, base);
    let sum = a.here();
    a.get_f64(x, first, 0);
    a.add_float(part, part, x);
    a.add_const(first, first, BODY);
    a.jump_lt(first, end, sum);
    a.ret_float(part);
    a
}
