//! `io`: the functions that open files, and those for the default files.
//!
//! The methods of a file are in `file.rs`.

use super::file::{self, METHODS};
use super::os::{give_outcome, path_of, shell};
use super::{Arguments, Natives, register};
use crate::number::until_zero;
use crate::object::heap::Gc;
use crate::object::string::Str;
use crate::object::table::{Room, Table};
use crate::object::value::{Type, USERDATA, Value};
use crate::run::error::Result;
use crate::run::library_state::OpenFile;
use crate::run::vm::Vm;
use crate::stream::{Stream, error_text};
use azulejo::Frames;
use std::io;
use std::rc::Rc;

const NATIVES: &Natives = &[
    ("close", close),
    ("flush", flush),
    ("input", |vm, frames, values| default_file(vm, frames, values, INPUT)),
    ("lines", lines),
    ("open", open),
    ("output", |vm, frames, values| default_file(vm, frames, values, OUTPUT)),
    ("popen", popen),
    ("read", read),
    ("tmpfile", tmpfile),
    ("type", type_),
    ("write", write),
];

/// A default file: the element of the table that has it, its name in errors, and the mode to open it.
type Default = (i64, &'static str, &'static [u8]);

const INPUT: Default = (1, "input", b"r");
const OUTPUT: Default = (2, "output", b"w");

/// Makes `io`, and the metatable of files.
pub(super) fn open_library(vm: &mut Vm) {
    let table = register(vm, "io", NATIVES);
    let meta = vm.heap.table(Room { slots: METHODS.len() as u32 + 1, elements: 0 });
    vm.heap.keep(meta.header());
    vm.add_natives(meta, METHODS);
    vm.set_field_of(meta, "__index", Value::table(meta));
    let defaults = vm.heap.table(Room { slots: 0, elements: 2 });
    vm.heap.keep(defaults.header());
    let files = &mut vm.library.files;
    (files.metatable, files.defaults) = (Some(meta), Some(defaults));
    // As in C's Lua: functions have the default files in their environments, and files those of the functions that have made them. Some that are
    // closed in another way have another one.
    let closing = vm.heap.table(Room { slots: 1, elements: 0 });
    let close = meta.get_string(vm.heap.string(b"close"));
    for environment in [defaults, closing] {
        vm.set_field_of(environment, "__close", close);
    }
    for (name, _) in NATIVES {
        let native = table.get_string(vm.heap.string(name.as_bytes()));
        let environment = if *name == "popen" { closing } else { defaults };
        super::base::environment(native).expect("it is a function").set(environment);
    }
    let files = &mut vm.library.files;
    let standard =
        [("stdin", files.stdin.clone()), ("stdout", files.stdout.clone()), ("stderr", files.stderr.clone())];
    for ((name, file), at) in standard.into_iter().zip(1..) {
        let file = new_file(vm, file);
        file.as_userdata().expect("it is one").environment.set(Some(closing));
        vm.set_field_of(table, name, file);
        if at <= 2 {
            set_default(vm, at, file);
        }
    }
}

/// The userdata of a file.
fn new_file(vm: &mut Vm, file: Rc<OpenFile>) -> Value {
    let userdata = vm.heap.userdata(Box::new(file));
    userdata.metatable.set(vm.library.files.metatable);
    userdata.environment.set(vm.library.files.defaults);
    Value::object(USERDATA, userdata)
}

fn defaults(vm: &Vm) -> Gc<Table> {
    vm.library.files.defaults.expect("it was made with these functions")
}

fn set_default(vm: &mut Vm, at: i64, file: Value) {
    let table = defaults(vm);
    vm.heap.set_integer(table, at, file).expect("a table may have small keys");
}

/// A default file, which has to be open.
fn open_default(vm: &mut Vm, args: Arguments<'_>, (at, name, _): Default) -> Result<Rc<OpenFile>> {
    // Something else is there if the program has put it into the environment of these functions.
    let file = file::of(defaults(vm).get_integer(at));
    match file.filter(|file| file.stream.borrow().is_some()) {
        Some(file) => Ok(Rc::clone(&file)),
        None => args.fail(vm, format!("standard {name} file is closed")),
    }
}

