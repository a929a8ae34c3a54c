//! Sizes and limits beyond any machine's: they yield an error value or a smaller size, and never an access to missing
//! memory.

#[cfg(unix)]
mod children;

use azulejo::prelude::*;

#[derive(Bytecode, Clone, Copy, Debug)]
enum Op {
    Add { dst: Out<i64>, a: In<i64>, b: In<i64> },
    Call { dst: Out<i64>, f: Imm<u32>, a: In<i64> },
    Loop { n: InOut<i64>, to: Label },
    Return { a: In<i64> },
    Stop,
}

template! {
    Op::Add    => (add $a $b)
    Op::Call   => (invoke $f (arglist $a) i64)
    Op::Loop!  => (dov (set $n (sub $n 1)) (when (nz $n) (branch $to)))
    Op::Return => (return $a)
    Op::Stop   => (return (const 7 i64))
}

const TIERS: [Tier; 3] = [Tier::Interpreter, Tier::Baseline, Tier::Optimizer];

/// Large powers of two and their neighbours, and the largest numbers.
fn sizes() -> impl Iterator<Item = usize> {
    let powers = (40..usize::BITS).map(|at| 1 << at);
    powers.flat_map(|size: usize| [size - 1, size, size + 1]).chain((0..40).map(|less| usize::MAX - less))
}

/// Calls a function that doubles its argument, a given number of times.
fn doubling(engine: &Engine<Op>) -> FunctionId {
    let double = vec![Op::Add { dst: 0.into(), a: 0.into(), b: 0.into() }, Op::Return { a: 0.into() }];
    let double = engine.define("double", double, 1).expect("it is right");
    let call = vec![
        Op::Call { dst: 0.into(), f: Imm(double.number()), a: 0.into() },
        Op::Loop { n: 1.into(), to: Label(0) },
        Op::Return { a: 0.into() },
    ];
    engine.define("call", call, 2).expect("it is right")
}

#[test]
fn more_registers_than_there_is_memory_are_an_error() {
    for tier in TIERS {
        for slots in sizes() {
            let engine: Engine<Op> = Engine::<Op>::builder().only(tier).stack_slots(slots).build();
            let function = doubling(&engine);
            let result: Result<i64, Error> = engine.call(function, &mut (), (3i64, 4i64));
            match slots >= 1 << 60 {
                true => assert_eq!(result, Err(Error::OutOfStackMemory), "{slots} in {tier:?}"),
                // The system may promise more memory than it has.
                false => {
                    assert!(matches!(result, Ok(48) | Err(Error::OutOfStackMemory)), "{slots} in {tier:?}")
                }
            }
            let stop = engine.define("stop", vec![Op::Stop], 0).expect("it is right");
            assert_eq!(engine.call(stop, &mut (), ()), Ok(7i64), "{slots} in {tier:?}");
        }
        for slots in 0..4 {
            let engine: Engine<Op> = Engine::<Op>::builder().only(tier).stack_slots(slots).build();
            let result: Result<i64, Error> = engine.call(doubling(&engine), &mut (), (3i64, 4i64));
            // Compiled callees have frames of their own, on the machine's stack.
            assert!(slots > 1 || result == Err(Error::StackOverflow), "{slots} in {tier:?}");
            assert!(slots < 3 || result == Ok(48), "{slots} in {tier:?}");
        }
    }
}

#[test]
fn more_memory_for_code_than_there_is_is_as_much_as_there_is() {
    for tier in TIERS {
        for bytes in sizes().chain(0..100) {
            let engine: Engine<Op> = Engine::<Op>::builder().only(tier).code_bytes(bytes).build();
            let function = doubling(&engine);
            if azulejo::can_compile().is_ok() && tier > Tier::Interpreter {
                let result = engine.compile_in(function, tier);
                let is_right = match result {
                    Ok(()) => bytes > 16,
                    Err(error) => bytes < 1000 && error == Error::OutOfCodeMemory,
                };
                assert!(is_right, "{bytes} in {tier:?}: {result:?}");
            }
            assert_eq!(engine.call(function, &mut (), (3i64, 4i64)), Ok(48i64), "{bytes} in {tier:?}");
        }
    }
}

