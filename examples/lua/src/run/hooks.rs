//! Hooks: functions that the library `debug` lets watch the program.
//!
//! In: `Look`s, which functions have that were compiled to be watched (`compile/watch.rs`). Out: calls of the hook of the coroutine that
//! runs. A hook does not see what runs while it runs.
//!
//! The first hook has all functions compiled again that have no `Look`s. Calls from then on have these; what runs goes on as it is.

use crate::object::function::Native;
use crate::object::heap::{Gc, Marker, ObjectKind};
use crate::object::thread::Thread;
use crate::object::value::{FUNCTION, Value};
use crate::run::draft::Watch;
use crate::run::error::Result;
use crate::run::vm::Vm;
use crate::syntax::ast::Line;
use azulejo::Frames;
use std::collections::HashMap;
use std::rc::Rc;

/// Why code lets others look: a function begins, a line begins, a function ends, …
pub(crate) const CALL: u32 = 0;
pub(crate) const LINE: u32 = 1;
pub(crate) const RETURN: u32 = 2;
/// …, an iteration begins, …
pub(crate) const ITERATION: u32 = 5;
/// …, something is called, which may be a function of Rust, and has returned.
pub(crate) const NATIVE_CALL: u32 = 3;
pub(crate) const NATIVE_RETURN: u32 = 4;

/// What a hook wants to see.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Events {
    pub(crate) calls: bool,
    pub(crate) returns: bool,
    pub(crate) lines: bool,
    /// After so many bytecodes; never, if that is none.
    pub(crate) count: i64,
}

impl Events {
    pub(crate) fn is_any(self) -> bool {
        self.calls || self.returns || self.lines || self.count > 0
    }
}

/// The hook of a coroutine.
#[derive(Clone, Debug)]
pub(crate) struct Hook {
    /// The coroutine; `None` for the program.
    thread: Option<Gc<Thread>>,
    pub(crate) function: Value,
    pub(crate) events: Events,
    /// So many bytecodes are left until it is called.
    left: i64,
    last: Option<LastLook>,
}

/// Where the program was.
#[derive(Clone, Copy, Debug)]
struct LastLook {
    /// Only to be compared: the frames may be gone.
    frames: Frames<'static>,
    bytecode: u32,
    line: Line,
}

/// All hooks.
#[derive(Debug, Default)]
pub(crate) struct Hooks {
    all: Vec<Hook>,
    /// Whether one of them runs.
    is_running: bool,
    /// Whether a hook would be called: there is one, and none runs. Code reads it.
    pub(super) is_watching: bool,
}

impl Hooks {
    /// The hook of a coroutine, or of the program.
    pub(crate) fn of(&self, thread: Option<Gc<Thread>>) -> Option<&Hook> {
        self.all.iter().find(|hook| hook.thread == thread)
    }

    /// Changes that.
    fn set(&mut self, thread: Option<Gc<Thread>>, hook: Option<(Value, Events)>) {
        self.all.retain(|hook| hook.thread != thread);
        let hook =
            hook.map(|(function, events)| Hook { thread, function, events, left: events.count, last: None });
        self.all.extend(hook);
        self.set_running(self.is_running);
    }

    fn set_running(&mut self, is_running: bool) {
        self.is_running = is_running;
        self.is_watching = !is_running && !self.all.is_empty();
    }

    pub(crate) fn trace(&self, marker: &mut Marker<'_>) {
        for hook in &self.all {
            marker.value(hook.function);
            hook.thread.iter().for_each(|thread| marker.object(thread.header()));
        }
    }
}

/// Lets a hook see where the program is. There is one.
pub(crate) fn look(vm: &mut Vm, frames: Frames<'_>, kind: u32, callee: u64) -> Result<()> {
    vm.look(&frames, kind, Value(callee))
}

impl Vm {
    /// Changes the hook of a coroutine, or of the program. One that wants to see nothing is there to be asked for all the same.
    pub(crate) fn set_hook(&mut self, thread: Option<Gc<Thread>>, hook: Option<(Value, Events)>) {
        if hook.is_some_and(|(_, events)| events.is_any()) {
            self.watch_all();
        }
        self.hooks.set(thread, hook);
    }

