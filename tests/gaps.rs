//! Baseline code lacks the slow paths that have not run, and all cases of a site but the first, or the first as well if there is none yet.
//! Where it comes to one it is left, and made again with what it lacked, a few times. Every way has the results of the interpreter.

#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

use azulejo::Trap;
use azulejo::memory::Reserved;
use azulejo::prelude::*;
use azulejo_core::random::Random;

/// The root of a square, learned.
#[derive(Fields, Clone, Copy, PartialEq, Debug)]
struct Root {
    square: u64,
    root: u64,
}

struct Vm {
    start: *mut u8,
    size: u64,
    /// How many times a slow path has run.
    slow: u32,
    /// Whether sites get no cases.
    is_forgetful: bool,
}

impl Vm {
    fn new(memory: &Reserved) -> Vm {
        Vm { start: memory.start(), size: memory.accessible() as u64, slow: 0, is_forgetful: false }
    }
}

/// Numbers up to this are quick.
const LIMIT: u64 = 1 << 20;

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
    Root {
        dst: Out<u64>,
        a: In<u64>,
        cache: Site<Root, 3>,
    },
    /// Roots of even numbers are in one site, of odd ones in another.
    RootOfEither {
        dst: Out<u64>,
        a: In<u64>,
        even: Site<Root, 3>,
        odd: Site<Root, 1>,
    },
    /// The newest root is in the site.
    NewestRoot {
        dst: Out<u64>,
        a: In<u64>,
        newest: Site<Root, 1>,
    },
    /// A word of memory, loaded among the cold parts, which may fault.
    Load {
        dst: Out<u64>,
        at: In<u64>,
    },
    Count {
        n: InOut<u64>,
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
    macro ^is_small (,a) (ult ,a &LIMIT)

    Op::Const => $value
    Op::Add => (let: (($sum (add $a $b))) (if (all (^is_small $a) (^is_small $b) (^is_small $sum)) $sum
        (slow add_slowly (arglist (carg (tc) ptr) (carg $a u64) (carg $b u64)) u64)))
    Op::Root => (cached $cache Root (eq $a (case square)) (case root)
        (slow root (arglist (carg (tc) ptr) (carg $a u64) (carg $cache ptr)) u64))
    Op::RootOfEither => (cached $even Root (eq $a (case square)) (case root)
        (cached $odd Root (eq $a (case square)) (add (case root) 100)
            (slow root_of_either (arglist (carg (tc) ptr) (carg $a u64) (carg $even ptr) (carg $odd ptr)) u64)))
    Op::NewestRoot => (cached $newest Root (eq $a (case square)) (case root)
        (slow newest_root (arglist (carg (tc) ptr) (carg $a u64) (carg $newest ptr)) u64))
    Op::Load => unsafe (if (likely (zr $at)) 0
        (within (ule (add $at 8) (load (addr (tc) (&offset_of Vm, size)) u64)) 3
            (load (idx (load pure (addr (tc) (&offset_of Vm, start)) ptr) $at 1) u64)))
    Op::Count! => (dov (set $n (sub $n 1)) (when (nz $n) (branch $to)))
    Op::Call => (invoke $f (arglist $a $b) u64)
    Op::Return => (return $a)
}

fn sum(a: u64, b: u64) -> Result<u64, Trap> {
    if a == u64::MAX { Err(Trap::User(7)) } else { Ok(a.wrapping_add(b) & !1) }
}

fn add_slowly(vm: &mut Vm, a: u64, b: u64) -> Result<u64, Trap> {
    vm.slow += 1;
    sum(a, b)
}

fn root(vm: &mut Vm, square: u64, cases: Cases<'_, Root>) -> Result<u64, Trap> {
    vm.slow += 1;
    let root = square.isqrt();
    if !vm.is_forgetful {
        cases.add(Root { square, root });
    }
    Ok(root)
}

fn root_of_either(
    vm: &mut Vm,
    square: u64,
    even: Cases<'_, Root>,
    odd: Cases<'_, Root>,
) -> Result<u64, Trap> {
    let (cases, more) = if square.is_multiple_of(2) { (even, 0) } else { (odd, 100) };
    Ok(root(vm, square, cases)? + more)
}

