//! What documents say of the repository's own files in figures is true.
//!
//! In: the repository. Out: a fault for each figure that is not what is counted, and for a code generator that has grown too long.

use crate::beside;
use std::fs;
use std::path::Path;

/// What the Lua example's code generator is: templates with their kinds, and the cases of its sites.
const LUA_TEMPLATES: [&str; 2] =
    ["examples/lua/src/run/templates.rs", "examples/lua/src/run/call_templates.rs"];
const LUA_SITES: [&str; 2] = ["examples/lua/src/run/cases.rs", "examples/lua/src/run/lookups.rs"];

/// How many lines it has at most.
const MOST_LINES: usize = 1200;

/// A figure in README.md, by the words around it.
struct Figure {
    before: &'static str,
    behind: &'static str,
    count: fn(&Path) -> usize,
}

const FIGURES: [Figure; 3] = [
    Figure {
        before: "The tutorial is a program of",
        behind: "lines",
        count: |root| lines(root, &["examples/quickstart.rs"]),
    },
    Figure {
        before: "its compilers come from",
        behind: "lines of templates",
        count: |root| lines(root, &LUA_TEMPLATES),
    },
    // New programs are written often, so these are hundreds.
    Figure {
        before: "in the official tests and in more than",
        behind: "programs",
        count: |root| {
            let programs = beside::programs(&root.join("examples/lua/tests/programs"));
            programs.map_or(0, |programs| programs.len()) / 100 * 100
        },
    },
];

/// Adds what is wrong to the faults.
pub(crate) fn check_figures(root: &Path, faults: &mut Vec<String>) {
    let readme = fs::read_to_string(root.join("README.md")).unwrap_or_default();
    for Figure { before, behind, count } in FIGURES {
        check(&readme, (before, behind), count(root), faults);
    }
    let length = lines(root, &LUA_TEMPLATES) + lines(root, &LUA_SITES);
    if length > MOST_LINES {
        faults.push(format!("the Lua example's code generator has {length} lines, {MOST_LINES} at most"));
    }
}

fn check(text: &str, (before, behind): (&str, &str), counted: usize, faults: &mut Vec<String>) {
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let said =
        words.split_once(before).and_then(|(_, rest)| rest.split_once(behind)).map(|(said, _)| said.trim());
    if said != Some(counted.to_string().as_str()) {
        let said = said.unwrap_or("nothing");
        faults.push(format!("README.md: `{before} … {behind}` says {said}, and it is {counted}"));
    }
}

fn lines(root: &Path, files: &[&str]) -> usize {
    files.iter().map(|file| fs::read_to_string(root.join(file)).map_or(0, |text| text.lines().count())).sum()
}

#[cfg(test)]
mod tests {
    use super::check;

    #[test]
    fn a_figure_that_is_not_true_is_told() {
        let mut faults = Vec::new();
        let words = ("a program of", "lines");
        check("This is a program\nof 80 lines.", words, 80, &mut faults);
        assert_eq!(faults, [] as [&str; 0]);
        check("This is a program of 80 lines.", words, 81, &mut faults);
        check("This is a program.", words, 81, &mut faults);
        assert_eq!(
            faults,
            [
                "README.md: `a program of … lines` says 80, and it is 81",
                "README.md: `a program of … lines` says nothing, and it is 81"
            ]
        );
    }
}
