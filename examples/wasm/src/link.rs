//! Linking: resolves a module's imports, and instantiates it in a store.

use crate::Error;
use crate::memory::Memory;
use crate::module::{Elements, Import, Module, Parts, Place, Span};
use crate::runtime::{self, Caller, Host, Unit};
use crate::store::{Extern, Instance, Store};
use crate::translate::{Names, Translation, host, translate};
use crate::trap::Trap;
use crate::types::Type;
use crate::wasi::{self, Wasi, Width};
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::fmt;
use std::rc::Rc;
use wasmparser::{ExternalKind, FuncType, Operator, TypeRef, ValType};

/// The items that modules can import, by the names of a module and of an export.
#[derive(Clone, Default)]
pub struct Linker {
    definitions: HashMap<String, HashMap<String, Definition>>,
}

#[derive(Clone)]
enum Definition {
    Extern(Extern),
    Host(FuncType, Host),
}

impl fmt::Debug for Linker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Linker").field("modules", &self.definitions.keys()).finish_non_exhaustive()
    }
}

impl Linker {
    /// An empty linker.
    pub fn new() -> Linker {
        Linker::default()
    }

    /// Defines an item of the store under these names.
    pub fn define(&mut self, module: &str, name: &str, item: Extern) {
        self.add(module, name, Definition::Extern(item));
    }

