//! Calls that the optimizer inlines: results, failures, fuel and backtraces are those of calls, in every tier, wherever control leaves
//! the code in the middle of an inlined function.

mod machine;
mod random;
mod refused;

use azulejo::Error;
use azulejo::prelude::*;
use machine::{Object, Op, Program, Vm, Way, Whole, can_compile, r};

/// Runs functions in every way, calls the last one with these arguments, several times, and says how many calls were inlined in code that
/// was made before any call.
fn agree(code: &[(Vec<Op>, u32)], arguments: &[(i64, i64)]) -> u64 {
    let mut inlined = 0;
    let rust = Program::new(Way::Rust.builder().backtraces(true), code);
    let expected: Vec<_> = arguments.iter().map(|args| rust.call(*args)).collect();
    for way in Way::ALL {
        for backtraces in [true, false] {
            let program = Program::new(way.builder().backtraces(backtraces), code);
            for round in 0..12 {
                for (args, (result, backtrace, slow)) in arguments.iter().zip(&expected) {
                    let found = program.call(*args);
                    assert_eq!(found.0, *result, "{way:?}, round {round} of {args:?}");
                    assert_eq!(found.2, *slow, "{way:?}, round {round} of {args:?}");
                    if backtraces {
                        assert_eq!(found.1, *backtrace, "{way:?}, round {round} of {args:?}");
                    }
                }
            }
            match way {
                Way::Optimizer => inlined = program.engine.stats().inlined,
                Way::WithoutInlining => assert_eq!(program.engine.stats().inlined, 0),
                _ => {}
            }
        }
    }
    inlined
}

/// A function of two arguments that adds them.
fn sum() -> (Vec<Op>, u32) {
    (vec![Op::Add { dst: r(0), a: r(0), b: r(1) }, Op::Return { a: r(0) }], 2)
}

/// A function that calls another as often as its second argument says, each time with the sum so far and the rest of the count.
fn in_loop(call: Op) -> (Vec<Op>, u32) {
    let code = vec![
        Op::Const { dst: r(2), k: Imm(7) },
        call,
        Op::Add { dst: r(2), a: r(2), b: r(0) },
        Op::CountDown { n: r(1), to: Label(1) },
        Op::Return { a: r(2) },
    ];
    (code, 4)
}

fn call_two(f: u32) -> Op {
    Op::CallTwo { dst: r(0), f: Imm(f), a: r(0), b: r(1) }
}

#[test]
fn small_functions_are_inlined() {
    let inlined = agree(&[sum(), in_loop(call_two(0))], &[(1, 5), (3, 1), (-8, 100)]);
    assert_eq!(inlined, can_compile() as u64);
    // Three deep, and twice in one function.
    let twice = (vec![call_two(0), call_two(0), Op::Return { a: r(0) }], 2);
    let again = (vec![call_two(1), Op::AddK { dst: r(0), a: r(0), k: Imm(3) }, Op::Return { a: r(0) }], 2);
    let inlined = agree(&[sum(), twice, again, in_loop(call_two(2))], &[(1, 5), (3, 1), (-8, 100)]);
    if can_compile() {
        assert!(inlined >= 4, "{inlined}");
    }
}

#[test]
fn calls_of_every_form() {
    let run = |first, count| Op::Call { dst: r(0), f: Imm(0), args: Regs { first, count } };
    let forms = [
        run(0, 0),
        run(0, 1),
        run(0, 2),
        run(1, 1),
        Op::CallUnless { dst: r(0), f: Imm(0), a: r(1) },
        Op::CallForNothing { f: Imm(0), a: r(1) },
        Op::CallNarrow { dst: r(0), f: Imm(0), a: r(1) },
        Op::CallAndAdd { dst: r(0), f: Imm(0), a: r(1) },
    ];
    for (number, form) in forms.into_iter().enumerate() {
        let inlined = agree(&[sum(), in_loop(form)], &[(1, 5), (3, 1), (-8, 100), (1 << 40, 3)]);
        let is_inlined = !matches!(form, Op::CallAndAdd { .. });
        assert_eq!(inlined, (is_inlined && can_compile()) as u64, "form {number}");
    }
    // A callee that returns nothing, and one with too many arguments.
    let nothing = (vec![Op::ReturnNothing], 2);
    agree(&[nothing, in_loop(call_two(0))], &[(4, 3)]);
    let few = (vec![Op::Const { dst: r(0), k: Imm(4) }, Op::Return { a: r(0) }], 1);
    agree(&[few, in_loop(call_two(0))], &[(4, 3)]);
}

