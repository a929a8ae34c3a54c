//! The values that Rust code keeps.
//!
//! In: values, and places that are not needed any more. Out: places. Holds: the value at a place stays, and is a root of the collector, until
//! somebody says that it is not needed: in the program's own thread, or in any other, by [`Released`].

use crate::object::value::Value;
use std::sync::{Arc, Mutex, PoisonError};

/// The values that Rust code keeps.
#[derive(Default)]
pub(crate) struct Handles {
    values: Vec<Value>,
    free: Vec<usize>,
    released: Released,
}

/// Places that are free as soon as their program looks here. Each program has its own.
#[derive(Clone, Default)]
pub(crate) struct Released(Arc<Mutex<Vec<usize>>>);

impl Released {
    /// Tells the program that nobody needs the value at a place any more. It may be called in any thread.
    pub(crate) fn add(&self, place: usize) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(place);
    }

    /// Whether the places are those of a program.
    pub(crate) fn is_of(&self, handles: &Handles) -> bool {
        Arc::ptr_eq(&self.0, &handles.released.0)
    }
}

impl Handles {
    /// Keeps a value; returns its place.
    pub(crate) fn keep(&mut self, value: Value) -> usize {
        match self.free.pop() {
            Some(place) => {
                self.values[place] = value;
                place
            }
            None => {
                self.values.push(value);
                self.values.len() - 1
            }
        }
    }

    /// Keeps a value of which other threads may say that nobody needs it.
    pub(crate) fn keep_for_any_thread(&mut self, value: Value) -> (usize, Released) {
        self.forget_released();
        (self.keep(value), self.released.clone())
    }

    /// Keeps the value at a place no longer.
    pub(crate) fn forget(&mut self, place: usize) {
        self.values[place] = Value::NIL;
        self.free.push(place);
    }

    /// Keeps no longer what other threads do not need any more.
    pub(crate) fn forget_released(&mut self) {
        let released = std::mem::take(&mut *self.released.0.lock().unwrap_or_else(PoisonError::into_inner));
        released.into_iter().for_each(|place| self.forget(place));
    }

    /// The value at a place.
    pub(crate) fn value(&self, place: usize) -> Value {
        self.values[place]
    }

    /// Keeps another value at a place.
    pub(crate) fn replace(&mut self, place: usize, value: Value) {
        self.values[place] = value;
    }

    /// All values.
    pub(crate) fn values(&self) -> &[Value] {
        &self.values
    }
}
