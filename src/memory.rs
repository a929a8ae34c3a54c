//! Guarded memory: reserved address space of which only a part is accessible, while accesses to the rest fault.
//!
//! [`Builder::guards`](crate::Builder::guards) relies on memory of this kind: an access out of bounds must hit the inaccessible
//! part, so that it faults.

use std::io::{Error, ErrorKind, Result};
use std::ptr::NonNull;

/// A reservation of address space. The part at its start is accessible and initially zero; accesses to the rest fault.
/// The accessible part can grow in place.
///
/// ```
/// use azulejo::memory::Reserved;
/// # if cfg!(unix) {
/// // 64 KiB, which may grow to 4 GiB.
/// let mut memory = Reserved::new(1 << 16, 1 << 32)?;
/// let start = memory.start();
/// // SAFETY: nobody else has the memory.
/// unsafe { start.add(0xffff).write(7) };
/// memory.grow(1 << 17)?;
/// assert_eq!((memory.start(), memory.accessible()), (start, 1 << 17));
/// // SAFETY: as above.
/// assert_eq!(unsafe { (start.add(0xffff).read(), start.add(0x1ffff).read()) }, (7, 0));
/// # }
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct Reserved {
    start: NonNull<u8>,
    accessible: usize,
    size: usize,
}

// SAFETY: the value only owns memory; code that accesses this memory by its address must prevent data races.
unsafe impl Send for Reserved {}
// SAFETY: as above; no method changes anything by a shared reference.
unsafe impl Sync for Reserved {}

impl Reserved {
    /// Reserves `size` bytes of address space, and makes the first `accessible` bytes accessible. Both must be multiples of
    /// [`page_size`]. Fails if the system has too little memory or address space, or does not support this.
    ///
    /// A reservation alone takes little memory: several reservations of 8 GiB are possible, unless the system limits them.
    ///
    /// ```
    /// use azulejo::memory::{Reserved, page_size};
    /// # if cfg!(unix) {
    /// let memory = Reserved::new(page_size(), 1 << 30)?;
    /// assert_eq!((memory.accessible(), memory.size()), (page_size(), 1 << 30));
    /// # }
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn new(accessible: usize, size: usize) -> Result<Reserved> {
        let is_right = size > 0 && size.is_multiple_of(page_size()) && size <= isize::MAX as usize;
        if !is_right {
            return Err(Error::new(ErrorKind::InvalidInput, "the size is not a number of whole pages"));
        }
        let mut reserved = Reserved { start: system::reserve(size)?, accessible: 0, size };
        reserved.grow(accessible)?;
        Ok(reserved)
    }

    /// Returns the start address.
    ///
    /// ```
    /// # if cfg!(unix) {
    /// let memory = azulejo::memory::Reserved::new(1 << 16, 1 << 20)?;
    /// // SAFETY: the first 64 KiB can be touched, and nobody else does.
    /// unsafe { memory.start().write(7) };
    /// # }
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn start(&self) -> *mut u8 {
        self.start.as_ptr()
    }

    /// Returns how many bytes are accessible.
    ///
    /// ```
    /// # if cfg!(unix) {
    /// let memory = azulejo::memory::Reserved::new(1 << 16, 1 << 20)?;
    /// assert_eq!(memory.accessible(), 1 << 16);
    /// # }
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn accessible(&self) -> usize {
        self.accessible
    }

    /// Returns how many bytes of address space are reserved.
    ///
    /// ```
    /// # if cfg!(unix) {
    /// let memory = azulejo::memory::Reserved::new(1 << 16, 1 << 20)?;
    /// assert_eq!(memory.size(), 1 << 20);
    /// # }
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn size(&self) -> usize {
        self.size
    }

    /// Grows the accessible part to `accessible` bytes in all, which must be a multiple of [`page_size`]. Existing contents keep
    /// their values and addresses. Fails if this is more than the reserved size, or less than what is accessible already, or if
    /// the system has no memory left.
    ///
    /// ```
    /// # if cfg!(unix) {
    /// let mut memory = azulejo::memory::Reserved::new(1 << 16, 1 << 20)?;
    /// memory.grow(1 << 17)?;
    /// assert_eq!(memory.accessible(), 1 << 17);
    /// assert!(memory.grow(1 << 21).is_err(), "so much was not reserved");
    /// # }
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn grow(&mut self, accessible: usize) -> Result<()> {
        if !(self.accessible..=self.size).contains(&accessible) || !accessible.is_multiple_of(page_size()) {
            let problem = "not a number of whole pages between what is accessible and what is reserved";
            return Err(Error::new(ErrorKind::InvalidInput, problem));
        }
        if accessible > self.accessible {
            // SAFETY: the pages belong to this reservation, and were inaccessible until now.
            unsafe { system::allow(self.start.add(self.accessible), accessible - self.accessible)? };
            self.accessible = accessible;
        }
        Ok(())
    }
}

