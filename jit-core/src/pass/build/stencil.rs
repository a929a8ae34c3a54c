//! Build the graph of one opcode, with holes for its operands.
//!
//! In: a template. Out: a [`Graph`] that reads and writes VM registers in their slots, and a list of its holes. The graph's entry
//! has the context and the frame in the registers where all bytecodes keep them. The graph ends with `continue` where another
//! bytecode follows: exit 0 is the next bytecode, exit `1 + n` the one that label operand `n` names. Two operands may be the same
//! VM register, so the graph writes and reads a slot exactly where the template does.
//!
//! One VM register may be cached in a machine register when the opcode starts ([`StencilRequest::cached`]) and when it ends
//! ([`CachedValue`]). A stencil may omit the store to the cached value's slot ([`StencilRequest::omits_store`]); then the next
//! opcode must read the value from the machine register and nowhere else ([`StencilFacts::takes_cached`]).

use super::invoke::{Given, Invoked};
use super::{Builder, Functions, Instructions, SLOT_BYTES, Scratch, Source, WORD};
use crate::ir::bytecode::{MAX_OPERANDS, OpcodeInfo, OperandKind, Raw};
use crate::ir::graph::{Effect, Graph};
use crate::ir::index::{Block, Node};
use crate::ir::stencil::{HoleValue, HoleValues, Range, Source as From};
use crate::ir::template::{Arguments, BlockRef, Imm, Likelihood, Ref, Resume, Step, Template};
use crate::vocab::{Op, Props, Scalar, Sig, Type, Vocabulary};

/// The opcode that a stencil is made for, and the variant.
#[derive(Clone, Copy, Debug)]
pub struct StencilRequest<'a> {
    /// The operators that the template may use.
    pub vocab: Vocabulary,
    /// The opcode.
    pub opcode: &'a OpcodeInfo,
    /// What it means.
    pub template: &'a Template,
    /// The operands, a bit each, whose VM register is cached in a machine register when the opcode starts.
    pub cached: u16,
    /// Whether the result stays in its machine register and is not stored to its slot; only if [`StencilFacts::can_omit_store`].
    pub omits_store: bool,
    /// Whether `(cu)` has a reserved machine register; otherwise it is a hole.
    pub keeps_unit: bool,
    /// Which values constants of 64 bits may have.
    pub constants: Constants,
    /// What templates that call functions of bytecode need, which any engine has: see [`Functions::of_process`].
    pub functions: Functions<'static>,
}

/// How holes for constants are made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Constants {
    /// As operands of instructions. Constants of 64 bits fit in 32 bits with sign extension, and a constant that numbers a callee
    /// numbers a function that has a call cell.
    Short,
    /// As operands of instructions. Constants of 64 bits may have any value.
    Long,
    /// Each is loaded into a register first; for instructions that have no immediate operand.
    Held,
}

/// A VM register whose value is in a machine register as well.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CachedValue {
    /// The operand that names the VM register.
    pub operand: u8,
    /// The type in the machine register: a float, [`Type::I64`], or [`Type::I32`] for a value with no more bits. A reader that wants
    /// 64 bits of the latter reads the slot.
    pub ty: Type,
}

impl CachedValue {
    /// Whether a value that is cached as `other` can be read as this type. An integer's low bits can.
    pub fn reads(self, other: Type) -> bool {
        self.ty == other || (self.ty, other) == (Type::I32, Type::I64)
    }
}

/// What a stencil leaves in registers and expects there.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct StencilFacts {
    /// The value that is cached when the next bytecode starts.
    pub cached: Option<CachedValue>,
    /// Whether a variant may omit the store of that value: this opcode does not read the slot.
    pub can_omit_store: bool,
    /// Whether the opcode reads its cached operand from the machine register only, never from the slot.
    pub takes_cached: bool,
    /// Whether it reads the reserved register of `(cu)`.
    pub reads_unit: bool,
}

/// The type in which a value is cached.
fn held(ty: Type) -> Type {
    match ty {
        Type::I8 | Type::I16 => Type::I32,
        ty => ty,
    }
}

