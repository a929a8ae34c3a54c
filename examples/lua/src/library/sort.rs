//! `table.sort`, step by step as in C's Lua: programs see in which order elements are compared, what a wrong order function leads to, and
//! how equal elements end up.
//!
//! In: a table and perhaps an order function. Out: the table with its elements sorted. Numbers alone, or strings alone, without an order
//! function are sorted in a copy: nobody can look in between. All others are sorted in the table, because each comparison may call back.

use super::table::set_element;
use super::{Arguments, rooted};
use crate::object::heap::Gc;
use crate::object::string::Str;
use crate::object::table::Table;
use crate::object::value::{Type, Value};
use crate::run::error::Result;
use crate::run::slow;
use crate::run::vm::Vm;
use azulejo::Frames;

/// What is sorted.
trait Sorted {
    type Item: Copy;

    fn get(&self, at: i64) -> Self::Item;

    fn set(&mut self, vm: &mut Vm, at: i64, item: Self::Item) -> Result<()>;

    fn less(&self, vm: &mut Vm, a: Self::Item, b: Self::Item) -> Result<bool>;

    /// An item that is held while others are compared.
    fn hold(&self, vm: &mut Vm, place: usize, item: Self::Item);

    fn invalid_order<T>(&self, vm: &mut Vm) -> Result<T>;
}

/// Assigns two items.
fn set2<S: Sorted>(
    sorted: &mut S,
    vm: &mut Vm,
    (at, item): (i64, S::Item),
    (other, other_item): (i64, S::Item),
) -> Result<()> {
    sorted.set(vm, at, item)?;
    sorted.set(vm, other, other_item)
}

/// Sorts the elements from `low` to `high`, which count from 1: quicksort with the median of three. An order function that is none may lead
/// to places on both sides of these.
fn sort_range<S: Sorted>(sorted: &mut S, vm: &mut Vm, low: i64, high: i64) -> Result<()> {
    let (mut low, mut high) = (low, high);
    while low < high {
        let (first, last) = (sorted.get(low), sorted.get(high));
        if sorted.less(vm, last, first)? {
            set2(sorted, vm, (low, last), (high, first))?;
        }
        if high - low == 1 {
            break;
        }
        let middle = (low + high) / 2;
        let (item, first) = (sorted.get(middle), sorted.get(low));
        if sorted.less(vm, item, first)? {
            set2(sorted, vm, (middle, first), (low, item))?;
        } else {
            let last = sorted.get(high);
            if sorted.less(vm, last, item)? {
                set2(sorted, vm, (middle, last), (high, item))?;
            }
        }
        if high - low == 2 {
            break;
        }
        let (pivot, before) = (sorted.get(middle), sorted.get(high - 1));
        sorted.hold(vm, 0, pivot);
        set2(sorted, vm, (middle, before), (high - 1, pivot))?;
        let at = partition(sorted, vm, (low, high), pivot)?;
        let (pivot, item) = (sorted.get(high - 1), sorted.get(at));
        set2(sorted, vm, (high - 1, item), (at, pivot))?;
        // The smaller part is sorted by itself, so that there are few calls within each other.
        if at - low < high - at {
            sort_range(sorted, vm, low, at - 1)?;
            low = at + 1;
        } else {
            sort_range(sorted, vm, at + 1, high)?;
            high = at - 1;
        }
    }
    Ok(())
}

/// Moves what is less than the pivot before what is not. Returns where the pivot belongs.
fn partition<S: Sorted>(sorted: &mut S, vm: &mut Vm, (low, high): (i64, i64), pivot: S::Item) -> Result<i64> {
    let (mut up, mut down) = (low, high - 1);
    loop {
        let less = loop {
            up += 1;
            let item = sorted.get(up);
            if !sorted.less(vm, item, pivot)? {
                break item;
            }
            if up > high {
                return sorted.invalid_order(vm);
            }
        };
        sorted.hold(vm, 1, less);
        let greater = loop {
            down -= 1;
            let item = sorted.get(down);
            if !sorted.less(vm, pivot, item)? {
                break item;
            }
            if down < low {
                return sorted.invalid_order(vm);
            }
        };
        if down < up {
            return Ok(up);
        }
        set2(sorted, vm, (up, greater), (down, less))?;
    }
}

