//! Guards in front of loops, for code whose bytecode type has kinds of values.
//!
//! In: the jumps of a function. Out: a branch on `speculate` on each edge that enters a loop, one way of which exits at the
//! bytecode where the edge leads. `pass::kinds` decides what is checked there, and in most cases that is nothing.
//!
//! A loop at whose guard a check has failed before gets no guard any more.

use super::FunctionSource;
use super::cursor::Cursor;
use super::values::{Needs, ValueOperands};
use crate::vocab::{Op, Sig, Type};

/// Which edges get a guard.
#[derive(Debug, Default)]
pub(super) struct LoopGuards {
    /// By bytecode: one more than the innermost loop's head, of those whose jumps back enclose the bytecode; zero if there is none.
    /// Empty if no edge gets a guard.
    heads: Vec<u32>,
    open: Vec<u32>,
}

impl LoopGuards {
    /// Finds the loops. `last_jump` is the last bytecode that jumps to one, if any does.
    pub(super) fn find(
        &mut self,
        source: &FunctionSource<'_>,
        n_code: usize,
        has_kinds: bool,
        last_jump: impl Fn(usize) -> Option<u32>,
    ) {
        self.heads.clear();
        self.open.clear();
        if !has_kinds || source.slow_paths.is_none_or(|slow_paths| slow_paths.is_empty()) {
            return;
        }
        for at in 0..n_code {
            if last_jump(at).is_some_and(|last| last as usize >= at) {
                self.open.push(at as u32);
            }
            while self.open.last().is_some_and(|head| last_jump(*head as usize) < Some(at as u32)) {
                self.open.pop();
            }
            self.heads.push(self.open.last().map_or(0, |head| head + 1));
        }
    }
}

impl ValueOperands<'_> {
    /// Whether an edge to a bytecode gets a guard. All bytecodes before `first` are outside of the loops that it enters.
    pub(super) fn is_guarded(&self, first: usize, to: usize) -> bool {
        let enters = self.scratch.guards.heads.get(to).is_some_and(|head| *head as usize > first);
        let (owner, of_owner) = self.scratch.code.plan.owner(self.source, to);
        enters && owner.slow_paths.is_some_and(|slow_paths| !slow_paths.has_missed(of_owner as u32))
    }

    /// Adds a guard at the end of the current block, from which control goes to a bytecode, if that edge [is
    /// guarded](Self::is_guarded).
    pub(super) fn guard_loop(&mut self, cursor: &mut Cursor<'_>, first: usize, to: usize) {
        if self.is_guarded(first, to) {
            let flag = cursor.add(Op::SPECULATE, Sig { from: Type::Void, ty: Type::Flag }, &[], 0);
            self.leave_unless(cursor, flag, Needs::At(to), |operands, cursor| {
                operands.miss(cursor, to as u32)
            });
        }
    }
}
