//! Memory for machine code.
//!
//! In: finished code. Out: the address it runs at. Holds: no address is ever both writable and executable; code in use never
//! moves and stays executable; running out of memory is an error; and memory is reused once its code is dropped. Cost: the
//! logarithm of the number of free runs.
//!
//! On Linux one region is reserved at the start and mapped twice ([`dual`]): it is written through one mapping and executed
//! through the other. So a thread may add code while others run. If the system refuses that, each function has pages of its
//! own, which are written first and then made executable for good.
//!
//! When the process forks, parent and child each have their own copy of the code afterwards ([`fork`]). If the system has no
//! memory for a copy, they share it: then no existing code is ever overwritten, and the child adds none.

mod dual;
#[cfg_attr(not(unix), allow(dead_code, reason = "no process is copied there"))]
pub mod fork;
pub mod near;
pub mod reach;

use crate::machine::Machine;
use crate::unwind::{self, Described, GRANULE, Registration};
use azulejo_core::error::{Error, Unsupported};
use dual::{DualMapping, Spare};
use memmap2::{Mmap, MmapMut};
use reach::Reach;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The alignment of code: constants beside it are read 16 bytes at a time.
const ALIGNMENT: usize = GRANULE;
/// Finished code, which is position-independent.
#[derive(Clone, Copy, Debug)]
pub struct Finished<'a> {
    /// The bytes of the code.
    pub bytes: &'a [u8],
    /// The fields that name an address by its distance, and the address.
    pub addresses: &'a [(u32, u64)],
    /// Its description for debuggers and unwinders.
    pub described: Described<'a>,
}

/// A handle to a region for code; all clones are handles to the same region.
#[derive(Debug)]
pub struct CodeMemory {
    region: Arc<Region>,
}

impl Clone for CodeMemory {
    fn clone(&self) -> CodeMemory {
        self.region.lock().handles += 1;
        CodeMemory { region: Arc::clone(&self.region) }
    }
}

impl Drop for CodeMemory {
    fn drop(&mut self) {
        self.region.lock().handles -= 1;
    }
}

#[derive(Debug)]
pub(crate) struct Region {
    dual: Option<DualMapping>,
    size: usize,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// The free runs, if there is a dual mapping.
    free: Free,
    used: usize,
    /// How many handles to the region exist.
    handles: usize,
    /// Whether another process shares this memory, and may run any code in it.
    is_shared: bool,
}

/// A region during a fork.
#[cfg_attr(not(unix), allow(dead_code, reason = "no process is copied there"))]
pub(crate) struct AtFork<'a> {
    dual: Option<&'a DualMapping>,
    state: MutexGuard<'a, State>,
    /// The memory for the child's code.
    spare: Option<Spare>,
}

/// The free runs; no two of them touch.
#[derive(Debug, Default)]
struct Free {
    /// Size by offset.
    by_offset: BTreeMap<usize, usize>,
    /// Size and offset.
    by_size: BTreeSet<(usize, usize)>,
}

/// Installed code. Dropping it frees its memory for other code.
#[derive(Debug)]
pub struct Installed {
    region: Arc<Region>,
    address: usize,
    size: usize,
    /// Without a dual mapping, the code's own pages and the registration of its unwind rules.
    _pages: Option<(Registration, Mmap)>,
}

impl Installed {
    /// The address that the code runs at.
    pub fn address(&self) -> *const u8 {
        self.address as *const u8
    }

    /// The size of the code in bytes, rounded up.
    pub fn size(&self) -> usize {
        self.size
    }
}

impl Drop for Installed {
    fn drop(&mut self) {
        let mut state = self.region.lock();
        state.used -= self.size;
        let Some(dual) = &self.region.dual else { return };
        if state.handles == 0 || state.is_shared {
            // Either no more code will be installed, and the region is unmapped with its last code; or another process may run
            // it.
            return;
        }
        let place = self.address - dual.start();
        dual.wipe(place, self.size);
        state.free.give_back(place, self.size);
    }
}

