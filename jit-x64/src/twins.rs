//! Memory for code at two addresses: written through one, run through the other.
//!
//! In: how much. Out: [`Twins`]. Where the system lets us, code is put so near to this program's own functions that it can
//! call them by a distance ([`crate::reach`]). Elsewhere than on Linux there are none.

#[cfg(target_os = "linux")]
pub(crate) use linux::Twins;
#[cfg(not(target_os = "linux"))]
pub(crate) use nowhere::Twins;

#[cfg(target_os = "linux")]
mod linux {
    use crate::frame::Frame;
    use crate::reach::Reach;
    use crate::unwind::{self, Frames, Registration};
    use core::ffi::{c_char, c_int, c_uint, c_void};
    use memmap2::{MmapOptions, MmapRaw};
    use std::fs::File;
    use std::os::fd::{AsRawFd, FromRawFd};

    unsafe extern "C" {
        fn memfd_create(name: *const c_char, flags: c_uint) -> c_int;
        fn mmap(
            address: *mut c_void,
            len: usize,
            protection: c_int,
            flags: c_int,
            file: c_int,
            offset: i64,
        ) -> *mut c_void;
        fn munmap(address: *mut c_void, len: usize) -> c_int;
    }

    const CLOSE_ON_EXEC: c_uint = 1;
    const READ_AND_EXECUTE: c_int = 1 | 4;
    const SHARED: c_int = 1;
    /// This address or none. Systems that do not know it take the address as a wish.
    const FIXED_NOREPLACE: c_int = 0x10_0000;
    const FAILED: usize = usize::MAX;

    /// How far apart places below the program are, besides the size of what is put there.
    const GAP: usize = 1 << 20;
    /// How far above the program places start: its heap grows there.
    const HEAP: usize = 1 << 30;
    /// How many places are tried on each side.
    const TRIES: usize = 24;
    const PAGE: usize = 4096;

    /// The same memory at two addresses.
    #[derive(Debug)]
    pub(crate) struct Twins {
        /// Goes first: nobody may look for frames where there is no code any more.
        _registration: Registration,
        frames: Frames,
        writable: MmapRaw,
        executable: Executable,
        size: usize,
    }

    impl Twins {
        /// Memory near this program's code if there is room, otherwise anywhere.
        pub(crate) fn new(size: usize) -> Option<Twins> {
            let file = nameless_file(size)?;
            let executable = Executable::near(&file, size, Twins::new as *const () as usize);
            Twins::of(&file, executable.or_else(|| Executable::at(&file, size, 0, 0))?)
        }

        /// Memory out of the reach of this program's code.
        pub(crate) fn far(size: usize) -> Option<Twins> {
            let file = nameless_file(size)?;
            let anchor = Twins::new as *const () as usize;
            let away = |at: &usize| !Reach::of(*at, size).covers(anchor as u64);
            let places = (1..).map(|at| at << 40).take(64).filter(away);
            let executable = places.filter_map(|at| Executable::at(&file, size, at, FIXED_NOREPLACE)).next();
            Twins::of(&file, executable?)
        }

        fn of(file: &File, executable: Executable) -> Option<Twins> {
            let (start, size) = (executable.start, executable.size);
            let writable = MmapOptions::new().len(size).map_raw(file).ok()?;
            let frames = Frames::new(size)?;
            let section = unwind::of_region(start, size, &frames);
            Some(Twins { _registration: Registration::new(section), frames, writable, executable, size })
        }

        /// The first address at which code runs.
        pub(crate) fn start(&self) -> usize {
            self.executable.start
        }

        pub(crate) fn reach(&self) -> Reach {
            Reach::of(self.start(), self.size)
        }

        /// A run of memory that is free, to be written for code with this frame.
        #[allow(clippy::mut_from_ref, reason = "the run is given out once, until it is free again")]
        pub(crate) fn room(&self, place: usize, size: usize, frame: &Frame) -> &mut [u8] {
            debug_assert!(place + size <= self.size);
            self.frames.set(place, size, frame);
            // SAFETY: the run lies in the mapping and is free, so nobody runs, reads or writes it.
            unsafe { core::slice::from_raw_parts_mut(self.writable.as_mut_ptr().add(place), size) }
        }

