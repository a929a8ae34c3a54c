//! A function of a named calling convention with a large stack frame: the interpreter calls it, and its own frame does not
//! grow by it.
//!
//! This crate's tests are optimized, since only then does rustc inline callees.
#![cfg(target_arch = "x86_64")]

use azulejo::prelude::*;
use azulejo_inlining::{Vm, large};
use std::rc::Rc;

#[derive(Bytecode, Clone, Copy, Debug)]
#[bytecode(context = Vm<Op>)]
enum Op {
    Nest { a: InOut<i64> },
    LargeSysv { a: InOut<i64> },
    LargeWin { a: InOut<i64> },
    Return { a: In<i64> },
}

fn nest(vm: &mut Vm<Op>, a: i64) -> i64 {
    vm.deeper(a)
}

extern "sysv64" fn large_sysv(a: i64) -> i64 {
    large(a)
}

extern "win64" fn large_win(a: i64) -> i64 {
    large(a) + 1
}

template! {
    Op::Nest      => (call nest (arglist (carg (tc) ptr) (carg $a i64)) i64)
    Op::LargeSysv => (call "sysv64" large_sysv (arglist (carg $a i64)) i64)
    Op::LargeWin  => (call "win64" large_win (arglist (carg $a i64)) i64)
    Op::Return    => (return $a)
}

#[test]
fn what_is_not_called_takes_no_stack() {
    let run = || {
        let engine: Rc<Engine<Op>> = Rc::new(Engine::<Op>::builder().native_stack(1 << 20).build());
        let define = |op| engine.define("f", vec![op, Op::Return { a: 0.into() }], 1).expect("it is right");
        let function = define(Op::Nest { a: 0.into() });
        let mut vm = Vm::new(&engine, function);
        for (op, result) in [(Op::LargeSysv { a: 0.into() }, 5), (Op::LargeWin { a: 0.into() }, 6)] {
            assert_eq!(engine.interpret::<_, i64>(define(op), &mut vm, (5i64,)), Ok(result));
        }
        let most = engine.interpret::<_, i64>(function, &mut vm, (1i64,));
        assert_eq!((most, vm.error), (Ok(1), Some(Error::StackOverflow)));
        vm.levels
    };
    let thread = std::thread::Builder::new().stack_size(8 << 20).spawn(run).expect("it starts");
    let levels = thread.join().expect("it ends well");
    assert!(levels > 700, "{levels} levels in a megabyte");
}
