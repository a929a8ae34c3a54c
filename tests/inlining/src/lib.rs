//! A user's crate that is compiled with optimization: its tests look at what rustc makes of the generated interpreter.
