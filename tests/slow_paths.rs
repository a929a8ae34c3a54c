//! Slow paths, `(slow …)`: every tier has the same results, the optimizer leaves out those that have never run, and functions
//! whose slow paths run after all are compiled anew a few times, and no more.

use azulejo::Trap;
use azulejo::prelude::*;

/// What a program has at hand: numbers, and the log of its slow paths.
struct Vm {
    slow: Vec<(u64, u64)>,
}

/// Values are floats, or integers of 32 bits with this above them.
const TAG: u64 = 0x7ffa << 48;

const fn tag() -> u64 {
    TAG
}

fn int(value: i32) -> u64 {
    value as u32 as u64 | TAG
}

/// The sum of two values of any kind.
fn add_slowly(vm: &mut Vm, a: u64, b: u64) -> Result<u64, Trap> {
    vm.slow.push((a, b));
    let number = |value: u64| match value & TAG == TAG {
        true => value as i32 as f64,
        false => f64::from_bits(value),
    };
    let sum = number(a) + number(b);
    if sum > 1e9 { Err(Trap::User(9)) } else { Ok(sum.to_bits()) }
}

fn note_slowly(vm: &mut Vm, a: u64) -> Result<(), Trap> {
    vm.slow.push((a, 0));
    Ok(())
}

#[derive(Bytecode, Clone, Copy, Debug)]
#[bytecode(context = Vm)]
enum Op {
    Const {
        dst: Out<u64>,
        value: Imm<u64>,
    },
    Add {
        dst: Out<u64>,
        a: In<u64>,
        b: In<u64>,
    },
    /// The same with one slow path, to which two ways lead.
    AddByMark {
        dst: Out<u64>,
        a: In<u64>,
        b: In<u64>,
    },
    /// With a slow path of its own beside that of the sum.
    Twice {
        dst: Out<u64>,
        a: In<u64>,
    },
    /// A slow path with blocks inside, and one that does not come back.
    Check {
        a: In<u64>,
        out: Label,
    },
    Count {
        n: InOut<i64>,
        to: Label,
    },
    Call {
        dst: Out<u64>,
        f: Imm<u32>,
        a: In<u64>,
        b: In<u64>,
    },
    Return {
        a: In<u64>,
    },
}

template! {
    macro ^is_int (,a) (eq (shr ,a 48) (const 0x7ffa u64))
    macro ^boxed (,a) (or (ucast ,a u64) (&tag))

    Op::Const => $value
    Op::Add => (if (all (^is_int $a) (^is_int $b))
        (let: (($x (ucast $a i32)) ($y (ucast $b i32)))
            (if (addo $x $y)
                (slow add_slowly (arglist (carg (tc) ptr) (carg $a u64) (carg $b u64)) u64)
                (^boxed (add $x $y))))
        (slow add_slowly (arglist (carg (tc) ptr) (carg $a u64) (carg $b u64)) u64))
    Op::AddByMark! => (letv: (($a $a) ($b $b)) (dov
        (ifv (all (^is_int $a) (^is_int $b))
            (letv: (($x (ucast $a i32)) ($y (ucast $b i32)))
                (ifv (addo $x $y) (branch (label slowly)) (set $dst (^boxed (add $x $y)))))
            (branch (label slowly)))
        (branch (label done))
        (mark slowly)
        (slowv (set $dst (call throws add_slowly (arglist (carg (tc) ptr) (carg $a u64) (carg $b u64)) u64)))
        (mark done)))
    Op::Twice => (slow (if (^is_int $a)
        (call throws add_slowly (arglist (carg (tc) ptr) (carg $a u64) (carg $a u64)) u64)
        (let: (($d (bitcast $a f64))) (if (lt $d (const 1.0 f64)) $a (bitcast (add $d $d) u64)))))
    Op::Check => (when (notf (^is_int $a)) (slowv (dov
        (callv throws note_slowly (arglist (carg (tc) ptr) (carg $a u64)))
        (ifv (lt (bitcast $a f64) (const 1000.0 f64)) (discard $a) (branch $out)))))
    Op::Count! => (dov (set $n (sub $n 1)) (when (likely (nz $n)) (branch $to)))
    Op::Call => (invoke $f (arglist $a $b) u64)
    Op::Return => (return $a)
}

/// Adds register 1 to register 0 as often as register 2 says.
fn sum() -> Vec<Op> {
    vec![
        Op::Add { dst: 0.into(), a: 0.into(), b: 1.into() },
        Op::Check { a: 0.into(), out: Label(3) },
        Op::Count { n: 2.into(), to: Label(0) },
        Op::Return { a: 0.into() },
    ]
}

