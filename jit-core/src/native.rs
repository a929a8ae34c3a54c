//! Calls of Rust functions, with argument and result types that rustc checks.
//!
//! A template says which scalar it passes (`(carg $a i64)`); the function's signature says which type it takes. [`Argument`]
//! and [`Returned`] hold for the pairs that agree and for no others. [`meaning`] evaluates a user's operator.
//!
//! **Invariant:** a reference that a function takes lives as long as the call. It borrows a [`Call`], which is a local of the
//! caller, so rustc refuses a function that keeps the reference. No two references lead to the context if one of them is
//! exclusive: [`Beside`] holds for all other pairs.
//!
//! [`Argument`] and [`Returned`] each have one blanket implementation, which rustc is told not to mention, with a hidden trait
//! behind it. Otherwise an error would list implementations instead of saying how to fix the call.

use crate::ir::bytecode::HasSite;
use crate::ir::sites::Cases;
use crate::vocab::meaning::Num;
use crate::vocab::{OpInfo, Sig, Trap};
use core::ptr::NonNull;

/// The scalars of the template language, as types.
#[allow(non_camel_case_types, missing_docs, missing_debug_implementations, reason = "named like the scalars")]
pub mod kind {
    macro_rules! kinds {
        ($($name:ident: $held:ident)*) => {$(
            pub enum $name {}
            impl super::PassedKind for $name {
                type Held = core::primitive::$held;
            }
        )*};
    }
    kinds!(i8: i8 u8: i8 i16: i16 u16: i16 i32: i32 u32: i32 i64: i64 u64: i64 ptr: i64 f32: f32 f64: f64);

    kinds!(bool: i8);

    /// The result of a function without one, which may fail.
    pub enum nothing {}
    impl super::PassedKind for nothing {
        type Held = core::primitive::i8;
    }
    /// The address of the VM's context, from `(tc)`. A function may take it as a reference.
    pub struct context<C>(core::marker::PhantomData<C>);
    impl<C> super::PassedKind for context<C> {
        type Held = core::primitive::i64;
    }
    /// The address of an output, from `(place $output)`. A function may take it as a reference.
    pub struct place<T>(core::marker::PhantomData<T>);
    impl<T> super::PassedKind for place<T> {
        type Held = core::primitive::i64;
    }
    /// The address of a site, an operand of this enum. A function may take it as [`Cases`](crate::ir::sites::Cases).
    pub struct site<B, const OPCODE: usize, const OPERAND: usize>(core::marker::PhantomData<B>);
    impl<B, const OPCODE: usize, const OPERAND: usize> super::PassedKind for site<B, OPCODE, OPERAND> {
        type Held = core::primitive::i64;
    }
    /// The address by which the frames that are shown are found, from `(frames)`.
    pub enum frames {}
    impl super::PassedKind for frames {
        type Held = core::primitive::i64;
    }
    /// An address in an `unsafe` template, whose author vouches for it.
    pub enum trusted {}
    impl super::PassedKind for trusted {
        type Held = core::primitive::i64;
    }
}

/// How a function may access memory through an argument.
#[allow(missing_docs, missing_debug_implementations, reason = "stand for themselves")]
pub mod access {
    /// The argument is no reference.
    pub enum Nothing {}
    /// The argument is no reference, and is constructed from the number that is passed.
    pub enum Made {}
    /// The argument is a `&T`.
    pub enum Shared {}
    /// The argument is a `&mut T`.
    pub enum Exclusive {}
    /// No argument has this access. It is a further partner of `Exclusive` in `Apart`, so that rustc does not infer one.
    pub enum Never {}
}
use access::{Exclusive, Made, Never, Nothing, Shared};

/// The kind of a passed value: a scalar, or an address whose target is known.
pub trait PassedKind {
    /// The Rust type that holds such a value in a template.
    type Held;
}

/// A call that is being made. The references that the function takes borrow it.
#[derive(Debug)]
pub struct Call;

