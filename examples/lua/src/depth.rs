//! How deep code may call itself.
//!
//! In: the machine stack that runs. Out: whether its end is near. Who reads a text calls itself as deep as the text nests, and the thread may
//! have a small stack, or none left after many calls.

/// The end of a stack.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StackEnd {
    /// The lowest address that is far enough from it; zero if nobody knows the end.
    lowest: usize,
}

impl StackEnd {
    /// So many bytes are left for what calls nothing that is as deep as the text. What rustc has not optimized takes more.
    const ROOM: usize = if cfg!(debug_assertions) { 64 << 10 } else { 24 << 10 };

    /// That of the stack that runs.
    pub(crate) fn find() -> StackEnd {
        let lowest = azulejo::stack_left().map_or(0, |left| (here() + StackEnd::ROOM).saturating_sub(left));
        StackEnd { lowest }
    }

    /// Whether little is left. It has to be asked on the stack that this was found for.
    #[inline]
    pub(crate) fn is_near(self) -> bool {
        here() < self.lowest
    }
}

/// An address close to the stack pointer.
#[inline(always)]
fn here() -> usize {
    let here = 0u8;
    (&raw const here).addr()
}
