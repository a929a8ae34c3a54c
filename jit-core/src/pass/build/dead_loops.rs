//! Loops that control does not reach.
//!
//! In: the jumps of a function, and the edges of all bytecodes before a loop's head. Out: whether the head may be reached at all. Cost:
//! linear in the bytecodes; where loops without edges are nested too deeply to look at all of them, the rest count as reached.
//!
//! A loop's head starts before its edges from later bytecodes are known. It may have no others, since control may enter a loop elsewhere
//! than at its head. But a later jump to a bytecode of the loop makes that the head of another one, which overlaps it. So if no edge leads
//! to a bytecode of the loop, or of a loop that overlaps it, then none will.

use super::FunctionScratch;
use crate::ir::graph::Graph;

/// At most this many bytecodes are looked at for each bytecode of the function.
const LOOKS: usize = 8;

/// What is known of loops without edges.
#[derive(Debug, Default)]
pub(super) struct DeadLoops {
    /// Control reaches none of the bytecodes before this one that are still to be linked.
    end: usize,
    /// How many more bytecodes may be looked at.
    looks: usize,
}

impl DeadLoops {
    pub(super) fn start(&mut self, n_code: usize) {
        *self = DeadLoops { end: 0, looks: n_code.saturating_mul(LOOKS) };
    }
}

impl FunctionScratch {
    /// Whether control does not reach a loop whose head has no edge so far. All bytecodes before the head have been linked.
    pub(super) fn is_dead_loop(&mut self, graph: &Graph, head: usize) -> bool {
        let FunctionScratch { leaders, last_jump, dead_loops: DeadLoops { end, looks }, .. } = self;
        if head < *end {
            return true;
        }
        let (mut at, mut last) = (head, head);
        while at <= last {
            if *looks == 0 {
                return false;
            }
            *looks -= 1;
            if leaders[at].is_some() {
                if !graph.block(leaders[at]).preds.is_empty() {
                    return false;
                }
                last = last.max(last_jump[at] as usize);
            }
            at += 1;
        }
        *end = at;
        true
    }
}
