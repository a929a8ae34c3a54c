//! The project's own lints.
//!
//! Every Rust file starts with `//!`. Files stay small enough to be one idea. A lint is allowed only with a
//! reason. Unfinished code names its issue. No line has trailing blanks. Links and paths in documents exist, and the book
//! lists its chapters (`links.rs`). The public API has examples (`examples.rs`). Published packages are complete (`packages.rs`).
//! The reference is up to date (`reference.rs`), and figures of README.md are true (`figures.rs`). Functions are short, no two types of a crate have one name, and no circle of uses
//! leads through several folders (`structure.rs`). The modules of some crates depend on each other in a given order.

use crate::examples::{check_document, check_examples};
use crate::links::{check_links, check_paths, check_summary};
use crate::packages::check_packages;
use crate::structure::check_structure;
use std::fs;
use std::path::{Path, PathBuf};

const MAX_LINES: usize = 600;

/// Files that may exceed the limit, each with the reason.
const LONG: &[(&str, &str)] = &[];

/// Marks of unfinished work (spelled so that this file passes its own check).
const UNFINISHED: [&str; 2] = [concat!("TO", "DO"), concat!("FIX", "ME")];

/// Attributes that hide failing tests.
const SKIPPED: [&str; 2] = [concat!("#[", "ignore"), concat!("#[", "should_panic")];

/// For each folder or file of a crate, the other modules of that crate that it may use, in dependency order.
const USES: &[(&str, &[&str])] = &[
    ("jit-core/src/random", &[]),
    ("jit-core/src/vocab", &[]),
    ("jit-core/src/ir", &["vocab", "target"]),
    ("jit-core/src/grammar", &["vocab", "ir", "target"]),
    ("jit-core/src/pass", &["vocab", "ir", "grammar", "target", "check", "text", "error", "random"]),
    ("jit-core/src/check", &["vocab", "ir", "grammar", "target", "pass"]),
    ("jit-core/src/text", &["vocab", "ir", "grammar", "target"]),
    ("jit-lang/src/place", &[]),
    ("jit-lang/src/words", &[]),
    ("jit-lang/src/token", &["place"]),
    ("jit-lang/src/reader", &["place", "token"]),
    ("jit-lang/src/sexpr", &["place", "token", "reader"]),
    ("jit-lang/src/pattern", &["place", "token", "reader"]),
    ("jit-lang/src/rewrite", &["place", "token", "words", "reader", "pattern"]),
    ("jit-lang/src/tile", &["place", "token", "words", "reader", "pattern"]),
    ("jit-lang/src/template", &["place", "token", "words", "reader", "sexpr"]),
    ("jit-code/src/field", &[]),
    ("jit-code/src/status", &[]),
    ("jit-code/src/machine", &["field"]),
    ("jit-code/src/unwind", &["machine"]),
    ("jit-code/src/faults", &["machine"]),
    ("jit-code/src/watch", &["machine", "unwind"]),
    ("jit-code/src/memory", &["machine", "unwind", "faults", "watch"]),
    ("jit-code/src/call", &["status", "memory"]),
    ("jit-code/src/emit", &["field", "status", "machine", "unwind", "faults", "memory", "call"]),
    ("jit-code/src/stencil", &["field", "emit"]),
    (
        "jit-code/src/baseline",
        &["field", "status", "machine", "unwind", "faults", "watch", "memory", "call", "emit", "stencil"],
    ),
    ("jit-code/src/compile", &["status", "unwind", "faults", "watch", "memory", "call", "emit", "baseline"]),
];

