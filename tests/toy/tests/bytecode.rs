//! In both tiers, bytecode compiled to this machine's code behaves as in the interpreter: arithmetic, loops, calls of the host,
//! calls of other functions by every entry, tail calls, traps.

use azulejo::__private::core::ir::bytecode::{Flow, Machine, NEVER, NoFunctions};
use azulejo::prelude::*;
use azulejo_code::call::{Accepts, Adapter, AdapterTarget, CallCell, HostFunctions, Outcome, UnresolvedCall};
use azulejo_code::emit::Backend;
use azulejo_code::status::{RawStatus, Status};
use azulejo_core::ir::slow_paths::NO_SLOW_PATHS;
use azulejo_core::pass::Blind;
use azulejo_core::pass::build::{self, FunctionSource};
use azulejo_core::random::Random;
use azulejo_core::verify::{Function, Shape, verify};
use azulejo_core::vocab::Vocabulary;
use azulejo_toy::{Compiler, Emitter, TOY, natives};
use std::cell::Cell;

#[derive(Bytecode, Clone, Copy, Debug)]
enum Op {
    Const { dst: Out<i64>, value: Imm<i64> },
    Short { dst: Out<i32>, value: Imm<i32> },
    Float { dst: Out<f64>, value: Imm<f64> },
    Add { dst: Out<i64>, a: In<i64>, b: In<i64> },
    AddImm { dst: Out<i64>, a: In<i64>, b: Imm<i32> },
    Mul { dst: Out<i32>, a: In<i32>, b: In<i32> },
    Divide { dst: Out<i64>, a: In<i64>, b: In<i64> },
    Half { dst: Out<f64>, a: In<f64> },
    Less { a: In<i64>, b: In<i64>, to: Label },
    Mix { dst: Out<i64>, a: In<i64>, b: In<f64>, c: Imm<i64> },
    Halve { dst: Out<i64>, a: In<i64> },
    Try { dst: Out<i64>, f: Imm<u32>, a: In<i64>, b: In<i64> },
    TryRun { dst: Out<i64>, f: Imm<u32>, args: Regs },
    Return { a: In<i64> },
}

template! {
    Op::Const => $value
    Op::Short => $value
    Op::Float => $value
    Op::Add => (add $a $b)
    Op::AddImm => (add $a (scast $b i64))
    Op::Mul => (mul $a $b)
    Op::Divide => (div $a $b)
    Op::Half => (mul $a (const 0.5 f64))
    Op::Less => (when (lt $a $b) (branch $to))
    Op::Mix => (call mix (arglist (carg $a i64) (carg $b f64) (carg $c i64) (carg $a i64) (carg $c i64) (carg 7 i64)
        (carg $b f64) (carg $b f64) (carg $b f64)) i64)
    Op::Halve => (try (call throws halve (arglist (carg $a i64)) i64) (add $a (scast (trap_code) i64)))
    Op::Try => (try (invoke $f (arglist $a $b $a) i64) (add $a (scast (trap_code) i64)))
    Op::TryRun => (try (invoke $f (arglist $args) i64) (scast (trap_code) i64))
    Op::Return => (return $a)
}

fn halve(a: i64) -> Result<i64, Trap> {
    if a % 2 == 0 { Ok(a / 2) } else { Err(Trap::User((a & 0xff) as u16)) }
}

#[allow(clippy::too_many_arguments, reason = "the last ones are on the stack")]
extern "C" fn mix(a: i64, x: f64, b: i64, c: i64, d: i64, e: i64, y: f64, z: f64, w: f64) -> i64 {
    let ints = [a, b, c, d, e].into_iter().fold(1, |sum: i64, next| sum.wrapping_mul(31).wrapping_add(next));
    [x, y, z, w].into_iter().fold(ints, |sum, next| sum.rotate_left(7) ^ next.to_bits() as i64)
}

const REGISTERS: u32 = 6;

struct Program {
    code: Vec<Op>,
    shape: Shape,
}

