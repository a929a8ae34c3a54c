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
    boxed(&mut opcodes);
    memos(&mut opcodes);
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
        let load = format!("unsafe (load cells {cell} {ty})");
        add(opcodes, &format!("CellLoad{suffix}"), &[("dst", "Out", ty), k], load);
        let store = format!("unsafe (store cells {cell} $a {ty})");
        add(opcodes, &format!("CellStore{suffix}"), &[k, value], store);
        // One access says where it is, and the other one does not.
        let sum = format!("unsafe (letv: (($at {cell})) (store cells $at (add (load $at {ty}) $a) {ty}))");
        add(opcodes, &format!("CellAdd{suffix}"), &[k, value], sum);
        // A loop whose head contains a load, as part of its condition.
        let jump = format!("unsafe (when (lt (load cells {cell} {ty}) $a) (branch $to))");
        opcodes.push(Opcode {
            name: format!("CellJump{suffix}"),
            fields: vec![field("k", "Imm", "i64"), field("a", "In", ty), ("to".into(), "Label".into())],
            template: jump,
            ..Opcode::default()
        });
    }
    let notes = "unsafe (load notes (addr (tc) (&offset_of Vm, notes)) i64)".to_string();
    add(opcodes, "CellLoadNotes", &[("dst", "Out", "i64")], notes);
    let note = "(callv note (arglist (carg (tc) ptr) (carg $a i64)))".to_string();
    add(opcodes, "CellNote", &[("a", "In", "i64")], note);
}

/// The regions of memory: the cells, what is noted, and what is near the edge of memory or far from it. Many accesses name none.
pub(crate) const REGIONS: &str = "
    regions { cells, notes, edges }
";

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

/// The kinds of boxed values. A word is a number only if it is the box of one: there is one NaN among them.
pub(crate) const KINDS: &str = "
    kinds u64 {
        number: f64 {
            is (eq $box (bitcast (canonical_nan (bitcast $box f64)) u64))
            unbox (bitcast $box f64)
            box (bitcast (canonical_nan $value) u64)
        }
        small: i32 {
            is (eq (shr $box 32) 0x7ffa0000)
            unbox (ucast $box i32)
            box (or (ucast $value u64) (shl (const 0x7ffa0000 u64) 32))
        }
        letter: u8 {
            is (eq (and $box (const 0xffffffffffffff00 u64)) (shl (const 0x7ffb u64) 48))
            unbox (ucast $box u8)
            box (or (ucast $value u64) (shl (const 0x7ffb u64) 48))
        }
        item: ptr {
            is (eq (shr $box 48) 0x7ffc)
            unbox (sub $box (shl (const 0x7ffc u64) 48))
            box (add $value (shl (const 0x7ffc u64) 48))
        }
        nil { is (eq $box (shl (const 0x7ffd u64) 48)) }
    }
";

/// Values of kinds, which the optimizer follows.
fn boxed(opcodes: &mut Vec<Opcode>) {
    let operands = [("dst", "Out", "u64"), ("a", "In", "u64"), ("b", "In", "u64")];
    let slow = "(slow boxed_slow (arglist (carg $a u64) (carg $b u64)) u64)";
    let mut operation =
        |name: &str, template: String| add(opcodes, &format!("Boxed{name}"), &operands, template);
    for (name, op) in [("Add", "add"), ("Sub", "sub"), ("Mul", "mul")] {
        let (numbers, smalls) = (format!("(box number ({op} $a $b))"), format!("(box small ({op} $a $b))"));
        operation(name, format!("(as (($a number) ($b number)) {numbers} {slow})"));
        operation(&format!("{name}Small"), format!("(as (($a small) ($b small)) {smalls} {slow})"));
        let smalls = format!("(as (($a small) ($b small)) {smalls} {slow})");
        operation(&format!("{name}Any"), format!("(as (($a number) ($b number)) {numbers} {smalls})"));
    }
    // A value of another kind, or the same one again.
    operation(
        "Half",
        format!("(as (($a small)) (box number (mul (stof $a f64) 0.5)) (do (discard $b) {slow}))"),
    );
    operation(
        "Either",
        "(as (($a number)) (box number $a) (as (($b small)) (box small (neg $b)) $a))".into(),
    );
    operation("Nil", "(if (is nil $a) $b (if (is letter $b) (shl (const 0x7ffd u64) 48) $a))".into());
    operation(
        "Letter",
        "(as (($a small)) (box letter (ucast $a u8)) (as (($b letter)) (box letter (add $b 1)) $a))".into(),
    );
    let item =
        "(as (($a item)) (box item (and (add $a 8) 0xffff)) (as (($b small)) (box item (ucast $b ptr)) $a))";
    operation("Item", item.into());
    operation("Move", "(do (discard $b) $a)".into());
    let kinds = ["number", "small", "letter", "item", "nil"].into_iter().enumerate();
    let asked = kinds.map(|(at, kind)| format!("(shl (flagval (is {kind} $a) u64) {at})"));
    let which = asked.reduce(|all, one| format!("(or {all} {one})")).expect("there are kinds");
    operation("Which", format!("(do (discard $b) {which})"));
    // What is stored and loaded is of unknown kind again.
    let memory = "(addr (tc) (&offset_of Vm, buffer))";
    let kept = format!("unsafe (do (store {memory} $a u64) (discard $b) (load {memory} u64))");
    operation("Kept", kept);
    let (x, k) = (("x", "In", "f64"), ("k", "Imm", "i32"));
    add(opcodes, "BoxedNumber", &[operands[0], x], "(box number $x)".into());
    add(opcodes, "BoxedConst", &[operands[0], k], "(box number (stof $k f64))".into());
    add(opcodes, "BoxedSmall", &[operands[0], k], "(box small $k)".into());
    for (name, then, otherwise) in [
        (
            "Less",
            "(lt $a $b)",
            "(lt (ucast (slow boxed_slow (arglist (carg $a u64) (carg $b u64)) u64) i32) 0)",
        ),
        ("More", "(gt $a $b)", "(ult $a $b)"),
    ] {
        opcodes.push(Opcode {
            name: format!("BoxedJump{name}"),
            fields: vec![field("a", "In", "u64"), field("b", "In", "u64"), ("to".into(), "Label".into())],
            template: format!("(when (as (($a number) ($b number)) {then} {otherwise}) (branch $to))"),
            ..Opcode::default()
        });
    }
}

