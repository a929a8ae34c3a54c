//! What the library of strings computes, on bytes and numbers alone.
//!
//! In: texts and numbers as the machine has them. Out: texts, ranges and errors whose texts are those of the C implementation.
//! Nothing here knows of values, tables or calls. A pattern is compiled once ([`Pattern`], with [`Patterns`] to remember some),
//! and a [`Matcher`] tries it; [`Gsub`] goes through all matches of a text. A [`Spec`] is one item of a format.

mod class;
mod format;
mod gsub;
mod matcher;
mod pattern;
pub mod transform;

pub use format::{Conversion, FormatError, Spec, put_literal};
pub use gsub::{Gsub, gsub, put_replacement};
pub use matcher::{Captured, Match, Matcher, find_plain};
pub use pattern::{MAX_CAPTURES, Pattern, PatternError, Patterns, is_plain};

use std::collections::TryReserveError;

/// Makes room at the end of a text that may become too long for the system's memory: more than is needed, if there is that much.
#[inline]
pub(crate) fn make_room(text: &mut Vec<u8>, more: usize) -> Result<(), TryReserveError> {
    match text.capacity() - text.len() >= more {
        true => Ok(()),
        false => text.try_reserve(more).or_else(|_| text.try_reserve_exact(more)),
    }
}
