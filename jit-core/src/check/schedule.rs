//! Judge of schedules.
//!
//! In: a graph and its schedule. Out: all violations: a reachable block that is missing or occurs twice, a cold block before a
//! hot one, a node that is missing, occurs twice or is dead, pinned nodes out of order, a use that its definition does not
//! dominate in the given order.

use super::Violation;
use super::dominance::{Dominance, Point};
use crate::ir::graph::Graph;
use crate::ir::index::Node;
use crate::ir::schedule::Schedule;
use crate::vocab::Op;

/// All violations in the schedule of a graph.
pub fn schedule(graph: &Graph, schedule: &Schedule) -> Vec<Violation> {
    let mut judge = Judge { graph, schedule, found: Vec::new() };
    judge.blocks();
    if judge.found.is_empty() {
        judge.pinned();
        judge.uses();
    }
    judge.found
}

struct Judge<'a> {
    graph: &'a Graph,
    schedule: &'a Schedule,
    found: Vec<Violation>,
}

impl Judge<'_> {
    fn wrong(&mut self, place: impl ToString, problem: impl Into<String>) {
        self.found.push(Violation { place: place.to_string(), problem: problem.into() });
    }

    fn blocks(&mut self) {
        let schedule = self.schedule;
        let mut reached = self.graph.reverse_postorder();
        let mut listed: Vec<_> = schedule.blocks.iter().map(|block| block.block).collect();
        if listed.first() != Some(&Graph::ENTRY) {
            self.wrong(Graph::ENTRY, "does not stand first");
        }
        reached.sort();
        listed.sort();
        if listed != reached {
            self.wrong("blocks", format!("{listed:?} are listed, {reached:?} are reachable"));
        }
        for (position, block) in schedule.blocks.iter().enumerate() {
            if schedule.position.get(block.block.at()) != Some(&(position as u32)) {
                self.wrong(block.block, "is not where `position` says");
            }
            if position > 0 && schedule.blocks[position - 1].cold && !block.cold {
                self.wrong(block.block, "stands behind a cold block and is not cold");
            }
        }
    }

    fn pinned(&mut self) {
        for block in &self.schedule.blocks {
            let data = self.graph.block(block.block);
            let nodes = self.schedule.nodes(block);
            let pinned: Vec<Node> =
                nodes.iter().copied().filter(|node| self.graph.node(*node).block.is_some()).collect();
            let expected: Vec<Node> = data.body.iter().chain([&data.end]).copied().collect();
            if pinned != expected {
                self.wrong(block.block, format!("has the pinned nodes {pinned:?}, not {expected:?}"));
            }
            if nodes.last() != Some(&data.end) {
                self.wrong(block.block, "does not close with its end");
            }
        }
    }

    fn uses(&mut self) {
        let dominance = Dominance::find(self.graph);
        let mut points = vec![None; self.graph.nodes.len()];
        let mut is_used = vec![false; self.graph.nodes.len()];
        for block in &self.schedule.blocks {
            let params = self.graph.block(block.block).params.iter().map(|param| (0, *param));
            let nodes = self.schedule.nodes(block).iter().enumerate().map(|(at, node)| (at + 1, *node));
            for (index, node) in params.chain(nodes) {
                let point = Point { block: block.block, index: index as u32 };
                if points[node.at()].replace(point).is_some() {
                    self.wrong(node, "is listed twice");
                }
            }
        }
        let live: Vec<Node> =
            (0..points.len()).map(Node::from).filter(|node| points[node.at()].is_some()).collect();
        for node in live {
            let data = self.graph.node(node);
            for (way, &input) in self.graph.inputs(node).iter().enumerate() {
                is_used[input.at()] = true;
                let at = match data.op {
                    Op::PARAM => {
                        Point { block: self.graph.block(data.block).preds[way].block, index: u32::MAX }
                    }
                    _ => points[node.at()].expect("it is listed"),
                };
                match points[input.at()] {
                    None => self.wrong(node, format!("uses {input}, which is not listed")),
                    Some(point) if !point.is_before(at, &dominance) => {
                        self.wrong(node, format!("uses {input}, which is not there yet"));
                    }
                    Some(_) => {}
                }
            }
        }
        for (at, point) in points.iter().enumerate() {
            let node = Node::from(at);
            if point.is_some() && !is_used[at] && !self.graph.node(node).block.is_some() {
                self.wrong(node, "is listed and nobody uses it");
            }
        }
    }
}
