//! Quick functions: what functions of the library do with a few arguments of the right types. Templates call them as they call C, and
//! show no frames to them; so the optimizer keeps what it knows across such a call.
//!
//! In: arguments, as many as the function is called with. Out: the first result, or [`Value::ABSENT`], if the arguments are others than it
//! takes. Then the function of the library is called as any other is: it converts them, or fails.
//!
//! **Invariant:** a quick function that gives [`Value::ABSENT`] has changed nothing. None fails, calls back, or lets the collector work.

use super::bit::bits_of;
use crate::number;
use crate::object::function::{Native, Quick};
use crate::object::heap::{Gc, ObjectKind};
use crate::object::value::{FUNCTION, Value};
use crate::run::cases::{
    ABSOLUTE, ALLOCATES, BYTE, CEILING, COMPUTES, FLOOR, GIVES_METATABLE, LARGER, PART, SMALLER, SQUARE_ROOT,
};
use crate::run::results::QUICK;
use crate::run::vm::Vm;
use crate::strings::transform;

type One = extern "C" fn(&mut Vm, Value) -> Value;
type Two = extern "C" fn(&mut Vm, Value, Value) -> Value;
type Three = extern "C" fn(&mut Vm, Value, Value, Value) -> Value;

/// A quick function, by how many arguments it takes.
enum Arity {
    One(One),
    Two(Two),
    Three(Three),
}

/// A quick function of these arguments, which gives one result.
macro_rules! quick {
    ($arity:ident, |$vm:pat_param $(, $argument:ident)*| $body:expr) => {{
        extern "C" fn quick(vm: &mut Vm $(, $argument: Value)*) -> Value {
            #[inline(always)]
            fn compute($vm: &mut Vm $(, $argument: Value)*) -> Option<Value> {
                $body
            }
            match compute(vm $(, $argument)*) {
                Some(result) => {
                    vm.results.count = 1;
                    result
                }
                None => Value::ABSENT,
            }
        }
        Arity::$arity(quick)
    }};
}

/// A quick function from a number to a number.
macro_rules! of_number {
    ($function:expr) => {
        quick!(One, |_, a| Some(Value::number($function(a.as_number()?))))
    };
}

/// A quick function from two numbers to a number.
macro_rules! of_numbers {
    ($function:expr) => {
        quick!(Two, |_, a, b| Some(Value::number($function(a.as_number()?, b.as_number()?))))
    };
}

/// A quick function from the bits of two numbers to bits.
macro_rules! of_bits {
    ($function:expr) => {
        of_numbers!(|a, b| of_result($function(bits_of(a), bits_of(b))))
    };
}

fn of_result(bits: u32) -> f64 {
    f64::from(bits as i32)
}

/// What templates compute themselves of this many arguments, and how calls know it. If they are others than templates take, the quick
/// function is called, where there is one.
const IN_TEMPLATES: &[(&str, &str, usize, u32)] = &[
    ("math", "floor", 1, FLOOR),
    ("math", "sqrt", 1, SQUARE_ROOT),
    ("math", "abs", 1, ABSOLUTE),
    ("math", "ceil", 1, CEILING),
    ("string", "byte", 2, BYTE),
    ("math", "max", 2, LARGER),
    ("math", "min", 2, SMALLER),
    ("_G", "setmetatable", 2, GIVES_METATABLE),
    ("string", "sub", 3, PART),
];