#[test]
fn floats_and_the_operand_stack() {
    let product = (vec![Op::MulFloat { dst: r(0), a: r(0), b: r(1) }, Op::ReturnFloat { a: r(0) }], 2);
    let code = vec![
        Op::CallFloat { dst: r(2), f: Imm(0), a: r(0), b: r(0) },
        Op::CallFloat { dst: r(0), f: Imm(0), a: r(2), b: r(0) },
        Op::CountDown { n: r(1), to: Label(0) },
        Op::Return { a: r(0) },
    ];
    let bits = |value: f64| value.to_bits() as i64;
    agree(&[product, (code, 3)], &[(bits(1.5), 3), (bits(-0.5), 1), (bits(f64::INFINITY), 2)]);
    let stack = vec![
        Op::Push { a: r(0), top: Push::default() },
        Op::Push { a: r(1), top: Push::default() },
        Op::CallPushed { f: Imm(0), a: Pop::default(), result: Push::default() },
        Op::PopAdd { a: Pop::default(), b: Pop::default(), sum: Push::default() },
        Op::Pop { dst: r(0), top: Pop::default() },
        Op::Return { a: r(0) },
    ];
    let outer = vec![
        Op::Push { a: r(1), top: Push::default() },
        call_two(1),
        Op::CallPushed { f: Imm(0), a: Pop::default(), result: Push::default() },
        Op::Pop { dst: r(1), top: Pop::default() },
        Op::Add { dst: r(0), a: r(0), b: r(1) },
        Op::Return { a: r(0) },
    ];
    agree(&[sum(), (stack, 2), (outer, 2)], &[(1, 2), (-5, 9)]);
}

/// Bytecodes of a function of two arguments in the middle of which something happens.
fn middles() -> Vec<Vec<Op>> {
    vec![
        vec![Op::Leave { a: r(0) }],
        vec![Op::LeaveBehind { a: r(1) }],
        vec![Op::Refuse { a: r(1) }],
        vec![Op::Divide { dst: r(0), a: r(0), b: r(1) }],
        vec![Op::AddSmall { dst: r(0), a: r(0), b: r(1) }],
        vec![Op::Less { a: r(0), b: r(1), to: Label(2) }, Op::LeaveBehind { a: r(0) }],
        vec![Op::AddK { dst: r(2), a: r(0), k: Imm(3) }, Op::Leave { a: r(2) }, Op::LeaveBehind { a: r(2) }],
    ]
}

#[test]
fn control_leaves_in_the_middle() {
    let arguments = [(1, 5), (2, 1), (-8, 9), (0, 3), (1500, 2), (995, 20), (1999, 1), (7, 6)];
    for middle in middles() {
        let n = middle.len() as u32;
        let inner = [middle, vec![Op::Add { dst: r(0), a: r(0), b: r(2) }, Op::Return { a: r(0) }]].concat();
        let between = vec![
            Op::Mul { dst: r(3), a: r(0), b: r(1) },
            call_two(0),
            Op::Add { dst: r(0), a: r(0), b: r(3) },
            Op::Return { a: r(0) },
        ];
        let inlined = agree(&[(inner.clone(), 3), in_loop(call_two(0))], &arguments);
        assert_eq!(inlined > 0, can_compile(), "{inner:?}");
        agree(&[(inner.clone(), 3), (between, 4), in_loop(call_two(1))], &arguments);
        // A loop in the callee, around all of that.
        let mut looping = vec![Op::Const { dst: r(2), k: Imm(1) }, Op::Const { dst: r(3), k: Imm(4) }];
        looping.extend(inner.iter().map(|op| match *op {
            Op::Less { a, b, to } => Op::Less { a, b, to: Label(to.0 + 2) },
            op => op,
        }));
        looping.insert(2 + n as usize, Op::CountDown { n: r(3), to: Label(2) });
        agree(&[(looping, 4), in_loop(call_two(0))], &arguments);
    }
}

