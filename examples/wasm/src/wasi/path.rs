//! Path resolution, which never leaves the folder that it starts from: not through `..`, absolute paths, or links.
//!
//! A path is walked component by component, and links are resolved here instead of by the system, so that each step is checked.
//! The path of an open folder is resolved again for each call, and none of its components may have become a link. This is safe
//! against a guest that changes the file system, since the guest does not run while a path is walked. Another process that
//! replaces a folder by a link between a check and its use could escape: do not give a writable folder to two guests that do not
//! trust each other.

use super::descriptor::{APPEND, Descriptor, Folder, OpenFile, put_status, rights};
use super::guest::Guest;
use super::{Access, Errno, Stop, Wasi};
use std::fs::{self, File, Metadata};
use std::io::ErrorKind;
use std::path::{Component, Path, PathBuf};

/// The maximum number of links to follow in a path.
const MOST_LINKS: u32 = 40;

/// The look-up flag for following a link at the end of the path.
const FOLLOW: u32 = 1;

/// The flags for opening: create the file, require a folder, require a new file, truncate.
mod how {
    pub(super) const CREATE: u32 = 1;
    pub(super) const DIRECTORY: u32 = 2;
    pub(super) const EXCLUSIVE: u32 = 4;
    pub(super) const TRUNCATE: u32 = 8;
}

/// A folder: a preopened one, and the names of the components below it.
#[derive(Clone)]
pub(super) struct Location {
    root: PathBuf,
    below: Vec<String>,
}

/// The result of resolving a path.
pub(super) struct Resolved {
    pub(super) path: PathBuf,
    place: Location,
    /// The metadata of the file; `None` if only the last component does not exist.
    metadata: Option<Metadata>,
}

impl Location {
    /// A preopened folder.
    pub(super) fn root(root: PathBuf) -> Location {
        Location { root, below: Vec::new() }
    }

    /// The folder's current path. Fails if a component has become a link.
    pub(super) fn find(&self) -> Result<PathBuf, Errno> {
        let mut path = self.root.clone();
        for name in &self.below {
            path.push(name);
            if !fs::symlink_metadata(&path)?.is_dir() {
                return Err(Errno::NotDirectory);
            }
        }
        Ok(path)
    }
}

impl Resolved {
    /// The metadata of the file, or an error if it does not exist.
    pub(super) fn metadata(&self) -> Result<&Metadata, Errno> {
        self.metadata.as_ref().ok_or(Errno::NoEntry)
    }

    /// Fails if the file exists.
    fn demand_nothing(&self) -> Result<(), Errno> {
        if self.metadata.is_none() { Ok(()) } else { Err(Errno::Exist) }
    }
}

/// Resolves a path below a folder. Links on the way are always followed, a link at its end only if `follow` is set.
fn resolve(folder: &Location, path: &str, follow: bool) -> Result<Resolved, Errno> {
    if path.is_empty() {
        return Err(Errno::NoEntry);
    }
    // The remaining components in reverse order.
    let mut rest = Vec::new();
    push(&mut rest, path)?;
    let mut place = folder.clone();
    let mut path = place.find()?;
    let mut links = 0;
    let mut found = fs::symlink_metadata(&path)?;
    while let Some(name) = rest.pop() {
        if !found.is_dir() {
            return Err(Errno::NotDirectory);
        }
        match name.as_str() {
            "" | "." => continue,
            ".." => {
                if place.below.len() == folder.below.len() {
                    return Err(Errno::NotCapable);
                }
                place.below.pop();
                path.pop();
                found = fs::symlink_metadata(&path)?;
            }
            name => {
                path.push(name);
                found = match fs::symlink_metadata(&path) {
                    Ok(found) => found,
                    Err(error) if error.kind() == ErrorKind::NotFound && rest.is_empty() => {
                        place.below.push(name.into());
                        return Ok(Resolved { path, place, metadata: None });
                    }
                    Err(error) => return Err(error.into()),
                };
                if !found.is_symlink() || (rest.is_empty() && !follow) {
                    place.below.push(name.into());
                    continue;
                }
                links += 1;
                if links > MOST_LINKS {
                    return Err(Errno::Loop);
                }
                let target = fs::read_link(&path)?;
                push(&mut rest, target.to_str().ok_or(Errno::IllegalBytes)?)?;
                path.pop();
                found = fs::symlink_metadata(&path)?;
            }
        }
    }
    Ok(Resolved { path, place, metadata: Some(found) })
}

