//! Functions that are removed: calls of them fail, running ones continue to their end, and their memory is freed. And functions that
//! others define while they run.

use azulejo::prelude::*;
use std::cell::RefCell;
use std::rc::{Rc, Weak};

thread_local! {
    static ENGINE: RefCell<Weak<Engine<Op>>> = const { RefCell::new(Weak::new()) };
}

#[derive(Bytecode, Clone, Copy, Debug)]
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
    Call {
        dst: Out<i64>,
        f: Imm<u32>,
        a: In<i64>,
    },
    CallAny {
        dst: Out<i64>,
        f: In<u32>,
        a: In<i64>,
    },
    Tail {
        f: Imm<u32>,
        a: In<i64>,
    },
    /// Removes a function.
    Remove {
        f: In<u32>,
    },
    /// Defines a function that doubles, and gives its number.
    Define {
        dst: Out<u32>,
    },
    Leave,
    Return {
        a: In<i64>,
    },
}

fn remove(number: u32) {
    let engine = ENGINE.with_borrow(Weak::upgrade).expect("it is there");
    let function = FUNCTIONS.with_borrow(|functions| functions[number as usize]);
    engine.remove(function).expect("it is there");
}

fn define_double() -> u32 {
    let engine = ENGINE.with_borrow(Weak::upgrade).expect("it is there");
    double(&engine).number()
}

thread_local! {
    static FUNCTIONS: RefCell<Vec<FunctionId>> = const { RefCell::new(Vec::new()) };
}

template! {
    Op::Const   => $value
    Op::Add     => (add $a $b)
    Op::Call    => (invoke $f (arglist $a) i64)
    Op::CallAny => (invoke $f (arglist $a) i64)
    Op::Tail    => (tail $f (arglist $a))
    Op::Remove  => (callv remove (arglist (carg $f u32)))
    Op::Define  => (call define_double (arglist) u32)
    Op::Leave   => (exit)
    Op::Return  => (return $a)
}

fn engines() -> Vec<(&'static str, Rc<Engine<Op>>)> {
    let only = |tier| Engine::<Op>::builder().only(tier).build();
    let engines = vec![
        ("interpreter", only(Tier::Interpreter)),
        ("baseline", only(Tier::Baseline)),
        ("optimizer", only(Tier::Optimizer)),
        ("tiering up", Engine::<Op>::builder().thresholds(3, 10).build()),
        ("background", Engine::<Op>::builder().thresholds(3, 10).background(true).build()),
    ];
    engines.into_iter().map(|(name, engine)| (name, Rc::new(engine))).collect()
}

fn define(engine: &Engine<Op>, code: Vec<Op>, registers: u32) -> FunctionId {
    let function = engine.define("f", code, registers).expect("it is right");
    FUNCTIONS.with_borrow_mut(|functions| {
        functions.resize(function.number() as usize, function);
        functions.push(function);
    });
    function
}

fn double(engine: &Engine<Op>) -> FunctionId {
    let code = vec![Op::Add { dst: 0.into(), a: 0.into(), b: 0.into() }, Op::Return { a: 0.into() }];
    define(engine, code, 1)
}

#[test]
fn who_calls_a_function_that_was_removed_is_told() {
    for (name, engine) in engines() {
        let f = double(&engine);
        let call = Op::Call { dst: 0.into(), f: Imm(f.number()), a: 0.into() };
        let any = vec![
            Op::Const { dst: 1.into(), value: Imm(f.number() as i64) },
            Op::CallAny { dst: 0.into(), f: 1.into(), a: 0.into() },
            Op::Return { a: 0.into() },
        ];
        let callers = [
            define(&engine, vec![call, Op::Return { a: 0.into() }], 1),
            define(&engine, any, 2),
            define(&engine, vec![Op::Tail { f: Imm(f.number()), a: 0.into() }], 1),
        ];
        let all = || callers.into_iter().chain([f]);
        let run = |function| engine.call::<_, i64>(function, &mut (), (21i64,));
        for _ in 0..50 {
            assert!(all().all(|function| run(function) == Ok(42)), "{name}");
        }
        assert_eq!(engine.stats().functions, 4, "{name}");
        engine.remove(f).expect("it is there");
        assert_eq!(engine.stats().functions, 3, "{name}");
        for _ in 0..50 {
            assert_eq!(run(f), Err(Error::Removed), "{name}");
            for (caller, at) in callers.into_iter().zip([0, 1, 0]) {
                assert_eq!(run(caller), Err(Error::Trap { trap: Trap::BadCall, at }), "{name}");
            }
        }
        let result: Result<i64, Error> = engine.interpret(f, &mut (), (21i64,));
        assert_eq!(result, Err(Error::Removed), "{name}");
        assert_eq!(
            [engine.remove(f), engine.discard(f), engine.compile(f)],
            [Err(Error::Removed); 3],
            "{name}"
        );
        assert_eq!((engine.name(f), engine.stages(f)), (Err(Error::Removed), Err(Error::Removed)), "{name}");
        assert_eq!((engine.tier(f), engine.code_len(f)), (Tier::Interpreter, 0), "{name}");
        // The number is not reused.
        assert_eq!(run(double(&engine)), Ok(42), "{name}");
        assert_eq!(run(f), Err(Error::Removed), "{name}");
    }
}

