//! What files can do: the methods, which the functions of `io` use, too.
//!
//! In: a userdata that has a file. Out: what was read, or `true`; or `nil`, what the system says, and the error's number.

use super::os::give_outcome;
use super::{Arguments, Natives};
use crate::number;
use crate::object::function::Userdata;
use crate::object::value::{FUNCTION, USERDATA, Value};
use crate::run::error::Result;
use crate::run::library_state::OpenFile;
use crate::run::vm::Vm;
use crate::stream::{Buffering, Stream, error_text, invalid_argument};
use azulejo::Frames;
use std::io::{self, SeekFrom};
use std::rc::Rc;

pub(super) const METHODS: &Natives = &[
    ("__gc", collect),
    ("__tostring", to_string),
    ("close", |vm, frames, values| close(vm, frames, if values.is_empty() { &[Value::NIL] } else { values })),
    ("flush", flush),
    ("lines", lines),
    ("read", read),
    ("seek", seek),
    ("setvbuf", setvbuf),
    ("write", write),
];

/// The file that a value is, be it closed.
pub(super) fn of(value: Value) -> Option<Rc<OpenFile>> {
    let userdata = value.as_object::<Userdata>(USERDATA)?;
    userdata.value.downcast_ref::<Rc<OpenFile>>().cloned()
}

/// The first argument as a file.
fn any_file(vm: &mut Vm, args: Arguments<'_>) -> Result<Rc<OpenFile>> {
    match of(args.get(1)) {
        Some(file) => Ok(file),
        None => args.bad_type(vm, 1, "FILE*"),
    }
}

/// The first argument as a file that is open.
pub(super) fn open_file(vm: &mut Vm, args: Arguments<'_>) -> Result<Rc<OpenFile>> {
    let file = any_file(vm, args)?;
    match file.stream.borrow().is_some() {
        true => Ok(Rc::clone(&file)),
        false => args.fail(vm, "attempt to use a closed file"),
    }
}

/// Does something with a file that was found open.
fn with<T>(file: &OpenFile, body: impl FnOnce(&mut Stream) -> T) -> T {
    body(file.stream.borrow_mut().as_mut().expect("the file was found open, and nothing was called back"))
}

fn collect(vm: &mut Vm, frames: &Frames<'_>, values: &[Value]) -> Result<Value> {
    let file = any_file(vm, Arguments::new(frames, values))?;
    if !file.is_standard {
        // It is dropped, and nobody hears of an error.
        file.stream.take();
    }
    Ok(vm.give(&[]))
}

fn to_string(vm: &mut Vm, frames: &Frames<'_>, values: &[Value]) -> Result<Value> {
    let file = any_file(vm, Arguments::new(frames, values))?;
    let text = match file.stream.borrow().is_some() {
        true => format!("file ({:p})", Rc::as_ptr(&file)),
        false => "file (closed)".into(),
    };
    vm.new_string(text.as_bytes())
}

pub(super) fn close(vm: &mut Vm, frames: &Frames<'_>, values: &[Value]) -> Result<Value> {
    let file = open_file(vm, Arguments::new(frames, values))?;
    if file.is_standard {
        let message = vm.new_string(b"cannot close standard file")?;
        return Ok(vm.give(&[Value::NIL, message]));
    }
    let outcome = file.stream.take().map_or(Ok(()), Stream::close);
    give_outcome(vm, outcome, None)
}

fn flush(vm: &mut Vm, frames: &Frames<'_>, values: &[Value]) -> Result<Value> {
    let file = open_file(vm, Arguments::new(frames, values))?;
    flush_file(vm, &file)
}

pub(super) fn flush_file(vm: &mut Vm, file: &OpenFile) -> Result<Value> {
    give_outcome(vm, with(file, Stream::flush), None)
}

fn seek(vm: &mut Vm, frames: &Frames<'_>, values: &[Value]) -> Result<Value> {
    type Origin = fn(i64) -> Option<SeekFrom>;
    const ORIGINS: [(&str, Origin); 3] = [
        ("set", |distance| u64::try_from(distance).ok().map(SeekFrom::Start)),
        ("cur", |distance| Some(SeekFrom::Current(distance))),
        ("end", |distance| Some(SeekFrom::End(distance))),
    ];
    let args = Arguments::new(frames, values);
    let file = open_file(vm, args)?;
    let origin = args.word(vm, 2, Some("cur"), &ORIGINS)?;
    let to = origin(args.integer_or(vm, 3, 0)?).ok_or_else(invalid_argument);
    match to.and_then(|to| with(&file, |stream| stream.seek(to))) {
        Ok(position) => Ok(Value::number(position as f64)),
        Err(error) => give_outcome(vm, Err(error), None),
    }
}

fn setvbuf(vm: &mut Vm, frames: &Frames<'_>, values: &[Value]) -> Result<Value> {
    const MODES: [(&str, Buffering); 3] =
        [("no", Buffering::None), ("full", Buffering::Full), ("line", Buffering::Line)];
    let args = Arguments::new(frames, values);
    let file = open_file(vm, args)?;
    let buffering = args.word(vm, 2, None, &MODES)?;
    // How much is held back is our own affair.
    args.integer_or(vm, 3, 0)?;
    with(&file, |stream| stream.set_buffering(buffering));
    Ok(Value::TRUE)
}

fn write(vm: &mut Vm, frames: &Frames<'_>, values: &[Value]) -> Result<Value> {
    let args = Arguments::new(frames, values);
    let file = open_file(vm, args)?;
    write_values(vm, args, &file, 2)
}

