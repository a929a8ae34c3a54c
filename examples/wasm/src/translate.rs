//! Translates a function body into bytecode.
//!
//! In: a valid body, and what its module's indices stand for in an instance. Out: bytecode over registers. Locals are
//! the first registers, and the operand stack has one register for each height behind them.
//!
//! What is on the stack need not be in its register. A local or a constant that was pushed is read where it is, until the
//! local is written or control flow meets: then it is copied. An instruction whose result goes to a local at once
//! writes it there. That is all the optimizing that is done here.

use crate::Error;
use crate::bytecode::{Kind, Op, Plain};
use crate::module::Parts;
use crate::runtime::{Global, Table};
use azulejo::prelude::*;
use std::collections::HashMap;
use std::sync::Arc;
use wasmparser::{BlockType, BrTable, FuncType, FunctionBody, Operator, ValType};

/// What the indices of a module stand for in an instance.
#[derive(Default)]
pub(crate) struct Names {
    pub(crate) parts: Arc<Parts>,
    /// The engine's numbers.
    pub(crate) functions: Vec<u32>,
    /// The store's numbers.
    pub(crate) types: Vec<u32>,
    pub(crate) globals: Vec<*const Global>,
    pub(crate) tables: Vec<*const Table>,
}

/// A function as the engine takes it.
pub(crate) struct Translation {
    pub(crate) code: Code<Op>,
    pub(crate) registers: u32,
}

/// Where a value on the stack is.
#[derive(Clone, Copy, PartialEq)]
enum Place {
    /// In the register of its height.
    Here,
    Local(u32),
    Constant(u64),
}

#[derive(Clone, Copy)]
struct Value {
    kind: Kind,
    place: Place,
}

/// Where a position of the code has to be put in once it is known.
enum Hole {
    Op(usize),
    Label(usize),
}

/// A `block`, `loop` or `if` that is open; the outermost one is the function.
struct Frame {
    /// What a jump to it carries, and what is on the stack behind its end.
    carried: Vec<Kind>,
    results: Vec<Kind>,
    parameters: Vec<Kind>,
    /// How much is on the stack below its parameters.
    height: usize,
    /// A loop's start; jumps to anything else go to its end.
    start: Option<u32>,
    /// Where its end has to be put in.
    holes: Vec<Hole>,
    /// The jump of an `if` to its `else`, until that comes.
    otherwise: Option<Hole>,
}

/// More values than this are not kept in locals: so writing a local never has to look at many.
const MOST_IN_LOCALS: usize = 32;

struct Translator<'a> {
    names: &'a Names,
    /// The kind of each local.
    locals: Vec<Kind>,
    stack: Vec<Value>,
    /// The heights of the values that are in locals, in order.
    in_locals: Vec<usize>,
    /// All values below this height are in their registers.
    settled: usize,
    frames: Vec<Frame>,
    is_reachable: bool,
    /// How many frames that control does not reach are open.
    skipped: usize,
    /// The local that the next instruction puts the top of the stack into.
    next_set: Option<u32>,
    /// The highest the stack was.
    highest: usize,
    ops: Vec<Op>,
    labels: Vec<u32>,
}

fn kinds(types: &[ValType]) -> Vec<Kind> {
    types.iter().map(|&ty| Kind::from(ty)).collect()
}

/// Translates a body of a module into bytecode.
pub(crate) fn translate(names: &Names, body: usize) -> Result<Translation, Error> {
    let parts = &*names.parts;
    let ty = parts.function_type((parts.imported_functions() + body) as u32);
    let mut locals = kinds(ty.params());
    let body = FunctionBody::new(parts.reader(&parts.bodies[body]));
    for local in body.get_locals_reader()? {
        let (count, ty) = local?;
        locals.resize(locals.len() + count as usize, ty.into());
    }
    let mut translator = Translator::new(names, locals, kinds(ty.results()));
    let mut operators = body.get_operators_reader()?;
    let mut operator = operators.read()?;
    loop {
        let next = if operators.eof() { None } else { Some(operators.read()?) };
        translator.next_set = match next {
            Some(Operator::LocalSet { local_index }) => Some(local_index),
            _ => None,
        };
        translator.operator(&operator)?;
        match next {
            // It was done.
            Some(Operator::LocalSet { .. }) if translator.next_set.is_none() => {
                operator = operators.read()?
            }
            Some(next) => operator = next,
            None => return Ok(translator.finish()),
        }
    }
}

