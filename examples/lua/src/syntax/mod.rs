//! Source text to syntax trees.
//!
//! In: a chunk's source. Out: a [`Function`](ast::Function) in which names are resolved, or a [`SyntaxError`]. Nothing here knows of
//! values or of bytecode.

mod arena;
pub mod ast;
mod error;
mod expressions;
mod lexer;
mod parser;
mod reads;
mod scope;
mod text;

pub use arena::{Arena, Bounds};
pub use error::{SyntaxError, SyntaxErrorKind, chunk_id};
pub use parser::{parse, parse_function, parse_pieces};
pub use reads::{Read, each_read};
pub use text::Pieces;
