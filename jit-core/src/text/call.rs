//! The descriptions of calls as text.
//!
//! In: a call's description, or its words. Out: the words, or the description.

use super::parse::{Parsed, constant};
use crate::ir::graph::{CallData, CallMemory, CallTarget, Effect};
use crate::ir::regions::MemoryRegions;
use crate::ir::template::{Convention, Signature};
use crate::vocab::Type;
use core::fmt::{self, Write};

/// What stands in front of the set of regions that a call changes.
const CHANGES: &str = "changes:";

/// Writes a call's description.
pub(super) fn print(out: &mut String, call: &CallData) -> fmt::Result {
    match call.effect {
        Effect::Pure => out.push_str(" pure"),
        Effect::Leaf => out.push_str(" leaf"),
        Effect::Memory => {}
        Effect::Observes => out.push_str(" observes"),
    }
    if call.memory.makes {
        out.push_str(" makes");
    }
    if call.memory.changes != MemoryRegions::ALL {
        write!(out, " {CHANGES}{:#x}", call.memory.changes.bits())?;
    }
    match call.target {
        CallTarget::Direct(address) => write!(out, " {address:#x}")?,
        CallTarget::Indirect => out.push_str(" indirect"),
    }
    out.push_str(match call.signature.convention {
        Convention::C => " c",
        Convention::SysV64 => " sysv64",
        Convention::Win64 => " win64",
        Convention::Bytecode => " bytecode",
    });
    out.push_str(" (");
    for (at, ty) in call.signature.args.iter().enumerate() {
        write!(out, "{}{ty}", if at > 0 { " " } else { "" })?;
    }
    out.push(')');
    Ok(())
}

/// Reads the words of a call with a result of this type.
pub(super) fn read<'a>(
    words: &mut core::iter::Peekable<impl Iterator<Item = &'a str>>,
    ret: Type,
) -> Parsed<CallData> {
    let effect = match words.peek() {
        Some(&"pure") => Effect::Pure,
        Some(&"leaf") => Effect::Leaf,
        Some(&"observes") => Effect::Observes,
        _ => Effect::Memory,
    };
    words.next_if(|_| effect != Effect::Memory);
    let makes = words.next_if_eq(&"makes").is_some();
    let changes = match words.next_if(|word| word.starts_with(CHANGES)) {
        Some(word) => MemoryRegions::of_bits(constant(Type::I64, &word[CHANGES.len()..])? as u32),
        None => MemoryRegions::ALL,
    };
    let target = match words.next() {
        Some("indirect") => CallTarget::Indirect,
        Some(word) => CallTarget::Direct(constant(Type::I64, word)?),
        None => return Err("the callee is missing".into()),
    };
    let convention = match words.next() {
        Some("c") => Convention::C,
        Some("sysv64") => Convention::SysV64,
        Some("win64") => Convention::Win64,
        Some("bytecode") => Convention::Bytecode,
        other => return Err(format!("expected a convention, found `{}`", other.unwrap_or(""))),
    };
    let mut args = Vec::new();
    while let Some(arg) = words.peek().and_then(|word| Type::from_name(word)) {
        args.push(arg);
        words.next();
    }
    let signature = Signature { convention, args: args.leak(), ret };
    Ok(CallData { target, signature, effect, memory: CallMemory { changes, makes } })
}
