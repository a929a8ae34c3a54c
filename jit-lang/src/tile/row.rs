//! Expands rows that stand for several tiles.
//!
//! In: the rows of a group. Out: its tiles, as if each had been written by hand; later stages know nothing of forms.
//! A row is parsed once for each alternative of its form and each operator of its list, with the names replaced by these.
//! The order of tiles breaks ties in cost, so tiles keep the order of the rows and blocks.

use super::ast::{Counts, Emitter, GivenForm, Tile};
use super::form::{Alternative, ListedOperator, OperandForm, WordRole, form, is_form, list, replaced, words};
use super::parse::{self, NO_EMITTER, braces, number_of, refuse, whole_pattern};
use super::rust::{Closure, closure, expression};
use crate::place::{Error, Parsed, Place};
use crate::reader::Reader;
use crate::token::{Group, Leaf, Token, place, visible};
use azulejo_core::grammar::Symbol;
use std::slice;

/// A row, or a block of rows.
enum Item {
    Row(TileRow),
    /// `for form { … }`
    OfForm(Leaf, Vec<Item>),
    /// `for list in [ … ] { … }`
    OfList(Leaf, Vec<ListedOperator>, Vec<Item>),
}

/// One row.
struct TileRow {
    /// The tokens before the arrow to the emitter.
    head: Vec<Token>,
    /// The place of that arrow; `None` if it is missing.
    arrow: Option<Place>,
    emitter: Vec<Token>,
}

/// The meanings of names in a row.
#[derive(Clone, Copy)]
struct Scope<'a> {
    forms: &'a [OperandForm],
    /// The current operator of the enclosing block.
    operator: Option<&'a ListedOperator>,
    /// The form of the enclosing block, and the current alternative.
    chosen: Option<(&'a OperandForm, &'a Alternative)>,
}

impl<'a> Scope<'a> {
    fn form(&self, name: &Leaf) -> Option<&'a OperandForm> {
        self.forms.iter().find(|form| form.name.text == name.text)
    }
}

/// The form that a row uses: its name in the pattern, and the operands of the pattern before it.
struct UsedForm<'a> {
    name: Leaf,
    form: &'a OperandForm,
    before: Counts,
}

/// Parses the tiles of a group; `forms` are the shared ones.
pub(super) fn tiles(reader: &mut Reader, mut forms: Vec<OperandForm>) -> Parsed<Vec<Tile>> {
    let mut tiles = Vec::new();
    while !reader.is_empty() {
        if is_form(reader) {
            let next = form(reader, &forms)?;
            forms.push(next);
        } else {
            let scope = Scope { forms: &forms, operator: None, chosen: None };
            expand_item(&item(reader)?, scope, &mut tiles)?;
        }
    }
    Ok(tiles)
}

/// Parses a row, or a block of rows.
fn item(reader: &mut Reader) -> Parsed<Item> {
    if reader.is_word("use") {
        return refuse(
            reader.here(),
            "shared forms are asked for first: `pub group int; use path::address;`",
        );
    }
    if is_form(reader) {
        return refuse(reader.here(), "forms stand in no block");
    }
    if !reader.takes_word("for") {
        return row(reader).map(Item::Row);
    }
    let name = reader.name("a form, or the name of a list")?;
    let operators = if reader.takes_word("in") { Some(list(reader, &name)?) } else { None };
    let mut content = Reader::inside(braces(reader, "`{` and rows")?);
    let mut items = Vec::new();
    while !content.is_empty() {
        items.push(item(&mut content)?);
    }
    Ok(match operators {
        None => Item::OfForm(name, items),
        Some(operators) => Item::OfList(name, operators, items),
    })
}

fn row(reader: &mut Reader) -> Parsed<TileRow> {
    let mut head = Vec::new();
    while !reader.is_empty() && !reader.has_puncts(0, "=>") {
        head.extend(reader.next());
    }
    let here = reader.here();
    let head = visible(head);
    // An error in the tokens before a missing arrow takes precedence.
    if !reader.takes_arrow() {
        return Ok(TileRow { head, arrow: None, emitter: Vec::new() });
    }
    let emitter = expression(reader)?;
    reader.comma()?;
    Ok(TileRow { head, arrow: Some(here), emitter })
}

/// Adds the tiles that a row or a block stands for.
fn expand_item(item: &Item, scope: Scope<'_>, tiles: &mut Vec<Tile>) -> Parsed<()> {
    let mut expand_all =
        |items: &[Item], scope: Scope<'_>| items.iter().try_for_each(|item| expand_item(item, scope, tiles));
    match item {
        Item::Row(row) => expand(row, scope, tiles),
        Item::OfList(name, operators, items) => {
            if let Some(operator) = scope.operator {
                let list = &operator.given.name;
                let problem = format!("these rows are in a list already: their operator is `{list}`");
                return refuse(name.place, problem);
            }
            operators.iter().try_for_each(|one| expand_all(items, Scope { operator: Some(one), ..scope }))
        }
        Item::OfForm(name, items) => {
            let Some(form) = scope.form(name) else {
                let problem = format!(
                    "there is no form `{name}`; define it: `form {name} {{ … }}`, or list operators: `for {name} in [add: …]`"
                );
                return refuse(name.place, problem);
            };
            if let Some((chosen, _)) = scope.chosen {
                let problem = format!("these rows are of a form already: `{}`", chosen.name);
                return refuse(name.place, problem);
            }
            let mut alternatives = form.alternatives.iter();
            alternatives.try_for_each(|one| expand_all(items, Scope { chosen: Some((form, one)), ..scope }))
        }
    }
}

