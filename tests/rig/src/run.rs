//! Runs a program in one tier.
//!
//! In: a program and the initial contents of its registers and memory. Out: everything observable about the run: its result
//! or trap, the bytecode of the trap, and the memory it worked on.

use crate::frame::Frame;
use crate::home::{Home, Running};
use crate::interpreted::Interpreted;
use crate::library::{self, library, program_cell, run_next};
use crate::machine::{Callables, Op, UNIT, Vm};
use crate::program::{FIRST_COUNTER, FIRST_TEMPORARY, N_REGISTERS, Program};
use crate::subject::Subject;
use azulejo::__private::core::ir::bytecode::{Flow, Machine, NEVER};
use azulejo::{Bytecode, Code, Engine, Error, FunctionId, Surplus, Trap, verify};
use azulejo_code::baseline::BaselineCode;
use azulejo_code::call::{CallCell, Outcome};
use azulejo_code::exit::take_inlined;
use azulejo_code::status::{RawStatus, Status};
use azulejo_code::{Compiled, Compiler};
use azulejo_core::check::temporaries::temporaries;
use azulejo_core::ir::inlining::LeftFrames;
use azulejo_core::ir::sites::{SiteSnapshot, Sites};
use azulejo_core::ir::slow_paths::{NO_SLOW_PATHS, SlowPaths};
use azulejo_core::pass::Observer;
use azulejo_core::pass::build::{FunctionSource, Linkage};
use azulejo_core::random::Random;
use azulejo_core::verify::{Function, Shape};
use azulejo_core::vocab::Vocabulary;
use std::cell::Cell;
use std::sync::OnceLock;

/// Runs a program on where its code was left.
///
/// # Safety
///
/// The frame and the context must be those of the compiled code.
pub(crate) unsafe fn resume(
    cell: &CallCell,
    context: *mut (),
    frame: *mut u64,
    status: RawStatus,
) -> Outcome {
    // SAFETY: every caller of a program makes it the host's owner.
    let program: &Verified = unsafe { &*cell.host().owner().cast() };
    let end = match Status::from(status) {
        // SAFETY: at an exit every register is in its slot.
        Status::Exited { at } | Status::Missed { at } => unsafe {
            program.interpret(context.cast(), frame, at)
        },
        Status::Inlined { at } => match finish_inlined(context.cast(), frame) {
            // SAFETY: as above.
            Ok(()) => unsafe { program.interpret(context.cast(), frame, at) },
            Err((trap, _)) => End::Failed(trap),
        },
        status => unreachable!("it has not ended: {status:?}"),
    };
    match end {
        End::Returned(value) => Outcome { value, trap: 0 },
        End::Trapped(trap, _) | End::Failed(trap) => Outcome { value: 0, trap: trap.code() as u64 },
        End::Broke(what) => unreachable!("the interpreter changed {what}"),
    }
}

/// Runs the library's functions that code was left in, and puts the result of the outermost into the frame of the program that calls it.
/// If one fails, returns the trap, and the bytecode of the program.
fn finish_inlined(context: *mut Vm, slots: *mut u64) -> Result<(), (Trap, u32)> {
    let LeftFrames { frames, .. } = take_inlined();
    let call = frames.first().map_or(0, |outermost| outermost.call);
    let mut result = None;
    for left in frames.iter().rev() {
        let function = &library().functions()[left.function as usize];
        let mut frame = vec![0; function.shape.slots as usize];
        left.registers.iter().chain(&result).for_each(|(register, bits)| frame[*register as usize] = *bits);
        // SAFETY: the code was verified, there are as many slots as it requires, and the context is the caller's.
        match unsafe { function.interpret(context, frame.as_mut_ptr(), left.at) } {
            End::Returned(bits) => result = left.result.map(|(register, ty)| (register, ty.truncate(bits))),
            End::Trapped(trap, _) | End::Failed(trap) => return Err((trap, call)),
            End::Broke(what) => unreachable!("the interpreter changed {what}"),
        }
    }
    if let Some((register, bits)) = result {
        // SAFETY: the program's frame has this register.
        unsafe { slots.add(register as usize).write(bits) };
    }
    Ok(())
}

/// The memory that `(cu)` points to, in every program.
pub(crate) fn unit() -> *const () {
    (&raw const UNIT).cast()
}

/// How often a program is called in an engine.
const CALLS: usize = 3;

