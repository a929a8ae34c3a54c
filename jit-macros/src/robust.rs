//! Every macro answers arbitrary tokens with tokens: code, or errors. It never panics.
//!
//! The inputs are random mutations of this repository's own invocations of the macros, since entirely random tokens are
//! refused at the first one.

use azulejo_core::fuzzing::Random;
use proc_macro2::{Delimiter, Group, Ident, Literal, Punct, Spacing, Span, TokenStream, TokenTree};
use std::path::Path;
use std::str::FromStr;

/// The number of inputs for each macro.
const ROUNDS: u64 = 1500;

const WORDS: [&str; 55] = [
    "reg", "num", "flag", "void", "add", "load", "store", "const", "call", "invoke", "invokev", "carg",
    "arglist", "if", "when", "let", "letv", "macro", "use", "unsafe", "pub", "static", "group", "tied",
    "fixed", "clobber", "temp", "early", "needs", "i64", "u8", "f32", "ptr", "int", "value", "In", "Out",
    "Imm", "Label", "dst", "a", "x", "t", "same", "code", "pure", "features", "self", "crate", "_", "kinds",
    "is", "unbox", "box", "as",
];
const LITERALS: [&str; 10] =
    ["0", "1", "-1", "9999999999999999999999", "1.5", "\"x\"", "'c'", "7u8", "b\"x\"", "0x8000000000000000"];
const PUNCTUATION: [char; 15] = ['$', '^', ',', ';', ':', '!', '&', '=', '>', '<', '-', '@', '|', '#', '%'];

fn token(random: &mut Random, depth: usize) -> TokenTree {
    match random.below(if depth == 0 { 6 } else { 8 }) {
        0..3 => Ident::new(WORDS[random.below(WORDS.len())], Span::call_site()).into(),
        3 => Literal::from_str(LITERALS[random.below(LITERALS.len())]).expect("it is a literal").into(),
        4 | 5 => {
            let spacing = if random.one_in(2) { Spacing::Alone } else { Spacing::Joint };
            Punct::new(PUNCTUATION[random.below(PUNCTUATION.len())], spacing).into()
        }
        _ => {
            let inside = (0..random.below(5)).map(|_| token(random, depth - 1)).collect();
            Group::new(delimiter(random), inside).into()
        }
    }
}

fn delimiter(random: &mut Random) -> Delimiter {
    // The last is the delimiter of a fragment that `macro_rules!` substitutes.
    [Delimiter::Parenthesis, Delimiter::Brace, Delimiter::Bracket, Delimiter::None][random.below(4)]
}

fn count(tokens: &TokenStream) -> usize {
    let inside = |token: TokenTree| match token {
        TokenTree::Group(group) => 1 + count(&group.stream()),
        _ => 1,
    };
    tokens.clone().into_iter().map(inside).sum()
}

/// Mutates about one token in `n`.
fn mutate(random: &mut Random, tokens: TokenStream, n: usize) -> TokenStream {
    let mut out: Vec<TokenTree> = Vec::new();
    for mut tree in tokens {
        if let TokenTree::Group(group) = &tree {
            let delimiter = if random.one_in(4 * n) { delimiter(random) } else { group.delimiter() };
            tree = Group::new(delimiter, mutate(random, group.stream(), n)).into();
        }
        match random.below(5 * n) {
            0 => {}
            1 => out.extend([tree.clone(), tree]),
            2 => out.push(token(random, 2)),
            3 => out.extend([tree, token(random, 2)]),
            4 => {
                let last = out.pop();
                out.push(tree);
                out.extend(last);
            }
            _ => out.push(tree),
        }
    }
    out.into_iter().collect()
}

/// Expands a macro on mutations of seeds, and on random tokens. Some inputs must be refused and some accepted; otherwise
/// the test would exercise only the first few checks.
fn try_all(seed: impl Fn(&mut Random) -> TokenStream, expand: fn(TokenStream) -> TokenStream) {
    let mut n_right = 0;
    for round in 0..ROUNDS {
        let mut random = Random::new(round);
        let tokens = match round % 16 {
            0 => (0..random.below(40)).map(|_| token(&mut random, 4)).collect(),
            _ => {
                let seed = seed(&mut random);
                let n = 1 + count(&seed) / (1 + random.below(4));
                mutate(&mut random, seed, n)
            }
        };
        let text = tokens.to_string();
        let result = std::panic::catch_unwind(|| expand(tokens));
        let Ok(expansion) = result else { panic!("round {round} panics with:\n{text}") };
        n_right += !expansion.to_string().contains("compile_error") as u64;
    }
    assert!((10..ROUNDS).contains(&n_right), "{n_right} of {ROUNDS} are right");
}