/// A type that a native function takes where a template passes the scalar `K`.
#[diagnostic::on_unimplemented(
    message = "the function takes `{Self}`, not what the template passes",
    label = "this is passed",
    note = "write the type that the function takes in `(carg value type)`",
    note = "the context is of the type that `#[bytecode(context = …)]` says, and the cases of a site are `Cases` of its struct",
    note = "an enum with `#[derive(Scalar)]` is taken as an `Option`, unless it says which variant all `other` numbers are"
)]
pub trait Argument<'call, K: PassedKind>: Sized {
    /// One of the types in [`access`].
    type Access;
    /// Makes the argument from the value that the template passes.
    ///
    /// # Safety
    ///
    /// An address must point to the value that the function takes, and be valid while the function runs.
    unsafe fn pass(call: &'call Call, value: K::Held) -> Self;
}

/// A type that a native function returns where a template takes the scalar `K`.
#[diagnostic::on_unimplemented(
    message = "the function returns `{Self}`, not what the template takes",
    label = "this is returned",
    note = "write the type that the function returns behind the `(arglist …)`",
    note = "a function that returns a `Result` is called by `(call throws …)`"
)]
pub trait Returned<K: PassedKind> {
    /// Makes the value that the template takes from the result.
    fn take(self) -> K::Held;
}

/// A pair of arguments that one function may take: if both are references, neither is exclusive.
#[diagnostic::on_unimplemented(
    message = "the function takes both `{Other}` and `{Self}`, which may lead to the same value",
    label = "the value again",
    note = "first mend what is not what the template passes: another error says so, or the cases are of another struct than the site's \
            `Site<…>` names, or the context is not what `#[bytecode(context = …)]` names",
    note = "an exclusive reference is the only one: take the value once, or one of these as a raw pointer"
)]
pub trait Beside<'this, 'other, K: PassedKind, L: PassedKind, Other>: Argument<'this, K> {
    /// Makes rustc check the pair.
    fn beside(&self, _: &Other) {}
}

#[diagnostic::do_not_recommend]
impl<'this, 'other, K: PassedKind, L: PassedKind, A, B> Beside<'this, 'other, K, L, B> for A
where
    A: Argument<'this, K>,
    B: Argument<'other, L>,
    (A::Access, B::Access): Apart,
{
}

/// Pairs of accesses that do not conflict.
#[doc(hidden)]
pub trait Apart {}
impl<T> Apart for (Nothing, T) {}
impl Apart for (Shared, Nothing) {}
impl Apart for (Shared, Shared) {}
impl Apart for (Exclusive, Nothing) {}
impl Apart for (Exclusive, Never) {}
impl<T> Apart for (Made, T) {}
impl Apart for (Shared, Made) {}
impl Apart for (Exclusive, Made) {}

/// An [`Argument`] of a function that is called directly: no wrapper runs in between that could convert the value.
#[diagnostic::on_unimplemented(
    message = "the function takes `{Self}`, not what the template passes",
    label = "this is passed",
    note = "write the type that the function takes in `(carg value type)`",
    note = "the context is of the type that `#[bytecode(context = …)]` says, and the cases of a site are `Cases` of its struct",
    note = "an enum with `#[derive(Scalar)]` has to be made of a number: leave the convention out"
)]
pub trait Direct<'call, K: PassedKind>: Argument<'call, K> {
    /// Does what [`Argument::pass`] does.
    ///
    /// # Safety
    ///
    /// The requirements of [`Argument::pass`].
    #[inline(always)]
    unsafe fn pass_directly(call: &'call Call, value: K::Held) -> Self {
        // SAFETY: the caller meets the requirements of `pass`.
        unsafe { Self::pass(call, value) }
    }
}
#[diagnostic::do_not_recommend]
impl<'call, K: PassedKind, A: Argument<'call, K>> Direct<'call, K> for A where A::Access: AsItIs {}

/// Accesses of arguments that are passed without conversion.
#[doc(hidden)]
pub trait AsItIs {}
impl AsItIs for Nothing {}
impl AsItIs for Shared {}
impl AsItIs for Exclusive {}

/// The implementation behind [`Argument`].
#[doc(hidden)]
pub trait Passed<'call, K: PassedKind>: Sized {
    #[doc(hidden)]
    type Access;
    /// # Safety
    ///
    /// The requirements of [`Argument::pass`].
    #[doc(hidden)]
    unsafe fn passed(call: &'call Call, value: K::Held) -> Self;
}