fn newest_root(vm: &mut Vm, square: u64, cases: Cases<'_, Root>) -> Result<u64, Trap> {
    if !vm.is_forgetful {
        cases.retain(|_| false);
    }
    root(vm, square, cases)
}

/// An engine whose functions stay in baseline code, into which they come after a few calls.
fn climbing() -> Engine<Op> {
    Engine::<Op>::builder().up_to(Tier::Baseline).thresholds(4, 1000).build()
}

fn memory() -> Reserved {
    Reserved::new(1 << 16, (1 << 32) + (1 << 16)).expect("there is room")
}

/// Registers 0 and 1 are added in register 2, and 1 to that.
fn adds() -> Vec<Op> {
    let add = |dst: u32, a: u32, b: u32| Op::Add { dst: dst.into(), a: a.into(), b: b.into() };
    vec![add(2, 0, 1), add(2, 2, 1), Op::Return { a: 2.into() }]
}

fn adds_in_rust(a: u64, b: u64) -> Result<u64, Error> {
    let add = |a, b, at| match a < LIMIT && b < LIMIT && a + b < LIMIT {
        true => Ok(a + b),
        false => sum(a, b).map_err(|trap| Error::Trap { trap, at }),
    };
    add(add(a, b, 0)?, b, 1)
}

#[test]
fn what_has_not_run_is_not_there() {
    let memory = memory();
    let lengths = [1, LIMIT].map(|b| {
        let engine = climbing();
        let function = engine.define("adds", adds(), 3).expect("it is right");
        for a in 0..10 {
            assert_eq!(engine.call(function, &mut Vm::new(&memory), (a, b)), adds_in_rust(a, b));
        }
        assert_eq!((engine.tier(function), engine.stats().gaps), (Tier::Baseline, 0));
        engine.code_len(function)
    });
    assert!(lengths[0] + 100 < lengths[1], "{lengths:?}");
}

#[test]
fn what_was_lacking_is_there_the_next_time() {
    let memory = memory();
    let engine = climbing();
    let function = engine.define("adds", adds(), 3).expect("it is right");
    let mut vm = Vm::new(&memory);
    let mut call = |a: u64, b: u64| {
        assert_eq!(engine.call(function, &mut vm, (a, b)), adds_in_rust(a, b), "{a} {b}");
        engine.stats().gaps
    };
    (0..10).for_each(|a| assert_eq!(call(a, 1), 0));
    let first = engine.code_len(function);
    // The second addition alone is slow, then the first one, too. Then nothing is new. Code is made at the next call.
    assert_eq!((call(LIMIT - 2, 1), engine.code_len(function)), (1, 0));
    assert_eq!(call(LIMIT - 2, 1), 1);
    let second = engine.code_len(function);
    assert_eq!((call(LIMIT, 1), call(LIMIT, 1)), (2, 2));
    assert!(first < second && second < engine.code_len(function));
    for (a, b) in [(LIMIT, 3), (1, 1), (u64::MAX, 1), (u64::MAX - 1, 5), (LIMIT - 2, 1)] {
        assert_eq!(call(a, b), 2);
    }
    assert_eq!((engine.tier(function), engine.stats().baseline.compiled), (Tier::Baseline, 3));
}

#[test]
fn there_is_no_end_of_slow_paths_but_one_of_gaps() {
    const STAGES: u64 = 60;
    let memory = memory();
    let engine = climbing();
    let stages =
        (0..STAGES as u32).map(|stage| Op::Add { dst: 0.into(), a: 0.into(), b: (1 + stage).into() });
    let code: Vec<Op> = stages.chain([Op::Return { a: 0.into() }]).collect();
    let function = engine.define("stages", code, 1 + STAGES as u32).expect("it is right");
    let mut vm = Vm::new(&memory);
    let mut arguments = vec![0; 1 + STAGES as usize];
    for stage in (0..=STAGES as usize).rev() {
        for _ in 0..10 {
            assert_eq!(engine.call(function, &mut vm, &arguments[..]), Ok(arguments.iter().sum::<u64>()));
        }
        arguments[stage] = LIMIT;
    }
    let statistics = engine.stats();
    assert_eq!(
        (engine.tier(function), statistics.gaps, statistics.baseline.compiled),
        (Tier::Baseline, 8, 9)
    );
}

