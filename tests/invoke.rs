//! Functions of bytecode that call each other, in every tier.

use azulejo::prelude::*;
use azulejo::{Code, Error, FunctionId};

#[derive(Bytecode, Clone, Copy, Debug)]
#[bytecode(context = Vm)]
enum Op {
    Const { dst: Out<i64>, value: Imm<i64> },
    Add { dst: Out<i64>, a: In<i64>, b: In<i64> },
    AddConst { dst: Out<i64>, a: In<i64>, k: Imm<i64> },
    Half { dst: Out<f64>, a: In<f64> },
    Divide { dst: Out<i64>, a: In<i64>, b: In<i64> },
    JumpLess { a: In<i64>, k: Imm<i64>, to: Label },
    Loop { n: InOut<i64>, to: Label },
    Call0 { dst: Out<i64>, f: Imm<u32> },
    Call1 { dst: Out<i64>, f: Imm<u32>, a: In<i64> },
    CallFloat { dst: Out<f64>, f: Imm<u32>, a: In<f64> },
    CallNarrow { dst: Out<i32>, f: Imm<u32>, a: In<i8>, b: In<f32> },
    CallOnly { f: Imm<u32>, a: In<i64> },
    CallDynamic { dst: Out<i64>, f: In<u32>, a: In<i64> },
    Call8 { dst: Out<i64>, f: Imm<u32>, a: In<i64>, b: In<i64>, c: In<i64> },
    CallRun { dst: Out<i64>, f: Imm<u32>, args: Regs },
    CallRunDynamic { dst: Out<i64>, f: In<u32>, args: Regs },
    CallRunFloat { dst: Out<f64>, f: Imm<u32>, args: RegsMut },
    Shift { dst: Out<i64>, run: RegsMut },
    ShiftAndCall { dst: Out<i64>, f: Imm<u32>, run: RegsMut },
    ShiftAndLook { run: RegsMut, all: Regs },
    Leave { a: In<i64> },
    Note { a: In<i64> },
    Panic,
    Return { a: In<i64> },
    ReturnFloat { a: In<f64> },
    Nothing,
}

#[derive(Default, Debug, PartialEq)]
struct Vm {
    notes: Vec<i64>,
}

extern "C" fn note(vm: &mut Vm, value: i64) {
    vm.notes.push(value);
}

/// Moves each register's value to the register before it; the last one becomes zero.
fn shift(run: *mut u64, count: u64) {
    // SAFETY: the templates pass a run of registers.
    let run = unsafe { std::slice::from_raw_parts_mut(run, count as usize) };
    run.rotate_left(1);
    run[count as usize - 1] = 0;
}

fn look(vm: &mut Vm, run: *const i64, count: u64) {
    // SAFETY: as above.
    vm.notes.extend_from_slice(unsafe { std::slice::from_raw_parts(run, count as usize) });
}

fn panic() {
    std::panic::resume_unwind(Box::new("on purpose"));
}

template! {
    Op::Const       => $value
    Op::Add         => (add $a $b)
    Op::AddConst    => (add $a $k)
    Op::Half        => (mul $a 0.5)
    Op::Divide      => (div $a $b)
    Op::JumpLess    => (when (lt $a $k) (branch $to))
    Op::Loop!       => (dov (set $n (sub $n 1)) (when (nz $n) (branch $to)))
    Op::Call0       => (invoke $f (arglist) i64)
    Op::Call1       => (invoke $f (arglist $a) i64)
    Op::CallFloat   => (invoke $f (arglist $a) f64)
    Op::CallNarrow  => (invoke $f (arglist $a $b) i32)
    Op::CallOnly    => (invokev $f (arglist $a))
    Op::CallDynamic => (invoke $f (arglist $a) i64)
    Op::Call8       => (invoke $f (arglist $a $b $c (add $a 1) (add $b 2) (add $c 3) 7 8) i64)
    Op::CallRun     => (invoke $f (arglist $args) i64)
    Op::CallRunDynamic => (invoke $f (arglist $args) i64)
    Op::CallRunFloat   => (invoke $f (arglist $args) f64)
    Op::Shift => unsafe (do
        (callv shift (arglist (carg (window $run) ptr) (carg (length $run) u64)))
        (callv shift (arglist (carg (window $run) ptr) (carg (length $run) u64)))
        (load (window $run) i64))
    Op::ShiftAndCall => (do
        (callv shift (arglist (carg (window $run) ptr) (carg (length $run) u64)))
        (invoke $f (arglist $run) i64))
    Op::ShiftAndLook => (dov
        (callv shift (arglist (carg (window $run) ptr) (carg (length $run) u64)))
        (callv look (arglist (carg (tc) ptr) (carg (window $all) ptr) (carg (length $all) u64))))
    Op::Leave       => (when (lt $a 0) (exit))
    Op::Note        => (callv note (arglist (carg (tc) ptr) (carg $a i64)))
    Op::Panic       => (callv panic (arglist))
    Op::Return      => (return $a)
    Op::ReturnFloat => (return $a)
    Op::Nothing     => (return)
}