/// The bytecode of a function of the host.
pub(crate) fn host(number: u32, ty: &FuncType) -> Translation {
    let names = Names::default();
    let results = kinds(ty.results());
    let mut translator = Translator::new(&names, Vec::new(), results.clone());
    let count = results.len().max(ty.params().len());
    translator.highest = count;
    let window = RegsMut { first: 0, count: count as u32 };
    translator.emit(Op::CallHost { host: Imm(number), window });
    results.into_iter().for_each(|kind| translator.push(kind, Place::Here));
    translator.end();
    translator.finish()
}

/// An opcode that there is for each kind of value.
macro_rules! for_kind {
    ($kind:expr, $($op:ident)* { $($field:ident),* }) => {
        for_kind!(@ $kind, [$($op)*] [I32 I64 F32 F64] ($($field),*))
    };
    (@ $kind:expr, [$($op:ident)*] [$($name:ident)*] $fields:tt) => {
        match $kind { $(Kind::$name => for_kind!(@@ $op $fields)),* }
    };
    (@@ $op:ident ($($field:ident),*)) => { Op::$op { $($field: $field.into()),* } };
}

fn copy(kind: Kind, dst: u32, a: u32) -> Op {
    for_kind!(kind, CopyI32 CopyI64 CopyF32 CopyF64 { dst, a })
}

fn constant(kind: Kind, dst: u32, bits: u64) -> Op {
    match kind {
        Kind::I32 => Op::ConstI32 { dst: dst.into(), value: Imm(bits as i32) },
        Kind::I64 => Op::ConstI64 { dst: dst.into(), value: Imm(bits as i64) },
        Kind::F32 => Op::ConstF32 { dst: dst.into(), value: Imm(bits as i32) },
        Kind::F64 => Op::ConstF64 { dst: dst.into(), value: Imm(bits as i64) },
    }
}

impl<'a> Translator<'a> {
    fn new(names: &'a Names, locals: Vec<Kind>, results: Vec<Kind>) -> Self {
        let mut translator = Translator {
            names,
            locals,
            stack: Vec::new(),
            in_locals: Vec::new(),
            settled: 0,
            frames: Vec::new(),
            is_reachable: true,
            skipped: 0,
            next_set: None,
            highest: 0,
            ops: Vec::new(),
            labels: Vec::new(),
        };
        translator.open(Vec::new(), results, None);
        translator
    }

    fn finish(self) -> Translation {
        let registers = (self.locals.len() + self.highest) as u32;
        Translation { code: Code { labels: self.labels, ..self.ops.into() }, registers }
    }

    fn emit(&mut self, op: Op) {
        self.ops.push(op);
    }

    fn here(&self) -> u32 {
        self.ops.len() as u32
    }

    /// The register of a height of the stack.
    fn register(&self, height: usize) -> u32 {
        (self.locals.len() + height) as u32
    }

    fn push(&mut self, kind: Kind, place: Place) {
        if let Place::Local(_) = place {
            if self.in_locals.len() == MOST_IN_LOCALS {
                self.settle();
            }
            self.in_locals.push(self.stack.len());
        }
        self.stack.push(Value { kind, place });
        self.highest = self.highest.max(self.stack.len());
    }

    /// Where the result of the instruction goes that is emitted next.
    fn result(&mut self, kind: Kind) -> u32 {
        match self.next_set.take() {
            Some(local) => {
                self.keep(local);
                local
            }
            None => {
                self.push(kind, Place::Here);
                self.register(self.stack.len() - 1)
            }
        }
    }

    fn pop_value(&mut self) -> Value {
        let value = *self.stack.last().expect("the body is valid");
        self.truncate(self.stack.len() - 1);
        value
    }

