//! Sites: memory that belongs to one bytecode, in which it keeps what it has learned.
//!
//! In: the [`Site`] operands of a function's bytecodes. Out: [`Sites`], the memory of all of them, whose addresses are put into the
//! operands. A site holds up to a fixed number of *cases*, plain structs that a program fills in while it runs: the shape that an
//! object had, and where its field was. Templates read cases; native functions add and remove them through [`Cases`].
//!
//! The optimizer reads a [`SiteSnapshot`], in which cases are constants, and baseline code has the first case of a site in it. So a case that
//! compiled code has seen must remain true, or the code must be discarded.
//!
//! **Invariant:** only the thread that runs the function touches the cases. Snapshots are made on that thread.

use super::bytecode::Bytecode;
use super::case_text::{WriteCase, write_mark};
use super::slow_paths::SlowPaths;
use core::any::TypeId;
use core::cell::Cell;
use core::fmt;
use core::marker::PhantomData;
use core::mem::{MaybeUninit, offset_of};
use core::sync::atomic::AtomicU8;
use core::sync::atomic::Ordering::Relaxed;

/// The memory of one bytecode: room for `N` cases of type `T`, of which there are none at first. `T` is a plain struct, and `N` a number
/// from 1 to 16.
///
/// The operand of a bytecode that is not part of a function yet is nothing. The engine puts the address in when the function is
/// defined, so that each bytecode of each function has cases of its own.
///
/// ```
/// # use azulejo_core::ir::bytecode as azulejo;
/// use azulejo::Site;
/// let cache: Site<u64, 4> = Site::new();
/// assert_eq!(cache, Site::default());
/// assert_eq!(format!("{cache:?}"), "site of 4");
/// ```
#[repr(transparent)]
pub struct Site<T, const N: usize> {
    address: u64,
    case: PhantomData<fn() -> T>,
}

impl<T, const N: usize> Site<T, N> {
    /// The operand of a bytecode that is not part of a function yet.
    ///
    /// ```
    /// # use azulejo_core::ir::bytecode as azulejo;
    /// use azulejo::{Out, Site};
    ///
    /// enum Op {
    ///     GetField { dst: Out<u64>, cache: Site<(u32, u32), 4> },
    /// }
    ///
    /// let op = Op::GetField { dst: 0.into(), cache: Site::new() };
    /// # let Op::GetField { dst, cache } = op;
    /// # assert_eq!((dst.index, cache), (0, Site::default()));
    /// ```
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
    /// Writes a case for people.
    pub write_case: WriteCase,
}

/// The start of a site's memory. The cases follow.
#[repr(C, align(8))]
struct Header {
    /// How many cases there are.
    count: Cell<u32>,
    /// How many there may be: as many as there is room for, or as many as there were when the site was closed.
    limit: Cell<u32>,
    capacity: u32,
    /// Whether cases were taken out, of which compiled code may know.
    has_forgotten: Cell<bool>,
    /// Where it is noted that the bytecode's slow path has run; null if the bytecode has no slow path.
    slow_path: *const AtomicU8,
}

/// Where in a site's memory the number of cases is: a `u32`.
pub const COUNT_OFFSET: usize = offset_of!(Header, count);

/// Where in a site's memory is how many there may be: a `u32`.
pub const LIMIT_OFFSET: usize = offset_of!(Header, limit);

/// Where in a site's memory it says whether cases were taken out: a byte that is zero if none were.
pub const FORGOTTEN_OFFSET: usize = offset_of!(Header, has_forgotten);

/// Where in a site's memory the first case is.
pub const CASES_OFFSET: usize = size_of::<Header>();

const _: () = assert!(CASES_OFFSET.is_multiple_of(size_of::<u64>()), "cases are aligned");

