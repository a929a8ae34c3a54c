//! Counters of loops: numbers that are indices are counted in integers as well. Also here: what is loaded is checked once, and what is copied
//! is as well known as the value.

use super::machine::{NIL, Op, TAG, Vm, add, bits, call, compiles, last_graph};
use azulejo::prelude::*;

pub(super) fn word(dst: u32, value: f64) -> Op {
    Op::Word { dst: dst.into(), value: Imm(value.to_bits()) }
}

pub(super) fn add_const(dst: u32, a: u32, k: f64) -> Op {
    Op::AddConst { dst: dst.into(), a: a.into(), k: Imm(k) }
}

pub(super) fn get(dst: u32, key: u32) -> Op {
    Op::Get { dst: dst.into(), key: key.into() }
}

fn less(a: u32, b: u32, to: u32) -> Op {
    Op::JumpLess { a: a.into(), b: b.into(), to: to.into() }
}

/// `do { r2 += items[r0 + before]; r0 += step } while r0 < r1`, where r0 starts as it is, or with a constant.
fn sum(start: Option<f64>, before: f64, step: f64) -> Vec<Op> {
    vec![
        word(2, 0.0),
        start.map_or(Op::Copy { dst: 3.into(), a: 0.into() }, |start| word(3, start)),
        Op::Jump { to: 3.into() },
        add_const(5, 3, before),
        get(4, 5),
        add(2, 2, 4),
        add_const(3, 3, step),
        less(3, 1, 3),
        Op::Return { a: 2.into() },
    ]
}

/// The same sum from r0 + `more` on, where that is added in two steps, and the second number that is added is a word in a register.
fn sum_from(more: f64, step: f64) -> Vec<Op> {
    vec![
        word(2, 0.0),
        add_const(3, 0, more + 1.0),
        word(5, -1.0),
        add(3, 3, 5),
        Op::Jump { to: 5.into() },
        get(4, 3),
        add(2, 2, 4),
        add_const(3, 3, step),
        less(3, 1, 5),
        Op::Return { a: 2.into() },
    ]
}

/// Runs code with these arguments in the interpreter, and again and again in an engine that climbs. Returns that, and the function.
pub(super) fn agree(code: &[Op], items: &[u64], all: &[[u64; 3]]) -> (Engine<Op>, FunctionId) {
    let reference = Engine::<Op>::builder().only(Tier::Interpreter).build();
    let climbing = Engine::<Op>::builder().thresholds(5, 20).build();
    let [of_reference, of_climbing] =
        [&reference, &climbing].map(|engine| engine.define("sum", code.to_vec(), 6).expect("it is right"));
    for &args in all {
        compare((&reference, of_reference), (&climbing, of_climbing), items, args);
    }
    (climbing, of_climbing)
}

/// Both give the same, and take as many slow paths, again and again.
fn compare(
    (reference, of_reference): (&Engine<Op>, FunctionId),
    (climbing, of_climbing): (&Engine<Op>, FunctionId),
    items: &[u64],
    args: [u64; 3],
) {
    let run = |engine, function| {
        let mut vm = Vm::new(items.to_vec());
        (call(engine, function, &mut vm, args), vm.slow.get())
    };
    let expected = run(reference, of_reference);
    for round in 0..60 {
        assert_eq!(run(climbing, of_climbing), expected, "round {round}, from {args:x?}");
    }
}

/// Two arguments. The third register is written first.
pub(super) fn numbers([start, limit]: [f64; 2]) -> [u64; 3] {
    bits([start, limit, 0.0])
}

#[test]
fn an_index_that_starts_with_a_constant_is_never_converted() {
    let vm = Vm::of_numbers(100);
    for (start, before, step) in [(0.0, 0.0, 1.0), (1.0, -1.0, 1.0), (-0.0, 2.0, 2.0), (3.0, -3.0, 1.0)] {
        let code = sum(Some(start), before, step);
        let (engine, function) = agree(&code, &vm.items, &[numbers([0.0, 90.0]), numbers([0.0, 120.0])]);
        if compiles() {
            let graph = last_graph(&engine, function);
            assert_eq!(graph.matches("ftos_least").count(), 0, "{start} {before} {step}: {graph}");
        }
    }
}

/// Code that sums up the items from the tenth to the twentieth, of which the first is known by an argument, converts that once.
fn is_converted_once(code: Vec<Op>, start: f64) {
    let (engine, mut vm) = (Engine::<Op>::builder().thresholds(5, 20).build(), Vm::of_numbers(100));
    let function = engine.define("sum", code, 6).expect("it is right");
    for _ in 0..100 {
        let found = call(&engine, function, &mut vm, numbers([start, 20.0]));
        assert_eq!(f64::from_bits(found), 72.5);
    }
    assert_eq!((vm.slow.get(), engine.stats().missed), (0, 0));
    if compiles() {
        let graph = last_graph(&engine, function);
        assert_eq!(graph.matches("= ftos_least.f64.i32").count(), 1, "{graph}");
        assert_eq!(graph.matches("ftos_least").count(), 1, "{graph}");
    }
}

