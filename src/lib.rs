//! azulejo.

extern crate self as azulejo;

#[doc(hidden)]
pub mod __private {
    pub use azulejo_core as core;
    pub use azulejo_macros as macros;
    pub use azulejo_macros::tileset_step;
    #[cfg(target_arch = "x86_64")]
    pub use azulejo_x64 as x64;
}

pub mod rules;

pub use azulejo_core::ir::bytecode::*;
pub use azulejo_macros::{Bytecode, operators, rewrite, tile, tileset};
#[cfg(target_arch = "x86_64")]
pub use azulejo_x64 as x64;
