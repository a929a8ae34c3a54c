//! Any value of Rust that can be deserialized, from a value of Lua.
//!
//! In: a value. Out: what `Lua::to_value` makes such a value from. Where Rust takes anything, a table with elements is a sequence, and any
//! other one a map; a number without a fraction is an integer.

use super::{Lua, LuaError, LuaResult, LuaTable, LuaValue, Pairs};
use crate::depth::StackEnd;
use serde::Deserializer as _;
use serde::de::{self, DeserializeOwned, DeserializeSeed, Visitor};

impl Lua {
    /// Makes any value that can be deserialized from a value of Lua.
    ///
    /// ```
    /// use azulejo_lua::api::{Lua, LuaError};
    ///
    /// #[derive(serde::Deserialize, PartialEq, Debug)]
    /// struct Server {
    ///     name: String,
    ///     ports: Vec<u16>,
    ///     owner: Option<String>,
    /// }
    ///
    /// let lua = Lua::new();
    /// let server = lua.load("return { name = 'one', ports = { 80, 443 } }").eval()?;
    /// let server: Server = lua.from_value(server)?;
    /// assert_eq!(server, Server { name: "one".into(), ports: vec![80, 443], owner: None });
    /// let wrong = lua.load("return { name = 'one', ports = { -1 } }").eval()?;
    /// assert!(lua.from_value::<Server>(wrong).is_err());
    /// # Ok::<(), LuaError>(())
    /// ```
    pub fn from_value<T: DeserializeOwned>(&self, value: LuaValue) -> LuaResult<T> {
        T::deserialize(Deserializer { value, stack: StackEnd::find() })
    }
}

impl de::Error for LuaError {
    fn custom<T: std::fmt::Display>(message: T) -> LuaError {
        LuaError::external(message.to_string())
    }
}

/// Gives a value.
struct Deserializer {
    value: LuaValue,
    stack: StackEnd,
}

/// Gives the elements of a table.
struct TableElements {
    table: LuaTable,
    next: u32,
    len: u32,
    stack: StackEnd,
}

/// Gives the keys and values of a table.
struct Entries {
    pairs: Pairs<LuaValue, LuaValue>,
    value: LuaValue,
    stack: StackEnd,
}

/// Gives a variant, and what is in it.
struct Variant {
    name: LuaValue,
    content: LuaValue,
    stack: StackEnd,
}

impl Deserializer {
    /// What gives a value that is in another one; an error if the stack ends.
    fn inner(value: LuaValue, stack: StackEnd) -> LuaResult<Deserializer> {
        if stack.is_near() { Err(LuaError::nests_too_deep()) } else { Ok(Deserializer { value, stack }) }
    }

    /// The elements of a sequence. Some may be `nil`, which end it for Lua: then the last one that there is ends it here, unless more are
    /// missing than there are.
    fn elements(table: LuaTable, stack: StackEnd) -> TableElements {
        let keys = table.pairs::<LuaValue, LuaValue>().filter_map(|pair| match pair {
            Ok((LuaValue::Number(key), _)) if key >= 1.0 && key <= u32::MAX as f64 => Some(key as u32),
            _ => None,
        });
        let (count, last) = keys.fold((0u32, 0), |(count, last), key| (count + 1, last.max(key)));
        let len = if last / 2 <= count { last } else { table.raw_len() };
        TableElements { next: 1, len, table, stack }
    }

    fn entries(table: &LuaTable, stack: StackEnd) -> Entries {
        Entries { pairs: table.pairs(), value: LuaValue::Nil, stack }
    }
}

