//! Writes programs at random.
//!
//! In: a seed. Out: the text of a program that ends soon, prints the same each time, and tries numbers, texts, tables, closures,
//! varargs, loops, calls, objects, coroutines, collections and errors in mixed order. Most values have the type that the place wants; now and then one has not, so
//! that messages are compared, too. Three things are left out, since an implementation may choose them: the order of `pairs`, the
//! length of a table with holes, and the sign of a not-a-number. No arithmetic has only literals: C's Lua folds that, and then
//! takes 0 and -0 for one constant.

use std::fmt::Write;

/// What programs start with. `fuel` ends programs that would call for too long.
const PRELUDE: &str = "\
local fuel
local floor, select, tostring, type, sub, pcall = math.floor, select, tostring, type, string.sub, pcall
local function text(x)
  if x ~= x then return 'nan' end
  if type(x) == 'string' then return sub(x, 1, 12) end
  return x
end
local function show(...)
  local parts = {}
  for i = 1, select('#', ...) do
    local x = select(i, ...)
    local kind = type(x)
    if x ~= x then x = 'nan' elseif kind == 'table' or kind == 'function' then x = kind else x = tostring(x) end
    parts[i] = x
  end
  print(table.concat(parts, ' '))
end
local meta = {
  __index = function(t, k) return k end,
  __add = function(a, b) return 1 end,
  __concat = function(a, b) return 'joined' end,
  __lt = function(a, b) return false end,
  __call = function(self, a) return a end,
  __unm = function(a) return 7 end,
  __le = function(a, b) return true end,
}
local base = { get = function(self, k) return self.x + k end, name = 'base' }
local class = setmetatable({ set = function(self, v) self.x = v return self end }, { __index = base })
class.__index, class.__eq = class, function(a, b) return a.x == b.x end
local function new(x) return setmetatable({ x = x }, class) end
local o, p = new(1), new(2)
local u1, u2, u3 = 1, 'up', nil
g1, g2, g3 = 10, 'global', 0.5
local t, l, m = { x = 1, y = 'why', [3] = 2.5 }, { 1, 2, 3 }, setmetatable({}, meta)
";

/// Rounds in which all functions are called: code that runs often climbs to better tiers.
const ROUNDS: usize = 40;

/// A sequence of numbers (xorshift64*).
struct Dice(u64);

impl Dice {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) as usize % n
    }

    fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.below(from.len())]
    }
}

/// What a place wants.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Number,
    Text,
    Any,
}

/// A program that grows.
pub(crate) struct Writer {
    dice: Dice,
    out: String,
    indent: usize,
    /// The locals that can be seen, with the kinds of their values.
    locals: Vec<(String, Kind)>,
    names: usize,
    functions: usize,
    /// Loops around the place.
    loops: usize,
}

