//! Templates lexed from text: their compiled form, and the errors in wrong ones.

mod cached;
mod quicken;

use super::ast::{Opcode, Operand};
use super::steps::{FormulaTerm, Imm, Step, StepArguments, StepCallee, Template};
use super::{Compiled, Kinds, Source, compile};
use crate::place::{Error, Errors, Place};
use crate::reader::Reader;
use crate::token::{Delimiter, Token, lex, text};
use azulejo_core::ir::bytecode::OperandKind;
use azulejo_core::random::Random;
use azulejo_core::vocab::{Op, Scalar, Sig, Type, Vocabulary};
use std::collections::HashMap;
use std::path::Path;

/// Parses an opcode as `tests/rig/src/opcodes.txt` writes it, `Name! { field: In<i64> }`. Also returns whether it has the `!`.
fn opcode(written: &str) -> (Opcode, bool) {
    let mut reader = Reader::new(lex(written).expect("an opcode is tokens"));
    let Some(Token::Word(name)) = reader.next() else { panic!("{written}: the name comes first") };
    let stores_itself = reader.takes_punct('!');
    let mut fields = Reader::new(reader.group(Delimiter::Brace).expect("then the fields").tokens);
    let mut operands = Vec::new();
    while let Some(name) = fields.next() {
        fields.takes_punct(':');
        let kind = fields.next().and_then(|kind| OperandKind::from_name(&kind.to_string()));
        let argument = fields.takes_punct('<').then(|| fields.next()).flatten();
        // Here a site may be `Site<4>`, without the struct of its cases.
        let is_case = argument.is_some() && fields.takes_punct(',');
        let argument = if is_case { fields.next() } else { argument };
        fields.takes_punct('>');
        fields.takes_punct(',');
        let argument = argument.map(|argument| argument.to_string());
        let scalar = argument.as_deref().and_then(Scalar::from_name);
        let capacity = argument.and_then(|argument| argument.parse().ok()).unwrap_or(0);
        let (name, kind) = (name.to_string(), kind.expect("a field has a kind"));
        let case = String::new();
        operands.push(Operand { name, kind, scalar, capacity, case });
    }
    (Opcode { name: name.text, place: Place::NOWHERE, operands, form_of: None }, stores_itself)
}

/// The structs whose fields are known.
const STRUCTS: &str = "struct { Field } { shape: u32, offset: i16, scale: f64, name: \"String\", } \
    struct { Callee } { key: u32, code: ptr, }";

/// An opcode with a site.
const GET: &str = "Get { dst: Out<u64>, t: In<u64>, shape: In<u32>, cache: Site<3> }";

/// Compiles the row of an opcode; macros and kinds may follow the row.
fn compiled(written: &str, row: &str) -> Result<Compiled, Error> {
    let (mut opcode, stores_itself) = opcode(written);
    let head = format!("{STRUCTS} Op::{}{} => ", opcode.name, if stores_itself { "!" } else { "" });
    let moved = |place: u32| place.saturating_sub(head.len() as u32);
    let back = |Error { place: Place { first, last }, message }| Error {
        place: Place { first: moved(first), last: moved(last) },
        message,
    };
    let tokens = lex(&format!("{head}{row}")).map_err(back)?;
    let mut errors = Errors::default();
    let source = Source::read(tokens, &mut errors);
    errors.0.extend(super::circles(&source.macros));
    let kinds = match errors.0.is_empty() {
        true => Kinds::check(&source, Vocabulary::BUILTIN, &mut errors),
        false => Kinds::default(),
    };
    if let Some(error) = errors.0.into_iter().next() {
        return Err(back(error));
    }
    let row = &source.rows[0];
    opcode.place = row.name.place;
    // The enum has another opcode with the same operands, and one without.
    let same = Opcode { name: "Same".into(), ..opcode.clone() };
    let none = Opcode { name: "Nothing".into(), place: Place::NOWHERE, operands: Vec::new(), form_of: None };
    let opcodes = [none, same, opcode.clone()];
    let compiled = compile(row, &opcode, &opcodes, Vocabulary::BUILTIN, &source, &kinds).map_err(back)?;
    Ok(compiled.expect("what could be read has a meaning"))
}

