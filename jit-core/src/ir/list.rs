//! Short lists in static data.
//!
//! Holds: a list that fits is in line. So the steps of templates have no pointers but to lists that are very long, and nothing has to be
//! done with their memory when a process starts, wherever its code is loaded.

use crate::vocab::Type;
use core::fmt;
use core::ops::Deref;

/// A list in static data.
///
/// ```
/// use azulejo_core::ir::list::Refs;
///
/// const SUM: Refs = Refs::of(&[3, 4]);
/// assert_eq!(*SUM, [3, 4]);
/// ```
#[derive(Clone, Copy)]
pub enum ShortList<T: 'static, const N: usize> {
    /// The first items are the list's.
    Few(u8, [T; N]),
    /// More than fit.
    Many(&'static &'static [T]),
}

/// Values of a template, by number.
pub type Refs = ShortList<u16, 7>;
/// Operands, by number.
pub type OperandList = ShortList<u8, 14>;
/// Types.
pub type TypeList = ShortList<Type, 14>;

impl<T, const N: usize> ShortList<T, N> {
    /// How many items fit in line.
    pub const FITS: usize = N;

    /// The items.
    pub const fn as_slice(&self) -> &[T] {
        match self {
            ShortList::Few(count, items) => items.split_at(*count as usize).0,
            ShortList::Many(items) => items,
        }
    }
}

impl<T: Copy, const N: usize> ShortList<T, N> {
    /// A list in line, of which the places that are left have this filler.
    const fn in_line(items: &[T], filler: T) -> Self {
        assert!(items.len() <= N, "the list is too long");
        let mut few = [filler; N];
        let mut at = 0;
        while at < items.len() {
            few[at] = items[at];
            at += 1;
        }
        ShortList::Few(items.len() as u8, few)
    }
}

impl Refs {
    /// A list in line.
    ///
    /// # Panics
    ///
    /// If there are too many items for that.
    pub const fn of(items: &[u16]) -> Refs {
        Refs::in_line(items, 0)
    }
}

impl TypeList {
    /// The list without items.
    pub const EMPTY: TypeList = TypeList::in_line(&[], Type::Void);
}

impl<T, const N: usize> Deref for ShortList<T, N> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        self.as_slice()
    }
}

impl<T: fmt::Debug, const N: usize> fmt::Debug for ShortList<T, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_slice().fmt(f)
    }
}
