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

/// The laws of kinds that some examples break: values of the types that kinds have, and words near the constants in their formulas.
pub fn laws(kinds: &[ValueKind], vocab: Vocabulary) -> Vec<Violation> {
    let words = words(kinds);
    let mut found = Vec::new();
    let is_of = |kind: &ValueKind, word| is_of(kind, word, vocab);
    for (number, kind) in kinds.iter().enumerate() {
        // One example of each law is told.
        let (mut strange, mut changed, mut shared) = (None, None, None);
        let others = || kinds.iter().enumerate().filter(|(at, _)| *at != number).map(|(_, other)| other);
        for value in examples(kind.ty).unwrap_or_else(|| values_in(kind, &words, vocab)) {
            let Some(word) = kind.formula(Op::BOX).evaluate(vocab, value) else { break };
            if !is_of(kind, word) {
                strange.get_or_insert(format!("the box of {value:#x}, {word:#x}, is not of the kind"));
            }
            let inside = kind.formula(Op::UNBOX).evaluate(vocab, word);
            if let Some(inside) = inside
                && inside != value
                && !are_nans(kind.ty, inside, value)
            {
                changed.get_or_insert(format!("in the box of {value:#x} is {inside:#x}"));
            }
            if let Some(other) = others().find(|other| is_of(other, word)) {
                let name = other.name;
                shared.get_or_insert(format!("the box of {value:#x}, {word:#x}, is of kind `{name}` too"));
            }
        }
        for word in words.iter().filter(|word| is_of(kind, **word)) {
            if let Some(other) = kinds[number + 1..].iter().find(|other| is_of(other, *word)) {
                shared.get_or_insert(format!("the word {word:#x} is of kind `{}` too", other.name));
            }
        }
        let problems = [strange, changed, shared].into_iter().flatten();
        found.extend(problems.map(|problem| Violation { place: format!("kind `{}`", kind.name), problem }));
    }
    found
}

/// Whether a word is of a kind.
fn is_of(kind: &ValueKind, word: u64, vocab: Vocabulary) -> bool {
    kind.is.evaluate(vocab, word) == Some(1)
}

/// Words of which one of the kinds may be a word, and those next to them: the formulas' constants, also at the places to which the formulas
/// shift.
fn words(kinds: &[ValueKind]) -> Vec<u64> {
    /// The low bits of an address.
    const LOW: u64 = 0x1230;
    let formulas = kinds.iter().flat_map(|kind| [kind.is, kind.unbox, kind.make_box]);
    let terms = formulas.flat_map(|formula| formula.terms).filter(|term| term.op == Op::CONST);
    let mut constants: Vec<u64> = terms.map(|term| term.imm as u64).collect();
    constants.sort_unstable();
    constants.dedup();
    let places =
        || core::iter::once(0).chain(constants.iter().copied().filter(|place| (1..64).contains(place)));
    let placed = constants.iter().flat_map(|tag| places().map(move |place| (*tag, place)));
    let whole = placed.filter(|(tag, place)| tag << place >> place == *tag);
    let tags = whole.map(|(tag, place)| tag << place);
    let mut words: Vec<u64> =
        tags.flat_map(|tag| [tag.wrapping_sub(1), tag, tag.wrapping_add(1), tag | LOW]).collect();
    words.sort_unstable();
    words.dedup();
    words
}

/// The values that are in words of a kind.
fn values_in(kind: &ValueKind, words: &[u64], vocab: Vocabulary) -> Vec<u64> {
    let of_kind = words.iter().filter(|word| is_of(kind, **word, vocab));
    of_kind.filter_map(|word| kind.unbox.evaluate(vocab, *word)).collect()
}

/// Some values of a type, as bits; `None` if only the kind tells which numbers or addresses it is about. The NaNs are those that arithmetic
/// makes of numbers: others come from outside, and may be made canonical there.
fn examples(ty: Type) -> Option<Vec<u64>> {
    let values = match ty {
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
        Type::Void => Vec::new(),
        _ => return None,
    };
    Some(values)
}

fn are_nans(ty: Type, one: u64, other: u64) -> bool {
    match ty {
        Type::F64 => f64::from_bits(one).is_nan() && f64::from_bits(other).is_nan(),
        Type::F32 => f32::from_bits(one as u32).is_nan() && f32::from_bits(other as u32).is_nan(),
        _ => false,
    }
}
