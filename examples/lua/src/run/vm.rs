//! The context of running bytecode: the heap, what is global, and what passes between functions.

use super::draft::{Draft, LocalName, OperandName, Recipe, Watch};
use crate::object::function::{Closure, Definition, Pack, copy_values};
use crate::object::heap::{Gc, Header, Heap, ObjectKind};
use crate::object::string::{MAX_LEN, Str};
use crate::object::table::{Room, Table};
use crate::object::thread::Thread;
use crate::object::value::{ABSENT, FUNCTION, NIL, THREAD, Type, Value};
use crate::run::bytecode::Op;
use crate::run::clocks::Clocks;
use crate::run::error::{Ending, Thrown};
use crate::run::handles::Handles;
use crate::run::levels::Activation;
use crate::run::library_state::LibraryState;
use crate::run::lookups::Lookups;
use crate::run::profile::Profile;
use crate::run::results::Results;
use crate::run::settings::Settings;
use crate::run::slow::Hooks;
use crate::run::varargs::VarargForms;
use crate::strings::make_room;
use crate::syntax::ast::{FunctionText, Line};
use crate::syntax::{self};
use azulejo::prelude::*;
use azulejo::{BacktraceFrame, Code, Frames, FunctionId, Surplus};
use std::any::{Any, TypeId};
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::io::Write;
use std::rc::{Rc, Weak};
use std::sync::Arc;

/// Where functions run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Tiers {
    /// In the interpreter that rustc has compiled.
    InterpreterInRust,
    /// In the interpreter in machine code.
    Interpreter,
    /// In code of the baseline compiler, as soon as they are warm.
    Baseline,
    /// In the optimizer's code, as soon as they have run a little.
    Optimizer,
    /// They begin in the interpreter, and the hotter they are, the better their code.
    #[default]
    Climbing,
}

