//! Regions of memory, by which accesses are known to be apart.
//!
//! Templates declare regions and name them at loads and stores. In: the promise of their author that places of two regions never
//! overlap. Out: which accesses may touch the same place.

use super::kinds;

/// The region that an access touches, by number. Its bits are part of the constant of a load or store, beside those of its
/// [`Access`](super::graph::Access).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct MemoryRegion(u8);

impl MemoryRegion {
    /// No region: the access may touch any place.
    pub const ANY: MemoryRegion = MemoryRegion(0);
    /// How many regions templates can declare.
    pub const MAX: usize = 15;
    /// What nobody writes, and what can be read behind certain checks only. No template names it.
    pub const UNCHANGING: MemoryRegion = MemoryRegion(Self::MAX as u8 + 1);
    const SHIFT: u32 = 36;
    /// The bits of a constant in which the region stands.
    pub(super) const MASK: u64 = 31 << Self::SHIFT;

    /// The region of this number; the first one has number 1.
    pub const fn of_number(number: u8) -> MemoryRegion {
        assert!(number as usize <= Self::MAX, "there are too many regions");
        MemoryRegion(number)
    }

    /// The region of this number, if there is one.
    pub fn find(number: u32) -> Option<MemoryRegion> {
        (1..=Self::UNCHANGING.0 as u32).contains(&number).then_some(MemoryRegion(number as u8))
    }

    /// Its number; zero for [`MemoryRegion::ANY`].
    pub const fn number(self) -> u8 {
        self.0
    }

    /// The bits that encode the region in a constant.
    pub const fn bits(self) -> u64 {
        (self.0 as u64) << Self::SHIFT
    }

    /// The region that a constant encodes.
    #[inline]
    pub const fn of(bits: u64) -> MemoryRegion {
        MemoryRegion(((bits & Self::MASK) >> Self::SHIFT) as u8)
    }

    /// Where an access to this region may touch memory.
    #[inline]
    pub const fn places(self) -> MemoryRegions {
        if self.0 == 0 { MemoryRegions::ALL } else { MemoryRegions(1 << self.0) }
    }

    /// Whether no access to this region touches what an access to the other one touches.
    #[inline]
    pub const fn is_apart(self, other: MemoryRegion) -> bool {
        !self.places().meets(other.places())
    }
}

/// A set of regions.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct MemoryRegions(u32);

impl MemoryRegions {
    /// No place.
    pub const NONE: MemoryRegions = MemoryRegions(0);
    /// All places that may change, also those in no region.
    pub const ALL: MemoryRegions = MemoryRegions((1 << MemoryRegion::UNCHANGING.0) - 1);

    /// The set with these bits: one for each region's number, and the lowest for places in no region.
    pub const fn of_bits(bits: u32) -> MemoryRegions {
        MemoryRegions(bits & MemoryRegions::ALL.0)
    }

    /// Its bits.
    pub const fn bits(self) -> u32 {
        self.0
    }

    /// Whether there is no place in the set.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The places in one set or the other.
    pub const fn or(self, other: MemoryRegions) -> MemoryRegions {
        MemoryRegions(self.0 | other.0)
    }

    /// Whether some places may be in both sets.
    #[inline]
    pub const fn meets(self, other: MemoryRegions) -> bool {
        self.0 & other.0 != 0
    }
}

/// Whether two lists of names call the region of a number by the same name.
pub(super) const fn are_alike(one: &[&str], other: &[&str]) -> bool {
    let mut at = 0;
    while at < one.len() && at < other.len() {
        if !kinds::is_same_name(one[at], other[at]) {
            return false;
        }
        at += 1;
    }
    true
}
