//! Writes programs at random.
//!
//! In: a seed. Out: the text of a program that ends soon and prints the same each time. Every program has numbers, texts, tables, closures,
//! varargs, loops, calls, objects, coroutines, collections and errors in mixed order, and tries some of the features that have files of their
//! own here: few of them, since those meet more often then. Most values have the type that the place wants; now and then one has not, so
//! that messages are compared, too. An implementation may choose some things, which are left out: the order of `pairs`, the
//! length of a table with holes, the sign of a not-a-number and of a zero that is a key, what levels there are behind tail calls, whether
//! coroutines may yield in what C called, and when an object goes that no variable has any more, but the running function had. No arithmetic has only literals: C's Lua folds that, and then takes 0 and -0 for one constant.

mod arguments;
mod captured;
mod collections;
mod control;
mod dice;
mod environments;
mod errors;
mod expressions;
mod formats;
mod lists;
mod metatables;
mod numbers;
mod patterns;
mod prelude;
mod threads;
mod traversals;

use dice::Dice;
use std::fmt::Write;

/// Rounds in which all functions are called: code that runs often climbs to better tiers.
const ROUNDS: usize = 40;

/// Each writes statements that try one feature.
const FEATURES: [fn(&mut Writer); 12] = [
    Writer::metatables,
    Writer::patterns,
    Writer::formats,
    Writer::lists,
    Writer::traversals,
    Writer::environments,
    Writer::errors,
    Writer::collections,
    Writer::threads,
    Writer::numbers,
    Writer::arguments,
    Writer::captured,
];

/// What a place wants.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Number,
    Text,
    Any,
    /// A function that may assign to variables around it; nothing is assigned to itself.
    Function,
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
    /// Those that this program tries.
    features: Vec<fn(&mut Writer)>,
}

/// The program of a seed.
pub(crate) fn program(seed: u64) -> String {
    let mut dice = Dice((seed * 2 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let features = (0..4).map(|_| FEATURES[dice.below(FEATURES.len())]).collect();
    let (out, locals) = (prelude::PRELUDE.to_string(), Vec::new());
    let mut writer = Writer { dice, out, indent: 0, locals, names: 0, functions: 0, loops: 0, features };
    writer.first_metatables();
    for _ in 0..2 + writer.dice.below(4) {
        writer.function();
    }
    writer.line(&format!("for round = 1, {ROUNDS} do"));
    writer.indent += 1;
    for at in 1..=writer.functions {
        writer.line("fuel, steps, left = 600, 20, round % 8 == 1 and 12 or 0");
        let (a, b) = (writer.literal(Kind::Number), writer.literal(Kind::Any));
        let call = format!("pcall(f{at}, round, {a}, {b})");
        writer.line(&format!("if round % 8 == 1 then show({at}, {call}) else {call} end"));
    }
    writer.indent -= 1;
    writer.line("end");
    writer.line("show(u1, u2, u3, g1, g2, g3, t.x, t.y, t[1], t[3], #l, l[1], l[#l])");
    writer.line("show(sum, keys(w1), keys(w2), keys(w3), #q, count(t))");
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
        self.statements(6, 3);
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
            if self.dice.one_in(2) {
                self.feature();
            } else {
                self.statement(depth);
            }
        }
    }

    /// One of the program's features, in a block of its own.
    fn feature(&mut self) {
        let feature = self.features[self.dice.below(self.features.len())];
        let seen = self.locals.len();
        self.line("if step() then");
        self.indent += 1;
        feature(self);
        self.indent -= 1;
        self.locals.truncate(seen);
        self.line("end");
    }

    /// Lines with what is filled into them.
    fn template(&mut self, template: &str, parts: &[&str]) {
        let lines = self.fill(template, parts);
        lines.lines().for_each(|line| self.line(line));
    }

    /// A text in which expressions stand for some marks: `$n` for a number, `$s` for a text, `$a` for anything, `$c` for a condition, `$l`
    /// for a literal number, and `$0`, `$1`, … for the given parts. Functions around expressions have to be vararg functions.
    fn fill(&mut self, template: &str, parts: &[&str]) -> String {
        let mut pieces = template.split('$');
        let mut out = pieces.next().unwrap_or_default().to_string();
        for piece in pieces {
            let (mark, rest) = piece.split_at(1);
            match mark {
                "n" => out += &self.expression(Kind::Number, 1),
                "s" => out += &self.expression(Kind::Text, 1),
                "a" => out += &self.expression(Kind::Any, 1),
                "c" => out += &self.condition(1),
                "l" => out += &self.literal(Kind::Number),
                _ => out += parts[mark.parse::<usize>().expect("a mark is a letter or a digit")],
            }
            out += rest;
        }
        out
    }

    /// One of some templates, filled.
    fn filled(&mut self, from: &[&str]) -> String {
        let template = self.dice.pick(from).to_string();
        self.fill(&template, &[])
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
            5 => self.template("l[#l % 50 + 1] = $n or 0", &[]),
            6 => self.template("t[$a] = $a", &[]),
            7 => {
                let value = self.expression(Kind::Any, 2);
                let (key, kept) = (self.dice.pick(&["x", "y", "z"]), self.dice.pick(&["t", "t", "m"]));
                self.line(&format!("{kept}.{key} = {value}"));
            }
            8 => self.call_statement(),
            9 => {
                let object = self.dice.pick(&["o", "p"]).to_string();
                self.template("u1 = $0:set($n):get(#l)", &[&object]);
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
}
