//! The operands of a bytecode in a function: VM registers are values.
//!
//! In: a template's reads and writes, and the edges by which control leaves it. Out: the values in [`super::registers`],
//! carried along each edge, and stores of registers whose slots may be read. Holds afterwards: wherever a slot may be read,
//! it has the register's value.

use super::call_entry::{CallEntry, MISSED};
use super::cursor::{Cursor, Inputs};
use super::inline::lacks_slow_path;
use super::invoke::{InvokeArguments, InvokeTarget, MAX_ARGUMENTS};
use super::link::{LocalBlock, Operands, SitePlace};
use super::show::ShowNodes;
use super::{FunctionScratch, FunctionSource, MadeMemory, WORD};
use crate::ir::bytecode::{OperandKind, Raw, run_of};
use crate::ir::graph::{Access, Effect, Graph};
use crate::ir::index::{Block, List, Node};
use crate::ir::regions::MemoryRegion;
use crate::ir::sites::COUNT_OFFSET;
use crate::ir::state::{FrameState, StateRegister};
use crate::ir::template::Resume;
use crate::pass::chaos::Chaos;
use crate::vocab::{Op, Sig, Type};
use core::ops::Range;

/// In so many steps an address is looked at.
const MAX_STEPS: u32 = 8;

/// The operands of the bytecode at the cursor, in a function.
pub(super) struct ValueOperands<'a> {
    pub(super) source: &'a FunctionSource<'a>,
    pub(super) scratch: &'a mut FunctionScratch,
    /// Adds exits at random.
    pub(super) chaos: &'a mut Chaos,
    /// Whether code with the frame's address may access all slots. If so, all registers are in their slots, and are reloaded after
    /// the template.
    pub(super) is_exposed: bool,
    /// Whether the current template has exposed, for writing, the slots of the runs that are its operands.
    pub(super) has_window: bool,
    /// Whether the slow path of the current template is left out, once that was asked: it may run meanwhile, for the first time.
    lacks_slow_path: Option<bool>,
    /// Whether some blocks may be unreachable.
    pub(super) may_be_unreached: bool,
    /// The block of the next bytecode, once the current template has jumped there.
    pub(super) next: Block,
}

/// Whether an address can be read from wherever control is: it depends on nothing that only a function's own registers have. What is computed
/// in more steps than these is looked at no further.
fn is_readable_anywhere(graph: &Graph, address: Node, steps: u32) -> bool {
    let is_computed = match graph.node(address).op {
        Op::TC | Op::CU | Op::CONST => return true,
        Op::ADDR | Op::IDX | Op::ADD | Op::UCAST | Op::SCAST => true,
        Op::LOAD => graph.access(address) == Access::Pure,
        _ => false,
    };
    let inputs = graph.inputs(address);
    is_computed && steps > 0 && inputs.iter().all(|input| is_readable_anywhere(graph, *input, steps - 1))
}

/// The registers that an edge carries.
#[derive(Clone, Copy)]
pub(super) enum Needs {
    /// Those that are live at this bytecode.
    At(usize),
    /// Those that the template being linked may need.
    Within,
    /// All registers that are used.
    All,
}

