//! Programs run in every tier, and compared.
//!
//! In: a program and what its registers and memory hold. Out: agreement, or what differed; the interpreter, which
//! is rustc's code, is the oracle.

use crate::frame::Frame;
use crate::minimise::minimise;
use crate::program::Program;
use crate::reached::{COUNTED, Reached};
use crate::run::{Seen, Start, Verified};
use azulejo::rules::Matcher;
use azulejo::x64::regs::*;
use azulejo::x64::{Compiled, Compiler, Features};
use azulejo::{Error, rules};
use azulejo_core::pass::Observer;
use azulejo_core::target::{RegSet, RegisterFile};
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

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

/// Code memory of a compiler: so little that it is used again and again.
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
    /// Runs a program, which must end, in every tier. What differs is made short and told, with a file for `found/`.
    pub fn check(&mut self, program: &Program, start: &Start) -> Result<(), String> {
        let Some(verified) = Verified::new(program) else {
            return Err(format!("verification refuses it:\n{program}"));
        };
        let Err(failure) = self.compare(&verified, start) else { return Ok(()) };
        let mut last = failure;
        let short = minimise(program, |shorter| {
            let failure = Verified::new(shorter).and_then(|shorter| self.compare(&shorter, start).err());
            failure.map(|failure| last = failure).is_some()
        });
        Err(format!("{last}\n\nas a file for tests/rig/found:\n{short}"))
    }

    /// Runs a program, which must end, in every tier.
    fn compare(&mut self, program: &Verified, start: &Start) -> Result<(), Failure> {
        let source = program.source();
        let expected = program.run(&mut self.frame, start, None);
        for index in 0..self.ways.len() {
            let (at, way) = (self.ways[index], &WAYS[self.ways[index]]);
            let compiled = self.compile_in(at, start.chaos, |to, tiles| to.bytecode(&source, tiles))?;
            self.bytecodes += source.code.len() as u64;
            let found = program.run(&mut self.frame, start, Some(&compiled));
            if found != expected {
                let (expected, found) = (Box::new(expected), Box::new(found));
                return Err(Failure::Differs { way: way.name, expected, found });
            }
        }
        Ok(())
    }

    /// Compiles a program in the first of the ways for someone to look on.
    pub fn show(&mut self, program: &Verified, observer: &mut dyn Observer) -> Result<(), Error> {
        self.compilers[self.ways[0]].bytecode(&program.source(), observer).map(drop)
    }

    /// Compiles a program in every way without running it.
    pub fn compile(&mut self, program: &Verified) -> Result<(), Failure> {
        let source = program.source();
        for index in 0..self.ways.len() {
            self.compile_in(self.ways[index], 1, |to, tiles| to.bytecode(&source, tiles))?;
        }
        Ok(())
    }

    /// Compiles in one way; a panic is a failure like others.
    pub(crate) fn compile_in(
        &mut self,
        at: usize,
        chaos: u64,
        compile: impl FnOnce(&mut Compiler, &mut Reached) -> Result<Compiled, Error>,
    ) -> Result<Compiled, Failure> {
        let way = &WAYS[at];
        let Rig { compilers, tiles, .. } = self;
        let attempt = catch_unwind(AssertUnwindSafe(|| {
            if way.has_chaos {
                compilers[at].set_chaos(chaos);
            }
            compile(&mut compilers[at], tiles)
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
