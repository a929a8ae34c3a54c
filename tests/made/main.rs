//! Memory that nobody needs is not made. A machine of objects in memory that functions of Rust make: every tier has the same results,
//! wherever the optimizer makes the objects, and it makes none that stay in a function.

use azulejo::__private::core::fuzzing::Random;
use azulejo::prelude::*;
use machine::{Op, Vm};
use random::{REGISTERS, program};

mod machine;
mod random;

/// What a program returns in each of some runs, and what was found out of its objects.
fn runs(engine: &Engine<Op>, function: FunctionId, n_runs: u32) -> Vec<(Result<i64, Error>, u32)> {
    let run = |_| {
        let mut vm = Vm::default();
        let result = engine.call(function, &mut vm, ());
        (result, vm.n_seen)
    };
    (0..n_runs).map(run).collect()
}

#[test]
fn random_programs_do_the_same_in_every_tier() {
    let can_compile = azulejo::can_compile().is_ok();
    for seed in 0..if cfg!(miri) { 2 } else { 400 } {
        let code = program(&mut Random::new(seed));
        let define =
            |engine: &Engine<Op>| engine.define("random", code.clone(), REGISTERS).expect("it is right");
        let interpreted = Engine::<Op>::builder().only(Tier::Interpreter).build();
        let expected = runs(&interpreted, define(&interpreted), 1)[0];
        assert!(expected.0.is_ok(), "{expected:?}");
        for tier in [Tier::Baseline, Tier::Optimizer] {
            if !can_compile {
                break;
            }
            let engine = Engine::<Op>::builder().up_to(tier).build();
            let function = define(&engine);
            for n_warm in [0, 1, 2] {
                runs(&engine, function, n_warm);
                engine.compile_in(function, tier).expect("it is compiled");
                for found in runs(&engine, function, 3) {
                    assert_eq!(found, expected, "seed {seed} {tier:?} {n_warm} {code:#?}");
                }
            }
        }
        let climbing = Engine::<Op>::builder().thresholds(2, 10).build();
        let function = define(&climbing);
        for found in runs(&climbing, function, 6) {
            assert_eq!(found, expected, "seed {seed} climbing {code:#?}");
        }
    }
}

/// A loop of so many iterations around some bytecodes, which computes the sum of register 4 in register 7; and how many objects it makes in
/// the interpreter and in the optimizer's code, where it has run before. The results are the same.
fn made(body: &[Op], n: i64) -> [usize; 2] {
    made_behind(&[], body, n)
}

/// The same with some bytecodes in front of the loop.
fn made_behind(before: &[Op], body: &[Op], n: i64) -> [usize; 2] {
    let mut code = vec![
        Op::Number { dst: 4.into(), value: Imm(0) },
        Op::Number { dst: 5.into(), value: Imm(5) },
        Op::Number { dst: 6.into(), value: Imm(6) },
        Op::Number { dst: 7.into(), value: Imm(1) },
        Op::Number { dst: 8.into(), value: Imm(n) },
    ];
    code.extend_from_slice(before);
    let head = code.len() as u32;
    code.extend_from_slice(body);
    code.push(Op::Add { dst: 7.into(), a: 7.into(), b: 4.into() });
    code.push(Op::Count { n: 8.into(), to: Label(head) });
    code.push(Op::Return { a: 7.into() });
    let found = [Tier::Interpreter, Tier::Optimizer].map(|tier| {
        let engine = Engine::<Op>::builder().up_to(tier).build();
        let function = engine.define("made", code.clone(), REGISTERS).expect("it is right");
        let _: i64 = engine.call(function, &mut Vm::default(), ()).expect("nothing fails");
        if tier != Tier::Interpreter {
            engine.compile_in(function, tier).expect("it is compiled");
        }
        let mut vm = Vm::default();
        let result: i64 = engine.call(function, &mut vm, ()).expect("nothing fails");
        (result, vm.objects.len(), vm.n_turns)
    });
    let [interpreted, optimized] = found;
    assert_eq!(interpreted.0, optimized.0, "{body:#?}");
    // What is made is looked at from time to time.
    for (_, made, n_turns) in found {
        assert!((n_turns as usize + 1) * 30 >= made, "{n_turns} turns for {made} objects");
    }
    [interpreted.1, optimized.1]
}

/// Makes an object in register 0.
fn new() -> Op {
    Op::New { dst: 0.into(), a: 7.into(), b: 5.into() }
}

fn get(dst: u32, object: u32, at: u32) -> Op {
    Op::Get { dst: dst.into(), object: object.into(), at: Imm(at) }
}

#[test]
fn what_stays_in_a_function_is_not_made() {
    if azulejo::can_compile().is_err() {
        return;
    }
    assert_eq!(made(&[new(), get(4, 0, 0)], 100), [100, 0]);
    // Nor what is stored in such memory, and what is changed in it.
    let other = Op::New { dst: 1.into(), a: 5.into(), b: 6.into() };
    let held = [
        new(),
        other,
        Op::Hold { object: 0.into(), other: 1.into() },
        Op::Inner { dst: 2.into(), object: 0.into() },
        Op::Set { object: 2.into(), at: Imm(1), value: 7.into() },
        get(4, 1, 1),
    ];
    assert_eq!(made(&held, 100), [200, 0]);
}

