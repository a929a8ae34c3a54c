//! Tables that a constructor makes again and again, all with the same fields.
//!
//! In: the keys of the fields, and how many elements there are. Out: tables with room for the values, which bytecode puts where they belong.
//! All have one shape, also those that get nil for some of the fields: so code that reads them meets one shape.

use crate::object::heap::{Gc, Heap};
use crate::object::shape::ShapeRef;
use crate::object::string::Str;
use crate::object::table::Table;
use std::cell::Cell;

/// The tables that one constructor makes. Whoever has it sees to it that the keys stay.
#[derive(Debug)]
pub(crate) struct Layout {
    /// No key is there twice, and none begins as those of metamethods do.
    keys: Vec<Gc<Str>>,
    elements: u32,
    /// How many fields more a table is made room for.
    more: u32,
    /// The shape that the last table got, which may be gone, and in which cycle of the collector it was reached.
    shape: Cell<Option<(ShapeRef, u32)>>,
}

impl Layout {
    /// The most values that a layout may have.
    pub(crate) const MAX_VALUES: usize = Table::MAX_INLINE as usize;

    /// Of tables with these fields and so many elements, with room for some fields more if that may be.
    pub(crate) fn new(keys: Vec<Gc<Str>>, elements: u32, more: u32) -> Layout {
        let values = keys.len() + elements as usize;
        debug_assert!(values <= Layout::MAX_VALUES);
        let more = more.min((Layout::MAX_VALUES - values) as u32);
        Layout { keys, elements, more, shape: Cell::new(None) }
    }

    /// Where it is, as bytecode has it.
    pub(crate) fn address(&self) -> u64 {
        std::ptr::from_ref(self).expose_provenance() as u64
    }
}

impl Heap {
    /// A table of a layout. Its values are behind it: those of the elements, and then those of the fields.
    ///
    /// # Safety
    ///
    /// The values are nothing yet: they must be put there before anybody looks at the table, the collector included.
    pub(crate) unsafe fn table_of(&mut self, layout: &Layout) -> Gc<Table> {
        let shape = match layout.shape.get() {
            Some((shape, cycle)) if cycle == self.shapes.cycle => shape,
            known => self.shape_of(layout, known.map(|(shape, _)| shape)),
        };
        let table = self.with_inline(layout.keys.len() as u32 + layout.more, layout.elements, shape);
        table.array_end.set(1 + layout.elements);
        table
    }

    /// The shape of a layout, which nobody has used in this cycle yet. It stays until the next one.
    #[cold]
    #[inline(never)]
    fn shape_of(&mut self, layout: &Layout, known: Option<ShapeRef>) -> ShapeRef {
        let shape = self.shapes.with_keys(known, &layout.keys);
        self.reached_shape(shape);
        layout.shape.set(Some((shape, self.shapes.cycle)));
        shape
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::function::copy_values;
    use crate::object::heap::{Marker, Trace};
    use crate::object::value::Value;

    /// The roots of a test.
    struct Kept<'a>(&'a Layout);

    impl Trace for Kept<'_> {
        fn trace(&self, marker: &mut Marker<'_>) {
            self.0.keys.iter().for_each(|key| marker.value(Value::string(*key)));
        }
    }

    fn layout(heap: &mut Heap, names: &[&str], elements: u32) -> Layout {
        let keys = names.iter().map(|name| heap.string(name.as_bytes())).collect();
        Layout::new(keys, elements, 0)
    }

    /// Does what bytecode does.
    fn table_with(heap: &mut Heap, layout: &Layout, values: &[Value]) -> Gc<Table> {
        assert_eq!(values.len(), layout.keys.len() + layout.elements as usize);
        // SAFETY: so many values are put there.
        unsafe {
            let table = heap.table_of(layout);
            copy_values(values, table.pointer().add(1).cast());
            table
        }
    }

    fn keys(table: Gc<Table>) -> Vec<Value> {
        let next = |key: &Value| table.next(*key).expect("it is a key").map(|(key, _)| key);
        std::iter::successors(next(&Value::NIL), next).collect()
    }

    #[test]
    fn tables_of_one_layout_have_one_shape_whatever_is_nil() {
        let mut heap = Heap::default();
        let point = layout(&mut heap, &["x", "y"], 2);
        let [one, two, nil] = [Value::number(1.0), Value::number(2.0), Value::NIL];
        let full = table_with(&mut heap, &point, &[two, one, one, two]);
        let half = table_with(&mut heap, &point, &[nil, nil, nil, two]);
        assert!(full.shape.get() == half.shape.get());
        let [x, y] = point.keys[..] else { panic!("there are two") };
        assert_eq!([full.get_string(x), full.get_string(y)], [one, two]);
        assert_eq!((full.array_len(), full.get_integer(1), full.get_integer(2)), (2, two, one));
        assert_eq!([half.get_string(x), half.get_string(y)], [nil, two]);
        // What is nil is no key for who goes through the table.
        assert_eq!(keys(half), [Value::string(y)]);
        assert_eq!(keys(full), [one, two, Value::string(x), Value::string(y)]);
        heap.set_string(half, x, one).expect("there is room");
        assert!(full.shape.get() == half.shape.get());
    }

    #[test]
    fn a_shape_that_is_gone_is_made_again() {
        let mut heap = Heap::default();
        heap.shapes.few = 0;
        let point = layout(&mut heap, &["x", "y"], 0);
        let first = table_with(&mut heap, &point, &[Value::TRUE; 2]).shape.get().word();
        heap.collect(&Kept(&point));
        // SAFETY: it was a shape of this heap.
        assert!(!unsafe { ShapeRef::is_there(first) });
        let table = table_with(&mut heap, &point, &[Value::FALSE, Value::TRUE]);
        assert!(table.shape.get().word() != first);
        assert_eq!(table.get_string(point.keys[1]), Value::TRUE);
    }

    #[test]
    fn there_are_always_shapes_for_layouts() {
        let mut heap = Heap::default();
        for number in 0..1000 {
            let layout = layout(&mut heap, &[&format!("key {number}"), "y"], 0);
            let table = table_with(&mut heap, &layout, &[Value::NIL, Value::TRUE]);
            assert_eq!(keys(table), [Value::string(layout.keys[1])]);
            // It goes on as any table does.
            let z = heap.string(b"z");
            heap.set_string(table, z, Value::FALSE).expect("there is room");
            assert_eq!(table.get_string(z), Value::FALSE);
        }
    }
}
