//! Programs are stopped from another thread, at once, in every tier and at every point of the program.

use azulejo::prelude::*;
use azulejo::{Builder, Error};
use std::cell::Cell;
use std::sync::mpsc;
use std::time::Duration;

#[derive(Bytecode, Clone, Copy, Debug)]
enum Op {
    AddConst { dst: Out<i64>, a: In<i64>, k: Imm<i64> },
    Add { dst: Out<i64>, a: In<i64>, b: In<i64> },
    JumpLess { a: In<i64>, k: Imm<i64>, to: Label },
    Jump(Label),
    Leave { a: In<i64> },
    Call { dst: Out<i64>, f: Imm<u32>, args: Regs },
    Tail { f: Imm<u32>, args: Regs },
    Again { dst: Out<i64>, a: In<i64> },
    Raise { run: RegsMut },
    Return { a: In<i64> },
}

template! {
    Op::AddConst => (add $a $k)
    Op::Add      => (add $a $b)
    Op::JumpLess => (when (lt $a $k) (branch $to))
    Op::Jump     => (branch $0)
    Op::Leave    => (when (zr (and $a 1023)) (exit))
    Op::Call     => (invoke $f (arglist $args) i64)
    Op::Tail     => (tail $f (arglist $args))
    Op::Again    => (call again (arglist (carg $a i64)) i64)
    Op::Raise    => unsafe (callv raise (arglist (carg (window $run) ptr) (carg (length $run) i64)))
    Op::Return   => (return $a)
}

/// Increments each register of a run.
unsafe extern "C" fn raise(first: *mut i64, count: i64) {
    for at in 0..count as usize {
        // SAFETY: the template passes the address of this many slots.
        unsafe { *first.add(at) += 1 };
    }
}

thread_local! {
    static ENGINE: Cell<Option<*const Engine<Op>>> = const { Cell::new(None) };
}

/// Calls function 0 from outside, recursively. Returns its result, or -1 if it fails.
fn again(a: i64) -> i64 {
    let engine = ENGINE.get().expect("the test says which");
    // SAFETY: the engine outlives the test's call.
    let engine = unsafe { &*engine };
    let result = match a % 2 == 0 {
        true => engine.call(engine.numbered(0), &mut (), (a,)),
        false => engine.call_back(engine.numbered(0), &mut (), (a,)),
    };
    result.unwrap_or(-1)
}

trait Numbered {
    fn numbered(&self, number: u32) -> FunctionId;
}

thread_local! {
    static FUNCTIONS: Cell<Vec<FunctionId>> = const { Cell::new(Vec::new()) };
}

impl Numbered for Engine<Op> {
    fn numbered(&self, number: u32) -> FunctionId {
        let functions = FUNCTIONS.take();
        let function = functions[number as usize];
        FUNCTIONS.set(functions);
        function
    }
}

fn run(count: u32) -> Regs {
    Regs { first: 0, count }
}

fn add(dst: u32, a: u32, k: i64) -> Op {
    Op::AddConst { dst: dst.into(), a: a.into(), k: Imm(k) }
}

/// Programs by name: their functions, of which the last one runs. With an argument above zero they run forever.
fn programs() -> Vec<(&'static str, Vec<Vec<Op>>)> {
    let forever = |inside: &[Op]| {
        // Register 1 counts the iterations.
        let mut code =
            vec![Op::JumpLess { a: 0.into(), k: Imm(1), to: Label(3 + inside.len() as u32) }, add(1, 1, 1)];
        code.extend(inside);
        code.push(Op::Jump(Label(1)));
        code.push(Op::Return { a: 0.into() });
        code
    };
    let ends = vec![add(0, 0, 1), Op::Return { a: 0.into() }];
    // f(n) = f(n - 1) + f(n - 1), without a loop.
    let doubling = vec![
        Op::JumpLess { a: 0.into(), k: Imm(1), to: Label(5) },
        add(0, 0, -1),
        Op::Call { dst: 1.into(), f: Imm(0), args: run(1) },
        Op::Call { dst: 2.into(), f: Imm(0), args: run(1) },
        Op::Add { dst: 0.into(), a: 1.into(), b: 2.into() },
        Op::Return { a: 0.into() },
    ];
    let ring = vec![
        Op::JumpLess { a: 0.into(), k: Imm(1), to: Label(2) },
        Op::Tail { f: Imm(0), args: run(1) },
        Op::Return { a: 0.into() },
    ];
    vec![
        ("a loop", vec![forever(&[])]),
        ("a loop that is left now and then", vec![forever(&[Op::Leave { a: 1.into() }])]),
        (
            "a loop with a call",
            vec![ends.clone(), forever(&[Op::Call { dst: 2.into(), f: Imm(0), args: run(2) }])],
        ),
        (
            "a loop in a function that is called",
            vec![
                forever(&[]),
                vec![Op::Call { dst: 0.into(), f: Imm(0), args: run(1) }, Op::Return { a: 0.into() }],
            ],
        ),
        ("calls", vec![doubling.clone()]),
        ("tail calls", vec![ring]),
        ("calls of Rust that call back", vec![ends, forever(&[Op::Again { dst: 2.into(), a: 1.into() }])]),
    ]
}

