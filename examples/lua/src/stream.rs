//! Files as the C library has them: with what was read ahead, and what is to be written yet.
//!
//! In: a file of the system, or a process, and what to do with it. Out: bytes, lines, numbers, or the system's error.
//!
//! **Invariant:** bytes that were read ahead and bytes that are to be written are never there both: before it reads, a stream writes what
//! it holds, and before it writes it goes back over what was not taken. When a stream is dropped it writes what it holds, and nobody hears
//! of an error.

use crate::number;
use std::fs::{File, OpenOptions};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{self, ErrorKind, IsTerminal, Read, Seek, SeekFrom, Write};
use std::mem::ManuallyDrop;
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// When a stream writes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Buffering {
    /// At once.
    None,
    /// At the end of a line.
    Line,
    /// When much is there.
    Full,
}

/// A file.
#[derive(Debug)]
pub(crate) struct Stream {
    /// `None` if the process was started without it.
    file: Option<StreamFile>,
    /// The process at the other end.
    child: Option<Child>,
    can_read: bool,
    can_write: bool,
    buffering: Buffering,
    /// What was read, from `taken` on for those who want more.
    input: Vec<u8>,
    taken: usize,
    /// What is to be written.
    output: Vec<u8>,
}

/// So much is read and written at once.
const SIZE: usize = 16 << 10;

/// The system's numbers of errors that the C library finds by itself.
#[cfg(unix)]
use libc::{EBADF, EINVAL};
#[cfg(not(unix))]
const EBADF: i32 = 9;
#[cfg(not(unix))]
const EINVAL: i32 = 22;

/// The error of an argument that means nothing.
pub(crate) fn invalid_argument() -> io::Error {
    io::Error::from_raw_os_error(EINVAL)
}

/// What a stream reads and writes.
#[derive(Debug)]
enum StreamFile {
    /// The stream closes it.
    Own(File),
    /// One of those that the process was started with, which are everybody's: a program may have a thousand states of Lua, and few files.
    Standard(ManuallyDrop<File>),
}

impl StreamFile {
    fn get(&self) -> &File {
        match self {
            StreamFile::Own(file) => file,
            StreamFile::Standard(file) => file,
        }
    }
}

/// A file that the process was started with.
#[cfg(unix)]
fn standard(file: &impl std::os::fd::AsRawFd) -> Option<StreamFile> {
    use std::os::fd::FromRawFd;
    // SAFETY: nobody closes it: the process has it as long as it runs, and this file is not dropped.
    let file = unsafe { File::from_raw_fd(file.as_raw_fd()) };
    Some(StreamFile::Standard(ManuallyDrop::new(file)))
}

#[cfg(windows)]
fn standard(file: &impl std::os::windows::io::AsRawHandle) -> Option<StreamFile> {
    use std::os::windows::io::FromRawHandle;
    let handle = file.as_raw_handle();
    // SAFETY: as above, and it is there.
    (!handle.is_null())
        .then(|| StreamFile::Standard(ManuallyDrop::new(unsafe { File::from_raw_handle(handle) })))
}

/// The end of a pipe as a file.
#[cfg(unix)]
fn end_of_pipe(pipe: impl Into<std::os::fd::OwnedFd>) -> File {
    File::from(pipe.into())
}

#[cfg(windows)]
fn end_of_pipe(pipe: impl Into<std::os::windows::io::OwnedHandle>) -> File {
    File::from(pipe.into())
}

/// What the modes of `open` mean: what a file is opened with, if it is not for reading alone.
struct Mode {
    can_read: bool,
    can_write: bool,
    options: OpenOptions,
}

