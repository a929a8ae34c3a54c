//! The objects of the dynamic machine: tables with shapes, closures, cells, and the memory that they live in.
//!
//! In: calls of the machine's slow paths. Out: objects at fixed addresses. There is no collector: memory is used again when the
//! heap is cleared, which the owner does between runs.

use azulejo::prelude::*;

/// How many fields a table has room for in itself. Others are in memory of their own.
const INLINE: usize = 8;
/// The number of words that are asked of the system at once.
const CHUNK: usize = 1 << 16;

/// What is in registers, fields, arrays and cells: a boxed value.
pub(crate) type Word = u64;

/// A table: its shape says which field is where. Keys that are integers are in the array part, from 0 on.
#[derive(Fields)]
#[repr(C)]
pub(crate) struct Table {
    pub(crate) shape: u32,
    /// How many keys the array part has: those below this number.
    pub(crate) size: u32,
    pub(crate) capacity: u32,
    /// How many fields the outer part has room for.
    outer_capacity: u32,
    pub(crate) array: *mut Word,
    pub(crate) outer: *mut Word,
    inner: [Word; INLINE],
}

/// A function with what it has captured. The addresses of its cells follow.
#[derive(Fields)]
#[repr(C)]
pub(crate) struct Closure {
    /// The address by which the engine calls it.
    pub(crate) function: u64,
    /// How many arguments it takes, beside itself.
    pub(crate) arguments: u64,
}

/// Where a field of a shape is: so far from the start of the table, or of its outer part.
#[derive(Fields, Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct Field {
    pub(crate) shape: u32,
    pub(crate) offset: u32,
    pub(crate) is_outer: u32,
}

/// A list of keys in order, and the shapes that have one key more.
#[derive(Default)]
struct Shape {
    keys: Vec<u32>,
    larger: Vec<(u32, u32)>,
}

/// All objects and shapes, and the context of the machine's functions.
#[derive(Fields)]
#[repr(C)]
pub(crate) struct Heap {
    /// Where the next object may be, and where the memory at hand ends.
    pub(crate) next: u64,
    pub(crate) end: u64,
    pub(crate) globals: *mut Table,
    shapes: Vec<Shape>,
    chunks: Vec<Box<[Word]>>,
    chunks_used: usize,
}

impl Heap {
    /// A heap without objects, but for the table of globals.
    pub(crate) fn new() -> Box<Heap> {
        let mut heap = Box::new(Heap {
            next: 0,
            end: 0,
            globals: std::ptr::null_mut(),
            shapes: vec![Shape::default()],
            chunks: Vec::new(),
            chunks_used: 0,
        });
        heap.clear();
        heap
    }

    /// Forgets all objects. Shapes stay.
    pub(crate) fn clear(&mut self) {
        (self.next, self.end, self.chunks_used) = (0, 0, 0);
        self.globals = self.new_table();
    }

    /// Memory for so many words, whatever was in it.
    pub(crate) fn allocate(&mut self, words: usize) -> *mut Word {
        let bytes = 8 * words as u64;
        if self.next + bytes > self.end {
            self.open_chunk(words);
        }
        let object = self.next;
        self.next += bytes;
        std::ptr::with_exposed_provenance_mut(object as usize)
    }

    /// Goes on in the next chunk with room for so many words.
    fn open_chunk(&mut self, words: usize) {
        while self.chunks.get(self.chunks_used).is_some_and(|chunk| chunk.len() < words) {
            self.chunks_used += 1;
        }
        if self.chunks_used == self.chunks.len() {
            self.chunks.push(vec![0; words.max(CHUNK)].into());
        }
        let chunk = &mut self.chunks[self.chunks_used];
        self.next = chunk.as_mut_ptr().expose_provenance() as u64;
        self.end = self.next + 8 * chunk.len() as u64;
        self.chunks_used += 1;
    }

