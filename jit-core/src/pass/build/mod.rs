//! Build the graph: link each bytecode's template and turn VM registers into values.
//!
//! In: verified bytecode and the templates of its opcodes. Out: a [`Graph`] in which every block but the entry
//! starts at a bytecode that is jumped to, or at a block of a template. Needs: what `verify` promised. Cost:
//! linear in steps, plus the block parameters.
//!
//! VM registers become values on the way: [`alive`] finds which registers each block needs, and [`registers`] brings
//! their values along every way. Where different values meet, a block gets a parameter; so does a loop's head for what
//! the loop writes. A parameter that turns out to have one value only is replaced by it, and [`Builder::finish`]
//! rewrites the references.
//!
//! A register is held as its *home* type: the type it is used as if that is only one, else a 64-bit integer that
//! narrow reads truncate and narrow writes extend with zeros. So a slot has the same bits whichever tier wrote it. The
//! entry block loads each register that is read before it is written. Calls that look at the frame store those that the
//! function writes anywhere, exits only what may be read where the interpreter goes on.

mod alive;
mod call_entry;
mod decode;
mod invoke;
mod leave;
mod reached;
mod registers;
mod slots;
mod stencil;

pub use call_entry::CallEntry;
use call_entry::MOVED_ON;
pub use invoke::{Functions, MAX_ARGUMENTS, Table};
pub use stencil::{CachedValue, Constants, StencilFacts, StencilRequest, first_reads, stencil};

use super::chaos::Chaos;
use crate::ir::bytecode::{Bytecode, MAX_OPERANDS, OpcodeInfo, OperandKind, Raw, run_of};
use crate::ir::graph::{CallData, Effect, Graph, Heat, Target};
use crate::ir::index::{Block, Node};
use crate::ir::template::{Callee, Imm, Likelihood, Ref, Resume, Signature, Step, Template};
use crate::verify::Shape;
use crate::vocab::{Op, Sig, Type, Vocabulary};
use alive::Alive;
use decode::Decoded;
use registers::Registers;

/// Bytecode behind a trait object, so that the pass is compiled once and not once for each opcode enum.
pub trait Instructions {
    /// How many bytecodes there are.
    fn len(&self) -> usize;
    /// Whether there are none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// The opcode's number and the operands of the bytecode at `at`.
    fn get(&self, at: usize) -> (usize, [Raw; MAX_OPERANDS]);
}

impl<B: Bytecode> Instructions for Vec<B> {
    fn len(&self) -> usize {
        Vec::len(self)
    }

    fn get(&self, at: usize) -> (usize, [Raw; MAX_OPERANDS]) {
        (self[at].opcode(), self[at].operands())
    }
}

/// What is built from.
#[derive(Clone, Copy)]
pub struct Source<'a> {
    /// The operators that templates may use.
    pub vocab: Vocabulary,
    /// Every opcode, by number.
    pub opcodes: &'a [OpcodeInfo],
    /// Every template, by opcode.
    pub templates: &'a [&'static Template],
    /// The bytecode.
    pub code: &'a dyn Instructions,
    /// What `Labels` operands point into.
    pub labels: &'a [u32],
    /// The number of VM registers; operand stack slots follow them.
    pub locals: u32,
    /// Registers and operand stack slots together.
    pub slots: u32,
    /// The operand stack's height before each bytecode, `Shape::UNREACHED` where no way leads; empty if no
    /// opcode uses the stack.
    pub depths: &'a [u32],
    /// Where the function starts: at its first bytecode, or, to go on with what another tier began, at any that can be
    /// reached. Registers are in their slots there. Where control comes back to before it, the function is left:
    /// see [`Left::MovedOn`](crate::ir::status::Left::MovedOn).
    pub entry: u32,
    /// How many arguments calls give the function at most, if that is known: the other registers are zero when it is called.
    pub arguments: Option<u32>,
    /// Where templates that call functions of bytecode find those.
    pub functions: Functions<'a>,
    /// Set if the function is to be called by others of bytecode, by their own convention, and not with a frame. It must
    /// start at its first bytecode, and no template in it may take the frame's address (see [`Template::observes`]).
    pub call_entry: Option<CallEntry>,
}

