//! Baseline code hands the value that was written last on to the next bytecode, in a machine register: also where a template has called
//! somebody before, and where several of its ways write.

#![cfg(all(target_arch = "x86_64", any(unix, windows)))]

mod floats;

use azulejo::RegsMut;
use azulejo::prelude::*;

#[derive(Bytecode, Clone, Copy, Debug)]
enum Op {
    /// The sum; a function of Rust makes it if `a` is large, and may look at all registers.
    Sum {
        dst: Out<i64>,
        a: In<i64>,
        b: In<i64>,
    },
    /// Writes one more than the smaller of the two, each way by itself.
    Smaller {
        dst: Out<i64>,
        a: In<i64>,
        b: In<i64>,
    },
    /// Takes the smaller register's value from the other, so that each way writes another register.
    Reduce {
        a: InOut<i64>,
        b: InOut<i64>,
    },
    /// Writes only if `a` is not zero.
    Keep {
        dst: InOut<i64>,
        a: In<i64>,
    },
    /// Writes, and lets a function write the registers behind that.
    Shift {
        dst: Out<i64>,
        a: In<i64>,
        run: RegsMut,
    },
    Return {
        a: In<i64>,
    },
}

template! {
    Op::Sum => (if (likely (lt $a (const 1000 i64))) (add $a $b)
        (call observes sum (arglist (carg $a i64) (carg $b i64)) i64))
    Op::Smaller! => (ifv (lt $a $b) (set $dst (add $a 1)) (set $dst (add $b 1)))
    Op::Reduce! => (letv: (($first $a) ($second $b))
        (ifv (lt $first $second) (set $b (sub $second $first)) (set $a (sub $first $second))))
    Op::Keep! => (when (nz $a) (set $dst $a))
    Op::Shift! => unsafe (dov
        (set $dst (add $a 1))
        (callv shift (arglist (carg (window $run) ptr) (carg (length $run) u64))))
    Op::Return => (return $a)
}

fn sum(a: i64, b: i64) -> i64 {
    a + b
}

/// Writes registers of the frame.
///
/// # Safety
///
/// As many words must be there.
unsafe fn shift(first: *mut i64, count: u64) {
    // SAFETY: the caller guarantees it.
    unsafe { std::slice::from_raw_parts_mut(first, count as usize) }.iter_mut().for_each(|word| *word *= 3);
}

fn r<T: From<u32>>(register: u32) -> T {
    register.into()
}

/// A function's baseline code.
fn baseline<B: Bytecode<Context = ()>>(code: impl Into<Code<B>>, registers: u32) -> String {
    let engine = Engine::<B>::builder().only(Tier::Baseline).build();
    let function = engine.define("test", code, registers).expect("the code is right");
    engine.compile_in(function, Tier::Baseline).expect("it compiles");
    engine.disassemble(function).expect("it is compiled").to_string()
}

/// How often a VM register is read from its slot.
fn reads(text: &str, register: u32) -> usize {
    text.matches(&format!(", [rbx+{:x}h]", register * 8)).count()
        + text.matches(&format!(", [rbx+{}]", register * 8)).count()
}

/// The result of a function in all tiers, which must agree.
fn in_all_tiers<B, R>(code: &Code<B>, registers: u32, arguments: (R, R)) -> R
where
    B: Bytecode<Context = ()> + Clone,
    R: Slot + PartialEq + std::fmt::Debug,
{
    let builder = || Engine::<B>::builder();
    let engines = [
        builder().only(Tier::Interpreter).rust_interpreter(true).build(),
        builder().only(Tier::Interpreter).build(),
        builder().only(Tier::Baseline).build(),
        builder().only(Tier::Optimizer).build(),
    ];
    let results = engines.map(|engine| {
        let function = engine.define("test", code.clone(), registers).expect("the code is right");
        engine.call::<_, R>(function, &mut (), arguments).expect("it ends")
    });
    assert_eq!(results, [results[0]; 4], "{code:?} with {arguments:?}");
    results[0]
}

/// The same, of code that promises nothing.
fn result(code: &[Op], registers: u32, arguments: (i64, i64)) -> i64 {
    in_all_tiers(&Code::from(code.to_vec()), registers, arguments)
}

#[test]
fn a_result_behind_a_call_that_observes_is_handed_on() {
    let code = vec![Op::Sum { dst: r(2), a: r(0), b: r(1) }, Op::Return { a: r(2) }];
    let text = baseline(code.clone(), 3);
    assert_eq!(reads(&text, 2), 0, "{text}");
    assert_eq!([(1, 2), (5000, 2)].map(|both| result(&code, 3, both)), [3, 5002]);
}

#[test]
fn what_all_ways_have_written_is_handed_on() {
    let code = vec![Op::Smaller { dst: r(2), a: r(0), b: r(1) }, Op::Return { a: r(2) }];
    let text = baseline(code.clone(), 3);
    assert_eq!(reads(&text, 2), 0, "{text}");
    assert_eq!([(1, 2), (5, 2)].map(|both| result(&code, 3, both)), [2, 3]);
}

#[test]
fn what_only_some_ways_have_written_is_read_from_its_slot() {
    let reduce = Op::Reduce { a: r(0), b: r(1) };
    for returned in [0, 1] {
        let code = [reduce, reduce, Op::Return { a: r(returned) }];
        let both = [(3, 7), (7, 3), (4, 4)].map(|both| result(&code, 2, both));
        assert_eq!(both, if returned == 0 { [3, 1, 0] } else { [1, 3, 4] });
    }
    let keep = [Op::Keep { dst: r(0), a: r(1) }, Op::Return { a: r(0) }];
    assert_eq!([(3, 7), (3, 0)].map(|both| result(&keep, 2, both)), [7, 3]);
}

#[test]
fn what_a_function_may_have_written_is_read_from_its_slot() {
    let run = RegsMut { first: 1, count: 2 };
    let code = [Op::Shift { dst: r(2), a: r(0), run }, Op::Return { a: r(2) }];
    assert_eq!(result(&code, 3, (4, 5)), 15);
}
