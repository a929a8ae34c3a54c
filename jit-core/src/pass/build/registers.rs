//! VM registers as values: which value each register has at each point.
//!
//! In: writes and reads in the order of the code, the edges into each block with the registers that are needed there, and
//! which registers each loop writes. Out: block parameters where different values meet. Holds: at a read, the register's value
//! is a node that dominates the read. Cost: linear in the edges, times the registers that each carries.
//!
//! The values in the current block are an array. Each edge out of it keeps a copy of those that the target needs, until
//! the target starts. By then all edges into it are known, and their values are compared. Only a loop's head starts before:
//! it gets parameters for what the loop writes. Its other edges are compared when the last one is known, and the head is sealed.

use crate::ir::graph::Graph;
use crate::ir::index::{Block, Node};
use crate::vocab::{Op, Sig, Type};

use super::liveness::{has, members};
use super::{SLOT_BYTES, WORD};

/// What is known of a VM register before the code is linked.
#[derive(Clone, Copy, Debug)]
struct Register {
    home: Type,
    is_used: bool,
    /// Its slot may not hold its value.
    is_dirty: bool,
    /// Its value on entry, once that was needed.
    initial: Node,
}

const UNUSED: Register = Register { home: Type::Void, is_used: false, is_dirty: false, initial: Node::NONE };

/// The values that an edge carries: those of the registers that its target needs, in the order of the registers.
#[derive(Clone, Copy, Debug)]
struct EdgeValues {
    /// In the pool.
    values: u32,
    /// The edge that was added to the same block after this one.
    next: u32,
}

/// The edges into a block that has not started, or is not sealed.
#[derive(Clone, Copy, Debug)]
struct BlockEdges {
    /// They are linked, in the order of the block's predecessors.
    first: u32,
    last: u32,
    /// The values that a loop's head started with, in the pool.
    initial: u32,
}

const NONE: u32 = u32::MAX;
const NO_EDGES: BlockEdges = BlockEdges { first: NONE, last: NONE, initial: NONE };

/// Memory for lists of values. Their sizes are rounded up to powers of two, and what was freed is used again.
#[derive(Debug, Default)]
struct Pool {
    values: Vec<Node>,
    /// By size: the first list that is free. Each holds where the next one is.
    free: [u32; u32::BITS as usize],
}

impl Pool {
    fn clear(&mut self) {
        self.values.clear();
        self.free.fill(NONE);
    }

    fn size_class(len: usize) -> usize {
        len.max(1).next_power_of_two().trailing_zeros() as usize
    }

    fn take(&mut self, len: usize) -> u32 {
        let class = Pool::size_class(len);
        let at = self.free[class];
        if at == NONE {
            self.values.resize(self.values.len() + (1 << class), Node::NONE);
            return (self.values.len() - (1 << class)) as u32;
        }
        self.free[class] = self.values[at as usize].0;
        at
    }

    fn free(&mut self, at: u32, len: usize) {
        let class = Pool::size_class(len);
        self.values[at as usize] = Node(self.free[class]);
        self.free[class] = at;
    }
}

/// The registers of one function.
#[derive(Debug, Default)]
pub(super) struct RegisterValues {
    registers: Vec<Register>,
    /// The values in the current block. Those of registers that are not needed there mean nothing.
    now: Vec<Node>,
    blocks: Vec<BlockEdges>,
    edges: Vec<EdgeValues>,
    /// The first edge that is free; those are linked too.
    free_edge: u32,
    pool: Pool,
    /// What replaced a parameter; `NONE` for all other nodes.
    replaced: Vec<Node>,
    local: Option<Node>,
    inputs: Vec<Node>,
    /// Whether a loop's head gets a parameter for each register that is needed there, and not only for those that the loop writes.
    params_for_all: bool,
    /// Control enters a loop elsewhere than at its head, and brings another value than the head has.
    is_irreducible: bool,
}

impl RegisterValues {
    pub(super) fn clear(&mut self, n_registers: u32) {
        self.registers.clear();
        self.registers.resize(n_registers as usize, UNUSED);
        self.is_irreducible = false;
        self.now.clear();
        self.now.resize(n_registers as usize, Node::NONE);
        self.blocks.clear();
        self.edges.clear();
        self.free_edge = NONE;
        self.pool.clear();
        self.replaced.clear();
        self.local = None;
    }

    /// A bytecode uses a register as this type.
    pub(super) fn note(&mut self, register: u32, ty: Type, written: bool) {
        // Operands of unreachable bytecodes on the operand stack may name slots that do not exist.
        let Some(data) = self.registers.get_mut(register as usize) else { return };
        data.home = if !data.is_used || data.home == ty { ty } else { Type::I64 };
        data.is_used = true;
        data.is_dirty |= written;
    }

