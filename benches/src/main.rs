//! Measures compile time and run time of azulejo and other engines in the same run.
//!
//! In: `--json FILE`, `--quick`, `--only NAME` (part of a program's name), `--rounds N`, `--passes` (instead, the time of each
//! pass of the optimizer), `--code` (instead, the machine code of azulejo and Cranelift), `--suite wasm` (instead, WebAssembly
//! modules in azulejo, wasmtime and wasmi; needs the feature of that name), `--suite dynamic` (instead, a machine for a dynamic
//! language beside Lua), `--suite lua` (instead, programs in Lua, in the example beside other implementations). Out: tables of medians, and means of ratios, which are more robust on a machine that is not idle.

mod assembler;
mod by_hand;
mod clif;
mod clock;
mod dynamic;
mod limit;
mod listing;
#[cfg(unix)]
mod lua;
mod measure;
mod memory;
mod op;
mod options;
mod passes;
mod programs;
mod redirect;
mod report;
mod subject;
#[cfg(feature = "wasm")]
mod wasm;

use measure::Effort;
use options::Options;
use std::io::Write;
use std::time::Duration;

#[global_allocator]
static HEAP: memory::Counting = memory::Counting;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let options = Options::read()?;
    let programs = programs::all(options.is_quick, options.only.as_deref().unwrap_or(""));
    let mut effort = match options.is_quick {
        true => Effort { rounds: 5, sample: Duration::from_micros(300) },
        false => Effort { rounds: 15, sample: Duration::from_millis(1) },
    };
    effort.rounds = options.rounds.unwrap_or(effort.rounds);
    match options.suite.as_deref() {
        None => {}
        #[cfg(feature = "wasm")]
        Some("wasm") => return wasm::measure(&options, effort),
        Some("dynamic") => return dynamic::measure(&options),
        #[cfg(unix)]
        Some("lua") => return lua::measure(&options),
        Some(other) => return Err(format!("there is no suite `{other}` in this build").into()),
    }
    if options.passes {
        passes::print(&programs, effort);
        return Ok(());
    }
    if options.code {
        programs.iter().for_each(listing::print);
        return Ok(());
    }
    let mut rows = Vec::new();
    for program in &programs {
        eprintln!("{}", program.name);
        rows.extend(measure::measure(program, effort));
    }
    if let Some(file) = &options.json {
        let mut file = std::fs::File::create(file)?;
        for row in &rows {
            writeln!(file, "{}", report::json(row))?;
        }
    }
    report::Report::new(&rows).print();
    if let Some(program) = programs.iter().find(|program| program.name == "fib") {
        redirect::print(program, effort);
    }
    Ok(())
}