#[test]
fn recursion_is_unrolled_once() {
    // fib(n), and a sum of two results.
    let fib = vec![
        Op::Const { dst: r(1), k: Imm(2) },
        Op::Less { a: r(0), b: r(1), to: Label(7) },
        Op::AddK { dst: r(1), a: r(0), k: Imm(-1) },
        Op::Call { dst: r(1), f: Imm(0), args: Regs { first: 1, count: 1 } },
        Op::AddK { dst: r(0), a: r(0), k: Imm(-2) },
        Op::Call { dst: r(0), f: Imm(0), args: Regs { first: 0, count: 1 } },
        Op::Add { dst: r(0), a: r(0), b: r(1) },
        Op::Return { a: r(0) },
    ];
    agree(&[(fib.clone(), 2)], &[(1, 0), (2, 0), (3, 0), (15, 0)]);
    let endless = vec![Op::AddK { dst: r(0), a: r(0), k: Imm(1) }, call_two(0), Op::Return { a: r(0) }];
    for way in Way::ALL {
        let program = Program::new(way.builder(), &[(endless.clone(), 2)]);
        for _ in 0..6 {
            assert_eq!(program.call((0, 0)).0, Err(Error::StackOverflow), "{way:?}");
        }
    }
}

/// The callee of a tail call takes its caller's place, wherever control leaves it, and however it fails.
#[test]
fn tail_calls_of_inlined_functions_are_inlined() {
    let arguments = [(1, 5), (2, 1), (-8, 9), (0, 3), (1500, 2), (995, 20), (1999, 1), (7, 6)];
    let run = Op::Tail { f: Imm(0), args: Regs { first: 0, count: 2 } };
    for tail in [Op::TailTwo { f: Imm(0), a: r(0), b: r(1) }, run] {
        for middle in middles() {
            let inner =
                [middle, vec![Op::Add { dst: r(0), a: r(0), b: r(2) }, Op::Return { a: r(0) }]].concat();
            let through = vec![Op::AddK { dst: r(0), a: r(0), k: Imm(2) }, tail];
            let inlined =
                agree(&[(inner.clone(), 3), (through.clone(), 2), in_loop(call_two(1))], &arguments);
            assert_eq!(inlined, 2 * can_compile() as u64, "{inner:?}");
            // The second of two, and in a function that is inlined itself.
            let again =
                vec![Op::Mul { dst: r(1), a: r(1), b: r(0) }, Op::TailTwo { f: Imm(1), a: r(0), b: r(1) }];
            let around = vec![
                Op::Mul { dst: r(3), a: r(0), b: r(1) },
                call_two(2),
                Op::Add { dst: r(0), a: r(0), b: r(3) },
                Op::Return { a: r(0) },
            ];
            let code = [(inner, 3), (through, 2), (again, 2), (around, 4), in_loop(call_two(3))];
            let inlined = agree(&code, &arguments);
            assert!(inlined >= 4 * can_compile() as u64, "{inlined}");
        }
    }
    // In front of other bytecodes.
    let may_go_on = vec![
        Op::TailIfLarge { f: Imm(0), a: r(1) },
        Op::AddK { dst: r(0), a: r(0), k: Imm(7) },
        Op::Return { a: r(0) },
    ];
    let inlined = agree(&[sum(), (may_go_on, 2), in_loop(call_two(1))], &[(1, 30), (3, 9), (-8, 15)]);
    assert_eq!(inlined, 2 * can_compile() as u64);
    // Nothing but the callee returns.
    let or_fails = vec![Op::TailIfLarge { f: Imm(0), a: r(1) }, Op::Fail];
    let caller = vec![
        Op::Mul { dst: r(2), a: r(0), b: r(1) },
        Op::CallTwo { dst: r(0), f: Imm(1), a: r(0), b: r(1) },
        Op::Add { dst: r(0), a: r(0), b: r(2) },
        Op::Return { a: r(0) },
    ];
    let inlined = agree(&[sum(), (or_fails, 2), (caller, 3)], &[(1, 30), (3, 9), (-8, 15)]);
    assert_eq!(inlined, 2 * can_compile() as u64);
}

