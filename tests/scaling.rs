//! Every pass takes nearly linear time: a function a hundred times as long takes about a hundred times as long to compile.
//!
//! Times are noisy, so each is the best of several. In a quadratic pass, the time per bytecode grows tenfold when the
//! function becomes ten times as long. The test allows a factor of 5.6, since exceeding a shared cache makes code slower,
//! too. A debug build also verifies every stage, so it uses shorter functions; `cargo xtask ci` runs the long ones.
#![cfg(all(target_arch = "x86_64", any(unix, windows)))]

use azulejo::__private::core::ir::graph::Graph;
use azulejo::__private::core::ir::ranges::Ranges;
use azulejo::__private::core::ir::schedule::Schedule;
use azulejo::__private::core::ir::tiles::TileList;
use azulejo::__private::core::pass::build::FunctionSource;
use azulejo::__private::core::pass::{Allocated, Observer, Target};
use azulejo::__private::core::verify::verify;
use azulejo::__private::core::vocab::Vocabulary;
use azulejo::prelude::*;
use azulejo::x64::{Compiler, Features, X64};
use std::time::Duration;

#[derive(Bytecode, Clone, Copy, Debug)]
enum Op {
    Add { dst: Out<i64>, a: In<i64>, b: In<i64> },
    Multiply { dst: Out<i64>, a: In<i64>, b: In<i64> },
    Xor { dst: Out<i64>, a: In<i64>, k: Imm<i64> },
    Shift { dst: Out<i64>, a: In<i64>, k: Imm<i64> },
    JumpLess { a: In<i64>, b: In<i64>, to: Label },
    Jump { to: Label },
    Choose { value: In<u64>, to: Labels },
    Load { dst: Out<i64>, base: In<u64>, offset: Imm<u64> },
    Leave { a: In<i64>, b: In<i64> },
    Return { a: In<i64> },
}

template! {
    macro ^field (,at) (load pure (addr (tc) ,at) u64)
    macro ^at () (add $base $offset)

    Op::Add      => (add $a $b)
    Op::Multiply => (mul $a $b)
    Op::Xor      => (xor $a $k)
    Op::Shift    => (shr $a $k)
    Op::JumpLess => (when (lt $a $b) (branch $to))
    Op::Jump     => (branch $to)
    Op::Choose   => (switch $value $to)
    Op::Load     => unsafe (within (any (likely (ult (sub (^at) (^field 0)) (^field 8)))
                                        (ult (sub (^at) (^field 16)) (^field 24))) 8
                               (load (^at) i64))
    Op::Leave    => (when (unlikely (lt $a $b)) (exit))
    Op::Return   => (return $a)
}

/// The length of the longest functions.
const LONGEST: usize = if cfg!(debug_assertions) { 4000 } else { 100_000 };
/// How many lengths are measured, and the ratio of each to the next. With a ratio of 2, what caches add to a time would
/// be as much as what a quadratic pass adds.
const N_LENGTHS: u32 = if cfg!(debug_assertions) { 2 } else { 3 };
const RATIO: usize = if cfg!(debug_assertions) { 8 } else { 10 };
/// The time per bytecode may grow by this power of the length: 0 is linear time, 1 is quadratic.
const POWER: f64 = 0.75;
/// The minimum number of bytecodes that each measurement compiles.
const BYTECODES: usize = if cfg!(debug_assertions) { 8000 } else { 50_000 };
/// How often a shape is measured before it counts as slow.
const TRIES: u32 = 12;
/// The time per bytecode below which a stage cannot be slow.
const LITTLE: Duration = Duration::from_nanos(if cfg!(debug_assertions) { 4000 } else { 100 });
/// That time for the stage that writes code. Writing code that fits in the caches is much cheaper than writing tens of
/// megabytes: with 5,000 registers, emitting takes 100 ns in the first case and 620 ns in the second. A quadratic stage
/// would take ten times as long.
const LITTLE_EMITTED: Duration = Duration::from_nanos(if cfg!(debug_assertions) { 4000 } else { 150 });

/// A generator of functions of any length.
struct Shape {
    name: &'static str,
    write: fn(&mut Writer, usize),
    registers: u32,
    /// Whether verifying the stages takes so long that debug builds skip this shape.
    is_dear: bool,
    /// The greatest length. Longer functions have too large a frame to be compiled, and are interpreted.
    longest: usize,
}

const fn shape(name: &'static str, write: fn(&mut Writer, usize)) -> Shape {
    Shape { name, write, registers: 24, is_dear: false, longest: usize::MAX }
}

