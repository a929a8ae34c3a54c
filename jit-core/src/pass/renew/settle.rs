//! Which parameters may be made anew.
//!
//! In: the sources, what flows from one to another, and their uses. Out: whether each source is good: a parameter only if all that flows to it
//! is, and a call or parameter only if nobody can tell whether what it flows to is the same memory.

use super::{MemorySource, Scratch, SourceFinder, SourceFlow, SourceUse, SourceUseKind, Start, is_same};
use crate::ir::index::Node;
use crate::pass::flow::{FlowGraph, NONE};

impl SourceFinder<'_> {
    /// Finds the call that makes what each parameter has, of those of a loop's head what it has after the first iteration, if only that may be
    /// made anew.
    pub(super) fn settle_calls(&mut self) {
        if self.start == Start::Anything {
            self.find_other_starts();
        }
        self.find_calls(|_, _| true);
    }

    /// Takes sources away until the others do not depend on them.
    pub(super) fn settle(&mut self) {
        let mut has_changed = true;
        while core::mem::take(&mut has_changed) {
            for of in 0..self.scratch.sources.len() as u32 {
                if self.scratch.sources[of as usize].is_good && !self.may_stay(of) {
                    self.scratch.sources[of as usize].is_good = false;
                    has_changed = true;
                }
            }
        }
    }

    /// What a loop starts with that other calls make than what it carries is as good as anything else.
    fn find_other_starts(&mut self) {
        self.find_calls(|scratch, one| !scratch.starts_loop(one));
        for at in (0..self.scratch.flows.len()).rev() {
            let one = self.scratch.flows[at];
            let [from, to] = [one.from, one.to].map(|of| self.scratch.sources[of as usize]);
            let is_other = from.call.is_some() && !self.is_made_alike(from.call, to.call);
            if to.call.is_some() && self.scratch.starts_loop(&one) && is_other {
                self.scratch.flows.remove(at);
                self.scratch.sources[one.to as usize].starts_with_other = true;
                let start =
                    SourceUse { of: one.from, rank: one.pred, node: to.node, kind: SourceUseKind::Escape };
                self.scratch.uses.push(start);
            }
        }
    }

    /// Finds a call that makes what each parameter has, on the way of flows of this sort.
    fn find_calls(&mut self, follows: impl Fn(&Scratch, &SourceFlow) -> bool) {
        let followed: Vec<SourceFlow> =
            self.scratch.flows.iter().copied().filter(|one| follows(self.scratch, one)).collect();
        let sources = &mut self.scratch.sources;
        sources.iter_mut().filter(|source| source.is_param).for_each(|source| source.call = Node::NONE);
        let mut has_more = true;
        while core::mem::take(&mut has_more) {
            for one in &followed {
                let call = sources[one.from as usize].call;
                let to = &mut sources[one.to as usize];
                if !to.call.is_some() && call.is_some() {
                    to.call = call;
                    has_more = true;
                }
            }
        }
    }

    fn may_stay(&mut self, of: u32) -> bool {
        let source = self.scratch.sources[of as usize];
        let flows_in = self.scratch.flows.iter().filter(|one| one.to == of);
        let all_are_good = flows_in.clone().all(|one| {
            let from = &self.scratch.sources[one.from as usize];
            from.is_good && self.is_made_alike(from.call, source.call)
        });
        if source.is_param && !(source.call.is_some() && all_are_good) {
            return false;
        }
        let is_next = |one: &SourceFlow| one.from == of && self.scratch.sources[one.to as usize].is_good;
        let next: Vec<SourceFlow> = self.scratch.flows.iter().copied().filter(is_next).collect();
        // What goes nowhere is of no interest.
        if next.is_empty() && !source.is_param {
            return true;
        }
        self.find_ways_to(source.home, &next);
        self.find_live(of, &next);
        self.is_secret(of, &next) && self.is_over(source.home, &next)
    }

    /// Whether two calls do the same, wherever that is.
    fn is_made_alike(&self, one: Node, other: Node) -> bool {
        let graph = self.graph;
        one.is_some()
            && other.is_some()
            && graph.call(one) == graph.call(other)
            && graph.node(one).op == graph.node(other).op
            && core::iter::zip(graph.inputs(one), graph.inputs(other)).all(|(a, b)| is_same(graph, *a, *b))
    }

    /// Finds from where control may come to what has the memory next, without what makes it.
    fn find_ways_to(&mut self, home: u32, next: &[SourceFlow]) {
        let Scratch { leads_on, work, flow, .. } = &mut *self.scratch;
        start(leads_on, flow);
        for one in next {
            mark(leads_on, work, one.pred);
        }
        self.walk_back(home, |scratch| &mut scratch.leads_on);
    }

    /// Finds where the source is used later.
    fn find_live(&mut self, of: u32, next: &[SourceFlow]) {
        let MemorySource { home, .. } = self.scratch.sources[of as usize];
        let Scratch { is_live, work, flow, uses, sources, flows, .. } = &mut *self.scratch;
        start(is_live, flow);
        let users =
            uses.iter().filter(|one| one.of == of && one.kind != SourceUseKind::Hold).map(|one| one.rank);
        let to_others = flows.iter().filter(|one| one.from == of && !sources[one.to as usize].is_good);
        for rank in users.chain(to_others.chain(next).map(|one| one.pred)) {
            if rank != home {
                mark(is_live, work, rank);
            }
        }
        self.walk_back(home, |scratch| &mut scratch.is_live);
    }

    /// Marks all blocks from which control comes to the marked ones, up to one.
    fn walk_back(&mut self, home: u32, marks: impl Fn(&mut Scratch) -> &mut Vec<bool>) {
        let mut work = core::mem::take(&mut self.scratch.work);
        while let Some(rank) = work.pop() {
            if rank == home {
                continue;
            }
            for pred in &self.graph.block(self.scratch.flow.order[rank as usize]).preds {
                let pred = self.scratch.flow.rank[pred.block.at()];
                if pred != NONE {
                    mark(marks(self.scratch), &mut work, pred);
                }
            }
        }
        self.scratch.work = work;
    }

    /// Whether nobody else has the address where something has the memory next, and who gets it gets it seldom, if the memory is not made
    /// seldom itself.
    fn is_secret(&self, of: u32, next: &[SourceFlow]) -> bool {
        let Scratch { sources, flows, uses, leads_on, is_cold, flow, .. } = &*self.scratch;
        let home = sources[of as usize].home;
        let escapes =
            uses.iter().filter(|one: &&SourceUse| one.of == of && one.kind == SourceUseKind::Escape);
        let to_others = flows.iter().filter(|one| one.from == of && !sources[one.to as usize].is_good);
        let mut ranks = escapes.map(|one| one.rank).chain(to_others.map(|one| one.pred));
        let depth = |one: &SourceFlow| flow.depth(sources[one.to as usize].home);
        let is_seldom = next.iter().any(|one| depth(one) > flow.depth(home));
        ranks.all(|rank| {
            !leads_on[rank as usize] && (is_seldom || is_cold[rank as usize] || flow.leaves_loop(home, rank))
        })
    }

    /// Whether what a source has is used no more once something has it next, and one thing has it only.
    fn is_over(&self, home: u32, next: &[SourceFlow]) -> bool {
        let Scratch { sources, is_live, .. } = &*self.scratch;
        next.iter().all(|one| {
            let block = sources[one.to as usize].home;
            let is_alone = next.iter().all(|other| {
                (other.way, sources[other.to as usize].home) != (one.way, block) || other.to == one.to
            });
            is_alone && (block == home || !is_live[block as usize])
        })
    }
}

impl Scratch {
    /// Whether a loop starts with what flows there.
    fn starts_loop(&self, one: &SourceFlow) -> bool {
        let home = self.sources[one.to as usize].home;
        let goes_around = |other: &SourceFlow| other.to == one.to && self.flow.goes_around(home, other.pred);
        !self.flow.goes_around(home, one.pred) && self.flows.iter().any(goes_around)
    }
}

fn start(marks: &mut Vec<bool>, flow: &FlowGraph) {
    marks.clear();
    marks.resize(flow.order.len(), false);
}

/// Marks a block.
fn mark(marks: &mut [bool], work: &mut Vec<u32>, rank: u32) {
    if !core::mem::replace(&mut marks[rank as usize], true) {
        work.push(rank);
    }
}
