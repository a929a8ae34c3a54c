//! Fibers that are resumed and suspended: each keeps its own values, in whatever tier it goes on.

use super::*;

#[test]
fn a_generator_yields_and_is_told_in_every_tier() {
    in_all_ways(|name, engine| {
        let count = engine.define("count", counter(1000), 3).expect("it is right");
        let mut vm = Vm::default();
        let mut fiber = engine.fiber(count, (0i64,)).expect("there is a stack");
        for n in 0..1000 {
            assert_eq!(suspended(fiber.resume(&mut vm, n as u64)), n, "{name}");
        }
        // The first value was for nobody.
        assert_eq!(fiber.resume(&mut vm, 1000), Ok(Resumed::Returned((1..=1000).sum())), "{name}");
        assert!(fiber.has_ended());
        assert_eq!(fiber.resume(&mut vm, 0), Err(Error::FiberEnded), "{name}");
    });
}

#[test]
fn many_fibers_of_one_function_keep_their_own_values() {
    in_all_ways(|name, engine| {
        let count = engine.define("count", counter(i64::MAX), 3).expect("it is right");
        let mut vm = Vm::default();
        let fiber = |n: i64| engine.fiber(count, (n * 1000,)).expect("there is a stack");
        let mut fibers: Vec<_> = (0..200).map(fiber).collect();
        assert_eq!(engine.fibers(), 200);
        for round in 0..50 {
            for (n, fiber) in fibers.iter_mut().enumerate() {
                assert_eq!(suspended(fiber.resume(&mut vm, 0)), n as i64 * 1000 + round, "{name}");
            }
            // Other calls run in between.
            let outside: Result<i64, Error> = engine.call(count, &mut vm, (0i64,));
            assert_eq!(outside, Err(Error::Trap { trap: Trap::NotInFiber, at: 0 }), "{name}");
        }
        fibers.truncate(100);
        assert_eq!(engine.fibers(), 100);
        assert_eq!(suspended(fibers[7].resume(&mut vm, 0)), 7050, "{name}");
    });
}

#[test]
fn producers_and_consumers_meet_in_the_context() {
    in_all_ways(|name, engine| {
        let produce = vec![
            Op::Put { a: 0.into() },
            Op::Yield { dst: 1.into(), a: 0.into() },
            Op::AddConst { dst: 0.into(), a: 0.into(), k: Imm(1) },
            Op::Jump(Label(0)),
        ];
        let consume = vec![
            Op::Take { dst: 1.into() },
            Op::Add { dst: 0.into(), a: 0.into(), b: 1.into() },
            Op::Yield { dst: 1.into(), a: 0.into() },
            Op::Jump(Label(0)),
        ];
        let produce = engine.define("produce", produce, 2).expect("it is right");
        let consume = engine.define("consume", consume, 2).expect("it is right");
        let mut vm = Vm::default();
        let mut producer = engine.fiber(produce, (1i64,)).expect("there is a stack");
        let mut consumer = engine.fiber(consume, ()).expect("there is a stack");
        let mut sum = 0;
        for n in 1..300 {
            assert_eq!(suspended(producer.resume(&mut vm, 0)), n, "{name}");
            sum += n;
            assert_eq!(suspended(consumer.resume(&mut vm, 0)), sum, "{name}");
        }
    });
}

#[test]
fn a_fiber_is_suspended_through_a_hundred_frames() {
    in_all_ways(|name, engine| {
        let deep = engine.define("deep", deep(), 3).expect("it is right");
        let mut vm = Vm::default();
        for _ in 0..20 {
            let mut fiber = engine.fiber(deep, (100i64,)).expect("there is a stack");
            for n in 0..=100 {
                assert_eq!(suspended(fiber.resume(&mut vm, 2)), n, "{name}");
            }
            assert_eq!(fiber.resume(&mut vm, 2), Ok(Resumed::Returned(202)), "{name}");
        }
    });
}

#[test]
fn functions_tier_up_between_suspensions() {
    let engine: Engine<Op> = Engine::<Op>::builder().thresholds(10, 50).build();
    let count = engine.define("count", counter(10_000), 3).expect("it is right");
    let mut vm = Vm::default();
    let mut early = engine.fiber(count, (0i64,)).expect("there is a stack");
    assert_eq!(suspended(early.resume(&mut vm, 0)), 0);
    assert_eq!(engine.tier(count), Tier::Interpreter);
    // Nothing but fibers runs it, and that is enough to be compiled.
    let mut other = engine.fiber(count, (0i64,)).expect("there is a stack");
    for n in 0..5000 {
        assert_eq!(suspended(other.resume(&mut vm, 0)), n);
    }
    assert_eq!(engine.tier(count), Tier::Optimizer);
    // The first one was suspended in the interpreter, and goes on in compiled code.
    let exits = engine.stats().exits;
    for n in 1..10_000 {
        assert_eq!(suspended(early.resume(&mut vm, 1)), n);
    }
    assert_eq!(early.resume(&mut vm, 1), Ok(Resumed::Returned(10_000)));
    assert_eq!(engine.stats().exits, exits);
}

