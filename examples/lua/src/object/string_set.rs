//! All strings of a heap, by their bytes.
//!
//! In: bytes and their hash. Out: the string that has them, if there is one. The set keeps no string alive: the collector removes what it
//! frees. Those of one byte are kept by who makes them ([`Heap::keep`](super::heap::Heap::keep)).
//!
//! Strings with the same place are linked. A place is a word with the address of the first of them, some bits of its hash, and whether
//! others follow. So a search for what is not there mostly looks at no string: most texts that programs make are new. Strings of one byte,
//! and the empty one, are found without a hash, and are in no place.
//!
//! When the set has too few places it gets twice as many, and each string that is added then takes the strings of some places along. So
//! no addition takes long, however many strings there are.
//!
//! **Invariant:** while the set grows, `before` has those of the places it had that are not moved yet, which are in front of all that are. The
//! strings of a place that is moved are in two of `places`; the others of `places` are not written yet.

use super::string::Str;
use crate::object::heap::Gc;
use std::mem::MaybeUninit;

/// A place without strings.
const FREE: u64 = 0;
/// The bit of places with more than one string.
const MORE: u64 = 1 << 48;
/// The bits of a place that are bits of a hash.
const TAG: u64 = !(MORE - 1) & !MORE;
/// So many places there are at least.
const LEAST: usize = 64;
/// So many places are moved for each string that is added. All are moved long before there are too few places again.
const MOVED_AT_ONCE: usize = 16;
/// When so many places are moved, their memory goes back. It is a power of two.
const GIVEN_BACK_AT_ONCE: usize = 1 << 15;

/// All strings of a heap.
#[derive(Debug)]
pub(crate) struct Strings {
    /// A power of two of places.
    places: Box<[MaybeUninit<u64>]>,
    /// While the set grows: the places that are not moved yet, which are the first of half as many as there are now.
    before: Vec<u64>,
    /// How many strings are in places.
    count: usize,
    /// With so many strings there is more to do when one is added: the set has too few places, or it grows, and this is zero.
    enough: usize,
    /// The strings of one byte. They stay.
    pub(crate) single: Box<[Option<Gc<Str>>; 256]>,
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

/// So many strings are enough for so many places: if most have a string, many have two.
fn enough_for(places: usize) -> usize {
    places / 4 * 3
}

impl Strings {
    pub(crate) fn new() -> Strings {
        let places = Box::new([MaybeUninit::new(FREE); LEAST]);
        let enough = enough_for(LEAST);
        Strings { places, before: Vec::new(), count: 0, enough, single: Box::new([None; 256]), empty: None }
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
        if !self.before.is_empty() {
            return self.place_while_growing(hash);
        }
        // SAFETY: the set does not grow, so all places are written.
        unsafe { self.written(hash) }
    }

    /// The place of `places` for strings of this hash.
    ///
    /// # Safety
    ///
    /// It has to be written.
    #[inline(always)]
    unsafe fn written(&mut self, hash: u32) -> &mut u64 {
        let mask = self.places.len() - 1;
        // SAFETY: the mask keeps it within the places, and whoever calls this knows that it is written.
        unsafe { self.places.get_unchecked_mut(hash as usize & mask).assume_init_mut() }
    }

