//! Control flow: a linear order of blocks, their dominators, and the loops.
//!
//! In: a graph. Out: a [`FlowGraph`], which numbers reachable blocks by *rank*, their position in reverse postorder; everything
//! else is indexed by rank. Cost: linear times the logarithm of the dominator tree's depth for a reducible graph. An
//! irreducible graph also needs the iteration of Cooper, Harvey and Kennedy ("A Simple, Fast Dominance Algorithm").
//!
//! Dominators of a reducible graph need no iteration: an edge back to a block that dominates its source can be left out
//! without changing any dominator. So dominators are first computed without the retreating edges. Only if one of those
//! edges enters a loop from the side is the iteration run. Ancestors in the tree are found through skew-binary jump
//! pointers (Myers, "An Applicative Random-Access Stack"), so long straight-line code costs nothing extra.

use crate::ir::graph::{Graph, Heat};
use crate::ir::index::{Block, Node};
use crate::vocab::Op;

/// Marks the absence of a rank or a loop.
pub const NONE: u32 = u32::MAX;

/// A natural loop: the blocks that reach an edge back to `head` without passing through `head`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NaturalLoop {
    /// The rank of the block that dominates all others in the loop.
    pub head: u32,
    /// The enclosing loop, or [`NONE`].
    pub parent: u32,
    /// The nesting depth: how many loops contain this one, itself included.
    pub depth: u16,
}

/// Order, dominators and loops of a graph.
#[derive(Clone, Debug, Default)]
pub struct FlowGraph {
    /// Reachable blocks in reverse postorder.
    pub order: Vec<Block>,
    /// The rank of each block; [`NONE`] if it is unreachable.
    pub rank: Vec<u32>,
    /// The rank of each block's immediate dominator; the entry is its own.
    pub idom: Vec<u32>,
    /// The innermost loop of each block, or [`NONE`].
    pub innermost: Vec<u32>,
    /// The loops, inner ones before the loops that enclose them.
    pub loops: Vec<NaturalLoop>,
    /// How many blocks strictly dominate each block.
    height: Vec<u32>,
    jump: Vec<u32>,
    /// Each block's preorder number in the dominator tree, and the size of its subtree, itself included.
    first: Vec<u32>,
    size: Vec<u32>,
    stack: Vec<(Block, u32)>,
    work: Vec<u32>,
    /// For each loop an enclosing one, or itself while none is known.
    around: Vec<u32>,
}

impl FlowGraph {
    /// Recomputes everything.
    pub fn find(&mut self, graph: &Graph) {
        self.find_order(graph);
        self.find_dominators(graph);
        self.find_loops(graph);
    }

    /// Computes all but the loops.
    pub fn find_dominance(&mut self, graph: &Graph) {
        self.find_order(graph);
        self.find_dominators(graph);
    }

    /// Computes everything if there may be a loop, which is true if an edge leads back; if not, only `order` and `rank`. Returns whether.
    pub fn find_if_loops(&mut self, graph: &Graph) -> bool {
        self.find_order(graph);
        let leads_back = (0u32..).zip(&self.order).any(|(rank, block)| {
            let mut from = graph.block(*block).preds.iter().map(|pred| self.rank[pred.block.at()]);
            from.any(|from| from != NONE && from >= rank)
        });
        if leads_back {
            self.find_dominators(graph);
            self.find_loops(graph);
        }
        leads_back
    }

    /// The flag of each branch whose first way leads to a block that nothing else leads to, and the rank of that block, in order: the flag
    /// holds wherever that block dominates.
    pub fn branches<'a>(&'a self, graph: &'a Graph) -> impl Iterator<Item = (Node, u32)> + 'a {
        self.order.iter().filter_map(|block| {
            let data = graph.block(*block);
            let succeeds = *data.succs.first().filter(|_| graph.node(data.end).op == Op::BR)?;
            let is_only_way = graph.block(succeeds).preds.len() == 1;
            is_only_way.then(|| (graph.inputs(data.end)[0], self.rank[succeeds.at()]))
        })
    }

    /// Whether a value does not depend on anything but what is made in blocks that dominate this one, the block itself included. An address that
    /// depends on more than `most` nodes is not looked at. Takes a rank.
    pub fn is_known_in(
        &self,
        graph: &Graph,
        work: &mut Vec<Node>,
        value: Node,
        rank: u32,
        most: usize,
    ) -> bool {
        work.clear();
        work.push(value);
        let mut n_seen = 0;
        while let Some(node) = work.pop() {
            n_seen += 1;
            let home = graph.node(node).block;
            if n_seen > most || (home.is_some() && !self.dominates(self.rank[home.at()], rank)) {
                return false;
            }
            if !home.is_some() {
                work.extend(graph.inputs(node));
            }
        }
        true
    }

    /// Whether a block is reachable from the entry.
    pub fn is_reached(&self, block: Block) -> bool {
        self.rank[block.at()] != NONE
    }

