//! Translates a function body into bytecode.
//!
//! In: a valid body, and what its module's indices stand for in an instance. Out: bytecode over registers. Locals are
//! the first registers, and the operand stack has one register for each height behind them.
//!
//! What is on the stack need not be in its register. A local or a constant that was pushed is read where it is, until the
//! local is written or control flow meets: then it is copied. An instruction whose result goes to a local at once
//! writes it there, and a comparison that a jump asks for at once is a part of the jump. The optimizer sees all that by itself;
//! it is done for the interpreter and the baseline, which take one bytecode at a time.

mod control;
mod stack;

use crate::Error;
use crate::bytecode::{Compare, Kind, Op, Plain};
use crate::module::Parts;
use crate::runtime::{Global, Table};
use azulejo::prelude::*;
use control::{Condition, Frame};
use stack::{Place, Value, for_kind};
use std::borrow::Cow;
use std::sync::Arc;
use wasmparser::{FuncType, FunctionBody, Operator, ValType};

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

/// What an instruction does with the top of the stack, as far as the one before it can do that as well.
#[derive(Clone, Copy)]
enum Next {
    Set(u32),
    Tee(u32),
    Jump,
    Other,
    /// It was done.
    Done,
}

impl Next {
    fn of(operator: Option<&Operator<'_>>) -> Next {
        match operator {
            Some(&Operator::LocalSet { local_index }) => Next::Set(local_index),
            Some(&Operator::LocalTee { local_index }) => Next::Tee(local_index),
            Some(Operator::BrIf { .. } | Operator::If { .. }) => Next::Jump,
            _ => Next::Other,
        }
    }
}

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
    /// What the next instruction does with the top of the stack.
    next: Next,
    /// The condition that the jump that comes next asks for.
    condition: Option<Condition>,
    /// The highest the stack was.
    highest: usize,
    ops: Vec<Op>,
    labels: Vec<u32>,
}

/// The kinds of values, which are mostly one or none.
type Kinds = Cow<'static, [Kind]>;

fn kinds(types: &[ValType]) -> Kinds {
    match types {
        [] => Cow::Borrowed(&[]),
        [ty] => Cow::Borrowed(Kind::from(*ty).alone()),
        types => types.iter().map(|&ty| Kind::from(ty)).collect(),
    }
}

/// Translates a body of a module into bytecode.
pub(crate) fn translate(names: &Names, number: usize) -> Result<Translation, Error> {
    let parts = &*names.parts;
    parts.validate(number)?;
    let ty = parts.function_type((parts.imported_functions() + number) as u32);
    let mut locals = kinds(ty.params()).into_owned();
    let body = FunctionBody::new(parts.reader(&parts.bodies[number]));
    for local in body.get_locals_reader()? {
        let (count, ty) = local?;
        locals.resize(locals.len() + count as usize, ty.into());
    }
    let mut translator = Translator::new(names, locals, kinds(ty.results()));
    // An instruction has three bytes or so.
    translator.ops.reserve(parts.bodies[number].len() / 3);
    let mut operators = body.get_operators_reader()?;
    let mut operator = operators.read()?;
    loop {
        let next = if operators.eof() { None } else { Some(operators.read()?) };
        translator.next = Next::of(next.as_ref());
        translator.operator(&operator)?;
        operator = match (next, translator.next) {
            (None, _) => return Ok(translator.finish()),
            (Some(_), Next::Done) => operators.read()?,
            (Some(next), _) => next,
        };
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
    results.iter().for_each(|kind| translator.push(*kind, Place::Here));
    translator.end();
    translator.finish()
}

impl<'a> Translator<'a> {
    fn new(names: &'a Names, locals: Vec<Kind>, results: Kinds) -> Self {
        let mut translator = Translator {
            names,
            locals,
            stack: Vec::new(),
            in_locals: Vec::new(),
            settled: 0,
            frames: Vec::new(),
            is_reachable: true,
            skipped: 0,
            next: Next::Other,
            condition: None,
            highest: 0,
            ops: Vec::new(),
            labels: Vec::new(),
        };
        translator.open(Kinds::default(), results, None);
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
        match ty.results().split_first() {
            None => self.emit(op(args)),
            Some((&first, others)) => {
                self.push(first.into(), Place::Here);
                self.emit(op_for(args.first.into(), args));
                for (index, &ty) in others.iter().enumerate() {
                    self.push(ty.into(), Place::Here);
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
            Plain::Binary(make, make_const, kind) => {
                let constant = make_const.and_then(|make| Some((make, self.pop_constant()?)));
                let op = match constant {
                    Some((make, b)) => {
                        let a = self.pop();
                        make(self.result(kind), a, b)
                    }
                    None => {
                        let (b, a) = (self.pop(), self.pop());
                        make(self.result(kind), a, b)
                    }
                };
                self.emit(op);
            }
            Plain::Compare(compare) => self.compare(compare),
            Plain::IsZero(compare, make) => self.is_zero(compare, make),
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

    /// Compares, or leaves that to the jump that comes next.
    fn compare(&mut self, compare: &'static Compare) {
        let decides = matches!(self.next, Next::Jump);
        let constant = if decides && compare.goto_const.is_some() { self.pop_constant() } else { None };
        if let Some(b) = constant {
            self.condition = Some(Condition::CompareConst(compare, self.pop(), b));
            return;
        }
        let (b, a) = (self.pop(), self.pop());
        if decides {
            self.condition = Some(Condition::Compare(compare, a, b));
        } else {
            let dst = self.result(Kind::I32);
            self.emit((compare.value)(dst, a, b));
        }
    }

    /// A comparison with zero is one with a constant if a jump depends on it.
    fn is_zero(&mut self, compare: &'static Compare, make: fn(u32, u32) -> Op) {
        let a = self.pop();
        if matches!(self.next, Next::Jump) {
            self.condition = Some(Condition::CompareConst(compare, a, 0));
        } else {
            let dst = self.result(Kind::I32);
            self.emit(make(dst, a));
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
                let condition = self.pop_condition();
                let (parameters, results) = self.block_type(blockty);
                self.settle();
                let hole = self.jump_if(condition, false);
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
            Operator::ReturnCall { function_index } => {
                let function = Imm(self.names.functions[function_index as usize]);
                let args = self.arguments(parts.function_type(function_index).params().len());
                self.emit(Op::TailCall { function, args });
                self.stop();
            }
            Operator::ReturnCallIndirect { type_index, table_index } => {
                let function = self.callee(table_index, type_index).into();
                let args = self.arguments(parts.types[type_index as usize].params().len());
                self.emit(Op::TailCallAny { function, args });
                self.stop();
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
