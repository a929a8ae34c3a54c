//! Executes a tile list by the meaning of its tiles' patterns: the judge of the selection by `tile`.
//!
//! In: a tile list, the graph that it was made from (for the types inside patterns), the tile set, and a machine as in
//! [`super::evaluate`]. Out: the way the function ended. A register holds the value that was written last, memory is accessed
//! when an instruction is executed, and a flag lives until the next instruction. So a value that is read too early, a load
//! that was moved past a store, or a missing flag changes the outcome.

use super::Violation;
use super::evaluate::{Environment, Outcome};
use crate::grammar::pattern::{Pattern, PatternShape, Symbol, is_const};
use crate::grammar::{TileSet, text};
use crate::ir::graph::{CallTarget, Graph};
use crate::ir::index::Node;
use crate::ir::state::{Saved, SavedValue, TileState};
use crate::ir::tiles::{Edge, Operand, Role, TileBlock, TileList};
use crate::vocab::op::{Param, Props};
use crate::vocab::{Op, Sig, Type};

/// The patterns of a tile set, parsed once for many executions.
#[derive(Debug)]
pub struct Patterns(Vec<Pattern>);

impl Patterns {
    /// Parses the patterns of all tiles.
    pub fn of(set: &TileSet) -> Patterns {
        let read = |pattern: &str| {
            let rules = text::rules(&format!("tile: {pattern} -> void, 0")).ok()?;
            rules.into_iter().next().map(|rule| rule.pattern)
        };
        Patterns(
            set.tiles
                .iter()
                .map(|tile| read(tile.pattern).expect("patterns are printed to be read"))
                .collect(),
        )
    }
}

/// Executes a tile list until it ends or has executed more than `max_steps` instructions.
pub fn execute(
    graph: &Graph,
    list: &TileList,
    set: &TileSet,
    patterns: &Patterns,
    machine: &mut Environment<'_>,
    max_steps: usize,
) -> Result<Outcome, Violation> {
    let values = vec![None; list.vregs.len()];
    let mut run = Execution { graph, list, set, patterns, machine, values, flag: None, fault: None };
    let mut block = &list.blocks[0];
    let mut steps = 0;
    loop {
        let mut end = End::default();
        for inst in block.insts.range() {
            steps += 1;
            end = run.inst(inst)?;
            if let Some(trap) = run.fault {
                return Ok(trap);
            }
        }
        if steps > max_steps {
            return Ok(Outcome::OutOfSteps);
        }
        match run.leave(block, end)? {
            NextEdge::Edge(edge) => block = run.follow(edge)?,
            NextEdge::Ended(outcome) => return Ok(outcome),
        }
    }
}

enum NextEdge {
    Edge(Edge),
    Ended(Outcome),
}

/// The outcome of the last instruction of a block.
#[derive(Clone, Copy, Default)]
struct End {
    op: Option<Op>,
    value: u64,
    imm: i64,
    origin: u32,
    inst: usize,
}

struct Execution<'a, 'm> {
    graph: &'a Graph,
    list: &'a TileList,
    set: &'a TileSet,
    patterns: &'a Patterns,
    machine: &'a mut Environment<'m>,
    values: Vec<Option<u64>>,
    flag: Option<u64>,
    /// The trap of an access that faulted.
    fault: Option<Outcome>,
}

/// The operands that an instruction has not read yet, in pattern order.
struct OperandQueue {
    uses: Vec<u64>,
    n_used: usize,
    imms: Vec<i64>,
    n_imms: usize,
    bound: Vec<(String, u64)>,
}

impl OperandQueue {
    fn next(&mut self) -> u64 {
        self.n_used += 1;
        self.uses[self.n_used - 1]
    }

    fn imm(&mut self) -> i64 {
        self.n_imms += 1;
        self.imms[self.n_imms - 1]
    }
}

