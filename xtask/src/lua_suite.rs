//! Runs the official tests of Lua 5.1, and the Lua example's own programs, in every tier of a release build, and in some again with a
//! collector that works whenever it may.
//!
//! In: the folder of the tests, by default where Debian's package `golang-github-yuin-gopher-lua-dev` puts its copy of them.
//! The package is under the Expat licence; nothing of it is in this repository. Out: a line for each file that fails, and the counts.
//! A file of the tests passes if its assertions hold; a program passes if it does what `lua5.1` does. Listed are files that cannot
//! pass, parts that are cut out of files, and programs that may differ.

use crate::beside::{self, End, Failure, Listed};
use crate::command;
use std::fs;
use std::path::{Path, PathBuf};

/// Where Debian's package puts the tests.
const FOLDER: &str = "/usr/share/gocode/src/github.com/yuin/gopher-lua/_lua5.1-tests";

/// Where the tests want `require` to look.
const SEARCH: &str = "?;./?.lua";

/// Where the example's own programs are.
const PROGRAMS: &str = "examples/lua/tests/programs";

/// The tiers in which the collector works whenever it may, too: one whose frames have everything, and the one whose frames have the least.
const EAGER_TIERS: [&str; 2] = ["interpreter", "optimizer"];

/// Files that cannot pass, and why.
const LISTED: &[(&str, &str)] = &[
    ("all.lua", "runs the others one after another in one state, as they are without changes"),
    ("api.lua", "tries C's interface by a library `T`, which only a debug build of C's Lua has"),
    ("code.lua", "looks at the bytecode of C's Lua by the library `T`"),
    ("checktable.lua", "tests nothing: other files require it"),
];

/// A change to a file of the tests.
struct Change {
    file: &'static str,
    from: &'static [u8],
    to: &'static [u8],
    /// What is otherwise here, if C's Lua passes without the change: then the part counts as one that cannot pass.
    here: Option<&'static str>,
}

impl Change {
    /// One without which C's Lua does not pass either.
    const fn of_all(file: &'static str, from: &'static [u8], to: &'static [u8]) -> Change {
        Change { file, from, to, here: None }
    }

    /// One of a part that cannot pass here, and why.
    const fn of_ours(
        file: &'static str,
        from: &'static [u8],
        to: &'static [u8],
        why: &'static str,
    ) -> Change {
        Change { file, from, to, here: Some(why) }
    }
}

const TEMPORARIES: &str = "calls have no temporary values that `getlocal` could name, nor `setlocal` change";
const TAIL_CALLS: &str =
    "what has ended in a tail call has no level, but for one that stands for all such calls";

const CHANGES: &[Change] = &[
    // An empty statement is no statement in Lua 5.1.
    Change::of_all("pm.lua", b"j do; table.insert(ret, k); end", b"j do table.insert(ret, k) end"),
    // What C's `strtoul` gives for a negative number depends on the size of `long`.
    Change::of_all("math.lua", br"assert(tonumber('\n  -10  \n', 36) == -36)", b""),
    Change::of_all("math.lua", b"assert(tonumber('-fFfa', 16) == -(10+(16*(15+(16*(15+(16*15)))))))", b""),
    Change::of_all("math.lua", b"assert(tonumber('-fffffFFFFF', 16)-1 == -2^40)", b""),
    // A text of 4 GiB overflows only the sizes of a machine of 32 bits.
    Change::of_all("big.lua", b"string.rep(\"\\0\", 2^25)", b"string.rep(\"\\0\", 2^10)"),
    Change::of_all("big.lua", b"assert(not a and string.find(b, \"overflow\"))", b""),
    // `all.lua` runs this file in a coroutine.
    Change::of_all("big.lua", b"coroutine.yield('b');", b""),
    Change::of_ours("db.lua", b"assert(select(2, debug.getlocal(2,3)) == 1)", b"", TEMPORARIES),
    Change::of_ours("db.lua", b"assert(g(0,0) == 30)", b"g(0,0)", TEMPORARIES),
    Change::of_ours("db.lua", b"h(true)\n", b"", TAIL_CALLS),
    Change::of_ours(
        "db.lua",
        b"for _, k in ipairs(res) do assert(k == table.remove(b, 1)) end",
        b"",
        TAIL_CALLS,
    ),
    Change::of_ours("db.lua", b"lim = 30000", b"lim = 0", TAIL_CALLS),
    Change::of_ours("db.lua", b"\"db.lua\", \"tail\", \"tail\", \"tail\"}", b"\"db.lua\"}", TAIL_CALLS),
];

