//! Collections: that what is reachable stays, that what is not goes, and that no step does much.

use super::function::Userdata;
use super::heap::{Eagerness, Gc, Heap, Marker, Trace};
use super::table::{Room, Table};
use super::value::{USERDATA, Value};
use std::cell::{Cell, RefCell};

/// The roots of a test.
#[derive(Default)]
struct Kept(RefCell<Vec<Value>>);

impl Trace for Kept {
    fn trace(&self, marker: &mut Marker<'_>) {
        self.0.borrow().iter().for_each(|value| marker.value(*value));
    }
}

impl Kept {
    fn table(&self, heap: &mut Heap) -> Gc<Table> {
        let table = heap.table(Room::default());
        self.0.borrow_mut().push(Value::table(table));
        table
    }
}

/// A table with one element, which tells it from others.
fn numbered(heap: &mut Heap, number: u32) -> Value {
    let table = heap.table(Room { slots: 0, elements: 1 });
    heap.set_integer(table, 1, Value::number(number.into())).expect("the key may be one");
    Value::table(table)
}

/// The number of such a table.
fn number_of(value: Value) -> Option<f64> {
    value.as_table()?.get_integer(1).as_number()
}

fn set(heap: &mut Heap, table: Gc<Table>, key: i64, value: Value) {
    heap.set_integer(table, key, value).expect("the key may be one");
}

/// A metatable that makes tables weak.
fn weak(heap: &mut Heap, kept: &Kept, mode: &str) -> Gc<Table> {
    let metatable = kept.table(heap);
    let (key, mode) = (heap.string(b"__mode"), heap.string(mode.as_bytes()));
    heap.set_string(metatable, key, Value::string(mode)).expect("the key may be one");
    metatable
}

/// Does as many steps as it takes until some more collections have ended; calls `between` after each.
fn collect_in_steps(heap: &mut Heap, kept: &Kept, count: u64, mut between: impl FnMut(&mut Heap)) {
    let end = heap.statistics().collections + count;
    while heap.statistics().collections < end {
        heap.step(kept);
        between(heap);
    }
}

/// No step is to do more: about what takes a fraction of a millisecond.
const MOST: usize = 512 << 10;

#[test]
fn no_step_does_much_whatever_is_on_the_heap() {
    const COUNT: u32 = if cfg!(debug_assertions) { 100_000 } else { 1_000_000 };
    let (mut heap, kept) = (Heap::new(), Kept::default());
    let (array, hash, list, names) =
        (kept.table(&mut heap), kept.table(&mut heap), kept.table(&mut heap), kept.table(&mut heap));
    let (by_value, by_key) = (kept.table(&mut heap), kept.table(&mut heap));
    let (values, keys) = (weak(&mut heap, &kept, "v"), weak(&mut heap, &kept, "k"));
    heap.set_metatable(by_value, Some(values));
    heap.set_metatable(by_key, Some(keys));
    let mut last = list;
    for number in 0..COUNT {
        let object = numbered(&mut heap, number);
        set(&mut heap, array, i64::from(number) + 1, object);
        set(&mut heap, hash, -i64::from(number) - 1, object);
        let lost = numbered(&mut heap, number);
        set(&mut heap, by_value, i64::from(number) + 1, if number % 2 == 0 { object } else { lost });
        heap.set(by_key, if number % 2 == 0 { object } else { lost }, Value::TRUE).expect("it may be a key");
        let name = heap.string(format!("name {number}").as_bytes());
        heap.set_string(names, name, Value::TRUE).expect("the key may be one");
        let next = heap.table(Room::default());
        set(&mut heap, last, 1, Value::table(next));
        last = next;
        if heap.wants_step() {
            heap.step(&kept);
        }
    }
    collect_in_steps(&mut heap, &kept, 2, |_| ());
    let statistics = heap.statistics();
    assert!(statistics.most_work < MOST, "{statistics:?}");
    for number in 0..COUNT {
        assert_eq!(number_of(array.get_integer(i64::from(number) + 1)), Some(f64::from(number)));
        let is_kept = number % 2 == 0;
        assert_eq!(by_value.get_integer(i64::from(number) + 1).is_nil(), !is_kept, "{number}");
        assert_eq!(by_key.get(array.get_integer(i64::from(number) + 1)).is_nil(), !is_kept, "{number}");
    }
    // All goes, and no step does much for that either.
    kept.0.borrow_mut().clear();
    collect_in_steps(&mut heap, &kept, 2, |_| ());
    assert!(heap.statistics().most_work < MOST, "{:?}", heap.statistics());
    assert!(heap.bytes() < 64 << 10, "{} bytes", heap.bytes());
}

