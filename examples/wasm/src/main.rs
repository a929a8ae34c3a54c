//! The command line: runs a program, or the official test suite.

use azulejo_wasm::wasi::Wasi;
use azulejo_wasm::{Config, Error, Linker, MemoryMode, Module, Store, Tier, Tiers, Trap, ValType, Value};
use std::process::ExitCode;

const USAGE: &str = "\
azulejo-wasm run FILE [options] [-- arguments]   runs a program
    --tier interpreter|baseline|optimizer        runs everything in one tier
    --memory checked|guarded                     compares addresses, or has those out of bounds fault
    --lazy                                       validates functions when they are called first
    --invoke FUNCTION VALUE…                     calls an exported function instead of `_start`
    --dir FOLDER, --dir FOLDER::NAME             lets the program read a folder, by another name perhaps
    --env NAME=VALUE                             sets a variable of the program's environment
    --dump FUNCTION                              prints what becomes of a function, stage by stage
azulejo-wasm spec [options]                      runs the official test suite
    --tier interpreter|baseline|optimizer|mixed  in one way; otherwise in all
    --memory checked|guarded                     with one kind of memory; otherwise with both
    --filter NAME                                only scripts with this in their name";

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let result = match arguments.next().as_deref() {
        Some("run") => run(arguments),
        #[cfg(feature = "spec")]
        Some("spec") => spec(arguments),
        _ => Err(USAGE.to_string()),
    };
    match result {
        Ok(code) => code,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}

/// The tier of this name.
fn tier(name: &str) -> Result<Tier, String> {
    match name {
        "interpreter" => Ok(Tier::Interpreter),
        "baseline" => Ok(Tier::Baseline),
        "optimizer" => Ok(Tier::Optimizer),
        _ => Err(format!("there is no tier `{name}`: there are interpreter, baseline and optimizer")),
    }
}

/// The way to find accesses beyond the end of memory that has this name.
fn memory(name: &str) -> Result<MemoryMode, String> {
    match name {
        "checked" => Ok(MemoryMode::Checked),
        "guarded" => Ok(MemoryMode::Guarded),
        _ => Err(format!("memory is not `{name}`: it is checked or guarded")),
    }
}

fn run(mut arguments: impl Iterator<Item = String>) -> Result<ExitCode, String> {
    let (mut file, mut config, mut invoke, mut dump) = (None, Config::default(), None, None);
    let (mut values, mut folders, mut variables): (Vec<String>, Vec<String>, Vec<String>) =
        Default::default();
    let mut decode: fn(&[u8]) -> Result<Module, Error> = Module::new;
    while let Some(argument) = arguments.next() {
        let mut next =
            || arguments.next().ok_or_else(|| format!("something is missing behind {argument}\n{USAGE}"));
        match argument.as_str() {
            "--tier" => config.tiers = Tiers::Only(tier(&next()?)?),
            "--memory" => config.memory = memory(&next()?)?,
            "--invoke" => invoke = Some(next()?),
            "--dump" => dump = Some(next()?),
            "--lazy" => decode = Module::lazy,
            "--dir" => folders.push(next()?),
            "--env" => variables.push(next()?),
            "--" => break,
            _ if file.is_none() => file = Some(argument),
            _ if invoke.is_some() => values.push(argument),
            _ => return Err(format!("what is `{argument}`?\n{USAGE}")),
        }
    }
    let file = file.ok_or(USAGE)?;
    let bytes = std::fs::read(&file).map_err(|error| format!("{file}: {error}"))?;
    let fail = |error: Error| format!("{file}: {error}");
    let module = decode(&bytes).map_err(fail)?;
    let mut store = Store::new(config);
    let mut wasi = Wasi::new().inherit_streams().argument(file.as_str());
    wasi = arguments.fold(wasi, |wasi, argument| wasi.argument(argument));
    for folder in folders {
        let (place, name) = folder.split_once("::").unwrap_or((&folder, &folder));
        wasi = wasi.folder(place.as_ref(), name).map_err(|error| format!("{place}: {error}"))?;
    }
    for variable in variables {
        let (name, value) =
            variable.split_once('=').ok_or_else(|| format!("`{variable}` is not NAME=VALUE\n{USAGE}"))?;
        wasi = wasi.variable(name, value);
    }
    let mut linker = Linker::new();
    linker.wasi(wasi);
    let instance = store.instantiate(&module, &linker).map_err(fail)?;
    if let Some(function) = dump {
        print!("{}", store.dump(&function).map_err(fail)?);
        return Ok(ExitCode::SUCCESS);
    }
    let name = invoke.as_deref().unwrap_or("_start");
    let types = instance
        .function_type(&store, name)
        .ok_or_else(|| format!("{file}: no function `{name}` is exported"))?;
    let params = types.params().to_vec();
    if params.len() != values.len() {
        return Err(format!("{file}: `{name}` takes {} arguments, not {}", params.len(), values.len()));
    }
    let values =
        params.iter().zip(&values).map(|(&ty, text)| value(ty, text)).collect::<Result<Vec<_>, _>>()?;
    match instance.invoke(&mut store, name, &values) {
        Ok(results) => results.iter().for_each(|result| println!("{result}")),
        Err(Error::Trap(Trap::Exit(status))) => return Ok(ExitCode::from(status as u8)),
        Err(error) => return Err(format!("{file}: {name}: {error}")),
    }
    Ok(ExitCode::SUCCESS)
}

/// The value of a type that is written so.
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
        let value =
            arguments.next().ok_or_else(|| format!("something is missing behind {argument}\n{USAGE}"))?;
        match argument.as_str() {
            "--tier" => ways.retain(|way| way.tier == value),
            "--memory" => ways.retain(|way| way.memory == value),
            "--filter" => filter = value,
            _ => return Err(format!("what is `{argument}`?\n{USAGE}")),
        }
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
