//! Families of opcodes that work on the same data, so that the effect of one matters to the others: a few memory cells,
//! tagged values, and two memory regions. Some programs use only one family.
//!
//! Out: opcodes whose names start with the name of their family.

use super::{Opcode, field, one_nan};

/// All families.
pub(crate) fn families() -> Vec<Opcode> {
    let mut opcodes = Vec::new();
    cells(&mut opcodes);
    tagged(&mut opcodes);
    regions(&mut opcodes);
    opcodes
}

fn add(opcodes: &mut Vec<Opcode>, name: &str, fields: &[(&str, &str, &str)], template: String) {
    let fields = fields.iter().map(|(name, kind, ty)| field(name, kind, ty)).collect();
    opcodes.push(Opcode { name: name.into(), fields, template, ..Opcode::default() });
}

/// Loads and stores at overlapping addresses that are compile-time constants, so the compiler knows which of them touch the
/// same bytes; and accesses to the memory that a call changes.
fn cells(opcodes: &mut Vec<Opcode>) {
    for (suffix, ty, bytes, mask) in [("I64", "i64", 8, 1), ("I32", "i32", 4, 3), ("U8", "u8", 1, 7)] {
        let cell = format!("(idx (addr (tc) (&offset_of Vm, buffer)) (and $k {mask}) {bytes})");
        let (k, value) = (("k", "Imm", "i64"), ("a", "In", ty));
        let load = format!("unsafe (load {cell} {ty})");
        add(opcodes, &format!("CellLoad{suffix}"), &[("dst", "Out", ty), k], load);
        let store = format!("unsafe (store {cell} $a {ty})");
        add(opcodes, &format!("CellStore{suffix}"), &[k, value], store);
        let sum = format!("unsafe (letv: (($at {cell})) (store $at (add (load $at {ty}) $a) {ty}))");
        add(opcodes, &format!("CellAdd{suffix}"), &[k, value], sum);
        // A loop whose head contains a load, as part of its condition.
        let jump = format!("unsafe (when (lt (load {cell} {ty}) $a) (branch $to))");
        opcodes.push(Opcode {
            name: format!("CellJump{suffix}"),
            fields: vec![field("k", "Imm", "i64"), field("a", "In", ty), ("to".into(), "Label".into())],
            template: jump,
            ..Opcode::default()
        });
    }
    let notes = "unsafe (load (addr (tc) (&offset_of Vm, notes)) i64)".to_string();
    add(opcodes, "CellLoadNotes", &[("dst", "Out", "i64")], notes);
    let note = "(callv note (arglist (carg (tc) ptr) (carg $a i64)))".to_string();
    add(opcodes, "CellNote", &[("a", "In", "i64")], note);
}