/// Builds the graph of an opcode. `None` if the template uses an operand in a way that no hole can express.
pub fn stencil(
    scratch: &mut Scratch,
    request: &StencilRequest<'_>,
    graph: &mut Graph,
    values: &mut HoleValues,
) -> Option<StencilFacts> {
    graph.clear(request.vocab);
    values.clear();
    let source = Source {
        vocab: request.vocab,
        opcodes: &[],
        templates: &[],
        code: &Nothing,
        labels: &[],
        locals: 0,
        slots: 0,
        depths: &[],
        entry: 0,
        arguments: None,
        functions: request.functions,
        call_entry: None,
    };
    let here = values.placeholder(HoleValue { source: From::Here, scale: 1, range: Range::Unsigned });
    let entry = graph.add_block();
    let builder = Builder {
        source: &source,
        graph,
        scratch,
        current: entry,
        at: here as u32,
        observed: false,
        has_window: false,
        has_blind_ends: false,
    };
    let mut builder = StencilBuilder {
        builder,
        request,
        values,
        pointers: [Node::NONE; 2],
        cached: Node::NONE,
        is_cached: true,
        cached_in: Vec::new(),
        reads_slot: false,
        reads_unit: false,
        constants: Vec::new(),
        last: None,
        unstored: None,
        exits: [Block::NONE; 1 + MAX_OPERANDS],
        table: None,
    };
    builder.link()
}

/// The first two operands that a template's hot blocks read before anything may have written their VM registers, each with the
/// type in which it is cached.
pub fn first_reads(template: &Template) -> Vec<CachedValue> {
    let mut reads: Vec<CachedValue> = Vec::new();
    let mut is_cold = vec![false; template.blocks as usize];
    let mut is_skipped = false;
    for step in template.steps {
        match *step {
            Step::Block { block, cold, .. } => is_skipped = cold || is_cold[block as usize],
            _ if is_skipped => {}
            Step::Read { operand, ty } => {
                let read = CachedValue { operand, ty: held(ty) };
                if reads.iter().all(|known| known.operand != operand) {
                    reads.push(read);
                }
            }
            Step::Branch { then, otherwise, likelihood, .. } => match likelihood {
                Likelihood::Likely => is_cold[otherwise as usize] = true,
                Likelihood::Unlikely => is_cold[then as usize] = true,
                Likelihood::Even => {}
            },
            Step::Node { .. } | Step::Constant { .. } | Step::WindowLength { .. } | Step::Jump { .. } => {}
            // Control does not reach the steps behind these.
            Step::Trap { .. } | Step::Exit { .. } | Step::Return { .. } | Step::Goto { .. } | Step::Next => {}
            _ => break,
        }
    }
    reads.truncate(2);
    reads
}

/// No bytecode: a stencil is made for a single opcode.
struct Nothing;

impl Instructions for Nothing {
    fn len(&self) -> usize {
        0
    }

    fn get(&self, at: usize) -> (usize, [Raw; MAX_OPERANDS]) {
        unreachable!("there is no bytecode {at}")
    }
}

struct StencilBuilder<'a> {
    builder: Builder<'a>,
    request: &'a StencilRequest<'a>,
    values: &'a mut HoleValues,
    /// The context and the frame, once they were used.
    pointers: [Node; 2],
    /// The cached value, once it was read.
    cached: Node,
    /// Whether the cached value still equals its slot.
    is_cached: bool,
    /// For each block of the template: how many edges into it were seen, and whether the cached value equals its slot on all.
    cached_in: Vec<(u32, bool)>,
    /// Whether the cached operand was read from its slot, or may have been.
    reads_slot: bool,
    reads_unit: bool,
    /// The values of constant operands, with the operands.
    constants: Vec<(Node, u8)>,
    /// The operand that the current block wrote last, and its value.
    last: Option<(u8, Node)>,
    /// The same operand with the 64 bits for its slot, until something may read that slot. A stencil that omits the store keeps them
    /// here and writes them only then.
    unstored: Option<(u8, Node)>,
    /// Where `continue` ends, by exit.
    exits: [Block; 1 + MAX_OPERANDS],
    /// The labels of the template's switch.
    table: Option<&'a [u8]>,
}

const TC: usize = 0;
const LOCAL: usize = 1;
const NEXT: usize = 0;

impl<'a> StencilBuilder<'a> {
    fn link(&mut self) -> Option<StencilFacts> {
        let template = self.request.template;
        self.builder.open_blocks(template);
        self.cached_in.resize(template.blocks as usize, (0, true));
        for step in template.steps {
            if !self.builder.current.is_some() && !matches!(step, Step::Block { .. }) {
                continue;
            }
            self.step(step)?;
        }
        self.builder.complete_params();
        let cached = self.finish();
        let can_omit_store = self.unstored.is_some();
        if self.values.is_full() {
            return None;
        }
        for exit in 0..self.exits.len() {
            if self.exits[exit].is_some() {
                self.builder.current = self.exits[exit];
                self.continue_at(exit, None);
            }
        }
        super::reached::drop_unreached(&mut self.builder.scratch.reached, self.builder.graph);
        let takes_cached = self.request.cached != 0 && !self.reads_slot && !self.builder.observed;
        Some(StencilFacts { cached, can_omit_store, takes_cached, reads_unit: self.reads_unit })
    }