fn engines() -> Vec<(&'static str, Builder)> {
    let builder = Engine::<Op>::builder;
    let mut engines = vec![("interpreter", builder().only(Tier::Interpreter))];
    if azulejo::can_compile().is_ok() {
        engines.push(("baseline", builder().only(Tier::Baseline)));
        engines.push(("optimizer", builder().only(Tier::Optimizer)));
        engines.push(("tiering up", builder().thresholds(10, 100)));
        engines.push(("to baseline", builder().up_to(Tier::Baseline)));
        engines.push(("background", builder().thresholds(10, 100).background(true)));
    }
    engines
}

/// How often the time to stop is measured.
const TRIES: usize = 12;

/// The running time of a thread, readable from any thread. It does not include time in which the system ran other threads.
#[cfg(target_os = "linux")]
mod clock {
    use libc::{clock_gettime, clockid_t, pthread_getcpuclockid, pthread_self, timespec};
    use std::time::Duration;

    #[derive(Clone, Copy)]
    pub(super) struct Clock(clockid_t);

    impl Clock {
        pub(super) fn of_this_thread() -> Clock {
            let mut clock = 0;
            // SAFETY: the thread is the current one, so it exists.
            assert_eq!(unsafe { pthread_getcpuclockid(pthread_self(), &raw mut clock) }, 0);
            Clock(clock)
        }

        pub(super) fn now(self) -> Duration {
            let mut time = timespec { tv_sec: 0, tv_nsec: 0 };
            // SAFETY: the pointer is valid for writes.
            assert_eq!(unsafe { clock_gettime(self.0, &raw mut time) }, 0);
            Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
        }
    }
}

/// On other systems the wall-clock time counts.
#[cfg(not(target_os = "linux"))]
mod clock {
    use std::time::{Duration, Instant};

    #[derive(Clone, Copy)]
    pub(super) struct Clock(Instant);

    impl Clock {
        pub(super) fn of_this_thread() -> Clock {
            Clock(Instant::now())
        }

        pub(super) fn now(self) -> Duration {
            self.0.elapsed()
        }
    }
}

use clock::Clock;

