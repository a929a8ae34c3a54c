//! Rows of `rewrite!` as they are written.
//!
//! ```text
//! pub static NAME;
//! pattern => result
//! pattern => result if (&condition $c $t) && (&another $c)
//! ```

use proc_macro2::{Delimiter, Ident, Span, TokenStream, TokenTree};
use quote::quote;
use std::iter::Peekable;

/// Every mistake found so far.
#[derive(Default)]
pub(crate) struct Errors(pub(crate) Vec<syn::Error>);

impl Errors {
    pub(crate) fn add(&mut self, span: Span, message: impl std::fmt::Display) {
        self.0.push(syn::Error::new(span, message));
    }
}

/// One invocation.
pub(crate) struct Rules {
    pub(crate) attributes: TokenStream,
    pub(crate) visibility: TokenStream,
    pub(crate) name: Ident,
    pub(crate) rows: Vec<Row>,
}

/// One rule.
pub(crate) struct Row {
    pub(crate) left: Node,
    pub(crate) right: Term,
    pub(crate) conditions: Vec<Call>,
    /// As it is written, for reports.
    pub(crate) text: String,
}

/// Anything that may stand as an operand.
pub(crate) enum Term {
    /// `_`
    Any(Span),
    /// `$name`, `$name:predicate`, `$name@(node)`
    Variable { name: Ident, predicate: Option<Ident>, node: Option<Node> },
    /// `1`, `-1.5`
    Literal { value: Literal, span: Span },
    /// `(operator …)`
    Node(Node),
    /// `(&path …)`
    Call(Call),
}

/// A constant as it is written.
#[derive(Clone, Copy)]
pub(crate) enum Literal {
    Int(i64),
    Float(f64),
}

/// `(operator.types operand …)`
pub(crate) struct Node {
    pub(crate) operator: Ident,
    pub(crate) types: Vec<TypeTerm>,
    pub(crate) operands: Vec<Term>,
}

/// `$t`, `$t:int`, `i32|i64`
pub(crate) struct TypeTerm {
    pub(crate) variable: Option<Ident>,
    pub(crate) names: Vec<Ident>,
}

/// `(&path argument …)`
pub(crate) struct Call {
    pub(crate) path: TokenStream,
    pub(crate) arguments: Vec<Term>,
    pub(crate) span: Span,
}

impl Term {
    pub(crate) fn span(&self) -> Span {
        match self {
            Term::Any(span) | Term::Literal { span, .. } => *span,
            Term::Variable { name, .. } => name.span(),
            Term::Node(node) => node.operator.span(),
            Term::Call(call) => call.span,
        }
    }
}

type Parsed<T> = syn::Result<T>;

struct Tokens {
    rest: Peekable<proc_macro2::token_stream::IntoIter>,
    end: Span,
}

/// Reads an invocation; nothing if not even its name can be read.
pub(crate) fn parse(input: TokenStream, errors: &mut Errors) -> Option<Rules> {
    let mut tokens = Tokens { rest: input.into_iter().peekable(), end: Span::call_site() };
    let mut rules = match head(&mut tokens) {
        Ok(rules) => rules,
        Err(error) => {
            errors.0.push(error);
            return None;
        }
    };
    while tokens.rest.peek().is_some() {
        match row(&mut tokens) {
            Ok(row) => rules.rows.push(row),
            Err(error) => {
                errors.0.push(error);
                // Rows have no separator: only what follows the next arrow would be known to be a row.
                break;
            }
        }
    }
    Some(rules)
}

fn head(tokens: &mut Tokens) -> Parsed<Rules> {
    let mut attributes = TokenStream::new();
    let mut visibility = TokenStream::new();
    while tokens.is_punct('#') {
        let (hash, group) = (tokens.next("an attribute")?, tokens.next("an attribute")?);
        attributes.extend([hash, group]);
    }
    while !tokens.is_ident("static") {
        if tokens.is_punct(';') {
            break;
        }
        visibility.extend([tokens.next("`pub static NAME;` before the rules")?]);
    }
    tokens.next("`static NAME;` before the rules")?;
    let name = tokens.ident("the name of the rules")?;
    tokens.punct(';')?;
    Ok(Rules { attributes, visibility, name, rows: Vec::new() })
}

fn row(tokens: &mut Tokens) -> Parsed<Row> {
    let mut text = String::new();
    let left = match term(tokens, &mut text)? {
        Term::Node(node) => node,
        other => return Err(syn::Error::new(other.span(), "a rule begins with `(operator …)`")),
    };
    tokens.punct('=')?;
    tokens.punct('>')?;
    text.push_str(" => ");
    let right = term(tokens, &mut text)?;
    let mut conditions = Vec::new();
    if tokens.is_ident("if") {
        tokens.next("`if`")?;
        text.push_str(" if ");
        loop {
            match term(tokens, &mut text)? {
                Term::Call(call) => conditions.push(call),
                other => {
                    return Err(syn::Error::new(other.span(), "a condition is `(&function argument …)`"));
                }
            }
            if !tokens.is_punct('&') {
                break;
            }
            tokens.punct('&')?;
            tokens.punct('&')?;
            text.push_str(" && ");
        }
    }
    Ok(Row { left, right, conditions, text })
}