    /// Continues at the next bytecode, if control reaches the template's end.
    fn finish(&mut self) -> Option<CachedValue> {
        if !self.builder.current.is_some() {
            return None;
        }
        if self.exits[NEXT].is_some() {
            self.flush();
            self.jump(self.exits[NEXT]);
            return None;
        }
        let (operand, value) = match self.last.filter(|_| !self.builder.observed) {
            Some(last) => last,
            None => {
                self.flush();
                self.continue_at(NEXT, None);
                return None;
            }
        };
        let ty = held(self.builder.graph.node(value).ty());
        let whole = match ty {
            Type::I32 if self.request.omits_store => self.builder.as_i32(value),
            Type::I32 => self.builder.widen(value),
            _ => value,
        };
        self.continue_at(NEXT, Some(whole));
        Some(CachedValue { operand, ty })
    }

    fn jump(&mut self, to: Block) {
        let Builder { graph, current, at, .. } = &mut self.builder;
        graph.end(*current, Op::JUMP, Type::Void, &[], 0, &[to], *at);
        *current = Block::NONE;
    }

    /// Ends the block with an exit to another bytecode.
    fn continue_at(&mut self, exit: usize, value: Option<Node>) {
        let pointers = [self.pointer(TC), self.pointer(LOCAL)];
        match value {
            None => self.builder.leave(Op::CONTINUE, Type::Void, &pointers, exit as u64),
            Some(value) => {
                let ty = self.builder.graph.node(value).ty();
                let inputs = [pointers[TC], pointers[LOCAL], value];
                self.builder.leave(Op::CONTINUE_WITH, ty, &inputs, exit as u64);
            }
        }
    }

    fn exit(&mut self, exit: usize) -> Block {
        if !self.exits[exit].is_some() {
            self.exits[exit] = self.builder.graph.add_block();
        }
        self.exits[exit]
    }

    /// Stores the value whose store was omitted so far, before something may read its slot.
    fn flush(&mut self) {
        if let Some((operand, whole)) = self.unstored.take()
            && self.request.omits_store
        {
            self.store(operand, whole);
        }
    }

    /// Links a step: here if it has an operand, otherwise as for whole functions.
    fn step(&mut self, step: &'a Step) -> Option<()> {
        let is_blind = matches!(step, Step::Constant { .. } | Step::Node { .. } | Step::WindowLength { .. });
        if !is_blind || matches!(step, Step::Node { op: Op::LOCAL, .. }) {
            self.flush();
        }
        let value = match *step {
            Step::Read { operand, ty } => self.read(operand, ty),
            Step::Constant { operand, ty } => {
                let value = self.constant(operand, ty);
                self.constants.push((value, operand));
                value
            }
            Step::Node { op: Op::TC, .. } => self.pointer(TC),
            Step::Node { op: Op::LOCAL, .. } => {
                self.builder.observed = true;
                self.pointer(LOCAL)
            }
            Step::Node { op: Op::CU, .. } if self.request.keeps_unit => {
                self.reads_unit = true;
                self.builder.graph.add(Op::KEPT_CU, WORD, &[], 0, self.builder.at)
            }
            Step::Node { op: Op::CU, .. } => {
                self.hole(HoleValue { source: From::Unit, scale: 1, range: Range::Any })
            }
            Step::Node { op, sig, inputs, imm: Imm::Operand(operand) } => {
                self.node(op, sig, inputs.first().copied(), inputs, operand)?
            }
            Step::Node { op: op @ (Op::SCAST | Op::UCAST), sig, inputs, .. } => {
                match self.converted(op, sig, inputs[0]) {
                    Some(value) => value,
                    None => return self.effect(step),
                }
            }
            Step::Window { operand } => {
                self.builder.observed = true;
                self.slot(operand)
            }
            Step::WindowLength { operand } => self.length(operand),
            _ => return self.effect(step),
        };
        self.builder.scratch.linked.values.push(value);
        Some(())
    }

