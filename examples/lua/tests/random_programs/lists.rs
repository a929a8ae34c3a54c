//! Lists.
//!
//! In: nothing but chance. Out: statements that insert, remove, join, sort and unpack. The shared list `q` has no holes, and stays short.

use super::Writer;

// What is inserted comes first: it may call functions that change the list.
const CHANGES: [&str; 8] = [
    "table.insert(q, text($n) or 0)",
    "do local x = text($n) or 0 table.insert(q, #q % 3 + 1, x) end",
    "table.insert(q, 1, clean($l))",
    "note('list', table.remove(q))",
    "note('list', table.remove(q, 1))",
    "note('list', pcall(table.insert, q, 1, 2, 3))",
    "q[#q] = nil",
    "do local x = text($a) or 1 q[#q + 1] = x end",
];

const LOOKS: [&str; 16] = [
    "table.concat(q)",
    "table.concat(q, ', ')",
    "table.concat(q, $s)",
    "table.concat(q, '-', 2)",
    "table.concat(q, '-', 2, 3)",
    "table.concat(q, '', 3, 2)",
    "table.concat({ 1, 'b', $a }, ';')",
    "table.maxn(q), #q",
    "table.maxn({ 1, [7.5] = 2, x = 1, [-1] = 0 })",
    "unpack(q)",
    "unpack(q, 2)",
    "unpack(q, -1, 2)",
    "unpack(q, 2, $l % 5)",
    "unpack({ $n, $n }, 0, 3)",
    "unpack({}, 1, 1e7)",
    "table.getn(q), pcall(table.setn, q, 1)",
];

/// How `table.sort` may compare. What is no order leads to a fault or to some order, the same each time.
const ORDERS: [&str; 14] = [
    "",
    ", nil",
    ", function(x, y) return x > y end",
    ", function(x, y) return x < y end",
    ", function(x, y) c = c + 1 return x < y end",
    ", function(x, y) return (tonumber(x) or 0) > (tonumber(y) or 0) end",
    ", function(x, y) return joined(x) < joined(y) end",
    ", function(x, y) return #joined(x) < #joined(y) end",
    ", function(x, y) c = c + 1 return c % 2 == 0 end",
    ", function(x, y) return true end",
    ", function(x, y) return x <= y end",
    ", function(x, y) c = c + 1 if c > 4 then error({}) end return x < y end",
    ", function() end",
    ", 3",
];

impl Writer {
    pub(super) fn lists(&mut self) {
        for _ in 0..self.dice.below(3) {
            let change = self.filled(&CHANGES);
            self.line(&change);
        }
        self.line("while #q > 12 do table.remove(q, #q % 4 + 1) end");
        match self.dice.below(4) {
            0 => {
                let look = self.filled(&LOOKS);
                self.template("note('list', pcall(function(...) return $0 end, ...))", &[&look]);
            }
            1 => {
                let look = self
                    .dice
                    .pick(&["foreach(q, function(k, x) ", "foreachi(q, function(k, x) "])
                    .to_string();
                self.template(
                    "local n = 0\nnote('list', table.$0n = n + k if k == 3 then return x end end), n)",
                    &[&look],
                );
            }
            _ => self.sort(),
        }
    }

    fn sort(&mut self) {
        let order = self.dice.pick(&ORDERS).to_string();
        let from = [
            "{ unpack(q) }",
            "{ unpack(l, 1, 9) }",
            "{ 3, 1, $n, 2, $n }",
            "{ $s, 'b', 'a', u2 }",
            "{ w1, w2, w3, w1 }",
        ];
        let from = self.filled(&from);
        self.template(
            "local c, list = 0, $0\nnote('sort', pcall(table.sort, list$1))\nnote('sort', c, unpack(list, 1, 9))",
            &[&from, &order],
        );
    }
}