/// The program of a seed.
pub(crate) fn program(seed: u64) -> String {
    let state = (seed * 2 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let (out, locals) = (PRELUDE.to_string(), Vec::new());
    let mut writer = Writer { dice: Dice(state), out, indent: 0, locals, names: 0, functions: 0, loops: 0 };
    for _ in 0..2 + writer.dice.below(4) {
        writer.function();
    }
    writer.line(&format!("for round = 1, {ROUNDS} do"));
    writer.indent += 1;
    for at in 1..=writer.functions {
        writer.line("fuel = 400");
        let (a, b) = (writer.literal(Kind::Number), writer.literal(Kind::Any));
        let call = format!("pcall(f{at}, round, {a}, {b})");
        writer.line(&format!("if round % 8 == 1 then show({at}, {call}) else {call} end"));
    }
    writer.indent -= 1;
    writer.line("end");
    writer.line("show(u1, u2, u3, g1, g2, g3, t.x, t.y, t[1], t[3], #l, l[1], l[#l])");
    writer.out
}

impl Writer {
    fn line(&mut self, text: &str) {
        let indent = self.indent * 2;
        writeln!(self.out, "{:indent$}{text}", "").expect("a text can be written to");
    }

    fn name(&mut self) -> String {
        self.names += 1;
        format!("v{}", self.names)
    }

    fn function(&mut self) {
        let at = self.functions + 1;
        self.line(&format!("local function f{at}(a, b, ...)"));
        self.locals = vec![("a".to_string(), Kind::Number), ("b".to_string(), Kind::Any)];
        self.indent += 1;
        self.line("fuel = fuel - 1");
        self.line("if fuel < 0 then error('no fuel', 0) end");
        self.statements(4, 3);
        let values = [self.expression(Kind::Number, 2), self.expression(Kind::Any, 2)];
        let last = self.dice.pick(&["", ", ...", ", (...)", ", select('#', ...)"]).to_string();
        self.line(&format!("return {}{last}", values.join(", ")));
        self.indent -= 1;
        self.line("end");
        self.functions = at;
    }

    /// Statements in the block that is open.
    fn statements(&mut self, count: usize, depth: usize) {
        for _ in 0..1 + self.dice.below(count) {
            self.statement(depth);
        }
    }

    /// A block of its own: its locals are not seen after it.
    fn block(&mut self, head: &str, depth: usize) {
        self.line(head);
        let seen = self.locals.len();
        self.inside(depth);
        self.locals.truncate(seen);
    }

    fn inside(&mut self, depth: usize) {
        self.indent += 1;
        self.statements(3, depth - 1);
        if self.loops > 0 && self.dice.one_in(8) {
            let condition = self.condition(1);
            self.line(&format!("if {condition} then break end"));
        }
        self.indent -= 1;
    }

    fn statement(&mut self, depth: usize) {
        let choice = self.dice.below(if depth == 0 { 11 } else { 20 });
        match choice {
            0 | 1 => {
                let kind = self.kind();
                let (name, value) = (self.name(), self.expression(kind, 2));
                self.line(&format!("local {name} = {value}"));
                self.locals.push((name, kind));
            }
            2 | 3 => {
                let (name, kind) = self.target();
                let value = self.expression(kind, 3);
                self.line(&format!("{name} = {value}"));
            }
            4 => {
                let ((one, first), (two, second)) = (self.target(), self.target());
                let (left, right) = (self.expression(first, 1), self.expression(second, 1));
                self.line(&format!("{one}, {two} = {left}, {right}"));
            }
            5 => {
                let value = self.expression(Kind::Number, 2);
                self.line(&format!("l[#l % 50 + 1] = {value} or 0"));
            }
            6 => {
                let (key, value) = (self.expression(Kind::Any, 1), self.expression(Kind::Any, 2));
                self.line(&format!("t[{key}] = {value}"));
            }
            7 => {
                let value = self.expression(Kind::Any, 2);
                let (key, kept) = (self.dice.pick(&["x", "y", "z"]), self.dice.pick(&["t", "t", "m"]));
                self.line(&format!("{kept}.{key} = {value}"));
            }
            8 => self.call_statement(),
            9 => {
                let (object, value) =
                    (self.dice.pick(&["o", "p"]).to_string(), self.expression(Kind::Number, 2));
                self.line(&format!("u1 = {object}:set({value}):get(#l)"));
            }
            10 => {
                let how = self.dice.pick(&["'step'", "'step', 20", "'collect'", "'count'"]).to_string();
                self.line(&format!("if #l % 3 == 0 then collectgarbage({how}) end"));
            }
            11 | 12 => self.condition_statement(depth),
            13 | 14 => self.counted(depth),
            15 => self.other_loop(depth),
            16 => self.closure(depth),
            17 => self.coroutine(depth),
            _ => self.protected(depth),
        }
    }

    fn call_statement(&mut self) {
        if self.functions == 0 {
            let value = self.expression(Kind::Any, 2);
            return self.line(&format!("g2 = type({value})"));
        }
        let at = 1 + self.dice.below(self.functions);
        let (a, b) = (self.expression(Kind::Number, 1), self.expression(Kind::Any, 1));
        self.line(&format!("f{at}({a}, {b}, ...)"));
    }

    fn condition_statement(&mut self, depth: usize) {
        let condition = self.condition(2);
        self.block(&format!("if {condition} then"), depth);
        if self.dice.one_in(3) {
            let condition = self.condition(1);
            self.block(&format!("elseif {condition} then"), depth);
        }
        if self.dice.one_in(2) {
            self.block("else", depth);
        }
        self.line("end");
    }

    fn counted(&mut self, depth: usize) {
        // A large start would never end: one more would be the same number.
        let from = self.dice.pick(&["1", "0", "-2", "0.5", "5", "a % 4", "u1 % 4"]).to_string();
        let bounds = self.dice.pick(&["6", "3, 1", "1, -1", "4, 0.75", "-1", "-3, -2", "7, 3"]).to_string();
        let name = self.name();
        let seen = self.locals.len();
        self.line(&format!("for {name} = {from}, {bounds} do"));
        self.locals.push((name, Kind::Number));
        self.loops += 1;
        self.inside(depth);
        self.loops -= 1;
        self.locals.truncate(seen);
        self.line("end");
    }

    fn other_loop(&mut self, depth: usize) {
        let counter = self.name();
        let condition = self.condition(1);
        self.loops += 1;
        match self.dice.below(3) {
            0 => {
                self.line(&format!("local {counter} = 0"));
                self.line(&format!("while {counter} < 5 and ({condition}) do"));
                self.line(&format!("  {counter} = {counter} + 1"));
                self.block("  -- The body.", depth);
                self.line("end");
            }
            1 => {
                self.line(&format!("local {counter} = 0"));
                self.line("repeat");
                self.line(&format!("  {counter} = {counter} + 1"));
                self.block("  -- The body.", depth);
                self.line(&format!("until {counter} >= 4 or {condition}"));
            }
            _ => {
                let value = self.name();
                let seen = self.locals.len();
                self.locals.push((value.clone(), Kind::Number));
                self.block(&format!("for {counter}, {value} in ipairs(l) do"), depth);
                self.line(&format!("  if {counter} > 4 then break end"));
                self.locals.truncate(seen);
                self.line("end");
            }
        }
        self.loops -= 1;
    }

    /// A function inside, which shares the locals, called at once and perhaps kept.
    fn closure(&mut self, depth: usize) {
        let (name, argument) = (self.name(), self.name());
        let (seen, loops) = (self.locals.len(), std::mem::take(&mut self.loops));
        self.line(&format!("local function {name}({argument}, ...)"));
        self.locals.push((argument, Kind::Number));
        self.inside(depth);
        let value = self.expression(Kind::Number, 2);
        self.line(&format!("  return {value}"));
        self.loops = loops;
        self.locals.truncate(seen);
        self.line("end");
        let value = self.expression(Kind::Number, 1);
        self.line(&format!("u1 = {name}({value})"));
        if self.dice.one_in(3) {
            self.line(&format!("g3 = {name}(2) or g3"));
        }
    }

    /// A coroutine that yields once or more, is resumed some times, and may be dead then.
    fn coroutine(&mut self, depth: usize) {
        let (name, argument) = (self.name(), self.name());
        let (seen, loops) = (self.locals.len(), std::mem::take(&mut self.loops));
        self.line(&format!("local {name} = coroutine.wrap(function({argument}, ...)"));
        self.locals.push((argument.clone(), Kind::Number));
        self.inside(depth);
        let value = self.expression(Kind::Number, 1);
        match self.dice.below(3) {
            0 => self.line(&format!("  {argument} = coroutine.yield({value}, ...) or 3")),
            1 => self.line(&format!("  for i = 1, 3 do {argument} = coroutine.yield({value}) or i end")),
            _ => self.line(&format!("  while {argument} ~= 9 do {argument} = coroutine.yield({value}) end")),
        }
        self.inside(depth);
        let value = self.expression(Kind::Any, 2);
        self.line(&format!("  return {value}"));
        self.loops = loops;
        self.locals.truncate(seen);
        self.line("end)");
        for _ in 0..1 + self.dice.below(3) {
            let value = self.expression(Kind::Number, 1);
            self.line(&format!("u1 = {name}({value}, ...) or u1"));
        }
        let (good, last) = (self.name(), self.name());
        self.line(&format!("local {good}, {last} = pcall({name}, 9)"));
        self.locals.push((last, Kind::Any));
    }

    /// Statements whose errors are caught.
    fn protected(&mut self, depth: usize) {
        let (seen, loops) = (self.locals.len(), std::mem::take(&mut self.loops));
        let (good, value) = (self.name(), self.name());
        self.line(&format!("local {good}, {value} = pcall(function(...)"));
        self.inside(depth);
        self.line("end, a, ...)");
        self.loops = loops;
        self.locals.truncate(seen);
        self.locals.push((value.clone(), Kind::Any));
        self.line(&format!("if not {good} then g2 = text({value}) end"));
    }

    fn kind(&mut self) -> Kind {
        [Kind::Number, Kind::Number, Kind::Number, Kind::Text, Kind::Any][self.dice.below(5)]
    }

    /// Where a value can be put.
    fn target(&mut self) -> (String, Kind) {
        const SHARED: [(&str, Kind); 6] = [
            ("u1", Kind::Number),
            ("u2", Kind::Text),
            ("u3", Kind::Any),
            ("g1", Kind::Number),
            ("g2", Kind::Text),
            ("g3", Kind::Number),
        ];
        if self.dice.one_in(3) {
            let (name, kind) = SHARED[self.dice.below(SHARED.len())];
            return (name.to_string(), kind);
        }
        let at = self.dice.below(self.locals.len());
        self.locals[at].clone()
    }

    fn literal(&mut self, kind: Kind) -> String {
        const NUMBERS: [&str; 14] =
            ["0", "1", "2", "3", "-1", "0.5", "-2.5", "10", "255", "1e10", "2147483647", "0.1", "7", "1e300"];
        const TEXTS: [&str; 7] = ["'a'", "'10'", "'x y'", "''", "'0x10'", "'-3'", "'zz'"];
        match kind {
            Kind::Number => self.dice.pick(&NUMBERS),
            Kind::Text => self.dice.pick(&TEXTS),
            Kind::Any => self.dice.pick(&["nil", "true", "false", "1", "'s'", "2.5"]),
        }
        .to_string()
    }

    /// A variable of the kind, if there is one.
    fn variable(&mut self, kind: Kind) -> Option<String> {
        let fit = self.locals.iter().filter(|(_, of)| kind == Kind::Any || *of == kind);
        let names: Vec<String> = fit.map(|(name, _)| name.clone()).collect();
        if names.is_empty() { None } else { Some(names[self.dice.below(names.len())].clone()) }
    }

    /// No literal: a variable or a call.
    fn value(&mut self, kind: Kind, depth: usize) -> String {
        // Now and then of another kind.
        let kind = if self.dice.one_in(40) { Kind::Any } else { kind };
        let shared = match kind {
            Kind::Number => ["u1", "g1", "g3", "t.x", "l[1]", "#l", "l[#l]", "o.x", "p:get(1)"],
            Kind::Text => ["u2", "g2", "t.y", "type(u3)", "tostring(#l)", "m.name", "u2", "o.name", "p.name"],
            Kind::Any => ["u3", "t[1]", "t.z", "m", "t", "(...)", "l[99]", "o", "p"],
        };
        match self.dice.below(6) {
            0 => self.dice.pick(&shared).to_string(),
            1 if depth > 0 => self.call(kind, depth - 1),
            _ => self.variable(kind).unwrap_or_else(|| self.dice.pick(&shared).to_string()),
        }
    }

    fn call(&mut self, kind: Kind, depth: usize) -> String {
        let (number, any) = (self.expression(Kind::Number, depth), self.expression(Kind::Any, depth));
        let calls = match kind {
            Kind::Number => [
                format!("floor({number})"),
                format!("math.max(u1, {number})"),
                format!("select('#', {any}, ...)"),
                format!("(tonumber({any}) or {number})"),
                format!("#('' .. text({number}))"),
            ],
            Kind::Text => [
                format!("type({any})"),
                format!("sub(u2, {number})"),
                "('x'):rep(#l % 5)".to_string(),
                format!("text(tostring({any} == nil))"),
                format!("text(g2):upper(({number}))"),
            ],
            Kind::Any => [
                format!("t[{any}]"),
                format!("m[{any}]"),
                format!("m({any})"),
                format!("(select(1, {any}, ...))"),
                format!("rawequal({any}, {number})"),
            ],
        };
        if self.functions > 0 && self.dice.one_in(6) {
            return format!("f{}({number}, {any})", 1 + self.dice.below(self.functions));
        }
        calls[self.dice.below(calls.len())].clone()
    }

    fn expression(&mut self, kind: Kind, depth: usize) -> String {
        if depth == 0 || self.dice.one_in(4) {
            return if self.dice.one_in(3) { self.literal(kind) } else { self.value(kind, depth) };
        }
        let left = self.value(kind, depth);
        match kind {
            Kind::Number => {
                let right = self.expression(Kind::Number, depth - 1);
                match self.dice.below(8) {
                    0 => format!("-({left})"),
                    1 => format!("({left} and {right} or {left})"),
                    _ => {
                        let operator = self.dice.pick(&["+", "-", "*", "/", "%", "+", "-", "^"]);
                        if self.dice.one_in(2) {
                            format!("({left} {operator} ({right}))")
                        } else {
                            format!("(({right}) {operator} {left})")
                        }
                    }
                }
            }
            Kind::Text => {
                let other = self.kind();
                let right = self.expression(other, depth - 1);
                format!("(text({left}) .. text({right}))")
            }
            Kind::Any => match self.dice.below(4) {
                0 => self.condition(depth - 1),
                1 => format!("({left} or {})", self.literal(Kind::Any)),
                2 => format!("({left} and {})", self.expression(Kind::Number, depth - 1)),
                _ => {
                    let kind = self.kind();
                    self.expression(kind, depth - 1)
                }
            },
        }
    }

    fn condition(&mut self, depth: usize) -> String {
        let (left, right) = (self.value(Kind::Number, 0), self.expression(Kind::Number, depth));
        match self.dice.below(8) {
            0 => format!("not ({left} == {right})"),
            1 => format!("({left} ~= {right})"),
            2 => {
                let (left, right) = (self.value(Kind::Any, 0), self.expression(Kind::Any, 0));
                format!("({left} == {right})")
            }
            3 => {
                let (left, right) = (self.value(Kind::Text, 0), self.value(Kind::Text, 0));
                format!("({left} < {right})")
            }
            4 if depth > 0 => {
                let (left, right) = (self.condition(depth - 1), self.condition(depth - 1));
                format!("({left} {} {right})", self.dice.pick(&["and", "or"]))
            }
            _ => format!("({left} {} {right})", self.dice.pick(&["<", "<=", ">", ">="])),
        }
    }
}
