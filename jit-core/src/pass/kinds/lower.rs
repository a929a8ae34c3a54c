//! Replace operators on kinds by their formulas.
//!
//! In: a graph with `is`, `unbox` and `box`. Out: the same graph without them. Frame states take values out of boxes. What is in a box that was just made is not taken
//! out of it, and is not checked. Cost: linear.

use crate::ir::graph::{Graph, NodeData};
use crate::ir::index::{Block, Node};
use crate::ir::state::Boxes;
use crate::vocab::Op;

/// Lowers all operators on kinds.
pub fn lower(graph: &mut Graph) {
    if graph.kinds.is_empty() {
        return;
    }
    take_out_of_states(graph);
    let mut values = Vec::new();
    for at in 0..graph.nodes.len() {
        let node = Node::from(at);
        // Nothing is checked where `speculate` is left.
        if graph.nodes[at].op == Op::SPECULATE {
            let flag = graph.known_flag(true, graph.nodes[at].origin);
            graph.nodes[at] = *graph.node(flag);
        }
        if !matches!(graph.node(node).op, Op::IS | Op::UNBOX) {
            continue;
        }
        let (data, input) = (*graph.node(node), graph.inputs(node)[0]);
        let inside = *graph.node(input);
        let is_same = inside.imm == data.imm;
        match data.op {
            _ if inside.op != Op::BOX => expand(graph, node, &mut values),
            Op::IS => {
                let flag = graph.known_flag(is_same, data.origin);
                graph.nodes[at] = *graph.node(flag);
            }
            _ if is_same => graph.become_copy(node, graph.inputs(input)[0]),
            _ => expand(graph, node, &mut values),
        }
    }
    // Boxes come last, because the others look at them.
    for at in 0..graph.nodes.len() {
        if graph.nodes[at].op == Op::BOX {
            expand(graph, Node::from(at), &mut values);
        }
    }
    graph.kinds = &[];
}

/// Gives frame states the values that are in boxes, which are made only when control leaves.
fn take_out_of_states(graph: &mut Graph) {
    graph.states.boxes = Boxes { vocab: graph.vocab, kinds: graph.kinds };
    for at in 0..graph.blocks.len() {
        let Some(end) = graph.end_with_state(Block::from(at)) else { continue };
        let inputs = graph.node(end).inputs.range().skip(1);
        let registers = graph.states.all[graph.node(end).imm as usize].registers.range();
        for (input, register) in inputs.zip(registers) {
            let data = graph.node(graph.links[input]);
            if data.op == Op::BOX && graph.states.boxes.can_make(data.imm) {
                graph.states.registers[register].kind = Some(data.imm as u8);
                graph.links[input] = graph.inputs(graph.links[input])[0];
            }
        }
    }
}

/// Replaces an operator by the operators of its formula.
fn expand(graph: &mut Graph, node: Node, values: &mut Vec<Node>) {
    let NodeData { op, imm, origin, .. } = *graph.node(node);
    let formula = graph.kinds[imm as usize].formula(op);
    values.clear();
    values.push(graph.inputs(node)[0]);
    let mut inputs = Vec::with_capacity(2);
    for (number, term) in formula.terms.iter().enumerate() {
        inputs.clear();
        inputs.extend(term.inputs.iter().map(|input| values[*input as usize]));
        let is_last = number + 1 == formula.terms.len();
        if is_last && Graph::is_normal(term.op) {
            return graph.redefine(node, term.op, term.sig, &inputs, term.imm as u64);
        }
        values.push(graph.add_normal(term.op, term.sig, &inputs, term.imm as u64, origin));
    }
    graph.become_copy(node, *values.last().expect("the argument is the first"));
}
