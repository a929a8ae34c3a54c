//! Build the graph of one opcode, with holes for its operands.
//!
//! In: a template. Out: a [`Graph`] that reads and writes VM registers in their slots, and a list of its holes. The graph's entry
//! has the context and the frame in the registers where all bytecodes keep them. The graph ends with `continue` where another
//! bytecode follows: exit 0 is the next bytecode, exit `1 + n` the one that label operand `n` names. Two operands may be the same
//! VM register, so the graph writes and reads a slot exactly where the template does.
//!
//! One VM register may be cached in a machine register when the opcode starts ([`StencilRequest::cached`]) and when it ends
//! ([`CachedValue`]). A stencil may omit the store to the cached value's slot ([`StencilRequest::omits_store`]); then the next
//! opcode must read the value from the machine register and nowhere else ([`StencilFacts::takes_cached`]).

use super::cursor::Cursor;
use super::holes::HoleOperands;
use super::link::Linker;
use super::{BuildScratch, Functions};
use crate::ir::bytecode::OpcodeInfo;
use crate::ir::graph::Graph;
use crate::ir::stencil::{HoleValue, HoleValues, Range, Source as HoleSource};
use crate::ir::template::{Likelihood, Step, Template};
use crate::vocab::{Type, Vocabulary};

/// The opcode that a stencil is made for, and the variant.
#[derive(Clone, Copy, Debug)]
pub struct StencilRequest<'a> {
    /// The operators that the template may use.
    pub vocab: Vocabulary,
    /// The opcode.
    pub opcode: &'a OpcodeInfo,
    /// What it means.
    pub template: &'a Template,
    /// The operands, a bit each, whose VM register is cached in a machine register when the opcode starts.
    pub cached: u16,
    /// Whether the result stays in its machine register and is not stored to its slot; only if [`StencilFacts::can_omit_store`].
    pub omits_store: bool,
    /// Whether `(cu)` has a reserved machine register; otherwise it is a hole.
    pub keeps_unit: bool,
    /// Which values constants of 64 bits may have.
    pub constants: Constants,
    /// What templates that call functions of bytecode need, which any engine has: see [`Functions::of_process`].
    pub functions: Functions<'static>,
}

/// How holes for constants are made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Constants {
    /// As operands of instructions. Constants of 64 bits fit in 32 bits with sign extension, and a constant that numbers a callee
    /// numbers a function that has a call cell.
    Short,
    /// As operands of instructions. Constants of 64 bits may have any value.
    Long,
    /// Each is loaded into a register first; for instructions that have no immediate operand.
    Held,
}

/// A VM register whose value is in a machine register as well.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CachedValue {
    /// The operand that names the VM register.
    pub operand: u8,
    /// The type in the machine register: a float, [`Type::I64`], or [`Type::I32`] for a value with no more bits. A reader that wants
    /// 64 bits of the latter reads the slot.
    pub ty: Type,
}

impl CachedValue {
    /// Whether a value that is cached as `other` can be read as this type. An integer's low bits can.
    pub fn reads(self, other: Type) -> bool {
        self.ty == other || (self.ty, other) == (Type::I32, Type::I64)
    }
}

/// What a stencil leaves in registers and expects there.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct StencilFacts {
    /// The value that is cached when the next bytecode starts.
    pub cached: Option<CachedValue>,
    /// Whether a variant may omit the store of that value: this opcode does not read the slot.
    pub can_omit_store: bool,
    /// Whether the opcode reads its cached operand from the machine register only, never from the slot.
    pub takes_cached: bool,
    /// Whether it reads the reserved register of `(cu)`.
    pub reads_unit: bool,
}

/// The type in which a value is cached.
pub(super) fn cached_type(ty: Type) -> Type {
    match ty {
        Type::I8 | Type::I16 => Type::I32,
        ty => ty,
    }
}

/// Builds the graph of an opcode. `None` if the template uses an operand in a way that no hole can express.
pub fn stencil(
    scratch: &mut BuildScratch,
    request: &StencilRequest<'_>,
    graph: &mut Graph,
    holes: &mut HoleValues,
) -> Option<StencilFacts> {
    graph.clear(request.vocab);
    holes.clear();
    let here = HoleValue { source: HoleSource::Here, scale: 1, range: Range::Unsigned };
    let at = holes.placeholder(here) as u32;
    let block = graph.add_block();
    let mut linker = Linker {
        cursor: Cursor { graph, block, at },
        operands: HoleOperands::new(request, holes),
        functions: &request.functions,
        scratch: &mut scratch.link,
    };
    linker.link(request.template);
    let Linker { mut cursor, mut operands, .. } = linker;
    let cached = operands.finish(&mut cursor);
    operands.end_exits(&mut cursor);
    let facts = StencilFacts {
        cached,
        can_omit_store: operands.unstored.is_some(),
        takes_cached: request.cached != 0 && !operands.reads_slot && !operands.observed,
        reads_unit: operands.reads_unit,
    };
    let is_expressible = !operands.is_inexpressible;
    if !is_expressible || holes.is_full() {
        return None;
    }
    super::reached::drop_unreached(&mut scratch.reached, graph);
    Some(facts)
}

/// The first two operands that a template's hot blocks read before anything may have written their VM registers, each with the
/// type in which it is cached.
pub fn first_reads(template: &Template) -> Vec<CachedValue> {
    let mut reads: Vec<CachedValue> = Vec::new();
    let mut is_cold = vec![false; template.blocks as usize];
    let mut is_skipped = false;
    for step in template.steps {
        match *step {
            Step::Block { block, cold, .. } => is_skipped = cold || is_cold[block as usize],
            _ if is_skipped => {}
            Step::Read { operand, ty } => {
                let read = CachedValue { operand, ty: cached_type(ty) };
                if reads.iter().all(|known| known.operand != operand) {
                    reads.push(read);
                }
            }
            Step::Branch { then, otherwise, likelihood, .. } => match likelihood {
                Likelihood::Likely => is_cold[otherwise as usize] = true,
                Likelihood::Unlikely => is_cold[then as usize] = true,
                Likelihood::Even => {}
            },
            Step::Node { .. } | Step::Constant { .. } | Step::WindowLength { .. } | Step::Jump { .. } => {}
            // Control does not reach the steps behind these.
            Step::Trap { .. } | Step::Exit { .. } | Step::Return { .. } | Step::Goto { .. } | Step::Next => {}
            _ => break,
        }
    }
    reads.truncate(2);
    reads
}
