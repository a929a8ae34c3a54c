//! Errors of running programs: their values, their positions, and the names of what was wrong.
//!
//! In: the frames that wait where something fails. Out: an error value in [`Vm::error`], and [`Thrown`], which goes to whoever protects the
//! calls around. The handler of the innermost `xpcall` sees the error first, where it happens.
//!
//! A program that is stopped from outside ends, too, but nobody in it catches that: no `pcall`, no coroutine, no handler ([`Thrown::Ended`]).
//! It goes to the code of Rust which has called the program.

use crate::object::heap::Gc;
use crate::object::table::{KeyError, NO_MEMORY};
use crate::object::value::{Type, Value};
use crate::run::draft::{CALLEE, ITERATOR, NameKind, OperandName};
use crate::run::vm::{Prototype, THROWN, Vm};
use crate::syntax::chunk_id;
use azulejo::prelude::*;
use azulejo::{Frame, Frames};
use std::convert::Infallible;
use std::rc::Rc;

/// Why calls end.
// As large as a value, so that a result of either is in registers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u64)]
pub enum Thrown {
    /// An error, which the program may catch. Its value is in [`Vm::error`].
    Error,
    /// The program is over: [`Vm::ending`] says why.
    Ended,
}

impl From<Thrown> for Trap {
    fn from(thrown: Thrown) -> Trap {
        match thrown {
            Thrown::Error => THROWN,
            Thrown::Ended => Trap::Ended,
        }
    }
}

/// Who has stopped a program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Ending {
    /// An [`Interrupter`](crate::api::Interrupter).
    Interrupted,
    /// It has used up its fuel.
    OutOfFuel,
}

impl Ending {
    /// What people are told.
    pub(crate) fn text(self) -> &'static str {
        match self {
            Ending::Interrupted => "interrupted!",
            Ending::OutOfFuel => "out of fuel",
        }
    }
}

/// What a function of Rust gives: a value, or an error.
pub(crate) type Result<T> = std::result::Result<T, Thrown>;

/// What the innermost function of Lua does with a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Attempt {
    Index,
    Call,
    Arithmetic,
    Concatenate,
    Length,
}

impl Attempt {
    fn words(self) -> &'static str {
        match self {
            Attempt::Index => "index",
            Attempt::Call => "call",
            Attempt::Arithmetic => "perform arithmetic on",
            Attempt::Concatenate => "concatenate",
            Attempt::Length => "get length of",
        }
    }
}

/// The error of a handler that only fails.
pub(crate) const IN_HANDLER: &str = "error in error handling";

impl Vm {
    /// Fails with a value, which the handler of the innermost `xpcall` may replace.
    pub(crate) fn throw<T>(&mut self, frames: &Frames<'_>, value: Value) -> Result<T> {
        self.error = value;
        if let Some(Some(handler)) = self.handlers.last().copied() {
            self.error = self.handled(frames, handler, value)?;
        } else if let Some(thread) = self.coroutine
            && self.handlers.is_empty()
        {
            // The coroutine ends here, and may be asked later where that was.
            *thread.remains.borrow_mut() = self.trace(&self.levels(frames), 0, 0);
        }
        Err(Thrown::Error)
    }

    /// What a handler makes of an error. As in C's Lua it also sees the errors in itself, as long as it does not fail too often.
    pub(crate) fn handled(&mut self, frames: &Frames<'_>, handler: Value, value: Value) -> Result<Value> {
        /// C's Lua nests as many calls of its own.
        const MOST: usize = 220;
        if self.handling == MOST || handler.type_of() != Type::Function {
            return Ok(self.text(IN_HANDLER));
        }
        self.handlers.push(Some(handler));
        self.handling += 1;
        let result = self.call_value(frames, handler, &[value]);
        self.handling -= 1;
        self.handlers.pop();
        match result {
            Ok(value) if self.results.count > 0 => Ok(value),
            Ok(_) => Ok(Value::NIL),
            // It has made this of its own error.
            Err(Thrown::Error) => Ok(self.error),
            Err(Thrown::Ended) => Err(Thrown::Ended),
        }
    }