/// Sites that remember the results of functions of one argument. What is remembered is always true, so a program does the same
/// whatever its sites have learned.
fn memos(opcodes: &mut Vec<Opcode>) {
    let slow =
        |key: &str, site: &str| format!("(slow memo (arglist (carg {key} i64) (carg ${site} ptr)) i64)");
    let mut memo = |name: &str, dst: &str, sites: &[(&str, usize)], template: String| {
        let mut fields = vec![field("dst", "Out", dst), field("a", "In", "i64"), field("b", "In", "i64")];
        fields.extend(sites.iter().map(|(name, room)| (name.to_string(), format!("Site<Memo, {room}>"))));
        opcodes.push(Opcode { name: format!("BoxedMemo{name}"), fields, template, ..Opcode::default() });
    };
    let seen = [("seen", 3)];
    let look = |key: &str, body: &str, otherwise: &str| {
        format!("(cached $seen Memo (eq {key} (case key)) {body} {otherwise})")
    };
    memo(
        "Any",
        "i64",
        &seen,
        look("$a", "(add (case value) $b)", &format!("(add {} $b)", slow("$a", "seen"))),
    );
    let small = look("$key", "(case value)", &slow("$key", "seen"));
    memo("Small", "i64", &seen, format!("(do (discard $b) (let: (($key (and $a 3))) {small}))"));
    let float = look("$key", "(case x)", &format!("(stof {} f64)", slow("$key", "seen")));
    memo("Float", "f64", &seen, format!("(do (discard $b) (let: (($key (and $a 1))) {float}))"));
    let odd = look("$key", "(ucast (case odd) i64)", &format!("(and {} 1)", slow("$key", "seen")));
    memo("Odd", "i64", &seen, format!("(do (discard $b) (let: (($key (and $a 7))) {odd}))"));
    // What the first site does not remember, the second one may.
    let second = format!("(cached $again Memo (eq $key (case key)) (case value) {})", slow("$key", "again"));
    let twice =
        format!("(do (discard $b) (let: (($key (and $a 3))) {}))", look("$key", "(case value)", &second));
    memo("Twice", "i64", &[("seen", 2), ("again", 1)], twice);
    let jump = format!(
        "(letv: (($key (and $a 3))) (cachedv $seen Memo (eq $key (case key)) (when (lt (case value) 0) (branch $to)) \
         (when (lt {} 0) (branch $to))))",
        slow("$key", "seen")
    );
    opcodes.push(Opcode {
        name: "BoxedMemoJump".into(),
        fields: vec![
            field("a", "In", "i64"),
            ("seen".into(), "Site<Memo, 2>".into()),
            ("to".into(), "Label".into()),
        ],
        template: jump,
        ..Opcode::default()
    });
}

/// Accesses at addresses in either of two regions, mostly in the first. Each bounds check takes two comparisons. For the compiler both
/// are one region, which the cells are apart from.
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
        let load = |code| format!("(within {flag} {code} (load edges $p {ty}))");
        let store = |code, value: &str| format!("(within {flag} {code} (store edges $p {value} {ty}))");
        let of = |name: &str| format!("Regions{name}{suffix}");
        add(opcodes, &of("Load"), &[dst, index], format!("unsafe (let: {names} {})", load(41)));
        let template = format!("unsafe (letv: {names} {})", store(42, "$b"));
        add(opcodes, &of("Store"), &[index, value], template);
        // The same address is checked twice.
        let changed = format!("(letv: (($old {})) {})", load(43), store(44, "(add $old $b)"));
        add(opcodes, &of("Change"), &[index, value], format!("unsafe (letv: {names} {changed})"));
        let sum = format!("unsafe (let: {names} (add $b {}))", load(45));
        add(opcodes, &of("Sum"), &[dst, index, value], sum);
        // Cells that may be the same ones, of which the compiler knows little more than that.
        let cell = format!("(idx (addr (tc) (&offset_of Vm, buffer)) (and $i 1) {bytes})");
        let load = format!("unsafe (load cells {cell} {ty})");
        add(opcodes, &of("CellLoad"), &[dst, index], load);
        add(opcodes, &of("CellStore"), &[index, value], format!("unsafe (store cells {cell} $b {ty})"));
        add(opcodes, &of("CellStoreAnywhere"), &[index, value], format!("unsafe (store {cell} $b {ty})"));
    }
    // The first region is read inline, everything else by a function.
    let slow = "(slow (call callee2_slow (arglist (carg $i i64) (carg $i i64)) i64))";
    let template =
        format!("unsafe (let: {names} (if (likely (ult (sub $p $near) 121)) (load edges $p i64) {slow}))");
    add(opcodes, "RegionsOrCall", &[("dst", "Out", "i64"), ("i", "In", "i64")], template);
}
