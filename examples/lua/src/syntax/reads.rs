//! Which names a source reads.
//!
//! In: a source, or the part of one that is a function. Out: each name whose value it may read, as a variable or as a field. What only has such a
//! name is none: a string, a comment, a field or a function that gets a value.

use super::ast::Name;
use super::lexer::{Lexer, Sign, Token};
use super::text::Text;

/// How a name is read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Read {
    /// As `x.name` or `x["name"]`.
    Field,
    /// As a variable, which is called at once.
    Called,
    /// As a variable.
    Variable,
}

/// Visits the names that a source reads, as far as it consists of tokens.
///
/// ```
/// use azulejo_lua::syntax::{Read, each_read};
///
/// let mut reads = Vec::new();
/// each_read(b"function f.a () b = c.d['e'] + g(\"h\") --[[i]] end", |name, read| reads.push((name.to_vec(), read)));
/// let expected = [("c", Read::Variable), ("d", Read::Field), ("e", Read::Field), ("g", Read::Called)];
/// assert_eq!(reads, expected.map(|(name, read)| (name.as_bytes().to_vec(), read)));
/// ```
pub fn each_read(source: &[u8], mut look: impl FnMut(&[u8], Read)) {
    let mut lexer = Lexer::new(Text::new(source, None), 1);
    let mut before = Before::Other;
    // What is read unless the next token says otherwise.
    let mut name: Option<(Name, Read)> = None;
    loop {
        let Ok(token) = lexer.token() else { return };
        let read = match token {
            Token::Sign(Sign::Assign) => None,
            Token::Sign(Sign::OpenParen | Sign::OpenBrace) | Token::String(_) => name
                .take()
                .map(|(name, read)| (name, if read == Read::Variable { Read::Called } else { read })),
            _ => name.take(),
        };
        name = None;
        if let Some((name, read)) = read {
            look(&name, read);
        }
        before = match (token, before) {
            (Token::End, _) => return,
            (Token::Sign(Sign::Function), _) => Before::FunctionName,
            // The names in front of the parenthesis.
            (Token::Name(_) | Token::Sign(Sign::Dot | Sign::Colon), Before::FunctionName) => {
                Before::FunctionName
            }
            (Token::Name(found), before) => {
                name = match before {
                    Before::Dot => Some((found, Read::Field)),
                    Before::Colon => None,
                    _ => Some((found, Read::Variable)),
                };
                Before::Other
            }
            (Token::String(found), Before::Bracket) => Before::Key(found),
            (Token::Sign(Sign::CloseBracket), Before::Key(found)) => {
                name = Some((found, Read::Field));
                Before::Other
            }
            (Token::Sign(Sign::Dot), _) => Before::Dot,
            (Token::Sign(Sign::Colon), _) => Before::Colon,
            (Token::Sign(Sign::OpenBracket), _) => Before::Bracket,
            _ => Before::Other,
        };
    }
}

/// What is in front of a token.
enum Before {
    FunctionName,
    Dot,
    Colon,
    Bracket,
    /// A bracket and a string.
    Key(Name),
    Other,
}