fn right(written: &str, row: &str) -> Compiled {
    let compiled = compiled(written, row);
    compiled.unwrap_or_else(|Error { place, message }| panic!("{row}: {message}, at {}", place.first))
}

/// The operators of a template, in order.
fn operators(template: &Template) -> Vec<Op> {
    let op = |step: &Step| if let Step::Node { op, .. } = step { Some(*op) } else { None };
    template.steps.iter().filter_map(op).collect()
}

/// Checks the invariants of steps: values are defined before their uses, each block starts once, where the
/// one before it has ended, and each jump passes as many arguments as its block has parameters.
fn check(template: &Template, n_operands: usize) {
    let mut params = HashMap::new();
    for step in &template.steps {
        if let Step::Block { block, params: types, .. } = step {
            assert!((1..template.blocks).contains(block));
            assert!(params.insert(*block, types.len()).is_none(), "{block} begins twice");
        }
    }
    let (mut n_values, mut is_open) = (0, true);
    for step in &template.steps {
        let uses = |values: &[u16]| assert!(values.iter().all(|value| *value < n_values), "{step:?}");
        let goes = |block: &u16, n_args| assert_eq!(params.get(block), Some(&n_args), "{step:?}");
        let names = |operand: &usize| assert!(*operand < n_operands, "{step:?}");
        let takes = |args: &StepArguments| match args {
            StepArguments::Values(values) => uses(values),
            StepArguments::Run(at) => names(at),
            StepArguments::Spread(spread) => uses(spread),
        };
        assert_eq!(!is_open, matches!(step, Step::Block { .. }), "{step:?}");
        let mut yielded = 0;
        is_open = true;
        match step {
            Step::Node { sig, inputs, imm, .. } => {
                uses(inputs);
                if let Imm::Operand(at) = imm {
                    names(at);
                }
                yielded = (sig.ty != Type::Void) as u16;
            }
            Step::Read { operand, .. } | Step::Constant { operand, .. } => {
                names(operand);
                yielded = 1;
            }
            Step::Window { operand }
            | Step::WindowLength { operand }
            | Step::SiteValue { operand, .. }
            | Step::KnownCase { operand, .. } => {
                names(operand);
                yielded = 1;
            }
            Step::Call { callee, args, ret, catches, .. } => {
                if let StepCallee::Value(value) = callee {
                    uses(&[*value]);
                }
                uses(&args.iter().map(|(value, _)| *value).collect::<Vec<_>>());
                yielded = (*ret != Type::Void) as u16 + *catches as u16;
            }
            Step::Invoke { function, args, ret, catches, .. } => {
                uses(&[*function]);
                takes(args);
                yielded = (*ret != Type::Void) as u16 + *catches as u16;
            }
            Step::Caught { function, code } => {
                uses(&[*function, *code]);
                yielded = 1;
            }
            Step::Write { operand, value } => {
                names(operand);
                uses(&[*value]);
            }
            Step::General { none } => goes(none, 0),
            Step::Slow | Step::Outside { .. } | Step::Show { .. } | Step::Quicken { .. } => {}
            Step::Frames => yielded = 1,
            Step::Block { params, .. } => yielded = params.len() as u16,
            Step::Jump { block, args } => {
                uses(args);
                goes(block, args.len());
                is_open = false;
            }
            Step::Branch { flag, then, otherwise, .. } => {
                uses(&[*flag]);
                [then, otherwise].iter().for_each(|block| goes(block, 0));
                is_open = false;
            }
            Step::Switch { value, operands } => {
                uses(&[*value]);
                operands.iter().for_each(names);
                is_open = false;
            }
            Step::Return { value } => {
                uses(value.as_slice());
                is_open = false;
            }
            Step::Tail { function, args } => {
                uses(&[*function]);
                takes(args);
                is_open = false;
            }
            Step::Goto { operand } => {
                names(operand);
                is_open = false;
            }
            Step::Exit { .. } | Step::Trap { .. } => is_open = false,
        }
        n_values += yielded;
    }
    if let Some(guarded) = &template.guarded {
        check(guarded, n_operands);
    }
}

