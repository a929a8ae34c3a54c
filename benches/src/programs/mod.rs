//! The benchmark programs: bytecode, arguments, and the same function in Rust.
//!
//! A program initializes its own state, so that each run does the same work; read-only data is filled in beforehand.
//! The Rust twin is idiomatic Rust, not a translation of the bytecode.

mod calls;
mod control;
mod float;
mod generated;
mod int;
mod memory;

use crate::assembler::{Assembled, Assembler};
use crate::by_hand;
use std::cell::RefCell;

/// The purpose of a program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    /// A loop with a dependency between iterations, so that rustc cannot vectorize it.
    Serial,
    /// A loop that rustc transforms (vectors, a closed form), so its Rust row is no bound for the other engines.
    Folds,
    /// Generated code without loops, which is compiled often and run once.
    Generated,
    /// Too short for a meaningful run time: only compilation is measured.
    Tiny,
}

/// A benchmark program.
pub(crate) struct Program {
    /// Its name.
    pub name: String,
    /// Its purpose.
    pub kind: Kind,
    /// The bytecode.
    pub code: Assembled,
    /// The values of the first VM registers.
    pub args: Vec<u64>,
    /// The Rust twin, if there is one.
    pub twin: Option<RefCell<Box<dyn FnMut() -> u64>>>,
    /// The expected result of all engines.
    pub expected: u64,
    /// Owns the memory that the arguments point to.
    _memory: Vec<Box<[u64]>>,
}

impl Program {
    /// Whether the function calls itself.
    pub(crate) fn calls_itself(&self) -> bool {
        self.code.ops.iter().any(|op| matches!(op, crate::op::Op::Invoke { .. }))
    }

    fn with_twin(
        kind: Kind,
        code: Assembler,
        args: Vec<u64>,
        memory: Vec<Box<[u64]>>,
        mut twin: impl FnMut() -> u64 + 'static,
    ) -> Program {
        let expected = twin();
        let twin: Box<dyn FnMut() -> u64> = Box::new(twin);
        Program {
            name: String::new(),
            kind,
            code: code.finish(),
            args,
            twin: Some(RefCell::new(twin)),
            expected,
            _memory: memory,
        }
    }

    /// A program that cannot be written in Rust. The hand-written interpreter provides the expected result.
    fn without_twin(kind: Kind, code: Assembler, args: Vec<u64>) -> Program {
        let code = code.finish();
        let expected = by_hand::Stack::new().call(&code, &args);
        Program { name: String::new(), kind, code, args, twin: None, expected, _memory: Vec::new() }
    }
}

/// A program's name and constructor.
type Maker = (String, Box<dyn Fn() -> Program>);

/// The name and constructor of a program of fixed size.
type Fixed = (&'static str, fn() -> Program);

/// The programs with `only` in their names, in the order of the report.
pub(crate) fn all(is_quick: bool, only: &str) -> Vec<Program> {
    const FIXED: [Fixed; 18] = [
        ("sum", int::sum),
        ("nested", int::nested),
        ("fib", int::fib),
        ("gcd", int::gcd),
        ("xorshift", int::xorshift),
        ("hash32", int::hash32),
        ("hash", memory::hash),
        ("sieve", memory::sieve),
        ("scan", memory::scan),
        ("bubble_sort", memory::bubble_sort),
        ("machine", control::machine),
        ("matrix", float::matrix),
        ("mandelbrot", float::mandelbrot),
        ("bodies", float::bodies),
        ("call1", calls::one),
        ("call6", calls::six),
        ("call12", calls::twelve),
        ("tiny", generated::tiny),
    ];
    let sizes: &[usize] = if is_quick { &[100, 1000, 10_000] } else { &[100, 1000, 10_000, 100_000] };
    let sized = |name: &str, make: fn(usize) -> Program| -> Vec<Maker> {
        let one = |&size: &usize| -> Maker { (format!("{name}_{size}"), Box::new(move || make(size))) };
        sizes.iter().map(one).collect()
    };
    let fixed = FIXED.map(|(name, make)| -> Maker { (name.to_string(), Box::new(make)) });
    let makers = fixed
        .into_iter()
        .chain(sized("straight", generated::straight))
        .chain(sized("branchy", generated::branchy));
    makers.filter(|(name, _)| name.contains(only)).map(|(name, make)| Program { name, ..make() }).collect()
}

/// A random number generator for test data.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        // Marsaglia's xorshift64*.
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    fn below(&mut self, limit: usize) -> usize {
        ((self.next() >> 32) as usize * limit) >> 32
    }
}

/// Allocates memory of `count` bytes, whose address does not change.
fn bytes(count: usize) -> Box<[u64]> {
    vec![0; count.div_ceil(8)].into_boxed_slice()
}

fn address(memory: &mut [u64]) -> u64 {
    memory.as_mut_ptr() as u64
}
