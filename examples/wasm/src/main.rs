//! The command line: runs a program, or the official test suite.

use azulejo_wasm::wasi::{Access, Wasi};
use azulejo_wasm::{Config, Error, Linker, MemoryMode, Module, Store, Tier, Tiers, Trap, ValType, Value};
use std::process::ExitCode;
use std::time::Instant;

const USAGE: &str = "\
azulejo-wasm run FILE [options] [-- arguments]   runs a program: a module, or one written as text in a .wat file
    --tier climbing                              starts in the interpreter and tiers up to better code; as without it
    --tier interpreter|baseline|optimizer        runs everything in one tier
    --memory checked|guarded                     compares addresses, or has those out of bounds fault
    --lazy                                       validates functions when they are called first
    --invoke FUNCTION VALUE…                     calls an exported function instead of `_start`
    --dir FOLDER[::NAME][,MODE]                  gives the program a folder, by another name perhaps, to `read` or to `write`;
                                                 without a mode to read
    --env NAME=VALUE                             sets a variable of the program's environment
    --fuel NUMBER                                ends the program after so many calls and times around loops
    --time                                       says how long decoding, linking and running took
    --stats                                      says what was compiled, how long that took, and why code was left
    --dump FUNCTION                              prints what becomes of a function, stage by stage
azulejo-wasm spec [options]                      runs the official test suite
    --tier interpreter|baseline|optimizer|mixed  in one way; otherwise in all
    --memory checked|guarded                     with one kind of memory; otherwise with both
    --filter NAME                                only scripts with this in their name
azulejo-wasm --help                              prints this, wherever it stands before `--`";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments
        .iter()
        .take_while(|argument| *argument != "--")
        .any(|argument| argument == "--help" || argument == "-h")
    {
        println!("{USAGE}");
        return ExitCode::SUCCESS;
    }
    let mut arguments = arguments.into_iter();
    let result = match arguments.next().as_deref() {
        Some("run") => Run::parse(arguments).and_then(Run::run),
        #[cfg(feature = "spec")]
        Some("spec") => spec(arguments),
        Some(other) => Err(format!("there is no command `{other}`; --help tells which there are")),
        None => Err(USAGE.to_string()),
    };
    match result {
        Ok(code) => code,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}

/// The tiers with this name.
fn tiers(name: &str) -> Result<Tiers, String> {
    match name {
        "climbing" => Ok(Config::default().tiers),
        "interpreter" => Ok(Tiers::Only(Tier::Interpreter)),
        "baseline" => Ok(Tiers::Only(Tier::Baseline)),
        "optimizer" => Ok(Tiers::Only(Tier::Optimizer)),
        _ => {
            Err(format!("there is no tier `{name}`: there are climbing, interpreter, baseline and optimizer"))
        }
    }
}

/// The memory mode with this name.
fn memory(name: &str) -> Result<MemoryMode, String> {
    match name {
        "checked" => Ok(MemoryMode::Checked),
        "guarded" => Ok(MemoryMode::Guarded),
        _ => Err(format!("memory is not `{name}`: it is checked or guarded")),
    }
}

/// A folder that a program may access: its path, the program's name for it, and the permitted access.
struct GivenFolder {
    place: String,
    name: String,
    access: Access,
}

impl GivenFolder {
    /// Parses `FOLDER[::NAME][,MODE]`.
    fn parse(text: &str) -> GivenFolder {
        let modes = [(",read", Access::Read), (",write", Access::Write)];
        let mode = modes.into_iter().find_map(|(mode, access)| Some((text.strip_suffix(mode)?, access)));
        let (text, access) = mode.unwrap_or((text, Access::Read));
        let (place, name) = text.split_once("::").unwrap_or((text, text));
        GivenFolder { place: place.into(), name: name.into(), access }
    }
}

/// The options of `run`.
#[derive(Default)]
struct Run {
    file: String,
    config: Config,
    invoke: Option<String>,
    values: Vec<String>,
    folders: Vec<GivenFolder>,
    variables: Vec<(String, String)>,
    arguments: Vec<String>,
    dump: Option<String>,
    is_lazy: bool,
    is_timed: bool,
}

impl Run {
    fn parse(mut arguments: impl Iterator<Item = String>) -> Result<Run, String> {
        let mut run = Run::default();
        while let Some(argument) = arguments.next() {
            let mut next = || {
                arguments
                    .next()
                    .ok_or_else(|| format!("something is missing behind {argument}; --help tells what"))
            };
            match argument.as_str() {
                "--tier" => run.config.tiers = tiers(&next()?)?,
                "--memory" => run.config.memory = memory(&next()?)?,
                "--invoke" => run.invoke = Some(next()?),
                "--dump" => run.dump = Some(next()?),
                "--lazy" => run.is_lazy = true,
                "--time" => run.is_timed = true,
                "--fuel" => {
                    let amount = next()?;
                    let fuel =
                        amount.parse().map_err(|_| format!("`{amount}` is no amount of fuel: a number"))?;
                    run.config.fuel = Some(fuel);
                }
                "--stats" => run.config.times = true,
                "--dir" => run.folders.push(GivenFolder::parse(&next()?)),
                "--env" => {
                    let variable = next()?;
                    let pair = variable.split_once('=');
                    let (name, value) = pair.ok_or_else(|| format!("`{variable}` is not NAME=VALUE"))?;
                    run.variables.push((name.into(), value.into()));
                }
                "--" => break,
                // A value may be negative and start with one dash.
                option if option.starts_with("--") => {
                    return Err(format!("there is no option `{option}`; --help tells which there are"));
                }
                _ if run.file.is_empty() => run.file = argument,
                _ if run.invoke.is_some() => run.values.push(argument),
                _ => return Err(format!("what is `{argument}`? The program's arguments come behind `--`")),
            }
        }
        run.arguments = arguments.collect();
        if run.file.is_empty() { Err(USAGE.to_string()) } else { Ok(run) }
    }

