//! Stencils are made once per process: engines with equal options share them, and they contain nothing that belongs to one
//! engine.

#![cfg(all(target_arch = "x86_64", any(unix, windows)))]

#[cfg(unix)]
mod children;

use azulejo::prelude::*;
use azulejo::{Builder, Limits};
use azulejo_core::ir::slow_paths::NO_SLOW_PATHS;
use azulejo_core::pass::Blind;
use azulejo_core::pass::build::Linkage;
use azulejo_core::verify::{Shape, verify};
use azulejo_x64::{Compiler, Features, Function, Status, X64};
use std::sync::Barrier;
use std::time::{Duration, Instant};

/// Defines a bytecode for one test, so that no other test makes its stencils.
macro_rules! bytecode {
    ($module:ident) => {
        mod $module {
            use super::*;

            #[derive(Bytecode, Clone, Copy, Debug)]
            #[bytecode(context = ())]
            pub(super) enum Op {
                Const { dst: Out<i64>, value: Imm<i64> },
                Add { dst: Out<i64>, a: In<i64>, b: In<i64> },
                Mul { dst: Out<i64>, a: In<i64>, b: In<i64> },
                Loop { n: InOut<i64>, to: Label },
                Call { dst: Out<i64>, f: Imm<u32>, a: In<i64> },
                CallAt { dst: Out<i64>, f: In<u32>, a: In<i64> },
                Then { f: In<u32>, a: In<i64> },
                Unit { dst: Out<u64> },
                Return { a: In<i64> },
            }

            template! {
                Op::Const  => $value
                Op::Add    => (add $a $b)
                Op::Mul    => (mul $a $b)
                Op::Loop!  => (dov (set $n (sub $n 1)) (when (nz $n) (branch $to)))
                Op::Call   => (invoke $f (arglist $a) i64)
                Op::CallAt => (invoke $f (arglist $a) i64)
                Op::Then   => (tail $f (arglist $a))
                Op::Unit   => (cu)
                Op::Return => (return $a)
            }

            /// `a * factor + (a counted down to nothing)`.
            #[allow(dead_code, reason = "not every test wants it")]
            pub(super) fn scaled(factor: i64) -> Vec<Op> {
                vec![
                    Op::Const { dst: 1.into(), value: Imm(factor) },
                    Op::Mul { dst: 1.into(), a: 0.into(), b: 1.into() },
                    Op::Loop { n: 0.into(), to: Label(2) },
                    Op::Add { dst: 0.into(), a: 0.into(), b: 1.into() },
                    Op::Return { a: 0.into() },
                ]
            }
        }
    };
}

fn baseline() -> Builder {
    Builder::default().only(Tier::Baseline)
}

#[test]
fn the_second_engine_makes_no_stencil() {
    bytecode!(second);
    let made = |builder: Builder| {
        let engine: Engine<second::Op> = builder.build();
        for factor in [3, 5] {
            let function = engine.define("scaled", second::scaled(factor), 2).expect("it is right");
            assert_eq!(engine.call::<_, i64>(function, &mut (), (7i64,)), Ok(7 * factor));
        }
        assert_eq!(engine.stats().baseline.compiled, 2);
        engine.stats().stencils
    };
    assert!(made(baseline()) >= 5, "one for each opcode that is used");
    assert_eq!((made(baseline()), made(baseline())), (0, 0));
    // Options that change the code need stencils of their own, and later engines share those.
    let others: [fn(Builder) -> Builder; 4] = [
        |builder| builder.only_features(&[]),
        |builder| builder.frame_pointers(true),
        |builder| builder.checks(true),
        // SAFETY: an empty set of rules is sound.
        |builder| unsafe { builder.rules(&[]) },
    ];
    for other in others {
        assert!(made(other(baseline())) >= 5);
        assert_eq!(made(other(baseline())), 0);
    }
    // An engine with limits shares no stencils, so that its count of steps does not depend on other engines.
    let limited = || baseline().limits(Limits::of("rewrite=1000").expect("it is one"));
    let alone = made(limited());
    assert!(alone >= 5);
    assert_eq!(made(limited()), alone);
}

