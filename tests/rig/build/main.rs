//! Writes the rig's bytecode: an opcode for every operator of the vocabulary on every type it supports, and the opcodes of
//! `src/opcodes.txt`. A new operator is part of every random program at once.

mod families;
mod templates;

use azulejo_core::vocab::op::{Key, Kind, Param, Yields};
use azulejo_core::vocab::{OpInfo, Props, Sig, Type, Vocabulary};
use std::fmt::Write;
use std::path::Path;
use std::{env, fs};

/// An opcode: its fields (name and type) and its meaning.
#[derive(Default)]
struct Opcode {
    name: String,
    fields: Vec<(String, String)>,
    template: String,
    /// Whether its template stores the outputs itself.
    stores: bool,
}

fn main() {
    println!("cargo::rerun-if-changed=build");
    println!("cargo::rerun-if-changed=src/opcodes.txt");
    let mut opcodes = Vec::new();
    for (_, info) in Vocabulary::BUILTIN.iter() {
        let is_value =
            info.reference.is_some() && info.props.contains(Props::TEMPLATE) && !info.operands.is_empty();
        if is_value {
            opcodes.extend(info.sigs().into_iter().filter_map(|sig| of_operator(info, sig)));
        }
    }
    for (_, info) in Vocabulary::BUILTIN.iter().filter(|(_, info)| info.update.is_some()) {
        opcodes.extend(info.types.iter().flat_map(|ty| atomics(info, ty)));
    }
    for ty in Type::ALL.into_iter().filter(|ty| ty.is_value()) {
        memory(ty, &mut opcodes);
        branches(ty, &mut opcodes);
        in_memory(ty, &mut opcodes);
        at_edge(ty, &mut opcodes);
    }
    calls(&mut opcodes);
    opcodes.extend(templates::mixes(200));
    opcodes.extend(families::families());
    let text = fs::read_to_string("src/opcodes.txt").expect("the opcodes are there");
    opcodes.extend(text.lines().filter(|line| !line.starts_with('#') && !line.is_empty()).map(written));
    let out = env::var_os("OUT_DIR").expect("cargo says where to write");
    fs::write(Path::new(&out).join("opcodes.rs"), source(&opcodes)).expect("the opcodes can be written");
}

fn camel(text: &str) -> String {
    let parts = text.split(['_', ' ', '.']);
    parts.map(|part| part[..1].to_uppercase() + &part[1..]).collect()
}

fn field(name: &str, kind: &str, ty: &str) -> (String, String) {
    (name.into(), format!("{kind}<{ty}>"))
}

/// Replaces any NaN by the canonical one. Arithmetic may return any NaN, and opcodes reinterpret floats as integers in many
/// ways.
fn one_nan(template: &str) -> String {
    format!("(canonical_nan {template})")
}

/// The opcode that applies an operator to registers of its types.
fn of_operator(info: &OpInfo, sig: Sig) -> Option<Opcode> {
    let of_operands = match info.key {
        Key::Result => sig.ty,
        _ => sig.from,
    };
    let mut fields = Vec::new();
    let mut words = vec![info.name.to_string()];
    for (number, kind) in info.operands.iter().enumerate() {
        let name = ["a", "b", "c"][number];
        let (ty, word) = match kind {
            Kind::Same | Kind::Value => (of_operands.name(), format!("${name}")),
            Kind::Ptr => ("u64", format!("${name}")),
            Kind::Word => ("i64", format!("${name}")),
            Kind::Flag => ("i32", format!("(nz ${name})")),
            _ => return None,
        };
        fields.push(field(name, "In", ty));
        words.push(word);
    }
    for param in info.params {
        words.push(match param {
            Param::Type => sig.ty.name().into(),
            Param::Offset => {
                fields.push(field("imm", "Imm", "i32"));
                "$imm".into()
            }
            Param::Scale => "24".into(),
            _ => return None,
        });
    }
    let mut template = format!("({})", words.join(" "));
    let out = match info.yields {
        Yields::Flag => {
            template = format!("(flagval {template} u8)");
            "u8"
        }
        Yields::Ptr => "u64",
        Yields::Same | Yields::Param => sig.ty.name(),
        _ => return None,
    };
    if out.starts_with('f') && info.props.contains(Props::ANY_NAN) {
        template = one_nan(&template);
    }
    fields.insert(0, field("dst", "Out", out));
    let types = match info.key {
        Key::None => String::new(),
        Key::Both { .. } => format!(" {} {}", sig.from.name(), sig.ty.name()),
        _ => format!(" {}", of_operands.name()),
    };
    let template = format!("unsafe {template}");
    Some(Opcode { name: camel(&format!("{}{types}", info.name)), fields, template, ..Opcode::default() })
}