impl Operands for ValueOperands<'_> {
    type Run = Range<usize>;
    const IS_FUNCTION: bool = true;

    fn read(&mut self, cursor: &mut Cursor<'_>, operand: u8, ty: Type) -> Node {
        let register = self.operand(cursor.at, operand) as u32;
        if self.is_exposed || self.is_in_window(cursor.at, register) {
            // Code that has the slot's address may have written there.
            self.reload(cursor, register);
        }
        self.read_register(cursor, register, ty)
    }

    fn write(&mut self, cursor: &mut Cursor<'_>, operand: u8, value: Node) {
        let register = self.operand(cursor.at, operand) as u32;
        let home = self.scratch.registers.home(register);
        let value = if home == cursor.ty(value) { value } else { cursor.widen(value) };
        self.set_register(cursor, register, value);
        if self.is_exposed || self.is_in_window(cursor.at, register) {
            // Code that has the slot's address may read it from now on.
            self.store(cursor, register);
        }
    }

    fn constant(&mut self, cursor: &mut Cursor<'_>, operand: u8, ty: Type) -> Node {
        cursor.constant(ty, self.operand(cursor.at, operand))
    }

    fn window(&mut self, cursor: &mut Cursor<'_>, operand: u8) -> Node {
        let run = run_of(self.operand(cursor.at, operand));
        match self.operand_kind(cursor.at, operand) {
            OperandKind::RegsMut => self.hand_out(cursor),
            _ => self.store_run(cursor, run.clone()),
        }
        self.slot_address(cursor, run.start as u32)
    }

    fn window_length(&mut self, cursor: &mut Cursor<'_>, operand: u8) -> Node {
        cursor.constant(Type::I64, run_of(self.operand(cursor.at, operand)).len() as u64)
    }

    fn site_value(&mut self, cursor: &mut Cursor<'_>, place: SitePlace, ty: Type) -> Node {
        let site = self.operand(cursor.at, place.operand);
        let address = site + place.offset as u64;
        // Code that is not left for a new case has to find it in memory. It is left in front of the slow path that adds it, or when that would
        // run again.
        let FunctionSource { sites, slow_paths, .. } = *self.owner(cursor.at);
        let is_full = sites.is_some_and(|sites| sites.is_full(site));
        let is_left = sites.is_some() && slow_paths.is_some() && place.learns_slowly && !is_full;
        if is_left && !self.lacks_slow_path(cursor.at) && !self.scratch.known_sites.contains(&site) {
            self.scratch.known_sites.push(site);
        }
        let sites = sites.filter(|_| is_left || is_full);
        // SAFETY: templates read nothing else of sites.
        let known = sites.and_then(|sites| unsafe { sites.read(address, ty.bytes()) });
        if place.offset as usize == COUNT_OFFSET && known.is_some_and(|count| count > 0) {
            cursor.was_here();
        }
        match known {
            Some(bits) => cursor.constant(ty, bits),
            None => {
                let address = cursor.constant(Type::I64, address);
                cursor.load(ty, address)
            }
        }
    }

    fn operator(&mut self, cursor: &mut Cursor<'_>, op: Op, sig: Sig, inputs: Inputs<'_>, imm: u64) -> Node {
        match (op, self.source.call_entry) {
            (Op::CU, _) if let Some(call) = self.inlined_call(cursor.at) => {
                cursor.constant(Type::I64, self.scratch.code.plan.callee(self.source, call).unit)
            }
            (Op::CU, Some(call_entry)) => cursor.constant(Type::I64, call_entry.unit),
            (Op::LOCAL, _) => {
                self.expose(cursor);
                cursor.add(op, sig, &[], imm)
            }
            (Op::LOAD, _)
                if Access::of(imm) == Access::Pure
                    && self.inlined_call(cursor.at).is_some()
                    && !is_readable_anywhere(cursor.graph, inputs.get(0), MAX_STEPS) =>
            {
                // The address is one since the function was called: the load stays behind the checks that lead there.
                cursor.operator(op, sig, inputs, MemoryRegion::UNCHANGING.bits())
            }
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
        let imm = self.operand(cursor.at, operand);
        self.operator(cursor, op, sig, inputs, imm)
    }

    fn show(&mut self, cursor: &mut Cursor<'_>) -> Option<ShowNodes> {
        let (frame, bytecode) = self.scratch.code.plan.inlining.place(cursor.at);
        let around = self.show_callers(cursor, frame);
        Some(ShowNodes { around, ..self.frame_to_show(cursor, frame, bytecode)? })
    }

    fn newest(&mut self, cursor: &mut Cursor<'_>) -> Node {
        let newest = self.source.functions.show.map_or(0, |plan| plan.newest);
        cursor.constant(Type::I64, newest)
    }

    fn before_call(&mut self, cursor: &mut Cursor<'_>, effect: Effect) {
        if effect == Effect::Observes {
            self.store_shown(cursor);
        }
    }

    fn after_call(&mut self, cursor: &mut Cursor<'_>, effect: Effect) {
        if effect == Effect::Observes {
            self.reload_shown(cursor);
        }
    }

    fn context(&mut self, cursor: &mut Cursor<'_>) -> Node {
        cursor.add(Op::TC, WORD, &[], 0)
    }

    fn callee(&mut self, cursor: &mut Cursor<'_>, number: Node) -> InvokeTarget {
        let known = cursor.graph.as_const(number);
        let cell = known.and_then(|known| self.source.functions.cells.get(known as usize));
        cell.map_or(InvokeTarget::Number(number), |&cell| InvokeTarget::Known(cell))
    }

    /// The registers of a run are values, unless they are too many or code outside the template may write them.
    fn run(&mut self, cursor: &mut Cursor<'_>, operand: u8) -> InvokeArguments<Self::Run> {
        let run = run_of(self.operand(cursor.at, operand));
        let is_written = run.clone().any(|register| self.is_in_window(cursor.at, register as u32));
        if run.len() > MAX_ARGUMENTS || self.is_exposed || is_written {
            let count = cursor.constant(Type::I64, run.len() as u64);
            let first = self.window(cursor, operand);
            return InvokeArguments::InMemory([first, count]);
        }
        InvokeArguments::Run(run)
    }

    fn run_length(run: &Self::Run) -> usize {
        run.len()
    }

    fn run_element(&mut self, cursor: &mut Cursor<'_>, run: &Self::Run, index: usize) -> Node {
        self.read_register(cursor, (run.start + index) as u32, Type::I64)
    }

    fn tail_arguments(&self) -> Option<usize> {
        self.source.call_entry.map(|call_entry| call_entry.in_registers as usize)
    }

    fn repeats(&self, cursor: &Cursor<'_>, cell: u64, arguments: usize) -> bool {
        let is_own = |entry: CallEntry| entry.cell == cell && entry.arguments as usize == arguments;
        self.source.call_entry.is_some_and(is_own) && self.scratch.code.plan.repeats(cursor.at as usize)
    }

    fn repeat(&mut self, cursor: &mut Cursor<'_>, args: &[Node]) {
        self.start_again(cursor, args);
    }

    fn here(&mut self, cursor: &mut Cursor<'_>) -> Node {
        let (owner, at) = self.scratch.code.plan.owner(self.source, cursor.at as usize);
        cursor.constant(Type::I64, owner.code.address_of(at))
    }

    fn slow_entry(&mut self, cursor: &mut Cursor<'_>) -> Option<Node> {
        let (owner, at) = self.scratch.code.plan.owner(self.source, cursor.at as usize);
        let slow_paths = owner.slow_paths?;
        Some(cursor.constant(Type::I64, slow_paths.address() + at as u64))
    }

    fn slow(&mut self, cursor: &mut Cursor<'_>) {
        let at = cursor.at;
        if self.lacks_slow_path(at) {
            self.miss(cursor, at);
            self.may_be_unreached = true;
            return;
        }
        for site in 0..self.scratch.known_sites.len() {
            self.leave_for_new_cases(cursor, self.scratch.known_sites[site]);
        }
    }

    /// A bytecode that has learned of some things is taken to see no others, until it does.
    fn outside(&mut self, cursor: &mut Cursor<'_>, operand: u8) {
        let (at, site) = (cursor.at, self.operand(cursor.at, operand));
        let (owner, of_owner) = self.scratch.code.plan.owner(self.source, at as usize);
        let has_missed = match owner.slow_paths {
            Some(slow_paths) => slow_paths.is_empty() || slow_paths.has_missed(of_owner as u32),
            None => true,
        };
        if !has_missed && owner.n_cases(site).is_some_and(|count| count > 0) {
            self.miss(cursor, at);
            self.may_be_unreached = true;
        }
    }

    /// Which cases a site has is known when the function is built, and of which kind a value is in most cases.
    fn is_kept(&mut self, at: u32) -> bool {
        let MadeMemory { needed, without } = &mut self.scratch.made;
        let is_needed = needed.contains(&at);
        if !is_needed && !without.contains(&at) {
            without.push(at);
        }
        is_needed
    }

    fn decides(&mut self, cursor: &Cursor<'_>, flag: Node) -> Option<bool> {
        if let Some(holds) = self.scratch.known_kinds.decides(cursor.graph, cursor.block, flag) {
            self.may_be_unreached = true;
            return Some(holds);
        }
        let holds = cursor.known_flag(flag)?;
        self.may_be_unreached = true;
        Some(holds)
    }

    fn before_end(&mut self, _: &mut Cursor<'_>) {}

    fn edge(&mut self, cursor: &mut Cursor<'_>, to: &LocalBlock) {
        self.carry(cursor, to.block, Needs::Within);
    }

    fn start(&mut self, cursor: &mut Cursor<'_>, local: &LocalBlock) {
        let FunctionScratch { liveness, registers, known_kinds, .. } = &mut *self.scratch;
        if cursor.block == local.block {
            known_kinds.start(cursor.graph, local.block, local.is_loop);
        }
        if local.is_loop {
            self.may_be_unreached |= cursor.graph.block(local.block).preds.is_empty();
            let written = liveness.written_by(cursor.at as usize);
            registers.start_loop(cursor.graph, local.block, liveness.within(), written, cursor.at);
        } else {
            registers.start_block(cursor.graph, local.block, liveness.within(), cursor.at);
        }
    }

    fn seal(&mut self, cursor: &mut Cursor<'_>, local: &LocalBlock) {
        let FunctionScratch { liveness, registers, .. } = &mut *self.scratch;
        registers.seal(cursor.graph, local.block, liveness.within());
    }

    fn next(&mut self, cursor: &mut Cursor<'_>) {
        let next = self.scratch.code.plan.next(cursor.at as usize);
        if !self.next.is_some() {
            let leader = self.scratch.leaders.get(next).copied();
            self.next = match leader {
                Some(leader) if leader.is_some() => leader,
                _ => cursor.graph.add_block(),
            };
        }
        if self.scratch.leaders.get(next) == Some(&self.next) {
            self.reload_written(cursor);
            self.store_for_loop(cursor, next, next);
        }
        self.jump(cursor, self.next, Needs::At(next));
    }

    fn goto(&mut self, cursor: &mut Cursor<'_>, operand: u8) {
        self.reload_written(cursor);
        self.jump_to(cursor, self.operand(cursor.at, operand) as u32);
    }

    fn switch(&mut self, cursor: &mut Cursor<'_>, position: Node, operands: &[u8]) {
        self.reload_written(cursor);
        let mut targets = Vec::new();
        for &operand in operands {
            let raw = self.operand(cursor.at, operand);
            match self.operand_kind(cursor.at, operand) {
                OperandKind::Labels => {
                    targets.extend_from_slice(&self.scratch.code.plan.labels(self.source)[run_of(raw)])
                }
                _ => targets.push(raw as u32),
            }
        }
        if let [only] = targets[..] {
            return self.jump_to(cursor, only);
        }
        let blocks: Vec<Block> = targets.iter().map(|&to| self.scratch.leaders[to as usize]).collect();
        cursor.end(Op::SWITCH, Type::Void, &[position], 0, &blocks);
        for (block, to) in core::iter::zip(blocks, targets) {
            self.carry(cursor, block, Needs::At(to as usize));
        }
    }

    fn give_back(&mut self, cursor: &mut Cursor<'_>, value: Option<Node>) {
        if let Some(call) = self.inlined_call(cursor.at) {
            return self.leave_inlined(cursor, call, value);
        }
        if self.source.call_entry.is_none() {
            return cursor.give_back(value);
        }
        let bits = match value {
            Some(value) => cursor.widen(value),
            None => cursor.constant(Type::I64, 0),
        };
        cursor.leave(Op::GIVE, Type::I64, &[bits], 0);
    }

    fn exit(&mut self, cursor: &mut Cursor<'_>, to: Resume) {
        let to = match to {
            Resume::Here => cursor.at as u64,
            Resume::Next => self.scratch.code.plan.next(cursor.at as usize) as u64,
            Resume::Label(operand) => self.operand(cursor.at, operand),
        };
        self.leave_at(cursor, to, Needs::At(to as usize));
    }

    fn inlined(&mut self, cursor: &Cursor<'_>, step: usize) -> Option<u32> {
        self.scratch.code.plan.call_of(cursor.at as usize, step)
    }

    fn enter_inlined(&mut self, cursor: &mut Cursor<'_>, call: u32, args: &[Node]) {
        self.give_arguments(cursor, call, args);
    }

    fn trap(&mut self, cursor: &mut Cursor<'_>, code: u32) {
        let op = if self.source.call_entry.is_some() { Op::FAIL } else { Op::TRAP };
        cursor.leave(op, Type::Void, &[], code as u64);
    }
}

impl<'a> ValueOperands<'a> {
    pub(super) fn new(
        source: &'a FunctionSource<'a>,
        scratch: &'a mut FunctionScratch,
        chaos: &'a mut Chaos,
    ) -> ValueOperands<'a> {
        let next = Block::NONE;
        let (is_exposed, has_window) = (false, false);
        let may_be_unreached = false;
        let lacks_slow_path = None;
        ValueOperands {
            source,
            scratch,
            chaos,
            is_exposed,
            has_window,
            lacks_slow_path,
            may_be_unreached,
            next,
        }
    }

    /// Prepares for the template of the next bytecode.
    pub(super) fn start_bytecode(&mut self) {
        (self.is_exposed, self.has_window) = (false, false);
        self.lacks_slow_path = None;
        self.scratch.known_sites.clear();
    }

    /// Whether the bytecode's slow path is left out, if it has one.
    fn lacks_slow_path(&mut self, at: u32) -> bool {
        let planned = self.scratch.code.plan.lacks_slow_path(at as usize);
        let decide = || planned.unwrap_or_else(|| lacks_slow_path(self.source, at as usize));
        *self.lacks_slow_path.get_or_insert_with(decide)
    }

    /// Leaves in front of the slow path, if a site has other cases by now than the code knows.
    fn leave_for_new_cases(&mut self, cursor: &mut Cursor<'_>, site: u64) {
        let (at, address) = (cursor.at, site + COUNT_OFFSET as u64);
        let known = self.owner(at).n_cases(site);
        let [known, address] = [(Type::I32, known.unwrap_or(0)), (Type::I64, address)]
            .map(|(ty, bits)| cursor.constant(ty, bits));
        let count = cursor.load(Type::I32, address);
        let flag = cursor.add(Op::EQ, Sig { from: Type::I32, ty: Type::Flag }, &[count, known], 0);
        self.leave_unless(cursor, flag, Needs::Within, |operands, cursor| operands.miss(cursor, at));
    }

    /// Leaves compiled code for what it lacks at a bytecode, which then runs from its start.
    pub(super) fn miss(&mut self, cursor: &mut Cursor<'_>, at: u32) {
        self.leave_at(cursor, MISSED | at as u64, Needs::At(at as usize));
    }

    /// The function that a bytecode belongs to.
    fn owner(&self, at: u32) -> &'a FunctionSource<'a> {
        self.scratch.code.plan.owner(self.source, at as usize).0
    }

    /// The operand of a bytecode.
    pub(super) fn operand(&self, at: u32, operand: u8) -> Raw {
        self.scratch.code.operand(at, operand)
    }

    pub(super) fn n_operands(&self, at: u32) -> u8 {
        self.scratch.code.operands(at as usize).len() as u8
    }

    pub(super) fn operand_kind(&self, at: u32, operand: u8) -> OperandKind {
        self.source.opcodes[self.scratch.code.opcode(at as usize)].operands[operand as usize].kind
    }

    /// Ends the block with a jump to another.
    pub(super) fn jump(&mut self, cursor: &mut Cursor<'_>, to: Block, needs: Needs) {
        cursor.jump(to);
        self.carry(cursor, to, needs);
    }

    /// Ends the block with a jump to a bytecode, which must be a leader.
    fn jump_to(&mut self, cursor: &mut Cursor<'_>, to: u32) {
        let leader = self.scratch.leaders[to as usize];
        self.prepare_loop(cursor, cursor.at as usize + 1, to as usize);
        self.jump(cursor, leader, Needs::At(to as usize));
    }

    /// Carries the values of registers along an edge to a block.
    pub(super) fn carry(&mut self, cursor: &Cursor<'_>, to: Block, needs: Needs) {
        let FunctionScratch { code, liveness, registers, .. } = &mut *self.scratch;
        let needed = match needs {
            Needs::At(at) => liveness.needed(at),
            Needs::Within => liveness.within(),
            Needs::All => liveness.visible(code, cursor.at as usize),
        };
        registers.add_edge(to, needed);
    }

    fn read_register(&mut self, cursor: &mut Cursor<'_>, register: u32, ty: Type) -> Node {
        let value = match self.scratch.registers.is_captured(register) {
            true => self.load_slot(cursor, register),
            false => self.scratch.registers.read(register),
        };
        let from = cursor.ty(value);
        if from == ty {
            return value;
        }
        debug_assert_eq!(from, Type::I64, "a register used as several types is at home as an integer");
        cursor.bits_as(value, ty)
    }

    /// The address of the function's frame.
    pub(super) fn frame(&mut self, cursor: &mut Cursor<'_>) -> Node {
        let op = if self.source.call_entry.is_some() { Op::FRAME } else { Op::LOCAL };
        self.scratch.registers.local(cursor.graph, op)
    }

    /// The address of the slots that the function has besides a frame which others have made.
    pub(super) fn own_memory(&mut self, cursor: &mut Cursor<'_>) -> Node {
        self.scratch.registers.own_memory(cursor.graph)
    }

    /// Leaves compiled code with this status word. The registers that are needed where the interpreter resumes get their
    /// values, unless all are in their slots.
    pub(super) fn leave_at(&mut self, cursor: &mut Cursor<'_>, to: u64, needs: Needs) {
        let pointer = match self.source.call_entry {
            Some(_) => self.context(cursor),
            None => self.frame(cursor),
        };
        let mut values = core::mem::take(&mut self.scratch.saved);
        values.clear();
        values.push(pointer);
        let start = cursor.graph.states.registers.len() as u32;
        let (frame, at) = self.scratch.code.plan.inlining.place(to as u32);
        let to = to & !(u32::MAX as u64) | at as u64;
        let candidates = if self.is_exposed { 0 } else { self.scratch.flushes.len() };
        for index in 0..candidates {
            let register = self.scratch.flushes[index];
            let is_needed = match needs {
                Needs::At(at) => self.scratch.liveness.is_needed(register, at),
                Needs::Within | Needs::All => true,
            };
            let is_there = !is_needed
                || self.scratch.registers.is_stored(register)
                || self.is_in_window(cursor.at, register);
            if !is_there {
                cursor.graph.states.registers.push(StateRegister::plain(register));
                values.push(self.scratch.registers.read(register));
            }
        }
        self.save_inlined(cursor, frame, needs, &mut values);
        let registers = List { start, len: values.len() as u32 - 1 };
        let op = match self.source.call_entry {
            Some(_) => Op::HAND_OVER,
            None if registers.len == 0 && frame == 0 => Op::EXIT_AT,
            None => Op::EXIT_WITH,
        };
        if op == Op::EXIT_AT {
            cursor.leave(op, Type::Void, &[], to);
        } else {
            let state = cursor.graph.states.all.len() as u64;
            cursor.graph.states.all.push(FrameState { to, registers, frame });
            cursor.leave(op, Type::Void, &values, state);
        }
        self.scratch.saved = values;
    }
}