/// A site's first case is known, and the second one makes a gap; further ones do not, nor does a site that is full, or had two from the start.
#[test]
fn a_site_that_learns_late_makes_one_gap() {
    let memory = memory();
    let engine = climbing();
    let code = vec![
        Op::Root { dst: 0.into(), a: 0.into(), cache: Site::new() },
        Op::Root { dst: 1.into(), a: 1.into(), cache: Site::new() },
        Op::Add { dst: 0.into(), a: 0.into(), b: 1.into() },
        Op::Return { a: 0.into() },
    ];
    let function = engine.define("roots", code, 2).expect("it is right");
    let mut vm = Vm::new(&memory);
    let mut call = |a: u64, b: u64| {
        assert_eq!(engine.call(function, &mut vm, (a * a, b * b)), Ok(a + b), "{a} {b}");
        (vm.slow, engine.stats().gaps)
    };
    (0..10).for_each(|_| assert_eq!(call(1, 2), (2, 0)));
    for (b, expected) in [(3, (3, 1)), (4, (4, 1)), (5, (5, 1)), (5, (6, 1)), (2, (6, 1)), (4, (6, 1))] {
        assert_eq!(call(1, b), expected, "{b}");
    }
    // The first site is still known to have one case.
    assert_eq!(call(7, 2), (7, 2));
    engine.clear_sites();
    assert_eq!(call(1, 2).0, 9);

    let engine = climbing();
    let code = vec![Op::Root { dst: 0.into(), a: 0.into(), cache: Site::new() }, Op::Return { a: 0.into() }];
    let function = engine.define("root", code, 1).expect("it is right");
    for root in [1u64, 2, 1, 2, 1, 2, 1, 2, 3] {
        assert_eq!(engine.call(function, &mut vm, (root * root,)), Ok(root));
    }
    assert_eq!((engine.tier(function), engine.stats().gaps), (Tier::Baseline, 0));
}

/// A bytecode that has not run does nothing but leave, until it has.
#[test]
fn what_has_no_case_yet_makes_one_gap() {
    let memory = memory();
    let engine = climbing();
    // The root is taken if register 0 is not 1.
    let code = vec![
        Op::Count { n: 0.into(), to: Label(2) },
        Op::Return { a: 1.into() },
        Op::Root { dst: 1.into(), a: 1.into(), cache: Site::new() },
        Op::Add { dst: 1.into(), a: 1.into(), b: 1.into() },
        Op::Return { a: 1.into() },
    ];
    let function = engine.define("maybe", code, 2).expect("it is right");
    let mut vm = Vm::new(&memory);
    let mut call = |takes_root: u64, square: u64| {
        let expected = if takes_root == 0 { square } else { square.isqrt() * 2 };
        assert_eq!(engine.call(function, &mut vm, (1 + takes_root, square)), Ok(expected));
        (vm.slow, engine.stats().gaps, engine.code_len(function))
    };
    (0..10).for_each(|_| _ = call(0, 9));
    let (.., before) = call(0, 9);
    assert_eq!(engine.tier(function), Tier::Baseline);
    assert_eq!(call(1, 9), (1, 1, 0));
    let (.., after) = call(1, 9);
    assert!(before + 20 < after, "{before} {after}");
    (0..10).for_each(|_| assert_eq!(call(1, 9), (1, 1, after)));
    assert_eq!(engine.stats().baseline.compiled, 2);
}

