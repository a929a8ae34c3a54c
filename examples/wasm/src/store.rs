//! Stores: instances, their shared state, and the engine that runs their functions.
//!
//! The functions of all instances are functions of one engine, and are identified everywhere by their numbers there.
//! So calls between instances are like all other calls. A host function is a bytecode function that calls Rust.

use crate::Error;
use crate::bytecode::Op;
use crate::link::Linker;
use crate::memory::{Memory, MemoryMode};
use crate::module::Module;
use crate::runtime::{Global, NO_TYPE, Table, Unit, Vm};
use crate::translate::{Names, offset};
use crate::trap::{Trap, code};
use crate::types::Type;
use azulejo::{Backtrace, BacktraceFrame, Engine, FunctionId, Tier};
use std::cell::Cell;
use std::collections::HashMap;
use std::fmt;
use std::rc::Rc;
use wasmparser::{FuncType, GlobalType, MemoryType, TableType, ValType};

/// The tiers in which functions run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Tiers {
    /// This tier only.
    Only(Tier),
    /// Functions start in the interpreter. After these numbers of calls and loop iterations they tier up to the baseline, and
    /// then to the optimizer.
    TierUp(u32, u32),
}

/// The configuration of a store.
#[derive(Clone, Debug)]
pub struct Config {
    /// The tiers in which functions run.
    pub tiers: Tiers,
    /// The way in which accesses beyond the end of a memory are detected.
    pub memory: MemoryMode,
    /// Whether [`Engine::stats`] includes compile times.
    pub times: bool,
    /// Whether the compiler verifies the result of each of its stages.
    pub checks: bool,
    /// The maximum number of registers of all active calls together.
    pub stack_slots: usize,
    /// The maximum number of bytes of the native stack that calls may use.
    pub native_stack: usize,
    /// The maximum number of calls and loop iterations of a program. `None` for no limit.
    pub fuel: Option<u64>,
    /// Whether [`Store::backtrace`] returns the calls that led to a trap.
    pub backtraces: bool,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            tiers: Tiers::TierUp(50, 1000),
            checks: false,
            times: false,
            stack_slots: 1 << 20,
            native_stack: 4 << 20,
            fuel: None,
            backtraces: false,
            memory: MemoryMode::Guarded,
        }
    }
}

/// A parameter or result of a function.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Value {
    /// An integer of 32 bits.
    I32(i32),
    /// An integer of 64 bits.
    I64(i64),
    /// A float of 32 bits.
    F32(f32),
    /// A float of 64 bits.
    F64(f64),
    /// A function, by the engine's number, or null.
    FuncRef(Option<u32>),
    /// A host object, identified by a number, or null.
    ExternRef(Option<u32>),
}

impl Value {
    /// The value of a type with these bits.
    pub fn from_bits(ty: ValType, bits: u64) -> Value {
        let reference = (bits as u32).checked_sub(1);
        match ty {
            ValType::I32 => Value::I32(bits as i32),
            ValType::I64 => Value::I64(bits as i64),
            ValType::F32 => Value::F32(f32::from_bits(bits as u32)),
            ValType::F64 => Value::F64(f64::from_bits(bits)),
            ValType::Ref(ty) if ty.is_func_ref() => Value::FuncRef(reference),
            _ => Value::ExternRef(reference),
        }
    }

    /// The bits that represent the value in a register.
    pub fn to_bits(self) -> u64 {
        match self {
            Value::I32(value) => value as u32 as u64,
            Value::I64(value) => value as u64,
            Value::F32(value) => value.to_bits() as u64,
            Value::F64(value) => value.to_bits(),
            Value::FuncRef(value) | Value::ExternRef(value) => value.map_or(0, |value| value as u64 + 1),
        }
    }

