//! The official test suite, in every tier.
//!
//! Each test is one configuration for all scripts. It runs on a thread with the stack size of a main thread.
#![cfg(feature = "spec")]

use azulejo_wasm::spec::{Outcome, SUITES, Way};

fn passes(tier: &'static str, memory: &'static str) {
    let run = move || {
        let is_this = |way: &Way| (way.tier, way.memory) == (tier, memory);
        let way = Way::all().into_iter().find(is_this).expect("there is this way");
        let mut all = Outcome::default();
        for suite in SUITES {
            suite.files().iter().for_each(|file| all.add(way.run(suite, file)));
        }
        assert!(all.failed.is_empty(), "{way}: {all}\n{}", all.failed.join("\n"));
        assert!(all.skipped == 0 && all.passed > 40_000, "{way}: {all}");
    };
    let thread =
        std::thread::Builder::new().stack_size(8 << 20).spawn(run).expect("there is room for a thread");
    if let Err(panic) = thread.join() {
        std::panic::resume_unwind(panic);
    }
}

#[test]
fn interpreted() {
    passes("interpreter", "checked");
}

#[test]
fn compiled_by_the_baseline() {
    passes("baseline", "guarded");
}

#[test]
fn compiled_by_the_optimizer() {
    passes("optimizer", "guarded");
}

#[test]
fn changing_tiers_at_random() {
    passes("mixed", "checked");
}
