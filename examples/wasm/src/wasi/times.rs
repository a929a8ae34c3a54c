//! Setting the times of files.

use super::guest::Guest;
use super::{Errno, Stop, Wasi};
use std::fs::{File, FileTimes};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Flags: which times to set, and whether to the guest's value or to the current time.
const READ: u32 = 1;
const READ_NOW: u32 = 2;
const CHANGED: u32 = 4;
const CHANGED_NOW: u32 = 8;

/// The times to set, from nanoseconds since 1970.
fn times(read: u64, changed: u64, which: u32) -> Result<FileTimes, Errno> {
    let time = |nanoseconds, said: u32, now: u32| match (which & said != 0, which & now != 0) {
        (true, true) => Err(Errno::Invalid),
        (true, false) => Ok(Some(UNIX_EPOCH + Duration::from_nanos(nanoseconds))),
        (false, true) => Ok(Some(SystemTime::now())),
        (false, false) => Ok(None),
    };
    let mut times = FileTimes::new();
    if let Some(time) = time(read, READ, READ_NOW)? {
        times = times.set_accessed(time);
    }
    if let Some(time) = time(changed, CHANGED, CHANGED_NOW)? {
        times = times.set_modified(time);
    }
    Ok(times)
}

impl Wasi {
    pub(super) fn fd_filestat_set_times(
        &mut self,
        _guest: &mut Guest<'_>,
        fd: u32,
        read: u64,
        changed: u64,
        which: u32,
    ) -> Result<(), Stop> {
        let times = times(read, changed, which)?;
        Ok(self.file(fd)?.for_change()?.set_times(times)?)
    }

    #[expect(clippy::too_many_arguments, reason = "they are the interface's")]
    pub(super) fn path_filestat_set_times(
        &mut self,
        guest: &mut Guest<'_>,
        fd: u32,
        flags: u32,
        path: u32,
        length: u32,
        read: u64,
        changed: u64,
        which: u32,
    ) -> Result<(), Stop> {
        let times = times(read, changed, which)?;
        self.folder_at(fd)?.access.demand_write()?;
        let found = self.look_up(guest, fd, flags, path, length)?;
        let metadata = found.metadata()?;
        if !metadata.is_file() && !metadata.is_dir() {
            return Err(Errno::Unsupported.into());
        }
        Ok(File::open(found.path)?.set_times(times)?)
    }
}
