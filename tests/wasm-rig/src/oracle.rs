//! The judge: plans the calls of a module and makes them in wasmi, an interpreter, with a bound on each call's fuel.

use crate::generate::{self, FUEL_EXPORT};
use crate::host;
use crate::outcome::{End, Kind, Outcome, Seen};
use crate::plan::{self, Call, Plan, Type};
use azulejo_core::random::Random;
use wasmi::errors::{ErrorKind, InstantiationError};
use wasmi::{
    Caller, Config, Engine, Error, ExternType, FuncType, Instance, Linker, Module, Ref, Store, TrapCode, Val,
    ValType,
};

/// The fuel of one call, in wasmi's unit: about one per instruction.
const FUEL: u64 = 500_000;

/// The judge's results for a module.
pub struct Judged {
    /// The calls that were made.
    pub plan: Plan,
    /// The results of the calls.
    pub outcome: Outcome,
    /// The fuel that each call used.
    pub spent: Vec<u64>,
}

/// The judge, which is reused for many modules.
pub struct Oracle {
    engine: Engine,
    linker: Linker<()>,
}

impl Default for Oracle {
    fn default() -> Oracle {
        let mut config = Config::default();
        config.consume_fuel(true);
        // The features that the example supports, and no others.
        config
            .wasm_tail_call(true)
            .wasm_multi_memory(false)
            .wasm_custom_page_sizes(false)
            .wasm_wide_arithmetic(false);
        let engine = Engine::new(&config);
        let linker = linker(&engine);
        Oracle { engine, linker }
    }
}

impl Oracle {
    /// Plans calls and makes them. `None` if the module is not valid.
    pub fn judge(&self, bytes: &[u8], random: &mut Random) -> Option<Judged> {
        let module = Module::new(&self.engine, bytes).ok()?;
        let mut plan = Plan::default();
        let mut functions = Vec::new();
        for export in module.exports() {
            let name = export.name().to_string();
            match export.ty() {
                ExternType::Func(ty) => {
                    functions.push((name, ty.params().iter().copied().map(type_of).collect()))
                }
                ExternType::Memory(_) => plan.memories.push(name),
                ExternType::Global(_) => plan.globals.push(name),
                ExternType::Table(_) => {}
            }
        }
        plan.calls = plan::calls(&functions, random);
        Some(self.run(&module, plan))
    }

    /// Makes the calls until one of them makes further comparison impossible; later ones are removed from the plan.
    fn run(&self, module: &Module, mut plan: Plan) -> Judged {
        let (mut outcome, mut spent) = (Outcome::default(), Vec::new());
        let mut store = Store::new(&self.engine, ());
        refuel(&mut store);
        let instance = match self.linker.instantiate_and_start(&mut store, module) {
            Ok(instance) => instance,
            Err(error) => {
                outcome.start = of_start(&error).map(Err);
                plan.calls.clear();
                return Judged { plan, outcome, spent };
            }
        };
        outcome.start = Some(Ok(Vec::new()));
        for call in &plan.calls {
            if let Some(fuel) = instance.get_global(&store, FUEL_EXPORT) {
                // A mutated module may have a global of any type there.
                let _ = fuel.set(&mut store, Val::I32(generate::FUEL as i32));
            }
            outcome.calls.push(make(&mut store, instance, call));
            spent.push(FUEL - store.get_fuel().expect("the engine counts"));
            if outcome.calls.last().is_some_and(Outcome::is_last) {
                break;
            }
        }
        plan.calls.truncate(outcome.calls.len());
        for name in &plan.memories {
            let memory = instance.get_memory(&store, name).expect("it is exported");
            let bytes = memory.data(&store);
            outcome.memories.push((bytes.len(), Outcome::hash(bytes)));
        }
        for name in &plan.globals {
            let global = instance.get_global(&store, name).expect("it is exported");
            outcome.globals.push(seen(&global.get(&store)));
        }
        Judged { plan, outcome, spent }
    }
}

