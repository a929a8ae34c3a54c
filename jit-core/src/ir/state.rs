//! Frame states: the VM registers that control takes along when it leaves a function before its end.
//!
//! In a graph, the operands of the leaving node are the values of some VM registers, and a [`State`] says of which. In a tile list,
//! those operands are wherever the allocator has them at that point ([`Constraint::Anywhere`](super::tiles::Constraint::Anywhere)):
//! leaving costs no move, and nothing of it is in the hot code.

use super::index::List;

/// A frame state.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct State {
    /// The low word of the status with which control leaves, which says where it goes on: the constant of an `exit_at`.
    pub to: u64,
    /// The VM registers, in [`States::registers`], in ascending order. They belong to the node's operands after the first.
    pub registers: List,
}

/// The frame states of a function.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct States {
    /// Each state.
    pub all: Vec<State>,
    /// The pool of VM registers.
    pub registers: Vec<u32>,
}

impl States {
    /// Removes all states, and keeps the memory.
    pub fn clear(&mut self) {
        self.all.clear();
        self.registers.clear();
    }

    /// The VM registers of a state.
    pub fn registers(&self, state: u64) -> &[u32] {
        &self.registers[self.all[state as usize].registers.range()]
    }
}

/// What a VM register gets when control leaves.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SavedValue {
    /// The value of the next operand of the instruction.
    Operand,
    /// These bits.
    Constant(u64),
}

/// A VM register of a tile list's state, and what it gets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Saved {
    /// The VM register.
    pub register: u32,
    /// Its value.
    pub value: SavedValue,
}

/// A state in a tile list.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TileState {
    /// As in [`State`].
    pub to: u64,
    /// The VM registers, in [`TileList::saved`](super::tiles::TileList::saved).
    pub saved: List,
}
