//! Functions that declare which of their registers are temporaries: the values that are handed on in machine registers,
//! those that are written to their slots, and the check of the declaration.

#![allow(deprecated, reason = "programs name different registers where templates read inputs late")]

use azulejo::__private::core::check::temporaries::temporaries;
use azulejo::__private::core::verify::{Fault, VerifyError, verify};
use azulejo::prelude::*;

#[derive(Bytecode, Clone, Copy, Debug)]
enum Op {
    Set { dst: Out<i64>, value: Imm<i64> },
    Add { dst: Out<i64>, a: In<i64>, b: In<i64> },
    AddShort { dst: Out<i32>, a: In<i32>, b: In<i32> },
    AddByte { dst: Out<i8>, a: In<i8>, b: In<i8> },
    AddFloat { dst: Out<f64>, a: In<f64>, b: In<f64> },
    Grow { a: InOut<i64>, by: In<i64> },
    SetIf { dst: Out<i64>, flag: In<i64>, value: In<i64> },
    SetEither { dst: Out<i64>, flag: In<i64>, a: In<i64>, b: In<i64> },
    Two { first: Out<i64>, second: Out<i64>, a: In<i64> },
    Around { dst: Out<i64>, a: In<i64>, b: In<i64> },
    Turn { run: RegsMut },
    Sum { dst: Out<i64>, run: Regs },
    Leave { dst: Out<i64>, a: In<i64> },
    Guard { dst: Out<i64>, a: In<i64> },
    Look { dst: Out<i64>, a: In<i64> },
    Twice { dst: Out<i64>, a: In<i64> },
    GotoIf { a: In<i64>, to: Label },
    Choose { a: In<i64>, to: Labels },
    Push { a: In<i64>, value: Push<i64> },
    AddTop { a: Pop<i64>, b: Pop<i64>, sum: Push<i64> },
    Pop { dst: Out<i64>, a: Pop<i64> },
    Return { a: In<i64> },
}

template! {
    Op::Set        => (copy $value)
    Op::Add        => (add $a $b)
    Op::AddShort   => (add $a $b)
    Op::AddByte    => (add $a $b)
    Op::AddFloat   => (add $a $b)
    Op::Grow       => (add $a $by)
    Op::SetIf!     => (when (nz $flag) (set $dst $value))
    Op::SetEither! => (ifv (nz $flag) (set $dst $a) (set $dst $b))
    Op::Two!       => (dov (set $first (add $a 1)) (set $second (add $a 2)))
    // `$b` may be the register that was just written
    Op::Around!    => (dov (set $dst (add $a 1)) (set $dst (add $b 1)))
    Op::Turn       => (callv turn (arglist (carg (window $run) ptr) (carg (length $run) u64)))
    Op::Sum        => (call sum (arglist (carg (window $run) ptr) (carg (length $run) u64)) i64)
    Op::Leave!     => (dov (set $dst (add $a 1)) (when (gt $a 100) (exit)))
    Op::Guard      => (let: (($sum (add $a 1))) (do (guard (lt $a 100) (callv nothing (arglist))) $sum))
    Op::Look       => (add (call observes look (arglist) i64) $a)
    Op::Twice      => (add $a (do (callv nothing (arglist)) $a))
    Op::GotoIf     => (when (nz $a) (branch $to))
    Op::Choose     => (switch $a $to)
    Op::Push       => (copy $a)
    Op::AddTop     => (add $a $b)
    Op::Pop        => (copy $a)
    Op::Return     => (return $a)
}

fn turn(run: *mut u64, count: u64) {
    // SAFETY: the template passes a run of registers.
    unsafe { std::slice::from_raw_parts_mut(run, count as usize) }.rotate_left(1);
}

fn sum(run: *const u64, count: u64) -> i64 {
    // SAFETY: as above.
    unsafe { std::slice::from_raw_parts(run, count as usize) }.iter().sum::<u64>() as i64
}

