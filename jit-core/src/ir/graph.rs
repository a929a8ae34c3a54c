//! The graph: the computation of a function, independent of any machine.
//!
//! Blocks exist from the start. A *pinned* node (an effect, a guarded operator, a block parameter, a block's end) belongs to a
//! block, and effects keep their order in it. A pure node floats: it has no block until `place` assigns one. A block parameter
//! has one input for each predecessor edge, in the order of [`BlockData::preds`]. Constants are nodes; their bits are
//! truncated to their type.

use super::index::{Block, List, Node};
use super::kinds::ValueKind;
use super::regions::{MemoryRegion, MemoryRegions};
use super::state::{FrameState, FrameStates, StateRegister};
use super::template::Signature;
use crate::vocab::{Op, Props, Sig, Trap, Type, Vocabulary};

/// A node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NodeData {
    /// Its operator.
    pub op: Op,
    /// Its types.
    pub sig: Sig,
    /// Its operands, in [`Graph::links`].
    pub inputs: List,
    /// Its constant: the bits of a `const`, the offset of an `addr`, the scale of an `idx`, the index in [`Graph::calls`] of a
    /// call, the number in [`Graph::kinds`] of an `is`, `unbox` or `box`, the code of a `trap`, the bytecode index of an `exit_at`, the
    /// number in [`Graph::states`] of an `exit_with`, the [`Access`] and the [`MemoryRegion`] of a load or store.
    pub imm: u64,
    /// The block that it is pinned in; `NONE` while it floats.
    pub block: Block,
    /// The bytecode it came from.
    pub origin: u32,
}

impl NodeData {
    /// The type of the result.
    pub const fn ty(&self) -> Type {
        self.sig.ty
    }
}

/// An edge into a block: its source, and its position among the source's successors.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pred {
    /// The source of the edge.
    pub block: Block,
    /// The position in the source's [`BlockData::succs`].
    pub succ: u32,
}

/// How often a block is expected to run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, PartialOrd, Ord)]
pub enum Heat {
    /// The block must not be in the hot path.
    Cold,
    /// Nothing is known of the block.
    #[default]
    Normal,
}

/// A block.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BlockData {
    /// Block parameters (`param` nodes).
    pub params: Vec<Node>,
    /// The pinned nodes in order, except parameters and the end.
    pub body: Vec<Node>,
    /// The node that ends the block; `NONE` only while the graph is built. Its operator determines the meaning of `succs`: the
    /// target of a `jump`; the targets of a `br` if the flag holds and if not; case 0, case 1, … and the default of a
    /// `switch`. The other ends have no successors.
    pub end: Node,
    /// The blocks where control may continue.
    pub succs: Vec<Block>,
    /// The edges from predecessors. A predecessor with two edges to this block is listed twice.
    pub preds: Vec<Pred>,
    /// How often it is expected to run.
    pub heat: Heat,
}

impl Default for BlockData {
    fn default() -> Self {
        BlockData {
            params: Vec::new(),
            body: Vec::new(),
            end: Node::NONE,
            succs: Vec::new(),
            preds: Vec::new(),
            heat: Heat::Normal,
        }
    }
}

impl BlockData {
    /// Empties the block and keeps its memory.
    pub fn clear(&mut self) {
        self.params.clear();
        self.body.clear();
        self.end = Node::NONE;
        self.succs.clear();
        self.preds.clear();
        self.heat = Heat::Normal;
    }
}

/// How a load or store accesses memory. This is the constant of the node, so that tiles and rules need not distinguish such
/// nodes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Access {
    /// The access does not fault, and keeps its order with others.
    #[default]
    Plain,
    /// A load of memory that never changes while the function runs and may be read at any time. It is a value like any other.
    Pure,
    /// The access may fault, which raises the trap with this code. So it is an effect: it is done once, and in its order with
    /// others.
    Within(u32),
}

impl Access {
    /// The constant that encodes the access.
    pub const fn bits(self) -> u64 {
        match self {
            Access::Plain => 0,
            Access::Pure => 1,
            Access::Within(code) => 1 << 32 | code as u64,
        }
    }