    /// The value's type.
    pub fn ty(self) -> ValType {
        match self {
            Value::I32(_) => ValType::I32,
            Value::I64(_) => ValType::I64,
            Value::F32(_) => ValType::F32,
            Value::F64(_) => ValType::F64,
            Value::FuncRef(_) => ValType::FUNCREF,
            Value::ExternRef(_) => ValType::EXTERNREF,
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::I32(value) => value.fmt(f),
            Value::I64(value) => value.fmt(f),
            Value::F32(value) => value.fmt(f),
            Value::F64(value) => value.fmt(f),
            Value::FuncRef(None) | Value::ExternRef(None) => f.write_str("null"),
            Value::FuncRef(Some(number)) => write!(f, "function {number}"),
            Value::ExternRef(Some(number)) => write!(f, "extern {number}"),
        }
    }
}

/// An item that can be exported and imported, by its number in the store.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Extern {
    /// A function.
    Func(u32),
    /// A table.
    Table(usize),
    /// A memory.
    Memory(usize),
    /// A global.
    Global(usize),
}

/// A frame of a backtrace. See [`Store::backtrace`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Frame {
    /// The function's name.
    pub function: String,
    /// The offset in the module's bytes of the instruction that trapped or that called the next inner function. `None` for host
    /// functions.
    pub offset: Option<usize>,
}

impl fmt::Display for Frame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.function)?;
        self.offset.map_or(Ok(()), |offset| write!(f, " at {offset:#x}"))
    }
}

/// An instance of a store.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Instance(pub(crate) usize);

/// Instances and their shared state.
#[derive(Debug)]
pub struct Store {
    pub(crate) engine: Engine<Op>,
    pub(crate) vm: Box<Vm>,
    /// The engine's functions by number.
    pub(crate) functions: Vec<FunctionId>,
    /// The module and body that each function was translated from.
    pub(crate) origins: Vec<Option<(Rc<Names>, usize)>>,
    /// Whether accesses beyond the end of a memory fault.
    is_guarded: bool,
    /// The exports of each instance.
    pub(crate) exports: Vec<HashMap<String, Extern>>,
}

impl Store {
    /// An empty store.
    pub fn new(config: Config) -> Store {
        let builder = Engine::<Op>::builder()
            .checks(config.checks)
            .times(config.times)
            .stack_slots(config.stack_slots)
            .native_stack(config.native_stack)
            .backtraces(config.backtraces);
        let builder = config.fuel.into_iter().fold(builder, |builder, fuel| builder.fuel(fuel));
        let builder = match config.tiers {
            Tiers::Only(tier) => builder.only(tier),
            Tiers::TierUp(baseline, optimizer) => builder.thresholds(baseline, optimizer),
        };
        let is_guarded = config.memory.is_guarded();
        // SAFETY: every address that a load or store can compute is in the memory's reservation, and faults beyond its end.
        let builder = unsafe { builder.guards(is_guarded) };
        let mut vm = Box::new(Vm {
            types: std::ptr::null(),
            results: [0; _],
            function_types: vec![NO_TYPE],
            signatures: Vec::new(),
            signature_numbers: HashMap::new(),
            units: Vec::new(),
            memories: Vec::new(),
            tables: Vec::new(),
            globals: Vec::new(),
            hosts: Vec::new(),
            failure: None,
        });
        vm.types = vm.function_types.as_ptr();
        let (functions, origins) = (Vec::new(), Vec::new());
        Store { engine: builder.build(), vm, functions, origins, is_guarded, exports: Vec::new() }
    }

    /// Instantiates a module. Imports are resolved by the linker. Runs the start function.
    pub fn instantiate(&mut self, module: &Module, linker: &Linker) -> Result<Instance, Error> {
        crate::link::instantiate(self, module, linker)
    }

    /// An export of an instance.
    pub fn export(&self, instance: Instance, name: &str) -> Option<Extern> {
        self.exports.get(instance.0)?.get(name).copied()
    }

    /// Adds a host memory.
    pub fn memory(&mut self, ty: MemoryType) -> Result<Extern, Error> {
        let memory = Memory::new(ty, self.is_guarded);
        self.vm.memories.push(memory.ok_or_else(|| Error::Limit("no room for a memory".into()))?);
        Ok(Extern::Memory(self.vm.memories.len() - 1))
    }

