//! The project's maintenance commands: `cargo xtask <command>`.

mod bench;
#[path = "../../examples/lua/tests/beside/mod.rs"]
mod beside;
mod bisect;
mod ci;
mod command;
mod examples;
mod figures;
mod fuzz;
mod links;
mod lua_fuzz;
mod lua_picture;
mod lua_suite;
mod packages;
mod reference;
mod sabotage;
mod structure;
mod tidy;
#[cfg(target_arch = "x86_64")]
mod tiles;
mod wasm_programs;

use std::process::ExitCode;

const USAGE: &str = "\
usage: cargo xtask <command>
  ci      format, lints, docs, other targets, Miri, a minute of fuzzing, tidy: what must hold besides the tests [--all]
  bench   measure beside Cranelift, Rust and an interpreter written by hand; --json FILE, --quick, --only NAME,
          --passes (where the optimizer spends its time), --suite wasm (beside wasmtime and wasmi instead),
          --suite dynamic (beside Lua instead), --suite lua (programs in Lua, in the example and in others; --longer)
  lua-picture
          draw what `bench --suite lua --json FILE` has measured: lua-picture FILE PICTURE.svg
  fuzz    run random programs in every tier and compare; --seconds N, --seed N, --programs N
  wasm-fuzz
          run generated WebAssembly modules in every tier and in wasmi, and compare; --modules N, --seed N, --seconds N
  bless   rewrite the expected output of golden and compile-error tests
  tiles   print the tile set: flattened rules, symbols, states, sizes
  sabotage
          break the compiler in every listed way, one at a time, and see that tests or fuzzing notice
  bisect  find the function and the compiler's step that make a command fail: bisect [--timeout SECONDS] -- COMMAND
  soak    compile and throw away a million functions in 16 MiB of code memory
  wasm-programs
          compile the C programs of examples/wasm again; --check only compares
  lua-suite
          run the official tests of Lua 5.1, and the Lua example's programs, in every tier: lua-suite [FOLDER]
  lua-fuzz
          run random programs of Lua in every tier of the example and in C's Lua, and compare; --programs N, --seed N, --processes
  reference
          write the page of all operators, its copy for rustdoc, and its examples as a test, from the table of operators
  tidy    check what no other tool checks: module docs, sizes, links, reasons";

fn main() -> ExitCode {
    let root =
        std::path::Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask lies in the workspace");
    let command = std::env::args().nth(1);
    let result = match command.as_deref() {
        Some("ci") => ci::ci(root, std::env::args().skip(2)),
        Some("bench") => bench::bench(root, std::env::args().skip(2)),
        Some("wasm-fuzz") => fuzz::wasm_rig(root, std::env::args().skip(2)),
        Some("fuzz") => fuzz::rig(root, "fuzz", std::env::args().skip(2)),
        Some("soak") => fuzz::rig(root, "soak", std::env::args().skip(2)),
        Some("sabotage") => sabotage::sabotage(root, std::env::args().skip(2)),
        Some("bisect") => bisect::bisect(root, std::env::args().skip(2)),
        Some("bless") => ci::bless(root),
        #[cfg(target_arch = "x86_64")]
        Some("tiles") => tiles::tiles(azulejo_x64::X64.tables, azulejo_x64::X64.rows),
        Some("lua-picture") => lua_picture::draw(std::env::args().skip(2)),
        Some("wasm-programs") => wasm_programs::programs(root, std::env::args().skip(2)),
        Some("lua-fuzz") => lua_fuzz::fuzz(root, std::env::args().skip(2)),
        Some("lua-suite") => lua_suite::suite(root, std::env::args().skip(2)),
        Some("reference") => reference::write(root),
        Some("tidy") => tidy::tidy(root),
        _ => Err(USAGE.to_string()),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}
