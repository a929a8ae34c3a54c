//! Rust in rows: where an expression ends, and the parts of a closure.
//!
//! An expression ends before the first comma that is neither inside of a group, nor among a closure's parameters or the arguments
//! of a generic type. If that comma is missing, it ends before the name of the next row. Whether the tokens before it are an
//! expression is for rustc to say.

use crate::place::{Error, Parsed};
use crate::reader::Reader;
use crate::token::{Delimiter, Leaf, Token};

/// Words behind which an operand stands.
const PREFIXES: [&str; 13] = [
    "async", "break", "const", "else", "if", "in", "loop", "match", "move", "return", "static", "unsafe",
    "while",
];

/// The parts of a closure.
pub(super) struct Closure {
    /// The tokens up to the parameters' end, and the result's type if that is written.
    pub(super) head: Vec<Token>,
    /// The names of the parameters; `None` for patterns that are no names.
    pub(super) params: Vec<Option<Leaf>>,
    pub(super) body: Vec<Token>,
}

/// Reads an expression up to the comma behind it, or to the end.
pub(super) fn expression(reader: &mut Reader) -> Parsed<Vec<Token>> {
    let here = reader.here();
    let mut copy = Copy { reader, tokens: Vec::new() };
    copy.expression();
    match copy.tokens.is_empty() {
        true => Err(Error::new(here, "expected an expression")),
        false => Ok(copy.tokens),
    }
}

/// The parts of an expression that is a closure with a body.
pub(super) fn closure(expression: Vec<Token>) -> Option<Closure> {
    let mut reader = Reader::new(expression);
    let mut copy = Copy { reader: &mut reader, tokens: Vec::new() };
    while ["async", "move", "static"].iter().any(|word| copy.reader.is_word(word)) {
        copy.take();
    }
    if !copy.reader.is_punct('|') {
        return None;
    }
    let params = copy.params();
    let mut head = copy.tokens;
    let mut body = reader.rest();
    if let [minus, greater, .., Token::Group(block)] = &body[..]
        && (minus.is_punct('-') && greater.is_punct('>') && block.delimiter == Delimiter::Brace)
    {
        head.extend(body.drain(..body.len() - 1));
    }
    (!body.is_empty()).then_some(Closure { head, params, body })
}

/// Moves tokens from a reader to a list.
struct Copy<'a> {
    reader: &'a mut Reader,
    tokens: Vec<Token>,
}

impl Copy<'_> {
    fn take(&mut self) {
        self.tokens.extend(self.reader.next());
    }

    /// Takes a punctuation character, and the same one again if that follows directly.
    fn take_doubled(&mut self, punct: char) {
        self.take();
        if matches!(self.tokens.last(), Some(Token::Punct(_, true))) && self.reader.is_punct(punct) {
            self.take();
        }
    }

    fn expression(&mut self) {
        let mut is_operand_next = true;
        let mut is_in_cast = false;
        while let Some(token) = self.reader.peek() {
            let is_type = match token {
                Token::Word(_) => true,
                Token::Punct(leaf, _) => [":", "*", "&", "'"].contains(&leaf.text.as_str()),
                _ => false,
            };
            let begins_cast = token.is_word("as");
            match token {
                token if token.is_punct(',') => return,
                // A comma is missing: this is the name of the next row.
                Token::Word(_) if !is_operand_next && self.is_name() => return,
                token if token.is_punct('|') && is_operand_next => {
                    self.params();
                }
                token if token.is_punct('|') => {
                    self.take_doubled('|');
                    is_operand_next = true;
                }
                token if token.is_punct('<') && (is_operand_next || is_in_cast) => {
                    self.angles();
                    is_operand_next = false;
                }
                token if token.is_punct('<') => {
                    self.take_doubled('<');
                    is_operand_next = true;
                }
                token => {
                    is_operand_next = match token {
                        Token::Word(word) => PREFIXES.contains(&word.text.as_str()),
                        Token::Punct(leaf, _) => leaf.text != "?",
                        Token::Literal(_) | Token::Group(_) => false,
                    };
                    self.take();
                }
            }
            is_in_cast = begins_cast || is_in_cast && is_type;
        }
    }

    /// Whether the next word has a colon behind it, and is not part of a path.
    fn is_name(&self) -> bool {
        self.reader.has_puncts(1, ":") && !self.reader.has_puncts(1, "::")
    }

    /// Takes a closure's parameters, from `|` to `|`.
    fn params(&mut self) -> Vec<Option<Leaf>> {
        self.take();
        let mut params = Vec::new();
        let mut start = self.tokens.len();
        loop {
            let is_end = self.reader.is_empty() || self.reader.is_punct('|');
            if (is_end || self.reader.is_punct(',')) && self.tokens.len() > start {
                params.push(name(&self.tokens[start..]));
            }
            if is_end {
                self.take();
                return params;
            }
            match self.reader.is_punct('<') {
                true => self.angles(),
                false => self.take(),
            }
            if self.tokens.last().is_some_and(|token| token.is_punct(',')) {
                start = self.tokens.len();
            }
        }
    }

    /// Takes generic arguments, from `<` to `>`.
    fn angles(&mut self) {
        self.take();
        while !self.reader.is_empty() {
            if self.reader.is_punct('<') {
                self.angles();
                continue;
            }
            let is_end = self.reader.is_punct('>')
                && !self.tokens.last().is_some_and(|token| token.is_punct('-') || token.is_punct('='));
            self.take();
            if is_end {
                return;
            }
        }
    }
}

