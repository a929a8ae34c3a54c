//! Makes a valid module from random numbers, with `wasm-smith`.
//!
//! Most modules bring addresses and divisors into bounds before use: after a trap in the first access, the second would not
//! be tested. The modules canonicalize NaNs themselves, so that these are the same in all engines. Every loop and function
//! counts down and traps at zero.

use crate::{host, sections};
use arbitrary::Unstructured;
use azulejo_core::random::Random;
use wasm_smith::{Config, Module};

/// How many loop iterations and calls one call from outside may execute: the global named [`FUEL_EXPORT`] is set to it
/// before each call.
pub const FUEL: u32 = 900;
/// The name of the fuel global.
pub const FUEL_EXPORT: &str = "fuel";

/// The maximum number of random bytes for one module.
const MOST_BYTES: usize = 8_000;

/// Makes an encoded module.
pub fn module(random: &mut Random) -> Vec<u8> {
    loop {
        let length = 1000 + random.below(MOST_BYTES - 1000);
        let bytes: Vec<u8> = (0..length).map(|_| random.number() as u8).collect();
        // Try again if these bytes do not make a module of the required shape.
        if let Some(module) = of_bytes(&bytes, random) {
            return module;
        }
    }
}

/// Makes the module that these bytes determine, with a random configuration.
pub fn of_bytes(bytes: &[u8], random: &mut Random) -> Option<Vec<u8>> {
    let mut module = Module::new(config(random), &mut Unstructured::new(bytes)).ok()?;
    let fuel = module.ensure_termination(FUEL).ok()?;
    sections::export_global(&module.to_bytes(), FUEL_EXPORT, fuel)
}

/// The features of WebAssembly 2.0 without vectors, with tail calls and extended constants. Memories and tables have a
/// maximum size, so that growing fails at the same size in all engines.
fn config(random: &mut Random) -> Config {
    Config {
        disallow_traps: !random.one_in(6),
        canonicalize_nans: true,
        export_everything: true,
        min_funcs: 2,
        max_funcs: 12,
        min_types: 2,
        max_types: 12,
        max_imports: if random.one_in(3) { 6 } else { 0 },
        available_imports: Some(host::imports()),
        min_globals: 1,
        max_globals: 6,
        min_memories: 1,
        max_memories: 1,
        memory_max_size_required: true,
        max_memory32_bytes: 4 << 16,
        min_tables: u32::from(!random.one_in(4)),
        max_tables: 2,
        table_max_size_required: true,
        max_table_elements: 100,
        max_data_segments: 4,
        max_element_segments: 6,
        max_elements: 20,
        max_instructions: 20 + random.below(400),
        allow_start_export: random.one_in(8),
        bulk_memory_enabled: true,
        reference_types_enabled: true,
        multi_value_enabled: true,
        saturating_float_to_int_enabled: true,
        sign_extension_ops_enabled: true,
        tail_call_enabled: true,
        extended_const_enabled: true,
        compact_imports_enabled: false,
        exceptions_enabled: false,
        gc_enabled: false,
        memory64_enabled: false,
        relaxed_simd_enabled: false,
        simd_enabled: false,
        threads_enabled: false,
        wide_arithmetic_enabled: false,
        ..Config::default()
    }
}
