//! The names of `src/engine/background.rs` where nothing is compiled.
//!
//! In: a hot function. Out: nothing; the caller looks for code itself, and finds none.

use super::Engine;
use super::function::Function;
use azulejo_core::ir::bytecode::Bytecode;
use std::marker::PhantomData;

/// No thread compiles.
pub(super) struct Background<B>(PhantomData<B>);

impl<B: Bytecode> Background<B> {
    pub(super) fn new(_: bool) -> Background<B> {
        Background(PhantomData)
    }
}

impl<B: Bytecode> Engine<B> {
    pub(super) fn comes_from_background(&self, _: &Function<B>) -> bool {
        false
    }

    pub(super) fn request_entry(&self, _: &Function<B>, _: u32) -> bool {
        false
    }
}
