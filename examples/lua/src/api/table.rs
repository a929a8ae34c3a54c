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
        LuaTable(self.keep(self.make(|vm| Value::table(vm.heap.table(Room::default())))))
    }

    /// Makes a table of keys and their values.
    ///
    /// ```
    /// use azulejo_lua::api::{Lua, LuaError};
    ///
    /// let lua = Lua::new();
    /// lua.globals().set("sizes", lua.create_table_from([("small", 1), ("large", 10)])?)?;
    /// assert_eq!(lua.load("return sizes.small + sizes.large").eval::<i64>()?, 11);
    /// # Ok::<(), LuaError>(())
    /// ```
    pub fn create_table_from<K: IntoLua, V: IntoLua>(
        &self,
        entries: impl IntoIterator<Item = (K, V)>,
    ) -> LuaResult<LuaTable> {
        let table = self.create_table();
        entries.into_iter().try_for_each(|(key, value)| table.raw_set(key, value))?;
        Ok(table)
    }

    /// Makes a table of values, the first of which has the key 1.
    pub fn create_sequence_from<V: IntoLua>(
        &self,
        values: impl IntoIterator<Item = V>,
    ) -> LuaResult<LuaTable> {
        self.create_table_from((1u64..).zip(values))
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
        // The handle keeps it until it is looked for.
        let key = key.into_lua(lua)?;
        let bits = key.bits(lua)?;
        let value = lua.attempt(|vm, frames| vm.get(frames, self.0.value(), bits))?;
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

    /// Whether a key of the table itself has a value.
    pub fn contains_key(&self, key: impl IntoLua) -> LuaResult<bool> {
        Ok(!self.raw_get::<LuaValue>(key)?.is_nil())
    }

    /// Adds a value behind the last element.
    ///
    /// ```
    /// use azulejo_lua::api::{Lua, LuaError, LuaResult};
    ///
    /// let lua = Lua::new();
    /// let words = lua.create_sequence_from(["a", "b"])?;
    /// words.push("c")?;
    /// assert_eq!(words.sequence_values::<String>().collect::<LuaResult<Vec<_>>>()?, ["a", "b", "c"]);
    /// assert_eq!(words.pop::<String>()?, "c");
    /// assert_eq!((words.raw_len(), words.contains_key(3)?), (2, false));
    /// # Ok::<(), LuaError>(())
    /// ```
    pub fn push(&self, value: impl IntoLua) -> LuaResult<()> {
        self.raw_set(self.raw_len() as u64 + 1, value)
    }

    /// Removes the last element, and gives it: `nil` if there is none.
    pub fn pop<V: FromLua>(&self) -> LuaResult<V> {
        let last = self.raw_len();
        if last == 0 {
            return V::from_lua(LuaValue::Nil, &self.0.lua);
        }
        let value = self.raw_get(last)?;
        self.raw_set(last, LuaValue::Nil)?;
        Ok(value)
    }

    /// The elements of the table itself from the first on, up to one that is `nil`.
    pub fn sequence_values<V: FromLua>(&self) -> Sequence<V> {
        Sequence { table: self.clone(), next: 1, types: PhantomData }
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

/// The elements of a table. Made by [`LuaTable::sequence_values`].
#[derive(Debug)]
pub struct Sequence<V> {
    table: LuaTable,
    next: u32,
    types: PhantomData<V>,
}

impl<V: FromLua> Iterator for Sequence<V> {
    type Item = LuaResult<V>;

    fn next(&mut self) -> Option<Self::Item> {
        let value = self.table.raw_get::<LuaValue>(self.next);
        let value = value.map(|value| Some(value).filter(|value| !value.is_nil())).transpose()?;
        self.next += 1;
        Some(value.and_then(|value| V::from_lua(value, &self.table.0.lua)))
    }
}
