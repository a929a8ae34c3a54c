//! The error numbers of WASI, and the conversion from system errors.

use std::io::{self, ErrorKind};

/// The error numbers that this implementation returns. The values are the interface's.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u16)]
pub enum Errno {
    /// Success.
    Success = 0,
    /// Permission denied by the system.
    Access = 2,
    /// Nothing is available now.
    Again = 6,
    /// The descriptor does not exist, or does not support the operation.
    BadDescriptor = 8,
    /// The file is in use.
    Busy = 10,
    /// The file exists already.
    Exist = 20,
    /// An address is outside of the memory.
    Fault = 21,
    /// A file would become too large.
    TooBig = 22,
    /// A path is not UTF-8.
    IllegalBytes = 25,
    /// A signal interrupted the call.
    Interrupted = 27,
    /// An argument is invalid.
    Invalid = 28,
    /// The device failed, or the system's error has no other equivalent.
    Io = 29,
    /// The file is a folder.
    IsDirectory = 31,
    /// Too many links had to be followed.
    Loop = 32,
    /// Too many files are open.
    TooManyFiles = 33,
    /// A file has too many hard links.
    TooManyLinks = 34,
    /// A name or path is too long.
    NameTooLong = 37,
    /// The file does not exist.
    NoEntry = 44,
    /// The system is out of memory.
    NoMemory = 48,
    /// The device is full.
    NoSpace = 51,
    /// The file is not a folder.
    NotDirectory = 54,
    /// The folder is not empty.
    NotEmpty = 55,
    /// The operation is not supported.
    Unsupported = 58,
    /// A number does not fit.
    Overflow = 61,
    /// The other end of the pipe is closed.
    Pipe = 64,
    /// The folder is read-only.
    ReadOnly = 69,
    /// A stream has no offset.
    NoSeek = 70,
    /// The two files are on different devices.
    CrossDevice = 75,
    /// The descriptor lacks the right, or a path leads out of the folder that it starts from.
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