    /// The register in which the top of the stack is.
    fn pop(&mut self) -> u32 {
        let value = self.pop_value();
        let register = self.register(self.stack.len());
        match value.place {
            Place::Local(local) => return local,
            Place::Constant(bits) => self.emit(constant(value.kind, register, bits)),
            Place::Here => {}
        }
        register
    }

    /// Puts a value that is at this height of the stack into a register.
    fn put(&mut self, Value { kind, place }: Value, height: usize, register: u32) {
        let from = self.register(height);
        match place {
            Place::Constant(bits) => self.emit(constant(kind, register, bits)),
            Place::Local(local) if local != register => self.emit(copy(kind, register, local)),
            Place::Here if from != register => self.emit(copy(kind, register, from)),
            _ => {}
        }
    }

    /// Has a value of the stack in the register of its height.
    fn place(&mut self, height: usize) {
        self.put(self.stack[height], height, self.register(height));
        self.stack[height].place = Place::Here;
    }

    /// Copies what is on the stack of a local that is about to be written.
    fn keep(&mut self, local: u32) {
        for at in (0..self.in_locals.len()).rev() {
            let height = self.in_locals[at];
            if self.stack[height].place == Place::Local(local) {
                self.place(height);
                self.in_locals.remove(at);
            }
        }
    }

    /// Has every value in its register, as wherever control flow meets.
    fn settle(&mut self) {
        (self.settled..self.stack.len()).for_each(|height| self.place(height));
        self.in_locals.clear();
        self.settled = self.stack.len();
    }

    /// Has the topmost values in registers in a row, and takes them off the stack.
    fn arguments(&mut self, count: usize) -> Regs {
        let height = self.stack.len() - count;
        (height..self.stack.len()).for_each(|height| self.place(height));
        self.truncate(height);
        Regs { first: self.register(height), count: count as u32 }
    }

    fn truncate(&mut self, height: usize) {
        self.stack.truncate(height);
        self.settled = self.settled.min(height);
        while self.in_locals.last().is_some_and(|&last| last >= height) {
            self.in_locals.pop();
        }
    }

    /// The parameters and results of a block.
    fn block_type(&self, ty: BlockType) -> (Vec<Kind>, Vec<Kind>) {
        match ty {
            BlockType::Empty => (Vec::new(), Vec::new()),
            BlockType::Type(ty) => (Vec::new(), vec![ty.into()]),
            BlockType::FuncType(ty) => {
                let ty = &self.names.parts.types[ty as usize];
                (kinds(ty.params()), kinds(ty.results()))
            }
        }
    }

    /// Opens a frame whose parameters are on the stack.
    fn open(&mut self, parameters: Vec<Kind>, results: Vec<Kind>, start: Option<u32>) {
        let carried = if start.is_some() { parameters.clone() } else { results.clone() };
        let height = self.stack.len() - parameters.len();
        let (holes, otherwise) = (Vec::new(), None);
        self.frames.push(Frame { carried, results, parameters, height, start, holes, otherwise });
    }

    fn fill(&mut self, hole: Hole, position: u32) {
        match hole {
            Hole::Label(at) => self.labels[at] = position,
            Hole::Op(at) => match &mut self.ops[at] {
                Op::Goto { to } | Op::GotoIf { to, .. } | Op::GotoUnless { to, .. } => *to = Label(position),
                other => unreachable!("{other:?} goes nowhere"),
            },
        }
    }

    /// Emits a jump whose target comes later.
    fn jump(&mut self, jump: Op) -> Hole {
        self.emit(jump);
        Hole::Op(self.ops.len() - 1)
    }

    /// Has jumps go to the frame that is so many levels out.
    fn aim(&mut self, depth: u32, hole: Hole) {
        let at = self.frames.len() - 1 - depth as usize;
        match self.frames[at].start {
            None => self.frames[at].holes.push(hole),
            Some(start) => self.fill(hole, start),
        }
    }

