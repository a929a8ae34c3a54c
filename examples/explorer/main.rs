//! Writes a page that shows the compilation of a program.
//!
//! `cargo run --example explorer -- FILE [PAGE]`: FILE is a program (see `assembler.rs`, and `programs/`), or the output of
//! `Engine::stages` or a log of a function. PAGE defaults to FILE with the extension `.html`.

mod assembler;
mod machine;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (file, page) = match arguments.as_slice() {
        [file] if !file.starts_with('-') => (Path::new(file), Path::new(file).with_extension("html")),
        [file, page] => (Path::new(file), PathBuf::from(page)),
        _ => {
            eprintln!("usage: cargo run --example explorer -- FILE [PAGE]");
            eprintln!("FILE is a program, as in examples/explorer/programs, or a trace, as a log has it.");
            return ExitCode::FAILURE;
        }
    };
    match explore(file, &page) {
        Ok(()) => {
            println!("{}", page.display());
            ExitCode::SUCCESS
        }
        Err(what) => {
            eprintln!("{}: {what}", file.display());
            ExitCode::FAILURE
        }
    }
}

/// Writes the page for a file.
fn explore(file: &Path, page: &Path) -> Result<(), String> {
    if file == page {
        return Err("the page would take the file's place; say where it goes".into());
    }
    let text = std::fs::read_to_string(file).map_err(|error| error.to_string())?;
    let is_trace = text.lines().any(|line| line.starts_with("== "));
    let trace = if is_trace {
        text
    } else {
        let functions = assembler::assemble(&text).map_err(|wrong| wrong.to_string())?;
        machine::traces(functions).map_err(|error| error.to_string())?
    };
    let title = file.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    std::fs::write(page, azulejo::explore::page(&title, &trace))
        .map_err(|error| format!("{}: {error}", page.display()))
}
