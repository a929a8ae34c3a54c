//! All strings of a heap, by their bytes.
//!
//! In: bytes and their hash. Out: the string that has them, if there is one. The set keeps no string alive: the collector removes what it
//! frees.
//!
//! A place is one word with the address of a string and half of its hash, so that a search looks at hardly any string but the one that
//! it finds. A search goes from the place that the hash names to the next free one. Strings of one byte, and the empty one, are found
//! without a hash, and are in no place.
//!
//! **Invariant:** between the place that a string's hash names and its own none is free. Where a string was is free only if the place
//! behind it is.

use super::string::Str;
use crate::object::heap::Gc;

/// A place that is free.
const FREE: u64 = 0;
/// A place whose string was removed. No string has this address.
const REMOVED: u64 = 1;
/// The bits of an address.
const ADDRESS: u64 = (1 << 48) - 1;
/// So many places there are at least.
const LEAST: usize = 64;

/// All strings of a heap.
#[derive(Debug)]
pub(crate) struct Strings {
    /// A power of two of places, some of which are free.
    places: Vec<u64>,
    /// How many strings are in places.
    count: usize,
    /// How many places are not free.
    used: usize,
    /// The strings of one byte.
    single: Box<[Option<Gc<Str>>; 256]>,
    empty: Option<Gc<Str>>,
}

/// What is in a place: half of the hash, and the address.
fn word_of(string: Gc<Str>) -> u64 {
    u64::from(string.hash() >> 16) << 48 | string.address()
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
        Strings { places: vec![FREE; LEAST], count: 0, used: 0, single: Box::new([None; 256]), empty: None }
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

    /// The string of two or more bytes.
    #[inline(always)]
    pub(super) fn find(&self, bytes: &[u8], hash: u32) -> Option<Gc<Str>> {
        let mask = self.places.len() - 1;
        let mut place = hash as usize & mask;
        loop {
            // SAFETY: the mask keeps it within the places.
            let word = unsafe { *self.places.get_unchecked(place) };
            if word == FREE {
                return None;
            }
            if word >> 48 == u64::from(hash >> 16) && word != REMOVED {
                // SAFETY: strings are removed before they are freed.
                let string = unsafe { Gc::<Str>::at(word & ADDRESS) };
                if is_same(string.bytes(), bytes) {
                    return Some(string);
                }
            }
            place = (place + 1) & mask;
        }
    }

    /// Adds a string, which is not there.
    pub(super) fn add(&mut self, string: Gc<Str>) {
        match *string.bytes() {
            [] => self.empty = Some(string),
            [byte] => self.single[byte as usize] = Some(string),
            _ => {
                if self.used >= self.places.len() / 8 * 5 {
                    self.make_anew();
                }
                self.put(string);
            }
        }
    }

    /// Puts a string into the first place that has none.
    fn put(&mut self, string: Gc<Str>) {
        let mask = self.places.len() - 1;
        let mut place = string.hash() as usize & mask;
        while self.places[place] > REMOVED {
            place = (place + 1) & mask;
        }
        self.used += usize::from(self.places[place] == FREE);
        self.count += 1;
        self.places[place] = word_of(string);
    }

    /// Makes more places, or as many without what was removed.
    #[cold]
    #[inline(never)]
    fn make_anew(&mut self) {
        let len = self.places.len();
        let len = if self.count > len / 8 * 3 { 2 * len } else { len };
        let before = std::mem::replace(&mut self.places, vec![FREE; len]);
        (self.count, self.used) = (0, 0);
        for word in before.into_iter().filter(|word| *word > REMOVED) {
            // SAFETY: strings are removed before they are freed.
            self.put(unsafe { Gc::at(word & ADDRESS) });
        }
    }

    /// Forgets a string, whose memory is taken.
    pub(crate) fn remove(&mut self, gone: Gc<Str>) {
        match *gone.bytes() {
            [] => self.empty = None,
            [byte] => self.single[byte as usize] = None,
            _ => self.take(gone),
        }
    }

    fn take(&mut self, gone: Gc<Str>) {
        let (mask, word) = (self.places.len() - 1, word_of(gone));
        let mut place = gone.hash() as usize & mask;
        while self.places[place] != word {
            debug_assert!(self.places[place] != FREE, "the string is there");
            place = (place + 1) & mask;
        }
        self.count -= 1;
        self.places[place] = REMOVED;
        if self.places[(place + 1) & mask] != FREE {
            return;
        }
        // No search that comes here goes on.
        while self.places[place] == REMOVED {
            self.places[place] = FREE;
            self.used -= 1;
            place = place.wrapping_sub(1) & mask;
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
            let used = strings.places.iter().filter(|word| **word != super::FREE).count();
            assert_eq!(used, strings.used);
            kept.clear();
            heap.collect(&Roots(&kept));
            heap.collect(&Roots(&kept));
            // In front of strings that stay there may be places that are not free.
            let (count, used) = (heap.strings.count, heap.strings.used);
            assert!(count < 8 && used < 200, "{count} in {used} places");
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
        assert!(heap.strings.places.len() <= 8192, "{} places", heap.strings.places.len());
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
