//! The source text, as far as it is there.
//!
//! In: a text, or somebody who gives it piece by piece. Out: its bytes. Holds: a piece is asked for when its first byte is looked at, and nobody is
//! asked again who has said that there are no more.

use std::fmt;

/// Appends the next piece of a text; returns whether there was one.
pub type Pieces<'a> = &'a mut dyn FnMut(&mut Vec<u8>) -> bool;

/// A text, some of which may be missing yet.
pub(super) struct Text<'a> {
    bytes: Vec<u8>,
    more: Option<Pieces<'a>>,
}

impl fmt::Debug for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Text").field("bytes", &self.bytes.len()).finish_non_exhaustive()
    }
}

impl<'a> Text<'a> {
    /// A text that begins so.
    pub(super) fn new(start: &[u8], more: Option<Pieces<'a>>) -> Text<'a> {
        Text { bytes: start.to_vec(), more }
    }

    /// The byte at an index; `None` behind the end.
    #[inline]
    pub(super) fn get(&mut self, at: usize) -> Option<u8> {
        match self.bytes.get(at) {
            Some(byte) => Some(*byte),
            None => self.read_up_to(at),
        }
    }

    #[cold]
    fn read_up_to(&mut self, at: usize) -> Option<u8> {
        while let Some(more) = &mut self.more
            && self.bytes.len() <= at
        {
            if !more(&mut self.bytes) {
                self.more = None;
            }
        }
        self.bytes.get(at).copied()
    }

    /// What was read so far.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }
}
