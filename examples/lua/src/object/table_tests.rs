//! Random operations on tables beside a map of Rust, while the collector works.

use super::heap::{Gc, Heap};
use super::shape::Meta;
use super::table::{KeyError, NoSuchKey, Room, Table, normalized};
use super::value::Value;
use crate::object::heap::{Marker, Trace};
use std::collections::HashMap;

/// The roots of a test.
struct Roots<'a>(&'a [Value]);

impl Trace for Roots<'_> {
    fn trace(&self, marker: &mut Marker<'_>) {
        self.0.iter().for_each(|value| marker.value(*value));
    }
}

struct Random(u64);

impl Random {
    fn below(&mut self, below: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % below
    }
}

/// A key of each sort.
fn key(heap: &mut Heap, random: &mut Random, spread: usize) -> Value {
    match random.below(8) {
        0 => Value::bool(random.below(2) == 0),
        1 => Value::number(random.below(spread) as f64 - 3.5),
        2 | 3 => Value::string(heap.string(format!("key{}", random.below(spread)).as_bytes())),
        4 => Value::number(-(random.below(spread) as f64)),
        _ => Value::number(random.below(spread) as f64),
    }
}

/// What a table must have, with strings by their bytes, since a key that is no longer there may be freed.
type Model = HashMap<String, Value>;

fn name(key: Value) -> String {
    format!("{:?}", normalized(key))
}

fn check(table: Gc<Table>, model: &Model, seed: u64) {
    let (mut found, mut at) = (Model::new(), Value::NIL);
    while let Some((key, value)) = table.next(at).expect("the key is there") {
        assert!(found.insert(name(key), value).is_none(), "{key:?} comes twice, {seed}");
        assert_eq!(table.get(key), value);
        at = key;
    }
    let sorted = |model: &Model| {
        let mut all: Vec<(String, u64)> = model.iter().map(|(key, value)| (key.clone(), value.0)).collect();
        all.sort();
        all
    };
    assert_eq!(sorted(&found), sorted(model), "{seed}");
    let (length, is_there) = (table.length(), |key: u32| !table.get(Value::number(key as f64)).is_nil());
    assert!(length == 0 || is_there(length), "{length}, {seed}");
    assert!(!is_there(length + 1), "{length}, {seed}");
}

#[test]
fn tables_are_maps() {
    for seed in 0..300 {
        let (mut heap, mut random) = (Heap::new(), Random(seed));
        let room = Room { slots: random.below(6) as u32, elements: random.below(6) as u32 };
        let table = heap.table(room);
        let spread = [3, 10, 60, 700][random.below(4)];
        let mut model = Model::new();
        for step in 0..random.below(1500) {
            let key = match random.below(4) {
                0 => Value::number(table.length() as f64 + 1.0),
                _ => key(&mut heap, &mut random, spread),
            };
            let value = match random.below(4) {
                0 => Value::NIL,
                1 => Value::string(heap.string(format!("value{step}").as_bytes())),
                _ => Value::number(step as f64),
            };
            heap.set(table, key, value).expect("the key may be one");
            match value.is_nil() {
                true => model.remove(&name(key)),
                false => model.insert(name(key), value),
            };
            assert_eq!(table.get(key), value, "{key:?} {seed}");
            if random.below(50) == 0 {
                match random.below(2) {
                    0 => {
                        heap.step(&Roots(&[Value::table(table)]));
                    }
                    _ => heap.collect(&Roots(&[Value::table(table)])),
                }
            }
        }
        check(table, &model, seed);
    }
}

#[test]
fn a_traversal_may_remove_what_it_finds() {
    for seed in 0..100 {
        let (mut heap, mut random) = (Heap::new(), Random(seed));
        let table = heap.table(Room::default());
        for _ in 0..random.below(200) {
            let key = key(&mut heap, &mut random, 50);
            heap.set(table, key, Value::TRUE).expect("the key may be one");
        }
        let (mut count, mut at) = (0, Value::NIL);
        let mut total = 0;
        while let Some((key, _)) = table.next(at).expect("the key is there") {
            total += 1;
            at = key;
        }
        at = Value::NIL;
        while let Some((key, _)) = table.next(at).expect("the key is there") {
            count += 1;
            heap.set(table, key, Value::NIL).expect("the key may be one");
            at = key;
        }
        assert_eq!((count, table.next(Value::NIL)), (total, Ok(None)));
        assert_eq!(table.length(), 0);
    }
}

