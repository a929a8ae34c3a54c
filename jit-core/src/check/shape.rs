//! Judge of the result of verification.
//!
//! In: bytecode, its lists of labels, the number of its VM registers, and its [`Shape`]. Out: all violations in the shape.
//! Verification follows paths through the code; here each bytecode is checked on its own. The operand stack has one height at
//! each bytecode if, for each step of control from one bytecode to another, the two heights differ by the number of values
//! that the first one pops and pushes.

use super::Violation;
use crate::ir::bytecode::{Bytecode, OperandKind};
use crate::verify::{Shape, falls_through, targets};

/// All violations in a shape.
///
/// ```
/// # use azulejo_core::{ir::bytecode::Bytecode, check::shape::shape, verify::verify};
/// /// Whether verification is right about this code, if it accepts it.
/// fn is_right<B: Bytecode>(code: &[B], registers: u32) -> bool {
///     verify(code, &[], registers).is_ok_and(|found| shape(code, &[], registers, &found).is_empty())
/// }
/// ```
pub fn shape<B: Bytecode>(code: &[B], labels: &[u32], registers: u32, shape: &Shape) -> Vec<Violation> {
    let mut violations = Vec::new();
    let mut say = |at: usize, problem: &str| {
        violations.push(Violation { place: format!("bytecode {at}"), problem: problem.into() })
    };
    let height = |at: usize| match shape.depths.is_empty() {
        true => Some(0),
        false => shape.depths.get(at).copied().filter(|depth| *depth != Shape::UNREACHED),
    };
    if height(0) != Some(0) {
        say(0, "the operand stack is not empty at the start");
    }
    let mut highest = 0;
    for (at, op) in code.iter().enumerate() {
        for to in targets(op, labels) {
            if !shape.targets.contains(to) || to <= at && !shape.heads.contains(to) {
                say(at, "jumps to a bytecode that is not known for it");
            }
            let span = || shape.loops.binary_search_by_key(&to, |span| span.head as usize);
            if to <= at && !span().is_ok_and(|span| at <= shape.loops[span].last as usize) {
                say(at, "jumps back in no loop");
            }
        }
        let Some(before) = height(at) else { continue };
        let operands = B::OPCODES[op.opcode()].operands;
        let count = |kind| operands.iter().filter(|info| info.kind == kind).count() as u32;
        let Some(left) = before.checked_sub(count(OperandKind::Pop)) else {
            say(at, "pops more than there is");
            continue;
        };
        let after = left + count(OperandKind::Push);
        highest = highest.max(before).max(after);
        let next = falls_through(B::templates()[op.opcode()]).then_some(at + 1);
        if targets(op, labels).chain(next).any(|to| height(to) != Some(after)) {
            say(at, "the operand stack has another height where control goes on");
        }
    }
    for span in &shape.loops {
        let jumps_back =
            code.get(span.last as usize).map(|op| targets(op, labels).any(|to| to == span.head as usize));
        if jumps_back != Some(true) {
            say(span.last as usize, "ends a loop to whose head it does not jump");
        }
    }
    if shape.loops.windows(2).any(|two| two[0].head >= two[1].head) {
        say(0, "the loops are not in order");
    }
    if registers.checked_add(highest) != Some(shape.slots) {
        say(0, "the frame has not as many slots as are used");
    }
    violations
}