/// The name that a closure's parameter is.
fn name(param: &[Token]) -> Option<Leaf> {
    let [modifiers @ .., Token::Word(name)] = param else { return None };
    let is_name = name.text != "_" && modifiers.iter().all(|word| word.is_word("mut") || word.is_word("ref"));
    is_name.then(|| name.clone())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::token::{lex, text};

    #[test]
    fn an_expression_ends_at_a_comma_of_its_own() {
        let expressions = [
            "|cx, t| {}",
            "emit::<A, B>",
            "<A as B<C, D>>::emit",
            "move |cx: &mut Cx<A, B>, t: fn(A) -> B| -> C<D> { f(a, b) }",
            "|cx, t| |a, b| c",
            "|cx, t| a || b | c << d < e",
            "|cx, t| cx.first(t)?.second as *const A<B, C> as usize",
            "|cx, t| if a < b { c } else { d }",
            "a || b",
            "a > b",
            "A::<fn(B) -> C, D>::new",
            "|cx, t| 'outer: loop { break 'outer }",
            "|cx, t| a::b(c)",
        ];
        for expression in expressions {
            let tokens = lex(&format!("{expression}, next, more")).expect("it is tokens");
            let mut reader = Reader::new(tokens);
            let read = super::expression(&mut reader).expect("it is no empty one");
            assert_eq!(text(&read), text(&lex(expression).expect("it is tokens")), "{expression}");
            assert_eq!(text(&reader.rest()), ",next,more", "{expression}");
        }
    }

    #[test]
    fn a_missing_comma_is_noticed_at_the_next_name() {
        let mut reader = Reader::new(lex("|cx, t| {} next: (add reg reg)").expect("it is tokens"));
        assert_eq!(text(&expression(&mut reader).expect("it is no empty one")), "|cx,t|{}");
        assert_eq!(
            reader.comma().map_err(|error| error.message),
            Err("expected `,`, found `next`".to_string())
        );
        assert_eq!(Reader::new(Vec::new()).comma(), Ok(()));
    }

    #[test]
    fn a_closure_has_parameters_and_a_body() {
        let parts = |text: &str| {
            let closure = closure(lex(text).expect("it is tokens"))?;
            let params =
                closure.params.iter().map(|name| name.as_ref().map_or("", |name| name.text.as_str()));
            let params = params.collect::<Vec<_>>().join(" ");
            Some((params, crate::token::text(&closure.head), crate::token::text(&closure.body)))
        };
        let found = |params: &str, head: &str, body: &str| Some((params.into(), head.into(), body.into()));
        assert_eq!(parts("|cx, t| cx.add(t)"), found("cx t", "|cx,t|", "cx.add(t)"));
        assert_eq!(parts("move |_, mut t,| {}"), found(" t", "move|_,mut t,|", "{}"));
        assert_eq!(parts("|(a, b), t: C<D, E>| a"), found(" ", "|(a,b),t:C<D,E>|", "a"));
        assert_eq!(parts("|| a"), found("", "||", "a"));
        assert_eq!(parts("|t| -> A { b }"), found("t", "|t|->A", "{b}"));
        assert_eq!(parts("|t| -t.imm(0)"), found("t", "|t|", "-t.imm(0)"));
        assert_eq!(parts("emit"), None);
        assert_eq!(parts("|t|"), None);
        assert_eq!(parts("|t"), None);
    }
}