    /// Defines a host function under these names. It gets its arguments as the bits of registers, and
    /// writes its results in the same form.
    pub fn func(
        &mut self,
        module: &str,
        name: &str,
        ty: FuncType,
        function: impl Fn(&mut Caller<'_>, &[u64], &mut [u64]) -> Result<(), Trap> + 'static,
    ) {
        self.add(module, name, Definition::Host(ty, Rc::new(function)));
    }

    /// Defines all exports of an instance under the name of a module.
    pub fn instance(&mut self, module: &str, store: &Store, instance: Instance) {
        for (name, &item) in store.exports.get(instance.0).into_iter().flatten() {
            self.define(module, name, item);
        }
    }

    /// Defines the system interface that programs in C and similar languages import.
    pub fn wasi(&mut self, wasi: Wasi) {
        let wasi = Rc::new(RefCell::new(wasi));
        for function in wasi::FUNCTIONS {
            let params = function.parameters.iter().map(|width| match width {
                Width::Bits32 => ValType::I32,
                Width::Bits64 => ValType::I64,
            });
            let ty = FuncType::new(params, function.returns.then_some(ValType::I32));
            let wasi = wasi.clone();
            self.func(wasi::MODULE, function.name, ty, move |caller, arguments, results| {
                let errno = function.call(&mut wasi.borrow_mut(), caller.memory(), arguments);
                let errno = errno.map_err(|exit| Trap::Exit(exit.0 as i32))?;
                results.iter_mut().for_each(|result| *result = errno as u64);
                Ok(())
            });
        }
    }

    fn add(&mut self, module: &str, name: &str, definition: Definition) {
        self.definitions.entry(module.into()).or_default().insert(name.into(), definition);
    }

    fn find(&self, import: &Import) -> Option<&Definition> {
        self.definitions.get(&import.module)?.get(&import.name)
    }

    /// The message for an import without a definition.
    fn missing(&self, parts: &Parts, import: &Import) -> String {
        let Import { module, name, .. } = import;
        let reason = match self.definitions.contains_key(module) {
            true => format!("`{module}` has no `{name}`"),
            false => format!("there is no `{module}`"),
        };
        format!("unknown import `{module}` `{name}`: {} is expected, and {reason}", import.wanted(parts))
    }
}

/// The meanings of a module's indices in an instance, as numbers of the store.
#[derive(Default)]
struct Found {
    functions: Vec<u32>,
    tables: Vec<usize>,
    memories: Vec<usize>,
    globals: Vec<usize>,
}

/// Instantiates a module.
pub(crate) fn instantiate(store: &mut Store, module: &Module, linker: &Linker) -> Result<Instance, Error> {
    let parts = &*module.0;
    let mut found = Found::default();
    let mut hosts = Vec::new();
    let mut faults = Vec::new();
    for import in &parts.imports {
        match linker.find(import) {
            None => faults.push(linker.missing(parts, import)),
            Some(Definition::Host(ty, host)) => {
                if !matches!(import.ty, TypeRef::Func(wanted) if *ty == parts.types[wanted as usize]) {
                    faults.push(import.incompatible(parts, &Type::Func(ty)));
                }
                // The function is added to the engine once no error is possible any more.
                found.functions.push((store.functions.len() + hosts.len()) as u32);
                let name = format!("{}.{}", import.module, import.name);
                hosts.push((name, ty.clone(), host.clone()));
            }
            Some(Definition::Extern(item)) => match found.import(store, parts, import, *item) {
                Err(Some(ty)) => faults.push(import.incompatible(parts, &ty)),
                Err(None) => faults.push(linker.missing(parts, import)),
                Ok(()) => {}
            },
        }
    }
    if !faults.is_empty() {
        return Err(Error::Link(faults.join("\n")));
    }
    let first = store.functions.len() + hosts.len();
    found.functions.extend((first..).take(parts.bodies.len()).map(|number| number as u32));
    found.define(store, parts)?;
    let unit = found.unit(store, module)?;
    store.vm.units.push(Box::new(unit));
    let exports = parts.exports.iter().map(|(name, kind, index)| {
        let index = *index as usize;
        let item = match kind {
            ExternalKind::Table => Extern::Table(found.tables[index]),
            ExternalKind::Memory => Extern::Memory(found.memories[index]),
            ExternalKind::Global => Extern::Global(found.globals[index]),
            _ => Extern::Func(found.functions[index]),
        };
        (name.clone(), item)
    });
    store.exports.push(exports.collect());
    let instance = Instance(store.exports.len() - 1);
    let start = parts.start.map(|index| found.functions[index as usize]);
    let segments = found.segments(store, parts, instance);
    found.functions(store, module, hosts);
    segments?;
    if let Some(start) = start {
        store.call(start, &[])?;
    }
    Ok(instance)
}

impl Import {
    fn wanted<'a>(&self, parts: &'a Parts) -> Type<'a> {
        match self.ty {
            TypeRef::Table(ty) => Type::Table(ty),
            TypeRef::Memory(ty) => Type::Memory(ty),
            TypeRef::Global(ty) => Type::Global(ty),
            TypeRef::Func(ty) => Type::Func(&parts.types[ty as usize]),
            _ => unreachable!("the decoder refuses all others"),
        }
    }

    fn incompatible(&self, parts: &Parts, there: &Type<'_>) -> String {
        let Import { module, name, .. } = self;
        let wanted = self.wanted(parts);
        format!("incompatible import type of `{module}` `{name}`: {wanted} is expected, and there is {there}")
    }
}

/// Whether a size and its maximum satisfy the limits that an import requires.
fn fits(has: u64, most: Option<u64>, wanted: u64, wanted_most: Option<u64>) -> bool {
    has >= wanted && wanted_most.is_none_or(|wanted| most.is_some_and(|most| most <= wanted))
}

