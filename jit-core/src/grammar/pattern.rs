//! Patterns and rules as plain data, and their expansion into concrete trees.
//!
//! A [`Rule`] may leave types open: classes, alternatives, variables, no suffix at all. [`concrete`] lists
//! every choice that fits the operator table and the symbols: a child's type follows from its parent's, so most
//! patterns need one suffix at their root.

use super::error::{MAX_DEPTH, Part, Problem, Refusal};
use crate::vocab::op::{Key, Kind, Param};
use crate::vocab::{Class, Op, OpInfo, Props, Sig, Type, Vocabulary};
use core::fmt;

/// What a pattern's leaf or result is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Symbol {
    /// An integer register.
    Reg,
    /// A float register.
    Num,
    /// The CPU's flags.
    Flag,
    /// Nothing.
    Void,
}

impl Symbol {
    /// Every symbol, in the order of the discriminants.
    pub const ALL: [Symbol; 4] = [Symbol::Reg, Symbol::Num, Symbol::Flag, Symbol::Void];

    /// How patterns spell it.
    pub const fn name(self) -> &'static str {
        match self {
            Symbol::Reg => "reg",
            Symbol::Num => "num",
            Symbol::Flag => "flag",
            Symbol::Void => "void",
        }
    }

    /// The symbol that patterns spell `name`.
    pub fn from_name(name: &str) -> Option<Symbol> {
        Symbol::ALL.into_iter().find(|symbol| symbol.name() == name)
    }

    /// What holds a value of this type.
    pub const fn of(ty: Type) -> Symbol {
        match ty {
            Type::Flag => Symbol::Flag,
            Type::Void => Symbol::Void,
            Type::F32 | Type::F64 => Symbol::Num,
            _ => Symbol::Reg,
        }
    }

    /// The class of register it stands for.
    pub const fn class(self) -> Option<Class> {
        match self {
            Symbol::Reg => Some(Class::Int),
            Symbol::Num => Some(Class::Float),
            Symbol::Flag | Symbol::Void => None,
        }
    }
}

impl fmt::Display for Symbol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What a pattern may ask of a constant: its value as a signed number of its own type.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Predicate {
    /// Fits 8 bits with sign.
    Imm8,
    /// Fits 32 bits with sign.
    Imm32,
    /// Fits 32 bits without sign.
    Uimm32,
    /// 0.
    Zero,
    /// 1.
    One,
    /// -1.
    MinusOne,
    /// A power of two as an unsigned number.
    Pow2,
    /// 1, 2, 4 or 8.
    Scale,
    /// 3, 5 or 9: a scale and one more.
    Factor,
}

impl Predicate {
    /// Every predicate, in the order of the discriminants.
    pub const ALL: [Predicate; 9] = [
        Predicate::Imm8,
        Predicate::Imm32,
        Predicate::Uimm32,
        Predicate::Zero,
        Predicate::One,
        Predicate::MinusOne,
        Predicate::Pow2,
        Predicate::Scale,
        Predicate::Factor,
    ];

    /// How patterns spell it.
    pub const fn name(self) -> &'static str {
        match self {
            Predicate::Imm8 => "imm8",
            Predicate::Imm32 => "imm32",
            Predicate::Uimm32 => "uimm32",
            Predicate::Zero => "zero",
            Predicate::One => "one",
            Predicate::MinusOne => "minus_one",
            Predicate::Pow2 => "pow2",
            Predicate::Scale => "scale",
            Predicate::Factor => "factor",
        }
    }

    /// The predicate that patterns spell `name`.
    pub fn from_name(name: &str) -> Option<Predicate> {
        Predicate::ALL.into_iter().find(|predicate| predicate.name() == name)
    }

    /// The predicates that hold for a constant, as bits in the order of [`Predicate::ALL`].
    #[inline]
    pub const fn mask(ty: Type, bits: u64) -> u16 {
        let value = ty.signed(bits);
        let unsigned = ty.truncate(bits);
        (value == value as i8 as i64) as u16
            | ((value == value as i32 as i64) as u16) << 1
            | ((value >= 0 && value <= u32::MAX as i64) as u16) << 2
            | ((value == 0) as u16) << 3
            | ((value == 1) as u16) << 4
            | ((value == -1) as u16) << 5
            | (unsigned.is_power_of_two() as u16) << 6
            | (matches!(value, 1 | 2 | 4 | 8) as u16) << 7
            | (matches!(value, 3 | 5 | 9) as u16) << 8
    }

    /// Every mask that some constant of type `ty` has.
    ///
    /// The masks change only at the bounds of the predicates, at powers of two and next to both.
    pub fn masks(ty: Type) -> Vec<u16> {
        let mut masks: Vec<u16> = (0..64)
            .map(|bit| 1u64 << bit)
            .chain([0, 3])
            .flat_map(|edge| [edge - (edge > 0) as u64, edge, edge + 1])
            .flat_map(|value| [value, value.wrapping_neg()])
            .map(|value| Predicate::mask(ty, ty.truncate(value)))
            .collect();
        masks.sort_unstable();
        masks.dedup();
        masks
    }
}