/// Adds the tiles that a row stands for.
fn expand(row: &TileRow, scope: Scope<'_>, tiles: &mut Vec<Tile>) -> Parsed<()> {
    let used = used(row, scope)?;
    if let Some(operator) = scope.operator {
        check_list(row, &operator.given.name)?;
    }
    let alternatives: &[Alternative] = match (&used, scope.chosen) {
        (None, None) => {
            tiles.push(one(row, scope, None)?);
            return Ok(());
        }
        (Some(used), Some((form, chosen))) if used.form.name.text == form.name.text => {
            slice::from_ref(chosen)
        }
        (Some(used), None) => &used.form.alternatives,
        (_, Some((form, _))) => {
            let problem =
                format!("no operand of this row is `{0}`, so it stands outside of `for {0}`", form.name);
            return refuse(row.place(), problem);
        }
    };
    for alternative in alternatives {
        tiles.push(one(row, scope, used.as_ref().map(|used| (used, alternative)))?);
    }
    Ok(())
}

/// Finds the form that a row uses.
fn used<'a>(row: &TileRow, scope: Scope<'a>) -> Parsed<Option<UsedForm<'a>>> {
    let mut found: Option<(Leaf, &OperandForm)> = None;
    for (word, role) in words(row.pattern()) {
        let Some(form) = scope.form(&word) else { continue };
        let problem = match &found {
            _ if role == WordRole::Operator => format!("`{word}` is a form; it stands where an operand does"),
            None => {
                found = Some((word, form));
                continue;
            }
            Some((name, _)) if name.text == word.text => {
                format!("a row names its form once: `$p@{word}`, and where it stands again `$p`")
            }
            Some((name, _)) => format!("a row has one form, and this one has `{name}`"),
        };
        return refuse(word.place, problem);
    }
    let Some((name, form)) = found else { return Ok(None) };
    // `void` is no operand, so it can mark the position of the form.
    let mark = |word: &Leaf| Token::Word(Leaf { text: "void".into(), place: word.place, number: None });
    let marked = replaced(row.pattern(), &mut |word, _| (word.text == name.text).then(|| vec![mark(word)]));
    let mut before = Counts::default();
    before.add_until(&whole_pattern(marked)?, Symbol::Void);
    Ok(Some(UsedForm { name, form, before }))
}

fn check_list(row: &TileRow, list: &Leaf) -> Parsed<()> {
    let words = words(row.pattern());
    let is_list = |wanted| words.iter().find(|(word, role)| word.text == list.text && *role == wanted);
    if let Some((wrong, _)) = is_list(WordRole::Operand) {
        let problem = format!("`{list}` is a list of operators; it stands first in parentheses");
        return refuse(wrong.place, problem);
    }
    if is_list(WordRole::Operator).is_none() {
        let problem =
            format!("no operator of this row is `{list}`, so it stands outside of `for {list} in …`");
        return refuse(row.place(), problem);
    }
    match row.head.first() {
        Some(Token::Word(name)) if name.text.starts_with('_') => Ok(()),
        _ => refuse(row.place(), "a tile's name begins with its operator: write `_` for that, as in `_load`"),
    }
}

/// The tile of a row for one operator and one alternative.
fn one(row: &TileRow, scope: Scope<'_>, form: Option<(&UsedForm<'_>, &Alternative)>) -> Parsed<Tile> {
    let head = head(row, scope, form)?;
    let tile = parse::tile(head, row.arrow.unwrap_or(Place::NOWHERE))?;
    if row.arrow.is_none() {
        return refuse(Place::NOWHERE, NO_EMITTER);
    }
    Ok(Tile { emitter: Some(emitter(row, scope, form)?), ..tile })
}

