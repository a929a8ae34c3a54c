//! What programs may ask about themselves.

use super::arguments::{self, any};
use super::base::environment;
use crate::object::function::{Closure, VarCell};
use crate::object::heap::{Gc, ObjectKind};
use crate::object::table::{Room, Table};
use crate::object::thread::{Status, Thread};
use crate::object::value::{FUNCTION, THREAD, Type, Value};
use crate::run::draft::NameKind;
use crate::run::error::Result;
use crate::run::levels::Level;
use crate::run::slow::NativeFunction;
use crate::run::vm::{Prototype, Vm, lua_prototype, prototype};
use crate::syntax::ast::Line;
use crate::syntax::chunk_id;
use azulejo::Frames;
use std::cell::Cell;
use std::rc::Rc;

const FUNCTIONS: &[(&str, NativeFunction)] = &[
    ("getfenv", getfenv),
    ("getinfo", getinfo),
    ("getmetatable", getmetatable),
    ("getregistry", getregistry),
    ("getupvalue", getupvalue),
    ("setfenv", setfenv),
    ("setmetatable", setmetatable),
    ("setupvalue", setupvalue),
    ("traceback", traceback),
];

impl Vm {
    /// Adds the table `debug` to the global variables.
    pub(crate) fn open_debug(&mut self) {
        let table = self.heap.table(Room { slots: 16, elements: 0 });
        let globals = self.globals;
        self.set_field_of(globals, "debug", Value::table(table));
        self.add_natives(table, FUNCTIONS);
        self.add_natives(table, super::watching::FUNCTIONS);
        self.outside = self.native_function("?", begin, &[]);
    }
}

/// Runs the program, which is what C's Lua shows there. A program that gets hold of it runs already.
fn begin(vm: &mut Vm, frames: &Frames<'_>, _: &[Value]) -> Result<Value> {
    vm.fail(frames, "the program has begun")
}

fn getmetatable(vm: &mut Vm, frames: &Frames<'_>, args: &[Value]) -> Result<Value> {
    let value = any(vm, frames, args, 0)?;
    Ok(vm.metatable(value).map_or(Value::NIL, Value::table))
}

fn setmetatable(vm: &mut Vm, frames: &Frames<'_>, args: &[Value]) -> Result<Value> {
    let value = args.first().copied().unwrap_or(Value::NIL);
    let meta = args.get(1).copied();
    if !meta.is_some_and(|meta| meta.is_nil() || meta.as_table().is_some()) {
        return arguments::fail(vm, frames, 1, "nil or table expected");
    }
    let meta = meta.and_then(Value::as_table);
    match value.type_of() {
        Type::Table => vm.heap.set_metatable(value.as_table().expect("it is one"), meta),
        Type::Userdata => vm.heap.set_userdata_metatable(value.as_userdata().expect("it is one"), meta),
        other => {
            vm.metatables[other as usize] = meta;
            // Bytecodes know methods of strings.
            vm.heap.epoch += 1;
        }
    }
    Ok(Value::TRUE)
}

fn getregistry(vm: &mut Vm, _: &Frames<'_>, _: &[Value]) -> Result<Value> {
    let registry = match vm.registry {
        Some(registry) => registry,
        None => {
            let registry = *vm.registry.insert(vm.heap.table(Room::default()));
            let modules = vm.package_field("loaded");
            vm.set_field_of(registry, "_LOADED", modules);
            registry
        }
    };
    Ok(Value::table(registry))
}

fn getfenv(vm: &mut Vm, frames: &Frames<'_>, args: &[Value]) -> Result<Value> {
    let value = any(vm, frames, args, 0)?;
    let of_userdata = value.as_userdata().and_then(|userdata| userdata.environment.get());
    let of_function = environment(value).map(|environment| environment.get());
    let of_thread = value.as_object::<Thread>(THREAD).filter(|_| value.type_of() == Type::Thread);
    let of_thread = of_thread.map(|thread| thread.globals.get().unwrap_or(vm.globals));
    // A userdata has that of whatever has made it.
    let of_userdata = value.as_userdata().map(|_| of_userdata.unwrap_or(vm.globals));
    Ok(of_function.or(of_thread).or(of_userdata).map_or(Value::NIL, Value::table))
}

fn setfenv(vm: &mut Vm, frames: &Frames<'_>, args: &[Value]) -> Result<Value> {
    let to = arguments::table(vm, frames, args, 1)?;
    let thread = args[0].as_object::<Thread>(THREAD).filter(|_| args[0].type_of() == Type::Thread);
    match (environment(args[0]), args[0].as_userdata(), thread) {
        (Some(environment), ..) => environment.set(to),
        (_, Some(userdata), _) => userdata.environment.set(Some(to)),
        (.., Some(thread)) => thread.globals.set(Some(to)),
        _ => return vm.fail(frames, "'setfenv' cannot change environment of given object"),
    }
    args[0].header().into_iter().for_each(|object| vm.heap.again(object));
    Ok(args[0])
}

