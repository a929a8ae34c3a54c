//! Weak tables, finalizers and collections.
//!
//! In: nothing but chance. Out: statements whose results are the same whenever the collector works: what is held, what is left after two
//! whole collections, and how many finalizers have run. What is to be collected is made and looked at in functions of their own, so that
//! nothing of the function that collects has seen it.

use super::Writer;

const ENTRIES: [&str; 14] = [
    "x[1] = {}",
    "x[2] = held",
    "x[held] = {}",
    "x[{}] = held",
    "x[{}] = 1",
    "x.s = 'text' .. #l",
    "x[3] = 4.5",
    "x[4] = function() return x end",
    "x[function() return held end] = true",
    "x[5] = newproxy()",
    "x[held] = held",
    "local k = {} x[k] = k",
    "local k = {} x[k] = { k }",
    "x[6] = coroutine.create(function() return held end)",
];

const COLLECTS: [&str; 8] = [
    "collectgarbage('step')",
    "collectgarbage('step', 100)",
    "collectgarbage()",
    "collectgarbage('collect')",
    "collectgarbage('stop')",
    "collectgarbage('restart')",
    "local n = collectgarbage('count')",
    "for i = 1, 50 do local n = { i } end",
];

impl Writer {
    pub(super) fn collections(&mut self) {
        match self.dice.below(4) {
            0 => self.finalizers(),
            1 => {
                let collect = self.dice.pick(&COLLECTS).to_string();
                self.template(
                    "local held = { $n }\nlocal list = setmetatable({ held, held.x }, { __mode = 'v' })\n$0\n\
                     collectgarbage('restart')\nnote('weak', list[1] == held, held[1] == list[1][1])",
                    &[&collect],
                );
                let option = self
                    .dice
                    .pick(&["'none'", "'setpause', 200", "'setstepmul', 200", "'restart'", "{}"])
                    .to_string();
                self.template("note('weak', pcall(collectgarbage, $0))", &[&option]);
            }
            _ => self.weak(),
        }
    }

    fn weak(&mut self) {
        let mode = self.dice.pick(&["k", "v", "kv", "vk", "x", ""]).to_string();
        self.template("local held = { 1 }\nlocal list = setmetatable({}, { __mode = '$0' })", &[&mode]);
        self.line("local function f(x, ...)");
        for _ in 0..1 + self.dice.below(4) {
            let entry = self.dice.pick(&ENTRIES).to_string();
            self.line(&format!("  do {entry} end"));
        }
        let collect = self.dice.pick(&COLLECTS).to_string();
        self.line(&format!("  {collect}"));
        self.line("end");
        self.line("f(list)");
        if self.dice.one_in(3) {
            self.line("for i = 1, 3 do f(list) end");
        }
        self.line("collectgarbage()");
        self.line("collectgarbage()");
        self.line("note('weak', keys(list), count(list), held[1], list[2] == held)");
        self.line("collectgarbage('restart')");
    }

    fn finalizers(&mut self) {
        let body = self.dice.pick(&[
            "c = c + 1",
            "c = c + 1 held[c] = x",
            "c = c + 1 local n = {} n[x] = 1",
            "c = c + 1 getmetatable(x).__gc = nil",
        ]);
        let body = body.to_string();
        self.template(
            "local c, held = 0, {}\nlocal function f(n, ...)\n  for i = 1, n do\n    local x = newproxy(true)\n    \
             getmetatable(x).__gc = function(x) $0 end\n    getmetatable(x).__len = function() return i end\n    \
             note('weak', #x, type(x))\n    if i == 2 then held.kept = x end\n  end\nend\n\
             local function look() note('weak', c, type(held.kept), #held) end\n\
             f(1 + #l % 3)\ncollectgarbage()\ncollectgarbage()\nlook()",
            &[&body],
        );
        if self.dice.one_in(2) {
            self.line("held = {}");
            self.line("collectgarbage()");
            self.line("collectgarbage()");
            self.line("look()");
        }
    }
}
