//! Sites: memory that belongs to one bytecode, in which it keeps what it has learned.
//!
//! In: the [`Site`] operands of a function's bytecodes. Out: [`Sites`], the memory of all of them, whose addresses are put into the
//! operands. A site holds up to a fixed number of *cases*, plain structs that a program fills in while it runs: the shape that an
//! object had, and where its field was. Templates read cases; native functions add and remove them through [`Cases`].
//!
//! The optimizer reads a [`SiteSnapshot`], in which cases are constants. So a case that compiled code has seen must remain true,
//! or the code must be discarded.
//!
//! **Invariant:** only the thread that runs the function touches the cases. Snapshots are made on that thread.

use super::bytecode::Bytecode;
use super::slow_paths::SlowPaths;
use core::any::TypeId;
use core::cell::Cell;
use core::fmt;
use core::marker::PhantomData;
use core::mem::{MaybeUninit, offset_of};
use core::sync::atomic::AtomicU8;
use core::sync::atomic::Ordering::Relaxed;

/// The memory of one bytecode: room for `N` cases of type `T`. The engine puts the address in when the function is defined.
///
/// ```
/// # use azulejo_core::ir::bytecode as azulejo;
/// use azulejo::Site;
/// let cache: Site<u64, 4> = Site::new();
/// assert_eq!(cache, Site::default());
/// ```
#[repr(transparent)]
pub struct Site<T, const N: usize> {
    address: u64,
    case: PhantomData<fn() -> T>,
}

impl<T, const N: usize> Site<T, N> {
    /// The operand of a bytecode that is not part of a function yet.
    pub const fn new() -> Self {
        Site { address: 0, case: PhantomData }
    }

    /// The address of the site's memory.
    #[doc(hidden)]
    pub const fn address(self) -> u64 {
        self.address
    }
}

impl<T, const N: usize> Default for Site<T, N> {
    fn default() -> Self {
        Self::new()
    }
}
impl<T, const N: usize> Clone for Site<T, N> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T, const N: usize> Copy for Site<T, N> {}
impl<T, const N: usize> PartialEq for Site<T, N> {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}
impl<T, const N: usize> Eq for Site<T, N> {}
impl<T, const N: usize> fmt::Debug for Site<T, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "site of {N}")
    }
}

/// The greatest number of cases of a site.
pub const MAX_CASES: usize = 16;

/// The description of a `Site` operand.
#[derive(Clone, Copy, Debug)]
pub struct SiteInfo {
    /// The type of a case.
    pub case_type: fn() -> TypeId,
    /// The size of a case.
    pub case_bytes: u32,
    /// How many cases there is room for.
    pub capacity: u32,
}

/// The start of a site's memory. The cases follow.
#[repr(C)]
struct Header {
    /// How many cases there are.
    count: Cell<u32>,
    capacity: u32,
    /// Where it is noted that the bytecode's slow path has run; null if the bytecode has no slow path.
    slow_path: *const AtomicU8,
}

/// Where in a site's memory the number of cases is: a `u32`.
pub const COUNT_OFFSET: usize = offset_of!(Header, count);

/// Where in a site's memory the first case is.
pub const CASES_OFFSET: usize = size_of::<Header>();

const _: () = assert!(CASES_OFFSET.is_multiple_of(size_of::<u64>()), "cases are aligned");

impl SiteInfo {
    /// The description of a site with this type of cases.
    ///
    /// # Panics
    ///
    /// If such cases cannot be in a site.
    #[doc(hidden)]
    pub const fn of<Case: Copy + 'static>(capacity: u32) -> SiteInfo {
        assert!(0 < capacity && capacity as usize <= MAX_CASES, "a site has room for 1 to 16 cases");
        assert!(align_of::<Case>() <= size_of::<u64>(), "the alignment of a case is at most that of a u64");
        SiteInfo { case_type: TypeId::of::<Case>, case_bytes: size_of::<Case>() as u32, capacity }
    }

    fn words(&self) -> usize {
        (CASES_OFFSET + self.case_bytes as usize * self.capacity as usize).div_ceil(size_of::<u64>())
    }
}

/// The cases of one site.
#[derive(Clone, Copy)]
pub struct Cases<'a, T> {
    header: &'a Header,
    /// The first of `capacity` cases.
    first: *const Cell<T>,
}

impl<T: Copy> fmt::Debug for Cases<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cases").field("len", &self.len()).finish_non_exhaustive()
    }
}

impl<'a, T: Copy> Cases<'a, T> {
    /// The cases of the site at an address.
    ///
    /// # Safety
    ///
    /// The address must be that of a site with cases of this type, which lives as long as `'a`.
    #[doc(hidden)]
    pub unsafe fn at(address: u64) -> Cases<'a, T> {
        let memory = core::ptr::with_exposed_provenance::<u8>(address as usize);
        // SAFETY: the memory of a site starts with a header.
        let header = unsafe { &*memory.cast::<Header>() };
        Cases { header, first: memory.wrapping_add(CASES_OFFSET).cast() }
    }

    /// How many cases there are.
    pub fn len(self) -> usize {
        self.header.count.get() as usize
    }

    /// Whether there are no cases.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// Whether there is no room for another case.
    pub fn is_full(self) -> bool {
        self.header.count.get() == self.header.capacity
    }

    /// The cases in order.
    pub fn iter(self) -> impl Iterator<Item = T> + use<'a, T> {
        // SAFETY: so many cases are there.
        (0..self.len()).map(move |at| unsafe { (*self.first.add(at)).get() })
    }

    /// Adds a case behind the others. Returns whether there was room. If there was, the slow path that calls this counts as one that has
    /// not run: the next time the bytecode has a quick way for this case.
    pub fn add(self, case: T) -> bool {
        if self.is_full() {
            return false;
        }
        // SAFETY: there is room for one more.
        unsafe { (*self.first.add(self.len())).set(case) };
        self.header.count.set(self.header.count.get() + 1);
        // SAFETY: it lives as long as the site.
        if let Some(slow_path) = unsafe { self.header.slow_path.as_ref() } {
            slow_path.store(0, Relaxed);
        }
        true
    }

    /// Keeps the cases for which a function returns true, in their order. Returns whether any was removed. Code of the optimizer
    /// does not notice: it must be discarded where a removed case is not true any more.
    pub fn retain(self, mut keeps: impl FnMut(&T) -> bool) -> bool {
        let before = self.len();
        let mut kept = 0;
        for (at, case) in self.iter().enumerate() {
            if keeps(&case) {
                if kept != at {
                    // SAFETY: so many cases are there.
                    unsafe { (*self.first.add(kept)).set(case) };
                }
                kept += 1;
            }
        }
        self.header.count.set(kept as u32);
        kept != before
    }
}

