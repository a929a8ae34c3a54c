//! A template after type checking, as both the lowering and the generator of the interpreter read it.

use super::signs::Sign;
use super::steps::Access;
use crate::place::Place;
use crate::token::Token;
use azulejo_core::ir::bytecode::OperandKind;
use azulejo_core::ir::graph::{CallMemory, Effect};
use azulejo_core::ir::template::Convention;
use azulejo_core::vocab::{Op, Scalar, Sig, Type};

/// An expression with its type.
#[derive(Clone, Debug)]
pub struct Typed {
    /// The operation.
    pub kind: Kind,
    /// The type of its value.
    pub ty: Type,
    /// How a narrow value is extended, and which of two operators is meant (`div` with or without a sign).
    pub sign: Sign,
    /// Whether control never returns from it. A diverging expression fits wherever a value is needed.
    pub leaves: bool,
    /// Whether it is a constant that adopts the type and sign of the operand beside it.
    pub is_loose: bool,
    /// The expression's place.
    pub place: Place,
}

/// The operation of an expression.
#[derive(Clone, Debug)]
pub enum Kind {
    /// An operator; `imm` is its constant, if it has one.
    Op {
        /// The operator.
        op: Op,
        /// The types it operates on.
        sig: Sig,
        /// Its operands.
        args: Vec<Typed>,
        /// Its constant.
        imm: Option<Constant>,
        /// The conditions under which it traps, and the code of each trap.
        checks: Vec<(Typed, u32)>,
    },
    /// Whether a boxed value is of a kind, the value in a box of the kind, or the box of a value.
    OfKind {
        /// `is`, `unbox` or `box`.
        op: Op,
        /// The kind's number.
        kind: usize,
        /// The value.
        value: Box<Typed>,
        /// The kind's formula, whose names are its own: variable 0 is the value, and nothing around the formula is seen in it.
        meaning: Box<Typed>,
    },
    /// The value of a VM register operand.
    Read(usize),
    /// A constant.
    Constant(Constant),
    /// The value of a `let:` name.
    Variable(usize),
    /// Binds names to values, then evaluates the body.
    Let(Vec<(usize, Typed)>, Box<Typed>),
    /// Expressions evaluated in order; the value is that of the last one.
    Sequence(Vec<Typed>),
    /// The number of a sequence with marks, and its runs of steps: the first one, then one for each mark.
    Marked(usize, Vec<Vec<Typed>>),
    /// Jumps to a mark: the number of the sequence, and the number of the mark in it.
    GoTo(usize, usize),
    /// A conditional: the flag, and the expressions for true and false.
    If(Box<Typed>, Box<Typed>, Box<Typed>),
    /// What is done for the first case of a site for which a flag holds, or for none.
    Cached(Box<Cached>),
    /// A field of the case at hand.
    Case(CaseField),
    /// The conjunction of flags.
    All(Vec<Typed>),
    /// The disjunction of flags.
    Any(Vec<Typed>),
    /// The negation of a flag.
    Not(Box<Typed>),
    /// A flag, and whether it is expected to be true or false.
    Likely(Box<Typed>, bool),
    /// An expression that is rarely evaluated.
    Cold(Box<Typed>),
    /// The slow path: an expression that is left out of compiled code if it has never been evaluated.
    Slow(Box<Typed>),
    /// What no case of the site that is this operand tells of.
    Outside(usize, Box<Typed>),
    /// Writes an output.
    Set(usize, Box<Typed>),
    /// Jumps to a label operand.
    Goto(usize),
    /// Jumps to one of these label operands, selected by a value.
    Switch(Box<Typed>, Vec<usize>),
    /// Returns from the function.
    Return(Option<Box<Typed>>),
    /// Leaves compiled code. The interpreter resumes at a label operand, or at the next bytecode.
    Exit(Option<usize>),
    /// A guard: its flag, and the expression that the interpreter evaluates if the flag is false.
    Guard(Box<Typed>, Box<Typed>),
    /// Ends the function with a trap of this code.
    Trap(Vec<Token>),
    /// Makes the bytecode one with this opcode, which is also given as written.
    Quicken(usize, Vec<Token>),
    /// A flag, the code of the trap if the flag is false, and an expression with an access ([`Access::Within`]) that
    /// may fault instead.
    Within(Box<Typed>, Vec<Token>, Box<Typed>),
    /// A call of a Rust function or an address.
    Call(Box<Call>),
    /// A call of a function of bytecode.
    Invoke(Box<Invoke>),
    /// A tail call: like `Invoke`, but it replaces the calling function.
    Tail(Box<Invoke>),
    /// A call that may fail, and what is done if it does.
    Try(Box<Try>),
    /// The address of a run of registers.
    Window(usize),
    /// The number of registers in a run.
    WindowLength(usize),
    /// The address of an output's slot. The output is written to the slot first.
    Place(usize),
    /// The address of a site's memory, as an argument of a call.
    Site(usize),
    /// Whether there is no room for another case in the site that is this operand.
    Full(usize),
    /// The address of the frames that are shown, as an argument of a call.
    Frames,
}

