//! Compiles and discards functions for a long time: memory must stay bounded, and compiling must not get slower.
//!
//! In: the number of compilations. Out: one line for each tenth of them, and a last one that sums it up. The functions
//! together are larger than the code memory, so most compilations discard the code of other functions.

use crate::library::library;
use crate::machine::{Op, Vm};
use crate::program::{N_REGISTERS, program};
use azulejo::{Engine, Error, FunctionId};
use azulejo_core::fuzzing::Random;
use std::time::Instant;

const CODE_BYTES: usize = 16 << 20;
const FUNCTIONS: u64 = 12_000;

/// Runs this many compilations. Returns whether memory and time stayed bounded.
pub fn soak(compilations: u64) -> Result<bool, Error> {
    let engine: Engine<Op> = Engine::<Op>::builder().code_bytes(CODE_BYTES).build();
    let mut random = Random::new(1);
    // Programs invoke the library's functions by their numbers, so these are defined first.
    library().functions().iter().try_for_each(|function| function.define(&engine).map(drop))?;
    let mut functions = Vec::new();
    for seed in 0..FUNCTIONS {
        let size = if random.one_in(20) { 600 } else { 4 + random.below(90) };
        let program = program(&mut Random::new(seed), size);
        functions.push(engine.define("soaked", program.code(), N_REGISTERS)?);
    }
    let (mut seconds, mut resident, mut wrong, mut most) = (Vec::new(), Vec::new(), 0, 0);
    for tenth in 0..10 {
        let start = Instant::now();
        for at in 0..compilations / 10 {
            let function = functions[random.below(functions.len())];
            engine.discard(function)?;
            engine.compile(function)?;
            if at % 64 == 0 {
                wrong += !agrees(&engine, function) as u64;
            }
        }
        seconds.push(start.elapsed().as_secs_f64());
        resident.push(resident_bytes());
        let bytes: usize = functions.iter().map(|function| engine.code_len(*function)).sum();
        most = most.max(bytes);
        println!(
            "{:>3} %: {:.1} s, {} KiB of code, {} MiB resident",
            (tenth + 1) * 10,
            seconds[tenth],
            bytes >> 10,
            resident[tenth] >> 20
        );
    }
    // The limits leave room for noise: half as slow again, or a tenth larger, would be a trend over this many compilations.
    let slowdown = seconds[9] / seconds[1];
    let growth = resident[9] as f64 / resident[1].max(1) as f64;
    println!(
        "soak: {compilations} compilations, at most {} KiB of code, the last tenth took {slowdown:.2} of the second, \
         memory {growth:.3} of then, {wrong} wrong results",
        most >> 10
    );
    Ok(wrong == 0 && most <= CODE_BYTES && slowdown < 1.5 && growth < 1.1)
}

/// Whether a function does the same in both tiers.
fn agrees(engine: &Engine<Op>, function: FunctionId) -> bool {
    let args: [u64; 10] = std::array::from_fn(|at| 0x9e37_79b9u64.wrapping_mul(at as u64 + 1) >> (3 * at));
    let run = |interpreted: bool| {
        let mut vm = Vm::default();
        let result: Result<u64, Error> = match interpreted {
            true => engine.interpret(function, &mut vm, &args[..]),
            false => engine.call(function, &mut vm, &args[..]),
        };
        (result, vm)
    };
    run(true) == run(false)
}

/// The resident memory of this process; zero where the system does not report it.
fn resident_bytes() -> usize {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    text.split(' ').nth(1).and_then(|pages| pages.parse::<usize>().ok()).unwrap_or(0) * 4096
}
