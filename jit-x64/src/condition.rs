//! Conditions on the CPU's flags after a comparison.

/// A condition on the CPU's flags. A plain condition has the number that instructions encode.
///
/// ```
/// # mod azulejo { pub use azulejo_x64 as x64; }
/// use azulejo::x64::Cond;
/// assert_eq!(Cond::L as u8, 0xc);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
#[allow(missing_docs, reason = "named like the instructions' suffixes")]
pub enum Cond {
    O = 0,
    No = 1,
    B = 2,
    Ae = 3,
    E = 4,
    Ne = 5,
    Be = 6,
    A = 7,
    S = 8,
    Ns = 9,
    P = 10,
    Np = 11,
    L = 12,
    Ge = 13,
    Le = 14,
    G = 15,
    /// Floats are equal, and not unordered.
    OrderedE = 16,
    /// Floats differ or are unordered.
    UnorderedNe = 17,
}

impl Cond {
    /// The plain conditions, which one instruction can test, by number.
    pub(crate) const PLAIN: [Cond; 16] = {
        use Cond::*;
        [O, No, B, Ae, E, Ne, Be, A, S, Ns, P, Np, L, Ge, Le, G]
    };

    /// The condition that holds whenever this one does not.
    ///
    /// ```
    /// # mod azulejo { pub use azulejo_x64 as x64; }
    /// use azulejo::x64::Cond;
    /// assert_eq!(Cond::L.inverted(), Cond::Ge);
    /// ```
    pub fn inverted(self) -> Cond {
        match self {
            Cond::OrderedE => Cond::UnorderedNe,
            Cond::UnorderedNe => Cond::OrderedE,
            plain => Cond::PLAIN[plain as usize ^ 1],
        }
    }

    /// The condition that holds of two integers in the other order whenever this one holds of them.
    pub(crate) fn swapped(self) -> Cond {
        match self {
            Cond::B => Cond::A,
            Cond::A => Cond::B,
            Cond::Ae => Cond::Be,
            Cond::Be => Cond::Ae,
            Cond::L => Cond::G,
            Cond::G => Cond::L,
            Cond::Ge => Cond::Le,
            Cond::Le => Cond::Ge,
            same => same,
        }
    }
}
