//! Copy the blocks of a loop in front of it.
//!
//! In: a graph and a [`Region`] of it. Out: a graph in which control comes into a copy of the region first, and from the copy's edges
//! back into the loop. Holds afterwards: where control goes on behind both, a parameter has each value that was made in the
//! region and is used outside of it. Keeps: what the function does.
//!
//! Pinned nodes are copied in their order. A floating node is copied if it depends on one that was, on demand: the original may have users
//! elsewhere, and one that depends on nothing in the region is the same in both.

use super::Region;
use crate::ir::graph::{Graph, NodeData, Pred};
use crate::ir::index::{Block, Node};
use crate::pass::flow::{FlowGraph, NONE};
use crate::vocab::{Op, Type};

/// What a value is in the copy that is only made behind the loop.
const LATE: Node = Node(u32::MAX - 1);

/// Memory kept between loops.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    /// By block: its copy; `NONE` outside the region.
    copies: Vec<Block>,
    /// By node: what it is in the copy; `NONE` while nobody asked.
    inside: Vec<Node>,
    /// By node: what it is behind the region and its copy; `NONE` while nobody asked.
    behind: Vec<Node>,
    work: Vec<Node>,
    inputs: Vec<Node>,
}

/// Copies a region in front of its loop.
pub(super) fn copy(scratch: &mut Scratch, graph: &mut Graph, flow: &FlowGraph, region: &mut Region) {
    if let Some(behind) = region.behind {
        split_edges(graph, region, behind);
    }
    scratch.copies.clear();
    scratch.copies.resize(graph.blocks.len(), Block::NONE);
    for nodes in [&mut scratch.inside, &mut scratch.behind] {
        nodes.clear();
        nodes.resize(graph.nodes.len(), Node::NONE);
    }
    let first_copy = graph.blocks.len();
    for block in &region.blocks {
        let copy = graph.add_block();
        graph.blocks[copy.at()].heat = graph.block(*block).heat;
        scratch.copies[block.at()] = copy;
    }
    let mut copier = Copier { graph, scratch, flow, region, first_copy };
    let n_back = copier.graph.block(region.blocks[0]).preds.len();
    let n_behind = region.behind.map_or(0, |behind| copier.graph.block(behind).preds.len());
    copier.copy_params();
    copier.copy_nodes();
    copier.enter(n_back);
    if let Some(behind) = region.behind {
        copier.go_on(behind, n_behind);
    }
}

/// Puts a block on each edge behind the region that is not the only one of its source. Two edges will lead there in place of each, and
/// what they carry is to be moved outside of the loop.
fn split_edges(graph: &mut Graph, region: &mut Region, behind: Block) {
    for way in 0..graph.block(behind).preds.len() {
        let edge = graph.block(behind).preds[way];
        let source = graph.block(edge.block);
        if source.succs.len() > 1 {
            let origin = graph.node(source.end).origin;
            let between = graph.add_block();
            graph.blocks[between.at()].heat = graph.block(behind).heat;
            graph.end(between, Op::JUMP, Type::Void, &[], 0, &[behind], origin);
            let last = graph.blocks[behind.at()].preds.pop().expect("it was just added");
            graph.blocks[behind.at()].preds[way] = last;
            graph.blocks[between.at()].preds.push(edge);
            graph.blocks[edge.block.at()].succs[edge.succ as usize] = between;
            region.blocks.push(between);
        }
    }
}

struct Copier<'a> {
    graph: &'a mut Graph,
    scratch: &'a mut Scratch,
    /// The flow before anything was copied.
    flow: &'a FlowGraph,
    region: &'a Region,
    /// The number of the first block that is a copy; the others follow, in the order of the region.
    first_copy: usize,
}

