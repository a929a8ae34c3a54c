//! Parses `tile!`: the group, and the patterns and clauses of its tiles.
//!
//! Patterns are passed through `macro_rules!`, where `$` has a meaning of its own. There it is spelled
//! `~`, and the parser accepts both.

use super::ast::{Content, Tile, TileGroup};
use super::form::forms;
use super::row;
use crate::pattern::{self, Dollar, Node, TYPES, TypeTerm};
use crate::place::{Error, Parsed, Place};
use crate::reader::Reader;
use crate::token::{Delimiter, Group, Leaf, Token, integer, visible};
use azulejo_core::grammar::{self, Clause, Pattern, PatternShape, Predicate, Rule, Symbol, TypeSpec};
use azulejo_core::vocab::Class;
use core::fmt::Display;

/// Parses the contents of a `tile!`.
///
/// # Errors
///
/// The first error.
pub fn parse(tokens: Vec<Token>) -> Result<Content, Error> {
    let mut reader = Reader::new(tokens);
    let mut header = visible(until(&mut reader, ';'));
    let mut head = Reader::new(header.clone());
    let visibility = visibility(&mut head);
    let keyword = head.here();
    let is_group = head.takes_word("group");
    if !is_group && !head.takes_word("forms") {
        return refuse(keyword, "name the group first: `pub group int;`");
    }
    let name = head.name("the group's name")?;
    head.punct(';')?;
    if !is_group {
        let tokens = reader.rest();
        let mut known = Vec::new();
        forms(&mut Reader::new(tokens.clone()), &mut known)?;
        let alternatives = known.into_iter().flat_map(|form| form.alternatives);
        let values = alternatives.map(|alternative| alternative.value).collect();
        return Ok(Content::Forms { is_public: visibility.len() == 1, name, values, tokens });
    }
    let mut known = Vec::new();
    while let Some(told) = reader.group(Delimiter::Brace) {
        header.push(Token::Group(told.clone()));
        forms(&mut Reader::inside(told), &mut known)?;
    }
    if reader.takes_word("use") {
        let mut path = Reader::between(reader.last(), visible(until(&mut reader, ';')), reader.here());
        let found = self::path(&mut path)?;
        path.punct(';')?;
        return Ok(Content::Asks { path: found.0, header, rest: reader.rest() });
    }
    Ok(Content::Group(TileGroup { visibility, name, tiles: row::tiles(&mut reader, known)? }))
}

/// Parses `{ { header } { rows } } { forms }` into the contents of a group.
///
/// # Errors
///
/// If a user wrote this.
pub fn with_forms(tokens: Vec<Token>) -> Result<Vec<Token>, Error> {
    let not_for_users = || Error::new(Place::NOWHERE, "this is called by `tile!` only");
    let mut reader = Reader::new(tokens);
    let mut asking = reader.group(Delimiter::Brace).map(Reader::inside).ok_or_else(not_for_users)?;
    let mut group = || asking.group(Delimiter::Brace).ok_or_else(not_for_users);
    let (mut tokens, rows) = (group()?.tokens, group()?.tokens);
    tokens.push(Token::Group(reader.group(Delimiter::Brace).ok_or_else(not_for_users)?));
    tokens.extend(rows);
    Ok(tokens)
}

/// Parses `name: pattern -> result, cost, clauses`; `end` is the place of what follows.
pub(super) fn tile(head: Vec<Token>, end: Place) -> Parsed<Tile> {
    let mut reader = Reader::between(Place::NOWHERE, head.clone(), end);
    let name = match reader.name("a tile's name")? {
        name if name.text == "_" => return refuse(name.place, "expected a tile's name, found `_`"),
        name => name,
    };
    reader.punct(':')?;
    let mut patterns = Patterns::default();
    let pattern = patterns.pattern(&mut reader)?;
    if !reader.has_puncts(0, "->") {
        return refuse(reader.here(), "expected `->` and what the tile yields");
    }
    reader.punct('-')?;
    reader.punct('>')?;
    let result = reader.name("what the tile yields")?;
    let Some(symbol) = Symbol::from_name(&result.text) else {
        return refuse(result.place, "a tile yields `reg`, `num`, `flag` or `void`");
    };
    let here = reader.here();
    let cost = match (reader.takes_punct(','), reader.here(), reader.next()) {
        (true, _, Some(token)) if matches!(token, Token::Literal(_)) || token.is_punct('-') => cost(&token)?,
        (has_comma, behind, _) => {
            let problem = format!("`{name}` has no cost: write it after the result, `-> {symbol}, 2`");
            return refuse(if has_comma { behind } else { here }, problem);
        }
    };
    let (mut clauses, mut places, mut registers) = (Vec::new(), Vec::new(), Vec::new());
    while reader.takes_punct(',') && !reader.is_empty() {
        places.push(reader.here());
        clauses.push(clause(&mut reader, &mut registers)?);
    }
    if !reader.is_empty() {
        return refuse(reader.here(), NO_EMITTER);
    }
    let rule = Rule { name: name.text.clone(), pattern, result: symbol, cost, clauses };
    Ok(Tile { rule, name, patterns: patterns.places, clauses: places, registers, head, emitter: None })
}

