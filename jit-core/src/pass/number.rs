//! Number values: of floating nodes that compute the same, one remains.
//!
//! In and out: a graph. Keeps: the blocks and all pinned nodes. Cost: linear.
//!
//! A floating node depends on its operands alone and is placed later, so equal nodes need not dominate one another.
//! Operands are numbered before users; parameters are equal only to themselves. `rewrite` also uses [`Table`], to number
//! values in the same walk.

use crate::ir::graph::Graph;
use crate::ir::index::Node;
use crate::vocab::Props;

/// A hash table of the floating nodes seen so far, by what they compute; open addressing, memory kept between functions.
///
/// Nodes are looked up at about the time of their operands, so a node's first cell is near that of its last operand: in a
/// long function the cells visited next are those visited last, and are still in the cache. Where many nodes share an
/// operand, that neighborhood fills up; after [`NEAR`] cells the search continues at a cell chosen by the whole hash.
#[derive(Clone, Debug, Default)]
pub struct Table {
    cells: Vec<Cell>,
    len: usize,
}

#[derive(Clone, Copy, Debug)]
struct Cell {
    hash: u32,
    node: Node,
}

/// How many cells are searched near an operand's cell.
const NEAR: usize = 4;
/// How far a node's first cell may be from its operand's.
const SPREAD: usize = 512;
/// How many cells the first cells of nodes without operands are spread over.
const SPREAD_OF_LEAVES: usize = 1 << 13;

const FREE: Cell = Cell { hash: 0, node: Node::NONE };

impl Table {
    /// Empties the table, and sizes it for about this many nodes.
    pub fn clear(&mut self, expected: usize) {
        let size = (expected * 2).next_power_of_two().max(64);
        self.cells.clear();
        self.cells.resize(size, FREE);
        self.len = 0;
    }

    /// Returns the first node looked up that computes the same as this one; if there is none, enters this node and returns
    /// it.
    pub fn find(&mut self, graph: &Graph, node: Node) -> Node {
        if self.len * 2 >= self.cells.len() {
            self.grow(graph);
        }
        let (hash, place) = hash(graph, node);
        let at = match self.search(graph, node, hash, place) {
            Ok(known) => return known,
            Err(free) => free,
        };
        self.cells[at] = Cell { hash, node };
        self.len += 1;
        node
    }

    /// The node that computes the same, or the free cell for this one.
    #[inline(always)]
    fn search(&self, graph: &Graph, node: Node, hash: u32, place: usize) -> Result<Node, usize> {
        let mask = self.cells.len() - 1;
        let mut at = place & mask;
        let mut n_searched = 0;
        loop {
            let cell = self.cells[at];
            if !cell.node.is_some() {
                return Err(at);
            }
            if cell.hash == hash && is_equal(graph, cell.node, node) {
                return Ok(cell.node);
            }
            n_searched += 1;
            at = if n_searched == NEAR { hash as usize & mask } else { (at + 1) & mask };
        }
    }

    fn grow(&mut self, graph: &Graph) {
        let size = (self.cells.len() * 2).max(64);
        let old = core::mem::replace(&mut self.cells, vec![FREE; size]);
        for cell in old.into_iter().filter(|cell| cell.node.is_some()) {
            let (hash, place) = hash(graph, cell.node);
            // No two nodes in the table are equal. The search may still find one, if operands have changed since a node was
            // entered.
            if let Err(at) = self.search(graph, cell.node, hash, place) {
                self.cells[at] = Cell { hash, ..cell };
            }
        }
    }
}

/// The hash and the first cell of a node; the same for equal nodes, whatever the order of commutative operands.
#[inline]
fn hash(graph: &Graph, node: Node) -> (u32, usize) {
    const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
    let data = graph.node(node);
    let types = (data.sig.from as u64) << 8 | data.sig.ty as u64;
    let mut hash = ((data.op.0 as u64) << 16 | types).wrapping_mul(FACTOR) ^ data.imm;
    let last = match *graph.inputs(node) {
        [] => {
            let hash = (hash.wrapping_mul(FACTOR) >> 32) as u32;
            return (hash, hash as usize % SPREAD_OF_LEAVES);
        }
        [a, b] => {
            let (least, last) = (a.0.min(b.0), a.0.max(b.0));
            hash = hash.wrapping_mul(FACTOR) ^ least as u64;
            hash = hash.wrapping_mul(FACTOR) ^ last as u64;
            last
        }
        ref inputs => {
            let mut last = 0;
            for input in inputs {
                hash = hash.wrapping_mul(FACTOR) ^ input.0 as u64;
                last = last.max(input.0);
            }
            last
        }
    };
    let hash = (hash.wrapping_mul(FACTOR) >> 32) as u32;
    (hash, 2 * last as usize + hash as usize % SPREAD)
}

fn is_equal(graph: &Graph, a: Node, b: Node) -> bool {
    let (left, right) = (graph.node(a), graph.node(b));
    if (left.op, left.sig, left.imm) != (right.op, right.sig, right.imm) {
        return false;
    }
    match (graph.inputs(a), graph.inputs(b)) {
        (&[a, b], &[c, d]) => {
            (a, b) == (c, d)
                || ((a, b) == (d, c) && graph.vocab.info(left.op).props.contains(Props::COMMUTES))
        }
        (left, right) => left == right,
    }
}

/// Memory kept between functions.
#[derive(Debug, Default)]
pub struct Scratch {
    table: Table,
    /// For each node its representative; `NONE` until the node is visited.
    leader: Vec<Node>,
    stack: Vec<(Node, u32)>,
}

/// Redirects every use of a floating node to the first node that computes the same.
pub fn number(scratch: &mut Scratch, graph: &mut Graph) {
    scratch.table.clear(graph.nodes.len());
    scratch.leader.clear();
    scratch.leader.resize(graph.nodes.len(), Node::NONE);
    for at in 0..graph.blocks.len() {
        let n_params = graph.blocks[at].params.len();
        let n_body = graph.blocks[at].body.len();
        let end = graph.blocks[at].end;
        for index in 0..n_params {
            scratch.number_operands(graph, graph.blocks[at].params[index]);
        }
        for index in 0..n_body {
            scratch.number_operands(graph, graph.blocks[at].body[index]);
        }
        if end.is_some() {
            scratch.number_operands(graph, end);
        }
    }
}

impl Scratch {
    fn number_operands(&mut self, graph: &mut Graph, user: Node) {
        for link in graph.node(user).inputs.range() {
            let input = graph.links[link];
            self.number_tree(graph, input);
            if self.leader[input.at()].is_some() {
                graph.links[link] = self.leader[input.at()];
            }
        }
    }

    fn number_tree(&mut self, graph: &mut Graph, root: Node) {
        self.stack.push((root, 0));
        while let Some(&(node, next)) = self.stack.last() {
            if graph.node(node).block.is_some() || self.leader[node.at()].is_some() {
                self.stack.pop();
                continue;
            }
            let inputs = graph.node(node).inputs;
            if next < inputs.len {
                self.stack.last_mut().expect("it was just read").1 += 1;
                self.stack.push((graph.links[inputs.start as usize + next as usize], 0));
                continue;
            }
            for link in inputs.range() {
                let leader = self.leader[graph.links[link].at()];
                if leader.is_some() {
                    graph.links[link] = leader;
                }
            }
            self.leader[node.at()] = self.table.find(graph, node);
            self.stack.pop();
        }
    }
}