/// Reads a mode as the C library does: the first letter decides, and letters that it does not know mean nothing.
fn mode(text: &[u8]) -> io::Result<Mode> {
    let (first, rest) = text.split_first().ok_or_else(invalid_argument)?;
    let is_both = rest.contains(&b'+');
    let mut options = OpenOptions::new();
    match first {
        b'r' => options.read(true).write(is_both),
        b'w' if rest.contains(&b'x') => options.read(is_both).write(true).create_new(true),
        b'w' => options.read(is_both).write(true).create(true).truncate(true),
        b'a' => options.read(is_both).append(true).create(true),
        _ => return Err(invalid_argument()),
    };
    Ok(Mode { can_read: is_both || *first == b'r', can_write: is_both || *first != b'r', options })
}

impl Stream {
    fn new(file: Option<StreamFile>, (can_read, can_write): (bool, bool), buffering: Buffering) -> Stream {
        let (input, output) = (Vec::new(), Vec::new());
        Stream { file, child: None, can_read, can_write, buffering, input, taken: 0, output }
    }

    /// Opens a file.
    pub(crate) fn open(path: &Path, mode_text: &[u8]) -> io::Result<Stream> {
        let Mode { can_read, can_write, options } = mode(mode_text)?;
        let mut file = options.open(path)?;
        if mode_text.starts_with(b"a") && !can_read {
            // Where this is impossible, it means nothing.
            let _ = file.seek(SeekFrom::End(0));
        }
        let file = StreamFile::Own(file);
        Ok(Stream::new(Some(file), (can_read, can_write), Buffering::Full))
    }

    /// A file without a name, to read and write.
    pub(crate) fn temporary() -> io::Result<Stream> {
        let (path, file) = temporary_file()?;
        // Its memory is given back when it is closed. Where the system does not remove what is open, it stays.
        let _ = std::fs::remove_file(path);
        Ok(Stream::new(Some(StreamFile::Own(file)), (true, true), Buffering::Full))
    }

    /// Runs a command, to read what it writes, or to write what it reads.
    pub(crate) fn command(mut command: Command, mode_text: &[u8]) -> io::Result<Stream> {
        let reads = match mode_text {
            [b'r'] | [b'r', b'e'] => true,
            [b'w'] | [b'w', b'e'] => false,
            _ => return Err(invalid_argument()),
        };
        match reads {
            true => command.stdout(Stdio::piped()),
            false => command.stdin(Stdio::piped()),
        };
        let mut child = command.spawn()?;
        let file = match reads {
            true => child.stdout.take().map(end_of_pipe),
            false => child.stdin.take().map(end_of_pipe),
        };
        let file = file.map(StreamFile::Own);
        let mut stream = Stream::new(file, (reads, !reads), Buffering::Full);
        stream.child = Some(child);
        Ok(stream)
    }

    /// What the process reads.
    pub(crate) fn stdin() -> Stream {
        Stream::new(standard(&io::stdin()), (true, false), Buffering::Full)
    }

    /// What the process writes: a line at a time if somebody looks at it.
    pub(crate) fn stdout() -> Stream {
        let buffering = if io::stdout().is_terminal() { Buffering::Line } else { Buffering::Full };
        Stream::new(standard(&io::stdout()), (false, true), buffering)
    }

    /// Where the process writes of errors.
    pub(crate) fn stderr() -> Stream {
        Stream::new(standard(&io::stderr()), (false, true), Buffering::None)
    }

    /// Sets when it writes.
    pub(crate) fn set_buffering(&mut self, buffering: Buffering) {
        self.buffering = buffering;
    }

