//! Inlining: which functions the optimizer may put into the code of another one, and what becomes of that code.
//!
//! In: a function that is to be compiled. Out: [`OptimizerInput`], what its sites have learned, and all that the compiler may inline with what
//! it needs of each, gathered on the engine's thread; the compiler decides by itself. Each function keeps the list of those whose code may contain it. When it is
//! removed, or what its sites have learned is forgotten, that code is discarded. What else changes is noticed by the code itself, which is left then.

use super::Engine;
use super::code::Surplus;
use super::function::{Body, Function, Snapshot};
use super::native::Links;
use azulejo_core::ir::bytecode::Bytecode;
use azulejo_core::ir::inlining::InlineRefusal;
use azulejo_core::ir::template::{Step, Template};
use azulejo_core::pass::build::{self, FunctionSource, KnownCallee, Linkage, TemplateCalls};
use std::cell::{OnceCell, RefCell};
use std::sync::Arc;

/// How many functions are gathered for one compilation.
const MOST: usize = 32;

/// A function that is called, and may be inlined.
struct Gathered<B: Bytecode> {
    function: u32,
    /// The address of its call cell.
    cell: u64,
    body: Arc<Body<B>>,
    /// What it has been through.
    snapshot: Snapshot<B>,
}

/// A function that is called, and is inlined nowhere.
struct RefusedCallee {
    function: u32,
    cell: u64,
    refusal: InlineRefusal,
}

/// The functions that one calls, and those that may be inlined in it.
struct GatheredCallees<B: Bytecode> {
    /// Those that may be inlined.
    inlinable: Vec<Gathered<B>>,
    /// Others, of which the compiler says why they are not.
    refused: Vec<RefusedCallee>,
}

/// What the optimizer reads of a function beside its bytecode, on any thread.
pub(super) struct OptimizerInput<B: Bytecode> {
    /// What it has been through.
    pub(super) snapshot: Snapshot<B>,
    callees: GatheredCallees<B>,
}

impl<B: Bytecode> OptimizerInput<B> {
    /// Gives the function to a compiler, to start at a bytecode.
    pub(super) fn with_source<T>(
        &self,
        body: &Body<B>,
        at: u32,
        functions: Linkage<'_>,
        compile: impl FnOnce(&FunctionSource<'_>) -> T,
    ) -> T {
        let GatheredCallees { inlinable, refused } = &self.callees;
        let mut callees = Vec::with_capacity(inlinable.len() + refused.len());
        for &Gathered { function, cell, ref body, ref snapshot } in inlinable {
            let source = body.source(0, functions, snapshot);
            callees.push(KnownCallee { cell, function, unit: body.unit().addr() as u64, source: Ok(source) });
        }
        let without_source = |&RefusedCallee { function, cell, refusal }| KnownCallee {
            cell,
            function,
            unit: 0,
            source: Err(refusal),
        };
        callees.extend(refused.iter().map(without_source));
        compile(&FunctionSource { callees: &callees, ..body.source(at, functions, &self.snapshot) })
    }
}

/// Whether functions are inlined, and where.
pub(super) struct Inlining {
    is_on: bool,
    /// For each opcode, whether its template calls functions of bytecode. Found out when the first function is compiled.
    callers: OnceCell<Box<[bool]>>,
    /// What the templates say of their calls.
    templates: RefCell<TemplateCalls>,
}

impl Inlining {
    pub(super) fn new(is_on: bool) -> Inlining {
        Inlining { is_on, callers: OnceCell::new(), templates: RefCell::default() }
    }

