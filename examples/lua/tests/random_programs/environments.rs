//! Environments.
//!
//! In: nothing but chance. Out: statements that give functions and levels another environment, and see which globals they have then.

use super::Writer;

const ENVIRONMENTS: [&str; 5] = [
    "setmetatable({ g1 = $n }, { __index = _G })",
    "setmetatable({}, { __index = _G, __newindex = _G })",
    "setmetatable({ g2 = 'mine' }, { __index = function(x, k) return _G[k] end })",
    "{ note = note, g1 = 1 }",
    "setmetatable({}, { __index = function(x, k) return k end, __newindex = function(x, k, v) rawset(x, k, 9) end })",
];

const BODIES: [&str; 6] = [
    "g1 = x return g1, g2",
    "g9 = (g9 or 0) + 1 return g9, g1",
    "g2 = nil return g2, g9",
    "g9 = x return (function() return g9 end)()",
    "local r = g1 g1 = x local s = g1 g1 = r return s, r",
    "if x == 1 then g1, g9 = g9, g1 end return g1, g9",
];

/// Calls that find an environment or fail to.
const LOOKS: [&str; 12] = [
    "getfenv(f) == e, getfenv(f) == _G",
    "getfenv(note) == _G, getfenv(string.rep) == _G",
    "getfenv() == e, getfenv(1) == getfenv()",
    "pcall(setfenv, string.rep, e)",
    "pcall(setfenv, f, nil)",
    "pcall(setfenv, f)",
    "pcall(getfenv, -1)",
    "pcall(getfenv, 99)",
    "pcall(setfenv, 99, e)",
    "setfenv(f, e) == f",
    "getfenv(0) == _G",
    "rawget(_G, 'g9'), rawget(e, 'g9')",
];

impl Writer {
    pub(super) fn environments(&mut self) {
        let (environment, look, other) =
            (self.filled(&ENVIRONMENTS), self.filled(&LOOKS), self.filled(&LOOKS));
        let body = self.dice.pick(&BODIES).to_string();
        self.template("local e = $0\nlocal function f(x, ...) $1 end", &[&environment, &body]);
        match self.dice.below(5) {
            0 => self.template("setfenv(f, e)\nnote('environment', pcall(f, $n))", &[]),
            1 => {
                self.line("for i = 1, 4 do");
                self.line("  note('environment', i, pcall(f, i))");
                self.line("  if i == 2 then setfenv(f, e) elseif i == 3 then setfenv(f, _G) end");
                self.line("end");
            }
            2 => self.template(
                "local function k(x, ...)\n  local getfenv = getfenv\n  setfenv(1, e)\n  g9 = x\n  return getfenv(1) == e, g1, g9\nend\n\
                 note('environment', pcall(k, $n))\nnote('environment', pcall(k, 2))",
                &[],
            ),
            3 => self.template(
                "local function k() local x = setfenv(2, e) return type(x) end\n\
                 local function n(x, ...)\n  local r = k()\n  g9 = x\n  return r, g1, g9\nend\n\
                 note('environment', pcall(n, $n))\nnote('environment', getfenv(n) == e, getfenv(k) == e)",
                &[],
            ),
            _ => self.template(
                "local k = loadstring('g9 = ... return g9, g1, g2')\nif $c then setfenv(k, e) end\n\
                 note('environment', pcall(k, $n))\nnote('environment', getfenv(k) == e)",
                &[],
            ),
        }
        self.template("note('environment', $0)\nnote('environment', $1)", &[&look, &other]);
        self.line("note('environment', g1, g2, g9, rawget(e, 'g1'), rawget(e, 'g9'))");
    }
}