/// The same in Rust.
fn sum_in_rust(mut a: u64, b: u64, n: i64) -> (Result<u64, Error>, Vec<(u64, u64)>) {
    let mut vm = Vm { slow: Vec::new() };
    for _ in 0..n {
        let both = a & TAG == TAG && b & TAG == TAG;
        a = match (a as i32).checked_add(b as i32).filter(|_| both) {
            Some(sum) => int(sum),
            None => match add_slowly(&mut vm, a, b) {
                Ok(sum) => sum,
                Err(trap) => return (Err(Error::Trap { trap, at: 0 }), vm.slow),
            },
        };
        if a & TAG != TAG {
            note_slowly(&mut vm, a).expect("it does not fail");
            if f64::from_bits(a) >= 1000.0 {
                break;
            }
        }
    }
    (Ok(a), vm.slow)
}

/// The arguments of one call: none of them takes the slow path, many take it, it fails.
fn arguments() -> Vec<(u64, u64, i64)> {
    let float = |value: f64| value.to_bits();
    vec![
        (int(1), int(2), 40),
        (int(1), float(0.5), 40),
        (float(0.5), int(2), 40),
        (int(i32::MAX - 5), int(1), 40),
        (float(1.5), float(100.0), 40),
        (float(9e8), float(1e8), 40),
        (int(5), int(-7), 40),
    ]
}

fn compare(engine: &Engine<Op>, function: FunctionId, (a, b, n): (u64, u64, i64)) {
    let (expected, slow) = sum_in_rust(a, b, n);
    let mut vm = Vm { slow: Vec::new() };
    assert_eq!(engine.call::<_, u64>(function, &mut vm, (a, b, n)), expected, "{a:x} {b:x}");
    assert_eq!(vm.slow, slow, "{a:x} {b:x}");
}

#[test]
fn every_tier_has_the_same_results() {
    let tiers = [Tier::Interpreter, Tier::Baseline, Tier::Optimizer];
    for tier in tiers.into_iter().filter(|tier| *tier == Tier::Interpreter || azulejo::can_compile().is_ok())
    {
        // Compiled before anything has run, after one call of each kind, and after all.
        for (runs, by_mark) in (0..=arguments().len()).flat_map(|runs| [(runs, false), (runs, true)]) {
            let engine = Engine::<Op>::new();
            let mut code = sum();
            if by_mark {
                code[0] = Op::AddByMark { dst: 0.into(), a: 0.into(), b: 1.into() };
            }
            let function = engine.define("sum", code, 3).expect("it is right");
            arguments()[..runs].iter().for_each(|arguments| compare(&engine, function, *arguments));
            engine.compile_in(function, tier).expect("it is compiled");
            arguments().into_iter().for_each(|arguments| compare(&engine, function, arguments));
        }
    }
}

#[test]
fn what_is_slow_throughout_runs_everywhere() {
    let code = vec![
        Op::Twice { dst: 0.into(), a: 0.into() },
        Op::Twice { dst: 0.into(), a: 0.into() },
        Op::Return { a: 0.into() },
    ];
    for threshold in [1, 1000] {
        let engine = Engine::<Op>::builder().thresholds(threshold, threshold).build::<Op>();
        let function = engine.define("twice", code.clone(), 1).expect("it is right");
        for a in [0.25f64.to_bits(), 3.0f64.to_bits(), int(7)].repeat(9) {
            let expected = match a {
                _ if a == int(7) => 28.0f64.to_bits(),
                _ if f64::from_bits(a) < 1.0 => a,
                _ => (f64::from_bits(a) * 4.0).to_bits(),
            };
            let mut vm = Vm { slow: Vec::new() };
            assert_eq!(engine.call::<_, u64>(function, &mut vm, (a,)), Ok(expected));
            assert_eq!(vm.slow.len(), (a == int(7)) as usize);
        }
    }
}

#[cfg(all(target_arch = "x86_64", any(unix, windows)))]
mod speculation {
    use super::*;
    use azulejo::Statistics;

    fn hot() -> Engine<Op> {
        Engine::<Op>::builder().thresholds(10, 100).build()
    }

    fn code_len(engine: &Engine<Op>, function: FunctionId) -> usize {
        assert_eq!(engine.tier(function), Tier::Optimizer);
        engine.code_len(function)
    }

