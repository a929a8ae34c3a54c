//! Build the graph of one opcode with its operands left open.
//!
//! In: a template. Out: a [`Graph`] that reads and writes VM registers in their slots, and a list of what is open in
//! it. Its entry has the machine's own pointers in the registers where all bytecodes keep them; it ends with
//! `onward` where another bytecode follows: way 0 is the next one, way `1 + n` the one that label operand `n`
//! names. Two operands may be the same register, so a slot is written when the template says so, and read then.
//!
//! One value may be in a register beside its slot when the opcode starts ([`Opening::carried`]), and when it ends
//! ([`Carry`]). If it is known that nobody looks for it in its slot, it may be in the register only
//! ([`Opening::hands_over`]): an opcode that asks for it there must take it ([`Opened::takes_over`]).

use super::invoke::{Given, Invoked};
use super::{Builder, Functions, Instructions, SLOT_BYTES, Scratch, Source, WORD};
use crate::ir::bytecode::{MAX_OPERANDS, OpcodeInfo, OperandKind, Raw};
use crate::ir::graph::{Effect, Graph};
use crate::ir::index::{Block, Node};
use crate::ir::stencil::{Open, Opens, Range, Source as From};
use crate::ir::template::{Arguments, BlockRef, Imm, Likelihood, Ref, Resume, Step, Template};
use crate::vocab::{Op, Props, Scalar, Sig, Type, Vocabulary};

/// What is opened, and how.
#[derive(Clone, Copy, Debug)]
pub struct Opening<'a> {
    /// The operators that the template may use.
    pub vocab: Vocabulary,
    /// The opcode.
    pub opcode: &'a OpcodeInfo,
    /// What it means.
    pub template: &'a Template,
    /// The operands, a bit each, whose register's value is at hand when the opcode starts.
    pub carried: u16,
    /// Whether the value that is at hand when it ends is wanted there only, and not in its slot: for [`Opened::can_hand_over`].
    pub hands_over: bool,
    /// Whether `(cu)` is in a register of its own, which is given out for nothing else; otherwise it is open.
    pub keeps_unit: bool,
    /// What constants of 64 bits may be.
    pub constants: Constants,
    /// What templates that call functions of bytecode need, which any engine has: see [`Functions::of_process`].
    pub functions: Functions<'static>,
}

/// How constants are left open.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Constants {
    /// As operands of instructions; those of 64 bits fit 32 with their sign, and those that number functions to call number
    /// some that have a call cell.
    Short,
    /// As operands of instructions; those of 64 bits may be any.
    Long,
    /// In registers, whatever they are.
    Held,
}

/// The value that is at hand when the next bytecode starts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Carry {
    /// It is in this operand's slot too.
    pub operand: u8,
    /// As what it is at hand: a float, [`Type::I64`], or [`Type::I32`] for what has no more bits; then who asks for 64
    /// finds it in its slot.
    pub ty: Type,
}

impl Carry {
    /// Whether what is at hand as `other` can be read as this: an integer has its low bits.
    pub fn reads(self, other: Type) -> bool {
        self.ty == other || (self.ty, other) == (Type::I32, Type::I64)
    }
}

/// What became of an opcode that was opened.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Opened {
    /// What is at hand when the next bytecode starts.
    pub carry: Option<Carry>,
    /// Whether that need not be in its slot as far as this opcode goes.
    pub can_hand_over: bool,
    /// Whether what was carried is looked for nowhere else.
    pub takes_over: bool,
    /// Whether it takes `(cu)` from the register that keeps it.
    pub reads_unit: bool,
}

/// As what a value of this type is carried.
fn held(ty: Type) -> Type {
    match ty {
        Type::I8 | Type::I16 => Type::I32,
        ty => ty,
    }
}

