//! A template after its types were checked: what both the lowering and the interpreter's generator read.

use super::signs::Sign;
use crate::place::Place;
use crate::token::Token;
use azulejo_core::ir::bytecode::OperandKind;
use azulejo_core::ir::graph::Effect;
use azulejo_core::ir::template::Convention;
use azulejo_core::vocab::{Op, Scalar, Sig, Type};

/// An expression with its type.
#[derive(Clone, Debug)]
pub struct Typed {
    /// What it does.
    pub kind: Kind,
    /// The type of its value.
    pub ty: Type,
    /// How a narrow value is widened, and which of two operators it means.
    pub sign: Sign,
    /// Whether control does not come back from it: it fits wherever a value is wanted.
    pub leaves: bool,
    /// Whether it is a constant that takes the type and sign of what stands beside it.
    pub is_loose: bool,
    /// Where it stands.
    pub place: Place,
}

/// What an expression does.
#[derive(Clone, Debug)]
pub enum Kind {
    /// An operator; `imm` is its constant, if it has one.
    Op {
        /// Which.
        op: Op,
        /// On which types.
        sig: Sig,
        /// Its operands.
        args: Vec<Typed>,
        /// Its constant.
        imm: Option<Constant>,
        /// The flags with which it traps, and the codes of these traps.
        checks: Vec<(Typed, u32)>,
    },
    /// The value of a VM register operand.
    Read(usize),
    /// A constant.
    Constant(Constant),
    /// The value of a `let:` name.
    Variable(usize),
    /// Names for values, then what is done with them.
    Let(Vec<(usize, Typed)>, Box<Typed>),
    /// What is done in order; the last one's value counts.
    Sequence(Vec<Typed>),
    /// What is done in order, with marks that can be gone to: the first run of steps, then one for each mark.
    Marked(usize, Vec<Vec<Typed>>),
    /// Goes to a mark of this number of a sequence of this number.
    GoTo(usize, usize),
    /// A flag, and what is done with and without it.
    If(Box<Typed>, Box<Typed>, Box<Typed>),
    /// A flag that holds if all of these do.
    All(Vec<Typed>),
    /// A flag that holds if one of these does.
    Any(Vec<Typed>),
    /// A flag that holds if this one does not.
    Not(Box<Typed>),
    /// A flag, and whether it is likely to hold.
    Likely(Box<Typed>, bool),
    /// What is seldom done.
    Cold(Box<Typed>),
    /// Stores an output.
    Set(usize, Box<Typed>),
    /// Goes to a label operand.
    Goto(usize),
    /// Goes to one of these label operands.
    Switch(Box<Typed>, Vec<usize>),
    /// Ends the function.
    Return(Option<Box<Typed>>),
    /// To a label operand, or to the next bytecode.
    Exit(Option<usize>),
    /// A flag, and what the interpreter does without it.
    Guard(Box<Typed>, Box<Typed>),
    /// Ends the function with an error of this code.
    Trap(Vec<Token>),
    /// A flag, the code of the trap that there is without it, and an expression with an access ([`Constant::Within`]) that
    /// may fault instead.
    Within(Box<Typed>, Vec<Token>, Box<Typed>),
    /// A call of a Rust function or an address.
    Call(Box<Call>),
    /// A call of a function of bytecode.
    Invoke(Box<Invoke>),
    /// As `Invoke`, in this function's place.
    Tail(Box<Invoke>),
    /// The address of a run of registers.
    Window(usize),
    /// How many registers a run has.
    WindowLength(usize),
    /// The address of an output, which is stored.
    Place(usize),
}

/// A constant: Rust tokens, or an operand of the bytecode.
#[derive(Clone, Debug)]
pub enum Constant {
    /// What these tokens are in Rust.
    Tokens(Vec<Token>),
    /// The address of a static.
    Address(Vec<Token>),
    /// An operand of the bytecode.
    Operand(usize),
    /// Of a load: nothing ever changes there.
    Pure,
    /// Of a load or store: it is what a `(within …)` is about, with this code.
    Within(Vec<Token>),
}

