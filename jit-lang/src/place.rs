//! Source places, and errors reported at them.

use core::fmt;

/// A range of source, as two numbers. Only the producer of the tokens knows what the numbers stand for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Place {
    /// The number at which the range begins.
    pub first: u32,
    /// The number at which its last token begins.
    pub last: u32,
}

impl Place {
    /// The place of a token that comes from no source.
    pub const NOWHERE: Place = Place::at(u32::MAX);

    /// The place of a single token.
    pub const fn at(number: u32) -> Place {
        Place { first: number, last: number }
    }

    /// The range from the start of `self` to the end of `end`.
    pub fn to(self, end: Place) -> Place {
        Place { first: self.first, last: end.last }
    }
}

/// An error message and the place it refers to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Error {
    /// The part of the row that is wrong.
    pub place: Place,
    /// What is wrong with that part.
    pub message: String,
}

impl Error {
    /// An error at a place.
    pub fn new(place: Place, message: impl fmt::Display) -> Error {
        Error { place, message: message.to_string() }
    }
}

/// What was read, or the first error.
pub type Parsed<T> = Result<T, Error>;

/// All errors found so far.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Errors(pub Vec<Error>);

impl Errors {
    /// Adds an error.
    pub fn add(&mut self, place: Place, message: impl fmt::Display) {
        self.0.push(Error::new(place, message));
    }
}
