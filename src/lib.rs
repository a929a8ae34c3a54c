//! The crate that users depend on: the macros, the engine, and the bytecode types. The README follows.
//!
// The first definition of a link wins, so these make the README's links lead to the package's files.
//! [book]: https://docs.rs/crate/azulejo/latest/source/docs/README.md
//! [debugging]: https://docs.rs/crate/azulejo/latest/source/docs/book/debugging.md
//! [dynamic]: https://docs.rs/crate/azulejo/latest/source/docs/book/dynamic-language.md
//! [first]: https://docs.rs/crate/azulejo/latest/source/docs/book/first-vm.md
//! [lua-performance]: https://docs.rs/crate/azulejo/latest/source/docs/PERFORMANCE.md
//! [map]: https://docs.rs/crate/azulejo/latest/source/docs/ARCHITECTURE.md
//! [operators]: https://docs.rs/crate/azulejo/latest/source/docs/adding-an-operator.md
//! [performance]: https://docs.rs/crate/azulejo/latest/source/docs/PERFORMANCE.md
//! [templates]: https://docs.rs/crate/azulejo/latest/source/docs/templates.md
//!
#![doc = include_str!("../README.md")]
#![cfg_attr(
    not(all(target_arch = "x86_64", any(unix, windows))),
    allow(dead_code, reason = "where nothing is compiled, nothing uses code")
)]

extern crate self as azulejo;

#[doc(hidden)]
pub mod __private {
    pub use azulejo_core as core;
    pub use azulejo_macros as macros;
    pub use azulejo_macros::{tile_step, tileset_step};
    #[cfg(target_arch = "x86_64")]
    pub use azulejo_x64 as machine;
}

mod engine;
pub mod explore;
mod inside;
pub mod memory;
pub mod rules;
pub mod saved;

pub use azulejo_core::error::{Error, Unsupported};
pub use azulejo_core::ir::bytecode::{
    Bytecode, Callable, Cases, Imm, In, InOrImm, InOut, Label, Labels, MAX_OPERANDS, OpcodeInfo, OperandInfo,
    OperandKind, Out, Pop, Push, Raw, Regs, RegsMut, Site,
};
// Generated code implements these traits; rustc's messages name them by these paths.
pub use azulejo_core::ir::bytecode::{Means, Opcode, Semantics};
pub use azulejo_core::verify::{Fault, VerifyError, verify};
pub use azulejo_core::vocab::Trap;
pub use azulejo_macros::{
    Bytecode, Fields, Scalar, forms, operators, rewrite, template, template_macros, tile, tileset,
};
#[cfg(target_arch = "x86_64")]
pub use azulejo_x64 as x64;
pub use engine::{
    Args, Backtrace, BacktraceFrame, Builder, Code, Engine, Fiber, Frame, Frames, FunctionId, Interrupter,
    Progress, Promises, Resumed, Slot, Surplus, Tier, can_compile, can_guard, can_switch, stack_left,
    suspend,
};
pub use inside::{BadLimit, Compilations, Limits, Listing, Log, Statistics, UnknownStage};

/// The items that a virtual machine usually needs.
pub mod prelude {
    pub use crate::{
        Args, Bytecode, Cases, Code, Engine, Error, Fields, FunctionId, Imm, In, InOrImm, InOut, Label,
        Labels, Out, Pop, Push, Regs, RegsMut, Scalar, Site, Slot, Tier, Trap, forms, template,
        template_macros,
    };
}

/// The programs in the documents, compiled and run as doc tests.
#[cfg(doctest)]
mod documents {
    #[doc = include_str!("../docs/templates.md")]
    mod templates {}
}
