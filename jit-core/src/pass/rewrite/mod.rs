//! Rewrite values: fold constants, apply rules, merge equal values, and simplify the control flow that this decides.
//!
//! In and out: a graph. Needs: [`Matcher`]s made by `rewrite!`, and the reference semantics of the operators to fold.
//! Keeps: effects and their order. Cost: linear in nodes and rule applications, which [`FUEL`] bounds.
//!
//! One walk over the blocks in reverse postorder visits operands before users. A visited node is folded if its operands are
//! constants; otherwise the first rule that matches replaces it (and the replacement is visited); otherwise it is replaced
//! by an equal node seen before, if there is one. So a rule sees operands in their final form, and the end of the walk is a
//! fixed point except for values that come around a loop. A branch on a constant becomes a jump at once, so that blocks
//! that become unreachable are never visited. A block with a single predecessor that only jumps to it is merged into that
//! predecessor.
//!
//! No machine has constants of type flag. `const.flag` exists only during this pass: branches, selections and conversions
//! of it fold, and any other user gets a comparison of constants instead.

mod control;
mod known;
pub mod predicate;

use super::flow::FlowGraph;
use super::limits::Steps;
use super::number::Table;
use crate::ir::graph::{Graph, NodeData};
use crate::ir::index::{Block, Node};
use crate::vocab::op::{Key, Param};
use crate::vocab::{Op, Props, Sig, Type, Vocabulary};
use core::cmp::Reverse;
use std::collections::BinaryHeap;

/// A compiled set of rules: returns the replacement of a node, or the node itself if its operands were replaced. A new node
/// floats and has the type of the old one.
pub type Matcher = fn(&mut Graph, Node) -> Option<Node>;

/// The output of `rewrite!`.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    /// All rules in one function.
    pub matcher: Matcher,
    /// Each rule alone, for [`crate::check::rules`].
    pub cases: &'static [Case],
}

/// A single rule, so that a test can build its left side and apply it.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    /// The source text of the rule.
    pub text: &'static str,
    /// Every assignment of types for which it holds: one type for each of its type variables.
    pub types: &'static [&'static [Type]],
    /// For each value that may be anything, the type variable that is its type.
    pub leaves: &'static [usize],
    /// The constants that may vary.
    pub constants: &'static [CaseConstant],
    /// Whether it changes the operands of the root, instead of replacing the root.
    pub in_place: bool,
    /// Builds the left side from types, leaves and constants.
    pub left: fn(&mut Graph, &[Type], &[Node], &[i64]) -> Node,
    /// Applies only this rule, to any node.
    pub apply: Matcher,
}

impl Case {
    /// A graph of the left side alone, with parameters for values that may be anything, and ones for constants that may
    /// vary.
    pub fn on_parameters(&self, types: &[Type]) -> (Graph, Node) {
        let mut graph = Graph::new(Vocabulary::BUILTIN);
        let mut param =
            |ty: &usize| graph.add(Op::PARAM, Sig { from: Type::Void, ty: types[*ty] }, &[], 0, 0);
        let leaves: Vec<Node> = self.leaves.iter().map(&mut param).collect();
        let root = (self.left)(&mut graph, types, &leaves, &vec![1; self.constants.len()]);
        (graph, root)
    }
}

/// A constant of a rule's left side that may vary.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CaseConstant {
    /// The value of a `const`.
    Value {
        /// The type variable that is its type.
        ty: usize,
    },
    /// An offset in bytes.
    Offset,
    /// A distance between elements.
    Scale,
}

/// How many rule applications per node are allowed on average, in case rules undo one another.
const FUEL: usize = 16;

/// The depth of the stack at which the remaining operands are visited in memory order instead.
const DEEP: usize = 64;

/// How many nodes a sweep may scan for each one that it visits, with a margin.
const MAX_SPARSE: usize = 8;

/// The limit of operands and constants of an operator that is folded.
const MAX_FOLDED: usize = 8;

