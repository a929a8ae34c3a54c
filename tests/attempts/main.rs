//! Failures as values: `(try call otherwise)` catches what `(invoke …)` and `(call throws …)` fail with, in every tier. What ends a
//! program is caught by nobody.

mod endings;

use azulejo::Builder;
use azulejo::prelude::*;
use azulejo_core::random::Random;

/// What the Rust functions have been called with.
#[derive(Default, Debug, PartialEq, Clone)]
struct Vm {
    log: Vec<i64>,
}

fn half(vm: &mut Vm, a: i64) -> Result<i64, Trap> {
    vm.log.push(a);
    match a {
        _ if a % 2 != 0 => Err(Trap::User((a % 5).unsigned_abs() as u16)),
        30.. => Err(Trap::BadConversion),
        _ => Ok(a / 2),
    }
}

fn refuse(vm: &mut Vm, a: i64) -> Result<(), Trap> {
    vm.log.push(-a);
    if a % 3 == 0 { Err(Trap::Overflow) } else { Ok(()) }
}

fn is_small(a: i64) -> Result<bool, Trap> {
    if a % 7 == 1 { Err(Trap::User(900)) } else { Ok(a < 10) }
}

fn narrow(a: i64) -> Result<f32, Trap> {
    if a % 4 == 3 { Err(Trap::DivideByZero) } else { Ok(a as f32) }
}

#[derive(Bytecode, Clone, Copy, Debug)]
#[bytecode(context = Vm)]
enum Op {
    Const { dst: Out<i64>, k: Imm<i64> },
    Add { dst: Out<i64>, a: In<i64>, b: In<i64> },
    Divide { dst: Out<i64>, a: In<i64>, b: In<i64> },
    Fail { a: In<i64> },
    Count { n: InOut<i64>, to: Label },
    Call { dst: Out<i64>, f: Imm<u32>, a: In<i64>, b: In<i64> },
    Try { dst: Out<i64>, f: Imm<u32>, a: In<i64>, b: In<i64> },
    TryNumber { dst: Out<i64>, f: In<u32>, below: Imm<u32>, a: In<i64> },
    TryMany { dst: Out<i64>, f: Imm<u32>, a: In<i64>, b: In<i64> },
    TryRun { dst: Out<i64>, f: Imm<u32>, args: Regs },
    TryNarrow { dst: Out<i8>, f: Imm<u32>, a: In<i64> },
    TryOnly { dst: Out<i64>, f: Imm<u32>, a: In<i64> },
    TryObserved { dst: Out<i64>, f: Imm<u32>, a: In<i64> },
    TryTwice { dst: Out<i64>, f: Imm<u32>, g: Imm<u32>, a: In<i64> },
    TryOrLeave { dst: Out<i64>, f: Imm<u32>, a: In<i64>, to: Label },
    TryHalf { dst: Out<i64>, a: In<i64> },
    TryRefuse { dst: Out<i64>, a: In<i64> },
    TrySmall { dst: Out<i64>, a: In<i64> },
    TryFloat { dst: Out<i64>, a: In<i64> },
    TailCall { f: Imm<u32>, a: In<i64>, b: In<i64> },
    Return { a: In<i64> },
}

