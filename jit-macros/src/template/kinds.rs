//! The item with the kinds of values that the rows of a `template!` share.
//!
//! In: the checked set. Out: a constant, which the templates of all rows refer to.

use super::print;
use crate::kept::Kept;
use azulejo_lang::Token;
use azulejo_lang::template::Kinds;
use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};

/// The name of the item. Several `template!` may stand in one module, even for one enum, but an opcode has one row. So the name
/// says the enum and the number of the first opcode that needs it.
pub(super) fn name(path: &[Token], number: usize) -> Ident {
    let words = path.iter().filter_map(|token| match token {
        Token::Word(word) => Some(word.text.trim_start_matches("r#").to_uppercase()),
        _ => None,
    });
    format_ident!("__AZULEJO_KINDS_{}_{number}", words.collect::<Vec<_>>().join("_"))
}

/// The item; nothing if a kind is wrong.
pub(super) fn item(name: &Ident, set: &Kinds, kept: &Kept) -> TokenStream {
    let Some(kinds) = set.terms() else {
        // The crate does not compile, and rustc need not say why once more.
        return quote! {
            #[doc(hidden)]
            const #name: &[::azulejo::__private::core::ir::kinds::ValueKind] = &[];
        };
    };
    let kinds = kinds.iter().map(|kind| print::kind(kind, kept));
    quote! {
        #[doc(hidden)]
        #[allow(
            unused_imports, unused_braces, unused_parens, clippy::all,
            reason = "written by a program, from formulas of kinds of values"
        )]
        const #name: &[::azulejo::__private::core::ir::kinds::ValueKind] = {
            use ::azulejo::__private::core::ir::kinds as __kinds;
            use ::azulejo::__private::core::vocab as __vocab;
            &[#(#kinds),*]
        };
    }
}
