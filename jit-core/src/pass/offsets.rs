//! Convert an index once, and find those beside it in integers.
//!
//! In: a graph in which floats are converted to integers and checked for being whole, as dynamic languages do with numbers that are
//! indices. Out: the same graph; where a float is a constant away from one that was checked before, and whose integer was found to be below a
//! length, it is converted by adding the constant, and not checked.
//!
//! ```text
//!     i = ftos_least x; stof i = x?; i < length?; … a[i] …
//!     j = ftos_least (x + 1); stof j = x + 1?; …            becomes j = i + 1, and no question
//! ```
//!
//! Lengths have 32 bits, so the float and what is added are exact. What depends on the conversion is used only behind both checks, which
//! is looked at: a floating node has no place of its own. Cost: linear in the graph, plus at most [`MAX_USERS`] for each conversion.

use super::flow::{FlowGraph, NONE};
use super::limits::Steps;
use super::whole::{Distance, checked, converted, distance, distance_until};
use crate::ir::graph::Graph;
use crate::ir::grouped::Grouped;
use crate::ir::index::Node;
use crate::vocab::{Op, Sig, Type};
use std::collections::HashMap;

/// How many nodes may depend on a conversion that is replaced, up to those that have a place.
const MAX_USERS: usize = 64;

/// Memory kept between functions.
#[derive(Debug, Default)]
pub struct Scratch {
    flow: FlowGraph,
    /// By float: the integer that it was converted to, and the rank of a block where it is known to be equal and below a length.
    known: HashMap<Node, (Node, u32)>,
    /// By node: its users.
    users: Grouped<Node>,
    work: Vec<Node>,
    seen: Vec<Node>,
    pub(super) steps: Steps,
}

impl Scratch {
    /// Frees the memory.
    pub(super) fn release(&mut self) {
        *self = Scratch { steps: core::mem::take(&mut self.steps), ..Scratch::default() };
    }
}

/// A conversion that is to become a sum.
#[derive(Clone, Copy, Debug)]
struct NearIndex {
    conversion: Node,
    /// The integer of the float that was checked.
    index: Node,
    by: i64,
    /// The rank of the block where that is known.
    known_in: u32,
}

/// Replaces conversions by sums; returns whether that changed something.
pub fn offsets(scratch: &mut Scratch, graph: &mut Graph) -> bool {
    let is_beside = |at: usize| {
        let float = converted(graph, Node::from(at), Type::I64);
        float.is_some_and(|float| distance(graph, float).is_some_and(|distance| distance.from != float))
    };
    if !(0..graph.nodes.len()).any(is_beside) {
        return false;
    }
    scratch.flow.find_dominance(graph);
    scratch.find_known(graph);
    let found: Vec<NearIndex> =
        (0..graph.nodes.len()).filter_map(|at| scratch.beside(graph, Node::from(at))).collect();
    if found.is_empty() {
        return false;
    }
    scratch.find_users(graph);
    let mut has_changed = false;
    for beside in found {
        if scratch.is_used_behind(graph, beside) && scratch.steps.take() {
            scratch.replace(graph, beside);
            has_changed = true;
        }
    }
    has_changed
}

impl Scratch {
    /// Finds the floats that are checked, and whose integers are found to be below lengths.
    fn find_known(&mut self, graph: &Graph) {
        self.known.clear();
        let mut whole: HashMap<Node, u32> = HashMap::new();
        let mut below: Vec<(Node, u32)> = Vec::new();
        for (flag, rank) in self.flow.branches(graph) {
            if let Some(index) = checked(graph, flag, Type::I64) {
                whole.entry(index).or_insert(rank);
            } else if let Some(index) = below_a_length(graph, flag) {
                below.push((index, rank));
            }
        }
        for (index, is_below) in below {
            let Some(&is_whole) = whole.get(&index) else { continue };
            let float = graph.inputs(index)[0];
            let later = is_below.max(is_whole);
            if self.flow.dominates(is_below.min(is_whole), later) {
                self.known.entry(float).or_insert((index, later));
            }
        }
    }

    /// What a node is if it converts a float that is beside a known one.
    fn beside(&self, graph: &Graph, conversion: Node) -> Option<NearIndex> {
        let float = converted(graph, conversion, Type::I64)?;
        let Distance { from, by } = distance_until(graph, float, |float| self.known.contains_key(&float))?;
        let &(index, known_in) = self.known.get(&from).filter(|_| from != float)?;
        Some(NearIndex { conversion, index, by, known_in })
    }

    fn find_users(&mut self, graph: &Graph) {
        self.users.start(graph.nodes.len());
        graph.nodes.iter().for_each(|data| {
            graph.links[data.inputs.range()].iter().for_each(|input| self.users.count(input.at()));
        });
        self.users.make_room(Node::NONE);
        for at in 0..graph.nodes.len() {
            let user = Node::from(at);
            graph.inputs(user).iter().for_each(|input| self.users.add(input.at(), user));
        }
        self.users.finish();
    }

    /// Whether everything that depends on a conversion stands where the other index is known.
    fn is_used_behind(&mut self, graph: &Graph, beside: NearIndex) -> bool {
        let is_behind = |rank: u32| rank == NONE || self.flow.dominates(beside.known_in, rank);
        self.work.clear();
        self.work.push(beside.conversion);
        self.seen.clear();
        while let Some(node) = self.work.pop() {
            for &user in self.users.group(node.at()) {
                let data = graph.node(user);
                if !data.block.is_some() {
                    if !self.seen.contains(&user) {
                        self.seen.push(user);
                        self.work.push(user);
                    }
                    continue;
                }
                let is_there = match data.op {
                    Op::PARAM => core::iter::zip(&graph.block(data.block).preds, graph.inputs(user))
                        .filter(|(_, input)| **input == node)
                        .all(|(pred, _)| is_behind(self.flow.rank[pred.block.at()])),
                    _ => is_behind(self.flow.rank[data.block.at()]),
                };
                if !is_there {
                    return false;
                }
            }
            if self.seen.len() > MAX_USERS {
                return false;
            }
        }
        true
    }

    /// Makes a conversion a sum, and decides the checks of it.
    fn replace(&self, graph: &mut Graph, beside: NearIndex) {
        const WORD: Sig = Sig { from: Type::Void, ty: Type::I64 };
        let NearIndex { conversion, index, by, .. } = beside;
        let origin = graph.node(conversion).origin;
        for &back in self.users.group(conversion.at()) {
            for &flag in self.users.group(back.at()) {
                if checked(graph, flag, Type::I64) == Some(conversion) {
                    graph.become_known_flag(flag, true);
                }
            }
        }
        let by = graph.constant(Type::I64, by as u64, origin);
        let sum = graph.add(Op::ADD, WORD, &[index, by], 0, origin);
        graph.become_copy(conversion, sum);
    }
}

/// The integer that a flag finds below an unsigned number of 32 bits.
fn below_a_length(graph: &Graph, flag: Node) -> Option<Node> {
    let data = graph.node(flag);
    if (data.op, data.sig.from) != (Op::ULT, Type::I64) {
        return None;
    }
    let [index, length] = graph.inputs(flag)[..] else { return None };
    let bound = graph.node(length);
    let is_short = match bound.op {
        Op::UCAST => bound.sig.from.bits() <= 32,
        Op::CONST => bound.imm <= 1 << 32,
        _ => false,
    };
    (is_short && converted(graph, index, Type::I64).is_some()).then_some(index)
}
