//! Conversions between values of Rust and of Lua.

use super::{AnyUserData, Lua, LuaError, LuaFunction, LuaResult, LuaString, LuaTable, LuaThread, LuaValue};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::hash::Hash;

/// What can become a value of Lua: numbers, texts, handles and references to them, values of types that have methods, and collections of all these.
///
/// ```
/// use azulejo_lua::api::{Lua, LuaError};
/// use std::collections::BTreeSet;
///
/// let lua = Lua::new();
/// let point = lua.create_sequence_from([3, 4])?;
/// // A reference to a handle leaves the handle to whoever has it.
/// lua.globals().set("point", &point)?;
/// lua.globals().set("letters", BTreeSet::from(['a', 'b']))?;
/// let code = "assert(letters.a and not letters.c) point[3] = 5 return point";
/// assert_eq!(lua.load(code).eval::<[i64; 3]>()?, [3, 4, 5]);
/// assert_eq!(point.raw_len(), 3);
/// # Ok::<(), LuaError>(())
/// ```
pub trait IntoLua {
    /// The value.
    fn into_lua(self, lua: &Lua) -> LuaResult<LuaValue>;
}

/// What a value of Lua can become.
pub trait FromLua: Sized {
    /// Takes a value; an error if it is of a type that does not fit.
    fn from_lua(value: LuaValue, lua: &Lua) -> LuaResult<Self>;
}

/// What can become arguments or results.
pub trait IntoLuaMulti {
    /// The values.
    fn into_lua_multi(self, lua: &Lua) -> LuaResult<Vec<LuaValue>>;
}

/// What arguments or results can become. Those that are missing are `nil`, and too many do no harm.
pub trait FromLuaMulti: Sized {
    /// Takes values.
    fn from_lua_multi(values: Vec<LuaValue>, lua: &Lua) -> LuaResult<Self>;
}

/// Any number of arguments or results of one type; in a tuple, the last ones.
///
/// ```
/// use azulejo_lua::api::{Lua, LuaError, Variadic};
///
/// let lua = Lua::new();
/// let sum = lua.create_function(|_, Variadic(numbers): Variadic<f64>| Ok(numbers.iter().sum::<f64>()));
/// lua.globals().set("sum", sum)?;
/// assert_eq!(lua.load("sum(1, 2, 3, 4)").eval::<f64>()?, 10.0);
/// # Ok::<(), LuaError>(())
/// ```
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Variadic<T>(pub Vec<T>);

fn wrong<T>(value: &LuaValue, to: &'static str) -> LuaResult<T> {
    Err(LuaError::conversion(value.type_name(), to))
}

macro_rules! numbers {
    ($($ty:ident)*) => {$(
        impl IntoLua for $ty {
            fn into_lua(self, _: &Lua) -> LuaResult<LuaValue> {
                Ok(LuaValue::Number(self as f64))
            }
        }

        impl FromLua for $ty {
            fn from_lua(value: LuaValue, lua: &Lua) -> LuaResult<Self> {
                let number = f64::from_lua(value, lua)?;
                let result = number as $ty;
                // The largest of 64 bits is no float: the next one is beyond it.
                if result as f64 == number && result as i128 == number as i128 {
                    return Ok(result);
                }
                let from = match number.fract() {
                    0.0 => "number out of range",
                    _ if number.is_finite() => "number with a fraction",
                    _ => "number that is not finite",
                };
                Err(LuaError::conversion(from, stringify!($ty)))
            }
        }
    )*};
}
numbers!(i8 u8 i16 u16 i32 u32 i64 u64 isize usize);

macro_rules! floats {
    ($($ty:ident)*) => {$(
        impl IntoLua for $ty {
            fn into_lua(self, _: &Lua) -> LuaResult<LuaValue> {
                Ok(LuaValue::Number(self as f64))
            }
        }

        impl FromLua for $ty {
            fn from_lua(value: LuaValue, _: &Lua) -> LuaResult<Self> {
                match &value {
                    LuaValue::Number(number) => Ok(*number as $ty),
                    LuaValue::String(text) => match crate::number::parse(&text.to_bytes()) {
                        Some(number) => Ok(number as $ty),
                        None => wrong(&value, "number"),
                    },
                    _ => wrong(&value, "number"),
                }
            }
        }
    )*};
}
floats!(f32 f64);

impl IntoLua for bool {
    fn into_lua(self, _: &Lua) -> LuaResult<LuaValue> {
        Ok(LuaValue::Boolean(self))
    }
}

impl FromLua for bool {
    fn from_lua(value: LuaValue, _: &Lua) -> LuaResult<Self> {
        Ok(!matches!(value, LuaValue::Nil | LuaValue::Boolean(false)))
    }
}

