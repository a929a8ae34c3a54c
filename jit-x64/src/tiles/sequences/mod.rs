//! Tiles of more than one instruction, or of one that depends on the assigned registers.

pub(super) mod atomic;
pub(super) mod compare;
pub(super) mod control;
pub(super) mod convert;
pub(super) mod divide;
pub(super) mod float;
pub(super) mod int;
