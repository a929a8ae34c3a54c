//! Sites: a machine whose objects have shapes, and whose bytecodes remember where fields are. Every tier has the same results, the
//! optimizer knows what a site has learned, and what is not true any more is forgotten.

use azulejo::prelude::*;
use azulejo::{Statistics, Trap};
use core::cell::Cell;
use std::rc::Rc;

const TIERS: [Tier; 3] = [Tier::Interpreter, Tier::Baseline, Tier::Optimizer];

/// Where a field is in objects of a shape.
#[derive(Fields, Clone, Copy, Debug, PartialEq)]
#[repr(C)]
struct Field {
    shape: u32,
    offset: u32,
}

/// An object: the number of its shape, and its fields in an order that the shape says.
#[repr(C, align(8))]
struct Object {
    shape: u32,
    fields: [Cell<u64>; 4],
}

impl Object {
    fn new(shape: u32, fields: [u64; 4]) -> Object {
        let object = Object { shape, fields: fields.map(Cell::new) };
        fields.iter().enumerate().for_each(|(key, value)| object.field(key as u32, 0).set(*value));
        object
    }

    /// The field with this key, in a world that has moved fields so many times.
    fn field(&self, key: u32, moved: u32) -> &Cell<u64> {
        &self.fields[place(self.shape, key, moved) as usize]
    }
}

/// Where objects of a shape have a field.
fn place(shape: u32, key: u32, moved: u32) -> u32 {
    (key + shape + moved) % 4
}

#[derive(Default)]
struct Vm {
    /// How often a slow path has run.
    slow: u32,
    /// How often fields were moved.
    moved: u32,
    engine: Option<Rc<Engine<Op>>>,
    /// A function that is removed when fields are moved.
    removed: Option<FunctionId>,
    /// Whether nothing is remembered.
    is_deaf: bool,
}

#[derive(Bytecode, Clone, Copy, Debug)]
#[bytecode(context = Vm)]
enum Op {
    Item { dst: Out<u64>, list: In<u64>, at: In<u64> },
    Get { dst: Out<u64>, object: In<u64>, key: Imm<u32>, cache: Site<Field, 4> },
    Set { object: In<u64>, key: Imm<u32>, value: In<u64>, cache: Site<Field, 4> },
    Copy { from: In<u64>, to: In<u64>, key: Imm<u32>, read: Site<Field, 2>, write: Site<Field, 3> },
    Add { dst: Out<u64>, a: In<u64>, b: In<u64> },
    Forget { every: In<u64>, n: In<u64> },
    Move { list: In<u64>, n: In<u64>, when: Imm<u64> },
    Count { n: InOut<u64>, to: Label },
    Return { a: In<u64> },
}

template! {
    macro ^is_of (,object) (eq (load ,object u32) (case shape))
    macro ^field (,object) (add ,object (ucast (case offset) u64))

    Op::Item => unsafe (load (idx $list (sub $at 1) 8) u64)
    Op::Get => unsafe (cached $cache Field (^is_of $object)
        (load (^field $object) u64)
        (slow get (arglist (carg (tc) ptr) (carg $object ptr) (carg $key u32) (carg $cache ptr)) u64))
    Op::Set => unsafe (cachedv $cache Field (^is_of $object)
        (store (^field $object) $value u64)
        (slowv set (arglist (carg (tc) ptr) (carg $object ptr) (carg $key u32) (carg $value u64) (carg $cache ptr))))
    Op::Copy => unsafe (letv: (($value
            (cached $read Field (^is_of $from)
                (load (^field $from) u64)
                (slow get (arglist (carg (tc) ptr) (carg $from ptr) (carg $key u32) (carg $read ptr)) u64))))
        (cachedv $write Field (^is_of $to)
            (store (^field $to) $value u64)
            (callv throws set
                (arglist (carg (tc) ptr) (carg $to ptr) (carg $key u32) (carg $value u64) (carg $write ptr)))))
    Op::Add => (add $a $b)
    Op::Forget => (when (zr (and $n $every)) (callv forget (arglist (carg (tc) ptr))))
    Op::Move => unsafe (when (eq $n $when) (callv move_all (arglist (carg (tc) ptr) (carg $list ptr) (carg $n u64))))
    Op::Count! => (dov (set $n (sub $n 1)) (when (nz $n) (branch $to)))
    Op::Return => (return $a)
}

