//! Values that Rust code keeps by keys.
//!
//! In: values of a program. Out: keys. Holds: a value stays as long as its key, but a key does not keep the program, as a handle does: so a
//! value of Rust that the program has may have keys of it.

use super::handle::Lua;
use super::{FromLua, IntoLua, LuaError, LuaResult};
use crate::run::handles::Handles;
use std::cell::RefCell;
use std::fmt;
use std::rc::Rc;

/// What a value of a program is kept by. When it is dropped the value is not kept any more.
///
/// A handle, such as a [`LuaTable`](super::LuaTable), keeps the whole program. If the program has a value of Rust that has a handle, both stay
/// for ever. A key keeps but its value.
///
/// ```
/// use azulejo_lua::api::{Lua, LuaError, LuaFunction, Methods, RegistryKey, UserData};
///
/// /// Calls what it was told to call.
/// struct Button(Option<RegistryKey>);
///
/// impl UserData for Button {
///     fn methods(methods: &mut Methods<'_, Button>) {
///         methods.add_method_mut("on_click", |lua, button, handler: LuaFunction| {
///             button.0 = Some(lua.create_registry_value(handler)?);
///             Ok(())
///         });
///         methods.add_method("click", |lua, button, ()| match &button.0 {
///             Some(handler) => lua.registry_value::<LuaFunction>(handler)?.call::<_, i64>(()),
///             None => Ok(0),
///         });
///     }
/// }
///
/// let lua = Lua::new();
/// lua.globals().set("button", lua.create_userdata(Button(None)))?;
/// let clicks = "local n = 0; button:on_click(function() n = n + 1; return n end); button:click(); return button:click()";
/// assert_eq!(lua.load(clicks).eval::<i64>()?, 2);
/// # Ok::<(), LuaError>(())
/// ```
pub struct RegistryKey {
    handles: Rc<RefCell<Handles>>,
    place: usize,
}

impl Lua {
    /// Keeps a value by a new key.
    ///
    /// ```
    /// use azulejo_lua::api::{Lua, LuaError};
    ///
    /// let lua = Lua::new();
    /// let key = lua.create_registry_value("kept")?;
    /// assert_eq!(lua.registry_value::<String>(&key)?, "kept");
    /// # Ok::<(), LuaError>(())
    /// ```
    pub fn create_registry_value<T: IntoLua>(&self, value: T) -> LuaResult<RegistryKey> {
        let value = value.into_lua(self)?.bits(self)?;
        Ok(RegistryKey { place: self.handles().borrow_mut().keep(value), handles: Rc::clone(self.handles()) })
    }

    /// The value that is kept by a key.
    ///
    /// ```
    /// use azulejo_lua::api::{Lua, LuaError};
    ///
    /// let (lua, other) = (Lua::new(), Lua::new());
    /// let key = lua.create_registry_value(42)?;
    /// assert_eq!(lua.registry_value::<i64>(&key)?, 42);
    /// assert!(matches!(other.registry_value::<i64>(&key), Err(LuaError::OtherProgram)));
    /// # Ok::<(), LuaError>(())
    /// ```
    pub fn registry_value<T: FromLua>(&self, key: &RegistryKey) -> LuaResult<T> {
        self.check_key(key)?;
        let value = self.handles().borrow().value(key.place);
        T::from_lua(self.value(value), self)
    }

    /// Keeps another value by a key.
    ///
    /// ```
    /// use azulejo_lua::api::{Lua, LuaError};
    ///
    /// let lua = Lua::new();
    /// let key = lua.create_registry_value(1)?;
    /// lua.replace_registry_value(&key, "another")?;
    /// assert_eq!(lua.registry_value::<String>(&key)?, "another");
    /// # Ok::<(), LuaError>(())
    /// ```
    pub fn replace_registry_value<T: IntoLua>(&self, key: &RegistryKey, value: T) -> LuaResult<()> {
        self.check_key(key)?;
        let value = value.into_lua(self)?.bits(self)?;
        self.handles().borrow_mut().replace(key.place, value);
        Ok(())
    }

    fn check_key(&self, key: &RegistryKey) -> LuaResult<()> {
        match Rc::ptr_eq(self.handles(), &key.handles) {
            true => Ok(()),
            false => Err(LuaError::OtherProgram),
        }
    }
}

impl Drop for RegistryKey {
    fn drop(&mut self) {
        self.handles.borrow_mut().forget(self.place);
    }
}

impl fmt::Debug for RegistryKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("RegistryKey").field(&self.place).finish()
    }
}
