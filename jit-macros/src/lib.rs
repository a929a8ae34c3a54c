//! The macros of azulejo.

mod bytecode;
mod operators;
mod rewrite;
#[cfg(test)]
mod robust;
mod sexpr;
mod template;
mod tile;

use proc_macro::TokenStream;

/// Tells azulejo about an enum of opcodes.
///
/// Each variant is an opcode, each field an operand: `In<T>`, `Out<T>` and `InOut<T>` VM registers, `Pop<T>` and
/// `Push<T>` on the operand stack, `Imm<T>` constants, `Label` and `Labels` to jump to, `Regs` and `RegsMut` for
/// runs of registers. `T` is an integer or float of up to 64 bits or a raw pointer.
/// `#[bytecode(context = Vm)]` says what `(tc)` points to, `#[bytecode(operators = my_ops)]` which operators of
/// `operators!` the templates use.
#[proc_macro_derive(Bytecode, attributes(bytecode))]
pub fn derive_bytecode(input: TokenStream) -> TokenStream {
    bytecode::derive(input.into()).into()
}

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

/// Adds operators to the vocabulary: what they take, give and mean. The module it stands in names them elsewhere.
///
/// ```text
/// operators! {
///     /// The low bits of the first operand, spread to where the second has ones.
///     pdep: (same same) -> same, i32|i64, unsigned, pure => |sig, operands| Ok(deposit(operands[0], operands[1])),
/// }
/// ```
#[proc_macro]
pub fn operators(input: TokenStream) -> TokenStream {
    operators::operators(input.into()).into()
}

/// Makes rewrite rules from rows of patterns. See the head of `src/rules/mod.rs` of the package `azulejo`.
#[proc_macro]
pub fn rewrite(input: TokenStream) -> TokenStream {
    rewrite::rewrite(input.into()).into()
}

/// Says what opcodes mean, in a small typed language; see the template book.
///
/// Each row is `Enum::Opcode => expression`. The value of the expression goes to the opcode's output.
#[proc_macro]
pub fn template(input: TokenStream) -> TokenStream {
    template::template(input.into()).into()
}

/// Macros of the template language that several `template!` share.
///
/// ```text
/// template_macros! {
///     pub object_model {
///         macro ^body (,obj) (load (addr ,obj 8) ptr)
///     }
/// }
/// ```
///
/// `use path::object_model;` at the start of a `template!` brings them there; `pub` ones into other crates too.
#[proc_macro]
pub fn template_macros(input: TokenStream) -> TokenStream {
    template::shared::template_macros(input.into()).into()
}

/// What shared macros call to tell `template!` what they are; not for users.
#[doc(hidden)]
#[proc_macro]
pub fn __template_macros(input: TokenStream) -> TokenStream {
    template::shared::with_macros(input.into()).into()
}

/// What an enum's macro calls to tell `template!` its opcodes; not for users.
#[doc(hidden)]
#[proc_macro]
pub fn __template(input: TokenStream) -> TokenStream {
    template::described(input.into()).into()
}
