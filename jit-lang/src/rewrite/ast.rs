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

/// One invocation of `rewrite!`.
#[derive(Clone, Debug)]
pub struct Rules {
    /// Attributes of the static.
    pub attributes: Vec<Token>,
    /// Its visibility.
    pub visibility: Vec<Token>,
    /// Its name.
    pub name: Token,
    /// The rules that could be read.
    pub rows: Vec<RuleRow>,
}

/// One rule.
#[derive(Clone, Debug)]
pub struct RuleRow {
    /// The pattern.
    pub left: Node,
    /// The replacement.
    pub right: Term,
    /// Additional conditions on the match.
    pub conditions: Vec<FunctionCall>,
    /// The rule's text, for reports.
    pub text: String,
}

/// A name and its place.
#[derive(Clone, Debug)]
pub struct WordAt {
    /// The name.
    pub text: String,
    /// The name's place.
    pub place: Place,
}

impl fmt::Display for WordAt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// An operand.
#[derive(Clone, Debug)]
pub enum Term {
    /// `_`
    Any(Place),
    /// `$name`, `$name:predicate`, `$name@(node)`
    Variable {
        /// The name.
        name: WordAt,
        /// The predicate that the value must satisfy.
        predicate: Option<WordAt>,
        /// The node that the name is bound to.
        node: Option<Node>,
    },
    /// `1`, `-1.5`
    Literal {
        /// The number.
        value: Literal,
        /// The literal's place.
        place: Place,
    },
    /// `(operator …)`
    Node(Node),
    /// `(&path …)`
    Call(FunctionCall),
}

/// A literal.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Literal {
    /// An integer. One larger than an `i64` is stored as its bits.
    Int(i64),
    /// A float.
    Float(f64),
}

/// `(operator.types operand …)`
#[derive(Clone, Debug)]
pub struct Node {
    /// The operator's name.
    pub operator: WordAt,
    /// The types written after the operator.
    pub types: Vec<TypeTerm>,
    /// Its operands, then its constants.
    pub operands: Vec<Term>,
}

/// `$t`, `$t:int`, `i32|i64`
#[derive(Clone, Debug)]
pub struct TypeTerm {
    /// The type variable.
    pub variable: Option<WordAt>,
    /// The types and type classes that are allowed.
    pub names: Vec<WordAt>,
}

/// `(&path argument …)`
#[derive(Clone, Debug)]
pub struct FunctionCall {
    /// The Rust function.
    pub path: Vec<Token>,
    /// The arguments.
    pub arguments: Vec<Term>,
    /// The call's place.
    pub place: Place,
}

impl Term {
    /// The term's place.
    pub fn place(&self) -> Place {
        match self {
            Term::Any(place) | Term::Literal { place, .. } => *place,
            Term::Variable { name, .. } => name.place,
            Term::Node(node) => node.operator.place,
            Term::Call(call) => call.place,
        }
    }
}
