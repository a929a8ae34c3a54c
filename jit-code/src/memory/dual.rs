//! Code memory that is mapped at two addresses: written through one, executed through the other.
//!
//! In: a size. Out: a [`DualMapping`]. If the system allows it, the memory is so near to this program's own functions that code
//! can call them by a distance ([`super::reach`]). It exists on Linux only.
//!
//! A forked child shares this memory instead of getting a copy. So it is given a [`Spare`], which is made before the fork and
//! takes the place of the original in the child.

#[cfg(target_os = "linux")]
pub(super) use linux::{DualMapping, Spare};
#[cfg(not(target_os = "linux"))]
pub(super) use nowhere::{DualMapping, Spare};

#[cfg(target_os = "linux")]
mod linux {
    use super::super::reach::Reach;
    use crate::Machine;
    use crate::unwind::{self, Frames, Registration, StackFrame};
    use core::ffi::{c_int, c_void};
    use core::ptr::with_exposed_provenance_mut;
    use std::fs::File;
    use std::os::fd::{AsRawFd, FromRawFd};

    const READ_AND_WRITE: c_int = libc::PROT_READ | libc::PROT_WRITE;
    const READ_AND_EXECUTE: c_int = libc::PROT_READ | libc::PROT_EXEC;

    /// The distance between candidate addresses below the program, in addition to the size of the mapping.
    const GAP: usize = 1 << 20;
    /// The distance from the program to the first candidate address above it: its heap grows there.
    const HEAP: usize = 1 << 30;
    /// How many candidate addresses are tried on each side.
    const TRIES: usize = 24;
    const PAGE: usize = 4096;

    /// The same memory at two addresses.
    #[derive(Debug)]
    pub(crate) struct DualMapping {
        /// Dropped first: the unwinder must not look up frames of code that is unmapped.
        _registration: Registration,
        frames: Frames,
        mapped: Pair,
    }

    /// Other memory with a copy of the code, for a child.
    #[derive(Debug)]
    pub(crate) struct Spare(Pair);

    impl DualMapping {
        /// Memory near this program's code if there is room, otherwise anywhere.
        pub(crate) fn new(machine: &'static Machine, size: usize) -> Option<DualMapping> {
            let anchor = DualMapping::new as *const () as usize;
            let near = |memory: &Memory| {
                let is_near = |start| Reach::of(start, size, machine.reach).covers(anchor as u64);
                Mapping::near(memory, size, anchor, is_near).or_else(|| memory.executable(size, 0, 0))
            };
            DualMapping::of(machine, Pair::of(size, near)?)
        }

        /// Memory out of the reach of this program's code.
        pub(crate) fn far(machine: &'static Machine, size: usize) -> Option<DualMapping> {
            let anchor = DualMapping::new as *const () as usize;
            let away = |at: &usize| !Reach::of(*at, size, machine.reach).covers(anchor as u64);
            let far = |memory: &Memory| {
                let places = (1..).map(|at| at << 40).take(64).filter(away);
                places.filter_map(|at| memory.executable(size, at, libc::MAP_FIXED_NOREPLACE)).next()
            };
            DualMapping::of(machine, Pair::of(size, far)?)
        }

        fn of(machine: &'static Machine, mapped: Pair) -> Option<DualMapping> {
            let Mapping { start, size } = mapped.executable;
            let frames = Frames::new(machine, size)?;
            let section = unwind::of_region(start, size, &frames);
            Some(DualMapping { _registration: Registration::new(section), frames, mapped })
        }

        /// The first address of the executable mapping.
        pub(crate) fn start(&self) -> usize {
            self.mapped.executable.start
        }

        pub(crate) fn reach(&self) -> Reach {
            Reach::of(self.start(), self.mapped.executable.size, self.frames.machine.reach)
        }

        /// A free run of memory to write code with this frame into.
        #[allow(clippy::mut_from_ref, reason = "the run is given out once, until it is free again")]
        pub(crate) fn room(&self, place: usize, size: usize, frame: &dyn StackFrame) -> &mut [u8] {
            self.frames.set(place, size, frame);
            // SAFETY: the run lies in the mapping and is free, so no other thread executes, reads or writes it.
            unsafe { core::slice::from_raw_parts_mut(self.mapped.bytes(place, size), size) }
        }

        /// Fills a run of memory whose code is no longer executed.
        pub(crate) fn wipe(&self, place: usize, size: usize) {
            // SAFETY: the run lies in the mapping, and only its dropped code used it.
            let room = unsafe { core::slice::from_raw_parts_mut(self.mapped.bytes(place, size), size) };
            self.frames.machine.fill_up(room, 0);
        }

