//! Cached values as numbers, so that a bytecode's reads are compared with what is cached by a subtraction each.
//!
//! In: an operand of a bytecode that may be cached ([`CacheKey`]). Out: a [`CachedNumber`]. Holds afterwards: two numbers are equal only if
//! kind and VM register are.

use super::operand::{Here, LowWord, Operand};
use azulejo_core::pass::build::CachedValue;
use azulejo_core::vocab::Type;

/// A cached value as a number: its kind in the upper half, its VM register in the lower. Different numbers are different values.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct CachedNumber(u64);

impl CachedNumber {
    /// No cached value.
    pub(super) const NOTHING: CachedNumber = CachedNumber(u64::MAX);

    /// The VM register; for [`NOTHING`](CachedNumber::NOTHING), a number that no register has.
    pub(super) fn register(self) -> u32 {
        self.0 as u32
    }

    /// Whether it is a float of 64 bits.
    #[inline(always)]
    pub(super) fn is_float(self) -> bool {
        (self.0 >> 32) as u32 == Type::F64 as u32
    }

    /// Makes it [`NOTHING`](CachedNumber::NOTHING), without a branch.
    #[inline(always)]
    pub(super) fn forget_if(&mut self, is_lost: bool) {
        self.0 |= (is_lost as u64).wrapping_neg();
    }
}

impl Default for CachedNumber {
    fn default() -> CachedNumber {
        CachedNumber::NOTHING
    }
}

/// The kind in a key that matches no cached value, and the kind of a cached value that no key matches.
pub(super) const NEVER: u32 = u32::MAX - 1;
pub(super) const UNKNOWN: u32 = u32::MAX;

/// Computes a [`CachedNumber`] from a bytecode.
#[derive(Clone, Copy, Debug)]
pub(super) struct CacheKey {
    /// The number added to the word: the kind of value, and for slots of the operand stack their distance from the top.
    add: u64,
    word: LowWord,
    /// The bits of the kind that a comparison ignores.
    free: u32,
}

impl CacheKey {
    /// A key of a kind that no value of a VM register has.
    pub(super) const fn of_kind(kind: u32, word: LowWord) -> CacheKey {
        CacheKey { add: (kind as u64) << 32, word, free: 0 }
    }

    pub(super) fn new(carry: CachedValue, operands: &[Operand]) -> CacheKey {
        let (word, add) =
            operands[carry.operand as usize].word().expect("VM registers have numbers of 32 bits");
        let kind = carry.ty as u32;
        let others = [Type::I64, Type::F64].into_iter().filter(|other| carry.reads(*other));
        let free = others.fold(0, |free, other| free | (kind ^ other as u32));
        // The bits of a float are not those of another integer, so a key reads at most one other kind. What it seems to read besides is
        // never cached.
        debug_assert!(Type::ALL.iter().all(|other| {
            let fits = (kind ^ *other as u32) & !free == 0;
            fits == carry.reads(*other) || matches!(other, Type::I16 | Type::Void)
        }));
        CacheKey { add: ((kind as u64) << 32).wrapping_add_signed(add as i64), word, free }
    }

    /// # Safety
    ///
    /// As for [`LowWord::read`].
    #[inline(always)]
    pub(super) unsafe fn of<const STACK: bool>(self, here: Here<'_>) -> CachedNumber {
        // SAFETY: the caller guarantees it.
        CachedNumber(unsafe { self.word.read::<STACK>(here) as u64 }.wrapping_add(self.add))
    }

    /// Whether the cached value is the one that the key describes.
    ///
    /// # Safety
    ///
    /// As for [`LowWord::read`].
    #[inline(always)]
    pub(super) unsafe fn fits<const STACK: bool>(self, here: Here<'_>, held: CachedNumber) -> bool {
        // SAFETY: the caller guarantees it.
        let differs = unsafe { self.of::<STACK>(here) }.0 ^ held.0;
        differs & !((self.free as u64) << 32) == 0
    }
}