impl Free {
    /// Takes the end of the smallest run that is large enough, so that large runs stay whole as long as possible. A run keeps
    /// its start, whatever is taken from its end or given back there.
    fn take(&mut self, size: usize) -> Option<usize> {
        let &(room, place) = self.by_size.range((size, 0)..).next()?;
        match room - size {
            0 => self.remove(place, room),
            left => self.resize(place, room, left),
        }
        Some(place + room - size)
    }

    /// The gaps between the runs, as offsets and sizes.
    #[cfg_attr(not(unix), allow(dead_code, reason = "no process is copied there"))]
    fn gaps(&self, end: usize) -> impl Iterator<Item = (usize, usize)> {
        let runs = self.by_offset.iter().map(|(place, size)| (*place, *size)).chain([(end, 0)]);
        let mut start = 0;
        let gaps = runs.map(move |(place, size)| (core::mem::replace(&mut start, place + size), place));
        gaps.map(|(start, end)| (start, end - start)).filter(|(_, size)| *size > 0)
    }

    fn give_back(&mut self, place: usize, mut size: usize) {
        let mut before = self.by_offset.range(..=place + size).rev().map(|(&at, &size)| (at, size));
        let mut last = before.next();
        if let Some((next, more)) = last.filter(|(next, _)| *next == place + size) {
            last = before.next();
            self.remove(next, more);
            size += more;
        }
        match last {
            Some((last, more)) if last + more == place => self.resize(last, more, more + size),
            _ => self.insert(place, size),
        }
    }

    /// Changes the length of the run at an offset.
    fn resize(&mut self, place: usize, from: usize, to: usize) {
        self.by_offset.insert(place, to);
        self.by_size.remove(&(from, place));
        self.by_size.insert((to, place));
    }

    fn insert(&mut self, place: usize, size: usize) {
        self.by_offset.insert(place, size);
        self.by_size.insert((size, place));
    }

    fn remove(&mut self, place: usize, size: usize) {
        self.by_offset.remove(&place);
        self.by_size.remove(&(size, place));
    }
}

impl CodeMemory {
    /// Reserves `size` bytes of address space for code. Pages that are never written cost nothing.
    pub fn new(machine: &'static Machine, size: usize) -> Result<CodeMemory, Unsupported> {
        CodeMemory::reserved(machine, size, DualMapping::new)
    }

    /// As [`new`](Self::new), but out of the reach of this program's code, if the system allows it.
    pub fn far(machine: &'static Machine, size: usize) -> Result<CodeMemory, Unsupported> {
        CodeMemory::reserved(machine, size, DualMapping::far)
    }

