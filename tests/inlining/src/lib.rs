//! A user's crate that is compiled with optimization: its tests check the code that rustc generates for the interpreter.

use azulejo::prelude::*;
use std::hint::black_box;
use std::rc::Rc;

/// The context of bytecode whose helper functions call the engine recursively.
#[derive(Debug)]
pub struct Vm<B: Bytecode<Context = Vm<B>>> {
    engine: Rc<Engine<B>>,
    function: FunctionId,
    /// The number of recursive calls.
    pub levels: usize,
    /// The error that ended the recursion.
    pub error: Option<Error>,
}

impl<B: Bytecode<Context = Vm<B>>> Vm<B> {
    /// Makes a context whose [`Vm::deeper`] calls this function.
    pub fn new(engine: &Rc<Engine<B>>, function: FunctionId) -> Vm<B> {
        Vm { engine: Rc::clone(engine), function, levels: 0, error: None }
    }

    /// Calls the engine recursively, one level deeper.
    #[inline(never)]
    pub fn deeper(&mut self, a: i64) -> i64 {
        self.levels += 1;
        let (engine, function) = (Rc::clone(&self.engine), self.function);
        engine.interpret(function, self, (a,)).unwrap_or_else(|error| {
            self.error.get_or_insert(error);
            a
        })
    }
}

/// Fills 64 KiB of stack with the number's lowest byte, and reads it from there.
#[inline(always)]
pub fn large(a: i64) -> i64 {
    let room = black_box([a as u8; 64 << 10]);
    room[a as usize & 0xffff] as i64
}
