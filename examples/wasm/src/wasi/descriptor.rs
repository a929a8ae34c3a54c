//! Descriptors: the streams, open files and folders, and the operations on them.

use super::guest::Guest;
use super::path::Location;
use super::{Access, Errno, Stop, Wasi};
use std::fs::{self, File, FileType, Metadata};
use std::io::{ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

/// The default limit of a process on common systems.
const MOST_DESCRIPTORS: usize = 1024;

/// The size of a directory entry without its name, in bytes.
const ENTRY: usize = 24;

/// The rights of a descriptor, as the interface encodes them.
pub(super) mod rights {
    pub(super) const SYNC_DATA: u64 = 1;
    pub(in super::super) const READ: u64 = 1 << 1;
    pub(super) const SEEK: u64 = 1 << 2;
    pub(super) const SET_FLAGS: u64 = 1 << 3;
    pub(super) const SYNC: u64 = 1 << 4;
    pub(super) const TELL: u64 = 1 << 5;
    pub(super) const WRITE: u64 = 1 << 6;
    pub(super) const ADVISE: u64 = 1 << 7;
    pub(super) const ALLOCATE: u64 = 1 << 8;
    pub(super) const OPEN: u64 = 1 << 13;
    pub(super) const READ_FOLDER: u64 = 1 << 14;
    pub(super) const READ_LINK: u64 = 1 << 15;
    pub(super) const PATH_STATUS: u64 = 1 << 18;
    pub(super) const STATUS: u64 = 1 << 21;
    pub(super) const SET_SIZE: u64 = 1 << 22;
    pub(super) const SET_TIMES: u64 = 1 << 23;
    pub(super) const POLL: u64 = 1 << 27;

    pub(super) const OF_FILE: u64 = READ | SEEK | TELL | ADVISE | STATUS | POLL;
    pub(super) const OF_FOLDER: u64 = OPEN | READ_FOLDER | READ_LINK | PATH_STATUS | STATUS;
    /// Requesting one of these rights means opening the file for changes.
    pub(in super::super) const TO_CHANGE: u64 = WRITE | ALLOCATE | SET_SIZE;
    /// The additional rights on files that may be changed.
    pub(super) const OF_CHANGED_FILE: u64 =
        WRITE | SET_FLAGS | SYNC | SYNC_DATA | ALLOCATE | SET_SIZE | SET_TIMES;
    /// Create, link and rename folders and files (two bits each), set sizes and times by path, remove files and folders.
    pub(super) const OF_CHANGED_FOLDER: u64 = 1 << 9
        | 1 << 10
        | 1 << 11
        | 1 << 12
        | 1 << 16
        | 1 << 17
        | 1 << 19
        | 1 << 20
        | 1 << 24
        | 1 << 25
        | 1 << 26;
}

/// The file types of the interface.
mod kind {
    pub(super) const UNKNOWN: u8 = 0;
    pub(super) const CHARACTERS: u8 = 2;
    pub(super) const FOLDER: u8 = 3;
    pub(super) const FILE: u8 = 4;
    pub(super) const LINK: u8 = 7;
}

/// The descriptor flag for appending.
pub(super) const APPEND: u32 = 1;

fn kind_of(kind: FileType) -> u8 {
    match kind {
        kind if kind.is_dir() => kind::FOLDER,
        kind if kind.is_file() => kind::FILE,
        kind if kind.is_symlink() => kind::LINK,
        _ => kind::UNKNOWN,
    }
}

/// An open stream, file or folder.
pub(super) enum Descriptor {
    /// A stream to read from.
    Input(Box<dyn Read>),
    /// A stream to write to.
    Output(Box<dyn Write>),
    /// A file.
    File(OpenFile),
    /// A folder.
    Folder(Folder),
}

/// An open file.
pub(super) struct OpenFile {
    pub(super) file: File,
    /// Whether it may be read.
    pub(super) reads: bool,
    /// Whether it may also be changed.
    pub(super) access: Access,
    /// Whether writes append.
    pub(super) appends: bool,
}

/// An open folder. Paths relative to it stay below it.
pub(super) struct Folder {
    pub(super) place: Location,
    pub(super) access: Access,
    /// The guest's name for it, if it is preopened.
    name: Option<Box<str>>,
    /// The entries, as of the start of reading the folder.
    entries: Vec<Entry>,
}

/// An entry of a folder.
struct Entry {
    name: String,
    node: u64,
    kind: u8,
}

impl Descriptor {
    pub(super) fn input(stream: impl Read + 'static) -> Descriptor {
        Descriptor::Input(Box::new(stream))
    }

    pub(super) fn output(stream: impl Write + 'static) -> Descriptor {
        Descriptor::Output(Box::new(stream))
    }

    /// The file type, the rights, and the rights of files opened relative to it.
    fn kind_and_rights(&self) -> (u8, u64, u64) {
        match self {
            Descriptor::Input(_) => (kind::CHARACTERS, rights::READ | rights::POLL, 0),
            Descriptor::Output(_) => (kind::CHARACTERS, rights::WRITE | rights::POLL, 0),
            Descriptor::File(file) => {
                (kind::FILE, file.access.rights(rights::OF_FILE, rights::OF_CHANGED_FILE), 0)
            }
            Descriptor::Folder(folder) => {
                let own = folder.access.rights(rights::OF_FOLDER, rights::OF_CHANGED_FOLDER);
                let files = folder.access.rights(rights::OF_FILE, rights::OF_CHANGED_FILE);
                (kind::FOLDER, own, own | files)
            }
        }
    }
}

impl Access {
    fn rights(self, to_read: u64, to_change: u64) -> u64 {
        match self {
            Access::Read => to_read,
            Access::Write => to_read | to_change,
        }
    }

    /// Fails unless changes are permitted.
    pub(super) fn demand_write(self) -> Result<(), Errno> {
        if self == Access::Write { Ok(()) } else { Err(Errno::ReadOnly) }
    }
}

impl OpenFile {
    /// The file, if it may be read.
    fn for_reading(&mut self) -> Result<&mut File, Errno> {
        if self.reads { Ok(&mut self.file) } else { Err(Errno::NotCapable) }
    }

    /// The file, if it may be changed.
    pub(super) fn for_change(&mut self) -> Result<&mut File, Errno> {
        if self.access == Access::Write { Ok(&mut self.file) } else { Err(Errno::NotCapable) }
    }
}

impl Folder {
    pub(super) fn new(place: Location, access: Access) -> Folder {
        Folder { place, access, name: None, entries: Vec::new() }
    }

    /// A preopened folder.
    pub(super) fn given(path: PathBuf, name: &str, access: Access) -> Folder {
        Folder { name: Some(name.into()), ..Folder::new(Location::root(path), access) }
    }

    /// Reads the entries of the folder, sorted by name after `.` and `..`. Names that are not UTF-8
    /// are omitted, since the interface cannot represent them.
    fn read(&mut self) -> Result<(), Errno> {
        self.entries =
            [".", ".."].map(|name| Entry { name: name.into(), node: 0, kind: kind::FOLDER }).into();
        for entry in fs::read_dir(self.place.find()?)? {
            let entry = entry?;
            if let Ok(name) = entry.file_name().into_string() {
                self.entries.push(Entry { name, node: node(&entry), kind: kind_of(entry.file_type()?) });
            }
        }
        self.entries[2..].sort_by(|a, b| a.name.cmp(&b.name));
        Ok(())
    }
}

#[cfg(unix)]
fn node(entry: &fs::DirEntry) -> u64 {
    std::os::unix::fs::DirEntryExt::ino(entry)
}

#[cfg(not(unix))]
fn node(_entry: &fs::DirEntry) -> u64 {
    0
}

/// The device, inode number and link count, where the system has them.
#[cfg(unix)]
fn identity(metadata: &Metadata) -> [u64; 3] {
    use std::os::unix::fs::MetadataExt;
    [metadata.dev(), metadata.ino(), metadata.nlink()]
}

#[cfg(not(unix))]
fn identity(_metadata: &Metadata) -> [u64; 3] {
    [0, 0, 1]
}

/// Writes buffers in order, until one cannot be written completely.
fn write_parts(guest: &Guest<'_>, parts: &[(u64, u64)], to: &mut dyn Write) -> Result<u32, Errno> {
    let mut total = 0u32;
    for &(address, length) in parts {
        let mut bytes = guest.bytes(address, length)?;
        while !bytes.is_empty() {
            match to.write(bytes) {
                Ok(0) => return Ok(total),
                Ok(count) => (bytes, total) = (&bytes[count..], total + count as u32),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                // The bytes written so far are reported first. The error recurs in the next call.
                Err(_) if total > 0 => return Ok(total),
                Err(error) => return Err(error.into()),
            }
        }
    }
    Ok(total)
}

/// Writes the status of a file in the interface's layout.
pub(super) fn put_status(guest: &mut Guest<'_>, at: u32, metadata: &Metadata) -> Result<(), Errno> {
    let [device, node, links] = identity(metadata);
    let time = |time: std::io::Result<SystemTime>| {
        let since = time.ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        since.and_then(|since| u64::try_from(since.as_nanos()).ok()).unwrap_or(0)
    };
    let (accessed, modified) = (time(metadata.accessed()), time(metadata.modified()));
    let kind = u64::from(kind_of(metadata.file_type()));
    put_words(guest, at, [device, node, kind, links, metadata.len(), accessed, modified, modified])
}

fn put_words<const N: usize>(guest: &mut Guest<'_>, at: u32, words: [u64; N]) -> Result<(), Errno> {
    guest.put(at.into(), words.map(u64::to_le_bytes).as_flattened())
}

/// Reads into buffers in order, until one is not filled. A stream is read only once, because another read could block.
fn read_parts(
    guest: &mut Guest<'_>,
    parts: &[(u64, u64)],
    source: &mut dyn Read,
    is_stream: bool,
) -> Result<u32, Errno> {
    let mut total = 0u32;
    for &(address, length) in parts.iter().filter(|(_, length)| *length > 0) {
        let buffer = guest.bytes_mut(address, length)?;
        let count = loop {
            match source.read(buffer) {
                Ok(count) => break count,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) if total > 0 => return Ok(total),
                Err(error) => return Err(error.into()),
            }
        };
        total += count as u32;
        if is_stream || (count as u64) < length {
            break;
        }
    }
    Ok(total)
}