template! {
    Op::Const => (copy $k)
    Op::Add => (add $a $b)
    Op::Divide => (div $a $b)
    Op::Fail => (when (eq (and $a 3) 1) (trap 40))
    Op::Count! => (dov (set $n (sub $n 1)) (when (gt $n 0) (branch $to)))
    Op::Call => (invoke $f (arglist $a $b) i64)
    Op::Try => (try (invoke $f (arglist $a $b) i64) (ucast (trap_code) i64))
    Op::TryNumber => (try (invoke (if (ult $f $below) $f 1000) (arglist $a $a) i64) (neg $a))
    Op::TryMany => (try (invoke $f (arglist $a $b $a $b $a $b $a $b) i64) (add $a (ucast (trap_code) i64)))
    Op::TryRun => (try (invoke $f (arglist $args) i64) (add (length $args) (ucast (trap_code) i64)))
    Op::TryNarrow => (try (invoke $f (arglist $a) i8) (ucast (trap_code) i8))
    Op::TryOnly! => (letv: (($given $a))
        (set $dst 1)
        (tryv (invokev $f (arglist $given)) (set $dst (ucast (trap_code) i64))))
    Op::TryObserved => (add $a (try (invoke observes $f (arglist $a $a) i64) (add $a 2)))
    Op::TryTwice => (try (invoke $f (arglist $a) i64)
        (let: (($first (trap_code)))
            (try (invoke $g (arglist $a $a) i64) (add (ucast $first i64) (mul 1000 (ucast (trap_code) i64))))))
    Op::TryOrLeave => (try (invoke $f (arglist $a) i64) (do (when (eq (trap_code) 56) (branch $to)) (return (neg $a))))
    Op::TryHalf => (try (call throws half (arglist (carg (tc) ptr) (carg $a i64)) i64) (ucast (trap_code) i64))
    Op::TryRefuse! => (letv: (($given $a))
        (set $dst 0)
        (tryv (callv throws refuse (arglist (carg (tc) ptr) (carg $given i64))) (set $dst (ucast (trap_code) i64))))
    Op::TrySmall => (if (try (call throws is_small (arglist (carg $a i64)) bool) (gt (trap_code) 900)) 1 2)
    Op::TryFloat => (ftos_sat (try (call throws narrow (arglist (carg $a i64)) f32) 0.5) i64)
    Op::TailCall => (tail $f (arglist $a $b))
    Op::Return => (return $a)
}

/// How many VM registers each function has. The last one counts a loop.
const REGISTERS: usize = 6;

/// How many arguments a function takes at most.
const MOST: usize = REGISTERS;

/// A program: the functions, each of which calls those before it.
type Program = Vec<Vec<Op>>;

fn program(seed: u64) -> Program {
    let mut random = Random::new(seed);
    let n_functions = 2 + random.below(4);
    (0..n_functions).map(|number| function(number, &mut random)).collect()
}

fn function(number: usize, random: &mut Random) -> Vec<Op> {
    let mut code = vec![Op::Const { dst: (REGISTERS as u32 - 1).into(), k: Imm(2) }];
    let one = |random: &mut Random, last: u32| {
        let mut register = || random.below(REGISTERS - 1) as u32;
        let (dst, a, b) = (register(), register(), register());
        // Every seventh callee does not exist.
        let mut callee = || match (number, random.below(7)) {
            (0, _) | (_, 0) => Imm(1000),
            _ => Imm(random.below(number) as u32),
        };
        let (f, g) = (callee(), callee());
        let first = random.below(3) as u32;
        let args = Regs { first, count: (random.below(9) as u32).min(REGISTERS as u32 - first) };
        let k = [0, 1, 2, 3, 7, 100, -1][random.below(7)];
        match random.below(21) {
            0..=2 => Op::Const { dst: dst.into(), k: Imm(k) },
            3 => Op::Add { dst: dst.into(), a: a.into(), b: b.into() },
            4 => Op::Divide { dst: dst.into(), a: a.into(), b: b.into() },
            5 => Op::Fail { a: a.into() },
            6 => Op::Call { dst: dst.into(), f, a: a.into(), b: b.into() },
            7 => Op::TryNumber { dst: dst.into(), f: a.into(), below: Imm(number as u32), a: b.into() },
            8 => Op::TryMany { dst: dst.into(), f, a: a.into(), b: b.into() },
            9 | 10 => Op::TryRun { dst: dst.into(), f, args },
            11 => Op::TryNarrow { dst: dst.into(), f, a: a.into() },
            12 => Op::TryOnly { dst: dst.into(), f, a: a.into() },
            13 => Op::TryObserved { dst: dst.into(), f, a: a.into() },
            14 => Op::TryTwice { dst: dst.into(), f, g, a: a.into() },
            15 => Op::TryOrLeave { dst: dst.into(), f, a: a.into(), to: Label(last) },
            16 => Op::TryHalf { dst: dst.into(), a: a.into() },
            17 => Op::TryRefuse { dst: dst.into(), a: a.into() },
            18 => Op::TrySmall { dst: dst.into(), a: a.into() },
            19 => Op::TryFloat { dst: dst.into(), a: a.into() },
            _ => Op::Try { dst: dst.into(), f, a: a.into(), b: b.into() },
        }
    };
    let n_ops = 3 + random.below(7);
    let last = n_ops as u32 + 2;
    for _ in 0..n_ops {
        code.push(one(random, last));
    }
    code.push(Op::Count { n: (REGISTERS as u32 - 1).into(), to: Label(1) });
    let a = random.below(REGISTERS - 1) as u32;
    code.push(match random.below(4) {
        0 if number > 0 => Op::TailCall { f: Imm(random.below(number) as u32), a: a.into(), b: 0.into() },
        _ => Op::Return { a: a.into() },
    });
    code
}

