//! Candidates for inlining: which functions one calls, and why one is inlined nowhere.
//!
//! In: a function. Out: the call cells of the functions that it calls, as far as they are known; or a reason, which whoever gathers functions
//! for the compiler gives in place of the function.

use super::FunctionSource;
use super::calls::TemplateCalls;
use super::inline::lacks_slow_path;
use super::invoke::MAX_ARGUMENTS;
use crate::ir::bytecode::{OperandKind, run_of};
use crate::ir::inlining::InlineRefusal;
use crate::verify::Shape;
use core::fmt;

/// How many bytecodes a callee has at most, by depth.
pub(super) const LARGEST: [usize; 4] = [40, 24, 16, 8];

/// How many registers of others a function gets at most.
pub(super) const MOST_SLOTS: u32 = 400;

/// A function that another one calls.
#[derive(Clone, Copy)]
pub struct KnownCallee<'a> {
    /// The address of its call cell.
    pub cell: u64,
    /// Its number.
    pub function: u32,
    /// The value of `(cu)`.
    pub unit: u64,
    /// The function, to start at its first bytecode, if it may be inlined. What is there for calls and of other callees does not matter.
    pub source: Result<FunctionSource<'a>, InlineRefusal>,
}

impl fmt::Debug for KnownCallee<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KnownCallee").field("function", &self.function).finish_non_exhaustive()
    }
}

/// The call cells of the functions that this one is known to call.
pub fn callees(source: &FunctionSource<'_>, templates: &mut TemplateCalls) -> Vec<u64> {
    let mut cells = Vec::new();
    for at in (0..source.code.len()).filter(|at| source.depths.get(*at) != Some(&Shape::UNREACHED)) {
        let (opcode, raws) = source.code.get(at);
        let lacks_slow_path = lacks_slow_path(source, at);
        let calls = templates.of(source, opcode);
        cells.extend(
            calls
                .sites
                .iter()
                .filter_map(|site| site.callee.cell(source, &source.functions, &raws, lacks_slow_path)),
        );
    }
    cells.sort_unstable();
    cells.dedup();
    cells
}

/// Why a function is inlined nowhere: it is too large, or its bytecode cannot be. `None` if it may be inlined somewhere.
pub fn refusal(source: &FunctionSource<'_>, templates: &mut TemplateCalls) -> Option<InlineRefusal> {
    if source.code.len() > LARGEST[0] {
        return Some(InlineRefusal::Long);
    }
    if source.slots > MOST_SLOTS {
        return Some(InlineRefusal::Full);
    }
    (!can_be_inlined(source, templates)).then_some(InlineRefusal::NeedsFrame)
}

/// Whether no template of a function needs a frame of its own, but for calls that might be inlined themselves.
pub(super) fn can_be_inlined(source: &FunctionSource<'_>, templates: &mut TemplateCalls) -> bool {
    (0..source.code.len()).all(|at| {
        let (opcode, raws) = source.code.get(at);
        let info = &source.opcodes[opcode];
        let is_long = core::iter::zip(info.operands, raws)
            .any(|(info, raw)| info.kind == OperandKind::Regs && run_of(raw).len() > MAX_ARGUMENTS);
        !is_long && templates.of(source, opcode).may_be_inlined(lacks_slow_path(source, at))
    })
}
