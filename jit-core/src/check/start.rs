//! Judge of the registers that a function needs at its start.
//!
//! In: bytecode, and the set. Out: a violation for each register that is not in the set, and that some path reads before it writes
//! it. The pass follows all registers through the code at once; here each path is followed for one register.

use super::Violation;
use crate::ir::bits::BitSet;
use crate::pass::build::{DecodedEffects, FunctionSource, NeededAtStart};

/// About how many steps are taken at most: of the registers of very long functions only some are looked at.
const MOST_STEPS: usize = 1 << 24;

/// The registers that are missing in the set.
pub(crate) fn start(source: &FunctionSource<'_>, needed: &NeededAtStart) -> Vec<Violation> {
    let code: Vec<DecodedEffects<'_>> =
        (0..source.code.len()).map(|at| DecodedEffects::alone(source, at)).collect();
    let each = (source.slots as usize).saturating_mul(code.len()) / MOST_STEPS;
    let others = (0..source.slots).filter(|register| !needed.contains(*register)).step_by(each.max(1));
    let reads = others.filter_map(|register| Some((register, first_read(source, &code, register as usize)?)));
    let say = |(register, at)| Violation {
        place: format!("register {register}"),
        problem: format!("bytecode {at} may read it before it is written"),
    };
    reads.map(say).collect()
}

/// A bytecode that may be reached without a write to the register, and reads it.
fn first_read(source: &FunctionSource<'_>, code: &[DecodedEffects<'_>], register: usize) -> Option<usize> {
    let mut seen = BitSet::new(code.len());
    let mut ways = vec![0];
    while let Some(at) = ways.pop() {
        if !seen.insert(at) {
            continue;
        }
        let (mut is_read, mut is_killed) = (false, false);
        code[at].each_read(|read| is_read |= read == register);
        code[at].each_kill(|killed| is_killed |= killed == register);
        if is_read {
            return Some(at);
        }
        ways.extend(code[at].targets(source));
        if code[at].falls_through() && !is_killed {
            ways.push(at + 1);
        }
    }
    None
}
