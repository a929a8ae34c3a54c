//! Values.

use super::handle::{Handle, Lua};
use super::{AnyUserData, LuaError, LuaFunction, LuaResult, LuaTable, LuaThread};
use crate::object::value::{Type, Value};

/// A string of Lua: bytes.
#[derive(Clone, PartialEq, Debug)]
pub struct LuaString(pub(super) Handle);

impl LuaString {
    /// The bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        self.0.value().as_string().map(|text| text.bytes().to_vec()).unwrap_or_default()
    }

    /// The text, if it is one; what is no UTF-8 is replaced.
    pub fn to_text(&self) -> String {
        String::from_utf8_lossy(&self.to_bytes()).into_owned()
    }
}

/// Any value.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub enum LuaValue {
    /// `nil`
    Nil,
    /// `true` or `false`
    Boolean(bool),
    /// A number.
    Number(f64),
    /// A string.
    String(LuaString),
    /// A table.
    Table(LuaTable),
    /// A function.
    Function(LuaFunction),
    /// A coroutine.
    Thread(LuaThread),
    /// A value of Rust.
    UserData(AnyUserData),
}

impl LuaValue {
    /// What `type` calls it.
    pub fn type_name(&self) -> &'static str {
        match self {
            LuaValue::Nil => "nil",
            LuaValue::Boolean(_) => "boolean",
            LuaValue::Number(_) => "number",
            LuaValue::String(_) => "string",
            LuaValue::Table(_) => "table",
            LuaValue::Function(_) => "function",
            LuaValue::Thread(_) => "thread",
            LuaValue::UserData(_) => "userdata",
        }
    }

    /// Whether it is `nil`.
    pub fn is_nil(&self) -> bool {
        *self == LuaValue::Nil
    }

    /// The number, if it is one.
    ///
    /// ```
    /// use azulejo_lua::api::{Lua, LuaValue};
    ///
    /// let lua = Lua::new();
    /// let value: LuaValue = lua.load("return { 6 * 7, 'text', true }").eval()?;
    /// let table = value.as_table().expect("it is one");
    /// let values = table.sequence_values::<LuaValue>().collect::<Result<Vec<_>, _>>()?;
    /// assert_eq!(values[0].as_number(), Some(42.0));
    /// assert_eq!(values[1].as_string().map(|text| text.to_text()), Some("text".into()));
    /// assert_eq!((values[1].as_number(), values[2].as_bool()), (None, Some(true)));
    /// # Ok::<(), azulejo_lua::api::LuaError>(())
    /// ```
    pub fn as_number(&self) -> Option<f64> {
        if let LuaValue::Number(number) = self { Some(*number) } else { None }
    }

    /// The boolean, if it is one.
    pub fn as_bool(&self) -> Option<bool> {
        if let LuaValue::Boolean(value) = self { Some(*value) } else { None }
    }

    /// The string, if it is one.
    pub fn as_string(&self) -> Option<&LuaString> {
        if let LuaValue::String(text) = self { Some(text) } else { None }
    }

    /// The table, if it is one.
    pub fn as_table(&self) -> Option<&LuaTable> {
        if let LuaValue::Table(table) = self { Some(table) } else { None }
    }

    /// The function, if it is one.
    pub fn as_function(&self) -> Option<&LuaFunction> {
        if let LuaValue::Function(function) = self { Some(function) } else { None }
    }

    /// The value of Rust, if it is one.
    pub fn as_userdata(&self) -> Option<&AnyUserData> {
        if let LuaValue::UserData(userdata) = self { Some(userdata) } else { None }
    }

    /// The bits.
    pub(super) fn bits(&self, lua: &Lua) -> LuaResult<Value> {
        let handle = match self {
            LuaValue::Nil => return Ok(Value::NIL),
            LuaValue::Boolean(value) => return Ok(Value::bool(*value)),
            LuaValue::Number(value) => return Ok(Value::number(*value)),
            LuaValue::String(LuaString(handle))
            | LuaValue::Table(LuaTable(handle))
            | LuaValue::Function(LuaFunction(handle))
            | LuaValue::Thread(LuaThread(handle))
            | LuaValue::UserData(AnyUserData(handle)) => handle,
        };
        match lua.owns(handle) {
            true => Ok(handle.value()),
            false => Err(LuaError::OtherProgram),
        }
    }
}

impl Lua {
    /// The value that has these bits.
    pub(super) fn value(&self, value: Value) -> LuaValue {
        match value.type_of() {
            Type::Nil => LuaValue::Nil,
            Type::Boolean => LuaValue::Boolean(value == Value::TRUE),
            Type::Number => LuaValue::Number(f64::from_bits(value.0)),
            Type::String => LuaValue::String(LuaString(self.keep(value))),
            Type::Table => LuaValue::Table(LuaTable(self.keep(value))),
            Type::Function => LuaValue::Function(LuaFunction(self.keep(value))),
            Type::Thread => LuaValue::Thread(LuaThread(self.keep(value))),
            Type::Userdata | Type::LightUserdata => LuaValue::UserData(AnyUserData(self.keep(value))),
        }
    }

    /// Makes a string.
    pub fn create_string(&self, bytes: impl AsRef<[u8]>) -> LuaString {
        LuaString(self.keep(self.make(|vm| Value::string(vm.heap.string(bytes.as_ref())))))
    }
}