    fn reserved(
        machine: &'static Machine,
        size: usize,
        map: fn(&'static Machine, usize) -> Option<DualMapping>,
    ) -> Result<CodeMemory, Unsupported> {
        let size = CodeMemory::rounded(size);
        let Some(dual) = map(machine, size) else { return CodeMemory::by_page(machine, size) };
        let mut state = State::default();
        state.free.insert(0, size);
        Ok(CodeMemory::of(Some(dual), size, state))
    }

    /// As [`new`](Self::new), but each function has pages of its own.
    pub fn by_page(machine: &'static Machine, size: usize) -> Result<CodeMemory, Unsupported> {
        // Finds out now, rather than at the first function, whether the system allows executable memory at all.
        executable(1, |_, page| page.fill(machine.filler[0])).ok_or(Unsupported::Memory)?;
        Ok(CodeMemory::of(None, size, State::default()))
    }

    /// A size rounded to the alignment, and limited to the largest possible one.
    fn rounded(size: usize) -> usize {
        (size.min(isize::MAX as usize + 1 - ALIGNMENT)).next_multiple_of(ALIGNMENT).max(ALIGNMENT)
    }

    fn of(dual: Option<DualMapping>, size: usize, state: State) -> CodeMemory {
        let state = State { handles: 1, ..state };
        let region = Arc::new(Region { dual, size, state: Mutex::new(state) });
        fork::add(Arc::as_ptr(&region));
        CodeMemory { region }
    }

    /// Copies code to executable memory.
    pub fn install(&self, code: &Finished<'_>) -> Result<Installed, Error> {
        let Finished { bytes, addresses, described } = *code;
        self.install_with(described, bytes.len(), |at, room| {
            room.copy_from_slice(bytes);
            for &(place, address) in addresses {
                described.machine.relocate(room, place as usize, at, address);
            }
        })
    }

    /// Installs `len` bytes of code; `fill` writes them, and is passed the address at which they will run.
    pub fn install_with(
        &self,
        described: Described<'_>,
        len: usize,
        fill: impl FnOnce(usize, &mut [u8]),
    ) -> Result<Installed, Error> {
        let size = len.next_multiple_of(ALIGNMENT).max(ALIGNMENT);
        let region = Arc::clone(&self.region);
        let mut state = self.region.lock();
        let Some(dual) = &self.region.dual else {
            if size > region.size.saturating_sub(state.used) {
                return Err(Error::OutOfCodeMemory);
            }
            let pages = executable(len, fill).ok_or(Error::OutOfCodeMemory)?;
            state.used += size;
            let address = pages.as_ptr() as usize;
            let registration = Registration::new(unwind::of_function(&described, address));
            return Ok(Installed { region, address, size, _pages: Some((registration, pages)) });
        };
        let place = state.free.take(size).ok_or(Error::OutOfCodeMemory)?;
        state.used += size;
        let address = dual.start() + place;
        // Under the lock, so that a fork copies only whole functions.
        let room = dual.room(place, size, described.frame);
        let (code, behind) = room.split_at_mut(len);
        described.machine.fill_up(behind, len);
        fill(address, code);
        Ok(Installed { region, address, size, _pages: None })
    }

    /// The addresses that code in this memory can name by a distance.
    pub fn reach(&self) -> Reach {
        self.region.dual.as_ref().map_or_else(Reach::default, DualMapping::reach)
    }

    /// How many bytes are in use.
    pub fn used(&self) -> usize {
        self.region.lock().used
    }

    /// The size of the region in bytes.
    pub fn size(&self) -> usize {
        self.region.size
    }

    /// How many free runs there are; one if no memory is in use.
    pub fn free_runs(&self) -> usize {
        self.region.lock().free.by_offset.len()
    }
}

impl Region {
    fn lock(&self) -> MutexGuard<'_, State> {
        // Nothing in here panics halfway through a change.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Locks the region, and copies the code in it if there is memory for that.
    #[cfg_attr(not(unix), allow(dead_code, reason = "no process is copied there"))]
    pub(crate) fn before_fork(&self) -> AtFork<'_> {
        let (dual, state) = (self.dual.as_ref(), self.lock());
        // If no more code is installed, none is overwritten.
        let copied = dual.filter(|_| state.handles > 0);
        let spare = copied.and_then(|dual| dual.copy(state.free.gaps(self.size)));
        AtFork { dual, state, spare }
    }
}

impl Drop for Region {
    fn drop(&mut self) {
        fork::remove(self);
    }
}

#[cfg_attr(not(unix), allow(dead_code, reason = "no process is copied there"))]
impl AtFork<'_> {
    /// The parent continues unaffected, unless the child has no memory of its own.
    pub(crate) fn in_parent(mut self) {
        self.state.is_shared |= self.dual.is_some() && self.spare.is_none();
    }

    pub(crate) fn in_child(mut self) {
        let Some(dual) = self.dual else { return };
        let is_own = self.spare.take().is_some_and(|spare| dual.become_spare(spare));
        self.state.is_shared = !is_own;
        if !is_own {
            self.state.free = Free::default();
        }
    }
}

