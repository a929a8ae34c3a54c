//! Kinds of values: how a dynamic language packs numbers, pointers and the like into words of 64 bits.
//!
//! A word that may be of any kind is *boxed*. A bytecode type may have one set of kinds, which `kinds { … }` declares in
//! `template!`. For each kind there are three [`Formula`]s: whether a boxed value is of the kind, the value in a box of the kind, and the
//! box of a value.
//!
//! **Invariant:** the author of a set of kinds promises four laws, on which `pass::kinds` relies.
//!
//! - The box of a value is of its kind.
//! - What is in the box of a value is this value. If both are NaNs, their bits may differ.
//! - A word of a kind is the box of what is in it.
//! - No boxed value is of two kinds.

use super::graph::Graph;
use super::index::Node;
use super::template::Ref;
use crate::vocab::{Op, Sig, Type, Vocabulary};

/// A kind of values.
#[derive(Clone, Copy, Debug)]
pub struct ValueKind {
    /// Its name.
    pub name: &'static str,
    /// The type of its values outside of boxes; `Void` if there is only one value, so that there is nothing to take out.
    pub ty: Type,
    /// Whether a boxed value is of this kind: from 64 bits to a flag.
    pub is: Formula,
    /// The value in a box of this kind; empty if `ty` is `Void`.
    pub unbox: Formula,
    /// The box of a value; empty if `ty` is `Void`.
    pub make_box: Formula,
}

impl ValueKind {
    /// The formula that an operator on kinds stands for: `is`, `unbox` or `box`.
    ///
    /// # Panics
    ///
    /// If it is another operator.
    pub fn formula(&self, op: Op) -> Formula {
        match op {
            Op::IS => self.is,
            Op::UNBOX => self.unbox,
            Op::BOX => self.make_box,
            _ => panic!("{op:?} is no operator on kinds"),
        }
    }
}

impl ValueKind {
    /// The word that is the only one of this kind, if its formula compares with one.
    fn only_word(&self) -> Option<u64> {
        match self.is.terms {
            [word, is] if (word.op, is.op, is.sig.from) == (Op::CONST, Op::EQ, Type::I64) => {
                Some(word.imm as u64)
            }
            _ => None,
        }
    }
}

/// The value that a comparison compares with a constant, on whichever side that is, and the constant.
pub fn compared_with_constant(graph: &Graph, flag: Node) -> Option<(Node, u64)> {
    let [one, other] = graph.inputs(flag)[..] else { return None };
    match (graph.as_const(one), graph.as_const(other)) {
        (None, Some(bits)) => Some((one, bits)),
        (Some(bits), None) => Some((other, bits)),
        _ => None,
    }
}

/// What a flag tells of the kind of a value: a check of its kind, or a comparison with the only word of a kind.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct KindCheck {
    /// The value.
    pub value: Node,
    /// The kind.
    pub kind: u64,
    /// Whether the value is of the kind if the flag holds; otherwise it is of the kind if the flag does not hold.
    is_of: bool,
}

impl KindCheck {
    /// What a flag tells.
    pub fn of(graph: &Graph, flag: Node) -> Option<KindCheck> {
        let data = graph.node(flag);
        match data.op {
            Op::IS => Some(KindCheck { value: graph.inputs(flag)[0], kind: data.imm, is_of: true }),
            Op::EQ | Op::NE if data.sig.from == Type::I64 => {
                let (value, word) = compared_with_constant(graph, flag)?;
                let kind = graph.kinds.iter().position(|kind| kind.only_word() == Some(word))?;
                Some(KindCheck { value, kind: kind as u64, is_of: data.op == Op::EQ })
            }
            _ => None,
        }
    }

    /// The kinds of which the value may be where the flag holds, or where it does not.
    pub fn outcome(self, holds: bool) -> KindMask {
        if holds == self.is_of { KindMask::only(self.kind) } else { KindMask::but(self.kind) }
    }

    /// Whether the flag holds, if these are the kinds of which the value may be, and they decide that.
    pub fn decided_by(self, mask: KindMask) -> Option<bool> {
        mask.says(self.kind).map(|is_of| is_of == self.is_of)
    }
}

/// A set of kinds: those that a value may be of. One more member stands for all values that are of no kind.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct KindMask(u32);

impl KindMask {
    /// No kind: the value does not exist.
    pub const EMPTY: KindMask = KindMask(0);
    /// Nothing is known of the value.
    pub const ANY: KindMask = KindMask(u32::MAX);
    /// The value is of no kind.
    pub const NO_KIND: KindMask = KindMask(1 << MAX_KINDS);

    /// This kind alone.
    pub const fn only(kind: u64) -> KindMask {
        KindMask(1 << kind)
    }

    /// All but this kind.
    pub const fn but(kind: u64) -> KindMask {
        KindMask(!(1 << kind))
    }

    /// The kinds that are in both sets.
    pub const fn and(self, other: KindMask) -> KindMask {
        KindMask(self.0 & other.0)
    }

