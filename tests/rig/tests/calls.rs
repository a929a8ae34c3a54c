//! Calls that a machine's stubs make and take, on each machine.

#![cfg(all(target_arch = "x86_64", unix))]

use azulejo_code::call::{CallCell, HostFunctions, Outcome, UnresolvedCall};
use azulejo_code::emit::Backend;
use azulejo_code::status::RawStatus;
use azulejo_core::pass::build::MAX_ARGUMENTS;

/// A host whose functions add up their arguments.
struct Adder;

impl HostFunctions for Adder {
    unsafe fn resolve(unresolved: &mut UnresolvedCall) {
        let sum =
            unresolved.arguments().iter().zip(1..).map(|(argument, factor)| argument * factor).sum::<u64>();
        let context = unresolved.context.addr() as u64;
        unresolved.end(Outcome { value: sum + context, trap: unresolved.cell().function() as u64 });
    }

    unsafe fn resume(_: &CallCell, _: *mut (), _: *mut u64, _: RawStatus) -> Outcome {
        unreachable!("no code is left")
    }

    unsafe fn refuse(_: &CallCell, _: *mut ()) -> u64 {
        unreachable!("the stack has room")
    }

    unsafe fn note(_: &CallCell, _: u32) {
        unreachable!("nothing fails")
    }
}

/// Calls of every number of arguments are resolved with all of them.
fn arguments_arrive<M: Backend>() {
    let host = M::host::<Adder>();
    // The whole stack may be used.
    host.begin(core::ptr::null(), 0);
    // SAFETY: the host outlives the cell.
    let cell = unsafe { CallCell::new(&host, 9) };
    for count in 0..=MAX_ARGUMENTS {
        let args: Vec<u64> = (0..count as u64).map(|at| at * 3 + 1).collect();
        let sum: u64 = args.iter().zip(1..).map(|(bits, factor)| bits * factor).sum();
        // SAFETY: the host's functions accept any context.
        let outcome = unsafe { cell.call(core::ptr::without_provenance_mut(5), &args) };
        assert_eq!((outcome.value, outcome.trap), (sum + 5, 9));
    }
}

#[test]
fn a_call_has_all_its_arguments_on_each_machine() {
    arguments_arrive::<azulejo::x64::Emitter>();
    arguments_arrive::<azulejo_toy::Emitter>();
}