#[test]
fn engines_on_other_threads_make_each_stencil_once_or_find_it() {
    bytecode!(threads);
    const THREADS: usize = 8;
    let barrier = Barrier::new(THREADS);
    let work = |thread: usize| {
        barrier.wait();
        let engine: Engine<threads::Op> = baseline().build();
        for factor in 0..20 {
            // Each thread starts with another opcode.
            let mut code = vec![threads::Op::Add { dst: 1.into(), a: 0.into(), b: 0.into() }; thread % 3];
            code.extend(vec![threads::Op::Mul { dst: 1.into(), a: 0.into(), b: 0.into() }; thread % 2]);
            let n = code.len() as u32;
            code.extend(threads::scaled(factor));
            code[n as usize + 2] = threads::Op::Loop { n: 0.into(), to: Label(n + 2) };
            let function = engine.define("scaled", code, 2).expect("it is right");
            assert_eq!(engine.call::<_, i64>(function, &mut (), (7i64,)), Ok(7 * factor));
        }
    };
    std::thread::scope(|scope| {
        (0..THREADS).for_each(|thread| _ = scope.spawn(move || work(thread)));
    });
    let engine: Engine<threads::Op> = baseline().build();
    let function = engine.define("scaled", threads::scaled(9), 2).expect("it is right");
    assert_eq!(engine.call::<_, i64>(function, &mut (), (7i64,)), Ok(63));
    assert_eq!(engine.stats().stencils, 0);
}

/// The functions, fuel and budgets of an engine are its own, although its code is made of shared stencils.
#[test]
fn each_engine_has_its_own_functions_fuel_and_budgets() {
    bytecode!(own);
    use own::Op;
    let r = |register: u32| Out::from(register);
    let at = |f: i64, op: Op| vec![Op::Const { dst: r(1), value: Imm(f) }, op, Op::Return { a: 1.into() }];
    let call = |f: u32| vec![Op::Call { dst: r(1), f: Imm(f), a: 0.into() }, Op::Return { a: 1.into() }];
    const CALLEE: u32 = 0;
    const LATER: u32 = 5;
    let builder = || Builder::default().thresholds(0, 50).fuel(1000);
    let engines: Vec<Engine<Op>> = (0..3).map(|_| builder().build()).collect();
    let mut ids: Vec<Vec<FunctionId>> = Vec::new();
    for (number, engine) in engines.iter().enumerate() {
        let factor = 10 + number as i64;
        let by_value = Op::CallAt { dst: r(1), f: 1.into(), a: 0.into() };
        let tail = Op::Then { f: 1.into(), a: 0.into() };
        let codes = [
            own::scaled(factor),
            call(CALLEE),
            at(CALLEE as i64, by_value),
            at(CALLEE as i64, tail),
            // The callee is not defined yet.
            call(LATER),
            own::scaled(-factor),
        ];
        ids.push(Vec::new());
        for (at, code) in codes.into_iter().enumerate() {
            let function = engine.define("any", code, 2).expect("it is right");
            assert_eq!(function.number(), at as u32);
            ids[number].push(function);
        }
    }
    for (number, engine) in engines.iter().enumerate() {
        let factor = 10 + number as i64;
        for (at, function) in ids[number].iter().copied().enumerate() {
            let expected = if at >= 4 { -factor } else { factor } * 3;
            let before = engine.fuel().expect("there is some");
            assert_eq!(engine.call::<_, i64>(function, &mut (), (3i64,)), Ok(expected), "{at}");
            assert!(engine.fuel() < Some(before), "it runs on fuel");
        }
        let later = &engines[number + 1..];
        assert!(later.iter().all(|engine| engine.fuel() == Some(1000)), "and on its own");
        assert!(later.iter().all(|engine| engine.stats().tier_ups == 0), "so it is with budgets");
        let loops = ids[number][0];
        assert_eq!(engine.call::<_, i64>(loops, &mut (), (100i64,)), Ok(100 * factor));
        // Its budget ends twice: a call is awaited before its loop is compiled.
        assert_eq!(engine.stats().tier_ups, 2, "{}", engine.stats());
    }
    let made: Vec<u64> = engines.iter().map(|engine| engine.stats().stencils).collect();
    assert!(made[0] > 5 && made[1..] == [0, 0], "{made:?}");
}