/// A type suffix.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TypeSpec {
    /// The variable it binds or repeats.
    pub var: Option<String>,
    /// The types it allows, as bits by discriminant.
    pub types: u8,
}

impl TypeSpec {
    /// The types a class name or a type name stands for.
    pub fn named(name: &str) -> Option<u8> {
        Some(match name {
            "int" => 0b0000_1111,
            "wide" => 0b0000_1110,
            "float" => 0b0011_0000,
            "value" => 0b0011_1111,
            _ => 1 << Type::from_name(name)? as u8,
        })
    }
}

/// A pattern.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Pattern {
    /// Numbers the sub-patterns of a rule, so that an error finds its token.
    pub id: u32,
    /// The `$name@` before it.
    pub bind: Option<String>,
    /// What it matches.
    pub shape: Shape,
}

/// What a pattern matches.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Shape {
    /// Whatever can be brought into this form.
    Symbol(Symbol),
    /// The very node that `$name@` matched.
    Same(String),
    /// An operator.
    Node {
        /// Its name.
        op: String,
        /// Its type suffixes.
        types: Vec<TypeSpec>,
        /// The operands.
        children: Vec<Pattern>,
        /// The names of constants after them.
        params: Vec<String>,
        /// What a constant's value must be.
        predicate: Option<Predicate>,
    },
}

/// Which operand of a tile a clause is about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Place {
    /// The result.
    Out,
    /// The n-th operand in a register, in pattern order.
    Use(u8),
}

/// What a tile asks of the allocator or the CPU. Registers are names: what they mean is the machine's affair.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Clause {
    /// The result shares a register with this operand.
    Tied(u8),
    /// An operand or the result has to be in a register.
    Fixed(Place, String),
    /// The content of these registers is lost.
    Clobber(Vec<String>),
    /// A scratch register.
    Temp(Class),
    /// The result is written before the operands were read.
    Early,
    /// The operand is read after the result was written.
    Late(u8),
    /// The operand may be in its spill slot.
    Any(u8),
    /// Only on CPUs that have this.
    Needs(String),
    /// The result is there when the function is entered; nothing is emitted.
    Entry,
}

/// A tile as the grammar sees it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Rule {
    /// Its name.
    pub name: String,
    /// What it covers.
    pub pattern: Pattern,
    /// What it yields.
    pub result: Symbol,
    /// What it costs.
    pub cost: u16,
    /// What it asks for.
    pub clauses: Vec<Clause>,
}

/// A machine's tiles.
#[derive(Clone, Debug)]
pub struct Grammar {
    /// The operators that patterns may use.
    pub vocab: Vocabulary,
    /// The names of CPU features; a feature's bit is its position.
    pub features: Vec<String>,
    /// The tiles in order; of two equally cheap ones the first is taken.
    pub rules: Vec<Rule>,
    /// Whether every form that graphs may hold must be covered.
    pub complete: bool,
    /// How many rules, from the first, must all be of use. Those behind come from a set that is extended: they may
    /// lose to the others.
    pub own: usize,
}

/// A pattern with its operators found and its types chosen.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Concrete {
    /// A leaf.
    Symbol(Symbol),
    /// The node bound by this name.
    Same(String),
    /// An operator.
    Node {
        /// Which.
        op: Op,
        /// On which types, as tables are keyed: see [`key`].
        sig: Sig,
        /// Operands in pattern order.
        children: Vec<(Option<String>, Concrete)>,
        /// What a constant's value must be.
        predicate: Option<Predicate>,
    },
}

/// Whether a node of this operator is a constant.
pub fn is_const(info: &OpInfo) -> bool {
    info.params.contains(&Param::Value)
}

/// Whether a node of this operator has a constant for the emitter.
pub fn has_imm(info: &OpInfo) -> bool {
    info.params.iter().any(|param| *param != Param::Type)
}

/// The operands that patterns match.
pub fn matched(info: &OpInfo) -> impl Iterator<Item = Kind> {
    let call = info.is_call();
    info.operands
        .iter()
        .copied()
        .filter(move |kind| !matches!(kind, Kind::Label | Kind::Args) || call && *kind == Kind::Ptr)
}

/// The signature that tables are keyed by. Tells a call of a computed address from one of a known function.
#[inline]
pub const fn key(sig: Sig, indirect: bool) -> Sig {
    if indirect { Sig { from: Type::I64, ty: sig.ty } } else { sig }
}