impl<'de> de::Deserializer<'de> for Deserializer {
    type Error = LuaError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> LuaResult<V::Value> {
        match self.value {
            LuaValue::Nil => visitor.visit_unit(),
            LuaValue::Boolean(value) => visitor.visit_bool(value),
            LuaValue::Number(number) if number as i64 as f64 == number => visitor.visit_i64(number as i64),
            LuaValue::Number(number) => visitor.visit_f64(number),
            LuaValue::String(text) => match String::from_utf8(text.to_bytes()) {
                Ok(text) => visitor.visit_string(text),
                Err(error) => visitor.visit_byte_buf(error.into_bytes()),
            },
            LuaValue::Table(table) if table.raw_len() > 0 => {
                visitor.visit_seq(Deserializer::elements(table, self.stack))
            }
            LuaValue::Table(table) => visitor.visit_map(Deserializer::entries(&table, self.stack)),
            other => Err(LuaError::conversion(other.type_name(), "data")),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> LuaResult<V::Value> {
        if self.value.is_nil() { visitor.visit_none() } else { visitor.visit_some(self) }
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> LuaResult<V::Value> {
        match self.value {
            LuaValue::Table(table) => visitor.visit_seq(Deserializer::elements(table, self.stack)),
            _ => self.deserialize_any(visitor),
        }
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, len: usize, visitor: V) -> LuaResult<V::Value> {
        match self.value {
            // What is missing is `nil`.
            LuaValue::Table(table) => {
                let elements = TableElements { next: 1, len: len as u32, table, stack: self.stack };
                visitor.visit_seq(elements)
            }
            _ => self.deserialize_any(visitor),
        }
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        len: usize,
        visitor: V,
    ) -> LuaResult<V::Value> {
        self.deserialize_tuple(len, visitor)
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> LuaResult<V::Value> {
        match &self.value {
            LuaValue::Table(table) => visitor.visit_map(Deserializer::entries(table, self.stack)),
            _ => self.deserialize_any(visitor),
        }
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> LuaResult<V::Value> {
        self.deserialize_map(visitor)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> LuaResult<V::Value> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> LuaResult<V::Value> {
        let variant = match self.value {
            LuaValue::Table(table) => {
                let mut pairs = table.pairs();
                let first = pairs.next().ok_or(LuaError::conversion("empty table", "a variant"))??;
                if pairs.next().is_some() {
                    return Err(de::Error::custom(format!("a table with one key expected for {name}")));
                }
                Variant { name: first.0, content: first.1, stack: self.stack }
            }
            name => Variant { name, content: LuaValue::Nil, stack: self.stack },
        };
        visitor.visit_enum(variant)
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 char str string bytes byte_buf unit unit_struct identifier ignored_any
    }
}

impl<'de> de::SeqAccess<'de> for TableElements {
    type Error = LuaError;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> LuaResult<Option<T::Value>> {
        if self.next > self.len {
            return Ok(None);
        }
        let value = self.table.raw_get(self.next)?;
        self.next += 1;
        seed.deserialize(Deserializer::inner(value, self.stack)?).map(Some)
    }

    fn size_hint(&self) -> Option<usize> {
        Some((self.len + 1 - self.next) as usize)
    }
}

impl<'de> de::MapAccess<'de> for Entries {
    type Error = LuaError;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> LuaResult<Option<K::Value>> {
        let Some(pair) = self.pairs.next() else { return Ok(None) };
        let (key, value) = pair?;
        self.value = value;
        seed.deserialize(Deserializer::inner(key, self.stack)?).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> LuaResult<V::Value> {
        let value = std::mem::replace(&mut self.value, LuaValue::Nil);
        seed.deserialize(Deserializer::inner(value, self.stack)?)
    }
}

impl<'de> de::EnumAccess<'de> for Variant {
    type Error = LuaError;
    type Variant = Deserializer;

    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> LuaResult<(V::Value, Deserializer)> {
        let name = seed.deserialize(Deserializer { value: self.name, stack: self.stack })?;
        Ok((name, Deserializer::inner(self.content, self.stack)?))
    }
}

impl<'de> de::VariantAccess<'de> for Deserializer {
    type Error = LuaError;

    fn unit_variant(self) -> LuaResult<()> {
        match self.value {
            LuaValue::Nil => Ok(()),
            other => Err(LuaError::conversion(other.type_name(), "nothing in the variant")),
        }
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> LuaResult<T::Value> {
        seed.deserialize(self)
    }

    fn tuple_variant<V: Visitor<'de>>(self, len: usize, visitor: V) -> LuaResult<V::Value> {
        self.deserialize_tuple(len, visitor)
    }

    fn struct_variant<V: Visitor<'de>>(self, _: &'static [&'static str], visitor: V) -> LuaResult<V::Value> {
        self.deserialize_map(visitor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::{Deserialize, Serialize};
    use std::collections::BTreeMap;

    #[derive(Serialize, Deserialize, Clone, PartialEq, Debug)]
    enum Shape {
        Nothing,
        Circle(f64),
        Box(u8, i8),
        Text { text: String, at: (i32, i32) },
    }

    #[derive(Serialize, Deserialize, Clone, PartialEq, Debug)]
    struct Wrapped(u64);

    #[derive(Serialize, Deserialize, Clone, PartialEq, Debug)]
    struct All {
        shapes: Vec<Shape>,
        by_name: BTreeMap<String, Option<bool>>,
        by_number: BTreeMap<u32, char>,
        wrapped: Wrapped,
        missing: Option<String>,
        wide: i64,
    }

    #[test]
    fn what_is_serialized_comes_back() {
        let lua = Lua::new();
        let all = All {
            shapes: vec![
                Shape::Nothing,
                Shape::Circle(0.5),
                Shape::Box(255, -128),
                Shape::Text { text: "é".into(), at: (-1, 1 << 30) },
            ],
            by_name: BTreeMap::from([("yes".into(), Some(true))]),
            by_number: BTreeMap::from([(7, 'x'), (1 << 31, 'ß')]),
            wrapped: Wrapped(1 << 60),
            missing: None,
            wide: -(1 << 53),
        };
        let value = lua.to_value(&all).expect("it can be serialized");
        lua.globals().set("all", value.clone()).expect("it is a value");
        assert_eq!(lua.from_value::<All>(value).expect("it can be deserialized"), all);
        let seen = lua.load("all.shapes[1] .. #all.shapes .. all.shapes[4].Text.at[1] .. all.by_number[7]");
        assert_eq!(seen.eval::<String>().expect("the fields are there"), "Nothing4-1x");
    }

    #[test]
    fn what_does_not_fit_is_an_error() {
        let lua = Lua::new();
        assert!(lua.to_value(&(u64::MAX - 1)).is_err());
        assert!(lua.to_value(&BTreeMap::from([(None::<u8>, 1)])).is_err(), "nil is no key");
        let said = |text: &str| {
            let value = lua.load(text).eval().expect("it is an expression");
            lua.from_value::<Shape>(value).map_err(|error| error.to_string())
        };
        assert_eq!(said("{ Box = { 256, 0 } }"), Err("invalid value: integer `256`, expected u8".into()));
        assert!(said("'Square'").is_err_and(|error| error.contains("unknown variant `Square`")));
        assert_eq!(said("{ Circle = 1, Box = 2 }"), Err("a table with one key expected for Shape".into()));
        assert_eq!(said("{ Circle = print }"), Err("data expected, got function".into()));
        assert!(said("'Circle'").is_err());
        assert_eq!(said("'Nothing'"), Ok(Shape::Nothing));
    }

    /// As long as a table says.
    #[derive(Deserialize, Debug)]
    struct List {
        next: Option<Box<List>>,
    }

    /// Contains itself, in each way in which a value may be in another one.
    struct Endless(u8);

    impl Serialize for Endless {
        fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
            match self.0 {
                0 => to.collect_seq([self]),
                1 => to.collect_map([("key", self)]),
                2 => to.serialize_some(self),
                _ => to.serialize_newtype_variant("Endless", 0, "Variant", self),
            }
        }
    }

    #[test]
    fn what_nests_without_end_is_an_error() {
        let lua = Lua::new();
        let list = |text: &str| lua.from_value::<List>(lua.load(text).eval().expect("it is a table"));
        let length = |list: List| std::iter::successors(Some(&list), |list| list.next.as_deref()).count();
        assert_eq!(
            list("local t = {} for i = 2, 100 do t = { next = t } end return t").map(length).ok(),
            Some(100)
        );
        let said = list("local t = {} t.next = t return t").expect_err("it has no end").to_string();
        assert_eq!(said, "a value nests too deep, or contains itself");
        for way in 0..4 {
            assert_eq!(lua.to_value(&Endless(way)).expect_err("it has no end").to_string(), said, "{way}");
        }
        assert_eq!(lua.load("return 1").eval::<i64>().expect("the program is well"), 1);
    }
}
