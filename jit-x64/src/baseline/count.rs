//! What counts how often a loop goes around, and looks whether the program is to stop: a template like an opcode's, put
//! before the bytecode at a loop's head.

use azulejo_core::ir::bytecode::{OpcodeInfo, OperandInfo, OperandKind};
use azulejo_core::ir::template::{BlockRef, Imm, Likelihood, Ref, Resume, Step, Template};
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

/// The block in which the function is left at this bytecode.
const OUT: BlockRef = 1;

const fn node(op: Op, sig: Sig, inputs: &'static [Ref], imm: i64) -> Step {
    Step::Node { op, sig, inputs, imm: Imm::Known(imm) }
}

/// Out if this flag holds, and otherwise on to another block.
const fn out_if(flag: Ref, otherwise: BlockRef) -> Step {
    Step::Branch { flag, then: OUT, otherwise, likelihood: Likelihood::Unlikely }
}

const fn on(block: BlockRef) -> Step {
    Step::Block { block, params: &[], cold: false }
}

const fn compares(of: Type) -> Sig {
    Sig { from: of, ty: Type::Flag }
}

const fn stores(ty: Type) -> Sig {
    Sig { from: ty, ty: Type::Void }
}

// Each list of steps ends with a look whether to go out. Values are numbered on from one to the next.

/// `budget -= 1`, and out if it is below zero.
const BUDGET: &[Step] = &[
    Step::Constant { operand: 0, ty: Type::I64 },
    node(Op::LOAD, LONG, &[0], 0),
    node(Op::CONST, LONG, &[], 1),
    node(Op::SUB, LONG, &[1, 2], 0),
    node(Op::STORE, stores(Type::I32), &[0, 3], 0),
    node(Op::CONST, LONG, &[], 0),
    node(Op::LT, compares(Type::I32), &[3, 4], 0),
    out_if(5, 2),
];

/// Out if `stop` is not zero.
const STOP: &[Step] = &[
    Step::Constant { operand: 1, ty: Type::I64 },
    node(Op::LOAD, WORD, &[6], 0),
    node(Op::CONST, WORD, &[], 0),
    node(Op::NE, compares(Type::I64), &[7, 8], 0),
    out_if(9, 3),
];

/// `fuel -= 1`, and out if it is below zero.
const FUEL: &[Step] = &[
    Step::Constant { operand: 2, ty: Type::I64 },
    node(Op::LOAD, WORD, &[10], 0),
    node(Op::CONST, WORD, &[], 1),
    node(Op::SUB, WORD, &[11, 12], 0),
    node(Op::STORE, stores(Type::I64), &[10, 13], 0),
    node(Op::LT, compares(Type::I64), &[13, 8], 0),
    out_if(14, 4),
];

/// What stands behind the last of them.
const END: &[Step] = &[Step::Block { block: OUT, params: &[], cold: true }, Step::Exit { to: Resume::Here }];

/// All steps of some lists, of which there must be so many.
const fn joined<const N: usize>(lists: &[&[Step]]) -> [Step; N] {
    let mut all = [Step::Next; N];
    let (mut list, mut len) = (0, 0);
    while list < lists.len() {
        let mut at = 0;
        while at < lists[list].len() {
            all[len] = lists[list][at];
            (at, len) = (at + 1, len + 1);
        }
        list += 1;
    }
    assert!(len == N, "no place is left");
    all
}

/// The first one counts. The second one also looks whether the program is to stop, and the third one takes fuel, too.
pub(super) static TEMPLATES: [Template; 3] = [
    Template {
        steps: &joined::<{ BUDGET.len() + END.len() + 1 }>(&[BUDGET, END, &[on(2)]]),
        blocks: 3,
        guarded: None,
    },
    Template {
        steps: &joined::<{ BUDGET.len() + STOP.len() + END.len() + 2 }>(&[
            BUDGET,
            &[on(2)],
            STOP,
            END,
            &[on(3)],
        ]),
        blocks: 4,
        guarded: None,
    },
    Template {
        steps: &joined::<{ BUDGET.len() + STOP.len() + FUEL.len() + END.len() + 3 }>(&[
            BUDGET,
            &[on(2)],
            STOP,
            &[on(3)],
            FUEL,
            END,
            &[on(4)],
        ]),
        blocks: 5,
        guarded: None,
    },
];
