//! Backtraces of failures: the chain of calls is the same in every tier, and in every mixture of tiers.

#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

use azulejo::Error;
use azulejo::memory::Reserved;
use azulejo::prelude::*;
use azulejo::{Backtrace, Builder};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

#[derive(Bytecode, Clone, Copy, Debug)]
#[bytecode(context = Vm)]
enum Op {
    Call {
        dst: Out<i64>,
        f: Imm<u32>,
        a: In<i64>,
    },
    CallRun {
        dst: Out<i64>,
        f: Imm<u32>,
        args: Regs,
    },
    Tail {
        f: Imm<u32>,
        a: In<i64>,
    },
    Divide {
        dst: Out<i64>,
        a: In<i64>,
        b: In<i64>,
    },
    Refuse {
        a: In<i64>,
    },
    Load {
        dst: Out<i64>,
        at: In<u32>,
    },
    /// Leaves compiled code.
    Leave {
        a: In<i64>,
    },
    /// Calls a Rust function that calls the engine again, and ignores its failure.
    Again {
        dst: Out<i64>,
        a: In<i64>,
    },
    Decrement {
        a: InOut<i64>,
    },
    JumpPositive {
        a: In<i64>,
        to: Label,
    },
    Start,
    Return {
        a: In<i64>,
    },
}

struct Vm {
    start: *mut u8,
    size: u64,
    engine: Rc<Engine<Op>>,
    again: Option<FunctionId>,
    has_started: Arc<AtomicBool>,
}

fn again(vm: &mut Vm, a: i64) -> i64 {
    let (engine, function) = (Rc::clone(&vm.engine), vm.again.expect("it was said"));
    let result = match a % 2 == 0 {
        true => engine.call(function, vm, (a,)),
        false => engine.call_back(function, vm, (a,)),
    };
    result.unwrap_or(-1)
}

fn start(vm: &mut Vm) {
    vm.has_started.store(true, Relaxed);
}

template! {
    Op::Call    => (invoke $f (arglist $a) i64)
    Op::CallRun => (invoke $f (arglist $args) i64)
    Op::Tail    => (tail $f (arglist $a))
    Op::Divide  => (div $a $b)
    Op::Refuse  => (when (eq $a 0) (trap 7))
    Op::Load    => unsafe (within (ule (add (ucast $at u64) 8) (load (addr (tc) (&offset_of Vm, size)) u64)) 3
        (load (idx (load pure (addr (tc) (&offset_of Vm, start)) ptr) (ucast $at u64) 1) i64))
    Op::Leave     => (when (nz (and $a 1)) (exit))
    Op::Again     => (call again (arglist (carg (tc) ptr) (carg $a i64)) i64)
    Op::Decrement => (sub $a 1)
    Op::JumpPositive => (when (gt $a 0) (branch $to))
    Op::Start     => (callv start (arglist (carg (tc) ptr)))
    Op::Return    => (return $a)
}

fn r<T: From<u32>>(register: u32) -> T {
    register.into()
}

/// The tiers in which an engine runs functions.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Way {
    Only(Tier),
    TieringUp,
    /// The seed and the function's number determine the tier of each function.
    Mixed(usize),
}

const TIERS: [Tier; 3] = [Tier::Interpreter, Tier::Baseline, Tier::Optimizer];

struct Machine {
    vm: Vm,
    functions: Vec<FunctionId>,
    _memory: Reserved,
}

impl Machine {
    fn new(way: Way, code: &[Vec<Op>], native_stack: usize) -> Machine {
        let builder: Builder = Engine::<Op>::builder().backtraces(true).native_stack(native_stack);
        // SAFETY: the size that accesses are compared with is the memory's size.
        let builder = unsafe { builder.guards(true) };
        let builder = match way {
            Way::Only(tier) => builder.only(tier),
            Way::TieringUp => builder.thresholds(2, 4),
            Way::Mixed(_) => builder.thresholds(u32::MAX, u32::MAX),
        };
        let engine: Rc<Engine<Op>> = Rc::new(builder.build());
        let define = |(number, code): (usize, &Vec<Op>)| {
            let function = engine.define(format!("f{number}"), code.clone(), 9).expect("it is right");
            if let Way::Mixed(seed) = way {
                let tier = TIERS[seed / 3usize.pow(number as u32 % 8) % 3];
                if tier != Tier::Interpreter {
                    engine.compile_in(function, tier).expect("it can be compiled");
                }
            }
            function
        };
        let functions = code.iter().enumerate().map(define).collect();
        let memory = Reserved::new(1 << 16, (1 << 32) + (1 << 16)).expect("there is room");
        let (start, size) = (memory.start(), memory.accessible() as u64);
        Machine {
            vm: Vm { start, size, engine, again: None, has_started: Arc::default() },
            functions,
            _memory: memory,
        }
    }

