//! A program in one tier.
//!
//! In: a program and what its registers and memory hold. Out: everything that it can be seen to do: its result or trap, the
//! bytecode of the trap, and the memory it worked on.

use crate::enter::enter;
use crate::frame::Frame;
use crate::home::{Home, Running};
use crate::library::{library, program_cell, run_next};
use crate::machine::{Op, UNIT, Vm};
use crate::program::{FIRST_COUNTER, FIRST_TEMPORARY, N_REGISTERS, Program};
use azulejo::__private::core::ir::bytecode::{Flow, Machine, NEVER};
use azulejo::x64::call::{CallCell, Outcome};
use azulejo::x64::{BaselineCode, Compiled, Compiler, Function, RawStatus, Status};
use azulejo::{Bytecode, Code, Engine, Error, FunctionId, Trap, verify};
use azulejo_core::check::temporaries::temporaries;
use azulejo_core::pass::Observer;
use azulejo_core::pass::build::{FunctionSource, Functions};
use azulejo_core::random::Random;
use azulejo_core::verify::Shape;
use azulejo_core::vocab::Vocabulary;
use std::cell::Cell;

thread_local! {
    /// What a program is called by. Compiled code has its address, so it stays.
    static PROGRAM: &'static CallCell = Box::leak(Box::new(program_cell()));
}

/// Runs a program on where its code was left.
///
/// # Safety
///
/// The frame and the context must be those that the code had.
pub(crate) unsafe fn resume(
    cell: &CallCell,
    context: *mut (),
    frame: *mut u64,
    status: RawStatus,
) -> Outcome {
    // SAFETY: who calls a program says which it is.
    let program: &Verified = unsafe { &*cell.host().owner().cast() };
    let end = match Status::from(status) {
        // SAFETY: every register is in its slot.
        Status::Exited { at } => unsafe { program.interpret(context.cast(), frame, at) },
        status => unreachable!("it has not ended: {status:?}"),
    };
    match end {
        End::Returned(value) => Outcome { value, trap: 0 },
        End::Trapped(trap, _) | End::Failed(trap) => Outcome { value: 0, trap: trap.code() as u64 },
        End::Broke(what) => unreachable!("the interpreter changed {what}"),
    }
}

/// What `(cu)` is in every program.
fn unit() -> *const () {
    (&raw const UNIT).cast()
}

/// How often a program is called in an engine.
const CALLS: usize = 3;

/// What a compiler made.
#[derive(Debug)]
pub enum Made {
    /// The optimizer.
    Optimized(Compiled),
    /// The baseline compiler.
    Baseline(BaselineCode),
    /// The optimizer, for calls of other functions.
    CallEntry(Compiled),
}