/// Opens what a string names, or fails as for a wrong argument.
fn open_argument(vm: &mut Vm, args: Arguments<'_>, name: Gc<Str>, mode: &[u8]) -> Result<Value> {
    match Stream::open(&path_of(name), mode) {
        Ok(stream) => {
            let file = vm.library.files.open(stream);
            Ok(new_file(vm, file))
        }
        Err(error) => {
            let (text, _) = error_text(&error);
            args.bad(vm, 1, [until_zero(name.bytes()), b": ", text.as_bytes()].concat())
        }
    }
}

/// A new file, or what is wrong.
fn give_stream(vm: &mut Vm, stream: io::Result<Stream>, name: Option<&[u8]>) -> Result<Value> {
    match stream {
        Ok(stream) => {
            let file = vm.library.files.open(stream);
            Ok(new_file(vm, file))
        }
        Err(error) => give_outcome(vm, Err(error), name),
    }
}

fn open(vm: &mut Vm, frames: &Frames<'_>, values: &[Value]) -> Result<Value> {
    let args = Arguments::new(frames, values);
    let (name, mode) = (args.string(vm, 1)?, args.optional_string(vm, 2)?);
    let mode = mode.as_ref().map_or(&b"r"[..], |mode| until_zero(mode.bytes()));
    give_stream(vm, Stream::open(&path_of(name), mode), Some(until_zero(name.bytes())))
}

fn popen(vm: &mut Vm, frames: &Frames<'_>, values: &[Value]) -> Result<Value> {
    let args = Arguments::new(frames, values);
    let (text, mode) = (args.string(vm, 1)?, args.optional_string(vm, 2)?);
    let mode = mode.as_ref().map_or(&b"r"[..], |mode| until_zero(mode.bytes()));
    give_stream(vm, Stream::command(shell(text), mode), Some(until_zero(text.bytes())))
}

fn tmpfile(vm: &mut Vm, _: &Frames<'_>, _: &[Value]) -> Result<Value> {
    give_stream(vm, Stream::temporary(), None)
}

/// `io.input` and `io.output`: the default file, which an argument may replace.
fn default_file(vm: &mut Vm, frames: &Frames<'_>, values: &[Value], default: Default) -> Result<Value> {
    let args = Arguments::new(frames, values);
    let (at, _, mode) = default;
    match args.get(1).type_of() {
        Type::Nil => {}
        Type::String | Type::Number => {
            let name = args.string(vm, 1)?;
            let file = open_argument(vm, args, name, mode)?;
            set_default(vm, at, file);
        }
        _ => {
            file::open_file(vm, args)?;
            set_default(vm, at, args.get(1));
        }
    }
    Ok(defaults(vm).get_integer(at))
}

fn close(vm: &mut Vm, frames: &Frames<'_>, values: &[Value]) -> Result<Value> {
    match values {
        [] => {
            let output = [defaults(vm).get_integer(OUTPUT.0)];
            file::close(vm, frames, &output)
        }
        _ => file::close(vm, frames, values),
    }
}

fn read(vm: &mut Vm, frames: &Frames<'_>, values: &[Value]) -> Result<Value> {
    let args = Arguments::new(frames, values);
    let file = open_default(vm, args, INPUT)?;
    file::read_values(vm, args, &file, 1)
}

fn write(vm: &mut Vm, frames: &Frames<'_>, values: &[Value]) -> Result<Value> {
    let args = Arguments::new(frames, values);
    let file = open_default(vm, args, OUTPUT)?;
    file::write_values(vm, args, &file, 1)
}

fn flush(vm: &mut Vm, frames: &Frames<'_>, values: &[Value]) -> Result<Value> {
    let args = Arguments::new(frames, values);
    let file = open_default(vm, args, OUTPUT)?;
    file::flush_file(vm, &file)
}

fn lines(vm: &mut Vm, frames: &Frames<'_>, values: &[Value]) -> Result<Value> {
    let args = Arguments::new(frames, values);
    if args.get(1).is_nil() {
        let input = [defaults(vm).get_integer(INPUT.0)];
        // A `nil` that is there is no file.
        return file::lines(vm, frames, if values.is_empty() { &input } else { values });
    }
    let name = args.string(vm, 1)?;
    let file = open_argument(vm, args, name, b"r")?;
    Ok(file::iterator(vm, file, true))
}

