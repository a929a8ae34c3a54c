//! Prints the machine code of a program: azulejo's, and Cranelift's with optimization.

use crate::clif::Cranelift;
use crate::programs::Program;
use crate::subject;
use azulejo_core::pass::Blind;
use azulejo_core::verify::verify;
use iced_x86::{Decoder, DecoderOptions, FlowControl, Formatter, NasmFormatter};

/// Prints both listings.
pub(crate) fn print(program: &Program) {
    let shape = verify(&program.code.ops, &program.code.labels, program.code.registers).expect("it is right");
    let mut compiler = subject::compiler();
    let ours = compiler.bytecode(&subject::source(program, &shape), &mut Blind).expect("it compiles");
    println!("{}: azulejo\n{}", program.name, text(ours.bytes()));
    let mut cranelift = Cranelift::new("speed", "backtracking");
    let code = cranelift.compile(program);
    // SAFETY: the module is alive, and the code has this size.
    let bytes = unsafe { std::slice::from_raw_parts(code.address, code.bytes) };
    println!("{}: Cranelift\n{}", program.name, text(bytes));
}

/// One instruction a line, with its offset. Jump targets are marked.
fn text(bytes: &[u8]) -> String {
    let instructions: Vec<_> = Decoder::with_ip(64, bytes, 0, DecoderOptions::NONE).iter().collect();
    let is_jump = |flow| matches!(flow, FlowControl::ConditionalBranch | FlowControl::UnconditionalBranch);
    let targets: Vec<u64> = instructions
        .iter()
        .filter(|instruction| is_jump(instruction.flow_control()))
        .map(|instruction| instruction.near_branch_target())
        .collect();
    let mut formatter = NasmFormatter::new();
    let mut lines = String::new();
    for instruction in &instructions {
        let mark = if targets.contains(&instruction.ip()) { '>' } else { ' ' };
        lines += &format!("{mark}{:5x}  ", instruction.ip());
        formatter.format(instruction, &mut lines);
        lines.push('\n');
    }
    lines
}
