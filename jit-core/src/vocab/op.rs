//! What an operator is: a row of a table.
//!
//! The macros, the type checker, constant folding, the generator of the interpreter, the reference evaluator, the tests and
//! the documentation all read this table. A user's crate adds rows of the same form with `operators!`; a [`Vocabulary`] is the
//! built-in rows followed by the user's.

use super::atomic::Update;
use super::table::BUILTIN;
use super::trap::Trap;
use super::ty::Type;
use bitflags::bitflags;
use core::fmt;

/// An operator: an index into a [`Vocabulary`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Op(pub u16);

/// The kind of an operand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// The operating type: the result's for arithmetic, the operands' common one for a comparison.
    Same,
    /// Any integer or float, whatever the other operands are.
    Value,
    /// An address.
    Ptr,
    /// An integer of 64 bits.
    Word,
    /// The outcome of a comparison.
    Flag,
    /// A statement, executed for its effect.
    Void,
    /// A branch target.
    Label,
    /// The operands of a call: an `(arglist …)`.
    Args,
    /// One argument: a `(carg …)`.
    Arg,
}

/// The kind of an operator's result.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Yields {
    /// A value of the operating type.
    Same,
    /// A value of the type that is written as a parameter.
    Param,
    /// An address.
    Ptr,
    /// A flag.
    Flag,
    /// No value.
    Void,
    /// A branch target.
    Label,
    /// An argument list.
    Args,
    /// An argument.
    Arg,
}

/// A constant that is written after the operands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Param {
    /// The type of the result.
    Type,
    /// A byte offset that fits 32 bits.
    Offset,
    /// A distance in bytes between elements; any positive constant.
    Scale,
    /// A constant of the result's type.
    Value,
    /// A trap's number.
    Code,
    /// An [`Order`](super::atomic::Order).
    Order,
    /// The name of a label of this template.
    Name,
}

/// The types of a node that its meaning depends on.
#[derive(Clone, Copy, Debug)]
pub enum Key {
    /// The result's type; the operands have no other.
    Result,
    /// The operands' type; the result's type is fixed.
    Operand,
    /// Both types.
    Both {
        /// Whether the operator is defined from the first type to the second.
        legal: fn(Type, Type) -> bool,
    },
    /// Neither type: the operator has one form only.
    None,
}

/// How an operator reads its operands. An operand that is narrower than the others is widened by its own sign.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cast {
    /// All operands must have one width.
    None,
    /// As signed, if the sign matters.
    Signed,
    /// As unsigned, if the sign matters.
    Unsigned,
}

bitflags! {
    /// The properties of an operator on which passes rely.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub struct Props: u32 {
        /// The value depends on the operands alone. A node may be moved, shared and dropped.
        const PURE = 1;
        /// The two operands may be swapped.
        const COMMUTES = 1 << 1;
        /// The operator reads memory.
        const READS = 1 << 2;
        /// The operator writes memory.
        const WRITES = 1 << 3;
        /// A node must not be executed unless its `checks` have passed. It stays in its block, below them.
        const GUARDED = 1 << 4;
        /// The operator ends a block.
        const ENDS = 1 << 5;
        /// Templates may use the operator.
        const TEMPLATE = 1 << 6;
        /// Graphs may contain the operator.
        const GRAPH = 1 << 7;
        /// The last operand kind stands for any number of operands.
        const VARIADIC = 1 << 8;
        /// Like `VARIADIC`, but one more operand of kind `Same` ends the list.
        const LAST_VALUE = 1 << 9;
        /// Only the graph of a function that other functions call directly may contain the operator; or, for [`Op::FRAME`], one that shows frames of
        /// inlined functions.
        const CALLED = 1 << 11;
        /// Only the graph of a stencil may contain the operator; without `GRAPH`, only until placeholders are put into its holes.
        const STENCIL = 1 << 10;
        /// Only a graph whose [kinds](crate::ir::kinds) have not been lowered yet may contain the operator.
        const KINDS = 1 << 15;
        /// A node's constant says how it accesses memory: an [`Access`](crate::ir::graph::Access). `READS` and `WRITES` say
        /// what an ordinary access does.
        const ACCESS = 1 << 12;
        /// A result that is a NaN may be any NaN. Which one it is may differ from tier to tier.
        const ANY_NAN = 1 << 13;
        /// The second operand is a count. Its sign does not affect the sign of the result.
        const COUNTS = 1 << 14;
        /// The node's operands are values for VM registers, and its constant is the number of a
        /// [`FrameState`](crate::ir::state::FrameState). They may be anywhere.
        const STATE = 1 << 16;
        /// The value is read through a register that is kept for it, so any block may read it again, and that takes an instruction.
        const REREAD = 1 << 17;
        /// The value is the second result of the call that is the operand. The call's instruction writes it, and there is no
        /// other. It stands in the call's block.
        const SECOND = 1 << 18;
        /// The value is in a register from the entry on, which a machine may keep for it alone: no block has to have it moved there.
        const STAYS = 1 << 19;
        /// The value is the address of the function's slots, which no other thread accesses.
        const SLOTS = 1 << 20;
        /// The value is the operand's bits, which take an instruction to get from one register file to the other. So from a slot they are
        /// loaded once more.
        const BITS = 1 << 21;
        /// Says what is the case. Passes make use of it, and it is gone before instructions are selected.
        const CLAIM = 1 << 22;
    }
}

