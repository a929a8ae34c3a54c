//! A function's entries for calls from other functions of bytecode.
//!
//! In: the number of arguments of each call, and code or adapters for calls. Out: the route of each call. Calls with the usual
//! number of arguments go to the entry, all others to the fallback; if it is closed, they go to the engine.
//!
//! | [`Arity`]    | Event                                               | Next         |
//! |--------------|-----------------------------------------------------|--------------|
//! | `Unknown`    | code is made before the first call                  | `Guessed(n)` |
//! | `Unknown`    | a call with `n` arguments                           | `Known(n)`   |
//! | `Guessed(n)` | a call with `m`; the entry is closed if `m ≠ n`     | `Known(m)`   |
//! | `Guessed(n)` | no adapter can be made                              | `Unknown`    |
//! | `Known(n)`   | no adapter can be made                              | `Refused`    |
//! | `Refused`    | all code is discarded                               | `Unknown`    |
//!
//! | [`Entry`]    | Event                             | Next      |
//! |--------------|-----------------------------------|-----------|
//! | `Closed`     | a call comes before there is code | `Interpreter` |
//! | `Closed`, `Interpreter` | an adapter to the code is made | `Adapter` |
//! | `Closed`     | code is compiled for calls        | `Direct`  |
//! | other        | its code is replaced or discarded | `Closed`  |
//!
//! The fallback is closed, or has an adapter. The call cell, which compiled callers read, holds this state as addresses.

use super::code_table::TierCode;
use crate::engine::native::{Adapter, Compiled};
use std::cell::{Cell, RefCell};
use std::ops::Range;
use std::rc::Rc;

/// The usual number of arguments in calls from other functions of bytecode.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum Arity {
    /// There was no call yet.
    #[default]
    Unknown,
    /// There was no call yet. The function's bytecode was promised to take this many.
    Guessed(u32),
    /// The first call had this many.
    Known(u32),
    /// No adapter could be made, so all calls go to the engine.
    Refused,
}

/// The target of calls with the usual number of arguments.
#[derive(Debug, Default)]
pub(crate) enum Entry {
    /// The engine.
    #[default]
    Closed,
    /// Machine code that interprets the function: there is no code of its own yet.
    Interpreter,
    /// Code for calls from outside, entered by an adapter.
    Adapter(Adapter),
    /// The optimizer's code for calls.
    Direct(Rc<Compiled>),
}

/// The route of a call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Route {
    /// To the entry: it has the usual number of arguments.
    Entry,
    /// To the fallback.
    Fallback,
    /// To the engine, always.
    Engine,
}

/// A function's entries for calls. See the module's head.
#[derive(Debug, Default)]
pub(crate) struct CallState {
    arity: Cell<Arity>,
    entry: RefCell<Entry>,
    fallback: RefCell<Option<Adapter>>,
}

impl CallState {
    pub(crate) fn arity(&self) -> Arity {
        self.arity.get()
    }

    /// Records that code is made for this number of arguments, before the first call.
    pub(crate) fn guess(&self, count: u32) {
        debug_assert_eq!(self.arity(), Arity::Unknown);
        self.arity.set(Arity::Guessed(count));
    }

    /// Records a call, and returns its route. If it shows that the guess was wrong, the entry must have been closed before.
    pub(crate) fn observe(&self, count: u32) -> Route {
        match self.arity() {
            Arity::Refused => Route::Engine,
            Arity::Known(usual) if usual != count => Route::Fallback,
            arity => {
                debug_assert!(
                    matches!(arity, Arity::Known(n) | Arity::Guessed(n) if n == count) || !self.is_open()
                );
                self.arity.set(Arity::Known(count));
                Route::Entry
            }
        }
    }

    /// Records that no adapter can be made, so that all calls go to the engine. If the arity was only guessed, an adapter may
    /// still be possible for the arity of an actual call.
    pub(crate) fn refuse(&self) {
        self.arity.set(match self.arity() {
            Arity::Guessed(_) => Arity::Unknown,
            _ => Arity::Refused,
        });
    }

    /// Called when all code was discarded: adapters to later code may be possible.
    pub(crate) fn reset(&self) {
        if self.arity() == Arity::Refused {
            self.arity.set(Arity::Unknown);
        }
    }

    /// Whether calls enter code of the function.
    pub(crate) fn is_open(&self) -> bool {
        !matches!(*self.entry.borrow(), Entry::Closed | Entry::Interpreter)
    }

    /// Whether calls enter machine code that interprets the function.
    pub(crate) fn enters_interpreter(&self) -> bool {
        matches!(*self.entry.borrow(), Entry::Interpreter)
    }