#[test]
fn programs_are_stopped_within_a_millisecond() {
    for (name, functions) in programs() {
        for (tier, builder) in engines() {
            let engine: Engine<Op> = builder.build();
            let ids: Vec<FunctionId> = functions
                .iter()
                .map(|code| engine.define(name, code.clone(), 3).expect("it is right"))
                .collect();
            let last = ids[ids.len() - 1];
            FUNCTIONS.set(ids);
            ENGINE.set(Some(&raw const engine));
            // Code that was compiled before must not stay.
            assert_eq!(engine.call::<_, i64>(last, &mut (), (0i64,)), Ok(0), "{name} in {tier}");
            let interrupter = engine.interrupter();
            let (go, wait) = mpsc::channel::<Duration>();
            let (told, when) = mpsc::channel::<Duration>();
            let clock = Clock::of_this_thread();
            let thread = std::thread::spawn(move || {
                for pause in wait {
                    std::thread::sleep(pause);
                    let now = clock.now();
                    interrupter.interrupt();
                    told.send(now).expect("it is waited for");
                }
            });
            let mut quickest = Duration::MAX;
            for at in 0..TRIES {
                go.send(Duration::from_millis(1 + at as u64)).expect("the thread is there");
                let result: Result<i64, Error> = match at % 2 {
                    0 => engine.call(last, &mut (), (60i64,)),
                    _ => engine.interpret(last, &mut (), (60i64,)),
                };
                let end = clock.now();
                assert!(matches!(result, Err(Error::Interrupted { .. })), "{name} in {tier}: {result:?}");
                quickest = quickest.min(end.saturating_sub(when.recv().expect("it interrupted")));
                // The engine still works.
                assert_eq!(engine.call::<_, i64>(last, &mut (), (0i64,)), Ok(0), "{name} in {tier}");
                if at >= 3 && quickest < Duration::from_millis(1) {
                    break;
                }
            }
            drop(go);
            thread.join().expect("it ends");
            assert!(quickest < Duration::from_millis(1), "{name} in {tier} took {quickest:?}");
            ENGINE.set(None);
        }
    }
}

#[test]
fn it_is_told_at_which_bytecode() {
    for (tier, builder) in engines() {
        let engine: Engine<Op> = builder.build();
        let code = vec![add(1, 1, 1), add(1, 1, 1), Op::Jump(Label(1))];
        let forever = engine.define("forever", code, 2).expect("it is right");
        let interrupter = engine.interrupter();
        let thread = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(5));
            interrupter.interrupt();
        });
        assert_eq!(engine.call::<_, i64>(forever, &mut (), ()), Err(Error::Interrupted { at: 1 }), "{tier}");
        thread.join().expect("it ends");
    }
}

#[test]
fn an_interrupter_may_outlive_its_engine() {
    let engine: Engine<Op> = Engine::new();
    let interrupter = engine.interrupter();
    drop(engine);
    interrupter.interrupt();
    interrupter.clone().withdraw();
}

#[test]
fn nobody_pays_who_does_not_ask() {
    if azulejo::can_compile().is_err() || cfg!(not(target_arch = "x86_64")) {
        return;
    }
    // The code is unchanged at first, and polls in each iteration only after an interrupter was made.
    let engine: Engine<Op> = Engine::<Op>::builder().only(Tier::Optimizer).build();
    let code = vec![
        add(0, 0, 1),
        Op::JumpLess { a: 0.into(), k: Imm(1000), to: Label(0) },
        Op::Return { a: 0.into() },
    ];
    let function = engine.define("count", code, 1).expect("it is right");
    let length = || {
        engine.compile(function).expect("it compiles");
        engine.code_len(function)
    };
    let before = length();
    let _interrupter = engine.interrupter();
    assert_eq!(engine.code_len(function), 0, "what was compiled before goes");
    let polled = length();
    assert!(before < polled && polled < before + 100, "{before} and {polled}");
    assert_eq!(engine.call::<_, i64>(function, &mut (), (0i64,)), Ok(1000));
}

#[test]
fn fuel_is_used_up_in_every_tier_and_then_there_may_be_more() {
    for (name, functions) in programs() {
        for (tier, builder) in engines() {
            let engine: Engine<Op> = builder.fuel(0).build();
            let ids: Vec<FunctionId> = functions
                .iter()
                .map(|code| engine.define(name, code.clone(), 3).expect("it is right"))
                .collect();
            let last = ids[ids.len() - 1];
            FUNCTIONS.set(ids);
            ENGINE.set(Some(&raw const engine));
            for fuel in [0, 1, 7, 1000, 30_000, 30_000] {
                engine.set_fuel(fuel);
                let result = engine.call::<_, i64>(last, &mut (), (60i64,));
                assert!(
                    matches!(result, Err(Error::OutOfFuel { .. })),
                    "{name} in {tier} on {fuel}: {result:?}"
                );
                assert_eq!(engine.fuel(), Some(0), "{name} in {tier}");
                engine.set_fuel(100);
                assert_eq!(engine.call::<_, i64>(last, &mut (), (0i64,)), Ok(0), "{name} in {tier}");
                let left = engine.fuel().expect("it runs on some");
                assert!((90..100).contains(&left), "{name} in {tier}: {left}");
            }
            ENGINE.set(None);
        }
    }
}

