//! Rust functions that may fail, called by `(call throws …)`: in every tier the bytecode fails with the function's trap, and so
//! do its callers; without a failure the result is there, of whatever type.

use azulejo::prelude::*;

struct Vm {
    log: Vec<i64>,
}

/// An error of the application.
#[derive(Debug)]
enum Refusal {
    Odd,
    Large(u8),
}

impl From<Refusal> for Trap {
    fn from(refusal: Refusal) -> Trap {
        match refusal {
            Refusal::Odd => Trap::User(1),
            Refusal::Large(by) => Trap::User(100 + by as u16),
        }
    }
}

fn half(vm: &mut Vm, a: i64) -> Result<i64, Refusal> {
    vm.log.push(a);
    match a {
        _ if a % 2 != 0 => Err(Refusal::Odd),
        1000.. => Err(Refusal::Large((a / 1000) as u8)),
        _ => Ok(a / 2),
    }
}

fn refuse_negative(vm: &mut Vm, a: i64) -> Result<(), Trap> {
    vm.log.push(-a);
    if a < 0 { Err(Trap::Overflow) } else { Ok(()) }
}

fn root(a: f64) -> Result<f64, Trap> {
    if a == 21.0 { Err(Trap::BadConversion) } else { Ok(a.sqrt()) }
}

fn low(a: u8, b: f32) -> Result<u8, Trap> {
    if a == 35 { Err(Trap::User(9)) } else { Ok(a.wrapping_sub(b as u8)) }
}

fn is_even(a: i64) -> Result<bool, Trap> {
    if a % 17 == 3 { Err(Trap::User(13)) } else { Ok(a % 2 == 0) }
}

/// More arguments than registers take.
#[allow(clippy::too_many_arguments, reason = "that is tested")]
fn sum(a: i64, b: i64, c: i64, d: i64, e: i64, f: i64, g: i64, h: f64, i: i32) -> Result<i64, Trap> {
    let sum = a + b * 2 + c * 3 + d * 4 + e * 5 + f * 6 + g * 7 + h as i64 + i as i64;
    if a % 19 == 4 { Err(Trap::User(77)) } else { Ok(sum) }
}

#[derive(Bytecode, Clone, Copy, Debug)]
#[bytecode(context = Vm)]
enum Op {
    Half {
        dst: Out<i64>,
        a: In<i64>,
    },
    Positive {
        a: In<i64>,
    },
    Root {
        dst: Out<f64>,
        a: In<i64>,
    },
    Low {
        dst: Out<u8>,
        a: In<u8>,
        b: In<f64>,
    },
    Even {
        dst: Out<i64>,
        a: In<i64>,
    },
    Sum {
        dst: Out<i64>,
        a: In<i64>,
        b: In<i64>,
    },
    /// Fails on a cold path only.
    HalfOfLarge {
        dst: Out<i64>,
        a: In<i64>,
    },
    Add {
        dst: Out<i64>,
        a: In<i64>,
        b: In<i64>,
    },
    AddFloat {
        dst: Out<i64>,
        a: In<i64>,
        b: In<f64>,
    },
    AddLow {
        dst: Out<i64>,
        a: In<i64>,
        b: In<u8>,
    },
    Call {
        dst: Out<i64>,
        f: Imm<u32>,
        a: In<i64>,
    },
    Return {
        a: In<i64>,
    },
}

template! {
    Op::Half => (call throws half (arglist (carg (tc) ptr) (carg $a i64)) i64)
    Op::Positive => (callv throws refuse_negative (arglist (carg (tc) ptr) (carg $a i64)))
    Op::Root => (call throws root (arglist (carg (stof $a f64) f64)) f64)
    Op::Low => (call throws low (arglist (carg $a u8) (carg (fcast $b f32) f32)) u8)
    Op::Even => (if (call throws is_even (arglist (carg $a i64)) bool) $a (neg $a))
    Op::Sum => (call throws sum
        (arglist (carg $a i64) (carg $b i64) (carg $a i64) (carg $b i64) (carg $a i64) (carg $b i64) (carg $a i64)
            (carg (stof $b f64) f64) (carg (ucast $a i32) i32)) i64)
    Op::HalfOfLarge => (if (likely (lt $a 50)) $a (call throws half (arglist (carg (tc) ptr) (carg $a i64)) i64))
    Op::Add => (add $a $b)
    Op::AddFloat => (add $a (ftos_sat $b i64))
    Op::AddLow => (add $a (ucast $b i64))
    Op::Call => (invoke $f (arglist $a) i64)
    Op::Return => (return $a)
}

