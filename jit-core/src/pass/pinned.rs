//! Take constants from the registers in which baseline code keeps them.
//!
//! In: the optimized graph of a stencil, and the constants that the bytecode type pins. Out: the same graph, in which operators use
//! `pinned0` and `pinned1` in place of those constants. What is added to a value becomes an index, so that an access at the sum takes both
//! registers and adds nothing. Constants that fit an instruction stay, and so do those that go to parameters of blocks: these are values
//! that change.

use crate::ir::graph::Graph;
use crate::ir::index::Node;
use crate::vocab::{Op, Sig, Type};

/// How many constants can be pinned.
pub const MAX_PINNED: usize = 2;

const OPS: [Op; MAX_PINNED] = [Op::PINNED0, Op::PINNED1];
const WORD: Sig = Sig { from: Type::Void, ty: Type::I64 };

/// Replaces constants by what is pinned. Returns whether there were any.
pub(super) fn insert(graph: &mut Graph, pinned: &[u64]) -> bool {
    let mut found = [Node::NONE; MAX_PINNED];
    for at in 0..graph.nodes.len() {
        let data = graph.nodes[at];
        if data.op == Op::PARAM {
            continue;
        }
        for input in data.inputs.range() {
            let of = *graph.node(graph.links[input]);
            let is_wide = of.op == Op::CONST && of.ty() == Type::I64 && of.imm as i64 != of.imm as i32 as i64;
            let Some(which) = pinned.iter().position(|bits| is_wide && *bits == of.imm) else { continue };
            if !found[which].is_some() {
                found[which] = graph.add(OPS[which], WORD, &[], 0, of.origin);
            }
            graph.links[input] = found[which];
            if data.op == Op::ADD {
                let other =
                    data.inputs.range().find(|other| *other != input).expect("an addition has two operands");
                let inputs = [graph.links[other], found[which]];
                graph.redefine(Node::from(at), Op::IDX, WORD, &inputs, 1);
                break;
            }
        }
    }
    found != [Node::NONE; MAX_PINNED]
}
