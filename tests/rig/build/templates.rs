//! Random templates: every form of the template language, nested in one another.
//!
//! In: random numbers. Out: opcodes whose templates the macros accept, and whose meaning is the same in all tiers: the
//! result of every float operation goes through [`one_nan`] at once.

use super::{Opcode, field, one_nan};
use azulejo_core::fuzzing::Random;

/// The operands of every template, with their types; the last group is narrower or unsigned.
const OPERANDS: [(&str, &str); 9] = [
    ("a", "i64"),
    ("b", "i64"),
    ("c", "i32"),
    ("d", "i16"),
    ("e", "i8"),
    ("x", "f64"),
    ("y", "f32"),
    ("f", "u16"),
    ("g", "u32"),
];

/// The types of expressions.
const TYPES: [&str; 6] = ["i64", "i32", "f64", "i16", "f32", "i8"];

const COMPARISONS: [&str; 6] = ["lt", "le", "eq", "ne", "ge", "gt"];
const UNSIGNED_COMPARISONS: [&str; 4] = ["ult", "ule", "uge", "ugt"];
const OVERFLOWS: [&str; 6] = ["addo", "subo", "mulo", "uaddo", "usubo", "umulo"];
const INT_BINARY: [&str; 13] =
    ["add", "sub", "mul", "and", "or", "xor", "shl", "shr", "sar", "rotl", "rotr", "mulhi", "umulhi"];
const INT_UNARY: [&str; 5] = ["neg", "not", "clz", "ctz", "popcnt"];
const FLOAT_BINARY: [&str; 6] = ["add", "sub", "mul", "div", "min", "max"];
const FLOAT_UNARY: [&str; 5] = ["sqrt", "floor", "ceil", "trunc", "nearest"];

/// The first opcodes do not touch the edge of memory, so that the programs in `found/` keep their meaning.
const WITHOUT_EDGE: usize = 160;

/// Makes `count` opcodes `Mix0`, `Mix1`, ….
pub(crate) fn mixes(count: usize) -> Vec<Opcode> {
    (0..count).map(|number| mix(number, &mut Random::new(number as u64))).collect()
}

fn mix(number: usize, random: &mut Random) -> Opcode {
    let out = TYPES[random.below(TYPES.len())];
    let has_edge = number >= WITHOUT_EDGE;
    let mut maker =
        Maker { random, names: Vec::new(), next: 0, out, stores: false, has_label: false, has_edge };
    (maker.stores, maker.has_label) = (maker.random.one_in(3), maker.random.one_in(4));
    let kind = if maker.stores && maker.random.one_in(2) { "InOut" } else { "Out" };
    if kind == "InOut" {
        maker.names.push(("dst".into(), out));
    }
    maker.names.extend(OPERANDS[..7].iter().map(|(name, ty)| (name.to_string(), *ty)));
    maker.names.push(("k".into(), "i32"));
    let depth = 2 + maker.random.below(4);
    let body = match maker.stores {
        // It may store the output several times.
        true => {
            let first = maker.expr(out, depth - 1);
            let steps: Vec<String> = (0..1 + maker.random.below(4)).map(|_| maker.step(depth)).collect();
            format!("(dov {{}} (set $dst {first}) {})", steps.join(" "))
        }
        false if maker.has_label => {
            let (step, value) = (maker.step(2), maker.expr(out, depth));
            format!("(do {{}} {step} {value})")
        }
        false => format!("(do {{}} {})", maker.expr(out, depth)),
    };
    let stores = maker.stores;
    let has_label = maker.has_label && body.contains("$to");
    // The template has to name every operand, so the unused ones are discarded.
    let operands = OPERANDS.iter().map(|(name, _)| *name).chain(["k"]);
    let unused: Vec<String> = operands.map(|name| format!("(discard ${name})")).collect();
    let template = format!("unsafe {}", body.replacen("{}", &unused.join(" "), 1));
    let mut fields = vec![field("dst", kind, out)];
    fields.extend(OPERANDS.iter().map(|(name, ty)| field(name, "In", ty)));
    fields.push(field("k", "Imm", "i32"));
    if has_label {
        fields.push(("to".into(), "Label".into()));
    }
    Opcode { name: format!("Mix{number}"), fields, template, stores }
}

fn bytes_of(ty: &str) -> usize {
    ty[1..].parse::<usize>().expect("a type ends in its width") / 8
}

struct Maker<'a> {
    random: &'a mut Random,
    /// The names in scope, with their types.
    names: Vec<(String, &'static str)>,
    next: usize,
    /// The type of the output, and whether the template stores it itself.
    out: &'static str,
    stores: bool,
    has_label: bool,
    /// Whether the template may touch the edge of memory.
    has_edge: bool,
}