/// What has no case in any of its sites does nothing but leave. A bytecode whose second site has learned looks there.
#[test]
fn of_two_sites_either_may_be_without_a_case() {
    let memory = memory();
    let engine = climbing();
    // The root is taken if register 0 is not 1.
    let code = vec![
        Op::Count { n: 0.into(), to: Label(2) },
        Op::Return { a: 1.into() },
        Op::RootOfEither { dst: 1.into(), a: 1.into(), even: Site::new(), odd: Site::new() },
        Op::Return { a: 1.into() },
    ];
    let one = Op::Root { dst: 1.into(), a: 1.into(), cache: Site::new() };
    let of_one = engine.define("one", vec![code[0], code[1], one, code[3]], 2).expect("it is right");
    let function = engine.define("either", code, 2).expect("it is right");
    let mut vm = Vm::new(&memory);
    let mut call = |function, takes_root: u64, square: u64| {
        let root = square.isqrt() + if square.is_multiple_of(2) { 0 } else { 100 };
        let expected = if takes_root == 0 { square } else { root };
        assert_eq!(engine.call(function, &mut vm, (1 + takes_root, square)), Ok(expected));
        (vm.slow, engine.stats().gaps, engine.code_len(function))
    };
    (0..10).for_each(|_| _ = (call(of_one, 0, 9), call(function, 0, 9)));
    let ((.., of_one), (.., before)) = (call(of_one, 0, 9), call(function, 0, 9));
    assert_eq!((before, engine.tier(function)), (of_one, Tier::Baseline), "it leaves, and no more");
    assert_eq!(call(function, 1, 9), (1, 1, 0));
    let (.., with_odd) = call(function, 1, 9);
    assert!(before + 20 < with_odd, "{before} {with_odd}");
    (0..10).for_each(|_| assert_eq!(call(function, 1, 9), (1, 1, with_odd)));
    // The slow path is there by now, and gives the other site its case. The next time code is left for that.
    assert_eq!(call(function, 1, 16), (2, 1, with_odd));
    assert_eq!(call(function, 1, 16), (2, 2, 0));
    (0..10).for_each(|_| assert_eq!((call(function, 1, 16).0, call(function, 1, 9).0), (2, 2)));
    assert_eq!(engine.tier(function), Tier::Baseline);
}

/// Where the slow path has run and there is no case, or only one, code runs the slow path. It asks there for the case that has come, and is
/// left once for the first and once for the second: code that knows the second looks at all that come.
#[test]
fn a_site_that_learns_nothing_at_first_makes_two_gaps() {
    let memory = memory();
    let engine = climbing();
    let code = vec![
        Op::Add { dst: 2.into(), a: 0.into(), b: 1.into() },
        Op::Root { dst: 2.into(), a: 2.into(), cache: Site::new() },
        Op::Add { dst: 2.into(), a: 2.into(), b: 1.into() },
        Op::Return { a: 2.into() },
    ];
    let code = azulejo::Code::from(code).with_temporaries(2);
    let function = engine.define("late", code, 3).expect("it is right");
    let mut vm = Vm { is_forgetful: true, ..Vm::new(&memory) };
    let call = |vm: &mut Vm, b: u64| {
        assert_eq!(engine.call(function, vm, (16u64, b)), Ok((16 + b).isqrt() + b), "{b}");
        (vm.slow, engine.stats().gaps)
    };
    (1..=10).for_each(|times| assert_eq!(call(&mut vm, 9), (times, 0)));
    assert_eq!(engine.tier(function), Tier::Baseline);
    vm.is_forgetful = false;
    // The slow path gives the site its case; the next time code is left for that, and then it knows it.
    assert_eq!(call(&mut vm, 9), (11, 0));
    assert_eq!([(); 2].map(|()| call(&mut vm, 9)), [(11, 1); 2]);
    let known = engine.code_len(function);
    for (b, slow) in [(9, 11), (0, 12), (9, 12)] {
        assert_eq!(call(&mut vm, b), (slow, 1), "{b}");
    }
    assert_eq!((engine.code_len(function), engine.stats().baseline.compiled), (known, 2));
    // There is another case by now, and code is left for that, too. Then it has all that the template says.
    for b in [0, 0, 9, 0] {
        assert_eq!(call(&mut vm, b), (12, 2), "{b}");
    }
    let all = engine.code_len(function);
    assert!(known + 20 < all, "{known} {all}");
    for b in [20, 20, 0] {
        assert_eq!(call(&mut vm, b), (13, 2), "{b}");
    }
    assert_eq!((engine.code_len(function), engine.stats().baseline.compiled), (all, 3));
}