/// What computes: library, name, function.
const COMPUTING: &[(&str, &str, Arity)] = &[
    ("math", "cos", of_number!(f64::cos)),
    ("math", "exp", of_number!(f64::exp)),
    ("math", "log", of_number!(f64::ln)),
    ("math", "sin", of_number!(f64::sin)),
    ("math", "atan2", of_numbers!(f64::atan2)),
    ("math", "fmod", of_numbers!(|a: f64, b: f64| a % b)),
    ("math", "max", of_numbers!(|a, b| if b > a { b } else { a })),
    ("math", "min", of_numbers!(|a, b| if b < a { b } else { a })),
    ("math", "pow", of_numbers!(crate::number::power)),
    ("bit", "bnot", of_number!(|a| of_result(!bits_of(a)))),
    ("bit", "tobit", of_number!(|a| of_result(bits_of(a)))),
    ("bit", "arshift", of_bits!(|a, count| (a as i32 >> (count & 31)) as u32)),
    ("bit", "band", of_bits!(|a, b| a & b)),
    ("bit", "bor", of_bits!(|a, b| a | b)),
    ("bit", "bxor", of_bits!(|a, b| a ^ b)),
    ("bit", "lshift", of_bits!(|a: u32, count| a << (count & 31))),
    ("bit", "rol", of_bits!(u32::rotate_left)),
    ("bit", "ror", of_bits!(u32::rotate_right)),
    ("bit", "rshift", of_bits!(|a: u32, count| a >> (count & 31))),
    ("string", "byte", quick!(One, |_, text| byte_at(text, 1))),
    ("string", "byte", quick!(Two, |_, text, at| byte_at(text, at.as_integer()?))),
    ("string", "len", quick!(One, |_, text| Some(Value::number(text.as_string()?.len() as f64)))),
    ("math", "random", quick!(One, |vm, high| random(vm, 1, high.as_integer()?))),
    ("math", "random", quick!(Two, |vm, low, high| random(vm, low.as_integer()?, high.as_integer()?))),
    ("_G", "getmetatable", quick!(One, |vm, value| metatable(vm, value))),
    ("_G", "ipairs", Arity::One(ipairs)),
    ("_G", "next", Arity::One(first_pair)),
    ("_G", "next", Arity::Two(next_pair)),
    ("_G", "pairs", Arity::One(pairs)),
    ("_G", "unpack", Arity::One(unpack)),
    ("_G", "assert", quick!(One, |_, value| value.is_true().then_some(value))),
    ("_G", "rawequal", quick!(Two, |_, a, b| Some(Value::bool(a.is_raw_equal(b))))),
    ("_G", "rawget", quick!(Two, |_, table, key| Some(table.as_table()?.get(key)))),
    ("_G", "tonumber", quick!(One, |_, value| Some(Vm::to_number(value).map_or(Value::NIL, Value::number)))),
    ("_G", "type", quick!(One, |vm, value| Some(Value::string(vm.names.types[value.type_of() as usize])))),
];

/// What makes objects, or may, or changes tables.
const ALLOCATING: &[(&str, &str, Arity)] = &[
    ("string", "char", quick!(One, |vm, byte| character(vm, byte))),
    ("string", "sub", quick!(Two, |vm, text, first| part(vm, text, first, -1))),
    ("string", "sub", quick!(Three, |vm, text, first, last| part(vm, text, first, last.as_integer()?))),
    ("table", "insert", Arity::Two(insert)),
    ("table", "remove", quick!(One, |_, table| table.as_table()?.pop())),
    ("_G", "setmetatable", quick!(Two, |vm, of, meta| set_metatable(vm, of, meta))),
    ("_G", "tostring", quick!(One, |vm, value| text(vm, value))),
];

/// The byte at a position, if there is one.
fn byte_at(text: Value, at: i64) -> Option<Value> {
    let text = text.as_string()?;
    let [byte] = text.bytes()[transform::byte_range(text.len(), at, None)] else { return None };
    Some(Value::number(f64::from(byte)))
}

fn character(vm: &mut Vm, byte: Value) -> Option<Value> {
    let byte = u8::try_from(byte.as_integer()?).ok()?;
    Some(Value::string(vm.heap.string(&[byte])))
}

fn part(vm: &mut Vm, text: Value, first: Value, last: i64) -> Option<Value> {
    let text = text.as_string()?;
    let range = transform::sub_range(text.len(), first.as_integer()?, last);
    let is_all = range.len() == text.len();
    let part = if is_all { text } else { vm.heap.try_string(&text.bytes()[range])? };
    Some(Value::string(part))
}

/// A whole number from one to another.
fn random(vm: &mut Vm, low: i64, high: i64) -> Option<Value> {
    let [low, high] = [i32::try_from(low).ok()?, i32::try_from(high).ok()?];
    (low <= high).then(|| Value::number(vm.library.random.between(low, high)))
}

fn metatable(vm: &mut Vm, value: Value) -> Option<Value> {
    let Some(meta) = vm.metatable(value) else { return Some(Value::NIL) };
    meta.get_string(vm.names.metatable).is_nil().then(|| Value::table(meta))
}

/// Gives a table its first metatable.
fn set_metatable(vm: &mut Vm, of: Value, meta: Value) -> Option<Value> {
    let (table, meta) = (of.as_table()?, meta.as_table()?);
    if table.metatable().is_some() {
        return None;
    }
    vm.heap.set_metatable(table, Some(meta));
    Some(of)
}

