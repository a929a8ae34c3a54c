//! Decodes and validates a module, once.
//!
//! In: the bytes of a file. Out: a [`Module`], which any number of stores instantiate. Everything in it is valid:
//! whoever reads function bodies and constant expressions later on need not look for mistakes again.

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

/// What this virtual machine knows: WebAssembly 2.0 without vectors, tail calls, and more in constant expressions.
pub const FEATURES: Features =
    Features::WASM2.difference(Features::SIMD).union(Features::TAIL_CALL).union(Features::EXTENDED_CONST);

/// A module that was decoded and validated; cheap to clone.
#[derive(Clone, Debug)]
pub struct Module(pub(crate) Arc<Parts>);

/// Where something is in the module's bytes.
pub(crate) type Span = Range<usize>;

/// An import, export or definition, by kind and index.
#[derive(Clone, Debug)]
pub(crate) struct Import {
    pub(crate) module: String,
    pub(crate) name: String,
    pub(crate) ty: TypeRef,
}

/// Which elements or bytes, and where they go at instantiation: the index of a table or memory, and an offset.
#[derive(Debug)]
pub(crate) struct Segment<T> {
    pub(crate) place: Place,
    pub(crate) items: T,
}

/// What becomes of a segment at instantiation.
#[derive(Debug)]
pub(crate) enum Place {
    /// It is kept for `memory.init` or `table.init`.
    Passive,
    /// It is copied into this table or memory at the offset that an expression gives.
    Active(u32, Span),
    /// It only declares which functions are referred to.
    Declared,
}

/// The sections of a module.
#[derive(Debug, Default)]
pub(crate) struct Parts {
    pub(crate) bytes: Vec<u8>,
    pub(crate) types: Vec<FuncType>,
    pub(crate) imports: Vec<Import>,
    /// The type of each function, imported ones first; so for the next three.
    pub(crate) functions: Vec<u32>,
    pub(crate) tables: Vec<TableType>,
    pub(crate) memories: Vec<MemoryType>,
    pub(crate) globals: Vec<GlobalType>,
    /// What the elements of the module's own tables are at first, where that is not null.
    pub(crate) table_values: Vec<Option<Span>>,
    /// What the module's own globals are at first.
    pub(crate) global_values: Vec<Span>,
    pub(crate) exports: Vec<(String, ExternalKind, u32)>,
    pub(crate) start: Option<u32>,
    /// The elements of each segment, as expressions or as numbers of functions.
    pub(crate) elements: Vec<Segment<Elements>>,
    pub(crate) data: Vec<Segment<Span>>,
    /// The bodies of the module's own functions.
    pub(crate) bodies: Vec<Span>,
    /// What validates bodies when they are called first.
    validator: Option<(ValidatorResources, Features)>,
    /// What functions are called, where the module says or exports it.
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

    /// Decodes a module and validates that it uses nothing but these features.
    pub fn with_features(bytes: &[u8], features: Features) -> Result<Module, Error> {
        Module::decode(bytes, features, false)
    }

    /// Decodes a module and validates all but the functions' bodies: each of those is validated when the function is called
    /// first, and if it is not valid, that is the error of the call. A large program starts sooner so.
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

    /// The names of what the module exports, in order.
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
    /// What is in a span.
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

    /// How many functions are imported; the others have bodies.
    pub(crate) fn imported_functions(&self) -> usize {
        self.functions.len() - self.bodies.len()
    }

    /// What a function is called in dumps: what the module says, or what it exports it as.
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

    /// A mistake in what functions are called makes no module wrong.
    fn add_names(&mut self, sections: NameSectionReader<'_>) {
        for section in sections.into_iter().flatten() {
            if let Name::Function(names) = section {
                self.names
                    .extend(names.into_iter().flatten().map(|name| (name.index, name.name.to_string())));
            }
        }
    }
}