/// Memory kept between functions.
#[derive(Debug, Default)]
pub struct Scratch {
    flow: FlowGraph,
    table: Table,
    /// The representative of each node: itself, or its replacement. `NONE` for a floating node that has not been visited;
    /// nodes made during the walk may be missing.
    stands: Vec<Node>,
    /// Whether a block was visited, merged into another, or dropped.
    is_past: Vec<bool>,
    stack: Vec<(Node, u32)>,
    /// For each node the last sweep that is to visit it; and the number of sweeps so far.
    wanted: Vec<u32>,
    n_sweeps: u32,
    is_sweeping: bool,
    dropped: Vec<Block>,
    /// The ranks of blocks to visit in this round, and in the next.
    round: BinaryHeap<Reverse<u32>>,
    next_round: BinaryHeap<Reverse<u32>>,
    facts: known::Facts,
    pub(super) steps: Steps,
}

impl Scratch {
    /// Frees the memory.
    pub(super) fn release(&mut self) {
        *self = Scratch { steps: core::mem::take(&mut self.steps), ..Scratch::default() };
    }
}

/// Rewrites a graph by folding and by the rules of all matchers, the first one first. Returns whether parameters turned out
/// to be trivial only at the end, because of loops, so that another run may find more.
pub fn rewrite(scratch: &mut Scratch, graph: &mut Graph, rules: &[Matcher]) -> bool {
    let n_nodes = graph.nodes.len();
    scratch.flow.find_order(graph);
    scratch.table.clear(n_nodes);
    let mut has_constant_flags = false;
    scratch.stands.clear();
    scratch.stands.extend(graph.nodes.iter().enumerate().map(|(at, node)| {
        has_constant_flags |= is_constant_flag(node);
        if node.block.is_some() { Node::from(at) } else { Node::NONE }
    }));
    scratch.is_past.clear();
    scratch.is_past.resize(graph.blocks.len(), false);
    scratch.wanted.clear();
    scratch.n_sweeps = 0;
    scratch.facts.clear(n_nodes);
    let mut walk = Walk {
        graph,
        scratch,
        rules,
        fuel: FUEL * (n_nodes + 4),
        n_computed: 0,
        has_dropped_edges: false,
        has_constant_flags,
    };
    // Blocks that become unreachable are never visited.
    for rank in 0..walk.scratch.flow.order.len() as u32 {
        walk.visit_rank(rank, false);
    }
    // A block that is reached only from a later one, in an irreducible loop, takes another round.
    while !walk.scratch.next_round.is_empty() {
        core::mem::swap(&mut walk.scratch.round, &mut walk.scratch.next_round);
        while let Some(Reverse(rank)) = walk.scratch.round.pop() {
            walk.visit_rank(rank, true);
        }
    }
    walk.finish()
}

struct Walk<'a> {
    graph: &'a mut Graph,
    scratch: &'a mut Scratch,
    rules: &'a [Matcher],
    fuel: usize,
    /// How many different values other than constants have been visited.
    n_computed: usize,
    has_dropped_edges: bool,
    /// Whether a constant flag has ever been made.
    has_constant_flags: bool,
}

