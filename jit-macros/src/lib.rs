//! The procedural macros of azulejo.
//!
//! Templates, tiles and rewrite rules are compiled by [`azulejo_lang`]. This crate converts rustc's tokens for it, passes on from
//! macro to macro what several of them need, and prints what it compiles as Rust.

mod bytecode;
mod fields;
mod forms;
mod kept;
mod operators;
mod rewrite;
#[cfg(test)]
mod robust;
mod scalar;
mod template;
mod tile;

use proc_macro::TokenStream;

/// Declares an enum of opcodes.
///
/// Each variant is an opcode, each field an operand: `In<T>`, `Out<T>` and `InOut<T>` VM registers, `Pop<T>` and
/// `Push<T>` on the operand stack, `Imm<T>` constants, `Label` and `Labels` to jump to, `Regs` and `RegsMut` for
/// runs of registers. `T` is an integer or float of up to 64 bits or a raw pointer. `Site<Case, N>` is memory of the bytecode for what
/// it learns: up to `N` cases of a plain struct.
/// `#[bytecode(context = Vm)]` sets the type that `(tc)` points to, and `#[bytecode(operators = my_ops)]` selects the operators
/// of `operators!` that the templates use. `#[bytecode(pinned(TAG, OFFSET.wrapping_neg()))]` names up to two constants of 64 bits that most templates
/// use: baseline code keeps them in machine registers, as far as the machine has some. A subtraction adds the negative of its constant, so
/// that is what to pin.
///
/// ```
/// use azulejo::prelude::*;
///
/// struct Vm {
///     calls: u32,
/// }
///
/// #[derive(Bytecode, Clone, Copy, Debug)]
/// #[bytecode(context = Vm)]
/// enum Op {
///     Load { dst: Out<i64>, value: Imm<i64> },
///     Add { dst: Out<i64>, a: In<i64>, b: In<i64> },
///     JumpLess { a: In<i64>, b: In<i64>, to: Label },
///     Return { a: In<i64> },
/// }
///
/// template! {
///     Op::Load     => $value
///     Op::Add      => (add $a $b)
///     Op::JumpLess => (when (lt $a $b) (branch $to))
///     Op::Return   => (return $a)
/// }
///
/// let names: Vec<&str> = Op::OPCODES.iter().map(|opcode| opcode.name).collect();
/// assert_eq!(names, ["Load", "Add", "JumpLess", "Return"]);
/// ```
#[proc_macro_derive(Bytecode, attributes(bytecode))]
pub fn derive_bytecode(input: TokenStream) -> TokenStream {
    bytecode::derive(input.into()).into()
}

/// Gives opcodes forms: with a VM register or with a constant as an operand.
///
/// It stands above `#[derive(Bytecode)]`. A field may then be `InOrImm<T>`, and the enum gets an opcode for each choice. `Op::Add` has the register, and
/// `Op::AddImmB` the constant `b`. They share the row `Op::Add` of `template!`, in which `$b` is either, unless the form has a row of its own
/// in the same `template!`. `(quicken Op::Other)` in a shared row makes a bytecode the same form of the other opcode. A function with the opcode's name,
/// `Op::add`, makes the form that its operands have.
///
/// By `InOrImm<u64, f64>` the constant is of another type than the register. An opcode has at most three such operands.
///
/// ```
/// use azulejo::prelude::*;
///
/// #[forms]
/// #[derive(Bytecode, Clone, Copy, Debug)]
/// enum Op {
///     Add { dst: Out<i64>, a: In<i64>, b: InOrImm<i64> },
///     JumpIfLess { a: InOrImm<i64>, b: InOrImm<i64>, to: Label },
///     Return { a: In<i64> },
/// }
///
/// template! {
///     Op::Add        => (add $a $b)
///     Op::JumpIfLess => (when (lt $a $b) (branch $to))
///     Op::Return     => (return $a)
/// }
///
/// fn main() -> Result<(), Error> {
///     let engine = Engine::<Op>::new();
///     let code = vec![
///         Op::add(0.into(), 0.into(), Imm(3).into()),
///         Op::jump_if_less(0.into(), Imm(100).into(), 0.into()),
///         Op::Return { a: 0.into() },
///     ];
///     assert!(matches!(code[0], Op::AddImmB { .. }));
///     let function = engine.define("count", code, 1)?;
///     assert_eq!(engine.call::<_, i64>(function, &mut (), (0i64,))?, 102);
///     Ok(())
/// }
/// ```
#[proc_macro_attribute]
pub fn forms(arguments: TokenStream, input: TokenStream) -> TokenStream {
    forms::forms(arguments.into(), input.into()).into()
}

