//! The program's image in memory, and which program it is.
//!
//! In: what the system tells of this process. Out: an [`Image`], if this crate is in the program's own image.

use azulejo_core::ir::template::{Callee, Template};
use core::ops::Range;
use std::hash::Hash;

/// Where the program is in memory, and which program it is.
#[derive(Debug)]
pub(crate) struct Image {
    addresses: Range<u64>,
    /// A number for this program as it is now on this system.
    pub(super) identity: u64,
}

impl Image {
    /// The image of the program that runs. `None` if that is not known, or if this function is not in it.
    pub(super) fn of_program() -> Option<Image> {
        let addresses = system::addresses()?;
        let own = Image::of_program as *const () as u64;
        let is_distant_in_32_bits = u32::try_from(addresses.end - addresses.start).is_ok();
        if !addresses.contains(&own) || !is_distant_in_32_bits {
            return None;
        }
        Some(Image { addresses, identity: system::identity()? })
    }

    /// An address as its distance from the start of the image.
    pub(crate) fn offset(&self, address: u64) -> Option<u32> {
        let is_inside = self.addresses.contains(&address);
        is_inside.then(|| (address - self.addresses.start) as u32)
    }

    /// The address that is so far from the start of the image.
    pub(super) fn address(&self, offset: u32) -> Option<u64> {
        let address = self.addresses.start + offset as u64;
        self.addresses.contains(&address).then_some(address)
    }

    /// The first address and the last one.
    pub(crate) fn ends(&self) -> [u64; 2] {
        [self.addresses.start, self.addresses.end - 1]
    }

    /// Whether all that a template calls is in the image, and no value in it is an address.
    pub(crate) fn holds_all_of(&self, template: &Template) -> bool {
        let is_inside = |callee: &Callee| match callee {
            Callee::Known(address) => self.offset(address.0.addr() as u64).is_some(),
            Callee::Value(_) => true,
        };
        template.addresses.is_empty() && template.calls.iter().all(|call| is_inside(&call.callee))
    }

    #[cfg(test)]
    pub(super) fn test(addresses: Range<u64>) -> Image {
        Image::with_identity(addresses, 1)
    }

    #[cfg(test)]
    pub(super) fn with_identity(addresses: Range<u64>, identity: u64) -> Image {
        Image { addresses, identity }
    }
}

/// A number for a value. It is the same in all processes of one program.
pub(super) fn number(of: impl Hash) -> u64 {
    use std::hash::{DefaultHasher, Hasher};
    let mut hasher = DefaultHasher::new();
    of.hash(&mut hasher);
    hasher.finish()
}

#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
mod system {
    use super::*;
    use std::os::unix::fs::MetadataExt;

    /// Where the program's own image is.
    pub(super) fn addresses() -> Option<Range<u64>> {
        let mut addresses = None;
        // SAFETY: the function is called before this one returns, with the address of the option.
        unsafe { libc::dl_iterate_phdr(Some(first), (&raw mut addresses).cast()) };
        addresses
    }

    /// Looks at the first image, which is that of the program.
    unsafe extern "C" fn first(
        info: *mut libc::dl_phdr_info,
        _: libc::size_t,
        addresses: *mut libc::c_void,
    ) -> libc::c_int {
        // SAFETY: the system calls this with the image's description, and with the address that it was given.
        let (info, addresses) = unsafe { (&*info, &mut *addresses.cast::<Option<Range<u64>>>()) };
        // SAFETY: the headers are as many.
        let headers = unsafe { std::slice::from_raw_parts(info.dlpi_phdr, info.dlpi_phnum as usize) };
        let parts = headers.iter().filter(|header| header.p_type == libc::PT_LOAD).map(|header| {
            let start = info.dlpi_addr.wrapping_add(header.p_vaddr);
            start..start + header.p_memsz
        });
        *addresses = parts.reduce(|all, part| all.start.min(part.start)..all.end.max(part.end));
        1
    }

    /// Which file the program is, and when that changed last. The system sets the latter itself, so no two programs have the same.
    pub(super) fn identity() -> Option<u64> {
        let of = std::fs::metadata("/proc/self/exe").ok()?;
        let place = (of.dev(), of.ino(), of.size());
        let changed = (of.mtime(), of.mtime_nsec(), of.ctime(), of.ctime_nsec());
        Some(number((place, changed)))
    }
}

#[cfg(not(all(target_os = "linux", target_pointer_width = "64")))]
mod system {
    use super::*;

    pub(super) fn addresses() -> Option<Range<u64>> {
        None
    }

    pub(super) fn identity() -> Option<u64> {
        None
    }
}

#[cfg(all(test, target_os = "linux", target_pointer_width = "64"))]
mod tests {
    use super::*;

    #[test]
    fn the_image_has_functions_and_statics_and_nothing_else() {
        static STATIC: u64 = 7;
        let image = Image::of_program().expect("tests are in programs");
        let inside = [system::addresses as *const () as u64, (&raw const STATIC).addr() as u64];
        for address in inside {
            let offset = image.offset(address).expect("it is inside");
            assert_eq!(image.address(offset), Some(address));
        }
        let on_heap = Box::new(7);
        let outside = [(&raw const *on_heap).addr(), libc::getpid as *const () as usize, 0];
        assert_eq!(outside.map(|address| image.offset(address as u64)), [None; 3]);
        assert!(image.ends().iter().all(|end| image.offset(*end).is_some()));
    }

    #[test]
    fn the_program_is_known_again() {
        let [one, other] = [(); 2].map(|()| Image::of_program().expect("as above").identity);
        assert_eq!(one, other);
    }
}