    /// Whether some bytecode of a function calls functions that might be inlined.
    fn calls<B: Bytecode>(&self, body: &Body<B>) -> bool {
        let is_call = |step: &Step| matches!(step, Step::Invoke { .. } | Step::Tail { .. });
        let calls = |template: &&'static Template| template.steps.iter().any(is_call);
        let callers = || B::templates().iter().map(calls).collect();
        self.is_on && body.ops().iter().any(|op| self.callers.get_or_init(callers)[op.opcode()])
    }
}

impl<B: Bytecode> Engine<B> {
    /// Gives a function to a compiler of this thread, to start at a bytecode, with what is known at this time. So whoever tries again
    /// calls this again.
    pub(super) fn with_source<T>(
        &self,
        function: &Function<B>,
        at: u32,
        compile: impl FnOnce(&FunctionSource<'_>, &Links) -> T,
    ) -> T {
        let input = self.optimizer_input(function);
        let links = self.links.borrow();
        input.with_source(function.body(), at, links.functions(), |source| compile(source, &links))
    }

    /// Gathers what the optimizer reads of a function.
    pub(super) fn optimizer_input(&self, function: &Function<B>) -> OptimizerInput<B> {
        let snapshot = function.body().snapshot();
        let mut callees = GatheredCallees { inlinable: Vec::new(), refused: Vec::new() };
        if self.inlining.calls(function.body()) {
            self.gather(function, function.body(), &snapshot, &mut callees);
            let mut next = 0;
            while let Some(Gathered { body, snapshot, .. }) = callees.inlinable.get(next) {
                next += 1;
                if self.inlining.calls(body) {
                    let (body, snapshot) = (body.clone(), snapshot.clone());
                    self.gather(function, &body, &snapshot, &mut callees);
                }
            }
        }
        OptimizerInput { snapshot, callees }
    }

    /// Adds the functions that this body calls, the function's own or that of one that may be inlined in it.
    fn gather(
        &self,
        caller: &Function<B>,
        body: &Body<B>,
        snapshot: &Snapshot<B>,
        found: &mut GatheredCallees<B>,
    ) {
        let mut links = self.links.borrow_mut();
        let mut templates = self.inlining.templates.borrow_mut();
        let cells = build::callees(&body.source(0, links.functions(), snapshot), &mut templates);
        for cell in cells {
            let is_known = found.inlinable.iter().any(|known| known.cell == cell)
                || found.refused.iter().any(|known| known.cell == cell);
            if found.inlinable.len() == MOST || is_known {
                continue;
            }
            let Some(number) = links.function_at(cell) else { continue };
            let functions = self.functions.borrow();
            let Some(callee) = functions.get(number as usize).and_then(Option::as_ref) else { continue };
            let Some(body) = callee.made_body() else { continue };
            let snapshot = body.snapshot();
            let source = body.source(0, links.functions(), &snapshot);
            match self.refusal(body, &source, &mut templates) {
                Some(refusal) => found.refused.push(RefusedCallee { function: number, cell, refusal }),
                None => {
                    callee.was_inlined.set(true);
                    callee.inlined_in.borrow_mut().insert(caller.number());
                    found.inlinable.push(Gathered { function: number, cell, body: body.clone(), snapshot });
                }
            }
        }
    }

    /// Why a function is inlined nowhere, if it is not.
    fn refusal(
        &self,
        body: &Body<B>,
        source: &FunctionSource<'_>,
        templates: &mut TemplateCalls,
    ) -> Option<InlineRefusal> {
        // The fault handler notes one function only.
        let fault_is_noted = || {
            self.trace.is_some() && body.ops().iter().any(|op| B::templates()[op.opcode()].guarded.is_some())
        };
        if body.surplus() == Surplus::Packed {
            return Some(InlineRefusal::Arguments);
        }
        build::refusal(source, templates)
            .or_else(|| (self.guards && fault_is_noted()).then_some(InlineRefusal::Guarded))
    }

    /// Discards the optimizer's code in which a function may be inlined.
    pub(super) fn discard_callers(&self, callee: &Function<B>) {
        for caller in callee.inlined_in.take() {
            let caller = self.functions.borrow().get(caller as usize).cloned().flatten();
            if let Some(caller) = caller.filter(|caller| caller.is_optimized_or_soon()) {
                self.discard_optimized(&caller);
            }
        }
    }
}
