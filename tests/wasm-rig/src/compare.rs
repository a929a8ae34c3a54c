//! Runs a plan in the virtual machine, in each of its ways, and reports differences from the judge.

use crate::generate::{self, FUEL_EXPORT};
use crate::host;
use crate::outcome::{End, Kind, Outcome, Seen};
use crate::plan::{Call, Plan, Type};
use azulejo_wasm::{
    Config, Error, FuncType, Instance, Linker, MemoryMode, Module, Store, Tier, Tiers, Trap, Value,
};

/// A configuration of the virtual machine.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Way {
    /// Its name, for messages.
    pub name: &'static str,
    /// The tiers.
    pub tiers: Tiers,
    /// How out-of-bounds accesses are detected.
    pub memory: MemoryMode,
    /// Whether each stage of the compiler is checked.
    pub checks: bool,
}

/// All configurations. The thresholds are so low that a function tiers up after a few calls, and within loops.
pub const WAYS: [Way; 7] = {
    const fn only(name: &'static str, tier: Tier, memory: MemoryMode) -> Way {
        Way { name, tiers: Tiers::Only(tier), memory, checks: false }
    }
    use MemoryMode::{Checked, Guarded};
    [
        only("interpreter", Tier::Interpreter, Checked),
        only("baseline, checked memory", Tier::Baseline, Checked),
        only("baseline, guarded memory", Tier::Baseline, Guarded),
        only("optimizer, checked memory", Tier::Optimizer, Checked),
        only("optimizer, guarded memory", Tier::Optimizer, Guarded),
        Way { checks: true, ..only("optimizer with checks", Tier::Optimizer, Guarded) },
        Way { tiers: Tiers::TierUp(2, 5), ..only("tiering up", Tier::Optimizer, Guarded) },
    ]
};

/// Decodes a module that the judge refuses. It only must not crash: the two support different versions of the language, so
/// their verdicts may differ.
pub fn decode(bytes: &[u8]) -> Result<(), String> {
    match Module::new(bytes) {
        Ok(_) | Err(Error::Module(_)) => Ok(()),
        Err(error) => Err(format!("decode: {error}")),
    }
}

/// The stack size: recursion as deep as the fuel allows must fit, in an interpreter that was built without optimization.
const STACK: usize = 64 << 20;

