//! Observation of compilations: logs, listings, statistics, and the limits for bisecting faults.
//!
//! In: each compilation, from the engine and from its worker thread. Out: a [`Watch`], which accompanies the compilation as the
//! compiler's observer. If nothing is to be observed, no text is made.

mod glob;
mod limits;
mod listing;
mod log;
mod machine;
mod statistics;
mod trace;

pub use limits::{BadLimit, Limits};
pub use listing::Listing;
pub use log::{Log, UnknownStage};
pub use statistics::{Compilations, Statistics};
pub(crate) use statistics::{Counts, Record};
use trace::{Selection, Trace};

use azulejo_core::error::Error;
use azulejo_core::ir::emitted::Emitted;
use azulejo_core::ir::graph::Graph;
use azulejo_core::ir::index::Node;
use azulejo_core::ir::kinds::KindMask;
use azulejo_core::ir::ranges::Ranges;
use azulejo_core::ir::schedule::Schedule;
use azulejo_core::ir::tiles::TileList;
use azulejo_core::pass::limits::Limits as Steps;
use azulejo_core::pass::{Allocated, Observer, Target};
use limits::Admitted;
use once_cell::race::OnceBox;
use statistics::Times;
use std::fmt::{self, Debug};

/// A function to compile, and the form in which it is compiled.
#[derive(Clone, Copy)]
pub(crate) struct Subject<'a, B> {
    pub(crate) name: &'a str,
    pub(crate) code: &'a [B],
    pub(crate) form: Form,
    pub(crate) learned: &'a dyn Learned,
}

/// What the bytecodes of a function have learned while it ran.
pub(crate) trait Learned {
    /// What the bytecode at `at` has learned, for people.
    fn note(&self, at: u32) -> Option<String>;
}

/// Nothing is known of what bytecodes have learned, because the thread that runs the function is another one.
pub(crate) struct NothingLearned;

impl Learned for NothingLearned {
    fn note(&self, _: u32) -> Option<String> {
        None
    }
}

/// The form in which a function is compiled.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Form {
    Baseline,
    /// By the optimizer, to start at this bytecode.
    Optimizer(u32),
    /// By the optimizer, for calls from other functions with this number of arguments.
    CallEntry(u32),
}

impl fmt::Display for Form {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Form::Baseline => f.write_str("baseline"),
            Form::Optimizer(0) => f.write_str("optimizer"),
            Form::Optimizer(at) => write!(f, "optimizer-at-{at}"),
            Form::CallEntry(arguments) => write!(f, "optimizer-called-with-{arguments}"),
        }
    }
}

/// A function with a name and bytecode, whatever its bytecode's type.
pub(crate) trait Named {
    fn name(&self) -> &str;
    /// The text of the bytecode, one line for each.
    fn source(&self) -> String;
}

impl<B: Debug> Named for Subject<'_, B> {
    fn name(&self) -> &str {
        self.name
    }

    fn source(&self) -> String {
        trace::bytecode(self.code, &NothingLearned)
    }
}

impl<B: Debug> Subject<'_, B> {
    /// Starts the record of its compilation.
    fn record(&self) -> Record {
        Record {
            form: self.form,
            bytecodes: self.code.len(),
            bytes: None,
            inlined: 0,
            refused: Vec::new(),
            times: None,
        }
    }

    /// The first lines of its trace.
    fn head(&self) -> String {
        format!("function {}\ntier {}\n", one_line(self.name), self.form)
    }
}

/// The choices of what to observe, shared by an engine and its worker.
#[derive(Clone, Debug, Default)]
pub(crate) struct Inside {
    log: Option<Log>,
    limits: Option<Limits>,
    /// Whether times are measured.
    times: bool,
}

impl Inside {
    /// Takes the builder's choices, and the environment's where the builder made none.
    pub(crate) fn new(log: Option<Log>, limits: Option<Limits>, times: bool) -> Inside {
        Inside {
            log: log.or_else(|| Log::of_environment().cloned()),
            limits: limits.or_else(|| Limits::of_environment().cloned()),
            times,
        }
    }

    /// Whether compilation is limited, or its steps are reported.
    pub(crate) fn has_limits(&self) -> bool {
        self.limits.is_some()
    }

    /// Starts the watch of a compilation; an error if the limits do not allow it.
    pub(crate) fn watch<'a, B: Debug>(&'a self, subject: &'a Subject<'a, B>) -> Result<Watch<'a>, Error> {
        let admit = |limits: &'a Limits| limits.admit(subject.name, subject.form);
        let admitted = self.limits.as_ref().map(admit).transpose()?;
        let start = |log: &'a Log| {
            let trace = log.start(subject)?;
            Some(Logged { log: Some(log), trace })
        };
        let record = Record { times: self.times.then(Times::start), ..subject.record() };
        Ok(Watch { subject, record, logged: self.log.as_ref().and_then(start), admitted })
    }
}

/// Accompanies a compilation, and observes each stage.
pub(crate) struct Watch<'a> {
    subject: &'a dyn Named,
    record: Record,
    logged: Option<Logged<'a>>,
    admitted: Option<Admitted<'a>>,
}

