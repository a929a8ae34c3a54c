//! The reference of the template language, generated from the rows of the operators and the vocabulary's descriptions.
//!
//! In: `azulejo_core::vocab`. Out: a page, once for the book and once for the rustdoc of `template!`, and opcodes with the
//! page's examples as their templates, which a test runs. `cargo xtask reference` writes the files, `tidy` checks them.

use azulejo_core::vocab::op::{Cast, Key, Kind, Types, Yields};
use azulejo_core::vocab::reference::{Entry, SECTIONS};
use azulejo_core::vocab::{OpInfo, Props, Type, Vocabulary};
use std::fmt::Write;
use std::fs;
use std::path::Path;

/// The page, once for the book and once for rustdoc.
const PAGES: [&str; 2] = ["docs/operators.md", "jit-macros/operators.md"];
/// The examples as opcodes.
const EXAMPLES: &str = "tests/golden/reference.in";

const WIDTH: usize = 120;

const HEAD: &str = "\
What templates can say, word by word. `cargo xtask reference` writes this page from the table of operators, and each example \
is run with the tests, in every tier. The words for dynamic languages are not here: kinds of values (`as`, \
`is`, `box`, `unbox`), sites (`cached`, `case`), slow paths (`slow`), `frames`, `regions` and `quicken` have their sections in the \
chapter on the template language, which ends with all forms at a glance.

`value` is an integer or a float, `number` an integer of 64 bits, `address` an integer of 64 bits or a pointer, `type` one of \
`i8` to `i64`, `u8` to `u64`, `ptr`, `f32` and `f64`. Where two values have one type, a narrower integer is widened by its own \
sign, and a constant takes the type of the other. *Unsafe* stands where the row has to say `unsafe`.

In the examples `$a` is 7, `$b` is -2, `$u` is the greatest `u64`, `$x` is 2.5, `$p` is the address of four numbers of type \
`i64`, 10, 20, 30 and 40, `$k` is a constant of the bytecode, 5, `$run` is two VM registers with 3 and 4, `$f` is the number of \
a function of bytecode that adds its two arguments, and `$to` is a label where 99 is returned. `double`, `nothing` and `fresh` are \
Rust functions.";

/// Writes the files.
pub(crate) fn write(root: &Path) -> Result<(), String> {
    for (name, text) in files() {
        fs::write(root.join(name), text).map_err(|error| format!("{name}: {error}"))?;
    }
    Ok(())
}

/// Finds files that are out of date.
pub(crate) fn stale(root: &Path) -> Vec<String> {
    let is_stale =
        |(name, text): &(&str, String)| fs::read_to_string(root.join(name)).ok().as_ref() != Some(text);
    let stale = files().into_iter().filter(is_stale);
    stale
        .map(|(name, _)| format!("{name}: is not what the operators say; `cargo xtask reference` writes it"))
        .collect()
}

fn files() -> Vec<(&'static str, String)> {
    let page = page();
    vec![(PAGES[0], page.clone()), (PAGES[1], page), (EXAMPLES, examples())]
}

fn page() -> String {
    let mut page = "# The words of the template language\n\n".to_string();
    HEAD.split("\n\n").for_each(|part| paragraph(&mut page, part));
    for section in SECTIONS {
        writeln!(page, "## {}\n", section.title).expect("text can be written");
        for entry in section.entries {
            writeln!(page, "### `{}`\n", entry.word).expect("text can be written");
            let (written, does) = describe(entry);
            paragraph(&mut page, &written);
            paragraph(&mut page, &does);
            let shown = |(_, code, value): &(&str, &str, &str)| match value.strip_prefix("! ") {
                Some(trap) => format!("`{code}` traps with `{trap}`"),
                None => format!("`{code}` is `{value}`"),
            };
            let shown: Vec<String> = entry.examples.iter().map(shown).collect();
            if !shown.is_empty() {
                paragraph(&mut page, &format!("{}.", shown.join("; ")));
            }
        }
    }
    page.truncate(page.trim_end().len());
    page + "\n"
}

