//! Strings: bytes that do not change, each only once on the heap.
//!
//! In: bytes. Out: a [`Str`], which is the same object for the same bytes. So two strings are equal if their addresses are. The table of
//! all strings does not keep them alive: the collector removes what it frees.

use crate::object::heap::{Gc, Header, Heap, ObjectKind, color};
use std::cell::Cell;

/// A string on the heap. Its bytes follow, and a zero.
#[repr(C)]
#[derive(Debug)]
pub struct Str {
    header: Header,
    hash: u32,
    /// The next string with the same place in the table of strings.
    next: Cell<Option<Gc<Str>>>,
}

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
    pub fn hash(&self) -> u32 {
        self.hash
    }

    /// The bytes.
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: the bytes follow the object.
        unsafe { std::slice::from_raw_parts(std::ptr::from_ref(self).add(1).cast(), self.len()) }
    }
}

/// Eight bytes as a number.
fn word(bytes: &[u8]) -> u64 {
    u64::from_le_bytes(bytes.try_into().expect("there are eight bytes"))
}

/// The hash of bytes: of short ones all count, of long ones the first, the last, and some between. Eight bytes at a time are mixed by a
/// multiplication whose halves are put together (as in wyhash).
fn hash_of(bytes: &[u8]) -> u32 {
    /// Of longer ones not all bytes count.
    const SHORT: usize = 256;
    /// So many words between the ends of long ones count.
    const BETWEEN: usize = 16;
    let mix = |state: u64, word: u64| {
        let product = u128::from(state ^ word) * 0x9fb2_1c65_1e98_df25;
        product as u64 ^ (product >> 64) as u64
    };
    let mut state = mix(0x9e37_79b9_7f4a_7c15, bytes.len() as u64);
    match bytes.len() {
        0..8 => {
            let mut last = [0; 8];
            last[..bytes.len()].copy_from_slice(bytes);
            state = mix(state, u64::from_le_bytes(last));
        }
        8..SHORT => {
            state = bytes.chunks_exact(8).fold(state, |state, chunk| mix(state, word(chunk)));
            state = mix(state, word(&bytes[bytes.len() - 8..]));
        }
        len => {
            let ends = bytes[..SHORT / 4].chunks_exact(8).chain(bytes[len - SHORT / 4..].chunks_exact(8));
            let between = (0..BETWEEN).map(|at| &bytes[len / BETWEEN * at..][..8]);
            state = ends.chain(between).fold(state, |state, chunk| mix(state, word(chunk)));
        }
    }
    // The first byte of all has been through few multiplications.
    let last = mix(state, 0);
    (last ^ last >> 32) as u32
}

/// All strings, by hash.
#[derive(Debug)]
pub(crate) struct Strings {
    /// The first string of each place. There is a power of two of them.
    first: Vec<Option<Gc<Str>>>,
    count: usize,
}

impl Strings {
    pub(crate) fn new() -> Strings {
        Strings { first: vec![None], count: 0 }
    }

    fn place(&self, hash: u32) -> usize {
        hash as usize & (self.first.len() - 1)
    }

    fn find(&self, bytes: &[u8], hash: u32) -> Option<Gc<Str>> {
        let mut next = self.first[self.place(hash)];
        while let Some(string) = next {
            if string.hash == hash && string.bytes() == bytes {
                return Some(string);
            }
            next = string.next.get();
        }
        None
    }

    fn add(&mut self, string: Gc<Str>) {
        if self.count >= self.first.len() {
            self.grow();
        }
        let place = self.place(string.hash);
        string.next.set(self.first[place].replace(string));
        self.count += 1;
    }

    fn grow(&mut self) {
        let doubled = vec![None; 2 * self.first.len()];
        for start in std::mem::replace(&mut self.first, doubled) {
            let mut next = start;
            while let Some(string) = next {
                next = string.next.get();
                let place = self.place(string.hash);
                string.next.set(self.first[place].replace(string));
            }
        }
    }

    /// Forgets a string, whose memory is taken.
    pub(crate) fn remove(&mut self, gone: Gc<Str>) {
        let place = self.place(gone.hash);
        let mut next = self.first[place];
        if next == Some(gone) {
            self.first[place] = gone.next.get();
        } else {
            while let Some(string) = next {
                next = string.next.get();
                if next == Some(gone) {
                    string.next.set(gone.next.get());
                }
            }
        }
        self.count -= 1;
    }
}

impl Heap {
    /// The string of these bytes.
    ///
    /// # Panics
    ///
    /// If there are more than [`MAX_LEN`] bytes.
    pub fn string(&mut self, bytes: &[u8]) -> Gc<Str> {
        let hash = hash_of(bytes);
        if let Some(string) = self.strings.find(bytes, hash) {
            // It may be garbage that is not swept yet.
            if string.header.color.get() == self.garbage_color() {
                string.header.color.set(self.white());
            }
            return string;
        }
        assert!(bytes.len() <= MAX_LEN, "the string is too long");
        let memory = self.allocate(size_of::<Str>() + bytes.len() + 1);
        // SAFETY: there is so much memory.
        let string = unsafe {
            let header = Header::new(ObjectKind::String, self.white(), bytes.len() as u32);
            memory.cast::<Str>().write(Str { header, hash, next: Cell::new(None) });
            let text = memory.add(size_of::<Str>());
            text.copy_from_nonoverlapping(bytes.as_ptr(), bytes.len());
            text.add(bytes.len()).write(0);
            Gc::of(memory.cast())
        };
        self.strings.add(string);
        string
    }

    /// Keeps a string for the heap's whole life.
    pub fn permanent_string(&mut self, bytes: &[u8]) -> Gc<Str> {
        let string = self.string(bytes);
        self.keep(string.header());
        debug_assert!(string.header.color.get() != color::GRAY);
        string
    }
}
