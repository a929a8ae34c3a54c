//! What an engine has compiled, how long that took, and why compiled code was left.
//!
//! In: a [`Record`] of each compilation, each exit. Out: [`Statistics`], which print as tables. Only the engine's thread counts.

use super::Form;
use azulejo_core::pass::STAGES;
use std::cell::{Cell, RefCell};
use std::fmt;
use std::time::{Duration, Instant};

/// The parts of a compilation that take time: the stages, and then putting the code where it runs.
const N_PARTS: usize = STAGES.len() + 1;

fn parts() -> impl Iterator<Item = &'static str> {
    STAGES.into_iter().chain(["install"])
}

/// What an engine has done so far: [`crate::Engine::stats`].
///
/// ```
/// # use azulejo::prelude::*;
#[doc = include_str!("../engine/doubling.txt")]
/// let engine: Engine<Op> = Engine::<Op>::builder().thresholds(10, 20).times(true).build();
/// let function = engine.define("double", code, 1)?;
/// for n in 0..100i64 {
///     engine.call::<_, i64>(function, &mut (), (n,))?;
/// }
/// let stats = engine.stats();
/// assert_eq!(stats.functions, 1);
/// # if azulejo::can_compile().is_ok() {
/// assert_eq!(stats.in_optimizer, 1);
/// assert_eq!((stats.baseline.compiled, stats.optimizer.compiled), (1, 1));
/// # }
/// println!("{stats}");
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct Statistics {
    /// How many functions were defined.
    pub functions: usize,
    /// How many of them start in the interpreter when they are called now.
    pub in_interpreter: usize,
    /// How many start in baseline code.
    pub in_baseline: usize,
    /// How many start in code of the optimizer.
    pub in_optimizer: usize,
    /// What the baseline compiler made.
    pub baseline: Compilations,
    /// What the optimizer made for calls from outside, and for going on in the middle of a function.
    pub optimizer: Compilations,
    /// What the optimizer made for calls of other functions of bytecode.
    pub optimizer_for_calls: Compilations,
    /// How long each pass took, in the order of the passes, and at last putting code where it runs, if times are taken
    /// ([`crate::Builder::times`]). The baseline's stencils are among them.
    pub passes: Vec<(&'static str, Duration)>,
    /// How often compiled code was left by a template's `exit` or a guard: with which opcode the interpreter went on, the most
    /// often first. A guard goes on with its own opcode, `exit` with the next bytecode's.
    pub exits: Vec<(&'static str, u64)>,
    /// How often it was left because the function was to tier up.
    pub tier_ups: u64,
    /// How many bytes of code memory are in use.
    pub code_used: usize,
    /// How many bytes of code memory there are.
    pub code_bytes: usize,
    /// How many functions lost their code to make room for others'.
    pub evicted: u64,
    /// How many stencils the baseline compiler made for this engine. Those that other engines of the process had made for the
    /// same bytecode and options were there.
    pub stencils: u64,
}

/// What a compiler made.
///
/// ```
/// use azulejo::Compilations;
///
/// fn bytes_a_bytecode(made: Compilations) -> f64 {
///     made.bytes as f64 / made.bytecodes.max(1) as f64
/// }
/// assert_eq!(bytes_a_bytecode(Compilations::default()), 0.0);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct Compilations {
    /// How many functions, each time that one was compiled counted.
    pub compiled: u64,
    /// How many could not be.
    pub failed: u64,
    /// How many bytecodes those that were compiled had together.
    pub bytecodes: u64,
    /// How many bytes of code were made.
    pub bytes: u64,
    /// How long all of that took, if times are taken.
    pub time: Duration,
}

impl fmt::Display for Statistics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Statistics { functions, in_interpreter, in_baseline, in_optimizer, .. } = self;
        writeln!(
            f,
            "functions  {functions}: {in_interpreter} in the interpreter, {in_baseline} in baseline code, {in_optimizer} in the optimizer's"
        )?;
        let percent = self.code_used * 100 / self.code_bytes.max(1);
        writeln!(
            f,
            "code       {} of {} bytes in use ({percent} %), {} functions made room, {} stencils made",
            self.code_used, self.code_bytes, self.evicted, self.stencils
        )?;
        writeln!(
            f,
            "\n{:22}{:>10}{:>8}{:>12}{:>12}{:>12}",
            "", "compiled", "failed", "bytecodes", "bytes", "time"
        )?;
        let rows = [
            ("baseline", self.baseline),
            ("optimizer", self.optimizer),
            ("optimizer, for calls", self.optimizer_for_calls),
        ];
        for (name, row) in rows {
            let Compilations { compiled, failed, bytecodes, bytes, time } = row;
            let time = if time.is_zero() { "-".to_string() } else { format!("{time:.1?}") };
            writeln!(f, "{name:22}{compiled:>10}{failed:>8}{bytecodes:>12}{bytes:>12}{time:>12}")?;
        }
        if !self.passes.is_empty() {
            let all: Duration = self.passes.iter().map(|(_, time)| *time).sum();
            writeln!(f, "\n{:22}{:>10}{:>8}", "pass", "time", "%")?;
            for (name, time) in &self.passes {
                let percent = time.as_secs_f64() / all.as_secs_f64().max(1e-12) * 100.0;
                writeln!(f, "{name:22}{:>10}{percent:>8.1}", format!("{time:.1?}"))?;
            }
        }
        if self.tier_ups > 0 || !self.exits.is_empty() {
            writeln!(f, "\n{:32}{:>10}", "code was left", "times")?;
            writeln!(f, "{:32}{:>10}", "to tier up", self.tier_ups)?;
            for (opcode, times) in &self.exits {
                writeln!(f, "{:32}{times:>10}", format!("to go on with {opcode}"))?;
            }
        }
        Ok(())
    }
}

