//! Any value of Rust that can be serialized, as a value of Lua.
//!
//! In: a value. Out: numbers, booleans, strings and `nil` as they are; sequences and tuples as tables from 1 on; maps and structs as
//! tables by their keys; a variant of an enum as its name, or as a table whose only key is its name.

use super::{IntoLua, Lua, LuaError, LuaResult, LuaTable, LuaValue};
use crate::depth::StackEnd;
use serde::ser::{self, Serialize};

impl Lua {
    /// Makes a value of Lua from any value that can be serialized.
    ///
    /// ```
    /// use azulejo_lua::api::{Lua, LuaError};
    ///
    /// #[derive(serde::Serialize)]
    /// struct Server {
    ///     name: &'static str,
    ///     ports: Vec<u16>,
    /// }
    ///
    /// let lua = Lua::new();
    /// lua.globals().set("server", lua.to_value(&Server { name: "one", ports: vec![80, 443] })?)?;
    /// assert_eq!(lua.load("return server.name .. server.ports[2]").eval::<String>()?, "one443");
    /// # Ok::<(), LuaError>(())
    /// ```
    ///
    /// No table has a `nil`. So a `None` at the end of a sequence does not come back by [`from_value`](Self::from_value), nor does a field of type
    /// `()`, unless it has `#[serde(default)]`; and an empty sequence is an empty table, which is a map to who takes anything.
    ///
    /// A value that nests so deep that the stack would not do is an error. So is one in [`from_value`](Self::from_value), and a table that contains
    /// itself.
    pub fn to_value<T: Serialize + ?Sized>(&self, value: &T) -> LuaResult<LuaValue> {
        value.serialize(Serializer { lua: self, stack: StackEnd::find() })
    }
}

impl ser::Error for LuaError {
    fn custom<T: std::fmt::Display>(message: T) -> LuaError {
        LuaError::external(message.to_string())
    }
}

/// Makes values.
#[derive(Clone, Copy)]
struct Serializer<'a> {
    lua: &'a Lua,
    stack: StackEnd,
}

/// Makes a table, of elements or of keys and values.
struct Filling<'a> {
    of: Serializer<'a>,
    table: LuaTable,
    /// How many elements there are.
    len: u32,
    /// The key of the next value.
    key: LuaValue,
    /// The variant of which the table is the content.
    variant: Option<&'static str>,
}

impl Serializer<'_> {
    /// An integer, if there is a number that is exactly it.
    fn whole(integer: i128) -> LuaResult<LuaValue> {
        let number = integer as f64;
        match number as i128 == integer {
            true => Ok(LuaValue::Number(number)),
            false => Err(LuaError::external(format!("no number of Lua is exactly {integer}"))),
        }
    }
}

impl<'a> Serializer<'a> {
    fn filling(self, variant: Option<&'static str>) -> LuaResult<Filling<'a>> {
        let of = self.deeper()?;
        Ok(Filling { of, table: self.lua.create_table(), len: 0, key: LuaValue::Nil, variant })
    }

    /// This, for what is in a value; an error if the stack ends.
    fn deeper(self) -> LuaResult<Serializer<'a>> {
        if self.stack.is_near() { Err(LuaError::nests_too_deep()) } else { Ok(self) }
    }
}

impl Filling<'_> {
    fn push<T: Serialize + ?Sized>(&mut self, value: &T) -> LuaResult<()> {
        self.len += 1;
        self.table.raw_set(self.len, value.serialize(self.of)?)
    }

    fn put<T: Serialize + ?Sized>(&mut self, key: &'static str, value: &T) -> LuaResult<()> {
        self.table.raw_set(key, value.serialize(self.of)?)
    }

    fn finish(self) -> LuaResult<LuaValue> {
        let value = LuaValue::Table(self.table);
        match self.variant {
            Some(variant) => of_variant(self.of.lua, variant, value),
            None => Ok(value),
        }
    }
}

fn of_variant(lua: &Lua, variant: &'static str, value: LuaValue) -> LuaResult<LuaValue> {
    let table = lua.create_table();
    table.raw_set(variant, value)?;
    Ok(LuaValue::Table(table))
}

macro_rules! exact {
    ($($method:ident $ty:ident)*) => {$(
        fn $method(self, value: $ty) -> LuaResult<LuaValue> {
            Ok(LuaValue::Number(value as f64))
        }
    )*};
}

