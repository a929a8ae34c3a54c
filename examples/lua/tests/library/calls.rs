//! Random calls.
//!
//! In: the names of functions, and texts of arguments, right and wrong ones. Out: expressions.

use crate::compare;
use crate::random::Random;

/// Numbers that are written as they are.
const NUMBERS: &[&str] = &[
    "0", "1", "-1", "2", "3", "-2", "5", "10", "100", "-100", "1.5", "-2.5", "0.1", "1e15", "2^31", "-2^31",
    "2^53", "1e300", "-1e-300", "1/0", "-1/0", "0/0", "'7'", "' 0x10 '", "'1e1'", "'-3'",
];

/// Small numbers, so that nothing takes long.
const SMALL: &[&str] = &["0", "1", "-1", "2", "3", "4", "-2", "5", "8", "1.7", "'2'", "'3'", "-3.2"];

/// Texts.
const TEXTS: &[&str] = &[
    "''",
    "'a'",
    "'abc'",
    "'hello world'",
    "'a\\0b'",
    "'%'",
    "'x=1, y=2'",
    "'ABC'",
    "'\\200\\255'",
    "('ab'):rep(60)",
    "12",
    "-0.5",
];

/// Patterns.
const PATTERNS: &[&str] = &[
    "'a'",
    "''",
    "'%a+'",
    "'(%w)=(%w)'",
    "'^h'",
    "'o$'",
    "'l*'",
    "'()'",
    "'[a-c]'",
    "'[^%s]+'",
    "'.-'",
    "'%bxy'",
    "'%f[%w]'",
    "'(a'",
    "'a)'",
    "'['",
    "'%'",
    "'(.)%1'",
    "'%z'",
    "1",
    "'.'",
    "'%'",
];

/// Formats.
const FORMATS: &[&str] = &[
    "'%d'", "'%s'", "'%q'", "'%5.2f|'", "'%x'", "'%g'", "'%-8s|'", "'%c'", "'%%'", "'%i %s'", "'%w'",
    "'%.3s'", "'%05d'", "'%+.3e'", "'%o'", "'%10.4d'", "'x'", "'%u'",
];

/// Values of all types.
const ANY: &[&str] =
    &["nil", "true", "false", "{}", "{1, 2}", "io.type", "setmetatable({}, {__index = string})", "io.stdout"];

/// Tables with elements.
const TABLES: &[&str] = &[
    "{}",
    "{1}",
    "{1, 2, 3}",
    "{'a', 'b', 'c', 'd'}",
    "{3, 1, 2, 5, 4}",
    "{'x', 1, 2.5}",
    "{1, {}, 3}",
    "{x = 1, 'y'}",
    "{[1] = 1, [2] = 2}",
];

/// Functions to call back.
const FUNCTIONS: &[&str] = &[
    "function(a) return a end",
    "function() end",
    "function(a, b) return b end",
    "function() return 1 end",
    "function() return {} end",
    "function(a, b) return a < b end",
    "function() return false end",
    "{a = 'x', h = 1, l = false}",
    "'%0%0'",
    "'<%1>'",
    "'%2'",
];