    /// The access that a constant encodes, whatever the region.
    #[inline]
    pub const fn of(bits: u64) -> Access {
        match bits & !MemoryRegion::MASK {
            0 => Access::Plain,
            1 => Access::Pure,
            within => Access::Within(within as u32),
        }
    }
}

/// The effects of a call besides computing its result.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Effect {
    /// The call has no effects: equal arguments give equal results, and an unused call may be dropped.
    Pure,
    /// The call reads and writes memory, but runs no bytecode and does not access VM registers.
    Leaf,
    /// The call reads and writes memory, and may run bytecode that looks at frames, but does not access VM registers of this one.
    #[default]
    Memory,
    /// The call also reads and changes VM registers in their slots.
    Observes,
}

/// The callee of a call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CallTarget {
    /// A function at a known address.
    Direct(u64),
    /// The address is the call node's first input.
    Indirect,
}

/// What is known of the memory that a call changes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CallMemory {
    /// Where it writes. Only a [leaf](Effect::Leaf) may leave out any place.
    pub changes: MemoryRegions,
    /// Whether the result is the address of memory that the callee has made, and that nobody else knows. Nobody notices if the call is not
    /// made, and if it is made later. Only for a [leaf](Effect::Leaf).
    pub makes: bool,
}

impl CallMemory {
    /// Nothing is known.
    pub const ANY: CallMemory = CallMemory { changes: MemoryRegions::ALL, makes: false };
}

/// The description of a call, which a call node's `imm` refers to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CallData {
    /// The callee.
    pub target: CallTarget,
    /// The types of arguments and result, and the convention.
    pub signature: Signature,
    /// The effects.
    pub effect: Effect,
    /// What it changes.
    pub memory: CallMemory,
}

/// A function as a graph.
#[derive(Clone, Debug)]
pub struct Graph {
    /// The vocabulary of its operators.
    pub vocab: Vocabulary,
    /// The kinds of values that `is`, `unbox` and `box` are about, by number.
    pub kinds: &'static [ValueKind],
    /// Every node, including dead ones.
    pub nodes: Vec<NodeData>,
    /// Every block; the first is the entry and has no predecessors.
    pub blocks: Vec<BlockData>,
    /// The pool of operands.
    pub links: Vec<Node>,
    /// The descriptions of calls.
    pub calls: Vec<CallData>,
    /// The frame states of nodes that leave the function.
    pub states: FrameStates,
    /// Whether others may have addresses in the frame from the start, so that all calls may access it.
    pub has_captured: bool,
    /// Blocks of earlier functions, kept for their memory.
    spare: Vec<BlockData>,
}

impl Graph {
    /// The block where execution begins.
    pub const ENTRY: Block = Block(0);

    /// A graph without blocks.
    pub fn new(vocab: Vocabulary) -> Graph {
        let (nodes, blocks, links, calls) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let (states, spare) = (FrameStates::default(), Vec::new());
        Graph { vocab, kinds: &[], nodes, blocks, links, calls, states, has_captured: false, spare }
    }

    /// Empties the graph and keeps its memory.
    pub fn clear(&mut self, vocab: Vocabulary) {
        self.vocab = vocab;
        self.kinds = &[];
        self.nodes.clear();
        // Each block is handed out again in this order, so that its lists already have about the capacity that they need.
        self.spare.extend(self.blocks.drain(..).rev());
        self.links.clear();
        self.calls.clear();
        self.states.clear();
        self.has_captured = false;
    }

    /// The operands of a node.
    #[inline(always)]
    pub fn inputs(&self, node: Node) -> &[Node] {
        &self.links[self.nodes[node.at()].inputs.range()]
    }

    /// The node's data.
    #[inline(always)]
    pub fn node(&self, node: Node) -> &NodeData {
        &self.nodes[node.at()]
    }

    /// The data of a block.
    #[inline(always)]
    pub fn block(&self, block: Block) -> &BlockData {
        &self.blocks[block.at()]
    }

    /// Adds an empty block.
    pub fn add_block(&mut self) -> Block {
        let mut data = self.spare.pop().unwrap_or_default();
        data.clear();
        self.blocks.push(data);
        Block::from(self.blocks.len() - 1)
    }

