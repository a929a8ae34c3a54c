//! Judges of kinds of values: of a graph whose operators on kinds have been lowered, and of the laws that kinds promise.

use super::Violation;
use crate::ir::graph::Graph;
use crate::ir::index::Node;
use crate::ir::kinds::ValueKind;
use crate::vocab::{Op, Props, Type, Vocabulary};

/// The operators on kinds that are left.
pub fn kinds(graph: &Graph) -> Vec<Violation> {
    let is_left = |at: &usize| graph.vocab.info(graph.nodes[*at].op).props.contains(Props::KINDS);
    let left = (0..graph.nodes.len()).filter(is_left);
    let violation = |at| Violation {
        place: Node::from(at).to_string(),
        problem: "is an operator on kinds of values".into(),
    };
    left.map(violation).collect()
}

/// The laws of kinds that some examples break. Kinds of 64-bit integers and addresses are not tried, since it is unknown which
/// numbers they are about.
pub fn laws(kinds: &[ValueKind], vocab: Vocabulary) -> Vec<Violation> {
    let mut found = Vec::new();
    let mut wrong = |kind: &ValueKind, problem: String| {
        found.push(Violation { place: format!("kind `{}`", kind.name), problem });
    };
    let is_of = |kind: &ValueKind, word| kind.formula(Op::IS).evaluate(vocab, word) == Some(1);
    for (number, kind) in kinds.iter().enumerate() {
        for value in examples(kind.ty) {
            let Some(word) = kind.formula(Op::BOX).evaluate(vocab, value) else { break };
            if !is_of(kind, word) {
                wrong(kind, format!("the box of {value:#x}, {word:#x}, is not of the kind"));
            }
            let inside = kind.formula(Op::UNBOX).evaluate(vocab, word);
            if inside.is_some_and(|inside| inside != value && !are_nans(kind.ty, inside, value)) {
                wrong(kind, format!("in the box of {value:#x} is {:#x}", inside.unwrap_or(0)));
            }
            if let Some((_, other)) =
                kinds.iter().enumerate().find(|(at, other)| *at != number && is_of(other, word))
            {
                wrong(kind, format!("the box of {value:#x}, {word:#x}, is of kind `{}` too", other.name));
            }
        }
    }
    found
}

/// Some values of a type, as bits. The NaNs are those that arithmetic makes of numbers: others come from outside, and may be made
/// canonical there.
fn examples(ty: Type) -> Vec<u64> {
    match ty {
        Type::F64 => [0.0, -0.0, 1.5, -1e300, f64::MIN_POSITIVE, f64::INFINITY, f64::NEG_INFINITY, f64::NAN]
            .into_iter()
            .map(f64::to_bits)
            .chain([0xfff8 << 48])
            .collect(),
        Type::F32 => {
            [0.0, -2.5, f32::MAX, f32::NEG_INFINITY, f32::NAN].map(|value: f32| value.to_bits() as u64).into()
        }
        Type::I8 | Type::I16 | Type::I32 => {
            [0, 1, 2, 0x7f, 0x80, 0x1234_5678, u64::MAX, 1 << (ty.bits() - 1)]
                .map(|bits| ty.truncate(bits))
                .into()
        }
        _ => Vec::new(),
    }
}

fn are_nans(ty: Type, one: u64, other: u64) -> bool {
    match ty {
        Type::F64 => f64::from_bits(one).is_nan() && f64::from_bits(other).is_nan(),
        Type::F32 => f32::from_bits(one as u32).is_nan() && f32::from_bits(other as u32).is_nan(),
        _ => false,
    }
}