/// Runs every check, and reports all failures.
pub(crate) fn tidy(root: &Path) -> Result<(), String> {
    let mut files = Vec::new();
    collect(root, &mut files);
    files.sort();
    let (mut names, mut sources, mut faults) = (Vec::new(), Vec::new(), Vec::new());
    for file in &files {
        let name = file.strip_prefix(root).expect("files lie below the root").display().to_string();
        let Ok(text) = fs::read_to_string(file) else { continue };
        check_text(&name, &text, &mut faults);
        match file.extension().and_then(|extension| extension.to_str()) {
            Some("rs") => {
                check_rust(&name, &text, &mut faults);
                check_examples(&name, &text, &mut faults);
                sources.push((name.clone(), text));
            }
            Some("md") => {
                check_links(root, &name, &text, &mut faults);
                check_paths(root, &name, &text, &mut faults);
            }
            _ => {}
        }
        names.push(name);
    }
    check_structure(&sources, &mut faults);
    check_summary(root, &names, &mut faults);
    check_document(root, &mut faults);
    check_packages(root, &mut faults);
    crate::figures::check_figures(root, &mut faults);
    faults.extend(crate::sabotage::stale(root));
    faults.extend(crate::reference::stale(root));
    eprintln!("tidy: {} files, {} faults", files.len(), faults.len());
    if faults.is_empty() { Ok(()) } else { Err(faults.join("\n")) }
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let path = entry.path();
        let name = entry.file_name().to_string_lossy().into_owned();
        if path.is_dir() {
            if name != "target" && (!name.starts_with('.') || name == ".ci") {
                collect(&path, files);
            }
        } else {
            files.push(path);
        }
    }
}

fn check_text(name: &str, text: &str, faults: &mut Vec<String>) {
    if name.ends_with(".stderr") || name.starts_with("LICENSE") || name == "Cargo.lock" {
        return;
    }
    for (at, line) in text.lines().enumerate() {
        if line.ends_with([' ', '\t']) {
            faults.push(format!("{name}:{}: blanks at the end of the line", at + 1));
        }
    }
    if !text.is_empty() && !text.ends_with('\n') {
        faults.push(format!("{name}: no line end at the end"));
    }
}

fn check_rust(name: &str, text: &str, faults: &mut Vec<String>) {
    let in_ui = name.starts_with("tests/ui/");
    if !in_ui && !text.starts_with("//!") {
        faults.push(format!("{name}: starts without `//!`: say what goes in, what comes out, what holds"));
    }
    let lines = text.lines().count();
    if lines > MAX_LINES && !LONG.iter().any(|(long, _)| *long == name) {
        faults.push(format!("{name}: {lines} lines; is it one idea?"));
    }
    for (at, line) in text.lines().enumerate() {
        let place = format!("{name}:{}", at + 1);
        for word in UNFINISHED {
            if line.contains(word) && !line.contains('#') {
                faults.push(format!("{place}: {word} without an issue's number"));
            }
        }
        for macro_name in ["todo", "unimplemented"] {
            if line.contains(&format!("{macro_name}!(")) && !in_ui {
                faults.push(format!("{place}: unfinished"));
            }
        }
        if SKIPPED.iter().any(|attribute| line.contains(attribute)) {
            faults.push(format!("{place}: assert the result instead"));
        }
    }
    for (folder, allowed) in USES {
        if name.starts_with(folder) {
            check_uses(name, text, folder, allowed, faults);
        }
    }
}

fn check_uses(name: &str, text: &str, folder: &str, allowed: &[&str], faults: &mut Vec<String>) {
    let (in_crate, own) = folder.rsplit_once('/').expect("a path has a last part");
    // Tests at the end of a file may use anything.
    let code = text.split("#[cfg(test)]").next().unwrap_or(text);
    for (at, line) in code.lines().enumerate() {
        if line.trim_start().starts_with("//") {
            continue;
        }
        for used in line.split("crate::").skip(1) {
            let module: String = used.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
            let is_module = USES.iter().any(|(folder, _)| *folder == format!("{in_crate}/{module}"));
            if is_module && module != own && !allowed.contains(&module.as_str()) {
                faults.push(format!("{name}:{}: `{own}` may not use `{module}`", at + 1));
            }
        }
    }
}
