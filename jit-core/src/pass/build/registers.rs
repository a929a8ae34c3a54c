//! VM registers as values: which value each register has at each point.
//!
//! In: writes and reads in the order of the code, the ways into blocks with the registers that are needed there, and
//! which registers loops write. Out: block parameters where different values meet.
//!
//! The values in the block at hand are an array. Each way out of it keeps a copy of those that the target needs, until
//! the target starts: then all its ways in are known, and are compared. Only a loop's head starts earlier. It gets
//! parameters for what the loop writes, and what arrives later is compared when the last way has arrived.

use crate::ir::graph::Graph;
use crate::ir::index::{Block, Node};
use crate::vocab::{Op, Sig, Type};

use super::alive::{has, members};
use super::{SLOT_BYTES, WORD};

/// What is known of a VM register before the code is linked.
#[derive(Clone, Copy, Debug)]
struct Register {
    home: Type,
    is_used: bool,
    /// Its slot may hold something else than it does.
    is_elsewhere: bool,
    /// The value it has on entry, once somebody asked.
    initial: Node,
}

const UNUSED: Register =
    Register { home: Type::Void, is_used: false, is_elsewhere: false, initial: Node::NONE };

/// The values of the registers that a block needs, in the order of the registers, as one way in brings them.
#[derive(Clone, Copy, Debug)]
struct Arrival {
    /// In the pool.
    values: u32,
    /// The way into the same block that was linked next.
    next: u32,
}

/// What is known at the start of a block.
#[derive(Clone, Copy, Debug)]
struct Start {
    /// The ways in, in the order of the block's predecessors.
    first: u32,
    last: u32,
    /// For a loop's head, the values it started with.
    values: u32,
}

const NONE: u32 = u32::MAX;
const NEW: Start = Start { first: NONE, last: NONE, values: NONE };

/// Sets of values of various sizes, used again once they were given back. Sizes are rounded up to powers of two.
#[derive(Debug, Default)]
struct Pool {
    values: Vec<Node>,
    /// By size: the first that is not in use. Each holds where the next one is.
    unused: [u32; u32::BITS as usize],
}

impl Pool {
    fn clear(&mut self) {
        self.values.clear();
        self.unused.fill(NONE);
    }

    fn size_class(len: usize) -> usize {
        len.max(1).next_power_of_two().trailing_zeros() as usize
    }

    fn take(&mut self, len: usize) -> u32 {
        let class = Pool::size_class(len);
        let at = self.unused[class];
        if at == NONE {
            self.values.resize(self.values.len() + (1 << class), Node::NONE);
            return (self.values.len() - (1 << class)) as u32;
        }
        self.unused[class] = self.values[at as usize].0;
        at
    }

    fn give_back(&mut self, at: u32, len: usize) {
        let class = Pool::size_class(len);
        self.values[at as usize] = Node(self.unused[class]);
        self.unused[class] = at;
    }
}

/// The registers of one function.
#[derive(Debug, Default)]
pub(super) struct Registers {
    registers: Vec<Register>,
    /// The values in the block that is being linked; of registers that are not needed there, anything.
    now: Vec<Node>,
    starts: Vec<Start>,
    arrivals: Vec<Arrival>,
    /// Arrivals that are not in use, linked.
    unused: u32,
    pool: Pool,
    /// What replaced a parameter; `NONE` for all other nodes.
    replaced: Vec<Node>,
    local: Option<Node>,
    inputs: Vec<Node>,
    /// Whether loops' heads have parameters for what the loop does not write as well.
    is_cautious: bool,
    /// Control enters a loop at another place than its head, and brings another value.
    is_entered_aside: bool,
}

impl Registers {
    pub(super) fn clear(&mut self, n_registers: u32) {
        self.registers.clear();
        self.registers.resize(n_registers as usize, UNUSED);
        self.is_entered_aside = false;
        self.now.clear();
        self.now.resize(n_registers as usize, Node::NONE);
        self.starts.clear();
        self.arrivals.clear();
        self.unused = NONE;
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
        data.is_elsewhere |= written;
    }

    /// No more notes follow. Nobody has put the registers of a function that others call in their slots.
    pub(super) fn settle(&mut self, has_call_entry: bool) {
        for register in &mut self.registers {
            register.is_elsewhere |= has_call_entry && register.is_used;
            if !register.is_used {
                register.home = Type::I64;
            }
        }
    }

    pub(super) fn home(&self, register: u32) -> Type {
        self.registers[register as usize].home
    }