/// Builds the graph of an opcode. `None` if a template uses an operand in a way that cannot be left open.
pub fn open(
    scratch: &mut Scratch,
    opening: &Opening<'_>,
    graph: &mut Graph,
    opens: &mut Opens,
) -> Option<Opened> {
    graph.clear(opening.vocab);
    opens.clear();
    let source = Source {
        vocab: opening.vocab,
        opcodes: &[],
        templates: &[],
        code: &Nothing,
        labels: &[],
        locals: 0,
        slots: 0,
        depths: &[],
        entry: 0,
        arguments: None,
        functions: opening.functions,
        called: None,
    };
    let here = opens.stand_in(Open { source: From::Here, scale: 1, range: Range::Unsigned });
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
    let mut opener = Opener {
        builder,
        opening,
        opens,
        pointers: [Node::NONE; 2],
        carried: Node::NONE,
        is_at_hand: true,
        at_hand_in: Vec::new(),
        is_missed: false,
        reads_unit: false,
        constants: Vec::new(),
        last: None,
        unseen: None,
        ways: [Block::NONE; 1 + MAX_OPERANDS],
        table: None,
    };
    opener.link()
}

/// The operands whose registers a template reads before anything else may have written them, in its hot blocks, with the
/// type that they are carried as; the first two.
pub fn first_reads(template: &Template) -> Vec<Carry> {
    let mut reads: Vec<Carry> = Vec::new();
    let mut is_cold = vec![false; template.blocks as usize];
    let mut is_skipped = false;
    for step in template.steps {
        match *step {
            Step::Block { block, cold, .. } => is_skipped = cold || is_cold[block as usize],
            _ if is_skipped => {}
            Step::Read { operand, ty } => {
                let read = Carry { operand, ty: held(ty) };
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
            // Nobody comes from there to what follows.
            Step::Trap { .. } | Step::Exit { .. } | Step::Return { .. } | Step::Goto { .. } | Step::Next => {}
            _ => break,
        }
    }
    reads.truncate(2);
    reads
}

/// No bytecode: there is only the one that is opened.
struct Nothing;

impl Instructions for Nothing {
    fn len(&self) -> usize {
        0
    }

    fn get(&self, at: usize) -> (usize, [Raw; MAX_OPERANDS]) {
        unreachable!("there is no bytecode {at}")
    }
}

struct Opener<'a> {
    builder: Builder<'a>,
    opening: &'a Opening<'a>,
    opens: &'a mut Opens,
    /// The context and the frame, once somebody asked.
    pointers: [Node; 2],
    /// The carried value, once somebody asked.
    carried: Node,
    /// Whether the carried value is still what its slots hold.
    is_at_hand: bool,
    /// For each block of the template how many ways into it were seen, and whether it is so on all of them.
    at_hand_in: Vec<(u32, bool)>,
    /// Whether somebody may have looked for it there.
    is_missed: bool,
    reads_unit: bool,
    /// The values of constant operands, and which those are.
    constants: Vec<(Node, u8)>,
    /// The operand that was written last, in the block that is open, and its value.
    last: Option<(u8, Node)>,
    /// The same, with what its slot gets, until somebody may look there: so long it is not written there if it is handed over.
    unseen: Option<(u8, Node)>,
    /// Where `onward` ends each way, by number.
    ways: [Block; 1 + MAX_OPERANDS],
    /// What the template's switch jumps by.
    table: Option<&'a [u8]>,
}

const TC: usize = 0;
const LOCAL: usize = 1;
const NEXT: usize = 0;

impl<'a> Opener<'a> {
    fn link(&mut self) -> Option<Opened> {
        let template = self.opening.template;
        self.builder.open_blocks(template);
        self.at_hand_in.resize(template.blocks as usize, (0, true));
        for step in template.steps {
            if !self.builder.current.is_some() && !matches!(step, Step::Block { .. }) {
                continue;
            }
            self.step(step)?;
        }
        self.builder.complete_params();
        let carry = self.finish();
        // Where nothing is carried it was written.
        let can_hand_over = self.unseen.is_some();
        if self.opens.is_too_much() {
            return None;
        }
        for way in 0..self.ways.len() {
            if self.ways[way].is_some() {
                self.builder.current = self.ways[way];
                self.onward(way, None);
            }
        }
        super::reached::drop_unreached(&mut self.builder.scratch.reached, self.builder.graph);
        let takes_over = self.opening.carried != 0 && !self.is_missed && !self.builder.observed;
        Some(Opened { carry, can_hand_over, takes_over, reads_unit: self.reads_unit })
    }

