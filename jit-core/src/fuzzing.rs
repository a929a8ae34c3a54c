//! Random graphs, for tests and fuzzers.
//!
//! In: random numbers. Out: a graph that [`crate::check::graph`] accepts. It has any control flow, irreducible loops included;
//! every pure operator on every type; loads, stores and calls; and guarded operators on operands for which they do not trap.
//! Any number may serve as an address: the graph is meant for [`crate::check::evaluate`].

use crate::check::dominance::Dominance;
use crate::ir::graph::{Access, CallData, CallMemory, CallTarget, Effect, Graph, Heat};
use crate::ir::index::{Block, List, Node};
use crate::ir::regions::MemoryRegion;
use crate::ir::state::{FrameState, StateRegister};
use crate::ir::template::{Convention, Signature};
pub use crate::random::Random;
use crate::vocab::op::{Key, Kind, Param};
use crate::vocab::{Op, Props, Sig, Trap, Type, Vocabulary};

/// The properties of random graphs.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// The greatest number of blocks.
    pub max_blocks: usize,
    /// The greatest number of nodes that are added to a block, not counting the nodes that these need.
    pub max_nodes: usize,
    /// Whether there are calls.
    pub calls: bool,
    /// Whether all loads and stores access the first [`OWN_SLOTS`] slots at `local` and at `tc`, so that the graph can run on
    /// real memory.
    pub own_memory: bool,
    /// Whether there are accesses that may fault, and loads of memory that never changes. The former access the [`AT_EDGE`]
    /// bytes from `cu` on, and the bytes after them, where they fault. The latter read the [`AT_EDGE`] bytes before `cu`.
    pub edge: bool,
}

/// The number of bytes from `cu` on before accesses fault, and of the bytes before `cu` that never change.
pub const AT_EDGE: u64 = 64;

/// The region that accesses at `cu` may name, and the one that accesses at `local` and `tc` may name, which may overlap each other.
const AT_UNIT: MemoryRegion = MemoryRegion::of_number(1);
const AT_SLOTS: MemoryRegion = MemoryRegion::of_number(15);

/// The number of slots that a graph with memory of its own uses.
pub const OWN_SLOTS: usize = 16;

impl Options {
    /// Small graphs of every kind.
    pub const SMALL: Options =
        Options { max_blocks: 8, max_nodes: 8, calls: true, own_memory: false, edge: true };
}

const VOID: Sig = Sig { from: Type::Void, ty: Type::Void };
/// How many VM registers random frame states are about.
const N_SAVED: u32 = 4;
const WORD: Sig = Sig { from: Type::Void, ty: Type::I64 };

/// Makes a random graph.
pub fn graph(random: &mut Random, options: &Options) -> Graph {
    let mut graph = Graph::new(Vocabulary::BUILTIN);
    let wired = wire(&mut graph, random, options);
    let dominance = Dominance::find(&graph);
    let n_blocks = graph.blocks.len();
    let mut maker =
        GraphMaker { graph, random, options, dominance, values: vec![Vec::new(); n_blocks], block: Block(0) };
    let order = maker.graph.reverse_postorder();
    for &block in &order {
        maker.fill(block);
    }
    for &block in &order {
        maker.complete(block, wired[block.at()]);
    }
    maker.graph
}

/// Makes reachable blocks and the edges between them. Returns the operators that end the blocks; they have no operands yet.
fn wire(graph: &mut Graph, random: &mut Random, options: &Options) -> Vec<Op> {
    let n_blocks = 1 + random.below(options.max_blocks);
    let mut ends = vec![Op::RET; n_blocks];
    let mut succs = vec![Vec::new(); n_blocks];
    for at in 0..n_blocks {
        graph.add_block();
        let n_succs = [0, 1, 2, 2, 2, 3][random.below(6)];
        if at + 1 == n_blocks || (n_succs == 0 && at > 0) {
            continue;
        }
        ends[at] = [Op::JUMP, Op::JUMP, Op::BR, Op::SWITCH][n_succs];
        for _ in 0..n_succs.max(1) {
            // Most edges lead forward, so that most functions end.
            let to = match random.one_in(5) {
                true => 1 + random.below(n_blocks - 1),
                false => at + 1 + random.below(n_blocks - at - 1),
            };
            succs[at].push(Block::from(to));
        }
        if random.one_in(6) && at > 0 {
            graph.blocks[at].heat = Heat::Cold;
        }
    }
    let mut seen = vec![false; n_blocks];
    let mut work = vec![Graph::ENTRY];
    while let Some(block) = work.pop() {
        if core::mem::replace(&mut seen[block.at()], true) {
            continue;
        }
        graph.end(block, ends[block.at()], Type::Void, &[], 0, &succs[block.at()], 0);
        work.extend(&succs[block.at()]);
    }
    ends
}

