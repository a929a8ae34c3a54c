//! What all objects on the heap have in common.
//!
//! An object starts with a [`Header`]. A [`Gc`] is its address.
//!
//! **Invariant:** an object is there as long as it can be reached from the roots when the collector works. The collector works only at
//! points where the program says so (`Heap::step`), never while memory is allocated. So Rust code may hold objects in variables between
//! two such points; what it holds longer it makes reachable.

use std::cell::Cell;
use std::fmt;
use std::ops::Deref;
use std::ptr::NonNull;

/// The kind of an object. Cells that are free have kind zero.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum ObjectKind {
    /// Nothing: a free cell.
    Free,
    /// Bytes.
    String,
    /// A table.
    Table,
    /// Words that belong to one object, such as a table's array; no values point to it.
    Values,
    /// Words that belong to one object, and are no values.
    Words,
    /// A function of Lua.
    Closure,
    /// What functions of Lua are made from.
    Definition,
    /// A function of Rust.
    Native,
    /// A variable that closures share.
    Cell,
    /// The arguments of a vararg function.
    Pack,
    /// A value of Rust.
    Userdata,
    /// A coroutine.
    Thread,
}

/// Colors of the collector. Of the two whites one is that of objects of this cycle, the other that of garbage.
pub mod color {
    /// Not reached yet, in even cycles.
    pub const WHITE: u8 = 0;
    /// Not reached yet, in odd cycles.
    pub const OTHER_WHITE: u8 = 1;
    /// Reached, but not what it refers to.
    pub const GRAY: u8 = 2;
    /// Reached, and all that it refers to.
    pub const BLACK: u8 = 3;
}

/// The start of each object.
#[repr(C, align(8))]
#[derive(Debug)]
pub struct Header {
    kind: Cell<ObjectKind>,
    /// The color: see [`color`].
    pub color: Cell<u8>,
    /// Bits with a meaning for each kind.
    pub flags: Cell<u16>,
    /// A number with a meaning for each kind: mostly a length.
    pub len: Cell<u32>,
}

impl Header {
    /// The header of a new object.
    pub fn new(kind: ObjectKind, color: u8, len: u32) -> Header {
        Header { kind: Cell::new(kind), color: Cell::new(color), flags: Cell::new(0), len: Cell::new(len) }
    }

    /// The kind.
    pub fn kind(&self) -> ObjectKind {
        self.kind.get()
    }

    /// Makes the object a free cell.
    pub(super) fn set_free(&self) {
        self.kind.set(ObjectKind::Free);
    }

    /// Whether a bit of the flags is set.
    pub fn has(&self, flag: u16) -> bool {
        self.flags.get() & flag != 0
    }

    /// Sets a bit of the flags.
    pub fn set(&self, flag: u16) {
        self.flags.set(self.flags.get() | flag);
    }
}

/// The address of an object. The module's head says how long it is there.
#[repr(transparent)]
pub struct Gc<T>(NonNull<T>);

impl<T> Gc<T> {
    /// The object at an address.
    ///
    /// # Safety
    ///
    /// Such an object must be there, for as long as the invariant of this module says.
    pub unsafe fn at(address: u64) -> Gc<T> {
        let pointer = std::ptr::with_exposed_provenance_mut(address as usize);
        // SAFETY: objects have addresses.
        Gc(unsafe { NonNull::new_unchecked(pointer) })
    }

    /// The object that a pointer leads to.
    ///
    /// # Safety
    ///
    /// As for [`Gc::at`].
    pub unsafe fn of(pointer: *mut T) -> Gc<T> {
        // SAFETY: the caller guarantees it.
        unsafe { Gc::at(pointer.expose_provenance() as u64) }
    }

    /// The address.
    pub fn address(self) -> u64 {
        self.0.as_ptr().expose_provenance() as u64
    }

    /// The address as a pointer.
    pub fn pointer(self) -> *mut T {
        self.0.as_ptr()
    }

    /// The object's header.
    pub fn header(self) -> Gc<Header> {
        Gc(self.0.cast())
    }

    /// The same object as one of another type.
    ///
    /// # Safety
    ///
    /// It must be one.
    pub unsafe fn cast<U>(self) -> Gc<U> {
        Gc(self.0.cast())
    }
}

impl<T> Deref for Gc<T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: the invariant of this module; all fields that change are cells.
        unsafe { self.0.as_ref() }
    }
}

impl<T> Clone for Gc<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Gc<T> {}

impl<T> PartialEq for Gc<T> {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}

impl<T> Eq for Gc<T> {}

impl<T> std::hash::Hash for Gc<T> {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.0.hash(state);
    }
}

impl<T> fmt::Debug for Gc<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#x}", self.address())
    }
}