/// What bytecode runs with.
#[repr(C)]
pub struct Vm {
    /// All objects.
    pub(crate) heap: Heap,
    /// What the last call gave.
    pub(crate) results: Results,
    /// The first of the arguments of a call that are gathered.
    pub(crate) arguments: *mut Value,
    /// Memory for these: at least as many as code reads at once.
    pub(super) gathered: Vec<Value>,
    /// The value that an error has.
    pub(crate) error: Value,
    /// Why the program has ended, if it was stopped.
    pub(crate) ending: Ending,
    /// Where it was then, the innermost function first; nothing if backtraces were not asked for.
    pub(crate) stopped_at: Vec<BacktraceFrame>,
    /// Whether a call that is protected has failed, and has not ended.
    pub(crate) has_caught: bool,
    /// Where the error was raised that goes to code of Rust, and what notes that; nil as long as nobody has called Lua code from there.
    pub(crate) failed_at: Option<Arc<str>>,
    pub(crate) notes: Value,
    /// What handles the errors of each call that is protected, the innermost last: of the coroutine that runs, or of the program.
    pub(crate) handlers: Vec<Option<Value>>,
    /// How many handlers run, one in the other.
    pub(crate) handling: usize,
    /// The coroutine that runs; `None`, which is zero, outside of all coroutines.
    pub(crate) coroutine: Option<Gc<Thread>>,
    /// How many coroutines run, each resumed by another one.
    pub(crate) nested: usize,
    /// A metamethod that the bytecode has to call, and what it is about.
    pub(crate) method: Value,
    pub(crate) operands: [Value; 2],
    /// The function of Rust that runs; null if there is none.
    pub(crate) running: *const Activation,
    /// Where computed names were found last, and fields by sites that know too many shapes.
    pub(crate) lookups: Lookups,
    /// How often the site of an operator was full that had something to learn.
    pub(crate) n_crowded: u32,
    /// The functions by which loops run, [`Value::ABSENT`] if nobody has asked for them: `next`, what `pairs` gives, and what `ipairs` gives.
    pub(crate) next: Value,
    pub(crate) each_pair: Value,
    pub(crate) each_index: Value,
    /// What `debug` says has called the first function; nil without that library.
    pub(crate) outside: Value,
    pub(crate) hooks: Hooks,
    /// What `debug.getregistry` gives.
    pub(crate) registry: Option<Gc<Table>>,
    /// The table `package`.
    pub(crate) package: Option<Gc<Table>>,
    /// Where `print` writes.
    pub out: Box<dyn Write>,
    pub(crate) globals: Gc<Table>,
    /// The pack of all calls that have no arguments behind the parameters.
    no_values: Gc<Pack>,
    /// The metatables of values that have none of their own, by type.
    pub(crate) metatables: [Option<Gc<Table>>; 9],
    pub(crate) names: Names,
    pub(crate) engine: Rc<Engine<Op>>,
    /// What is known of the functions that are there, by number.
    pub(crate) prototypes: Vec<Option<Rc<Prototype>>>,
    /// Whether variables that inner functions use are in cells, even if nobody assigns to them: some chunk names `setupvalue`. It is for
    /// chunks that are compiled from then on. In others such a variable is in each closure by itself, and `setupvalue` changes it there.
    pub(crate) shares_all: bool,
    /// What chunks keep ready for `debug` from here on: one that was compiled before may ask for it.
    pub(crate) watch: Watch,
    /// Whether those are compiled again that were loaded before.
    pub(crate) is_watched: bool,
    /// What functions of the library keep.
    pub(crate) roots: Vec<Value>,
    /// What handles keep.
    pub(crate) handles: Rc<RefCell<Handles>>,
    /// The handle of the program.
    pub(crate) owner: Weak<dyn Any>,
    /// Drops the value of a userdata, which may use the program.
    pub(crate) drop_value: fn(&mut Vm, &Frames<'_>, Box<dyn Any>),
    /// Whether such values are being dropped.
    pub(super) is_dropping: Rc<Cell<bool>>,
    /// What is done before the program ends the process.
    pub(crate) at_exit: Option<AtExit>,
    /// The metatables of types of Rust.
    pub(crate) rust_types: HashMap<TypeId, Gc<Table>>,
    pub(crate) library: LibraryState,
    pub(crate) clocks: Clocks,
    /// Where the program was found, if it is sampled.
    pub(crate) profile: Option<Box<Profile>>,
}

/// Names that the language knows.
pub(crate) struct Names {
    pub(crate) index: Gc<Str>,
    pub(crate) new_index: Gc<Str>,
    pub(crate) call: Gc<Str>,
    pub(crate) n: Gc<Str>,
    pub(crate) to_string: Gc<Str>,
    pub(crate) metatable: Gc<Str>,
    /// The metamethods of operators, in the order of [`crate::run::slow`]'s numbers.
    pub(crate) operators: [Gc<Str>; 12],
    /// The names of types, in the order of [`Type::ALL`].
    pub(crate) types: [Gc<Str>; Type::ALL.len()],
}

/// What is known of a function that was defined.
pub(crate) struct Prototype {
    pub(crate) function: FunctionId,
    pub(crate) lines: Vec<Line>,
    pub(crate) names: Vec<OperandName>,
    pub(crate) locals: Vec<LocalName>,
    pub(crate) chunk: Rc<[u8]>,
    pub(crate) span: (Line, Line),
    /// The names of its upvalues, and whether each is in a cell.
    pub(crate) upvalues: Vec<(Rc<[u8]>, bool)>,
    /// How it is compiled again, if it can be.
    pub(crate) recipe: Option<Box<dyn Recipe>>,
    /// If it may be compiled for known numbers of arguments.
    pub(crate) varargs: Option<VarargForms>,
    /// The source of the chunk, and where the function stands in it.
    pub(crate) text: Option<(Rc<[u8]>, FunctionText)>,
}

/// What is known of a closure's function.
pub(crate) fn prototype(closure: Gc<Closure>) -> Rc<Prototype> {
    closure.definition.about().downcast().expect("functions are defined with one")
}

/// The closure that a function is, if it is one of Lua: not one of Rust, and not one of the library's that are bytecode.
pub(crate) fn lua_closure(function: Value) -> Option<Gc<Closure>> {
    let closure =
        function.as_object(FUNCTION).filter(|_| function.object_kind() == Some(ObjectKind::Closure));
    closure.filter(|closure| !prototype(*closure).lines.is_empty())
}

/// What such a function was made from.
pub(crate) fn lua_prototype(function: Value) -> Option<Rc<Prototype>> {
    lua_closure(function).map(prototype)
}

/// The function that a closure calls.
pub(crate) fn function_of(closure: Gc<Closure>) -> FunctionId {
    prototype(closure).function
}

/// The trap of all errors that the program may catch.
pub(crate) const THROWN: Trap = Trap::User(1);

/// Why a function of Lua has failed.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Failure {
    /// The error value is in [`Vm::error`], and a handler has seen it unless there was no memory; or the program is stopped.
    Thrown(Thrown),
    /// The engine has failed.
    Engine(azulejo::Error),
}