/// Memory kept between functions.
#[derive(Debug, Default)]
pub struct Scratch {
    code: Decoded,
    registers: Registers,
    alive: Alive,
    /// Block of each bytecode that starts one.
    leaders: Vec<Block>,
    /// Last bytecode that jumps to each leader.
    last_jump: Vec<u32>,
    linked: Linked,
    flushes: Vec<u32>,
    stack_inputs: Vec<Node>,
    /// Leaves where nobody asked for it.
    pub(super) chaos: Chaos,
    reached: reached::Scratch,
}

impl Scratch {
    /// Gives its memory back.
    pub(super) fn release(&mut self) {
        *self = Scratch { chaos: core::mem::take(&mut self.chaos), ..Scratch::default() };
    }
}

/// The template being linked.
#[derive(Debug, Default)]
struct Linked {
    values: Vec<Node>,
    blocks: Vec<LinkedBlock>,
    /// Arguments of jumps to template blocks with parameters: block, then one run of values for each jump.
    args: Vec<(u16, Node)>,
}

#[derive(Clone, Copy, Debug)]
struct LinkedBlock {
    block: Block,
    /// Jumps to it that have not been linked yet.
    awaited: u32,
    /// Where its parameters are in `values`.
    first_param: u32,
    params: u32,
    /// It was started before all jumps to it were linked.
    is_loop: bool,
}

/// Builds the graph of a function.
pub fn build(scratch: &mut Scratch, source: &Source<'_>, graph: &mut Graph) {
    for is_cautious in [false, true] {
        graph.clear(source.vocab);
        scratch.registers.set_cautious(is_cautious);
        let current = Block::NONE;
        let mut builder = Builder {
            source,
            graph,
            scratch,
            current,
            at: 0,
            observed: false,
            has_window: false,
            has_blind_ends: false,
        };
        builder.scan();
        builder.link_all();
        if is_cautious || !builder.scratch.registers.is_entered_aside() {
            return builder.finish();
        }
    }
}

/// The VM registers that a function may read before it writes them, a bit each, if it starts without a frame of zeros;
/// `None` if one of its templates looks at all of them.
pub fn needed_at_start<'a>(
    scratch: &'a mut Scratch,
    source: &Source<'_>,
    graph: &mut Graph,
) -> Option<&'a [u64]> {
    debug_assert!(source.call_entry.is_some() && source.entry == 0);
    graph.clear(source.vocab);
    scratch.registers.set_cautious(false);
    let (current, at) = (Block::NONE, 0);
    let (observed, has_window, has_blind_ends) = (false, false, false);
    Builder { source, graph, scratch, current, at, observed, has_window, has_blind_ends }.scan();
    let Scratch { alive, code, .. } = scratch;
    let is_observed = (0..code.len()).any(|at| source.templates[code.opcode(at)].observes());
    (!is_observed).then(|| alive.needed(0))
}

struct Builder<'a> {
    source: &'a Source<'a>,
    graph: &'a mut Graph,
    scratch: &'a mut Scratch,
    /// The block that is open; `NONE` where control cannot be.
    current: Block,
    /// The bytecode being linked.
    at: u32,
    /// Whether the template being linked took the frame's address: registers are reloaded after it.
    observed: bool,
    /// Whether the template at hand has handed out the address of a run of registers.
    has_window: bool,
    /// Whether a block may be there that nothing leads to.
    has_blind_ends: bool,
}

/// Which registers a way brings along.
#[derive(Clone, Copy)]
enum Needs {
    /// Those that are needed at this bytecode.
    At(usize),
    /// Those that the template being linked may need.
    Within,
    /// All that are used.
    All,
}