    /// Goes on at the next bytecode, if control comes to the template's end.
    fn finish(&mut self) -> Option<Carry> {
        if !self.builder.current.is_some() {
            return None;
        }
        if self.ways[NEXT].is_some() {
            self.show();
            self.jump(self.ways[NEXT]);
            return None;
        }
        let (operand, value) = match self.last.filter(|_| !self.builder.observed) {
            Some(last) => last,
            None => {
                self.show();
                self.onward(NEXT, None);
                return None;
            }
        };
        let ty = held(self.builder.graph.node(value).ty());
        let whole = match ty {
            Type::I32 if self.opening.hands_over => self.builder.as_i32(value),
            Type::I32 => self.builder.widen(value),
            _ => value,
        };
        self.onward(NEXT, Some(whole));
        Some(Carry { operand, ty })
    }

    fn jump(&mut self, to: Block) {
        let Builder { graph, current, at, .. } = &mut self.builder;
        graph.end(*current, Op::JUMP, Type::Void, &[], 0, &[to], *at);
        *current = Block::NONE;
    }

    /// Ends the block with a way to another bytecode.
    fn onward(&mut self, way: usize, value: Option<Node>) {
        let pointers = [self.pointer(TC), self.pointer(LOCAL)];
        match value {
            None => self.builder.leave(Op::ONWARD, Type::Void, &pointers, way as u64),
            Some(value) => {
                let ty = self.builder.graph.node(value).ty();
                let inputs = [pointers[TC], pointers[LOCAL], value];
                self.builder.leave(Op::ONWARD_WITH, ty, &inputs, way as u64);
            }
        }
    }

    fn way(&mut self, way: usize) -> Block {
        if !self.ways[way].is_some() {
            self.ways[way] = self.builder.graph.add_block();
        }
        self.ways[way]
    }

    /// Writes what was last written to its slot, before anybody looks there.
    fn show(&mut self) {
        if let Some((operand, whole)) = self.unseen.take()
            && self.opening.hands_over
        {
            self.store(operand, whole);
        }
    }

    /// Links a step: here if an operand takes part in it, and else as ever.
    fn step(&mut self, step: &'a Step) -> Option<()> {
        let is_blind = matches!(step, Step::Constant { .. } | Step::Node { .. } | Step::WindowLength { .. });
        if !is_blind || matches!(step, Step::Node { op: Op::LOCAL, .. }) {
            self.show();
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
            Step::Node { op: Op::CU, .. } if self.opening.keeps_unit => {
                self.reads_unit = true;
                self.builder.graph.add(Op::KEPT_CU, WORD, &[], 0, self.builder.at)
            }
            Step::Node { op: Op::CU, .. } => {
                self.open(Open { source: From::Unit, scale: 1, range: Range::Any })
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
                let to = self.way(1 + operand as usize);
                self.jump(to);
            }
            Step::Next => {
                let to = self.way(NEXT);
                self.jump(to);
            }
            Step::Switch { value, operands } => self.switch(value, operands)?,
            Step::Exit { to: Resume::Label(operand) } => {
                let open = Open { source: From::Operand(operand), scale: 1, range: Range::Unsigned };
                let to = self.opens.stand_in(open);
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
                self.is_missed |= to == Resume::Here;
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
                // A block to which a way leads from behind it is a loop's: what is written there is not known yet.
                let (seen, is_at_hand) = self.at_hand_in[block as usize];
                let all = self.builder.scratch.linked.blocks[block as usize].awaited;
                (self.is_at_hand, self.last) = (is_at_hand && seen == all, None);
            }
            Step::Jump { block, .. } => self.arrive(block),
            Step::Branch { then, otherwise, .. } => {
                self.arrive(then);
                self.arrive(otherwise);
            }
            Step::Call { effect, .. } | Step::Invoke { effect, .. } => {
                self.is_at_hand = false;
                if effect == Effect::Observes {
                    self.last = None;
                }
            }
            Step::Node { op, .. } => {
                let writes = self.opening.vocab.info(op).props.contains(Props::WRITES);
                self.is_at_hand &= !writes;
            }
            _ => {}
        }
    }