/// Finds a field, and remembers where it is.
fn find<'a>(vm: &Vm, object: &'a Object, key: u32, cases: Cases<'_, Field>) -> Result<&'a Cell<u64>, Trap> {
    if object.shape == 0 {
        return Err(Trap::User(5));
    }
    let (shape, place) = (object.shape, place(object.shape, key, vm.moved));
    // Code that is older than a case does not look at it.
    if !vm.is_deaf && cases.iter().all(|case| case.shape != shape) {
        let has_room = !cases.is_full();
        assert_eq!(cases.add(Field { shape, offset: 8 + 8 * place }), has_room);
    }
    Ok(&object.fields[place as usize])
}

fn get(vm: &mut Vm, object: &Object, key: u32, cases: Cases<'_, Field>) -> Result<u64, Trap> {
    vm.slow += 1;
    find(vm, object, key, cases).map(Cell::get)
}

fn set(vm: &mut Vm, object: &Object, key: u32, value: u64, cases: Cases<'_, Field>) -> Result<(), Trap> {
    vm.slow += 1;
    find(vm, object, key, cases).map(|field| field.set(value))
}

fn forget(vm: &mut Vm) {
    vm.engine.as_ref().expect("the program has an engine").clear_sites();
}

/// Moves the fields of all objects of a list of this length, whose cases are wrong from then on.
fn move_all(vm: &mut Vm, list: *const *const Object, n: u64) {
    // SAFETY: the program passes a list of so many objects.
    for object in (0..n as usize).map(|at| unsafe { &**list.add(at) }) {
        let moved = [0, 1, 2, 3].map(|place| object.fields[(place + 3) % 4].get());
        std::iter::zip(&object.fields, moved).for_each(|(field, value)| field.set(value));
    }
    vm.moved += 1;
    let engine = vm.engine.as_ref().expect("the program has an engine");
    if let Some(removed) = vm.removed.take() {
        engine.remove(removed).expect("it is there");
    }
    engine.retain_cases(|_: &Field| false);
}

/// Objects with these shapes, and the list of their addresses.
fn objects(shapes: &[u32]) -> (Vec<Object>, Vec<u64>) {
    let fields = |at: usize| [0, 1, 2, 3].map(|key| 1000 * at as u64 + key);
    let objects: Vec<Object> =
        shapes.iter().enumerate().map(|(at, shape)| Object::new(*shape, fields(at))).collect();
    let list = objects.iter().map(|object| (&raw const *object).expose_provenance() as u64).collect();
    (objects, list)
}

/// The sum of a field of each object in a list: register 0 is the list, 1 its length.
fn sum() -> Vec<Op> {
    vec![
        Op::Item { dst: 3.into(), list: 0.into(), at: 1.into() },
        Op::Get { dst: 4.into(), object: 3.into(), key: Imm(2), cache: Site::new() },
        Op::Add { dst: 2.into(), a: 2.into(), b: 4.into() },
        Op::Count { n: 1.into(), to: Label(0) },
        Op::Return { a: 2.into() },
    ]
}

/// Calls a function with a list. Returns its result.
fn call(engine: &Engine<Op>, function: FunctionId, vm: &mut Vm, list: &[u64]) -> Result<u64, Error> {
    engine.call(function, vm, (list.as_ptr(), list.len() as u64))
}

/// Calls `sum`, whose result must be right.
fn check(engine: &Engine<Op>, function: FunctionId, vm: &mut Vm, shapes: &[u32]) {
    let (objects, list) = objects(shapes);
    let expected = objects.iter().map(|object| object.field(2, 0).get()).sum::<u64>();
    let list = match vm.moved % 4 {
        0 => list,
        moved => {
            let moved = |object: &Object| {
                let fields = [0, 1, 2, 3].map(|key| object.field(key, 0).get());
                (0..4).for_each(|key| object.field(key, moved).set(fields[key as usize]));
            };
            objects.iter().for_each(moved);
            list
        }
    };
    assert_eq!(call(engine, function, vm, &list), Ok(expected), "{shapes:?}");
}

fn tiers() -> impl Iterator<Item = Tier> {
    TIERS.into_iter().filter(|tier| *tier == Tier::Interpreter || azulejo::can_compile().is_ok())
}

