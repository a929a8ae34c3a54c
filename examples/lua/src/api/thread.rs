//! Coroutines.

use super::handle::{Handle, Lua};
use super::{FromLuaMulti, IntoLuaMulti, LuaError, LuaFunction, LuaResult};
use crate::object::function::Closure;
use crate::object::heap::{Gc, ObjectKind};
use crate::object::thread::{Status, Thread};
use crate::object::value::{FUNCTION, THREAD, Value};

/// A coroutine.
///
/// ```
/// use azulejo_lua::api::{Lua, LuaError, LuaFunction};
///
/// let lua = Lua::new();
/// let count: LuaFunction = lua.load("function(n) while true do n = n + coroutine.yield(n) end end").eval()?;
/// let thread = lua.create_thread(&count)?;
/// assert_eq!(thread.resume::<_, i64>(1)?, 1);
/// assert_eq!(thread.resume::<_, i64>(10)?, 11);
/// assert_eq!(thread.resume::<_, i64>(100)?, 111);
/// # Ok::<(), LuaError>(())
/// ```
#[derive(Clone, PartialEq, Debug)]
pub struct LuaThread(pub(super) Handle);

impl Lua {
    /// Makes a coroutine that calls a function of Lua.
    pub fn create_thread(&self, function: &LuaFunction) -> LuaResult<LuaThread> {
        if !self.owns(&function.0) {
            return Err(LuaError::OtherProgram);
        }
        let function = function.0.value();
        if function.object_kind() != Some(ObjectKind::Closure) {
            return Err(LuaError::conversion("function of Rust", "function of Lua"));
        }
        let closure: Gc<Closure> = function.as_object(FUNCTION).expect("it is a function");
        Ok(LuaThread(self.keep(self.make(|vm| Value::object(THREAD, vm.new_thread(closure))))))
    }
}

impl LuaThread {
    /// Runs it until it yields or ends; returns what it yields or returns.
    pub fn resume<A: IntoLuaMulti, R: FromLuaMulti>(&self, arguments: A) -> LuaResult<R> {
        let lua = &self.0.lua;
        let arguments = arguments.into_lua_multi(lua)?;
        let words = arguments.iter().map(|value| value.bits(lua)).collect::<LuaResult<Vec<Value>>>()?;
        let results = lua
            .with(|vm, _| vm.resume(self.thread(), &words).map(|first| vm.all_results(first)))
            .map_err(|thrown| lua.failure(thrown))?;
        R::from_lua_multi(results.into_iter().map(|value| lua.value(value)).collect(), lua)
    }

    /// Whether it can be resumed.
    pub fn is_suspended(&self) -> bool {
        self.thread().status() == Status::Suspended
    }

    fn thread(&self) -> Gc<Thread> {
        self.0.value().as_object(THREAD).expect("it was made of one")
    }
}
