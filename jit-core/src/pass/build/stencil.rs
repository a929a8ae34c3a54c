//! Build the graph of one opcode, with holes for its operands.
//!
//! In: a template. Out: a [`Graph`] that reads and writes VM registers in their slots, and a list of its holes. On entry,
//! the context and the frame are in the registers that hold them in all stencils. The graph ends with `continue` where
//! another bytecode follows: exit 0 is the next bytecode, exit `1 + n` that of label operand `n`. Two operands may be the
//! same VM register, so the graph writes and reads a slot exactly where the template does.
//!
//! One VM register may be cached in a machine register when the opcode starts ([`StencilRequest::cached`]) and when it ends
//! ([`CachedValue`]). A stencil may omit the store to the cached value's slot ([`StencilRequest::omits_store`]); then the next
//! opcode must read the value from the machine register and nowhere else ([`StencilFacts::takes_cached`]).

use super::cases::KnownCases;
use super::cursor::Cursor;
use super::holes::HoleOperands;
use super::link::Linker;
use super::{BuildScratch, Linkage};
use crate::ir::bytecode::OpcodeInfo;
use crate::ir::graph::Graph;
use crate::ir::stencil::{HoleSource, HoleValue, HoleValues, Range};
use crate::ir::template::{Likelihood, Step, Template};
use crate::vocab::{Type, Vocabulary};

/// The opcode that a stencil is made for, and the variant of the stencil.
#[derive(Clone, Copy, Debug)]
pub struct StencilRequest<'a> {
    /// The operators that the template may use.
    pub vocab: Vocabulary,
    /// The opcode.
    pub opcode: &'a OpcodeInfo,
    /// The opcode's template.
    pub template: &'a Template,
    /// The operands, one bit each, whose VM register is cached in a machine register when the opcode starts.
    pub cached: u16,
    /// Whether it is cached as a float: an operand that is read as an integer of 64 bits has its bits.
    pub is_cached_as_float: bool,
    /// Whether the result stays in its machine register and is not stored to its slot; requires
    /// [`StencilFacts::can_omit_store`].
    pub omits_store: bool,
    /// Whether `(cu)` has a reserved machine register; otherwise it is a hole.
    pub keeps_unit: bool,
    /// What is known of the cases of a site.
    pub cases: KnownCases<'a>,
    /// Whether it is without the slow path, and for other cases than the one that it knows. The function is left instead, if nothing was
    /// written before: control goes to [`GENERAL`](super::GENERAL), and every VM register is in its slot. If it is known that there are no other
    /// cases, the function is left in front of the slow path where there is one by then.
    pub is_lean: bool,
    /// The constants that have reserved machine registers.
    pub pinned: &'static [u64],
    /// How holes for constants are made.
    pub constants: Constants,
    /// The part of the data for calls that is the same for all engines: see [`Linkage::of_process`].
    pub functions: Linkage<'static>,
}

impl StencilRequest<'_> {
    /// Whether the function may be left, for what the stencil lacks.
    pub(super) fn leaves(&self) -> bool {
        self.is_lean || matches!(self.cases, KnownCases::None(_) | KnownCases::Only(_))
    }
}

/// The form of holes for constants, and the values that they may have.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Constants {
    /// Immediate operands. 64-bit constants are sign-extended from 32 bits, and a constant callee number is that of a
    /// function with a call cell.
    Short,
    /// Immediate operands. 64-bit constants may have any value.
    Long,
    /// Each constant is loaded into a register first, for instructions without an immediate operand.
    Held,
}

/// A VM register whose value is in a machine register as well.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CachedValue {
    /// The operand that names the VM register.
    pub operand: u8,
    /// The type in the machine register: a float, [`Type::I64`], or [`Type::I32`] for an integer with at most 32 bits. A
    /// reader of 64 bits reads the slot of the latter.
    pub ty: Type,
}

impl CachedValue {
    /// Whether a value that is cached as `other` can be read as this type: the low bits of an integer can, and the bits of a float.
    pub fn reads(self, other: Type) -> bool {
        self.ty == other || matches!((self.ty, other), (Type::I32, Type::I64) | (Type::I64, Type::F64))
    }
}

/// The contract of a stencil about values in registers.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct StencilFacts {
    /// The value that is cached when the next bytecode starts.
    pub cached: Option<CachedValue>,
    /// Whether a variant may omit the store of that value, because this opcode does not read the slot.
    pub can_omit_store: bool,
    /// Whether the opcode reads its cached operand only from the machine register, never from the slot.
    pub takes_cached: bool,
    /// Whether it reads the reserved register of `(cu)`.
    pub reads_unit: bool,
    /// Whether it reads the reserved registers of pinned constants.
    pub reads_pinned: bool,
}

/// The type in which a value is cached.
pub(super) fn cached_type(ty: Type) -> Type {
    match ty {
        Type::I8 | Type::I16 => Type::I32,
        ty => ty,
    }
}

/// Builds the graph of an opcode; `None` if the template uses an operand in a way that no hole can express.
pub fn stencil(
    scratch: &mut BuildScratch,
    request: &StencilRequest<'_>,
    graph: &mut Graph,
    holes: &mut HoleValues,
) -> Option<StencilFacts> {
    graph.clear(request.vocab);
    graph.kinds = request.template.kinds;
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
        takes_cached: request.cached != 0 && !operands.reads_slot && !operands.observed && !request.leaves(),
        reads_unit: operands.reads_unit,
        reads_pinned: false,
    };
    let is_expressible = !operands.is_inexpressible;
    if !is_expressible || holes.is_full() {
        return None;
    }
    super::reached::drop_unreached(&mut scratch.reached, graph);
    Some(facts)
}

/// A template with more steps has no variants that read a cached value: each takes as long to make as the template is long, and saves
/// one load.
const MOST_STEPS: usize = 256;

/// The first two operands that a template's hot blocks read before anything may have written their VM registers, each with the
/// type in which it is cached. None of a template that is long.
pub fn first_reads(template: &Template) -> Vec<CachedValue> {
    let mut reads: Vec<CachedValue> = Vec::new();
    if template.steps.len() > MOST_STEPS {
        return reads;
    }
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
                Likelihood::Likely | Likelihood::FirstCase => is_cold[otherwise as usize] = true,
                Likelihood::Unlikely => is_cold[then as usize] = true,
                Likelihood::Even => {}
            },
            Step::Node { .. }
            | Step::Constant { .. }
            | Step::WindowLength { .. }
            | Step::SiteValue { .. }
            | Step::KnownCase { .. }
            | Step::Outside { .. }
            | Step::Jump { .. } => {}
            // Control does not reach the steps after these.
            Step::Trap { .. } | Step::Exit { .. } | Step::Return { .. } | Step::Goto { .. } | Step::Next => {}
            _ => break,
        }
    }
    reads.truncate(2);
    reads
}
