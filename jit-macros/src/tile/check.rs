//! Reports the grammar's errors at the tokens that caused them.

use super::ast::{Header, Tile};
use azulejo_core::grammar::{Grammar, Problem, Refusal};
use azulejo_lang::words::distance;
use proc_macro2::Span;
use syn::Error;

/// The maximum number of uncovered forms to report individually.
const MAX_UNCOVERED: usize = 6;

/// Combines all errors into one compile error, each at its token.
pub(crate) fn errors(
    header: &Header,
    grammar: &Grammar,
    tiles: &[Tile],
    refusals: &[Refusal],
) -> Option<Error> {
    let mut all: Option<Error> = None;
    let mut uncovered = 0;
    for refusal in refusals {
        if matches!(refusal.problem, Problem::Uncovered { .. }) {
            uncovered += 1;
            if uncovered > MAX_UNCOVERED {
                continue;
            }
        }
        let span = match refusal.rule {
            Some(rule) => tiles[rule].span(refusal.part),
            None => header.name.span(),
        };
        let mut message = refusal.to_string();
        let near = match &refusal.problem {
            Problem::UnknownOperator(name) => nearest(name, grammar.vocab.iter().map(|(_, info)| info.name)),
            Problem::UnknownFeature(name) => nearest(name, grammar.features.iter().map(String::as_str)),
            _ => None,
        };
        if let Some(near) = near {
            message.push_str(&format!(", did you mean `{near}`?"));
        }
        add(&mut all, span, message);
    }
    if uncovered > MAX_UNCOVERED {
        let more = uncovered - MAX_UNCOVERED;
        let advice = match header.extends {
            Some(_) => "",
            None => {
                "; a set that is to have the tiles of another one extends it: `extends azulejo::x64::X64;`"
            }
        };
        add(&mut all, header.name.span(), format!("{more} other forms are not covered either{advice}"));
    }
    all
}

fn add(all: &mut Option<Error>, span: Span, message: String) {
    let error = Error::new(span, message);
    match all {
        Some(all) => all.combine(error),
        None => *all = Some(error),
    }
}

/// The known name with the smallest edit distance to `name`, if that is small enough.
fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let (distance, near) = known.map(|known| (distance(name, known), known)).min()?;
    (distance <= 1 + name.len() / 4).then_some(near)
}
