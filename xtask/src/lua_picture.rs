//! Draws what the suite of Lua programs has measured.
//!
//! In: the JSON lines of `cargo xtask bench --suite lua --json FILE`. Out: a picture in SVG: for each program a bar for each
//! implementation, whose length is the logarithm of its speed over PUC Lua 5.1's, and a legend with the geometric means. Bars of what is
//! slower go to the left. Programs that an implementation has not run have a remark instead of its bar, and no part in the means.
//!
//! The picture has no background and two sets of colors, so that it can be read on light and on dark pages.

use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;

/// The length of all bars is relative to this one's.
const REFERENCE: &str = "lua5.1";

/// The implementations in their order: the name in the measurements, that in the legend, the color on light pages, that on dark ones.
const SERIES: [(&str, &str, &str, &str); 6] = [
    ("lua5.4", "Lua 5.4", "#8c8c8c", "#8c8c8c"),
    ("luajit -joff", "LuaJIT -joff", "#e0a458", "#b07c38"),
    ("luajit", "LuaJIT", "#c05a1c", "#ef8a4a"),
    ("interpreter", "azulejo interpreter", "#9cc4e4", "#41678a"),
    ("baseline", "azulejo baseline", "#4f8fc4", "#5a9bd4"),
    ("default", "azulejo", "#0b4a85", "#b4dcff"),
];

// Lengths in pixels.
const WIDTH: f64 = 900.0;
const COLUMNS: usize = 2;
const LABEL: f64 = 92.0;
const GAP: f64 = 24.0;
const BAR: f64 = 4.0;
const SPACE: f64 = 7.0;
const LINE: f64 = 18.0;

/// The CPU time of each implementation that has run a program.
type Times = BTreeMap<String, f64>;

/// Reads a file and writes the picture.
pub(crate) fn draw(arguments: impl Iterator<Item = String>) -> Result<(), String> {
    let arguments: Vec<String> = arguments.collect();
    let [from, to] = &arguments[..] else {
        return Err("usage: cargo xtask lua-picture FILE PICTURE".to_string());
    };
    let text = fs::read_to_string(from).map_err(|error| format!("cannot read {from}: {error}"))?;
    fs::write(to, picture(&text)?).map_err(|error| format!("cannot write {to}: {error}"))
}

/// The picture of the measurements in lines of JSON.
fn picture(lines: &str) -> Result<String, String> {
    let programs = read(lines)?;
    if programs.is_empty() {
        return Err(format!("there is no program that {REFERENCE} has run"));
    }
    let is_there = |name: &str| programs.values().any(|times| times.contains_key(name));
    let series: Vec<_> = SERIES.into_iter().filter(|(name, ..)| is_there(name)).collect();
    let names: Vec<&str> = series.iter().map(|(name, ..)| *name).collect();
    let scale =
        Scale::of(programs.values().flat_map(|times| names.iter().filter_map(|name| speed(times, name))));
    let n_rows = programs.len().div_ceil(COLUMNS);
    let row_height = names.len() as f64 * BAR + SPACE;
    let top = (series.len() as f64 / 2.0).ceil() * LINE + 2.0 * LINE + 12.0;
    let height = top + n_rows as f64 * row_height + LINE;
    let mut out = String::new();
    head(&mut out, height, &series);
    legend(&mut out, &programs, &series);
    for column in 0..COLUMNS {
        let left = column as f64 * (Scale::column() + GAP);
        let rows: Vec<_> = programs.iter().skip(column * n_rows).take(n_rows).collect();
        scale.lines(&mut out, left, top, rows.len() as f64 * row_height);
        for (at, (name, times)) in rows.into_iter().enumerate() {
            let y = top + at as f64 * row_height;
            let middle = y + (row_height - SPACE) / 2.0 + 4.0;
            let _ = writeln!(
                out,
                r#"<text class="end" x="{:.0}" y="{middle:.1}">{name}</text>"#,
                left + LABEL - 8.0
            );
            bars(&mut out, &scale, &names, times, (left, y));
        }
    }
    out.push_str("</svg>\n");
    Ok(out)
}

/// The times by program. Rows in parentheses are no programs.
fn read(lines: &str) -> Result<BTreeMap<String, Times>, String> {
    let mut programs: BTreeMap<String, Times> = BTreeMap::new();
    for (at, line) in lines.lines().enumerate() {
        let value: Value = serde_json::from_str(line).map_err(|error| format!("line {}: {error}", at + 1))?;
        let word = |key: &str| value[key].as_str().ok_or_else(|| format!("line {}: no `{key}`", at + 1));
        let (bench, engine) = (word("bench")?, word("engine")?);
        let is_name = |c: char| c.is_alphanumeric() || "_-".contains(c);
        if !bench.chars().all(is_name) {
            continue;
        }
        let times = programs.entry(bench.to_string()).or_default();
        if let Some(time) = value["cpu_ns"].as_f64().filter(|time| *time > 0.0) {
            times.insert(engine.to_string(), time);
        }
    }
    programs.retain(|_, times| times.contains_key(REFERENCE));
    Ok(programs)
}