/// What a function takes beside its code, about.
const FUNCTION_BYTES: usize = 1 << 10;

/// So many words behind the gathered arguments may be read.
const SPARE: usize = 8;

impl Vm {
    /// A program without a library.
    pub fn new(tiers: Tiers) -> Vm {
        Vm::with_settings(&Settings { tiers, ..Settings::default() })
    }

    /// Likewise.
    pub(crate) fn with_settings(settings: &Settings) -> Vm {
        let mut heap = Heap::new();
        let mut name = |text: &str| heap.permanent_string(text.as_bytes());
        let names = Names {
            index: name("__index"),
            new_index: name("__newindex"),
            call: name("__call"),
            n: name("n"),
            to_string: name("__tostring"),
            metatable: name("__metatable"),
            operators: [
                "__add", "__sub", "__mul", "__div", "__mod", "__pow", "__unm", "__eq", "__lt", "__le",
                "__len", "__concat",
            ]
            .map(&mut name),
            types: Type::ALL.map(|ty| name(ty.name())),
        };
        let globals = heap.table(Room::default());
        let no_values = heap.pack(&[]);
        heap.keep(no_values.header());
        let engine = Rc::new(settings.engine());
        engine.pack_surplus(|vm: &mut Vm, surplus| {
            // SAFETY: values are words.
            let surplus =
                unsafe { std::slice::from_raw_parts(surplus.as_ptr().cast::<Value>(), surplus.len()) };
            let pack = if surplus.is_empty() { vm.no_values } else { vm.heap.pack(surplus) };
            Ok(Value::object(THREAD, pack).0)
        });
        engine.on_stack_overflow(|vm: &mut Vm, frames| vm.overflowed(&frames));
        let library = LibraryState::default();
        let mut vm = Vm {
            heap,
            results: Results::new(),
            arguments: std::ptr::null_mut(),
            gathered: vec![Value::NIL; 64],
            error: Value::NIL,
            ending: Ending::Interrupted,
            stopped_at: Vec::new(),
            has_caught: false,
            failed_at: None,
            notes: Value::NIL,
            handlers: Vec::new(),
            handling: 0,
            coroutine: None,
            nested: 0,
            method: Value::NIL,
            operands: [Value::NIL; 2],
            running: std::ptr::null(),
            next: Value::ABSENT,
            each_pair: Value::ABSENT,
            lookups: Lookups::new(),
            n_crowded: 0,
            each_index: Value::ABSENT,
            package: None,
            registry: None,
            outside: Value::NIL,
            hooks: Hooks::default(),
            out: Box::new(library.files.stdout.writer()),
            globals,
            no_values,
            metatables: [None; 9],
            names,
            engine,
            prototypes: Vec::new(),
            shares_all: false,
            watch: Watch::Nothing,
            is_watched: false,
            roots: Vec::new(),
            handles: Rc::default(),
            owner: Weak::<()>::new(),
            drop_value: |_, _, value| drop(value),
            is_dropping: Rc::default(),
            at_exit: None,
            rust_types: HashMap::new(),
            library,
            clocks: Clocks::new(settings.times),
            profile: settings.samples.then(Box::default),
        };
        vm.arguments = vm.gathered.as_mut_ptr();
        vm
    }

    /// Gathers arguments for a call; returns how many there are.
    pub(crate) fn gather(&mut self, values: impl ExactSizeIterator<Item = Value>) -> u64 {
        let count = values.len();
        self.gathered_memory(count).iter_mut().zip(values).for_each(|(to, value)| *to = value);
        count as u64
    }

    /// Gathers values and all results of the last call, the first of which is the last of the values.
    pub(crate) fn gather_with_results(&mut self, values: &[Value]) -> u64 {
        let count = values.len() - 1 + self.results.count as usize;
        let to = self.gathered_memory(count.max(values.len())).as_mut_ptr();
        // SAFETY: there is room for all of them.
        unsafe {
            copy_values(values, to);
            copy_values(self.results.behind(), to.add(values.len()));
        }
        count as u64
    }

    /// Gathers values and those behind them.
    pub(crate) fn gather_both(&mut self, values: &[Value], more: &[Value]) -> u64 {
        let count = values.len() + more.len();
        let to = self.gathered_memory(count).as_mut_ptr();
        // SAFETY: there is room for all of them.
        unsafe {
            copy_values(values, to);
            copy_values(more, to.add(values.len()));
        }
        count as u64
    }

