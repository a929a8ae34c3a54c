//! Error numbers of WASI, and which of them an error of the system is.

use std::io::{self, ErrorKind};

/// What a function of WASI returns. Those that this implementation gives; the numbers are the interface's.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u16)]
pub enum Errno {
    /// It worked.
    Success = 0,
    /// The system refuses.
    Access = 2,
    /// Nothing is there now.
    Again = 6,
    /// There is no such descriptor, or it cannot do this.
    BadDescriptor = 8,
    /// Someone else uses it.
    Busy = 10,
    /// There is such a file already.
    Exist = 20,
    /// An address lies outside of the memory.
    Fault = 21,
    /// A file would be too large.
    TooBig = 22,
    /// A path is not UTF-8.
    IllegalBytes = 25,
    /// A signal came first.
    Interrupted = 27,
    /// An argument makes no sense.
    Invalid = 28,
    /// The device failed, or the system has no better word.
    Io = 29,
    /// It is a folder.
    IsDirectory = 31,
    /// Links lead on and on.
    Loop = 32,
    /// Too many files are open.
    TooManyFiles = 33,
    /// A file has too many names.
    TooManyLinks = 34,
    /// A name or path is too long.
    NameTooLong = 37,
    /// There is no such file.
    NoEntry = 44,
    /// The system has no memory left.
    NoMemory = 48,
    /// There is no room left.
    NoSpace = 51,
    /// It is not a folder.
    NotDirectory = 54,
    /// Something is in the folder.
    NotEmpty = 55,
    /// There is no such thing here.
    Unsupported = 58,
    /// A number does not fit.
    Overflow = 61,
    /// Nobody reads what is written.
    Pipe = 64,
    /// The folder was given to be read only.
    ReadOnly = 69,
    /// A stream has no positions.
    NoSeek = 70,
    /// A file would have to move to another device.
    CrossDevice = 75,
    /// The descriptor was not given for this, or a path leads out of the folder it starts from.
    NotCapable = 76,
}

impl From<io::Error> for Errno {
    fn from(error: io::Error) -> Errno {
        match error.kind() {
            ErrorKind::NotFound => Errno::NoEntry,
            ErrorKind::PermissionDenied => Errno::Access,
            ErrorKind::WouldBlock => Errno::Again,
            ErrorKind::Interrupted => Errno::Interrupted,
            ErrorKind::InvalidInput => Errno::Invalid,
            ErrorKind::IsADirectory => Errno::IsDirectory,
            ErrorKind::NotADirectory => Errno::NotDirectory,
            ErrorKind::InvalidFilename => Errno::NameTooLong,
            ErrorKind::OutOfMemory => Errno::NoMemory,
            ErrorKind::BrokenPipe => Errno::Pipe,
            ErrorKind::Unsupported => Errno::Unsupported,
            ErrorKind::ResourceBusy => Errno::Busy,
            ErrorKind::AlreadyExists => Errno::Exist,
            ErrorKind::FileTooLarge => Errno::TooBig,
            ErrorKind::TooManyLinks => Errno::TooManyLinks,
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded => Errno::NoSpace,
            ErrorKind::DirectoryNotEmpty => Errno::NotEmpty,
            ErrorKind::ReadOnlyFilesystem => Errno::ReadOnly,
            ErrorKind::CrossesDevices => Errno::CrossDevice,
            ErrorKind::NotSeekable => Errno::NoSeek,
            _ => Errno::Io,
        }
    }
}
