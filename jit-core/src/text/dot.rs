//! Prints graphs for Graphviz.
//!
//! In: a graph. Out: its text in the language `dot`: a box for each block with its nodes, and an arrow for each edge between
//! blocks. Values are not drawn as arrows, since few graphs would be readable then; they are referred to by number.

use super::print;
use crate::ir::graph::{Graph, Heat};
use crate::ir::index::Block;
use core::fmt::Write;

/// The text of a graph.
///
/// ```
/// use azulejo_core::text::{dot, parse};
/// use azulejo_core::vocab::Vocabulary;
///
/// let graph = parse::graph(Vocabulary::BUILTIN, "b0:\n    v0 = const.i64 7\n    return.i64 v0\n").expect("it is a graph");
/// let text = dot::graph(&graph);
/// assert!(text.starts_with("digraph {"));
/// assert!(text.contains("v0 = const.i64 7"));
/// ```
pub fn graph(graph: &Graph) -> String {
    let mut out = String::from("digraph {\n  node [shape=box fontname=monospace fontsize=10];\n");
    // The text of the whole graph determines the block in which each floating node is shown.
    let text = print::graph(graph);
    let mut label = String::new();
    let mut block: Option<&str> = None;
    let finish = |out: &mut String, block: Option<&str>, label: &str| {
        if let Some(block) = block {
            let style = if block.contains(" cold") { " color=gray fontcolor=gray40" } else { "" };
            let name = block.split([' ', ':']).next().unwrap_or(block);
            writeln!(out, "  {name} [label=\"{name}\\l{label}\"{style}];").expect("text has room");
        }
    };
    for line in text.lines() {
        if line.starts_with(' ') {
            label.push_str(&escaped(line.trim()));
            label.push_str("\\l");
        } else {
            finish(&mut out, block, &label);
            label.clear();
            block = Some(line);
        }
    }
    finish(&mut out, block, &label);
    for at in 0..graph.blocks.len() {
        let from = Block::from(at);
        if !graph.block(from).end.is_some() {
            // The block was removed.
            continue;
        }
        for (way, to) in graph.block(from).succs.iter().enumerate() {
            let is_cold = graph.block(*to).heat == Heat::Cold;
            let style = if is_cold { " style=dashed" } else { "" };
            writeln!(out, "  {from} -> {to} [taillabel=\"{way}\" fontsize=8{style}];")
                .expect("text has room");
        }
    }
    out.push_str("}\n");
    out
}

/// Text that may stand between quotation marks.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"")
}