    /// Adds a host table, whose elements are null.
    pub fn table(&mut self, ty: TableType) -> Result<Extern, Error> {
        self.table_of(ty, 0)
    }

    pub(crate) fn table_of(&mut self, ty: TableType, value: u64) -> Result<Extern, Error> {
        let table = Table::new(ty, value).ok_or_else(|| Error::Limit("no room for a table".into()))?;
        self.vm.tables.push(Box::new(table));
        Ok(Extern::Table(self.vm.tables.len() - 1))
    }

    /// Adds a global. A reference to a function that the store does not have becomes null.
    pub fn global(&mut self, value: Value, mutable: bool) -> Extern {
        let bits = value.to_bits();
        let bits = if self.vm.has(value.ty(), bits) { bits } else { 0 };
        self.global_of(GlobalType { content_type: value.ty(), mutable, shared: false }, bits)
    }

    pub(crate) fn global_of(&mut self, ty: GlobalType, bits: u64) -> Extern {
        self.vm.globals.push(Box::new(Global { value: Cell::new(bits), ty }));
        Extern::Global(self.vm.globals.len() - 1)
    }

    /// The value of a global.
    pub fn global_value(&self, global: Extern) -> Option<Value> {
        let Extern::Global(number) = global else { return None };
        let global = self.vm.globals.get(number)?;
        Some(Value::from_bits(global.ty.content_type, global.value.get()))
    }

    /// Sets a mutable global to a value of its type.
    pub fn set_global(&mut self, global: Extern, value: Value) -> Result<(), Error> {
        let not_one = || Error::Arguments("it is no global".into());
        let Extern::Global(number) = global else { return Err(not_one()) };
        let global = self.vm.globals.get(number).ok_or_else(not_one)?;
        let is_right = global.ty.content_type == value.ty() && self.vm.has(value.ty(), value.to_bits());
        if !global.ty.mutable || !is_right {
            return Err(Error::Arguments(format!("{value} cannot be the value of {:?}", global.ty)));
        }
        global.value.set(value.to_bits());
        Ok(())
    }

    /// The bytes of a memory.
    pub fn memory_bytes(&mut self, memory: Extern) -> Option<&mut [u8]> {
        let Extern::Memory(number) = memory else { return None };
        let memory = self.vm.memories.get_mut(number)?;
        let (start, length) = (memory.start(), memory.length() as usize);
        // SAFETY: the memory has this many bytes, and no code runs while the store is borrowed.
        Some(unsafe { std::slice::from_raw_parts_mut(start, length) })
    }

    /// The type of the function with this number, if it exists.
    pub fn function_type(&self, function: u32) -> Option<&FuncType> {
        let ty = self.vm.function_types.get(function as usize + 1)?;
        Some(&self.vm.signatures[*ty as usize])
    }

