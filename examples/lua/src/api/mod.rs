//! Lua in a program of Rust.
//!
//! In: source text, and what Rust code lends to it: values, functions, and types with methods. Out: values, and errors as values of Rust.
//!
//! A [`Lua`] is a handle, as are all values on its heap: whoever has one keeps what it leads to.

mod builder;
mod chunk;
mod collector;
mod compile;
mod convert;
#[cfg(feature = "serde")]
mod deserialize;
mod error;
mod function;
mod handle;
mod hook;
mod library;
mod limits;
mod registry;
#[cfg(feature = "serde")]
mod serialize;
mod table;
mod thread;
mod thrown;
mod userdata;
mod value;

pub use crate::object::heap::CollectorStatistics;
pub use crate::run::vm::Tiers;
pub use builder::LuaBuilder;
pub use chunk::Chunk;
pub use compile::Compiled;
pub use convert::{FromLua, FromLuaMulti, IntoLua, IntoLuaMulti, Variadic};
pub use error::{LuaError, LuaMessage};
pub use function::LuaFunction;
pub use handle::Lua;
pub use hook::{HookEvent, HookTriggers};
pub use library::Library;
pub use limits::Interrupter;
pub use registry::RegistryKey;
pub use table::{LuaTable, Pairs, Sequence};
pub use thread::LuaThread;
pub use thrown::LuaThrown;
pub use userdata::{AnyUserData, Methods, UserData};
pub use value::{LuaString, LuaValue};

/// The result of whatever may fail.
pub type LuaResult<T> = Result<T, LuaError>;
