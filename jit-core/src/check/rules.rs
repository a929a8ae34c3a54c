//! Judge of rewrite rules: both sides of a rule must be equal.
//!
//! In: a rule as `rewrite!` exposes it, and a source of random numbers. Out: for how many choices of types it matched, or the
//! operands for which its sides differ. For each choice of types, constants at edges of ranges and random ones are put into
//! the left side. If the rule then matches, both sides are evaluated on values that are chosen the same way. If the left side
//! would trap, it would not be executed, so the right side may be anything.

use super::Violation;
use crate::ir::graph::Graph;
use crate::ir::index::Node;
use crate::pass::rewrite::{Case, CaseConstant};
use crate::vocab::op::Param;
use crate::vocab::{Op, Props, Sig, Trap, Type, Vocabulary};

/// The number of combinations of values that are tried for each combination of constants. The number of the latter is a
/// multiple of it.
const TRIES: usize = 48;

/// Tries a rule on all its types. Returns for how many choices of types it ever matched.
pub fn rule(vocab: Vocabulary, case: &Case, random: &mut dyn FnMut() -> u64) -> Result<usize, Violation> {
    let mut n_matched = 0;
    for types in case.types {
        let mut trial =
            Trial { case, types, graph: Graph::new(vocab), leaves: Vec::new(), values: Vec::new() };
        let mut has_matched = false;
        let n_constants = if case.constants.is_empty() { 1 } else { TRIES * (1 + case.constants.len()) };
        for round in 0..n_constants {
            has_matched |= trial.round(round, random)?;
        }
        n_matched += has_matched as usize;
    }
    Ok(n_matched)
}

struct Trial<'a> {
    case: &'a Case,
    types: &'a [Type],
    graph: Graph,
    leaves: Vec<Node>,
    values: Vec<u64>,
}

impl Trial<'_> {
    /// Tries one choice of constants. Returns whether the rule matched.
    fn round(&mut self, round: usize, random: &mut dyn FnMut() -> u64) -> Result<bool, Violation> {
        self.graph.clear(self.graph.vocab);
        self.leaves.clear();
        for &ty in self.case.leaves {
            let sig = Sig { from: Type::Void, ty: self.types[ty] };
            let leaf = self.graph.add(Op::PARAM, sig, &[], 0, 0);
            self.leaves.push(leaf);
        }
        let constants: Vec<i64> =
            self.case.constants.iter().map(|constant| self.constant(*constant, round, random)).collect();
        let left = (self.case.left)(&mut self.graph, self.types, &self.leaves, &constants);
        let old = self.graph.inputs(left).to_vec();
        let Some(right) = (self.case.apply)(&mut self.graph, left) else { return Ok(false) };
        for value_round in 0..TRIES {
            self.values.clear();
            for at in 0..self.leaves.len() {
                let ty = self.graph.node(self.leaves[at]).ty();
                self.values.push(edge(ty, value_round.wrapping_mul(at * 7 + 1), random));
            }
            if self.case.in_place {
                let new = self.graph.inputs(right).to_vec();
                for (old, new) in core::iter::zip(&old, new) {
                    self.same_width(*old, new)?;
                    self.compare(*old, new, &constants)?;
                }
            } else {
                self.compare(left, right, &constants)?;
            }
        }
        Ok(true)
    }

    /// Checks that an operand that replaces another has the same width. Its type may differ, since the effect uses only its
    /// bits.
    fn same_width(&self, old: Node, new: Node) -> Result<(), Violation> {
        let [old, new] = [old, new].map(|node| self.graph.node(node).ty());
        if old.bits() == new.bits() {
            return Ok(());
        }
        let problem = format!("an operand of type {old} is one of type {new} on the right side");
        Err(Violation { place: self.case.text.to_string(), problem })
    }

    fn constant(&self, constant: CaseConstant, round: usize, random: &mut dyn FnMut() -> u64) -> i64 {
        match constant {
            CaseConstant::Value { ty } => self.types[ty].signed(edge(self.types[ty], round, random)),
            CaseConstant::Offset => edge(Type::I32, round, random) as u32 as i32 as i64,
            CaseConstant::Scale => 1 << (random() % 4),
        }
    }

    fn compare(&self, left: Node, right: Node, constants: &[i64]) -> Result<(), Violation> {
        let Ok(expected) = self.evaluate(left) else { return Ok(()) };
        let found = self.evaluate(right);
        let ty = self.graph.node(left).ty();
        let both_are_nan = || found.is_ok_and(|found| is_nan(ty, found)) && is_nan(ty, expected);
        if found == Ok(expected) || self.may_be_any_nan(left) && both_are_nan() {
            return Ok(());
        }
        Err(Violation {
            place: self.case.text.to_string(),
            problem: format!(
                "with types {:?}, constants {constants:?} and values {:x?} the left side is {expected:#x}, \
                 the right side {found:x?}",
                self.types, self.values
            ),
        })
    }

    /// Whether a value depends on an operator that may return any NaN.
    fn may_be_any_nan(&self, node: Node) -> bool {
        let is_open = |node| self.graph.vocab.info(self.graph.node(node).op).props.contains(Props::ANY_NAN);
        is_open(node) || self.graph.inputs(node).iter().any(|input| self.may_be_any_nan(*input))
    }

    fn evaluate(&self, node: Node) -> Result<u64, Trap> {
        if let Some(leaf) = self.leaves.iter().position(|leaf| *leaf == node) {
            return Ok(self.values[leaf]);
        }
        let data = self.graph.node(node);
        if data.op == Op::CONST {
            return Ok(data.imm);
        }
        let mut operands = Vec::new();
        for &input in self.graph.inputs(node) {
            operands.push(self.evaluate(input)?);
        }
        let info = self.graph.vocab.info(data.op);
        if info.params.iter().any(|param| *param != Param::Type) {
            operands.push(data.imm);
        }
        self.graph
            .vocab
            .evaluate(data.op, data.sig, &operands)
            .expect("rules are about operators with a meaning")
    }
}

