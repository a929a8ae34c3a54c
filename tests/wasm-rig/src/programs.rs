//! The C programs of the example, with their expected results.

use azulejo_core::random::Random;

/// The table of programs, as text.
const TABLE: &str = include_str!("../../../examples/wasm/programs/table.txt");

macro_rules! modules {
    ($($name:literal)*) => {
        &[$(($name, include_bytes!(concat!("../../../examples/wasm/programs/", $name, ".wasm")))),*]
    };
}

/// The modules by name.
const MODULES: &[(&str, &[u8])] = modules! {
    "sieve" "primality" "bits" "matmul" "nbody" "mandelbrot" "wave" "fib" "ackermann" "queens" "shapes" "stream" "sort" "lz"
    "sha256" "machine" "threaded" "words" "life"
};

/// A program with its expected results.
#[derive(Clone, Copy, Debug)]
pub struct Program {
    /// Its name.
    pub name: &'static str,
    /// The module. Its export `run` takes an `i32` and returns an `i64`.
    pub module: &'static [u8],
    /// A small argument, for tests, and the result.
    pub few: (i32, i64),
    /// A larger argument, for benchmarks, and the result.
    pub many: (i32, i64),
}

/// All programs.
pub fn all() -> Vec<Program> {
    let rows = TABLE.lines().filter(|line| !line.starts_with('#'));
    let program = |row: &'static str| {
        let words: Vec<&str> = row.split_whitespace().collect();
        let [name, few, of_few, many, of_many] = words[..] else { panic!("not a row: {row}") };
        let (_, module) = MODULES.iter().find(|(known, _)| *known == name).expect("every row has its module");
        let argument = |word: &str| word.parse().expect("arguments are numbers");
        let result = |word: &str| word.parse().expect("results are numbers");
        Program {
            name,
            module,
            few: (argument(few), result(of_few)),
            many: (argument(many), result(of_many)),
        }
    };
    rows.map(program).collect()
}

/// A random module.
pub fn any(random: &mut Random) -> &'static [u8] {
    MODULES[random.below(MODULES.len())].1
}