/// Every way to run functions.
fn engines() -> Vec<(&'static str, Engine<Op>)> {
    let builder = || Engine::<Op>::builder().checks(true);
    vec![
        ("interpreter", builder().only(Tier::Interpreter).build()),
        ("baseline", builder().only(Tier::Baseline).build()),
        ("optimizer", builder().only(Tier::Optimizer).build()),
        ("tiering up", builder().thresholds(2, 5).build()),
        ("slowly", builder().thresholds(40, 90).build()),
        ("to baseline", builder().up_to(Tier::Baseline).thresholds(3, 3).build()),
    ]
}

fn reg(index: u32) -> In<i64> {
    index.into()
}

fn out(index: u32) -> Out<i64> {
    index.into()
}

/// `fib(n)`, whose own number is `f`.
fn fib(f: u32) -> Vec<Op> {
    vec![
        Op::JumpLess { a: reg(0), k: Imm(2), to: Label(6) },
        Op::AddConst { dst: out(1), a: reg(0), k: Imm(-1) },
        Op::Call1 { dst: out(1), f: Imm(f), a: reg(1) },
        Op::AddConst { dst: out(2), a: reg(0), k: Imm(-2) },
        Op::Call1 { dst: out(2), f: Imm(f), a: reg(2) },
        Op::Add { dst: out(0), a: reg(1), b: reg(2) },
        Op::Return { a: reg(0) },
    ]
}

#[test]
fn a_function_calls_itself() {
    for (name, engine) in engines() {
        let function = engine.define("fib", fib(0), 3).expect("it is right");
        for _ in 0..20 {
            let result: i64 = engine.call(function, &mut Vm::default(), (12i64,)).expect("it ends");
            assert_eq!(result, 144, "{name}");
        }
        let result: i64 = engine.interpret(function, &mut Vm::default(), (10i64,)).expect("it ends");
        assert_eq!(result, 55, "{name}");
    }
}

#[test]
fn functions_that_come_later_are_called_too() {
    for (name, engine) in engines() {
        let caller = vec![Op::Call1 { dst: out(1), f: Imm(1), a: reg(0) }, Op::Return { a: reg(1) }];
        let caller = engine.define("caller", caller, 2).expect("it is right");
        let call = |n: i64| engine.call::<_, i64>(caller, &mut Vm::default(), (n,));
        // The callee is not defined yet.
        for _ in 0..10 {
            assert_eq!(call(1), Err(Error::Trap { trap: Trap::BadCall, at: 0 }), "{name}");
        }
        let callee = vec![Op::AddConst { dst: out(0), a: reg(0), k: Imm(5) }, Op::Return { a: reg(0) }];
        engine.define("callee", callee, 1).expect("it is right");
        for n in 0..10 {
            assert_eq!(call(n), Ok(n + 5), "{name}");
        }
    }
}

