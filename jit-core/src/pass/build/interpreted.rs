//! Build the graph of one opcode for an interpreter in machine code: its operands are read from the bytecode when it runs.
//!
//! In: a template, and where the opcode's operands are in a bytecode. Out: a [`Graph`] that reads and writes VM registers in
//! their slots, and ends by going on to another bytecode's code (`dispatch`, `dispatch_to`), or by leaving. Two operands may be
//! the same VM register, so the graph writes and reads a slot exactly where the template does. A jump back counts the budget down
//! and looks whether the program is to stop, and leaves at its target if so, as the interpreter in Rust does.

use super::cursor::{Cursor, Inputs};
use super::invoke::{InvokeArguments, InvokeTarget};
use super::link::{Linker, LocalBlock, Operands, SitePlace};
use super::show::ShowNodes;
use super::{BuildScratch, Linkage, SLOT_BYTES, WORD};
use crate::ir::bytecode::{OpcodeInfo, OperandKind};
use crate::ir::graph::{Effect, Graph, Heat};
use crate::ir::index::{Block, Node};
use crate::ir::interpreted::{Dispatch, Field, Record, inverse};
use crate::ir::template::{Resume, Template};
use crate::vocab::{Op, Scalar, Sig, Type, Vocabulary};
use core::convert::Infallible;

/// The opcode to interpret.
#[derive(Clone, Copy, Debug)]
pub struct InterpretRequest<'a> {
    /// The operators that the template may use.
    pub vocab: Vocabulary,
    /// The opcode.
    pub opcode: &'a OpcodeInfo,
    /// The offset of each operand from the bytecode's start.
    pub offsets: &'a [u16],
    /// The opcode's template.
    pub template: &'a Template,
    /// How bytecodes of this type follow each other. The growth of the stack is this opcode's.
    pub dispatch: Dispatch,
    /// Whether jumps back look whether the program is to stop.
    pub may_stop: bool,
    /// Whether they take one from the fuel.
    pub has_fuel: bool,
    /// The part of the data for calls that is the same for all engines: see [`Linkage::of_process`].
    pub functions: Linkage<'static>,
}

/// Builds the graph of an opcode; `None` if the template uses an operand in a way that no code can express.
pub fn interpreted(
    scratch: &mut BuildScratch,
    request: &InterpretRequest<'_>,
    graph: &mut Graph,
) -> Option<()> {
    graph.clear(request.vocab);
    graph.kinds = request.template.kinds;
    let block = graph.add_block();
    let mut linker = Linker {
        cursor: Cursor { graph, block, at: 0 },
        operands: FieldOperands { request, is_inexpressible: false, n_anew: 0 },
        functions: &request.functions,
        scratch: &mut scratch.link,
    };
    linker.link(request.template);
    let Linker { mut cursor, mut operands, .. } = linker;
    if cursor.is_reached() {
        operands.next(&mut cursor);
    }
    if operands.is_inexpressible {
        return None;
    }
    super::reached::drop_unreached(&mut scratch.reached, graph);
    Some(())
}

/// The operands of an opcode, in the bytecode that runs.
struct FieldOperands<'a> {
    request: &'a InterpretRequest<'a>,
    is_inexpressible: bool,
    /// How many fields have been read that are read anew.
    n_anew: u8,
}

const FLAG: Sig = Sig { from: Type::I64, ty: Type::Flag };

