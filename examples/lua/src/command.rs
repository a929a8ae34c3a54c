//! The command line.
//!
//! In: arguments as the program `lua` takes them, and which tiers to use. Out: the exit code of the script.

use crate::api::Lua;
use crate::library::{read_file, with_traceback};
use crate::lines::{Lines, Typed};
use crate::object::heap::Eagerness;
use crate::object::value::{FUNCTION, Value};
use crate::run::error::Thrown;
use crate::run::vm::{Tiers, Vm};
use azulejo::Frames;
use std::ffi::OsString;
use std::io::{IsTerminal, Write};
use std::process::ExitCode;

/// How the command is used.
pub const USAGE: &str = "\
usage: azulejo-lua [options] [script [args]]
  -e CODE     run CODE
  -l NAME     require library NAME
  -i          read and run lines after the script
  -v          say which version this is
  --tier T    interpreter-in-rust, interpreter, baseline, optimizer, or climbing (the default)
  --stats     say at the end what was compiled
  --          no more options
  -           run the standard input";

/// The environment variable by which the collector works whenever it may: if it is `steps`, it does the least that it can do, otherwise
/// a whole collection.
const EAGER: &str = "AZULEJO_LUA_EAGER_COLLECTOR";

/// What is done before the script.
#[derive(Clone, Debug)]
enum First {
    Run(Vec<u8>),
    Require(Vec<u8>),
}

/// The command line.
#[derive(Clone, Debug, Default)]
pub struct Options {
    tiers: Tiers,
    first: Vec<First>,
    is_interactive: bool,
    says_version: bool,
    has_stats: bool,
    /// The script, or `-`.
    script: Option<OsString>,
    /// What stands before the script, from the last argument to the first, for `arg`.
    before: Vec<OsString>,
    arguments: Vec<OsString>,
}

impl Options {
    /// Reads the command line.
    pub fn parse(arguments: impl Iterator<Item = OsString>) -> Result<Options, String> {
        let mut options = Options::default();
        let mut arguments = arguments.peekable();
        while let Some(argument) =
            arguments.next_if(|next| next.len() > 1 && next.as_encoded_bytes()[0] == b'-')
        {
            options.before.push(argument.clone());
            let text = argument.to_str().ok_or("an option is no text")?;
            let value = |short: &str| -> Option<Vec<u8>> {
                text.strip_prefix(short).filter(|rest| !rest.is_empty()).map(|rest| rest.into())
            };
            let mut later = |given: Option<Vec<u8>>, options: &mut Options| {
                given.or_else(|| {
                    let next = arguments.next()?;
                    options.before.push(next.clone());
                    Some(next.into_encoded_bytes())
                })
            };
            match text {
                "--" => break,
                "-i" => (options.is_interactive, options.says_version) = (true, true),
                "-v" => options.says_version = true,
                "--stats" => options.has_stats = true,
                "--help" => return Err("".into()),
                "--tier" => {
                    let name = later(None, &mut options).unwrap_or_default();
                    options.tiers = tiers(&name)?;
                }
                _ if text.starts_with("-e") => {
                    let code = later(value("-e"), &mut options).ok_or("'-e' needs code")?;
                    options.first.push(First::Run(code));
                }
                _ if text.starts_with("-l") => {
                    let name = later(value("-l"), &mut options).ok_or("'-l' needs a name")?;
                    options.first.push(First::Require(name));
                }
                _ => return Err(format!("unrecognized option '{text}'")),
            }
        }
        options.script = arguments.next();
        options.arguments = arguments.collect();
        let is_idle = options.script.is_none() && options.first.is_empty() && !options.says_version;
        if is_idle {
            options.is_interactive = std::io::stdin().is_terminal();
            options.says_version = options.is_interactive;
            if !options.is_interactive {
                options.script = Some("-".into());
            }
        }
        Ok(options)
    }
}

fn tiers(name: &[u8]) -> Result<Tiers, String> {
    Ok(match name {
        b"interpreter-in-rust" => Tiers::InterpreterInRust,
        b"interpreter" => Tiers::Interpreter,
        b"baseline" => Tiers::Baseline,
        b"optimizer" => Tiers::Optimizer,
        b"climbing" => Tiers::Climbing,
        _ => return Err(format!("there is no tier '{}'", String::from_utf8_lossy(name))),
    })
}

/// Does what the command line says.
pub fn run(options: &Options) -> ExitCode {
    let lua = Lua::with_tiers(options.tiers, Vm::open);
    lua.with(|vm, _| vm.run_command(options))
}