impl<'a> Execution<'a, '_> {
    fn wrong<T>(&self, inst: usize, problem: impl Into<String>) -> Result<T, Violation> {
        let name = self.set.tiles[self.list.insts[inst].tile.0 as usize].name;
        Err(Violation { place: format!("{inst} {name}"), problem: problem.into() })
    }

    fn inst(&mut self, at: usize) -> Result<End, Violation> {
        let (list, set) = (self.list, self.set);
        let inst = &list.insts[at];
        let info = &set.tiles[inst.tile.0 as usize];
        let mut uses = Vec::new();
        for operand in list.operands(at).iter().filter(|o| matches!(o.role, Role::Use | Role::LateUse)) {
            match self.values[operand.vreg.at()] {
                Some(value) => uses.push(value),
                None => return self.wrong(at, format!("{} has no value", operand.vreg)),
            }
        }
        if info.entry {
            self.entry(at);
            return Ok(End::default());
        }
        let pattern = &self.patterns.0[inst.tile.0 as usize];
        let mut operands =
            OperandQueue { uses, n_used: 0, imms: list.imms(at).to_vec(), n_imms: 0, bound: Vec::new() };
        let flag = self.flag.take();
        let (value, end) = if inst.node.is_some() {
            let value = self.pattern(at, pattern, inst.node, &mut operands, flag)?;
            let data = self.graph.node(inst.node);
            (
                value,
                End {
                    op: Some(data.op),
                    value,
                    imm: operands.imms.last().copied().unwrap_or(0),
                    origin: data.origin,
                    inst: at,
                },
            )
        } else {
            (0, End { op: Some(Op::JUMP), ..End::default() })
        };
        if info.result == Symbol::Flag {
            self.flag = Some(value);
        }
        // Behind a call's result is its failure.
        let is_def = |operand: &&Operand| matches!(operand.role, Role::Def | Role::EarlyDef);
        for (n, operand) in list.operands(at).iter().filter(is_def).enumerate() {
            let value = if n == 0 { value } else { value & 1 };
            self.values[operand.vreg.at()] = Some(list.vregs[operand.vreg.at()].ty.truncate(value));
        }
        Ok(end)
    }

    /// Writes the values that exist at entry to their registers.
    fn entry(&mut self, at: usize) {
        for operand in self.list.operands(at) {
            let tile = self.set.tiles.iter().position(|tile| tile.entry && tile.out == operand.constraint);
            let value = match tile.map(|tile| &self.patterns.0[tile].shape) {
                Some(PatternShape::Node { op, .. }) if op == "tc" => self.machine.context,
                Some(PatternShape::Node { op, .. }) if op == "cu" => self.machine.unit,
                _ => self.machine.frame,
            };
            self.values[operand.vreg.at()] = Some(value);
        }
    }

    /// The value of a pattern. The types of its operators are those of `node` and the nodes below it.
    fn pattern(
        &mut self,
        at: usize,
        pattern: &Pattern,
        node: Node,
        operands: &mut OperandQueue,
        flag: Option<u64>,
    ) -> Result<u64, Violation> {
        let value = match &pattern.shape {
            PatternShape::Symbol(Symbol::Flag) => match flag {
                Some(flag) => flag,
                None => return self.wrong(at, "has no flag before it"),
            },
            PatternShape::Symbol(_) => operands.next(),
            PatternShape::Same(name) => {
                let bound = operands.bound.iter().find(|(known, _)| known == name);
                bound.expect("the grammar refuses names that are not bound").1
            }
            PatternShape::Node { children, .. } => {
                let mut inputs: Vec<Node> = self.graph.inputs(node).to_vec();
                let data = self.graph.node(node);
                let commutes = self.graph.vocab.info(data.op).props.contains(Props::COMMUTES);
                let fits = |inputs: &[Node]| {
                    children.iter().zip(inputs).all(|(child, input)| fits(self.graph, child, *input))
                };
                // The values are in pattern order, so it is enough to find nodes with the right operators.
                if commutes && !fits(&inputs) {
                    inputs.swap(0, 1);
                }
                let mut values = Vec::new();
                for (child, input) in children.iter().zip(inputs) {
                    values.push(self.pattern(at, child, input, operands, flag)?);
                }
                self.apply(at, node, values, operands)?
            }
        };
        operands.bound.extend(pattern.bind.as_ref().map(|name| (name.clone(), value)));
        Ok(value)
    }

    fn apply(
        &mut self,
        at: usize,
        node: Node,
        mut values: Vec<u64>,
        operands: &mut OperandQueue,
    ) -> Result<u64, Violation> {
        let data = self.graph.node(node);
        let info = self.graph.vocab.info(data.op);
        if info.is_call() {
            let call = &self.graph.calls[data.imm as usize];
            let callee = match call.target {
                CallTarget::Direct(_) => operands.imm() as u64,
                CallTarget::Indirect => values[0],
            };
            let args = &operands.uses[operands.n_used..];
            return Ok(data.ty().truncate((self.machine.callee)(
                call,
                callee,
                args,
                &mut self.machine.memory,
            )));
        }
        if is_const(info) {
            return Ok(data.ty().truncate(operands.imm() as u64));
        }
        if self.graph.may_fault(node)
            && self.machine.memory.faults(values[0], data.ty().bytes().max(data.sig.from.bytes()))
        {
            let Some(fault) = self.list.faults.iter().find(|fault| fault.inst.at() == at) else {
                return self.wrong(at, "faults, and nobody knows of it");
            };
            self.fault = Some(Outcome::Trapped { code: fault.code as u64, origin: fault.origin });
            return Ok(0);
        }
        if let Some(update) = info.update {
            // The ordering makes no difference with a single thread.
            operands.imm();
            let sig = Sig { from: data.sig.from, ty: data.sig.ty };
            return Ok(self.machine.memory.update(update, sig, &values));
        }
        if info.props.contains(Props::READS) {
            // An operator without operands reads the word at the address in its constant, such as the stop word. It never
            // changes here.
            let address = match values.first() {
                Some(address) => *address,
                None => operands.imm() as u64,
            };
            return Ok(self.machine.memory.read(address, data.ty().bytes()));
        }
        if info.props.contains(Props::WRITES) {
            if self.fault.is_some() {
                return Ok(0);
            }
            self.machine.memory.write(values[0], data.sig.from.bytes(), values[1]);
            return Ok(0);
        }
        if info.props.contains(Props::ENDS) {
            return Ok(values.first().copied().unwrap_or(0));
        }
        if info.params.iter().any(|param| *param != Param::Type) {
            values.push(operands.imm() as u64);
        }
        let sig = Sig { from: data.sig.from, ty: data.sig.ty };
        match info.reference.map(|reference| reference(sig, &values)) {
            Some(Ok(value)) => Ok(if sig.ty == Type::Void { 0 } else { value }),
            Some(Err(trap)) => self.wrong(at, format!("is executed and traps: {trap}")),
            None => self.wrong(at, format!("`{}` has no reference meaning", info.name)),
        }
    }

    fn leave(&mut self, block: &TileBlock, end: End) -> Result<NextEdge, Violation> {
        let edges = self.list.edges(block);
        let way = match end.op {
            Some(Op::JUMP) => 0,
            Some(Op::BR) => (end.value & 1 == 0) as usize,
            Some(Op::SWITCH) => end.value.min(edges.len() as u64 - 1) as usize,
            Some(Op::RETURN) => return Ok(NextEdge::Ended(Outcome::Returned(end.value))),
            Some(Op::RET) => return Ok(NextEdge::Ended(Outcome::Returned(0))),
            Some(Op::EXIT_AT) => return Ok(NextEdge::Ended(Outcome::Exited(end.imm as u64))),
            Some(Op::EXIT_WITH) => return Ok(NextEdge::Ended(self.leave_with(end))),
            Some(Op::TRAP) => {
                return Ok(NextEdge::Ended(Outcome::Trapped { code: end.imm as u64, origin: end.origin }));
            }
            _ => {
                let problem = "does not close with an instruction that leaves it".to_string();
                return Err(Violation { place: block.block.to_string(), problem });
            }
        };
        Ok(NextEdge::Edge(edges[way]))
    }

    /// Stores the values of a state in the frame.
    fn leave_with(&mut self, end: End) -> Outcome {
        let list = self.list;
        let TileState { to, saved, .. } = list.states[end.imm as usize];
        let mut operands = list.operands(end.inst).iter().map(|operand| self.values[operand.vreg.at()]);
        let mut next = || operands.next().flatten().expect("operands were read before");
        let frame = next();
        for Saved { to, value } in &list.saved[saved.range()] {
            let value = match value {
                SavedValue::Operand => next(),
                SavedValue::Constant(bits) => *bits,
            };
            let bits = list.boxes.slot(to.kind, value);
            self.machine.memory.write(frame + to.register as u64 * 8, 8, bits);
        }
        Outcome::Exited(to)
    }

    /// Follows an edge to its block. All parameters of the block change at the same time.
    fn follow(&mut self, edge: Edge) -> Result<&'a TileBlock, Violation> {
        let list = self.list;
        let block = list.block(edge.to);
        let args: Vec<_> = list.args[edge.args.range()].iter().map(|arg| self.values[arg.at()]).collect();
        for (param, arg) in list.args[block.params.range()].iter().zip(args) {
            if arg.is_none() {
                let problem = format!("{param} is given what has no value");
                return Err(Violation { place: edge.to.to_string(), problem });
            }
            self.values[param.at()] = arg;
        }
        Ok(block)
    }
}

/// Whether a node and those below it have the operators of a pattern.
fn fits(graph: &Graph, pattern: &Pattern, node: Node) -> bool {
    let PatternShape::Node { op, children, .. } = &pattern.shape else { return true };
    let info = graph.vocab.info(graph.node(node).op);
    if info.name != op {
        return false;
    }
    let all = |order: [usize; 2]| {
        children.iter().enumerate().all(|(at, child)| {
            let at = if at < 2 { order[at] } else { at };
            graph.inputs(node).get(at).is_some_and(|input| fits(graph, child, *input))
        })
    };
    all([0, 1]) || info.props.contains(Props::COMMUTES) && all([1, 0])
}
