//! `operators!`: rows that define a user's own operators.
//!
//! In: rows `name: (operands) [constants] -> result, types, properties => meaning`. Out: `ROWS`, the rows in the
//! vocabulary's form, and a macro that passes the rows on, because `tileset!` and other macros need the operators' signatures at
//! expansion time. Both are items of the module that contains the invocation, and the path of that module denotes the rows:
//! `operators = crate::my_ops`.

use azulejo_core::grammar::TypeSpec;
use azulejo_core::vocab::op::{Cast, Key, Kind, Param, Types, Yields};
use azulejo_core::vocab::{OpInfo, Props, Vocabulary};
use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};
use syn::ext::IdentExt;
use syn::parse::{ParseStream, Parser, Result};
use syn::{Attribute, Error, Expr, Token, bracketed, parenthesized};

/// One parsed row.
pub(crate) struct Row {
    docs: Vec<Attribute>,
    name: Ident,
    operands: Vec<Kind>,
    params: Vec<Param>,
    yields: Yields,
    types: u8,
    cast: Cast,
    props: Props,
    /// The tokens before the arrow to the meaning.
    head: TokenStream,
    meaning: Option<Expr>,
}

/// Expands `operators!`.
pub(crate) fn operators(input: TokenStream) -> TokenStream {
    match rows.parse2(input).and_then(|rows| check(&rows).map(|()| rows)) {
        Ok(rows) => expand(&rows),
        Err(error) => error.into_compile_error(),
    }
}

/// Rows with meanings, separated by commas; or rows passed on by a macro, each terminated by a semicolon.
pub(crate) fn rows(input: ParseStream) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    while !input.is_empty() {
        let mut row = row(input)?;
        if input.peek(Token![=>]) {
            input.parse::<Token![=>]>()?;
            row.meaning = Some(input.parse()?);
            if !input.is_empty() {
                input.parse::<Token![,]>()?;
            }
        } else {
            input.parse::<Token![;]>().map_err(|error| {
                Error::new(
                    error.span(),
                    "a row closes with what the operator means: `=> |sig, operands| Ok(…)`",
                )
            })?;
        }
        rows.push(row);
    }
    Ok(rows)
}

fn row(input: ParseStream) -> Result<Row> {
    let docs = input.call(Attribute::parse_outer)?;
    let start = input.fork();
    let name = input.call(Ident::parse_any)?;
    input.parse::<Token![:]>()?;
    let content;
    parenthesized!(content in input);
    let mut operands = Vec::new();
    while !content.is_empty() {
        operands.push(kind(&content.parse()?)?);
    }
    let mut params = Vec::new();
    if input.peek(syn::token::Bracket) {
        let content;
        bracketed!(content in input);
        while !content.is_empty() {
            params.push(param(&content.parse()?)?);
        }
    }
    input.parse::<Token![->]>()?;
    let result: Ident = input.parse()?;
    let yields = match result.to_string().as_str() {
        "same" => Yields::Same,
        "ptr" => Yields::Ptr,
        "flag" => Yields::Flag,
        "void" => Yields::Void,
        _ => return Err(Error::new(result.span(), "an operator yields `same`, `ptr`, `flag` or `void`")),
    };
    let mut row = Row {
        docs,
        name,
        operands,
        params,
        yields,
        types: 0,
        cast: Cast::None,
        props: Props::TEMPLATE.union(Props::GRAPH),
        head: TokenStream::new(),
        meaning: None,
    };
    while input.peek(Token![,]) {
        input.parse::<Token![,]>()?;
        if input.is_empty() {
            let message =
                format!("what does `{}` mean? Close the row with `=> |sig, operands| Ok(…)`", row.name);
            return Err(Error::new(row.name.span(), message));
        }
        property(input, &mut row)?;
    }
    let left = input.cursor();
    let mut cursor = start.cursor();
    while cursor != left {
        let Some((token, next)) = cursor.token_tree() else { break };
        row.head.extend([token]);
        cursor = next;
    }
    Ok(row)
}

