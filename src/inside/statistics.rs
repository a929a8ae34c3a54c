//! Statistics of an engine: its compilations, the time that they took, and the causes of exits from compiled code.
//!
//! In: a [`Record`] of each compilation, and each exit. Out: [`Statistics`], which print as tables. Only the engine's thread
//! counts.

use super::Form;
use azulejo_core::ir::inlining::InlineRefusal;
use azulejo_core::pass::STAGES;
use std::cell::{Cell, RefCell};
use std::fmt;
use std::time::{Duration, Instant};

/// The number of timed parts of a compilation: the stages, followed by the installation of the code.
const N_PARTS: usize = STAGES.len() + 1;

fn parts() -> impl Iterator<Item = &'static str> {
    STAGES.into_iter().chain(["install"])
}

/// Statistics of an engine. See [`Engine::stats`](crate::Engine::stats).
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
    /// How many functions the engine has. Removed functions do not count.
    pub functions: usize,
    /// How many functions start in the interpreter when they are called.
    pub in_interpreter: usize,
    /// How many functions start in baseline code when they are called.
    pub in_baseline: usize,
    /// How many functions start in the optimizer's code when they are called.
    pub in_optimizer: usize,
    /// The compilations of the baseline compiler.
    pub baseline: Compilations,
    /// The optimizer's compilations for calls from outside, and for resuming in the middle of a function.
    pub optimizer: Compilations,
    /// The optimizer's compilations for calls from other functions of bytecode.
    pub optimizer_for_calls: Compilations,
    /// The time of each pass, in the order of the passes, and last the time of installing code. The compilation of stencils
    /// is included. Empty unless times are measured ([`Builder::times`](crate::Builder::times)).
    pub passes: Vec<(&'static str, Duration)>,
    /// How many calls of other functions the optimizer has inlined.
    pub inlined: u64,
    /// How many calls it has not inlined though it knew which function they call, for each reason.
    pub not_inlined: Vec<(&'static str, u64)>,
    /// How often compiled code was left by a template's `exit` or a guard, by the opcode at which the interpreter resumed, most
    /// frequent first. After a guard this is the guard's own opcode, after `exit` that of the next bytecode.
    pub exits: Vec<(&'static str, u64)>,
    /// How often compiled code was left because its function has used up its budget, and tiers up or awaits a call for that.
    pub tier_ups: u64,
    /// How often compiled code was left in front of a slow path that it did not have, because that had never run before.
    pub missed: u64,
    /// How often baseline code was left where it lacked a slow path that had never run before, or a case that a site had not learned. It was
    /// made again then, with that.
    pub gaps: u64,
    /// How many bytes of code memory are in use.
    pub code_used: usize,
    /// How many bytes of code memory there are.
    pub code_bytes: usize,
    /// How many functions lost their code to make room for the code of others.
    pub evicted: u64,
    /// How many stencils the baseline compiler made for this engine. Stencils that other engines of the process had made for
    /// the same bytecode and options are shared, and do not count.
    pub stencils: u64,
}

/// The compilations of one compiler.
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
    /// How many compilations succeeded. A function that was compiled several times counts as often.
    pub compiled: u64,
    /// How many compilations failed.
    pub failed: u64,
    /// How many bytecodes the compiled functions had in total.
    pub bytecodes: u64,
    /// How many bytes of code were made.
    pub bytes: u64,
    /// The time of all compilations; zero unless times are measured.
    pub time: Duration,
}

impl fmt::Display for Statistics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Statistics { functions, in_interpreter, in_baseline, in_optimizer, .. } = self;
        writeln!(
            f,
            "functions  {functions}: {in_interpreter} in the interpreter, {in_baseline} in baseline code, {in_optimizer} in the optimizer's"
        )?;
        if self.inlined > 0 || !self.not_inlined.is_empty() {
            write!(f, "inlined    {} calls", self.inlined)?;
            for (index, (reason, calls)) in self.not_inlined.iter().enumerate() {
                write!(f, "{} {calls} ({reason})", if index == 0 { "; not" } else { "," })?;
            }
            writeln!(f)?;
        }
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
        if self.tier_ups > 0 || self.missed > 0 || self.gaps > 0 || !self.exits.is_empty() {
            writeln!(f, "\n{:32}{:>10}", "code was left", "times")?;
            writeln!(f, "{:32}{:>10}", "to tier up", self.tier_ups)?;
            if self.missed > 0 {
                writeln!(f, "{:32}{:>10}", "for a slow path", self.missed)?;
            }
            if self.gaps > 0 {
                writeln!(f, "{:32}{:>10}", "to be made again", self.gaps)?;
            }
            for (opcode, times) in &self.exits {
                writeln!(f, "{:32}{times:>10}", format!("to resume at {opcode}"))?;
            }
        }
        Ok(())
    }
}