/// What a function does at its end is not unrolled, and what it calls there is not inlined without it.
#[test]
fn tail_calls_of_oneself_are_not_inlined() {
    let count = vec![
        Op::AddK { dst: r(0), a: r(0), k: Imm(1) },
        Op::CountDown { n: r(1), to: Label(3) },
        Op::Return { a: r(0) },
        Op::TailTwo { f: Imm(0), a: r(0), b: r(1) },
    ];
    let inlined = agree(&[(count, 2), in_loop(call_two(0))], &[(1, 5), (2, 1), (7, 200)]);
    assert_eq!(inlined, 0);
    let ping = vec![Op::CountDown { n: r(1), to: Label(2) }, Op::Return { a: r(0) }];
    let [ping, pong] = [1, 0].map(|other| {
        [
            ping.clone(),
            vec![Op::AddK { dst: r(0), a: r(0), k: Imm(1) }, Op::TailTwo { f: Imm(other), a: r(0), b: r(1) }],
        ]
        .concat()
    });
    let inlined = agree(&[(ping, 2), (pong, 2), in_loop(call_two(0))], &[(1, 5), (2, 1), (7, 200)]);
    assert_eq!(inlined, 0);
}

/// A tail call of what a site knows.
#[test]
fn methods_take_the_place_of_inlined_functions() {
    let [twice, square, _] = methods();
    let through = vec![
        Op::TailMethod { object: r(0), a: r(1), cache: Site::new() },
        Op::Method { dst: r(1), object: r(0), a: r(1), cache: Site::new() },
        Op::Return { a: r(1) },
    ];
    let caller = vec![call_two(2), Op::AddK { dst: r(0), a: r(0), k: Imm(1) }, Op::Return { a: r(0) }];
    for way in Way::ALL {
        let program = Program::new(
            way.builder(),
            &[twice.clone(), square.clone(), (through.clone(), 2), (caller.clone(), 2)],
        );
        let (engine, functions) = (&program.engine, &program.functions);
        let object = |class, number: usize| Object {
            class,
            method: engine.callable(functions[number]).expect("it is there"),
        };
        let (one, other) = (object(1, 0), object(2, 1));
        let call = |vm: &mut Vm, object: &Object, n: i64| {
            engine
                .call::<_, i64>(functions[3], vm, (std::ptr::from_ref(object), n))
                .expect("it does not fail")
        };
        let mut vm = Vm::default();
        for n in 0..60 {
            assert_eq!(call(&mut vm, &one, n), 2 * n + 1, "{way:?}");
        }
        for n in 0..200 {
            assert_eq!(call(&mut vm, &other, n), n * n + 1, "{way:?}");
            assert_eq!(call(&mut vm, &one, n), 2 * n + 1, "{way:?}");
        }
        if way == Way::TieringUp && can_compile() {
            assert!(engine.stats().inlined > 1, "{}", engine.stats());
        }
    }
}

