//! Call caches in every tier: sites that know a closure, or the code of all closures of a text, and call what they know. A callee may
//! climb to a better tier, lose its code, or call closures itself; calls by what a site knows go where calls of the closure go.

mod ways;

use azulejo::prelude::*;
use azulejo::{Callable, Cases, Error};
use std::cell::Cell;
use std::rc::Rc;
use ways::ways;

/// A closure: what it calls, and a variable of its own.
#[repr(C)]
#[derive(Fields, Debug)]
struct Closure {
    function: *const Callable,
    variable: Cell<i64>,
}

/// What a site knows: a closure, or the function of some, and what to call then.
#[repr(C)]
#[derive(Fields, Clone, Copy, Debug)]
struct Known {
    identity: u64,
    function: u64,
}

#[derive(Default)]
struct Vm {
    engine: Option<Rc<Engine<Op>>>,
    /// How often a call went the slow way.
    slow: u32,
    /// The function whose code is discarded at some calls.
    callee: Option<FunctionId>,
}

#[derive(Bytecode, Clone, Copy, Debug)]
#[bytecode(context = Vm)]
enum Op {
    /// The closure at this place of a list, counted round and round.
    Item {
        dst: Out<*const Closure>,
        list: In<*const *const Closure>,
        at: In<i64>,
        count: In<i64>,
    },
    /// Knows closures.
    CallOne {
        dst: Out<i64>,
        closure: In<*const Closure>,
        a: In<i64>,
        cache: Site<Known, 2>,
    },
    /// Knows functions.
    CallAny {
        dst: Out<i64>,
        closure: In<*const Closure>,
        a: In<i64>,
        cache: Site<Known, 3>,
    },
    Variable {
        dst: Out<i64>,
        closure: In<*const Closure>,
    },
    SetVariable {
        closure: In<*const Closure>,
        a: In<i64>,
    },
    Add {
        dst: Out<i64>,
        a: In<i64>,
        b: In<i64>,
    },
    Mul {
        dst: Out<i64>,
        a: In<i64>,
        b: In<i64>,
    },
    /// Discards the callee's code now and then.
    Discard {
        n: In<i64>,
    },
    CountDown {
        n: InOut<i64>,
        to: Label,
    },
    JumpIfNone {
        a: In<i64>,
        to: Label,
    },
    Return {
        a: In<i64>,
    },
}

template! {
    macro ^function () (load $closure (&field Closure, function))
    macro ^call (,is_known ,learn) (dov
        (cachedv $cache Known ,is_known
            (dov (set $dst (invoke (case function) (arglist $closure $a) i64)) (branch (label done)))
            (branch (label slowly)))
        (mark slowly)
        (slowv (dov
            (callv leaf ,learn (arglist (carg (tc) ptr) (carg $closure ptr) (carg $cache ptr)))
            (set $dst (invoke (^function) (arglist $closure $a) i64))))
        (mark done))

    Op::Item => unsafe (load (idx $list (rem $at $count) 8) ptr)
    Op::CallOne! => unsafe (^call (eq $closure (case identity)) learn_closure)
    Op::CallAny! => unsafe (^call (eq (^function) (case identity)) learn_function)
    Op::Variable => unsafe (load (addr $closure (&offset_of Closure, variable)) i64)
    Op::SetVariable => unsafe (store (addr $closure (&offset_of Closure, variable)) $a i64)
    Op::Add => (add $a $b)
    Op::Mul => (mul $a $b)
    Op::Discard => (when (zr (and $n 15)) (callv discard (arglist (carg (tc) ptr))))
    Op::CountDown! => (dov (set $n (sub $n 1)) (when (nz $n) (branch $to)))
    Op::JumpIfNone => (when (zr $a) (branch $to))
    Op::Return => (return $a)
}

fn learn(vm: &mut Vm, identity: u64, closure: &Closure, cases: Cases<'_, Known>) {
    vm.slow += 1;
    if cases.iter().all(|case| case.identity != identity) {
        let has_room = !cases.is_full();
        let function = closure.function.expose_provenance() as u64;
        assert_eq!(cases.add(Known { identity, function }), has_room);
    }
}

fn learn_closure(vm: &mut Vm, closure: &Closure, cases: Cases<'_, Known>) {
    learn(vm, (&raw const *closure).expose_provenance() as u64, closure, cases);
}

fn learn_function(vm: &mut Vm, closure: &Closure, cases: Cases<'_, Known>) {
    learn(vm, closure.function.expose_provenance() as u64, closure, cases);
}

fn discard(vm: &mut Vm) {
    let (Some(engine), Some(callee)) = (&vm.engine, vm.callee) else { return };
    engine.discard(callee).expect("it is there");
}

