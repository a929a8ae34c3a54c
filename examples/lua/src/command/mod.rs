//! The command line.
//!
//! In: arguments as the program `lua` takes them, and which tiers to use. Out: the exit code of the script.

mod cache;
mod explore;
mod interrupts;
mod options;
mod profile;
mod prompt;
mod statistics;

pub use options::{Options, USAGE};

use crate::api::Lua;
use crate::library::{read_file, with_traceback};
use crate::object::heap::Eagerness;
use crate::object::value::{FUNCTION, Value};
use crate::run::error::Thrown;
use crate::run::settings::{NATIVE_STACK, Settings};
use crate::run::vm::Vm;
use azulejo::Frames;
use cache::Cache;
use interrupts::Interrupts;
use options::First;
use profile::Sampler;
use std::ffi::OsString;
use std::io::Write;
use std::process::ExitCode;
use std::time::Instant;

/// The environment variable by which the collector works whenever it may: if it is `steps`, it does the least that it can do, otherwise
/// a whole collection.
const EAGER: &str = "AZULEJO_LUA_EAGER_COLLECTOR";

/// The bytes of the stack on which [`run`] is to be called: for all calls that a script may make, and what Rust needs beside them.
pub const STACK: usize = NATIVE_STACK + (56 << 20);

/// Does what the command line says.
pub fn run(options: &Options) -> ExitCode {
    let settings = Settings {
        tiers: options.tiers,
        fuel: None,
        backtraces: options.is_interruptible,
        times: options.has_stats,
        samples: options.has_profile,
        background: !options.is_in_foreground,
    };
    // Functions that are shown are shown with all that their code is made of.
    let cache = if options.explored.is_empty() { Cache::load() } else { None };
    let lua = Lua::with_settings(&settings, Vm::open);
    let interrupts = match options.is_interruptible {
        true => Interrupts::handled(lua.interrupter()),
        false => None,
    };
    let keeps_chunks = !options.explored.is_empty();
    let is_beside = settings.is_beside();
    lua.with(|vm, _| Session { vm, interrupts, keeps_chunks, is_beside, cache }.run_command(options))
}

/// A program that the command line runs.
struct Session<'a> {
    vm: &'a mut Vm,
    interrupts: Option<Interrupts>,
    /// Whether functions of chunks that have run are wanted.
    keeps_chunks: bool,
    /// Whether the optimizer works beside the program.
    is_beside: bool,
    /// What earlier runs have left.
    cache: Option<Cache>,
}

