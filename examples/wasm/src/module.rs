//! Decoding and validation of modules, which happens once.
//!
//! In: the bytes of a file. Out: a [`Module`], which any number of stores can instantiate. Everything in it is valid,
//! so later readers of function bodies and constant expressions need not handle errors.

use crate::Error;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;
use wasmparser::{
    BinaryReader, ConstExpr, DataKind, ElementItems, ElementKind, ExternalKind, FuncToValidate, FuncType,
    FuncValidatorAllocations, FunctionBody, GlobalType, KnownCustom, MemoryType, Name, NameSectionReader,
    Parser, Payload, TableInit, TableType, TypeRef, ValidPayload, Validator, ValidatorResources,
};

pub use wasmparser::WasmFeatures as Features;

/// The supported features: WebAssembly 2.0 without vectors, plus tail calls and extended constant expressions.
pub const FEATURES: Features =
    Features::WASM2.difference(Features::SIMD).union(Features::TAIL_CALL).union(Features::EXTENDED_CONST);

/// A decoded and validated module; cheap to clone.
#[derive(Clone, Debug)]
pub struct Module(pub(crate) Arc<Parts>);

/// A range of the module's bytes.
pub(crate) type Span = Range<usize>;

/// An import: its two names and its type.
#[derive(Clone, Debug)]
pub(crate) struct Import {
    pub(crate) module: String,
    pub(crate) name: String,
    pub(crate) ty: TypeRef,
}

/// The elements or bytes of a segment, and their destination at instantiation.
#[derive(Debug)]
pub(crate) struct Segment<T> {
    pub(crate) place: Place,
    pub(crate) items: T,
}

/// The treatment of a segment at instantiation.
#[derive(Debug)]
pub(crate) enum Place {
    /// The segment is kept for `memory.init` or `table.init`.
    Passive,
    /// The segment is copied to this table or memory, at the offset that an expression computes.
    Active(u32, Span),
    /// The segment only declares functions that are referenced.
    Declared,
}

/// The sections of a module.
#[derive(Debug, Default)]
pub(crate) struct Parts {
    pub(crate) bytes: Vec<u8>,
    pub(crate) types: Vec<FuncType>,
    pub(crate) imports: Vec<Import>,
    /// The type of each function, imported ones first. The next three fields have the same order.
    pub(crate) functions: Vec<u32>,
    pub(crate) tables: Vec<TableType>,
    pub(crate) memories: Vec<MemoryType>,
    pub(crate) globals: Vec<GlobalType>,
    /// The initial value of the elements of each table that the module defines, unless it is null.
    pub(crate) table_values: Vec<Option<Span>>,
    /// The initial values of the globals that the module defines.
    pub(crate) global_values: Vec<Span>,
    pub(crate) exports: Vec<(String, ExternalKind, u32)>,
    pub(crate) start: Option<u32>,
    /// The elements of each segment, as expressions or as function indices.
    pub(crate) elements: Vec<Segment<Elements>>,
    pub(crate) data: Vec<Segment<Span>>,
    /// The bodies of the functions that the module defines.
    pub(crate) bodies: Vec<Span>,
    /// Validates bodies at their first call.
    validator: Option<(ValidatorResources, Features)>,
    /// The names of functions, from the name section or from exports.
    names: HashMap<u32, String>,
}

/// The elements of a segment.
#[derive(Debug)]
pub(crate) enum Elements {
    Functions(Vec<u32>),
    Expressions(Vec<Span>),
}

impl Module {
    /// Decodes and validates a module.
    pub fn new(bytes: &[u8]) -> Result<Module, Error> {
        Module::with_features(bytes, FEATURES)
    }

    /// Decodes a module, and validates that it uses only these features.
    pub fn with_features(bytes: &[u8], features: Features) -> Result<Module, Error> {
        Module::decode(bytes, features, false)
    }

    /// Decodes a module and validates all but the function bodies. Each body is validated when the function is first called,
    /// and a validation error is the error of that call. This speeds up the start of large programs.
    pub fn lazy(bytes: &[u8]) -> Result<Module, Error> {
        Module::decode(bytes, FEATURES, true)
    }

    fn decode(bytes: &[u8], features: Features, is_lazy: bool) -> Result<Module, Error> {
        let mut parts = Parts { bytes: bytes.to_vec(), ..Parts::default() };
        let mut validator = Validator::new_with_features(features.intersection(FEATURES));
        let mut allocations = FuncValidatorAllocations::default();
        let mut parser = Parser::new(0);
        parser.set_features(features);
        for payload in parser.parse_all(bytes) {
            let payload = payload?;
            if let ValidPayload::Func(function, body) = validator.payload(&payload)? {
                parts.bodies.push(span(body.range()));
                if is_lazy {
                    parts.validator = Some((function.resources, function.features));
                } else {
                    allocations = validate(function, &body, allocations)?;
                }
            }
            parts.add(payload)?;
        }
        for (name, kind, index) in &parts.exports {
            if *kind == ExternalKind::Func {
                parts.names.entry(*index).or_insert_with(|| name.clone());
            }
        }
        Ok(Module(Arc::new(parts)))
    }

    /// The names of the module's exports, in order.
    pub fn exports(&self) -> impl Iterator<Item = &str> {
        self.0.exports.iter().map(|(name, ..)| name.as_str())
    }
}