/// Functions with what they take: each argument is one of a list.
const CALLS: &[(&str, &[&[&str]])] = &[
    ("string.byte", &[TEXTS, NUMBERS, NUMBERS]),
    ("string.char", &[SMALL, NUMBERS, SMALL]),
    ("string.find", &[TEXTS, PATTERNS, NUMBERS, ANY]),
    ("string.find", &[TEXTS, PATTERNS, SMALL]),
    ("string.format", &[FORMATS, NUMBERS, TEXTS]),
    ("string.format", &[FORMATS, TEXTS, NUMBERS]),
    ("string.gmatch", &[TEXTS, PATTERNS]),
    ("string.gsub", &[TEXTS, PATTERNS, FUNCTIONS, SMALL]),
    ("string.gsub", &[TEXTS, PATTERNS, FUNCTIONS]),
    ("string.len", &[TEXTS]),
    ("string.lower", &[TEXTS]),
    ("string.match", &[TEXTS, PATTERNS, NUMBERS]),
    ("string.rep", &[TEXTS, SMALL]),
    ("string.reverse", &[TEXTS]),
    ("string.sub", &[TEXTS, NUMBERS, NUMBERS]),
    ("string.upper", &[TEXTS]),
    ("table.concat", &[TABLES, TEXTS, SMALL, SMALL]),
    ("table.foreach", &[TABLES, FUNCTIONS]),
    ("table.foreachi", &[TABLES, FUNCTIONS]),
    ("table.getn", &[TABLES]),
    ("table.insert", &[TABLES, SMALL, ANY]),
    ("table.maxn", &[TABLES]),
    ("table.remove", &[TABLES, SMALL]),
    ("table.sort", &[TABLES, FUNCTIONS]),
    ("math.abs", &[NUMBERS]),
    ("math.ceil", &[NUMBERS]),
    ("math.floor", &[NUMBERS]),
    ("math.fmod", &[NUMBERS, NUMBERS]),
    ("math.frexp", &[NUMBERS]),
    ("math.ldexp", &[NUMBERS, NUMBERS]),
    ("math.max", &[NUMBERS, NUMBERS, NUMBERS]),
    ("math.min", &[NUMBERS, NUMBERS, NUMBERS]),
    ("math.modf", &[NUMBERS]),
    ("math.pow", &[NUMBERS, NUMBERS]),
    ("math.sqrt", &[NUMBERS]),
    ("math.exp", &[NUMBERS]),
    ("math.log", &[NUMBERS]),
    ("math.log10", &[NUMBERS]),
    ("math.sin", &[NUMBERS]),
    ("math.tan", &[NUMBERS]),
    ("math.atan2", &[NUMBERS, NUMBERS]),
    ("math.tanh", &[NUMBERS]),
    ("math.deg", &[NUMBERS]),
    ("os.difftime", &[NUMBERS, NUMBERS]),
    (
        "(function(f, t) return os.date(f, t or 1) end)",
        &[&["'!%c'", "'!%x %X'", "'!*t'", "'!%j %U %W %V %G'", "'!%Q%E'"], SMALL],
    ),
    ("io.type", &[ANY]),
    ("io.open", &[&["'/no/such/file'"], &["'r'", "'w'", "'x'", "nil", "''", "{}"]]),
];

/// A call, in which an argument may be wrong or missing.
fn call(random: &mut Random, (name, arguments): (&str, &[&[&str]])) -> String {
    let mut texts: Vec<&str> = arguments.iter().map(|choices| random.pick(choices)).collect();
    if random.one_in(3) {
        let count = random.below(texts.len() + 1);
        texts.truncate(count);
    }
    if random.one_in(6) && !texts.is_empty() {
        let at = random.below(texts.len());
        texts[at] = random.pick(ANY);
    }
    format!("{name}({})", texts.join(", "))
}

/// A number of any size.
fn number(random: &mut Random) -> String {
    let number = random.number();
    if number.is_finite() { format!("{number:e}") } else { random.pick(NUMBERS).to_string() }
}

#[test]
fn numbers_give_the_same() {
    const ONE: &[&str] = &[
        "abs", "acos", "asin", "atan", "ceil", "cos", "cosh", "deg", "exp", "floor", "frexp", "log", "log10",
        "modf", "rad", "sin", "sinh", "sqrt", "tan", "tanh",
    ];
    const TWO: &[&str] = &["atan2", "fmod", "ldexp", "max", "min", "pow"];
    let mut random = Random::new(25);
    let mut call = || {
        let (a, b) = (number(&mut random), number(&mut random));
        match random.one_in(2) {
            true => format!("math.{}({a})", random.pick(ONE)),
            false => format!(
                "math.{}({a}, {b}), math.ldexp({a}, {})",
                random.pick(TWO),
                random.below(300) as i32 - 150
            ),
        }
    };
    let expressions: Vec<String> = (0..6000).map(|_| call()).collect();
    compare("lua5.1", &expressions);
}

