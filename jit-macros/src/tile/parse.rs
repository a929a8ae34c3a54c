//! Parses `tile!` and `tileset!`.
//!
//! Patterns are passed through `macro_rules!`, where `$` has a meaning of its own. There it is spelled
//! `~`, and the parser accepts both.

use super::ast::{Collected, Content, Group, Header, Tile};
use super::{form, row};
use azulejo_core::grammar::{Clause, Pattern, PatternShape, Place, Predicate, Rule, Symbol, TypeSpec};
use azulejo_core::vocab::Class;
use proc_macro2::{Group as Delimited, Ident, Punct, Span, TokenStream, TokenTree};
use syn::ext::IdentExt;
use syn::parse::{ParseStream, Result};
use syn::{Error, LitInt, Path, Token, Visibility, braced, parenthesized, token};

/// Parses the contents of a `tile!`.
pub(crate) fn content(input: ParseStream) -> Result<Content> {
    let start = input.fork();
    let vis: Visibility = input.parse()?;
    let keyword = input.call(Ident::parse_any)?;
    if keyword != "group" && keyword != "forms" {
        return Err(Error::new(keyword.span(), "name the group first: `pub group int;`"));
    }
    let name = input.parse()?;
    input.parse::<Token![;]>()?;
    if keyword == "forms" {
        let tokens = input.fork().parse()?;
        form::forms(input, &mut Vec::new())?;
        return Ok(Content::Forms { vis, name, tokens });
    }
    let mut forms = Vec::new();
    while input.peek(token::Brace) {
        let told;
        braced!(told in input);
        form::forms(&told, &mut forms)?;
    }
    let header = between(&start, input);
    if input.peek(Token![use]) {
        input.parse::<Token![use]>()?;
        let path = Path::parse_mod_style(input)?;
        input.parse::<Token![;]>()?;
        return Ok(Content::Asks { path, header, rest: input.parse()? });
    }
    Ok(Content::Group(Group { vis, name, tiles: row::tiles(input, forms)? }))
}