fn read(path: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(path);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The text inside the first `name! {` of a file.
fn inside(path: &str, name: &str) -> String {
    let text = read(path);
    let tokens = TokenStream::from_str(&text).expect("a file of ours is tokens");
    find(tokens, name).unwrap_or_else(|| panic!("there is no `{name}!` in {path}")).to_string()
}

fn find(tokens: TokenStream, name: &str) -> Option<TokenStream> {
    let trees: Vec<TokenTree> = tokens.into_iter().collect();
    for (at, tree) in trees.iter().enumerate() {
        if let TokenTree::Group(group) = tree {
            let is_wanted = at >= 2 && trees[at - 2].to_string() == name && trees[at - 1].to_string() == "!";
            let found = if is_wanted { Some(group.stream()) } else { find(group.stream(), name) };
            if found.is_some() {
                return found;
            }
        }
    }
    None
}

/// Some of the lines of a macro's body that look like rows, after the head that they need.
fn rows(random: &mut Random, text: &str, head: &str, is_row: fn(&str) -> bool) -> TokenStream {
    let rows: Vec<&str> = text.lines().map(str::trim).filter(|line| is_row(line)).collect();
    let chosen: Vec<&str> = (0..1 + random.below(4)).map(|_| rows[random.below(rows.len())]).collect();
    TokenStream::from_str(&format!("{head} {}", chosen.join("\n"))).expect("rows are tokens")
}

#[test]
fn tile() {
    let text = read("jit-x64/src/tiles/int.rs") + &read("jit-x64/src/tiles/divide.rs");
    // Rows of operator lists are left out, since the operators are not part of the row.
    let is_row = |line: &str| line.contains("=> |cx, t|") && line.ends_with(',') && !line.starts_with('_');
    try_all(|random| rows(random, &text, "pub group some;", is_row), crate::tile::tile);
    // Groups pass patterns on without their emitters.
    let patterns: Vec<&str> = text.lines().filter(|line| is_row(line.trim())).collect();
    let patterns: Vec<String> = patterns
        .iter()
        .map(|line| line.split("=> |").next().unwrap_or("").trim().to_string() + ";")
        .collect();
    let step = |random: &mut Random| {
        let rows = rows(random, &patterns.join("\n"), "", |_| true);
        let head = "static SET: features = bmi2 lzcnt popcnt bmi1; partial;";
        let text = format!("{{ {head} }} {{ group {{ crate::some }} {{ {rows} }} }}");
        TokenStream::from_str(&text).expect("tokens")
    };
    try_all(step, crate::tile::step);
    let header = |_: &mut Random| {
        let text =
            "pub static X64: features = sse41 bmi2; groups = crate::tiles::int, crate::tiles::own; partial;";
        TokenStream::from_str(text).expect("tokens")
    };
    try_all(header, crate::tile::tileset);
}

#[test]
fn forms() {
    let forms = "form mem { base: reg => |t| at(t.reg(0)), elem: (idx reg reg $s), 1 => |t| at(t.reg(1)), }
                 form near { base: reg => |t| at(t.reg(0)), }";
    let text = inside("jit-x64/src/tiles/rmw.rs", "tile") + &inside("jit-x64/src/tiles/test.rs", "tile");
    let items = items(TokenStream::from_str(&text).expect("tokens"));
    let chosen = |random: &mut Random| -> TokenStream {
        (0..1 + random.below(3)).flat_map(|_| items[random.below(items.len())].clone()).collect()
    };
    let rows = |random: &mut Random| {
        let text = format!("pub group some; {forms} {}", chosen(random));
        TokenStream::from_str(&text).expect("tokens")
    };
    try_all(rows, crate::tile::tile);
    let shared = |_: &mut Random| TokenStream::from_str(&format!("pub forms some; {forms}")).expect("tokens");
    try_all(shared, crate::tile::tile);
    let told = |random: &mut Random| {
        let text = format!("{{ {{ pub group some; }} {{ {} }} }} {{ {forms} }}", chosen(random));
        TokenStream::from_str(&text).expect("tokens")
    };
    try_all(told, crate::tile::told);
}

/// The rows of a group, with their commas, and its blocks.
fn items(group: TokenStream) -> Vec<TokenStream> {
    let mut items = vec![TokenStream::new()];
    for token in group {
        let text = token.to_string();
        let item = items.last_mut().expect("one is begun");
        let is_end = match &token {
            TokenTree::Group(group) => {
                group.delimiter() == Delimiter::Brace && item.to_string().starts_with("for ")
            }
            _ => [",", ";"].contains(&text.as_str()),
        };
        item.extend([token]);
        if is_end {
            items.push(TokenStream::new());
        }
    }
    items.retain(|item| item.to_string().contains("=>"));
    items
}

#[test]
fn rewrite() {
    let text = read("src/rules/int.rs") + &read("src/rules/memory.rs") + &read("src/rules/compare.rs");
    let is_row = |line: &str| line.starts_with('(') && line.contains("=>");
    try_all(|random| rows(random, &text, "static SOME;", is_row), crate::rewrite::rewrite);
}

#[test]
fn operators() {
    let text = inside("tests/custom-operator/src/lib.rs", "operators");
    try_all(|_| TokenStream::from_str(&text).expect("tokens"), crate::operators::operators);
}

#[test]
fn bytecode() {
    let text = read("examples/quickstart.rs");
    let tokens = TokenStream::from_str(&text).expect("a file of ours is tokens").to_string();
    let start = tokens.find("enum Op").expect("it has an enum");
    let file: Vec<TokenTree> =
        TokenStream::from_str(&tokens[start..]).expect("tokens").into_iter().take(3).collect();
    let attributes =
        TokenStream::from_str("#[bytecode(context = Vm, operators = crate::ops)]").expect("tokens");
    let seed = |_: &mut Random| attributes.clone().into_iter().chain(file.iter().cloned()).collect();
    try_all(seed, crate::bytecode::derive);
}

#[test]
fn told_types() {
    let seed = |text: &'static str| move |_: &mut Random| TokenStream::from_str(text).expect("tokens");
    let scalar = "#[repr(align(4), u8)] enum Color { Red = 1, #[scalar(other)] Green, Blue = FIRST + 1 }";
    try_all(seed(scalar), crate::scalar::derive);
    let fields = "struct Vm { hits: u32, top: *mut u8, shared: AtomicU64, name: String, list: [u8; 4] }";
    try_all(seed(fields), crate::fields::derive);
    let named = "struct { Vm } { hits: u32, name: \"String\", } Op::A => unsafe (load (tc) (&field Vm, hits)) \
                 Op::B => unsafe (store (tc) (load $p (&field crate::Link, 0)) (&field Vm, name))";
    try_all(seed(named), crate::template::template);
    let told =
        "{ hits: u32, name: \"String\", } { { Vm } { Op::A => unsafe (load (tc) (&field Vm, hits)) } }";
    try_all(seed(told), crate::template::fields::told);
    let described = "{ enum Op; opcode A struct { dst: Out u32 } opcode B struct { p: In u64 } } \
                     { struct { Vm } { hits: u32, name: \"String\", } Op::A => unsafe (load (tc) (&field Vm, hits)) \
                     Op::B => unsafe (store (tc) (load $p (&field Vm, hits)) (&field Vm, hits)) }";
    try_all(seed(described), crate::template::described);
}

#[test]
fn kinds() {
    let described = |_: &mut Random| {
        "{ enum Op; opcode A struct { dst: Out u64, a: In u64, b: In u64 } opcode B struct { dst: Out u8, a: In u64 } } \
         { macro ^low (,a) (and ,a 7) \
           kinds u64 { \
             number: f64 { is (ult $box &TAG) unbox (bitcast $box f64) box (bitcast (canonical_nan $value) u64) } \
             int: i32 { is (eq (^low $box) 1) unbox (ucast (shr $box 3) i32) box (or (shl (ucast $value u64) 3) 1) } \
             nil { is (eq $box (&nil)) } \
           } \
           Op::A => (as (($a number) ($x int (xor $a $b))) (box number (add $a (stof $x f64))) (box int (unbox int $b))) \
           Op::B => (flagval (is nil $a) u8) }"
            .parse::<TokenStream>()
            .expect("tokens")
    };
    try_all(described, crate::template::described);
    let shared = |_: &mut Random| {
        "pub some { kinds ptr { word: ptr { is (gt $box 1) unbox $box box $value } nil { is (zr $box) } } }"
            .parse::<TokenStream>()
            .expect("tokens")
    };
    try_all(shared, crate::template::shared::template_macros);
}

#[test]
fn template() {
    let text = read("tests/rig/src/opcodes.txt");
    let opcodes: Vec<&str> =
        text.lines().filter(|line| line.contains("=>") && !line.starts_with('#')).collect();
    // The form in which the enum's own macro passes it on.
    let described = |random: &mut Random| {
        let (mut enumeration, mut rows) = (String::new(), String::new());
        for _ in 0..1 + random.below(4) {
            let (head, body) =
                opcodes[random.below(opcodes.len())].split_once("=>").expect("it has an arrow");
            let (name, fields) = head.split_once('{').expect("it has fields");
            let fields = fields.replace(['<', '>', '}'], " ");
            enumeration += &format!("opcode {} struct {{ {fields} }}", name.trim().trim_end_matches('!'));
            rows += &format!("Op::{} => {body}\n", name.trim());
        }
        rows += "macro ^twice (,a) (add ,a ,a)\n";
        TokenStream::from_str(&format!("{{ enum Op; {enumeration} }} {{ {rows} }}")).expect("tokens")
    };
    try_all(described, crate::template::described);
    let plain = |random: &mut Random| {
        let tokens: Vec<TokenTree> = described(random).into_iter().collect();
        let TokenTree::Group(rows) = &tokens[1] else { unreachable!("the rows stand in braces") };
        rows.stream()
    };
    try_all(plain, crate::template::template);
    let shared = |random: &mut Random| {
        let body = opcodes[random.below(opcodes.len())].split_once("=>").expect("it has an arrow").1;
        let text = format!("pub some {{ macro ^one (,a ,b) {} }}", body.replace('$', ","));
        TokenStream::from_str(&text).expect("tokens")
    };
    try_all(shared, crate::template::shared::template_macros);
    try_all(described, crate::template::shared::with_macros);
}
