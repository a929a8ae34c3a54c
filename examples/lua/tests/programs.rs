//! The programs of `programs/`, and random ones, each in every tier, beside C's Lua.
//!
//! In: small programs that together try the whole manual, and larger ones. `programs/listed.txt` names those that may differ.
//! Random programs come from seeds: `LUA_PROGRAM_SEED` is the first, `LUA_PROGRAMS` says how many there are, and those that fail
//! stay in the target folder, to be looked at; the test `reference` runs more of them. Where `lua5.1` is not installed nothing is
//! compared, and the tests say so.

mod beside;
mod random_programs;

use beside::{End, Listed, Outcome};
use std::fs;
use std::path::{Path, PathBuf};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs")
}

#[test]
fn programs_do_in_every_tier_what_the_reference_does() {
    if !beside::has_reference() {
        eprintln!("`{}` is not installed: nothing is compared", beside::REFERENCE);
        return;
    }
    let programs = beside::programs(&folder()).expect("the programs can be read");
    assert!(programs.len() >= 330, "only {} programs were found", programs.len());
    let list = fs::read_to_string(folder().join("listed.txt")).expect("there is a list");
    let listed = beside::listed(&list).expect("each line of the list has a reason");
    let failures = beside::compare(env!("CARGO_BIN_EXE_azulejo-lua").as_ref(), &folder(), &programs, &listed);
    let texts: Vec<&str> = failures.iter().map(|failure| failure.text.as_str()).collect();
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), texts.join("\n"));
}

/// Programs whose objects would be missed if something kept them by mistake only until the next collection. `cargo xtask lua-suite` runs all
/// programs with whole collections, in a release build: here that would take too long.
const OBJECTS: [&str; 3] = ["closures/", "load/", "metamethods/"];

#[test]
fn programs_do_the_same_if_the_collector_works_whenever_it_may() {
    let programs = beside::programs(&folder()).expect("the programs can be read");
    assert!(programs.len() >= 430, "only {} programs were found", programs.len());
    let of_objects = |path: &&String| OBJECTS.iter().any(|start| path.starts_with(start));
    let few: Vec<String> = programs.iter().filter(of_objects).cloned().collect();
    assert!(few.len() >= 30, "only {} programs were found", few.len());
    let list = fs::read_to_string(folder().join("listed_for_steps.txt")).expect("there is a list");
    let listed = beside::listed(&list).expect("each line of the list has a reason");
    let compare = |programs: &[String], eagerness: &str| {
        let binary = env!("CARGO_BIN_EXE_azulejo-lua").as_ref();
        let tiers = ["interpreter", "optimizer"];
        beside::compare_eager(binary, &folder(), programs, eagerness, &tiers, &listed)
    };
    let mut failures = compare(&programs, "steps");
    failures.extend(compare(&few, "cycles"));
    let texts: Vec<&str> = failures.iter().map(|failure| failure.text.as_str()).collect();
    assert!(failures.is_empty(), "{}", texts.join("\n"));
}

#[cfg(target_os = "linux")]
#[test]
fn loading_chunks_again_and_again_takes_bounded_memory() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("loading");
    fs::create_dir_all(&folder).expect("a folder can be made");
    let program = "local count = tonumber(arg[1])
        local function used()
            for line in io.lines('/proc/self/status') do
                local kilobytes = line:match('^VmRSS:%s*(%d+)')
                if kilobytes then return tonumber(kilobytes) end
            end
        end
        local function load(n)
            for i = 1, n do
                local f = loadstring('local a = ' .. i .. ' return function(x) return a + x end')
                assert(f()(1) == i + 1)
            end
        end
        load(count / 10)
        local before = used()
        load(count)
        local grown = used() - before
        -- Each chunk has two functions, each of which took more than a kilobyte as long as it was there.
        assert(grown < 4096 + 0.5 * count, grown .. ' KB more')";
    fs::write(folder.join("loads.lua"), program).expect("the program can be written");
    for tier in beside::TIERS {
        let count = match (cfg!(debug_assertions), tier) {
            (false, _) => "100000",
            (true, "optimizer") => "1000",
            (true, _) => "5000",
        };
        let run = beside::subject(env!("CARGO_BIN_EXE_azulejo-lua").as_ref(), tier)
            .args(["loads.lua", count])
            .current_dir(&folder)
            .output()
            .expect("it runs");
        assert!(run.status.success(), "{tier}: {}", String::from_utf8_lossy(&run.stderr));
    }
}

#[test]
fn every_kind_of_difference_is_seen() {
    let right =
        Outcome { output: b"one\ntwo\n".to_vec(), fault: "a.lua:1: x".to_string(), end: End::Code(1) };
    let said = |wrong: Outcome| beside::difference(&wrong, &right);
    assert_eq!(said(right.clone()), None);
    let other = Outcome { output: b"one\nTwo\n".to_vec(), ..right.clone() };
    assert_eq!(said(other).as_deref(), Some("line 2 is `Two`, not `two`"));
    let short = Outcome { output: b"one\n".to_vec(), end: End::Killed, ..right.clone() };
    assert_eq!(said(short).as_deref(), Some("line 2 is ``, not `two`; killed (`a.lua:1: x`)"));
    let without_end = Outcome { output: b"one\ntwo".to_vec(), ..right.clone() };
    assert_eq!(said(without_end).as_deref(), Some("line 3 is nothing, not ``"));
    let code = Outcome { end: End::Code(0), ..right.clone() };
    assert_eq!(said(code).as_deref(), Some("exit code 0 (`a.lua:1: x`), not exit code 1 (`a.lua:1: x`)"));
    let late = Outcome { end: End::TooLong(beside::LIMIT), fault: String::new(), ..right.clone() };
    assert_eq!(said(late).as_deref(), Some("more than 60 s, not exit code 1 (`a.lua:1: x`)"));
    let fault = Outcome { fault: "a.lua:2: x".to_string(), ..right.clone() };
    assert_eq!(said(fault).as_deref(), Some("standard error starts with `a.lua:2: x`, not `a.lua:1: x`"));
}