    fn effect(&mut self, step: &'a Step) -> Option<()> {
        self.forget(step);
        match *step {
            Step::Write { operand, value } => {
                let value = self.builder.value(value);
                self.write(operand, value);
            }
            Step::Goto { operand } => {
                let to = self.exit(1 + operand as usize);
                self.jump(to);
            }
            Step::Next => {
                let to = self.exit(NEXT);
                self.jump(to);
            }
            Step::Switch { value, operands } => self.switch(value, operands)?,
            Step::Exit { to: Resume::Label(operand) } => {
                let open = HoleValue { source: From::Operand(operand), scale: 1, range: Range::Unsigned };
                let to = self.values.placeholder(open);
                self.builder.leave(Op::EXIT_AT, Type::Void, &[], to as u64);
            }
            Step::Node { op, sig, inputs, imm } => self.builder.node(op, sig, inputs, imm),
            Step::Call { callee, args, signature, effect } => {
                self.builder.observed |= effect == Effect::Observes;
                self.builder.call_node(callee, args, signature, effect);
            }
            Step::Invoke { function, args, ret, effect } => {
                self.builder.observed |= effect == Effect::Observes;
                let context = self.pointer(TC);
                let (function, given) = (self.callee(function), self.given(args));
                self.builder.invoke_node(context, function, given, ret, effect);
            }
            Step::Block { block, params, cold } => _ = self.builder.start_block(block, params, cold),
            Step::Jump { block, args } => {
                let to = self.builder.bring(block, args);
                self.jump(to);
            }
            Step::Branch { flag, then, otherwise, likelihood } => {
                self.builder.end_with_branch(flag, then, otherwise, likelihood);
                self.builder.current = Block::NONE;
            }
            Step::Exit { to } => {
                self.reads_slot |= to == Resume::Here;
                let here = self.builder.at as u64;
                let to = if to == Resume::Here { here } else { here + 1 };
                self.builder.leave(Op::EXIT_AT, Type::Void, &[], to);
            }
            Step::Return { .. } | Step::Trap { .. } => self.builder.step(step, &mut { Block::NONE }),
            Step::Tail { function, args } => {
                let context = self.pointer(TC);
                let (function, given) = (self.callee(function), self.given(args));
                self.builder.tail_node(context, function, given);
            }
            Step::Read { .. } | Step::Constant { .. } | Step::Window { .. } | Step::WindowLength { .. } => {
                unreachable!("it has a value")
            }
        }
        Some(())
    }

    /// Forgets what a step may change.
    fn forget(&mut self, step: &Step) {
        match *step {
            Step::Block { block, .. } => {
                // A back edge leads to the head of a loop, and what the loop writes is not known yet.
                let (seen, is_cached) = self.cached_in[block as usize];
                let all = self.builder.scratch.linked.blocks[block as usize].awaited;
                (self.is_cached, self.last) = (is_cached && seen == all, None);
            }
            Step::Jump { block, .. } => self.add_edge(block),
            Step::Branch { then, otherwise, .. } => {
                self.add_edge(then);
                self.add_edge(otherwise);
            }
            Step::Call { effect, .. } | Step::Invoke { effect, .. } => {
                self.is_cached = false;
                if effect == Effect::Observes {
                    self.last = None;
                }
            }
            Step::Node { op, .. } => {
                let writes = self.request.vocab.info(op).props.contains(Props::WRITES);
                self.is_cached &= !writes;
            }
            _ => {}
        }
    }

    /// Notes one more edge into a block of the template.
    fn add_edge(&mut self, block: BlockRef) {
        let (seen, is_cached) = &mut self.cached_in[block as usize];
        *seen += 1;
        *is_cached &= self.is_cached;
    }

    // Values.

    fn pointer(&mut self, which: usize) -> Node {
        if !self.pointers[which].is_some() {
            let op = [Op::KEPT_TC, Op::KEPT_LOCAL][which];
            self.pointers[which] = self.builder.graph.add(op, WORD, &[], 0, self.builder.at);
        }
        self.pointers[which]
    }

    /// A hole in the code.
    fn hole(&mut self, value: HoleValue) -> Node {
        let bits = self.values.placeholder(value) as u64;
        self.builder.graph.add(Op::OPEN, WORD, &[], bits, self.builder.at)
    }

    /// How many registers are in a run.
    fn length(&mut self, operand: u8) -> Node {
        self.hole(HoleValue { source: From::Count(operand), scale: 1, range: Range::Unsigned })
    }

