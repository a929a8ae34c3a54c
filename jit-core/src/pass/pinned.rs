//! Take constants from the registers in which baseline code keeps them.
//!
//! In: the optimized graph of a stencil, and the constants that the bytecode type pins. Out: the same graph, in which operators use
//! `pinned0` and `pinned1` in place of those constants. What is added to a value becomes an index, so that an access at the sum takes both
//! registers and adds nothing. Constants that fit an instruction stay, and so do those that go to parameters of blocks: these are values
//! that change.
//!
//! A value is compared with a constant whose negation is pinned by the sum of the two: `x >= c` is `x - c < -c`, if nothing is signed. Where
//! `c` is what stands above the address in a box, the sum is the address, which whoever has compared wants.

use crate::ir::graph::Graph;
use crate::ir::index::Node;
use crate::vocab::{Op, Sig, Type};

/// How many constants can be pinned.
pub const MAX_PINNED: usize = 2;

const OPS: [Op; MAX_PINNED] = [Op::PINNED0, Op::PINNED1];
const WORD: Sig = Sig { from: Type::Void, ty: Type::I64 };

/// The nodes of pinned constants, and the sums of them and of other values.
struct Found<'a> {
    pinned: &'a [u64],
    nodes: [Node; MAX_PINNED],
    /// The value, the constant's node, and the sum.
    sums: Vec<(Node, Node, Node)>,
}

/// Replaces constants by what is pinned. Returns whether there were any.
pub(super) fn insert(graph: &mut Graph, pinned: &[u64]) -> bool {
    let mut found = Found { pinned, nodes: [Node::NONE; MAX_PINNED], sums: Vec::new() };
    let last = graph.nodes.len();
    (0..last).for_each(|at| found.replace_inputs(graph, Node::from(at)));
    (0..last).for_each(|at| found.compare_sum(graph, Node::from(at)));
    found.nodes != [Node::NONE; MAX_PINNED]
}

impl Found<'_> {
    /// The node of a pinned constant, if these are its bits.
    fn node(&mut self, graph: &mut Graph, bits: u64, origin: u32) -> Option<Node> {
        let which = self.pinned.iter().position(|pinned| *pinned == bits)?;
        if !self.nodes[which].is_some() {
            self.nodes[which] = graph.add(OPS[which], WORD, &[], 0, origin);
        }
        Some(self.nodes[which])
    }

    /// Takes the operands of a node that are pinned from where they are kept.
    fn replace_inputs(&mut self, graph: &mut Graph, node: Node) {
        let data = *graph.node(node);
        if data.op == Op::PARAM {
            return;
        }
        for input in data.inputs.range() {
            let of = *graph.node(graph.links[input]);
            let Some(pinned) =
                wide_bits(graph, graph.links[input]).and_then(|bits| self.node(graph, bits, of.origin))
            else {
                continue;
            };
            graph.links[input] = pinned;
            if data.op == Op::ADD {
                let other =
                    data.inputs.range().find(|other| *other != input).expect("an addition has two operands");
                let value = graph.links[other];
                graph.redefine(node, Op::IDX, WORD, &[value, pinned], 1);
                self.sums.push((value, pinned, node));
                break;
            }
        }
    }

    /// Compares the sum, if the node compares a value with a constant whose negation is pinned.
    fn compare_sum(&mut self, graph: &mut Graph, node: Node) {
        let data = *graph.node(node);
        let opposite = match data.op {
            Op::UGE => Op::ULT,
            Op::ULT => Op::UGE,
            _ => return,
        };
        let [value, constant] = [0, 1].map(|at| graph.links[data.inputs.start as usize + at]);
        let Some(bits) = wide_bits(graph, constant) else { return };
        let Some(pinned) = self.node(graph, bits.wrapping_neg(), data.origin) else { return };
        let known = self.sums.iter().find(|(of, by, _)| (*of, *by) == (value, pinned)).map(|(.., sum)| *sum);
        let sum = known.unwrap_or_else(|| {
            let sum = graph.add(Op::IDX, WORD, &[value, pinned], 1, data.origin);
            self.sums.push((value, pinned, sum));
            sum
        });
        graph.redefine(node, opposite, data.sig, &[sum, pinned], 0);
    }
}

/// The bits of a node, if it is a constant that no instruction has room for.
fn wide_bits(graph: &Graph, node: Node) -> Option<u64> {
    let data = graph.node(node);
    let is_wide = data.op == Op::CONST && data.ty() == Type::I64 && data.imm as i64 != data.imm as i32 as i64;
    is_wide.then_some(data.imm)
}
