//! The bytecode: every operator on every type (see `build/main.rs`), and opcodes for control flow and calls.

#![allow(
    deprecated,
    reason = "every tier does the same where inputs are read behind stores, which random templates do"
)]

use crate::edge::{self, Edge};
use crate::home::Running;
use azulejo::Callable;
use azulejo::prelude::*;
use azulejo_core::ir::bytecode::Raw;
use azulejo_core::ir::template::{Convention, Signature};
use azulejo_core::vocab::Type;

include!(concat!(env!("OUT_DIR"), "/opcodes.rs"));

/// The context of programs: all that they work on besides their registers.
#[derive(Clone, PartialEq, Debug)]
#[repr(C)]
pub struct Vm {
    /// The memory of loads and stores, at eight overlapping indices of each width.
    pub buffer: [u64; 16],
    /// The last value stored by `Keep`.
    pub kept: i64,
    /// A float, as bits since NaN is not equal to itself.
    pub kept_x: u64,
    /// A float, as bits for the same reason.
    pub kept_y: u32,
    /// A hash of all arguments of `note`.
    pub notes: u64,
    /// Functions that are called by address.
    ints: &'static [extern "C" fn(i64, f64) -> i64; 3],
    floats: &'static [extern "C" fn(i64, f64) -> f64; 3],
    notes_by: &'static [extern "C" fn(&mut Vm, i64); 3],
    /// The address of the edge of memory. It never changes while a program runs.
    pub edge: Edge,
    /// The bytes at the edge, before a run and after it.
    pub at_edge: [u64; edge::BYTES / 8],
    /// The engine whose code `Churn` compiles and discards.
    pub running: Running,
    /// The address of a second edge.
    pub far: Edge,
    /// The bytes at the second edge, before a run and after it.
    pub at_far: [u64; edge::BYTES / 8],
    /// The functions, as whoever runs the program calls them by address.
    pub(crate) callables: Callables,
    /// The captured registers of the program that runs, and how many they are.
    shared: Shared,
    n_shared: u64,
}

/// The address of registers. All values are equal: a program does the same wherever its frame is.
#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
struct Shared(*mut u64);

// SAFETY: only the program that runs uses it.
unsafe impl Send for Shared {}
// SAFETY: as above.
unsafe impl Sync for Shared {}

impl PartialEq for Shared {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Vm {
    /// One of the registers that the program has captured.
    fn shared(&mut self, at: u64) -> Option<&mut u64> {
        let at = at.checked_rem(self.n_shared)?;
        // SAFETY: there are so many, and nobody else accesses them during this call.
        Some(unsafe { &mut *self.shared.0.add(at as usize) })
    }
}

/// The addresses by which functions are called, sixteen of them. All values are equal: a program does the same whoever has made them.
#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
pub struct Callables(*const [*const Callable; 16]);

// SAFETY: those who run a program see to it that they are there.
unsafe impl Send for Callables {}
// SAFETY: as above.
unsafe impl Sync for Callables {}

impl Callables {
    /// None, for a context in which no program runs.
    const NONE: Callables = Callables(std::ptr::null());

    /// These, which must outlive all runs of programs with this value.
    pub(crate) fn of(table: &[*const Callable; 16]) -> Callables {
        Callables(table)
    }
}

impl PartialEq for Callables {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Vm {
    /// Writes the initial bytes of both edges.
    pub(crate) fn put_edges(&self) {
        self.edge.write(self.at_edge);
        self.far.write(self.at_far);
    }