    /// The function to call. If its number is a constant operand, the address of its call cell is a hole; otherwise the address of the
    /// table is, in which the code looks the cell up.
    fn callee(&mut self, function: Ref) -> Invoked {
        match self.cell(function) {
            Some(cell) => Invoked::Cell(cell),
            None => {
                let table = self.hole(HoleValue { source: From::Functions, scale: 1, range: Range::Any });
                Invoked::Sought(table, function)
            }
        }
    }

    fn cell(&mut self, function: Ref) -> Option<Node> {
        let Builder { graph, .. } = &self.builder;
        let number = self.builder.value(function);
        // A narrow number is the low bits of a hole.
        let open = match graph.node(number).op {
            Op::UCAST => graph.inputs(number)[0],
            _ => number,
        };
        let data = graph.node(open);
        if data.op != Op::OPEN || self.request.constants != Constants::Short {
            return None;
        }
        match self.values.find(data.imm as i64)? {
            (open, 0) => match self.values.list()[open].source {
                From::Operand(operand) => {
                    Some(self.hole(HoleValue { source: From::Cell(operand), scale: 1, range: Range::Any }))
                }
                _ => None,
            },
            _ => None,
        }
    }

    /// Runs stay in their slots: neither which registers they have is known nor how many.
    fn given(&mut self, args: Arguments) -> Given {
        match args {
            Arguments::Values(args) => Given::Values(args),
            Arguments::Run(operand) => Given::InMemory([self.slot(operand), self.length(operand)]),
        }
    }

    /// The slot that an operand names.
    fn slot(&mut self, operand: u8) -> Node {
        let open =
            HoleValue { source: From::Operand(operand), scale: SLOT_BYTES as u8, range: Range::Signed };
        let (frame, offset) = (self.pointer(LOCAL), self.values.placeholder(open));
        self.builder.graph.add(Op::OPEN_ADDR, WORD, &[frame], offset as u64, self.builder.at)
    }

    fn read(&mut self, operand: u8, ty: Type) -> Node {
        if self.is_cached && self.request.cached & 1 << operand != 0 {
            // All 64 bits of an integer, though perhaps only the low ones mean something.
            let sig = Sig { from: Type::Void, ty: if ty.is_float() { ty } else { Type::I64 } };
            if !self.cached.is_some() {
                self.cached = self.builder.graph.add(Op::CACHED, sig, &[], 0, self.builder.at);
            }
            debug_assert_eq!(self.builder.graph.node(self.cached).ty(), sig.ty, "it is cached as one type");
            return if ty == sig.ty { self.cached } else { self.builder.narrow(self.cached, ty) };
        }
        self.reads_slot |= self.request.cached & 1 << operand != 0;
        let address = self.slot(operand);
        let sig = Sig { from: Type::Void, ty };
        self.builder.graph.push(self.builder.current, Op::LOAD, sig, &[address], 0, self.builder.at)
    }

    fn write(&mut self, operand: u8, value: Node) {
        let ty = self.builder.graph.node(value).ty();
        let whole = if ty == Type::F64 { value } else { self.builder.widen(value) };
        if !self.request.omits_store {
            self.store(operand, whole);
        }
        self.is_cached = false;
        self.last = Some((operand, value));
        self.unstored = Some((operand, whole));
    }

    fn store(&mut self, operand: u8, whole: Node) {
        let address = self.slot(operand);
        let sig = Sig { from: self.builder.graph.node(whole).ty(), ty: Type::Void };
        self.builder.graph.push(self.builder.current, Op::STORE, sig, &[address, whole], 0, self.builder.at);
    }

    /// The range of a constant operand that is used as 64 bits.
    fn range(&self, operand: u8) -> Range {
        match self.request.opcode.operands[operand as usize].scalar {
            _ if self.request.constants == Constants::Held => Range::Any,
            Some(Scalar::I8 | Scalar::U8 | Scalar::I16 | Scalar::U16 | Scalar::I32) => Range::Signed,
            Some(Scalar::F32 | Scalar::F64) => Range::Any,
            _ if self.request.constants != Constants::Short => Range::Any,
            _ => Range::Signed,
        }
    }

