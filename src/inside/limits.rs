//! Limits on compilation, to locate a fault by bisection: the function, and the step of the compiler.
//!
//! In: limits from the builder or the environment. Out: whether a function may be compiled, and how many steps that may take.
//! Compiled code is correct under any limit. So if a program fails with one more function or step, that one is at fault.

use super::{Form, asked, once, one_line};
use azulejo_core::error::Error;
use azulejo_core::pass::limits::Limits as Steps;
use once_cell::race::OnceBox;
use std::fmt;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Limits on compilation, to locate a fault of the compiler. See [`Builder::limits`](crate::Builder::limits).
///
/// ```
/// # use azulejo::prelude::*;
/// use azulejo::Limits;
/// # #[derive(Bytecode, Clone, Copy, Debug)]
/// # enum Op { Return { a: In<i64> } }
/// # template! { Op::Return => (return $a) }
/// let engine: Engine<Op> = Engine::<Op>::builder().limits(Limits::of("functions=1")?).build();
/// let code = vec![Op::Return { a: 0.into() }];
/// let (first, second) = (engine.define("first", code.clone(), 1)?, engine.define("second", code, 1)?);
/// engine.compile(first)?;
/// engine.compile(second)?;
/// assert_eq!(engine.is_compiled(first), azulejo::can_compile().is_ok());
/// assert!(!engine.is_compiled(second));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Limits {
    functions: u64,
    steps: Steps,
    /// How many functions were compiled by all engines that share these limits.
    count: Arc<AtomicU64>,
    report: Option<Arc<File>>,
}

/// The error for text that is not a limit.
///
/// ```
/// use azulejo::Limits;
/// let error = Limits::of("functions").unwrap_err();
/// assert!(error.to_string().starts_with("`functions` is no limit: write `functions=N`"));
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BadLimit {
    text: String,
}

impl fmt::Display for BadLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let passes = Steps::PASSES.join(", ");
        write!(f, "`{}` is no limit: write `functions=N`, or one of {passes}, and a number", self.text)
    }
}

impl std::error::Error for BadLimit {}

impl Limits {
    /// Parses limits, separated by commas. `functions=N` allows `N` compilations; later ones do not happen. Compilations of the
    /// same function, for other tiers or again, count separately. `rewrite=N`, `forward=N`, `place=N`, `tile=N` and
    /// `allocate=N` allow `N` optional steps in a pass: in the last compilation if `functions` is given, otherwise in each.
    ///
    /// ```
    /// # use azulejo::Limits;
    /// assert!(Limits::of("functions=12,rewrite=3").is_ok());
    /// assert!(Limits::of("build=3").unwrap_err().to_string().starts_with("`build=3` is no limit"));
    /// ```
    pub fn of(text: &str) -> Result<Limits, BadLimit> {
        let mut limits =
            Limits { functions: u64::MAX, steps: Steps::default(), count: Arc::default(), report: None };
        for limit in text.split(',').map(str::trim).filter(|limit| !limit.is_empty()) {
            let bad = || BadLimit { text: limit.into() };
            let (name, number) = limit.split_once('=').ok_or_else(bad)?;
            let number = number.trim().parse().map_err(|_| bad())?;
            match name.trim() {
                "functions" => limits.functions = number,
                pass if limits.steps.set(pass, number) => {}
                _ => return Err(bad()),
            }
        }
        Ok(limits)
    }

    /// The limits of the environment: `JIT_LIMIT` has the text for [`of`](Limits::of), and `JIT_LIMIT_REPORT` names a file to
    /// which a line is added for each compilation.
    pub(super) fn of_environment() -> Option<&'static Limits> {
        static LIMITS: OnceBox<Option<Limits>> = OnceBox::new();
        once(&LIMITS, || {
            let report = std::env::var_os("JIT_LIMIT_REPORT").filter(|path| !path.is_empty());
            if std::env::var_os("JIT_LIMIT").is_none() && report.is_none() {
                return None;
            }
            let mut limits = asked("JIT_LIMIT", Limits::of)?;
            let open = |path| OpenOptions::new().create(true).append(true).open(path).ok();
            limits.report = report.and_then(open).map(Arc::new);
            Some(limits)
        })
    }

    /// Counts a compilation; an error if it is not allowed.
    pub(super) fn admit(&self, name: &str, form: Form) -> Result<Admitted<'_>, Error> {
        let number = self.count.fetch_add(1, Ordering::Relaxed) + 1;
        if number > self.functions {
            return Err(Error::Limited);
        }
        let admitted = Admitted { limits: self, number };
        admitted.report(&format!("{form} {name}"));
        Ok(admitted)
    }
}

/// A compilation that the limits allow.
#[derive(Debug)]
pub(super) struct Admitted<'a> {
    limits: &'a Limits,
    number: u64,
}

impl Admitted<'_> {
    /// How many optional steps it may take.
    pub(super) fn steps(&self) -> Steps {
        let Limits { functions, steps, .. } = self.limits;
        if *functions == u64::MAX || self.number == *functions { *steps } else { Steps::default() }
    }

    /// Reports how many optional steps it took.
    pub(super) fn took(&self, steps: [u64; Steps::PASSES.len()]) {
        let counts = std::iter::zip(Steps::PASSES, steps).map(|(pass, taken)| format!("{pass}={taken}"));
        self.report(&format!("took {}", counts.collect::<Vec<_>>().join(" ")));
    }

    /// Adds a line to the report, which starts with the compilation's number. It is written at once, because the program may
    /// crash at any time.
    fn report(&self, line: &str) {
        if let Some(mut file) = self.limits.report.as_deref() {
            let _ = file.write_all(format!("{} {}\n", self.number, one_line(line)).as_bytes());
        }
    }
}