    /// All bytecodes were [noted](Self::note). The arguments of a function with a call entry are in no slots.
    pub(super) fn settle(&mut self, has_call_entry: bool) {
        for register in &mut self.registers {
            register.is_dirty |= has_call_entry && register.is_used;
            if !register.is_used {
                register.home = Type::I64;
            }
        }
    }

    pub(super) fn home(&self, register: u32) -> Type {
        self.registers[register as usize].home
    }

    pub(super) fn is_dirty(&self, register: u32) -> bool {
        self.registers[register as usize].is_dirty
    }

    pub(super) fn is_used(&self, register: u32) -> bool {
        self.registers[register as usize].is_used
    }

    pub(super) fn is_initial(&self, register: u32, value: Node) -> bool {
        self.registers[register as usize].initial == value
    }

    /// The frame's address.
    pub(super) fn local(&mut self, graph: &mut Graph, op: Op) -> Node {
        *self.local.get_or_insert_with(|| graph.add(op, Sig { from: Type::Void, ty: Type::I64 }, &[], 0, 0))
    }

    /// The value of a register in the current block.
    pub(super) fn read(&mut self, register: u32) -> Node {
        let value = self.now[register as usize];
        debug_assert!(value.is_some(), "register {register} is needed, and nobody knew");
        self.resolved(value)
    }

    pub(super) fn write(&mut self, register: u32, value: Node) {
        self.now[register as usize] = value;
    }

    /// Loads the registers that are needed where the function is entered. Those from `first_zero` on are known to be zero.
    pub(super) fn enter(&mut self, graph: &mut Graph, needed: &[u64], first_zero: Option<u32>) {
        for register in members(needed) {
            if first_zero.is_some_and(|first| register >= first) {
                self.registers[register as usize].initial = graph.constant(self.home(register), 0, 0);
            }
            self.now[register as usize] = self.initial(graph, register);
        }
    }

    /// Gives registers that are carried, but not needed, a value: any will do.
    pub(super) fn fill(&mut self, graph: &mut Graph, carried: &[u64], needed: &[u64], at: u32) {
        for register in members(carried).filter(|register| !has(needed, *register)) {
            self.now[register as usize] = graph.constant(self.home(register), 0, at);
        }
    }

    /// Adds an edge from the current block to another, which needs these registers.
    pub(super) fn add_edge(&mut self, block: Block, needed: &[u64]) {
        if self.blocks.len() <= block.at() {
            self.blocks.resize(block.at() + 1, NO_EDGES);
        }
        let values = self.save(needed);
        let new = EdgeValues { values, next: NONE };
        let at = if self.free_edge == NONE {
            self.edges.push(new);
            self.edges.len() as u32 - 1
        } else {
            let at = self.free_edge;
            self.free_edge = core::mem::replace(&mut self.edges[at as usize], new).next;
            at
        };
        let edges = &mut self.blocks[block.at()];
        match edges.last {
            NONE => edges.first = at,
            last => self.edges[last as usize].next = at,
        }
        edges.last = at;
    }

    fn save(&mut self, needed: &[u64]) -> u32 {
        let at = self.pool.take(count(needed));
        let saved = &mut self.pool.values[at as usize..];
        for (place, register) in core::iter::zip(saved, members(needed)) {
            *place = self.now[register as usize];
        }
        at
    }

    /// Starts a block. All edges into it are known: where they bring different values, it gets a parameter.
    pub(super) fn start_block(&mut self, graph: &mut Graph, block: Block, needed: &[u64], at: u32) {
        self.forget();
        let first = self.edges[self.blocks[block.at()].first as usize];
        let n_values = count(needed);
        let Some(&second) = self.edges.get(first.next as usize) else {
            // A value that was replaced since then is resolved when it is read.
            let values = &self.pool.values[first.values as usize..][..n_values];
            for (&value, register) in core::iter::zip(values, members(needed)) {
                self.now[register as usize] = value;
            }
            return self.free_edges(block, n_values);
        };
        for (index, register) in members(needed).enumerate() {
            let mut value = self.value_on(first, index);
            if !self.all_have(second, index, value) {
                value = graph.add_param(block, self.home(register), at);
                self.set_inputs(graph, block, index, value);
            }
            self.now[register as usize] = value;
        }
        self.free_edges(block, n_values);
    }

    /// Starts a loop's head, which gets more edges until it is [sealed](Self::seal). It gets parameters for what the loop
    /// writes, and where the edges so far bring different values.
    pub(super) fn start_loop(
        &mut self,
        graph: &mut Graph,
        block: Block,
        needed: &[u64],
        written: &[u64],
        at: u32,
    ) {
        self.forget();
        if self.blocks.len() <= block.at() {
            self.blocks.resize(block.at() + 1, NO_EDGES);
        }
        let first = self.edges.get(self.blocks[block.at()].first as usize).copied();
        for (index, register) in members(needed).enumerate() {
            let stays = !self.params_for_all && !has(written, register);
            let known = first.filter(|_| stays).map(|first| (first, self.value_on(first, index)));
            self.now[register as usize] = match known {
                Some((first, value)) if self.all_have(first, index, value) => value,
                _ => graph.add_param(block, self.home(register), at),
            };
        }
        self.blocks[block.at()].initial = self.save(needed);
    }

