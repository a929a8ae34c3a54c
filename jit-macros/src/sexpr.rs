//! Tokens to s-expressions, with the place of each.
//!
//! In: Rust tokens. Out: [`Sexpr`]s. Knows nothing of what they mean; what belongs to Rust (the arguments of
//! `(&sizeof T)`, paths, literals) is kept as Rust tokens.

use proc_macro2::{Delimiter, Group, Ident, Literal, Punct, Spacing, Span, TokenStream, TokenTree};
use quote::ToTokens;
use syn::Error;

/// A name, and whose it is: names that are spelled alike are the same only if one writer wrote them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Name {
    pub(crate) text: String,
    /// Zero where it stands in the source; else the number of the macro's use whose body it comes from.
    pub(crate) writer: u32,
}

impl Name {
    /// A name as it stands in the source.
    pub(crate) fn written(text: impl Into<String>) -> Name {
        Name { text: text.into(), writer: 0 }
    }
}

/// An s-expression.
#[derive(Clone, Debug)]
pub(crate) enum Sexpr {
    /// `( … )`
    List(Vec<Sexpr>, Span),
    /// A word or a Rust path: `add`, `let:`, `crate::print`.
    Word(TokenStream, Name, Span),
    /// `$name` or `$0`
    Operand(Name, Span),
    /// `,name`
    Param(String, Span),
    /// `^name`
    Macro(String, Span),
    /// `(&sizeof T)`, `(&path args)` or `&NAME`: the name and, in parentheses, the Rust tokens behind it.
    Constant(TokenStream, Option<TokenStream>, Span),
    /// A literal, perhaps negative.
    Literal(TokenStream, Span),
}

impl Sexpr {
    pub(crate) fn span(&self) -> Span {
        match self {
            Sexpr::List(_, span)
            | Sexpr::Word(_, _, span)
            | Sexpr::Operand(_, span)
            | Sexpr::Param(_, span)
            | Sexpr::Macro(_, span)
            | Sexpr::Constant(_, _, span)
            | Sexpr::Literal(_, span) => *span,
        }
    }

    /// The word, if it is one.
    pub(crate) fn word(&self) -> Option<&str> {
        match self {
            Sexpr::Word(_, name, _) => Some(&name.text),
            _ => None,
        }
    }
}

/// A reader of tokens.
pub(crate) struct Reader {
    tokens: std::iter::Peekable<proc_macro2::token_stream::IntoIter>,
    /// Where the last token was, for what is missing behind it.
    last: Span,
}

impl Reader {
    pub(crate) fn new(tokens: TokenStream) -> Reader {
        Reader { tokens: tokens.into_iter().peekable(), last: Span::call_site() }
    }

    pub(crate) fn is_empty(&mut self) -> bool {
        self.tokens.peek().is_none()
    }

    pub(crate) fn peek(&mut self) -> Option<&TokenTree> {
        self.tokens.peek()
    }

    pub(crate) fn next(&mut self) -> Option<TokenTree> {
        let token = self.tokens.next();
        if let Some(token) = &token {
            self.last = token.span();
        }
        token
    }

    /// Passes over tokens until those that follow are wanted.
    pub(crate) fn skip_until(&mut self, is_wanted: impl Fn(&[TokenTree]) -> bool) {
        let rest: Vec<TokenTree> = self.tokens.by_ref().collect();
        let start = (0..rest.len()).find(|at| is_wanted(&rest[*at..])).unwrap_or(rest.len());
        self.tokens = rest.into_iter().skip(start).collect::<TokenStream>().into_iter().peekable();
    }

    /// All that was not read.
    pub(crate) fn rest(self) -> TokenStream {
        self.tokens.collect()
    }

    pub(crate) fn last(&self) -> Span {
        self.last
    }

    pub(crate) fn takes_punct(&mut self, wanted: char) -> bool {
        let found = matches!(self.peek(), Some(TokenTree::Punct(punct)) if punct.as_char() == wanted);
        if found {
            self.next();
        }
        found
    }

    /// `=>`
    pub(crate) fn takes_arrow(&mut self) -> bool {
        self.takes_punct('=') && self.takes_punct('>')
    }

    pub(crate) fn takes_ident(&mut self, wanted: &str) -> bool {
        let found = matches!(self.peek(), Some(TokenTree::Ident(ident)) if ident == wanted);
        if found {
            self.next();
        }
        found
    }

    pub(crate) fn group(&mut self, wanted: Delimiter) -> Option<Group> {
        match self.peek() {
            Some(TokenTree::Group(group)) if group.delimiter() == wanted => {
                let group = group.clone();
                self.next();
                Some(group)
            }
            _ => None,
        }
    }

