//! The state of running bytecode, and the Rust functions that it calls.
//!
//! Templates access these structures by field offsets: `(cu)` points to a [`Unit`], `(tc)` to the [`Vm`], and
//! bytecode contains the addresses of tables and globals. So none of them moves, and fields that change behind shared
//! references are cells.

use crate::memory::Memory;
use crate::module::{Parts, Span};
use crate::trap::Trap;
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::fmt;
use std::rc::Rc;
use std::sync::Arc;
use wasmparser::{FuncType, GlobalType, TableType, ValType};

/// The maximum number of results of a function; the decoder enforces it.
const MAX_RESULTS: usize = 1000;

/// The maximum number of elements of a table; the decoder enforces the same limit for the initial size.
const MAX_ELEMENTS: u32 = 10_000_000;

/// The type that `types` has for null.
pub(crate) const NO_TYPE: u32 = u32::MAX;

/// The return value of a successful function; a failed one returns another number.
const DONE: u32 = 0;
const FAILED: u32 = 1;

/// The state of a store. Its address is the context of templates.
#[repr(C)]
#[allow(clippy::vec_box, reason = "bytecode has the addresses")]
pub struct Vm {
    /// The type of each function, indexed by its reference.
    pub(crate) types: *const u32,
    /// The results of the last call. The first one is returned instead, so its entry is unused.
    pub(crate) results: [u64; MAX_RESULTS],
    /// The storage behind `types`.
    pub(crate) function_types: Vec<u32>,
    pub(crate) signatures: Vec<FuncType>,
    pub(crate) signature_numbers: HashMap<FuncType, u32>,
    pub(crate) units: Vec<Box<Unit>>,
    pub(crate) memories: Vec<Memory>,
    pub(crate) tables: Vec<Box<Table>>,
    pub(crate) globals: Vec<Box<Global>>,
    pub(crate) hosts: Vec<(Host, FuncType)>,
    /// The trap of the last host call that failed.
    pub(crate) failure: Option<Trap>,
}

impl fmt::Debug for Vm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Vm").field("functions", &self.function_types.len()).finish_non_exhaustive()
    }
}

impl Vm {
    /// Whether bits are a valid value of a type: function references must be numbers of existing functions.
    pub(crate) fn has(&self, ty: ValType, bits: u64) -> bool {
        ty != ValType::FUNCREF || bits < self.function_types.len() as u64
    }
}

/// A host function: it gets the bits of its arguments, and writes those of its results.
pub type Host = Rc<dyn Fn(&mut Caller<'_>, &[u64], &mut [u64]) -> Result<(), Trap>>;

/// The caller of a host function, as the function sees it.
#[derive(Debug)]
pub struct Caller<'a> {
    unit: &'a Unit,
}

impl Caller<'_> {
    /// The memory of the calling instance; empty if it has none.
    pub fn memory(&mut self) -> &mut [u8] {
        // SAFETY: the memory has this many bytes, and nothing else accesses it while the host function runs.
        unsafe { self.unit.bytes() }
    }
}

/// The state of an instance.
#[repr(C)]
#[derive(Debug)]
pub(crate) struct Unit {
    /// The address of its memory.
    pub(crate) memory: Cell<*mut u8>,
    /// The current size of the memory in bytes.
    pub(crate) length: Cell<u64>,
    pub(crate) memory_number: Option<usize>,
    pub(crate) tables: Vec<*const Table>,
    pub(crate) parts: Arc<Parts>,
    /// The elements of each segment. A dropped segment is empty.
    pub(crate) elements: RefCell<Vec<Vec<u64>>>,
    pub(crate) data: RefCell<Vec<Span>>,
}

impl Unit {
    /// # Safety
    ///
    /// Nothing else may read or write the memory while the slice lives.
    #[allow(clippy::mut_from_ref, reason = "the memory is not a part of the unit")]
    pub(crate) unsafe fn bytes(&self) -> &mut [u8] {
        if self.memory.get().is_null() {
            return &mut [];
        }
        // SAFETY: the memory has this many bytes, and the caller vouches for the rest.
        unsafe { std::slice::from_raw_parts_mut(self.memory.get(), self.length.get() as usize) }
    }
}

/// A global.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Global {
    pub(crate) value: Cell<u64>,
    pub(crate) ty: GlobalType,
}

/// A table of references.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Table {
    pub(crate) elements: Cell<*mut u64>,
    pub(crate) length: Cell<u32>,
    pub(crate) ty: TableType,
    storage: RefCell<Vec<u64>>,
}

impl Table {
    pub(crate) fn new(ty: TableType, value: u64) -> Option<Table> {
        let elements = Cell::new(std::ptr::null_mut());
        let table = Table { elements, length: Cell::new(0), ty, storage: RefCell::default() };
        table.grow(u32::try_from(ty.initial).ok()?, value).map(|_| table)
    }

    /// Adds elements. Returns the old number of elements, or `None` if there is no room.
    pub(crate) fn grow(&self, count: u32, value: u64) -> Option<u32> {
        let old = self.length.get();
        let length = old.checked_add(count).filter(|&length| length <= MAX_ELEMENTS)?;
        if self.ty.maximum.is_some_and(|maximum| u64::from(length) > maximum) {
            return None;
        }
        let mut storage = self.storage.borrow_mut();
        storage.try_reserve(count as usize).ok()?;
        storage.resize(length as usize, value);
        self.elements.set(storage.as_mut_ptr());
        self.length.set(length);
        Some(old)
    }