#[test]
fn a_program_goes_on_where_its_fuel_was_used_up() {
    use std::rc::Rc;
    for (tier, builder) in engines() {
        let engine: Engine<Op> = builder.fuel(10).build();
        // f(n) = n + f(n - 1), by calls; and a loop that sums up its results.
        let down = vec![
            Op::JumpLess { a: 0.into(), k: Imm(1), to: Label(5) },
            add(1, 0, 0),
            add(0, 0, -1),
            Op::Call { dst: 2.into(), f: Imm(0), args: run(1) },
            Op::Add { dst: 0.into(), a: 1.into(), b: 2.into() },
            Op::Return { a: 0.into() },
        ];
        engine.define("down", down, 3).expect("it is right");
        let sum = vec![
            add(0, 3, 0),
            Op::Call { dst: 1.into(), f: Imm(0), args: run(1) },
            Op::Add { dst: 2.into(), a: 2.into(), b: 1.into() },
            add(3, 3, 1),
            Op::JumpLess { a: 3.into(), k: Imm(100), to: Label(0) },
            Op::Return { a: 2.into() },
        ];
        let sum = engine.define("sum", sum, 4).expect("it is right");
        let given = Rc::new(Cell::new(0u64));
        engine.when_out_of_fuel({
            let given = Rc::clone(&given);
            move || {
                given.set(given.get() + 1);
                13
            }
        });
        let expected: i64 = (0..100).map(|n| n * (n + 1) / 2).sum();
        for _ in 0..3 {
            given.set(0);
            assert_eq!(engine.call::<_, i64>(sum, &mut (), ()), Ok(expected), "{tier}");
            // There are 5150 calls and loop iterations.
            assert!((350..450).contains(&given.get()), "{tier} was given fuel {} times", given.get());
        }
    }
}

#[test]
fn what_a_bytecode_may_write_is_stored_where_the_program_is_left_before_it() {
    for (tier, builder) in engines() {
        let engine: Engine<Op> = builder.fuel(10).build();
        engine.when_out_of_fuel(|| 7);
        let run = |first, count| Op::Raise { run: RegsMut { first, count } };
        let code = vec![
            run(2, 1),
            // The loop's head: the bytecodes in front of and behind the fuel check access runs of registers.
            run(1, 2),
            add(1, 1, 3),
            add(0, 0, 1),
            Op::JumpLess { a: 0.into(), k: Imm(1000), to: Label(1) },
            Op::Return { a: 1.into() },
        ];
        let function = engine.define("raise", code, 3).expect("it is right");
        for _ in 0..3 {
            assert_eq!(engine.call::<_, i64>(function, &mut (), (0i64,)), Ok(4000), "{tier}");
        }
    }
}

#[test]
#[cfg(all(target_arch = "x86_64", any(unix, windows)))]
fn a_program_is_stopped_wherever_the_words_are_that_it_looks_at() {
    // Once all words near the program are taken, compiled code uses words elsewhere.
    let _taken: Vec<_> = (0..5000).map(|_| azulejo_code::memory::near::Word::new()).collect();
    for (tier, builder) in engines() {
        let engine: Engine<Op> = builder.fuel(5000).build();
        let code = vec![add(1, 1, 3), add(0, 0, 1), Op::JumpLess { a: 0.into(), k: Imm(1000), to: Label(0) }];
        let code = [code, vec![Op::Return { a: 1.into() }]].concat();
        let function = engine.define("loop", code, 2).expect("it is right");
        let interrupter = engine.interrupter();
        assert_eq!(engine.call::<_, i64>(function, &mut (), (0i64,)), Ok(3000), "{tier}");
        interrupter.interrupt();
        let result = engine.call::<_, i64>(function, &mut (), (0i64,));
        assert_eq!(result, Err(Error::Interrupted { at: 0 }), "{tier}");
        engine.set_fuel(500);
        let result = engine.call::<_, i64>(function, &mut (), (0i64,));
        assert_eq!(result, Err(Error::OutOfFuel { at: 0 }), "{tier}");
    }
}
