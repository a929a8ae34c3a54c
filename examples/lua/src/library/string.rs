//! `string`: all functions but those that look for patterns.

use super::arguments::MOST_ON_STACK;
use super::{Arguments, Natives, built, register, search};
use crate::object::heap::ObjectKind;
use crate::object::table::Room;
use crate::object::value::{FUNCTION, Type, Value};
use crate::run::error::Result;
use crate::run::vm::Vm;
use crate::strings::{Spec, put_literal, transform};
use azulejo::Frames;

const NATIVES: &Natives = &[
    ("byte", byte),
    ("char", char),
    ("dump", dump),
    ("find", search::find),
    ("format", format),
    ("gmatch", search::gmatch),
    ("gsub", search::gsub),
    ("len", len),
    ("lower", lower),
    ("match", search::match_),
    ("rep", rep),
    ("reverse", reverse),
    ("sub", sub),
    ("upper", upper),
];

/// Makes `string`, and the metatable by which strings have its functions as methods.
pub(super) fn open(vm: &mut Vm) {
    let table = register(vm, "string", NATIVES);
    let gmatch = table.get_string(vm.heap.permanent_string(b"gmatch"));
    // An older name.
    vm.set_field_of(table, "gfind", gmatch);
    let meta = vm.heap.table(Room { slots: 1, elements: 0 });
    vm.set_field_of(meta, "__index", Value::table(table));
    vm.metatables[Type::String as usize] = Some(meta);
}

fn len(vm: &mut Vm, frames: &Frames<'_>, values: &[Value]) -> Result<Value> {
    let text = Arguments::new(frames, values).string(vm, 1)?;
    Ok(Value::number(text.len() as f64))
}

fn sub(vm: &mut Vm, frames: &Frames<'_>, values: &[Value]) -> Result<Value> {
    let args = Arguments::new(frames, values);
    let text = args.string(vm, 1)?;
    let (first, last) = (args.integer(vm, 2)?, args.integer_or(vm, 3, -1)?);
    let range = transform::sub_range(text.len(), first, last);
    if range.len() == text.len() {
        return Ok(Value::string(text));
    }
    vm.new_string(&text.bytes()[range])
}

fn byte(vm: &mut Vm, frames: &Frames<'_>, values: &[Value]) -> Result<Value> {
    let args = Arguments::new(frames, values);
    let text = args.string(vm, 1)?;
    let first = args.integer_or(vm, 2, 1)?;
    if args.len() <= 2 {
        return match text.bytes().get(transform::byte_range(text.len(), first, None)) {
            Some(&[byte]) => Ok(Value::number(f64::from(byte))),
            _ => Ok(vm.give(&[])),
        };
    }
    let last = if args.get(3).is_nil() { None } else { Some(args.integer(vm, 3)?) };
    let range = transform::byte_range(text.len(), first, last);
    if range.len() + args.len() > MOST_ON_STACK {
        return args.fail(vm, "stack overflow (string slice too long)");
    }
    let Some((first, rest)) = text.bytes()[range].split_first() else { return Ok(vm.give(&[])) };
    let number = |byte: &u8| Value::number(f64::from(*byte));
    Ok(vm.results.give_first(number(first), rest.iter().map(number)))
}

fn char(vm: &mut Vm, frames: &Frames<'_>, values: &[Value]) -> Result<Value> {
    /// Mostly there are no more.
    const FEW: usize = 16;
    let args = Arguments::new(frames, values);
    if args.len() <= FEW {
        let mut bytes = [0; FEW];
        for (number, byte) in (1..=args.len()).zip(&mut bytes) {
            *byte = char_at(vm, args, number)?;
        }
        return Ok(Value::string(vm.heap.string(&bytes[..args.len()])));
    }
    let mut buffer = vm.library.take_buffer();
    for number in 1..=args.len() {
        buffer.push(char_at(vm, args, number)?);
    }
    let result = vm.new_string(&buffer);
    vm.library.bring_back(buffer);
    result
}

/// The byte that an argument is the number of.
#[inline]
fn char_at(vm: &mut Vm, args: Arguments<'_>, number: usize) -> Result<u8> {
    match u8::try_from(args.int(vm, number)?) {
        Ok(byte) => Ok(byte),
        Err(_) => args.bad(vm, number, "invalid value"),
    }
}

fn rep(vm: &mut Vm, frames: &Frames<'_>, values: &[Value]) -> Result<Value> {
    let args = Arguments::new(frames, values);
    let (text, count) = (args.string(vm, 1)?, args.int(vm, 2)?);
    let count = usize::try_from(count).unwrap_or(0);
    built(vm, text.len().saturating_mul(count), |out| transform::repeat(text.bytes(), count, out))
}