#[test]
fn arguments_and_results_of_every_type_arrive() {
    for (name, engine) in engines() {
        // f0 halves, f1 adds an i8 and the bits of an f32, f2 sums up eight arguments, f3 has no result, f4 calls all of
        // them.
        let half = vec![Op::Half { dst: 0.into(), a: 0.into() }, Op::ReturnFloat { a: 0.into() }];
        engine.define("half", half, 1).expect("it is right");
        let add = vec![Op::Add { dst: out(2), a: reg(0), b: reg(1) }, Op::Return { a: reg(2) }];
        engine.define("add", add, 3).expect("it is right");
        let mut sum: Vec<Op> = (1..8).map(|at| Op::Add { dst: out(0), a: reg(0), b: reg(at) }).collect();
        // The registers behind the arguments are zero.
        sum.extend((8..40).map(|at| Op::Add { dst: out(0), a: reg(0), b: reg(at) }));
        sum.push(Op::Return { a: reg(0) });
        engine.define("sum", sum, 40).expect("it is right");
        engine.define("nothing", vec![Op::Note { a: reg(0) }, Op::Nothing], 1).expect("it is right");
        let all = vec![
            Op::CallFloat { dst: 3.into(), f: Imm(0), a: 0.into() },
            Op::CallNarrow { dst: 4.into(), f: Imm(1), a: 1.into(), b: 2.into() },
            Op::Call8 { dst: out(5), f: Imm(2), a: reg(3), b: reg(4), c: reg(1) },
            Op::CallOnly { f: Imm(3), a: reg(4) },
            Op::CallDynamic { dst: out(6), f: 7.into(), a: reg(5) },
            Op::Return { a: reg(5) },
        ];
        let all = engine.define("all", all, 9).expect("it is right");
        for _ in 0..12 {
            let mut vm = Vm::default();
            let args = [3f64.to_slot(), 0xff, 1.5f32.to_slot(), 0, 0, 0, 0, 3];
            let result: i64 = engine.call(all, &mut vm, &args[..]).expect("it ends");
            let (half, narrow) = (1.5f64.to_bits() as i64, 0xff + 1.5f32.to_bits() as i64);
            let eight = half + narrow + 0xff + (half + 1) + (narrow + 2) + (0xff + 3) + 7 + 8;
            assert_eq!((result, &vm.notes[..]), (eight, &[narrow, eight][..]), "{name}");
        }
    }
}

#[test]
fn what_fails_in_a_callee_fails_in_its_callers() {
    for (name, engine) in engines() {
        let divide = vec![
            Op::Const { dst: out(1), value: Imm(100) },
            Op::Divide { dst: out(0), a: reg(1), b: reg(0) },
            Op::Return { a: reg(0) },
        ];
        engine.define("divide", divide, 2).expect("it is right");
        let through =
            |f| vec![Op::Nothing, Op::Call1 { dst: out(0), f: Imm(f), a: reg(0) }, Op::Return { a: reg(0) }];
        let mut inner = through(0);
        inner[0] = Op::Note { a: reg(0) };
        engine.define("inner", inner, 1).expect("it is right");
        let mut outer = through(1);
        outer[0] = Op::AddConst { dst: out(0), a: reg(0), k: Imm(1) };
        outer.insert(1, Op::AddConst { dst: out(0), a: reg(0), k: Imm(-1) });
        let outer = engine.define("outer", outer, 1).expect("it is right");
        let bad = |f| vec![Op::Call0 { dst: out(0), f: Imm(f) }, Op::Return { a: reg(0) }];
        let nobody = engine.define("nobody", bad(77), 1).expect("it is right");
        let dynamic = vec![Op::CallDynamic { dst: out(0), f: 0.into(), a: reg(0) }, Op::Return { a: reg(0) }];
        let dynamic = engine.define("dynamic", dynamic, 1).expect("it is right");
        let none = engine.define("none", vec![Op::Nothing], 0).expect("it is right");
        let too_many = vec![Op::CallOnly { f: Imm(5), a: reg(0) }, Op::Nothing];
        let too_many = engine.define("too many", too_many, 1).expect("it is right");
        let call = |function, n: i64| engine.call::<_, i64>(function, &mut Vm::default(), (n,));
        for _ in 0..8 {
            assert_eq!(call(outer, 7), Ok(14), "{name}");
            let by_zero = Error::Trap { trap: Trap::DivideByZero, at: 2 };
            assert_eq!(call(outer, 0), Err(by_zero), "{name}");
            let bad = Err(Error::Trap { trap: Trap::BadCall, at: 0 });
            assert_eq!(call(nobody, 0), bad, "{name}");
            assert_eq!(call(too_many, 0), bad, "{name}");
            assert_eq!(call(dynamic, 0xffff_ffff), bad, "{name}");
            assert_eq!(call(dynamic, 7), bad, "{name}");
        }
        assert!(engine.call::<_, ()>(none, &mut Vm::default(), ()).is_ok());
    }
}

