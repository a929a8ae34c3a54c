//! The properties that a user relies on: a function has the same result in every tier, it traps where it must, exits leave
//! its registers in their slots, and calls nest in both directions.

use azulejo::prelude::*;
use std::rc::Rc;

struct Vm {
    engine: Rc<Engine<Op>>,
    fib: Option<FunctionId>,
    seen: Vec<i64>,
}

#[derive(Bytecode, Clone, Copy, Debug)]
#[bytecode(context = Vm)]
enum Op {
    Const { dst: Out<i64>, value: Imm<i64> },
    Add { dst: Out<i64>, a: In<i64>, b: In<i64> },
    Sub { dst: Out<i64>, a: In<i64>, b: In<i64> },
    Div { dst: Out<i64>, a: In<i64>, b: In<i64> },
    ToInt { dst: Out<i32>, a: In<f64> },
    JumpLess { a: In<i64>, b: In<i64>, to: Label },
    Jump(Label),
    Switch { value: In<u64>, table: Labels },
    Fib { dst: Out<i64>, n: In<i64> },
    See { value: In<i64> },
    Sum { dst: Out<i64>, values: Regs },
    Double { values: RegsMut },
    Guard { a: In<i64> },
    Leave,
    Fail,
    Push(Push<i64>, In<i64>),
    Multiply { a: Pop<i64>, b: Pop<i64>, product: Push<i64> },
    Pop(Out<i64>, Pop<i64>),
    Return { a: In<i64> },
    Discard,
}

template! {
    Op::Const    => $value
    Op::Add      => (add $a $b)
    Op::Sub      => (sub $a $b)
    Op::Div      => (div $a $b)
    Op::ToInt    => (ftos_trap $a i32)
    Op::JumpLess => (when (lt $a $b) (branch $to))
    Op::Jump     => (branch $0)
    Op::Switch   => (switch $value $table)
    Op::Fib      => (call fib (arglist (carg (tc) ptr) (carg $n i64)) i64)
    Op::See      => (callv see (arglist (carg (tc) ptr) (carg $value i64)))
    Op::Sum      => unsafe (call sum (arglist (carg (window $values) ptr) (carg (length $values) i64)) i64)
    Op::Double   => unsafe (callv double (arglist (carg (window $values) ptr) (carg (length $values) i64)))
    Op::Guard    => (guard (nz $a) (callv see (arglist (carg (tc) ptr) (carg -1 i64))))
    Op::Leave    => (exit)
    Op::Fail     => (trap 42)
    Op::Push     => $1
    Op::Multiply => (mul $a $b)
    Op::Pop      => $1
    Op::Return   => (return $a)
    Op::Discard  => (callv discard (arglist (carg (tc) ptr)))
}

/// Discards the code of the function, and compiles other functions, whose code would take its place if that were free.
extern "C" fn discard(vm: &mut Vm) {
    let function = vm.fib.expect("it was defined");
    vm.engine.discard(function).expect("it is the engine's");
    for _ in 0..8 {
        let other = vm.engine.define("other", sum_of_registers(30), 30).expect("it is right");
        vm.engine.compile(other).expect("it compiles");
    }
}

extern "C" fn fib(vm: &mut Vm, n: i64) -> i64 {
    let engine = Rc::clone(&vm.engine);
    let function = vm.fib.expect("it was defined");
    engine.call(function, vm, (n,)).expect("it ends")
}

extern "C" fn see(vm: &mut Vm, value: i64) {
    vm.seen.push(value);
}

unsafe extern "C" fn sum(values: *const i64, n: i64) -> i64 {
    // SAFETY: the template passes a run of registers and its length.
    unsafe { std::slice::from_raw_parts(values, n as usize) }.iter().sum()
}

unsafe extern "C" fn double(values: *mut i64, n: i64) {
    // SAFETY: as above.
    unsafe { std::slice::from_raw_parts_mut(values, n as usize) }.iter_mut().for_each(|value| *value *= 2);
}