/// The product of a compiler.
#[derive(Debug)]
pub enum Made<M: Subject> {
    /// The optimizer.
    Optimized(Compiled<M>),
    /// The baseline compiler.
    Baseline(BaselineCode<M>),
    /// The optimizer, for calls of other functions.
    CallEntry(Compiled<M>),
    /// Code for each opcode, which all programs share.
    Interpreted(Interpreted<M>),
}

impl<M: Subject> Made<M> {
    /// The machine code.
    pub fn bytes(&self) -> &[u8] {
        match self {
            Made::Optimized(code) | Made::CallEntry(code) => code.bytes(),
            Made::Baseline(code) => code.bytes(),
            // It is never freed.
            Made::Interpreted(_) => &[],
        }
    }
}

/// How a program ended.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum End {
    /// It returned these bits.
    Returned(u64),
    /// It trapped at this bytecode.
    Trapped(Trap, u32),
    /// It trapped, and its caller does not know at which bytecode.
    Failed(Trap),
    /// It did not preserve this part of its caller's state.
    Broke(&'static str),
}

/// Everything observable about a run.
#[derive(Clone, PartialEq, Debug)]
pub struct Seen {
    /// The way it ended.
    pub end: End,
    /// The contents of memory afterwards.
    pub vm: Vm,
}

impl Seen {
    /// The part of the run that a calling function can observe.
    pub fn of_callee(&self) -> Seen {
        let end = match self.end {
            End::Trapped(trap, _) => End::Failed(trap),
            end => end,
        };
        Seen { end, vm: self.vm.clone() }
    }
}

/// The initial state of a program.
#[derive(Clone, Debug)]
pub struct Start {
    /// The arguments: the first registers, mostly all of them.
    pub registers: Vec<u64>,
    /// The initial memory.
    pub vm: Vm,
    /// The seed of the compilers' random choices.
    pub chaos: u64,
}

impl Start {
    /// Makes the initial state from a seed.
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
    /// The most arguments that it is called with, or that it takes, and what it has in place of missing ones.
    arguments: u32,
    missing: u64,
    drops_surplus: bool,
    /// The registers that it captures.
    captured: Vec<u32>,
    /// The first register whose values are read once.
    temporaries: u32,
    shape: Shape,
    /// The slow paths that the optimizer compiles. It leaves out the others.
    compiled_paths: SlowPaths,
    /// The slow paths that have run in baseline code.
    slow_paths: SlowPaths,
    /// What its bytecodes have learned, and what they had learned when the optimizer first asked. Some programs let code read it when
    /// it runs.
    sites: Sites,
    snapshot: OnceLock<Option<SiteSnapshot>>,
}

impl Verified {
    /// `None` if verification refuses the program, or if a temporary is read again.
    pub fn new(program: &Program) -> Option<Verified> {
        let mut code = program.code();
        let mut shape = verify(&code.ops, &code.labels, program.registers).ok()?;
        temporaries(&code.ops, &code.labels, &shape, program.temporaries).ok()?;
        let captured = program.captured();
        if captured.last().is_some_and(|register| *register >= program.temporaries) {
            return None;
        }
        shape.capture(&code.ops, &captured);
        let arguments = program.registers.min(N_REGISTERS);
        let &Program { registers, temporaries, .. } = program;
        let [compiled_paths, slow_paths] = [(); 2].map(|()| SlowPaths::of(&code.ops));
        // Some of each program's, whatever its opcodes are.
        (0..code.ops.len() as u32)
            .filter(|at| at.wrapping_mul(0x9e37_79b9) >> 30 != 0)
            .for_each(|at| compiled_paths.note(at));
        let (sites, snapshot) = (Sites::of(&mut code.ops, &slow_paths), OnceLock::new());
        Some(Verified {
            code,
            registers,
            arguments,
            missing: 0,
            drops_surplus: false,
            captured,
            temporaries,
            shape,
            compiled_paths,
            slow_paths,
            sites,
            snapshot,
        })
    }

    /// Declares that the function is called with at most as many arguments as this start has.
    pub fn starting_with(self, start: &Start) -> Verified {
        Verified { arguments: self.arguments.min(start.registers.len() as u32), ..self }
    }

    /// It takes so many arguments, drops those that are more, and has this in place of those that are missing.
    pub(crate) fn taking(self, arguments: u32, missing: u64) -> Verified {
        assert!(arguments <= self.registers, "each has a register");
        Verified { arguments, missing, drops_surplus: true, ..self }
    }

