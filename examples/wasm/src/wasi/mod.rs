//! WASI preview 1 for programs in C and similar languages: arguments, environment, clocks, random numbers, the standard streams,
//! files in preopened folders, and exit.
//!
//! In: a guest's memory and the arguments of a call as bits. Out: an error number for the guest, or the exit status of
//! the guest. This module is independent of the virtual machine, and never accesses anything outside of the guest's memory: every
//! address goes through `Guest`. Names, signatures and layouts are those of `wasi_snapshot_preview1.witx`.
//!
//! A folder is opened for reading, or for changes as well. Changes to a read-only folder are refused with
//! [`Errno::ReadOnly`]. Sockets are not supported. Their functions are in the table nevertheless, because programs that never
//! call them import them.

mod descriptor;
mod errno;
mod guest;
mod path;
mod poll;
mod process;
#[cfg(test)]
mod tests;
mod times;

pub use errno::Errno;

use descriptor::{Descriptor, Folder};
use guest::Guest;
use std::io::{self, Read, Write};
use std::path::Path;
use std::time::Instant;

/// The name of the module from which programs import the functions.
pub const MODULE: &str = "wasi_snapshot_preview1";

/// A program's view of the outside world. Initially it is empty: no arguments, no environment, an empty input, no files,
/// and discarded output.
pub struct Wasi {
    arguments: Vec<Vec<u8>>,
    environment: Vec<Vec<u8>>,
    descriptors: Vec<Option<Descriptor>>,
    start: Instant,
}

/// The access that a program has to a folder.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Access {
    /// The program may read files.
    Read,
    /// The program may also change, create and remove files.
    Write,
}

/// The reasons for which a WASI function has no result.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Stop {
    /// An error number to return to the guest.
    Errno(Errno),
    /// The guest exits with this status.
    Exit(u32),
}

impl From<Errno> for Stop {
    fn from(errno: Errno) -> Stop {
        Stop::Errno(errno)
    }
}

impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Stop {
        Stop::Errno(error.into())
    }
}

/// The exit of the program, with its status.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Exit(pub u32);

impl Default for Wasi {
    fn default() -> Wasi {
        Wasi::new()
    }
}

impl Wasi {
    /// The empty world.
    pub fn new() -> Wasi {
        let streams =
            [Descriptor::input(io::empty()), Descriptor::output(io::sink()), Descriptor::output(io::sink())];
        Wasi {
            arguments: Vec::new(),
            environment: Vec::new(),
            descriptors: streams.map(Some).into(),
            start: Instant::now(),
        }
    }

    /// Adds an argument. The first one is the program's name.
    pub fn argument(mut self, argument: impl Into<Vec<u8>>) -> Wasi {
        self.arguments.push(terminated(argument.into()));
        self
    }

    /// Adds an environment variable.
    pub fn variable(mut self, name: &str, value: &str) -> Wasi {
        self.environment.push(terminated(format!("{name}={value}").into_bytes()));
        self
    }

    /// Sets the stream that descriptor 0 reads from.
    pub fn stdin(mut self, stream: impl Read + 'static) -> Wasi {
        self.descriptors[0] = Some(Descriptor::input(stream));
        self
    }

    /// Sets the stream that descriptor 1 writes to.
    pub fn stdout(mut self, stream: impl Write + 'static) -> Wasi {
        self.descriptors[1] = Some(Descriptor::output(stream));
        self
    }

    /// Sets the stream that descriptor 2 writes to.
    pub fn stderr(mut self, stream: impl Write + 'static) -> Wasi {
        self.descriptors[2] = Some(Descriptor::output(stream));
        self
    }

    /// Uses the standard streams of this process.
    pub fn inherit_streams(self) -> Wasi {
        self.stdin(io::stdin()).stdout(io::stdout()).stderr(io::stderr())
    }

    /// Gives the program read access to a folder under a name.
    pub fn folder(self, folder: &Path, name: &str) -> io::Result<Wasi> {
        self.folder_for(folder, name, Access::Read)
    }

