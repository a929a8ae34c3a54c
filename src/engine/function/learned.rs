//! What a function's bytecodes have learned, for people who look at its compilation.
//!
//! In: a function's sites and slow paths, on the thread that runs it. Out: for each bytecode the cases of its sites, and whether
//! its slow path has run.

use super::body::Body;
use crate::inside::Learned;
use azulejo_core::ir::bytecode::Bytecode;

impl<B: Bytecode> Learned for Body<B> {
    fn note(&self, at: u32) -> Option<String> {
        let (op, slow_paths) = (&self.ops()[at as usize], self.speculation.slow_paths());
        let (opcode, operands) = (op.opcode(), op.operands());
        let sites = B::SITES.get(opcode).into_iter().copied().flatten();
        let sites = sites.filter_map(|(operand, _)| self.sites.describe(operands[*operand as usize]));
        let mut notes: Vec<String> = sites.collect();
        if slow_paths.have_run(at) {
            notes.push("the slow path has run".into());
        }
        (!notes.is_empty()).then(|| notes.join("; "))
    }
}
