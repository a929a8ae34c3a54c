//! The time to redirect all calls of a function to other code.
//!
//! Compiled code calls a bytecode function through its call cell, so a redirection is one store, however many callers there are,
//! and it takes effect in running callers. The benchmark measures the store, and the cost of the next call, whose target the
//! processor often mispredicts.

use crate::clock;
use crate::measure::Effort;
use crate::op::Vm;
use crate::programs::Program;
use crate::subject;
use azulejo_core::pass::Blind;
use azulejo_core::pass::build::{FunctionSource, Linkage};
use azulejo_core::verify::verify;
use azulejo_x64::call::{CallCell, HostFunctions, Outcome, UnresolvedCall};
use azulejo_x64::{Backend, Compiled, Emitter, RawStatus};
use std::hint::black_box;

/// A host whose functions the compiled code never calls.
struct Nothing;

impl HostFunctions for Nothing {
    unsafe fn resolve(_: &mut UnresolvedCall) {
        unreachable!("there always is code");
    }

    unsafe fn resume(_: &CallCell, _: *mut (), _: *mut u64, _: RawStatus) -> Outcome {
        unreachable!("the function has no exits");
    }

    unsafe fn refuse(_: &CallCell, _: *mut ()) -> u64 {
        unreachable!("the stack has room");
    }

    unsafe fn note(_: &CallCell, _: u32) {
        unreachable!("the function does not fail");
    }
}

/// Prints the times. The program's function must take one argument and return it unchanged if it is small.
pub(crate) fn print(program: &Program, effort: Effort) {
    let host = Emitter::host::<Nothing>();
    host.begin(std::ptr::null(), 0);
    // SAFETY: the host lives as long as this function.
    let cell = unsafe { CallCell::new(&raw const host, 0) };
    let shape = verify(&program.code.ops, &program.code.labels, program.code.registers).expect("it is right");
    let cells = [std::ptr::from_ref(&cell).addr() as u64];
    let functions = Linkage { cells: &cells, ..Linkage::default() };
    let source = FunctionSource { functions, ..subject::source(program, &shape) };
    let mut compiler = subject::compiler();
    let mut compile =
        || compiler.call_entry(&source, 1, std::ptr::null(), &cell, &mut Blind).expect("it can be called");
    let codes: [Compiled; 2] = [compile(), compile()];
    let mut vm = Vm;
    let mut call = || {
        // SAFETY: the call cell has code, and the context has the type that the program's templates expect.
        let outcome = unsafe { cell.call((&raw mut vm).cast(), black_box(&[1])) };
        assert_eq!((outcome.trap, outcome.value), (0, 1));
    };
    // Random order, so that the branch predictor cannot learn it.
    let mut random = 1u32;
    let mut open = |_: u32| {
        random = random.wrapping_mul(747_796_405).wrapping_add(2_891_336_453);
        // SAFETY: both were compiled for this call cell.
        unsafe { black_box(&cell).open_to(codes[(random >> 31) as usize].entry()) }
    };
    let redirect = clock::fastest(effort.rounds, &mut open);
    open(0);
    let calls = clock::fastest(effort.rounds, |_| call());
    let both = clock::fastest(effort.rounds, |turn| {
        open(turn);
        call();
    });
    println!(
        "\nsending all calls of a function elsewhere: {redirect:.1} ns; the next call takes {:.1} ns instead of {calls:.1}",
        both - redirect
    );
}
