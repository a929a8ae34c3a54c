//! `rewrite!`: rows of patterns become one matcher.
//!
//! Tokens go through [`parse`] to rows as written, through [`check`] to typed rules, and through [`expand`] to a
//! function grouped by the root's operator and by its operands' operators, and to the data that lets a test build
//! each rule's left side. All mistakes are reported at once, each on its token.

mod check;
mod expand;
mod parse;

use proc_macro2::TokenStream;

/// What `rewrite!` expands to.
pub(crate) fn rewrite(input: TokenStream) -> TokenStream {
    let mut errors = parse::Errors::default();
    let expansion = parse::parse(input, &mut errors).map(|rules| {
        let checked: Vec<check::Rule> =
            rules.rows.iter().filter_map(|row| check::check(row, &mut errors)).collect();
        expand::expand(&rules, &checked)
    });
    let complaints = errors.0.iter().map(syn::Error::to_compile_error);
    // The matcher is made even of what is left after mistakes, so that its users do not fail as well.
    quote::quote! { #(#complaints)* #expansion }
}
