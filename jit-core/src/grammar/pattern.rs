//! Patterns and rules as plain data, and their expansion into concrete trees.
//!
//! A [`Rule`] may leave types open, by classes, alternatives, variables, or no suffix at all. [`concrete`] lists every choice
//! that fits the operator table and the symbols. A child's type follows from its parent's, so most patterns need only one
//! suffix, at their root.

use super::error::{MAX_DEPTH, Problem, Refusal, RulePart};
use crate::vocab::op::{Key, Kind, Param};
use crate::vocab::{Class, Op, OpInfo, Props, Sig, Type, Vocabulary};
use core::fmt;

/// The kind of a pattern's leaf or result.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Symbol {
    /// An integer register.
    Reg,
    /// A float register.
    Num,
    /// The CPU's flags.
    Flag,
    /// No value.
    Void,
}

impl Symbol {
    /// Every symbol, in the order of the discriminants.
    pub const ALL: [Symbol; 4] = [Symbol::Reg, Symbol::Num, Symbol::Flag, Symbol::Void];

    /// The name in patterns.
    pub const fn name(self) -> &'static str {
        match self {
            Symbol::Reg => "reg",
            Symbol::Num => "num",
            Symbol::Flag => "flag",
            Symbol::Void => "void",
        }
    }

    /// The symbol that is spelled `name` in patterns.
    pub fn from_name(name: &str) -> Option<Symbol> {
        Symbol::ALL.into_iter().find(|symbol| symbol.name() == name)
    }

    /// The symbol of a value of this type.
    pub const fn of(ty: Type) -> Symbol {
        match ty {
            Type::Flag => Symbol::Flag,
            Type::Void => Symbol::Void,
            Type::F32 | Type::F64 => Symbol::Num,
            _ => Symbol::Reg,
        }
    }

    /// The class of registers that it represents.
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

/// A condition on a constant's value, as a signed number of its own type.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Predicate {
    /// It fits 8 bits, signed.
    Imm8,
    /// It fits 32 bits, signed.
    Imm32,
    /// It fits 32 bits, unsigned.
    Uimm32,
    /// 0.
    Zero,
    /// 1.
    One,
    /// -1.
    MinusOne,
    /// It is a power of two as an unsigned number.
    Pow2,
    /// 1, 2, 4 or 8.
    Scale,
    /// 3, 5 or 9: a scale plus one.
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

    /// The name in patterns.
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

    /// The predicate that is spelled `name` in patterns.
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

    /// The masks of all constants of type `ty`.
    ///
    /// The mask changes only at the bounds of the predicates, at powers of two, and next to both.
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
    /// The types that it allows, as bits by discriminant.
    pub types: u8,
}

impl TypeSpec {
    /// The types that a class name or a type name represents.
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
    /// The sub-pattern's number in its rule, by which an error finds its token.
    pub id: u32,
    /// The name in the `$name@` before it.
    pub bind: Option<String>,
    /// The nodes that it matches.
    pub shape: PatternShape,
}

/// The nodes that a pattern matches.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum PatternShape {
    /// Any node from which this symbol can be derived.
    Symbol(Symbol),
    /// The same node that `$name@` matched.
    Same(String),
    /// An operator.
    Node {
        /// Its name.
        op: String,
        /// Its type suffixes.
        types: Vec<TypeSpec>,
        /// The operands.
        children: Vec<Pattern>,
        /// The names of the constants after the operands.
        params: Vec<String>,
        /// The predicate on a constant's value.
        predicate: Option<Predicate>,
    },
}

/// The operand of a tile that a clause constrains.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Place {
    /// The result.
    Out,
    /// The n-th operand in a register, in pattern order.
    Use(u8),
}

/// A requirement of a tile on the allocator or the CPU. Registers are names, whose meaning the machine defines.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Clause {
    /// The result shares a register with this operand.
    Tied(u8),
    /// An operand or the result must be in this register.
    Fixed(Place, String),
    /// These registers are clobbered.
    Clobber(Vec<String>),
    /// A scratch register.
    Temp(Class),
    /// The result is written before the operands are read.
    Early,
    /// The operand is read after the result is written.
    Late(u8),
    /// The operand may be in its spill slot.
    Any(u8),
    /// The tile needs a CPU with this feature.
    Needs(String),
    /// The result exists when the function is entered; nothing is emitted.
    Entry,
    /// The code of the tile uses the function's frame on the stack, or leaves the function in a way that does.
    Framed,
}