/// Writes the arguments from one on.
pub(super) fn write_values(vm: &mut Vm, args: Arguments<'_>, file: &OpenFile, first: usize) -> Result<Value> {
    let mut outcome = Ok(());
    for number in first..=args.len() {
        let written = match args.get(number).as_number() {
            Some(value) => {
                let mut buffer = vm.library.take_buffer();
                number::write(value, &mut buffer);
                let written = with(file, |stream| stream.write(&buffer));
                vm.library.bring_back(buffer);
                written
            }
            None => {
                let text = args.string(vm, number)?;
                with(file, |stream| stream.write(text.bytes()))
            }
        };
        // What comes behind an error is written all the same.
        outcome = outcome.and(written);
    }
    give_outcome(vm, outcome, None)
}

fn read(vm: &mut Vm, frames: &Frames<'_>, values: &[Value]) -> Result<Value> {
    let args = Arguments::new(frames, values);
    let file = open_file(vm, args)?;
    read_values(vm, args, &file, 2)
}

/// What a format makes read.
#[derive(Clone, Copy)]
enum Wanted {
    Line,
    Number,
    All,
    Bytes(usize),
}

fn wanted(vm: &mut Vm, args: Arguments<'_>, number: usize) -> Result<Wanted> {
    if let Some(count) = args.get(number).as_number() {
        return Ok(Wanted::Bytes(number::to_i64(count) as usize));
    }
    match args.get(number).as_string().as_ref().map(|text| text.bytes()) {
        Some([b'*', b'n', ..]) => Ok(Wanted::Number),
        Some([b'*', b'l', ..]) => Ok(Wanted::Line),
        Some([b'*', b'a', ..]) => Ok(Wanted::All),
        Some([b'*', ..]) => args.bad(vm, number, "invalid format"),
        _ => args.bad(vm, number, "invalid option"),
    }
}

/// Reads one value; `nil` if there is nothing more.
fn read_value(vm: &mut Vm, stream: &mut Stream, wanted: Wanted) -> Result<io::Result<Value>> {
    let mut out = vm.library.take_buffer();
    let is_there = match wanted {
        Wanted::Number => match stream.read_number() {
            Ok(number) => return Ok(Ok(number.map_or(Value::NIL, Value::number))),
            Err(error) => Err(error),
        },
        Wanted::Line => stream.read_line(&mut out),
        Wanted::All => stream.read_bytes(usize::MAX, &mut out).map(|_| true),
        Wanted::Bytes(0) => stream.is_at_end().map(|is_at_end| !is_at_end),
        Wanted::Bytes(count) => stream.read_bytes(count, &mut out),
    };
    let value = match is_there {
        Ok(true) => Ok(vm.new_string(&out)?),
        Ok(false) => Ok(Value::NIL),
        Err(error) => Err(error),
    };
    vm.library.bring_back(out);
    Ok(value)
}

/// Reads what the arguments from one on say; a line if there are none. Nothing is read behind what is not there.
pub(super) fn read_values(
    vm: &mut Vm,
    args: Arguments<'_>,
    file: &Rc<OpenFile>,
    first: usize,
) -> Result<Value> {
    if Rc::ptr_eq(file, &vm.library.files.stdin) {
        // Whoever is asked should see the question.
        vm.library.files.stdout.flush();
    }
    let mut results = Vec::new();
    let mut number = first;
    loop {
        let wanted = if args.len() < first { Wanted::Line } else { wanted(vm, args, number)? };
        let value = match with(file, |stream| read_value(vm, stream, wanted))? {
            Ok(value) => value,
            Err(error) => return give_outcome(vm, Err(error), None),
        };
        if number >= args.len() && results.is_empty() {
            return Ok(vm.give(&[value]));
        }
        results.push(value);
        if number >= args.len() || value.is_nil() {
            return Ok(vm.give(&results));
        }
        number += 1;
    }
}

pub(super) fn lines(vm: &mut Vm, frames: &Frames<'_>, values: &[Value]) -> Result<Value> {
    let args = Arguments::new(frames, values);
    open_file(vm, args)?;
    Ok(iterator(vm, args.get(1), false))
}

/// A function that reads line after line. Perhaps it closes the file at the end.
pub(super) fn iterator(vm: &mut Vm, file: Value, closes: bool) -> Value {
    let state = [file, Value::bool(closes)];
    let function = vm.heap.native(("?", next_line as *const () as usize as u64), vm.globals, &state);
    Value::object(FUNCTION, function)
}

fn next_line(vm: &mut Vm, frames: &Frames<'_>, values: &[Value]) -> Result<Value> {
    let args = Arguments::new(frames, values);
    let native = vm.native().expect("a function of Rust runs");
    let [value, closes] = native.upvalues() else { unreachable!("an iterator has two") };
    let file = of(value.get()).expect("an iterator has a file");
    if file.stream.borrow().is_none() {
        return args.fail(vm, "file is already closed");
    }
    if Rc::ptr_eq(&file, &vm.library.files.stdin) {
        vm.library.files.stdout.flush();
    }
    match with(&file, |stream| read_value(vm, stream, Wanted::Line))? {
        Ok(line) if line.is_nil() => {
            if closes.get().is_true() && !file.is_standard {
                file.stream.take();
            }
            Ok(vm.give(&[]))
        }
        Ok(line) => Ok(line),
        Err(error) => args.fail(vm, error_text(&error).0),
    }
}
