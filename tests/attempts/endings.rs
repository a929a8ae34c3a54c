//! What ends a program, and what it leaves behind: interrupts, fuel, deep recursion, backtraces, and fibers that are dropped.

use azulejo::prelude::*;
use azulejo::{Builder, FunctionId};
use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::time::Duration;

#[derive(Bytecode, Clone, Copy, Debug)]
enum Op {
    Try { dst: Out<i64>, f: Imm<u32>, a: In<i64> },
    Call { dst: Out<i64>, f: Imm<u32>, a: In<i64> },
    AddConst { dst: Out<i64>, a: In<i64>, k: Imm<i64> },
    Jump(Label),
    Fail { code: Imm<u16>, a: In<i64> },
    Note,
    Ready,
    NoteDeep { a: In<i64> },
    Return { a: In<i64> },
}

template! {
    Op::Try => (try (invoke $f (arglist $a) i64) (ucast (trap_code) i64))
    Op::Call => (invoke $f (arglist $a) i64)
    Op::AddConst => (add $a $k)
    Op::Jump => (branch $0)
    Op::Fail => (if (zr $a) (trap 1) (trap 2))
    Op::Note => (callv note (arglist))
    Op::Ready => (callv ready (arglist))
    Op::NoteDeep => (when (eq $a &DEEP) (callv note (arglist)))
    Op::Return => (return $a)
}

/// What is caught of calls that nest too deep.
const DEEP: i64 = Trap::StackOverflow.code() as i64;

thread_local! {
    static NOTES: Cell<u32> = const { Cell::new(0) };
}

fn note() {
    NOTES.set(NOTES.get() + 1);
}

/// Set where a program runs that is to be interrupted there.
static IS_READY: AtomicBool = AtomicBool::new(false);

fn ready() {
    IS_READY.store(true, SeqCst);
}

const TIERS: [Option<Tier>; 4] = [None, Some(Tier::Interpreter), Some(Tier::Baseline), Some(Tier::Optimizer)];

fn engine(builder: Builder, tier: Option<Tier>) -> Engine<Op> {
    match tier {
        None => builder.thresholds(3, 3).build(),
        Some(Tier::Interpreter) => builder.only(Tier::Interpreter).build(),
        Some(tier) if azulejo::can_compile().is_ok() => builder.only(tier).build(),
        Some(_) => builder.build(),
    }
}

fn define(engine: &Engine<Op>, code: Vec<Op>) -> FunctionId {
    engine.define("one", code, 2).expect("it is right")
}

/// A function that runs for ever, and one that calls it again and again, whatever it fails with.
fn endless(engine: &Engine<Op>) -> FunctionId {
    let inner =
        define(engine, vec![Op::AddConst { dst: 0.into(), a: 0.into(), k: Imm(1) }, Op::Jump(Label(0))]);
    let outer =
        vec![Op::Try { dst: 1.into(), f: Imm(inner.number()), a: 0.into() }, Op::Note, Op::Jump(Label(0))];
    define(engine, outer)
}

#[test]
fn an_interrupt_is_caught_by_nobody() {
    for tier in TIERS {
        let engine = engine(Engine::<Op>::builder(), tier);
        let outer = endless(&engine);
        for _ in 0..5 {
            let interrupter = engine.interrupter();
            let thread = std::thread::spawn(move || {
                std::thread::sleep(Duration::from_millis(3));
                interrupter.interrupt();
            });
            NOTES.set(0);
            let ended: Result<i64, Error> = engine.call(outer, &mut (), (0i64,));
            assert_eq!((ended, NOTES.get()), (Err(Error::Interrupted { at: 0 }), 0), "{tier:?}");
            thread.join().expect("it does not panic");
        }
    }
}

/// A call that fails because somebody has stopped the program fails for want of room, as deep calls do.
#[test]
fn a_stop_in_front_of_a_call_is_caught_by_nobody() {
    for tier in TIERS {
        let engine = engine(Engine::<Op>::builder(), tier);
        let callee = define(&engine, vec![Op::Return { a: 0.into() }]);
        let call = Op::Try { dst: 0.into(), f: Imm(callee.number()), a: 0.into() };
        let look = Op::NoteDeep { a: 0.into() };
        let outer = define(
            &engine,
            vec![call, look, Op::AddConst { dst: 0.into(), a: 0.into(), k: Imm(0) }, Op::Jump(Label(0))],
        );
        NOTES.set(0);
        for _ in 0..20 {
            let interrupter = engine.interrupter();
            let thread = std::thread::spawn(move || {
                std::thread::sleep(Duration::from_micros(300));
                interrupter.interrupt();
            });
            let ended: Result<i64, Error> = engine.call(outer, &mut (), (0i64,));
            assert!(matches!(ended, Err(Error::Interrupted { .. })), "{tier:?}: {ended:?}");
            assert_eq!(NOTES.get(), 0, "{tier:?}");
            thread.join().expect("it does not panic");
        }
    }
}