/// A deep recursion: frames that keep nothing, and how often they were looked at.
struct Deep(Cell<usize>);

impl Trace for Deep {
    fn trace(&self, marker: &mut Marker<'_>) {
        (0..DEEP).for_each(|_| marker.frame(0, std::iter::once(Value::TRUE)));
        self.0.set(self.0.get() + 1);
    }
}

/// How many frames that is.
const DEEP: usize = 100_000;

#[test]
fn frames_are_not_looked_at_more_often_than_their_number_allows() {
    let (mut heap, deep) = (Heap::new(), Deep(Cell::new(0)));
    // Of 64 MB, of which nothing is kept.
    for _ in 0..8192 {
        heap.table(Room { slots: 0, elements: 1024 });
        if heap.wants_step() {
            heap.step(&deep);
        }
    }
    let cycles = heap.statistics().collections;
    assert!((2..8).contains(&cycles), "{cycles} cycles");
    assert!(deep.0.get() <= 3 * cycles as usize + 2, "{} times in {cycles} cycles", deep.0.get());
}

#[test]
fn what_is_stored_between_steps_stays() {
    for large in [1u32, 5000] {
        let (mut heap, kept) = (Heap::new(), Kept::default());
        heap.set_eagerness(Eagerness::Steps);
        let (table, hash) = (kept.table(&mut heap), kept.table(&mut heap));
        for at in 1..=large {
            set(&mut heap, table, at.into(), Value::FALSE);
            set(&mut heap, hash, -i64::from(at), Value::FALSE);
        }
        let mut round = 0u32;
        collect_in_steps(&mut heap, &kept, 8, |heap| {
            round += 1;
            // What is nowhere else goes from one place to another, to where the collector has been or has not been.
            let (from, to) = (i64::from(round * 7 % large) + 1, i64::from(round * 31 % large) + 1);
            let (a, b) = (table.get_integer(from), hash.get_integer(-to));
            assert!([a, b].iter().all(|value| *value == Value::FALSE || number_of(*value).is_some()));
            set(heap, hash, -to, a);
            set(heap, table, from, b);
            let made = numbered(heap, round);
            set(heap, table, to, made);
            // Now and then all keys move.
            if round.is_multiple_of(100) {
                set(heap, hash, -i64::from(large + round), made);
            }
        });
        let live = |table: Gc<Table>, sign: i64| {
            (1..=i64::from(large)).map(|at| table.get_integer(sign * at)).collect::<Vec<Value>>()
        };
        for value in [live(table, 1), live(hash, -1)].concat() {
            assert!(
                value == Value::FALSE || number_of(value).is_some_and(|number| number <= f64::from(round))
            );
        }
    }
}

