//! A template as it is compiled: the steps of [`azulejo_core::ir::template`], where constants may be Rust that only rustc knows.

use super::signs::Sign;
use crate::token::Token;
use azulejo_core::ir::graph::Effect;
use azulejo_core::ir::template::{Convention, Likelihood, Resume};
use azulejo_core::vocab::{Op, Sig, Type};

pub use azulejo_core::ir::template::{BlockRef, Ref};

/// What one opcode means.
#[derive(Clone, Debug)]
pub struct Template {
    /// The steps in order.
    pub steps: Vec<Step>,
    /// How many blocks there are.
    pub blocks: u16,
    /// The same for code whose accesses in `(within …)` may fault, if there are any: without the comparisons.
    pub guarded: Option<Box<Template>>,
}

/// A constant of a step.
#[derive(Clone, Debug)]
pub enum Imm {
    /// A number.
    Known(i64),
    /// What these tokens are in Rust.
    Rust(Vec<Token>),
    /// The bits of what these tokens are in Rust as a value.
    Value {
        /// The tokens.
        tokens: Vec<Token>,
        /// The type.
        ty: Type,
        /// The sign, if it is an integer.
        sign: Sign,
    },
    /// The address of a static.
    Address(Vec<Token>),
    /// An `Imm` operand of the bytecode.
    Operand(usize),
    /// How a load or store touches memory.
    Access(Access),
}

/// How a load or store touches memory.
#[derive(Clone, Debug)]
pub enum Access {
    /// Like any other.
    Plain,
    /// What is there never changes.
    Pure,
    /// It may fault, and that is a trap with this code.
    Within(Vec<Token>),
}

/// The code of a trap.
#[derive(Clone, Debug)]
pub enum Code {
    /// What the template says.
    User(Vec<Token>),
    /// That of an operator.
    Known(u32),
}

/// What a call calls.
#[derive(Clone, Debug)]
pub enum Callee {
    /// The template's native function of this number.
    Native(usize),
    /// A Rust function.
    Path(Vec<Token>),
    /// An address that the template computes.
    Value(Ref),
}

/// What a function of bytecode is given.
#[derive(Clone, Debug)]
pub enum Arguments {
    /// These values.
    Values(Vec<Ref>),
    /// The registers of the run that an operand names.
    Run(usize),
}

/// One step of a template; what each does, [`azulejo_core::ir::template::Step`] says.
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "fields are called as those of the step that is meant")]
pub enum Step {
    /// An operator on values.
    Node { op: Op, sig: Sig, inputs: Vec<Ref>, imm: Imm },
    /// The value of a VM register operand.
    Read { operand: usize, ty: Type },
    /// The value of an `Imm` operand.
    Constant { operand: usize, ty: Type },
    /// The address of a run of registers.
    Window { operand: usize },
    /// How many registers a run has.
    WindowLength { operand: usize },
    /// A call.
    Call { callee: Callee, convention: Convention, args: Vec<(Ref, Type)>, ret: Type, effect: Effect },
    /// A call of a function of bytecode.
    Invoke { function: Ref, args: Arguments, ret: Type, effect: Effect },
    /// Writes a VM register.
    Write { operand: usize, value: Ref },
    /// Starts a block.
    Block { block: BlockRef, params: Vec<Type>, cold: bool },
    /// Goes to a block.
    Jump { block: BlockRef, args: Vec<Ref> },
    /// Goes to one of two blocks.
    Branch { flag: Ref, then: BlockRef, otherwise: BlockRef, likelihood: Likelihood },
    /// Goes to where a `Label` operand says.
    Goto { operand: usize },
    /// Goes to one of many.
    Switch { value: Ref, operands: Vec<usize> },
    /// Leaves the function with a result.
    Return { value: Option<Ref> },
    /// Leaves the function for another one.
    Tail { function: Ref, args: Arguments },
    /// Leaves compiled code.
    Exit { to: Resume },
    /// Leaves the function with an error.
    Trap { code: Code },
}
