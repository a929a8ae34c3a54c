//! Prints the measurements: JSON lines, tables, and means of ratios.

use crate::measure::{Row, Sample};
use crate::programs::Kind;
use std::fmt::Write;

/// An engine and its tier.
type Who = (&'static str, &'static str);

const INTERPRETER: Who = ("azulejo", "interpreter");
const IN_RUST: Who = ("azulejo", "interpreter in Rust");
const BASELINE: Who = ("azulejo", "baseline");
const OPTIMIZER: Who = ("azulejo", "optimizer");
const TIERING_UP: Who = ("azulejo", "climbing");
const BY_HAND: Who = ("match", "by hand");
const SPEED: Who = ("cranelift", "speed");
const FASTEST: Who = ("cranelift", "none+single_pass");
const LIMIT: Who = ("limit", "copy-and-patch");
const RUST: Who = ("rust", "-O");

const COLUMNS: [(&str, Who); 9] = [
    ("interpr.", INTERPRETER),
    ("by hand", BY_HAND),
    ("baseline", BASELINE),
    ("optimizer", OPTIMIZER),
    ("climbing", TIERING_UP),
    ("clif speed", SPEED),
    ("clif none", FASTEST),
    ("limit", LIMIT),
    ("rust -O", RUST),
];

/// A geometric mean, the maximum, and the number of ratios.
type Mean = (f64, f64, usize);

