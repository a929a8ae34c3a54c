//! Atomic accesses of memory: their orderings, what they make of what is there, and how the interpreter does them.
//!
//! An atomic operator reads a place, makes something of what was there, and puts that back, all at once. [`Update`] says what
//! it makes, for the reference; the functions here do it, with Rust's atomic types, for the interpreter. No pass moves
//! anything that touches memory past one, whatever its ordering.

use super::op::{Kind, OpInfo, Sig, Yields};
use super::ty::Type;
use core::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering};

/// What an atomic operator puts where it found the first of these bits; the rest are its operands behind the address.
pub type Update = fn(&[u64]) -> u64;

/// What other threads may see of the accesses around an atomic one, as in Rust.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
#[allow(missing_docs, reason = "named like those of Rust")]
pub enum Order {
    Relaxed,
    Acquire,
    Release,
    AcqRel,
    SeqCst,
}

impl Order {
    /// Every ordering, by number.
    pub const ALL: [Order; 5] =
        [Order::Relaxed, Order::Acquire, Order::Release, Order::AcqRel, Order::SeqCst];

    /// How templates spell it.
    pub const fn name(self) -> &'static str {
        match self {
            Order::Relaxed => "relaxed",
            Order::Acquire => "acquire",
            Order::Release => "release",
            Order::AcqRel => "acq_rel",
            Order::SeqCst => "seq_cst",
        }
    }

    /// Whether an operator can have it: what only reads releases nothing, and what only writes acquires nothing.
    pub fn fits(self, info: &OpInfo) -> bool {
        let only_reads = !info.operands.contains(&Kind::Same);
        let only_writes = info.yields == Yields::Void;
        match self {
            Order::Relaxed | Order::SeqCst => true,
            Order::Acquire => !only_writes,
            Order::Release => !only_reads,
            Order::AcqRel => !only_reads && !only_writes,
        }
    }

    /// The one that a node's constant stands for.
    #[inline]
    pub const fn of(number: u64) -> Order {
        Order::ALL[number as usize]
    }

    /// As Rust has it.
    pub const fn rust(self) -> Ordering {
        match self {
            Order::Relaxed => Ordering::Relaxed,
            Order::Acquire => Ordering::Acquire,
            Order::Release => Ordering::Release,
            Order::AcqRel => Ordering::AcqRel,
            Order::SeqCst => Ordering::SeqCst,
        }
    }

    /// What is left of it where nothing is written.
    const fn of_read(self) -> Ordering {
        match self {
            Order::Relaxed | Order::Release => Ordering::Relaxed,
            Order::Acquire | Order::AcqRel => Ordering::Acquire,
            Order::SeqCst => Ordering::SeqCst,
        }
    }
}

/// An integer that there is an atomic type for.
///
/// # Safety
///
/// The address of each function is that of a value of this type, aligned to its size, which other threads touch by atomic
/// accesses only.
#[allow(clippy::missing_safety_doc, reason = "it is said once, for all of them")]
pub unsafe trait Atomic: Sized {
    /// The value there.
    unsafe fn load(address: i64, order: Order) -> Self;
    /// Puts a value there.
    unsafe fn store(address: i64, value: Self, order: Order);
    /// Puts a value there; what was there.
    unsafe fn swap(address: i64, value: Self, order: Order) -> Self;
    /// Adds to what is there; what was there.
    unsafe fn fetch_add(address: i64, value: Self, order: Order) -> Self;
    /// Keeps bits of what is there; what was there.
    unsafe fn fetch_and(address: i64, value: Self, order: Order) -> Self;
    /// Sets bits of what is there; what was there.
    unsafe fn fetch_or(address: i64, value: Self, order: Order) -> Self;
    /// Flips bits of what is there; what was there.
    unsafe fn fetch_xor(address: i64, value: Self, order: Order) -> Self;
    /// Puts a value there if the expected one is there; what was there.
    unsafe fn compare_exchange(address: i64, expected: Self, value: Self, order: Order) -> Self;
}

