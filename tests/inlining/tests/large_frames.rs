//! Functions with large stack frames that a template may call: the size of the interpreter's frame does not depend on them.
//!
//! This crate's tests are optimized, since only then does rustc inline callees.

use azulejo::prelude::*;
use azulejo_inlining::{Vm, large};
use std::rc::Rc;

#[derive(Bytecode, Clone, Copy, Debug)]
#[bytecode(context = Vm<Op>)]
enum Op {
    Nest { a: InOut<i64> },
    Large { a: InOut<i64> },
    LargeC { a: InOut<i64> },
    NestLarge { a: InOut<i64> },
    Return { a: In<i64> },
}

fn nest(vm: &mut Vm<Op>, a: i64) -> i64 {
    vm.deeper(a)
}

fn large_rust(a: i64) -> i64 {
    large(a)
}

extern "C" fn large_c(a: i64) -> i64 {
    large(a) + 2
}

fn nest_large(vm: &mut Vm<Op>, a: i64) -> i64 {
    let lowest = large(a) & 1;
    vm.deeper(a) + lowest
}

template! {
    Op::Nest      => (call nest (arglist (carg (tc) ptr) (carg $a i64)) i64)
    Op::Large     => (call large_rust (arglist (carg $a i64)) i64)
    Op::LargeC    => (call "C" large_c (arglist (carg $a i64)) i64)
    Op::NestLarge => (call nest_large (arglist (carg (tc) ptr) (carg $a i64)) i64)
    Op::Return    => (return $a)
}

/// The recursion depth that a function reaches if it calls itself by this opcode.
fn levels(opcode: Op, stack: usize, limit: usize) -> usize {
    let run = move || {
        let engine: Rc<Engine<Op>> = Rc::new(Engine::<Op>::builder().native_stack(limit).build());
        let code = vec![opcode, Op::Return { a: 0.into() }];
        let function = engine.define("nest", code, 1).expect("it is right");
        let others = [Op::Large { a: 0.into() }, Op::LargeC { a: 0.into() }];
        let others = others.map(|op| {
            let code = vec![op, Op::Return { a: 0.into() }];
            engine.define("other", code, 1).expect("it is right")
        });
        let mut vm = Vm::new(&engine, function);
        let results = others.map(|other| engine.interpret::<_, i64>(other, &mut vm, (5i64,)));
        if stack >= 1 << 20 {
            assert_eq!(results, [Ok(5), Ok(7)]);
        }
        engine
            .interpret::<_, i64>(function, &mut vm, (1i64,))
            .expect("what is refused is refused further down");
        assert_eq!(vm.error, Some(Error::StackOverflow));
        vm.levels
    };
    let thread = std::thread::Builder::new().stack_size(stack).spawn(run).expect("it starts");
    thread.join().expect("it ends well")
}

#[test]
fn what_is_not_called_takes_no_stack() {
    let levels = levels(Op::Nest { a: 0.into() }, 8 << 20, 1 << 20);
    assert!(levels > 700, "{levels} levels in a megabyte");
}

#[test]
fn what_is_called_takes_what_it_needs() {
    let levels = levels(Op::NestLarge { a: 0.into() }, 64 << 20, 32 << 20);
    assert!(levels > (32 << 20) / (66 << 10), "{levels} levels in 32 megabytes");
}

#[test]
fn the_end_of_the_stack_is_an_error() {
    for kib in [1024, 2048, 4096, 16384] {
        for opcode in [Op::Nest { a: 0.into() }, Op::NestLarge { a: 0.into() }] {
            let levels = levels(opcode, kib << 10, 1 << 30);
            assert!(levels > 1, "{levels} levels in {kib} KiB");
        }
    }
}
