//! Memory that calls make: `makes`, `(changes region …)`, and `(kept)`.
//!
//! In: what stands in front of a call's function; a question whether memory is made. Out: what is known of the memory that the call changes.
//! A row that asks has a call that makes some.

use super::ast::Typed;
use super::check::{Checked, Checker, fail};
use crate::place::Place;
use crate::sexpr::Sexpr;
use azulejo_core::ir::graph::{CallMemory, Effect};
use azulejo_core::ir::regions::MemoryRegions;
use azulejo_core::vocab::Scalar;

/// What a row says of memory that it makes.
#[derive(Clone, Copy, Default)]
pub(super) struct RowMemory {
    /// Whether it makes some.
    makes: bool,
    /// Where it asks whether that is made.
    pub(super) asked: Option<Place>,
}

impl Checker<'_> {
    /// What a call says of the memory that it makes and changes, and where it does.
    pub(super) fn call_memory(
        &mut self,
        (word, rest, effect): (&str, &[Sexpr], Effect),
        makes: Option<Place>,
        changes: Option<(MemoryRegions, Place)>,
    ) -> Checked<CallMemory> {
        if let Some(place) = makes.or(changes.map(|(_, place)| place))
            && effect != Effect::Leaf
        {
            let message = "only a `leaf` makes memory or says what it changes: others run bytecode, which may change anything";
            return fail(place, message);
        }
        if let Some(place) = makes {
            let is_address = |ty: &Sexpr| self.scalar(ty).is_ok_and(|scalar| scalar == Scalar::Ptr);
            if word != "call" || !rest.get(2).is_some_and(is_address) {
                return fail(place, "the result of what `makes` memory is its address, a `ptr`");
            }
            self.memory.makes = true;
        }
        let changes = changes.map_or(MemoryRegions::ALL, |(changes, _)| changes);
        Ok(CallMemory { changes, makes: makes.is_some() })
    }

    /// Checks that a row which asks whether memory is made makes some.
    pub(super) fn makes_if_asked(&self, body: Typed) -> Checked<Typed> {
        match self.memory.asked {
            Some(place) if !self.memory.makes => fail(
                place,
                "`(kept)` asks for what a `(call leaf makes …)` of the row makes, and there is none",
            ),
            _ => Ok(body),
        }
    }
}
