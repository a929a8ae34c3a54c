//! VM registers as values: which value each register has at each point.
//!
//! In: writes and reads in the order of the code, and the moments at which a block's predecessors are all known.
//! Out: block parameters where values meet. No recursion: the walk towards the last write is a loop with its own
//! stack, because code may branch more often than a thread's stack is deep.

use crate::ir::graph::Graph;
use crate::ir::index::{Block, Node};
use crate::vocab::{Op, Sig, Type};

use super::{SLOT_BYTES, WORD};

/// What is known of a VM register before the code is linked.
#[derive(Clone, Copy, Debug)]
struct Register {
    home: Type,
    is_used: bool,
    is_written: bool,
    /// The value it has on entry, once somebody asked.
    initial: Node,
}

const UNUSED: Register =
    Register { home: Type::Void, is_used: false, is_written: false, initial: Node::NONE };

/// A parameter of a block whose predecessors are not all known.
#[derive(Clone, Copy, Debug)]
struct Pending {
    block: Block,
    register: u32,
    param: Node,
}

/// A parameter whose inputs are being collected.
#[derive(Clone, Copy, Debug)]
struct Frame {
    block: Block,
    param: Node,
    next: usize,
    first_input: usize,
    first_on_path: usize,
}

/// The registers of one function.
#[derive(Debug, Default)]
pub(super) struct Registers {
    registers: Vec<Register>,
    values: Values,
    is_sealed: Vec<bool>,
    pending: Vec<Pending>,
    /// What replaced a parameter; `NONE` for all other nodes.
    replaced: Vec<Node>,
    local: Option<Node>,
    frames: Vec<Frame>,
    path: Vec<Block>,
    inputs: Vec<Node>,
}

impl Registers {
    pub(super) fn clear(&mut self, n_registers: u32) {
        self.registers.clear();
        self.registers.resize(n_registers as usize, UNUSED);
        self.values.clear();
        self.is_sealed.clear();
        self.pending.clear();
        self.replaced.clear();
        self.local = None;
    }

    /// A bytecode uses a register as this type.
    pub(super) fn note(&mut self, register: u32, ty: Type, written: bool) {
        // Operands of unreachable bytecodes on the operand stack may name slots that do not exist.
        let Some(data) = self.registers.get_mut(register as usize) else { return };
        data.home = if !data.is_used || data.home == ty { ty } else { Type::I64 };
        data.is_used = true;
        data.is_written |= written;
    }

    /// No more notes follow.
    pub(super) fn settle(&mut self) {
        for register in &mut self.registers {
            if !register.is_used {
                register.home = Type::I64;
            }
        }
    }

    pub(super) fn home(&self, register: u32) -> Type {
        self.registers[register as usize].home
    }

    pub(super) fn is_written(&self, register: u32) -> bool {
        self.registers[register as usize].is_written
    }

    pub(super) fn is_used(&self, register: u32) -> bool {
        self.registers[register as usize].is_used
    }

    pub(super) fn is_initial(&self, register: u32, value: Node) -> bool {
        self.registers[register as usize].initial == value
    }

    /// The frame's address.
    pub(super) fn local(&mut self, graph: &mut Graph) -> Node {
        *self
            .local
            .get_or_insert_with(|| graph.add(Op::LOCAL, Sig { from: Type::Void, ty: Type::I64 }, &[], 0, 0))
    }

    pub(super) fn write(&mut self, block: Block, register: u32, value: Node) {
        self.values.set(block, register, value);
    }

    /// All predecessors of the block are known: its parameters get their inputs.
    pub(super) fn seal(&mut self, graph: &mut Graph, block: Block, at: u32) {
        if self.is_sealed.len() <= block.at() {
            self.is_sealed.resize(graph.blocks.len().max(block.at() + 1), false);
        }
        if core::mem::replace(&mut self.is_sealed[block.at()], true) {
            return;
        }
        let mut index = 0;
        while index < self.pending.len() {
            let Pending { block: of, register, param } = self.pending[index];
            if of != block {
                index += 1;
                continue;
            }
            self.pending.swap_remove(index);
            let first_input = self.inputs.len();
            for pred in 0..graph.block(block).preds.len() {
                let from = graph.block(block).preds[pred].block;
                let value = self.read(graph, from, register, at);
                self.inputs.push(value);
            }
            graph.set_inputs(param, &self.inputs[first_input..]);
            self.inputs.truncate(first_input);
            self.simplify(graph, param);
        }
    }