/// A function defines another one and calls it, after an outermost call, a call, a tail call, and a hundred of these.
#[test]
fn a_function_that_runs_may_define_others() {
    for (name, engine) in engines() {
        ENGINE.set(Rc::downgrade(&engine));
        let returns = Op::Return { a: 0.into() };
        let defines = vec![
            Op::Define { dst: 1.into() },
            Op::CallAny { dst: 0.into(), f: 1.into(), a: 0.into() },
            returns,
        ];
        let defines = define(&engine, defines, 2);
        let f = Imm(defines.number());
        let call = define(&engine, vec![Op::Call { dst: 0.into(), f, a: 0.into() }, returns], 1);
        let tail = |f: FunctionId| define(&engine, vec![Op::Tail { f: Imm(f.number()), a: 0.into() }], 1);
        let once = tail(defines);
        let callers = [defines, call, once, (1..100).fold(once, |last, _| tail(last))];
        let before = engine.stats().functions;
        for function in (0..30).flat_map(|_| callers) {
            assert_eq!(engine.call::<_, i64>(function, &mut (), (21i64,)), Ok(42), "{name}");
        }
        assert_eq!(engine.stats().functions - before, 30 * callers.len(), "{name}");
    }
}

/// A function removes itself or its caller, and continues: in its compiled code, and after an exit in the interpreter.
#[test]
fn a_function_that_is_removed_while_it_runs_runs_on() {
    for (name, engine) in engines() {
        ENGINE.set(Rc::downgrade(&engine));
        let inner = vec![
            Op::Remove { f: 0.into() },
            Op::Const { dst: 1.into(), value: Imm(7) },
            Op::Leave,
            Op::Add { dst: 1.into(), a: 1.into(), b: 0.into() },
            Op::Return { a: 1.into() },
        ];
        for _ in 0..20 {
            let inner = define(&engine, inner.clone(), 2);
            let call = Op::Call { dst: 1.into(), f: Imm(inner.number()), a: 0.into() };
            let add = Op::Add { dst: 1.into(), a: 1.into(), b: 0.into() };
            let outer = define(&engine, vec![call, Op::Leave, add, Op::Return { a: 1.into() }], 2);
            // First, remove functions that are not running, until all functions have code.
            for _ in 0..15 {
                let f = double(&engine).number() as i64;
                assert_eq!(engine.call(outer, &mut (), (f,)), Ok(7 + f + f), "{name}");
            }
            let (i, o) = (inner.number() as i64, outer.number() as i64);
            assert_eq!(engine.call(outer, &mut (), (o,)), Ok(7 + o + o), "{name}");
            assert_eq!(engine.call::<_, i64>(outer, &mut (), (o,)), Err(Error::Removed), "{name}");
            assert_eq!(engine.call(inner, &mut (), (i,)), Ok(7 + i), "{name}");
            assert_eq!(engine.call::<_, i64>(inner, &mut (), (i,)), Err(Error::Removed), "{name}");
        }
        assert_eq!(engine.stats().functions, 0, "{name}");
    }
}

