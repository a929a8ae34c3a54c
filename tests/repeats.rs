//! Functions that call themselves in their own place: code of the optimizer that others call makes loops of them.

mod ways;

use azulejo::Error;
use azulejo::prelude::*;
use azulejo_core::random::Random;
use ways::ways;

#[derive(Bytecode, Clone, Copy, Debug)]
enum Op {
    Set { dst: Out<i64>, k: Imm<i64> },
    Add { dst: Out<i64>, a: In<i64>, b: In<i64> },
    Mix { dst: InOut<i64>, a: In<i64> },
    Half { dst: Out<f64>, x: In<f64>, a: In<i64> },
    Round { dst: Out<i64>, x: In<f64> },
    Divide { dst: Out<i64>, a: In<i64>, b: In<i64> },
    JumpUnless { a: In<i64>, to: Label },
    Leave { a: In<i64> },
    Call { dst: Out<i64>, f: Imm<u32>, args: Regs },
    Tail2 { f: Imm<u32>, a: In<i64>, b: In<i64> },
    Tail3 { f: Imm<u32>, a: In<i64>, b: In<i64>, x: In<f64> },
    TailRun { f: Imm<u32>, args: Regs },
    TailIfOdd { a: In<i64>, f: Imm<u32>, args: Regs },
    Return { a: In<i64> },
}

template! {
    Op::Set        => $k
    Op::Add        => (add $a $b)
    Op::Mix!       => (set $dst (add (mul $dst 31) $a))
    Op::Half       => (add (mul $x 0.5) (stof (and $a 1023) f64))
    Op::Round      => (ftos_sat $x i64)
    Op::Divide     => (div $a $b)
    Op::JumpUnless => (when (zr $a) (branch $to))
    Op::Leave      => (when (nz (and $a 1)) (exit))
    Op::Call       => (invoke $f (arglist $args) i64)
    Op::Tail2      => (tail $f (arglist $a $b))
    Op::Tail3      => (tail $f (arglist $a $b $x))
    Op::TailRun    => (tail $f (arglist $args))
    Op::TailIfOdd  => (when (nz (and $a 1)) (tail $f (arglist $args)))
    Op::Return     => (return $a)
}

fn r<T: From<u32>>(register: u32) -> T {
    register.into()
}

/// The registers: a number that counts down, integers, a float, and room for the arguments of tail calls.
const FLOAT: u32 = 7;
const ROOM: u32 = 8;
const REGISTERS: u32 = 16;

/// The functions of a program: the last one calls itself, and sometimes the first.
fn random_program(seed: u64) -> [Vec<Op>; 2] {
    let mut random = Random::new(seed);
    let leaf = vec![Op::Mix { dst: r(0), a: r(1) }, Op::Return { a: r(0) }];
    let mut code = vec![Op::JumpUnless { a: r(0), to: Label(0) }];
    let any = |random: &mut Random| 1 + random.below(FLOAT as usize - 1) as u32;
    for _ in 0..1 + random.below(3) {
        for _ in 0..random.below(5) {
            let (dst, a, b) = (any(&mut random), any(&mut random), any(&mut random));
            code.push(match random.below(9) {
                0 => Op::Set { dst: r(dst), k: Imm(random.below(100) as i64) },
                1 | 2 => Op::Mix { dst: r(dst), a: r(a) },
                3 => Op::Half { dst: r(FLOAT), x: r(FLOAT), a: r(a) },
                4 => Op::Round { dst: r(dst), x: r(FLOAT) },
                5 if random.one_in(4) => Op::Divide { dst: r(dst), a: r(a), b: r(b) },
                6 => Op::Leave { a: r(a) },
                7 => Op::Call { dst: r(dst), f: Imm(0), args: Regs { first: a.min(5), count: 2 } },
                _ => Op::Add { dst: r(dst), a: r(a), b: r(b) },
            });
        }
        // The number that counts down, and the other arguments in another order.
        code.push(Op::Set { dst: r(ROOM), k: Imm(-1) });
        code.push(Op::Add { dst: r(ROOM), a: r(0), b: r(ROOM) });
        for at in ROOM + 1..REGISTERS {
            let a = any(&mut random);
            code.push(match at - ROOM == FLOAT {
                true => Op::Half { dst: r(at), x: r(FLOAT), a: r(a) },
                false => Op::Add { dst: r(at), a: r(a), b: r(0) },
            });
        }
        let args = Regs { first: ROOM, count: 1 + random.below(8) as u32 };
        code.push(Op::TailIfOdd { a: r(any(&mut random)), f: Imm(1), args });
    }
    code.push(match random.below(4) {
        0 => Op::Tail2 { f: Imm(1), a: r(ROOM), b: r(any(&mut random)) },
        1 => Op::Tail3 { f: Imm(1), a: r(ROOM), b: r(any(&mut random)), x: r(FLOAT) },
        _ => Op::TailRun { f: Imm(1), args: Regs { first: ROOM, count: 1 + random.below(8) as u32 } },
    });
    let end = code.len() as u32;
    code[0] = Op::JumpUnless { a: r(0), to: Label(end) };
    code.push(Op::Add { dst: r(1), a: r(1), b: r(2) });
    code.push(Op::Return { a: r(any(&mut random)) });
    [leaf, code]
}