/// Writes a paragraph, wrapped. Code between backticks is not split.
fn paragraph(page: &mut String, text: &str) {
    let (mut length, mut word, mut is_code) = (0, String::new(), false);
    let mut put = |page: &mut String, word: &mut String| {
        if length + word.chars().count() > WIDTH && length > 0 {
            page.truncate(page.trim_end_matches(' ').len());
            page.push('\n');
            length = 0;
        }
        length += word.chars().count() + 1;
        page.push_str(word);
        page.push(' ');
        word.clear();
    };
    for letter in text.chars() {
        is_code ^= letter == '`';
        match letter {
            ' ' if !is_code => put(page, &mut word),
            letter => word.push(letter),
        }
    }
    put(page, &mut word);
    page.truncate(page.trim_end_matches(' ').len());
    page.push_str("\n\n");
}

/// The syntax and types of an entry; and its description, including its traps.
fn describe(entry: &Entry) -> (String, String) {
    let row = entry.row().map(|(_, info)| info);
    let form = entry.form.map_or_else(|| row.map_or_else(String::new, OpInfo::form), str::to_string);
    let Some(info) = row else { return (format!("`{form}`"), entry.says.to_string()) };
    let written = types(info).map_or_else(|| format!("`{form}`"), |types| format!("`{form}` {types}"));
    let mut says = vec![entry.says.to_string()];
    if let Some(unsigned) = info.unsigned {
        let word = Vocabulary::BUILTIN.info(unsigned).name;
        says.push(format!("Goes by the sign of its operands: of unsigned ones it is `{word}`."));
    }
    let n_same = info.operands.iter().filter(|kind| **kind == Kind::Same).count();
    if n_same > 1 && info.cast == Cast::None {
        says.push("Its operands have one type.".into());
    }
    for check in info.checks {
        let of = if check.on == Types::INT && info.types != Types::INT { " of integers" } else { "" };
        says.push(format!("Traps with `{:?}`{of} where `{}`.", check.trap, plain(check.when)));
    }
    if info.props.contains(Props::ANY_NAN) {
        says.push("If it gives a NaN, that is any NaN.".into());
    }
    if info.props.intersects(Props::READS | Props::WRITES) && !info.is_call() {
        says.push("*Unsafe*.".into());
    }
    (written, says.join(" "))
}

/// The condition of a check, with the placeholders replaced by words.
fn plain(when: &str) -> String {
    let words = [
        ("%min", "least"),
        ("%below", "below"),
        ("%above", "above"),
        ("%beyond", "above"),
        ("$0", "first"),
        ("$1", "second"),
    ];
    words.into_iter().fold(when.to_string(), |text, (short, long)| text.replace(short, long))
}

/// The types it works on, and the type of its result.
fn types(info: &OpInfo) -> Option<String> {
    let of = match info.key {
        Key::None => None,
        Key::Both { legal } => {
            let with = |side: fn(Type, Type) -> (Type, Type), of: Type| {
                Type::ALL.into_iter().any(|other| {
                    let (from, to) = side(of, other);
                    legal(from, to)
                })
            };
            let from =
                class(&Type::ALL.into_iter().filter(|ty| with(|a, b| (a, b), *ty)).collect::<Vec<_>>());
            let to = class(&Type::ALL.into_iter().filter(|ty| with(|a, b| (b, a), *ty)).collect::<Vec<_>>());
            return Some(format!("from {from} to {to}"));
        }
        Key::Result | Key::Operand => Some(class(&info.types.iter().collect::<Vec<_>>())),
    };
    let gives = match info.yields {
        Yields::Ptr => "gives an address",
        Yields::Flag => "gives a flag",
        Yields::Param => "gives the type that is named",
        Yields::Same => "gives their type",
        _ => "gives nothing",
    };
    let is_value = info.reference.is_some() || info.update.is_some() || info.props.contains(Props::ACCESS);
    match of {
        Some(of) if is_value => Some(format!("of {of} {gives}")),
        _ if is_value => Some(gives.to_string()),
        _ => None,
    }
}

/// The name of a set of types.
fn class(types: &[Type]) -> String {
    let is_all = |all: &[Type]| all.iter().all(|ty| types.contains(ty));
    match (is_all(&Type::INTS), is_all(&Type::FLOATS)) {
        (true, true) => "integers and floats".into(),
        (true, false) => "integers".into(),
        (false, true) if types.len() == 2 => "floats".into(),
        _ => types.iter().map(|ty| format!("`{ty}`")).collect::<Vec<_>>().join(", "),
    }
}

