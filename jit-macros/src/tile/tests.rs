//! `tile!`, `tileset!` and `operators!`: the errors that they report, and the expansion of correct input.

use super::ast::{Content, Group};
use super::{step, tile, tileset, told};
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

/// Parses a group that must be correct.
fn group(text: &str) -> Group {
    match super::parse::content.parse2(tokens(text)) {
        Ok(Content::Group(group)) => group,
        Ok(_) => panic!("this is no group: {text}"),
        Err(error) => panic!("{error}: {text}"),
    }
}

/// The errors of a set that consists of one group.
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
            "`rag` is no symbol and no form; operands are `reg`, `num`, `flag`, forms and patterns in parentheses",
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
    let group =
        group("group a; add: (add.$t:int reg (const $c:imm32)) -> reg, 1, tied(0) => |cx, t| cx.add(t)");
    let head = super::parse::without_dollars(group.tiles[0].head.clone());
    assert!(!head.to_string().contains('$'));
    let again = format!("group {{ crate::a }} {{ {head}; }}");
    let parts = super::parse::collected.parse2(tokens(&again)).unwrap_or_else(|error| panic!("{error}"));
    let super::ast::Collected::Group { tiles, .. } = &parts[0] else { panic!("a group was handed on") };
    assert_eq!(tiles[0].rule, group.tiles[0].rule);
}

const MEM: &str = "form mem {
    base: reg => |of| at(of.reg(0), 0),
    ofs: (addr reg $o) => |of| at(of.reg(0), of.imm(0)),
    elem: (idx reg reg $s), 1 => |of| element(of.reg(0), of.reg(1), of.imm(0)),
}
form near { here: reg => |t| t.reg(0) }";

/// The tiles of a group as text, without their emitters.
fn rules(rows: &str) -> Vec<String> {
    group(&format!("group a; {rows}")).tiles.iter().map(|tile| tile.rule.to_string()).collect()
}

#[test]
fn a_form_stands_for_its_alternatives() {
    let row = "store: (store.$t:int mem reg) -> void, 4 + mem, late(1) => |cx, t| cx.store(mem, t.reg(1)),";
    let expected = [
        "store_base: (store.$t:int reg reg) -> void, 4, late(1)",
        "store_ofs: (store.$t:int (addr reg $o) reg) -> void, 4, late(1)",
        "store_elem: (store.$t:int (idx reg reg $s) reg) -> void, 5, late(2)",
    ];
    assert_eq!(rules(&format!("{MEM} {row}")), expected);
    // Without the form in the cost all alternatives cost the same. Clauses before the form keep their operand numbers. A bound
    // form stays bound.
    let row = "swap: (store reg (add (load $p@mem) $p)) -> void, 6, late(0) => |cx, t| cx.swap(mem),";
    let expected = [
        "swap_base: (store reg (add (load $p@reg) $p)) -> void, 6, late(0)",
        "swap_ofs: (store reg (add (load $p@(addr reg $o)) $p)) -> void, 6, late(0)",
        "swap_elem: (store reg (add (load $p@(idx reg reg $s)) $p)) -> void, 6, late(0)",
    ];
    assert_eq!(rules(&format!("{MEM} {row}")), expected);
}