/// Parses `{ { header } { rows } } { forms }` into the contents of a group.
pub(crate) fn told(input: ParseStream) -> Result<TokenStream> {
    let (asking, header, rows, forms);
    braced!(asking in input);
    braced!(header in asking);
    braced!(rows in asking);
    braced!(forms in input);
    let (header, rows, forms): (TokenStream, TokenStream, TokenStream) =
        (header.parse()?, rows.parse()?, forms.parse()?);
    Ok(quote::quote!(#header { #forms } #rows))
}

/// Parses `name: pattern -> result, cost, clauses`, up to `=>`, `;` or the end.
pub(super) fn tile(input: ParseStream) -> Result<Tile> {
    let start = input.fork();
    let name: Ident = input.parse()?;
    input.parse::<Token![:]>()?;
    let mut parser = Patterns::default();
    let pattern = parser.pattern(input)?;
    input.parse::<Token![->]>()?;
    let result: Ident = input.parse()?;
    let Some(symbol) = Symbol::from_name(&result.to_string()) else {
        return Err(Error::new(result.span(), "a tile yields `reg`, `num`, `flag` or `void`"));
    };
    let no_cost = |error: Error| {
        Error::new(error.span(), format!("`{name}` has no cost: write it after the result, `-> {symbol}, 2`"))
    };
    input.parse::<Token![,]>().map_err(no_cost)?;
    let cost: LitInt = input.parse().map_err(no_cost)?;
    let cost = self::cost(&cost)?;
    let mut clauses = Vec::new();
    let mut spans = Vec::new();
    let mut registers = Vec::new();
    while input.peek(Token![,]) && !input.peek2(Token![;]) {
        input.parse::<Token![,]>()?;
        if input.peek(Token![=>]) {
            break;
        }
        spans.push(input.span());
        clauses.push(clause(input, &mut registers)?);
    }
    let head = between(&start, input);
    let rule = Rule { name: name.to_string(), pattern, result: symbol, cost, clauses };
    Ok(Tile { rule, name, patterns: parser.spans, clauses: spans, registers, head, emit: None })
}

/// A pattern alone.
pub(super) fn pattern(input: ParseStream) -> Result<Pattern> {
    Patterns::default().pattern(input)
}

pub(super) fn cost(number: &LitInt) -> Result<u16> {
    let cost = number.base10_parse::<u16>().ok().filter(|cost| *cost <= 1000);
    cost.ok_or_else(|| Error::new(number.span(), "a cost is a number from 0 to 1000"))
}

/// The tokens between two positions.
fn between(start: ParseStream, end: ParseStream) -> TokenStream {
    let mut tokens = TokenStream::new();
    let left = end.cursor();
    let mut cursor = start.cursor();
    while cursor != left {
        let Some((token, next)) = cursor.token_tree() else { break };
        tokens.extend([token]);
        cursor = next;
    }
    tokens
}

fn clause(input: ParseStream, registers: &mut Vec<Ident>) -> Result<Clause> {
    let name: Ident = input.call(Ident::parse_any)?;
    let word = name.to_string();
    match word.as_str() {
        "early" => return Ok(Clause::Early),
        "entry" => return Ok(Clause::Entry),
        "tied" | "late" | "any" | "fixed" | "clobber" | "temp" | "needs" => {}
        _ => {
            let known = "tied(0) fixed(0 = rcx) fixed(out = rax) clobber(rax, rdx) temp(int) early late(0) any(0) \
                         needs(feature) entry";
            return Err(Error::new(name.span(), format!("there is no clause `{word}`; there are: {known}")));
        }
    }
    if !input.peek(token::Paren) {
        return Err(Error::new(name.span(), format!("`{word}` takes its operand in parentheses")));
    }
    let content;
    parenthesized!(content in input);
    let clause = match word.as_str() {
        "tied" => Clause::Tied(number(&content)?),
        "late" => Clause::Late(number(&content)?),
        "any" => Clause::Any(number(&content)?),
        "fixed" => {
            let place = if content.peek(Ident::peek_any) {
                let out = content.call(Ident::parse_any)?;
                if out != "out" {
                    return Err(Error::new(out.span(), "`fixed` takes the number of an operand, or `out`"));
                }
                Place::Out
            } else {
                Place::Use(number(&content)?)
            };
            content.parse::<Token![=]>()?;
            Clause::Fixed(place, register(&content, registers)?)
        }
        "clobber" => {
            let mut names = Vec::new();
            while !content.is_empty() {
                names.push(register(&content, registers)?);
                if !content.is_empty() {
                    content.parse::<Token![,]>()?;
                }
            }
            Clause::Clobber(names)
        }
        "temp" => {
            let class: Ident = content.parse()?;
            match class.to_string().as_str() {
                "int" => Clause::Temp(Class::Int),
                "float" => Clause::Temp(Class::Float),
                _ => return Err(Error::new(class.span(), "a scratch register is `int` or `float`")),
            }
        }
        _ => Clause::Needs(content.parse::<Ident>()?.to_string()),
    };
    if content.is_empty() { Ok(clause) } else { Err(content.error("nothing more is expected here")) }
}

fn number(input: ParseStream) -> Result<u8> {
    input.parse::<LitInt>()?.base10_parse()
}

fn register(input: ParseStream, registers: &mut Vec<Ident>) -> Result<String> {
    let name: Ident = input.parse()?;
    registers.push(name.clone());
    Ok(name.to_string())
}

/// The state of parsing a pattern: the number of sub-patterns, and the names bound to nodes.
#[derive(Default)]
struct Patterns {
    spans: Vec<Span>,
    bound: Vec<String>,
}

impl Patterns {
    fn pattern(&mut self, input: ParseStream) -> Result<Pattern> {
        let id = self.spans.len() as u32;
        self.spans.push(input.span());
        if peek_dollar(input) {
            let name = dollar_name(input)?;
            if !input.peek(Token![@]) {
                return Ok(Pattern { id, bind: None, shape: PatternShape::Same(name.to_string()) });
            }
            input.parse::<Token![@]>()?;
            self.bound.push(name.to_string());
            self.spans[id as usize] = input.span();
            let shape = self.shape(input, id)?;
            return Ok(Pattern { id, bind: Some(name.to_string()), shape });
        }
        let shape = self.shape(input, id)?;
        Ok(Pattern { id, bind: None, shape })
    }

    fn shape(&mut self, input: ParseStream, id: u32) -> Result<PatternShape> {
        if !input.peek(token::Paren) {
            let name: Ident = input.parse().map_err(|error| {
                let problem = "expected `reg`, `num`, `flag`, a pattern in parentheses, or a constant by a name: `$c` or `$c:one`";
                Error::new(error.span(), problem)
            })?;
            return Symbol::from_name(&name.to_string()).map(PatternShape::Symbol).ok_or_else(|| {
                let problem = format!(
                    "`{name}` is no symbol and no form; operands are `reg`, `num`, `flag`, forms and patterns in parentheses"
                );
                Error::new(name.span(), problem)
            });
        }
        let content;
        parenthesized!(content in input);
        let op: Ident = content.call(Ident::parse_any)?;
        self.spans[id as usize] = op.span();
        let mut types = Vec::new();
        while content.peek(Token![.]) {
            content.parse::<Token![.]>()?;
            types.push(type_spec(&content)?);
        }
        let mut children = Vec::new();
        let mut params = Vec::new();
        let mut predicate = None;
        while !content.is_empty() {
            let fork = content.fork();
            let is_param = peek_dollar(&fork) && {
                let name = dollar_name(&fork)?;
                !fork.peek(Token![@]) && !self.bound.contains(&name.to_string())
            };
            if !is_param {
                if !params.is_empty() {
                    return Err(content.error("the operands stand before the constants"));
                }
                children.push(self.pattern(&content)?);
                continue;
            }
            params.push(dollar_name(&content)?.to_string());
            if content.peek(Token![:]) {
                content.parse::<Token![:]>()?;
                let name: Ident = content.parse()?;
                predicate = Some(Predicate::from_name(&name.to_string()).ok_or_else(|| {
                    let known: Vec<&str> = Predicate::ALL.iter().map(|known| known.name()).collect();
                    let problem = format!("there is no predicate `{name}`; there are: {}", known.join(" "));
                    Error::new(name.span(), problem)
                })?);
            }
        }
        Ok(PatternShape::Node { op: op.to_string(), types, children, params, predicate })
    }
}

fn peek_dollar(input: ParseStream) -> bool {
    input.peek(Token![$]) || input.peek(Token![~])
}

fn dollar_name(input: ParseStream) -> Result<Ident> {
    if input.peek(Token![~]) {
        input.parse::<Token![~]>()?;
    } else {
        input.parse::<Token![$]>()?;
    }
    input.call(Ident::parse_any)
}

/// Parses `i64`, `i32|i64`, `int`, `$t` or `$t:int`.
fn type_spec(input: ParseStream) -> Result<TypeSpec> {
    let mut var = None;
    if peek_dollar(input) {
        var = Some(dollar_name(input)?.to_string());
        if !input.peek(Token![:]) {
            return Ok(TypeSpec { var, types: TypeSpec::named("value").unwrap_or(0) });
        }
        input.parse::<Token![:]>()?;
    }
    let mut types = 0;
    loop {
        let name: Ident = input.parse()?;
        types |= TypeSpec::named(&name.to_string()).ok_or_else(|| {
            let problem = format!(
                "there is no type `{name}`; there are: i8 i16 i32 i64 f32 f64, and the classes int wide float value"
            );
            Error::new(name.span(), problem)
        })?;
        if !input.peek(Token![|]) {
            return Ok(TypeSpec { var, types });
        }
        input.parse::<Token![|]>()?;
    }
}

/// Parses `pub static NAME: machine = …; features = …; groups = …;` and `extends`, in any order after the name.
pub(crate) fn header(input: ParseStream) -> Result<Header> {
    let vis = input.parse()?;
    input.parse::<Token![static]>()?;
    let name: Ident = input.parse()?;
    input.parse::<Token![:]>()?;
    let mut header = Header {
        vis,
        name,
        extends: None,
        machine: syn::parse_quote!(::azulejo::__private::machine),
        features: Vec::new(),
        groups: Vec::new(),
        operators: None,
        partial: false,
    };
    while !input.is_empty() {
        let word: Ident = input.parse()?;
        if word == "extends" {
            let mut path = Path::parse_mod_style(input)?;
            let Some(last) = path.segments.pop() else { return Err(input.error("which set?")) };
            path.segments.pop_punct();
            if path.segments.is_empty() {
                return Err(Error::new(
                    last.value().ident.span(),
                    "name the set with its crate: `azulejo::x64::X64`",
                ));
            }
            header.extends = Some((path, last.into_value().ident));
        } else if word == "partial" {
            header.partial = true;
        } else {
            input.parse::<Token![=]>()?;
            match word.to_string().as_str() {
                "machine" => header.machine = Path::parse_mod_style(input)?,
                "operators" => header.operators = Some(Path::parse_mod_style(input)?),
                "features" => {
                    while !input.peek(Token![;]) {
                        header.features.push(input.parse()?);
                    }
                }
                "groups" => {
                    while !input.peek(Token![;]) {
                        header.groups.push(Path::parse_mod_style(input)?);
                        let _: Option<Token![,]> = input.parse()?;
                    }
                }
                _ => {
                    let known = "extends, machine, features, groups, operators, partial";
                    return Err(Error::new(word.span(), format!("a tile set is described by: {known}")));
                }
            }
        }
        if !input.is_empty() {
            input.parse::<Token![;]>()?;
        }
    }
    Ok(header)
}

/// Parses `{ header } { collected parts }`, followed for operators by `{ path } { rows }`.
pub(crate) fn step(input: ParseStream) -> Result<(Header, TokenStream)> {
    let content;
    braced!(content in input);
    let header = header(&content)?;
    let content;
    braced!(content in input);
    let mut done: TokenStream = content.parse()?;
    if !input.is_empty() {
        let rows: TokenStream = input.parse()?;
        done.extend(quote::quote!(operators #rows));
    }
    Ok((header, done))
}

/// Parses `group { path } { tiles }`, `set { path name } { features } { tiles }` and `operators { path } { rows }`.
pub(crate) fn collected(input: ParseStream) -> Result<Vec<Collected>> {
    let mut parts = Vec::new();
    while !input.is_empty() {
        let kind: Ident = input.parse()?;
        let content;
        braced!(content in input);
        let path = Path::parse_mod_style(&content)?;
        match kind.to_string().as_str() {
            "group" => parts.push(Collected::Group { path, tiles: handed_on(input)? }),
            "set" => {
                content.parse::<Token![;]>()?;
                let name = content.parse()?;
                let names;
                braced!(names in input);
                let mut features = Vec::new();
                while !names.is_empty() {
                    features.push(names.parse()?);
                }
                parts.push(Collected::Set { path, name, features, tiles: handed_on(input)? });
            }
            _ => {
                let rows;
                braced!(rows in input);
                parts.push(Collected::Operators { path, rows: crate::operators::rows(&rows)? });
            }
        }
    }
    Ok(parts)
}

fn handed_on(input: ParseStream) -> Result<Vec<Tile>> {
    let content;
    braced!(content in input);
    let mut tiles = Vec::new();
    while !content.is_empty() {
        tiles.push(tile(&content)?);
        content.parse::<Token![;]>()?;
    }
    Ok(tiles)
}

/// Replaces `$` by `~`, so that `macro_rules!` does not interpret it.
pub(crate) fn without_dollars(tokens: TokenStream) -> TokenStream {
    tokens
        .into_iter()
        .map(|token| match token {
            TokenTree::Punct(punct) if punct.as_char() == '$' => {
                let mut tilde = Punct::new('~', punct.spacing());
                tilde.set_span(punct.span());
                TokenTree::Punct(tilde)
            }
            TokenTree::Group(group) => {
                let mut inner = Delimited::new(group.delimiter(), without_dollars(group.stream()));
                inner.set_span(group.span());
                TokenTree::Group(inner)
            }
            token => token,
        })
        .collect()
}