impl FieldOperands<'_> {
    /// A value in the bytecode, some bytes behind an operand's start, extended to 64 bits.
    fn field(&self, cursor: &mut Cursor<'_>, operand: u8, behind: u16, ty: Type, is_signed: bool) -> Node {
        let offset = self.request.offsets[operand as usize] + behind;
        cursor.add(Op::FIELD, WORD, &[], Field { offset, ty, is_signed, reading: 0 }.bits())
    }

    /// A number of 32 bits in the bytecode.
    fn number(&self, cursor: &mut Cursor<'_>, operand: u8, behind: u16) -> Node {
        self.field(cursor, operand, behind, Type::I32, false)
    }

    /// A word of the function's record.
    fn word(cursor: &mut Cursor<'_>, offset: u64) -> Node {
        cursor.add(Op::RECORD, WORD, &[], Record::word(offset, 0))
    }

    /// The address of the word that leads to the newest frame that is shown, and that of what shows this one. Behind a call they are read
    /// anew, so that no register has to be saved for them.
    fn list_and_shown(cursor: &mut Cursor<'_>, is_behind_call: bool) -> [Node; 2] {
        let [newest, distance] = [Record::NEWEST, Record::SHOWN]
            .map(|offset| cursor.add(Op::RECORD, WORD, &[], Record::word(offset, is_behind_call as u8)));
        let [_, frame] = Self::context_and_frame(cursor);
        [newest, cursor.add(Op::ADD, WORD, &[frame, distance], 0)]
    }

    fn context_and_frame(cursor: &mut Cursor<'_>) -> [Node; 2] {
        [Op::KEPT_TC, Op::KEPT_LOCAL].map(|op| cursor.add(op, WORD, &[], 0))
    }

    fn pc(cursor: &mut Cursor<'_>) -> Node {
        cursor.add(Op::KEPT_PC, WORD, &[], 0)
    }

    /// The address of an operand's slot.
    fn slot(&self, cursor: &mut Cursor<'_>, operand: u8) -> Node {
        let operands = self.request.opcode.operands;
        let kind = operands[operand as usize].kind;
        if matches!(kind, OperandKind::Pop | OperandKind::Push) {
            let count =
                |of: OperandKind, to: usize| operands[..to].iter().filter(|one| one.kind == of).count();
            let slot = count(kind, operand as usize) as i64 - count(OperandKind::Pop, operands.len()) as i64;
            let top = cursor.add(Op::KEPT_TOP, WORD, &[], 0);
            return cursor.address(top, (slot * SLOT_BYTES as i64) as u64);
        }
        let number = self.number(cursor, operand, 0);
        Self::slot_of(cursor, number)
    }

    /// The address of the slot that an output is written to. Its number is read where it is written: ways that join have it in no register,
    /// nor has a call to save one.
    fn written_slot(&mut self, cursor: &mut Cursor<'_>, operand: u8) -> Node {
        if self.request.opcode.operands[operand as usize].kind != OperandKind::Out {
            return self.slot(cursor, operand);
        }
        self.n_anew = self.n_anew.wrapping_add(1);
        let offset = self.request.offsets[operand as usize];
        let field = Field { offset, ty: Type::I32, is_signed: false, reading: self.n_anew };
        let number = cursor.add(Op::FIELD, WORD, &[], field.bits());
        Self::slot_of(cursor, number)
    }

    /// The address of the slot of a VM register.
    fn slot_of(cursor: &mut Cursor<'_>, register: Node) -> Node {
        let [_, frame] = Self::context_and_frame(cursor);
        cursor.add(Op::IDX, WORD, &[frame, register], SLOT_BYTES)
    }

    /// The address of the bytecode with this number.
    fn bytecode(&self, cursor: &mut Cursor<'_>, number: Node) -> Node {
        let size = cursor.constant(Type::I64, self.request.dispatch.size as u64);
        let distance = cursor.add(Op::MUL, WORD, &[number, size], 0);
        let code = Self::word(cursor, Record::CODE);
        cursor.add(Op::ADD, WORD, &[code, distance], 0)
    }

    /// The distance of the bytecode that runs from the first, in bytes.
    fn distance(&self, cursor: &mut Cursor<'_>) -> Node {
        let (pc, code) = (Self::pc(cursor), Self::word(cursor, Record::CODE));
        cursor.add(Op::SUB, WORD, &[pc, code], 0)
    }

    /// The number of the bytecode that runs. Its distance from the first is a multiple of the size, so that a multiplication
    /// by the inverse divides it.
    fn at(&self, cursor: &mut Cursor<'_>) -> Node {
        let size = self.request.dispatch.size as u64;
        let distance = self.distance(cursor);
        let zeros = cursor.constant(Type::I64, size.trailing_zeros() as u64);
        let distance = cursor.add(Op::SHR, WORD, &[distance, zeros], 0);
        let inverse = cursor.constant(Type::I64, inverse(size >> size.trailing_zeros()));
        cursor.add(Op::MUL, WORD, &[distance, inverse], 0)
    }

    /// Ends the block: control goes to the bytecode with this number.
    fn go_to(&mut self, cursor: &mut Cursor<'_>, number: Node) {
        let to = self.bytecode(cursor, number);
        let pc = Self::pc(cursor);
        let is_back = cursor.add(Op::ULE, FLAG, &[to, pc], 0);
        let [back, on, left] = [(); 3].map(|()| cursor.graph.add_block());
        cursor.branch(is_back, back, on);
        cursor.block = back;
        // The jump has been made, whatever it stops for: where the function is interpreted on, nobody counts it again.
        if self.request.has_fuel {
            self.count(cursor, Record::FUEL, Type::I64, left);
        }
        self.count(cursor, Record::BUDGET, Type::I32, left);
        if self.request.may_stop {
            let word = Self::word(cursor, Record::STOP);
            let stop = cursor.load(Type::I64, word);
            let is_to_stop = cursor.add(Op::NZ, FLAG, &[stop], 0);
            Self::unless(cursor, is_to_stop, left);
        }
        cursor.jump(on);
        cursor.graph.blocks[left.at()].heat = Heat::Cold;
        cursor.block = left;
        cursor.leave(Op::LEAVE_AT, Type::Void, &[to], 0);
        cursor.block = on;
        self.dispatch_to(cursor, to);
    }

    /// Takes one from a number whose address is in the record. Goes to another block if the result is below zero.
    fn count(&self, cursor: &mut Cursor<'_>, offset: u64, ty: Type, left: Block) {
        let word = Self::word(cursor, offset);
        let after = cursor.push(Op::SPEND_AT, Sig { from: Type::Void, ty }, &[word], 0);
        let zero = cursor.constant(ty, 0);
        let is_used_up = cursor.add(Op::LT, Sig { from: ty, ty: Type::Flag }, &[after, zero], 0);
        Self::unless(cursor, is_used_up, left);
    }

    /// Goes to another block if a flag holds.
    fn unless(cursor: &mut Cursor<'_>, flag: Node, left: Block) {
        let stays = cursor.graph.add_block();
        cursor.branch(flag, left, stays);
        cursor.block = stays;
    }

    fn dispatch_to(&self, cursor: &mut Cursor<'_>, to: Node) {
        let [context, frame] = Self::context_and_frame(cursor);
        let dispatch = self.request.dispatch.bits();
        cursor.leave(Op::DISPATCH_TO, Type::Void, &[context, frame, to], dispatch);
    }
}

