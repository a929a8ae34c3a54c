//! The base library.

use super::arguments::{self, MOST_ON_STACK, any, opt_int, table};
use super::load::{dofile, load, loadfile, loadstring};
use crate::number;
use crate::object::function::{Closure, Native};
use crate::object::heap::{Gc, Header, ObjectKind};
use crate::object::table::{Room, Table};
use crate::object::value::{ABSENT, FUNCTION, NIL, Type, USERDATA, Value};
use crate::run::bytecode::Op;
use crate::run::draft::Draft;
use crate::run::error::Result;
use crate::run::levels::Level;
use crate::run::slow::NativeFunction;
use crate::run::vm::{Vm, lua_closure, lua_prototype};
use azulejo::Frames;
use std::io::Write;

const FUNCTIONS: &[(&str, NativeFunction)] = &[
    ("assert", assert),
    ("collectgarbage", collectgarbage),
    ("error", error),
    ("gcinfo", gcinfo),
    ("getfenv", getfenv),
    ("getmetatable", getmetatable),
    ("ipairs", ipairs),
    ("load", load),
    ("loadstring", loadstring),
    ("newproxy", newproxy),
    ("next", next),
    ("pairs", pairs),
    ("print", print),
    ("rawequal", rawequal),
    ("rawget", rawget),
    ("rawset", rawset),
    ("select", select),
    ("setfenv", setfenv),
    ("setmetatable", setmetatable),
    ("tonumber", tonumber),
    ("tostring", tostring),
    ("type", type_of),
    ("unpack", unpack),
];

/// What reads files.
const FILES: &[(&str, NativeFunction)] = &[("dofile", dofile), ("loadfile", loadfile)];

impl Vm {
    /// Adds the base library to the global variables; functions that read files only if the program may.
    pub(crate) fn open_base(&mut self) {
        let globals = self.globals;
        self.add_natives(globals, FUNCTIONS);
        self.next = globals.get_string(self.heap.string(b"next"));
        self.set_field_of(globals, "_G", Value::table(globals));
        let version = self.text("Lua 5.1");
        self.set_field_of(globals, "_VERSION", version);
        // R0 is the function itself; the arguments are in a pack behind it.
        let (dst, pack) = (2.into(), 1.into());
        let protected = vec![Op::ProtectedCall { dst, pack }, Op::ReturnGiven { a: 2.into() }];
        let few = Op::ProtectedFew { dst: 4.into(), function: 1.into(), a: 2.into(), b: 3.into() };
        let few = vec![few, Op::ReturnGiven { a: 4.into() }];
        let few = Draft::builtin(few, 5, 3, false);
        self.add_builtin(globals, "pcall", Some(few), Draft::builtin(protected, 3, 0, true));
        let (function, handler) = (1.into(), 2.into());
        let handled =
            vec![Op::HandledCall { dst: 3.into(), function, handler }, Op::ReturnGiven { a: 3.into() }];
        self.add_builtin(globals, "xpcall", None, Draft::builtin(handled, 4, 2, false));
    }

    /// Adds those that read files.
    pub(crate) fn open_files_of_base(&mut self) {
        self.add_natives(self.globals, FILES);
    }

    /// Sets a field of a library's table.
    pub(crate) fn set_field_of(&mut self, table: Gc<Table>, name: &str, value: Value) {
        let key = self.heap.string(name.as_bytes());
        self.heap.set_string(table, key, value).expect("the key may be one");
    }

