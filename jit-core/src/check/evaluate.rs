//! Evaluates a graph: the reference by which passes are judged.
//!
//! In: a graph, the machine's pointers, a memory of bytes, and the behavior of calls. Out: the way the function ended, and the
//! memory at that time; or the violation at which evaluation stopped. A floating value is recomputed for each pinned node that
//! needs it, so the result does not depend on where `place` would put it.

use super::Violation;
use crate::ir::graph::{Access, CallData, CallTarget, Graph};
use crate::ir::index::{Block, Node};
use crate::vocab::atomic::{self, Update};
use crate::vocab::op::Param;
use crate::vocab::{Op, Props, Sig, Type};
use std::collections::BTreeMap;

/// The way a function ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// The function returned these bits, zero if it has no result.
    Returned(u64),
    /// The interpreter resumes at this bytecode.
    Exited(u64),
    /// The function trapped.
    Trapped {
        /// The trap's code.
        code: u64,
        /// The bytecode that trapped.
        origin: u32,
    },
    /// The function did not end within the given number of steps.
    OutOfSteps,
}

/// Bytes at 64-bit addresses. A byte that was never written has an arbitrary value, which is always the same.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Memory {
    bytes: BTreeMap<u64, u8>,
    edge: Option<u64>,
}

impl Memory {
    /// A memory in which an access that may fault does so if it reaches beyond `edge`.
    pub fn ending_at(edge: u64) -> Memory {
        Memory { edge: Some(edge), ..Memory::default() }
    }

    /// The byte at an address.
    pub fn byte(&self, address: u64) -> u8 {
        let arbitrary = || (address.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as u8;
        self.bytes.get(&address).copied().unwrap_or_else(arbitrary)
    }

    /// Whether an access of this many bytes faults, if it is one that may fault.
    pub fn faults(&self, address: u64, bytes: u32) -> bool {
        self.edge.is_some_and(|edge| address.wrapping_add(bytes as u64) > edge)
    }

    /// Reads a little-endian value of this many bytes.
    pub fn read(&self, address: u64, bytes: u32) -> u64 {
        (0..bytes as u64).rev().fold(0, |value, at| value << 8 | self.byte(address.wrapping_add(at)) as u64)
    }

    /// Writes a little-endian value of this many bytes.
    pub fn write(&mut self, address: u64, bytes: u32, value: u64) {
        for at in 0..bytes as u64 {
            self.bytes.insert(address.wrapping_add(at), (value >> (8 * at)) as u8);
        }
    }

    /// Executes an atomic read-modify-write operator. Returns the old value.
    pub fn update(&mut self, update: Update, sig: Sig, operands: &[u64]) -> u64 {
        let (address, ty) = (operands[0], atomic::place(sig));
        let mut bits = operands.to_vec();
        bits[0] = self.read(address, ty.bytes());
        self.write(address, ty.bytes(), update(&bits));
        sig.ty.truncate(bits[0])
    }

    /// Every byte whose value differs from that of an unwritten one, by address.
    pub fn written(&self) -> impl Iterator<Item = (u64, u8)> {
        let fresh = Memory::default();
        self.bytes.iter().map(|(at, byte)| (*at, *byte)).filter(move |(at, byte)| fresh.byte(*at) != *byte)
    }
}

/// The behavior of calls. It gets the call's description, the callee's address, the arguments and the memory, and returns the
/// bits of the result.
pub type CallBehavior<'a> = dyn FnMut(&CallData, u64, &[u64], &mut Memory) -> u64 + 'a;

/// The environment in which a graph runs.
pub struct Environment<'a> {
    /// The value of `tc`.
    pub context: u64,
    /// The value of `cu`.
    pub unit: u64,
    /// The value of `local`: the address of VM register 0.
    pub frame: u64,
    /// The memory, including the frame.
    pub memory: Memory,
    /// The behavior of calls.
    pub callee: &'a mut CallBehavior<'a>,
}

impl core::fmt::Debug for Environment<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Environment").field("frame", &self.frame).field("memory", &self.memory).finish()
    }
}