/// An upvalue of a closure: its name, where its value is, and whether that is in a cell.
type FoundUpvalue = (Rc<[u8]>, &'static Cell<Value>, bool);

/// The upvalue that two arguments mean.
fn upvalue(vm: &mut Vm, frames: &Frames<'_>, args: &[Value]) -> Result<Option<FoundUpvalue>> {
    let number = arguments::int(vm, frames, args, 1)?;
    let function = arguments::function(vm, frames, args, 0)?;
    if function.object_kind() != Some(ObjectKind::Closure) {
        return Ok(None);
    }
    let closure: Gc<Closure> = function.as_object(FUNCTION).expect("it is a function");
    let at = (number as usize).wrapping_sub(1);
    let prototype = prototype(closure);
    let Some((name, is_shared)) = prototype.upvalues.get(at) else { return Ok(None) };
    // SAFETY: the closure stays while its upvalue is used.
    let place = unsafe { &(*closure.pointer()).upvalues()[at] };
    Ok(Some((name.clone(), place, *is_shared)))
}

/// The cell that an upvalue is in.
fn cell(value: Value) -> Gc<VarCell> {
    value.as_object(THREAD).expect("a variable that is shared is in a cell")
}

fn getupvalue(vm: &mut Vm, frames: &Frames<'_>, args: &[Value]) -> Result<Value> {
    let Some((name, place, is_shared)) = upvalue(vm, frames, args)? else { return Ok(vm.give(&[])) };
    let value = if is_shared { cell(place.get()).value.get() } else { place.get() };
    let name = Value::string(vm.heap.string(&name));
    Ok(vm.give(&[name, value]))
}

fn setupvalue(vm: &mut Vm, frames: &Frames<'_>, args: &[Value]) -> Result<Value> {
    let value = any(vm, frames, args, 2)?;
    let Some((name, place, is_shared)) = upvalue(vm, frames, args)? else { return Ok(vm.give(&[])) };
    let object = match is_shared {
        true => {
            cell(place.get()).value.set(value);
            cell(place.get()).header()
        }
        // The compiler believed that nobody assigns to it; all that reads it reads it here.
        false => {
            place.set(value);
            args[0].header().expect("it is a function")
        }
    };
    vm.heap.again(object);
    Ok(Value::string(vm.heap.string(&name)))
}

/// What `getinfo` is asked about.
struct Subject {
    function: Option<Value>,
    prototype: Option<Rc<Prototype>>,
    line: Option<Line>,
    name: Option<(NameKind, Rc<[u8]>)>,
    /// Whether it stands for functions that have ended in tail calls.
    is_tail_call: bool,
}

impl Subject {
    fn of_function(function: Value) -> Subject {
        let prototype = lua_prototype(function);
        Subject { function: Some(function), prototype, line: None, name: None, is_tail_call: false }
    }

    /// What stands for functions that have ended in tail calls.
    fn of_tail_calls() -> Subject {
        Subject { function: None, prototype: None, line: None, name: None, is_tail_call: true }
    }

    fn of_level(vm: &Vm, levels: &[Level<'_>], level: usize) -> Option<Subject> {
        let at = levels.get(level)?;
        let prototype = vm.prototype_at(at).cloned();
        let line = prototype.as_ref().zip(at.frame()).map(|(of, frame)| of.lines[frame.bytecode() as usize]);
        let is_tail_call = matches!(at, Level::TailCall);
        let name = vm.name_by(levels.get(level + 1)).filter(|_| !is_tail_call);
        Some(Subject { function: at.function(), prototype, line, name, is_tail_call })
    }
}

/// The coroutine that an argument in front of the others says, and the others.
pub(super) fn thread_first(args: &[Value]) -> (Option<Gc<Thread>>, &[Value]) {
    match args
        .first()
        .filter(|value| value.type_of() == Type::Thread)
        .and_then(|value| value.as_object(THREAD))
    {
        Some(thread) => (Some(thread), &args[1..]),
        None => (None, args),
    }
}

/// Looks at the levels of a coroutine, or of what runs.
pub(super) fn at_levels<T>(
    vm: &Vm,
    frames: &Frames<'_>,
    thread: Option<Gc<Thread>>,
    look: impl FnOnce(&Vm, &[Level<'_>]) -> T,
) -> T {
    match thread {
        Some(thread) => vm.levels_of(thread, frames, look),
        None => look(vm, &vm.levels(frames)),
    }
}

fn getinfo(vm: &mut Vm, frames: &Frames<'_>, args: &[Value]) -> Result<Value> {
    let (thread, rest) = thread_first(args);
    let before = args.len() - rest.len();
    let what = match rest.get(1) {
        None | Some(&Value::NIL) => b"flnSu".to_vec(),
        Some(_) => arguments::string(vm, frames, args, before + 1)?.bytes().to_vec(),
    };
    let subject = match rest.first().copied() {
        Some(function) if function.type_of() == Type::Function => Subject::of_function(function),
        Some(level) if Vm::to_number(level).is_some() => {
            let level = arguments::int(vm, frames, args, before)?;
            let find = |vm: &Vm, levels: &[Level<'_>]| match usize::try_from(level) {
                Ok(level) => Subject::of_level(vm, levels, level),
                // As in C's Lua.
                Err(_) => Some(Subject::of_tail_calls()),
            };
            let Some(subject) = at_levels(vm, frames, thread, find) else { return Ok(Value::NIL) };
            subject
        }
        _ => return arguments::fail(vm, frames, before, "function or level expected"),
    };
    if what.iter().any(|option| !b"nSlufL".contains(option)) {
        return arguments::fail(vm, frames, before + 1, "invalid option");
    }
    let info = vm.heap.table(Room { slots: 12, elements: 0 });
    what.iter().for_each(|option| vm.tell(info, &subject, *option));
    Ok(Value::table(info))
}

impl Vm {
    /// Adds to a table what one option of `getinfo` asks for.
    fn tell(&mut self, info: Gc<Table>, subject: &Subject, option: u8) {
        let prototype = subject.prototype.clone();
        match option {
            b'S' => {
                let other = if subject.is_tail_call { b"=(tail call)".to_vec() } else { b"=[C]".to_vec() };
                let chunk = prototype.as_ref().map_or(other, |prototype| prototype.chunk.to_vec());
                let short = chunk_id(&chunk);
                let (first, last) =
                    prototype.as_ref().map_or((-1.0, -1.0), |of| (of.span.0 as f64, of.span.1 as f64));
                let what = match &prototype {
                    None if subject.is_tail_call => "tail",
                    None => "C",
                    Some(of) if of.span.0 == 0 => "main",
                    Some(_) => "Lua",
                };
                let [source, short] = [chunk, short].map(|text| Value::string(self.heap.string(&text)));
                let what = self.text(what);
                self.set_field_of(info, "source", source);
                self.set_field_of(info, "short_src", short);
                self.set_field_of(info, "what", what);
                self.set_field_of(info, "linedefined", Value::number(first));
                self.set_field_of(info, "lastlinedefined", Value::number(last));
            }
            b'l' => {
                let line = subject.line.map_or(-1.0, |line| line as f64);
                self.set_field_of(info, "currentline", Value::number(line));
            }
            b'u' => {
                let count = prototype.map_or(0, |prototype| prototype.upvalues.len());
                self.set_field_of(info, "nups", Value::number(count as f64));
            }
            b'n' => {
                let kind = self.text(subject.name.as_ref().map_or("", |(kind, _)| kind.word()));
                self.set_field_of(info, "namewhat", kind);
                let no_name = subject.is_tail_call.then(|| b""[..].into());
                if let Some(name) = subject.name.as_ref().map(|(_, name)| name).or(no_name.as_ref()) {
                    let name = Value::string(self.heap.string(name));
                    self.set_field_of(info, "name", name);
                }
            }
            b'f' => self.set_field_of(info, "func", subject.function.unwrap_or(Value::NIL)),
            _ => {
                let Some(prototype) = prototype else { return };
                let lines = self.heap.table(Room::default());
                for line in &prototype.lines {
                    self.heap.set_integer(lines, *line as i64, Value::TRUE).expect("the key may be one");
                }
                self.set_field_of(info, "activelines", Value::table(lines));
            }
        }
    }
}

fn traceback(vm: &mut Vm, frames: &Frames<'_>, args: &[Value]) -> Result<Value> {
    let (thread, rest) = thread_first(args);
    // As in C's Lua a level is not part of the message, and all else is: only the first decides whether there is a text at all.
    let level = rest.get(1).and_then(|level| Vm::to_number(*level));
    let parts = if level.is_some() { &rest[..rest.len() - 1] } else { rest };
    let is_text = |value: &Value| value.as_string().is_some() || value.is_number();
    if let [first, ..] = parts
        && !is_text(first)
    {
        return Ok(*parts.last().expect("there is one"));
    }
    let mut message = Vec::new();
    for part in parts {
        match super::as_text(vm, *part) {
            Some(text) => message.extend_from_slice(text.bytes()),
            None => {
                let name = part.type_of().name();
                return vm.fail_plainly(frames, format!("attempt to concatenate a {name} value"));
            }
        }
    }
    let message = (!parts.is_empty()).then_some(&message[..]);
    let level = level.unwrap_or(thread.is_none() as u8 as f64).max(0.0) as usize;
    let text = match thread {
        Some(thread) if thread.status() == Status::Dead => {
            let mut text = vm.traceback(&[], message, 0, 0);
            thread.remains.borrow().iter().skip(level).for_each(|line| text.extend_from_slice(line));
            text
        }
        _ => at_levels(vm, frames, thread, |vm, levels| vm.traceback(levels, message, level, 0)),
    };
    Ok(Value::string(vm.heap.string(&text)))
}

/// What the command line makes of an error.
pub(crate) fn with_traceback(vm: &mut Vm, frames: &Frames<'_>, args: &[Value]) -> Result<Value> {
    if args[0].as_string().is_none() && !args[0].is_number() {
        return Ok(args[0]);
    }
    let message = vm.text_of_value(frames, args[0])?.as_string().expect("it is one");
    // The first level is this function, which calls `debug.traceback` in C's Lua.
    let text = vm.traceback(&vm.levels(frames), Some(message.bytes()), 1, 1);
    Ok(Value::string(vm.heap.string(&text)))
}
