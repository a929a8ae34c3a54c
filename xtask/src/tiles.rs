//! Prints the tile set of this machine: flattened rules, symbols, states and sizes.
//!
//! The tables are also rebuilt from the rows' text, and must equal those that the macro generated.

use azulejo_core::grammar::explain::{Explained, summary};
use azulejo_core::grammar::{Grammar, TileSet, build, text};

/// Prints a set, and a line with the totals.
pub(crate) fn tiles(set: &TileSet, rows: &str) -> Result<(), String> {
    let rules = text::rules(rows)?;
    let grammar = Grammar {
        vocab: set.vocab,
        features: set.features.iter().map(|feature| feature.to_string()).collect(),
        own: rules.len(),
        rules,
        complete: true,
    };
    let tables = build(&grammar).map_err(|refusals| {
        let lines: Vec<String> = refusals.iter().map(|refusal| refusal.to_string()).collect();
        lines.join("\n")
    })?;
    let same = tables.rules == set.rules
        && tables.cells == set.cells
        && tables.views == set.views
        && tables.classes == set.classes
        && tables.ops == set.ops
        && tables.heads == set.heads
        && tables.variants == set.variants
        && tables.sames == set.sames
        && tables.constants == set.constants
        && tables.select == set.select
        && tables.offsets == set.offsets;
    if !same {
        return Err("the tables built now are not those that the macro built".to_string());
    }
    println!("{}\n{}", Explained(&tables), summary(set));
    Ok(())
}
