//! Engines that interpret in machine code do what the interpreter in Rust does: calls, failures, exits, operand stacks and limits.

use azulejo::prelude::*;
use azulejo::{Builder, Code, Error, FunctionId, Trap};

#[derive(Bytecode, Clone, Copy, Debug)]
#[bytecode(context = Vm)]
enum Op {
    Const {
        dst: Out<i64>,
        value: Imm<i64>,
    },
    Narrow {
        dst: Out<i64>,
        a: Imm<i8>,
        b: Imm<u16>,
        c: Imm<f32>,
        d: Imm<f64>,
    },
    Add {
        dst: Out<i64>,
        a: In<i64>,
        b: In<i64>,
    },
    Divide {
        dst: Out<i64>,
        a: In<i64>,
        b: In<i64>,
    },
    Push {
        a: In<i64>,
        out: Push<i64>,
    },
    Multiply {
        a: Pop<i64>,
        b: Pop<i64>,
        out: Push<i64>,
    },
    Pop {
        a: Pop<i64>,
        dst: Out<i64>,
    },
    Down {
        n: InOut<i64>,
        to: Label,
    },
    Pick {
        a: In<u64>,
        labels: Labels,
    },
    PickOne {
        a: In<u64>,
        b: Label,
        c: Label,
    },
    Call {
        dst: Out<i64>,
        f: Imm<u32>,
        a: In<i64>,
        b: In<i64>,
    },
    CallMany {
        dst: Out<i64>,
        f: Imm<u32>,
        a: In<i64>,
    },
    CallRun {
        dst: Out<i64>,
        f: Imm<u32>,
        args: Regs,
    },
    TailCall {
        f: Imm<u32>,
        a: In<i64>,
        b: In<i64>,
    },
    /// Leaves code for the interpreter in Rust.
    Leave {
        a: In<i64>,
    },
    Note {
        a: In<i64>,
    },
    /// Notes where the machine's stack is.
    Depth,
    Return {
        a: In<i64>,
    },
}

#[derive(Default, Debug, PartialEq)]
struct Vm {
    notes: Vec<i64>,
}

fn note(vm: &mut Vm, value: i64) {
    assert!(value != 13, "an unlucky number");
    vm.notes.push(value);
}

fn note_depth(vm: &mut Vm) {
    let here = 0u8;
    vm.notes.push((&raw const here).addr() as i64);
}

template! {
    Op::Const    => $value
    Op::Narrow   => (add (add (scast $a i64) (scast (ucast $b u64) i64)) (add (ftos_sat $c i64) (ftos_sat $d i64)))
    Op::Add      => (add $a $b)
    Op::Divide   => (div $a $b)
    Op::Push     => $a
    Op::Multiply => (mul $a $b)
    Op::Pop      => $a
    Op::Down!    => (dov (set $n (sub $n 1)) (when (gt $n 0) (branch $to)))
    Op::Pick     => (switch $a $labels)
    Op::PickOne  => (switch $a $b $c)
    Op::Call     => (invoke $f (arglist $a $b) i64)
    Op::CallMany => (invoke $f (arglist $a 2 3 4 5 6 $a) i64)
    Op::CallRun  => (invoke $f (arglist $args) i64)
    Op::TailCall => (tail $f (arglist $a $b))
    Op::Leave    => (when (gt $a 5) (exit))
    Op::Note     => (callv note (arglist (carg (tc) ptr) (carg $a i64)))
    Op::Depth    => (callv note_depth (arglist (carg (tc) ptr)))
    Op::Return   => (return $a)
}

fn r<T: From<u32>>(number: u32) -> T {
    number.into()
}

