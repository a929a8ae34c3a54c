//! Golden tests: each `tests/golden/<pass>/*.txt` is a graph, a line of dashes, and the result of the pass.
//!
//! `UPDATE_EXPECT=1 cargo test` writes the current results into the files.

// Miri takes minutes to run the passes, which need no unsafe code.
#![cfg(not(miri))]

use azulejo_core::check;
use azulejo_core::ir::graph::Graph;
use azulejo_core::ir::kinds::{Formula, Term, ValueKind};
use azulejo_core::ir::schedule::Schedule;
use azulejo_core::pass;
use azulejo_core::text::{parse, print};
use azulejo_core::vocab::{Op, Sig, Type, Vocabulary};
use std::fs;
use std::path::Path;

const DIVIDER: &str = "----\n";

/// Runs a pass that changes the graph on every case in its folder.
fn golden_pass(folder: &str, mut pass: impl FnMut(&mut Graph)) {
    golden(folder, |mut graph| {
        pass(&mut graph);
        print::graph(&graph)
    });
}

/// Runs a pass on every case in its folder. The pass keeps its scratch memory between cases, as it does in a compiler.
fn golden(folder: &str, mut pass: impl FnMut(Graph) -> String) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(folder);
    let mut paths: Vec<_> = fs::read_dir(&folder)
        .expect("the folder of a pass exists")
        .map(|entry| entry.expect("the folder can be read").path())
        .collect();
    paths.sort();
    assert!(!paths.is_empty(), "there are no cases in {}", folder.display());
    let mut wrong = Vec::new();
    for path in paths {
        let text = fs::read_to_string(&path).expect("a case can be read");
        let (input, expected) = text.split_once(DIVIDER).unwrap_or((&text, ""));
        let graph = parse::graph(Vocabulary::BUILTIN, input)
            .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let found = pass(graph);
        if found == expected {
            continue;
        }
        if std::env::var_os("UPDATE_EXPECT").is_some() {
            fs::write(&path, format!("{input}{DIVIDER}{found}")).expect("a case can be written");
        } else {
            wrong.push(format!("{}\n--- expected\n{expected}--- found\n{found}", path.display()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn place() {
    let mut scratch = pass::place::Scratch::default();
    let mut schedule = Schedule::default();
    golden("place", |mut graph| {
        pass::place::place(&mut scratch, &mut graph, &mut schedule);
        print::schedule(&graph, &schedule)
    });
}

#[test]
fn number() {
    let mut scratch = pass::number::Scratch::default();
    golden_pass("number", |graph| {
        pass::number::number(&mut scratch, graph);
    });
}

#[test]
fn dead() {
    let mut scratch = pass::dead::Scratch::default();
    golden_pass("dead", |graph| {
        pass::dead::dead(&mut scratch, graph);
    });
}

#[test]
fn forward() {
    let mut scratch = pass::forward::Scratch::default();
    golden_pass("forward", |graph| {
        pass::forward::forward(&mut scratch, graph);
    });
}

#[test]
fn renew() {
    let mut scratch = pass::renew::Scratch::default();
    let mut peel = pass::peel::Scratch::default();
    golden_pass("renew", |graph| {
        let heads = pass::renew::find(&mut scratch, graph, &[]).unwrap_or_default();
        pass::peel::peel_loops(&mut peel, graph, &heads);
        pass::renew::renew(&mut scratch, graph, &[]);
        assert_eq!(check::graph::graph(graph), []);
    });
}

#[test]
fn sink() {
    let mut scratch = pass::sink::Scratch::default();
    golden_pass("sink", |graph| {
        pass::sink::sink(&mut scratch, graph, &[], &mut Vec::new());
    });
}

#[test]
fn offsets() {
    let mut scratch = pass::offsets::Scratch::default();
    golden_pass("offsets", |graph| {
        pass::offsets::offsets(&mut scratch, graph);
    });
}

#[test]
fn peel() {
    let mut scratch = pass::peel::Scratch::default();
    golden_pass("peel", |graph| {
        pass::peel::peel(&mut scratch, graph);
    });
}

/// Boxed values for the tests: floats below a tag, tables above another one, and nil.
static KINDS: &[ValueKind] = {
    const FLAG: Sig = Sig { from: Type::I64, ty: Type::Flag };
    const WORD: Sig = Sig { from: Type::Void, ty: Type::I64 };
    const fn tag(imm: i64) -> Term {
        Term { op: Op::CONST, sig: WORD, inputs: &[], imm }
    }
    const fn binary(op: Op, sig: Sig) -> Term {
        Term { op, sig, inputs: &[0, 1], imm: 0 }
    }
    const fn bitcast(from: Type, ty: Type, input: &'static [u16]) -> Term {
        Term { op: Op::BITCAST, sig: Sig { from, ty }, inputs: input, imm: 0 }
    }
    const TAG: i64 = 0xfff9 << 48;
    const HEAP: i64 = 0xfffa << 48;
    const NAN: Term =
        Term { op: Op::CANONICAL_NAN, sig: Sig { from: Type::Void, ty: Type::F64 }, inputs: &[0], imm: 0 };
    const IS_NUMBER: Formula = Formula { terms: &[tag(TAG), binary(Op::ULT, FLAG)] };
    const IS_TABLE: Formula = Formula { terms: &[tag(HEAP), binary(Op::UGE, FLAG)] };
    &[
        ValueKind {
            name: "number",
            ty: Type::F64,
            is: IS_NUMBER,
            unbox: Formula { terms: &[bitcast(Type::I64, Type::F64, &[0])] },
            make_box: Formula { terms: &[NAN, bitcast(Type::F64, Type::I64, &[1])] },
        },
        ValueKind {
            name: "table",
            ty: Type::I64,
            is: IS_TABLE,
            unbox: Formula { terms: &[tag(HEAP), binary(Op::SUB, WORD)] },
            make_box: Formula { terms: &[tag(HEAP), binary(Op::ADD, WORD)] },
        },
        ValueKind {
            name: "nil",
            ty: Type::Void,
            is: Formula { terms: &[tag(TAG + 1), binary(Op::EQ, FLAG)] },
            unbox: Formula { terms: &[] },
            make_box: Formula { terms: &[] },
        },
    ]
};

/// Checks and boxes before and after they are lowered.
#[test]
fn kinds() {
    let (mut kinds, mut represent) = (pass::kinds::Scratch::default(), pass::represent::Scratch::default());
    golden("kinds", |mut graph| {
        graph.kinds = KINDS;
        let judged = |graph: &Graph| assert_eq!(check::graph::graph(graph), [], "{}", print::graph(graph));
        judged(&graph);
        let masks = pass::kinds::kinds(&mut kinds, &mut graph);
        judged(&graph);
        pass::represent::represent(&mut represent, &mut graph, masks);
        judged(&graph);
        let text = print::graph(&graph);
        pass::kinds::lower(&mut graph);
        judged(&graph);
        assert_eq!(check::kinds::kinds(&graph), [], "{}", print::graph(&graph));
        text
    });
}

#[test]
fn represent() {
    let mut scratch = pass::represent::Scratch::default();
    golden_pass("represent", |graph| {
        pass::represent::represent(&mut scratch, graph, &[]);
        assert_eq!(check::graph::graph(graph), [], "{}", print::graph(graph));
    });
}

/// Folding and control flow, without rules. The rules have tests beside them.
#[test]
fn rewrite() {
    let mut scratch = pass::rewrite::Scratch::default();
    golden_pass("rewrite", |graph| {
        pass::rewrite::rewrite(&mut scratch, graph, &[]);
    });
}

/// The text of a graph parses to a graph with the same text.
#[test]
fn text() {
    golden("text", |graph| {
        let printed = print::graph(&graph);
        let read = parse::graph(Vocabulary::BUILTIN, &printed).expect("what is printed can be read");
        assert_eq!(print::graph(&read), printed);
        printed
    });
}
