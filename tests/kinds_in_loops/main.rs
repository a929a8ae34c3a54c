//! Kinds of values in loops, on a small machine of numbers and nil: what is checked, and what is counted in integers.

mod checks;
mod counters;
mod machine;
mod offsets;
