//! A template after its types were checked: what both the lowering and the interpreter's generator read.

use super::natives::Argument;
use super::signs::Sign;
use azulejo_core::vocab::{Op, Sig, Type};
use proc_macro2::{Ident, Span, TokenStream};

/// An expression with its type.
#[derive(Clone, Debug)]
pub(super) struct Typed {
    pub(super) kind: Kind,
    pub(super) ty: Type,
    /// How a narrow value is widened, and which of two operators it means.
    pub(super) sign: Sign,
    /// Whether control does not come back from it: it fits wherever a value is wanted.
    pub(super) leaves: bool,
    /// Whether it is a constant that takes the type and sign of what stands beside it.
    pub(super) is_loose: bool,
    pub(super) span: Span,
}

/// What an expression does.
#[derive(Clone, Debug)]
pub(super) enum Kind {
    /// An operator; `imm` is its constant, if it has one.
    Op {
        op: Op,
        sig: Sig,
        args: Vec<Typed>,
        imm: Option<Constant>,
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
    If(Box<Typed>, Box<Typed>, Box<Typed>),
    All(Vec<Typed>),
    Any(Vec<Typed>),
    Not(Box<Typed>),
    Likely(Box<Typed>, bool),
    Cold(Box<Typed>),
    Set(usize, Box<Typed>),
    Goto(usize),
    Switch(Box<Typed>, Vec<usize>),
    Return(Option<Box<Typed>>),
    /// To a label operand, or to the next bytecode.
    Exit(Option<usize>),
    Guard(Box<Typed>, Box<Typed>),
    Trap(TokenStream),
    /// A flag, the code of the trap that there is without it, and an expression with an access ([`Constant::Within`]) that
    /// may fault instead.
    Within(Box<Typed>, TokenStream, Box<Typed>),
    Call(Box<Call>),
    Invoke(Box<Invoke>),
    /// As `Invoke`, in this function's place.
    Tail(Box<Invoke>),
    Window(usize),
    WindowLength(usize),
    /// The address of an output, which is stored.
    Place(usize),
}

/// A constant: Rust tokens, or an operand of the bytecode.
#[derive(Clone, Debug)]
pub(super) enum Constant {
    Tokens(TokenStream),
    /// The address of a static.
    Address(TokenStream),
    Operand(usize),
    /// Of a load: nothing ever changes there.
    Pure,
    /// Of a load or store: it is what a `(within …)` is about, with this code.
    Within(TokenStream),
}

#[derive(Clone, Debug)]
pub(super) struct Call {
    pub(super) callee: Callee,
    /// Each argument and the scalar it is passed as.
    pub(super) args: Vec<(Typed, Ident)>,
    /// The same as rustc is to look at them.
    pub(super) given: Vec<Argument>,
    /// The scalar that is returned.
    pub(super) ret: Option<Ident>,
    /// What the function says that is.
    pub(super) returns: Option<Ident>,
    /// The convention that the template states.
    pub(super) abi: &'static str,
    pub(super) effect: &'static str,
    /// Whether the template vouches for addresses, and may call unsafe functions.
    pub(super) is_unsafe: bool,
}

/// A call of a function of bytecode.
#[derive(Clone, Debug)]
pub(super) struct Invoke {
    /// Its number.
    pub(super) function: Typed,
    pub(super) args: Arguments,
    pub(super) effect: &'static str,
}

/// What a function of bytecode is given.
#[derive(Clone, Debug)]
pub(super) enum Arguments {
    Values(Vec<Typed>),
    /// The registers of a run.
    Run(usize),
}

#[derive(Clone, Debug)]
pub(super) enum Callee {
    /// A Rust function, by way of the template's native function of this number.
    Native(usize),
    /// A Rust function of the stated convention.
    Path(TokenStream),
    /// An address.
    Value(Typed),
}

/// An operand of the opcode.
#[derive(Clone, Debug)]
pub(super) struct Operand {
    pub(super) name: String,
    pub(super) member: TokenStream,
    pub(super) kind: String,
    pub(super) scalar: Option<azulejo_core::vocab::Scalar>,
}

/// An opcode as the derive tells it.
#[derive(Clone, Debug)]
pub(super) struct Opcode {
    pub(super) name: Ident,
    pub(super) operands: Vec<Operand>,
}
