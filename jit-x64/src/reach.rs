//! Which addresses code can name by a distance of 32 bits.
//!
//! In: where a region of code is. Out: [`Reach`], what is within such a distance of all of it. It is known before there
//! is any code, so that each call and address is emitted in the form that it keeps; [`relocate`] fills in the distances
//! when code is put into its place.

use core::ops::Range;

/// How far from each other the functions and statics of a program are taken to be. Regions near it are so near that they
/// reach that far.
const PROGRAM: u64 = 256 << 20;

/// The addresses that every instruction of a region can name by a distance.
///
/// ```
/// use azulejo_x64::reach::Reach;
/// let reach = Reach::of(0x5000_0000, 0x1000);
/// assert!(reach.covers(0x4000_0000) && !reach.covers(0x7fff_0000_0000));
/// // Code that goes to memory that may be anywhere reaches nothing.
/// assert!(!Reach::default().covers(0x4000_0000));
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Reach {
    addresses: Range<u64>,
}

impl Reach {
    /// What is in reach from everywhere in a region of code.
    pub fn of(start: usize, size: usize) -> Reach {
        let (start, end) = (start as u64, start.saturating_add(size) as u64);
        let far = i32::MAX as u64;
        Reach { addresses: end.saturating_sub(far)..start.saturating_add(far) }
    }

    /// What this has of the addresses around the program's own code: all of them, or none. So it is the same for all regions
    /// of code near the program, and what is emitted for it fits each of them.
    pub fn around_program(&self) -> Reach {
        let anchor = Reach::of as *const () as u64;
        let addresses = anchor.saturating_sub(PROGRAM)..anchor.saturating_add(PROGRAM);
        match self.covers(addresses.start) && self.covers(addresses.end - 1) {
            true => Reach { addresses },
            false => Reach::default(),
        }
    }

    /// Whether an address can be named by its distance.
    #[inline]
    pub fn covers(&self, address: u64) -> bool {
        self.addresses.contains(&address)
    }
}

/// Fills in the distances in `code`, which runs at `at`: each counts from behind its four bytes.
pub(crate) fn relocate(code: &mut [u8], at: usize, addresses: &[(u32, u64)]) {
    for &(place, address) in addresses {
        let field = place as usize..place as usize + 4;
        let distance = address.wrapping_sub((at + field.end) as u64) as i64;
        let distance = i32::try_from(distance).expect("code is emitted for the memory it goes to");
        code[field].copy_from_slice(&distance.to_le_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_regions_near_the_program_have_the_same_around_it() {
        let program = Reach::of as *const () as usize;
        let around = Reach::of(program + (1 << 30), 1 << 20).around_program();
        assert!(around.covers(program as u64) && around != Reach::default());
        for start in [program, program + (64 << 20), program.saturating_sub(1 << 30)] {
            let reach = Reach::of(start, 64 << 20);
            assert_eq!(reach.around_program(), around);
            let far_end = around.addresses.end - 1;
            assert!(
                reach.covers(around.addresses.start) && reach.covers(far_end),
                "what is in it is in reach"
            );
        }
        // From there only half of it is in reach.
        assert_eq!(Reach::of(program + (2 << 30) - (1 << 20), 1 << 10).around_program(), Reach::default());
        assert_eq!(Reach::default().around_program(), Reach::default());
    }

    #[test]
    fn a_distance_fits_from_the_first_byte_to_the_last() {
        let (start, size) = (0x40_0000_0000, 0x1000);
        let reach = Reach::of(start, size);
        let mut code = [0; 0x1000];
        let end = start as u64 + size as u64;
        for address in [end - 0x7fff_ffff, start as u64, end, start as u64 + 0x7fff_fffe] {
            assert!(reach.covers(address), "{address:x}");
            for place in [0, size - 4] {
                relocate(&mut code, start, &[(place as u32, address)]);
                let distance = i32::from_le_bytes(code[place..place + 4].try_into().expect("four bytes"));
                assert_eq!((start + place + 4) as i64 + distance as i64, address as i64);
            }
        }
        for address in [0, end - 0x8000_0000, start as u64 + 0x7fff_ffff, u64::MAX] {
            assert!(!reach.covers(address), "{address:x}");
        }
        assert!(!Reach::default().covers(0));
        assert!(Reach::of(0x1000, 0x1000).covers(0), "the lowest addresses are in reach of low code");
    }
}
