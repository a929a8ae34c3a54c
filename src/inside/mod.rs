//! What people see of compilations: logs, listings, limits by which a fault is found.
//!
//! In: each compilation, from the engine and from the thread that compiles for it. Out: a [`Watch`] that goes with it as
//! the compiler's observer. Where nobody wants to see anything, nothing is looked at.

mod glob;
mod limits;
mod listing;
mod log;
mod machine;
mod trace;

pub use limits::{BadLimit, Limits};
pub use listing::Listing;
pub use log::{Log, UnknownStage};
use trace::{Selection, Trace};

use azulejo_core::error::Error;
use azulejo_core::pass::limits::Limits as Steps;
use azulejo_core::pass::{Blind, Observer};
use limits::Admitted;
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
    /// What a trace starts with.
    fn head(&self) -> String {
        let name: String = self.name.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        format!("function {name}\ntier {}\n", self.form)
    }
}

/// What an engine and its thread share.
#[derive(Clone, Debug, Default)]
pub(crate) struct Inside {
    log: Option<Log>,
    limits: Option<Limits>,
}

impl Inside {
    /// By what a builder asked for; where it said nothing, by what the environment says.
    pub(crate) fn new(log: Option<Log>, limits: Option<Limits>) -> Inside {
        Inside {
            log: log.or_else(|| Log::of_environment().cloned()),
            limits: limits.or_else(|| Limits::of_environment().cloned()),
        }
    }

    /// Starts to watch a compilation, if it may be.
    pub(crate) fn watch<'a, B: Debug>(&'a self, subject: &'a Subject<'a, B>) -> Result<Watch<'a>, Error> {
        let admit = |limits: &'a Limits| limits.admit(subject.name, subject.form);
        let admitted = self.limits.as_ref().map(admit).transpose()?;
        let start = |log: &'a Log| {
            let trace = log.start(subject.name, subject.head(), subject.code)?;
            Some(Logged { log: Some(log), name: subject.name, form: subject.form, trace })
        };
        Ok(Watch { subject, logged: self.log.as_ref().and_then(start), admitted, blind: Blind })
    }
}

/// Goes with a compilation.
pub(crate) struct Watch<'a> {
    subject: &'a dyn Named,
    logged: Option<Logged<'a>>,
    admitted: Option<Admitted<'a>>,
    blind: Blind,
}

impl<'a> Watch<'a> {
    /// One that keeps everything, for who looks at a function without using its code.
    pub(crate) fn all<B: Debug>(subject: &'a Subject<'a, B>) -> Watch<'a> {
        let trace = Trace::new(subject.head(), subject.code, Selection::ALL);
        let logged = Logged { log: None, name: subject.name, form: subject.form, trace };
        Watch { subject, logged: Some(logged), admitted: None, blind: Blind }
    }

    /// What is compiled.
    pub(crate) fn subject(&self) -> &'a dyn Named {
        self.subject
    }

    /// Who is shown each stage.
    pub(crate) fn observer(&mut self) -> &mut dyn Observer {
        match &mut self.logged {
            Some(logged) => &mut logged.trace,
            None => &mut self.blind,
        }
    }

    /// How many steps the compilation may take.
    pub(crate) fn steps(&self) -> Steps {
        self.admitted.as_ref().map_or(Steps::default(), Admitted::steps)
    }

    /// Hears how many it took.
    pub(crate) fn took(&self, steps: [u64; Steps::PASSES.len()]) {
        if let Some(admitted) = &self.admitted {
            admitted.took(steps);
        }
    }

    /// What is being written down, if anything is.
    pub(crate) fn trace(&mut self) -> Option<&mut Trace> {
        self.logged.as_mut().map(|logged| &mut logged.trace)
    }

    /// What was written down.
    pub(crate) fn into_text(mut self) -> String {
        self.trace().map(|trace| std::mem::take(&mut trace.text)).unwrap_or_default()
    }
}

/// What is written down. Where it is a log's it is written when it is dropped, also where a judge panics: then it ends with the
/// stage before.
#[derive(Debug)]
struct Logged<'a> {
    log: Option<&'a Log>,
    name: &'a str,
    form: Form,
    trace: Trace,
}

impl Drop for Logged<'_> {
    fn drop(&mut self) {
        if let Some(log) = self.log {
            log.write(self.name, &self.form.to_string(), &self.trace);
        }
    }
}