/// What is missing from a row that does not end as rows do.
pub(super) const NO_EMITTER: &str = "a tile ends with its emitter: `=> |cx, t| …`";

/// A pattern alone.
pub(super) fn whole_pattern(tokens: Vec<Token>) -> Parsed<Pattern> {
    let mut reader = Reader::new(tokens);
    let pattern = Patterns::default().pattern(&mut reader)?;
    if reader.is_empty() { Ok(pattern) } else { refuse(reader.here(), NOTHING_MORE) }
}

const NOTHING_MORE: &str = "nothing more is expected here";

pub(super) fn cost(token: &Token) -> Parsed<u16> {
    let number = number_of(token).filter(|cost| *cost <= 1000);
    number.ok_or_else(|| Error::new(token.place(), "a cost is a number from 0 to 1000"))
}

/// The number that a literal is, if it is one of this type.
pub(super) fn number_of<T: TryFrom<u128>>(token: &Token) -> Option<T> {
    let Token::Literal(leaf) = token else { return None };
    integer(&leaf.text).and_then(|number| T::try_from(number).ok())
}

/// The tokens up to a punctuation character and with it, or to the end.
fn until(reader: &mut Reader, end: char) -> Vec<Token> {
    let mut tokens = Vec::new();
    while let Some(token) = reader.next() {
        let is_end = token.is_punct(end);
        tokens.push(token);
        if is_end {
            break;
        }
    }
    tokens
}

pub(super) fn braces(reader: &mut Reader, expected: &str) -> Parsed<Group> {
    let here = reader.here();
    reader.group(Delimiter::Brace).ok_or_else(|| Error::new(here, format!("expected {expected}")))
}

/// Reads `pub`, `pub(crate)` or nothing.
pub(super) fn visibility(reader: &mut Reader) -> Vec<Token> {
    let mut tokens = Vec::new();
    if reader.is_word("pub") {
        tokens.extend(reader.next());
        tokens.extend(reader.group(Delimiter::Parenthesis).map(Token::Group));
    }
    tokens
}

/// Reads a path: its tokens, and its words.
pub(super) fn path(reader: &mut Reader) -> Parsed<(Vec<Token>, Vec<Leaf>)> {
    let here = reader.here();
    reader.path().ok_or_else(|| Error::new(here, "expected a path"))
}

fn clause(reader: &mut Reader, registers: &mut Vec<Leaf>) -> Parsed<Clause> {
    let name = reader.name("a clause")?;
    match name.text.as_str() {
        "early" => return Ok(Clause::Early),
        "entry" => return Ok(Clause::Entry),
        "framed" => return Ok(Clause::Framed),
        "tied" | "late" | "any" | "fixed" | "clobber" | "temp" | "needs" => {}
        word => {
            let known = "tied(0) fixed(0 = rcx) fixed(out = rax) clobber(rax, rdx) temp(int) early late(0) any(0) \
                         needs(feature) entry framed";
            return refuse(name.place, format!("there is no clause `{word}`; there are: {known}"));
        }
    }
    let Some(content) = reader.group(Delimiter::Parenthesis) else {
        return refuse(name.place, format!("`{name}` takes its operand in parentheses"));
    };
    let mut content = Reader::inside(content);
    let clause = match name.text.as_str() {
        "tied" => Clause::Tied(number(&mut content)?),
        "late" => Clause::Late(number(&mut content)?),
        "any" => Clause::Any(number(&mut content)?),
        "fixed" => {
            let place = match content.peek() {
                Some(Token::Word(out)) if out.text != "out" => {
                    return refuse(out.place, "`fixed` takes the number of an operand, or `out`");
                }
                Some(Token::Word(_)) => {
                    content.next();
                    grammar::Place::Out
                }
                _ => grammar::Place::Use(number(&mut content)?),
            };
            content.punct('=')?;
            Clause::Fixed(place, register(&mut content, registers)?)
        }
        "clobber" => {
            let mut names = Vec::new();
            while !content.is_empty() {
                names.push(register(&mut content, registers)?);
                content.comma()?;
            }
            Clause::Clobber(names)
        }
        "temp" => {
            let class = content.name("a class of registers")?;
            match class.text.as_str() {
                "int" => Clause::Temp(Class::Int),
                "float" => Clause::Temp(Class::Float),
                _ => return refuse(class.place, "a scratch register is `int` or `float`"),
            }
        }
        _ => Clause::Needs(content.name("a feature")?.text),
    };
    if content.is_empty() { Ok(clause) } else { refuse(content.here(), NOTHING_MORE) }
}

fn number(reader: &mut Reader) -> Parsed<u8> {
    let token = reader.any("the number of an operand")?;
    let problem = || format!("expected the number of an operand, found `{token}`");
    number_of(&token).ok_or_else(|| Error::new(token.place(), problem()))
}

fn register(reader: &mut Reader, registers: &mut Vec<Leaf>) -> Parsed<String> {
    let name = reader.name("a register")?;
    registers.push(name.clone());
    Ok(name.text)
}