    /// Memory for so many arguments, and some more that may be read.
    #[inline]
    fn gathered_memory(&mut self, count: usize) -> &mut [Value] {
        if self.gathered.len() < count + SPARE {
            self.gathered.resize((count + SPARE).next_power_of_two(), Value::NIL);
            self.arguments = self.gathered.as_mut_ptr();
        }
        &mut self.gathered[..count]
    }

    /// Sets the results of a call; returns the first.
    #[inline]
    pub(crate) fn give(&mut self, results: &[Value]) -> Value {
        self.results.give(results)
    }

    /// All results of the last call, of which this is the first.
    pub(crate) fn all_results(&self, first: Value) -> Vec<Value> {
        match self.results.count {
            0 => Vec::new(),
            _ => std::iter::once(first).chain(self.results.behind().iter().copied()).collect(),
        }
    }

    /// Defines a function, and first those in it.
    pub(crate) fn define(&mut self, mut draft: Draft, chunk: &Rc<[u8]>, source: &Rc<[u8]>) -> Gc<Definition> {
        self.forget_gone();
        let inner: Vec<Gc<Definition>> = std::mem::take(&mut draft.inner)
            .into_iter()
            .map(|inner| self.define(inner, chunk, source))
            .collect();
        for op in &mut draft.code {
            if let Op::NewClosure { definition, .. } = op {
                definition.0 = inner[definition.0 as usize].address();
            }
        }
        self.heap.charge(FUNCTION_BYTES + size_of_val(&draft.code[..]));
        let arguments = 1 + draft.parameters;
        let surplus = if draft.is_vararg { Surplus::Packed } else { Surplus::Dropped };
        let missing = if draft.lines.is_empty() { ABSENT } else { NIL };
        let code =
            Code::from(draft.code).with_arguments(arguments).with_missing(missing).with_surplus(surplus);
        let name = format!("{}:{}", String::from_utf8_lossy(&syntax::chunk_id(chunk)), draft.span.0);
        let function =
            self.engine.define(&name, code, draft.registers).expect("the compiler makes valid bytecode");
        let code = self.engine.callable(function).expect("it was defined").expose_provenance() as u64;
        let Draft { lines, names, locals, constants, layouts, span, upvalues, recipe, varargs, text, .. } =
            draft;
        let chunk = chunk.clone();
        let text = text.map(|text| (source.clone(), text));
        let prototype =
            Prototype { function, lines, names, locals, chunk, span, upvalues, recipe, varargs, text };
        let prototype = Rc::new(prototype);
        let number = function.number() as usize;
        self.prototypes.resize(self.prototypes.len().max(number + 1), None);
        self.prototypes[number] = Some(prototype.clone());
        let constants = constants.into_iter().filter_map(Value::header);
        let constants: Vec<Gc<Header>> = constants.chain(inner.into_iter().map(Gc::header)).collect();
        self.heap.definition((function.number(), code), (constants, layouts), prototype)
    }

    /// Removes the code of functions that no closure has any more.
    pub(super) fn forget_gone(&mut self) {
        for number in self.heap.take_gone() {
            if let Some(Prototype { function, varargs, .. }) =
                self.prototypes[number as usize].take().as_deref()
            {
                // Of all others, sites say that what has their address is called by it.
                let has_forms = varargs.as_ref().is_some_and(VarargForms::has_some);
                // SAFETY: the collector has kept what runs, and all calls that it may not see by `Frames` have ended. Nothing has the number.
                let freed = unsafe {
                    match has_forms {
                        true => self.engine.free(*function),
                        false => self.engine.free_with_number(*function),
                    }
                };
                freed.expect("it was defined, and is freed once");
            }
        }
    }

    /// All functions that are there.
    pub(crate) fn functions(&self) -> impl Iterator<Item = FunctionId> {
        self.prototypes.iter().flatten().map(|prototype| prototype.function)
    }

    /// A function of bytecode that no chunk has. It may have two forms: one for up to three arguments, which gets no pack of them,
    /// and one for any number.
    pub(crate) fn builtin(&mut self, name: &'static str, few: Option<Draft>, any: Draft) -> Gc<Closure> {
        let (chunk, source) = (Rc::from(name.as_bytes()), Rc::from(*b""));
        let any = self.define(any, &chunk, &source);
        let closure = self.heap.closure(any, self.globals, &[]);
        if let Some(few) = few {
            let few = self.define(few, &chunk, &source);
            self.heap.keep(few.header());
            closure.code.set(few.code.get());
        }
        closure
    }

