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

// What expressions are made of.
pub(super) const OP_ADDR: u8 = 0x03;
pub(super) const OP_DEREF: u8 = 0x06;
pub(super) const OP_DUP: u8 = 0x12;
pub(super) const OP_OVER: u8 = 0x14;
pub(super) const OP_SWAP: u8 = 0x16;
pub(super) const OP_AND: u8 = 0x1a;
pub(super) const OP_MINUS: u8 = 0x1c;
pub(super) const OP_PLUS: u8 = 0x22;
pub(super) const OP_SHL: u8 = 0x24;
pub(super) const OP_SHR: u8 = 0x25;
pub(super) const OP_BRA: u8 = 0x28;
pub(super) const OP_SKIP: u8 = 0x2f;
pub(super) const OP_LIT: u8 = 0x30;
pub(super) const OP_BREG: u8 = 0x70;
pub(super) const OP_DEREF_SIZE: u8 = 0x94;