/// An expression that looks at the cases of a site, one after the other.
#[derive(Clone, Debug)]
pub struct Cached {
    /// Its number in the template.
    pub number: usize,
    /// The operand.
    pub site: usize,
    /// The struct that a case is, as written.
    pub case: Vec<Token>,
    /// The struct's place.
    pub place: Place,
    /// Whether it is about the case at hand.
    pub condition: Typed,
    /// The expression for that case.
    pub body: Typed,
    /// The expression if there is no such case.
    pub otherwise: Typed,
}

/// A field of the case at hand.
#[derive(Clone, Debug)]
pub struct CaseField {
    /// The number of the [`Cached`] that it stands in.
    pub cached: usize,
    /// The operand of that.
    pub site: usize,
    /// The struct, as written.
    pub case: Vec<Token>,
    /// The field's name.
    pub field: Vec<Token>,
}

/// A constant: Rust tokens, or an operand of the bytecode.
#[derive(Clone, Debug)]
pub enum Constant {
    /// The value of these Rust tokens.
    Tokens(Vec<Token>),
    /// The address of a static.
    Address(Vec<Token>),
    /// An operand of the bytecode.
    Operand(usize),
    /// How a load or store touches memory.
    Access {
        /// Whether what is there never changes, or it is the access of a `(within …)`.
        access: Access,
        /// The number of its region; zero if it names none.
        region: u8,
    },
}

/// A call of a Rust function or of an address.
#[derive(Clone, Debug)]
pub struct Call {
    /// The callee.
    pub callee: Callee,
    /// Each argument and the scalar it is passed as.
    pub args: Vec<(Typed, Scalar)>,
    /// The arguments as rustc checks them.
    pub given: Vec<Argument>,
    /// The scalar type of the result.
    pub ret: Option<Scalar>,
    /// The type that the Rust function returns it as.
    pub returns: Option<Passing>,
    /// The calling convention that the template states.
    pub abi: Abi,
    /// The effects that the call may have.
    pub effect: Effect,
    /// What it changes.
    pub memory: CallMemory,
    /// If it observes, which of the template's calls that do.
    pub shown: Option<u32>,
    /// Whether the Rust function may fail: it returns a `Result`. If it fails, so does the bytecode.
    pub throws: bool,
    /// Whether the template vouches for addresses, and may call unsafe functions.
    pub is_unsafe: bool,
}

/// How a value is passed to or returned by a Rust function.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Passing {
    /// As a number or an address.
    Scalar(Scalar),
    /// As a `bool`, which is passed as a byte.
    Bool,
}

/// The argument for one parameter of a Rust function.
#[derive(Clone, Debug)]
pub struct Argument {
    /// How it is passed.
    pub passing: Passing,
    /// Whether the callee can reach the context by it.
    pub leads: Leads,
    /// The argument's place.
    pub place: Place,
}

/// What is statically known of a value as an address, in particular whether the context can be reached by it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Leads {
    /// It is not known to point into the context.
    Elsewhere,
    /// It is computed from the context's address.
    Into,
    /// It is the context's address.
    To,
    /// It is the address of an output of this type.
    Slot(Scalar),
    /// It is this operand, a site.
    Site(usize),
    /// It is `(frames)`.
    Frames,
}

