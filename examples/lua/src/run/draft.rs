//! Functions that are ready to be defined.
//!
//! In: what the compiler makes of source text. Out: what the program makes a function of.

use super::bytecode::Op;
use super::varargs::VarargForms;
use super::vm::{Prototype, Vm};
use crate::object::function::Definition;
use crate::object::heap::Gc;
use crate::object::layout::Layout;
use crate::object::value::Value;
use crate::syntax::ast::{FunctionText, Line, Name};
use std::rc::Rc;

/// A function that is ready to be defined.
pub(crate) struct Draft {
    pub(crate) code: Vec<Op>,
    /// The line of each bytecode.
    pub(crate) lines: Vec<Line>,
    /// What operands of bytecodes are called, by bytecode.
    pub(crate) names: Vec<OperandName>,
    /// Its local variables, in the order of their declarations.
    pub(crate) locals: Vec<LocalName>,
    /// How many VM registers there are.
    pub(crate) registers: u32,
    /// How many parameters there are.
    pub(crate) parameters: u32,
    pub(crate) is_vararg: bool,
    /// How it is compiled again, if it can be.
    pub(crate) recipe: Option<Box<dyn Recipe>>,
    /// If it may be compiled for known numbers of arguments.
    pub(crate) varargs: Option<VarargForms>,
    /// The strings in the code, which have to stay.
    pub(crate) constants: Vec<Value>,
    /// The layouts in the code, which have to stay.
    pub(crate) layouts: Vec<Rc<Layout>>,
    /// The functions in it, by the number that `NewClosure` has until they are defined.
    pub(crate) inner: Vec<Draft>,
    /// The names of its upvalues, and whether each is in a cell.
    pub(crate) upvalues: Vec<(Name, bool)>,
    /// The first and the last line; zero for a whole chunk.
    pub(crate) span: (Line, Line),
    /// Where it stands in the source, if there is one.
    pub(crate) text: Option<FunctionText>,
}

impl Draft {
    /// A function that no chunk has, so it has no lines. Its code ends in a return, up to which it has its closure, for `getinfo`.
    pub(crate) fn builtin(mut code: Vec<Op>, registers: u32, parameters: u32, is_vararg: bool) -> Draft {
        code.insert(code.len() - 1, Op::Keep { a: CLOSURE.into() });
        Draft {
            code,
            lines: Vec::new(),
            names: Vec::new(),
            locals: Vec::new(),
            registers,
            parameters,
            is_vararg,
            recipe: None,
            varargs: None,
            constants: Vec::new(),
            layouts: Vec::new(),
            inner: Vec::new(),
            upvalues: Vec::new(),
            span: (0, 0),
            text: None,
        }
    }
}

/// Compiles a function again, from its source.
pub(crate) trait Recipe {
    /// The form of a vararg function for so many arguments behind the parameters; `None` if there can be none.
    fn with_arguments(&self, vm: &mut Vm, prototype: &Prototype, more: u32) -> Option<Gc<Definition>>;

    /// The function as hooks want it; `None` if that is what it is, or if that can't be.
    fn watched(&self, vm: &mut Vm, prototype: &Prototype) -> Option<Gc<Definition>>;
}

/// The register of the function's closure.
pub(crate) const CLOSURE: u32 = 0;

/// What a bytecode calls.
pub(crate) const CALLEE: u32 = u32::MAX - 1;
/// What a loop calls: its functions know the name, but no error does that it is no function.
pub(crate) const ITERATOR: u32 = u32::MAX - 2;

/// The name of something that a bytecode works on, for an error message.
#[derive(Clone, Debug)]
pub(crate) struct OperandName {
    /// The bytecode.
    pub(crate) at: u32,
    /// Which of the values that it works on, from zero; or [`CALLEE`] or [`ITERATOR`].
    pub(crate) operand: u32,
    /// What it is: a local variable, a field, ….
    pub(crate) kind: NameKind,
    pub(crate) name: Name,
    /// Where the text of the function starts that is called, if it is known, as no variable can have another value.
    pub(crate) function: Option<usize>,
}

/// A local variable, for the library `debug`.
#[derive(Clone, Debug)]
pub(crate) struct LocalName {
    pub(crate) name: Name,
    pub(crate) register: u32,
    /// Whether the register has a cell, and that the value.
    pub(crate) is_cell: bool,
    /// The first bytecode in its scope.
    pub(crate) from: u32,
    /// The first one behind it.
    pub(crate) to: u32,
}

/// What a name is one of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum NameKind {
    Local,
    Global,
    Field,
    Upvalue,
    Method,
}

impl NameKind {
    /// The word in messages.
    pub(crate) fn word(self) -> &'static str {
        match self {
            NameKind::Local => "local",
            NameKind::Global => "global",
            NameKind::Field => "field",
            NameKind::Upvalue => "upvalue",
            NameKind::Method => "method",
        }
    }
}

/// What a function keeps ready for `debug`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Watch {
    /// Nothing.
    Nothing,
    /// Its closure, for `getfenv`, `setfenv` and `getinfo`.
    Closure,
    /// All local variables, and hooks are called.
    All,
}
