//! The built-in rewrite rules, and how to write some of one's own.
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
//! A row is `pattern => result`, and after it perhaps `if (&condition …)`. In a pattern `$x` is any value, and the
//! same value wherever it stands again; `$x:variable` is one that is no constant; `(const $c)` is a constant, with
//! a predicate if one follows (`zero one minus_one pow2 imm8 imm32 uimm32 scale`); `$p@(…)` names a node; `_` is
//! anything. Types stand behind the operator: of its result, of its operands if it compares, of both if it
//! converts; `$t:int` binds one of a class (`int wide float value`, or `i32|i64`), and none means all the operator
//! has. Operands that commute match either way round. `(&f $c $t)` calls a Rust function; constants are `i64`,
//! extended by their sign, types are `Type`. A constant too wide for its type is cut off.
//!
//! A rule must hold for every value of every type it matches. What it may not do, each with the reason:
//!
//! 1. Assume that a shift's count is below the width: counts are taken modulo the width.
//! 2. Invert an ordered comparison of floats: neither it nor its inverse holds on NaN.
//! 3. Drop a float operation that would quieten a NaN, or add `0.0`, which changes `-0.0`.
//! 4. Add an operator that may trap: checks belong to a template.
//! 5. Make something larger, or undo another rule: the pass would run out of fuel instead of out of matches.
//!
//! A division by a constant may be replaced freely: its checks stand above it, so it is not reached when it traps.
//! Constants stand on the right of operators that commute before any rule sees them. Rules of one root operator
//! are tried in the order in which they stand; the first that matches wins.

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

/// The built-in rules as the pass takes them.
pub static MATCHERS: [Matcher; 5] = [
    int::INT.matcher,
    float::FLOAT.matcher,
    compare::COMPARE.matcher,
    memory::MEMORY.matcher,
    control::CONTROL.matcher,
];
