//! Names with several meanings in rows: operand forms, and lists of operators.
//!
//! In: `form name { … }` and `in [ … ]`. Out: each alternative with its pattern, its cost, and its value for the emitter.
//! Alternatives name no forms, so there is no recursion. [`super::row`] expands rows that use these names.

use super::parse;
use azulejo_core::grammar::pattern::has_imm;
use azulejo_core::grammar::{Pattern, PatternShape, Symbol};
use azulejo_core::vocab::Vocabulary;
use proc_macro2::{Delimiter, Group, Ident, Span, TokenStream, TokenTree};
use quote::ToTokens;
use std::fmt::Display;
use syn::ext::IdentExt;
use syn::parse::{ParseStream, Parser, Result};
use syn::spanned::Spanned;
use syn::{Error, Expr, Pat, Token, braced, bracketed};

/// An operand with alternative patterns. A tile has one of them.
pub(super) struct Form {
    pub(super) name: Ident,
    pub(super) alternatives: Vec<Alternative>,
}

/// One alternative of a form.
pub(super) struct Alternative {
    pub(super) name: Ident,
    pub(super) pattern: TokenStream,
    /// Its cost beyond that of the cheapest alternative.
    pub(super) cost: u16,
    pub(super) counts: Counts,
    /// The name of its closure parameter, the tile.
    pub(super) tile: Ident,
    /// The value that the emitter gets for it.
    pub(super) value: Expr,
}

/// An operator of a list, and the value that the emitter gets with it.
pub(super) struct Operator {
    pub(super) name: Ident,
    pub(super) value: Expr,
}

/// The number of registers and constants that the emitter gets for a pattern, or for a part of one.
#[derive(Clone, Copy, Default)]
pub(super) struct Counts {
    pub(super) regs: usize,
    pub(super) imms: usize,
}

/// Reads forms to the end of the input, and adds them to the known ones.
pub(super) fn forms(input: ParseStream, known: &mut Vec<Form>) -> Result<()> {
    while !input.is_empty() {
        if !is_form(input) {
            return Err(input.error("only forms are shared: `form mem { base: reg => |t| …, }`"));
        }
        let next = form(input, known)?;
        known.push(next);
    }
    Ok(())
}

pub(super) fn is_form(input: ParseStream) -> bool {
    let fork = input.fork();
    fork.parse::<Ident>().is_ok_and(|word| word == "form") && !fork.peek(Token![:])
}

/// Parses `form name { alternative: pattern, cost => |t| value, … }`.
pub(super) fn form(input: ParseStream, known: &[Form]) -> Result<Form> {
    input.parse::<Ident>()?;
    let name: Ident = input.parse()?;
    let problem = match &name.to_string() {
        word if Symbol::from_name(word).is_some() => {
            Some(format!("`{name}` is a symbol, so no form has that name"))
        }
        _ if known.iter().any(|form| form.name == name) => Some(format!("there is a form `{name}` already")),
        _ => None,
    };
    if let Some(problem) = problem {
        return refuse(name.span(), problem);
    }
    let content;
    braced!(content in input);
    let mut alternatives = Vec::new();
    while !content.is_empty() {
        alternatives.push(alternative(&content, &name, known)?);
        if !content.is_empty() {
            content.parse::<Token![,]>()?;
        }
    }
    if alternatives.is_empty() {
        let problem = format!("in which shapes is `{name}`? It has no alternative: `base: reg => |t| …`");
        return refuse(name.span(), problem);
    }
    Ok(Form { name, alternatives })
}

fn alternative(input: ParseStream, form: &Ident, known: &[Form]) -> Result<Alternative> {
    let name: Ident = input.parse()?;
    input.parse::<Token![:]>()?;
    let mut pattern = Vec::new();
    while !input.is_empty() && !input.peek(Token![,]) && !input.peek(Token![=>]) {
        pattern.push(input.parse::<TokenTree>()?);
    }
    let is_form = |word: &Ident| word == form || known.iter().any(|form| form.name == *word);
    if let Some((named, _)) = words(pattern.clone()).into_iter().find(|(word, _)| is_form(word)) {
        return refuse(named.span(), format!("`{named}` is a form; alternatives of forms name none"));
    }
    if pattern.is_empty() {
        return refuse(name.span(), format!("`{name}` has no pattern: `{name}: reg => |t| …`"));
    }
    let pattern = TokenStream::from_iter(pattern);
    let counts = parse::pattern.parse2(pattern.clone()).map(|pattern| Counts::of(&pattern))?;
    let mut cost = 0;
    if input.peek(Token![,]) {
        input.parse::<Token![,]>()?;
        cost = parse::cost(&input.parse()?)?;
    }
    let usage = "an alternative ends with what the emitter gets: `=> |t| …`";
    input.parse::<Token![=>]>().map_err(|error| Error::new(error.span(), usage))?;
    let value: Expr = input.parse()?;
    let span = value.span();
    let Expr::Closure(closure) = value else { return refuse(span, usage) };
    let mut params = closure.inputs.into_iter();
    match (params.next(), params.next()) {
        (Some(Pat::Ident(tile)), None) => {
            Ok(Alternative { name, pattern, cost, counts, tile: tile.ident, value: *closure.body })
        }
        _ => refuse(span, usage),
    }
}

