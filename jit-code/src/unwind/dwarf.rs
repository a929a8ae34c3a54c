//! The DWARF opcodes of unwind rules.

/// The end of the caller's frame (the CFA) is a register plus an offset.
pub const DEF_CFA: u8 = 0x0c;
/// The CFA counts from another register.
pub const DEF_CFA_REGISTER: u8 = 0x0d;
/// The CFA has another offset.
pub const DEF_CFA_OFFSET: u8 = 0x0e;
/// The CFA is the value of an expression.
pub const DEF_CFA_EXPRESSION: u8 = 0x0f;
/// A register's old value is that of an expression.
pub const VAL_EXPRESSION: u8 = 0x16;
/// Saves the current rules.
pub const REMEMBER_STATE: u8 = 0x0a;
/// Restores the saved rules.
pub const RESTORE_STATE: u8 = 0x0b;
/// The rules that follow hold this many bytes further on, a number of four bytes.
pub const ADVANCE_LOC4: u8 = 0x04;
/// The rules that follow hold this many bytes further on, a number in the low bits.
pub const ADVANCE_LOC: u8 = 0x40;
/// The register in the low bits was saved below the CFA.
pub const OFFSET: u8 = 0x80;
/// The register in the low bits has its initial rule again.
pub const RESTORE: u8 = 0xc0;
