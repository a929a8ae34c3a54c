//! Parsers take any text, and code memory any order of installing and freeing.

#![cfg(all(target_arch = "x86_64", unix))]

use azulejo::x64::X64;
use azulejo_core::fuzzing::{Options, graph};
use azulejo_core::random::Random;
use azulejo_core::text::print;
use azulejo_rig::program::program;
use azulejo_rig::property;

/// A text that a parser can read.
fn text(random: &mut Random) -> String {
    match random.below(3) {
        0 => print::graph(&graph(random, &Options { calls: false, ..Options::SMALL })),
        1 => program(random, 10).to_string(),
        _ => {
            let rows: Vec<&str> = X64.rows.lines().collect();
            let some = (0..1 + random.below(4)).map(|_| rows[random.below(rows.len())]);
            some.collect::<Vec<_>>().join("\n")
        }
    }
}

/// Removes a few words, duplicates them, or replaces them by others.
fn changed(random: &mut Random, text: &str) -> String {
    let mut words: Vec<&str> = text.split_inclusive([' ', '\n', '.', ',', '(', ')']).collect();
    for _ in 0..random.below(4) {
        let (at, from) = (random.below(words.len()), random.below(words.len()));
        match random.below(4) {
            0 => drop(words.remove(at)),
            1 => words.insert(at, words[from]),
            2 => words[at] = words[from],
            _ => {
                const OTHERS: [&str; 8] =
                    ["-1 ", "99999999999999999999 ", "( ", ") ", "\n", "v7 ", "@ ", "é "];
                words[at] = OTHERS[random.below(OTHERS.len())];
            }
        }
        if words.is_empty() {
            break;
        }
    }
    words.concat()
}

#[test]
fn any_text_is_read_or_refused() {
    for seed in 0..4000 {
        let mut random = Random::new(seed);
        let text = text(&mut random);
        let changed = changed(&mut random, &text);
        property::of_text(&changed).unwrap_or_else(|failure| panic!("seed {seed}: {failure}"));
    }
}

#[test]
fn code_memory_loses_nothing() {
    for seed in 0..200 {
        let checked = property::of_code_memory(&mut Random::new(seed));
        checked.unwrap_or_else(|failure| panic!("seed {seed}: {failure}"));
    }
}