fn vm() -> Vm {
    Vm { engine: Rc::new(Engine::new()), fib: None, seen: Vec::new() }
}

/// Runs a function interpreted and compiled. Checks that the results and the observed values agree, and returns them.
fn both(code: Code<Op>, registers: u32, args: &[u64]) -> (Result<i64, Error>, Vec<i64>) {
    let mut vm = vm();
    let engine = Rc::clone(&vm.engine);
    let function = engine.define("test", code, registers).expect("the code is right");
    let interpreted = engine.interpret(function, &mut vm, args);
    let seen = std::mem::take(&mut vm.seen);
    if azulejo::can_compile().is_ok() {
        engine.compile(function).expect("it compiles");
        let compiled = engine.call(function, &mut vm, args);
        assert_eq!((&compiled, &vm.seen), (&interpreted, &seen));
    }
    (interpreted, seen)
}

fn r<T: From<u32>>(register: u32) -> T {
    register.into()
}

#[test]
fn division_traps_in_both_tiers_with_its_bytecode() {
    let code = vec![Op::Jump(Label(1)), Op::Div { dst: r(2), a: r(0), b: r(1) }, Op::Return { a: r(2) }];
    assert_eq!(both(code.clone().into(), 3, &[17, 5]).0, Ok(3));
    assert_eq!(
        both(code.clone().into(), 3, &[17, 0]).0,
        Err(Error::Trap { trap: Trap::DivideByZero, at: 1 })
    );
    let least = [i64::MIN as u64, -1i64 as u64];
    assert_eq!(both(code.into(), 3, &least).0, Err(Error::Trap { trap: Trap::Overflow, at: 1 }));
}

#[test]
fn conversions_trap_at_the_edges_of_the_range() {
    let code = vec![Op::ToInt { dst: r(1), a: r(0) }, Op::Return { a: r(1) }];
    let run = |value: f64| both(code.clone().into(), 2, &[value.to_bits()]).0;
    let bad = Err(Error::Trap { trap: Trap::BadConversion, at: 0 });
    assert_eq!(run(-2147483648.9), Ok(i32::MIN as u32 as i64));
    assert_eq!(run(-2147483649.0), bad);
    assert_eq!(run(2147483647.9), Ok(i32::MAX as i64));
    assert_eq!(run(2147483648.0), bad);
    assert_eq!(run(f64::NAN), bad);
}

#[test]
fn compiled_code_calls_rust_and_rust_calls_compiled_code() {
    let mut vm = vm();
    let engine = Rc::clone(&vm.engine);
    let code = vec![
        Op::Const { dst: r(1), value: Imm(2) },
        Op::JumpLess { a: r(0), b: r(1), to: Label(8) },
        Op::Sub { dst: r(2), a: r(0), b: r(1) },
        Op::Fib { dst: r(2), n: r(2) },
        Op::Const { dst: r(1), value: Imm(1) },
        Op::Sub { dst: r(3), a: r(0), b: r(1) },
        Op::Fib { dst: r(3), n: r(3) },
        Op::Add { dst: r(0), a: r(2), b: r(3) },
        Op::Return { a: r(0) },
    ];
    let function = engine.define("fib", code, 4).expect("the code is right");
    vm.fib = Some(function);
    assert_eq!(engine.call(function, &mut vm, (15i64,)), Ok(610i64));
    if azulejo::can_compile().is_ok() {
        engine.compile(function).expect("it compiles");
        assert_eq!(engine.call(function, &mut vm, (20i64,)), Ok(6765i64));
    }
}

#[test]
fn a_jump_table_has_a_default() {
    let mut code = Code::from(vec![
        Op::Switch { value: r(0), table: Labels { first: 0, count: 3 } },
        Op::Const { dst: r(1), value: Imm(10) },
        Op::Return { a: r(1) },
        Op::Const { dst: r(1), value: Imm(20) },
        Op::Return { a: r(1) },
        Op::Const { dst: r(1), value: Imm(30) },
        Op::Return { a: r(1) },
    ]);
    code.labels = vec![1, 3, 5];
    let run = |value: u64| both(code.clone(), 2, &[value]).0;
    assert_eq!([run(0), run(1), run(2), run(3), run(u64::MAX)], [Ok(10), Ok(20), Ok(30), Ok(30), Ok(30)]);
}

