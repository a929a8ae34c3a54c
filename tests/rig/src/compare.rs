//! Programs run in every tier, and compared.
//!
//! In: a program and what its registers and memory hold. Out: agreement, or what differed; the interpreter, which
//! is rustc's code, is the oracle. Everything that a program can be seen to do counts: its result or trap, the bytecode
//! of the trap, and the memory it worked on.

use crate::frame::Frame;
use crate::machine::{Op, Vm};
use crate::program::{FIRST_COUNTER, Instruction, N_REGISTERS, Program};
use crate::reached::{COUNTED, Reached};
use azulejo::rules::Matcher;
use azulejo::x64::regs::*;
use azulejo::x64::{Compiled, Compiler, Features, Status};
use azulejo::{Bytecode, Code, Error, Flow, Machine, Trap, rules, verify};
use azulejo_core::fuzzing::Random;
use azulejo_core::pass::Observer;
use azulejo_core::pass::build::Source;
use azulejo_core::target::{RegSet, RegisterFile};
use azulejo_core::verify::Shape;
use azulejo_core::vocab::Vocabulary;
use std::fmt;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// How a program ended.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum End {
    /// With these bits.
    Returned(u64),
    /// With a trap, at a bytecode.
    Trapped(Trap, u32),
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
    /// Something random.
    pub fn random(random: &mut Random) -> Start {
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

/// A way to compile.
#[derive(Clone, Copy, Debug)]
pub struct Way {
    /// What it is called.
    pub name: &'static str,
    registers: &'static RegisterFile,
    has_features: bool,
    has_chaos: bool,
    rules: &'static [Matcher],
}

/// So few registers that hardly a value keeps its own.
static FEW: RegisterFile = RegisterFile {
    int: &[RAX, RCX, RDX, RSI, RDI],
    float: &[XMM0, XMM1, XMM2, XMM3],
    callee_saved: RegSet::EMPTY,
    ..REGISTERS
};

const USUAL: Way = Way {
    name: "optimizer",
    registers: &REGISTERS,
    has_features: true,
    has_chaos: false,
    rules: &rules::MATCHERS,
};

/// Every way.
pub const WAYS: [Way; 6] = [
    USUAL,
    Way { name: "optimizer on the oldest processor", has_features: false, rules: &COUNTED, ..USUAL },
    Way { name: "optimizer with few registers", registers: &FEW, rules: &COUNTED, ..USUAL },
    Way { name: "optimizer with chaos", has_chaos: true, rules: &COUNTED, ..USUAL },
    Way {
        name: "optimizer with few registers and chaos",
        registers: &FEW,
        has_chaos: true,
        rules: &COUNTED,
        ..USUAL
    },
    Way { name: "no rules", rules: &[], ..USUAL },
];

/// Code memory of a compiler: so little that it is used again and again. A new one is made when it is full.
const CODE_BYTES: usize = 1 << 18;

/// Compilers and room to run, kept from program to program.
pub struct Rig {
    compilers: Vec<Compiler>,
    frame: Frame,
    /// Which ways are gone, by position in [`WAYS`].
    pub ways: Vec<usize>,
    /// How many bytecodes were compiled.
    pub bytecodes: u64,
    /// What was reached.
    pub tiles: Reached,
}

impl fmt::Debug for Rig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rig").field("bytecodes", &self.bytecodes).finish_non_exhaustive()
    }
}

impl Default for Rig {
    fn default() -> Self {
        Rig {
            compilers: WAYS.iter().map(compiler).collect(),
            frame: Frame::default(),
            ways: (0..WAYS.len()).collect(),
            bytecodes: 0,
            tiles: Reached::default(),
        }
    }
}

fn compiler(way: &Way) -> Compiler {
    let features = if way.has_features { Features::detect() } else { Features::empty() };
    let compiler = Compiler::new(CODE_BYTES, features, way.rules).expect("this machine runs code");
    compiler.with_registers(way.registers).with_checks(true)
}

/// Why a program failed.
#[derive(Clone, Debug)]
pub enum Failure {
    /// A compiler gave up.
    Refused(&'static str, Error),
    /// A compiler panicked, perhaps because one of its verifiers noticed something.
    Panicked(&'static str, String),
    /// A tier did something else than the interpreter.
    Differs {
        /// Which.
        way: &'static str,
        /// What the interpreter did.
        expected: Box<Seen>,
        /// What it did.
        found: Box<Seen>,
    },
    /// A graph is something else as machine code.
    Graph(String),
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Refused(way, error) => write!(f, "{way}: {error}"),
            Failure::Graph(text) => f.write_str(text),
            Failure::Panicked(way, text) => write!(f, "{way}: {text}"),
            Failure::Differs { way, expected, found } => {
                write!(f, "{way}: found\n  {found:x?}\nwhere the interpreter has\n  {expected:x?}")
            }
        }
    }
}

