//! Bytecodes that become others, in the interpreter.
//!
//! In: the two opcodes, and the operands. Out: Rust that writes the bytecode anew. It makes rustc check that the templates of the two do the
//! same with their operands, which no macro knows: each may stand in a `template!` of its own.

use super::natives::{moved, shown_at};
use crate::kept::Kept;
use azulejo_lang::{Place, Token};
use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};

/// Writes the bytecode at `op`, which has the first of these opcodes and these fields, as one of the second, which is written like this.
pub(super) fn become_other(
    path: &TokenStream,
    opcodes: [usize; 2],
    written: &[Token],
    fields: impl Iterator<Item = TokenStream>,
    kept: &Kept,
) -> TokenStream {
    let variant = kept.print(written);
    let place = shown_at(kept.span(written.last().map_or(Place::NOWHERE, Token::place)));
    let op = moved(path, place);
    let [from, to] =
        opcodes.map(|number| quote_spanned!(place=> <#op as __bytecode::Semantics<#number>>::TEMPLATE));
    let blocks = [&from, &to].map(|template| quote_spanned!(place=> { #template.blocks as usize }));
    let asserted = quote_spanned! {place=>
        const _: () = __build::assert_may_become::<#(#blocks),*>(#from, #to);
    };
    quote!({
        #asserted
        op.cast_mut().write(#variant { #(#fields),* });
        machine.slow_paths.forget(at);
    })
}
