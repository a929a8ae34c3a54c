//! What people see of compilations: logs, listings, statistics.
//!
//! In: each compilation, from the engine and from the thread that compiles for it. Out: a [`Watch`] that goes with it as
//! the compiler's observer. Where nobody wants to see anything, nothing is looked at.

mod glob;
mod listing;
mod log;
mod machine;
mod trace;

pub use listing::Listing;
pub use log::{Log, UnknownStage};
pub(crate) use trace::{Selection, Trace};

use azulejo_core::pass::{Blind, Observer};
use std::fmt::{self, Debug};

/// What is compiled, and as what.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Subject<'a, B> {
    pub(crate) name: &'a str,
    pub(crate) code: &'a [B],
    pub(crate) form: Form,
}

/// As what a function is compiled.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Form {
    Baseline,
    /// By the optimizer, for starting at a bytecode.
    Optimizer(u32),
    /// By the optimizer, for calls of other functions with so many arguments.
    Called(u32),
}

impl fmt::Display for Form {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Form::Baseline => f.write_str("baseline"),
            Form::Optimizer(0) => f.write_str("optimizer"),
            Form::Optimizer(at) => write!(f, "optimizer-at-{at}"),
            Form::Called(arguments) => write!(f, "optimizer-called-with-{arguments}"),
        }
    }
}

impl<B: Debug> Subject<'_, B> {
    /// What a trace starts with.
    fn head(&self) -> String {
        let name: String = self.name.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        format!("function {name}\ntier {}\n", self.form)
    }

    /// A trace of every stage.
    pub(crate) fn trace(&self) -> Trace {
        Trace::new(self.head(), self.code, Selection::ALL)
    }
}

/// What an engine and its thread share.
#[derive(Clone, Debug, Default)]
pub(crate) struct Inside {
    log: Option<Log>,
}

impl Inside {
    /// By what a builder asked for; if it said nothing, by what the environment says.
    pub(crate) fn new(log: Option<Log>) -> Inside {
        Inside { log: log.or_else(|| Log::of_environment().cloned()) }
    }

    /// Starts to watch a compilation.
    pub(crate) fn watch<'a, B: Debug>(&'a self, subject: &Subject<'a, B>) -> Watch<'a> {
        let start = |log: &'a Log| {
            let trace = log.start(subject.name, subject.head(), subject.code)?;
            Some(Logged { log, name: subject.name, form: subject.form, trace })
        };
        Watch { logged: self.log.as_ref().and_then(start), blind: Blind }
    }
}

/// Goes with a compilation.
#[derive(Debug)]
pub(crate) struct Watch<'a> {
    logged: Option<Logged<'a>>,
    blind: Blind,
}

impl Watch<'_> {
    /// Who is shown each stage.
    pub(crate) fn observer(&mut self) -> &mut dyn Observer {
        match &mut self.logged {
            Some(logged) => &mut logged.trace,
            None => &mut self.blind,
        }
    }

    /// The log of code of the baseline, which is made in one go.
    pub(crate) fn trace(&mut self) -> Option<&mut Trace> {
        self.logged.as_mut().map(|logged| &mut logged.trace)
    }
}

/// A log that is being kept. It is written when it is dropped, also where a judge panics: then it ends with the stage before.
#[derive(Debug)]
struct Logged<'a> {
    log: &'a Log,
    name: &'a str,
    form: Form,
    trace: Trace,
}

impl Drop for Logged<'_> {
    fn drop(&mut self) {
        self.log.write(self.name, &self.form.to_string(), &self.trace);
    }
}
