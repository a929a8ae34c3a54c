//! Expressions.
//!
//! In: the kind of value that the place wants, and how deep the expression may be. Out: its text, which uses the variables that can be
//! seen, and calls functions that may change them. Now and then its value is of another kind.

use super::{Kind, Writer};

impl Writer {
    pub(super) fn kind(&mut self) -> Kind {
        [Kind::Number, Kind::Number, Kind::Number, Kind::Text, Kind::Any][self.dice.below(5)]
    }

    /// Where a value can be put.
    pub(super) fn target(&mut self) -> (String, Kind) {
        const SHARED: [(&str, Kind); 6] = [
            ("u1", Kind::Number),
            ("u2", Kind::Text),
            ("u3", Kind::Any),
            ("g1", Kind::Number),
            ("g2", Kind::Text),
            ("g3", Kind::Number),
        ];
        if self.dice.one_in(3) {
            let (name, kind) = SHARED[self.dice.below(SHARED.len())];
            return (name.to_string(), kind);
        }
        let fit: Vec<_> = self.locals.iter().filter(|(_, kind)| *kind != Kind::Function).collect();
        fit[self.dice.below(fit.len())].clone()
    }

    pub(super) fn literal(&mut self, kind: Kind) -> String {
        const NUMBERS: [&str; 14] =
            ["0", "1", "2", "3", "-1", "0.5", "-2.5", "10", "255", "1e10", "2147483647", "0.1", "7", "1e300"];
        const TEXTS: [&str; 7] = ["'a'", "'10'", "'x y'", "''", "'0x10'", "'-3'", "'zz'"];
        match kind {
            Kind::Number => self.dice.pick(&NUMBERS),
            Kind::Text => self.dice.pick(&TEXTS),
            Kind::Any | Kind::Function => self.dice.pick(&["nil", "true", "false", "1", "'s'", "2.5"]),
        }
        .to_string()
    }

    /// A variable of the kind, if there is one.
    pub(super) fn variable(&mut self, kind: Kind) -> Option<String> {
        let fit =
            self.locals.iter().filter(|(_, of)| *of == kind || kind == Kind::Any && *of != Kind::Function);
        let names: Vec<String> = fit.map(|(name, _)| name.clone()).collect();
        if names.is_empty() { None } else { Some(names[self.dice.below(names.len())].clone()) }
    }

    /// No literal: a variable or a call.
    pub(super) fn value(&mut self, kind: Kind, depth: usize) -> String {
        // Now and then of another kind.
        let kind = if self.dice.one_in(40) { Kind::Any } else { kind };
        let shared = match kind {
            Kind::Number => {
                ["u1", "g1", "g3", "t.x", "l[1]", "#l", "l[#l]", "o.x", "p:get(1)", "w1.x", "q[1]"]
            }
            Kind::Text => [
                "u2",
                "g2",
                "t.y",
                "type(u3)",
                "tostring(#l)",
                "m.name",
                "u2",
                "o.name",
                "p.name",
                "w3.y",
                "w1.y",
            ],
            Kind::Any | Kind::Function => {
                ["u3", "t[1]", "t.z", "m", "t", "(...)", "l[99]", "o", "p", "w1", "w2"]
            }
        };
        if depth > 0
            && self.dice.one_in(5)
            && let Some(function) = self.variable(Kind::Function)
        {
            return format!("{function}({})", self.expression(Kind::Number, depth - 1));
        }
        match self.dice.below(6) {
            0 => self.dice.pick(&shared).to_string(),
            1 if depth > 0 => self.call(kind, depth - 1),
            _ => self.variable(kind).unwrap_or_else(|| self.dice.pick(&shared).to_string()),
        }
    }

    pub(super) fn call(&mut self, kind: Kind, depth: usize) -> String {
        let (number, any) = (self.expression(Kind::Number, depth), self.expression(Kind::Any, depth));
        let calls = match kind {
            Kind::Number => [
                format!("floor({number})"),
                format!("math.max(u1, {number})"),
                format!("select('#', {any}, ...)"),
                format!("(tonumber({any}) or {number})"),
                format!("#('' .. text({number}))"),
            ],
            Kind::Text => [
                format!("type({any})"),
                format!("sub(u2, {number})"),
                "('x'):rep(#l % 5)".to_string(),
                format!("text(tostring({any} == nil))"),
                format!("text(g2):upper(({number}))"),
            ],
            Kind::Any | Kind::Function => [
                format!("t[{any}]"),
                format!("m[{any}]"),
                format!("m({any})"),
                format!("(select(1, {any}, ...))"),
                format!("rawequal({any}, {number})"),
            ],
        };
        if self.functions > 0 && self.dice.one_in(6) {
            return format!("f{}({number}, {any})", 1 + self.dice.below(self.functions));
        }
        calls[self.dice.below(calls.len())].clone()
    }

    pub(super) fn expression(&mut self, kind: Kind, depth: usize) -> String {
        if depth == 0 || self.dice.one_in(4) {
            return if self.dice.one_in(3) { self.literal(kind) } else { self.value(kind, depth) };
        }
        let left = self.value(kind, depth);
        match kind {
            Kind::Number => {
                let right = self.expression(Kind::Number, depth - 1);
                match self.dice.below(8) {
                    0 => format!("-({left})"),
                    1 => format!("({left} and {right} or {left})"),
                    _ => {
                        let operator = self.dice.pick(&["+", "-", "*", "/", "%", "+", "-", "^"]);
                        if self.dice.one_in(2) {
                            format!("({left} {operator} ({right}))")
                        } else {
                            format!("(({right}) {operator} {left})")
                        }
                    }
                }
            }
            Kind::Text => {
                let other = self.kind();
                let right = self.expression(other, depth - 1);
                format!("(text({left}) .. text({right}))")
            }
            Kind::Any | Kind::Function => match self.dice.below(4) {
                0 => self.condition(depth - 1),
                1 => format!("({left} or {})", self.literal(Kind::Any)),
                2 => format!("({left} and {})", self.expression(Kind::Number, depth - 1)),
                _ => {
                    let kind = self.kind();
                    self.expression(kind, depth - 1)
                }
            },
        }
    }

    pub(super) fn condition(&mut self, depth: usize) -> String {
        let (left, right) = (self.value(Kind::Number, 0), self.expression(Kind::Number, depth));
        match self.dice.below(8) {
            0 => format!("not ({left} == {right})"),
            1 => format!("({left} ~= {right})"),
            2 => {
                let (left, right) = (self.value(Kind::Any, 0), self.expression(Kind::Any, 0));
                format!("({left} == {right})")
            }
            3 => {
                let (left, right) = (self.value(Kind::Text, 0), self.value(Kind::Text, 0));
                format!("({left} < {right})")
            }
            4 if depth > 0 => {
                let (left, right) = (self.condition(depth - 1), self.condition(depth - 1));
                format!("({left} {} {right})", self.dice.pick(&["and", "or"]))
            }
            _ => format!("({left} {} {right})", self.dice.pick(&["<", "<=", ">", ">="])),
        }
    }
}
