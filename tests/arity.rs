//! Calls with fewer and with more arguments than functions take, in every tier and by every way of calling: missing arguments have the
//! value that the function states, and a surplus is refused, dropped or packed.

use azulejo::prelude::*;
use azulejo::{Builder, Fault, Surplus, VerifyError};
use azulejo_core::random::Random;

#[derive(Debug)]
struct Vm {
    /// The arguments that were packed.
    packed: Vec<Vec<u64>>,
    /// The arguments of the next call from memory.
    gathered: [u64; 48],
}

impl Default for Vm {
    fn default() -> Vm {
        Vm { packed: Vec::new(), gathered: [0; 48] }
    }
}

impl PartialEq for Vm {
    fn eq(&self, other: &Vm) -> bool {
        self.packed == other.packed
    }
}

/// Copies a run of registers for a call, but leaves some of the last ones out; returns how many are left. What the call before has
/// gathered is overwritten.
unsafe extern "C" fn gather(vm: &mut Vm, first: *const u64, count: u64, less: u64) -> u64 {
    // SAFETY: the template passes a run.
    let run = unsafe { std::slice::from_raw_parts(first, count as usize) };
    let run = &run[..run.len() - left_out(less, run.len())];
    vm.gathered.fill(0x5555);
    vm.gathered[..run.len()].copy_from_slice(run);
    run.len() as u64
}

/// How many of the last registers of a run are left out of a call.
fn left_out(less: u64, count: usize) -> usize {
    (less % 4).min(count as u64) as usize
}

impl Vm {
    fn pack(&mut self, surplus: &[u64]) -> Result<u64, Trap> {
        self.packed.push(surplus.to_vec());
        if surplus.len() == 4 { Err(Trap::User(44)) } else { Ok(weigh(surplus) ^ 3) }
    }
}

#[derive(Bytecode, Clone, Copy, Debug)]
#[bytecode(context = Vm)]
enum Op {
    Const {
        dst: Out<u64>,
        k: Imm<u64>,
    },
    Add {
        dst: Out<u64>,
        a: In<u64>,
        b: In<u64>,
    },
    Twist {
        dst: InOut<u64>,
        a: In<u64>,
    },
    Narrow {
        dst: Out<u8>,
        a: In<u8>,
    },
    Half {
        dst: Out<f64>,
        a: In<f64>,
    },
    Count {
        n: InOut<i64>,
        to: Label,
    },
    Call0 {
        dst: Out<u64>,
        f: Imm<u32>,
    },
    Call1 {
        dst: Out<u64>,
        f: Imm<u32>,
        a: In<u64>,
    },
    Call3 {
        dst: Out<u64>,
        f: Imm<u32>,
        a: In<u64>,
        b: In<u64>,
    },
    Call7 {
        dst: Out<u64>,
        f: Imm<u32>,
        a: In<u64>,
        b: In<u64>,
    },
    CallNumber {
        dst: Out<u64>,
        f: In<u32>,
        a: In<u64>,
    },
    CallRun {
        dst: Out<u64>,
        f: Imm<u32>,
        args: Regs,
    },
    /// As `CallRun`, but the arguments are in memory, and their number is told by an argument.
    CallSpread {
        dst: Out<u64>,
        f: Imm<u32>,
        less: In<u64>,
        args: Regs,
    },
    TailSpread {
        f: Imm<u32>,
        less: In<u64>,
        args: Regs,
    },
    TryRun {
        dst: Out<u64>,
        f: Imm<u32>,
        args: Regs,
    },
    Sum {
        dst: Out<u64>,
        run: Regs,
    },
    TailCall {
        f: Imm<u32>,
        a: In<u64>,
    },
    TailRun {
        f: Imm<u32>,
        args: Regs,
    },
    Leave {
        a: In<u64>,
    },
    Return {
        a: In<u64>,
    },
}

