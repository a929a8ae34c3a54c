//! Blocks, and the jumps out of them.
//!
//! A jump to what comes later leaves a hole, which the end of the block fills. What a jump carries is moved to where the block has
//! it: down the stack, so that nothing is overwritten before it was moved.

use super::stack::{Place, for_kind};
use super::{Kinds, Translator, kinds};
use crate::Error;
use crate::bytecode::{Compare, Kind, Op};
use azulejo::prelude::*;
use std::collections::HashMap;
use wasmparser::{BlockType, BrTable};

/// Whether to jump: if a register is not zero, or if a comparison holds of a register and another one or a constant.
#[derive(Clone, Copy)]
pub(super) enum Condition {
    Flag(u32),
    Compare(&'static Compare, u32, u32),
    CompareConst(&'static Compare, u32, u64),
}

/// Where a position of the code has to be put in once it is known.
pub(super) enum Hole {
    Op(usize),
    Label(usize),
}

/// A `block`, `loop` or `if` that is open; the outermost one is the function.
pub(super) struct Frame {
    /// What a jump to it carries, and what is on the stack behind its end.
    pub(super) carried: Kinds,
    pub(super) results: Kinds,
    pub(super) parameters: Kinds,
    /// How much is on the stack below its parameters.
    pub(super) height: usize,
    /// A loop's start; jumps to anything else go to its end.
    pub(super) start: Option<u32>,
    /// Where its end has to be put in.
    pub(super) holes: Vec<Hole>,
    /// The jump of an `if` to its `else`, until that comes.
    pub(super) otherwise: Option<Hole>,
}

impl Translator<'_> {
    /// The parameters and results of a block.
    pub(super) fn block_type(&self, ty: BlockType) -> (Kinds, Kinds) {
        match ty {
            BlockType::Empty => Default::default(),
            BlockType::Type(ty) => (Kinds::default(), kinds(&[ty])),
            BlockType::FuncType(ty) => {
                let ty = &self.names.parts.types[ty as usize];
                (kinds(ty.params()), kinds(ty.results()))
            }
        }
    }

    /// Opens a frame whose parameters are on the stack.
    pub(super) fn open(&mut self, parameters: Kinds, results: Kinds, start: Option<u32>) {
        let carried = if start.is_some() { parameters.clone() } else { results.clone() };
        let height = self.stack.len() - parameters.len();
        let (holes, otherwise) = (Vec::new(), None);
        self.frames.push(Frame { carried, results, parameters, height, start, holes, otherwise });
    }

    pub(super) fn fill(&mut self, hole: Hole, position: u32) {
        match hole {
            Hole::Label(at) => self.labels[at] = position,
            Hole::Op(at) => *self.ops[at].target().expect("only jumps have such holes") = Label(position),
        }
    }

    /// Emits a jump whose target comes later.
    pub(super) fn jump(&mut self, jump: Op) -> Hole {
        self.emit(jump);
        Hole::Op(self.ops.len() - 1)
    }

    /// What the jump that is next depends on.
    pub(super) fn pop_condition(&mut self) -> Condition {
        match self.condition.take() {
            Some(condition) => condition,
            None => Condition::Flag(self.pop()),
        }
    }

    /// Emits a jump that is made if a condition holds, or if it does not; its target comes later.
    pub(super) fn jump_if(&mut self, condition: Condition, holds: bool) -> Hole {
        let to = Label(0);
        let wanted = |compare: &'static Compare| if holds { Some(compare) } else { compare.opposite };
        let op = match condition {
            Condition::Flag(flag) if holds => Op::GotoIf { flag: flag.into(), to },
            Condition::Flag(flag) => Op::GotoUnless { flag: flag.into(), to },
            Condition::Compare(compare, a, b) => match wanted(compare) {
                Some(compare) => (compare.goto)(a, b, to),
                None => {
                    let flag = self.register(self.stack.len());
                    self.emit((compare.value)(flag, a, b));
                    return self.jump_if(Condition::Flag(flag), holds);
                }
            },
            Condition::CompareConst(compare, a, b) => {
                let goto = wanted(compare).and_then(|compare| compare.goto_const);
                goto.expect("integers are compared with constants")(a, b, to)
            }
        };
        self.jump(op)
    }

    /// Has jumps go to the frame that is so many levels out.
    pub(super) fn aim(&mut self, depth: u32, hole: Hole) {
        let at = self.frames.len() - 1 - depth as usize;
        match self.frames[at].start {
            None => self.frames[at].holes.push(hole),
            Some(start) => self.fill(hole, start),
        }
    }

    /// Whether what a jump carries is where it has to be.
    pub(super) fn is_in_place(&self, depth: u32) -> bool {
        let frame = &self.frames[self.frames.len() - 1 - depth as usize];
        let count = frame.carried.len();
        let height = self.stack.len() - count;
        count == 0
            || height == frame.height && self.stack[height..].iter().all(|value| value.place == Place::Here)
    }

    /// Jumps out of so many frames, with the topmost values.
    pub(super) fn branch(&mut self, depth: u32) {
        let at = self.frames.len() - 1 - depth as usize;
        if at == 0 {
            return self.give_back();
        }
        let (count, to) = (self.frames[at].carried.len(), self.frames[at].height);
        let from = self.stack.len() - count;
        // They move down, if at all: none is overwritten before it was moved.
        (0..count).for_each(|at| self.put(self.stack[from + at], from + at, self.register(to + at)));
        let hole = self.jump(Op::Goto { to: Label(0) });
        self.aim(depth, hole);
    }

    /// Returns the topmost values.
    pub(super) fn give_back(&mut self) {
        let count = self.frames[0].results.len();
        let height = self.stack.len() - count;
        let registers: Vec<u32> = (height..height + count).map(|height| self.readable(height)).collect();
        for (index, &a) in registers.iter().enumerate().skip(1) {
            self.emit(Op::Give { index: Imm(index as u32), a: a.into() });
        }
        self.emit(match registers.first() {
            None => Op::Return {},
            Some(&a) => {
                for_kind!(self.frames[0].results[0], ReturnI32 ReturnI64 ReturnF32 ReturnF64 { a })
            }
        });
    }

    /// Control does not come here.
    pub(super) fn stop(&mut self) {
        self.is_reachable = false;
    }

    /// The middle of an `if`.
    pub(super) fn otherwise(&mut self) {
        if self.is_reachable {
            self.leave_block();
        }
        let frame = self.frames.last_mut().expect("the body is valid");
        let hole = frame.otherwise.take().expect("the body is valid");
        let (height, parameters) = (frame.height, frame.parameters.clone());
        self.fill(hole, self.here());
        self.resume(height, parameters);
    }

    /// Goes to the end of the innermost frame.
    pub(super) fn leave_block(&mut self) {
        self.settle();
        let hole = self.jump(Op::Goto { to: Label(0) });
        self.aim(0, hole);
    }

    /// The end of the innermost frame.
    pub(super) fn end(&mut self) {
        if self.frames.len() == 1 {
            return self.end_function();
        }
        if self.is_reachable {
            self.settle();
        }
        let frame = self.frames.pop().expect("the body is valid");
        let here = self.here();
        let is_met = self.is_reachable || !frame.holes.is_empty() || frame.otherwise.is_some();
        frame.holes.into_iter().chain(frame.otherwise).for_each(|hole| self.fill(hole, here));
        self.resume(frame.height, frame.results);
        self.is_reachable = is_met;
    }

    pub(super) fn end_function(&mut self) {
        let has_jumps = !self.frames[0].holes.is_empty();
        if self.is_reachable {
            if has_jumps {
                self.settle();
            }
        } else if !has_jumps {
            return;
        } else {
            let results = self.frames[0].results.clone();
            self.resume(0, results);
        }
        let (here, holes) = (self.here(), std::mem::take(&mut self.frames[0].holes));
        holes.into_iter().for_each(|hole| self.fill(hole, here));
        self.give_back();
    }

    /// Goes on with these values on the stack above a height.
    pub(super) fn resume(&mut self, height: usize, values: Kinds) {
        self.truncate(height);
        values.iter().for_each(|kind| self.push(*kind, Place::Here));
        self.is_reachable = true;
    }

    pub(super) fn br_if(&mut self, depth: u32) {
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

    pub(super) fn br_table(&mut self, targets: &BrTable<'_>) -> Result<(), Error> {
        let value = self.pop().into();
        let mut depths = targets.targets().collect::<Result<Vec<u32>, _>>()?;
        depths.push(targets.default());
        let first = self.labels.len();
        let table = Labels { first: first as u32, count: depths.len() as u32 };
        self.emit(Op::Switch { value, table });
        self.labels.resize(first + depths.len(), 0);
        // Where values have to be moved there is a jump of its own, one for each target.
        let mut moved: HashMap<u32, u32> = HashMap::new();
        for (at, depth) in depths.into_iter().enumerate() {
            let hole = Hole::Label(first + at);
            if self.is_in_place(depth) {
                self.aim(depth, hole);
            } else if let Some(&there) = moved.get(&depth) {
                self.labels[first + at] = there;
            } else {
                moved.insert(depth, self.here());
                self.fill(hole, self.here());
                self.branch(depth);
            }
        }
        self.stop();
        Ok(())
    }
}
