//! Strings: bytes that do not change, each only once on the heap.
//!
//! In: bytes. Out: a [`Str`], which is the same object for the same bytes. So two strings are equal if their addresses are. The set of
//! all strings does not keep them alive: the collector removes what it frees. Strings of one byte stay once they are there.

pub(crate) use super::string_set::Strings;

use crate::object::heap::{Gc, Header, Heap, ObjectKind, color, refused};
use std::cell::Cell;

/// A string on the heap. Its bytes follow, and a zero. The lower half of its hash are the flags of the header.
#[repr(C)]
#[derive(Debug)]
pub struct Str {
    header: Header,
    /// The address of the next string with the same place in the set of strings, and in the upper bits the upper half of the hash.
    next: Cell<u64>,
}

/// The bits of an address.
const ADDRESS: u64 = (1 << 48) - 1;

// Whoever copies a short string counts on that.
const _: () = assert!(size_of::<Str>() == 16);

/// The longest string.
pub const MAX_LEN: usize = i32::MAX as usize;

impl Str {
    /// How many bytes there are.
    pub fn len(&self) -> usize {
        self.header.len.get() as usize
    }

    /// Whether there are no bytes.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The hash of the bytes.
    #[inline(always)]
    pub fn hash(&self) -> u32 {
        u32::from(self.header.flags.get()) | (self.next.get() >> 48 << 16) as u32
    }

    /// The next string with the same place in the set of strings.
    #[inline(always)]
    pub(super) fn next(&self) -> Option<Gc<Str>> {
        let address = self.next.get() & ADDRESS;
        // SAFETY: strings are removed from the set before they are freed.
        (address != 0).then(|| unsafe { Gc::at(address) })
    }

    #[inline(always)]
    pub(super) fn set_next(&self, next: Option<Gc<Str>>) {
        self.next.set(self.next.get() & !ADDRESS | next.map_or(0, Gc::address));
    }

    /// Appends the bytes to others. Most texts are short, and a copy whose length is known is much quicker for these.
    #[inline]
    pub(crate) fn append_to(&self, out: &mut Vec<u8>) {
        /// So many bytes are behind each string's header, whatever is in them: what an object takes is a multiple of this.
        const SHORT: usize = 16;
        let (len, end) = (self.len(), out.len());
        if len > SHORT {
            return out.extend_from_slice(self.bytes());
        }
        out.reserve(SHORT);
        // SAFETY: there is room for so many bytes behind the end, and so many are behind the header. Those that become part of the vector
        // are the string's.
        unsafe {
            let text: *const u8 = std::ptr::from_ref(self).add(1).cast();
            out.as_mut_ptr().add(end).copy_from_nonoverlapping(text, SHORT);
            out.set_len(end + len);
        }
    }

    /// The bytes.
    #[inline(always)]
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: the bytes follow the object.
        unsafe { std::slice::from_raw_parts(std::ptr::from_ref(self).add(1).cast(), self.len()) }
    }
}

/// Numbers whose bits are well mixed.
const START: u64 = 0x9e37_79b9_7f4a_7c15;
const FACTOR: u64 = 0x9fb2_1c65_1e98_df25;

/// Mixes a word into a state: the halves of a product are put together (as in wyhash).
#[inline(always)]
fn mix(state: u64, word: u64) -> u64 {
    let product = u128::from(state ^ word) * u128::from(FACTOR);
    product as u64 ^ (product >> 64) as u64
}

/// The hash of bytes. All of them count, but for long texts.
#[inline(always)]
fn hash_of(bytes: &[u8]) -> u32 {
    let len = bytes.len();
    let start = START.wrapping_add(len as u64);
    let state = if let (Some(first), Some(last)) = (bytes.first_chunk(), bytes.last_chunk()) {
        match len {
            0..=16 => mix(mix(start, u64::from_le_bytes(*first)), u64::from_le_bytes(*last)),
            _ => hash_of_many(start, bytes),
        }
    } else if let (Some(first), Some(last)) = (bytes.first_chunk(), bytes.last_chunk()) {
        mix(start, u64::from(u32::from_le_bytes(*first)) | u64::from(u32::from_le_bytes(*last)) << 32)
    } else {
        // At most three bytes.
        let byte = |at: usize| bytes.get(at).map_or(0, |byte| u64::from(*byte));
        mix(start, byte(0) | byte(1) << 8 | byte(2) << 16)
    };
    (state ^ state >> 32) as u32
}