#[test]
fn a_key_that_has_a_value_again_stays() {
    const COUNT: u32 = 3000;
    for steps in (0..600).step_by(20) {
        let (mut heap, kept) = (Heap::new(), Kept::default());
        heap.set_eagerness(Eagerness::Steps);
        // What was made last is looked at first.
        let (home, table) = (kept.table(&mut heap), kept.table(&mut heap));
        for at in 1..=COUNT {
            let key = numbered(&mut heap, at);
            set(&mut heap, home, at.into(), key);
            heap.set(table, key, Value::TRUE).expect("the key may be one");
        }
        for at in 1..=COUNT.into() {
            heap.set(table, home.get_integer(at), Value::NIL).expect("the key may be one");
        }
        for _ in 0..steps {
            heap.step(&kept);
        }
        for at in 1..=COUNT.into() {
            heap.set(table, home.get_integer(at), Value::TRUE).expect("the key may be one");
            set(&mut heap, home, at, Value::FALSE);
        }
        collect_in_steps(&mut heap, &kept, 1, |_| ());
        // What was freed is other objects' memory.
        for _ in 0..2 * COUNT {
            let table = numbered(&mut heap, 0);
            assert_eq!(number_of(table), Some(0.0));
        }
        let next = |key: &Value| table.next(*key).expect("it is a key").map(|(key, _)| key);
        let keys = std::iter::successors(next(&Value::NIL), next);
        let numbers: Vec<u32> = keys.filter_map(|key| number_of(key).map(|number| number as u32)).collect();
        assert_eq!(numbers, (1..=COUNT).collect::<Vec<u32>>(), "after {steps} steps");
    }
}

#[test]
fn elements_may_move_while_their_table_is_looked_at() {
    const COUNT: i64 = 20_000;
    let (mut heap, kept) = (Heap::new(), Kept::default());
    let table = kept.table(&mut heap);
    for at in 1..=COUNT {
        let object = numbered(&mut heap, at as u32);
        set(&mut heap, table, at, object);
    }
    heap.set_eagerness(Eagerness::Steps);
    let mut turn = 0;
    collect_in_steps(&mut heap, &kept, 2, |heap| {
        turn += 1;
        if turn % 64 == 0 {
            // All of them, or those from here to there.
            let (first, last) = match turn % 128 {
                0 => (1, COUNT as usize),
                _ => (1 + turn % 5_000, COUNT as usize - turn % 7_000),
            };
            table.elements()[first - 1..last].windows(2).for_each(|pair| pair[0].swap(&pair[1]));
            heap.elements_move(table, first..last + 1);
        }
    });
    let mut all: Vec<f64> = table.elements().iter().filter_map(|value| number_of(value.get())).collect();
    all.sort_by(f64::total_cmp);
    assert!(all.len() == COUNT as usize && all.iter().zip(1..).all(|(number, at)| *number == f64::from(at)));
}

#[test]
fn large_weak_tables_show_nothing_that_is_garbage() {
    let (mut heap, kept) = (Heap::new(), Kept::default());
    let (table, values) = (kept.table(&mut heap), weak(&mut heap, &kept, "v"));
    heap.set_metatable(table, Some(values));
    for at in 1..=6_000 {
        let object = if at % 3 == 0 { Value::table(kept.table(&mut heap)) } else { numbered(&mut heap, 1) };
        set(&mut heap, table, -at, object);
    }
    let count = |table: Gc<Table>| {
        let (mut count, mut at) = (0, Value::NIL);
        while let Some((key, value)) = table.next(at).expect("the key is there") {
            assert_eq!(table.get(key), value);
            (count, at) = (count + 1, key);
        }
        count
    };
    assert_eq!(count(table), 6_000);
    heap.set_eagerness(Eagerness::Steps);
    let mut counts = Vec::new();
    collect_in_steps(&mut heap, &kept, 1, |_| counts.push(count(table)));
    counts.dedup();
    // They are gone all at once, however long it takes to remove them.
    assert_eq!(counts, [6_000, 2_000]);
}

#[test]
fn a_table_is_weak_as_its_metatable_says_when_the_marking_ends() {
    let (mut heap, kept) = (Heap::new(), Kept::default());
    let (table, values) = (kept.table(&mut heap), weak(&mut heap, &kept, "v"));
    heap.set_metatable(table, Some(values));
    for at in 1..=100 {
        let object = numbered(&mut heap, at);
        set(&mut heap, table, i64::from(at), object);
    }
    heap.set_eagerness(Eagerness::Steps);
    let mut is_first = true;
    collect_in_steps(&mut heap, &kept, 1, |heap| {
        // The table was reached by now, and the end is far away: there are shapes to look at.
        if std::mem::take(&mut is_first) {
            let mode = heap.string(b"__mode");
            heap.set_string(values, mode, Value::NIL).expect("the key may be one");
        }
    });
    assert!((1..=100).all(|at| number_of(table.get_integer(at)) == Some(at as f64)));
    let mode = (heap.string(b"__mode"), heap.string(b"v"));
    heap.set_string(values, mode.0, Value::string(mode.1)).expect("the key may be one");
    collect_in_steps(&mut heap, &kept, 2, |_| ());
    assert_eq!(table.next(Value::NIL), Ok(None));
}

