//! The syntax tree of a chunk, in which every name is resolved.
//!
//! In: nothing. Out: the types that the parser makes and the compiler to bytecode reads.
//!
//! What C's Lua parses in a loop is a list here and not a deeper tree: operators of one level (`a + b - c`), and what stands behind a
//! primary expression (`a.b(c).d`). So the depth of a tree is at most what the parser allows, however long a program is.

use std::ops::Range;
use std::rc::Rc;

/// A name or another string of the source.
pub type Name = Rc<[u8]>;

/// The number of a line, from one.
pub type Line = u32;

/// A local variable of a function: its index in [`Function::locals`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LocalId(pub u32);

/// A function: the whole chunk, or one that is defined in it.
#[derive(Debug)]
pub struct Function {
    /// All local variables, in the order of their declarations; the parameters are the first.
    pub locals: Vec<Local>,
    /// How many parameters there are, with `self`, and without `...`.
    pub parameters: u32,
    /// Whether it takes more arguments than its parameters.
    pub is_vararg: bool,
    /// A local variable that is a table of the arguments behind the parameters, as Lua 5.0 had it; nil if the function uses `...`.
    pub arg: Option<LocalId>,
    /// Whether it uses `...`.
    pub uses_dots: bool,
    /// The variables of functions around it that it uses.
    pub upvalues: Vec<Upvalue>,
    /// What it does.
    pub body: Block,
    /// The line of the word `function`; zero for the whole chunk.
    pub line: Line,
    /// The line of the `end`.
    pub last_line: Line,
    /// Where it stands in the source.
    pub text: FunctionText,
}

/// Where a function stands in the source.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FunctionText {
    /// Its bytes from the parenthesis in front of the parameters to the `end`, or those of the whole chunk.
    pub bytes: Range<usize>,
    /// The line of the first byte.
    pub line: Line,
    /// Whether its first parameter is a `self` that is not written.
    pub is_method: bool,
}

/// A local variable.
#[derive(Clone, Debug)]
pub struct Local {
    /// Its name; those that are not the program's have one in parentheses.
    pub name: Name,
    /// Whether something uses it.
    pub is_used: bool,
    /// Whether a function in this one uses it.
    pub is_captured: bool,
    /// Whether it is assigned to after its declaration.
    pub is_assigned: bool,
}

/// A variable of a function around this one.
#[derive(Clone, Debug)]
pub struct Upvalue {
    /// Its name.
    pub name: Name,
    /// Where the function around this one has it.
    pub source: UpvalueSource,
    /// Whether this function, or one in it, assigns to it.
    pub is_assigned: bool,
}

/// Where the enclosing function has a variable that an inner one uses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum UpvalueSource {
    /// It is one of its local variables.
    Local(LocalId),
    /// It is an upvalue there, too, with this index.
    Upvalue(u32),
}

/// Statements, one after the other.
#[derive(Debug, Default)]
pub struct Block {
    /// The statements.
    pub statements: Vec<Statement>,
}

/// A statement with the line of its first token.
#[derive(Debug)]
pub struct Statement {
    /// Where it starts.
    pub line: Line,
    /// What it is.
    pub kind: StatementKind,
}

/// What a statement is.
#[derive(Debug)]
pub enum StatementKind {
    /// `local a, b = 1, 2`
    Local(Vec<LocalId>, Vec<Expr>),
    /// `local function f() … end`, whose body may name the variable.
    LocalFunction(LocalId, Box<Function>),
    /// `a, b.c = 1, 2`
    Assign(Vec<Expr>, Vec<Expr>, Line),
    /// A call whose results nobody wants.
    Call(Expr),
    /// `do … end`
    Do(Block),
    /// `while condition do … end`
    While(Expr, Block),
    /// `repeat … until condition`; the condition sees the local variables of the block.
    Repeat(Block, Expr),
    /// `if … then … elseif … else … end`
    If(Vec<(Expr, Block)>, Option<Block>),
    /// `for v = start, limit, step do … end`
    NumericFor(Box<NumericFor>),
    /// `for a, b in … do … end`
    GenericFor(Box<GenericFor>),
    /// `return …`
    Return(Vec<Expr>),
    /// `break`
    Break,
}

