//! Link a template: turn its steps into nodes and its blocks into blocks of a graph.
//!
//! In: a template, and a [`Cursor`] at the place to insert it. Out: the graph with the template's nodes; the cursor after
//! them, if control falls through. Holds afterwards: every block of the template is ended, and each of its parameters has
//! an input for each edge. Cost: linear in the template's steps.
//!
//! The linker numbers the template's values and follows the template's own control flow. It asks [`Operands`] for
//! everything else: the meaning of operands, reads and writes, and of control leaving the template. So the linker does not
//! know whether VM registers are values or slots, nor whether the bytecode is known.

use super::cases::CaseField;
use super::cursor::{Cursor, Inputs};
use super::invoke::{InvokeArguments, InvokeTarget, Linkage};
use super::show::{ShowNodes, ShownFrames};
use crate::ir::graph::{CallData, CallTarget, Effect, Heat};
use crate::ir::index::{Block, Node};
use crate::ir::template::{
    BlockRef, Callee, Deed, Likelihood, NativeCall, Ref, Resume, Signature, Step, StepImm, Template,
};
use crate::vocab::{Op, Sig, Type};

/// The operands of a template, and its surroundings.
///
/// A template is linked for a bytecode whose operands are known, or for an opcode whose operands are holes. An
/// implementation that links paths through bytecode decides in [`Operands::goto`] and similar methods what happens where
/// control leaves the path.
pub(super) trait Operands {
    /// A run of registers that are passed to a callee one by one.
    type Run;

    /// Whether a function is linked: the cases of sites may be known, what places hold is of use, and what nobody needs is not made.
    const IS_FUNCTION: bool = false;

