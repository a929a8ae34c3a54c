//! Calls of Rust functions, with argument and result types that rustc checks.
//!
//! A template says as what an argument is passed (`(carg $a i64)`); the function says what it takes. [`pass`] and
//! [`take`] exist for pairs that agree and no others. [`meaning`] calls what a user's operator means.

use crate::vocab::{OpInfo, Sig};

/// The scalars of the template language, as types.
#[allow(non_camel_case_types, missing_docs, missing_debug_implementations, reason = "named like the scalars")]
pub mod kind {
    macro_rules! kinds {
        ($($name:ident)*) => { $(pub enum $name {})* };
    }
    kinds!(i8 u8 i16 u16 i32 u32 i64 u64 ptr f32 f64);

    /// What `(tc)` is: the address of the VM's context, which a function may take as a reference.
    pub struct context<C>(core::marker::PhantomData<C>);
    /// An address in an `unsafe` template, whose author vouches for it.
    pub enum trusted {}
}

/// A type that a native function takes where a template passes the scalar `K`.
#[diagnostic::on_unimplemented(
    message = "the function takes `{Self}`, not what the template passes",
    note = "write the type that the function takes in `(carg value type)`"
)]
pub trait Argument<K> {
    /// What the template has.
    type From;
    /// The argument.
    ///
    /// # Safety
    ///
    /// An address must be one of what the function takes, and valid while it runs.
    unsafe fn pass(value: Self::From) -> Self;
}

/// A type that a native function returns where a template takes the scalar `K`.
#[diagnostic::on_unimplemented(
    message = "the function returns `{Self}`, not what the template takes",
    note = "write the type that the function returns behind the `(arglist …)`"
)]
pub trait Returned<K> {
    /// What the template gets.
    type To;
    /// The value.
    fn take(self) -> Self::To;
}

macro_rules! agreeing {
    ($($kind:ident: $held:ident, $($rust:ident)*;)*) => {$($(
        impl Argument<kind::$kind> for $rust {
            type From = $held;
            #[inline(always)]
            unsafe fn pass(value: $held) -> $rust {
                value as $rust
            }
        }
        impl Returned<kind::$kind> for $rust {
            type To = $held;
            #[inline(always)]
            fn take(self) -> $held {
                self as $held
            }
        }
    )*)*};
}
agreeing! {
    i8: i8, i8;
    u8: i8, u8;
    i16: i16, i16;
    u16: i16, u16;
    i32: i32, i32;
    u32: i32, u32;
    i64: i64, i64 isize;
    u64: i64, u64 usize;
    ptr: i64, usize;
    f32: f32, f32;
    f64: f64, f64;
}

impl<T> Argument<kind::ptr> for *mut T {
    type From = i64;
    #[inline(always)]
    unsafe fn pass(value: i64) -> Self {
        value as usize as *mut T
    }
}

impl<T> Argument<kind::ptr> for *const T {
    type From = i64;
    #[inline(always)]
    unsafe fn pass(value: i64) -> Self {
        value as usize as *const T
    }
}

impl<T> Returned<kind::ptr> for *mut T {
    type To = i64;
    #[inline(always)]
    fn take(self) -> i64 {
        self as usize as i64
    }
}

impl<T> Returned<kind::ptr> for *const T {
    type To = i64;
    #[inline(always)]
    fn take(self) -> i64 {
        self as usize as i64
    }
}

/// Addresses of which it is known what they point to.
macro_rules! known_addresses {
    ($($(#[doc = $why:literal])* $kind:ty;)*) => {$(
        impl<T> Argument<$kind> for *mut T {
            type From = i64;
            #[inline(always)]
            unsafe fn pass(value: i64) -> Self {
                value as usize as *mut T
            }
        }
        impl<T> Argument<$kind> for *const T {
            type From = i64;
            #[inline(always)]
            unsafe fn pass(value: i64) -> Self {
                value as usize as *const T
            }
        }
        impl<T> Argument<$kind> for &T {
            type From = i64;
            #[inline(always)]
            unsafe fn pass(value: i64) -> Self {
                // SAFETY: the caller promises that it is the address of a `T`.
                unsafe { &*(value as usize as *const T) }
            }
        }
        impl<T> Argument<$kind> for &mut T {
            type From = i64;
            #[inline(always)]
            unsafe fn pass(value: i64) -> Self {
                // SAFETY: as above, and that nobody else uses it meanwhile.
                unsafe { &mut *(value as usize as *mut T) }
            }
        }
    )*};
}
known_addresses! {
    kind::context<T>;
    kind::trusted;
}

/// Makes an argument.
///
/// # Safety
///
/// As [`Argument::pass`].
#[inline(always)]
pub unsafe fn pass<K, A: Argument<K>>(value: A::From) -> A {
    // SAFETY: the caller promises it.
    unsafe { A::pass(value) }
}

/// Takes a result.
#[inline(always)]
pub fn take<K, R: Returned<K>>(result: R) -> R::To {
    result.take()
}

/// Takes the result of a function that has none.
#[inline(always)]
pub fn nothing((): ()) {}

/// About where the machine stack is.
#[inline(always)]
pub fn stack_pointer() -> i64 {
    let here = 0u8;
    (&raw const here).addr() as i64
}

/// What a user's operator computes, in the interpreter.
///
/// # Panics
///
/// If the meaning fails: compiled code cannot, so an operator of `operators!` means something for all operands, and
/// what may fail is checked in the template.
#[inline(always)]
pub fn meaning(row: &'static OpInfo, sig: Sig, operands: &[u64]) -> u64 {
    match row.reference.map(|reference| reference(sig, operands)) {
        Some(Ok(bits)) => bits,
        _ => panic!("operator `{}` has no meaning for {operands:x?}", row.name),
    }
}
