//! Parses `tileset!`: the description of a set, and the parts that other macros passed on.
//!
//! In: `pub static NAME: …;`, and then again and again that description with one more part. Out: what to ask for next, and in
//! the end the tiles of all groups. [`super::compile()`] makes a set of them.

use super::ast::{SetHeader, SetPart, Tile};
use super::parse::{self, braces, path, refuse, visibility};
use crate::place::{Error, Parsed, Place};
use crate::reader::Reader;
use crate::token::{Delimiter, Leaf, Token, made, visible};

/// Parses `pub static NAME: machine = …; features = …; groups = …;` and `extends`, in any order after the name.
///
/// # Errors
///
/// The first error.
pub fn header(tokens: Vec<Token>) -> Result<SetHeader, Error> {
    let mut reader = Reader::new(visible(tokens));
    let visibility = visibility(&mut reader);
    let here = reader.here();
    if !reader.takes_word("static") {
        return refuse(here, "name the set first: `pub static TILES: …`");
    }
    let name = reader.name("the set's name")?;
    reader.punct(':')?;
    let mut header = SetHeader {
        visibility,
        name,
        extends: None,
        machine: None,
        features: Vec::new(),
        groups: Vec::new(),
        operators: None,
        is_partial: false,
    };
    while !reader.is_empty() {
        entry(&mut reader, &mut header)?;
        if !reader.is_empty() {
            reader.punct(';')?;
        }
    }
    Ok(header)
}

/// Parses what describes one thing of a set.
fn entry(reader: &mut Reader, header: &mut SetHeader) -> Parsed<()> {
    let word = reader.name("what describes the set")?;
    match word.text.as_str() {
        "extends" => {
            header.extends = Some(set_path(reader)?);
            return Ok(());
        }
        "partial" => {
            header.is_partial = true;
            return Ok(());
        }
        "machine" | "operators" | "features" | "groups" => reader.punct('=')?,
        _ => {
            let known = "extends, machine, features, groups, operators, partial";
            return refuse(word.place, format!("a tile set is described by: {known}"));
        }
    }
    match word.text.as_str() {
        "machine" => header.machine = Some(path(reader)?.0),
        "operators" => header.operators = Some(path(reader)?.0),
        "features" => {
            while !reader.is_punct(';') {
                header.features.push(reader.name("a feature")?);
            }
        }
        _ => {
            while !reader.is_punct(';') {
                header.groups.push(path(reader)?.0);
                reader.takes_punct(',');
            }
        }
    }
    Ok(())
}

/// Parses the path of a set: that of its crate, and its name.
fn set_path(reader: &mut Reader) -> Parsed<(Vec<Token>, Leaf)> {
    const SEPARATOR: usize = "::".len();
    let (mut tokens, mut words) = path(reader)?;
    let name = words.pop().filter(|_| matches!(tokens.last(), Some(Token::Word(_))));
    let Some(name) = name else { return refuse(reader.here(), "which set?") };
    if words.is_empty() {
        return refuse(name.place, "name the set with its crate: `azulejo::x64::X64`");
    }
    tokens.truncate(tokens.len() - 1 - SEPARATOR);
    Ok((tokens, name))
}

fn not_for_users() -> Error {
    Error::new(Place::NOWHERE, "this is called by `tileset!` only")
}

/// Parses `{ header } { collected parts }`, followed for operators by `{ path } { rows }`. Returns the parts as tokens.
///
/// # Errors
///
/// The first error in the header.
pub fn step(tokens: Vec<Token>) -> Result<(SetHeader, Vec<Token>), Error> {
    let mut reader = Reader::new(tokens);
    let mut group = || reader.group(Delimiter::Brace).ok_or_else(not_for_users);
    let (header, mut done) = (self::header(group()?.tokens)?, group()?.tokens);
    if !reader.is_empty() {
        done.extend(made("operators"));
        done.extend(reader.rest());
    }
    Ok((header, done))
}

/// Parses `group { path } { tiles }`, `set { path; name } { features } { tiles }` and `operators { path } { rows }`.
///
/// # Errors
///
/// The first error.
pub fn collected(tokens: Vec<Token>) -> Result<Vec<SetPart>, Error> {
    let mut reader = Reader::new(tokens);
    let mut parts = Vec::new();
    while !reader.is_empty() {
        let kind = reader.name("a part of a set")?;
        let mut content = Reader::inside(braces(&mut reader, "the part's path")?);
        let (path, _) = path(&mut content)?;
        parts.push(match kind.text.as_str() {
            "group" => SetPart::Group { path, tiles: passed_on(&mut reader)? },
            "set" => {
                content.punct(';')?;
                let name = content.name("the set's name")?;
                let mut names = Reader::inside(braces(&mut reader, "the set's features")?);
                let mut features = Vec::new();
                while !names.is_empty() {
                    features.push(names.name("a feature")?);
                }
                SetPart::Set { path, name, features, tiles: passed_on(&mut reader)? }
            }
            _ => SetPart::Operators { path, rows: braces(&mut reader, "the operators")?.tokens },
        });
    }
    Ok(parts)
}

/// Parses tiles without emitters, each with a semicolon behind it.
fn passed_on(reader: &mut Reader) -> Parsed<Vec<Tile>> {
    let mut content = Reader::inside(braces(reader, "tiles")?);
    let mut tiles = Vec::new();
    while !content.is_empty() {
        let mut head = Vec::new();
        while !content.is_empty() && !content.is_punct(';') {
            head.extend(content.next());
        }
        tiles.push(parse::tile(visible(head), content.here())?);
        content.punct(';')?;
    }
    Ok(tiles)
}
