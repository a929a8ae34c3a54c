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
mod operators;
mod stack;

use crate::Error;
use crate::bytecode::{Compare, Kind, Op};
use crate::module::Parts;
use crate::runtime::{Global, Table};
use azulejo::prelude::*;
use control::{Condition, Frame};
use operators::Visitor;
use stack::Value;
use std::cell::Cell;
use std::fmt;
use std::sync::Arc;
use wasmparser::{BlockType, FuncType, ValType};

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
    pub(crate) scratch: Cell<Scratch>,
}

impl fmt::Debug for Names {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Names").finish_non_exhaustive()
    }
}

/// What the translator needs for a function, and keeps for the next.
#[derive(Default)]
pub(crate) struct Scratch {
    /// The kind of each local.
    locals: Vec<Kind>,
    stack: Vec<Value>,
    frames: Vec<Frame>,
    ops: Vec<Op>,
    labels: Vec<u32>,
}

/// A function as the engine takes it.
pub(crate) struct Translation {
    pub(crate) code: Code<Op>,
    pub(crate) registers: u32,
}

/// Opcodes that jump if what is on the stack is not zero, or is.
const BR_IF: u8 = 0x0d;
const IF: u8 = 0x04;

struct Translator<'a> {
    names: &'a Names,
    locals: Vec<Kind>,
    stack: Vec<Value>,
    /// All values below this height are in their registers.
    settled: usize,
    /// The highest the stack was.
    highest: usize,
    frames: Vec<Frame>,
    is_reachable: bool,
    /// How many frames that control does not reach are open.
    skipped: usize,
    /// The body, and where in it this instruction is.
    body: &'a [u8],
    at: usize,
    /// The condition that the jump that comes next asks for.
    condition: Option<Condition>,
    ops: Vec<Op>,
    labels: Vec<u32>,
    /// An instruction that is not supported.
    stranger: Option<&'static str>,
}

/// Translates a body of a module into bytecode.
pub(crate) fn translate(names: &Names, number: usize) -> Result<Translation, Error> {
    names.parts.validate(number)?;
    let translator = translate_up_to(names, number, usize::MAX)?;
    match translator.stranger {
        None => Ok(translator.finish()),
        Some(name) => Err(Error::unsupported(name)),
    }
}

/// Where in the module's bytes the instruction is that a bytecode comes from. Found by translating the body again: that is rarely asked
/// for, and so nobody has to keep it.
pub(crate) fn offset(names: &Names, number: usize, bytecode: u32) -> Option<usize> {
    let translator = translate_up_to(names, number, bytecode as usize).ok()?;
    Some(names.parts.bodies[number].start + translator.at)
}

/// Translates a body up to the instruction that this bytecode comes from.
fn translate_up_to(names: &Names, number: usize, bytecode: usize) -> Result<Translator<'_>, Error> {
    let parts = &*names.parts;
    let mut translator = Translator::new(names, parts.functions[parts.imported_functions() + number]);
    let mut body = parts.reader(&parts.bodies[number]);
    for _ in 0..body.read_var_u32()? {
        let (count, ty): (u32, ValType) = (body.read()?, body.read()?);
        let n_locals = translator.locals.len() + count as usize;
        translator.locals.resize(n_locals, ty.into());
    }
    translator.body = &parts.bytes[parts.bodies[number].clone()];
    while !body.eof() && translator.ops.len() <= bytecode {
        translator.at = body.current_position();
        body.visit_operator(&mut Visitor(&mut translator))?;
    }
    Ok(translator)
}

/// The bytecode of a function of the host.
pub(crate) fn host(number: u32, ty: &FuncType) -> Translation {
    let mut parts = Parts::default();
    parts.types.push(ty.clone());
    let names = Names { parts: parts.into(), ..Names::default() };
    let mut translator = Translator::new(&names, 0);
    translator.locals.clear();
    let count = ty.results().len().max(ty.params().len());
    translator.highest = count;
    let window = RegsMut { first: 0, count: count as u32 };
    translator.emit(Op::CallHost { host: Imm(number), window });
    translator.resume(0, ty.results());
    translator.visit_end();
    translator.finish()
}