    /// Functions that only add integers have no code for other sums.
    #[test]
    fn what_has_never_run_is_left_out() {
        let lengths = [false, true].map(|is_mixed| {
            let engine = hot();
            let function = engine.define("sum", sum(), 3).expect("it is right");
            if is_mixed {
                compare(&engine, function, (int(1), 0.5f64.to_bits(), 3));
            }
            compare(&engine, function, (int(1), int(0), 1000));
            compare(&engine, function, (int(1), int(0), 1000));
            assert_eq!(engine.stats().missed, 0);
            code_len(&engine, function)
        });
        assert!(lengths[0] + 60 < lengths[1], "{lengths:?}");
    }

    /// A function that goes from its first bytecode to the loop's last, or behind the loop. Nothing but a slow path that never runs leads to
    /// its head. It adds as often as is said in each iteration.
    fn around_a_slow_path(enters: bool, adds: usize) -> Vec<Op> {
        let last = 2 + adds as u32;
        let to = Label(if enters { last } else { last + 1 });
        let mut code = vec![Op::Count { n: 3.into(), to }, Op::Twice { dst: 0.into(), a: 0.into() }];
        code.extend((0..adds).map(|_| Op::Add { dst: 0.into(), a: 0.into(), b: 1.into() }));
        code.extend([Op::Count { n: 2.into(), to: Label(2) }, Op::Return { a: 0.into() }]);
        code
    }

    /// The highest number of a node in the graph that is built first for a function.
    fn nodes_built(engine: &Engine<Op>, function: FunctionId) -> u32 {
        let text = engine.stages(function).expect("it compiles");
        let (_, graph) = text.split_once("== build\n").expect("it is built");
        let graph = graph.split_once("\n\n").expect("more follows").0;
        let numbers = graph.split([' ', ':']).filter_map(|word| word.strip_prefix('v')?.parse().ok());
        numbers.max().expect("it has a value")
    }

    /// A loop that only a slow path leads to is left out with it, from the start: long functions are compiled for one of their loops.
    #[test]
    fn loops_behind_what_is_left_out_are_not_linked() {
        let built = [1, 50].map(|adds| {
            let engine = hot();
            let function = engine.define("around", around_a_slow_path(false, adds), 4).expect("it is right");
            let mut vm = Vm { slow: Vec::new() };
            let mut call =
                |a: u64, way: i64| engine.call::<_, u64>(function, &mut vm, (a, int(1), 5i64, way));
            for _ in 0..300 {
                assert_eq!(call(int(7), 2), Ok(int(7)));
            }
            assert_eq!(engine.tier(function), Tier::Optimizer);
            let before = nodes_built(&engine, function);
            // The slow path runs, and the loop behind it.
            for _ in 0..3 {
                assert_eq!(call(0.5f64.to_bits(), 1), Ok((0.5 + 5.0 * adds as f64).to_bits()));
            }
            [before, nodes_built(&engine, function)]
        });
        let [[few, with_one], [also_few, with_fifty]] = built;
        assert_eq!(few, also_few);
        assert!(few < with_one && with_one + 200 < with_fifty, "{built:?}");
    }

    /// A loop that is not entered at its head has no edge to it at first.
    #[test]
    fn loops_that_are_entered_in_the_middle_are_linked() {
        let engine = hot();
        let function = engine.define("around", around_a_slow_path(true, 1), 4).expect("it is right");
        let mut vm = Vm { slow: Vec::new() };
        for n in (1..400).rev() {
            let sum = engine.call::<_, u64>(function, &mut vm, (int(0), int(2), n, 2i64));
            assert_eq!(sum, Ok(int(2 * (n - 1))));
        }
        assert_eq!(engine.tier(function), Tier::Optimizer);
        assert_eq!(engine.stats().missed, 0);
    }

    /// What has run in baseline code only is known to the optimizer.
    #[test]
    fn baseline_code_notes_its_slow_paths() {
        let engine = hot();
        let function = engine.define("sum", sum(), 3).expect("it is right");
        engine.compile_in(function, Tier::Baseline).expect("it is compiled");
        let mixed = (int(1), 0.5f64.to_bits(), 20);
        compare(&engine, function, mixed);
        for _ in 0..2 {
            compare(&engine, function, (int(1), int(0), 1000));
        }
        assert_eq!(engine.tier(function), Tier::Optimizer);
        compare(&engine, function, mixed);
        assert_eq!(engine.stats().missed, 0);
    }

    /// Each kind of argument is new to the code; then the code has everything.
    #[test]
    fn a_program_that_changes_is_compiled_anew_a_few_times() {
        let engine = hot();
        let function = engine.define("sum", sum(), 3).expect("it is right");
        let mut compiled = Vec::new();
        for arguments in arguments() {
            for _ in 0..300 {
                compare(&engine, function, arguments);
            }
            compiled.push(engine.stats().optimizer.compiled);
        }
        let Statistics { missed, .. } = engine.stats();
        assert!(missed > 0, "the code has missed something");
        for arguments in arguments().repeat(200) {
            compare(&engine, function, arguments);
        }
        let Statistics { missed: later, optimizer, .. } = engine.stats();
        assert_eq!(later, missed, "now it has everything");
        assert!(optimizer.compiled <= 12, "{compiled:?}, then {}", optimizer.compiled);
    }