    /// All edges into a loop's head are known: its parameters get their inputs. Other blocks are complete when they start.
    pub(super) fn seal(&mut self, graph: &mut Graph, block: Block, needed: &[u64]) {
        let Some(&BlockEdges { first, initial, .. }) = self.blocks.get(block.at()) else { return };
        if initial == NONE {
            return;
        }
        for index in 0..count(needed) {
            let value = self.pool.values[initial as usize + index];
            let data = graph.node(value);
            if data.op == Op::PARAM && data.block == block {
                self.set_inputs(graph, block, index, value);
                self.simplify(graph, value);
            } else if let Some(&first) = self.edges.get(first as usize) {
                let value = self.resolved(value);
                self.is_irreducible |= !self.all_have(first, index, value);
            }
        }
        self.pool.free(initial, count(needed));
        self.free_edges(block, count(needed));
    }

    /// Has loops' heads get parameters for all registers that are needed there. That is right for loops that are entered
    /// elsewhere than at their heads, too.
    pub(super) fn set_params_for_all(&mut self, params_for_all: bool) {
        self.params_for_all = params_for_all;
    }

    /// Whether control enters a loop elsewhere than at its head, with a value that the head has no parameter for. Then what was
    /// built is wrong.
    pub(super) fn is_irreducible(&self) -> bool {
        self.is_irreducible
    }

    /// The value that an edge carries.
    fn value_on(&mut self, edge: EdgeValues, index: usize) -> Node {
        self.resolved(self.pool.values[edge.values as usize + index])
    }

    /// Whether an edge and all later ones into the same block carry this value.
    fn all_have(&mut self, mut edge: EdgeValues, index: usize, value: Node) -> bool {
        loop {
            if self.value_on(edge, index) != value {
                return false;
            }
            let Some(&next) = self.edges.get(edge.next as usize) else { return true };
            edge = next;
        }
    }

    fn set_inputs(&mut self, graph: &mut Graph, block: Block, index: usize, param: Node) {
        self.inputs.clear();
        let mut at = self.blocks[block.at()].first;
        while let Some(&edge) = self.edges.get(at as usize) {
            let value = self.value_on(edge, index);
            self.inputs.push(value);
            at = edge.next;
        }
        graph.set_inputs(param, &self.inputs);
    }

    fn free_edges(&mut self, block: Block, n_values: usize) {
        let mut at = core::mem::replace(&mut self.blocks[block.at()], NO_EDGES).first;
        while let Some(&edge) = self.edges.get(at as usize) {
            self.pool.free(edge.values, n_values);
            self.edges[at as usize].next = self.free_edge;
            self.free_edge = at;
            at = edge.next;
        }
    }

    /// Debug builds forget what is not needed, so that they notice when it is read.
    fn forget(&mut self) {
        if cfg!(debug_assertions) {
            self.now.fill(Node::NONE);
        }
    }

    fn initial(&mut self, graph: &mut Graph, register: u32) -> Node {
        let known = self.registers[register as usize].initial;
        if known.is_some() {
            return known;
        }
        let local = self.local(graph, Op::LOCAL);
        let address = graph.add_normal(Op::ADDR, WORD, &[local], register as u64 * SLOT_BYTES, 0);
        let sig = Sig { from: Type::Void, ty: self.home(register) };
        let value = graph.push(Graph::ENTRY, Op::LOAD, sig, &[address], 0, 0);
        self.registers[register as usize].initial = value;
        value
    }

    /// Replaces a parameter all of whose inputs are one value.
    fn simplify(&mut self, graph: &Graph, param: Node) {
        let mut only = Node::NONE;
        for &input in graph.inputs(param) {
            let input = self.resolved(input);
            if input == param || input == only {
                continue;
            }
            if only.is_some() {
                return;
            }
            only = input;
        }
        if only.is_some() {
            if self.replaced.len() <= param.at() {
                self.replaced.resize(graph.nodes.len(), Node::NONE);
            }
            self.replaced[param.at()] = only;
        }
    }

    /// The node that replaces this one, or itself.
    #[inline]
    fn resolved(&mut self, node: Node) -> Node {
        match self.replaced.get(node.at()) {
            Some(next) if next.is_some() => self.last_of(node),
            _ => node,
        }
    }

    fn last_of(&mut self, node: Node) -> Node {
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
            graph.links[index] = self.resolved(graph.links[index]);
        }
        let replaced = &self.replaced;
        for block in &mut graph.blocks {
            block.params.retain(|param| !replaced.get(param.at()).is_some_and(|to| to.is_some()));
        }
    }
}

fn count(set: &[u64]) -> usize {
    set.iter().map(|word| word.count_ones() as usize).sum()
}
