//! The ways to run a function that tests compare: in each tier alone, and climbing through all of them, early and late, with and without
//! what changes the code on the way. Where nothing can be compiled, there is only the interpreter in Rust.

use azulejo::prelude::*;
use azulejo::{Builder, can_compile};

/// A way's name, and what makes its engines.
pub(crate) type Way = (&'static str, fn() -> Builder);

/// All ways, the interpreter in Rust first.
pub(crate) fn ways() -> Vec<Way> {
    let mut ways: Vec<Way> =
        vec![("in Rust", || Builder::default().only(Tier::Interpreter).rust_interpreter(true))];
    if can_compile().is_ok() {
        ways.push(("interpreted in code", || Builder::default().only(Tier::Interpreter)));
        ways.push(("baseline", || Builder::default().only(Tier::Baseline)));
        ways.push(("optimizer", || Builder::default().only(Tier::Optimizer)));
        ways.push(("optimizer, not inlined", || Builder::default().only(Tier::Optimizer).inlining(false)));
        ways.push(("climbing at once", || Builder::default().thresholds(0, 1)));
        ways.push(("climbing", || Builder::default().thresholds(2, 6)));
        ways.push(("climbing late", || Builder::default().thresholds(10, 100)));
        ways.push(("climbing from Rust", || Builder::default().rust_interpreter(true).thresholds(3, 5)));
        ways.push(("climbing, not inlined", || Builder::default().thresholds(1, 3).inlining(false)));
        ways.push(("climbing in the background", || Builder::default().thresholds(1, 3).background(true)));
        ways.push(("climbing on fuel", || Builder::default().thresholds(2, 4).fuel(1 << 40)));
        ways.push(("climbing with backtraces", || Builder::default().thresholds(3, 10).backtraces(true)));
    }
    ways
}