/// What a function does, in Rust.
fn evaluate(program: &Program, vm: &mut Vm, number: u32, args: &[i64]) -> Result<i64, Trap> {
    let Some(code) = program.get(number as usize) else { return Err(Trap::BadCall) };
    if args.len() > MOST {
        return Err(Trap::BadCall);
    }
    let mut registers = [0; REGISTERS];
    registers[..args.len()].copy_from_slice(args);
    let mut at = 0;
    loop {
        let r = |register: In<i64>| registers[register.index as usize];
        let mut call = |f: u32, args: &[i64]| evaluate(program, vm, f, args);
        let code_of = |trap: Trap| trap.code() as i64;
        let (dst, value) = match code[at] {
            Op::Const { dst, k } => (dst.index, k.0),
            Op::Add { dst, a, b } => (dst.index, r(a).wrapping_add(r(b))),
            Op::Divide { dst, a, b } => match (r(a), r(b)) {
                (_, 0) => return Err(Trap::DivideByZero),
                (i64::MIN, -1) => return Err(Trap::Overflow),
                (a, b) => (dst.index, a / b),
            },
            Op::Fail { a } if r(a) & 3 == 1 => return Err(Trap::User(40)),
            Op::Fail { .. } => (u32::MAX, 0),
            Op::Count { n, to } => {
                registers[n.index as usize] -= 1;
                at = if registers[n.index as usize] > 0 { to.0 as usize } else { at + 1 };
                continue;
            }
            Op::Call { dst, f, a, b } => (dst.index, call(f.0, &[r(a), r(b)])?),
            Op::Try { dst, f, a, b } => (dst.index, call(f.0, &[r(a), r(b)]).unwrap_or_else(code_of)),
            Op::TryNumber { dst, f, below, a } => {
                let f = registers[f.index as usize] as u32;
                let f = if f < below.0 { f } else { 1000 };
                (dst.index, call(f, &[r(a); 2]).unwrap_or(r(a).wrapping_neg()))
            }
            Op::TryMany { dst, f, a, b } => {
                let args = [r(a), r(b), r(a), r(b), r(a), r(b), r(a), r(b)];
                (dst.index, call(f.0, &args).unwrap_or_else(|trap| r(a).wrapping_add(code_of(trap))))
            }
            Op::TryRun { dst, f, args } => {
                let args = registers[args.first as usize..][..args.count as usize].to_vec();
                (dst.index, call(f.0, &args).unwrap_or_else(|trap| args.len() as i64 + code_of(trap)))
            }
            Op::TryNarrow { dst, f, a } => {
                (dst.index, call(f.0, &[r(a)]).unwrap_or_else(code_of) as u8 as i64)
            }
            Op::TryOnly { dst, f, a } => (dst.index, call(f.0, &[r(a)]).map_or_else(code_of, |_| 1)),
            Op::TryObserved { dst, f, a } => {
                let value = call(f.0, &[r(a); 2]).unwrap_or(r(a).wrapping_add(2));
                (dst.index, r(a).wrapping_add(value))
            }
            Op::TryTwice { dst, f, g, a } => {
                let value = call(f.0, &[r(a)]).unwrap_or_else(|first| {
                    call(g.0, &[r(a); 2]).unwrap_or_else(|second| code_of(first) + 1000 * code_of(second))
                });
                (dst.index, value)
            }
            Op::TryOrLeave { dst, f, a, to } => match call(f.0, &[r(a)]) {
                Ok(value) => (dst.index, value),
                Err(trap) if trap.code() == 56 => {
                    at = to.0 as usize;
                    continue;
                }
                Err(_) => return Ok(r(a).wrapping_neg()),
            },
            Op::TryHalf { dst, a } => (dst.index, half(vm, r(a)).unwrap_or_else(code_of)),
            Op::TryRefuse { dst, a } => (dst.index, refuse(vm, r(a)).map_or_else(code_of, |()| 0)),
            Op::TrySmall { dst, a } => {
                let is_so = is_small(r(a)).unwrap_or_else(|trap| trap.code() > 900);
                (dst.index, if is_so { 1 } else { 2 })
            }
            Op::TryFloat { dst, a } => (dst.index, narrow(r(a)).unwrap_or(0.5) as i64),
            Op::TailCall { f, a, b } => return evaluate(program, vm, f.0, &[r(a), r(b)]),
            Op::Return { a } => return Ok(r(a)),
        };
        if let Some(register) = registers.get_mut(dst as usize) {
            *register = value;
        }
        at += 1;
    }
}