#[test]
fn calls_give_the_same() {
    let mut random = Random::new(20);
    let expressions: Vec<String> = (0..12_000)
        .map(|_| {
            let row = random.pick(CALLS);
            call(&mut random, row)
        })
        .collect();
    compare("lua5.1", &expressions);
}

#[test]
fn tables_change_the_same() {
    let mut random = Random::new(21);
    let mut program = || {
        let mut text = "(function() local t, r = {1, 2, 3}, {} ".to_string();
        for _ in 0..random.below(20) {
            let value = random.below(100);
            text += &match random.below(5) {
                0 => "table.remove(t) ".to_string(),
                1 => format!("if #t > 0 then r[#r + 1] = table.remove(t, {value} % #t + 1) end "),
                2 => format!("table.insert(t, {value} % (#t + 1) + 1, {value}) "),
                3 => "table.sort(t) ".to_string(),
                _ => format!("table.insert(t, {value}) "),
            };
        }
        text + "return table.concat(t, ' '), table.concat(r, ' '), #t, table.maxn(t) end)()"
    };
    let expressions: Vec<String> = (0..1000).map(|_| program()).collect();
    compare("lua5.1", &expressions);
}

#[test]
fn elements_are_compared_in_the_same_order() {
    /// Orders, of which some are none.
    const ORDERS: &[&str] = &[
        "a < b",
        "a > b",
        "a % 7 < b % 7",
        "a <= b",
        "true",
        "#log % 3 == 0",
        "a ~= b",
        "false",
        "a == nil or b == nil or a < b",
    ];
    let mut random = Random::new(22);
    let mut program = || {
        let elements: Vec<String> = (0..random.below(60)).map(|_| random.below(40).to_string()).collect();
        let order = random.pick(ORDERS);
        format!(
            "(function() local t, log = {{{}}}, {{}} table.sort(t, function(a, b) log[#log + 1] = (a or '-') .. '<' .. (b or '-') \
             return {order} end) return table.concat(t, ' '), table.concat(log, ' ') end)()",
            elements.join(", ")
        )
    };
    let expressions: Vec<String> = (0..1000).map(|_| program()).collect();
    compare("lua5.1", &expressions);
}

#[test]
fn files_are_read_the_same() {
    const ACTIONS: &[&str] = &[
        "f:read('*l')",
        "f:read('*n')",
        "f:read('*a')",
        "f:read(3)",
        "f:read(0)",
        "f:read('*n', '*l')",
        "f:read(2, '*n', 1)",
        "f:seek()",
        "f:seek('set')",
        "f:seek('cur', -2)",
        "f:seek('end', -5)",
        "f:seek('set', 4)",
        "f:read(100)",
        "f:lines()()",
        "f:read()",
    ];
    let mut random = Random::new(23);
    let mut program = || {
        let text: Vec<String> = random
            .text(b"0123456789 \n\n ax.+-eEnif", 40)
            .iter()
            .map(|byte| format!("\\{byte:03}"))
            .collect();
        let actions: Vec<&str> = (0..1 + random.below(8)).map(|_| random.pick(ACTIONS)).collect();
        format!(
            "(function() local f = io.tmpfile() f:write(\"{}\") f:seek('set') return {} end)()",
            text.concat(),
            actions.join(", ")
        )
    };
    let expressions: Vec<String> = (0..2000).map(|_| program()).collect();
    compare("lua5.1", &expressions);
}

#[test]
fn bits_are_those_of_luajit() {
    const TWO: &[&str] = &["band", "bor", "bxor", "lshift", "rshift", "arshift", "rol", "ror"];
    const ONE: &[&str] = &["tobit", "bnot", "bswap", "tohex"];
    let mut random = Random::new(24);
    let mut call = || {
        let (a, b) = (number(&mut random), number(&mut random));
        match random.below(3) {
            0 => format!("bit.{}({a})", random.pick(ONE)),
            1 => format!("bit.tohex({a}, {})", random.pick(SMALL)),
            _ => format!("bit.{}({a}, {b})", random.pick(TWO)),
        }
    };
    let expressions: Vec<String> = (0..4000).map(|_| call()).collect();
    compare("luajit", &expressions);
}