impl Maker<'_> {
    fn one_of(&mut self, words: &[&'static str]) -> &'static str {
        words[self.random.below(words.len())]
    }

    fn int(&mut self) -> &'static str {
        self.one_of(&["i64", "i64", "i32", "i16", "i8"])
    }

    fn float(&mut self) -> &'static str {
        self.one_of(&["f64", "f32"])
    }

    fn fresh(&mut self) -> String {
        self.next += 1;
        format!("v{}", self.next)
    }

    fn leaf(&mut self, ty: &'static str) -> String {
        let is_float = ty.starts_with('f');
        if self.random.one_in(4) {
            let (int, float) = (
                ["0", "1", "-1", "2", "7", "8", "63", "100", "-128"][self.random.below(9)],
                ["0.0", "1.0", "-0.5", "3.25"][self.random.below(4)],
            );
            return format!("(const {} {ty})", if is_float { float } else { int });
        }
        // A narrower operand is extended by the sign of its own type.
        match ty {
            "i64" if self.random.one_in(8) => return "(add $a $g)".into(),
            "i32" if self.random.one_in(8) => return "(sub $f $c)".into(),
            _ => {}
        }
        let fitting: Vec<&String> =
            self.names.iter().filter(|(_, of)| *of == ty).map(|(name, _)| name).collect();
        // Prefer names that were bound later; they are more interesting.
        let from = self.random.below(fitting.len());
        format!("${}", fitting[from + self.random.below(fitting.len() - from)])
    }

    fn element(&mut self, ty: &str) -> String {
        let bytes = bytes_of(ty);
        let index = self.leaf("i64");
        format!("(addr (idx (addr (tc) (&offset_of Vm, buffer)) (and {index} 7) {bytes}) 8)")
    }

    /// Binds a new name to a value in a body. The closure that makes the body gets the type and the name.
    fn named(&mut self, depth: usize, body: impl FnOnce(&mut Self, usize) -> String) -> (String, String) {
        let ty = self.one_of(&TYPES);
        let value = self.expr(ty, depth - 1);
        let name = self.fresh();
        self.names.push((name.clone(), ty));
        let body = body(self, depth - 1);
        self.names.pop();
        (format!("((${name} {value}))"), format!("(discard ${name}) {body}"))
    }

    fn expr(&mut self, ty: &'static str, depth: usize) -> String {
        if depth == 0 || self.random.one_in(9) {
            return self.leaf(ty);
        }
        let less = depth - 1;
        match self.random.below(16) {
            0 | 1 => {
                let (flag, a, b) = (self.flag(less), self.expr(ty, less), self.expr(ty, less));
                format!("(if {flag} {a} {b})")
            }
            2 => {
                let (flag, a, b) = (self.flag(less), self.expr(ty, less), self.expr(ty, less));
                format!("(select {flag} {a} {b})")
            }
            3 | 4 => {
                let (names, body) = self.named(depth, |maker, less| maker.expr(ty, less));
                format!("(let: {names} (do {body}))")
            }
            5 => {
                let (step, value) = (self.step(less), self.expr(ty, less));
                format!("(do {step} {value})")
            }
            6 if self.has_edge && self.random.one_in(2) => {
                let (index, code) = (self.leaf("i64"), self.random.below(1000));
                super::within(&index, bytes_of(ty), code, |place| format!("(load {place} {ty})"))
            }
            6 => {
                let element = self.element(ty);
                format!("(load {element} {ty})")
            }
            _ if ty.starts_with('f') => self.float_expr(ty, less),
            _ => self.int_expr(ty, less),
        }
    }

    fn int_expr(&mut self, ty: &'static str, less: usize) -> String {
        match self.random.below(16) {
            0..8 => {
                let (op, a) = (self.one_of(&INT_BINARY), self.expr(ty, less));
                let b = if self.random.one_in(2) { self.leaf(ty) } else { self.expr(ty, less) };
                format!("({op} {a} {b})")
            }
            8 => format!("({} {})", self.one_of(&INT_UNARY), self.expr(ty, less)),
            9 | 10 => {
                let (op, from) = (self.one_of(&["scast", "ucast"]), self.int());
                format!("({op} {} {ty})", self.expr(from, less))
            }
            11 => format!("(flagval {} {ty})", self.flag(less)),
            12 => {
                let any_width = &["ftoi_wrap", "ftos_sat", "ftou_sat"];
                let of_instructions = &["ftoi_wrap", "ftos_sat", "ftou_sat", "ftos_least"];
                let is_wide = matches!(ty, "i32" | "i64");
                let (op, from) =
                    (self.one_of(if is_wide { of_instructions } else { any_width }), self.float());
                format!("({op} {} {ty})", self.expr(from, less))
            }
            13 => {
                let op = self.one_of(&["div", "rem", "udiv", "urem"]);
                let (a, b) = (self.expr(ty, less), self.leaf(ty));
                format!("({op} {a} (or (and {b} 7) 1))")
            }
            14 => match ty {
                "i64" => format!("(bitcast {} i64)", self.expr("f64", less)),
                "i32" => format!("(bitcast {} i32)", self.expr("f32", less)),
                _ => format!("(not {})", self.expr(ty, less)),
            },
            _ if ty == "i64" => {
                let (a, b) = (self.expr("i64", less), self.leaf("i64"));
                let callee = self.one_of(&["callee2_slow", "throws callee2_or_fail"]);
                format!("(call {callee} (arglist (carg {a} i64) (carg {b} i64)) i64)")
            }
            _ => format!("(neg {})", self.expr(ty, less)),
        }
    }

    fn float_expr(&mut self, ty: &'static str, less: usize) -> String {
        match self.random.below(12) {
            0..4 => {
                let (op, a) = (self.one_of(&FLOAT_BINARY), self.expr(ty, less));
                let b = if self.random.one_in(2) { self.leaf(ty) } else { self.expr(ty, less) };
                one_nan(&format!("({op} {a} {b})"))
            }
            4 => one_nan(&format!("({} {})", self.one_of(&FLOAT_UNARY), self.expr(ty, less))),
            5 => format!("({} {})", self.one_of(&["neg", "abs"]), self.expr(ty, less)),
            6 => format!("(copysign {} {})", self.expr(ty, less), self.leaf(ty)),
            7 | 8 => {
                let (op, from) = (self.one_of(&["stof", "utof"]), self.int());
                format!("({op} {} {ty})", self.expr(from, less))
            }
            9 => {
                let from = if ty == "f64" { "f32" } else { "f64" };
                one_nan(&format!("(fcast {} {ty})", self.expr(from, less)))
            }
            10 if ty == "f64" => {
                let (a, b) = (self.expr("f64", less), self.leaf("f64"));
                let call = format!("(call pure halfway (arglist (carg {a} f64) (carg {b} f64)) f64)");
                one_nan(&call)
            }
            _ => {
                let from = if ty == "f64" { "i64" } else { "i32" };
                format!("(bitcast {} {ty})", self.expr(from, less))
            }
        }
    }

    fn flag(&mut self, depth: usize) -> String {
        let less = depth.saturating_sub(1);
        match self.random.below(if depth == 0 { 6 } else { 12 }) {
            0..4 => {
                let ty = self.one_of(&TYPES);
                let is_unsigned = !ty.starts_with('f') && self.random.one_in(3);
                let words = if is_unsigned { &UNSIGNED_COMPARISONS[..] } else { &COMPARISONS };
                let (op, a, b) = (self.one_of(words), self.expr(ty, less), self.leaf(ty));
                format!("({op} {a} {b})")
            }
            4 => {
                let ty = self.int();
                format!("({} {})", self.one_of(&["nz", "zr"]), self.expr(ty, less))
            }
            5 => {
                let (op, ty) = (self.one_of(&OVERFLOWS), self.int());
                format!("({op} {} {})", self.expr(ty, less), self.leaf(ty))
            }
            6 | 7 => {
                let flags: Vec<String> = (0..2 + self.random.below(2)).map(|_| self.flag(less)).collect();
                format!("({} {})", self.one_of(&["all", "any"]), flags.join(" "))
            }
            8 | 9 => format!("(notf {})", self.flag(less)),
            _ => format!("({} {})", self.one_of(&["likely", "unlikely"]), self.flag(less)),
        }
    }

    /// Makes a step: an expression that is evaluated for its effect.
    fn step(&mut self, depth: usize) -> String {
        let less = depth.saturating_sub(1);
        match self.random.below(if depth == 0 { 2 } else { 12 }) {
            0 if self.has_edge && self.random.one_in(3) => {
                let ty = self.one_of(&TYPES);
                let (index, value, code) = (self.leaf("i64"), self.expr(ty, less), self.random.below(1000));
                let name = self.fresh();
                let store = |place: &str| format!("(store {place} ${name} {ty})");
                let store = super::within(&index, bytes_of(ty), code, store).replacen("let:", "letv:", 1);
                format!("(letv: ((${name} {value})) {store})")
            }
            0 => {
                let ty = self.one_of(&TYPES);
                let (element, value) = (self.element(ty), self.expr(ty, less));
                format!("(store {element} {value} {ty})")
            }
            1 => format!("(callv note (arglist (carg (tc) ptr) (carg {} i64)))", self.expr("i64", less)),
            2..4 if self.stores => format!("(set $dst {})", self.expr(self.out, less)),
            2..4 => format!("(when {} {})", self.flag(less), self.step(less)),
            4 | 5 => format!("(when {} {})", self.flag(less), self.step(less)),
            6 | 7 => format!("(ifv {} {} {})", self.flag(less), self.step(less), self.step(less)),
            8 => format!("(dov {} {})", self.step(less), self.step(less)),
            9 => {
                let (names, body) = self.named(depth, |maker, less| maker.step(less));
                format!("(letv: {names} {body})")
            }
            10 if self.has_label => format!("(when {} (branch $to))", self.flag(less)),
            10 => format!("(when (unlikely (eq {} 77)) (trap 3))", self.leaf("i64")),
            _ => match self.random.below(4) {
                0 => format!("(when (unlikely {}) (exit))", self.flag(less)),
                1 => format!("(when (eq {} 12) (return {}))", self.leaf("i64"), self.leaf("i64")),
                2 => format!("(when {} (cold {}))", self.flag(less), self.step(less)),
                _ => format!("(discard {})", self.expr("i32", less)),
            },
        }
    }
}