/// Mixes more than 16 bytes into a state. Of many the first and the last count, and some between.
#[inline(never)]
fn hash_of_many(start: u64, bytes: &[u8]) -> u64 {
    /// Of longer ones not all bytes count.
    const SHORT: usize = 256;
    /// So many words between the ends of long ones count.
    const BETWEEN: usize = 16;
    let word = |bytes: &[u8]| u64::from_le_bytes(bytes.try_into().expect("there are eight bytes"));
    let len = bytes.len();
    if len < SHORT {
        // Every second word goes its own way, so that no product waits for the one before.
        let pairs = bytes[..len - 1].chunks_exact(16);
        let (even, odd) = pairs.fold((start, FACTOR), |(even, odd), pair| {
            (mix(even, word(&pair[..8])), mix(odd, word(&pair[8..])))
        });
        let last = &bytes[len - 16..];
        return mix(mix(even, word(&last[..8])), mix(odd, word(&last[8..])));
    }
    let ends = bytes[..SHORT / 4].chunks_exact(8).chain(bytes[len - SHORT / 4..].chunks_exact(8));
    let between = (0..BETWEEN).map(|at| &bytes[len / BETWEEN * at..][..8]);
    ends.chain(between).fold(start, |state, chunk| mix(state, word(chunk)))
}

impl Heap {
    /// The string of these bytes. Ends the process if there is no memory for it: see [`try_string`](Heap::try_string).
    ///
    /// # Panics
    ///
    /// If there are more than [`MAX_LEN`] bytes.
    #[inline]
    pub fn string(&mut self, bytes: &[u8]) -> Gc<Str> {
        self.try_string(bytes).unwrap_or_else(|| refused(bytes.len()))
    }

    /// Likewise; nothing if there is no memory for a long one.
    ///
    /// # Panics
    ///
    /// If there are more than [`MAX_LEN`] bytes.
    pub fn try_string(&mut self, bytes: &[u8]) -> Option<Gc<Str>> {
        let (found, hash) = match *bytes {
            [] => (self.strings.empty(), 0),
            [byte] => (self.strings.single(byte), hash_of(bytes)),
            _ => {
                let hash = hash_of(bytes);
                (self.strings.find(bytes, hash), hash)
            }
        };
        match found {
            Some(string) => {
                self.revive(string);
                Some(string)
            }
            None => self.new_string(bytes, hash),
        }
    }

    /// The string of one byte.
    #[inline]
    pub fn single(&mut self, byte: u8) -> Gc<Str> {
        match self.strings.single(byte) {
            Some(string) => {
                self.revive(string);
                string
            }
            None => self.new_string(&[byte], hash_of(&[byte])).expect("it is short"),
        }
    }

    /// A string that was found may be garbage that is not swept yet.
    #[inline(always)]
    fn revive(&self, string: Gc<Str>) {
        if string.header.color.get() == self.garbage_color() {
            string.header.color.set(self.white());
        }
    }

    /// Makes a string that is not there, if there is memory.
    #[inline(never)]
    fn new_string(&mut self, bytes: &[u8], hash: u32) -> Option<Gc<Str>> {
        assert!(bytes.len() <= MAX_LEN, "the string is too long");
        let memory = self.try_allocate(size_of::<Str>() + bytes.len() + 1)?;
        // SAFETY: there is so much memory.
        let string = unsafe {
            let header = Header::new(ObjectKind::String, self.white(), bytes.len() as u32);
            header.flags.set(hash as u16);
            memory.cast::<Str>().write(Str { header, next: Cell::new(u64::from(hash >> 16) << 48) });
            let text = memory.add(size_of::<Str>());
            text.copy_from_nonoverlapping(bytes.as_ptr(), bytes.len());
            text.add(bytes.len()).write(0);
            Gc::of(memory.cast())
        };
        self.strings.add(string);
        if bytes.len() == 1 {
            // Code that takes characters out of texts has these by their byte.
            self.keep(string.header());
        }
        Some(string)
    }

    /// Keeps a string for the heap's whole life.
    pub fn permanent_string(&mut self, bytes: &[u8]) -> Gc<Str> {
        let string = self.string(bytes);
        self.keep(string.header());
        debug_assert!(string.header.color.get() != color::GRAY);
        string
    }
}