        /// Copies these runs, while no thread writes to them.
        pub(crate) fn copy(&self, runs: impl Iterator<Item = (usize, usize)>) -> Option<Spare> {
            let size = self.mapped.executable.size;
            let copy = Pair::of(size, |memory| memory.executable(size, 0, 0))?;
            for (place, size) in runs {
                let (from, to) = (self.mapped.bytes(place, size), copy.bytes(place, size));
                // SAFETY: the runs lie in two mappings of this size.
                unsafe { to.copy_from_nonoverlapping(from, size) };
            }
            Some(Spare(copy))
        }

        /// Replaces this memory in the running process by a spare one, at the same addresses. Returns whether that worked; if
        /// not, the memory must not be written to any more.
        pub(crate) fn become_spare(&self, Spare(spare): Spare) -> bool {
            let Pair { writable, executable } = spare;
            executable.take_place_of(&self.mapped.executable) && writable.take_place_of(&self.mapped.writable)
        }
    }

    /// Two mappings of the same memory.
    #[derive(Debug)]
    struct Pair {
        writable: Mapping,
        executable: Mapping,
    }

    impl Pair {
        /// Maps the first kind of memory that the system allows, at the address that `executable` chooses.
        fn of(size: usize, executable: impl Fn(&Memory) -> Option<Mapping>) -> Option<Pair> {
            let of = |memory: Memory| {
                let executable = executable(&memory)?;
                Some(Pair { writable: memory.writable(&executable)?, executable })
            };
            Memory::file(size).and_then(of).or_else(|| of(Memory::Nameless))
        }

        /// The address at which a run is written.
        fn bytes(&self, place: usize, size: usize) -> *mut u8 {
            debug_assert!(place + size <= self.writable.size);
            with_exposed_provenance_mut(self.writable.start + place)
        }
    }

    /// The kinds of memory that can be mapped twice. Some sandboxes and limits forbid the one, some the other.
    enum Memory {
        /// An anonymous file in memory.
        File(File),
        /// Anonymous shared memory, which the system maps a second time when asked to move none of it.
        Nameless,
    }

    impl Memory {
        fn file(size: usize) -> Option<Memory> {
            let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
            // A file larger than the limit would kill the process.
            // SAFETY: the system only writes the limit.
            let is_known = unsafe { libc::getrlimit(libc::RLIMIT_FSIZE, &mut limit) } == 0;
            let may_be = is_known && size as u64 <= limit.rlim_cur;
            // SAFETY: the name ends with a zero.
            let file = may_be.then(|| unsafe { libc::memfd_create(c"azulejo".as_ptr(), libc::MFD_CLOEXEC) });
            // SAFETY: the descriptor was just opened, and no other code has it.
            let file = file.filter(|file| *file >= 0).map(|file| unsafe { File::from_raw_fd(file) })?;
            file.set_len(size as u64).ok()?;
            Some(Memory::File(file))
        }

        fn executable(&self, size: usize, address: usize, flags: c_int) -> Option<Mapping> {
            self.map(size, address, READ_AND_EXECUTE, flags)
        }

        /// A second mapping of the memory, to be written.
        fn writable(&self, executable: &Mapping) -> Option<Mapping> {
            let size = executable.size;
            match self {
                Memory::File(_) => self.map(size, 0, READ_AND_WRITE, 0),
                Memory::Nameless => {
                    // SAFETY: the existing mapping stays as it is.
                    let second = unsafe { libc::mremap(executable.address(), 0, size, libc::MREMAP_MAYMOVE) };
                    let second = Mapping::new(second, size)?;
                    // SAFETY: this was just mapped, and no other code has it.
                    let is_writable = unsafe { libc::mprotect(second.address(), size, READ_AND_WRITE) } == 0;
                    is_writable.then_some(second)
                }
            }
        }

        fn map(&self, size: usize, address: usize, protection: c_int, flags: c_int) -> Option<Mapping> {
            let wish = core::ptr::without_provenance_mut(address);
            let (file, flags) = match self {
                Memory::File(file) => (file.as_raw_fd(), libc::MAP_SHARED | flags),
                Memory::Nameless => (-1, libc::MAP_SHARED | libc::MAP_ANONYMOUS | flags),
            };
            // SAFETY: this is a new mapping, which replaces none.
            Mapping::new(unsafe { libc::mmap(wish, size, protection, flags, file, 0) }, size)
        }
    }