    /// Adds a floating node.
    #[inline]
    pub fn add(&mut self, op: Op, sig: Sig, inputs: &[Node], imm: u64, origin: u32) -> Node {
        self.add_each(op, sig, inputs.iter().copied(), imm, origin)
    }

    /// Adds a floating node whose operands come from an iterator.
    #[inline]
    pub fn add_each(
        &mut self,
        op: Op,
        sig: Sig,
        inputs: impl ExactSizeIterator<Item = Node>,
        imm: u64,
        origin: u32,
    ) -> Node {
        let inputs_at = List { start: self.links.len() as u32, len: inputs.len() as u32 };
        self.links.extend(inputs);
        self.nodes.push(NodeData { op, sig, inputs: inputs_at, imm, block: Block::NONE, origin });
        Node::from(self.nodes.len() - 1)
    }

    /// Whether [`add_normal`](Graph::add_normal) leaves nodes of this operator unchanged, whatever their constants are.
    #[inline]
    pub const fn is_normal(op: Op) -> bool {
        !matches!(op, Op::ADDR | Op::IDX | Op::CONST | Op::COPY)
    }

    /// Adds a floating node in normal form. An `addr` or `idx` whose constant no machine can encode becomes additions and
    /// multiplications, so that passes and tiles only see offsets of 32 bits and scales of 1, 2, 4 and 8. An `addr` with
    /// offset zero becomes its base, and a copy the value: what is known of that need not be known of the copy. A constant is
    /// truncated to its type.
    pub fn add_normal(&mut self, op: Op, sig: Sig, inputs: &[Node], imm: u64, origin: u32) -> Node {
        const WORD: Sig = Sig { from: Type::Void, ty: Type::I64 };
        if op == Op::ADDR && imm == 0 || op == Op::COPY {
            return inputs[0];
        }
        if op == Op::ADDR && imm as i64 != imm as i32 as i64 {
            let offset = self.constant(Type::I64, imm, origin);
            return self.add(Op::ADD, WORD, &[inputs[0], offset], 0, origin);
        }
        if op == Op::IDX && !matches!(imm, 1 | 2 | 4 | 8) {
            let scale = self.constant(Type::I64, imm, origin);
            let distance = self.add(Op::MUL, WORD, &[inputs[1], scale], 0, origin);
            return self.add(Op::ADD, WORD, &[inputs[0], distance], 0, origin);
        }
        if op == Op::CONST {
            return self.constant(sig.ty, imm, origin);
        }
        self.add(op, sig, inputs, imm, origin)
    }

    /// Adds a constant, truncated to its type.
    pub fn constant(&mut self, ty: Type, bits: u64, origin: u32) -> Node {
        self.add(Op::CONST, Sig { from: Type::Void, ty }, &[], ty.truncate(bits), origin)
    }

    /// Adds a flag whose value is known. No pass but `rewrite` has constants that are flags, so it is a comparison of one.
    pub fn known_flag(&mut self, holds: bool, origin: u32) -> Node {
        let bits = self.constant(Type::I64, holds as u64, origin);
        self.add(Op::NZ, Sig { from: Type::I64, ty: Type::Flag }, &[bits], 0, origin)
    }

    /// Makes a node such a flag.
    pub fn become_known_flag(&mut self, node: Node, holds: bool) {
        let bits = self.constant(Type::I64, holds as u64, self.node(node).origin);
        self.redefine(node, Op::NZ, Sig { from: Type::I64, ty: Type::Flag }, &[bits], 0);
    }

    /// Whether such a flag holds; `None` for all other nodes.
    pub fn as_known_flag(&self, node: Node) -> Option<bool> {
        match (self.node(node).op, self.inputs(node)) {
            (Op::NZ, &[bits]) => self.as_const(bits).map(|bits| bits != 0),
            _ => None,
        }
    }

    /// Adds a node at the end of a block's body.
    pub fn push(&mut self, block: Block, op: Op, sig: Sig, inputs: &[Node], imm: u64, origin: u32) -> Node {
        let node = self.add(op, sig, inputs, imm, origin);
        self.pin(node, block);
        node
    }

    /// Appends a floating node to a block's body.
    #[inline]
    pub fn pin(&mut self, node: Node, block: Block) {
        self.nodes[node.at()].block = block;
        self.blocks[block.at()].body.push(node);
    }

