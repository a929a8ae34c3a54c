//! Arguments in any number, and functions that share variables.
//!
//! In: nothing but chance. Out: statements that pass, count, select and pack arguments, and that make functions in loops, each with variables of
//! its own.

use super::Writer;

const BODIES: [&str; 14] = [
    "return select('#', ...)",
    "return select($p, ...)",
    "return (select($p, ...))",
    "return ...",
    "return (...), ...",
    "return ..., x",
    "local y, z = ... return z, y",
    "local list = { ... } return next(list) == nil, list[1], list[3]",
    "local list = { x, ..., x } return list[1], list[2], list[3]",
    "return unpack({ ... }, 1, select('#', ...))",
    "return unpack({ x, ... }, $p, 3)",
    "return select('#', x, ..., nil), select('#', ...)",
    "local function k(...) return select('#', ...), ... end return k(x, ...)",
    "for i = 1, select('#', ...) do note('argument', i, (select(i, ...))) end return x",
];

const PLACES: [&str; 10] = ["1", "2", "-1", "-2", "#l", "0", "5", "-9", "'2'", "$l"];

const LISTS: [&str; 10] = [
    "",
    "$n",
    "nil",
    "$n, nil",
    "nil, nil, 3",
    "$a, $a, $a",
    "...",
    "$n, ...",
    "unpack(l, 1, 4)",
    "(...), unpack(q, 1, 3)",
];

impl Writer {
    pub(super) fn arguments(&mut self) {
        match self.dice.below(5) {
            0 => {
                let steps = self.dice.pick(&["1, 4", "3, 1, -1", "0.5, 2, 0.5", "2, 2"]).to_string();
                let body = self.dice.pick(&["x = x + (y or i)", "x, i = i, x", "x = y n = n + 1", "n = n - 1 i = i + n"]).to_string();
                self.template(
                    "local n, kept = 0, {}\nfor i = $0 do\n  local x = i * $n\n  kept[#kept + 1] = function(y) $1 return x, i, n end\n\
                     \x20 if $c then kept[#kept + 1] = function() n = n + 1 return i end end\nend\n\
                     for i, f in ipairs(kept) do note('argument', pcall(f, 1)) note('argument', pcall(f)) end",
                    &[&steps, &body],
                );
            }
            1 => self.template(
                "local kept, i = {}, 0\nwhile i < 3 do\n  i = i + 1\n  local x = $n\n  kept[i] = function() x = x + i return x end\n  \
                 if $c then break end\nend\nfor k = 1, #kept do note('argument', pcall(kept[k])) end\nnote('argument', i)",
                &[],
            ),
            2 => {
                // A function that names no arguments has them in a table.
                let list = self.filled(&LISTS);
                self.template(
                    "local function f(...) return arg and arg.n, arg and arg[1] end\nnote('argument', f($0))",
                    &[&list],
                );
            }
            _ => {
                let (body, place) = (self.dice.pick(&BODIES).to_string(), self.filled(&PLACES));
                let body = body.replace("$p", &place);
                self.template("local function f(x, ...) $0 end", &[&body]);
                for _ in 0..1 + self.dice.below(3) {
                    let list = self.filled(&LISTS);
                    let comma = if list.is_empty() { "" } else { ", " };
                    self.template("note('argument', pcall(f$0$1))", &[comma, &list]);
                }
            }
        }
    }
}
