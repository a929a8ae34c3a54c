//! Warns of inputs that are read after a store to an output: if both are the same VM register, the read sees the stored value.
//!
//! In: a checked template. Out: a warning for each such input, at the place of the read. It is no error, since all tiers agree on
//! the result. But it is rarely intended, and tests with different registers do not reveal it. An input bound by `let:` is safe.
//!
//! What was stored on the way to a mark counts behind the mark. Jumps back do not: a loop may well intend to read the values it stored.

use super::ast::{Arguments, Callee, Kind, Opcode, Typed};
use crate::place::Place;
use azulejo_core::ir::bytecode::OperandKind;

/// A read of an input after a store to an output.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Warning {
    /// The input, by its number.
    pub read: usize,
    /// The output that was stored earlier.
    pub stored: usize,
    /// The place of the read.
    pub place: Place,
}

impl Warning {
    /// The text of the warning.
    pub fn message(&self, opcode: &Opcode) -> String {
        let [read, stored] = [self.read, self.stored].map(|at| &opcode.operands[at].name);
        format!(
            "`${read}` may be the VM register of `${stored}`, which was stored before this; to read it first give it a name: \
             `(let: ((${read} ${read})) …)`"
        )
    }
}

/// The warnings of a template.
pub fn warnings(opcode: &Opcode, body: &Typed) -> Vec<Warning> {
    let mut look = Look { opcode, found: Vec::new(), jumps: Vec::new() };
    look.at(body, 0);
    look.found
}

struct Look<'a> {
    opcode: &'a Opcode,
    /// The first warning for each input.
    found: Vec<Warning>,
    /// For each jump to a mark: the sequence, the mark in it, and what was stored.
    jumps: Vec<([usize; 2], Stored)>,
}

/// A bit set of outputs that may have been stored, indexed by operand.
type Stored = u32;

impl Look<'_> {
    /// Visits an expression. `before` has the outputs that may have been stored before it, the result those that may have been
    /// stored after it.
    fn at(&mut self, typed: &Typed, before: Stored) -> Stored {
        let mut stored = before;
        match &typed.kind {
            Kind::Read(at) => self.read(*at, stored, typed.place),
            Kind::Set(at, value) => {
                stored = self.at(value, stored);
                if matches!(self.opcode.operands[*at].kind, OperandKind::Out | OperandKind::InOut) {
                    stored |= 1 << at;
                }
            }
            Kind::Place(at) => stored |= 1 << at,
            Kind::If(flag, so, not) => {
                let decided = self.at(flag, stored);
                stored = 0;
                for arm in [so, not] {
                    let behind = self.at(arm, decided);
                    stored |= if arm.leaves { 0 } else { behind };
                }
            }
            Kind::Cached(cached) => {
                // The condition for a case comes behind that for the case before it, like what a loop does again.
                let looked = self.at(&cached.condition, stored);
                stored = 0;
                for (arm, before) in [(&cached.body, looked), (&cached.otherwise, looked)] {
                    let behind = self.at(arm, before);
                    stored |= if arm.leaves { 0 } else { behind };
                }
            }
            Kind::Try(attempt) => {
                let called = self.at(&attempt.call, stored);
                let caught = self.at(&attempt.otherwise, called);
                stored = called | if attempt.otherwise.leaves { 0 } else { caught };
            }
            Kind::Guard(flag, otherwise) => {
                stored = self.at(flag, stored);
                self.at(otherwise, stored);
            }
            Kind::Marked(sequence, runs) => {
                for (mark, run) in runs.iter().enumerate() {
                    let jumps = self.jumps.iter().filter(|(to, _)| *to == [*sequence, mark]);
                    stored |= jumps.fold(0, |all, (_, stored)| all | stored);
                    stored = self.all(run, stored);
                    if run.iter().any(|step| step.leaves) && mark + 1 < runs.len() {
                        stored = 0;
                    }
                }
            }
            Kind::GoTo(sequence, mark) => self.jumps.push(([*sequence, *mark], stored)),
            Kind::Op { args, .. } | Kind::Sequence(args) | Kind::All(args) | Kind::Any(args) => {
                stored = self.all(args, stored);
            }
            Kind::Let(bound, body) => {
                stored = self.all(bound.iter().map(|(_, value)| value), stored);
                stored = self.at(body, stored);
            }
            Kind::Within(flag, _, access) => stored = self.all([&**flag, &**access], stored),
            Kind::OfKind { value: inner, .. }
            | Kind::Not(inner)
            | Kind::Likely(inner, _)
            | Kind::Cold(inner)
            | Kind::Slow(inner)
            | Kind::Outside(_, inner)
            | Kind::Switch(inner, _) => stored = self.at(inner, stored),
            Kind::Return(Some(value)) => stored = self.at(value, stored),
            Kind::Call(call) => {
                if let Callee::Value(value) = &call.callee {
                    stored = self.at(value, stored);
                }
                stored = self.all(call.args.iter().map(|(arg, _)| arg), stored);
            }
            Kind::Invoke(invoke) | Kind::Tail(invoke) => {
                stored = self.at(&invoke.function, stored);
                stored = match &invoke.args {
                    Arguments::Values(values) => self.all(values, stored),
                    Arguments::Spread(spread) => self.all(spread, stored),
                    Arguments::Run(_) => stored,
                };
            }
            Kind::Constant(_)
            | Kind::Variable(_)
            | Kind::Case(_)
            | Kind::Site(_)
            | Kind::Full(_)
            | Kind::Frames
            | Kind::Goto(_)
            | Kind::Return(None)
            | Kind::Exit(_)
            | Kind::Trap(_)
            | Kind::Quicken(..)
            | Kind::Window(_)
            | Kind::WindowLength(_) => {}
        }
        stored
    }

    fn all<'a>(&mut self, parts: impl IntoIterator<Item = &'a Typed>, before: Stored) -> Stored {
        parts.into_iter().fold(before, |stored, part| self.at(part, stored))
    }

    fn read(&mut self, at: usize, stored: Stored, place: Place) {
        let is_input = matches!(self.opcode.operands[at].kind, OperandKind::In | OperandKind::InOut);
        // A read of an operand that was itself stored is intended.
        let is_own = stored & 1 << at != 0;
        let other = (0..self.opcode.operands.len()).find(|other| stored & 1 << other != 0);
        if let (true, false, Some(other)) = (is_input, is_own, other)
            && self.found.iter().all(|known| known.read != at)
        {
            self.found.push(Warning { read: at, stored: other, place });
        }
    }
}
