//! What fibers take, and what they give back.

use super::*;

#[test]
fn dropped_fibers_leave_nothing_behind() {
    in_all_ways(|name, engine| {
        let deep = engine.define("deep", deep(), 3).expect("it is right");
        let mut vm = Vm::default();
        let holders = Rc::strong_count(&engine);
        for depth in 0..60 {
            let mut fiber = engine.owned_fiber(deep, (depth,)).expect("there is a stack");
            (0..depth / 2).for_each(|n| assert_eq!(suspended(fiber.resume(&mut vm, 0)), n, "{name}"));
            drop(fiber);
            assert_eq!((engine.fibers(), Rc::strong_count(&engine)), (0, holders), "{name}");
        }
        // The same stack is used again and again, and what was removed is freed.
        engine.remove(deep).expect("it is the engine's");
        assert_eq!(engine.stats().functions, 0);
        assert_eq!(
            engine.fiber(deep, (0i64,)).and_then(|mut fiber| fiber.resume(&mut vm, 0)),
            Err(Error::Removed)
        );
        assert_eq!(engine.fibers(), 0);
    });
}

#[test]
fn code_is_kept_while_fibers_are_suspended_in_it() {
    in_all_ways(|name, engine| {
        let deep = engine.define("deep", deep(), 3).expect("it is right");
        let mut vm = Vm { engine: Some(Rc::clone(&engine)), callee: Some(deep), ..Vm::default() };
        let mut fibers = Vec::new();
        // Each has code of its own making, of functions that are gone by then.
        for round in 0..40 {
            let mut fiber = engine.fiber(deep, (20i64,)).expect("there is a stack");
            assert_eq!(suspended(fiber.resume(&mut vm, 0)), 0, "{name}");
            fibers.push(fiber);
            engine.discard(deep).expect("it is the engine's");
            if round % 8 == 0 {
                // Other code would take the place of what was freed.
                let other = engine.define("other", counter(round), 3).expect("it is right");
                let _ = engine.compile(other);
            }
        }
        engine.remove(deep).expect("it is the engine's");
        for (at, fiber) in fibers.iter_mut().enumerate() {
            if at % 3 == 0 {
                continue;
            }
            for n in 1..=20 {
                assert_eq!(suspended(fiber.resume(&mut vm, 1)), n, "{name}");
            }
            assert_eq!(fiber.resume(&mut vm, 1), Ok(Resumed::Returned(21)), "{name}");
        }
        drop(fibers);
        assert_eq!(engine.fibers(), 0);
    });
}

#[test]
fn little_code_memory_is_enough_for_many_fibers() {
    let engine: Rc<Engine<Op>> =
        Rc::new(Engine::<Op>::builder().only(Tier::Optimizer).code_bytes(8 << 10).build());
    let mut vm = Vm::default();
    let mut fibers = Vec::new();
    for n in 0..100i64 {
        let count = engine.define("count", counter(n + 3), 3).expect("it is right");
        let call = vec![
            Op::Call { dst: 0.into(), function: Imm(count.number()), args: regs(0, 1) },
            Op::Return { a: 0.into() },
        ];
        let call = engine.define("call", call, 1).expect("it is right");
        let mut fiber = engine.fiber(call, (n,)).expect("there is a stack");
        assert_eq!(suspended(fiber.resume(&mut vm, 0)), n);
        fibers.push(fiber);
    }
    for (n, fiber) in fibers.iter_mut().enumerate() {
        assert_eq!(suspended(fiber.resume(&mut vm, 1)), n as i64 + 1);
        assert_eq!(suspended(fiber.resume(&mut vm, 1)), n as i64 + 2);
        assert_eq!(fiber.resume(&mut vm, 1), Ok(Resumed::Returned(3)));
    }
}

