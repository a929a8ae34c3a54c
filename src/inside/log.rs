//! Logs of compilations.
//!
//! In: a log from the builder or the environment, and the trace of each compilation. Out: files, or text on the standard error
//! stream. Errors of writing are ignored: a program must not fail because of its log.

use super::trace::{Selection, Trace, selectable};
use super::{Subject, asked, glob, once};
use once_cell::race::OnceBox;
use std::fmt;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// Selects the stages and functions that are logged, and the destination. See [`Builder::log`](crate::Builder::log).
///
/// ```
/// # use azulejo::prelude::*;
/// use azulejo::Log;
/// # #[derive(Bytecode, Clone, Copy, Debug)]
/// # enum Op { Return { a: In<i64> } }
/// # template! { Op::Return => (return $a) }
/// let directory = std::env::temp_dir().join("azulejo-log");
/// let log = Log::of("rewrite,allocate,emit")?.functions("sum*").directory(&directory);
/// let engine: Engine<Op> = Engine::<Op>::builder().log(log).build();
/// # let function = engine.define("summary", vec![Op::Return { a: 0.into() }], 1)?;
/// # if azulejo::can_compile().is_ok() {
/// engine.compile(function)?;
/// let files: Vec<_> = std::fs::read_dir(&directory)?.collect();
/// assert!(!files.is_empty());
/// # }
/// # std::fs::remove_dir_all(&directory).ok();
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Log {
    selection: Selection,
    functions: String,
    directory: Option<PathBuf>,
}

/// The error for a name that is not a stage.
///
/// ```
/// use azulejo::Log;
/// let error = Log::of("tiles").unwrap_err();
/// assert!(error.to_string().starts_with("there is no stage `tiles`; there are bytecode, build"));
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UnknownStage {
    name: String,
}

impl fmt::Display for UnknownStage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "there is no stage `{}`; there are {} and all",
            self.name,
            selectable().collect::<Vec<_>>().join(", ")
        )
    }
}

impl std::error::Error for UnknownStage {}

impl Log {
    /// Logs all stages of all functions, on the standard error stream.
    ///
    /// ```
    /// # use azulejo::Log;
    /// let everything_of_main = Log::all().functions("main");
    /// ```
    pub fn all() -> Log {
        Log { selection: Selection::ALL, functions: "*".into(), directory: None }
    }

    /// Logs the named stages of all functions, on the standard error stream. The names are separated by commas; they are
    /// `bytecode build renew kinds represent lower rewrite sink counters offsets peel forward dead place tile live allocate emit`, and `all` for
    /// all of them.
    ///
    /// ```
    /// # use azulejo::Log;
    /// assert!(Log::of("build, emit").is_ok());
    /// let error = Log::of("built").unwrap_err();
    /// assert!(error.to_string().starts_with("there is no stage `built`"));
    /// ```
    pub fn of(stages: &str) -> Result<Log, UnknownStage> {
        let mut selection = Selection::NONE;
        for name in stages.split(',').map(str::trim).filter(|name| !name.is_empty()) {
            if name == "all" {
                selection = Selection::ALL;
            } else if !selection.add(name) {
                return Err(UnknownStage { name: name.into() });
            }
        }
        Ok(Log { selection, ..Log::all() })
    }

    /// Logs only functions whose names match this pattern: `*` matches any text, `?` any character.
    ///
    /// ```
    /// # use azulejo::Log;
    /// let of_some = Log::all().functions("parse_*");
    /// ```
    pub fn functions(mut self, pattern: &str) -> Log {
        self.functions = pattern.into();
        self
    }

    /// Logs to this directory, which is created if necessary: one file for each compilation, and for each graph another file
    /// for Graphviz. The files are numbered in the order of the process's compilations.
    ///
    /// ```
    /// # use azulejo::Log;
    /// let into_files = Log::all().directory("target/log");
    /// ```
    pub fn directory(mut self, directory: impl AsRef<Path>) -> Log {
        self.directory = Some(directory.as_ref().to_path_buf());
        self
    }

    /// The log of the environment: `JIT_LOG` names the stages, `JIT_LOG_FN` the functions, `JIT_LOG_DIR` the directory.
    pub(crate) fn of_environment() -> Option<&'static Log> {
        static LOG: OnceBox<Option<Log>> = OnceBox::new();
        once(&LOG, || {
            std::env::var_os("JIT_LOG").filter(|stages| !stages.is_empty())?;
            let mut log = asked("JIT_LOG", Log::of)?;
            if let Ok(pattern) = std::env::var("JIT_LOG_FN") {
                log = log.functions(&pattern);
            }
            if let Some(directory) = std::env::var_os("JIT_LOG_DIR").filter(|directory| !directory.is_empty())
            {
                log = log.directory(Path::new(&directory));
            }
            Some(log)
        })
    }

    /// Starts the trace of a function, if its name is selected.
    pub(crate) fn start<B: fmt::Debug>(&self, subject: &Subject<'_, B>) -> Option<Trace> {
        if !glob::matches(&self.functions, subject.name) {
            return None;
        }
        let mut trace = Trace::new(subject, self.selection);
        trace.drawings = self.directory.is_some().then(Vec::new);
        Some(trace)
    }

    /// Writes a trace.
    pub(crate) fn write(&self, name: &str, kind: &str, trace: &Trace) {
        let Some(directory) = &self.directory else {
            // A single write, so that the output of other threads does not interleave with it.
            let _ = std::io::stderr().write_all(format!("{}\n", trace.text).as_bytes());
            return;
        };
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
        let name: String = name.chars().map(|c| if is_plain(c) { c } else { '_' }).take(80).collect();
        let path = |rest: &str| directory.join(format!("{number:05}-{name}-{kind}{rest}"));
        let _ = std::fs::create_dir_all(directory);
        let _ = std::fs::write(path(".txt"), &trace.text);
        for (at, (stage, drawing)) in trace.drawings.iter().flatten().enumerate() {
            let _ = std::fs::write(path(&format!(".{at}-{stage}.dot")), drawing);
        }
    }
}