fn kind(name: &Ident) -> Result<Kind> {
    Ok(match name.to_string().as_str() {
        "same" => Kind::Same,
        "ptr" => Kind::Ptr,
        "word" => Kind::Word,
        "flag" => Kind::Flag,
        _ => return Err(Error::new(name.span(), "an operand is `same`, `ptr`, `word` or `flag`")),
    })
}

fn param(name: &Ident) -> Result<Param> {
    Ok(match name.to_string().as_str() {
        "offset" => Param::Offset,
        "scale" => Param::Scale,
        "code" => Param::Code,
        _ => return Err(Error::new(name.span(), "a constant is `offset`, `scale` or `code`")),
    })
}

/// Parses one of `i32|i64`, `signed`, `pure`, …; their order is free.
fn property(input: ParseStream, row: &mut Row) -> Result<()> {
    let name: Ident = input.parse()?;
    match name.to_string().as_str() {
        "signed" => row.cast = Cast::Signed,
        "unsigned" => row.cast = Cast::Unsigned,
        "pure" => row.props |= Props::PURE,
        "commutes" => row.props |= Props::COMMUTES,
        "reads" => row.props |= Props::READS,
        "writes" => row.props |= Props::WRITES,
        "any_nan" => row.props |= Props::ANY_NAN,
        word => {
            let Some(types) = TypeSpec::named(word) else {
                let known = "signed unsigned pure commutes reads writes any_nan, and the types it works on: `i32|i64`, `int`";
                return Err(Error::new(name.span(), format!("`{word}` is no property; there are: {known}")));
            };
            row.types |= types;
            while input.peek(Token![|]) {
                input.parse::<Token![|]>()?;
                let more: Ident = input.parse()?;
                row.types |= TypeSpec::named(&more.to_string())
                    .ok_or_else(|| Error::new(more.span(), format!("there is no type `{more}`")))?;
            }
        }
    }
    Ok(())
}

fn check(rows: &[Row]) -> Result<()> {
    let mut all: Option<Error> = None;
    let mut note = |row: &Row, message: &str| {
        let error = Error::new(row.name.span(), message);
        match &mut all {
            Some(all) => all.combine(error),
            None => all = Some(error),
        }
    };
    for (at, row) in rows.iter().enumerate() {
        let name = row.name.to_string();
        let same = row.operands.contains(&Kind::Same) || row.yields == Yields::Same;
        if Vocabulary::BUILTIN.find(&name).is_some() {
            note(row, &format!("there is an operator `{name}` already"));
        }
        if rows[..at].iter().any(|other| other.name == row.name) {
            note(row, &format!("`{name}` is defined twice"));
        }
        if same && row.types == 0 {
            note(row, &format!("on which types does `{name}` work? Write them after the result: `i32|i64`"));
        }
        if !same && row.types != 0 {
            note(row, &format!("no operand of `{name}` is `same`, so its types are given already"));
        }
        if row.props.contains(Props::PURE) && row.props.intersects(Props::READS | Props::WRITES) {
            note(row, &format!("`{name}` cannot be pure and touch memory"));
        }
        if row.props.contains(Props::COMMUTES)
            && (row.operands.len() != 2 || row.operands[0] != row.operands[1])
        {
            note(row, &format!("only two operands of one kind commute, those of `{name}` are not"));
        }
        if row.operands.len() > azulejo_core::grammar::flatten::MAX_ARITY {
            note(row, &format!("`{name}` has more operands than patterns can match"));
        }
        if row.meaning.is_none() {
            note(row, &format!("what does `{name}` mean? Close the row with `=> |sig, operands| Ok(…)`"));
        }
    }
    all.map_or(Ok(()), Err)
}

impl Row {
    fn key(&self) -> Key {
        match (self.yields, self.operands.contains(&Kind::Same)) {
            (Yields::Same, _) => Key::Result,
            (_, true) => Key::Operand,
            _ => Key::None,
        }
    }

    /// The row as the grammar needs it, without the meaning. Its memory is leaked.
    pub(crate) fn info(&self) -> OpInfo {
        OpInfo {
            name: String::leak(self.name.to_string()),
            operands: Vec::leak(self.operands.clone()),
            params: Vec::leak(self.params.clone()),
            yields: self.yields,
            key: self.key(),
            types: Types(self.types),
            cast: self.cast,
            unsigned: None,
            props: self.props,
            reference: None,
            update: None,
            checks: &[],
        }
    }
}

