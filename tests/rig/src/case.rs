//! A program with its initial state, in the format of the files in `found/`.

use crate::program::Program;
use std::path::Path;
use std::{fmt, fs};

/// A failure.
#[derive(Clone, Debug)]
pub struct Case {
    /// The program that failed.
    pub program: Program,
    /// The seed of the initial state, if that matters.
    pub start: Option<u64>,
}

impl Case {
    /// Reads what `Display` writes.
    pub fn parse(text: &str) -> Result<Case, String> {
        let (start, rest) = start_line(text)?;
        Ok(Case { program: Program::parse(rest)?, start })
    }
}

/// Parses a line `start N`, which may stand behind comments. Returns its number, if there is such a line, and the rest of
/// the text.
pub fn start_line(mut text: &str) -> Result<(Option<u64>, &str), String> {
    while text.starts_with('#') {
        text = text.split_once('\n').map_or("", |(_, rest)| rest);
    }
    let Some(rest) = text.strip_prefix("start ") else { return Ok((None, text)) };
    let (seed, rest) = rest.split_once('\n').unwrap_or((rest, ""));
    let seed = seed.trim().parse().map_err(|error| format!("`start {seed}`: {error}"))?;
    Ok((Some(seed), rest))
}

/// The names and contents of the files in `found/` with this ending, sorted by name.
pub fn found(ending: &str) -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("found");
    let mut files = Vec::new();
    for file in fs::read_dir(folder).expect("the folder is there") {
        let path = file.expect("it can be listed").path();
        if path.extension().is_some_and(|found| found == ending) {
            let text = fs::read_to_string(&path).expect("it is text");
            files.push((path.display().to_string(), text));
        }
    }
    assert!(!files.is_empty(), "there are no files");
    files
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(start) = self.start {
            writeln!(f, "start {start}")?;
        }
        write!(f, "{}", self.program)
    }
}
