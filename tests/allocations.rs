//! Objects that do not escape are made like others, in every tier: no pass leaves them out. A pass that does so changes this test.

use azulejo::prelude::*;

#[derive(Fields, Clone, Copy)]
#[repr(C)]
struct Point {
    x: i64,
    y: i64,
}

/// Where objects are made.
#[derive(Default)]
struct Heap {
    made: usize,
}

#[derive(Bytecode, Clone, Copy, Debug)]
#[bytecode(context = Heap)]
enum Op {
    New { dst: Out<*const Point>, x: In<i64>, y: In<i64> },
    X { dst: Out<i64>, point: In<*const Point> },
    Add { dst: Out<i64>, a: In<i64>, b: In<i64> },
    Count { n: InOut<i64>, to: Label },
    Return { a: In<i64> },
}

template! {
    Op::New => (call new (arglist (carg (tc) ptr) (carg $x i64) (carg $y i64)) ptr)
    Op::X => unsafe (load $point (&field Point, x))
    Op::Add => (add $a $b)
    Op::Count! => (dov (set $n (sub $n 1)) (when (nz $n) (branch $to)))
    Op::Return => (return $a)
}

fn new(heap: &mut Heap, x: i64, y: i64) -> *const Point {
    heap.made += 1;
    let point = Box::leak(Box::new(Point { x, y }));
    assert_eq!(point.y, y);
    point
}

#[test]
fn what_does_not_escape_is_made() {
    for tier in [Tier::Interpreter, Tier::Baseline, Tier::Optimizer] {
        if tier > Tier::Interpreter && azulejo::can_compile().is_err() {
            continue;
        }
        let engine: Engine<Op> = Engine::<Op>::builder().only(tier).build();
        let code = vec![
            Op::New { dst: 2.into(), x: 0.into(), y: 1.into() },
            Op::X { dst: 3.into(), point: 2.into() },
            Op::Add { dst: 4.into(), a: 4.into(), b: 3.into() },
            Op::Count { n: 0.into(), to: Label(0) },
            Op::Return { a: 4.into() },
        ];
        let function = engine.define("sum", code, 5).expect("it is right");
        let mut heap = Heap::default();
        assert_eq!(engine.call::<_, i64>(function, &mut heap, (100i64, 7i64)), Ok(5050), "{tier:?}");
        assert_eq!(heap.made, 100, "{tier:?}");
    }
}