/// The type that an operand of this kind has.
pub fn operand_type(info: &OpInfo, kind: Kind, sig: Sig) -> Type {
    match kind {
        Kind::Ptr | Kind::Word => Type::I64,
        Kind::Flag => Type::Flag,
        Kind::Same | Kind::Value => match info.key {
            Key::Result => sig.ty,
            _ => sig.from,
        },
        _ => Type::Void,
    }
}

type Vars = Vec<(String, Type)>;

/// Every concrete tree of a rule, in a fixed order.
pub fn concrete(grammar: &Grammar, at: usize) -> Result<Vec<(Sig, Concrete)>, Refusal> {
    let rule = &grammar.rules[at];
    let expander = Expander { vocab: grammar.vocab, rule: at };
    let mut bound = Vec::new();
    expander.check(&rule.pattern, 0, &mut bound)?;
    let trees = expander.expand(&rule.pattern, None, &Vec::new());
    if trees.is_empty() {
        return Err(expander.refuse(&rule.pattern, Problem::NoTypes));
    }
    let mut found: Vec<(Sig, Concrete)> = Vec::new();
    for (tree, ty, _) in trees {
        if Symbol::of(ty) == rule.result {
            found.push((Sig { from: Type::Void, ty }, tree));
        }
    }
    if found.is_empty() {
        return Err(expander.refuse(&rule.pattern, Problem::Result(rule.result)));
    }
    Ok(found)
}

struct Expander {
    vocab: Vocabulary,
    rule: usize,
}

impl Expander {
    fn refuse(&self, pattern: &Pattern, problem: Problem) -> Refusal {
        Refusal { rule: Some(self.rule), part: Part::Pattern(pattern.id), problem }
    }

    /// What does not depend on types.
    fn check(&self, pattern: &Pattern, depth: usize, bound: &mut Vec<String>) -> Result<(), Refusal> {
        if depth > MAX_DEPTH {
            return Err(self.refuse(pattern, Problem::TooDeep));
        }
        bound.extend(pattern.bind.clone());
        match &pattern.shape {
            Shape::Symbol(Symbol::Void) => Err(self.refuse(pattern, Problem::Symbol(Symbol::Void))),
            Shape::Symbol(symbol) if depth == 0 => Err(self.refuse(pattern, Problem::Symbol(*symbol))),
            Shape::Symbol(_) => Ok(()),
            Shape::Same(name) if !bound.contains(name) => {
                Err(self.refuse(pattern, Problem::Unbound(name.clone())))
            }
            Shape::Same(_) => Ok(()),
            Shape::Node { op, types, children, params, predicate } => {
                let Some(found) = self.vocab.find(op) else {
                    return Err(self.refuse(pattern, Problem::UnknownOperator(op.clone())));
                };
                let info = self.vocab.info(found);
                if !info.props.contains(Props::GRAPH) || found == Op::PARAM {
                    return Err(self.refuse(pattern, Problem::NotInGraphs(op.clone())));
                }
                let expected = matched(info).count();
                if children.len() != expected && !(info.is_call() && children.is_empty()) {
                    let problem = Problem::Arity { op: op.clone(), expected, found: children.len() };
                    return Err(self.refuse(pattern, problem));
                }
                let suffixes = match info.key {
                    Key::Result | Key::Operand => 1,
                    Key::Both { .. } => 2,
                    Key::None => 0,
                };
                if !types.is_empty() && types.len() != suffixes {
                    return Err(
                        self.refuse(pattern, Problem::Suffixes { op: op.clone(), expected: suffixes })
                    );
                }
                if !params.is_empty() && !has_imm(info) && !info.is_call() {
                    return Err(self.refuse(pattern, Problem::NoParameter(op.clone())));
                }
                if predicate.is_some() && !is_const(info) {
                    return Err(self.refuse(pattern, Problem::PredicateOnParameter(op.clone())));
                }
                children.iter().try_for_each(|child| self.check(child, depth + 1, bound))
            }
        }
    }