    /// The value of a register at the end of what has been linked of a block.
    pub(super) fn read(&mut self, graph: &mut Graph, block: Block, register: u32, at: u32) -> Node {
        let first_frame = self.frames.len();
        let mut target = block;
        loop {
            let mut first_on_path = self.path.len();
            let Some(mut value) = self.descend(graph, target, register, at, first_on_path) else {
                let frame = self.frames.last().expect("descending to a join opens a frame");
                target = graph.block(frame.block).preds[0].block;
                continue;
            };
            loop {
                for index in first_on_path..self.path.len() {
                    self.values.set(self.path[index], register, value);
                }
                self.path.truncate(first_on_path);
                if self.frames.len() == first_frame {
                    return value;
                }
                let frame = self.frames.last_mut().expect("there are more frames than at the start");
                self.inputs.push(value);
                frame.next += 1;
                if let Some(pred) = graph.block(frame.block).preds.get(frame.next) {
                    target = pred.block;
                    break;
                }
                let Frame { param, first_input, first_on_path: outer, .. } = *frame;
                self.frames.pop();
                graph.set_inputs(param, &self.inputs[first_input..]);
                self.inputs.truncate(first_input);
                value = self.simplify(graph, param);
                first_on_path = outer;
            }
        }
    }

    /// Goes up through single predecessors to a value, or opens a frame at a join and gives none.
    fn descend(
        &mut self,
        graph: &mut Graph,
        from: Block,
        register: u32,
        at: u32,
        first_on_path: usize,
    ) -> Option<Node> {
        let mut block = from;
        loop {
            if let Some(value) = self.values.get(block, register) {
                return Some(self.current(value));
            }
            if block == Graph::ENTRY {
                return Some(self.initial(graph, register));
            }
            let is_sealed = self.is_sealed.get(block.at()).copied().unwrap_or(false);
            let preds = graph.block(block).preds.len();
            if self.path.len() - first_on_path > graph.blocks.len() {
                // A circle that nothing leads into: any value will do.
                return Some(graph.constant(self.home(register), 0, at));
            }
            if is_sealed && preds == 1 {
                self.path.push(block);
                block = graph.block(block).preds[0].block;
                continue;
            }
            let home = self.home(register);
            if is_sealed && preds == 0 {
                // Nothing reaches this block: any value will do.
                return Some(graph.constant(home, 0, at));
            }
            let param = graph.add_param(block, home, at);
            self.values.set(block, register, param);
            if !is_sealed {
                self.pending.push(Pending { block, register, param });
                return Some(param);
            }
            let first_input = self.inputs.len();
            self.frames.push(Frame { block, param, next: 0, first_input, first_on_path });
            return None;
        }
    }

    fn initial(&mut self, graph: &mut Graph, register: u32) -> Node {
        let known = self.registers[register as usize].initial;
        if known.is_some() {
            return known;
        }
        let local = self.local(graph);
        let address = graph.add_normal(Op::ADDR, WORD, &[local], register as u64 * SLOT_BYTES, 0);
        let sig = Sig { from: Type::Void, ty: self.home(register) };
        let value = graph.push(Graph::ENTRY, Op::LOAD, sig, &[address], 0, 0);
        self.registers[register as usize].initial = value;
        value
    }

    /// A parameter that can only have one value is that value.
    fn simplify(&mut self, graph: &Graph, param: Node) -> Node {
        let mut only = Node::NONE;
        for &input in graph.inputs(param) {
            let input = self.current(input);
            if input == param || input == only {
                continue;
            }
            if only.is_some() {
                return param;
            }
            only = input;
        }
        if !only.is_some() {
            return param;
        }
        if self.replaced.len() <= param.at() {
            self.replaced.resize(graph.nodes.len(), Node::NONE);
        }
        self.replaced[param.at()] = only;
        only
    }

