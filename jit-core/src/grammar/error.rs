//! Faults for which a tile set is refused, with their places.

use super::pattern::Symbol;
use core::fmt;

/// The part of a rule that a refusal refers to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RulePart {
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
    /// The rule's position in the grammar; `None` if the refusal refers to the whole set.
    pub rule: Option<usize>,
    /// The part of the rule.
    pub part: RulePart,
    /// The fault.
    pub problem: Problem,
}

/// A fault in a grammar.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Problem {
    /// No operator has this name.
    UnknownOperator(String),
    /// The operator never occurs in a graph, so no tile can match it.
    NotInGraphs(String),
    /// The number of operands is wrong.
    Arity {
        /// The operator.
        op: String,
        /// The number of operands that it has.
        expected: usize,
        /// The number of operands in the pattern.
        found: usize,
    },
    /// The number of type suffixes is wrong.
    Suffixes {
        /// The operator.
        op: String,
        /// The number of suffixes that it may have; it may also have none.
        expected: usize,
    },
    /// A constant is named, but the operator has none.
    NoParameter(String),
    /// A predicate is applied to something other than a `const`.
    PredicateOnParameter(String),
    /// No choice of types makes the pattern fit the operators and symbols.
    NoTypes,
    /// The symbol may not occur here: `void` or a second `flag` as an operand, or a bare symbol as a pattern with another
    /// result.
    Symbol(Symbol),
    /// The pattern cannot have this result.
    Result(Symbol),
    /// More than one flag has to be live at once.
    TwoFlags,
    /// `$name` without a `$name@…` before it.
    Unbound(String),
    /// One operator has more same-node conditions or CPU features than [`MAX_VARIANTS`].
    TooManyVariants(String),
    /// The pattern is nested more deeply than [`MAX_DEPTH`].
    TooDeep,
    /// The machine does not have this feature.
    UnknownFeature(String),
    /// The tile of a constant depends on a feature, which is not allowed.
    FeatureOnConstant,
    /// A clause names an operand that does not exist.
    NoSuchUse {
        /// The number in the clause.
        found: u8,
        /// The number of operands that the pattern has in registers.
        uses: usize,
    },
    /// The clause contradicts another one or the pattern.
    Impossible(&'static str),
    /// The tile is never selected.
    NeverSelected {
        /// The tiles that are cheaper wherever it fits, or that cost the same and come first.
        beaten_by: Vec<String>,
    },
    /// No tile covers a form that templates may use.
    Uncovered {
        /// The form, as patterns spell it.
        form: String,
        /// The CPU features without which the form is not covered, if it is covered with them.
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

/// The greatest number of features, and of same-node conditions, in the tiles of one operator form.
pub const MAX_VARIANTS: usize = 4;
/// The greatest nesting depth of patterns.
pub const MAX_DEPTH: usize = 5;
