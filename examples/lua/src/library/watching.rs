//! The part of the library `debug` that looks into running functions: local variables and hooks.

use super::arguments::{self, any};
use super::debug::{at_levels, thread_first};
use crate::object::function::VarCell;
use crate::object::heap::Gc;
use crate::object::thread::Thread;
use crate::object::value::{FUNCTION, THREAD, Value};
use crate::run::draft::LocalName;
use crate::run::error::{Result, Thrown};
use crate::run::levels::Level;
use crate::run::slow::{Events, NativeFunction};
use crate::run::vm::Vm;
use crate::syntax::ast::Name;
use azulejo::{Frame, Frames};
use std::io::Write;

pub(super) const FUNCTIONS: &[(&str, NativeFunction)] = &[
    ("debug", debug),
    ("gethook", gethook),
    ("getlocal", getlocal),
    ("sethook", sethook),
    ("setlocal", setlocal),
];

/// Runs lines of the standard input, until one of them is `cont`.
fn debug(vm: &mut Vm, frames: &Frames<'_>, _: &[Value]) -> Result<Value> {
    let say = |text: &[u8]| drop(std::io::stderr().write_all(text));
    let stdin = vm.library.files.stdin.clone();
    loop {
        say(b"lua_debug> ");
        let mut line = Vec::new();
        let is_there = stdin.stream.borrow_mut().as_mut().map(|stream| stream.read_line(&mut line));
        if !matches!(is_there, Some(Ok(true))) || line == b"cont" {
            return Ok(vm.give(&[]));
        }
        // C's Lua compiles the end of the line, too: what is missing is missing in the next one.
        line.push(b'\n');
        let chunk = b"=(debug command)";
        match vm.load(&line, chunk) {
            Err(error) => say(&[&error.text(chunk)[..], b"\n"].concat()),
            Ok(closure) => {
                vm.handlers.push(None);
                let result = vm.call_value(frames, Value::object(FUNCTION, closure), &[]);
                vm.handlers.pop();
                if let Err(thrown) = result {
                    if thrown == Thrown::Ended {
                        return Err(thrown);
                    }
                    let error = super::as_text(vm, vm.error);
                    let text = error.as_ref().map_or(&b"(null)"[..], |text| text.bytes());
                    say(&[text, b"\n"].concat());
                }
            }
        }
    }
}

/// The local variable of a level that has a number, and the frame that it is in.
fn local<'v, 'f>(vm: &'v Vm, level: &Level<'f>, number: i64) -> Option<(&'v LocalName, Frame<'f>)> {
    let frame = *level.frame()?;
    let at = frame.bytecode();
    let number = usize::try_from(number - 1).ok()?;
    let locals = &vm.prototype_at(level)?.locals;
    let local = locals.iter().filter(|local| local.from <= at && at < local.to).nth(number)?;
    Some((local, frame))
}

/// The cell that a local variable is in, unless it is not needed any more.
fn cell_of(frame: &Frame<'_>, local: &LocalName) -> Option<Gc<VarCell>> {
    Value(frame.get(local.register)?).as_object(THREAD)
}

/// A level and a number, as two arguments from an index on say them. The level is negative, or there is one.
fn place(
    vm: &mut Vm,
    frames: &Frames<'_>,
    thread: Option<Gc<Thread>>,
    args: &[Value],
    before: usize,
) -> Result<(i64, i64)> {
    let level = arguments::int(vm, frames, args, before)?;
    let is_there = |level: i64| at_levels(vm, frames, thread, |_, levels| (level as usize) < levels.len());
    // C's Lua takes a negative level for one that a tail call has left, which has no variables.
    if level >= 0 && !is_there(level) {
        return arguments::fail(vm, frames, before, "level out of range");
    }
    Ok((level, arguments::int(vm, frames, args, before + 1)?))
}

