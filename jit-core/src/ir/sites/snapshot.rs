//! The sites of a function at one moment, for a compiler on another thread.
//!
//! In: the memory of sites. Out: a copy of it, in which values are found by the addresses that they had.

use core::mem::MaybeUninit;

/// The sites of a function at one moment.
#[derive(Clone, Debug)]
pub struct SiteSnapshot {
    pub(super) address: u64,
    pub(super) words: Vec<MaybeUninit<u64>>,
}

impl SiteSnapshot {
    /// The value of this many bytes at an address; `None` if that is in no site.
    ///
    /// # Safety
    ///
    /// If it is in a site, it must be one of the numbers in the header or in a field of a case, and not in padding.
    pub unsafe fn read(&self, address: u64, bytes: u32) -> Option<u64> {
        let at = usize::try_from(address.checked_sub(self.address)?).ok()?;
        let end = at.checked_add(bytes as usize)?;
        if end > size_of_val(&*self.words) || bytes as usize > size_of::<u64>() {
            return None;
        }
        let from = self.words.as_ptr().cast::<u8>().wrapping_add(at);
        // SAFETY: the bytes are in the list, and have values.
        Some(unsafe { zero_extended(from, bytes as usize) })
    }
}

/// The value of up to eight bytes.
///
/// # Safety
///
/// The bytes must have values, and nobody may change them meanwhile.
pub(super) unsafe fn zero_extended(from: *const u8, bytes: usize) -> u64 {
    let mut value = [0; size_of::<u64>()];
    let before = if cfg!(target_endian = "big") { value.len() - bytes } else { 0 };
    // SAFETY: the caller guarantees it.
    unsafe { from.copy_to_nonoverlapping(value[before..].as_mut_ptr(), bytes) };
    u64::from_ne_bytes(value)
}
