//! `(outside $site …)`: what no case of a site tells of. Every tier has the same results; the optimizer's code has nothing for it as long as the
//! bytecode has seen only what its cases tell of, and is made anew when it does see something else, once.

use azulejo::prelude::*;
use azulejo::{Statistics, Trap};

/// What a bytecode knows of objects that are added.
#[derive(Fields, Clone, Copy, Debug, PartialEq)]
#[repr(C)]
struct Class {
    class: u32,
    factor: u32,
}

/// An object of a class that says by what its value is multiplied.
#[derive(Fields)]
#[repr(C, align(8))]
struct Object {
    class: u32,
    value: u32,
}

/// Odd words are numbers, all others are addresses of objects.
fn number(value: u32) -> u64 {
    u64::from(value) << 1 | 1
}

#[derive(Bytecode, Clone, Copy, Debug)]
enum Op {
    Add { sum: InOut<u64>, a: In<u64>, seen: Site<Class, 2> },
    AddIfLess { sum: InOut<u64>, a: In<u64>, seen: Site<Class, 2> },
    Item { dst: Out<u64>, list: In<u64>, at: In<u64> },
    Count { n: InOut<u64>, to: Label },
    Return { a: In<u64> },
}

template! {
    macro ^value_of_object () (cached $seen Class (eq (load $a (&field Object, class)) (case class))
        (ucast (mul (load $a (&field Object, value)) (case factor)) u64)
        (slow look (arglist (carg $a ptr) (carg $seen ptr)) u64))
    Op::Add => unsafe (add $sum (if (likely (nz (and $a 1))) (outside $seen (shr $a 1)) (^value_of_object)))
    Op::AddIfLess => unsafe (if (if (likely (nz (and $a 1))) (outside $seen (ult (shr $a 1) $sum)) (ult (^value_of_object) $sum))
        (add $sum 1)
        $sum)
    Op::Item => unsafe (load (idx $list $at 8) u64)
    Op::Count! => (letv: (($next (sub $n 1)))
        (dov (set $n $next) (when (nz $next) (branch $to))))
    Op::Return => (return $a)
}

/// The value of an object, which is noted. A class's factor is its number, and one more.
fn look(object: &Object, cases: Cases<'_, Class>) -> Result<u64, Trap> {
    let Object { class, value } = *object;
    let case = Class { class, factor: class + 1 };
    if cases.iter().all(|known| known != case) {
        cases.add(case);
    }
    Ok(u64::from(value.wrapping_mul(class + 1)))
}

/// The sum of a list's items but the first, and how many were less than what there was.
fn sum() -> Vec<Op> {
    vec![
        Op::Item { dst: 3.into(), list: 0.into(), at: 1.into() },
        Op::Add { sum: 2.into(), a: 3.into(), seen: Site::new() },
        Op::AddIfLess { sum: 2.into(), a: 3.into(), seen: Site::new() },
        Op::Count { n: 1.into(), to: Label(0) },
        Op::Return { a: 2.into() },
    ]
}

fn expected(items: &[u64], objects: &[Object]) -> u64 {
    let values = items.iter().rev().map(|item| match item & 1 {
        1 => item >> 1,
        _ => {
            let is_it = |object: &&Object| std::ptr::from_ref(*object).addr() as u64 == *item;
            let Object { class, value } = *objects.iter().find(is_it).expect("it is an object");
            u64::from(value.wrapping_mul(class + 1))
        }
    });
    values.fold(0, |sum, value| {
        let sum = sum + value;
        sum + u64::from(value < sum)
    })
}

struct Machine {
    engine: Engine<Op>,
    function: FunctionId,
    objects: Vec<Object>,
}

impl Machine {
    fn new(builder: azulejo::Builder) -> Machine {
        let engine: Engine<Op> = builder.build();
        let function = engine.define("sum", sum(), 4).expect("it is right");
        let objects = (0..12).map(|at| Object { class: at % 4, value: 10 * at + 1 }).collect();
        Machine { engine, function, objects }
    }

    fn object(&self, at: usize) -> u64 {
        std::ptr::from_ref(&self.objects[at]).expose_provenance() as u64
    }

    /// Calls the function so many times.
    fn call(&self, items: &[u64], times: usize) {
        let list: Vec<u64> = [0].iter().chain(items).copied().collect();
        for _ in 0..times {
            let arguments = (list.as_ptr().expose_provenance() as u64, items.len() as u64, 0u64);
            let sum: u64 = self.engine.call(self.function, &mut (), arguments).expect("nothing fails");
            assert_eq!(sum, expected(items, &self.objects));
        }
    }

    fn stats(&self) -> (u64, u64) {
        let Statistics { missed, optimizer, .. } = self.engine.stats();
        (missed, optimizer.compiled)
    }
}

#[test]
fn every_tier_does_the_same() {
    for builder in [
        Engine::<Op>::builder().only(Tier::Interpreter).rust_interpreter(true),
        Engine::<Op>::builder().only(Tier::Interpreter),
        Engine::<Op>::builder().only(Tier::Baseline),
        Engine::<Op>::builder().only(Tier::Optimizer),
        Engine::<Op>::builder(),
    ] {
        let machine = Machine::new(builder);
        let (numbers, objects) = ([1, 2, 3, 40].map(number), [0, 4, 8].map(|at| machine.object(at)));
        let mixed: Vec<u64> = numbers.iter().chain(&objects).copied().collect();
        let classes: Vec<u64> = (0..12).map(|at| machine.object(at)).collect();
        for items in [&numbers[..], &objects, &mixed, &classes, &numbers, &objects] {
            machine.call(items, 300);
        }
    }
}

#[test]
fn code_that_has_seen_objects_has_nothing_for_numbers_until_there_are_some() {
    let machine = Machine::new(Engine::<Op>::builder().thresholds(10, 1000));
    let (numbers, objects) = ([1, 2, 3, 40].map(number), [0, 4, 8].map(|at| machine.object(at)));
    machine.call(&objects, 5000);
    let (missed, first) = machine.stats();
    assert_eq!(missed, 0);
    assert!(first > 0, "it is optimized");
    // It is left for the first number, and is made anew, for each of the two bytecodes at most; then it has both.
    machine.call(&numbers, 5000);
    let (missed, compiled) = machine.stats();
    assert!(missed > 0, "the code had numbers without having seen any");
    assert!(compiled - first <= 2, "{} compilations more", compiled - first);
    machine.call(&objects, 5000);
    machine.call(&numbers, 5000);
    assert_eq!(machine.stats(), (missed, compiled), "now it has both");
}

#[test]
fn a_program_that_changes_its_mind_is_compiled_a_few_times() {
    let machine = Machine::new(Engine::<Op>::builder().thresholds(10, 1000));
    for round in 0..400 {
        let items: Vec<u64> = match round % 3 {
            0 => (0..8).map(number).collect(),
            1 => (0..round % 12 + 1).map(|at| machine.object(at)).collect(),
            _ => {
                (0..8).map(|at| if at % 2 == 0 { number(at) } else { machine.object(at as usize) }).collect()
            }
        };
        machine.call(&items, 20);
    }
    let (missed, compiled) = machine.stats();
    assert!(compiled <= 12, "{compiled} compilations, {missed} misses");
}
