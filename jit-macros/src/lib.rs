//! The macros of azulejo.
