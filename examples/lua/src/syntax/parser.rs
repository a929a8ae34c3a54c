//! Tokens to a syntax tree.
//!
//! In: a chunk's source. Out: its [`Function`], in which all names are resolved; or the first error, with the words of C's Lua 5.1. As
//! there, functions, blocks and expressions may nest 200 deep; all lists may be of any length.

use super::arena::Arena;
use super::ast::{
    Block, Expr, Function, FunctionText, GenericFor, Line, LocalId, Name, NumericFor, Statement,
    StatementKind, Suffix, SuffixKind, UpvalueSource,
};
use super::error::SyntaxError;
use super::lexer::{Lexer, Sign, Token};
use super::scope::Scopes;
use super::text::{Pieces, Text};
use crate::depth::StackEnd;

/// What parsing gives.
pub(super) type Parsed<T> = Result<T, SyntaxError>;

/// How deep functions, blocks and expressions may nest: 200, of which C's Lua has used two when it starts to parse.
const MAX_LEVELS: u32 = 198;

/// Parses a chunk.
///
/// ```
/// use azulejo_lua::syntax::{Arena, parse};
///
/// let arena = Arena::default();
/// let chunk = parse(&arena, b"local a = 1; return function () return a end")?;
/// assert!(chunk.locals[0].is_captured && !chunk.locals[0].is_assigned);
/// let wrong = parse(&arena, b"x =").expect_err("something is missing");
/// assert_eq!(wrong.text(b"=example"), b"example:1: unexpected symbol near '<eof>'");
/// # Ok::<(), azulejo_lua::syntax::SyntaxError>(())
/// ```
pub fn parse<'a>(arena: &'a Arena, source: &[u8]) -> Result<Function<'a>, SyntaxError> {
    parse_text(arena, Text::new(source, None)).map(|(chunk, _)| chunk)
}

/// Parses a chunk of which the start is there, and the rest comes in pieces, as far as it is needed to find the first error. Returns the whole
/// text, too.
///
/// ```
/// let mut pieces = ["local a", " = 1; return", " a"].into_iter();
/// let mut more = |text: &mut Vec<u8>| pieces.next().map(|piece| text.extend_from_slice(piece.as_bytes())).is_some();
/// let arena = azulejo_lua::syntax::Arena::default();
/// let (chunk, source) = azulejo_lua::syntax::parse_pieces(&arena, b"", &mut more)?;
/// assert_eq!((chunk.locals.len(), &source[..]), (1, &b"local a = 1; return a"[..]));
///
/// let mut without_end = |text: &mut Vec<u8>| { text.extend_from_slice(b"x y "); true };
/// assert!(azulejo_lua::syntax::parse_pieces(&arena, b"", &mut without_end).is_err());
/// # Ok::<(), azulejo_lua::syntax::SyntaxError>(())
/// ```
pub fn parse_pieces<'a>(
    arena: &'a Arena,
    start: &[u8],
    more: Pieces<'_>,
) -> Result<(Function<'a>, Vec<u8>), SyntaxError> {
    parse_text(arena, Text::new(start, Some(more)))
}

fn parse_text<'a>(arena: &'a Arena, text: Text<'_>) -> Result<(Function<'a>, Vec<u8>), SyntaxError> {
    let mut parser = Parser::new(arena, text, 1);
    parser.scopes.open_function(0);
    parser.scopes.set_vararg();
    parser.next()?;
    let body = parser.block()?;
    if parser.token != Token::End {
        return parser.expected("<eof>");
    }
    let finished = parser.scopes.close_function(arena);
    let last_line = parser.last_line;
    let source = parser.lexer.into_source();
    let chunk = Function {
        locals: finished.locals,
        parameters: 0,
        is_vararg: true,
        arg: None,
        uses_dots: true,
        upvalues: finished.upvalues,
        body,
        line: 0,
        last_line,
        text: FunctionText { bytes: 0..source.len(), line: 1, is_method: false },
    };
    Ok((chunk, source))
}