impl Operands for FieldOperands<'_> {
    /// The registers of a run are unknown.
    type Run = Infallible;

    fn read(&mut self, cursor: &mut Cursor<'_>, operand: u8, ty: Type) -> Node {
        let address = self.slot(cursor, operand);
        cursor.load(ty, address)
    }

    fn write(&mut self, cursor: &mut Cursor<'_>, operand: u8, value: Node) {
        let whole = if cursor.ty(value) == Type::F64 { value } else { cursor.widen(value) };
        let address = self.written_slot(cursor, operand);
        cursor.store(address, whole);
    }

    fn constant(&mut self, cursor: &mut Cursor<'_>, operand: u8, ty: Type) -> Node {
        let scalar = self.request.opcode.operands[operand as usize].scalar.unwrap_or(Scalar::I64);
        let own = match scalar.ty() {
            Type::F64 => Type::I64,
            Type::F32 => Type::I32,
            ty => ty,
        };
        let whole = self.field(cursor, operand, 0, own, scalar.is_signed());
        cursor.bits_as(whole, ty)
    }

    fn window(&mut self, cursor: &mut Cursor<'_>, operand: u8) -> Node {
        self.slot(cursor, operand)
    }

    fn window_length(&mut self, cursor: &mut Cursor<'_>, operand: u8) -> Node {
        self.number(cursor, operand, 4)
    }

    fn site_value(&mut self, cursor: &mut Cursor<'_>, place: SitePlace, ty: Type) -> Node {
        let site = self.field(cursor, place.operand, 0, Type::I64, false);
        let address = cursor.address(site, place.offset as u64);
        cursor.load(ty, address)
    }

    fn operator(&mut self, cursor: &mut Cursor<'_>, op: Op, sig: Sig, inputs: Inputs<'_>, imm: u64) -> Node {
        match op {
            Op::TC => Self::context_and_frame(cursor)[0],
            Op::LOCAL => Self::context_and_frame(cursor)[1],
            Op::CU => Self::word(cursor, Record::UNIT),
            _ => cursor.operator(op, sig, inputs, imm),
        }
    }

    fn operator_with(
        &mut self,
        cursor: &mut Cursor<'_>,
        op: Op,
        sig: Sig,
        inputs: Inputs<'_>,
        operand: u8,
    ) -> Node {
        match op {
            Op::CONST => self.constant(cursor, operand, sig.ty),
            Op::ADDR => {
                let distance = self.constant(cursor, operand, Type::I64);
                cursor.add(Op::ADD, WORD, &[inputs.get(0), distance], 0)
            }
            Op::IDX => {
                let scale = self.constant(cursor, operand, Type::I64);
                let distance = cursor.add(Op::MUL, WORD, &[inputs.get(1), scale], 0);
                cursor.add(Op::ADD, WORD, &[inputs.get(0), distance], 0)
            }
            _ => {
                self.is_inexpressible = true;
                cursor.operator(op, sig, inputs, 0)
            }
        }
    }

    fn show(&mut self, cursor: &mut Cursor<'_>) -> Option<ShowNodes> {
        self.request.functions.show?;
        let [newest, shown] = Self::list_and_shown(cursor, false);
        let layout = Self::word(cursor, Record::LAYOUT);
        let bytecode = self.distance(cursor);
        Some(ShowNodes { newest, shown, layout, bytecode, around: None })
    }

    fn newest(&mut self, cursor: &mut Cursor<'_>) -> Node {
        Self::word(cursor, Record::NEWEST)
    }

    fn shown_behind_call(&mut self, cursor: &mut Cursor<'_>, _: [Node; 2]) -> [Node; 2] {
        Self::list_and_shown(cursor, true)
    }

    fn before_call(&mut self, _: &mut Cursor<'_>, _: Effect) {}

    fn after_call(&mut self, _: &mut Cursor<'_>, _: Effect) {}

    fn context(&mut self, cursor: &mut Cursor<'_>) -> Node {
        Self::context_and_frame(cursor)[0]
    }

    fn callee(&mut self, cursor: &mut Cursor<'_>, number: Node) -> InvokeTarget {
        InvokeTarget::InTable(Self::word(cursor, Record::FUNCTIONS), number)
    }

    /// Runs stay in their slots, since neither their first register nor their length is known.
    fn run(&mut self, cursor: &mut Cursor<'_>, operand: u8) -> InvokeArguments<Infallible> {
        let first = self.slot(cursor, operand);
        InvokeArguments::InMemory([first, self.window_length(cursor, operand)])
    }

    fn run_length(run: &Infallible) -> usize {
        match *run {}
    }

    fn run_element(&mut self, _: &mut Cursor<'_>, run: &Infallible, _: usize) -> Node {
        match *run {}
    }

    fn here(&mut self, cursor: &mut Cursor<'_>) -> Node {
        Self::pc(cursor)
    }

    fn slow_entry(&mut self, cursor: &mut Cursor<'_>) -> Option<Node> {
        let (entries, at) = (Self::word(cursor, Record::SLOW_PATHS), self.at(cursor));
        Some(cursor.add(Op::ADD, WORD, &[entries, at], 0))
    }

    fn slow(&mut self, cursor: &mut Cursor<'_>) {
        let Some(entry) = self.slow_entry(cursor) else { return };
        let one = cursor.constant(Type::I8, 1);
        cursor.store(entry, one);
    }

    fn decides(&mut self, _: &Cursor<'_>, _: Node) -> Option<bool> {
        None
    }

    fn before_end(&mut self, _: &mut Cursor<'_>) {}

    fn edge(&mut self, _: &mut Cursor<'_>, _: &LocalBlock) {}

    fn start(&mut self, _: &mut Cursor<'_>, _: &LocalBlock) {}

    fn seal(&mut self, _: &mut Cursor<'_>, _: &LocalBlock) {}

    fn next(&mut self, cursor: &mut Cursor<'_>) {
        let [context, frame] = Self::context_and_frame(cursor);
        let dispatch = self.request.dispatch.bits();
        cursor.leave(Op::DISPATCH, Type::Void, &[context, frame], dispatch);
    }

    fn goto(&mut self, cursor: &mut Cursor<'_>, operand: u8) {
        let number = self.number(cursor, operand, 0);
        self.go_to(cursor, number);
    }

    /// Values beyond the labels take the last.
    fn switch(&mut self, cursor: &mut Cursor<'_>, position: Node, operands: &[u8]) {
        let is_run = |operand: u8| self.request.opcode.operands[operand as usize].kind == OperandKind::Labels;
        let choose = |cursor: &mut Cursor<'_>, is_so: Node, so: Node, not: Node| {
            cursor.add(Op::SELECT, WORD, &[is_so, so, not], 0)
        };
        let number = match *operands {
            [run] if is_run(run) => {
                let (first, count) = (self.number(cursor, run, 0), self.number(cursor, run, 4));
                let one = cursor.constant(Type::I64, 1);
                let last = cursor.add(Op::SUB, WORD, &[count, one], 0);
                let is_less = cursor.add(Op::ULT, FLAG, &[position, last], 0);
                let position = choose(cursor, is_less, position, last);
                let label = cursor.add(Op::ADD, WORD, &[first, position], 0);
                let labels = Self::word(cursor, Record::LABELS);
                let address = cursor.add(Op::IDX, WORD, &[labels, label], 4);
                let number = cursor.load(Type::I32, address);
                cursor.widen(number)
            }
            _ => {
                let (last, cases) = operands.split_last().expect("a switch has labels");
                let last = self.number(cursor, *last, 0);
                cases.iter().enumerate().fold(last, |chosen, (case, operand)| {
                    let label = self.number(cursor, *operand, 0);
                    let case = cursor.constant(Type::I64, case as u64);
                    let is_it = cursor.add(Op::EQ, FLAG, &[position, case], 0);
                    choose(cursor, is_it, label, chosen)
                })
            }
        };
        self.go_to(cursor, number);
    }

    fn give_back(&mut self, cursor: &mut Cursor<'_>, value: Option<Node>) {
        cursor.give_back(value);
    }

    fn exit(&mut self, cursor: &mut Cursor<'_>, to: Resume) {
        let to = match to {
            Resume::Here => Self::pc(cursor),
            Resume::Next => {
                let pc = Self::pc(cursor);
                cursor.address(pc, self.request.dispatch.size as u64)
            }
            Resume::Label(operand) => {
                let number = self.number(cursor, operand, 0);
                self.bytecode(cursor, number)
            }
        };
        cursor.leave(Op::LEAVE_AT, Type::Void, &[to], 0);
    }

    fn trap(&mut self, cursor: &mut Cursor<'_>, code: u32) {
        cursor.leave(Op::TRAP, Type::Void, &[], code as u64);
    }
}