#[test]
fn an_index_that_starts_with_an_argument_is_converted_in_front_of_the_loop() {
    is_converted_once(sum(None, 0.0, 1.0), 10.0);
}

#[test]
fn an_index_that_starts_near_an_argument_is_converted_in_front_of_the_loop() {
    is_converted_once(sum_from(3.0, 1.0), 7.0);
}

#[test]
fn numbers_near_which_there_are_no_indices_are_as_in_the_interpreter() {
    let vm = Vm::of_numbers(50);
    let starts = [-4.0, -0.0, 0.5, 1e-20, 45.0, 2147483647.0, -2147483648.0, 4503599627370496.0];
    for start in starts.into_iter().chain([1e300, f64::INFINITY, f64::NEG_INFINITY, f64::NAN]) {
        for (more, step) in [(3.0, 1.0), (-2.0, 2.0), (4294967290.0, 1.0), (0.5, 1.0), (-1.0, -1.0)] {
            let first = start + more;
            let limit = if step < 0.0 { f64::NEG_INFINITY } else { first + 8.0 };
            if first == f64::NEG_INFINITY && step > 0.0 || first + step == first {
                continue;
            }
            let warm = numbers([2.0 - more, if step < 0.0 { 1.0 } else { 9.0 }]);
            agree(&sum_from(more, step), &vm.items, &[warm, numbers([start, limit]), warm]);
            agree(&sum_from(more, step), &vm.items, &[numbers([start, limit]), warm]);
        }
    }
}

#[test]
fn numbers_that_are_no_indices_are_as_in_the_interpreter() {
    let vm = Vm::of_numbers(50);
    let starts = [0.0, -0.0, 0.5, 1e-20, -3.0, 49.0, 50.0, 2147483647.0, 2147483648.0, 4503599627370496.0];
    let more = [9007199254740992.0, 1e300, f64::INFINITY, f64::NEG_INFINITY, f64::NAN];
    for start in starts.into_iter().chain(more) {
        for (before, step) in [(0.0, 1.0), (1.0, -1.0), (0.0, 2.0), (0.0, 3.0), (0.5, 1.0), (0.0, 0.25)] {
            // It comes to an end: downward after a round, and upward after a few.
            let limit = if step < 0.0 { f64::NEG_INFINITY } else { start.max(0.0) + 4.0 };
            if start == f64::NEG_INFINITY && step > 0.0 || start + step == start {
                continue;
            }
            let warm = numbers([2.0, if step < 0.0 { 1.0 } else { 9.0 }]);
            agree(&sum(None, before, step), &vm.items, &[warm, numbers([start, limit]), warm]);
            agree(&sum(None, before, step), &vm.items, &[numbers([start, limit]), warm]);
            agree(&sum(Some(start), before, step), &vm.items, &[numbers([0.0, limit])]);
        }
    }
}

#[test]
fn a_start_that_is_no_whole_number_is_asked_for_once() {
    let engine = Engine::<Op>::builder().thresholds(5, 20).build();
    let mut vm = Vm::of_numbers(100);
    let function = engine.define("sum", sum(None, 0.0, 1.0), 6).expect("it is right");
    for round in 0..1000 {
        let start = if round < 50 { 10.0 } else { 10.5 };
        call(&engine, function, &mut vm, numbers([start, 20.0]));
    }
    let stats = engine.stats();
    assert!(stats.missed < 40, "{stats}");
    assert!(stats.optimizer.compiled + stats.optimizer_for_calls.compiled < 12, "{stats}");
}

#[test]
fn an_inner_loop_starts_where_the_outer_one_is() {
    // `for i in 0..r1 { for j in i + 1 .. r1 + 1 { r2 += items[j] } }`
    let code = vec![
        word(2, 0.0),
        word(0, 0.0),
        Op::Jump { to: 3.into() },
        add_const(3, 0, 1.0),
        get(4, 3),
        add(2, 2, 4),
        add_const(3, 3, 1.0),
        less(3, 1, 4),
        add_const(0, 0, 1.0),
        less(0, 1, 3),
        Op::Return { a: 2.into() },
    ];
    let (engine, function) = agree(&code, &Vm::of_numbers(40).items, &[numbers([0.0, 30.0])]);
    if compiles() {
        let graph = last_graph(&engine, function);
        assert_eq!(graph.matches("ftos_least").count(), 0, "{graph}");
    }
}

