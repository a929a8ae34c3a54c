//! Functions.

use super::handle::{Handle, Lua};
use super::{FromLuaMulti, IntoLuaMulti, LuaError, LuaResult, LuaTable, LuaValue};
use crate::library::arguments;
use crate::object::value::{USERDATA, Value};
use crate::run::error::{Ending, Result};
use crate::run::vm::{Vm, lua_closure};
use azulejo::Frames;
use std::cell::RefCell;

/// A function, of Lua or of Rust.
///
/// ```
/// use azulejo_lua::api::{Lua, LuaError, LuaFunction};
///
/// let lua = Lua::new();
/// let add: LuaFunction = lua.load("function(a, b) return a + b end").eval()?;
/// assert_eq!(add.call::<_, i64>((40, 2))?, 42);
/// # Ok::<(), LuaError>(())
/// ```
#[derive(Clone, PartialEq, Debug)]
pub struct LuaFunction(pub(super) Handle);

/// A function of Rust that takes and gives any values.
type AnyFunction = dyn Fn(&Lua, Vec<LuaValue>) -> std::result::Result<Vec<LuaValue>, Fault>;

/// Why a function of Rust has failed.
pub(super) enum Fault {
    /// It was called with wrong arguments.
    Arguments(LuaError),
    /// It says so.
    Said(LuaError),
}

/// A function of Rust, as it is on the heap.
pub(super) struct Closed(Box<AnyFunction>);

impl Lua {
    /// Makes a function of Rust one of Lua. Its errors are errors of the Lua code that calls it.
    ///
    /// At the end of deep recursion the function finds less of the stack than elsewhere: 256 KiB on a thread with 2 MiB or more, at least 64 KiB
    /// on others and in coroutines. One that needs more asks `azulejo::stack_left` first.
    ///
    /// ```
    /// use azulejo_lua::api::{Lua, LuaError};
    ///
    /// let lua = Lua::new();
    /// let greet = lua.create_function(|_, name: String| Ok(format!("Hello, {name}!")));
    /// lua.globals().set("greet", greet)?;
    /// assert_eq!(lua.load("return greet('World')").eval::<String>()?, "Hello, World!");
    /// # Ok::<(), LuaError>(())
    /// ```
    pub fn create_function<A: FromLuaMulti, R: IntoLuaMulti>(
        &self,
        function: impl Fn(&Lua, A) -> LuaResult<R> + 'static,
    ) -> LuaFunction {
        self.create_any(move |lua, arguments| {
            let arguments = A::from_lua_multi(arguments, lua).map_err(Fault::Arguments)?;
            let results = function(lua, arguments).map_err(Fault::Said)?;
            results.into_lua_multi(lua).map_err(Fault::Said)
        })
    }

    /// Makes a function of Rust that changes its state one of Lua. If it is called while it runs, that call fails.
    ///
    /// ```
    /// use azulejo_lua::api::{Lua, LuaError, LuaFunction};
    ///
    /// let lua = Lua::new();
    /// let mut count = 0;
    /// let next = lua.create_function_mut(move |_, again: Option<LuaFunction>| {
    ///     count += 1;
    ///     again.map_or(Ok(()), |again| again.call::<_, ()>(()))?;
    ///     Ok(count)
    /// });
    /// lua.globals().set("next_number", next)?;
    /// assert_eq!(lua.load("next_number(); return next_number()").eval::<i64>()?, 2);
    /// let error = lua.load("next_number(next_number)").exec().unwrap_err();
    /// assert!(error.to_string().ends_with("a function of Rust that changes its state is called while it runs"));
    /// assert_eq!(lua.load("return next_number()").eval::<i64>()?, 4);
    /// # Ok::<(), LuaError>(())
    /// ```
    pub fn create_function_mut<A: FromLuaMulti, R: IntoLuaMulti>(
        &self,
        function: impl FnMut(&Lua, A) -> LuaResult<R> + 'static,
    ) -> LuaFunction {
        const RUNS: &str = "a function of Rust that changes its state is called while it runs";
        let function = RefCell::new(function);
        self.create_function(move |lua, arguments| {
            let mut function = function.try_borrow_mut().map_err(|_| LuaError::Runtime(RUNS.into()))?;
            function(lua, arguments)
        })
    }

