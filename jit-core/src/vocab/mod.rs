//! The vocabulary: types, operators and their meanings.

pub mod atomic;
pub mod meaning;
pub mod op;
pub mod reference;
pub mod table;
pub mod trap;
pub mod ty;

pub use op::{Op, OpInfo, Props, Sig, Vocabulary};
pub use trap::Trap;
pub use ty::{Class, Scalar, Type};
