//! Paths, which never lead out of the folder they start from: not by `..`, not by being absolute, not by links.
//!
//! A path is walked name by name, with links read here and not by the system, so that each step is seen. This holds
//! against the guest, who cannot change the file system; another process that swaps a folder for a link between a step
//! and the opening could lead astray, as it could by writing into the folder.

use super::descriptor::{Descriptor, put_status, rights};
use super::guest::Guest;
use super::{Errno, Stop, Wasi};
use std::fs::{self, File, Metadata};
use std::path::{Component, Path, PathBuf};

/// How many links a path may lead through.
const MOST_LINKS: u32 = 40;

/// In the flags of a look-up: a link at the end is followed.
const FOLLOW: u32 = 1;

/// In the ways to open: create the file, want a folder, want it new, and empty it.
mod how {
    pub(super) const CREATE: u32 = 1;
    pub(super) const DIRECTORY: u32 = 2;
    pub(super) const TRUNCATE: u32 = 8;
}

/// Where a path below a folder leads, with what is there. All links on the way are followed, one at its end on demand.
fn resolve(folder: &Path, path: &str, follow: bool) -> Result<(PathBuf, Metadata), Errno> {
    if path.is_empty() {
        return Err(Errno::NoEntry);
    }
    // What is still to be walked, the next name last.
    let mut rest = Vec::new();
    push(&mut rest, path)?;
    let mut place = folder.to_path_buf();
    let (mut depth, mut links) = (0u32, 0);
    let mut found = fs::symlink_metadata(&place)?;
    while let Some(name) = rest.pop() {
        if !found.is_dir() {
            return Err(Errno::NotDirectory);
        }
        match name.as_str() {
            "" | "." => continue,
            ".." => {
                depth = depth.checked_sub(1).ok_or(Errno::NotCapable)?;
                place.pop();
                found = fs::symlink_metadata(&place)?;
            }
            name => {
                place.push(name);
                found = fs::symlink_metadata(&place)?;
                if !found.is_symlink() || (rest.is_empty() && !follow) {
                    depth += 1;
                    continue;
                }
                links += 1;
                if links > MOST_LINKS {
                    return Err(Errno::Loop);
                }
                let target = fs::read_link(&place)?;
                push(&mut rest, target.to_str().ok_or(Errno::IllegalBytes)?)?;
                place.pop();
                found = fs::symlink_metadata(&place)?;
            }
        }
    }
    Ok((place, found))
}

/// Puts the names of a path before those still to be walked.
fn push(rest: &mut Vec<String>, path: &str) -> Result<(), Errno> {
    if path.starts_with('/') {
        return Err(Errno::NotCapable);
    }
    for name in path.rsplit('/') {
        // On some systems more than a slash has a meaning.
        let mut parts = Path::new(name).components();
        let is_one = matches!(
            (parts.next(), parts.next()),
            (None | Some(Component::Normal(_) | Component::CurDir | Component::ParentDir), None)
        );
        if !is_one || name.contains('\0') {
            return Err(Errno::NotCapable);
        }
        rest.push(name.to_string());
    }
    Ok(())
}

#[expect(clippy::too_many_arguments, reason = "they are the interface's")]
impl Wasi {
    /// Where a guest's path leads.
    fn look_up(
        &mut self,
        guest: &Guest<'_>,
        fd: u32,
        flags: u32,
        path: u32,
        length: u32,
    ) -> Result<(PathBuf, Metadata), Errno> {
        let path = guest.text(path, length)?;
        resolve(self.folder_at(fd)?, path, flags & FOLLOW != 0)
    }

    pub(super) fn path_open(
        &mut self,
        guest: &mut Guest<'_>,
        fd: u32,
        lookup: u32,
        path: u32,
        length: u32,
        how: u32,
        base: u64,
        _inheriting: u64,
        _flags: u32,
        result: u32,
    ) -> Result<(), Stop> {
        guest.bytes(result.into(), 4)?;
        if how & (how::CREATE | how::TRUNCATE) != 0 {
            return Err(Errno::ReadOnly.into());
        }
        let (place, found) = self.look_up(guest, fd, lookup, path, length)?;
        let descriptor = if found.is_dir() {
            Descriptor::folder(place, None)
        } else if how & how::DIRECTORY != 0 {
            return Err(Errno::NotDirectory.into());
        } else if found.is_symlink() {
            return Err(Errno::Loop.into());
        } else if !found.is_file() {
            // Opening a device or a pipe may do anything, or never return.
            return Err(Errno::Access.into());
        } else if base & rights::WRITE != 0 {
            return Err(Errno::ReadOnly.into());
        } else {
            Descriptor::File(File::open(place)?)
        };
        let fd = self.insert(descriptor)?;
        Ok(guest.put_u32(result, fd)?)
    }

    pub(super) fn path_filestat_get(
        &mut self,
        guest: &mut Guest<'_>,
        fd: u32,
        flags: u32,
        path: u32,
        length: u32,
        result: u32,
    ) -> Result<(), Stop> {
        let (_, found) = self.look_up(guest, fd, flags, path, length)?;
        Ok(put_status(guest, result, &found)?)
    }

    pub(super) fn path_readlink(
        &mut self,
        guest: &mut Guest<'_>,
        fd: u32,
        path: u32,
        length: u32,
        buffer: u32,
        size: u32,
        result: u32,
    ) -> Result<(), Stop> {
        let (place, found) = self.look_up(guest, fd, 0, path, length)?;
        if !found.is_symlink() {
            return Err(Errno::Invalid.into());
        }
        let target = fs::read_link(place)?;
        let target = target.to_str().ok_or(Errno::IllegalBytes)?;
        if target.starts_with('/') {
            return Err(Errno::NotCapable.into());
        }
        let written = &target.as_bytes()[..target.len().min(size as usize)];
        guest.put(buffer.into(), written)?;
        Ok(guest.put_u32(result, written.len() as u32)?)
    }
}
