//! Tests of sites: cases are added, kept, removed and written, and none reaches into another.

use super::*;

#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C)]
struct Field {
    tag: u8,
    offset: u32,
    name: *const u8,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Small(u8);

static BYTES: [u8; 4] = [5, 6, 7, 8];

fn field(tag: u8) -> Field {
    Field { tag, offset: 8 * tag as u32, name: &raw const BYTES[tag as usize % 4] }
}

fn list<T: Copy>(cases: Cases<'_, T>) -> Vec<T> {
    cases.iter().collect()
}

/// Sites of two types, of which the small ones take no whole words.
fn sites() -> Sites {
    let (small, large) = (SiteInfo::of::<Small>(3), SiteInfo::of::<Field>(2));
    Sites::alone(&[small, large, large, small])
}

#[test]
fn cases_of_unknown_types_are_counted() {
    let sites = sites();
    let first = sites.addresses().next().expect("there is one") as u64;
    assert_eq!((sites.describe(first), sites.describe(first + 8)), (None, None));
    let small: Vec<Cases<'_, Small>> = sites.of_type().collect();
    small[0].add(Small(7));
    small[0].add(Small(8));
    assert_eq!(sites.describe(first).as_deref(), Some("2 of 3 cases: …, …"));
}

#[test]
fn each_site_has_its_own_cases() {
    let sites = sites();
    let fields: Vec<Cases<'_, Field>> = sites.of_type().collect();
    let small: Vec<Cases<'_, Small>> = sites.of_type().collect();
    assert_eq!((fields.len(), small.len(), sites.of_type::<u8>().count()), (2, 2, 0));
    assert_eq!([1, 2, 3].map(|tag| fields[0].add(field(tag))), [true, true, false]);
    assert!(fields[1].add(field(4)) && !fields[1].is_full() && fields[0].is_full());
    assert_eq!([7, 8, 9, 10].map(|small_one| small[1].add(Small(small_one))), [true, true, true, false]);
    assert_eq!((list(fields[0]), list(fields[1])), (vec![field(1), field(2)], vec![field(4)]));
    assert_eq!((list(small[0]), list(small[1])), (vec![], vec![Small(7), Small(8), Small(9)]));
    let names: Vec<u8> = fields[0]
        .iter()
        .map(|case| {
            // SAFETY: it points to one of the bytes.
            unsafe { *case.name }
        })
        .collect();
    assert_eq!(names, [6, 7], "a pointer that was in a site is as good as before");
    assert!(sites.clear() && !sites.clear());
    assert!(fields.iter().all(|cases| cases.is_empty()) && small[1].is_empty());
}

#[test]
fn cases_that_are_kept_keep_their_order() {
    let sites = Sites::alone(&[SiteInfo::of::<u64>(5)]);
    let cases: Cases<'_, u64> = sites.of_type().next().expect("there is one");
    (1..=5).for_each(|case| assert!(cases.add(case)));
    assert!(!cases.retain(|_| true));
    // A function may look at what it is about, and add to it.
    assert!(cases.retain(|case| cases.iter().any(|other| other == *case) && case % 2 == 1));
    assert_eq!(list(cases), [1, 3, 5]);
    let later = cases.iter();
    assert!(cases.add(9));
    assert_eq!(later.collect::<Vec<u64>>(), [1, 3, 5]);
    assert!(cases.retain(|_| false) && cases.is_empty() && cases.add(11));
    assert_eq!(format!("{cases:?}"), "Cases { len: 1, .. }");
}

#[test]
fn a_case_makes_a_slow_path_one_that_has_not_run() {
    let slow_path = AtomicU8::new(1);
    let info = SiteInfo::of::<Small>(1);
    let sites = Sites::new(vec![(info, &raw const slow_path), (info, core::ptr::null())]);
    let all: Vec<Cases<'_, Small>> = sites.of_type().collect();
    assert!(all[1].add(Small(1)));
    assert_eq!(slow_path.load(Relaxed), 1);
    assert!(all[0].add(Small(1)));
    assert_eq!(slow_path.swap(1, Relaxed), 0);
    assert!(!all[0].add(Small(2)));
    assert_eq!(slow_path.load(Relaxed), 1, "there was no room, so the slow path runs again");
}

#[test]
fn a_snapshot_is_what_the_sites_were() {
    assert!(Sites::alone(&[]).snapshot().is_none());
    let sites = sites();
    let fields: Vec<Cases<'_, Field>> = sites.of_type().collect();
    fields[1].add(field(2));
    fields[1].add(field(3));
    let snapshot = sites.snapshot().expect("there are sites");
    sites.clear();
    fields[1].add(field(1));
    let address = sites.addresses().nth(2).expect("there are four") as u64;
    let of_case = |number: usize, offset: usize| (CASES_OFFSET + number * size_of::<Field>() + offset) as u64;
    // SAFETY: these are numbers of cases, fields, and addresses outside.
    let read = |address, bytes| unsafe { snapshot.read(address, bytes) };
    assert_eq!(read(address + COUNT_OFFSET as u64, 4), Some(2));
    let full: Vec<bool> = sites.addresses().map(|site| snapshot.is_full(site as u64)).collect();
    assert_eq!(full, [false, false, true, false]);
    assert!(!snapshot.is_full(0));
    assert_eq!(read(address + of_case(1, offset_of!(Field, tag)), 1), Some(3));
    assert_eq!(read(address + of_case(1, offset_of!(Field, offset)), 4), Some(24));
    let name = read(address + of_case(0, offset_of!(Field, name)), 8);
    assert_eq!(name, Some((&raw const BYTES[2]).expose_provenance() as u64));
    let end = sites.addresses().next().expect("there are four") as u64 + size_of_val(&*sites.memory) as u64;
    for (at, bytes) in [(0, 4), (u64::MAX, 1), (end, 1), (end - 4, 8), (address, 9)] {
        assert_eq!(read(at, bytes), None);
    }
}