/// The implementation behind [`Returned`].
#[doc(hidden)]
pub trait Taken<K: PassedKind> {
    #[doc(hidden)]
    fn taken(self) -> K::Held;
}

#[diagnostic::do_not_recommend]
impl<'call, K: PassedKind, A: Passed<'call, K>> Argument<'call, K> for A {
    type Access = A::Access;
    #[inline(always)]
    unsafe fn pass(call: &'call Call, value: K::Held) -> Self {
        // SAFETY: the caller meets the requirements of `pass`, which are those of `passed`.
        unsafe { A::passed(call, value) }
    }
}

#[diagnostic::do_not_recommend]
impl<K: PassedKind, R: Taken<K>> Returned<K> for R {
    #[inline(always)]
    fn take(self) -> K::Held {
        self.taken()
    }
}

macro_rules! agreeing {
    ($($kind:ident: $held:ident, $($rust:ident)*;)*) => {$($(
        impl Passed<'_, kind::$kind> for $rust {
            type Access = Nothing;
            #[inline(always)]
            unsafe fn passed(_: &Call, value: $held) -> $rust {
                value as $rust
            }
        }
        impl Taken<kind::$kind> for $rust {
            #[inline(always)]
            fn taken(self) -> $held {
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

impl<'call, B, T, const OPCODE: usize, const OPERAND: usize> Passed<'call, kind::site<B, OPCODE, OPERAND>>
    for Cases<'call, T>
where
    B: HasSite<OPCODE, OPERAND, T>,
    T: Copy + 'static,
{
    type Access = Made;
    #[inline(always)]
    unsafe fn passed(_: &'call Call, value: i64) -> Self {
        // SAFETY: the caller passes the address of a site with such cases, which lives as long as the function's code.
        unsafe { Cases::at(value as u64) }
    }
}

/// An enum whose variants are numbers. Implemented by `#[derive(Scalar)]` only.
///
/// A template may pass a number that no variant has, since the program that it runs decides. So the number is checked before
/// it becomes a variant.
pub trait Enumeration: Sized {
    /// The scalar that templates use for it.
    type Number: PassedKind;
    /// The variant with this number, if one exists.
    fn variant(number: <Self::Number as PassedKind>::Held) -> Option<Self>;
}

macro_rules! enumerations {
    ($($kind:ident: $held:ident)*) => {$(
        impl<E: Enumeration<Number = kind::$kind>> Passed<'_, kind::$kind> for Option<E> {
            type Access = Made;
            #[inline(always)]
            unsafe fn passed(_: &Call, value: $held) -> Option<E> {
                E::variant(value)
            }
        }
    )*};
}
enumerations!(i8: i8 u8: i8 i16: i16 u16: i16 i32: i32 u32: i32 i64: i64 u64: i64);

impl Passed<'_, kind::bool> for bool {
    type Access = Nothing;
    #[inline(always)]
    unsafe fn passed(_: &Call, value: i8) -> bool {
        value != 0
    }
}
impl Taken<kind::bool> for bool {
    #[inline(always)]
    fn taken(self) -> i8 {
        self as i8
    }
}

impl Taken<kind::nothing> for () {
    #[inline(always)]
    fn taken(self) -> i8 {
        0
    }
}

/// Arguments that take an address as a raw pointer. They need to know nothing about its target.
macro_rules! addresses {
    ($($kind:ty;)*) => {$(
        impl<T> Passed<'_, $kind> for *mut T {
            type Access = Nothing;
            #[inline(always)]
            unsafe fn passed(_: &Call, value: i64) -> Self {
                value as usize as *mut T
            }
        }
        impl<T> Passed<'_, $kind> for *const T {
            type Access = Nothing;
            #[inline(always)]
            unsafe fn passed(_: &Call, value: i64) -> Self {
                value as usize as *const T
            }
        }
        impl<T> Passed<'_, $kind> for Option<NonNull<T>> {
            type Access = Nothing;
            #[inline(always)]
            unsafe fn passed(_: &Call, value: i64) -> Self {
                NonNull::new(value as usize as *mut T)
            }
        }
    )*};
}
addresses! {
    kind::ptr;
    kind::context<T>;
    kind::trusted;
}