#[test]
fn a_row_becomes_steps() {
    let add = right("Add { dst: Out<i64>, a: In<i64>, b: In<i64> }", "(add $a (mul $b 3))");
    let steps: Vec<String> = add.template.steps.iter().map(|step| format!("{step:?}")).collect();
    assert_eq!(steps[0], "Read { operand: 1, ty: I64 }");
    assert_eq!(steps[1], "Read { operand: 2, ty: I64 }");
    assert!(
        matches!(&add.template.steps[2], Step::Node { op: Op::CONST, imm: Imm::Value { tokens, .. }, .. }
        if text(tokens) == "3")
    );
    assert_eq!(operators(&add.template), [Op::CONST, Op::MUL, Op::ADD]);
    assert_eq!(steps[5], "Write { operand: 0, value: 4 }");
    assert_eq!((steps.len(), add.template.blocks), (6, 1));
    check(&add.template, 3);
}

#[test]
fn a_narrow_operand_is_widened_by_its_own_sign() {
    let sum = |ty: &str| {
        let written = format!("Sum {{ dst: Out<i64>, a: In<{ty}>, b: In<i64> }}");
        operators(&right(&written, "(add $a $b)").template)
    };
    assert_eq!(sum("i16"), [Op::SCAST, Op::ADD]);
    assert_eq!(sum("u16"), [Op::UCAST, Op::ADD]);
}

#[test]
fn an_operator_that_traps_stands_behind_its_checks() {
    let div = right("Div { dst: Out<i64>, a: In<i64>, b: In<i64> }", "(div $a $b)");
    let traps = div.template.steps.iter().filter(|step| matches!(step, Step::Trap { .. })).count();
    assert_eq!(traps, 2, "by zero, and of the least number by -1");
    assert_eq!(operators(&div.template).last(), Some(&Op::DIV));
    check(&div.template, 3);
}

#[test]
fn an_access_that_may_fault_has_a_second_template_without_the_comparison() {
    let load = right("Load { dst: Out<i64>, p: In<u64> }", "unsafe (within (ult $p 100) 7 (load $p i64))");
    assert_eq!(operators(&load.template).len(), 3);
    let guarded = load.template.guarded.as_ref().expect("there are two");
    assert_eq!(operators(guarded), [Op::LOAD]);
    check(&load.template, 2);
}

#[test]
fn what_a_macro_declares_is_its_own() {
    let written = "Twice { dst: Out<i64>, a: In<i64> }";
    let row = "(let: (($x (neg $a))) (^twice (add $x 1)))
        macro ^twice (,v) (let: (($x (mul ,v ,v))) (sub $x ,v))";
    let twice = right(written, row);
    assert_eq!(operators(&twice.template), [Op::NEG, Op::CONST, Op::ADD, Op::MUL, Op::SUB], "computed once");
    let stranger = "(let: (($x $a)) (^odd)) macro ^odd () (add $x 1)";
    let error = compiled(written, stranger).expect_err("`$x` is the row's");
    assert!(error.message.starts_with("`$x` is another's name"), "{}", error.message);
}

#[test]
fn rust_in_a_row_is_carried_as_it_is() {
    let written = "Size { dst: Out<i64> }";
    let constant = |row: &str| {
        let size = right(written, row);
        let Step::Node { imm: Imm::Value { tokens, .. }, .. } = &size.template.steps[0] else {
            panic!("{row}")
        };
        text(tokens)
    };
    assert_eq!(constant("(&sizeof [crate::Vm; 4])"), "::core::mem::size_of::<[crate::Vm;4]>()");
    assert_eq!(constant("&crate::SIZE"), "crate::SIZE");
    assert_eq!(constant("(&crate::tag 1, -2)"), "crate::tag(1,-2)");
    let by_macro = "(^of crate::Vm 0x1F) macro ^of (,t ,n) (&size ,t, [,n; 2])";
    assert_eq!(constant(by_macro), "size(crate::Vm,[0x1F;2])");
    let call = right("Call { a: In<i64> }", "(callv crate::note (arglist (carg $a i64)))");
    assert_eq!(text(&call.natives[0].path), "crate::note");
}

/// Kinds as a dynamic language has them.
const KINDS: &str = "
    macro ^above (,box ,tag) (eq (shr ,box 48) ,tag)
    kinds u64 {
        number: f64 { is (ult $box &TAG) unbox (bitcast $box f64) box (bitcast (canonical_nan $value) u64) }
        int: i32 { is (^above $box 0xfff1) unbox (ucast $box i32) box (or (ucast $value u64) (&tag 1)) }
        word: u64 { is (lt $box 9) unbox $box box $value }
        nil { is (eq $box &NIL) }
    }";

