//! What the last call gave.
//!
//! In: the results of a call, the first of which the call itself returns. Out: the others, for whoever called. Machine code writes and
//! reads the first few by itself (`templates.rs`).
//!
//! **Invariants:** the memory has room for [`QUICK`] values at least, and for as many as `count` says. What is behind those is of earlier
//! calls, and nobody looks at it. A call without results returns `nil`.

use crate::object::function::{copy_values, move_values};
use crate::object::value::Value;

/// There is always room for so many results behind the first.
pub(crate) const QUICK: usize = 8;

/// The results of the last call.
#[derive(Debug)]
pub(crate) struct Results {
    /// How many there are, with the first.
    pub(crate) count: u32,
    /// Where those behind the first are.
    pub(crate) behind: *mut Value,
    /// The memory for them. Only its owner uses it.
    memory: Vec<Value>,
}

/// Results that are put aside while something else is called.
#[derive(Debug)]
pub(crate) struct SavedResults {
    count: u32,
    behind: Vec<Value>,
}

impl Results {
    /// None, with room for a few.
    pub(crate) fn new() -> Results {
        let mut memory = vec![Value::NIL; QUICK];
        Results { count: 0, behind: memory.as_mut_ptr(), memory }
    }

    /// Those behind the first.
    #[inline(always)]
    pub(crate) fn behind(&self) -> &[Value] {
        // SAFETY: there are so many.
        unsafe { std::slice::from_raw_parts(self.behind, (self.count as usize).saturating_sub(1)) }
    }

    /// Makes room for this many results behind the first; returns where they are to be written. Those that are there stay.
    #[inline(always)]
    pub(crate) fn room(&mut self, behind: usize) -> *mut Value {
        if behind > self.memory.len() {
            self.grow(behind);
        }
        self.behind
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self, behind: usize) {
        // The values are written through the address, so the list may not be looked at meanwhile.
        self.memory.resize(behind.next_power_of_two(), Value::NIL);
        self.behind = self.memory.as_mut_ptr();
    }

    /// These are the results; returns the first.
    #[inline(always)]
    pub(crate) fn give(&mut self, results: &[Value]) -> Value {
        self.count = results.len() as u32;
        let Some((first, rest)) = results.split_first() else { return Value::NIL };
        let to = self.room(rest.len());
        // SAFETY: there is room for all of them.
        unsafe { copy_values(rest, to) };
        *first
    }

    /// A value is the first result, and these are behind it.
    #[inline(always)]
    pub(crate) fn give_first(&mut self, first: Value, rest: impl ExactSizeIterator<Item = Value>) -> Value {
        let to = self.room(rest.len());
        self.count = 1 + rest.len() as u32;
        // SAFETY: there is room for all of them.
        rest.enumerate().for_each(|(at, value)| unsafe { to.add(at).write(value) });
        first
    }

    /// Values are the results, with those behind them; returns the first.
    pub(crate) fn give_both(&mut self, values: &[Value], more: &[Value]) -> Value {
        let Some((first, rest)) = values.split_first() else { return self.give(more) };
        self.count = (values.len() + more.len()) as u32;
        let to = self.room(rest.len() + more.len());
        // SAFETY: there is room for all of them.
        unsafe {
            copy_values(rest, to);
            copy_values(more, to.add(rest.len()));
        }
        *first
    }

    /// Puts values in front of the results, the first of which is the last of the values; returns the first.
    #[inline(always)]
    pub(crate) fn give_in_front(&mut self, values: &[Value]) -> Value {
        let behind = (self.count as usize).saturating_sub(1);
        // The last one is none if there was no result.
        let values = &values[..values.len() - (self.count == 0) as usize];
        self.count = (values.len() + behind) as u32;
        let Some((first, rest)) = values.split_first() else { return Value::NIL };
        let to = self.room(rest.len() + behind);
        // SAFETY: there is room for all of them.
        unsafe {
            move_values(to, behind, rest.len());
            copy_values(rest, to);
        }
        *first
    }

    /// Puts them aside.
    pub(crate) fn save(&self) -> SavedResults {
        SavedResults { count: self.count, behind: self.behind().to_vec() }
    }

    /// Takes them back.
    pub(crate) fn restore(&mut self, saved: &SavedResults) {
        let to = self.room(saved.behind.len());
        // SAFETY: there is room for all of them.
        unsafe { copy_values(&saved.behind, to) };
        self.count = saved.count;
    }
}

impl SavedResults {
    /// Those behind the first, which the collector must find.
    pub(crate) fn behind(&self) -> &[Value] {
        &self.behind
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(range: std::ops::Range<u32>) -> Vec<Value> {
        range.map(|n| Value::number(f64::from(n))).collect()
    }

    /// All results, if the first is this.
    fn all(results: &Results, first: Value) -> Vec<Value> {
        std::iter::once(first).chain(results.behind().iter().copied()).take(results.count as usize).collect()
    }

    #[test]
    fn results_are_what_was_given() {
        let mut results = Results::new();
        for count in (0..40).chain([3, 0, 1]) {
            let given = numbers(0..count);
            let first = results.give(&given);
            assert_eq!(all(&results, first), given);
            for split in 0..=given.len() {
                let first = results.give_both(&given[..split], &given[split..]);
                assert_eq!(all(&results, first), given);
            }
            if let Some((first, rest)) = given.split_first() {
                let first = results.give_first(*first, rest.iter().copied());
                assert_eq!(all(&results, first), given);
            }
        }
    }

    #[test]
    fn what_stands_in_front_is_followed_by_the_results_that_there_were() {
        for (before, more) in [(0, 0), (0, 5), (1, 1), (1, 30), (3, 2), (20, 20)] {
            let mut results = Results::new();
            results.give(&numbers(0..30));
            // Fewer than before: the others are forgotten.
            let first = results.give(&numbers(0..before));
            let mut values = numbers(100..100 + more);
            values.push(first);
            let first = results.give_in_front(&values);
            let expected = [numbers(100..100 + more), numbers(0..before)].concat();
            assert_eq!(all(&results, first), expected);
        }
    }

    #[test]
    fn what_was_put_aside_comes_back() {
        let mut results = Results::new();
        let first = results.give(&numbers(0..20));
        let saved = results.save();
        results.give(&numbers(50..90));
        results.restore(&saved);
        assert_eq!(all(&results, first), numbers(0..20));
        assert_eq!(saved.behind(), numbers(1..20));
    }
}
