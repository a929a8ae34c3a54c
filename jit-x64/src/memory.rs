//! Memory for machine code.
//!
//! In: finished code. Out: the address it runs at. Holds: no address is ever both writable and executable, what
//! is in use is never moved nor made unexecutable, and running out is an error.
//!
//! On Linux one region is reserved at the start and mapped twice, from a file that has no name: written through
//! one mapping, run through the other. So a thread may add code while others run what is there. Where that is
//! refused, each function has pages of its own, which are written first and then made executable for good.

use azulejo_core::error::{Error, Unsupported};
use memmap2::{Mmap, MmapMut, MmapOptions, MmapRaw};
use std::fs::File;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Code starts at multiples of this: constants beside it are read 16 bytes at a time.
const ALIGNMENT: usize = 16;
/// What is not in use: traps when run.
const FILLER: u8 = 0xcc;

/// A region for code.
#[derive(Debug)]
pub struct CodeMemory {
    twins: Option<Twins>,
    size: usize,
    state: Mutex<State>,
}

/// The same memory at two addresses.
#[derive(Debug)]
struct Twins {
    writable: MmapRaw,
    executable: Mmap,
}

#[derive(Debug, Default)]
struct State {
    /// Free runs (offset and size) by offset; no two touch. Of twins only.
    free: Vec<(usize, usize)>,
    /// Pages of functions, where there are no twins. A free place is `None`.
    pages: Vec<Option<Mmap>>,
    used: usize,
}

/// Code that has been installed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Installed {
    address: usize,
    /// In twins the offset, else the number of the mapping.
    place: usize,
    size: usize,
}

impl Installed {
    /// Where it runs.
    pub fn address(&self) -> *const u8 {
        self.address as *const u8
    }

    /// How many bytes it has, rounded up.
    pub fn size(&self) -> usize {
        self.size
    }
}

impl CodeMemory {
    /// Reserves room for `size` bytes of code. Pages that are never written cost nothing.
    pub fn new(size: usize) -> Result<CodeMemory, Unsupported> {
        let size = size.next_multiple_of(ALIGNMENT).max(ALIGNMENT);
        match Twins::new(size) {
            Some(twins) => {
                let state = State { free: vec![(0, size)], ..State::default() };
                Ok(CodeMemory { twins: Some(twins), size, state: Mutex::new(state) })
            }
            None => CodeMemory::by_page(size),
        }
    }

    /// As [`new`](Self::new), but each function has pages of its own.
    pub fn by_page(size: usize) -> Result<CodeMemory, Unsupported> {
        // Find out now rather than at the first function whether code may be run at all.
        executable_copy(&[FILLER]).ok_or(Unsupported::Memory)?;
        Ok(CodeMemory { twins: None, size, state: Mutex::default() })
    }

    /// Copies code to where it can run.
    pub fn install(&self, code: &[u8]) -> Result<Installed, Error> {
        let size = code.len().next_multiple_of(ALIGNMENT).max(ALIGNMENT);
        let mut state = self.lock();
        let Some(twins) = &self.twins else {
            if state.used + size > self.size {
                return Err(Error::OutOfCodeMemory);
            }
            let pages = executable_copy(code).ok_or(Error::OutOfCodeMemory)?;
            let address = pages.as_ptr() as usize;
            let place = state.pages.iter().position(Option::is_none).unwrap_or_else(|| {
                state.pages.push(None);
                state.pages.len() - 1
            });
            state.pages[place] = Some(pages);
            state.used += size;
            return Ok(Installed { address, place, size });
        };
        let at = state.free.iter().position(|run| run.1 >= size).ok_or(Error::OutOfCodeMemory)?;
        let (place, room) = state.free[at];
        if room == size {
            state.free.remove(at);
        } else {
            state.free[at] = (place + size, room - size);
        }
        state.used += size;
        // SAFETY: the run lies in the mapping and was free, so nobody runs or writes it.
        unsafe {
            let to = twins.writable.as_mut_ptr().add(place);
            to.copy_from_nonoverlapping(code.as_ptr(), code.len());
            to.add(code.len()).write_bytes(FILLER, size - code.len());
        }
        Ok(Installed { address: twins.executable.as_ptr() as usize + place, place, size })
    }