/// The set of operating types for which an operator is defined.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Types(pub u8);

impl Types {
    /// None: the operator has one form only.
    pub const NONE: Types = Types(0);
    /// 8 to 64 bits.
    pub const INT: Types = Types(0b0000_1111);
    /// 16 to 64 bits.
    pub const WIDE: Types = Types(0b0000_1110);
    /// Both floats.
    pub const FLOAT: Types = Types(0b0011_0000);
    /// All types of values that registers hold.
    pub const VALUE: Types = Types(0b0011_1111);
    /// 64 bits.
    pub const WORD: Types = Types(0b0000_1000);
    /// 32 bits.
    pub const HALF: Types = Types(0b0000_0100);
    /// The types whose values fill a register or its float part: the widest integer, and floats.
    pub const HELD: Types = Types(0b0011_1000);
    /// The types in `HELD`, and the 32-bit integer, which fills the low half of a register.
    pub const HANDED: Types = Types(0b0011_1100);

    /// Whether `ty` is in the set.
    pub const fn contains(self, ty: Type) -> bool {
        self.0 & (1 << ty as u8) != 0
    }

    /// The members in order.
    pub fn iter(self) -> impl Iterator<Item = Type> {
        Type::ALL.into_iter().filter(move |ty| self.contains(*ty))
    }
}

/// The two types of a node.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub struct Sig {
    /// The type of the operands if the operator's key depends on it, else `Void`.
    pub from: Type,
    /// The type of the result.
    pub ty: Type,
}

/// The reference meaning on bits. The arguments are the operands, then the params.
pub type Reference = fn(Sig, &[u64]) -> Result<u64, Trap>;

/// A condition under which a guarded operator traps, as template text over `$0 $1`.
#[derive(Clone, Copy, Debug)]
pub struct Check {
    /// The trap that is raised.
    pub trap: Trap,
    /// A flag expression in the template language. `%min` is the least integer of the operating type. `%below` and `%above`
    /// are the floats next to the range of the signed result type on either side; `%beyond` is the float next above the range
    /// of the unsigned one.
    pub when: &'static str,
    /// The key types on which this check is needed.
    pub on: Types,
}

/// One row of the table.
#[derive(Clone, Copy, Debug)]
pub struct OpInfo {
    /// The name in templates, patterns and dumps.
    pub name: &'static str,
    /// The operands in order.
    pub operands: &'static [Kind],
    /// The constants after the operands.
    pub params: &'static [Param],
    /// The result.
    pub yields: Yields,
    /// The types that the meaning depends on.
    pub key: Key,
    /// The operating types for which it is defined.
    pub types: Types,
    /// How it reads its operands.
    pub cast: Cast,
    /// For an operator that depends on its operands' sign, its counterpart on unsigned operands. In templates, the name of the
    /// signed operator stands for both.
    pub unsigned: Option<Op>,
    /// The properties that passes may assume.
    pub props: Props,
    /// The value that it computes, if it is an operator on values.
    pub reference: Option<Reference>,
    /// The new value that an atomic read-modify-write operator stores at the address in its first operand. Its result is the
    /// old value.
    pub update: Option<Update>,
    /// The conditions under which it traps.
    pub checks: &'static [Check],
}