/// The operands that an example may use: the name, the field's type, and its value in a test.
const OPERANDS: [(&str, &str, &str); 9] = [
    ("a", "In<i64>", "0.into()"),
    ("b", "In<i64>", "1.into()"),
    ("u", "In<u64>", "2.into()"),
    ("x", "In<f64>", "3.into()"),
    ("p", "In<*mut i64>", "4.into()"),
    ("k", "Imm<i64>", "Imm(5)"),
    ("run", "Regs", "Regs { first: 5, count: 2 }"),
    ("f", "In<u32>", "7.into()"),
    ("to", "Label", "Label(2)"),
];

/// Whether a template uses an operand.
fn names(code: &str, operand: &str) -> bool {
    code.match_indices(&format!("${operand}")).any(|(at, found)| {
        let next = code[at + found.len()..].chars().next();
        !next.is_some_and(|next| next.is_alphanumeric() || next == '_')
    })
}

/// The examples as an enum, its templates, and a list of expected results.
fn examples() -> String {
    let all: Vec<&(&str, &str, &str)> =
        SECTIONS.iter().flat_map(|section| section.entries).flat_map(|entry| entry.examples).collect();
    let mut out = "// The examples of docs/operators.md; `cargo xtask reference` writes this.\n".to_string();
    write_examples(&mut out, &all).expect("text can be written");
    out
}

fn write_examples(out: &mut String, all: &[&(&str, &str, &str)]) -> std::fmt::Result {
    writeln!(out, "#[derive(Bytecode, Clone, Copy, Debug)]\n#[bytecode(context = Vm)]\nenum Op {{")?;
    for (number, (ty, code, _)) in all.iter().enumerate() {
        write!(out, "    Example{number} {{ dst: Out<{ty}>")?;
        for (name, field, _) in OPERANDS.iter().filter(|(name, ..)| names(code, name)) {
            write!(out, ", {name}: {field}")?;
        }
        writeln!(out, " }},")?;
    }
    writeln!(out, "    Sum {{ dst: Out<i64>, a: In<i64>, b: In<i64> }},")?;
    writeln!(out, "    Elsewhere {{ dst: Out<u64> }},\n    Return {{ a: In<u64> }},\n}}\n\ntemplate! {{")?;
    for (number, (_, code, _)) in all.iter().enumerate() {
        writeln!(out, "    Op::Example{number} => unsafe {code}")?;
    }
    writeln!(
        out,
        "    Op::Sum => (add $a $b)\n    Op::Elsewhere => 99\n    Op::Return => (return $a)\n}}\n"
    )?;
    writeln!(out, "const EXAMPLES: &[(&str, fn() -> Op, fn() -> Result<u64, Trap>)] = &[")?;
    for (number, (ty, code, value)) in all.iter().enumerate() {
        write!(out, "    ({code:?}, || Op::Example{number} {{ dst: 8.into()")?;
        for (name, _, operand) in OPERANDS.iter().filter(|(name, ..)| names(code, name)) {
            write!(out, ", {name}: {operand}")?;
        }
        match value.strip_prefix("! ") {
            Some(trap) => writeln!(out, " }}, || Err(Trap::{trap})),")?,
            None => writeln!(out, " }}, || Ok(Bits::bits({value} as {ty}))),")?,
        }
    }
    writeln!(out, "];")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_rows_say_is_on_the_page() {
        let page = page();
        for said in [
            "`(div value value)` of integers and floats gives their type",
            "Traps with `DivideByZero` of integers where `(zr second)`",
            "of unsigned ones it is `udiv`",
            "from floats to integers",
        ] {
            assert!(page.replace('\n', " ").contains(said), "{said}");
        }
        assert!(page.lines().all(|line| line.chars().count() <= WIDTH + 40), "lines are wrapped");
    }

    #[test]
    fn an_operand_is_named_by_its_whole_name() {
        assert!(names("(add $a $b)", "a") && names("(add $a $b)", "b"));
        assert!(!names("(let: (($all 1)) $all)", "a"));
    }
}