/// Runs a graph until it ends or has executed more than `max_steps` pinned nodes.
pub fn evaluate(
    graph: &Graph,
    machine: &mut Environment<'_>,
    max_steps: usize,
) -> Result<Outcome, Violation> {
    let values = vec![None; graph.nodes.len()];
    let known = vec![(0, 0); graph.nodes.len()];
    let mut run = Evaluation { graph, machine, values, known, now: 0, stack: Vec::new(), fault: None };
    let mut block = Graph::ENTRY;
    let mut steps = 0;
    loop {
        for &node in &graph.block(block).body {
            steps += 1;
            run.step(node)?;
            if let Some(trap) = run.fault {
                return Ok(trap);
            }
        }
        steps += 1;
        if steps > max_steps {
            return Ok(Outcome::OutOfSteps);
        }
        match run.leave(block)? {
            NextBlock::Block(next) => block = next,
            NextBlock::End(outcome) => return Ok(outcome),
        }
    }
}

enum NextBlock {
    Block(Block),
    End(Outcome),
}

struct Evaluation<'a, 'm> {
    graph: &'a Graph,
    machine: &'a mut Environment<'m>,
    /// The values of pinned nodes.
    values: Vec<Option<u64>>,
    /// The values of floating nodes, and the times at which they were computed.
    known: Vec<(u64, u64)>,
    now: u64,
    stack: Vec<Node>,
    /// The trap of an access that faulted.
    fault: Option<Outcome>,
}

impl Evaluation<'_, '_> {
    fn violation<T>(&self, node: Node, problem: impl Into<String>) -> Result<T, Violation> {
        Err(Violation { place: node.to_string(), problem: problem.into() })
    }

    fn operands(&mut self, node: Node) -> Result<Vec<u64>, Violation> {
        self.now += 1;
        self.graph.inputs(node).iter().map(|&input| self.value(input)).collect()
    }

    fn step(&mut self, node: Node) -> Result<(), Violation> {
        let operands = self.operands(node)?;
        let data = self.graph.node(node);
        let value = if let Some(call) = self.graph.call(node) {
            let (callee, args) = match call.target {
                CallTarget::Direct(address) => (address, &operands[..]),
                CallTarget::Indirect => (operands[0], &operands[1..]),
            };
            data.ty().truncate((self.machine.callee)(call, callee, args, &mut self.machine.memory))
        } else {
            let info = self.graph.vocab.info(data.op);
            let props = info.props;
            if let Access::Within(code) = self.graph.access(node)
                && self.machine.memory.faults(operands[0], data.ty().bytes().max(data.sig.from.bytes()))
            {
                self.fault = Some(Outcome::Trapped { code: code as u64, origin: data.origin });
                0
            } else if let Some(update) = info.update {
                self.machine.memory.update(update, data.sig, &operands)
            } else if props.contains(Props::READS) {
                // An operator without operands reads the word at the address in its constant, such as the stop word. It never
                // changes here.
                let address = operands.first().copied().unwrap_or(data.imm);
                self.machine.memory.read(address, data.ty().bytes())
            } else if props.contains(Props::WRITES) {
                self.machine.memory.write(operands[0], data.sig.from.bytes(), operands[1]);
                0
            } else if data.op == Op::HOLDS {
                let found = self.machine.memory.read(operands[0], data.sig.from.bytes());
                if found != operands[1] {
                    let problem = format!("a place holds {found:#x}, not {:#x}", operands[1]);
                    return Err(Violation { place: node.to_string(), problem });
                }
                0
            } else {
                self.compute(node, &operands)?
            }
        };
        self.values[node.at()] = Some(value);
        Ok(())
    }

