//! VM registers as values: the value of each register at each point.
//!
//! In: reads and writes in the order of the code, the edges into each block with the registers that are live there, and the
//! registers that each loop writes. Out: block parameters where different values meet. Holds afterwards: the value of a
//! register at a read is a node that dominates the read. Cost: linear in the edges, times the registers that each carries.
//!
//! It is known as well whether the register's slot has that value: it has been stored there since the register was written, or loaded from
//! there. Where edges meet, the slot has it if it has on each of them. A register that a loop does not write stays in its slot in the whole
//! loop if it is there when the loop starts, even if calls in it observe and are followed by loads. That all later edges into the loop's
//! head agree is checked when it is sealed.
//!
//! The values in the current block are in an array. Each edge out of it keeps a copy of those that the target needs, until
//! the target starts. By then all edges into the target are known, and their values are compared. Only a loop's head starts
//! earlier: it gets parameters for the registers that the loop writes. Its remaining edges are compared when the last one
//! is known, and the head is sealed.

use super::liveness::Observed;
use super::{SLOT_BYTES, WORD};
use crate::ir::bits::Bits;
use crate::ir::graph::Graph;
use crate::ir::index::{Block, Node};
use crate::vocab::{Op, Sig, Type};

/// The data of a VM register; all but `initial` is known before the code is linked.
#[derive(Clone, Copy, Debug)]
struct Register {
    home: Type,
    is_used: bool,
    /// Its slot may be out of date.
    is_dirty: bool,
    /// Others may have its slot's address: it is never a value, and its slot is never out of date.
    is_captured: bool,
    /// Its value on entry, once that is needed.
    initial: Node,
}

const UNUSED: Register =
    Register { home: Type::Void, is_used: false, is_dirty: false, is_captured: false, initial: Node::NONE };

/// What is known of a register at a point.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct RegisterState {
    value: Node,
    /// Whether its slot has the value.
    is_stored: bool,
}

const NOTHING: RegisterState = RegisterState { value: Node::NONE, is_stored: false };

/// What a loop does with registers.
#[derive(Clone, Copy, Debug)]
pub(super) struct LoopWrites<'a> {
    /// Those that it writes.
    pub(super) registers: Bits<'a>,
    /// Whether other code sees registers in their slots meanwhile, and may write them there unless they are only read.
    pub(super) observed: Observed,
}

/// The values that an edge carries: those of the registers that its target needs, in the order of the registers.
#[derive(Clone, Copy, Debug)]
struct EdgeValues {
    /// Start of the list in the pool.
    values: u32,
    /// The next edge into the same block.
    next: u32,
}

/// The edges into a block that has not started, or is not sealed.
#[derive(Clone, Copy, Debug)]
struct BlockEdges {
    /// A linked list, in the order of the block's predecessors.
    first: u32,
    last: u32,
    /// The values with which a loop's head started, in the pool.
    initial: u32,
}

const NONE: u32 = u32::MAX;
const NO_EDGES: BlockEdges = BlockEdges { first: NONE, last: NONE, initial: NONE };

/// Memory for lists of values. Sizes are rounded up to powers of two, and freed lists are reused.
#[derive(Debug, Default)]
struct Pool {
    values: Vec<RegisterState>,
    /// By size class: the first free list. Each free list holds the start of the next one.
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
            self.values.resize(self.values.len() + (1 << class), NOTHING);
            return (self.values.len() - (1 << class)) as u32;
        }
        self.free[class] = self.values[at as usize].value.0;
        at
    }

    fn free(&mut self, at: u32, len: usize) {
        let class = Pool::size_class(len);
        self.values[at as usize].value = Node(self.free[class]);
        self.free[class] = at;
    }
}

/// The registers of one function.
#[derive(Debug, Default)]
pub(super) struct RegisterValues {
    registers: Vec<Register>,
    /// The values in the current block. Entries of registers that are dead there are meaningless.
    now: Vec<RegisterState>,
    blocks: Vec<BlockEdges>,
    edges: Vec<EdgeValues>,
    /// The head of the linked list of free edges.
    free_edge: u32,
    pool: Pool,
    /// The replacement of a parameter; `NONE` for all other nodes.
    replaced: Vec<Node>,
    local: Option<Node>,
    own_memory: Option<Node>,
    inputs: Vec<Node>,
    /// Whether other code that sees registers in their slots may write them there.
    may_be_written: bool,
    /// Whether a loop's head gets a parameter for each live register, and not only for those that the loop writes.
    params_for_all: bool,
    /// Whether control enters a loop elsewhere than at its head, with another value than the head has.
    is_irreducible: bool,
}

