//! Hand on as a float what a stencil has computed as a float.
//!
//! In: the graph of a stencil, without operators on kinds. Out: the same graph, in which the value that is in a machine register when the next
//! bytecode starts is a float if a way computes it as one; ways that bring an integer convert it. Whether it is depends on the opcode
//! alone, and not on how a variant of the stencil finds its operands: so what is loaded or handed on itself does not count. Cost: linear in
//! the blocks.

use super::build::NEXT;
use crate::ir::graph::Graph;
use crate::ir::index::{Block, Node};
use crate::vocab::{Op, Sig, Type};

/// Makes the value a float, if it is an integer of 64 bits that serves better as one. Returns whether it is.
pub(super) fn hand_on(graph: &mut Graph) -> bool {
    let ends = (0..graph.blocks.len()).map(|at| graph.block(Block::from(at)).end);
    let is_next = |end: Node| graph.node(end).op == Op::CONTINUE_WITH && graph.node(end).imm == NEXT as u64;
    let mut ends = ends.filter(|end| end.is_some() && is_next(*end));
    let Some(end) = ends.next() else { return false };
    let value = graph.inputs(end)[2];
    let is_param = graph.node(value).op == Op::PARAM;
    let ways = if is_param { graph.inputs(value) } else { core::slice::from_ref(&value) };
    if graph.node(value).ty() != Type::I64 || !ways.iter().any(|way| is_computed_as_float(graph, *way)) {
        return false;
    }
    let (origin, mut inputs) = (graph.node(end).origin, [Node::NONE; 3]);
    inputs.copy_from_slice(graph.inputs(end));
    let sig = Sig { from: Type::I64, ty: Type::F64 };
    inputs[2] = graph.add(Op::BITCAST, sig, &[value], 0, origin);
    graph.set_inputs(end, &inputs);
    graph.nodes[end.at()].sig.from = Type::F64;
    true
}

/// Whether a value is the bits of a float that an operator has computed.
fn is_computed_as_float(graph: &Graph, mut node: Node) -> bool {
    let is_bits = graph.node(node).op == Op::BITCAST && graph.node(node).sig.from == Type::F64;
    while graph.node(node).op == Op::BITCAST {
        node = graph.inputs(node)[0];
    }
    is_bits && !matches!(graph.node(node).op, Op::LOAD | Op::CACHED | Op::CONST)
}