/// The record of a compilation.
#[derive(Clone, Debug)]
pub(crate) struct Record {
    pub(super) form: Form,
    pub(super) bytecodes: usize,
    /// The size of the code in bytes, if the compilation succeeded.
    pub(super) bytes: Option<usize>,
    /// How many calls were inlined.
    pub(super) inlined: usize,
    /// Why calls of known functions were not.
    pub(super) refused: Vec<InlineRefusal>,
    pub(super) times: Option<Times>,
}

/// The times of the parts of a compilation.
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

    /// Records the end of a part.
    pub(super) fn end(&mut self, part: &str) {
        let now = Instant::now();
        if let Some(at) = parts().position(|name| name == part) {
            self.parts[at] += now - self.last;
        }
        self.last = now;
    }

    /// Excludes the time since the end of the last part, which was not spent by the compiler.
    pub(super) fn resume(&mut self) {
        let now = Instant::now();
        self.started += now - self.last;
        self.last = now;
    }

    /// Records the end of the compilation.
    pub(super) fn stop(&mut self) {
        self.end("install");
        self.all = self.last - self.started;
    }
}

/// The counters of an engine.
#[derive(Debug)]
pub(crate) struct Counts {
    made: RefCell<Made>,
    tier_ups: Cell<u64>,
    missed: Cell<u64>,
    gaps: Cell<u64>,
    /// Indexed by the opcode at which the interpreter resumed.
    exits: Box<[Cell<u64>]>,
    evicted: Cell<u64>,
}

#[derive(Debug, Default)]
struct Made {
    baseline: Compilations,
    optimizer: Compilations,
    optimizer_for_calls: Compilations,
    inlined: u64,
    /// By reason.
    refused: [u64; InlineRefusal::ALL.len()],
    parts: Option<[Duration; N_PARTS]>,
}

impl Counts {
    pub(crate) fn new(opcodes: usize) -> Counts {
        Counts {
            made: RefCell::default(),
            tier_ups: Cell::new(0),
            missed: Cell::new(0),
            gaps: Cell::new(0),
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
                made.inlined += record.inlined as u64;
                record.refused.iter().for_each(|refusal| made.refused[*refusal as usize] += 1);
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

    /// Counts an exit from code whose function is to tier up.
    pub(crate) fn left_to_tier_up(&self) {
        self.tier_ups.set(self.tier_ups.get() + 1);
    }

    /// Counts an exit that a template made; the interpreter resumes at this opcode.
    pub(crate) fn exited(&self, opcode: usize) {
        let count = &self.exits[opcode];
        count.set(count.get() + 1);
    }

    /// Counts an exit in front of a slow path that was left out.
    pub(crate) fn missed(&self) {
        self.missed.set(self.missed.get() + 1);
    }

    /// Counts an exit from baseline code that lacked something.
    pub(crate) fn found_gap(&self) {
        self.gaps.set(self.gaps.get() + 1);
    }

    pub(crate) fn evicted(&self, functions: usize) {
        self.evicted.set(self.evicted.get() + functions as u64);
    }

    /// The counts as statistics; `names` are the names of the opcodes.
    pub(crate) fn statistics(&self, names: impl Iterator<Item = &'static str>) -> Statistics {
        let made = self.made.borrow();
        let mut exits: Vec<(&'static str, u64)> =
            std::iter::zip(names, self.exits.iter().map(Cell::get)).filter(|(_, times)| *times > 0).collect();
        exits.sort_by_key(|(_, times)| std::cmp::Reverse(*times));
        Statistics {
            baseline: made.baseline,
            optimizer: made.optimizer,
            optimizer_for_calls: made.optimizer_for_calls,
            passes: made.parts.map_or(Vec::new(), |times| {
                // Stages that no function had, such as those of kinds of values, take no time.
                std::iter::zip(parts(), times).filter(|(_, time)| !time.is_zero()).collect()
            }),
            inlined: made.inlined,
            not_inlined: std::iter::zip(InlineRefusal::ALL, made.refused)
                .filter(|(_, calls)| *calls > 0)
                .map(|(refusal, calls)| (refusal.reason(), calls))
                .collect(),
            exits,
            tier_ups: self.tier_ups.get(),
            missed: self.missed.get(),
            gaps: self.gaps.get(),
            evicted: self.evicted.get(),
            ..Statistics::default()
        }
    }
}