impl Program {
    fn new(code: Vec<Op>) -> Program {
        let shape = verify(&code, &[], REGISTERS).expect("the code is right");
        Program { code, shape }
    }

    fn function(&self) -> Function<'_, Op> {
        Function {
            code: &self.code,
            labels: &[],
            registers: REGISTERS,
            shape: &self.shape,
            unit: std::ptr::null(),
            temporaries: None,
            slow_paths: &NO_SLOW_PATHS,
            leaves_out: false,
            sites: None,
            budget: None,
        }
    }

    fn source<'a>(&'a self, functions: build::Linkage<'a>) -> FunctionSource<'a> {
        FunctionSource {
            vocab: Vocabulary::BUILTIN,
            opcodes: Op::OPCODES,
            templates: Op::templates(),
            code: &self.code,
            labels: &[],
            locals: REGISTERS,
            slots: self.shape.slots,
            depths: &self.shape.depths,
            entry: 0,
            arguments: Some(REGISTERS),
            functions,
            slow_paths: None,
            sites: None,
            missing: 0,
            drops_surplus: false,
            captured: &[],
            call_entry: None,
            callees: &[],
        }
    }

    fn interpret(&self, frame: &mut [u64]) -> Status {
        let machine = Machine {
            stop: &NEVER,
            slow_paths: &NO_SLOW_PATHS,
            frame: frame.as_mut_ptr(),
            context: std::ptr::null_mut(),
            unit: std::ptr::null(),
            labels: &[],
            budget: &Cell::new(i32::MAX),
            functions: &NoFunctions,
            show: None,
        };
        // SAFETY: the frame has the slots that verification requires.
        match unsafe { Op::interpret(&raw const self.code[..], &machine, 0, REGISTERS, 0) } {
            (Flow::Return(bits), _) => Status::Returned(bits),
            (Flow::Trap(trap), at) => Status::Trapped { trap, at },
            (other, _) => unreachable!("it ends: {other:?}"),
        }
    }
}

fn compiler() -> Compiler {
    natives::learn_templates::<Op>();
    let rules = &azulejo::rules::MATCHERS;
    Compiler::new(1 << 22, &TOY, 0, rules).expect("this system has memory for code").with_checks(true)
}

/// A program that terminates: it applies a few operators in a loop.
fn program(random: &mut Random) -> Program {
    let mut code = Vec::new();
    let register = |random: &mut Random| random.below(4) as u32;
    let straight = |random: &mut Random, code: &mut Vec<Op>| {
        for _ in 0..random.below(8) {
            let (dst, a, b) = (register(random), register(random), register(random));
            code.push(match random.below(10) {
                0 => Op::Const { dst: dst.into(), value: Imm(random.number() as i64 >> random.below(64)) },
                1 => Op::Short { dst: dst.into(), value: Imm(random.number() as i32) },
                2 => Op::Float { dst: dst.into(), value: Imm(random.below(1000) as f64 - 0.75) },
                3 => Op::Add { dst: dst.into(), a: a.into(), b: b.into() },
                4 => Op::AddImm { dst: dst.into(), a: a.into(), b: Imm(random.number() as i32) },
                5 => Op::Mul { dst: dst.into(), a: a.into(), b: b.into() },
                6 => Op::Divide { dst: dst.into(), a: a.into(), b: b.into() },
                7 => Op::Half { dst: 3.into(), a: 3.into() },
                8 => Op::Halve { dst: dst.into(), a: a.into() },
                _ => Op::Mix { dst: dst.into(), a: a.into(), b: b.into(), c: Imm(random.number() as i64) },
            });
        }
    };
    code.push(Op::Const { dst: 4.into(), value: Imm(0) });
    code.push(Op::Const { dst: 5.into(), value: Imm(3) });
    let head = code.len() as u32;
    straight(random, &mut code);
    let branch = code.len();
    code.push(Op::Return { a: 0.into() });
    straight(random, &mut code);
    code[branch] = Op::Less { a: 0.into(), b: 1.into(), to: Label(code.len() as u32) };
    straight(random, &mut code);
    code.push(Op::AddImm { dst: 4.into(), a: 4.into(), b: Imm(1) });
    code.push(Op::Less { a: 4.into(), b: 5.into(), to: Label(head) });
    code.push(Op::Return { a: 2.into() });
    Program::new(code)
}