fn nothing() {}

fn look() -> i64 {
    7
}

fn r<T: From<u32>>(register: u32) -> T {
    register.into()
}

/// The functions of this file have this many registers, and this is the first temporary.
const REGISTERS: u32 = 6;
const FIRST: u32 = 3;

fn add(dst: u32, a: u32, b: u32) -> Op {
    Op::Add { dst: r(dst), a: r(a), b: r(b) }
}

#[cfg(all(target_arch = "x86_64", any(unix, windows)))]
mod handed_over {
    use super::*;
    use azulejo_core::pass::Blind;
    use azulejo_core::pass::build::Linkage;
    use azulejo_x64::{Compiler, Features, Function, Status, X64};

    /// The initial value of each slot.
    const OLD: i64 = 20;

    /// Runs a function in baseline code, and checks its result and the contents of its slots. Slots that are not listed
    /// must be unchanged.
    #[track_caller]
    fn leaves(code: &[Op], result: i64, slots: &[(usize, i64)]) {
        let shape = verify(code, &[2, 3], REGISTERS).expect("the code is right");
        let mut compiler = Compiler::new(1 << 20, &X64, Features::detect().bits(), &azulejo::rules::MATCHERS)
            .expect("this machine runs code");
        temporaries(code, &[2, 3], &shape, FIRST).expect("what it says is true");
        let function = Function {
            code,
            labels: &[2, 3],
            registers: REGISTERS,
            shape: &shape,
            unit: std::ptr::null(),
            temporaries: Some(FIRST),
            slow_paths: &azulejo::__private::core::ir::slow_paths::NO_SLOW_PATHS,
            leaves_out: false,
            sites: None,
            budget: None,
        };
        let compiled = compiler.baseline(&function, Linkage::default(), &mut Blind).expect("it compiles");
        let mut frame = [OLD as u64; 8];
        // SAFETY: the frame has the slots that the code uses.
        let end = unsafe { compiled.enter(std::ptr::null_mut(), frame.as_mut_ptr(), 0) };
        assert_eq!(end, Status::Returned(result as u64));
        let mut expected = [OLD as u64; 8];
        slots.iter().for_each(|(slot, value)| expected[*slot] = *value as u64);
        assert_eq!(frame, expected);
    }

    #[test]
    fn what_the_next_bytecode_takes_is_not_written() {
        leaves(&[add(3, 0, 1), Op::Return { a: r(3) }], 40, &[]);
        leaves(&[add(3, 0, 1), add(4, 3, 2), Op::Return { a: r(4) }], 60, &[]);
        // The value is the second operand; an operand that is also written; one of three operands.
        leaves(&[add(3, 0, 1), add(4, 2, 3), Op::Return { a: r(4) }], 60, &[]);
        leaves(&[add(3, 0, 1), Op::Grow { a: r(3), by: r(2) }, Op::Return { a: r(3) }], 60, &[]);
        let either = Op::SetEither { dst: r(0), flag: r(3), a: r(1), b: r(2) };
        leaves(&[Op::Set { dst: r(3), value: Imm(0) }, either, Op::Return { a: r(0) }], 20, &[(0, 20)]);
        let two = Op::Two { first: r(0), second: r(3), a: r(1) };
        leaves(&[two, add(1, 3, 0), Op::Return { a: r(1) }], 43, &[(0, 21), (1, 43)]);
        // Conditional jumps take the value from the register, too.
        let goto = Op::GotoIf { a: r(3), to: Label(3) };
        leaves(&[add(3, 0, 1), goto, Op::Set { dst: r(0), value: Imm(1) }, Op::Return { a: r(0) }], 20, &[]);
    }