impl<'a> Watch<'a> {
    /// Makes a watch that keeps the text of all stages, for a compilation whose code is not used.
    pub(crate) fn all<B: Debug>(subject: &'a Subject<'a, B>) -> Watch<'a> {
        let trace = Trace::new(subject, Selection::ALL);
        let logged = Logged { log: None, trace };
        Watch { subject, record: subject.record(), logged: Some(logged), admitted: None }
    }

    /// The function that is compiled.
    pub(crate) fn subject(&self) -> &'a dyn Named {
        self.subject
    }

    /// How many optional steps the compilation may take.
    pub(crate) fn steps(&self) -> Steps {
        self.admitted.as_ref().map_or(Steps::default(), Admitted::steps)
    }

    /// Records the end of the compilation: how many steps it took, and the size of its code in bytes, if it succeeded.
    pub(crate) fn finish(&mut self, steps: [u64; Steps::PASSES.len()], bytes: Option<usize>) {
        self.record.bytes = bytes;
        if let Some(times) = &mut self.record.times {
            times.stop();
        }
        if let Some(admitted) = &self.admitted {
            admitted.took(steps);
        }
    }

    /// The record of the compilation.
    pub(crate) fn record(&self) -> &Record {
        &self.record
    }

    /// The trace, if one is being written.
    pub(crate) fn trace(&mut self) -> Option<&mut Trace> {
        self.logged.as_mut().map(|logged| &mut logged.trace)
    }

    /// The text of the trace.
    pub(crate) fn into_text(mut self) -> String {
        self.trace().map(|trace| std::mem::take(&mut trace.text)).unwrap_or_default()
    }

    /// Records the end of a part of the compilation: the time that it took, and its result as text.
    fn see(&mut self, part: &str, write: impl FnOnce(&mut Trace)) {
        if let Some(times) = &mut self.record.times {
            times.end(part);
        }
        // The stages of stencils are not logged. The logs of the optimizer's functions show how templates are compiled.
        if let Some(logged) = self.logged.as_mut().filter(|_| self.record.form != Form::Baseline) {
            write(&mut logged.trace);
            if let Some(times) = &mut self.record.times {
                times.resume();
            }
        }
    }
}

impl Observer for Watch<'_> {
    fn graph(&mut self, pass: &'static str, graph: &Graph) {
        // The pass that builds a stencil's graph has a name of its own.
        let part = if pass == "stencil" { "build" } else { pass };
        self.see(part, |trace| trace.graph(pass, graph));
    }

    fn kinds(&mut self, graph: &Graph, masks: &[KindMask]) {
        self.see("kinds", |trace| trace.kinds(graph, masks));
    }

    fn again(&mut self) {
        if let Some(logged) = &mut self.logged {
            logged.trace.again();
        }
    }

    fn renumbered(&mut self, numbers: &[Node]) {
        self.see("dead", |trace| trace.renumbered(numbers));
    }

    fn schedule(&mut self, graph: &Graph, schedule: &Schedule) {
        self.see("place", |trace| trace.schedule(graph, schedule));
    }

    fn tiles(&mut self, target: &Target<'_>, tiles: &TileList) {
        self.record.inlined = tiles.inlining.frames.len().saturating_sub(1);
        self.record.refused = tiles.inlining.refused.iter().map(|refused| refused.refusal).collect();
        self.see("tile", |trace| trace.tiles(target, tiles));
    }

    fn ranges(&mut self, target: &Target<'_>, tiles: &TileList, ranges: &Ranges) {
        self.see("live", |trace| trace.ranges(target, tiles, ranges));
    }

    fn assignment(&mut self, target: &Target<'_>, allocated: &Allocated<'_>) {
        self.see("allocate", |trace| trace.assignment(target, allocated));
    }

    fn code(&mut self, target: &Target<'_>, tiles: &TileList, code: &Emitted<'_>) {
        self.see("emit", |trace| trace.code(target, tiles, code));
    }
}

/// A trace, and the log that it is written to, if any.
#[derive(Debug)]
struct Logged<'a> {
    log: Option<&'a Log>,
    trace: Trace,
}

/// Writes the log. This also happens when a judge panics; the log then ends with the stage before.
impl Drop for Watch<'_> {
    fn drop(&mut self) {
        if let Some(Logged { log: Some(log), trace }) = &self.logged {
            log.write(self.subject.name(), &self.record.form.to_string(), trace);
        }
    }
}

/// Text with control characters, such as line breaks, replaced by spaces.
fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// What the environment asks for, found out once. That must not block: after a fork, the thread that a child would wait for may not exist.
fn once<T>(known: &'static OnceBox<Option<T>>, ask: impl FnOnce() -> Option<T>) -> Option<&'static T> {
    known.get_or_init(|| Box::new(ask())).as_ref()
}

/// Parses an environment variable. If that fails, the error is printed, and the variable is ignored.
fn asked<T, E: fmt::Display>(variable: &str, read: impl FnOnce(&str) -> Result<T, E>) -> Option<T> {
    let text = std::env::var(variable).unwrap_or_default();
    read(&text).inspect_err(|error| eprintln!("{variable}: {error}")).ok()
}
