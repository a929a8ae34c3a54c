//! Compiling with the baseline compiler again allocates nothing.

#![cfg(all(target_arch = "x86_64", target_os = "linux"))]

use azulejo::prelude::*;
use azulejo_core::ir::slow_paths::NO_SLOW_PATHS;
use azulejo_core::pass::Blind;
use azulejo_core::pass::build::Linkage;
use azulejo_core::verify::verify;
use azulejo_x64::{Compiler, Features, Function, X64};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    static COUNT: Cell<usize> = const { Cell::new(0) };
}

/// Counts the allocations of each thread.
struct Counting;

// SAFETY: all calls are passed on to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        COUNT.with(|count| count.set(count.get() + 1));
        // SAFETY: the caller meets the contract.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, address: *mut u8, layout: Layout) {
        // SAFETY: the caller meets the contract.
        unsafe { System.dealloc(address, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[derive(Bytecode, Clone, Copy, Debug)]
enum Op {
    Add { dst: Out<i64>, a: In<i64>, b: In<i64> },
    Load { dst: Out<i64>, value: Imm<i64> },
    Less { a: In<i64>, b: In<i64>, to: Label },
    Choose { a: In<i64>, to: Labels },
    Return { a: In<i64> },
}

template! {
    Op::Add => (add $a $b)
    Op::Load => $value
    Op::Less => (when (lt $a $b) (branch $to))
    Op::Choose => (switch $a $to)
    Op::Return => (return $a)
}

#[test]
fn compiling_again_takes_nothing_from_the_heap() {
    let (x, y, z) = (0, 1, 2);
    let mut code = vec![
        Op::Load { dst: y.into(), value: Imm(3) },
        Op::Load { dst: z.into(), value: Imm(i64::MAX) },
        Op::Add { dst: x.into(), a: x.into(), b: y.into() },
        Op::Less { a: x.into(), b: z.into(), to: Label(5) },
        Op::Choose { a: x.into(), to: Labels { first: 0, count: 2 } },
    ];
    (0..1000).for_each(|_| code.push(Op::Add { dst: y.into(), a: y.into(), b: x.into() }));
    code.push(Op::Return { a: y.into() });
    let labels = [5, 6];
    let shape = verify(&code, &labels, 3).expect("the code is right");
    let unit = std::ptr::null();
    let function = Function {
        code: &code,
        labels: &labels,
        registers: 3,
        shape: &shape,
        unit,
        temporaries: None,
        slow_paths: &NO_SLOW_PATHS,
        leaves_out: false,
        sites: None,
        budget: None,
    };
    let mut compiler = Compiler::new(1 << 20, &X64, Features::detect().bits(), &azulejo::rules::MATCHERS)
        .expect("this machine runs code");
    let mut compile = || {
        let before = COUNT.get();
        let code = compiler.baseline(&function, Linkage::default(), &mut Blind).expect("it compiles");
        let mut frame = [4, 0, 0];
        // SAFETY: the frame has the slots that the code uses, and the code is entered at its first bytecode.
        let status = unsafe { code.enter(std::ptr::null_mut(), frame.as_mut_ptr(), 0) };
        assert_eq!(status, azulejo_x64::Status::Returned(7003));
        drop(code);
        COUNT.get() - before
    };
    assert!(compile() > 0, "stencils are made, and counted");
    let again: Vec<usize> = (0..10).map(|_| compile()).collect();
    assert_eq!(again[1..], [0; 9]);
}
