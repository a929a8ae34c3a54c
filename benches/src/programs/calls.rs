//! Calls of Rust functions with few and many arguments.

use super::{Kind, Program};
use crate::assembler::{Assembler, Reg};
use crate::op;
use std::hint::black_box;

const N: i64 = 10_000;

/// A loop in which each iteration passes the last call's result to the next call. `call` emits the call.
fn program(call: fn(&mut Assembler, Reg, Reg, Reg), twin: fn(i64) -> i64) -> Program {
    let mut a = Assembler::default();
    let [n, i, x] = a.regs();
    a.int(i, 0);
    a.int(x, 1);
    let head = a.here();
    call(&mut a, x, i, n);
    a.add_const(i, i, 1);
    a.jump_lt(i, n, head);
    a.ret(x);
    Program::with_twin(Kind::Serial, a, vec![N as u64], vec![], move || twin(black_box(N)) as u64)
}

/// One argument.
pub(super) fn one() -> Program {
    #[inline(never)]
    fn twin(n: i64) -> i64 {
        let one = black_box(op::one as extern "C" fn(i64) -> i64);
        (0..n).fold(1, |x, _| one(x))
    }
    program(|a, x, _, _| a.call1(x, x), twin)
}

/// Six arguments: exactly as many as there are argument registers.
pub(super) fn six() -> Program {
    #[inline(never)]
    fn twin(n: i64) -> i64 {
        let six = black_box(op::six as extern "C" fn(i64, i64, i64, i64, i64, i64) -> i64);
        (0..n).fold(1, |x, i| six(x, i, n, x, i, n))
    }
    program(|a, x, i, n| a.call6(x, [x, i, n, x, i, n]), twin)
}

/// Twelve arguments, half of them on the stack.
pub(super) fn twelve() -> Program {
    type Twelve = extern "C" fn(i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64) -> i64;
    #[inline(never)]
    fn twin(n: i64) -> i64 {
        let twelve = black_box(op::twelve as Twelve);
        (0..n).fold(1, |x, i| twelve(x, i, n, x, i, n, n, i, x, x, n, i))
    }
    program(|a, x, i, n| a.call12(x, [x, i, n, x, i, n, n, i, x, x, n, i]), twin)
}
