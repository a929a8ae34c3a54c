//! Calls as a guest makes them, with arguments as bits and structures laid out manually.

use super::*;
use std::cell::RefCell;
use std::fs;
use std::path::PathBuf;
use std::rc::Rc;

const SIZE: usize = 65536;

/// A program's world and memory.
struct World {
    wasi: Wasi,
    memory: Vec<u8>,
}

impl World {
    fn new(wasi: Wasi) -> World {
        World { wasi, memory: vec![0; SIZE] }
    }

    fn try_call(&mut self, name: &str, arguments: &[u64]) -> Result<Errno, Exit> {
        let function =
            FUNCTIONS.iter().find(|function| function.name == name).expect("there is such a function");
        assert_eq!(function.parameters.len(), arguments.len(), "{name}");
        function.call(&mut self.wasi, &mut self.memory, arguments)
    }

    fn call(&mut self, name: &str, arguments: &[u64]) -> Errno {
        self.try_call(name, arguments).expect("it does not end the program")
    }

    /// Makes a call that must succeed.
    fn good(&mut self, name: &str, arguments: &[u64]) {
        assert_eq!(self.call(name, arguments), Errno::Success, "{name}");
    }

    fn put(&mut self, at: usize, bytes: &[u8]) {
        self.memory[at..at + bytes.len()].copy_from_slice(bytes);
    }

    fn put_u32(&mut self, at: usize, value: u32) {
        self.put(at, &value.to_le_bytes());
    }

    fn u32(&self, at: usize) -> u32 {
        u32::from_le_bytes(self.memory[at..at + 4].try_into().expect("four bytes"))
    }

    fn u64(&self, at: usize) -> u64 {
        u64::from_le_bytes(self.memory[at..at + 8].try_into().expect("eight bytes"))
    }

    fn text(&self, at: usize, length: usize) -> &str {
        std::str::from_utf8(&self.memory[at..at + length]).expect("it is text")
    }

    /// Opens a path from folder 3 for reading, following a link at its end.
    fn open(&mut self, path: &str) -> Result<u64, Errno> {
        self.open_as(3, path, 1, 0, 1 << 1)
    }

    fn open_as(&mut self, folder: u64, path: &str, lookup: u64, how: u64, rights: u64) -> Result<u64, Errno> {
        self.put(1024, path.as_bytes());
        let arguments = [folder, lookup, 1024, path.len() as u64, how, rights, 0, 0, 2048];
        match self.call("path_open", &arguments) {
            Errno::Success => Ok(self.u32(2048).into()),
            errno => Err(errno),
        }
    }

    /// Reads at most `length` bytes into two buffers.
    fn read(&mut self, fd: u64, length: u32) -> Result<String, Errno> {
        let first = length / 3;
        [8192, first, 8192 + first, length - first]
            .iter()
            .enumerate()
            .for_each(|(at, word)| self.put_u32(4096 + at * 4, *word));
        match self.call("fd_read", &[fd, 4096, 2, 4200]) {
            Errno::Success => Ok(self.text(8192, self.u32(4200) as usize).to_string()),
            errno => Err(errno),
        }
    }
}

/// A stream that writes to a vector shared with the test.
#[derive(Clone, Default)]
struct Printed(Rc<RefCell<Vec<u8>>>);