#[test]
fn an_empty_tank_is_caught_by_nobody() {
    for tier in TIERS {
        let engine = engine(Engine::<Op>::builder().fuel(1000), tier);
        let outer = endless(&engine);
        NOTES.set(0);
        let ended: Result<i64, Error> = engine.call(outer, &mut (), (0i64,));
        assert_eq!((ended, NOTES.get()), (Err(Error::OutOfFuel { at: 0 }), 0), "{tier:?}");
        engine.set_fuel(1000);
        let callee = define(&engine, vec![Op::Fail { code: Imm(1), a: 0.into() }]);
        let call = Op::Try { dst: 0.into(), f: Imm(callee.number()), a: 0.into() };
        let catches = define(&engine, vec![call, Op::Return { a: 0.into() }]);
        let caught = Trap::User(1).code() as i64;
        assert_eq!(engine.call(catches, &mut (), (0i64,)), Ok(caught), "{tier:?}");
    }
}

/// A backtrace begins where the program was stopped, also within calls that catch what fails.
#[test]
fn a_backtrace_of_an_end_has_what_was_tried() {
    for tier in TIERS {
        let builder = || Engine::<Op>::builder().backtraces(true);
        let (interrupted, limited) = (engine(builder(), tier), engine(builder().fuel(1000), tier));
        let interrupter = interrupted.interrupter();
        IS_READY.store(false, SeqCst);
        let thread = std::thread::spawn(move || {
            // Before that the inner function may not have been called.
            while !IS_READY.load(SeqCst) {
                std::thread::sleep(Duration::from_millis(1));
            }
            interrupter.interrupt();
        });
        for engine in [&interrupted, &limited] {
            let again = Op::AddConst { dst: 0.into(), a: 0.into(), k: Imm(1) };
            let inner = define(engine, vec![Op::Ready, again, Op::Jump(Label(1))]);
            let attempt = Op::Try { dst: 1.into(), f: Imm(inner.number()), a: 0.into() };
            let outer = define(engine, vec![attempt, Op::Jump(Label(0))]);
            let ended: Result<i64, Error> = engine.call(outer, &mut (), (0i64,));
            assert!(matches!(ended, Err(Error::Interrupted { .. } | Error::OutOfFuel { .. })), "{ended:?}");
            let found: Vec<(u32, u32)> =
                engine.backtrace().frames.iter().map(|frame| (frame.function.number(), frame.at)).collect();
            // The inner one is at its loop's head.
            assert_eq!((found.len(), found[0].0, found[1]), (2, 0, (1, 0)), "{tier:?}");
        }
        thread.join().expect("it does not panic");
    }
}

#[test]
fn calls_that_nest_too_deep_are_caught() {
    for tier in TIERS {
        let engine = engine(Engine::<Op>::builder().native_stack(1 << 19), tier);
        let call = |f: u32| Op::Call { dst: 0.into(), f: Imm(f), a: 0.into() };
        let deep = define(&engine, vec![call(0), Op::Return { a: 0.into() }]);
        let attempt = Op::Try { dst: 0.into(), f: Imm(deep.number()), a: 0.into() };
        let outer = define(&engine, vec![attempt, Op::Return { a: 0.into() }]);
        let code = Trap::StackOverflow.code() as i64;
        for _ in 0..10 {
            assert_eq!(engine.call(outer, &mut (), (5i64,)), Ok(code), "{tier:?}");
        }
        // Each of many calls inside of each other catches what the next one fails with.
        let number = outer.number() + 1;
        let attempt = Op::Try { dst: 0.into(), f: Imm(number), a: 0.into() };
        let every = define(
            &engine,
            vec![attempt, Op::AddConst { dst: 0.into(), a: 0.into(), k: Imm(1) }, Op::Return { a: 0.into() }],
        );
        let depth: i64 = engine.call(every, &mut (), (5i64,)).expect("it is caught");
        assert!(depth > 50, "{tier:?}: {depth}");
    }
}

