//! Counters of loops: numbers that are indices are counted in integers as well. Also here: what is loaded is checked once, and what is copied
//! is as well known as the value.

use azulejo::prelude::*;
use core::cell::Cell;

const TAG: u64 = 0xfff9 << 48;
const NIL: u64 = TAG;

/// What programs read: a list of words, and how often a slow path has run.
struct Vm {
    items: Vec<u64>,
    start: *const u64,
    len: u64,
    slow: Cell<u64>,
}

impl Vm {
    fn new(items: Vec<u64>) -> Vm {
        let (start, len) = (items.as_ptr(), items.len() as u64);
        Vm { items, start, len, slow: Cell::new(0) }
    }

    fn of_numbers(n: u64) -> Vm {
        Vm::new((0..n).map(|at| (at as f64 * 0.5).to_bits()).collect())
    }
}

/// An item by a key that is no index: keys are cut off, and what is not there is nil.
fn get_slowly(vm: &mut Vm, key: u64) -> Result<u64, Trap> {
    vm.slow.set(vm.slow.get() + 1);
    let number = f64::from_bits(key);
    let found = if key < TAG && number >= 0.0 { vm.items.get(number as usize) } else { None };
    Ok(*found.filter(|item| **item != NIL).unwrap_or(&(-1.0f64).to_bits()))
}

fn add_slowly(vm: &mut Vm, a: u64, b: u64) -> Result<u64, Trap> {
    vm.slow.set(vm.slow.get() + 1);
    Ok(if a >= TAG { b } else { a })
}

fn less_slowly(vm: &mut Vm, a: u64, _: u64) -> Result<u8, Trap> {
    vm.slow.set(vm.slow.get() + 1);
    Ok((a >= TAG) as u8)
}

#[derive(Bytecode, Clone, Copy, Debug)]
#[bytecode(context = Vm)]
enum Op {
    Word { dst: Out<u64>, value: Imm<u64> },
    Move { dst: Out<u64>, a: In<u64> },
    Add { dst: Out<u64>, a: In<u64>, b: In<u64> },
    AddConst { dst: Out<u64>, a: In<u64>, k: Imm<f64> },
    Get { dst: Out<u64>, key: In<u64> },
    JumpLess { a: In<u64>, b: In<u64>, to: Label },
    JumpLessConst { a: In<u64>, k: Imm<f64>, to: Label },
    Jump { to: Label },
    Return { a: In<u64> },
}

template! {
    kinds u64 {
        number: f64 { is (ult $box &TAG) unbox (bitcast $box f64) box (bitcast (canonical_nan $value) u64) }
        nil { is (eq $box &NIL) }
    }

    macro ^numbers (,a ,b ,then ,otherwise) (as ((,a number) (,b number)) ,then ,otherwise)
    macro ^add (,a ,b) (^numbers ,a ,b (box number (add ,a ,b))
        (slow add_slowly (arglist (carg (tc) ptr) (carg ,a u64) (carg ,b u64)) u64))

    Op::Word => (copy $value)
    Op::Move => (copy $a)
    Op::Add => (^add $a $b)
    Op::AddConst => (as (($a number)) (box number (add $a $k))
        (slow add_slowly (arglist (carg (tc) ptr) (carg $a u64) (carg (bitcast $k u64) u64)) u64))
    Op::Get! => unsafe (dov
        (asv (($number number $key))
            (letv: (($at (ftos_least $number i64)))
                (ifv (all (eq (stof $at f64) $number) (ult $at (load (addr (tc) (&offset_of Vm, len)) u64)))
                    (letv: (($item (load (idx (load (addr (tc) (&offset_of Vm, start)) ptr) $at 8) u64)))
                        (ifv (ne $item &NIL) (set $dst $item) (branch (label slowly))))
                    (branch (label slowly))))
            (branch (label slowly)))
        (branch (label done))
        (mark slowly)
        (slowv (set $dst (call throws get_slowly (arglist (carg (tc) ptr) (carg $key u64)) u64)))
        (mark done))
    Op::JumpLess => (when (^numbers $a $b (lt $a $b)
        (nz (slow less_slowly (arglist (carg (tc) ptr) (carg $a u64) (carg $b u64)) u8))) (branch $to))
    Op::JumpLessConst => (when (as (($a number)) (lt $a $k)
        (nz (slow less_slowly (arglist (carg (tc) ptr) (carg $a u64) (carg (bitcast $k u64) u64)) u8))) (branch $to))
    Op::Jump => (branch $to)
    Op::Return => (return $a)
}