/// The tokens before the emitter, with the names replaced.
fn head(row: &TileRow, scope: Scope<'_>, form: Option<(&UsedForm<'_>, &Alternative)>) -> Parsed<Vec<Token>> {
    let (named, rest) = row.head.split_at(row.pattern_start());
    let rest = &rest[row.pattern().len()..];
    let mut head = named.to_vec();
    if let [Token::Word(name), ..] = &mut head[..]
        && (scope.operator.is_some() || form.is_some())
    {
        if let Some(ListedOperator { operator, .. }) = scope.operator {
            name.text = format!("{operator}{}", if name.text == "_" { "" } else { &name.text });
        }
        if let Some((_, alternative)) = form {
            name.text = format!("{}_{}", name.text, alternative.name);
        }
        // `r#for` and `$crate` are names by themselves only.
        if !name.text.chars().all(|letter| letter.is_alphanumeric() || letter == '_') {
            return refuse(name.place, format!("`{name}` is no name"));
        }
        name.number = None;
    }
    let mut meaning = |word: &Leaf, role| match role {
        WordRole::Operator => {
            let operator = scope.operator.filter(|one| one.given.name.text == word.text)?;
            Some(vec![Token::Word(operator.operator.clone())])
        }
        WordRole::Operand => {
            form.filter(|(used, _)| used.name.text == word.text).map(|(_, one)| one.pattern.clone())
        }
    };
    head.extend(replaced(row.pattern(), &mut meaning));
    head.extend(behind_pattern(rest, form)?);
    Ok(head)
}

/// The tokens after the pattern: the cost with the alternative's added, and clauses with operands renumbered.
fn behind_pattern(tokens: &[Token], form: Option<(&UsedForm<'_>, &Alternative)>) -> Parsed<Vec<Token>> {
    const USAGE: &str = "a row with a form `mem` costs `4`, or `4 + mem` with what the alternative adds";
    let mut output: Vec<Token> = Vec::new();
    let mut tokens = tokens.iter().peekable();
    while let Some(token) = tokens.next() {
        match token {
            plus if plus.is_punct('+') => {
                let Some(Token::Word(named)) = tokens.next() else { return refuse(plus.place(), USAGE) };
                let Some((_, alternative)) = form.filter(|(used, _)| used.name.text == named.text) else {
                    return refuse(named.place, format!("no operand of this row is a form `{named}`"));
                };
                let Some(cost @ Token::Literal(_)) = output.pop() else { return refuse(plus.place(), USAGE) };
                let sum = parse::cost(&cost)? + alternative.cost;
                output.push(number(sum as usize, cost.place()));
            }
            Token::Word(clause) => {
                output.push(token.clone());
                let is_counted = ["tied", "late", "any", "fixed"].contains(&clause.text.as_str());
                if let (Some((used, alternative)), true) = (form, is_counted)
                    && let Some(Token::Group(operand)) = tokens.peek()
                {
                    output.push(Token::Group(recounted(operand, used, alternative)?));
                    tokens.next();
                }
            }
            token => output.push(token.clone()),
        }
    }
    Ok(output)
}

/// A clause's parentheses, with the operand number of the row, in which a form counts as one, converted to that of the tile.
fn recounted(operand: &Group, used: &UsedForm<'_>, alternative: &Alternative) -> Parsed<Group> {
    let mut counted = operand.clone();
    if let Some(first) = counted.tokens.first_mut()
        && let Some(at) = number_of::<u8>(first)
    {
        let at = at as usize;
        if at == used.before.regs {
            let problem =
                format!("operand {at} is the form `{}`; clauses are about single registers", used.name);
            return refuse(first.place(), problem);
        }
        if at > used.before.regs {
            *first = number(at + alternative.counts.regs - 1, first.place());
            counted.number = None;
        }
    }
    Ok(counted)
}

fn number(number: usize, place: Place) -> Token {
    Token::Literal(Leaf { text: number.to_string(), place, number: None })
}

/// The emitter, with what the names stand for.
fn emitter(row: &TileRow, scope: Scope<'_>, form: Option<(&UsedForm<'_>, &Alternative)>) -> Parsed<Emitter> {
    let written = row.emitter.clone();
    if scope.operator.is_none() && form.is_none() {
        return Ok(Emitter { head: Vec::new(), body: written, operator: None, form: None });
    }
    let wrong = || {
        let usage = "the emitter of a row with a form or a list is a closure: `=> |cx, t| …`";
        Error::new(place(&row.emitter), usage)
    };
    let Closure { head, params, body } = closure(written).ok_or_else(wrong)?;
    let given = |(used, alternative): (&UsedForm<'_>, &Alternative)| {
        let tile = params.get(1).cloned().flatten().ok_or_else(wrong)?;
        let Alternative { tile: inner, value, counts, .. } = alternative;
        let (inner, value) = (inner.clone(), value.clone());
        Ok(GivenForm { name: used.name.clone(), tile, inner, value, before: used.before, own: *counts })
    };
    let form = form.map(given).transpose()?;
    Ok(Emitter { head, body, operator: scope.operator.map(|one| one.given.clone()), form })
}

impl TileRow {
    fn place(&self) -> Place {
        self.head.first().map_or(Place::NOWHERE, Token::place)
    }

    /// The index of the pattern's first token, after the name and the colon.
    fn pattern_start(&self) -> usize {
        let colon = self.head.iter().position(|token| token.is_punct(':'));
        colon.map_or(self.head.len(), |at| at + 1)
    }

    /// The tokens between the name and the arrow to the result.
    fn pattern(&self) -> &[Token] {
        let rest = &self.head[self.pattern_start()..];
        &rest[..rest.iter().position(|token| token.is_punct('-')).unwrap_or(rest.len())]
    }
}