#[test]
fn keys_that_cannot_be_are_refused() {
    let mut heap = Heap::new();
    let table = heap.table(Room::default());
    assert_eq!(heap.set(table, Value::NIL, Value::TRUE), Err(KeyError::Nil));
    assert_eq!(heap.set(table, Value::number(f64::NAN), Value::TRUE), Err(KeyError::Nan));
    assert_eq!(heap.set(table, Value::number(-0.0), Value::TRUE), Ok(()));
    assert_eq!(table.get(Value::number(0.0)), Value::TRUE);
    assert_eq!(table.next(Value::TRUE), Err(NoSuchKey));
}

#[test]
fn arrays_with_gaps_are_arrays() {
    let mut heap = Heap::new();
    let table = heap.table(Room::default());
    for at in 2..1000 {
        heap.set_integer(table, at, Value::TRUE).expect("the key may be one");
    }
    assert!(table.array_len() >= 512, "{}", table.array_len());
    let reversed = heap.table(Room::default());
    for at in (1..1000).rev() {
        heap.set_integer(reversed, at, Value::TRUE).expect("the key may be one");
    }
    assert!(reversed.array_len() >= 999 && reversed.length() == 999);
}

#[test]
fn tables_with_the_same_keys_share_a_shape() {
    let mut heap = Heap::new();
    let [x, y] = [&b"x"[..], b"y"].map(|key| heap.permanent_string(key));
    let [a, b, c] = [(); 3].map(|()| heap.table(Room { slots: 1, elements: 0 }));
    for table in [a, b] {
        heap.set_string(table, x, Value::TRUE).expect("the key may be one");
        heap.set_string(table, y, Value::FALSE).expect("the key may be one");
    }
    heap.set_string(c, y, Value::TRUE).expect("the key may be one");
    assert_eq!(a.shape.get(), b.shape.get());
    assert_ne!(a.shape.get(), c.shape.get());
    let meta = heap.table(Room::default());
    [a, b, c].into_iter().for_each(|table| heap.set_metatable(table, Some(meta)));
    // The first table with a metatable may be the only one.
    assert_eq!((a.shape.get().meta(), b.shape.get().meta()), (Meta::Some, Meta::Known(meta)));
    assert_eq!(a.get_string(y), Value::FALSE);
    heap.set_metatable(b, None);
    heap.set_metatable(a, None);
    assert_eq!((a.shape.get(), b.get_string(x)), (b.shape.get(), Value::TRUE));
    // Once somebody looks by the metatable, the first one has the shape of the others, whenever that is.
    let class = heap.table(Room::default());
    for n_before in 0..3 {
        let [first, other] = [(); 2].map(|()| heap.table(Room { slots: 2, elements: 0 }));
        let class = if n_before == 0 { class } else { heap.table(Room::default()) };
        for table in [first, other] {
            heap.set_metatable(table, Some(class));
            for (at, key) in [x, y].into_iter().enumerate() {
                if table == first && at == n_before {
                    heap.know_metatable(first);
                }
                heap.set_string(table, key, Value::TRUE).expect("the key may be one");
            }
        }
        heap.know_metatable(first);
        assert_eq!((first.shape.get(), first.shape.get().meta()), (other.shape.get(), Meta::Known(class)));
    }
    // Too many keys are no fields any more.
    let large = heap.table(Room::default());
    for at in 0..2000 {
        let key = heap.string(format!("k{at}").as_bytes());
        heap.set_string(large, key, Value::number(at as f64)).expect("the key may be one");
    }
    assert!(large.shape.get().is_dictionary());
    for at in 0..2000 {
        let key = heap.string(format!("k{at}").as_bytes());
        assert_eq!(large.get_string(key), Value::number(at as f64));
    }
}