/// The state of parsing a pattern: the places of the sub-patterns, and the names bound to nodes.
#[derive(Default)]
struct Patterns {
    places: Vec<Place>,
    bound: Vec<String>,
}

/// What stands behind an operator.
enum TileOperand {
    Pattern(Pattern),
    /// The name of a constant, and the predicate on its value.
    Constant(Leaf, Option<Predicate>),
}

impl Patterns {
    fn pattern(&mut self, reader: &mut Reader) -> Parsed<Pattern> {
        if reader.is_dollar() {
            let dollar = reader.dollar()?;
            return self.node(dollar, reader);
        }
        let id = self.id(reader.here());
        let shape = self.shape(reader, id)?;
        Ok(Pattern { id, bind: None, shape })
    }

    fn operand(&mut self, reader: &mut Reader) -> Parsed<TileOperand> {
        if !reader.is_dollar() {
            return self.pattern(reader).map(TileOperand::Pattern);
        }
        let dollar = reader.dollar()?;
        if dollar.is_binding || self.bound.contains(&dollar.name.text) {
            return self.node(dollar, reader).map(TileOperand::Pattern);
        }
        let predicate = dollar.predicate.as_ref().map(predicate).transpose()?;
        Ok(TileOperand::Constant(dollar.name, predicate))
    }

    /// Parses what follows `$name@`, or takes the name for the node that it is bound to.
    fn node(&mut self, dollar: Dollar, reader: &mut Reader) -> Parsed<Pattern> {
        let Dollar { name, predicate, is_binding } = dollar;
        if let Some(predicate) = predicate {
            return refuse(predicate.place, format!("`${name}` is a node; a constant can have a predicate"));
        }
        if !is_binding {
            let id = self.id(name.place);
            return Ok(Pattern { id, bind: None, shape: PatternShape::Same(name.text) });
        }
        let id = self.id(reader.here());
        self.bound.push(name.text.clone());
        let shape = self.shape(reader, id)?;
        Ok(Pattern { id, bind: Some(name.text), shape })
    }

    fn id(&mut self, place: Place) -> u32 {
        self.places.push(place);
        self.places.len() as u32 - 1
    }

    fn shape(&mut self, reader: &mut Reader, id: u32) -> Parsed<PatternShape> {
        if let Some(group) = reader.group(Delimiter::Parenthesis) {
            let mut content = Reader::inside(group);
            let operator = content.name("an operator")?;
            self.places[id as usize] = operator.place;
            let node = content.node(operator, |reader| self.operand(reader))?;
            return self.operator(node);
        }
        match reader.peek() {
            Some(Token::Word(name)) if name.text != "_" => {
                let Some(symbol) = Symbol::from_name(&name.text) else {
                    let problem = format!(
                        "`{name}` is no symbol and no form; operands are `reg`, `num`, `flag`, forms and patterns in parentheses"
                    );
                    return refuse(name.place, problem);
                };
                reader.next();
                Ok(PatternShape::Symbol(symbol))
            }
            _ => refuse(
                reader.here(),
                "expected `reg`, `num`, `flag`, a pattern in parentheses, or a constant by a name: `$c` or `$c:one`",
            ),
        }
    }

    fn operator(&self, node: Node<TileOperand>) -> Parsed<PatternShape> {
        let types = node.types.iter().map(type_spec).collect::<Parsed<_>>()?;
        let (mut children, mut params, mut predicate) = (Vec::new(), Vec::new(), None);
        for operand in node.operands {
            match operand {
                TileOperand::Pattern(pattern) if !params.is_empty() => {
                    let place = self.places[pattern.id as usize];
                    return refuse(place, "the operands stand before the constants");
                }
                TileOperand::Pattern(pattern) => children.push(pattern),
                TileOperand::Constant(name, asked) => {
                    params.push(name.text);
                    predicate = asked.or(predicate);
                }
            }
        }
        Ok(PatternShape::Node { op: node.operator.text, types, children, params, predicate })
    }
}

fn predicate(name: &Leaf) -> Parsed<Predicate> {
    Predicate::from_name(&name.text).ok_or_else(|| {
        let known = Predicate::ALL.map(Predicate::name).join(" ");
        Error::new(name.place, format!("there is no predicate `{name}`; there are: {known}"))
    })
}

fn type_spec(term: &TypeTerm) -> Parsed<TypeSpec> {
    let var = term.variable.as_ref().map(|name| name.text.clone());
    if term.names.is_empty() {
        return Ok(TypeSpec { var, types: TypeSpec::named("value").unwrap_or(0) });
    }
    let mut types = 0;
    for name in &term.names {
        let problem = || format!("there is no type `{name}`; there are: {TYPES}");
        types |= pattern::types(name).ok_or_else(|| Error::new(name.place, problem()))?;
    }
    Ok(TypeSpec { var, types })
}

pub(super) fn refuse<T>(place: Place, problem: impl Display) -> Parsed<T> {
    Err(Error::new(place, problem))
}
