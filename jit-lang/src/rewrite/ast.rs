//! Rows of `rewrite!` as they are written.
//!
//! ```text
//! pub static NAME;
//! pattern => result
//! pattern => result if (&condition $c $t) && (&another $c)
//! ```

use crate::place::Place;
use crate::token::Token;
use core::fmt;

/// One invocation.
#[derive(Clone, Debug)]
pub struct Rules {
    /// Attributes of the static.
    pub attributes: Vec<Token>,
    /// Its visibility.
    pub visibility: Vec<Token>,
    /// Its name.
    pub name: Token,
    /// The rules that could be read.
    pub rows: Vec<Row>,
}

/// One rule.
#[derive(Clone, Debug)]
pub struct Row {
    /// The pattern.
    pub left: Node,
    /// What replaces it.
    pub right: Term,
    /// What must hold besides.
    pub conditions: Vec<Call>,
    /// As it is written, for reports.
    pub text: String,
}

/// A name and where it stands.
#[derive(Clone, Debug)]
pub struct Name {
    /// The name.
    pub text: String,
    /// Where it stands.
    pub place: Place,
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Anything that may stand as an operand.
#[derive(Clone, Debug)]
pub enum Term {
    /// `_`
    Any(Place),
    /// `$name`, `$name:predicate`, `$name@(node)`
    Variable {
        /// The name.
        name: Name,
        /// What is asked of it.
        predicate: Option<Name>,
        /// The node that has the name.
        node: Option<Node>,
    },
    /// `1`, `-1.5`
    Literal {
        /// The number.
        value: Literal,
        /// Where it stands.
        place: Place,
    },
    /// `(operator …)`
    Node(Node),
    /// `(&path …)`
    Call(Call),
}

/// A constant as it is written.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Literal {
    /// An integer; as bits if it is larger than an `i64`.
    Int(i64),
    /// A float.
    Float(f64),
}

/// `(operator.types operand …)`
#[derive(Clone, Debug)]
pub struct Node {
    /// The operator's name.
    pub operator: Name,
    /// The types that stand behind it.
    pub types: Vec<TypeTerm>,
    /// Its operands, then its constants.
    pub operands: Vec<Term>,
}

/// `$t`, `$t:int`, `i32|i64`
#[derive(Clone, Debug)]
pub struct TypeTerm {
    /// The type variable.
    pub variable: Option<Name>,
    /// The types and classes of types that it may be.
    pub names: Vec<Name>,
}

/// `(&path argument …)`
#[derive(Clone, Debug)]
pub struct Call {
    /// The Rust function.
    pub path: Vec<Token>,
    /// What it takes.
    pub arguments: Vec<Term>,
    /// Where it stands.
    pub place: Place,
}

impl Term {
    /// Where it stands.
    pub fn place(&self) -> Place {
        match self {
            Term::Any(place) | Term::Literal { place, .. } => *place,
            Term::Variable { name, .. } => name.place,
            Term::Node(node) => node.operator.place,
            Term::Call(call) => call.place,
        }
    }
}
