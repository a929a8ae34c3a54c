//! How other functions of bytecode call a function.
//!
//! In: the numbers of arguments of the calls that come, and code or adapters for them. Out: where a call goes. Calls that have the
//! usual number of arguments go to the entry, all others to the fallback; where either is closed, they come to the engine.
//!
//! | [`Arity`]    | What happens                                     | Next         |
//! |--------------|--------------------------------------------------|--------------|
//! | `Unknown`    | code is made before any call came                | `Guessed(n)` |
//! | `Unknown`    | a call with `n` arguments comes                  | `Known(n)`   |
//! | `Guessed(n)` | a call with `m` comes; if not `n`, entry closed  | `Known(m)`   |
//! | `Guessed(n)` | no adapter can be made                           | `Unknown`    |
//! | `Known(n)`   | no adapter can be made                           | `Refused`    |
//! | `Refused`    | all code is thrown away                          | `Unknown`    |
//!
//! | [`Entry`]    | What happens                       | Next      |
//! |--------------|------------------------------------|-----------|
//! | `Closed`     | an adapter to the code is made     | `Adapter` |
//! | `Closed`     | code is compiled for calls         | `Direct`  |
//! | other        | its code is replaced or thrown away | `Closed`  |
//!
//! The fallback is closed, or has an adapter. The call cell, which compiled callers read, says the same in addresses.

use super::code_table::TierCode;
use crate::engine::backend::{Adapter, Compiled};
use std::cell::{Cell, RefCell};
use std::rc::Rc;

/// With how many arguments other functions of bytecode call a function.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum Arity {
    /// No call has come.
    #[default]
    Unknown,
    /// No call has come; this is how many its bytecode was said to take.
    Guessed(u32),
    /// The first call had so many.
    Known(u32),
    /// No adapter could be made, so all calls come to the engine.
    Refused,
}

/// What calls with the usual number of arguments enter.
#[derive(Debug, Default)]
pub(crate) enum Entry {
    /// The engine.
    #[default]
    Closed,
    /// Code for calls from outside, by an adapter.
    Adapter(Adapter),
    /// The optimizer's code for calls.
    Direct(Rc<Compiled>),
}

/// Where a call goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Route {
    /// To the entry: it has the usual number of arguments.
    Entry,
    /// To the fallback.
    Fallback,
    /// To the engine, always.
    Engine,
}

/// How a function is called. See the module's head.
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

    /// No call has come yet, and code is made for this number of arguments.
    pub(crate) fn guess(&self, count: u32) {
        debug_assert_eq!(self.arity(), Arity::Unknown);
        self.arity.set(Arity::Guessed(count));
    }

    /// A call comes; says where it goes. What was made for a wrong guess must be closed by then.
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

    /// No adapter can be made: whoever calls the function comes to the engine. What is true of a guess need not be of a call.
    pub(crate) fn refuse(&self) {
        self.arity.set(match self.arity() {
            Arity::Guessed(_) => Arity::Unknown,
            _ => Arity::Refused,
        });
    }

    /// All code was thrown away: adapters to the next code may be possible.
    pub(crate) fn reset(&self) {
        if self.arity() == Arity::Refused {
            self.arity.set(Arity::Unknown);
        }
    }

    pub(crate) fn is_open(&self) -> bool {
        !matches!(*self.entry.borrow(), Entry::Closed)
    }

    /// The optimizer's code for calls.
    pub(crate) fn direct(&self) -> Option<Rc<Compiled>> {
        match &*self.entry.borrow() {
            Entry::Direct(code) => Some(Rc::clone(code)),
            Entry::Closed | Entry::Adapter(_) => None,
        }
    }

    pub(crate) fn is_direct(&self) -> bool {
        matches!(*self.entry.borrow(), Entry::Direct(_))
    }

    pub(crate) fn has_fallback(&self) -> bool {
        self.fallback.borrow().is_some()
    }

    /// Opens the entry, which is closed.
    pub(crate) fn open(&self, entry: Entry) {
        let before = self.entry.replace(entry);
        debug_assert!(matches!(before, Entry::Closed), "calls may run what the entry leads to");
    }

    /// Opens the fallback, which is closed.
    pub(crate) fn open_fallback(&self, adapter: Adapter) {
        let before = self.fallback.replace(Some(adapter));
        debug_assert!(before.is_none(), "calls may run what the fallback leads to");
    }

    /// Closes the fallback, and the entry too if all is to be closed. What was open, if anything was, is given back with the
    /// code that it leads to: calls may be running both.
    pub(crate) fn close(&self, all: bool, code: [Option<TierCode>; 2]) -> Option<Retired> {
        let entry = if all { self.entry.take() } else { Entry::Closed };
        let fallback = self.fallback.take();
        let is_open = !matches!(entry, Entry::Closed) || fallback.is_some();
        is_open.then_some(Retired { entry, fallback, code })
    }
}

/// What calls from other functions entered, and may be running still.
#[derive(Debug)]
pub(crate) struct Retired {
    entry: Entry,
    fallback: Option<Adapter>,
    /// What the adapters lead to.
    code: [Option<TierCode>; 2],
}

impl Retired {
    /// Whether one of these addresses, sorted, is in the code.
    pub(crate) fn is_among(&self, addresses: &[usize]) -> bool {
        let (adapter, direct) = match &self.entry {
            Entry::Closed => (None, None),
            Entry::Adapter(adapter) => (Some(adapter), None),
            Entry::Direct(code) => (None, Some(code.bytes())),
        };
        let code = direct.into_iter().chain(self.code.iter().flatten().map(TierCode::bytes));
        let ranges = code.map(|bytes| {
            let start = bytes.as_ptr().addr();
            // A return address may stand right behind the last byte.
            start..start + bytes.len() + 1
        });
        let adapters = adapter.into_iter().chain(&self.fallback);
        ranges.chain(adapters.map(|adapter| adapter.addresses())).any(|range| {
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
        // What is known stays known when code is thrown away.
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
