//! Tiles and sets lexed from text: what they stand for, and the errors in wrong ones.

use super::ast::{Counts, GivenForm, SetPart, TileGroup};
use super::{CompiledSet, Content, compile, parse, set, with_forms};
use crate::place::{Error, Errors};
use crate::token::{Delimiter, Group, Token, lex, text};
use azulejo_core::vocab::Vocabulary;

fn tokens(text: &str) -> Vec<Token> {
    lex(text).unwrap_or_else(|error| panic!("{text}: {}", error.message))
}

/// Parses a group that must be correct.
fn group(text: &str) -> TileGroup {
    match parse(tokens(text)) {
        Ok(Content::Group(group)) => group,
        Ok(_) => panic!("this is no group: {text}"),
        Err(error) => panic!("{}: {text}", error.message),
    }
}

fn message(text: &str) -> String {
    parse(tokens(text)).map_or_else(|error| error.message, |_| panic!("this is right: {text}"))
}

/// Compiles a set from its description and its parts.
fn compiled(header: &str, parts: &str) -> (Option<CompiledSet>, Vec<Error>) {
    let step = set::step(tokens(&format!("{{ static SET: features = fast; {header} }} {{ {parts} }}")));
    let (header, done) = step.expect("the header is right");
    let parts = set::collected(done).unwrap_or_else(|error| panic!("{}: {parts}", error.message));
    let mut errors = Errors::default();
    (compile(&header, parts, Vocabulary::BUILTIN, &mut errors), errors.0)
}

/// The messages of the errors of a set that consists of one group.
fn mistakes(header: &str, tiles: &str) -> Vec<String> {
    let (_, errors) = compiled(header, &format!("group {{ crate::group }} {{ {tiles} }}"));
    errors.into_iter().map(|error| error.message).collect()
}

#[test]
fn mistakes_in_a_group() {
    const NAMELESS: &str =
        "expected `reg`, `num`, `flag`, a pattern in parentheses, or a constant by a name: `$c` or `$c:one`";
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
            "there is no clause `tide`; there are: tied(0) fixed(0 = rcx) fixed(out = rax) clobber(rax, rdx) temp(int) early late(0) any(0) needs(feature) entry framed",
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
        (
            "group a; add: (add reg reg) -> reg, 2 early => |cx, t| {}",
            "a tile ends with its emitter: `=> |cx, t| …`",
        ),
        ("group a; add: (add reg reg) -> reg, -1 => |cx, t| {}", "a cost is a number from 0 to 1000"),
        ("group a; add: (add reg reg), 2 => |cx, t| {}", "expected `->` and what the tile yields"),
        (
            "group a; a: (add reg reg) -> reg, 2 => |cx, t| {} b: (neg reg) -> reg, 2 => |cx, t| {}",
            "expected `,`, found `b`",
        ),
        ("group a; _: (add reg reg) -> reg, 2 => |cx, t| {}", "expected a tile's name, found `_`"),
        (
            "group a; add: (add reg reg) -> reg, 2, tied(x) => |cx, t| {}",
            "expected the number of an operand, found `x`",
        ),
        ("group a; add: (add reg reg) -> reg, 2, tied(0 1) => |cx, t| {}", "nothing more is expected here"),
        ("group a; add: (add reg _) -> reg, 2 => |cx, t| {}", NAMELESS),
        ("group a; add: (add reg (const 2)) -> reg, 2 => |cx, t| {}", NAMELESS),
        (
            "group a; not: (xor $p@reg $p:one) -> reg, 2 => |cx, t| {}",
            "`$p` is a node; a constant can have a predicate",
        ),
        (
            "group a; add: (add reg reg) -> reg, 2 => , next: (neg reg) -> reg, 2 => |cx, t| {}",
            "expected an expression",
        ),
    ];
    for (input, expected) in cases {
        assert_eq!(message(input), expected, "{input}");
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
        assert_eq!(mistakes("partial;", tiles), [expected], "{tiles}");
    }
}

#[test]
fn all_mistakes_are_reported_at_once() {
    let (set, found) = compiled(
        "partial;",
        "group { a } { a: (ad.i64 reg reg) -> reg, 2; b: (neg.i64) -> reg, 1, tied(1); }",
    );
    assert_eq!(found.len(), 3, "{found:?}");
    let set = set.expect("a set without tiles takes its place");
    assert!(set.tiles.is_empty() && set.tables.rules.is_empty());
}

#[test]
fn uncovered_forms_are_refused_unless_the_set_is_partial() {
    let tiles = "add: (add.$t:int reg reg) -> reg, 2;";
    assert!(mistakes("", tiles).iter().any(|message| message == "no tile covers `(load.f64 reg)`"));
    assert!(
        mistakes("", tiles).iter().any(|message| message.contains(" other forms are not covered either"))
    );
    assert_eq!(mistakes("partial;", tiles), Vec::<String>::new());
}

