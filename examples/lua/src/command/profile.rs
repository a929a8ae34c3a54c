//! What `--profile` does: it counts time, and says where the program has spent it.
//!
//! In: the samples of a program that has ended. Out: a table of functions and one of lines; and folded stacks, as programs that draw flame
//! graphs read them, in which the innermost frame is a line.

use crate::run::profile::{Profile, Spot};
use crate::run::vm::Prototype;
use crate::syntax::ast::Line;
use crate::syntax::chunk_id;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt::Write;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// The time between two samples.
const INTERVAL: Duration = Duration::from_millis(1);

/// So many rows a table has.
const ROWS: usize = 20;

/// A thread that counts time.
pub(super) struct Sampler {
    /// Dropped to end the thread.
    end: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Sampler {
    /// Asks for samples from now on.
    pub(super) fn start(profile: &Profile) -> Sampler {
        let (due, (end, ended)) = (profile.due(), channel());
        let thread = std::thread::spawn(move || {
            let (start, mut counted) = (Instant::now(), 0);
            while ended.recv_timeout(INTERVAL) == Err(RecvTimeoutError::Timeout) {
                // The thread may have waited longer than it wanted to.
                let all = (start.elapsed().as_nanos() / INTERVAL.as_nanos()) as u32;
                due.fetch_add(all.wrapping_sub(counted), Relaxed);
                counted = all;
            }
        });
        Sampler { end: Some(end), thread: Some(thread) }
    }
}

impl Drop for Sampler {
    fn drop(&mut self) {
        self.end = None;
        self.thread.take().map(JoinHandle::join);
    }
}

/// How many samples found something: itself at the top, and anywhere.
#[derive(Clone, Copy, Default)]
struct Tally {
    itself: u64,
    all: u64,
}

/// A line of a chunk, whichever functions are in it.
type ChunkLine<'a> = (&'a [u8], Line);

/// The tables.
pub(super) fn tables(profile: &Profile) -> String {
    let total: u64 = profile.stacks.values().sum();
    let mut functions = BTreeMap::<usize, Tally>::new();
    let mut lines = BTreeMap::<ChunkLine<'_>, (Tally, &Prototype)>::new();
    let place = |spot: &Spot| -> ChunkLine<'_> { (&profile.functions[spot.function].chunk, spot.line) };
    for (stack, count) in &profile.stacks {
        // Each of them once, however deep it calls itself.
        let there: HashSet<usize> = stack.iter().map(|spot| spot.function).collect();
        there.into_iter().for_each(|function| functions.entry(function).or_default().all += count);
        let there: HashMap<ChunkLine<'_>, usize> =
            stack.iter().map(|spot| (place(spot), spot.function)).collect();
        for (place, function) in there {
            let of_line = lines.entry(place).or_insert((Tally::default(), &profile.functions[function]));
            of_line.0.all += count;
        }
        if let Some(top) = stack.first() {
            functions.entry(top.function).or_default().itself += count;
            lines.entry(place(top)).and_modify(|(found, _)| found.itself += count);
        }
    }
    let mut text = format!("profile    {total} samples, {INTERVAL:?} each\n");
    let name = |function: &usize| profile.functions[*function].title();
    table(&mut text, "function", total, functions.iter().map(|(function, found)| (*found, name(function))));
    let lines = lines.iter().map(|((_, line), (found, function))| (*found, line_of(function, *line)));
    table(&mut text, "line", total, lines);
    text
}

/// Writes the rows that have most.
fn table(text: &mut String, what: &str, total: u64, rows: impl Iterator<Item = (Tally, String)>) {
    let mut rows: Vec<(Tally, String)> = rows.collect();
    rows.sort_by_key(|(found, _)| std::cmp::Reverse((found.itself, found.all)));
    let percent = |count: u64| count as f64 * 100.0 / total.max(1) as f64;
    writeln!(text, "\n{:>8}{:>8}{:>8}{:>8}  {what}", "itself", "%", "all", "%")
        .expect("a string takes any text");
    for (Tally { itself, all }, name) in rows.iter().take(ROWS) {
        let (a, b) = (percent(*itself), percent(*all));
        writeln!(text, "{itself:>8}{a:>8.1}{all:>8}{b:>8.1}  {name}").expect("a string takes any text");
    }
}

/// The chunk and the number of a line, and what is written there.
fn line_of(function: &Prototype, line: Line) -> String {
    let place = place(function, line);
    match function.source_line(line) {
        Some(source) => format!("{place}  {source}"),
        None => place,
    }
}

fn place(function: &Prototype, line: Line) -> String {
    format!("{}:{line}", String::from_utf8_lossy(&chunk_id(&function.chunk)))
}

/// The stacks, one a line: the outermost function first, and how many samples found it.
pub(super) fn folded(profile: &Profile) -> String {
    // Stacks that differ only in lines further out are one.
    let mut found: BTreeMap<String, u64> = BTreeMap::new();
    for (stack, count) in &profile.stacks {
        let Some(top) = stack.first() else { continue };
        let mut line = String::new();
        for spot in stack.iter().rev() {
            line += &part(&profile.functions[spot.function].title());
            line.push(';');
        }
        line += &part(&place(&profile.functions[top.function], top.line));
        *found.entry(line).or_default() += count;
    }
    found.iter().map(|(line, count)| format!("{line} {count}\n")).collect()
}

/// A frame's text: what separates frames is not in it.
fn part(text: &str) -> String {
    text.replace([';', '\n', '\r'], ",")
}
