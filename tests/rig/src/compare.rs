//! Runs programs in every tier and compares the results.
//!
//! In: a program and the initial contents of its registers and memory. Out: agreement, or the difference. The oracle is the
//! interpreter, which is rustc's code.

use crate::case::Case;
use crate::frame::Frame;
use crate::home::{Home, Tiers};
use crate::interpreted::Interpreted;
use crate::kept::Kept;
use crate::library::{callees, half_of_links, links};
use crate::machine::Op;
use crate::minimise::minimise;
use crate::program::Program;
use crate::reached::{COUNTED, Reached};
use crate::run::{Made, Seen, Start, Verified};
use crate::subject::Subject;
use azulejo::rules::Matcher;
use azulejo::x64::Emitter;
use azulejo::x64::regs::*;
use azulejo::{Error, Tier, rules};
use azulejo_code::interpreter::InterpreterChoice;
use azulejo_code::{Compiler, Interpreter};
use azulejo_core::check::evaluate::Outcome;
use azulejo_core::pass::Observer;
use azulejo_core::pass::build::{FunctionSource, Linkage};
use azulejo_core::pass::limits::Limits;
use azulejo_core::random::Random;
use azulejo_core::target::{RegSet, RegisterFile};
use std::any::Any;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicI64, AtomicU64};

/// A configuration of a compiler or an engine.
#[derive(Clone, Copy, Debug)]
pub struct Way {
    /// Its name.
    pub name: &'static str,
    pub(crate) registers: &'static RegisterFile,
    pub(crate) has_features: bool,
    /// Passes make some choices at random.
    pub(crate) has_chaos: bool,
    /// Passes do not do all that they could.
    pub(crate) has_limits: bool,
    /// Of tiles that cost the same others are chosen.
    pub(crate) has_other_ties: bool,
    pub(crate) is_baseline: bool,
    /// Machine code interprets it.
    pub(crate) is_interpreted: bool,
    /// It is compiled for calls of other functions.
    pub(crate) is_called: bool,
    pub(crate) keeps_frame_pointers: bool,
    /// Accesses may fault.
    pub(crate) has_guards: bool,
    /// Loops look whether they are to stop.
    pub(crate) may_stop: bool,
    /// They run on fuel, too.
    pub(crate) has_fuel: bool,
    /// Functions of the library are inlined.
    pub(crate) inlines: bool,
    /// An engine runs it, in these tiers.
    pub(crate) engine: Option<Tiers>,
    pub(crate) rules: &'static [Matcher],
}

/// So few registers that hardly any value keeps one for itself.
static FEW: RegisterFile = RegisterFile {
    int: &[RAX, RCX, RDX, RSI, RDI],
    float: &[XMM0, XMM1, XMM2, XMM3],
    callee_saved: RegSet::EMPTY,
    ..REGISTERS
};

pub(crate) const USUAL: Way = Way {
    name: "optimizer",
    registers: &REGISTERS,
    has_features: true,
    has_chaos: false,
    has_limits: false,
    has_other_ties: false,
    is_baseline: false,
    is_interpreted: false,
    is_called: false,
    keeps_frame_pointers: false,
    has_guards: false,
    may_stop: false,
    has_fuel: false,
    inlines: true,
    engine: None,
    rules: &rules::MATCHERS,
};