/// The text of a string or of a number, if no metatable says another.
fn text(vm: &mut Vm, value: Value) -> Option<Value> {
    if let Some(meta) = vm.metatable(value)
        && !meta.get_string(vm.names.to_string).is_nil()
    {
        return None;
    }
    if value.as_string().is_some() {
        return Some(value);
    }
    let number = value.as_number()?;
    let mut text = vm.library.take_buffer();
    number::write(number, &mut text);
    let string = vm.heap.string(&text);
    vm.library.bring_back(text);
    Some(Value::string(string))
}

/// What `next` gives for a key.
#[inline(always)]
fn behind(vm: &mut Vm, table: Value, key: Value) -> Value {
    match table.as_table().map(|table| table.next(key)) {
        Some(Ok(Some((key, value)))) => vm.results.give(&[key, value]),
        Some(Ok(None)) => vm.results.give(&[Value::NIL]),
        _ => Value::ABSENT,
    }
}

extern "C" fn first_pair(vm: &mut Vm, table: Value) -> Value {
    behind(vm, table, Value::NIL)
}

extern "C" fn next_pair(vm: &mut Vm, table: Value, key: Value) -> Value {
    behind(vm, table, key)
}

/// Begins a loop with a function, if it is there.
#[inline(always)]
fn begin_loop(vm: &mut Vm, function: Value, table: Value, control: Value) -> Value {
    if function == Value::ABSENT || table.as_table().is_none() {
        return Value::ABSENT;
    }
    vm.results.give(&[function, table, control])
}

extern "C" fn pairs(vm: &mut Vm, table: Value) -> Value {
    begin_loop(vm, vm.each_pair, table, Value::NIL)
}

extern "C" fn ipairs(vm: &mut Vm, table: Value) -> Value {
    begin_loop(vm, vm.each_index, table, Value::number(0.0))
}

/// Gives the elements of a table, if they are few.
extern "C" fn unpack(vm: &mut Vm, table: Value) -> Value {
    let Some(table) = table.as_table() else { return Value::ABSENT };
    let count = table.length();
    match table.indexed().get(1..=count as usize) {
        Some([]) => vm.results.give(&[]),
        Some([first, rest @ ..]) if rest.len() <= QUICK => {
            vm.results.give_first(first.get(), rest.iter().map(std::cell::Cell::get))
        }
        _ => Value::ABSENT,
    }
}

/// Adds an element behind the last one; has no result.
extern "C" fn insert(vm: &mut Vm, table: Value, value: Value) -> Value {
    let Some(table) = table.as_table() else { return Value::ABSENT };
    let end = i64::from(table.length()) + 1;
    if vm.heap.set_integer(table, end, value).is_err() {
        return Value::ABSENT;
    }
    vm.results.count = 0;
    Value::NIL
}

/// Lets calls know the quick functions, when the library is there.
pub(super) fn open(vm: &mut Vm) {
    for (all, allocates) in [(COMPUTING, false), (ALLOCATING, true)] {
        for (library, name, arity) in all {
            let (arguments, address) = match *arity {
                Arity::One(function) => (1, function as usize),
                Arity::Two(function) => (2, function as usize),
                Arity::Three(function) => (3, function as usize),
            };
            let kind = if allocates { ALLOCATES } else { COMPUTES };
            native(vm, library, name).add_quick(arguments, Quick { address: address as u64, kind });
        }
    }
    for (library, name, arguments, kind) in IN_TEMPLATES {
        let native = native(vm, library, name);
        let address = native.quick(*arguments).map_or(0, |quick| quick.address);
        native.add_quick(*arguments, Quick { address, kind: *kind });
    }
}

/// A function of the library.
fn native(vm: &mut Vm, library: &str, name: &str) -> Gc<Native> {
    let [library, name] = [library, name].map(|name| vm.heap.permanent_string(name.as_bytes()));
    let table = vm.globals.get_string(library).as_table().expect("the library is open");
    let function = table.get_string(name).as_object(FUNCTION).expect("it is a function of the library");
    assert_eq!(table.get_string(name).object_kind(), Some(ObjectKind::Native), "it is written in Rust");
    function
}

#[cfg(test)]
mod tests {
    use crate::library::tests::{check, check_error};

