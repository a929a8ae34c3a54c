//! `(place $output)`: functions write outputs by their addresses, in every tier.

use azulejo::prelude::*;

const TIERS: [Tier; 3] = [Tier::Interpreter, Tier::Baseline, Tier::Optimizer];

#[derive(Bytecode, Clone, Copy, Debug)]
enum Op {
    Split { whole: Out<f64>, rest: Out<f64>, x: In<f64> },
    Parse { dst: Out<i64>, error: Out<u8>, text: Imm<u8> },
    Low { dst: Out<u8>, n: In<i64> },
    Double { n: InOut<u16> },
    Forget { dst: Out<i32> },
    Perhaps { dst: Out<i64>, n: In<i64> },
    Sum { sum: InOut<i64>, n: In<i64> },
    Next { n: InOut<i64>, to: Label },
    Return { a: In<u64> },
}

/// Writes one output by its address, and returns the other one.
fn split(whole: &mut f64, x: f64) -> f64 {
    *whole = x.trunc();
    x.fract()
}
fn parse(dst: *mut i64, error: &mut u8, text: u8) {
    // SAFETY: `dst` is the address of an output.
    unsafe { *dst = text as i64 - 48 };
    *error = !text.is_ascii_digit() as u8 * 0xff;
}
fn low(dst: &mut u8, n: i64) {
    *dst = n as u8;
}
fn double(n: &mut u16) {
    *n = n.wrapping_mul(2);
}
fn forget(_: Option<std::ptr::NonNull<i32>>) {}
fn add(sum: &mut i64, n: i64) {
    *sum += n;
}

template! {
    Op::Split! => (let: (($x $x)) (set $rest (call split (arglist (carg (place $whole) ptr) (carg $x f64)) f64)))
    Op::Parse! => (dov
        (callv parse (arglist (carg (place $dst) ptr) (carg (place $error) ptr) (carg $text u8)))
        // This reads back the value that the function stored.
        (when (nz $error) (set $dst (neg (ucast $error i64)))))
    Op::Low! => (let: (($n $n)) (callv low (arglist (carg (place $dst) ptr) (carg $n i64))))
    Op::Double! => (callv double (arglist (carg (place $n) ptr)))
    Op::Forget! => (callv forget (arglist (carg (place $dst) ptr)))
    Op::Perhaps! => (let: (($n $n)) (ifv (gt $n 10)
        (let: (($dst (place $dst))) (callv add (arglist (carg $dst ptr) (carg $n i64))))
        (set $dst $n)))
    Op::Sum! => (let: (($n $n)) (callv add (arglist (carg (place $sum) ptr) (carg $n i64))))
    Op::Next! => (dov (set $n (sub $n 1)) (when (nz $n) (branch $to)))
    Op::Return => (return $a)
}

fn r<T: From<u32>>(register: u32) -> T {
    register.into()
}

/// Checks the final value of a register, in every tier.
fn check(code: &[Op], arguments: (u64, u64, u64), register: u32, expected: u64) {
    for tier in TIERS {
        let engine = Engine::<Op>::new();
        let code = [code, &[Op::Return { a: r(register) }]].concat();
        let function = engine.define("places", code, 4).unwrap();
        if tier == Tier::Interpreter || azulejo::can_compile().is_ok() {
            engine.compile_in(function, tier).unwrap();
        }
        assert_eq!(engine.call::<_, u64>(function, &mut (), arguments), Ok(expected), "{tier:?}");
    }
}

#[test]
fn functions_store_outputs() {
    let x = (-2.75f64).to_bits();
    let split = [Op::Split { whole: r(0), rest: r(1), x: r(2) }];
    check(&split, (1, 2, x), 0, (-2.0f64).to_bits());
    check(&split, (1, 2, x), 1, (-0.75f64).to_bits());
    // The input register is also an output.
    check(&[Op::Split { whole: r(2), rest: r(1), x: r(2) }], (1, 2, x), 2, (-2.0f64).to_bits());
    check(&[Op::Parse { dst: r(0), error: r(1), text: Imm(b'7') }], (1, u64::MAX, 0), 0, 7);
    check(&[Op::Parse { dst: r(0), error: r(1), text: Imm(b'x') }], (1, 2, 0), 0, -255i64 as u64);
    check(&[Op::Forget { dst: r(0) }], (u64::MAX, 2, 0), 0, 0);
    check(&[Op::Perhaps { dst: r(0), n: r(1) }], (100, 11, 0), 0, 11);
    check(&[Op::Perhaps { dst: r(0), n: r(1) }], (100, 9, 0), 0, 9);
}

#[test]
fn a_narrow_output_has_zeros_above_it() {
    check(&[Op::Low { dst: r(0), n: r(1) }], (u64::MAX, 0x1234, 0), 0, 0x34);
    check(&[Op::Double { n: r(0) }], (0xffff_ffff_0001_8003, 0, 0), 0, 6);
}

#[test]
fn what_functions_store_is_known_in_loops() {
    // Other registers are live across the call, in machine registers or slots.
    let code =
        [Op::Sum { sum: r(1), n: r(0) }, Op::Sum { sum: r(2), n: r(1) }, Op::Next { n: r(0), to: Label(0) }];
    check(&code, (4, 0, 100), 1, 10);
    check(&code, (4, 0, 100), 2, 100 + 4 + 7 + 9 + 10);
    // The value is only read by the function that the next bytecode calls.
    let twice = [Op::Low { dst: r(0), n: r(1) }, Op::Sum { sum: r(0), n: r(1) }, Op::Double { n: r(0) }];
    check(&twice, (5, 0x105, 0), 0, (0x05 + 0x105) * 2);
}
