//! Expands rows that stand for several tiles.
//!
//! In: the rows of a group. Out: its tiles, as if each had been written by hand; later stages know nothing of forms.
//! A row is parsed once for each alternative of its form and each operator of its list, with the names replaced by these.
//! The order of tiles breaks ties in cost, so tiles keep the order of the rows and blocks.

use super::ast::Tile;
use super::form::{Alternative, Counts, Form, Operator, Word, form, is_form, list, refuse, replaced, words};
use super::parse;
use azulejo_core::grammar::Symbol;
use proc_macro2::{Group, Ident, Literal, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use std::slice;
use syn::parse::{ParseStream, Parser, Result};
use syn::spanned::Spanned;
use syn::{Error, Expr, LitInt, Pat, Token, braced, parse_quote};

/// The meanings of names in a row.
#[derive(Clone, Copy)]
struct Scope<'a> {
    forms: &'a [Form],
    /// The list of the enclosing block: its name, and the current operator.
    operator: Option<(&'a Ident, &'a Operator)>,
    /// The form of the enclosing block, and the current alternative.
    chosen: Option<(&'a Form, &'a Alternative)>,
}

impl<'a> Scope<'a> {
    fn form(&self, name: &Ident) -> Option<&'a Form> {
        self.forms.iter().find(|form| form.name == *name)
    }
}

/// One parsed row.
struct TileRow {
    /// The tokens before the emitter.
    head: Vec<TokenTree>,
    emit: Expr,
}

/// The form that a row uses: its name in the pattern, and the operands of the pattern before it.
struct Used<'a> {
    name: Ident,
    form: &'a Form,
    before: Counts,
}

/// Parses the tiles of a group; `forms` are the shared ones.
pub(super) fn tiles(input: ParseStream, mut forms: Vec<Form>) -> Result<Vec<Tile>> {
    let mut tiles = Vec::new();
    while !input.is_empty() {
        if is_form(input) {
            let next = form(input, &forms)?;
            forms.push(next);
        } else {
            item(input, Scope { forms: &forms, operator: None, chosen: None }, &mut tiles)?;
        }
    }
    Ok(tiles)
}

/// Parses a row, or a block of rows.
fn item(input: ParseStream, scope: Scope<'_>, tiles: &mut Vec<Tile>) -> Result<()> {
    if !input.peek(Token![for]) {
        if input.peek(Token![use]) {
            return Err(input.error("shared forms are asked for first: `pub group int; use path::address;`"));
        }
        if is_form(input) {
            return Err(input.error("forms stand in no block"));
        }
        let row = row(input)?;
        return expand(&row, scope, tiles);
    }
    input.parse::<Token![for]>()?;
    let name: Ident = input.parse()?;
    let mut scopes = Vec::new();
    let operators;
    if input.peek(Token![in]) {
        operators = list(input)?;
        if let Some((list, _)) = scope.operator {
            let problem = format!("these rows are in a list already: their operator is `{list}`");
            return refuse(name.span(), problem);
        }
        scopes.extend(operators.iter().map(|one| Scope { operator: Some((&name, one)), ..scope }));
    } else {
        let Some(form) = scope.form(&name) else {
            let problem = format!(
                "there is no form `{name}`; define it: `form {name} {{ … }}`, or list operators: `for {name} in [add: …]`"
            );
            return refuse(name.span(), problem);
        };
        if let Some((chosen, _)) = scope.chosen {
            let problem = format!("these rows are of a form already: `{}`", chosen.name);
            return refuse(name.span(), problem);
        }
        scopes.extend(form.alternatives.iter().map(|one| Scope { chosen: Some((form, one)), ..scope }));
    }
    let content;
    braced!(content in input);
    for scope in scopes {
        let rows = content.fork();
        while !rows.is_empty() {
            item(&rows, scope, tiles)?;
        }
    }
    content.parse::<TokenStream>()?;
    Ok(())
}

fn row(input: ParseStream) -> Result<TileRow> {
    let mut head = Vec::new();
    while !input.is_empty() && !input.peek(Token![=>]) {
        head.push(input.parse::<TokenTree>()?);
    }
    let arrow: Option<Token![=>]> = input.parse()?;
    head.extend(arrow.to_token_stream());
    // An error in the tokens before a missing arrow takes precedence.
    let emit = match arrow {
        Some(_) => input.parse()?,
        None => Expr::Verbatim(TokenStream::new()),
    };
    if !input.is_empty() {
        input.parse::<Token![,]>()?;
    }
    Ok(TileRow { head, emit })
}