        /// Fills a run of memory that nobody runs any more.
        pub(crate) fn wipe(&self, place: usize, size: usize, filler: u8) {
            debug_assert!(place + size <= self.size);
            // SAFETY: the run lies in the mapping and was its code's alone.
            unsafe { self.writable.as_mut_ptr().add(place).write_bytes(filler, size) };
        }
    }

    /// A file in memory that nobody else can open.
    fn nameless_file(size: usize) -> Option<File> {
        // SAFETY: the name ends with a zero.
        let file = unsafe { memfd_create(c"azulejo".as_ptr(), CLOSE_ON_EXEC) };
        // SAFETY: a descriptor that was just opened and that nobody else has.
        let file = (file >= 0).then(|| unsafe { File::from_raw_fd(file) })?;
        file.set_len(size as u64).ok()?;
        Some(file)
    }

    /// A file where it can be run.
    #[derive(Debug)]
    struct Executable {
        start: usize,
        size: usize,
    }

    impl Executable {
        /// Maps a file where `address` is in reach of all of it.
        fn near(file: &File, size: usize, address: usize) -> Option<Executable> {
            let around = address.next_multiple_of(PAGE);
            let step = (size + GAP).next_multiple_of(PAGE);
            let below = (1..=TRIES).filter_map(|at| around.checked_sub(at * step));
            let above = (0..TRIES).filter_map(|at| around.checked_add(HEAP + at * step));
            let is_near = |start: usize| Reach::of(start, size).covers(address as u64);
            let places = below.chain(above).filter(|at| *at > 0 && is_near(*at));
            let mut mapped = places.filter_map(|at| Executable::at(file, size, at, FIXED_NOREPLACE));
            // Where the address was taken for a wish, it may be elsewhere.
            mapped.find(|mapped| is_near(mapped.start))
        }

        fn at(file: &File, size: usize, address: usize, flags: c_int) -> Option<Executable> {
            let (wish, file) = (core::ptr::without_provenance_mut(address), file.as_raw_fd());
            // SAFETY: a new mapping that takes the place of none.
            let start = unsafe { mmap(wish, size, READ_AND_EXECUTE, SHARED | flags, file, 0) }.addr();
            (start != FAILED).then_some(Executable { start, size })
        }
    }

    impl Drop for Executable {
        fn drop(&mut self) {
            // SAFETY: it is this one's alone, and nothing runs in it any more.
            unsafe { munmap(core::ptr::with_exposed_provenance_mut(self.start), self.size) };
        }
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn code_is_near_the_program_if_there_is_room_and_far_if_that_is_wanted() {
            let anchor = Twins::new as *const () as u64;
            let near: Vec<Twins> = (0..8).map(|_| Twins::new(64 << 20).expect("there is room")).collect();
            assert!(near.iter().all(|twins| twins.reach().covers(anchor)));
            let far = Twins::far(64 << 20).expect("there is room");
            assert!(!far.reach().covers(anchor));
            // No distance is far enough for this much.
            let large = Twins::new(3 << 30).expect("there is room");
            assert!(!large.reach().covers(anchor));
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod nowhere {
    use crate::frame::Frame;
    use crate::reach::Reach;

    /// There are none.
    #[derive(Debug)]
    pub(crate) enum Twins {}

    impl Twins {
        pub(crate) fn new(_: usize) -> Option<Twins> {
            None
        }

        pub(crate) fn far(_: usize) -> Option<Twins> {
            None
        }

        pub(crate) fn start(&self) -> usize {
            match *self {}
        }

        pub(crate) fn reach(&self) -> Reach {
            match *self {}
        }

        pub(crate) fn room(&self, _: usize, _: usize, _: &Frame) -> &mut [u8] {
            match *self {}
        }

        pub(crate) fn wipe(&self, _: usize, _: usize, _: u8) {
            match *self {}
        }
    }
}
