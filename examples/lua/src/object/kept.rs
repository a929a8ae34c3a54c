//! Memory of large objects that are gone, kept for others of about the same size.
//!
//! In: memory that nobody uses. Out: the same memory, for objects whose size is rounded up to the same class. To ask the system for memory
//! and to touch it first takes longer than what most programs do with it. What was not wanted from one sweep to the next goes back.
//!
//! **Invariant:** memory in a class has just the bytes of that class, and whoever gave it does not use it any more.

use super::spare::Spare;

/// The largest objects whose memory is kept.
const LARGEST: usize = 1 << 20;
/// The logarithm of how many classes there are from one power of two to the next.
const STEPS: u32 = 2;
/// So many bytes more than a round number a class has: arrays of a power of two of values have headers.
const SLACK: usize = 64;

/// The memory that is kept, by class.
#[derive(Default)]
pub(super) struct KeptMemory {
    classes: Vec<Spare<*mut u8>>,
}

/// The class of an object of this size, which is larger than [`SLACK`], and the bytes of the class; `None` if it is too large.
fn class_of(bytes: usize) -> Option<(usize, usize)> {
    if bytes > LARGEST {
        return None;
    }
    let last = bytes - SLACK - 1;
    let shift = last.ilog2().saturating_sub(STEPS);
    let steps = last >> shift;
    Some((((shift as usize) << STEPS) + steps, ((steps + 1) << shift) + SLACK))
}

/// The bytes that a large object of this size takes.
pub(super) fn rounded(bytes: usize) -> usize {
    class_of(bytes).map_or(bytes, |(_, bytes)| bytes)
}

impl KeptMemory {
    /// Memory for an object of this size, which was rounded.
    pub(super) fn take(&mut self, bytes: usize) -> Option<*mut u8> {
        let (class, _) = class_of(bytes)?;
        self.classes.get_mut(class)?.take()
    }

    /// Keeps the memory of an object of this size; returns whether it does.
    pub(super) fn keep(&mut self, memory: *mut u8, bytes: usize) -> bool {
        let Some((class, of_class)) = class_of(bytes) else { return false };
        debug_assert_eq!(bytes, of_class, "it was rounded");
        if self.classes.len() <= class {
            self.classes.resize_with(class + 1, Spare::default);
        }
        self.classes[class].keep(memory);
        true
    }

    /// Takes out what was not wanted since the last sweep has begun, with a function that gets each piece. A sweep begins.
    pub(super) fn drop_unwanted(&mut self, mut give: impl FnMut(*mut u8)) {
        for class in &mut self.classes {
            let unwanted = class.begin_sweep();
            (0..unwanted).filter_map(|_| class.take()).for_each(&mut give);
        }
    }

    /// Takes out everything.
    pub(super) fn drop_all(&mut self, give: impl FnMut(*mut u8)) {
        self.classes.drain(..).flat_map(Spare::into_pieces).for_each(give);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_class_has_room_for_its_objects_and_wastes_less_than_a_quarter() {
        let mut before = (0, 0);
        for bytes in (1040..2 * LARGEST).step_by(16) {
            let all = rounded(bytes);
            assert!(all >= bytes && all <= bytes + bytes / 4 && all.is_multiple_of(16), "{bytes}: {all}");
            assert_eq!(rounded(all), all);
            let Some(class) = class_of(bytes) else {
                assert_eq!(all, bytes);
                continue;
            };
            // Objects of one class have the same size, and larger ones a later class.
            assert!(class.0 == before.0 && class.1 == before.1 || class.0 > before.0 && class.1 > before.1);
            before = class;
        }
        // An array of a power of two of values is not larger than it must be.
        for power in 11..19 {
            assert_eq!(rounded((1 << power) + SLACK), (1 << power) + SLACK);
        }
    }

    #[test]
    fn what_is_not_wanted_from_one_sweep_to_the_next_goes_back() {
        let mut kept = KeptMemory::default();
        let mut bytes = [0u8; 4];
        let pieces: Vec<*mut u8> = bytes.iter_mut().map(|byte| byte as *mut u8).collect();
        let size = rounded(5000);
        assert_eq!(kept.take(size), None);
        pieces.iter().for_each(|piece| assert!(kept.keep(*piece, size)));
        assert!(!kept.keep(pieces[0], 2 * LARGEST), "it is too large");
        let dropped = |kept: &mut KeptMemory| {
            let mut given = Vec::new();
            kept.drop_unwanted(|piece| given.push(piece));
            given.len()
        };
        // They were not there when the last sweep began.
        assert_eq!(dropped(&mut kept), 0);
        let [one, other] = [0, 1].map(|_| kept.take(size).expect("it was kept"));
        assert!(one != other && kept.take(rounded(2 * size)).is_none());
        assert!(kept.keep(one, size) && kept.keep(other, size));
        // Two were wanted, and two were not.
        assert_eq!(dropped(&mut kept), 2);
        assert_eq!((dropped(&mut kept), dropped(&mut kept)), (2, 0));
    }
}