impl RegisterValues {
    pub(super) fn clear(&mut self, n_registers: u32, may_be_written: bool) {
        self.may_be_written = may_be_written;
        self.registers.clear();
        self.registers.resize(n_registers as usize, UNUSED);
        self.is_irreducible = false;
        self.now.clear();
        self.now.resize(n_registers as usize, NOTHING);
        self.blocks.clear();
        self.edges.clear();
        self.free_edge = NONE;
        self.pool.clear();
        self.replaced.clear();
        (self.local, self.own_memory) = (None, None);
    }

    /// Notes that a bytecode uses a register as this type.
    pub(super) fn note(&mut self, register: u32, ty: Type, written: bool) {
        // Operands of unreachable bytecodes on the operand stack may name slots that do not exist.
        let Some(data) = self.registers.get_mut(register as usize) else { return };
        data.home = if !data.is_used || data.home == ty { ty } else { Type::I64 };
        data.is_used = true;
        data.is_dirty |= written;
    }

    /// Gives a register that may be used a home for all its bits.
    pub(super) fn widen(&mut self, register: u32) {
        self.registers[register as usize].home = Type::I64;
    }

    /// Called after all bytecodes were [noted](Self::note). The first registers of a function with a frame are in its slots when it starts:
    /// all but those of inlined functions.
    pub(super) fn settle(&mut self, in_slots: u32, captured: &[u32]) {
        for &register in captured {
            self.registers[register as usize].is_captured = true;
        }
        for (number, register) in self.registers.iter_mut().enumerate() {
            register.is_dirty |= number as u32 >= in_slots && register.is_used;
            register.is_dirty &= !register.is_captured;
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

    /// Whether others may have the address of a register's slot.
    pub(super) fn is_captured(&self, register: u32) -> bool {
        self.registers[register as usize].is_captured
    }

    /// Whether a register's slot has its value in the current block.
    pub(super) fn is_stored(&self, register: u32) -> bool {
        self.now[register as usize].is_stored
    }

    /// Called when a register's value was stored in its slot.
    pub(super) fn set_stored(&mut self, register: u32) {
        self.now[register as usize].is_stored = true;
    }

    /// The frame's address.
    pub(super) fn local(&mut self, graph: &mut Graph, op: Op) -> Node {
        *self.local.get_or_insert_with(|| graph.add(op, Sig { from: Type::Void, ty: Type::I64 }, &[], 0, 0))
    }

    /// The address of memory of the function's own, in the machine's frame.
    pub(super) fn own_memory(&mut self, graph: &mut Graph) -> Node {
        let sig = Sig { from: Type::Void, ty: Type::I64 };
        *self.own_memory.get_or_insert_with(|| graph.add(Op::FRAME, sig, &[], 0, 0))
    }

    /// The value of a register in the current block.
    pub(super) fn read(&mut self, register: u32) -> Node {
        let RegisterState { value, .. } = self.now[register as usize];
        debug_assert!(value.is_some(), "register {register} is needed, and nobody knew");
        self.resolved(value)
    }

    /// Gives a register a value that its slot does not have.
    pub(super) fn write(&mut self, register: u32, value: Node) {
        self.now[register as usize] = RegisterState { value, is_stored: false };
    }

    /// Gives a register the value that was loaded from its slot.
    pub(super) fn loaded(&mut self, register: u32, value: Node) {
        self.now[register as usize] = RegisterState { value, is_stored: true };
    }

    /// Loads the registers that are live where the function is entered. Those from `first_zero` on are known to be zero.
    pub(super) fn enter(&mut self, graph: &mut Graph, needed: Bits<'_>, first_zero: Option<u32>) {
        for register in members(needed) {
            if first_zero.is_some_and(|first| register >= first) {
                self.registers[register as usize].initial = graph.constant(self.home(register), 0, 0);
            }
            let value = self.initial(graph, register);
            self.loaded(register, value);
        }
    }

    /// Gives registers that are carried but dead an arbitrary value, and so the one in the slot.
    pub(super) fn fill(&mut self, graph: &mut Graph, carried: Bits<'_>, needed: Bits<'_>, at: u32) {
        for register in members(carried).filter(|register| !needed.contains(*register as usize)) {
            let value = graph.constant(self.home(register), 0, at);
            self.loaded(register, value);
        }
    }

    /// Adds an edge from the current block to another, in which these registers are live.
    pub(super) fn add_edge(&mut self, block: Block, needed: Bits<'_>) {
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

    fn save(&mut self, needed: Bits<'_>) -> u32 {
        let at = self.pool.take(needed.len());
        let saved = &mut self.pool.values[at as usize..];
        for (place, register) in core::iter::zip(saved, members(needed)) {
            *place = self.now[register as usize];
        }
        at
    }

    /// Starts a block all of whose edges are known. It gets parameters where they carry different values.
    pub(super) fn start_block(&mut self, graph: &mut Graph, block: Block, needed: Bits<'_>, at: u32) {
        self.forget();
        let first = self.edges[self.blocks[block.at()].first as usize];
        let n_values = needed.len();
        let Some(&second) = self.edges.get(first.next as usize) else {
            // A value that has been replaced since then is resolved when it is read.
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
            let is_stored = self.all_stored(first, index);
            self.now[register as usize] = RegisterState { value, is_stored };
        }
        self.free_edges(block, n_values);
    }

    /// Starts a loop's head, which gets more edges until it is [sealed](Self::seal). It gets parameters for the registers
    /// that the loop writes, and where the edges so far carry different values.
    pub(super) fn start_loop(
        &mut self,
        graph: &mut Graph,
        block: Block,
        needed: Bits<'_>,
        LoopWrites { registers: written, observed }: LoopWrites<'_>,
        at: u32,
    ) {
        self.forget();
        if self.blocks.len() <= block.at() {
            self.blocks.resize(block.at() + 1, NO_EDGES);
        }
        let first = self.edges.get(self.blocks[block.at()].first as usize).copied();
        for (index, register) in members(needed).enumerate() {
            let first = first.filter(|_| !self.params_for_all && !written.contains(register as usize));
            let is_stored = first.is_some_and(|first| self.all_stored(first, index));
            let stays = first.filter(|_| !self.may_be_written || observed == Observed::Never);
            let known = stays.map(|first| (first, self.value_on(first, index)));
            let value = match known {
                Some((first, value)) if self.all_have(first, index, value) => value,
                _ => graph.add_param(block, self.home(register), at),
            };
            self.now[register as usize] = RegisterState { value, is_stored };
        }
        self.blocks[block.at()].initial = self.save(needed);
    }

    /// Called when all edges into a loop's head are known: sets the inputs of its parameters. Other blocks are complete
    /// when they start.
    pub(super) fn seal(&mut self, graph: &mut Graph, block: Block, needed: Bits<'_>) {
        let Some(&BlockEdges { first, initial, .. }) = self.blocks.get(block.at()) else { return };
        if initial == NONE {
            return;
        }
        for index in 0..needed.len() {
            let RegisterState { value, is_stored } = self.pool.values[initial as usize + index];
            if let Some(&first) = self.edges.get(first as usize).filter(|_| is_stored) {
                self.is_irreducible |= !self.all_stored(first, index);
            }
            let data = graph.node(value);
            if data.op == Op::PARAM && data.block == block {
                self.set_inputs(graph, block, index, value);
                self.simplify(graph, value);
            } else if let Some(&first) = self.edges.get(first as usize) {
                let value = self.resolved(value);
                self.is_irreducible |= !self.all_have(first, index, value);
            }
        }
        self.pool.free(initial, needed.len());
        self.free_edges(block, needed.len());
    }

    /// Makes loops' heads get parameters for all live registers. That is right even for loops that are entered elsewhere
    /// than at their heads.
    pub(super) fn set_params_for_all(&mut self, params_for_all: bool) {
        self.params_for_all = params_for_all;
    }

    /// Whether control enters a loop elsewhere than at its head, with a value for which the head has no parameter. If so,
    /// the graph is wrong.
    pub(super) fn is_irreducible(&self) -> bool {
        self.is_irreducible
    }

    /// The value that an edge carries.
    fn value_on(&mut self, edge: EdgeValues, index: usize) -> Node {
        self.resolved(self.pool.values[edge.values as usize + index].value)
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

    /// Whether the slot has the value on an edge and all later ones into the same block.
    fn all_stored(&self, mut edge: EdgeValues, index: usize) -> bool {
        while self.pool.values[edge.values as usize + index].is_stored {
            let Some(&next) = self.edges.get(edge.next as usize) else { return true };
            edge = next;
        }
        false
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

    /// Debug builds forget dead values, so that a read of one is noticed.
    fn forget(&mut self) {
        if cfg!(debug_assertions) {
            self.now.fill(NOTHING);
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

    /// Replaces a parameter if all its inputs are the same value.
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

    /// The node that replaces this one, or the node itself.
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

    /// Redirects every use of a replaced parameter, and removes these parameters from their blocks.
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

/// The registers of a set, in order.
fn members(set: Bits<'_>) -> impl Iterator<Item = u32> {
    set.into_iter().map(|register| register as u32)
}