impl Vm {
    fn run_command(&mut self, options: &Options) -> ExitCode {
        if options.says_version {
            eprintln!("Lua 5.1 (azulejo)");
        }
        self.heap.set_eagerness(match std::env::var_os(EAGER) {
            None => Eagerness::None,
            Some(value) if value == "steps" => Eagerness::Steps,
            Some(_) => Eagerness::Cycles,
        });
        let is_right = self.run_all(options);
        let _ = self.out.flush();
        if options.has_stats {
            eprintln!("{}", self.engine.stats());
            eprintln!("{:?}", self.heap.statistics());
        }
        if is_right { ExitCode::SUCCESS } else { ExitCode::FAILURE }
    }

    /// Sets the global variable `arg`.
    fn set_arguments(&mut self, options: &Options) {
        let table = self.heap.table(crate::object::table::Room::default());
        let program = OsString::from("azulejo-lua");
        let before = std::iter::once(&program).chain(&options.before);
        let all: Vec<&OsString> = before.chain(&options.script).chain(&options.arguments).collect();
        let n_before = (1 + options.before.len()) as i64;
        for (argument, at) in all.into_iter().zip(-n_before..) {
            let text = Value::string(self.heap.string(argument.as_encoded_bytes()));
            self.heap.set_integer(table, at, text).expect("the key may be one");
        }
        let globals = self.globals;
        self.set_field_of(globals, "arg", Value::table(table));
    }

    fn run_all(&mut self, options: &Options) -> bool {
        for first in &options.first {
            let is_right = match first {
                First::Run(code) => self.run_chunk(code, b"=(command line)", &[]),
                First::Require(name) => {
                    let require = self.heap.string(b"require");
                    let require = self.globals.get_string(require);
                    let name = Value::string(self.heap.string(name));
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
                .map(|argument| Value::string(self.heap.string(argument.as_encoded_bytes())))
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
        match self.load(source, chunk) {
            Ok(closure) => self.run_protected(Value::object(FUNCTION, closure), arguments),
            Err(error) => complain(&error.text(chunk)),
        }
    }

    /// Calls a function; says what went wrong, and where.
    fn run_protected(&mut self, function: Value, arguments: &[Value]) -> bool {
        let result = self.call_traced(function, arguments);
        let _ = self.out.flush();
        match result {
            Ok(_) => true,
            Err(error) => complain_of(error),
        }
    }

    /// What a line is asked for with: the text of a global variable, if it has one.
    fn prompt(&mut self, name: &str, otherwise: &str) -> String {
        let name = self.heap.string(name.as_bytes());
        let text = self.globals.get_string(name).as_string();
        text.map_or(otherwise.to_string(), |text| String::from_utf8_lossy(text.bytes()).into_owned())
    }

    /// Reads lines and runs them.
    fn interact(&mut self) {
        let (mut source, mut lines) = (Vec::new(), Lines::new());
        loop {
            self.show_output();
            let (variable, otherwise) =
                if source.is_empty() { ("_PROMPT", "> ") } else { ("_PROMPT2", ">> ") };
            let prompt = self.prompt(variable, otherwise);
            let line = match lines.read(&prompt, &mut self.out) {
                Typed::Line(line) => line,
                Typed::Nothing => {
                    source.clear();
                    continue;
                }
                Typed::End => {
                    let _ = self.out.write_all(b"\n");
                    return;
                }
            };
            match line.strip_prefix(b"=") {
                Some(expression) if source.is_empty() => source = [b"return ", expression].concat(),
                _ => source.extend_from_slice(&line),
            }
            match self.load(&source, b"=stdin") {
                Err(error) if error.is_incomplete => continue,
                Err(error) => drop(complain(&error.text(b"=stdin"))),
                Ok(closure) => match self.call_traced(Value::object(FUNCTION, closure), &[]) {
                    Ok(values) if values.is_empty() => {}
                    Ok(values) => {
                        let print = self.heap.string(b"print");
                        let print = self.globals.get_string(print);
                        self.run_protected(print, &values);
                    }
                    Err(error) => drop(complain_of(error)),
                },
            }
            source.clear();
        }
    }
}

/// Says what an error value says.
fn complain_of(error: Value) -> bool {
    match error.as_string() {
        Some(text) => complain(text.bytes()),
        None if error.is_nil() => false,
        None => complain(b"(error object is not a string)"),
    }
}

/// Says what went wrong.
fn complain(message: &[u8]) -> bool {
    let text = [b"azulejo-lua: ", message, b"\n"].concat();
    let _ = std::io::stderr().write_all(&text);
    false
}

impl Vm {
    /// Calls any value that is to be called from outside of all functions of Lua. An error of the type string has a traceback behind it.
    pub(crate) fn call_traced(&mut self, function: Value, arguments: &[Value]) -> Result<Vec<Value>, Value> {
        let handler = self.native_function("traceback", with_traceback, &[]);
        self.handlers.push(Some(handler));
        let first = self.call_value(&Frames::none(), function, arguments);
        self.handlers.clear();
        match first {
            Ok(first) => Ok(self.all_results(first)),
            Err(Thrown) => Err(self.error),
        }
    }
}
