//! The plan of calls: which exported functions are called, in which order and with which arguments. It is made once, for
//! all engines.

use azulejo_core::random::Random;

/// The type of an argument.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Type {
    /// An `i32`.
    I32,
    /// An `i64`.
    I64,
    /// An `f32`.
    F32,
    /// An `f64`.
    F64,
    /// A null function reference.
    Func,
    /// A null external reference.
    Extern,
}

/// A call of an export from outside, with arguments as bits.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Call {
    /// The export.
    pub name: String,
    /// The arguments.
    pub arguments: Vec<(Type, u64)>,
}

/// The judge's plan for a module that it accepts.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Plan {
    /// The calls in their order.
    pub calls: Vec<Call>,
    /// The exported memories.
    pub memories: Vec<String>,
    /// The exported globals.
    pub globals: Vec<String>,
}

/// The maximum number of calls for one module.
const MOST_CALLS: usize = 24;

/// Integers at which an operation's behaviour changes.
const EDGES: [u64; 12] =
    [0, 1, 2, 7, 31, 32, 63, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff, 0x7fff_ffff_ffff_ffff, 1 << 63];

/// Floats at which an operation's behaviour changes.
const FLOATS: [f64; 12] = [
    0.0,
    -0.0,
    1.0,
    -1.5,
    0.5,
    2147483648.0,
    -2147483649.0,
    1e19,
    -9.3e18,
    f64::INFINITY,
    f64::NEG_INFINITY,
    f64::NAN,
];

/// Plans calls of functions with these names and parameters. Each is called at least once, up to [`MOST_CALLS`] calls.
pub fn calls(functions: &[(String, Vec<Type>)], random: &mut Random) -> Vec<Call> {
    if functions.is_empty() {
        return Vec::new();
    }
    let count = MOST_CALLS.min(functions.len() * 3);
    let first = random.below(functions.len());
    (0..count)
        .map(|at| {
            let (name, parameters) = &functions[(first + at) % functions.len()];
            let arguments = parameters.iter().map(|ty| (*ty, argument(*ty, random))).collect();
            Call { name: name.clone(), arguments }
        })
        .collect()
}

fn argument(ty: Type, random: &mut Random) -> u64 {
    let float = FLOATS[random.below(FLOATS.len())];
    let edge = EDGES[random.below(EDGES.len())];
    let integer = match random.below(3) {
        0 => edge,
        1 => edge.wrapping_neg(),
        _ => random.number() >> random.below(64),
    };
    match ty {
        Type::I32 => integer & 0xffff_ffff,
        Type::I64 => integer,
        Type::F32 => (float as f32).to_bits().into(),
        Type::F64 => float.to_bits(),
        Type::Func | Type::Extern => 0,
    }
}