/// A call of a Rust function or of an address.
#[derive(Clone, Debug)]
pub struct Call {
    /// What is called.
    pub callee: Callee,
    /// Each argument and the scalar it is passed as.
    pub args: Vec<(Typed, Scalar)>,
    /// The same as rustc is to look at them.
    pub given: Vec<Argument>,
    /// The scalar that is returned.
    pub ret: Option<Scalar>,
    /// What the function says that is.
    pub returns: Option<Passing>,
    /// The convention that the template states.
    pub abi: Abi,
    /// What it may do.
    pub effect: Effect,
    /// Whether the template vouches for addresses, and may call unsafe functions.
    pub is_unsafe: bool,
}

/// As what a Rust function takes or returns a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Passing {
    /// As a number or an address.
    Scalar(Scalar),
    /// As a `bool`, which is a byte on its way.
    Bool,
}

/// What is passed for one parameter of a Rust function.
#[derive(Clone, Debug)]
pub struct Argument {
    /// As what it is passed.
    pub passing: Passing,
    /// Whether the context can be reached by it.
    pub leads: Leads,
    /// Where it stands.
    pub place: Place,
}

/// Whether a value is an address by which the context can be reached, as far as the template shows it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Leads {
    /// It is not known to be one.
    Elsewhere,
    /// It is computed from the context's address.
    Into,
    /// It is the context's address.
    To,
    /// It is the address of an output of this type.
    Slot(Scalar),
}

/// A call to be made by a function of its own.
#[derive(Clone, Debug)]
pub struct Native {
    /// The Rust function.
    pub path: Vec<Token>,
    /// What it is given.
    pub args: Vec<Argument>,
    /// The result's scalar.
    pub ret: Option<Scalar>,
    /// What the function says it is.
    pub returns: Option<Passing>,
    /// Whether the template vouches for addresses, and may call unsafe functions.
    pub is_unsafe: bool,
    /// Where the call stands.
    pub place: Place,
}

/// A convention that a call may state.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Abi {
    /// Where arguments and the result are.
    pub convention: Convention,
    /// Whether a panic may pass.
    pub unwinds: bool,
}

impl Abi {
    /// All of them.
    pub const ALL: [Abi; 6] = [
        Abi::new(Convention::C, false),
        Abi::new(Convention::SysV64, false),
        Abi::new(Convention::Win64, false),
        Abi::new(Convention::C, true),
        Abi::new(Convention::SysV64, true),
        Abi::new(Convention::Win64, true),
    ];

    const fn new(convention: Convention, unwinds: bool) -> Abi {
        Abi { convention, unwinds }
    }

    /// How Rust spells it.
    ///
    /// # Panics
    ///
    /// If it is a convention of bytecode, which Rust does not know.
    pub fn name(self) -> &'static str {
        match (self.convention, self.unwinds) {
            (Convention::C, false) => "C",
            (Convention::SysV64, false) => "sysv64",
            (Convention::Win64, false) => "win64",
            (Convention::C, true) => "C-unwind",
            (Convention::SysV64, true) => "sysv64-unwind",
            (Convention::Win64, true) => "win64-unwind",
            (Convention::Bytecode, _) => panic!("no Rust function is called like bytecode"),
        }
    }

    /// The convention that Rust spells so.
    pub fn from_name(name: &str) -> Option<Abi> {
        Abi::ALL.into_iter().find(|abi| abi.name() == name)
    }
}

/// A call of a function of bytecode.
#[derive(Clone, Debug)]
pub struct Invoke {
    /// Its number.
    pub function: Typed,
    /// What it is given.
    pub args: Arguments,
    /// What it may do.
    pub effect: Effect,
}

/// What a function of bytecode is given.
#[derive(Clone, Debug)]
pub enum Arguments {
    /// These values.
    Values(Vec<Typed>),
    /// The registers of a run.
    Run(usize),
}

/// What a [`Call`] calls.
#[derive(Clone, Debug)]
pub enum Callee {
    /// A Rust function, by way of the template's native function of this number.
    Native(usize),
    /// A Rust function of the stated convention.
    Path(Vec<Token>),
    /// An address.
    Value(Typed),
}

/// An operand of the opcode.
#[derive(Clone, Debug)]
pub struct Operand {
    /// The field's name.
    pub name: String,
    /// Its kind.
    pub kind: OperandKind,
    /// Its type, where the kind has one.
    pub scalar: Option<Scalar>,
}

/// An opcode as its enum describes it.
#[derive(Clone, Debug)]
pub struct Opcode {
    /// Its name.
    pub name: String,
    /// Where the row names it.
    pub place: Place,
    /// Its operands.
    pub operands: Vec<Operand>,
}