    /// A Rust path without generic arguments.
    pub(crate) fn path(&mut self) -> Option<(TokenStream, Vec<Ident>)> {
        let mut tokens = TokenStream::new();
        let mut idents = Vec::new();
        loop {
            match self.peek() {
                Some(TokenTree::Ident(ident)) => {
                    idents.push(ident.clone());
                    tokens.extend(self.next());
                }
                Some(TokenTree::Punct(punct)) if punct.as_char() == ':' && idents.is_empty() => {}
                _ => return (!idents.is_empty()).then_some((tokens, idents)),
            }
            let joint = matches!(self.peek(), Some(TokenTree::Punct(punct))
                if punct.as_char() == ':' && punct.spacing() == Spacing::Joint);
            if !joint {
                return Some((tokens, idents));
            }
            tokens.extend(self.next());
            tokens.extend(self.next());
        }
    }

    /// One s-expression.
    pub(crate) fn sexpr(&mut self) -> Result<Sexpr, Error> {
        let Some(token) = self.peek().cloned() else {
            return Err(Error::new(self.last, "an expression is missing behind this"));
        };
        let span = token.span();
        match token {
            TokenTree::Group(group) if group.delimiter() == Delimiter::Parenthesis => {
                self.next();
                list(&group)
            }
            TokenTree::Literal(literal) => {
                self.next();
                Ok(Sexpr::Literal(literal.into_token_stream(), span))
            }
            TokenTree::Ident(_) => {
                let (tokens, _) = self.path().expect("it starts with an identifier");
                let mut text = tokens.to_string().replace(' ', "");
                if matches!(text.as_str(), "let" | "letv") && self.takes_punct(':') {
                    text.push(':');
                }
                Ok(Sexpr::Word(tokens, Name::written(text), span))
            }
            TokenTree::Punct(punct) => {
                self.next();
                self.sigil(&punct)
            }
            TokenTree::Group(_) => {
                Err(Error::new(span, "not an expression: lists are written in parentheses"))
            }
        }
    }

    fn sigil(&mut self, punct: &Punct) -> Result<Sexpr, Error> {
        let span = punct.span();
        // Handed on by a Rust macro, where `$` has a meaning of its own.
        let sigil = if punct.as_char() == '~' { '$' } else { punct.as_char() };
        if sigil == '-'
            && let Some(TokenTree::Literal(_)) = self.peek()
        {
            let literal = self.next();
            return Ok(Sexpr::Literal(quote::quote!(- #literal), span));
        }
        if sigil == '&'
            && let Some((path, _)) = self.path()
        {
            return Ok(Sexpr::Constant(path, None, span));
        }
        let name = match self.peek() {
            Some(TokenTree::Ident(ident)) => ident.to_string(),
            Some(TokenTree::Literal(literal)) if sigil == '$' => number(literal).ok_or_else(|| {
                Error::new(literal.span(), "an operand is `$name`, or `$0` by its position")
            })?,
            _ => {
                let message = format!(
                    "`{sigil}` has no meaning here; names are `$operand ,parameter ^macro &constant`"
                );
                return Err(Error::new(span, message));
            }
        };
        let place = span.join(self.peek().expect("it was just seen").span()).unwrap_or(span);
        match sigil {
            '$' => {
                self.next();
                Ok(Sexpr::Operand(Name::written(name), place))
            }
            ',' => {
                self.next();
                Ok(Sexpr::Param(name, place))
            }
            '^' => {
                self.next();
                Ok(Sexpr::Macro(name, place))
            }
            _ => Err(Error::new(
                span,
                format!("`{sigil}` has no meaning here; names are `$operand ,parameter ^macro &constant`"),
            )),
        }
    }
}

fn number(literal: &Literal) -> Option<String> {
    let text = literal.to_string();
    text.bytes().all(|byte| byte.is_ascii_digit()).then_some(text)
}

fn list(group: &Group) -> Result<Sexpr, Error> {
    let mut reader = Reader::new(group.stream());
    reader.last = group.span_open();
    if reader.takes_punct('&') {
        let Some((path, _)) = reader.path() else {
            return Err(Error::new(reader.last(), "behind `&` stands `sizeof`, `offset_of` or a Rust path"));
        };
        return Ok(Sexpr::Constant(path, Some(reader.tokens.collect()), group.span()));
    }
    let mut items = Vec::new();
    while !reader.is_empty() {
        items.push(reader.sexpr()?);
    }
    Ok(Sexpr::List(items, group.span()))
}
