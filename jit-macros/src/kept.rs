//! Converts rustc's tokens to those of `azulejo-lang`, and back.
//!
//! In: rustc's tokens, which are kept, with their spans, under numbers. Out: `azulejo-lang`'s tokens with these numbers, and for
//! such tokens the original ones, so that Rust in a row is printed as it was written and errors have the right spans.

use azulejo_lang::token::{Delimiter, Group, Leaf, Token};
use azulejo_lang::{Error, Errors, Place};
use proc_macro2::{Ident, Literal, Punct, Spacing, Span, TokenStream, TokenTree};
use std::cell::RefCell;
use std::str::FromStr;

/// The tokens and spans of one expansion.
#[derive(Default)]
pub(crate) struct Kept {
    spans: RefCell<Vec<Span>>,
    tokens: RefCell<Vec<TokenTree>>,
}

impl Kept {
    /// The place that stands for a span.
    pub(crate) fn place(&self, span: Span) -> Place {
        let mut spans = self.spans.borrow_mut();
        spans.push(span);
        Place::at(spans.len() as u32 - 1)
    }

    /// The span of a place.
    pub(crate) fn span(&self, place: Place) -> Span {
        if place == Place::NOWHERE {
            return Span::call_site();
        }
        let spans = self.spans.borrow();
        let (first, last) = (spans[place.first as usize], spans[place.last as usize]);
        if place.first == place.last { first } else { first.join(last).unwrap_or(first) }
    }

    /// Converts tokens and keeps the originals.
    pub(crate) fn read(&self, tokens: TokenStream) -> Vec<Token> {
        tokens.into_iter().map(|token| self.token(token)).collect()
    }

    fn token(&self, token: TokenTree) -> Token {
        let number = {
            let mut tokens = self.tokens.borrow_mut();
            tokens.push(token.clone());
            Some(tokens.len() as u32 - 1)
        };
        let place = self.place(token.span());
        let leaf = |text: String| Leaf { text, place, number };
        match token {
            TokenTree::Ident(word) => Token::Word(leaf(word.to_string())),
            TokenTree::Punct(punct) => {
                Token::Punct(leaf(punct.as_char().to_string()), punct.spacing() == Spacing::Joint)
            }
            TokenTree::Literal(literal) => Token::Literal(leaf(literal.to_string())),
            TokenTree::Group(group) => {
                let delimiter = match group.delimiter() {
                    proc_macro2::Delimiter::Parenthesis => Delimiter::Parenthesis,
                    proc_macro2::Delimiter::Brace => Delimiter::Brace,
                    proc_macro2::Delimiter::Bracket => Delimiter::Bracket,
                    proc_macro2::Delimiter::None => Delimiter::None,
                };
                let (open, close) = (self.place(group.span_open()), self.place(group.span_close()));
                let tokens = self.read(group.stream());
                Token::Group(Group { delimiter, tokens, place, open, close, number })
            }
        }
    }

    /// A word as an identifier of rustc.
    pub(crate) fn word(&self, word: &Leaf) -> Ident {
        match self.print_token(&Token::Word(word.clone())) {
            TokenTree::Ident(word) => word,
            other => unreachable!("`{other}` is a word"),
        }
    }

    /// Converts tokens back to rustc's.
    pub(crate) fn print(&self, tokens: &[Token]) -> TokenStream {
        tokens.iter().map(|token| self.print_token(token)).collect()
    }

    fn print_token(&self, token: &Token) -> TokenTree {
        let (Token::Word(Leaf { number, .. })
        | Token::Punct(Leaf { number, .. }, _)
        | Token::Literal(Leaf { number, .. })
        | Token::Group(Group { number, .. })) = token;
        if let Some(number) = number {
            return self.tokens.borrow()[*number as usize].clone();
        }
        let mut made: TokenTree = match token {
            Token::Word(leaf) => Ident::new(&leaf.text, Span::call_site()).into(),
            Token::Punct(leaf, is_joint) => {
                let spacing = if *is_joint { Spacing::Joint } else { Spacing::Alone };
                Punct::new(leaf.text.chars().next().unwrap_or(','), spacing).into()
            }
            Token::Literal(leaf) => Literal::from_str(&leaf.text).expect("a literal is one").into(),
            Token::Group(group) => {
                let delimiter = match group.delimiter {
                    Delimiter::Parenthesis => proc_macro2::Delimiter::Parenthesis,
                    Delimiter::Brace => proc_macro2::Delimiter::Brace,
                    Delimiter::Bracket => proc_macro2::Delimiter::Bracket,
                    Delimiter::None => proc_macro2::Delimiter::None,
                };
                proc_macro2::Group::new(delimiter, self.print(&group.tokens)).into()
            }
        };
        made.set_span(self.span(token.place()));
        made
    }

    /// The errors as `compile_error!`s.
    pub(crate) fn complaints(&self, errors: &Errors) -> TokenStream {
        errors.0.iter().map(|error| self.error(error).into_compile_error()).collect()
    }

    /// An error with its span.
    pub(crate) fn error(&self, Error { place, message }: &Error) -> syn::Error {
        syn::Error::new(self.span(*place), message)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    //! What the tests of the macros share.

    use proc_macro2::TokenStream;

    /// The messages of all `compile_error!`s of an expansion.
    pub(crate) fn messages(expansion: TokenStream) -> Vec<String> {
        let file: syn::File = syn::parse2(expansion).expect("the expansion is well-formed");
        let macros = file.items.iter().filter_map(|item| match item {
            syn::Item::Macro(item) if item.mac.path.segments.last()?.ident == "compile_error" => {
                Some(&item.mac)
            }
            _ => None,
        });
        macros.map(|mac| mac.parse_body::<syn::LitStr>().expect("a message is a string").value()).collect()
    }

    pub(crate) fn tokens(text: &str) -> TokenStream {
        text.parse().expect("the test's tokens are tokens")
    }
}