/// Executable pages of their own, with `len` bytes of code.
fn executable(len: usize, fill: impl FnOnce(usize, &mut [u8])) -> Option<Mmap> {
    let mut pages = MmapMut::map_anon(len.max(1)).ok()?;
    let address = pages.as_ptr() as usize;
    fill(address, &mut pages[..len]);
    pages.make_exec().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::toy::{self, TOY};
    use azulejo_core::fuzzing::Random;

    /// Code that consists of a number.
    fn constant(value: u32) -> Vec<u8> {
        value.to_le_bytes().into()
    }

    /// The number that the code consists of.
    fn read(code: &Installed) -> u32 {
        // SAFETY: executable memory is readable, and all code that is installed here has at least four bytes.
        u32::from_le(unsafe { code.address().cast::<u32>().read() })
    }

    fn install(memory: &CodeMemory, code: &[u8]) -> Result<Installed, Error> {
        memory.install(&toy::finished(code))
    }

    #[test]
    fn runs_frees_and_reuses() {
        for memory in [CodeMemory::new(&TOY, 64), CodeMemory::by_page(&TOY, 64)] {
            let memory = memory.expect("this system runs code");
            let mut all: Vec<Installed> =
                (0..4).map(|value| install(&memory, &constant(value)).expect("there is room")).collect();
            assert_eq!(memory.used(), 64);
            assert_eq!(all.iter().map(read).collect::<Vec<u32>>(), [0, 1, 2, 3]);
            assert!(matches!(install(&memory, &constant(9)), Err(Error::OutOfCodeMemory)));
            for free in [1, 2, 1] {
                all.remove(free);
            }
            // Three adjacent parts that were freed form one run.
            let mut long = constant(7);
            long.resize(48, 0);
            let long = install(&memory, &long).expect("there is room again");
            assert_eq!((read(&long), read(&all[0])), (7, 0));
            assert_eq!(memory.used(), 64);
        }
    }

    /// Functions of random size come and go; no memory is lost, and installed code stays intact.
    #[test]
    fn room_is_not_lost_over_time() {
        let memory = CodeMemory::new(&TOY, 1 << 18).expect("this system runs code");
        let mut random = Random::new(1);
        let (mut all, mut refused) = (Vec::new(), 0);
        for value in 0..40_000 {
            let mut code = constant(value);
            code.resize(4 + random.below(3000), 0xff);
            match install(&memory, &code) {
                Ok(code) => all.push((value, code)),
                Err(_) => {
                    refused += 1;
                    for _ in 0..8 {
                        all.swap_remove(random.below(all.len()));
                    }
                }
            }
            if value % 64 == 0 {
                let (value, code) = &all[random.below(all.len())];
                assert_eq!(read(code), *value);
                let used: usize = all.iter().map(|(_, code)| code.size()).sum();
                assert_eq!(used, memory.used());
                // Code is refused only if little memory is left: the free memory is not fragmented.
                assert!(refused == 0 || used > memory.size() / 2, "{used} bytes are in use");
            }
        }
        assert!(refused > 100, "{refused}");
        all.clear();
        assert_eq!((memory.used(), memory.free_runs()), (0, 1));
    }

    #[test]
    fn code_outlives_the_handles_of_its_memory() {
        let memory = CodeMemory::new(&TOY, 1 << 16).expect("this system runs code");
        let other = memory.clone();
        let [a, b, c] = [1, 2, 3].map(|value| install(&memory, &constant(value)).expect("there is room"));
        drop(memory);
        drop(a);
        // Another handle may still install code: the free memory is ready for it.
        assert_eq!((other.used(), read(&install(&other, &constant(4)).expect("there is room"))), (32, 4));
        drop(other);
        drop(b);
        assert_eq!(read(&c), 3);
    }

    #[test]
    fn code_made_on_one_thread_runs_on_another() {
        let memory = CodeMemory::new(&TOY, 1 << 16).expect("this system runs code");
        let threads: Vec<_> = (0..4u32)
            .map(|thread| {
                let memory = memory.clone();
                std::thread::spawn(move || {
                    let made: Vec<Installed> = (0..200)
                        .map(|at| install(&memory, &constant(thread * 1000 + at)).expect("there is room"))
                        .collect();
                    assert!(made.iter().map(read).eq(thread * 1000..thread * 1000 + 200));
                    made
                })
            })
            .collect();
        for (thread, made) in threads.into_iter().enumerate() {
            let made = made.join().expect("the thread ends well");
            let first = thread as u32 * 1000;
            assert!(made.iter().map(read).eq(first..first + 200));
        }
        assert_eq!(memory.used(), 0);
    }
}
