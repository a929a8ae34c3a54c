//! `math`.

use super::{Arguments, Natives, register};
use crate::object::value::Value;
use crate::random::Random;
use crate::run::error::Result;
use crate::run::vm::Vm;
use azulejo::Frames;

const NATIVES: &Natives = &[
    ("abs", |vm, frames, values| one(vm, frames, values, f64::abs)),
    ("acos", |vm, frames, values| one(vm, frames, values, f64::acos)),
    ("asin", |vm, frames, values| one(vm, frames, values, f64::asin)),
    ("atan", |vm, frames, values| one(vm, frames, values, f64::atan)),
    ("atan2", |vm, frames, values| two(vm, frames, values, f64::atan2)),
    ("ceil", |vm, frames, values| one(vm, frames, values, f64::ceil)),
    ("cos", |vm, frames, values| one(vm, frames, values, f64::cos)),
    ("cosh", |vm, frames, values| one(vm, frames, values, f64::cosh)),
    ("deg", |vm, frames, values| one(vm, frames, values, |angle| angle / DEGREE)),
    ("exp", |vm, frames, values| one(vm, frames, values, f64::exp)),
    ("floor", |vm, frames, values| one(vm, frames, values, f64::floor)),
    ("fmod", |vm, frames, values| two(vm, frames, values, |a, b| a % b)),
    ("frexp", frexp),
    ("ldexp", ldexp),
    ("log", |vm, frames, values| one(vm, frames, values, f64::ln)),
    ("log10", |vm, frames, values| one(vm, frames, values, f64::log10)),
    ("max", |vm, frames, values| best(vm, frames, values, |a, best| a > best)),
    ("min", |vm, frames, values| best(vm, frames, values, |a, best| a < best)),
    ("modf", modf),
    ("pow", |vm, frames, values| two(vm, frames, values, crate::number::power)),
    ("rad", |vm, frames, values| one(vm, frames, values, |angle| angle * DEGREE)),
    ("random", random),
    ("randomseed", random_seed),
    ("sin", |vm, frames, values| one(vm, frames, values, f64::sin)),
    ("sinh", |vm, frames, values| one(vm, frames, values, f64::sinh)),
    ("sqrt", |vm, frames, values| one(vm, frames, values, f64::sqrt)),
    ("tan", |vm, frames, values| one(vm, frames, values, f64::tan)),
    ("tanh", |vm, frames, values| one(vm, frames, values, f64::tanh)),
];

/// An angle of one degree.
const DEGREE: f64 = std::f64::consts::PI / 180.0;

/// Makes `math`.
pub(super) fn open(vm: &mut Vm) {
    let table = register(vm, "math", NATIVES);
    vm.set_field_of(table, "pi", Value::number(std::f64::consts::PI));
    vm.set_field_of(table, "huge", Value::number(f64::INFINITY));
    let fmod = table.get_string(vm.heap.permanent_string(b"fmod"));
    // An older name.
    vm.set_field_of(table, "mod", fmod);
}

#[inline(always)]
fn one(vm: &mut Vm, frames: &Frames<'_>, values: &[Value], function: impl Fn(f64) -> f64) -> Result<Value> {
    let number = Arguments::new(frames, values).number(vm, 1)?;
    Ok(Value::number(function(number)))
}

#[inline(always)]
fn two(
    vm: &mut Vm,
    frames: &Frames<'_>,
    values: &[Value],
    function: impl Fn(f64, f64) -> f64,
) -> Result<Value> {
    let args = Arguments::new(frames, values);
    // Compiled C looks at the last argument first.
    let b = args.number(vm, 2)?;
    let a = args.number(vm, 1)?;
    Ok(Value::number(function(a, b)))
}

#[inline(always)]
fn best(
    vm: &mut Vm,
    frames: &Frames<'_>,
    values: &[Value],
    is_better: impl Fn(f64, f64) -> bool,
) -> Result<Value> {
    let args = Arguments::new(frames, values);
    let mut best = args.number(vm, 1)?;
    for number in 2..=args.len() {
        let value = args.number(vm, number)?;
        if is_better(value, best) {
            best = value;
        }
    }
    Ok(Value::number(best))
}

fn modf(vm: &mut Vm, frames: &Frames<'_>, values: &[Value]) -> Result<Value> {
    let value = Arguments::new(frames, values).number(vm, 1)?;
    let whole = value.trunc();
    let fraction = if value.is_infinite() { 0.0 } else { value - whole };
    Ok(vm.give(&[Value::number(whole), Value::number(fraction.abs().copysign(value))]))
}

/// The bits of a number's exponent.
const EXPONENT: u64 = 0x7ff << 52;