/// Does something with the local variable that a level and a number mean; `None` if there is none of this number.
fn with_local<T>(
    vm: &Vm,
    frames: &Frames<'_>,
    thread: Option<Gc<Thread>>,
    (level, number): (i64, i64),
    work: impl FnOnce(&LocalName, &Frame<'_>) -> T,
) -> Option<T> {
    at_levels(vm, frames, thread, |vm, levels| {
        let (local, frame) = local(vm, levels.get(usize::try_from(level).ok()?)?, number)?;
        Some(work(local, &frame))
    })
}

fn getlocal(vm: &mut Vm, frames: &Frames<'_>, args: &[Value]) -> Result<Value> {
    vm.watch_all();
    let (thread, rest) = thread_first(args);
    let place = place(vm, frames, thread, args, args.len() - rest.len())?;
    let found = with_local(vm, frames, thread, place, |local, frame| {
        let value = match local.is_cell {
            true => cell_of(frame, local).map(|cell| cell.value.get()),
            false => frame.get(local.register).map(Value),
        };
        (local.name.clone(), value.unwrap_or(Value::NIL))
    });
    let found = found.or_else(|| argument(vm, frames, thread, place));
    let Some((name, value)) = found else { return Ok(Value::NIL) };
    let name = Value::string(vm.heap.string(&name));
    Ok(vm.give(&[name, value]))
}

/// An argument of a function of Rust, which C's Lua has a name for.
fn argument(
    vm: &Vm,
    frames: &Frames<'_>,
    thread: Option<Gc<Thread>>,
    (level, number): (i64, i64),
) -> Option<(Name, Value)> {
    at_levels(vm, frames, thread, |_, levels| {
        let Level::Native(_, arguments) = levels.get(usize::try_from(level).ok()?)? else { return None };
        let value = arguments.get(usize::try_from(number - 1).ok()?)?;
        Some((b"(*temporary)"[..].into(), *value))
    })
}

fn setlocal(vm: &mut Vm, frames: &Frames<'_>, args: &[Value]) -> Result<Value> {
    let (thread, rest) = thread_first(args);
    let before = args.len() - rest.len();
    // The level is looked at before the value is.
    let place = place(vm, frames, thread, args, before)?;
    let value = any(vm, frames, args, before + 2)?;
    let found = with_local(vm, frames, thread, place, |local, frame| {
        let cell = if local.is_cell { cell_of(frame, local) } else { None };
        match cell {
            Some(cell) => cell.value.set(value),
            None if local.is_cell => {}
            // The function has been running since before any chunk named this function here.
            None if !frame.can_be_written() => return None,
            None => drop(frame.set(local.register, value.0)),
        }
        Some((local.name.clone(), cell))
    });
    let Some((name, cell)) = found.flatten() else { return Ok(Value::NIL) };
    cell.into_iter().for_each(|cell| vm.heap.again(cell.header()));
    thread.into_iter().for_each(|thread| vm.heap.again(thread.header()));
    Ok(Value::string(vm.heap.string(&name)))
}

/// The coroutine whose hook arguments mean: `None` for the program.
fn watched(vm: &Vm, thread: Option<Gc<Thread>>) -> Option<Gc<Thread>> {
    thread.or(vm.coroutine)
}

fn sethook(vm: &mut Vm, frames: &Frames<'_>, args: &[Value]) -> Result<Value> {
    let (thread, rest) = thread_first(args);
    let before = args.len() - rest.len();
    let thread = watched(vm, thread);
    let hook = match rest.first() {
        None | Some(&Value::NIL) => None,
        Some(_) => {
            let mask = arguments::string(vm, frames, args, before + 1)?;
            let function = arguments::function(vm, frames, args, before)?;
            let count = arguments::opt_int(vm, frames, args, before + 2, 0)?;
            let has = |letter: u8| mask.bytes().contains(&letter);
            Some((function, Events { calls: has(b'c'), returns: has(b'r'), lines: has(b'l'), count }))
        }
    };
    vm.set_hook(thread, hook);
    Ok(vm.give(&[]))
}

fn gethook(vm: &mut Vm, _: &Frames<'_>, args: &[Value]) -> Result<Value> {
    let thread = watched(vm, thread_first(args).0);
    let hook = vm.hooks.of(thread).map(|hook| (hook.function, hook.events));
    let events = hook.map(|(_, events)| events).unwrap_or_default();
    let letters = [(events.calls, 'c'), (events.returns, 'r'), (events.lines, 'l')];
    let mask: String =
        letters.into_iter().filter_map(|(is_there, letter)| is_there.then_some(letter)).collect();
    let mask = vm.text(&mask);
    let function = hook.map_or(Value::NIL, |(function, _)| function);
    Ok(vm.give(&[function, mask, Value::number(events.count as f64)]))
}
