//! Host functions that generated modules import. Their results depend on their arguments only.

use crate::plan::Type;
use wasm_encoder::{EntityType, ImportSection, Module, TypeSection, ValType};

/// The name of the module that exports them.
pub const MODULE: &str = "host";

/// A function of the host.
pub struct Function {
    /// Its name.
    pub name: &'static str,
    /// The types of its parameters.
    pub parameters: &'static [Type],
    /// The types of its results.
    pub results: &'static [Type],
}

/// All host functions. They cover results of each type, several results, no results, and more parameters than fit in
/// registers.
pub const FUNCTIONS: [Function; 7] = {
    use Type::{F32, F64, I32, I64};
    const fn new(name: &'static str, parameters: &'static [Type], results: &'static [Type]) -> Function {
        Function { name, parameters, results }
    }
    [
        new("int", &[I32], &[I32]),
        new("long", &[I64, I32], &[I64]),
        new("single", &[F32, I32], &[F32]),
        new("double", &[F64, F32], &[F64]),
        new("nothing", &[I32, F64], &[]),
        new("several", &[], &[I32, F64, I64]),
        new("many", &[I32, I64, F32, F64, I32, I64, F32, F64, I32, I64, I32, I64, F64, F64], &[I64]),
    ]
};

/// Computes a function's results, as bits.
pub fn answer(function: &Function, arguments: impl Iterator<Item = u64>, mut give: impl FnMut(usize, u64)) {
    let start = function.name.len() as u64;
    let sum =
        arguments.fold(start, |sum, bits| (sum ^ bits).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(23));
    for (at, ty) in function.results.iter().enumerate() {
        let word = sum.rotate_left(at as u32 * 11);
        let small = (word % 20_001) as f64 / 16.0 - 600.0;
        let bits = match ty {
            Type::I32 => word & 0xffff_ffff,
            Type::F32 => u64::from((small as f32).to_bits()),
            Type::F64 => small.to_bits(),
            Type::I64 | Type::Func | Type::Extern => word,
        };
        give(at, bits);
    }
}

/// A module that imports all host functions; the generator takes its imports from it.
pub(crate) fn imports() -> Vec<u8> {
    let (mut types, mut imports) = (TypeSection::new(), ImportSection::new());
    let encoded = |ty: &Type| match ty {
        Type::I32 => ValType::I32,
        Type::I64 => ValType::I64,
        Type::F32 => ValType::F32,
        Type::F64 => ValType::F64,
        Type::Func => ValType::FUNCREF,
        Type::Extern => ValType::EXTERNREF,
    };
    for (number, function) in (0..).zip(&FUNCTIONS) {
        types.ty().function(function.parameters.iter().map(encoded), function.results.iter().map(encoded));
        imports.import(MODULE, function.name, EntityType::Function(number));
    }
    let mut module = Module::new();
    module.section(&types).section(&imports);
    module.finish()
}
