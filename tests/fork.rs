//! A process that forks: parent and child each have their own code afterwards.

#![cfg(unix)]

mod children;

use azulejo::memory::Reserved;
use azulejo::prelude::*;
use children::{child, end, split};
use std::io::{PipeReader, PipeWriter, Read, Write, pipe};
use std::sync::atomic::{AtomicBool, Ordering};

#[derive(Bytecode, Clone, Copy, Debug)]
#[bytecode(context = Vm)]
enum Op {
    Const { dst: Out<i64>, value: Imm<i64> },
    Add { dst: Out<i64>, a: In<i64>, b: In<i64> },
    Loop { n: InOut<i64>, to: Label },
    Load { dst: Out<i64>, at: In<u64> },
    Split { dst: Out<i64>, a: In<i64> },
    Call { dst: Out<i64>, f: Imm<u32>, a: In<i64> },
    Return { a: In<i64> },
}

/// The context of functions. In the parent, it gets the child that [`split_in_code`] made.
#[derive(Default)]
struct Vm {
    start: usize,
    size: u64,
    child: Option<children::Child>,
    is_child: bool,
    /// The pipe on which the child waits.
    signal: Option<PipeReader>,
}

/// Forks in the middle of compiled code. The child continues when the parent lets it.
fn split_in_code(vm: &mut Vm, value: i64) -> i64 {
    vm.child = split();
    vm.is_child = vm.child.is_none();
    if let Some(mut signal) = vm.signal.take()
        && vm.is_child
    {
        signal.read_exact(&mut [0]).expect("the parent writes a byte");
    }
    value
}

template! {
    Op::Const  => $value
    Op::Add    => (add $a $b)
    Op::Loop!  => (dov (set $n (sub $n 1)) (when (nz $n) (branch $to)))
    Op::Load   => unsafe (within (ult $at (load (addr (tc) (&offset_of Vm, size)) u64)) 1
        (load (idx (load pure (addr (tc) (&offset_of Vm, start)) ptr) $at 1) i64))
    Op::Split  => (call split_in_code (arglist (carg (tc) ptr) (carg $a i64)) i64)
    Op::Call   => (invoke $f (arglist $a) i64)
    Op::Return => (return $a)
}

const TIERS: [Tier; 2] = [Tier::Baseline, Tier::Optimizer];

/// `n + value`, behind `work` constants that make the code longer.
fn plus(value: i64, work: usize) -> Vec<Op> {
    let mut code: Vec<Op> =
        (0..work).map(|at| Op::Const { dst: 1.into(), value: Imm(at as i64 * 0x1234_5678_9abc) }).collect();
    code.push(Op::Const { dst: 1.into(), value: Imm(value) });
    code.push(Op::Add { dst: 0.into(), a: 0.into(), b: 1.into() });
    code.push(Op::Return { a: 0.into() });
    code
}

fn call(engine: &Engine<Op>, function: FunctionId, n: i64) -> i64 {
    engine.call(function, &mut Vm::default(), (n,)).expect("it returns")
}

/// Discards code and compiles new functions, whose code takes its place.
fn replace(engine: &Engine<Op>, tier: Tier, old: &[FunctionId], value: i64) -> Vec<FunctionId> {
    old.iter().for_each(|function| engine.discard(*function).expect("it is there"));
    let make = |at: usize| {
        let function = engine.define("new", plus(value, at % 3), 2).expect("it is right");
        engine.compile_in(function, tier).expect("there is room");
        assert_eq!(call(engine, function, 7), 7 + value);
        function
    };
    (0..old.len()).map(make).collect()
}

/// An engine, and functions with code.
fn made(tier: Tier, count: usize) -> (Engine<Op>, Vec<FunctionId>) {
    let engine = Engine::<Op>::builder().only(tier).code_bytes(1 << 16).build();
    let define = |at: usize| engine.define("old", plus(1000, at % 3), 2).expect("it is right");
    let functions: Vec<FunctionId> = (0..count).map(define).collect();
    functions.iter().for_each(|function| engine.compile_in(*function, tier).expect("there is room"));
    (engine, functions)
}

/// A pipe on which one process waits for the other.
struct Signal(PipeReader, PipeWriter);

impl Signal {
    fn new() -> Signal {
        let (reader, writer) = pipe().expect("the system has a pipe");
        Signal(reader, writer)
    }

    fn wait(&mut self) {
        self.0.read_exact(&mut [0]).expect("the other process writes a byte");
    }

    fn give(&mut self) {
        self.1.write_all(&[1]).expect("the other process reads it");
    }
}

