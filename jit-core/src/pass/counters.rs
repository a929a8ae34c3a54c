//! Count in integers what loops count in floats.
//!
//! In: a graph in which floats are converted to integers, as dynamic languages do with numbers that are indices. Out: the same graph;
//! where the float is a loop's counter ([`whole`](super::whole)), or a constant away from one, the loop has a second counter, which is an
//! integer, and nothing is converted. A check whether the float is a whole number has succeeded.
//!
//! A counter starts with a constant whole number, or with one that a check in front of the loop has found to be whole (`kinds` makes such
//! checks at guards), or with the counter of a loop around it, or a constant away from one of these. The float remains where it is used as such, for
//! example in comparisons with a limit. Cost: linear.

use super::flow::{FlowGraph, NONE};
use super::limits::Steps;
use super::whole::{Distance, FURTHEST_START, LONGEST_STEP, checked, converted, distance, whole};
use crate::ir::graph::Graph;
use crate::ir::index::Node;
use crate::vocab::{Op, Sig, Type};
use std::collections::HashMap;

/// How many loops around one are looked at.
const MAX_DEPTH: usize = 16;

const WORD: Sig = Sig { from: Type::Void, ty: Type::I64 };

/// Memory kept between functions.
#[derive(Debug, Default)]
pub struct Scratch {
    flow: FlowGraph,
    /// The integer beside each parameter that was asked for; `None` if it is no counter.
    counters: HashMap<Node, Option<Node>>,
    /// The floats that are checked, each with the integer of 32 bits that it is, and the rank of a block where the check has succeeded.
    checks: HashMap<Node, (Node, u32)>,
    /// The conversions, in order, and what replaces each.
    replaced: Vec<(Node, Node)>,
    pub(super) steps: Steps,
}

impl Scratch {
    /// Frees the memory.
    pub(super) fn release(&mut self) {
        *self = Scratch { steps: core::mem::take(&mut self.steps), ..Scratch::default() };
    }
}

/// Adds counters that are integers. Returns whether that changed something.
pub fn counters(scratch: &mut Scratch, graph: &mut Graph) -> bool {
    let of_param = |at: usize| {
        let conversion = Node::from(at);
        let distance = distance(graph, converted(graph, conversion, Type::I64)?)?;
        (graph.node(distance.from).op == Op::PARAM).then_some((conversion, distance))
    };
    let wanted: Vec<(Node, Distance)> = (0..graph.nodes.len()).filter_map(of_param).collect();
    if wanted.is_empty() {
        return false;
    }
    scratch.flow.find(graph);
    scratch.find_checks(graph);
    scratch.counters.clear();
    scratch.replaced.clear();
    for (conversion, distance) in wanted {
        if let Some(counter) = scratch.counter(graph, distance.from, MAX_DEPTH)
            && scratch.steps.take()
        {
            let whole = moved(graph, counter, distance.by, conversion);
            scratch.replaced.push((conversion, whole));
        }
    }
    if scratch.replaced.is_empty() {
        return false;
    }
    scratch.decide_checks(graph);
    for &(conversion, whole) in &scratch.replaced {
        graph.become_copy(conversion, whole);
    }
    true
}

impl Scratch {
    /// Finds the branches on whether floats are whole numbers of 32 bits.
    fn find_checks(&mut self, graph: &Graph) {
        self.checks.clear();
        for (flag, succeeds) in self.flow.branches(graph) {
            if let Some(whole) = checked(graph, flag, Type::I32) {
                self.checks.entry(graph.inputs(whole)[0]).or_insert((whole, succeeds));
            }
        }
    }

