//! Rows of `rewrite!` as they are written.
//!
//! ```text
//! pub static NAME;
//! pattern => result
//! pattern => result if (&condition $c $t) && (&another $c)
//! ```

use crate::pattern::Node;
use crate::place::Place;
use crate::token::{Leaf, Token, text};
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
    pub left: Node<Term>,
    /// The replacement.
    pub right: Term,
    /// Additional conditions on the match.
    pub conditions: Vec<FunctionCall>,
}

/// An operand.
#[derive(Clone, Debug)]
pub enum Term {
    /// `_`
    Any(Place),
    /// `$name`, `$name:predicate`, `$name@(node)`
    Variable {
        /// The name.
        name: Leaf,
        /// The predicate that the value must satisfy.
        predicate: Option<Leaf>,
        /// The node that the name is bound to.
        node: Option<Node<Term>>,
    },
    /// `1`, `-1.5`
    Literal {
        /// The number.
        value: Literal,
        /// The number as written.
        text: String,
        /// The literal's place.
        place: Place,
    },
    /// `(operator …)`
    Node(Node<Term>),
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

impl fmt::Display for RuleRow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} => {}", self.left, self.right)?;
        for (at, condition) in self.conditions.iter().enumerate() {
            write!(f, " {} {condition}", if at == 0 { "if" } else { "&&" })?;
        }
        Ok(())
    }
}

impl fmt::Display for Term {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Term::Any(_) => f.write_str("_"),
            Term::Variable { name, predicate, node } => {
                write!(f, "${name}")?;
                predicate.iter().try_for_each(|predicate| write!(f, ":{predicate}"))?;
                node.iter().try_for_each(|node| write!(f, "@{node}"))
            }
            Term::Literal { text, .. } => f.write_str(text),
            Term::Node(node) => node.fmt(f),
            Term::Call(call) => call.fmt(f),
        }
    }
}

impl fmt::Display for FunctionCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "(&{}", text(&self.path))?;
        self.arguments.iter().try_for_each(|argument| write!(f, " {argument}"))?;
        f.write_str(")")
    }
}
