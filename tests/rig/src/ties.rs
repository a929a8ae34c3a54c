//! The tiles of this machine with ties broken another way.
//!
//! Tables hold one choice for each state; of covers that cost the same it is the one whose rules stand first. So the rows
//! in another order are as good a machine, which chooses other tiles.

use azulejo::x64::regs::REGISTERS;
use azulejo::x64::{Set, X64};
use azulejo_core::grammar::{Grammar, build, text};
use azulejo_core::random::Random;
use std::sync::LazyLock;

/// The rows shuffled.
pub(crate) struct Shuffled {
    pub(crate) set: Set,
    /// Which of [`X64`]'s tiles each tile is.
    pub(crate) original: Vec<u16>,
}

/// Always the same order: the numbers of a set's tiles are part of nothing that is kept.
pub(crate) static SHUFFLED: LazyLock<Shuffled> = LazyLock::new(|| shuffle(&mut Random::new(1)));

fn shuffle(random: &mut Random) -> Shuffled {
    let mut rows: Vec<_> =
        text::rules(X64.rows).expect("a set knows its rows").into_iter().zip(0u16..).collect();
    for at in (1..rows.len()).rev() {
        rows.swap(at, random.below(at + 1));
    }
    let (rules, original): (Vec<_>, Vec<u16>) = rows.into_iter().unzip();
    let features = X64.tables.features.iter().map(|feature| feature.to_string()).collect();
    // Of tiles that cost the same some are never chosen now, so none counts as a user's own.
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
