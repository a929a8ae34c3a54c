//! Metatables that change.
//!
//! In: nothing but chance. Out: statements that give tables metatables, take them away, change what is in them, and use the tables before and after.
//! What a metatable names is short, and takes fuel: it may use such a table itself.

use super::Writer;

const EVENTS: [&str; 20] = [
    "index", "index", "index", "newindex", "newindex", "call", "call", "eq", "eq", "lt", "le", "concat",
    "unm", "add", "sub", "mul", "div", "mod", "pow", "len",
];

/// What may be done with the tables. Their keys may be anything, so they have no length.
const USES: [&str; 38] = [
    "w1 + $l",
    "w1 + w2",
    "$n - w2",
    "w2 * w1",
    "w1 / $n",
    "w2 % 3",
    "2 ^ w1",
    "-w1",
    "-w2",
    "w1 .. 'a'",
    "'a' .. w2",
    "u2 .. w1 .. 'b' .. 2",
    "1 .. w1",
    "w1 == w2",
    "w1 ~= w3",
    "w2 == w3",
    "w1 == $a",
    "w1 < w2",
    "w1 <= w2",
    "w2 > w3",
    "w2 >= w1",
    "w1 < $n",
    "w1(1, ...)",
    "w2($a)",
    "w3()",
    "w1.x",
    "w1.y, w2.y, w3.y",
    "w1.x, w1.none",
    "w2.none",
    "w3[$s]",
    "w1[true]",
    "w1[-1]",
    "#setmetatable({ 1, 2 }, mt1)",
    "w1:get(3)",
    "w3.x.y",
    "w1 and w1.x or w2.x",
    "type(getmetatable(w1)), getmetatable(w2) == mt1",
    "rawget(w1, 'x'), rawequal(w1, w2)",
];

/// What changes metatables.
const CHANGES: [&str; 12] = [
    "setmetatable($0, mt1)",
    "setmetatable($0, mt2)",
    "setmetatable($0, nil)",
    "setmetatable($0, { __$1 = $2 })",
    "$3.__$1 = nil",
    "$3.__$1 = $2",
    "$3.__$1 = $2",
    "$3.__$1 = $2",
    "rawset($0, 'x', nil)",
    "mt1, mt2 = mt2, mt1",
    "note('meta', pcall(setmetatable, $0, $3))",
    "mt1.__metatable = $0.x",
];

/// What puts something into the tables.
const STORES: [&str; 6] =
    ["$0.x = $n", "$0.y = $a", "$0.x, $0.z = $a, nil", "$0[$s] = $n", "$0[false] = 1", "$0.x = nil"];

impl Writer {
    pub(super) fn metatables(&mut self) {
        for _ in 0..1 + self.dice.below(2) {
            let change = self.change();
            self.line(&change);
        }
        let name = self.dice.pick(&["w1", "w2", "w3"]).to_string();
        let store = self.dice.pick(&STORES).to_string();
        let (one, other) = (self.filled(&USES), self.filled(&USES));
        match self.dice.below(5) {
            0 => self.template(&format!("note('meta', pcall(function(...) {store} end, ...))"), &[&name]),
            1 => self.line(&format!("note('meta', {one})")),
            2 => {
                // Places that have learned something meet something else.
                let change = self.change();
                self.line("for i = 1, 5 do");
                self.line(&format!("  note('meta', i, pcall(function(...) return {one} end, ...))"));
                self.line(&format!("  if i == 3 then {change} end"));
                self.line("end");
            }
            _ => {
                let lines = "note('meta', pcall(function(...) return $0 end, ...))";
                self.template(lines, &[&one]);
                self.template(lines, &[&other]);
            }
        }
        // What has been locked would stay so for the rest of the program.
        self.line("mt1.__metatable, mt2.__metatable = nil, nil");
    }

    /// What metatables have from the start.
    pub(super) fn first_metatables(&mut self) {
        for _ in 0..12 {
            let (event, table) =
                (self.dice.pick(&EVENTS).to_string(), self.dice.pick(&["mt1", "mt2"]).to_string());
            let handler = self.handler(&event);
            self.line(&format!("{table}.__{event} = {handler}"));
        }
        for name in ["w1", "w2", "w3"] {
            let table = self.dice.pick(&["mt1", "mt1", "mt2", "nil"]).to_string();
            self.line(&format!("setmetatable({name}, {table})"));
        }
    }

    fn change(&mut self) -> String {
        let (template, event) = (self.dice.pick(&CHANGES).to_string(), self.dice.pick(&EVENTS).to_string());
        let (name, table) = (self.dice.pick(&["w1", "w2", "w3"]), self.dice.pick(&["mt1", "mt2"]));
        let handler = self.handler(&event);
        self.fill(&template, &[name, &event, &handler, table])
    }

    /// What a metatable may have for an event.
    fn handler(&mut self, event: &str) -> String {
        if self.dice.one_in(30) {
            return self.dice.pick(&["1", "'s'", "true", "w1"]).to_string();
        }
        let body = match event {
            "index" => {
                if self.dice.one_in(3) {
                    return self.dice.pick(&["w1", "w2", "w3", "t", "p", "base"]).to_string();
                }
                self.dice.pick(&[
                    "return k",
                    "return rawget(w3, k)",
                    "return nil",
                    "u1 = 2 return u1, 5",
                    "return w2[k]",
                ])
            }
            "newindex" => {
                if self.dice.one_in(3) {
                    return self.dice.pick(&["w1", "w2", "w3", "t"]).to_string();
                }
                self.dice.pick(&[
                    "rawset(x, k, v)",
                    "u3 = v",
                    "w3[k] = v",
                    "rawset(w1, k, nil)",
                    "error(k, 0)",
                ])
            }
            "call" => self.dice.pick(&[
                "return k",
                "return v, k",
                "return select('#', ...)",
                "return ...",
                "return w1.x",
            ]),
            "eq" | "lt" | "le" => self.dice.pick(&[
                "return true",
                "return false",
                "return nil",
                "return 1",
                "return rawequal(x, w1)",
                "error({})",
            ]),
            "concat" => self.dice.pick(&[
                "return 'c'",
                "return type(x) .. type(k)",
                "return x",
                "return k",
                "return nil",
            ]),
            _ => self.dice.pick(&[
                "return 5",
                "return x",
                "return k",
                "return u1, 2",
                "u1 = u1 + 1 return u1",
                "return nil",
            ]),
        };
        format!("function(x, k, v, ...) fuel = fuel - 6 if fuel < 0 then error('no fuel', 0) end {body} end")
    }
}
