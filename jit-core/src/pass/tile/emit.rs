//! Emit the chosen tiles in order.
//!
//! In: the chosen tiles, and the schedule. Out: a [`TileList`].

use super::{Chosen, Marks, OpFacts, Scratch, Split, fixed_operands};
use crate::grammar::TileSet;
use crate::grammar::pattern::Symbol;
use crate::ir::graph::{Access, Graph};
use crate::ir::index::{Block, InstId, List, Node, Vreg};
use crate::ir::schedule::{Schedule, ScheduledBlock};
use crate::ir::state::{Saved, SavedValue, TileState};
use crate::ir::tiles::{
    Constraint, Edge, FaultSite, Inst, Operand, Role, TileBlock, TileId, TileList, resolve,
};
use crate::target::{Reg, RegSet, RegisterFile};
use crate::vocab::{Class, Op, Props, Sig, Type};
use core::cmp::Reverse;

/// Fills the tile list.
pub(super) fn emit(
    scratch: &mut Scratch,
    graph: &Graph,
    schedule: &Schedule,
    set: &TileSet,
    regs: &RegisterFile,
    out: &mut TileList,
) {
    out.clear();
    out.position.resize(graph.blocks.len(), u32::MAX);
    out.loops.clone_from(&schedule.loops);
    out.boxes = graph.states.boxes;
    out.inlining.clone_from(&graph.states.inlining);
    out.states.resize(graph.states.all.len(), TileState { to: 0, saved: List::EMPTY, frame: 0 });
    number_ways(scratch, graph, schedule);
    let mut emitter = Emitter { scratch, graph, schedule, set, regs, out, uses_frame: false };
    let n_hot = schedule.blocks.partition_point(|block| !block.cold);
    schedule.blocks[..n_hot].iter().for_each(|block| emitter.block(block));
    emitter.sort_late();
    for block in &schedule.blocks[n_hot..] {
        emitter.split_into(block.block);
        emitter.block(block);
    }
}

/// Finds the index of each outgoing edge among its target's predecessors, which is also the index of its arguments.
fn number_ways(scratch: &mut Scratch, graph: &Graph, schedule: &Schedule) {
    let Scratch { ways, first_way, .. } = scratch;
    first_way.clear();
    first_way.resize(graph.blocks.len(), 0);
    let mut count = 0;
    for block in &schedule.blocks {
        first_way[block.block.at()] = count;
        count += graph.block(block.block).succs.len() as u32;
    }
    ways.clear();
    ways.resize(count as usize, 0);
    for block in &schedule.blocks {
        for (at, pred) in graph.block(block.block).preds.iter().enumerate() {
            if schedule.position[pred.block.at()] != u32::MAX {
                ways[(first_way[pred.block.at()] + pred.succ) as usize] = at as u32;
            }
        }
    }
}

struct Emitter<'a> {
    scratch: &'a mut Scratch,
    graph: &'a Graph,
    schedule: &'a Schedule,
    set: &'a TileSet,
    regs: &'a RegisterFile,
    out: &'a mut TileList,
    /// Whether an instruction of the block so far uses the frame.
    uses_frame: bool,
}