/// An atomic operator on an element of the context's buffer, and at its start.
fn atomics(info: &OpInfo, ty: Type) -> [Opcode; 2] {
    let name = ty.name();
    let element = format!("(addr (idx (addr (tc) (&offset_of Vm, buffer)) (and $index 7) {}) 8)", ty.bytes());
    let at_start = "(addr (tc) (&offset_of Vm, buffer))".to_string();
    [("element", element), ("start", at_start)].map(|(form, place)| {
        let mut words = vec![info.name.to_string(), place];
        let operands = info.operands.iter().filter(|kind| **kind == Kind::Same);
        words.extend(std::iter::zip(["$a", "$b"], operands).map(|(operand, _)| operand.to_string()));
        words.extend([name.to_string(), "seq_cst".to_string()]);
        let does = words.join(" ");
        let (template, dst) = match info.yields {
            Yields::Void => (format!("(dov (discard $index) (discard $a) (discard $b) ({does}))"), None),
            _ => (
                format!("(do (discard $index) (discard $a) (discard $b) ({does}))"),
                Some(field("dst", "Out", name)),
            ),
        };
        let fields = [field("index", "In", "i64"), field("a", "In", name), field("b", "In", name)];
        Opcode {
            name: camel(&format!("{}_{form}_{name}", info.name)),
            fields: dst.into_iter().chain(fields).collect(),
            template: format!("unsafe {template}"),
            ..Opcode::default()
        }
    })
}

/// Loads, stores and read-modify-writes of elements of the context's buffer, for any index.
fn memory(ty: Type, opcodes: &mut Vec<Opcode>) {
    let name = ty.name();
    let bytes = ty.bits() / 8;
    let (index, value) = (field("index", "In", "i64"), field("value", "In", name));
    let element = format!("(addr (idx (addr (tc) (&offset_of Vm, buffer)) (and $index 7) {bytes}) 8)");
    let dst = field("dst", "Out", name);
    opcodes.push(Opcode {
        name: camel(&format!("load_{name}")),
        fields: vec![dst.clone(), index.clone()],
        template: format!("unsafe (load {element} {name})"),
        ..Opcode::default()
    });
    opcodes.push(Opcode {
        name: camel(&format!("store_{name}")),
        fields: vec![index.clone(), value.clone()],
        template: format!("unsafe (store {element} $value {name})"),
        ..Opcode::default()
    });
    let mut sum = format!("(add (load $at {name}) $value)");
    if name.starts_with('f') {
        sum = one_nan(&sum);
    }
    opcodes.push(Opcode {
        name: camel(&format!("change_{name}")),
        fields: vec![index, value],
        template: format!("unsafe (let: (($at {element})) (store $at {sum} {name}))"),
        ..Opcode::default()
    });
    opcodes.push(Opcode {
        name: camel(&format!("const_{name}")),
        fields: vec![dst, field("value", "Imm", name)],
        template: "$value".into(),
        ..Opcode::default()
    });
}

/// Wraps an access to the edge of memory in a `within`: `access` gets the expression `(place $at)`, an address at which the
/// given number of bytes may be out of bounds.
fn within(index: &str, bytes: usize, code: usize, access: impl FnOnce(&str) -> String) -> String {
    let place = "(idx (load pure (addr (tc) (&offset_of Vm, edge)) ptr) $at 1)";
    let inside = format!("(ule $at {})", 128 - bytes);
    format!("(let: (($at (add (and {index} 127) 1))) (within {inside} {code} {}))", access(place))
}