#[test]
fn fibers_nest() {
    in_all_ways(|name, engine| {
        let count = engine.define("count", counter(50), 3).expect("it is right");
        // Yields twice what fiber `r0` yields, until that ends.
        let relay = vec![
            Op::Resume { dst: 1.into(), fiber: 0.into(), a: 2.into() },
            Op::JumpLess { a: 1.into(), b: Imm(0), to: Label(5) },
            Op::Add { dst: 1.into(), a: 1.into(), b: 1.into() },
            Op::Yield { dst: 2.into(), a: 1.into() },
            Op::Jump(Label(0)),
            Op::Return { a: 2.into() },
        ];
        let relay = engine.define("relay", relay, 3).expect("it is right");
        let mut vm = Vm::default();
        vm.fibers.push(engine.owned_fiber(count, (0i64,)).expect("there is a stack"));
        vm.fibers.push(engine.owned_fiber(relay, (0i64,)).expect("there is a stack"));
        let mut outer = engine.fiber(relay, (1i64,)).expect("there is a stack");
        for n in 0..50 {
            assert_eq!(suspended(outer.resume(&mut vm, 0)), 4 * n, "{name}");
        }
        assert!(matches!(outer.resume(&mut vm, 0), Ok(Resumed::Returned(_))), "{name}");
        assert!(vm.fibers.iter().all(Fiber::has_ended));
    });
}

#[test]
fn bytecode_is_made_and_other_engines_run_while_a_fiber_does() {
    in_all_ways(|name, engine| {
        let count = engine.define("count", counter(3), 3).expect("it is right");
        // Making its bytecode takes more of the stack than a fiber has, and runs a function.
        let same = Rc::clone(&engine);
        let late = engine.declare("late", move || {
            fn much(n: u64) -> u64 {
                let all = std::hint::black_box([n; 4096]);
                if n == 0 { all[17] } else { much(n - 1) + all[4095] }
            }
            assert_eq!(much(12), (0..=12).sum());
            let mut vm = Vm::default();
            let outside: Result<i64, Error> = same.call(count, &mut vm, (0i64,));
            assert_eq!(outside, Err(Error::Trap { trap: Trap::NotInFiber, at: 0 }));
            let mut fiber = same.fiber(count, (0i64,)).expect("there is a stack");
            assert_eq!(suspended(fiber.resume(&mut vm, 0)), 0);
            Some((counter(3).into(), 3))
        });
        let call = vec![
            Op::Across { dst: 1.into(), a: 0.into() },
            Op::Log { a: 1.into() },
            Op::Call { dst: 0.into(), function: Imm(late.number()), args: regs(0, 1) },
            Op::Return { a: 0.into() },
        ];
        let call = engine.define("call", call, 2).expect("it is right");
        // The other engine is called from a function that itself calls: on two stacks at once.
        let other = Rc::new(Engine::<Op>::builder().thresholds(5, 20).build());
        let endless =
            vec![Op::Call { dst: 0.into(), function: Imm(0), args: regs(0, 1) }, Op::Return { a: 0.into() }];
        other.define("endless", endless, 1).expect("it is right");
        let resumes =
            vec![Op::Resume { dst: 0.into(), fiber: 0.into(), a: 1.into() }, Op::Return { a: 0.into() }];
        let resumes = other.define("resumes", resumes, 2).expect("it is right");
        let constant = vec![Op::Const { dst: 0.into(), k: Imm(7) }, Op::Return { a: 0.into() }];
        let constant = other.define("constant", constant, 1).expect("it is right");
        let mut vm = Vm { engine: Some(Rc::clone(&other)), callee: Some(constant), ..Vm::default() };
        vm.fibers.push(engine.owned_fiber(call, (0i64,)).expect("there is a stack"));
        for n in 0..3 {
            assert_eq!(other.call::<_, i64>(resumes, &mut vm, (0i64,)), Ok(n), "{name}");
        }
        assert_eq!(vm.log, [7], "{name}");
        assert_eq!(other.call::<_, i64>(resumes, &mut vm, (0i64,)), Ok(-1), "{name}");
        // Its recursion ends on the fiber's stack, too.
        vm.callee = Some(FunctionId::clone(&other.define("late", endless_from(0), 1).expect("it is right")));
        vm.fibers[0] = engine.owned_fiber(call, (0i64,)).expect("there is a stack");
        let result = other.call::<_, i64>(resumes, &mut vm, (0i64,));
        assert_eq!(result, Err(Error::Trap { trap: Trap::User(2), at: 0 }), "{name}");
    });
}

#[test]
fn tail_calls_in_fibers_are_suspended_too() {
    in_all_ways(|name, engine| {
        // Yields its arguments' sum, and calls itself with the numbers after them.
        let code = vec![
            Op::Add { dst: 2.into(), a: 0.into(), b: 1.into() },
            Op::Yield { dst: 2.into(), a: 2.into() },
            Op::AddConst { dst: 0.into(), a: 0.into(), k: Imm(1) },
            Op::TailCall { function: Imm(0), args: regs(0, 2) },
        ];
        let next = engine.define("next", code, 3).expect("it is right");
        let mut vm = Vm::default();
        let mut fibers = [5i64, 100].map(|n| engine.fiber(next, (n, 1i64)).expect("there is a stack"));
        for n in 0..300 {
            assert_eq!(suspended(fibers[0].resume(&mut vm, 0)), n + 6, "{name}");
            assert_eq!(suspended(fibers[1].resume(&mut vm, 0)), n + 101, "{name}");
        }
    });
}