    #[test]
    fn of_the_operand_stack_the_same_is_true() {
        let push = |a| Op::Push { a: r(a), value: Push::new() };
        let pop = Op::Pop { dst: r(0), a: Pop::new() };
        let add = Op::AddTop { a: Pop::new(), b: Pop::new(), sum: Push::new() };
        leaves(&[push(0), push(1), add, pop, Op::Return { a: r(0) }], 40, &[(0, 40), (6, 20)]);
    }

    #[test]
    fn of_all_types() {
        let short = |dst, a, b| Op::AddShort { dst: r(dst), a: r(a), b: r(b) };
        let byte = |dst, a, b| Op::AddByte { dst: r(dst), a: r(a), b: r(b) };
        let float = |dst, a, b| Op::AddFloat { dst: r(dst), a: r(a), b: r(b) };
        let set = |dst, value| Op::Set { dst: r(dst), value: Imm(value) };
        leaves(&[short(3, 0, 1), short(4, 3, 2), Op::Return { a: r(4) }], 60, &[(4, 60)]);
        leaves(&[byte(3, 0, 1), byte(4, 3, 2), Op::Return { a: r(4) }], 60, &[(4, 60)]);
        leaves(&[set(3, 1 << 40 | 5), short(4, 3, 2), Op::Return { a: r(4) }], 25, &[(4, 25)]);
        // The upper bits of a narrow result are zero.
        leaves(
            &[set(0, 250), byte(3, 0, 1), short(4, 3, 1), Op::Return { a: r(4) }],
            34,
            &[(0, 250), (4, 34)],
        );
        let double = |value: f64| value.to_bits() as i64;
        let code = [set(0, double(1.5)), float(3, 0, 0), float(1, 3, 0), Op::Return { a: r(1) }];
        leaves(&code, double(4.5), &[(0, double(1.5)), (1, double(4.5))]);
        // An integer may be the bits of a float. Any other value that is read as another type is not handed on.
        let code = [set(0, double(1.5)), float(3, 0, 0), add(1, 3, 2), Op::Return { a: r(1) }];
        let sum = double(3.0) + 20;
        leaves(&code, sum, &[(0, double(1.5)), (1, sum)]);
        let code = [set(0, double(1.5)), set(3, double(3.0)), float(1, 3, 0), Op::Return { a: r(1) }];
        leaves(&code, double(4.5), &[(0, double(1.5)), (1, double(4.5)), (3, double(3.0))]);
    }

    #[test]
    fn what_may_be_looked_for_is_written() {
        // The value is read later, or after a jump; or its register is not a temporary.
        leaves(
            &[add(3, 0, 1), add(0, 1, 2), add(1, 0, 3), Op::Return { a: r(1) }],
            80,
            &[(0, 40), (1, 80), (3, 40)],
        );
        leaves(&[add(2, 0, 1), add(0, 2, 1), Op::Return { a: r(0) }], 60, &[(0, 60), (2, 40)]);
        let code = [add(3, 0, 1), Op::GotoIf { a: r(0), to: Label(2) }, add(4, 3, 0), Op::Return { a: r(4) }];
        leaves(&code, 60, &[(3, 40)]);
        // The register is written conditionally; before another read of it; before an exit.
        let code = [Op::SetIf { dst: r(3), flag: r(0), value: r(1) }, add(0, 3, 1), Op::Return { a: r(0) }];
        leaves(&code, 40, &[(0, 40), (3, 20)]);
        let around = Op::Around { dst: r(3), a: r(0), b: r(4) };
        leaves(&[around, add(0, 3, 1), Op::Return { a: r(0) }], 41, &[(0, 41), (3, 21)]);
        leaves(
            &[Op::Leave { dst: r(3), a: r(0) }, add(0, 3, 1), Op::Return { a: r(0) }],
            41,
            &[(0, 41), (3, 21)],
        );
        // The value is read by a bytecode that the interpreter may execute again; again behind a call; as part of a run;
        // and by a template that observes all registers.
        leaves(
            &[add(3, 0, 1), Op::Guard { dst: r(0), a: r(3) }, Op::Return { a: r(0) }],
            41,
            &[(0, 41), (3, 40)],
        );
        leaves(
            &[add(3, 0, 1), Op::Twice { dst: r(0), a: r(3) }, Op::Return { a: r(0) }],
            80,
            &[(0, 80), (3, 40)],
        );
        let sum = Op::Sum { dst: r(0), run: Regs { first: 3, count: 2 } };
        leaves(&[add(3, 0, 1), sum, Op::Return { a: r(0) }], 60, &[(0, 60), (3, 40)]);
        leaves(
            &[add(3, 0, 1), Op::Look { dst: r(0), a: r(3) }, Op::Return { a: r(0) }],
            47,
            &[(0, 47), (3, 40)],
        );
    }
}

