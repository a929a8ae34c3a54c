//! Values in 64 bits.
//!
//! A number is itself. Everything else is in the bits of NaNs that arithmetic does not make: those from `0xfff9 << 48` on. The upper 16
//! bits say which type it is, the lower 48 are an address, or tell `nil`, `false` and `true` apart.

use crate::object::function::Userdata;
use crate::object::heap::{Gc, Header, ObjectKind};
use crate::object::string::Str;
use crate::object::table::Table;
use std::fmt;

/// The bits of `nil`.
pub const NIL: u64 = 0xfff9 << 48;
/// The bits of `false`. Nothing else but `nil` is false in a condition.
pub const FALSE: u64 = NIL + 1;
/// The bits of `true`.
pub const TRUE: u64 = NIL + 2;
/// The bits that stand for no value at all, where a slot may have none.
pub const ABSENT: u64 = NIL + 3;
/// An address that the program only compares.
pub const LIGHT: u64 = 0xfffa << 48;
/// The first of the types whose values are on the heap.
pub const STRING: u64 = 0xfffb << 48;
/// The address of a coroutine is added to this.
pub const THREAD: u64 = 0xfffc << 48;
/// The address of a function is added to this.
pub const FUNCTION: u64 = 0xfffd << 48;
/// The address of a userdata is added to this.
pub const USERDATA: u64 = 0xfffe << 48;
/// The address of a table is added to this: nothing is above, so that one comparison finds tables.
pub const TABLE: u64 = 0xffff << 48;

/// The bits of an address.
const ADDRESS: u64 = (1 << 48) - 1;

/// A value.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(transparent)]
pub struct Value(pub u64);

/// The type of a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Type {
    /// `nil`
    Nil,
    /// `boolean`
    Boolean,
    /// `number`
    Number,
    /// `string`
    String,
    /// `table`
    Table,
    /// `function`
    Function,
    /// `userdata`
    Userdata,
    /// `userdata` that is only an address
    LightUserdata,
    /// `thread`
    Thread,
}

impl Type {
    /// All types, in order.
    pub const ALL: [Type; 9] = [
        Type::Nil,
        Type::Boolean,
        Type::Number,
        Type::String,
        Type::Table,
        Type::Function,
        Type::Userdata,
        Type::LightUserdata,
        Type::Thread,
    ];

    /// What `type` calls it.
    pub fn name(self) -> &'static str {
        match self {
            Type::Nil => "nil",
            Type::Boolean => "boolean",
            Type::Number => "number",
            Type::String => "string",
            Type::Table => "table",
            Type::Function => "function",
            Type::Userdata | Type::LightUserdata => "userdata",
            Type::Thread => "thread",
        }
    }
}

impl Value {
    /// `nil`
    pub const NIL: Value = Value(NIL);
    /// `true`
    pub const TRUE: Value = Value(TRUE);
    /// `false`
    pub const FALSE: Value = Value(FALSE);
    /// No value at all.
    pub const ABSENT: Value = Value(ABSENT);

    /// A number. A NaN from outside arithmetic becomes one that arithmetic makes, with the same sign.
    pub fn number(value: f64) -> Value {
        let bits = value.to_bits();
        Value(if value.is_nan() { bits & 1 << 63 | 0x7ff8 << 48 } else { bits })
    }

    /// Whether two values are equal without a look at metatables: numbers by their value, all else by identity.
    pub fn is_raw_equal(self, other: Value) -> bool {
        match (self.as_number(), other.as_number()) {
            (Some(a), Some(b)) => a == b,
            _ => self == other,
        }
    }

    /// `true` or `false`.
    pub fn bool(value: bool) -> Value {
        Value(FALSE + value as u64)
    }

    /// An object.
    pub fn object<T>(tag: u64, object: Gc<T>) -> Value {
        Value(tag | object.address())
    }

    /// A string.
    pub fn string(string: Gc<Str>) -> Value {
        Value::object(STRING, string)
    }

    /// A table.
    pub fn table(table: Gc<Table>) -> Value {
        Value::object(TABLE, table)
    }

    /// Its type.
    pub fn type_of(self) -> Type {
        match self.0 >> 48 {
            0xfff9 if self.0 == NIL => Type::Nil,
            0xfff9 => Type::Boolean,
            0xfffa => Type::LightUserdata,
            0xfffb => Type::String,
            0xfffc => Type::Thread,
            0xfffd => Type::Function,
            0xfffe => Type::Userdata,
            0xffff => Type::Table,
            _ => Type::Number,
        }
    }

    /// Whether it is `nil`.
    pub fn is_nil(self) -> bool {
        self.0 == NIL
    }

    /// Whether it is true in a condition.
    pub fn is_true(self) -> bool {
        self.0.wrapping_sub(NIL) > 1
    }

    /// Whether it is a number.
    pub fn is_number(self) -> bool {
        self.0 < NIL
    }

    /// The number, if it is one.
    pub fn as_number(self) -> Option<f64> {
        self.is_number().then(|| f64::from_bits(self.0))
    }

    /// The number as an integer, if it is one and nothing of it is lost.
    pub fn as_integer(self) -> Option<i64> {
        let number = self.as_number()?;
        let integer = number as i64;
        (integer as f64 == number && integer != i64::MAX).then_some(integer)
    }

    /// The string, if it is one.
    pub fn as_string(self) -> Option<Gc<Str>> {
        self.as_object(STRING)
    }

    /// The table, if it is one.
    pub fn as_table(self) -> Option<Gc<Table>> {
        self.as_object(TABLE)
    }

    /// The userdata, if it is one.
    pub(crate) fn as_userdata(self) -> Option<Gc<Userdata>> {
        self.as_object(USERDATA)
    }

    /// The object, if the value is one with this tag.
    pub fn as_object<T>(self, tag: u64) -> Option<Gc<T>> {
        // SAFETY: a value with the tag is an object of that type.
        (self.0 & !ADDRESS == tag).then(|| unsafe { Gc::at(self.0 & ADDRESS) })
    }

    /// The object's header, if it is one on the heap.
    pub fn header(self) -> Option<Gc<Header>> {
        // SAFETY: all objects start with a header.
        (self.0 >= STRING).then(|| unsafe { Gc::at(self.0 & ADDRESS) })
    }

    /// The kind of object, if it is one on the heap.
    pub fn object_kind(self) -> Option<ObjectKind> {
        self.header().map(|header| header.kind())
    }
}

impl fmt::Debug for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.type_of() {
            Type::Nil => f.write_str("nil"),
            Type::Boolean => write!(f, "{}", *self == Value::TRUE),
            Type::Number => write!(f, "{}", f64::from_bits(self.0)),
            Type::String => {
                let text = self.as_string().expect("it is a string");
                write!(f, "{:?}", String::from_utf8_lossy(text.bytes()))
            }
            other => write!(f, "{}: {:#x}", other.name(), self.0 & ADDRESS),
        }
    }
}
