//! A session of random programs and graphs.
//!
//! In: `[--seconds N] [--seed N] [--programs N] [--failures N]`. Out: the failures, the tiles and rules that were not
//! reached, and a last line that sums it up.
//!
//! Successive programs go through the ways (see `WAYS`) in turn. A failing program is minimised and printed as a file for
//! `tests/rig/found`.

use crate::compare::{Rig, WAYS, ways_of_graphs};
use crate::{depth, property, reached};
use azulejo::x64::Emitter;
use azulejo_core::random::Random;
use std::time::{Duration, Instant};

const USAGE: &str = "there are --seconds, --seed, --programs and --failures, each with a number";

struct Arguments {
    seconds: u64,
    seed: u64,
    programs: u64,
    /// The session stops after this many failures.
    failures: u64,
}

fn parse(mut words: impl Iterator<Item = String>) -> Result<Arguments, String> {
    let mut arguments = Arguments { seconds: 60, seed: 1, programs: u64::MAX, failures: 5 };
    while let Some(word) = words.next() {
        let value = words.next().ok_or(format!("`{word}` needs a number"))?;
        let value = value.parse().map_err(|error| format!("`{word} {value}`: {error}"))?;
        match word.as_str() {
            "--seconds" => arguments.seconds = value,
            "--seed" => arguments.seed = value,
            "--programs" => arguments.programs = value,
            "--failures" => arguments.failures = value,
            _ => return Err(format!("there is no `{word}`; {USAGE}")),
        }
    }
    Ok(arguments)
}

/// Runs a session. Returns whether nothing failed.
pub fn session(arguments: impl Iterator<Item = String>) -> Result<bool, String> {
    let arguments = parse(arguments)?;
    // A panic in a compiler is a failure like any other, and is shown after minimising.
    std::panic::set_hook(Box::new(|_| {}));
    let mut rig = Rig::default();
    let processor_start = processor_seconds();
    let (start, limit) = (Instant::now(), Duration::from_secs(arguments.seconds));
    let (mut done, mut failures) = (0, 0);
    let of_graphs: Vec<usize> = ways_of_graphs::<Emitter>().collect();
    while done < arguments.programs && start.elapsed() < limit && failures < arguments.failures {
        let seed = (arguments.seed << 32) + done;
        rig.ways = vec![done as usize % WAYS.len()];
        // The kinds of runs have a period of 49, which is coprime to the number of ways. So every kind runs in every way.
        let mut random = Random::new(seed);
        let result = match done % 49 {
            0 => depth::of_depth(&mut random),
            at if at % 7 >= 5 => {
                // Two of seven runs are graphs.
                rig.ways = vec![of_graphs[(done / 7 * 2 + at % 7 - 5) as usize % of_graphs.len()]];
                property::of_graph(&mut rig, &mut random).map(drop)
            }
            at if at % 7 == 1 => property::of_changed_program(&mut rig, &mut random).map(drop),
            _ => property::of_program(&mut rig, &mut random),
        };
        if let Err(text) = result {
            failures += 1;
            println!("seed {seed}: {text}");
        }
        done += 1;
    }
    rig.look_at_interpreters();
    let ((tiles, all_tiles), (rules, all_rules)) = (rig.tiles.count(), reached::rules_applied());
    for (what, names) in [("tile", rig.tiles.never()), ("rule", reached::rules_never_applied())] {
        names.iter().for_each(|name| println!("{what} not reached: {name}"));
    }
    let seconds = processor_seconds() - processor_start;
    println!(
        "{:.0} programs a second, {:.0} in a second of the processor's, and {:.0} bytecodes",
        done as f64 / start.elapsed().as_secs_f64(),
        done as f64 / seconds,
        rig.bytecodes as f64 / seconds,
    );
    println!(
        "fuzz: {done} programs, {} bytecodes, tiles {tiles}/{all_tiles}, rules {rules}/{all_rules}, \
         {} calls inlined, {failures} failures",
        rig.bytecodes, rig.tiles.inlined
    );
    Ok(failures == 0)
}

/// The processor time of this process. On a busy machine it is less than the wall-clock time.
fn processor_seconds() -> f64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the time is valid for writes.
    let done = unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut time) };
    assert_eq!(done, 0, "every Unix has this clock");
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}