#[test]
fn each_line_of_a_list_has_a_reason() {
    let listed = Listed { path: "a/b.lua".to_string(), reason: "why: so".to_string() };
    assert_eq!(beside::listed("a/b.lua: why: so\n\n"), Ok(vec![listed]));
    assert!(beside::listed("a/b.lua").is_err());
    assert!(beside::listed("a/b.lua:  ").is_err());
}

#[test]
fn programs_print_the_same_each_time() {
    if !beside::has_reference() {
        eprintln!("`{}` is not installed: nothing is compared", beside::REFERENCE);
        return;
    }
    let programs = beside::programs(&folder()).expect("the programs can be read");
    let run = |path: &str| beside::run(beside::reference(), &folder(), path);
    let failures = beside::each(&programs, |path| {
        let (first, second) = (run(path).expect("it runs"), run(path).expect("it runs"));
        let found =
            beside::difference(&second, &first).map(|found| format!("{path}: the second run: {found}"));
        let late =
            matches!(first.end, End::TooLong(_)).then(|| format!("{path}: {}", beside::ending(&first)));
        found.into_iter().chain(late).collect()
    });
    let texts: Vec<&str> = failures.iter().map(|failure| failure.text.as_str()).collect();
    assert!(failures.is_empty(), "{}", texts.join("\n"));
}

fn number(variable: &str, default: u64) -> u64 {
    std::env::var(variable).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

#[test]
fn random_programs_do_in_every_tier_what_the_reference_does() {
    if !beside::has_reference() {
        eprintln!("`{}` is not installed: nothing is compared", beside::REFERENCE);
        return;
    }
    let (first, count) = (number("LUA_PROGRAM_SEED", 1), number("LUA_PROGRAMS", 20));
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("generated");
    fs::create_dir_all(&folder).expect("a folder can be made");
    let seeds = first..first + count;
    let names: Vec<String> = seeds.clone().map(|seed| format!("{seed}.lua")).collect();
    for (seed, name) in seeds.zip(&names) {
        fs::write(folder.join(name), random_programs::program(seed)).expect("the program can be written");
    }
    let failures = beside::compare(env!("CARGO_BIN_EXE_azulejo-lua").as_ref(), &folder, &names, &[]);
    for name in names.iter().filter(|name| failures.iter().all(|failure| failure.path != **name)) {
        fs::remove_file(folder.join(name)).expect("the program is there");
    }
    let texts: Vec<&str> = failures.iter().map(|failure| failure.text.as_str()).collect();
    assert!(failures.is_empty(), "in {}:\n{}", folder.display(), texts.join("\n"));
}

/// What the lines of each feature have to have somewhere: then its programs succeed and fail in many ways.
const SEEN: [(&str, &[&str]); 13] = [
    ("captured", &["5", "new", "true", "x=1", "equal"]),
    ("meta", &["true", "loop in gettable", "attempt to compare", "attempt to call", "protected metatable"]),
    ("pattern", &["true", "malformed pattern", "unfinished capture", "unbalanced"]),
    ("format", &["true", "inf", "no value", "number expected"]),
    ("list", &["true", "invalid value", "too many results", "wrong number of arguments"]),
    ("sort", &["true", "invalid order function", "attempt to compare", "table"]),
    ("pairs", &["true", "x=", "invalid key to 'next'"]),
    ("environment", &["true", "invalid level", "cannot change environment", "table expected"]),
    ("error", &["true", "table", "nil", "in error handling", "attempt to index", "false 0.5"]),
    ("weak", &["userdata", "table=", "=thread", "invalid option"]),
    ("thread", &["suspended", "dead", "normal", "running", "Lua function expected", "cannot resume dead"]),
    ("number", &["inf", "nan", "-0", "9.007", "limit must be a number", "index is NaN"]),
    ("argument", &["true", "nil", "index out of range"]),
];

#[test]
fn random_programs_are_right_and_do_much() {
    if !beside::has_reference() {
        eprintln!("`{}` is not installed: nothing is compared", beside::REFERENCE);
        return;
    }
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("written");
    fs::create_dir_all(&folder).expect("a folder can be made");
    let (mut passed, mut failed, mut printed) = (0, 0, String::new());
    for seed in 1..=300 {
        let name = format!("{seed}.lua");
        fs::write(folder.join(&name), random_programs::program(seed)).expect("the program can be written");
        let outcome = beside::run(beside::reference(), &folder, &name).expect("the reference runs");
        assert_eq!(outcome.end, End::Code(0), "{name}: {}", beside::ending(&outcome));
        let text = String::from_utf8_lossy(&outcome.output).into_owned();
        passed += text.lines().filter(|line| line.split(' ').nth(1) == Some("true")).count();
        failed += text.lines().filter(|line| line.split(' ').nth(1) == Some("false")).count();
        printed += &text;
    }
    for (feature, words) in SEEN {
        let lines: Vec<&str> =
            printed.lines().filter(|line| line.split(' ').next() == Some(feature)).collect();
        for word in words {
            assert!(lines.iter().any(|line| line.contains(word)), "no line of `{feature}` has `{word}`");
        }
    }
    // Programs that only fail would try little.
    assert!(passed > failed, "{passed} calls came to their end, {failed} did not");
}
