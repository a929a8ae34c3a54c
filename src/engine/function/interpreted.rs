//! A function's record for the interpreter in machine code.
//!
//! In: the first run of the function, and an interpreter that has the code of its opcodes. Out: the record, whose address the
//! interpreted code holds. It never moves, and has the table of the interpreter that the engine has now.
//!
//! | State    | Event                                              | Next     |
//! |----------|----------------------------------------------------|----------|
//! | cold     | it has made some calls and jumps back              | warm     |
//! | cold     | it runs, and the code of its opcodes is there      | ready    |
//! | warm     | it runs                                            | ready    |
//! | warm     | it runs, and its bytecode cannot be dispatched on  | refused  |
//! | ready    | it runs, and the engine's interpreter has changed  | ready    |
//!
//! A cold function is interpreted in Rust, so that opcodes which hardly ever run are not compiled. So is a warm one as long as the engine
//! is patient ([`Engine::warm_up`](crate::engine::Engine)).

use azulejo_core::ir::interpreted::Record;
use std::cell::{Cell, OnceCell};

/// The addresses of an engine's words.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct EngineWords {
    /// The table of call cells.
    pub(crate) functions: u64,
    /// The word that is not zero once the program is to stop; zero if there is none.
    pub(crate) stop: u64,
    /// The fuel; zero if there is none.
    pub(crate) fuel: u64,
}

/// After how many calls and jumps back a function is warm. In debug builds all are, so that tests run all code.
const PATIENCE: i32 = if cfg!(debug_assertions) { 0 } else { 16 };

/// A function's record, once it has one. The module's head lists the states.
#[derive(Debug)]
pub(crate) struct Interpreted {
    record: OnceCell<Box<Cell<Record>>>,
    is_refused: Cell<bool>,
    /// How many calls and jumps back it takes until the function is warm.
    patience: Cell<i32>,
}

impl Default for Interpreted {
    fn default() -> Self {
        let (record, is_refused) = Default::default();
        Interpreted { record, is_refused, patience: Cell::new(PATIENCE) }
    }
}

impl Interpreted {
    /// The record, if it has this interpreter's table.
    #[inline(always)]
    pub(crate) fn ready(&self, table: *const usize) -> Option<*const Record> {
        let record = self.record.get()?;
        (record.get().table == table).then(|| record.as_ptr().cast_const())
    }

    /// How many calls and jumps back it takes until the function is warm; at most zero if it is.
    #[inline(always)]
    pub(crate) fn patience(&self) -> i32 {
        self.patience.get()
    }

    /// Counts calls or jumps back. Returns whether the function is warm.
    pub(crate) fn warm_up(&self, by: i32) -> bool {
        self.patience.set(self.patience().saturating_sub(by));
        self.patience() <= 0
    }

    pub(crate) fn is_refused(&self) -> bool {
        self.is_refused.get()
    }

    /// Notes that the bytecode cannot be dispatched on.
    pub(crate) fn refuse(&self) {
        self.is_refused.set(true);
    }

    /// Makes the record, or changes it.
    pub(crate) fn set(&self, record: Record) {
        self.record.get_or_init(|| Box::new(Cell::new(record))).set(record);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_stays_where_it_is() {
        let tables = [0usize; 2];
        let record = |at: usize| Record {
            code: std::ptr::null(),
            labels: std::ptr::null(),
            unit: std::ptr::null(),
            functions: 0,
            slow_paths: 0,
            budget: std::ptr::null(),
            stop: 0,
            fuel: 0,
            table: &raw const tables[at],
            most_arguments: 0,
            taken_arguments: 0,
            missing: 0,
            may_miss: 0,
            exact_arguments: 0,
            cleared: 0,
            frame_bytes: 0,
            kept: 0,
            mask: 0,
            start: 0,
            shift: 0,
            inverse: 1,
            newest: 0,
            layout: 0,
            shown: 0,
        };
        let interpreted = Interpreted::default();
        assert!(interpreted.ready(&raw const tables[0]).is_none() && !interpreted.is_refused());
        interpreted.set(record(0));
        let first = interpreted.ready(&raw const tables[0]).expect("it was made");
        interpreted.set(record(1));
        assert!(interpreted.ready(&raw const tables[0]).is_none());
        assert_eq!(interpreted.ready(&raw const tables[1]), Some(first));
        let calls = (1..).take_while(|_| !interpreted.warm_up(1)).count() as i32;
        assert!(
            calls == (PATIENCE - 1).max(0) && interpreted.warm_up(i32::MAX) && interpreted.warm_up(i32::MAX)
        );
        interpreted.refuse();
        assert!(interpreted.is_refused());
    }
}
