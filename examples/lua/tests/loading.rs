//! A source that is ten times as long takes about ten times as long to load and to run once, whatever it consists of.
//!
//! Times are noisy, so that each is the best of some, and a shape is tried again if it seems to be slow. What is quadratic takes a hundred
//! times as long.

use azulejo_lua::api::{Lua, LuaFunction};
use std::time::{Duration, Instant};

/// How long the shorter text of each shape is, in parts, and how often it is in the longer one.
const PARTS: usize = 1500;
const RATIO: usize = 10;
/// How much longer the longer one may take for each part.
const GROWTH: f64 = 2.0;
/// How often a shape is tried.
const TRIES: usize = 8;
/// What takes less in all cannot be said to be slow.
const LITTLE: Duration = Duration::from_millis(2);

/// Texts that consist of parts of one sort: what is in front of them, one of them by its number, and what is behind them.
type Shape = (&'static str, &'static str, fn(usize) -> String, &'static str);

const SHAPES: &[Shape] = &[
    ("closures", "local s, t = 0, {}\n", |n| format!("t[{n}] = function() s = s + 1 return s end\n"), ""),
    ("methods", "local C = {}\n", |n| format!("function C:m{n}(a) self.f{n} = a end\n"), ""),
    ("local functions", "", |n| format!("do local function f{n}() return f{n} end end\n"), ""),
    ("calls", "local f = function(a) return a end\n", |n| format!("f({n})\n"), ""),
    ("globals", "", |n| format!("g{n} = {n}\n"), ""),
    ("fields", "local s = {}\n", |n| format!("s.a{n}, s.b{n} = {n}, {n}\n"), ""),
    ("strings", "return {", |n| format!("'s{n}', "), "}"),
    ("keys", "return {", |n| format!("k{n} = {n}, "), "}"),
    ("tables", "return {", |n| format!("{{ {n}, {{ a = {n} }} }}, "), "}"),
    ("sums", "local x = 1 return x", |_| " + x".into(), ""),
    ("conditions", "local x = 1 return x", |_| " and x".into(), ""),
    ("ways", "local x = ... if x then return 0\n", |n| format!("elseif x == {n} then x = {n}\n"), "end"),
    ("branches", "local s = 0\n", |n| format!("if s > {n} then s = s + 1 else s = s - 1 end\n"), ""),
    ("loops", "local s = 0\n", |_| "for i = 1, 2 do s = s + i end\n".into(), ""),
    ("comments", "", |n| format!("-- {n}\n--[[ {n} ]]\n"), ""),
    ("a string", "return '", |n| format!("{n}\\n"), "'"),
    ("lines", "return [[", |n| format!("{n}\n"), "]]"),
];

/// How long a text takes. Its name is the text itself, as that of a text that `loadstring` gets.
fn time(text: &str) -> Duration {
    let lua = Lua::new();
    let start = Instant::now();
    let chunk: LuaFunction = lua.load(text).set_name(text).into_function().expect("it is right");
    let (): () = chunk.call(()).expect("nothing is wrong");
    start.elapsed()
}

#[test]
fn longer_sources_take_as_much_longer() {
    for (name, start, part, end) in SHAPES {
        let text = |parts: usize| [*start, &(0..parts).map(part).collect::<String>(), end].concat();
        let (short, long) = (text(PARTS), text(PARTS * RATIO));
        let (mut short_time, mut long_time) = (Duration::MAX, Duration::MAX);
        let is_quick = (0..TRIES).any(|_| {
            short_time = short_time.min(time(&short));
            long_time = long_time.min(time(&long));
            long_time < LITTLE || long_time < short_time.mul_f64(RATIO as f64 * GROWTH)
        });
        assert!(is_quick, "{name}: {short_time:?} and {long_time:?}");
    }
}