    /// Makes a function of Rust that takes any values one of Lua.
    pub(super) fn create_any(
        &self,
        function: impl Fn(&Lua, Vec<LuaValue>) -> std::result::Result<Vec<LuaValue>, Fault> + 'static,
    ) -> LuaFunction {
        let closed = Closed(Box::new(function));
        let value = self.make(|vm| {
            let closed = Value::object(USERDATA, vm.heap.userdata(Box::new(closed)));
            vm.native_function("?", call_closed, &[closed])
        });
        LuaFunction(self.keep(value))
    }
}

/// Calls a function of Rust that has a value of its own.
fn call_closed(vm: &mut Vm, frames: &Frames<'_>, args: &[Value]) -> Result<Value> {
    let userdata =
        vm.native().expect("this is one").upvalues()[0].get().as_userdata().expect("it was made with one");
    let results = Lua::lend(vm, frames, |lua| {
        let closed: &Closed = userdata.value.downcast_ref().expect("it was made with one");
        let arguments = args.iter().map(|value| lua.value(*value)).collect();
        let results = (closed.0)(lua, arguments)?;
        let bits: LuaResult<Vec<Value>> = results.iter().map(|value| value.bits(lua)).collect();
        // The handles are dropped here, and nothing collects before the results are given.
        bits.map_err(Fault::Said)
    });
    match results {
        Ok(values) => Ok(vm.give(&values)),
        Err(Fault::Arguments(LuaError::Conversion { from, to, position: position @ 1.. })) => {
            arguments::fail(vm, frames, position - 1, format!("{to} expected, got {from}"))
        }
        // What has stopped a call in the function stops who has called the function.
        Err(Fault::Arguments(LuaError::Interrupted) | Fault::Said(LuaError::Interrupted)) => {
            vm.stop(Ending::Interrupted)
        }
        Err(Fault::Arguments(LuaError::OutOfFuel) | Fault::Said(LuaError::OutOfFuel)) => {
            vm.stop(Ending::OutOfFuel)
        }
        Err(Fault::Arguments(error) | Fault::Said(error)) => {
            if let Some(value) = error.passed_on(vm) {
                return vm.pass_on(frames, &error, value);
            }
            let value = Lua::lend(vm, frames, |lua| lua.error_value(error));
            match value.as_string() {
                Some(text) => vm.fail(frames, text.bytes()),
                None => vm.throw(frames, value),
            }
        }
    }
}

impl LuaFunction {
    /// The table that has its global variables; `None` for a function of Rust, which has none.
    pub fn environment(&self) -> Option<LuaTable> {
        let table = lua_closure(self.0.value())?.environment.get();
        Some(LuaTable(self.0.lua.keep(Value::table(table))))
    }

    /// Sets the table that has its global variables. Functions that it has made keep theirs. An error for a function of Rust.
    ///
    /// ```
    /// use azulejo_lua::api::{Lua, LuaError, LuaFunction};
    ///
    /// let lua = Lua::new();
    /// let answer: LuaFunction = lua.load("function() return answer end").eval()?;
    /// assert_eq!(answer.environment(), Some(lua.globals()));
    /// let other = lua.create_table();
    /// other.set("answer", 42)?;
    /// answer.set_environment(&other)?;
    /// assert_eq!(answer.call::<_, i64>(())?, 42);
    /// # Ok::<(), LuaError>(())
    /// ```
    pub fn set_environment(&self, to: &LuaTable) -> LuaResult<()> {
        let lua = &self.0.lua;
        if !lua.owns(&to.0) {
            return Err(LuaError::OtherProgram);
        }
        let Some(closure) = lua_closure(self.0.value()) else {
            return Err(LuaError::Runtime("a function of Rust has no environment".into()));
        };
        closure.environment.set(to.0.value().as_table().expect("it was made of one"));
        lua.with(|vm, _| vm.heap.again(closure.header()));
        Ok(())
    }

    /// Calls it.
    pub fn call<A: IntoLuaMulti, R: FromLuaMulti>(&self, arguments: A) -> LuaResult<R> {
        let lua = &self.0.lua;
        let arguments = arguments.into_lua_multi(lua)?;
        let words = arguments.iter().map(|value| value.bits(lua)).collect::<LuaResult<Vec<Value>>>()?;
        let results = lua.attempt(|vm, frames| {
            let first = vm.call_value(frames, self.0.value(), &words)?;
            Ok(vm.all_results(first))
        })?;
        R::from_lua_multi(results.into_iter().map(|value| lua.value(value)).collect(), lua)
    }
}