impl Write for Printed {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A folder that is removed after the test.
struct Scratch(PathBuf);

impl Scratch {
    /// Creates the folder, with a subfolder `inner` for guests and a secret beside it.
    fn new(name: &str) -> Scratch {
        let path = std::env::temp_dir().join(format!("azulejo-wasi-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(path.join("inner/deep")).expect("there is room");
        fs::write(path.join("secret"), "secret").expect("there is room");
        fs::write(path.join("inner/poem"), "roses are red").expect("there is room");
        fs::write(path.join("inner/deep/below"), "water").expect("there is room");
        Scratch(path)
    }

    fn world(&self) -> World {
        self.world_for(Access::Read)
    }

    fn world_for(&self, access: Access) -> World {
        World::new(Wasi::new().folder_for(&self.0.join("inner"), "/data", access).expect("it is there"))
    }

    fn text(&self, path: &str) -> String {
        fs::read_to_string(self.0.join("inner").join(path)).expect(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn arguments_and_environment_are_written_with_pointers() {
    let mut world = World::new(Wasi::new().argument("tile").argument(*b"a\0b").variable("HOME", "/nest"));
    world.good("args_sizes_get", &[8, 12]);
    assert_eq!((world.u32(8), world.u32(12)), (2, 7));
    world.good("args_get", &[16, 32]);
    assert_eq!((world.u32(16), world.u32(20)), (32, 37));
    assert_eq!(world.text(32, 7), "tile\0a\0");
    world.good("environ_sizes_get", &[8, 12]);
    assert_eq!((world.u32(8), world.u32(12)), (1, 11));
    world.good("environ_get", &[16, 64]);
    assert_eq!(world.text(64, 11), "HOME=/nest\0");
    assert_eq!(world.call("args_get", &[SIZE as u64 - 7, 32]), Errno::Fault);
    assert_eq!(world.call("args_get", &[16, SIZE as u64 - 6]), Errno::Fault);
}

#[test]
fn clocks_run_and_have_a_resolution() {
    let mut world = World::new(Wasi::new());
    world.good("clock_time_get", &[0, 0, 8]);
    assert!(world.u64(8) > 1_600_000_000_000_000_000, "it is later than 2020");
    world.good("clock_time_get", &[1, 0, 8]);
    world.good("clock_time_get", &[1, 0, 16]);
    assert!(world.u64(16) >= world.u64(8));
    world.good("clock_res_get", &[1, 24]);
    assert_ne!(world.u64(24), 0);
    assert_eq!(world.call("clock_time_get", &[7, 0, 8]), Errno::Invalid);
}

#[test]
fn random_bytes_stay_within_their_buffer() {
    let mut world = World::new(Wasi::new());
    world.good("random_get", &[100, 64]);
    assert!(world.memory[100..164].iter().any(|byte| *byte != 0));
    assert!(world.memory[..100].iter().chain(&world.memory[164..]).all(|byte| *byte == 0));
    assert_eq!(world.call("random_get", &[SIZE as u64 - 1, 2]), Errno::Fault);
}

#[test]
fn streams_are_read_and_written_in_parts() {
    let (out, err) = (Printed::default(), Printed::default());
    let wasi = Wasi::new().stdin(&b"twelve bytes"[..]).stdout(out.clone()).stderr(err.clone());
    let mut world = World::new(wasi);
    assert_eq!(world.read(0, 9).expect("it is read"), "twe");
    assert_eq!(world.read(0, 300).expect("it is read"), "lve bytes");
    assert_eq!(world.read(0, 9).expect("the end is read"), "");
    world.put(100, b"red, blue");
    [105, 4, 100, 3].iter().enumerate().for_each(|(at, word)| world.put_u32(200 + at * 4, *word));
    world.good("fd_write", &[1, 200, 2, 300]);
    assert_eq!(world.u32(300), 7);
    world.good("fd_write", &[2, 208, 1, 300]);
    assert_eq!((&out.0.borrow()[..], &err.0.borrow()[..]), (&b"bluered"[..], &b"red"[..]));
    assert_eq!(world.call("fd_write", &[0, 200, 2, 300]), Errno::NotCapable);
    assert_eq!(world.call("fd_write", &[9, 200, 2, 300]), Errno::BadDescriptor);
    assert_eq!(world.call("fd_seek", &[1, 0, 0, 300]), Errno::NoSeek);
    world.put_u32(204, u32::MAX);
    assert_eq!(world.call("fd_write", &[1, 200, 2, 300]), Errno::Fault);
    assert_eq!(world.call("fd_write", &[1, 200, 1025, 300]), Errno::Invalid);
    world.good("fd_close", &[1]);
    assert_eq!(world.call("fd_close", &[1]), Errno::BadDescriptor);
}

#[test]
fn files_in_folders_that_were_given_are_read() {
    let scratch = Scratch::new("files");
    let mut world = scratch.world();
    world.good("fd_prestat_get", &[3, 8]);
    assert_eq!((world.u32(8), world.u32(12)), (0, 5));
    world.good("fd_prestat_dir_name", &[3, 16, 5]);
    assert_eq!(world.text(16, 5), "/data");
    assert_eq!(world.call("fd_prestat_dir_name", &[3, 16, 4]), Errno::NameTooLong);
    assert_eq!(world.call("fd_prestat_get", &[4, 8]), Errno::BadDescriptor);
    let poem = world.open("./deep/../poem").expect("it is there");
    assert_eq!(world.read(poem, 9).expect("it is read"), "roses are");
    world.good("fd_tell", &[poem, 8]);
    assert_eq!(world.u64(8), 9);
    world.good("fd_seek", &[poem, -3i64 as u64, 2, 8]);
    assert_eq!(world.u64(8), 10);
    assert_eq!(world.read(poem, 9).expect("it is read"), "red");
    assert_eq!(world.call("fd_seek", &[poem, -1i64 as u64, 0, 8]), Errno::Invalid);
    [8192, 5].iter().enumerate().for_each(|(at, word)| world.put_u32(200 + at * 4, *word));
    world.good("fd_pread", &[poem, 200, 1, 6, 300]);
    assert_eq!(world.text(8192, world.u32(300) as usize), "are r");
    world.good("fd_filestat_get", &[poem, 400]);
    assert_eq!((world.memory[416], world.u64(432)), (4, 13));
    world.good("fd_fdstat_get", &[poem, 400]);
    assert_eq!((world.memory[400], world.u64(408) & (1 << 6)), (4, 0));
    world.put(1024, b"deep");
    world.good("path_filestat_get", &[3, 0, 1024, 4, 400]);
    assert_eq!(world.memory[416], 3);
    world.good("fd_renumber", &[poem, 0]);
    world.good("fd_seek", &[0, 0, 0, 8]);
    assert_eq!(world.read(0, 5).expect("it is read"), "roses");
    assert_eq!(world.read(poem, 5), Err(Errno::BadDescriptor));
}

#[test]
fn nothing_is_changed() {
    let scratch = Scratch::new("changes");
    let mut world = scratch.world();
    assert_eq!(world.open_as(3, "new", 1, 1, 1 << 6), Err(Errno::ReadOnly));
    assert_eq!(world.open_as(3, "poem", 1, 8, 1 << 1), Err(Errno::ReadOnly));
    assert_eq!(world.open_as(3, "poem", 1, 0, 1 << 6), Err(Errno::ReadOnly));
    let poem = world.open("poem").expect("it is there");
    assert_eq!(world.call("fd_write", &[poem, 0, 0, 300]), Errno::NotCapable);
    assert_eq!(world.call("path_unlink_file", &[3, 1024, 4]), Errno::ReadOnly);
    assert_eq!(fs::read_to_string(scratch.0.join("inner/poem")).expect("it is there"), "roses are red");
}

/// Every function that changes something is refused on existing files in a read-only folder.
#[test]
fn no_function_changes_a_folder_that_is_to_be_read() {
    let scratch = Scratch::new("reading");
    let mut world = scratch.world();
    let poem = world.open("poem").expect("it is there");
    world.put(1024, b"poem");
    world.put(1040, b"new");
    let (old, new) = ([1024, 4], [1040, 3]);
    for (name, arguments) in [
        ("path_create_directory", vec![3, new[0], new[1]]),
        ("path_remove_directory", vec![3, 1024, 4]),
        ("path_rename", vec![3, old[0], old[1], 3, new[0], new[1]]),
        ("path_link", vec![3, 0, old[0], old[1], 3, new[0], new[1]]),
        ("path_symlink", vec![old[0], old[1], 3, new[0], new[1]]),
        ("path_filestat_set_times", vec![3, 0, old[0], old[1], 0, 0, 2]),
    ] {
        assert_eq!(world.call(name, &arguments), Errno::ReadOnly, "{name}");
    }
    for (name, arguments) in [
        ("fd_allocate", vec![poem, 0, 99]),
        ("fd_filestat_set_size", vec![poem, 0]),
        ("fd_filestat_set_times", vec![poem, 0, 0, 2]),
        ("fd_pwrite", vec![poem, 0, 0, 0, 300]),
    ] {
        assert_eq!(world.call(name, &arguments), Errno::NotCapable, "{name}");
    }
    assert_eq!(scratch.text("poem"), "roses are red");
    assert!(!scratch.0.join("inner/new").exists());
}

const CREATE: u64 = 1;
const EXCLUSIVE: u64 = 4;
const TRUNCATE: u64 = 8;
const TO_WRITE: u64 = 1 << 6 | 1 << 1;

impl World {
    /// Writes a path to an address. Returns the address and the length.
    fn path(&mut self, at: usize, path: &str) -> [u64; 2] {
        self.put(at, path.as_bytes());
        [at as u64, path.len() as u64]
    }

    /// Calls a function on a path in folder 3.
    fn change(&mut self, name: &str, path: &str) -> Errno {
        let [at, length] = self.path(1024, path);
        self.call(name, &[3, at, length])
    }

    fn rename(&mut self, from: &str, to: &str) -> Errno {
        let ([from, from_length], [to, to_length]) = (self.path(1024, from), self.path(1280, to));
        self.call("path_rename", &[3, from, from_length, 3, to, to_length])
    }

    #[cfg(unix)]
    fn symlink(&mut self, target: &str, path: &str) -> Errno {
        let ([target, target_length], [path, length]) = (self.path(1024, target), self.path(1280, path));
        self.call("path_symlink", &[target, target_length, 3, path, length])
    }

    /// Writes text from two buffers.
    fn write(&mut self, fd: u64, text: &str) -> Errno {
        self.put(8192, text.as_bytes());
        let (first, length) = (text.len() as u32 / 3, text.len() as u32);
        [8192, first, 8192 + first, length - first]
            .iter()
            .enumerate()
            .for_each(|(at, word)| self.put_u32(4096 + at * 4, *word));
        let errno = self.call("fd_write", &[fd, 4096, 2, 4200]);
        if errno == Errno::Success {
            assert_eq!(self.u32(4200), length);
        }
        errno
    }
}

#[test]
fn files_are_made_and_written() {
    let scratch = Scratch::new("writing");
    let mut world = scratch.world_for(Access::Write);
    let new = world.open_as(3, "deep/new", 1, CREATE, TO_WRITE).expect("it is made");
    assert_eq!(world.write(new, "violets are blue"), Errno::Success);
    world.good("fd_seek", &[new, 0, 0, 8]);
    assert_eq!(world.read(new, 99).expect("it is read"), "violets are blue");
    assert_eq!(scratch.text("deep/new"), "violets are blue");
    // A positioned write in the middle does not move the offset. Allocation beyond the end extends the file.
    world.put(8192, b"were");
    [8192, 4].iter().enumerate().for_each(|(at, word)| world.put_u32(200 + at * 4, *word));
    world.good("fd_pwrite", &[new, 200, 1, 8, 300]);
    world.good("fd_tell", &[new, 8]);
    assert_eq!((world.u32(300), world.u64(8)), (4, 16));
    assert_eq!(scratch.text("deep/new"), "violets wereblue");
    world.good("fd_filestat_set_size", &[new, 7]);
    world.good("fd_allocate", &[new, 0, 9]);
    world.good("fd_allocate", &[new, 0, 2]);
    assert_eq!(scratch.text("deep/new"), "violets\0\0");
    world.good("fd_filestat_set_times", &[new, 0, 1_000_000_007, 4]);
    world.good("fd_filestat_get", &[new, 400]);
    assert_eq!(world.u64(400 + 48), 1_000_000_007);
    assert_eq!(world.call("fd_filestat_set_times", &[new, 0, 0, 4 | 8]), Errno::Invalid);
    world.good("fd_sync", &[new]);
    world.good("fd_datasync", &[new]);
    world.good("fd_fdstat_get", &[new, 400]);
    assert_eq!((world.memory[400], world.u64(408) & (1 << 6)), (4, 1 << 6));
    // Files are truncated and appended to.
    assert_eq!(world.open_as(3, "deep/new", 1, CREATE | EXCLUSIVE, TO_WRITE), Err(Errno::Exist));
    let again = world.open_as(3, "deep/new", 1, CREATE | TRUNCATE, 1 << 6).expect("it is emptied");
    assert_eq!(world.write(again, "one"), Errno::Success);
    assert_eq!(world.read(again, 3), Err(Errno::NotCapable), "it is open for writing only");
    world.good("fd_fdstat_set_flags", &[new, 1]);
    world.good("fd_seek", &[new, 0, 0, 8]);
    assert_eq!(world.write(new, ", two"), Errno::Success);
    assert_eq!(scratch.text("deep/new"), "one, two");
    world.good("fd_fdstat_get", &[new, 400]);
    assert_eq!(world.memory[402], 1);
    assert_eq!(world.call("fd_fdstat_set_flags", &[new, 4]), Errno::Unsupported);
    // A file opened for reading cannot be written.
    let poem = world.open("poem").expect("it is there");
    assert_eq!(world.write(poem, "x"), Errno::NotCapable);
    assert_eq!(world.open_as(3, "nothing", 1, 0, TO_WRITE), Err(Errno::NoEntry));
    assert_eq!(world.open_as(3, "deep", 1, TRUNCATE, TO_WRITE), Err(Errno::IsDirectory));
}

#[test]
fn folders_and_names_are_changed() {
    let scratch = Scratch::new("names");
    let mut world = scratch.world_for(Access::Write);
    assert_eq!(world.change("path_create_directory", "made/"), Errno::Success);
    assert_eq!(world.change("path_create_directory", "made"), Errno::Exist);
    assert_eq!(world.rename("poem", "made/moved"), Errno::Success);
    assert_eq!(scratch.text("made/moved"), "roses are red");
    assert_eq!(world.rename("poem", "made/again"), Errno::NoEntry);
    assert_eq!(world.change("path_remove_directory", "made"), Errno::NotEmpty);
    assert_eq!(world.change("path_unlink_file", "made"), Errno::IsDirectory);
    assert_eq!(world.change("path_unlink_file", "made/moved/"), Errno::NotDirectory);
    let ([from, from_length], [to, to_length]) = (world.path(1024, "made/moved"), world.path(1280, "twin"));
    world.good("path_link", &[3, 0, from, from_length, 3, to, to_length]);
    assert_eq!(world.change("path_unlink_file", "made/moved"), Errno::Success);
    assert_eq!(world.change("path_remove_directory", "twin"), Errno::NotDirectory);
    assert_eq!(world.change("path_remove_directory", "made"), Errno::Success);
    assert_eq!(scratch.text("twin"), "roses are red");
    let [path, length] = world.path(1024, "twin");
    world.good("path_filestat_set_times", &[3, 0, path, length, 0, 5, 4]);
    world.good("path_filestat_get", &[3, 0, path, length, 400]);
    assert_eq!(world.u64(400 + 48), 5);
    // Neither the folder itself nor anything outside of it can be changed.
    for name in ["path_create_directory", "path_remove_directory", "path_unlink_file"] {
        for (path, errno) in [(".", Errno::Invalid), ("deep/..", Errno::Invalid), ("", Errno::NoEntry)] {
            assert_eq!(world.change(name, path), errno, "{name} {path}");
        }
        for path in ["..", "../secret", "/tmp", "/"] {
            assert_eq!(world.change(name, path), Errno::NotCapable, "{name} {path}");
        }
    }
    assert_eq!(world.rename("deep", "../out"), Errno::NotCapable);
    assert_eq!(world.rename("../secret", "in"), Errno::NotCapable);
    assert_eq!(fs::read_to_string(scratch.0.join("secret")).expect("it is there"), "secret");
}

#[cfg(unix)]
#[test]
fn links_that_a_guest_makes_do_not_lead_out() {
    let scratch = Scratch::new("made-links");
    let mut world = scratch.world_for(Access::Write);
    assert_eq!(world.symlink("/etc/passwd", "absolute"), Errno::NotCapable);
    assert_eq!(world.symlink("deep/below", "good"), Errno::Success);
    assert_eq!(world.symlink("deep/below", "good"), Errno::Exist);
    assert_eq!(world.symlink("../secret", "sly"), Errno::Success);
    assert_eq!(world.symlink("fresh", "ahead"), Errno::Success);
    let good = world.open_as(3, "good", 1, TRUNCATE, TO_WRITE).expect("it leads to a file");
    assert_eq!(world.write(good, "wine"), Errno::Success);
    assert_eq!(scratch.text("deep/below"), "wine");
    for how in [0, CREATE, TRUNCATE, CREATE | TRUNCATE] {
        assert_eq!(world.open_as(3, "sly", 1, how, TO_WRITE), Err(Errno::NotCapable));
        assert_eq!(world.open_as(3, "good", 0, how, TO_WRITE), Err(Errno::Loop));
    }
    // A file created through a link is created at the link's target, within the folder.
    let ahead = world.open_as(3, "ahead", 1, CREATE, TO_WRITE).expect("it is made");
    assert_eq!(world.write(ahead, "new"), Errno::Success);
    assert_eq!(scratch.text("fresh"), "new");
    let ([from, from_length], [to, to_length]) = (world.path(1024, "sly"), world.path(1280, "twin"));
    assert_eq!(world.call("path_link", &[3, 0, from, from_length, 3, to, to_length]), Errno::NotCapable);
    assert_eq!(world.call("path_link", &[3, 1, from, from_length, 3, to, to_length]), Errno::NotCapable);
    // An open folder, or one above it, is replaced by a link.
    assert_eq!(world.change("path_create_directory", "deep/er"), Errno::Success);
    let folders = ["deep", "deep/er"].map(|folder| world.open(folder).expect("it is there"));
    assert_eq!(world.rename("deep", "deeper"), Errno::Success);
    assert_eq!(world.symlink("..", "deep"), Errno::Success);
    fs::create_dir(scratch.0.join("er")).expect("there is room");
    for folder in folders {
        for path in ["secret", "poem", "er"] {
            assert_eq!(world.open_as(folder, path, 1, 0, 1 << 1), Err(Errno::NotDirectory), "{path}");
        }
        assert_eq!(world.open_as(folder, "new", 1, CREATE, TO_WRITE), Err(Errno::NotDirectory));
        assert_eq!(world.call("fd_readdir", &[folder, 64, 400, 0, 8]), Errno::NotDirectory);
        assert_eq!(world.call("fd_filestat_get", &[folder, 400]), Errno::NotDirectory);
    }
    assert!(!scratch.0.join("er/new").exists() && !scratch.0.join("new").exists());
}

#[test]
fn paths_do_not_lead_out() {
    let scratch = Scratch::new("paths");
    let mut world = scratch.world();
    for path in ["..", "../secret", "deep/../../secret", "/etc/passwd", "/", "./../inner/poem"] {
        assert_eq!(world.open(path), Err(Errno::NotCapable), "{path}");
    }
    for path in ["nothing", "", "deep/nothing/../../poem"] {
        assert_eq!(world.open(path), Err(Errno::NoEntry), "{path}");
    }
    for path in ["poem/", "poem/.", "poem/..", "poem/below"] {
        assert_eq!(world.open(path), Err(Errno::NotDirectory), "{path}");
    }
    assert_eq!(world.open_as(3, "poem", 1, 2, 0), Err(Errno::NotDirectory));
    assert_eq!(world.open_as(0, "poem", 1, 0, 0), Err(Errno::NotDirectory));
    assert_eq!(world.open("po\0em"), Err(Errno::NotCapable));
    world.put(1024, &[0xff, 0xfe]);
    assert_eq!(world.call("path_open", &[3, 0, 1024, 2, 0, 0, 0, 0, 2048]), Errno::IllegalBytes);
    // Paths opened relative to an open folder stay below it.
    let deep = world.open("deep").expect("it is there");
    let below = world.open_as(deep, "below", 1, 0, 0).expect("it is there");
    assert_eq!(world.read(below, 9).expect("it is read"), "water");
    assert_eq!(world.open_as(deep, "../poem", 1, 0, 0), Err(Errno::NotCapable));
}

#[cfg(unix)]
#[test]
fn links_do_not_lead_out() {
    use std::os::unix::fs::symlink;
    let scratch = Scratch::new("links");
    let links = [
        ("good", "deep/below"),
        ("deep/up", "../poem"),
        ("folder", "deep"),
        ("out", "../secret"),
        ("absolute", "/etc/passwd"),
        ("sly", "deep/../../secret"),
        ("round", "round"),
        ("nowhere", "nothing"),
    ];
    for (link, target) in links {
        symlink(target, scratch.0.join("inner").join(link)).expect("there is room");
    }
    let mut world = scratch.world();
    for (path, text) in [("good", "water"), ("deep/up", "roses are red"), ("folder/below", "water")] {
        let file = world.open(path).expect(path);
        assert_eq!(world.read(file, 99).expect("it is read"), text);
    }
    for (path, errno) in [
        ("out", Errno::NotCapable),
        ("absolute", Errno::NotCapable),
        ("sly", Errno::NotCapable),
        ("round", Errno::Loop),
        ("nowhere", Errno::NoEntry),
    ] {
        assert_eq!(world.open(path), Err(errno), "{path}");
    }
    assert_eq!(world.open_as(3, "good", 0, 0, 0), Err(Errno::Loop), "it is not followed");
    assert_eq!(world.open_as(3, "folder/", 0, 0, 0), Ok(7), "a slash asks for what is behind the link");
    world.put(1024, b"good");
    world.good("path_readlink", &[3, 1024, 4, 64, 4, 128]);
    assert_eq!((world.text(64, 4), world.u32(128)), ("deep", 4));
    world.put(1024, b"absolute");
    assert_eq!(world.call("path_readlink", &[3, 1024, 8, 64, 99, 128]), Errno::NotCapable);
    // Relative to the inner folder, the link leads out of the visible files.
    let deep = world.open("deep").expect("it is there");
    assert_eq!(world.open_as(deep, "up", 1, 0, 0), Err(Errno::NotCapable));
}

#[test]
fn folders_are_read_in_pieces() {
    let scratch = Scratch::new("folders");
    let mut world = scratch.world();
    let mut seen = Vec::new();
    let mut cookie = 0;
    loop {
        // The buffer has room for one entry and a part of the next.
        world.good("fd_readdir", &[3, 64, 40, cookie, 8]);
        let used = world.u32(8) as usize;
        let length = world.u32(64 + 16) as usize;
        if used < 24 + length {
            assert_eq!(used, 0, "there was room for every name");
            break;
        }
        seen.push((world.text(64 + 24, length).to_string(), world.memory[64 + 20]));
        cookie = world.u64(64);
    }
    let expected = [(".", 3), ("..", 3), ("deep", 3), ("poem", 4)];
    assert_eq!(seen, expected.map(|(name, kind)| (name.to_string(), kind)));
    world.good("fd_readdir", &[3, 64, 40, u64::MAX, 8]);
    assert_eq!(world.u32(8), 0);
    assert_eq!(world.call("fd_readdir", &[1, 64, 40, 0, 8]), Errno::NotDirectory);
}

#[test]
fn waiting_ends_with_the_first_event() {
    let mut world = World::new(Wasi::new());
    let clock = |world: &mut World, at: usize, user: u64, nanoseconds: u64| {
        world.put(at, &[0; 48]);
        world.put(at, &user.to_le_bytes());
        world.put_u32(at + 16, 1);
        world.put(at + 24, &nanoseconds.to_le_bytes());
    };
    clock(&mut world, 0, 11, 3_600_000_000_000);
    clock(&mut world, 48, 22, 2_000_000);
    let start = Instant::now();
    world.good("poll_oneoff", &[0, 1024, 2, 2048]);
    assert!(start.elapsed().as_nanos() >= 2_000_000);
    assert_eq!((world.u32(2048), world.u64(1024), world.memory[1034]), (1, 22, 0));
    // A descriptor is ready or invalid immediately.
    world.memory[56] = 1;
    world.put_u32(64, 0);
    world.good("poll_oneoff", &[0, 1024, 2, 2048]);
    assert_eq!((world.u32(2048), world.u32(1032), world.memory[1034]), (1, 0x1_0000, 1));
    world.put_u32(64, 77);
    world.good("poll_oneoff", &[0, 1024, 2, 2048]);
    assert_eq!(world.memory[1032], Errno::BadDescriptor as u8);
    assert_eq!(world.call("poll_oneoff", &[0, 1024, 0, 2048]), Errno::Invalid);
    assert_eq!(world.call("poll_oneoff", &[0, 1024, u64::from(u32::MAX), 2048]), Errno::Fault);
}

#[test]
fn a_program_ends_itself() {
    let mut world = World::new(Wasi::new());
    assert_eq!(world.try_call("proc_exit", &[42]), Err(Exit(42)));
    world.good("sched_yield", &[]);
    let ends = FUNCTIONS.iter().filter(|function| !function.returns).map(|function| function.name);
    assert_eq!(ends.collect::<Vec<_>>(), ["proc_exit"]);
}

/// A call returns whatever its arguments are, and reports addresses that are out of bounds.
#[test]
fn no_arguments_lead_beyond_the_memory() {
    let scratch = Scratch::new("arguments");
    let values =
        [0, 1, 3, 8, 4096, SIZE as u64 - 8, SIZE as u64 - 1, SIZE as u64, 0x7fff_ffff, 0xffff_ffff, u64::MAX];
    let mut state = 1u64;
    for (function, access) in FUNCTIONS.iter().flat_map(|it| [(it, Access::Read), (it, Access::Write)]) {
        for _ in 0..400 {
            let mut world = scratch.world_for(access);
            let arguments: Vec<u64> = function
                .parameters
                .iter()
                .map(|_| {
                    state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                    values[(state >> 33) as usize % values.len()]
                })
                .collect();
            // A count of buffers or subscriptions that exceeds the memory is refused before space is allocated for it.
            let result = function.call(&mut world.wasi, &mut world.memory, &arguments);
            assert_eq!(result.is_err(), !function.returns, "{} {arguments:?}", function.name);
        }
    }
}