/// The functions that the tests call, in an engine: the last takes its arguments to all others.
fn functions(engine: &Engine<Op>) -> Vec<FunctionId> {
    let own = |number: u32| Imm(number);
    let fib = vec![
        Op::Pick { a: r(0), labels: azulejo::Labels { first: 0, count: 3 } },
        Op::Return { a: r(0) },
        Op::Const { dst: r(1), value: Imm(-1) },
        Op::Add { dst: r(0), a: r(0), b: r(1) },
        Op::Call { dst: r(2), f: own(0), a: r(0), b: r(5) },
        Op::Add { dst: r(0), a: r(0), b: r(1) },
        Op::CallRun { dst: r(3), f: own(0), args: azulejo::Regs { first: 0, count: 1 } },
        Op::Add { dst: r(0), a: r(2), b: r(3) },
        Op::Return { a: r(0) },
    ];
    let fib = Code { labels: vec![1, 1, 2], ..fib.into() };
    // 7 arguments, two of them on the stack, and a loop on the operand stack.
    let stack = vec![
        Op::Push { a: r(0), out: Push::new() },
        Op::Push { a: r(6), out: Push::new() },
        Op::Multiply { a: Pop::new(), b: Pop::new(), out: Push::new() },
        Op::Pop { a: Pop::new(), dst: r(7) },
        Op::Add { dst: r(8), a: r(8), b: r(7) },
        Op::Leave { a: r(0) },
        Op::Down { n: r(0), to: Label(0) },
        Op::Add { dst: r(8), a: r(8), b: r(5) },
        Op::Return { a: r(8) },
    ];
    let fails = vec![
        Op::Note { a: r(0) },
        Op::Add { dst: r(2), a: r(0), b: r(1) },
        Op::Divide { dst: r(0), a: r(1), b: r(2) },
        Op::Return { a: r(0) },
    ];
    let narrow = vec![
        Op::Narrow { dst: r(1), a: Imm(-3), b: Imm(60000), c: Imm(2.5), d: Imm(-1e6) },
        Op::PickOne { a: r(0), b: Label(2), c: Label(3) },
        Op::Return { a: r(0) },
        Op::TailCall { f: own(2), a: r(0), b: r(1) },
    ];
    let all = vec![
        Op::Call { dst: r(2), f: own(0), a: r(0), b: r(1) },
        Op::CallMany { dst: r(3), f: own(1), a: r(0) },
        Op::Call { dst: r(4), f: own(2), a: r(0), b: r(1) },
        Op::Call { dst: r(5), f: own(3), a: r(0), b: r(1) },
        Op::Add { dst: r(2), a: r(2), b: r(3) },
        Op::Add { dst: r(2), a: r(2), b: r(4) },
        Op::Add { dst: r(2), a: r(2), b: r(5) },
        Op::Return { a: r(2) },
    ];
    let define = |code: Code<Op>, registers| engine.define("f", code, registers).expect("it is right");
    vec![
        define(fib, 6),
        define(stack.into(), 9),
        define(fails.into(), 3),
        define(narrow.into(), 2),
        define(all.into(), 6),
    ]
}

type Outcome = (Result<i64, Error>, Vm);

/// What the last function makes of some arguments, often enough that it is in machine code if the engine has any.
fn outcomes(
    builder: Builder,
    call: impl Fn(&Engine<Op>, FunctionId, &mut Vm, i64) -> Result<i64, Error>,
) -> Vec<Outcome> {
    let engine: Engine<Op> = builder.build();
    let last = *functions(&engine).last().expect("there are some");
    let one = |number: i64| {
        let mut vm = Vm::default();
        // -7 is divided by zero.
        let result = call(&engine, last, &mut vm, number % 9);
        (result, vm)
    };
    (0..60).map(one).collect()
}

fn called(builder: Builder) -> Vec<Outcome> {
    outcomes(builder, |engine, last, vm, number| engine.call(last, vm, (number, -7i64)))
}

#[test]
fn machine_code_interprets_what_rust_does() {
    let new = || Engine::<Op>::builder();
    let expected = outcomes(new(), |engine, last, vm, number| engine.interpret(last, vm, (number, -7i64)));
    let fails = expected.iter().filter(|(result, _)| matches!(result, Err(Error::Trap { .. }))).count();
    assert!((1..30).contains(&fails), "{fails}");
    let interpreted = || new().only(Tier::Interpreter);
    let ways = [
        interpreted(),
        interpreted().rust_interpreter(true),
        interpreted().fuel(1 << 40),
        interpreted().backtraces(true),
        interpreted().frame_pointers(true),
        new(),
        new().thresholds(20, 100),
    ];
    for (way, builder) in ways.into_iter().enumerate() {
        assert_eq!(called(builder), expected, "way {way}");
    }
}

#[test]
fn a_failure_in_a_called_function_tells_where() {
    let engine: Engine<Op> = Engine::<Op>::builder().only(Tier::Interpreter).backtraces(true).build();
    let last = *functions(&engine).last().expect("there are some");
    for _ in 0..40 {
        let result: Result<i64, Error> = engine.call(last, &mut Vm::default(), (7i64, -7i64));
        assert_eq!(result, Err(Error::Trap { trap: Trap::DivideByZero, at: 2 }));
        let frames: Vec<_> =
            engine.backtrace().frames.iter().map(|frame| (frame.function.number(), frame.at)).collect();
        assert_eq!(frames, [(2, 2), (4, 2)]);
    }
}

#[test]
fn calls_without_end_stop_and_interrupts_do_too() {
    let engine: Engine<Op> = Engine::<Op>::builder().only(Tier::Interpreter).build();
    let endless = vec![Op::Call { dst: r(1), f: Imm(0), a: r(0), b: r(0) }, Op::Return { a: r(1) }];
    let endless = engine.define("endless", endless, 2).expect("it is right");
    let forever = vec![
        Op::Const { dst: r(0), value: Imm(i64::MAX) },
        Op::Down { n: r(0), to: Label(1) },
        Op::Return { a: r(0) },
    ];
    let forever = engine.define("forever", forever, 1).expect("it is right");
    let fails =
        |function| engine.call::<_, i64>(function, &mut Vm::default(), ()).expect_err("it has no end");
    assert!((0..3).all(|_| fails(endless) == Error::StackOverflow));
    let interrupter = engine.interrupter();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(std::time::Duration::from_millis(30));
            interrupter.interrupt();
        });
        assert!(matches!(fails(forever), Error::Interrupted { .. }));
    });
    assert_eq!(fails(endless), Error::StackOverflow);
}

