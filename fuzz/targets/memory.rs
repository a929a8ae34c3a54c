//! Decodes bytes to a sequence of allocations and releases of code memory. No code may be lost or changed.

#![no_main]

use azulejo_core::random::Random;
use azulejo_rig::property;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    property::of_code_memory(&mut Random::from_bytes(bytes)).unwrap_or_else(|failure| panic!("{failure}"));
});