impl Emitter<'_> {
    fn block(&mut self, block: &ScheduledBlock) {
        let data = self.graph.block(block.block);
        let params = List { start: self.out.args.len() as u32, len: data.params.len() as u32 };
        for param in &data.params {
            let vreg = self.vreg(*param);
            self.out.args.push(vreg);
        }
        let first = self.out.insts.len() as u32;
        if block.block == Graph::ENTRY {
            self.entry();
        }
        for &node in self.schedule.nodes(block) {
            // Flags are emitted by their consumers.
            let chosen = self.scratch.labels[node.at()].chosen;
            if chosen == u32::MAX || self.graph.node(node).ty() == Type::Flag {
                continue;
            }
            let is_second =
                self.scratch.facts[self.graph.node(node).op.0 as usize].contains(OpFacts::IS_SECOND);
            let tile = self.scratch.chosen[chosen as usize].tile;
            if !is_second && !self.set.tiles[tile as usize].entry {
                self.inst(node);
            }
        }
        let insts = List { start: first, len: self.out.insts.len() as u32 - first };
        let uses_frame = core::mem::take(&mut self.uses_frame);
        self.close(TileBlock {
            block: block.block,
            insts,
            params,
            edges: List::EMPTY,
            inner: block.inner,
            cold: block.cold,
            uses_frame,
            framed: true,
        });
        self.edges(block);
    }

    fn close(&mut self, block: TileBlock) {
        self.out.position[block.block.at()] = self.out.blocks.len() as u32;
        self.out.blocks.push(block);
    }

    /// Adds the outgoing edges of the block that was just closed. Inserts a block on each edge that is critical, or has
    /// arguments and is not the only one.
    fn edges(&mut self, block: &ScheduledBlock) {
        let closed = self.out.blocks.len() - 1;
        let succs = &self.graph.block(block.block).succs;
        let edges = List { start: self.out.edges.len() as u32, len: succs.len() as u32 };
        self.out.blocks[closed].edges = edges;
        // All edges of this block come first, so that they are contiguous; then the blocks inserted on them.
        let mut splits = 0;
        for (succ, &to) in succs.iter().enumerate() {
            let target = self.graph.block(to);
            let simple = succs.len() == 1 || target.params.is_empty() && target.preds.len() == 1;
            if simple {
                let args = self.args(block.block, succ as u32, to);
                self.out.edges.push(Edge { to, args });
                continue;
            }
            let split = Block::from(self.out.position.len());
            self.out.position.push(u32::MAX);
            self.out.edges.push(Edge { to: split, args: List::EMPTY });
            splits += 1;
            let scheduled = self.schedule.block(to);
            self.scratch.late.push(Split {
                block: split,
                from: block.block,
                succ: succ as u32,
                inner: self.out.loop_around(block.inner, scheduled.inner),
                origin: self.graph.node(self.graph.block(block.block).end).origin,
            });
        }
        // Blocks on edges into hot blocks follow immediately, as do those on edges of cold blocks; the others stand before the cold
        // blocks that they lead to.
        let mut at = self.scratch.late.len() - splits;
        while at < self.scratch.late.len() {
            let split = self.scratch.late[at];
            let to = split.to(self.graph);
            if block.cold || !self.schedule.block(to).cold {
                self.scratch.late.remove(at);
                self.split(split, block.cold);
            } else {
                at += 1;
            }
        }
    }

    /// Sorts the edges that wait, so that those into the first cold block come last.
    fn sort_late(&mut self) {
        let Emitter { graph, schedule, .. } = *self;
        self.scratch.late.sort_by_key(|split| Reverse(schedule.position[split.to(graph).at()]));
    }

    /// Emits the blocks on edges from hot code into a cold block, which follows. So a value that is in memory for a slow path is in cold
    /// code only there, and slots are used again from one slow path to the next.
    fn split_into(&mut self, to: Block) {
        while let Some(split) = self.scratch.late.pop_if(|split| split.to(self.graph) == to) {
            self.split(split, true);
        }
    }

    /// Emits a block that only jumps.
    fn split(&mut self, split: Split, cold: bool) {
        let to = split.to(self.graph);
        let insts = List { start: self.out.insts.len() as u32, len: 1 };
        let sig = Sig { from: Type::Void, ty: Type::Void };
        let form =
            self.scratch.forms[(Op::JUMP.0 as usize) << 6 | crate::grammar::flatten::pack(sig) as usize];
        let state = self.set.state(&self.set.ops[form.table as usize], Default::default());
        let rule = self.set.rule(state, Symbol::Void as u16);
        let tile = TileId(self.set.rules[rule as usize].tile);
        self.out.insts.push(Inst {
            tile,
            sig,
            operands: List { start: self.out.operands.len() as u32, len: 0 },
            imms: List { start: self.out.imms.len() as u32, len: 0 },
            clobbers: RegSet::EMPTY,
            node: Node::NONE,
            origin: split.origin,
        });
        let args = self.args(split.from, split.succ, to);
        let edges = List::push(&mut self.out.edges, &[Edge { to, args }]);
        let params = List { start: self.out.args.len() as u32, len: 0 };
        self.close(TileBlock {
            block: split.block,
            insts,
            params,
            edges,
            inner: split.inner,
            cold,
            uses_frame: false,
            framed: true,
        });
    }

    /// The arguments of an edge of the graph.
    fn args(&mut self, from: Block, succ: u32, to: Block) -> List {
        let way = self.scratch.ways[(self.scratch.first_way[from.at()] + succ) as usize] as usize;
        let start = self.out.args.len() as u32;
        for param in &self.graph.block(to).params {
            let vreg = self.vreg(self.graph.inputs(*param)[way]);
            self.out.args.push(vreg);
        }
        List { start, len: self.out.args.len() as u32 - start }
    }

    /// One instruction that defines all values that exist on entry, each in its register.
    fn entry(&mut self) {
        let Some(&first) = self.scratch.entries.first() else { return };
        let start = self.out.operands.len() as u32;
        for at in 0..self.scratch.entries.len() {
            let node = self.scratch.entries[at];
            let info = &self.set.tiles[self.chosen(node).tile as usize];
            let vreg = self.vreg(node);
            self.out.operands.push(Operand { vreg, role: info.role, constraint: info.out });
        }
        let tile = TileId(self.chosen(first).tile);
        let operands = List { start, len: self.out.operands.len() as u32 - start };
        self.push(tile, first, operands, self.out.imms.len() as u32, RegSet::EMPTY);
    }

    fn push(&mut self, tile: TileId, node: Node, operands: List, imms: u32, clobbers: RegSet) {
        let data = self.graph.node(node);
        let imms = List { start: imms, len: self.out.imms.len() as u32 - imms };
        let (sig, origin) = (data.sig, data.origin);
        self.out.insts.push(Inst { tile, sig, operands, imms, clobbers, node, origin });
    }

    fn chosen(&self, node: Node) -> Chosen {
        self.scratch.chosen[self.scratch.labels[node.at()].chosen as usize]
    }

    /// Whether a value is a constant that only this node uses, in the same block. With a result tied to it, it is one value with that:
    /// nothing is gained by making it anew.
    fn is_made_for(&self, value: Node, user: Node) -> bool {
        let [label, of_user] = [value, user].map(|node| self.scratch.labels[node.at()]);
        self.scratch.facts[self.graph.node(value).op.0 as usize].contains(OpFacts::IS_CONST)
            && !label.marks.contains(Marks::MULTI)
            && label.block == of_user.block
    }

    /// The virtual register of a node.
    fn vreg(&mut self, node: Node) -> Vreg {
        let known = self.scratch.vregs[node.at()];
        if known.is_some() {
            return known;
        }
        let data = self.graph.node(node);
        let vreg = match self.scratch.facts[data.op.0 as usize].contains(OpFacts::IS_CONST) {
            true => self.out.add_constant(data.ty(), data.imm),
            false => self.out.add_vreg(data.ty()),
        };
        self.scratch.vregs[node.at()] = vreg;
        vreg
    }

    /// Emits an instruction, after the one that makes the flag it consumes.
    fn inst(&mut self, node: Node) {
        let Chosen { tile, flag, fault, leaves, imms } = self.chosen(node);
        let info = &self.set.tiles[tile as usize];
        if flag.is_some() {
            self.inst(flag);
        }
        let first = self.out.operands.len() as u32;
        let mut clobbers = info.clobbers;
        if info.result.class().is_some() {
            let vreg = self.vreg(node);
            self.out.operands.push(Operand { vreg, role: info.role, constraint: info.out });
        }
        let second = self.second(node);
        for (at, described) in info.uses.iter().enumerate() {
            let leaf = self.scratch.leaves[leaves as usize + at];
            let vreg = self.vreg(leaf);
            if info.out == Constraint::Tied(at as u8 + 1) && self.is_made_for(leaf, node) {
                self.out.vregs[vreg.at()].constant = u32::MAX;
            }
            let (role, constraint) = (described.role, described.constraint);
            self.out.operands.push(Operand { vreg, role, constraint });
        }
        let first_imm = self.out.imms.len() as u32;
        List::push(&mut self.out.imms, &self.scratch.imms[imms as usize..][..info.imms as usize]);
        if self.scratch.facts[self.graph.node(node).op.0 as usize].contains(OpFacts::IS_CALL) {
            clobbers = clobbers.union(self.call(node, first));
            second.into_iter().for_each(|reg| clobbers.remove(reg));
        }
        self.uses_frame |= info.framed;
        if self.scratch.facts[self.graph.node(node).op.0 as usize].contains(OpFacts::HAS_STATE) {
            self.state(node);
            self.uses_frame = true;
        }
        for temp in info.temps {
            let vreg = self.out.add_vreg(if *temp == Class::Int { Type::I64 } else { Type::F64 });
            self.out.operands.push(Operand { vreg, role: Role::Temp, constraint: Constraint::Reg });
        }
        let operands = List { start: first, len: self.out.operands.len() as u32 - first };
        if fault.is_some()
            && let Access::Within(code) = self.graph.access(fault)
        {
            let inst = InstId::from(self.out.insts.len());
            self.uses_frame = true;
            self.out.faults.push(FaultSite {
                inst,
                node: fault,
                code,
                origin: self.graph.node(fault).origin,
            });
        }
        self.push(TileId(tile), node, operands, first_imm, clobbers);
    }

    /// Adds the second result of a call, if it is used; returns its register.
    fn second(&mut self, call: Node) -> Option<Reg> {
        let (_, node) = self.scratch.seconds.pop_if(|(of, _)| *of == call)?;
        let info = &self.set.tiles[self.chosen(node).tile as usize];
        let vreg = self.vreg(node);
        self.out.operands.push(Operand { vreg, role: Role::Def, constraint: info.out });
        match info.out {
            Constraint::Fixed(reg) => Some(reg),
            _ => None,
        }
    }

    /// Adds a frame state, and its values as operands.
    fn state(&mut self, node: Node) {
        let Some((state, registers)) = self.graph.state(node) else { return };
        let [pointer, values @ ..] = self.graph.inputs(node) else { return };
        let start = self.out.saved.len() as u32;
        let anywhere = |vreg| Operand { vreg, role: Role::Use, constraint: Constraint::Anywhere };
        let pointer = anywhere(self.vreg(*pointer));
        self.out.operands.push(pointer);
        for (&to, &value) in core::iter::zip(registers, values) {
            let known = self.graph.as_const(value).map(SavedValue::Constant);
            if known.is_none() {
                let operand = anywhere(self.vreg(value));
                self.out.operands.push(operand);
            }
            self.out.saved.push(Saved { to, value: known.unwrap_or(SavedValue::Operand) });
        }
        let saved = List { start, len: registers.len() as u32 };
        self.out.states[self.graph.node(node).imm as usize] =
            TileState { to: state.to, saved, frame: state.frame };
    }

    /// Adds a call's arguments by its convention; returns the registers that it clobbers.
    fn call(&mut self, node: Node, first: u32) -> RegSet {
        let data = self.graph.node(node);
        let signature = self.graph.calls[data.imm as usize].signature;
        let abi = (self.regs.abi)(resolve(signature.convention));
        let mut clobbers = abi.caller_saved;
        if data.ty().is_value() {
            let reg = if data.ty().is_float() { abi.float_ret } else { abi.int_ret };
            self.out.operands[first as usize].constraint = Constraint::Fixed(reg);
            clobbers.remove(reg);
        }
        let fixed = fixed_operands(self.graph, node);
        let mut taken = [0; 2];
        let mut stack = abi.shadow;
        for at in 0..data.inputs.len as usize - fixed {
            let argument = self.graph.inputs(node)[fixed + at];
            let class = signature.args[at].class();
            let registers = if class == Class::Int { abi.int_args } else { abi.float_args };
            let position = if abi.by_position { at } else { taken[class as usize] };
            let constraint = match registers.get(position) {
                Some(reg) => Constraint::Fixed(*reg),
                None => {
                    stack += 1;
                    Constraint::OutArg((stack - 1).into())
                }
            };
            taken[class as usize] += 1;
            let vreg = self.vreg(argument);
            self.out.operands.push(Operand { vreg, role: Role::Use, constraint });
        }
        self.out.out_args = self.out.out_args.max(stack);
        // A call that ends the function needs no frame.
        let comes_back = !self.graph.vocab.info(data.op).props.contains(Props::ENDS);
        self.out.has_calls |= comes_back;
        self.uses_frame |= comes_back;
        clobbers
    }
}
