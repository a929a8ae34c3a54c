//! The x86-64 back end of azulejo: registers, tiles, conventions, code memory.
