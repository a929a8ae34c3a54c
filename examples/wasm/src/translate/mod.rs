//! Translates a function body into bytecode.
//!
//! In: a valid body, and the meanings of its module's indices in an instance. Out: bytecode over registers. Locals are
//! the first registers. They are followed by the operand stack, with one register for each height.
//!
//! A value on the stack need not be in its register. A local or a constant that was pushed is read in place, until the
//! local is written or control flow merges: then it is copied. An instruction whose result is written to a local immediately
//! writes it there, and a comparison whose result a jump tests immediately is fused with the jump. The optimizer does all that
//! anyway; the translator does it for the interpreter and the baseline, which process one bytecode at a time.

mod control;
mod operators;
mod stack;

use crate::Error;
use crate::bytecode::{Compare, Kind, Op};
use crate::module::Parts;
use crate::runtime::{Global, Table};
use azulejo::prelude::*;
use control::{Condition, ControlFrame};
use operators::Visitor;
use stack::StackValue;
use std::cell::Cell;
use std::fmt;
use std::sync::Arc;
use wasmparser::{BlockType, FuncType, ValType};

/// The meanings of a module's indices in an instance.
#[derive(Default)]
pub(crate) struct Names {
    pub(crate) parts: Arc<Parts>,
    /// Functions, by their numbers in the engine.
    pub(crate) functions: Vec<u32>,
    /// Types, by their numbers in the store.
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

/// Memory that the translator reuses from function to function.
#[derive(Default)]
pub(crate) struct Scratch {
    /// The kind of each local.
    locals: Vec<Kind>,
    stack: Vec<StackValue>,
    frames: Vec<ControlFrame>,
    ops: Vec<Op>,
    labels: Vec<u32>,
}

/// A function in the form that the engine takes.
pub(crate) struct Translation {
    pub(crate) code: Code<Op>,
    pub(crate) registers: u32,
}

/// The encodings of the conditional jumps, which test whether the top of the stack is zero.
const BR_IF: u8 = 0x0d;
const IF: u8 = 0x04;

struct Translator<'a> {
    names: &'a Names,
    locals: Vec<Kind>,
    stack: Vec<StackValue>,
    /// All values below this height are in their registers.
    settled: usize,
    /// The maximum height of the stack.
    highest: usize,
    frames: Vec<ControlFrame>,
    is_reachable: bool,
    /// The number of open unreachable frames.
    skipped: usize,
    /// The body, and the offset of the current instruction in it.
    body: &'a [u8],
    at: usize,
    /// The condition of the next jump, if a comparison was fused with it.
    condition: Option<Condition>,
    ops: Vec<Op>,
    labels: Vec<u32>,
    /// The name of an unsupported instruction, if there is one.
    stranger: Option<&'static str>,
}

/// Translates a body of a module to bytecode.
pub(crate) fn translate(names: &Names, number: usize) -> Result<Translation, Error> {
    names.parts.validate(number)?;
    let translator = translate_up_to(names, number, usize::MAX)?;
    match translator.stranger {
        None => Ok(translator.finish()),
        Some(name) => Err(Error::unsupported(name)),
    }
}

/// The offset in the module's bytes of the instruction that a bytecode comes from. It is rarely needed, so it is computed by
/// translating the body again instead of being stored.
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

/// The bytecode that calls a host function.
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
    /// A translator for a function of this type, whose parameters are its first locals.
    fn new(names: &'a Names, ty: u32) -> Self {
        let Scratch { mut locals, mut stack, mut frames, mut ops, mut labels } = names.scratch.take();
        locals.clear();
        locals.extend(names.parts.types[ty as usize].params().iter().map(|&ty| Kind::from(ty)));
        stack.clear();
        frames.clear();
        frames.push(ControlFrame::new(BlockType::FuncType(ty), 0, None));
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
        // SAFETY: the registers after the locals are the operand stack, and each value on it is popped once.
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

    /// Emits a binary operation, which has a variant with a constant as its second operand.
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

    /// Whether a conditional jump follows this comparison. The comparison has no operands, so it takes one byte.
    fn decides(&self) -> bool {
        matches!(self.body[self.at + 1], BR_IF | IF)
    }

    /// Emits a comparison, or leaves it to the next jump.
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

    /// A test for zero that a jump depends on becomes a comparison with a constant.
    fn is_zero(&mut self, compare: &'static Compare, op: impl Fn(u32, u32) -> Op) {
        if self.decides() {
            self.condition = Some(Condition::CompareConst(compare, self.pop(), 0));
        } else {
            self.unary(op, Kind::I32);
        }
    }

    /// The code after an unsupported instruction is treated as unreachable.
    #[cold]
    fn unsupported(&mut self, name: &'static str) {
        self.stranger = Some(name);
        self.stop();
    }
}