/// Lets Rust functions that templates call take and return an enum. Its variants are passed as numbers of the `#[repr(…)]` type.
///
/// A function may return the enum itself. A number that a template passes may match no variant. So the parameter's type is an
/// `Option` of the enum, with `None` for such numbers; or one variant is marked `#[scalar(other)]` and stands for all such
/// numbers, and the parameter's type is the enum itself.
///
/// ```
/// use azulejo::prelude::*;
///
/// #[derive(Scalar, Clone, Copy)]
/// #[repr(u8)]
/// enum Shape {
///     Circle,
///     Square,
/// }
///
/// #[derive(Scalar)]
/// #[repr(i32)]
/// enum Color {
///     Red = 10,
///     #[scalar(other)]
///     Gray = -1,
/// }
///
/// fn corners(shape: Option<Shape>) -> u8 {
///     match shape {
///         Some(Shape::Circle) => 0,
///         Some(Shape::Square) => 4,
///         None => 255,
///     }
/// }
///
/// fn shape_of(color: Color) -> Shape {
///     match color {
///         Color::Red => Shape::Circle,
///         Color::Gray => Shape::Square,
///     }
/// }
///
/// #[derive(Bytecode, Clone, Copy, Debug)]
/// enum Op {
///     Corners { dst: Out<u8>, shape: In<u8> },
///     ShapeOf { dst: Out<u8>, color: In<i32> },
///     Return { a: In<u8> },
/// }
///
/// template! {
///     Op::Corners => (call corners (arglist (carg $shape u8)) u8)
///     Op::ShapeOf => (call shape_of (arglist (carg $color i32)) u8)
///     Op::Return  => (return $a)
/// }
///
/// fn main() -> Result<(), Error> {
///     let engine = Engine::<Op>::new();
///     let code = vec![
///         Op::ShapeOf { dst: 0.into(), color: 0.into() },
///         Op::Corners { dst: 0.into(), shape: 0.into() },
///         Op::Return { a: 0.into() },
///     ];
///     let corners = engine.define("corners", code, 1)?;
///     assert_eq!(engine.call::<_, u8>(corners, &mut (), (10i32,))?, 0);
///     assert_eq!(engine.call::<_, u8>(corners, &mut (), (12345i32,))?, 4);
///     Ok(())
/// }
/// ```
#[proc_macro_derive(Scalar, attributes(scalar))]
pub fn derive_scalar(input: TokenStream) -> TokenStream {
    scalar::derive(input.into()).into()
}

/// Describes the fields of a struct to templates.
///
/// In a template `(&field Struct, name)` then stands for both the offset and the type of a field.
///
/// Templates can access fields that are integers, floats, raw pointers, or atomics of these.
///
/// ```
/// use azulejo::prelude::*;
///
/// #[derive(Fields)]
/// struct Vm {
///     hits: u32,
///     scale: f64,
/// }
///
/// #[derive(Bytecode, Clone, Copy, Debug)]
/// #[bytecode(context = Vm)]
/// enum Op {
///     Hit { dst: Out<f64> },
///     Return { a: In<f64> },
/// }
///
/// template! {
///     Op::Hit => unsafe (do
///         (store (tc) (add (load (tc) (&field Vm, hits)) 1) (&field Vm, hits))
///         (mul (load (tc) (&field Vm, scale)) (utof (load (tc) (&field Vm, hits)) f64)))
///     Op::Return => (return $a)
/// }
///
/// fn main() -> Result<(), Error> {
///     let engine = Engine::<Op>::new();
///     let hit = engine.define("hit", vec![Op::Hit { dst: 0.into() }, Op::Return { a: 0.into() }], 1)?;
///     let mut vm = Vm { hits: 2, scale: 0.5 };
///     assert_eq!(engine.call::<_, f64>(hit, &mut vm, ())?, 1.5);
///     assert_eq!(vm.hits, 3);
///     Ok(())
/// }
/// ```
#[proc_macro_derive(Fields)]
pub fn derive_fields(input: TokenStream) -> TokenStream {
    fields::derive(input.into()).into()
}

