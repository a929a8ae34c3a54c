//! Decodes bytes to a program and a way to compile it. All tiers must agree.

#![no_main]

use azulejo_core::random::Random;
use azulejo_rig::compare::{Rig, WAYS};
use azulejo_rig::property;
use libfuzzer_sys::fuzz_target;
use std::cell::RefCell;

thread_local! {
    /// Reused between runs, as an engine reuses its compiler.
    static RIG: RefCell<Rig> = RefCell::default();
}

fuzz_target!(|bytes: &[u8]| {
    let mut random = Random::from_bytes(bytes);
    RIG.with_borrow_mut(|rig| {
        rig.ways = vec![random.below(WAYS.len())];
        property::of_program(rig, &mut random).unwrap_or_else(|failure| panic!("{failure}"));
    });
});