    /// Calls the function so often that calls know it, with arguments of the right types, and then with others.
    fn mixed(call: &str, others: &str, expected: &str) {
        let program = format!(
            "local function f(...) local a, b, c = ... return {call} end
            local results = {{}}
            for _, args in ipairs({{ {others} }}) do
                for _ = 1, 3 do results[#results + 1] = tostring(f(unpack(args, 1, 3))) end
            end
            return table.concat(results, ' ')"
        );
        check(&format!("(function() {program} end)()"), &format!("'{expected}'"));
    }

    #[test]
    fn arguments_of_other_types_are_converted() {
        mixed("math.floor(a)", "{ 1.5 }, { '2.5' }, { -0.5 }", "1 1 1 2 2 2 -1 -1 -1");
        mixed(
            "math.max(a, b)",
            "{ 1, 2 }, { '7', 2 }, { 0/0, 1 }",
            "2 2 2 7 7 7 nan nan nan".replace("nan", "-nan").as_str(),
        );
        mixed(
            "string.sub(a, b, c)",
            "{ 'abc', 2, 2 }, { 12345, '2', 4 }, { 'abc', 5, 9 }",
            "b b b 234 234 234   ",
        );
        mixed("math.min(a, b)", "{ 1, 2 }, { 7, '2' }, { -0.0, 0 }", "1 1 1 2 2 2 -0 -0 -0");
        mixed("math.abs(a)", "{ -1.5 }, { '-2.5' }, { -0.0 }", "1.5 1.5 1.5 2.5 2.5 2.5 0 0 0");
        mixed("math.ceil(a)", "{ 1.5 }, { '2.5' }, { -0.5 }", "2 2 2 3 3 3 -0 -0 -0");
        mixed("string.byte(a, b)", "{ 'abc', 2 }, { 'abc', -1 }, { 99, 1 }", "98 98 98 99 99 99 57 57 57");
        mixed(
            "string.byte(a, b)",
            "{ 'abc', 3 }, { 'abc', 1.9 }, { '\\255', 1 }",
            "99 99 99 97 97 97 255 255 255",
        );
        mixed("select('#', string.byte(a, b))", "{ 'abc', 4 }, { 'abc', 0 }, { '', 1 }", "0 0 0 0 0 0 0 0 0");
        mixed("bit.band(a, b)", "{ 7, 10 }, { -1, '255' }, { 2^32 + 5, 4 }", "2 2 2 255 255 255 4 4 4");
        mixed(
            "type(a)",
            "{ 1 }, { 'x' }, { print }",
            "number number number string string string function function function",
        );
    }

    #[test]
    fn the_last_element_is_taken_from_any_table() {
        let tables = "{ {1, 2, 3} }, { {1, n = 2} }, { {} }, { {1, [3] = 4, [4] = 5} }, { {1, nil, 3} }, { setmetatable({1, 2}, {__index = {7, 8, 9}}) }";
        mixed(
            "(table.remove(a)) or 'none'",
            tables,
            "3 2 1 1 none none none none none 1 none none 3 1 none 2 1 none",
        );
    }

    #[test]
    fn results_are_counted() {
        check("select('#', string.byte('abc', 9)), select('#', string.byte('abc', 2))", "0 1");
        check("(function(t) return select('#', table.insert(t, 5)), #t end)({})", "0 1");
        check(
            "(function(t) return select('#', table.remove(t)), select('#', table.remove(t)), #t end)({5})",
            "1 0 0",
        );
        check("select('#', assert(1, 2, 3)), select('#', assert(1))", "3 1");
    }

    #[test]
    fn what_is_wrong_is_told_as_ever() {
        let wrong = |body: &str, message: &str| check_error(&format!("(function() {body} end)()"), message);
        wrong(
            "for i = 1, 5 do math.floor(i < 5 and i or {}) end",
            "bad argument #1 to 'floor' (number expected, got table)",
        );
        wrong(
            "for i = 1, 5 do table.insert(i < 5 and {} or i, 1) end",
            "bad argument #1 to 'insert' (table expected, got number)",
        );
        wrong(
            "for i = 1, 5 do math.sqrt(i < 5 and i or nil) end",
            "bad argument #1 to 'sqrt' (number expected, got nil)",
        );
        wrong("for i = 1, 5 do assert(i < 5) end", "assertion failed!");
    }
}
