//! Blocks, and jumps out of them.
//!
//! A forward jump leaves a hole, which is filled at the end of the block. The values that a jump carries are moved to the block's
//! stack height. They move down the stack, so no value is overwritten before it was moved.

use super::Translator;
use super::stack::{StackValue, ValuePlace, for_kind};
use crate::bytecode::{Compare, Kind, Op};
use azulejo::prelude::*;
use wasmparser::{BlockType, BrTable, ValType};

/// The condition of a jump: a register is not zero, or a comparison of a register with another one or a constant is true.
#[derive(Clone, Copy)]
pub(super) enum Condition {
    Flag(u32),
    Compare(&'static Compare, u32, u32),
    CompareConst(&'static Compare, u32, u64),
}

/// A place in the code that a position must be filled into: `2 * n` is the target of jump `n`, and `2 * n + 1` is entry `n` of
/// the list of labels. Until it is filled, it contains the next hole of a linked list of holes with the same target.
#[derive(Clone, Copy, PartialEq)]
pub(super) struct Hole(u32);

impl Hole {
    const NONE: Hole = Hole(u32::MAX);
}

/// An open `block`, `loop` or `if`. The outermost frame is the function.
pub(super) struct ControlFrame {
    ty: BlockType,
    /// The stack height below its parameters.
    height: usize,
    /// The start of a loop, which is its target. Other frames are left at their ends.
    start: Option<u32>,
    /// The head of the list of jumps to its end.
    jumps: Hole,
    /// The jump of an `if` to its `else`, until the `else` comes.
    otherwise: Hole,
    /// The position of the last code that moves values and then jumps to this frame's target, on behalf of a label.
    stand_in: u32,
}

impl ControlFrame {
    pub(super) fn new(ty: BlockType, height: usize, start: Option<u32>) -> ControlFrame {
        ControlFrame { ty, height, start, jumps: Hole::NONE, otherwise: Hole::NONE, stand_in: 0 }
    }
}

impl<'a> Translator<'a> {
    fn parameters(&self, ty: BlockType) -> &'a [ValType] {
        match ty {
            BlockType::FuncType(ty) => self.names.parts.types[ty as usize].params(),
            _ => &[],
        }
    }

    fn results(&self, ty: BlockType) -> &'a [ValType] {
        match ty {
            BlockType::Empty => &[],
            BlockType::Type(ValType::I32) => &[ValType::I32],
            BlockType::Type(ValType::F32) => &[ValType::F32],
            BlockType::Type(ValType::F64) => &[ValType::F64],
            // References are represented as integers.
            BlockType::Type(_) => &[ValType::I64],
            BlockType::FuncType(ty) => self.names.parts.types[ty as usize].results(),
        }
    }

    fn frame(&mut self, depth: u32) -> &mut ControlFrame {
        let at = self.frames.len() - 1 - depth as usize;
        &mut self.frames[at]
    }

    /// The number of values that a jump to the frame at a depth carries, and the stack height that they move to.
    fn carried(&self, depth: u32) -> (usize, usize) {
        let ControlFrame { ty, height, start, .. } = self.frames[self.frames.len() - 1 - depth as usize];
        let types = if start.is_some() { self.parameters(ty) } else { self.results(ty) };
        (types.len(), height)
    }

    /// Opens a frame. Its parameters are on the stack, in their registers.
    fn open(&mut self, ty: BlockType, start: Option<u32>) {
        let height = self.stack.len() - self.parameters(ty).len();
        self.frames.push(ControlFrame::new(ty, height, start));
    }

    pub(super) fn visit_block(&mut self, ty: BlockType) {
        self.settle();
        self.open(ty, None);
    }

    pub(super) fn visit_loop(&mut self, ty: BlockType) {
        self.settle();
        self.open(ty, Some(self.here()));
    }

    pub(super) fn visit_if(&mut self, ty: BlockType) {
        let condition = self.pop_condition();
        self.settle();
        let hole = self.jump_if(condition, false);
        self.open(ty, None);
        self.frame(0).otherwise = hole;
    }

    fn hole(&mut self, Hole(hole): Hole) -> &mut u32 {
        let at = hole as usize / 2;
        match hole % 2 {
            0 => &mut self.ops[at].target().expect("only jumps have such holes").0,
            _ => &mut self.labels[at],
        }
    }

    /// Fills a hole, and all others in its list.
    fn fill(&mut self, mut hole: Hole, position: u32) {
        while hole != Hole::NONE {
            hole = Hole(std::mem::replace(self.hole(hole), position));
        }
    }

    /// Emits a forward jump.
    fn jump(&mut self, op: impl FnOnce(Label) -> Op) -> Hole {
        let hole = Hole(self.here() * 2);
        self.emit(op(Label(Hole::NONE.0)));
        hole
    }

    /// The condition of the next jump.
    fn pop_condition(&mut self) -> Condition {
        match self.condition.take() {
            Some(condition) => condition,
            None => Condition::Flag(self.pop()),
        }
    }

    /// Emits a forward jump that is taken if a condition is true, or if it is false.
    fn jump_if(&mut self, condition: Condition, holds: bool) -> Hole {
        let wanted = |compare: &'static Compare| if holds { Some(compare) } else { compare.opposite };
        match condition {
            Condition::Flag(flag) if holds => self.jump(|to| Op::GotoIf { flag: flag.into(), to }),
            Condition::Flag(flag) => self.jump(|to| Op::GotoUnless { flag: flag.into(), to }),
            Condition::Compare(compare, a, b) => match wanted(compare) {
                Some(compare) => self.jump(|to| (compare.goto)(a, b, to)),
                None => {
                    let flag = self.register(self.stack.len());
                    self.emit((compare.value)(flag, a, b));
                    self.jump_if(Condition::Flag(flag), holds)
                }
            },
            Condition::CompareConst(compare, a, b) => {
                let goto = wanted(compare).and_then(|compare| compare.goto_const);
                self.jump(|to| goto.expect("integers are compared with constants")(a, b, to))
            }
        }
    }