#[test]
fn people_see_what_bytecodes_have_learned() {
    if azulejo::can_compile().is_err() {
        return;
    }
    let engine = Engine::<Op>::builder().only(Tier::Interpreter).build();
    let function = engine.define("sum", sum(), 5).expect("it is right");
    let bytecode = || engine.stages(function).expect("it compiles").split("\n== ").nth(1).map(str::to_string);
    assert!(bytecode().is_some_and(|text| !text.contains('#')), "nothing is learned yet");
    check(&engine, function, &mut Vm::default(), &[1, 3, 3]);
    let cases = "2 of 4 cases: Field { shape: 3, offset: 16 }, Field { shape: 1, offset: 32 }";
    let line = format!("cache: site of 4 }} # {cases}\n");
    assert!(bytecode().is_some_and(|text| text.contains(&line)), "{:?} has not {line:?}", bytecode());
    check(&engine, function, &mut Vm::default(), &[1, 2, 3, 4, 5]);
    let text = bytecode().unwrap_or_default();
    assert!(text.contains("4 of 4 cases") && text.contains("; the slow path has run\n"), "{text}");
}

/// An engine whose functions become hot soon.
fn hot() -> Engine<Op> {
    Engine::<Op>::builder().thresholds(10, 100).build()
}

/// Shapes that a list of 20 objects may have: one, some, as many as fit, more.
const WORLDS: [&[u32]; 4] = [&[1], &[1, 2, 3], &[4, 3, 2, 1], &[1, 2, 3, 4, 5, 6]];

#[test]
fn every_tier_looks_at_the_cases() {
    for tier in tiers() {
        for is_warm in [false, true] {
            for world in WORLDS {
                let engine = Engine::<Op>::builder().up_to(tier).build::<Op>();
                let function = engine.define("sum", sum(), 5).expect("it is right");
                let shapes: Vec<u32> = world.iter().copied().cycle().take(20).collect();
                let mut vm = Vm::default();
                if is_warm {
                    // What is compiled then is made for what the site has learned by then.
                    check(&engine, function, &mut vm, &shapes);
                }
                engine.compile_in(function, tier).expect("it is compiled");
                vm.slow = 0;
                check(&engine, function, &mut vm, &shapes);
                // The site has the shapes that come first, from the end of the list.
                let known: Vec<u32> = shapes.iter().rev().copied().collect();
                let mut four: Vec<u32> = Vec::new();
                known.iter().for_each(|shape| {
                    if four.len() < 4 && !four.contains(shape) {
                        four.push(*shape)
                    }
                });
                let others = shapes.iter().filter(|shape| !four.contains(shape)).count();
                let learned = if is_warm { 0 } else { four.len() };
                assert_eq!(vm.slow as usize, learned + others, "{tier:?} {world:?} {is_warm}");
                vm.slow = 0;
                check(&engine, function, &mut vm, &shapes);
                assert_eq!(vm.slow as usize, others, "{tier:?} {world:?} {is_warm}");
            }
        }
    }
}

#[test]
fn a_trap_of_the_slow_path_is_one_of_the_bytecode() {
    for tier in tiers() {
        let engine = Engine::<Op>::builder().up_to(tier).build::<Op>();
        let function = engine.define("sum", sum(), 5).expect("it is right");
        engine.compile_in(function, tier).expect("it is compiled");
        let (_objects, list) = objects(&[1, 0, 1]);
        let mut vm = Vm::default();
        let failed = Err(Error::Trap { trap: Trap::User(5), at: 1 });
        assert_eq!((call(&engine, function, &mut vm, &list), vm.slow), (failed, 2), "{tier:?}");
    }
}

/// Sets a field of each object to the sum so far, by two sites, one of which has room for fewer cases.
fn copies() -> Vec<Op> {
    vec![
        Op::Item { dst: 3.into(), list: 0.into(), at: 1.into() },
        Op::Copy { from: 3.into(), to: 3.into(), key: Imm(1), read: Site::new(), write: Site::new() },
        Op::Get { dst: 4.into(), object: 3.into(), key: Imm(3), cache: Site::new() },
        Op::Add { dst: 2.into(), a: 2.into(), b: 4.into() },
        Op::Set { object: 3.into(), key: Imm(3), value: 2.into(), cache: Site::new() },
        Op::Count { n: 1.into(), to: Label(0) },
        Op::Return { a: 2.into() },
    ]
}