    /// Writes bytes, or keeps them for later.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        if !self.can_write {
            return Err(io::Error::from_raw_os_error(EBADF));
        }
        self.forget_input()?;
        if bytes.len() >= SIZE {
            self.flush()?;
            return self.file()?.write_all(bytes);
        }
        self.output.extend_from_slice(bytes);
        match self.buffering {
            Buffering::Full if self.output.len() < SIZE => Ok(()),
            Buffering::Line if self.output.len() < SIZE && !bytes.contains(&b'\n') => Ok(()),
            _ => self.flush(),
        }
    }

    /// Writes what is held back.
    pub(crate) fn flush(&mut self) -> io::Result<()> {
        if self.output.is_empty() {
            return Ok(());
        }
        // What cannot be written is lost, as in C.
        let output = std::mem::take(&mut self.output);
        let result = self.file()?.write_all(&output);
        self.output = output;
        self.output.clear();
        result
    }

    /// Goes to a position, and returns it.
    pub(crate) fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.flush()?;
        let to = match to {
            SeekFrom::Current(distance) => {
                SeekFrom::Current(distance.saturating_sub(self.unread().len() as i64))
            }
            to => to,
        };
        let at = self.file()?.seek(to)?;
        self.input.clear();
        self.taken = 0;
        Ok(at)
    }

    /// Closes it, and waits for the process at the other end.
    pub(crate) fn close(mut self) -> io::Result<()> {
        let result = self.flush();
        self.file = None;
        if let Some(mut child) = self.child.take() {
            child.wait()?;
        }
        result
    }

    fn file(&self) -> io::Result<&File> {
        let file = self.file.as_ref().ok_or_else(|| io::Error::from_raw_os_error(EBADF))?;
        Ok(file.get())
    }

    fn unread(&self) -> &[u8] {
        &self.input[self.taken..]
    }

    /// Goes back over what was read ahead.
    fn forget_input(&mut self) -> io::Result<()> {
        let distance = self.unread().len() as i64;
        if distance > 0 {
            self.file()?.seek(SeekFrom::Current(-distance))?;
        }
        self.input.clear();
        self.taken = 0;
        Ok(())
    }

    /// What there is to read, at least one byte unless the file ends.
    fn fill(&mut self) -> io::Result<&[u8]> {
        if self.taken == self.input.len() {
            if !self.can_read {
                return Err(io::Error::from_raw_os_error(EBADF));
            }
            self.flush()?;
            let mut input = std::mem::take(&mut self.input);
            input.resize(SIZE, 0);
            let result = loop {
                match self.file()?.read(&mut input) {
                    Err(error) if error.kind() == ErrorKind::Interrupted => {}
                    result => break result,
                }
            };
            input.truncate(*result.as_ref().unwrap_or(&0));
            (self.input, self.taken) = (input, 0);
            result?;
        }
        Ok(self.unread())
    }

    /// Whether there is nothing more to read.
    pub(crate) fn is_at_end(&mut self) -> io::Result<bool> {
        Ok(self.fill()?.is_empty())
    }

    /// Appends bytes up to the end of a line, which is left out. Returns whether there were any.
    pub(crate) fn read_line(&mut self, out: &mut Vec<u8>) -> io::Result<bool> {
        let mut is_there = false;
        loop {
            let there = self.fill()?;
            if there.is_empty() {
                return Ok(is_there);
            }
            is_there = true;
            let end = memchr::memchr(b'\n', there);
            let count = end.unwrap_or(there.len());
            out.extend_from_slice(&there[..count]);
            self.taken += count + usize::from(end.is_some());
            if end.is_some() {
                return Ok(true);
            }
        }
    }

    /// Appends so many bytes, or those that there are. Returns whether there were any.
    pub(crate) fn read_bytes(&mut self, count: usize, out: &mut Vec<u8>) -> io::Result<bool> {
        let mut missing = count;
        while missing > 0 {
            let there = self.fill()?;
            if there.is_empty() {
                break;
            }
            let taken = missing.min(there.len());
            out.extend_from_slice(&there[..taken]);
            self.taken += taken;
            missing -= taken;
        }
        Ok(missing < count)
    }

    /// The next byte, which stays there.
    fn peek(&mut self) -> io::Result<Option<u8>> {
        Ok(self.fill()?.first().copied())
    }

    /// Reads a number as `scanf` of the GNU C library does: it takes what may belong to one, and of that the longest start that is one.
    /// There may be none, and what was taken is gone.
    pub(crate) fn read_number(&mut self) -> io::Result<Option<f64>> {
        while self.peek()?.is_some_and(number::is_space) {
            self.taken += 1;
        }
        let mut text = Vec::new();
        while let Some(byte) = self.peek()? {
            let goes_on = may_follow(&text, byte);
            // A wrong letter in a word is taken, too.
            self.taken += usize::from(goes_on || is_word(&text));
            match goes_on {
                true => text.push(byte),
                false => break,
            }
        }
        // A word has to be complete, and the start of a hexadecimal number is no zero.
        if is_word(&text) || text.len() <= 3 && matches!(text[..], [.., b'x' | b'X']) {
            return Ok(None);
        }
        while !text.is_empty() && number::parse(&text).is_none() {
            text.pop();
        }
        Ok(number::parse(&text))
    }
}