fn is_nan(ty: Type, bits: u64) -> bool {
    match ty {
        Type::F32 => f32::from_bits(bits as u32).is_nan(),
        Type::F64 => f64::from_bits(bits).is_nan(),
        _ => false,
    }
}

/// A value of a type: at an edge of its range, or random with a random width.
fn edge(ty: Type, round: usize, random: &mut dyn FnMut() -> u64) -> u64 {
    const INTS: [i64; 12] = [0, 1, -1, 2, -2, 3, 5, 7, 10, i64::MIN, i64::MAX, 0x5555_5555_5555_5555];
    const FLOATS: [f64; 16] = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        0.5,
        2.0,
        f64::NAN,
        // A quiet and a signaling NaN, both different from the canonical one.
        f64::from_bits(0xfffc_0000_2000_0000),
        f64::from_bits(0x7ff4_0000_2000_0000),
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::MIN_POSITIVE,
        5e-324,
        f64::MAX,
        1e10,
        -1.5,
    ];
    let choice = random();
    // The first rounds take the edges in order, so that each edge is certainly tried.
    let pick = |n: usize| if round < n { round } else { choice as usize / 8 % n };
    let bits = match ty {
        Type::F32 if choice & 3 != 0 => (FLOATS[pick(FLOATS.len())] as f32).to_bits() as u64,
        Type::F64 if choice & 3 != 0 => FLOATS[pick(FLOATS.len())].to_bits(),
        Type::Flag => choice >> 5,
        _ if !ty.is_int() => random(),
        _ if round < INTS.len() => ty.truncate(INTS[round] as u64),
        _ => match choice % 6 {
            0 => INTS[choice as usize / 8 % INTS.len()] as u64,
            // The edges of the type's range, and powers of two and their neighbors.
            1 => (ty.mask() >> 1).wrapping_add(choice >> 8 & 1),
            2 => 1 << (choice >> 8 & 63),
            3 => (1u64 << (choice >> 8 & 63)).wrapping_add((choice >> 16) % 3).wrapping_sub(1),
            4 => random() >> (choice >> 8 & 63),
            _ => random(),
        },
    };
    ty.truncate(bits)
}
