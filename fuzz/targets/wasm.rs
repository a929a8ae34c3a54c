//! Decodes bytes to a valid WebAssembly module. All tiers must agree with wasmi.

#![no_main]

use azulejo_core::random::Random;
use azulejo_wasm_rig::generate;
use azulejo_wasm_rig::oracle::Oracle;
use azulejo_wasm_rig::session::{self, Tally};
use libfuzzer_sys::fuzz_target;

thread_local! {
    static ORACLE: Oracle = Oracle::default();
}

fuzz_target!(|bytes: &[u8]| {
    let mut random = Random::from_bytes(&bytes[..bytes.len().min(64)]);
    let Some(module) = generate::of_bytes(bytes, &mut random) else { return };
    let result = ORACLE.with(|oracle| session::check(oracle, &module, &mut random, &mut Tally::default()));
    result.unwrap_or_else(|difference| panic!("{difference}"));
});