/// Formats a row as JSON.
pub(crate) fn json(row: &Row) -> String {
    let mut text = format!(
        r#"{{"bench":"{}","engine":"{}","tier":"{}","bytecodes":{},"code_bytes":{}"#,
        row.bench, row.engine, row.tier, row.bytecodes, row.code_bytes
    );
    let mut sample = |name: &str, sample: &Option<Sample>| {
        let Some(Sample { median, low, high }) = sample else { return };
        let _ =
            write!(text, r#","{name}_ns":{median:.1},"{name}_low_ns":{low:.1},"{name}_high_ns":{high:.1}"#);
    };
    sample("compile", &row.compile);
    sample("pipeline", &row.pipeline);
    sample("run", &row.run);
    if let Some((first, again)) = &row.heap {
        let (peak, allocations) = (first.peak, again.allocations);
        let _ = write!(text, r#","scratch_bytes":{peak},"allocations":{allocations}"#);
    }
    text.push('}');
    text
}

/// The report of all measurements.
pub(crate) struct Report<'a> {
    rows: &'a [Row],
}

impl<'a> Report<'a> {
    /// A report of these rows.
    pub(crate) fn new(rows: &'a [Row]) -> Self {
        Report { rows }
    }

    /// Prints the tables, then the means.
    pub(crate) fn print(&self) {
        println!("\nrunning, nanoseconds (medians); ratios are of the optimizer's time");
        self.table(|row| row.run.map(|run| run.median), &[("/clif", SPEED), ("/rust", RUST)]);
        println!("\ncompiling, nanoseconds a bytecode, engine included");
        let per_bytecode =
            |sample: Option<Sample>, row: &Row| sample.map(|it| it.median / row.bytecodes as f64);
        self.table(|row| per_bytecode(row.compile, row), &[("/clif", SPEED), ("/fastest", FASTEST)]);
        println!("\nmachine code, bytes a bytecode");
        self.table(
            |row| (row.code_bytes > 0).then(|| row.code_bytes as f64 / row.bytecodes as f64),
            &[("/clif", SPEED)],
        );
        self.memory();
        self.means();
    }

    fn benches(&self) -> Vec<&'a str> {
        let mut names: Vec<&str> = self.rows.iter().map(|row| row.bench.as_str()).collect();
        names.dedup();
        names
    }

    fn find(&self, bench: &str, who: Who) -> Option<&'a Row> {
        self.rows.iter().find(|row| row.bench == bench && (row.engine, row.tier) == who)
    }

    fn table(&self, value: impl Fn(&Row) -> Option<f64>, ratios: &[(&str, Who)]) {
        let columns = COLUMNS
            .iter()
            .filter(|(_, who)| {
                self.rows.iter().any(|row| (row.engine, row.tier) == *who && value(row).is_some())
            })
            .collect::<Vec<_>>();
        let mut line = format!("{:16}", "");
        columns.iter().for_each(|(name, _)| write!(line, "{name:>12}").expect("text grows"));
        ratios.iter().for_each(|(name, _)| write!(line, "{name:>10}").expect("text grows"));
        println!("{line}");
        for bench in self.benches() {
            let at = |who: Who| self.find(bench, who).and_then(&value);
            if columns.iter().all(|(_, who)| at(*who).is_none()) {
                continue;
            }
            let mut line = format!("{bench:16}");
            for (_, who) in &columns {
                let digits = if at(*who) < Some(100.0) { 2 } else { 0 };
                let cell = at(*who).map_or(String::new(), |value| format!("{value:.digits$}"));
                write!(line, "{cell:>12}").expect("text grows");
            }
            for (_, other) in ratios {
                let ratio = at(OPTIMIZER).zip(at(*other)).map(|(own, other)| own / other);
                let cell = ratio.map_or(String::new(), |ratio| format!("{ratio:.3}"));
                write!(line, "{cell:>10}").expect("text grows");
            }
            println!("{line}");
        }
    }

    fn memory(&self) {
        println!(
            "\nthe optimizer's own memory: bytes a bytecode, kept and at most; allocations when it compiles again; time"
        );
        for row in self.rows.iter().filter(|row| (row.engine, row.tier) == OPTIMIZER) {
            let (Some((first, again)), Some(pipeline)) = (row.heap, row.pipeline) else { continue };
            let [kept, peak] =
                [first.kept, first.peak as i64].map(|bytes| bytes as f64 / row.bytecodes as f64);
            let time = pipeline.median / row.bytecodes as f64;
            println!(
                "{:16}{kept:>8.0}{peak:>8.0}{:>8}{time:>10.1} ns a bytecode",
                row.bench, again.allocations
            );
        }
    }

    /// The geometric mean of a ratio over the programs for which both values are known.
    fn mean(&self, kinds: &[Kind], of: Who, to: Who, time: impl Fn(&Row) -> Option<Sample>) -> Option<Mean> {
        let mut ratios = Vec::new();
        for row in self.rows.iter().filter(|row| (row.engine, row.tier) == of && kinds.contains(&row.kind)) {
            let other = self.find(&row.bench, to);
            if let (Some(own), Some(other)) = (time(row), other.and_then(&time)) {
                ratios.push(own.median / other.median);
            }
        }
        let sum: f64 = ratios.iter().map(|ratio| ratio.ln()).sum();
        let most = ratios.iter().copied().fold(0.0, f64::max);
        (!ratios.is_empty()).then(|| ((sum / ratios.len() as f64).exp(), most, ratios.len()))
    }

    fn means(&self) {
        use Kind::{Folds, Generated, Serial, Tiny};
        println!("\ngeometric means of ratios, and the largest");
        let run = |row: &Row| row.run;
        let compile = |row: &Row| row.compile;
        let all = &[Serial, Folds, Generated, Tiny][..];
        let loops = &[Serial, Folds][..];
        let lines: [(&str, Option<Mean>); 11] = [
            ("run: optimizer / Cranelift speed", self.mean(loops, OPTIMIZER, SPEED, run)),
            (
                "run: optimizer / Cranelift speed, generated code",
                self.mean(&[Generated], OPTIMIZER, SPEED, run),
            ),
            ("run: optimizer / Rust -O, serial loops", self.mean(&[Serial], OPTIMIZER, RUST, run)),
            ("run: optimizer / baseline", self.mean(loops, OPTIMIZER, BASELINE, run)),
            ("run: climbing / optimizer", self.mean(loops, TIERING_UP, OPTIMIZER, run)),
            ("run: baseline / interpreter", self.mean(loops, BASELINE, INTERPRETER, run)),
            ("run: interpreter / interpreter in Rust", self.mean(all, INTERPRETER, IN_RUST, run)),
            ("run: interpreter in Rust / match by hand", self.mean(all, IN_RUST, BY_HAND, run)),
            ("compile: optimizer / Cranelift speed", self.mean(all, OPTIMIZER, SPEED, compile)),
            ("compile: optimizer / Cranelift none+single_pass", self.mean(all, OPTIMIZER, FASTEST, compile)),
            ("compile: baseline / limit", self.mean(&[Generated], BASELINE, LIMIT, compile)),
        ];
        for (name, mean) in lines {
            if let Some((mean, most, count)) = mean {
                println!("  {name:52}{mean:>8.3}{most:>8.3}  of {count}");
            }
        }
        println!("\ncompile rates, million bytecodes a second");
        for bench in self.benches() {
            let is_sized = |row: &&Row| row.bench == bench && matches!(row.kind, Generated | Tiny);
            let rows: Vec<&Row> =
                self.rows.iter().filter(is_sized).filter(|row| row.compile.is_some()).collect();
            if rows.is_empty() {
                continue;
            }
            let cells = rows.iter().map(|row| {
                let rate =
                    row.bytecodes as f64 * 1000.0 / row.compile.map_or(f64::NAN, |compile| compile.median);
                format!("{} {rate:.2}", row.tier)
            });
            println!("  {bench:16}{}", cells.collect::<Vec<_>>().join(", "));
        }
    }
}