/// A number's text without its sign.
fn without_sign(text: &[u8]) -> &[u8] {
    match text {
        [b'+' | b'-', rest @ ..] => rest,
        _ => text,
    }
}

/// Whether a text is the start of `nan` or of `infinity`, and no end of one.
fn is_word(text: &[u8]) -> bool {
    let text = without_sign(text);
    matches!(text, [b'i' | b'I' | b'n' | b'N', ..]) && text.len() != 3 && text.len() != 8
}

/// Whether a byte may come behind what was taken of a number.
fn may_follow(text: &[u8], byte: u8) -> bool {
    let (digits, byte) = (without_sign(text), byte.to_ascii_lowercase());
    let is_first = digits.is_empty();
    match digits {
        [b'n' | b'N', ..] => return b"nan".get(digits.len()) == Some(&byte),
        [b'i' | b'I', ..] => return b"infinity".get(digits.len()) == Some(&byte),
        _ => {}
    }
    let is_hexadecimal = matches!(digits, [b'0', b'x' | b'X', ..]);
    let (letter, digits) = if is_hexadecimal { (b'p', &digits[2..]) } else { (b'e', digits) };
    let exponent = digits.iter().position(|digit| digit.eq_ignore_ascii_case(&letter));
    match byte {
        b'+' | b'-' if text.is_empty() => true,
        b'+' | b'-' => exponent.is_some_and(|at| at + 1 == digits.len()),
        b'0'..=b'9' => true,
        b'a'..=b'f' if is_hexadecimal && exponent.is_none() => true,
        b'i' | b'n' => is_first,
        b'x' => !is_hexadecimal && digits == b"0",
        b'.' => exponent.is_none() && !digits.contains(&b'.'),
        _ => byte == letter && exponent.is_none() && digits.iter().any(u8::is_ascii_hexdigit),
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        let _ = self.flush();
        self.file = None;
        if let Some(child) = &mut self.child {
            let _ = child.wait();
        }
    }
}

/// Makes a file with a name that no other has.
pub(crate) fn temporary_file() -> io::Result<(std::path::PathBuf, File)> {
    let folder = if cfg!(unix) { "/tmp".into() } else { std::env::temp_dir() };
    loop {
        let seed = RandomState::new().build_hasher().finish();
        let letter = |position| {
            let letters = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
            char::from(letters[(seed / 62u64.pow(position) % 62) as usize])
        };
        let name: String = (0..6).map(letter).collect();
        let path = folder.join(format!("lua_{name}"));
        match OpenOptions::new().read(true).write(true).create_new(true).open(&path) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            file => return file.map(|file| (path, file)),
        }
    }
}