    /// Many functions' worth of slow paths in one function, each of which runs for the first time after the last was learned.
    #[test]
    fn there_is_no_end_of_slow_paths_but_one_of_compilations() {
        const STAGES: u32 = 100;
        let engine = hot();
        // Register 0 is the sum, 1 an integer, 2 to 101 what each stage adds.
        let mut code: Vec<Op> =
            (0..STAGES).map(|stage| Op::Add { dst: 1.into(), a: 1.into(), b: (2 + stage).into() }).collect();
        code.push(Op::Return { a: 1.into() });
        let function = engine.define("stages", code, 2 + STAGES).expect("it is right");
        let mut arguments = vec![int(0); 2 + STAGES as usize];
        let call = |arguments: &[u64]| {
            let mut vm = Vm { slow: Vec::new() };
            engine.call::<_, u64>(function, &mut vm, arguments).expect("it returns")
        };
        for _ in 0..2000 {
            assert_eq!(call(&arguments), int(0));
        }
        for stage in (0..STAGES as usize).rev() {
            arguments[2 + stage] = 1.0f64.to_bits();
            for _ in 0..300 {
                assert_eq!(call(&arguments), ((STAGES as usize - stage) as f64).to_bits());
            }
        }
        let Statistics { optimizer, missed, .. } = engine.stats();
        assert!(
            optimizer.compiled <= 11 && missed < 2100,
            "{} compilations, {missed} misses",
            optimizer.compiled
        );
        assert_eq!(engine.tier(function), Tier::Optimizer);
    }

    /// Code that other functions call misses slow paths as well, in the frame that it makes for them.
    #[test]
    fn calls_between_functions_miss_slow_paths_too() {
        let engine = Engine::<Op>::builder().thresholds(10, 100).inlining(false).build();
        let function = engine.define("sum", sum(), 3).expect("it is right");
        let add = vec![Op::Add { dst: 0.into(), a: 0.into(), b: 1.into() }, Op::Return { a: 0.into() }];
        let add = engine.define("add", azulejo::Code::from(add).with_arguments(2), 2).expect("it is right");
        let caller = vec![
            Op::Call { dst: 0.into(), f: Imm(add.number()), a: 0.into(), b: 1.into() },
            Op::Count { n: 2.into(), to: Label(0) },
            Op::Return { a: 0.into() },
        ];
        let caller = engine.define("caller", caller, 3).expect("it is right");
        let call = |a: u64, b: u64, n: i64| {
            let mut vm = Vm { slow: Vec::new() };
            (engine.call::<_, u64>(caller, &mut vm, (a, b, n)), vm.slow.len())
        };
        assert_eq!(call(int(1), int(2), 2000), (Ok(int(4001)), 0));
        let before = engine.stats();
        assert!(before.optimizer_for_calls.compiled > 0 && before.missed == 0);
        assert_eq!(call(int(1), 0.5f64.to_bits(), 2000), (Ok(1001f64.to_bits()), 2000));
        let after = engine.stats();
        assert!((1..=40).contains(&after.missed), "{} misses", after.missed);
        assert!(after.optimizer_for_calls.compiled > before.optimizer_for_calls.compiled);
        // A failure on the slow path fails the caller.
        let failed = call(9e8f64.to_bits(), 1e8f64.to_bits(), 20);
        assert_eq!(failed, (Err(Error::Trap { trap: Trap::User(9), at: 0 }), 2));
        assert_eq!(engine.tier(function), Tier::Interpreter);
    }

    /// The thread in the background compiles what has run when it is asked.
    #[test]
    fn a_thread_in_the_background_leaves_out_as_well() {
        let engine = Engine::<Op>::builder().thresholds(10, 100).background(true).build::<Op>();
        let function = engine.define("sum", sum(), 3).expect("it is right");
        let until = std::time::Instant::now() + std::time::Duration::from_secs(60);
        while engine.tier(function) != Tier::Optimizer {
            compare(&engine, function, (int(1), int(0), 1000));
            assert!(std::time::Instant::now() < until, "it is never compiled");
        }
        for arguments in arguments().repeat(50) {
            compare(&engine, function, arguments);
        }
        assert!(engine.stats().missed > 0);
    }
}