    /// A range of mapped addresses; unmapped when dropped.
    #[derive(Debug)]
    struct Mapping {
        start: usize,
        size: usize,
    }

    impl Mapping {
        /// A mapping from the result of a system call.
        fn new(start: *mut c_void, size: usize) -> Option<Mapping> {
            let start = start.expose_provenance();
            (start != usize::MAX).then(|| Mapping { start, size })
        }

        fn address(&self) -> *mut c_void {
            with_exposed_provenance_mut(self.start)
        }

        /// Maps executable memory at the first candidate address around `address` that is near.
        fn near(
            memory: &Memory,
            size: usize,
            address: usize,
            is_near: impl Fn(usize) -> bool,
        ) -> Option<Mapping> {
            let around = address.next_multiple_of(PAGE);
            let step = size.checked_add(GAP)?.next_multiple_of(PAGE);
            let below = (1..=TRIES).filter_map(|at| around.checked_sub(at.checked_mul(step)?));
            let above =
                (0..TRIES).filter_map(|at| around.checked_add(HEAP)?.checked_add(at.checked_mul(step)?));
            let places = below.chain(above).filter(|at| *at > 0 && is_near(*at));
            let mut mapped = places.filter_map(|at| memory.executable(size, at, libc::MAP_FIXED_NOREPLACE));
            // An old kernel takes the address as a hint only, and may map elsewhere.
            mapped.find(|mapped| is_near(mapped.start))
        }

        /// Moves to the addresses of another mapping, which is unmapped; returns whether the system did that.
        fn take_place_of(self, other: &Mapping) -> bool {
            let (size, flags) = (self.size, libc::MREMAP_MAYMOVE | libc::MREMAP_FIXED);
            // SAFETY: both mappings are this process's own and of the same size, and the other one is meant to be replaced.
            let moved = unsafe { libc::mremap(self.address(), size, size, flags, other.address()) };
            let is_there = Mapping::new(moved, size).map(core::mem::forget).is_some();
            if is_there {
                core::mem::forget(self);
            }
            is_there
        }
    }

    impl Drop for Mapping {
        fn drop(&mut self) {
            // SAFETY: only this value has the mapping, and no code in it is executed any more.
            unsafe { libc::munmap(self.address(), self.size) };
        }
    }

    #[cfg(test)]
    mod tests {
        use super::*;
        use crate::machine::toy::TOY;

        #[test]
        fn code_is_near_the_program_if_there_is_room_and_far_if_that_is_wanted() {
            let anchor = DualMapping::new as *const () as u64;
            let new = |size| DualMapping::new(&TOY, size).expect("there is room");
            let near: Vec<DualMapping> = (0..8).map(|_| new(64 << 20)).collect();
            assert!(near.iter().all(|dual| dual.reach().covers(anchor)));
            let far = DualMapping::far(&TOY, 64 << 20).expect("there is room");
            assert!(!far.reach().covers(anchor));
            // No instruction reaches across this much memory.
            let large = new(3 << 30);
            assert!(!large.reach().covers(anchor));
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod nowhere {
    use super::super::reach::Reach;
    use crate::Machine;
    use crate::unwind::StackFrame;

    /// Does not exist on this system.
    #[derive(Debug)]
    pub(crate) enum DualMapping {}

    /// Does not exist on this system.
    #[derive(Debug)]
    #[cfg_attr(not(unix), allow(dead_code, reason = "no process is copied there"))]
    pub(crate) enum Spare {}

    impl DualMapping {
        pub(crate) fn new(_: &'static Machine, _: usize) -> Option<DualMapping> {
            None
        }

        pub(crate) fn far(_: &'static Machine, _: usize) -> Option<DualMapping> {
            None
        }

        pub(crate) fn start(&self) -> usize {
            match *self {}
        }

        pub(crate) fn reach(&self) -> Reach {
            match *self {}
        }

        pub(crate) fn room(&self, _: usize, _: usize, _: &dyn StackFrame) -> &mut [u8] {
            match *self {}
        }

        pub(crate) fn wipe(&self, _: usize, _: usize) {
            match *self {}
        }

        #[cfg_attr(not(unix), allow(dead_code, reason = "no process is copied there"))]
        pub(crate) fn copy(&self, _: impl Iterator<Item = (usize, usize)>) -> Option<Spare> {
            match *self {}
        }

        #[cfg_attr(not(unix), allow(dead_code, reason = "no process is copied there"))]
        pub(crate) fn become_spare(&self, _: Spare) -> bool {
            match *self {}
        }
    }
}
