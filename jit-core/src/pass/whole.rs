//! Floats that are whole numbers: what passes know of loops' counters.
//!
//! A float that counts is a parameter of a loop's head, which is changed each time around by a constant whole number of at most
//! [`LONGEST_STEP`]. It starts less than twice [`FURTHEST_START`] away from zero. Floats are exact up to 2^53; until it comes there it goes
//! around at least 2^51 times. That takes six days if a processor does it in one of four billion cycles a second, so whoever counts in
//! integers beside it has the same number.

use crate::ir::graph::Graph;
use crate::ir::index::Node;
use crate::vocab::{Op, Sig, Type};

/// How far a counter goes at a time.
pub(super) const LONGEST_STEP: i64 = 2;

/// How far from zero a counter starts.
pub(super) const FURTHEST_START: i64 = 1 << 32;

/// How many additions of constants are looked through.
const MAX_ADDITIONS: usize = 4;

/// A float that is a constant whole number away from another one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Distance {
    pub(super) from: Node,
    pub(super) by: i64,
}

/// How far a float is from another one, to which constants were added.
pub(super) fn distance(graph: &Graph, float: Node) -> Option<Distance> {
    distance_until(graph, float, |_| false)
}

/// Likewise, but the other one is the first for which `is_enough` holds, if there is such a one on the way.
pub(super) fn distance_until(
    graph: &Graph,
    float: Node,
    is_enough: impl Fn(Node) -> bool,
) -> Option<Distance> {
    let mut distance = Distance { from: float, by: 0 };
    for _ in 0..MAX_ADDITIONS {
        distance.from = out_of_box(graph, distance.from);
        let Some((from, by)) = step(graph, distance.from) else { break };
        distance = Distance { from, by: distance.by + by };
        if is_enough(from) {
            break;
        }
    }
    (distance.by.abs() <= FURTHEST_START).then_some(distance)
}

/// What a float is the sum of, if that is another one and a constant whole number.
fn step(graph: &Graph, float: Node) -> Option<(Node, i64)> {
    let data = graph.node(float);
    if !matches!(data.op, Op::ADD | Op::SUB) || data.sig.ty != Type::F64 {
        return None;
    }
    let [one, other] = graph.inputs(float)[..] else { return None };
    let number = |node: Node| constant(graph, node).and_then(whole);
    match (data.op, number(one), number(other)) {
        (Op::ADD, _, Some(by)) => Some((one, by)),
        (Op::ADD, Some(by), _) => Some((other, by)),
        (Op::SUB, _, Some(by)) => Some((one, -by)),
        _ => None,
    }
}

/// The bits of a constant, also of one that is taken out of a box.
fn constant(graph: &Graph, node: Node) -> Option<u64> {
    let data = graph.node(node);
    match data.op {
        Op::UNBOX => {
            let boxed = graph.as_const(graph.inputs(node)[0])?;
            graph.kinds[data.imm as usize].formula(data.op).evaluate(graph.vocab, boxed)
        }
        _ => graph.as_const(node),
    }
}

/// What a box was made of, if a value is taken out of it at once, even several times.
fn out_of_box(graph: &Graph, mut value: Node) -> Node {
    loop {
        let data = graph.node(value);
        if data.op != Op::UNBOX {
            return value;
        }
        let boxed = graph.inputs(value)[0];
        if (graph.node(boxed).op, graph.node(boxed).imm) != (Op::BOX, data.imm) {
            return value;
        }
        value = graph.inputs(boxed)[0];
    }
}

/// The whole number that a constant float is, unless it is far from zero.
pub(super) fn whole(bits: u64) -> Option<i64> {
    let value = f64::from_bits(bits);
    (value.trunc() == value && value.abs() <= FURTHEST_START as f64).then_some(value as i64)
}

/// The integer that a float is converted to, if the node does that.
pub(super) fn converted(graph: &Graph, node: Node, to: Type) -> Option<Node> {
    let data = graph.node(node);
    let is_it = data.op == Op::FTOS_LEAST && (data.sig.from, data.sig.ty) == (Type::F64, to);
    is_it.then(|| graph.inputs(node)[0])
}

/// Adds a flag that holds if a float is a whole number of 32 bits.
pub(super) fn add_check(graph: &mut Graph, float: Node, origin: u32) -> Node {
    let (from, to) = (Type::F64, Type::I32);
    let whole = graph.add(Op::FTOS_LEAST, Sig { from, ty: to }, &[float], 0, origin);
    let back = graph.add(Op::STOF, Sig { from: to, ty: from }, &[whole], 0, origin);
    graph.add(Op::EQ, Sig { from, ty: Type::Flag }, &[back, float], 0, origin)
}

/// If a flag says whether a float is equal to what an integer of this type is as a float, to which it was converted: the integer.
pub(super) fn checked(graph: &Graph, flag: Node, ty: Type) -> Option<Node> {
    let data = graph.node(flag);
    if data.op != Op::EQ || data.sig.from != Type::F64 {
        return None;
    }
    let [one, other] = graph.inputs(flag)[..] else { return None };
    let back = |back: Node, float: Node| {
        let whole = (graph.node(back).op == Op::STOF).then(|| graph.inputs(back)[0])?;
        (converted(graph, whole, ty)? == float).then_some(whole)
    };
    back(one, other).or_else(|| back(other, one))
}