/// Code is copied to memory near the program and far from it: near the program it calls by a displacement, and elsewhere by
/// address.
#[test]
fn memory_out_of_reach_has_other_stencils() {
    bytecode!(far);
    let run = |compiler: &mut Compiler| {
        let code = far::scaled(3);
        let shape = verify(&code, &[], 2).expect("the code is right");
        let function = function(&code, &shape);
        let code = compiler.baseline(&function, Linkage::default(), &mut Blind).expect("it compiles");
        let mut frame = [7, 0];
        // SAFETY: the frame has the slots that the code uses.
        let status = unsafe { code.enter(std::ptr::null_mut(), frame.as_mut_ptr(), 0) };
        assert_eq!(status, Status::Returned(21));
        compiler.stencils_made()
    };
    let compiler = |size| {
        Compiler::new(size, &X64, Features::detect().bits(), &azulejo::rules::MATCHERS)
            .expect("this machine runs code")
    };
    assert!(run(&mut compiler(1 << 20)) > 0);
    assert_eq!(run(&mut compiler(1 << 26)), 0);
    // Memory this large is out of the program's reach, wherever it is.
    assert!(run(&mut compiler(3 << 30)) > 0);
    assert_eq!(run(&mut compiler(3 << 30)), 0);
    let paged =
        || compiler(1 << 20).with_watchers(azulejo_code::Watchers { perf_map: true, ..Default::default() });
    assert_eq!(run(&mut paged()), 0, "nor of memory that may be anywhere");
}

fn function<'a, B: Bytecode>(code: &'a [B], shape: &'a Shape) -> Function<'a, B> {
    let unit = std::ptr::null();
    Function {
        code,
        labels: &[],
        registers: 2,
        shape,
        unit,
        temporaries: None,
        slow_paths: &NO_SLOW_PATHS,
        leaves_out: false,
        sites: None,
        budget: None,
    }
}

/// If its stencils exist, a compiler compiles its first function as quickly as the next ones.
#[test]
fn compiling_costs_a_small_part_of_making_stencils() {
    bytecode!(quick);
    let code = quick::scaled(3);
    let shape = verify(&code, &[], 2).expect("the code is right");
    let function = function(&code, &shape);
    let time = |own: bool| {
        let compiler = Compiler::new(1 << 20, &X64, Features::detect().bits(), &azulejo::rules::MATCHERS);
        let mut compiler = compiler.expect("this machine runs code").with_own_stencils(own);
        let start = Instant::now();
        compiler.baseline(&function, Linkage::default(), &mut Blind).expect("it compiles");
        start.elapsed()
    };
    let least = |own: bool| -> Duration { (0..30).map(|_| time(own)).min().expect("there are some") };
    let (alone, shared) = (least(true), least(false));
    println!("first function with its own stencils: {alone:?}, with those that are there: {shared:?}");
    assert!(shared * 3 < alone, "{shared:?} {alone:?}");
}