impl Drop for Reserved {
    fn drop(&mut self) {
        // SAFETY: the pages were reserved with this size, and belong to this reservation only.
        unsafe { system::release(self.start, self.size) };
    }
}

/// Returns the size of a page in bytes, of which all sizes of reserved memory are multiples.
///
/// ```
/// assert!(azulejo::memory::page_size().is_power_of_two());
/// ```
pub fn page_size() -> usize {
    system::page_size()
}

#[cfg(unix)]
mod system {
    use libc::{MAP_ANON, MAP_FAILED, MAP_PRIVATE, PROT_NONE, PROT_READ, PROT_WRITE};
    use std::io::{Error, Result};
    use std::ptr::NonNull;

    /// Reserved address space does not count as committed memory.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    const NOT_COUNTED: libc::c_int = libc::MAP_NORESERVE;
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    const NOT_COUNTED: libc::c_int = 0;

    pub(super) fn reserve(size: usize) -> Result<NonNull<u8>> {
        let flags = MAP_PRIVATE | MAP_ANON | NOT_COUNTED;
        // SAFETY: this is a new mapping, at an address that the system chooses.
        let start = unsafe { libc::mmap(std::ptr::null_mut(), size, PROT_NONE, flags, -1, 0) };
        if start == MAP_FAILED {
            return Err(Error::last_os_error());
        }
        Ok(NonNull::new(start.cast()).expect("the system maps nothing at zero unless told"))
    }

    /// # Safety
    ///
    /// The pages must be part of a reservation that belongs to the caller.
    pub(super) unsafe fn allow(start: NonNull<u8>, len: usize) -> Result<()> {
        // SAFETY: as the caller promises.
        match unsafe { libc::mprotect(start.as_ptr().cast(), len, PROT_READ | PROT_WRITE) } {
            0 => Ok(()),
            _ => Err(Error::last_os_error()),
        }
    }

    /// # Safety
    ///
    /// `start` must be a reservation of this size, which must not be accessed any more.
    pub(super) unsafe fn release(start: NonNull<u8>, size: usize) {
        // SAFETY: as the caller promises.
        unsafe { libc::munmap(start.as_ptr().cast(), size) };
    }

    pub(super) fn page_size() -> usize {
        // SAFETY: the call only returns a number.
        unsafe { libc::sysconf(libc::_SC_PAGESIZE) as usize }
    }
}

#[cfg(not(unix))]
mod system {
    use std::io::{Error, ErrorKind, Result};
    use std::ptr::NonNull;

    pub(super) fn reserve(_: usize) -> Result<NonNull<u8>> {
        Err(Error::new(ErrorKind::Unsupported, "addresses cannot be reserved on this system"))
    }

    pub(super) unsafe fn allow(_: NonNull<u8>, _: usize) -> Result<()> {
        unreachable!("nothing is reserved")
    }

    pub(super) unsafe fn release(_: NonNull<u8>, _: usize) {}

    pub(super) fn page_size() -> usize {
        4096
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn what_is_wrong_is_an_error() {
        let kind = |result: Result<Reserved>| result.expect_err("it is wrong").kind();
        let page = page_size();
        assert_eq!(kind(Reserved::new(0, 0)), ErrorKind::InvalidInput);
        assert_eq!(kind(Reserved::new(page, page + 1)), ErrorKind::InvalidInput);
        assert_eq!(kind(Reserved::new(page - 1, page)), ErrorKind::InvalidInput);
        assert_eq!(kind(Reserved::new(2 * page, page)), ErrorKind::InvalidInput);
        // More than the address space of any machine.
        assert!(Reserved::new(0, 1 << 60).is_err());
        let mut memory = Reserved::new(page, 4 * page).expect("there is room");
        assert!(memory.grow(0).is_err() && memory.grow(5 * page).is_err());
        assert_eq!((memory.accessible(), memory.size()), (page, 4 * page));
        memory.grow(4 * page).expect("there is room");
        // SAFETY: the memory is accessible, and nothing else refers to it.
        let bytes = unsafe { std::slice::from_raw_parts_mut(memory.start(), 4 * page) };
        assert!(bytes.iter().all(|byte| *byte == 0));
        bytes.fill(1);
    }

    #[test]
    fn addresses_are_given_back() {
        for _ in 0..10_000 {
            Reserved::new(page_size(), 1 << 40).expect("there is room again");
        }
    }
}