const fn dear(shape: Shape) -> Shape {
    Shape { is_dear: true, ..shape }
}

const SHAPES: &[Shape] = &[
    shape("straight", straight),
    shape("branchy", branchy),
    shape("loops", loops),
    shape("cases", cases),
    shape("dispatch", dispatch),
    dear(shape("overlapping", overlapping)),
    dear(shape("crossing", crossing)),
    shape("nested", nested),
    // There are 10,000 exits.
    dear(Shape { longest: 20_000, ..shape("exits", exits) }),
    dear(Shape { registers: 5000, ..shape("wide", branchy) }),
    dear(Shape { registers: 5000, ..shape("wide loops", loops) }),
    Shape { registers: 73, ..shape("checks", checks) },
    dear(Shape { registers: 73, ..shape("new checks", new_checks) }),
];

/// Writes code. Pseudo-random register numbers keep all registers in use everywhere.
struct Writer {
    code: Vec<Op>,
    labels: Vec<u32>,
    state: u64,
    registers: u32,
}

impl Writer {
    fn random(&mut self) -> u32 {
        self.state =
            self.state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.state >> 33) as u32
    }

    fn reg<T: From<u32>>(&mut self) -> T {
        (self.random() % self.registers).into()
    }

    fn here(&self) -> u32 {
        self.code.len() as u32
    }

    fn arithmetic(&mut self) {
        let op = match self.random() % 4 {
            0 => Op::Multiply { dst: self.reg(), a: self.reg(), b: self.reg() },
            1 => Op::Xor { dst: self.reg(), a: self.reg(), k: Imm(self.random() as i64) },
            2 => Op::Shift { dst: self.reg(), a: self.reg(), k: Imm(3) },
            _ => Op::Add { dst: self.reg(), a: self.reg(), b: self.reg() },
        };
        self.code.push(op);
    }

    /// Reads all registers and returns.
    fn finish(&mut self) {
        for register in 1..self.registers {
            self.code.push(Op::Add { dst: 0.into(), a: 0.into(), b: register.into() });
        }
        self.code.push(Op::Return { a: 0.into() });
    }
}

fn straight(writer: &mut Writer, length: usize) {
    (0..length).for_each(|_| writer.arithmetic());
}

/// Conditional forward jumps over a few instructions.
fn branchy(writer: &mut Writer, length: usize) {
    for _ in 0..length / 8 {
        let to = Label(writer.here() + 1 + 2 + writer.random() % 5);
        let (a, b) = (writer.reg(), writer.reg());
        writer.code.push(Op::JumpLess { a, b, to });
        (0..7).for_each(|_| writer.arithmetic());
    }
}

/// A sequence of short loops, nested two deep.
fn loops(writer: &mut Writer, length: usize) {
    for _ in 0..length / 10 {
        let outer = Label(writer.here());
        (0..2).for_each(|_| writer.arithmetic());
        let inner = Label(writer.here());
        (0..6).for_each(|_| writer.arithmetic());
        for to in [inner, outer] {
            let (a, b) = (writer.reg(), writer.reg());
            writer.code.push(Op::JumpLess { a, b, to });
        }
    }
}

/// A sequence of loops, each around a switch, as in state machines.
fn cases(writer: &mut Writer, length: usize) {
    const CASES: u32 = 60;
    for _ in 0..length.div_ceil(500) {
        let head = Label(writer.here());
        let value = writer.reg();
        let first = writer.labels.len() as u32;
        writer.code.push(Op::Choose { value, to: Labels { first, count: CASES } });
        for case in 0..CASES {
            writer.labels.push(writer.here());
            (0..7).for_each(|_| writer.arithmetic());
            if case + 1 < CASES {
                writer.code.push(Op::Jump { to: head });
            }
        }
    }
}

/// One loop around one switch that selects among all of the code.
fn dispatch(writer: &mut Writer, length: usize) {
    let head = Label(writer.here());
    let value = writer.reg();
    let count = (length / 8) as u32;
    writer.code.push(Op::Choose { value, to: Labels { first: 0, count } });
    for case in 0..count {
        writer.labels.push(writer.here());
        (0..7).for_each(|_| writer.arithmetic());
        if case + 1 < count {
            writer.code.push(Op::Jump { to: head });
        }
    }
}