/// A constant of 64 bits is in an instruction as one of 32 bits, whatever its sign, if it is one.
#[test]
fn a_small_constant_of_either_sign_takes_32_bits() {
    #[derive(Bytecode, Clone, Copy, Debug)]
    enum Op {
        Take { k: Imm<i64> },
        Return { a: In<i64> },
    }
    extern "C" fn take(k: i64) {
        std::hint::black_box(k);
    }
    template! {
        Op::Take   => (callv take (arglist (carg $k i64)))
        Op::Return => (return $a)
    }
    let bytes = |k: i64, count: usize| {
        let engine: Engine<Op> = baseline().build();
        let mut code = vec![Op::Take { k: Imm(k) }; count];
        code.push(Op::Return { a: 0.into() });
        let function = engine.define("takes", code, 1).expect("it is right");
        engine.compile_in(function, Tier::Baseline).expect("it compiles");
        engine.stats().baseline.bytes
    };
    let of_one = |k: i64| (bytes(k, 144) - bytes(k, 16)) / 128;
    // The address of the function is of 64 bits or of 32, and is there each time.
    assert_eq!((of_one(-7), of_one(1 << 40)), (of_one(7), of_one(7) + 3));
}

/// The lock of all stencils is taken around a fork, so that in the child no other thread holds it.
#[cfg(unix)]
#[test]
fn a_child_finds_stencils_that_others_were_looking_for() {
    use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
    bytecode!(one);
    bytecode!(other);
    // A compiler that alternates between bytecodes looks up their stencils each time.
    let work = |times: usize| {
        let (ones, others) = (one::scaled(3), other::scaled(5));
        let shape = verify(&ones, &[], 2).expect("the code is right");
        let mut compiler = Compiler::new(1 << 20, &X64, Features::detect().bits(), &azulejo::rules::MATCHERS)
            .expect("this machine runs code");
        for _ in 0..times {
            let found = compiler.baseline(&function(&ones, &shape), Linkage::default(), &mut Blind);
            drop(found.expect("it compiles"));
            let found = compiler.baseline(&function(&others, &shape), Linkage::default(), &mut Blind);
            drop(found.expect("it compiles"));
        }
    };
    let is_done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        (0..2).for_each(|_| {
            scope.spawn(|| {
                while !is_done.load(Relaxed) {
                    work(100);
                }
            });
        });
        let result = std::panic::catch_unwind(|| (0..200).for_each(|_| children::child(|| work(1)).join()));
        is_done.store(true, Relaxed);
        result.expect("each child ends");
    });
}

/// A small number that is an index is part of an address, and one that may be large, or negative, is in a register.
#[test]
fn numbers_in_bytecodes_index_memory() {
    struct Words([u64; 1 << 16]);

    #[derive(Bytecode, Clone, Copy, Debug)]
    #[bytecode(context = Words)]
    enum Op {
        Byte { dst: Out<u64>, at: Imm<u8> },
        Short { dst: Out<u64>, at: Imm<u16> },
        Long { dst: Out<u64>, at: Imm<u32> },
        Signed { dst: Out<u64>, at: Imm<i8> },
        Put { at: Imm<u16>, value: In<u64> },
        Add { dst: Out<u64>, a: In<u64>, b: In<u64> },
        Return { a: In<u64> },
    }

    template! {
        Op::Byte   => unsafe (load (idx (tc) $at 8) u64)
        Op::Short  => unsafe (load (idx (tc) $at 8) u64)
        Op::Long   => unsafe (load (idx (tc) $at 8) u64)
        Op::Signed => unsafe (load (idx (addr (tc) 1024) $at 8) u64)
        Op::Put    => unsafe (store (idx (tc) $at 8) $value u64)
        Op::Add    => (add $a $b)
        Op::Return => (return $a)
    }

    let mut words = Box::new(Words([0; 1 << 16]));
    words.0.iter_mut().enumerate().for_each(|(at, word)| *word = 3 * at as u64);
    let mut code = Vec::new();
    let mut expected = 0;
    let ends = [0u16, 1, 127, 128, 255, 256, 32767, 32768, 65535];
    for at in ends {
        let byte = at as u8;
        code.extend([
            Op::Byte { dst: 1.into(), at: Imm(byte) },
            Op::Short { dst: 2.into(), at: Imm(at) },
            Op::Add { dst: 1.into(), a: 1.into(), b: 2.into() },
            Op::Long { dst: 2.into(), at: Imm(at as u32) },
            Op::Add { dst: 1.into(), a: 1.into(), b: 2.into() },
            Op::Signed { dst: 2.into(), at: Imm(byte as i8) },
            Op::Add { dst: 1.into(), a: 1.into(), b: 2.into() },
            Op::Add { dst: 0.into(), a: 0.into(), b: 1.into() },
        ]);
        expected += 3 * (byte as u64 + 2 * at as u64 + (128 + byte as i8 as i64) as u64);
    }
    code.extend(ends.map(|at| Op::Put { at: Imm(at), value: 0.into() }));
    code.push(Op::Return { a: 0.into() });
    let engine: Engine<Op> = baseline().build();
    let function = engine.define("words", code, 3).expect("it is right");
    assert_eq!(engine.call::<_, u64>(function, &mut *words, (0u64,)), Ok(expected));
    let stored = words.0.iter().enumerate().filter(|(_, word)| **word == expected);
    assert_eq!(stored.map(|(at, _)| at as u16).collect::<Vec<_>>(), ends);
}

