//! The cases of sites as text, for people who look at a compilation.
//!
//! In: the address of a case, of a type that only the macros know. Out: what its [`Debug`] says; of a type without that, a mark.

use core::fmt::{self, Debug, Formatter};

/// Writes the case at an address.
///
/// # Safety
///
/// At the address must be a case of the type that the function was made for.
pub type WriteCase = unsafe fn(*const u8, &mut Formatter<'_>) -> fmt::Result;

/// What stands for a case of which nothing is known.
const MARK: &str = "…";

/// Writes a mark in place of a case, of which there need not be any.
pub(super) fn write_mark(_case: *const u8, f: &mut Formatter<'_>) -> fmt::Result {
    f.write_str(MARK)
}

/// A case. The macros call `write` on a reference to it; then the trait is [`DebugCase`] if the type has [`Debug`], and else
/// [`OpaqueCase`], which takes one reference more.
#[derive(Debug)]
pub struct CaseRef<'a, T>(pub &'a T);

/// Cases of types with [`Debug`].
pub trait DebugCase {
    /// Writes the case.
    fn write(&self, f: &mut Formatter<'_>) -> fmt::Result;
}

/// Cases of any type.
pub trait OpaqueCase {
    /// Writes a mark in place of the case.
    fn write(&self, f: &mut Formatter<'_>) -> fmt::Result;
}

impl<T: Debug> DebugCase for CaseRef<'_, T> {
    fn write(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<T> OpaqueCase for &CaseRef<'_, T> {
    fn write(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(MARK)
    }
}