/// Classifies an instantiation error; `None` if the module cannot be linked. A segment that does not fit has a kind of its
/// own.
fn of_start(error: &Error) -> Option<Kind> {
    match error.kind() {
        ErrorKind::TrapCode(code) => Some(kind_of(*code)),
        ErrorKind::Instantiation(InstantiationError::ElementSegmentDoesNotFit { .. }) => Some(Kind::Table),
        ErrorKind::Table(_) => Some(Kind::Table),
        ErrorKind::Memory(_) => Some(Kind::Memory),
        _ => None,
    }
}

/// The functions of the host.
fn linker(engine: &Engine) -> Linker<()> {
    let mut linker = Linker::new(engine);
    let type_of = |ty: &Type| value(*ty, 0).ty();
    for function in &host::FUNCTIONS {
        let ty = FuncType::new(function.parameters.iter().map(type_of), function.results.iter().map(type_of));
        let answer = move |_: Caller<'_, ()>, arguments: &[Val], results: &mut [Val]| {
            let arguments = arguments.iter().map(|argument| match argument {
                Val::I32(value) => *value as u32 as u64,
                Val::I64(value) => *value as u64,
                Val::F32(value) => u64::from(value.to_bits()),
                Val::F64(value) => value.to_bits(),
                _ => 0,
            });
            host::answer(function, arguments, |at, bits| results[at] = value(function.results[at], bits));
            Ok(())
        };
        linker.func_new(host::MODULE, function.name, ty, answer).expect("names are different");
    }
    linker
}

fn refuel(store: &mut Store<()>) {
    store.set_fuel(FUEL).expect("the engine counts");
}

fn make(store: &mut Store<()>, instance: Instance, call: &Call) -> End {
    let function = instance.get_func(&*store, &call.name).expect("it is exported");
    let arguments: Vec<Val> = call.arguments.iter().map(|&(ty, bits)| value(ty, bits)).collect();
    let mut results: Vec<Val> = function.ty(&*store).results().iter().map(|ty| Val::default(*ty)).collect();
    refuel(store);
    match function.call(store, &arguments, &mut results) {
        Ok(()) => Ok(results.iter().map(seen).collect()),
        Err(error) => Err(error.as_trap_code().map_or(Kind::Other, kind_of)),
    }
}

fn type_of(ty: ValType) -> Type {
    match ty {
        ValType::I32 => Type::I32,
        ValType::I64 => Type::I64,
        ValType::F32 => Type::F32,
        ValType::F64 => Type::F64,
        ValType::FuncRef => Type::Func,
        ValType::ExternRef => Type::Extern,
        ValType::V128 => unreachable!("there are no vectors"),
    }
}

fn value(ty: Type, bits: u64) -> Val {
    match ty {
        Type::I32 => Val::I32(bits as i32),
        Type::I64 => Val::I64(bits as i64),
        Type::F32 => Val::F32(f32::from_bits(bits as u32).into()),
        Type::F64 => Val::F64(f64::from_bits(bits).into()),
        Type::Func => Val::FuncRef(Ref::Null),
        Type::Extern => Val::ExternRef(Ref::Null),
    }
}

fn seen(value: &Val) -> Seen {
    match value {
        Val::I32(value) => Seen::Int(*value as u32 as u64),
        Val::I64(value) => Seen::Int(*value as u64),
        Val::F32(value) => Seen::of_f32(value.to_bits()),
        Val::F64(value) => Seen::of_f64(value.to_bits()),
        Val::FuncRef(value) => Seen::Null(value.is_null()),
        Val::ExternRef(value) => Seen::Null(value.is_null()),
        Val::V128(_) => unreachable!("there are no vectors"),
    }
}

fn kind_of(code: TrapCode) -> Kind {
    match code {
        TrapCode::UnreachableCodeReached => Kind::Unreachable,
        TrapCode::MemoryOutOfBounds => Kind::Memory,
        TrapCode::TableOutOfBounds => Kind::Table,
        TrapCode::IndirectCallToNull => Kind::Null,
        TrapCode::IntegerDivisionByZero => Kind::DivideByZero,
        TrapCode::IntegerOverflow => Kind::Overflow,
        TrapCode::BadConversionToInteger => Kind::Conversion,
        TrapCode::StackOverflow => Kind::Stack,
        TrapCode::BadSignature => Kind::Signature,
        TrapCode::OutOfFuel => Kind::Fuel,
        TrapCode::GrowthOperationLimited => Kind::Other,
    }
}