impl SiteInfo {
    /// The description of a site with this type of cases, of which nothing can be written.
    ///
    /// # Panics
    ///
    /// If such cases cannot be in a site.
    #[doc(hidden)]
    pub const fn of<Case: Copy + 'static>(capacity: u32) -> SiteInfo {
        assert!(0 < capacity && capacity as usize <= MAX_CASES, "a site has room for 1 to 16 cases");
        assert!(align_of::<Case>() <= size_of::<u64>(), "the alignment of a case is at most that of a u64");
        let (case_type, case_bytes) = (TypeId::of::<Case>, size_of::<Case>() as u32);
        SiteInfo { case_type, case_bytes, capacity, write_case: write_mark }
    }

    /// The same site, whose cases are written like this.
    #[doc(hidden)]
    pub const fn written_by(self, write_case: WriteCase) -> SiteInfo {
        SiteInfo { write_case, ..self }
    }

    fn words(&self) -> usize {
        (CASES_OFFSET + self.case_bytes as usize * self.capacity as usize).div_ceil(size_of::<u64>())
    }
}

/// The cases of one site, as a function takes them to which a template passes the site: `(carg $cache ptr)`.
///
/// Code that runs may be older than a case, and so ask for what is there already. A function that adds a case looks first.
///
/// ```
/// # use azulejo_core::ir::bytecode as azulejo;
/// # use azulejo_core::ir::sites::{SiteInfo, Sites};
/// use azulejo::Cases;
///
/// #[derive(Clone, Copy)]
/// struct Field {
///     shape: u32,
///     offset: u32,
/// }
///
/// /// Where a field is in objects of a shape.
/// fn field(shape: u32, cases: Cases<'_, Field>) -> u32 {
///     let offset = 8 * shape; // found in the table of the shape
///     if cases.iter().all(|case| case.shape != shape) {
///         cases.add(Field { shape, offset });
///     }
///     offset
/// }
/// # Sites::alone(&[SiteInfo::of::<Field>(2)]).of_type::<Field>().for_each(|cases| {
/// #     assert_eq!([1, 2, 2, 3].map(|shape| field(shape, cases)), [8, 16, 16, 24]);
/// #     assert_eq!(cases.iter().map(|case| case.offset).collect::<Vec<_>>(), [8, 16]);
/// # });
/// ```
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
    ///
    /// ```
    /// # use azulejo_core::ir::bytecode as azulejo;
    /// # use azulejo_core::ir::sites::{SiteInfo, Sites};
    /// # use azulejo::Cases;
    /// fn learn(cases: Cases<'_, u64>) {
    ///     cases.add(7);
    ///     assert_eq!(cases.len(), 1);
    /// }
    /// # Sites::alone(&[SiteInfo::of::<u64>(2)]).of_type().for_each(learn);
    /// ```
    pub fn len(self) -> usize {
        self.header.count.get() as usize
    }

    /// Whether there are no cases.
    ///
    /// ```
    /// # use azulejo_core::ir::bytecode as azulejo;
    /// # use azulejo_core::ir::sites::{SiteInfo, Sites};
    /// # use azulejo::Cases;
    /// fn learn(cases: Cases<'_, u64>) {
    ///     assert!(cases.is_empty());
    ///     cases.add(7);
    ///     assert!(!cases.is_empty());
    /// }
    /// # Sites::alone(&[SiteInfo::of::<u64>(2)]).of_type().for_each(learn);
    /// ```
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// Whether there is no room for another case, or the site is [closed](Self::close).
    ///
    /// ```
    /// # use azulejo_core::ir::bytecode as azulejo;
    /// # use azulejo_core::ir::sites::{SiteInfo, Sites};
    /// # use azulejo::Cases;
    /// /// Of a `Site<u64, 2>`.
    /// fn learn(cases: Cases<'_, u64>) {
    ///     assert!(cases.add(7) && !cases.is_full());
    ///     assert!(cases.add(8) && cases.is_full());
    /// }
    /// # Sites::alone(&[SiteInfo::of::<u64>(2)]).of_type().for_each(learn);
    /// ```
    pub fn is_full(self) -> bool {
        self.header.count.get() == self.header.limit.get()
    }

    /// The cases in order. Those that are added meanwhile are not among them.
    ///
    /// ```
    /// # use azulejo_core::ir::bytecode as azulejo;
    /// # use azulejo_core::ir::sites::{SiteInfo, Sites};
    /// # use azulejo::Cases;
    /// fn learn(cases: Cases<'_, u64>) {
    ///     cases.add(7);
    ///     cases.add(8);
    ///     assert_eq!(cases.iter().collect::<Vec<u64>>(), [7, 8]);
    /// }
    /// # Sites::alone(&[SiteInfo::of::<u64>(2)]).of_type().for_each(learn);
    /// ```
    pub fn iter(self) -> impl Iterator<Item = T> + use<'a, T> {
        // SAFETY: so many cases are there.
        (0..self.len()).map(move |at| unsafe { (*self.first.add(at)).get() })
    }

    /// Adds a case behind the others. Returns whether there was room.
    ///
    /// If there was, the slow path of the bytecode counts as one that has not run: the next time there is a quick way for this case, and
    /// the optimizer leaves the slow path out. If there was not, it has run, and the optimizer compiles it.
    ///
    /// So a case that is there already, and has not helped, is not to be added again: the optimizer's code would be left each time.
    ///
    /// ```
    /// # use azulejo_core::ir::bytecode as azulejo;
    /// # use azulejo_core::ir::sites::{SiteInfo, Sites};
    /// # use azulejo::Cases;
    /// /// Of a `Site<u64, 2>`.
    /// fn learn(cases: Cases<'_, u64>) {
    ///     assert_eq!([7, 8, 9].map(|case| cases.add(case)), [true, true, false]);
    ///     assert_eq!(cases.iter().collect::<Vec<u64>>(), [7, 8]);
    /// }
    /// # Sites::alone(&[SiteInfo::of::<u64>(2)]).of_type().for_each(learn);
    /// ```
    #[expect(clippy::should_implement_trait, reason = "nothing is summed up")]
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

    /// Lets the site have no more cases than it has. So the optimizer knows them all, as those of a site without room for more, and leaves
    /// no code in which a new one could be found: a site that will not learn any is closed. It is open again when cases are removed from
    /// it.
    ///
    /// ```
    /// # use azulejo_core::ir::bytecode as azulejo;
    /// # use azulejo_core::ir::sites::{SiteInfo, Sites};
    /// # use azulejo::Cases;
    /// /// Of a `Site<u64, 2>`.
    /// fn learn(cases: Cases<'_, u64>) {
    ///     assert!(cases.add(7));
    ///     cases.close();
    ///     assert!(cases.is_full() && !cases.add(8));
    ///     cases.retain(|case| *case != 7);
    ///     assert!(cases.add(8));
    /// }
    /// # Sites::alone(&[SiteInfo::of::<u64>(2)]).of_type().for_each(learn);
    /// ```
    pub fn close(self) {
        self.header.limit.set(self.header.count.get());
    }

    /// Puts a case in place of the one at a position; does nothing if there is none. The slow path counts as before: this is for a
    /// site that is full, and whose cases are others by now.
    ///
    /// Compiled code does not notice, as with [`retain`](Self::retain).
    ///
    /// ```
    /// # use azulejo_core::ir::bytecode as azulejo;
    /// # use azulejo_core::ir::sites::{SiteInfo, Sites};
    /// # use azulejo::Cases;
    /// fn learn(cases: Cases<'_, u64>) {
    ///     cases.add(7);
    ///     cases.add(8);
    ///     cases.replace(0, 9);
    ///     cases.replace(2, 10);
    ///     assert_eq!(cases.iter().collect::<Vec<u64>>(), [9, 8]);
    /// }
    /// # Sites::alone(&[SiteInfo::of::<u64>(2)]).of_type().for_each(learn);
    /// ```
    pub fn replace(self, at: usize, case: T) {
        if at < self.len() {
            // SAFETY: so many cases are there.
            unsafe { (*self.first.add(at)).set(case) };
            self.header.has_forgotten.set(true);
        }
    }

    /// Keeps the cases for which a function returns true, in their order. Returns whether any was removed.
    ///
    /// Compiled code does not notice. So this is for cases that are not wanted any more; where one is not true any more, the engine
    /// has to discard code as well, and does so if it is asked to retain cases.
    ///
    /// ```
    /// # use azulejo_core::ir::bytecode as azulejo;
    /// # use azulejo_core::ir::sites::{SiteInfo, Sites};
    /// # use azulejo::Cases;
    /// fn learn(cases: Cases<'_, u64>) {
    ///     cases.add(7);
    ///     cases.add(8);
    ///     assert!(cases.retain(|case| *case == 8));
    ///     assert!(!cases.retain(|case| *case == 8));
    ///     assert_eq!(cases.iter().collect::<Vec<u64>>(), [8]);
    /// }
    /// # Sites::alone(&[SiteInfo::of::<u64>(2)]).of_type().for_each(learn);
    /// ```
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
        if kept != before {
            self.header.limit.set(self.header.capacity);
            self.header.has_forgotten.set(true);
        }
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
        if B::SITES.is_empty() {
            return Sites::alone(&[]);
        }
        let all = code.iter().enumerate().flat_map(|(at, op)| {
            let slow_path = slow_paths.entry(at as u32).map_or(core::ptr::null(), core::ptr::from_ref);
            B::SITES[op.opcode()].iter().map(move |(_, info)| (*info, slow_path))
        });
        let sites = Sites::new(all.collect());
        let mut addresses = sites.addresses();
        for op in code {
            let opcode = op.opcode();
            for (operand, _) in B::SITES[opcode] {
                let address = addresses.next().expect("the sites were counted");
                let offset = B::OFFSETS[opcode][*operand as usize] as usize;
                // SAFETY: the operand is a `Site`, which is an address.
                unsafe {
                    core::ptr::from_mut(op)
                        .cast::<u8>()
                        .add(offset)
                        .cast::<u64>()
                        .write_unaligned(address as u64);
                }
            }
        }
        drop(addresses);
        sites
    }

    /// Sites of no bytecode, without cases.
    #[doc(hidden)]
    pub fn alone(infos: &[SiteInfo]) -> Sites {
        Sites::new(infos.iter().map(|info| (*info, core::ptr::null())).collect())
    }

    /// Sites without cases, each with the entry of its bytecode's slow path.
    fn new(all: Vec<(SiteInfo, *const AtomicU8)>) -> Sites {
        let (mut list, mut n_words) = (Vec::with_capacity(all.len()), 0);
        for (info, _) in &all {
            list.push((n_words as u32, *info));
            n_words += info.words();
        }
        let memory = (0..n_words).map(|_| Cell::new(MaybeUninit::new(0))).collect();
        let sites = Sites { memory, list };
        for ((info, slow_path), address) in core::iter::zip(all, sites.addresses()) {
            let capacity = info.capacity;
            let (count, limit, has_forgotten) = (Cell::new(0), Cell::new(capacity), Cell::new(false));
            let header = Header { count, limit, capacity, has_forgotten, slow_path };
            // SAFETY: there is room for the header, and nothing refers to it yet.
            unsafe {
                core::ptr::with_exposed_provenance_mut::<Header>(address).write(header);
            }
        }
        sites
    }

    /// The address of each site.
    fn addresses(&self) -> impl Iterator<Item = usize> + use<'_> {
        let start = self.memory.as_ptr().expose_provenance();
        self.list.iter().map(move |(word, _)| start + *word as usize * size_of::<u64>())
    }

    fn headers(&self) -> impl Iterator<Item = &Header> {
        // SAFETY: a site starts with a header.
        self.addresses().map(|address| unsafe { &*core::ptr::with_exposed_provenance(address) })
    }

    /// The site at an address, with its cases, as text; `None` if it has no cases. Only for the thread that runs the function.
    pub fn describe(&self, address: u64) -> Option<String> {
        let word = (address as usize).checked_sub(self.memory.as_ptr().addr())? / size_of::<u64>();
        let at = self.list.binary_search_by_key(&word, |(word, _)| *word as usize).ok()?;
        let (_, info) = &self.list[at];
        // SAFETY: there is a site of this type.
        let cases = unsafe { Cases::<u8>::at(address) };
        let first: *const u8 = cases.first.cast();
        // SAFETY: the cases are there, and of the type of the site.
        let write = |at, f: &mut fmt::Formatter<'_>| unsafe {
            (info.write_case)(first.add(at * info.case_bytes as usize), f)
        };
        let written = (0..cases.len()).map(|at| fmt::from_fn(move |f| write(at, f)).to_string());
        let written: Vec<String> = written.collect();
        let (count, capacity) = (written.len(), info.capacity);
        (count != 0).then(|| format!("{count} of {capacity} cases: {}", written.join(", ")))
    }

    /// How many cases the site at an address has; zero if there is no site.
    pub fn len_at(&self, address: u64) -> usize {
        let start = self.memory.as_ptr().expose_provenance() as u64;
        let is_there = address.checked_sub(start).is_some_and(|at| at < size_of_val(&*self.memory) as u64);
        // SAFETY: the operands of the function's bytecodes are the addresses of its sites. The type of the cases does not matter.
        if is_there { unsafe { Cases::<u8>::at(address) }.len() } else { 0 }
    }

    /// The value of this many bytes of a site, zero-extended, so far behind its start.
    ///
    /// # Safety
    ///
    /// There must be a site at the address, used only by this thread, and at the offset one of the numbers in its header or in a field of
    /// a case that is there, and not padding.
    pub unsafe fn read(address: u64, offset: u32, bytes: u8) -> u64 {
        let from = core::ptr::with_exposed_provenance::<u8>(address as usize).wrapping_add(offset as usize);
        // SAFETY: the caller guarantees it.
        unsafe { zero_extended(from, bytes as usize) }
    }

    /// The cases of all sites whose cases have this type.
    pub fn of_type<T: Copy + 'static>(&self) -> impl Iterator<Item = Cases<'_, T>> {
        let all = core::iter::zip(&self.list, self.addresses());
        let sites = all.filter(|((_, info), _)| (info.case_type)() == TypeId::of::<T>());
        // SAFETY: the sites have cases of this type, and live as long as this.
        sites.map(|(_, address)| unsafe { Cases::at(address as u64) })
    }

    /// Removes all cases of all sites, and opens those that are closed. Returns whether that changes anything.
    pub fn clear(&self) -> bool {
        let mut had_some = false;
        for header in self.headers() {
            had_some |= header.count.replace(0) != 0 || header.limit.get() == 0;
            header.limit.set(header.capacity);
        }
        had_some
    }

    /// Whether cases have been taken out since this was asked last.
    pub fn take_forgotten(&self) -> bool {
        self.headers().fold(false, |forgotten, header| forgotten | header.has_forgotten.replace(false))
    }

    /// The sites as they are now; `None` if there are none. Only for the thread that runs the function.
    pub fn snapshot(&self) -> Option<SiteSnapshot> {
        (!self.memory.is_empty()).then(|| SiteSnapshot {
            address: self.memory.as_ptr().expose_provenance() as u64,
            words: self.memory.iter().map(Cell::get).collect(),
        })
    }
}

impl SiteSnapshot {
    /// Whether there was no room for another case in the site at an address, or it was closed.
    pub fn is_full(&self, site: u64) -> bool {
        // SAFETY: these are numbers in the header of a site.
        let [count, limit] =
            [COUNT_OFFSET, LIMIT_OFFSET].map(|offset| unsafe { self.read(site + offset as u64, 4) });
        count.is_some() && count == limit
    }
}

mod snapshot;
#[cfg(test)]
mod tests;

pub use snapshot::SiteSnapshot;
use snapshot::zero_extended;