macro_rules! bytes {
    ($($ty:ty)*) => {$(
        impl IntoLua for $ty {
            fn into_lua(self, lua: &Lua) -> LuaResult<LuaValue> {
                Ok(LuaValue::String(lua.create_string(self)))
            }
        }
    )*};
}
bytes!(&str String &String &[u8]);

impl FromLua for String {
    fn from_lua(value: LuaValue, lua: &Lua) -> LuaResult<Self> {
        let text = LuaString::from_lua(value, lua)?;
        String::from_utf8(text.to_bytes())
            .map_err(|_| LuaError::conversion("string with other bytes", "text"))
    }
}

impl FromLua for LuaString {
    fn from_lua(value: LuaValue, lua: &Lua) -> LuaResult<Self> {
        match value {
            LuaValue::String(text) => Ok(text),
            LuaValue::Number(number) => {
                let mut text = Vec::new();
                crate::number::write(number, &mut text);
                Ok(lua.create_string(text))
            }
            other => wrong(&other, "string"),
        }
    }
}

impl IntoLua for LuaValue {
    fn into_lua(self, _: &Lua) -> LuaResult<LuaValue> {
        Ok(self)
    }
}

impl FromLua for LuaValue {
    fn from_lua(value: LuaValue, _: &Lua) -> LuaResult<Self> {
        Ok(value)
    }
}

impl IntoLua for LuaString {
    fn into_lua(self, _: &Lua) -> LuaResult<LuaValue> {
        Ok(LuaValue::String(self))
    }
}

impl IntoLua for &LuaValue {
    fn into_lua(self, _: &Lua) -> LuaResult<LuaValue> {
        Ok(self.clone())
    }
}

impl IntoLua for &LuaString {
    fn into_lua(self, _: &Lua) -> LuaResult<LuaValue> {
        Ok(LuaValue::String(self.clone()))
    }
}

impl IntoLua for char {
    fn into_lua(self, lua: &Lua) -> LuaResult<LuaValue> {
        (&*self.encode_utf8(&mut [0; 4])).into_lua(lua)
    }
}

impl FromLua for char {
    fn from_lua(value: LuaValue, lua: &Lua) -> LuaResult<Self> {
        let text = String::from_lua(value, lua)?;
        let mut chars = text.chars();
        match (chars.next(), chars.next()) {
            (Some(char), None) => Ok(char),
            _ => Err(LuaError::conversion("string of another length", "one character")),
        }
    }
}

macro_rules! handles {
    ($($ty:ident $variant:ident $name:literal)*) => {$(
        impl IntoLua for &$ty {
            fn into_lua(self, _: &Lua) -> LuaResult<LuaValue> {
                Ok(LuaValue::$variant(self.clone()))
            }
        }

        impl IntoLua for $ty {
            fn into_lua(self, _: &Lua) -> LuaResult<LuaValue> {
                Ok(LuaValue::$variant(self))
            }
        }

        impl FromLua for $ty {
            fn from_lua(value: LuaValue, _: &Lua) -> LuaResult<Self> {
                match value {
                    LuaValue::$variant(value) => Ok(value),
                    other => wrong(&other, $name),
                }
            }
        }
    )*};
}
handles! {
    LuaTable Table "table"
    LuaFunction Function "function"
    LuaThread Thread "thread"
    AnyUserData UserData "userdata"
}

impl<T: IntoLua> IntoLua for Option<T> {
    fn into_lua(self, lua: &Lua) -> LuaResult<LuaValue> {
        self.map_or(Ok(LuaValue::Nil), |value| value.into_lua(lua))
    }
}

impl<T: FromLua> FromLua for Option<T> {
    fn from_lua(value: LuaValue, lua: &Lua) -> LuaResult<Self> {
        if value.is_nil() { Ok(None) } else { T::from_lua(value, lua).map(Some) }
    }
}

impl<T: IntoLua> IntoLua for Vec<T> {
    fn into_lua(self, lua: &Lua) -> LuaResult<LuaValue> {
        lua.create_sequence_from(self).map(LuaValue::Table)
    }
}

impl<T: IntoLua, const N: usize> IntoLua for [T; N] {
    fn into_lua(self, lua: &Lua) -> LuaResult<LuaValue> {
        lua.create_sequence_from(self).map(LuaValue::Table)
    }
}

impl<T: FromLua, const N: usize> FromLua for [T; N] {
    fn from_lua(value: LuaValue, lua: &Lua) -> LuaResult<Self> {
        let values = Vec::<T>::from_lua(value, lua)?;
        values.try_into().map_err(|_| LuaError::conversion("table of another length", "an array"))
    }
}

impl<T: FromLua> FromLua for Vec<T> {
    fn from_lua(value: LuaValue, lua: &Lua) -> LuaResult<Self> {
        let table = LuaTable::from_lua(value, lua)?;
        (1..=table.raw_len()).map(|key| table.raw_get(key)).collect()
    }
}