#[test]
fn a_fiber_may_throw_away_what_it_runs() {
    in_all_ways(|name, engine| {
        let code = vec![
            Op::Yield { dst: 1.into(), a: 0.into() },
            Op::Discard,
            Op::AddConst { dst: 0.into(), a: 0.into(), k: Imm(1) },
            Op::Jump(Label(0)),
        ];
        let code = engine.define("discards", code, 2).expect("it is right");
        let call = engine.define("call", endless_from(code.number()), 1).expect("it is right");
        let mut vm = Vm { engine: Some(Rc::clone(&engine)), callee: Some(code), ..Vm::default() };
        let mut fibers = [0i64, 1000].map(|n| engine.fiber(call, (n,)).expect("there is a stack"));
        for n in 0..100 {
            assert_eq!(suspended(fibers[0].resume(&mut vm, 0)), n, "{name}");
            assert_eq!(suspended(fibers[1].resume(&mut vm, 0)), n + 1000, "{name}");
        }
    });
}

/// The pages that the process has in memory, in bytes.
fn resident() -> usize {
    let text = std::fs::read_to_string("/proc/self/statm").expect("Linux has it");
    let pages: usize = text.split(' ').nth(1).and_then(|n| n.parse().ok()).expect("it is a number");
    pages * azulejo::memory::page_size()
}

#[test]
#[cfg(target_os = "linux")]
fn a_hundred_thousand_fibers_fit_in_two_gibibytes() {
    // In a process of its own, where no other test uses memory meanwhile.
    children::child(make_a_hundred_thousand).join();
}

#[cfg(target_os = "linux")]
fn make_a_hundred_thousand() {
    // Where guard pages split mappings, the system's limit of these is a limit of fibers.
    let most = if cfg!(debug_assertions) { 10_000 } else { 100_000 };
    let engine: Engine<Op> = Engine::<Op>::builder().build();
    let deep = engine.define("deep", deep(), 3).expect("it is right");
    let mut vm = Vm::default();
    let before = resident();
    let mut fibers = Vec::new();
    for _ in 0..most {
        match engine.fiber(deep, (3i64,)) {
            Ok(mut fiber) => {
                assert_eq!(suspended(fiber.resume(&mut vm, 0)), 0);
                fibers.push(fiber);
            }
            Err(error) => {
                assert_eq!(error, Error::OutOfFiberStacks);
                assert!(fibers.len() > 30_000, "{}", fibers.len());
                break;
            }
        }
    }
    let each = resident().saturating_sub(before) / fibers.len();
    eprintln!("{} fibers, {each} bytes each", fibers.len());
    // Without optimization, rustc's frames take several times as much of the stack.
    let room = if cfg!(debug_assertions) { 40 << 10 } else { (2 << 30) / 100_000 };
    assert!(each < room, "{each}");
    for fiber in &mut fibers {
        assert_eq!(suspended(fiber.resume(&mut vm, 1)), 1);
    }
    drop(fibers);
    assert_eq!(engine.fibers(), 0);
    let left = resident().saturating_sub(before);
    eprintln!("{left} bytes when they are gone");
    assert!(left < 64 << 20, "{left}");
}

/// A process has addresses for 128 TiB. There are some for three of these stacks, but not for as many as are asked for at once elsewhere.
#[test]
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
fn fewer_stacks_are_made_at_once_where_addresses_are_few() {
    let engine: Engine<Op> = Engine::<Op>::builder().fiber_stack(1 << 45, 10).build();
    let count = engine.define("count", counter(3), 3).expect("it is right");
    let mut vm = Vm::default();
    let mut fibers = Vec::new();
    while let Ok(mut fiber) = engine.fiber(count, ()) {
        assert_eq!(fiber.resume(&mut vm, 0), Ok(Resumed::Suspended(0)));
        fibers.push(fiber);
    }
    assert_eq!(fibers.len(), 3);
}

