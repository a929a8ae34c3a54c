//! Prints a grammar's flat rules, symbols, states and sizes, for `cargo xtask tiles`.

use super::flatten::{FIRST_SYNTHETIC, NO_TILE, SymbolId, Synthetic, unpack};
use super::pattern::{Predicate, Symbol};
use super::set::TileSet;
use super::tables::Tables;
use crate::vocab::Type;
use core::fmt::{self, Write as _};

/// The full description of a tile set, made from the tables and their sources.
pub struct Explained<'a>(pub &'a Tables);

impl fmt::Display for Explained<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tables = self.0;
        writeln!(f, "symbols")?;
        for symbol in 0..tables.flat.symbol_count() as SymbolId {
            writeln!(f, "  {symbol:3}  {}", symbol_name(tables, symbol))?;
        }
        writeln!(f, "\nflat rules")?;
        for rule in 0..tables.rules.len() {
            writeln!(f, "  {rule:3}  {}", rule_text(tables, rule))?;
        }
        writeln!(f, "\nforms")?;
        for ((op, packed), form) in &tables.flat.forms {
            let sig = unpack(*packed);
            let info = tables.vocab.info(*op);
            let rules: Vec<String> = form.entries.iter().map(|entry| entry.rule.to_string()).collect();
            let from = if sig.from == Type::Void { String::new() } else { format!("{} -> ", sig.from) };
            writeln!(f, "  {} ({from}{}): {}", info.name, sig.ty, rules.join(" "))?;
        }
        writeln!(f, "\nstates (symbol +cost =rule)")?;
        for state in 0..tables.states.states.len() {
            write!(f, "  {state:3}")?;
            for (symbol, cost) in tables.offers(state) {
                write!(f, "  {}+{cost}", symbol_name(tables, symbol))?;
                match tables.states.states[state].rules[symbol as usize] {
                    super::states::NO_RULE => {}
                    rule => write!(f, "={rule}")?,
                }
            }
            writeln!(f)?;
        }
        writeln!(f, "\nconstants (type, predicates: state)")?;
        // Masks may differ only in predicates that no tile uses. They share one line.
        let mut lines = Vec::new();
        for (&(ty, mask), state) in &tables.states.constants {
            let holds = |predicate: &&Predicate| mask >> **predicate as u8 & 1 != 0;
            let names: String = tables
                .predicates
                .iter()
                .filter(holds)
                .map(|predicate| format!(" {}", predicate.name()))
                .collect();
            let line = format!("  {}{names}: {state}", Type::ALL[ty as usize]);
            if !lines.contains(&line) {
                writeln!(f, "{line}")?;
                lines.push(line);
            }
        }
        Ok(())
    }
}

/// The meaning of a symbol.
pub fn symbol_name(tables: &Tables, symbol: SymbolId) -> String {
    if let Some(symbol) = Symbol::ALL.get(symbol as usize) {
        return symbol.name().to_string();
    }
    let Some(at) = symbol.checked_sub(FIRST_SYNTHETIC) else { return "any".to_string() };
    let Synthetic { op, from, children, order, predicate } = &tables.flat.symbols[at as usize];
    let mut text = format!("({}", tables.vocab.info(*op).name);
    if *from != Type::Void {
        let _ = write!(text, ".{from}");
    }
    let mut places: Vec<usize> = (0..children.len()).collect();
    if let Some(order) = order {
        places.sort_by_key(|place| order[*place]);
    }
    for place in places {
        let _ = write!(text, " {}", symbol_name(tables, children[place]));
    }
    if let Some(predicate) = predicate {
        let _ = write!(text, " :{}", predicate.name());
    }
    text.push(')');
    text
}

/// A flat rule as a line.
pub fn rule_text(tables: &Tables, at: usize) -> String {
    let rule = &tables.rules[at];
    let op = tables.vocab.info(tables.flat.heads[at]).name;
    let mut text = format!("{} <- ({op}", symbol_name(tables, rule.result));
    for child in &rule.children[..rule.arity as usize] {
        let _ = write!(text, " {}", symbol_name(tables, *child));
    }
    if let Some(predicate) = tables.flat.predicates[at] {
        let _ = write!(text, " :{}", predicate.name());
    }
    let _ = write!(text, ") {}", rule.cost);
    if rule.tile != NO_TILE {
        let _ = write!(text, "  {}", tables.tiles[rule.tile as usize].name);
    }
    text
}

/// The line of totals.
pub fn summary(set: &TileSet) -> String {
    format!(
        "tables: {} tiles, {} flat rules, {} symbols, {} states, {} bytes",
        set.tiles.len(),
        set.rules.len(),
        set.offsets.len(),
        set.states,
        set.table_bytes()
    )
}
