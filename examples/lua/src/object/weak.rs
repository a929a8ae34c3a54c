//! Weak tables: what is removed from them when it is garbage.
//!
//! In: the weak tables that were reached, when all has been marked. Out: tables without what is garbage. Slots and arrays, which are short
//! in weak tables, are looked at at once; long hash parts wait, and give nothing away meanwhile (`hash`).

use super::header::{Gc, color};
use super::heap::Heap;
use crate::object::hash::{Weakness, is_gone};
use crate::object::mark::{PORTION, weakness_by};
use crate::object::table::Table;
use crate::object::value::Value;

impl Heap {
    /// Whether a table is weak.
    pub(super) fn is_weak(&self, table: Gc<Table>) -> bool {
        self.weakness(table) != Weakness::default()
    }

    fn weakness(&self, table: Gc<Table>) -> Weakness {
        table.metatable().map_or(Weakness::default(), |metatable| weakness_by(metatable, self.mode))
    }

    /// Begins to remove what is garbage from the weak tables that were reached; returns the tables that wait.
    pub(super) fn clear_weak(&mut self) -> Vec<(Gc<Table>, u32)> {
        let garbage = self.white();
        let weak = std::mem::take(&mut self.collector.tracing.weak);
        weak.into_iter()
            .filter(|(table, weakness)| clear_table(*table, *weakness, garbage))
            .map(|(table, _)| (table, 0))
            .collect()
    }

    /// Removes some more; returns how much work that was, or `None` if there is nothing to remove.
    pub(super) fn clear_some(&mut self) -> Option<usize> {
        let (table, from) = self.collector.waiting.pop()?;
        if let Some(hash) = table.hash.get()
            && !hash.remove_waiting(from, PORTION as u32)
        {
            self.collector.waiting.push((table, from + PORTION as u32));
        }
        Some(PORTION * 4 * size_of::<Value>())
    }
}

/// Removes what is garbage from a weak table, or lets it wait if that is much; returns whether it does.
fn clear_table(table: Gc<Table>, weakness: Weakness, garbage: u8) -> bool {
    if weakness.values {
        for value in table.slot_values().iter().chain(table.indexed()) {
            keep_string(value.get());
            if is_gone(value.get(), garbage) {
                value.set(Value::NIL);
            }
        }
    }
    let Some(hash) = table.hash.get() else { return false };
    hash.set_waiting(weakness, garbage);
    let is_long = hash.entries().len() > PORTION;
    if !is_long {
        hash.remove_all_waiting();
    }
    is_long
}

/// Strings count as values: they are kept.
fn keep_string(value: Value) {
    if let Some(string) = value.as_string() {
        string.header().color.set(color::BLACK);
    }
}
