//! The macros of azulejo.

mod rewrite;
mod tile;

use proc_macro::TokenStream;

/// Says how a machine does things: rows of patterns with costs, constraints and emitters.
///
/// ```text
/// tile! {
///     pub group int;
///     add_const: (add.$t:int reg (const $c:imm32)) -> reg, 2, tied(0) => |cx, t| …,
/// }
/// ```
#[proc_macro]
pub fn tile(input: TokenStream) -> TokenStream {
    tile::tile(input.into()).into()
}

/// Makes a machine's tile set out of groups of tiles, with the tables to choose among them.
#[proc_macro]
pub fn tileset(input: TokenStream) -> TokenStream {
    tile::tileset(input.into()).into()
}

/// What groups call to hand their patterns on; not for users.
#[doc(hidden)]
#[proc_macro]
pub fn tileset_step(input: TokenStream) -> TokenStream {
    tile::step(input.into()).into()
}

/// Makes rewrite rules from rows of patterns. See the head of `src/rules/mod.rs` of the package `azulejo`.
#[proc_macro]
pub fn rewrite(input: TokenStream) -> TokenStream {
    rewrite::rewrite(input.into()).into()
}
