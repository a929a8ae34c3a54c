//! Compiled templates: the steps of [`azulejo_core::ir::template`], with constants that may be Rust for rustc to evaluate.

use super::signs::Sign;
use crate::token::Token;
use azulejo_core::ir::graph::{CallMemory, Effect};
use azulejo_core::ir::template::{Convention, Likelihood, Resume};
use azulejo_core::vocab::{Op, Sig, Type};

pub use azulejo_core::ir::template::{BlockRef, Ref};

/// The meaning of one opcode.
#[derive(Clone, Debug)]
pub struct Template {
    /// The steps in order.
    pub steps: Vec<Step>,
    /// The number of blocks.
    pub blocks: u16,
    /// The variant without comparisons, for code in which accesses of `(within …)` may fault. `None` if there is no such access.
    pub guarded: Option<Box<Template>>,
    /// The variant that looks at the cases of a site in a loop, but for the first. `None` if no site has room for many.
    pub compact: Option<Box<Template>>,
    /// The variant for code that knows a case of the opcode's first site. `None` if the template looks at no case of it.
    pub known: Option<Box<Template>>,
}

impl Template {
    /// Whether the template has operators on kinds of values.
    pub fn uses_kinds(&self) -> bool {
        self.steps.iter().any(|step| matches!(step, Step::Node { op: Op::IS | Op::UNBOX | Op::BOX, .. }))
    }
}

/// A kind of values, as [`azulejo_core::ir::kinds::ValueKind`] defines it.
#[derive(Clone, Debug)]
pub struct ValueKind {
    /// Its name.
    pub name: String,
    /// The type of its values outside of boxes.
    pub ty: Type,
    /// Whether a boxed value is of this kind.
    pub is: Vec<FormulaTerm>,
    /// The value in a box.
    pub unbox: Vec<FormulaTerm>,
    /// The box of a value.
    pub make_box: Vec<FormulaTerm>,
}

/// An operator in a formula.
#[derive(Clone, Debug)]
pub struct FormulaTerm {
    /// The operator.
    pub op: Op,
    /// Its types.
    pub sig: Sig,
    /// Its operands.
    pub inputs: Vec<Ref>,
    /// Its constant.
    pub imm: Imm,
}

/// A constant of a step.
#[derive(Clone, Debug)]
pub enum Imm {
    /// A number.
    Known(i64),
    /// The value of these Rust tokens.
    Rust(Vec<Token>),
    /// The bits of these Rust tokens as a value of a type.
    Value {
        /// The tokens.
        tokens: Vec<Token>,
        /// The type.
        ty: Type,
        /// The sign, if it is an integer.
        sign: Sign,
    },
    /// A place in the memory of a site, or the size of a case.
    Offset(SiteOffset),
    /// The address of a static.
    Address(Vec<Token>),
    /// An `Imm` operand of the bytecode.
    Operand(usize),
    /// How a load or store touches memory.
    Access {
        /// Whether what is there never changes, or it may fault.
        access: Access,
        /// The number of its region; zero if it names none.
        region: u8,
    },
}

/// How a load or store touches memory.
#[derive(Clone, Debug)]
pub enum Access {
    /// An ordinary access.
    Plain,
    /// The memory never changes.
    Pure,
    /// The access may fault, which is a trap with this code.
    Within(Vec<Token>),
}

/// The code of a trap.
#[derive(Clone, Debug)]
pub enum Code {
    /// The code that the template states.
    User(Vec<Token>),
    /// The code that an operator defines.
    Known(u32),
}

/// The callee of a call.
#[derive(Clone, Debug)]
pub enum StepCallee {
    /// The template's native function of this number.
    Native(usize),
    /// A Rust function.
    Path(Vec<Token>),
    /// An address that the template computes.
    Value(Ref),
}

/// The arguments of a call of a bytecode function.
#[derive(Clone, Debug)]
pub enum StepArguments {
    /// These values.
    Values(Vec<Ref>),
    /// The registers of the run that an operand names.
    Run(usize),
    /// Words in memory: the address of the first, and how many there are.
    Spread([Ref; 2]),
}

/// The place of a value in the memory of a site.
#[derive(Clone, Debug)]
pub enum SiteOffset {
    /// The number of cases.
    Count,
    /// How many cases there may be.
    Limit,
    /// A field of a case.
    Field {
        /// The number of the case.
        number: u16,
        /// The struct that a case is.
        case: Vec<Token>,
        /// The field's name.
        field: Vec<Token>,
    },
    /// The size of a case, which is this struct.
    CaseBytes(Vec<Token>),
}

/// One step of a template; [`azulejo_core::ir::template::Step`] defines the meaning of each.
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
    /// The number of registers in a run.
    WindowLength { operand: usize },
    /// A value in the memory of a site.
    SiteValue { operand: usize, offset: SiteOffset, ty: Type, learns_slowly: bool },
    /// A field of the case that is known of a site.
    KnownCase { operand: usize, offset: SiteOffset, ty: Type },
    /// Code that knows a case may go on in code that knows none, or here if there is no other case.
    General { none: BlockRef },
    /// A call.
    Call {
        callee: StepCallee,
        convention: Convention,
        args: Vec<(Ref, Type)>,
        ret: Type,
        throws: bool,
        catches: bool,
        effect: Effect,
        memory: CallMemory,
    },
    /// Shows the frame to the call that follows.
    Show { call: u32 },
    /// The address of the frames that are shown.
    Frames,
    /// A call of a function of bytecode.
    Invoke { function: Ref, args: StepArguments, ret: Type, catches: bool, effect: Effect },
    /// A function of bytecode that was called has failed, and its caller goes on.
    Caught { function: Ref, code: Ref },
    /// Makes the bytecode another one.
    Quicken { opcode: usize },
    /// Writes a VM register.
    Write { operand: usize, value: Ref },
    /// Starts a block.
    Block { block: BlockRef, params: Vec<Type>, cold: bool },
    /// Jumps to a block.
    Jump { block: BlockRef, args: Vec<Ref> },
    /// Branches to one of two blocks.
    Branch { flag: Ref, then: BlockRef, otherwise: BlockRef, likelihood: Likelihood },
    /// Jumps to the target of a `Label` operand.
    Goto { operand: usize },
    /// Jumps to one of several label operands.
    Switch { value: Ref, operands: Vec<usize> },
    /// Returns from the function.
    Return { value: Option<Ref> },
    /// Ends the function with a tail call.
    Tail { function: Ref, args: StepArguments },
    /// Starts the slow path.
    Slow,
    /// Goes on with what no case of a site tells of.
    Outside { operand: usize },
    /// Leaves compiled code.
    Exit { to: Resume },
    /// Ends the function with a trap.
    Trap { code: Code },
}
