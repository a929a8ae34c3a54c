//! Atomic accesses of memory: their orderings, the values that they store, and their implementation for the interpreter.
//!
//! An atomic operator reads a place in memory, computes a new value from the old one, and stores it, all in one step.
//! [`Update`] computes the new value, for the reference evaluator. The functions here do the whole access with Rust's atomic
//! types, for the interpreter. No pass moves anything that touches memory past an atomic access, whatever its ordering.

use super::op::{Kind, OpInfo, Sig, Yields};
use super::ty::Type;
use core::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering};

/// Computes the bits that an atomic operator stores. The first argument is the old value; the operands after the address
/// follow.
pub type Update = fn(&[u64]) -> u64;

/// A memory ordering, as in Rust.
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

    /// Whether an operator can have this ordering: an access that only reads cannot release, and one that only writes cannot
    /// acquire.
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

    /// The ordering that a node's constant encodes.
    #[inline]
    pub const fn of(number: u64) -> Order {
        Order::ALL[number as usize]
    }

    /// The corresponding ordering of Rust.
    pub const fn rust(self) -> Ordering {
        match self {
            Order::Relaxed => Ordering::Relaxed,
            Order::Acquire => Ordering::Acquire,
            Order::Release => Ordering::Release,
            Order::AcqRel => Ordering::AcqRel,
            Order::SeqCst => Ordering::SeqCst,
        }
    }

    /// The ordering of an access that writes nothing: a load, or a failed compare-exchange.
    const fn of_read(self) -> Ordering {
        match self {
            Order::Relaxed | Order::Release => Ordering::Relaxed,
            Order::Acquire | Order::AcqRel => Ordering::Acquire,
            Order::SeqCst => Ordering::SeqCst,
        }
    }
}

/// An integer that has an atomic type.
///
/// # Safety
///
/// Each function needs the address of a value of this type, aligned to its size, which other threads access only atomically.
#[allow(clippy::missing_safety_doc, reason = "it is said once, for all of them")]
pub unsafe trait Atomic: Sized {
    /// Loads the value.
    unsafe fn load(address: i64, order: Order) -> Self;
    /// Stores a value.
    unsafe fn store(address: i64, value: Self, order: Order);
    /// Stores a value. Returns the old one.
    unsafe fn swap(address: i64, value: Self, order: Order) -> Self;
    /// Adds to the value. Returns the old one.
    unsafe fn fetch_add(address: i64, value: Self, order: Order) -> Self;
    /// Stores the bitwise and of the old value and another. Returns the old one.
    unsafe fn fetch_and(address: i64, value: Self, order: Order) -> Self;
    /// Stores the bitwise or of the old value and another. Returns the old one.
    unsafe fn fetch_or(address: i64, value: Self, order: Order) -> Self;
    /// Stores the exclusive or of the old value and another. Returns the old one.
    unsafe fn fetch_xor(address: i64, value: Self, order: Order) -> Self;
    /// Stores a value if the old one is the expected one. Returns the old one.
    unsafe fn compare_exchange(address: i64, expected: Self, value: Self, order: Order) -> Self;
}

macro_rules! atomics {
    ($($int:ident $unsigned:ident $atomic:ident),*) => {$(
        // SAFETY: the caller meets the requirements of the trait, which are those of `from_ptr`.
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

/// Functions named like the operators, for the interpreter.
macro_rules! operators {
    ($($(#[doc = $doc:literal])* $name:ident $method:ident($($operand:ident),*) $(-> $result:ident)?;)*) => {$(
        $(#[doc = $doc])*
        ///
        /// # Safety
        ///
        /// The requirements of [`Atomic`].
        #[inline(always)]
        pub unsafe fn $name<T: Atomic>(address: i64, $($operand: T,)* order: Order) $(-> $result)? {
            // SAFETY: the caller meets the requirements of `Atomic`.
            unsafe { T::$method(address, $($operand,)* order) }
        }
    )*};
}

operators! {
    /// Loads the value.
    atomic_load load() -> T;
    /// Stores a value.
    atomic_store store(value);
    /// Stores a value. Returns the old one.
    atomic_swap swap(value) -> T;
    /// Adds to the value. Returns the old one.
    atomic_add fetch_add(value) -> T;
    /// Stores the bitwise and of the old value and another. Returns the old one.
    atomic_and fetch_and(value) -> T;
    /// Stores the bitwise or of the old value and another. Returns the old one.
    atomic_or fetch_or(value) -> T;
    /// Stores the exclusive or of the old value and another. Returns the old one.
    atomic_xor fetch_xor(value) -> T;
    /// Stores a value if the old one is the expected one. Returns the old one.
    atomic_cas compare_exchange(expected, value) -> T;
}

/// The new value that each operator stores.
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

/// The type of the memory that an atomic operator accesses.
pub fn place(sig: Sig) -> Type {
    if sig.ty.is_value() { sig.ty } else { sig.from }
}
