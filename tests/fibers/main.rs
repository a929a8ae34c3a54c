//! Fibers: calls that are suspended and resumed, in every tier and while tiers change.
//!
//! Miri cannot run this: it knows no switch between stacks.
#![cfg(all(unix, target_arch = "x86_64"))]

use azulejo::prelude::*;
use azulejo::{Builder, Fiber, Resumed, suspend};
use std::collections::VecDeque;
use std::panic::resume_unwind;
use std::rc::Rc;

#[cfg(target_os = "linux")]
#[path = "../children/mod.rs"]
mod children;
mod failures;
mod memory;
mod switches;

#[derive(Default)]
struct Vm {
    engine: Option<Rc<Engine<Op>>>,
    fibers: Vec<Fiber<'static, Op>>,
    log: Vec<i64>,
    queue: VecDeque<i64>,
    /// The function that `across` calls, and the one whose code `discard` discards.
    callee: Option<FunctionId>,
    /// How many functions `discard` compiles, to take the place of what is freed.
    fillers: u32,
}

impl Vm {
    fn engine(&self) -> Rc<Engine<Op>> {
        self.engine.clone().expect("the test has set it")
    }
}

#[derive(Bytecode, Clone, Copy, Debug)]
#[bytecode(context = Vm)]
enum Op {
    Const {
        dst: Out<i64>,
        k: Imm<i64>,
    },
    Add {
        dst: Out<i64>,
        a: In<i64>,
        b: In<i64>,
    },
    AddConst {
        dst: Out<i64>,
        a: In<i64>,
        k: Imm<i64>,
    },
    Divide {
        dst: Out<i64>,
        a: In<i64>,
        b: In<i64>,
    },
    JumpLess {
        a: In<i64>,
        b: Imm<i64>,
        to: Label,
    },
    Jump(Label),
    Yield {
        dst: Out<i64>,
        a: In<i64>,
    },
    /// Leaves compiled code each time.
    Leave,
    Call {
        dst: Out<i64>,
        function: Imm<u32>,
        args: Regs,
    },
    TailCall {
        function: Imm<u32>,
        args: Regs,
    },
    Log {
        a: In<i64>,
    },
    Put {
        a: In<i64>,
    },
    Take {
        dst: Out<i64>,
    },
    Across {
        dst: Out<i64>,
        a: In<i64>,
    },
    Resume {
        dst: Out<i64>,
        fiber: In<i64>,
        a: In<i64>,
    },
    Discard,
    Panic {
        a: In<i64>,
    },
    Return {
        a: In<i64>,
    },
}

template! {
    Op::Const    => $k
    Op::Add      => (add $a $b)
    Op::AddConst => (add $a $k)
    Op::Divide   => (div $a $b)
    Op::JumpLess => (when (lt $a $b) (branch $to))
    Op::Jump     => (branch $0)
    Op::Yield    => (call throws suspend (arglist (carg $a i64)) u64)
    Op::Leave    => (exit)
    Op::Call     => (invoke $function (arglist $args) i64)
    Op::TailCall => (tail $function (arglist $args))
    Op::Log      => (callv log (arglist (carg (tc) ptr) (carg $a i64)))
    Op::Put      => (callv put (arglist (carg (tc) ptr) (carg $a i64)))
    Op::Take     => (call take (arglist (carg (tc) ptr)) i64)
    Op::Across   => (call throws across (arglist (carg (tc) ptr) (carg $a i64)) i64)
    Op::Resume   => (call throws resume (arglist (carg (tc) ptr) (carg $fiber i64) (carg $a i64)) i64)
    Op::Discard  => (callv discard (arglist (carg (tc) ptr)))
    Op::Panic    => (callv panic_if_zero (arglist (carg $a i64)))
    Op::Return   => (return $a)
}

fn log(vm: &mut Vm, a: i64) {
    vm.log.push(a);
}

fn put(vm: &mut Vm, a: i64) {
    vm.queue.push_back(a);
}

fn take(vm: &mut Vm) -> i64 {
    vm.queue.pop_front().unwrap_or(-1)
}

