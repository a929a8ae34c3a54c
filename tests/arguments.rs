//! Functions that declare how many arguments they take: all other registers are zero when the function is called, and only
//! then.

#![allow(deprecated, reason = "programs name different registers where templates read inputs late")]

use azulejo::prelude::*;

#[derive(Bytecode, Clone, Copy, Debug)]
enum Op {
    Add {
        dst: InOut<i64>,
        a: In<i64>,
    },
    /// Writes `dst` and exits; then the interpreter executes the whole bytecode again.
    CountUp {
        dst: InOut<i64>,
        to: In<i64>,
    },
    Down {
        count: InOut<i64>,
        to: Label,
    },
    Call {
        dst: Out<i64>,
        function: Imm<u32>,
        a: In<i64>,
    },
    Return {
        a: In<i64>,
    },
}

template! {
    Op::Add    => (add $dst $a)
    Op::CountUp! => (do (set $dst (add $dst 1)) (when (lt $dst $to) (exit)))
    Op::Down!  => (do (set $count (sub $count 1)) (when (nz $count) (branch $to)))
    Op::Call   => (invoke $function (arglist $a) i64)
    Op::Return => (return $a)
}

fn r<T: From<u32>>(register: u32) -> T {
    register.into()
}

/// The result of a function with four registers for an argument. It must be the same in every tier, for calls from outside
/// and from another function, which are often enough to tier up.
fn result(code: &[Op], argument: i64) -> i64 {
    let run = |engine: Engine<Op>| {
        let function = engine.define("f", Code::from(code).with_arguments(1), 4).expect("it is right");
        let call = Op::Call { dst: r(0), function: Imm(function.number()), a: r(0) };
        let caller = engine.define("caller", vec![call, Op::Return { a: r(0) }], 1).expect("it is right");
        let results: Vec<Result<i64, Error>> =
            (0..40).map(|at| engine.call([function, caller][at % 2], &mut (), (argument,))).collect();
        assert!(results.iter().all(|result| *result == results[0]), "{results:?}");
        results[0].expect("it returns")
    };
    let expected = run(Engine::<Op>::builder().only(Tier::Interpreter).build());
    for tier in [Tier::Baseline, Tier::Optimizer] {
        if azulejo::can_compile().is_ok() {
            assert_eq!(run(Engine::<Op>::builder().only(tier).build()), expected, "{tier:?}");
        }
    }
    for thresholds in 1..10 {
        assert_eq!(run(Engine::<Op>::builder().thresholds(thresholds, thresholds + 2).build()), expected);
    }
    expected
}

#[test]
fn other_registers_are_zero() {
    let code = [Op::Add { dst: r(1), a: r(0) }, Op::Add { dst: r(2), a: r(1) }, Op::Return { a: r(2) }];
    assert_eq!(result(&code, 5), 5);
}

#[test]
fn they_have_values_where_a_loop_comes_back_to_the_start() {
    let code = [Op::Add { dst: r(1), a: r(0) }, Op::Down { count: r(0), to: r(0) }, Op::Return { a: r(1) }];
    assert_eq!(result(&code, 30), 465);
}

#[test]
fn they_have_values_where_the_first_bytecode_was_left() {
    let code = [Op::CountUp { dst: r(1), to: r(0) }, Op::Add { dst: r(1), a: r(0) }, Op::Return { a: r(1) }];
    assert!(result(&code, 1) >= 2);
}

#[test]
fn code_is_smaller_for_it() {
    if azulejo::can_compile().is_err() {
        return;
    }
    let engine = Engine::<Op>::new();
    let code = Code::from(vec![Op::Add { dst: r(0), a: r(3) }, Op::Return { a: r(0) }]);
    let all = engine.define("all", code.clone(), 4).expect("it is right");
    let one = engine.define("one", code.with_arguments(1), 4).expect("it is right");
    for function in [all, one] {
        engine.compile(function).expect("it compiles");
        assert_eq!(engine.call(function, &mut (), (7i64,)), Ok(7i64));
    }
    assert!(engine.code_len(one) < engine.code_len(all));
}

#[test]
fn more_arguments_are_too_many() {
    let engine = Engine::<Op>::builder().thresholds(2, 4).build();
    let code = Code::from(vec![Op::Return { a: r(1) }]).with_arguments(0);
    let function = engine.define("f", code, 2).expect("it is right");
    let call = Op::Call { dst: r(0), function: Imm(function.number()), a: r(0) };
    let caller = engine.define("caller", vec![call, Op::Return { a: r(0) }], 1).expect("it is right");
    for _ in 0..20 {
        assert_eq!(engine.call(function, &mut (), ()), Ok(0i64));
        let result = engine.call::<_, i64>(function, &mut (), (1i64,));
        assert_eq!(result, Err(Error::TooManyArguments { given: 1, most: 0 }));
        let result = engine.call::<_, i64>(caller, &mut (), (1i64,));
        assert_eq!(result, Err(Error::Trap { trap: Trap::BadCall, at: 0 }));
    }
}