/// A tile as the grammar sees it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Rule {
    /// Its name.
    pub name: String,
    /// The pattern that it covers.
    pub pattern: Pattern,
    /// The symbol that it yields.
    pub result: Symbol,
    /// Its cost.
    pub cost: u16,
    /// Its requirements.
    pub clauses: Vec<Clause>,
}

/// A machine's tiles.
#[derive(Clone, Debug)]
pub struct Grammar {
    /// The operators that patterns may use.
    pub vocab: Vocabulary,
    /// The names of CPU features; a feature's bit is its position.
    pub features: Vec<String>,
    /// The tiles in order. Of tiles with equal cost, the first is selected.
    pub rules: Vec<Rule>,
    /// Whether every form that graphs may contain must be covered.
    pub complete: bool,
    /// The number of leading rules, each of which must be selectable. The other rules come from a set that is extended, and
    /// may always lose to the leading ones.
    pub own: usize,
}

/// A pattern with its operators resolved and its types chosen.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Concrete {
    /// A leaf.
    Symbol(Symbol),
    /// The node bound by this name.
    Same(String),
    /// An operator.
    Node {
        /// The operator.
        op: Op,
        /// The types by which tables are indexed: see [`key`].
        sig: Sig,
        /// Operands in pattern order.
        children: Vec<(Option<String>, Concrete)>,
        /// The predicate on a constant's value.
        predicate: Option<Predicate>,
    },
}

/// Whether a node of this operator is a constant.
pub fn is_const(info: &OpInfo) -> bool {
    info.params.contains(&Param::Value)
}

/// Whether a node of this operator has a constant that the emit function needs.
pub fn has_imm(info: &OpInfo) -> bool {
    info.params.iter().any(|param| *param != Param::Type)
}

/// The kinds of the operands that patterns match.
pub fn matched(info: &OpInfo) -> impl Iterator<Item = Kind> {
    let call = info.is_call();
    info.operands
        .iter()
        .copied()
        .filter(move |kind| !matches!(kind, Kind::Label | Kind::Args) || call && *kind == Kind::Ptr)
}

/// The signature by which tables are indexed. It distinguishes a call of a computed address from a call of a known function.
#[inline]
pub const fn key(sig: Sig, indirect: bool) -> Sig {
    if indirect { Sig { from: Type::I64, ty: sig.ty } } else { sig }
}

/// The type of an operand of this kind.
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

/// All concrete trees of a rule, in a fixed order.
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
        Refusal { rule: Some(self.rule), part: RulePart::Pattern(pattern.id), problem }
    }

    /// The checks that do not depend on types.
    fn check(&self, pattern: &Pattern, depth: usize, bound: &mut Vec<String>) -> Result<(), Refusal> {
        if depth > MAX_DEPTH {
            return Err(self.refuse(pattern, Problem::TooDeep));
        }
        bound.extend(pattern.bind.clone());
        match &pattern.shape {
            PatternShape::Symbol(Symbol::Void) => Err(self.refuse(pattern, Problem::Symbol(Symbol::Void))),
            PatternShape::Symbol(symbol) if depth == 0 => Err(self.refuse(pattern, Problem::Symbol(*symbol))),
            PatternShape::Symbol(_) => Ok(()),
            PatternShape::Same(name) if !bound.contains(name) => {
                Err(self.refuse(pattern, Problem::Unbound(name.clone())))
            }
            PatternShape::Same(_) => Ok(()),
            PatternShape::Node { op, types, children, params, predicate } => {
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

    /// All trees that a pattern represents, if its parent expects a result of type `expected` (`None` at the root).
    fn expand(&self, pattern: &Pattern, expected: Option<Type>, vars: &Vars) -> Vec<(Concrete, Type, Vars)> {
        match &pattern.shape {
            PatternShape::Symbol(symbol) => match expected {
                Some(ty) if Symbol::of(ty) == *symbol => vec![(Concrete::Symbol(*symbol), ty, vars.clone())],
                _ => Vec::new(),
            },
            PatternShape::Same(name) => {
                vec![(Concrete::Same(name.clone()), expected.unwrap_or(Type::Void), vars.clone())]
            }
            PatternShape::Node { op, types, children, predicate, .. } => {
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

    /// Whether the suffixes allow a signature. Binds their variables.
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
            PatternShape::Symbol(symbol) => write!(f, "{symbol}"),
            PatternShape::Same(name) => write!(f, "${name}"),
            PatternShape::Node { op, types, children, params, predicate } => {
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

/// Prints a row of [`super::text`].
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
            Clause::Framed => f.write_str("framed"),
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
