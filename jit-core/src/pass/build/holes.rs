//! The operands of an opcode in a stencil: VM registers are slots; slot offsets and constants are holes.
//!
//! In: a template's reads and writes. Out: loads and stores in the order of the template, since two operands may be the
//! same VM register. One VM register may be cached in a machine register: it is read from there until its slot may have
//! been written. A variant that omits its store writes the value only before something else may read the slot.

use super::cases::{CaseField, KnownCase, KnownCases};
use super::cursor::{Cursor, Inputs};
use super::invoke::{InvokeArguments, InvokeTarget};
use super::link::{LocalBlock, Operands, SitePlace};
use super::loops::keepers;
use super::onward::bits;
use super::show::ShowNodes;
use super::stencil::{CachedValue, Constants, StencilRequest, cached_type};
use super::{SLOT_BYTES, WORD};
use crate::ir::bytecode::{MAX_OPERANDS, OperandKind};
use crate::ir::graph::Effect;
use crate::ir::index::{Block, Node};
use crate::ir::sites::{COUNT_OFFSET, FORGOTTEN_OFFSET};
use crate::ir::stencil::{HoleSource, HoleValue, HoleValues, Range};
use crate::ir::template::Resume;
use crate::vocab::{Op, Props, Sig, Type};
use core::convert::Infallible;

/// The operands of an opcode, of unknown bytecode.
pub(super) struct HoleOperands<'a> {
    pub(super) request: &'a StencilRequest<'a>,
    pub(super) holes: &'a mut HoleValues,
    /// The context and the frame, once they are used.
    pointers: [Node; 2],
    /// The cached value, once it is read.
    cached: Node,
    /// Whether the cached value still equals its slot.
    is_cached: bool,
    /// For each block of the template: whether the cached value equals its slot on all edges linked so far.
    is_cached_in: Vec<bool>,
    /// For each block of the template: whether it is the head of a loop that leaves all slots as they are.
    keeps_slots: Vec<bool>,
    /// Whether the cached operand was read from its slot, or may have been.
    pub(super) reads_slot: bool,
    /// Whether the reserved register of `(cu)` was read.
    pub(super) reads_unit: bool,
    /// Whether code outside the template may access any slot.
    pub(super) observed: bool,
    /// Whether the template has the address of slots, through which it may write any.
    aliased: bool,
    /// Whether the template uses an operand in a way that no hole can express.
    pub(super) is_inexpressible: bool,
    /// The values of constant operands, and the operands' indices.
    pub(super) constants: Vec<(Node, u8)>,
    /// Fields of a case that is known, each with the hole that it is the low half of.
    pub(super) fields: Vec<(Node, Node)>,
    /// The operand that was written last, with the value, as long as its slot has that.
    last: Option<(u8, Node)>,
    /// For each block of the template: the same on each edge that was linked so far, in order.
    last_in: Vec<Vec<Option<(u8, Node)>>>,
    /// The operand written last, with the 64 bits for its slot, until something may read that slot. A stencil that omits
    /// the store writes the slot only then.
    pub(super) unstored: Option<(u8, Node)>,
    /// The blocks that end in `continue`, by exit.
    exits: [Block; GENERAL + 1],
    /// The labels of the template's switch.
    table: Option<Box<[u8]>>,
}

const CONTEXT: usize = 0;
const FRAME: usize = 1;
/// The exit to the next bytecode. The other exits are those to labels, and the last one.
pub const NEXT: usize = 0;
/// The exit to the stencil of the same bytecode that knows no case, or out of the function at this bytecode.
pub const GENERAL: usize = 1 + MAX_OPERANDS;

