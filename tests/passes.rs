//! Passes preserve the meaning of random graphs.

use azulejo::__private::core::check::evaluate::{Environment, Memory, Outcome, evaluate};
use azulejo::__private::core::check::{self, Violation};
use azulejo::__private::core::fuzzing::{self, AT_EDGE, Options, Random};
use azulejo::__private::core::ir::graph::{CallData, Effect, Graph};
use azulejo::__private::core::ir::schedule::Schedule;
use azulejo::__private::core::pass;
use azulejo::__private::core::text::{parse, print};

const FRAME: u64 = 0x10_0000;
/// No other memory of the test is near this address.
const UNIT: u64 = 0x7654_3210_0000;
const N_GRAPHS: u64 = 1500;

/// The observable behaviour of a graph: its outcome, the memory afterwards, and the calls with their arguments and results.
#[derive(PartialEq, Debug)]
struct Trace {
    outcome: Outcome,
    memory: Vec<(u64, u8)>,
    calls: Vec<(u64, Vec<u64>, u64)>,
}

/// Evaluates a graph. The context is inside the frame if `overlaps`, so that two bases address the same bytes.
fn run(graph: &Graph, overlaps: bool) -> Result<Trace, Violation> {
    let mut calls = Vec::new();
    let mut callee = |call: &CallData, callee: u64, args: &[u64], memory: &mut Memory| {
        let mut result = args.iter().fold(callee, |hash, arg| (hash ^ arg).wrapping_mul(0x0100_0000_01b3));
        let touched = match call.effect {
            Effect::Pure => return result,
            Effect::Leaf | Effect::Memory => 0x9000,
            Effect::Observes => FRAME + 8,
        };
        result ^= memory.read(touched, 8);
        memory.write(touched, 8, result);
        calls.push((callee, args.to_vec(), result));
        result
    };
    let context = if overlaps { FRAME + 12 } else { 0x9000 };
    let memory = Memory::ending_at(UNIT + AT_EDGE);
    let mut machine = Environment { context, unit: UNIT, frame: FRAME, memory, callee: &mut callee };
    let outcome = evaluate(graph, &mut machine, 400)?;
    let memory = machine.memory.written().collect();
    Ok(Trace { outcome, memory, calls })
}

/// Runs a pass on random graphs and compares their behaviour before and after.
fn keeps_meaning(name: &str, mut pass: impl FnMut(&mut Graph)) {
    let mut n_ended = 0;
    for seed in 0..N_GRAPHS {
        let before = fuzzing::graph(&mut Random::new(seed), &Options::SMALL);
        assert_eq!(check::graph::graph(&before), [], "seed {seed}\n{}", print::graph(&before));
        let mut after = before.clone();
        pass(&mut after);
        let report = || {
            format!("{name}, seed {seed}\n{}---- becomes\n{}", print::graph(&before), print::graph(&after))
        };
        assert_eq!(check::graph::graph(&after), [], "{}", report());
        for overlaps in [false, true] {
            let expected =
                run(&before, overlaps).unwrap_or_else(|violation| panic!("{violation}\n{}", report()));
            let found = run(&after, overlaps).unwrap_or_else(|violation| panic!("{violation}\n{}", report()));
            if expected.outcome == Outcome::OutOfSteps {
                continue;
            }
            n_ended += 1;
            assert_eq!(found, expected, "overlaps: {overlaps}, {}", report());
        }
    }
    assert!(n_ended > N_GRAPHS, "most graphs end");
}

#[test]
fn number() {
    let mut scratch = pass::number::Scratch::default();
    keeps_meaning("number", |graph| pass::number::number(&mut scratch, graph));
}

#[test]
fn dead() {
    let mut scratch = pass::dead::Scratch::default();
    keeps_meaning("dead", |graph| pass::dead::dead(&mut scratch, graph));
}

#[test]
fn rewrite_without_rules() {
    let mut scratch = pass::rewrite::Scratch::default();
    keeps_meaning("rewrite", |graph| {
        pass::rewrite::rewrite(&mut scratch, graph, &[]);
    });
}

#[test]
fn rewrite() {
    let mut scratch = pass::rewrite::Scratch::default();
    keeps_meaning("rewrite", |graph| {
        pass::rewrite::rewrite(&mut scratch, graph, &azulejo::rules::MATCHERS);
    });
}

#[test]
fn represent() {
    let mut scratch = pass::represent::Scratch::default();
    keeps_meaning("represent", |graph| {
        pass::represent::represent(&mut scratch, graph, &[]);
    });
}

#[test]
fn forward() {
    let mut scratch = pass::forward::Scratch::default();
    keeps_meaning("forward", |graph| {
        pass::forward::forward(&mut scratch, graph);
    });
}

#[test]
fn peel() {
    let mut scratch = pass::peel::Scratch::with_chaos(1);
    let mut n_peeled = 0;
    keeps_meaning("peel", |graph| n_peeled += u64::from(pass::peel::peel(&mut scratch, graph)));
    assert!(n_peeled > 20, "{n_peeled} of the graphs have a loop that is copied");
}

#[test]
fn all() {
    let mut peel = pass::peel::Scratch::with_chaos(2);
    let mut rewrite = pass::rewrite::Scratch::default();
    let mut forward = pass::forward::Scratch::default();
    let mut dead = pass::dead::Scratch::default();
    keeps_meaning("all", |graph| {
        for _ in 0..2 {
            pass::rewrite::rewrite(&mut rewrite, graph, &azulejo::rules::MATCHERS);
            pass::peel::peel(&mut peel, graph);
            pass::forward::forward(&mut forward, graph);
        }
        pass::dead::dead(&mut dead, graph);
    });
}

#[test]
fn place() {
    let mut scratch = pass::place::Scratch::default();
    let mut schedule = Schedule::default();
    let mut n_copies = 0;
    for seed in 0..N_GRAPHS {
        let before = fuzzing::graph(&mut Random::new(seed), &Options::SMALL);
        let mut graph = before.clone();
        pass::place::place(&mut scratch, &mut graph, &mut schedule);
        let mut violations = check::schedule::schedule(&graph, &schedule);
        violations.extend(check::copies::copies(&before, &graph, &schedule));
        assert_eq!(violations, [], "seed {seed}\n{}", print::schedule(&graph, &schedule));
        n_copies += schedule.copies.len();
    }
    assert!(n_copies > 0, "cold blocks share values");
}

#[test]
fn text_reads_back() {
    for seed in 0..N_GRAPHS {
        let graph = fuzzing::graph(&mut Random::new(seed), &Options::SMALL);
        let text = print::graph(&graph);
        let read = parse::graph(graph.vocab, &text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        assert_eq!(print::graph(&read), text);
    }
}