impl OpInfo {
    /// Whether the operator is defined for a node with these types.
    pub fn allows(&self, sig: Sig) -> bool {
        match self.key {
            Key::None => true,
            Key::Result => self.types.contains(sig.ty),
            Key::Operand => self.types.contains(sig.from),
            Key::Both { legal } => legal(sig.from, sig.ty),
        }
    }

    /// Every pair of types for which the operator is defined.
    pub fn sigs(&self) -> Vec<Sig> {
        let fixed = match self.yields {
            Yields::Flag => Type::Flag,
            Yields::Ptr => Type::I64,
            _ => Type::Void,
        };
        match self.key {
            Key::None => vec![Sig { from: Type::Void, ty: fixed }],
            Key::Result => self.types.iter().map(|ty| Sig { from: Type::Void, ty }).collect(),
            Key::Operand => self.types.iter().map(|from| Sig { from, ty: fixed }).collect(),
            Key::Both { legal } => Type::ALL
                .into_iter()
                .flat_map(|from| Type::ALL.into_iter().map(move |ty| Sig { from, ty }))
                .filter(|sig| legal(sig.from, sig.ty))
                .collect(),
        }
    }

    /// Whether the operator is a call: a [`CallData`](crate::ir::graph::CallData) describes its effect, and its operands
    /// follow a calling convention.
    pub const fn is_call(&self) -> bool {
        matches!(self.operands, [.., Kind::Args])
    }

    /// Whether it is a call whose callee may be known only at run time.
    pub fn calls_addresses(&self) -> bool {
        self.is_call() && self.operands.contains(&Kind::Ptr)
    }

    /// Whether the operator may trap when it works on `ty`.
    pub fn traps_on(&self, ty: Type) -> bool {
        self.checks.iter().any(|check| check.on.contains(ty))
    }

    /// Whether a node with these types may be moved, shared and dropped freely.
    pub fn is_pure(&self, sig: Sig) -> bool {
        self.props.contains(Props::PURE) && !self.is_guarded(sig)
    }

    /// Whether a node with these types must stay below the checks in its block.
    pub fn is_guarded(&self, sig: Sig) -> bool {
        let key = match self.key {
            Key::Result => sig.ty,
            _ => sig.from,
        };
        self.props.contains(Props::GUARDED) && self.traps_on(key)
    }
}

impl Op {
    /// The arguments that a function of bytecode may receive in registers from another; the machine decides how many of them
    /// do.
    pub const ARGUMENTS: [Op; 5] =
        [Op::ARGUMENT0, Op::ARGUMENT1, Op::ARGUMENT2, Op::ARGUMENT3, Op::ARGUMENT4];

    /// The number of built-in operators; a user's operators follow them.
    pub const BUILTINS: u16 = BUILTIN.len() as u16;
}

impl fmt::Debug for Op {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match BUILTIN.get(self.0 as usize) {
            Some(info) => f.write_str(info.name),
            None => write!(f, "op{}", self.0),
        }
    }
}

/// The built-in operators and those that a user added.
#[derive(Clone, Copy, Debug)]
pub struct Vocabulary {
    /// A user's rows; the first is operator number [`Op::BUILTINS`].
    pub extra: &'static [OpInfo],
}

impl Vocabulary {
    /// The built-in operators alone.
    pub const BUILTIN: Vocabulary = Vocabulary { extra: &[] };

    /// The row of an operator.
    #[inline]
    pub fn info(self, op: Op) -> &'static OpInfo {
        match BUILTIN.get(op.0 as usize) {
            Some(info) => info,
            None => &self.extra[(op.0 - Op::BUILTINS) as usize],
        }
    }

    /// The operator with this name.
    pub fn find(self, name: &str) -> Option<Op> {
        self.iter().find(|(_, info)| info.name == name).map(|(op, _)| op)
    }

    /// Every operator with its row.
    pub fn iter(self) -> impl Iterator<Item = (Op, &'static OpInfo)> {
        BUILTIN.iter().chain(self.extra).enumerate().map(|(at, info)| (Op(at as u16), info))
    }

    /// Computes a node's value from operands given as bits; `None` if the operator is not one on values.
    pub fn evaluate(self, op: Op, sig: Sig, operands: &[u64]) -> Option<Result<u64, Trap>> {
        self.info(op).reference.map(|reference| reference(sig, operands))
    }
}