    /// An empty table.
    pub(crate) fn new_table(&mut self) -> *mut Table {
        let table: *mut Table = self.allocate(size_of::<Table>() / 8).cast();
        let (array, outer) = (std::ptr::null_mut(), std::ptr::null_mut());
        let empty =
            Table { shape: 0, size: 0, capacity: 0, outer_capacity: 0, array, outer, inner: [0; INLINE] };
        // SAFETY: there is room for a table, and words are aligned as tables are.
        unsafe { table.write(empty) };
        table
    }

    /// A closure of a function that takes so many arguments, with these cells.
    pub(crate) fn new_closure(&mut self, function: u64, arguments: u64, cells: &[Word]) -> *mut Closure {
        let closure: *mut Closure = self.allocate(2 + cells.len()).cast();
        // SAFETY: there is room for a closure and its cells.
        unsafe {
            closure.write(Closure { function, arguments });
            closure.add(1).cast::<Word>().copy_from_nonoverlapping(cells.as_ptr(), cells.len());
        }
        closure
    }

    /// Where the field with this key is in tables of this shape.
    pub(crate) fn field(&self, shape: u32, key: u32) -> Option<Field> {
        let at = self.shapes[shape as usize].keys.iter().position(|known| *known == key)?;
        let offset = match at.checked_sub(INLINE) {
            None => std::mem::offset_of!(Table, inner) + 8 * at,
            Some(at) => 8 * at,
        };
        Some(Field { shape, offset: offset as u32, is_outer: (at >= INLINE) as u32 })
    }

    /// The shape with one key more.
    fn larger(&mut self, shape: u32, key: u32) -> u32 {
        let known = &self.shapes[shape as usize];
        if let Some((_, larger)) = known.larger.iter().find(|(known, _)| *known == key) {
            return *larger;
        }
        let larger = self.shapes.len() as u32;
        let keys = known.keys.iter().copied().chain([key]).collect();
        self.shapes[shape as usize].larger.push((key, larger));
        self.shapes.push(Shape { keys, larger: Vec::new() });
        larger
    }

    /// Gives a table a field that it does not have.
    pub(crate) fn add_field(&mut self, table: &mut Table, key: u32, value: Word) {
        table.shape = self.larger(table.shape, key);
        let at = self.shapes[table.shape as usize].keys.len() - 1;
        match at.checked_sub(INLINE) {
            None => table.inner[at] = value,
            Some(at) => {
                if at as u32 == table.outer_capacity {
                    table.outer_capacity = (2 * table.outer_capacity).max(4);
                    table.outer = self.moved(table.outer, at, table.outer_capacity);
                }
                // SAFETY: there is room for it.
                unsafe { table.outer.add(at).write(value) };
            }
        }
    }

    /// Makes the array part one larger, with this as its last value.
    pub(crate) fn push(&mut self, table: &mut Table, value: Word) {
        if table.size == table.capacity {
            table.capacity = (2 * table.capacity).max(4);
            table.array = self.moved(table.array, table.size as usize, table.capacity);
        }
        // SAFETY: there is room for it.
        unsafe { table.array.add(table.size as usize).write(value) };
        table.size += 1;
    }

    /// So many words at a place where there is room for more.
    fn moved(&mut self, words: *const Word, count: usize, capacity: u32) -> *mut Word {
        let room = self.allocate(capacity as usize);
        if count > 0 {
            // SAFETY: there are so many words, and there is room for them.
            unsafe { room.copy_from_nonoverlapping(words, count) };
        }
        room
    }
}

impl Table {
    /// What is in a field.
    ///
    /// # Safety
    ///
    /// The field must be one of the table's shape.
    pub(crate) unsafe fn at(&mut self, field: Field) -> *mut Word {
        let start = if field.is_outer == 1 { self.outer.cast::<u8>() } else { (&raw mut *self).cast() };
        // SAFETY: the caller says so.
        unsafe { start.add(field.offset as usize).cast() }
    }
}
