//! How quickly the baseline compiler compiles scripts, and how much machine code that makes.
//!
//! ```console
//! $ cargo run --release -p azulejo-lua --example compile_rate -- benches/lua/*.lua
//! $ cargo run --release -p azulejo-lua --example compile_rate -- --run benches/lua/*.lua
//! ```
//!
//! All functions of the scripts are compiled: without having run, so that their code lacks nothing, and nobody knows yet what their
//! sites will learn; or, with `--run`, after the interpreter has run the scripts to their ends, with what their sites have learned,
//! as they are compiled where they get hot. The first time stencils are made, which a process has once; after that they are copied.
//! The best of some rounds counts.

use azulejo_lua::api::{Compiled, Lua, LuaError, LuaFunction, LuaResult, Tiers};
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// How often scripts are compiled behind the first time.
const ROUNDS: usize = 20;
/// How often they are run, which takes longer.
const RUNS: usize = 2;
/// What scripts find before they run: no arguments, and nothing that prints.
const SILENCE: &str = "arg = {} print = function() end io.write = print";

fn main() -> ExitCode {
    let mut scripts = Vec::new();
    let mut has_run = false;
    for argument in std::env::args().skip(1) {
        if argument == "--run" {
            has_run = true;
            continue;
        }
        match std::fs::read(&argument) {
            Ok(text) => scripts.push((argument, text)),
            Err(error) => {
                eprintln!("cannot read {argument}: {error}");
                return ExitCode::FAILURE;
            }
        }
    }
    let mut rounds = Vec::new();
    for _ in 0..=if has_run { RUNS } else { ROUNDS } {
        match round(&scripts, has_run) {
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

/// Compiles all functions of the scripts in a new program, after these have run or without that; says what, and how long that took.
fn round(scripts: &[(String, Vec<u8>)], has_run: bool) -> Result<(Compiled, Duration), LuaError> {
    let lua = Lua::builder().all_libraries(true).tiers(Tiers::Interpreter).build();
    // What the library is made of is not what is measured.
    lua.compile_all();
    lua.load(SILENCE).exec()?;
    let load = |(path, text): &(String, Vec<u8>)| {
        let chunk = lua.load(text).set_name(path).into_function()?;
        if has_run {
            let (): () = chunk.call(())?;
        }
        Ok(chunk)
    };
    let chunks = scripts.iter().map(load).collect::<LuaResult<Vec<LuaFunction>>>()?;
    let start = Instant::now();
    let made = lua.compile_all();
    let time = start.elapsed();
    drop(chunks);
    Ok((made, time))
}
