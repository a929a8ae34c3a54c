//! Tables.

use super::handle::{Handle, Lua};
use super::{FromLua, IntoLua, LuaError, LuaResult, LuaValue};
use crate::object::heap::Gc;
use crate::object::table::{Position, Room, Table};
use crate::object::value::Value;
use std::marker::PhantomData;

/// A table.
///
/// ```
/// use azulejo_lua::api::{Lua, LuaError};
///
/// let lua = Lua::new();
/// let point = lua.create_table();
/// point.set("x", 3)?;
/// point.set("y", 4)?;
/// lua.globals().set("point", point.clone())?;
/// lua.load("point.length = (point.x ^ 2 + point.y ^ 2) ^ 0.5").exec()?;
/// assert_eq!(point.get::<f64>("length")?, 5.0);
/// # Ok::<(), LuaError>(())
/// ```
#[derive(Clone, PartialEq, Debug)]
pub struct LuaTable(pub(super) Handle);

impl Lua {
    /// Makes an empty table.
    pub fn create_table(&self) -> LuaTable {
        LuaTable(self.keep(self.with(|vm, _| Value::table(vm.heap.table(Room::default())))))
    }

    /// The global variables.
    pub fn globals(&self) -> LuaTable {
        LuaTable(self.keep(self.with(|vm, _| Value::table(vm.globals))))
    }
}

impl LuaTable {
    fn table(&self) -> Gc<Table> {
        self.0.value().as_table().expect("it was made of one")
    }

    /// The value of a key, as Lua code finds it: by metamethods, too.
    pub fn get<V: FromLua>(&self, key: impl IntoLua) -> LuaResult<V> {
        let lua = &self.0.lua;
        let key = key.into_lua(lua)?.bits(lua)?;
        let value = lua.attempt(|vm, frames| vm.get(frames, self.0.value(), key))?;
        V::from_lua(lua.value(value), lua)
    }

    /// Sets the value of a key, as Lua code does it: by metamethods, too.
    pub fn set(&self, key: impl IntoLua, value: impl IntoLua) -> LuaResult<()> {
        let lua = &self.0.lua;
        // The handles keep both until they are in the table.
        let (key, value) = (key.into_lua(lua)?, value.into_lua(lua)?);
        let (key, value) = (key.bits(lua)?, value.bits(lua)?);
        lua.attempt(|vm, frames| vm.set(frames, self.0.value(), key, value))
    }

    /// The value of a key of the table itself.
    pub fn raw_get<V: FromLua>(&self, key: impl IntoLua) -> LuaResult<V> {
        let lua = &self.0.lua;
        let key = key.into_lua(lua)?.bits(lua)?;
        V::from_lua(lua.value(self.table().get(key)), lua)
    }

    /// Sets the value of a key of the table itself.
    pub fn raw_set(&self, key: impl IntoLua, value: impl IntoLua) -> LuaResult<()> {
        let lua = &self.0.lua;
        let (key, value) = (key.into_lua(lua)?, value.into_lua(lua)?);
        let (key, value) = (key.bits(lua)?, value.bits(lua)?);
        let result = lua.with(|vm, _| vm.heap.set(self.table(), key, value));
        result.map_err(|error| LuaError::Runtime(error.message().into()))
    }

    /// The length that `#` gives.
    pub fn raw_len(&self) -> u32 {
        self.table().length()
    }

    /// The metatable.
    pub fn metatable(&self) -> Option<LuaTable> {
        let metatable = self.table().metatable()?;
        Some(LuaTable(self.0.lua.keep(Value::table(metatable))))
    }

    /// Sets the metatable, or removes it.
    pub fn set_metatable(&self, metatable: Option<&LuaTable>) -> LuaResult<()> {
        if metatable.is_some_and(|metatable| !self.0.lua.owns(&metatable.0)) {
            return Err(LuaError::OtherProgram);
        }
        let metatable = metatable.map(LuaTable::table);
        self.0.lua.with(|vm, _| vm.heap.set_metatable(self.table(), metatable));
        Ok(())
    }

    /// All keys and values of the table itself. Values may be set meanwhile, but no keys added.
    pub fn pairs<K: FromLua, V: FromLua>(&self) -> Pairs<K, V> {
        Pairs { table: self.clone(), position: Position::START, types: PhantomData }
    }
}

/// The keys and values of a table. Made by [`LuaTable::pairs`].
#[derive(Debug)]
pub struct Pairs<K, V> {
    table: LuaTable,
    position: Position,
    types: PhantomData<(K, V)>,
}

impl<K: FromLua, V: FromLua> Iterator for Pairs<K, V> {
    type Item = LuaResult<(K, V)>;

    fn next(&mut self) -> Option<Self::Item> {
        let (position, key, value) = self.table.table().behind(self.position)?;
        self.position = position;
        let lua = &self.table.0.lua;
        let (key, value): (LuaValue, LuaValue) = (lua.value(key), lua.value(value));
        Some(K::from_lua(key, lua).and_then(|key| Ok((key, V::from_lua(value, lua)?))))
    }
}
