//! Arguments of functions of Rust, with the messages of C's Lua for those that are wrong.
//!
//! In: values, and an index from 0; with [`Arguments`] a number from 1, as messages have it. Out: what the function wants, or an error.

use super::as_text;
use crate::number;
use crate::object::heap::Gc;
use crate::object::string::Str;
use crate::object::table::Table;
use crate::object::value::{Type, Value};
use crate::run::draft::NameKind;
use crate::run::error::Result;
use crate::run::vm::Vm;
use crate::stream::error_text;
use azulejo::Frames;

/// Fails because of the argument at an index.
pub(crate) fn fail<T>(vm: &mut Vm, frames: &Frames<'_>, at: usize, message: impl AsRef<[u8]>) -> Result<T> {
    let name = vm.caller(frames).and_then(|frame| vm.callee_name(&frame));
    let (mut number, mut text) = (at + 1, Vec::new());
    let (kind, name) = name.map_or((None, b"?"[..].into()), |(kind, name)| (Some(kind), name));
    if kind == Some(NameKind::Method) {
        number -= 1;
    }
    match number {
        0 => text.extend_from_slice(b"calling '"),
        _ => text.extend_from_slice(format!("bad argument #{number} to '").as_bytes()),
    }
    text.extend_from_slice(&name);
    text.extend_from_slice(if number == 0 { b"' on bad self (" } else { b"' (" });
    text.extend_from_slice(message.as_ref());
    text.push(b')');
    vm.fail(frames, text)
}

/// Fails because an argument is of another type than this.
pub(crate) fn expected<T>(
    vm: &mut Vm,
    frames: &Frames<'_>,
    args: &[Value],
    at: usize,
    what: &str,
) -> Result<T> {
    let given = args.get(at).map_or("no value", |value| value.type_of().name());
    fail(vm, frames, at, format!("{what} expected, got {given}"))
}

/// Any value.
pub(crate) fn any(vm: &mut Vm, frames: &Frames<'_>, args: &[Value], at: usize) -> Result<Value> {
    match args.get(at) {
        Some(value) => Ok(*value),
        None => fail(vm, frames, at, "value expected"),
    }
}

/// A table.
pub(crate) fn table(vm: &mut Vm, frames: &Frames<'_>, args: &[Value], at: usize) -> Result<Gc<Table>> {
    match args.get(at).and_then(|value| value.as_table()) {
        Some(table) => Ok(table),
        None => expected(vm, frames, args, at, "table"),
    }
}

/// A function.
pub(crate) fn function(vm: &mut Vm, frames: &Frames<'_>, args: &[Value], at: usize) -> Result<Value> {
    match args.get(at).filter(|value| value.type_of() == Type::Function) {
        Some(value) => Ok(*value),
        None => expected(vm, frames, args, at, "function"),
    }
}

/// A string, or a number as one.
pub(crate) fn string(vm: &mut Vm, frames: &Frames<'_>, args: &[Value], at: usize) -> Result<Gc<Str>> {
    match as_text(vm, args.get(at).copied().unwrap_or(Value::NIL)) {
        Some(text) => Ok(text),
        None => expected(vm, frames, args, at, "string"),
    }
}

/// So many values a function of C's Lua has at most, its arguments and its results together.
pub(super) const MOST_ON_STACK: usize = 8000;

/// A number, or a string as one.
pub(crate) fn number(vm: &mut Vm, frames: &Frames<'_>, args: &[Value], at: usize) -> Result<f64> {
    match args.get(at).and_then(|value| Vm::to_number(*value)) {
        Some(number) => Ok(number),
        None => expected(vm, frames, args, at, "number"),
    }
}

/// A number as what C makes an `int` of: the lower half of the integer.
pub(crate) fn int(vm: &mut Vm, frames: &Frames<'_>, args: &[Value], at: usize) -> Result<i64> {
    number(vm, frames, args, at).map(|value| i64::from(number::to_i64(value) as i32))
}

/// Likewise, or a value for an argument that is missing or nil.
pub(crate) fn opt_int(
    vm: &mut Vm,
    frames: &Frames<'_>,
    args: &[Value],
    at: usize,
    default: i64,
) -> Result<i64> {
    match args.get(at) {
        None | Some(&Value::NIL) => Ok(default),
        Some(_) => int(vm, frames, args, at),
    }
}

/// Why the system refused something, in C's words.
pub(crate) fn reason(error: &std::io::Error) -> String {
    error_text(error).0
}

/// The arguments of a call.
#[derive(Clone, Copy)]
pub(crate) struct Arguments<'a> {
    frames: &'a Frames<'a>,
    values: &'a [Value],
}