#[test]
fn every_tier_gives_the_same() {
    // A loop that counts its argument down, with temporaries.
    let code = vec![
        add(3, 0, 1),
        add(1, 3, 2),
        Op::Set { dst: r(4), value: Imm(-1) },
        add(0, 0, 4),
        Op::AddShort { dst: r(5), a: r(0), b: r(2) },
        Op::Guard { dst: r(4), a: r(5) },
        add(2, 4, 2),
        Op::GotoIf { a: r(0), to: Label(0) },
        add(3, 1, 2),
        Op::Return { a: r(3) },
    ];
    let run = |engine: Engine<Op>| {
        let code = Code::from(&*code).with_temporaries(FIRST);
        let function = engine.define("f", code, REGISTERS).expect("it is right");
        let results: Vec<Result<i64, Error>> =
            (0..20).map(|_| engine.call(function, &mut (), (150i64,))).collect();
        assert!(results.iter().all(|result| *result == results[0]), "{results:?}");
        results[0].expect("it returns")
    };
    let expected = run(Engine::<Op>::builder().only(Tier::Interpreter).build());
    if azulejo::can_compile().is_ok() {
        for tier in [Tier::Baseline, Tier::Optimizer] {
            assert_eq!(run(Engine::<Op>::builder().only(tier).build()), expected, "{tier:?}");
        }
    }
    for thresholds in 1..10 {
        let builder = Engine::<Op>::builder().thresholds(thresholds, 2 * thresholds);
        assert_eq!(run(builder.build()), expected, "{thresholds}");
    }
}

/// The error in a function's declaration of temporaries, if there is one.
fn fault(code: &[Op]) -> Option<(u32, Fault)> {
    let labels = [2, 3];
    let shape = verify(code, &labels, REGISTERS).expect("it is right otherwise");
    temporaries(code, &labels, &shape, FIRST).err().map(|VerifyError { at, fault, .. }| (at, fault))
}

#[test]
fn a_value_is_read_once() {
    let back = |a| Op::Return { a: r(a) };
    let again = |at, operand, register| Some((at, Fault::ReadAgain { operand, register }));
    assert_eq!(fault(&[add(3, 0, 1), add(4, 3, 0), back(4)]), None);
    assert_eq!(fault(&[add(3, 0, 1), add(0, 3, 3), back(0)]), again(1, 2, 3));
    assert_eq!(fault(&[add(3, 0, 1), add(0, 1, 3), back(3)]), again(2, 0, 3));
    assert_eq!(fault(&[add(0, 3, 1), back(3)]), again(1, 0, 3));
    // Registers before the first temporary may be read any number of times. A temporary with a new value may be read again.
    assert_eq!(fault(&[add(2, 0, 1), add(0, 2, 2), back(2)]), None);
    assert_eq!(fault(&[add(3, 0, 1), add(3, 3, 1), back(3)]), None);
    assert_eq!(fault(&[add(3, 0, 1), Op::Grow { a: r(3), by: r(0) }, back(3)]), None);
    // The value is certainly new, or only on some paths.
    let either = Op::SetEither { dst: r(3), flag: r(0), a: r(1), b: r(3) };
    assert_eq!(fault(&[either, back(3)]), None);
    let perhaps = Op::SetIf { dst: r(3), flag: r(0), value: r(3) };
    assert_eq!(fault(&[perhaps, back(3)]), again(1, 0, 3));
    // A `Regs` operand reads its registers; a `RegsMut` operand reads and writes them.
    let run = Regs { first: 2, count: 3 };
    assert_eq!(fault(&[Op::Sum { dst: r(0), run }, back(4)]), again(1, 0, 4));
    assert_eq!(fault(&[back(5), Op::Sum { dst: r(0), run }, back(5)]), None);
    let run = RegsMut { first: 2, count: 3 };
    assert_eq!(fault(&[Op::Turn { run }, Op::Turn { run }, back(4)]), None);
    assert_eq!(fault(&[add(0, 3, 4), Op::Turn { run }, back(4)]), again(1, 0, 3));
}

