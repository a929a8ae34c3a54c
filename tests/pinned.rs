//! Constants that a bytecode type pins are in machine registers in baseline code. They are there however the code is entered, and behind
//! whatever it calls.

#![cfg(all(target_arch = "x86_64", any(unix, windows)))]

use azulejo::prelude::*;

/// What words with something else than a number have above it.
const TAG: u64 = 0xfff9 << 48;
/// A boxed address is this far above the address.
const BOX: u64 = 0xfffc << 48;

#[derive(Bytecode, Clone, Copy, Debug)]
#[bytecode(context = Vm, pinned(TAG, BOX.wrapping_neg()))]
enum Op {
    /// `dst` is `a` if that is a number, and 0.
    Number {
        dst: Out<u64>,
        a: In<u64>,
    },
    /// The element at an index of the words at a boxed address.
    Get {
        dst: Out<u64>,
        words: In<u64>,
        at: Imm<i32>,
    },
    Set {
        words: In<u64>,
        at: Imm<i32>,
        value: In<u64>,
    },
    Nil {
        dst: Out<u64>,
    },
    /// Either constant, by a flag: it is a value that changes.
    Choose {
        dst: Out<u64>,
        a: In<u64>,
    },
    Add {
        dst: Out<u64>,
        a: In<u64>,
        b: In<u64>,
    },
    /// How far it is to the constant. An instruction writes its result where the constant was.
    Below {
        dst: Out<u64>,
        a: In<u64>,
    },
    /// The address in a box, and 0 if it is none.
    Unbox {
        dst: Out<u64>,
        a: In<u64>,
    },
    /// Whether the value is below all boxes.
    IsBelow {
        dst: Out<u64>,
        a: In<u64>,
    },
    /// Calls Rust, which changes all registers that it may.
    Mix {
        dst: Out<u64>,
        a: In<u64>,
    },
    Call {
        dst: Out<u64>,
        f: Imm<u32>,
        a: In<u64>,
    },
    Loop {
        n: InOut<u64>,
        to: Label,
    },
    Return {
        a: In<u64>,
    },
}

/// Nothing is in it.
struct Vm;

template! {
    Op::Number => (if (ult $a &TAG) $a (const 0 u64))
    Op::Get    => unsafe (load (idx (sub $words &BOX) (scast $at i64) 8) u64)
    Op::Set    => unsafe (store (addr (idx (sub $words &BOX) (scast $at i64) 8) 8) $value u64)
    Op::Nil    => &TAG
    Op::Choose => (if (nz $a) &TAG (add $a 1))
    Op::Add    => (add $a $b)
    Op::Below  => (sub &TAG $a)
    Op::Unbox  => (if (uge $a &BOX) (sub $a &BOX) (const 0 u64))
    Op::IsBelow => (if (ult $a &BOX) (const 1 u64) (const 0 u64))
    Op::Mix    => (if (ult $a &TAG) (call mix (arglist (carg $a u64)) u64) &TAG)
    Op::Call   => (invoke $f (arglist $a) u64)
    Op::Loop!  => (dov (set $n (sub $n 1)) (when (nz $n) (branch $to)))
    Op::Return => (return $a)
}

fn mix(a: u64) -> u64 {
    // So many values that callee-saved registers are used.
    let many: [u64; 24] = std::array::from_fn(|at| std::hint::black_box(a.rotate_left(at as u32)));
    many.iter().fold(0, |sum, one| sum ^ one) >> 16
}

fn r<T: From<u32>>(register: u32) -> T {
    register.into()
}

/// Uses both constants in a loop, behind calls of Rust and of the first function. Register 0 is a boxed address of four words.
fn code() -> Vec<Op> {
    vec![
        Op::Get { dst: r(1), words: r(0), at: Imm(0) },
        Op::Number { dst: r(2), a: r(1) },
        Op::Number { dst: r(3), a: r(0) },
        Op::Mix { dst: r(4), a: r(2) },
        Op::Number { dst: r(4), a: r(4) },
        Op::Call { dst: r(5), f: Imm(0), a: r(4) },
        Op::Number { dst: r(5), a: r(5) },
        Op::Get { dst: r(6), words: r(0), at: Imm(1) },
        Op::Loop { n: r(6), to: Label(10) },
        Op::Return { a: r(4) },
        Op::Set { words: r(0), at: Imm(0), value: r(6) },
        Op::Nil { dst: r(7) },
        Op::Choose { dst: r(8), a: r(3) },
        Op::Add { dst: r(7), a: r(7), b: r(8) },
        Op::Add { dst: r(7), a: r(7), b: r(5) },
        Op::Set { words: r(0), at: Imm(2), value: r(7) },
        Op::Add { dst: r(9), a: r(9), b: r(7) },
        Op::Add { dst: r(9), a: r(9), b: r(4) },
        Op::Loop { n: r(1), to: Label(2) },
        Op::Return { a: r(9) },
    ]
}

fn run(engine: &Engine<Op>, words: &mut [u64; 4]) -> u64 {
    let callee = vec![
        Op::Number { dst: r(1), a: r(0) },
        Op::Mix { dst: r(2), a: r(1) },
        Op::Add { dst: r(1), a: r(1), b: r(2) },
        Op::Return { a: r(1) },
    ];
    engine.define("callee", callee, 3).expect("the code is right");
    let function = engine.define("uses constants", code(), 10).expect("the code is right");
    let boxed = BOX + words.as_mut_ptr().expose_provenance() as u64;
    engine.call::<_, u64>(function, &mut Vm, (boxed,)).expect("it ends")
}

