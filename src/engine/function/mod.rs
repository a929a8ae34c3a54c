//! A function of an engine: its bytecode, its machine code, its tier-up state, and its entries for calls.
//!
//! Each of these four parts has a file of its own, which lists its states. This file has the operations on several parts.

mod body;
pub(super) mod call_state;
mod code_table;
mod interpreted;
mod layout;
mod learned;
mod running;
mod speculation;
mod tier_state;

pub(crate) use body::Body;
pub(crate) use call_state::Retired;
pub(crate) use code_table::TierCode;
pub(crate) use interpreted::EngineWords;
pub(crate) use layout::{FrameLayout, Showing};
pub(crate) use running::Snapshot;
pub(crate) use tier_state::Budget;

use super::tiers::Tiers;
use crate::Error;
use azulejo_core::ir::bytecode::Bytecode;
use body::{LazyBody, Maker};
use call_state::CallState;
use code_table::CodeTable;
use interpreted::Interpreted;
use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::sync::Arc;
use tier_state::TierState;

/// Identifies a function of one engine.
///
/// ```
#[doc = include_str!("../doubling.txt")]
/// let engine = Engine::<Op>::new();
/// let double: FunctionId = engine.define("double", code, 1)?;
/// assert_eq!((double.number(), engine.name(double)?.as_str()), (0, "double"));
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct FunctionId(pub(crate) u32);

impl FunctionId {
    /// Returns the function's number, by which bytecode calls it with `(invoke f …)`. Functions are numbered from zero, in the
    /// order in which they are defined or declared, but that they get numbers of functions that were freed with those.
    ///
    /// ```
    /// # use azulejo::prelude::*;
    /// #[derive(Bytecode, Clone, Copy, Debug)]
    /// enum Op {
    ///     Call { dst: Out<i64>, function: Imm<u32>, a: In<i64> },
    ///     Double { dst: Out<i64>, a: In<i64> },
    ///     Return { a: In<i64> },
    /// }
    /// template! {
    ///     Op::Call   => (invoke $function (arglist $a) i64)
    ///     Op::Double => (add $a $a)
    ///     Op::Return => (return $a)
    /// }
    ///
    /// let engine = Engine::<Op>::new();
    /// let double = vec![Op::Double { dst: 0.into(), a: 0.into() }, Op::Return { a: 0.into() }];
    /// let double = engine.define("double", double, 1)?;
    /// let call = Op::Call { dst: 0.into(), function: Imm(double.number()), a: 0.into() };
    /// let fourfold = engine.define("fourfold", vec![call, call, Op::Return { a: 0.into() }], 1)?;
    /// assert_eq!(engine.call::<_, i64>(fourfold, &mut (), (3i64,))?, 12);
    /// # Ok::<(), azulejo::Error>(())
    /// ```
    pub fn number(self) -> u32 {
        self.0
    }
}

/// A function of an engine.
pub(crate) struct Function<B: Bytecode> {
    number: u32,
    name: Arc<str>,
    body: LazyBody<B>,
    pub(crate) code: CodeTable,
    pub(crate) tier: TierState,
    pub(crate) calls: CallState,
    /// What machine code that interprets the function knows of it.
    pub(crate) interpreted: Interpreted,
    /// The functions in whose code this one may be inlined. Some of that code may not exist any more.
    pub(crate) inlined_in: RefCell<BTreeSet<u32>>,
    /// Whether there ever was such a function. Discarded code of it may run on.
    pub(crate) was_inlined: Cell<bool>,
}

impl<B: Bytecode> Function<B> {
    /// Makes a function with its bytecode.
    pub(crate) fn defined(number: u32, body: Arc<Body<B>>, tiers: &Tiers) -> Self {
        Function::new(number, body.name().clone(), LazyBody::made(body), tiers)
    }

    /// Makes a function whose bytecode is made on first use.
    pub(crate) fn declared(number: u32, name: Arc<str>, maker: Maker<B>, tiers: &Tiers) -> Self {
        Function::new(number, name, LazyBody::declared(maker), tiers)
    }

