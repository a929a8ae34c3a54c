//! The stack as the program sees it: functions of Lua and of Rust that wait for each other.
//!
//! In: the frames of bytecode, and the functions of Rust that run. Out: levels, the innermost first. Holds: what has ended in a tail call
//! has left no level, but for one that stands for all that have, if it is known which function was called first.
//!
//! Each function of Rust that runs has an [`Activation`] on the machine's stack. It has the frames that wait for it, and so
//! its place among them. Nobody looks at activations but errors and the library `debug`.

use crate::object::function::Native;
use crate::object::heap::{Gc, Marker};
use crate::object::thread::Thread;
use crate::object::value::{FUNCTION, Value};
use crate::run::draft::NameKind;
use crate::run::vm::{Prototype, Vm};
use crate::syntax::chunk_id;
use azulejo::{Frame, Frames};
use std::rc::Rc;

/// A function of Rust that runs.
#[derive(Debug)]
pub(crate) struct Activation {
    /// The one that was called before it, and still runs; null if there is none.
    before: *const Activation,
    native: Gc<Native>,
    /// Its arguments, which may be in registers that are not read again, or in none.
    arguments: *const [Value],
    /// The frames that wait for it, which stay where they are as long as it runs.
    frames: *const (),
}

impl Activation {
    fn frames(&self) -> &Frames<'_> {
        // SAFETY: an activation has the frames that a function of Rust was called with, and that runs.
        unsafe { &*self.frames.cast() }
    }
}

/// Ends an activation, be it that the function panics.
struct Running<'vm> {
    vm: &'vm mut Vm,
    before: *const Activation,
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.vm.running = self.before;
    }
}

/// A function of Rust that runs, and those that wait for it.
fn activations<'a>(running: *const Activation) -> impl Iterator<Item = &'a Activation> {
    let mut next = running;
    std::iter::from_fn(move || {
        // SAFETY: what is in the list runs.
        let activation = unsafe { next.as_ref() }?;
        next = activation.before;
        Some(activation)
    })
}

/// Marks what functions of Rust that run have.
pub(crate) fn trace_activations(running: *const Activation, marker: &mut Marker<'_>) {
    for activation in activations(running) {
        marker.object(activation.native.header());
        // SAFETY: a function that runs has its arguments.
        unsafe { &*activation.arguments }.iter().for_each(|argument| marker.value(*argument));
    }
}

impl Vm {
    /// Lets a function of Rust run.
    #[inline]
    pub(crate) fn activated<T>(
        &mut self,
        native: Gc<Native>,
        frames: &Frames<'_>,
        arguments: &[Value],
        run: impl FnOnce(&mut Vm) -> T,
    ) -> T {
        let before = self.running;
        let activation = Activation { before, native, arguments, frames: std::ptr::from_ref(frames).cast() };
        self.running = &activation;
        let running = Running { vm: self, before };
        run(&mut *running.vm)
    }

    /// Lets the function of Rust that runs end in a call, which takes its place: who has called it is at fault if that fails.
    pub(crate) fn in_place<T>(&mut self, call: impl FnOnce(&mut Vm) -> T) -> T {
        let running = self.running;
        // SAFETY: what is in the list runs.
        self.running = unsafe { running.as_ref() }.map_or(running, |activation| activation.before);
        let result = call(self);
        self.running = running;
        result
    }

    /// The functions of Rust that run, the innermost first.
    fn activations(&self) -> impl Iterator<Item = &Activation> {
        activations(self.running)
    }

    /// All functions of Rust that run.
    pub(crate) fn natives(&self) -> impl Iterator<Item = Gc<Native>> {
        self.activations().map(|activation| activation.native)
    }

    /// The function of Rust that runs.
    pub(crate) fn native(&self) -> Option<Gc<Native>> {
        self.natives().next()
    }

    /// Whether it is a function of Rust that runs at the top of these frames, and no bytecode.
    pub(crate) fn is_in_native(&self, frames: &Frames<'_>) -> bool {
        self.activations().next().is_some_and(|activation| activation.frames() == frames)
    }

    /// The frame whose bytecode runs, or has called the function of Rust that runs; `None` if a function of Rust has called that.
    pub(crate) fn caller<'a>(&self, frames: &'a Frames<'_>) -> Option<Frame<'a>> {
        let mut here = self.activations().take_while(|activation| activation.frames() == frames);
        match (here.next(), here.next()) {
            (Some(_), Some(_)) => None,
            _ => frames.iter().next(),
        }
    }
}

/// A function that runs or waits.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Level<'a> {
    /// A function of bytecode.
    Frame(Frame<'a>),
    /// A function of Rust, and its arguments.
    Native(Gc<Native>, &'a [Value]),
    /// Functions that have ended in tail calls.
    TailCall,
    /// What has called the first function of the program: [`Vm::outside`].
    Outside(Value),
}

impl<'a> Level<'a> {
    /// The function, unless its code does not need it any more.
    pub(crate) fn function(&self) -> Option<Value> {
        match self {
            Level::Frame(frame) => frame.get(0).map(Value),
            Level::Native(native, _) => Some(Value::object(FUNCTION, *native)),
            Level::TailCall => None,
            Level::Outside(function) => Some(*function),
        }
    }

    /// The frame, if it is of bytecode.
    pub(crate) fn frame(&self) -> Option<&Frame<'a>> {
        match self {
            Level::Frame(frame) => Some(frame),
            _ => None,
        }
    }
}