/// Accesses to the edge of memory, both alone and as memory operands of other operators.
fn at_edge(ty: Type, opcodes: &mut Vec<Opcode>) {
    let name = ty.name();
    let bytes = ty.bits() as usize / 8;
    let (index, value) = (field("i", "In", "i64"), field("b", "In", name));
    let load = |code| within("$i", bytes, code, |place| format!("(load {place} {name})"));
    let mut add = |of: &str, out: Option<&str>, template: String| {
        let mut fields = vec![index.clone(), value.clone()];
        fields.splice(..0, out.map(|out| field("dst", "Out", out)));
        let what = if out.is_some() { "do" } else { "dov" };
        opcodes.push(Opcode {
            name: camel(&format!("edge_{of}_{name}")),
            fields,
            template: format!("unsafe ({what} (discard $i) (discard $b) {template})"),
            ..Opcode::default()
        });
    };
    add("load", Some(name), load(21));
    add("forget", None, format!("(discard {})", load(22)));
    let store =
        within("$i", bytes, 23, |place| format!("(store {place} $b {name})")).replacen("let:", "letv:", 1);
    add("store", None, store);
    let (mut sum, mut changed) = (format!("(add $b {})", load(24)), format!("(add {} $b)", load(25)));
    if name.starts_with('f') {
        (sum, changed) = (one_nan(&sum), one_nan(&changed));
    } else {
        add("test", Some("u8"), format!("(flagval (nz (and {} 6)) u8)", load(26)));
        if bytes > 1 {
            add("low", Some("i8"), format!("(ucast {} i8)", load(27)));
        }
    }
    add("add", Some(name), sum);
    add("less", Some("u8"), format!("(flagval (lt {} $b) u8)", load(28)));
    let change = within("$i", bytes, 29, |place| format!("(store {place} $sum {name})"));
    add("change", None, format!("(letv: (($sum {changed})) {})", change.replacen("let:", "letv:", 1)));
    if name == "i64" {
        add("both", Some(name), format!("(sub {} {})", load(30), load(31).replace("$i", "$b")));
    }
}

