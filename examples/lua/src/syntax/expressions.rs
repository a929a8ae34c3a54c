//! Expressions, and the functions in them.
//!
//! In: tokens. Out: syntax trees. How strongly operators bind is a table; operators of one level become a list.

use super::ast::{
    BinaryOp, Constructor, ConstructorItem, Expr, Function, FunctionText, Line, Name, Operation, Suffix,
    SuffixKind, UnaryOp,
};
use super::lexer::{Sign, Token};
use super::parser::{Parsed, Parser};

/// How strongly a unary operator binds its operand.
const UNARY: u8 = 8;

impl<'a> Parser<'_, 'a> {
    pub(super) fn expressions(&mut self) -> Parsed<&'a [Expr<'a>]> {
        let mut all = self.arena.list();
        all.push(self.expression()?);
        while self.takes(Sign::Comma)? {
            self.get_here(all.last());
            all.push(self.expression()?);
        }
        Ok(all.into_bump_slice())
    }

    /// The field or the element that an expression ends with is got only now: at the line of the token that was taken last.
    fn get_here(&self, expr: Option<&Expr<'_>>) {
        if let Some(Expr::Suffixed(_, suffixes)) = expr
            && let Some(Suffix { kind: SuffixKind::Field(_) | SuffixKind::Index(_), line }) = suffixes.last()
        {
            line.set(self.last_line);
        }
    }

    pub(super) fn expression(&mut self) -> Parsed<Expr<'a>> {
        self.operations(0)
    }

    /// Parses an expression whose operators bind more strongly than a limit.
    fn operations(&mut self, limit: u8) -> Parsed<Expr<'a>> {
        self.deeper(|parser| {
            let unary = match parser.token {
                Token::Sign(Sign::Minus) => Some(UnaryOp::Negate),
                Token::Sign(Sign::Not) => Some(UnaryOp::Not),
                Token::Sign(Sign::Hash) => Some(UnaryOp::Length),
                _ => None,
            };
            let first = match unary {
                Some(op) => {
                    parser.next()?;
                    let operand = parser.operations(UNARY)?;
                    Expr::Unary(op, parser.arena.node(operand), parser.last_line)
                }
                None => parser.simple()?,
            };
            let mut rest = parser.arena.list();
            while let Some((op, (left, right))) = parser.operator().filter(|(_, (left, _))| *left > limit) {
                debug_assert!(left > 0);
                parser.next()?;
                let right = parser.operations(right)?;
                rest.push(Operation { op, line: parser.last_line, right });
            }
            Ok(match rest.is_empty() {
                true => first,
                false => Expr::Binary(parser.arena.node(first), rest.into_bump_slice()),
            })
        })
    }

    /// The binary operator that is the next token, and how strongly it binds to the left and to the right.
    fn operator(&self) -> Option<(BinaryOp, (u8, u8))> {
        let Token::Sign(sign) = self.token else { return None };
        Some(match sign {
            Sign::Or => (BinaryOp::Or, (1, 1)),
            Sign::And => (BinaryOp::And, (2, 2)),
            Sign::Less => (BinaryOp::Less, (3, 3)),
            Sign::Greater => (BinaryOp::Greater, (3, 3)),
            Sign::LessEqual => (BinaryOp::LessEqual, (3, 3)),
            Sign::GreaterEqual => (BinaryOp::GreaterEqual, (3, 3)),
            Sign::NotEqual => (BinaryOp::NotEqual, (3, 3)),
            Sign::Equal => (BinaryOp::Equal, (3, 3)),
            Sign::Concat => (BinaryOp::Concat, (5, 4)),
            Sign::Plus => (BinaryOp::Add, (6, 6)),
            Sign::Minus => (BinaryOp::Subtract, (6, 6)),
            Sign::Star => (BinaryOp::Multiply, (7, 7)),
            Sign::Slash => (BinaryOp::Divide, (7, 7)),
            Sign::Percent => (BinaryOp::Modulo, (7, 7)),
            Sign::Caret => (BinaryOp::Power, (10, 9)),
            _ => return None,
        })
    }

    fn simple(&mut self) -> Parsed<Expr<'a>> {
        let value = match self.token {
            Token::Number(value) => Expr::Number(value),
            Token::String(text) => Expr::String(text),
            Token::Sign(Sign::Nil) => Expr::Nil,
            Token::Sign(Sign::True) => Expr::Bool(true),
            Token::Sign(Sign::False) => Expr::Bool(false),
            Token::Sign(Sign::Dots) => match self.scopes.use_dots() {
                true => Expr::Vararg,
                false => return self.wrong("cannot use '...' outside a vararg function"),
            },
            Token::Sign(Sign::OpenBrace) => return self.table(),
            Token::Sign(Sign::Function) => {
                let line = self.line;
                self.next()?;
                let function = self.function(false, line)?;
                return Ok(Expr::Function(self.arena.node(function)));
            }
            _ => return self.suffixed(),
        };
        self.next()?;
        Ok(value)
    }

    /// A name or an expression in parentheses, and what stands behind it.
    pub(super) fn suffixed(&mut self) -> Parsed<Expr<'a>> {
        let line = self.line;
        let first = match self.token {
            Token::Name(name) => {
                self.next()?;
                self.scopes.resolve(name, line)?
            }
            Token::Sign(Sign::OpenParen) => {
                self.next()?;
                let inner = self.expression()?;
                self.close(Sign::CloseParen, Sign::OpenParen, line)?;
                Expr::Paren(self.arena.node(inner))
            }
            _ => return self.wrong("unexpected symbol"),
        };
        let mut suffixes = self.arena.list();
        while let Some(suffix) = self.suffix()? {
            suffixes.push(suffix);
        }
        Ok(match suffixes.is_empty() {
            true => first,
            false => Expr::Suffixed(self.arena.node(first), suffixes.into_bump_slice()),
        })
    }

    fn suffix(&mut self) -> Parsed<Option<Suffix<'a>>> {
        let (kind, line) = match self.token {
            Token::Sign(Sign::Dot) => {
                self.next()?;
                (SuffixKind::Field(self.name()?), self.last_line)
            }
            Token::Sign(Sign::OpenBracket) => {
                self.next()?;
                let key = self.expression()?;
                self.take(Sign::CloseBracket)?;
                (SuffixKind::Index(key), self.last_line)
            }
            Token::Sign(Sign::Colon) => {
                self.next()?;
                let name = self.name()?;
                let line = self.line;
                (SuffixKind::Method(name, self.arguments()?), line)
            }
            Token::Sign(Sign::OpenParen | Sign::OpenBrace) | Token::String(_) => {
                let line = self.line;
                (SuffixKind::Call(self.arguments()?), line)
            }
            _ => return Ok(None),
        };
        Ok(Some(Suffix { line: line.into(), kind }))
    }

    fn arguments(&mut self) -> Parsed<&'a [Expr<'a>]> {
        let line = self.line;
        match self.token {
            Token::String(text) => {
                self.next()?;
                Ok(self.arena.node([Expr::String(text)]))
            }
            Token::Sign(Sign::OpenBrace) => {
                let table = self.table()?;
                Ok(self.arena.node([table]))
            }
            Token::Sign(Sign::OpenParen) => {
                if line != self.last_line {
                    return self.wrong("ambiguous syntax (function call x new statement)");
                }
                self.next()?;
                if self.takes(Sign::CloseParen)? {
                    return Ok(&[]);
                }
                let arguments = self.expressions()?;
                self.close(Sign::CloseParen, Sign::OpenParen, line)?;
                self.get_here(arguments.last());
                Ok(arguments)
            }
            _ => self.wrong("function arguments expected"),
        }
    }

    fn table(&mut self) -> Parsed<Expr<'a>> {
        let line = self.line;
        self.take(Sign::OpenBrace)?;
        let mut items = self.arena.list();
        while !self.is_at(Sign::CloseBrace) {
            items.push(self.item()?);
            if !self.takes(Sign::Comma)? && !self.takes(Sign::Semicolon)? {
                break;
            }
        }
        self.close(Sign::CloseBrace, Sign::OpenBrace, line)?;
        if let Some(ConstructorItem::Positional(last)) = items.last() {
            self.get_here(Some(last));
        }
        Ok(Expr::Table(self.arena.node(Constructor { line, items: items.into_bump_slice() })))
    }

    fn item(&mut self) -> Parsed<ConstructorItem<'a>> {
        let key = match self.token {
            Token::Name(name) => {
                if self.ahead()? != Token::Sign(Sign::Assign) {
                    return Ok(ConstructorItem::Positional(self.expression()?));
                }
                self.next()?;
                Expr::String(name)
            }
            Token::Sign(Sign::OpenBracket) => {
                self.next()?;
                let key = self.expression()?;
                self.take(Sign::CloseBracket)?;
                key
            }
            _ => return Ok(ConstructorItem::Positional(self.expression()?)),
        };
        self.take(Sign::Assign)?;
        Ok(ConstructorItem::Keyed(key, self.expression()?))
    }

    /// Parses a function from its parameters on.
    pub(super) fn function(&mut self, is_method: bool, line: Line) -> Parsed<Function<'a>> {
        self.scopes.open_function(line);
        let mut parameters = self.arena.list();
        if is_method {
            parameters.push(self.scopes.make_local(self.arena.name(Name::from(*b"self"))));
        }
        let (start, first_line) = (self.span().0, self.line);
        self.take(Sign::OpenParen)?;
        let mut arg = None;
        if !self.is_at(Sign::CloseParen) {
            loop {
                match self.token {
                    Token::Name(name) => {
                        self.next()?;
                        parameters.push(self.scopes.make_local(name));
                        self.scopes.check_room(parameters.len(), self.line)?;
                    }
                    Token::Sign(Sign::Dots) => {
                        self.next()?;
                        self.scopes.set_vararg();
                        arg = Some(self.scopes.make_local(self.arena.name(Name::from(*b"arg"))));
                        break;
                    }
                    _ => return self.wrong("<name> or '...' expected"),
                }
                if !self.takes(Sign::Comma)? {
                    break;
                }
            }
        }
        self.scopes.activate(&parameters, self.line)?;
        self.scopes.activate(arg.as_slice(), self.line)?;
        self.take(Sign::CloseParen)?;
        let body = self.block()?;
        let (end, last_line) = (self.span().1, self.line);
        self.close(Sign::End, Sign::Function, line)?;
        let finished = self.scopes.close_function(self.arena);
        Ok(Function {
            locals: finished.locals,
            parameters: parameters.len() as u32,
            is_vararg: arg.is_some(),
            arg,
            uses_dots: finished.uses_dots,
            upvalues: finished.upvalues,
            body,
            line,
            last_line,
            text: FunctionText { bytes: start..end, line: first_line, is_method },
        })
    }
}
