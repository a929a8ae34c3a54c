//! Follows a chapter.
//!
//! In: a chapter's file. Out: nothing, or a panic that names the line of the chapter whose claim does not hold. With
//! `UPDATE_EXPECT` in the environment, output that is shown without gaps is updated in the chapter instead.
//!
//! Every chapter starts in an empty folder next to azulejo, as a reader's projects do.

use crate::edit::change;
use crate::matching::{is_match, is_part};
use crate::parse::{Block, blocks};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;

/// Chapters run one at a time, because they share the folder, so that azulejo is built once.
static FOLDER: Mutex<()> = Mutex::new(());

/// Follows the chapter with this name. `repository` is azulejo's folder, and projects are made in `scratch`.
pub fn follow(repository: &Path, scratch: &Path, chapter: &str) {
    let _one = FOLDER.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    let path = repository.join("docs/book").join(chapter);
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut reader = Reader {
        repository,
        folder: empty_folder(repository, scratch),
        chapter,
        undo: Vec::new(),
        printed: String::new(),
        replaced: Vec::new(),
    };
    let blocks = blocks(&text);
    assert!(!blocks.is_empty(), "{chapter} shows nothing");
    blocks.iter().for_each(|block| reader.take(block));
    assert!(reader.undo.is_empty(), "{chapter}: nothing runs after the last wrong change");
    reader.bless(&path, &text);
}

/// Makes a folder that contains only azulejo. The build output of earlier chapters stays.
fn empty_folder(repository: &Path, scratch: &Path) -> PathBuf {
    let folder = scratch.join("book");
    // Create the `target` folder that all projects share first: a dangling link does not count as existing.
    fs::create_dir_all(folder.join("target")).expect("the folders can be made");
    for entry in fs::read_dir(&folder).expect("the folder can be read").flatten() {
        let name = entry.file_name();
        if name != "target" && name != "azulejo" {
            let path = entry.path();
            let removed = if path.is_dir() { fs::remove_dir_all(&path) } else { fs::remove_file(&path) };
            removed.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        }
    }
    let link = folder.join("azulejo");
    if fs::read_link(&link).ok().as_deref() != Some(repository) {
        let _ = fs::remove_file(&link);
        std::os::unix::fs::symlink(repository, &link).expect("links can be made");
    }
    // The folder may be inside azulejo's own workspace, so the reader's projects get a workspace of their own.
    let workspace = "[workspace]\nmembers = [\"*\"]\nexclude = [\"azulejo\", \"target\"]\nresolver = \"3\"\n";
    fs::write(folder.join("Cargo.toml"), workspace).expect("files can be written");
    fs::copy(repository.join("Cargo.lock"), folder.join("Cargo.lock")).expect("files can be copied");
    folder
}

/// What commands say that run one of azulejo's own programs.
const OWN_MANIFEST: &str = "--manifest-path ../azulejo/Cargo.toml";

struct Reader<'a> {
    repository: &'a Path,
    folder: PathBuf,
    chapter: &'a str,
    /// The files that wrong changes replaced, with their old contents.
    undo: Vec<(PathBuf, String)>,
    /// The output of the last commands.
    printed: String,
    /// The blocks whose output changed: their lines and new contents.
    replaced: Vec<(usize, String)>,
}

