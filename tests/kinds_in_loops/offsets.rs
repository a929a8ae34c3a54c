//! Indices beside others: a number that is a constant away from an index is one as well, and is not converted again.

use super::counters::{add_const, agree, get, numbers};
use super::machine::{Op, Vm, add, compiles, last_graph};

/// The sum of the items at r0 + `first`, and at the distances from there.
fn around(first: f64, distances: &[f64]) -> Vec<Op> {
    let mut code = vec![add_const(3, 0, first), get(2, 3)];
    for &distance in distances {
        code.extend([add_const(4, 3, distance), get(5, 4), add(2, 2, 5)]);
    }
    code.push(Op::Return { a: 2.into() });
    code
}

#[test]
fn what_is_beside_an_index_is_not_converted() {
    let vm = Vm::of_numbers(100);
    for (first, distances) in [(0.0, &[1.0, -2.0][..]), (2.5, &[3.0]), (-1.0, &[-1.0, 1.0, 90.0])] {
        let code = around(first, distances);
        let (engine, function) = agree(&code, &vm.items, &[numbers([7.0 - first, 0.0]); 3]);
        assert_eq!(engine.stats().missed, 0);
        if compiles() {
            let graph = last_graph(&engine, function);
            assert_eq!(graph.matches("ftos_least").count(), 1, "{first} {distances:?}: {graph}");
        }
    }
}

/// The first number is whole, and the one beside it is not: one and almost nothing are one.
#[test]
fn what_an_index_is_beside_is_converted() {
    let vm = Vm::of_numbers(100);
    // The number itself is looked up behind r0 + 1.
    let code = vec![add_const(3, 0, 1.0), get(2, 3), get(4, 0), add(2, 2, 4), Op::Return { a: 2.into() }];
    let near = [0.0, 1e-20, -1e-20, 5e-324, -0.0, 0.5, 41.0].map(|start| numbers([start, 0.0]));
    let warm = [numbers([3.0, 0.0]); 2];
    agree(&code, &vm.items, &[&warm[..], &near].concat());
}

#[test]
fn numbers_beside_numbers_are_as_in_the_interpreter() {
    let vm = Vm::of_numbers(50);
    let starts =
        [0.0, -0.0, 0.5, 1e-20, -1.0, -3.0, 47.0, 49.0, 50.0, 2147483648.0, 4294967295.0, 4294967296.0];
    let far = [9007199254740992.0, 9223372036854775808.0, 1e300, f64::INFINITY, f64::NEG_INFINITY, f64::NAN];
    let warm = numbers([4.0, 0.0]);
    for (first, distances) in
        [(0.0, &[1.0, -1.0][..]), (1.0, &[-2.0, 0.0, 4294967296.0]), (-0.5, &[0.5, 1.0])]
    {
        let code = around(first, distances);
        let each = starts.iter().chain(&far).map(|start| numbers([*start, 0.0]));
        let all: Vec<_> = core::iter::once(warm).chain(each).chain([warm]).collect();
        agree(&code, &vm.items, &all);
    }
}