/// A loop that calls the closures of a list one after the other, each with the sum of all before: by the closure, and by the function. Registers
/// 0 to 3 are the list, its length, how many calls there are, and the sum.
fn run() -> Vec<Op> {
    vec![
        Op::Item { dst: 4.into(), list: 0.into(), at: 2.into(), count: 1.into() },
        Op::CallOne { dst: 3.into(), closure: 4.into(), a: 3.into(), cache: Site::new() },
        Op::CallAny { dst: 5.into(), closure: 4.into(), a: 2.into(), cache: Site::new() },
        Op::Add { dst: 3.into(), a: 3.into(), b: 5.into() },
        Op::Discard { n: 2.into() },
        Op::CountDown { n: 2.into(), to: Label(0) },
        Op::Return { a: 3.into() },
    ]
}

/// Functions of closures: 0 is the closure, 1 the argument. One adds its variable, one multiplies by it and sets it, and one calls itself by a site, once.
fn functions() -> [Vec<Op>; 3] {
    let (variable, add) = (
        Op::Variable { dst: 2.into(), closure: 0.into() },
        Op::Add { dst: 1.into(), a: 1.into(), b: 2.into() },
    );
    let adds = vec![variable, add, Op::Return { a: 1.into() }];
    let changes = vec![
        variable,
        Op::Mul { dst: 1.into(), a: 1.into(), b: 2.into() },
        Op::SetVariable { closure: 0.into(), a: 1.into() },
        Op::Return { a: 1.into() },
    ];
    let recurs = vec![
        variable,
        Op::JumpIfNone { a: 2.into(), to: Label(5) },
        add,
        // It is zero in the inner call, which returns at once, and what it was behind that.
        Op::SetVariable { closure: 0.into(), a: 3.into() },
        Op::CallOne { dst: 1.into(), closure: 0.into(), a: 1.into(), cache: Site::new() },
        Op::SetVariable { closure: 0.into(), a: 2.into() },
        Op::Return { a: 1.into() },
    ];
    [adds, changes, recurs]
}

/// The functions of the closures in a list, and which of them loses its code.
const WORLDS: [(&[usize], Option<usize>); 6] = [
    (&[0], None),
    (&[0, 0], Some(0)),
    (&[0, 1], None),
    (&[2, 0], Some(2)),
    (&[1, 2, 0, 0], Some(1)),
    (&[0, 1, 0, 2, 1, 2, 0], Some(2)),
];

/// Runs the loop several times; gives all results, with the closures' variables at the end, and how many calls of the last run were slow.
fn results(engine: Rc<Engine<Op>>, world: &[usize], discarded: Option<usize>) -> (Vec<i64>, u32) {
    let defined = functions().map(|code| engine.define("callee", code, 4).expect("the code is right"));
    let closure = |(at, which): (usize, &usize)| {
        let function = engine.callable(defined[*which]).expect("it exists");
        Closure { function, variable: Cell::new(3 + at as i64) }
    };
    let closures: Vec<Closure> = world.iter().enumerate().map(closure).collect();
    let list: Vec<*const Closure> = closures.iter().map(|closure| &raw const *closure).collect();
    let run = engine.define("run", run(), 6).expect("the code is right");
    let mut vm = Vm { callee: discarded.map(|which| defined[which]), ..Vm::default() };
    vm.engine = Some(engine.clone());
    let mut all = Vec::new();
    for calls in [1i64, 7, 40, 100, 100, 100] {
        vm.slow = 0;
        let result: Result<i64, Error> =
            engine.call(run, &mut vm, (list.as_ptr(), list.len() as i64, calls, 1i64));
        all.push(result.expect("nothing fails"));
    }
    all.extend(closures.iter().map(|closure| closure.variable.get()));
    (all, vm.slow)
}

#[test]
fn calls_by_what_a_site_knows_are_calls_of_the_closure() {
    for (world, discarded) in WORLDS {
        let mut expected = None;
        for (name, build) in ways() {
            let engine = Rc::new(build().build());
            let (found, slow) = results(engine.clone(), world, discarded);
            let expected = expected.get_or_insert_with(|| found.clone());
            assert_eq!(found, *expected, "{name}: {world:?}, without the code of {discarded:?}");
            // Three functions fit into a site, and two closures, which it knows before the last run, whatever has been discarded.
            assert_eq!(slow, unknown(world), "{name}: {world:?}, without the code of {discarded:?}");
            let inlined = engine.stats().inlined;
            match name {
                "climbing" => assert!(inlined > 0, "{world:?}: what is known is a callee like any other"),
                "climbing, not inlined" => assert_eq!(inlined, 0),
                _ => {}
            }
        }
    }
}

/// How many of a hundred calls are of other closures than the two that were called first. Those of the first run, of one call, and the second,
/// of seven, are at these places.
fn unknown(world: &[usize]) -> u32 {
    let place = |left: usize| left % world.len();
    let called = [1, 7, 6, 5, 4, 3, 2].map(place);
    let second = called.iter().find(|at| **at != called[0]);
    (1..=100).filter(|left| place(*left) != called[0] && Some(&place(*left)) != second).count() as u32
}
