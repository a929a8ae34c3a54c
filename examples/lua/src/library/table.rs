//! `table`. Nothing here asks metatables: C's Lua reads and writes the tables themselves.

use super::{Arguments, Natives, register, rooted, sort};
use crate::number;
use crate::object::heap::Gc;
use crate::object::table::{Position, Table};
use crate::object::value::Value;
use crate::run::error::Result;
use crate::run::vm::Vm;
use azulejo::Frames;

const NATIVES: &Natives = &[
    ("concat", concat),
    ("foreach", foreach),
    ("foreachi", foreachi),
    ("getn", getn),
    ("insert", insert),
    ("maxn", maxn),
    ("remove", remove),
    ("setn", setn),
    ("sort", sort::sort),
];

/// Makes `table`.
pub(super) fn open(vm: &mut Vm) {
    register(vm, "table", NATIVES);
}

/// Assigns to an element.
pub(super) fn set_element(
    vm: &mut Vm,
    frames: &Frames<'_>,
    table: Gc<Table>,
    at: i64,
    value: Value,
) -> Result<()> {
    if let Some(element) = table.elements().get((at as usize).wrapping_sub(1)) {
        element.set(value);
        vm.heap.wrote(table, value);
        return Ok(());
    }
    match vm.heap.set_integer(table, at, value) {
        Ok(()) => Ok(()),
        Err(error) => vm.fail_on_key(frames, error),
    }
}

fn insert(vm: &mut Vm, frames: &Frames<'_>, values: &[Value]) -> Result<Value> {
    let args = Arguments::new(frames, values);
    let table = args.table(vm, 1)?;
    let end = i64::from(table.length()) + 1;
    match args.len() {
        2 => set_element(vm, frames, table, end, args.get(2))?,
        3 => {
            let at = i64::from(args.int(vm, 2)?);
            if at >= 1 && end <= i64::from(table.array_end.get()) && at < end {
                insert_between(vm, frames, table, at, end, args.get(3))?;
            } else {
                for place in (at + 1..=end).rev() {
                    // A place may be far away.
                    if place % (1 << 16) == 0 {
                        vm.look_for_stop()?;
                    }
                    set_element(vm, frames, table, place, table.get_integer(place - 1))?;
                }
                set_element(vm, frames, table, at, args.get(3))?;
            }
        }
        _ => return args.fail(vm, "wrong number of arguments to 'insert'"),
    }
    Ok(vm.give(&[]))
}

/// Inserts an element where all behind it are in the array.
fn insert_between(
    vm: &mut Vm,
    frames: &Frames<'_>,
    table: Gc<Table>,
    at: i64,
    end: i64,
    value: Value,
) -> Result<()> {
    set_element(vm, frames, table, end, table.get_integer(end - 1))?;
    let elements = table.elements();
    for place in (at as usize..end as usize - 1).rev() {
        elements[place].set(elements[place - 1].get());
    }
    vm.heap.elements_move(table, at as usize..end as usize + 1);
    set_element(vm, frames, table, at, value)
}

fn remove(vm: &mut Vm, frames: &Frames<'_>, values: &[Value]) -> Result<Value> {
    let args = Arguments::new(frames, values);
    let table = args.table(vm, 1)?;
    let end = i64::from(table.length());
    let at = i64::from(args.int_or(vm, 2, end as i32)?);
    if !(1..=end).contains(&at) {
        return Ok(vm.give(&[]));
    }
    let removed = table.get_integer(at);
    match table.elements().get(at as usize - 1..end as usize) {
        Some(elements) => {
            elements.windows(2).for_each(|pair| pair[0].set(pair[1].get()));
            vm.heap.elements_move(table, at as usize..end as usize);
        }
        None => {
            for place in at..end {
                set_element(vm, frames, table, place, table.get_integer(place + 1))?;
            }
        }
    }
    set_element(vm, frames, table, end, Value::NIL)?;
    Ok(removed)
}

fn concat(vm: &mut Vm, frames: &Frames<'_>, values: &[Value]) -> Result<Value> {
    let args = Arguments::new(frames, values);
    let separator = args.optional_string(vm, 2)?.filter(|text| !text.is_empty());
    let table = args.table(vm, 1)?;
    let first = i64::from(args.int_or(vm, 3, 1)?);
    let last = match args.get(4).is_nil() {
        true => i64::from(table.length()),
        false => i64::from(args.int(vm, 4)?),
    };
    let mut out = vm.library.take_buffer();
    for at in first..=last {
        let value = table.get_integer(at);
        match (value.as_string(), value.as_number()) {
            (Some(text), _) => {
                vm.make_room(&mut out, text.len())?;
                text.append_to(&mut out);
            }
            (_, Some(number)) => {
                vm.make_room(&mut out, number::MOST_BYTES)?;
                number::write(number, &mut out);
            }
            _ => {
                let name = value.type_of().name();
                return args.fail(vm, format!("invalid value ({name}) at index {at} in table for 'concat'"));
            }
        }
        if at < last
            && let Some(separator) = separator
        {
            vm.make_room(&mut out, separator.len())?;
            separator.append_to(&mut out);
        }
    }
    let result = vm.new_string(&out);
    vm.library.bring_back(out);
    result
}