#[test]
fn what_a_child_compiles_is_not_the_parents() {
    if azulejo::can_compile().is_err() {
        return;
    }
    for tier in TIERS {
        let (engine, functions) = made(tier, 20);
        let work = || {
            let new = replace(&engine, tier, &functions, 3000);
            assert!(new.iter().all(|function| call(&engine, *function, 1) == 3001));
            assert!(functions.iter().all(|function| call(&engine, *function, 1) == 1001));
        };
        child(work).join();
        assert!(functions.iter().all(|function| call(&engine, *function, 1) == 1001));
        // The same holds for new code in the parent, and in a grandchild.
        work();
        child(|| child(work).join()).join();
        work();
    }
}

#[test]
fn what_a_parent_compiles_is_not_the_childs() {
    if azulejo::can_compile().is_err() {
        return;
    }
    for tier in TIERS {
        let (engine, functions) = made(tier, 20);
        let mut signal = Signal::new();
        let Some(child) = split() else {
            end(|| {
                signal.wait();
                assert!(functions.iter().all(|function| call(&engine, *function, 1) == 1001));
                replace(&engine, tier, &functions, 4000);
            })
        };
        replace(&engine, tier, &functions, 3000);
        signal.give();
        child.join();
    }
}

#[test]
fn a_child_made_in_compiled_code_goes_on_in_it() {
    if azulejo::can_compile().is_err() {
        return;
    }
    for tier in TIERS {
        let engine = Engine::<Op>::builder().only(tier).code_bytes(1 << 16).build();
        let inner = [
            Op::Split { dst: 0.into(), a: 0.into() },
            Op::Const { dst: 1.into(), value: Imm(20) },
            Op::Add { dst: 0.into(), a: 0.into(), b: 1.into() },
            Op::Return { a: 0.into() },
        ];
        let inner = engine.define("inner", &inner[..], 2).expect("it is right");
        let outer = [
            Op::Call { dst: 0.into(), f: Imm(inner.number()), a: 0.into() },
            Op::Add { dst: 0.into(), a: 0.into(), b: 0.into() },
            Op::Return { a: 0.into() },
        ];
        let outer = engine.define("outer", &outer[..], 1).expect("it is right");
        let functions = [inner, outer];
        functions.iter().for_each(|function| engine.compile_in(*function, tier).expect("there is room"));
        // A first run, whose child ends at once, makes all the code that the call needs.
        let mut vm = Vm::default();
        let result: Result<i64, Error> = engine.call(outer, &mut vm, (1i64,));
        let check = |result: Result<i64, Error>| assert_eq!(result, Ok(42));
        match vm.child.take() {
            None => end(|| check(result)),
            Some(child) => child.join(),
        }
        let Signal(reader, mut writer) = Signal::new();
        let mut vm = Vm { signal: Some(reader), ..Vm::default() };
        let result: Result<i64, Error> = engine.call(outer, &mut vm, (1i64,));
        match vm.child.take() {
            None => end(|| {
                check(result);
                replace(&engine, tier, &functions, 4000);
            }),
            Some(child) => {
                check(result);
                // The parent now has new code at the addresses where the child still runs the old code.
                replace(&engine, tier, &functions, 3000);
                writer.write_all(&[1]).expect("the child reads it");
                child.join();
            }
        }
    }
}

/// Calls until the optimizer's code is installed.
fn tier_up(engine: &Engine<Op>, function: FunctionId) {
    for _ in 0..1_000_000 {
        if engine.tier(function) == Tier::Optimizer {
            return;
        }
        assert_eq!(call(engine, function, 1), 1001);
        std::thread::yield_now();
    }
    panic!("it does not tier up");
}

#[test]
fn a_child_has_no_thread_that_compiles_and_starts_one_of_its_own() {
    if azulejo::can_compile().is_err() {
        return;
    }
    // In each round the background thread is in another state when the process forks.
    for round in 0..20 {
        let engine = Engine::<Op>::builder().background(true).thresholds(5, 50).build();
        let define = |_| engine.define("f", plus(1000, 200), 2).expect("it is right");
        let functions: Vec<FunctionId> = (0..8).map(define).collect();
        // Some functions are compiled, one is being compiled, and some wait.
        tier_up(&engine, functions[0]);
        for function in &functions {
            (0..60 + round).for_each(|_| assert_eq!(call(&engine, *function, 1), 1001));
        }
        let children = [
            child(|| functions.iter().for_each(|function| tier_up(&engine, *function))),
            // (This process has its own copy of the engine.)
            child(|| {
                // SAFETY: the child ends before the engine would be dropped a second time.
                drop(unsafe { std::ptr::read(&engine) });
            }),
        ];
        functions.iter().for_each(|function| tier_up(&engine, *function));
        children.into_iter().for_each(children::Child::join);
    }
}

/// Calls a function once in bounds and once out of bounds.
fn check_faults(engine: &Engine<Op>, function: FunctionId, memory: &Reserved) {
    let mut vm =
        Vm { start: memory.start().expose_provenance(), size: memory.accessible() as u64, ..Vm::default() };
    assert_eq!(engine.call(function, &mut vm, (8u64,)), Ok(0i64));
    let past: Result<i64, Error> = engine.call(function, &mut vm, (memory.accessible() as u64 + 8,));
    assert_eq!(past, Err(Error::Trap { trap: Trap::User(1), at: 0 }));
}

