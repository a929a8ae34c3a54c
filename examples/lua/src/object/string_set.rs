//! All strings of a heap, by their bytes.
//!
//! In: bytes and their hash. Out: the string that has them, if there is one. The set keeps no string alive: the collector removes what it
//! frees.
//!
//! Strings with the same place are linked. A place is a word with the address of the first of them, some bits of its hash, and whether
//! others follow. So a search for what is not there mostly looks at no string: most texts that programs make are new. Strings of one byte,
//! and the empty one, are found without a hash, and are in no place.

use super::string::Str;
use crate::object::heap::Gc;

/// A place without strings.
const FREE: u64 = 0;
/// The bit of places with more than one string.
const MORE: u64 = 1 << 48;
/// The bits of a place that are bits of a hash.
const TAG: u64 = !(MORE - 1) & !MORE;
/// So many places there are at least.
const LEAST: usize = 64;

/// All strings of a heap.
#[derive(Debug)]
pub(crate) struct Strings {
    /// A power of two of places.
    places: Vec<u64>,
    /// How many strings are in places.
    count: usize,
    /// The strings of one byte.
    single: Box<[Option<Gc<Str>>; 256]>,
    empty: Option<Gc<Str>>,
}

/// The bits of a hash that are in a place.
#[inline(always)]
fn tag_of(hash: u32) -> u64 {
    u64::from(hash) << 32 & TAG
}

/// The place whose first string this is.
#[inline(always)]
fn word_of(first: Option<Gc<Str>>) -> u64 {
    let Some(first) = first else { return FREE };
    first.address() | tag_of(first.hash()) | if first.next().is_some() { MORE } else { 0 }
}

/// The first string of a place.
#[inline(always)]
fn first_of(word: u64) -> Option<Gc<Str>> {
    // SAFETY: strings are removed before they are freed.
    (word != FREE).then(|| unsafe { Gc::at(word & (MORE - 1)) })
}

/// Whether two texts are the same. Most are short, and calls for these would take longer than they do.
#[inline(always)]
fn is_same(a: &[u8], b: &[u8]) -> bool {
    /// The first and the last bytes as numbers: together all, if there are at most twice as many.
    macro_rules! ends {
        ($text:expr, $number:ty) => {{
            let (first, last) = ($text.first_chunk(), $text.last_chunk());
            first
                .zip(last)
                .map(|(first, last)| (<$number>::from_ne_bytes(*first), <$number>::from_ne_bytes(*last)))
        }};
    }
    match (a.len(), b.len()) {
        (x, y) if x != y => false,
        (8..=16, _) => ends!(a, u64) == ends!(b, u64),
        (4..8, _) => ends!(a, u32) == ends!(b, u32),
        (2..4, _) => ends!(a, u16) == ends!(b, u16),
        _ => a == b,
    }
}

impl Strings {
    pub(crate) fn new() -> Strings {
        Strings { places: vec![FREE; LEAST], count: 0, single: Box::new([None; 256]), empty: None }
    }

    /// The string of one byte, if there is one.
    #[inline(always)]
    pub(super) fn single(&self, byte: u8) -> Option<Gc<Str>> {
        self.single[byte as usize]
    }

    /// The string without bytes, if there is one.
    #[inline(always)]
    pub(super) fn empty(&self) -> Option<Gc<Str>> {
        self.empty
    }

    #[inline(always)]
    fn place(&mut self, hash: u32) -> &mut u64 {
        let mask = self.places.len() - 1;
        // SAFETY: the mask keeps it within the places.
        unsafe { self.places.get_unchecked_mut(hash as usize & mask) }
    }

    /// The string of two or more bytes.
    #[inline(always)]
    pub(super) fn find(&mut self, bytes: &[u8], hash: u32) -> Option<Gc<Str>> {
        let word = *self.place(hash);
        if (word ^ tag_of(hash)) & TAG != 0 && word & MORE == 0 {
            return None;
        }
        let mut next = first_of(word);
        while let Some(string) = next {
            if string.hash() == hash && is_same(string.bytes(), bytes) {
                return Some(string);
            }
            next = string.next();
        }
        None
    }

    /// Adds a string, which is not there.
    pub(super) fn add(&mut self, string: Gc<Str>) {
        match *string.bytes() {
            [] => self.empty = Some(string),
            [byte] => self.single[byte as usize] = Some(string),
            _ => {
                // If most places have a string, many have two.
                if self.count >= self.places.len() / 4 * 3 {
                    self.grow();
                }
                self.count += 1;
                self.put(string);
            }
        }
    }

    /// Makes a string the first of its place.
    #[inline(always)]
    fn put(&mut self, string: Gc<Str>) {
        let place = self.place(string.hash());
        string.set_next(first_of(*place));
        *place = word_of(Some(string));
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self) {
        let doubled = vec![FREE; 2 * self.places.len()];
        for word in std::mem::replace(&mut self.places, doubled) {
            let mut next = first_of(word);
            while let Some(string) = next {
                next = string.next();
                self.put(string);
            }
        }
    }