    #[inline]
    fn new(number: u32, name: Arc<str>, body: LazyBody<B>, tiers: &Tiers) -> Self {
        let (code, calls) = (CodeTable::default(), CallState::default());
        let interpreted = Interpreted::default();
        let (inlined_in, was_inlined, tier) = (RefCell::default(), Cell::default(), TierState::new(tiers));
        Function { number, name, body, code, tier, calls, interpreted, inlined_in, was_inlined }
    }

    pub(crate) fn number(&self) -> u32 {
        self.number
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Whether the bytecode was made, and if so, whether that succeeded.
    #[inline(always)]
    pub(crate) fn made(&self) -> Option<Result<(), Error>> {
        self.body.get().map(|body| body.map(|_| ()))
    }

    /// Makes the bytecode, which must not have been made.
    pub(crate) fn make(&self) -> Result<(), Error> {
        self.body.make()
    }

    /// The bytecode, if it was made.
    pub(crate) fn made_body(&self) -> Option<&Arc<Body<B>>> {
        self.body.get().and_then(Result::ok)
    }

    /// The bytecode, which must have been made.
    #[inline(always)]
    pub(crate) fn body(&self) -> &Arc<Body<B>> {
        match self.body.get() {
            Some(Ok(body)) => body,
            _ => unreachable!("whoever finds a function has its bytecode made"),
        }
    }

    /// The best code for the whole function, be it for calls from outside or from other functions.
    pub(crate) fn best_code(&self) -> Option<TierCode> {
        match self.code.best_at(0) {
            Some(TierCode::Optimized(code)) => Some(TierCode::Optimized(code)),
            other => self.calls.direct().map(TierCode::Optimized).or(other),
        }
    }

    /// Whether the optimizer has compiled any part of the function.
    pub(crate) fn is_optimized(&self) -> bool {
        self.code.has_optimized(0) || self.code.has_only_loops() || self.calls.is_direct()
    }

    /// Whether its loops have made the function hot, and the optimizer has no code for calls from outside yet: a call is a reason
    /// to compile that.
    #[inline(always)]
    pub(crate) fn is_hot_by_loops(&self) -> bool {
        self.tier.awaits_call() || self.code.has_only_loops()
    }

    /// Whether there is code that no call is running, so that discarding it frees memory at once.
    pub(crate) fn has_idle_code(&self) -> bool {
        // Code for calls is retired when it is discarded, not freed, so its holders do not matter.
        self.code.most_holders().map_or(self.calls.is_direct(), |holders| holders == 1)
    }

    /// Closes all entries for calls from other functions. Returns the entries and the code behind them, which may be running.
    pub(crate) fn close(&self) -> Option<Retired> {
        self.calls.close(true, self.code.at_start())
    }

    /// Closes only the entry for calls with an unusual number of arguments.
    pub(crate) fn close_fallback(&self) -> Option<Retired> {
        self.calls.close(false, self.code.at_start())
    }

    /// Whether the optimizer has made code of it, or is about to.
    pub(crate) fn is_optimized_or_soon(&self) -> bool {
        self.is_optimized() || self.tier.is_in_progress()
    }

    /// Discards the optimizer's code; calls that run it keep it alive until they end. All entries must have been closed before.
    pub(crate) fn discard_optimized(&self) {
        debug_assert!(!self.calls.is_open() && !self.calls.has_fallback(), "calls enter the code");
        self.code.clear_optimized();
        self.tier.end();
        self.body().begin_generation();
    }

    /// Discards all code; calls that run it keep it alive until they end. All entries must have been closed before.
    pub(crate) fn discard(&self, tiers: &Tiers) {
        debug_assert!(!self.calls.is_open() && !self.calls.has_fallback(), "calls enter the code");
        self.code.clear();
        self.tier.reset(tiers);
        self.calls.reset();
        if let Some(Ok(body)) = self.body.get() {
            body.begin_generation();
        }
    }
}
