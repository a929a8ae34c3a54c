//! Place every value in a block (being written).


