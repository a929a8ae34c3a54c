//! Short lists in static data.
//!
//! Holds: a list that fits is in line. So the steps of templates have no pointers, and nothing has to be done with their memory when a
//! process starts, wherever its code is loaded.

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
pub enum List<T: 'static, const N: usize> {
    /// The first items are the list's.
    Few(u8, [T; N]),
    /// More than fit.
    Many(&'static &'static [T]),
}

/// Values of a template, by number.
pub type Refs = List<u16, 7>;
/// Operands, by number.
pub type Operands = List<u8, 14>;
/// Types.
pub type Types = List<Type, 14>;

impl<T, const N: usize> List<T, N> {
    /// The items.
    pub const fn as_slice(&self) -> &[T] {
        match self {
            List::Few(count, items) => items.split_at(*count as usize).0,
            List::Many(items) => items,
        }
    }
}

macro_rules! lists {
    ($($list:ident of $item:ty;)*) => { $(
        impl $list {
            /// A list that is in line.
            ///
            /// # Panics
            ///
            /// If there are too many items for that.
            pub const fn of(items: &[$item]) -> $list {
                let List::Few(_, mut few) = $list::EMPTY else { unreachable!() };
                assert!(items.len() <= few.len(), "the list is too long");
                let mut at = 0;
                while at < items.len() {
                    few[at] = items[at];
                    at += 1;
                }
                List::Few(items.len() as u8, few)
            }
        }
    )* };
}

impl Refs {
    /// The list without items.
    pub const EMPTY: Refs = List::Few(0, [0; 7]);
}

impl Operands {
    /// The list without items.
    pub const EMPTY: Operands = List::Few(0, [0; 14]);
}

impl Types {
    /// The list without items.
    pub const EMPTY: Types = List::Few(0, [Type::Void; 14]);
}

lists! {
    Refs of u16;
    Operands of u8;
    Types of Type;
}

impl<T, const N: usize> Deref for List<T, N> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        self.as_slice()
    }
}

impl<T: fmt::Debug, const N: usize> fmt::Debug for List<T, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_slice().fmt(f)
    }
}