#[test]
fn both_tiers_do_what_the_interpreter_does() {
    let mut compiler = compiler();
    for seed in 0..300 {
        let mut random = Random::new(seed);
        let program = program(&mut random);
        let start: [u64; REGISTERS as usize] = std::array::from_fn(|_| random.number() >> random.below(64));
        let slots = || {
            let mut slots = start.to_vec();
            slots.resize(program.shape.slots as usize, 0);
            slots
        };
        let mut expected = slots();
        let end = program.interpret(&mut expected);
        let mut found = slots();
        let code = compiler.bytecode(&program.source(build::Linkage::default()), &mut Blind);
        let code = code.expect("it compiles");
        // SAFETY: the frame has the slots that the code uses.
        let status = unsafe { code.enter(std::ptr::null_mut(), found.as_mut_ptr(), std::ptr::null()) };
        assert_eq!(status, end, "optimizer, seed {seed}: {:?}", program.code);
        let mut found = slots();
        let code = compiler.baseline(&program.function(), build::Linkage::default(), &mut Blind);
        let code = code.expect("it compiles");
        // SAFETY: as above.
        let status = unsafe { code.enter(std::ptr::null_mut(), found.as_mut_ptr(), 0) };
        assert_eq!((status, found), (end, expected), "baseline, seed {seed}: {:?}", program.code);
    }
}

/// With this, the number of the function, and the address of the context, a call without room fails.
const REFUSED: u64 = 100;

/// A host that answers a call of a function without code with a weighted sum of its arguments.
struct Nobody;

impl HostFunctions for Nobody {
    unsafe fn resolve(call: &mut UnresolvedCall) {
        let sum = call.arguments().iter().zip(1..).map(|(argument, factor)| argument * factor).sum();
        call.end(Outcome { value: sum, trap: 0 });
    }

    unsafe fn resume(_: &CallCell, _: *mut (), _: *mut u64, _: RawStatus) -> Outcome {
        unreachable!("no code is left")
    }

    unsafe fn refuse(cell: &CallCell, context: *mut ()) -> u64 {
        REFUSED + u64::from(cell.function()) + context.addr() as u64
    }

    unsafe fn note(_: &CallCell, _: u32) {
        unreachable!("no code was compiled for backtraces")
    }
}

/// A host whose functions return the sum of their arguments, and fail with its code as long as it is that of a trap.
struct Summing;

impl HostFunctions for Summing {
    unsafe fn resolve(call: &mut UnresolvedCall) {
        let sum: u64 = call.arguments().iter().sum();
        let trap = if Trap::from_code(sum as u32).is_some() { sum } else { 0 };
        call.end(Outcome { value: sum, trap });
    }

    unsafe fn resume(_: &CallCell, _: *mut (), _: *mut u64, _: RawStatus) -> Outcome {
        unreachable!("no code is left")
    }

    unsafe fn refuse(_: &CallCell, _: *mut ()) -> u64 {
        unreachable!("the stack has room")
    }

    unsafe fn note(_: &CallCell, _: u32) {
        unreachable!("no code was compiled for backtraces")
    }
}