impl<'a> Translator<'a> {
    /// For a function of this type, whose parameters are its first locals.
    fn new(names: &'a Names, ty: u32) -> Self {
        let Scratch { mut locals, mut stack, mut frames, mut ops, mut labels } = names.scratch.take();
        locals.clear();
        locals.extend(names.parts.types[ty as usize].params().iter().map(|&ty| Kind::from(ty)));
        stack.clear();
        frames.clear();
        frames.push(Frame::new(BlockType::FuncType(ty), 0, None));
        ops.clear();
        labels.clear();
        Translator {
            names,
            locals,
            stack,
            settled: 0,
            highest: 0,
            frames,
            is_reachable: true,
            skipped: 0,
            body: &[],
            at: 0,
            condition: None,
            ops,
            labels,
            stranger: None,
        }
    }

    fn finish(self) -> Translation {
        let Translator { names, locals, stack, frames, ops, labels, .. } = self;
        // SAFETY: what is behind the locals is the operand stack, and each value on it is popped once.
        let code = unsafe { Code::from(ops.clone()).with_temporaries_unchecked(locals.len() as u32) };
        let code = Code { labels: labels.clone(), ..code };
        let registers = (locals.len() + self.highest) as u32;
        names.scratch.set(Scratch { locals, stack, frames, ops, labels });
        Translation { code, registers }
    }

    fn emit(&mut self, op: Op) {
        self.ops.push(op);
    }

    fn here(&self) -> u32 {
        self.ops.len() as u32
    }

    fn unary(&mut self, op: impl Fn(u32, u32) -> Op, kind: Kind) {
        let a = self.pop();
        let dst = self.result(kind);
        self.emit(op(dst, a));
    }

    fn binary(&mut self, op: impl Fn(u32, u32, u32) -> Op, kind: Kind) {
        let (b, a) = (self.pop(), self.pop());
        let dst = self.result(kind);
        self.emit(op(dst, a, b));
    }

    /// One that there is with a constant as the second operand as well.
    fn binary_const(
        &mut self,
        op: impl Fn(u32, u32, u32) -> Op,
        op_const: impl Fn(u32, u32, u64) -> Op,
        kind: Kind,
    ) {
        match self.pop_constant() {
            Some(b) => self.unary(|dst, a| op_const(dst, a, b), kind),
            None => self.binary(op, kind),
        }
    }

    fn load(&mut self, op: impl Fn(u32, u32, u64) -> Op, kind: Kind, offset: u64) {
        self.unary(|dst, address| op(dst, address, offset), kind);
    }

    fn store(&mut self, op: impl Fn(u32, u32, u64) -> Op, offset: u64) {
        let (value, address) = (self.pop(), self.pop());
        self.emit(op(address, value, offset));
    }

    /// Whether this comparison, which has no operands in the body, is followed by a jump that depends on it.
    fn decides(&self) -> bool {
        matches!(self.body[self.at + 1], BR_IF | IF)
    }

    /// Compares, or leaves that to the jump that comes next.
    fn compare(&mut self, compare: &'static Compare) {
        if !self.decides() {
            return self.binary(compare.value, Kind::I32);
        }
        let constant = if compare.goto_const.is_some() { self.pop_constant() } else { None };
        self.condition = Some(match constant {
            Some(b) => Condition::CompareConst(compare, self.pop(), b),
            None => {
                let (b, a) = (self.pop(), self.pop());
                Condition::Compare(compare, a, b)
            }
        });
    }

    /// A comparison with zero is one with a constant if a jump depends on it.
    fn is_zero(&mut self, compare: &'static Compare, op: impl Fn(u32, u32) -> Op) {
        if self.decides() {
            self.condition = Some(Condition::CompareConst(compare, self.pop(), 0));
        } else {
            self.unary(op, Kind::I32);
        }
    }

    /// Control does not go on behind what is not supported.
    #[cold]
    fn unsupported(&mut self, name: &'static str) {
        self.stranger = Some(name);
        self.stop();
    }
}