    /// Lets hooks and `debug.getlocal` see all functions that are called from now on.
    pub(crate) fn watch_all(&mut self) {
        if std::mem::replace(&mut self.is_watched, true) {
            return;
        }
        self.watch = Watch::All;
        let mut changes = HashMap::new();
        let all: Vec<_> = self.prototypes.iter().flatten().cloned().collect();
        for prototype in all {
            let number = prototype.function.number();
            let recipe = prototype.recipe.as_ref();
            let Some(watched) = recipe.and_then(|recipe| recipe.watched(self, &prototype)) else { continue };
            // Nothing may have referred to it any more: then it is gone, if the collector has just swept its memory, and another one may have
            // its number.
            self.forget_gone();
            let current = self.prototypes[number as usize].as_ref();
            let is_there = current.is_some_and(|current| Rc::ptr_eq(current, &prototype));
            if let Some(definition) = self.heap.definition_of(number).filter(|_| is_there) {
                changes.insert(definition.code.get(), watched.code.get());
                self.heap.redefine(definition, watched);
            }
        }
        self.heap.change_code(&changes);
    }

    fn look(&mut self, frames: &Frames<'_>, kind: u32, callee: Value) -> Result<()> {
        let thread = self.coroutine;
        let Some(frame) = frames.iter().next() else { return Ok(()) };
        let Some(prototype) = self.prototype_of(&frame) else { return Ok(()) };
        let (bytecode, line) = (frame.bytecode(), prototype.lines[frame.bytecode() as usize]);
        let Some(hook) = self.hooks.all.iter_mut().find(|hook| hook.thread == thread) else { return Ok(()) };
        // SAFETY: it is only compared.
        let same = unsafe { std::mem::transmute::<Frames<'_>, Frames<'static>>(*frames) };
        let before = if matches!(kind, LINE | ITERATION) {
            hook.last.replace(LastLook { frames: same, bytecode, line })
        } else {
            hook.last
        };
        let last = before.filter(|last| last.frames == same && last.bytecode < bytecode);
        let events = hook.events;
        let mut counts = 0;
        if events.count > 0 {
            // Those since the last place, if there was no jump back and no call.
            hook.left -= last.map_or(1, |last| (bytecode - last.bytecode) as i64);
            while hook.left <= 0 {
                hook.left += events.count;
                counts += 1;
            }
        }
        let is_of_native = matches!(kind, NATIVE_CALL | NATIVE_RETURN);
        let native = callee
            .as_object::<Native>(FUNCTION)
            .filter(|_| is_of_native && callee.object_kind() == Some(ObjectKind::Native));
        let event = match kind {
            CALL if events.calls => Some("call"),
            RETURN if events.returns => Some("return"),
            NATIVE_CALL if events.calls && native.is_some() => Some("call"),
            NATIVE_RETURN if events.returns && native.is_some() => Some("return"),
            ITERATION if events.lines => Some("line"),
            LINE if events.lines && last.is_none_or(|last| last.line != line) => Some("line"),
            _ => None,
        };
        for _ in 0..counts {
            self.call_hook(frames, thread, "count", None)?;
        }
        match (event, native) {
            (Some("line"), _) => self.call_hook(frames, thread, "line", Some(line)),
            // The hook sees the function of Rust on the stack.
            (Some(event), Some(native)) => {
                self.activated(native, frames, &[], |vm| vm.call_hook(frames, thread, event, None))
            }
            (Some(event), None) => self.call_hook(frames, thread, event, None),
            (None, _) => Ok(()),
        }
    }

    /// Calls the hook. The results of the last call stay what they are.
    fn call_hook(
        &mut self,
        frames: &Frames<'_>,
        thread: Option<Gc<Thread>>,
        event: &str,
        line: Option<Line>,
    ) -> Result<()> {
        let Some(function) = self.hooks.of(thread).map(|hook| hook.function) else { return Ok(()) };
        let results = self.results.save();
        let kept = self.roots.len();
        self.roots.extend_from_slice(results.behind());
        let line = line.map_or(Value::NIL, |line| Value::number(line as f64));
        let event = self.text(event);
        self.hooks.set_running(true);
        let result = self.call_value(frames, function, &[event, line]);
        self.hooks.set_running(false);
        self.roots.truncate(kept);
        self.results.restore(&results);
        result.map(drop)
    }
}