/// Runs a plan in a module that the judge accepts, on a thread with a large stack. The module is not instantiated if the
/// judge gave up on its start function.
pub fn run(bytes: &[u8], plan: &Plan, judge: &Outcome, way: Way) -> Result<Outcome, String> {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(STACK);
        let running = thread.spawn_scoped(scope, || run_here(bytes, plan, judge, way));
        let running = running.map_err(|error| format!("no thread: {error}"))?;
        running.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

fn run_here(bytes: &[u8], plan: &Plan, judge: &Outcome, way: Way) -> Result<Outcome, String> {
    let mut outcome = Outcome::default();
    if judge.start.as_ref().is_some_and(Outcome::is_last) {
        return Ok(outcome);
    }
    let module = Module::new(bytes).map_err(|error| format!("refused: {error}"))?;
    let Way { tiers, memory, checks, .. } = way;
    let mut store = Store::new(Config { tiers, memory, checks, native_stack: STACK, ..Config::default() });
    let instance = match store.instantiate(&module, &linker()) {
        Ok(instance) => instance,
        Err(Error::Trap(trap)) => {
            outcome.start = Some(Err(kind_of(&trap)));
            return Ok(outcome);
        }
        Err(Error::Link(_)) if judge.start.is_none() => return Ok(outcome),
        Err(error) => return Err(format!("instantiate: {error}")),
    };
    outcome.start = Some(Ok(Vec::new()));
    // A call on which the judge gave up might never end here: recursion may go deeper than in the judge, and may branch.
    let bounded = plan.calls.iter().zip(&judge.calls).take_while(|(_, end)| !Outcome::is_last(end));
    for (call, _) in bounded {
        if let Some(fuel) = store.export(instance, FUEL_EXPORT) {
            // A mutated module may export anything by that name.
            let _ = store.set_global(fuel, Value::I32(generate::FUEL as i32));
        }
        outcome.calls.push(make(&mut store, instance, call)?);
    }
    for name in &plan.memories {
        let bytes = instance.memory(&mut store, name).ok_or_else(|| format!("there is no memory {name}"))?;
        outcome.memories.push((bytes.len(), Outcome::hash(bytes)));
    }
    for name in &plan.globals {
        let value = instance.global(&store, name).ok_or_else(|| format!("there is no global {name}"))?;
        outcome.globals.push(seen(value));
    }
    Ok(outcome)
}

/// The functions of the host.
fn linker() -> Linker {
    let mut linker = Linker::new();
    let type_of = |ty: &Type| value(*ty, 0).ty();
    for function in &host::FUNCTIONS {
        let ty = FuncType::new(function.parameters.iter().map(type_of), function.results.iter().map(type_of));
        linker.func(host::MODULE, function.name, ty, |_, arguments, results| {
            host::answer(function, arguments.iter().copied(), |at, bits| results[at] = bits);
            Ok(())
        });
    }
    linker
}

fn make(store: &mut Store, instance: Instance, call: &Call) -> Result<End, String> {
    let arguments: Vec<Value> = call.arguments.iter().map(|&(ty, bits)| value(ty, bits)).collect();
    match instance.invoke(store, &call.name, &arguments) {
        Ok(results) => Ok(Ok(results.into_iter().map(seen).collect())),
        Err(Error::Trap(trap)) => Ok(Err(kind_of(&trap))),
        Err(error) => Err(format!("{}: {error}", call.name)),
    }
}

/// The difference between one way's outcome and the judge's. `None` if they agree as far as they can be compared.
pub fn difference(judge: &Outcome, own: &Outcome) -> Option<String> {
    if judge.start.as_ref().is_some_and(Outcome::is_last) {
        return None;
    }
    if judge.start != own.start {
        return Some(format!("start: {:?}, the judge says {:?}", own.start, judge.start));
    }
    for (at, (judge, own)) in judge.calls.iter().zip(&own.calls).enumerate() {
        // The state after a stack overflow depends on the engine's limit.
        if [judge, own].iter().any(|end| Outcome::is_last(end)) {
            return None;
        }
        if judge != own {
            return Some(format!("call {at}: {own:x?}, the judge says {judge:x?}"));
        }
    }
    if judge.calls.last().is_some_and(Outcome::is_last) {
        return None;
    }
    if judge.memories != own.memories {
        return Some(format!("memories {:x?}, the judge says {:x?}", own.memories, judge.memories));
    }
    (judge.globals != own.globals)
        .then(|| format!("globals {:x?}, the judge says {:x?}", own.globals, judge.globals))
}

fn value(ty: Type, bits: u64) -> Value {
    match ty {
        Type::I32 => Value::I32(bits as i32),
        Type::I64 => Value::I64(bits as i64),
        Type::F32 => Value::F32(f32::from_bits(bits as u32)),
        Type::F64 => Value::F64(f64::from_bits(bits)),
        Type::Func => Value::FuncRef(None),
        Type::Extern => Value::ExternRef(None),
    }
}

fn seen(value: Value) -> Seen {
    match value {
        Value::I32(value) => Seen::Int(value as u32 as u64),
        Value::I64(value) => Seen::Int(value as u64),
        Value::F32(value) => Seen::of_f32(value.to_bits()),
        Value::F64(value) => Seen::of_f64(value.to_bits()),
        Value::FuncRef(reference) => Seen::Null(reference.is_none()),
        Value::ExternRef(reference) => Seen::Null(reference.is_none()),
    }
}

fn kind_of(trap: &Trap) -> Kind {
    match trap {
        Trap::Unreachable => Kind::Unreachable,
        Trap::MemoryOutOfBounds => Kind::Memory,
        Trap::TableOutOfBounds | Trap::UndefinedElement => Kind::Table,
        Trap::UninitializedElement => Kind::Null,
        Trap::IndirectCallTypeMismatch => Kind::Signature,
        Trap::DivideByZero => Kind::DivideByZero,
        Trap::IntegerOverflow => Kind::Overflow,
        Trap::InvalidConversion => Kind::Conversion,
        Trap::CallStackExhausted => Kind::Stack,
        _ => Kind::Other,
    }
}