    /// A range of elements, if all of them exist.
    pub(crate) fn range(&self, start: u32, count: u32) -> Option<&[Cell<u64>]> {
        let elements = match self.length.get() {
            0 => &[][..],
            // SAFETY: the table has that many elements, and bytecode accesses them through raw addresses only.
            length => unsafe { std::slice::from_raw_parts(self.elements.get().cast(), length as usize) },
        };
        range(elements, start, count)
    }
}

/// A subslice, if it is in bounds.
fn range<T>(all: &[T], start: u32, count: u32) -> Option<&[T]> {
    all.get(start as usize..)?.get(..count as usize)
}

fn said(done: Option<()>) -> u32 {
    done.map_or(FAILED, |()| DONE)
}

pub(crate) fn call_host(vm: &mut Vm, unit: &Unit, host: u32, window: *mut u64) -> u32 {
    let (host, ty) = vm.hosts[host as usize].clone();
    let (arguments, results) = (ty.params().len(), ty.results().len());
    // SAFETY: the translator made the window large enough for the arguments and for the results.
    let window = unsafe { std::slice::from_raw_parts_mut(window, arguments.max(results)) };
    let mut buffer = [0; 16];
    let mut many = Vec::new();
    let given = match results {
        0..=16 => &mut buffer[..results],
        _ => {
            many.resize(results, 0);
            &mut many[..]
        }
    };
    match host(&mut Caller { unit }, &window[..arguments], given) {
        Ok(()) if ty.results().iter().zip(&*given).all(|(&ty, &bits)| vm.has(ty, bits)) => {
            window[..results].copy_from_slice(given);
            DONE
        }
        Ok(()) => {
            vm.failure = Some(Trap::Host("a function of the host gave a function that there is not".into()));
            FAILED
        }
        Err(trap) => {
            vm.failure = Some(trap);
            FAILED
        }
    }
}

pub(crate) fn memory_grow(vm: &mut Vm, unit: &Unit, pages: u32) -> u32 {
    let Some(number) = unit.memory_number else { return u32::MAX };
    let memory = &mut vm.memories[number];
    let Some(old) = memory.grow(pages) else { return u32::MAX };
    for unit in vm.units.iter().filter(|unit| unit.memory_number == Some(number)) {
        unit.length.set(memory.length());
    }
    old
}

pub(crate) fn memory_fill(unit: &Unit, to: u32, value: u32, count: u32) -> u32 {
    // SAFETY: bytecode does not run until this function returns.
    let bytes = unsafe { unit.bytes() };
    let range = bytes.get_mut(to as usize..).and_then(|bytes| bytes.get_mut(..count as usize));
    said(range.map(|range| range.fill(value as u8)))
}

pub(crate) fn memory_copy(unit: &Unit, to: u32, from: u32, count: u32) -> u32 {
    // SAFETY: bytecode does not run until this function returns.
    let bytes = unsafe { unit.bytes() };
    let (to, from, count) = (to as usize, from as usize, count as usize);
    if to.max(from) + count > bytes.len() {
        return FAILED;
    }
    bytes.copy_within(from..from + count, to);
    DONE
}

pub(crate) fn memory_init(unit: &Unit, to: u32, from: u32, count: u32, segment: u32) -> u32 {
    let span = unit.data.borrow()[segment as usize].clone();
    // SAFETY: bytecode does not run until this function returns.
    let bytes = unsafe { unit.bytes() };
    let to = bytes.get_mut(to as usize..).and_then(|bytes| bytes.get_mut(..count as usize));
    let from = range(&unit.parts.bytes[span], from, count);
    said(to.zip(from).map(|(to, from)| to.copy_from_slice(from)))
}

pub(crate) fn data_drop(unit: &Unit, segment: u32) {
    unit.data.borrow_mut()[segment as usize] = 0..0;
}

pub(crate) fn table_grow(table: &Table, value: u64, count: u32) -> u32 {
    table.grow(count, value).unwrap_or(u32::MAX)
}

pub(crate) fn table_fill(table: &Table, to: u32, value: u64, count: u32) -> u32 {
    said(table.range(to, count).map(|range| range.iter().for_each(|element| element.set(value))))
}

/// `tables` has the number of the destination table in its upper half, and that of the source table in its lower half.
pub(crate) fn table_copy(unit: &Unit, to: u32, from: u32, count: u32, tables: u64) -> u32 {
    let [to_table, from_table] = [tables >> 32, tables & 0xffff_ffff].map(|at| unit.tables[at as usize]);
    // SAFETY: tables live as long as the store, and do not move.
    let (to_table, from_table) = unsafe { (&*to_table, &*from_table) };
    let ranges = to_table.range(to, count).zip(from_table.range(from, count));
    said(ranges.map(|(to, from)| {
        let copy = |(to, from): (&Cell<u64>, &Cell<u64>)| to.set(from.get());
        // The ranges may overlap.
        match to.as_ptr() <= from.as_ptr() {
            true => to.iter().zip(from).for_each(copy),
            false => to.iter().zip(from).rev().for_each(copy),
        }
    }))
}

/// `which` has the number of the table in its upper half, and that of the segment in its lower half.
pub(crate) fn table_init(unit: &Unit, to: u32, from: u32, count: u32, which: u64) -> u32 {
    let [table, segment] = [which >> 32, which & 0xffff_ffff].map(|at| at as usize);
    // SAFETY: tables live as long as the store, and do not move.
    let table = unsafe { &*unit.tables[table] };
    let elements = unit.elements.borrow();
    let ranges = table.range(to, count).zip(range(&elements[segment], from, count));
    said(ranges.map(|(to, from)| to.iter().zip(from).for_each(|(to, &from)| to.set(from))))
}

pub(crate) fn elem_drop(unit: &Unit, segment: u32) {
    unit.elements.borrow_mut()[segment as usize] = Vec::new();
}