#[test]
fn mistakes_in_the_header_of_a_set() {
    let cases = [
        ("SET: partial;", "name the set first: `pub static TILES: …`"),
        ("static SET: groups crate::a;", "expected `=`, found `crate`"),
        ("static SET: groups = 1;", "expected a path"),
        ("static SET: groups = crate::a", "expected a path"),
        ("static SET: extends X64;", "name the set with its crate: `azulejo::x64::X64`"),
        (
            "static SET: group = crate::a;",
            "a tile set is described by: extends, machine, features, groups, operators, partial",
        ),
    ];
    for (input, expected) in cases {
        let error = set::header(tokens(input)).expect_err(input);
        assert_eq!(error.message, expected, "{input}");
    }
}

#[test]
fn mistakes_are_told_where_they_are() {
    let cases = [
        ("group a; add: (add reg rag) -> reg, 2 => |cx, t| {}", "rag)", "rag"),
        ("group a; add: (add.i65 reg reg) -> reg, 2 => |cx, t| {}", "i65", "i65"),
        ("group a; add: (add reg reg) -> reg => |cx, t| {}", "=> |", "has no cost"),
        ("group a; add: (add reg reg) -> reg, tied(0) => |cx, t| {}", "tied", "has no cost"),
        ("group a; form mem { base: reg } load: (load mem) -> reg, 4 => |cx, t| {}", "} load", "`=> |t| …`"),
        ("group a; form mem { base: reg => at(0) }", "at(0)", "`=> |t| …`"),
        ("group a; for alu in [] { }", "[]", "which operators"),
    ];
    for (text, wrong, part) in cases {
        let error = parse(tokens(text)).expect_err(text);
        assert!(error.message.contains(part), "{text}: {}", error.message);
        assert!(text[error.place.first as usize..].starts_with(wrong), "{text}: {}", error.place.first);
    }
    let parts = "group { a } { add: (add.i64 (ad reg reg) reg) -> reg, 2; neg: (neg.i64 reg) -> reg, 1, any(0), tied(1); }";
    let (_, errors) = compiled("partial;", parts);
    let start = "{ static SET: features = fast; partial; } { ".len();
    let places: Vec<&str> = errors.iter().map(|error| &parts[error.place.first as usize - start..]).collect();
    assert!(
        places.len() == 2 && places[0].starts_with("ad reg") && places[1].starts_with("tied(1)"),
        "{places:?}"
    );
}

#[test]
fn a_set_has_the_tiles_of_its_parts_in_order() {
    let parts = "group { crate::a } { add: (add.~t:int reg reg) -> reg, 2; }
        set { azulejo; BASE } { fast slow } { neg: (neg.$t:int reg) -> reg, 1; sub: (sub reg reg) -> reg, 1, needs(slow); }";
    let (set, errors) = compiled("partial;", parts);
    assert_eq!(errors, []);
    let CompiledSet { grammar, tiles, tables } = set.expect("it is right");
    assert_eq!(tiles.iter().map(|tile| tile.name.text.as_str()).collect::<Vec<_>>(), ["add", "neg", "sub"]);
    assert_eq!((grammar.features, grammar.own), (vec!["fast".to_string(), "slow".to_string()], 1));
    assert_eq!(tables.tiles[1].pattern, "(neg.$t:int reg)");
}

#[test]
fn what_is_collected_comes_back_in_steps() {
    let header = "pub static SET: extends azulejo::x64::X64; operators = crate::ops; machine = ::toy;
        groups = crate::a, crate::b;";
    let rest = "{ crate::ops } { pdep: (same) -> same; }";
    let (header, done) = set::step(tokens(&format!("{{ {header} }} {{ }} {rest}"))).expect("it is right");
    let paths = |paths: &[Vec<Token>]| paths.iter().map(|path| text(path)).collect::<Vec<_>>();
    assert_eq!(paths(&header.groups), ["crate::a", "crate::b"]);
    let (path, name) = header.extends.clone().expect("it extends one");
    assert_eq!((text(&path).as_str(), name.text.as_str()), ("azulejo::x64", "X64"));
    assert_eq!(header.machine.as_deref().map(text).as_deref(), Some("::toy"));
    assert!(!header.is_collected());
    let parts = set::collected(done).expect("they are right");
    let [SetPart::Operators { path, rows }] = &parts[..] else {
        panic!("operators were passed on: {parts:?}")
    };
    assert_eq!((text(path).as_str(), text(rows).as_str()), ("crate::ops", "pdep:(same)->same;"));
    for not_parts in ["{ static SET: partial; }", "static SET: partial;"] {
        let error = set::step(tokens(not_parts)).expect_err(not_parts);
        assert_eq!(error.message, "this is called by `tileset!` only");
    }
}

#[test]
fn patterns_survive_being_passed_on() {
    let group =
        group("group a; add: (add.$t:int reg (const $c:imm32)) -> reg, 1, tied(0), => |cx, t| cx.add(t)");
    let head = text(&group.tiles[0].head).replace('$', "~");
    let parts =
        set::collected(tokens(&format!("group {{ crate::a }} {{ {head}; }}"))).expect("they are right");
    let [SetPart::Group { tiles, .. }] = &parts[..] else { panic!("a group was passed on: {parts:?}") };
    assert_eq!(tiles[0].rule, group.tiles[0].rule);
}

