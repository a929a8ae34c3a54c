//! Random programs in every tier, beside C's Lua in the same process.
//!
//! In: seeds: `LUA_PROGRAM_SEED` is the first, and `LUA_PROGRAMS` says how many there are. Out: a line for each program that prints
//! something else in a tier, or ends otherwise. A program that takes the process down is the last whose seed stands in a file for its
//! thread in the target folder. `cargo xtask lua-fuzz` runs this in a release build, for many programs.

// The reference is built for this system only.
#![cfg(all(target_arch = "x86_64", target_os = "linux"))]

mod random_programs;

use azulejo_lua::api::{Lua, Tiers};
use mlua::{LuaOptions, StdLib};
use std::cell::RefCell;
use std::fmt::Display;
use std::fs;
use std::path::Path;
use std::rc::Rc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

const TIERS: [Tiers; 5] =
    [Tiers::InterpreterInRust, Tiers::Interpreter, Tiers::Baseline, Tiers::Optimizer, Tiers::Climbing];

/// What a program has printed, and the error by which it ended.
#[derive(PartialEq, Debug)]
struct Seen {
    lines: Vec<String>,
    end: Result<(), String>,
}

/// An error's message, without a traceback and what stands around it.
fn message(error: &dyn Display) -> String {
    let text = error.to_string();
    let first = text.lines().next().unwrap_or_default();
    first.trim_start_matches("runtime error: ").to_string()
}

fn in_reference(program: &str, name: &str) -> Seen {
    // So `pcall` and `xpcall` stay what they are: others would have other messages, and be another level of the program.
    let options = LuaOptions::new().catch_rust_panics(true);
    // SAFETY: the programs call nothing that needs to be called with care.
    let lua = unsafe { mlua::Lua::unsafe_new_with(StdLib::ALL, options) };
    let lines = Rc::new(RefCell::new(Vec::new()));
    let printed = lines.clone();
    let print = lua.create_function(move |_, line: String| {
        printed.borrow_mut().push(line);
        Ok(())
    });
    lua.globals().set("print", print.expect("there is memory")).expect("it can be set");
    let end = lua.load(program).set_name(format!("@{name}")).exec().map_err(|error| message(&error));
    Seen { lines: lines.take(), end }
}

fn in_tier(tiers: Tiers, background: bool, program: &str, name: &str) -> Seen {
    let lua = Lua::builder().tiers(tiers).background(background).all_libraries(true).build();
    let lines = Rc::new(RefCell::new(Vec::new()));
    let printed = lines.clone();
    let print = lua.create_function(move |_, line: String| {
        printed.borrow_mut().push(line);
        Ok(())
    });
    lua.globals().set("print", print).expect("it can be set");
    let end = lua.load(program).set_name(name).exec().map_err(|error| message(&error));
    Seen { lines: lines.take(), end }
}

/// Where a program differs from the reference, if it does.
fn difference(seed: u64) -> Option<String> {
    let (program, name) = (random_programs::program(seed), format!("{seed}.lua"));
    let expected = in_reference(&program, &name);
    TIERS.into_iter().find_map(|tiers| {
        // The optimizer works beside every other program.
        let seen = in_tier(tiers, seed % 2 == 1, &program, &name);
        if seen == expected {
            return None;
        }
        let at = std::iter::zip(&seen.lines, &expected.lines).take_while(|(one, other)| one == other).count();
        let line = |seen: &Seen| match seen.lines.get(at) {
            Some(line) => format!("`{line}`"),
            None => format!("its end, {:?}", seen.end),
        };
        let (one, other) = (line(&seen), line(&expected));
        Some(format!("{name} in {tiers:?}: line {} is {one}, not {other}", at + 1))
    })
}

fn number(variable: &str, default: u64) -> u64 {
    std::env::var(variable).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

#[test]
fn random_programs_do_in_every_tier_what_the_reference_does() {
    let (first, count) = (number("LUA_PROGRAM_SEED", 1), number("LUA_PROGRAMS", 100));
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("reference");
    fs::create_dir_all(&folder).expect("a folder can be made");
    let (next, found) = (AtomicU64::new(first), Mutex::new(Vec::new()));
    let work = |thread: usize| {
        let running = folder.join(format!("running-{thread}"));
        loop {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed >= first + count {
                return fs::remove_file(&running).unwrap_or_default();
            }
            fs::write(&running, seed.to_string()).expect("it can be written");
            if let Some(difference) = difference(seed) {
                let kept = folder.join(format!("{seed}.lua"));
                fs::write(kept, random_programs::program(seed)).expect("the program can be written");
                found.lock().expect("nobody panicked").push(difference);
            }
        }
    };
    thread::scope(|scope| {
        let threads = thread::available_parallelism().map_or(1, |threads| threads.get());
        let started: Vec<_> = (0..threads)
            .map(|at| {
                let work = &work;
                // The reference's own limits of recursion are for a stack as large as a program's.
                let thread = thread::Builder::new().stack_size(16 << 20);
                thread.spawn_scoped(scope, move || work(at)).expect("threads can be made")
            })
            .collect();
        started.into_iter().for_each(|thread| thread.join().expect("it does not panic"));
    });
    let found = found.into_inner().expect("nobody panicked");
    assert!(
        found.is_empty(),
        "in {}, {} of {count} differ:\n{}",
        folder.display(),
        found.len(),
        found.join("\n")
    );
}