    /// Calls the first function. Returns the result, the backtrace with the functions' numbers, and how many frames were
    /// left out.
    fn run(&mut self, a: i64) -> (Result<i64, Error>, Vec<(u32, u32)>, usize) {
        let engine = Rc::clone(&self.vm.engine);
        let result = engine.call(self.functions[0], &mut self.vm, (a,));
        let Backtrace { frames, left_out } = engine.backtrace();
        (result, frames.iter().map(|frame| (frame.function.number(), frame.at)).collect(), left_out)
    }
}

fn ways() -> impl Iterator<Item = Way> {
    let only = TIERS.map(Way::Only).into_iter();
    only.chain([Way::TieringUp]).chain((0..27).map(Way::Mixed))
}

/// Calls a function, then returns.
fn call(f: u32) -> Vec<Op> {
    vec![Op::Leave { a: r(0) }, Op::Call { dst: r(0), f: Imm(f), a: r(0) }, Op::Return { a: r(0) }]
}

fn fails(code: &[Vec<Op>], a: i64, expected: &[(u32, u32)]) {
    for way in ways() {
        let mut machine = Machine::new(way, code, 1 << 20);
        for round in 0..8 {
            let (result, frames, left_out) = machine.run(a);
            assert!(result.is_err(), "{way:?}: {result:?}");
            assert_eq!((&frames[..], left_out), (expected, 0), "{way:?}, round {round}");
        }
    }
}

#[test]
fn a_trap_tells_who_called() {
    let refuse = vec![Op::Refuse { a: r(1) }, Op::Return { a: r(0) }];
    for a in 0..2 {
        fails(&[call(1), call(2), refuse.clone()], a, &[(2, 0), (1, 1), (0, 1)]);
    }
    let divide =
        vec![Op::Decrement { a: r(1) }, Op::Divide { dst: r(2), a: r(0), b: r(3) }, Op::Return { a: r(0) }];
    fails(&[call(1), divide], 5, &[(1, 1), (0, 1)]);
}

#[test]
fn a_fault_tells_who_called() {
    let load = vec![Op::Load { dst: r(1), at: r(0) }, Op::Return { a: r(1) }];
    fails(&[call(1), call(2), load], 0x10_0001, &[(2, 0), (1, 1), (0, 1)]);
    // A function that ends in a tail call and does not return.
    let jump = Op::JumpPositive { a: r(0), to: Label(0) };
    let load = vec![Op::Load { dst: r(1), at: r(0) }, jump, Op::Tail { f: Imm(1), a: r(0) }];
    fails(&[call(1), load], 0x10_0000, &[(1, 0), (0, 1)]);
}

#[test]
fn a_call_of_nobody_and_one_with_many_arguments() {
    fails(&[call(1), call(99)], 4, &[(1, 1), (0, 1)]);
    let run = Op::CallRun { dst: r(0), f: Imm(1), args: Regs { first: 0, count: 8 } };
    let refuse = vec![Op::Refuse { a: r(8) }, Op::Return { a: r(0) }];
    fails(&[vec![run, Op::Return { a: r(0) }], refuse], 4, &[(1, 0), (0, 0)]);
}

#[test]
fn who_ended_in_a_tail_call_is_gone() {
    let tail = vec![Op::Tail { f: Imm(2), a: r(0) }];
    let refuse = vec![Op::Refuse { a: r(1) }, Op::Return { a: r(0) }];
    fails(&[call(1), tail, refuse], 4, &[(2, 0), (0, 1)]);
}

#[test]
fn a_call_from_a_rust_function_is_one_of_its_own() {
    let code = [
        vec![
            Op::Again { dst: r(1), a: r(0) },
            Op::Call { dst: r(0), f: Imm(2), a: r(0) },
            Op::Return { a: r(0) },
        ],
        call(2),
        vec![Op::Refuse { a: r(1) }, Op::Return { a: r(0) }],
    ];
    for way in ways() {
        let mut machine = Machine::new(way, &code, 1 << 20);
        machine.vm.again = Some(machine.functions[1]);
        for _ in 0..8 {
            assert_eq!(machine.run(4).1, [(2, 0), (0, 1)], "{way:?}");
        }
    }
}