    /// Whether what a jump carries is where it has to be.
    fn is_in_place(&self, depth: u32) -> bool {
        let frame = &self.frames[self.frames.len() - 1 - depth as usize];
        let count = frame.carried.len();
        let height = self.stack.len() - count;
        count == 0
            || height == frame.height && self.stack[height..].iter().all(|value| value.place == Place::Here)
    }

    /// Jumps out of so many frames, with the topmost values.
    fn branch(&mut self, depth: u32) {
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
    fn give_back(&mut self) {
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

    /// The register in which a value of the stack is, without taking it off.
    fn readable(&mut self, height: usize) -> u32 {
        let register = self.register(height);
        match self.stack[height].place {
            Place::Local(local) => return local,
            _ => self.put(self.stack[height], height, register),
        }
        register
    }

    /// Control does not come here.
    fn stop(&mut self) {
        self.is_reachable = false;
    }

    /// The middle of an `if`.
    fn otherwise(&mut self) {
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
    fn leave_block(&mut self) {
        self.settle();
        let hole = self.jump(Op::Goto { to: Label(0) });
        self.aim(0, hole);
    }

    /// The end of the innermost frame.
    fn end(&mut self) {
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

    fn end_function(&mut self) {
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
    fn resume(&mut self, height: usize, values: Vec<Kind>) {
        self.truncate(height);
        values.into_iter().for_each(|kind| self.push(kind, Place::Here));
        self.is_reachable = true;
    }

    fn br_if(&mut self, depth: u32) {
        let flag = self.pop().into();
        if self.is_in_place(depth) {
            let hole = self.jump(Op::GotoIf { flag, to: Label(0) });
            self.aim(depth, hole);
        } else {
            let skip = self.jump(Op::GotoUnless { flag, to: Label(0) });
            self.branch(depth);
            self.fill(skip, self.here());
        }
    }

    fn br_table(&mut self, targets: &BrTable<'_>) -> Result<(), Error> {
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

    fn set_local(&mut self, local: u32) {
        let height = self.stack.len() - 1;
        if self.stack[height].place == Place::Local(local) {
            return;
        }
        let value = self.pop_value();
        self.keep(local);
        self.put(value, height, local);
        self.push(value.kind, value.place);
    }

    /// Calls a function with the topmost values.
    fn call(
        &mut self,
        ty: &FuncType,
        op: impl FnOnce(Regs) -> Op,
        op_for: impl FnOnce(Out<i64>, Regs) -> Op,
    ) {
        let args = self.arguments(ty.params().len());
        match kinds(ty.results()).split_first() {
            None => self.emit(op(args)),
            Some((&first, others)) => {
                self.push(first, Place::Here);
                self.emit(op_for(args.first.into(), args));
                for (index, &kind) in others.iter().enumerate() {
                    self.push(kind, Place::Here);
                    let dst = self.register(self.stack.len() - 1).into();
                    self.emit(Op::Take { dst, index: Imm(index as u32 + 1) });
                }
            }
        }
    }

    /// The register with the number of the function that an element of a table is.
    fn callee(&mut self, table: u32, ty: u32) -> u32 {
        let index = self.pop().into();
        // Behind the arguments, where the index was.
        let register = self.register(self.stack.len());
        let (table, ty) = (self.table(table), Imm(self.names.types[ty as usize]));
        self.emit(Op::Callee { dst: register.into(), index, table, ty });
        register
    }

    fn table(&self, table: u32) -> Imm<u64> {
        Imm(self.names.tables[table as usize].addr() as u64)
    }

    fn global(&self, global: u32) -> Imm<u64> {
        Imm(self.names.globals[global as usize].addr() as u64)
    }

    fn plain(&mut self, plain: Plain) {
        match plain {
            Plain::Unary(make, kind) => {
                let a = self.pop();
                let dst = self.result(kind);
                self.emit(make(dst, a));
            }
            Plain::Binary(make, kind) => {
                let (b, a) = (self.pop(), self.pop());
                let dst = self.result(kind);
                self.emit(make(dst, a, b));
            }
            Plain::Load(make, kind, offset) => {
                let address = self.pop();
                let dst = self.result(kind);
                self.emit(make(dst, address, offset));
            }
            Plain::Store(make, offset) => {
                let (value, address) = (self.pop(), self.pop());
                self.emit(make(address, value, offset));
            }
        }
    }

    fn select(&mut self) {
        let flag = self.pop();
        let b = self.pop();
        let kind = self.stack.last().expect("the body is valid").kind;
        let a = self.pop();
        let dst = self.result(kind);
        self.emit(for_kind!(kind, SelectI32 SelectI64 SelectF32 SelectF64 { dst, a, b, flag }));
    }

    /// The operands of an instruction on a range: two places and a count.
    fn range(&mut self) -> (u32, u32, u32) {
        let (count, from, to) = (self.pop(), self.pop(), self.pop());
        (to, from, count)
    }

    /// Follows frames that control does not reach; whether anything is to be translated.
    fn follow(&mut self, operator: &Operator<'_>) -> bool {
        if self.is_reachable {
            return true;
        }
        match operator {
            Operator::Block { .. } | Operator::Loop { .. } | Operator::If { .. } => self.skipped += 1,
            Operator::End if self.skipped > 0 => self.skipped -= 1,
            Operator::End => return true,
            Operator::Else => return self.skipped == 0,
            _ => {}
        }
        false
    }

    fn operator(&mut self, operator: &Operator<'_>) -> Result<(), Error> {
        if !self.follow(operator) {
            return Ok(());
        }
        if let Some(plain) = Plain::of(operator) {
            self.plain(plain);
            return Ok(());
        }
        match *operator {
            Operator::Nop => {}
            Operator::Drop => drop(self.pop_value()),
            Operator::Select | Operator::TypedSelect { .. } => self.select(),
            Operator::I32Const { value } => self.push(Kind::I32, Place::Constant(value as u32 as u64)),
            Operator::I64Const { value } => self.push(Kind::I64, Place::Constant(value as u64)),
            Operator::F32Const { value } => self.push(Kind::F32, Place::Constant(value.bits() as u64)),
            Operator::F64Const { value } => self.push(Kind::F64, Place::Constant(value.bits())),
            Operator::RefNull { .. } => self.push(Kind::I64, Place::Constant(0)),
            Operator::RefFunc { function_index } => {
                let reference = self.names.functions[function_index as usize] as u64 + 1;
                self.push(Kind::I64, Place::Constant(reference));
            }
            Operator::LocalGet { local_index } => {
                self.push(self.locals[local_index as usize], Place::Local(local_index));
            }
            Operator::LocalTee { local_index } => self.set_local(local_index),
            Operator::LocalSet { local_index } => {
                self.set_local(local_index);
                self.pop_value();
            }
            Operator::Unreachable => {
                self.emit(Op::Unreachable {});
                self.stop();
            }
            Operator::Block { blockty } => {
                let (parameters, results) = self.block_type(blockty);
                self.settle();
                self.open(parameters, results, None);
            }
            Operator::Loop { blockty } => {
                let (parameters, results) = self.block_type(blockty);
                self.settle();
                self.open(parameters, results, Some(self.here()));
            }
            Operator::If { blockty } => {
                let flag = self.pop().into();
                let (parameters, results) = self.block_type(blockty);
                self.settle();
                let hole = self.jump(Op::GotoUnless { flag, to: Label(0) });
                self.open(parameters, results, None);
                self.frames.last_mut().expect("it was opened").otherwise = Some(hole);
            }
            Operator::Else => self.otherwise(),
            Operator::End => self.end(),
            Operator::Br { relative_depth } => {
                self.branch(relative_depth);
                self.stop();
            }
            Operator::BrIf { relative_depth } => self.br_if(relative_depth),
            Operator::BrTable { ref targets } => self.br_table(targets)?,
            Operator::Return => {
                self.give_back();
                self.stop();
            }
            _ => return self.module_operator(operator),
        }
        Ok(())
    }

    /// What has to do with functions, globals, tables and memories.
    fn module_operator(&mut self, operator: &Operator<'_>) -> Result<(), Error> {
        let parts = &*self.names.parts;
        match *operator {
            Operator::Call { function_index } => {
                let function = Imm(self.names.functions[function_index as usize]);
                let ty = parts.function_type(function_index);
                self.call(
                    ty,
                    |args| Op::Call { function, args },
                    |dst, args| Op::CallFor { dst, function, args },
                );
            }
            Operator::CallIndirect { type_index, table_index } => {
                let function = self.callee(table_index, type_index).into();
                let ty = &parts.types[type_index as usize];
                let op_for = |dst, args| Op::CallAnyFor { dst, function, args };
                self.call(ty, |args| Op::CallAny { function, args }, op_for);
            }
            Operator::GlobalGet { global_index } => {
                let global = self.global(global_index);
                let dst = self.result(parts.globals[global_index as usize].content_type.into()).into();
                self.emit(Op::GlobalGet { dst, global });
            }
            Operator::GlobalSet { global_index } => {
                let (a, global) = (self.pop().into(), self.global(global_index));
                self.emit(Op::GlobalSet { a, global });
            }
            Operator::TableGet { table } => {
                let (index, table) = (self.pop().into(), self.table(table));
                let dst = self.result(Kind::I64).into();
                self.emit(Op::TableGet { dst, index, table });
            }
            Operator::TableSet { table } => {
                let (a, index, table) = (self.pop().into(), self.pop().into(), self.table(table));
                self.emit(Op::TableSet { index, a, table });
            }
            Operator::TableSize { table } => {
                let table = self.table(table);
                let dst = self.result(Kind::I32).into();
                self.emit(Op::TableSize { dst, table });
            }
            Operator::TableGrow { table } => {
                let (count, value, table) = (self.pop().into(), self.pop().into(), self.table(table));
                let dst = self.result(Kind::I32).into();
                self.emit(Op::TableGrow { dst, value, count, table });
            }
            Operator::TableFill { table } => {
                let (to, value, count) = self.range();
                let (to, value, count, table) = (to.into(), value.into(), count.into(), self.table(table));
                self.emit(Op::TableFill { to, value, count, table });
            }
            Operator::TableCopy { dst_table, src_table } => {
                let (to, from, count) = self.range();
                let tables = Imm((dst_table as u64) << 32 | src_table as u64);
                self.emit(Op::TableCopy { to: to.into(), from: from.into(), count: count.into(), tables });
            }
            Operator::TableInit { elem_index, table } => {
                let (to, from, count) = self.range();
                let which = Imm((table as u64) << 32 | elem_index as u64);
                self.emit(Op::TableInit { to: to.into(), from: from.into(), count: count.into(), which });
            }
            Operator::ElemDrop { elem_index } => self.emit(Op::ElemDrop { segment: Imm(elem_index) }),
            Operator::MemorySize { .. } => {
                let dst = self.result(Kind::I32).into();
                self.emit(Op::MemorySize { dst });
            }
            Operator::MemoryGrow { .. } => {
                let count = self.pop().into();
                let dst = self.result(Kind::I32).into();
                self.emit(Op::MemoryGrow { dst, count });
            }
            Operator::MemoryFill { .. } => {
                let (to, value, count) = self.range();
                self.emit(Op::MemoryFill { to: to.into(), value: value.into(), count: count.into() });
            }
            Operator::MemoryCopy { .. } => {
                let (to, from, count) = self.range();
                self.emit(Op::MemoryCopy { to: to.into(), from: from.into(), count: count.into() });
            }
            Operator::MemoryInit { data_index: segment, .. } => {
                let (to, from, count) = self.range();
                let (to, from, count) = (to.into(), from.into(), count.into());
                self.emit(Op::MemoryInit { to, from, count, segment: Imm(segment) });
            }
            Operator::DataDrop { data_index } => self.emit(Op::DataDrop { segment: Imm(data_index) }),
            ref other => return Err(Error::unsupported(&format!("{other:?}"))),
        }
        Ok(())
    }
}