/// All configurations.
pub const WAYS: [Way; 27] = [
    USUAL,
    Way {
        name: "optimizer on the oldest processor without inlining",
        has_features: false,
        inlines: false,
        rules: &COUNTED,
        ..USUAL
    },
    Way { name: "optimizer with few registers", registers: &FEW, rules: &COUNTED, ..USUAL },
    Way { name: "optimizer with chaos", has_chaos: true, has_other_ties: true, rules: &COUNTED, ..USUAL },
    Way {
        name: "optimizer with few registers and chaos",
        registers: &FEW,
        has_chaos: true,
        rules: &COUNTED,
        ..USUAL
    },
    Way { name: "no rules", rules: &[], ..USUAL },
    Way { name: "no rules on the oldest processor", has_features: false, rules: &[], ..USUAL },
    Way {
        name: "optimizer with frame pointers that may be stopped",
        keeps_frame_pointers: true,
        may_stop: true,
        rules: &COUNTED,
        ..USUAL
    },
    Way { name: "optimizer for calls", is_called: true, ..USUAL },
    Way {
        name: "optimizer for calls with few registers, chaos and fuel",
        is_called: true,
        may_stop: true,
        has_fuel: true,
        registers: &FEW,
        has_chaos: true,
        rules: &COUNTED,
        ..USUAL
    },
    Way { name: "optimizer with limits", has_limits: true, rules: &COUNTED, ..USUAL },
    Way {
        name: "optimizer for calls with guards, few registers and limits",
        is_called: true,
        has_guards: true,
        registers: &FEW,
        has_limits: true,
        ..USUAL
    },
    Way { name: "tiering up", engine: Some(Tiers::All), ..USUAL },
    Way { name: "tiering up to the baseline", engine: Some(Tiers::UpToBaseline), ..USUAL },
    Way { name: "engine with the baseline", engine: Some(Tiers::Only(Tier::Baseline)), ..USUAL },
    Way { name: "engine with the optimizer", engine: Some(Tiers::Only(Tier::Optimizer)), ..USUAL },
    Way { name: "baseline", is_baseline: true, ..USUAL },
    Way {
        name: "baseline with frame pointers that may be stopped",
        is_baseline: true,
        keeps_frame_pointers: true,
        may_stop: true,
        ..USUAL
    },
    Way { name: "baseline on the oldest processor", is_baseline: true, has_features: false, ..USUAL },
    Way { name: "optimizer with guards", has_guards: true, ..USUAL },
    Way {
        name: "optimizer with guards, few registers, chaos and fuel",
        has_guards: true,
        may_stop: true,
        has_fuel: true,
        registers: &FEW,
        has_chaos: true,
        has_other_ties: true,
        rules: &COUNTED,
        ..USUAL
    },
    Way { name: "optimizer for calls with guards", has_guards: true, is_called: true, ..USUAL },
    Way { name: "tiering up with guards", has_guards: true, engine: Some(Tiers::All), ..USUAL },
    Way { name: "baseline with guards", has_guards: true, is_baseline: true, ..USUAL },
    Way { name: "interpreter in machine code", is_interpreted: true, ..USUAL },
    Way {
        name: "interpreter in machine code on the oldest processor with fuel",
        is_interpreted: true,
        has_features: false,
        may_stop: true,
        has_fuel: true,
        ..USUAL
    },
    Way {
        name: "interpreter in machine code with guards and without rules",
        is_interpreted: true,
        has_guards: true,
        rules: &[],
        ..USUAL
    },
];

/// Nonzero would stop a running program; it stays zero.
static STOP: AtomicU64 = AtomicU64::new(0);
/// The fuel of all programs; they never use it up.
static FUEL: AtomicI64 = AtomicI64::new(i64::MAX);

impl Way {
    /// Adds the addresses that loops poll to the functions that programs call.
    fn stopping(&self, functions: Linkage<'static>) -> Linkage<'static> {
        let (stop, fuel) = (STOP.as_ptr().addr() as u64, FUEL.as_ptr().addr() as u64);
        Linkage { stop: self.may_stop.then_some(stop), fuel: self.has_fuel.then_some(fuel), ..functions }
    }

    /// Whether machine code interprets programs.
    pub fn is_interpreted(&self) -> bool {
        self.is_interpreted
    }

    /// How many opcodes machine code cannot interpret.
    pub fn without_code(&self) -> usize {
        self.interpreter::<Emitter>().prepare_all()
    }

    /// The interpreter in machine code.
    fn interpreter<M: Subject>(&self) -> Interpreter<Op, M> {
        let choice = InterpreterChoice {
            set: M::set(self),
            features: if self.has_features { M::features() } else { 0 },
            rules: self.rules,
            checks: true,
            guards: self.has_guards,
            may_stop: self.may_stop,
            has_fuel: self.has_fuel,
        };
        Interpreter::new(choice).expect("this machine runs code")
    }

    fn source<'a, M: Subject>(&self, program: &'a Verified) -> FunctionSource<'a> {
        let functions = links::<M>();
        let callees = if self.inlines { callees(functions, self.has_guards) } else { &[] };
        FunctionSource { callees, ..program.source(self.has_guards, self.stopping(functions)) }
    }
}