#[test]
fn limits_without_end_are_none() {
    for bytes in [usize::MAX, usize::MAX - 1, 1 << 63, isize::MAX as usize] {
        for tier in TIERS {
            let builder = Engine::<Op>::builder().only(tier).native_stack(bytes);
            let engine: Engine<Op> = builder.thresholds(u32::MAX, u32::MAX).build();
            assert_eq!(engine.call(doubling(&engine), &mut (), (3i64, 4i64)), Ok(48i64));
            // Unbounded recursion ends before the thread's stack does.
            let call = Op::Call { dst: 0.into(), f: Imm(2), a: 0.into() };
            let endless = engine.define("endless", vec![call, Op::Return { a: 0.into() }], 1);
            let result: Result<i64, Error> = engine.call(endless.expect("it is right"), &mut (), (1i64,));
            assert_eq!(result, Err(Error::StackOverflow), "{bytes} in {tier:?}");
        }
    }
    let engine: Engine<Op> = Engine::<Op>::builder().native_stack(0).build();
    let result: Result<i64, Error> = engine.call(doubling(&engine), &mut (), (3i64, 4i64));
    assert_eq!(result, Err(Error::StackOverflow));
    // The extreme budgets: none, and the largest.
    for thresholds in [(0, 0), (0, u32::MAX), (u32::MAX, 0), (i32::MAX as u32, i32::MAX as u32 + 1)] {
        let engine: Engine<Op> = Engine::<Op>::builder().thresholds(thresholds.0, thresholds.1).build();
        let function = doubling(&engine);
        for _ in 0..100 {
            assert_eq!(engine.call(function, &mut (), (3i64, 4i64)), Ok(48i64), "{thresholds:?}");
        }
    }
}

#[test]
fn more_registers_than_a_frame_can_have_are_an_error() {
    let engine = Engine::<Op>::new();
    for registers in [u32::MAX, u32::MAX - 1, 1 << 31] {
        let function = engine.define("large", vec![Op::Stop], registers);
        assert!(matches!(function, Err(Error::Verify(_))), "{function:?}");
    }
    let large = engine.define("large", vec![Op::Stop], 1 << 20).expect("it is right");
    assert_eq!(engine.call(large, &mut (), ()), Ok(7i64));
    for registers in [(1 << 20) + 1, 1 << 24] {
        let larger = engine.define("larger", vec![Op::Stop], registers);
        let result = larger.and_then(|larger| engine.call::<_, i64>(larger, &mut (), ()));
        assert!(matches!(result, Err(Error::StackOverflow | Error::Verify(_))), "{result:?}");
    }
}

/// A limit on the size of files, or on open files, does not prevent compiling.
#[test]
#[cfg(unix)]
fn limits_on_files_are_none_on_code() {
    for (resource, limit) in
        [(libc::RLIMIT_FSIZE, 0), (libc::RLIMIT_FSIZE, 10 << 10), (libc::RLIMIT_NOFILE, 0)]
    {
        let work = || {
            let limit = libc::rlimit { rlim_cur: limit, rlim_max: limit };
            // SAFETY: the system reads the limit, which applies to this child process only.
            assert_eq!(unsafe { libc::setrlimit(resource, &limit) }, 0);
            for tier in TIERS {
                let engine: Engine<Op> = Engine::<Op>::builder().only(tier).build();
                let function = doubling(&engine);
                if azulejo::can_compile().is_ok() {
                    engine.compile_in(function, tier).expect("there is memory");
                }
                assert_eq!(engine.call(function, &mut (), (3i64, 4i64)), Ok(48i64), "{tier:?}");
                // The code works in a child, too.
                let call = || assert_eq!(engine.call(function, &mut (), (3i64, 4i64)), Ok(48i64));
                children::child(call).join();
            }
        };
        children::child(work).join();
    }
}