/// Parses a function by itself, where its [`FunctionText`] says that it stands in a source. These are the names of its upvalues, and the line of the
/// word `function`. Returns whether it or a function in it assigns to each upvalue, too; `None` if its upvalues are others.
pub fn parse_function<'a>(
    arena: &'a Arena,
    source: &[u8],
    text: &FunctionText,
    upvalues: &[Name],
    line: Line,
) -> Result<Option<(Function<'a>, Vec<bool>)>, SyntaxError> {
    let mut parser = Parser::new(arena, Text::new(&source[..text.bytes.end], None), text.line);
    parser.lexer.skip_to(text.bytes.start);
    parser.scopes.open_function(0);
    let outer: Vec<LocalId> =
        upvalues.iter().map(|name| parser.scopes.make_local(arena.name(name.clone()))).collect();
    parser.scopes.activate(&outer, text.line)?;
    parser.next()?;
    let function = parser.function(text.is_method, line)?;
    if parser.token != Token::End {
        return parser.expected("<eof>");
    }
    let around = parser.scopes.close_function(arena);
    let found = function.upvalues.iter().map(|upvalue| upvalue.source);
    let is_same = found.eq(outer.into_iter().map(UpvalueSource::Local));
    Ok(is_same.then(|| (function, around.locals.iter().map(|local| local.is_assigned).collect())))
}

/// A token, and where it stands.
type Spanned<'a> = (Token<'a>, (usize, usize));

/// The state of parsing a chunk.
pub(super) struct Parser<'s, 'a> {
    lexer: Lexer<'s, 'a>,
    /// Where the tree is.
    pub(super) arena: &'a Arena,
    /// The next token, and where it stands.
    pub(super) token: Token<'a>,
    span: (usize, usize),
    /// The line to which the source has been read: that of the next token, or of the one behind it.
    pub(super) line: Line,
    /// The line of the last token that was taken.
    pub(super) last_line: Line,
    ahead: Option<Spanned<'a>>,
    levels: u32,
    /// Each level takes some of it.
    stack: StackEnd,
    pub(super) scopes: Scopes<'a>,
}

impl<'s, 'a> Parser<'s, 'a> {
    fn new(arena: &'a Arena, source: Text<'s>, line: Line) -> Parser<'s, 'a> {
        Parser {
            lexer: Lexer::new(arena, source, line),
            arena,
            token: Token::End,
            span: (0, 0),
            line,
            last_line: line,
            ahead: None,
            levels: 0,
            stack: StackEnd::find(),
            scopes: Scopes::default(),
        }
    }

    /// Where the next token stands in the source.
    pub(super) fn span(&self) -> (usize, usize) {
        self.span
    }
}

