//! A Rust panic in a function that bytecode calls passes through compiled code: values are dropped, the frames below keep
//! their values, and the engine still works.
#![cfg(all(target_arch = "x86_64", not(windows)))]

use azulejo::__private::core::ir::slow_paths::NO_SLOW_PATHS;
use azulejo::__private::core::pass::Blind;
use azulejo::__private::core::pass::build::Linkage;
use azulejo::prelude::*;
use azulejo::x64::Function;
use azulejo::x64::{Compiler, Features, X64};
use azulejo::{rules, verify};
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, panic_any, resume_unwind};
use std::rc::Rc;

mod callers;

struct Vm {
    engine: Rc<Engine<Op>>,
    /// The function at each level of nested calls, the outermost last, and whether it is interpreted.
    levels: Vec<(FunctionId, bool)>,
    /// How many guards are alive.
    guards: Rc<Cell<i64>>,
    /// How many panics were caught by `catch`.
    caught: u32,
    /// The function whose code is discarded right before the panic.
    victim: Option<FunctionId>,
}

/// Counts itself while it is alive.
struct Guard(Rc<Cell<i64>>);

impl Guard {
    fn new(vm: &Vm) -> Guard {
        vm.guards.set(vm.guards.get() + 1);
        Guard(Rc::clone(&vm.guards))
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        self.0.set(self.0.get() - 1);
    }
}

#[derive(Debug, PartialEq)]
struct Payload(i64);

/// Panics without running the panic hook.
fn panic_quietly(payload: Payload) -> ! {
    resume_unwind(Box::new(payload))
}

#[derive(Bytecode, Clone, Copy, Debug)]
#[bytecode(context = Vm)]
enum Op {
    Const {
        dst: Out<i64>,
        value: Imm<i64>,
    },
    Add {
        dst: Out<i64>,
        a: In<i64>,
        b: In<i64>,
    },
    AddFloat {
        dst: Out<f64>,
        a: In<f64>,
        b: In<f64>,
    },
    /// Panics if the value is zero.
    Check {
        value: In<i64>,
    },
    /// Like `Check`, but calls in cold code.
    CheckCold {
        value: In<i64>,
    },
    /// Like `Check`, but calls a function of the Windows convention.
    CheckWin {
        value: In<i64>,
    },
    /// Like `Check`, but calls a function of the System V convention, which is stated.
    CheckSysv {
        value: In<i64>,
    },
    /// Like `Check`, but calls a function by its address.
    CheckAddress {
        callee: In<u64>,
        value: In<i64>,
    },
    /// Panics if the sum is zero. Most arguments are on the stack.
    CheckMany {
        a: In<i64>,
        b: In<i64>,
        x: In<f64>,
    },
    /// Calls the next function in `levels`.
    Deeper {
        dst: Out<i64>,
        a: In<i64>,
    },
    /// Like `Deeper`, but catches a panic and yields -1.
    Catch {
        dst: Out<i64>,
        a: In<i64>,
    },
    Return {
        a: In<i64>,
    },
}

template! {
    Op::Const        => $value
    Op::Add          => (add $a $b)
    Op::AddFloat     => (add $a $b)
    Op::Check        => (callv check (arglist (carg (tc) ptr) (carg $value i64)))
    Op::CheckCold    => (when (unlikely (zr $value)) (cold (callv check (arglist (carg (tc) ptr) (carg $value i64)))))
    Op::CheckWin     => (callv "win64-unwind" check_win (arglist (carg (tc) ptr) (carg $value i64)))
    Op::CheckSysv    => (callv "sysv64-unwind" check_sysv (arglist (carg (tc) ptr) (carg $value i64)))
    Op::CheckAddress => unsafe (callv "C-unwind" $callee (arglist (carg (tc) ptr) (carg $value i64)))
    Op::CheckMany    => (callv check_many (arglist
        (carg (tc) ptr) (carg $a i64) (carg $b i64) (carg $x f64) (carg $a i64) (carg $b i64) (carg $x f64)
        (carg $a i64) (carg $b i64) (carg $a i64) (carg $x f64) (carg $x f64) (carg $x f64) (carg $x f64)
        (carg $x f64) (carg $x f64) (carg $x f64)))
    Op::Deeper       => (call deeper (arglist (carg (tc) ptr) (carg $a i64)) i64)
    Op::Catch        => (call catch (arglist (carg (tc) ptr) (carg $a i64)) i64)
    Op::Return       => (return $a)
}

