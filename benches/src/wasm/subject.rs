//! The engines: how each compiles, starts and runs a module. All modules export `run`, which maps an `i32` to an `i64`.

use super::Input;
use crate::clock;
use azulejo_wasm::{Config, Instance, Linker, Module, Store, Tier, Tiers, Value};
use std::hint::black_box;
use wasmtime::Strategy;

/// An engine with a loaded module.
pub(crate) struct WasmSubject<'a> {
    /// The engine's name.
    pub engine: &'static str,
    /// The tier or compiler.
    pub tier: &'static str,
    /// Compiles the module's bytes to machine code for every function. `None` for an interpreter.
    pub compile: Option<Box<dyn FnMut() + 'a>>,
    /// From bytes to the result of a short call, under default settings.
    pub start: Box<dyn FnMut() -> i64 + 'a>,
    /// A longer call, with all code compiled beforehand.
    pub run: Option<Box<dyn FnMut() -> i64 + 'a>>,
    /// From bytes to the end of repeated calls, which take [`LONG`] together.
    pub long: Option<Box<dyn FnMut() + 'a>>,
    /// The size of the machine code.
    pub code_bytes: usize,
}

/// The duration of a long run in the optimizer's code, in nanoseconds.
const LONG: u64 = 200_000_000;

/// Every engine that supports the module.
pub(crate) fn all(input: &Input) -> Vec<WasmSubject<'_>> {
    let times = if input.is_large { 0 } else { times(input) };
    let mut subjects = vec![
        own(input, "interpreter", Tier::Interpreter, 0),
        own(input, "baseline", Tier::Baseline, times),
        own(input, "optimizer", Tier::Optimizer, times),
        tiering_up(input, times),
    ];
    subjects.extend(wasmtime(input, "cranelift", Strategy::Cranelift));
    subjects.extend(wasmtime(input, "winch", Strategy::Winch));
    subjects.push(wasmi(input));
    subjects
}

/// The number of functions that a module defines.
pub(crate) fn functions(bytes: &[u8]) -> usize {
    // A section's contents begin with the number of entries.
    let (mut at, mut section) = (8, 0);
    let number = |at: &mut usize| {
        let (mut number, mut shift) = (0, 0);
        loop {
            let byte = bytes[*at];
            *at += 1;
            number |= usize::from(byte & 0x7f) << shift;
            shift += 7;
            if byte & 0x80 == 0 {
                return number;
            }
        }
    };
    while section != CODE {
        section = bytes[at];
        at += 1;
        let size = number(&mut at);
        if section != CODE {
            at += size;
        }
    }
    number(&mut at)
}

/// The id of the code section.
const CODE: u8 = 10;

/// The result of `run` in wasmi's interpreter.
pub(crate) fn result(bytes: &[u8], argument: i32) -> i64 {
    start_wasmi(&eager(), bytes, argument)
}

/// A wasmi engine that translates eagerly, and whose recursion limit is that of the other engines.
fn eager() -> wasmi::Engine {
    let mut config = wasmi::Config::default();
    config.compilation_mode(wasmi::CompilationMode::Eager);
    config.set_max_recursion_depth(1 << 16).set_max_stack_height(1 << 24);
    wasmi::Engine::new(&config)
}

fn store(tiers: Tiers) -> Store {
    Store::new(Config { tiers, ..Config::default() })
}

fn instantiate(store: &mut Store, bytes: &[u8]) -> Instance {
    let module = Module::new(bytes).expect("it is valid");
    store.instantiate(&module, &Linker::new()).expect("it imports nothing")
}

fn call(store: &mut Store, instance: Instance, argument: i32) -> i64 {
    match instance.invoke(store, "run", &[Value::I32(argument)]).expect("it returns")[..] {
        [Value::I64(result)] => result,
        _ => panic!("`run` gives an i64"),
    }
}

/// A store with the module and all its functions compiled.
fn compiled(bytes: &[u8], tier: Tier) -> (Store, Instance) {
    let mut store = store(Tiers::Only(tier));
    let instance = instantiate(&mut store, bytes);
    if tier != Tier::Interpreter {
        for &function in store.functions() {
            store.engine().compile_in(function, tier).expect("it compiles");
        }
    }
    (store, instance)
}

/// The number of calls that make up a long run.
fn times(input: &Input) -> u32 {
    let (mut store, instance) = compiled(&input.bytes, Tier::Optimizer);
    let start = clock::now();
    let mut times = 0;
    while clock::now() - start < LONG {
        call(&mut store, instance, black_box(input.many.0));
        times += 1;
    }
    times
}

/// A long run of `times` calls, including loading the bytes. `None` if `times` is zero.
fn long<'a>(input: &'a Input, tiers: Tiers, times: u32) -> Option<Box<dyn FnMut() + 'a>> {
    let run = move || {
        let mut store = store(tiers);
        let instance = instantiate(&mut store, &input.bytes);
        for _ in 0..times {
            black_box(call(&mut store, instance, black_box(input.many.0)));
        }
    };
    (times > 0).then_some(Box::new(run))
}

