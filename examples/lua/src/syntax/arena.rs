//! The memory of syntax trees.
//!
//! In: nodes, lists of them, and names. Out: references that last as long as the arena, which frees all at once. Holds: of what is in it only names
//! are dropped, and nothing else needs to be.

use super::ast::Name;
use bumpalo::Bump;
use bumpalo::collections::Vec as List;
use std::fmt;

/// How many names fit before there is more memory. Most chunks that a program makes as it runs have fewer.
const FEW_NAMES: usize = 16;

/// Where syntax trees are.
///
/// ```
/// use azulejo_lua::syntax::{Arena, parse};
///
/// let arena = Arena::default();
/// let (one, other) = (parse(&arena, b"return 1")?, parse(&arena, b"local a = 2; return a")?);
/// assert_eq!((one.locals.len(), other.locals.len()), (0, 1));
/// # Ok::<(), azulejo_lua::syntax::SyntaxError>(())
/// ```
pub struct Arena {
    nodes: Bump,
    names: typed_arena::Arena<Name>,
}

impl Default for Arena {
    fn default() -> Arena {
        Arena { nodes: Bump::new(), names: typed_arena::Arena::with_capacity(FEW_NAMES) }
    }
}

impl fmt::Debug for Arena {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Arena").field("bytes", &self.nodes.allocated_bytes()).finish_non_exhaustive()
    }
}

impl Arena {
    /// Keeps a node, or a list of a known length.
    pub(super) fn node<T>(&self, node: T) -> &T {
        const { assert!(!std::mem::needs_drop::<T>(), "nobody drops it") };
        self.nodes.alloc(node)
    }

    /// A list that grows, of which a slice is made that lasts.
    pub(super) fn list<T>(&self) -> List<'_, T> {
        const { assert!(!std::mem::needs_drop::<T>(), "nobody drops them") };
        List::new_in(&self.nodes)
    }

    /// Keeps a name.
    pub(super) fn name(&self, name: Name) -> &Name {
        self.names.alloc(name)
    }

    /// Keeps a copy of a slice.
    pub(super) fn slice<T: Copy>(&self, from: &[T]) -> &[T] {
        self.nodes.alloc_slice_copy(from)
    }
}
