//! Prints the WebAssembly measurements: JSON lines, tables, and geometric means of ratios beside their targets.

use super::WasmRow;
use crate::measure::Sample;
use std::fmt::Write;

/// An engine and its tier.
type Competitor = (&'static str, &'static str);

const INTERPRETER: Competitor = ("azulejo", "interpreter");
const BASELINE: Competitor = ("azulejo", "baseline");
const OPTIMIZER: Competitor = ("azulejo", "optimizer");
const TIERING_UP: Competitor = ("azulejo", "climbing");
const CRANELIFT: Competitor = ("wasmtime", "cranelift");
const WINCH: Competitor = ("wasmtime", "winch");
const WASMI: Competitor = ("wasmi", "eager");

const ALL: [Competitor; 7] = [INTERPRETER, BASELINE, OPTIMIZER, TIERING_UP, CRANELIFT, WINCH, WASMI];

/// The quantity of a table.
type Value = fn(&WasmRow) -> Option<f64>;

fn compile(row: &WasmRow) -> Option<f64> {
    row.compile.map(|sample| sample.median)
}

fn start(row: &WasmRow) -> Option<f64> {
    row.start.map(|sample| sample.median)
}

fn run(row: &WasmRow) -> Option<f64> {
    row.run.map(|sample| sample.median)
}

fn long(row: &WasmRow) -> Option<f64> {
    row.long.map(|sample| sample.median)
}

fn code(row: &WasmRow) -> Option<f64> {
    (row.code_bytes > 0).then_some(row.code_bytes as f64)
}

/// Formats a row as JSON.
pub(crate) fn json(row: &WasmRow) -> String {
    let mut text = format!(
        r#"{{"suite":"wasm","bench":"{}","engine":"{}","tier":"{}","bytes":{},"functions":{},"code_bytes":{}"#,
        row.bench, row.engine, row.tier, row.bytes, row.functions, row.code_bytes
    );
    let mut sample = |name: &str, sample: &Option<Sample>| {
        let Some(Sample { median, low, high }) = sample else { return };
        let _ =
            write!(text, r#","{name}_ns":{median:.1},"{name}_low_ns":{low:.1},"{name}_high_ns":{high:.1}"#);
    };
    sample("compile", &row.compile);
    sample("start", &row.start);
    sample("run", &row.run);
    sample("long", &row.long);
    text.push('}');
    text
}

/// Prints the tables, then the means.
pub(crate) fn print(rows: &[WasmRow]) {
    table(rows, "running, microseconds", run, 1e-3);
    table(rows, "running for long, from bytes on, microseconds", long, 1e-3);
    table(rows, "compiling everything, microseconds", compile, 1e-3);
    table(rows, "from bytes to the end of a short call, microseconds", start, 1e-3);
    table(
        rows,
        "machine code, bytes for each of the module",
        |row| code(row).map(|it| it / row.bytes as f64),
        1.0,
    );
    println!("\ncompile rates of the large module");
    for row in rows.iter().filter(|row| row.is_large) {
        let Some(time) = compile(row) else { continue };
        let (bytes, functions) = (row.bytes as f64 * 1e3 / time, row.functions as f64 * 1e6 / time);
        println!("  {:10}{:12}{bytes:>10.2} MB/s{functions:>10.1} functions/ms", row.engine, row.tier);
    }
    means(rows);
}

fn benches(rows: &[WasmRow]) -> Vec<&'static str> {
    let mut names: Vec<&str> = rows.iter().map(|row| row.bench).collect();
    names.dedup();
    names
}

fn find<'a>(rows: &'a [WasmRow], bench: &str, who: Competitor) -> Option<&'a WasmRow> {
    rows.iter().find(|row| row.bench == bench && (row.engine, row.tier) == who)
}

fn table(rows: &[WasmRow], title: &str, value: Value, scale: f64) {
    println!("\n{title}");
    let columns: Vec<Competitor> = ALL
        .into_iter()
        .filter(|who| rows.iter().any(|row| (row.engine, row.tier) == *who && value(row).is_some()))
        .collect();
    let names =
        columns.iter().map(|(engine, tier)| format!("{:>12}", if *tier == "eager" { engine } else { tier }));
    println!("{:12}{}", "", names.collect::<String>());
    for bench in benches(rows) {
        let cells = columns.iter().map(|who| {
            let cell = find(rows, bench, *who).and_then(value).map(|value| value * scale);
            let digits = if cell < Some(100.0) { 2 } else { 0 };
            format!("{:>12}", cell.map_or(String::new(), |value| format!("{value:.digits$}")))
        });
        println!("{bench:12}{}", cells.collect::<String>());
    }
}

/// Prints geometric means and maxima of ratios over the programs, or for the large module alone, beside their targets.
fn means(rows: &[WasmRow]) {
    println!("\ngeometric means of ratios, the largest, how many, and what is wanted");
    let lines: [(&str, bool, Competitor, Competitor, Value, &str); 14] = [
        ("run: optimizer / Cranelift", false, OPTIMIZER, CRANELIFT, run, "1.15, none over 1.6"),
        ("run: baseline / Winch", false, BASELINE, WINCH, run, "1"),
        ("run: interpreter / wasmi", false, INTERPRETER, WASMI, run, "1.5"),
        ("long: climbing / optimizer", false, TIERING_UP, OPTIMIZER, long, "1.1 of the best tier"),
        ("long: climbing / baseline", false, TIERING_UP, BASELINE, long, "1.1 of the best tier"),
        ("compile: optimizer / Cranelift, large", true, OPTIMIZER, CRANELIFT, compile, "0.2"),
        ("compile: baseline / Winch, large", true, BASELINE, WINCH, compile, "0.1"),
        ("compile: optimizer / Cranelift, programs", false, OPTIMIZER, CRANELIFT, compile, ""),
        ("compile: baseline / Winch, programs", false, BASELINE, WINCH, compile, ""),
        ("start: climbing / wasmi, large", true, TIERING_UP, WASMI, start, "0.2"),
        ("start: climbing / Cranelift, large", true, TIERING_UP, CRANELIFT, start, "0.2"),
        ("start: climbing / wasmi, programs", false, TIERING_UP, WASMI, start, ""),
        ("code: optimizer / Cranelift", false, OPTIMIZER, CRANELIFT, code, ""),
        ("code: baseline / Winch", false, BASELINE, WINCH, code, ""),
    ];
    for (name, is_large, of, to, value, wanted) in lines {
        let ratios: Vec<f64> = rows
            .iter()
            .filter(|row| row.is_large == is_large && (row.engine, row.tier) == of)
            .filter_map(|row| Some(value(row)? / value(find(rows, row.bench, to)?)?))
            .collect();
        if ratios.is_empty() {
            continue;
        }
        let mean = (ratios.iter().map(|ratio| ratio.ln()).sum::<f64>() / ratios.len() as f64).exp();
        let most = ratios.iter().copied().fold(0.0, f64::max);
        println!("  {name:44}{mean:>8.3}{most:>8.3}  of {:<4}{wanted}", ratios.len());
    }
}
