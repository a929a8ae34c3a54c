//! Frame states: the VM registers that control takes along when it leaves a function before its end.
//!
//! In a graph, the operands of the leaving node are the values of some VM registers, and a [`FrameState`] says of which. In a tile list,
//! those operands are wherever the allocator has them at that point ([`Constraint::Anywhere`](super::tiles::Constraint::Anywhere)):
//! leaving costs no move, and nothing of it is in the hot code. A value may also be out of its box
//! ([`kinds`](super::kinds)): the box is made when control leaves.

use super::index::List;
use super::inlining::Inlining;
use super::kinds::ValueKind;
use crate::vocab::Vocabulary;

/// A frame state.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FrameState {
    /// The low word of the status with which control leaves, which says where it goes on: the constant of an `exit_at`.
    pub to: u64,
    /// The VM registers, in [`FrameStates::registers`], in ascending order. They belong to the node's operands after the first.
    pub registers: List,
    /// The inlined call where control goes on; 0 if it goes on in the function itself. If not, control goes on in the callers around
    /// afterwards, with the result of the call, and the VM registers are those of all these frames.
    pub frame: u32,
}

/// A VM register of a frame state.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StateRegister {
    /// The VM register.
    pub register: u32,
    /// If the register gets a box of the value, the number of the value's kind in [`Boxes::kinds`].
    pub kind: Option<u8>,
}

impl StateRegister {
    /// A VM register that gets the value's bits, with zeros above.
    pub const fn plain(register: u32) -> StateRegister {
        StateRegister { register, kind: None }
    }
}

/// The frame states of a function.
#[derive(Clone, Debug, Default)]
pub struct FrameStates {
    /// Each state.
    pub all: Vec<FrameState>,
    /// The pool of VM registers.
    pub registers: Vec<StateRegister>,
    /// How boxes are made.
    pub boxes: Boxes,
    /// The inlined calls.
    pub inlining: Inlining,
}

impl FrameStates {
    /// Removes all states, and keeps the memory.
    pub fn clear(&mut self) {
        self.all.clear();
        self.registers.clear();
        self.boxes = Boxes::default();
        self.inlining.clear();
    }

    /// Adds a state that says the same as another one, for another node: each state, and its registers, belong to one node, whose operands
    /// may be in boxes or not.
    pub fn add_copy(&mut self, state: u64) -> u64 {
        let state = self.all[state as usize];
        let start = self.registers.len() as u32;
        self.registers.extend_from_within(state.registers.range());
        self.all.push(FrameState { registers: List { start, len: state.registers.len }, ..state });
        self.all.len() as u64 - 1
    }

    /// The VM registers of a state.
    pub fn registers(&self, state: u64) -> &[StateRegister] {
        &self.registers[self.all[state as usize].registers.range()]
    }
}

/// How the boxes of values are made when control leaves.
#[derive(Clone, Copy, Debug)]
pub struct Boxes {
    /// The operators of the formulas. All that are used have a reference meaning.
    pub vocab: Vocabulary,
    /// The kinds of values.
    pub kinds: &'static [ValueKind],
}

impl Default for Boxes {
    fn default() -> Boxes {
        Boxes { vocab: Vocabulary::BUILTIN, kinds: &[] }
    }
}

impl Boxes {
    /// Whether boxes of a kind can be made.
    pub fn can_make(self, kind: u64) -> bool {
        let has_meaning = |op| self.vocab.info(op).reference.is_some();
        self.kinds
            .get(kind as usize)
            .is_some_and(|kind| kind.make_box.terms.iter().all(|term| has_meaning(term.op)))
    }

    /// What a VM register gets for the bits of a value.
    pub fn slot(self, kind: Option<u8>, bits: u64) -> u64 {
        match kind {
            None => bits,
            Some(kind) => {
                let formula = self.kinds[kind as usize].make_box;
                formula.evaluate(self.vocab, bits).expect("its operators have a meaning, and do not trap")
            }
        }
    }
}

/// A value of a frame state in a tile list.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SavedValue {
    /// The next operand of the instruction.
    Operand,
    /// A constant with these bits.
    Constant(u64),
}

/// A VM register of a tile list's state, and what it gets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Saved {
    /// The VM register.
    pub to: StateRegister,
    /// The value, from which the register's box is made if it gets one.
    pub value: SavedValue,
}

/// A state in a tile list.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TileState {
    /// As in [`FrameState`].
    pub to: u64,
    /// The VM registers, in [`TileList::saved`](super::tiles::TileList::saved).
    pub saved: List,
    /// As in [`FrameState`].
    pub frame: u32,
}
