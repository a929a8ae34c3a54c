//! What counts how often a loop goes around, and looks whether the program is to stop: a template like an opcode's, put
//! before the bytecode at a loop's head.

use azulejo_core::ir::bytecode::{OpcodeInfo, OperandInfo, OperandKind};
use azulejo_core::ir::template::{Imm, Likelihood, Resume, Step, Template};
use azulejo_core::vocab::{Op, Scalar, Sig, Type};

const fn address(name: &'static str) -> OperandInfo {
    OperandInfo { name, kind: OperandKind::Imm, scalar: Some(Scalar::Ptr) }
}

/// Its operands are the address of an `i32` and, where the program may be stopped, of an `i64`; where it runs on fuel, of one
/// more. They stand side by side.
pub(super) static OPCODES: [OpcodeInfo; 3] = [
    OpcodeInfo { name: "count", operands: &[address("budget")] },
    OpcodeInfo { name: "count_or_stop", operands: &[address("budget"), address("stop")] },
    OpcodeInfo { name: "count_fuel", operands: &[address("budget"), address("stop"), address("fuel")] },
];

/// Where the operands stand.
pub(super) const OFFSETS: [&[u16]; 3] = [&[0], &[0, 8], &[0, 8, 16]];

const LONG: Sig = Sig { from: Type::Void, ty: Type::I32 };

const WORD: Sig = Sig { from: Type::Void, ty: Type::I64 };

/// `budget -= 1`, and out at this bytecode if it is below zero. The second one also leaves if `stop` is not zero,
/// and the third one if `fuel`, from which it takes one as well, is below zero.
pub(super) static TEMPLATES: [Template; 3] = [
    Template {
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
    },
    Template {
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
            Step::Block { block: 2, params: &[], cold: false },
            Step::Constant { operand: 1, ty: Type::I64 },
            Step::Node { op: Op::LOAD, sig: WORD, inputs: &[6], imm: Imm::Known(0) },
            Step::Node { op: Op::CONST, sig: WORD, inputs: &[], imm: Imm::Known(0) },
            Step::Node {
                op: Op::NE,
                sig: Sig { from: Type::I64, ty: Type::Flag },
                inputs: &[7, 8],
                imm: Imm::Known(0),
            },
            Step::Branch { flag: 9, then: 1, otherwise: 3, likelihood: Likelihood::Unlikely },
            Step::Block { block: 1, params: &[], cold: true },
            Step::Exit { to: Resume::Here },
            Step::Block { block: 3, params: &[], cold: false },
        ],
        blocks: 4,
        guarded: None,
    },
    Template {
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
            Step::Block { block: 2, params: &[], cold: false },
            Step::Constant { operand: 1, ty: Type::I64 },
            Step::Node { op: Op::LOAD, sig: WORD, inputs: &[6], imm: Imm::Known(0) },
            Step::Node { op: Op::CONST, sig: WORD, inputs: &[], imm: Imm::Known(0) },
            Step::Node {
                op: Op::NE,
                sig: Sig { from: Type::I64, ty: Type::Flag },
                inputs: &[7, 8],
                imm: Imm::Known(0),
            },
            Step::Branch { flag: 9, then: 1, otherwise: 4, likelihood: Likelihood::Unlikely },
            Step::Block { block: 4, params: &[], cold: false },
            Step::Constant { operand: 2, ty: Type::I64 },
            Step::Node { op: Op::LOAD, sig: WORD, inputs: &[10], imm: Imm::Known(0) },
            Step::Node { op: Op::CONST, sig: WORD, inputs: &[], imm: Imm::Known(1) },
            Step::Node { op: Op::SUB, sig: WORD, inputs: &[11, 12], imm: Imm::Known(0) },
            Step::Node {
                op: Op::STORE,
                sig: Sig { from: Type::I64, ty: Type::Void },
                inputs: &[10, 13],
                imm: Imm::Known(0),
            },
            Step::Node {
                op: Op::LT,
                sig: Sig { from: Type::I64, ty: Type::Flag },
                inputs: &[13, 8],
                imm: Imm::Known(0),
            },
            Step::Branch { flag: 14, then: 1, otherwise: 3, likelihood: Likelihood::Unlikely },
            Step::Block { block: 1, params: &[], cold: true },
            Step::Exit { to: Resume::Here },
            Step::Block { block: 3, params: &[], cold: false },
        ],
        blocks: 5,
        guarded: None,
    },
];