impl<T> Passed<'_, kind::place<T>> for *mut T {
    type Access = Nothing;
    #[inline(always)]
    unsafe fn passed(_: &Call, value: i64) -> Self {
        value as usize as *mut T
    }
}
impl<T> Passed<'_, kind::place<T>> for Option<NonNull<T>> {
    type Access = Nothing;
    #[inline(always)]
    unsafe fn passed(_: &Call, value: i64) -> Self {
        NonNull::new(value as usize as *mut T)
    }
}
impl<'call, T> Passed<'call, kind::place<T>> for &'call mut T {
    type Access = Exclusive;
    #[inline(always)]
    unsafe fn passed(_: &'call Call, value: i64) -> Self {
        // SAFETY: it is the slot of a VM register. The slot holds a `T`, and nothing else accesses it during the call.
        unsafe { &mut *(value as usize as *mut T) }
    }
}

/// Arguments that take an address as a reference, because the type of its target is known.
macro_rules! known_addresses {
    ($($kind:ty;)*) => {$(
        impl<'call, T> Passed<'call, $kind> for &'call T {
            type Access = Shared;
            #[inline(always)]
            unsafe fn passed(_: &'call Call, value: i64) -> Self {
                // SAFETY: the caller promises that it is the address of a `T`.
                unsafe { &*(value as usize as *const T) }
            }
        }
        impl<'call, T> Passed<'call, $kind> for &'call mut T {
            type Access = Exclusive;
            #[inline(always)]
            unsafe fn passed(_: &'call Call, value: i64) -> Self {
                // SAFETY: as above, and the caller promises that nothing else accesses the `T` during the call.
                unsafe { &mut *(value as usize as *mut T) }
            }
        }
        impl<'call, T> Passed<'call, $kind> for Option<&'call T> {
            type Access = Shared;
            #[inline(always)]
            unsafe fn passed(_: &'call Call, value: i64) -> Self {
                // SAFETY: the caller promises that it is the address of a `T`, or zero.
                unsafe { (value as usize as *const T).as_ref() }
            }
        }
        impl<'call, T> Passed<'call, $kind> for Option<&'call mut T> {
            type Access = Exclusive;
            #[inline(always)]
            unsafe fn passed(_: &'call Call, value: i64) -> Self {
                // SAFETY: as above, and the caller promises that nothing else accesses the `T` during the call.
                unsafe { (value as usize as *mut T).as_mut() }
            }
        }
    )*};
}
known_addresses! {
    kind::context<T>;
    kind::trusted;
}

/// Results that are addresses; `None` becomes zero.
macro_rules! taken_addresses {
    ($(<$($life:lifetime,)? T> $rust:ty: $value:ident => $address:expr;)*) => {$(
        impl<$($life,)? T> Taken<kind::ptr> for $rust {
            #[inline(always)]
            fn taken(self) -> i64 {
                let $value = self;
                let address: *const T = $address;
                address as usize as i64
            }
        }
    )*};
}
taken_addresses! {
    <T> *mut T: pointer => pointer;
    <T> *const T: pointer => pointer;
    <'a, T> &'a T: reference => reference;
    <'a, T> &'a mut T: reference => reference;
    <T> NonNull<T>: pointer => pointer.as_ptr();
    <'a, T> Option<&'a T>: reference => reference.map_or(core::ptr::null(), |it| it);
    <'a, T> Option<&'a mut T>: reference => reference.map_or(core::ptr::null(), |it| it);
    <T> Option<NonNull<T>>: pointer => pointer.map_or(core::ptr::null(), |it| it.as_ptr());
}

/// The return type of a function without a result.
#[diagnostic::on_unimplemented(
    message = "the function returns `{Self}`, and `callv` is for functions without a result",
    label = "this is returned",
    note = "`(call … type)` has the result, and `(discard (call … type))` drops it"
)]
pub trait NoResult {
    /// Consumes it.
    #[inline(always)]
    fn nothing(self)
    where
        Self: Sized,
    {
    }
}
#[diagnostic::do_not_recommend]
impl<R: Void> NoResult for R {}