impl Vm {
    /// All levels of the coroutine that runs, or of the program.
    pub(crate) fn levels<'a>(&self, frames: &'a Frames<'_>) -> Vec<Level<'a>> {
        let thread = self.coroutine;
        let outer: *const Activation = thread.map_or(std::ptr::null(), |thread| thread.resumer.get().cast());
        // SAFETY: who has resumed the coroutine waits for it.
        let outer_frames = unsafe { outer.as_ref() }.map_or(0, |outer| outer.frames().iter().count());
        let mut frames: Vec<Frame<'a>> = frames.iter().collect();
        frames.truncate(frames.len() - outer_frames);
        let mut levels = Vec::new();
        let mut natives = self
            .activations()
            .take_while(|activation| !std::ptr::eq(*activation, outer))
            .map(|activation| {
                let depth = activation.frames().iter().count() - outer_frames;
                // SAFETY: a function that runs has its arguments, and runs as long as the frames that wait for it are looked at.
                (depth, Level::Native(activation.native, unsafe { &*activation.arguments }))
            })
            .peekable();
        let mut left = frames.len();
        let mut callee = None;
        for frame in frames {
            while let Some((_, native)) = natives.next_if(|(depth, _)| *depth >= left) {
                levels.push(native);
                callee = None;
            }
            self.push_frame(&mut levels, callee.replace(frame), frame);
            left -= 1;
        }
        levels.extend(natives.map(|(_, native)| native));
        levels.extend(thread.is_none().then_some(Level::Outside(self.outside)));
        levels
    }

    /// Adds the level of a frame, behind that of one that it has called.
    fn push_frame<'a>(&self, levels: &mut Vec<Level<'a>>, callee: Option<Frame<'a>>, frame: Frame<'a>) {
        let has_lost = callee.is_some_and(|callee| self.has_lost_a_call(&frame, &callee));
        levels.extend(has_lost.then_some(Level::TailCall));
        levels.push(Level::Frame(frame));
    }

    /// The levels of a coroutine, which may be the one that runs.
    pub(crate) fn levels_of<T>(
        &self,
        thread: Gc<Thread>,
        frames: &Frames<'_>,
        look: impl FnOnce(&Vm, &[Level<'_>]) -> T,
    ) -> T {
        if self.coroutine == Some(thread) {
            return look(self, &self.levels(frames));
        }
        thread.with_stack(|stack| {
            let frames = stack.map_or(Frames::none(), |stack| stack.frames());
            let (mut levels, mut callee) = (Vec::new(), None);
            frames.iter().for_each(|frame| self.push_frame(&mut levels, callee.replace(frame), frame));
            look(self, &levels)
        })
    }

    /// What the function at a level was made from, if it is one of Lua.
    pub(crate) fn prototype_at(&self, level: &Level<'_>) -> Option<&Rc<Prototype>> {
        self.prototype_of(level.frame()?).filter(|prototype| !prototype.lines.is_empty())
    }

    /// What the level behind it has called a function.
    pub(crate) fn name_by(&self, caller: Option<&Level<'_>>) -> Option<(NameKind, Rc<[u8]>)> {
        self.callee_name(caller?.frame()?)
    }

    /// The chunk and the line of a level, with a colon and a space behind; nothing if it is not of Lua.
    pub(crate) fn position_at(&self, level: Option<&Level<'_>>) -> Vec<u8> {
        level.and_then(Level::frame).map_or(Vec::new(), |frame| self.position_of(frame))
    }

    /// The stack as text, as `debug.traceback` gives it. C's Lua has so many more levels in front, which it does not show either.
    pub(crate) fn traceback(
        &self,
        levels: &[Level<'_>],
        message: Option<&[u8]>,
        level: usize,
        more: usize,
    ) -> Vec<u8> {
        let mut text = message.map(|message| [message, b"\n"].concat()).unwrap_or_default();
        text.extend_from_slice(b"stack traceback:");
        self.trace(levels, level, more).iter().for_each(|line| text.extend_from_slice(line));
        text
    }

    /// The lines of the levels, some in the middle left out if they are many.
    pub(crate) fn trace(&self, levels: &[Level<'_>], first: usize, more: usize) -> Vec<Vec<u8>> {
        /// Up to this level all are shown, and so many at the end.
        const HEAD: usize = 12;
        const LAST: usize = 10;
        let mut lines = Vec::new();
        let (mut at, mut is_head) = (first, true);
        while at < levels.len() {
            if at + more >= HEAD && is_head {
                is_head = false;
                if at + 1 + LAST < levels.len() {
                    lines.push(b"\n\t...".to_vec());
                    at = levels.len() - LAST;
                    continue;
                }
            }
            lines.push(self.trace_line(&levels[at], levels.get(at + 1)));
            at += 1;
        }
        lines
    }

    fn trace_line(&self, level: &Level<'_>, caller: Option<&Level<'_>>) -> Vec<u8> {
        if let Level::TailCall = level {
            return b"\n\t(tail call): ?".to_vec();
        }
        let prototype = self.prototype_at(level);
        let mut text = b"\n\t".to_vec();
        match (prototype, level.frame()) {
            (Some(prototype), Some(frame)) => {
                text.extend_from_slice(&chunk_id(&prototype.chunk));
                text.extend_from_slice(
                    format!(":{}:", prototype.lines[frame.bytecode() as usize]).as_bytes(),
                );
            }
            _ => text.extend_from_slice(b"[C]:"),
        }
        match (self.name_by(caller), prototype) {
            (Some((_, name)), _) => text.extend_from_slice(&[b" in function '", &name[..], b"'"].concat()),
            (_, None) => text.extend_from_slice(b" ?"),
            (_, Some(prototype)) if prototype.span.0 == 0 => text.extend_from_slice(b" in main chunk"),
            (_, Some(prototype)) => {
                text.extend_from_slice(b" in function <");
                text.extend_from_slice(&chunk_id(&prototype.chunk));
                text.extend_from_slice(format!(":{}>", prototype.span.0).as_bytes());
            }
        }
        text
    }
}