/// The sites of one function.
pub struct Sites {
    /// The memory of all sites, one after the other. Padding in cases has no value.
    memory: Vec<Cell<MaybeUninit<u64>>>,
    /// Where each site starts, in words, and what it is.
    list: Vec<(u32, SiteInfo)>,
}

// SAFETY: other threads use only the addresses, and lists that do not change.
unsafe impl Sync for Sites {}

impl fmt::Debug for Sites {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sites").field("list", &self.list).finish_non_exhaustive()
    }
}

impl Sites {
    /// Makes the sites of this code, without cases, and puts their addresses into its operands.
    pub fn of<B: Bytecode>(code: &mut [B], slow_paths: &SlowPaths) -> Sites {
        let mut list = Vec::new();
        if B::SITES.is_empty() {
            return Sites { memory: Vec::new(), list };
        }
        let mut n_words = 0;
        for op in &*code {
            for (_, info) in B::SITES[op.opcode()] {
                list.push((n_words as u32, *info));
                n_words += info.words();
            }
        }
        let memory: Vec<_> = (0..n_words).map(|_| Cell::new(MaybeUninit::new(0))).collect();
        let start = memory.as_ptr().expose_provenance();
        let mut next = list.iter();
        for (at, op) in code.iter_mut().enumerate() {
            let opcode = op.opcode();
            for (operand, info) in B::SITES[opcode] {
                let (word, _) = next.next().expect("the sites were counted");
                let address = start + *word as usize * size_of::<u64>();
                let slow_path = slow_paths.entry(at as u32).map_or(core::ptr::null(), core::ptr::from_ref);
                let header = Header { count: Cell::new(0), capacity: info.capacity, slow_path };
                // SAFETY: there is room for the header.
                unsafe {
                    core::ptr::with_exposed_provenance_mut::<Header>(address).write(header);
                }
                let offset = B::OFFSETS[opcode][*operand as usize] as usize;
                // SAFETY: the operand is a `Site`, which is an address.
                unsafe {
                    core::ptr::from_mut(op).cast::<u8>().add(offset).cast::<u64>().write(address as u64);
                }
            }
        }
        Sites { memory, list }
    }

    /// The cases of all sites whose cases have this type.
    pub fn of_type<T: Copy + 'static>(&self) -> impl Iterator<Item = Cases<'_, T>> {
        let start = self.memory.as_ptr().expose_provenance();
        let sites = self.list.iter().filter(|(_, info)| (info.case_type)() == TypeId::of::<T>());
        // SAFETY: the sites have cases of this type.
        sites.map(move |(word, _)| unsafe { Cases::at((start + *word as usize * size_of::<u64>()) as u64) })
    }

    /// Removes all cases of all sites. Returns whether there were any.
    pub fn clear(&self) -> bool {
        let start = self.memory.as_ptr().expose_provenance();
        let mut had_some = false;
        for (word, _) in &self.list {
            let address = start + *word as usize * size_of::<u64>();
            // SAFETY: a site starts with a header.
            let header = unsafe { &*core::ptr::with_exposed_provenance::<Header>(address) };
            had_some |= header.count.replace(0) != 0;
        }
        had_some
    }

    /// The sites as they are now; `None` if there are none. Only for the thread that runs the function.
    pub fn snapshot(&self) -> Option<SiteSnapshot> {
        (!self.memory.is_empty()).then(|| SiteSnapshot {
            address: self.memory.as_ptr().expose_provenance() as u64,
            words: self.memory.iter().map(Cell::get).collect(),
        })
    }
}

/// The sites of a function at one moment.
#[derive(Clone, Debug)]
pub struct SiteSnapshot {
    address: u64,
    words: Vec<MaybeUninit<u64>>,
}

impl SiteSnapshot {
    /// The value of this many bytes at an address; `None` if that is in no site.
    ///
    /// # Safety
    ///
    /// If it is in a site, it must be the number of cases or in a field of a case, and not in padding.
    pub unsafe fn read(&self, address: u64, bytes: u32) -> Option<u64> {
        let at = usize::try_from(address.checked_sub(self.address)?).ok()?;
        let end = at.checked_add(bytes as usize)?;
        if end > size_of_val(&*self.words) || bytes as usize > size_of::<u64>() {
            return None;
        }
        let mut value = [0; size_of::<u64>()];
        // SAFETY: the bytes are in the list, and have values.
        unsafe {
            let from = self.words.as_ptr().cast::<u8>().add(at);
            from.copy_to_nonoverlapping(value.as_mut_ptr(), bytes as usize);
        }
        Some(u64::from_ne_bytes(value))
    }
}