    fn leave(&mut self, block: Block) -> Result<NextBlock, Violation> {
        let end = self.graph.block(block).end;
        let operands = self.operands(end)?;
        let data = self.graph.node(end);
        let succs = &self.graph.block(block).succs;
        let succ = match data.op {
            Op::JUMP => 0,
            Op::BR => (operands[0] & 1 == 0) as usize,
            Op::SWITCH => operands[0].min(succs.len() as u64 - 1) as usize,
            Op::RETURN => return Ok(NextBlock::End(Outcome::Returned(operands[0]))),
            Op::RET => return Ok(NextBlock::End(Outcome::Returned(0))),
            Op::EXIT_AT => return Ok(NextBlock::End(Outcome::Exited(data.imm))),
            Op::EXIT_WITH => {
                let (state, registers) = self.graph.state(end).expect("it has one");
                // A slot is written whole, with zeros above a narrow value.
                for (to, value) in core::iter::zip(registers, &operands[1..]) {
                    let bits = self.graph.states.boxes.slot(to.kind, *value);
                    self.machine.memory.write(operands[0] + to.register as u64 * 8, 8, bits);
                }
                return Ok(NextBlock::End(Outcome::Exited(state.to)));
            }
            Op::TRAP => return Ok(NextBlock::End(Outcome::Trapped { code: data.imm, origin: data.origin })),
            _ => return self.violation(end, "ends a block, but not in any known way"),
        };
        let to = succs[succ];
        let target = self.graph.block(to);
        let Some(way) = target.preds.iter().position(|p| (p.block, p.succ as usize) == (block, succ)) else {
            return self.violation(end, format!("goes to {to}, which does not know it"));
        };
        // All parameters change at the same time.
        self.now += 1;
        let values = target.params.iter().map(|&param| self.value(self.graph.inputs(param)[way]));
        let values: Vec<u64> = values.collect::<Result<_, _>>()?;
        for (&param, value) in core::iter::zip(&target.params, values) {
            self.values[param.at()] = Some(value);
        }
        Ok(NextBlock::Block(to))
    }

    /// The current value of a node.
    fn value(&mut self, root: Node) -> Result<u64, Violation> {
        self.stack.push(root);
        while let Some(&node) = self.stack.last() {
            if self.is_known(node) {
                self.stack.pop();
                continue;
            }
            if self.graph.node(node).block.is_some() {
                return self.violation(node, "is used where it has no value");
            }
            if self.stack.len() > self.graph.nodes.len() {
                return self.violation(node, "is computed from itself");
            }
            let inputs = self.graph.inputs(node);
            if let Some(&input) = inputs.iter().find(|input| !self.is_known(**input)) {
                self.stack.push(input);
                continue;
            }
            let operands: Vec<u64> = inputs.iter().map(|&input| self.known_value(input)).collect();
            let value = self.compute(node, &operands)?;
            self.known[node.at()] = (value, self.now);
            self.stack.pop();
        }
        Ok(self.known_value(root))
    }

    fn is_known(&self, node: Node) -> bool {
        match self.graph.node(node).block.is_some() {
            true => self.values[node.at()].is_some(),
            false => self.known[node.at()].1 == self.now,
        }
    }

    fn known_value(&self, node: Node) -> u64 {
        self.values[node.at()].unwrap_or(self.known[node.at()].0)
    }

    fn compute(&self, node: Node, operands: &[u64]) -> Result<u64, Violation> {
        let data = self.graph.node(node);
        match data.op {
            Op::TC => return Ok(self.machine.context),
            Op::CU => return Ok(self.machine.unit),
            Op::LOCAL => return Ok(self.machine.frame),
            Op::CONST => return Ok(data.imm),
            // Here the lowest bit of a call's result says whether it has failed.
            Op::FAILURE => return Ok(operands[0] & 1),
            Op::IS | Op::UNBOX | Op::BOX => {
                let formula = self.graph.kinds[data.imm as usize].formula(data.op);
                return match formula.evaluate(self.graph.vocab, operands[0]) {
                    Some(value) => Ok(value),
                    None => self.violation(node, "has no reference meaning"),
                };
            }
            _ => {}
        }
        let info = self.graph.vocab.info(data.op);
        if self.graph.access(node) == Access::Pure {
            return Ok(self.machine.memory.read(operands[0], data.ty().bytes()));
        }
        let mut all = operands.to_vec();
        if info.params.iter().any(|param| *param != Param::Type) {
            all.push(data.imm);
        }
        match info.reference.map(|reference| reference(data.sig, &all)) {
            Some(Ok(value)) => Ok(if data.ty() == Type::Void { 0 } else { value }),
            Some(Err(trap)) => self.violation(node, format!("is executed and traps: {trap}")),
            None => self.violation(node, format!("`{}` has no reference meaning", info.name)),
        }
    }
}