#[test]
fn calls_without_end_are_an_error() {
    for (name, engine) in engines() {
        let forever = vec![
            Op::AddConst { dst: out(0), a: reg(0), k: Imm(1) },
            Op::Call1 { dst: out(1), f: Imm(0), a: reg(0) },
            Op::Return { a: reg(1) },
        ];
        let forever = engine.define("forever", forever, 300).expect("it is right");
        for _ in 0..3 {
            let result = engine.call::<_, i64>(forever, &mut Vm::default(), (0i64,));
            assert_eq!(result, Err(Error::StackOverflow), "{name}");
        }
    }
}

/// `sum(n)`: n + sum(n - 1). It leaves compiled code behind the inner call if `n` is even, and then loops.
fn leaving() -> Vec<Op> {
    vec![
        Op::JumpLess { a: reg(0), k: Imm(1), to: Label(9) },
        Op::AddConst { dst: out(1), a: reg(0), k: Imm(-1) },
        Op::Call1 { dst: out(1), f: Imm(0), a: reg(1) },
        Op::Const { dst: out(3), value: Imm(-1) },
        Op::Leave { a: reg(3) },
        Op::Const { dst: out(2), value: Imm(3) },
        Op::Add { dst: out(4), a: reg(4), b: reg(0) },
        Op::Loop { n: 2.into(), to: Label(6) },
        Op::Add { dst: out(1), a: reg(1), b: reg(4) },
        Op::Return { a: reg(1) },
    ]
}

#[test]
fn code_is_left_and_taken_up_again_within_calls() {
    for (name, engine) in engines() {
        let function = engine.define("leaving", leaving(), 5).expect("it is right");
        for _ in 0..20 {
            let result: i64 = engine.call(function, &mut Vm::default(), (9i64,)).expect("it ends");
            assert_eq!(result, 3 * 45, "{name}");
        }
    }
}

#[test]
fn a_panic_passes_through_calls() {
    for (name, engine) in engines() {
        let inner = vec![
            Op::JumpLess { a: reg(0), k: Imm(1), to: Label(2) },
            Op::Return { a: reg(0) },
            Op::Panic,
            Op::Nothing,
        ];
        engine.define("inner", inner, 1).expect("it is right");
        let outer = vec![Op::Call1 { dst: out(0), f: Imm(0), a: reg(0) }, Op::Return { a: reg(0) }];
        let outer = engine.define("outer", outer, 1).expect("it is right");
        let call = |n: i64| {
            let call = || engine.call::<_, i64>(outer, &mut Vm::default(), (n,));
            std::panic::catch_unwind(std::panic::AssertUnwindSafe(call))
        };
        for _ in 0..10 {
            assert_eq!(call(5).ok(), Some(Ok(5)), "{name}");
            if cfg!(not(windows)) {
                assert!(call(0).is_err(), "{name}");
            }
        }
    }
}