impl Found {
    /// Imports an item of the store if it has the required type. The error is the item's actual type, if the item exists.
    fn import<'a>(
        &mut self,
        store: &'a Store,
        parts: &Parts,
        import: &Import,
        item: Extern,
    ) -> Result<(), Option<Type<'a>>> {
        let is_right = match (import.ty, item) {
            (TypeRef::Func(ty), Extern::Func(number)) => {
                self.functions.push(number);
                store.function_type(number) == Some(&parts.types[ty as usize])
            }
            (TypeRef::Table(ty), Extern::Table(number)) => {
                self.tables.push(number);
                store.vm.tables.get(number).is_some_and(|table| {
                    let length = table.length.get() as u64;
                    ty.element_type == table.ty.element_type
                        && fits(length, table.ty.maximum, ty.initial, ty.maximum)
                })
            }
            (TypeRef::Memory(ty), Extern::Memory(number)) => {
                self.memories.push(number);
                let memory = store.vm.memories.get(number);
                memory.is_some_and(|memory| fits(memory.pages(), memory.ty.maximum, ty.initial, ty.maximum))
            }
            (TypeRef::Global(ty), Extern::Global(number)) => {
                self.globals.push(number);
                store.vm.globals.get(number).is_some_and(|global| global.ty == ty)
            }
            _ => false,
        };
        if is_right { Ok(()) } else { Err(store.type_of(item)) }
    }

    /// Adds the module's own tables, memories and globals.
    fn define(&mut self, store: &mut Store, parts: &Parts) -> Result<(), Error> {
        for (ty, value) in parts.globals[self.globals.len()..].iter().zip(&parts.global_values) {
            let bits = self.value(store, parts, value)?;
            let Extern::Global(number) = store.global_of(*ty, bits) else { unreachable!("it is a global") };
            self.globals.push(number);
        }
        for (ty, value) in parts.tables[self.tables.len()..].iter().zip(&parts.table_values) {
            let value = value.as_ref().map_or(Ok(0), |value| self.value(store, parts, value))?;
            let Extern::Table(number) = store.table_of(*ty, value)? else { unreachable!("it is a table") };
            self.tables.push(number);
        }
        for ty in &parts.memories[self.memories.len()..] {
            let Extern::Memory(number) = store.memory(*ty)? else { unreachable!("it is a memory") };
            self.memories.push(number);
        }
        Ok(())
    }

    /// Evaluates a constant expression.
    fn value(&self, store: &Store, parts: &Parts, expression: &Span) -> Result<u64, Error> {
        let mut stack: Vec<u64> = Vec::new();
        let binary = |stack: &mut Vec<u64>, compute: fn(u64, u64) -> u64| {
            let b = stack.pop().expect("the expression is valid");
            let a = stack.last_mut().expect("the expression is valid");
            *a = compute(*a, b);
        };
        let reader = wasmparser::ConstExpr::new(parts.reader(expression));
        for operator in reader.get_operators_reader() {
            match operator? {
                Operator::I32Const { value } => stack.push(value as u32 as u64),
                Operator::I64Const { value } => stack.push(value as u64),
                Operator::F32Const { value } => stack.push(value.bits() as u64),
                Operator::F64Const { value } => stack.push(value.bits()),
                Operator::RefNull { .. } => stack.push(0),
                Operator::RefFunc { function_index } => {
                    stack.push(self.functions[function_index as usize] as u64 + 1);
                }
                Operator::GlobalGet { global_index } => {
                    let number = self.globals[global_index as usize];
                    stack.push(store.vm.globals[number].value.get());
                }
                Operator::I32Add => binary(&mut stack, |a, b| (a as u32).wrapping_add(b as u32) as u64),
                Operator::I32Sub => binary(&mut stack, |a, b| (a as u32).wrapping_sub(b as u32) as u64),
                Operator::I32Mul => binary(&mut stack, |a, b| (a as u32).wrapping_mul(b as u32) as u64),
                Operator::I64Add => binary(&mut stack, u64::wrapping_add),
                Operator::I64Sub => binary(&mut stack, u64::wrapping_sub),
                Operator::I64Mul => binary(&mut stack, u64::wrapping_mul),
                Operator::End => {}
                other => return Err(Error::unsupported(&format!("{other:?} in a constant expression"))),
            }
        }
        Ok(stack.pop().expect("the expression is valid"))
    }

    /// The state of the instance.
    fn unit(&self, store: &mut Store, module: &Module) -> Result<Unit, Error> {
        let parts = &*module.0;
        let elements = parts.elements.iter().map(|segment| match &segment.items {
            Elements::Functions(functions) => {
                Ok(functions.iter().map(|&index| self.functions[index as usize] as u64 + 1).collect())
            }
            Elements::Expressions(spans) => spans.iter().map(|span| self.value(store, parts, span)).collect(),
        });
        let elements = elements.collect::<Result<Vec<Vec<u64>>, Error>>()?;
        let memory_number = self.memories.first().copied();
        let memory = memory_number.map(|number| &mut store.vm.memories[number]);
        let (start, length) =
            memory.map_or((std::ptr::null_mut(), 0), |memory: &mut Memory| (memory.start(), memory.length()));
        Ok(Unit {
            memory: Cell::new(start),
            length: Cell::new(length),
            memory_number,
            tables: self.tables.iter().map(|&number| &raw const *store.vm.tables[number]).collect(),
            parts: module.0.clone(),
            elements: RefCell::new(elements),
            data: RefCell::new(parts.data.iter().map(|segment| segment.items.clone()).collect()),
        })
    }

    /// Adds the imported host functions and the module's own functions to the engine. The latter are translated when
    /// they are first called.
    fn functions(self, store: &mut Store, module: &Module, hosts: Vec<(String, FuncType, Host)>) {
        for (name, ty, function) in hosts {
            let number = store.vm.hosts.len() as u32;
            store.vm.hosts.push((function, ty.clone()));
            let of_host = ty.clone();
            declare(store, name, &ty, None, move || Some(host(number, &of_host)));
        }
        let parts = module.0.clone();
        let types = parts.types.iter().map(|ty| store.signature(ty)).collect();
        let globals = self.globals.iter().map(|&number| &raw const *store.vm.globals[number]).collect();
        let tables = self.tables.iter().map(|&number| &raw const *store.vm.tables[number]).collect();
        let scratch = Cell::default();
        let names = Rc::new(Names { parts, functions: self.functions, types, globals, tables, scratch });
        for body in 0..names.parts.bodies.len() {
            let index = (names.parts.imported_functions() + body) as u32;
            let (name, ty) = (names.parts.name(index), names.parts.function_type(index));
            let of_body = names.clone();
            let origin = Some((names.clone(), body));
            declare(store, name, ty, origin, move || translate(&of_body, body).ok());
        }
    }

    /// Copies the active segments.
    fn segments(&self, store: &mut Store, parts: &Parts, instance: Instance) -> Result<(), Error> {
        for (number, segment) in parts.elements.iter().enumerate() {
            let number = number as u32;
            if let Place::Active(table, offset) = &segment.place {
                let to = self.value(store, parts, offset)? as u32;
                let unit = instance.unit(store);
                let count = unit.elements.borrow()[number as usize].len() as u32;
                if runtime::table_init(unit, to, 0, count, (*table as u64) << 32 | number as u64) != 0 {
                    return Err(Trap::TableOutOfBounds.into());
                }
            }
            if !matches!(segment.place, Place::Passive) {
                runtime::elem_drop(instance.unit(store), number);
            }
        }
        for (number, segment) in parts.data.iter().enumerate() {
            let number = number as u32;
            if let Place::Active(_, offset) = &segment.place {
                let to = self.value(store, parts, offset)? as u32;
                let unit = instance.unit(store);
                if runtime::memory_init(unit, to, 0, segment.items.len() as u32, number) != 0 {
                    return Err(Trap::MemoryOutOfBounds.into());
                }
                runtime::data_drop(unit, number);
            }
        }
        Ok(())
    }
}

/// Adds a function of the most recent instance to the engine. If the module defines it, its origin is a body of the module.
fn declare(
    store: &mut Store,
    name: String,
    ty: &FuncType,
    origin: Option<(Rc<Names>, usize)>,
    translate: impl FnOnce() -> Option<Translation> + 'static,
) {
    let unit: *const Unit = &**store.vm.units.last().expect("the instance has its state");
    let n_params = ty.params().len() as u32;
    let function = store.engine.declare(name, move || {
        let Translation { code, registers } = translate()?;
        // SAFETY: templates access `(cu)` as a `Unit`, and the store keeps this one as long as the engine.
        let code = unsafe { code.with_unit(unit) };
        Some((code.with_arguments(n_params), registers))
    });
    assert_eq!(
        function.number() as usize,
        store.functions.len(),
        "only this defines functions of the engine"
    );
    store.functions.push(function);
    store.origins.push(origin);
    let ty = store.signature(ty);
    store.vm.function_types.push(ty);
    store.vm.types = store.vm.function_types.as_ptr();
}