/// What a function reads that never changes is read when it runs, and not before it is known that it is the one.
#[test]
fn what_never_changes_is_read_behind_the_check_of_the_callee() {
    let [twice, square, _] = methods();
    let with_part = vec![
        Op::Part { dst: r(2), object: r(0) },
        Op::Add { dst: r(1), a: r(1), b: r(2) },
        Op::Return { a: r(1) },
    ];
    // The object stays the same in the loop, and so does what its method reads.
    let caller = vec![
        Op::Const { dst: r(2), k: Imm(5) },
        Op::Method { dst: r(1), object: r(0), a: r(1), cache: Site::new() },
        Op::CountDown { n: r(2), to: Label(1) },
        Op::Return { a: r(1) },
    ];
    for way in Way::ALL {
        let code = [twice.clone(), square.clone(), (with_part.clone(), 3), (caller.clone(), 3)];
        let program = Program::new(way.builder(), &code);
        let (engine, functions) = (&program.engine, &program.functions);
        let part = 1000;
        let object = |class, number: usize, part| Whole {
            object: Object { class, method: engine.callable(functions[number]).expect("it is there") },
            part,
        };
        let (whole, other) = (object(1, 2, &raw const part), object(2, 0, std::ptr::dangling()));
        let call = |object: &Whole, n: i64| {
            let args = (std::ptr::from_ref(object), n);
            engine.call::<_, i64>(functions[3], &mut Vm::default(), args).expect("it does not fail")
        };
        for n in 0..200 {
            assert_eq!(call(&whole, n), n + 5000, "{way:?}");
            assert_eq!(call(&other, n), n * 32, "{way:?}");
        }
        if way == Way::TieringUp && can_compile() {
            assert!(engine.stats().inlined > 1, "{}", engine.stats());
        }
    }
}

#[test]
fn fuel_is_spent_as_by_calls() {
    let inner =
        vec![Op::Leave { a: r(0) }, Op::AddK { dst: r(0), a: r(0), k: Imm(1) }, Op::Return { a: r(0) }];
    let middle = vec![
        Op::Const { dst: r(2), k: Imm(3) },
        call_two(0),
        Op::CountDown { n: r(2), to: Label(1) },
        Op::Return { a: r(0) },
    ];
    let code = [(inner, 2), (middle, 3), in_loop(call_two(1))];
    let left = |way: Way, fuel: u64| -> Vec<(Result<i64, Error>, u64)> {
        let program = Program::new(way.builder().fuel(fuel), &code);
        (0..8).map(|_| (program.call((1, 6)).0, program.engine.fuel().unwrap_or(0))).collect()
    };
    for fuel in [10_000, 200, 60, 23] {
        assert_eq!(left(Way::Optimizer, fuel), left(Way::WithoutInlining, fuel), "with {fuel}");
    }
}

#[test]
fn interrupts_come_in_inlined_loops() {
    let forever = vec![
        Op::AddK { dst: r(0), a: r(0), k: Imm(2) },
        Op::Less { a: r(1), b: r(0), to: Label(0) },
        Op::Return { a: r(0) },
    ];
    for way in Way::ALL {
        let program = Program::new(way.builder(), &[(forever.clone(), 2), in_loop(call_two(0))]);
        let interrupter = program.engine.interrupter();
        let thread = std::thread::spawn(move || {
            std::thread::sleep(std::time::Duration::from_millis(30));
            interrupter.interrupt();
        });
        let error = program.call((0, -5)).0.expect_err("nothing else ends it");
        assert!(matches!(error, Error::Interrupted { at: 1 }), "{way:?}: {error:?}");
        thread.join().expect("it only sleeps");
    }
}

/// Calls the method of an object, with itself and a number.
fn methods() -> [(Vec<Op>, u32); 3] {
    let twice = (vec![Op::Add { dst: r(0), a: r(1), b: r(1) }, Op::Return { a: r(0) }], 2);
    let square = (vec![Op::Mul { dst: r(0), a: r(1), b: r(1) }, Op::Return { a: r(0) }], 2);
    let call = Op::Method { dst: r(1), object: r(0), a: r(1), cache: Site::new() };
    let caller = vec![call, Op::AddK { dst: r(1), a: r(1), k: Imm(1) }, Op::Return { a: r(1) }];
    [twice, square, (caller, 2)]
}

