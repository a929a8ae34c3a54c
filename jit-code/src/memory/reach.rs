//! The addresses that code can name by a distance.
//!
//! In: the addresses of a region for code, and how far an instruction reaches. Out: [`Reach`], the addresses within that
//! distance of all of the region. It is known before there is any code, so each call and each address is emitted in its final
//! form; the distances are filled in when the code is installed.

use core::ops::Range;

/// The assumed largest distance between two functions or statics of a program. Regions near the program are near enough to
/// reach that far.
const PROGRAM: u64 = 256 << 20;

/// The addresses that every instruction of a region can name by a distance.
///
/// ```
/// use azulejo_code::memory::reach::Reach;
/// let reach = Reach::of(0x5000_0000, 0x1000, 1 << 31);
/// assert!(reach.covers(0x4000_0000) && !reach.covers(0x7fff_0000_0000));
/// // Code that goes to memory that may be anywhere reaches nothing.
/// assert!(!Reach::default().covers(0x4000_0000));
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Reach {
    addresses: Range<u64>,
}

impl Reach {
    /// The addresses in reach from everywhere in a region of code, with instructions that reach `distance` bytes in each
    /// direction.
    pub fn of(start: usize, size: usize, distance: u64) -> Reach {
        let (start, end) = (start as u64, start.saturating_add(size) as u64);
        Reach { addresses: end.saturating_sub(distance)..start.saturating_add(distance) }
    }

    /// The part of the reach around the program's own code: either all of that range or nothing. So it is the same for all
    /// regions near the program, and code emitted for it fits each of them.
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

#[cfg(test)]
mod tests {
    use super::*;

    const FAR: u64 = i32::MAX as u64;

    #[test]
    fn all_regions_near_the_program_have_the_same_around_it() {
        let program = Reach::of as *const () as usize;
        let around = Reach::of(program + (1 << 30), 1 << 20, FAR).around_program();
        assert!(around.covers(program as u64) && around != Reach::default());
        for start in [program, program + (64 << 20), program.saturating_sub(1 << 30)] {
            let reach = Reach::of(start, 64 << 20, FAR);
            assert_eq!(reach.around_program(), around);
            let far_end = around.addresses.end - 1;
            assert!(
                reach.covers(around.addresses.start) && reach.covers(far_end),
                "what is in it is in reach"
            );
        }
        // From there, only half of the range is in reach.
        assert_eq!(
            Reach::of(program + (2 << 30) - (1 << 20), 1 << 10, FAR).around_program(),
            Reach::default()
        );
        assert_eq!(Reach::default().around_program(), Reach::default());
    }
}