    /// The type of an item. The minimum of a table or memory is its current size.
    pub(crate) fn type_of(&self, item: Extern) -> Option<Type<'_>> {
        Some(match item {
            Extern::Func(number) => Type::Func(self.function_type(number)?),
            Extern::Table(number) => {
                let table = self.vm.tables.get(number)?;
                Type::Table(TableType { initial: table.length.get().into(), ..table.ty })
            }
            Extern::Memory(number) => {
                let memory = self.vm.memories.get(number)?;
                Type::Memory(MemoryType { initial: memory.pages(), ..memory.ty })
            }
            Extern::Global(number) => Type::Global(self.vm.globals.get(number)?.ty),
        })
    }

    /// Calls a function by its number.
    pub fn call(&mut self, function: u32, args: &[Value]) -> Result<Vec<Value>, Error> {
        let ty = self
            .function_type(function)
            .ok_or_else(|| Error::NoExport(format!("function {function}")))?
            .clone();
        let is_known = |arg: &Value| self.vm.has(arg.ty(), arg.to_bits());
        if !ty.params().iter().copied().eq(args.iter().map(|arg| arg.ty())) || !args.iter().all(is_known) {
            let given: Vec<ValType> = args.iter().map(|arg| arg.ty()).collect();
            let message = format!("a function of {:?} was called with {given:?}", ty.params());
            return Err(Error::Arguments(message));
        }
        let bits: Vec<u64> = args.iter().map(|arg| arg.to_bits()).collect();
        let first = self.call_bits(function, &bits)?;
        self.vm.results[0] = first;
        let results = ty.results().iter().zip(&self.vm.results);
        Ok(results.map(|(&ty, &bits)| Value::from_bits(ty, bits)).collect())
    }

    pub(crate) fn call_bits(&mut self, function: u32, args: &[u64]) -> Result<u64, Error> {
        let result = self.engine.call(self.id(function), &mut *self.vm, args);
        result.map_err(|error| match error {
            azulejo::Error::Trap { trap: azulejo::Trap::User(code::HOST), .. } => {
                let unknown = || Trap::Host("a function of the host failed".into());
                Error::Trap(self.vm.failure.take().unwrap_or_else(unknown))
            }
            error => error.into(),
        })
    }

    fn id(&self, function: u32) -> FunctionId {
        self.functions[function as usize]
    }

    /// All stages of the compilation of a function, given by its name or number in its module: bytecode, graphs, tiles, and
    /// machine code that is annotated with bytecodes.
    pub fn dump(&self, name: &str) -> Result<String, Error> {
        let numbered = format!("function {name}");
        let named =
            |id: &&FunctionId| self.engine.name(**id).is_ok_and(|known| known == name || known == numbered);
        let &function = self.functions.iter().find(named).ok_or_else(|| Error::NoExport(name.into()))?;
        self.engine.compile(function)?;
        let machine_code = self.engine.disassemble(function)?;
        Ok(format!("{}\n== machine code\n{machine_code}", self.engine.stages(function)?))
    }

    /// The functions that were active when a call last failed, innermost first, and the number of frames omitted. Empty
    /// unless [`Config::backtraces`] is set.
    pub fn backtrace(&self) -> (Vec<Frame>, usize) {
        let Backtrace { frames, left_out } = self.engine.backtrace();
        let frame = |frame: &BacktraceFrame| {
            let origin = self.origins.get(frame.function.number() as usize).and_then(Option::as_ref);
            Frame {
                function: self.engine.name(frame.function).unwrap_or_default(),
                offset: origin.and_then(|(names, body)| offset(names, *body, frame.at)),
            }
        };
        (frames.iter().map(frame).collect(), left_out)
    }

    /// The engine that runs the store's functions.
    pub fn engine(&self) -> &Engine<Op> {
        &self.engine
    }

    /// The engine's functions, by number.
    pub fn functions(&self) -> &[FunctionId] {
        &self.functions
    }

    /// The number of a type. Equal types have equal numbers.
    pub(crate) fn signature(&mut self, ty: &FuncType) -> u32 {
        if let Some(&number) = self.vm.signature_numbers.get(ty) {
            return number;
        }
        let number = self.vm.signatures.len() as u32;
        self.vm.signatures.push(ty.clone());
        self.vm.signature_numbers.insert(ty.clone(), number);
        number
    }
}

impl Instance {
    /// Calls an exported function.
    pub fn invoke(self, store: &mut Store, name: &str, args: &[Value]) -> Result<Vec<Value>, Error> {
        match store.export(self, name) {
            Some(Extern::Func(function)) => store.call(function, args),
            _ => Err(Error::NoExport(name.into())),
        }
    }

    /// The type of an exported function.
    pub fn function_type<'a>(self, store: &'a Store, name: &str) -> Option<&'a FuncType> {
        match store.export(self, name) {
            Some(Extern::Func(function)) => store.function_type(function),
            _ => None,
        }
    }

    /// The value of an exported global.
    pub fn global(self, store: &Store, name: &str) -> Option<Value> {
        store.global_value(store.export(self, name)?)
    }

    /// The bytes of an exported memory.
    pub fn memory<'a>(self, store: &'a mut Store, name: &str) -> Option<&'a mut [u8]> {
        store.memory_bytes(store.export(self, name)?)
    }

    pub(crate) fn unit(self, store: &Store) -> &Unit {
        &store.vm.units[self.0]
    }
}