    /// Makes functions of Rust fields of a table.
    pub(crate) fn add_natives(&mut self, table: Gc<Table>, functions: &[(&'static str, NativeFunction)]) {
        for (name, function) in functions {
            let native = self.native_function(name, *function, &[]);
            self.set_field_of(table, name, native);
        }
    }

    /// A function of Rust as a value.
    pub(crate) fn native_function(
        &mut self,
        name: &'static str,
        function: NativeFunction,
        upvalues: &[Value],
    ) -> Value {
        let native = self.heap.native((name, function as usize as u64), self.globals, upvalues);
        Value::object(FUNCTION, native)
    }

    /// Makes a function of bytecode a field of a table. It may have a form of its own for few arguments.
    pub(crate) fn add_builtin(
        &mut self,
        table: Gc<Table>,
        name: &'static str,
        few: Option<Draft>,
        any: Draft,
    ) {
        let closure = self.builtin(name, few, any);
        self.set_field_of(table, name, Value::object(FUNCTION, closure));
    }
}

fn assert(vm: &mut Vm, frames: &Frames<'_>, args: &[Value]) -> Result<Value> {
    if any(vm, frames, args, 0)?.is_true() {
        return Ok(vm.give(args));
    }
    match args.get(1) {
        None | Some(&Value::NIL) => vm.fail(frames, "assertion failed!"),
        Some(_) => {
            let message = arguments::string(vm, frames, args, 1)?.bytes().to_vec();
            vm.fail(frames, message)
        }
    }
}

fn collectgarbage(vm: &mut Vm, frames: &Frames<'_>, args: &[Value]) -> Result<Value> {
    let option = match args.first() {
        None | Some(&Value::NIL) => b"collect".to_vec(),
        Some(_) => arguments::string(vm, frames, args, 0)?.bytes().to_vec(),
    };
    let number = opt_int(vm, frames, args, 1, 0)?;
    let percent = number.clamp(0, 1 << 20) as usize;
    Ok(Value::number(match &option[..] {
        b"collect" => {
            vm.collect_all(frames)?;
            0.0
        }
        b"count" => vm.heap.bytes() as f64 / 1024.0,
        b"stop" => {
            vm.heap.stop();
            0.0
        }
        b"restart" => {
            vm.heap.restart();
            0.0
        }
        b"step" => {
            // As in C's Lua the number is one of kilobytes; each costs about as much work as allocating them does.
            return Ok(Value::bool(vm.collect_some(frames, percent)?));
        }
        b"setpause" => vm.heap.set_pause(percent) as f64,
        b"setstepmul" => vm.heap.set_speed(percent) as f64,
        _ => {
            let message = [b"invalid option '", &option[..], b"'"].concat();
            return arguments::fail(vm, frames, 0, message);
        }
    }))
}

fn gcinfo(vm: &mut Vm, _: &Frames<'_>, _: &[Value]) -> Result<Value> {
    Ok(Value::number((vm.heap.bytes() / 1024) as f64))
}

fn error(vm: &mut Vm, frames: &Frames<'_>, args: &[Value]) -> Result<Value> {
    let value = args.first().copied().unwrap_or(Value::NIL);
    let level = opt_int(vm, frames, args, 1, 1)?;
    if level <= 0 || value.as_string().is_none() && !value.is_number() {
        return vm.throw(frames, value);
    }
    let text = arguments::string(vm, frames, args, 0)?;
    let mut message = match level {
        1 => vm.caller(frames).map_or(Vec::new(), |frame| vm.position_of(&frame)),
        _ => vm.position_at(vm.levels(frames).get(level as usize)),
    };
    message.extend_from_slice(text.bytes());
    let message = vm.heap.string(&message);
    vm.throw(frames, Value::string(message))
}

/// The function that an argument of `getfenv` and `setfenv` means: itself, or that at a level.
fn function_at(vm: &mut Vm, frames: &Frames<'_>, args: &[Value], default: bool) -> Result<Option<Value>> {
    let value = args.first().copied().unwrap_or(Value::NIL);
    if value.type_of() == Type::Function {
        return Ok(Some(value));
    }
    let level = match default {
        true => opt_int(vm, frames, args, 0, 1)?,
        false => arguments::int(vm, frames, args, 0)?,
    };
    if level < 0 {
        return arguments::fail(vm, frames, 0, "level must be non-negative");
    }
    if level == 0 {
        // A fraction of a level is this function's.
        let is_fraction = Vm::to_number(value).is_some_and(|number| number != 0.0);
        return Ok(vm.native().filter(|_| is_fraction).map(|native| Value::object(FUNCTION, native)));
    }
    let found =
        vm.levels(frames).get(level as usize).map(|at| (at.function(), matches!(at, Level::TailCall)));
    match found {
        Some((_, true)) => vm.fail(frames, format!("no function environment for tail call at level {level}")),
        Some((function, _)) => Ok(function),
        None => arguments::fail(vm, frames, 0, "invalid level"),
    }
}

/// The environment of a function.
pub(super) fn environment(function: Value) -> Option<&'static std::cell::Cell<Gc<Table>>> {
    let object = function.as_object::<Header>(FUNCTION)?;
    // SAFETY: the kind says what the object is; it stays while it is used.
    Some(unsafe {
        match object.kind() {
            ObjectKind::Native => &(*object.cast::<Native>().pointer()).environment,
            _ => &(*object.cast::<Closure>().pointer()).environment,
        }
    })
}

fn getfenv(vm: &mut Vm, frames: &Frames<'_>, args: &[Value]) -> Result<Value> {
    let function = function_at(vm, frames, args, true)?;
    // Functions of the library have the program's, as those of C do.
    let function = function.filter(|function| lua_prototype(*function).is_some());
    let environment = function.and_then(environment).map_or(vm.globals(), |environment| environment.get());
    Ok(Value::table(environment))
}

fn setfenv(vm: &mut Vm, frames: &Frames<'_>, args: &[Value]) -> Result<Value> {
    let to = table(vm, frames, args, 1)?;
    let Some(function) = function_at(vm, frames, args, false)? else {
        vm.set_globals(to);
        return Ok(vm.give(&[]));
    };
    let Some(closure) = lua_closure(function) else {
        return vm.fail(frames, "'setfenv' cannot change environment of given object");
    };
    closure.environment.set(to);
    vm.heap.again(closure.header());
    Ok(function)
}

fn getmetatable(vm: &mut Vm, frames: &Frames<'_>, args: &[Value]) -> Result<Value> {
    let value = any(vm, frames, args, 0)?;
    let Some(meta) = vm.metatable(value) else { return Ok(Value::NIL) };
    let key = vm.names.metatable;
    let protected = meta.get_string(key);
    Ok(if protected.is_nil() { Value::table(meta) } else { protected })
}

fn setmetatable(vm: &mut Vm, frames: &Frames<'_>, args: &[Value]) -> Result<Value> {
    let of = table(vm, frames, args, 0)?;
    let meta = args.get(1).copied();
    if !meta.is_some_and(|meta| meta.is_nil() || meta.as_table().is_some()) {
        return arguments::fail(vm, frames, 1, "nil or table expected");
    }
    let key = vm.names.metatable;
    if of.metatable().is_some_and(|meta| !meta.get_string(key).is_nil()) {
        return vm.fail(frames, "cannot change a protected metatable");
    }
    vm.heap.set_metatable(of, meta.and_then(Value::as_table));
    Ok(args[0])
}

/// One iteration of `ipairs`.
fn each_index(vm: &mut Vm, frames: &Frames<'_>, args: &[Value]) -> Result<Value> {
    let before = arguments::int(vm, frames, args, 1)?;
    let table = table(vm, frames, args, 0)?;
    let at = i64::from((before as i32).wrapping_add(1));
    let value = table.get_integer(at);
    if value.is_nil() {
        return Ok(vm.give(&[]));
    }
    Ok(vm.give(&[Value::number(at as f64), value]))
}

fn ipairs(vm: &mut Vm, frames: &Frames<'_>, args: &[Value]) -> Result<Value> {
    table(vm, frames, args, 0)?;
    if vm.each_index == Value::ABSENT {
        vm.each_index = vm.native_function("?", each_index, &[]);
    }
    Ok(vm.give(&[vm.each_index, args[0], Value::number(0.0)]))
}

fn pairs(vm: &mut Vm, frames: &Frames<'_>, args: &[Value]) -> Result<Value> {
    table(vm, frames, args, 0)?;
    if vm.each_pair == Value::ABSENT {
        vm.each_pair = vm.native_function("next", next, &[]);
    }
    Ok(vm.give(&[vm.each_pair, args[0], Value::NIL]))
}

fn next(vm: &mut Vm, frames: &Frames<'_>, args: &[Value]) -> Result<Value> {
    let of = table(vm, frames, args, 0)?;
    match of.next(args.get(1).copied().unwrap_or(Value::NIL)) {
        Ok(Some((key, value))) => Ok(vm.give(&[key, value])),
        Ok(None) => Ok(Value::NIL),
        Err(_) => vm.fail_plainly(frames, "invalid key to 'next'"),
    }
}

fn rawequal(vm: &mut Vm, frames: &Frames<'_>, args: &[Value]) -> Result<Value> {
    let (a, b) = (any(vm, frames, args, 0)?, any(vm, frames, args, 1)?);
    Ok(Value::bool(a.is_raw_equal(b)))
}

fn rawget(vm: &mut Vm, frames: &Frames<'_>, args: &[Value]) -> Result<Value> {
    Ok(table(vm, frames, args, 0)?.get(any(vm, frames, args, 1)?))
}

fn rawset(vm: &mut Vm, frames: &Frames<'_>, args: &[Value]) -> Result<Value> {
    let of = table(vm, frames, args, 0)?;
    let (key, value) = (any(vm, frames, args, 1)?, any(vm, frames, args, 2)?);
    vm.heap.set(of, key, value).or_else(|error| vm.fail_on_key(frames, error))?;
    Ok(args[0])
}

/// What `select` gives for a number from 1 on, or for `#`. What is too large for C's `int` is left to `select` itself.
#[inline]
pub(crate) fn selected(vm: &mut Vm, which: Value, values: &[Value]) -> Option<Value> {
    if let Some(number) = which.as_number() {
        // As everywhere in the library fractions are cut off.
        let skipped = number as usize;
        return (1.0..2147483648.0)
            .contains(&number)
            .then(|| vm.give(values.get(skipped - 1..).unwrap_or_default()));
    }
    let is_count = which.as_string()?.bytes().first() == Some(&b'#');
    is_count.then(|| vm.give(&[Value::number(values.len() as f64)]))
}

pub(crate) fn select(vm: &mut Vm, frames: &Frames<'_>, args: &[Value]) -> Result<Value> {
    let rest = args.get(1..).unwrap_or_default();
    if let Some(first) = args.first().and_then(|which| selected(vm, *which, rest)) {
        return Ok(first);
    }
    let number = arguments::int(vm, frames, args, 0)?;
    let skipped = if number < 0 { rest.len() as i64 + number } else { number - 1 };
    if number == 0 || skipped < 0 {
        return arguments::fail(vm, frames, 0, "index out of range");
    }
    Ok(vm.give(rest.get(skipped as usize..).unwrap_or_default()))
}

fn tonumber(vm: &mut Vm, frames: &Frames<'_>, args: &[Value]) -> Result<Value> {
    let base = opt_int(vm, frames, args, 1, 10)?;
    if base == 10 {
        let value = any(vm, frames, args, 0)?;
        return Ok(Vm::to_number(value).map_or(Value::NIL, Value::number));
    }
    let text = arguments::string(vm, frames, args, 0)?;
    if !(2..=36).contains(&base) {
        return arguments::fail(vm, frames, 1, "base out of range");
    }
    Ok(number::parse_in_base(text.bytes(), base as u32).map_or(Value::NIL, Value::number))
}

fn type_of(vm: &mut Vm, frames: &Frames<'_>, args: &[Value]) -> Result<Value> {
    let value = any(vm, frames, args, 0)?;
    Ok(Value::string(vm.names.types[value.type_of() as usize]))
}

fn unpack(vm: &mut Vm, frames: &Frames<'_>, args: &[Value]) -> Result<Value> {
    let of = table(vm, frames, args, 0)?;
    let first = opt_int(vm, frames, args, 1, 1)?;
    let last = match args.get(2) {
        None | Some(&Value::NIL) => of.length() as i64,
        Some(_) => arguments::int(vm, frames, args, 2)?,
    };
    if first > last {
        return Ok(vm.give(&[]));
    }
    if last - first + 1 > (MOST_ON_STACK.saturating_sub(args.len())) as i64 {
        return vm.fail(frames, "too many results to unpack");
    }
    let rest = (0..(last - first) as u32).map(|at| of.get_integer(first + 1 + i64::from(at)));
    Ok(vm.results.give_first(of.get_integer(first), rest))
}

fn tostring(vm: &mut Vm, frames: &Frames<'_>, args: &[Value]) -> Result<Value> {
    let value = any(vm, frames, args, 0)?;
    vm.text_of_value(frames, value)
}

impl Vm {
    /// What `tostring` makes of a value.
    pub(crate) fn text_of_value(&mut self, frames: &Frames<'_>, value: Value) -> Result<Value> {
        if let Some(meta) = self.metatable(value) {
            let key = self.names.to_string;
            let method = meta.get_string(key);
            if !method.is_nil() {
                let first = self.call_value(frames, method, &[value])?;
                let has_one = self.results.count > 0;
                self.results.count = 1;
                return Ok(if has_one { first } else { Value::NIL });
            }
        }
        Ok(match value.type_of() {
            Type::String => value,
            Type::Nil => self.text("nil"),
            Type::Boolean => self.text(if value == Value::TRUE { "true" } else { "false" }),
            Type::Number => {
                let mut text = Vec::new();
                number::write(f64::from_bits(value.0), &mut text);
                Value::string(self.heap.string(&text))
            }
            other => {
                let address = value.0 & ((1 << 48) - 1);
                let name = if value.0 >> 48 == USERDATA >> 48 { "userdata" } else { other.name() };
                self.text(&format!("{name}: 0x{address:08x}"))
            }
        })
    }
}

fn print(vm: &mut Vm, frames: &Frames<'_>, args: &[Value]) -> Result<Value> {
    let globals = Value::table(vm.globals());
    let key = vm.text("tostring");
    let converter = vm.get(frames, globals, key)?;
    let mut out = vm.library.take_buffer();
    let mut failed = Ok(());
    for (at, value) in args.iter().enumerate() {
        if let Err(thrown) = print_one(vm, frames, (converter, *value), at > 0, &mut out) {
            failed = Err(thrown);
            break;
        }
    }
    if failed.is_ok() {
        out.push(b'\n');
    }
    // What stands before a failure is written. As C's Lua, this does not say if nobody can read it.
    let _ = vm.out.write_all(&out);
    vm.library.bring_back(out);
    failed.map(|()| vm.give(&[]))
}

/// Appends what `print` writes for one of its arguments: as C does, the text up to its first zero.
fn print_one(
    vm: &mut Vm,
    frames: &Frames<'_>,
    (converter, value): (Value, Value),
    is_next: bool,
    out: &mut Vec<u8>,
) -> Result<()> {
    let text = vm.call_value(frames, converter, &[value])?;
    let text = match vm.results.count {
        0 => None,
        _ => super::as_text(vm, text),
    };
    let Some(text) = text else {
        return vm.fail(frames, "'tostring' must return a string to 'print'");
    };
    vm.make_room(out, text.len() + 2)?;
    if is_next {
        out.push(b'\t');
    }
    out.extend_from_slice(number::until_zero(text.bytes()));
    Ok(())
}

/// The value of what `newproxy` makes: no other userdata lends its metatable to a new one.
struct Proxy;

fn newproxy(vm: &mut Vm, frames: &Frames<'_>, args: &[Value]) -> Result<Value> {
    let meta = match args.first().copied().unwrap_or(Value::FALSE) {
        Value::FALSE | Value::NIL => None,
        Value::TRUE => Some(vm.heap.table(Room::default())),
        other => match other
            .as_userdata()
            .filter(|proxy| proxy.value.is::<Proxy>())
            .and_then(|proxy| proxy.metatable.get())
        {
            Some(meta) => Some(meta),
            None => return arguments::fail(vm, frames, 0, "boolean or proxy expected"),
        },
    };
    let proxy = vm.heap.userdata(Box::new(Proxy));
    if let Some(meta) = meta {
        vm.heap.set_userdata_metatable(proxy, Some(meta));
    }
    Ok(Value::object(USERDATA, proxy))
}

const _: () = assert!(NIL != ABSENT);
