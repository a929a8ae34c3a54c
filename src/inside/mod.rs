//! What people see of compilations: logs, listings, statistics, limits by which a fault is found.
//!
//! In: each compilation, from the engine and from the thread that compiles for it. Out: a [`Watch`] that goes with it as
//! the compiler's observer. Where nobody wants to see anything, nothing is looked at.

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
use azulejo_core::ir::ranges::Ranges;
use azulejo_core::ir::schedule::Schedule;
use azulejo_core::ir::tiles::TileList;
use azulejo_core::pass::limits::Limits as Steps;
use azulejo_core::pass::{Allocated, Observer, Target};
use limits::Admitted;
use statistics::Times;
use std::fmt::{self, Debug};

/// What is compiled, and as what.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Subject<'a, B> {
    pub(crate) name: &'a str,
    pub(crate) code: &'a [B],
    pub(crate) form: Form,
}

/// The form in which a function is compiled.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Form {
    Baseline,
    /// By the optimizer, for starting at a bytecode.
    Optimizer(u32),
    /// By the optimizer, for calls of other functions with so many arguments.
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

/// What has a name and bytecode.
pub(crate) trait Named {
    fn name(&self) -> &str;
    /// The bytecode, a line each.
    fn source(&self) -> String;
}

impl<B: Debug> Named for Subject<'_, B> {
    fn name(&self) -> &str {
        self.name
    }

    fn source(&self) -> String {
        trace::bytecode(self.code)
    }
}

impl<B: Debug> Subject<'_, B> {
    /// What is known of it before it is compiled.
    fn record(&self) -> Record {
        Record { form: self.form, bytecodes: self.code.len(), bytes: None, times: None }
    }

    /// What a trace starts with.
    fn head(&self) -> String {
        format!("function {}\ntier {}\n", one_line(self.name), self.form)
    }
}

/// What an engine and its thread share.
#[derive(Clone, Debug, Default)]
pub(crate) struct Inside {
    log: Option<Log>,
    limits: Option<Limits>,
    /// Whether time is taken.
    times: bool,
}

impl Inside {
    /// From the builder's choices; where it made none, from the environment.
    pub(crate) fn new(log: Option<Log>, limits: Option<Limits>, times: bool) -> Inside {
        Inside {
            log: log.or_else(|| Log::of_environment().cloned()),
            limits: limits.or_else(|| Limits::of_environment().cloned()),
            times,
        }
    }

    /// Whether what is compiled is limited, or its steps are counted.
    pub(crate) fn has_limits(&self) -> bool {
        self.limits.is_some()
    }

    /// Starts to watch a compilation, if it may be.
    pub(crate) fn watch<'a, B: Debug>(&'a self, subject: &'a Subject<'a, B>) -> Result<Watch<'a>, Error> {
        let admit = |limits: &'a Limits| limits.admit(subject.name, subject.form);
        let admitted = self.limits.as_ref().map(admit).transpose()?;
        let start = |log: &'a Log| {
            let trace = log.start(subject.name, subject.head(), subject.code)?;
            Some(Logged { log: Some(log), trace })
        };
        let record = Record { times: self.times.then(Times::start), ..subject.record() };
        Ok(Watch { subject, record, logged: self.log.as_ref().and_then(start), admitted })
    }
}

/// Goes with a compilation, and sees each stage.
pub(crate) struct Watch<'a> {
    subject: &'a dyn Named,
    record: Record,
    logged: Option<Logged<'a>>,
    admitted: Option<Admitted<'a>>,
}

impl<'a> Watch<'a> {
    /// One that keeps everything, for who looks at a function without using its code.
    pub(crate) fn all<B: Debug>(subject: &'a Subject<'a, B>) -> Watch<'a> {
        let trace = Trace::new(subject.head(), subject.code, Selection::ALL);
        let logged = Logged { log: None, trace };
        Watch { subject, record: subject.record(), logged: Some(logged), admitted: None }
    }

    /// What is compiled.
    pub(crate) fn subject(&self) -> &'a dyn Named {
        self.subject
    }

    /// How many steps the compilation may take.
    pub(crate) fn steps(&self) -> Steps {
        self.admitted.as_ref().map_or(Steps::default(), Admitted::steps)
    }

    /// Hears how many steps it took, and how many bytes of code came of it, if any did.
    pub(crate) fn finish(&mut self, steps: [u64; Steps::PASSES.len()], bytes: Option<usize>) {
        self.record.bytes = bytes;
        if let Some(times) = &mut self.record.times {
            times.stop();
        }
        if let Some(admitted) = &self.admitted {
            admitted.took(steps);
        }
    }

    /// What is known of it afterwards.
    pub(crate) fn record(&self) -> &Record {
        &self.record
    }

    /// What is being written down, if anything is.
    pub(crate) fn trace(&mut self) -> Option<&mut Trace> {
        self.logged.as_mut().map(|logged| &mut logged.trace)
    }

    /// What was written down.
    pub(crate) fn into_text(mut self) -> String {
        self.trace().map(|trace| std::mem::take(&mut trace.text)).unwrap_or_default()
    }

    /// A part of the compilation has ended: notes the time, and writes down what came of it.
    fn see(&mut self, part: &str, write: impl FnOnce(&mut Trace)) {
        if let Some(times) = &mut self.record.times {
            times.end(part);
        }
        // What becomes of an opcode's template is seen in the functions of the optimizer.
        if let Some(logged) = self.logged.as_mut().filter(|_| self.record.form != Form::Baseline) {
            write(&mut logged.trace);
            if let Some(times) = &mut self.record.times {
                times.go_on();
            }
        }
    }
}

impl Observer for Watch<'_> {
    fn graph(&mut self, pass: &'static str, graph: &Graph) {
        // A stencil's graph is built by another name.
        let part = if pass == "stencil" { "build" } else { pass };
        self.see(part, |trace| trace.graph(pass, graph));
    }

    fn renumbered(&mut self, numbers: &[Node]) {
        self.see("dead", |trace| trace.renumbered(numbers));
    }

    fn schedule(&mut self, graph: &Graph, schedule: &Schedule) {
        self.see("place", |trace| trace.schedule(graph, schedule));
    }

    fn tiles(&mut self, target: &Target<'_>, tiles: &TileList) {
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

/// What is written down, and the log that it is for, if it is for one.
#[derive(Debug)]
struct Logged<'a> {
    log: Option<&'a Log>,
    trace: Trace,
}

/// A log is written at the end, also where a judge panics: then it ends with the stage before.
impl Drop for Watch<'_> {
    fn drop(&mut self) {
        if let Some(Logged { log: Some(log), trace }) = &self.logged {
            log.write(self.subject.name(), &self.record.form.to_string(), trace);
        }
    }
}

/// Text without what would end its line.
fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// What a variable of the environment asks for. One that cannot be read is told of, and asks for nothing.
fn asked<T, E: fmt::Display>(variable: &str, read: impl FnOnce(&str) -> Result<T, E>) -> Option<T> {
    let text = std::env::var(variable).unwrap_or_default();
    read(&text).inspect_err(|error| eprintln!("{variable}: {error}")).ok()
}
