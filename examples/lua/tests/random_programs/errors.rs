//! Errors.
//!
//! In: nothing but chance. Out: statements that raise values of all types, with levels, and catch them once or more; some handlers fail
//! themselves. A level leads to no function that may have been called by a tail call.

use super::Writer;

pub(super) const VALUES: [&str; 12] = [
    "'text'",
    "{ code = $n }",
    "{ code = 'c' }",
    "nil",
    "42",
    "true",
    "false",
    "w1",
    "$a",
    "$s",
    "0.5",
    "type",
];

/// What fails, as statements.
pub(super) const FAULTS: [&str; 18] = [
    "error($e)",
    "error($e, 0)",
    "error($e, 1)",
    "error($e, 2)",
    "error()",
    "error($e)",
    "local n n.x = 1",
    "local n = {} n.x.y = 1",
    "local n = {} n.x()",
    "local n = {} return n.x + 1",
    "local n = 's' return n + 1",
    "local n return n .. 'x'",
    "local n = {} return n < n",
    "local n = {} return n < 1",
    "local n return #n",
    "gnone()",
    "assert(nil, $e)",
    "assert(false)",
];

const HANDLERS: [&str; 16] = [
    "function(e) return type(e), 2 end",
    "function(e) return e end",
    "function(e) return { code = e } end",
    "function(e) error(e) end",
    "function(e) error('again', 0) end",
    "function(e) local n return n + 1 end",
    "function(e) return (select(2, pcall(error, e, 0))) end",
    "function(e) u1 = 3 end",
    "function(e) if type(e) == 'table' then error('text') end return e end",
    "function(e) if type(e) ~= 'string' then return e.x.y end return e end",
    "function(e, ...) return select('#', e, ...) end",
    "nil",
    "'text'",
    "type",
    "error",
    "function(e) return rawequal(e, w1) end",
];

impl Writer {
    pub(super) fn errors(&mut self) {
        match self.dice.below(4) {
            0 => {
                let (fault, handler) = (self.fault(), self.dice.pick(&HANDLERS).to_string());
                self.template(
                    "local good, e = xpcall(function(...)\n  $0\nend, $1)\n\
                     note('error', good, e, type(e) == 'table' and rawget(e, 'code'))",
                    &[&fault, &handler],
                );
            }
            1 => {
                let calls = [
                    "pcall(error)",
                    "pcall(error, $e)",
                    "pcall(error, $e, 1)",
                    "pcall(error, $e, 2)",
                    "pcall(pcall, error, $e)",
                    "pcall(pcall)",
                    "pcall(xpcall, error)",
                    "pcall(assert, $a, 'm', 3)",
                    "pcall(assert)",
                    "select('#', pcall(error, $e))",
                    "pcall($e)",
                    "xpcall(type, type)",
                    "pcall(function() end)",
                ];
                let call = self.dice.pick(&calls).to_string();
                let call = self.raised(&call);
                self.line(&format!("note('error', {call})"));
            }
            _ => {
                let depth = 1 + self.dice.below(3);
                self.nested(depth);
            }
        }
    }

    /// A fault that passes several calls, each of which may raise it again.
    fn nested(&mut self, depth: usize) {
        self.line("local good, e = pcall(function(...)");
        self.indent += 1;
        if depth == 0 {
            let fault = self.fault();
            self.template(
                "local function f(...)\n  $0\nend\nif $c then f() end\nlocal x = f(1)\nreturn x",
                &[&fault],
            );
        } else {
            self.nested(depth - 1);
            let again = self.dice.pick(&[
                "error(e)",
                "error(e, 0)",
                "error(e, 1)",
                "error({ code = e })",
                "return e, 1",
            ]);
            let again = again.to_string();
            self.line(&again);
        }
        self.indent -= 1;
        self.line("end, ...)");
        self.line("note('error', good, e, type(e) == 'table' and plain(rawget(e, 'code')))");
    }

    pub(super) fn fault(&mut self) -> String {
        let fault = self.dice.pick(&FAULTS).to_string();
        self.raised(&fault)
    }

    /// A text in which `$e` stands for a value to be raised.
    fn raised(&mut self, text: &str) -> String {
        let value = self.dice.pick(&VALUES).to_string();
        let text = text.replace("$e", &value);
        self.fill(&text, &[])
    }
}