fn getn(vm: &mut Vm, frames: &Frames<'_>, values: &[Value]) -> Result<Value> {
    let table = Arguments::new(frames, values).table(vm, 1)?;
    Ok(Value::number(f64::from(table.length())))
}

fn setn(vm: &mut Vm, frames: &Frames<'_>, values: &[Value]) -> Result<Value> {
    let args = Arguments::new(frames, values);
    args.table(vm, 1)?;
    args.fail(vm, "'setn' is obsolete")
}

fn maxn(vm: &mut Vm, frames: &Frames<'_>, values: &[Value]) -> Result<Value> {
    let table = Arguments::new(frames, values).table(vm, 1)?;
    let (mut greatest, mut at) = (0.0, Position::START);
    while let Some((position, key, _)) = table.behind(at) {
        greatest = key.as_number().filter(|number| *number > greatest).unwrap_or(greatest);
        at = position;
    }
    Ok(Value::number(greatest))
}

fn foreach(vm: &mut Vm, frames: &Frames<'_>, values: &[Value]) -> Result<Value> {
    let args = Arguments::new(frames, values);
    let (table, function) = (args.table(vm, 1)?, args.function(vm, 2)?);
    let before = vm.roots.len();
    rooted(vm, &[Value::table(table), function, Value::NIL], |vm| {
        let mut key = Value::NIL;
        loop {
            let value = match table.next(key) {
                Ok(Some((next, value))) => {
                    key = next;
                    vm.roots[before + 2] = key;
                    value
                }
                Ok(None) => return Ok(vm.give(&[])),
                Err(_) => return vm.fail_plainly(frames, "invalid key to 'next'"),
            };
            let result = args.call(vm, function, &[key, value])?;
            if !result.is_nil() {
                return Ok(vm.give(&[result]));
            }
        }
    })
}

fn foreachi(vm: &mut Vm, frames: &Frames<'_>, values: &[Value]) -> Result<Value> {
    let args = Arguments::new(frames, values);
    let table = args.table(vm, 1)?;
    let count = i64::from(table.length());
    let function = args.function(vm, 2)?;
    rooted(vm, &[Value::table(table), function], |vm| {
        for at in 1..=count {
            let result = args.call(vm, function, &[Value::number(at as f64), table.get_integer(at)])?;
            if !result.is_nil() {
                return Ok(vm.give(&[result]));
            }
        }
        Ok(vm.give(&[]))
    })
}

#[cfg(test)]
mod tests {
    use crate::library::tests::{check, check_error};

    /// What is left of a table after a statement.
    fn after(statement: &str, table: &str, expected: &str) {
        check(&format!("(function() local t = {table} {statement} return unpack_(t) end)()"), expected);
    }

    #[test]
    fn elements_come_and_go() {
        after("table.insert(t, 4) table.insert(t, 5)", "{1, 2, 3}", "1 2 3 4 5");
        after("table.insert(t, 1, 'a') table.insert(t, 3, 'b')", "{1, 2}", "'a' 1 'b' 2");
        after("table.insert(t, 3, 'c')", "{1, 2}", "1 2 'c'");
        after("table.insert(t, 1, 0)", "{[1] = 1, [2] = 2}", "0 1 2");
        after("t.removed = table.remove(t, 1) t[3] = t.removed", "{1, 2, 3}", "2 3 1");
        after("t[1] = table.remove(t) + table.remove(t)", "{1, 2, 3}", "5");
        check("table.remove({}), 1", "nil 1");
        check("table.remove({1, 2, 3}, 4)", "");
        check("table.remove({1, 2, 3}, 3)", "3");
        check("(function() local t = {1, 2} table.insert(t, 10, 'x') return t[10], t[3] end)()", "'x' nil");
        check(
            "(function() local t = {1, 2} table.insert(t, -1, 'x') return t[-1], t[0], t[1], t[2], t[3] end)()",
            "'x' nil nil 1 2",
        );
    }

    #[test]
    fn elements_are_read() {
        check(
            "table.concat({1, 'b', 2.5}, ', '), table.concat({1, 2, 3}, '-', 2), table.concat({}, 'x')",
            "'1, b, 2.5' '2-3' ''",
        );
        check("table.concat({1, 2}, ',', 2, 1), table.concat({[0] = 'a', 'b'}, '', 0)", "'' 'ab'");
        check("table.getn({1, 2}), table.maxn({1, [7.5] = 0, [-1] = 0, x = 1}), table.maxn({})", "2 7.5 0");
        check(
            "(function() local n = 0 table.foreach({1, 2, x = 5}, function(k, v) n = n + v end) return n end)()",
            "8",
        );
        check("table.foreachi({4, 5, 6}, function(i, v) if v == 5 then return i end end)", "2");
        check("table.foreach({}, function() return 1 end)", "");
    }

    #[test]
    fn errors() {
        check_error("table.insert(nil, 1)", "bad argument #1 to 'insert' (table expected, got nil)");
        check_error("table.insert({1})", "wrong number of arguments to 'insert'");
        check_error("table.concat({1, {}, 3})", "invalid value (table) at index 2 in table for 'concat'");
        check_error("table.setn({}, 1)", "'setn' is obsolete");
        check_error("table.foreach({}, 1)", "bad argument #2 to 'foreach' (function expected, got number)");
    }
}