#[test]
fn formulas_of_kinds_become_terms() {
    let mut errors = Errors::default();
    let source = Source::read(lex(KINDS).expect("it is tokens"), &mut errors);
    let kinds = Kinds::check(&source, Vocabulary::BUILTIN, &mut errors);
    assert!(errors.0.is_empty(), "{:?}", errors.0);
    let kinds = kinds.terms().expect("all is right");
    let ops = |terms: &[FormulaTerm]| terms.iter().map(|term| term.op).collect::<Vec<_>>();
    let [number, int, word, nil] = &kinds[..] else { panic!("{kinds:?}") };
    assert_eq!(
        (number.name.as_str(), number.ty, int.ty, nil.ty),
        ("number", Type::F64, Type::I32, Type::Void)
    );
    assert_eq!(ops(&number.is), [Op::CONST, Op::ULT]);
    assert!(matches!(&number.is[0].imm, Imm::Value { tokens, .. } if text(tokens) == "TAG"));
    // The argument is value 0, and the constant value 1.
    assert_eq!((&number.is[1].inputs[..], number.is[1].sig.from), (&[0, 1][..], Type::I64));
    assert_eq!(ops(&number.make_box), [Op::CANONICAL_NAN, Op::BITCAST]);
    assert_eq!(number.make_box[1].sig, Sig { from: Type::F64, ty: Type::I64 });
    assert_eq!(ops(&int.is), [Op::CONST, Op::SHR, Op::CONST, Op::EQ], "macros are replaced");
    assert_eq!(ops(&int.make_box), [Op::UCAST, Op::CONST, Op::OR]);
    assert_eq!(ops(&word.is), [Op::CONST, Op::ULT], "the type of boxed values has no sign");
    assert!(word.unbox.is_empty() && word.make_box.is_empty(), "the argument is the result");
    assert_eq!((ops(&nil.is), nil.unbox.len() + nil.make_box.len()), (vec![Op::CONST, Op::EQ], 0));
}

#[test]
fn as_is_a_conditional_with_names() {
    let with_kinds = |written: &str, row: &str| right(written, &format!("{row} {KINDS}")).template;
    let written = "Add { dst: Out<u64>, a: In<u64>, b: In<u64> }";
    let add = with_kinds(written, "(as (($a number) ($b number)) (box number (add $a $b)) (box int 1))");
    let ops = [Op::IS, Op::IS, Op::UNBOX, Op::UNBOX, Op::ADD, Op::BOX, Op::CONST, Op::BOX];
    assert_eq!(operators(&add), ops);
    let branches = add.steps.iter().filter(|step| matches!(step, Step::Branch { .. })).count();
    assert_eq!((branches, add.uses_kinds()), (2, true));
    let of_kind = |step: &&Step| matches!(step, Step::Node { op: Op::IS | Op::UNBOX | Op::BOX, .. });
    let sigs: Vec<_> = add.steps.iter().filter(of_kind).map(|step| format!("{step:?}")).collect();
    assert_eq!(sigs[0], "Node { op: is, sig: Sig { from: Void, ty: Flag }, inputs: [0], imm: Known(0) }");
    assert!(sigs[2].starts_with("Node { op: unbox, sig: Sig { from: Void, ty: F64 }"), "{}", sigs[2]);
    assert!(sigs[4].starts_with("Node { op: box, sig: Sig { from: F64, ty: I64 }"), "{}", sigs[4]);
    assert!(sigs[5].ends_with("imm: Known(1) }"), "{}", sigs[5]);
    check(&add, 3);
    // What is computed comes first; a value that nobody uses is only looked at, and one without a value has no name.
    let row = "(as (($a int) ($x number (xor $a $b)) ($b nil)) (box number $x) $a)";
    let some = with_kinds(written, row);
    assert_eq!(operators(&some), [Op::XOR, Op::IS, Op::IS, Op::IS, Op::UNBOX, Op::BOX]);
    check(&some, 3);
    let nothing = with_kinds("Go { a: In<u64>, to: Label }", "(asv (($a nil)) (branch $to) (discard $a))");
    assert_eq!(operators(&nothing), [Op::IS]);
    check(&nothing, 2);
    assert!(!with_kinds(written, "(add $a $b)").uses_kinds());
}

