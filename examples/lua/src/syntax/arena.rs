//! The memory of syntax trees.
//!
//! In: nodes, lists of them, and names. Out: references that last as long as the arena, which frees all at once. Holds: of what is in it only names
//! are dropped, and nothing else needs to be.

use super::ast::Name;
use super::error::{SyntaxError, SyntaxErrorKind};
use bumpalo::Bump;
use bumpalo::collections::Vec as List;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// How many names fit before there is more memory. Most chunks that a program makes as it runs have fewer.
const FEW_NAMES: usize = 16;

/// What ends a parser that has too much to do.
///
/// ```
/// use azulejo_lua::syntax::{Arena, Bounds, SyntaxErrorKind, parse};
///
/// let text = "x = 1 ".repeat(10_000);
/// let arena = Arena::within(Bounds { bytes: 100_000, ..Bounds::default() });
/// let error = parse(&arena, text.as_bytes()).unwrap_err();
/// assert_eq!((error.kind, error.text(b"=x")), (SyntaxErrorKind::TooLarge, b"not enough memory".to_vec()));
/// assert!(parse(&Arena::default(), text.as_bytes()).is_ok());
/// ```
#[derive(Clone, Debug)]
pub struct Bounds {
    /// So many bytes trees may take.
    pub bytes: usize,
    /// While this is true nothing is parsed.
    pub stop: Option<Arc<AtomicBool>>,
}

impl Default for Bounds {
    fn default() -> Bounds {
        Bounds { bytes: usize::MAX, stop: None }
    }
}

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
    bounds: Bounds,
    nodes: Bump,
    names: typed_arena::Arena<Name>,
}

impl Default for Arena {
    fn default() -> Arena {
        Arena::within(Bounds::default())
    }
}

impl fmt::Debug for Arena {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Arena").field("bytes", &self.nodes.allocated_bytes()).finish_non_exhaustive()
    }
}

impl Arena {
    /// An arena for trees within bounds.
    pub fn within(bounds: Bounds) -> Arena {
        Arena { bounds, nodes: Bump::new(), names: typed_arena::Arena::with_capacity(FEW_NAMES) }
    }

    /// Fails if the bounds are reached.
    #[inline]
    pub(super) fn check(&self) -> Result<(), SyntaxError> {
        let is_stopped = |stop: &Arc<AtomicBool>| stop.load(Relaxed);
        match () {
            () if self.nodes.allocated_bytes() > self.bounds.bytes => {
                Err(SyntaxError::of_reader(SyntaxErrorKind::TooLarge))
            }
            () if self.bounds.stop.as_ref().is_some_and(is_stopped) => {
                Err(SyntaxError::of_reader(SyntaxErrorKind::Stopped))
            }
            () => Ok(()),
        }
    }

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