/// Registers: 0 the argument and the sum, 1 a result, 2 a float, 3 a small number.
fn code() -> Vec<Op> {
    vec![
        Op::Half { dst: 1.into(), a: 0.into() },
        Op::Positive { a: 0.into() },
        Op::Add { dst: 1.into(), a: 0.into(), b: 1.into() },
        Op::Root { dst: 2.into(), a: 1.into() },
        Op::AddFloat { dst: 1.into(), a: 1.into(), b: 2.into() },
        Op::Low { dst: 3.into(), a: 1.into(), b: 2.into() },
        Op::AddLow { dst: 1.into(), a: 1.into(), b: 3.into() },
        Op::Even { dst: 1.into(), a: 1.into() },
        Op::Sum { dst: 1.into(), a: 1.into(), b: 0.into() },
        Op::HalfOfLarge { dst: 1.into(), a: 1.into() },
        Op::Return { a: 1.into() },
    ]
}

/// What the functions above compute, in Rust.
fn expected(a: i64) -> (Result<i64, (Trap, u32)>, Vec<i64>) {
    let mut vm = Vm { log: Vec::new() };
    let result = (|| {
        let mut b = half(&mut vm, a).map_err(|refusal| (Trap::from(refusal), 0))?;
        refuse_negative(&mut vm, a).map_err(|trap| (trap, 1))?;
        b += a;
        let float = root(b as f64).map_err(|trap| (trap, 3))?;
        b += float as i64;
        b += low(b as u8, float as f32).map_err(|trap| (trap, 5))? as i64;
        b = if is_even(b).map_err(|trap| (trap, 7))? { b } else { -b };
        b = sum(b, a, b, a, b, a, b, a as f64, b as i32).map_err(|trap| (trap, 8))?;
        if b >= 50 {
            b = half(&mut vm, b).map_err(|refusal| (Trap::from(refusal), 9))?;
        }
        Ok(b)
    })();
    (result, vm.log)
}

fn engine(tier: Option<Tier>) -> (Engine<Op>, FunctionId, FunctionId) {
    let builder = Engine::<Op>::builder();
    let engine: Engine<Op> = match tier {
        None => builder.thresholds(3, 3).build(),
        Some(_) => builder.build(),
    };
    let function = engine.define("function", code(), 4).expect("it is right");
    let call = vec![
        Op::Add { dst: 1.into(), a: 0.into(), b: 1.into() },
        Op::Call { dst: 2.into(), f: Imm(function.number()), a: 0.into() },
        Op::Add { dst: 2.into(), a: 2.into(), b: 1.into() },
        Op::Return { a: 2.into() },
    ];
    let caller = engine.define("caller", call, 3).expect("it is right");
    if let Some(tier) = tier.filter(|_| azulejo::can_compile().is_ok()) {
        for function in [function, caller] {
            engine.compile_in(function, tier).expect("it is compiled");
        }
    }
    (engine, function, caller)
}

#[test]
fn a_failure_is_a_trap_of_the_bytecode_in_every_tier() {
    let all = [None, Some(Tier::Interpreter), Some(Tier::Baseline), Some(Tier::Optimizer)];
    let mut outcomes = std::collections::BTreeSet::new();
    for tier in all {
        let (engine, function, caller) = engine(tier);
        for a in (-6..=60).chain([998, 1000, 2000, 5000, 1 << 40]) {
            let (wanted, log) = expected(a);
            outcomes.insert(wanted.map_or_else(|(_, at)| at, |_| 99));
            let mut vm = Vm { log: Vec::new() };
            let direct = engine.call::<_, i64>(function, &mut vm, (a,));
            let told = wanted.map_err(|(trap, at)| Error::Trap { trap, at });
            assert_eq!((direct, &vm.log), (told, &log), "{a} in {tier:?}");
            let mut vm = Vm { log: Vec::new() };
            let nested = engine.call::<_, i64>(caller, &mut vm, (a,));
            let told = wanted.map(|value| value + a).map_err(|(trap, _)| Error::Trap { trap, at: 1 });
            assert_eq!((nested, &vm.log), (told, &log), "{a}, called, in {tier:?}");
        }
    }
    for at in [0, 1, 3, 5, 7, 8, 9, 99] {
        assert!(outcomes.contains(&at), "nothing ends at {at}: {outcomes:?}");
    }
}