/// How many times as fast as the reference an implementation is.
fn speed(times: &Times, name: &str) -> Option<f64> {
    Some(times.get(REFERENCE)? / times.get(name)?)
}

/// The geometric mean of an implementation's speeds, over the programs that all have run.
fn mean(programs: &BTreeMap<String, Times>, names: &[&str], name: &str) -> Option<f64> {
    let complete = programs.values().filter(|times| names.iter().all(|name| times.contains_key(*name)));
    let logarithms: Vec<f64> = complete.filter_map(|times| speed(times, name)).map(f64::ln).collect();
    (!logarithms.is_empty()).then(|| (logarithms.iter().sum::<f64>() / logarithms.len() as f64).exp())
}

/// Powers of two from the slowest to the fastest, with the place of one among them.
struct Scale {
    low: i32,
    high: i32,
}

impl Scale {
    fn of(speeds: impl Iterator<Item = f64>) -> Scale {
        speeds.map(f64::log2).fold(Scale { low: 0, high: 2 }, |scale, it| Scale {
            low: scale.low.min(it.floor() as i32),
            high: scale.high.max(it.ceil() as i32),
        })
    }

    /// The width of a column of the picture.
    fn column() -> f64 {
        (WIDTH - GAP * (COLUMNS - 1) as f64) / COLUMNS as f64
    }

    /// The distance of a speed's place from the left of its column.
    fn place(&self, speed: f64) -> f64 {
        let part = (speed.log2() - f64::from(self.low)) / f64::from(self.high - self.low);
        LABEL + part * (Scale::column() - LABEL - 14.0)
    }