#[test]
fn stacks_of_any_size_are_asked_for() {
    let count = |engine: &Engine<Op>| engine.define("count", counter(3), 3).expect("it is right");
    for (bytes, slots) in
        [(usize::MAX, 10), (10, usize::MAX), (usize::MAX / 2, usize::MAX / 2), (1 << 60, 10)]
    {
        let engine: Engine<Op> = Engine::<Op>::builder().fiber_stack(bytes, slots).build();
        let count = count(&engine);
        assert_eq!(engine.fiber(count, ()).err(), Some(Error::OutOfFiberStacks));
        assert_eq!(engine.fibers(), 0);
    }
    let mut vm = Vm::default();
    for (slots, expected) in [(2, Err(Error::StackOverflow)), (3, Ok(Resumed::Suspended(0)))] {
        let engine: Engine<Op> = Engine::<Op>::builder().fiber_stack(20_000, slots).build();
        let count = count(&engine);
        let mut fiber = engine.fiber(count, ()).expect("there is a stack");
        assert_eq!(fiber.resume(&mut vm, 0), expected);
    }
    // A large one is used to its end.
    let engine: Engine<Op> = Engine::<Op>::builder().fiber_stack(64 << 20, 1 << 20).build();
    let deep = engine.define("deep", deep(), 3).expect("it is right");
    let mut fiber = engine.fiber(deep, (10_000i64,)).expect("there is a stack");
    assert_eq!(suspended(fiber.resume(&mut vm, 0)), 0);
    let mut fiber = engine.fiber(deep, (i64::MAX,)).expect("there is a stack");
    assert_eq!(fiber.resume(&mut vm, 0), Err(Error::StackOverflow));
}

/// Makes fibers, resumes them, drops them and throws code away, in any order.
#[test]
fn fibers_in_any_order_do_what_calls_do() {
    let mut state = 1u64;
    let mut random = move |below: u64| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) % below
    };
    for (name, builder) in ways() {
        let engine: Rc<Engine<Op>> = Rc::new(builder.code_bytes(16 << 10).build());
        let deep = engine.define("deep", deep(), 3).expect("it is right");
        let count = engine.define("count", counter(40), 3).expect("it is right");
        let mut vm = Vm::default();
        // Each with what it yields next, its last number, what it was told in all, and whether it counts down the stack.
        let mut fibers: Vec<(Fiber<'_, Op>, i64, i64, i64)> = Vec::new();
        for _ in 0..if cfg!(debug_assertions) { 1500 } else { 20_000 } {
            match random(16) {
                0 | 1 if fibers.len() < 50 => {
                    let (function, last) =
                        if random(2) == 0 { (deep, random(30) as i64) } else { (count, 39) };
                    let first = if function == deep { last } else { 0 };
                    let fiber = engine.fiber(function, (first,)).expect("there is a stack");
                    fibers.push((fiber, 0, last, 0));
                }
                2 if !fibers.is_empty() => drop(fibers.swap_remove(random(fibers.len() as u64) as usize)),
                3 if random(4) == 0 => engine.discard(deep).expect("it is the engine's"),
                4 if random(4) == 0 => engine.discard(count).expect("it is the engine's"),
                5 if random(4) == 0 => {
                    let _ = engine.compile(if random(2) == 0 { deep } else { count });
                }
                _ if !fibers.is_empty() => {
                    let at = random(fibers.len() as u64) as usize;
                    let (fiber, next, last, sum) = &mut fibers[at];
                    let told = random(1000) as i64;
                    *sum += if *next > 0 { told } else { 0 };
                    let resumed = fiber.resume(&mut vm, told as u64);
                    if *next <= *last {
                        assert_eq!(suspended(resumed), *next, "{name}");
                        *next += 1;
                    } else {
                        assert_eq!(resumed, Ok(Resumed::Returned(*sum as u64)), "{name}");
                        drop(fibers.swap_remove(at));
                    }
                }
                _ => {}
            }
        }
        drop(fibers);
        assert_eq!(engine.fibers(), 0, "{name}");
    }
}