    fn run(self) -> Result<ExitCode, String> {
        let start = Instant::now();
        let file = self.file.as_str();
        let fail = |error: Error| format!("{file}: {error}");
        let module = self.module()?;
        let decoded = Instant::now();
        let mut store = Store::new(Config { backtraces: true, ..self.config.clone() });
        let mut linker = Linker::new();
        linker.wasi(self.world()?);
        let instance = store.instantiate(&module, &linker).map_err(fail)?;
        if let Some(function) = self.dump {
            print!("{}", store.dump(&function).map_err(fail)?);
            return Ok(ExitCode::SUCCESS);
        }
        let name = self.invoke.as_deref().unwrap_or("_start");
        let types = instance
            .function_type(&store, name)
            .ok_or_else(|| format!("{file}: no function `{name}` is exported"))?;
        let params = types.params().to_vec();
        if params.len() != self.values.len() {
            return Err(format!(
                "{file}: `{name}` takes {} arguments, not {}",
                params.len(),
                self.values.len()
            ));
        }
        let values = params
            .iter()
            .zip(&self.values)
            .map(|(&ty, text)| value(ty, text))
            .collect::<Result<Vec<_>, _>>()?;
        let linked = Instant::now();
        let result = instance.invoke(&mut store, name, &values);
        let ran = Instant::now();
        if self.is_timed {
            let times = [("decoded", decoded - start), ("linked", linked - decoded), ("ran", ran - linked)];
            times.iter().for_each(|(what, time)| eprintln!("{what:8}{:12.3} ms", time.as_secs_f64() * 1e3));
        }
        if self.config.times {
            eprintln!("{}", store.engine().stats());
        }
        match result {
            Ok(results) => results.iter().for_each(|result| println!("{result}")),
            Err(Error::Trap(Trap::Exit(status))) => return Ok(ExitCode::from(status as u8)),
            Err(error) => {
                let (frames, left_out) = store.backtrace();
                let mut message = format!("{file}: {name}: {error}");
                frames.iter().for_each(|frame| message += &format!("\n    in {frame}"));
                if left_out > 0 {
                    message += &format!("\n    and {left_out} more");
                }
                return Err(message);
            }
        }
        Ok(ExitCode::SUCCESS)
    }

    fn module(&self) -> Result<Module, String> {
        let file = self.file.as_str();
        let content = std::fs::read(file).map_err(|error| format!("{file}: {error}"))?;
        let fail = |error: Error| match error {
            // The message already names the file and the location.
            Error::Text(message) => message,
            error => format!("{file}: {error}"),
        };
        #[cfg(feature = "text")]
        let content = azulejo_wasm::text::binary(file.as_ref(), &content).map_err(fail)?;
        let decode = if self.is_lazy { Module::lazy } else { Module::new };
        decode(&content).map_err(fail)
    }

    /// The program's view of the outside world.
    fn world(&self) -> Result<Wasi, String> {
        let mut wasi = Wasi::new().inherit_streams().argument(self.file.as_str());
        for argument in &self.arguments {
            wasi = wasi.argument(argument.as_str());
        }
        for GivenFolder { place, name, access } in &self.folders {
            let given = wasi.folder_for(place.as_ref(), name, *access);
            wasi = given.map_err(|error| format!("{place}: {error}"))?;
        }
        for (name, value) in &self.variables {
            wasi = wasi.variable(name, value);
        }
        Ok(wasi)
    }
}

/// Parses a value of a type.
fn value(ty: ValType, text: &str) -> Result<Value, String> {
    let value = match ty {
        ValType::I32 => {
            text.parse().ok().or_else(|| text.parse::<u32>().ok().map(|value| value as i32)).map(Value::I32)
        }
        ValType::I64 => {
            text.parse().ok().or_else(|| text.parse::<u64>().ok().map(|value| value as i64)).map(Value::I64)
        }
        ValType::F32 => text.parse().ok().map(Value::F32),
        ValType::F64 => text.parse().ok().map(Value::F64),
        _ => None,
    };
    value.ok_or_else(|| format!("`{text}` is no {ty}"))
}

#[cfg(feature = "spec")]
fn spec(mut arguments: impl Iterator<Item = String>) -> Result<ExitCode, String> {
    use azulejo_wasm::spec::{Outcome, SUITES, Way};
    let mut ways = Way::all();
    let mut filter = String::new();
    while let Some(argument) = arguments.next() {
        let value = arguments
            .next()
            .ok_or_else(|| format!("something is missing behind {argument}; --help tells what"))?;
        match argument.as_str() {
            "--tier" => ways.retain(|way| way.tier == value),
            "--memory" => ways.retain(|way| way.memory == value),
            "--filter" => filter = value,
            _ => return Err(format!("there is no option `{argument}`; --help tells which there are")),
        }
    }
    if ways.is_empty() {
        return Err("there is no such tier, or no such memory; --help tells which there are".into());
    }
    let mut all = Outcome::default();
    for suite in SUITES {
        for file in suite.files() {
            if !file.name().contains(&filter) {
                continue;
            }
            let mut outcome = Outcome::default();
            for way in &ways {
                let mut of_way = way.run(suite, &file);
                of_way.failed.iter_mut().for_each(|message| *message = format!("{way}: {message}"));
                outcome.add(of_way);
            }
            println!("{}/{}: {outcome}", suite.name, file.name());
            all.add(outcome);
        }
    }
    all.failed.iter().for_each(|message| println!("{message}"));
    println!("spec: {all}");
    Ok(if all.failed.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