    /// Every tree this pattern stands for, where its parent wants `expected` (if it has one).
    fn expand(&self, pattern: &Pattern, expected: Option<Type>, vars: &Vars) -> Vec<(Concrete, Type, Vars)> {
        match &pattern.shape {
            Shape::Symbol(symbol) => match expected {
                Some(ty) if Symbol::of(ty) == *symbol => vec![(Concrete::Symbol(*symbol), ty, vars.clone())],
                _ => Vec::new(),
            },
            Shape::Same(name) => {
                vec![(Concrete::Same(name.clone()), expected.unwrap_or(Type::Void), vars.clone())]
            }
            Shape::Node { op, types, children, predicate, .. } => {
                let op = self.vocab.find(op).expect("checked before");
                let info = self.vocab.info(op);
                let indirect = info.is_call() && !children.is_empty();
                let mut trees = Vec::new();
                for sig in info.sigs() {
                    if expected.is_some_and(|ty| ty != sig.ty) {
                        continue;
                    }
                    let mut vars = vars.clone();
                    if !self.agrees(info, types, sig, &mut vars) {
                        continue;
                    }
                    let mut partial = vec![(Vec::new(), vars)];
                    for (child, kind) in children.iter().zip(matched(info)) {
                        let wanted = operand_type(info, kind, sig);
                        partial = partial
                            .into_iter()
                            .flat_map(|(before, vars)| {
                                self.expand(child, Some(wanted), &vars).into_iter().map(
                                    move |(tree, _, vars)| {
                                        let mut all: Vec<(Option<String>, Concrete)> = before.clone();
                                        all.push((child.bind.clone(), tree));
                                        (all, vars)
                                    },
                                )
                            })
                            .collect();
                    }
                    trees.extend(partial.into_iter().map(|(children, vars)| {
                        let node =
                            Concrete::Node { op, sig: key(sig, indirect), children, predicate: *predicate };
                        (node, sig.ty, vars)
                    }));
                }
                trees
            }
        }
    }

    /// Whether the suffixes allow a signature; binds variables.
    fn agrees(&self, info: &OpInfo, types: &[TypeSpec], sig: Sig, vars: &mut Vars) -> bool {
        let chosen = match info.key {
            Key::Result => [sig.ty, Type::Void],
            Key::Operand => [sig.from, Type::Void],
            Key::Both { .. } => [sig.from, sig.ty],
            Key::None => return true,
        };
        types.iter().zip(chosen).all(|(spec, ty)| {
            if spec.types & (1 << ty as u8) == 0 {
                return false;
            }
            let Some(name) = &spec.var else { return true };
            match vars.iter().find(|(var, _)| var == name) {
                Some((_, bound)) => *bound == ty,
                None => {
                    vars.push((name.clone(), ty));
                    true
                }
            }
        })
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(name) = &self.bind {
            write!(f, "${name}@")?;
        }
        match &self.shape {
            Shape::Symbol(symbol) => write!(f, "{symbol}"),
            Shape::Same(name) => write!(f, "${name}"),
            Shape::Node { op, types, children, params, predicate } => {
                write!(f, "({op}")?;
                types.iter().try_for_each(|spec| write!(f, ".{spec}"))?;
                children.iter().try_for_each(|child| write!(f, " {child}"))?;
                params.iter().try_for_each(|param| write!(f, " ${param}"))?;
                if let Some(predicate) = predicate {
                    write!(f, ":{}", predicate.name())?;
                }
                f.write_str(")")
            }
        }
    }
}

/// As a row of [`super::text`].
impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} -> {}, {}", self.name, self.pattern, self.result, self.cost)?;
        self.clauses.iter().try_for_each(|clause| write!(f, ", {clause}"))
    }
}

impl fmt::Display for Clause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Clause::Tied(at) => write!(f, "tied({at})"),
            Clause::Fixed(Place::Out, reg) => write!(f, "fixed(out = {reg})"),
            Clause::Fixed(Place::Use(at), reg) => write!(f, "fixed({at} = {reg})"),
            Clause::Clobber(regs) => write!(f, "clobber({})", regs.join(", ")),
            Clause::Temp(Class::Int) => f.write_str("temp(int)"),
            Clause::Temp(Class::Float) => f.write_str("temp(float)"),
            Clause::Early => f.write_str("early"),
            Clause::Late(at) => write!(f, "late({at})"),
            Clause::Any(at) => write!(f, "any({at})"),
            Clause::Needs(feature) => write!(f, "needs({feature})"),
            Clause::Entry => f.write_str("entry"),
        }
    }
}

impl fmt::Display for TypeSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(var) = &self.var {
            write!(f, "${var}")?;
        }
        let class =
            ["int", "wide", "float"].into_iter().find(|name| TypeSpec::named(name) == Some(self.types));
        let bound = self.var.is_some();
        match class {
            Some(name) => write!(f, "{}{name}", if bound { ":" } else { "" }),
            None if self.types == 0b0011_1111 && bound => Ok(()),
            None if self.types == 0b0011_1111 => f.write_str("value"),
            None => {
                let mut separator = if bound { ":" } else { "" };
                for ty in Type::ALL.into_iter().filter(|ty| self.types & (1 << *ty as u8) != 0) {
                    write!(f, "{separator}{ty}")?;
                    separator = "|";
                }
                Ok(())
            }
        }
    }
}