#[test]
fn finalizers_are_found_in_the_order_in_which_they_were_set() {
    const COUNT: usize = 5000;
    let (mut heap, kept) = (Heap::new(), Kept::default());
    let metatable = kept.table(&mut heap);
    let (key, no) = (heap.string(b"__gc"), heap.string(b"no"));
    heap.set_string(metatable, key, Value::TRUE).expect("the key may be one");
    heap.set_string(metatable, no, Value::TRUE).expect("the key may be one");
    let mut all: Vec<Gc<Userdata>> = Vec::new();
    for at in 0..COUNT {
        let userdata = heap.userdata(Box::new(at));
        heap.set_userdata_metatable(userdata, Some(metatable));
        heap.set_userdata_metatable(userdata, Some(metatable));
        if at % 2 == 0 {
            kept.0.borrow_mut().push(Value::object(USERDATA, userdata));
        }
        all.push(userdata);
    }
    collect_in_steps(&mut heap, &kept, 1, |_| ());
    let mut found = Vec::new();
    while let Some(userdata) = heap.next_unfinalized() {
        found.extend(userdata.value.downcast_ref::<usize>().copied());
    }
    let expected: Vec<usize> = (0..COUNT).rev().filter(|at| at % 2 == 1).collect();
    assert_eq!(found, expected);
    // The others are found at the end.
    heap.finalize_all();
    assert_eq!(std::iter::from_fn(|| heap.next_unfinalized()).count(), COUNT / 2);
}

#[test]
fn shapes_that_no_table_has_are_freed() {
    let (mut heap, kept) = (Heap::new(), Kept::default());
    let names: Vec<Value> = ["a", "b", "c"].map(|name| Value::string(heap.string(name.as_bytes()))).into();
    kept.0.borrow_mut().extend(&names);
    let one = kept.table(&mut heap);
    for name in &names {
        heap.set(one, *name, Value::TRUE).expect("the key may be one");
    }
    heap.collect(&kept);
    let before = heap.shapes.len();
    heap.shapes.few = 0;
    for round in 0..2000 {
        // A class, and two objects of it: the second one has a shape that the class alone has.
        let class = heap.table(Room::default());
        for _ in 0..2 {
            let object = heap.table(Room::default());
            heap.set_metatable(object, Some(class));
            for name in &names {
                heap.set(object, *name, Value::table(object)).expect("the key may be one");
            }
        }
        let other = heap.table(Room::default());
        let name = heap.string(format!("name {round}").as_bytes());
        heap.set_string(other, name, Value::TRUE).expect("the key may be one");
        if heap.wants_step() {
            heap.step(&kept);
        }
    }
    assert!(heap.shapes.len() > before, "{:?}", heap.shapes);
    heap.collect(&kept);
    assert_eq!(heap.shapes.len(), before);
    assert!(names.iter().all(|name| one.get(*name) == Value::TRUE));
}

#[test]
fn keys_in_any_order_do_not_make_a_shape_for_each_order() {
    let (mut heap, kept) = (Heap::new(), Kept::default());
    let names: Vec<Value> =
        (0..16).map(|number| Value::string(heap.string(format!("name {number}").as_bytes()))).collect();
    kept.0.borrow_mut().extend(&names);
    let mut random = 1u64;
    for _ in 0..20_000 {
        let table = kept.table(&mut heap);
        let mut has = vec![false; names.len()];
        for _ in 0..8 {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let which = (random >> 60) as usize;
            has[which] = true;
            heap.set(table, names[which], Value::TRUE).expect("the key may be one");
        }
        for (name, has) in names.iter().zip(has) {
            assert_eq!(table.get(*name) == Value::TRUE, has);
        }
    }
    // There would be nearly one for each table and key.
    assert!(heap.shapes.len() < 20_000, "{:?}", heap.shapes);
}