impl<'a> ser::Serializer for Serializer<'a> {
    type Ok = LuaValue;
    type Error = LuaError;
    type SerializeSeq = Filling<'a>;
    type SerializeTuple = Filling<'a>;
    type SerializeTupleStruct = Filling<'a>;
    type SerializeTupleVariant = Filling<'a>;
    type SerializeMap = Filling<'a>;
    type SerializeStruct = Filling<'a>;
    type SerializeStructVariant = Filling<'a>;

    exact! {
        serialize_i8 i8 serialize_i16 i16 serialize_i32 i32 serialize_u8 u8 serialize_u16 u16 serialize_u32 u32
        serialize_f32 f32 serialize_f64 f64
    }

    fn serialize_i64(self, value: i64) -> LuaResult<LuaValue> {
        Serializer::whole(value as i128)
    }

    fn serialize_u64(self, value: u64) -> LuaResult<LuaValue> {
        Serializer::whole(value as i128)
    }

    fn serialize_bool(self, value: bool) -> LuaResult<LuaValue> {
        Ok(LuaValue::Boolean(value))
    }

    fn serialize_char(self, value: char) -> LuaResult<LuaValue> {
        self.serialize_str(value.encode_utf8(&mut [0; 4]))
    }

    fn serialize_str(self, value: &str) -> LuaResult<LuaValue> {
        value.into_lua(self.lua)
    }

    fn serialize_bytes(self, value: &[u8]) -> LuaResult<LuaValue> {
        value.into_lua(self.lua)
    }

    fn serialize_none(self) -> LuaResult<LuaValue> {
        Ok(LuaValue::Nil)
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> LuaResult<LuaValue> {
        value.serialize(self.deeper()?)
    }

    fn serialize_unit(self) -> LuaResult<LuaValue> {
        Ok(LuaValue::Nil)
    }

    fn serialize_unit_struct(self, _: &'static str) -> LuaResult<LuaValue> {
        Ok(LuaValue::Nil)
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, variant: &'static str) -> LuaResult<LuaValue> {
        self.serialize_str(variant)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> LuaResult<LuaValue> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> LuaResult<LuaValue> {
        of_variant(self.lua, variant, value.serialize(self.deeper()?)?)
    }

    fn serialize_seq(self, _: Option<usize>) -> LuaResult<Filling<'a>> {
        self.filling(None)
    }

    fn serialize_tuple(self, _: usize) -> LuaResult<Filling<'a>> {
        self.filling(None)
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> LuaResult<Filling<'a>> {
        self.filling(None)
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> LuaResult<Filling<'a>> {
        self.filling(Some(variant))
    }

    fn serialize_map(self, _: Option<usize>) -> LuaResult<Filling<'a>> {
        self.filling(None)
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> LuaResult<Filling<'a>> {
        self.filling(None)
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> LuaResult<Filling<'a>> {
        self.filling(Some(variant))
    }
}

macro_rules! elements {
    ($($of:ident $method:ident)*) => {$(
        impl ser::$of for Filling<'_> {
            type Ok = LuaValue;
            type Error = LuaError;

            fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> LuaResult<()> {
                self.push(value)
            }

            fn end(self) -> LuaResult<LuaValue> {
                self.finish()
            }
        }
    )*};
}
elements! {
    SerializeSeq serialize_element
    SerializeTuple serialize_element
    SerializeTupleStruct serialize_field
    SerializeTupleVariant serialize_field
}

macro_rules! fields {
    ($($of:ident)*) => {$(
        impl ser::$of for Filling<'_> {
            type Ok = LuaValue;
            type Error = LuaError;

            fn serialize_field<T: Serialize + ?Sized>(&mut self, key: &'static str, value: &T) -> LuaResult<()> {
                self.put(key, value)
            }

            fn end(self) -> LuaResult<LuaValue> {
                self.finish()
            }
        }
    )*};
}
fields! { SerializeStruct SerializeStructVariant }

impl ser::SerializeMap for Filling<'_> {
    type Ok = LuaValue;
    type Error = LuaError;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> LuaResult<()> {
        self.key = key.serialize(self.of)?;
        Ok(())
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> LuaResult<()> {
        let key = std::mem::replace(&mut self.key, LuaValue::Nil);
        self.table.raw_set(key, value.serialize(self.of)?)
    }

    fn end(self) -> LuaResult<LuaValue> {
        self.finish()
    }
}