/// Comparisons and arithmetic on memory, with each addressing mode.
fn in_memory(ty: Type, opcodes: &mut Vec<Opcode>) {
    let name = ty.name();
    let bytes = ty.bits() / 8;
    let element = format!("(idx (tc) (and $i 7) {bytes})");
    let addresses = [
        ("base", "(tc)".to_string()),
        ("offset", format!("(addr (tc) {})", 2 * bytes)),
        ("behind", format!("(addr {element} 8)")),
        ("element", element),
    ];
    let mut of_flag = vec!["lt", "le", "eq", "ne", "ge", "gt"];
    let mut of_value = vec!["sub"];
    if name.starts_with('f') {
        of_value.extend(["add", "mul", "div"]);
    } else {
        of_value.extend(["add", "mul", "and", "or", "xor"]);
        of_flag.extend(["ult", "ule", "uge", "ugt"]);
    }
    for (form, address) in addresses {
        let load = format!("(load {address} {name})");
        let mut made = Vec::new();
        let mut add = |name_of: String, out: &str, template: String| {
            made.push(Opcode {
                name: camel(&name_of),
                fields: vec![field("dst", "Out", out), field("i", "In", "i64"), field("b", "In", name)],
                template: format!("unsafe (do (discard $i) (discard $b) {template})"),
                ..Opcode::default()
            });
        };
        for op in &of_flag {
            let sides = [format!("{load} $b"), format!("$b {load}"), format!("{load} (const 5 {name})")];
            for (side, operands) in std::iter::zip(["left", "right", "const"], sides) {
                let template = format!("(flagval ({op} {operands}) u8)");
                add(format!("{op}_{form}_{side}_{name}"), "u8", template);
            }
        }
        for op in &of_value {
            let mut template = format!("({op} $b {load})");
            if name.starts_with('f') {
                template = one_nan(&template);
            }
            add(format!("{op}_{form}_{name}"), name, template);
        }
        if !name.starts_with('f') {
            let at = |changed: String| format!("(store $at {changed} {name})");
            let old = format!("(load $at {name})");
            let mut changes =
                vec![("neg", "all", at(format!("(neg {old})"))), ("not", "all", at(format!("(not {old})")))];
            for op in ["add", "sub", "and", "or", "xor"] {
                changes.push((op, "by", at(format!("({op} {old} $b)"))));
                changes.push((op, "some", at(format!("({op} {old} (const 3 {name}))"))));
            }
            for op in ["shl", "shr", "sar"] {
                changes.push((op, "some", at(format!("({op} {old} (const 3 {name}))"))));
            }
            for (op, side, change) in changes {
                opcodes.push(Opcode {
                    name: camel(&format!("change_{op}_{form}_{side}_{name}")),
                    fields: vec![field("i", "In", "i64"), field("b", "In", name)],
                    template: format!(
                        "unsafe (dov (discard $i) (discard $b) (letv: (($at {address})) {change}))"
                    ),
                    ..Opcode::default()
                });
            }
            for (wide, bits) in [("i64", 64), ("i32", 32)] {
                if ty.bits() < bits {
                    for op in ["scast", "ucast"] {
                        add(format!("{op}_{form}_{name}_{wide}"), wide, format!("({op} {load} {wide})"));
                    }
                }
            }
            for op in ["nz", "zr"] {
                for (side, tested) in [
                    ("all", load.clone()),
                    ("some", format!("(and {load} $b)")),
                    ("few", format!("(and {load} 6)")),
                ] {
                    let template = format!("(flagval ({op} {tested}) u8)");
                    add(format!("{op}_{form}_{side}_{name}"), "u8", template);
                }
            }
        }
        opcodes.extend(made);
    }
}

/// Conditional forward jumps, fused with the comparison, and selects.
fn branches(ty: Type, opcodes: &mut Vec<Opcode>) {
    let name = ty.name();
    let (a, b) = (field("a", "In", name), field("b", "In", name));
    let to = ("to".to_string(), "Label".to_string());
    for (word, flag) in
        [("lt", "(lt $a $b)"), ("eq", "(unlikely (eq $a $b))"), ("ge", "(notf (all (ge $a $b) (le $a $b)))")]
    {
        opcodes.push(Opcode {
            name: camel(&format!("jump_{word}_{name}")),
            fields: vec![a.clone(), b.clone(), to.clone()],
            template: format!("(when {flag} (branch $to))"),
            ..Opcode::default()
        });
    }
    opcodes.push(Opcode {
        name: camel(&format!("choose_{name}")),
        fields: vec![field("dst", "Out", name), a, b],
        template: "(if (any (gt $a $b) (eq $b $b)) $a (if (lt $a $b) $b $a))".into(),
        ..Opcode::default()
    });
}

/// Calls with 0 to 24 arguments of mixed types, in each calling convention.
fn calls(opcodes: &mut Vec<Opcode>) {
    for count in 0..=24usize {
        let abi = ["", "\"win64\" ", "\"sysv64\" "][count % 3];
        let mut args = String::new();
        for at in 0..count {
            let (value, ty) =
                [("$a", "i64"), ("$x", "f64"), ("$b", "i32"), ("$y", "f32")][(at * 7 + count) % 4];
            write!(args, " (carg {value} {ty})").expect("text can be written");
        }
        opcodes.push(Opcode {
            name: format!("Call{count}"),
            fields: vec![
                field("dst", "Out", "i64"),
                field("a", "In", "i64"),
                field("x", "In", "f64"),
                field("b", "In", "i32"),
                field("y", "In", "f32"),
            ],
            template: format!("(do (discard $a) (discard $b) (discard $x) (discard $y) (call {abi}callee{count} (arglist{args}) i64))"),
        ..Opcode::default()
        });
    }
}