#[test]
fn sites_of_one_opcode_and_of_several_are_apart() {
    for tier in tiers() {
        for world in WORLDS {
            let engine = match tier {
                Tier::Optimizer => hot(),
                _ => Engine::<Op>::builder().up_to(tier).build::<Op>(),
            };
            let function = engine.define("copies", copies(), 5).expect("it is right");
            let shapes: Vec<u32> = world.iter().copied().cycle().take(24).collect();
            let mut vm = Vm::default();
            for _ in 0..60 {
                let (objects, list) = objects(&shapes);
                let (mut sum, mut sums) = (0, Vec::new());
                for object in objects.iter().rev() {
                    sum += object.field(3, 0).get();
                    sums.push(sum);
                }
                let kept: Vec<u64> = objects.iter().map(|object| object.field(1, 0).get()).collect();
                assert_eq!(call(&engine, function, &mut vm, &list), Ok(sum), "{tier:?} {world:?}");
                for (at, object) in objects.iter().enumerate() {
                    assert_eq!(object.field(3, 0).get(), sums[objects.len() - 1 - at]);
                    assert_eq!(object.field(1, 0).get(), kept[at]);
                }
            }
            if world.len() <= 2 {
                assert_eq!(
                    vm.slow as usize,
                    4 * world.len(),
                    "{tier:?}: each site has learned all shapes once"
                );
            }
        }
    }
}

mod climbing {
    use super::*;

    /// Calls a function with objects of these shapes until nothing is compiled any more. Returns the statistics then.
    fn settle(engine: &Engine<Op>, function: FunctionId, vm: &mut Vm, shapes: &[u32]) -> Statistics {
        for _ in 0..400 {
            check(engine, function, vm, shapes);
        }
        engine.stats()
    }

    #[test]
    fn what_a_site_learns_late_is_compiled_then() {
        if azulejo::can_compile().is_err() {
            return;
        }
        let engine = hot();
        let function = engine.define("sum", sum(), 5).expect("it is right");
        let mut vm = Vm::default();
        let mut before = settle(&engine, function, &mut vm, &[1; 20]);
        assert_eq!((engine.tier(function), before.missed, vm.slow), (Tier::Optimizer, 0, 1));
        // One more shape each time, up to those that fit, and then one that does not.
        for shapes in [&[1, 2][..], &[1, 2, 3], &[3, 4, 2, 1], &[1, 2, 3, 4, 5]] {
            let shapes: Vec<u32> = shapes.iter().copied().cycle().take(20).collect();
            let after = settle(&engine, function, &mut vm, &shapes);
            assert!((1..=8).contains(&(after.missed - before.missed)), "{} misses", after.missed);
            let compiled = after.optimizer.compiled - before.optimizer.compiled;
            assert!((1..=2).contains(&compiled), "{compiled} compilations for {shapes:?}");
            let later = settle(&engine, function, &mut vm, &shapes);
            assert_eq!((later.missed, later.optimizer.compiled), (after.missed, after.optimizer.compiled));
            assert_eq!(engine.tier(function), Tier::Optimizer);
            before = later;
        }
        // The fifth shape takes the slow path in every tier, and it alone does.
        let slow = vm.slow;
        check(&engine, function, &mut vm, &[1, 2, 3, 4, 5]);
        assert_eq!(vm.slow, slow + 1);
    }

    /// Code with a slow path knows the cases that there were. It is left when that would run again and there are others by then, and is made
    /// once more, with those.
    #[test]
    fn a_slow_path_that_taught_nothing_does_not_keep_a_site_from_learning() {
        if azulejo::can_compile().is_err() {
            return;
        }
        for (code, sites) in [(sum(), 1), (copies(), 4)] {
            let engine = hot();
            let function = engine.define("late", code, 5).expect("it is right");
            let mut vm = Vm { is_deaf: true, ..Vm::default() };
            let (_objects, list) = objects(&[2; 10]);
            let call = |vm: &mut Vm| (0..100).for_each(|_| _ = call(&engine, function, vm, &list));
            call(&mut vm);
            assert_eq!((engine.tier(function), vm.slow), (Tier::Optimizer, 1000 * sites));
            let before = engine.stats();
            vm.is_deaf = false;
            vm.slow = 0;
            call(&mut vm);
            let after = engine.stats();
            assert_eq!(vm.slow, sites, "each site learns once");
            assert_eq!(
                (after.missed - before.missed, after.optimizer.compiled - before.optimizer.compiled),
                (8, 1)
            );
            call(&mut vm);
            let later = engine.stats();
            assert_eq!(
                (vm.slow, later.missed, later.optimizer.compiled),
                (sites, after.missed, after.optimizer.compiled)
            );
        }
    }