#[test]
fn of_very_many_calls_the_innermost_are_kept() {
    for way in ways() {
        let mut machine = Machine::new(way, &[call(0)], 1 << 20);
        for _ in 0..8 {
            let (result, frames, left_out) = machine.run(4);
            assert_eq!(result, Err(Error::StackOverflow), "{way:?}");
            assert_eq!(frames, vec![(0, 1); 64], "{way:?}");
            assert!(left_out > 100, "{way:?}: {left_out}");
        }
    }
}

#[test]
fn an_interrupted_program_tells_where_it_was() {
    for way in ways() {
        let around = vec![Op::JumpPositive { a: r(0), to: Label(1) }, Op::Return { a: r(0) }];
        let around = [vec![Op::Start], around].concat();
        let mut machine = Machine::new(way, &[call(1), around], 1 << 20);
        let interrupter = machine.vm.engine.interrupter();
        for _ in 0..3 {
            let (interrupter, has_started) = (interrupter.clone(), Arc::clone(&machine.vm.has_started));
            has_started.store(false, Relaxed);
            let other = std::thread::spawn(move || {
                while !has_started.load(Relaxed) {
                    std::thread::yield_now();
                }
                interrupter.interrupt();
            });
            let (result, frames, _) = machine.run(4);
            assert_eq!(result, Err(Error::Interrupted { at: 1 }), "{way:?}");
            assert_eq!(frames, [(1, 1), (0, 1)], "{way:?}");
            other.join().expect("it ends well");
        }
    }
}

#[test]
fn what_succeeds_leaves_the_last_failure() {
    for way in ways() {
        let refuse = vec![Op::Refuse { a: r(0) }, Op::Return { a: r(0) }];
        let mut machine = Machine::new(way, &[call(1), refuse], 1 << 20);
        assert_eq!(machine.run(3), (Ok(3), vec![], 0), "{way:?}");
        assert_eq!(machine.run(0).1, [(1, 0), (0, 1)], "{way:?}");
        assert_eq!(machine.run(3), (Ok(3), vec![(1, 0), (0, 1)], 0), "{way:?}");
    }
}

/// Functions that call later ones, some of which fail: the backtrace in every tier is the interpreter's.
#[test]
fn random_programs_tell_the_same() {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut below = move |n: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) % n
    };
    let mut failures = 0;
    for _ in 0..30 {
        let count = 2 + below(6) as u32;
        let code: Vec<Vec<Op>> = (0..count)
            .map(|number| {
                let mut code = Vec::new();
                for _ in 0..1 + below(6) {
                    let [a, b, c] = std::array::from_fn(|_| below(9) as u32);
                    let f = number + 1 + below(2) as u32;
                    code.push(match below(8) {
                        0 => Op::Divide { dst: r(a), a: r(b), b: r(c) },
                        1 => Op::Refuse { a: r(a) },
                        2 => Op::Load { dst: r(a), at: r(b) },
                        3 => Op::Leave { a: r(a) },
                        4 => Op::Decrement { a: r(a) },
                        5 => Op::CallRun {
                            dst: r(a),
                            f: Imm(f),
                            args: Regs { first: 0, count: below(9) as u32 },
                        },
                        _ => Op::Call { dst: r(a), f: Imm(f), a: r(b) },
                    });
                }
                code.push(match below(4) {
                    0 => Op::Tail { f: Imm(number + 1), a: r(0) },
                    _ => Op::Return { a: r(0) },
                });
                code
            })
            .collect();
        let a = below(100) as i64;
        let expected = Machine::new(Way::Only(Tier::Interpreter), &code, 1 << 20).run(a);
        failures += u32::from(expected.0.is_err());
        let mixed: [Way; 3] = std::array::from_fn(|_| Way::Mixed(below(27) as usize));
        for way in ways().take(4).chain(mixed) {
            let mut machine = Machine::new(way, &code, 1 << 20);
            for _ in 0..6 {
                assert_eq!(machine.run(a), expected, "{way:?}: {code:#?}");
            }
        }
    }
    assert!(failures > 10, "only {failures} failed");
}
