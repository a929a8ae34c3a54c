//! Inlining: which functions the optimizer may put into the code of another one, and what becomes of that code.
//!
//! In: a function that is to be compiled. Out: [`Inlinable`], all that the compiler may inline with what it needs of each, gathered on the
//! engine's thread; it decides by itself. Each function keeps the list of those that its code may contain. When one of them is removed,
//! or what its sites have learned is forgotten, that code is discarded. What else changes is noticed by the code itself, which is left then.

use super::Engine;
use super::code::Surplus;
use super::function::{Body, Function};
use azulejo_core::ir::bytecode::Bytecode;
use azulejo_core::ir::sites::SiteSnapshot;
use azulejo_core::ir::template::Step;
use azulejo_core::pass::build::{self, FunctionSource, KnownCallee, Linkage};
use std::rc::Rc;
use std::sync::Arc;

/// How many functions are gathered for one compilation.
const MOST: usize = 32;

/// A function that may be inlined.
struct Gathered<B: Bytecode> {
    function: u32,
    /// The address of its call cell.
    cell: u64,
    body: Arc<Body<B>>,
    /// What its sites have learned.
    sites: Option<SiteSnapshot>,
}

/// The functions that may be inlined in one, on any thread.
pub(super) struct Inlinable<B: Bytecode>(Vec<Gathered<B>>);

impl<B: Bytecode> Inlinable<B> {
    /// The functions as the compiler takes them.
    pub(super) fn callees<'a>(&'a self, functions: Linkage<'a>) -> Vec<KnownCallee<'a>> {
        let callee = |gathered: &'a Gathered<B>| {
            let Gathered { function, cell, body, sites } = gathered;
            let source = body.source(0, functions, sites.as_ref());
            KnownCallee { cell: *cell, function: *function, unit: body.unit().addr() as u64, source }
        };
        self.0.iter().map(callee).collect()
    }
}

/// For each opcode, whether its template calls a function of bytecode in a way that can be inlined.
pub(super) fn callers<B: Bytecode>() -> Box<[bool]> {
    let calls = |step: &Step| matches!(step, Step::Invoke { .. });
    B::templates().iter().map(|template| template.steps.iter().any(calls)).collect()
}

impl<B: Bytecode> Engine<B> {
    /// Gathers the functions that may be inlined in one.
    pub(super) fn inlinable(&self, function: &Function<B>) -> Inlinable<B> {
        let mut found = Inlinable(Vec::new());
        let calls = |body: &Body<B>| body.ops().iter().any(|op| self.callers[op.opcode()]);
        if self.callers.is_empty() || !calls(function.body()) {
            return found;
        }
        let sites = function.body().snapshot();
        self.gather(function.body(), sites.as_ref(), &mut found.0);
        let mut next = 0;
        while let Some(Gathered { body, sites, .. }) = found.0.get(next) {
            next += 1;
            if calls(body) {
                let (body, sites) = (body.clone(), sites.clone());
                self.gather(&body, sites.as_ref(), &mut found.0);
            }
        }
        function.inlined.borrow_mut().extend(found.0.iter().map(|gathered| gathered.function));
        found
    }

    /// Adds the functions that may be inlined where this one calls them.
    fn gather(&self, body: &Body<B>, sites: Option<&SiteSnapshot>, found: &mut Vec<Gathered<B>>) {
        let mut links = self.links.borrow_mut();
        let cells = build::callees(&body.source(0, links.functions(), sites));
        for cell in cells {
            if found.len() == MOST || found.iter().any(|known| known.cell == cell) {
                continue;
            }
            let Some(number) = links.function_at(cell) else { continue };
            let functions = self.functions.borrow();
            let callee = functions.get(number as usize).and_then(Option::as_ref);
            let Some(body) = callee.and_then(|callee| callee.made_body()) else { continue };
            let sites = body.snapshot();
            let source = body.source(0, links.functions(), sites.as_ref());
            if self.may_inline(body, &source) {
                found.push(Gathered { function: number, cell, body: body.clone(), sites });
            }
        }
    }

    fn may_inline(&self, body: &Body<B>, source: &FunctionSource<'_>) -> bool {
        // The fault handler notes one function only.
        let fault_is_noted = || {
            self.trace.is_some() && body.ops().iter().any(|op| B::templates()[op.opcode()].guarded.is_some())
        };
        body.surplus() != Surplus::Packed
            && build::may_be_inlined(source)
            && !(self.guards && fault_is_noted())
    }

    /// Discards the optimizer's code in which a function may be inlined.
    pub(super) fn discard_callers(&self, callee: u32) {
        if self.callers.is_empty() {
            return;
        }
        let functions = self.functions.borrow();
        let contains = |function: &&Rc<Function<B>>| function.inlined.borrow().contains(&callee);
        let found: Vec<Rc<Function<B>>> = functions.iter().flatten().filter(contains).cloned().collect();
        drop(functions);
        for function in found {
            if function.is_optimized() || function.tier.is_in_progress() {
                self.discard_optimized(&function);
            }
        }
    }
}