    /// Forgets a string, whose memory is taken.
    #[inline]
    pub(crate) fn remove(&mut self, gone: Gc<Str>) {
        match *gone.bytes() {
            [] => self.empty = None,
            [byte] => self.single[byte as usize] = None,
            _ => {
                self.count -= 1;
                let place = self.place(gone.hash());
                *place = match first_of(*place).filter(|first| *first != gone) {
                    None => word_of(gone.next()),
                    Some(first) => {
                        let mut before = first;
                        while let Some(string) = before.next().filter(|string| *string != gone) {
                            before = string;
                        }
                        before.set_next(gone.next());
                        word_of(Some(first))
                    }
                };
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::object::heap::{Heap, Marker, Trace};
    use crate::object::value::Value;
    use std::collections::HashMap;

    struct Roots<'a>(&'a HashMap<Vec<u8>, Value>);

    impl Trace for Roots<'_> {
        fn trace(&self, marker: &mut Marker<'_>) {
            self.0.values().for_each(|value| marker.value(*value));
        }
    }

    /// Texts of all lengths, some of which differ in one byte only.
    fn text(number: usize) -> Vec<u8> {
        let mut text = vec![b'x'; number % 41];
        if let Some(at) = number.checked_rem(text.len()) {
            text[at] = (number / 41) as u8;
        }
        text
    }

    /// Random strings come, stay and go while the collector works: whichever stays is found by its bytes, as the same object.
    #[test]
    fn strings_are_found_as_long_as_they_are_reached() {
        for (seed, spread) in [(1, 300), (2, 5_000), (3, 60_000)] {
            let (mut heap, mut kept) = (Heap::new(), HashMap::new());
            let mut random: u64 = seed;
            for step in 0..60_000 {
                random =
                    random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                let text = text((random >> 33) as usize % spread);
                let string = heap.string(&text);
                assert_eq!(string.bytes(), text);
                assert_eq!(*kept.get(&text).unwrap_or(&Value::string(string)), Value::string(string));
                match random >> 60 {
                    0..6 => drop(kept.insert(text, Value::string(string))),
                    6..11 => drop(kept.remove(&text)),
                    _ => {}
                }
                if step % 64 == 0 {
                    heap.step_for(4096, &Roots(&kept));
                }
                if step % 20_000 == 0 {
                    heap.collect(&Roots(&kept));
                }
            }
            kept.iter().for_each(|(text, value)| assert_eq!(Value::string(heap.string(text)), *value));
            heap.collect(&Roots(&kept));
            heap.collect(&Roots(&kept));
            let strings = &heap.strings;
            let is_short = |text: &&Vec<u8>| text.len() < 2;
            // The heap has some of its own.
            assert!(strings.count >= kept.len() - kept.keys().filter(is_short).count());
            assert!(strings.count <= kept.len() + 8, "{} of {}", strings.count, kept.len());
            // Each place knows the first of its strings, and whether there are more.
            for word in &strings.places {
                assert_eq!(*word, super::word_of(super::first_of(*word)));
            }
            kept.clear();
            heap.collect(&Roots(&kept));
            heap.collect(&Roots(&kept));
            let used = heap.strings.places.iter().filter(|word| **word != super::FREE).count();
            assert!(heap.strings.count < 8 && used < 8, "{used} places");
        }
    }

    /// Strings that come and go need no more places than those that are there at once.
    #[test]
    fn the_set_does_not_grow_by_what_is_freed() {
        let (mut heap, none) = (Heap::new(), HashMap::new());
        for number in 0..400_000 {
            heap.string(format!("text {number}").as_bytes());
            if number % 1000 == 0 {
                heap.collect(&Roots(&none));
            }
        }
        assert!(heap.strings.places.len() <= 4096, "{} places", heap.strings.places.len());
    }

    #[test]
    fn single_bytes_come_and_go() {
        let (mut heap, mut kept) = (Heap::new(), HashMap::new());
        for byte in 0..=255 {
            let string = heap.string(&[byte]);
            assert_eq!((string.bytes(), heap.string(&[byte])), (&[byte][..], string));
            if byte % 3 == 0 {
                kept.insert(vec![byte], Value::string(string));
            }
        }
        let empty = heap.string(b"");
        assert_eq!(heap.string(b""), empty);
        // One that is garbage, and not swept yet, is taken back.
        for _ in 0..100 {
            heap.step_for(1024, &Roots(&kept));
            let string = heap.string(b"z");
            assert_eq!(string.bytes(), b"z");
        }
        heap.collect(&Roots(&kept));
        heap.collect(&Roots(&kept));
        let there = heap.strings.single.iter().flatten().count();
        assert_eq!((there, heap.strings.empty), (kept.len(), None));
        kept.iter().for_each(|(text, value)| assert_eq!(Value::string(heap.string(text)), *value));
        assert_eq!(heap.string(&[1]).bytes(), [1]);
    }
}