struct GraphMaker<'a> {
    graph: Graph,
    random: &'a mut Random,
    options: &'a Options,
    dominance: Dominance,
    /// For each block, the values that are available from there on: in it and in the blocks that it dominates.
    values: Vec<Vec<Node>>,
    /// The block being filled.
    block: Block,
}

impl GraphMaker<'_> {
    fn fill(&mut self, block: Block) {
        self.block = block;
        if block != Graph::ENTRY {
            for _ in 0..self.random.below(4) {
                let ty = self.value_type();
                let param = self.graph.add_param(block, ty, 0);
                self.values[block.at()].push(param);
            }
        }
        for _ in 0..self.random.below(self.options.max_nodes + 1) {
            match self.random.below(8) {
                0 | 1 if self.options.edge && self.random.one_in(3) => self.access_edge(),
                0 => self.load(),
                1 | 2 => self.store(),
                3 if self.options.calls && self.random.one_in(2) => self.call(),
                4 if self.random.one_in(2) => self.divide(),
                _ => {
                    self.compute();
                }
            }
        }
    }

    /// Gives the block's end its operands, and each of its parameters a value from each predecessor.
    fn complete(&mut self, block: Block, end: Op) {
        self.block = block;
        let flag = matches!(end, Op::BR).then(|| self.value(Type::Flag));
        let word = matches!(end, Op::SWITCH).then(|| self.small_word());
        let node = self.graph.block(block).end;
        self.graph.set_inputs(node, &flag.or(word).into_iter().collect::<Vec<_>>());
        if end == Op::RET {
            let ty = self.value_type();
            let result = self.value(ty);
            match self.random.below(7) {
                0 => {}
                1 => self.change_end(node, Op::EXIT_AT, VOID, &[], 7),
                6 => self.exit_with(node),
                2 => self.change_end(node, Op::TRAP, VOID, &[], 17),
                _ => self.change_end(node, Op::RETURN, Sig { from: ty, ty: Type::Void }, &[result], 0),
            }
        }
        for param in 0..self.graph.block(block).params.len() {
            let param = self.graph.block(block).params[param];
            let ty = self.graph.node(param).ty();
            let mut inputs = Vec::new();
            for way in 0..self.graph.block(block).preds.len() {
                self.block = self.graph.block(block).preds[way].block;
                inputs.push(self.value(ty));
            }
            self.graph.set_inputs(param, &inputs);
        }
    }

    /// Makes a block leave the function with values for some of the first VM registers.
    fn exit_with(&mut self, node: Node) {
        let local = self.graph.add(Op::LOCAL, WORD, &[], 0, 0);
        let mut inputs = vec![local];
        let start = self.graph.states.registers.len() as u32;
        for register in 0..N_SAVED {
            if !self.random.one_in(3) {
                self.graph.states.registers.push(StateRegister::plain(register));
                let ty = self.value_type();
                inputs.push(self.value(ty));
            }
        }
        let registers = List { start, len: inputs.len() as u32 - 1 };
        self.graph.states.all.push(FrameState { to: 7, registers, frame: 0 });
        let state = self.graph.states.all.len() as u64 - 1;
        self.change_end(node, Op::EXIT_WITH, VOID, &inputs, state);
    }

    fn change_end(&mut self, node: Node, op: Op, sig: Sig, inputs: &[Node], imm: u64) {
        self.graph.set_inputs(node, inputs);
        let data = &mut self.graph.nodes[node.at()];
        (data.op, data.sig, data.imm) = (op, sig, imm);
    }

    fn value_type(&mut self) -> Type {
        const TYPES: [Type; 9] = [
            Type::I64,
            Type::I64,
            Type::I64,
            Type::I64,
            Type::I32,
            Type::I16,
            Type::I8,
            Type::F64,
            Type::F32,
        ];
        TYPES[self.random.below(TYPES.len())]
    }

    /// A value of a type that is available at the end of the block being filled.
    fn value(&mut self, ty: Type) -> Node {
        let mut found = Vec::new();
        for at in 0..self.values.len() {
            let block = Block::from(at);
            if self.dominance.is_reached(block) && self.dominance.dominates(block, self.block) {
                found.extend(self.values[at].iter().filter(|node| self.graph.node(**node).ty() == ty));
            }
        }
        if !found.is_empty() && !self.random.one_in(4) {
            return found[self.random.below(found.len())];
        }
        if ty == Type::Flag {
            let (op, from) =
                [(Op::LT, Type::I64), (Op::EQ, Type::I32), (Op::LE, Type::F64)][self.random.below(3)];
            let (a, b) = (self.value(from), self.value(from));
            return self.add(op, Sig { from, ty }, &[a, b], 0);
        }
        let bits = match self.random.below(6) {
            0 => 0,
            1 => 1,
            2 => u64::MAX,
            3 if ty.is_int() => 1 << self.random.below(64),
            _ if ty == Type::F64 => (self.random.below(100) as f64 / 4.0 - 8.0).to_bits(),
            _ if ty == Type::F32 => (self.random.below(100) as f32 / 4.0 - 8.0).to_bits() as u64,
            4 => self.random.number(),
            _ => self.random.below(20) as u64,
        };
        // No NaN: which of two NaNs a sum keeps is unspecified.
        let bits = if ty.is_float() && bits == u64::MAX { 0 } else { bits };
        self.graph.constant(ty, bits, 0)
    }

    fn small_word(&mut self) -> Node {
        let value = self.value(Type::I64);
        let mask = self.graph.constant(Type::I64, 3, 0);
        self.add(Op::AND, WORD, &[value, mask], 0)
    }

    fn add(&mut self, op: Op, sig: Sig, inputs: &[Node], imm: u64) -> Node {
        let node = self.graph.add(op, sig, inputs, imm, 0);
        self.values[self.block.at()].push(node);
        node
    }

    /// Adds a node of a random pure operator.
    fn compute(&mut self) -> Node {
        loop {
            let at = self.random.below(Op::BUILTINS as usize);
            let op = Op(at as u16);
            let info = self.graph.vocab.info(op);
            let sigs = info.sigs();
            let sig = sigs[self.random.below(sigs.len())];
            let is_usable =
                info.props.contains(Props::GRAPH) && !info.props.intersects(Props::STENCIL | Props::CALLED);
            if !is_usable || !info.is_pure(sig) || matches!(op, Op::STACK | Op::CONST) {
                continue;
            }
            let operating = if matches!(info.key, Key::Result | Key::None) { sig.ty } else { sig.from };
            let mut inputs = Vec::new();
            for kind in info.operands {
                let ty = match kind {
                    Kind::Ptr | Kind::Word => Type::I64,
                    Kind::Flag => Type::Flag,
                    _ => operating,
                };
                inputs.push(self.value(ty));
            }
            let imm = match info.params.iter().find(|param| **param != Param::Type) {
                Some(Param::Scale) => 1 << self.random.below(4),
                Some(_) => self.random.below(64) as u64 * 4,
                None => 0,
            };
            return self.add(op, sig, &inputs, imm);
        }
    }

    /// An address: of a VM register, of a place in the context, or any number. And the region that an access names.
    fn address(&mut self) -> (Node, MemoryRegion) {
        let base = match self.random.below(4) {
            0 if self.options.own_memory => {
                let (base, element) = (self.graph.add(Op::LOCAL, WORD, &[], 0, 0), self.small_word());
                let scale = 1 << self.random.below(4);
                self.graph.add(Op::IDX, WORD, &[base, element], scale, 0)
            }
            0 => return (self.value(Type::I64), MemoryRegion::ANY),
            1 => self.graph.add(Op::TC, WORD, &[], 0, 0),
            _ => self.graph.add(Op::LOCAL, WORD, &[], 0, 0),
        };
        let offset = self.random.below(4) as u64 * 8 + if self.random.one_in(8) { 4 } else { 0 };
        (self.graph.add(Op::ADDR, WORD, &[base], offset, 0), self.region(AT_SLOTS))
    }

    /// A region, or none.
    fn region(&mut self, region: MemoryRegion) -> MemoryRegion {
        if self.random.one_in(2) { region } else { MemoryRegion::ANY }
    }

    fn load(&mut self) {
        let ((address, region), ty) = (self.address(), self.value_type());
        let sig = Sig { from: Type::Void, ty };
        // A float in memory could be a NaN, so no floats are loaded.
        if ty.is_float() {
            return;
        }
        let node = self.graph.push(self.block, Op::LOAD, sig, &[address], region.bits(), 0);
        self.values[self.block.at()].push(node);
    }

    fn store(&mut self) {
        let ((address, region), from) = (self.address(), self.value_type());
        let value = self.value(from);
        let sig = Sig { from, ty: Type::Void };
        self.graph.push(self.block, Op::STORE, sig, &[address, value], region.bits(), 0);
    }

    /// Adds a load or store that may fault, or a load of memory that never changes.
    fn access_edge(&mut self) {
        let (unit, ty) = (self.graph.add(Op::CU, WORD, &[], 0, 0), self.value_type());
        let offset = self.random.below(AT_EDGE as usize) as u64;
        let place = |maker: &mut Self, offset| {
            let element = maker.small_word();
            let base = maker.graph.add(Op::IDX, WORD, &[unit, element], 8, 0);
            maker.graph.add(Op::ADDR, WORD, &[base], offset, 0)
        };
        let (load, store) = (Sig { from: Type::Void, ty }, Sig { from: ty, ty: Type::Void });
        if self.random.one_in(4) && !ty.is_float() {
            let address = place(self, (offset / 2).wrapping_sub(AT_EDGE));
            self.add(Op::LOAD, load, &[address], Access::Pure.bits());
            return;
        }
        // Most accesses are within bounds, and many of them are at the same place.
        let (mut access, is_anywhere) =
            (Access::Within(Trap::User(self.random.below(99) as u16).code()), self.random.one_in(4));
        let address = match is_anywhere {
            true => place(self, offset),
            false => self.graph.add(Op::ADDR, WORD, &[unit], offset & !7, 0),
        };
        if !is_anywhere && self.random.one_in(2) {
            access = Access::Plain;
        }
        let imm = access.bits() | self.region(AT_UNIT).bits();
        let origin = 1 + self.random.below(99) as u32;
        if self.random.one_in(2) {
            let value = self.value(ty);
            self.graph.push(self.block, Op::STORE, store, &[address, value], imm, origin);
        } else if !ty.is_float() {
            let node = self.graph.push(self.block, Op::LOAD, load, &[address], imm, origin);
            self.values[self.block.at()].push(node);
        }
    }

    fn call(&mut self) {
        let effect = [Effect::Pure, Effect::Leaf, Effect::Memory, Effect::Observes][self.random.below(4)];
        let signature =
            Signature { convention: Convention::SysV64, args: &[Type::I64, Type::I32], ret: Type::I64 };
        let (target, memory) = (CallTarget::Direct(0x1000), CallMemory::ANY);
        self.graph.calls.push(CallData { target, signature, effect, memory });
        let (a, b) = (self.value(Type::I64), self.value(Type::I32));
        let imm = self.graph.calls.len() as u64 - 1;
        let may_fail = self.random.one_in(3);
        let op = if may_fail { Op::TRY_CALL } else { Op::CALL };
        let node = self.graph.push(self.block, op, WORD, &[a, b], imm, 0);
        self.values[self.block.at()].push(node);
        if may_fail {
            let sig = Sig { from: Type::Void, ty: Type::I32 };
            let failure = self.graph.push(self.block, Op::FAILURE, sig, &[node], 0, 0);
            self.values[self.block.at()].push(failure);
        }
    }

    /// Adds a division by an odd number from 1 to 127, or by a constant.
    fn divide(&mut self) {
        let ty = [Type::I64, Type::I32, Type::I16, Type::I8][self.random.below(4)];
        let op = [Op::DIV, Op::UDIV, Op::REM, Op::UREM][self.random.below(4)];
        let sig = Sig { from: Type::Void, ty };
        let dividend = self.value(ty);
        let divisor = match self.random.one_in(2) {
            true => {
                let bits = self.random.number() >> self.random.below(60) | 2;
                self.graph.constant(ty, bits, 0)
            }
            false => {
                let (value, mask, one) =
                    (self.value(ty), self.graph.constant(ty, 126, 0), self.graph.constant(ty, 1, 0));
                let masked = self.graph.add(Op::AND, sig, &[value, mask], 0, 0);
                self.graph.add(Op::OR, sig, &[masked, one], 0, 0)
            }
        };
        // A divisor of all ones is -1, which may overflow.
        if self.graph.as_const(divisor) == Some(ty.mask()) {
            return;
        }
        let node = self.graph.push(self.block, op, sig, &[dividend, divisor], 0, 0);
        self.values[self.block.at()].push(node);
    }
}
