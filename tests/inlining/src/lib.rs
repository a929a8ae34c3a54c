//! A user's crate that is compiled with optimization: its tests look at what rustc makes of the generated interpreter.

use azulejo::prelude::*;
use std::hint::black_box;
use std::rc::Rc;

/// The context of bytecode whose helpers call the engine again.
#[derive(Debug)]
pub struct Vm<B: Bytecode<Context = Vm<B>>> {
    engine: Rc<Engine<B>>,
    function: FunctionId,
    /// How often it was called again.
    pub levels: usize,
    /// Why it was not called again at last.
    pub error: Option<Error>,
}

impl<B: Bytecode<Context = Vm<B>>> Vm<B> {
    /// With the function that [`Vm::deeper`] calls.
    pub fn new(engine: &Rc<Engine<B>>, function: FunctionId) -> Vm<B> {
        Vm { engine: Rc::clone(engine), function, levels: 0, error: None }
    }

    /// Calls the engine again, one level deeper.
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

/// Keeps 64 KiB on the stack, which hold the number's lowest byte, and reads it there.
#[inline(always)]
pub fn large(a: i64) -> i64 {
    let room = black_box([a as u8; 64 << 10]);
    room[a as usize & 0xffff] as i64
}