#[test]
fn runs_of_registers_are_read_and_changed_in_their_slots() {
    let code = vec![
        Op::Add { dst: r(1), a: r(0), b: r(0) },
        Op::Double { values: RegsMut { first: 0, count: 2 } },
        Op::Add { dst: r(2), a: r(0), b: r(1) },
        Op::Sum { dst: r(3), values: Regs { first: 0, count: 3 } },
        Op::Return { a: r(3) },
    ];
    assert_eq!(both(code.into(), 4, &[7]).0, Ok(2 * (14 + 28)));
}

#[test]
fn a_failed_guard_leaves_with_all_registers_in_place() {
    let code = vec![
        Op::Const { dst: r(2), value: Imm(5) },
        Op::Add { dst: r(1), a: r(1), b: r(2) },
        Op::Sub { dst: r(0), a: r(0), b: r(2) },
        Op::Guard { a: r(0) },
        Op::See { value: r(1) },
        Op::See { value: r(0) },
        Op::JumpLess { a: r(3), b: r(0), to: Label(1) },
        Op::Leave,
        Op::Add { dst: r(1), a: r(1), b: r(0) },
        Op::Return { a: r(1) },
    ];
    let (result, seen) = both(code.into(), 4, &[15, 100]);
    assert_eq!(result, Ok(115));
    assert_eq!(seen, [105, 10, 110, 5, -1, 115, 0]);
}

#[test]
fn an_operand_stack_needs_no_memory() {
    let code = vec![
        Op::Push(Push::new(), r(0)),
        Op::Push(Push::new(), r(1)),
        Op::Push(Push::new(), r(0)),
        Op::Multiply { a: Pop::new(), b: Pop::new(), product: Push::new() },
        Op::Multiply { a: Pop::new(), b: Pop::new(), product: Push::new() },
        Op::Pop(r(1), Pop::new()),
        Op::Return { a: r(1) },
    ];
    assert_eq!(both(code.into(), 2, &[3, 5]).0, Ok(45));
}

#[test]
fn a_template_may_trap() {
    let trap = Trap::User(42);
    assert_eq!(both(vec![Op::Fail].into(), 0, &[]).0, Err(Error::Trap { trap, at: 0 }));
}

#[test]
fn frames_that_do_not_fit_are_an_error() {
    let engine = Engine::<Op>::builder().stack_slots(10).build();
    let function = engine.define("f", vec![Op::Return { a: r(0) }], 20).expect("the code is right");
    let result: Result<i64, Error> = engine.call(function, &mut vm(), (1i64,));
    assert_eq!(result, Err(Error::StackOverflow));
}

#[test]
fn calls_that_cannot_be_are_errors() {
    let engine = Engine::<Op>::new();
    let function = engine.define("f", vec![Op::Return { a: r(0) }], 1).expect("the code is right");
    let result: Result<i64, Error> = engine.call(function, &mut vm(), (1i64, 2i64));
    assert_eq!(result, Err(Error::TooManyArguments { given: 2, most: 1 }));
    let other = Engine::<Op>::new();
    assert_eq!(other.compile(function), Err(Error::UnknownFunction));
    assert_eq!(engine.disassemble(function).err(), Some(Error::NotCompiled));
}

/// Adds all registers to register 0.
fn sum_of_registers(count: u32) -> Vec<Op> {
    let add = |register| Op::Add { dst: r(0), a: r(0), b: r(register) };
    (1..count).map(add).chain([Op::Return { a: r(0) }]).collect()
}