impl Wasi {
    /// The descriptor with this number.
    pub(super) fn descriptor(&mut self, fd: u32) -> Result<&mut Descriptor, Errno> {
        let slot = self.descriptors.get_mut(fd as usize).and_then(Option::as_mut);
        slot.ok_or(Errno::BadDescriptor)
    }

    /// The folder with this number.
    pub(super) fn folder_at(&mut self, fd: u32) -> Result<&Folder, Errno> {
        match self.descriptor(fd)? {
            Descriptor::Folder(folder) => Ok(folder),
            _ => Err(Errno::NotDirectory),
        }
    }

    /// The open file with this number.
    pub(super) fn file(&mut self, fd: u32) -> Result<&mut OpenFile, Errno> {
        match self.descriptor(fd)? {
            Descriptor::File(file) => Ok(file),
            Descriptor::Folder(_) => Err(Errno::IsDirectory),
            Descriptor::Input(_) | Descriptor::Output(_) => Err(Errno::NoSeek),
        }
    }

    /// The guest's name for a preopened folder.
    fn given(&mut self, fd: u32) -> Result<&str, Errno> {
        match self.descriptor(fd)? {
            Descriptor::Folder(Folder { name: Some(name), .. }) => Ok(name),
            _ => Err(Errno::BadDescriptor),
        }
    }