    /// What stands for a node after replacements.
    fn current(&mut self, node: Node) -> Node {
        let mut last = node;
        while let Some(&next) = self.replaced.get(last.at()) {
            if !next.is_some() {
                break;
            }
            last = next;
        }
        let mut node = node;
        while node != last {
            node = core::mem::replace(&mut self.replaced[node.at()], last);
        }
        last
    }

    /// Rewrites every reference to a replaced parameter and takes those parameters out of their blocks.
    pub(super) fn resolve(&mut self, graph: &mut Graph) {
        if self.replaced.is_empty() {
            return;
        }
        for index in 0..graph.links.len() {
            graph.links[index] = self.current(graph.links[index]);
        }
        let replaced = &self.replaced;
        for block in &mut graph.blocks {
            block.params.retain(|param| !replaced.get(param.at()).is_some_and(|to| to.is_some()));
        }
    }
}

/// A table from (block, register) to a value: a hash table of groups of neighbouring registers, with open addressing.
/// What a block reads and writes is mostly found in one or two cache lines.
#[derive(Debug, Default)]
struct Values {
    /// A power of two of them; at most half are in use.
    entries: Vec<Entry>,
    /// What the table was before it grew; kept for its memory.
    outgrown: Vec<Entry>,
    groups: Vec<[Node; GROUP]>,
}

/// Which group of a block's registers, and where it is.
#[derive(Clone, Copy, Debug)]
struct Entry {
    block: Block,
    number: u32,
    group: u32,
}

const EMPTY: Entry = Entry { block: Block::NONE, number: 0, group: 0 };
/// How many registers are in a group: 64 bytes.
const GROUP: usize = 16;
/// How large a table is at first.
const FEW: usize = 64;

impl Values {
    /// Empties the table, which is as small as for the first function again: one after a large one is not slower.
    fn clear(&mut self) {
        self.entries.clear();
        self.entries.resize(FEW, EMPTY);
        self.groups.clear();
    }

    /// Where a group's entry is, or would be.
    fn position(&self, block: Block, number: u32) -> usize {
        let mask = self.entries.len() - 1;
        let key = (block.0 as u64) << 32 | number as u64;
        let mut at = (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as usize & mask;
        loop {
            let entry = &self.entries[at];
            if (entry.block == block && entry.number == number) || entry.block == Block::NONE {
                return at;
            }
            at = (at + 1) & mask;
        }
    }

    fn get(&self, block: Block, register: u32) -> Option<Node> {
        let entry = self.entries[self.position(block, register / GROUP as u32)];
        let value = match entry.block.is_some() {
            true => self.groups[entry.group as usize][register as usize % GROUP],
            false => Node::NONE,
        };
        value.is_some().then_some(value)
    }

    fn set(&mut self, block: Block, register: u32, value: Node) {
        let number = register / GROUP as u32;
        let at = self.position(block, number);
        let group = match self.entries[at].block.is_some() {
            true => self.entries[at].group as usize,
            false => self.add_group(at, block, number),
        };
        self.groups[group][register as usize % GROUP] = value;
    }

    fn add_group(&mut self, at: usize, block: Block, number: u32) -> usize {
        let group = self.groups.len();
        self.groups.push([Node::NONE; GROUP]);
        self.entries[at] = Entry { block, number, group: group as u32 };
        if self.groups.len() * 2 > self.entries.len() {
            self.grow();
        }
        group
    }

    fn grow(&mut self) {
        core::mem::swap(&mut self.entries, &mut self.outgrown);
        self.entries.clear();
        self.entries.resize(self.outgrown.len() * 2, EMPTY);
        for index in 0..self.outgrown.len() {
            let entry = self.outgrown[index];
            if entry.block.is_some() {
                let at = self.position(entry.block, entry.number);
                self.entries[at] = entry;
            }
        }
    }
}
