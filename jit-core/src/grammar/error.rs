//! What is refused about a tile set, with the place it is about.

use super::pattern::Symbol;
use core::fmt;

/// What of a rule a refusal is about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Part {
    /// The rule as a whole: its name.
    Name,
    /// The sub-pattern with this number ([`super::Pattern::id`]).
    Pattern(u32),
    /// The clause at this position.
    Clause(usize),
}

/// A mistake in a grammar.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Refusal {
    /// The rule, by position in the grammar; `None` if it is about the set.
    pub rule: Option<usize>,
    /// Which part of it.
    pub part: Part,
    /// What is wrong.
    pub problem: Problem,
}

/// What can be wrong with a grammar.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Problem {
    /// No operator has this name.
    UnknownOperator(String),
    /// The operator never stands in a graph, so no tile can meet it.
    NotInGraphs(String),
    /// Another number of operands.
    Arity {
        /// Of which operator.
        op: String,
        /// How many there should be.
        expected: usize,
        /// How many there are.
        found: usize,
    },
    /// Another number of type suffixes than the operator has.
    Suffixes {
        /// Of which operator.
        op: String,
        /// How many it may have besides none.
        expected: usize,
    },
    /// A constant is named where the operator has none.
    NoParameter(String),
    /// A predicate on something else than a `const`.
    PredicateOnParameter(String),
    /// No choice of types makes the pattern fit the operators and symbols.
    NoTypes,
    /// `void` or a second `flag` as an operand, a bare symbol as a pattern with the wrong result.
    Symbol(Symbol),
    /// A result that the pattern cannot have.
    Result(Symbol),
    /// More than one flag has to be alive at once.
    TwoFlags,
    /// `$name` without a `$name@…` before it.
    Unbound(String),
    /// More same-node conditions or CPU features on one operator than can be told apart.
    TooManyVariants(String),
    /// Patterns may not be nested deeper.
    TooDeep,
    /// A feature the machine does not have.
    UnknownFeature(String),
    /// A constant's tile may not depend on a feature.
    FeatureOnConstant,
    /// A clause names an operand there is none of.
    NoSuchUse {
        /// What the clause says.
        found: u8,
        /// How many operands in registers the pattern has.
        uses: usize,
    },
    /// The clause contradicts another one or the pattern.
    Impossible(&'static str),
    /// A tile that is never the cheapest.
    NeverSelected {
        /// Those that are cheaper wherever it fits, or as cheap and stand before it.
        beaten_by: Vec<String>,
    },
    /// A form that templates may use and no tile covers.
    Uncovered {
        /// As patterns spell it.
        form: String,
        /// The CPU features that have to be there for it to be covered, if that is all.
        without: Option<String>,
    },
    /// The relative costs of two symbols grow without bound.
    Diverges,
    /// Two tiles have one name.
    SameName(String),
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.problem, f)
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Problem::UnknownOperator(op) => write!(f, "there is no operator `{op}`"),
            Problem::NotInGraphs(op) => {
                write!(f, "`{op}` is lowered before tiles are chosen, so no tile can match it")
            }
            Problem::Arity { op, expected, found } => {
                let s = if *expected == 1 { "" } else { "s" };
                write!(f, "`{op}` has {expected} operand{s}, the pattern gives {found}")
            }
            Problem::Suffixes { op, expected: 0 } => write!(f, "`{op}` takes no type"),
            Problem::Suffixes { op, expected: 1 } => write!(f, "`{op}` takes one type: `{op}.i64`"),
            Problem::Suffixes { op, .. } => {
                write!(f, "`{op}` takes the type it converts from and the one it converts to: `{op}.from.to`")
            }
            Problem::NoParameter(op) => write!(f, "`{op}` has no constant to name"),
            Problem::PredicateOnParameter(op) => {
                write!(f, "only a `const` can be asked for a kind of value, not the constant of `{op}`")
            }
            Problem::NoTypes => {
                f.write_str("no choice of types fits all operators and symbols of this pattern")
            }
            Problem::Symbol(symbol) => write!(f, "`{symbol}` cannot be an operand"),
            Problem::Result(symbol) => write!(f, "this pattern does not yield a `{symbol}`"),
            Problem::TwoFlags => {
                f.write_str("a tile can consume one flag only: a second one would overwrite it")
            }
            Problem::Unbound(name) => {
                write!(f, "`${name}` is not bound; write `${name}@pattern` where the node stands first")
            }
            Problem::TooManyVariants(op) => {
                write!(f, "`{op}` has tiles with more than {} features or same-node forms", MAX_VARIANTS)
            }
            Problem::TooDeep => write!(f, "patterns nest at most {MAX_DEPTH} operators"),
            Problem::UnknownFeature(name) => write!(f, "the machine has no feature `{name}`"),
            Problem::FeatureOnConstant => f.write_str("the tile of a constant may not need a feature"),
            Problem::NoSuchUse { found, uses } => {
                write!(f, "there is no operand {found}: the pattern has {uses} in registers, counted from 0")
            }
            Problem::Impossible(why) => f.write_str(why),
            Problem::NeverSelected { beaten_by } if beaten_by.is_empty() => {
                f.write_str("this tile can never be selected: no node fits its pattern")
            }
            Problem::NeverSelected { beaten_by } => {
                write!(f, "this tile can never be selected; at the same or a lower cost there is always ")?;
                for (at, name) in beaten_by.iter().enumerate() {
                    write!(f, "{}`{name}`", if at > 0 { ", " } else { "" })?;
                }
                Ok(())
            }
            Problem::Uncovered { form, without: None } => write!(f, "no tile covers `{form}`"),
            Problem::Uncovered { form, without: Some(features) } => {
                write!(f, "no tile covers `{form}` on a CPU without {features}")
            }
            Problem::Diverges => {
                f.write_str("the costs of this set grow without bound: some value cannot get into a register")
            }
            Problem::SameName(name) => write!(f, "there is another tile `{name}`"),
        }
    }
}

/// How many features, and how many same-node conditions, the tiles of one operator form may have.
pub const MAX_VARIANTS: usize = 4;
/// How deep patterns may nest.
pub const MAX_DEPTH: usize = 5;