impl Walk<'_> {
    /// Visits the block of a rank, if it is reached and was not visited yet. Notes its successors for a later round; with
    /// `notes_all` those with higher ranks for this one, which otherwise visits all ranks in order.
    fn visit_rank(&mut self, rank: u32, notes_all: bool) {
        let block = self.scratch.flow.order[rank as usize];
        if self.scratch.is_past[block.at()] || !self.is_led_to(block) {
            return;
        }
        let end = self.visit_block(block);
        let Scratch { flow, is_past, round, next_round, .. } = &mut *self.scratch;
        for succ in self.graph.block(end).succs.iter().filter(|succ| !is_past[succ.at()]) {
            let to = flow.rank[succ.at()];
            if to < rank {
                next_round.push(Reverse(to));
            } else if notes_all {
                round.push(Reverse(to));
            }
        }
    }

    /// Visits a block, and those that are merged with it; returns the block that has their nodes now.
    fn visit_block(&mut self, block: Block) -> Block {
        self.scratch.is_past[block.at()] = true;
        let n_before = self.n_computed;
        self.visit_ways_in(block, false);
        self.choose_instead(block, self.n_computed - n_before);
        self.drop_trivial_params(block);
        match self.sole_source(block) {
            Some(source) if self.scratch.is_past[source.at()] => {
                let start = self.join(source, block);
                self.visit_nodes(source, start);
                source
            }
            _ => {
                self.note_ways_in(block);
                self.visit_nodes(block, 0);
                block
            }
        }
    }

    /// Whether a visited block leads to this one.
    fn is_led_to(&self, block: Block) -> bool {
        let mut preds = self.graph.block(block).preds.iter();
        block == Graph::ENTRY || preds.any(|pred| self.scratch.is_past[pred.block.at()])
    }

    /// Visits the arguments of parameters from visited predecessors, or from all.
    fn visit_ways_in(&mut self, block: Block, from_all: bool) {
        for param in 0..self.graph.block(block).params.len() {
            let inputs = self.graph.node(self.graph.block(block).params[param]).inputs;
            for (way, link) in inputs.range().enumerate() {
                let pred = self.graph.block(block).preds[way].block;
                if from_all || self.scratch.is_past[pred.at()] {
                    self.graph.links[link] = self.visit(self.graph.links[link]);
                }
            }
        }
    }

    /// Visits the pinned nodes of a block from a position on, and continues with blocks that are merged into it.
    fn visit_nodes(&mut self, block: Block, start: usize) {
        let (mut read, mut kept) = (start, start);
        loop {
            while read < self.graph.block(block).body.len() {
                let node = self.graph.block(block).body[read];
                read += 1;
                if self.visit_pinned(node) {
                    self.graph.blocks[block.at()].body[kept] = node;
                    kept += 1;
                }
            }
            self.graph.blocks[block.at()].body.truncate(kept);
            let end = self.graph.block(block).end;
            self.visit_operands(end);
            self.decide(block);
            let [next] = self.graph.block(block).succs[..] else { return };
            if self.scratch.is_past[next.at()] || self.sole_source(next) != Some(block) {
                return;
            }
            self.scratch.is_past[next.at()] = true;
            self.visit_ways_in(next, true);
            self.drop_trivial_params(next);
            read = self.join(block, next);
            kept = read;
        }
    }

    /// Visits a node of a block's body; returns false if the node was replaced.
    fn visit_pinned(&mut self, node: Node) -> bool {
        loop {
            self.visit_operands(node);
            match self.simplify(node) {
                Some(same) if same == node => {}
                Some(other) => {
                    self.replace(node, other);
                    self.visit(other);
                    return false;
                }
                None => {
                    self.compare_constant_flags(node);
                    return true;
                }
            }
        }
    }

    fn visit_operands(&mut self, node: Node) {
        for link in self.graph.node(node).inputs.range() {
            let input = self.graph.links[link];
            // Most have been visited before, or are pinned.
            if self.stands_for(input) != input {
                self.graph.links[link] = self.visit(input);
            }
        }
    }

    /// Visits a value and everything it is computed from; returns its representative.
    fn visit(&mut self, root: Node) -> Node {
        // A parameter may have been replaced by a value that has not been visited yet.
        let root = self.current(root);
        if !self.is_open(root) {
            return root;
        }
        let bottom = self.scratch.stack.len();
        let mut deep = bottom + DEEP;
        self.scratch.stack.push((root, 0));
        'nodes: while self.scratch.stack.len() > bottom {
            let &(node, first) = self.scratch.stack.last().expect("it is longer than it was");
            if self.is_open(node) {
                let inputs = self.graph.node(node).inputs;
                for next in first..inputs.len {
                    let link = (inputs.start + next) as usize;
                    let input = self.graph.links[link];
                    let stands = self.stands_for(input);
                    if stands == input {
                        continue;
                    }
                    let input = self.current(input);
                    self.graph.links[link] = input;
                    if self.is_open(input) {
                        self.scratch.stack.last_mut().expect("it was just read").1 = next;
                        self.scratch.stack.push((input, 0));
                        if self.scratch.stack.len() > deep {
                            self.sweep(root);
                            deep = usize::MAX;
                        }
                        continue 'nodes;
                    }
                }
                self.scratch.stack.pop();
                self.settle(node);
            } else {
                self.scratch.stack.pop();
            }
        }
        self.current(root)
    }

    /// Visits everything that a value is computed from in the order of node numbers, unless too many other nodes lie in
    /// between. That is mostly the order of creation and of memory, so long straight-line code is not traversed back and
    /// forth. Operands with higher numbers are left for later.
    fn sweep(&mut self, root: Node) {
        if core::mem::replace(&mut self.scratch.is_sweeping, true) {
            return;
        }
        self.scratch.n_sweeps += 1;
        let sweep = self.scratch.n_sweeps;
        if self.scratch.wanted.len() < self.graph.nodes.len() {
            self.scratch.wanted.resize(self.graph.nodes.len(), 0);
        }
        self.scratch.wanted[root.at()] = sweep;
        let (mut n_wanted, mut n_left, mut first) = (1, 1, root.at() + 1);
        while n_left > 0 && root.at() + 1 - first <= MAX_SPARSE * (n_wanted + DEEP) {
            first -= 1;
            if self.scratch.wanted[first] != sweep {
                continue;
            }
            n_left -= 1;
            for link in self.graph.nodes[first].inputs.range() {
                let input = self.current(self.graph.links[link]);
                if input.at() < first && self.is_open(input) && self.scratch.wanted[input.at()] != sweep {
                    self.scratch.wanted[input.at()] = sweep;
                    (n_wanted, n_left) = (n_wanted + 1, n_left + 1);
                }
            }
        }
        if n_left == 0 {
            for at in first..root.at() {
                if self.scratch.wanted[at] == sweep {
                    self.visit(Node::from(at));
                }
            }
        }
        self.scratch.is_sweeping = false;
    }

    /// A node's entry in `stands`.
    #[inline(always)]
    fn stands_for(&self, node: Node) -> Node {
        self.scratch.stands.get(node.at()).copied().unwrap_or(Node::NONE)
    }

    /// Whether a node floats and has not been visited.
    #[inline(always)]
    fn is_open(&self, node: Node) -> bool {
        !self.stands_for(node).is_some()
    }

    fn note(&mut self, node: Node, stands: Node) {
        if self.scratch.stands.len() <= node.at() {
            self.scratch.stands.resize(self.graph.nodes.len(), Node::NONE);
        }
        self.scratch.stands[node.at()] = stands;
    }

    /// Finds the representative of a node whose operands were visited.
    fn settle(&mut self, node: Node) {
        if let Some(other) = self.simplify(node) {
            // The nodes that wait for `node` are below it on the stack, and resume when `other` is settled; that may be
            // `node` itself, with other operands.
            if other != node {
                self.note(node, other);
            }
            if self.is_open(other) {
                self.scratch.stack.push((other, 0));
            }
            return;
        }
        self.compare_constant_flags(node);
        // A node without operands, such as the frame's address, may be in a fixed register, so there must be only one of it
        // even if no steps are left.
        let has_operands = self.graph.node(node).inputs.len > 0;
        let mut leader = node;
        if !has_operands || self.scratch.steps.may() {
            leader = self.scratch.table.find(self.graph, node);
        }
        if has_operands && leader != node {
            self.scratch.steps.take();
        }
        self.note(node, leader);
        if leader == node && has_operands {
            self.n_computed += 1;
        }
    }

    /// The constant that a node folds to, or the result of the first matching rule.
    fn simplify(&mut self, node: Node) -> Option<Node> {
        if self.graph.node(node).op == Op::CONST {
            return None;
        }
        let info = self.graph.vocab.info(self.graph.node(node).op);
        if info.props.contains(Props::COMMUTES)
            && let [a, b] = *self.graph.inputs(node)
            && self.graph.as_const(a).is_some()
            && self.graph.as_const(b).is_none()
        {
            // Constants are the right operand, so that equal values look equal.
            let start = self.graph.node(node).inputs.start as usize;
            self.graph.links.swap(start, start + 1);
        }
        if !self.scratch.steps.may() {
            return None;
        }
        if let Some(constant) = self.fold(node) {
            self.scratch.steps.take();
            return Some(constant);
        }
        if self.fuel == 0 {
            return None;
        }
        let n_nodes = self.graph.nodes.len();
        let made = self.rules.iter().find_map(|rules| rules(self.graph, node))?;
        self.has_constant_flags |= self.graph.nodes[n_nodes..].iter().any(is_constant_flag);
        debug_assert_eq!(self.graph.node(made).ty(), self.graph.node(node).ty(), "a rule keeps the type");
        self.fuel -= 1;
        self.scratch.steps.take();
        Some(made)
    }

    /// The constant that a node with constant operands computes. An operation that traps is left after its checks.
    fn fold(&mut self, node: Node) -> Option<Node> {
        let inputs = self.graph.inputs(node);
        let are_known = inputs.iter().all(|&input| self.graph.as_const(input).is_some());
        if !are_known || !(1..MAX_FOLDED).contains(&inputs.len()) {
            return None;
        }
        let data = *self.graph.node(node);
        let info = self.graph.vocab.info(data.op);
        let reference = info.reference?;
        if !info.props.contains(Props::PURE) {
            return None;
        }
        let mut operands = [0; MAX_FOLDED];
        for (operand, &input) in core::iter::zip(&mut operands, inputs) {
            *operand = self.graph.as_const(input)?;
        }
        let mut n_operands = inputs.len();
        if info.params.iter().any(|param| *param != Param::Type) {
            operands[n_operands] = data.imm;
            n_operands += 1;
        }
        let bits = reference(data.sig, &operands[..n_operands]).ok()?;
        self.has_constant_flags |= data.sig.ty == Type::Flag;
        Some(self.graph.constant(data.sig.ty, bits, data.origin))
    }

    /// Replaces constant flags among a node's operands by comparisons, once it is clear that they do not fold.
    #[inline]
    fn compare_constant_flags(&mut self, node: Node) {
        if self.has_constant_flags {
            self.compare_flags_of(node);
        }
    }

    fn compare_flags_of(&mut self, node: Node) {
        for link in self.graph.node(node).inputs.range() {
            let data = *self.graph.node(self.graph.links[link]);
            if !is_constant_flag(&data) {
                continue;
            }
            let zero = self.graph.constant(Type::I64, 0, data.origin);
            let op = if data.imm != 0 { Op::ZR } else { Op::NZ };
            debug_assert!(matches!(self.graph.vocab.info(op).key, Key::Operand));
            let sig = Sig { from: Type::I64, ty: Type::Flag };
            let flag = self.graph.add(op, sig, &[zero], 0, data.origin);
            self.graph.links[link] = flag;
            // Marked as visited; otherwise it would fold again.
            self.note(flag, flag);
        }
    }

    fn replace(&mut self, node: Node, by: Node) {
        debug_assert!(node != by);
        self.note(node, by);
    }

    /// The representative of a node.
    #[inline]
    fn current(&mut self, node: Node) -> Node {
        let next = self.stands_for(node);
        if next == node || !next.is_some() { node } else { self.last_of(node) }
    }

    fn last_of(&mut self, node: Node) -> Node {
        let mut last = node;
        loop {
            let next = self.stands_for(last);
            if next == last || !next.is_some() {
                break;
            }
            last = next;
        }
        let mut node = node;
        while node != last {
            node = core::mem::replace(&mut self.scratch.stands[node.at()], last);
        }
        last
    }

    /// Completes values that come around loops, and redirects every use of a node to its representative.
    fn finish(&mut self) -> bool {
        if self.has_dropped_edges {
            self.drop_unreachable();
        }
        for at in 0..self.graph.blocks.len() {
            if self.graph.blocks[at].end.is_some() {
                self.visit_ways_in(Block::from(at), true);
            }
        }
        let (mut changed, mut found_more) = (true, false);
        while core::mem::take(&mut changed) {
            for at in 0..self.graph.blocks.len() {
                changed |= self.drop_trivial_params(Block::from(at));
            }
            found_more |= changed;
        }
        let mut links = core::mem::take(&mut self.graph.links);
        links.iter_mut().for_each(|link| *link = self.current(*link));
        self.graph.links = links;
        found_more
    }
}

fn is_constant_flag(data: &NodeData) -> bool {
    (data.op == Op::CONST) & (data.sig.ty == Type::Flag)
}