    /// Assigns the lowest free number to a descriptor.
    pub(super) fn insert(&mut self, descriptor: Descriptor) -> Result<u32, Errno> {
        let free = self.descriptors.iter().position(Option::is_none);
        let fd = free.unwrap_or(self.descriptors.len());
        if fd >= MOST_DESCRIPTORS {
            return Err(Errno::TooManyFiles);
        }
        if fd == self.descriptors.len() {
            self.descriptors.push(None);
        }
        self.descriptors[fd] = Some(descriptor);
        Ok(fd as u32)
    }

    pub(super) fn fd_advise(
        &mut self,
        _guest: &mut Guest<'_>,
        fd: u32,
        _offset: u64,
        _length: u64,
        advice: u32,
    ) -> Result<(), Stop> {
        self.file(fd)?;
        // There are six kinds of advice, and none of them has an effect.
        if advice < 6 { Ok(()) } else { Err(Errno::Invalid.into()) }
    }

    pub(super) fn fd_close(&mut self, _guest: &mut Guest<'_>, fd: u32) -> Result<(), Stop> {
        self.descriptor(fd)?;
        self.descriptors[fd as usize] = None;
        Ok(())
    }

    pub(super) fn fd_sync(&mut self, _guest: &mut Guest<'_>, fd: u32) -> Result<(), Stop> {
        match self.descriptor(fd)? {
            Descriptor::Output(stream) => stream.flush()?,
            Descriptor::File(OpenFile { file, access: Access::Write, .. }) => file.sync_all()?,
            _ => {}
        }
        Ok(())
    }

