//! What `tile!`, `tileset!` and `operators!` say about mistakes, and that what is right expands.

use super::{step, tile, tileset};
use crate::operators::operators;
use proc_macro2::TokenStream;
use syn::parse::Parser;

/// The messages of all `compile_error!`s of an expansion.
fn messages(expansion: TokenStream) -> Vec<String> {
    let file: syn::File = syn::parse2(expansion).expect("the expansion is well-formed");
    let macros = file.items.iter().filter_map(|item| match item {
        syn::Item::Macro(item) if item.mac.path.segments.last()?.ident == "compile_error" => Some(&item.mac),
        _ => None,
    });
    macros.map(|mac| mac.parse_body::<syn::LitStr>().expect("a message is a string").value()).collect()
}

fn tokens(text: &str) -> TokenStream {
    text.parse().expect("the test's tokens are tokens")
}

/// What a set of one group says.
fn set(header: &str, tiles: &str) -> Vec<String> {
    let input =
        format!("{{ static SET: features = fast; {header} }} {{ group {{ crate::group }} {{ {tiles} }} }}");
    messages(step(tokens(&input)))
}

#[test]
fn mistakes_in_a_group() {
    let cases = [
        ("static group int;", "name the group first: `pub group int;`"),
        (
            "group a; add: (add reg reg) -> reg => |cx, t| {}",
            "`add` has no cost: write it after the result, `-> reg, 2`",
        ),
        ("group a; add: (add reg reg) -> reg, 2000 => |cx, t| {}", "a cost is a number from 0 to 1000"),
        (
            "group a; add: (add reg reg) -> rag, 2 => |cx, t| {}",
            "a tile yields `reg`, `num`, `flag` or `void`",
        ),
        (
            "group a; add: (add reg reg) -> reg, 2, tide(0) => |cx, t| {}",
            "there is no clause `tide`; there are: tied(0) fixed(0 = rcx) fixed(out = rax) clobber(rax, rdx) temp(int) early late(0) any(0) needs(feature) entry",
        ),
        (
            "group a; add: (add reg reg) -> reg, 2, tied => |cx, t| {}",
            "`tied` takes its operand in parentheses",
        ),
        (
            "group a; add: (add reg reg) -> reg, 2, fixed(in = rax) => |cx, t| {}",
            "`fixed` takes the number of an operand, or `out`",
        ),
        (
            "group a; add: (add reg reg) -> reg, 2, fixed(result = rax) => |cx, t| {}",
            "`fixed` takes the number of an operand, or `out`",
        ),
        (
            "group a; add: (add reg reg) -> reg, 2, temp(flag) => |cx, t| {}",
            "a scratch register is `int` or `float`",
        ),
        (
            "group a; add: (add reg rag) -> reg, 2 => |cx, t| {}",
            "`rag` is no symbol; operands are `reg`, `num`, `flag` or a pattern in parentheses",
        ),
        (
            "group a; add: (add.i65 reg reg) -> reg, 2 => |cx, t| {}",
            "there is no type `i65`; there are: i8 i16 i32 i64 f32 f64, and the classes int wide float value",
        ),
        (
            "group a; add: (add reg (const $c:imm16)) -> reg, 2 => |cx, t| {}",
            "there is no predicate `imm16`; there are: imm8 imm32 uimm32 zero one minus_one pow2 scale factor",
        ),
        ("group a; load: (load $o reg) -> reg, 2 => |cx, t| {}", "the operands stand before the constants"),
        ("group a; add: (add reg reg) -> reg, 2", "a tile ends with its emitter: `=> |cx, t| …`"),
    ];
    for (input, expected) in cases {
        assert_eq!(messages(tile(tokens(input))), [expected], "{input}");
    }
}

#[test]
fn mistakes_in_a_set() {
    let cases = [
        ("add: (ad.i64 reg reg) -> reg, 2;", "there is no operator `ad`, did you mean `add`?"),
        (
            "popcnt: (popcnt.i64 reg) -> reg, 2, needs(fats);",
            "the machine has no feature `fats`, did you mean `fast`?",
        ),
        ("add: (add.i64 reg) -> reg, 2;", "`add` has 2 operands, the pattern gives 1"),
        (
            "a: (add.i64 reg reg) -> reg, 2; b: (add.i64 reg reg) -> reg, 3;",
            "this tile can never be selected; at the same or a lower cost there is always `a`",
        ),
        (
            "add: (add.i64 reg reg) -> reg, 2, tied(3);",
            "there is no operand 3: the pattern has 2 in registers, counted from 0",
        ),
    ];
    for (tiles, expected) in cases {
        assert_eq!(set("partial;", tiles), [expected], "{tiles}");
    }
}

