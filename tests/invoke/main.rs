//! Functions of bytecode that call each other, in every tier.

mod runs;

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
    let engine = Engine::<Op>::builder().only(Tier::Optimizer).inlining(false).build();
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