    fn snapshot(&self) -> &Option<SiteSnapshot> {
        let is_wanted = !self.code.ops.len().is_multiple_of(3);
        self.snapshot.get_or_init(|| self.sites.snapshot().filter(|_| is_wanted))
    }

    /// The source for the optimizer. With guards, accesses may fault.
    pub fn source<'a>(&'a self, guards: bool, functions: Linkage<'a>) -> FunctionSource<'a> {
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
            slow_paths: Some(&self.compiled_paths),
            sites: self.snapshot().as_ref(),
            missing: self.missing,
            drops_surplus: self.drops_surplus,
            captured: &self.captured,
            call_entry: None,
            callees: &[],
        }
    }

    /// How many bytecodes it has.
    #[allow(clippy::len_without_is_empty, reason = "it has at least one")]
    pub fn len(&self) -> usize {
        self.code.ops.len()
    }

    /// The source for the baseline compiler.
    pub fn function(&self) -> Function<'_, Op> {
        let Verified { code, registers, shape, slow_paths, sites, .. } = self;
        let temporaries = Some(self.temporaries);
        let unit = unit();
        Function {
            code: &code.ops,
            labels: &code.labels,
            registers: *registers,
            shape,
            unit,
            temporaries,
            slow_paths,
            // For every other program.
            leaves_out: code.ops.len().is_multiple_of(2),
            sites: Some(sites),
            budget: None,
        }
    }

    /// Whether one of its templates observes all VM registers at once.
    pub fn observes(&self) -> bool {
        self.code.ops.iter().any(|op| Op::templates()[op.opcode()].observes())
    }

    /// Compiles it for calls.
    pub fn call_entry<M: Subject>(
        &self,
        compiler: &mut Compiler<M>,
        source: &FunctionSource<'_>,
        observer: &mut dyn Observer,
    ) -> Result<Compiled<M>, Error> {
        let unit = unit();
        compiler.call_entry(source, self.arguments, unit, program_cell::<M>(), observer)
    }

    /// Calls it.
    fn call<M: Subject>(&self, code: &Compiled<M>, context: *mut Vm, args: &[u64]) -> End {
        let cell = program_cell::<M>();
        cell.host().begin(std::ptr::from_ref(self).cast(), 0);
        // SAFETY: it was compiled for this call cell; the owner is there, and a thread's stack is large.
        let outcome = unsafe {
            cell.open_to(code.entry());
            cell.call(context.cast(), args)
        };
        match Trap::from_code(outcome.trap as u32) {
            Some(trap) => End::Failed(trap),
            None => End::Returned(outcome.value),
        }
    }

    /// Defines it as a function of an engine.
    pub fn define(&self, engine: &Engine<Op>) -> Result<FunctionId, Error> {
        let code =
            self.code.clone().with_arguments(self.arguments).with_captured(self.captured.iter().copied());
        let code = if self.drops_surplus { code.with_surplus(Surplus::Dropped) } else { code };
        let code = if self.missing != 0 { code.with_missing(self.missing) } else { code };
        engine.define("program", code, self.registers)
    }

    /// Runs it several times in an engine with the library, so that it tiers up.
    pub fn tier_up(&self, home: &Home, start: &Start) -> Result<Vec<Seen>, Error> {
        let function = self.define(&home.engine)?;
        let registers = &start.registers[..self.arguments as usize];
        let call = |_| {
            let mut vm = start.vm.clone();
            // SAFETY: the home outlives the call.
            vm.running = unsafe { Running::within(home) };
            vm.callables = Callables::of(&home.callables);
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
    pub fn run<M: Subject>(&self, frame: &mut Frame, start: &Start, compiled: Option<&Made<M>>) -> Seen {
        library::run_on::<M>();
        let mut vm = start.vm.clone();
        vm.callables = library::callables();
        vm.put_edges();
        let end = self.run_on(&mut vm, frame, start, compiled);
        vm.take_edges();
        Seen { end, vm }
    }

    fn run_on<M: Subject>(
        &self,
        context: *mut Vm,
        frame: &mut Frame,
        start: &Start,
        compiled: Option<&Made<M>>,
    ) -> End {
        let n_slots = self.shape.slots;
        let registers = &start.registers[..self.arguments as usize];
        let slots = frame.slots(n_slots as usize, registers, n_slots.is_multiple_of(2));
        let unit = unit();
        let mut at = 0;
        if let Some(compiled) = compiled {
            let (entry, third) = match compiled {
                Made::CallEntry(code) => return self.call(code, context, registers),
                Made::Interpreted(code) => return self.run_interpreted(code, context, slots),
                Made::Optimized(code) => (code.entry(), unit),
                Made::Baseline(code) => (code.entry(), code.address(0)),
            };
            // SAFETY: the code was verified, and the frame has the slots it asks for.
            let status =
                unsafe { M::enter_closely(entry, context.cast(), slots, third) }.map(|raw| match compiled {
                    Made::Baseline(_) => Status::from(raw.turned()),
                    _ => Status::from(raw),
                });
            match status {
                Ok(Status::Returned(bits)) => return End::Returned(bits),
                Ok(Status::Trapped { trap, at }) => return End::Trapped(trap, at),
                Ok(Status::Exited { at: next } | Status::Missed { at: next }) => at = next,
                Ok(Status::Inlined { at: next }) => match finish_inlined(context, slots) {
                    Ok(()) => at = next,
                    Err((trap, call)) => return End::Trapped(trap, call),
                },
                Ok(Status::Tailed) => return run_next(context),
                Ok(Status::MovedOn { .. }) => unreachable!("it was entered at its start"),
                Err(what) => return End::Broke(what),
            }
        }
        // SAFETY: as above; at an exit every register is in its slot.
        unsafe { self.interpret(context, slots, at) }
    }

    fn run_interpreted<M: Subject>(&self, code: &Interpreted<M>, context: *mut Vm, slots: *mut u64) -> End {
        // SAFETY: the code was verified, and the frame has the slots it asks for.
        let status = unsafe { code.run(context, slots, self.registers) };
        match status {
            Ok(Status::Returned(bits)) => End::Returned(bits),
            Ok(Status::Trapped { trap, at }) => End::Trapped(trap, at),
            // SAFETY: as above; at an exit every register is in its slot.
            Ok(Status::Exited { at }) => unsafe { self.interpret(context, slots, at) },
            Ok(Status::Tailed) => run_next(context),
            Ok(other) => unreachable!("nothing is left out: {other:?}"),
            Err(what) => End::Broke(what),
        }
    }

    /// The bytecode, and the list that its labels are in.
    pub(crate) fn code(&self) -> &Code<Op> {
        &self.code
    }

    /// The slow paths that have run in code that is not optimized.
    pub(crate) fn slow_paths(&self) -> &SlowPaths {
        &self.slow_paths
    }

    /// Interprets it as the callee of another function.
    pub(crate) fn invoked(&self, context: *mut Vm, args: &[u64]) -> End {
        let takes = if self.drops_surplus { self.arguments } else { self.registers } as usize;
        if args.len() > takes && !self.drops_surplus {
            return End::Trapped(Trap::BadCall, 0);
        }
        let args = &args[..args.len().min(takes)];
        let mut slots = vec![0; self.shape.slots as usize];
        slots[..self.arguments as usize].fill(self.missing);
        slots[..args.len()].copy_from_slice(args);
        // SAFETY: the code was verified, there are as many slots as it requires, and the context is the caller's.
        unsafe { self.interpret(context, slots.as_mut_ptr(), 0) }
    }

    /// Interprets from a bytecode to the end.
    ///
    /// # Safety
    ///
    /// The contract is that of [`Bytecode::interpret`].
    unsafe fn interpret(&self, context: *mut Vm, frame: *mut u64, at: u32) -> End {
        let machine = Machine {
            stop: &NEVER,
            slow_paths: &NO_SLOW_PATHS,
            frame,
            context,
            unit: unit(),
            labels: &self.code.labels,
            budget: &Cell::new(i32::MAX),
            functions: library(),
            show: None,
        };
        let depth = self.shape.depths.get(at as usize).copied().unwrap_or(0);
        // SAFETY: the caller meets the contract.
        let (flow, at) =
            unsafe { Op::interpret(&raw const self.code.ops[..], &machine, at, self.registers, depth) };
        match flow {
            Flow::Return(bits) => End::Returned(bits),
            Flow::Trap(trap) => End::Trapped(trap, at),
            Flow::Tail => run_next(context),
            Flow::Next | Flow::Jump(_) => unreachable!("the interpreter runs until it returns or traps"),
        }
    }
}