#[test]
fn pinned_constants_are_the_same_in_all_tiers() {
    let start = [50, 40, 0, 0];
    let mut expected = start;
    let of_rust = Engine::<Op>::builder().only(Tier::Interpreter).rust_interpreter(true).build();
    let result = run(&of_rust, &mut expected);
    assert_ne!(result, 0);
    assert_ne!(expected, start);
    let builder = Engine::<Op>::builder;
    let engines = [
        builder().only(Tier::Interpreter).build(),
        builder().only(Tier::Baseline).build(),
        builder().only(Tier::Optimizer).build(),
        builder().thresholds(3, 9).build(),
        builder().only(Tier::Baseline).frame_pointers(true).build(),
    ];
    for engine in engines {
        let mut words = start;
        assert_eq!(run(&engine, &mut words), result);
        assert_eq!(words, expected);
    }
}

#[test]
fn baseline_code_has_each_pinned_constant_once() {
    let engine = Engine::<Op>::builder().only(Tier::Baseline).build();
    let code = vec![
        Op::Get { dst: r(1), words: r(0), at: Imm(0) },
        Op::Number { dst: r(2), a: r(1) },
        Op::Get { dst: r(3), words: r(0), at: Imm(1) },
        Op::Number { dst: r(4), a: r(3) },
        Op::Add { dst: r(4), a: r(2), b: r(4) },
        Op::Return { a: r(4) },
    ];
    let function = engine.define("sum", code, 5).expect("the code is right");
    engine.compile_in(function, Tier::Baseline).expect("it compiles");
    let listing = engine.disassemble(function).expect("it is compiled");
    for constant in [TAG, BOX.wrapping_neg()] {
        let times = listing.bytes().windows(8).filter(|bytes| *bytes == constant.to_le_bytes()).count();
        assert_eq!(times, 1, "{listing}");
    }
    // An access to what is boxed takes both registers, and nothing is added before.
    assert_eq!(listing.to_string().matches("+r15").count(), 2, "{listing}");
}

#[test]
fn whoever_calls_need_not_have_the_constants() {
    let numbers = [5, 1 << 60, TAG - 1, TAG, TAG + 5];
    let engine = Engine::<Op>::builder().only(Tier::Baseline).build();
    let inner = vec![Op::Number { dst: r(1), a: r(0) }, Op::Return { a: r(1) }];
    let inner = engine.define("inner", inner, 2).expect("the code is right");
    let outer = vec![Op::Call { dst: r(1), f: Imm(0), a: r(0) }, Op::Return { a: r(1) }];
    let outer = engine.define("outer", outer, 2).expect("the code is right");
    for function in [inner, outer] {
        for number in numbers {
            let expected = if number < TAG { number } else { 0 };
            assert_eq!(engine.call::<_, u64>(function, &mut Vm, (number,)), Ok(expected), "{number:x}");
        }
    }
}

/// Who compares with a constant whose negation is pinned compares the sum with that.
#[test]
fn the_sum_says_on_which_side_a_value_is() {
    let values = [0, 5, BOX.wrapping_neg() - 1, BOX.wrapping_neg(), TAG, BOX - 1, BOX, BOX + 5, u64::MAX];
    for tier in [Tier::Interpreter, Tier::Baseline, Tier::Optimizer] {
        let engine = Engine::<Op>::builder().only(tier).build();
        let code = vec![Op::Unbox { dst: r(1), a: r(0) }, Op::Return { a: r(1) }];
        let unbox = engine.define("unbox", code, 2).expect("the code is right");
        let code = vec![Op::IsBelow { dst: r(1), a: r(0) }, Op::Return { a: r(1) }];
        let is_below = engine.define("is below", code, 2).expect("the code is right");
        for value in values {
            let address = value.saturating_sub(BOX);
            assert_eq!(engine.call::<_, u64>(unbox, &mut Vm, (value,)), Ok(address), "{value:x}, {tier:?}");
            let expected = u64::from(value < BOX);
            assert_eq!(
                engine.call::<_, u64>(is_below, &mut Vm, (value,)),
                Ok(expected),
                "{value:x}, {tier:?}"
            );
        }
        if tier == Tier::Baseline {
            for function in [unbox, is_below] {
                let listing = engine.disassemble(function).expect("it is compiled");
                let has = |bits: u64| listing.bytes().windows(8).any(|bytes| bytes == bits.to_le_bytes());
                assert!(has(BOX.wrapping_neg()) && !has(BOX), "{listing}");
            }
        }
    }
}

#[test]
fn what_computes_with_a_constant_leaves_it_as_it_is() {
    let engine = Engine::<Op>::builder().only(Tier::Baseline).build();
    let code = vec![
        Op::Below { dst: r(1), a: r(0) },
        Op::Below { dst: r(0), a: r(1) },
        Op::Below { dst: r(1), a: r(0) },
        Op::Return { a: r(1) },
    ];
    let function = engine.define("thrice", code, 2).expect("the code is right");
    for number in [5, 1 << 60, TAG + 5] {
        assert_eq!(engine.call::<_, u64>(function, &mut Vm, (number,)), Ok(TAG.wrapping_sub(number)));
    }
}

#[test]
fn functions_without_pinned_constants_do_not_load_them() {
    let engine = Engine::<Op>::builder().only(Tier::Baseline).build();
    let code = vec![Op::Add { dst: r(1), a: r(0), b: r(0) }, Op::Return { a: r(1) }];
    let function = engine.define("twice", code, 2).expect("the code is right");
    engine.compile_in(function, Tier::Baseline).expect("it compiles");
    let listing = engine.disassemble(function).expect("it is compiled");
    assert!(!listing.bytes().windows(8).any(|bytes| bytes == TAG.to_le_bytes()), "{listing}");
}