    /// Targets a hole at the frame at a depth.
    fn aim(&mut self, depth: u32, hole: Hole) {
        let frame = self.frame(depth);
        let position = match frame.start {
            Some(start) => start,
            None => std::mem::replace(&mut frame.jumps, hole).0,
        };
        *self.hole(hole) = position;
    }

    /// Whether the values that a jump carries are in the right registers already.
    fn is_in_place(&self, depth: u32) -> bool {
        let (count, to) = self.carried(depth);
        let from = self.stack.len() - count;
        let is_here = |value: &StackValue| matches!(value.place, ValuePlace::Here(_));
        count == 0 || from == to && self.stack[from..].iter().all(is_here)
    }

    /// Jumps to the frame at a depth, with the topmost values.
    fn branch(&mut self, depth: u32) {
        if depth as usize == self.frames.len() - 1 {
            return self.give_back();
        }
        let (count, to) = self.carried(depth);
        let from = self.stack.len() - count;
        // Values only move down, so none is overwritten before it was moved.
        (0..count).for_each(|at| self.put(self.stack[from + at], from + at, self.register(to + at)));
        let hole = self.jump(|to| Op::Goto { to });
        self.aim(depth, hole);
    }

    /// Returns the topmost values.
    fn give_back(&mut self) {
        let types = self.results(self.frames[0].ty);
        let height = self.stack.len() - types.len();
        for index in 1..types.len() {
            let a = self.readable(height + index).into();
            self.emit(Op::Give { index: Imm(index as u32), a });
        }
        let op = match types.first() {
            None => Op::Return {},
            Some(&ty) => {
                let a = self.readable(height);
                for_kind!(Kind::from(ty), ReturnI32 ReturnI64 ReturnF32 ReturnF64 { a })
            }
        };
        self.emit(op);
    }

    /// Marks the following code as unreachable.
    pub(super) fn stop(&mut self) {
        self.is_reachable = false;
    }

    /// Ends the first arm of an `if`.
    pub(super) fn visit_else(&mut self) {
        if self.is_reachable {
            self.settle();
            let hole = self.jump(|to| Op::Goto { to });
            self.aim(0, hole);
        }
        let position = self.here();
        let frame = self.frame(0);
        let otherwise = std::mem::replace(&mut frame.otherwise, Hole::NONE);
        let (height, ty) = (frame.height, frame.ty);
        self.fill(otherwise, position);
        self.resume(height, self.parameters(ty));
    }

    /// Ends the innermost frame.
    pub(super) fn visit_end(&mut self) {
        let is_met = self.frame(0).jumps != Hole::NONE || self.frame(0).otherwise != Hole::NONE;
        if self.is_reachable && (is_met || self.frames.len() > 1) {
            self.settle();
        }
        let position = self.here();
        let ControlFrame { ty, height, jumps, otherwise, .. } = *self.frame(0);
        self.fill(jumps, position);
        self.fill(otherwise, position);
        let is_reachable = self.is_reachable || is_met;
        if self.frames.len() > 1 {
            self.resume(height, self.results(ty));
            self.frames.pop();
        } else if is_reachable {
            if !self.is_reachable {
                self.resume(height, self.results(ty));
            }
            self.give_back();
        }
        self.is_reachable = is_reachable;
    }

    /// Continues with these values on the stack above a height, in their registers.
    pub(super) fn resume(&mut self, height: usize, types: &[ValType]) {
        self.truncate(height);
        self.push_all(types);
        self.is_reachable = true;
    }

    pub(super) fn visit_br(&mut self, depth: u32) {
        self.branch(depth);
        self.stop();
    }

    pub(super) fn visit_br_if(&mut self, depth: u32) {
        let condition = self.pop_condition();
        if self.is_in_place(depth) {
            let hole = self.jump_if(condition, true);
            self.aim(depth, hole);
        } else {
            let skip = self.jump_if(condition, false);
            self.branch(depth);
            self.fill(skip, self.here());
        }
    }

    pub(super) fn visit_br_table(&mut self, targets: BrTable<'_>) {
        let value = self.pop().into();
        let switch = self.here();
        let (first, count) = (self.labels.len() as u32, targets.len() + 1);
        self.emit(Op::Switch { value, table: Labels { first, count } });
        self.labels.resize(self.labels.len() + count as usize, Hole::NONE.0);
        let depths = targets.targets().chain([Ok(targets.default())]);
        for (label, depth) in (first..).zip(depths) {
            let (hole, depth) = (Hole(label * 2 + 1), depth.expect("the body is valid"));
            if self.is_in_place(depth) {
                self.aim(depth, hole);
                continue;
            }
            // The values must be moved first, so the label points to a separate jump, one for each target.
            if self.frame(depth).stand_in <= switch {
                self.frame(depth).stand_in = self.here();
                self.branch(depth);
            }
            let position = self.frame(depth).stand_in;
            self.fill(hole, position);
        }
        self.stop();
    }

    pub(super) fn visit_return(&mut self) {
        self.give_back();
        self.stop();
    }
}