/// Those in which graphs are compiled: bytecode is something else only to the others.
pub fn ways_of_graphs<M: Subject>() -> impl Iterator<Item = usize> {
    let has_graphs = |way: &Way| !way.is_baseline && !way.is_interpreted && way.engine.is_none();
    (0..M::WAYS.len()).filter(move |at| has_graphs(&M::WAYS[*at]))
}

/// Limits that turn some passes off, do not limit others, and allow the rest a few steps.
fn limits(seed: u64) -> Limits {
    let mut random = Random::new(seed);
    let mut limits = Limits::default();
    for pass in Limits::PASSES {
        let steps = match random.below(3) {
            0 => 0,
            1 => u64::MAX,
            _ => {
                let few = 1 << random.below(9);
                random.below(few) as u64
            }
        };
        assert!(limits.set(pass, steps), "{pass} takes steps");
    }
    limits
}

/// How many programs run in one engine before it is replaced.
const PROGRAMS: usize = 64;

/// The size of a compiler's code memory: a few thousand functions fill it, and the longest one fits.
const CODE_BYTES: usize = 1 << 22;

/// The rig of this machine.
pub type Rig = RigOn<Emitter>;

/// Compilers and room to run, kept from program to program, of one machine.
pub struct RigOn<M: Subject> {
    compilers: Vec<Compiler<M>>,
    /// What is in each compiler's code memory.
    kept: Vec<Kept<M>>,
    frame: Frame,
    /// For each way, its engine, if it has one, and the number of programs that the engine may still run.
    homes: Vec<Option<(Home, usize)>>,
    /// Which ways are gone, by position in [`Subject::WAYS`].
    pub ways: Vec<usize>,
    /// How many bytecodes were compiled.
    pub bytecodes: u64,
    /// The tiles that were reached.
    pub tiles: Reached,
}

impl<M: Subject> fmt::Debug for RigOn<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RigOn").field("bytecodes", &self.bytecodes).finish_non_exhaustive()
    }
}

impl<M: Subject> Default for RigOn<M> {
    fn default() -> Self {
        M::prepare();
        RigOn {
            compilers: M::WAYS.iter().map(compiler).collect(),
            kept: M::WAYS.iter().map(|_| Kept::new()).collect(),
            frame: Frame::default(),
            homes: M::WAYS.iter().map(|_| None).collect(),
            ways: (0..M::WAYS.len()).collect(),
            bytecodes: 0,
            tiles: Reached::of(M::set(&M::WAYS[0]).tables),
        }
    }
}

impl<M: Subject> RigOn<M> {
    /// Records the tiles of opcodes that machine code interprets, whose code is made once in a process, while nobody looks.
    pub fn look_at_interpreters(&mut self) {
        for way in M::WAYS.iter().filter(|way| way.is_interpreted) {
            way.interpreter::<M>().show_all(&mut self.tiles);
        }
    }
}

fn compiler<M: Subject>(way: &Way) -> Compiler<M> {
    let features = if way.has_features { M::features() } else { 0 };
    let compiler =
        Compiler::new(CODE_BYTES, M::set(way), features, way.rules).expect("this machine runs code");
    let compiler = compiler.with_registers(way.registers).with_checks(true);
    compiler.with_frame_pointers(way.keeps_frame_pointers).with_guards(way.has_guards)
}