#[test]
fn a_site_knows_the_callee() {
    for way in Way::ALL {
        let program = Program::new(way.builder(), &methods());
        let (engine, [twice, square, caller]) = (&program.engine, [0, 1, 2].map(|at| program.functions[at]));
        let object =
            |class, function| Object { class, method: engine.callable(function).expect("it is there") };
        let (one, other) = (object(1, twice), object(2, square));
        let call = |vm: &mut Vm, object: &Object, n: i64| {
            engine.call::<_, i64>(caller, vm, (std::ptr::from_ref(object), n)).expect("it does not fail")
        };
        let mut vm = Vm::default();
        for n in 0..40 {
            assert_eq!(call(&mut vm, &one, n), 2 * n + 1, "{way:?}");
        }
        if way == Way::TieringUp && can_compile() {
            assert!(engine.stats().inlined > 0);
        }
        for n in 0..80 {
            assert_eq!(call(&mut vm, &other, n), n * n + 1, "{way:?}");
            assert_eq!(call(&mut vm, &one, n), 2 * n + 1, "{way:?}");
        }
        assert_eq!(vm.lookups, 2, "{way:?}");
        // The class has another method now.
        let changed = object(2, twice);
        engine.retain_cases(|case: &machine::Method| case.class != 2);
        for n in 0..40 {
            assert_eq!(call(&mut vm, &changed, n), 2 * n + 1, "{way:?}");
        }
        assert_eq!(vm.lookups, 3, "{way:?}");
    }
}

#[test]
fn functions_that_are_removed_are_not_called() {
    for way in Way::ALL {
        let program = Program::new(way.builder(), &[sum(), in_loop(call_two(0))]);
        for _ in 0..20 {
            assert_eq!(program.call((1, 2)).0, Ok(14), "{way:?}");
        }
        program.engine.remove(program.functions[0]).expect("it is there");
        let error = Error::Trap { trap: Trap::BadCall, at: 1 };
        for _ in 0..20 {
            assert_eq!(program.call((1, 2)).0, Err(error), "{way:?}");
        }
    }
}

#[test]
fn a_slow_path_that_runs_after_all_is_compiled() {
    let inner = vec![Op::AddSmall { dst: r(0), a: r(0), b: r(1) }, Op::Return { a: r(0) }];
    let outer = vec![call_two(0), Op::Add { dst: r(0), a: r(0), b: r(1) }, Op::Return { a: r(0) }];
    let program = Program::new(Way::TieringUp.builder(), &[(inner, 2), (outer, 2)]);
    for n in 0..40 {
        assert_eq!(program.call((n, 3)).0, Ok(n + 6));
    }
    for n in 2000..2300 {
        let (result, _, slow) = program.call((n, 3));
        assert_eq!((result, slow), (Ok(n + 6), vec![n]));
    }
    if can_compile() {
        let stats = program.engine.stats();
        assert!((1..40).contains(&stats.missed), "{stats}");
        assert!(stats.inlined > 1, "{stats}");
    }
}

#[test]
fn the_unit_is_the_callees() {
    for way in Way::ALL {
        let engine: Engine<Op> = way.builder().build();
        let define = |ops: Vec<Op>, unit: &'static i64| {
            // SAFETY: nothing is read there.
            let code = unsafe { Code::from(ops).with_unit(std::ptr::from_ref(unit)) };
            engine.define("f", code, 2).expect("the code is right")
        };
        let inner = define(vec![Op::ReturnUnit], &5);
        let outer = define(vec![call_two(inner.number()), Op::Return { a: r(0) }], &7);
        let call = |function| engine.call::<_, i64>(function, &mut Vm::default(), (1i64, 1i64));
        let unit = call(inner);
        for _ in 0..12 {
            assert_eq!(call(outer), unit, "{way:?}");
        }
    }
}
