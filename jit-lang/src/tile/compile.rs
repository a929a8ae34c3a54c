//! Compiles a set: the grammar of all its tiles, and the tables for it.
//!
//! In: the set's description and its parts. Out: a [`CompiledSet`], or the grammar's errors, each at the part of the row that
//! caused it.

use super::ast::{SetHeader, SetPart, Tile};
use crate::place::Errors;
use crate::words::closest;
use azulejo_core::grammar::{Grammar, Problem, Refusal, Tables, build};
use azulejo_core::vocab::Vocabulary;

/// The maximum number of uncovered forms to report individually.
const MAX_UNCOVERED: usize = 6;

/// A compiled set.
#[derive(Debug)]
pub struct CompiledSet {
    /// The set as the grammar represents it.
    pub grammar: Grammar,
    /// The tiles of all its parts, in order.
    pub tiles: Vec<Tile>,
    /// The tables for instruction selection.
    pub tables: Tables,
}

/// Compiles a set whose parts are all collected; `vocab` has the user's operators. After an error a well-formed set without tiles
/// takes the place of the set, so that its users do not report further errors.
pub fn compile(
    header: &SetHeader,
    parts: Vec<SetPart>,
    vocab: Vocabulary,
    errors: &mut Errors,
) -> Option<CompiledSet> {
    let mut features: Vec<String> = Vec::new();
    let mut tiles: Vec<Tile> = Vec::new();
    let mut own = 0;
    for part in parts {
        match part {
            SetPart::Group { tiles: more, .. } => {
                own += more.len();
                tiles.extend(more);
            }
            SetPart::Set { features: known, tiles: more, .. } => {
                features.extend(known.into_iter().map(|feature| feature.text));
                tiles.extend(more);
            }
            SetPart::Operators { .. } => {}
        }
    }
    for feature in &header.features {
        if !features.contains(&feature.text) {
            features.push(feature.text.clone());
        }
    }
    let rules = tiles.iter().map(|tile| tile.rule.clone()).collect();
    let grammar = Grammar { vocab, features, rules, complete: !header.is_partial, own };
    match build(&grammar) {
        Ok(tables) => Some(CompiledSet { grammar, tiles, tables }),
        Err(refusals) => {
            report(header, &grammar, &tiles, &refusals, errors);
            let grammar = Grammar { rules: Vec::new(), complete: false, ..grammar };
            let tables = build(&grammar).ok()?;
            Some(CompiledSet { grammar, tiles: Vec::new(), tables })
        }
    }
}

/// Reports the grammar's errors at the tokens that caused them.
fn report(header: &SetHeader, grammar: &Grammar, tiles: &[Tile], refusals: &[Refusal], errors: &mut Errors) {
    let mut uncovered = 0;
    for refusal in refusals {
        if matches!(refusal.problem, Problem::Uncovered { .. }) {
            uncovered += 1;
            if uncovered > MAX_UNCOVERED {
                continue;
            }
        }
        let place = match refusal.rule {
            Some(rule) => tiles[rule].place(refusal.part),
            None => header.name.place,
        };
        let near = match &refusal.problem {
            Problem::UnknownOperator(name) => closest(name, grammar.vocab.iter().map(|(_, info)| info.name)),
            Problem::UnknownFeature(name) => closest(name, grammar.features.iter().map(String::as_str)),
            _ => None,
        };
        let hint = near.map_or(String::new(), |near| format!(", did you mean `{near}`?"));
        errors.add(place, format!("{refusal}{hint}"));
    }
    if uncovered > MAX_UNCOVERED {
        let more = uncovered - MAX_UNCOVERED;
        let advice = match header.extends {
            Some(_) => "",
            None => {
                "; a set that is to have the tiles of another one extends it: `extends azulejo::x64::X64;`"
            }
        };
        errors.add(header.name.place, format!("{more} other forms are not covered either{advice}"));
    }
}