impl Rig {
    /// Runs a program in every tier. It must end; `None` if it is refused by verification.
    pub fn compare(&mut self, program: &Program, start: &Start) -> Option<Result<(), Failure>> {
        let code = program.code();
        let shape = verify(&code.ops, &code.labels, program.registers).ok()?;
        let source = source(program, &code, &shape);
        let runnable = Runnable { source: &source, ops: &code.ops };
        let expected = runnable.run(&mut self.frame, start, None);
        for index in 0..self.ways.len() {
            let (at, way) = (self.ways[index], &WAYS[self.ways[index]]);
            let compiled = match self.compile_in(at, start.chaos, |to, tiles| to.bytecode(&source, tiles)) {
                Ok(compiled) => compiled,
                Err(failure) => return Some(Err(failure)),
            };
            self.bytecodes += code.ops.len() as u64;
            let found = runnable.run(&mut self.frame, start, Some(&compiled));
            if found != expected {
                let (expected, found) = (Box::new(expected), Box::new(found));
                return Some(Err(Failure::Differs { way: way.name, expected, found }));
            }
        }
        Some(Ok(()))
    }

    /// Compiles a program in the first of the ways for someone to look on; false if verification refuses it.
    pub fn show(&mut self, program: &Program, observer: &mut dyn Observer) -> Result<bool, Error> {
        let code = program.code();
        let Ok(shape) = verify(&code.ops, &code.labels, program.registers) else { return Ok(false) };
        let source = source(program, &code, &shape);
        self.compilers[self.ways[0]].bytecode(&source, observer).map(|_| true)
    }

    /// Compiles a program in every way without running it; false if verification refuses it.
    pub fn compile(&mut self, program: &Program) -> Result<bool, Failure> {
        let code = program.code();
        let Ok(shape) = verify(&code.ops, &code.labels, program.registers) else { return Ok(false) };
        let source = source(program, &code, &shape);
        for index in 0..self.ways.len() {
            self.compile_in(self.ways[index], 1, |to, tiles| to.bytecode(&source, tiles))?;
        }
        Ok(true)
    }

    /// Compiles in one way. Full code memory is given back as a whole; a panic is a failure like others.
    pub(crate) fn compile_in(
        &mut self,
        at: usize,
        chaos: u64,
        mut compile: impl FnMut(&mut Compiler, &mut Reached) -> Result<Compiled, Error>,
    ) -> Result<Compiled, Failure> {
        let way = &WAYS[at];
        let Rig { compilers, tiles, .. } = self;
        let attempt = catch_unwind(AssertUnwindSafe(|| {
            if way.has_chaos {
                compilers[at].set_chaos(chaos);
            }
            match compile(&mut compilers[at], tiles) {
                Err(Error::OutOfCodeMemory) => {
                    compilers[at] = compiler(way);
                    compile(&mut compilers[at], tiles)
                }
                compiled => compiled,
            }
        }));
        match attempt {
            Ok(Ok(compiled)) => Ok(compiled),
            Ok(Err(error)) => Err(Failure::Refused(way.name, error)),
            Err(panic) => {
                self.compilers[at] = compiler(way);
                let text = panic.downcast_ref::<String>().cloned();
                let text = text.or_else(|| panic.downcast_ref::<&str>().map(|text| text.to_string()));
                Err(Failure::Panicked(way.name, text.unwrap_or_default()))
            }
        }
    }
}

fn source<'a>(program: &Program, code: &'a Code<Op>, shape: &'a Shape) -> Source<'a> {
    Source {
        vocab: Vocabulary::BUILTIN,
        opcodes: Op::OPCODES,
        templates: Op::templates(),
        code: &code.ops,
        labels: &code.labels,
        locals: program.registers,
        slots: shape.slots,
        depths: &shape.depths,
    }
}

/// Verified code.
struct Runnable<'a> {
    source: &'a Source<'a>,
    ops: &'a [Op],
}