fn number(dst: u32, value: f64) -> Op {
    Op::Word { dst: dst.into(), value: Imm(value.to_bits()) }
}

fn add(dst: u32, a: u32, b: u32) -> Op {
    Op::Add { dst: dst.into(), a: a.into(), b: b.into() }
}

fn add_const(dst: u32, a: u32, k: f64) -> Op {
    Op::AddConst { dst: dst.into(), a: a.into(), k: Imm(k) }
}

fn get(dst: u32, key: u32) -> Op {
    Op::Get { dst: dst.into(), key: key.into() }
}

fn less(a: u32, b: u32, to: u32) -> Op {
    Op::JumpLess { a: a.into(), b: b.into(), to: to.into() }
}

/// `do { r2 += items[r0 + before]; r0 += step } while r0 < r1`, where r0 starts as it is, or with a constant.
fn sum(start: Option<f64>, before: f64, step: f64) -> Vec<Op> {
    vec![
        number(2, 0.0),
        start.map_or(Op::Move { dst: 3.into(), a: 0.into() }, |start| number(3, start)),
        Op::Jump { to: 3.into() },
        add_const(5, 3, before),
        get(4, 5),
        add(2, 2, 4),
        add_const(3, 3, step),
        less(3, 1, 3),
        Op::Return { a: 2.into() },
    ]
}

fn compiles() -> bool {
    azulejo::can_compile().is_ok()
}

fn call(engine: &Engine<Op>, function: FunctionId, vm: &mut Vm, args: [u64; 2]) -> u64 {
    engine.call(function, vm, (args[0], args[1])).expect("it returns")
}

/// The last graph of the optimizer's stages.
fn last_graph(engine: &Engine<Op>, function: FunctionId) -> String {
    let stages = engine.stages(function).expect("it compiles");
    let (_, last) = stages.rsplit_once("== dead").expect("there is such a stage");
    last.split_once("\n== ").expect("others follow").0.to_string()
}

/// Runs code with these arguments in the interpreter, and again and again in an engine that climbs. Returns that, and the function.
fn agree(code: &[Op], items: &[u64], all: &[[u64; 2]]) -> (Engine<Op>, FunctionId) {
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
    args: [u64; 2],
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

fn numbers(values: [f64; 2]) -> [u64; 2] {
    values.map(f64::to_bits)
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

#[test]
fn an_index_that_starts_with_an_argument_is_converted_in_front_of_the_loop() {
    let (engine, mut vm) = (Engine::<Op>::builder().thresholds(5, 20).build(), Vm::of_numbers(100));
    let function = engine.define("sum", sum(None, 0.0, 1.0), 6).expect("it is right");
    for _ in 0..100 {
        let found = call(&engine, function, &mut vm, numbers([10.0, 20.0]));
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
        number(2, 0.0),
        number(0, 0.0),
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
        number(2, 0.0),
        number(3, 0.0),
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
        number(2, 0.0),
        number(3, 0.0),
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
        // The item is checked for a number, not for nil before; the limit is checked in front of the loop.
        let graph = last_graph(&engine, function);
        assert_eq!(graph.matches("= ne.i64").count(), 0, "{graph}");
        assert_eq!(graph.matches("load.i64").count() - graph.matches("ult.i64").count(), 1, "{graph}");
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
        number(3, 0.0),
        Op::Move { dst: 4.into(), a: 3.into() },
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