/// Code of both tiers goes on where a call fails, unless the program is to end.
#[test]
fn failures_are_caught() {
    let mut compiler = compiler();
    let host = Emitter::host::<Summing>();
    host.begin(std::ptr::null(), 0);
    // SAFETY: the host outlives the cell.
    let cell = unsafe { CallCell::new(&raw const host, 0) };
    let cells = [std::ptr::from_ref(&cell).expose_provenance() as u64];
    let attempt = Op::Try { dst: 2.into(), f: Imm(0), a: 0.into(), b: 1.into() };
    let of_run = Op::TryRun { dst: 2.into(), f: Imm(0), args: Regs { first: 0, count: 2 } };
    for (is_run, op) in [(false, attempt), (true, of_run)] {
        let program = Program::new(vec![op, Op::Return { a: 2.into() }]);
        let functions = CallCell::functions(azulejo_toy::Emitter::STUBS, &cells, 0);
        let optimized = compiler.bytecode(&program.source(functions), &mut Blind).expect("it compiles");
        let baseline = compiler.baseline(&program.function(), functions, &mut Blind).expect("it compiles");
        for (a, b) in [(1, 0), (0, 1), (4, 0), (0, 5), (100, 3), (3, 1 << 20), (8, 0), (1, 6)] {
            let sum = if is_run { a + b } else { 2 * a + b };
            let of_trap = if is_run { sum } else { a + sum };
            let expected = match Trap::from_code(sum as u32) {
                None => Status::Returned(sum),
                Some(Trap::Ended) => Status::Trapped { trap: Trap::Ended, at: 0 },
                Some(_) => Status::Returned(of_trap),
            };
            let frame = || [a, b, 0, 0, 0, 0, 0, 0];
            // SAFETY: the frame has the slots that the code uses.
            let status =
                unsafe { optimized.enter(std::ptr::null_mut(), frame().as_mut_ptr(), std::ptr::null()) };
            assert_eq!(status, expected, "optimizer, {a}, {b}, {op:?}");
            // SAFETY: as above.
            let status = unsafe { baseline.enter(std::ptr::null_mut(), frame().as_mut_ptr(), 0) };
            assert_eq!(status, expected, "baseline, {a}, {b}, {op:?}");
        }
    }
}

/// Calls with every number of arguments: to functions without code, to code compiled for calls, and through adapters into
/// either tier.
#[test]
fn calls_arrive_by_every_way_in() {
    let mut compiler = compiler();
    let host = Emitter::host::<Nobody>();
    host.begin(std::ptr::null(), 0);
    for arguments in 0..=REGISTERS {
        // SAFETY: the host outlives the cell.
        let cell = unsafe { CallCell::new(&raw const host, 3) };
        let args: Vec<u64> = (0..arguments as u64).map(|at| at * 1000 + 7).collect();
        // SAFETY: all callees accept any context.
        let call = |args: &[u64]| unsafe { cell.call(std::ptr::without_provenance_mut(50), args) };
        let refused = || {
            host.begin(std::ptr::null(), usize::MAX);
            let outcome = call(&args);
            host.begin(std::ptr::null(), 0);
            outcome.trap
        };
        let weigh = |args: &[u64]| args.iter().zip(1..).map(|(bits, factor)| bits * factor).sum::<u64>();
        assert_eq!(call(&args).value, weigh(&args));
        let sum =
            (0..REGISTERS - 1).map(|at| Op::Add { dst: (at + 1).into(), a: at.into(), b: (at + 1).into() });
        let code = sum.chain([Op::Return { a: (REGISTERS - 1).into() }]).collect();
        let program = Program::new(code);
        let source =
            FunctionSource { arguments: Some(arguments), ..program.source(build::Linkage::default()) };
        let expected = args.iter().sum::<u64>();
        let for_calls = compiler.call_entry(&source, arguments, std::ptr::null(), &cell, &mut Blind);
        let for_calls = for_calls.expect("it compiles");
        // SAFETY: the code was compiled for this cell.
        unsafe { cell.open_to(for_calls.entry()) };
        let outcome = call(&args);
        assert_eq!((outcome.value, outcome.trap), (expected, 0), "compiled for calls, {arguments}");
        assert_eq!(refused(), REFUSED + 53, "compiled for calls, {arguments}");
        // A call with another number of arguments takes the fallback, where there is no code.
        let more = [&args[..], &[1]].concat();
        assert_eq!(call(&more).value, weigh(&more));
        let ways = [Accepts::Exactly(arguments), Accepts::UpTo(REGISTERS)];
        through_adapters(&mut compiler, (&program, &source), &cell, ways, |compiler, to| {
            let AdapterTarget { accepts, code, .. } = to;
            let outcome = call(&args);
            assert_eq!((outcome.value, outcome.trap), (expected, 0), "{accepts:?} of {code:?}");
            assert_eq!(refused(), REFUSED + 53, "{accepts:?} of {code:?}");
            let budget = Cell::new(0);
            let counted = AdapterTarget { budget: Some(budget.as_ptr().cast_const()), ..*to };
            let adapter = compiler.adapter(&counted).expect("there is room");
            cell.open(&adapter);
            assert_eq!(call(&args).value, weigh(&args), "below zero calls are the host's");
        });
    }
}

