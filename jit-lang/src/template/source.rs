//! The contents of a `template!`: rows, macros, kinds and regions.
//!
//! In: tokens. Out: a [`Source`], and the syntax errors.

use super::fields::Structs;
use super::kinds::{self, WrittenKinds};
use super::macros::Macro;
use super::regions;
use crate::place::{Error, Errors, Place};
use crate::reader::Reader;
use crate::sexpr::Sexpr;
use crate::token::{Leaf, Token, made, text};
use core::fmt;
use std::collections::HashMap;

/// `Enum::Opcode! => unsafe expression`
#[derive(Clone, Debug)]
pub struct Row {
    /// The enum.
    pub path: Vec<Token>,
    /// The opcode.
    pub name: Leaf,
    /// Whether the `!` is present.
    pub stores_itself: bool,
    /// The place of the word `unsafe`, if it is present.
    pub is_unsafe: Option<Place>,
    /// `None` if the body could not be parsed.
    pub body: Option<Sexpr>,
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}::{}", text(&self.path), self.name.text)
    }
}

/// The rows, macros, kinds and regions of a `template!`.
#[derive(Clone, Debug, Default)]
pub struct Source {
    /// The fields of the structs that the rows use.
    pub structs: Structs,
    /// The rows.
    pub rows: Vec<Row>,
    /// The macros by name.
    pub macros: HashMap<String, Macro>,
    /// The set of kinds, if there is one.
    pub kinds: Option<WrittenKinds>,
    /// The names of the regions of memory.
    pub regions: Vec<String>,
}

impl Source {
    /// Reads everything that parses.
    pub fn read(tokens: Vec<Token>, errors: &mut Errors) -> Source {
        let mut reader = Reader::new(tokens);
        let mut source = Source { structs: Structs::read(&mut reader), ..Source::default() };
        while !reader.is_empty() {
            let item = if reader.takes_word("use") {
                Err(Error::new(reader.last(), "`use` of shared macros stands before everything else"))
            } else if reader.takes_word("macro") {
                read_macro(&mut reader, &mut source)
            } else if kinds::comes_next(&reader) {
                read_kinds(&mut reader, &mut source, errors)
            } else if regions::comes_next(&reader) {
                regions::read(&mut reader, &mut source.regions, errors)
            } else {
                read_row(&mut reader, &mut source)
            };
            if let Err(error) = item {
                errors.0.push(error);
                // Skips the rest of a row that does not parse.
                reader.skip_until(starts_row);
            }
        }
        source
    }
}

/// Whether these tokens are `Enum::Opcode =>`, with or without a `!`, a macro, kinds, or regions.
fn starts_row(tokens: &[Token]) -> bool {
    let mut reader = Reader::new(tokens[..tokens.len().min(12)].to_vec());
    if reader.takes_word("macro") || kinds::comes_next(&reader) || regions::comes_next(&reader) {
        return true;
    }
    let is_path = reader.path().is_some_and(|(_, idents)| idents.len() > 1);
    reader.takes_punct('!');
    is_path && reader.takes_arrow()
}

fn read_row(reader: &mut Reader, source: &mut Source) -> Result<(), Error> {
    if reader.takes_punct(',') || reader.takes_punct(';') {
        return Err(Error::new(reader.last(), "nothing stands between rows: leave this out"));
    }
    let path = reader.path().and_then(|(_, mut idents)| Some((idents.pop()?, idents)));
    let Some((name, idents)) = path else {
        reader.next();
        return Err(Error::new(reader.last(), "expected a row, `Enum::Opcode => …`, or a `macro ^name`"));
    };
    if idents.is_empty() {
        return Err(Error::new(name.place, format!("name the enum too: `Enum::{} => …`", name.text)));
    }
    let path = path_of(&idents);
    let stores_itself = reader.takes_punct('!');
    let mut row = Row { path, name, stores_itself, is_unsafe: None, body: None };
    let body = if reader.takes_arrow() {
        row.is_unsafe = reader.takes_word("unsafe").then(|| reader.last());
        reader.sexpr()
    } else {
        let message = format!("`=>` and what `{}` means is missing behind this", row.name.text);
        Err(Error::new(reader.last(), message))
    };
    let body = body.map(|body| row.body = Some(body));
    source.rows.push(row);
    body
}

/// `kinds u64 { … }`
fn read_kinds(reader: &mut Reader, source: &mut Source, errors: &mut Errors) -> Result<(), Error> {
    let place = reader.here();
    let kinds = WrittenKinds::read(reader, errors)?;
    if source.kinds.is_some() {
        return Err(Error::new(place, "there is a set of kinds already, and an enum has one"));
    }
    source.kinds = Some(kinds);
    Ok(())
}

/// `macro ^name (,a ,b) body`
fn read_macro(reader: &mut Reader, source: &mut Source) -> Result<(), Error> {
    let usage = "a macro is `macro ^name (,a ,b) body`";
    let Sexpr::Macro(name, at) = reader.sexpr()? else { return Err(Error::new(reader.last(), usage)) };
    let Sexpr::List(items, place) = reader.sexpr()? else { return Err(Error::new(reader.last(), usage)) };
    let mut params = Vec::new();
    for item in &items {
        match item {
            Sexpr::Param(param, _) if !params.contains(param) => params.push(param.clone()),
            _ => return Err(Error::new(place, usage)),
        }
    }
    let body = reader.sexpr()?;
    if source.macros.insert(name.clone(), Macro { params, body }).is_some() {
        return Err(Error::new(at, format!("there is a macro `^{name}` already")));
    }
    Ok(())
}

/// The words of a path, joined to tokens.
fn path_of(words: &[Leaf]) -> Vec<Token> {
    let mut path = Vec::new();
    for (at, word) in words.iter().enumerate() {
        path.extend(if at == 0 { Vec::new() } else { made("::") });
        path.push(Token::Word(word.clone()));
    }
    path
}
