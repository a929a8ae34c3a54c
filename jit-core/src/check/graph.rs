//! Judge of graphs.
//!
//! In: a graph. Out: all violations in it. Edges are judged first, since dominance depends on them; then the types, operands
//! and constant of each live node; then whether each definition dominates its uses. A floating value is available from the
//! latest of its operands on, so its operands must be on one path of the dominator tree.

use super::Violation;
use super::dominance::{Dominance, Point};
use crate::ir::graph::{Access, CallTarget, Graph, NodeData};
use crate::ir::index::{Block, Node};
use crate::ir::regions::MemoryRegion;
use crate::vocab::op::{Key, Kind};
use crate::vocab::{Op, Props, Trap, Type};

/// All violations in a graph.
pub fn graph(graph: &Graph) -> Vec<Violation> {
    let mut judge = Judge { graph, found: Vec::new() };
    judge.edges();
    if judge.found.is_empty() {
        judge.members();
        judge.definitions();
    }
    judge.found
}

struct Judge<'a> {
    graph: &'a Graph,
    found: Vec<Violation>,
}

#[derive(Clone, Copy)]
enum Visit {
    Unseen,
    Open,
    Known(Point),
}

impl Judge<'_> {
    fn wrong(&mut self, place: impl ToString, problem: impl Into<String>) {
        self.found.push(Violation { place: place.to_string(), problem: problem.into() });
    }

    fn ended_blocks(&self) -> impl Iterator<Item = Block> + use<> {
        let ended: Vec<Block> = (0..self.graph.blocks.len())
            .map(Block::from)
            .filter(|b| self.graph.block(*b).end.is_some())
            .collect();
        ended.into_iter()
    }

    fn edges(&mut self) {
        if !self.graph.blocks.first().is_some_and(|entry| entry.end.is_some()) {
            return self.wrong(Graph::ENTRY, "the entry is missing");
        }
        if !self.graph.block(Graph::ENTRY).preds.is_empty() {
            self.wrong(Graph::ENTRY, "the entry has ways in");
        }
        for block in self.ended_blocks() {
            let data = self.graph.block(block);
            let end = self.graph.node(data.end);
            let is_right = match end.op {
                Op::JUMP => data.succs.len() == 1,
                Op::BR => data.succs.len() == 2,
                Op::SWITCH => data.succs.len() > 1,
                _ => data.succs.is_empty(),
            };
            if !is_right {
                self.wrong(block, format!("{:?} with {} ways out", end.op, data.succs.len()));
            }
            for (succ, to) in data.succs.iter().enumerate() {
                let known = self.graph.blocks.get(to.at()).map_or(0, |to| {
                    to.preds.iter().filter(|p| (p.block, p.succ as usize) == (block, succ)).count()
                });
                if known != 1 {
                    self.wrong(block, format!("goes to {to}, which knows of it {known} times"));
                } else if !self.graph.block(*to).end.is_some() {
                    self.wrong(block, format!("goes to {to}, which has no end"));
                }
            }
            for pred in &data.preds {
                let source = self.graph.blocks.get(pred.block.at());
                if source.and_then(|source| source.succs.get(pred.succ as usize)) != Some(&block) {
                    self.wrong(block, format!("way {} of {} does not lead here", pred.succ, pred.block));
                }
            }
            for param in &data.params {
                if self.graph.inputs(*param).len() != data.preds.len() {
                    self.wrong(
                        param,
                        format!("has not one operand for each of {} ways in", data.preds.len()),
                    );
                }
            }
        }
    }

    /// Checks that each pinned node occurs once, in its own block, and in a part of the block that it belongs to, and that no other one has
    /// its frame state, or a part of that.
    fn members(&mut self) {
        let mut seen = vec![false; self.graph.nodes.len()];
        let mut seen_states = vec![false; self.graph.states.all.len()];
        let mut seen_registers = vec![false; self.graph.states.registers.len()];
        for block in self.ended_blocks() {
            let data = self.graph.block(block);
            let params = data.params.iter().map(|node| (*node, 0));
            let body = data.body.iter().map(|node| (*node, 1));
            for (node, part) in params.chain(body).chain([(data.end, 2)]) {
                let op = self.graph.node(node).op;
                if self.graph.node(node).block != block {
                    self.wrong(
                        node,
                        format!("stands in {block} and believes to be in {}", self.graph.node(node).block),
                    );
                }
                if core::mem::replace(&mut seen[node.at()], true) {
                    self.wrong(node, "stands twice");
                }
                let state = self.graph.node(node).imm as usize;
                if self.graph.has_state(op) && state < seen_states.len() {
                    let registers = self.graph.states.all[state].registers.range();
                    let registers = seen_registers.get_mut(registers).unwrap_or_default();
                    if core::mem::replace(&mut seen_states[state], true) || registers.contains(&true) {
                        self.wrong(node, "has the frame state of another node");
                    }
                    registers.fill(true);
                }
                let ends = self.graph.vocab.info(op).props.contains(Props::ENDS);
                let expected = if op == Op::PARAM { 0 } else { 1 + ends as u8 };
                if part != expected || self.graph.floats(node) {
                    self.wrong(node, format!("{op:?} may not stand here"));
                }
            }
        }
    }

    fn definitions(&mut self) {
        let dominance = Dominance::find(self.graph);
        let mut states = vec![Visit::Unseen; self.graph.nodes.len()];
        for block in self.ended_blocks() {
            let data = self.graph.block(block);
            for param in &data.params {
                states[param.at()] = Visit::Known(Point { block, index: 0 });
            }
            for (at, node) in data.body.iter().enumerate() {
                states[node.at()] = Visit::Known(Point { block, index: at as u32 + 1 });
            }
        }
        for block in self.ended_blocks().filter(|block| dominance.is_reached(*block)) {
            let data = self.graph.block(block);
            for &param in &data.params {
                self.types(param);
                for (pred, &input) in core::iter::zip(&data.preds, self.graph.inputs(param)) {
                    if dominance.is_reached(pred.block) {
                        let way_out = Point { block: pred.block, index: u32::MAX };
                        self.used(param, input, way_out, &mut states, &dominance);
                    }
                }
            }
            for (at, &node) in data.body.iter().chain([&data.end]).enumerate() {
                self.types(node);
                for &input in self.graph.inputs(node) {
                    self.used(node, input, Point { block, index: at as u32 + 1 }, &mut states, &dominance);
                }
            }
        }
    }

    fn used(&mut self, user: Node, input: Node, at: Point, states: &mut [Visit], dominance: &Dominance) {
        if let Some(point) = self.point(input, states, dominance)
            && !point.is_before(at, dominance)
        {
            self.wrong(user, format!("uses {input}, which is not there yet"));
        }
    }

    /// The point from which a value is available.
    fn point(&mut self, root: Node, states: &mut [Visit], dominance: &Dominance) -> Option<Point> {
        let mut stack = vec![(root, 0)];
        while let Some((node, next)) = stack.last_mut() {
            let node = *node;
            if *next == 0 {
                match states[node.at()] {
                    Visit::Known(_) => {
                        stack.pop();
                        continue;
                    }
                    Visit::Open => {
                        self.wrong(node, "is computed from itself");
                        // One report is enough.
                        stack.iter().for_each(|(node, _)| states[node.at()] = Visit::Known(Point::START));
                        return None;
                    }
                    Visit::Unseen => states[node.at()] = Visit::Open,
                }
                if !self.graph.floats(node) || self.graph.node(node).block.is_some() {
                    self.wrong(node, "is used, does not float, and stands in no block");
                    states[node.at()] = Visit::Known(Point::START);
                    return None;
                }
            }
            if let Some(&input) = self.graph.inputs(node).get(*next) {
                *next += 1;
                stack.push((input, 0));
                continue;
            }
            stack.pop();
            self.types(node);
            let mut latest = Point::START;
            for &input in self.graph.inputs(node) {
                let Visit::Known(point) = states[input.at()] else { return None };
                if latest.is_before(point, dominance) {
                    latest = point;
                } else if !point.is_before(latest, dominance) && point != latest {
                    self.wrong(node, "has operands that are nowhere all there");
                }
            }
            states[node.at()] = Visit::Known(latest);
        }
        match states[root.at()] {
            Visit::Known(point) => Some(point),
            _ => None,
        }
    }

    fn types(&mut self, node: Node) {
        let data = *self.graph.node(node);
        let info = self.graph.vocab.info(data.op);
        if !info.allows(data.sig)
            || !info.props.intersects(Props::GRAPH | Props::STENCIL | Props::KINDS | Props::CLAIM)
        {
            self.wrong(node, format!("{:?} on {} and {} means nothing", data.op, data.sig.from, data.sig.ty));
            return;
        }
        if !self.constant_fits(node) {
            self.wrong(node, format!("{:?} has the constant {}", data.op, data.imm as i64));
            if self.graph.has_state(data.op) {
                return;
            }
        }
        let operating = match info.key {
            Key::Operand | Key::Both { .. } => data.sig.from,
            Key::Result | Key::None => data.sig.ty,
        };
        let n_inputs = self.graph.inputs(node).len();
        if info.is_call() {
            let call = &self.graph.calls[data.imm as usize];
            let target = (call.target == CallTarget::Indirect).then_some(Some(Type::I64));
            let args = call.signature.args.iter().map(|ty| Some(*ty));
            self.operands(node, target.into_iter().chain(args));
        } else if info.props.contains(Props::SECOND) && !self.follows_its_call(node) {
            self.wrong(node, "is the second result of no call in its block");
        } else if data.op == Op::PARAM {
            self.operands(node, core::iter::repeat_n(Some(data.sig.ty), n_inputs));
        } else if let Some((state, registers)) = self.graph.state(node) {
            let is_value = |input: &Node| self.graph.node(*input).ty().is_value();
            if !registers.is_sorted_by(|a, b| a.register < b.register)
                || !self.graph.inputs(node).iter().all(is_value)
            {
                self.wrong(node, "has a state that is not one value for each of some registers");
            }
            let inlining = &self.graph.states.inlining;
            if !inlining.is_empty() && registers.iter().any(|to| !inlining.is_seen(state.frame, to.register))
            {
                self.wrong(node, "has a state with a register of a call that it is not in");
            }
            let values = core::iter::repeat_n(None, registers.len());
            self.operands(node, core::iter::once(Some(Type::I64)).chain(values));
        } else {
            let expected = info.operands.iter().filter_map(|kind| match kind {
                Kind::Same => Some(Some(operating)),
                Kind::Value if matches!(info.key, Key::None) => Some(None),
                Kind::Value => Some(Some(operating)),
                Kind::Ptr | Kind::Word => Some(Some(Type::I64)),
                Kind::Flag => Some(Some(Type::Flag)),
                Kind::Void | Kind::Label | Kind::Args | Kind::Arg => None,
            });
            self.operands(node, expected);
        }
    }

    /// Whether the only operand is a call in the same block.
    fn follows_its_call(&self, node: Node) -> bool {
        let [call] = self.graph.inputs(node) else { return false };
        self.graph.call(*call).is_some() && self.graph.node(*call).block == self.graph.node(node).block
    }

    /// Compares a node's operands with the expected ones: a type for each, or `None` for any type.
    fn operands(&mut self, node: Node, expected: impl Iterator<Item = Option<Type>> + Clone) {
        let graph = self.graph;
        let inputs = graph.inputs(node);
        let n_expected = expected.clone().count();
        if inputs.len() != n_expected {
            return self.wrong(node, format!("has {} operands, not {n_expected}", inputs.len()));
        }
        for (&input, expected) in core::iter::zip(inputs, expected) {
            let found = graph.node(input).ty();
            if expected.is_some_and(|expected| expected != found) {
                self.wrong(node, format!("takes {input}, which is {found}"));
            }
        }
    }

    /// Whether the number of a kind fits an operator on kinds and its types.
    fn is_kind(&self, data: &NodeData) -> bool {
        self.graph.kinds.get(data.imm as usize).is_some_and(|kind| match data.op {
            Op::UNBOX => data.sig.ty == kind.ty,
            Op::BOX => data.sig.from == kind.ty,
            _ => true,
        })
    }

    fn constant_fits(&self, node: Node) -> bool {
        let data = self.graph.node(node);
        match data.op {
            Op::CONST => data.imm == data.sig.ty.truncate(data.imm),
            Op::ADDR => data.imm as i64 == data.imm as i32 as i64,
            Op::IS | Op::UNBOX | Op::BOX => self.is_kind(data),
            Op::IDX => matches!(data.imm, 1 | 2 | 4 | 8),
            op if self.graph.vocab.info(op).is_call() => (data.imm as usize) < self.graph.calls.len(),
            op if self.graph.has_state(op) => (data.imm as usize) < self.graph.states.all.len(),
            op if self.graph.vocab.info(op).props.contains(Props::ACCESS) => {
                let (access, region) = (Access::of(data.imm), MemoryRegion::of(data.imm));
                let fits = match access {
                    Access::Plain => true,
                    // What never changes is apart from all that is written.
                    Access::Pure => data.ty() != Type::Void && region == MemoryRegion::ANY,
                    Access::Within(code) => Trap::from_code(code).is_some(),
                };
                let is_written = data.ty() == Type::Void;
                let exists = region.number() as usize <= MemoryRegion::MAX
                    || region == MemoryRegion::UNCHANGING && access == Access::Plain && !is_written;
                fits && exists && access.bits() | region.bits() == data.imm
            }
            _ => true,
        }
    }
}