    /// One more way into a block of the template.
    fn arrive(&mut self, block: BlockRef) {
        let (seen, is_at_hand) = &mut self.at_hand_in[block as usize];
        *seen += 1;
        *is_at_hand &= self.is_at_hand;
    }

    // Values.

    fn pointer(&mut self, which: usize) -> Node {
        if !self.pointers[which].is_some() {
            let op = [Op::KEPT_TC, Op::KEPT_LOCAL][which];
            self.pointers[which] = self.builder.graph.add(op, WORD, &[], 0, self.builder.at);
        }
        self.pointers[which]
    }

    /// An open number.
    fn open(&mut self, open: Open) -> Node {
        let bits = self.opens.stand_in(open) as u64;
        self.builder.graph.add(Op::OPEN, WORD, &[], bits, self.builder.at)
    }

    /// How many registers are in a run.
    fn length(&mut self, operand: u8) -> Node {
        self.open(Open { source: From::Count(operand), scale: 1, range: Range::Unsigned })
    }

    /// A function whose number is an operand: its call cell is open too. For others it is open where they are looked up.
    fn callee(&mut self, function: Ref) -> Invoked {
        match self.cell(function) {
            Some(cell) => Invoked::Cell(cell),
            None => {
                let table = self.open(Open { source: From::Functions, scale: 1, range: Range::Any });
                Invoked::Sought(table, function)
            }
        }
    }