/// Parses `in [operator: value, …]`.
pub(super) fn list(input: ParseStream) -> Result<Vec<Operator>> {
    input.parse::<Token![in]>()?;
    let content;
    let bracket = bracketed!(content in input);
    let mut operators = Vec::new();
    while !content.is_empty() {
        let name = content.call(Ident::parse_any)?;
        content.parse::<Token![:]>()?;
        operators.push(Operator { name, value: content.parse()? });
        if !content.is_empty() {
            content.parse::<Token![,]>()?;
        }
    }
    match operators.is_empty() {
        true => refuse(bracket.span.join(), "which operators? `[add: Alu::Add, sub: Alu::Sub]`"),
        false => Ok(operators),
    }
}

impl Counts {
    fn of(pattern: &Pattern) -> Counts {
        let mut counts = Counts::default();
        counts.add_until(pattern, Symbol::Void);
        counts
    }

    /// Adds the operands of a pattern up to a symbol, in the order in which the emitter gets them. Returns whether it was found.
    pub(super) fn add_until(&mut self, pattern: &Pattern, end: Symbol) -> bool {
        match &pattern.shape {
            PatternShape::Symbol(symbol) if *symbol == end => return true,
            PatternShape::Symbol(symbol) => self.regs += symbol.class().is_some() as usize,
            PatternShape::Same(_) => {}
            PatternShape::Node { op, children, params, .. } => {
                if children.iter().any(|child| self.add_until(child, end)) {
                    return true;
                }
                // The user's own operators are not known at this point.
                let vocab = Vocabulary { extra: &[] };
                let has_imm = match vocab.find(op).map(|op| vocab.info(op)) {
                    Some(info) => has_imm(info) || info.is_call() && children.is_empty(),
                    None => !params.is_empty(),
                };
                self.imms += has_imm as usize;
            }
        }
        false
    }
}

/// The role of a word in a pattern.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Word {
    Operator,
    Operand,
}

/// Replaces words of a pattern by the tokens that `to` returns for them.
pub(super) fn replaced(
    pattern: impl IntoIterator<Item = TokenTree>,
    in_parentheses: bool,
    to: &mut dyn FnMut(&Ident, Word) -> Option<TokenStream>,
) -> TokenStream {
    let mut output = TokenStream::new();
    let mut is_first = in_parentheses;
    // A word after punctuation other than `@` names a type, predicate, constant or node.
    let mut names_other = false;
    for token in pattern {
        let was_first = core::mem::take(&mut is_first);
        let is_other = core::mem::take(&mut names_other);
        match token {
            TokenTree::Group(group) => {
                let is_list = group.delimiter() == Delimiter::Parenthesis;
                let mut inner = Group::new(group.delimiter(), replaced(group.stream(), is_list, to));
                inner.set_span(group.span());
                output.extend([TokenTree::from(inner)]);
            }
            TokenTree::Ident(word) if !is_other => {
                let place = if was_first { Word::Operator } else { Word::Operand };
                output.extend(to(&word, place).unwrap_or_else(|| word.into_token_stream()));
            }
            TokenTree::Punct(punct) => {
                names_other = punct.as_char() != '@';
                output.extend([TokenTree::from(punct)]);
            }
            token => output.extend([token]),
        }
    }
    output
}

/// The words of a pattern that are operators or operands.
pub(super) fn words(pattern: impl IntoIterator<Item = TokenTree>) -> Vec<(Ident, Word)> {
    let mut words = Vec::new();
    replaced(pattern, false, &mut |word, place| {
        words.push((word.clone(), place));
        None
    });
    words
}

pub(super) fn refuse<T>(span: Span, problem: impl Display) -> Result<T> {
    Err(Error::new(span, problem))
}