/// The maker of a function, and the arguments of a call, may remove the function that is being called.
#[test]
fn a_function_may_be_removed_before_it_starts() {
    struct Removing(FunctionId);
    impl azulejo::Args for Removing {
        fn count(&self) -> usize {
            _ = ENGINE.with_borrow(Weak::upgrade).expect("it is there").remove(self.0);
            1
        }
        fn store(self, frame: &mut [u64]) {
            frame[0] = 21;
        }
    }
    for (name, engine) in engines() {
        ENGINE.set(Rc::downgrade(&engine));
        let f = double(&engine);
        assert_eq!(engine.call(f, &mut (), Removing(f)), Ok(42i64), "{name}");
        assert_eq!(engine.call::<_, i64>(f, &mut (), (21i64,)), Err(Error::Removed), "{name}");
        let number = engine.stats().functions + 1;
        let late = engine.declare("late", move || {
            let engine = ENGINE.with_borrow(Weak::upgrade).expect("it is there");
            let late = FUNCTIONS.with_borrow(|functions| functions[number]);
            engine.remove(late).expect("it is there");
            let code = vec![Op::Add { dst: 0.into(), a: 0.into(), b: 0.into() }, Op::Return { a: 0.into() }];
            Some((code.into(), 1))
        });
        FUNCTIONS.with_borrow_mut(|functions| functions.resize(number + 1, late));
        assert_eq!(engine.call(late, &mut (), (21i64,)), Ok(42i64), "{name}");
        assert_eq!(engine.call::<_, i64>(late, &mut (), (21i64,)), Err(Error::Removed), "{name}");
        // Removing a function drops its maker.
        let captured = Rc::new(());
        let weak = Rc::downgrade(&captured);
        let never = engine.declare("never", move || {
            drop(captured);
            None
        });
        engine.remove(never).expect("it is there");
        assert_eq!(weak.strong_count(), 0, "{name}");
    }
}

#[test]
fn memory_is_given_back() {
    if azulejo::can_compile().is_err() {
        return;
    }
    for (name, engine) in engines() {
        let used = || engine.stats().code_used;
        let mut code: Vec<Op> =
            (0..2000).map(|at| Op::Const { dst: 1.into(), value: Imm(at * 0x1234_5678) }).collect();
        code.push(Op::Return { a: 0.into() });
        for _ in 0..20 {
            let function = engine.define("long", code.clone(), 2).expect("it is right");
            engine.compile_in(function, Tier::Baseline).expect("there is room");
            assert!(used() > 2000, "{name}");
            engine.remove(function).expect("it is there");
            assert_eq!(used(), 0, "{name}");
        }
    }
}

/// Adds a constant to the first argument; takes as many as it likes.
fn add(engine: &Engine<Op>, constant: i64, registers: u32) -> FunctionId {
    let code = vec![
        Op::Const { dst: (registers - 1).into(), value: Imm(constant) },
        Op::Add { dst: 0.into(), a: 0.into(), b: (registers - 1).into() },
        Op::Return { a: 0.into() },
    ];
    engine.define("add", code, registers).expect("it is right")
}

#[test]
fn a_freed_function_leaves_its_number_to_the_next() {
    for (name, engine) in engines() {
        let any = vec![Op::CallAny { dst: 0.into(), f: 0.into(), a: 1.into() }, Op::Return { a: 0.into() }];
        let any = define(&engine, any, 2);
        for constant in 0..300 {
            let f = add(&engine, constant, 2 + constant as u32 % 3);
            assert_eq!(f.number(), any.number() + 1, "{name}");
            for a in 0..30 {
                let result = engine.call::<_, i64>(any, &mut (), (i64::from(f.number()), a));
                assert_eq!(result, Ok(a + constant), "{name}");
                if constant % 2 == 0 {
                    assert_eq!(engine.call::<_, i64>(f, &mut (), (a,)), Ok(a + constant), "{name}");
                }
            }
            // SAFETY: no call of it is active.
            unsafe { engine.free_with_number(f) }.expect("it is there");
            assert_eq!(engine.call::<_, i64>(f, &mut (), (1i64,)), Err(Error::Removed), "{name}");
            // SAFETY: it is not there.
            assert_eq!(unsafe { engine.free_with_number(f) }, Err(Error::Removed), "{name}");
        }
        // Others keep it.
        let (f, g) = (double(&engine), double(&engine));
        engine.remove(f).expect("it is there");
        // SAFETY: no call of it is active.
        unsafe { engine.free(g) }.expect("it is there");
        assert!(double(&engine).number() > g.number(), "{name}");
    }
}

#[test]
fn the_number_of_a_function_that_was_inlined_is_not_given_again() {
    let engine = Engine::<Op>::builder().only(Tier::Optimizer).build();
    let f = double(&engine);
    let call = Op::Call { dst: 0.into(), f: Imm(f.number()), a: 0.into() };
    let caller = define(&engine, vec![call, Op::Return { a: 0.into() }], 1);
    assert_eq!(engine.call::<_, i64>(caller, &mut (), (21i64,)), Ok(42));
    // SAFETY: no call of it is active.
    unsafe { engine.free_with_number(f) }.expect("it is there");
    assert_ne!(add(&engine, 1, 2).number(), f.number());
    let result = engine.call::<_, i64>(caller, &mut (), (21i64,));
    assert_eq!(result, Err(Error::Trap { trap: Trap::BadCall, at: 0 }));
}