/// Defines how a machine implements operators: rows of patterns with costs, constraints and emitters.
///
/// ```
/// # fn main() {}
/// # #[cfg(target_arch = "x86_64")]
/// mod tiles {
///     use dynasmrt::{DynasmApi, dynasm};
///
///     azulejo::tile! {
///         pub group own;
///
///         set_bit: (or.i64 reg (shl.i64 (const $bit:one) reg)) -> reg, 2, tied(0) => |cx, t| {
///             dynasm!(cx; .arch x64; bts Rq(t.out()), Rq(t.reg(1)))
///         },
///     }
/// }
/// ```
///
/// A row stands for several tiles if one of its operands is a form, or if it belongs to a list of operators:
///
/// ```
/// # fn main() {}
/// # #[cfg(target_arch = "x86_64")]
/// mod tiles {
///     use azulejo::x64::Mem;
///     use azulejo::x64::encode::Alu;
///
///     azulejo::tile! {
///         pub group own;
///
///         form field {
///             first: reg => |t| Mem::at(t.reg(0), 0),
///             other: (addr reg $offset), 1 => |t| Mem::at(t.reg(0), t.imm(0)),
///         }
///         for alu in [and: Alu::And, or: Alu::Or] {
///             _field: (alu.$t:int reg (load.$t field)) -> reg, 4 + field, tied(0) => |cx, t| {
///                 cx.alu(alu, t.sig.ty, t.out(), field)
///             },
///         }
///     }
/// }
///
/// # #[cfg(target_arch = "x86_64")]
/// # azulejo::tileset! {
/// #     pub static TILES: extends azulejo::x64::X64;
/// #     groups = crate::tiles;
/// # }
/// # #[cfg(target_arch = "x86_64")]
/// # const _: () = assert!(TILES.emit.len() == azulejo::x64::X64.emit.len() + 4);
/// ```
///
/// The document `docs/adding-an-operator.md` explains patterns, forms, lists and clauses.
#[proc_macro]
pub fn tile(input: TokenStream) -> TokenStream {
    tile::tile(input.into()).into()
}

/// Called by shared forms to pass themselves on to `tile!`; not for users.
#[doc(hidden)]
#[proc_macro]
pub fn tile_step(input: TokenStream) -> TokenStream {
    tile::told(input.into()).into()
}

/// Combines groups of tiles into a machine's tile set, with the tables for instruction selection.
///
/// ```
/// # fn main() {}
/// # #[cfg(target_arch = "x86_64")]
/// mod tiles {
///     use dynasmrt::{DynasmApi, dynasm};
///
///     azulejo::tile! {
///         pub group own;
///
///         set_bit: (or.i64 reg (shl.i64 (const $bit:one) reg)) -> reg, 2, tied(0) => |cx, t| {
///             dynasm!(cx; .arch x64; bts Rq(t.out()), Rq(t.reg(1)))
///         },
///     }
/// }
///
/// # #[cfg(target_arch = "x86_64")]
/// azulejo::tileset! {
///     // All that azulejo has, and these.
///     pub static TILES: extends azulejo::x64::X64;
///     groups = crate::tiles;
/// }
/// ```
#[proc_macro]
pub fn tileset(input: TokenStream) -> TokenStream {
    tile::tileset(input.into()).into()
}

/// Called by groups to pass their patterns on; not for users.
#[doc(hidden)]
#[proc_macro]
pub fn tileset_step(input: TokenStream) -> TokenStream {
    tile::step(input.into()).into()
}

/// Adds operators to the vocabulary: their operands, results and meanings. Other macros refer to them by the path of the module
/// that contains the invocation.
///
/// ```
/// use azulejo::prelude::*;
///
/// mod ops {
///     azulejo::operators! {
///         /// How many bits differ.
///         distance: (same same) -> same, i32|i64, unsigned, pure, commutes => |_, operands| {
///             Ok((operands[0] ^ operands[1]).count_ones() as u64)
///         },
///     }
/// }
///
/// #[derive(Bytecode, Clone, Copy, Debug)]
/// #[bytecode(operators = crate::ops)]
/// enum Op {
///     Distance { dst: Out<i64>, a: In<i64>, b: In<i64> },
///     Return { a: In<i64> },
/// }
///
/// template! {
///     Op::Distance => (distance $a $b)
///     Op::Return   => (return $a)
/// }
///
/// fn main() -> Result<(), Error> {
///     let code = vec![Op::Distance { dst: 0.into(), a: 0.into(), b: 1.into() }, Op::Return { a: 0.into() }];
///     // No tile is for it yet, so it is interpreted.
///     let engine = Engine::<Op>::new();
///     let distance = engine.define("distance", code, 2)?;
///     assert_eq!(engine.call::<_, i64>(distance, &mut (), (0b1100i64, 0b1010i64))?, 2);
///     Ok(())
/// }
/// ```
#[proc_macro]
pub fn operators(input: TokenStream) -> TokenStream {
    operators::operators(input.into()).into()
}

