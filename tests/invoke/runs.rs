//! Calls whose arguments are a run of registers, of any length.

use super::*;

/// `a - 2 * b + 3 * c - …`, with this many arguments.
fn weighted(count: u32) -> Vec<Op> {
    let mut code = vec![Op::Const { dst: out(count), value: Imm(0) }];
    for at in 0..count {
        for _ in 0..=at % 4 {
            code.push(Op::Add { dst: out(count), a: reg(count), b: reg(at) });
        }
        code.push(Op::AddConst { dst: out(count), a: reg(count), k: Imm(at as i64) });
    }
    code.push(Op::Return { a: reg(count) });
    code
}

#[test]
fn a_run_of_registers_is_the_arguments() {
    for count in [0, 1, 2, 4, 5, 6, 7, 8, 63, 64, 65, 66, 300] {
        for (name, engine) in engines() {
            let callee = engine.define("weighted", weighted(count), count + 1).expect("it is right");
            let args = Regs { first: 3, count };
            let mut code: Vec<Op> = (0..count)
                .map(|at| Op::AddConst { dst: out(3 + at), a: reg(0), k: Imm(at as i64 * 7 - 20) })
                .collect();
            code.extend([
                Op::CallRun { dst: out(2), f: Imm(callee.number()), args },
                Op::CallRunDynamic { dst: out(1), f: 1.into(), args },
                Op::Add { dst: out(2), a: reg(2), b: reg(1) },
                Op::Return { a: reg(2) },
            ]);
            let caller = engine.define("caller", code, 3 + count).expect("it is right");
            let expected = |n: i64| -> i64 {
                (0..count as i64).map(|at| (n + at * 7 - 20) * (at % 4 + 1) + at).sum::<i64>() * 2
            };
            for n in 0..10 {
                let result: i64 =
                    engine.call(caller, &mut Vm::default(), (n, callee.number())).expect("it ends");
                assert_eq!(result, expected(n), "{name}, {count} arguments");
            }
        }
    }
}

#[test]
fn a_run_that_is_too_long_for_the_callee_is_a_bad_call() {
    for (name, engine) in engines() {
        let callee = engine.define("callee", weighted(2), 3).expect("it is right");
        for count in [4, 70] {
            let args = Regs { first: 1, count };
            let code =
                vec![Op::CallRun { dst: out(0), f: Imm(callee.number()), args }, Op::Return { a: reg(0) }];
            let caller = engine.define("caller", code, 80).expect("it is right");
            for _ in 0..5 {
                let result = engine.call::<_, i64>(caller, &mut Vm::default(), (1i64,));
                assert_eq!(result, Err(Error::Trap { trap: Trap::BadCall, at: 0 }), "{name}, {count}");
            }
        }
    }
}

#[test]
fn a_run_with_floats_goes_around_a_loop() {
    for (name, engine) in engines() {
        let callee = vec![Op::Half { dst: 2.into(), a: 1.into() }, Op::ReturnFloat { a: 2.into() }];
        let callee = engine.define("half", callee, 3).expect("it is right");
        let code = vec![
            Op::CallRunFloat { dst: 3.into(), f: Imm(callee.number()), args: RegsMut { first: 2, count: 2 } },
            Op::Loop { n: 0.into(), to: Label(0) },
            Op::ReturnFloat { a: 3.into() },
        ];
        let caller = engine.define("caller", code, 4).expect("it is right");
        let args = (10i64, 0i64, 0i64, 4096.0f64);
        let result: f64 = engine.call(caller, &mut Vm::default(), args).expect("it ends");
        assert_eq!(result, 4.0, "{name}");
    }
}

#[test]
fn what_is_written_through_a_window_is_there_for_the_next_step() {
    for (name, engine) in engines() {
        let callee = engine.define("weighted", weighted(3), 4).expect("it is right");
        let run = RegsMut { first: 1, count: 3 };
        let start = |code: &[Op]| -> Vec<Op> {
            let first = (1..=4).map(|at| Op::AddConst { dst: out(at), a: reg(0), k: Imm(at as i64 * 10) });
            first.chain(code.iter().copied()).collect()
        };
        let shifts = start(&[Op::Shift { dst: out(4), run }, Op::Return { a: reg(4) }]);
        let overlaps = start(&[Op::Shift { dst: out(3), run }, Op::Return { a: reg(3) }]);
        let calls = start(&[
            Op::ShiftAndCall { dst: out(2), f: Imm(callee.number()), run },
            Op::Add { dst: out(4), a: reg(1), b: reg(2) },
            Op::Return { a: reg(4) },
        ]);
        let all = Regs { first: 0, count: 5 };
        let looks = start(&[Op::ShiftAndLook { run, all }, Op::Return { a: reg(2) }]);
        let [shifts, overlaps, calls, looks] =
            [shifts, overlaps, calls, looks].map(|code| engine.define("f", code, 5).expect("it is right"));
        for n in 0..5i64 {
            let mut vm = Vm::default();
            let mut call = |function| engine.call::<_, i64>(function, &mut vm, (n,)).expect("it ends");
            assert_eq!(call(shifts), n + 30, "{name}");
            assert_eq!(call(overlaps), n + 30, "{name}");
            // The callee got 20, 30, 0.
            assert_eq!(call(calls), n + 20 + (n + 20) + 2 * (n + 30) + 1 + 2, "{name}");
            assert_eq!(call(looks), n + 30, "{name}");
            assert_eq!(vm.notes, [n, n + 20, n + 30, 0, n + 40], "{name}");
        }
    }
}

