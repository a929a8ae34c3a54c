//! Functions that assign to variables of the function around them, called in the middle of its expressions.
//!
//! In: nothing but chance. Out: statements in which such a call stands before or behind the variables that it changes. What is read before the call
//! has the old value, what the operator itself reads has the new one.

use super::Writer;

const BODIES: [&str; 10] = [
    "c = c + (x or 1) return c",
    "c = x or 5 return 1",
    "c, d = d, c return d",
    "list = { c, 2, d } return #list",
    "local k = c c = k * 2 % 100 return k",
    "d = d + 1 s = s .. d return c",
    "s = s .. (x or 'x') return #s",
    "c, s, list = 7, 'new', { 4, 5, 6, x = 1 } return x or 6",
    "list[1], c = c, 3 return 2",
    "u1 = 4 u2 = 'set' c = -c return c",
];

const USES: [&str; 45] = [
    "c = c + f()",
    "c = f() + c",
    "c = (c - f(2) * c) % 100",
    "c = (c * (f() - c) + d) % 100",
    "s = s .. f()",
    "s = f() .. s .. d",
    "c, d = d + f(), c",
    "d = (c + f()) % (c + 7)",
    "note('captured', c + f(), c)",
    "note('captured', c < f(), c <= f(3), c == f())",
    "note('captured', f() > c, f() >= c, f(1) ~= c)",
    "note('captured', c, f(), c)",
    "note('captured', s .. f() .. s, #s + f())",
    "note('captured', c and f() or c, f() and c)",
    "note('captured', -c + f(), not c == f())",
    "note('captured', (c), (f()), c ^ 2 + f())",
    "note('captured', keys({ [c] = f(), [f()] = c }))",
    "note('captured', keys({ c, f(), c, x = f(), y = c }))",
    "note('captured', list[c] == f(), list[f()] or c)",
    "note('captured', list[1] + f(), f() + (list[2] or 0))",
    "note('captured', #s + f(), list.x, f(), list.x)",
    "note('captured', joined(c, f(), s), select(2, f(), c, f()))",
    "note('captured', c + $n, f() + $n, c)",
    "list[c] = f()",
    "list[c], c = f(), 2",
    "c, list[c] = f(), c",
    "list[f()] = c",
    "list[c + f()] = c",
    "list.x = c + f()",
    "list.x, list.y = f(), c",
    "list[1], list[2] = list[2], f()",
    "local k, n = c, f() note('captured', k, n, c)",
    "local k = c + f() note('captured', k)",
    "local k = { c, f() } note('captured', k[1], k[2])",
    "local k = s c = c + f() note('captured', k, s)",
    "if c == f() then note('captured', 'equal') else note('captured', c) end",
    "if c < f() and d <= f() then c = d end",
    "for i = c % 3, f() % 5 do c = i + f() end",
    "while c < 20 and d < f() + 3 do c, d = c + 3, d + 1 end",
    "repeat local k = c + f() d = d + 1 until d > 5 or k > c + f()",
    "u1 = u1 + f() note('captured', u1)",
    "u2 = text(u2) .. f() note('captured', text(u2))",
    "a = c + f() note('captured', a)",
    "note('captured', c + f() + c + f() + c)",
    "note('captured', (function(...) return c + f() end)(), c)",
];

impl Writer {
    pub(super) fn captured(&mut self) {
        let (body, first) =
            (self.dice.pick(&BODIES).to_string(), self.dice.pick(&["1", "3", "-2", "0.5", "d"]).to_string());
        self.template(
            "local d, s, list = 2, 's', { 1, 2, 3 }\nlocal c = $0\nlocal function f(x, ...) $1 end",
            &[&first, &body],
        );
        let (start, end) = [("do", "end"), ("do", "end"), ("for i = 1, 3 do", "end")][self.dice.below(3)];
        self.line(start);
        for _ in 0..1 + self.dice.below(4) {
            let line = self.filled(&USES);
            // What it declares ends with it.
            self.line(&format!("  do {line} end"));
        }
        self.line(end);
        self.line("note('captured', c, d, s, keys(list))");
    }
}