    /// Draws a line for each power of two, with its number above.
    fn lines(&self, out: &mut String, left: f64, top: f64, height: f64) {
        for power in self.low..=self.high {
            let x = left + self.place(f64::from(power).exp2());
            let class = if power == 0 { "one" } else { "line" };
            let (from, to) = (top - 4.0, top + height);
            let _ = writeln!(out, r#"<path class="{class}" d="M{x:.1} {from:.1}V{to:.1}"/>"#);
            let number = if power < 0 { format!("1/{}", 1 << -power) } else { (1 << power).to_string() };
            let _ = writeln!(out, r#"<text class="mid" x="{x:.1}" y="{:.1}">{number}×</text>"#, top - 8.0);
        }
    }
}

/// Draws the bars of a program, from the line of the reference.
fn bars(out: &mut String, scale: &Scale, names: &[&str], times: &Times, (left, top): (f64, f64)) {
    let one = left + scale.place(1.0);
    for (at, name) in names.iter().enumerate() {
        let y = top + at as f64 * BAR;
        let Some(speed) = speed(times, name) else {
            let (x, y) = (one + 3.0, y + BAR);
            let _ = writeln!(out, r#"<text class="small" x="{x:.1}" y="{y:.1}">{name} fails</text>"#);
            continue;
        };
        let end = left + scale.place(speed);
        let (x, width) = (one.min(end), (end - one).abs());
        let (class, height) = (class(name), BAR - 0.5);
        let _ = writeln!(
            out,
            r#"<rect class="{class}" x="{x:.1}" y="{y:.1}" width="{width:.1}" height="{height}"><title>{name} {speed:.2}</title></rect>"#
        );
    }
}

/// The class of an implementation in the style.
fn class(name: &str) -> String {
    format!("s-{}", name.replace(|c: char| !c.is_alphanumeric(), ""))
}

fn head(out: &mut String, height: f64, series: &[(&str, &str, &str, &str)]) {
    let _ = writeln!(
        out,
        r#"<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH:.0}" height="{height:.0}" viewBox="0 0 {WIDTH:.0} {height:.0}" role="img">"#
    );
    let color = |out: &mut String, is_dark: bool| {
        for (name, _, light, dark) in series {
            let _ = write!(out, ".{}{{fill:{}}}", class(name), if is_dark { dark } else { light });
        }
    };
    out.push_str("<title>Programs in Lua: how many times as fast as PUC Lua 5.1</title>\n<style>\n");
    out.push_str("text{font:11px system-ui,sans-serif;fill:#24292f}.end{text-anchor:end}.mid{text-anchor:middle;fill:#6e7781}\n");
    out.push_str(".head{font-size:14px;font-weight:600}.small{font-size:6px}.line{stroke:#d0d7de}.one{stroke:#6e7781}\n");
    color(out, false);
    out.push_str("\n@media (prefers-color-scheme:dark){text{fill:#e6edf3}.mid{fill:#9198a1}.line{stroke:#30363d}.one{stroke:#9198a1}\n");
    color(out, true);
    out.push_str("}\n</style>\n");
}

/// Draws the title, and for each implementation its color, name and mean.
fn legend(out: &mut String, programs: &BTreeMap<String, Times>, series: &[(&str, &str, &str, &str)]) {
    let names: Vec<&str> = series.iter().map(|(name, ..)| *name).collect();
    let n_complete =
        programs.values().filter(|times| names.iter().all(|name| times.contains_key(*name))).count();
    let _ = writeln!(
        out,
        r#"<text class="head" x="0" y="14">How many times as fast as PUC Lua 5.1; geometric means of {n_complete} programs:</text>"#
    );
    let per_column = series.len().div_ceil(2);
    for (at, (name, title, ..)) in series.iter().enumerate() {
        let x = (at / per_column) as f64 * 220.0;
        let y = LINE * (at % per_column) as f64 + LINE + 6.0;
        let mean = mean(programs, &names, name).map_or("none".to_string(), |mean| format!("{mean:.2}×"));
        let class = class(name);
        let _ = writeln!(out, r#"<rect class="{class}" x="{x:.0}" y="{y:.0}" width="12" height="10"/>"#);
        let (x, y) = (x + 18.0, y + 9.0);
        let _ = writeln!(out, r#"<text x="{x:.0}" y="{y:.0}">{title}: {mean}</text>"#);
    }
}

#[cfg(test)]
mod tests {
    use super::picture;

    fn line(bench: &str, engine: &str, result: &str) -> String {
        format!("{{\"suite\":\"lua\",\"bench\":\"{bench}\",\"engine\":\"{engine}\",{result}}}\n")
    }

    fn measured(bench: &str, engine: &str, nanoseconds: u32) -> String {
        line(bench, engine, &format!("\"cpu_ns\":{nanoseconds}"))
    }

    /// `fib` is four times as fast and `sieve` half as fast; `json` fails and the start is no program.
    fn lines() -> String {
        let mut lines = measured("fib", "lua5.1", 800) + &measured("fib", "default", 200);
        lines += &(measured("sieve", "lua5.1", 500) + &measured("sieve", "default", 1000));
        lines += &(measured("json", "lua5.1", 500) + &line("json", "default", "\"failed\":\"it stops\""));
        lines + &measured("(start)", "lua5.1", 5) + &measured("(start)", "default", 50)
    }

    #[test]
    fn a_bar_for_each_run() {
        let picture = picture(&lines()).expect("it is drawn");
        let count = |text: &str| picture.matches(text).count();
        // A legend's square and two bars.
        assert_eq!(count("<rect class=\"s-default\""), 3);
        assert_eq!(count("default fails"), 1);
        assert_eq!(count("<title>default 4.00</title>") + count("<title>default 0.50</title>"), 2);
        assert_eq!(count(">fib<") + count(">sieve<") + count(">json<"), 3);
        assert!(!picture.contains("start") && !picture.contains("luajit"), "{picture}");
        // The geometric mean of four and a half.
        assert!(picture.contains(">azulejo: 1.41×<") && picture.contains("of 2 programs"), "{picture}");
        assert!(picture.contains("prefers-color-scheme:dark") && picture.ends_with("</svg>\n"));
    }

    /// On the logarithmic scale four times as fast is twice as far from one as half as fast.
    #[test]
    fn lengths_are_logarithms() {
        let picture = picture(&lines()).expect("it is drawn");
        let width = |title: &str| {
            let bar = picture.lines().find(|line| line.contains(title)).expect("it has a bar");
            let (_, rest) = bar.split_once("width=\"").expect("it has a width");
            rest.split('"').next().and_then(|number| number.parse::<f64>().ok()).expect("it is a number")
        };
        assert!((width("default 4.00") - 2.0 * width("default 0.50")).abs() < 0.2);
    }

    #[test]
    fn what_cannot_be_drawn_is_an_error() {
        assert!(picture("").is_err());
        assert!(picture("no JSON\n").is_err());
        assert!(picture("{\"bench\":\"fib\"}\n").is_err());
        assert!(picture(&measured("fib", "default", 3)).is_err());
    }
}