fn term(tokens: &mut Tokens, text: &mut String) -> Parsed<Term> {
    let first = tokens.next("an operand")?;
    let span = first.span();
    match first {
        TokenTree::Ident(ident) if ident == "_" => {
            text.push('_');
            Ok(Term::Any(span))
        }
        TokenTree::Punct(punct) if punct.as_char() == '$' => variable(tokens, text),
        TokenTree::Punct(punct) if punct.as_char() == '-' => {
            let literal = tokens.next("a number")?;
            text.push_str(&format!("-{literal}"));
            self::literal(&literal, true)
        }
        TokenTree::Literal(_) => {
            text.push_str(&first.to_string());
            literal(&first, false)
        }
        TokenTree::Group(group) if group.delimiter() == Delimiter::Parenthesis => {
            let mut inner = Tokens { rest: group.stream().into_iter().peekable(), end: group.span_close() };
            list(&mut inner, text, span)
        }
        other => Err(syn::Error::new(
            span,
            format!("expected `$name`, `_`, a number, `(operator …)` or `(&function …)`, found `{other}`"),
        )),
    }
}

fn variable(tokens: &mut Tokens, text: &mut String) -> Parsed<Term> {
    let name = tokens.ident("a name after `$`")?;
    text.push_str(&format!("${name}"));
    let (mut predicate, mut node) = (None, None);
    if tokens.is_punct(':') {
        tokens.punct(':')?;
        let ident = tokens.ident("a predicate")?;
        text.push_str(&format!(":{ident}"));
        predicate = Some(ident);
    } else if tokens.is_punct('@') {
        tokens.punct('@')?;
        text.push('@');
        match term(tokens, text)? {
            Term::Node(inner) => node = Some(inner),
            other => return Err(syn::Error::new(other.span(), "`$name@` is followed by `(operator …)`")),
        }
    }
    Ok(Term::Variable { name, predicate, node })
}

fn literal(token: &TokenTree, is_negative: bool) -> Parsed<Term> {
    let span = token.span();
    let wrong = || syn::Error::new(span, format!("expected a number, found `{token}`"));
    let value = match syn::parse2::<syn::Lit>(quote!(#token))? {
        syn::Lit::Int(int) => {
            let value: i128 = int.base10_parse()?;
            let value = if is_negative { -value } else { value };
            Literal::Int(
                i64::try_from(value).or(u64::try_from(value).map(|bits| bits as i64)).map_err(|_| wrong())?,
            )
        }
        syn::Lit::Float(float) => {
            let value: f64 = float.base10_parse()?;
            Literal::Float(if is_negative { -value } else { value })
        }
        _ => return Err(wrong()),
    };
    Ok(Term::Literal { value, span })
}

fn list(tokens: &mut Tokens, text: &mut String, span: Span) -> Parsed<Term> {
    text.push('(');
    if tokens.is_punct('&') {
        tokens.punct('&')?;
        let mut path = TokenStream::new();
        while tokens.is_punct(':') || matches!(tokens.rest.peek(), Some(TokenTree::Ident(_))) {
            let token = tokens.next("a function's path")?;
            let is_name = matches!(token, TokenTree::Ident(_));
            path.extend([token]);
            if is_name && !tokens.is_punct(':') {
                break;
            }
        }
        text.push_str(&format!("&{}", path.to_string().replace(' ', "")));
        let arguments = operands(tokens, text)?;
        text.push(')');
        return Ok(Term::Call(Call { path, arguments, span }));
    }
    let operator = tokens.ident("an operator or `&function`")?;
    text.push_str(&operator.to_string());
    let mut types = Vec::new();
    while tokens.is_punct('.') {
        tokens.punct('.')?;
        text.push('.');
        types.push(type_term(tokens, text)?);
    }
    let operands = operands(tokens, text)?;
    text.push(')');
    Ok(Term::Node(Node { operator, types, operands }))
}

fn operands(tokens: &mut Tokens, text: &mut String) -> Parsed<Vec<Term>> {
    let mut operands = Vec::new();
    while tokens.rest.peek().is_some() {
        text.push(' ');
        operands.push(term(tokens, text)?);
    }
    Ok(operands)
}

fn type_term(tokens: &mut Tokens, text: &mut String) -> Parsed<TypeTerm> {
    let mut found = TypeTerm { variable: None, names: Vec::new() };
    if tokens.is_punct('$') {
        tokens.punct('$')?;
        let name = tokens.ident("a name after `$`")?;
        text.push_str(&format!("${name}"));
        found.variable = Some(name);
        if !tokens.is_punct(':') {
            return Ok(found);
        }
        tokens.punct(':')?;
        text.push(':');
    }
    loop {
        let name = tokens.ident("a type or a class of types")?;
        text.push_str(&name.to_string());
        found.names.push(name);
        if !tokens.is_punct('|') {
            return Ok(found);
        }
        tokens.punct('|')?;
        text.push('|');
    }
}

impl Tokens {
    fn next(&mut self, expected: &str) -> Parsed<TokenTree> {
        self.rest.next().ok_or_else(|| syn::Error::new(self.end, format!("expected {expected}")))
    }

    fn ident(&mut self, expected: &str) -> Parsed<Ident> {
        match self.next(expected)? {
            TokenTree::Ident(ident) => Ok(ident),
            other => Err(syn::Error::new(other.span(), format!("expected {expected}, found `{other}`"))),
        }
    }

    fn punct(&mut self, punct: char) -> Parsed<()> {
        match self.next(&format!("`{punct}`"))? {
            TokenTree::Punct(found) if found.as_char() == punct => Ok(()),
            other => Err(syn::Error::new(other.span(), format!("expected `{punct}`, found `{other}`"))),
        }
    }

    fn is_punct(&mut self, punct: char) -> bool {
        matches!(self.rest.peek(), Some(TokenTree::Punct(found)) if found.as_char() == punct)
    }

    fn is_ident(&mut self, ident: &str) -> bool {
        matches!(self.rest.peek(), Some(TokenTree::Ident(found)) if found == ident)
    }
}
