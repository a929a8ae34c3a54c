//! The syntax that the patterns of tiles and of rewrite rules share.
//!
//! In: tokens. Out: `(operator.types operand …)`, with operands of the language's own kind, names with a `$`, and type
//! suffixes, without any meaning attached.

use crate::place::Parsed;
use crate::reader::Reader;
use crate::token::{Leaf, Token};
use azulejo_core::grammar::TypeSpec;
use core::fmt;

/// The names that type suffixes may have, for errors.
pub const TYPES: &str = "i8 i16 i32 i64 f32 f64, and the classes int wide float value";

/// `(operator.types operand …)`
#[derive(Clone, Debug)]
pub struct Node<T> {
    /// The operator's name.
    pub operator: Leaf,
    /// The types written after the operator.
    pub types: Vec<TypeTerm>,
    /// Its operands, then its constants.
    pub operands: Vec<T>,
}

/// `$t`, `$t:int`, `i32|i64`
#[derive(Clone, Debug)]
pub struct TypeTerm {
    /// The type variable.
    pub variable: Option<Leaf>,
    /// The types and type classes that are allowed.
    pub names: Vec<Leaf>,
}

/// `$name`, `$name:predicate`, or the `$name@` before an operand
#[derive(Clone, Debug)]
pub struct Dollar {
    /// The name.
    pub name: Leaf,
    /// The predicate on what the name stands for.
    pub predicate: Option<Leaf>,
    /// Whether the operand that the name is bound to follows.
    pub is_binding: bool,
}

/// The types that a type's name or the name of a class stands for, as bits by discriminant.
pub fn types(name: &Leaf) -> Option<u8> {
    TypeSpec::named(&name.text)
}

impl Reader {
    /// Whether a `$` comes next.
    pub fn is_dollar(&self) -> bool {
        self.peek().is_some_and(Token::is_dollar)
    }

    /// Reads what follows the operator's name, to the end of the parentheses.
    pub fn node<T>(
        &mut self,
        operator: Leaf,
        mut operand: impl FnMut(&mut Reader) -> Parsed<T>,
    ) -> Parsed<Node<T>> {
        let (mut types, mut operands) = (Vec::new(), Vec::new());
        while self.takes_punct('.') {
            types.push(self.type_term()?);
        }
        while !self.is_empty() {
            operands.push(operand(self)?);
        }
        Ok(Node { operator, types, operands })
    }

    /// Reads `$name`, `$name:predicate` or `$name@`.
    pub fn dollar(&mut self) -> Parsed<Dollar> {
        let name = self.behind_dollar()?;
        let predicate = if self.takes_punct(':') { Some(self.name("a predicate")?) } else { None };
        let is_binding = predicate.is_none() && self.takes_punct('@');
        Ok(Dollar { name, predicate, is_binding })
    }

    fn type_term(&mut self) -> Parsed<TypeTerm> {
        let mut term = TypeTerm { variable: None, names: Vec::new() };
        if self.is_dollar() {
            term.variable = Some(self.behind_dollar()?);
            if !self.takes_punct(':') {
                return Ok(term);
            }
        }
        loop {
            term.names.push(self.name("a type or a class of types")?);
            if !self.takes_punct('|') {
                return Ok(term);
            }
        }
    }

    fn behind_dollar(&mut self) -> Parsed<Leaf> {
        self.any("`$`")?;
        self.name("a name after `$`")
    }
}

impl<T: fmt::Display> fmt::Display for Node<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "({}", self.operator)?;
        self.types.iter().try_for_each(|term| write!(f, ".{term}"))?;
        self.operands.iter().try_for_each(|operand| write!(f, " {operand}"))?;
        f.write_str(")")
    }
}

impl fmt::Display for TypeTerm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(variable) = &self.variable {
            write!(f, "${variable}{}", if self.names.is_empty() { "" } else { ":" })?;
        }
        let names: Vec<&str> = self.names.iter().map(|name| name.text.as_str()).collect();
        f.write_str(&names.join("|"))
    }
}