/// Defines rewrite rules by rows of patterns. See the head of `src/rules/mod.rs` of the package `azulejo`.
///
/// ```
/// use azulejo::prelude::*;
/// use azulejo::rules::Matcher;
///
/// azulejo::rewrite! {
///     pub static MINE;
///
///     // (x ^ y) ^ y = x
///     (xor.$t:int (xor $x $y) $y) => $x
/// }
///
/// static RULES: [Matcher; 1] = [MINE.matcher];
///
/// # #[derive(Bytecode, Clone, Copy, Debug)]
/// # enum Op { Xor { dst: Out<i64>, a: In<i64>, b: In<i64> }, Return { a: In<i64> } }
/// # template! {
/// #     Op::Xor    => (xor $a $b)
/// #     Op::Return => (return $a)
/// # }
/// # fn main() -> Result<(), Error> {
/// // SAFETY: the rule holds for all integers.
/// let engine: Engine<Op> = unsafe { Engine::<Op>::builder().rules(&RULES) }.build();
/// let xor = Op::Xor { dst: 0.into(), a: 0.into(), b: 1.into() };
/// let twice = engine.define("twice", vec![xor, xor, Op::Return { a: 0.into() }], 2)?;
/// # if azulejo::can_compile().is_ok() {
/// engine.compile(twice)?;
/// let stages = engine.stages(twice)?;
/// let (before, after) = stages.split_once("== dead").expect("there is this stage");
/// assert!(before.contains("xor.i64") && !after.contains("xor.i64"));
/// # }
/// assert_eq!(engine.call::<_, i64>(twice, &mut (), (5i64, 7i64))?, 5);
/// # Ok(())
/// # }
/// ```
#[proc_macro]
pub fn rewrite(input: TokenStream) -> TokenStream {
    rewrite::rewrite(input.into()).into()
}

/// Defines the meanings of opcodes in a small typed language; see the template book.
///
/// Each row is `Enum::Opcode => expression`. The value of the expression is written to the opcode's output.
///
/// ```
/// use azulejo::prelude::*;
///
/// #[derive(Bytecode, Clone, Copy, Debug)]
/// enum Op {
///     Clamp { dst: Out<i64>, a: In<i64>, low: Imm<i64>, high: Imm<i64> },
///     Return { a: In<i64> },
/// }
///
/// template! {
///     macro ^at_most (,x ,most) (if (lt ,x ,most) ,x ,most)
///
///     Op::Clamp  => (if (lt $a $low) $low (^at_most $a $high))
///     Op::Return => (return $a)
/// }
///
/// let engine = Engine::<Op>::new();
/// let code = vec![Op::Clamp { dst: 0.into(), a: 0.into(), low: Imm(0), high: Imm(9) }, Op::Return { a: 0.into() }];
/// let clamp = engine.define("clamp", code, 1)?;
/// assert_eq!(engine.call::<_, i64>(clamp, &mut (), (12i64,))?, 9);
/// # Ok::<(), Error>(())
/// ```
///
#[doc = include_str!("../operators.md")]
#[proc_macro]
pub fn template(input: TokenStream) -> TokenStream {
    template::template(input.into()).into()
}

/// Defines macros and kinds of values of the template language that several `template!`s share.
///
/// ```
/// use azulejo::prelude::*;
///
/// template_macros! {
///     geometry {
///         macro ^square (,x) (mul ,x ,x)
///     }
/// }
///
/// #[derive(Bytecode, Clone, Copy, Debug)]
/// enum Op {
///     Hypot { dst: Out<f64>, a: In<f64>, b: In<f64> },
///     Return { a: In<f64> },
/// }
///
/// template! {
///     use geometry;
///
///     Op::Hypot  => (sqrt (add (^square $a) (^square $b)))
///     Op::Return => (return $a)
/// }
///
/// # fn main() -> Result<(), Error> {
/// let engine = Engine::<Op>::new();
/// let code = vec![Op::Hypot { dst: 0.into(), a: 0.into(), b: 1.into() }, Op::Return { a: 0.into() }];
/// let hypot = engine.define("hypot", code, 2)?;
/// assert_eq!(engine.call::<_, f64>(hypot, &mut (), (3.0f64, 4.0f64))?, 5.0);
/// # Ok(())
/// # }
/// ```
///
/// `use path::object_model;` at the start of a `template!` imports them. Those marked `pub` can be imported by other crates, too.
#[proc_macro]
pub fn template_macros(input: TokenStream) -> TokenStream {
    template::shared::template_macros(input.into()).into()
}

/// Called by shared macros to pass themselves on to `template!`; not for users.
#[doc(hidden)]
#[proc_macro]
pub fn __template_macros(input: TokenStream) -> TokenStream {
    template::shared::with_macros(input.into()).into()
}

/// Called by a struct's macro to describe its fields to `template!`; not for users.
#[doc(hidden)]
#[proc_macro]
pub fn __template_fields(input: TokenStream) -> TokenStream {
    template::fields::told(input.into()).into()
}

/// Called by an enum's macro to describe its opcodes to `template!`; not for users.
#[doc(hidden)]
#[proc_macro]
pub fn __template(input: TokenStream) -> TokenStream {
    template::described(input.into()).into()
}