/// A call that is made through a native function.
#[derive(Clone, Debug)]
pub struct Native {
    /// The Rust function.
    pub path: Vec<Token>,
    /// The arguments.
    pub args: Vec<Argument>,
    /// The result's scalar.
    pub ret: Option<Scalar>,
    /// The type that the Rust function returns it as.
    pub returns: Option<Passing>,
    /// Whether it may fail: it returns a `Result`.
    pub throws: bool,
    /// Whether the template vouches for addresses, and may call unsafe functions.
    pub is_unsafe: bool,
    /// Where the call stands.
    pub place: Place,
}

/// A calling convention that a template may state for a call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Abi {
    /// The locations of arguments and result.
    pub convention: Convention,
    /// Whether a panic may unwind through the call.
    pub unwinds: bool,
}

impl Abi {
    /// The convention of native functions that may fail: one that returns two words in registers on every system.
    pub const OF_FALLIBLE: Abi = Abi::new(Convention::SysV64, false);

    /// All conventions that a template may state.
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

    /// The name of the ABI in Rust.
    ///
    /// # Panics
    ///
    /// If the convention is that of bytecode functions, which Rust does not know.
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

    /// The convention with this ABI name in Rust.
    pub fn from_name(name: &str) -> Option<Abi> {
        Abi::ALL.into_iter().find(|abi| abi.name() == name)
    }
}

/// A call of a function of bytecode.
#[derive(Clone, Debug)]
pub struct Invoke {
    /// The callee's number.
    pub function: Typed,
    /// The arguments.
    pub args: Arguments,
    /// The effects that the call may have.
    pub effect: Effect,
    /// If it observes, which of the template's calls that do.
    pub shown: Option<u32>,
}

/// A call, and what is done if it fails.
#[derive(Clone, Debug)]
pub struct Try {
    /// An [`Invoke`](Kind::Invoke), or a [`Call`](Kind::Call) that throws.
    pub call: Typed,
    /// The variable with the trap's code, in `otherwise`.
    pub code: usize,
    /// What is done instead if the call fails, and its value.
    pub otherwise: Typed,
}

/// The arguments of a call of a bytecode function.
#[derive(Clone, Debug)]
pub enum Arguments {
    /// These values.
    Values(Vec<Typed>),
    /// The registers of a run.
    Run(usize),
    /// Words in memory: the address of the first, and how many there are.
    Spread([Typed; 2]),
}

/// The callee of a [`Call`].
#[derive(Clone, Debug)]
pub enum Callee {
    /// A Rust function, called through the template's native function of this number.
    Native(usize),
    /// A Rust function of the stated convention, called directly.
    Path(Vec<Token>),
    /// An address.
    Value(Typed),
}

/// An operand of the opcode.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Operand {
    /// The field's name.
    pub name: String,
    /// Its kind.
    pub kind: OperandKind,
    /// Its type, where the kind has one.
    pub scalar: Option<Scalar>,
    /// For a site, how many cases it has room for.
    pub capacity: u16,
    /// For a site, the struct that a case is, as the enum writes it.
    pub case: String,
}

/// An opcode, as its enum declares it.
#[derive(Clone, Debug)]
pub struct Opcode {
    /// Its name.
    pub name: String,
    /// The place where the row names it.
    pub place: Place,
    /// Its operands.
    pub operands: Vec<Operand>,
    /// The opcode of which it is a form with constants, and whose row it shares.
    pub form_of: Option<String>,
}

impl Opcode {
    /// Which operands are constants in this form, as its name says it; empty for what is no form of another opcode.
    pub fn form(&self) -> &str {
        self.form_of.as_deref().and_then(|of| self.name.strip_prefix(of)).unwrap_or_default()
    }
}

/// The enum that an opcode belongs to.
#[derive(Clone, Copy, Debug, Default)]
pub struct Enum<'a> {
    /// Its path, as the rows write it.
    pub path: &'a [Token],
    /// Its opcodes, by number.
    pub opcodes: &'a [Opcode],
}