template! {
    Op::Const => (copy $k)
    Op::Add => (add $a $b)
    Op::Twist => (xor (mul $dst 31) $a)
    Op::Narrow => (add $a 3)
    Op::Half => (canonical_nan (mul $a 0.5))
    Op::Count! => (dov (set $n (sub $n 1)) (when (gt $n 0) (branch $to)))
    Op::Call0 => (invoke $f (arglist) u64)
    Op::Call1 => (invoke $f (arglist $a) u64)
    Op::Call3 => (invoke $f (arglist $a $b $a) u64)
    Op::Call7 => (invoke $f (arglist $a $b $a $b $a $b $a) u64)
    Op::CallNumber => (invoke $f (arglist $a) u64)
    Op::CallRun => (invoke $f (arglist $args) u64)
    Op::CallSpread => unsafe (let:
        (($n (call gather (arglist (carg (tc) ptr) (carg (window $args) ptr) (carg (length $args) u64) (carg $less u64)) u64)))
        (invoke $f (arglist (spread (addr (tc) (&offset_of Vm, gathered)) $n)) u64))
    Op::TailSpread => unsafe (letv:
        (($n (call gather (arglist (carg (tc) ptr) (carg (window $args) ptr) (carg (length $args) u64) (carg $less u64)) u64)))
        (tail $f (arglist (spread (addr (tc) (&offset_of Vm, gathered)) $n))))
    Op::TryRun => (try (invoke $f (arglist $args) u64) (ucast (trap_code) u64))
    Op::Sum => unsafe (call sum (arglist (carg (window $run) ptr) (carg (length $run) u64)) u64)
    Op::TailCall => (tail $f (arglist $a))
    Op::TailRun => (tail $f (arglist $args))
    Op::Leave => (when (nz (and $a 1)) (exit))
    Op::Return => (return $a)
}

/// A sum of a run's registers, each with a weight.
unsafe extern "C" fn sum(first: *const u64, count: u64) -> u64 {
    // SAFETY: the template passes a run.
    weigh(unsafe { std::slice::from_raw_parts(first, count as usize) })
}

fn weigh(values: &[u64]) -> u64 {
    values
        .iter()
        .zip(1..)
        .fold(0, |sum, (value, weight): (&u64, u64)| sum.wrapping_add(value.wrapping_mul(weight)))
}

struct Function {
    code: Vec<Op>,
    registers: u32,
    arguments: Option<u32>,
    missing: u64,
    surplus: Surplus,
}

impl Function {
    fn most(&self) -> usize {
        self.arguments.unwrap_or(self.registers) as usize
    }
}

const NIL: u64 = 0xfff1_0000_0000_0007;

fn program(seed: u64) -> Vec<Function> {
    let mut random = Random::new(seed);
    (0..2 + random.below(4)).map(|number| function(number, &mut random)).collect()
}

fn function(number: usize, random: &mut Random) -> Function {
    let registers = 3 + random.below(9) as u32;
    let registers = if random.one_in(9) { 40 } else { registers };
    let last = registers - 1;
    let mut code = vec![Op::Const { dst: last.into(), k: Imm(2) }];
    for _ in 0..2 + random.below(7) {
        let mut register = || random.below(registers as usize - 1) as u32;
        let (dst, a, b) = (register(), register(), register());
        let first = register();
        let run = Regs { first, count: random.below((registers - first) as usize + 1) as u32 };
        let callee = |random: &mut Random| Imm(if number == 0 { 1000 } else { random.below(number) as u32 });
        let f = callee(random);
        let op = match random.below(18) {
            0 => Op::Const { dst: dst.into(), k: Imm(random.below(number.max(1)) as u64) },
            1 => Op::Narrow { dst: dst.into(), a: a.into() },
            2 => Op::Half { dst: dst.into(), a: a.into() },
            3 => Op::Sum { dst: dst.into(), run },
            4 => Op::Leave { a: a.into() },
            5 | 6 => Op::Twist { dst: dst.into(), a: a.into() },
            _ if number == 0 => Op::Add { dst: dst.into(), a: a.into(), b: b.into() },
            7 => Op::Call0 { dst: dst.into(), f },
            8 | 9 => Op::Call1 { dst: dst.into(), f, a: a.into() },
            10 => Op::Call3 { dst: dst.into(), f, a: a.into(), b: b.into() },
            11 => Op::Call7 { dst: dst.into(), f, a: a.into(), b: b.into() },
            12 => Op::CallRun { dst: dst.into(), f, args: run },
            13 => {
                code.push(Op::Const { dst: b.into(), k: Imm(f.0 as u64) });
                Op::CallNumber { dst: dst.into(), f: b.into(), a: a.into() }
            }
            14 | 15 => Op::CallSpread { dst: dst.into(), f, less: a.into(), args: run },
            _ => Op::TryRun { dst: dst.into(), f, args: run },
        };
        code.push(op);
    }
    code.push(Op::Count { n: last.into(), to: Label(1) });
    let a = random.below(last as usize) as u32;
    code.push(match random.below(6) {
        0 if number > 0 => Op::TailCall { f: Imm(random.below(number) as u32), a: a.into() },
        1 if number > 0 => {
            let args = Regs { first: 0, count: random.below(registers as usize) as u32 };
            Op::TailRun { f: Imm(random.below(number) as u32), args }
        }
        2 if number > 0 => {
            let args = Regs { first: 0, count: random.below(registers as usize) as u32 };
            Op::TailSpread { f: Imm(random.below(number) as u32), less: a.into(), args }
        }
        _ => Op::Return { a: a.into() },
    });
    let arguments = (!random.one_in(4)).then(|| random.below(registers as usize + 1) as u32);
    let surplus = match random.below(4) {
        0 => Surplus::Refused,
        1 if arguments.is_some_and(|most| most < registers) => Surplus::Packed,
        _ => Surplus::Dropped,
    };
    Function { code, registers, arguments, missing: [NIL, NIL, 0, 5][random.below(4)], surplus }
}