    /// Records that calls enter machine code that interprets the function.
    pub(crate) fn open_to_interpreter(&self) {
        debug_assert!(!self.is_open(), "calls enter its own code");
        self.entry.replace(Entry::Interpreter);
    }

    /// The optimizer's code for calls.
    pub(crate) fn direct(&self) -> Option<Rc<Compiled>> {
        match &*self.entry.borrow() {
            Entry::Direct(code) => Some(Rc::clone(code)),
            Entry::Closed | Entry::Interpreter | Entry::Adapter(_) => None,
        }
    }

    pub(crate) fn is_direct(&self) -> bool {
        matches!(*self.entry.borrow(), Entry::Direct(_))
    }

    pub(crate) fn has_fallback(&self) -> bool {
        self.fallback.borrow().is_some()
    }

    /// Opens the entry, which must not lead to code of the function.
    pub(crate) fn open(&self, entry: Entry) {
        let before = self.entry.replace(entry);
        let leads_nowhere = matches!(before, Entry::Closed | Entry::Interpreter);
        debug_assert!(leads_nowhere, "calls may run what the entry leads to");
    }

    /// Opens the fallback, which must be closed.
    pub(crate) fn open_fallback(&self, adapter: Adapter) {
        let before = self.fallback.replace(Some(adapter));
        debug_assert!(before.is_none(), "calls may run what the fallback leads to");
    }

    /// Closes the fallback, and if `all` is set, the entry as well. Returns the adapters and code that were open, if any were,
    /// together with the code that they lead to: calls may be running all of it.
    pub(crate) fn close(&self, all: bool, code: [Option<TierCode>; 2]) -> Option<Retired> {
        let entry = if all { self.entry.take() } else { Entry::Closed };
        let fallback = self.fallback.take();
        let is_open = !matches!(entry, Entry::Closed) || fallback.is_some();
        is_open.then_some(Retired { entry, fallback, code })
    }
}

/// Closed entries and their code, which calls from other functions may still be running.
#[derive(Debug)]
pub(crate) struct Retired {
    entry: Entry,
    fallback: Option<Adapter>,
    /// The code that the adapters lead to.
    code: [Option<TierCode>; 2],
}

impl Retired {
    /// The addresses of the code.
    fn ranges(&self) -> impl Iterator<Item = Range<usize>> {
        let (adapter, direct) = match &self.entry {
            Entry::Closed | Entry::Interpreter => (None, None),
            Entry::Adapter(adapter) => (Some(adapter), None),
            Entry::Direct(code) => (None, Some(code.bytes())),
        };
        let code = direct.into_iter().chain(self.code.iter().flatten().map(TierCode::bytes));
        let ranges = code.map(|bytes| {
            let start = bytes.as_ptr().addr();
            // A return address may be one past the last byte.
            start..start + bytes.len() + 1
        });
        let adapters = adapter.into_iter().chain(&self.fallback);
        ranges.chain(adapters.map(|adapter| adapter.addresses()))
    }

    /// A range that includes all addresses of the code.
    pub(crate) fn span(&self) -> Range<usize> {
        let all = self.ranges();
        all.reduce(|all, range| all.start.min(range.start)..all.end.max(range.end)).unwrap_or_default()
    }

    /// Whether any of these sorted addresses lies in the code.
    pub(crate) fn is_among(&self, addresses: &[usize]) -> bool {
        self.ranges().any(|range| {
            let first = addresses.partition_point(|address| *address < range.start);
            addresses.get(first).is_some_and(|address| range.contains(address))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_call_says_what_is_usual() {
        let calls = CallState::default();
        assert_eq!((calls.observe(2), calls.arity()), (Route::Entry, Arity::Known(2)));
        assert_eq!((calls.observe(3), calls.arity()), (Route::Fallback, Arity::Known(2)));
        assert_eq!(calls.observe(2), Route::Entry);
        calls.refuse();
        assert_eq!((calls.observe(2), calls.observe(3)), (Route::Engine, Route::Engine));
        calls.reset();
        assert_eq!((calls.observe(3), calls.arity()), (Route::Entry, Arity::Known(3)));
        // A known arity stays known when code is discarded.
        calls.reset();
        assert_eq!(calls.arity(), Arity::Known(3));
    }

    #[test]
    fn a_guess_holds_until_a_call_comes() {
        let calls = CallState::default();
        calls.guess(2);
        assert_eq!((calls.observe(1), calls.arity()), (Route::Entry, Arity::Known(1)));
        let calls = CallState::default();
        calls.guess(2);
        calls.refuse();
        assert_eq!(calls.arity(), Arity::Unknown);
    }

    #[test]
    fn nothing_is_retired_where_nothing_was_open() {
        let calls = CallState::default();
        assert!(calls.close(true, [None, None]).is_none() && !calls.is_open() && calls.direct().is_none());
    }
}