macro_rules! maps {
    ($($ty:ident ($($bound:tt)*))*) => {$(
        impl<K: IntoLua, V: IntoLua> IntoLua for $ty<K, V> {
            fn into_lua(self, lua: &Lua) -> LuaResult<LuaValue> {
                let table = lua.create_table();
                for (key, value) in self {
                    table.raw_set(key, value)?;
                }
                Ok(LuaValue::Table(table))
            }
        }

        impl<K: FromLua + $($bound)*, V: FromLua> FromLua for $ty<K, V> {
            fn from_lua(value: LuaValue, lua: &Lua) -> LuaResult<Self> {
                LuaTable::from_lua(value, lua)?.pairs().collect()
            }
        }
    )*};
}
maps! { HashMap(Eq + Hash) BTreeMap(Ord) }

/// A set is a table whose keys are in it.
macro_rules! sets {
    ($($ty:ident ($($bound:tt)*))*) => {$(
        impl<K: IntoLua> IntoLua for $ty<K> {
            fn into_lua(self, lua: &Lua) -> LuaResult<LuaValue> {
                lua.create_table_from(self.into_iter().map(|key| (key, true))).map(LuaValue::Table)
            }
        }

        impl<K: FromLua + $($bound)*> FromLua for $ty<K> {
            fn from_lua(value: LuaValue, lua: &Lua) -> LuaResult<Self> {
                let pairs = LuaTable::from_lua(value, lua)?.pairs::<K, bool>();
                pairs.filter_map(|pair| pair.map(|(key, is_in)| is_in.then_some(key)).transpose()).collect()
            }
        }
    )*};
}
sets! { HashSet(Eq + Hash) BTreeSet(Ord) }

impl<T: IntoLua> IntoLuaMulti for T {
    fn into_lua_multi(self, lua: &Lua) -> LuaResult<Vec<LuaValue>> {
        Ok(vec![self.into_lua(lua)?])
    }
}

impl<T: FromLua> FromLuaMulti for T {
    fn from_lua_multi(values: Vec<LuaValue>, lua: &Lua) -> LuaResult<Self> {
        T::from_lua(values.into_iter().next().unwrap_or(LuaValue::Nil), lua).map_err(|error| error.behind(0))
    }
}

impl<T: IntoLua> IntoLuaMulti for Variadic<T> {
    fn into_lua_multi(self, lua: &Lua) -> LuaResult<Vec<LuaValue>> {
        self.0.into_iter().map(|value| value.into_lua(lua)).collect()
    }
}

impl<T: FromLua> FromLuaMulti for Variadic<T> {
    fn from_lua_multi(values: Vec<LuaValue>, lua: &Lua) -> LuaResult<Self> {
        let values = values.into_iter().enumerate();
        let values = values.map(|(at, value)| T::from_lua(value, lua).map_err(|error| error.behind(at)));
        values.collect::<LuaResult<_>>().map(Variadic)
    }
}

impl IntoLuaMulti for () {
    fn into_lua_multi(self, _: &Lua) -> LuaResult<Vec<LuaValue>> {
        Ok(Vec::new())
    }
}

impl FromLuaMulti for () {
    fn from_lua_multi(_: Vec<LuaValue>, _: &Lua) -> LuaResult<Self> {
        Ok(())
    }
}

macro_rules! tuples {
    ($($($first:ident)+, $last:ident;)*) => {$(
        #[allow(non_snake_case, reason = "a value is called as its type")]
        impl<$($first: IntoLua,)+ $last: IntoLuaMulti> IntoLuaMulti for ($($first,)+ $last,) {
            fn into_lua_multi(self, lua: &Lua) -> LuaResult<Vec<LuaValue>> {
                let ($($first,)+ $last,) = self;
                let mut values = vec![$($first.into_lua(lua)?),+];
                values.extend($last.into_lua_multi(lua)?);
                Ok(values)
            }
        }

        #[allow(non_snake_case, reason = "a value is called as its type")]
        impl<$($first: FromLua,)+ $last: FromLuaMulti> FromLuaMulti for ($($first,)+ $last,) {
            fn from_lua_multi(values: Vec<LuaValue>, lua: &Lua) -> LuaResult<Self> {
                let (mut values, mut before) = (values.into_iter(), 0);
                $(
                    let $first = $first::from_lua(values.next().unwrap_or(LuaValue::Nil), lua);
                    let $first = $first.map_err(|error| error.behind(before))?;
                    before += 1;
                )+
                let $last = $last::from_lua_multi(values.collect(), lua);
                let $last = $last.map_err(|error| error.behind(before))?;
                Ok(($($first,)+ $last,))
            }
        }
    )*};
}
tuples! {
    A, B;
    A B, C;
    A B C, D;
    A B C D, E;
    A B C D E, F;
    A B C D E F, G;
    A B C D E F G, H;
}