#[test]
fn fragments_of_rust_macros_read_like_what_was_written() {
    /// Puts each of these words into an invisible group, as a Rust macro does with what a type or a literal matched.
    fn hide(tokens: Vec<Token>, words: &[&str]) -> Vec<Token> {
        let hidden = |token: Token| match token {
            Token::Group(group) => {
                let tokens = hide(group.tokens, words);
                Token::Group(Group { tokens, ..group })
            }
            token if words.contains(&token.to_string().as_str()) => {
                Token::Group(Group::made(Delimiter::None, vec![token]))
            }
            token => token,
        };
        tokens.into_iter().map(hidden).collect()
    }
    let text = "pub group a; add: (add.i64 reg reg) -> reg, 7, tied(0) => |cx, t| cx.emit(7)";
    let hidden = parse(hide(tokens(text), &["pub", "i64", "7"]));
    let Ok(Content::Group(hidden)) = hidden else { panic!("a group was written: {hidden:?}") };
    assert_eq!(hidden.tiles[0].rule, group(text).tiles[0].rule);
    assert_eq!(hidden.visibility.len(), 1);
    let emitter = hidden.tiles[0].emitter.as_ref().expect("it was written");
    let Some(Token::Group(arguments)) = emitter.body.last() else { panic!("a call was written") };
    assert!(matches!(&arguments.tokens[..], [Token::Group(_)]), "Rust keeps its fragments");
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
    let given = |at: usize| {
        let emitter = group.tiles[at].emitter.as_ref().expect("it was written");
        assert_eq!(
            (text(&emitter.head).as_str(), text(&emitter.body).as_str()),
            ("|cx,t|", "cx.add(mem,t.imm(1))")
        );
        assert!(emitter.operator.is_none());
        emitter.form.as_ref().expect("the row has a form")
    };
    let GivenForm { name, tile, inner, value, before, own } = given(2);
    assert_eq!([name, tile, inner].map(|name| name.text.as_str()), ["mem", "t", "of"]);
    assert_eq!(text(value), "element(of.reg(0),of.reg(1),of.imm(0))");
    assert_eq!((*before, *own), (Counts { regs: 1, imms: 1 }, Counts { regs: 2, imms: 1 }));
    // One register without a constant is what a form counts as in the row.
    assert_eq!([0, 1, 2].map(|at| given(at).moves_operands()), [false, true, true]);
}

#[test]
fn an_emitter_gets_the_operator_of_its_list() {
    let group = group(
        "group a; for alu in [add: Alu::Add, sub: x::<A, B>()] { _: (alu reg reg) -> reg, 2 => |cx, t| cx.alu(alu) }",
    );
    let values = group.tiles.iter().map(|tile| {
        let operator =
            tile.emitter.as_ref().and_then(|emitter| emitter.operator.as_ref()).expect("it is in a list");
        format!("{} {}", operator.name, text(&operator.value))
    });
    assert_eq!(values.collect::<Vec<_>>(), ["alu Alu::Add", "alu x::<A,B>()"]);
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
fn a_row_may_be_called_form() {
    assert_eq!(rules("form: (add reg reg) -> reg, 2 => |cx, t| {}"), ["form: (add reg reg) -> reg, 2"]);
}

#[test]
fn forms_are_told_to_other_groups() {
    let asks = parse(tokens(
        "pub group a; { form own { base: reg => |t| 1 } } use super::near; use super::far;
         load: (load mem) -> reg, 4 => |cx, t| {}",
    ));
    let Ok(Content::Asks { path, header, rest }) = asks else { panic!("forms are asked for: {asks:?}") };
    assert_eq!(text(&path), "super::near");
    assert_eq!(text(&header), "pub group a;{form own{base:reg=>|t|1}}");
    assert_eq!(text(&rest), "use super::far;load:(load mem)->reg,4=>|cx,t|{}");
    let told = format!(
        "{{ {{ group a; }} {{ load: (load mem) -> reg, 4 => |cx, t| {{}} }} }} {{ {} }}",
        MEM.replace('$', "~")
    );
    let told = parse(with_forms(tokens(&told)).expect("it is what forms say"));
    let Ok(Content::Group(told)) = told else { panic!("all forms are there: {told:?}") };
    assert_eq!(text(&told.tiles[2].head).replace('~', "$"), "load_elem:(load(idx reg reg$s))->reg,4");
    let forms = parse(tokens(&format!("pub forms address; {MEM}")));
    let Ok(Content::Forms { is_public, name, values, .. }) = forms else {
        panic!("these are forms: {forms:?}")
    };
    assert_eq!((is_public, name.text.as_str(), values.len()), (true, "address", 4));
    let error = with_forms(tokens("group a; add: (add reg reg) -> reg, 2")).expect_err("a user wrote this");
    assert_eq!(error.message, "this is called by `tile!` only");
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
        assert_eq!(message(&input), expected, "{input}");
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
        assert_eq!(message(&format!("group a; {input}")), expected, "{input}");
    }
}
