//! `(&field Struct, name)`: the offset of a field together with its type.
//!
//! In: descriptions of structs, which precede the rows. Out: a field's scalar type.

use super::check::{Checked, Checker, fail};
use crate::place::Place;
use crate::reader::Reader;
use crate::sexpr::{Name, Sexpr};
use crate::token::{Delimiter, Token, made, text};
use crate::words::did_you_mean;
use azulejo_core::vocab::Scalar;
use std::collections::HashMap;

const USAGE: &str = "`(&field Struct, name)` stands where the type of a load or store stands";

/// The type of a field, as its struct declares it.
#[derive(Clone, Debug)]
enum Told {
    Scalar(Scalar),
    /// The name of a type that is no scalar.
    Other(String),
}

/// The fields of structs, by the structs' paths as they are written.
#[derive(Clone, Debug, Default)]
pub struct Structs(HashMap<String, Vec<(String, Told)>>);

impl Structs {
    /// Whether the fields of the struct with this path are known.
    pub fn know(&self, path: &str) -> bool {
        self.0.contains_key(path)
    }

    /// Reads the descriptions of structs that precede the rows.
    pub fn read(reader: &mut Reader) -> Structs {
        let mut structs = Structs::default();
        while reader.takes_word("struct") {
            let (Some(path), Some(fields)) = (reader.group(Delimiter::Brace), reader.group(Delimiter::Brace))
            else {
                break;
            };
            let mut fields = Reader::new(fields.tokens);
            let mut told = Vec::new();
            while let (Some(name), Some(_), Some(ty), Some(_)) =
                (fields.next(), fields.next(), fields.next(), fields.next())
            {
                let ty = match ty {
                    Token::Word(ty) => Scalar::from_name(&ty.text).map(Told::Scalar),
                    other => Some(Told::Other(other.to_string().trim_matches('"').to_string())),
                };
                told.extend(ty.map(|ty| (name.to_string(), ty)));
            }
            structs.0.insert(text(&path.tokens), told);
        }
        structs
    }
}

impl Checker<'_> {
    /// The scalar type and the `offset_of!` arguments of a field, if an expression in the position of a type is `(&field …)`.
    pub(super) fn field<'a>(&self, written: &'a Sexpr) -> Checked<Option<(Scalar, &'a [Token])>> {
        let Sexpr::Constant(word, Some(args), place) = written else { return Ok(None) };
        if text(word) != "field" {
            return Ok(None);
        }
        let mut reader = Reader::new(args.clone());
        let (Some((path, _)), true, Some(name), true) =
            (reader.path(), reader.takes_punct(','), reader.next(), reader.is_empty())
        else {
            return fail(*place, format!("{USAGE}; it names one field of a struct without parameters"));
        };
        let path = text(&path);
        self.is_told(&path, *place)?;
        let instead = format!(
            ": `(&offset_of {path}, {name})` says where it is, and a type of the template language as what it is read"
        );
        let scalar = self.scalar_of_field(&path, &name.to_string(), name.place(), &instead)?;
        Ok(Some((scalar, args)))
    }

    /// Checks that the fields of a struct are known.
    pub(super) fn is_told(&self, path: &str, place: Place) -> Checked<()> {
        match self.structs.know(path) {
            true => Ok(()),
            false => fail(
                place,
                format!(
                    "`{path}` is not asked for its fields: write the struct out, here or where the macro is"
                ),
            ),
        }
    }

    /// The scalar type of a field of a struct whose fields are known. `instead` is said of a field of another type.
    pub(super) fn scalar_of_field(
        &self,
        path: &str,
        name: &str,
        place: Place,
        instead: &str,
    ) -> Checked<Scalar> {
        let fields = &self.structs.0[path];
        match fields.iter().find(|(known, _)| known == name) {
            Some((_, Told::Scalar(scalar))) => Ok(*scalar),
            Some((_, Told::Other(ty))) => {
                let message = format!(
                    "`{name}` is `{ty}`, which is not called like a number or a raw pointer{instead}"
                );
                fail(place, message)
            }
            None => {
                let hint = did_you_mean(name, fields.iter().map(|(known, _)| known.as_str()));
                fail(place, format!("`{path}` has no field `{name}`{hint}"))
            }
        }
    }
}

/// The address of a field, given the address of its struct.
pub(super) fn address(of: &Sexpr, field: &[Token], place: Place) -> Sexpr {
    let offset = Sexpr::Constant(made("offset_of"), Some(field.to_vec()), place);
    Sexpr::List(vec![Sexpr::Word(made("addr"), Name::written("addr"), place), of.clone(), offset], place)
}

/// The error for a `(&field …)` that is not in the position of a type.
pub(super) fn misplaced<T>(place: Place) -> Checked<T> {
    fail(place, USAGE)
}