    /// Whether every path to `b` passes through `a`. Takes ranks.
    #[inline]
    pub fn dominates(&self, a: u32, b: u32) -> bool {
        let first = self.first[a as usize];
        first <= self.first[b as usize] && self.first[b as usize] < first + self.size[a as usize]
    }

    /// Whether an edge to a loop's head goes around the loop. Takes ranks, or [`NONE`] for a block that is unreachable.
    #[inline]
    pub fn goes_around(&self, head: u32, from: u32) -> bool {
        from != NONE && self.dominates(head, from)
    }

    /// The nearest common dominator of two blocks. Takes ranks.
    pub fn meet(&self, a: u32, b: u32) -> u32 {
        let mut at = a;
        while !self.dominates(at, b) {
            let jump = self.jump[at as usize];
            at = if self.dominates(jump, b) { self.idom[at as usize] } else { jump };
        }
        at
    }

    /// How many blocks strictly dominate this one.
    #[inline(always)]
    pub fn height(&self, rank: u32) -> u32 {
        self.height[rank as usize]
    }

    /// How many loops contain a block.
    #[inline]
    pub fn depth(&self, rank: u32) -> u16 {
        match self.innermost[rank as usize] {
            NONE => 0,
            inner => self.loops[inner as usize].depth,
        }
    }

    /// Whether the way from one block to another leaves a loop. Takes ranks.
    pub fn leaves_loop(&self, from: u32, to: u32) -> bool {
        !self.is_within(self.innermost[to as usize], self.innermost[from as usize])
    }

    /// Whether a loop, or what is in none, is within another one, or is that.
    pub fn is_within(&self, mut inner: u32, outer: u32) -> bool {
        // Inner loops come before outer ones.
        while inner < outer {
            inner = self.loops[inner as usize].parent;
        }
        inner == outer
    }

    /// Finds by rank which blocks are cold: those that are said to be, those that lead only to cold ones, and those that only cold ones
    /// lead to. Takes `order` and `rank`.
    pub fn find_cold(&self, graph: &Graph, is_cold: &mut Vec<bool>) {
        is_cold.clear();
        is_cold.extend(self.order.iter().map(|block| graph.block(*block).heat == Heat::Cold));
        // The entry always comes first, even if it leads only to cold blocks.
        is_cold[0] = false;
        for rank in (1..self.order.len()).rev() {
            let succs = &graph.block(self.order[rank]).succs;
            // A successor that comes earlier is a loop's head, which has not been visited yet.
            let leads_to_cold = |succ: u32| succ as usize > rank && is_cold[succ as usize];
            if !succs.is_empty() && succs.iter().all(|succ| leads_to_cold(self.rank[succ.at()])) {
                is_cold[rank] = true;
            }
        }
        for rank in 1..self.order.len() {
            let preds = &graph.block(self.order[rank]).preds;
            let mut ways_in = preds.iter().map(|pred| self.rank[pred.block.at()] as usize);
            if ways_in.all(|pred| pred >= rank || is_cold[pred]) {
                is_cold[rank] = true;
            }
        }
    }

    /// Computes only `order` and `rank`.
    pub fn find_order(&mut self, graph: &Graph) {
        self.order.clear();
        self.rank.clear();
        self.rank.resize(graph.blocks.len(), NONE);
        self.stack.clear();
        self.stack.push((Graph::ENTRY, 0));
        self.rank[Graph::ENTRY.at()] = 0;
        while let Some((block, next)) = self.stack.last_mut() {
            match graph.block(*block).succs.get(*next as usize) {
                Some(&succ) => {
                    *next += 1;
                    if self.rank[succ.at()] == NONE {
                        self.rank[succ.at()] = 0;
                        self.stack.push((succ, 0));
                    }
                }
                None => {
                    self.order.push(*block);
                    self.stack.pop();
                }
            }
        }
        self.order.reverse();
        for (rank, block) in self.order.iter().enumerate() {
            self.rank[block.at()] = rank as u32;
        }
    }

    fn find_dominators(&mut self, graph: &Graph) {
        let n_blocks = self.order.len();
        for column in [&mut self.idom, &mut self.height, &mut self.jump, &mut self.first, &mut self.size] {
            column.clear();
            column.resize(n_blocks, 0);
        }
        for rank in 1..n_blocks as u32 {
            let mut idom = NONE;
            for pred in &graph.block(self.order[rank as usize]).preds {
                let pred = self.rank[pred.block.at()];
                if pred < rank {
                    idom = if idom == NONE { pred } else { self.meet_by_height(idom, pred) };
                }
            }
            self.hang(rank, idom);
        }
        self.number_tree();
        let is_reducible = self.order.iter().enumerate().all(|(rank, block)| {
            let rank = rank as u32;
            graph.block(*block).preds.iter().all(|pred| {
                let pred = self.rank[pred.block.at()];
                pred == NONE || pred < rank || self.dominates(rank, pred)
            })
        });
        if !is_reducible {
            self.iterate_dominators(graph);
            for rank in 1..n_blocks as u32 {
                self.hang(rank, self.idom[rank as usize]);
            }
            self.number_tree();
        }
    }