impl Session<'_> {
    fn run_command(&mut self, options: &Options) -> ExitCode {
        if options.says_version {
            eprintln!("Lua 5.1 (azulejo)");
        }
        self.vm.heap.set_eagerness(match std::env::var_os(EAGER) {
            None => Eagerness::None,
            Some(value) if value == "steps" => Eagerness::Steps,
            Some(_) => Eagerness::Cycles,
        });
        let end = End { start: Instant::now(), is_beside: self.is_beside, cache: self.cache.take() };
        let sampler = self.vm.profile.as_deref().map(Sampler::start);
        let (at_exit, last) = (options.clone(), end.clone());
        self.vm.at_exit = Some(Box::new(move |vm| _ = last.report(vm, &at_exit)));
        let is_right = self.run_all(options);
        drop(sampler);
        let is_right = is_right & end.report(self.vm, options);
        if is_right { ExitCode::SUCCESS } else { ExitCode::FAILURE }
    }

    /// Calls any value. An error of the type string has a traceback behind it.
    fn call(&mut self, function: Value, arguments: &[Value]) -> Result<Vec<Value>, Value> {
        let handler = self.vm.native_function("traceback", with_traceback, &[]);
        self.call_handled(function, arguments, Some(handler))
    }

    /// Calls any value. A handler sees its error first.
    fn call_handled(
        &mut self,
        function: Value,
        arguments: &[Value],
        handler: Option<Value>,
    ) -> Result<Vec<Value>, Value> {
        let Session { vm, interrupts, .. } = self;
        vm.handlers.push(handler);
        vm.stopped_at.clear();
        let mut call = || vm.call_value(&Frames::none(), function, arguments);
        let first = match interrupts {
            Some(interrupts) => interrupts.during(call),
            None => call(),
        };
        vm.handlers.clear();
        match first {
            Ok(first) => Ok(vm.all_results(first)),
            Err(Thrown::Error) => Err(vm.error),
            Err(Thrown::Ended) => {
                let text = vm.text_of_ending();
                Err(Value::string(vm.heap.string(&text)))
            }
        }
    }

    /// Sets the global variable `arg`.
    fn set_arguments(&mut self, options: &Options) {
        let table = self.vm.heap.table(crate::object::table::Room::default());
        let program = OsString::from("azulejo-lua");
        let before = std::iter::once(&program).chain(&options.before);
        let all: Vec<&OsString> = before.chain(&options.script).chain(&options.arguments).collect();
        let n_before = (1 + options.before.len()) as i64;
        for (argument, at) in all.into_iter().zip(-n_before..) {
            let text = Value::string(self.vm.heap.string(argument.as_encoded_bytes()));
            self.vm.heap.set_integer(table, at, text).expect("the key may be one");
        }
        let globals = self.vm.globals;
        self.vm.set_field_of(globals, "arg", Value::table(table));
    }

    /// Runs what the variable `LUA_INIT` of the environment has: code, or `@` and the name of a file.
    fn run_init(&mut self) -> bool {
        let Some(init) = std::env::var_os("LUA_INIT") else { return true };
        let init = init.as_encoded_bytes();
        match init.strip_prefix(b"@") {
            None => self.run_chunk(init, b"=LUA_INIT", &[]),
            Some(path) => match read_file(Some(path)) {
                Ok((source, chunk)) => self.run_chunk(&source, &chunk, &[]),
                Err(message) => complain(&message),
            },
        }
    }

    fn run_all(&mut self, options: &Options) -> bool {
        if !self.run_init() {
            return false;
        }
        for first in &options.first {
            let is_right = match first {
                First::Run(code) => self.run_chunk(code, b"=(command line)", &[]),
                First::Require(name) => {
                    let require = self.vm.heap.string(b"require");
                    let require = self.vm.globals.get_string(require);
                    let name = Value::string(self.vm.heap.string(name));
                    self.run_protected(require, &[name])
                }
            };
            if !is_right {
                return false;
            }
        }
        if let Some(script) = &options.script {
            self.set_arguments(options);
            let path = (script != "-").then(|| script.as_encoded_bytes());
            let (source, chunk) = match read_file(path) {
                Ok(read) => read,
                Err(message) => return complain(&message),
            };
            let arguments: Vec<Value> = options
                .arguments
                .iter()
                .map(|argument| Value::string(self.vm.heap.string(argument.as_encoded_bytes())))
                .collect();
            if !self.run_chunk(&source, &chunk, &arguments) {
                return false;
            }
        }
        if options.is_interactive {
            self.interact();
        }
        true
    }

    fn run_chunk(&mut self, source: &[u8], chunk: &[u8], arguments: &[Value]) -> bool {
        match self.vm.load(source, chunk) {
            Ok(closure) => {
                let chunk = Value::object(FUNCTION, closure);
                if self.keeps_chunks {
                    self.vm.roots.push(chunk);
                }
                self.run_protected(chunk, arguments)
            }
            Err(error) => complain(&error.text(chunk)),
        }
    }

    /// Calls a function; says what went wrong, and where.
    fn run_protected(&mut self, function: Value, arguments: &[Value]) -> bool {
        let result = self.call(function, arguments);
        let _ = self.vm.out.flush();
        match result {
            Ok(_) => true,
            Err(error) => words_of(error).is_some_and(|words| complain(&words)),
        }
    }
}

/// What the end of a run needs to know of its start.
#[derive(Clone)]
struct End {
    start: Instant,
    is_beside: bool,
    cache: Option<Cache>,
}

impl End {
    /// Says what was asked for of a script that has run, and saves what the next run may need.
    fn report(&self, vm: &mut Vm, options: &Options) -> bool {
        let _ = vm.out.flush();
        let found = self.cache.as_ref().map_or(0, |cache| cache.found);
        if options.has_stats {
            eprintln!("{}", statistics::statistics(vm, self.start.elapsed(), self.is_beside, found));
        }
        let is_right = show_profile(vm, options);
        let shown = options.explored.iter().map(|wanted| explore::explore(vm, wanted));
        let is_right = shown.fold(is_right, |is_right, is_shown| is_right & is_shown);
        self.cache.iter().for_each(Cache::save);
        is_right
    }
}

/// Says where the script has spent its time, if that was asked for.
fn show_profile(vm: &Vm, options: &Options) -> bool {
    let Some(profile) = &vm.profile else { return true };
    eprintln!("{}", profile::tables(profile));
    let Some(path) = &options.folded else { return true };
    match std::fs::write(path, profile::folded(profile)) {
        Ok(()) => true,
        Err(error) => complain(format!("cannot write {}: {error}", path.display()).as_bytes()),
    }
}

/// What an error value says; `None` if it is nil.
fn words_of(error: Value) -> Option<Vec<u8>> {
    match error.as_string() {
        Some(text) => Some(text.bytes().to_vec()),
        None if error.is_nil() => None,
        None => Some(b"(error object is not a string)".to_vec()),
    }
}

/// Says what went wrong.
fn complain(message: &[u8]) -> bool {
    say(&[b"azulejo-lua: ", message].concat());
    false
}

/// Writes a line for the user, who is no reader of results.
fn say(line: &[u8]) {
    let _ = std::io::stderr().write_all(&[line, b"\n"].concat());
}