/// A way to run programs: an engine, and the tier in which all functions are compiled before they run.
type Way = (&'static str, fn() -> Builder, Option<Tier>);

const WAYS: [Way; 6] = [
    ("climbing", || Engine::<Op>::builder().thresholds(3, 3), None),
    ("climbing with backtraces", || Engine::<Op>::builder().thresholds(2, 4).backtraces(true), None),
    (
        "the interpreter in Rust",
        || Engine::<Op>::builder().only(Tier::Interpreter).rust_interpreter(true),
        None,
    ),
    ("the interpreter in code", || Engine::<Op>::builder().thresholds(1 << 20, 1 << 20), None),
    ("baseline", Engine::<Op>::builder, Some(Tier::Baseline)),
    ("optimizer", Engine::<Op>::builder, Some(Tier::Optimizer)),
];

#[test]
fn programs_catch_the_same_in_every_tier() {
    let mut outcomes = [0; 2];
    for seed in 0..80 {
        let program = program(seed);
        for (name, builder, tier) in WAYS {
            let engine: Engine<Op> = builder().build();
            let define =
                |code: &Vec<Op>| engine.define("one", code.clone(), REGISTERS as u32).expect("it is right");
            let functions: Vec<FunctionId> = program.iter().map(define).collect();
            if let Some(tier) = tier.filter(|_| azulejo::can_compile().is_ok()) {
                functions.iter().for_each(|id| engine.compile_in(*id, tier).expect("it is compiled"));
            }
            for round in 0..8 {
                let (number, args) = (functions.len() - 1 - round % 2, [round as i64 * 5 - 7, round as i64]);
                let (mut wanted, mut vm) = (Vm::default(), Vm::default());
                let result = evaluate(&program, &mut wanted, number as u32, &args);
                outcomes[result.is_ok() as usize] += 1;
                let found: Result<i64, Error> = engine.call(functions[number], &mut vm, (args[0], args[1]));
                let found = found.map_err(|error| match error {
                    Error::Trap { trap, .. } => trap,
                    other => panic!("{other}: {seed} in {name}"),
                });
                assert_eq!(
                    (found, &vm),
                    (result, &wanted),
                    "program {seed}, round {round}, {name}: {program:#?}"
                );
            }
        }
    }
    assert!(outcomes[0] > 300 && outcomes[1] > 300, "{outcomes:?}");
}