/// Random graphs of tables: what can be reached stays as it was, and the rest goes.
#[test]
fn the_collector_keeps_what_is_reached() {
    for seed in 0..60 {
        let (mut heap, mut random) = (Heap::new(), Random(seed));
        let mut roots = vec![Value::NIL; 8];
        let mut most = 0;
        for step in 0..6000 {
            let at = random.below(roots.len());
            match random.below(8) {
                0 => roots[at] = Value::NIL,
                1 | 2 => {
                    let table = heap.table(Room { slots: 0, elements: random.below(3) as u32 });
                    let other = Value::table(table);
                    heap.set_integer(table, 1, roots[at]).expect("the key may be one");
                    roots[at] = other;
                }
                3 => {
                    // Each table knows its own number, as a string.
                    let text = Value::string(heap.string(format!("{step}").as_bytes()));
                    let table = heap.table(Room::default());
                    heap.set(table, text, Value::number(step as f64)).expect("the key may be one");
                    heap.set_integer(table, 1, roots[at]).expect("the key may be one");
                    roots[at] = Value::table(table);
                }
                4 => {
                    let other = roots[random.below(roots.len())];
                    if let Some(table) = roots[at].as_table() {
                        heap.set_integer(table, 2, other).expect("the key may be one");
                    }
                }
                5 => {
                    let cell = heap.cell(roots[at]);
                    roots[at] = Value::object(crate::object::value::THREAD, cell);
                    // Only tables are looked at here.
                    roots[at] = cell.value.get();
                }
                _ => {
                    heap.step(&Roots(&roots));
                }
            }
            most = most.max(heap.bytes());
        }
        let mut seen = std::collections::HashSet::new();
        let mut work = roots.clone();
        while let Some(value) = work.pop() {
            let Some(table) = value.as_table().filter(|table| seen.insert(table.address())) else { continue };
            let mut at = Value::NIL;
            while let Some((key, value)) = table.next(at).expect("the key is there") {
                if let Some(text) = key.as_string() {
                    assert_eq!(String::from_utf8_lossy(text.bytes()), format!("{value:?}"));
                }
                work.push(value);
                at = key;
            }
        }
        roots.fill(Value::NIL);
        heap.collect(&Roots(&roots));
        heap.collect(&Roots(&roots));
        // Shapes keep the keys that they know.
        assert!(heap.bytes() < 5000, "{} bytes are left of {most}", heap.bytes());
    }
}

#[test]
fn weak_tables_lose_what_is_garbage() {
    let mut heap = Heap::new();
    let mode = heap.permanent_string(b"__mode");
    for (modes, keys_stay, values_stay) in [("k", false, true), ("v", true, false), ("kv", false, false)] {
        let meta = heap.table(Room::default());
        let text = heap.string(modes.as_bytes());
        heap.set_string(meta, mode, Value::string(text)).expect("the key may be one");
        let weak = heap.table(Room::default());
        heap.set_metatable(weak, Some(meta));
        let (kept, lost) = (heap.table(Room::default()), heap.table(Room::default()));
        let text = Value::string(heap.string(b"a string stays"));
        heap.set(weak, Value::table(lost), Value::number(1.0)).expect("the key may be one");
        heap.set(weak, Value::table(kept), Value::number(2.0)).expect("the key may be one");
        heap.set(weak, Value::number(1.0), Value::table(kept)).expect("the key may be one");
        let gone = heap.table(Room::default());
        heap.set(weak, Value::number(2.0), Value::table(gone)).expect("the key may be one");
        heap.set(weak, Value::number(3.0), text).expect("the key may be one");
        heap.set(weak, text, Value::TRUE).expect("the key may be one");
        heap.collect(&Roots(&[Value::table(weak), Value::table(kept)]));
        let mut count = 0;
        let mut at = Value::NIL;
        while let Some((key, _)) = weak.next(at).expect("the key is there") {
            count += 1;
            at = key;
        }
        assert_eq!(count, 4 + keys_stay as usize + values_stay as usize, "{modes}");
        assert_eq!(weak.get(Value::table(kept)), Value::number(2.0));
        assert_eq!(weak.get(Value::number(1.0)), Value::table(kept));
    }
}
