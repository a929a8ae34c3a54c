//! The judges notice damage: each test breaks a right input in one way.

use azulejo_core::check;
use azulejo_core::ir::graph::{Graph, Pred};
use azulejo_core::ir::index::{Block, Node};
use azulejo_core::ir::schedule::Schedule;
use azulejo_core::pass::place;
use azulejo_core::text::parse;
use azulejo_core::vocab::{Op, Sig, Type, Vocabulary};

const LOOP: &str = "
b0:
    v0 = local
    v1 = load.i64 v0
    v2 = const.i64 1
    jump b1
b1 <- b0 b2:
    v3 = param.i64 v1 v5
    v4 = lt.i64 v3 v2
    br v4 b2 b3
b2:
    v5 = add.i64 v3 v6
    v6 = mul.i64 v1 v1
    v8 = addr v0 8
    v9 = neg.i64 v1
    store.i64 v8 v5
    v7 = load.i64 v8
    store.i64 v0 v7
    jump b1
b3 cold:
    return.i64 v3
";

fn right() -> Graph {
    let graph = parse::graph(Vocabulary::BUILTIN, LOOP).expect("it is well written");
    assert_eq!(check::graph::graph(&graph), []);
    graph
}

/// Breaks the graph and expects exactly one complaint with these words.
fn graph_is_wrong(words: &str, damage: impl FnOnce(&mut Graph)) {
    let mut graph = right();
    damage(&mut graph);
    let found = check::graph::graph(&graph);
    assert!(found.iter().any(|violation| violation.problem.contains(words)), "{words}: {found:?}");
}

#[test]
fn edges() {
    graph_is_wrong("knows of it 0 times", |graph| graph.blocks[1].preds.truncate(1));
    graph_is_wrong("does not lead here", |graph| graph.blocks[1].preds[1].succ = 1);
    graph_is_wrong("ways out", |graph| graph.blocks[0].succs.push(Block(3)));
    graph_is_wrong("one operand for each", |graph| graph.set_inputs(Node(3), &[Node(1)]));
    graph_is_wrong("the entry has ways in", |graph| {
        graph.blocks[0].preds.push(Pred { block: Block(2), succ: 0 });
    });
    graph_is_wrong("the entry is missing", |graph| graph.blocks[0].end = Node::NONE);
}

#[test]
fn members() {
    graph_is_wrong("stands twice", |graph| {
        let twice = graph.blocks[2].body[0];
        graph.blocks[2].body.push(twice);
    });
    graph_is_wrong("believes to be in", |graph| graph.nodes[7].block = Block(1));
    graph_is_wrong("may not stand here", |graph| {
        graph.nodes[5].block = Block(2);
        graph.blocks[2].body.push(Node(5));
    });
}

#[test]
fn types() {
    graph_is_wrong("means nothing", |graph| graph.nodes[5].sig = Sig { from: Type::Void, ty: Type::Flag });
    graph_is_wrong("which is i64", |graph| graph.nodes[5].sig = Sig { from: Type::Void, ty: Type::I32 });
    graph_is_wrong("operands, not", |graph| graph.set_inputs(Node(5), &[Node(3)]));
    graph_is_wrong("has the constant", |graph| graph.nodes[8].imm = 1 << 40);
    graph_is_wrong("has the constant", |graph| {
        graph.nodes[2].sig.ty = Type::I8;
        graph.nodes[2].imm = 0x100;
    });
}

#[test]
fn order() {
    // A use before its definition in the same block, and one that a branch may go around.
    graph_is_wrong("not there yet", |graph| graph.blocks[2].body.swap(1, 2));
    graph_is_wrong("not there yet", |graph| {
        let end = graph.blocks[3].end;
        graph.set_inputs(end, &[Node(7)]);
    });
    graph_is_wrong("computed from itself", |graph| graph.set_inputs(Node(6), &[Node(5), Node(1)]));
    graph_is_wrong("stands in no block", |graph| {
        graph.blocks[2].body.retain(|node| *node != Node(7));
        graph.nodes[7].block = Block::NONE;
    });
}

/// Breaks the schedule and expects a complaint with these words.
fn schedule_is_wrong(words: &str, damage: impl FnOnce(&mut Schedule)) {
    let graph = right();
    let mut schedule = Schedule::default();
    place::place(&mut place::Scratch::default(), &graph, &mut schedule);
    assert_eq!(check::schedule::schedule(&graph, &schedule), []);
    damage(&mut schedule);
    let found = check::schedule::schedule(&graph, &schedule);
    assert!(found.iter().any(|violation| violation.problem.contains(words)), "{words}: {found:?}");
}

fn at(schedule: &Schedule, node: u32) -> usize {
    schedule.nodes.iter().position(|listed| *listed == Node(node)).expect("it is listed")
}

#[test]
fn schedules() {
    schedule_is_wrong("are reachable", |schedule| schedule.blocks.truncate(3));
    schedule_is_wrong("position", |schedule| schedule.position.swap(1, 2));
    schedule_is_wrong("not cold", |schedule| schedule.blocks[0].cold = true);
    schedule_is_wrong("pinned nodes", |schedule| {
        let stores = schedule.blocks[schedule.position[2] as usize].nodes.range();
        schedule.nodes[stores].reverse();
    });
    schedule_is_wrong("not there yet", |schedule| {
        let (a, b) = (at(schedule, 4), at(schedule, 5));
        schedule.nodes.swap(a, b);
    });
    schedule_is_wrong("which is not listed", |schedule| {
        let (a, b) = (at(schedule, 5), at(schedule, 6));
        schedule.nodes[b] = schedule.nodes[a];
    });
    schedule_is_wrong("is listed twice", |schedule| {
        let (a, b) = (at(schedule, 5), at(schedule, 6));
        schedule.nodes[b] = schedule.nodes[a];
    });
    schedule_is_wrong("nobody uses it", |schedule| {
        let at = at(schedule, 1);
        schedule.nodes.insert(at + 1, Node(9));
        for block in &mut schedule.blocks {
            block.nodes.start += (block.nodes.start > 0) as u32;
        }
        schedule.blocks[0].nodes.len += 1;
    });
}

#[test]
fn evaluation() {
    use check::evaluate::{Machine, Memory, evaluate};
    let run = |graph: &Graph| {
        let mut callee = |_: &_, _: u64, _: &[u64], _: &mut Memory| 0;
        let memory = Memory::default();
        evaluate(graph, &mut Machine { context: 0, unit: 0, frame: 64, memory, callee: &mut callee }, 100)
    };
    let mut graph = right();
    assert!(run(&graph).is_ok());
    graph.nodes[1].block = Block(3);
    graph.blocks[0].body.clear();
    assert!(run(&graph).is_err_and(|violation| violation.problem.contains("has no value")));

    let mut graph = right();
    let zero = graph.constant(Type::I64, 0, 0);
    let word = Sig { from: Type::Void, ty: Type::I64 };
    graph.push(Block(1), Op::DIV, word, &[Node(3), zero], 0, 0);
    assert!(run(&graph).is_err_and(|violation| violation.problem.contains("division by zero")));
}
