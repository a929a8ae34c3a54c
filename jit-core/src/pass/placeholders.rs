//! Put placeholders into the holes of a stencil's graph.
//!
//! In and out: the graph of one opcode. Out: no `hole_addr` is left, and no `hole` unless constants are held in registers.
//! Offsets always become constants, as no tile takes them from a register.

use super::build::Constants;
use crate::ir::graph::{Graph, NodeData};
use crate::ir::index::Node;
use crate::vocab::{Op, Sig, Type};

/// Replaces the holes of a graph by constants, which are the holes' placeholders.
pub(super) fn insert(graph: &mut Graph, constants: Constants) {
    let are_constants = constants != Constants::Held;
    for at in 0..graph.nodes.len() {
        let NodeData { op, sig, inputs, .. } = graph.nodes[at];
        // The low half of a hole becomes a constant of its own.
        if are_constants && op == Op::UCAST && sig.ty == Type::I32 {
            let of = *graph.node(graph.links[inputs.start as usize]);
            if of.op == Op::HOLE {
                let imm = sig.ty.truncate(of.imm);
                let sig = Sig { from: Type::Void, ty: sig.ty };
                graph.redefine(Node::from(at), Op::CONST, sig, &[], imm);
            }
        }
    }
    for node in &mut graph.nodes {
        match node.op {
            Op::HOLE if are_constants => node.op = Op::CONST,
            Op::HOLE_ADDR => node.op = Op::ADDR,
            _ => {}
        }
    }
}