    /// Runs a function of Lua; returns the first result.
    pub(crate) fn run(&mut self, closure: Gc<Closure>, arguments: &[Value]) -> Result<Value, Failure> {
        let (function, engine) = (function_of(closure), self.engine.clone());
        let itself = Value::object(FUNCTION, closure).0;
        let first: Result<u64, azulejo::Error> = match *arguments {
            [] => engine.call_back(function, self, (itself,)),
            [a] => engine.call_back(function, self, (itself, a.0)),
            [a, b] => engine.call_back(function, self, (itself, a.0, b.0)),
            [a, b, c] => engine.call_back(function, self, (itself, a.0, b.0, c.0)),
            _ => {
                let words: Vec<u64> =
                    std::iter::once(itself).chain(arguments.iter().map(|value| value.0)).collect();
                engine.call_back(function, self, &words[..])
            }
        };
        first.map(Value).map_err(|error| self.failure(error))
    }

    /// Why functions have failed that the engine has run.
    pub(super) fn failure(&mut self, error: azulejo::Error) -> Failure {
        let ending = match error {
            azulejo::Error::Trap { trap: THROWN, .. } => return Failure::Thrown(Thrown::Error),
            azulejo::Error::Interrupted { .. } => Ending::Interrupted,
            azulejo::Error::OutOfFuel { .. } => Ending::OutOfFuel,
            // A function of Rust has said so.
            azulejo::Error::Trap { trap: Trap::Ended, .. } => self.ending,
            error => return Failure::Engine(error),
        };
        self.ending = ending;
        self.stopped_at.extend(self.engine.backtrace().frames);
        Failure::Thrown(Thrown::Ended)
    }

    /// Calls a function of Lua; returns all results, or the error value.
    pub fn call(&mut self, closure: Gc<Closure>, arguments: &[Value]) -> Result<Vec<Value>, Value> {
        match self.run(closure, arguments) {
            Ok(first) => Ok(self.all_results(first)),
            Err(Failure::Thrown(Thrown::Error)) => Err(self.error),
            Err(Failure::Thrown(Thrown::Ended)) => Err(self.text(self.ending.text())),
            Err(Failure::Engine(error)) => Err(self.error_value(error)),
        }
    }
}

impl Vm {
    /// A string of bytes that the program has made, which may be too many.
    pub(crate) fn new_string(&mut self, bytes: &[u8]) -> Result<Value, Thrown> {
        if bytes.len() <= self.most_bytes()
            && let Some(string) = self.heap.try_string(bytes)
        {
            return Ok(Value::string(string));
        }
        self.fail_for_memory()
    }

    /// Makes room at the end of a text that the program makes, which may become too long.
    pub(crate) fn make_room(&mut self, text: &mut Vec<u8>, more: usize) -> Result<(), Thrown> {
        let len = text.len().saturating_add(more);
        match len <= self.most_bytes() && make_room(text, more).is_ok() {
            true => Ok(()),
            false => self.fail_for_memory(),
        }
    }

    /// How many bytes a string may have.
    pub(crate) fn most_bytes(&self) -> usize {
        MAX_LEN.min(self.heap.limit())
    }
}

impl Vm {
    /// Ends the program: runs all finalizers, and writes what was printed.
    pub(crate) fn close(&mut self) {
        self.heap.finalize_all();
        let frames = Frames::none();
        self.handlers.push(None);
        while self.heap.has_unfinalized() || self.heap.has_lost_values() {
            // What stops a finalizer stops the program, which is over; the error of one is not the others'.
            if self.finalize(&frames) == Err(Thrown::Ended) {
                break;
            }
        }
        self.handlers.pop();
        self.show_output();
    }

    /// Writes what was printed and is held back: code of Rust, which runs next, may print too.
    pub(crate) fn show_output(&mut self) {
        let _ = self.out.flush();
    }
}

/// What the command line does when the program ends the process.
pub(crate) type AtExit = Box<dyn FnOnce(&mut Vm)>;

/// The pack that a register has.
pub(crate) fn pack_of(value: u64) -> Gc<Pack> {
    debug_assert!(value != ABSENT);
    // SAFETY: the register of a vararg function has one.
    unsafe { Gc::at(value & ((1 << 48) - 1)) }
}