    fn hang(&mut self, rank: u32, idom: u32) {
        self.idom[rank as usize] = idom;
        self.height[rank as usize] = self.height[idom as usize] + 1;
        let near = self.jump[idom as usize];
        let far = self.jump[near as usize];
        let height = |rank: u32| self.height[rank as usize];
        let is_even = height(idom) - height(near) == height(near) - height(far);
        self.jump[rank as usize] = if is_even { far } else { idom };
    }

    /// The nearest common dominator; usable before the tree is numbered.
    fn meet_by_height(&self, a: u32, b: u32) -> u32 {
        let height = |rank: u32| self.height[rank as usize];
        let (mut a, mut b) = if height(a) < height(b) { (b, a) } else { (a, b) };
        while height(a) > height(b) {
            let jump = self.jump[a as usize];
            a = if height(jump) >= height(b) { jump } else { self.idom[a as usize] };
        }
        while a != b {
            let (far_a, far_b) = (self.jump[a as usize], self.jump[b as usize]);
            (a, b) =
                if far_a != far_b { (far_a, far_b) } else { (self.idom[a as usize], self.idom[b as usize]) };
        }
        a
    }

    fn iterate_dominators(&mut self, graph: &Graph) {
        self.idom.fill(NONE);
        self.idom[0] = 0;
        let mut changed = true;
        while core::mem::take(&mut changed) {
            for rank in 1..self.order.len() {
                let mut idom = NONE;
                for pred in &graph.block(self.order[rank]).preds {
                    let mut other = self.rank[pred.block.at()];
                    if other == NONE || self.idom[other as usize] == NONE {
                        continue;
                    }
                    if idom == NONE {
                        idom = other;
                    }
                    while idom != other {
                        if idom > other {
                            idom = self.idom[idom as usize];
                        } else {
                            other = self.idom[other as usize];
                        }
                    }
                }
                changed |= core::mem::replace(&mut self.idom[rank], idom) != idom;
            }
        }
    }

    /// Numbers the dominator tree so that each block's interval contains those of the blocks it dominates.
    fn number_tree(&mut self) {
        let n_blocks = self.order.len();
        self.size.fill(1);
        for rank in (1..n_blocks).rev() {
            self.size[self.idom[rank] as usize] += self.size[rank];
        }
        // The first free number in each block's subtree.
        self.work.clear();
        self.work.resize(n_blocks, 1);
        self.first[0] = 0;
        for rank in 1..n_blocks {
            let idom = self.idom[rank] as usize;
            self.first[rank] = self.work[idom];
            self.work[idom] += self.size[rank];
            self.work[rank] = self.first[rank] + 1;
        }
    }

    fn find_loops(&mut self, graph: &Graph) {
        let n_blocks = self.order.len() as u32;
        self.loops.clear();
        self.innermost.clear();
        self.innermost.resize(n_blocks as usize, NONE);
        self.work.clear();
        self.around.clear();
        for head in (0..n_blocks).rev() {
            for pred in &graph.block(self.order[head as usize]).preds {
                let pred = self.rank[pred.block.at()];
                if self.goes_around(head, pred) {
                    self.work.push(pred);
                }
            }
            if !self.work.is_empty() {
                self.fill_loop(graph, head);
            }
        }
        for inner in (0..self.loops.len()).rev() {
            let parent = self.loops[inner].parent;
            let around = if parent == NONE { 0 } else { self.loops[parent as usize].depth };
            self.loops[inner].depth = around.saturating_add(1);
        }
    }

    /// Walks backwards from the sources of a loop's back edges to its head; skips over the inner loops found before.
    fn fill_loop(&mut self, graph: &Graph, head: u32) {
        let this = self.loops.len() as u32;
        self.loops.push(NaturalLoop { head, parent: NONE, depth: 0 });
        self.around.push(this);
        self.innermost[head as usize] = this;
        while let Some(mut rank) = self.work.pop() {
            let inner = self.innermost[rank as usize];
            if inner == NONE {
                self.innermost[rank as usize] = this;
            } else {
                let outer = self.outermost(inner);
                if outer == this {
                    continue;
                }
                self.loops[outer as usize].parent = this;
                self.around[outer as usize] = this;
                rank = self.loops[outer as usize].head;
            }
            for pred in &graph.block(self.order[rank as usize]).preds {
                let pred = self.rank[pred.block.at()];
                if pred != NONE {
                    self.work.push(pred);
                }
            }
        }
    }

    /// The outermost loop found so far that encloses this one.
    fn outermost(&mut self, inner: u32) -> u32 {
        let mut at = inner;
        while self.around[at as usize] != at {
            let next = self.around[at as usize];
            self.around[at as usize] = self.around[next as usize];
            at = next;
        }
        at
    }
}
