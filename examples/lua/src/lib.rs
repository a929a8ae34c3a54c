//! Lua 5.1, whose interpreter, baseline compiler and optimizer are made from one file of templates (`run/templates.rs`).
//!
//! In: source text, or a program's command line. Out: what it does. A program of Rust uses it by [`api`]:
//!
//! ```
//! use azulejo_lua::api::{Lua, LuaError};
//!
//! let lua = Lua::new();
//! lua.globals().set("greet", lua.create_function(|_, name: String| Ok(format!("Hello, {name}!"))))?;
//! assert_eq!(lua.load("return greet('world')").eval::<String>()?, "Hello, world!");
//! # Ok::<(), LuaError>(())
//! ```
//!
//! From a text to what it does:
//!
//! | module | in | out |
//! | --- | --- | --- |
//! | [`syntax`] | text | a syntax tree, in which names are variables |
//! | `compile` | the tree of a function | bytecode, with lines and names for messages |
//! | [`run`] | bytecode | what it does: the bytecode itself, its meaning, and what templates call |
//! | [`object`] | | values, tables, functions, threads, and the collector |
//! | `library` | | the functions that programs call |
//! | [`strings`], [`number`] | | patterns, formats, and numbers as text, without a machine |
//! | [`api`] | values of Rust | values of Lua, and back |
//! | [`command`] | arguments | the exit code of `azulejo-lua` |
//!
//! **Invariant:** `object` knows nothing of bytecode, `strings` and `number` nothing of a machine. Of tiers the templates know nothing, nor
//! does any function that they call; [`run::vm::Tiers`] is chosen when a state is made.

pub mod api;
mod calendar;
pub mod command;
mod compile;
mod depth;
mod digits;
mod library;
mod lines;
pub mod number;
pub mod object;
mod random;
pub mod run;
mod stream;
pub mod strings;
pub mod syntax;
mod system_text;

pub use azulejo::saved;