    /// Gives the program access to a folder under a name.
    pub fn folder_for(mut self, folder: &Path, name: &str, access: Access) -> io::Result<Wasi> {
        let path = folder.canonicalize()?;
        if !path.is_dir() {
            return Err(io::Error::from(io::ErrorKind::NotADirectory));
        }
        let folder = Folder::given(path, name, access);
        self.descriptors.push(Some(Descriptor::Folder(folder)));
        Ok(self)
    }
}

/// Appends the terminating zero that the guest expects.
fn terminated(mut text: Vec<u8>) -> Vec<u8> {
    let end = text.iter().position(|byte| *byte == 0).unwrap_or(text.len());
    text.truncate(end);
    text.push(0);
    text
}

/// The width of a parameter: 32 bits for pointers, sizes and small numbers, 64 bits for file sizes and times.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Width {
    /// An `i32`.
    Bits32,
    /// An `i64`.
    Bits64,
}

/// A function that programs import.
pub struct Function {
    /// Its name.
    pub name: &'static str,
    /// Its parameters.
    pub parameters: &'static [Width],
    /// Whether it returns an error number, an `i32`. A function without a result never returns.
    pub returns: bool,
    run: fn(&mut Wasi, &mut Guest<'_>, &[u64]) -> Result<(), Stop>,
}

impl Function {
    /// Calls the function with a guest's memory and one value for each parameter. The result is for the guest.
    pub fn call(&self, wasi: &mut Wasi, memory: &mut [u8], arguments: &[u64]) -> Result<Errno, Exit> {
        debug_assert_eq!(arguments.len(), self.parameters.len());
        match (self.run)(wasi, &mut Guest::new(memory), arguments) {
            Ok(()) => Ok(Errno::Success),
            Err(Stop::Errno(errno)) => Ok(errno),
            Err(Stop::Exit(status)) => Err(Exit(status)),
        }
    }
}

/// Conversion of a parameter from bits to its Rust type.
trait Parameter {
    const WIDTH: Width;
    fn from_bits(bits: u64) -> Self;
}

impl Parameter for u32 {
    const WIDTH: Width = Width::Bits32;
    fn from_bits(bits: u64) -> u32 {
        bits as u32
    }
}

impl Parameter for u64 {
    const WIDTH: Width = Width::Bits64;
    fn from_bits(bits: u64) -> u64 {
        bits
    }
}

/// Builds the rows of the table from signatures. After the arrow is the method to call, or the error number that
/// the function always returns.
macro_rules! functions {
    ($(fn $name:ident($($parameter:ident: $ty:ty),*) -> $result:tt => $answer:tt;)*) => {
        &[$(Function {
            name: stringify!($name),
            parameters: &[$(<$ty as Parameter>::WIDTH),*],
            returns: functions!(@returns $result),
            run: |_wasi, _guest, arguments| {
                let &[$($parameter),*] = arguments else { return Err(Errno::Invalid.into()) };
                functions!(@answer $answer _wasi _guest [$($parameter $ty),*])
            },
        }),*]
    };
    (@returns errno) => { true };
    (@returns !) => { false };
    (@answer (Errno::$errno:ident) $wasi:ident $guest:ident [$($parameter:ident $ty:ty),*]) => {{
        $(let _ = $parameter;)*
        Err(Errno::$errno.into())
    }};
    (@answer $method:ident $wasi:ident $guest:ident [$($parameter:ident $ty:ty),*]) => {
        $wasi.$method($guest $(, <$ty as Parameter>::from_bits($parameter))*)
    };
}

/// All functions of the interface.
pub static FUNCTIONS: &[Function] = functions! {
    fn args_get(pointers: u32, text: u32) -> errno => args_get;
    fn args_sizes_get(count: u32, size: u32) -> errno => args_sizes_get;
    fn environ_get(pointers: u32, text: u32) -> errno => environ_get;
    fn environ_sizes_get(count: u32, size: u32) -> errno => environ_sizes_get;
    fn clock_res_get(clock: u32, result: u32) -> errno => clock_res_get;
    fn clock_time_get(clock: u32, precision: u64, result: u32) -> errno => clock_time_get;
    fn fd_advise(fd: u32, offset: u64, length: u64, advice: u32) -> errno => fd_advise;
    fn fd_allocate(fd: u32, offset: u64, length: u64) -> errno => fd_allocate;
    fn fd_close(fd: u32) -> errno => fd_close;
    fn fd_datasync(fd: u32) -> errno => fd_datasync;
    fn fd_fdstat_get(fd: u32, result: u32) -> errno => fd_fdstat_get;
    fn fd_fdstat_set_flags(fd: u32, flags: u32) -> errno => fd_fdstat_set_flags;
    fn fd_fdstat_set_rights(fd: u32, base: u64, inheriting: u64) -> errno => (Errno::Unsupported);
    fn fd_filestat_get(fd: u32, result: u32) -> errno => fd_filestat_get;
    fn fd_filestat_set_size(fd: u32, size: u64) -> errno => fd_filestat_set_size;
    fn fd_filestat_set_times(fd: u32, accessed: u64, modified: u64, flags: u32) -> errno => fd_filestat_set_times;
    fn fd_pread(fd: u32, parts: u32, count: u32, offset: u64, result: u32) -> errno => fd_pread;
    fn fd_prestat_get(fd: u32, result: u32) -> errno => fd_prestat_get;
    fn fd_prestat_dir_name(fd: u32, path: u32, length: u32) -> errno => fd_prestat_dir_name;
    fn fd_pwrite(fd: u32, parts: u32, count: u32, offset: u64, result: u32) -> errno => fd_pwrite;
    fn fd_read(fd: u32, parts: u32, count: u32, result: u32) -> errno => fd_read;
    fn fd_readdir(fd: u32, buffer: u32, length: u32, cookie: u64, result: u32) -> errno => fd_readdir;
    fn fd_renumber(fd: u32, to: u32) -> errno => fd_renumber;
    fn fd_seek(fd: u32, offset: u64, whence: u32, result: u32) -> errno => fd_seek;
    fn fd_sync(fd: u32) -> errno => fd_sync;
    fn fd_tell(fd: u32, result: u32) -> errno => fd_tell;
    fn fd_write(fd: u32, parts: u32, count: u32, result: u32) -> errno => fd_write;
    fn path_create_directory(fd: u32, path: u32, length: u32) -> errno => path_create_directory;
    fn path_filestat_get(fd: u32, flags: u32, path: u32, length: u32, result: u32) -> errno => path_filestat_get;
    fn path_filestat_set_times(fd: u32, flags: u32, path: u32, length: u32, accessed: u64, modified: u64, set: u32)
        -> errno => path_filestat_set_times;
    fn path_link(old_fd: u32, flags: u32, old: u32, old_length: u32, new_fd: u32, new: u32, new_length: u32)
        -> errno => path_link;
    fn path_open(fd: u32, lookup: u32, path: u32, length: u32, how: u32, base: u64, inheriting: u64, flags: u32,
        result: u32) -> errno => path_open;
    fn path_readlink(fd: u32, path: u32, length: u32, buffer: u32, size: u32, result: u32) -> errno => path_readlink;
    fn path_remove_directory(fd: u32, path: u32, length: u32) -> errno => path_remove_directory;
    fn path_rename(old_fd: u32, old: u32, old_length: u32, new_fd: u32, new: u32, new_length: u32)
        -> errno => path_rename;
    fn path_symlink(old: u32, old_length: u32, fd: u32, new: u32, new_length: u32) -> errno => path_symlink;
    fn path_unlink_file(fd: u32, path: u32, length: u32) -> errno => path_unlink_file;
    fn poll_oneoff(subscriptions: u32, events: u32, count: u32, result: u32) -> errno => poll_oneoff;
    fn proc_exit(status: u32) -> ! => proc_exit;
    fn proc_raise(signal: u32) -> errno => (Errno::Unsupported);
    fn sched_yield() -> errno => sched_yield;
    fn random_get(buffer: u32, length: u32) -> errno => random_get;
    fn sock_accept(fd: u32, flags: u32, result: u32) -> errno => (Errno::Unsupported);
    fn sock_recv(fd: u32, parts: u32, count: u32, flags: u32, size: u32, flags_out: u32)
        -> errno => (Errno::Unsupported);
    fn sock_send(fd: u32, parts: u32, count: u32, flags: u32, size: u32) -> errno => (Errno::Unsupported);
    fn sock_shutdown(fd: u32, how: u32) -> errno => (Errno::Unsupported);
};