impl<'a> Arguments<'a> {
    /// The arguments of a function.
    pub(crate) fn new(frames: &'a Frames<'a>, values: &'a [Value]) -> Arguments<'a> {
        Arguments { frames, values }
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.values.len()
    }

    /// An argument as it is; `nil` if it is missing.
    #[inline]
    pub(crate) fn get(&self, number: usize) -> Value {
        self.values.get(number - 1).copied().unwrap_or(Value::NIL)
    }

    /// The frames of the program, for what else wants them.
    pub(crate) fn frames(&self) -> &'a Frames<'a> {
        self.frames
    }

    /// Calls a value; returns the first result. The collector may work meanwhile.
    pub(crate) fn call(&self, vm: &mut Vm, callee: Value, arguments: &[Value]) -> Result<Value> {
        let result = vm.call_value(self.frames, callee, arguments)?;
        Ok(if vm.results.count == 0 { Value::NIL } else { result })
    }

    /// An error of the function.
    #[cold]
    pub(crate) fn fail<T>(&self, vm: &mut Vm, message: impl AsRef<[u8]>) -> Result<T> {
        vm.fail(self.frames, message)
    }

    /// An error of one argument.
    #[cold]
    pub(crate) fn bad<T>(&self, vm: &mut Vm, number: usize, message: impl AsRef<[u8]>) -> Result<T> {
        fail(vm, self.frames, number - 1, message)
    }

    /// The error of an argument that has another type.
    #[cold]
    pub(crate) fn bad_type<T>(&self, vm: &mut Vm, number: usize, what: &str) -> Result<T> {
        expected(vm, self.frames, self.values, number - 1, what)
    }

    /// An argument that has to be there, be it `nil`.
    pub(crate) fn any(&self, vm: &mut Vm, number: usize) -> Result<Value> {
        any(vm, self.frames, self.values, number - 1)
    }

    /// A string, or a number as one.
    #[inline]
    pub(crate) fn string(&self, vm: &mut Vm, number: usize) -> Result<Gc<Str>> {
        match self.get(number).as_string() {
            Some(text) => Ok(text),
            None => string(vm, self.frames, self.values, number - 1),
        }
    }

    /// A string, if it is there and not `nil`.
    pub(crate) fn optional_string(&self, vm: &mut Vm, number: usize) -> Result<Option<Gc<Str>>> {
        match self.get(number).is_nil() {
            true => Ok(None),
            false => self.string(vm, number).map(Some),
        }
    }

    /// A number, or a string that is one.
    #[inline]
    pub(crate) fn number(&self, vm: &mut Vm, number: usize) -> Result<f64> {
        // No value is no number, as `nil` is none.
        match self.get(number).as_number() {
            Some(value) => Ok(value),
            None => self::number(vm, self.frames, self.values, number - 1),
        }
    }

    /// A number, or something else if it is missing or `nil`.
    pub(crate) fn number_or(&self, vm: &mut Vm, number: usize, otherwise: f64) -> Result<f64> {
        if self.get(number).is_nil() { Ok(otherwise) } else { self.number(vm, number) }
    }

    /// A number as an integer.
    #[inline]
    pub(crate) fn integer(&self, vm: &mut Vm, number: usize) -> Result<i64> {
        self.number(vm, number).map(number::to_i64)
    }

    /// A number as an integer, or another if it is missing or `nil`.
    pub(crate) fn integer_or(&self, vm: &mut Vm, number: usize, otherwise: i64) -> Result<i64> {
        if self.get(number).is_nil() { Ok(otherwise) } else { self.integer(vm, number) }
    }

    /// A number as what C makes an `int` of: the lower half of the integer.
    pub(crate) fn int(&self, vm: &mut Vm, number: usize) -> Result<i32> {
        self.integer(vm, number).map(|value| value as i32)
    }

    /// The same, or another if it is missing or `nil`.
    pub(crate) fn int_or(&self, vm: &mut Vm, number: usize, otherwise: i32) -> Result<i32> {
        if self.get(number).is_nil() { Ok(otherwise) } else { self.int(vm, number) }
    }

    /// A table.
    pub(crate) fn table(&self, vm: &mut Vm, number: usize) -> Result<Gc<Table>> {
        table(vm, self.frames, self.values, number - 1)
    }

    /// A function.
    pub(crate) fn function(&self, vm: &mut Vm, number: usize) -> Result<Value> {
        function(vm, self.frames, self.values, number - 1)
    }

    /// Which of some words the argument is; the word that stands for it if it is missing or `nil`.
    pub(crate) fn word<T: Copy>(
        &self,
        vm: &mut Vm,
        number: usize,
        otherwise: Option<&str>,
        words: &[(&str, T)],
    ) -> Result<T> {
        let text = match otherwise {
            Some(_) => self.optional_string(vm, number)?,
            None => Some(self.string(vm, number)?),
        };
        let name = match &text {
            Some(text) => number::until_zero(text.bytes()),
            None => otherwise.unwrap_or_default().as_bytes(),
        };
        match words.iter().find(|(word, _)| word.as_bytes() == name) {
            Some((_, meaning)) => Ok(*meaning),
            None => self.bad(vm, number, [b"invalid option '", name, b"'"].concat()),
        }
    }
}