/// Code that knows the only case is left once if another has taken its place, and then it looks at what is in memory.
#[test]
fn a_case_in_the_place_of_another_makes_one_gap() {
    let memory = memory();
    let engine = climbing();
    let code =
        vec![Op::NewestRoot { dst: 1.into(), a: 0.into(), newest: Site::new() }, Op::Return { a: 1.into() }];
    let function = engine.define("newest", code, 2).expect("it is right");
    let mut vm = Vm::new(&memory);
    let call = |vm: &mut Vm, square: u64| {
        assert_eq!(engine.call(function, vm, (square,)), Ok(square.isqrt()), "{square}");
        (vm.slow, engine.stats().gaps)
    };
    assert_eq!(call(&mut vm, 1), (1, 0));
    vm.is_forgetful = true;
    (2..=10).for_each(|times| assert_eq!(call(&mut vm, 4), (times, 0)));
    assert_eq!((call(&mut vm, 1), engine.tier(function)), ((10, 0), Tier::Baseline));
    vm.is_forgetful = false;
    assert_eq!([9, 9, 9, 9].map(|square| call(&mut vm, square)), [(11, 0), (11, 1), (11, 1), (11, 1)]);
    for (slow, square) in [(12, 16), (13, 25), (14, 1)] {
        assert_eq!([(); 3].map(|()| call(&mut vm, square)), [(slow, 1); 3]);
    }
}

/// A loop that lacks something goes on in code that has it.
#[test]
fn a_loop_with_a_gap_goes_on_in_code() {
    let memory = memory();
    let engine = climbing();
    let code = vec![
        Op::Add { dst: 2.into(), a: 2.into(), b: 1.into() },
        Op::Count { n: 0.into(), to: Label(0) },
        Op::Return { a: 2.into() },
    ];
    let function = engine.define("sum", code, 3).expect("it is right");
    let mut vm = Vm::new(&memory);
    (0..10).for_each(|_| assert_eq!(engine.call(function, &mut vm, (5u64, 2u64)), Ok(10)));
    assert_eq!(engine.stats().gaps, 0);
    // The sum gets too large on the way.
    assert_eq!(engine.call(function, &mut vm, (LIMIT, 2u64)), Ok(LIMIT * 2));
    assert_eq!((engine.stats().gaps, engine.stats().baseline.compiled), (1, 2));
    assert!(engine.code_len(function) > 0);
}

/// A value that is handed on in a machine register alone has to be in its VM register where code is left.
#[test]
fn temporaries_are_there_where_code_is_left() {
    let memory = memory();
    for seed in 0..200 {
        let mut random = Random::new(seed);
        let engine = climbing();
        // Each bytecode reads the temporary that the one before has written.
        let mut code = vec![Op::Add { dst: 3.into(), a: 0.into(), b: 1.into() }];
        for at in 0..8 {
            let (from, to) = (3 + at % 2, 3 + (at + 1) % 2);
            code.push(match random.below(3) {
                0 => Op::Add { dst: to.into(), a: from.into(), b: 2.into() },
                1 => Op::Add { dst: to.into(), a: 1.into(), b: from.into() },
                _ => Op::Root { dst: to.into(), a: from.into(), cache: Site::new() },
            });
        }
        code.push(Op::Return { a: 3.into() });
        let oracle = Engine::<Op>::builder().only(Tier::Interpreter).rust_interpreter(true).build();
        let [function, expected] = [&engine, &oracle].map(|engine| {
            let code = azulejo::Code::from(code.clone()).with_temporaries(3);
            engine.define("chain", code, 5).expect("it is right")
        });
        let mut vm = Vm::new(&memory);
        for round in 0..40 {
            let large = if round > 8 { random.below(3) as u64 * (LIMIT / 2) } else { 0 };
            let arguments = (1 + large, 2u64, random.below(2) as u64 + large);
            let result: Result<u64, Error> = engine.call(function, &mut vm, arguments);
            assert_eq!(result, oracle.call(expected, &mut Vm::new(&memory), arguments), "{seed} {round}");
        }
    }
}