/// The parts of `for v = start, limit, step do … end`.
#[derive(Debug)]
pub struct NumericFor {
    /// The variable, which is a new one in each iteration.
    pub variable: LocalId,
    /// Its first value.
    pub start: Expr,
    /// Its last value at most.
    pub limit: Expr,
    /// What is added each time; one if it is missing.
    pub step: Option<Expr>,
    /// The line of `do`, where the loop begins.
    pub begin: Line,
    /// What is repeated.
    pub body: Block,
}

/// The parts of `for a, b in values do … end`.
#[derive(Debug)]
pub struct GenericFor {
    /// The variables, which are new ones in each iteration.
    pub variables: Vec<LocalId>,
    /// The iterator, its state, and the first value of what controls the loop.
    pub values: Vec<Expr>,
    /// The line of what follows `in`, where the iterator is called.
    pub line: Line,
    /// What is repeated.
    pub body: Block,
}

/// An expression.
#[derive(Debug)]
pub enum Expr {
    /// `nil`
    Nil,
    /// `true` or `false`
    Bool(bool),
    /// A number.
    Number(f64),
    /// A string.
    String(Name),
    /// `...`
    Vararg,
    /// `function () … end`
    Function(Box<Function>),
    /// A local variable.
    Local(LocalId),
    /// A variable of a function around this one, by its index.
    Upvalue(u32),
    /// A global variable, and the line of its name.
    Global(Name, Line),
    /// A constructor of a table.
    Table(Box<Constructor>),
    /// An expression and what stands behind it: at least one suffix.
    Suffixed(Box<Expr>, Vec<Suffix>),
    /// `not a`, `-a`, `#a`; the line is that of the operator.
    Unary(UnaryOp, Box<Expr>, Line),
    /// An expression and operators that take, one after the other, what is there so far as their left operand: at least one.
    Binary(Box<Expr>, Vec<Operation>),
    /// An expression in parentheses, which has one value, whatever is in them.
    Paren(Box<Expr>),
}

/// What stands behind an expression.
#[derive(Debug)]
pub struct Suffix {
    /// The line of its first token.
    pub line: Line,
    /// What it is.
    pub kind: SuffixKind,
}

/// What stands behind an expression.
#[derive(Debug)]
pub enum SuffixKind {
    /// `.name`
    Field(Name),
    /// `[key]`
    Index(Expr),
    /// `(arguments)`
    Call(Vec<Expr>),
    /// `:name(arguments)`
    Method(Name, Vec<Expr>),
}

/// An operator and its right operand.
#[derive(Debug)]
pub struct Operation {
    /// The operator.
    pub op: BinaryOp,
    /// Where the operator stands.
    pub line: Line,
    /// The right operand.
    pub right: Expr,
}

/// A constructor of a table.
#[derive(Debug, Default)]
pub struct Constructor {
    /// Where it starts.
    pub line: Line,
    /// What is put in, in order.
    pub items: Vec<ConstructorItem>,
}

/// A part of a table's constructor.
#[derive(Debug)]
pub enum ConstructorItem {
    /// The next value of the list.
    Positional(Expr),
    /// `[key] = value`, or `name = value`.
    Keyed(Expr, Expr),
}

impl ConstructorItem {
    /// What is put in.
    pub fn value(&self) -> &Expr {
        match self {
            ConstructorItem::Positional(value) | ConstructorItem::Keyed(_, value) => value,
        }
    }
}

/// An operator with one operand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum UnaryOp {
    /// `-`
    Negate,
    /// `not`
    Not,
    /// `#`
    Length,
}

/// An operator with two operands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BinaryOp {
    /// `+`
    Add,
    /// `-`
    Subtract,
    /// `*`
    Multiply,
    /// `/`
    Divide,
    /// `%`
    Modulo,
    /// `^`
    Power,
    /// `..`
    Concat,
    /// `==`
    Equal,
    /// `~=`
    NotEqual,
    /// `<`
    Less,
    /// `<=`
    LessEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterEqual,
    /// `and`
    And,
    /// `or`
    Or,
}

impl Expr {
    /// Whether it may have any number of values where a list of expressions ends with it.
    pub fn is_multiple(&self) -> bool {
        match self {
            Expr::Vararg => true,
            Expr::Suffixed(_, suffixes) => {
                matches!(
                    suffixes.last(),
                    Some(Suffix { kind: SuffixKind::Call(_) | SuffixKind::Method(..), .. })
                )
            }
            _ => false,
        }
    }
}
