//! Formats, and what else the library makes of texts.
//!
//! In: nothing but chance. Out: statements that format values by random directives, most of them valid, and that cut, repeat, turn and read texts.
//! Flags that mean nothing for a conversion are left out, since C does not say what they do there, and so is the sign of a not-a-number.

use super::Writer;

/// Conversions, with the flags that each has, whether it has a precision, and what it takes.
const CONVERSIONS: [(&str, &[&str], bool, &[&str]); 13] = [
    ("d", &["", "-", "+", " ", "0"], true, &["$l", "clean($n)", "'10'", "-3.7"]),
    ("i", &["", "-", "+"], true, &["$l", "clean($n)"]),
    ("u", &["", "-", "0"], true, &["$l", "#l"]),
    ("c", &["", "-"], false, &["65", "#l % 256", "255", "0"]),
    ("x", &["", "-", "0", "#"], true, &["$l", "255", "#l * 99"]),
    ("X", &["", "#"], true, &["$l", "48879"]),
    ("o", &["", "-", "#"], true, &["$l", "8"]),
    ("e", &["", "-", "+", "#", "0"], true, &["$l", "clean($n)", "huge", "minus"]),
    ("f", &["", "-", "+", " ", "0"], true, &["$l", "clean($n)", "0.125", "'7'"]),
    ("g", &["", "-", "+", "#", "0"], true, &["$l", "clean($n)", "big", "-huge", "minus"]),
    ("G", &["", "+"], true, &["$l", "1e-10"]),
    ("q", &[""], false, &["$s", "'a\\n\\r\\0\"b\\\\'", "12"]),
    ("s", &["", "-"], true, &["$s", "$l", "'a\\0b'", "('xy'):rep(60)"]),
];

const MALFORMED: [&str; 10] = ["%", "%y", "%123d", "%.123f", "%--+ #0-d", "%10", "%ll", "%p", "%5.", "%\\0"];

const CALLS: [&str; 28] = [
    "string.rep($s, #l % 6)",
    "string.rep($s, $l % 7)",
    "string.rep('ab', -1)",
    "string.sub($s, $l, $l)",
    "string.sub('hello', $n, $n)",
    "string.sub('hello', -3, -2)",
    "string.byte($s, 1, -1)",
    "string.byte('hello', $l)",
    "string.byte('hello', -2, 9)",
    "string.char(72, 105, #l % 256)",
    "string.char()",
    "string.char($l)",
    "string.reverse($s)",
    "string.upper($s), string.lower($s)",
    "string.len($s)",
    "($s):reverse()",
    "#$s, $s == $s",
    "tostring($n == $n), tostring(nil)",
    "tonumber($s)",
    "tonumber($s, 16)",
    "tonumber('zz', 36)",
    "tonumber(' 0x1F '), tonumber('1e1'), tonumber('1e'), tonumber('0x'), tonumber('5 5')",
    "tonumber('7' .. #l, 8)",
    "tonumber('-ff', 16), tonumber('8', 8)",
    "tonumber($n, $l)",
    "$s < $s, $s <= $s",
    "string.format('%s %s', $s, tostring($c))",
    "string.format($s, $a)",
];

impl Writer {
    pub(super) fn formats(&mut self) {
        if self.dice.one_in(2) {
            let call = self.filled(&CALLS);
            return self.template("note('format', pcall(function(...) return $0 end, ...))", &[&call]);
        }
        let (mut format, mut values) = (String::new(), String::new());
        for _ in 0..1 + self.dice.below(3) {
            let (letter, flags, precise, from) = CONVERSIONS[self.dice.below(CONVERSIONS.len())];
            let (flag, width) = (self.dice.pick(flags), self.dice.pick(&["", "", "5", "12"]));
            // Zeros fill up to a width only.
            let width = if letter == "q" { "" } else { width };
            let flag = if flag == "0" && width.is_empty() { "" } else { flag };
            let precision =
                if precise && flag != "0" { self.dice.pick(&["", "", ".0", ".3", ".10", "."]) } else { "" };
            format += &format!("{}%{flag}{width}{precision}{letter}", self.dice.pick(&["", " ", "<", "%%"]));
            // Now and then a value is missing, or is something else.
            if !self.dice.one_in(25) {
                values += ", ";
                values += &if self.dice.one_in(25) {
                    self.filled(&["$s", "true", "nil"])
                } else {
                    self.filled(from)
                };
            }
        }
        if self.dice.one_in(12) {
            format += self.dice.pick(&MALFORMED);
        }
        self.template("note('format', pcall(string.format, '$0'$1))", &[&format, &values]);
    }
}