fn expand(rows: &[Row]) -> TokenStream {
    let op = quote!(::azulejo::__private::core::vocab::op);
    let infos = rows.iter().map(|row| {
        let Row { name, operands, params, yields, types, cast, props, meaning, .. } = row;
        let text = name.unraw().to_string();
        let ident = |item: String| format_ident!("{}", item);
        let operands = operands.iter().map(|kind| ident(format!("{kind:?}")));
        let params = params.iter().map(|param| ident(format!("{param:?}")));
        let yields = ident(format!("{yields:?}"));
        let key = ident(format!("{:?}", row.key()));
        let cast = ident(format!("{cast:?}"));
        let props = props.bits();
        quote! {
            #op::OpInfo {
                name: #text,
                operands: &[#(#op::Kind::#operands),*],
                params: &[#(#op::Param::#params),*],
                yields: #op::Yields::#yields,
                key: #op::Key::#key,
                types: #op::Types(#types),
                cast: #op::Cast::#cast,
                unsigned: ::core::option::Option::None,
                props: #op::Props::from_bits_retain(#props),
                reference: ::core::option::Option::Some(#meaning),
                update: ::core::option::Option::None,
                checks: &[],
            }
        }
    });
    let docs = rows.iter().map(|Row { docs, name, .. }| {
        let title = format!("\n# `{name}`");
        quote!(#[doc = #title] #(#docs)*)
    });
    let heads = rows.iter().map(|row| &row.head);
    quote! {
        #[doc = "The operators of this module, as the vocabulary holds them."]
        #(#docs)*
        pub const ROWS: &[#op::OpInfo] = &[#(#infos),*];

        #[doc(hidden)]
        macro_rules! __hand_operators_on {
            ({ $($to:tt)* } $($before:tt)*) => {
                $($to)*! { $($before)* { #(#heads;)* } }
            };
        }
        #[allow(unused_imports, reason = "a set of tiles or templates may ask for them")]
        pub(crate) use __hand_operators_on as __operators;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kept::tests::{messages, tokens};

    #[test]
    fn mistakes_in_operators() {
        let cases = [
            (
                "pdep: (same same) -> same, pure => |_, a| Ok(a[0])",
                "on which types does `pdep` work? Write them after the result: `i32|i64`",
            ),
            ("add: (same same) -> same, int, pure => |_, a| Ok(a[0])", "there is an operator `add` already"),
            (
                "pdep: (same) -> same, int, pure, commutes => |_, a| Ok(a[0])",
                "only two operands of one kind commute, those of `pdep` are not",
            ),
            (
                "pdep: (ptr) -> void, int, writes => |_, a| Ok(a[0])",
                "no operand of `pdep` is `same`, so its types are given already",
            ),
            (
                "pdep: (same) -> same, int, pure, reads => |_, a| Ok(a[0])",
                "`pdep` cannot be pure and touch memory",
            ),
            (
                "pdep: (same) -> same, int, pure;",
                "what does `pdep` mean? Close the row with `=> |sig, operands| Ok(…)`",
            ),
            ("pdep: (some) -> same, int => |_, a| Ok(a[0])", "an operand is `same`, `ptr`, `word` or `flag`"),
            (
                "pdep: (same) [size] -> same, int => |_, a| Ok(a[0])",
                "a constant is `offset`, `scale` or `code`",
            ),
            (
                "pdep: (same) -> some, int => |_, a| Ok(a[0])",
                "an operator yields `same`, `ptr`, `flag` or `void`",
            ),
            (
                "pdep: (same) -> same, itn => |_, a| Ok(a[0])",
                "`itn` is no property; there are: signed unsigned pure commutes reads writes any_nan, and the types it works on: `i32|i64`, `int`",
            ),
        ];
        for (input, expected) in cases {
            assert_eq!(messages(operators(tokens(input))), [expected], "{input}");
        }
    }
}
