//! `(&field Struct, name)` and `(cached $site Struct …)`: request the fields of structs.
//!
//! In: the rows of a `template!` with such expressions. Before the rows are parsed, the macro that `derive(Fields)` defines for
//! each struct is called. The descriptions that these macros return precede the rows from then on ([`Structs`]).

use crate::kept::Kept;
use azulejo_lang::reader::Reader;
use azulejo_lang::template::Structs;
use azulejo_lang::token::{Delimiter, Token, text};
use proc_macro2::TokenStream;
use quote::quote;

/// The path of the next struct to request. The known structs precede the rows.
pub(super) fn unknown(rows: Vec<Token>) -> Option<Vec<Token>> {
    let mut reader = Reader::new(rows);
    let known = Structs::read(&mut reader);
    let mut named = Vec::new();
    find(reader.rest(), &mut named);
    named.into_iter().find(|path| !known.know(&text(path)))
}

/// Collects the structs of all `(&field Struct, …)` and `(cached $site Struct …)`.
fn find(tokens: Vec<Token>, named: &mut Vec<Vec<Token>>) {
    for token in tokens {
        let Token::Group(group) = token else { continue };
        let mut reader = Reader::new(group.tokens.clone());
        if reader.takes_punct('&') && reader.takes_word("field") {
            let path = reader.path().map(|(path, _)| path);
            named.extend(path.filter(|_| reader.takes_punct(',')));
            continue;
        }
        if reader.takes_word("cached") || reader.takes_word("cachedv") {
            // A site is `$name`, or `,name` in a macro.
            reader.next();
            reader.next();
            named.extend(reader.path().map(|(path, _)| path));
        }
        find(group.tokens, named);
    }
}

/// Resumes `template!` with the description of a struct: `{ fields } { { path } { rows } }`.
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