impl Copier<'_> {
    fn head(&self) -> Block {
        self.region.blocks[0]
    }

    /// The block that this one is a copy of, if it is one.
    fn original(&self, copy: Block) -> Option<Block> {
        copy.at().checked_sub(self.first_copy).map(|at| self.region.blocks[at])
    }

    /// Gives parameters to the copies. Those of the head have the values with which the loop starts.
    fn copy_params(&mut self) {
        let way = self.way_before();
        for at in 0..self.region.blocks.len() {
            let block = self.region.blocks[at];
            for position in 0..self.graph.block(block).params.len() {
                let param = self.graph.block(block).params[position];
                let data = *self.graph.node(param);
                let copy = match at {
                    0 => self.graph.inputs(param)[way],
                    _ => self.graph.add_param(self.scratch.copies[block.at()], data.ty(), data.origin),
                };
                self.scratch.inside[param.at()] = copy;
            }
        }
    }

    /// The position of the edge before the loop among those into its head.
    fn way_before(&self) -> usize {
        let preds = &self.graph.block(self.head()).preds;
        preds.iter().position(|pred| Some(*pred) == self.region.before).expect("the edge leads there")
    }

    /// Copies what the blocks do. Edges back lead to the loop.
    fn copy_nodes(&mut self) {
        for at in 0..self.region.blocks.len() {
            let block = self.region.blocks[at];
            let copy = self.scratch.copies[block.at()];
            for position in 0..self.graph.block(block).body.len() {
                let node = self.graph.block(block).body[position];
                let data = *self.graph.node(node);
                let (inputs, imm) = (self.inputs_inside(node), self.constant(node));
                let copied = self.graph.push(copy, data.op, data.sig, &inputs, imm, data.origin);
                self.scratch.inside[node.at()] = copied;
                self.scratch.inputs = inputs;
            }
            let end = self.graph.block(block).end;
            let data = *self.graph.node(end);
            let (inputs, imm) = (self.inputs_inside(end), self.constant(end));
            let to = |succ: &Block| match self.scratch.copies.get(succ.at()) {
                Some(copy) if copy.is_some() && *succ != self.head() => *copy,
                _ => *succ,
            };
            let succs: Vec<Block> = self.graph.block(block).succs.iter().map(to).collect();
            self.graph.end(copy, data.op, data.sig.from, &inputs, imm, &succs, data.origin);
            self.scratch.inputs = inputs;
        }
        for at in 1..self.region.blocks.len() {
            let block = self.region.blocks[at];
            let copy = self.scratch.copies[block.at()];
            for position in 0..self.graph.block(block).params.len() {
                let inputs = self.inputs_of_edges(block, self.graph.block(block).params[position], copy, 0);
                self.graph.set_inputs(self.graph.block(copy).params[position], &inputs);
            }
        }
    }

    /// The constant of a pinned node's copy.
    fn constant(&mut self, node: Node) -> u64 {
        let NodeData { op, imm, .. } = *self.graph.node(node);
        if self.graph.has_state(op) { self.graph.states.add_copy(imm) } else { imm }
    }

    /// What the operands of a node are in the copy, in memory that is used again.
    fn inputs_inside(&mut self, node: Node) -> Vec<Node> {
        let mut inputs = core::mem::take(&mut self.scratch.inputs);
        inputs.clear();
        for at in 0..self.graph.inputs(node).len() {
            inputs.push(self.inside(self.graph.inputs(node)[at]));
        }
        inputs
    }

    /// What a block's parameter has on the edges from copies into another block, or the same one, from the edge of this position on.
    fn inputs_of_edges(&mut self, block: Block, param: Node, into: Block, from: usize) -> Vec<Node> {
        let edges = self.graph.block(into).preds[from..].to_vec();
        edges
            .into_iter()
            .map(|edge| {
                let of = self.original(edge.block).expect("copies are entered from copies");
                let original = Pred { block: of, succ: edge.succ };
                let preds = &self.graph.block(block).preds;
                let way = preds.iter().position(|pred| *pred == original).expect("the edge has an original");
                self.inside(self.graph.inputs(param)[way])
            })
            .collect()
    }

    /// Lets control come into the copy of the head, and only from copies into the loop. The head had so many edges.
    fn enter(&mut self, n_edges: usize) {
        let (head, way) = (self.head(), self.way_before());
        let entry = self.scratch.copies[head.at()];
        for position in 0..self.graph.block(head).params.len() {
            let param = self.graph.block(head).params[position];
            let added = self.inputs_of_edges(head, param, head, n_edges);
            let mut inputs = self.graph.inputs(param).to_vec();
            inputs.remove(way);
            inputs.extend(added);
            self.graph.set_inputs(param, &inputs);
        }
        let before = self.graph.blocks[head.at()].preds.remove(way);
        self.graph.blocks[entry.at()].preds.push(before);
        self.graph.blocks[before.block.at()].succs[before.succ as usize] = entry;
    }

    /// Has the block behind the region, which had so many edges, choose between the values from the region and from its copy.
    fn go_on(&mut self, behind: Block, n_edges: usize) {
        let params = self.graph.block(behind).params.clone();
        for param in params {
            let added = self.inputs_of_edges(behind, param, behind, n_edges);
            let mut inputs = self.graph.inputs(param).to_vec();
            inputs.extend(added);
            self.graph.set_inputs(param, &inputs);
        }
        for block in (0..self.first_copy).map(Block::from) {
            let is_dropped = !self.graph.block(block).end.is_some();
            if self.is_in_region(block) || is_dropped {
                continue;
            }
            // What the block behind the region has from it comes by its edges.
            let params = if block == behind { 0 } else { self.graph.block(block).params.len() };
            for at in 0..params {
                self.read_behind(self.graph.block(block).params[at], behind);
            }
            for at in 0..self.graph.block(block).body.len() {
                self.read_behind(self.graph.block(block).body[at], behind);
            }
            self.read_behind(self.graph.block(block).end, behind);
        }
    }

    fn is_in_region(&self, block: Block) -> bool {
        self.scratch.copies.get(block.at()).is_some_and(|copy| copy.is_some())
    }

    /// Makes a node outside the region use what its operands are there.
    fn read_behind(&mut self, node: Node, behind: Block) {
        let list = self.graph.node(node).inputs;
        for at in list.range() {
            let input = self.graph.links[at];
            self.graph.links[at] = self.behind(input, behind);
        }
    }

    /// What a value is in the copy.
    fn inside(&mut self, value: Node) -> Node {
        self.find(
            value,
            |scratch| &mut scratch.inside,
            |copier, node| {
                let home = copier.graph.node(node).block;
                home.is_some().then(|| if copier.is_there_before(home) { node } else { LATE })
            },
        )
    }

    /// Whether a block runs before the loop does.
    fn is_there_before(&self, block: Block) -> bool {
        let rank = |block: Block| self.flow.rank.get(block.at()).copied().unwrap_or(NONE);
        rank(block) != NONE && self.flow.dominates(rank(block), rank(self.head()))
    }

    /// What a value is behind the region and its copy: a parameter, if the two differ. No parameter may carry a flag, so that is
    /// found again there, as is what depends on something else from behind the loop.
    fn behind(&mut self, value: Node, behind: Block) -> Node {
        self.find(
            value,
            |scratch| &mut scratch.behind,
            |copier, node| {
                let copied = copier.inside(node);
                let data = *copier.graph.node(node);
                let is_late = copied == LATE;
                if copied == node || is_late && data.block.is_some() {
                    return Some(node);
                }
                if is_late || data.ty() == Type::Flag {
                    return None;
                }
                let param = copier.graph.add_param(behind, data.ty(), data.origin);
                let of_edge = |edge: &Pred| if copier.original(edge.block).is_some() { copied } else { node };
                let inputs: Vec<Node> = copier.graph.block(behind).preds.iter().map(of_edge).collect();
                copier.graph.set_inputs(param, &inputs);
                Some(param)
            },
        )
    }

    /// What a value is elsewhere: by a map, or by what is known of a value that is not in it yet. Of others the operands are looked at,
    /// and they are copied if one of those is another one there.
    fn find(
        &mut self,
        value: Node,
        map: impl Fn(&mut Scratch) -> &mut Vec<Node>,
        known: impl Fn(&mut Self, Node) -> Option<Node>,
    ) -> Node {
        let found = map(self.scratch)[value.at()];
        if found.is_some() {
            return found;
        }
        let mut work = core::mem::take(&mut self.scratch.work);
        work.push(value);
        while let Some(&node) = work.last() {
            let found = match known(self, node) {
                Some(found) => found,
                None => {
                    let n_waiting = work.len();
                    let unknown = |input: &&Node| !map(self.scratch)[input.at()].is_some();
                    work.extend(self.graph.inputs(node).iter().filter(unknown));
                    if work.len() > n_waiting {
                        continue;
                    }
                    self.found(node, &map)
                }
            };
            map(self.scratch)[node.at()] = found;
            work.pop();
        }
        self.scratch.work = work;
        map(self.scratch)[value.at()]
    }

    /// What a node is whose operands are in the map.
    fn found(&mut self, node: Node, map: impl Fn(&mut Scratch) -> &mut Vec<Node>) -> Node {
        let elsewhere = map(self.scratch);
        let inputs: Vec<Node> = self.graph.inputs(node).iter().map(|input| elsewhere[input.at()]).collect();
        if inputs.contains(&LATE) {
            return LATE;
        }
        if inputs == self.graph.inputs(node) {
            return node;
        }
        let data = *self.graph.node(node);
        self.graph.add(data.op, data.sig, &inputs, data.imm, data.origin)
    }
}
