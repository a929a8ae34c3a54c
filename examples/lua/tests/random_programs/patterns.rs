//! Patterns.
//!
//! In: nothing but chance. Out: statements that look for patterns, most of them well-formed, in short texts.

use super::Writer;

const SUBJECTS: [&str; 12] = [
    "'hello world'",
    "'a1 b2, c3'",
    "'(x (y) z)'",
    "''",
    "'THE (quick) fox'",
    "'aaa'",
    "'key = value'",
    "'\\0a\\0-%'",
    "'h\\195\\169_1'",
    "$s",
    "u2",
    "12.5",
];

const SINGLES: [&str; 30] = [
    ".", "%a", "%d", "%s", "%w", "%p", "%l", "%u", "%c", "%x", "%z", "%A", "%S", "%W", "a", "l", "o", "1",
    " ", "[a-z]", "[^a-e]", "[%w_]", "[]x]", "[^]]", "[%a-z]", "[a-]", "%.", "%%", "%-", "x",
];

const MALFORMED: [&str; 13] = ["[", "%", "(", ")", "%b", "%b(", "%f", "%9", "[a", "[^", "[%", "[a-", "(()"];

const REPLACEMENTS: [&str; 16] = [
    "'<%1>'",
    "'%0%0'",
    "''",
    "'%%'",
    "'%2'",
    "'%'",
    "'%x'",
    "{ a = 'A', l = false, o = 1, x = true }",
    "setmetatable({}, { __index = function(x, k) return k .. '!' end })",
    "function(x, y) return x end",
    "function(x, y) return y end",
    "function(x) return #l end",
    "function(x, ...) u2 = x return text($a) end",
    "function() return nil end",
    "function(x) error(x, 0) end",
    "$a",
];

impl Writer {
    pub(super) fn patterns(&mut self) {
        let (subject, pattern) = (self.filled(&SUBJECTS), self.pattern());
        let start = self.dice.pick(&["", "", ", 2", ", -3", ", 20", ", 0"]).to_string();
        let parts = [subject.as_str(), pattern.as_str(), start.as_str()];
        match self.dice.below(8) {
            0 => self.template("note('pattern', pcall(string.find, $0, '$1'$2))", &parts),
            1 => self.template("note('pattern', pcall(string.match, $0, '$1'$2))", &parts),
            2 => {
                let plain = self.dice.pick(&["true", "false", "nil", "0"]).to_string();
                self.template("note('pattern', pcall(string.find, $0, '$1', $l, $3))", &[&parts[..], &[&plain]].concat());
            }
            3 => self.template("note('pattern', pcall(function(...) return ($0):match('$1'$2) end, ...))", &parts),
            4 => self.template(
                "note('pattern', pcall(function(...)\n  for x, y, z in ($0):gmatch('$1') do note('pattern', x, y, z) end\nend, ...))",
                &parts,
            ),
            _ => {
                let (replacement, limit) = (self.filled(&REPLACEMENTS), self.dice.pick(&["", "", ", 1", ", 0", ", $n"]));
                let line = format!("note('pattern', pcall(string.gsub, $0, '$1', {replacement}{limit}))");
                self.template(&line, &parts);
            }
        }
    }

    fn pattern(&mut self) -> String {
        let mut out = String::new();
        if self.dice.one_in(6) {
            out.push('^');
        }
        let mut captures = 0;
        for _ in 0..1 + self.dice.below(4) {
            match self.dice.below(14) {
                0 | 1 => {
                    captures += 1;
                    let (one, other) = (self.single(), self.single());
                    out += &format!("({one}{other})");
                }
                2 => {
                    captures += 2;
                    let (one, other) = (self.single(), self.single());
                    out += &format!("({one}({other}))");
                }
                3 => {
                    captures += 1;
                    out += "()";
                }
                4 => out += "%b()",
                5 => out += self.dice.pick(&["%f[%w]", "%f[%W]", "%f[^%z]"]),
                6 if captures > 0 => out += &format!("%{}", 1 + self.dice.below(captures)),
                _ => out += &self.single(),
            }
        }
        if self.dice.one_in(6) {
            out.push('$');
        }
        if self.dice.one_in(4) {
            out += self.dice.pick(&MALFORMED);
        }
        out
    }

    /// One class with how often it stands there.
    fn single(&mut self) -> String {
        let (class, often) = (self.dice.pick(&SINGLES), self.dice.pick(&["", "", "", "*", "+", "-", "?"]));
        format!("{class}{often}")
    }
}
