//! Traversals by `pairs` and `next`, while what is traversed changes.
//!
//! In: nothing but chance. Out: statements whose results are the same in any order: counts, and keys that are sorted. A traversal changes fields
//! that are there, or takes them away; it adds none.

use super::Writer;

const FIELDS: [&str; 12] = [
    "1",
    "$n",
    "'x'",
    "x = $n",
    "y = 's'",
    "z = $a",
    "[0.5] = 1",
    "[-1] = $a",
    "['k' .. #l] = 2",
    "[true] = $n",
    "[w1] = 3",
    "[100] = 4",
];

/// What a traversal does to a field; none depends on fields before it.
const STEPS: [&str; 10] = [
    "list[k] = nil",
    "if type(k) == 'string' then list[k] = nil end",
    "if type(k) == 'number' then list[k] = k end",
    "if x == 1 or x == 2 then list[k] = nil end",
    "list[k] = text(x)",
    "if type(x) == 'number' then list[k] = x + 1 else list[k] = nil end",
    "if k == 'x' then list.x = nil end",
    "list[k], n = nil, n + 10",
    "collectgarbage('step') list[k] = nil",
    "if k == 'x' then collectgarbage() end",
];

const LOOKS: [&str; 12] = [
    "next({})",
    "next({}, nil)",
    "next(list) == nil",
    "pcall(next, list, 'missing')",
    "pcall(next, list, {})",
    "pcall(next)",
    "pcall(pairs)",
    "pcall(ipairs, nil)",
    "type(pairs(list)), select('#', pairs(list))",
    "#list",
    "list.x, list[1], list[true]",
    "next({ x = 1 })",
];

impl Writer {
    pub(super) fn traversals(&mut self) {
        let fields: Vec<String> = (0..1 + self.dice.below(7)).map(|_| self.filled(&FIELDS)).collect();
        let fields = fields.join(", ");
        let (step, look) = (self.dice.pick(&STEPS).to_string(), self.filled(&LOOKS));
        let head = self.dice.pick(&["pairs(list)", "next, list", "next, list, nil"]).to_string();
        // Otherwise its border would be anything.
        let look = if fields.contains("[100]") || fields.contains("nil") || look == "#list" {
            "keys(list)"
        } else {
            &look
        };
        self.template("local n, list = 0, { $0 }", &[&fields]);
        if self.dice.one_in(3) {
            self.template("for i = 1, $l % 12 do list['f' .. i] = i end", &[]);
        }
        if self.dice.one_in(4) {
            self.line("for i = -9, -1 do list[i] = i % 3 end");
        }
        let body = "for k, x in $0 do\n  n = n + 1\n  $1\nend\nnote('pairs', n, keys(list), count(list))\nnote('pairs', $2)";
        self.template(body, &[&head, &step, look]);
        if self.dice.one_in(4) {
            self.line("local k, n = next(list), 0");
            self.line("while k ~= nil do k, n = next(list, k), n + 1 end");
            self.line("note('pairs', n)");
        }
        if self.dice.one_in(3) {
            self.template("for k, x in ipairs({ 1, $a, $n, nil, 5 }) do note('pairs', k, x) end", &[]);
        }
    }
}