/// Pushes the components of a path onto the remaining ones.
fn push(rest: &mut Vec<String>, path: &str) -> Result<(), Errno> {
    if path.starts_with('/') {
        return Err(Errno::NotCapable);
    }
    for name in path.rsplit('/') {
        // Some systems treat other characters besides the slash as separators or prefixes.
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
    /// Resolves a guest's path.
    pub(super) fn look_up(
        &mut self,
        guest: &Guest<'_>,
        fd: u32,
        flags: u32,
        path: u32,
        length: u32,
    ) -> Result<Resolved, Errno> {
        let path = guest.text(path, length)?;
        resolve(&self.folder_at(fd)?.place, path, flags & FOLLOW != 0)
    }

    /// Resolves a guest's path whose last component is to be created, changed or removed.
    fn entry(&mut self, guest: &Guest<'_>, fd: u32, path: u32, length: u32) -> Result<Resolved, Errno> {
        let text = guest.text(path, length)?;
        let folder = self.folder_at(fd)?;
        folder.access.demand_write()?;
        let name = text.trim_end_matches('/');
        if name.is_empty() {
            return Err(if text.is_empty() { Errno::NoEntry } else { Errno::NotCapable });
        }
        let found = resolve(&folder.place, name, false)?;
        if found.place.below.len() <= folder.place.below.len() {
            // The path denotes the folder itself.
            return Err(Errno::Invalid);
        }
        let is_file = found.metadata.as_ref().is_some_and(|metadata| !metadata.is_dir());
        if is_file && name.len() < text.len() { Err(Errno::NotDirectory) } else { Ok(found) }
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
        flags: u32,
        result: u32,
    ) -> Result<(), Stop> {
        guest.bytes(result.into(), 4)?;
        let has = |bit: u32| how & bit != 0;
        let access = self.folder_at(fd)?.access;
        if has(how::CREATE | how::TRUNCATE) {
            access.demand_write()?;
        }
        let found = self.look_up(guest, fd, lookup, path, length)?;
        let descriptor = match &found.metadata {
            Some(_) if has(how::CREATE) && has(how::EXCLUSIVE) => return Err(Errno::Exist.into()),
            Some(metadata) if metadata.is_dir() && has(how::TRUNCATE) => {
                return Err(Errno::IsDirectory.into());
            }
            Some(metadata) if metadata.is_dir() => Descriptor::Folder(Folder::new(found.place, access)),
            Some(_) if has(how::DIRECTORY) => return Err(Errno::NotDirectory.into()),
            Some(metadata) if metadata.is_symlink() => return Err(Errno::Loop.into()),
            // Opening a device or a pipe may have arbitrary effects, or block forever.
            Some(metadata) if !metadata.is_file() => return Err(Errno::Access.into()),
            None if !has(how::CREATE) => return Err(Errno::NoEntry.into()),
            None if has(how::DIRECTORY) => return Err(Errno::Invalid.into()),
            there => {
                let to_change = base & rights::TO_CHANGE != 0;
                if to_change {
                    access.demand_write()?;
                }
                let is_new = there.is_none();
                let reads = base & rights::READ != 0 || !to_change;
                let file = File::options()
                    .read(reads)
                    .write(to_change || is_new || has(how::TRUNCATE))
                    .create_new(is_new)
                    .truncate(has(how::TRUNCATE) && !is_new)
                    .open(&found.path)?;
                let access = if to_change { Access::Write } else { Access::Read };
                Descriptor::File(OpenFile { file, reads, access, appends: flags & APPEND != 0 })
            }
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
        let found = self.look_up(guest, fd, flags, path, length)?;
        Ok(put_status(guest, result, found.metadata()?)?)
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
        let found = self.look_up(guest, fd, 0, path, length)?;
        if !found.metadata()?.is_symlink() {
            return Err(Errno::Invalid.into());
        }
        let target = fs::read_link(found.path)?;
        let target = target.to_str().ok_or(Errno::IllegalBytes)?;
        if target.starts_with('/') {
            return Err(Errno::NotCapable.into());
        }
        let written = &target.as_bytes()[..target.len().min(size as usize)];
        guest.put(buffer.into(), written)?;
        Ok(guest.put_u32(result, written.len() as u32)?)
    }

    pub(super) fn path_create_directory(
        &mut self,
        guest: &mut Guest<'_>,
        fd: u32,
        path: u32,
        length: u32,
    ) -> Result<(), Stop> {
        let found = self.entry(guest, fd, path, length)?;
        found.demand_nothing()?;
        Ok(fs::create_dir(found.path)?)
    }

    pub(super) fn path_remove_directory(
        &mut self,
        guest: &mut Guest<'_>,
        fd: u32,
        path: u32,
        length: u32,
    ) -> Result<(), Stop> {
        let found = self.entry(guest, fd, path, length)?;
        if !found.metadata()?.is_dir() {
            return Err(Errno::NotDirectory.into());
        }
        Ok(fs::remove_dir(found.path)?)
    }

    pub(super) fn path_unlink_file(
        &mut self,
        guest: &mut Guest<'_>,
        fd: u32,
        path: u32,
        length: u32,
    ) -> Result<(), Stop> {
        let found = self.entry(guest, fd, path, length)?;
        if found.metadata()?.is_dir() {
            return Err(Errno::IsDirectory.into());
        }
        Ok(fs::remove_file(found.path)?)
    }

    pub(super) fn path_rename(
        &mut self,
        guest: &mut Guest<'_>,
        fd: u32,
        path: u32,
        length: u32,
        new_fd: u32,
        new_path: u32,
        new_length: u32,
    ) -> Result<(), Stop> {
        let from = self.entry(guest, fd, path, length)?;
        let to = self.entry(guest, new_fd, new_path, new_length)?;
        from.metadata()?;
        Ok(fs::rename(from.path, to.path)?)
    }

    pub(super) fn path_link(
        &mut self,
        guest: &mut Guest<'_>,
        fd: u32,
        flags: u32,
        path: u32,
        length: u32,
        new_fd: u32,
        new_path: u32,
        new_length: u32,
    ) -> Result<(), Stop> {
        // Write access through the new name requires write access through the old one.
        self.folder_at(fd)?.access.demand_write()?;
        let from = self.look_up(guest, fd, flags, path, length)?;
        if !from.metadata()?.is_file() {
            return Err(Errno::NotCapable.into());
        }
        let to = self.entry(guest, new_fd, new_path, new_length)?;
        to.demand_nothing()?;
        Ok(fs::hard_link(from.path, to.path)?)
    }

    pub(super) fn path_symlink(
        &mut self,
        guest: &mut Guest<'_>,
        target: u32,
        target_length: u32,
        fd: u32,
        path: u32,
        length: u32,
    ) -> Result<(), Stop> {
        let found = self.entry(guest, fd, path, length)?;
        found.demand_nothing()?;
        let target = guest.text(target, target_length)?;
        // A target that would be refused when the link is followed is refused already, in particular an absolute one.
        push(&mut Vec::new(), target)?;
        Ok(make_link(target, &found.path)?)
    }
}

#[cfg(unix)]
fn make_link(target: &str, path: &Path) -> std::io::Result<()> {
    std::os::unix::fs::symlink(target, path)
}

#[cfg(not(unix))]
fn make_link(_target: &str, _path: &Path) -> std::io::Result<()> {
    Err(ErrorKind::Unsupported.into())
}