    /// The kinds that are in one of the sets.
    pub const fn or(self, other: KindMask) -> KindMask {
        KindMask(self.0 | other.0)
    }

    /// Whether a value is of this kind, if the set decides that.
    pub fn says(self, kind: u64) -> Option<bool> {
        match self.and(KindMask::only(kind)) {
            KindMask::EMPTY => Some(false),
            _ if self == KindMask::only(kind) => Some(true),
            _ => None,
        }
    }

    /// The only kind in the set.
    pub fn single(self) -> Option<u64> {
        let kind = self.0.trailing_zeros();
        (self.0.is_power_of_two() && kind < MAX_KINDS).then_some(kind as u64)
    }

    /// The names of the kinds in the set, `|` between them, or after a `!` those that are not; `None` if nothing is known of the value.
    ///
    /// ```
    /// # use azulejo_core::ir::kinds::{Formula, KindMask, ValueKind};
    /// # use azulejo_core::vocab::Type;
    /// # let none = Formula { terms: &[] };
    /// # let kind = |name| ValueKind { name, ty: Type::Void, is: none, unbox: none, make_box: none };
    /// let kinds = ["number", "table", "nil"].map(kind);
    /// assert_eq!(KindMask::only(0).or(KindMask::only(2)).describe(&kinds).as_deref(), Some("number|nil"));
    /// assert_eq!(KindMask::but(1).describe(&kinds).as_deref(), Some("!table"));
    /// assert_eq!(KindMask::ANY.describe(&kinds), None);
    /// ```
    pub fn describe(self, kinds: &[ValueKind]) -> Option<String> {
        let has = |kind: u64| self.and(KindMask::only(kind)) != KindMask::EMPTY;
        let names = |is_in: bool| {
            let all = kinds.iter().zip(0..).filter(|(_, kind)| has(*kind) == is_in);
            all.map(|(kind, _)| kind.name).collect::<Vec<_>>().join("|")
        };
        match self {
            KindMask::ANY => None,
            KindMask::EMPTY => Some("never".into()),
            KindMask::NO_KIND => Some("no kind".into()),
            _ if self.and(KindMask::NO_KIND) == KindMask::EMPTY => Some(names(true)),
            _ => Some(format!("!{}", names(false))),
        }
    }

    /// The kind of a boxed value that is a constant.
    pub fn of_constant(kinds: &[ValueKind], vocab: Vocabulary, bits: u64) -> KindMask {
        for (number, kind) in kinds.iter().enumerate() {
            match kind.is.evaluate(vocab, bits) {
                Some(0) => {}
                Some(_) => return KindMask::only(number as u64),
                None => return KindMask::ANY,
            }
        }
        KindMask::NO_KIND
    }
}

/// The maximum number of kinds in a set.
pub const MAX_KINDS: u32 = 31;

/// An expression without effects over one value, its argument.
#[derive(Clone, Copy, Debug)]
pub struct Formula {
    /// The operators in order. Value 0 is the argument, and each operator defines the next value. The last value is the result.
    pub terms: &'static [Term],
}

/// An operator in a [`Formula`].
#[derive(Clone, Copy, Debug)]
pub struct Term {
    /// The operator.
    pub op: Op,
    /// Its types.
    pub sig: Sig,
    /// Its operands, by number.
    pub inputs: &'static [Ref],
    /// Its constant, if it has one.
    pub imm: i64,
}

impl Formula {
    /// Computes the result from the bits of the argument; `None` if one of the operators has no reference meaning.
    pub fn evaluate(self, vocab: Vocabulary, argument: u64) -> Option<u64> {
        let mut values = Vec::with_capacity(1 + self.terms.len());
        values.push(argument);
        for term in self.terms {
            // No operator that only computes has more than three inputs, and its constant is behind them.
            let (mut operands, n_inputs) = ([term.imm as u64; 4], term.inputs.len());
            for (operand, input) in core::iter::zip(operands.get_mut(..n_inputs)?, term.inputs) {
                *operand = values[*input as usize];
            }
            values.push(vocab.evaluate(term.op, term.sig, operands.get(..=n_inputs)?)?.ok()?);
        }
        values.last().copied()
    }
}

/// Whether two sets of kinds have the same names in the same order.
pub(super) const fn are_alike(one: &[ValueKind], other: &[ValueKind]) -> bool {
    if one.len() != other.len() {
        return false;
    }
    let mut at = 0;
    while at < one.len() {
        if !is_same_name(one[at].name, other[at].name) {
            return false;
        }
        at += 1;
    }
    true
}

/// Whether two names are equal.
pub(super) const fn is_same_name(one: &str, other: &str) -> bool {
    let (one, other) = (one.as_bytes(), other.as_bytes());
    if one.len() != other.len() {
        return false;
    }
    let mut byte = 0;
    while byte < one.len() {
        if one[byte] != other[byte] {
            return false;
        }
        byte += 1;
    }
    true
}