/// Makes an object in register 1, from what the one in register 0 has.
fn next() -> [Op; 4] {
    let sum = Op::Add { dst: 4.into(), a: 4.into(), b: 5.into() };
    [get(4, 0, 0), sum, Op::New { dst: 1.into(), a: 4.into(), b: 8.into() }, move_to_0()]
}

fn move_to_0() -> Op {
    Op::Move { dst: 0.into(), a: 1.into() }
}

#[test]
fn what_loops_carry_is_not_made() {
    if azulejo::can_compile().is_err() {
        return;
    }
    assert_eq!(made_behind(&[new()], &next(), 100), [101, 0]);
    // Nor if it is changed in between, in some iterations, by whatever address.
    let own = Op::SetOwn { object: 0.into(), at: Imm(1), value: 6.into() };
    let skip = Op::JumpIfLess { a: 8.into(), b: 6.into(), to: Label(12) };
    let mut body = vec![own, skip];
    body.extend(next());
    body.extend([Op::GetOwn { dst: 3.into(), object: 0.into(), at: Imm(1) }, get(4, 0, 1)]);
    let [all, some] = made_behind(&[new()], &body, 100);
    assert_eq!((all, some), (96, 0));
    // Nor if the one before is changed once there is another.
    let before = Op::Move { dst: 2.into(), a: 0.into() };
    let change = Op::Set { object: 2.into(), at: Imm(1), value: 6.into() };
    let body: Vec<Op> = [before].into_iter().chain(next()).chain([change, get(4, 2, 1)]).collect();
    assert_eq!(made_behind(&[new()], &body, 100), [101, 0]);
    // Nor if the loop starts with what somebody knows, or the one before is there in each iteration.
    let known = [new(), Op::Sum { dst: 7.into(), object: 0.into() }];
    assert_eq!(made_behind(&known, &next(), 100), [101, 1]);
    let handed_on = [get(4, 2, 1), Op::Move { dst: 2.into(), a: 0.into() }];
    let two = [new(), Op::New { dst: 2.into(), a: 7.into(), b: 7.into() }];
    let body: Vec<Op> = handed_on.into_iter().chain(next()).collect();
    assert_eq!(made_behind(&two, &body, 100), [102, 0]);
}

/// Stores the counter by the address that the object in register 0 has of itself.
fn own_set(at: u32) -> Op {
    Op::SetOwn { object: 0.into(), at: Imm(at), value: 8.into() }
}

#[test]
fn what_is_stored_by_an_objects_own_address_is_found() {
    if azulejo::can_compile().is_err() {
        return;
    }
    let leave = Op::LeaveIfRare { a: 8.into(), of: Imm(1023) };
    assert_eq!(made_behind(&[new()], &[leave, get(4, 0, 0), own_set(0)], 100), [1, 0]);
    // The same of what is made in any case.
    let known = [new(), Op::Sum { dst: 7.into(), object: 0.into() }];
    assert_eq!(made_behind(&known, &[get(4, 0, 0), own_set(0)], 100), [1, 1]);
}

#[test]
fn what_is_needed_beside_what_loops_carry_is_made() {
    if azulejo::can_compile().is_err() {
        return;
    }
    // The one before is held, or it is asked whether it is the same one.
    let before = Op::Move { dst: 2.into(), a: 0.into() };
    let held = Op::Hold { object: 1.into(), other: 2.into() };
    let same = Op::Same { dst: 4.into(), a: 0.into(), b: 2.into() };
    for last in [&[held, Op::Sum { dst: 4.into(), object: 1.into() }][..], &[same]] {
        let body: Vec<Op> = [before].into_iter().chain(next()).chain(last.iter().copied()).collect();
        let [all, some] = made_behind(&[new()], &body, 100);
        assert_eq!(all, 101);
        assert!(some >= 99, "{some} objects: {body:#?}");
    }
    // What is stored by the address that an object has of itself is carried along, also where nothing else stores it.
    let [first, second] = [Op::GetOwn { dst: 4.into(), object: 0.into(), at: Imm(2) }, own_set(2)];
    let skip = Op::JumpIfLess { a: 8.into(), b: 6.into(), to: Label(14) };
    let body: Vec<Op> = [first, second, Op::Add { dst: 7.into(), a: 7.into(), b: 4.into() }, skip]
        .into_iter()
        .chain(next())
        .collect();
    assert_eq!(made_behind(&[new()], &body, 100), [96, 0]);
    // There are two names for each, or for the first one: what is stored by one is found by the other.
    let alias = Op::Move { dst: 2.into(), a: 0.into() };
    let found = [Op::Set { object: 0.into(), at: Imm(1), value: 8.into() }, get(5, 2, 1)];
    let for_each: Vec<Op> = found.into_iter().chain(next()).chain([alias]).collect();
    let for_first: Vec<Op> = found.into_iter().chain(next()).collect();
    for body in [for_each, for_first] {
        let [all, some] = made_behind(&[new(), alias], &body, 100);
        assert_eq!(all, 101);
        assert!(some >= 1, "{some} objects: {body:#?}");
    }
}