#[test]
fn whichever_way_control_comes() {
    let back = |a| Op::Return { a: r(a) };
    let again = |at, operand, register| Some((at, Fault::ReadAgain { operand, register }));
    let goto = |a, to| Op::GotoIf { a: r(a), to: Label(to) };
    // The value is read on one path only; on both; on one path and behind the join.
    assert_eq!(fault(&[add(3, 0, 1), goto(0, 3), back(3), back(3)]), None);
    assert_eq!(fault(&[add(3, 0, 1), goto(0, 3), add(0, 3, 1), back(3)]), again(3, 0, 3));
    assert_eq!(fault(&[add(3, 0, 1), goto(0, 3), add(3, 3, 1), back(3)]), None);
    assert_eq!(fault(&[add(3, 0, 1), goto(3, 3), back(0), back(3)]), again(3, 0, 3));
    let choose = |a| Op::Choose { a: r(a), to: Labels { first: 0, count: 2 } };
    assert_eq!(fault(&[add(3, 0, 1), choose(3), back(0), back(3)]), again(3, 0, 3));
    // The value is read in a loop.
    assert_eq!(fault(&[add(0, 3, 1), goto(0, 0), back(0)]), again(0, 1, 3));
    assert_eq!(fault(&[add(3, 0, 1), add(0, 3, 1), goto(0, 0), back(0)]), None);
    // The second read is unreachable.
    assert_eq!(fault(&[back(3), back(3)]), None);
}

#[test]
fn engines_look() {
    let code = vec![add(3, 0, 1), add(0, 3, 3), Op::Return { a: r(0) }];
    let defined = |first| {
        let code = Code::from(&*code).with_temporaries(first);
        Engine::<Op>::new().define("f", code, REGISTERS).map(|_| ()).map_err(|error| error.to_string())
    };
    assert_eq!(defined(FIRST + 1), Ok(()));
    let told =
        "bad bytecode: bytecode 1, Add: `b` is register 3, a temporary whose value may have been read before";
    assert_eq!(defined(FIRST), Err(told.into()));
}

/// Checking a function with this many registers and jumps would take too long, so its declaration is ignored.
#[test]
fn what_would_take_long_to_look_at_is_not_believed() {
    let temporary = 60_000;
    let mut code = vec![add(temporary, 0, 1), add(0, temporary, 1), add(0, temporary, 0)];
    for _ in 0..1200 {
        code.push(Op::GotoIf { a: r(0), to: Label(code.len() as u32 + 1) });
    }
    code.push(Op::Return { a: r(0) });
    for tier in [Tier::Interpreter, Tier::Baseline, Tier::Optimizer] {
        let engine: Engine<Op> = Engine::<Op>::builder().only(tier).build();
        let code = Code::from(&*code).with_temporaries(FIRST);
        let function = engine.define("f", code, temporary + 1).expect("nobody knows better");
        assert_eq!(engine.call(function, &mut (), (3i64, 4i64)), Ok(18i64), "{tier:?}");
    }
}
