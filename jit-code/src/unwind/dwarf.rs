//! The words of DWARF in which unwind rules are written.

/// The caller's frame ends at a register and a distance.
pub const DEF_CFA: u8 = 0x0c;
/// The same with another register.
pub const DEF_CFA_REGISTER: u8 = 0x0d;
/// The same with another distance.
pub const DEF_CFA_OFFSET: u8 = 0x0e;
/// The caller's frame ends where an expression says.
pub const DEF_CFA_EXPRESSION: u8 = 0x0f;
/// A register was what an expression says.
pub const VAL_EXPRESSION: u8 = 0x16;
/// Keeps the rules that hold.
pub const REMEMBER_STATE: u8 = 0x0a;
/// Goes back to rules that were kept.
pub const RESTORE_STATE: u8 = 0x0b;
/// What follows holds so many bytes further on: a number of four bytes.
pub const ADVANCE_LOC4: u8 = 0x04;
/// The same with the number in the low bits.
pub const ADVANCE_LOC: u8 = 0x40;
/// The register in the low bits was saved below the end of the caller's frame.
pub const OFFSET: u8 = 0x80;
/// The register in the low bits is what it was at first.
pub const RESTORE: u8 = 0xc0;
