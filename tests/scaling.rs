//! No pass takes more than linear time, or little more: a function a hundred times as long takes about a hundred times
//! as long to compile.
//!
//! Times are noisy, so each is the best of several. In a quadratic pass, one bytecode of a function ten times as long
//! takes ten times as long; the test asks for less than 5.6, since what no longer fits a cache that others use as well
//! takes longer, too. A build without optimization also verifies every stage, so that it does with shorter functions;
//! `cargo xtask ci` runs the long ones.
#![cfg(all(target_arch = "x86_64", any(unix, windows)))]

use azulejo::__private::core::ir::graph::Graph;
use azulejo::__private::core::ir::ranges::Ranges;
use azulejo::__private::core::ir::schedule::Schedule;
use azulejo::__private::core::ir::tiles::TileList;
use azulejo::__private::core::pass::build::Source;
use azulejo::__private::core::pass::{Allocated, Observer, Target};
use azulejo::__private::core::verify::verify;
use azulejo::__private::core::vocab::Vocabulary;
use azulejo::prelude::*;
use azulejo::x64::{Compiler, Features};
use std::time::{Duration, Instant};

#[derive(Bytecode, Clone, Copy, Debug)]
enum Op {
    Add { dst: Out<i64>, a: In<i64>, b: In<i64> },
    Multiply { dst: Out<i64>, a: In<i64>, b: In<i64> },
    Xor { dst: Out<i64>, a: In<i64>, k: Imm<i64> },
    Shift { dst: Out<i64>, a: In<i64>, k: Imm<i64> },
    JumpLess { a: In<i64>, b: In<i64>, to: Label },
    Jump { to: Label },
    Choose { value: In<u64>, to: Labels },
    Return { a: In<i64> },
}

template! {
    Op::Add      => (add $a $b)
    Op::Multiply => (mul $a $b)
    Op::Xor      => (xor $a $k)
    Op::Shift    => (shr $a $k)
    Op::JumpLess => (when (lt $a $b) (branch $to))
    Op::Jump     => (branch $to)
    Op::Choose   => (switch $value $to)
    Op::Return   => (return $a)
}

const REGISTERS: u32 = 24;

/// Lengths of functions.
const LENGTHS: &[usize] = if cfg!(debug_assertions) { &[500, 4000] } else { &[1000, 10_000, 100_000] };
/// The power of the length with which the time of one bytecode may grow: 0 is linear, 1 is quadratic.
const POWER: f64 = 0.75;
/// How often a shape is measured before it is slow.
const TRIES: u32 = 12;
/// A stage that takes less than this for a bytecode is no matter.
const LITTLE: Duration = Duration::from_nanos(if cfg!(debug_assertions) { 4000 } else { 100 });

/// A way to write functions of any length.
type Shape = fn(&mut Writer, usize);

/// Writes code; the numbers of registers come from a generator, so that all are in use everywhere.
struct Writer {
    code: Vec<Op>,
    labels: Vec<u32>,
    state: u64,
}

impl Writer {
    fn random(&mut self) -> u32 {
        self.state =
            self.state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.state >> 33) as u32
    }

    fn reg<T: From<u32>>(&mut self) -> T {
        (self.random() % REGISTERS).into()
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

    /// Uses all registers and returns.
    fn finish(&mut self) {
        for register in 1..REGISTERS {
            self.code.push(Op::Add { dst: 0.into(), a: 0.into(), b: register.into() });
        }
        self.code.push(Op::Return { a: 0.into() });
    }
}

fn straight(writer: &mut Writer, length: usize) {
    (0..length).for_each(|_| writer.arithmetic());
}

/// Some instructions are skipped on conditions.
fn branchy(writer: &mut Writer, length: usize) {
    for _ in 0..length / 8 {
        let to = Label(writer.here() + 1 + 2 + writer.random() % 5);
        let (a, b) = (writer.reg(), writer.reg());
        writer.code.push(Op::JumpLess { a, b, to });
        (0..7).for_each(|_| writer.arithmetic());
    }
}

/// One short loop behind another, two deep.
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

/// One loop around a choice behind another, as state machines have it.
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

/// One loop around one choice among all that there is.
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

/// Notes what time it is after each stage.
#[derive(Default)]
struct Clock {
    ticks: Vec<(&'static str, Instant)>,
}

impl Clock {
    fn tick(&mut self, stage: &'static str) {
        self.ticks.push((stage, Instant::now()));
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

/// How long each stage takes for a bytecode, at best.
type Times = Vec<(&'static str, Duration)>;

/// Compiles a function some times and keeps what was best, also of earlier calls.
fn measure(compiler: &mut Compiler, shape: Shape, length: usize, best: &mut Times) {
    let mut writer = Writer { code: Vec::new(), labels: Vec::new(), state: length as u64 };
    shape(&mut writer, length);
    writer.finish();
    let found = verify(&writer.code, &writer.labels, REGISTERS).expect("the code is right");
    let source = Source {
        vocab: Vocabulary { extra: Op::OPERATORS },
        opcodes: Op::OPCODES,
        templates: Op::templates(),
        code: &writer.code,
        labels: &writer.labels,
        locals: REGISTERS,
        slots: found.slots,
        depths: &found.depths,
        entry: 0,
        arguments: None,
        functions: azulejo::__private::core::pass::build::Functions::default(),
        called: None,
    };
    let bytecodes = writer.code.len() as u32;
    let repetitions = (50_000 / length).clamp(3, 20);
    for _ in 0..repetitions {
        let mut clock = Clock::default();
        clock.tick("start");
        drop(compiler.bytecode(&source, &mut clock).expect("it compiles"));
        clock.tick("emit");
        let stages = clock.ticks.windows(2).map(|pair| (pair[1].0, (pair[1].1 - pair[0].1) / bytecodes));
        match best.is_empty() {
            true => best.extend(stages),
            false => best.iter_mut().zip(stages).for_each(|(best, stage)| best.1 = best.1.min(stage.1)),
        }
    }
}

/// Where time grows faster than the function.
fn slow(name: &str, times: &[Times]) -> Vec<String> {
    let mut slow = Vec::new();
    for (step, lengths) in LENGTHS.windows(2).enumerate() {
        let bound = (lengths[1] as f64 / lengths[0] as f64).powf(POWER);
        for ((stage, short), (_, long)) in std::iter::zip(&times[step], &times[step + 1]) {
            if *long > short.max(&LITTLE).mul_f64(bound) {
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
    let mut compiler = Compiler::new(64 << 20, Features::detect(), rules).expect("this system runs code");
    let shapes: [(&str, Shape); 5] = [
        ("straight", straight),
        ("branchy", branchy),
        ("loops", loops),
        ("cases", cases),
        ("dispatch", dispatch),
    ];
    let mut found = Vec::new();
    for (name, shape) in shapes {
        let mut times = vec![Times::new(); LENGTHS.len()];
        // What else the machine does only ever adds to a time, so more tries come closer to what it takes.
        for _ in 0..TRIES {
            for (length, best) in LENGTHS.iter().zip(&mut times) {
                measure(&mut compiler, shape, *length, best);
            }
            if slow(name, &times).is_empty() {
                break;
            }
        }
        for (length, stages) in LENGTHS.iter().zip(&times) {
            println!("{name} {length}: {stages:?}");
        }
        found.extend(slow(name, &times));
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}
