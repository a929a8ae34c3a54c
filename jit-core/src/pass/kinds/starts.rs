//! Check in front of loops whether their counters start with whole numbers.
//!
//! In: a graph with guards in front of loops. Out: at some of the guards, a check more. Where a loop converts a boxed float to an integer,
//! which it counts up or down, it is enough to know that it starts with a whole number ([`whole`](crate::pass::whole)): `counters`
//! makes use of that. A number that is no whole one is seldom used like that, and if it is, the loop is left once.

use super::Scratch;
use super::guards::{GuardEnd, Guards, guard_of, is_known_at};
use crate::ir::graph::Graph;
use crate::ir::index::{Block, Node};
use crate::pass::flow::{FlowGraph, NONE};
use crate::pass::whole::{LONGEST_STEP, add_check, converted, distance};
use crate::vocab::{Op, Sig, Type};

/// How many loops around one are looked at.
const MAX_DEPTH: usize = 16;

/// A boxed value that is to be a whole number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct StartCheck {
    /// The block that ends with the guard.
    guard: Block,
    value: Node,
    /// The kind of floats.
    kind: u64,
}

impl Guards {
    /// Finds the values with which counters start that are not known to be whole numbers.
    pub(super) fn gather_starts(&mut self, graph: &Graph, flow: &FlowGraph) {
        self.starts.clear();
        if self.blocks.is_empty() {
            return;
        }
        let of_conversion = |at: usize| param_of(graph, converted(graph, Node::from(at), Type::I64)?);
        let mut params: Vec<(Node, u64)> = (0..graph.nodes.len()).filter_map(of_conversion).collect();
        params.sort_unstable();
        params.dedup();
        for counter in params {
            self.want_whole(graph, flow, counter, MAX_DEPTH);
        }
        self.starts.sort_unstable();
        self.starts.dedup();
    }

    /// Has it checked that a counter starts with a whole number.
    fn want_whole(&mut self, graph: &Graph, flow: &FlowGraph, (param, kind): (Node, u64), depth: usize) {
        let head = flow.rank[graph.node(param).block.at()];
        let Some(way) = entry_of_counter(graph, flow, param, kind).filter(|_| depth > 0) else { return };
        let start = graph.inputs(param)[way];
        let data = graph.node(start);
        let value = match (data.op, data.imm) {
            (Op::BOX, of) if of == kind => boxed_number(graph, graph.inputs(start)[0]),
            _ => Some((start, kind)),
        };
        let Some((value, kind)) = value.filter(|(value, _)| graph.as_const(*value).is_none()) else { return };
        if graph.node(value).op == Op::PARAM && entry_of_counter(graph, flow, value, kind).is_some() {
            return self.want_whole(graph, flow, (value, kind), depth - 1);
        }
        if let Some((guard, _)) = guard_of(graph, flow, flow.innermost[head as usize] as usize)
            && is_known_at(graph, flow, guard, value)
        {
            self.starts.push(StartCheck { guard, value, kind });
        }
    }
}

impl Scratch {
    /// Makes the checks of starts at a guard, behind those of kinds.
    pub(super) fn place_starts(&mut self, graph: &mut Graph, guard: Block, end: &mut GuardEnd) {
        let origin = graph.node(graph.block(guard).end).origin;
        let first = self.guards.starts.partition_point(|check| check.guard < guard);
        let last = self.guards.starts.partition_point(|check| check.guard <= guard);
        for at in first..last {
            let StartCheck { value, kind, .. } = self.guards.starts[at];
            let is_known = self.mask_in(value, self.flow.rank[guard.at()]).says(kind) == Some(true);
            let is_checked =
                || self.guards.checks_at(guard).any(|check| (check.value, check.kind) == (value, kind));
            if (is_known || is_checked()) && self.steps.take() {
                let sig = Sig { from: Type::Void, ty: Type::F64 };
                let float = graph.add(Op::UNBOX, sig, &[value], kind, origin);
                let flag = add_check(graph, float, origin);
                end.check(graph, flag);
            }
        }
    }
}

/// The boxed value that a float comes from, to which constants may have been added, and its kind.
fn boxed_number(graph: &Graph, float: Node) -> Option<(Node, u64)> {
    let unboxed = distance(graph, float)?.from;
    let data = graph.node(unboxed);
    (data.op == Op::UNBOX && data.sig.ty == Type::F64).then(|| (graph.inputs(unboxed)[0], data.imm))
}

/// Likewise, if the boxed value is a parameter.
fn param_of(graph: &Graph, float: Node) -> Option<(Node, u64)> {
    boxed_number(graph, float).filter(|(value, _)| graph.node(*value).op == Op::PARAM)
}

/// If a parameter counts in floats of this kind, the position of the only edge from outside into its loop's head.
fn entry_of_counter(graph: &Graph, flow: &FlowGraph, param: Node, kind: u64) -> Option<usize> {
    let block = graph.node(param).block;
    let head = flow.rank[block.at()];
    let loop_number =
        (head != NONE).then(|| flow.innermost[head as usize]).filter(|number| *number != NONE)?;
    if flow.loops[loop_number as usize].head != head {
        return None;
    }
    let mut entry = None;
    for (way, (pred, &input)) in core::iter::zip(&graph.block(block).preds, graph.inputs(param)).enumerate() {
        let from = flow.rank[pred.block.at()];
        if !flow.goes_around(head, from) {
            if entry.replace(way).is_some() {
                return None;
            }
            continue;
        }
        let data = graph.node(input);
        let float = (data.op == Op::BOX && data.imm == kind).then(|| graph.inputs(input)[0])?;
        let step = distance(graph, float)?;
        if param_of(graph, step.from) != Some((param, kind)) || step.by.abs() > LONGEST_STEP {
            return None;
        }
    }
    entry
}
