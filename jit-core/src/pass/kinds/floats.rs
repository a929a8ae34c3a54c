//! Load words that are numbers twice: as the word that is checked, and as the float that is in it.
//!
//! In and out: a graph whose operators on kinds have been lowered, and whose loads are not merged any more. A word that is loaded to be checked and then used as a float
//! would be moved from an integer register to a float register, behind the load. A second load of the same memory takes the float from
//! there at once, and so do the ways out on which a VM register gets the word: then the word is only checked, and no register need have it. Keeps: the meaning, since nothing is between the two loads. Cost: linear.

use crate::ir::graph::{Access, Graph, NodeData};
use crate::ir::index::Node;
use crate::vocab::{Op, Sig, Type};

/// Adds the loads of floats.
pub fn load_floats(graph: &mut Graph) {
    let is_float_of_word =
        |data: &NodeData| data.op == Op::BITCAST && (data.sig.from, data.sig.ty) == (Type::I64, Type::F64);
    // The second load of each word; `NONE` for all other nodes.
    let mut floats = vec![Node::NONE; graph.nodes.len()];
    for at in 0..floats.len() {
        let data = graph.nodes[at];
        if !is_float_of_word(&data) {
            continue;
        }
        let word = graph.inputs(Node::from(at))[0];
        let load = *graph.node(word);
        let is_load = load.op == Op::LOAD && load.block.is_some() && graph.access(word) == Access::Plain;
        if !is_load {
            continue;
        }
        if !floats[word.at()].is_some() {
            let address = graph.inputs(word)[0];
            let sig = Sig { from: Type::Void, ty: Type::F64 };
            let float = graph.add(Op::LOAD, sig, &[address], load.imm, load.origin);
            graph.nodes[float.at()].block = load.block;
            floats[word.at()] = float;
        }
        graph.become_copy(Node::from(at), floats[word.at()]);
    }
    leave_with_floats(graph, &floats);
    let second = |node: &Node| floats.get(node.at()).copied().filter(|float| float.is_some());
    for block in &mut graph.blocks {
        if block.body.iter().any(|node| second(node).is_some()) {
            let body = core::mem::take(&mut block.body);
            block.body = body.into_iter().flat_map(|node| [Some(node), second(&node)]).flatten().collect();
        }
    }
}

/// Where control leaves with words, it leaves with the same bits as floats.
fn leave_with_floats(graph: &mut Graph, floats: &[Node]) {
    let mut values = Vec::new();
    for at in 0..floats.len() {
        let node = Node::from(at);
        if !graph.has_state(graph.node(node).op) {
            continue;
        }
        let float_of = |word: &Node| floats.get(word.at()).copied().filter(|float| float.is_some());
        values.clear();
        values.extend(graph.inputs(node).iter().map(|value| float_of(value).unwrap_or(*value)));
        if values != graph.inputs(node) {
            graph.set_inputs(node, &values);
        }
    }
}