/// Panics if the value is zero. The functions below do the same, with other calling conventions.
fn check(vm: &mut Vm, value: i64) {
    let _guard = Guard::new(vm);
    callers::look_and_panic();
    if value == 0 {
        if let Some(victim) = vm.victim {
            vm.engine.discard(victim).expect("it is the engine's");
            // Their code would take the victim's place if that were free.
            for _ in 0..8 {
                vm.define(busy(60, &[]));
            }
        }
        panic_quietly(Payload(7));
    }
}

extern "win64-unwind" fn check_win(vm: &mut Vm, value: i64) {
    check(vm, value);
}

extern "sysv64-unwind" fn check_sysv(vm: &mut Vm, value: i64) {
    check(vm, value);
}

extern "C-unwind" fn check_address(vm: &mut Vm, value: i64) {
    check(vm, value);
}

#[allow(clippy::too_many_arguments, reason = "most of them are to be on the stack")]
extern "C-unwind" fn check_many(
    vm: &mut Vm,
    a: i64,
    b: i64,
    x: f64,
    c: i64,
    d: i64,
    y: f64,
    e: i64,
    f: i64,
    g: i64,
    z: f64,
    floats_1: f64,
    floats_2: f64,
    floats_3: f64,
    floats_4: f64,
    floats_5: f64,
    floats_6: f64,
) {
    assert_eq!((a, b, x, x, x), (c, d, y, z, floats_1));
    assert_eq!((a, b, a), (e, f, g));
    assert_eq!([floats_2, floats_3, floats_4, floats_5, floats_6], [x; 5]);
    check(vm, a + b);
}

fn deeper(vm: &mut Vm, a: i64) -> i64 {
    let _guard = Guard::new(vm);
    let engine = Rc::clone(&vm.engine);
    let (function, interpreted) = vm.levels.pop().expect("there is one more level");
    let result = match interpreted {
        true => engine.interpret(function, vm, (a,)),
        false if vm.levels.len().is_multiple_of(2) => engine.call_back(function, vm, (a,)),
        false => engine.call(function, vm, (a,)),
    };
    result.expect("it does not trap")
}

extern "C-unwind" fn catch(vm: &mut Vm, a: i64) -> i64 {
    let _guard = Guard::new(vm);
    catch_unwind(AssertUnwindSafe(|| deeper(vm, a))).unwrap_or_else(|payload| {
        assert_eq!(payload.downcast_ref(), Some(&Payload(7)));
        vm.caught += 1;
        -1
    })
}

fn r<T: From<u32>>(register: u32) -> T {
    register.into()
}

/// Keeps `values` integers and a few floats live across `middle`, which may use register 0, the argument, and register 1.
/// Returns register 1 plus the sum of the integers; each is 1000 plus the argument plus its index.
fn busy(values: u32, middle: &[Op]) -> Vec<Op> {
    let first = 8;
    let mut code = vec![Op::Const { dst: r(1), value: Imm(1) }];
    for at in 0..values {
        code.push(Op::Const { dst: r(first + at), value: Imm(1000) });
        // Adding the argument makes the value unknown to the compiler.
        code.push(Op::Add { dst: r(first + at), a: r(first + at), b: r(0) });
        code.push(Op::Const { dst: r(2), value: Imm(at as i64) });
        code.push(Op::Add { dst: r(first + at), a: r(first + at), b: r(2) });
    }
    code.push(Op::AddFloat { dst: r(4), a: r(first), b: r(first) });
    code.extend(middle);
    code.push(Op::AddFloat { dst: r(4), a: r(4), b: r(4) });
    for at in 0..values {
        code.push(Op::Add { dst: r(1), a: r(1), b: r(first + at) });
    }
    code.push(Op::Return { a: r(1) });
    code
}

