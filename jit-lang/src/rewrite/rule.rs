//! A checked and typed rewrite rule.
//!
//! In: patterns and replacements as the checker types them. Out: [`Rule`], and the forms of its pattern, in which operands of
//! commutative operators are swapped.

use super::ast::Literal;
use crate::token::Token;
use azulejo_core::grammar::Predicate;
use azulejo_core::vocab::op::{Param, Props};
use azulejo_core::vocab::{Op, Type, Vocabulary};

/// The number of a type variable.
pub type TypeVar = usize;

/// A checked and typed rule.
#[derive(Clone, Debug)]
pub struct Rule {
    /// The rule's text, for reports.
    pub text: String,
    /// The pattern, followed by the variants of it in which operands of commutative operators are swapped.
    pub forms: Vec<Matched>,
    /// The replacement.
    pub right: Built,
    /// Additional conditions on the match.
    pub conditions: Vec<Value>,
    /// The number of type variables that the pattern binds. Each assignment has a type for each of them.
    pub n_types: usize,
    /// Every assignment of types under which the rule holds.
    pub assignments: Vec<Vec<Type>>,
    /// The type of each leaf.
    pub leaves: Vec<TypeVar>,
    /// The constants that the pattern binds.
    pub constants: Vec<BoundConstant>,
    /// Whether the root is updated in place, with new operands.
    pub in_place: bool,
}

/// A constant that the pattern binds.
#[derive(Clone, Copy, Debug)]
pub struct BoundConstant {
    /// Its type.
    pub ty: TypeVar,
    /// `None` for the value of a `const`.
    pub param: Option<Param>,
}

/// A part of a pattern.
#[derive(Clone, Debug)]
pub enum Matched {
    /// Any node. Leaves with equal numbers must match the same node.
    Leaf {
        /// The leaf's number within the rule.
        number: usize,
        /// Whether a constant is rejected.
        must_vary: bool,
    },
    /// A node with a given operator.
    Node(MatchedNode),
}

/// A node of a pattern.
#[derive(Clone, Debug)]
pub struct MatchedNode {
    /// Its operator.
    pub op: Op,
    /// The type of its operands.
    pub from: TypeVar,
    /// The type of its result.
    pub ty: TypeVar,
    /// The patterns of its operands.
    pub operands: Vec<Matched>,
    /// The pattern of its constant.
    pub imm: Option<MatchedConstant>,
    /// The number by which the right side may name this node.
    pub capture: Option<usize>,
}

/// The pattern of a constant.
#[derive(Clone, Debug)]
pub enum MatchedConstant {
    /// Binds a name. Constants with equal numbers must have the same value.
    Bind {
        /// The constant's number within the rule.
        number: usize,
        /// The predicate that the constant must satisfy.
        predicate: Option<Predicate>,
    },
    /// Matches this literal only.
    Is(Literal),
    /// Matches any constant, and binds it to this number of the rule's constants.
    Any(usize),
}

/// A part of a right side.
#[derive(Clone, Debug)]
pub enum Built {
    /// A leaf that the pattern matched.
    Leaf(usize),
    /// A node that the pattern captured.
    Capture(usize),
    /// A constant.
    Constant {
        /// Its type.
        ty: TypeVar,
        /// Its value.
        value: Value,
    },
    /// A node.
    Node {
        /// Its operator.
        op: Op,
        /// The type of its operands.
        from: TypeVar,
        /// The type of its result.
        ty: TypeVar,
        /// Its operands.
        operands: Vec<Built>,
        /// Its constant.
        imm: Option<Value>,
    },
}

/// A constant expression.
#[derive(Clone, Debug)]
pub enum Value {
    /// A number.
    Literal(Literal),
    /// A constant that the pattern bound.
    Constant(usize),
    /// The type that a type variable stands for.
    Type(TypeVar),
    /// The result of a Rust function.
    Call {
        /// The function.
        path: Vec<Token>,
        /// The arguments.
        arguments: Vec<Value>,
    },
}

/// The number of times that each leaf occurs in a pattern.
pub(super) fn count_leaves(pattern: &Matched, n_leaves: usize) -> Vec<usize> {
    fn count(pattern: &Matched, counts: &mut [usize]) {
        match pattern {
            Matched::Leaf { number, .. } => counts[*number] += 1,
            Matched::Node(node) => node.operands.iter().for_each(|operand| count(operand, counts)),
        }
    }
    let mut counts = vec![0; n_leaves];
    count(pattern, &mut counts);
    counts
}

/// The pattern, and its variants with operands of commutative operators swapped, where such a variant matches something else.
pub(super) fn forms(pattern: &Matched, counts: &[usize]) -> Vec<Matched> {
    let Matched::Node(node) = pattern else { return vec![pattern.clone()] };
    let mut all = vec![Vec::new()];
    for operand in &node.operands {
        let operand = forms(operand, counts);
        let extend = |start: &Vec<Matched>, form: &Matched| [&start[..], std::slice::from_ref(form)].concat();
        all = all.iter().flat_map(|start| operand.iter().map(move |form| extend(start, form))).collect();
    }
    let is_free = |operand: &Matched| matches!(operand, Matched::Leaf { number, must_vary: false } if counts[*number] == 1);
    let commutes = Vocabulary::BUILTIN.info(node.op).props.contains(Props::COMMUTES);
    let mut found: Vec<Vec<Matched>> = Vec::new();
    for operands in all {
        let can_swap = commutes
            && !matches!(&operands[1], Matched::Node(node) if node.op == Op::CONST)
            && !(is_free(&operands[0]) && is_free(&operands[1]));
        let swapped = can_swap.then(|| vec![operands[1].clone(), operands[0].clone()]);
        found.push(operands);
        found.extend(swapped);
    }
    found.into_iter().map(|operands| Matched::Node(MatchedNode { operands, ..node.clone() })).collect()
}

pub(super) fn rename_matched(matched: Matched, rename: &dyn Fn(TypeVar) -> TypeVar) -> Matched {
    match matched {
        Matched::Leaf { .. } => matched,
        Matched::Node(node) => Matched::Node(MatchedNode {
            from: rename(node.from),
            ty: rename(node.ty),
            operands: node.operands.into_iter().map(|operand| rename_matched(operand, rename)).collect(),
            ..node
        }),
    }
}

pub(super) fn rename_built(built: Built, rename: &dyn Fn(TypeVar) -> TypeVar) -> Built {
    match built {
        Built::Constant { ty, value } => {
            Built::Constant { ty: rename(ty), value: rename_value(value, rename) }
        }
        Built::Node { op, from, ty, operands, imm } => Built::Node {
            op,
            from: rename(from),
            ty: rename(ty),
            operands: operands.into_iter().map(|operand| rename_built(operand, rename)).collect(),
            imm: imm.map(|value| rename_value(value, rename)),
        },
        other => other,
    }
}

pub(super) fn rename_value(value: Value, rename: &dyn Fn(TypeVar) -> TypeVar) -> Value {
    match value {
        Value::Type(ty) => Value::Type(rename(ty)),
        Value::Call { path, arguments } => Value::Call {
            path,
            arguments: arguments.into_iter().map(|value| rename_value(value, rename)).collect(),
        },
        other => other,
    }
}