/// Items that compare by themselves.
struct Copied<T, F> {
    items: Vec<T>,
    less: F,
}

impl<T: Copy, F: Fn(T, T) -> bool> Sorted for Copied<T, F> {
    type Item = T;

    fn get(&self, at: i64) -> T {
        self.items[at as usize - 1]
    }

    fn set(&mut self, _: &mut Vm, at: i64, item: T) -> Result<()> {
        self.items[at as usize - 1] = item;
        Ok(())
    }

    fn less(&self, _: &mut Vm, a: T, b: T) -> Result<bool> {
        Ok((self.less)(a, b))
    }

    fn hold(&self, _: &mut Vm, _: usize, _: T) {}

    fn invalid_order<U>(&self, _: &mut Vm) -> Result<U> {
        unreachable!("no number and no string is less than itself: the pivot ends each search")
    }
}

/// The elements of a table.
struct Elements<'a> {
    args: Arguments<'a>,
    table: Gc<Table>,
    function: Option<Value>,
    /// Where the roots are for what is held.
    held: usize,
}

impl Sorted for Elements<'_> {
    type Item = Value;

    fn get(&self, at: i64) -> Value {
        self.table.get_integer(at)
    }

    fn set(&mut self, vm: &mut Vm, at: i64, item: Value) -> Result<()> {
        set_element(vm, self.args.frames(), self.table, at, item)
    }

    fn less(&self, vm: &mut Vm, a: Value, b: Value) -> Result<bool> {
        match self.function {
            Some(function) => self.args.call(vm, function, &[a, b]).map(Value::is_true),
            None => less(vm, self.args, a, b),
        }
    }

    fn hold(&self, vm: &mut Vm, place: usize, item: Value) {
        vm.roots[self.held + place] = item;
    }

    fn invalid_order<T>(&self, vm: &mut Vm) -> Result<T> {
        self.args.fail(vm, "invalid order function for sorting")
    }
}

/// The operator `<`. Its errors have no position here, because no function of Lua compares.
fn less(vm: &mut Vm, args: Arguments<'_>, a: Value, b: Value) -> Result<bool> {
    if let (Some(x), Some(y)) = (a.as_number(), b.as_number()) {
        return Ok(x < y);
    }
    if let (Some(x), Some(y)) = (a.as_string(), b.as_string()) {
        return Ok(x.bytes() < y.bytes());
    }
    let [x, y] = [a, b].map(|value| value.type_of().name());
    if a.type_of() == b.type_of() {
        let name = vm.names.operators[slow::LESS as usize];
        let methods =
            [a, b].map(|value| vm.metatable(value).map_or(Value::NIL, |meta| meta.get_string(name)));
        if !methods[0].is_nil() && methods[0] == methods[1] {
            return args.call(vm, methods[0], &[a, b]).map(Value::is_true);
        }
    }
    let message = match x == y {
        true => format!("attempt to compare two {x} values"),
        false => format!("attempt to compare {x} with {y}"),
    };
    vm.fail_plainly(args.frames(), message)
}

/// The first bytes as a number: what is greater as a number is greater as a text. Most comparisons need no more.
fn start_of(text: &[u8]) -> u64 {
    let mut start = [0; size_of::<u64>()];
    let len = text.len().min(start.len());
    start[..len].copy_from_slice(&text[..len]);
    u64::from_be_bytes(start)
}

/// Sorts a copy of the items, and brings them back.
fn sort_copied<T: Copy>(
    vm: &mut Vm,
    table: Gc<Table>,
    (items, value): (Vec<T>, fn(T) -> Value),
    less: impl Fn(T, T) -> bool,
) -> Result<()> {
    let count = items.len();
    let mut copied = Copied { items, less };
    sort_range(&mut copied, vm, 1, count as i64)?;
    let sorted = copied.items.into_iter().zip(table.elements());
    sorted.for_each(|(item, element)| element.set(value(item)));
    vm.heap.elements_move(table, 1..count + 1);
    Ok(())
}

