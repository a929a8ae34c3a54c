//! The types of imports and exports, formatted as in the text format.

use std::fmt;
use wasmparser::{FuncType, GlobalType, MemoryType, RefType, TableType, ValType};

/// The type of an import, or of an item that can be imported.
pub(crate) enum Type<'a> {
    Func(&'a FuncType),
    Table(TableType),
    Memory(MemoryType),
    Global(GlobalType),
}

/// Formats limits: a minimum, and possibly a maximum.
fn limits(f: &mut fmt::Formatter<'_>, least: u64, most: Option<u64>) -> fmt::Result {
    match most {
        Some(most) => write!(f, "{least} {most}"),
        None => write!(f, "{least}"),
    }
}

fn types(f: &mut fmt::Formatter<'_>, keyword: &str, types: &[ValType]) -> fmt::Result {
    if types.is_empty() {
        return Ok(());
    }
    write!(f, " ({keyword}")?;
    types.iter().try_for_each(|&ty| write!(f, " {}", name(ty)))?;
    f.write_str(")")
}

/// The name of a value type, abbreviated for references that have an abbreviation.
fn name(ty: ValType) -> String {
    match ty {
        ValType::Ref(RefType::FUNCREF) => "funcref".into(),
        ValType::Ref(RefType::EXTERNREF) => "externref".into(),
        ty => ty.to_string(),
    }
}

impl fmt::Display for Type<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Type::Func(ty) => {
                f.write_str("(func")?;
                types(f, "param", ty.params())?;
                types(f, "result", ty.results())?;
            }
            Type::Table(ty) => {
                f.write_str("(table ")?;
                limits(f, ty.initial, ty.maximum)?;
                write!(f, " {}", name(ValType::Ref(ty.element_type)))?;
            }
            Type::Memory(ty) => {
                f.write_str("(memory ")?;
                limits(f, ty.initial, ty.maximum)?;
            }
            Type::Global(ty) if ty.mutable => write!(f, "(global (mut {})", name(ty.content_type))?,
            Type::Global(ty) => write!(f, "(global {}", name(ty.content_type))?,
        }
        f.write_str(")")
    }
}
