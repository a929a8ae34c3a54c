//! Checks that the links of documents resolve to files and headings, and that the book lists all its chapters.
//!
//! In: the repository's documents. Out: the broken links.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Component, Path, PathBuf};

/// The folder of the book's documents and of the list of its chapters.
const BOOK: &str = "docs";

/// The prefixes by which paths in documents are recognized.
const FOLDERS: [&str; 11] = [
    "jit-code/",
    "jit-core/",
    "jit-lang/",
    "jit-macros/",
    "jit-x64/",
    "benches/",
    "examples/",
    "fuzz/",
    "src/engine",
    "tests/",
    "xtask/",
];

/// Checks the links of one document.
pub(crate) fn check_links(root: &Path, name: &str, text: &str, faults: &mut Vec<String>) {
    let folder = Path::new(name).parent().expect("a file lies in a folder");
    for (line, target) in links(text) {
        let place = format!("{name}:{line}");
        if target.contains("://") {
            continue;
        }
        let (path, heading) = target.split_once('#').unwrap_or((target, ""));
        let path = if path.is_empty() { PathBuf::from(name) } else { normal(&folder.join(path)) };
        if !root.join(&path).exists() {
            faults.push(format!("{place}: link to {target}, which does not exist"));
            continue;
        }
        if name.starts_with(BOOK) && !path.starts_with(BOOK) {
            faults.push(format!("{place}: link to {target}, which is not in the book; name it in words"));
        }
        if !heading.is_empty() {
            let headings = headings(&fs::read_to_string(root.join(&path)).unwrap_or_default());
            if !headings.contains(heading) {
                faults.push(format!("{place}: {} has no heading #{heading}", path.display()));
            }
        }
    }
}

/// Checks that files and folders exist that a document names between backticks.
pub(crate) fn check_paths(root: &Path, name: &str, text: &str, faults: &mut Vec<String>) {
    for (line, code) in codes(text) {
        let is_path = FOLDERS.iter().any(|folder| code.starts_with(folder))
            && code.chars().all(|c| c.is_ascii_alphanumeric() || "/-_.".contains(c));
        if is_path && !root.join(code).exists() {
            faults.push(format!("{name}:{line}: `{code}` does not exist"));
        }
    }
}

/// Checks that the book's list names every document in its folder exactly once.
pub(crate) fn check_summary(root: &Path, names: &[String], faults: &mut Vec<String>) {
    let summary = format!("{BOOK}/SUMMARY.md");
    let text = fs::read_to_string(root.join(&summary)).unwrap_or_default();
    let listed: Vec<PathBuf> =
        links(&text).into_iter().map(|(_, target)| normal(&Path::new(BOOK).join(target))).collect();
    for name in names {
        let is_document = name.starts_with(&format!("{BOOK}/")) && name.ends_with(".md") && *name != summary;
        let count = listed.iter().filter(|path| *path == Path::new(name)).count();
        if is_document && count != 1 {
            faults.push(format!("{summary}: lists {name} {count} times"));
        }
    }
}

/// The targets of a document's links outside code, with their line numbers.
pub(crate) fn links(text: &str) -> Vec<(usize, &str)> {
    let mut links = Vec::new();
    let mut is_code = false;
    for (at, line) in text.lines().enumerate() {
        is_code ^= line.starts_with("```");
        if is_code {
            continue;
        }
        links.extend(definition(line).map(|(_, target)| (at + 1, target)));
        // Every second part is between backticks. A link's text may be code; the `](` that ends it is outside.
        for part in line.split('`').step_by(2) {
            for rest in part.split("](").skip(1) {
                links.push((at + 1, rest.split(')').next().unwrap_or("")));
            }
        }
    }
    links
}

/// The label and target of a link definition, if the line is one.
pub(crate) fn definition(line: &str) -> Option<(&str, &str)> {
    line.strip_prefix('[')?.split_once("]: ")
}

/// The code spans of a text, with their line numbers.
fn codes(text: &str) -> Vec<(usize, &str)> {
    let mut codes = Vec::new();
    let mut is_code = false;
    for (at, line) in text.lines().enumerate() {
        is_code ^= line.starts_with("```");
        if !is_code && !line.starts_with("```") {
            codes.extend(line.split('`').skip(1).step_by(2).map(|code| (at + 1, code)));
        }
    }
    codes
}

/// The anchors of a document's headings, as GitHub and mdBook generate them.
fn headings(text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut is_code = false;
    for line in text.lines() {
        is_code ^= line.starts_with("```");
        if is_code || !line.starts_with('#') {
            continue;
        }
        let words = line.trim_start_matches('#').trim().to_lowercase();
        let kept = words.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
        let slug: String = kept.map(|c| if c == ' ' { '-' } else { c }).collect();
        let numbered = (1..).map(|number| format!("{slug}-{number}"));
        let free = std::iter::once(slug.clone()).chain(numbered).find(|name| !found.contains(name));
        found.extend(free);
    }
    found
}

/// Resolves the `..` in a path.
pub(crate) fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(normal.pop()),
            Component::CurDir => {}
            part => normal.push(part),
        }
    }
    normal
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_in_code_do_not_count() {
        let text = "see [a](b.md#c) and [`d`](e)\n```rust\nx[0](1)\n```\n`f[0](2)` [g](#h)\n[i]: j.md\n";
        assert_eq!(links(text), [(1, "b.md#c"), (1, "e"), (5, "#h"), (6, "j.md")]);
    }

    #[test]
    fn headings_are_named_as_their_readers_do() {
        let names = headings(
            "# A stack machine\n```sh\n# no heading\n```\n## `Pop`, Push!\n## 1. Say it\n## 1. Say it\n",
        );
        let expected = ["1-say-it", "1-say-it-1", "a-stack-machine", "pop-push"];
        assert_eq!(names.into_iter().collect::<Vec<_>>(), expected);
    }

    #[test]
    fn what_does_not_exist_is_told() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask lies in the workspace");
        let mut faults = Vec::new();
        let text = "[a](ARCHITECTURE.md#glossary) [b](ARCHITECTURE.md#nothing) [c](nothing.md) [d](../README.md) [e](#a)\n# A\n";
        check_links(root, "docs/templates.md", text, &mut faults);
        assert_eq!(faults.len(), 4, "{faults:?}");
        faults.clear();
        let text = "`jit-core/src/pass/mod.rs` `jit-core/src/pass/nothing.rs` `tests/` `src/main.rs` `jit-core/src/*.rs`\n";
        check_paths(root, "docs/templates.md", text, &mut faults);
        assert_eq!(faults, ["docs/templates.md:1: `jit-core/src/pass/nothing.rs` does not exist"]);
        faults.clear();
        check_summary(
            root,
            &["docs/SUMMARY.md".into(), "docs/templates.md".into(), "docs/no.md".into()],
            &mut faults,
        );
        assert_eq!(faults, ["docs/SUMMARY.md: lists docs/no.md 0 times"]);
    }
}