pub(super) fn sort(vm: &mut Vm, frames: &Frames<'_>, values: &[Value]) -> Result<Value> {
    let args = Arguments::new(frames, values);
    let table = args.table(vm, 1)?;
    let count = table.length() as usize;
    let function = if args.get(2).is_nil() { None } else { Some(args.function(vm, 2)?) };
    let elements =
        table.elements().get(..count).filter(|elements| function.is_none() && !elements.is_empty());
    match elements.map(|elements| elements[0].get().type_of()) {
        Some(Type::Number) => {
            let numbers = elements.into_iter().flatten().map(|element| element.get().as_number());
            if let Some(numbers) = numbers.collect::<Option<Vec<f64>>>() {
                sort_copied(vm, table, (numbers, |number| Value(number.to_bits())), |a, b| a < b)?;
                return Ok(vm.give(&[]));
            }
        }
        Some(Type::String) => {
            let strings = elements.into_iter().flatten().map(|element| element.get().as_string());
            if let Some(strings) = strings.collect::<Option<Vec<Gc<Str>>>>() {
                let strings = strings.into_iter().map(|string| (start_of(string.bytes()), string)).collect();
                let less = |a: (u64, Gc<Str>), b: (u64, Gc<Str>)| match a.0 == b.0 {
                    true => a.1.bytes() < b.1.bytes(),
                    false => a.0 < b.0,
                };
                sort_copied(vm, table, (strings, |(_, string)| Value::string(string)), less)?;
                return Ok(vm.give(&[]));
            }
        }
        _ => {}
    }
    let kept = [Value::table(table), args.get(2), Value::NIL, Value::NIL];
    rooted(vm, &kept, |vm| {
        let held = vm.roots.len() - 2;
        sort_range(&mut Elements { args, table, function, held }, vm, 1, count as i64)
    })?;
    Ok(vm.give(&[]))
}

#[cfg(test)]
mod tests {
    use crate::library::tests::{check, check_error, error_of};

    /// What is in a table after it was sorted.
    fn sorted(table: &str, order: &str, expected: &str) {
        check(
            &format!("(function() local t = {table} table.sort(t{order}) return unpack_(t) end)()"),
            expected,
        );
    }

    #[test]
    fn elements_are_sorted() {
        sorted("{3, 1, 2}", "", "1 2 3");
        sorted("{}", "", "");
        sorted("{'b', 'a', 'c', 'B', ''}", "", "'' 'B' 'a' 'b' 'c'");
        sorted(
            "{'x', 'x\\0', 'longer than 8', 'x\\0\\0', 'longer t', 'longer than 7', '\\255', 'longer'}",
            "",
            "'longer' 'longer t' 'longer than 7' 'longer than 8' 'x' 'x\\x00' 'x\\x00\\x00' '\\xff'",
        );
        sorted("{5, 3, 9, 1, 7, 2}", ", function(a, b) return a > b end", "9 7 5 3 2 1");
        sorted("{5, 3, 9, 1, 7, 2}", ", nil", "1 2 3 5 7 9");
        check(
            "(function() local m = {__lt = function(a, b) return a.v < b.v end} local t = {} \
             for i = 1, 50 do t[i] = setmetatable({v = i * 37 % 53}, m) end table.sort(t) \
             for i = 2, 50 do if t[i].v < t[i - 1].v then return false end end return true end)()",
            "true",
        );
        check(
            "(function() local t, x = {}, 1 for i = 1, 2000 do x = x * 16807 % 2147483647 t[i] = x end table.sort(t) \
             for i = 2, #t do if t[i] < t[i - 1] then return i end end return #t end)()",
            "2000",
        );
    }

    #[test]
    fn wrong_orders_are_found() {
        check_error(
            "table.sort({3, 2, 1, 4, 5, 6, 7}, function() return true end)",
            "invalid order function for sorting",
        );
        assert_eq!(error_of("return table.sort({3, 1, 'x'})"), "attempt to compare string with number");
        assert_eq!(error_of("return table.sort({{}, {}})"), "attempt to compare two table values");
        check_error("table.sort({1, 2, 3}, 1)", "bad argument #2 to 'sort' (function expected, got number)");
    }
}