    /// Reads the current bytes of both edges.
    pub(crate) fn take_edges(&mut self) {
        (self.at_edge, self.at_far) = (self.edge.read(), self.far.read());
    }
}

impl Default for Vm {
    fn default() -> Self {
        Vm {
            buffer: [0; 16],
            kept: 0,
            kept_x: 0,
            kept_y: 0,
            notes: 0,
            ints: &INTS,
            floats: &FLOATS,
            notes_by: &NOTES,
            edge: Edge::default(),
            at_edge: [0; edge::BYTES / 8],
            running: Running::default(),
            far: Edge::far(),
            at_far: [0; edge::BYTES / 8],
            callables: Callables::NONE,
            shared: Shared(std::ptr::null_mut()),
            n_shared: 0,
        }
    }
}

/// The memory that `(cu)` points to, in every program.
pub static UNIT: [u64; 4] =
    [0x0123_4567_89ab_cdef, 0xfedc_ba98_7654_3210, 0x8000_0000_7fff_ffff, 0x0000_0001_ffff_fffe];

static INTS: [extern "C" fn(i64, f64) -> i64; 3] = [first_int, second_int, third_int];
static FLOATS: [extern "C" fn(i64, f64) -> f64; 3] = [first_float, second_float, third_float];
static NOTES: [extern "C" fn(&mut Vm, i64); 3] = [note, note_twice, note];

/// The functions that are called by address, and what they take.
pub(crate) fn natives() -> Vec<(*const (), Signature)> {
    static MIXED: [Type; 2] = [Type::I64, Type::F64];
    static NOTED: [Type; 2] = [Type::I64, Type::I64];
    let of = |args, ret| Signature { convention: Convention::C, args, ret };
    let ints = INTS.iter().map(|function| (*function as *const (), of(&MIXED, Type::I64)));
    let floats = FLOATS.iter().map(|function| (*function as *const (), of(&MIXED, Type::F64)));
    let notes = NOTES.iter().map(|function| (*function as *const (), of(&NOTED, Type::Void)));
    ints.chain(floats).chain(notes).collect()
}

extern "C" fn first_int(a: i64, x: f64) -> i64 {
    mix(a as u64, x.to_bits()) as i64
}

extern "C" fn second_int(a: i64, x: f64) -> i64 {
    mix(x.to_bits(), a as u64) as i64
}

extern "C" fn third_int(a: i64, _: f64) -> i64 {
    a.wrapping_mul(3)
}

extern "C" fn first_float(a: i64, x: f64) -> f64 {
    if x.is_nan() { f64::NAN } else { x + (a >> 11) as f64 }
}

extern "C" fn second_float(a: i64, x: f64) -> f64 {
    if x.is_nan() { 1.0 } else { x * (a as i16) as f64 }
}

extern "C" fn third_float(_: i64, x: f64) -> f64 {
    x.abs()
}

extern "C" fn note_twice(vm: &mut Vm, a: i64) {
    note(vm, a);
    note(vm, !a);
}

trait Bits {
    fn bits(self) -> u64;
}

macro_rules! bits {
    ($($ty:ident: $value:ident => $bits:expr;)*) => {
        $(impl Bits for $ty {
            fn bits(self) -> u64 {
                let $value = self;
                $bits
            }
        })*
    };
}

bits! {
    i64: value => value as u64;
    i32: value => value as u64;
    f64: value => value.to_bits();
    f32: value => value.to_bits() as u64;
}

fn mix(mixed: u64, more: u64) -> u64 {
    (mixed ^ more).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29)
}

fn mix_all(count: u64, all: &[u64]) -> i64 {
    all.iter().fold(count, |mixed, more| mix(mixed, *more)) as i64
}

extern "C" fn callee2_slow(a: i64, b: i64) -> i64 {
    a.wrapping_mul(b) >> 1
}

/// Like `callee2_slow`, but some operands are refused.
fn callee2_or_fail(a: i64, b: i64) -> Result<i64, Trap> {
    match mix(a as u64, b as u64) {
        mixed if mixed.is_multiple_of(16) => Err(Trap::User(45 + mixed.is_multiple_of(32) as u16)),
        _ => Ok(callee2_slow(a, b)),
    }
}

/// The result for two tagged values that are not both integers: mostly an integer again, and rarely a failure.
fn tagged_slow(a: i64, b: i64) -> Result<i64, Trap> {
    match mix(a as u64, b as u64) {
        mixed if mixed.is_multiple_of(64) => Err(Trap::User(47)),
        mixed if mixed.is_multiple_of(4) => Ok(mixed as i64),
        mixed => Ok((mixed as u32 as u64 | 0x7ffa << 48) as i64),
    }
}

/// What a bytecode remembers of a function: an argument, and what follows from it.
#[derive(Fields, Clone, Copy)]
#[repr(C)]
pub struct Memo {
    odd: u8,
    key: i64,
    x: f64,
    value: i64,
}

/// A function of one argument, which remembers the result in most cases.
fn memo(key: i64, seen: Cases<'_, Memo>) -> Result<i64, Trap> {
    let mixed = mix(key as u64, 3);
    if mixed.is_multiple_of(64) {
        return Err(Trap::User(49));
    }
    let value = mixed as i64 >> 5;
    if !mixed.is_multiple_of(5) && seen.iter().all(|case| case.key != key) {
        seen.add(Memo { odd: (value & 1) as u8, key, x: value as f64, value });
    }
    Ok(value)
}

/// What a bytecode remembers of the functions that it calls.
#[derive(Fields, Clone, Copy)]
#[repr(C)]
pub struct Callee {
    key: u32,
    code: *const Callable,
}

/// The address of a function, which is remembered in most cases; rarely a failure.
fn callee_of(vm: &Vm, key: u32, seen: Cases<'_, Callee>) -> Result<*const Callable, Trap> {
    // SAFETY: a program runs, and has been given the addresses.
    let code = unsafe { (*vm.callables.0)[key as usize] };
    if key == 5 && vm.notes.is_multiple_of(64) {
        return Err(Trap::User(50));
    }
    if key != 6 && seen.iter().all(|case| case.key != key) {
        seen.add(Callee { key, code });
    }
    Ok(code)
}

/// The result for two boxed values of other kinds than wanted: of each kind now and then, and rarely a failure.
fn boxed_slow(a: u64, b: u64) -> Result<u64, Trap> {
    match mix(a, b) {
        mixed if mixed.is_multiple_of(64) => Err(Trap::User(48)),
        mixed if mixed.is_multiple_of(7) => Ok(0x7ffd << 48),
        mixed if mixed.is_multiple_of(5) => Ok(0x7ffb << 48 | mixed & 0xff),
        mixed if mixed.is_multiple_of(3) => Ok(0x7ffa << 48 | mixed as u32 as u64),
        mixed if mixed.is_multiple_of(2) => Ok(((mixed >> 50) as f64).to_bits()),
        mixed => Ok(mixed),
    }
}

extern "C" fn note(vm: &mut Vm, a: i64) {
    vm.notes = mix(vm.notes, a as u64);
}

extern "C" fn churn(vm: &mut Vm, a: i64) {
    vm.running.churn(mix(vm.notes, a as u64));
}

extern "C" fn touch(vm: &mut Vm, at: u64, a: i64) {
    if let Some(register) = vm.shared(at) {
        *register = mix(*register, a as u64);
    }
}

extern "C" fn read_shared(vm: &mut Vm, at: u64) -> i64 {
    vm.shared(at).map_or(5, |register| *register as i64)
}

extern "C" fn forget(vm: &mut Vm, a: i64) {
    vm.running.forget(mix(vm.notes, a as u64));
}

extern "C" fn halfway(x: f64, y: f64) -> f64 {
    (x + y) / 2.0
}

/// # Safety
///
/// `slots` must point to `count` slots.
unsafe extern "C" fn sum_of(slots: *const u64, count: i64) -> i64 {
    // SAFETY: the caller promises that there are `count` slots.
    let slots = unsafe { std::slice::from_raw_parts(slots, count as usize) };
    slots.iter().fold(count as u64, |sum, slot| mix(sum, *slot)) as i64
}

/// # Safety
///
/// `slots` must point to `count` slots.
unsafe extern "C" fn fill_with(slots: *mut u64, count: i64, value: i64) {
    // SAFETY: the caller promises that there are `count` slots.
    let slots = unsafe { std::slice::from_raw_parts_mut(slots, count as usize) };
    for (at, slot) in slots.iter_mut().enumerate() {
        *slot = (value as u64).wrapping_add(at as u64);
    }
}

/// Makes an operand from its bits, which are as [`Bytecode::operands`] returns them.
fn operand<T: FromRaw>(raw: Raw) -> T {
    T::from_raw(raw)
}

trait FromRaw {
    fn from_raw(raw: Raw) -> Self;
}

macro_rules! from_raw {
    ($($ty:ty: $raw:ident => $value:expr;)*) => {
        $(impl FromRaw for $ty {
            fn from_raw($raw: Raw) -> Self {
                $value
            }
        })*
    };
}

macro_rules! from_raw_generic {
    ($($ty:ident: $raw:ident => $value:expr;)*) => {
        $(impl<T> FromRaw for $ty<T> {
            fn from_raw($raw: Raw) -> Self {
                $value
            }
        })*
    };
}

from_raw_generic! {
    In: raw => In::new(raw as u32);
    Out: raw => Out::new(raw as u32);
    InOut: raw => InOut::new(raw as u32);
    Push: _raw => Push::default();
    Pop: _raw => Pop::default();
}

from_raw! {
    Imm<i8>: raw => Imm(raw as i8);
    Imm<i16>: raw => Imm(raw as i16);
    Imm<i32>: raw => Imm(raw as i32);
    Imm<i64>: raw => Imm(raw as i64);
    Imm<u32>: raw => Imm(raw as u32);
    Imm<u64>: raw => Imm(raw);
    Imm<f32>: raw => Imm(f32::from_bits(raw as u32));
    Imm<f64>: raw => Imm(f64::from_bits(raw));
    Label: raw => Label(raw as u32);
    Labels: raw => Labels { first: raw as u32, count: (raw >> 32) as u32 };
    Site<Memo, 1>: _raw => Site::new();
    Site<Memo, 2>: _raw => Site::new();
    Site<Memo, 3>: _raw => Site::new();
    Site<Callee, 1>: _raw => Site::new();
    Site<Callee, 2>: _raw => Site::new();
    Regs: raw => Regs { first: raw as u32, count: (raw >> 32) as u32 };
    RegsMut: raw => RegsMut { first: raw as u32, count: (raw >> 32) as u32 };
}
