//! Coroutines of programs.

use super::{arguments, as_text};
use crate::object::function::Closure;
use crate::object::heap::Gc;
use crate::object::table::Room;
use crate::object::thread::Thread;
use crate::object::value::{FUNCTION, THREAD, Value};
use crate::run::bytecode::Op;
use crate::run::draft::Draft;
use crate::run::error::{Result, Thrown};
use crate::run::slow::NativeFunction;
use crate::run::vm::{Vm, lua_prototype};
use azulejo::Frames;

const FUNCTIONS: &[(&str, NativeFunction)] =
    &[("create", create), ("resume", resume), ("running", running), ("status", status), ("wrap", wrap)];

impl Vm {
    /// Adds the table `coroutine` to the global variables.
    pub(crate) fn open_coroutine(&mut self) {
        let table = self.heap.table(Room { slots: 8, elements: 0 });
        let globals = self.globals;
        self.set_field_of(globals, "coroutine", Value::table(table));
        self.add_natives(table, FUNCTIONS);
        let code = vec![Op::Yield { dst: 2.into(), pack: 1.into() }, Op::ReturnGiven { a: 2.into() }];
        let few = Op::YieldFew { dst: 4.into(), a: 1.into(), b: 2.into(), c: 3.into() };
        let few = Draft::builtin(vec![few, Op::ReturnGiven { a: 4.into() }], 5, 3, false);
        self.add_builtin(table, "yield", Some(few), Draft::builtin(code, 3, 0, true));
    }
}

/// The function of Lua that a coroutine begins with.
fn body(vm: &mut Vm, frames: &Frames<'_>, args: &[Value]) -> Result<Gc<Closure>> {
    let function = args.first().copied().unwrap_or(Value::NIL);
    match function.as_object::<Closure>(FUNCTION) {
        Some(closure) if lua_prototype(function).is_some() => Ok(closure),
        _ => arguments::fail(vm, frames, 0, "Lua function expected"),
    }
}

fn create(vm: &mut Vm, frames: &Frames<'_>, args: &[Value]) -> Result<Value> {
    let body = body(vm, frames, args)?;
    Ok(Value::object(THREAD, vm.new_thread(body)))
}

fn thread(vm: &mut Vm, frames: &Frames<'_>, args: &[Value]) -> Result<Gc<Thread>> {
    match args.first().and_then(|value| value.as_object(THREAD)) {
        Some(thread) => Ok(thread),
        None => arguments::fail(vm, frames, 0, "coroutine expected"),
    }
}

fn resume(vm: &mut Vm, frames: &Frames<'_>, args: &[Value]) -> Result<Value> {
    let thread = thread(vm, frames, args)?;
    match vm.resume(thread, &args[1..]) {
        Ok(first) => Ok(vm.results.give_in_front(&[Value::TRUE, first])),
        Err(Thrown::Error) => Ok(vm.give(&[Value::FALSE, vm.error])),
        Err(Thrown::Ended) => Err(Thrown::Ended),
    }
}

fn running(vm: &mut Vm, _: &Frames<'_>, _: &[Value]) -> Result<Value> {
    Ok(vm.coroutine.map_or(Value::NIL, |thread| Value::object(THREAD, thread)))
}

fn status(vm: &mut Vm, frames: &Frames<'_>, args: &[Value]) -> Result<Value> {
    let thread = thread(vm, frames, args)?;
    Ok(vm.text(vm.status_of(thread)))
}

fn wrap(vm: &mut Vm, frames: &Frames<'_>, args: &[Value]) -> Result<Value> {
    let body = body(vm, frames, args)?;
    let thread = Value::object(THREAD, vm.new_thread(body));
    Ok(vm.native_function("wrap", resume_wrapped, &[thread]))
}

fn resume_wrapped(vm: &mut Vm, frames: &Frames<'_>, args: &[Value]) -> Result<Value> {
    let native = vm.native().expect("this is one");
    let thread = native.upvalues()[0].get().as_object(THREAD).expect("it was made with one");
    match vm.resume(thread, args) {
        Ok(first) => Ok(first),
        // A number gets a position in front of it, as a string does.
        Err(Thrown::Error) => match as_text(vm, vm.error) {
            Some(text) => vm.fail(frames, text.bytes()),
            None => vm.throw(frames, vm.error),
        },
        Err(Thrown::Ended) => Err(Thrown::Ended),
    }
}