#[test]
fn a_failure_that_was_caught_leaves_no_backtrace() {
    for tier in TIERS {
        let engine = engine(Engine::<Op>::builder().backtraces(true), tier);
        let fails = define(&engine, vec![Op::Note, Op::Fail { code: Imm(1), a: 0.into() }]);
        let number = Imm(fails.number());
        let attempt = Op::Try { dst: 1.into(), f: number, a: 0.into() };
        let catches = define(&engine, vec![attempt, Op::Return { a: 1.into() }]);
        let fails_later = vec![attempt, Op::Note, Op::Call { dst: 1.into(), f: number, a: 1.into() }];
        let fails_later = define(&engine, [fails_later, vec![Op::Return { a: 1.into() }]].concat());
        for _ in 0..12 {
            assert_eq!(engine.call(catches, &mut (), (0i64,)), Ok(Trap::User(1).code() as i64));
            assert_eq!(engine.backtrace().frames, [], "{tier:?}");
            let ended: Result<i64, Error> = engine.call(fails_later, &mut (), (0i64,));
            assert_eq!(ended, Err(Error::Trap { trap: Trap::User(2), at: 2 }), "{tier:?}");
            let frames: Vec<_> =
                engine.backtrace().frames.iter().map(|frame| (frame.function, frame.at)).collect();
            assert_eq!(frames, [(fails, 1), (fails_later, 2)], "{tier:?}");
        }
    }
}

#[cfg(all(unix, target_arch = "x86_64"))]
mod fibers {
    use super::{NOTES, TIERS, note};
    use azulejo::prelude::*;
    use azulejo::{Resumed, suspend};

    #[derive(Bytecode, Clone, Copy, Debug)]
    enum Op {
        Try { dst: Out<i64>, f: Imm<u32>, a: In<i64> },
        Yield { dst: Out<i64>, a: In<i64> },
        TryYield { dst: Out<i64>, a: In<i64> },
        Fail { a: In<i64> },
        Note,
        Return { a: In<i64> },
    }

    template! {
        Op::Try => (try (invoke $f (arglist $a) i64) (ucast (trap_code) i64))
        Op::Yield => (scast (call throws suspend (arglist (carg $a i64)) u64) i64)
        Op::TryYield => (scast (try (call throws suspend (arglist (carg $a i64)) u64) (ucast (trap_code) u64)) i64)
        Op::Fail => (when (gt $a 5) (trap 3))
        Op::Note => (callv note (arglist))
        Op::Return => (return $a)
    }

    /// `outer` catches what `inner` fails with, which suspends itself before.
    #[test]
    fn a_call_is_suspended_inside_of_an_attempt() {
        for tier in TIERS {
            let engine: Engine<Op> = match tier {
                None => Engine::<Op>::builder().thresholds(3, 3).build(),
                Some(tier) => Engine::<Op>::builder().only(tier).build(),
            };
            let yields = Op::Yield { dst: 0.into(), a: 0.into() };
            let inner = vec![yields, Op::Fail { a: 0.into() }, Op::Return { a: 0.into() }];
            let inner = engine.define("inner", inner, 1).expect("it is right");
            let attempt = Op::Try { dst: 0.into(), f: Imm(inner.number()), a: 0.into() };
            let outer = vec![attempt, Op::Note, Op::Return { a: 0.into() }];
            let outer = engine.define("outer", outer, 1).expect("it is right");
            for round in 0..12 {
                for (sent, result) in [(4, 4), (6, Trap::User(3).code() as i64)] {
                    let mut fiber = engine.fiber(outer, (round,)).expect("there is room");
                    assert_eq!(fiber.resume(&mut (), 0), Ok(Resumed::Suspended(round as u64)), "{tier:?}");
                    assert_eq!(fiber.resume(&mut (), sent), Ok(Resumed::Returned(result as u64)), "{tier:?}");
                }
                // A fiber that is dropped ends at once, whatever is around the point where it is.
                let mut fiber = engine.fiber(outer, (round,)).expect("there is room");
                assert_eq!(fiber.resume(&mut (), 0), Ok(Resumed::Suspended(round as u64)), "{tier:?}");
                NOTES.set(0);
                drop(fiber);
                assert_eq!(NOTES.get(), 0, "{tier:?}");
            }
        }
    }

    #[test]
    fn a_fiber_that_is_dropped_catches_nothing() {
        for tier in TIERS {
            let engine: Engine<Op> = match tier {
                None => Engine::<Op>::builder().thresholds(3, 3).build(),
                Some(tier) => Engine::<Op>::builder().only(tier).build(),
            };
            let code =
                vec![Op::TryYield { dst: 0.into(), a: 0.into() }, Op::Note, Op::Return { a: 0.into() }];
            let function = engine.define("one", code, 1).expect("it is right");
            for _ in 0..12 {
                let mut fiber = engine.fiber(function, (7i64,)).expect("there is room");
                assert_eq!(fiber.resume(&mut (), 0), Ok(Resumed::Suspended(7)), "{tier:?}");
                NOTES.set(0);
                drop(fiber);
                assert_eq!(NOTES.get(), 0, "{tier:?}");
                let outside: Result<i64, Error> = engine.call(function, &mut (), (7i64,));
                assert_eq!(outside, Ok(Trap::NotInFiber.code() as i64), "{tier:?}");
            }
        }
    }
}
