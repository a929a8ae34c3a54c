//! Compiled code for profilers, with the bytecode of each instruction, by a file that `perf inject --jit` reads.
//!
//! In: each function's code, its address, and the bytecode of each piece. Out: records in `jit-PID.dump`, and beside it a text
//! file for each function with a line for each bytecode, which `perf annotate` shows as its source: the line's number is the
//! bytecode's index plus one. `perf record` learns of the dump because a page of it is mapped executable as long as the process
//! runs. Write errors are ignored: a program must not fail because of its profile.

use crate::Machine;
use memmap2::{Mmap, MmapOptions};
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

const MAGIC: u32 = 0x4a69_5444;
const VERSION: u32 = 1;
const HEADER_BYTES: u32 = 40;
const CODE_LOAD: u32 = 0;
const DEBUG_INFO: u32 = 2;

/// All dumps of the process.
static ALL: Mutex<Vec<&'static Dump>> = Mutex::new(Vec::new());

fn all() -> MutexGuard<'static, Vec<&'static Dump>> {
    // Nothing panics halfway through a change of the list.
    ALL.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The locks of all dumps.
pub(crate) struct HeldDumps {
    _written: Vec<MutexGuard<'static, Written>>,
    _all: MutexGuard<'static, Vec<&'static Dump>>,
}

/// Takes the locks around a fork: in the child only the forking thread exists, so no other thread may hold them.
pub(crate) fn hold() -> HeldDumps {
    let all = all();
    HeldDumps { _written: all.iter().map(|dump| dump.written()).collect(), _all: all }
}

/// A dump that functions are added to.
#[derive(Debug)]
pub struct Dump {
    directory: PathBuf,
    written: Mutex<Written>,
    /// The mapping by which `perf record` finds the file.
    _mark: Mmap,
}

#[derive(Debug)]
pub(crate) struct Written {
    file: File,
    functions: u64,
}

/// A function as the dump describes it.
#[derive(Clone, Copy, Debug)]
pub struct Function<'a> {
    /// The function's name.
    pub name: &'a str,
    /// The function's bytecode, one instruction a line.
    pub source: &'a str,
    /// The offset of each piece of code and its bytecode, in order.
    pub map: &'a [(u32, u32)],
    /// The code.
    pub code: &'a [u8],
    /// The address that the code runs at.
    pub address: usize,
}

impl Dump {
    /// The dump of this process in a directory, which is created if it does not exist; `None` if that fails. The file stays
    /// open until the process ends.
    pub fn of(machine: &Machine, directory: &Path) -> Option<&'static Dump> {
        fs::create_dir_all(directory).ok()?;
        let directory = directory.canonicalize().ok()?;
        let mut all = all();
        if let Some(dump) = all.iter().find(|dump| dump.directory == directory) {
            return Some(dump);
        }
        let dump: &'static Dump = Box::leak(Box::new(Dump::open(machine, directory)?));
        all.push(dump);
        Some(dump)
    }

    fn open(machine: &Machine, directory: PathBuf) -> Option<Dump> {
        let path = directory.join(format!("jit-{}.dump", std::process::id()));
        let mut file = File::options().read(true).write(true).create(true).truncate(true).open(path).ok()?;
        let mut header = Vec::new();
        for word in [MAGIC, VERSION, HEADER_BYTES, machine.elf as u32, 0, std::process::id()] {
            header.extend(word.to_ne_bytes());
        }
        header.extend(now()?.to_ne_bytes());
        header.extend(0u64.to_ne_bytes());
        file.write_all(&header).ok()?;
        // SAFETY: the mapping is never accessed.
        let mark = unsafe { MmapOptions::new().len(HEADER_BYTES as usize).map_exec(&file) }.ok()?;
        Some(Dump { directory, written: Mutex::new(Written { file, functions: 0 }), _mark: mark })
    }

    fn written(&self) -> MutexGuard<'_, Written> {
        // Nothing panics halfway through a record.
        self.written.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a function.
    pub(crate) fn add(&self, function: &Function<'_>) {
        let mut written = self.written();
        let number = written.functions;
        written.functions += 1;
        let path = self.directory.join(format!("jit-{}-{number}.txt", std::process::id()));
        let _ = fs::write(&path, function.source);
        if let Some(records) = records(function, number, &path.to_string_lossy()) {
            let _ = written.file.write_all(&records);
        }
    }
}

/// A function's line record and then its code record, in perf's format.
fn records(function: &Function<'_>, number: u64, source: &str) -> Option<Vec<u8>> {
    let Function { name, map, code, address, .. } = *function;
    let time = now()?;
    let mut lines = Vec::new();
    lines.extend((address as u64).to_ne_bytes());
    lines.extend((map.len() as u64).to_ne_bytes());
    for (offset, bytecode) in map {
        lines.extend((address as u64 + *offset as u64).to_ne_bytes());
        lines.extend((bytecode + 1).to_ne_bytes());
        lines.extend(0u32.to_ne_bytes());
        string(&mut lines, source);
    }
    let mut load = Vec::new();
    let process = std::process::id();
    load.extend(process.to_ne_bytes());
    load.extend(process.to_ne_bytes());
    for word in [address as u64, address as u64, code.len() as u64, number] {
        load.extend(word.to_ne_bytes());
    }
    string(&mut load, name);
    load.extend(code);
    let mut all = record(DEBUG_INFO, time, &lines);
    all.extend(record(CODE_LOAD, time, &load));
    Some(all)
}

fn record(kind: u32, time: u64, body: &[u8]) -> Vec<u8> {
    let mut record = Vec::with_capacity(body.len() + 16);
    record.extend(kind.to_ne_bytes());
    record.extend((body.len() as u32 + 16).to_ne_bytes());
    record.extend(time.to_ne_bytes());
    record.extend(body);
    record
}

fn string(to: &mut Vec<u8>, text: &str) {
    to.extend(text.bytes().map(|byte| if byte.is_ascii_control() { b' ' } else { byte }));
    to.push(0);
}

/// The time in nanoseconds, on the clock by which perf sorts records among samples.
fn now() -> Option<u64> {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the system only writes the time.
    let result = unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut time) };
    (result == 0).then_some(time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64)
}