#[test]
fn a_counter_that_is_not_always_counted_is_converted() {
    // `r3 = 0; do { r2 += items[r3]; r3 = items[r3] + 1 } while r3 < r1`
    let code = vec![
        word(2, 0.0),
        word(3, 0.0),
        get(4, 3),
        add(2, 2, 4),
        add_const(3, 4, 1.0),
        less(3, 1, 2),
        Op::Return { a: 2.into() },
    ];
    let items: Vec<u64> = (0..40).map(|at| ((at * 7 % 11) as f64 + at as f64).to_bits()).collect();
    agree(&code, &items, &[numbers([0.0, 30.0]), numbers([0.0, 5.0])]);
}

#[test]
fn beside_a_counter_other_indices_are_converted() {
    // `for i in 0..r1 { r2 += items[i] + items[r0] }`
    let code = vec![
        word(2, 0.0),
        word(3, 0.0),
        get(4, 3),
        add(2, 2, 4),
        get(4, 0),
        add(2, 2, 4),
        add_const(3, 3, 1.0),
        less(3, 1, 2),
        Op::Return { a: 2.into() },
    ];
    let items = Vm::of_numbers(40).items;
    agree(&code, &items, &[numbers([7.0, 30.0]), numbers([7.5, 30.0]), numbers([-1.0, 30.0])]);
    agree(&code, &items, &[numbers([7.5, 30.0])]);
}

#[test]
fn what_is_loaded_is_checked_once() {
    let vm = Vm::of_numbers(100);
    let (engine, function) = agree(&sum(Some(0.0), 0.0, 1.0), &vm.items, &[numbers([0.0, 90.0])]);
    if compiles() {
        // The item is checked for a number, not for nil before, in the first iteration and in the loop; the limit is checked in front of
        // both.
        let graph = last_graph(&engine, function);
        assert_eq!(graph.matches("= ne.i64").count(), 0, "{graph}");
        let tag = graph.lines().find(|line| line.contains(&format!("const.i64 {}", TAG as i64)));
        let tag = tag.and_then(|line| line.split_whitespace().next()).expect("it is compared with");
        let is_check = |line: &&str| line.contains("= ult.i64") && line.contains(&format!(" {tag} "));
        assert_eq!(graph.lines().filter(is_check).count(), 3, "{graph}");
    }
}

#[test]
fn items_of_other_kinds_are_as_in_the_interpreter() {
    for odd in [NIL, NIL + 1, u64::MAX] {
        for at in [0, 1, 30, 89] {
            let mut items = Vm::of_numbers(100).items;
            let warm = items.clone();
            items[at] = odd;
            let code = sum(Some(0.0), 0.0, 1.0);
            agree(&code, &items, &[numbers([0.0, 90.0])]);
            // It is met after the code was compiled, by code that takes the slow path of an item that is nil, or by code that does not.
            for nil in [None, Some(5)] {
                let [mut warm, mut items] = [warm.clone(), items.clone()];
                if let Some(nil) = nil {
                    (warm[nil], items[nil]) = (NIL, NIL);
                }
                let reference = Engine::<Op>::builder().only(Tier::Interpreter).build();
                let climbing = Engine::<Op>::builder().thresholds(5, 20).build();
                let [of_reference, of_climbing] = [&reference, &climbing]
                    .map(|engine| engine.define("sum", code.clone(), 6).expect("it is right"));
                for items in [&warm, &items, &warm, &items] {
                    let args = numbers([0.0, 90.0]);
                    compare((&reference, of_reference), (&climbing, of_climbing), items, args);
                }
                let stats = climbing.stats();
                assert!(stats.missed < 60, "{odd:x} at {at}: {stats}");
            }
        }
    }
}

#[test]
fn copies_are_as_well_known_as_values() {
    // `r3 = 0; do { r4 = r3; r3 = r4 + 1.0 } while r3 < 50.0`, with constants and moves that copy.
    let code = vec![
        word(3, 0.0),
        Op::Copy { dst: 4.into(), a: 3.into() },
        add_const(3, 4, 1.0),
        Op::JumpLessConst { a: 3.into(), k: Imm(50.0), to: 1.into() },
        Op::Return { a: 3.into() },
    ];
    let (engine, function) = agree(&code, &[], &[numbers([0.0, 0.0])]);
    if compiles() {
        let graph = last_graph(&engine, function);
        assert_eq!(graph.matches("ult.i64").count(), 0, "{graph}");
        assert_eq!(graph.matches("param.i64").count(), 0, "{graph}");
    }
}