/// The reason why a program failed.
#[derive(Clone, Debug)]
pub enum Failure {
    /// A compiler returned an error.
    Refused(&'static str, Error),
    /// A compiler panicked, perhaps because one of its judges found a violation.
    Panicked(&'static str, String),
    /// A tier did not do the same as the interpreter.
    Differs {
        /// The way that differs.
        way: &'static str,
        /// The observed behaviour of the interpreter.
        expected: Box<Seen>,
        /// The observed behaviour of this way.
        found: Box<Seen>,
    },
    /// The machine code of a graph does not do what the graph means.
    Graph {
        /// The way that differs.
        way: &'static str,
        /// How the code ended and the memory it left; or the caller's state that it failed to preserve.
        found: (Result<Outcome, &'static str>, Vec<u64>),
        /// The meaning of the graph.
        expected: (Outcome, Vec<u64>),
    },
    /// Kept code changed although it was not running any more.
    Overwritten(&'static str),
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Refused(way, error) => write!(f, "{way}: {error}"),
            Failure::Graph { way, expected, found } => {
                write!(f, "{way}: found\n  {found:x?}\nwhere the graph means\n  {expected:x?}")
            }
            Failure::Overwritten(way) => write!(f, "{way}: code that was kept is not what was compiled"),
            Failure::Panicked(way, text) => write!(f, "{way}: {text}"),
            Failure::Differs { way, expected, found } => {
                write!(f, "{way}: found\n  {found:x?}\nwhere the interpreter has\n  {expected:x?}")
            }
        }
    }
}

impl<M: Subject> RigOn<M> {
    /// Runs a program, which must end, in every tier. What differs is made short and told, with a file for `found/`.
    pub fn check(&mut self, program: &Program, start: u64) -> Result<(), String> {
        let seed = Some(start);
        let start = &Start::new(start);
        let verified = |program: &Program| Some(Verified::new(program)?.starting_with(start));
        let Some(first) = verified(program) else {
            return Err(format!("verification refuses it:\n{program}"));
        };
        let Err(failure) = self.compare(&first, start) else { return Ok(()) };
        // Minimising a long program takes a while, and may itself fail.
        eprintln!("to be made short, {} bytecodes: {:.400}", program.code.len(), failure.to_string());
        let mut last = failure;
        let short = minimise(program, |shorter| {
            let failure = verified(shorter).and_then(|shorter| self.compare(&shorter, start).err());
            failure.map(|failure| last = failure).is_some()
        });
        let case = Case { program: short, start: seed };
        Err(format!("{last}\n\nas a file for tests/rig/found:\n{case}"))
    }

    /// Runs a program, which must end, in every tier.
    fn compare(&mut self, program: &Verified, start: &Start) -> Result<(), Failure> {
        let expected = program.run::<M>(&mut self.frame, start, None);
        for index in 0..self.ways.len() {
            let (at, way) = (self.ways[index], &M::WAYS[self.ways[index]]);
            if let Some(tiers) = way.engine {
                self.compare_engine(at, tiers, program, start, &expected)?;
                continue;
            }
            if way.is_called && program.observes() {
                // An engine does not compile such a program for calls either.
                continue;
            }
            let made = self.make(at, start.chaos, program)?;
            self.bytecodes += program.len() as u64;
            let found = program.run(&mut self.frame, start, Some(&made));
            self.keep(at, made);
            let expected = if way.is_called { expected.of_callee() } else { expected.clone() };
            if found != expected {
                let (expected, found) = (Box::new(expected), Box::new(found));
                return Err(Failure::Differs { way: way.name, expected, found });
            }
        }
        Ok(())
    }

    /// Runs a program in an engine.
    fn compare_engine(
        &mut self,
        at: usize,
        tiers: Tiers,
        program: &Verified,
        start: &Start,
        expected: &Seen,
    ) -> Result<(), Failure> {
        let way = M::WAYS[at].name;
        self.bytecodes += program.len() as u64;
        let attempt = catch_unwind(AssertUnwindSafe(|| {
            let guards = M::WAYS[at].has_guards;
            let (home, left) = match self.homes[at].take() {
                Some(kept) => kept,
                None => (Home::new(tiers, guards, CODE_BYTES, start.chaos)?, PROGRAMS),
            };
            let all = program.tier_up(&home, start);
            self.homes[at] = (left > 1).then_some((home, left - 1));
            all
        }));
        let all = attempt.map_err(|panic| Failure::Panicked(way, text(&*panic)))?;
        match all.map_err(|error| Failure::Refused(way, error))?.into_iter().find(|found| found != expected) {
            None => Ok(()),
            Some(found) => {
                let (expected, found) = (Box::new(expected.clone()), Box::new(found));
                Err(Failure::Differs { way, expected, found })
            }
        }
    }

    /// Compiles a program in the first of the rig's ways, for an observer.
    pub fn show(&mut self, program: &Verified, observer: &mut dyn Observer) -> Result<(), Error> {
        let way = self.ways[0];
        self.compilers[way].bytecode(&M::WAYS[way].source::<M>(program), observer).map(drop)
    }

    /// Compiles a program in every way without running it.
    pub fn compile(&mut self, program: &Verified) -> Result<(), Failure> {
        for index in 0..self.ways.len() {
            let at = self.ways[index];
            if !(M::WAYS[at].is_called && program.observes()) {
                self.make(at, 1, program)?;
            }
        }
        Ok(())
    }

    fn make(&mut self, at: usize, chaos: u64, program: &Verified) -> Result<Made<M>, Failure> {
        let way = &M::WAYS[at];
        self.compile_in(at, chaos, |to, tiles| match way.is_baseline {
            _ if way.is_interpreted => {
                let functions = way.stopping(links::<M>());
                Ok(Made::Interpreted(Interpreted::new(way.interpreter(), program, functions)))
            }
            _ if way.is_called => {
                program.call_entry(to, &way.source::<M>(program), tiles).map(Made::CallEntry)
            }
            true => {
                let functions = way.stopping(half_of_links::<M>());
                to.baseline(&program.function(), functions, tiles).map(Made::Baseline)
            }
            false => to.bytecode(&way.source::<M>(program), tiles).map(Made::Optimized),
        })
    }

    /// Compiles in one way. If code memory is full, some of the kept code is dropped to make room. A panic is a failure
    /// like any other.
    pub(crate) fn compile_in<T>(
        &mut self,
        at: usize,
        chaos: u64,
        mut compile: impl FnMut(&mut Compiler<M>, &mut Reached) -> Result<T, Error>,
    ) -> Result<T, Failure> {
        let way = &M::WAYS[at];
        let RigOn { compilers, tiles, kept, .. } = self;
        let attempt = catch_unwind(AssertUnwindSafe(|| {
            loop {
                if way.has_chaos {
                    compilers[at].set_chaos(chaos);
                }
                if way.has_limits {
                    compilers[at].set_limits(limits(chaos));
                }
                let room = match compile(&mut compilers[at], tiles) {
                    Err(Error::OutOfCodeMemory) => kept[at].make_room(),
                    result => return result.map_err(|error| Failure::Refused(way.name, error)),
                };
                match room {
                    None => return Err(Failure::Refused(way.name, Error::OutOfCodeMemory)),
                    Some(false) => return Err(Failure::Overwritten(way.name)),
                    Some(true) => {}
                }
            }
        }));
        attempt.unwrap_or_else(|panic| {
            self.compilers[at] = compiler(way);
            Err(Failure::Panicked(way.name, text(&*panic)))
        })
    }

    /// Nobody runs this code any more; it stays until its room is needed.
    pub(crate) fn keep(&mut self, way: usize, made: Made<M>) {
        self.kept[way].keep(made);
    }
}

/// The message of a panic.
fn text(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().cloned();
    text.or_else(|| panic.downcast_ref::<&str>().map(|text| text.to_string())).unwrap_or_default()
}