    pub(super) fn is_elsewhere(&self, register: u32) -> bool {
        self.registers[register as usize].is_elsewhere
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

    /// The value of a register in the block that is being linked.
    pub(super) fn read(&mut self, register: u32) -> Node {
        let value = self.now[register as usize];
        debug_assert!(value.is_some(), "register {register} is needed, and nobody knew");
        self.current(value)
    }

    pub(super) fn write(&mut self, register: u32, value: Node) {
        self.now[register as usize] = value;
    }

    /// Makes the values on entry those of now. If it is known from which register on slots are zero, nobody has to look.
    pub(super) fn enter(&mut self, graph: &mut Graph, needed: &[u64], first_zero: Option<u32>) {
        for register in members(needed) {
            if first_zero.is_some_and(|first| register >= first) {
                self.registers[register as usize].initial = graph.constant(self.home(register), 0, 0);
            }
            self.now[register as usize] = self.initial(graph, register);
        }
    }

    /// Gives registers that are carried and whose value nobody needs one: any will do.
    pub(super) fn fill(&mut self, graph: &mut Graph, carried: &[u64], needed: &[u64], at: u32) {
        for register in members(carried).filter(|register| !has(needed, *register)) {
            self.now[register as usize] = graph.constant(self.home(register), 0, at);
        }
    }

    /// A way from the block that is being linked into another, which needs these registers.
    pub(super) fn arrive(&mut self, block: Block, needed: &[u64]) {
        if self.starts.len() <= block.at() {
            self.starts.resize(block.at() + 1, NEW);
        }
        let values = self.save(needed);
        let new = Arrival { values, next: NONE };
        let at = if self.unused == NONE {
            self.arrivals.push(new);
            self.arrivals.len() as u32 - 1
        } else {
            let at = self.unused;
            self.unused = core::mem::replace(&mut self.arrivals[at as usize], new).next;
            at
        };
        let start = &mut self.starts[block.at()];
        match start.last {
            NONE => start.first = at,
            last => self.arrivals[last as usize].next = at,
        }
        start.last = at;
    }

    fn save(&mut self, needed: &[u64]) -> u32 {
        let at = self.pool.take(count(needed));
        let saved = &mut self.pool.values[at as usize..];
        for (place, register) in core::iter::zip(saved, members(needed)) {
            *place = self.now[register as usize];
        }
        at
    }

    /// Starts a block to which all ways are known: where they bring different values, it gets a parameter.
    pub(super) fn start(&mut self, graph: &mut Graph, block: Block, needed: &[u64], at: u32) {
        self.forget();
        let first = self.arrivals[self.starts[block.at()].first as usize];
        let n_values = count(needed);
        let Some(&second) = self.arrivals.get(first.next as usize) else {
            // What was replaced since then is found out when somebody asks.
            let values = &self.pool.values[first.values as usize..][..n_values];
            for (&value, register) in core::iter::zip(values, members(needed)) {
                self.now[register as usize] = value;
            }
            return self.give_back_ways(block, n_values);
        };
        for (index, register) in members(needed).enumerate() {
            let mut value = self.arrived(first, index);
            if !self.agree(second, index, value) {
                value = graph.add_param(block, self.home(register), at);
                self.set_inputs(graph, block, index, value);
            }
            self.now[register as usize] = value;
        }
        self.give_back_ways(block, n_values);
    }

    /// Starts a block into which more ways will be known, until [`seal`](Self::seal): it gets a parameter for what the
    /// loop writes, and where ways bring different values.
    pub(super) fn start_loop(
        &mut self,
        graph: &mut Graph,
        block: Block,
        needed: &[u64],
        written: &[u64],
        at: u32,
    ) {
        self.forget();
        if self.starts.len() <= block.at() {
            self.starts.resize(block.at() + 1, NEW);
        }
        let first = self.arrivals.get(self.starts[block.at()].first as usize).copied();
        for (index, register) in members(needed).enumerate() {
            let stays = !self.is_cautious && !has(written, register);
            let known = first.filter(|_| stays).map(|first| (first, self.arrived(first, index)));
            self.now[register as usize] = match known {
                Some((first, value)) if self.agree(first, index, value) => value,
                _ => graph.add_param(block, self.home(register), at),
            };
        }
        self.starts[block.at()].values = self.save(needed);
    }

    /// All ways into a loop's head are known: its parameters get their inputs. Other blocks have theirs already.
    pub(super) fn seal(&mut self, graph: &mut Graph, block: Block, needed: &[u64]) {
        let Some(&Start { first, values, .. }) = self.starts.get(block.at()) else { return };
        if values == NONE {
            return;
        }
        for index in 0..count(needed) {
            let value = self.pool.values[values as usize + index];
            let data = graph.node(value);
            if data.op == Op::PARAM && data.block == block {
                self.set_inputs(graph, block, index, value);
                self.simplify(graph, value);
            } else if let Some(&first) = self.arrivals.get(first as usize) {
                let value = self.current(value);
                self.is_entered_aside |= !self.agree(first, index, value);
            }
        }
        self.pool.give_back(values, count(needed));
        self.give_back_ways(block, count(needed));
    }

    /// Whether loops' heads get parameters for everything: so it must be where control enters a loop aside of its head.
    pub(super) fn set_cautious(&mut self, is_cautious: bool) {
        self.is_cautious = is_cautious;
    }

    /// Whether control enters a loop aside of its head with another value, and nobody was cautious: what was built is
    /// wrong then.
    pub(super) fn is_entered_aside(&self) -> bool {
        self.is_entered_aside
    }

    /// The value that a way in brings.
    fn arrived(&mut self, way: Arrival, index: usize) -> Node {
        self.current(self.pool.values[way.values as usize + index])
    }

    /// Whether a way in and all later ones bring this value.
    fn agree(&mut self, mut way: Arrival, index: usize, value: Node) -> bool {
        loop {
            if self.arrived(way, index) != value {
                return false;
            }
            let Some(&next) = self.arrivals.get(way.next as usize) else { return true };
            way = next;
        }
    }

    fn set_inputs(&mut self, graph: &mut Graph, block: Block, index: usize, param: Node) {
        self.inputs.clear();
        let mut at = self.starts[block.at()].first;
        while let Some(&way) = self.arrivals.get(at as usize) {
            let value = self.arrived(way, index);
            self.inputs.push(value);
            at = way.next;
        }
        graph.set_inputs(param, &self.inputs);
    }

    fn give_back_ways(&mut self, block: Block, n_values: usize) {
        let mut at = core::mem::replace(&mut self.starts[block.at()], NEW).first;
        while let Some(&way) = self.arrivals.get(at as usize) {
            self.pool.give_back(way.values, n_values);
            self.arrivals[at as usize].next = self.unused;
            self.unused = at;
            at = way.next;
        }
    }

    /// What is not needed is not known, so that debug builds notice when it is read.
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
    #[inline]
    fn current(&mut self, node: Node) -> Node {
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
            graph.links[index] = self.current(graph.links[index]);
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
