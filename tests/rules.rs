//! Every built-in rewrite rule is sound, and every one is tested.

use azulejo::__private::core::check::rules;
use azulejo::__private::core::pass::rewrite;
use azulejo::__private::core::text::{parse, print};
use azulejo::__private::core::vocab::Vocabulary;
use azulejo::rules::{BUILTIN, MATCHERS};
use std::fs;
use std::path::Path;

/// A deterministic sequence of numbers (xorshift64*).
fn random_numbers(mut state: u64) -> impl FnMut() -> u64 {
    move || {
        state ^= state >> 12;
        state ^= state << 25;
        state ^= state >> 27;
        state.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }
}

#[test]
fn both_sides_of_every_rule_are_equal() {
    let mut random = random_numbers(0x1234_5678_9abc_def1);
    let mut wrong = Vec::new();
    for case in BUILTIN.iter().flat_map(|rules| rules.cases) {
        match rules::rule(Vocabulary::BUILTIN, case, &mut random) {
            Ok(0) => wrong.push(format!("{}: never matched", case.text)),
            Ok(_) => {}
            Err(violation) => wrong.push(violation.to_string()),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

mod wrong {
    azulejo::rewrite! {
        pub static WRONG;

        (add.f64 $x (const 0.0)) => $x
        (notf (lt.$t:float $x $y)) => (ge $x $y)
        (sar.$t:int (shl $x (const $c)) (const $c)) => $x
        (add.$t:int $x $x) => $x if (&super::never)
    }
}

fn never() -> bool {
    false
}

/// The judge finds wrong rules: about -0.0, NaN, lost bits; and rules that are never tested.
#[test]
fn wrong_rules_are_found() {
    let mut random = random_numbers(7);
    for case in &wrong::WRONG.cases[..3] {
        assert!(rules::rule(Vocabulary::BUILTIN, case, &mut random).is_err(), "{}", case.text);
    }
    assert_eq!(rules::rule(Vocabulary::BUILTIN, &wrong::WRONG.cases[3], &mut random), Ok(0));
}

/// Golden tests: a graph, a line of dashes, and the rewritten graph. `UPDATE_EXPECT=1` updates them.
#[test]
fn golden() {
    const DIVIDER: &str = "----\n";
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/rules");
    let mut scratch = rewrite::Scratch::default();
    let mut n_cases = 0;
    for entry in fs::read_dir(folder).expect("the folder exists") {
        let path = entry.expect("the folder can be read").path();
        let text = fs::read_to_string(&path).expect("a case can be read");
        let (input, expected) = text.split_once(DIVIDER).unwrap_or((&text, ""));
        let mut graph = parse::graph(Vocabulary::BUILTIN, input)
            .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        rewrite::rewrite(&mut scratch, &mut graph, &MATCHERS);
        let found = print::graph(&graph);
        if found != expected && std::env::var_os("UPDATE_EXPECT").is_some() {
            fs::write(&path, format!("{input}{DIVIDER}{found}")).expect("a case can be written");
        } else {
            assert_eq!(found, expected, "{}", path.display());
        }
        n_cases += 1;
    }
    assert!(n_cases > 0, "there are cases");
}
