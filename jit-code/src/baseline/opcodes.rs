//! What is known of opcodes: their operands, and the stencils that have been made.
//!
//! In: an opcode's row and its template, when it is first met; stencils as they are made. Out: for each opcode the plan by which a variant is
//! chosen, and the facts that choosing seldom needs.

use super::cached::CacheKey;
use super::narrow::{Cases, Narrowing, Sorts};
use super::operand::{Operand, operands};
use super::pack::{self, Packed, StencilId, TableId};
use super::plan::{Choice, Has, Missing, Odd, OpcodePlan, WIDE};
use crate::stencil::Stencil;
use azulejo_core::ir::bytecode::{Bytecode, OpcodeInfo, OperandKind};
use azulejo_core::ir::stencil::HoleSource;
use azulejo_core::ir::template::{Deed, Template};
use azulejo_core::pass::build::{CachedValue, first_reads};
use azulejo_core::vocab::Scalar;

/// More facts of an opcode.
#[derive(Clone, Debug, Default)]
pub(super) struct Detail {
    /// Whether the opcode has been met; until then the other fields are empty.
    pub(super) is_known: bool,
    pub(super) operands: Vec<Operand>,
    /// The operands that the keys are made of.
    pub(super) reads: Vec<CachedValue>,
    /// The value that all of its stencils hand on, once one is made.
    pub(super) carry: Option<CachedValue>,
    /// Whether nobody may rely on what its stencils hand on.
    pub(super) hands_on_nothing: bool,
    /// The constants that may be wide.
    pub(super) wides: Vec<Operand>,
    /// The constants that are numbers of called functions: they count as wide if the function has no call cell.
    pub(super) functions: Vec<Operand>,
    /// The jump table, if the opcode has one.
    pub(super) table: TableId,
    /// The cases of a site that its stencils may know.
    pub(super) sorts: Option<Sorts>,
    /// Whether it has a slow path.
    pub(super) has_slow_path: bool,
    /// How its stencils may be narrowed, each with its number among the opcodes.
    pub(super) narrowed: Vec<(Narrowing, usize)>,
    /// The opcode of which this is a narrowing, and the narrowing.
    pub(super) narrowing_of: Option<(usize, Narrowing)>,
}

/// Every opcode of one bytecode; behind them, each narrowing of each opcode, which is planned as an opcode of its own.
#[derive(Clone, Debug, Default)]
pub(super) struct Opcodes {
    pub(super) plans: Vec<OpcodePlan>,
    pub(super) details: Vec<Detail>,
}

impl Opcodes {
    /// The opcodes of a bytecode, none of them met.
    pub(super) fn of<B: Bytecode>() -> Opcodes {
        let n = B::OPCODES.len();
        Opcodes {
            plans: vec![OpcodePlan::UNKNOWN; n],
            details: core::iter::repeat_with(Detail::default).take(n).collect(),
        }
    }

    /// Whether an opcode has been met, so that its facts are known.
    pub(super) fn knows(&self, opcode: usize) -> bool {
        self.details[opcode].is_known
    }

    /// Finds out the facts of an opcode that was met.
    pub(super) fn learn<B: Bytecode>(
        &mut self,
        opcode: usize,
        packed: &mut Packed,
        template: &'static Template,
    ) {
        if self.knows(opcode) {
            return;
        }
        let info = &B::OPCODES[opcode];
        let operands = operands(info, B::OFFSETS[opcode]);
        let table = pack::table(info, template, &operands).map(|table| packed.add_table(table));
        let detail = Detail {
            is_known: true,
            reads: first_reads(template),
            carry: None,
            hands_on_nothing: false,
            wides: wides(info, &operands),
            functions: Vec::new(),
            table: table.unwrap_or(TableId::NONE),
            sorts: if table.is_none() { Sorts::of(template, &operands) } else { None },
            has_slow_path: table.is_none() && template.does(Deed::HasSlowPath),
            narrowed: Vec::new(),
            narrowing_of: None,
            operands,
        };
        self.plans[opcode] = OpcodePlan::new(&detail);
        self.details[opcode] = detail;
    }

    /// Whether there is a stencil for a variant.
    pub(super) fn has(&self, Missing { opcode, variant, .. }: Missing) -> bool {
        self.plans[opcode].variants[variant].stencil.is_some()
    }

    /// Gives a variant of an opcode the stencil of another opcode, which may hand on something else.
    pub(super) fn borrow(&mut self, Missing { opcode, variant, .. }: Missing, choice: Choice) {
        let (plan, detail) = (&mut self.plans[opcode], &mut self.details[opcode]);
        plan.variants[variant] = choice;
        plan.carry = OpcodePlan::new(detail).carry;
        detail.hands_on_nothing = true;
    }

    /// Records a stencil that was made, and its number.
    pub(super) fn set(
        &mut self,
        Missing { opcode, variant, .. }: Missing,
        made: &Stencil,
        number: StencilId,
        packed: &Packed,
    ) {
        let knows_case = matches!(self.narrowing(opcode).cases, Cases::First(_) | Cases::Only(_));
        let plan = &mut self.plans[opcode];
        let stencil = &packed.stencils[number.at()];
        let mut has = Has::empty();
        has.set(Has::MORE_TO_DO, stencil.has_more_to_do());
        has.set(Has::TAKES_CACHED, made.facts.takes_cached);
        has.set(Has::READS_UNIT, made.facts.reads_unit);
        has.set(Has::READS_PINNED, made.facts.reads_pinned);
        has.set(Has::KNOWS_CASE, knows_case);
        plan.variants[variant] = Choice { stencil: number, hot: stencil.hot as u16, has };
        let detail = &mut self.details[opcode];
        if let Some(carry) = made.facts.cached {
            let known = *detail.carry.get_or_insert(carry);
            assert_eq!(carry, known, "all stencils of an opcode hand on the same");
            if !detail.hands_on_nothing {
                plan.carry = CacheKey::new(carry, &detail.operands);
            }
        }
        if detail.functions.is_empty() && variant & WIDE == 0 {
            let functions = made.holes.iter().filter_map(|hole| match hole.source {
                HoleSource::Cell(operand) => Some(detail.operands[operand as usize]),
                _ => None,
            });
            detail.functions.extend(functions);
            plan.odd.set(Odd::WIDE, !detail.wides.is_empty() || !detail.functions.is_empty());
        }
    }
}

/// The constants of an opcode that may be too wide for an immediate.
fn wides(info: &OpcodeInfo, operands: &[Operand]) -> Vec<Operand> {
    let is_long = |scalar| matches!(scalar, Some(Scalar::U32 | Scalar::I64 | Scalar::U64 | Scalar::Ptr));
    core::iter::zip(info.operands, operands)
        .filter(|(info, _)| info.kind == OperandKind::Imm && is_long(info.scalar))
        .map(|(_, operand)| *operand)
        .collect()
}
