//! `rewrite!`: rows of patterns become one matcher.
//!
//! [`azulejo_lang::rewrite`] makes typed rules of tokens. [`expand`] makes of these a function grouped by the root's operator and by its
//! operands' operators, and the data that lets a test build each rule's left side. All mistakes are reported at once, each on its token.

mod expand;

use crate::kept::Kept;
use azulejo_lang::Errors;
use azulejo_lang::rewrite::{Rule, check, parse};
use proc_macro2::TokenStream;

/// What `rewrite!` expands to.
pub(crate) fn rewrite(input: TokenStream) -> TokenStream {
    let kept = Kept::default();
    let (rules, unread) = parse(kept.read(input));
    let mut errors = Errors(unread.into_iter().collect());
    let expansion = rules.map(|rules| {
        let checked: Vec<Rule> = rules.rows.iter().filter_map(|row| check(row, &mut errors)).collect();
        expand::expand(&rules, &checked, &kept)
    });
    let complaints = kept.complaints(&errors);
    // The matcher is made even of what is left after mistakes, so that its users do not fail as well.
    quote::quote! { #complaints #expansion }
}
