//! Where templates find what they read: offsets in what the heap and the program are made of, and the bits of values.

use super::vm::Vm;
use crate::object::function::{Closure, Definition, VarCell};
use crate::object::hash::{Entry, HashPart};
use crate::object::heap::{Header, ObjectKind, color};
use crate::object::shape::ShapeRef;
use crate::object::shape_life::ShapeCell;
use crate::object::string::Str;
use crate::object::table::{Position, Table};
use crate::object::value::{FUNCTION, STRING, THREAD, Value};
use core::mem::offset_of;

/// Where the memory of a shape says how many shapes were there before, and in which cycle of the collector this one was reached last.
pub(super) const GENERATION: usize = ShapeCell::GENERATION;
pub(super) const REACHED: usize = ShapeCell::REACHED;
pub(super) const SHAPE_ADDRESS: u64 = ShapeRef::ADDRESS;
pub(super) const CYCLE: usize = offset_of!(Vm, heap.shapes.cycle);
pub(super) const SHAPE: usize = offset_of!(Table, shape);
pub(super) const SLOTS: usize = offset_of!(Table, slots);
pub(super) const ARRAY: usize = offset_of!(Table, array);
pub(super) const ARRAY_END: usize = offset_of!(Table, array_end);
pub(super) const ARRAY_ROOM: usize = offset_of!(Table, array_room);
pub(super) const HASH: usize = offset_of!(Table, hash);
pub(super) const HASH_USED: usize = offset_of!(HashPart, used);
pub(super) const ENTRIES: usize = size_of::<HashPart>();
pub(super) const IN_ENTRIES: u64 = Position::ENTRIES;
pub(super) const HASH_MASK: usize = offset_of!(HashPart, mask);
pub(super) const HASH_INDEX: usize = HashPart::INDEX;
pub(super) const ENTRY_VALUE: usize = offset_of!(Entry, value);
pub(super) const LOOKUPS: usize = offset_of!(Vm, lookups.all);
pub(super) const ADDITIONS: usize = offset_of!(Vm, lookups.additions);
pub(super) const NOTHING: usize = offset_of!(Vm, lookups.nothing);
/// Where a string has its bytes.
pub(super) const BYTES: usize = size_of::<Str>();
/// One less: the first has number 1.
pub(super) const BEFORE_BYTES: usize = BYTES - 1;
/// Where the address of the strings of one byte is, which stay.
pub(super) const CHARACTERS: usize = offset_of!(Vm, heap.strings.single);
pub(super) const UNDERSCORES: u16 = u16::from_ne_bytes(*b"__");
/// Where a table has the value of key 0, and what its flags are when it is made.
pub(super) const ZERO: usize = offset_of!(Table, zero);
pub(super) const INLINE_FLAGS: u16 = Table::INLINE_SLOTS | Table::INLINE_ELEMENTS;
pub(super) const METATABLE: usize = offset_of!(Table, metatable);
/// Where a table says how many slots it has room for, and a string its length.
pub(super) const LEN: usize = offset_of!(Header, len);
/// The tables from which others inherit have it.
pub(super) const PROTOTYPE_FLAG: u16 = Table::PROTOTYPE;
/// Metatables that have no `__newindex` have it, if they were asked.
pub(super) const NO_SETTER: u16 = Table::NO_SETTER;
pub(super) const NO_EQUAL: u16 = Table::NO_EQUAL;
/// Tables that keep their names in their hash part have it.
pub(super) const MAP_FLAG: u16 = Table::MAP;
pub(super) const FLAGS: usize = offset_of!(Header, flags);
pub(super) const COLOR: usize = offset_of!(Header, color);
pub(super) const CODE: usize = offset_of!(Closure, code);
pub(super) const DEFINITION: usize = offset_of!(Closure, definition);
pub(super) const CODE_FOR_ANY: usize = offset_of!(Definition, code);
pub(super) const ENVIRONMENT: usize = offset_of!(Closure, environment);
pub(super) const CELL_VALUE: usize = offset_of!(VarCell, value);
pub(super) const RESULT_COUNT: usize = offset_of!(Vm, results.count);
pub(super) const METHOD: usize = offset_of!(Vm, method);
pub(super) const OPERANDS: usize = offset_of!(Vm, operands);
pub(super) const SECOND_OPERAND: usize = OPERANDS + size_of::<Value>();
pub(super) const EACH_INDEX: usize = offset_of!(Vm, each_index);
pub(super) const NEXT: usize = offset_of!(Vm, next);
pub(super) const EACH_PAIR: usize = offset_of!(Vm, each_pair);
pub(super) const RESULTS: usize = offset_of!(Vm, results.behind);
pub(super) const COROUTINE: usize = offset_of!(Vm, coroutine);
pub(super) const EPOCH: usize = offset_of!(Vm, heap.epoch);
pub(super) const IS_WATCHING: usize = offset_of!(Vm, hooks.is_watching);
pub(super) const DEBT: usize = offset_of!(Vm, heap.collector.debt);
pub(super) const WHITE: usize = offset_of!(Vm, heap.collector.white);
/// So many bytes count that a table would take which is not made.
pub(super) const UNMADE: i64 = 1;
pub(super) const ARGUMENTS: usize = offset_of!(Vm, arguments);
pub(super) const BLACK: u8 = color::BLACK;
pub(super) const CLOSURE: u8 = ObjectKind::Closure as u8;
/// The upper bits of a function's box.
pub(super) const FUNCTION_TAG: u64 = FUNCTION >> 48;
pub(super) const STRING_TAG: u64 = STRING >> 48;
pub(super) const THREAD_TAG: u64 = THREAD >> 48;