/// The bits of a register are loaded as a float where they are used, unless the register has been written meanwhile.
#[test]
fn bits_are_those_that_were_read() {
    #[derive(Bytecode, Clone, Copy, PartialEq, Debug)]
    #[bytecode(context = ())]
    enum Op {
        /// The old value of `a` plus `b`, in numbers where both are small, and in integers elsewhere; and `a` becomes `b`.
        AddAndReplace {
            dst: Out<u64>,
            a: InOut<u64>,
            b: In<u64>,
        },
        /// Likewise, written behind a join of ways of which one writes.
        AddOnOneWay {
            dst: Out<u64>,
            a: InOut<u64>,
            b: In<u64>,
        },
        Return {
            a: In<u64>,
        },
    }

    template! {
        macro ^sum (,a ,b) (if (all (ult ,a (const 0x7ff0000000000000 u64)) (ult ,b (const 0x7ff0000000000000 u64)))
            (bitcast (add (bitcast ,a f64) (bitcast ,b f64)) u64)
            (add ,a ,b))

        Op::AddAndReplace! => (letv: (($old $a) ($new $b)) (dov
            (set $a $new)
            (set $dst (^sum $old $new))))
        Op::AddOnOneWay! => (letv: (($old $a) ($new $b)) (dov
            (when (ult $new (const 0x4000000000000000 u64)) (set $a $new))
            (set $dst (^sum $old $new))))
        Op::Return => (return $a)
    }

    let one = Op::AddAndReplace { dst: 2.into(), a: 0.into(), b: 1.into() };
    let other = Op::AddOnOneWay { dst: 2.into(), a: 0.into(), b: 1.into() };
    let bits = [0.5f64, 2.0, 3e300, -1.0].map(f64::to_bits);
    for (op, tier) in
        [one, other].into_iter().flat_map(|op| [Tier::Baseline, Tier::Optimizer].map(|tier| (op, tier)))
    {
        let engine: Engine<Op> = Builder::default().only(tier).build();
        // Whatever is in register 0 in the end takes part in the result.
        let add = Op::AddAndReplace { dst: 3.into(), a: 2.into(), b: 0.into() };
        let code = vec![op, add, Op::Return { a: 3.into() }];
        let function = engine.define("sums", code, 4).expect("it is right");
        for (a, b) in bits.into_iter().flat_map(|a| bits.map(|b| (a, b))) {
            let sum = |a: u64, b: u64| match a.max(b) < 0x7ff0 << 48 {
                true => (f64::from_bits(a) + f64::from_bits(b)).to_bits(),
                false => a.wrapping_add(b),
            };
            let last = if op == one || b < 1 << 62 { b } else { a };
            let result = engine.call::<_, u64>(function, &mut (), (a, b));
            assert_eq!(result, Ok(sum(sum(a, b), last)), "{op:?} in {tier:?}: {a:x} {b:x}");
        }
    }
}