/// Runs everything. The argument is the folder of the official tests.
pub(crate) fn suite(root: &Path, mut arguments: impl Iterator<Item = String>) -> Result<(), String> {
    let named = arguments.next().map(PathBuf::from);
    let folder = named.clone().unwrap_or_else(|| PathBuf::from(FOLDER));
    if named.is_some() && !folder.is_dir() {
        return Err(format!("no folder {}", folder.display()));
    }
    let binary = command::lua(root)?;
    let target = binary.ancestors().nth(2).expect("it is in a folder of the target folder");
    let (mut tried, mut listed, mut failures) = (Vec::new(), 0, Vec::new());
    if folder.is_dir() {
        let files = official(&folder)?;
        failures.extend(run_official(&binary, &folder, &target.join("lua-suite"), &files)?);
        tried.extend(files);
        for (file, reason) in LISTED {
            eprintln!("{file} is not tried: it {reason}");
        }
        let parts = CHANGES.iter().filter_map(|change| Some((change, change.here?)));
        for (Change { file, from, .. }, reason) in parts.clone() {
            eprintln!("{file} is tried without `{}`: {reason}", String::from_utf8_lossy(from).trim_end());
        }
        listed += LISTED.len() + parts.count();
    } else {
        eprintln!("the official tests are not tried: no folder {}", folder.display());
    }
    if beside::has_reference() {
        let (programs, may_differ) = own(root)?;
        let folder = root.join(PROGRAMS);
        failures.extend(beside::compare(&binary, &folder, &programs, &may_differ));
        let with_cycles = list(root, "listed_for_cycles.txt")?;
        failures.extend(beside::compare_eager(
            &binary,
            &folder,
            &programs,
            "cycles",
            &EAGER_TIERS,
            &with_cycles,
        ));
        listed += may_differ.len() + with_cycles.len();
        tried
            .extend(programs.into_iter().filter(|path| may_differ.iter().all(|listed| listed.path != *path)));
    } else {
        eprintln!("the programs are not tried: no {}", beside::REFERENCE);
    }
    report(&tried, &failures, listed)
}

/// Prints the failures, and says how many files failed.
fn report(tried: &[String], failures: &[Failure], listed: usize) -> Result<(), String> {
    let mut failed: Vec<&str> = failures.iter().map(|failure| failure.path.as_str()).collect();
    failed.sort_unstable();
    failed.dedup();
    for failure in failures {
        eprintln!("{}", failure.text);
    }
    let passed = tried.iter().filter(|path| !failed.contains(&path.as_str())).count();
    let line = format!("lua-suite: {passed} passed, {} failed, {listed} listed", failed.len());
    if failures.is_empty() {
        eprintln!("{line}");
        Ok(())
    } else {
        Err(line)
    }
}

/// The example's own programs, and those that may differ.
fn own(root: &Path) -> Result<(Vec<String>, Vec<Listed>), String> {
    let folder = root.join(PROGRAMS);
    let programs = beside::programs(&folder);
    Ok((
        programs.map_err(|error| format!("cannot read {}: {error}", folder.display()))?,
        list(root, "listed.txt")?,
    ))
}

/// A list beside the programs.
fn list(root: &Path, name: &str) -> Result<Vec<Listed>, String> {
    let path = root.join(PROGRAMS).join(name);
    let text =
        fs::read_to_string(&path).map_err(|error| format!("cannot read {}: {error}", path.display()))?;
    beside::listed(&text)
}

/// The files of the official tests that can pass.
fn official(folder: &Path) -> Result<Vec<String>, String> {
    let files =
        beside::programs(folder).map_err(|error| format!("cannot read {}: {error}", folder.display()))?;
    let files: Vec<String> =
        files.into_iter().filter(|file| LISTED.iter().all(|(listed, _)| listed != file)).collect();
    if files.is_empty() { Err(format!("no tests in {}", folder.display())) } else { Ok(files) }
}

/// Runs the files in every tier, each tier in a folder of its own: some write files beside themselves. Then again with the collector's
/// least steps, which find what it has not been told of.
fn run_official(binary: &Path, from: &Path, work: &Path, files: &[String]) -> Result<Vec<Failure>, String> {
    // One of the files calls the program by its name.
    let folders = binary.parent().map(Path::to_path_buf).into_iter();
    let before = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths(folders.chain(std::env::split_paths(&before)))
        .map_err(|error| format!("cannot add to PATH: {error}"))?;
    for tier in beside::TIERS {
        copy(from, &work.join(tier))?;
    }
    let run = |file: &str, tier: &str, eager: Option<&str>| {
        let mut command = beside::subject(binary, tier);
        command.env("LUA_PATH", SEARCH).env("PATH", &path);
        command.envs(eager.map(|eager| ("AZULEJO_LUA_EAGER_COLLECTOR", eager)));
        let found = match beside::run(command, &work.join(tier), file) {
            Ok(outcome) if outcome.end == End::Code(0) => return None,
            Ok(outcome) => beside::ending(&outcome),
            Err(error) => format!("cannot run: {error}"),
        };
        let with = eager.map_or(String::new(), |eager| format!(" with `{eager}`"));
        Some(format!("{file} in {tier}{with}: {found}"))
    };
    Ok(beside::each(files, |file| {
        let plain = beside::TIERS.iter().filter_map(|tier| run(file, tier, None));
        plain.chain(EAGER_TIERS.iter().filter_map(|tier| run(file, tier, Some("steps")))).collect()
    }))
}

/// Copies the files of the tests, changed, with the folders that they need.
fn copy(from: &Path, to: &Path) -> Result<(), String> {
    let cannot = |error| format!("cannot copy {} to {}: {error}", from.display(), to.display());
    fs::create_dir_all(to.join("libs/P1")).map_err(cannot)?;
    for entry in fs::read_dir(from).map_err(cannot)? {
        let path = entry.map_err(cannot)?.path();
        if path.is_dir() {
            continue;
        }
        let name = path.file_name().unwrap_or_default();
        let mut bytes = fs::read(&path).map_err(cannot)?;
        for change in CHANGES.iter().filter(|change| name == change.file) {
            let at = bytes.windows(change.from.len()).position(|part| part == change.from);
            // An unedited copy may lack what the change repairs.
            if let Some(at) = at {
                bytes.splice(at..at + change.from.len(), change.to.iter().copied());
            }
        }
        fs::write(to.join(name), bytes).map_err(cannot)?;
    }
    Ok(())
}