    /// Gives the memory of code back.
    ///
    /// # Safety
    ///
    /// The code was installed here, has not been freed before, nobody is running it, and nobody will.
    pub unsafe fn free(&self, code: Installed) {
        let Installed { place, size, .. } = code;
        let mut state = self.lock();
        state.used -= size;
        let Some(twins) = &self.twins else {
            state.pages[place] = None;
            return;
        };
        // SAFETY: the caller says that this run is code of this region which nobody runs any more.
        unsafe { twins.writable.as_mut_ptr().add(place).write_bytes(FILLER, size) };
        let at = state.free.partition_point(|run| run.0 < place);
        let joins_next = state.free.get(at).is_some_and(|next| place + size == next.0);
        let joins_last = at > 0 && state.free[at - 1].0 + state.free[at - 1].1 == place;
        match (joins_last, joins_next) {
            (true, true) => {
                let (_, more) = state.free.remove(at);
                state.free[at - 1].1 += size + more;
            }
            (true, false) => state.free[at - 1].1 += size,
            (false, true) => state.free[at] = (place, size + state.free[at].1),
            (false, false) => state.free.insert(at, (place, size)),
        }
    }

    /// How many bytes are in use.
    pub fn used(&self) -> usize {
        self.lock().used
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Nothing in here panics halfway through a change.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Twins {
    fn new(size: usize) -> Option<Twins> {
        let file = nameless_file()?;
        file.set_len(size as u64).ok()?;
        let writable = MmapOptions::new().len(size).map_raw(&file).ok()?;
        // SAFETY: nobody else has this file, so it changes only as this type allows.
        let executable = unsafe { MmapOptions::new().len(size).map_exec(&file) }.ok()?;
        Some(Twins { writable, executable })
    }
}

/// A file in memory that nobody else can open.
#[cfg(target_os = "linux")]
fn nameless_file() -> Option<File> {
    use core::ffi::{c_char, c_int, c_uint};
    use std::os::fd::FromRawFd;
    const CLOSE_ON_EXEC: c_uint = 1;
    unsafe extern "C" {
        fn memfd_create(name: *const c_char, flags: c_uint) -> c_int;
    }
    // SAFETY: the name ends with a zero.
    let file = unsafe { memfd_create(c"azulejo".as_ptr(), CLOSE_ON_EXEC) };
    // SAFETY: a descriptor that was just opened and that nobody else has.
    (file >= 0).then(|| unsafe { File::from_raw_fd(file) })
}

#[cfg(not(target_os = "linux"))]
fn nameless_file() -> Option<File> {
    None
}

/// Pages of their own with this code.
fn executable_copy(code: &[u8]) -> Option<Mmap> {
    let mut pages = MmapMut::map_anon(code.len().max(1)).ok()?;
    pages[..code.len()].copy_from_slice(code);
    pages.make_exec().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `mov eax, value; ret`
    fn constant(value: u32) -> [u8; 6] {
        let [a, b, c, d] = value.to_le_bytes();
        [0xb8, a, b, c, d, 0xc3]
    }

    fn run(code: &Installed) -> u32 {
        // SAFETY: the code is a function without arguments that returns a number.
        unsafe { core::mem::transmute::<*const u8, extern "sysv64" fn() -> u32>(code.address())() }
    }

    #[test]
    fn runs_frees_and_reuses() {
        for memory in [CodeMemory::new(64), CodeMemory::by_page(64)] {
            let memory = memory.expect("this system runs code");
            let all: Vec<Installed> =
                (0..4).map(|value| memory.install(&constant(value)).expect("there is room")).collect();
            assert_eq!(memory.used(), 64);
            assert_eq!(all.iter().map(run).collect::<Vec<u32>>(), [0, 1, 2, 3]);
            assert!(matches!(memory.install(&constant(9)), Err(Error::OutOfCodeMemory)));
            for free in [1, 3, 2] {
                // SAFETY: installed above, freed once, not run again.
                unsafe { memory.free(all[free]) };
            }
            // What was freed in three parts is one.
            let mut long = vec![0x90; 42];
            long.extend(constant(7));
            let long = memory.install(&long).expect("there is room again");
            assert_eq!((run(&long), run(&all[0])), (7, 0));
            assert_eq!(memory.used(), 64);
        }
    }
}
