//! Stencils that are no opcode's. Their templates are like those of opcodes.
//!
//! - The counting stencils stand before the bytecode at a loop's head: one counts iterations, and checks whether the program is to stop. Each
//!   does only what the function needs.
//! - A jump stands behind a general stencil, which does not stand where it would fall through.
//! - Where a lean stencil lacks something, the function is left at this bytecode.

use azulejo_core::ir::bytecode::{OpcodeInfo, OperandInfo, OperandKind};
use azulejo_core::ir::list::{Refs, TypeList};
use azulejo_core::ir::template::{Likelihood, Resume, Step, StepImm, Template};
use azulejo_core::vocab::{Op, Scalar, Sig, Type};

const fn address(name: &'static str) -> OperandInfo {
    OperandInfo { name, kind: OperandKind::Imm, scalar: Some(Scalar::Ptr) }
}

/// The addresses of the words that a function's loops count down or poll.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wanted {
    /// The address of the budget, an `i32` that is counted down.
    pub(super) budget: Option<u64>,
    /// The address of an `i64` that is not zero once the program is to stop.
    pub(super) stop: Option<u64>,
    /// The address of the fuel, an `i64` that is counted down. A program that runs on fuel may also be stopped.
    pub(super) fuel: Option<u64>,
}

/// How many of these stencils there are. The first ones count.
pub(super) const N_FIXED: usize = LEAVE + 1;
/// The number of the jump.
pub(super) const JUMP: usize = 5;
/// The number of the one that leaves the function.
pub(super) const LEAVE: usize = 6;

impl Wanted {
    /// The counting stencil's number, and its operands: the addresses, side by side. None if the function needs no counting stencil.
    pub(super) fn stencil(self) -> Option<(usize, [u64; 3])> {
        let Wanted { budget, stop, fuel } = self;
        match (budget, stop, fuel) {
            (None, None, _) => None,
            (Some(budget), None, _) => Some((0, [budget, 0, 0])),
            (Some(budget), Some(stop), None) => Some((1, [budget, stop, 0])),
            (Some(budget), Some(stop), Some(fuel)) => Some((2, [budget, stop, fuel])),
            (None, Some(stop), None) => Some((3, [stop, 0, 0])),
            (None, Some(stop), Some(fuel)) => Some((4, [stop, fuel, 0])),
        }
    }
}

/// By number, the opcode and its operands.
pub(super) static OPCODES: [OpcodeInfo; N_FIXED] = [
    OpcodeInfo { name: "count", operands: &[address("budget")] },
    OpcodeInfo { name: "count_or_stop", operands: &[address("budget"), address("stop")] },
    OpcodeInfo {
        name: "count_or_stop_or_spend",
        operands: &[address("budget"), address("stop"), address("fuel")],
    },
    OpcodeInfo { name: "stop", operands: &[address("stop")] },
    OpcodeInfo { name: "stop_or_spend", operands: &[address("stop"), address("fuel")] },
    OpcodeInfo {
        name: "jump",
        operands: &[OperandInfo { name: "to", kind: OperandKind::Label, scalar: None }],
    },
    OpcodeInfo { name: "leave", operands: &[] },
];

/// By number, the offsets of the operands.
pub(super) const OFFSETS: [&[u16]; N_FIXED] = [&[0], &[0, 8], &[0, 8, 16], &[0], &[0, 8], &[0], &[]];

const LONG: Sig = Sig { from: Type::Void, ty: Type::I32 };

const WORD: Sig = Sig { from: Type::Void, ty: Type::I64 };

const fn node(op: Op, sig: Sig, inputs: &[u16], imm: i64) -> Step {
    Step::Node { op, sig, inputs: Refs::of(inputs), imm: StepImm::Known(imm) }
}

const fn from(ty: Type, to: Type) -> Sig {
    Sig { from: ty, ty: to }
}

/// How many values `down!` and `look!` define.
const DOWN: u16 = 4;
const LOOK: u16 = 4;

/// Takes one from the number at the address in this operand, and exits if the result is below zero. Otherwise continues in
/// block `$on`. The first value defined has the number `$value`.
macro_rules! down {
    ($sig:ident, $operand:literal, $value:expr, $on:literal) => {
        [
            Step::Constant { operand: $operand, ty: Type::I64 },
            node(Op::SPEND_AT, $sig, &[$value], 0),
            node(Op::CONST, $sig, &[], 0),
            node(Op::LT, from($sig.ty, Type::Flag), &[$value + 1, $value + 2], 0),
            Step::Branch { flag: $value + 3, then: 1, otherwise: $on, likelihood: Likelihood::Unlikely },
            Step::Block { block: $on, params: TypeList::EMPTY, cold: false },
        ]
    };
}

/// Exits if the word at the address in this operand is not zero.
macro_rules! look {
    ($operand:literal, $value:expr, $on:literal) => {
        [
            Step::Constant { operand: $operand, ty: Type::I64 },
            node(Op::LOAD, WORD, &[$value], 0),
            node(Op::CONST, WORD, &[], 0),
            node(Op::NE, from(Type::I64, Type::Flag), &[$value + 1, $value + 2], 0),
            Step::Branch { flag: $value + 3, then: 1, otherwise: $on, likelihood: Likelihood::Unlikely },
            Step::Block { block: $on, params: TypeList::EMPTY, cold: false },
        ]
    };
}

/// The steps that follow: continue with the bytecode, and the cold block that exits at it.
const END: [Step; 3] = [
    Step::Next,
    Step::Block { block: 1, params: TypeList::EMPTY, cold: true },
    Step::Exit { to: Resume::Here },
];

/// Concatenates steps.
const fn joined<const N: usize>(parts: &[&[Step]]) -> [Step; N] {
    let mut all = [Step::Next; N];
    let (mut part, mut at) = (0, 0);
    while part < parts.len() {
        let mut step = 0;
        while step < parts[part].len() {
            all[at] = parts[part][step];
            (step, at) = (step + 1, at + 1);
        }
        part += 1;
    }
    assert!(at == N, "no step is left out");
    all
}

/// By number, the template.
pub(super) static TEMPLATES: [Template; N_FIXED] = [
    Template::plain(const { &joined::<9>(&[&down!(LONG, 0, 0, 2), &END]) }, 3),
    Template::plain(const { &joined::<15>(&[&down!(LONG, 0, 0, 2), &look!(1, DOWN, 3), &END]) }, 4),
    Template::plain(
        const {
            &joined::<21>(&[&down!(LONG, 0, 0, 2), &look!(1, DOWN, 3), &down!(WORD, 2, DOWN + LOOK, 4), &END])
        },
        5,
    ),
    Template::plain(const { &joined::<9>(&[&look!(0, 0, 2), &END]) }, 3),
    Template::plain(const { &joined::<15>(&[&look!(0, 0, 2), &down!(WORD, 1, LOOK, 3), &END]) }, 4),
    Template::plain(&[Step::Goto { operand: 0 }], 1),
    Template::plain(&[Step::Exit { to: Resume::Here }], 1),
];