    /// Ends a block and adds its edges to the successors.
    #[allow(clippy::too_many_arguments, reason = "a node's parts and where it goes")]
    pub fn end(
        &mut self,
        block: Block,
        op: Op,
        from: Type,
        inputs: &[Node],
        imm: u64,
        succs: &[Block],
        origin: u32,
    ) -> Node {
        debug_assert!(!self.blocks[block.at()].end.is_some(), "{block} has an end");
        let node = self.add(op, Sig { from, ty: Type::Void }, inputs, imm, origin);
        self.nodes[node.at()].block = block;
        let data = &mut self.blocks[block.at()];
        data.end = node;
        data.succs.extend_from_slice(succs);
        for (at, succ) in succs.iter().enumerate() {
            self.blocks[succ.at()].preds.push(Pred { block, succ: at as u32 });
        }
        node
    }

    /// Adds a parameter to a block; its inputs are set by [`Graph::set_inputs`].
    pub fn add_param(&mut self, block: Block, ty: Type, origin: u32) -> Node {
        let node = self.add(Op::PARAM, Sig { from: Type::Void, ty }, &[], 0, origin);
        self.nodes[node.at()].block = block;
        self.blocks[block.at()].params.push(node);
        node
    }

    /// Replaces the operands of a node.
    pub fn set_inputs(&mut self, node: Node, inputs: &[Node]) {
        self.nodes[node.at()].inputs = List::push(&mut self.links, inputs);
    }

    /// Makes a node another one, in the same place and of the same bytecode. Its users get what that computes.
    pub fn redefine(&mut self, node: Node, op: Op, sig: Sig, inputs: &[Node], imm: u64) {
        let inputs = List::push(&mut self.links, inputs);
        let data = &mut self.nodes[node.at()];
        *data = NodeData { op, sig, inputs, imm, ..*data };
    }

    /// Makes a node a copy of a value.
    pub fn become_copy(&mut self, node: Node, of: Node) {
        let sig = Sig { from: Type::Void, ty: self.node(of).ty() };
        self.redefine(node, Op::COPY, sig, &[of], 0);
    }

    /// The bits, if the node is a constant.
    #[inline]
    pub fn as_const(&self, node: Node) -> Option<u64> {
        let data = self.node(node);
        (data.op == Op::CONST).then_some(data.imm)
    }

    /// Whether a node floats: it is pure, not guarded, and no parameter.
    pub fn floats(&self, node: Node) -> bool {
        let data = self.node(node);
        self.would_float(data.op, data.sig, data.imm)
    }

    /// Whether a node with this operator, these types and this constant floats.
    #[inline]
    pub fn would_float(&self, op: Op, sig: Sig, imm: u64) -> bool {
        let info = self.vocab.info(op);
        match info.props.contains(Props::ACCESS) {
            true => Access::of(imm) == Access::Pure,
            false => !info.is_call() && info.is_pure(sig),
        }
    }

    /// How a load or store accesses memory; [`Access::Plain`] for all other nodes.
    #[inline]
    pub fn access(&self, node: Node) -> Access {
        let data = self.node(node);
        match self.vocab.info(data.op).props.contains(Props::ACCESS) {
            true => Access::of(data.imm),
            false => Access::Plain,
        }
    }

    /// The region that a load or store touches; [`MemoryRegion::ANY`] for all other nodes.
    #[inline]
    pub fn region(&self, node: Node) -> MemoryRegion {
        let data = self.node(node);
        match self.vocab.info(data.op).props.contains(Props::ACCESS) {
            true => MemoryRegion::of(data.imm),
            false => MemoryRegion::ANY,
        }
    }

    /// Whether there are kinds of values, and accesses that name their regions.
    pub fn names_regions(&self) -> bool {
        let names_one = |data: &NodeData| {
            MemoryRegion::of(data.imm) != MemoryRegion::ANY
                && self.vocab.info(data.op).props.contains(Props::ACCESS)
        };
        !self.kinds.is_empty() && self.nodes.iter().any(names_one)
    }

    /// Where a node may write.
    pub fn written(&self, node: Node) -> MemoryRegions {
        match (self.writes(node), self.call(node)) {
            (true, Some(call)) => call.memory.changes,
            (true, None) => self.region(node).places(),
            (false, _) => MemoryRegions::NONE,
        }
    }