#[test]
fn what_rare_ways_need_is_made_there() {
    if azulejo::can_compile().is_err() {
        return;
    }
    // One of 64 iterations, and code is left in none.
    let rarely = Op::SumIfRare { dst: 8.into(), object: 0.into(), of: Imm(63) };
    let changed = Op::Set { object: 0.into(), at: Imm(0), value: 6.into() };
    let body = [new(), changed, rarely, Op::Number { dst: 4.into(), value: Imm(2) }];
    let [all, some] = made(&body, 63);
    assert_eq!((all, some), (63, 0));
    // Here it is left: what is made then is what the interpreter goes on with.
    let leave = Op::LeaveIfRare { a: 8.into(), of: Imm(63) };
    let [all, some] = made(&[new(), changed, leave, get(4, 0, 0)], 1000);
    assert_eq!(all, 1000);
    assert!((1..1000).contains(&some), "{some} objects");
}

#[test]
fn what_is_found_by_a_part_of_its_address_is_made() {
    if azulejo::can_compile().is_err() {
        return;
    }
    let body = [
        new(),
        Op::Pack { dst: 10.into(), object: 0.into() },
        Op::Unpack { dst: 1.into(), packed: 10.into() },
        Op::Set { object: 1.into(), at: Imm(0), value: 6.into() },
        get(4, 0, 0),
    ];
    assert_eq!(made(&body, 100), [100, 100]);
}

#[test]
fn what_is_kept_and_used_on_is_made() {
    if azulejo::can_compile().is_err() {
        return;
    }
    let later = Op::Set { object: 0.into(), at: Imm(1), value: 6.into() };
    let keep = Op::KeepIfRare { a: 8.into(), object: 0.into(), of: Imm(3) };
    assert_eq!(made(&[new(), keep, later, Op::SumKept { dst: 4.into() }], 100), [100, 100]);
}

#[test]
fn what_is_needed_on_usual_ways_is_made_with_the_collectors_turns() {
    if azulejo::can_compile().is_err() {
        return;
    }
    let mut body = vec![new(), Op::JumpIfLess { a: 8.into(), b: 6.into(), to: Label(8) }];
    body.push(Op::Sum { dst: 4.into(), object: 0.into() });
    let [all, some] = made(&body, 1000);
    assert_eq!(all, 1000);
    assert!(some >= 900, "{some} objects");
}

#[test]
fn what_goes_elsewhere_is_made() {
    if azulejo::can_compile().is_err() {
        return;
    }
    // In each iteration somebody looks at it; it is asked whether it is the same one as another.
    let seen = Op::SumIfRare { dst: 6.into(), object: 0.into(), of: Imm(0) };
    for body in [
        &[new(), seen, get(4, 0, 1)][..],
        &[new(), Op::Change { object: 0.into() }, get(4, 0, 0)],
        &[new(), Op::Same { dst: 4.into(), a: 0.into(), b: 1.into() }],
    ] {
        let first = Op::New { dst: 1.into(), a: 5.into(), b: 6.into() };
        let body: Vec<Op> = [first].iter().chain(body).copied().collect();
        let [all, some] = made(&body, 100);
        assert_eq!(all, 200);
        assert!(some >= 100, "{some} objects: {body:#?}");
    }
}

/// A row that says of a place what is not so.
#[cfg(debug_assertions)]
mod wrong {
    use azulejo::prelude::*;

    #[derive(Bytecode, Clone, Copy, Debug)]
    pub(super) enum Op {
        Hold { place: In<*mut u64> },
        Return { a: In<u64> },
    }

    template! {
        Op::Hold   => unsafe (holds $place 7 u64)
        Op::Return => (return $a)
    }
}

#[test]
#[cfg(debug_assertions)]
fn debug_builds_of_the_interpreter_look_at_what_places_hold() {
    let engine = Engine::<wrong::Op>::builder().only(Tier::Interpreter).rust_interpreter(true).build();
    let code = vec![wrong::Op::Hold { place: 0.into() }, wrong::Op::Return { a: 0.into() }];
    let function = engine.define("wrong", code, 1).expect("it is right");
    let call = |mut place: u64| -> u64 {
        let address = &raw mut place;
        let given: u64 = engine.call(function, &mut (), (address,)).expect("nothing fails");
        u64::from(given == address.expose_provenance() as u64)
    };
    assert_eq!(call(7), 1);
    let panic = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| call(8))).expect_err("it holds 8");
    let message = panic.downcast_ref::<String>().map(String::as_str);
    assert_eq!(message, Some("a place holds 0x8 where a template says that it holds 0x7"));
}
