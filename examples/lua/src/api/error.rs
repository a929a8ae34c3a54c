//! Errors.

use super::LuaThrown;
use super::handle::Lua;
use crate::object::heap::Gc;
use crate::object::table::{Room, Table};
use crate::object::value::Value;
use crate::run::error::{Ending, Result, Thrown};
use crate::run::vm::Vm;
use azulejo::Frames;
use std::any::TypeId;
use std::error::Error;
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

/// Why something has failed. It may go to any thread, and be in any type of errors.
///
/// ```
/// use azulejo_lua::api::Lua;
/// use std::error::Error;
///
/// fn run(code: &str) -> Result<i64, Box<dyn Error + Send + Sync>> {
///     Ok(Lua::new().load(code).eval::<i64>()?)
/// }
///
/// assert_eq!(run("6 * 7").ok(), Some(42));
/// assert!(run("error({})").is_err_and(|error| error.to_string() == "(error object is a table value)"));
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum LuaError {
    /// The text of a chunk is no Lua.
    Syntax {
        /// What is wrong, and where.
        message: String,
        /// Whether the text ends too early, so that more of it might be right.
        is_incomplete: bool,
    },
    /// Lua code has failed with a message, or `error` was called with a string.
    Runtime(LuaMessage),
    /// `error` was called with a value that is no string.
    Thrown(LuaThrown),
    /// A value is not of the type that Rust code expects.
    Conversion {
        /// What the value is.
        from: &'static str,
        /// What was expected.
        to: &'static str,
        /// Which of several arguments or results it is, counted from 1; 0 if there is only one value.
        position: usize,
    },
    /// Code of Rust that Lua code has called has failed.
    External(Arc<dyn Error + Send + Sync>),
    /// An [`Interrupter`](super::Interrupter) has stopped the program. Lua code does not catch this.
    Interrupted,
    /// The program has used up its fuel: see [`LuaBuilder::fuel`](super::LuaBuilder::fuel). Lua code does not catch this.
    OutOfFuel,
    /// A handle belongs to another program.
    OtherProgram,
}

/// What an error says, and where it has come from: a text, from which it can be made.
#[derive(Clone, Debug)]
pub struct LuaMessage {
    text: String,
    traceback: Option<Arc<str>>,
}

impl Deref for LuaMessage {
    type Target = str;

    fn deref(&self) -> &str {
        &self.text
    }
}

impl<T: Into<String>> From<T> for LuaMessage {
    fn from(text: T) -> LuaMessage {
        LuaMessage { text: text.into(), traceback: None }
    }
}

impl fmt::Display for LuaMessage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self)
    }
}

impl LuaError {
    /// Where Lua code has failed: what `debug.traceback` says there. `None` for other errors, for those with values that are no strings, and for
    /// those of coroutines.
    ///
    /// ```
    /// use azulejo_lua::api::Lua;
    ///
    /// let lua = Lua::new();
    /// let code = "local function fail() local x = nil + 1 end\nfail()";
    /// let error = lua.load(code).set_name("a.lua").exec().unwrap_err();
    /// assert_eq!(error.to_string(), "a.lua:1: attempt to perform arithmetic on a nil value");
    /// let lines = ["stack traceback:", "\ta.lua:1: in function 'fail'", "\ta.lua:2: in main chunk", "\t[C]: ?"];
    /// assert_eq!(error.traceback(), Some(&*lines.join("\n")));
    /// assert_eq!(lua.load("x x").exec().unwrap_err().traceback(), None);
    /// ```
    pub fn traceback(&self) -> Option<&str> {
        match self {
            LuaError::Runtime(message) => message.traceback.as_deref(),
            _ => None,
        }
    }

    /// An error of Rust code, for Lua code that has called it.
    ///
    /// ```
    /// use azulejo_lua::api::LuaError;
    ///
    /// let error = LuaError::external("1".parse::<i32>().map(drop).map_or_else(|e| e.to_string(), |()| "none".into()));
    /// assert_eq!(error.to_string(), "none");
    /// ```
    pub fn external(error: impl Into<Box<dyn Error + Send + Sync>>) -> LuaError {
        LuaError::External(Arc::from(error.into()))
    }

    /// A value that is not of the expected type.
    pub(super) fn conversion(from: &'static str, to: &'static str) -> LuaError {
        LuaError::Conversion { from, to, position: 0 }
    }

    /// The value of an error that Lua code has raised, and that a function of Rust passes on: it says already where that was.
    pub(super) fn passed_on(&self, vm: &mut Vm) -> Option<Value> {
        match self {
            LuaError::Syntax { message, .. } => Some(vm.text(message)),
            LuaError::Runtime(message) => {
                let last = vm.error.as_string()?;
                (String::from_utf8_lossy(last.bytes()) == **message).then_some(vm.error)
            }
            _ => None,
        }
    }

    /// The stack would not do for all values in a value.
    #[cfg(feature = "serde")]
    pub(super) fn nests_too_deep() -> LuaError {
        LuaError::Runtime("a value nests too deep, or contains itself".into())
    }

    /// The error of a value that stands behind so many others.
    pub(super) fn behind(self, others: usize) -> LuaError {
        match self {
            LuaError::Conversion { from, to, position } => {
                LuaError::Conversion { from, to, position: position.max(1) + others }
            }
            error => error,
        }
    }
}

