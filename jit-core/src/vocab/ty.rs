//! The types of values.
//!
//! [`Scalar`] is the type that a user writes in a template: a Rust scalar with a sign. [`Type`] is the type that the passes
//! and the machine see: a width and a register class. A scalar's sign only decides how a narrow value is widened.

use core::fmt;

/// The register file a value lives in.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
#[repr(u8)]
pub enum Class {
    /// General purpose registers.
    Int,
    /// Floating point registers.
    Float,
}

/// A type as the passes and the machine see it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
#[repr(u8)]
pub enum Type {
    /// An 8-bit integer.
    I8,
    /// A 16-bit integer.
    I16,
    /// A 32-bit integer.
    I32,
    /// A 64-bit integer or a pointer.
    I64,
    /// A 32-bit IEEE float.
    F32,
    /// A 64-bit IEEE float.
    F64,
    /// The outcome of a comparison. It lives in no register: it is consumed where it is produced.
    Flag,
    /// No value.
    Void,
}

impl Type {
    /// Every type, in the order of the discriminants.
    pub const ALL: [Type; 8] =
        [Type::I8, Type::I16, Type::I32, Type::I64, Type::F32, Type::F64, Type::Flag, Type::Void];
    /// The integer types, narrow to wide.
    pub const INTS: [Type; 4] = [Type::I8, Type::I16, Type::I32, Type::I64];
    /// The float types, narrow to wide.
    pub const FLOATS: [Type; 2] = [Type::F32, Type::F64];

    /// Width in bytes; a flag counts as one byte, `Void` as none.
    pub const fn bytes(self) -> u32 {
        match self {
            Type::I8 | Type::Flag => 1,
            Type::I16 => 2,
            Type::I32 | Type::F32 => 4,
            Type::I64 | Type::F64 => 8,
            Type::Void => 0,
        }
    }

    /// Width in bits.
    pub const fn bits(self) -> u32 {
        self.bytes() * 8
    }

    /// Whether this is one of the integer types.
    pub const fn is_int(self) -> bool {
        matches!(self, Type::I8 | Type::I16 | Type::I32 | Type::I64)
    }

    /// Whether this is one of the float types.
    pub const fn is_float(self) -> bool {
        matches!(self, Type::F32 | Type::F64)
    }

    /// Whether a value of this type can live in a register.
    pub const fn is_value(self) -> bool {
        self.is_int() || self.is_float()
    }

    /// The register class of a value of this type.
    pub const fn class(self) -> Class {
        if self.is_float() { Class::Float } else { Class::Int }
    }

    /// A number with ones in the bits of this type.
    pub const fn mask(self) -> u64 {
        match self.bits() {
            0 => 0,
            64 => u64::MAX,
            _ if matches!(self, Type::Flag) => 1,
            bits => (1 << bits) - 1,
        }
    }

    /// The bits of `value` that fit this type; the rest are zero. Every constant is kept in this form.
    pub const fn truncate(self, value: u64) -> u64 {
        value & self.mask()
    }

    /// The value of an integer of this type, read as signed.
    pub const fn signed(self, bits: u64) -> i64 {
        let unused = 64 - self.bits();
        ((bits << unused) as i64) >> unused
    }

    /// The name in dumps, patterns and templates.
    pub const fn name(self) -> &'static str {
        match self {
            Type::I8 => "i8",
            Type::I16 => "i16",
            Type::I32 => "i32",
            Type::I64 => "i64",
            Type::F32 => "f32",
            Type::F64 => "f64",
            Type::Flag => "flag",
            Type::Void => "void",
        }
    }

    /// The type with this [`name`](Type::name).
    pub fn from_name(name: &str) -> Option<Type> {
        Type::ALL.into_iter().find(|ty| ty.name() == name)
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A type as it is spelled in templates and opcode enums.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(u8)]
#[allow(missing_docs, reason = "each variant is the Rust scalar of its own name")]
pub enum Scalar {
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    I64,
    U64,
    /// An address.
    Ptr,
    F32,
    F64,
}

impl Scalar {
    /// Every scalar.
    pub const ALL: [Scalar; 11] = [
        Scalar::I8,
        Scalar::U8,
        Scalar::I16,
        Scalar::U16,
        Scalar::I32,
        Scalar::U32,
        Scalar::I64,
        Scalar::U64,
        Scalar::Ptr,
        Scalar::F32,
        Scalar::F64,
    ];

    /// The machine type of a value of this scalar.
    pub const fn ty(self) -> Type {
        match self {
            Scalar::I8 | Scalar::U8 => Type::I8,
            Scalar::I16 | Scalar::U16 => Type::I16,
            Scalar::I32 | Scalar::U32 => Type::I32,
            Scalar::I64 | Scalar::U64 | Scalar::Ptr => Type::I64,
            Scalar::F32 => Type::F32,
            Scalar::F64 => Type::F64,
        }
    }

    /// Whether a narrow value of this scalar is widened with its sign bit.
    pub const fn is_signed(self) -> bool {
        matches!(self, Scalar::I8 | Scalar::I16 | Scalar::I32 | Scalar::I64)
    }

    /// The name in templates.
    pub const fn name(self) -> &'static str {
        match self {
            Scalar::I8 => "i8",
            Scalar::U8 => "u8",
            Scalar::I16 => "i16",
            Scalar::U16 => "u16",
            Scalar::I32 => "i32",
            Scalar::U32 => "u32",
            Scalar::I64 => "i64",
            Scalar::U64 => "u64",
            Scalar::Ptr => "ptr",
            Scalar::F32 => "f32",
            Scalar::F64 => "f64",
        }
    }

    /// The scalar that is spelled `name` in templates.
    pub fn from_name(name: &str) -> Option<Scalar> {
        Scalar::ALL.into_iter().find(|scalar| scalar.name() == name)
    }
}

impl fmt::Display for Scalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