#[test]
fn all_mistakes_are_reported_at_once() {
    let found = set("partial;", "a: (ad.i64 reg reg) -> reg, 2; b: (neg.i64) -> reg, 1, tied(1);");
    assert_eq!(found.len(), 3, "{found:?}");
}

#[test]
fn uncovered_forms_are_refused_unless_the_set_is_partial() {
    let tiles = "add: (add.$t:int reg reg) -> reg, 2;";
    assert!(set("", tiles).iter().any(|message| message == "no tile covers `(load.f64 reg)`"));
    assert!(set("", tiles).iter().any(|message| message.contains(" other forms are not covered either")));
    assert_eq!(set("partial;", tiles), Vec::<String>::new());
}

#[test]
fn mistakes_in_the_header_of_a_set() {
    let cases = [
        ("static SET: extends X64;", "name the set with its crate: `azulejo::x64::X64`"),
        (
            "static SET: group = crate::a;",
            "a tile set is described by: extends, machine, features, groups, operators, partial",
        ),
    ];
    for (input, expected) in cases {
        assert_eq!(messages(tileset(tokens(input))), [expected], "{input}");
    }
}

#[test]
fn mistakes_in_operators() {
    let cases = [
        (
            "pdep: (same same) -> same, pure => |_, a| Ok(a[0])",
            "on which types does `pdep` work? Write them after the result: `i32|i64`",
        ),
        ("add: (same same) -> same, int, pure => |_, a| Ok(a[0])", "there is an operator `add` already"),
        (
            "pdep: (same) -> same, int, pure, commutes => |_, a| Ok(a[0])",
            "only two operands of one kind commute, those of `pdep` are not",
        ),
        (
            "pdep: (ptr) -> void, int, writes => |_, a| Ok(a[0])",
            "no operand of `pdep` is `same`, so its types are given already",
        ),
        (
            "pdep: (same) -> same, int, pure, reads => |_, a| Ok(a[0])",
            "`pdep` cannot be pure and touch memory",
        ),
        (
            "pdep: (same) -> same, int, pure;",
            "what does `pdep` mean? Close the row with `=> |sig, operands| Ok(…)`",
        ),
        ("pdep: (some) -> same, int => |_, a| Ok(a[0])", "an operand is `same`, `ptr`, `word` or `flag`"),
        ("pdep: (same) [size] -> same, int => |_, a| Ok(a[0])", "a constant is `offset`, `scale` or `code`"),
        (
            "pdep: (same) -> some, int => |_, a| Ok(a[0])",
            "an operator yields `same`, `ptr`, `flag` or `void`",
        ),
        (
            "pdep: (same) -> same, itn => |_, a| Ok(a[0])",
            "`itn` is no property; there are: signed unsigned pure commutes reads writes any_nan, and the types it works on: `i32|i64`, `int`",
        ),
    ];
    for (input, expected) in cases {
        assert_eq!(messages(operators(tokens(input))), [expected], "{input}");
    }
}

#[test]
fn patterns_survive_being_handed_on() {
    let group = super::parse::group
        .parse2(tokens(
            "group a; add: (add.$t:int reg (const $c:imm32)) -> reg, 1, tied(0) => |cx, t| cx.add(t)",
        ))
        .unwrap_or_else(|error| panic!("{error}"));
    let head = super::parse::without_dollars(group.tiles[0].head.clone());
    assert!(!head.to_string().contains('$'));
    let again = format!("group {{ crate::a }} {{ {head}; }}");
    let parts = super::parse::collected.parse2(tokens(&again)).unwrap_or_else(|error| panic!("{error}"));
    let super::ast::Collected::Group { tiles, .. } = &parts[0] else { panic!("a group was handed on") };
    assert_eq!(tiles[0].rule, group.tiles[0].rule);
}