fn upper(vm: &mut Vm, frames: &Frames<'_>, values: &[Value]) -> Result<Value> {
    let text = Arguments::new(frames, values).string(vm, 1)?;
    built(vm, text.len(), |out| transform::upper(text.bytes(), out))
}

fn lower(vm: &mut Vm, frames: &Frames<'_>, values: &[Value]) -> Result<Value> {
    let text = Arguments::new(frames, values).string(vm, 1)?;
    built(vm, text.len(), |out| transform::lower(text.bytes(), out))
}

fn reverse(vm: &mut Vm, frames: &Frames<'_>, values: &[Value]) -> Result<Value> {
    let text = Arguments::new(frames, values).string(vm, 1)?;
    built(vm, text.len(), |out| transform::reverse(text.bytes(), out))
}

fn dump(vm: &mut Vm, frames: &Frames<'_>, values: &[Value]) -> Result<Value> {
    let args = Arguments::new(frames, values);
    let function = args.function(vm, 1)?;
    let closure =
        function.as_object(FUNCTION).filter(|_| function.object_kind() == Some(ObjectKind::Closure));
    match closure.and_then(|closure| vm.dump(closure)) {
        Some(bytes) => vm.new_string(&bytes),
        None => args.fail(vm, "unable to dump given function"),
    }
}

fn format(vm: &mut Vm, frames: &Frames<'_>, values: &[Value]) -> Result<Value> {
    /// `%99.99f` of the largest number has fewer bytes than this.
    const MOST_OF_NUMBER: usize = 512;
    let args = Arguments::new(frames, values);
    let template = args.string(vm, 1)?;
    let template = template.bytes();
    let mut out = vm.library.take_buffer();
    let (mut at, mut number) = (0, 1);
    // What is between the items, and a number, which has a precision of two digits.
    vm.make_room(&mut out, template.len() + MOST_OF_NUMBER)?;
    while let Some(item) = put_literal(template, at, &mut out) {
        number += 1;
        if number > args.len() {
            return args.bad(vm, number, "no value");
        }
        let (spec, end) = match Spec::parse(template, item) {
            Ok(parsed) => parsed,
            Err(error) => return args.fail(vm, error.text()),
        };
        match spec.takes_number() {
            true => {
                vm.make_room(&mut out, template.len() + MOST_OF_NUMBER)?;
                spec.put_number(args.number(vm, number)?, &mut out);
            }
            false => {
                let text = args.string(vm, number)?;
                vm.make_room(&mut out, template.len() + spec.most_bytes(text.bytes()))?;
                spec.put_text(text.bytes(), &mut out);
            }
        }
        at = end;
    }
    let result = vm.new_string(&out);
    vm.library.bring_back(out);
    result
}

#[cfg(test)]
mod tests {
    use crate::library::tests::{check, check_error};

    #[test]
    fn parts_of_strings() {
        check("('hello'):sub(2, -2), ('x'):sub(5), string.sub(12345, 2, 3)", "'ell' '' '23'");
        check("string.byte('abc', 1, -1)", "97 98 99");
        check("string.byte('', 1)", "");
        check("string.char(), string.char(104, '105', 0)", "'' 'hi\\x00'");
        check(
            "#string.rep('ab', 3), ('x'):rep(-1), ('abc'):reverse(), ('aB1'):upper(), ('aB1'):lower()",
            "6 '' 'cba' 'AB1' 'ab1'",
        );
        check("string.len('a\\0b'), ('abc').len, (5 .. ''):len()", "3 function 1");
    }

    #[test]
    fn formats() {
        check(
            "string.format('%5.1f|%-4d|%s|%q|%%', 3.14159, 7, 'x', 'a\\nb')",
            "'  3.1|7   |x|\\\"a\\\\\\nb\\\"|%'",
        );
        check_error("string.format('%d', 'x')", "bad argument #2 to 'format' (number expected, got string)");
        check_error("string.format('%s')", "bad argument #2 to 'format' (no value)");
        check_error("string.format('%y', 1)", "invalid option '%y' to 'format'");
    }

    #[test]
    fn wrong_arguments() {
        check_error("string.rep()", "bad argument #1 to 'rep' (string expected, got no value)");
        check_error("string.rep('x', {})", "bad argument #2 to 'rep' (number expected, got table)");
        check_error("string.char(1, 256)", "bad argument #2 to 'char' (invalid value)");
        check_error("string.dump(string.dump)", "unable to dump given function");
        check_error("('x'):rep(8000):byte(1, -1)", "stack overflow (string slice too long)");
        assert_eq!(crate::library::tests::error_of("return ('xxxxx'):rep(2^30)"), "not enough memory");
    }
}