    /// Whether a node is a call that makes memory.
    pub fn makes(&self, node: Node) -> bool {
        self.call(node).is_some_and(|call| call.memory.makes)
    }

    /// Whether any call makes memory.
    pub fn makes_memory(&self) -> bool {
        self.calls.iter().any(|call| call.memory.makes)
    }

    /// Whether a node may fault.
    pub fn may_fault(&self, node: Node) -> bool {
        matches!(self.access(node), Access::Within(_))
    }

    /// The description of a call node.
    pub fn call(&self, node: Node) -> Option<&CallData> {
        let data = self.node(node);
        self.vocab.info(data.op).is_call().then(|| &self.calls[data.imm as usize])
    }

    /// Whether a node may read memory that changes.
    pub fn reads(&self, node: Node) -> bool {
        self.touches(node, Props::READS) && self.access(node) != Access::Pure
    }

    /// Whether a node may write memory.
    pub fn writes(&self, node: Node) -> bool {
        self.touches(node, Props::WRITES)
    }

    fn touches(&self, node: Node, what: Props) -> bool {
        let data = self.node(node);
        if self.vocab.info(data.op).is_call() {
            return self.calls[data.imm as usize].effect != Effect::Pure;
        }
        self.vocab.info(data.op).props.contains(what)
    }

    /// Whether a pinned node without uses may be dropped.
    pub fn is_removable(&self, node: Node) -> bool {
        let data = self.node(node);
        if self.vocab.info(data.op).is_call() {
            let CallData { effect, memory, .. } = &self.calls[data.imm as usize];
            return *effect == Effect::Pure || memory.makes;
        }
        let props = self.vocab.info(data.op).props;
        !props.intersects(Props::WRITES | Props::ENDS) && !self.may_fault(node)
    }

    /// The frame state of a node that has one, and the VM register of each operand after the first.
    pub fn state(&self, node: Node) -> Option<(&FrameState, &[StateRegister])> {
        let data = self.node(node);
        self.has_state(data.op)
            .then(|| (&self.states.all[data.imm as usize], self.states.registers(data.imm)))
    }

    /// Makes the end of a block a jump. Whoever calls this takes the block out of the predecessors of those to which it does not go any more.
    pub(crate) fn end_with_jump(&mut self, block: Block, to: Block) {
        let data = &mut self.blocks[block.at()];
        data.succs.clear();
        data.succs.push(to);
        let end = &mut self.nodes[data.end.at()];
        end.op = Op::JUMP;
        end.sig = Sig { from: Type::Void, ty: Type::Void };
        end.inputs = List::EMPTY;
        end.imm = 0;
    }

    /// The node that ends a block, if it has a frame state.
    pub fn end_with_state(&self, block: Block) -> Option<Node> {
        let end = self.block(block).end;
        (end.is_some() && self.has_state(self.node(end).op)).then_some(end)
    }

    /// Whether nodes of an operator have a frame state.
    #[inline]
    pub fn has_state(&self, op: Op) -> bool {
        self.vocab.info(op).props.contains(Props::STATE)
    }

    /// The trap that a `trap` node raises.
    pub fn trap(&self, node: Node) -> Option<Trap> {
        let data = self.node(node);
        if data.op == Op::TRAP { Trap::from_code(data.imm as u32) } else { None }
    }

    /// The blocks in reverse postorder from the entry, without unreachable ones.
    pub fn reverse_postorder(&self) -> Vec<Block> {
        let mut order = Vec::with_capacity(self.blocks.len());
        let mut seen = vec![false; self.blocks.len()];
        let mut stack = vec![(Graph::ENTRY, 0)];
        seen[0] = true;
        while let Some((block, next)) = stack.last_mut() {
            match self.blocks[block.at()].succs.get(*next) {
                Some(&succ) => {
                    *next += 1;
                    if !core::mem::replace(&mut seen[succ.at()], true) {
                        stack.push((succ, 0));
                    }
                }
                None => {
                    order.push(*block);
                    stack.pop();
                }
            }
        }
        order.reverse();
        order
    }
}