/// Tagged 64-bit values: integers of 32 bits with a tag above them, floats, and bit patterns that are neither.
fn tagged(opcodes: &mut Vec<Opcode>) {
    const TAG: u32 = 0x7ffa;
    let operands = [("dst", "Out", "i64"), ("a", "In", "i64"), ("b", "In", "i64")];
    // Three ways to check for an integer, all seen in dynamic languages.
    type Ask = fn(&str) -> String;
    let asks: [(&str, Ask); 3] = [
        ("Shifted", |value| format!("(eq (shr {value} 48) (const {TAG} i64))")),
        ("Above", |value| format!("(ult (sub {value} (shl (const {TAG} i64) 48)) (shl (const 1 i64) 48))")),
        ("Bits", |value| {
            format!("(zr (xor (and {value} (shl (const -1 i64) 48)) (shl (const {TAG} i64) 48)))")
        }),
    ];
    let boxed = |value: &str| format!("(or (ucast {value} i64) (shl (const {TAG} i64) 48))");
    let slow = "(slow tagged_slow (arglist (carg $a i64) (carg $b i64)) i64)";
    let float = |op: &str| {
        let sum = one_nan(&format!("({op} (bitcast $a f64) (bitcast $b f64))"));
        format!("(bitcast {sum} i64)")
    };
    let (x, y) = ("(ucast $a i32)", "(ucast $b i32)");
    for (how, is_int) in asks {
        let (a, b) = (is_int("$a"), is_int("$b"));
        for (name, op, overflows) in [("Add", "add", "addo"), ("Sub", "sub", "subo"), ("Mul", "mul", "mulo")]
        {
            let ints = format!(
                "(let: (($x {x}) ($y {y})) (if (unlikely ({overflows} $x $y)) {slow} {}))",
                boxed(&format!("({op} $x $y)"))
            );
            let (of_floats, any) = (float(op), format!("(any {a} {b})"));
            let template = format!("unsafe (if (likely (all {a} {b})) {ints} (if {any} {slow} {of_floats}))");
            add(opcodes, &format!("Tagged{name}{how}"), &operands, template);
        }
        let (of_ints, of_others) =
            (format!("(flagval (lt {x} {y}) i64)"), format!("(flagval (lt {slow} 0) i64)"));
        let less = format!("(if (likely (all {a} {b})) {of_ints} {of_others})");
        add(opcodes, &format!("TaggedLess{how}"), &operands, less);
        opcodes.push(Opcode {
            name: format!("TaggedJump{how}"),
            fields: vec![field("a", "In", "i64"), field("b", "In", "i64"), ("to".into(), "Label".into())],
            template: format!(
                "(ifv (likely (all {a} {b})) (when (lt {x} {y}) (branch $to)) (when (lt {slow} 0) (branch $to)))"
            ),
            ..Opcode::default()
        });
        let negated = boxed(&format!("(neg {x})"));
        let negate = format!("(do (guard {a} (discard $a)) {negated})");
        add(opcodes, &format!("TaggedNegate{how}"), &operands[..2], negate);
    }
    add(opcodes, "TaggedInt", &operands[..2], boxed(x));
    add(opcodes, "TaggedFloat", &[("dst", "Out", "i64"), ("x", "In", "f64")], "(bitcast $x i64)".into());
    let constant = boxed("$k");
    add(opcodes, "TaggedConst", &[("dst", "Out", "i64"), ("k", "Imm", "i32")], constant);
}

/// Accesses at addresses in either of two regions, mostly in the first. Each bounds check takes two comparisons.
fn regions(opcodes: &mut Vec<Opcode>) {
    let base = |name: &str| format!("(load pure (addr (tc) (&offset_of Vm, {name})) ptr)");
    let (near, far) = (base("edge"), base("far"));
    // Mostly in the lower half of the bytes, where every access is in bounds.
    let offset = "(add (add (and $i 63) (and (shr $i 20) 64)) 1)";
    let address = format!("(idx (select (nz (and $i 64)) $far $near) {offset} 1)");
    let names = format!("(($near {near}) ($far {far}) ($p {address}))");
    for (suffix, ty, bytes) in [("I64", "i64", 8), ("I32", "i32", 4), ("U8", "u8", 1)] {
        let inside = |region: &str| format!("(ult (sub $p {region}) {})", 129 - bytes);
        let flag = format!("(any (likely {}) {})", inside("$near"), inside("$far"));
        let value = ("b", "In", ty);
        let (dst, index) = (("dst", "Out", ty), ("i", "In", "i64"));
        let load = |code| format!("(within {flag} {code} (load $p {ty}))");
        let store = |code, value: &str| format!("(within {flag} {code} (store $p {value} {ty}))");
        let of = |name: &str| format!("Regions{name}{suffix}");
        add(opcodes, &of("Load"), &[dst, index], format!("unsafe (let: {names} {})", load(41)));
        let template = format!("unsafe (letv: {names} {})", store(42, "$b"));
        add(opcodes, &of("Store"), &[index, value], template);
        // The same address is checked twice.
        let changed = format!("(letv: (($old {})) {})", load(43), store(44, "(add $old $b)"));
        add(opcodes, &of("Change"), &[index, value], format!("unsafe (letv: {names} {changed})"));
        let sum = format!("unsafe (let: {names} (add $b {}))", load(45));
        add(opcodes, &of("Sum"), &[dst, index, value], sum);
    }
    // The first region is read inline, everything else by a function.
    let slow = "(slow (call callee2_slow (arglist (carg $i i64) (carg $i i64)) i64))";
    let template =
        format!("unsafe (let: {names} (if (likely (ult (sub $p $near) 121)) (load $p i64) {slow}))");
    add(opcodes, "RegionsOrCall", &[("dst", "Out", "i64"), ("i", "In", "i64")], template);
}