#[cfg(not(windows))]
#[test]
fn a_panic_passes_through_interpreted_functions() {
    let engine: Engine<Op> = Engine::<Op>::builder().only(Tier::Interpreter).build();
    let inner = vec![Op::Note { a: r(0) }, Op::Return { a: r(0) }];
    let outer = vec![Op::Call { dst: r(2), f: Imm(0), a: r(0), b: r(1) }, Op::Return { a: r(2) }];
    engine.define("inner", inner, 40).expect("it is right");
    let outer = engine.define("outer", outer, 7).expect("it is right");
    let call = |number: i64| engine.call(outer, &mut Vm::default(), (number, 0i64));
    for _ in 0..40 {
        assert_eq!(call(1), Ok(1i64));
    }
    let panic = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| call(13)));
    assert!(panic.is_err());
    assert_eq!(call(2), Ok(2i64));
}

/// Calls a function that loops, and tells how far its frame is from its caller's, after the function has become hot in its loop.
fn distance_of_frames(builder: Builder) -> i64 {
    let engine: Engine<Op> = builder.build();
    let loops = vec![Op::Down { n: r(0), to: Label(0) }, Op::Depth, Op::Return { a: r(1) }];
    let callee = engine.define("callee", loops, 2).expect("it is right");
    let calls = vec![
        Op::Down { n: r(1), to: Label(0) },
        Op::Depth,
        Op::Call { dst: r(2), f: Imm(callee.number()), a: r(0), b: r(1) },
        Op::Return { a: r(2) },
    ];
    let caller = engine.define("caller", calls, 3).expect("it is right");
    let mut vm = Vm::default();
    for n in [1, 1, 1, 100_000, 1] {
        vm.notes.clear();
        assert_eq!(engine.call::<_, i64>(caller, &mut vm, (n, n)), Ok(0));
    }
    assert_eq!([caller, callee].map(|function| engine.tier(function)), [Tier::Baseline; 2]);
    vm.notes[0] - vm.notes[1]
}

#[test]
fn functions_that_become_hot_in_a_loop_are_called_in_their_code_afterwards() {
    if azulejo::can_compile().is_ok() {
        let new = || Engine::<Op>::builder();
        let climbs = new().up_to(Tier::Baseline).thresholds(1000, u32::MAX);
        assert_eq!(distance_of_frames(climbs), distance_of_frames(new().only(Tier::Baseline)));
    }
}

/// A function writes to many registers; then others are called whose frames are in the same place, and read registers before they write them.
#[test]
fn registers_that_a_function_reads_before_it_writes_them_are_zero() {
    let dirty = (0..9).map(|register| Op::Const { dst: r(register), value: Imm(1_000_000) });
    let dirty: Vec<Op> = dirty.chain([Op::Return { a: r(0) }]).collect();
    // As many arguments as it takes, or fewer; and the register behind them, or one that is not.
    let sum = |other| {
        vec![
            Op::Add { dst: r(0), a: r(0), b: r(1) },
            Op::Add { dst: r(0), a: r(0), b: r(other) },
            Op::Leave { a: r(0) },
            Op::Add { dst: r(other), a: r(0), b: r(other) },
            Op::Return { a: r(other) },
        ]
    };
    let calls = vec![
        Op::Call { dst: r(2), f: Imm(0), a: r(0), b: r(0) },
        Op::Call { dst: r(3), f: Imm(1), a: r(0), b: r(1) },
        Op::Call { dst: r(2), f: Imm(0), a: r(0), b: r(0) },
        Op::CallRun { dst: r(4), f: Imm(2), args: azulejo::Regs { first: 0, count: 1 } },
        Op::Call { dst: r(2), f: Imm(0), a: r(0), b: r(0) },
        Op::Call { dst: r(5), f: Imm(2), a: r(0), b: r(1) },
        Op::Add { dst: r(3), a: r(3), b: r(4) },
        Op::Add { dst: r(3), a: r(3), b: r(5) },
        Op::Return { a: r(3) },
    ];
    for builder in [Engine::<Op>::builder().only(Tier::Interpreter), Engine::<Op>::builder()] {
        let engine: Engine<Op> = builder.build();
        for (code, registers, arguments) in [(dirty.clone(), 9, 2), (sum(2), 3, 2), (sum(7), 8, 4)] {
            engine.define("f", Code::from(code).with_arguments(arguments), registers).expect("it is right");
        }
        let calls = engine.define("calls", calls.clone(), 6).expect("it is right");
        for _ in 0..200 {
            assert_eq!(engine.call(calls, &mut Vm::default(), (1i64, 2i64)), Ok(7i64));
        }
    }
}
