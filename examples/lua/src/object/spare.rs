//! Pieces of memory of one size that nobody uses, for whoever wants one next.
//!
//! In: pieces, and when sweeps begin. Out: the pieces again, and how many of them nobody has wanted from one sweep to the next: these may go
//! back to the system. That is the least number of them between the two sweeps.

/// The least of a number that changes.
#[derive(Default)]
pub(super) struct Least(usize);

impl Least {
    /// The number is this now.
    pub(super) fn note(&mut self, now: usize) {
        self.0 = self.0.min(now);
    }

    /// Begins again with the number as it is now; returns the least one until now.
    pub(super) fn begin(&mut self, now: usize) -> usize {
        std::mem::replace(&mut self.0, now)
    }
}

/// The pieces. See the module's head.
pub(super) struct Spare<T> {
    pieces: Vec<T>,
    /// How many there were at least since the last sweep has begun.
    least: Least,
}

impl<T> Default for Spare<T> {
    fn default() -> Self {
        Spare { pieces: Vec::new(), least: Least::default() }
    }
}

impl<T> Spare<T> {
    pub(super) fn take(&mut self) -> Option<T> {
        let piece = self.pieces.pop();
        self.least.note(self.pieces.len());
        piece
    }

    pub(super) fn keep(&mut self, piece: T) {
        self.pieces.push(piece);
    }

    /// Called when a sweep begins: how many pieces nobody has wanted since the last one has.
    pub(super) fn begin_sweep(&mut self) -> usize {
        self.least.begin(self.pieces.len())
    }

    pub(super) fn into_pieces(self) -> Vec<T> {
        self.pieces
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_wanted_between_two_sweeps_is_kept() {
        let mut spare = Spare::default();
        assert_eq!((spare.take(), spare.begin_sweep()), (None, 0));
        (0..4).for_each(|piece| spare.keep(piece));
        // They were not there when the last sweep began.
        assert_eq!(spare.begin_sweep(), 0);
        let [one, other] = [0, 1].map(|_| spare.take().expect("there is one"));
        assert!(one != other);
        spare.keep(one);
        spare.keep(other);
        // Two were wanted, and two were not.
        assert_eq!((spare.begin_sweep(), spare.begin_sweep()), (2, 4));
        assert_eq!(spare.into_pieces().len(), 4);
    }
}