/// Calls that run code with a gap leave it where they are, each for itself.
#[test]
fn calls_leave_code_that_has_been_made_again_meanwhile() {
    let memory = memory();
    for tier in [Tier::Baseline, Tier::Optimizer] {
        let engine = Engine::<Op>::builder().up_to(tier).thresholds(4, 100).inlining(false).build::<Op>();
        // Register 0 counts down, and each level adds register 1 to what the level below gives.
        let code = vec![
            Op::Count { n: 0.into(), to: Label(2) },
            Op::Return { a: 1.into() },
            Op::Call { dst: 2.into(), f: Imm(0), a: 0.into(), b: 1.into() },
            Op::Add { dst: 2.into(), a: 2.into(), b: 1.into() },
            Op::Return { a: 2.into() },
        ];
        let function = engine.define("levels", code, 3).expect("it is right");
        let mut vm = Vm::new(&memory);
        for levels in [10, 50].repeat(20) {
            assert_eq!(engine.call(function, &mut vm, (levels, 1u64)), Ok(levels));
        }
        // All levels are in the code that lacks the slow path when the innermost comes to it.
        for levels in [50u64, 20, 50] {
            assert_eq!(engine.call(function, &mut vm, (levels, LIMIT)), Ok(levels * LIMIT));
        }
        let failed = engine.call::<_, u64>(function, &mut vm, (3u64, u64::MAX));
        assert_eq!(failed, Err(Error::Trap { trap: Trap::User(7), at: 2 }));
        if tier == Tier::Baseline {
            assert!((1..50).contains(&engine.stats().gaps), "{}", engine.stats().gaps);
        }
    }
}

/// Whatever stands among the cold parts, a fault there is that of its bytecode.
#[test]
fn faults_are_found_behind_what_code_leads_to() {
    let memory = memory();
    // SAFETY: the memory's reserved addresses cover all offsets that are used.
    let guarded = unsafe { Engine::<Op>::builder().guards(true) };
    let engine = guarded.up_to(Tier::Baseline).thresholds(4, 1000).build::<Op>();
    let code = vec![
        Op::Root { dst: 0.into(), a: 0.into(), cache: Site::new() },
        Op::Load { dst: 2.into(), at: 1.into() },
        Op::Add { dst: 0.into(), a: 0.into(), b: 2.into() },
        Op::Load { dst: 3.into(), at: 2.into() },
        Op::Return { a: 0.into() },
    ];
    let function = engine.define("loads", code, 4).expect("it is right");
    let mut vm = Vm::new(&memory);
    let outside = Err(Error::Trap { trap: Trap::User(3), at: 1 });
    for square in [4u64, 4, 4, 4, 4, 4, 9, 16, 4, 9, 25, 36] {
        let root = square.isqrt();
        assert_eq!(engine.call(function, &mut vm, (square, 0u64)), Ok(root));
        assert_eq!(engine.call(function, &mut vm, (square, 8u64)), Ok(root));
        assert_eq!(engine.call::<_, u64>(function, &mut vm, (square, 1u64 << 31)), outside, "{square}");
    }
    assert_eq!(engine.tier(function), Tier::Baseline);
}

/// What a site has learned is forgotten again and again: each time code is made again a few times, and from then on seldom.
#[test]
fn what_is_forgotten_without_end_is_compiled_a_few_times() {
    let memory = memory();
    let engine: Engine<Op> = Engine::<Op>::builder().thresholds(10, 100).background(false).build();
    let code = vec![
        Op::Root { dst: 2.into(), a: 0.into(), cache: Site::new() },
        Op::Add { dst: 3.into(), a: 3.into(), b: 2.into() },
        Op::Count { n: 1.into(), to: Label(0) },
        Op::Return { a: 3.into() },
    ];
    let function = engine.define("sum", code, 4).expect("it is right");
    let mut vm = Vm::new(&memory);
    let rounds = 2000;
    for round in 1..=rounds {
        for _ in 0..3 {
            assert_eq!(engine.call::<_, u64>(function, &mut vm, (49u64, 100u64)), Ok(700));
        }
        engine.retain_cases(|case: &Root| case.square != 49);
        assert_eq!(vm.slow, round, "it is learned again each time");
    }
    let stats = engine.stats();
    assert!(stats.baseline.compiled <= 24 && stats.optimizer.compiled <= 24, "{stats}");
    // It becomes hot again.
    for _ in 0..30_000 {
        assert_eq!(engine.call::<_, u64>(function, &mut vm, (49u64, 100u64)), Ok(700));
    }
    assert_eq!(engine.tier(function), Tier::Optimizer);
}
