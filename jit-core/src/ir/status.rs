//! The reason why compiled code was left: the first of the two words that it returns.

/// A reason, which is the upper half of the word.
///
/// ```
/// use azulejo_core::ir::status::Left;
/// let word = Left::Exited.word(7);
/// assert_eq!(word, 1 << 32 | 7);
/// assert_eq!(Left::of(word), Some(Left::Exited));
/// assert_eq!(Left::of(u64::MAX), None);
/// ```
#[repr(u32)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Left {
    /// The function has returned; the second word is its result.
    Returned = 0,
    /// The interpreter resumes at the bytecode in the lower half.
    Exited = 1,
    /// The function failed with the trap in the lower half. The second word is the bytecode.
    Trapped = 2,
    /// Another function takes this one's place: the one that is recorded in the engine's `Host`.
    Tailed = 3,
    /// Like [`Exited`](Left::Exited), from code for an inner loop: control has reached the head of a loop around it.
    MovedOn = 5,
    /// Like [`Exited`](Left::Exited), in front of a slow path that the code leaves out because it had never run.
    Missed = 9,
    /// Like [`Exited`](Left::Exited), from the middle of an inlined function. That and the callers around it run to their ends first; only
    /// then does the function go on.
    Inlined = 17,
}

impl Left {
    /// All reasons.
    pub const ALL: [Left; 7] = [
        Left::Returned,
        Left::Exited,
        Left::Trapped,
        Left::Tailed,
        Left::MovedOn,
        Left::Missed,
        Left::Inlined,
    ];

    /// The word with this reason and `lower` as its lower half.
    pub const fn word(self, lower: u32) -> u64 {
        (self as u64) << 32 | lower as u64
    }

    /// The reason with which an exit leaves whose constant this is: the bytecode, and the bits of the reason but for those of
    /// [`Exited`](Left::Exited).
    ///
    /// ```
    /// use azulejo_core::ir::status::Left;
    /// assert_eq!(Left::of_exit(7), Some(Left::Exited));
    /// assert_eq!(Left::of_exit(8 << 32 | 7), Some(Left::Missed));
    /// ```
    pub fn of_exit(to: u64) -> Option<Left> {
        Left::of(Left::Exited.word(0) | to)
    }

    /// The reason that a word contains.
    pub fn of(word: u64) -> Option<Left> {
        Left::ALL.into_iter().find(|left| *left as u64 == word >> 32)
    }
}