/// What is known of a compilation when it is over.
#[derive(Clone, Debug)]
pub(crate) struct Record {
    pub(super) form: Form,
    pub(super) bytecodes: usize,
    /// How many bytes of code came of it, if any did.
    pub(super) bytes: Option<usize>,
    pub(super) times: Option<Times>,
}

/// How long each part took.
#[derive(Clone, Debug)]
pub(crate) struct Times {
    parts: [Duration; N_PARTS],
    all: Duration,
    started: Instant,
    last: Instant,
}

impl Times {
    pub(super) fn start() -> Times {
        let now = Instant::now();
        Times { parts: Default::default(), all: Duration::ZERO, started: now, last: now }
    }

    /// A part has ended.
    pub(super) fn end(&mut self, part: &str) {
        let now = Instant::now();
        if let Some(at) = parts().position(|name| name == part) {
            self.parts[at] += now - self.last;
        }
        self.last = now;
    }

    /// What happened since a part ended is none of the compiler's.
    pub(super) fn go_on(&mut self) {
        let now = Instant::now();
        self.started += now - self.last;
        self.last = now;
    }

    /// Everything has ended.
    pub(super) fn stop(&mut self) {
        self.end("install");
        self.all = self.last - self.started;
    }
}

/// What an engine counts.
#[derive(Debug)]
pub(crate) struct Counts {
    made: RefCell<Made>,
    tier_ups: Cell<u64>,
    /// By opcode.
    exits: Box<[Cell<u64>]>,
    evicted: Cell<u64>,
}

#[derive(Debug, Default)]
struct Made {
    baseline: Compilations,
    optimizer: Compilations,
    optimizer_for_calls: Compilations,
    parts: Option<[Duration; N_PARTS]>,
}

impl Counts {
    pub(crate) fn new(opcodes: usize) -> Counts {
        Counts {
            made: RefCell::default(),
            tier_ups: Cell::new(0),
            exits: vec![Cell::new(0); opcodes].into(),
            evicted: Cell::new(0),
        }
    }

    pub(crate) fn compiled(&self, record: &Record) {
        let made = &mut *self.made.borrow_mut();
        let row = match record.form {
            Form::Baseline => &mut made.baseline,
            Form::Optimizer(_) => &mut made.optimizer,
            Form::CallEntry(_) => &mut made.optimizer_for_calls,
        };
        match record.bytes {
            Some(bytes) => {
                row.compiled += 1;
                row.bytecodes += record.bytecodes as u64;
                row.bytes += bytes as u64;
            }
            None => row.failed += 1,
        }
        if let Some(times) = &record.times {
            row.time += times.all;
            let parts = made.parts.get_or_insert_default();
            std::iter::zip(parts, &times.parts).for_each(|(sum, part)| *sum += *part);
        }
    }

    /// Code was left because its function is to tier up.
    pub(crate) fn left_to_tier_up(&self) {
        self.tier_ups.set(self.tier_ups.get() + 1);
    }

    /// A template left code; the interpreter goes on with this opcode.
    pub(crate) fn exited(&self, opcode: usize) {
        let count = &self.exits[opcode];
        count.set(count.get() + 1);
    }

    pub(crate) fn evicted(&self, functions: usize) {
        self.evicted.set(self.evicted.get() + functions as u64);
    }

    /// What was counted; `names` are those of the opcodes.
    pub(crate) fn statistics(&self, names: impl Iterator<Item = &'static str>) -> Statistics {
        let made = self.made.borrow();
        let mut exits: Vec<(&'static str, u64)> =
            std::iter::zip(names, self.exits.iter().map(Cell::get)).filter(|(_, times)| *times > 0).collect();
        exits.sort_by_key(|(_, times)| std::cmp::Reverse(*times));
        Statistics {
            baseline: made.baseline,
            optimizer: made.optimizer,
            optimizer_for_calls: made.optimizer_for_calls,
            passes: made.parts.map_or(Vec::new(), |times| std::iter::zip(parts(), times).collect()),
            exits,
            tier_ups: self.tier_ups.get(),
            evicted: self.evicted.get(),
            ..Statistics::default()
        }
    }
}