/// `Name { field: Type, … } => template`; `Name! { … }` stores its outputs itself.
fn written(line: &str) -> Opcode {
    let (head, template) = line.split_once("=>").expect("a line has an arrow");
    let (name, fields) = head.split_once('{').unwrap_or((head, ""));
    let parts = fields.trim().trim_end_matches('}').split(',').filter(|part| !part.trim().is_empty());
    let fields = parts.fold(Vec::<(String, String)>::new(), |mut fields, part| {
        match (part.split_once(':'), fields.last_mut()) {
            (Some((name, ty)), _) => fields.push((name.trim().to_string(), ty.trim().to_string())),
            // The second argument of a type.
            (None, Some((_, ty))) => *ty += &format!(",{part}"),
            (None, None) => panic!("`{part}` has no type"),
        }
        fields
    });
    let (name, stores) = match name.trim().strip_suffix('!') {
        Some(name) => (name, true),
        None => (name.trim(), false),
    };
    Opcode { name: name.into(), fields, template: template.trim().into(), stores }
}

/// The callees of the call opcodes: each mixes its arguments into a number.
fn callees(out: &mut String) -> std::fmt::Result {
    for count in 0..=24usize {
        let abi = ["C", "win64", "sysv64"][count % 3];
        write!(out, "extern \"{abi}\" fn callee{count}(")?;
        for at in 0..count {
            write!(out, "a{at}: {}, ", ["i64", "f64", "i32", "f32"][(at * 7 + count) % 4])?;
        }
        let bits: Vec<String> = (0..count).map(|at| format!("a{at}.bits()")).collect();
        writeln!(out, ") -> i64 {{\n    mix_all({count}, &[{}])\n}}\n", bits.join(", "))?;
    }
    Ok(())
}

fn source(opcodes: &[Opcode]) -> String {
    let mut out = String::new();
    write_source(&mut out, opcodes).expect("text can be written");
    out
}

fn write_source(out: &mut String, opcodes: &[Opcode]) -> std::fmt::Result {
    writeln!(
        out,
        "/// The opcodes.\n#[derive(Bytecode, Clone, Copy, Debug)]\n#[bytecode(context = Vm, pinned((0x7ffc_u64 << 48).wrapping_neg(), 0x7ffa << 48))]"
    )?;
    writeln!(out, "#[allow(missing_docs, reason = \"their templates say what they are\")]\npub enum Op {{")?;
    for Opcode { name, fields, .. } in opcodes {
        let fields: Vec<String> = fields.iter().map(|(name, ty)| format!("{name}: {ty}")).collect();
        writeln!(out, "    {name} {{ {} }},", fields.join(", "))?;
    }
    writeln!(out, "}}\n")?;
    // In small groups, so that a compile error shows the opcodes around it.
    for some in opcodes.chunks(32) {
        writeln!(out, "template! {{{}{}", families::KINDS, families::REGIONS)?;
        for Opcode { name, template, stores, .. } in some {
            let stores = if *stores { "!" } else { "" };
            writeln!(out, "    Op::{name}{stores} => {template}")?;
        }
        writeln!(out, "}}\n")?;
    }
    writeln!(out, "/// The opcode of this number with these operands.")?;
    writeln!(out, "pub(crate) fn from_raw(number: usize, raw: &[Raw]) -> Op {{\n    match number {{")?;
    for (number, Opcode { name, fields, .. }) in opcodes.iter().enumerate() {
        let fields = fields.iter().enumerate().map(|(at, (name, _))| format!("{name}: operand(raw[{at}])"));
        writeln!(out, "        {number} => Op::{name} {{ {} }},", fields.collect::<Vec<_>>().join(", "))?;
    }
    writeln!(out, "        _ => unreachable!(\"there is no opcode {{number}}\"),\n    }}\n}}\n")?;
    callees(out)
}