impl Runnable<'_> {
    /// In machine code, or the interpreter.
    fn run(&self, frame: &mut Frame, start: &Start, compiled: Option<&Compiled>) -> Seen {
        let Source { slots: n_slots, locals, depths, labels, .. } = *self.source;
        let mut vm = start.vm.clone();
        let context: *mut Vm = &mut vm;
        let registers = &start.registers[..start.registers.len().min(locals as usize)];
        let slots = frame.slots(n_slots as usize, registers, n_slots.is_multiple_of(2));
        let unit: *const () = self.ops.as_ptr().cast();
        let mut at = 0;
        if let Some(compiled) = compiled {
            // SAFETY: the code was verified, and the frame has the slots it asks for.
            match unsafe { compiled.enter(context.cast(), slots, unit) } {
                Status::Returned(bits) => return Seen { end: End::Returned(bits), vm },
                Status::Trapped { trap, at } => return Seen { end: End::Trapped(trap, at), vm },
                Status::Exited { at: next } => at = next,
            }
        }
        let machine = Machine { frame: slots, context, unit, labels };
        let depth = depths.get(at as usize).copied().unwrap_or(0);
        // SAFETY: as above; an exit leaves every register in its slot.
        let (flow, at) = unsafe { Op::interpret(self.ops, &machine, at, locals, depth) };
        let end = match flow {
            Flow::Return(bits) => End::Returned(bits),
            Flow::Trap(trap) => End::Trapped(trap, at),
            Flow::Next | Flow::Jump(_) => unreachable!("the interpreter runs until it returns or traps"),
        };
        Seen { end, vm }
    }
}

/// Makes a failing program shorter as long as it fails: instructions become jumps to the next one, then go.
pub fn minimise(rig: &mut Rig, program: &Program, start: &Start) -> Program {
    let fails = |rig: &mut Rig, program: &Program| matches!(rig.compare(program, start), Some(Err(_)));
    let mut best = program.clone();
    let mut step = best.code.len() / 2;
    while step > 0 {
        let mut at = 0;
        while at < best.code.len() {
            let mut shorter = best.clone();
            remove(&mut shorter, at..(at + step).min(best.code.len()));
            if ends(&shorter) && fails(rig, &shorter) {
                best = shorter;
            } else {
                at += step;
            }
        }
        step /= 2;
    }
    best
}

/// Takes instructions out; labels to them lead to what follows.
fn remove(program: &mut Program, gone: Range<usize>) {
    let moved = |label: u64| match label as usize {
        label if label < gone.start => label as u64,
        label if label < gone.end => gone.start as u64,
        label => (label - gone.len()) as u64,
    };
    program.code.drain(gone.clone());
    for at in &mut program.code {
        for (operand, info) in std::iter::zip(&mut at.operands, Op::OPCODES[at.opcode].operands) {
            if info.kind == azulejo::OperandKind::Label {
                *operand = moved(*operand);
            }
        }
    }
    program.labels.iter_mut().for_each(|label| *label = moved(*label as u64) as u32);
}

/// Whether a program surely ends, and soon. Only counted loops go back; they nest; and their counters hold small numbers,
/// which nobody else writes inside of the loop.
pub fn ends(program: &Program) -> bool {
    use azulejo::OperandKind as Kind;
    let is_counter = |register: u64| (FIRST_COUNTER..N_REGISTERS as u64).contains(&register);
    let mut loops: Vec<Range<usize>> = Vec::new();
    for (at, instruction) in program.code.iter().enumerate() {
        let Instruction { opcode, operands } = instruction;
        let info = &Op::OPCODES[*opcode];
        if info.name == "Count" {
            let (counter, head) = (operands[0], operands[1] as usize);
            if head <= at {
                let inside = &program.code[head..at];
                if !is_counter(counter) || inside.iter().any(|inner| writes(inner, counter)) {
                    return false;
                }
                loops.push(head..at);
            }
            continue;
        }
        let is_small = info.name == "ConstI32" && operands[1] < 8;
        if !is_small && (FIRST_COUNTER..N_REGISTERS as u64).any(|counter| writes(instruction, counter)) {
            return false;
        }
        let goes_on = std::iter::zip(operands, info.operands).all(|(operand, info)| match info.kind {
            Kind::Label => *operand as usize > at,
            Kind::Labels => {
                let (first, count) = (*operand as u32 as usize, (operand >> 32) as usize);
                let run = program.labels.get(first..first.saturating_add(count)).unwrap_or(&[]);
                run.iter().all(|label| *label as usize > at)
            }
            _ => true,
        });
        if !goes_on {
            return false;
        }
    }
    // In the order of their ends: a later one has all of an earlier one, or nothing.
    loops.iter().enumerate().all(|(at, outer)| {
        loops[..at].iter().all(|inner| inner.end < outer.start || inner.start >= outer.start)
    })
}

/// Whether an instruction other than a count writes a register.
fn writes(at: &Instruction, register: u64) -> bool {
    use azulejo::OperandKind as Kind;
    let info = &Op::OPCODES[at.opcode];
    std::iter::zip(&at.operands, info.operands).any(|(operand, operand_info)| match operand_info.kind {
        Kind::Out => *operand == register,
        Kind::InOut => *operand == register && info.name != "Count",
        Kind::RegsMut => {
            let (first, count) = (*operand as u32 as u64, operand >> 32);
            (first..first + count).contains(&register)
        }
        _ => false,
    })
}