/// Calls function 0 with runs of registers of these lengths in turn, as often as register 0 says, and sums up the results.
fn in_turn(lengths: &[u32]) -> Vec<Op> {
    let mut code: Vec<Op> = lengths
        .iter()
        .flat_map(|&count| {
            let call = Op::CallRun { dst: out(1), f: Imm(0), args: Regs { first: 3, count } };
            [call, Op::Add { dst: out(2), a: reg(2), b: reg(1) }]
        })
        .collect();
    code.push(Op::Loop { n: 0.into(), to: Label(0) });
    code.push(Op::Return { a: reg(2) });
    code
}

/// A function that sums up twelve registers, each multiplied by its number, so that it reads all of them.
fn add_up() -> Vec<Op> {
    let mut code = vec![Op::Const { dst: out(12), value: Imm(0) }];
    for register in 0..12 {
        for _ in 0..=register {
            code.push(Op::Add { dst: out(12), a: reg(12), b: reg(register) });
        }
    }
    code.push(Op::Return { a: reg(12) });
    code
}

#[test]
fn a_function_may_be_called_with_any_number_of_arguments_in_turn() {
    let sum = |count: u32| (1..=i64::from(count)).map(|at| at * (at * 7 + 1)).sum::<i64>();
    let turns: &[&[u32]] =
        &[&[1, 2], &[2, 1], &[0, 5], &[12, 3], &[6, 5, 7], &[0, 12, 1, 11, 2, 10, 3, 9, 4, 8, 5, 7, 6]];
    for lengths in turns {
        for (name, engine) in engines() {
            let callee = engine.define("add up", add_up(), 13).expect("it is right");
            let mut caller =
                (3..15).map(|at| Op::Const { dst: out(at), value: Imm(i64::from(at - 2) * 7 + 1) });
            let mut code: Vec<Op> = caller.by_ref().collect();
            let first = code.len() as u32;
            code.extend(in_turn(lengths));
            for op in &mut code {
                if let Op::Loop { to, .. } = op {
                    *to = Label(first);
                }
            }
            let caller = engine.define("caller", code, 15).expect("it is right");
            let expected: i64 = lengths.iter().map(|&count| sum(count)).sum();
            for round in 0..4 {
                // The previous contents of the stack must not appear as arguments that were not passed.
                let result: i64 = engine.call(caller, &mut Vm::default(), (50i64,)).expect("it ends");
                assert_eq!(result, 50 * expected, "{name} {lengths:?}");
                if round == 1 {
                    engine.discard(callee).expect("it is there");
                }
            }
            // More arguments than the function has registers are still an error.
            let many = vec![
                Op::CallRun { dst: out(0), f: Imm(0), args: Regs { first: 0, count: 14 } },
                Op::Return { a: reg(0) },
            ];
            let many = engine.define("many", many, 14).expect("it is right");
            let result: Result<i64, Error> = engine.call(many, &mut Vm::default(), ());
            assert_eq!(result, Err(Error::Trap { trap: Trap::BadCall, at: 0 }), "{name}");
        }
    }
}

#[test]
fn calls_with_two_numbers_of_arguments_are_quick() {
    if azulejo::can_compile().is_err() || cfg!(not(target_arch = "x86_64")) {
        return;
    }
    for builder in [
        Engine::<Op>::builder(),
        Engine::<Op>::builder().only(Tier::Baseline),
        Engine::<Op>::builder().only(Tier::Optimizer),
    ] {
        let engine = builder.build();
        engine
            .define("add", vec![Op::Add { dst: out(0), a: reg(0), b: reg(1) }, Op::Return { a: reg(0) }], 2)
            .expect("it is right");
        let time = |lengths: &[u32]| {
            let caller = engine.define("caller", in_turn(lengths), 15).expect("it is right");
            let call = || {
                let start = std::time::Instant::now();
                engine.call::<_, i64>(caller, &mut Vm::default(), (100_000i64,)).expect("it ends");
                start.elapsed()
            };
            call();
            (0..7).map(|_| call()).min().expect("there are some")
        };
        let (same, turns) = (time(&[2, 2]), time(&[2, 1]));
        // Calls through the engine would take ten times as long.
        assert!(turns < same * 4, "{turns:?}, and {same:?} where all calls are alike");
    }
}

#[test]
fn a_wrong_guess_of_the_number_of_arguments_is_no_burden() {
    for (name, engine) in engines() {
        // The function declares at most two arguments, but most of its calls pass one.
        let callee =
            Code::from(vec![Op::Add { dst: out(0), a: reg(0), b: reg(1) }, Op::Return { a: reg(0) }]);
        let callee = engine.define("callee", callee.with_arguments(2), 2).expect("it is right");
        let caller = engine.define("caller", in_turn(&[1]), 15).expect("it is right");
        let both = engine.define("both", in_turn(&[2, 1]), 15).expect("it is right");
        if name != "interpreter" && azulejo::can_compile().is_ok() {
            engine.compile(callee).expect("it compiles");
        }
        for function in [caller, both, caller] {
            let result: i64 = engine.call(function, &mut Vm::default(), (300i64,)).expect("it ends");
            assert_eq!(result, 0, "{name}");
        }
        let compiled = engine.stats().optimizer_for_calls.compiled;
        assert!(compiled <= 5, "{name}: {compiled}");
    }
}
