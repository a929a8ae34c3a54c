//! Where things were written, and what is wrong there.

use core::fmt;

/// Where something was written: from one number to another, which mean something to whoever made the tokens.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Place {
    /// Where it begins.
    pub first: u32,
    /// Where its last token begins.
    pub last: u32,
}

impl Place {
    /// Of what stands in no source.
    pub const NOWHERE: Place = Place::at(u32::MAX);

    /// Of a token.
    pub const fn at(number: u32) -> Place {
        Place { first: number, last: number }
    }

    /// From here to there.
    pub fn to(self, end: Place) -> Place {
        Place { first: self.first, last: end.last }
    }
}

/// What is wrong, and where.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Error {
    /// The part of the row that is wrong.
    pub place: Place,
    /// What is wrong with it.
    pub message: String,
}

impl Error {
    /// What is wrong at a place.
    pub fn new(place: Place, message: impl fmt::Display) -> Error {
        Error { place, message: message.to_string() }
    }
}

/// Every mistake found so far.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Errors(pub Vec<Error>);

impl Errors {
    /// Adds one.
    pub fn add(&mut self, place: Place, message: impl fmt::Display) {
        self.0.push(Error::new(place, message));
    }
}
