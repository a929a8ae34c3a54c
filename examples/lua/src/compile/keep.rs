//! Variables that keep what they have until the end of their scope.
//!
//! In: the declarations, uses and assignments of local variables, and bytecodes, as they are emitted. Out: an [`Op::Keep`] at the end of
//! the scope of variables that may be the only ones to have a new object, and before they get another.
//!
//! The collector takes a register for dead behind its last use. Programs see the difference where an object has a finalizer or is in a
//! weak table: a lock that a variable holds is to be held until the end of the block. Variables that only name what something else has
//! are left out: it costs a bytecode, and registers that live longer. So are parameters, and variables of loops.

use super::Builder;
use super::Place;
use crate::run::bytecode::Op;
use crate::syntax::ast::{BinaryOp, Expr, LocalId, Suffix, SuffixKind};
use std::cell::Cell;

/// What is known of the local variables of a function.
pub(super) struct Owners {
    /// Whether each may be the only one to have an object.
    is_owner: Vec<bool>,
    /// Before which bytecode each was used last.
    last_use: Vec<Cell<usize>>,
    /// Those that are in scope.
    in_scope: Vec<LocalId>,
    /// The last bytecode at which the collector may work.
    last_call: Option<usize>,
}

impl Owners {
    pub(super) fn new(count: usize) -> Owners {
        Owners {
            is_owner: vec![false; count],
            last_use: vec![Cell::new(0); count],
            in_scope: Vec::new(),
            last_call: None,
        }
    }

    /// A variable is used by what is emitted at a place.
    pub(super) fn note_use(&self, local: LocalId, at: usize) {
        self.last_use[local.0 as usize].set(at);
    }
}

impl Builder<'_> {
    /// A bytecode is emitted.
    pub(super) fn note_op(&mut self, op: &Op) {
        let collects = matches!(
            op,
            Op::Call0 { .. }
                | Op::Call1 { .. }
                | Op::Call2 { .. }
                | Op::Call3 { .. }
                | Op::Call { .. }
                | Op::CallWithResults { .. }
                | Op::CallWithVarargs { .. }
                | Op::SelectValue { .. }
                | Op::CountValues { .. }
                | Op::NewTable { .. }
                | Op::NewObject { .. }
                | Op::NewClosure { .. }
                | Op::Concat { .. }
        );
        if collects {
            self.owners.last_call = Some(self.code.len());
        }
    }

    /// A variable is in scope.
    pub(super) fn note_declaration(&mut self, local: LocalId) {
        self.owners.note_use(local, self.code.len());
        self.owners.in_scope.push(local);
    }

    /// A variable may be the only one to have an object.
    pub(super) fn note_owner(&mut self, local: LocalId) {
        self.owners.is_owner[local.0 as usize] = true;
    }

    /// Values go into variables; the last one may have several.
    pub(super) fn note_values(&mut self, locals: impl Iterator<Item = Option<LocalId>>, values: &[Expr]) {
        for (at, local) in locals.enumerate() {
            let value = values.get(at).or(values.last().filter(|value| value.is_multiple()));
            if let Some(local) = local
                && value.is_some_and(may_be_new)
            {
                self.note_owner(local);
            }
        }
    }

    /// Starts a scope; what is returned ends it.
    pub(super) fn open_scope(&self) -> usize {
        self.owners.in_scope.len()
    }

    /// Ends a scope, of which the end is reached or not.
    pub(super) fn close_scope(&mut self, scope: usize, is_reached: bool) {
        if is_reached {
            self.keep_from(scope);
        }
        self.owners.in_scope.truncate(scope);
    }

    /// Keeps what all variables in scope have: the function ends.
    pub(super) fn keep_all(&mut self) {
        self.keep_from(0);
    }

    fn keep_from(&mut self, scope: usize) {
        for at in scope..self.owners.in_scope.len() {
            self.keep(self.owners.in_scope[at]);
        }
    }

    /// Keeps what variables have up to an assignment.
    pub(super) fn keep_overwritten(&mut self, locals: impl Iterator<Item = LocalId>) {
        locals.for_each(|local| self.keep(local));
    }

    fn keep(&mut self, local: LocalId) {
        let Owners { is_owner, last_use, last_call, .. } = &self.owners;
        let at = local.0 as usize;
        if is_owner[at]
            && last_call.is_some_and(|call| last_use[at].get() < call)
            && let Place::Register(a) | Place::Cell(a) = self.places[at]
        {
            self.emit(Op::Keep { a: a.into() });
        }
    }
}

/// Whether the value of an expression may be an object that nothing else has.
fn may_be_new(value: &Expr) -> bool {
    match value {
        Expr::Table(_) | Expr::Function(_) => true,
        Expr::Suffixed(_, suffixes) => {
            let last = suffixes.last();
            matches!(last, Some(Suffix { kind: SuffixKind::Call(_) | SuffixKind::Method(..), .. }))
        }
        Expr::Binary(first, operations) => {
            let is_choice = |op: BinaryOp| matches!(op, BinaryOp::And | BinaryOp::Or);
            operations.iter().all(|operation| is_choice(operation.op))
                && (may_be_new(first) || operations.iter().any(|operation| may_be_new(&operation.right)))
        }
        Expr::Paren(inner) => may_be_new(inner),
        _ => false,
    }
}
