//! Calls from the interpreter to Rust functions, with argument and result types that rustc checks.
//!
//! A template says as what an argument is passed (`(carg $a i64)`); the function says what it takes. [`pass`] and
//! [`take`] exist for pairs that agree and no others.

/// The scalars of the template language, as types.
#[allow(non_camel_case_types, missing_docs, missing_debug_implementations, reason = "named like the scalars")]
pub mod kind {
    macro_rules! kinds {
        ($($name:ident)*) => { $(pub enum $name {})* };
    }
    kinds!(i8 u8 i16 u16 i32 u32 i64 u64 ptr f32 f64);
}

/// A type that a native function takes where a template passes the scalar `K`.
#[diagnostic::on_unimplemented(
    message = "the function takes `{Self}` where the template passes `{K}`",
    note = "write the type that the function takes in `(carg value type)`"
)]
pub trait Argument<K> {
    /// What the template has.
    type From;
    /// The argument.
    fn pass(value: Self::From) -> Self;
}

/// A type that a native function returns where a template takes the scalar `K`.
#[diagnostic::on_unimplemented(
    message = "the function returns `{Self}` where the template takes `{K}`",
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
            fn pass(value: $held) -> $rust {
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

macro_rules! pointers {
    ($($(#[$safety:meta])* <$($life:lifetime)?> $pointer:ty, $value:ident => $make:expr;)*) => {$(
        impl<$($life,)? T> Argument<kind::ptr> for $pointer {
            type From = i64;
            #[inline(always)]
            fn pass($value: i64) -> Self {
                $make
            }
        }
        impl<$($life,)? T> Returned<kind::ptr> for $pointer {
            type To = i64;
            #[inline(always)]
            fn take(self) -> i64 {
                // SAFETY: every one of these types is an address.
                unsafe { core::mem::transmute::<Self, usize>(self) as i64 }
            }
        }
    )*};
}
pointers! {
    <> *mut T, value => value as usize as *mut T;
    <> *const T, value => value as usize as *const T;
    // The template passes what its author knows to be a valid address of a `T`: the context, or what an `unsafe`
    // template vouches for.
    <'a> &'a mut T, value => unsafe { &mut *(value as usize as *mut T) };
    <'a> &'a T, value => unsafe { &*(value as usize as *const T) };
}

/// Makes an argument.
#[inline(always)]
pub fn pass<K, A: Argument<K>>(value: A::From) -> A {
    A::pass(value)
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