/// Adds the tiles that a row stands for.
fn expand(row: &TileRow, scope: Scope<'_>, tiles: &mut Vec<Tile>) -> Result<()> {
    let used = used(row, scope)?;
    if let Some((list, _)) = scope.operator {
        check_list(row, list)?;
    }
    let alternatives: &[Alternative] = match (&used, scope.chosen) {
        (None, None) => {
            tiles.push(one(row, scope, None)?);
            return Ok(());
        }
        (Some(used), Some((form, chosen))) if used.form.name == form.name => slice::from_ref(chosen),
        (Some(used), None) => &used.form.alternatives,
        (_, Some((form, _))) => {
            let problem =
                format!("no operand of this row is `{0}`, so it stands outside of `for {0}`", form.name);
            return refuse(row.span(), problem);
        }
    };
    for alternative in alternatives {
        tiles.push(one(row, scope, used.as_ref().map(|used| (used, alternative)))?);
    }
    Ok(())
}

/// Finds the form that a row uses.
fn used<'a>(row: &TileRow, scope: Scope<'a>) -> Result<Option<Used<'a>>> {
    let mut found: Option<(Ident, &Form)> = None;
    for (word, place) in words(row.pattern().iter().cloned()) {
        let Some(form) = scope.form(&word) else { continue };
        let problem = match &found {
            _ if place == Word::Operator => format!("`{word}` is a form; it stands where an operand does"),
            None => {
                found = Some((word, form));
                continue;
            }
            Some((name, _)) if *name == word => {
                format!("a row names its form once: `$p@{word}`, and where it stands again `$p`")
            }
            Some((name, _)) => format!("a row has one form, and this one has `{name}`"),
        };
        return refuse(word.span(), problem);
    }
    let Some((name, form)) = found else { return Ok(None) };
    // `void` is no operand, so it can mark the position of the form.
    let mut mark = |word: &Ident, _| (*word == name).then(|| quote!(void));
    let marked = replaced(row.pattern().iter().cloned(), false, &mut mark);
    let mut before = Counts::default();
    before.add_until(&parse::pattern.parse2(marked)?, Symbol::Void);
    Ok(Some(Used { name, form, before }))
}

fn check_list(row: &TileRow, list: &Ident) -> Result<()> {
    let words = words(row.pattern().iter().cloned());
    let is_list = |wanted| words.iter().find(|(word, place)| word == list && *place == wanted);
    if let Some((wrong, _)) = is_list(Word::Operand) {
        let problem = format!("`{list}` is a list of operators; it stands first in parentheses");
        return refuse(wrong.span(), problem);
    }
    if is_list(Word::Operator).is_none() {
        let problem =
            format!("no operator of this row is `{list}`, so it stands outside of `for {list} in …`");
        return refuse(row.span(), problem);
    }
    match row.head.first() {
        Some(TokenTree::Ident(name)) if name.to_string().starts_with('_') => Ok(()),
        _ => refuse(row.span(), "a tile's name begins with its operator: write `_` for that, as in `_load`"),
    }
}

/// The tile of a row for one operator and one alternative.
fn one(row: &TileRow, scope: Scope<'_>, form: Option<(&Used<'_>, &Alternative)>) -> Result<Tile> {
    let head = head(row, scope, form)?;
    let whole = |input: ParseStream| {
        let tile = parse::tile(input)?;
        input
            .parse::<Token![=>]>()
            .map_err(|error| Error::new(error.span(), "a tile ends with its emitter: `=> |cx, t| …`"))?;
        Ok(tile)
    };
    let mut tile = whole.parse2(head)?;
    tile.emit = Some(emitter(row, scope, form)?);
    Ok(tile)
}

/// The tokens before the emitter, with the names replaced.
fn head(row: &TileRow, scope: Scope<'_>, form: Option<(&Used<'_>, &Alternative)>) -> Result<TokenStream> {
    let (named, rest) = row.head.split_at(row.pattern_start());
    let (pattern, rest) = rest.split_at(row.pattern().len());
    let mut head: TokenStream = named.iter().cloned().collect();
    if let [TokenTree::Ident(name), colon @ ..] = named
        && (scope.operator.is_some() || form.is_some())
    {
        let mut full = name.to_string();
        if let Some((_, operator)) = scope.operator {
            full = format!("{}{}", operator.name, if full == "_" { "" } else { &full });
        }
        if let Some((_, alternative)) = form {
            full = format!("{full}_{}", alternative.name);
        }
        let full =
            syn::parse_str(&full).map_err(|_| Error::new(name.span(), format!("`{full}` is no name")))?;
        let mut full: Ident = full;
        full.set_span(name.span());
        head = TokenTree::from(full).into();
        head.extend(colon.iter().cloned());
    }
    let mut meaning = |word: &Ident, place| match place {
        Word::Operator => {
            scope.operator.filter(|(list, _)| *list == word).map(|(_, one)| one.name.to_token_stream())
        }
        Word::Operand => form.filter(|(used, _)| used.name == *word).map(|(_, one)| one.pattern.clone()),
    };
    head.extend(replaced(pattern.iter().cloned(), false, &mut meaning));
    head.extend(behind_pattern(rest, form)?);
    Ok(head)
}