/// What C says of an error, and its number.
pub(crate) fn error_text(error: &io::Error) -> (String, i32) {
    let text = error.to_string();
    match error.raw_os_error() {
        Some(number) => {
            (text.strip_suffix(&format!(" (os error {number})")).unwrap_or(&text).to_string(), number)
        }
        None => (text, 0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn streams_of_the_process_are_its_files_and_stay_open() {
        use std::os::fd::AsRawFd;
        type Open = fn() -> Stream;
        let streams: [Open; 3] = [Stream::stdin, Stream::stdout, Stream::stderr];
        for (number, open) in streams.into_iter().enumerate() {
            let stream = open();
            let is = stream.file().expect("the test has it").as_raw_fd();
            assert_eq!(is, number as i32, "no other name of the file");
            drop(stream);
            assert!(open().file().expect("it is open").metadata().is_ok());
        }
    }

    fn with(text: &[u8]) -> Stream {
        let mut stream = Stream::temporary().expect("a file");
        stream.write(text).expect("it is written");
        stream.seek(SeekFrom::Start(0)).expect("its start");
        stream
    }

    #[test]
    fn numbers_are_taken_as_by_scanf() {
        let cases: &[(&[u8], Option<f64>, &[u8])] = &[
            (b" 12 x", Some(12.0), b" x"),
            (b"-.5e1,", Some(-5.0), b","),
            (b"0x1Fg", Some(31.0), b"g"),
            (b"0x", None, b""),
            (b"0x.", Some(0.0), b""),
            (b"1e+x", Some(1.0), b"x"),
            (b"8E i", Some(8.0), b" i"),
            (b"n7-3", None, b"-3"),
            (b"infin,x", None, b"x"),
            (b"-infi", None, b""),
            (b"--1", None, b"-1"),
            (b"abc", None, b"abc"),
            (b"1p5", Some(1.0), b"p5"),
            (b"0x1p5e", Some(32.0), b"e"),
            (b"\n+inf ", Some(f64::INFINITY), b" "),
            (b"1.5.5", Some(1.5), b".5"),
            (b"", None, b""),
        ];
        for (text, number, rest) in cases {
            let mut stream = with(text);
            let found = stream.read_number().expect("it is read");
            assert_eq!(found, *number, "{}", text.escape_ascii());
            let mut out = Vec::new();
            stream.read_bytes(usize::MAX, &mut out).expect("it is read");
            assert_eq!(out, *rest, "{}", text.escape_ascii());
        }
    }

    #[test]
    fn reading_and_writing_take_turns() {
        let mut stream = with(b"one\ntwo\nthree");
        let mut line = Vec::new();
        assert!(stream.read_line(&mut line).expect("a line"));
        stream.write(b"TWO").expect("it is written");
        assert_eq!(stream.seek(SeekFrom::Current(0)).expect("a position"), 7);
        for expected in ["", "three"] {
            line.clear();
            assert!(stream.read_line(&mut line).expect("a line"));
            assert_eq!(line, expected.as_bytes());
        }
        assert!(!stream.read_line(&mut line).expect("the end"));
        assert!(stream.is_at_end().expect("the end"));
        stream.seek(SeekFrom::Start(0)).expect("the start");
        line.clear();
        stream.read_bytes(100, &mut line).expect("all");
        assert_eq!(line, b"one\nTWO\nthree");
    }

    #[test]
    fn lines_may_be_longer_than_what_is_read_at_once() {
        let long = vec![b'x'; 3 * SIZE + 1];
        let mut stream = with(&[&long[..], b"\ny"].concat());
        let mut line = Vec::new();
        assert!(stream.read_line(&mut line).expect("a line"));
        assert_eq!(line, long);
        assert!(!stream.is_at_end().expect("there is more"));
    }

    #[test]
    fn errors_have_the_texts_of_c() {
        let error = Stream::open(Path::new("/no/such/file"), b"r").expect_err("there is none");
        assert_eq!(error_text(&error), ("No such file or directory".into(), 2));
        let error = Stream::open(Path::new("x"), b"q").expect_err("a wrong mode");
        assert_eq!(error_text(&error), ("Invalid argument".into(), 22));
        let error = Stream::stdout().read_line(&mut Vec::new()).expect_err("it is for writing");
        assert_eq!(error_text(&error), ("Bad file descriptor".into(), 9));
    }
}