    /// One of the opcode's sites learns from a plain call, which code does not leave for.
    #[test]
    fn a_site_learns_from_any_call() {
        if azulejo::can_compile().is_err() {
            return;
        }
        let code = vec![
            Op::Item { dst: 3.into(), list: 0.into(), at: 1.into() },
            Op::Copy { from: 2.into(), to: 3.into(), key: Imm(1), read: Site::new(), write: Site::new() },
            Op::Count { n: 1.into(), to: Label(0) },
            Op::Return { a: 2.into() },
        ];
        let engine = hot();
        let function = engine.define("copies", code, 4).expect("it is right");
        let mut vm = Vm::default();
        for (shape, slow) in [(1, 2), (2, 1), (3, 1), (4, 1600)] {
            let (objects, list) = objects(&[1, shape, shape, shape, shape]);
            vm.slow = 0;
            for _ in 0..400 {
                let arguments = (&raw const list[1], 4u64, list[0]);
                assert_eq!(engine.call::<_, u64>(function, &mut vm, arguments), Ok(list[0]));
            }
            assert!(objects.iter().all(|object| object.field(1, 0).get() == 1));
            assert_eq!(vm.slow, slow, "of shape {shape}");
        }
        assert_eq!((engine.tier(function), engine.stats().missed), (Tier::Optimizer, 0));
    }

    #[test]
    fn cases_that_are_not_true_any_more_are_forgotten() {
        if azulejo::can_compile().is_err() {
            return;
        }
        let engine = hot();
        let [one, other] = ["one", "other"].map(|name| engine.define(name, sum(), 5).expect("it is right"));
        let mut vm = Vm::default();
        for _ in 0..400 {
            check(&engine, one, &mut vm, &[1, 2, 1, 2]);
            check(&engine, other, &mut vm, &[3, 3, 3, 3]);
        }
        assert_eq!([one, other].map(|function| engine.tier(function)), [Tier::Optimizer; 2]);
        // Nothing is forgotten, and no code discarded.
        engine.retain_cases(|case: &Field| case.shape > 0);
        engine.retain_cases(|_: &u32| false);
        assert_eq!([one, other].map(|function| engine.tier(function)), [Tier::Optimizer; 2]);
        // The other function has no such case.
        let mut seen = Vec::new();
        engine.retain_cases(|case: &Field| {
            seen.push(case.shape);
            case.shape != 2
        });
        seen.sort_unstable();
        assert_eq!(seen, [1, 2, 3]);
        assert!(engine.tier(one) < Tier::Optimizer && engine.tier(other) == Tier::Optimizer);
        vm.slow = 0;
        let compiled = engine.stats().optimizer.compiled;
        check(&engine, one, &mut vm, &[1, 2, 1, 2]);
        assert_eq!(vm.slow, 1, "shape 2 is learned again, and 1 is known");
        settle(&engine, one, &mut vm, &[1, 2, 1, 2]);
        assert_eq!((engine.tier(one), vm.slow), (Tier::Optimizer, 1));
        assert!((1..=2).contains(&(engine.stats().optimizer.compiled - compiled)));
        // The world changes, and all code with it.
        vm.moved = 1;
        engine.clear_sites();
        for function in [one, other] {
            assert!(engine.tier(function) < Tier::Optimizer);
            settle(&engine, function, &mut vm, &[3, 1, 2, 3]);
            assert_eq!(engine.tier(function), Tier::Optimizer);
        }
    }

    /// Nobody is told to forget what was never learned.
    #[test]
    fn functions_without_cases_stay_as_they_are() {
        let engine = hot();
        let function = engine.define("sum", sum(), 5).expect("it is right");
        let mut vm = Vm::default();
        // Cases are forgotten so often that the function would never become hot if that started over.
        for _ in 0..400 {
            check(&engine, function, &mut vm, &[1; 4]);
            if engine.tier(function) < Tier::Optimizer {
                engine.clear_sites();
            }
        }
        if azulejo::can_compile().is_ok() {
            assert_eq!(engine.tier(function), Tier::Optimizer);
        }
    }

