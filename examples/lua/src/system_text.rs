//! Texts of Lua as the system has them: names of files, arguments and variables of the environment.
//!
//! In: bytes. Out: what the system's functions take; it ends at a zero, as it does for C's Lua. On Unix that is the same bytes. Elsewhere the system's texts are Unicode: bytes
//! are UTF-8, and what is not is replaced.

use crate::number::until_zero;
use std::ffi::OsString;

/// The system's text of these bytes.
#[cfg(unix)]
pub(crate) fn system_text(bytes: &[u8]) -> OsString {
    std::os::unix::ffi::OsStringExt::from_vec(until_zero(bytes).to_vec())
}

#[cfg(not(unix))]
pub(crate) fn system_text(bytes: &[u8]) -> OsString {
    String::from_utf8_lossy(until_zero(bytes)).into_owned().into()
}
