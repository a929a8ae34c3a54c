//! What the library keeps from one call to the next.
//!
//! In: nothing. Out: memory that is used again, compiled patterns, the state of random numbers, and the files that are open.

use crate::object::heap::Gc;
use crate::object::table::Table;
use crate::random::Random;
use crate::stream::Stream;
use crate::strings::{Matcher, Patterns};
use std::cell::RefCell;
use std::io;
use std::rc::{Rc, Weak};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// A file that the program has: a value of Rust in a userdata.
#[derive(Debug)]
pub(crate) struct OpenFile {
    /// `None` once it was closed.
    pub(crate) stream: RefCell<Option<Stream>>,
    /// Whether it is one of the three that a program starts with, which it cannot close.
    pub(crate) is_standard: bool,
}

impl OpenFile {
    fn standard(stream: Stream) -> Rc<OpenFile> {
        Rc::new(OpenFile { stream: RefCell::new(Some(stream)), is_standard: true })
    }

    /// Writes what is held back. Nobody hears of an error here: there is nobody to tell.
    pub(crate) fn flush(&self) {
        if let Some(stream) = &mut *self.stream.borrow_mut() {
            let _ = stream.flush();
        }
    }
}

/// Writes to a file that others have, too. When that is closed, all is lost.
#[derive(Debug)]
pub(crate) struct FileWriter(Rc<OpenFile>);

impl OpenFile {
    /// Who writes here as Rust does.
    pub(crate) fn writer(self: &Rc<OpenFile>) -> FileWriter {
        FileWriter(Rc::clone(self))
    }
}

impl io::Write for FileWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if let Some(stream) = &mut *self.0.stream.borrow_mut() {
            stream.write(bytes)?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.stream.borrow_mut().as_mut().map_or(Ok(()), Stream::flush)
    }
}

/// The files of a program.
#[derive(Debug)]
pub(crate) struct Files {
    pub(crate) stdin: Rc<OpenFile>,
    pub(crate) stdout: Rc<OpenFile>,
    pub(crate) stderr: Rc<OpenFile>,
    /// All others that are there: what they hold back is written when the process ends.
    others: Vec<Weak<OpenFile>>,
    /// The metatable of files, once there is one. The heap keeps it.
    pub(crate) metatable: Option<Gc<Table>>,
    /// The default files: element 1 is for input, element 2 for output. The heap keeps it.
    pub(crate) defaults: Option<Gc<Table>>,
}

impl Files {
    /// Notes a stream.
    pub(crate) fn open(&mut self, stream: Stream) -> Rc<OpenFile> {
        if self.others.len() == self.others.capacity() {
            self.others.retain(|file| file.strong_count() > 0);
        }
        let file = Rc::new(OpenFile { stream: RefCell::new(Some(stream)), is_standard: false });
        self.others.push(Rc::downgrade(&file));
        file
    }

    /// Writes what all files hold back, as C does when a process ends.
    pub(crate) fn flush(&self) {
        self.stdout.flush();
        self.stderr.flush();
        self.others.iter().filter_map(Weak::upgrade).for_each(|file| file.flush());
    }
}

/// What the library keeps.
#[derive(Debug)]
pub(crate) struct LibraryState {
    buffer: Vec<u8>,
    pub(crate) patterns: Patterns,
    pub(crate) matcher: Matcher,
    /// Whether searches are to stop, if somebody may ask for that.
    pub(crate) stop: Option<Arc<AtomicBool>>,
    pub(crate) random: Random,
    pub(crate) files: Files,
}

impl Default for LibraryState {
    fn default() -> Self {
        let files = Files {
            stdin: OpenFile::standard(Stream::stdin()),
            stdout: OpenFile::standard(Stream::stdout()),
            stderr: OpenFile::standard(Stream::stderr()),
            others: Vec::new(),
            metatable: None,
            defaults: None,
        };
        LibraryState {
            buffer: Vec::new(),
            patterns: Patterns::default(),
            matcher: Matcher::new(),
            stop: None,
            random: Random::new(0),
            files,
        }
    }
}

impl LibraryState {
    /// Empty memory for a text. Whoever takes it brings it back.
    pub(crate) fn take_buffer(&mut self) -> Vec<u8> {
        let mut buffer = std::mem::take(&mut self.buffer);
        buffer.clear();
        buffer
    }

    /// Brings back memory, so that the next text needs none.
    pub(crate) fn bring_back(&mut self, buffer: Vec<u8>) {
        /// More than this is not kept.
        const MOST: usize = 1 << 20;
        if buffer.capacity() <= MOST {
            self.buffer = buffer;
        }
    }
}