/// The result of [`busy`].
fn sum(values: u32, argument: i64, register_1: i64) -> i64 {
    (0..values as i64).map(|at| 1000 + argument + at).sum::<i64>() + register_1
}

const COUNTS: [u32; 4] = [0, 3, 9, 60];

fn vm() -> Vm {
    Vm {
        engine: Rc::new(Engine::new()),
        levels: Vec::new(),
        guards: Rc::new(Cell::new(0)),
        caught: 0,
        victim: None,
    }
}

impl Vm {
    fn define(&self, code: Vec<Op>) -> FunctionId {
        let function = self.engine.define("test", code, 80).expect("the code is right");
        if azulejo::can_compile().is_ok() {
            self.engine.compile(function).expect("it compiles");
        }
        function
    }

    fn run(&mut self, function: FunctionId, interpreted: bool, argument: i64) -> i64 {
        let engine = Rc::clone(&self.engine);
        let result = match interpreted {
            true => engine.interpret(function, self, (argument, 1.5)),
            false => engine.call(function, self, (argument, 1.5)),
        };
        result.expect("it does not trap")
    }

    /// Runs a function that panics with `Payload(7)`: everything is dropped, and this frame keeps its values.
    fn run_into_panic(&mut self, function: FunctionId, interpreted: bool, argument: i64) {
        let before: [u64; 8] = std::array::from_fn(|at| std::hint::black_box(at as u64 * 3));
        let result = catch_unwind(AssertUnwindSafe(|| self.run(function, interpreted, argument)));
        let payload = result.expect_err("it panics");
        assert_eq!(payload.downcast_ref(), Some(&Payload(7)));
        assert_eq!(self.guards.get(), 0, "every guard is dropped");
        assert_eq!(before, std::array::from_fn(|at| at as u64 * 3), "values survive");
    }
}

/// Each kind of call, with values in registers, in spill slots and on the stack.
#[test]
fn a_panic_passes_and_the_engine_goes_on() {
    let mut vm = vm();
    let callee = check_address as *const () as i64;
    let calls: [&[Op]; 6] = [
        &[Op::Check { value: r(0) }],
        &[Op::CheckCold { value: r(0) }],
        &[Op::CheckWin { value: r(0) }],
        &[Op::CheckSysv { value: r(0) }],
        &[Op::Const { dst: r(3), value: Imm(callee) }, Op::CheckAddress { callee: r(3), value: r(0) }],
        &[Op::CheckMany { a: r(0), b: r(0), x: r(4) }],
    ];
    for call in calls {
        for values in COUNTS {
            let function = vm.define(busy(values, call));
            for interpreted in [true, false, false] {
                assert_eq!(vm.run(function, interpreted, 5), sum(values, 5, 1));
                vm.run_into_panic(function, interpreted, 0);
                assert_eq!(vm.run(function, interpreted, 6), sum(values, 6, 1));
            }
            vm.engine.discard(function).expect("it is the engine's");
        }
    }
}