/// The tokens after the pattern: the cost with the alternative's added, and clauses with operands renumbered.
fn behind_pattern(tokens: &[TokenTree], form: Option<(&Used<'_>, &Alternative)>) -> Result<TokenStream> {
    const USAGE: &str = "a row with a form `mem` costs `4`, or `4 + mem` with what the alternative adds";
    let mut output: Vec<TokenTree> = Vec::new();
    let mut tokens = tokens.iter().peekable();
    while let Some(token) = tokens.next() {
        match token {
            TokenTree::Punct(plus) if plus.as_char() == '+' => {
                let named = match tokens.next() {
                    Some(TokenTree::Ident(named)) => named,
                    _ => return refuse(plus.span(), USAGE),
                };
                let Some((_, alternative)) = form.filter(|(used, _)| used.name == *named) else {
                    return refuse(named.span(), format!("no operand of this row is a form `{named}`"));
                };
                let cost: LitInt = syn::parse2(output.pop().to_token_stream())
                    .map_err(|_| Error::new(plus.span(), USAGE))?;
                let sum = parse::cost(&cost)? + alternative.cost;
                let mut sum = Literal::u16_unsuffixed(sum);
                sum.set_span(cost.span());
                output.push(sum.into());
            }
            TokenTree::Ident(clause) => {
                output.push(token.clone());
                let is_counted = ["tied", "late", "any", "fixed"].iter().any(|word| clause == word);
                if let (Some((used, alternative)), true) = (form, is_counted)
                    && let Some(TokenTree::Group(operand)) = tokens.peek()
                {
                    output.push(recounted(operand, used, alternative)?.into());
                    tokens.next();
                }
            }
            token => output.push(token.clone()),
        }
    }
    Ok(output.into_iter().collect())
}

/// A clause's parentheses, with the operand number of the row, in which a form counts as one, converted to that of the tile.
fn recounted(operand: &Group, used: &Used<'_>, alternative: &Alternative) -> Result<Group> {
    let mut tokens: Vec<TokenTree> = operand.stream().into_iter().collect();
    if let Some(first) = tokens.first_mut()
        && let Ok(at) = syn::parse2::<LitInt>(first.to_token_stream())
        && let Ok(number) = at.base10_parse::<u8>()
    {
        if number as usize == used.before.regs {
            let problem =
                format!("operand {number} is the form `{}`; clauses are about single registers", used.name);
            return refuse(at.span(), problem);
        }
        if number as usize > used.before.regs {
            let mut number = Literal::usize_unsuffixed(number as usize + alternative.counts.regs - 1);
            number.set_span(at.span());
            *first = number.into();
        }
    }
    let mut counted = Group::new(operand.delimiter(), tokens.into_iter().collect());
    counted.set_span(operand.span());
    Ok(counted)
}

/// The emitter, with the names bound to their values.
fn emitter(row: &TileRow, scope: Scope<'_>, form: Option<(&Used<'_>, &Alternative)>) -> Result<Expr> {
    if scope.operator.is_none() && form.is_none() {
        return Ok(row.emit.clone());
    }
    let usage = "the emitter of a row with a form or a list is a closure: `=> |cx, t| …`";
    let Expr::Closure(mut closure) = row.emit.clone() else { return refuse(row.emit.span(), usage) };
    let mut given = Vec::new();
    if let Some((list, Operator { value, .. })) = scope.operator {
        given.push(quote!(let #list = #value;));
    }
    if let Some((Used { name, before, .. }, alternative)) = form {
        let Some(Pat::Ident(tile)) = closure.inputs.iter().nth(1) else {
            return refuse(closure.span(), usage);
        };
        let (row, Alternative { tile: inner, value, .. }) = (&tile.ident, alternative);
        let (Counts { regs: first, imms: first_imm }, Counts { regs, imms }) = (*before, alternative.counts);
        given.push(quote!(let #name = { let #inner = &#row.from_operand(#first, #first_imm); #value };));
        if regs != 1 || imms != 0 {
            given.push(quote!(let #row = &#row.with_form(#first, #regs, #first_imm, #imms);));
        }
    }
    let body = &closure.body;
    closure.body = parse_quote!({
        #(#[allow(unused_variables, reason = "not every emitter needs what its names stand for")] #given)*
        #body
    });
    Ok(Expr::Closure(closure))
}

impl TileRow {
    fn span(&self) -> Span {
        self.head.first().map_or_else(Span::call_site, TokenTree::span)
    }

    /// The index of the pattern's first token, after the name and the colon.
    fn pattern_start(&self) -> usize {
        let colon = |token: &TokenTree| matches!(token, TokenTree::Punct(punct) if punct.as_char() == ':');
        self.head.iter().position(colon).map_or(self.head.len(), |at| at + 1)
    }

    /// The tokens between the name and the arrow to the result.
    fn pattern(&self) -> &[TokenTree] {
        let rest = &self.head[self.pattern_start()..];
        let arrow = |token: &TokenTree| matches!(token, TokenTree::Punct(punct) if punct.as_char() == '-');
        &rest[..rest.iter().position(arrow).unwrap_or(rest.len())]
    }
}
