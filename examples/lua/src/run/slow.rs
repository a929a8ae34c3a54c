//! What bytecode leaves to Rust: all that is not quick.
//!
//! In: the operands of an opcode. Out: what the opcode gives, or an error value in the context.

pub(crate) use super::calls::*;
pub(crate) use super::elements::{get_element, set_element};
pub(crate) use super::fields::*;
pub(crate) use super::hooks::*;
pub(crate) use super::makers::*;
pub(crate) use super::operators::*;
pub(crate) use super::profile::take_sample;

pub(crate) use crate::number::power;

use crate::object::value::Value;

/// Values in a row.
///
/// # Safety
///
/// So many must be there.
pub(super) unsafe fn values<'a>(first: *const u64, count: u64) -> &'a [Value] {
    match count {
        0 => &[],
        // SAFETY: the caller guarantees it.
        _ => unsafe { std::slice::from_raw_parts(first.cast(), count as usize) },
    }
}
