//! Syntax trees to bytecode.
//!
//! In: a function as the parser made it. Out: a [`Draft`], with drafts of the functions in it: bytecode, its lines, and the names that
//! error messages want. Variables live in VM registers, but for those in cells (see `bytecode`).
//!
//! An expression is put into a register that is asked for ([`Builder::put`]), or into any ([`Builder::any`]): then a variable's own register
//! will do. A condition becomes jumps ([`Builder::jump`]).

mod again;
mod assign;
mod call;
mod condition;
mod constructor;
mod dump;
mod expression;
mod function;
mod keep;
mod load;
mod names;
mod statement;
mod varargs;
mod watch;

use crate::depth::StackEnd;
use crate::object::heap::{Gc, Heap};
use crate::object::layout::Layout;
use crate::object::string::Str;
use crate::object::value::Value;
use crate::run::bytecode::Op;
pub(crate) use crate::run::draft::Watch;
use crate::run::draft::{CLOSURE, Draft, LocalName, NameKind, OperandName};
use crate::syntax::ast::{Function, Line, LocalId, UpvalueSource};
use keep::Owners;
use std::rc::Rc;

/// Why a function cannot be compiled: it is too complex.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct TooComplex {
    pub(crate) line: Line,
}

/// In which form functions are compiled.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Form {
    /// What others can see of them.
    pub(crate) watch: Watch,
    /// Whether all variables that inner functions use are in cells.
    pub(crate) shares_all: bool,
    /// Where the number of samples is that are due, if any are to be taken.
    pub(crate) samples: Option<u64>,
}

/// Makes bytecode of a chunk. The strings in it are put on the heap.
pub(crate) fn compile(heap: &mut Heap, chunk: &Function, form: Form) -> Result<Draft, TooComplex> {
    Builder::new(heap, chunk, &[], form).finish()
}

/// How an upvalue is captured: where the enclosing function has it, and whether it is in a cell.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CapturedVariable {
    pub(crate) source: UpvalueSource,
    pub(crate) is_shared: bool,
    /// Where the text of the function starts that it always is, if it is known.
    pub(crate) function: Option<usize>,
}

impl CapturedVariable {
    /// How a function that is compiled by itself captures its upvalues, as if they were the first local variables around it: whether each is in a
    /// cell, and where the text of the function starts that it always is.
    fn of_alone(upvalues: impl Iterator<Item = (bool, Option<usize>)>) -> Vec<CapturedVariable> {
        let capture = |(at, (is_shared, function))| {
            let source = UpvalueSource::Local(LocalId(at));
            CapturedVariable { source, is_shared, function }
        };
        (0..).zip(upvalues).map(capture).collect()
    }
}

/// The state of compiling one function.
pub(crate) struct Builder<'a> {
    heap: &'a mut Heap,
    function: &'a Function<'a>,
    /// Whether each upvalue is in a cell.
    shared: Vec<bool>,
    /// Where the text of the function starts that each local variable, or upvalue, always is.
    functions: Vec<Option<usize>>,
    captured_functions: Vec<Option<usize>>,
    form: Form,
    /// How many arguments there are behind the parameters, in registers that follow theirs; `None` if there is a pack of them.
    varargs: Option<u32>,
    code: Vec<Op>,
    lines: Vec<Line>,
    names: Vec<OperandName>,
    constants: Vec<Value>,
    layouts: Vec<Rc<Layout>>,
    inner: Vec<Draft>,
    /// Where each local variable is.
    places: Vec<Place>,
    /// What `keep` knows.
    owners: Owners,
    /// The next register that is free.
    free: u32,
    /// How many registers were ever in use.
    registers: u32,
    /// For each open loop, the jumps that leave it.
    breaks: Vec<Vec<usize>>,
    /// How many fields the table will get that is made next, beside those that its constructor says.
    fields_to_come: u32,
    /// The line that new bytecodes get.
    line: Line,
    /// The line at which hooks were let look last.
    looked: Option<Line>,
    locals: Vec<LocalName>,
    /// The local variables that are in scope, by their numbers in `locals`.
    open_locals: Vec<usize>,
    /// What nests takes some of it.
    stack: StackEnd,
}

/// Where a local variable is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Place {
    /// Not in scope yet.
    Nowhere,
    /// In this register.
    Register(u32),
    /// In a cell, whose address this register has.
    Cell(u32),
}

/// How many registers a function may have.
const MAX_REGISTERS: u32 = 60_000;

impl Builder<'_> {
    /// A string on the heap, which the function keeps.
    fn string(&mut self, name: &Rc<[u8]>) -> Gc<Str> {
        let string = self.heap.string(name);
        self.constants.push(Value::string(string));
        string
    }
}