    fn cell(&mut self, function: Ref) -> Option<Node> {
        let Builder { graph, .. } = &self.builder;
        let number = self.builder.value(function);
        // Narrow ones are the low bits of what is open.
        let open = match graph.node(number).op {
            Op::UCAST => graph.inputs(number)[0],
            _ => number,
        };
        let data = graph.node(open);
        if data.op != Op::OPEN || self.opening.constants != Constants::Short {
            return None;
        }
        match self.opens.find(data.imm as i64)? {
            (open, 0) => match self.opens.list()[open].source {
                From::Operand(operand) => {
                    Some(self.open(Open { source: From::Cell(operand), scale: 1, range: Range::Any }))
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
        let open = Open { source: From::Operand(operand), scale: SLOT_BYTES as u8, range: Range::Signed };
        let (frame, offset) = (self.pointer(LOCAL), self.opens.stand_in(open));
        self.builder.graph.add(Op::OPEN_ADDR, WORD, &[frame], offset as u64, self.builder.at)
    }

    fn read(&mut self, operand: u8, ty: Type) -> Node {
        if self.is_at_hand && self.opening.carried & 1 << operand != 0 {
            // All bits of an integer, though perhaps only the low ones mean something.
            let sig = Sig { from: Type::Void, ty: if ty.is_float() { ty } else { Type::I64 } };
            if !self.carried.is_some() {
                self.carried = self.builder.graph.add(Op::CARRIED, sig, &[], 0, self.builder.at);
            }
            debug_assert_eq!(self.builder.graph.node(self.carried).ty(), sig.ty, "it is carried as one type");
            return if ty == sig.ty { self.carried } else { self.builder.narrow(self.carried, ty) };
        }
        self.is_missed |= self.opening.carried & 1 << operand != 0;
        let address = self.slot(operand);
        let sig = Sig { from: Type::Void, ty };
        self.builder.graph.push(self.builder.current, Op::LOAD, sig, &[address], 0, self.builder.at)
    }

    fn write(&mut self, operand: u8, value: Node) {
        let ty = self.builder.graph.node(value).ty();
        let whole = if ty == Type::F64 { value } else { self.builder.widen(value) };
        if !self.opening.hands_over {
            self.store(operand, whole);
        }
        self.is_at_hand = false;
        self.last = Some((operand, value));
        self.unseen = Some((operand, whole));
    }

    fn store(&mut self, operand: u8, whole: Node) {
        let address = self.slot(operand);
        let sig = Sig { from: self.builder.graph.node(whole).ty(), ty: Type::Void };
        self.builder.graph.push(self.builder.current, Op::STORE, sig, &[address, whole], 0, self.builder.at);
    }

    /// How a constant operand that is used as 64 bits may be.
    fn range(&self, operand: u8) -> Range {
        match self.opening.opcode.operands[operand as usize].scalar {
            _ if self.opening.constants == Constants::Held => Range::Any,
            Some(Scalar::I8 | Scalar::U8 | Scalar::I16 | Scalar::U16 | Scalar::I32) => Range::Signed,
            Some(Scalar::F32 | Scalar::F64) => Range::Any,
            _ if self.opening.constants != Constants::Short => Range::Any,
            _ => Range::Signed,
        }
    }

    fn constant(&mut self, operand: u8, ty: Type) -> Node {
        let source = From::Operand(operand);
        if ty.bits() == 64 {
            let value = self.open(Open { source, scale: 1, range: self.range(operand) });
            // A float comes through an integer register. As an operand in memory behind the code it is no faster, in loops
            // of nothing but additions and multiplications, and each bytecode with one takes twice as long to compile and
            // ten bytes more.
            return if ty.is_float() { self.bits_as(value, ty) } else { value };
        }
        let held = self.opening.constants == Constants::Held;
        let range = if held { Range::Any } else { Range::Signed };
        let whole = self.open(Open { source, scale: 1, range });
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
        let scalar = self.opening.opcode.operands[operand as usize].scalar?;
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
                    let distance = self.open(Open { source, scale: 1, range });
                    return Some(self.builder.graph.add(
                        Op::ADD,
                        WORD,
                        &[base, distance],
                        0,
                        self.builder.at,
                    ));
                }
                let offset = self.opens.stand_in(Open { source, scale: 1, range });
                Some(self.builder.graph.add(Op::OPEN_ADDR, WORD, &[base], offset as u64, self.builder.at))
            }
            Op::IDX => {
                let (base, index) = (self.builder.value(base?), self.builder.value(inputs[1]));
                let scale = self.open(Open { source, scale: 1, range: self.range(operand) });
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
        let kind = self.opening.opcode.operands[operands[0] as usize].kind;
        let last = match operands {
            [run] if kind == OperandKind::Labels => {
                self.open(Open { source: From::Last(*run), scale: 1, range: Range::Unsigned })
            }
            _ => self.builder.graph.constant(Type::I64, operands.len() as u64 - 1, self.builder.at),
        };
        let table = self.open(Open { source: From::Table, scale: 1, range: Range::Any });
        let (graph, at) = (&mut *self.builder.graph, self.builder.at);
        let is_less = graph.add(Op::ULT, Sig { from: Type::I64, ty: Type::Flag }, &[value, last], 0, at);
        let position = graph.add(Op::SELECT, WORD, &[is_less, value, last], 0, at);
        let entry = graph.add(Op::IDX, WORD, &[table, position], SLOT_BYTES, at);
        let target = graph.push(self.builder.current, Op::LOAD, WORD, &[entry], 0, at);
        let inputs = [self.pointer(TC), self.pointer(LOCAL), target];
        self.builder.leave(Op::ONWARD_TO, Type::Void, &inputs, 0);
        Some(())
    }
}
