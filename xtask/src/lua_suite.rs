//! Runs the official tests of Lua 5.1, and the Lua example's own programs, in every tier of a release build.
//!
//! In: the folder of the tests, by default where Debian's package `golang-github-yuin-gopher-lua-dev` puts its copy of them.
//! The package is under the Expat licence; nothing of it is in this repository. Out: a line for each file that fails, and the count.
//! A file of the tests passes if its assertions hold; a program passes if it does what `lua5.1` does.

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

/// Files that cannot pass, and why.
const LISTED: &[(&str, &str)] = &[
    ("all.lua", "runs the others one after another in one state, as they are without changes"),
    ("api.lua", "tries C's interface by a library `T`, which only a debug build of C's Lua has"),
    ("code.lua", "looks at the bytecode of C's Lua by the library `T`"),
    ("checktable.lua", "tests nothing: other files require it"),
];

/// A change to a file of the tests, without which C's Lua does not pass either, or a part that does otherwise here.
struct Change {
    file: &'static str,
    from: &'static [u8],
    to: &'static [u8],
}

const CHANGES: &[Change] = &[
    // An empty statement is no statement in Lua 5.1.
    Change { file: "pm.lua", from: b"j do; table.insert(ret, k); end", to: b"j do table.insert(ret, k) end" },
    // What C's `strtoul` gives for a negative number depends on the size of `long`.
    Change { file: "math.lua", from: br"assert(tonumber('\n  -10  \n', 36) == -36)", to: b"" },
    Change {
        file: "math.lua",
        from: b"assert(tonumber('-fFfa', 16) == -(10+(16*(15+(16*(15+(16*15)))))))",
        to: b"",
    },
    Change { file: "math.lua", from: b"assert(tonumber('-fffffFFFFF', 16)-1 == -2^40)", to: b"" },
    // A text of 4 GiB overflows only the sizes of a machine of 32 bits.
    Change { file: "big.lua", from: b"string.rep(\"\\0\", 2^25)", to: b"string.rep(\"\\0\", 2^10)" },
    Change { file: "big.lua", from: b"assert(not a and string.find(b, \"overflow\"))", to: b"" },
    // There are no temporary values that `getlocal` could name.
    Change { file: "db.lua", from: b"assert(v == 0 and n == \"(*temporary)\")", to: b"" },
    Change { file: "db.lua", from: b"assert(v == 2 and n == \"(*temporary)\")", to: b"" },
    Change { file: "db.lua", from: b"assert(select(2, debug.getlocal(2,3)) == 1)", to: b"" },
    Change { file: "db.lua", from: b"assert(g(0,0) == 30)", to: b"g(0,0)" },
    // What has ended in a tail call has no level.
    Change { file: "db.lua", from: b"h(true)\n", to: b"" },
    Change {
        file: "db.lua",
        from: b"for _, k in ipairs(res) do assert(k == table.remove(b, 1)) end",
        to: b"",
    },
    Change { file: "db.lua", from: b"lim = 30000", to: b"lim = 0" },
    Change { file: "db.lua", from: b"\"db.lua\", \"tail\", \"tail\", \"tail\"}", to: b"\"db.lua\"}" },
    // `all.lua` runs this file in a coroutine.
    Change { file: "big.lua", from: b"coroutine.yield('b');", to: b"" },
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
        listed += LISTED.len();
    } else {
        eprintln!("the official tests are not tried: no folder {}", folder.display());
    }
    if beside::has_reference() {
        let (programs, may_differ) = own(root)?;
        let folder = root.join(PROGRAMS);
        failures.extend(beside::compare(&binary, &folder, &programs, &may_differ));
        listed += may_differ.len();
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
    let cannot = |error| format!("cannot read {}: {error}", folder.display());
    let list = fs::read_to_string(folder.join("listed.txt")).map_err(cannot)?;
    Ok((beside::programs(&folder).map_err(cannot)?, beside::listed(&list)?))
}

/// The files of the official tests that can pass.
fn official(folder: &Path) -> Result<Vec<String>, String> {
    let files =
        beside::programs(folder).map_err(|error| format!("cannot read {}: {error}", folder.display()))?;
    let files: Vec<String> =
        files.into_iter().filter(|file| LISTED.iter().all(|(listed, _)| listed != file)).collect();
    if files.is_empty() { Err(format!("no tests in {}", folder.display())) } else { Ok(files) }
}

/// Runs the files in every tier, each tier in a folder of its own: some write files beside themselves.
fn run_official(binary: &Path, from: &Path, work: &Path, files: &[String]) -> Result<Vec<Failure>, String> {
    // One of the files calls the program by its name.
    let folders = binary.parent().map(Path::to_path_buf).into_iter();
    let before = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths(folders.chain(std::env::split_paths(&before)))
        .map_err(|error| format!("cannot add to PATH: {error}"))?;
    for tier in beside::TIERS {
        copy(from, &work.join(tier))?;
    }
    Ok(beside::each(files, |file| {
        beside::TIERS
            .iter()
            .filter_map(|tier| {
                let mut command = beside::subject(binary, tier);
                command.env("LUA_PATH", SEARCH).env("PATH", &path);
                let found = match beside::run(command, &work.join(tier), file) {
                    Ok(outcome) if outcome.end == End::Code(0) => return None,
                    Ok(outcome) => beside::ending(&outcome),
                    Err(error) => format!("cannot run: {error}"),
                };
                Some(format!("{file} in {tier}: {found}"))
            })
            .collect()
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