/// What a function returns, if it does not divide by zero; where it starts again with as many arguments as it had is counted.
fn evaluate(program: &[Vec<Op>], function: usize, args: &[i64], repeats: &mut usize) -> Option<i64> {
    let mut registers = [0i64; REGISTERS as usize];
    registers[..args.len()].copy_from_slice(args);
    let mut n_args = args.len();
    let mut at = 0;
    loop {
        let get = |register: In<i64>| registers[register.index as usize];
        let float = |register: In<f64>| f64::from_bits(registers[register.index as usize] as u64);
        let run = |args: Regs| registers[args.first as usize..][..args.count as usize].to_vec();
        let (dst, value) = match program[function][at] {
            Op::Set { dst, k } => (dst.index, k.0),
            Op::Add { dst, a, b } => (dst.index, get(a).wrapping_add(get(b))),
            Op::Mix { dst, a } => {
                let old = registers[dst.index as usize];
                (dst.index, old.wrapping_mul(31).wrapping_add(get(a)))
            }
            Op::Half { dst, x, a } => (dst.index, (float(x) * 0.5 + (get(a) & 1023) as f64).to_bits() as i64),
            Op::Round { dst, x } => (dst.index, float(x) as i64),
            Op::Divide { dst, a, b } => (dst.index, get(a).checked_div(get(b))?),
            Op::Call { dst, f, args } => (dst.index, evaluate(program, f.0 as usize, &run(args), repeats)?),
            Op::JumpUnless { a, to } => {
                at = if get(a) == 0 { to.0 as usize } else { at + 1 };
                continue;
            }
            Op::Leave { .. } => {
                at += 1;
                continue;
            }
            Op::Return { a } => return Some(get(a)),
            Op::TailIfOdd { a, .. } if get(a) & 1 == 0 => {
                at += 1;
                continue;
            }
            Op::Tail2 { .. } | Op::Tail3 { .. } | Op::TailRun { .. } | Op::TailIfOdd { .. } => {
                let given = match program[function][at] {
                    Op::Tail2 { a, b, .. } => vec![get(a), get(b)],
                    Op::Tail3 { a, b, x, .. } => vec![get(a), get(b), float(x).to_bits() as i64],
                    Op::TailRun { args, .. } | Op::TailIfOdd { args, .. } => run(args),
                    _ => unreachable!("it is one of these"),
                };
                registers.fill(0);
                registers[..given.len()].copy_from_slice(&given);
                *repeats += (given.len() == n_args) as usize;
                (n_args, at) = (given.len(), 0);
                continue;
            }
        };
        registers[dst as usize] = value;
        at += 1;
    }
}

fn engines() -> impl Iterator<Item = (&'static str, Engine<Op>)> {
    ways().into_iter().map(|(name, build)| (name, build().checks(true).build()))
}

#[test]
fn random_functions_that_repeat_find_the_same_in_every_tier() {
    let mut repeats = 0;
    for seed in 0..120 {
        let program = random_program(seed);
        for (name, engine) in engines() {
            let define = |code: &Vec<Op>| engine.define("", code.clone(), REGISTERS).expect("it is right");
            let [_, function] = program.each_ref().map(define);
            for n in [1, 2, 5, 40] {
                for args in [vec![n, 3], vec![n, -7, 5], vec![n, 1, 2, 3, 4], vec![n, 9, 8, 7, 6, 5, 4, 3]] {
                    let expected = evaluate(&program, 1, &args, &mut repeats);
                    let bits: Vec<u64> = args.iter().map(|arg| *arg as u64).collect();
                    let found: Result<i64, Error> = engine.call(function, &mut (), &bits[..]);
                    assert_eq!(found.ok(), expected, "seed {seed}, {name}, {args:?}: {:?}", program[1]);
                }
            }
        }
    }
    assert!(repeats > 10_000, "{repeats} times a function started again");
}

#[test]
fn registers_that_only_the_call_itself_changes() {
    let code = vec![
        Op::JumpUnless { a: r(0), to: Label(5) },
        Op::Set { dst: r(2), k: Imm(-1) },
        Op::Add { dst: r(2), a: r(0), b: r(2) },
        Op::Add { dst: r(3), a: r(1), b: r(0) },
        Op::Tail2 { f: Imm(0), a: r(2), b: r(3) },
        Op::Return { a: r(1) },
    ];
    for (name, engine) in engines() {
        let function = engine.define("", code.clone(), 4).expect("it is right");
        for n in 0..30 {
            let found: i64 = engine.call(function, &mut (), (n, 7i64)).expect("it ends");
            assert_eq!(found, 7 + n * (n + 1) / 2, "{name}");
        }
    }
}