/// Makes an adapter to the code of either tier for each of these numbers of arguments, and opens the cell to it.
fn through_adapters(
    compiler: &mut Compiler,
    (program, source): (&Program, &FunctionSource<'_>),
    cell: &CallCell,
    ways: [Accepts; 2],
    mut attempt: impl FnMut(&Compiler, &AdapterTarget<'_, <Emitter as Backend>::Frame>),
) {
    let optimized = compiler.bytecode(source, &mut Blind).expect("it compiles");
    let baseline = compiler.baseline(&program.function(), build::Linkage::default(), &mut Blind);
    let baseline = baseline.expect("it compiles");
    let needed = &build::needed_at_start(&mut build::StartScratch::default(), source);
    for accepts in ways {
        for code in [optimized.as_target(std::ptr::null()), baseline.as_target()] {
            let to = AdapterTarget { accepts, source, needed, code, budget: None, cell };
            let adapter: Adapter = compiler.adapter(&to).expect("there is room");
            cell.open(&adapter);
            attempt(compiler, &to);
            cell.close();
        }
    }
}

/// Arguments that a call does not pass have the value that the function states, and a surplus is dropped, by every way in.
#[test]
fn any_number_of_arguments_arrives_by_every_way_in() {
    const MISSING: u64 = 1_000_000;
    let mut compiler = compiler();
    let host = Emitter::host::<Nobody>();
    host.begin(std::ptr::null(), 0);
    for most in 0..REGISTERS {
        let sum =
            (0..REGISTERS - 1).map(|at| Op::Add { dst: (at + 1).into(), a: at.into(), b: (at + 1).into() });
        let program = Program::new(sum.chain([Op::Return { a: (REGISTERS - 1).into() }]).collect());
        let of_engine = program.source(build::Linkage::default());
        let source =
            FunctionSource { arguments: Some(most), missing: MISSING, drops_surplus: true, ..of_engine };
        // SAFETY: the host outlives the cell.
        let cell = unsafe { CallCell::new(&raw const host, 0) };
        for given in 0..=most + 3 {
            let args: Vec<u64> = (1..=given as u64).collect();
            let taken = args.iter().take(most as usize).sum::<u64>();
            let expected = taken + most.saturating_sub(given) as u64 * MISSING;
            // SAFETY: all callees accept any context.
            let call = || unsafe { cell.call(std::ptr::null_mut(), &args) }.value;
            let for_calls = compiler.call_entry(&source, given, std::ptr::null(), &cell, &mut Blind);
            let for_calls = for_calls.expect("it compiles");
            // SAFETY: the code was compiled for this cell.
            unsafe { cell.open_to(for_calls.entry()) };
            assert_eq!(call(), expected, "compiled for calls, {given} of {most}");
            let ways = [Accepts::Exactly(given), Accepts::UpTo(most)];
            through_adapters(&mut compiler, (&program, &source), &cell, ways, |_, to| {
                let AdapterTarget { accepts, code, .. } = to;
                assert_eq!(call(), expected, "{accepts:?} of {code:?}, {given} of {most}");
            });
        }
    }
}