/// Every second bytecode may jump back to the middle of the code before it.
fn overlapping(writer: &mut Writer, length: usize) {
    for _ in 0..length / 2 {
        writer.arithmetic();
        let to = Label(writer.here() / 2);
        let (a, b) = (writer.reg(), writer.reg());
        writer.code.push(Op::JumpLess { a, b, to });
    }
}

/// Overlapping loops that are not nested, and jumps into their middle.
fn crossing(writer: &mut Writer, length: usize) {
    for _ in 0..length / 4 {
        let here = writer.here();
        let back = Label(here.saturating_sub(10 + writer.random() % 30));
        let on = Label(here + 2 + writer.random() % 20);
        for to in [back, on] {
            writer.arithmetic();
            let (a, b) = (writer.reg(), writer.reg());
            writer.code.push(Op::JumpLess { a, b, to });
        }
    }
    // Targets for the last forward jumps.
    (0..20).for_each(|_| writer.arithmetic());
}

/// A sequence of loop nests, each 1,000 deep.
fn nested(writer: &mut Writer, length: usize) {
    const DEPTH: usize = 1000;
    for nest in 0..length.div_ceil(3 * DEPTH) {
        let depth = DEPTH.min(length / 3 - nest * DEPTH);
        let mut heads = Vec::new();
        for _ in 0..depth {
            heads.push(Label(writer.here()));
            writer.arithmetic();
        }
        while let Some(to) = heads.pop() {
            let (a, b) = (writer.reg(), writer.reg());
            writer.arithmetic();
            writer.code.push(Op::JumpLess { a, b, to });
        }
    }
}

/// Every second bytecode may exit.
fn exits(writer: &mut Writer, length: usize) {
    for _ in 0..length / 2 {
        writer.arithmetic();
        let (a, b) = (writer.reg(), writer.reg());
        writer.code.push(Op::Leave { a, b });
    }
}

/// The number of addresses that are loaded from, and the number of registers for the sums.
const ADDRESSES: u32 = 64;
const SUMS: u32 = 8;

/// Loads from the same addresses again and again.
fn checks(writer: &mut Writer, length: usize) {
    for _ in 0..length / 2 {
        let base = (SUMS + 1 + writer.random() % ADDRESSES).into();
        let sum = writer.random() % SUMS;
        writer.code.push(Op::Load { dst: SUMS.into(), base, offset: Imm(16) });
        writer.code.push(Op::Add { dst: sum.into(), a: sum.into(), b: SUMS.into() });
    }
}

/// Loads from addresses that change each time.
fn new_checks(writer: &mut Writer, length: usize) {
    for _ in 0..length / 3 {
        let base = SUMS + 1 + writer.random() % ADDRESSES;
        let (sum, k) = (writer.random() % SUMS, Imm(writer.random() as i64));
        writer.code.push(Op::Load { dst: SUMS.into(), base: base.into(), offset: Imm(16) });
        writer.code.push(Op::Add { dst: sum.into(), a: sum.into(), b: SUMS.into() });
        writer.code.push(Op::Xor { dst: base.into(), a: base.into(), k });
    }
}

/// The CPU time of this thread, or the closest that the system offers, to exclude the machine's other work.
fn now() -> Duration {
    #[cfg(unix)]
    {
        let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: the pointer is valid for writes.
        let failed = unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
        assert_eq!(failed, 0, "a thread has a clock");
        Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
    }
    #[cfg(not(unix))]
    {
        use std::{sync::OnceLock, time::Instant};
        static START: OnceLock<Instant> = OnceLock::new();
        START.get_or_init(Instant::now).elapsed()
    }
}