fn validate(
    function: FuncToValidate<ValidatorResources>,
    body: &FunctionBody<'_>,
    allocations: FuncValidatorAllocations,
) -> Result<FuncValidatorAllocations, Error> {
    let mut validator = function.into_validator(allocations);
    validator.validate(body)?;
    Ok(validator.into_allocations())
}

fn span(range: Range<u64>) -> Span {
    range.start as usize..range.end as usize
}

fn expression(expr: &ConstExpr<'_>) -> Span {
    span(expr.get_binary_reader().range())
}

impl Parts {
    /// A reader for a range of bytes.
    pub(crate) fn reader(&self, span: &Span) -> BinaryReader<'_> {
        BinaryReader::new(&self.bytes[span.clone()], span.start as u64)
    }

    /// Validates a body, unless that was done when the module was decoded.
    pub(crate) fn validate(&self, body: usize) -> Result<(), Error> {
        let Some((resources, features)) = self.validator.clone() else { return Ok(()) };
        let index = (self.imported_functions() + body) as u32;
        let function = FuncToValidate { resources, index, ty: self.functions[index as usize], features };
        let body = FunctionBody::new(self.reader(&self.bodies[body]));
        validate(function, &body, FuncValidatorAllocations::default()).map(drop)
    }

    /// The number of imported functions. All others have bodies.
    pub(crate) fn imported_functions(&self) -> usize {
        self.functions.len() - self.bodies.len()
    }

    /// The name of a function for dumps: from the name section, or from an export.
    pub(crate) fn name(&self, function: u32) -> String {
        self.names.get(&function).cloned().unwrap_or_else(|| format!("function {function}"))
    }

    /// The type of a function.
    pub(crate) fn function_type(&self, function: u32) -> &FuncType {
        &self.types[self.functions[function as usize] as usize]
    }

    fn add(&mut self, payload: Payload<'_>) -> Result<(), Error> {
        match payload {
            Payload::TypeSection(reader) => {
                for ty in reader.into_iter_err_on_gc_types() {
                    self.types.push(ty?);
                }
            }
            Payload::ImportSection(reader) => {
                for import in reader.into_imports() {
                    let import = import?;
                    match import.ty {
                        TypeRef::Func(ty) => self.functions.push(ty),
                        TypeRef::Table(ty) => self.tables.push(ty),
                        TypeRef::Memory(ty) => self.memories.push(ty),
                        TypeRef::Global(ty) => self.globals.push(ty),
                        _ => return Err(Error::unsupported("an import of this kind")),
                    }
                    let (module, name) = (import.module.to_string(), import.name.to_string());
                    self.imports.push(Import { module, name, ty: import.ty });
                }
            }
            Payload::FunctionSection(reader) => {
                for ty in reader {
                    self.functions.push(ty?);
                }
            }
            Payload::TableSection(reader) => {
                for table in reader {
                    let table = table?;
                    self.tables.push(table.ty);
                    self.table_values.push(match table.init {
                        TableInit::RefNull => None,
                        TableInit::Expr(expr) => Some(expression(&expr)),
                    });
                }
            }
            Payload::MemorySection(reader) => {
                for memory in reader {
                    self.memories.push(memory?);
                }
            }
            Payload::GlobalSection(reader) => {
                for global in reader {
                    let global = global?;
                    self.globals.push(global.ty);
                    self.global_values.push(expression(&global.init_expr));
                }
            }
            Payload::ExportSection(reader) => {
                for export in reader {
                    let export = export?;
                    self.exports.push((export.name.to_string(), export.kind, export.index));
                }
            }
            Payload::StartSection { func, .. } => self.start = Some(func),
            Payload::ElementSection(reader) => {
                for element in reader {
                    let element = element?;
                    let place = match element.kind {
                        ElementKind::Passive => Place::Passive,
                        ElementKind::Declared => Place::Declared,
                        ElementKind::Active { table_index, offset_expr } => {
                            Place::Active(table_index.unwrap_or(0), expression(&offset_expr))
                        }
                    };
                    let items = match element.items {
                        ElementItems::Functions(functions) => {
                            Elements::Functions(functions.into_iter().collect::<Result<_, _>>()?)
                        }
                        ElementItems::Expressions(_, expressions) => {
                            let spans = expressions.into_iter().map(|expr| Ok(expression(&expr?)));
                            Elements::Expressions(spans.collect::<Result<_, Error>>()?)
                        }
                    };
                    self.elements.push(Segment { place, items });
                }
            }
            Payload::DataSection(reader) => {
                for data in reader {
                    let data = data?;
                    let place = match data.kind {
                        DataKind::Passive => Place::Passive,
                        DataKind::Active { memory_index, offset_expr } => {
                            Place::Active(memory_index, expression(&offset_expr))
                        }
                    };
                    let end = data.range.end as usize;
                    self.data.push(Segment { place, items: end - data.data.len()..end });
                }
            }
            Payload::CustomSection(reader) => {
                if let KnownCustom::Name(names) = reader.as_known() {
                    self.add_names(names);
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// An error in the name section does not make the module invalid.
    fn add_names(&mut self, sections: NameSectionReader<'_>) {
        for section in sections.into_iter().flatten() {
            if let Name::Function(names) = section {
                self.names
                    .extend(names.into_iter().flatten().map(|name| (name.index, name.name.to_string())));
            }
        }
    }
}
