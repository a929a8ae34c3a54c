//! The built-in rewrite rules, and how to write your own.
//!
//! ```
//! use azulejo::rewrite;
//!
//! rewrite! {
//!     pub static MINE;
//!
//!     // (x ^ y) ^ y = x
//!     (xor.$t:int (xor $x $y) $y) => $x
//!     // x * c = x << log2 c
//!     (mul.$t:int $x (const $c:pow2)) => (shl $x (const (&log2 $t $c)))
//! }
//! # fn log2(ty: azulejo::__private::core::vocab::Type, c: i64) -> i64 { ty.truncate(c as u64).trailing_zeros() as i64 }
//! # assert_eq!(MINE.cases.len(), 2);
//! ```
//!
//! A row is `pattern => result`, optionally followed by `if (&condition …)`. In a pattern:
//!
//! - `$x` matches any value; where it is repeated, it matches only the same value. `$x:variable` matches a value that
//!   is not a constant.
//! - `(const $c)` matches a constant, and `(const $c:pow2)` one that satisfies a predicate
//!   (`zero one minus_one pow2 imm8 imm32 uimm32 scale`).
//! - `$p@(…)` names the matched node, and `_` matches anything.
//! - A type follows its operator: the type of the result, of the operands if the operator compares, or both types if it
//!   converts. `$t:int` binds a type of a class (`int wide float value`, or `i32|i64`). Without a type, a pattern
//!   matches all types that the operator has.
//! - Operands of commutative operators match in either order.
//!
//! `(&f $c $t)` calls a Rust function. It gets constants as sign-extended `i64`, and types as `Type`. A constant that is
//! too wide for its type is truncated.
//!
//! A rule must hold for every value of every type that it matches. It must not:
//!
//! 1. Assume that a shift's count is below the width: counts are taken modulo the width.
//! 2. Invert an ordered comparison of floats: with a NaN, neither the comparison nor its inverse holds.
//! 3. Drop a float operation that would quiet a NaN, or add `0.0`, which changes `-0.0`.
//! 4. Add an operator that may trap: checks belong to a template.
//! 5. Make an expression larger, or undo another rule: the pass would stop for lack of fuel, not for lack of matches.
//!
//! A division by a constant may be replaced freely: its checks dominate it, so it is not reached when it would trap.
//! Constants have been moved to the right of commutative operators before any rule is tried. Rules with the same root
//! operator are tried in the order in which they are written; the first that matches is applied.

mod compare;
mod control;
mod float;
mod int;
mod memory;
mod number;

pub use azulejo_core::pass::rewrite::{Matcher, Rules};

/// The built-in rules.
pub static BUILTIN: [&Rules; 5] =
    [&int::INT, &float::FLOAT, &compare::COMPARE, &memory::MEMORY, &control::CONTROL];

/// The built-in rules in the form that [`Builder::rules`](crate::Builder::rules) takes.
pub static MATCHERS: [Matcher; 5] = [
    int::INT.matcher,
    float::FLOAT.matcher,
    compare::COMPARE.matcher,
    memory::MEMORY.matcher,
    control::CONTROL.matcher,
];