impl Reader<'_> {
    fn take(&mut self, block: &Block) {
        let place = format!("docs/book/{}:{}", self.chapter, block.line);
        let file = self.folder.join(&block.about);
        match &*block.role {
            "file" => self.write(&file, &block.text),
            "add" => self.write(&file, &(read(&file, &place) + "\n" + &block.text)),
            "change" | "wrong" => {
                let old = read(&file, &place);
                let new =
                    change(&old, &block.text).unwrap_or_else(|error| panic!("{place}: {error}:\n{old}"));
                self.write(&file, &new);
                if block.role == "wrong" {
                    self.undo.push((file, old));
                }
            }
            "run" | "fails" => {
                match block.about.split_once(" with ") {
                    Some((_, tool)) if !is_there(tool) => {
                        eprintln!("skipped: {place}: there is no {tool} here")
                    }
                    Some((folder, _)) => self.run(&Block { about: folder.into(), ..block.clone() }, &place),
                    None => self.run(block, &place),
                }
                while let Some((file, text)) = self.undo.pop() {
                    self.write(&file, &text);
                }
            }
            "output" => {
                let fits = is_part(&block.text, &self.printed);
                assert!(fits, "{place}: this is no part of what was printed:\n{}", self.printed);
            }
            "from" => self.compare(block, &place),
            "command" => self.know(block, &place),
            "drawing" => assert_eq!(block.language, "text", "{place}: drawings are text"),
            role => panic!("{place}: no comment says what this block is (`{role}` means nothing)"),
        }
    }

    fn write(&self, path: &Path, text: &str) {
        let parent = path.parent().expect("a file has a folder");
        fs::create_dir_all(parent).expect("folders can be made");
        fs::write(path, text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    }

    fn run(&mut self, block: &Block, place: &str) {
        assert_eq!(block.language, "console", "{place}: commands and what they print are `console`");
        let mut shown = String::new();
        self.printed.clear();
        for part in format!("\n{}", block.text).split("\n$ ").skip(1) {
            let (command, expected) = part.split_once('\n').unwrap_or((part, ""));
            let actual = self.execute(command, block, place);
            let fits = is_match(expected, &actual);
            // Gaps in the expected output were chosen by hand, so such a block is not updated.
            let may_change = std::env::var_os("UPDATE_EXPECT").is_some() && !expected.contains('…');
            if !fits && !may_change {
                panic!("{place}: `$ {command}` prints\n{actual}\nand not\n{expected}");
            }
            let kept = if fits { expected } else { &actual };
            let end = if kept.is_empty() || kept.ends_with('\n') { "" } else { "\n" };
            shown.push_str(&format!("$ {command}\n{kept}{end}"));
            self.printed.push_str(&actual);
        }
        if shown != block.text {
            self.replaced.push((block.line, shown));
        }
    }

    /// A project's folder, with a link to the `target` folder that all projects share.
    fn project(&self, name: &str) -> PathBuf {
        let folder = self.folder.join(name);
        let target = folder.join("target");
        if folder.join("Cargo.toml").exists() && name != "." && !target.exists() {
            std::os::unix::fs::symlink(self.folder.join("target"), target).expect("links can be made");
        }
        folder
    }

    fn execute(&self, command: &str, block: &Block, place: &str) -> String {
        let mut shell = Command::new("sh");
        // azulejo's own programs are those that are built where it lies.
        if !command.contains(OWN_MANIFEST) {
            shell.env("CARGO_TARGET_DIR", self.folder.join("target")).env("CARGO_PROFILE_DEV_DEBUG", "0");
        }
        let output = shell
            .args(["-c", command])
            .current_dir(self.project(&block.about))
            .env("CARGO_NET_OFFLINE", "true")
            .env("CARGO_TERM_QUIET", "true")
            .env("CARGO_TERM_COLOR", "never")
            .env("RUST_BACKTRACE", "0")
            .output()
            .unwrap_or_else(|error| panic!("{place}: {command}: {error}"));
        let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        let is_right = output.status.success() == (block.role == "run");
        assert!(is_right, "{place}: `$ {command}` ends with {}:\n{out}{err}", output.status);
        let out = without_addresses(&out);
        if output.status.success() {
            return out;
        }
        // A reader's project is in no workspace, so its files are named without the project's name.
        let own = ["--> ", "panicked at "];
        let err = own
            .iter()
            .fold(err.into_owned(), |err, before| err.replace(&format!("{before}{}/", block.about), before));
        format!("{out}{}", without_thread(&err))
    }

    /// Checks that the file contains each part of the block.
    fn compare(&self, block: &Block, place: &str) {
        let unindented = |text: &str| {
            let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
            lines.collect::<Vec<_>>().join("\n")
        };
        let source = unindented(&read(&self.repository.join(&block.about), place));
        for part in block.text.split('…') {
            assert!(source.contains(&unindented(part)), "{place}: not in {}:\n{part}", block.about);
        }
    }

    /// Checks that the commands to run in the repository exist. Other tests check their effects.
    fn know(&self, block: &Block, place: &str) {
        for line in block.text.lines() {
            let words: Vec<&str> = line.split(' ').collect();
            let after = |word: &str| words.iter().skip_while(|at| **at != word).nth(1).copied();
            let is_known = match (after("xtask"), after("--example"), after("-p")) {
                (Some(command), ..) => {
                    let commands = read(&self.repository.join("xtask/src/main.rs"), place);
                    commands.contains(&format!("Some(\"{command}\")"))
                }
                (_, Some(example), _) => ["", "/main"]
                    .iter()
                    .any(|main| self.repository.join(format!("examples/{example}{main}.rs")).exists()),
                (.., Some(package)) => {
                    let packages = read(&self.repository.join("Cargo.lock"), place);
                    packages.contains(&format!("\nname = \"{package}\"\n"))
                }
                _ => false,
            };
            assert!(is_known && words.starts_with(&["$", "cargo"]), "{place}: no such command: {line}");
        }
    }

    /// Writes the actual output into the chapter.
    fn bless(&self, path: &Path, text: &str) {
        if self.replaced.is_empty() {
            return;
        }
        let mut lines: Vec<&str> = text.split_inclusive('\n').collect();
        for (line, shown) in self.replaced.iter().rev() {
            let end = lines[*line..].iter().position(|candidate| *candidate == "```\n");
            let end = line + end.expect("every block ends");
            lines.splice(*line..end, shown.split_inclusive('\n'));
        }
        fs::write(path, lines.concat()).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    }
}

/// Whether the tool exists and works: a debugger may lack the permission to inspect other processes.
fn is_there(tool: &str) -> bool {
    let probe = match tool {
        "gdb" => "gdb -batch -nx -ex run /bin/true 2>&1 | grep -q 'exited normally'".into(),
        "perf" => "perf record -e cpu-clock -o /dev/null true".into(),
        tool => format!("{tool} --version"),
    };
    Command::new("sh").args(["-c", &probe]).output().is_ok_and(|output| output.status.success())
}

/// Removes the addresses of Rust functions, which differ between runs.
fn without_addresses(listing: &str) -> String {
    let mut parts = listing.split("call 0x");
    let mut shown = parts.next().unwrap_or_default().to_string();
    for part in parts {
        shown.push_str("call 0x…");
        shown.push_str(part.trim_start_matches(|digit: char| digit.is_ascii_hexdigit()));
    }
    shown
}

/// Removes the thread number from a panic's message, since it differs between runs.
fn without_thread(text: &str) -> String {
    const MAIN: &str = "thread 'main' (";
    match text.split_once(MAIN) {
        Some((before, rest)) => {
            format!("{before}{MAIN}…{}", rest.trim_start_matches(|digit: char| digit.is_ascii_digit()))
        }
        None => text.into(),
    }
}

fn read(path: &Path, place: &str) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{place}: {}: {error}", path.display()))
}
