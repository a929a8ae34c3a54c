//! Hooks of Rust, which watch a program.

use super::{Lua, LuaError, LuaResult};
use crate::run::slow::Events;

/// What a hook wants to see.
///
/// ```
/// use azulejo_lua::api::HookTriggers;
///
/// let lines = HookTriggers { lines: true, ..HookTriggers::default() };
/// assert!(!lines.calls && lines.every == 0);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct HookTriggers {
    /// Functions that are called.
    pub calls: bool,
    /// Functions that return.
    pub returns: bool,
    /// Each line that begins.
    pub lines: bool,
    /// After so many bytecodes; never, if that is none.
    pub every: u32,
}

/// What a hook is told.
///
/// ```
/// use azulejo_lua::api::HookEvent;
///
/// let is_line = |event: HookEvent| matches!(event, HookEvent::Line(_));
/// assert!(is_line(HookEvent::Line(3)) && !is_line(HookEvent::Call));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum HookEvent {
    /// A function was called.
    Call,
    /// A function returns.
    Return,
    /// A line with this number begins.
    Line(u32),
    /// As many bytecodes have run as it had asked for.
    Count,
}

impl Lua {
    /// Has a function of Rust watch the coroutine that runs, or the program outside of all coroutines, in place of the one before. An error
    /// in it is one of the program, in the line where that is. The hook does not see what runs while it runs, nor functions that run
    /// already when the program gets its first one.
    ///
    /// All functions are compiled again for the first hook, and are slower from then on.
    /// [`interrupter`](Self::interrupter) and [`LuaBuilder::fuel`](super::LuaBuilder::fuel) stop a program for much less.
    ///
    /// ```
    /// use azulejo_lua::api::{HookEvent, HookTriggers, Lua};
    /// use std::{cell::RefCell, rc::Rc};
    ///
    /// let lua = Lua::new();
    /// let lines = Rc::new(RefCell::new(Vec::new()));
    /// let seen = lines.clone();
    /// lua.set_hook(HookTriggers { lines: true, ..HookTriggers::default() }, move |_, event| {
    ///     seen.borrow_mut().extend(if let HookEvent::Line(line) = event { Some(line) } else { None });
    ///     Ok(())
    /// });
    /// lua.load("local a = 1\nlocal b = 2\n\nreturn a + b").eval::<i64>()?;
    /// lua.remove_hook();
    /// lua.load("return 1").eval::<i64>()?;
    /// assert_eq!(*lines.borrow(), [1, 2, 4]);
    /// # Ok::<(), azulejo_lua::api::LuaError>(())
    /// ```
    pub fn set_hook(
        &self,
        triggers: HookTriggers,
        hook: impl Fn(&Lua, HookEvent) -> LuaResult<()> + 'static,
    ) {
        let HookTriggers { calls, returns, lines, every } = triggers;
        let function = self.create_function(move |lua, (name, line): (String, Option<u32>)| {
            let event = match (&*name, line) {
                ("call", _) => HookEvent::Call,
                ("return", _) => HookEvent::Return,
                ("count", _) => HookEvent::Count,
                ("line", Some(line)) => HookEvent::Line(line),
                // The program may have got the hook by `debug.gethook`, and call it.
                _ => return Err(LuaError::Runtime("not called as a hook".into())),
            };
            hook(lua, event)
        });
        let events = Events { calls, returns, lines, count: every.into() };
        self.with(|vm, _| vm.set_hook(vm.coroutine, Some((function.0.value(), events))));
    }

    /// Takes the hook away from the coroutine that runs, or from the program outside of all coroutines.
    pub fn remove_hook(&self) {
        self.with(|vm, _| vm.set_hook(vm.coroutine, None));
    }
}
