//! The tiles of this machine with ties broken differently.
//!
//! Tables hold one choice for each state: of all covers with equal cost, the one whose rules come first. The same rows in
//! another order describe an equally good machine, which chooses other tiles.

use azulejo::x64::regs::REGISTERS;
use azulejo::x64::{Set, X64};
use azulejo_core::grammar::{Grammar, build, text};
use azulejo_core::random::Random;
use std::sync::LazyLock;

/// The shuffled tiles.
pub(crate) struct Shuffled {
    pub(crate) set: Set,
    /// The number in [`X64`] of each tile.
    pub(crate) original: Vec<u16>,
}

/// The order is always the same, although nothing persistent contains the numbers of a set's tiles.
pub(crate) static SHUFFLED: LazyLock<Shuffled> = LazyLock::new(|| shuffle(&mut Random::new(1)));

fn shuffle(random: &mut Random) -> Shuffled {
    let mut rows: Vec<_> =
        text::rules(X64.rows).expect("a set knows its rows").into_iter().zip(0u16..).collect();
    for at in (1..rows.len()).rev() {
        rows.swap(at, random.below(at + 1));
    }
    let (rules, original): (Vec<_>, Vec<u16>) = rows.into_iter().unzip();
    let features = X64.tables.features.iter().map(|feature| feature.to_string()).collect();
    // Some tiles of equal cost are never chosen in this order. None counts as a user's own, so that `build` accepts that.
    let grammar = Grammar { vocab: X64.tables.vocab, features, own: 0, rules, complete: true };
    let tables =
        build(&grammar).unwrap_or_else(|refusals| panic!("the order of rows matters: {}", refusals[0]));
    let register = |name: &str| {
        let mut all = REGISTERS.int.iter().chain(REGISTERS.float);
        *all.find(|reg| (REGISTERS.name)(**reg) == name).expect("rows name registers of this machine")
    };
    let emit = original.iter().map(|tile| X64.emit[*tile as usize]).collect();
    let set =
        Set { tables: Box::leak(Box::new(tables.leak(&register))), emit: Vec::leak(emit), rows: X64.rows };
    Shuffled { set, original }
}
