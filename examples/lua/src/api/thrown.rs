//! Values by which Lua code has failed, on their way through code of Rust.
//!
//! In: a value that was thrown. Out: what an error of Rust may have in it on any thread, which is a place that the program knows. When nobody has
//! that any more, the program is told so, and keeps the value no longer than to the next step of its collector.

use super::handle::Lua;
use super::{LuaError, LuaResult, LuaValue};
use crate::object::value::Value;
use crate::run::handles::Released;
use std::fmt;
use std::sync::Arc;

/// A value by which Lua code has failed, which is no string. Only its program knows it: see [`LuaThrown::value`].
///
/// ```
/// use azulejo_lua::api::{Lua, LuaError};
///
/// let lua = Lua::new();
/// let error = lua.load("error({ code = 42 })").exec().unwrap_err();
/// // An error may go to another thread, and come back.
/// let error = std::thread::spawn(move || error).join().unwrap();
/// let LuaError::Thrown(thrown) = error else { panic!("{error}") };
/// let azulejo_lua::api::LuaValue::Table(table) = thrown.value(&lua)? else { panic!("{thrown:?}") };
/// assert_eq!(table.get::<i64>("code")?, 42);
/// # Ok::<(), LuaError>(())
/// ```
#[derive(Clone)]
pub struct LuaThrown {
    type_name: &'static str,
    kept: Arc<Kept>,
}

/// Where a program keeps a value.
struct Kept {
    place: usize,
    released: Released,
}

impl Drop for Kept {
    fn drop(&mut self) {
        self.released.add(self.place);
    }
}

impl LuaThrown {
    /// The value, in its program.
    pub fn value(&self, lua: &Lua) -> LuaResult<LuaValue> {
        self.bits(lua).map(|value| lua.value(value))
    }

    /// What `type` calls the value.
    pub fn type_name(&self) -> &'static str {
        self.type_name
    }

    /// The bits.
    pub(super) fn bits(&self, lua: &Lua) -> LuaResult<Value> {
        let handles = lua.handles().borrow();
        match self.kept.released.is_of(&handles) {
            true => Ok(handles.value(self.kept.place)),
            false => Err(LuaError::OtherProgram),
        }
    }
}

impl fmt::Debug for LuaThrown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("LuaThrown").field(&self.type_name).finish()
    }
}

impl Lua {
    /// Keeps a value that was thrown.
    pub(super) fn thrown(&self, value: Value) -> LuaThrown {
        let type_name = self.value(value).type_name();
        let (place, released) = self.handles().borrow_mut().keep_for_any_thread(value);
        LuaThrown { type_name, kept: Arc::new(Kept { place, released }) }
    }
}
