//! `(&field Struct, name)`: asking structs for their fields.
//!
//! In: the rows of a `template!`, in which structs are named so. Each is asked for its fields, by the macro that `derive(Fields)`
//! makes, before the rows are read; what they say stands in front of the rows from then on ([`Structs`]).

use crate::kept::Kept;
use azulejo_lang::reader::Reader;
use azulejo_lang::template::Structs;
use azulejo_lang::token::{Delimiter, Token, text};
use proc_macro2::TokenStream;
use quote::quote;

/// The next struct to be asked: its path. What is in front of the rows are structs that have told.
pub(super) fn unknown(rows: Vec<Token>) -> Option<Vec<Token>> {
    let mut reader = Reader::new(rows);
    let known = Structs::read(&mut reader);
    let mut named = Vec::new();
    find(reader.rest(), &mut named);
    named.into_iter().find(|path| !known.know(&text(path)))
}

/// The structs of all `(&field Struct, …)`.
fn find(tokens: Vec<Token>, named: &mut Vec<Vec<Token>>) {
    for token in tokens {
        let Token::Group(group) = token else { continue };
        let mut reader = Reader::new(group.tokens.clone());
        if reader.takes_punct('&') && reader.takes_word("field") {
            let path = reader.path().map(|(path, _)| path);
            named.extend(path.filter(|_| reader.takes_punct(',')));
        } else {
            find(group.tokens, named);
        }
    }
}

/// Goes on with `template!` when a struct has told its fields: `{ fields } { { path } { rows } }`.
pub(crate) fn told(input: TokenStream) -> TokenStream {
    let kept = Kept::default();
    let mut reader = Reader::new(kept.read(input));
    let fields = reader.group(Delimiter::Brace);
    let mut rest = reader.group(Delimiter::Brace).map(|rest| Reader::new(rest.tokens));
    let mut next = || rest.as_mut().and_then(|rest| rest.group(Delimiter::Brace));
    match (fields, next(), next()) {
        (Some(fields), Some(path), Some(rows)) => {
            let [fields, path, rows] = [fields, path, rows].map(|group| kept.print(&group.tokens));
            super::template(quote!(struct { #path } { #fields } #rows))
        }
        _ => kept.error(&super::not_for_users()).into_compile_error(),
    }
}