#[test]
fn a_shape_that_code_gives_to_tables_stays_as_long_as_the_one_before() {
    let (mut heap, kept) = (Heap::new(), Kept::default());
    heap.shapes.few = 0;
    let name = heap.permanent_string(b"name");
    let (learned, other) = {
        let (first, second) = (heap.table(Room::default()), heap.table(Room::default()));
        heap.set_string(first, name, Value::TRUE).expect("the key may be one");
        heap.learn_shape(first.shape.get());
        let other = heap.string(b"other");
        heap.set_string(second, other, Value::TRUE).expect("the key may be one");
        (first.shape.get(), second.shape.get())
    };
    heap.collect(&kept);
    // SAFETY: both are shapes of this heap.
    let is_there = |shape: u64| unsafe { super::shape::ShapeRef::is_there(shape) };
    assert!(is_there(learned.word()) && !is_there(other.word()));
    // Where the other was is another one now, which is not equal to it.
    let third = kept.table(&mut heap);
    let new = heap.string(b"new");
    heap.set_string(third, new, Value::TRUE).expect("the key may be one");
    assert!(is_there(third.shape.get().word()) && third.shape.get() != other && !is_there(other.word()));
}

#[test]
fn a_shape_may_be_learned_at_any_time_of_a_cycle() {
    let (mut heap, kept) = (Heap::new(), Kept::default());
    heap.shapes.few = 0;
    let (name, table) = (heap.permanent_string(b"name"), kept.table(&mut heap));
    heap.set_string(table, name, Value::TRUE).expect("the key may be one");
    for n_steps in 0..100 {
        for _ in 0..n_steps {
            heap.step_for(1, &kept);
        }
        let other = heap.string(format!("other {n_steps}").as_bytes());
        let learned = heap.shapes.with_key(table.shape.get(), other).expect("there are few keys");
        heap.learn_shape(learned);
        while !heap.step_for(1, &kept) {}
        // SAFETY: it was a shape of this heap.
        assert!(unsafe { super::shape::ShapeRef::is_there(learned.word()) }, "after {n_steps} steps");
    }
}

#[test]
fn shapes_of_a_class_stay_as_long_as_the_class() {
    let (mut heap, kept) = (Heap::new(), Kept::default());
    heap.shapes.few = 0;
    let class = kept.table(&mut heap);
    let name = heap.permanent_string(b"name");
    let make = |heap: &mut Heap| {
        let (first, second) = (heap.table(Room::default()), heap.table(Room::default()));
        for object in [first, second] {
            heap.set_string(object, name, Value::TRUE).expect("the key may be one");
            heap.set_metatable(object, Some(class));
        }
        second.shape.get().word()
    };
    let shape = make(&mut heap);
    heap.collect(&kept);
    assert_eq!(make(&mut heap), shape);
    kept.0.borrow_mut().clear();
    heap.collect(&kept);
    // SAFETY: it was a shape of this heap.
    assert!(!unsafe { super::shape::ShapeRef::is_there(shape) });
}

#[test]
fn long_arrays_grow_where_they_are_and_go() {
    let (mut heap, kept) = (Heap::new(), Kept::default());
    let tables: Vec<Gc<Table>> = (0..20).map(|_| kept.table(&mut heap)).collect();
    for at in 1..=3000 {
        for table in &tables {
            set(&mut heap, *table, at, Value::number(at as f64));
        }
        if at % 100 == 0 {
            heap.step(&kept);
        }
    }
    assert!(
        tables.iter().all(|table| (1..=3000).all(|at| table.get_integer(at) == Value::number(at as f64)))
    );
    kept.0.borrow_mut().truncate(3);
    heap.collect(&kept);
    let left = heap.bytes();
    assert!((3 * 3000 * 8..200 << 10).contains(&left), "{left}");
    assert!((1..=3000).all(|at| tables[2].get_integer(at) == Value::number(at as f64)));
}