/// What a function does, in Rust.
fn evaluate(program: &[Function], vm: &mut Vm, number: u32, args: &[u64]) -> Result<u64, Trap> {
    let Some(function) = program.get(number as usize) else { return Err(Trap::BadCall) };
    let Function { code, registers, missing, .. } = function;
    let most = function.most();
    let (args, surplus) = args.split_at(args.len().min(most));
    if function.surplus == Surplus::Refused && !surplus.is_empty() {
        return Err(Trap::BadCall);
    }
    let mut registers = vec![0; *registers as usize];
    registers[..most].fill(*missing);
    registers[..args.len()].copy_from_slice(args);
    if function.surplus == Surplus::Packed {
        registers[most] = vm.pack(surplus)?;
    }
    let mut at = 0;
    loop {
        let r = |register: u32| registers[register as usize];
        let run = |run: Regs| &registers[run.first as usize..][..run.count as usize];
        let mut call = |f: u32, args: &[u64]| evaluate(program, vm, f, args);
        let (dst, value) = match code[at] {
            Op::Const { dst, k } => (dst.index, k.0),
            Op::Add { dst, a, b } => (dst.index, r(a.index).wrapping_add(r(b.index))),
            Op::Twist { dst, a } => (dst.index, r(dst.index).wrapping_mul(31) ^ r(a.index)),
            Op::Narrow { dst, a } => (dst.index, (r(a.index) as u8).wrapping_add(3) as u64),
            Op::Half { dst, a } => {
                let half = f64::from_bits(r(a.index)) * 0.5;
                (dst.index, if half.is_nan() { 0x7ff8 << 48 } else { half.to_bits() })
            }
            Op::Count { n, to } => {
                let left = r(n.index) as i64 - 1;
                registers[n.index as usize] = left as u64;
                at = if left > 0 { to.0 as usize } else { at + 1 };
                continue;
            }
            Op::Call0 { dst, f } => (dst.index, call(f.0, &[])?),
            Op::Call1 { dst, f, a } => (dst.index, call(f.0, &[r(a.index)])?),
            Op::Call3 { dst, f, a, b } => (dst.index, call(f.0, &[r(a.index), r(b.index), r(a.index)])?),
            Op::Call7 { dst, f, a, b } => {
                let (a, b) = (r(a.index), r(b.index));
                (dst.index, call(f.0, &[a, b, a, b, a, b, a])?)
            }
            Op::CallNumber { dst, f, a } => (dst.index, call(r(f.index) as u32, &[r(a.index)])?),
            Op::CallRun { dst, f, args } => (dst.index, call(f.0, run(args))?),
            Op::CallSpread { dst, f, less, args } => {
                let args = run(args);
                (dst.index, call(f.0, &args[..args.len() - left_out(r(less.index), args.len())])?)
            }
            Op::TailSpread { f, less, args } => {
                let args = run(args);
                return call(f.0, &args[..args.len() - left_out(r(less.index), args.len())]);
            }
            Op::TryRun { dst, f, args } => {
                (dst.index, call(f.0, run(args)).unwrap_or_else(|trap| trap.code() as u64))
            }
            Op::Sum { dst, run: of } => (dst.index, weigh(run(of))),
            Op::TailCall { f, a } => return call(f.0, &[r(a.index)]),
            Op::TailRun { f, args } => return call(f.0, run(args)),
            Op::Leave { .. } => (u32::MAX, 0),
            Op::Return { a } => return Ok(r(a.index)),
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
    ("climbing later", || Engine::<Op>::builder().thresholds(6, 20), None),
    ("Rust", || Engine::<Op>::builder().only(Tier::Interpreter).rust_interpreter(true), None),
    ("the interpreter in code", || Engine::<Op>::builder().thresholds(1 << 20, 1 << 20), None),
    ("baseline", || Engine::<Op>::builder().only(Tier::Baseline), Some(Tier::Baseline)),
    ("optimizer", || Engine::<Op>::builder().only(Tier::Optimizer), Some(Tier::Optimizer)),
];

fn define(engine: &Engine<Op>, function: &Function) -> FunctionId {
    let Function { code, registers, arguments, missing, surplus } = function;
    let code = Code { arguments: *arguments, ..code.clone().into() };
    let code = code.with_missing(*missing).with_surplus(*surplus);
    engine.define("one", code, *registers).expect("it is right")
}

#[test]
fn programs_find_the_same_in_every_tier() {
    let mut n_values = 0;
    for seed in 0..150 {
        let program = program(seed);
        for (name, builder, tier) in WAYS {
            let engine: Engine<Op> = builder().build();
            engine.pack_surplus(Vm::pack);
            let functions: Vec<FunctionId> =
                program.iter().map(|function| define(&engine, function)).collect();
            if let Some(tier) = tier.filter(|_| azulejo::can_compile().is_ok()) {
                functions.iter().for_each(|id| engine.compile_in(*id, tier).expect("it is compiled"));
            }
            for round in 0..9 {
                let number = functions.len() - 1 - round % 2;
                let args: Vec<u64> = (0..round as u64 * 5 % 14).map(|at| at * 7 + round as u64).collect();
                let (mut vm, mut wanted) = (Vm::default(), Vm::default());
                let result = evaluate(&program, &mut wanted, number as u32, &args);
                n_values += result.is_ok() as u32;
                let found: Result<u64, Error> = engine.call(functions[number], &mut vm, &args[..]);
                let found = found.map_err(|error| match error {
                    Error::Trap { trap, .. } => trap,
                    Error::TooManyArguments { .. } => Trap::BadCall,
                    other => panic!("{other}: {seed} in {name}"),
                });
                let place = || format!("program {seed}, {args:?} in round {round}, {name}");
                assert_eq!((found, &vm), (result, &wanted), "{}", place());
            }
        }
    }
    assert!(n_values > 3000, "{n_values}");
}

/// A function that returns a sum of its arguments and what is behind them, and a caller for each number of arguments.
fn callers(engine: &Engine<Op>, callee: &Function, most: u32) -> (FunctionId, Vec<FunctionId>) {
    let id = define(engine, callee);
    let caller = |count| {
        let call = Op::CallRun { dst: 0.into(), f: Imm(id.number()), args: Regs { first: 0, count } };
        let code = vec![call, Op::Return { a: 0.into() }];
        let (arguments, surplus) = (None, Surplus::Refused);
        define(engine, &Function { code, registers: most + 1, arguments, missing: 1, surplus })
    };
    (id, (0..=most).map(caller).collect())
}

/// One callee, called with each number of arguments by the same and by other callers, so that every entry is used.
#[test]
fn each_number_of_arguments_arrives_in_every_tier() {
    const MOST: u32 = 13;
    for (taken, surplus) in [
        (13, Surplus::Refused),
        (9, Surplus::Dropped),
        (2, Surplus::Dropped),
        (0, Surplus::Dropped),
        (0, Surplus::Packed),
        (3, Surplus::Packed),
        // With what is packed, all arguments are in registers; with one more, they are not.
        (4, Surplus::Packed),
        (5, Surplus::Packed),
    ] {
        let run = Regs { first: 0, count: taken + 1 };
        let code = vec![Op::Sum { dst: 0.into(), run }, Op::Return { a: 0.into() }];
        let callee = Function { code, registers: taken + 1, arguments: Some(taken), missing: NIL, surplus };
        for ((name, builder, tier), order) in
            WAYS.into_iter().flat_map(|way| (0..4).map(move |order| (way, order)))
        {
            let engine: Engine<Op> = builder().build();
            engine.pack_surplus(Vm::pack);
            let (id, callers) = callers(&engine, &callee, MOST);
            if let Some(tier) = tier.filter(|_| azulejo::can_compile().is_ok()) {
                callers
                    .iter()
                    .chain([&id])
                    .for_each(|id| engine.compile_in(*id, tier).expect("it is compiled"));
            }
            for round in 0..60 {
                let count =
                    [round % 14, 13 - round % 14, 3 + (round % 13 == 0) as u32, round / 5 % 14][order];
                let mut passed = vec![1; MOST as usize];
                passed[..2].copy_from_slice(&[50, 60]);
                passed.truncate(count as usize);
                let (mut vm, mut wanted) = (Vm::default(), Vm::default());
                let expected = evaluate(std::slice::from_ref(&callee), &mut wanted, 0, &passed);
                let expected = expected.map_err(|trap| Error::Trap { trap, at: 0 });
                let found = engine.call(callers[count as usize], &mut vm, (50u64, 60u64));
                assert_eq!(
                    (found, vm),
                    (expected, wanted),
                    "{count} of {taken}, {surplus:?}, round {round}, {name}"
                );
            }
        }
    }
}

/// Without anything that packs, vararg functions cannot be called; nor is there one without a register for what is packed.
#[test]
fn a_surplus_needs_somebody_who_packs_it() {
    let code = || Code::from(vec![Op::Return { a: 0.into() }]).with_surplus(Surplus::Packed);
    let engine = Engine::<Op>::new();
    let id = engine.define("one", code().with_arguments(1), 2).expect("it is right");
    let failed: Result<u64, Error> = engine.call(id, &mut Vm::default(), (1u64, 2u64));
    assert_eq!(failed, Err(Error::Trap { trap: Trap::BadCall, at: 0 }));
    engine.pack_surplus(Vm::pack);
    assert_eq!(engine.call(id, &mut Vm::default(), (1u64, 2u64)), Ok(1u64));
    for (code, register) in [(code(), 2), (code().with_arguments(2), 2), (code().with_arguments(3), 3)] {
        let wrong = VerifyError::of_function(Fault::Surplus { register });
        assert_eq!(engine.define("one", code, 2), Err(wrong.into()));
        let text =
            format!("the surplus of arguments goes to register {register}, which the function does not have");
        assert_eq!(wrong.to_string(), text);
    }
}

/// What packs may call the engine again, even functions that end in tail calls.
#[test]
fn what_packs_may_run_bytecode() {
    use std::cell::OnceCell;
    use std::rc::Rc;
    for (name, builder, tier) in WAYS {
        let engine: Rc<Engine<Op>> = Rc::new(builder().build());
        let add = vec![Op::Add { dst: 0.into(), a: 0.into(), b: 1.into() }, Op::Return { a: 0.into() }];
        let add = engine.define("add", add, 2).expect("it is right");
        let tail = vec![Op::TailRun { f: Imm(add.number()), args: Regs { first: 0, count: 2 } }];
        let tail = engine.define("tail", tail, 2).expect("it is right");
        let sum = vec![Op::Add { dst: 0.into(), a: 0.into(), b: 1.into() }, Op::Return { a: 0.into() }];
        let sum = Code::from(sum).with_arguments(1).with_surplus(Surplus::Packed);
        let sum = engine.define("sum", sum, 2).expect("it is right");
        let outer = vec![Op::TailRun { f: Imm(sum.number()), args: Regs { first: 0, count: 3 } }];
        let outer = engine.define("outer", outer, 3).expect("it is right");
        if let Some(tier) = tier.filter(|_| azulejo::can_compile().is_ok()) {
            [add, tail, sum, outer]
                .iter()
                .for_each(|id| engine.compile_in(*id, tier).expect("it is compiled"));
        }
        let weak: OnceCell<std::rc::Weak<Engine<Op>>> = OnceCell::from(Rc::downgrade(&engine));
        engine.pack_surplus(move |vm, surplus| {
            let engine = weak.get().and_then(std::rc::Weak::upgrade).ok_or(Trap::BadCall)?;
            engine.call(tail, vm, surplus).map_err(|_| Trap::BadCall)
        });
        for round in 0..30u64 {
            assert_eq!(
                engine.call(outer, &mut Vm::default(), (round, 100u64, 1000u64)),
                Ok(round + 1100),
                "{name}"
            );
        }
    }
}

/// Where calls of a vararg function only ask for the pack: what packs may panic, be replaced by itself, or fail; and the function may be removed.
#[test]
fn calls_that_ask_for_packs_end_in_every_way() {
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::rc::Rc;
    fn packer(
        engine: &std::rc::Weak<Engine<Op>>,
        more: u64,
    ) -> impl Fn(&mut Vm, &[u64]) -> Result<u64, Trap> + 'static {
        let engine = engine.clone();
        move |_, surplus| {
            match surplus {
                [1, ..] => panic!("it cannot be packed"),
                [2, ..] => engine.upgrade().ok_or(Trap::BadCall)?.pack_surplus(packer(&engine, more + 1)),
                [3, ..] => return Err(Trap::User(3)),
                _ => {}
            }
            Ok(surplus.len() as u64 * 100 + more)
        }
    }
    for (name, builder, tier) in WAYS {
        let engine: Rc<Engine<Op>> = Rc::new(builder().build());
        let sum = vec![Op::Add { dst: 0.into(), a: 0.into(), b: 1.into() }, Op::Return { a: 0.into() }];
        let sum = Code::from(sum).with_arguments(1).with_surplus(Surplus::Packed);
        let sum = engine.define("sum", sum, 2).expect("it is right");
        // Few arguments are in registers, and of many some are on the stack.
        let outers = [3, 9].map(|count| {
            let call = Op::CallRun { dst: 0.into(), f: Imm(sum.number()), args: Regs { first: 0, count } };
            let outer = vec![call, Op::Return { a: 0.into() }];
            engine.define("outer", outer, 9).expect("it is right")
        });
        if let Some(tier) = tier.filter(|_| azulejo::can_compile().is_ok()) {
            let all = [sum].into_iter().chain(outers);
            all.for_each(|id| engine.compile_in(id, tier).expect("it is compiled"));
        }
        engine.pack_surplus(packer(&Rc::downgrade(&engine), 0));
        let mut more = 0;
        for round in 0..30u64 {
            for (outer, count) in outers.into_iter().zip([2, 8]) {
                let call =
                    |which: u64| engine.call::<_, u64>(outer, &mut Vm::default(), (round, which, 7u64));
                assert_eq!(call(0), Ok(round + count * 100 + more), "{name}");
                if cfg!(not(windows)) {
                    assert!(catch_unwind(AssertUnwindSafe(|| call(1))).is_err(), "{name}");
                }
                assert_eq!(call(2), Ok(round + count * 100 + more), "{name}");
                more += 1;
                assert_eq!(call(3), Err(Error::Trap { trap: Trap::User(3), at: 0 }), "{name}");
                assert_eq!(call(0), Ok(round + count * 100 + more), "{name}");
            }
        }
        engine.remove(sum).expect("it is there");
        for outer in outers {
            let failed = engine.call::<_, u64>(outer, &mut Vm::default(), (1u64, 0u64));
            assert_eq!(failed, Err(Error::Trap { trap: Trap::BadCall, at: 0 }), "{name}");
        }
    }
}