#[test]
fn code_that_no_fiber_is_in_is_freed_while_others_wait() {
    let engine: Engine<Op> = Engine::<Op>::builder().only(Tier::Optimizer).build();
    let count = engine.define("count", counter(i64::MAX), 3).expect("it is right");
    let constant = vec![Op::Const { dst: 0.into(), k: Imm(7) }, Op::Return { a: 0.into() }];
    let constant = engine.define("constant", constant, 1).expect("it is right");
    let call = engine.define("call", endless_from(constant.number()), 1).expect("it is right");
    // One that resumes another, so that both the thread's stack and a fiber's are left in the middle.
    let resume = vec![
        Op::Resume { dst: 0.into(), fiber: 1.into(), a: 0.into() },
        Op::Call { dst: 0.into(), function: Imm(constant.number()), args: regs(0, 0) },
        Op::Yield { dst: 0.into(), a: 0.into() },
        Op::Jump(Label(0)),
    ];
    let resume = engine.define("resume", resume, 2).expect("it is right");
    let discards = vec![
        Op::Call { dst: 0.into(), function: Imm(constant.number()), args: regs(0, 0) },
        Op::Discard,
        Op::Yield { dst: 0.into(), a: 0.into() },
        Op::Jump(Label(0)),
    ];
    let discards = engine.define("discards", discards, 1).expect("it is right");
    let engine = Rc::new(engine);
    let mut vm = Vm { engine: Some(Rc::clone(&engine)), callee: Some(constant), ..Vm::default() };
    vm.fibers.push(engine.owned_fiber(discards, ()).expect("there is a stack"));
    // What is compiled in a fiber leaves it for that time; this one is left by nothing but its suspension.
    engine.compile(count).expect("there is room");
    let mut waiting = engine.owned_fiber(count, (0i64,)).expect("there is a stack");
    suspended(waiting.resume(&mut vm, 0));
    let mut resuming = engine.owned_fiber(resume, ()).expect("there is a stack");
    let mut most = 0;
    for round in 0..500 {
        assert_eq!(engine.call::<_, i64>(call, &mut vm, (0i64,)), Ok(7));
        assert_eq!(suspended(resuming.resume(&mut vm, 0)), 7);
        engine.discard(constant).expect("it is the engine's");
        let used = engine.stats().code_used;
        match round {
            ..100 => most = most.max(used),
            _ => assert!(used <= most, "{used} bytes in round {round}, {most} before"),
        }
    }
}

/// A fiber throws away the code of the one that resumed it, and of the call that resumed that.
#[test]
fn code_is_kept_while_it_waits_for_a_fiber() {
    in_all_ways(|name, engine| {
        let inner = vec![
            Op::Yield { dst: 1.into(), a: 0.into() },
            Op::Discard,
            Op::AddConst { dst: 0.into(), a: 0.into(), k: Imm(1) },
            Op::Jump(Label(0)),
        ];
        let inner = engine.define("inner", inner, 2).expect("it is right");
        // Resumes the fiber of its argument.
        let relay = vec![
            Op::Resume { dst: 1.into(), fiber: 0.into(), a: 1.into() },
            Op::AddConst { dst: 1.into(), a: 1.into(), k: Imm(1) },
            Op::Return { a: 1.into() },
        ];
        let relay = engine.define("relay", relay, 2).expect("it is right");
        let call = engine.define("call", endless_from(relay.number()), 1).expect("it is right");
        let outer = vec![
            Op::Call { dst: 1.into(), function: Imm(relay.number()), args: regs(0, 1) },
            Op::Yield { dst: 2.into(), a: 1.into() },
            Op::Jump(Label(0)),
        ];
        let outer = engine.define("outer", outer, 3).expect("it is right");
        let mut vm =
            Vm { engine: Some(Rc::clone(&engine)), callee: Some(relay), fillers: 2, ..Vm::default() };
        vm.fibers.push(engine.owned_fiber(inner, (0i64,)).expect("there is a stack"));
        // It resumes the fiber at 0, which is in front of it once it was taken out.
        vm.fibers.push(engine.owned_fiber(outer, (0i64,)).expect("there is a stack"));
        for n in 0..100 {
            assert_eq!(engine.call::<_, i64>(call, &mut vm, (1i64,)), Ok(n + 2), "{name}");
        }
    });
}
