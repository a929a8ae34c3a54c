//! Coroutines that pass values in both directions.
//!
//! In: nothing but chance. Out: statements that make coroutines, resume them some times, see their states, and let them end by results or faults.
//! They yield only where C called nothing in between.

use super::Writer;

const YIELDS: [&str; 8] = [
    "x = coroutine.yield($n, x)",
    "x = coroutine.yield()",
    "local y, z = coroutine.yield(x, ...) note('thread', 'got', y, z)",
    "for i = 1, 3 do x = coroutine.yield(i, x) end",
    "note('thread', 'got', coroutine.yield($a))",
    "x = { coroutine.yield(x) } x = x[1]",
    "if $c then coroutine.yield('if') end",
    "x = (coroutine.yield(1)) or coroutine.yield(2)",
];

/// What happens in a coroutine.
const INSIDE: [&str; 8] = [
    "note('thread', 'state', coroutine.status(co), type(coroutine.running()), coroutine.running() == co)",
    "note('thread', 'self', coroutine.resume(co, 1))",
    "local k = coroutine.create(function() note('thread', 'outer', coroutine.status(co), coroutine.resume(co)) end) coroutine.resume(k)",
    "local k = coroutine.wrap(function(x, ...) coroutine.yield(x) return $n end) note('thread', k(5), k())",
    "x = $n",
    "note('thread', 'in', x, select('#', ...))",
    "if x == 2 then return x, 'early' end",
    "collectgarbage('step')",
];

const ENDS: [&str; 8] =
    ["return x, ...", "return", "return $n", "return $a, 2", "$f", "$f", "$f", "return (select('#', ...))"];

const USES: [&str; 9] = [
    "pcall(coroutine.create, 3)",
    "pcall(coroutine.wrap)",
    "pcall(coroutine.resume, 3)",
    "pcall(coroutine.status, nil)",
    "pcall(coroutine.create, select)",
    "type(coroutine.running())",
    "coroutine.resume(coroutine.create(function(...) return select('#', ...) end), nil, nil)",
    "pcall(coroutine.wrap(function() error({ 1 }) end))",
    "pcall(coroutine.wrap(function() error('w', 0) end))",
];

impl Writer {
    pub(super) fn threads(&mut self) {
        match self.dice.below(6) {
            0 => {
                let uses = self.filled(&USES);
                self.template("note('thread', $0)", &[&uses]);
            }
            1 => {
                let count = self.dice.pick(&["1", "3", "5"]).to_string();
                self.template(
                    "for x, y in coroutine.wrap(function(...)\n  for i = 1, $0 do coroutine.yield(i, $n) end\nend) do\n  \
                     note('thread', 'for', x, y)\n  if $c then break end\nend",
                    &[&count],
                );
            }
            2 => {
                self.line("local co");
                self.line("co = coroutine.wrap(function(x, ...)");
                self.thread_body();
                self.line("end)");
                self.line("for i = 1, 3 do");
                let call = self.filled(&[
                    "pcall(co, i)",
                    "pcall(function(...) return (co($n)) end)",
                    "pcall(co)",
                    "pcall(co, i, $a)",
                ]);
                self.line(&format!("  note('thread', i, {call})"));
                self.line("end");
            }
            _ => {
                self.line("local co");
                self.line("co = coroutine.create(function(x, ...)");
                self.thread_body();
                self.line("end)");
                let times = self.dice.pick(&["2", "3", "5"]).to_string();
                self.template(
                    "for i = 1, $0 do\n  note('thread', i, coroutine.status(co), coroutine.resume(co, $n, i))\nend\n\
                     note('thread', coroutine.status(co))",
                    &[&times],
                );
            }
        }
    }

    fn thread_body(&mut self) {
        self.indent += 1;
        for _ in 0..1 + self.dice.below(4) {
            let line = if self.dice.one_in(3) { self.filled(&INSIDE) } else { self.filled(&YIELDS) };
            // What it declares ends with it.
            self.line(&format!("do {line} end"));
        }
        let (end, fault) = (self.dice.pick(&ENDS).to_string(), self.fault());
        let end = end.replace("$f", &format!("do {fault} end"));
        self.template(&end, &[]);
        self.indent -= 1;
    }
}
