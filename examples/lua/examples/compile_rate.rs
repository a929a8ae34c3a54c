//! How quickly the baseline compiler compiles scripts, and how much machine code that makes.
//!
//! ```console
//! $ cargo run --release -p azulejo-lua --example compile_rate -- benches/lua/*.lua
//! ```
//!
//! All functions of the scripts are compiled without having run, so that their code lacks nothing; nobody knows yet what their sites will
//! learn. The first time stencils are made, which a process has once; after that they are copied. The best of some rounds counts.

use azulejo_lua::api::{Compiled, Lua, LuaError, LuaFunction, LuaResult};
use std::process::ExitCode;
use std::time::{Duration, Instant};

const ROUNDS: usize = 20;

fn main() -> ExitCode {
    let mut scripts = Vec::new();
    for path in std::env::args().skip(1) {
        match std::fs::read(&path) {
            Ok(text) => scripts.push((path, text)),
            Err(error) => {
                eprintln!("cannot read {path}: {error}");
                return ExitCode::FAILURE;
            }
        }
    }
    let mut rounds = Vec::new();
    for _ in 0..=ROUNDS {
        match round(&scripts) {
            Ok(round) => rounds.push(round),
            Err(error) => {
                eprintln!("{error}");
                return ExitCode::FAILURE;
            }
        }
    }
    let ((made, first), again) = (rounds[0], &rounds[1..]);
    let best = again.iter().map(|(_, time)| *time).min().expect("there are some rounds");
    let rate = made.bytecodes as f64 / best.as_secs_f64() / 1e6;
    println!("{} functions, {} bytecodes", made.functions, made.bytecodes);
    println!("with stencils that are made: {first:.1?}");
    println!("by copying: {best:.1?}, {rate:.1} million bytecodes a second");
    println!("{:.1} bytes a bytecode", made.bytes as f64 / made.bytecodes.max(1) as f64);
    ExitCode::SUCCESS
}

/// Compiles all functions of the scripts in a new program; says what, and how long that took.
fn round(scripts: &[(String, Vec<u8>)]) -> Result<(Compiled, Duration), LuaError> {
    let lua = Lua::with_all_libraries();
    // What the library is made of is not what is measured.
    lua.compile_all();
    let load = |(path, text): &(String, Vec<u8>)| lua.load(text).set_name(path).into_function();
    let chunks = scripts.iter().map(load).collect::<LuaResult<Vec<LuaFunction>>>()?;
    let start = Instant::now();
    let made = lua.compile_all();
    let time = start.elapsed();
    drop(chunks);
    Ok((made, time))
}