    pub(super) fn fd_datasync(&mut self, guest: &mut Guest<'_>, fd: u32) -> Result<(), Stop> {
        match self.descriptor(fd)? {
            Descriptor::File(OpenFile { file, access: Access::Write, .. }) => Ok(file.sync_data()?),
            _ => self.fd_sync(guest, fd),
        }
    }

    pub(super) fn fd_allocate(
        &mut self,
        _guest: &mut Guest<'_>,
        fd: u32,
        offset: u64,
        length: u64,
    ) -> Result<(), Stop> {
        let file = self.file(fd)?.for_change()?;
        let end = offset.checked_add(length).filter(|_| length > 0).ok_or(Errno::Invalid)?;
        // The file never shrinks, and the added bytes read as zeros.
        if file.metadata()?.len() < end {
            file.set_len(end)?;
        }
        Ok(())
    }

    pub(super) fn fd_filestat_set_size(
        &mut self,
        _guest: &mut Guest<'_>,
        fd: u32,
        size: u64,
    ) -> Result<(), Stop> {
        Ok(self.file(fd)?.for_change()?.set_len(size)?)
    }

    pub(super) fn fd_fdstat_get(&mut self, guest: &mut Guest<'_>, fd: u32, result: u32) -> Result<(), Stop> {
        let descriptor = self.descriptor(fd)?;
        let flags = match descriptor {
            Descriptor::File(file) if file.appends => APPEND,
            _ => 0,
        };
        let (kind, base, inheriting) = descriptor.kind_and_rights();
        // The flags are at offset 2, after the type.
        Ok(put_words(guest, result, [u64::from(kind) | u64::from(flags) << 16, base, inheriting])?)
    }

    pub(super) fn fd_fdstat_set_flags(
        &mut self,
        _guest: &mut Guest<'_>,
        fd: u32,
        flags: u32,
    ) -> Result<(), Stop> {
        match self.descriptor(fd)? {
            Descriptor::File(file) if flags & !APPEND == 0 => file.appends = flags & APPEND != 0,
            _ if flags == 0 => {}
            _ => return Err(Errno::Unsupported.into()),
        }
        Ok(())
    }

    pub(super) fn fd_filestat_get(
        &mut self,
        guest: &mut Guest<'_>,
        fd: u32,
        result: u32,
    ) -> Result<(), Stop> {
        let metadata = match self.descriptor(fd)? {
            Descriptor::File(file) => file.file.metadata()?,
            Descriptor::Folder(folder) => fs::symlink_metadata(folder.place.find()?)?,
            stream => {
                let kind = u64::from(stream.kind_and_rights().0);
                return Ok(put_words(guest, result, [0, 0, kind, 0, 0, 0, 0, 0])?);
            }
        };
        Ok(put_status(guest, result, &metadata)?)
    }

    pub(super) fn fd_prestat_get(&mut self, guest: &mut Guest<'_>, fd: u32, result: u32) -> Result<(), Stop> {
        let length = self.given(fd)?.len() as u64;
        // The only type of preopened file, a folder, is encoded as zero. The length follows.
        Ok(put_words(guest, result, [length << 32])?)
    }

    pub(super) fn fd_prestat_dir_name(
        &mut self,
        guest: &mut Guest<'_>,
        fd: u32,
        path: u32,
        length: u32,
    ) -> Result<(), Stop> {
        let name = self.given(fd)?;
        if (length as usize) < name.len() {
            return Err(Errno::NameTooLong.into());
        }
        Ok(guest.put(path.into(), name.as_bytes())?)
    }

    pub(super) fn fd_read(
        &mut self,
        guest: &mut Guest<'_>,
        fd: u32,
        parts: u32,
        count: u32,
        result: u32,
    ) -> Result<(), Stop> {
        let parts = guest.parts(parts, count)?;
        let total = match self.descriptor(fd)? {
            Descriptor::Input(stream) => read_parts(guest, &parts, stream, true)?,
            Descriptor::File(file) => read_parts(guest, &parts, file.for_reading()?, false)?,
            Descriptor::Folder(_) => return Err(Errno::IsDirectory.into()),
            Descriptor::Output(_) => return Err(Errno::NotCapable.into()),
        };
        Ok(guest.put_u32(result, total)?)
    }