/// Nested calls of four functions, in every mix of tiers, with and without a frame in the middle that catches the panic.
#[test]
fn a_panic_passes_through_nested_calls_of_every_tier() {
    for values in COUNTS {
        for mix in 0..16u32 {
            let is_interpreted = |level: u32| mix >> level & 1 != 0;
            let mut vm = vm();
            let bottom = vm.define(busy(values, &[Op::Check { value: r(0) }]));
            let middle = vm.define(busy(values, &[Op::Deeper { dst: r(1), a: r(0) }]));
            let catching = vm.define(busy(values, &[Op::Catch { dst: r(1), a: r(0) }]));
            let levels = |second: FunctionId| {
                vec![(bottom, is_interpreted(0)), (middle, is_interpreted(1)), (second, is_interpreted(2))]
            };
            let whole = |argument| {
                let of_bottom = sum(values, argument, 1);
                (0..3).fold(of_bottom, |inner, _| sum(values, argument, inner))
            };
            vm.levels = levels(middle);
            assert_eq!(vm.run(middle, is_interpreted(3), 5), whole(5));
            for _ in 0..3 {
                vm.levels = levels(middle);
                vm.run_into_panic(middle, is_interpreted(3), 0);
                vm.levels = levels(catching);
                // The catching function continues with -1 and returns into compiled code.
                let expected = sum(values, 0, sum(values, 0, -1));
                assert_eq!(vm.run(middle, is_interpreted(3), 0), expected);
                assert_eq!(vm.guards.get(), 0);
            }
            assert_eq!(vm.caught, 3);
            vm.levels = levels(middle);
            assert_eq!(vm.run(middle, is_interpreted(3), 6), whole(6));
        }
    }
}

/// Ten thousand panics leak no frames, no code and no borrows of the engine.
#[test]
fn panics_leave_nothing_behind() {
    let mut vm = vm();
    // There is barely enough memory for the frames of four calls, and for the code of a few functions.
    let engine = Engine::<Op>::builder().stack_slots(4 * 80).code_bytes(16 << 10).build();
    vm.engine = Rc::new(engine);
    for round in 0..10_000 {
        let values = COUNTS[round % COUNTS.len()];
        if round % 100 == 0 {
            let bottom = vm.define(busy(values, &[Op::Check { value: r(0) }]));
            let middle = vm.define(busy(values, &[Op::Deeper { dst: r(1), a: r(0) }]));
            vm.levels = vec![(bottom, false), (middle, round % 200 == 0), (middle, false)];
        }
        let levels = vm.levels.clone();
        vm.run_into_panic(levels[2].0, false, 0);
        vm.levels = levels;
    }
}

/// Code that is discarded while it runs can still be unwound, and is freed afterwards.
#[test]
fn code_that_was_thrown_away_is_unwound() {
    if azulejo::can_compile().is_err() {
        return;
    }
    let mut vm = vm();
    vm.engine = Rc::new(Engine::<Op>::builder().code_bytes(16 << 10).build());
    for _ in 0..8 {
        let bottom = vm.define(busy(60, &[Op::Check { value: r(0) }]));
        let top = vm.define(busy(60, &[Op::Deeper { dst: r(1), a: r(0) }]));
        for victim in [bottom, top] {
            vm.levels = vec![(bottom, false)];
            vm.victim = Some(victim);
            vm.run_into_panic(top, false, 0);
            assert!(!vm.engine.is_compiled(victim));
            vm.engine.compile(victim).expect("it compiles");
        }
    }
}

/// Unwind tables belong to the process: each thread unwinds its engine's code while other threads register and remove
/// theirs.
#[test]
fn panics_on_many_threads() {
    let threads = (0..4u32).map(|thread| {
        std::thread::spawn(move || {
            for round in 0..50 {
                let mut vm = vm();
                let values = COUNTS[(thread as usize + round) % COUNTS.len()];
                let bottom = vm.define(busy(values, &[Op::Check { value: r(0) }]));
                let top = vm.define(busy(values, &[Op::Deeper { dst: r(1), a: r(0) }]));
                vm.levels = vec![(bottom, false)];
                vm.run_into_panic(top, false, 0);
            }
        })
    });
    threads.collect::<Vec<_>>().into_iter().for_each(|thread| thread.join().expect("the thread ends well"));
}