#[test]
fn code_may_be_thrown_away_while_calls_run_it() {
    #[derive(Bytecode, Clone, Copy, Debug)]
    enum Churn {
        Less { a: In<i64>, to: Label },
        AddConst { dst: Out<i64>, a: In<i64>, k: Imm<i64> },
        Call { dst: Out<i64>, a: In<i64> },
        Mill,
        Return { a: In<i64> },
    }
    thread_local! {
        static ENGINE: std::cell::Cell<Option<(*const Engine<Churn>, [FunctionId; 2])>> = const { std::cell::Cell::new(None) };
    }
    fn churn() {
        let Some((engine, functions)) = ENGINE.get() else { return };
        // SAFETY: this engine called the function, so it is alive.
        let engine = unsafe { &*engine };
        for function in functions {
            engine.discard(function).expect("it is there");
        }
        // Free memory would be reused at once.
        for function in functions {
            engine.compile_in(function, Tier::Baseline).expect("there is room");
            engine.compile(function).expect("there is room");
        }
    }
    template! {
        Churn::Less     => (when (lt $a 1) (branch $to))
        Churn::AddConst => (add $a $k)
        Churn::Call     => (invoke 0 (arglist $a) i64)
        Churn::Mill    => (callv churn (arglist))
        Churn::Return   => (return $a)
    }
    if azulejo::can_compile().is_err() {
        return;
    }
    for tier in [Tier::Baseline, Tier::Optimizer] {
        let engine = Engine::<Churn>::builder().only(tier).code_bytes(1 << 16).build();
        let code = vec![
            Churn::Less { a: 0.into(), to: Label(5) },
            Churn::AddConst { dst: 1.into(), a: 0.into(), k: Imm(-1) },
            Churn::Call { dst: 1.into(), a: 1.into() },
            Churn::AddConst { dst: 1.into(), a: 1.into(), k: Imm(1) },
            Churn::Return { a: 1.into() },
            Churn::Mill,
            Churn::Return { a: 0.into() },
        ];
        let down = engine.define("down", code.clone(), 2).expect("it is right");
        let other = engine.define("other", code, 2).expect("it is right");
        ENGINE.set(Some((&raw const engine, [down, other])));
        for _ in 0..100 {
            let result: i64 = engine.call(down, &mut (), (10i64,)).expect("it ends");
            assert_eq!(result, 10);
        }
        ENGINE.set(None);
    }
}

#[test]
fn arguments_and_results_stay_in_registers() {
    if azulejo::can_compile().is_err() || cfg!(not(target_arch = "x86_64")) {
        return;
    }
    let engine = Engine::<Op>::builder().only(Tier::Optimizer).build();
    let caller = vec![Op::Call1 { dst: out(0), f: Imm(1), a: reg(0) }, Op::Return { a: reg(0) }];
    let caller = engine.define("caller", caller, 1).expect("it is right");
    let callee = engine.define("fib", fib(1), 3).expect("it is right");
    assert_eq!(engine.call::<_, i64>(caller, &mut Vm::default(), (9i64,)), Ok(34));
    // The callee has only the form for calls from other functions, since nothing called it from outside.
    let code = engine.disassemble(callee).expect("it was called").to_string();
    assert_eq!(code.matches("call qword [rsi]").count(), 2, "{code}");
    let touches_memory = |line: &str| line.contains('[') && !line.contains("lea ") && !line.contains("[rsi");
    let touching: Vec<&str> = code.lines().filter(|line| touches_memory(line)).collect();
    // The only access loads the stack limit. (Calls through the function's call cell, at `rsi`, are not counted.)
    assert_eq!(touching.len(), 1, "{code}");
    assert!(touching[0].contains("cmp rsp, [r11]"), "{code}");
}

#[test]
fn a_function_without_a_door_is_called_by_the_engine() {
    for builder in [Engine::<Op>::builder(), Engine::<Op>::builder().only(Tier::Optimizer)] {
        let engine = builder.build();
        let callee =
            [Op::AddConst { dst: 4_999.into(), a: 0.into(), k: Imm(1) }, Op::Return { a: 4_999.into() }];
        // A frame with this many slots is not made on the machine's stack.
        let callee = engine.define("wide", callee.to_vec(), 5_000).expect("it is right");
        let caller = [
            Op::Call1 { dst: 1.into(), f: Imm(callee.number()), a: 1.into() },
            Op::Loop { n: 0.into(), to: Label(0) },
            Op::Return { a: 1.into() },
        ];
        let caller = engine.define("caller", caller.to_vec(), 2).expect("it is right");
        for _ in 0..3 {
            let result: i64 = engine.call(caller, &mut Vm::default(), (10_000i64,)).expect("it ends");
            assert_eq!(result, 10_000);
        }
    }
}

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