/// Records the time after each stage.
#[derive(Default)]
struct Clock {
    ticks: Vec<(&'static str, Duration)>,
}

impl Clock {
    fn tick(&mut self, stage: &'static str) {
        self.ticks.push((stage, now()));
    }
}

impl Observer for Clock {
    fn graph(&mut self, pass: &'static str, _: &Graph) {
        self.tick(pass);
    }
    fn schedule(&mut self, _: &Graph, _: &Schedule) {
        self.tick("place");
    }
    fn tiles(&mut self, _: &Target<'_>, _: &TileList) {
        self.tick("tile");
    }
    fn ranges(&mut self, _: &Target<'_>, _: &TileList, _: &Ranges) {
        self.tick("live");
    }
    fn assignment(&mut self, _: &Target<'_>, _: &Allocated<'_>) {
        self.tick("allocate");
    }
}

impl Shape {
    /// The lengths of the measured functions, the shortest first.
    fn lengths(&self) -> Vec<usize> {
        let longest = LONGEST.min(self.longest);
        (0..N_LENGTHS).rev().map(|step| longest / RATIO.pow(step)).collect()
    }
}

/// The best time of each stage, per bytecode.
type Times = Vec<(&'static str, Duration)>;

/// Compiles a function several times and updates the best times. Returns the bytes of machine code per bytecode.
fn measure(compiler: &mut Compiler, shape: &Shape, length: usize, best: &mut Times) -> f64 {
    let registers = shape.registers;
    let mut writer = Writer { code: Vec::new(), labels: Vec::new(), state: length as u64, registers };
    (shape.write)(&mut writer, length);
    writer.finish();
    let found = verify(&writer.code, &writer.labels, registers).expect("the code is right");
    let source = FunctionSource {
        vocab: Vocabulary { extra: Op::OPERATORS },
        opcodes: Op::OPCODES,
        templates: Op::templates(),
        code: &writer.code,
        labels: &writer.labels,
        locals: registers,
        slots: found.slots,
        depths: &found.depths,
        entry: 0,
        arguments: None,
        functions: azulejo::__private::core::pass::build::Linkage::default(),
        slow_paths: None,
        sites: None,
        missing: 0,
        drops_surplus: false,
        captured: &[],
        call_entry: None,
        callees: &[],
    };
    let bytecodes = writer.code.len() as u32;
    let repetitions = (BYTECODES / length).clamp(1, 20);
    let mut n_bytes = 0;
    for _ in 0..repetitions {
        let mut clock = Clock::default();
        clock.tick("start");
        let code = compiler
            .bytecode(&source, &mut clock)
            .unwrap_or_else(|error| panic!("{} {length}: {error}", shape.name));
        n_bytes = code.bytes().len();
        drop(code);
        clock.tick("emit");
        let stages = clock.ticks.windows(2).map(|pair| (pair[1].0, (pair[1].1 - pair[0].1) / bytecodes));
        match best.is_empty() {
            true => best.extend(stages),
            false => best.iter_mut().zip(stages).for_each(|(best, stage)| best.1 = best.1.min(stage.1)),
        }
    }
    n_bytes as f64 / bytecodes as f64
}

/// The stages whose time grows faster than the function.
fn slow(shape: &Shape, times: &[Times]) -> Vec<String> {
    let (name, mut slow) = (shape.name, Vec::new());
    for (step, lengths) in shape.lengths().windows(2).enumerate() {
        let bound = (lengths[1] as f64 / lengths[0] as f64).powf(POWER);
        for ((stage, short), (_, long)) in std::iter::zip(&times[step], &times[step + 1]) {
            let little = if *stage == "emit" { LITTLE_EMITTED } else { LITTLE };
            if *long > (*short).max(little).mul_f64(bound) {
                let [a, b] = [lengths[0], lengths[1]];
                slow.push(format!("{name}: `{stage}`: {short:?} a bytecode of {a}, {long:?} of {b}"));
            }
        }
    }
    slow
}

#[test]
fn time_grows_no_faster_than_functions() {
    let rules = &azulejo::rules::MATCHERS;
    let mut compiler =
        Compiler::new(64 << 20, &X64, Features::detect().bits(), rules).expect("this system runs code");
    let mut found = Vec::new();
    for shape in SHAPES.iter().filter(|shape| !shape.is_dear || !cfg!(debug_assertions)) {
        let lengths = shape.lengths();
        let mut times = vec![Times::new(); lengths.len()];
        // Other work on the machine only ever adds to a time, so more tries approach the true one.
        for _ in 0..TRIES {
            for (length, best) in lengths.iter().zip(&mut times) {
                measure(&mut compiler, shape, *length, best);
            }
            if slow(shape, &times).is_empty() {
                break;
            }
        }
        for (length, stages) in lengths.iter().zip(&times) {
            println!("{} {length}: {stages:?}", shape.name);
        }
        found.extend(slow(shape, &times));
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn a_check_with_two_ways_is_done_once_for_an_address() {
    let rules = &azulejo::rules::MATCHERS;
    let mut compiler =
        Compiler::new(64 << 20, &X64, Features::detect().bits(), rules).expect("this system runs code");
    let shape = SHAPES.iter().find(|shape| shape.name == "checks").expect("there is one");
    let bytes = measure(&mut compiler, shape, 4000, &mut Times::new());
    // Every second bytecode is a load. A checked load has two comparisons, two branches and a trap.
    assert!(2.0 * bytes < 60.0, "{bytes} bytes a bytecode");
}