#[test]
fn a_function_that_keeps_too_much_is_interpreted() {
    if azulejo::can_compile().is_err() {
        return;
    }
    let engine = Engine::<Op>::new();
    // Doubles all registers until the first one is large enough, then sums them up: all of them are live in the loop.
    let loop_of = |count: u32| {
        let double = |register| Op::Add { dst: r(register), a: r(register), b: r(register) };
        let mut code: Vec<Op> = (0..count).map(double).collect();
        code.push(Op::JumpLess { a: r(0), b: r(1), to: Label(0) });
        code.extend(sum_of_registers(count));
        code
    };
    let large = engine.define("large", loop_of(20_000), 20_000).expect("it is right");
    let Err(Error::FrameTooLarge { bytes }) = engine.compile(large) else { panic!("it was compiled") };
    assert!((100_000..200_000).contains(&bytes), "{bytes}");
    let fits = engine.define("fits", loop_of(5_000), 5_000).expect("it is right");
    assert_eq!(engine.compile(fits), Ok(()));
    for function in [large, fits] {
        assert_eq!(engine.call(function, &mut vm(), (3i64, 1i64)), Ok(8i64));
    }
}

#[test]
fn code_that_is_not_used_makes_room() {
    if azulejo::can_compile().is_err() {
        return;
    }
    let engine: Engine<Op> = Engine::<Op>::builder().code_bytes(1 << 16).build();
    let define = || engine.define("some", sum_of_registers(500), 500).expect("it is right");
    let functions: Vec<FunctionId> = (0..60).map(|_| define()).collect();
    for &function in &functions {
        assert_eq!(engine.compile(function), Ok(()));
        // The first function is called all the time, so its code is never discarded.
        for called in [functions[0], function] {
            assert_eq!(engine.call(called, &mut vm(), (3i64, 4i64)), Ok(7i64));
        }
    }
    let compiled: Vec<bool> = functions.iter().map(|function| engine.is_compiled(*function)).collect();
    let count = compiled.iter().filter(|compiled| **compiled).count();
    assert!((4..50).contains(&count), "{count} have code");
    assert!(compiled[0] && compiled[59] && !compiled[1]);
    let bytes: usize = functions.iter().map(|function| engine.code_len(*function)).sum();
    assert!(bytes <= 1 << 16, "{bytes}");
    for &function in &functions {
        assert_eq!(engine.call(function, &mut vm(), (3i64, 4i64)), Ok(7i64));
    }
    // The code is larger than the whole code memory.
    let huge = engine.define("huge", sum_of_registers(20_000), 20_000).expect("it is right");
    assert_eq!(engine.compile(huge), Err(Error::OutOfCodeMemory));
    assert_eq!(engine.call(huge, &mut vm(), (3i64, 4i64)), Ok(7i64));
}

#[test]
fn code_is_thrown_away_under_those_who_run_it() {
    if azulejo::can_compile().is_err() {
        return;
    }
    let engine = Rc::new(Engine::<Op>::new());
    let mut vm = Vm { engine: engine.clone(), fib: None, seen: Vec::new() };
    // f(n) = if n < 2 { n } else { f(n - 1) }, which discards its own code before it returns.
    let code = vec![
        Op::Const { dst: r(1), value: Imm(2) },
        Op::JumpLess { a: r(0), b: r(1), to: Label(7) },
        Op::Const { dst: r(2), value: Imm(1) },
        Op::Sub { dst: r(3), a: r(0), b: r(2) },
        Op::Fib { dst: r(3), n: r(3) },
        Op::Discard,
        Op::Return { a: r(3) },
        Op::Return { a: r(0) },
    ];
    let fib = engine.define("fib", code, 4).expect("it is right");
    vm.fib = Some(fib);
    engine.compile(fib).expect("it compiles");
    assert_eq!(engine.call(fib, &mut vm, (9i64,)), Ok(1i64));
    assert!(!engine.is_compiled(fib));
    assert_eq!(engine.call(fib, &mut vm, (9i64,)), Ok(1i64));
}
