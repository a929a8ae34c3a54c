//! Numbers at the edges of what they can be, and texts that are taken for numbers.
//!
//! In: nothing but chance. Out: statements that compute, compare, convert and count with them. Loops whose counter no longer grows are left after
//! some rounds.

use super::Writer;

const EDGES: [&str; 22] = [
    "big",
    "big + 1",
    "-big",
    "huge",
    "-huge",
    "none",
    "minus",
    "zero",
    "2147483648",
    "-2147483649",
    "4294967296",
    "1e15",
    "1e16",
    "1e-320",
    "0.1",
    "u1",
    "'10'",
    "' 5 '",
    "'0x10'",
    "'1e2'",
    "$n",
    "$l",
];

const COMPUTED: [&str; 26] = [
    "$0 + $1",
    "$0 - $1",
    "$0 * $1",
    "$0 / $1",
    "$0 % $1",
    "$0 ^ $1",
    "-($0)",
    "$0 == $1, $0 ~= $1",
    "$0 < $1, $0 <= $1",
    "not ($0 < $1), not ($0 >= $1)",
    "$0 > $1 and $0 or $1",
    "clean($0) .. '', '' .. clean($1)",
    "10 .. 20, 1.5 .. ''",
    "floor($0), math.ceil($1)",
    "math.fmod($0, $1)",
    "math.modf($0)",
    "math.max($0, $1), math.min($0, $1)",
    "math.abs($0), math.sqrt(math.abs($1))",
    "math.frexp($0)",
    "math.ldexp($0, 3)",
    "1 / ($0)",
    "plain(clean($0)), tonumber($1)",
    "({ [$0] = 1 })[$1]",
    "rawequal($0, $1)",
    "('x' .. $s) + 1",
    "$s * 2",
];

const BOUNDS: [&str; 16] = [
    "1", "0", "-0.5", "'2'", "big", "-big", "huge", "-huge", "none", "minus", "3", "-3", "u1", "$n", "0.1",
    "'x'",
];

const STEPS: [&str; 12] =
    ["", ", 1", ", -1", ", 0.1", ", 0.3", ", -0.75", ", 2", ", '2'", ", zero", ", none", ", huge", ", 1e-20"];

impl Writer {
    pub(super) fn numbers(&mut self) {
        if self.dice.one_in(3) {
            let (from, to) = (self.filled(&BOUNDS), self.filled(&BOUNDS));
            let step = self.dice.pick(&STEPS).to_string();
            return self.template(
                "local n = 0\nnote('number', pcall(function(...)\n  for i = $0, $1$2 do\n    n = n + 1\n    note('number', n, i)\n    \
                 if n > 4 then break end\n  end\nend, ...))\nnote('number', n)",
                &[&from, &to, &step],
            );
        }
        let (left, right) = (self.filled(&EDGES), self.filled(&EDGES));
        let computed = self.dice.pick(&COMPUTED).to_string();
        // C's Lua folds what has only literals.
        let parts = ["x", "y"];
        let computed = self.fill(&computed, &parts);
        self.template(
            "note('number', pcall(function(x, y, ...) return $0 end, $1, $2, ...))",
            &[&computed, &left, &right],
        );
        if self.dice.one_in(3) {
            let key = self.filled(&EDGES);
            self.template("note('number', pcall(function(x, ...) t[x] = 1 return t[x] end, $0))", &[&key]);
        }
    }
}