    /// Ends the program.
    pub(crate) fn stop<T>(&mut self, why: Ending) -> Result<T> {
        self.ending = why;
        Err(Thrown::Ended)
    }

    /// Fails with a message. In front of it is the line of the bytecode that runs, or that has called the function of Rust that runs.
    pub(crate) fn fail<T>(&mut self, frames: &Frames<'_>, message: impl AsRef<[u8]>) -> Result<T> {
        let mut text = self.caller(frames).map_or(Vec::new(), |frame| self.position_of(&frame));
        text.extend_from_slice(message.as_ref());
        let text = self.heap.string(&text);
        self.throw(frames, Value::string(text))
    }

    /// Whether a handler runs whose errors it sees itself.
    pub(crate) fn is_in_handler(&self) -> bool {
        self.handling > 0 && self.handlers.last().is_some_and(Option::is_some)
    }

    /// Fails because calls nest too deeply. The handler of the innermost `xpcall` sees all of them.
    pub(crate) fn overflowed(&mut self, frames: &Frames<'_>) -> Trap {
        if self.is_in_handler() {
            // No stack is left for calling it again.
            self.error = self.text(IN_HANDLER);
            return Thrown::Error.into();
        }
        match self.fail::<Infallible>(frames, "stack overflow") {
            Ok(never) => match never {},
            Err(thrown) => thrown.into(),
        }
    }

    /// Fails with a message, without a line.
    pub(crate) fn fail_plainly<T>(&mut self, frames: &Frames<'_>, message: impl AsRef<[u8]>) -> Result<T> {
        let message = self.heap.string(message.as_ref());
        self.throw(frames, Value::string(message))
    }

    /// Fails because there is no memory for what the program makes. As in C's Lua no handler is called, which would need some.
    #[cold]
    pub(crate) fn fail_for_memory<T>(&mut self) -> Result<T> {
        self.error = self.text(NO_MEMORY);
        Err(Thrown::Error)
    }

    /// Fails because a key cannot be assigned to.
    pub(crate) fn fail_on_key<T>(&mut self, frames: &Frames<'_>, error: KeyError) -> Result<T> {
        match error {
            KeyError::NoMemory => self.fail_for_memory(),
            _ => self.fail_in(frames, error.message()),
        }
    }

    /// Fails in an operation. A function of Rust that makes it has no line.
    pub(crate) fn fail_in<T>(&mut self, frames: &Frames<'_>, message: impl AsRef<[u8]>) -> Result<T> {
        match self.is_in_native(frames) {
            true => self.fail_plainly(frames, message),
            false => self.fail(frames, message),
        }
    }

    /// Fails because an operation is none of a value, which is an operand of the bytecode that runs.
    pub(crate) fn fail_on<T>(
        &mut self,
        frames: &Frames<'_>,
        operation: Attempt,
        operand: u32,
        value: Value,
    ) -> Result<T> {
        let frame = frames.iter().next().filter(|_| !self.is_in_native(frames));
        let name = frame.and_then(|frame| self.name_of(&frame, operand));
        let ty = value.type_of().name();
        let mut message = format!("attempt to {} ", operation.words()).into_bytes();
        match name {
            Some((kind, name)) => {
                message.extend_from_slice(kind.word().as_bytes());
                message.extend_from_slice(b" '");
                message.extend_from_slice(&name);
                message.extend_from_slice(format!("' (a {ty} value)").as_bytes());
            }
            None => message.extend_from_slice(format!("a {ty} value").as_bytes()),
        }
        self.fail_in(frames, message)
    }

    /// Fails because of an argument of a function of the library that is bytecode, at whose frame the program is.
    pub(crate) fn fail_as_builtin<T>(
        &mut self,
        frames: &Frames<'_>,
        number: u32,
        message: &str,
    ) -> Result<T> {
        let levels = self.levels(frames);
        let name = self.name_by(levels.get(1)).map_or(b"?"[..].into(), |(_, name)| name);
        let mut text = self.position_at(levels.get(1));
        text.extend_from_slice(format!("bad argument #{number} to '").as_bytes());
        text.extend_from_slice(&[&name[..], b"' (", message.as_bytes(), b")"].concat());
        self.fail_plainly(frames, text)
    }

