//! Names with several meanings in rows: operand forms, and lists of operators.
//!
//! In: `form name { … }` and `in [ … ]`. Out: each alternative with its pattern, its cost, and its value for the emitter.
//! Alternatives name no forms, so there is no recursion. [`super::row`] expands rows that use these names.

use super::ast::{Counts, GivenOperator};
use super::parse::{braces, cost, refuse, whole_pattern};
use super::rust::{Closure, closure, expression};
use crate::place::Parsed;
use crate::reader::Reader;
use crate::token::{Delimiter, Group, Leaf, Token, place, visible};
use azulejo_core::grammar::pattern::has_imm;
use azulejo_core::grammar::{Pattern, PatternShape, Symbol};
use azulejo_core::vocab::Vocabulary;

/// An operand with alternative patterns. A tile has one of them.
pub(super) struct OperandForm {
    pub(super) name: Leaf,
    pub(super) alternatives: Vec<Alternative>,
}

/// One alternative of a form.
pub(super) struct Alternative {
    pub(super) name: Leaf,
    pub(super) pattern: Vec<Token>,
    /// Its cost beyond that of the cheapest alternative.
    pub(super) cost: u16,
    pub(super) counts: Counts,
    /// The name of its closure parameter, the tile.
    pub(super) tile: Leaf,
    /// The value that the emitter gets for it.
    pub(super) value: Vec<Token>,
}

/// An operator of a list, and what the emitter gets with it.
pub(super) struct ListedOperator {
    pub(super) operator: Leaf,
    pub(super) given: GivenOperator,
}

/// Reads forms to the end of the input, and adds them to the known ones.
pub(super) fn forms(reader: &mut Reader, known: &mut Vec<OperandForm>) -> Parsed<()> {
    while !reader.is_empty() {
        if !is_form(reader) {
            return refuse(reader.here(), "only forms are shared: `form mem { base: reg => |t| …, }`");
        }
        let next = form(reader, known)?;
        known.push(next);
    }
    Ok(())
}

/// Whether a form comes next, and not a row of that name.
pub(super) fn is_form(reader: &Reader) -> bool {
    reader.is_word("form") && !reader.has_puncts(1, ":")
}

/// Parses `form name { alternative: pattern, cost => |t| value, … }`.
pub(super) fn form(reader: &mut Reader, known: &[OperandForm]) -> Parsed<OperandForm> {
    reader.any("`form`")?;
    let name = reader.name("the form's name")?;
    let problem = match &name.text {
        word if Symbol::from_name(word).is_some() => {
            Some(format!("`{name}` is a symbol, so no form has that name"))
        }
        word if known.iter().any(|form| form.name.text == *word) => {
            Some(format!("there is a form `{name}` already"))
        }
        _ => None,
    };
    if let Some(problem) = problem {
        return refuse(name.place, problem);
    }
    let mut content = Reader::inside(braces(reader, "`{` and the form's alternatives")?);
    let mut alternatives = Vec::new();
    while !content.is_empty() {
        alternatives.push(alternative(&mut content, &name, known)?);
        content.comma()?;
    }
    if alternatives.is_empty() {
        let problem = format!("in which shapes is `{name}`? It has no alternative: `base: reg => |t| …`");
        return refuse(name.place, problem);
    }
    Ok(OperandForm { name, alternatives })
}

fn alternative(reader: &mut Reader, form: &Leaf, known: &[OperandForm]) -> Parsed<Alternative> {
    let name = reader.name("the alternative's name")?;
    reader.punct(':')?;
    let mut pattern = Vec::new();
    while !reader.is_empty() && !reader.is_punct(',') && !reader.is_punct('=') {
        pattern.extend(reader.next());
    }
    let pattern = visible(pattern);
    let is_form = |word: &str| form.text == word || known.iter().any(|form| form.name.text == word);
    if let Some((named, _)) = words(&pattern).into_iter().find(|(word, _)| is_form(&word.text)) {
        return refuse(named.place, format!("`{named}` is a form; alternatives of forms name none"));
    }
    if pattern.is_empty() {
        return refuse(name.place, format!("`{name}` has no pattern: `{name}: reg => |t| …`"));
    }
    let counts = Counts::of(&whole_pattern(pattern.clone())?);
    let mut extra = 0;
    if reader.takes_punct(',') {
        let here = reader.here();
        extra = match reader.next() {
            Some(token) => cost(&token)?,
            None => return refuse(here, "expected a cost"),
        };
    }
    let usage = "an alternative ends with what the emitter gets: `=> |t| …`";
    let here = reader.here();
    if !reader.takes_arrow() {
        return refuse(here, usage);
    }
    let value = expression(reader)?;
    let at = place(&value);
    match closure(value).map(|Closure { params, body, .. }| (<[_; 1]>::try_from(params), body)) {
        Some((Ok([Some(tile)]), value)) => {
            Ok(Alternative { name, pattern, cost: extra, counts, tile, value })
        }
        _ => refuse(at, usage),
    }
}

/// Parses `in [operator: value, …]`.
pub(super) fn list(reader: &mut Reader, name: &Leaf) -> Parsed<Vec<ListedOperator>> {
    let here = reader.here();
    let Some(group) = reader.group(Delimiter::Bracket) else {
        return refuse(here, "a list of operators is `[add: Alu::Add, sub: Alu::Sub]`");
    };
    let brackets = group.place;
    let mut content = Reader::inside(group);
    let mut operators = Vec::new();
    while !content.is_empty() {
        let operator = content.name("an operator")?;
        content.punct(':')?;
        let value = expression(&mut content)?;
        operators.push(ListedOperator { operator, given: GivenOperator { name: name.clone(), value } });
        content.comma()?;
    }
    match operators.is_empty() {
        true => refuse(brackets, "which operators? `[add: Alu::Add, sub: Alu::Sub]`"),
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
pub(super) enum WordRole {
    Operator,
    Operand,
}

/// Replaces words of a pattern by the tokens that `to` returns for them.
pub(super) fn replaced(
    pattern: &[Token],
    to: &mut dyn FnMut(&Leaf, WordRole) -> Option<Vec<Token>>,
) -> Vec<Token> {
    replaced_in(pattern, false, to)
}

fn replaced_in(
    pattern: &[Token],
    in_parentheses: bool,
    to: &mut dyn FnMut(&Leaf, WordRole) -> Option<Vec<Token>>,
) -> Vec<Token> {
    let mut output = Vec::with_capacity(pattern.len());
    let mut is_first = in_parentheses;
    // A word after punctuation other than `@` names a type, predicate, constant or node.
    let mut names_other = false;
    for token in pattern {
        let was_first = core::mem::take(&mut is_first);
        let is_other = core::mem::take(&mut names_other);
        match token {
            Token::Group(group) => {
                let is_list = group.delimiter == Delimiter::Parenthesis;
                let tokens = replaced_in(&group.tokens, is_list, to);
                output.push(Token::Group(Group { tokens, number: None, ..*group }));
            }
            Token::Word(word) if !is_other => {
                let role = if was_first { WordRole::Operator } else { WordRole::Operand };
                output.extend(to(word, role).unwrap_or_else(|| vec![token.clone()]));
            }
            Token::Punct(..) => {
                names_other = !token.is_punct('@');
                output.push(token.clone());
            }
            token => output.push(token.clone()),
        }
    }
    output
}

/// The words of a pattern that are operators or operands.
pub(super) fn words(pattern: &[Token]) -> Vec<(Leaf, WordRole)> {
    let mut words = Vec::new();
    replaced(pattern, &mut |word, role| {
        words.push((word.clone(), role));
        None
    });
    words
}