#[test]
fn an_emitter_gets_what_its_form_is() {
    let row = "store: (store (addr reg $a) (add (load mem) (const $c))) -> void, 4 => |cx, t| cx.add(mem, t.imm(1)),";
    let group = group(&format!("group a; {MEM} {row}"));
    assert_eq!(group.tiles.len(), 3);
    let emit = |at: usize| {
        let emit = &group.tiles[at].emit;
        let allowed =
            "# [allow (unused_variables , reason = \"not every emitter needs what its names stand for\")] ";
        quote::quote!(#emit).to_string().replace(allowed, "")
    };
    let expected =
        |inside: &str| tokens(&format!("|cx, t| {{ {inside} cx.add(mem, t.imm(1)) }}")).to_string();
    let base = "let mem = { let of = &t.from_operand(1usize, 1usize); at(of.reg(0), 0) };";
    assert_eq!(emit(0), expected(base));
    let element =
        "let mem = { let of = &t.from_operand(1usize, 1usize); element(of.reg(0), of.reg(1), of.imm(0)) };
         let t = &t.with_form(1usize, 2usize, 1usize, 1usize);";
    assert_eq!(emit(2), expected(element));
}

#[test]
fn blocks_say_in_which_order_tiles_are_tried() {
    let rows = "a: (load mem) -> reg, 4 => |cx, t| {}, b: (load (add mem reg)) -> reg, 5 => |cx, t| {},";
    let names = |rows: &str| -> Vec<String> {
        group(&format!("group a; {MEM} {rows}")).tiles.iter().map(|tile| tile.rule.name.clone()).collect()
    };
    assert_eq!(names(rows), ["a_base", "a_ofs", "a_elem", "b_base", "b_ofs", "b_elem"]);
    let block = format!("for mem {{ {rows} }}");
    assert_eq!(names(&block), ["a_base", "b_base", "a_ofs", "b_ofs", "a_elem", "b_elem"]);
    let list = "for alu in [add: 1, sub: 2] {
        _: (alu reg reg) -> reg, 2 => |cx, t| {},
        _load: (alu reg (load mem)) -> reg, 2 => |cx, t| {},
        for near { _near: (alu (load near) reg) -> reg, 2 => |cx, t| {}, }
    }";
    let expected = [
        "add",
        "add_load_base",
        "add_load_ofs",
        "add_load_elem",
        "add_near_here",
        "sub",
        "sub_load_base",
        "sub_load_ofs",
        "sub_load_elem",
        "sub_near_here",
    ];
    assert_eq!(names(list), expected);
    // In other positions the same names keep their usual meaning.
    let other = "mem: (add.$mem:int reg $mem@reg) -> reg, 2 => |cx, t| {},";
    assert_eq!(rules(&format!("{MEM} {other}")), ["mem: (add.$mem:int reg $mem@reg) -> reg, 2"]);
}

#[test]
fn forms_are_told_to_other_groups() {
    let asks = tile(tokens(
        "pub group a; use super::near; use super::far; load: (load mem) -> reg, 4 => |cx, t| {}",
    ));
    let expected = "super::near! { { ::azulejo::__private::tile_step } {
        { pub group a; } { use super::far; load: (load mem) -> reg, 4 => |cx, t| {} }
    } }";
    assert_eq!(asks.to_string(), tokens(expected).to_string());
    let mem = MEM.replace('$', "~");
    // A further `use` is requested next, and the request carries the forms known so far.
    let asked = "{ { pub group a; } { use super::far; load: (load mem) -> reg, 4 => |cx, t| {} } }";
    let next = told(tokens(&format!("{asked} {{ {mem} }}"))).to_string();
    let start = "super :: far ! { { :: azulejo :: __private :: tile_step } { { pub group a ; { form mem {";
    assert!(next.starts_with(start), "{next}");
    let told = told(tokens(&format!(
        "{{ {{ group a; }} {{ load: (load mem) -> reg, 4 => |cx, t| {{}} }} }} {{ {mem} }}"
    )));
    assert!(told.to_string().contains("load_elem : (load (idx reg reg ~ s)) -> reg , 4"), "{told}");
    let forms = tile(tokens(&format!("pub forms address; {MEM}")));
    assert_eq!(messages(forms.clone()), Vec::<String>::new());
    assert!(forms.to_string().contains("use __azulejo_macros_address as address"), "{forms}");
}