    /// What a bytecode that waits calls one of its operands.
    pub(crate) fn name_of(&self, frame: &Frame<'_>, operand: u32) -> Option<(NameKind, Rc<[u8]>)> {
        let prototype = self.prototype_of(frame)?;
        let at = frame.bytecode();
        let start = prototype.names.partition_point(|name| name.at < at);
        let mut names = prototype.names[start..].iter().take_while(|name| name.at == at);
        names.find(|name| name.operand == operand).map(|name| (name.kind, name.name.clone()))
    }

    /// What a bytecode that waits calls the function that it has called; `None` if it is no call.
    pub(crate) fn callee_name(&self, frame: &Frame<'_>) -> Option<(NameKind, Rc<[u8]>)> {
        self.name_of(frame, CALLEE).or_else(|| self.name_of(frame, ITERATOR))
    }

    /// Whether it is known that a frame has called another function than the one that has been running since then.
    pub(crate) fn has_lost_a_call(&self, caller: &Frame<'_>, callee: &Frame<'_>) -> bool {
        let [caller_made, callee_made] = [caller, callee].map(|frame| self.prototype_of(frame));
        let Some((Some(source), names)) = caller_made.map(|made| (&made.text, &made.names)) else {
            return false;
        };
        let is_it = |name: &&OperandName| name.at == caller.bytecode() && name.operand == CALLEE;
        let Some(called) = names.iter().find(is_it).and_then(|name| name.function) else { return false };
        let found = callee_made.and_then(|made| made.text.as_ref());
        !found.is_some_and(|found| Rc::ptr_eq(&found.0, &source.0) && found.1.bytes.start == called)
    }

    /// What the function of a frame was made from.
    pub(crate) fn prototype_of(&self, frame: &Frame<'_>) -> Option<&Rc<Prototype>> {
        self.prototypes.get(frame.function().number() as usize)?.as_ref()
    }

    /// The chunk and the line where a frame is, with a colon and a space behind; nothing for functions that no chunk has.
    pub(crate) fn position_of(&self, frame: &Frame<'_>) -> Vec<u8> {
        match self.prototype_of(frame) {
            Some(prototype) if !prototype.lines.is_empty() => {
                let mut text = chunk_id(&prototype.chunk);
                text.extend_from_slice(
                    format!(":{}: ", prototype.lines[frame.bytecode() as usize]).as_bytes(),
                );
                text
            }
            _ => Vec::new(),
        }
    }

    /// The value of an error that no Lua code has made, in a call from these frames. If a handler has used up the stack, nobody knows where,
    /// but which call it was.
    pub(crate) fn value_of_trap(&mut self, frames: &Frames<'_>, trap: Trap) -> Value {
        if trap != Trap::StackOverflow {
            return self.trap_value(trap);
        }
        let place = frames.iter().map(|frame| self.position_of(&frame)).find(|place| !place.is_empty());
        let text = [&place.unwrap_or_default()[..], b"stack overflow"].concat();
        Value::string(self.heap.string(&text))
    }

    /// The value of an error that no Lua code has made.
    pub(crate) fn error_value(&mut self, error: azulejo::Error) -> Value {
        match error {
            azulejo::Error::Trap { trap, .. } => self.trap_value(trap),
            azulejo::Error::StackOverflow => self.text("stack overflow"),
            other => self.text(&other.to_string()),
        }
    }

    /// Likewise, of a trap.
    pub(crate) fn trap_value(&mut self, trap: Trap) -> Value {
        match trap {
            THROWN => self.error,
            Trap::StackOverflow => self.text("stack overflow"),
            Trap::AcrossRust => self.text("attempt to yield across metamethod/C-call boundary"),
            Trap::NotInFiber => self.text("attempt to yield across metamethod/C-call boundary"),
            other => self.text(&other.to_string()),
        }
    }

    /// A string value.
    pub(crate) fn text(&mut self, text: &str) -> Value {
        let string: Gc<_> = self.heap.string(text.as_bytes());
        Value::string(string)
    }
}