    /// The value of a VM register.
    fn read(&mut self, cursor: &mut Cursor<'_>, operand: u8, ty: Type) -> Node;
    /// Writes a VM register.
    fn write(&mut self, cursor: &mut Cursor<'_>, operand: u8, value: Node);
    /// The value of a constant.
    fn constant(&mut self, cursor: &mut Cursor<'_>, operand: u8, ty: Type) -> Node;
    /// The address of a run of registers; from here on they are in their slots.
    fn window(&mut self, cursor: &mut Cursor<'_>, operand: u8) -> Node;
    /// The number of registers in a run.
    fn window_length(&mut self, cursor: &mut Cursor<'_>, operand: u8) -> Node;
    /// A value in the memory of a site.
    fn site_value(&mut self, cursor: &mut Cursor<'_>, place: SitePlace, ty: Type) -> Node;
    /// A field of the case that is known of a site.
    fn known_case(&mut self, _: &mut Cursor<'_>, _: u8, _: CaseField) -> Node {
        unreachable!("only stencils are made of the variants that know a case")
    }
    /// The case that is known is not the one at hand. May end the block. Returns whether it is known that there is no other.
    fn general(&mut self, _: &mut Cursor<'_>) -> bool {
        false
    }
    /// An operator. The implementation decides how a function gets its context, its frame and its unit.
    fn operator(&mut self, cursor: &mut Cursor<'_>, op: Op, sig: Sig, inputs: Inputs<'_>, imm: u64) -> Node;
    /// An operator whose constant is an operand.
    fn operator_with(
        &mut self,
        cursor: &mut Cursor<'_>,
        op: Op,
        sig: Sig,
        inputs: Inputs<'_>,
        operand: u8,
    ) -> Node;

    /// How the function shows its frame; `None` if nobody looks.
    fn show(&mut self, cursor: &mut Cursor<'_>) -> Option<ShowNodes>;
    /// The address of the word that leads to the newest of the frames that are shown.
    fn newest(&mut self, cursor: &mut Cursor<'_>) -> Node;
    /// That address, and the address of what a call has shown, for code behind the call.
    fn shown_behind_call(&mut self, _: &mut Cursor<'_>, in_front: [Node; 2]) -> [Node; 2] {
        in_front
    }
    /// Called before a call with this effect.
    fn before_call(&mut self, cursor: &mut Cursor<'_>, effect: Effect);
    /// Called after a call.
    fn after_call(&mut self, cursor: &mut Cursor<'_>, effect: Effect);
    /// The context that functions of bytecode pass to their callees.
    fn context(&mut self, cursor: &mut Cursor<'_>) -> Node;
    /// The function of bytecode with this number.
    fn callee(&mut self, cursor: &mut Cursor<'_>, number: Node) -> InvokeTarget;
    /// A run of registers as arguments.
    fn run(&mut self, cursor: &mut Cursor<'_>, operand: u8) -> InvokeArguments<Self::Run>;
    /// The number of registers in a run.
    fn run_length(run: &Self::Run) -> usize;
    /// The 64 bits of one register of a run.
    fn run_element(&mut self, cursor: &mut Cursor<'_>, run: &Self::Run, index: usize) -> Node;

    /// How many arguments a tail call of the code at hand passes in registers. If there are more, they go through the host's memory.
    fn tail_arguments(&self) -> Option<usize> {
        None
    }

    /// Whether a tail call of the function with this call cell, with so many arguments, is a jump to the start of the code at hand.
    fn repeats(&self, _: &Cursor<'_>, _cell: u64, _arguments: usize) -> bool {
        false
    }
    /// Ends the block with that jump.
    fn repeat(&mut self, _: &mut Cursor<'_>, _: &[Node]) {
        unreachable!("only whole functions start again")
    }

    /// The address of the bytecode.
    fn here(&mut self, cursor: &mut Cursor<'_>) -> Node;
    /// The address of the byte that says whether the bytecode's slow path has run. `None` if nobody asks for it any more.
    fn slow_entry(&mut self, cursor: &mut Cursor<'_>) -> Option<Node>;
    /// The block is the start of the bytecode's slow path. Ends the block if that is left out.
    fn slow(&mut self, cursor: &mut Cursor<'_>);
    /// What no case of a site tells of. Ends the block if that is left out.
    fn outside(&mut self, _: &mut Cursor<'_>, _: u8) {}

    /// Whether memory is there that a bytecode has made.
    fn is_kept(&mut self, _: u32) -> bool {
        true
    }

    /// Whether a flag holds, if the way on which it does not is to be left out.
    fn decides(&mut self, cursor: &Cursor<'_>, flag: Node) -> Option<bool>;

    /// Called before a step that ends the block.
    fn before_end(&mut self, cursor: &mut Cursor<'_>);
    /// The block has ended with an edge to a block of the template.
    fn edge(&mut self, cursor: &mut Cursor<'_>, to: &LocalBlock);
    /// A block of the template starts, or the block at the cursor goes on in place of it.
    fn start(&mut self, cursor: &mut Cursor<'_>, block: &LocalBlock);
    /// All edges into a block that [started before them](LocalBlock::is_loop) are known now.
    fn seal(&mut self, cursor: &mut Cursor<'_>, block: &LocalBlock);

    /// Ends the block: control continues at the next bytecode.
    fn next(&mut self, cursor: &mut Cursor<'_>);
    /// Ends the block: control goes to a label.
    fn goto(&mut self, cursor: &mut Cursor<'_>, operand: u8);
    /// Ends the block: control goes to the label at this position, or to the last.
    fn switch(&mut self, cursor: &mut Cursor<'_>, position: Node, operands: &[u8]);
    /// Ends the block: the function returns.
    fn give_back(&mut self, cursor: &mut Cursor<'_>, value: Option<Node>);
    /// Ends the block: the interpreter resumes at a bytecode.
    fn exit(&mut self, cursor: &mut Cursor<'_>, to: Resume);
    /// The inlined call that a step of the template makes.
    fn inlined(&mut self, _: &Cursor<'_>, _: usize) -> Option<u32> {
        None
    }
    /// Ends the block: control goes on in an inlined function, which gets the bits of these arguments.
    fn enter_inlined(&mut self, _: &mut Cursor<'_>, _: u32, _: &[Node]) {
        unreachable!("nothing is inlined here");
    }
    /// Ends the block: the function fails.
    fn trap(&mut self, cursor: &mut Cursor<'_>, code: u32);
}

/// Where a value is in the memory of a site.
#[derive(Clone, Copy)]
pub(super) struct SitePlace {
    /// The operand's number.
    pub(super) operand: u8,
    /// The distance from the start of the site's memory, in bytes.
    pub(super) offset: u32,
    /// Whether the site gets cases on the slow path only.
    pub(super) learns_slowly: bool,
}

/// Links templates one after another.
pub(super) struct Linker<'a, O> {
    pub(super) cursor: Cursor<'a>,
    pub(super) operands: O,
    /// The data for calls of functions of bytecode.
    pub(super) functions: &'a Linkage<'a>,
    pub(super) scratch: &'a mut LinkScratch,
}

/// The template being linked; the memory is kept.
#[derive(Debug, Default)]
pub(super) struct LinkScratch {
    /// The template's values, by number.
    values: Vec<Node>,
    blocks: Vec<LocalBlock>,
    /// Arguments of jumps to blocks with parameters: each argument of each jump, with the target block.
    args: Vec<(BlockRef, Node)>,
    /// The inputs of the call being made.
    pub(super) inputs: Vec<Node>,
    /// The frames that are shown to the call being made, if there are any, and the address of the word that leads to them.
    pub(super) shown: Option<(Node, ShownFrames)>,
}

/// A block of the template being linked.
#[derive(Clone, Copy, Debug)]
pub(super) struct LocalBlock {
    /// Its number in the template.
    pub(super) number: BlockRef,
    /// The block in the graph.
    pub(super) block: Block,
    /// How many edges into it have not been linked yet.
    pub(super) awaited: u32,
    /// Whether it started before all edges into it were linked, or has none.
    pub(super) is_loop: bool,
    /// Where its parameters start among the template's values.
    first_param: u32,
    params: u32,
}

impl<O: Operands> Linker<'_, O> {
    /// Links a template at the cursor.
    pub(super) fn link(&mut self, template: &Template) {
        self.count_edges(template);
        let mut number = 0;
        while let Some(step) = template.steps.get(number) {
            if !self.cursor.is_reached() {
                number += self.leave_out(&template.steps[number..]);
                let Some(step) = template.steps.get(number) else { break };
                self.step(step, template);
                number += 1;
                continue;
            }
            match *step {
                // Nobody sees the frame while an inlined function runs in its code. If that is left, the engine shows it.
                Step::Show { .. } if self.operands.inlined(&self.cursor, number + 1).is_some() => {}
                Step::Invoke { args, .. } | Step::Tail { args, .. }
                    if let Some(call) = self.operands.inlined(&self.cursor, number) =>
                {
                    self.enter_inlined(call, args);
                    self.define_nothing(step.n_values());
                }
                _ => self.step(step, template),
            }
            number += 1;
        }
        if !self.scratch.args.is_empty() {
            self.complete_params();
        }
    }

    /// Counts the edges into each of the template's blocks, to know when all of them are linked.
    fn count_edges(&mut self, template: &Template) {
        let LinkScratch { values, blocks, args, .. } = &mut *self.scratch;
        values.clear();
        blocks.clear();
        args.clear();
        if template.blocks <= 1 {
            return;
        }
        blocks.extend((0..template.blocks).map(LocalBlock::new));
        for step in template.steps {
            match *step {
                Step::Jump { block, .. } | Step::General { none: block } => {
                    blocks[block as usize].awaited += 1;
                }
                Step::Branch { then, otherwise, .. } => {
                    blocks[then as usize].awaited += 1;
                    blocks[otherwise as usize].awaited += 1;
                }
                _ => {}
            }
        }
    }

    /// The block in the graph, which is made when somebody asks for it first: of most blocks nobody does.
    fn block(&mut self, number: BlockRef) -> Block {
        let local = &mut self.scratch.blocks[number as usize];
        if !local.block.is_some() {
            local.block = self.cursor.graph.add_block();
        }
        local.block
    }

    /// Whether a block that starts now has no edges because all of them would come from steps that were left out. Control comes to each block
    /// from an earlier one, so a loop whose head nothing leads to so far is left out as a whole.
    fn is_left_out(&self, block: BlockRef) -> bool {
        !self.scratch.blocks[block as usize].block.is_some()
    }

    /// Leaves out the steps behind a slow path that was left out, or for a case that a site does not have. Returns how many: up to the next
    /// block to which something leads.
    fn leave_out(&mut self, steps: &[Step]) -> usize {
        let mut n_values = 0;
        let is_linked = |step: &Step| {
            match *step {
                Step::Node { sig, .. } => n_values += (sig.ty != Type::Void) as usize,
                Step::Jump { block, .. } | Step::General { none: block } => self.linked(block),
                Step::Branch { then, otherwise, .. } => {
                    self.linked(then);
                    self.linked(otherwise);
                }
                Step::Block { block, .. } if !self.is_left_out(block) => return true,
                _ => n_values += step.n_values(),
            }
            false
        };
        let n_steps = steps.iter().position(is_linked).unwrap_or(steps.len());
        self.define_nothing(n_values);
        n_steps
    }

    /// Defines values that nobody uses.
    fn define_nothing(&mut self, n_values: usize) {
        let values = &mut self.scratch.values;
        values.resize(values.len() + n_values, Node::NONE);
    }

    /// Links a step, and defines its value if it has one.
    fn step(&mut self, step: &Step, template: &Template) {
        let Linker { cursor, operands, scratch, .. } = self;
        let value = match *step {
            Step::Node { op: Op::HOLDS, .. } if !O::IS_FUNCTION => return,
            Step::Node { op: Op::KEPT, .. } => {
                let is_kept = operands.is_kept(cursor.at);
                cursor.graph.known_flag(is_kept, cursor.at)
            }
            Step::Node { op, sig, inputs, imm } => {
                let inputs = Inputs { values: &scratch.values, refs: &inputs };
                let node = match imm {
                    StepImm::Known(value) => operands.operator(cursor, op, sig, inputs, value as u64),
                    StepImm::Address(address) => {
                        let address = template.addresses[address as usize];
                        operands.operator(cursor, op, sig, inputs, address.0.addr() as u64)
                    }
                    StepImm::Operand(operand) => operands.operator_with(cursor, op, sig, inputs, operand),
                };
                if sig.ty == Type::Void {
                    return;
                }
                node
            }
            Step::Read { operand, ty } => operands.read(cursor, operand, ty),
            Step::Constant { operand, ty } => operands.constant(cursor, operand, ty),
            Step::Window { operand } => operands.window(cursor, operand),
            Step::WindowLength { operand } => operands.window_length(cursor, operand),
            Step::SiteValue { operand, offset, ty, learns_slowly } => {
                operands.site_value(cursor, SitePlace { operand, offset, learns_slowly }, ty)
            }
            Step::KnownCase { operand, offset, ty } => {
                operands.known_case(cursor, operand, CaseField { offset, ty })
            }
            Step::Slow => return operands.slow(cursor),
            Step::Outside { operand } => return operands.outside(cursor, operand),
            Step::Quicken { opcode } => return self.quicken(opcode, template),
            Step::General { none } => match operands.general(cursor) {
                true => return self.jump(none, &[]),
                false => return self.linked(none),
            },
            Step::Show { call } => return self.show(call),
            Step::Frames => operands.newest(cursor),
            Step::Write { operand, value } => {
                return operands.write(cursor, operand, scratch.values[value as usize]);
            }
            Step::Call { call, throws, catches, effect, .. } => {
                return self.call(template.calls[call as usize], (throws, catches), effect);
            }
            Step::Invoke { function, args, ret, catches, effect } => {
                return self.invoke(function, args, (ret, catches), effect);
            }
            Step::Caught { function, code } => return self.caught(function, code),
            Step::Block { block, params, cold } => return self.start(block, &params, cold),
            _ => return self.end(step),
        };
        self.scratch.values.push(value);
    }

    /// Links a step that ends its block.
    fn end(&mut self, step: &Step) {
        self.operands.before_end(&mut self.cursor);
        let Linker { cursor, operands, scratch, .. } = self;
        match *step {
            Step::Jump { block, args } => self.jump(block, &args),
            Step::Branch { flag, then, otherwise, likelihood } => {
                self.branch(flag, then, otherwise, likelihood);
            }
            Step::Goto { operand } => operands.goto(cursor, operand),
            Step::Switch { value, operands: labels } => {
                operands.switch(cursor, scratch.values[value as usize], &labels);
            }
            Step::Next => operands.next(cursor),
            Step::Return { value } => {
                operands.give_back(cursor, value.map(|value| scratch.values[value as usize]));
            }
            Step::Tail { function, args } => self.tail(function, args),
            Step::Exit { to } => operands.exit(cursor, to),
            Step::Trap { code } => operands.trap(cursor, code),
            Step::Node { .. }
            | Step::Read { .. }
            | Step::Constant { .. }
            | Step::Window { .. }
            | Step::WindowLength { .. }
            | Step::SiteValue { .. }
            | Step::KnownCase { .. }
            | Step::Write { .. }
            | Step::Call { .. }
            | Step::Invoke { .. }
            | Step::Caught { .. }
            | Step::Slow
            | Step::Outside { .. }
            | Step::Quicken { .. }
            | Step::General { .. }
            | Step::Show { .. }
            | Step::Frames
            | Step::Block { .. } => unreachable!("it does not end a block"),
        }
    }

    /// Makes the bytecode another one, whose slow path has not run.
    fn quicken(&mut self, opcode: usize, template: &Template) {
        let Linker { cursor, operands, .. } = self;
        let (here, opcode) = (operands.here(cursor), cursor.constant(Type::I8, opcode as u64));
        cursor.store(here, opcode);
        // If it has none itself, its own has not run. Then there may be no entry.
        if template.does(Deed::HasSlowPath)
            && let Some(entry) = operands.slow_entry(cursor)
        {
            let no = cursor.constant(Type::I8, 0);
            cursor.store(entry, no);
        }
    }

    pub(super) fn value(&self, value: Ref) -> Node {
        self.scratch.values[value as usize]
    }

    /// Defines the next of the template's values.
    pub(super) fn define(&mut self, value: Node) {
        self.scratch.values.push(value);
    }

    fn call(
        &mut self,
        NativeCall { callee, args, signature, memory }: NativeCall,
        (throws, catches): (bool, bool),
        effect: Effect,
    ) {
        self.operands.before_call(&mut self.cursor, effect);
        let Linker { cursor, scratch, .. } = self;
        let LinkScratch { inputs, values, .. } = &mut **scratch;
        inputs.clear();
        let target = match callee {
            Callee::Known(address) => CallTarget::Direct(address.0 as u64),
            Callee::Value(value) => {
                inputs.push(values[value as usize]);
                CallTarget::Indirect
            }
        };
        inputs.extend(args.iter().map(|&arg| values[arg as usize]));
        let (op, returned) = match signature.ret {
            // The bits of the result, or the failure, are in registers for integers.
            _ if catches => (Op::TRY_CALL, Type::I64),
            _ if throws => (Op::CALL_OR_FAIL, Type::I64),
            Type::Void => (Op::CALLV, Type::Void),
            ty => (Op::CALL, ty),
        };
        let call = cursor.call_data(CallData {
            target,
            signature: Signature { ret: returned, ..signature },
            effect,
            memory,
        });
        let node = cursor.push(op, Sig { from: Type::Void, ty: returned }, inputs, call);
        if signature.ret != Type::Void {
            let node = if throws { cursor.bits_as(node, signature.ret) } else { node };
            values.push(node);
        }
        if catches {
            values.push(cursor.failure(node));
        }
        self.after_call(effect);
    }

    /// Starts a block of the template.
    fn start(&mut self, block: BlockRef, params: &[Type], cold: bool) {
        debug_assert!(!self.cursor.is_reached(), "the block before {block} is closed");
        self.block(block);
        let Linker { cursor, operands, scratch, .. } = self;
        let local = &mut scratch.blocks[block as usize];
        local.first_param = scratch.values.len() as u32;
        local.params = params.len() as u32;
        local.is_loop = local.awaited > 0 || cursor.graph.block(local.block).preds.is_empty();
        if cold {
            cursor.graph.blocks[local.block.at()].heat = Heat::Cold;
        }
        // Behind a check that is decided, or a path that was left out, most blocks have a single edge.
        if !local.is_loop && cursor.reopen(local.block) {
            let arguments = scratch.args.iter().filter(|(to, _)| *to == block).map(|(_, value)| *value);
            scratch.values.extend(arguments);
            local.params = 0;
            return operands.start(cursor, local);
        }
        for &ty in params {
            let param = cursor.graph.add_param(local.block, ty, cursor.at);
            scratch.values.push(param);
        }
        cursor.block = local.block;
        operands.start(cursor, local);
    }

    fn jump(&mut self, block: BlockRef, args: &[Ref]) {
        let LinkScratch { values, args: all, .. } = &mut *self.scratch;
        all.extend(args.iter().map(|&arg| (block, values[arg as usize])));
        let to = self.block(block);
        self.cursor.jump(to);
        self.edge(block);
        self.linked(block);
    }

    fn branch(&mut self, flag: Ref, then: BlockRef, otherwise: BlockRef, likelihood: Likelihood) {
        if let Some(holds) = self.operands.decides(&self.cursor, self.value(flag)) {
            let (taken, left) = if holds { (then, otherwise) } else { (otherwise, then) };
            let to = self.block(taken);
            self.cursor.jump(to);
            self.edge(taken);
            self.linked(taken);
            return self.linked(left);
        }
        let [to_then, to_otherwise] = [then, otherwise].map(|block| self.block(block));
        self.cursor.branch(self.value(flag), to_then, to_otherwise);
        let cold = match likelihood {
            Likelihood::Likely => Some(to_otherwise),
            Likelihood::Unlikely => Some(to_then),
            Likelihood::FirstCase => (!O::IS_FUNCTION).then_some(to_otherwise),
            Likelihood::Even => None,
        };
        if let Some(cold) = cold {
            self.cursor.graph.blocks[cold.at()].heat = Heat::Cold;
        }
        self.edge(then);
        self.edge(otherwise);
        self.linked(then);
        self.linked(otherwise);
    }

    fn edge(&mut self, to: BlockRef) {
        self.operands.edge(&mut self.cursor, &self.scratch.blocks[to as usize]);
    }

    /// Notes that one more edge into a block of the template is linked.
    fn linked(&mut self, block: BlockRef) {
        let local = &mut self.scratch.blocks[block as usize];
        local.awaited -= 1;
        if local.awaited == 0 && local.is_loop {
            self.operands.seal(&mut self.cursor, local);
        }
    }

    /// Sets the inputs of the blocks' parameters to the arguments of the jumps.
    fn complete_params(&mut self) {
        let LinkScratch { values, blocks, args, inputs, .. } = &mut *self.scratch;
        for block in blocks {
            for param in 0..block.params {
                let node = values[(block.first_param + param) as usize];
                let of_block = args.iter().filter(|(to, _)| *to == block.number);
                let of_jumps = of_block.map(|(_, value)| *value);
                inputs.clear();
                inputs.extend(of_jumps.skip(param as usize).step_by(block.params as usize));
                self.cursor.graph.set_inputs(node, inputs);
            }
        }
    }
}

impl LocalBlock {
    fn new(number: BlockRef) -> LocalBlock {
        LocalBlock { number, block: Block::NONE, awaited: 0, is_loop: false, first_param: 0, params: 0 }
    }
}
