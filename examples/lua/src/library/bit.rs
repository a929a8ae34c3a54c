//! `bit`: operations on 32 bits, as LuaJIT has them.
//!
//! In: numbers, of which the lowest 32 bits of the nearest integer count. Out: the result as a number with a sign.

use super::{Arguments, Natives, register};
use crate::object::value::Value;
use crate::run::error::Result;
use crate::run::vm::Vm;
use azulejo::Frames;

const NATIVES: &Natives = &[
    ("arshift", |vm, frames, values| shift(vm, frames, values, |bits, count| (bits as i32 >> count) as u32)),
    ("band", |vm, frames, values| fold(vm, frames, values, |a, b| a & b)),
    ("bnot", |vm, frames, values| one(vm, frames, values, |bits| !bits)),
    ("bor", |vm, frames, values| fold(vm, frames, values, |a, b| a | b)),
    ("bswap", |vm, frames, values| one(vm, frames, values, u32::swap_bytes)),
    ("bxor", |vm, frames, values| fold(vm, frames, values, |a, b| a ^ b)),
    ("lshift", |vm, frames, values| shift(vm, frames, values, |bits, count| bits << count)),
    ("rol", |vm, frames, values| shift(vm, frames, values, u32::rotate_left)),
    ("ror", |vm, frames, values| shift(vm, frames, values, u32::rotate_right)),
    ("rshift", |vm, frames, values| shift(vm, frames, values, |bits, count| bits >> count)),
    ("tobit", |vm, frames, values| one(vm, frames, values, |bits| bits)),
    ("tohex", tohex),
];

/// Makes `bit`.
pub(super) fn open(vm: &mut Vm) {
    register(vm, "bit", NATIVES);
}

/// The lowest 32 bits of the nearest integer: adding this moves them to the end of the number's bits.
pub(super) fn bits_of(number: f64) -> u32 {
    const MAGIC: f64 = 6755399441055744.0;
    (number + MAGIC).to_bits() as u32
}

fn bits(vm: &mut Vm, args: Arguments<'_>, number: usize) -> Result<u32> {
    args.number(vm, number).map(bits_of)
}

fn result(bits: u32) -> Result<Value> {
    Ok(Value::number(f64::from(bits as i32)))
}

#[inline(always)]
fn one(vm: &mut Vm, frames: &Frames<'_>, values: &[Value], function: impl Fn(u32) -> u32) -> Result<Value> {
    let args = Arguments::new(frames, values);
    result(function(bits(vm, args, 1)?))
}

#[inline(always)]
fn fold(
    vm: &mut Vm,
    frames: &Frames<'_>,
    values: &[Value],
    function: impl Fn(u32, u32) -> u32,
) -> Result<Value> {
    let args = Arguments::new(frames, values);
    let mut all = bits(vm, args, 1)?;
    for number in 2..=args.len() {
        all = function(all, bits(vm, args, number)?);
    }
    result(all)
}

/// Shifts count modulo 32.
#[inline(always)]
fn shift(
    vm: &mut Vm,
    frames: &Frames<'_>,
    values: &[Value],
    function: impl Fn(u32, u32) -> u32,
) -> Result<Value> {
    let args = Arguments::new(frames, values);
    let (value, count) = (bits(vm, args, 1)?, bits(vm, args, 2)?);
    result(function(value, count & 31))
}

/// So many digits, 8 if it is not said; capital letters for a negative number of them.
fn tohex(vm: &mut Vm, frames: &Frames<'_>, values: &[Value]) -> Result<Value> {
    let args = Arguments::new(frames, values);
    let value = bits(vm, args, 1)?;
    let count = if args.len() < 2 { 8 } else { bits(vm, args, 2)? as i32 };
    let text = if count < 0 { format!("{value:08X}") } else { format!("{value:08x}") };
    vm.new_string(&text.as_bytes()[8 - count.unsigned_abs().min(8) as usize..])
}

#[cfg(test)]
mod tests {
    use crate::library::tests::{check, check_error};

    #[test]
    fn operations_are_those_of_luajit() {
        check(
            "bit.tobit(0xffffffff), bit.tobit(2^32 + 5), bit.tobit(-1.5), bit.tobit(2.5), bit.tobit('0x7f')",
            "-1 5 -2 2 127",
        );
        check(
            "bit.band(0xff, 0x0f, 6), bit.bor(1, 2, 4), bit.bxor(5, 1), bit.bnot(0), bit.bor(9)",
            "6 7 4 -1 9",
        );
        check(
            "bit.lshift(1, 31), bit.rshift(-1, 28), bit.arshift(-256, 4), bit.lshift(1, 32)",
            "-2147483648 15 -16 1",
        );
        check(
            "bit.rol(0x12345678, 12), bit.ror(0x12345678, 12), bit.bswap(0x12345678)",
            "1164411171 1736516421 2018915346",
        );
        check(
            "bit.tohex(1), bit.tohex(-1, 4), bit.tohex(0xabc, -8), bit.tohex(5, 0)",
            "'00000001' 'ffff' '00000ABC' ''",
        );
        // There are no more digits than bits.
        check("bit.tohex(-1, 9), bit.tohex(0xabc, -100)", "'ffffffff' '00000ABC'");
        check_error("bit.tohex(1, nil)", "bad argument #2 to 'tohex' (number expected, got nil)");
        check_error("bit.band()", "bad argument #1 to 'band' (number expected, got no value)");
        check_error("bit.lshift(1)", "bad argument #2 to 'lshift' (number expected, got no value)");
    }
}
