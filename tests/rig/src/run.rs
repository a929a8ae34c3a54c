//! A program in one tier.
//!
//! In: a program and what its registers and memory hold. Out: everything that it can be seen to do: its result or trap, the
//! bytecode of the trap, and the memory it worked on.

use crate::enter::enter;
use crate::frame::Frame;
use crate::machine::{Op, Vm};
use crate::program::{FIRST_COUNTER, N_REGISTERS, Program};
use azulejo::x64::{BaselineCode, Compiled, Function, Status};
use azulejo::{Bytecode, Code, Engine, Error, Flow, Machine, Trap, verify};
use azulejo_core::pass::build::Source;
use azulejo_core::random::Random;
use azulejo_core::verify::Shape;
use azulejo_core::vocab::Vocabulary;
use std::cell::Cell;

/// How often a program is called in an engine.
const CALLS: usize = 3;

/// What a compiler made.
#[derive(Debug)]
pub enum Made {
    /// The optimizer.
    Optimized(Compiled),
    /// The baseline compiler.
    Baseline(BaselineCode),
}

impl Made {
    /// The machine code.
    pub fn bytes(&self) -> &[u8] {
        match self {
            Made::Optimized(code) => code.bytes(),
            Made::Baseline(code) => code.bytes(),
        }
    }
}

/// How a program ended.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum End {
    /// With these bits.
    Returned(u64),
    /// With a trap, at a bytecode.
    Trapped(Trap, u32),
    /// As no function may: it left something of its caller's changed.
    Broke(&'static str),
}

/// All that can be seen of a run.
#[derive(Clone, PartialEq, Debug)]
pub struct Seen {
    /// How it ended.
    pub end: End,
    /// What it left in memory.
    pub vm: Vm,
}

/// What a program starts with.
#[derive(Clone, Debug)]
pub struct Start {
    /// The registers.
    pub registers: Vec<u64>,
    /// The memory.
    pub vm: Vm,
    /// Which choices the compilers make that make some at random.
    pub chaos: u64,
}

impl Start {
    /// What this seed says.
    pub fn new(seed: u64) -> Start {
        let mut random = Random::new(seed);
        let mut vm = Vm::default();
        vm.buffer.iter_mut().for_each(|slot| *slot = random.number() >> random.below(64));
        // Counters are small, for jumps into loops.
        let register = |at| match at {
            0..FIRST_COUNTER => random.number() >> random.below(64),
            _ => random.below(4) as u64,
        };
        let registers = (0..N_REGISTERS as u64).map(register).collect();
        Start { registers, vm, chaos: random.number() | 1 }
    }
}

/// A program that verification accepts.
#[derive(Debug)]
pub struct Verified {
    code: Code<Op>,
    registers: u32,
    shape: Shape,
}

impl Verified {
    /// Nothing if verification refuses the program.
    pub fn new(program: &Program) -> Option<Verified> {
        let code = program.code();
        let shape = verify(&code.ops, &code.labels, program.registers).ok()?;
        Some(Verified { code, registers: program.registers, shape })
    }

    /// As compilers take it.
    pub fn source(&self) -> Source<'_> {
        Source {
            vocab: Vocabulary::BUILTIN,
            opcodes: Op::OPCODES,
            templates: Op::templates(),
            code: &self.code.ops,
            labels: &self.code.labels,
            locals: self.registers,
            slots: self.shape.slots,
            depths: &self.shape.depths,
            entry: 0,
            functions: azulejo::__private::core::pass::build::Functions::default(),
            called: None,
        }
    }

    /// How many bytecodes it has.
    #[allow(clippy::len_without_is_empty, reason = "it has at least one")]
    pub fn len(&self) -> usize {
        self.code.ops.len()
    }

    /// As the baseline compiler takes it.
    pub fn function(&self) -> Function<'_, Op> {
        let Verified { code, registers, shape } = self;
        let unit = code.ops.as_ptr().cast();
        Function { code: &code.ops, labels: &code.labels, registers: *registers, shape, unit, budget: None }
    }

    /// Runs it in an engine, several times, so that it climbs.
    pub fn climb(&self, engine: &Engine<Op>, start: &Start) -> Result<Vec<Seen>, Error> {
        let function = engine.define("program", self.code.clone(), self.registers)?;
        let registers = &start.registers[..start.registers.len().min(self.registers as usize)];
        let call = |_| {
            let mut vm = start.vm.clone();
            let end = match engine.call(function, &mut vm, registers) {
                Ok(bits) => End::Returned(bits),
                Err(Error::Trap { trap, at }) => End::Trapped(trap, at),
                Err(error) => return Err(error),
            };
            Ok(Seen { end, vm })
        };
        (0..CALLS).map(call).collect()
    }

    /// Runs it as machine code, and from where that leaves, or without any, in the interpreter.
    pub fn run(&self, frame: &mut Frame, start: &Start, compiled: Option<&Made>) -> Seen {
        let Shape { slots: n_slots, ref depths, .. } = self.shape;
        let mut vm = start.vm.clone();
        let context: *mut Vm = &mut vm;
        let registers = &start.registers[..start.registers.len().min(self.registers as usize)];
        let slots = frame.slots(n_slots as usize, registers, n_slots.is_multiple_of(2));
        let unit: *const () = self.code.ops.as_ptr().cast();
        let mut at = 0;
        if let Some(compiled) = compiled {
            let (entry, third) = match compiled {
                Made::Optimized(code) => (code.entry(), unit),
                Made::Baseline(code) => (code.entry(), code.address(0)),
            };
            // SAFETY: the code was verified, and the frame has the slots it asks for.
            match unsafe { enter(entry, context.cast(), slots, third) } {
                Ok(Status::Returned(bits)) => return Seen { end: End::Returned(bits), vm },
                Ok(Status::Trapped { trap, at }) => return Seen { end: End::Trapped(trap, at), vm },
                Ok(Status::Exited { at: next }) => at = next,
                Err(what) => return Seen { end: End::Broke(what), vm },
            }
        }
        let machine = Machine {
            frame: slots,
            context,
            unit,
            labels: &self.code.labels,
            budget: &Cell::new(i32::MAX),
            functions: &azulejo::__private::core::ir::bytecode::NoFunctions,
        };
        let depth = depths.get(at as usize).copied().unwrap_or(0);
        // SAFETY: as above; an exit leaves every register in its slot.
        let (flow, at) = unsafe { Op::interpret(&self.code.ops, &machine, at, self.registers, depth) };
        let end = match flow {
            Flow::Return(bits) => End::Returned(bits),
            Flow::Trap(trap) => End::Trapped(trap, at),
            Flow::Next | Flow::Jump(_) => unreachable!("the interpreter runs until it returns or traps"),
        };
        Seen { end, vm }
    }
}