impl<'a> Parser<'_, 'a> {
    fn read(&mut self) -> Parsed<Spanned<'a>> {
        let token = self.lexer.token()?;
        self.line = self.lexer.line();
        Ok((token, self.lexer.span()))
    }

    /// Takes a token.
    pub(super) fn next(&mut self) -> Parsed<()> {
        self.last_line = self.line;
        let ahead = self.ahead.take();
        (self.token, self.span) = match ahead {
            Some(ahead) => ahead,
            None => self.read()?,
        };
        Ok(())
    }

    /// The token behind the next one.
    pub(super) fn ahead(&mut self) -> Parsed<Token<'a>> {
        let ahead = match self.ahead {
            Some(ahead) => ahead,
            None => self.read()?,
        };
        self.ahead = Some(ahead);
        Ok(ahead.0)
    }

    /// An error at the next token.
    pub(super) fn wrong<T>(&self, message: &str) -> Parsed<T> {
        let source = self.lexer.text(self.span);
        let text = match &self.token {
            // C's Lua takes this token for none.
            Token::Other(0) => return Err(SyntaxError::of_whole(message.to_string(), self.line)),
            Token::End => b"<eof>".to_vec(),
            Token::Other(byte) if byte.is_ascii_control() => format!("char({byte})").into_bytes(),
            // A string is shown with its escapes replaced.
            Token::String(text) => {
                // A long string starts with two brackets.
                let level = source[1..].iter().position(|byte| *byte == b'[');
                let opening = level.filter(|_| source[0] == b'[').map_or(1, |level| level + 2);
                [&source[..opening], text, &source[source.len() - opening..]].concat()
            }
            _ => source.to_vec(),
        };
        Err(SyntaxError::near(message, self.line, &text))
    }

    pub(super) fn expected<T>(&self, what: &str) -> Parsed<T> {
        self.wrong(&format!("'{what}' expected"))
    }

    pub(super) fn is_at(&self, sign: Sign) -> bool {
        self.token == Token::Sign(sign)
    }

    /// Takes a sign if it is the next token.
    pub(super) fn takes(&mut self, sign: Sign) -> Parsed<bool> {
        let is_there = self.is_at(sign);
        if is_there {
            self.next()?;
        }
        Ok(is_there)
    }

    /// Takes a sign, which must be there.
    pub(super) fn take(&mut self, sign: Sign) -> Parsed<()> {
        match self.takes(sign)? {
            true => Ok(()),
            false => self.expected(sign.text()),
        }
    }

    /// Takes the sign that closes what another one has opened at a line.
    pub(super) fn close(&mut self, sign: Sign, opened: Sign, line: Line) -> Parsed<()> {
        if self.takes(sign)? {
            return Ok(());
        }
        if line == self.line {
            return self.expected(sign.text());
        }
        self.wrong(&format!("'{}' expected (to close '{}' at line {line})", sign.text(), opened.text()))
    }

    pub(super) fn name(&mut self) -> Parsed<&'a Name> {
        let Token::Name(name) = self.token else { return self.expected("<name>") };
        self.next()?;
        Ok(name)
    }

    /// Parses something one level deeper.
    pub(super) fn deeper<T>(&mut self, parse: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        self.levels += 1;
        if self.levels > MAX_LEVELS || self.stack.is_near() {
            return Err(SyntaxError::of_whole("chunk has too many syntax levels".into(), self.line));
        }
        self.arena.check()?;
        let parsed = parse(self);
        self.levels -= 1;
        parsed
    }

    /// Parses statements up to what ends a block.
    pub(super) fn block(&mut self) -> Parsed<Block<'a>> {
        self.deeper(|parser| {
            let mut statements = parser.arena.list();
            loop {
                let is_end = match &parser.token {
                    Token::End => true,
                    Token::Sign(sign) => {
                        matches!(sign, Sign::Else | Sign::ElseIf | Sign::End | Sign::Until)
                    }
                    _ => false,
                };
                if is_end {
                    return Ok(Block { statements: statements.into_bump_slice() });
                }
                let line = parser.line;
                let kind = parser.statement()?;
                let is_last = matches!(kind, StatementKind::Return(_) | StatementKind::Break);
                statements.push(Statement { line, kind });
                parser.takes(Sign::Semicolon)?;
                if is_last {
                    return Ok(Block { statements: statements.into_bump_slice() });
                }
            }
        })
    }

    /// Parses a block whose variables are its own.
    fn scope(&mut self) -> Parsed<Block<'a>> {
        self.scopes.open_block();
        let block = self.block()?;
        self.scopes.close_block();
        Ok(block)
    }

    fn statement(&mut self) -> Parsed<StatementKind<'a>> {
        let line = self.line;
        let Token::Sign(sign) = self.token else { return self.expression_statement() };
        match sign {
            Sign::If => self.if_statement(line),
            Sign::While => {
                self.next()?;
                let condition = self.expression()?;
                self.take(Sign::Do)?;
                let body = self.loop_body()?;
                self.close(Sign::End, Sign::While, line)?;
                Ok(StatementKind::While(condition, body))
            }
            Sign::Do => {
                self.next()?;
                let block = self.scope()?;
                self.close(Sign::End, Sign::Do, line)?;
                Ok(StatementKind::Do(block))
            }
            Sign::For => self.for_statement(line),
            Sign::Repeat => {
                self.next()?;
                self.scopes.open_loop();
                self.scopes.open_block();
                let block = self.block()?;
                self.close(Sign::Until, Sign::Repeat, line)?;
                let condition = self.expression()?;
                self.scopes.close_block();
                self.scopes.close_loop();
                Ok(StatementKind::Repeat(block, condition))
            }
            Sign::Function => self.function_statement(line),
            Sign::Local => {
                self.next()?;
                match self.takes(Sign::Function)? {
                    true => self.local_function(line),
                    false => self.local_statement(),
                }
            }
            Sign::Return => {
                self.next()?;
                let is_end = match &self.token {
                    Token::End => true,
                    Token::Sign(sign) => {
                        matches!(sign, Sign::Else | Sign::ElseIf | Sign::End | Sign::Until | Sign::Semicolon)
                    }
                    _ => false,
                };
                Ok(StatementKind::Return(if is_end { &[] } else { self.expressions()? }))
            }
            Sign::Break => {
                self.next()?;
                match self.scopes.is_in_loop() {
                    true => Ok(StatementKind::Break),
                    false => self.wrong("no loop to break"),
                }
            }
            _ => self.expression_statement(),
        }
    }

    fn loop_body(&mut self) -> Parsed<Block<'a>> {
        self.scopes.open_loop();
        let block = self.scope()?;
        self.scopes.close_loop();
        Ok(block)
    }

    fn if_statement(&mut self, line: Line) -> Parsed<StatementKind<'a>> {
        let mut arms = self.arena.list();
        loop {
            self.next()?;
            let condition = self.expression()?;
            self.take(Sign::Then)?;
            arms.push((condition, self.scope()?));
            if !self.is_at(Sign::ElseIf) {
                break;
            }
        }
        let otherwise = match self.takes(Sign::Else)? {
            true => Some(self.scope()?),
            false => None,
        };
        self.close(Sign::End, Sign::If, line)?;
        Ok(StatementKind::If(arms.into_bump_slice(), otherwise))
    }

    fn for_statement(&mut self, line: Line) -> Parsed<StatementKind<'a>> {
        self.next()?;
        let first = self.name()?;
        self.scopes.open_block();
        let kind = match self.token {
            Token::Sign(Sign::Assign) => self.numeric_for(first, line),
            Token::Sign(Sign::Comma | Sign::In) => self.generic_for(first, line),
            _ => self.wrong("'=' or 'in' expected"),
        }?;
        self.scopes.close_block();
        Ok(kind)
    }

    fn numeric_for(&mut self, name: &'a Name, line: Line) -> Parsed<StatementKind<'a>> {
        self.next()?;
        let start = self.expression()?;
        self.take(Sign::Comma)?;
        let limit = self.expression()?;
        let step = match self.takes(Sign::Comma)? {
            true => Some(self.expression()?),
            false => None,
        };
        self.scopes.activate_hidden(3, self.line)?;
        let variable = self.scopes.make_local(name);
        let (begin, body) = self.for_body(&[variable], line)?;
        let numeric = NumericFor { variable, start, limit, step, begin, body };
        Ok(StatementKind::NumericFor(self.arena.node(numeric)))
    }

    fn generic_for(&mut self, first: &'a Name, line: Line) -> Parsed<StatementKind<'a>> {
        let mut names = self.arena.list();
        names.push(first);
        while self.takes(Sign::Comma)? {
            names.push(self.name()?);
        }
        self.take(Sign::In)?;
        let call_line = self.line;
        let values = self.expressions()?;
        self.scopes.activate_hidden(3, self.line)?;
        let mut variables = self.arena.list();
        variables.extend(names.into_iter().map(|name| self.scopes.make_local(name)));
        let variables = variables.into_bump_slice();
        let (_, body) = self.for_body(variables, line)?;
        let generic = GenericFor { variables, values, line: call_line, body };
        Ok(StatementKind::GenericFor(self.arena.node(generic)))
    }

    /// The line of `do`, and the block behind it.
    fn for_body(&mut self, variables: &[LocalId], line: Line) -> Parsed<(Line, Block<'a>)> {
        self.take(Sign::Do)?;
        let begin = self.last_line;
        self.scopes.open_loop();
        self.scopes.open_block();
        self.scopes.activate(variables, self.line)?;
        let body = self.block()?;
        self.scopes.close_block();
        self.scopes.close_loop();
        self.close(Sign::End, Sign::For, line)?;
        Ok((begin, body))
    }

    /// `function a.b:c() … end`
    fn function_statement(&mut self, line: Line) -> Parsed<StatementKind<'a>> {
        self.next()?;
        let name = self.name()?;
        let mut target = self.scopes.resolve(name, self.last_line)?;
        let (mut suffixes, mut is_method) = (self.arena.list(), false);
        while !is_method && (self.is_at(Sign::Dot) || self.is_at(Sign::Colon)) {
            is_method = self.is_at(Sign::Colon);
            self.next()?;
            let name = self.name()?;
            suffixes.push(Suffix { line: self.last_line.into(), kind: SuffixKind::Field(name) });
        }
        if suffixes.is_empty() {
            self.scopes.assign(&target);
        } else {
            target = Expr::Suffixed(self.arena.node(target), suffixes.into_bump_slice());
        }
        let function = self.function(is_method, line)?;
        let function = Expr::Function(self.arena.node(function));
        Ok(StatementKind::Assign(self.arena.node([target]), self.arena.node([function]), line))
    }

    fn local_function(&mut self, line: Line) -> Parsed<StatementKind<'a>> {
        let name = self.name()?;
        let local = self.scopes.make_local(name);
        self.scopes.activate(&[local], self.line)?;
        let function = self.function(false, line)?;
        Ok(StatementKind::LocalFunction(local, self.arena.node(function)))
    }

    fn local_statement(&mut self) -> Parsed<StatementKind<'a>> {
        let mut locals = self.arena.list();
        loop {
            let name = self.name()?;
            locals.push(self.scopes.make_local(name));
            self.scopes.check_room(locals.len(), self.line)?;
            if !self.takes(Sign::Comma)? {
                break;
            }
        }
        let values = match self.takes(Sign::Assign)? {
            true => self.expressions()?,
            false => &[],
        };
        self.scopes.activate(&locals, self.line)?;
        Ok(StatementKind::Local(locals.into_bump_slice(), values))
    }

    /// A call or an assignment.
    fn expression_statement(&mut self) -> Parsed<StatementKind<'a>> {
        let first = self.suffixed()?;
        if is_call(&first) {
            return Ok(StatementKind::Call(first));
        }
        let mut targets = self.arena.list();
        targets.push(first);
        loop {
            let target = targets.last().expect("there is one");
            if is_call(target) || matches!(target, Expr::Paren(_)) {
                return self.wrong("syntax error");
            }
            self.scopes.assign(target);
            if !self.takes(Sign::Comma)? {
                break;
            }
            targets.push(self.suffixed()?);
            // As C's Lua does, which counts those before this one.
            let limit = MAX_LEVELS - self.levels;
            if targets.len() as u32 - 1 > limit {
                return Err(self.scopes.limit(limit as usize, "variables in assignment", self.line));
            }
        }
        self.take(Sign::Assign)?;
        let values = self.expressions()?;
        Ok(StatementKind::Assign(targets.into_bump_slice(), values, self.last_line))
    }
}

/// Whether an expression ends with a call.
fn is_call(expr: &Expr) -> bool {
    matches!(expr, Expr::Suffixed(..)) && expr.is_multiple()
}