/// The implementation behind [`NoResult`].
#[doc(hidden)]
pub trait Void {}
impl Void for () {}
/// The never type, which has no stable name.
impl Void for <fn() -> ! as FunctionPointer>::Result {}

/// The two words that a native function returns if the Rust function that it calls may fail.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Attempt {
    /// The bits of the result; meaningless if the function failed.
    pub bits: u64,
    /// The [code](Trap::code) of the trap with which the function failed, or zero.
    pub failure: u64,
}

impl Attempt {
    /// The result's bits, or the trap.
    #[inline(always)]
    pub fn get(self) -> Result<u64, Trap> {
        match self.failure {
            0 => Ok(self.bits),
            code => Err(Trap::from_code(code as u32).unwrap_or(Trap::BadCall)),
        }
    }
}

/// The return type of a function that may fail, where a template takes the scalar `K`.
#[diagnostic::on_unimplemented(
    message = "the function returns `{Self}`, and `throws`, or `slow`, is for functions that return a `Result` of what the template takes",
    label = "this is returned",
    note = "the function returns `Result<T, Trap>`, or a `Result` whose error is `Into<Trap>`; `T` stands behind the `(arglist …)`"
)]
pub trait Fallible<K: PassedKind> {
    /// Makes the words that the native function returns.
    fn attempt(self) -> Attempt;
}

#[diagnostic::do_not_recommend]
impl<K: PassedKind, R: Attempted<K>> Fallible<K> for R {
    #[inline(always)]
    fn attempt(self) -> Attempt {
        self.attempted()
    }
}

/// The implementation behind [`Fallible`].
#[doc(hidden)]
pub trait Attempted<K: PassedKind> {
    #[doc(hidden)]
    fn attempted(self) -> Attempt;
}

impl<K: PassedKind<Held: Num>, T: Taken<K>, E: Into<Trap>> Attempted<K> for Result<T, E> {
    #[inline(always)]
    fn attempted(self) -> Attempt {
        match self {
            Ok(value) => Attempt { bits: value.taken().to_bits(), failure: 0 },
            Err(error) => Attempt { bits: 0, failure: error.into().code() as u64 },
        }
    }
}

/// Names the return type of a function pointer.
#[doc(hidden)]
pub trait FunctionPointer {
    #[doc(hidden)]
    type Result;
}
impl<R> FunctionPointer for fn() -> R {
    type Result = R;
}

/// An address near the top of the machine stack.
#[inline(always)]
pub fn stack_pointer() -> i64 {
    let here = 0u8;
    (&raw const here).addr() as i64
}

/// In debug builds, looks whether a place has the value that a template says it [holds](crate::vocab::Op::HOLDS). The interpreter calls it.
///
/// # Safety
///
/// As for reading the place.
///
/// # Panics
///
/// In debug builds, if the place has another value.
#[inline(always)]
pub unsafe fn debug_holds<T: Num>(address: i64, value: impl FnOnce() -> T) {
    if cfg!(debug_assertions) {
        // SAFETY: the caller guarantees it.
        let found = unsafe { core::ptr::with_exposed_provenance::<T>(address as usize).read_unaligned() };
        let (found, stated) = (found.to_bits(), value().to_bits());
        assert!(found == stated, "a place holds {found:#x} where a template says that it holds {stated:#x}");
    }
}

/// Computes a user's operator. The interpreter calls it.
///
/// # Panics
///
/// If the operator's meaning fails. Compiled code cannot fail there, so an operator of `operators!` must have a meaning for
/// all operands, and the template must check everything that may fail.
#[inline(always)]
pub fn meaning(row: &'static OpInfo, sig: Sig, operands: &[u64]) -> u64 {
    match row.reference.map(|reference| reference(sig, operands)) {
        Some(Ok(bits)) => bits,
        _ => panic!("operator `{}` has no meaning for {operands:x?}", row.name),
    }
}