#[test]
fn mistakes_in_forms() {
    let row = |row: &str| format!("group a; {MEM} {row}");
    let cases = [
        (
            "group a; form reg { base: reg => |t| t.reg(0) }".to_string(),
            "`reg` is a symbol, so no form has that name",
        ),
        (row("form mem { base: reg => |t| t.reg(0) }"), "there is a form `mem` already"),
        (row("form far { }"), "in which shapes is `far`? It has no alternative: `base: reg => |t| …`"),
        (row("form far { x: (addr mem $o) => |t| 1 }"), "`mem` is a form; alternatives of forms name none"),
        (row("form far { x: (addr far $o) => |t| 1 }"), "`far` is a form; alternatives of forms name none"),
        (row("form far { x: => |t| 1 }"), "`x` has no pattern: `x: reg => |t| …`"),
        (row("form far { x: reg }"), "an alternative ends with what the emitter gets: `=> |t| …`"),
        (row("form far { x: reg => at }"), "an alternative ends with what the emitter gets: `=> |t| …`"),
        (row("form far { x: reg, 1001 => |t| 1 }"), "a cost is a number from 0 to 1000"),
        (row("x: (mem reg) -> reg, 1 => |cx, t| {}"), "`mem` is a form; it stands where an operand does"),
        (row("x: (store mem near) -> void, 1 => |cx, t| {}"), "a row has one form, and this one has `mem`"),
        (
            row("x: (store mem (load mem)) -> void, 1 => |cx, t| {}"),
            "a row names its form once: `$p@mem`, and where it stands again `$p`",
        ),
        (row("x: (load mem) -> mem, 1 => |cx, t| {}"), "a tile yields `reg`, `num`, `flag` or `void`"),
        (row("x: (load mem) -> reg, 1 + near => |cx, t| {}"), "no operand of this row is a form `near`"),
        (
            row("x: (load mem) -> reg, 1 + 2 => |cx, t| {}"),
            "a row with a form `mem` costs `4`, or `4 + mem` with what the alternative adds",
        ),
        (
            row("x: (load mem) -> reg, 1, tied(0) => |cx, t| {}"),
            "operand 0 is the form `mem`; clauses are about single registers",
        ),
        (
            row("x: (load mem) -> reg, 1 => emit"),
            "the emitter of a row with a form or a list is a closure: `=> |cx, t| …`",
        ),
        (
            row("x: (load mem) -> reg, 1 => |cx, _| {}"),
            "the emitter of a row with a form or a list is a closure: `=> |cx, t| …`",
        ),
        (
            row("for far { x: (load far) -> reg, 1 => |cx, t| {} }"),
            "there is no form `far`; define it: `form far { … }`, or list operators: `for far in [add: …]`",
        ),
        (
            row("for mem { x: (load near) -> reg, 1 => |cx, t| {} }"),
            "no operand of this row is `mem`, so it stands outside of `for mem`",
        ),
        (
            row("for mem { for near { x: (load near) -> reg, 1 => |cx, t| {} } }"),
            "these rows are of a form already: `mem`",
        ),
        (row("use super::address;"), "shared forms are asked for first: `pub group int; use path::address;`"),
        (row("for mem { form far { x: reg => |t| 1 } }"), "forms stand in no block"),
        (
            format!("forms a; {MEM} x: (load mem) -> reg, 1 => |cx, t| {{}}"),
            "only forms are shared: `form mem { base: reg => |t| …, }`",
        ),
    ];
    for (input, expected) in cases {
        assert_eq!(messages(tile(tokens(&input))), [expected], "{input}");
    }
}

#[test]
fn mistakes_in_lists() {
    let cases = [
        ("for alu in [] { }", "which operators? `[add: Alu::Add, sub: Alu::Sub]`"),
        (
            "for alu in [add: 1] { add: (alu reg reg) -> reg, 2 => |cx, t| {} }",
            "a tile's name begins with its operator: write `_` for that, as in `_load`",
        ),
        (
            "for alu in [add: 1] { _: (add reg reg) -> reg, 2 => |cx, t| {} }",
            "no operator of this row is `alu`, so it stands outside of `for alu in …`",
        ),
        (
            "for alu in [add: 1] { _: (alu alu reg) -> reg, 2 => |cx, t| {} }",
            "`alu` is a list of operators; it stands first in parentheses",
        ),
        (
            "for alu in [add: 1] { for un in [neg: 1] { _: (alu (un reg)) -> reg, 2 => |cx, t| {} } }",
            "these rows are in a list already: their operator is `alu`",
        ),
        (
            "for alu in [add: 1] { _: (alu reg reg) -> reg, 2 => emit }",
            "the emitter of a row with a form or a list is a closure: `=> |cx, t| …`",
        ),
    ];
    for (input, expected) in cases {
        assert_eq!(messages(tile(tokens(&format!("group a; {input}")))), [expected], "{input}");
    }
}
