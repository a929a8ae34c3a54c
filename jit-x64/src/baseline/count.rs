//! What counts how often a loop goes around: a template like an opcode's, put before the bytecode at a loop's head.

use azulejo_core::ir::bytecode::{OpcodeInfo, OperandInfo, OperandKind};
use azulejo_core::ir::template::{Imm, Likelihood, Resume, Step, Template};
use azulejo_core::vocab::{Op, Scalar, Sig, Type};

/// Its operand is the address of an `i32`.
pub(super) static OPCODE: OpcodeInfo = OpcodeInfo {
    name: "count",
    operands: &[OperandInfo { name: "budget", kind: OperandKind::Imm, scalar: Some(Scalar::Ptr) }],
};

const LONG: Sig = Sig { from: Type::Void, ty: Type::I32 };

/// `budget -= 1`, and out at this bytecode if it is below zero.
pub(super) static TEMPLATE: Template = Template {
    steps: &[
        Step::Constant { operand: 0, ty: Type::I64 },
        Step::Node { op: Op::LOAD, sig: LONG, inputs: &[0], imm: Imm::Known(0) },
        Step::Node { op: Op::CONST, sig: LONG, inputs: &[], imm: Imm::Known(1) },
        Step::Node { op: Op::SUB, sig: LONG, inputs: &[1, 2], imm: Imm::Known(0) },
        Step::Node {
            op: Op::STORE,
            sig: Sig { from: Type::I32, ty: Type::Void },
            inputs: &[0, 3],
            imm: Imm::Known(0),
        },
        Step::Node { op: Op::CONST, sig: LONG, inputs: &[], imm: Imm::Known(0) },
        Step::Node {
            op: Op::LT,
            sig: Sig { from: Type::I32, ty: Type::Flag },
            inputs: &[3, 4],
            imm: Imm::Known(0),
        },
        Step::Branch { flag: 5, then: 1, otherwise: 2, likelihood: Likelihood::Unlikely },
        Step::Block { block: 1, params: &[], cold: true },
        Step::Exit { to: Resume::Here },
        Step::Block { block: 2, params: &[], cold: false },
    ],
    blocks: 3,
    guarded: None,
};