#[test]
fn a_set_has_31_kinds_at_most_and_mistakes_in_it_are_told_once() {
    let read = |kinds: &str| {
        let mut errors = Errors::default();
        let row = "Op::A => (flagval (is k0 $a) u8)";
        let source =
            Source::read(lex(&format!("kinds ptr {{ {kinds} }} {row}")).expect("tokens"), &mut errors);
        let kinds = Kinds::check(&source, Vocabulary::BUILTIN, &mut errors);
        let (opcode, _) = opcode("A { dst: Out<u8>, a: In<u64> }");
        let row = compile(&source.rows[0], &opcode, &[], Vocabulary::BUILTIN, &source, &kinds);
        let messages: Vec<String> = errors.0.into_iter().map(|error| error.message).collect();
        (messages, kinds.terms(), row.expect("the row is right").is_some())
    };
    let many = |n: usize| (0..n).map(|at| format!("k{at} {{ is (eq $box {at}) }}")).collect::<String>();
    let (messages, terms, is_compiled) = read(&many(31));
    assert!(messages.is_empty() && is_compiled, "{messages:?}");
    assert_eq!(terms.expect("all is right").len(), 31);
    assert_eq!(read(&many(32)).0, ["there can be 31 kinds at most"]);
    let (messages, terms, is_compiled) = read("k0 { is (eq $box $a) } k1 { is (zr $box) }");
    assert_eq!(messages, ["the only name in this formula is `$box`"]);
    assert!(terms.is_none() && !is_compiled);
}

#[test]
fn names_of_kinds_are_whose_they_are_written_by() {
    let written = "Add { dst: Out<u64>, a: In<u64>, b: In<u64> }";
    let row = "(^first (add $a $b)) macro ^first (,x) (as (($x int (not ,x))) (box int $x) (xor ,x ,x))";
    let first = right(written, &format!("{row} {KINDS}")).template;
    let xor = first.steps.iter().find_map(|step| match step {
        Step::Node { op: Op::XOR, inputs, .. } => Some(inputs.clone()),
        _ => None,
    });
    assert_eq!(xor, Some(vec![2, 2]), "the argument, and not what was computed of it");
    // A macro may look at what its caller names, for its caller.
    let row = "(^both number $a $b (box number (add $a $b)))
        macro ^both (,kind ,one ,other ,then) (as ((,one ,kind) (,other ,kind)) ,then ,one)";
    let both = right(written, &format!("{row} {KINDS}")).template;
    assert_eq!(operators(&both), [Op::IS, Op::IS, Op::UNBOX, Op::UNBOX, Op::ADD, Op::BOX]);
    // A module may be called `kinds`.
    let mut errors = Errors::default();
    let source = Source::read(lex("kinds::Op::A => 1").expect("it is tokens"), &mut errors);
    assert_eq!((source.rows.len(), source.kinds.is_none(), errors.0.len()), (1, true, 0));
}

#[test]
fn access_to_what_is_in_a_box_may_fault() {
    let row = "unsafe (within (ult $a 100) 7 (unbox number (load $a u64)))";
    let load = right("Load { dst: Out<f64>, a: In<u64> }", &format!("{row} {KINDS}"));
    let guarded = load.template.guarded.as_ref().expect("there are two");
    assert_eq!(operators(guarded), [Op::LOAD, Op::UNBOX]);
}

#[test]
fn a_mark_of_a_macro_is_none_of_its_caller() {
    // A jump back would repeat what stands before the slow path; this one leads to the caller's mark of that name.
    let row = "(dov (^tries (branch (label other))) (branch (label end)) (mark other) (slowv f (arglist)) (mark end))
        macro ^tries (,way) (dov
            (when (nz $a) (dov (set $d 1) (branch (label done)))) (when (lt $b 5) (branch (label other)))
            (branch (label done)) (mark other) ,way (mark done))";
    right("Try! { d: Out<i64>, a: In<i64>, b: In<i64> }", row);
}