    pub(super) fn fd_pread(
        &mut self,
        guest: &mut Guest<'_>,
        fd: u32,
        parts: u32,
        count: u32,
        offset: u64,
        result: u32,
    ) -> Result<(), Stop> {
        let parts = guest.parts(parts, count)?;
        let file = self.file(fd)?.for_reading()?;
        let place = file.stream_position()?;
        file.seek(SeekFrom::Start(offset))?;
        let total = read_parts(guest, &parts, file, false);
        file.seek(SeekFrom::Start(place))?;
        Ok(guest.put_u32(result, total?)?)
    }

    pub(super) fn fd_pwrite(
        &mut self,
        guest: &mut Guest<'_>,
        fd: u32,
        parts: u32,
        count: u32,
        offset: u64,
        result: u32,
    ) -> Result<(), Stop> {
        let parts = guest.parts(parts, count)?;
        guest.bytes(result.into(), 4)?;
        let file = self.file(fd)?.for_change()?;
        let place = file.stream_position()?;
        file.seek(SeekFrom::Start(offset))?;
        let total = write_parts(guest, &parts, file);
        file.seek(SeekFrom::Start(place))?;
        Ok(guest.put_u32(result, total?)?)
    }

    pub(super) fn fd_write(
        &mut self,
        guest: &mut Guest<'_>,
        fd: u32,
        parts: u32,
        count: u32,
        result: u32,
    ) -> Result<(), Stop> {
        let parts = guest.parts(parts, count)?;
        guest.bytes(result.into(), 4)?;
        let total = match self.descriptor(fd)? {
            Descriptor::Output(stream) => {
                let total = write_parts(guest, &parts, stream)?;
                // The guest does its own buffering.
                stream.flush()?;
                total
            }
            Descriptor::File(file) => {
                let appends = file.appends;
                let file = file.for_change()?;
                if appends {
                    file.seek(SeekFrom::End(0))?;
                }
                write_parts(guest, &parts, file)?
            }
            Descriptor::Input(_) | Descriptor::Folder(_) => return Err(Errno::NotCapable.into()),
        };
        Ok(guest.put_u32(result, total)?)
    }

    pub(super) fn fd_readdir(
        &mut self,
        guest: &mut Guest<'_>,
        fd: u32,
        buffer: u32,
        length: u32,
        cookie: u64,
        result: u32,
    ) -> Result<(), Stop> {
        let out = guest.bytes_mut(buffer.into(), length.into())?;
        let Descriptor::Folder(folder) = self.descriptor(fd)? else { return Err(Errno::NotDirectory.into()) };
        if cookie == 0 {
            folder.read()?;
        }
        let mut used = 0;
        let start = usize::try_from(cookie).unwrap_or(usize::MAX);
        for (at, entry) in folder.entries.iter().enumerate().skip(start) {
            let mut head = [0; ENTRY];
            head[..8].copy_from_slice(&(at as u64 + 1).to_le_bytes());
            head[8..16].copy_from_slice(&entry.node.to_le_bytes());
            head[16..20].copy_from_slice(&(entry.name.len() as u32).to_le_bytes());
            head[20] = entry.kind;
            // The last entry is truncated at the end of the buffer, which tells the guest that there are more.
            for bytes in [&head[..], entry.name.as_bytes()] {
                let count = bytes.len().min(out.len() - used);
                out[used..used + count].copy_from_slice(&bytes[..count]);
                used += count;
            }
            if used == out.len() {
                break;
            }
        }
        Ok(guest.put_u32(result, used as u32)?)
    }

    pub(super) fn fd_renumber(&mut self, _guest: &mut Guest<'_>, fd: u32, to: u32) -> Result<(), Stop> {
        self.descriptor(fd)?;
        self.descriptor(to)?;
        let moved = self.descriptors[fd as usize].take();
        self.descriptors[to as usize] = moved;
        Ok(())
    }

    pub(super) fn fd_seek(
        &mut self,
        guest: &mut Guest<'_>,
        fd: u32,
        offset: u64,
        whence: u32,
        result: u32,
    ) -> Result<(), Stop> {
        let from = match whence {
            0 => SeekFrom::Start(u64::try_from(offset as i64).map_err(|_| Errno::Invalid)?),
            1 => SeekFrom::Current(offset as i64),
            2 => SeekFrom::End(offset as i64),
            _ => return Err(Errno::Invalid.into()),
        };
        let place = self.file(fd)?.file.seek(from)?;
        Ok(guest.put_u64(result, place)?)
    }

    pub(super) fn fd_tell(&mut self, guest: &mut Guest<'_>, fd: u32, result: u32) -> Result<(), Stop> {
        let place = self.file(fd)?.file.stream_position()?;
        Ok(guest.put_u64(result, place)?)
    }
}
