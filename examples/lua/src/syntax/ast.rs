//! The syntax tree of a chunk, in which every name is resolved.
//!
//! In: nothing. Out: the types that the parser makes and the compiler to bytecode reads.
//!
//! A tree is in an [`Arena`](super::Arena), and refers to what is in that: nodes, lists, and names.
//!
//! What C's Lua parses in a loop is a list here and not a deeper tree: operators of one level (`a + b - c`), and what stands behind a
//! primary expression (`a.b(c).d`). So the depth of a tree is at most what the parser allows, however long a program is.

use std::cell::Cell;
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
pub struct Function<'a> {
    /// All local variables, in the order of their declarations; the parameters are the first.
    pub locals: &'a [Local<'a>],
    /// How many parameters there are, with `self`, and without `...`.
    pub parameters: u32,
    /// Whether it takes more arguments than its parameters.
    pub is_vararg: bool,
    /// A local variable that is a table of the arguments behind the parameters, as Lua 5.0 had it; nil if the function uses `...`.
    pub arg: Option<LocalId>,
    /// Whether it uses `...`.
    pub uses_dots: bool,
    /// The variables of functions around it that it uses.
    pub upvalues: &'a [Upvalue<'a>],
    /// What it does.
    pub body: Block<'a>,
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
#[derive(Clone, Copy, Debug)]
pub struct Local<'a> {
    /// Its name; those that are not the program's have one in parentheses.
    pub name: &'a Name,
    /// Whether something uses it.
    pub is_used: bool,
    /// Whether a function in this one uses it.
    pub is_captured: bool,
    /// Whether it is assigned to after its declaration.
    pub is_assigned: bool,
}

/// A variable of a function around this one.
#[derive(Clone, Copy, Debug)]
pub struct Upvalue<'a> {
    /// Its name.
    pub name: &'a Name,
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
pub struct Block<'a> {
    /// The statements.
    pub statements: &'a [Statement<'a>],
}

/// A statement with the line of its first token.
#[derive(Debug)]
pub struct Statement<'a> {
    /// Where it starts.
    pub line: Line,
    /// What it is.
    pub kind: StatementKind<'a>,
}

/// What a statement is.
#[derive(Debug)]
pub enum StatementKind<'a> {
    /// `local a, b = 1, 2`
    Local(&'a [LocalId], &'a [Expr<'a>]),
    /// `local function f() … end`, whose body may name the variable.
    LocalFunction(LocalId, &'a Function<'a>),
    /// `a, b.c = 1, 2`
    Assign(&'a [Expr<'a>], &'a [Expr<'a>], Line),
    /// A call whose results nobody wants.
    Call(Expr<'a>),
    /// `do … end`
    Do(Block<'a>),
    /// `while condition do … end`
    While(Expr<'a>, Block<'a>),
    /// `repeat … until condition`; the condition sees the local variables of the block.
    Repeat(Block<'a>, Expr<'a>),
    /// `if … then … elseif … else … end`
    If(&'a [(Expr<'a>, Block<'a>)], Option<Block<'a>>),
    /// `for v = start, limit, step do … end`
    NumericFor(&'a NumericFor<'a>),
    /// `for a, b in … do … end`
    GenericFor(&'a GenericFor<'a>),
    /// `return …`
    Return(&'a [Expr<'a>]),
    /// `break`
    Break,
}

/// The parts of `for v = start, limit, step do … end`.
#[derive(Debug)]
pub struct NumericFor<'a> {
    /// The variable, which is a new one in each iteration.
    pub variable: LocalId,
    /// Its first value.
    pub start: Expr<'a>,
    /// Its last value at most.
    pub limit: Expr<'a>,
    /// What is added each time; one if it is missing.
    pub step: Option<Expr<'a>>,
    /// The line of `do`, where the loop begins.
    pub begin: Line,
    /// What is repeated.
    pub body: Block<'a>,
}

/// The parts of `for a, b in values do … end`.
#[derive(Debug)]
pub struct GenericFor<'a> {
    /// The variables, which are new ones in each iteration.
    pub variables: &'a [LocalId],
    /// The iterator, its state, and the first value of what controls the loop.
    pub values: &'a [Expr<'a>],
    /// The line of what follows `in`, where the iterator is called.
    pub line: Line,
    /// What is repeated.
    pub body: Block<'a>,
}

/// An expression.
#[derive(Debug)]
pub enum Expr<'a> {
    /// `nil`
    Nil,
    /// `true` or `false`
    Bool(bool),
    /// A number.
    Number(f64),
    /// A string.
    String(&'a Name),
    /// `...`
    Vararg,
    /// `function () … end`
    Function(&'a Function<'a>),
    /// A local variable.
    Local(LocalId),
    /// A variable of a function around this one, by its index.
    Upvalue(u32),
    /// A global variable, and the line of its name.
    Global(&'a Name, Line),
    /// A constructor of a table.
    Table(&'a Constructor<'a>),
    /// An expression and what stands behind it: at least one suffix.
    Suffixed(&'a Expr<'a>, &'a [Suffix<'a>]),
    /// `not a`, `-a`, `#a`; the line is that of the operator.
    Unary(UnaryOp, &'a Expr<'a>, Line),
    /// An expression and operators that take, one after the other, what is there so far as their left operand: at least one.
    Binary(&'a Expr<'a>, &'a [Operation<'a>]),
    /// An expression in parentheses, which has one value, whatever is in them.
    Paren(&'a Expr<'a>),
}

/// What stands behind an expression.
#[derive(Debug)]
pub struct Suffix<'a> {
    /// The line at which it is done, which the parser may learn only when it has read on: a field as an argument is got at the line of what follows.
    pub line: Cell<Line>,
    /// What it is.
    pub kind: SuffixKind<'a>,
}

/// What stands behind an expression.
#[derive(Debug)]
pub enum SuffixKind<'a> {
    /// `.name`
    Field(&'a Name),
    /// `[key]`
    Index(Expr<'a>),
    /// `(arguments)`
    Call(&'a [Expr<'a>]),
    /// `:name(arguments)`
    Method(&'a Name, &'a [Expr<'a>]),
}

/// An operator and its right operand.
#[derive(Debug)]
pub struct Operation<'a> {
    /// The operator.
    pub op: BinaryOp,
    /// Where the operator stands.
    pub line: Line,
    /// The right operand.
    pub right: Expr<'a>,
}

/// A constructor of a table.
#[derive(Debug, Default)]
pub struct Constructor<'a> {
    /// Where it starts.
    pub line: Line,
    /// What is put in, in order.
    pub items: &'a [ConstructorItem<'a>],
}

/// A part of a table's constructor.
#[derive(Debug)]
pub enum ConstructorItem<'a> {
    /// The next value of the list.
    Positional(Expr<'a>),
    /// `[key] = value`, or `name = value`.
    Keyed(Expr<'a>, Expr<'a>),
}

impl<'a> ConstructorItem<'a> {
    /// What is put in.
    pub fn value(&self) -> &Expr<'a> {
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

impl Expr<'_> {
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
