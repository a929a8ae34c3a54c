//! Loads bytes as a WebAssembly module. It must be refused, or run as in wasmi.

#![no_main]

use azulejo_core::random::Random;
use azulejo_wasm_rig::oracle::Oracle;
use azulejo_wasm_rig::session::{self, Tally};
use libfuzzer_sys::fuzz_target;

thread_local! {
    static ORACLE: Oracle = Oracle::default();
}

fuzz_target!(|bytes: &[u8]| {
    let mut random = Random::new(1);
    let result = ORACLE.with(|oracle| session::check(oracle, bytes, &mut random, &mut Tally::default()));
    result.unwrap_or_else(|difference| panic!("{difference}"));
});