fn across(vm: &mut Vm, a: i64) -> Result<i64, Trap> {
    let callee = vm.callee.expect("the test has set it");
    let result = match a % 2 == 0 {
        true => vm.engine().call(callee, vm, (a,)),
        false => vm.engine().call_back(callee, vm, (a,)),
    };
    Ok(result?)
}

/// Resumes one of the context's fibers. Its end is -1.
fn resume(vm: &mut Vm, fiber: i64, a: i64) -> Result<i64, Trap> {
    let mut taken = vm.fibers.remove(fiber as usize);
    let resumed = taken.resume(vm, a as u64);
    vm.fibers.insert(fiber as usize, taken);
    match resumed {
        Ok(Resumed::Suspended(value)) => Ok(value as i64),
        Ok(Resumed::Returned(_)) => Ok(-1),
        Err(Error::Trap { trap, .. }) => Err(trap),
        Err(_) => Err(Trap::User(2)),
    }
}

fn discard(vm: &mut Vm) {
    let (engine, callee) = (vm.engine(), vm.callee.expect("the test has set it"));
    engine.discard(callee).expect("it is the engine's");
    for _ in 0..vm.fillers {
        let filler = engine.define("filler", counter(7), 3).expect("it is right");
        let _ = engine.compile(filler);
    }
}

fn panic_if_zero(a: i64) {
    if a == 0 {
        resume_unwind(Box::new("a panic"));
    }
}

/// Ways to run: each tier alone, and tiers that change.
fn ways() -> Vec<(&'static str, Builder)> {
    let builder = Engine::<Op>::builder;
    vec![
        ("interpreter", builder().only(Tier::Interpreter)),
        ("baseline", builder().only(Tier::Baseline)),
        ("optimizer", builder().only(Tier::Optimizer)),
        ("soon", builder().thresholds(3, 7)),
        ("later", builder().thresholds(40, 200)),
        ("default", builder()),
        ("background", builder().thresholds(5, 20).background(true)),
        ("stoppable", builder().thresholds(3, 7).fuel(u64::MAX >> 1).backtraces(true)),
    ]
}

fn in_all_ways(test: impl Fn(&str, Rc<Engine<Op>>)) {
    ways().into_iter().for_each(|(name, builder)| test(name, Rc::new(builder.build())));
}

fn regs(first: u32, count: u32) -> Regs {
    Regs { first, count }
}

/// Yields each number from its argument up to the limit, adds what comes back to a sum, and returns the sum.
fn counter(limit: i64) -> Vec<Op> {
    vec![
        Op::Yield { dst: 2.into(), a: 0.into() },
        Op::Add { dst: 1.into(), a: 1.into(), b: 2.into() },
        Op::AddConst { dst: 0.into(), a: 0.into(), k: Imm(1) },
        Op::JumpLess { a: 0.into(), b: Imm(limit), to: Label(0) },
        Op::Return { a: 1.into() },
    ]
}

fn suspended(result: Result<Resumed, Error>) -> i64 {
    match result {
        Ok(Resumed::Suspended(value)) => value as i64,
        other => panic!("not suspended, but {other:?}"),
    }
}

/// Calls itself as often as its argument says, and yields at the bottom and on the way back. Adds what it is told.
fn deep() -> Vec<Op> {
    vec![
        Op::JumpLess { a: 0.into(), b: Imm(1), to: Label(4) },
        Op::AddConst { dst: 1.into(), a: 0.into(), k: Imm(-1) },
        Op::Call { dst: 1.into(), function: Imm(0), args: regs(1, 1) },
        Op::Jump(Label(5)),
        Op::Leave,
        Op::Yield { dst: 2.into(), a: 0.into() },
        Op::Add { dst: 1.into(), a: 1.into(), b: 2.into() },
        Op::Return { a: 1.into() },
    ]
}

/// Calls a function, and returns what that does.
fn endless_from(function: u32) -> Vec<Op> {
    vec![Op::Call { dst: 0.into(), function: Imm(function), args: regs(0, 1) }, Op::Return { a: 0.into() }]
}