    #[cold]
    #[inline(never)]
    fn place_while_growing(&mut self, hash: u32) -> &mut u64 {
        let of_before = hash as usize & (self.places.len() / 2 - 1);
        if of_before < self.before.len() {
            return &mut self.before[of_before];
        }
        // SAFETY: the place is one of the two for the strings of one that is moved.
        unsafe { self.written(hash) }
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
                if self.count >= self.enough {
                    return self.add_and_grow(string);
                }
                self.count += 1;
                // SAFETY: the set does not grow, so all places are written.
                let place = unsafe { self.written(string.hash()) };
                Self::put(place, string);
            }
        }
    }

    /// Adds a string while the set grows, or when it has to.
    #[cold]
    #[inline(never)]
    fn add_and_grow(&mut self, string: Gc<Str>) {
        if self.before.is_empty() {
            self.begin_to_grow();
        } else {
            self.move_some();
        }
        self.count += 1;
        Self::put(self.place(string.hash()), string);
    }

    /// Makes a string the first of its place.
    #[inline(always)]
    fn put(place: &mut u64, string: Gc<Str>) {
        string.set_next(first_of(*place));
        *place = word_of(Some(string));
    }

    /// Makes twice as many places, to which nothing is moved yet.
    fn begin_to_grow(&mut self) {
        let doubled = Box::new_uninit_slice(2 * self.places.len());
        let before = std::mem::replace(&mut self.places, doubled);
        // SAFETY: the set does not grow, so all places are written.
        self.before = unsafe { before.assume_init() }.into_vec();
        self.enough = 0;
    }

    /// Moves the strings of some places.
    fn move_some(&mut self) {
        let Strings { places, before, .. } = self;
        let half = places.len() / 2;
        let (low, high) = places.split_at_mut(half);
        let left = before.len().saturating_sub(MOVED_AT_ONCE);
        for (at, word) in before.drain(left..).enumerate() {
            let (low, high) = (low[left + at].write(FREE), high[left + at].write(FREE));
            let mut next = first_of(word);
            while let Some(string) = next {
                next = string.next();
                let is_low = string.hash() as usize & half == 0;
                Self::put(if is_low { &mut *low } else { &mut *high }, string);
            }
        }
        if left & (GIVEN_BACK_AT_ONCE - 1) == 0 {
            // To give back much memory at once takes the system some time.
            before.shrink_to_fit();
        }
        if left == 0 {
            self.enough = enough_for(places.len());
        }
    }

    /// Forgets a string, whose memory is taken.
    #[inline]
    pub(crate) fn remove(&mut self, gone: Gc<Str>) {
        match *gone.bytes() {
            [] => self.empty = None,
            [_] => unreachable!("the strings of one byte stay"),
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

    impl super::Strings {
        /// All places that are written.
        fn words(&self) -> impl Iterator<Item = u64> {
            let (half, moved) = (self.places.len() / 2, self.before.len());
            let is_written = move |at: &usize| at & (half - 1) >= moved;
            // SAFETY: these are written.
            let there = (0..2 * half).filter(is_written).map(|at| unsafe { self.places[at].assume_init() });
            self.before.iter().copied().chain(there)
        }
    }

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
            for word in strings.words() {
                assert_eq!(word, super::word_of(super::first_of(word)));
            }
            kept.clear();
            heap.collect(&Roots(&kept));
            heap.collect(&Roots(&kept));
            let used = heap.strings.words().filter(|word| *word != super::FREE).count();
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

    /// However many strings there are, no addition moves many, and the set has moved all before it has too few places again. Meanwhile
    /// the collector sweeps, and what is kept is found.
    #[test]
    fn the_set_grows_a_little_at_a_time() {
        let strings_of = |word: u64| std::iter::successors(super::first_of(word), |string| string.next());
        let (mut heap, mut kept) = (Heap::new(), HashMap::new());
        let (mut most, mut grown, mut found) = (0, 0, 0);
        for number in 0..300_000_usize {
            let (places, unmoved) = (heap.strings.places.len(), heap.strings.before.len());
            let next = heap.strings.before.iter().rev().take(super::MOVED_AT_ONCE);
            let to_move = next.map(|word| strings_of(*word).count()).sum();
            let text = format!("text {number}").into_bytes();
            let string = Value::string(heap.string(&text));
            let is_larger = heap.strings.places.len() != places;
            let left = if is_larger { places } else { unmoved.saturating_sub(super::MOVED_AT_ONCE) };
            assert_eq!(heap.strings.before.len(), left);
            assert!(!is_larger || unmoved == 0, "it has grown too late");
            grown += usize::from(is_larger);
            most = most.max(to_move);
            if !number.is_multiple_of(3) {
                kept.insert(text, string);
            }
            // One that is kept since long ago, or one that is garbage.
            let earlier = number / 7 * 5;
            let text = format!("text {earlier}").into_bytes();
            let string = Value::string(heap.string(&text));
            assert_eq!(*kept.get(&text).unwrap_or(&string), string);
            found += usize::from(left > 0 && !earlier.is_multiple_of(3));
            if number.is_multiple_of(16) {
                heap.step_for(2048, &Roots(&kept));
            }
        }
        assert!(most > 16 && most <= 64, "{most} strings were moved at once");
        assert!(
            grown >= 10 && found > 10_000,
            "it has grown {grown} times, and {found} were found meanwhile"
        );
        assert!(heap.statistics().collections > 5);
        kept.iter().for_each(|(text, value)| assert_eq!(Value::string(heap.string(text)), *value));
    }

    #[test]
    fn the_empty_string_comes_and_goes_and_single_bytes_stay() {
        let (mut heap, none) = (Heap::new(), HashMap::new());
        let mut there = Vec::new();
        for byte in 0..=255 {
            // Some are made while the collector marks, others while it sweeps.
            heap.step_for(256, &Roots(&none));
            let string = heap.string(&[byte]);
            assert_eq!((string.bytes(), heap.string(&[byte])), (&[byte][..], string));
            there.push(string);
        }
        let empty = heap.string(b"");
        assert_eq!(heap.string(b""), empty);
        heap.collect(&Roots(&none));
        heap.collect(&Roots(&none));
        assert_eq!(heap.strings.empty, None);
        for (byte, string) in (0..=255).zip(there) {
            assert_eq!((heap.string(&[byte]), string.bytes()), (string, &[byte][..]));
        }
    }
}
