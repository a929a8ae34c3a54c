//! The file.
//!
//! In: pieces of code by their keys. Out: a file that says of which program it is, and where in it each piece is; and the pieces, from such a
//! file. It is mapped, and what nobody asks for is never read.
//!
//! A file is written beside the old one and then takes its place, so it never changes while it is mapped. Each piece has a sum of its bytes,
//! which is compared when it is asked for.

use super::Image;
use super::image::number;
use super::key::CodeKey;
use memmap2::Mmap;
use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write};
use std::path::Path;

/// What a file begins with, then the program, then the number of pieces.
const MAGIC: u64 = u64::from_le_bytes(*b"azulejo1");
const WORD: usize = size_of::<u64>();
const HEAD: usize = 3 * WORD;
/// An entry for each piece follows, sorted by keys: the key, the offset of the piece in the file, its size, and the sum of its bytes.
const ENTRY: usize = 4 * WORD;

/// A file that was written for this program.
#[derive(Debug)]
pub(super) struct File {
    bytes: Mmap,
    n_entries: usize,
}

/// An entry.
#[derive(Clone, Copy, Debug)]
struct FileEntry {
    key: CodeKey,
    start: u64,
    len: u64,
    sum: u64,
}

impl File {
    /// Reads a file. `None` if there is none, or if it is of another program, or not the user's own.
    pub(super) fn read(path: &Path, image: &Image) -> io::Result<Option<File>> {
        let file = match fs::File::open(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            file => file?,
        };
        let data = file.metadata()?;
        if !is_own(&data) || data.len() < HEAD as u64 {
            return Ok(None);
        }
        // SAFETY: whoever calls `load` promises that only `write` has written the file, and that changes no file that is there.
        let bytes = unsafe { Mmap::map(&file) }?;
        let file = File { n_entries: 0, bytes };
        let [magic, program, n_entries] = [0, 1, 2].map(|at| file.word(at * WORD));
        let fits = |n: &usize| {
            n.checked_mul(ENTRY)
                .and_then(|size| size.checked_add(HEAD))
                .is_some_and(|n| n <= file.bytes.len())
        };
        let n_entries = n_entries.and_then(|n| usize::try_from(n).ok()).filter(fits);
        let is_of_program = magic == Some(MAGIC) && program == Some(image.identity);
        Ok(n_entries.filter(|_| is_of_program).map(|n_entries| File { n_entries, ..file }))
    }

    fn word(&self, at: usize) -> Option<u64> {
        Some(u64::from_le_bytes(*self.bytes.get(at..)?.first_chunk()?))
    }

    fn entry(&self, number: usize) -> FileEntry {
        let word = |at: usize| self.word(HEAD + number * ENTRY + at * WORD).expect("the entries are there");
        FileEntry { key: CodeKey(word(0)), start: word(1), len: word(2), sum: word(3) }
    }

    fn entries(&self) -> impl Iterator<Item = FileEntry> {
        (0..self.n_entries).map(|number| self.entry(number))
    }

    /// The entry with this key.
    fn entry_of(&self, key: CodeKey) -> Option<FileEntry> {
        let (mut first, mut end) = (0, self.n_entries);
        while first < end {
            let middle = first.midpoint(end);
            let entry = self.entry(middle);
            match entry.key.cmp(&key) {
                std::cmp::Ordering::Equal => return Some(entry),
                std::cmp::Ordering::Less => first = middle + 1,
                std::cmp::Ordering::Greater => end = middle,
            }
        }
        None
    }

    /// The bytes of an entry, if they are those that were written.
    fn bytes_of(&self, entry: FileEntry) -> Option<&[u8]> {
        let (start, len) = (usize::try_from(entry.start).ok()?, usize::try_from(entry.len).ok()?);
        let bytes = self.bytes.get(start..)?.get(..len)?;
        (sum(entry.key, bytes) == entry.sum).then_some(bytes)
    }

    /// The piece with this key.
    pub(super) fn find(&self, key: CodeKey) -> Option<&[u8]> {
        self.bytes_of(self.entry_of(key)?)
    }

    /// Whether there is a piece with this key.
    pub(super) fn has(&self, key: CodeKey) -> bool {
        self.entry_of(key).is_some()
    }

    /// How many pieces there are.
    pub(super) fn len(&self) -> usize {
        self.n_entries
    }

    /// All pieces.
    pub(super) fn iter(&self) -> impl Iterator<Item = (CodeKey, &[u8])> {
        self.entries().filter_map(|entry| Some((entry.key, self.bytes_of(entry)?)))
    }
}

fn sum(key: CodeKey, bytes: &[u8]) -> u64 {
    number((key.0, bytes))
}

