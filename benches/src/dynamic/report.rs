//! Prints the measurements of the dynamic suite: JSON lines, a table, and geometric means.

use super::DynamicRow;
use super::lua::PUC;
use std::fmt::Write;

/// One line for each engine.
pub(crate) fn json(row: &DynamicRow) -> String {
    row.seconds.iter().fold(String::new(), |mut lines, (engine, seconds)| {
        let (bench, nanoseconds) = (row.bench, seconds * 1e9);
        let _ = writeln!(lines, r#"{{"bench":"{bench}","engine":"{engine}","run_ns":{nanoseconds:.0}}}"#);
        lines
    })
}

/// How many times as fast as PUC Lua an engine is; `None` if that is not installed.
fn speed(row: &DynamicRow, engine: &str) -> Option<f64> {
    let of = |name: &str| row.seconds.iter().find(|(engine, _)| *engine == name).map(|(_, seconds)| *seconds);
    Some(of(PUC)? / of(engine)?)
}

/// Prints the table: seconds of PUC Lua, and how many times as fast the others are. Without it, the seconds of all. Then, how many
/// million bytecodes baseline and the optimizer compile in a second.
pub(crate) fn print(rows: &[DynamicRow], compiled: [f64; 2]) {
    let Some(first) = rows.first() else { return };
    let is_compared = first.seconds.iter().any(|(engine, _)| *engine == PUC);
    let engines: Vec<&str> = first.seconds.iter().map(|(engine, _)| *engine).collect();
    println!("\n{:12}{}", "", engines.iter().map(|engine| format!("{engine:>14}")).collect::<String>());
    for row in rows {
        let cells = row.seconds.iter().map(|(engine, seconds)| match speed(row, engine) {
            Some(speed) if *engine != PUC => format!("{speed:>14.2}"),
            _ => format!("{:>14}", format!("{seconds:.3} s")),
        });
        println!("{:12}{}", row.bench, cells.collect::<String>());
    }
    let [baseline, optimizer] = compiled;
    let compiling =
        format!("compiling: baseline {baseline:.2}, optimizer {optimizer:.3} million bytecodes a second");
    if !is_compared {
        return println!("\n{compiling}");
    }
    let mean = |engine: &str| {
        let sum: f64 = rows.iter().filter_map(|row| speed(row, engine)).map(f64::ln).sum();
        (sum / rows.len() as f64).exp()
    };
    let means =
        engines.iter().filter(|engine| **engine != PUC).map(|engine| format!("{:>14.2}", mean(engine)));
    println!("{:12}{:14}{}", "mean", "", means.collect::<String>());
    let [interpreter, baseline, optimizer] = ["interpreter", "baseline", "optimizer"].map(mean);
    println!("\n{compiling}");
    println!(
        "dynamic: interpreter {interpreter:.2}, baseline {baseline:.2}, optimizer {optimizer:.2} times {PUC}"
    );
}