/// One of our tiers alone. `start` compiles only the functions that are called, `compile` and `run` compile all.
fn own<'a>(input: &'a Input, name: &'static str, tier: Tier, times: u32) -> WasmSubject<'a> {
    let (mut store, instance) = compiled(&input.bytes, tier);
    let code_bytes = store.functions().iter().map(|&function| store.engine().code_len(function)).sum();
    let compile: Box<dyn FnMut()> = Box::new(move || {
        black_box(compiled(&input.bytes, tier));
    });
    WasmSubject {
        engine: "azulejo",
        tier: name,
        compile: (tier != Tier::Interpreter).then_some(compile),
        start: Box::new(move || start(input, Tiers::Only(tier))),
        run: Some(Box::new(move || call(&mut store, instance, black_box(input.many.0)))),
        long: long(input, Tiers::Only(tier), times),
        code_bytes,
    }
}

/// The default tiers: functions start in a fast-starting tier and tier up if they run for long.
fn tiering_up(input: &Input, times: u32) -> WasmSubject<'_> {
    let tiers = Config::default().tiers;
    let start = Box::new(move || start(input, tiers));
    let long = long(input, tiers, times);
    WasmSubject { engine: "azulejo", tier: "climbing", compile: None, start, run: None, long, code_bytes: 0 }
}

fn start(input: &Input, tiers: Tiers) -> i64 {
    let mut store = store(tiers);
    let instance = instantiate(&mut store, &input.bytes);
    call(&mut store, instance, black_box(input.few.0))
}

/// Wasmtime with one of its compilers. `None` if the compiler does not support the module.
fn wasmtime<'a>(input: &'a Input, name: &'static str, strategy: Strategy) -> Option<WasmSubject<'a>> {
    let mut config = wasmtime::Config::new();
    config.strategy(strategy);
    let engine = wasmtime::Engine::new(&config).ok()?;
    let module = wasmtime::Module::new(&engine, &input.bytes).ok()?;
    let code_bytes = module.text().len();
    let enter = |engine: &wasmtime::Engine, module: &wasmtime::Module| {
        let mut store = wasmtime::Store::new(engine, ());
        let instance = wasmtime::Instance::new(&mut store, module, &[]).expect("it imports nothing");
        let run = instance.get_typed_func::<i32, i64>(&mut store, "run").expect("it is exported");
        (store, run)
    };
    let (mut store, run) = enter(&engine, &module);
    let compile = {
        let engine = engine.clone();
        move || {
            black_box(wasmtime::Module::new(&engine, &input.bytes).expect("it compiled before"));
        }
    };
    let start = move || {
        let module = wasmtime::Module::new(&engine, &input.bytes).expect("it compiled before");
        let (mut store, run) = enter(&engine, &module);
        run.call(&mut store, black_box(input.few.0)).expect("it returns")
    };
    let run = move || run.call(&mut store, black_box(input.many.0)).expect("it returns");
    Some(WasmSubject {
        engine: "wasmtime",
        tier: name,
        compile: Some(Box::new(compile)),
        start: Box::new(start),
        run: Some(Box::new(run)),
        long: None,
        code_bytes,
    })
}

fn start_wasmi(engine: &wasmi::Engine, bytes: &[u8], argument: i32) -> i64 {
    let module = wasmi::Module::new(engine, bytes).expect("it is valid");
    let mut store = wasmi::Store::new(engine, ());
    let instance =
        wasmi::Linker::new(engine).instantiate_and_start(&mut store, &module).expect("it imports nothing");
    let run = instance.get_typed_func::<i32, i64>(&store, "run").expect("it is exported");
    run.call(&mut store, argument).expect("it returns")
}

/// Wasmi, which compiles to a bytecode of its own.
fn wasmi(input: &Input) -> WasmSubject<'_> {
    let engine = eager();
    let module = wasmi::Module::new(&engine, &input.bytes).expect("it is valid");
    let mut store = wasmi::Store::new(&engine, ());
    let instance =
        wasmi::Linker::new(&engine).instantiate_and_start(&mut store, &module).expect("it imports nothing");
    let run = instance.get_typed_func::<i32, i64>(&store, "run").expect("it is exported");
    let compile = {
        let engine = engine.clone();
        move || {
            black_box(wasmi::Module::new(&engine, &input.bytes).expect("it is valid"));
        }
    };
    WasmSubject {
        engine: "wasmi",
        tier: "eager",
        compile: Some(Box::new(compile)),
        start: Box::new(move || start_wasmi(&engine, &input.bytes, black_box(input.few.0))),
        run: Some(Box::new(move || run.call(&mut store, black_box(input.many.0)).expect("it returns"))),
        long: None,
        code_bytes: 0,
    }
}
