//! Tables that a constructor makes again and again, all with the same fields.
//!
//! In: the keys of the fields, and how many elements there are. Out: tables with room for the values, which bytecode puts where they belong.
//! All have one shape, also those that get nil for some of the fields: so code that reads them meets one shape.

use crate::object::heap::{Gc, Heap};
use crate::object::shape::ShapeRef;
use crate::object::string::Str;
use crate::object::table::Table;

/// The tables that one constructor makes. Whoever has it sees to it that the shape stays.
#[derive(Debug)]
pub(crate) struct Layout {
    pub(crate) shape: ShapeRef,
    n_keys: u32,
    elements: u32,
    /// How many fields more a table is made room for.
    more: u32,
}

impl Layout {
    /// The most values that a layout may have.
    pub(crate) const MAX_VALUES: usize = Table::MAX_INLINE as usize;

    /// Where it is, as bytecode has it.
    pub(crate) fn address(&self) -> u64 {
        std::ptr::from_ref(self).expose_provenance() as u64
    }

    /// How many elements a table has, and in the upper half how many slots.
    pub(crate) fn counts(&self) -> u64 {
        u64::from(self.elements) | u64::from(self.n_keys + self.more) << 32
    }
}

impl Heap {
    /// The layout of tables with these fields and so many elements, with room for some fields more if that may be. No key is there twice, and
    /// none begins as those of metamethods do.
    pub(crate) fn layout(&mut self, keys: &[Gc<Str>], elements: u32, more: u32) -> Layout {
        let n_keys = keys.len() as u32;
        let values = (n_keys + elements) as usize;
        debug_assert!(values <= Layout::MAX_VALUES);
        let more = more.min((Layout::MAX_VALUES - values) as u32);
        let shape = self.shapes.with_keys(keys);
        self.reached_shape(shape);
        Layout { shape, n_keys, elements, more }
    }

    /// A table of a layout. Its values are behind it: those of the elements, and then those of the fields.
    ///
    /// # Safety
    ///
    /// The values are nothing yet: they must be put there before anybody looks at the table, the collector included.
    pub(crate) unsafe fn table_of(&mut self, layout: &Layout) -> Gc<Table> {
        let table = self.with_inline(layout.n_keys + layout.more, layout.elements, layout.shape);
        table.array_end.set(1 + layout.elements);
        table
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::function::copy_values;
    use crate::object::heap::{Marker, Trace};
    use crate::object::value::Value;

    /// The roots of a test.
    struct Kept<'a>(&'a [Layout]);

    impl Trace for Kept<'_> {
        fn trace(&self, marker: &mut Marker<'_>) {
            self.0.iter().for_each(|layout| marker.shape(layout.shape));
        }
    }

    fn strings<const N: usize>(heap: &mut Heap, names: [&str; N]) -> [Gc<Str>; N] {
        names.map(|name| heap.permanent_string(name.as_bytes()))
    }

    /// Does what bytecode does.
    fn table_with(heap: &mut Heap, layout: &Layout, values: &[Value]) -> Gc<Table> {
        assert_eq!(values.len() as u32, layout.n_keys + layout.elements);
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
        let [x, y] = strings(&mut heap, ["x", "y"]);
        let point = heap.layout(&[x, y], 2, 0);
        let [one, two, nil] = [Value::number(1.0), Value::number(2.0), Value::NIL];
        let full = table_with(&mut heap, &point, &[two, one, one, two]);
        let half = table_with(&mut heap, &point, &[nil, nil, nil, two]);
        assert!(full.shape.get() == half.shape.get());
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
    fn a_shape_stays_as_long_as_its_layout() {
        let mut heap = Heap::default();
        heap.shapes.few = 0;
        let [x, y] = strings(&mut heap, ["x", "y"]);
        let layouts = [heap.layout(&[x, y], 0, 0)];
        let gone = heap.layout(&[y, x], 0, 0).shape.word();
        heap.collect(&Kept(&layouts));
        // SAFETY: they were shapes of this heap.
        let [stays, other] = [layouts[0].shape.word(), gone].map(|word| unsafe { ShapeRef::is_there(word) });
        assert!(stays && !other);
        let table = table_with(&mut heap, &layouts[0], &[Value::FALSE, Value::TRUE]);
        assert_eq!(table.get_string(y), Value::TRUE);
    }

    #[test]
    fn there_are_always_shapes_for_layouts() {
        let mut heap = Heap::default();
        let [y, z] = strings(&mut heap, ["y", "z"]);
        for number in 0..1000 {
            let [name] = strings(&mut heap, [&format!("key {number}")]);
            let layout = heap.layout(&[name, y], 0, 0);
            let table = table_with(&mut heap, &layout, &[Value::NIL, Value::TRUE]);
            assert_eq!(keys(table), [Value::string(y)]);
            // It goes on as any table does.
            heap.set_string(table, z, Value::FALSE).expect("there is room");
            assert_eq!(table.get_string(z), Value::FALSE);
        }
    }
}