    /// The integer that is equal to a parameter, if that is a counter.
    fn counter(&mut self, graph: &mut Graph, param: Node, depth: usize) -> Option<Node> {
        if let Some(known) = self.counters.get(&param) {
            return *known;
        }
        // Whoever asks for it meanwhile goes around in a circle.
        self.counters.insert(param, None);
        let starts = self.starts(graph, param, depth)?;
        let (block, origin) = (graph.node(param).block, graph.node(param).origin);
        let counter = graph.add_param(block, Type::I64, origin);
        self.counters.insert(param, Some(counter));
        let floats = graph.inputs(param).to_vec();
        let inputs: Vec<Node> = core::iter::zip(floats, starts)
            .map(|(float, start)| match (start, distance(graph, float)) {
                (Some(Distance { from, by }), _) => moved(graph, from, by, param),
                (None, Some(Distance { by, .. })) => moved(graph, counter, by, param),
                (None, None) => unreachable!("a counter is changed by a constant"),
            })
            .collect();
        graph.set_inputs(counter, &inputs);
        Some(counter)
    }

    /// If a parameter is a counter, for each edge into its loop's head the integer with which it starts there; `None` for edges on which
    /// the loop goes around.
    fn starts(&mut self, graph: &mut Graph, param: Node, depth: usize) -> Option<Vec<Option<Distance>>> {
        let data = *graph.node(param);
        if depth == 0 || data.op != Op::PARAM || data.sig.ty != Type::F64 {
            return None;
        }
        let head = self.flow.rank[data.block.at()];
        if head == NONE {
            return None;
        }
        let preds = graph.block(data.block).preds.clone();
        let floats = graph.inputs(param).to_vec();
        let mut starts = Vec::with_capacity(preds.len());
        let mut goes_around = false;
        for (pred, float) in core::iter::zip(preds, floats) {
            let from = self.flow.rank[pred.block.at()];
            if self.flow.goes_around(head, from) {
                let step = distance(graph, float).filter(|step| step.from == param)?;
                if step.by.abs() > LONGEST_STEP {
                    return None;
                }
                goes_around = true;
                starts.push(None);
            } else {
                starts.push(Some(self.start(graph, (param, float), from, depth)?));
            }
        }
        goes_around.then_some(starts)
    }

    /// The integer with which a counter starts on an edge from this block.
    fn start(
        &mut self,
        graph: &mut Graph,
        (param, float): (Node, Node),
        from: u32,
        depth: usize,
    ) -> Option<Distance> {
        let origin = graph.node(param).origin;
        if let Some(whole) = graph.as_const(float).and_then(whole) {
            let from = graph.constant(Type::I64, whole as u64, origin);
            return (whole.abs() <= FURTHEST_START).then_some(Distance { from, by: 0 });
        }
        if let Some(from) = self.checked(graph, float, from, origin) {
            return Some(Distance { from, by: 0 });
        }
        let around = distance(graph, float)?;
        let from = match self.checked(graph, around.from, from, origin) {
            Some(checked) => checked,
            None => self.counter(graph, around.from, depth - 1)?,
        };
        Some(Distance { from, ..around })
    }

    /// The integer that a float is, if a check has found that before a block ends.
    fn checked(&self, graph: &mut Graph, float: Node, block: u32, origin: u32) -> Option<Node> {
        let &(whole, succeeds) = self.checks.get(&float)?;
        let is_known = block != NONE && self.flow.dominates(succeeds, block);
        let sig = Sig { from: Type::I32, ty: Type::I64 };
        is_known.then(|| graph.add(Op::SCAST, sig, &[whole], 0, origin))
    }

    /// Decides the checks whether a float is a whole number, where it is known to be one.
    fn decide_checks(&self, graph: &mut Graph) {
        let is_replaced =
            |whole: &Node| self.replaced.binary_search_by_key(whole, |(conversion, _)| *conversion).is_ok();
        for at in 0..graph.nodes.len() {
            let flag = Node::from(at);
            if checked(graph, flag, Type::I64).as_ref().is_some_and(is_replaced) {
                graph.become_known_flag(flag, true);
            }
        }
    }
}

/// An integer and a constant.
fn moved(graph: &mut Graph, from: Node, by: i64, origin: Node) -> Node {
    let origin = graph.node(origin).origin;
    if by == 0 {
        return from;
    }
    let by = graph.constant(Type::I64, by as u64, origin);
    graph.add(Op::ADD, WORD, &[from, by], 0, origin)
}