impl Operands for HoleOperands<'_> {
    /// The registers of a run are unknown.
    type Run = Infallible;

    fn read(&mut self, cursor: &mut Cursor<'_>, operand: u8, ty: Type) -> Node {
        self.flush(cursor);
        let may_be_cached = self.request.cached & 1 << operand != 0;
        if self.is_cached && may_be_cached {
            // The cached integer has 64 bits; the high ones may be meaningless.
            let whole = match self.request.is_cached_as_float {
                true => Type::F64,
                false if ty.is_float() => ty,
                false => Type::I64,
            };
            if !self.cached.is_some() {
                self.cached = cursor.add(Op::CACHED, Sig { from: Type::Void, ty: whole }, &[], 0);
            }
            debug_assert_eq!(cursor.ty(self.cached), whole, "it is cached as one type");
            return match (whole, ty) {
                (Type::F64, Type::I64) => cursor.bitcast(self.cached, ty),
                _ if ty == whole => self.cached,
                _ => cursor.narrow(self.cached, ty),
            };
        }
        self.reads_slot |= may_be_cached;
        let address = self.slot(cursor, operand);
        cursor.load(ty, address)
    }

    fn write(&mut self, cursor: &mut Cursor<'_>, operand: u8, value: Node) {
        self.flush(cursor);
        let whole = if cursor.ty(value) == Type::F64 { value } else { cursor.widen(value) };
        if !self.request.omits_store {
            self.store(cursor, operand, whole);
        }
        self.is_cached = false;
        self.last = Some((operand, value));
        self.unstored = Some((operand, whole));
    }

    fn constant(&mut self, cursor: &mut Cursor<'_>, operand: u8, ty: Type) -> Node {
        let value = self.constant_hole(cursor, operand, ty);
        self.constants.push((value, operand));
        value
    }

    fn window(&mut self, cursor: &mut Cursor<'_>, operand: u8) -> Node {
        self.flush(cursor);
        (self.observed, self.aliased) = (true, true);
        self.slot(cursor, operand)
    }

    /// The number of registers in a run.
    fn window_length(&mut self, cursor: &mut Cursor<'_>, operand: u8) -> Node {
        self.hole(cursor, HoleSource::Count(operand), Range::Unsigned)
    }

    fn site_value(&mut self, cursor: &mut Cursor<'_>, place: SitePlace, ty: Type) -> Node {
        if let Some(value) = self.request.cases.site_value(place.operand, place.offset) {
            return cursor.constant(ty, value);
        }
        self.in_memory(cursor, place, ty)
    }

    fn known_case(&mut self, cursor: &mut Cursor<'_>, operand: u8, field: CaseField) -> Node {
        let CaseField { offset, ty } = field;
        cursor.was_here();
        // A part of the sort is a constant.
        if let Some(value) = self.request.cases.mark(field) {
            return cursor.constant(ty, value);
        }
        let source = HoleSource::Case(operand, offset, ty.bytes() as u8);
        let is_long = ty.bits() == 64 || self.request.constants == Constants::Held;
        let hole = self.hole(cursor, source, if is_long { Range::Any } else { Range::Positive });
        let value = Self::part_of(cursor, hole, ty);
        if ty.bits() < 64 {
            self.fields.push((value, hole));
        }
        value
    }

    fn operator(&mut self, cursor: &mut Cursor<'_>, op: Op, sig: Sig, inputs: Inputs<'_>, imm: u64) -> Node {
        match op {
            Op::TC => return self.pointer(cursor, CONTEXT),
            Op::LOCAL => {
                self.flush(cursor);
                (self.observed, self.aliased) = (true, true);
                return self.pointer(cursor, FRAME);
            }
            Op::CU if self.request.keeps_unit => {
                self.reads_unit = true;
                return cursor.add(Op::KEPT_CU, WORD, &[], 0);
            }
            Op::CU => return self.hole(cursor, HoleSource::Unit, Range::Any),
            Op::SCAST | Op::UCAST => {
                if let Some(converted) = self.converted(cursor, op, sig, inputs.get(0)) {
                    return converted;
                }
            }
            // An operand that is a small index, as a distance from an address.
            Op::IDX => {
                let (base, index) = (inputs.get(0), inputs.get(1));
                if let Some(distance) = self.small_index(cursor, index, imm) {
                    return cursor.add(Op::HOLE_ADDR, WORD, &[base], distance);
                }
            }
            // A field of a case as a distance from an address.
            Op::ADD if sig.ty == Type::I64 => {
                let inputs = [inputs.get(0), inputs.get(1)];
                let field = inputs.iter().find_map(|input| Some((*input, self.distance(cursor, *input)?)));
                if let Some((field, distance)) = field {
                    let base = if inputs[0] == field { inputs[1] } else { inputs[0] };
                    return cursor.add(Op::HOLE_ADDR, WORD, &[base], distance);
                }
            }
            _ => {}
        }
        self.is_cached &= !self.request.vocab.info(op).props.contains(Props::WRITES);
        cursor.operator(op, sig, inputs, imm)
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
            Op::CONST => self.constant_hole(cursor, operand, sig.ty),
            Op::ADDR => {
                let (base, range) = (inputs.get(0), self.range(operand));
                if range == Range::Any {
                    let distance = self.hole(cursor, HoleSource::Operand(operand), range);
                    return cursor.add(Op::ADD, WORD, &[base, distance], 0);
                }
                let offset = HoleValue { source: HoleSource::Operand(operand), scale: 1, range };
                cursor.add(Op::HOLE_ADDR, WORD, &[base], self.holes.placeholder(offset) as u64)
            }
            Op::IDX => {
                let (base, index) = (inputs.get(0), inputs.get(1));
                let scale = self.hole(cursor, HoleSource::Operand(operand), self.range(operand));
                let distance = cursor.add(Op::MUL, WORD, &[index, scale], 0);
                cursor.add(Op::ADD, WORD, &[base, distance], 0)
            }
            _ => {
                self.is_inexpressible = true;
                cursor.operator(op, sig, inputs, 0)
            }
        }
    }

    fn show(&mut self, cursor: &mut Cursor<'_>) -> Option<ShowNodes> {
        self.request.functions.show?;
        let frame = self.pointer(cursor, FRAME);
        let shown = HoleValue { source: HoleSource::Shown, scale: 1, range: Range::Signed };
        let shown = cursor.add(Op::HOLE_ADDR, WORD, &[frame], self.holes.placeholder(shown) as u64);
        let newest = self.newest(cursor);
        let layout = self.hole(cursor, HoleSource::Layout, Range::Any);
        let bytecode = self.hole(cursor, HoleSource::Here, Range::Positive);
        Some(ShowNodes { newest, shown, layout, bytecode, around: None })
    }

    fn newest(&mut self, cursor: &mut Cursor<'_>) -> Node {
        self.hole(cursor, HoleSource::Newest, Range::Any)
    }

    fn before_call(&mut self, cursor: &mut Cursor<'_>, effect: Effect) {
        self.flush(cursor);
        self.is_cached = false;
        if effect == Effect::Observes {
            self.last = None;
            self.observed = true;
        }
    }

    fn after_call(&mut self, _: &mut Cursor<'_>, _: Effect) {}

    fn context(&mut self, cursor: &mut Cursor<'_>) -> Node {
        self.pointer(cursor, CONTEXT)
    }

    /// If the function's number is a constant operand, the address of its call cell is a hole. Otherwise the address of the
    /// table of call cells is a hole, and the code looks the cell up there.
    fn callee(&mut self, cursor: &mut Cursor<'_>, number: Node) -> InvokeTarget {
        match self.cell(cursor, number) {
            Some(cell) => InvokeTarget::Cell(cell),
            None => {
                let table = self.hole(cursor, HoleSource::Functions, Range::Any);
                InvokeTarget::InTable(table, number)
            }
        }
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

    fn general(&mut self, cursor: &mut Cursor<'_>) -> bool {
        let is_only = matches!(self.request.cases, KnownCases::Only(_));
        let leads_on = self.request.is_lean || self.request.cases.is_something();
        // What was written is not to be written again.
        if leads_on && !is_only && self.is_cached {
            self.start_over(cursor);
        }
        is_only
    }

    fn here(&mut self, cursor: &mut Cursor<'_>) -> Node {
        self.hole(cursor, HoleSource::Bytecode, Range::Any)
    }

    fn slow_entry(&mut self, cursor: &mut Cursor<'_>) -> Option<Node> {
        Some(self.hole(cursor, HoleSource::SlowPath, Range::Any))
    }

    /// What is left stands before all effects but calls that have done nothing if it runs again from its start, so every slot has what it had.
    fn slow(&mut self, cursor: &mut Cursor<'_>) {
        match self.request.cases {
            _ if self.request.is_lean => self.start_over(cursor),
            KnownCases::None(sites) => bits(sites).for_each(|site| {
                self.leave_if_more(cursor, site as u8, (COUNT_OFFSET, Type::I32), 0);
            }),
            KnownCases::Only(KnownCase { first, .. }) => {
                self.leave_if_more(cursor, first.operand, (COUNT_OFFSET, Type::I32), 1);
                // Another may have taken its place.
                self.leave_if_more(cursor, first.operand, (FORGOTTEN_OFFSET, Type::I8), 0);
            }
            KnownCases::Nothing | KnownCases::First(_) => _ = self.general(cursor),
        }
        if cursor.is_reached() {
            let (entry, one) = (self.slow_entry(cursor), cursor.constant(Type::I8, 1));
            entry.into_iter().for_each(|entry| cursor.store(entry, one));
        }
    }

    /// What is known of the cases decides.
    fn decides(&mut self, cursor: &Cursor<'_>, flag: Node) -> Option<bool> {
        cursor.known_flag(flag).filter(|_| self.request.cases.is_something())
    }

    fn before_end(&mut self, cursor: &mut Cursor<'_>) {
        self.flush(cursor);
    }

    fn edge(&mut self, _: &mut Cursor<'_>, to: &LocalBlock) {
        self.is_cached_in[to.number as usize] &= self.is_cached;
        self.last_in[to.number as usize].push(self.last);
    }

    fn start(&mut self, cursor: &mut Cursor<'_>, block: &LocalBlock) {
        // An edge that is not linked yet is a back edge of a loop.
        let number = block.number as usize;
        let is_as_before = block.awaited == 0 || self.keeps_slots[number];
        self.is_cached = self.is_cached_in[number] && is_as_before;
        self.last = match block.awaited == 0 {
            true => self.last_at(cursor, block),
            // The value would be a parameter if it were not the same on each edge.
            false if is_as_before && let [only] = self.last_in[number][..] => only,
            false => None,
        };
    }

    fn seal(&mut self, _: &mut Cursor<'_>, _: &LocalBlock) {}

    fn next(&mut self, cursor: &mut Cursor<'_>) {
        let to = self.exit_block(cursor, NEXT);
        cursor.jump(to);
    }

    fn goto(&mut self, cursor: &mut Cursor<'_>, operand: u8) {
        let to = self.exit_block(cursor, 1 + operand as usize);
        cursor.jump(to);
    }

    /// Jumps through a table of addresses, one for each label; values beyond the table take the last.
    fn switch(&mut self, cursor: &mut Cursor<'_>, position: Node, operands: &[u8]) {
        // A bytecode has only one table.
        self.is_inexpressible |= **self.table.get_or_insert_with(|| operands.into()) != *operands;
        let last = match operands {
            [run] if self.request.opcode.operands[*run as usize].kind == OperandKind::Labels => {
                self.hole(cursor, HoleSource::Last(*run), Range::Unsigned)
            }
            _ => cursor.constant(Type::I64, operands.len() as u64 - 1),
        };
        let table = self.hole(cursor, HoleSource::Table, Range::Any);
        let is_less = cursor.add(Op::ULT, Sig { from: Type::I64, ty: Type::Flag }, &[position, last], 0);
        let position = cursor.add(Op::SELECT, WORD, &[is_less, position, last], 0);
        let entry = cursor.add(Op::IDX, WORD, &[table, position], SLOT_BYTES);
        let target = cursor.load(Type::I64, entry);
        let [context, frame] = self.pointers(cursor);
        cursor.leave(Op::CONTINUE_TO, Type::Void, &[context, frame, target], 0);
    }

    fn give_back(&mut self, cursor: &mut Cursor<'_>, value: Option<Node>) {
        cursor.give_back(value);
    }

    fn exit(&mut self, cursor: &mut Cursor<'_>, to: Resume) {
        self.reads_slot |= to == Resume::Here;
        let to = match to {
            Resume::Here => cursor.at as u64,
            Resume::Next => cursor.at as u64 + 1,
            Resume::Label(operand) => {
                let source = HoleSource::Operand(operand);
                self.holes.placeholder(HoleValue { source, scale: 1, range: Range::Unsigned }) as u64
            }
        };
        cursor.leave(Op::EXIT_AT, Type::Void, &[], to);
    }

    fn trap(&mut self, cursor: &mut Cursor<'_>, code: u32) {
        cursor.leave(Op::TRAP, Type::Void, &[], code as u64);
    }
}

impl<'a> HoleOperands<'a> {
    pub(super) fn new(request: &'a StencilRequest<'a>, holes: &'a mut HoleValues) -> HoleOperands<'a> {
        HoleOperands {
            request,
            holes,
            pointers: [Node::NONE; 2],
            cached: Node::NONE,
            is_cached: true,
            is_cached_in: vec![true; request.template.blocks as usize],
            keeps_slots: keepers(request.template, request.vocab),
            reads_slot: false,
            reads_unit: false,
            observed: false,
            aliased: false,
            is_inexpressible: false,
            constants: Vec::new(),
            fields: Vec::new(),
            last: None,
            last_in: vec![Vec::new(); request.template.blocks as usize],
            unstored: None,
            exits: [Block::NONE; GENERAL + 1],
            table: None,
        }
    }

    /// Continues at the next bytecode, if control reaches the template's end. Returns the value that is cached there.
    pub(super) fn finish(&mut self, cursor: &mut Cursor<'_>) -> Option<CachedValue> {
        if !cursor.is_reached() {
            return None;
        }
        if self.exits[NEXT].is_some() {
            self.flush(cursor);
            cursor.jump(self.exits[NEXT]);
            return None;
        }
        let Some((operand, value)) = self.last.filter(|_| !self.aliased) else {
            self.flush(cursor);
            self.continue_at(cursor, NEXT, None);
            return None;
        };
        let ty = cached_type(cursor.ty(value));
        let whole = match ty {
            Type::I32 if self.request.omits_store => cursor.as_i32(value),
            Type::I32 => cursor.widen(value),
            _ => value,
        };
        self.continue_at(cursor, NEXT, Some(whole));
        Some(CachedValue { operand, ty })
    }

    /// Ends the blocks of all exits that are used.
    pub(super) fn end_exits(&mut self, cursor: &mut Cursor<'_>) {
        for exit in 0..self.exits.len() {
            if self.exits[exit].is_some() {
                cursor.block = self.exits[exit];
                // It finds cached what this one has found cached. Where the function is left, that is in its slot.
                let is_handed_on = exit == GENERAL && self.request.cached != 0 && !self.request.leaves();
                self.is_inexpressible |= is_handed_on && !self.cached.is_some();
                self.continue_at(cursor, exit, is_handed_on.then_some(self.cached).filter(|it| it.is_some()));
            }
        }
    }

    /// Ends the block with an exit to another bytecode.
    fn continue_at(&mut self, cursor: &mut Cursor<'_>, exit: usize, value: Option<Node>) {
        let [context, frame] = self.pointers(cursor);
        match value {
            None => cursor.leave(Op::CONTINUE, Type::Void, &[context, frame], exit as u64),
            Some(value) => {
                let ty = cursor.ty(value);
                cursor.leave(Op::CONTINUE_WITH, ty, &[context, frame, value], exit as u64);
            }
        }
    }

    /// What was written last where a block starts, if it is the same operand on all edges.
    fn last_at(&self, cursor: &mut Cursor<'_>, block: &LocalBlock) -> Option<(u8, Node)> {
        let edges = &self.last_in[block.number as usize];
        let (operand, first) = edges.first().copied().flatten()?;
        let ty = cursor.ty(first);
        let mut values = Vec::with_capacity(edges.len());
        for edge in edges {
            let (_, value) = edge.filter(|(other, value)| *other == operand && cursor.ty(*value) == ty)?;
            values.push(value);
        }
        if values.iter().all(|value| *value == first) {
            return Some((operand, first));
        }
        let param = cursor.graph.add_param(block.block, ty, cursor.at);
        cursor.graph.set_inputs(param, &values);
        Some((operand, param))
    }

    fn exit_block(&mut self, cursor: &mut Cursor<'_>, exit: usize) -> Block {
        if !self.exits[exit].is_some() {
            self.exits[exit] = cursor.graph.add_block();
        }
        self.exits[exit]
    }

    /// Goes to where the bytecode starts over.
    fn start_over(&mut self, cursor: &mut Cursor<'_>) {
        let to = self.exit_block(cursor, GENERAL);
        cursor.jump(to);
    }

    /// Leaves the function if a number in a site's memory is greater than is known.
    fn leave_if_more(&mut self, cursor: &mut Cursor<'_>, site: u8, (offset, ty): (usize, Type), known: u64) {
        let place = SitePlace { operand: site, offset: offset as u32, learns_slowly: true };
        let (found, known) = (self.in_memory(cursor, place, ty), cursor.constant(ty, known));
        let are_more = cursor.add(Op::UGT, Sig { from: ty, ty: Type::Flag }, &[found, known], 0);
        let (general, rest) = (self.exit_block(cursor, GENERAL), cursor.graph.add_block());
        cursor.branch(are_more, general, rest);
        cursor.block = rest;
    }

    /// A value in the memory of a site.
    fn in_memory(&mut self, cursor: &mut Cursor<'_>, place: SitePlace, ty: Type) -> Node {
        let site = self.hole(cursor, HoleSource::Operand(place.operand), Range::Any);
        let address = cursor.address(site, place.offset as u64);
        cursor.load(ty, address)
    }

    /// Stores a value whose store has been omitted so far, because its slot may be read next.
    fn flush(&mut self, cursor: &mut Cursor<'_>) {
        if let Some((operand, whole)) = self.unstored.take()
            && self.request.omits_store
        {
            self.store(cursor, operand, whole);
        }
    }

    fn pointer(&mut self, cursor: &mut Cursor<'_>, which: usize) -> Node {
        if !self.pointers[which].is_some() {
            let op = [Op::KEPT_TC, Op::KEPT_LOCAL][which];
            self.pointers[which] = cursor.add(op, WORD, &[], 0);
        }
        self.pointers[which]
    }

    fn pointers(&mut self, cursor: &mut Cursor<'_>) -> [Node; 2] {
        [self.pointer(cursor, CONTEXT), self.pointer(cursor, FRAME)]
    }

    /// A value that is a hole.
    pub(super) fn hole(&mut self, cursor: &mut Cursor<'_>, source: HoleSource, range: Range) -> Node {
        let bits = self.holes.placeholder(HoleValue { source, scale: 1, range }) as u64;
        cursor.add(Op::HOLE, WORD, &[], bits)
    }

    /// The address of an operand's slot.
    fn slot(&mut self, cursor: &mut Cursor<'_>, operand: u8) -> Node {
        let (source, scale) = (HoleSource::Operand(operand), SLOT_BYTES as u8);
        let frame = self.pointer(cursor, FRAME);
        let offset = self.holes.placeholder(HoleValue { source, scale, range: Range::Signed });
        cursor.add(Op::HOLE_ADDR, WORD, &[frame], offset as u64)
    }

    fn store(&mut self, cursor: &mut Cursor<'_>, operand: u8, whole: Node) {
        let address = self.slot(cursor, operand);
        cursor.store(address, whole);
    }
}
