//! Calls of all that is no function of Lua, results, and what protects calls.

use super::slow::values;
use crate::library::base;
use crate::object::function::{Closure, Native, Quick, copy_values};
use crate::object::heap::{Gc, Header, ObjectKind};
use crate::object::string::Str;
use crate::object::table::{Position, Table};
use crate::object::value::{ABSENT, FUNCTION, Value};
use crate::run::cases::{ALLOCATES, CALLABLE, CLOSURE, CallCase, GIVES_METATABLE, SELECT};
use crate::run::draft::CALLEE;
use crate::run::error::{Attempt, Ending, IN_HANDLER, Result, Thrown};
use crate::run::vm::{Failure, THROWN, Vm, pack_of};
use azulejo::prelude::*;
use azulejo::{Cases, Frames};
use std::mem::MaybeUninit;
use std::sync::atomic::Ordering::Relaxed;

/// A function of Rust: it gets the frames that wait for it and its arguments, and gives its first result. Of more than one, or none,
/// [`Vm::give`] says so.
pub(crate) type NativeFunction = fn(&mut Vm, &Frames<'_>, &[Value]) -> Result<Value>;

impl Vm {
    /// Calls any value; returns the first result.
    pub(crate) fn call_value(
        &mut self,
        frames: &Frames<'_>,
        callee: Value,
        arguments: &[Value],
    ) -> Result<Value> {
        let Some(object) = callee.as_object::<Header>(FUNCTION) else {
            let method = self.metatable(callee).map(|meta| meta.get_string(self.names.call));
            return match method.filter(|method| method.as_object::<Header>(FUNCTION).is_some()) {
                Some(method) => {
                    let all: Vec<Value> = std::iter::once(callee).chain(arguments.iter().copied()).collect();
                    self.call_value(frames, method, &all)
                }
                None => self.fail_on(frames, Attempt::Call, CALLEE, callee),
            };
        };
        if let Some(native) = native_of(callee) {
            return self.call_native(frames, native, arguments);
        }
        // SAFETY: all other functions are closures.
        let closure = unsafe { object.cast::<Closure>() };
        self.run(closure, arguments).or_else(|failure| match failure {
            Failure::Thrown(thrown) => Err(thrown),
            // No handler has seen it.
            Failure::Engine(error) => {
                let value = match error {
                    azulejo::Error::Trap { trap, .. } => self.value_of_trap(frames, trap),
                    azulejo::Error::StackOverflow if self.is_in_handler() => {
                        // No stack is left for calling it again.
                        self.error = self.text(IN_HANDLER);
                        return Err(Thrown::Error);
                    }
                    azulejo::Error::StackOverflow => self.value_of_trap(frames, Trap::StackOverflow),
                    other => self.error_value(other),
                };
                self.throw(frames, value)
            }
        })
    }

    /// Calls what bytecode calls that is no closure. Nobody in Rust keeps values while the collector works here.
    #[inline(always)]
    fn call_from_bytecode(&mut self, frames: &Frames<'_>, callee: Value, arguments: &[Value]) -> Result<u64> {
        let first = match native_of(callee) {
            Some(native) => self.call_native(frames, native, arguments)?,
            None => self.call_value(frames, callee, arguments)?,
        };
        if self.heap.wants_step() {
            self.collect_after(frames, first)?;
        }
        self.look_for_stop()?;
        Ok(first.0)
    }

    /// Likewise; or leaves the call to the bytecode if a closure stands for what is called. Then that is the method, and this gives nothing.
    #[inline(always)]
    fn call_or_leave(&mut self, frames: &Frames<'_>, callee: Value, arguments: &[Value]) -> Result<u64> {
        if native_of(callee).is_none()
            && let Some(method) = self.metatable(callee).map(|meta| meta.get_string(self.names.call))
            && method.object_kind() == Some(ObjectKind::Closure)
        {
            self.method = method;
            return Ok(ABSENT);
        }
        self.call_from_bytecode(frames, callee, arguments)
    }

    /// Calls a function of Rust; returns the first result.
    #[inline(always)]
    fn call_native(&mut self, frames: &Frames<'_>, native: Gc<Native>, arguments: &[Value]) -> Result<Value> {
        // SAFETY: natives are made of such functions.
        let function: NativeFunction = unsafe { std::mem::transmute(native.function as usize) };
        self.results.count = 1;
        self.activated(native, frames, arguments, |vm| function(vm, frames, arguments))
    }

    /// Fails if the program is to end. Code of the engine looks by itself; this is for what takes long in Rust.
    #[inline(always)]
    pub(crate) fn look_for_stop(&mut self) -> Result<()> {
        match &self.library.stop {
            Some(stop) if stop.load(Relaxed) => self.stop(Ending::Interrupted),
            _ => Ok(()),
        }
    }

    /// Lets the collector work behind a call with this result.
    #[cold]
    #[inline(never)]
    fn collect_after(&mut self, frames: &Frames<'_>, first: Value) -> Result<()> {
        self.roots.push(first);
        let collected = self.collect_due(frames);
        self.roots.pop();
        collected
    }
}

/// The function of Rust that a value is.
#[inline(always)]
fn native_of(callee: Value) -> Option<Gc<Native>> {
    let object = callee.as_object::<Header>(FUNCTION).filter(|object| object.kind() == ObjectKind::Native)?;
    // SAFETY: the object is one.
    Some(unsafe { object.cast() })
}

/// Remembers what is called with so many arguments.
pub(crate) fn learn_call(vm: &mut Vm, function: u64, arguments: u32, cases: Cases<'_, CallCase>) {
    let function = Value(function);
    if let Some(closure) = closure_of(function) {
        if let Some(code) = vm.code_for(closure, arguments) {
            learn(cases, Some(CallCase::new(CLOSURE, closure.code.get(), code)));
        }
    } else if let Some((closure, case)) = callable(vm, function) {
        if let Some(code) = vm.code_for(closure, 1 + arguments) {
            learn(cases, Some(CallCase { code, ..case }));
        }
    } else {
        learn(cases, quick(function, arguments));
    }
}

/// Remembers what is called with two arguments.
pub(crate) fn learn_call2(vm: &mut Vm, function: u64, a: u64, b: u64, cases: Cases<'_, CallCase>) {
    let known = cases.iter().next();
    if cases.is_full() && known.is_none_or(|known| known.kind != GIVES_METATABLE) {
        return;
    }
    let Some(quick) = quick(Value(function), 2).filter(|quick| quick.kind == GIVES_METATABLE) else {
        if !cases.is_full() {
            learn_call(vm, function, 2, cases);
        }
        return;
    };
    // What gives all tables that come one metatable is a class's constructor. If they or their metatables differ, a function does it.
    if known.is_none()
        && let (Some(table), Some(meta)) = (Value(a).as_table(), Value(b).as_table())
        && let Some((before, after)) = vm.heap.shapes_with_metatable(table, meta)
    {
        let (before, code, meta) = (before.word(), after.word(), meta.address());
        cases.add(CallCase { before, code, meta, ..quick });
        return;
    }
    cases.retain(|_| false);
    learn(cases, Some(CallCase { kind: ALLOCATES, ..quick }));
}

/// Keeps a shape that a call gives to tables, if it is there.
pub(crate) fn reach_shape(vm: &mut Vm, shape: u64) -> bool {
    vm.heap.reach_shape(shape)
}

/// The closure that is called in place of a table, and what is known of such tables.
fn callable(vm: &Vm, callee: Value) -> Option<(Gc<Closure>, CallCase)> {
    let meta = callee.as_table()?.metatable()?;
    let (offset, closure) = closure_in_slot(meta, vm.names.call)?;
    let case = CallCase::new(CALLABLE, meta.shape.get().word(), 0);
    Some((closure, CallCase { offset, method: closure.code.get(), ..case }))
}

/// The closure that is called in place of a table, if the metatable has this shape, and such a closure in the slot at this offset.
///
/// # Safety
///
/// The table must be there.
pub(crate) unsafe fn callable_method(table: *mut Table, shape: u64, offset: u32, code: u64) -> u64 {
    // SAFETY: the template passes a table.
    let meta = unsafe { Gc::of(table) }.metatable().filter(|meta| meta.shape.get().word() == shape);
    let method = meta.and_then(|meta| Some(meta.slot_values().get(offset as usize / 8)?.get()));
    let is_known = |method: &Value| closure_of(*method).is_some_and(|closure| closure.code.get() == code);
    method.filter(is_known).map_or(ABSENT, |method| method.0)
}

fn is_select(native: Gc<Native>) -> bool {
    native.function == base::select as NativeFunction as usize as u64
}

/// Remembers that what is called is `select`.
pub(crate) fn learn_select(function: u64, cases: Cases<'_, CallCase>) {
    let native = native_of(Value(function)).filter(|native| is_select(*native));
    learn(cases, native.map(|native| CallCase::new(SELECT, native.function, 0)));
}

/// Remembers what is called, if that is anything. All else is called by a slow path: nothing more is learned then, nor where a case does not
/// help.
fn learn(cases: Cases<'_, CallCase>, case: Option<CallCase>) {
    match case.filter(|case| cases.iter().all(|known| known != *case)) {
        Some(case) => _ = cases.add(case),
        None => cases.close(),
    }
}

fn quick(callee: Value, arguments: u32) -> Option<CallCase> {
    let native = native_of(callee)?;
    let Quick { address, kind } = native.quick(arguments as usize)?;
    Some(CallCase::new(kind, native.function, address))
}

/// The closure that a metatable has in a slot, and the slot's offset.
pub(super) fn closure_in_slot(meta: Gc<Table>, name: Gc<Str>) -> Option<(u32, Gc<Closure>)> {
    let slot = meta.shape.get().slot(name)?;
    Some((8 * slot, closure_of(meta.get_string(name))?))
}

/// The closure that a value is.
fn closure_of(callee: Value) -> Option<Gc<Closure>> {
    let object =
        callee.as_object::<Header>(FUNCTION).filter(|object| object.kind() == ObjectKind::Closure)?;
    // SAFETY: the object is one.
    Some(unsafe { object.cast() })
}

// Each return behind a switch to a coroutine is one that the processor predicts wrong, so these are part of what templates call.

#[inline(always)]
pub(crate) fn call0(vm: &mut Vm, frames: Frames<'_>, function: u64) -> Result<u64> {
    vm.call_or_leave(&frames, Value(function), &[])
}

#[inline(always)]
pub(crate) fn call1(vm: &mut Vm, frames: Frames<'_>, function: u64, a: u64) -> Result<u64> {
    vm.call_or_leave(&frames, Value(function), &[Value(a)])
}

#[inline(always)]
pub(crate) fn call2(vm: &mut Vm, frames: Frames<'_>, function: u64, a: u64, b: u64) -> Result<u64> {
    vm.call_or_leave(&frames, Value(function), &[Value(a), Value(b)])
}

#[inline(always)]
pub(crate) fn call3(vm: &mut Vm, frames: Frames<'_>, function: u64, a: u64, b: u64, c: u64) -> Result<u64> {
    vm.call_or_leave(&frames, Value(function), &[Value(a), Value(b), Value(c)])
}

/// # Safety
///
/// So many values must be there.
pub(crate) unsafe fn call_many(vm: &mut Vm, frames: Frames<'_>, from: *const u64, count: u64) -> Result<u64> {
    // SAFETY: the template passes a run of registers, which may change during the call.
    let all = ArgumentCopy::of(unsafe { values(from, count) }, &[]);
    vm.call_or_leave(&frames, all.values()[0], &all.values()[1..])
}

/// Gathers what a closure gets that stands for what is called.
///
/// # Safety
///
/// So many values must be there.
pub(crate) unsafe fn gather_callable(vm: &mut Vm, method: u64, from: *const u64, count: u64) -> u64 {
    // SAFETY: the template passes a run of registers.
    vm.gather_both(&[Value(method)], unsafe { values(from, count) })
}

/// # Safety
///
/// So many values must be there.
pub(crate) unsafe fn gather(vm: &mut Vm, from: *const u64, count: u64) -> u64 {
    // SAFETY: the template passes a run of registers.
    vm.gather_with_results(unsafe { values(from, count) })
}

pub(crate) fn call_gathered(vm: &mut Vm, frames: Frames<'_>, count: u64) -> Result<u64> {
    // Some were results of the last call, and are in no register: the collector finds them where a function of Rust has its arguments.
    let all = ArgumentCopy::of(&vm.gathered[..count as usize], &[]);
    vm.call_from_bytecode(&frames, all.values()[0], &all.values()[1..])
}

/// # Safety
///
/// So many values must be there.
pub(crate) unsafe fn gather_varargs(vm: &mut Vm, from: *const u64, count: u64, pack: u64) -> u64 {
    // SAFETY: the template passes a run of registers.
    vm.gather_both(unsafe { values(from, count) }, pack_of(pack).plain_values())
}

/// # Safety
///
/// So many values must be there.
pub(crate) unsafe fn call_with_varargs(
    vm: &mut Vm,
    frames: Frames<'_>,
    from: *const u64,
    count: u64,
    pack: u64,
) -> Result<u64> {
    // SAFETY: the template passes a run of registers.
    let (first, pack) = (unsafe { values(from, count) }, pack_of(pack));
    let varargs = pack.plain_values();
    // What mostly is called so needs no copy of its arguments.
    if let [callee, which] = *first
        && native_of(callee).is_some_and(is_select)
        && let Some(first) = base::selected(vm, which, varargs)
    {
        return Ok(first.0);
    }
    let all = ArgumentCopy::of(first, varargs);
    vm.call_from_bytecode(&frames, all.values()[0], &all.values()[1..])
}

/// So many values are copied to the machine's stack, and more to the heap.
const FEW: usize = 16;

/// A copy of values.
struct ArgumentCopy {
    few: [MaybeUninit<Value>; FEW],
    count: usize,
    /// Empty if there are few.
    many: Vec<Value>,
}

impl ArgumentCopy {
    #[inline(always)]
    fn of(values: &[Value], more: &[Value]) -> ArgumentCopy {
        let few = [MaybeUninit::uninit(); FEW];
        let mut copied = ArgumentCopy { few, count: values.len() + more.len(), many: Vec::new() };
        if copied.count > FEW {
            copied.many = [values, more].concat();
        } else {
            let to: *mut Value = copied.few.as_mut_ptr().cast();
            // SAFETY: there is room for so many.
            unsafe {
                copy_values(values, to);
                copy_values(more, to.add(values.len()));
            }
        }
        copied
    }

    #[inline(always)]
    fn values(&self) -> &[Value] {
        if self.count > FEW {
            return &self.many;
        }
        // SAFETY: so many were copied.
        unsafe { std::slice::from_raw_parts(self.few.as_ptr().cast(), self.count) }
    }
}

/// # Safety
///
/// So many values must be there.
pub(crate) unsafe fn put_varargs_behind(vm: &mut Vm, from: *const u64, count: u64, pack: u64) -> u64 {
    // SAFETY: the template passes a run of registers.
    vm.results.give_both(unsafe { values(from, count) }, pack_of(pack).plain_values()).0
}

/// # Safety
///
/// So many values must be there.
pub(crate) unsafe fn take_varargs(to: *mut u64, count: u64, pack: u64) {
    let pack = pack_of(pack);
    let there = pack.plain_values();
    for at in 0..count as usize {
        let value = there.get(at).copied().unwrap_or(Value::NIL);
        // SAFETY: the template passes a run of registers.
        unsafe { to.add(at).write(value.0) };
    }
}

/// # Safety
///
/// So many values must be there.
pub(crate) unsafe fn take_results(vm: &mut Vm, to: *mut u64, count: u64) {
    let there = vm.results.count as usize;
    for at in 0..count as usize {
        let value = match at {
            0 if there > 0 => continue,
            at if at < there => vm.results.behind()[at - 1],
            _ => Value::NIL,
        };
        // SAFETY: the template passes a run of registers.
        unsafe { to.add(at).write(value.0) };
    }
}

/// # Safety
///
/// So many values must be there.
pub(crate) unsafe fn put_results(vm: &mut Vm, from: *const u64, count: u64) -> u64 {
    // SAFETY: the template passes a run of registers.
    vm.give(unsafe { values(from, count) }).0
}

/// # Safety
///
/// So many values must be there.
pub(crate) unsafe fn put_more_results(vm: &mut Vm, from: *const u64, count: u64) -> u64 {
    // SAFETY: the template passes a run of registers.
    vm.results.give_in_front(unsafe { values(from, count) }).0
}

/// One step of a traversal by `next`, behind a position. Returns the new position, with the key and the value in the operands; or nothing
/// at the end.
pub(crate) fn next_pair(vm: &mut Vm, table: u64, position: u64) -> u64 {
    let table = Value(table).as_table().expect("the template has checked it");
    let Some((Position(position), key, value)) = table.behind(Position(position)) else { return 0 };
    vm.operands = [key, value];
    position
}

/// `pcall`: gathers what it calls with its arguments.
pub(crate) fn protect(vm: &mut Vm, frames: Frames<'_>, pack: u64) -> Result<u64> {
    let all = pack_of(pack);
    if all.values().is_empty() {
        return vm.fail_as_builtin(&frames, 1, "value expected");
    }
    vm.handlers.push(None);
    Ok(vm.gather(all.values().iter().map(std::cell::Cell::get)))
}

/// Likewise, with few arguments, of which some may be missing.
pub(crate) fn protect_few(vm: &mut Vm, frames: Frames<'_>, function: u64, a: u64, b: u64) -> Result<u64> {
    let given = [function, a, b].iter().take_while(|given| **given != ABSENT).count();
    if given == 0 {
        return vm.fail_as_builtin(&frames, 1, "value expected");
    }
    vm.handlers.push(None);
    Ok(vm.gather([function, a, b].map(Value)[..given].iter().copied()))
}

/// `xpcall`: gathers what it calls; the errors in it go to the handler.
pub(crate) fn protect_with(vm: &mut Vm, frames: Frames<'_>, callee: u64, handler: u64) -> Result<u64> {
    if handler == ABSENT {
        return vm.fail_as_builtin(&frames, 2, "value expected");
    }
    vm.handlers.push(Some(Value(handler)));
    Ok(vm.gather([Value(callee)].into_iter()))
}

/// A call that is protected has failed.
pub(crate) fn caught(vm: &mut Vm, frames: Frames<'_>, trap: u32) -> u64 {
    let trap = Trap::from_code(trap).expect("the call has failed");
    let mut value = vm.value_of_trap(&frames, trap);
    if trap != THROWN
        && let Some(Some(handler)) = vm.handlers.last().copied()
    {
        // No code of Lua has seen it yet. If the program is stopped meanwhile, it is stopped again when it goes on.
        value = vm.handled(&frames, handler, value).unwrap_or(Value::NIL);
    }
    vm.error = value;
    vm.has_caught = true;
    value.0
}

/// A call that is protected has ended, with this as the first result unless it has failed. Gives what `pcall` gives.
pub(crate) fn unprotect(vm: &mut Vm, first: u64) -> u64 {
    vm.handlers.pop();
    if std::mem::take(&mut vm.has_caught) {
        let error = std::mem::replace(&mut vm.error, Value::NIL);
        return vm.give(&[Value::FALSE, error]).0;
    }
    vm.results.give_in_front(&[Value::TRUE, Value(first)]).0
}

/// Fails as C's Lua does if a program yields outside of all coroutines.
pub(crate) fn yield_outside(vm: &mut Vm, frames: Frames<'_>) -> Result<()> {
    vm.fail_plainly(&frames, "attempt to yield across metamethod/C-call boundary")
}

/// Makes the values of a pack the results of a call; returns the first.
pub(crate) fn give_pack(vm: &mut Vm, pack: u64) -> u64 {
    vm.results.give(pack_of(pack).plain_values()).0
}