fn frexp(vm: &mut Vm, frames: &Frames<'_>, values: &[Value]) -> Result<Value> {
    /// What makes a number have all its bits, however small it is.
    const SCALE: f64 = (1u64 << 54) as f64;
    let value = Arguments::new(frames, values).number(vm, 1)?;
    let (mantissa, exponent) = match value {
        value if value == 0.0 || !value.is_finite() => (value, 0),
        value => {
            let (scaled, before) = if value.is_subnormal() { (value * SCALE, 54) } else { (value, 0) };
            let exponent = (scaled.to_bits() & EXPONENT) >> 52;
            let half = 0.5f64.to_bits() & EXPONENT;
            (f64::from_bits(scaled.to_bits() & !EXPONENT | half), exponent as i32 - 1022 - before)
        }
    };
    Ok(vm.give(&[Value::number(mantissa), Value::number(f64::from(exponent))]))
}

fn ldexp(vm: &mut Vm, frames: &Frames<'_>, values: &[Value]) -> Result<Value> {
    let args = Arguments::new(frames, values);
    // Compiled C looks at the last argument first.
    let exponent = args.int(vm, 2)?;
    let value = args.number(vm, 1)?;
    Ok(Value::number(scale(value, exponent)))
}

/// `value × 2^exponent`, rounded once: what is multiplied in between is exact.
fn scale(value: f64, exponent: i32) -> f64 {
    let power = |exponent: i32| f64::from_bits(((exponent + 1023) as u64) << 52);
    let (mut value, mut exponent) = (value, exponent.clamp(-3000, 3000));
    for _ in 0..2 {
        if exponent > 1023 {
            value *= power(1023);
            exponent -= 1023;
        } else if exponent < -1022 {
            // Fewer bits are lost than there are below the last one of a number that is not subnormal.
            value *= power(-1022 + 53);
            exponent += 1022 - 53;
        }
    }
    value * power(exponent.clamp(-1022, 1023))
}

fn random(vm: &mut Vm, frames: &Frames<'_>, values: &[Value]) -> Result<Value> {
    let args = Arguments::new(frames, values);
    let (low, high, last) = match args.len() {
        0 => return Ok(Value::number(vm.library.random.fraction())),
        1 => (1, args.int(vm, 1)?, 1),
        2 => (args.int(vm, 1)?, args.int(vm, 2)?, 2),
        _ => return args.fail(vm, "wrong number of arguments"),
    };
    if low > high {
        return args.bad(vm, last, "interval is empty");
    }
    Ok(Value::number(vm.library.random.between(low, high)))
}

fn random_seed(vm: &mut Vm, frames: &Frames<'_>, values: &[Value]) -> Result<Value> {
    let seed = Arguments::new(frames, values).int(vm, 1)?;
    vm.library.random = Random::new(seed);
    Ok(vm.give(&[]))
}

#[cfg(test)]
mod tests {
    use crate::library::tests::{check, check_error};

    #[test]
    fn functions_of_one_and_two_numbers() {
        check("math.floor(-1.5), math.ceil(1.2), math.abs('-3'), math.sqrt(16)", "-2 2 3 4");
        check(
            "math.fmod(-5, 3), math.mod(5.5, 2), math.pow(2, 10), math.atan2(0, -1) == math.pi",
            "-2 1.5 1024 true",
        );
        check(
            "math.max(3, 7, 5), math.min(3, '-7'), math.deg(math.pi), math.rad(180) == math.pi",
            "7 -7 180 true",
        );
    }

    #[test]
    fn numbers_are_taken_apart() {
        check("math.modf(-3.25)", "-3 -0.25");
        check("math.modf(-1/0)", "-inf -0");
        check("math.frexp(10)", "0.625 4");
        check("math.frexp(0)", "0 0");
        check("math.frexp(2^-1074)", "0.5 -1073");
        check(
            "math.ldexp(0.625, 4), math.ldexp(1, -1074) == 2^-1074, math.ldexp(1, -1075), math.ldexp(1, 9999)",
            "10 true 0 inf",
        );
        check("math.ldexp(2^-1074, 2097) == 2^1023, math.ldexp(3, -1075) == 2^-1073", "true true");
    }

    #[test]
    fn random_numbers_are_within_bounds() {
        check(
            "(function() local seen = {} for i = 1, 1000 do seen[math.random(3, 5)] = true local r = math.random() \
             if r < 0 or r >= 1 then return r end end return seen[2], seen[3], seen[4], seen[5], seen[6] end)()",
            "nil true true true nil",
        );
        check(
            "(function() math.randomseed(7) local a, b = math.random(), math.random(1e9) math.randomseed(7) \
             return a == math.random(), b == math.random(1e9) end)()",
            "true true",
        );
        check_error("math.random(0)", "bad argument #1 to 'random' (interval is empty)");
        check_error("math.random(2, 1)", "bad argument #2 to 'random' (interval is empty)");
        check_error("math.random(1, 2, 3)", "wrong number of arguments");
        check_error("math.max()", "bad argument #1 to 'max' (number expected, got no value)");
    }
}