const WORD: Sig = Sig { from: Type::Void, ty: Type::I64 };
const SLOT_BYTES: u64 = 8;

impl Builder<'_> {
    /// Finds where blocks start, which registers are written, and what each register's home type is.
    fn scan(&mut self) {
        let n_code = self.source.code.len();
        let scratch = &mut *self.scratch;
        scratch.leaders.clear();
        scratch.leaders.resize(n_code, Block::NONE);
        scratch.last_jump.clear();
        scratch.last_jump.resize(n_code, 0);
        scratch.registers.clear(self.source.slots);
        scratch.code.clear();
        let entry = self.graph.add_block();
        debug_assert_eq!(entry, Graph::ENTRY);
        let first = self.graph.add_block();
        scratch.leaders[self.source.entry as usize] = first;

        let Scratch { code, registers, leaders, last_jump, .. } = scratch;
        let mut lead = |to: usize, from: usize| {
            if !leaders[to].is_some() {
                leaders[to] = self.graph.add_block();
            }
            last_jump[to] = last_jump[to].max(from as u32);
        };
        for at in 0..n_code {
            let (opcode, raw) = self.source.code.get(at);
            let operands = self.source.opcodes[opcode].operands;
            let raws = code.push(self.source, opcode, &raw[..operands.len()]);
            for (info, &raw) in core::iter::zip(operands, raws) {
                let ty = || info.scalar.map_or(Type::I64, |scalar| scalar.ty());
                match info.kind {
                    OperandKind::In | OperandKind::Pop => registers.note(raw as u32, ty(), false),
                    OperandKind::Out | OperandKind::InOut | OperandKind::Push => {
                        registers.note(raw as u32, ty(), true);
                    }
                    OperandKind::Label => lead(raw as usize, at),
                    OperandKind::Labels => {
                        self.source.labels[run_of(raw)].iter().for_each(|&to| lead(to as usize, at));
                    }
                    OperandKind::Regs | OperandKind::RegsMut => {
                        for register in run_of(raw) {
                            let written = info.kind == OperandKind::RegsMut;
                            registers.note(register as u32, Type::I64, written);
                        }
                    }
                    OperandKind::Imm => {}
                }
            }
        }
        let Scratch { registers, flushes, .. } = &mut *self.scratch;
        registers.settle(self.source.call_entry.is_some());
        flushes.clear();
        flushes.extend((0..self.source.slots).filter(|register| registers.is_elsewhere(*register)));
        let is_jumped_to_first = self.is_jumped_to(0);
        let Scratch { alive, code, registers, leaders, last_jump, chaos, .. } = &mut *self.scratch;
        let leads = |at: usize| {
            let leads = if at == 0 { is_jumped_to_first } else { leaders[at].is_some() };
            leads.then(|| last_jump[at])
        };
        // Who leaves anywhere needs everything everywhere.
        alive.find(self.source, code, leads, registers, chaos.is_some());
    }

    /// The way from outside. The entry is ended by `finish`, but its edge comes first.
    fn come_in(&mut self) {
        let at = self.source.entry as usize;
        let leader = self.scratch.leaders[at];
        self.graph.blocks[Graph::ENTRY.at()].succs.push(leader);
        let pred = crate::ir::graph::Pred { block: Graph::ENTRY, succ: 0 };
        self.graph.blocks[leader.at()].preds.push(pred);
        match self.source.call_entry {
            Some(call_entry) => self.take_arguments(call_entry),
            None => {
                let first_zero = if self.is_entered_by_calls() { self.source.arguments } else { None };
                let Scratch { alive, registers, .. } = &mut *self.scratch;
                registers.enter(self.graph, alive.needed(at), first_zero);
            }
        }
        self.arrive(leader, Needs::At(at));
    }

    /// Whether control comes from outside by calls only. Who goes on with what another tier began comes to where bytecodes jump
    /// to, and to one that was left in its middle.
    fn is_entered_by_calls(&self) -> bool {
        let template = self.source.templates[self.scratch.code.opcode(0)];
        let is_left = |step: &Step| matches!(step, Step::Exit { to: Resume::Here });
        self.source.entry == 0 && !self.is_jumped_to(0) && !template.steps.iter().any(is_left)
    }

    fn link_all(&mut self) {
        self.come_in();
        for at in 0..self.source.code.len() {
            self.at = at as u32;
            (self.observed, self.has_window) = (false, false);
            self.enter_leader(at);
            if self.source.depths.get(at) == Some(&Shape::UNREACHED) {
                self.current = Block::NONE;
            }
            if self.current.is_some() && at < self.source.entry as usize {
                self.move_on();
            } else if self.current.is_some() && (self.is_head(at) || self.counts_start(at)) {
                self.poll();
            }
            if self.current.is_some() {
                self.leave_by_chance();
                self.link(at);
            }
            if self.scratch.alive.may_jump(self.scratch.code.opcode(at)) {
                self.seal_loops_ending_at(at);
            }
        }
        debug_assert!(!self.current.is_some(), "verified code does not fall off its end");
    }

    /// Leaves a function that was entered in its middle, where control comes back to before that. Whoever enters an inner loop
    /// finds no other loops around it, since nothing leads to their heads from outside: here the function is left, and
    /// entered again where the outer loop has its proper shape.
    fn move_on(&mut self) {
        self.graph.blocks[self.current.at()].heat = Heat::Cold;
        self.flush_needed(self.at as usize);
        self.exit(MOVED_ON | self.at as u64);
    }

    /// Where other bytecodes jump to, a block starts.
    fn enter_leader(&mut self, at: usize) {
        let leader = self.scratch.leaders[at];
        if !leader.is_some() {
            return;
        }
        if self.current.is_some() {
            self.jump(leader, Needs::At(at));
        }
        let is_loop = self.is_head(at);
        let has_ways_in = !self.graph.block(leader).preds.is_empty();
        let Scratch { alive, registers, .. } = &mut *self.scratch;
        if is_loop {
            self.has_blind_ends |= !has_ways_in;
            let written = alive.written_in_loop(at);
            registers.start_loop(self.graph, leader, alive.needed(at), written, self.at);
        } else if has_ways_in {
            registers.start(self.graph, leader, alive.needed(at), self.at);
        }
        // If there is no way in, only unreachable code jumps here.
        self.current = if is_loop || has_ways_in { leader } else { Block::NONE };
    }

    /// Whether the function starts here, and takes fuel for that.
    fn counts_start(&self, at: usize) -> bool {
        at == 0 && self.source.entry == 0 && self.source.functions.fuel.is_some()
    }

    /// Whether a bytecode jumps back to this one.
    fn is_head(&self, at: usize) -> bool {
        let is_target = self.scratch.leaders[at].is_some();
        is_target && self.scratch.last_jump[at] as usize >= at && (at > 0 || self.is_jumped_to(0))
    }

    /// Whether any bytecode jumps to this one; `last_jump` cannot tell a jump by bytecode 0 from none.
    fn is_jumped_to(&self, at: usize) -> bool {
        self.scratch.last_jump[at] > 0 || self.scratch.code.targets(self.source, 0).any(|to| to == at)
    }

    /// A loop's head is complete once the last bytecode that jumps back has been linked.
    fn seal_loops_ending_at(&mut self, at: usize) {
        let infos = self.source.opcodes[self.scratch.code.opcode(at)].operands;
        for (operand, info) in infos.iter().enumerate() {
            let raw = self.scratch.code.operand(at as u32, operand as u8);
            match info.kind {
                OperandKind::Label => self.seal_if_last(raw as usize, at),
                OperandKind::Labels => {
                    for label in run_of(raw) {
                        self.seal_if_last(self.source.labels[label] as usize, at);
                    }
                }
                _ => {}
            }
        }
    }

    fn seal_if_last(&mut self, head: usize, at: usize) {
        if head <= at && self.scratch.last_jump[head] as usize == at {
            let Scratch { alive, registers, leaders, .. } = &mut *self.scratch;
            registers.seal(self.graph, leaders[head], alive.needed(head));
        }
    }

    /// Ends the block at hand with a jump.
    fn jump(&mut self, to: Block, needs: Needs) {
        self.graph.end(self.current, Op::JUMP, Type::Void, &[], 0, &[to], self.at);
        self.arrive(to, needs);
        self.current = Block::NONE;
    }

    /// Brings the values of registers along a way out of the block at hand.
    fn arrive(&mut self, to: Block, needs: Needs) {
        let Scratch { alive, registers, .. } = &mut *self.scratch;
        let needed = match needs {
            Needs::At(at) => alive.needed(at),
            Needs::Within => alive.within(),
            Needs::All => alive.used(),
        };
        registers.arrive(to, needed);
    }

    /// The block of a bytecode that is jumped to.
    fn leader(&self, at: u64) -> Block {
        self.scratch.leaders[at as usize]
    }

    fn link(&mut self, at: usize) {
        let opcode = self.scratch.code.opcode(at);
        let template = self.source.templates[opcode];
        self.open_blocks(template);
        if template.blocks > 1 {
            let Scratch { alive, code, registers, .. } = &mut *self.scratch;
            alive.find_within(self.source, code, at);
            registers.fill(self.graph, alive.within(), alive.needed(at), self.at);
            self.store_shared(template, opcode);
        }
        let mut next = Block::NONE;
        for step in template.steps {
            if !self.current.is_some() && !matches!(step, Step::Block { .. }) {
                // Behind a step that left: the rest of a block of a template whose way in was never taken.
                continue;
            }
            self.step(step, &mut next);
        }
        if !self.scratch.linked.args.is_empty() {
            self.complete_params();
        }
        if next.is_some() {
            if self.current.is_some() {
                self.jump(next, Needs::At(at + 1));
            }
            if self.scratch.leaders.get(at + 1) != Some(&next) {
                let Scratch { alive, registers, .. } = &mut *self.scratch;
                registers.start(self.graph, next, alive.needed(at + 1), self.at);
                self.current = next;
            }
        }
        if self.current.is_some() {
            self.reload_observed(opcode);
        }
    }

    /// Counts the jumps to each block of a template, so that it is known when a block has all its predecessors.
    fn open_blocks(&mut self, template: &Template) {
        let linked = &mut self.scratch.linked;
        linked.values.clear();
        linked.blocks.clear();
        linked.args.clear();
        if template.blocks <= 1 {
            return;
        }
        let unseen =
            LinkedBlock { block: Block::NONE, awaited: 0, first_param: 0, params: 0, is_loop: false };
        linked.blocks.resize(template.blocks as usize, unseen);
        for step in template.steps {
            match *step {
                Step::Jump { block, .. } => linked.blocks[block as usize].awaited += 1,
                Step::Branch { then, otherwise, .. } => {
                    linked.blocks[then as usize].awaited += 1;
                    linked.blocks[otherwise as usize].awaited += 1;
                }
                _ => {}
            }
        }
        for block in &mut linked.blocks[1..] {
            block.block = self.graph.add_block();
        }
    }

    fn step(&mut self, step: &Step, next: &mut Block) {
        match *step {
            Step::Node { op, sig, inputs, imm } => self.node(op, sig, inputs, imm),
            Step::Read { operand, ty } => {
                let register = self.operand(operand) as u32;
                if self.observed || self.is_in_window(register) {
                    // Whoever has its slot's address may have written there.
                    self.reload(register);
                }
                let value = self.read(register, ty);
                self.scratch.linked.values.push(value);
            }
            Step::Constant { operand, ty } => {
                let value = self.graph.constant(ty, self.operand(operand), self.at);
                self.scratch.linked.values.push(value);
            }
            Step::Window { operand } => {
                let value = self.window(operand);
                self.scratch.linked.values.push(value);
            }
            Step::WindowLength { operand } => {
                let length = run_of(self.operand(operand)).len() as u64;
                let value = self.graph.constant(Type::I64, length, self.at);
                self.scratch.linked.values.push(value);
            }
            Step::Call { callee, args, signature, effect } => self.call(callee, args, signature, effect),
            Step::Invoke { function, args, ret, effect } => self.invoke(function, args, ret, effect),
            Step::Write { operand, value } => {
                let value = self.value(value);
                let register = self.operand(operand) as u32;
                self.write(register, value);
                if self.observed || self.is_in_window(register) {
                    // Whoever looks at its slot from now on finds it there.
                    self.flush(register);
                }
            }
            Step::Block { block, params, cold } => self.start(block, params, cold),
            Step::Jump { block, args } => {
                let to = self.bring(block, args);
                self.jump(to, Needs::Within);
                self.arrived(block);
            }
            Step::Branch { flag, then, otherwise, likelihood } => {
                self.branch(flag, then, otherwise, likelihood);
            }
            Step::Goto { operand } => {
                let to = self.operand(operand);
                self.jump(self.leader(to), Needs::At(to as usize));
            }
            Step::Switch { value, operands } => self.switch(value, operands),
            Step::Next => {
                if !next.is_some() {
                    let leader = self.scratch.leaders.get(self.at as usize + 1).copied();
                    *next = match leader {
                        Some(leader) if leader.is_some() => leader,
                        _ => self.graph.add_block(),
                    };
                }
                self.jump(*next, Needs::At(self.at as usize + 1));
            }
            Step::Return { value: Some(value) } => {
                let value = self.value(value);
                self.give_back(Some(value));
            }
            Step::Return { value: None } => self.give_back(None),
            Step::Tail { function, args } => self.tail(function, args),
            Step::Exit { to } => {
                let to = match to {
                    Resume::Here => self.at as u64,
                    Resume::Next => self.at as u64 + 1,
                    Resume::Label(operand) => self.operand(operand),
                };
                self.flush_needed(to as usize);
                self.exit(to);
            }
            Step::Trap { code } => {
                let op = if self.source.call_entry.is_some() { Op::FAIL } else { Op::TRAP };
                self.leave(op, Type::Void, &[], code as u64);
            }
        }
    }

    fn leave(&mut self, op: Op, from: Type, inputs: &[Node], imm: u64) {
        self.graph.end(self.current, op, from, inputs, imm, &[], self.at);
        self.current = Block::NONE;
    }

    /// The value of an operand of the bytecode being linked.
    fn operand(&self, operand: u8) -> Raw {
        self.scratch.code.operand(self.at, operand)
    }

    fn value(&self, value: Ref) -> Node {
        self.scratch.linked.values[value as usize]
    }

    fn gather(&mut self, inputs: &[Ref]) {
        let linked = &self.scratch.linked;
        self.scratch.stack_inputs.extend(inputs.iter().map(|&input| linked.values[input as usize]));
    }

    fn node(&mut self, op: Op, sig: Sig, inputs: &[Ref], imm: Imm) {
        let imm = match imm {
            Imm::Known(value) => value as u64,
            Imm::Address(address) => address.0.addr() as u64,
            Imm::Operand(operand) => self.operand(operand),
        };
        if let (Op::CU, Some(call_entry)) = (op, self.source.call_entry) {
            let unit = self.graph.constant(Type::I64, call_entry.unit, self.at);
            self.scratch.linked.values.push(unit);
            return;
        }
        if op == Op::LOCAL {
            self.observed = true;
            self.flush_all();
            let node = self.graph.add(op, sig, &[], imm, self.at);
            self.scratch.linked.values.push(node);
            return;
        }
        let floats = self.graph.would_float(op, sig, imm);
        let node = if floats && !Graph::is_normal(op) {
            self.scratch.stack_inputs.clear();
            self.gather(inputs);
            self.graph.add_normal(op, sig, &self.scratch.stack_inputs, imm, self.at)
        } else {
            let values = &self.scratch.linked.values;
            let inputs = inputs.iter().map(|&input| values[input as usize]);
            let node = self.graph.add_each(op, sig, inputs, imm, self.at);
            if !floats {
                self.graph.pin(node, self.current);
            }
            node
        };
        if sig.ty != Type::Void {
            self.scratch.linked.values.push(node);
        }
    }

    fn call(&mut self, callee: Callee, args: &[Ref], signature: Signature, effect: Effect) {
        if effect == Effect::Observes {
            self.observed = true;
            self.flush_all();
        }
        self.call_node(callee, args, signature, effect);
        if effect == Effect::Observes {
            self.reload_all();
        }
    }

    fn call_node(&mut self, callee: Callee, args: &[Ref], signature: Signature, effect: Effect) {
        self.scratch.stack_inputs.clear();
        let target = match callee {
            Callee::Known(address) => Target::Direct(address.0 as u64),
            Callee::Value(value) => {
                self.gather(&[value]);
                Target::Indirect
            }
        };
        self.gather(args);
        self.graph.calls.push(CallData { target, signature, effect });
        let imm = self.graph.calls.len() as u64 - 1;
        let op = if signature.ret == Type::Void { Op::CALLV } else { Op::CALL };
        let sig = Sig { from: Type::Void, ty: signature.ret };
        let node = self.graph.push(self.current, op, sig, &self.scratch.stack_inputs, imm, self.at);
        if signature.ret != Type::Void {
            self.scratch.linked.values.push(node);
        }
    }

    fn start(&mut self, block: u16, params: &[Type], cold: bool) {
        let to = self.start_block(block, params, cold);
        let has_ways_in = !self.graph.block(to).preds.is_empty();
        let linked = &mut self.scratch.linked.blocks[block as usize];
        linked.is_loop = linked.awaited > 0 || !has_ways_in;
        let is_loop = linked.is_loop;
        let Scratch { alive, registers, .. } = &mut *self.scratch;
        if is_loop {
            self.has_blind_ends |= !has_ways_in;
            let written = alive.written_by(self.at as usize);
            registers.start_loop(self.graph, to, alive.within(), written, self.at);
        } else {
            registers.start(self.graph, to, alive.within(), self.at);
        }
    }

    /// Starts a block of the template.
    fn start_block(&mut self, block: u16, params: &[Type], cold: bool) -> Block {
        debug_assert!(!self.current.is_some(), "the block before {block} is closed");
        let first_param = self.scratch.linked.values.len() as u32;
        let linked = &mut self.scratch.linked.blocks[block as usize];
        linked.first_param = first_param;
        linked.params = params.len() as u32;
        let to = linked.block;
        for &ty in params {
            let param = self.graph.add_param(to, ty, self.at);
            self.scratch.linked.values.push(param);
        }
        if cold {
            self.graph.blocks[to.at()].heat = Heat::Cold;
        }
        self.current = to;
        to
    }

    /// Notes the values that a jump brings to a block of the template, and gives the block.
    fn bring(&mut self, block: u16, args: &[Ref]) -> Block {
        for &arg in args {
            let value = self.value(arg);
            self.scratch.linked.args.push((block, value));
        }
        self.scratch.linked.blocks[block as usize].block
    }

    fn branch(&mut self, flag: Ref, then: u16, otherwise: u16, likelihood: Likelihood) {
        let (to_then, to_otherwise) = self.end_with_branch(flag, then, otherwise, likelihood);
        self.arrive(to_then, Needs::Within);
        self.arrive(to_otherwise, Needs::Within);
        self.current = Block::NONE;
        self.arrived(then);
        self.arrived(otherwise);
    }

    fn end_with_branch(
        &mut self,
        flag: Ref,
        then: u16,
        otherwise: u16,
        likelihood: Likelihood,
    ) -> (Block, Block) {
        let blocks = &self.scratch.linked.blocks;
        let (to_then, to_otherwise) = (blocks[then as usize].block, blocks[otherwise as usize].block);
        let flag = self.value(flag);
        self.graph.end(self.current, Op::BR, Type::Void, &[flag], 0, &[to_then, to_otherwise], self.at);
        match likelihood {
            Likelihood::Likely => self.graph.blocks[to_otherwise.at()].heat = Heat::Cold,
            Likelihood::Unlikely => self.graph.blocks[to_then.at()].heat = Heat::Cold,
            Likelihood::Even => {}
        }
        (to_then, to_otherwise)
    }

    /// One more way into a template's block has been linked.
    fn arrived(&mut self, block: u16) {
        let linked = &mut self.scratch.linked.blocks[block as usize];
        linked.awaited -= 1;
        if linked.awaited == 0 && linked.is_loop {
            let block = linked.block;
            let Scratch { alive, registers, .. } = &mut *self.scratch;
            registers.seal(self.graph, block, alive.within());
        }
    }

    fn switch(&mut self, value: Ref, operands: &[u8]) {
        let value = self.value(value);
        let opcode = self.scratch.code.opcode(self.at as usize);
        let mut targets = Vec::new();
        for &operand in operands {
            match self.source.opcodes[opcode].operands[operand as usize].kind {
                OperandKind::Labels => {
                    targets.extend_from_slice(&self.source.labels[run_of(self.operand(operand))])
                }
                _ => targets.push(self.operand(operand) as u32),
            }
        }
        if let [only] = targets[..] {
            return self.jump(self.leader(only as u64), Needs::At(only as usize));
        }
        let blocks: Vec<Block> = targets.iter().map(|&to| self.leader(to as u64)).collect();
        self.graph.end(self.current, Op::SWITCH, Type::Void, &[value], 0, &blocks, self.at);
        for (block, to) in core::iter::zip(blocks, targets) {
            self.arrive(block, Needs::At(to as usize));
        }
        self.current = Block::NONE;
    }

    /// Gives the parameters of the template's blocks the values that the jumps brought.
    fn complete_params(&mut self) {
        let linked = &self.scratch.linked;
        for (number, block) in linked.blocks.iter().enumerate() {
            for param in 0..block.params {
                let node = linked.values[(block.first_param + param) as usize];
                let inputs = &mut self.scratch.stack_inputs;
                inputs.clear();
                let of_block = linked.args.iter().filter(|(to, _)| *to as usize == number);
                let every_jump = of_block.map(|(_, value)| *value);
                inputs.extend(every_jump.skip(param as usize).step_by(block.params as usize));
                self.graph.set_inputs(node, inputs);
            }
        }
    }

    /// Ends the entry, completes what is open and rewrites references to parameters that were replaced.
    fn finish(&mut self) {
        let first = self.graph.block(Graph::ENTRY).succs[0];
        let end = self.graph.add(Op::JUMP, Sig { from: Type::Void, ty: Type::Void }, &[], 0, 0);
        self.graph.nodes[end.at()].block = Graph::ENTRY;
        self.graph.blocks[Graph::ENTRY.at()].end = end;
        debug_assert_eq!(self.graph.block(first).preds[0].block, Graph::ENTRY);
        if self.has_blind_ends {
            reached::drop_unreached(&mut self.scratch.reached, self.graph);
        }
        self.scratch.registers.resolve(self.graph);
    }
}