impl fmt::Display for LuaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LuaError::Syntax { message, .. } => f.write_str(message),
            LuaError::Runtime(message) => f.write_str(message),
            LuaError::Thrown(value) => write!(f, "(error object is a {} value)", value.type_name()),
            LuaError::Conversion { from, to, .. } => write!(f, "{to} expected, got {from}"),
            LuaError::External(error) => error.fmt(f),
            LuaError::Interrupted => f.write_str(Ending::Interrupted.text()),
            LuaError::OutOfFuel => f.write_str(Ending::OutOfFuel.text()),
            LuaError::OtherProgram => f.write_str("a value belongs to another program"),
        }
    }
}

impl Error for LuaError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            LuaError::External(error) => Some(&**error),
            _ => None,
        }
    }
}

/// An error of Rust as a value of Lua.
struct CarriedError(LuaError);

impl Lua {
    /// The error by which the program has failed.
    pub(super) fn failure(&self, thrown: Thrown) -> LuaError {
        let (ending, error) = self.with(|vm, _| {
            let error = vm.error;
            // A text may be passed on as it is, by a function of Rust.
            if error.as_string().is_none() {
                vm.error = Value::NIL;
            }
            (vm.ending, error)
        });
        match (thrown, ending) {
            (Thrown::Error, _) => self.error(error),
            (Thrown::Ended, Ending::Interrupted) => {
                self.has_stopped();
                LuaError::Interrupted
            }
            (Thrown::Ended, Ending::OutOfFuel) => LuaError::OutOfFuel,
        }
    }

    /// The error that has this value.
    pub(super) fn error(&self, value: Value) -> LuaError {
        if let Some(text) = value.as_string() {
            let text = String::from_utf8_lossy(text.bytes()).into_owned();
            let traceback = self.with(|vm, _| vm.failed_at.take());
            return LuaError::Runtime(LuaMessage { text, traceback });
        }
        let carried = value
            .as_userdata()
            .and_then(|userdata| userdata.value.downcast_ref::<CarriedError>().map(|it| it.0.clone()));
        carried.unwrap_or_else(|| LuaError::Thrown(self.thrown(value)))
    }

    /// The value that has this error, for Lua code.
    pub(super) fn error_value(&self, error: LuaError) -> Value {
        match error {
            LuaError::Syntax { message, .. } => self.with(|vm, _| vm.text(&message)),
            LuaError::Runtime(message) => self.with(|vm, _| vm.text(&message)),
            LuaError::Thrown(value) => match value.bits(self) {
                Ok(value) => value,
                Err(error) => self.with(|vm, _| vm.text(&error.to_string())),
            },
            LuaError::External(_) => self.with(|vm, _| {
                let userdata = vm.heap.userdata(Box::new(CarriedError(error)));
                let meta = vm.error_metatable();
                vm.heap.set_userdata_metatable(userdata, Some(meta));
                Value::object(crate::object::value::USERDATA, userdata)
            }),
            other => self.with(|vm, _| vm.text(&other.to_string())),
        }
    }
}

/// Notes where an error is raised that goes to code of Rust. It stays as it is.
fn note(vm: &mut Vm, frames: &Frames<'_>, args: &[Value]) -> Result<Value> {
    if args[0].as_string().is_none() {
        // Nobody is told where that was.
        return Ok(args[0]);
    }
    // The first level is this function.
    let text = vm.traceback(&vm.levels(frames), None, 1, 0);
    vm.failed_at = Some(String::from_utf8_lossy(&text).into());
    Ok(args[0])
}

impl Vm {
    /// What sees the errors first that go to code of Rust.
    pub(super) fn noting(&mut self) -> Value {
        if self.notes.is_nil() {
            self.notes = self.native_function("?", note, &[]);
        }
        self.notes
    }

    /// Fails with an error that a function of Rust passes on: it has come from where it was raised first.
    pub(super) fn pass_on<T>(&mut self, frames: &Frames<'_>, error: &LuaError, value: Value) -> Result<T> {
        if self.handlers.last() == Some(&Some(self.notes))
            && let LuaError::Runtime(LuaMessage { traceback: Some(traceback), .. }) = error
        {
            // Whoever gets it is told where that was. To look anew at all that runs takes long where Rust and Lua call each other many times.
            self.failed_at = Some(Arc::clone(traceback));
            self.error = value;
            return Err(Thrown::Error);
        }
        self.throw(frames, value)
    }
}

/// What `tostring` makes of an error of Rust.
fn text_of(vm: &mut Vm, _: &Frames<'_>, args: &[Value]) -> Result<Value> {
    let userdata = args.first().and_then(|value| value.as_userdata());
    let carried = userdata
        .and_then(|userdata| userdata.value.downcast_ref::<CarriedError>().map(|it| it.0.to_string()));
    Ok(vm.text(&carried.unwrap_or_default()))
}

impl Vm {
    /// The metatable of errors of Rust.
    fn error_metatable(&mut self) -> Gc<Table> {
        if let Some(known) = self.rust_types.get(&TypeId::of::<CarriedError>()) {
            return *known;
        }
        let meta = self.heap.table(Room::default());
        let text_of = self.native_function("?", text_of, &[]);
        self.set_field_of(meta, "__tostring", text_of);
        self.rust_types.insert(TypeId::of::<CarriedError>(), meta);
        meta
    }
}
