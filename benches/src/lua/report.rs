//! Prints the measurements of the suite of Lua programs: JSON lines, a table of speeds, a table of memory, and geometric means.
//!
//! In: the rows, and the names of the implementations in their order. Only programs that all implementations have run are in the means.

use super::implementation::{OURS, PUC};
use super::{Best, LuaRow, Outcome};
use std::fmt::Write;

/// The name of the row with the measurements of an empty script.
pub(crate) const START: &str = "(start)";

/// One line for each implementation.
pub(crate) fn json(row: &LuaRow) -> String {
    row.outcomes.iter().fold(String::new(), |mut lines, (engine, outcome)| {
        let bench = &row.bench;
        let _ = write!(lines, r#"{{"suite":"lua","bench":"{bench}","engine":"{engine}","#);
        let _ = match outcome {
            Ok(Best { cpu, wall, peak }) => {
                let (cpu, wall) = (cpu * 1e9, wall * 1e9);
                writeln!(lines, r#""cpu_ns":{cpu:.0},"wall_ns":{wall:.0},"peak_kib":{peak}}}"#)
            }
            Err(reason) => writeln!(lines, r#""failed":"{}"}}"#, escaped(reason)),
        };
        lines
    })
}

/// A text within a string of JSON.
fn escaped(text: &str) -> String {
    text.chars().fold(String::new(), |mut out, c| {
        let _ = match c {
            '"' | '\\' => write!(out, "\\{c}"),
            c if c.is_control() => write!(out, "\\u{:04x}", u32::from(c)),
            c => write!(out, "{c}"),
        };
        out
    })
}

/// A table: what it compares, and how.
struct Comparison {
    title: &'static str,
    /// The figure of the reference as text.
    plain: fn(&Best) -> String,
    /// The ratio of an implementation and the reference.
    ratio: fn(&Best, &Best) -> f64,
}

const SPEED: Comparison = Comparison {
    title: "speed: CPU time of lua5.1, and how many times as fast the others are",
    plain: |best| format!("{:.3} s", best.cpu),
    ratio: |best, reference| reference.cpu / best.cpu,
};

const MEMORY: Comparison = Comparison {
    title: "memory: the peak of lua5.1, and how many times as much the others have",
    plain: |best| format!("{:.1} MiB", best.peak as f64 / 1024.0),
    ratio: |best, reference| best.peak as f64 / reference.peak as f64,
};

impl Comparison {
    fn cell(&self, row: &LuaRow, name: &str, outcome: &Outcome) -> String {
        match (outcome, row.best(PUC)) {
            (Err(_), _) => "fails".to_string(),
            (Ok(best), Some(reference)) if name != PUC => format!("{:.2}", (self.ratio)(best, &reference)),
            (Ok(best), _) => (self.plain)(best),
        }
    }

    /// The geometric mean of an implementation's ratios; `None` if there are none.
    fn mean(&self, rows: &[&LuaRow], name: &str) -> Option<f64> {
        let ratios = rows.iter().filter_map(|row| Some((self.ratio)(&row.best(name)?, &row.best(PUC)?)));
        let logarithms: Vec<f64> = ratios.map(f64::ln).collect();
        (!logarithms.is_empty()).then(|| (logarithms.iter().sum::<f64>() / logarithms.len() as f64).exp())
    }

    fn print(&self, names: &[&str], rows: &[LuaRow], complete: &[&LuaRow]) {
        println!("\n{}", self.title);
        print_line("", names.iter().map(ToString::to_string));
        for row in rows {
            print_line(&row.bench, names.iter().map(|name| self.cell(row, name, &row.outcomes[name])));
        }
        let means = names.iter().map(|name| match *name {
            PUC => String::new(),
            name => shown(self.mean(complete, name)),
        });
        print_line("mean", means);
    }
}

fn print_line(name: &str, cells: impl Iterator<Item = String>) {
    println!("{name:14}{}", cells.map(|cell| format!("{cell:>14}")).collect::<String>());
}

fn shown(mean: Option<f64>) -> String {
    mean.map_or("none".to_string(), |mean| format!("{mean:.2}"))
}

/// Prints the tables, what an empty script takes, and a line with the means of ours.
pub(crate) fn print(names: &[&'static str], rows: &[LuaRow], starts: &LuaRow) {
    let complete: Vec<&LuaRow> = rows.iter().filter(|row| row.is_complete()).collect();
    SPEED.print(names, rows, &complete);
    MEMORY.print(names, rows, &complete);
    println!("\nan empty script: CPU time, and the peak of memory");
    let cells = |figure: fn(&Best) -> String| {
        names.iter().map(move |name| match &starts.outcomes[name] {
            Ok(best) => figure(best),
            Err(_) => "fails".to_string(),
        })
    };
    print_line("", names.iter().map(ToString::to_string));
    print_line("time", cells(|best| format!("{:.2} ms", best.cpu * 1e3)));
    print_line("memory", cells(|best| format!("{:.1} MiB", best.peak as f64 / 1024.0)));
    print_failures(rows.iter().chain([starts]));
    let [interpreter, baseline, default] = OURS.map(|name| shown(SPEED.mean(&complete, name)));
    let count = complete.len();
    println!(
        "\nlua: interpreter {interpreter}, baseline {baseline}, default {default} times {PUC}, {count} programs"
    );
}

/// The reasons of failures.
fn print_failures<'a>(rows: impl Iterator<Item = &'a LuaRow>) {
    for row in rows.filter(|row| !row.is_complete()) {
        println!("\n{} fails:", row.bench);
        for (name, outcome) in &row.outcomes {
            if let Err(reason) = outcome {
                println!("    {name}: {reason}");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Best, LuaRow, MEMORY, SPEED, json};
    use std::collections::BTreeMap;

    fn row(bench: &str, outcomes: &[(&'static str, Result<Best, String>)]) -> LuaRow {
        LuaRow { bench: bench.to_string(), outcomes: outcomes.iter().cloned().collect::<BTreeMap<_, _>>() }
    }

    fn best(cpu: f64, peak: u64) -> Best {
        Best { cpu, wall: cpu * 2.0, peak }
    }

    #[test]
    fn means_are_geometric() {
        let a = row("a", &[("lua5.1", Ok(best(1.0, 1000))), ("default", Ok(best(0.5, 3000)))]);
        let b = row("b", &[("lua5.1", Ok(best(4.0, 3000))), ("default", Ok(best(0.5, 9000)))]);
        let near = |mean: Option<f64>, expected: f64| assert!((mean.expect("one") - expected).abs() < 1e-9);
        near(SPEED.mean(&[&a, &b], "default"), 4.0);
        near(MEMORY.mean(&[&a, &b], "default"), 3.0);
        assert_eq!(SPEED.mean(&[], "default"), None);
        assert_eq!(SPEED.cell(&a, "default", &a.outcomes["default"]), "2.00");
        assert_eq!(SPEED.cell(&b, "lua5.1", &b.outcomes["lua5.1"]), "4.000 s");
    }

    #[test]
    fn a_failure_is_shown() {
        let failed = row("c", &[("lua5.1", Ok(best(1.0, 1))), ("default", Err("a \"b\"\n".to_string()))]);
        assert!(!failed.is_complete());
        assert_eq!(SPEED.cell(&failed, "default", &failed.outcomes["default"]), "fails");
        let expected = "{\"suite\":\"lua\",\"bench\":\"c\",\"engine\":\"default\",\"failed\":\"a \\\"b\\\"\\u000a\"}\n\
            {\"suite\":\"lua\",\"bench\":\"c\",\"engine\":\"lua5.1\",\"cpu_ns\":1000000000,\"wall_ns\":2000000000,\"peak_kib\":1}\n";
        assert_eq!(json(&failed), expected);
    }
}