/// Writes a file. It has all at once what it is to have, whatever happens meanwhile.
pub(super) fn write(path: &Path, image: &Image, all: &BTreeMap<CodeKey, Vec<u8>>) -> io::Result<()> {
    let mut head = Vec::with_capacity(HEAD + all.len() * ENTRY);
    let mut put = |word: u64| head.extend_from_slice(&word.to_le_bytes());
    [MAGIC, image.identity, all.len() as u64].into_iter().for_each(&mut put);
    let mut start = HEAD + all.len() * ENTRY;
    for (key, bytes) in all {
        [key.0, start as u64, bytes.len() as u64, sum(*key, bytes)].into_iter().for_each(&mut put);
        start += bytes.len();
    }
    let pieces = all.values().flatten();
    head.extend(pieces);
    let (mut file, beside) = create_beside(path)?;
    let written = file.write_all(&head).and_then(|()| fs::rename(&beside, path));
    written.inspect_err(|_| _ = fs::remove_file(&beside))
}

/// Makes a new file that nobody else writes to, in the same folder.
fn create_beside(path: &Path) -> io::Result<(fs::File, std::path::PathBuf)> {
    let mut name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?.to_owned();
    name.push(format!(".{}", std::process::id()));
    let beside = path.with_file_name(name);
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    match options.open(&beside) {
        // A process with the same number has left it behind.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            fs::remove_file(&beside)?;
            options.open(&beside)
        }
        file => file,
    }
    .map(|file| (file, beside))
}

/// Whether a file is one that nobody but the user may have written.
#[cfg(unix)]
fn is_own(file: &fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    // SAFETY: this only tells a number.
    let user = unsafe { libc::geteuid() };
    file.is_file() && file.uid() == user && file.mode() & 0o022 == 0
}

#[cfg(not(unix))]
fn is_own(file: &fs::Metadata) -> bool {
    file.is_file()
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;
    use std::path::PathBuf;

    /// A path of a file that is removed in the end.
    struct Place(PathBuf);

    impl Drop for Place {
        fn drop(&mut self) {
            _ = fs::remove_file(&self.0);
        }
    }

    fn place(name: &str) -> Place {
        Place(std::env::temp_dir().join(format!("azulejo-saved-{name}-{}", std::process::id())))
    }

    fn pieces() -> BTreeMap<CodeKey, Vec<u8>> {
        (0..50u64)
            .map(|n| (CodeKey(n.wrapping_mul(0x1234_5678_9abc_def1)), vec![n as u8; n as usize]))
            .collect()
    }

    #[test]
    fn all_pieces_are_found_and_no_other() {
        let (place, image, all) = (place("all"), Image::test(0..1), pieces());
        write(&place.0, &image, &all).expect("it can be written");
        let file = File::read(&place.0, &image).expect("it can be read").expect("it is of this program");
        assert_eq!(file.len(), all.len());
        all.iter().for_each(|(key, bytes)| assert_eq!(file.find(*key), Some(&bytes[..])));
        assert!(file.iter().map(|(key, bytes)| (key, bytes.to_vec())).eq(all));
        assert!([1, u64::MAX].map(CodeKey).iter().all(|key| file.find(*key).is_none() && !file.has(*key)));
    }

    #[test]
    fn files_of_others_are_not_read() {
        let (place, image) = (place("others"), Image::test(0..1));
        assert!(File::read(&place.0, &image).expect("it is not there").is_none());
        write(&place.0, &image, &pieces()).expect("it can be written");
        let is_read = |image: &Image| File::read(&place.0, image).expect("it can be read").is_some();
        assert!(is_read(&image));
        assert!(!is_read(&Image::with_identity(0..1, 2)));
        let set = |mode| fs::set_permissions(&place.0, fs::Permissions::from_mode(mode)).expect("it is ours");
        set(0o620);
        assert!(!is_read(&image));
        set(0o600);
        assert!(is_read(&image));
    }

    #[test]
    fn damages_are_noticed() {
        let (place, image, all) = (place("damaged"), Image::test(0..1), pieces());
        write(&place.0, &image, &all).expect("it can be written");
        let bytes = fs::read(&place.0).expect("it is there");
        for at in (0..bytes.len()).step_by(3) {
            let mut damaged = bytes.clone();
            damaged[at] ^= 0x10;
            fs::write(&place.0, &damaged).expect("it can be written");
            let Some(file) = File::read(&place.0, &image).expect("it can be read") else { continue };
            for (key, bytes) in &all {
                assert!(file.find(*key).is_none_or(|found| found == bytes), "byte {at}");
            }
        }
        for len in 0..bytes.len() {
            fs::write(&place.0, &bytes[..len]).expect("it can be written");
            let Some(file) = File::read(&place.0, &image).expect("it can be read") else { continue };
            for (key, bytes) in &all {
                assert!(file.find(*key).is_none_or(|found| found == bytes), "{len} bytes");
            }
        }
    }
}