#[test]
fn a_tentative_call_stands_before_a_slow_path() {
    let row = |tentative: &str| {
        format!("(let: (($x (call {tentative} f (arglist) i64))) (if (nz $x) $x (slow g (arglist) i64)))")
    };
    right("Try { d: Out<i64> }", &row("tentative"));
    let error = compiled("Try { d: Out<i64> }", &row("")).expect_err("the call would be done again");
    assert!(error.message.starts_with("a slow path stands before all effects"), "{}", error.message);
}

#[test]
fn an_input_that_is_read_behind_a_store_is_a_warning() {
    let swap = right("Swap! { a: InOut<i64>, b: InOut<i64> }", "(dov (set $a $b) (set $b $a))");
    assert!(swap.warnings.is_empty(), "what was stored to the operand itself is meant");
    let sum = right("Sum! { s: Out<i64>, d: Out<i64>, a: In<i64> }", "(dov (set $s $a) (set $d (neg $a)))");
    let [warning] = &sum.warnings[..] else { panic!("{:?}", sum.warnings) };
    assert_eq!((warning.read, warning.stored), (2, 0));
    // Behind a mark counts what was stored where control comes from.
    let other = right(
        "Other! { d: Out<i64>, a: In<i64> }",
        "(dov (ifv (nz $a) (set $d 1) (branch (label other))) (branch (label end)) (mark other) (set $d (neg $a)) (mark end))",
    );
    assert_eq!(other.warnings, []);
    let same = right(
        "Same! { d: Out<i64>, e: Out<i64>, a: In<i64> }",
        "(dov (ifv (nz $a) (set $e 5) (dov (set $e 1) (branch (label other)))) (set $d 2) (branch (label end))
            (mark other) (set $d $a) (mark end))",
    );
    let [warning] = &same.warnings[..] else { panic!("{:?}", same.warnings) };
    assert_eq!((warning.read, warning.stored), (2, 1));
}

#[test]
fn mistakes_are_told_where_they_are() {
    let written = "Add { dst: Out<i64>, a: In<i64>, f: In<f64>, to: Label }";
    let cases = [
        ("(ad $a 1)", "ad", "there is no operator `ad`; did you mean `add`?"),
        ("(add $a $f)", "(add", "an integer and a float"),
        ("(add $a $b)", "$b", "`Add` has no operand or name `$b`; there are $dst $a $f $to"),
        ("(add $to 1)", "$to", "`$to` is a label, no value"),
        ("(add $a a)", "a)", "`a` alone is no expression; the operand is `$a`"),
        ("(add $a NIL)", "NIL", "`NIL` alone is no expression; the constant is `&NIL`"),
        ("(add $a x)", "x)", "`x` alone is no expression; write `(x …)`"),
        ("(load $a i64)", "load", "reading and writing memory is unsafe"),
        ("(let: (($x $a)) $a)", "$x", "nothing uses `$x`"),
        ("(add $a", "(add", "this is not closed"),
        ("(^mac $a)", "^mac", "there is no macro `^mac`"),
        ("(call \"D\" f (arglist) i64)", "\"D\"", "conventions are \"C\", \"sysv64\""),
        ("(branch $a)", "$a", "expected a `Label` operand, or `(label name)`, and `$a` is `In`"),
    ];
    for (row, wrong, message) in cases {
        let Err(error) = compiled(written, row) else { panic!("{row} has a mistake") };
        assert!(error.message.starts_with(message), "{row}: {}", error.message);
        assert!(row[error.place.first as usize..].starts_with(wrong), "{row}: {}", error.message);
    }
    let Err(error) = compiled("Less { dst: Out<f64>, a: In<i64> }", "(lt $a 1)") else {
        panic!("a flag is no float")
    };
    let number = "(stof (flagval (lt $a 1) i64) f64)";
    assert!(error.message.contains("`(stof (flagval … i64) f64)` makes it one or zero"), "{}", error.message);
    assert!(compiled("Less { dst: Out<f64>, a: In<i64> }", number).is_ok());
}

/// The opcodes of the rig, each with its declaration and its row.
fn of_rig() -> Vec<(String, String)> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/rig/src/opcodes.txt");
    let all = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let rows = all.lines().filter(|line| !line.starts_with('#'));
    let rows = rows.filter_map(|line| line.split_once("=>"));
    rows.map(|(head, row)| (head.trim().to_string(), row.trim().to_string())).collect()
}

