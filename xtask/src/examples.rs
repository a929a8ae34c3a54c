//! Whether what a user sees has an example: one that runs with the tests.
//!
//! In: the files whose public items users reach. Out: each public item without one.

use std::path::Path;

/// The files, or folders of such, that have what users call by name.
const SHOWN: &[&str] = &[
    "src/",
    "jit-core/src/error.rs",
    "jit-core/src/ir/bytecode.rs",
    "jit-core/src/verify.rs",
    "jit-core/src/vocab/trap.rs",
    "jit-macros/src/lib.rs",
    "jit-x64/src/condition.rs",
];

/// Whose methods a document shows instead, in one program.
const DOCUMENTED: [&str; 3] = ["jit-code/src/emit/tile.rs", "jit-x64/src/emit.rs", "jit-x64/src/encode.rs"];

/// That document.
const DOCUMENT: &str = "docs/emitters.md";

/// What is in these files for generated code and for the other crates only.
const PLUMBING: &[&str] = &[
    "enum Flow",
    "trait Functions",
    "struct NoFunctions",
    "struct Machine",
    "trait Opcode",
    "unsafe trait Semantics",
    "trait Means",
    "struct Shape",
    "struct Function",
    "fn emit",
    "fn emitted",
    "fn from_operand",
    "fn with_form",
];

/// How public items begin that have to show how they are used.
const ITEMS: &[&str] = &["fn", "const fn", "unsafe fn", "struct", "enum", "trait", "unsafe trait", "macro"];

/// Checks one file.
pub(crate) fn check_examples(name: &str, text: &str, faults: &mut Vec<String>) {
    if !SHOWN.iter().any(|shown| name.starts_with(shown)) {
        return;
    }
    let code = text.split("#[cfg(test)]").next().unwrap_or(text);
    let mut has_example = false;
    let (mut is_hidden, mut is_attribute) = (false, false);
    for (at, line) in code.lines().enumerate() {
        let line = line.trim_start();
        if let Some(documented) = line.strip_prefix("///") {
            has_example |= documented.trim_start().starts_with("```");
            continue;
        }
        // An attribute may have several lines.
        if is_attribute || line.starts_with('#') || line.starts_with("//") {
            is_hidden |= line.starts_with("#[doc(hidden)]");
            is_attribute = (is_attribute || line.starts_with("#[")) && !line.ends_with(']');
            continue;
        }
        let item = line.strip_prefix("pub ").filter(|rest| {
            ITEMS.iter().any(|kind| rest.strip_prefix(kind).is_some_and(|rest| rest.starts_with(' ')))
        });
        if let Some(item) = item.filter(|_| !has_example && !is_hidden) {
            let item = item.split(['(', '<', '{', ';', ':']).next().unwrap_or(item).trim();
            // What a macro of the core's makes has its documents where the macro is used.
            if PLUMBING.contains(&item) || item.contains('$') {
                continue;
            }
            faults.push(format!("{name}:{}: `{item}` has no example", at + 1));
        }
        (has_example, is_hidden) = (false, false);
    }
}

/// Checks that the document for whoever writes emitters names each method that there is for them.
pub(crate) fn check_document(root: &Path, faults: &mut Vec<String>) {
    let read = |name: &str| std::fs::read_to_string(root.join(name)).unwrap_or_default();
    let shown = read(DOCUMENT);
    for code in DOCUMENTED {
        let text = read(code);
        let items = text.lines().filter_map(|line| line.trim_start().strip_prefix("pub fn ")).map(|item| {
            let end = item.find(['(', '<']).unwrap_or(item.len());
            &item[..end]
        });
        for name in items {
            let is_shown = ["cx.", "t.", "Mem::"].iter().any(|of| shown.contains(&format!("{of}{name}(")));
            if !PLUMBING.contains(&format!("fn {name}").as_str()) && !is_shown {
                faults.push(format!("{DOCUMENT}: does not show `{name}` of {code}"));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_no_example_is_told() {
        let text = "/// Words.\n///\n/// ```\n/// a();\n/// ```\n#[inline]\n#[a(\n    b\n)]\npub fn a() {}\n\n/// Words.\npub struct B {\n    /// Words.\n    pub c: u32,\n}\npub(crate) fn d() {}\n#[doc(hidden)]\npub fn e() {}\n    pub const fn f<T>() {}\n";
        let mut faults = Vec::new();
        check_examples("src/a.rs", text, &mut faults);
        assert_eq!(
            faults,
            ["src/a.rs:13: `struct B` has no example", "src/a.rs:20: `const fn f` has no example"]
        );
        check_examples("tests/a.rs", text, &mut faults);
        assert_eq!(faults.len(), 2, "only what users reach is checked");
    }
}