    fn constant(&mut self, operand: u8, ty: Type) -> Node {
        let source = From::Operand(operand);
        if ty.bits() == 64 {
            let value = self.hole(HoleValue { source, scale: 1, range: self.range(operand) });
            // A float comes through an integer register. As an operand in memory behind the code it is no faster, in loops
            // of nothing but additions and multiplications, and each bytecode with one takes twice as long to compile and
            // ten bytes more.
            return if ty.is_float() { self.bits_as(value, ty) } else { value };
        }
        let held = self.request.constants == Constants::Held;
        let range = if held { Range::Any } else { Range::Signed };
        let whole = self.hole(HoleValue { source, scale: 1, range });
        let sig = Sig { from: Type::I64, ty: Type::I32 };
        let value = self.builder.graph.add(Op::UCAST, sig, &[whole], 0, self.builder.at);
        match ty {
            Type::I32 => value,
            Type::F32 => self.bits_as(value, ty),
            narrow => {
                let sig = Sig { from: Type::I32, ty: narrow };
                self.builder.graph.add(Op::UCAST, sig, &[value], 0, self.builder.at)
            }
        }
    }

    /// A constant operand as an integer of another type, if that is the operand's value or has its low bits: then it is open as
    /// well, instead of computed.
    fn converted(&mut self, op: Op, sig: Sig, input: Ref) -> Option<Node> {
        let input = self.builder.value(input);
        let (_, operand) = *self.constants.iter().find(|(constant, _)| *constant == input)?;
        let scalar = self.request.opcode.operands[operand as usize].scalar?;
        let is_its_own = scalar.ty() == sig.from && scalar.is_signed() == (op == Op::SCAST);
        (is_its_own || sig.ty.bits() < sig.from.bits()).then(|| self.constant(operand, sig.ty))
    }

    fn bits_as(&mut self, value: Node, ty: Type) -> Node {
        let sig = Sig { from: self.builder.graph.node(value).ty(), ty };
        self.builder.graph.add(Op::BITCAST, sig, &[value], 0, self.builder.at)
    }

    /// An operator whose constant is an operand.
    fn node(&mut self, op: Op, sig: Sig, base: Option<u16>, inputs: &[u16], operand: u8) -> Option<Node> {
        let source = From::Operand(operand);
        match op {
            Op::CONST => Some(self.constant(operand, sig.ty)),
            Op::ADDR => {
                let base = self.builder.value(base?);
                let range = self.range(operand);
                if range == Range::Any {
                    let distance = self.hole(HoleValue { source, scale: 1, range });
                    return Some(self.builder.graph.add(
                        Op::ADD,
                        WORD,
                        &[base, distance],
                        0,
                        self.builder.at,
                    ));
                }
                let offset = self.values.placeholder(HoleValue { source, scale: 1, range });
                Some(self.builder.graph.add(Op::OPEN_ADDR, WORD, &[base], offset as u64, self.builder.at))
            }
            Op::IDX => {
                let (base, index) = (self.builder.value(base?), self.builder.value(inputs[1]));
                let scale = self.hole(HoleValue { source, scale: 1, range: self.range(operand) });
                let at = self.builder.at;
                let distance = self.builder.graph.add(Op::MUL, WORD, &[index, scale], 0, at);
                Some(self.builder.graph.add(Op::ADD, WORD, &[base, distance], 0, at))
            }
            _ => None,
        }
    }

    /// Goes where a table of addresses says, one for each label; the last one is for all greater values.
    fn switch(&mut self, value: u16, operands: &'a [u8]) -> Option<()> {
        // A bytecode has one table.
        if *self.table.get_or_insert(operands) != operands {
            return None;
        }
        let value = self.builder.value(value);
        let kind = self.request.opcode.operands[operands[0] as usize].kind;
        let last = match operands {
            [run] if kind == OperandKind::Labels => {
                self.hole(HoleValue { source: From::Last(*run), scale: 1, range: Range::Unsigned })
            }
            _ => self.builder.graph.constant(Type::I64, operands.len() as u64 - 1, self.builder.at),
        };
        let table = self.hole(HoleValue { source: From::Table, scale: 1, range: Range::Any });
        let (graph, at) = (&mut *self.builder.graph, self.builder.at);
        let is_less = graph.add(Op::ULT, Sig { from: Type::I64, ty: Type::Flag }, &[value, last], 0, at);
        let position = graph.add(Op::SELECT, WORD, &[is_less, value, last], 0, at);
        let entry = graph.add(Op::IDX, WORD, &[table, position], SLOT_BYTES, at);
        let target = graph.push(self.builder.current, Op::LOAD, WORD, &[entry], 0, at);
        let inputs = [self.pointer(TC), self.pointer(LOCAL), target];
        self.builder.leave(Op::CONTINUE_TO, Type::Void, &inputs, 0);
        Some(())
    }
}