macro_rules! atomics {
    ($($int:ident $unsigned:ident $atomic:ident),*) => {$(
        // SAFETY: what the caller promises is what `from_ptr` asks for.
        unsafe impl Atomic for $int {
            #[inline(always)]
            unsafe fn load(address: i64, order: Order) -> $int {
                // SAFETY: as above.
                unsafe { $atomic::from_ptr(address as usize as *mut $unsigned) }.load(order.of_read()) as $int
            }
            #[inline(always)]
            unsafe fn store(address: i64, value: $int, order: Order) {
                // SAFETY: as above.
                let place = unsafe { $atomic::from_ptr(address as usize as *mut $unsigned) };
                place.store(value as $unsigned, order.rust());
            }
            atomics! { @changing $int $unsigned $atomic swap }
            atomics! { @changing $int $unsigned $atomic fetch_add }
            atomics! { @changing $int $unsigned $atomic fetch_and }
            atomics! { @changing $int $unsigned $atomic fetch_or }
            atomics! { @changing $int $unsigned $atomic fetch_xor }
            #[inline(always)]
            unsafe fn compare_exchange(address: i64, expected: $int, value: $int, order: Order) -> $int {
                // SAFETY: as above.
                let place = unsafe { $atomic::from_ptr(address as usize as *mut $unsigned) };
                let (expected, value) = (expected as $unsigned, value as $unsigned);
                match place.compare_exchange(expected, value, order.rust(), order.of_read()) {
                    Ok(old) | Err(old) => old as $int,
                }
            }
        }
    )*};
    (@changing $int:ident $unsigned:ident $atomic:ident $name:ident) => {
        #[inline(always)]
        unsafe fn $name(address: i64, value: $int, order: Order) -> $int {
            // SAFETY: as above.
            let place = unsafe { $atomic::from_ptr(address as usize as *mut $unsigned) };
            place.$name(value as $unsigned, order.rust()) as $int
        }
    };
}
atomics!(i8 u8 AtomicU8, i16 u16 AtomicU16, i32 u32 AtomicU32, i64 u64 AtomicU64);

/// Operators by their names, for the interpreter.
macro_rules! operators {
    ($($(#[doc = $doc:literal])* $name:ident $method:ident($($operand:ident),*) $(-> $result:ident)?;)*) => {$(
        $(#[doc = $doc])*
        ///
        /// # Safety
        ///
        /// As [`Atomic`] says.
        #[inline(always)]
        pub unsafe fn $name<T: Atomic>(address: i64, $($operand: T,)* order: Order) $(-> $result)? {
            // SAFETY: the caller promises it.
            unsafe { T::$method(address, $($operand,)* order) }
        }
    )*};
}

operators! {
    /// The value there.
    atomic_load load() -> T;
    /// Puts a value there.
    atomic_store store(value);
    /// Puts a value there; what was there.
    atomic_swap swap(value) -> T;
    /// Adds to what is there; what was there.
    atomic_add fetch_add(value) -> T;
    /// Keeps bits of what is there; what was there.
    atomic_and fetch_and(value) -> T;
    /// Sets bits of what is there; what was there.
    atomic_or fetch_or(value) -> T;
    /// Flips bits of what is there; what was there.
    atomic_xor fetch_xor(value) -> T;
    /// Puts a value there if the expected one is there; what was there.
    atomic_cas compare_exchange(expected, value) -> T;
}

/// What each makes of what is there.
pub(super) mod update {
    pub(in super::super) fn keep(bits: &[u64]) -> u64 {
        bits[0]
    }
    pub(in super::super) fn put(bits: &[u64]) -> u64 {
        bits[1]
    }
    pub(in super::super) fn add(bits: &[u64]) -> u64 {
        bits[0].wrapping_add(bits[1])
    }
    pub(in super::super) fn and(bits: &[u64]) -> u64 {
        bits[0] & bits[1]
    }
    pub(in super::super) fn or(bits: &[u64]) -> u64 {
        bits[0] | bits[1]
    }
    pub(in super::super) fn xor(bits: &[u64]) -> u64 {
        bits[0] ^ bits[1]
    }
    pub(in super::super) fn put_if(bits: &[u64]) -> u64 {
        if bits[0] == bits[1] { bits[2] } else { bits[0] }
    }
}

/// The type of the place that an atomic operator touches.
pub fn place(sig: Sig) -> Type {
    if sig.ty.is_value() { sig.ty } else { sig.from }
}