    /// The sums of several lists, one after the other, with sites that forget all now and then, while the code runs.
    #[test]
    fn code_runs_on_when_its_sites_forget() {
        for (tier, remove) in tiers().flat_map(|tier| [(tier, false), (tier, true)]) {
            let engine = Rc::new(match tier {
                Tier::Optimizer => hot(),
                _ => Engine::<Op>::builder().up_to(tier).build::<Op>(),
            });
            let mut code = sum();
            code.insert(3, Op::Forget { every: 5.into(), n: 1.into() });
            code[4] = Op::Count { n: 1.into(), to: Label(0) };
            let function = engine.define("sum", code, 6).expect("it is right");
            let mut vm = Vm { engine: Some(engine.clone()), ..Vm::default() };
            let (objects, list) = objects(&[1, 2, 3, 4].repeat(100));
            let expected = objects.iter().map(|object| object.field(2, 0).get()).sum::<u64>();
            for every in [127u64, 15, 0, 1 << 40] {
                for _ in 0..10 {
                    let arguments = (list.as_ptr(), list.len() as u64, 0u64, 0u64, 0u64, every);
                    assert_eq!(engine.call::<_, u64>(function, &mut vm, arguments), Ok(expected));
                }
            }
            if remove {
                engine.remove(function).expect("it is there");
            }
            // The engine and the program have each other.
            vm.engine = None;
        }
    }

    /// A function that moves what its own site knows, and was removed before.
    #[test]
    fn a_function_that_was_removed_forgets_too() {
        for tier in
            [Tier::Interpreter, Tier::Baseline].into_iter().filter(|tier| tiers().any(|known| known == *tier))
        {
            let engine = Rc::new(Engine::<Op>::builder().up_to(tier).build::<Op>());
            let mut code = sum();
            code.insert(3, Op::Move { list: 0.into(), n: 1.into(), when: Imm(6) });
            code[4] = Op::Count { n: 1.into(), to: Label(0) };
            let function = engine.define("sum", code, 5).expect("it is right");
            engine.compile_in(function, tier).expect("it is compiled");
            let mut vm = Vm { engine: Some(engine.clone()), removed: Some(function), ..Vm::default() };
            let (objects, list) = objects(&[1, 2, 1, 2, 1, 2, 1, 2]);
            let expected = objects.iter().map(|object| object.field(2, 0).get()).sum::<u64>();
            assert_eq!(call(&engine, function, &mut vm, &list), Ok(expected));
            assert_eq!((vm.moved, vm.slow), (1, 4), "two shapes are learned twice");
            vm.engine = None;
        }
    }

    #[test]
    fn a_thread_in_the_background_knows_what_a_site_had_learned() {
        if azulejo::can_compile().is_err() {
            return;
        }
        let engine = Engine::<Op>::builder().thresholds(10, 100).background(true).build::<Op>();
        let function = engine.define("sum", sum(), 5).expect("it is right");
        let mut vm = Vm::default();
        let until = std::time::Instant::now() + std::time::Duration::from_secs(60);
        let wait = |vm: &mut Vm, shapes: &[u32]| {
            while engine.tier(function) != Tier::Optimizer {
                check(&engine, function, vm, shapes);
                assert!(std::time::Instant::now() < until, "it is never compiled");
            }
        };
        wait(&mut vm, &[1, 2]);
        let missed = engine.stats().missed;
        (0..50).for_each(|_| check(&engine, function, &mut vm, &[1, 2]));
        assert_eq!((engine.stats().missed, vm.slow), (missed, 2));
        // What was asked for before the cases were removed is thrown away.
        for round in 0..40 {
            vm.moved += 1;
            engine.clear_sites();
            (0..10 + round).for_each(|_| check(&engine, function, &mut vm, &[1, 2, 3]));
        }
        wait(&mut vm, &[1, 2, 3]);
        check(&engine, function, &mut vm, &[1, 2, 3, 4, 5]);
    }

    #[test]
    fn a_panic_while_cases_are_removed_leaves_no_old_code() {
        if azulejo::can_compile().is_err() {
            return;
        }
        let engine = hot();
        let function = engine.define("copies", copies(), 5).expect("it is right");
        let (_objects, list) = objects(&[1, 2, 1, 2]);
        let mut vm = Vm::default();
        for _ in 0..100 {
            call(&engine, function, &mut vm, &list).expect("it returns");
        }
        assert_eq!(engine.tier(function), Tier::Optimizer);
        let mut n_asked = 0;
        let removing = std::panic::AssertUnwindSafe(|| {
            engine.retain_cases(|_: &Field| {
                n_asked += 1;
                assert!(n_asked < 4, "this many are enough");
                false
            });
        });
        assert!(std::panic::catch_unwind(removing).is_err());
        assert!(engine.tier(function) < Tier::Optimizer, "the first sites have no cases any more");
    }
}
