//! `rewrite!`: compiles rows of patterns into a matcher.
//!
//! [`azulejo_lang::rewrite`] turns tokens into typed rules. From these [`expand`] generates a matcher that dispatches on the
//! operators of the root and of its operands, and the data with which a test builds each rule's left side. All errors are
//! reported together, each at its token.

mod expand;

use crate::kept::Kept;
use azulejo_lang::Errors;
use azulejo_lang::rewrite::{Rule, check, parse};
use proc_macro2::TokenStream;

/// Expands `rewrite!`.
pub(crate) fn rewrite(input: TokenStream) -> TokenStream {
    let kept = Kept::default();
    let (rules, unread) = parse(kept.read(input));
    let mut errors = Errors(unread.into_iter().collect());
    let expansion = rules.map(|rules| {
        let checked: Vec<Rule> = rules.rows.iter().filter_map(|row| check(row, &mut errors)).collect();
        expand::expand(&rules, &checked, &kept)
    });
    let complaints = kept.complaints(&errors);
    // The matcher is generated from the remaining rules even after errors, so that its users do not report further ones.
    quote::quote! { #complaints #expansion }
}