fn type_(vm: &mut Vm, frames: &Frames<'_>, values: &[Value]) -> Result<Value> {
    let value = Arguments::new(frames, values).any(vm, 1)?;
    let name = match file::of(value) {
        Some(file) if file.stream.borrow().is_some() => "file",
        Some(_) => "closed file",
        None => return Ok(Value::NIL),
    };
    Ok(Value::string(vm.heap.string(name.as_bytes())))
}

#[cfg(test)]
mod tests {
    use crate::library::tests::{check, check_error};

    /// Statements with a file `f` to read and write, which they may name `path`.
    fn with_file(statements: &str, expected: &str) {
        let text = format!(
            "(function() local path = os.tmpname() local f = io.open(path, 'w+') \
             local function all(...) os.remove(path) return ... end return all((function() {statements} end)()) end)()"
        );
        check(&text, expected);
    }

    #[test]
    fn files_are_written_and_read() {
        with_file(
            "return f:write('one\\n', 2, '\\nthree'), f:seek('set'), f:read('*l', '*n', '*l', 2, '*a', '*a', '*l')",
            "true 0 'one' 2 '' 'th' 'ree' '' nil",
        );
        with_file(
            "f:write('abc') f:close() local g = io.open(path, 'a+') g:write('d') g:seek('set', 1) return g:read('*a')",
            "'bcd'",
        );
        with_file(
            "f:write('abc') return f:seek(), f:seek('cur', -1), f:seek('end'), f:read(0), f:read(1), f:read('*a')",
            "3 2 3 nil nil ''",
        );
        with_file(
            "f:setvbuf('no') f:write('x') return io.open(path):read('*a'), f:flush(), f:setvbuf('full', 10)",
            "'x' true true",
        );
    }

    #[test]
    fn lines_come_one_after_the_other() {
        with_file(
            "f:write('a\\n\\nb') f:close() local t = {} for l in io.lines(path) do t[#t + 1] = l end return unpack_(t)",
            "'a' '' 'b'",
        );
        with_file(
            "f:write('a\\nb\\n') f:seek('set') local n = 0 for l in f:lines() do n = n + #l end return n, io.type(f)",
            "2 'file'",
        );
        with_file(
            "f:write('a') f:close() local g = io.lines(path) g() g() g()",
            "error: file is already closed",
        );
    }

    #[test]
    fn default_files_change() {
        with_file(
            "local before = io.output() io.output(f) io.write('x', 1) io.close() io.output(before) local old = io.input() io.input(path) \
             local r = io.read('*a') io.input():close() io.input(old) return r, io.type(f), before == io.stdout",
            "'x1' 'closed file' true",
        );
    }

    #[test]
    fn closed_files_are_refused() {
        with_file("f:close() return io.type(f), f:write('x')", "error: attempt to use a closed file");
        with_file("return f:close(), io.type(f), io.type(1)", "true 'closed file' nil");
        check("io.stdout:close()", "nil 'cannot close standard file'");
        check("io.type(io.stdin), io.stdout == io.output()", "'file' true");
    }

    #[test]
    fn errors() {
        check("io.open('/no/such/file')", "nil '/no/such/file: No such file or directory' 2");
        check("io.open('/no/such/file', 'q')", "nil '/no/such/file: Invalid argument' 22");
        check_error(
            "io.lines('/no/such/file')",
            "bad argument #1 to 'lines' (/no/such/file: No such file or directory)",
        );
        check_error("io.close(1)", "bad argument #1 to 'close' (FILE* expected, got number)");
        check_error("io.type()", "bad argument #1 to 'type' (value expected)");
        with_file("return f.read(f, '*x')", "error: bad argument #2 to 'read' (invalid format)");
        with_file("return f.seek(f, 'foo')", "error: bad argument #2 to 'seek' (invalid option 'foo')");
        with_file("return io.open(path, 'r'):write('x')", "nil 'Bad file descriptor' 9");
        with_file("f:close() return io.open(path, 'w'):read('*a')", "nil 'Bad file descriptor' 9");
    }

    #[cfg(unix)]
    #[test]
    fn processes() {
        check("io.popen('echo hi; cat', 'r'):read('*l')", "'hi'");
        with_file(
            "local p = io.popen('cat > ' .. path, 'w') p:write('sent') return p:close(), io.open(path):read('*a')",
            "true 'sent'",
        );
    }
}