#[test]
fn steps_use_what_is_there() {
    let all = of_rig();
    assert!(all.len() > 100, "{}", all.len());
    for (written, row) in &all {
        check(&right(written, row).template, opcode(written).0.operands.len());
    }
}

/// What is put into rows.
const WORDS: [&str; 62] = [
    "(",
    ")",
    "$a",
    "$dst",
    "$0",
    "$9",
    ",x",
    "^m",
    "&N",
    "(&sizeof u8)",
    "1",
    "-1",
    "1.5",
    "0x",
    "\"C\"",
    "add",
    "div",
    "load",
    "store",
    "let:",
    "letv:",
    "do",
    "dov",
    "if",
    "when",
    "set",
    "call",
    "arglist",
    "spread",
    "ptr",
    "within",
    "slow",
    "quicken",
    "Op::Same",
    "throws",
    "tentative",
    "try",
    "tryv",
    "(trap_code)",
    "invoke",
    "mark",
    "i64",
    "is",
    "unbox",
    "box",
    "as",
    "asv",
    "$box",
    "$value",
    "kinds",
    "{",
    "}",
    ":",
    "number",
    "nil",
    "f64",
    "cached",
    "cachedv",
    "(case offset)",
    "$cache",
    "Field",
    "carg",
];

/// Rows about sites.
const OF_SITES: [&str; 3] = [
    "unsafe (cached $cache Field (eq $shape (case shape)) (load (add $t (scast (case offset) i64)) u64) (slow get (arglist (carg $cache ptr)) u64))",
    "(cached $cache Field (all (nz $t) (lt (case scale) 1.5)) (cached $cache Field (nz (case offset)) $t 1) (ucast $shape u64))",
    "(do (cachedv $cache Field (any (nz $t) (nz (slow (case offset)))) (dov (mark a) (when (nz $t) (branch (label a)))) (trap 1)) 2)",
];

/// Rows about kinds.
const OF_KINDS: [&str; 4] = [
    "(as (($a number) ($x int (add $a $b))) (box number (add $a (stof $x f64))) (box int 1))",
    "(if (is nil $a) (box int (unbox int $a)) $b)",
    "(as (($x number $a) ($b nil)) (box number $x) (as (($a word)) (box word $a) $b))",
    "(let: (($v $a)) (as (($v int) ($b int)) (box int (mul $v $b)) $v))",
];

#[test]
fn no_text_makes_the_compiler_panic() {
    let (mut all, mut n_right) = (of_rig(), 0);
    for row in OF_KINDS.repeat(all.len() / 8) {
        let written = "Add { dst: Out<u64>, a: In<u64>, b: In<u64> }".to_string();
        all.push((written, format!("{row} {KINDS}")));
    }
    for row in OF_SITES.repeat(all.len() / 8) {
        all.push((GET.to_string(), row.to_string()));
    }
    for round in 0..8000 {
        let mut random = Random::new(round);
        let (written, row) = &all[random.below(all.len())];
        let mut row = row.clone();
        for _ in 0..1 + random.below(3) {
            let words = row.match_indices([' ', '(', ')']).map(|(at, _)| at);
            let words: Vec<usize> = std::iter::once(0).chain(words).collect();
            let at = words[random.below(words.len())];
            let end = words.iter().copied().find(|end| *end > at).unwrap_or(row.len());
            match random.below(3) {
                0 => row.replace_range(at..end, ""),
                1 => row.insert_str(at, &format!(" {} ", WORDS[random.below(WORDS.len())])),
                _ => row.replace_range(at..end, &format!(" {} ", WORDS[random.below(WORDS.len())])),
            }
        }
        match std::panic::catch_unwind(|| compiled(written, &row)) {
            Ok(Ok(compiled)) => {
                check(&compiled.template, opcode(written).0.operands.len());
                n_right += 1;
            }
            Ok(Err(error)) => {
                let place = error.place;
                assert!(
                    place == Place::NOWHERE || place.first as usize <= row.len(),
                    "{row}: {}",
                    error.message
                );
            }
            Err(_) => panic!("round {round} panics with:\n{written} => {row}"),
        }
    }
    assert!((100..8000).contains(&n_right), "{n_right} are right");
}