/// An engine with guards, and a function that may fault.
fn guarded() -> (Engine<Op>, FunctionId) {
    // SAFETY: callers of the function pass addresses inside the reserved memory.
    let engine: Engine<Op> = unsafe { Engine::<Op>::builder().guards(true) }.build();
    let code = vec![Op::Load { dst: 0.into(), at: 0.into() }, Op::Return { a: 0.into() }];
    let function = engine.define("load", code, 1).expect("it is right");
    (engine, function)
}

#[test]
fn no_lock_of_another_thread_stays_taken_in_a_child() {
    if azulejo::can_compile().is_err() || !azulejo::can_guard() {
        return;
    }
    let page = azulejo::memory::page_size();
    let memory = Reserved::new(page, 1 << 30).expect("there is room");
    /// Stops the threads when it is dropped, also by a panic.
    struct Over<'a>(&'a AtomicBool);
    impl Drop for Over<'_> {
        fn drop(&mut self) {
            self.0.store(true, Ordering::Relaxed);
        }
    }
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let _over = Over(&is_over);
        // These threads compile and discard code all the time, and map and unmap regions for it.
        for _ in 0..2 {
            scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    let (engine, function) = guarded();
                    for tier in TIERS.into_iter().cycle().take(200) {
                        engine.compile_in(function, tier).expect("there is room");
                        engine.discard(function).expect("it is there");
                    }
                }
            });
        }
        let (engine, function) = guarded();
        TIERS.into_iter().for_each(|tier| engine.compile_in(function, tier).expect("there is room"));
        for _ in 0..100 {
            child(|| {
                check_faults(&engine, function, &memory);
                engine.discard(function).expect("it is there");
                let (engine, function) = guarded();
                engine.compile(function).expect("there is room");
                check_faults(&engine, function, &memory);
            })
            .join();
        }
        check_faults(&engine, function, &memory);
    });
}

/// If the system has no memory for a copy of the code, both processes keep the existing code, and neither overwrites it.
#[test]
#[cfg(target_os = "linux")]
fn without_room_for_a_copy_both_have_the_code_there_is() {
    if azulejo::can_compile().is_err() {
        return;
    }
    let work = || {
        for tier in TIERS {
            let (engine, functions) = made(tier, 20);
            let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
            // SAFETY: the system reads and writes the limit. A lower limit does not affect existing mappings.
            unsafe {
                libc::getrlimit(libc::RLIMIT_AS, &mut limit);
                libc::setrlimit(libc::RLIMIT_AS, &libc::rlimit { rlim_cur: 1 << 16, ..limit });
            }
            let mut signal = Signal::new();
            let is_right = |engine: &Engine<Op>| {
                assert!(functions.iter().all(|function| call(engine, *function, 1) == 1001));
            };
            let Some(child) = split() else {
                end(|| {
                    signal.wait();
                    is_right(&engine);
                    let new = engine.define("new", plus(3000, 0), 2).expect("it is right");
                    assert_eq!(engine.compile_in(new, tier), Err(Error::OutOfCodeMemory));
                    assert_eq!(call(&engine, new, 1), 3001);
                    functions.iter().for_each(|function| engine.discard(*function).expect("it is there"));
                    is_right(&engine);
                })
            };
            // SAFETY: as above.
            unsafe { libc::setrlimit(libc::RLIMIT_AS, &limit) };
            replace(&engine, tier, &functions, 3000);
            signal.give();
            child.join();
            is_right(&engine);
        }
    };
    child(work).join();
}

/// A process may fork while another thread interrupts the program; that thread does not exist in the child. The child can
/// be interrupted, too.
#[test]
fn a_child_made_while_others_interrupt_waits_for_nobody() {
    let engine: Engine<Op> = Engine::<Op>::builder().build();
    let function = engine.define("plus", plus(1000, 0), 2).expect("it is right");
    let interrupter = engine.interrupter();
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    interrupter.interrupt();
                    interrupter.withdraw();
                }
            });
        }
        let work = || {
            interrupter.withdraw();
            assert_eq!(call(&engine, function, 1), 1001);
            interrupter.interrupt();
            let stopped = engine.call::<_, i64>(function, &mut Vm::default(), (1i64,));
            assert_eq!(stopped, Err(Error::Interrupted { at: 0 }));
            assert_eq!(call(&engine, function, 1), 1001);
        };
        let all = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            (0..100).for_each(|_| child(work).join());
        }));
        is_over.store(true, Ordering::Relaxed);
        all.expect("each child ends");
    });
    interrupter.withdraw();
    assert_eq!(call(&engine, function, 1), 1001);
}