impl Made {
    /// The machine code.
    pub fn bytes(&self) -> &[u8] {
        match self {
            Made::Optimized(code) | Made::CallEntry(code) => code.bytes(),
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
    /// As above; who called it is not told at which.
    Failed(Trap),
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

impl Seen {
    /// What those see of it that call the function.
    pub fn of_callee(&self) -> Seen {
        let end = match self.end {
            End::Trapped(trap, _) => End::Failed(trap),
            end => end,
        };
        Seen { end, vm: self.vm.clone() }
    }
}

/// What a program starts with.
#[derive(Clone, Debug)]
pub struct Start {
    /// The arguments: the first registers, mostly all of them.
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
        let Vm { buffer, at_edge, .. } = &mut vm;
        buffer.iter_mut().chain(at_edge).for_each(|slot| *slot = random.number() >> random.below(64));
        // Counters are small, for jumps into loops.
        let register = |at| match at {
            0..FIRST_COUNTER => random.number() >> random.below(64),
            _ => random.below(4) as u64,
        };
        let mut registers: Vec<u64> = (0..FIRST_TEMPORARY).map(register).collect();
        let chaos = random.number() | 1;
        if seed.is_multiple_of(4) {
            registers.truncate(random.below(registers.len() + 1));
        } else {
            registers.resize_with(N_REGISTERS as usize, || random.number());
        }
        vm.at_far.iter_mut().for_each(|slot| *slot = random.number() >> random.below(64));
        Start { registers, vm, chaos }
    }
}

/// A program that verification accepts.
#[derive(Debug)]
pub struct Verified {
    code: Code<Op>,
    registers: u32,
    /// It gets at most so many arguments.
    arguments: u32,
    /// The first register whose values are read once.
    temporaries: u32,
    shape: Shape,
}

impl Verified {
    /// Nothing if verification refuses the program, or if it says of its temporaries what is not true.
    pub fn new(program: &Program) -> Option<Verified> {
        let code = program.code();
        let shape = verify(&code.ops, &code.labels, program.registers).ok()?;
        temporaries(&code.ops, &code.labels, &shape, program.temporaries).ok()?;
        let arguments = program.registers.min(N_REGISTERS);
        let &Program { registers, temporaries, .. } = program;
        Some(Verified { code, registers, arguments, temporaries, shape })
    }

    /// To be compiled for this start, and others with as many arguments.
    pub fn starting_with(self, start: &Start) -> Verified {
        Verified { arguments: self.arguments.min(start.registers.len() as u32), ..self }
    }

    /// As compilers take it; with guards, accesses may fault.
    pub fn source<'a>(&'a self, guards: bool, functions: Functions<'a>) -> FunctionSource<'a> {
        FunctionSource {
            vocab: Vocabulary::BUILTIN,
            opcodes: Op::OPCODES,
            templates: if guards { Op::guarded_templates() } else { Op::templates() },
            code: &self.code.ops,
            labels: &self.code.labels,
            locals: self.registers,
            slots: self.shape.slots,
            depths: &self.shape.depths,
            entry: 0,
            arguments: Some(self.arguments),
            functions,
            call_entry: None,
        }
    }

    /// How many bytecodes it has.
    #[allow(clippy::len_without_is_empty, reason = "it has at least one")]
    pub fn len(&self) -> usize {
        self.code.ops.len()
    }

    /// As the baseline compiler takes it.
    pub fn function(&self) -> Function<'_, Op> {
        let Verified { code, registers, shape, .. } = self;
        let temporaries = Some(self.temporaries);
        let unit = unit();
        Function {
            code: &code.ops,
            labels: &code.labels,
            registers: *registers,
            shape,
            unit,
            temporaries,
            budget: None,
        }
    }

    /// Whether a template in it looks at all VM registers at once.
    pub fn observes(&self) -> bool {
        self.code.ops.iter().any(|op| Op::templates()[op.opcode()].observes())
    }

    /// Compiles it for calls.
    pub fn call_entry(
        &self,
        compiler: &mut Compiler,
        guards: bool,
        functions: Functions<'_>,
        observer: &mut dyn Observer,
    ) -> Result<Compiled, Error> {
        let unit = unit();
        let source = self.source(guards, functions);
        PROGRAM.with(|cell| compiler.call_entry(&source, self.arguments, unit, cell, observer))
    }

    /// Calls it.
    fn call(&self, code: &Compiled, context: *mut Vm, args: &[u64]) -> End {
        let outcome = PROGRAM.with(|cell| {
            cell.host().begin(std::ptr::from_ref(self).cast(), 0);
            // SAFETY: it was compiled for this call cell; the owner is there, and a thread's stack is large.
            unsafe {
                cell.open_to(code.entry());
                cell.call(context.cast(), args)
            }
        });
        match Trap::from_code(outcome.trap as u32) {
            Some(trap) => End::Failed(trap),
            None => End::Returned(outcome.value),
        }
    }

    /// Makes it a function of an engine.
    pub fn define(&self, engine: &Engine<Op>) -> Result<FunctionId, Error> {
        engine.define("program", self.code.clone().with_arguments(self.arguments), self.registers)
    }

    /// Runs it in an engine that has the library, several times, so that it climbs.
    pub fn climb(&self, home: &Home, start: &Start) -> Result<Vec<Seen>, Error> {
        let function = self.define(&home.engine)?;
        let registers = &start.registers[..self.arguments as usize];
        let call = |_| {
            let mut vm = start.vm.clone();
            // SAFETY: it is there until the call ends.
            vm.running = unsafe { Running::within(home) };
            vm.put_edges();
            let end = match home.engine.call(function, &mut vm, registers) {
                Ok(bits) => End::Returned(bits),
                Err(Error::Trap { trap, at }) => End::Trapped(trap, at),
                Err(error) => return Err(error),
            };
            vm.take_edges();
            Ok(Seen { end, vm })
        };
        (0..CALLS).map(call).collect()
    }

    /// Runs it as machine code, and from where that leaves, or without any, in the interpreter.
    pub fn run(&self, frame: &mut Frame, start: &Start, compiled: Option<&Made>) -> Seen {
        let mut vm = start.vm.clone();
        vm.put_edges();
        let end = self.run_on(&mut vm, frame, start, compiled);
        vm.take_edges();
        Seen { end, vm }
    }

    fn run_on(&self, context: *mut Vm, frame: &mut Frame, start: &Start, compiled: Option<&Made>) -> End {
        let n_slots = self.shape.slots;
        let registers = &start.registers[..self.arguments as usize];
        let slots = frame.slots(n_slots as usize, registers, n_slots.is_multiple_of(2));
        let unit = unit();
        let mut at = 0;
        if let Some(compiled) = compiled {
            let (entry, third) = match compiled {
                Made::CallEntry(code) => return self.call(code, context, registers),
                Made::Optimized(code) => (code.entry(), unit),
                Made::Baseline(code) => (code.entry(), code.address(0)),
            };
            // SAFETY: the code was verified, and the frame has the slots it asks for.
            let status = unsafe { enter(entry, context.cast(), slots, third) }.map(|raw| match compiled {
                Made::Baseline(_) => Status::from(raw.turned()),
                _ => Status::from(raw),
            });
            match status {
                Ok(Status::Returned(bits)) => return End::Returned(bits),
                Ok(Status::Trapped { trap, at }) => return End::Trapped(trap, at),
                Ok(Status::Exited { at: next }) => at = next,
                Ok(Status::Tailed) => return run_next(context),
                Ok(Status::MovedOn { .. }) => unreachable!("it was entered at its start"),
                Err(what) => return End::Broke(what),
            }
        }
        // SAFETY: as above; an exit leaves every register in its slot.
        unsafe { self.interpret(context, slots, at) }
    }

    /// Runs it as a function that another one invokes, in the interpreter.
    pub(crate) fn invoked(&self, context: *mut Vm, args: &[u64]) -> End {
        if args.len() > self.registers as usize {
            return End::Trapped(Trap::BadCall, 0);
        }
        let mut slots = vec![0; self.shape.slots as usize];
        slots[..args.len()].copy_from_slice(args);
        // SAFETY: it was verified, and these are the slots that it asks for; the context is its caller's.
        unsafe { self.interpret(context, slots.as_mut_ptr(), 0) }
    }

    /// Interprets from a bytecode to the end.
    ///
    /// # Safety
    ///
    /// As for [`Bytecode::interpret`].
    unsafe fn interpret(&self, context: *mut Vm, frame: *mut u64, at: u32) -> End {
        let machine = Machine {
            stop: &NEVER,
            frame,
            context,
            unit: unit(),
            labels: &self.code.labels,
            budget: &Cell::new(i32::MAX),
            functions: library(),
        };
        let depth = self.shape.depths.get(at as usize).copied().unwrap_or(0);
        // SAFETY: the caller promises it.
        let (flow, at) = unsafe { Op::interpret(&self.code.ops, &machine, at, self.registers, depth) };
        match flow {
            Flow::Return(bits) => End::Returned(bits),
            Flow::Trap(trap) => End::Trapped(trap, at),
            Flow::Tail => run_next(context),
            Flow::Next | Flow::Jump(_) => unreachable!("the interpreter runs until it returns or traps"),
        }
    }
}