#[test]
fn a_function_is_made_when_it_is_first_called() {
    for (name, engine) in engines() {
        let made = std::rc::Rc::new(std::cell::Cell::new(0));
        let count = made.clone();
        let caller = vec![Op::Call1 { dst: out(1), f: Imm(1), a: reg(0) }, Op::Return { a: reg(1) }];
        let caller = engine.define("caller", caller, 2).expect("it is right");
        let late = engine.declare("late", move || {
            count.set(count.get() + 1);
            let code = vec![Op::AddConst { dst: out(0), a: reg(0), k: Imm(5) }, Op::Return { a: reg(0) }];
            Some((code.into(), 1))
        });
        assert_eq!(engine.name(late).as_deref(), Ok("late"));
        assert_eq!(
            (engine.tier(late), engine.code_len(late), made.get()),
            (Tier::Interpreter, 0, 0),
            "{name}"
        );
        for n in 0..20 {
            assert_eq!(engine.call::<_, i64>(caller, &mut Vm::default(), (n,)), Ok(n + 5), "{name}");
        }
        assert_eq!(made.get(), 1, "{name}");
    }
}

#[test]
fn a_function_that_cannot_be_made_is_told_of() {
    for (name, engine) in engines() {
        let engine = std::rc::Rc::new(engine);
        let again = std::rc::Rc::downgrade(&engine);
        let nothing = engine.declare("nothing", || None);
        let wrong = engine.declare("wrong", || Some((vec![Op::Return { a: reg(7) }].into(), 1)));
        let itself = engine.declare("itself", move || {
            let engine = again.upgrade().expect("it is there");
            let result = engine.call::<_, i64>(engine.declare("other", || None), &mut Vm::default(), ());
            assert_eq!(result, Err(Error::NotMade));
            None
        });
        for function in [nothing, wrong, itself] {
            let code = vec![
                Op::Call1 { dst: out(1), f: Imm(function.number()), a: reg(0) },
                Op::Return { a: reg(1) },
            ];
            let caller = engine.define("caller", code, 2).expect("it is right");
            for _ in 0..3 {
                let call = |function| engine.call::<_, i64>(function, &mut Vm::default(), (1i64,));
                assert_eq!(call(caller), Err(Error::Trap { trap: Trap::BadCall, at: 0 }), "{name}");
                match function == wrong {
                    true => assert!(matches!(call(function), Err(Error::Verify(_))), "{name}"),
                    false => assert_eq!(call(function), Err(Error::NotMade), "{name}"),
                }
            }
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
fn what_is_compiled_by_hand_has_what_calls_use() {
    if azulejo::can_compile().is_err() || cfg!(not(target_arch = "x86_64")) {
        return;
    }
    for tier in [Tier::Baseline, Tier::Optimizer] {
        for all_at_once in [false, true] {
            let engine: Engine<Op> = Engine::<Op>::builder().only(tier).build();
            let fib = engine.define("fib", Code::from(fib(0)).with_arguments(1), 3).expect("it is right");
            let caller = vec![Op::Call1 { dst: out(0), f: Imm(0), a: reg(0) }, Op::Return { a: reg(0) }];
            let caller =
                engine.define("caller", Code::from(caller).with_arguments(1), 1).expect("it is right");
            match all_at_once {
                true => {
                    let compiled =
                        engine.compile_all(&[fib, caller], tier, |_| std::ops::ControlFlow::Continue(()));
                    assert_eq!(compiled, 2);
                }
                false => {
                    [fib, caller].iter().for_each(|one| engine.compile_in(*one, tier).expect("it compiles"))
                }
            }
            let before = engine.stats();
            assert_eq!(engine.call::<_, i64>(caller, &mut Vm::default(), (9i64,)), Ok(34), "{tier:?}");
            let after = engine.stats();
            assert_eq!(
                before.code_used, after.code_used,
                "nothing was made for {tier:?} when it was called first"
            );
            let forms = if tier == Tier::Optimizer { 2 } else { 0 };
            assert_eq!(before.optimizer_for_calls.compiled, forms);
            assert_eq!(after.optimizer_for_calls.compiled, forms);
        }
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