/// A panic with a message runs the panic hook above compiled frames.
#[test]
fn an_ordinary_panic_passes() {
    fn failing(value: i64) -> i64 {
        assert!(value != 0, "the value is {value}");
        panic_any(value)
    }
    #[derive(Bytecode, Clone, Copy, Debug)]
    #[bytecode(context = ())]
    enum Small {
        Fail { dst: Out<i64>, a: In<i64> },
        Return { a: In<i64> },
    }
    template! {
        Small::Fail   => (call failing (arglist (carg $a i64)) i64)
        Small::Return => (return $a)
    }
    let engine = Engine::<Small>::new();
    let code = vec![Small::Fail { dst: r(1), a: r(0) }, Small::Return { a: r(1) }];
    let function = engine.define("fails", code, 2).expect("the code is right");
    if azulejo::can_compile().is_ok() {
        engine.compile(function).expect("it compiles");
    }
    let run =
        |value: i64| catch_unwind(AssertUnwindSafe(|| engine.call::<_, i64>(function, &mut (), (value,))));
    assert_eq!(
        run(0).expect_err("it panics").downcast_ref::<String>().map(String::as_str),
        Some("the value is 0")
    );
    assert_eq!(run(4).expect_err("it panics").downcast_ref(), Some(&4i64));
}

#[inline(never)]
fn look_back(text: &mut String) {
    *text = std::backtrace::Backtrace::force_capture().to_string();
}

/// A backtrace walks through compiled code to the test that called it.
#[test]
fn a_backtrace_goes_through() {
    #[derive(Bytecode, Clone, Copy, Debug)]
    #[bytecode(context = String)]
    enum Small {
        Look,
        Return { a: In<i64> },
    }
    template! {
        Small::Look   => (callv look_back (arglist (carg (tc) ptr)))
        Small::Return => (return $a)
    }
    let engine = Engine::<Small>::new();
    let function =
        engine.define("looks", vec![Small::Look, Small::Return { a: r(0) }], 1).expect("it is right");
    if azulejo::can_compile().is_ok() {
        engine.compile(function).expect("it compiles");
    }
    #[inline(never)]
    fn at_the_bottom(run: impl FnOnce() -> Result<i64, Error>) {
        assert_eq!(std::hint::black_box(run()), Ok(7));
    }
    let mut text = String::new();
    at_the_bottom(|| engine.call(function, &mut text, (7i64,)));
    let place = |name: &str| text.lines().position(|line| line.contains(name));
    let (top, bottom) = (place("look_back"), place("at_the_bottom"));
    assert!(top.is_some() && top < bottom, "{text}");
}

/// Unwinding through baseline code, with and without the frame pointer, for every kind of call.
#[test]
fn baseline_code_is_unwound() {
    for frame_pointers in [false, true] {
        let features = Features::detect();
        let compiler =
            Compiler::new(1 << 20, &X64, features.bits(), &rules::MATCHERS).expect("this machine runs code");
        let mut compiler = compiler.with_frame_pointers(frame_pointers);
        for values in COUNTS {
            let calls: [&[Op]; 4] = [
                &[Op::Check { value: r(0) }],
                &[Op::CheckCold { value: r(0) }],
                &[Op::CheckWin { value: r(0) }],
                &[Op::CheckMany { a: r(0), b: r(0), x: r(4) }],
            ];
            for call in calls {
                let code = busy(values, call);
                let shape = verify(&code, &[], 80).expect("the code is right");
                let unit = code.as_ptr().cast();
                let function = Function {
                    code: &code,
                    labels: &[],
                    registers: 80,
                    shape: &shape,
                    unit,
                    temporaries: None,
                    slow_paths: &NO_SLOW_PATHS,
                    leaves_out: false,
                    sites: None,
                    budget: None,
                };
                let compiled =
                    compiler.baseline(&function, Linkage::default(), &mut Blind).expect("it compiles");
                let (mut vm, mut frame) = (vm(), [0u64; 80]);
                let context = (&raw mut vm).cast();
                let third = compiled.address(0);
                let run = callers::Run { entry: compiled.entry(), context, frame: frame.as_mut_ptr(), third };
                let keeps_pointer = frame_pointers.then_some(compiled.bytes().len());
                // SAFETY: the code was verified, and the frame has as many slots as it requires.
                unsafe { callers::check(run, keeps_pointer, &|| format!("{code:?}")) };
                assert_eq!(vm.guards.get(), 0);
            }
        }
    }
}
