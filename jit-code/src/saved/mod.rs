//! Stencils, and the code that interprets opcodes, from one process of a program to the next.
//!
//! In: a file that an earlier process has written, and what this one makes. Out: what the file has, as it is asked for, and a file that has
//! both. What is found is what would have been made.
//!
//! - A piece of code has a [`CodeKey`]: a number for all that it depends on. Addresses in it count from the start of the program's image, which
//!   the system puts elsewhere each time.
//! - A file is of one program, on one system: [`Image`] says which. One of another program is as good as none, so a program that was built
//!   anew begins with nothing.
//! - Only code that is the same wherever the image is can be saved ([`Image::holds_all_of`]): what it calls is in the image, which
//!   all of the code's memory reaches, and it contains no other address.
//! - Nothing is saved or looked up in a process that has not [loaded](load) a file, if only one that is not there.

mod bytes;
mod file;
mod image;
mod key;
pub(crate) mod piece;
pub(crate) mod stencil;

pub(crate) use image::Image;
pub(crate) use key::{CodeKey, KeyOf};
pub use stencil::has_stencils_of;

use crate::field::Field;
use crate::memory::fork;
use bytes::{Packer, Unpacker};
use file::File;
use once_cell::race::OnceBox;
use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What was loaded.
#[derive(Debug)]
struct Loaded {
    image: Image,
    file: Option<File>,
}

/// Taking it needs no lock, which a child could find held.
static LOADED: OnceBox<Loaded> = OnceBox::new();

/// What this process has made. A thread that holds the lock waits for no other.
static MADE: Mutex<BTreeMap<CodeKey, Vec<u8>>> = Mutex::new(BTreeMap::new());

fn made() -> MutexGuard<'static, BTreeMap<CodeKey, Vec<u8>>> {
    MADE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Loads what an earlier process has [saved](save) in a file, and keeps what this one makes from now on, to be saved. Returns how many
/// pieces of code the file has for this very program; none if there is no such file. What was loaded first stays.
///
/// It does nothing where the system does not tell where the program's image is (that is, everywhere but on Linux), or if this crate is not in
/// the program's own image but in a shared library.
///
/// # Safety
///
/// What is in the file is run. Nobody but [`save`] may have written it. A file that others than the user own, or may write to, is not
/// read, and one that is damaged by accident is noticed.
///
/// ```
/// # fn main() -> std::io::Result<()> {
/// let path = std::env::temp_dir().join(format!("azulejo-code-{}", std::process::id()));
/// // SAFETY: nobody has written such a file.
/// let found = unsafe { azulejo_code::saved::load(&path) }?;
/// assert_eq!(found, 0);
/// // No code was made, so there is nothing to be saved.
/// assert_eq!(azulejo_code::saved::save(&path)?, 0);
/// assert!(!path.exists());
/// # Ok(())
/// # }
/// ```
pub unsafe fn load(path: &Path) -> io::Result<usize> {
    let Some(image) = Image::of_program() else { return Ok(0) };
    fork::protect(&MADE);
    if LOADED.get().is_none() {
        let file = File::read(path, &image)?;
        // If another thread was faster, what it has loaded stays.
        _ = LOADED.set(Box::new(Loaded { image, file }));
    }
    Ok(LOADED.get().and_then(|loaded| loaded.file.as_ref()).map_or(0, File::len))
}

/// Writes what this process has made, and what it has loaded, to a file; returns how many pieces of code that are. If nothing was made that
/// was not loaded, it writes nothing and returns 0. Whoever reads the file at the same time reads the old one or the new one.
///
/// ```
/// // Nothing was loaded, so nothing is kept.
/// assert_eq!(azulejo_code::saved::save(std::path::Path::new("/no/such/place")).unwrap(), 0);
/// ```
pub fn save(path: &Path) -> io::Result<usize> {
    let Some(Loaded { image, file }) = LOADED.get() else { return Ok(0) };
    let mut all = made().clone();
    if all.is_empty() {
        return Ok(0);
    }
    for (key, bytes) in file.iter().flat_map(File::iter) {
        all.entry(key).or_insert_with(|| bytes.to_vec());
    }
    file::write(path, image, &all)?;
    Ok(all.len())
}

/// Whether an earlier process has made anything.
///
/// ```
/// // Nothing was loaded.
/// assert!(!azulejo_code::saved::has_any());
/// ```
pub fn has_any() -> bool {
    LOADED.get().is_some_and(|loaded| loaded.file.is_some())
}

/// The image of the program, if code is kept.
pub(crate) fn image() -> Option<&'static Image> {
    LOADED.get().map(|loaded| &loaded.image)
}

/// What an earlier process has made.
fn find<T>(key: CodeKey, read: impl FnOnce(&mut Unpacker<'_>) -> Option<T>) -> Option<T> {
    let loaded = LOADED.get()?;
    Unpacker::all(loaded.file.as_ref()?.find(key)?, &loaded.image, read)
}

/// Whether an earlier process has made something that has this key.
fn has(key: CodeKey) -> bool {
    LOADED.get().and_then(|loaded| loaded.file.as_ref()).is_some_and(|file| file.has(key))
}

fn write_field(to: &mut Packer<'_>, field: Field) {
    let Field { bytes, first, width, shift } = field;
    [bytes, first, width, shift].into_iter().for_each(|byte| to.byte(byte));
}

fn read_field(from: &mut Unpacker<'_>) -> Option<Field> {
    Some(Field { bytes: from.byte()?, first: from.byte()?, width: from.byte()?, shift: from.byte()? })
}

/// Keeps what was made.
fn keep(key: CodeKey, write: impl FnOnce(&mut Packer<'_>)) {
    let Some(loaded) = LOADED.get() else { return };
    let mut writer = Packer::new(&loaded.image);
    write(&mut writer);
    made().insert(key, writer.bytes);
}
