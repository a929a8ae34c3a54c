//! Typed indices into arenas.

/// Defines an index type: a `u32` that identifies one kind of item. It is printed with a prefix of its own.
///
/// ```
/// azulejo_core::ir::index::index! {
///     /// A cell of a table.
///     pub Cell, "cell"
/// }
/// assert_eq!([Cell(7), Cell::NONE].map(|cell| cell.to_string()), ["cell7", "-"]);
/// assert!(Cell(7).at() == 7 && !Cell::NONE.is_some());
/// ```
#[macro_export]
macro_rules! index {
    ($(#[doc = $doc:literal])* $vis:vis $name:ident, $word:literal) => {
        $(#[doc = $doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        $vis struct $name($vis u32);

        #[allow(dead_code, reason = "not every index can be absent, and some are only compared")]
        impl $name {
            /// The absence of an index.
            $vis const NONE: $name = $name(u32::MAX);

            /// The index as a position in an arena.
            #[inline(always)]
            $vis const fn at(self) -> usize {
                self.0 as usize
            }

            /// Whether this is not [`NONE`](Self::NONE).
            #[inline(always)]
            $vis const fn is_some(self) -> bool {
                self.0 != u32::MAX
            }
        }

        impl Default for $name {
            fn default() -> $name {
                $name::NONE
            }
        }

        impl From<usize> for $name {
            #[inline(always)]
            fn from(at: usize) -> $name {
                $name(at as u32)
            }
        }

        impl core::fmt::Display for $name {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                if self.is_some() { write!(f, concat!($word, "{}"), self.0) } else { f.write_str("-") }
            }
        }

        impl core::fmt::Debug for $name {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                core::fmt::Display::fmt(self, f)
            }
        }
    };
}
pub use index;

index! {
    /// A node of a graph: a value, an effect or a block's end.
    pub Node, "v"
}
index! {
    /// A block of a graph, a schedule and a tile list, with the same number in each.
    pub Block, "b"
}
index! {
    /// A loop of a schedule and a tile list, with the same number in each.
    pub Loop, "l"
}
index! {
    /// A virtual register, which a tile reads or writes before register allocation.
    pub Vreg, "r"
}
index! {
    /// An instruction of a tile list.
    pub InstId, "i"
}
index! {
    /// A live range: virtual registers that share a place.
    pub LiveRange, "range"
}
index! {
    /// A spill slot of 8 bytes.
    pub Slot, "slot"
}

impl InstId {
    /// The instruction after this one.
    #[inline(always)]
    pub const fn next(self) -> InstId {
        InstId(self.0 + 1)
    }
}

impl From<Slot> for u32 {
    fn from(slot: Slot) -> u32 {
        slot.0
    }
}

/// A run of entries in a pool.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct List {
    /// The position of its first entry.
    pub start: u32,
    /// How many entries it has.
    pub len: u32,
}

impl List {
    /// No entries.
    pub const EMPTY: List = List { start: 0, len: 0 };

    /// The positions in the pool.
    #[inline(always)]
    pub const fn range(self) -> core::ops::Range<usize> {
        self.start as usize..(self.start + self.len) as usize
    }

    /// Appends `items` to a pool and returns their place.
    #[inline]
    pub fn push<T: Copy>(pool: &mut Vec<T>, items: &[T]) -> List {
        let start = pool.len() as u32;
        // Most lists are short. Pushing their items one by one is faster than calling a copying function.
        match *items {
            [] => {}
            [only] => pool.push(only),
            [first, second] => pool.extend([first, second]),
            _ => pool.extend_from_slice(items),
        }
        List { start, len: items.len() as u32 }
    }
}
