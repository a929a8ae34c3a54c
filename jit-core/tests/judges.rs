//! The judges notice damage: each entry of a table damages a correct input in one way.

// Miri takes minutes to run the judges, which need no unsafe code.
#![cfg(not(miri))]

mod messages;

use azulejo_core::check;
use azulejo_core::ir::assignment::{Assignment, Loc, Move, Source};
use azulejo_core::ir::graph::{Access, Graph, Pred};
use azulejo_core::ir::index::{Block, InstId, List, Node, Slot};
use azulejo_core::ir::inlining::InlinedFrame;
use azulejo_core::ir::regions::MemoryRegion;
use azulejo_core::ir::schedule::Schedule;
use azulejo_core::ir::state::{FrameState, StateRegister};
use azulejo_core::ir::tiles::TileList;
use azulejo_core::pass::place;
use azulejo_core::target::{Reg, RegSet};
use azulejo_core::text::{parse, print};
use azulejo_core::vocab::{Op, Sig, Type, Vocabulary};
use messages::{all_were_said, exactly};

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

type Damage<T> = (&'static str, fn(&mut T));

const EDGES: [Damage<Graph>; 7] = [
    ("the entry is missing", |graph| graph.blocks[0].end = Node::NONE),
    ("the entry has ways in", |graph| {
        graph.blocks[2].succs[0] = Block(0);
        graph.blocks[0].preds.push(Pred { block: Block(2), succ: 0 });
        graph.blocks[1].preds.truncate(1);
        graph.set_inputs(Node(3), &[Node(1)]);
    }),
    ("ret with 1 ways out", |graph| {
        let end = graph.blocks[0].end;
        graph.nodes[end.at()].op = Op::RET;
    }),
    ("knows of it 0 times", |graph| {
        graph.blocks[1].preds.truncate(1);
        graph.set_inputs(Node(3), &[Node(1)]);
    }),
    ("goes to b3, which has no end", |graph| graph.blocks[3].end = Node::NONE),
    ("way 0 of b1 does not lead here", |graph| {
        graph.blocks[1].preds.push(Pred { block: Block(1), succ: 0 });
        graph.set_inputs(Node(3), &[Node(1), Node(5), Node(5)]);
    }),
    ("one operand for each", |graph| graph.set_inputs(Node(3), &[Node(1)])),
];

const MEMBERS: [Damage<Graph>; 4] = [
    // A load of memory that never changes floats, so it must not be pinned.
    ("may not stand here", |graph| graph.nodes[7].imm = Access::Pure.bits()),
    ("stands twice", |graph| {
        let twice = graph.blocks[2].body[0];
        graph.blocks[2].body.push(twice);
    }),
    ("believes to be in", |graph| graph.nodes[7].block = Block(1)),
    ("may not stand here", |graph| {
        graph.nodes[9].block = Block(2);
        graph.blocks[2].body.push(Node(9));
    }),
];

/// Makes the last block leave with a frame state.
fn leave_with(graph: &mut Graph, registers: &[u32], inputs: &[Node]) {
    let registers: Vec<_> = registers.iter().map(|register| StateRegister::plain(*register)).collect();
    let registers = List::push(&mut graph.states.registers, &registers);
    graph.states.all.push(FrameState { to: 7, registers, frame: 0 });
    let end = graph.blocks[3].end;
    graph.nodes[end.at()].op = Op::EXIT_WITH;
    graph.nodes[end.at()].sig.from = Type::Void;
    graph.set_inputs(end, inputs);
}

const STATES: [Damage<Graph>; 6] = [
    ("has the frame state of another", |graph| {
        leave_with(graph, &[2], &[Node(0), Node(1)]);
        let leaving = *graph.node(graph.blocks[3].end);
        let block = graph.add_block();
        let inputs = graph.inputs(graph.blocks[3].end).to_vec();
        graph.blocks[block.at()].preds.push(Pred { block: Block(1), succ: 1 });
        graph.blocks[1].succs[1] = block;
        graph.blocks[3].preds.clear();
        graph.end(block, leaving.op, Type::Void, &inputs, leaving.imm, &[], 0);
    }),
    ("has a state that is not", |graph| leave_with(graph, &[2, 2], &[Node(0), Node(1), Node(3)])),
    ("has a state that is not", |graph| leave_with(graph, &[2, 3], &[Node(0), Node(1), Node(4)])),
    ("has a state with a register", |graph| {
        let own = InlinedFrame {
            shown: None,
            function: 0,
            cell: 0,
            first_register: 0,
            slots: 3,
            caller: 0,
            call: 0,
            result: None,
        };
        // Control goes on in the first of two calls, with a register of the second.
        let calls = [3, 5].map(|first_register| InlinedFrame { first_register, slots: 2, ..own });
        graph.states.inlining.frames = vec![own, calls[0], calls[1]];
        leave_with(graph, &[2, 5], &[Node(0), Node(1), Node(3)]);
        graph.states.all[0].frame = 1;
    }),
    ("has 2 operands, not 3", |graph| leave_with(graph, &[2, 3], &[Node(0), Node(1)])),
    ("has the constant", |graph| {
        leave_with(graph, &[2], &[Node(0), Node(1)]);
        let end = graph.blocks[3].end;
        graph.nodes[end.at()].imm = 1;
    }),
];

const TYPES: [Damage<Graph>; 8] = [
    ("means nothing", |graph| graph.nodes[4].sig.from = Type::Void),
    ("takes v6, which is i64", |graph| {
        let end = graph.blocks[1].end;
        graph.set_inputs(end, &[Node(6)]);
    }),
    ("has 1 operands, not 2", |graph| graph.set_inputs(Node(6), &[Node(1)])),
    ("has the constant", |graph| graph.nodes[8].imm = 1 << 40),
    ("has the constant", |graph| graph.nodes[7].imm = Access::Within(0).bits()),
    ("has the constant", |graph| graph.nodes[7].imm = 2),
    // A region behind the last one.
    ("has the constant", |graph| graph.nodes[7].imm = MemoryRegion::of_number(15).bits() << 1),
    ("is the second result of no call", |graph| {
        let sig = Sig { from: Type::Void, ty: Type::I32 };
        graph.push(Block(2), Op::FAILURE, sig, &[Node(6)], 0, 0);
    }),
];

const ORDER: [Damage<Graph>; 5] = [
    // A use before its definition in the same block, and a use whose definition a branch may bypass.
    ("not there yet", |graph| graph.blocks[2].body.swap(1, 2)),
    ("not there yet", |graph| {
        let end = graph.blocks[3].end;
        graph.set_inputs(end, &[Node(7)]);
    }),
    ("computed from itself", |graph| graph.set_inputs(Node(6), &[Node(5), Node(1)])),
    ("stands in no block", |graph| {
        graph.blocks[2].body.retain(|node| *node != Node(7));
        graph.nodes[7].block = Block::NONE;
    }),
    ("nowhere all there", |graph| {
        let word = Sig { from: Type::Void, ty: Type::I64 };
        let load = graph.push(Block(3), Op::LOAD, word, &[Node(0)], 0, 0);
        let sum = graph.add(Op::ADD, word, &[load, Node(7)], 0, 0);
        let end = graph.blocks[3].end;
        graph.set_inputs(end, &[sum]);
    }),
];

/// Each damage leads to its own message and no other. Together they lead to all messages that the judge has.
#[test]
fn graphs() {
    let mut said = Vec::new();
    for (words, damage) in EDGES.into_iter().chain(MEMBERS).chain(TYPES).chain(STATES).chain(ORDER) {
        let mut graph = right();
        damage(&mut graph);
        let found: Vec<String> = check::graph::graph(&graph).iter().map(ToString::to_string).collect();
        exactly(&found, &[words], String::new);
        said.extend(found);
    }
    all_were_said(include_str!("../src/check/graph.rs"), &said);
}

fn at(schedule: &Schedule, node: u32) -> usize {
    schedule.nodes.iter().position(|listed| *listed == Node(node)).expect("it is listed")
}

/// Inserts a node after the one at a position, into the same block.
fn insert(schedule: &mut Schedule, at: usize, node: Node) {
    schedule.nodes.insert(at + 1, node);
    for block in &mut schedule.blocks {
        match block.nodes.range().contains(&at) {
            true => block.nodes.len += 1,
            false => block.nodes.start += (block.nodes.start as usize > at) as u32,
        }
    }
}

fn remove(schedule: &mut Schedule, at: usize) {
    schedule.nodes.remove(at);
    for block in &mut schedule.blocks {
        match block.nodes.range().contains(&at) {
            true => block.nodes.len -= 1,
            false => block.nodes.start -= (block.nodes.start as usize > at) as u32,
        }
    }
}

const SCHEDULES: [Damage<Schedule>; 10] = [
    ("does not stand first", |schedule| {
        schedule.blocks.swap(0, 1);
        schedule.position.swap(0, 1);
    }),
    ("are reachable", |schedule| schedule.blocks.truncate(3)),
    ("position", |schedule| schedule.position[1] = 9),
    ("not cold", |schedule| schedule.blocks[0].cold = true),
    ("pinned nodes", |schedule| {
        let load = at(schedule, 7);
        let store = load - 1;
        schedule.nodes.swap(store, load);
    }),
    ("does not close with its end", |schedule| {
        let last = schedule.blocks[0].nodes.range().end - 1;
        schedule.nodes.swap(last - 1, last);
    }),
    ("not there yet", |schedule| {
        let (a, b) = (at(schedule, 2), at(schedule, 4));
        schedule.nodes.swap(a, b);
    }),
    ("which is not listed", |schedule| {
        let at = at(schedule, 2);
        remove(schedule, at);
    }),
    ("is listed twice", |schedule| {
        let at = at(schedule, 2);
        insert(schedule, at, Node(2));
    }),
    ("nobody uses it", |schedule| {
        let at = at(schedule, 1);
        insert(schedule, at, Node(9));
    }),
];

#[test]
fn schedules() {
    let graph = right();
    let mut said = Vec::new();
    for (words, damage) in SCHEDULES {
        let mut schedule = Schedule::default();
        place::place(&mut place::Scratch::default(), &mut graph.clone(), &mut schedule);
        assert_eq!(check::schedule::schedule(&graph, &schedule), []);
        damage(&mut schedule);
        let found = check::schedule::schedule(&graph, &schedule);
        let found: Vec<String> = found.iter().map(ToString::to_string).collect();
        exactly(&found, &[words], || print::schedule(&graph, &schedule));
        said.extend(found);
    }
    all_were_said(include_str!("../src/check/schedule.rs"), &said);
}

/// A value that two cold blocks use.
const SHARED: &str = "\
b0:
    v0 = local
    v1 = load.i64 v0
    v2 = const.i64 7
    v3 = mul.i64 v1 v2
    v4 = nz.i64 v1
    br v4 b1 b2
b1 cold:
    store.i64 v0 v3
    ret
b2 <- b0.1:
    v5 = lt.i64 v1 v2
    br v5 b3 b4
b3 cold:
    store.i64 v0 v3
    ret
b4 <- b2.1:
    ret
";

/// A graph after placing, and its schedule.
type Placed = (Graph, Schedule);

const COPIES: [Damage<Placed>; 6] = [
    ("no copy of a floating value", |(_, schedule)| schedule.copies[0].1 = Node(1)),
    ("is none of the copies", |(_, schedule)| schedule.copies.clear()),
    ("is not what it was", |(graph, schedule)| graph.nodes[schedule.copies[0].0.at()].op = Op::ADD),
    ("other operands than it had", |(graph, schedule)| {
        let copy = schedule.copies.iter().find(|(_, of)| graph.node(*of).op == Op::MUL);
        let copy = copy.expect("the product is copied").0;
        graph.set_inputs(copy, &[Node(1), Node(1)]);
    }),
    ("a block that is not cold", |(_, schedule)| {
        schedule.blocks.iter_mut().for_each(|block| block.cold = false);
    }),
    ("blocks are not what they were", |(graph, _)| graph.blocks[1].body.clear()),
];

#[test]
fn copies() {
    let before = parse::graph(Vocabulary::BUILTIN, SHARED).expect("it is well written");
    assert_eq!(check::graph::graph(&before), []);
    let mut said = Vec::new();
    for (words, damage) in COPIES {
        let mut placed = (before.clone(), Schedule::default());
        place::place(&mut place::Scratch::default(), &mut placed.0, &mut placed.1);
        assert_eq!(check::copies::copies(&before, &placed.0, &placed.1), []);
        damage(&mut placed);
        let found = check::copies::copies(&before, &placed.0, &placed.1);
        said.extend(found.iter().map(ToString::to_string));
        assert!(said.iter().any(|said| said.contains(words)), "{words}: {found:?}");
    }
    all_were_said(include_str!("../src/check/copies.rs"), &said);
}

/// A list with the effects on values that instructions can have: a result in its operand's register, a call's arguments,
/// scratch.
const TILES: &str = "\
out_args 1 calls
r0 i64
r1 i64 -7
r2 i64
r3 i64
b0:
    t0.void.i64 def:r0%x0
    t1.void.i64 def:r2/1 r0 late:r1
    t2.void.void r2%x1 r0[0] temp:r3 clobbers x2
    t3.i64.void r2
";

const X: [Reg; 6] = [Reg::int(0), Reg::int(1), Reg::int(2), Reg::int(3), Reg::int(4), Reg::int(5)];

fn assigned() -> Assignment {
    let [x0, x1, _, x3, x4, _] = X.map(Loc::Reg);
    let (slot, argument) = (Loc::Slot(Slot(0)), Loc::OutArg(0));
    let moved = |before, from, to| Move { before: InstId(before), from, to, ty: Type::I64 };
    Assignment {
        locs: vec![x0, x0, x0, x3, x1, argument, x4, x0],
        moves: vec![
            moved(1, Source::Loc(x0), slot),
            moved(1, Source::Const(-7i64 as u64), x3),
            moved(2, Source::Loc(x0), x1),
            moved(2, Source::Loc(slot), argument),
        ],
        slots: 1,
        used: RegSet::of(&X),
        has_late_frame: false,
    }
}

const ASSIGNMENTS: [Damage<Assignment>; 10] = [
    ("not every operand has a place", |wrong| wrong.locs.truncate(7)),
    ("are not in the order of the instructions", |wrong| wrong.moves.swap(0, 3)),
    ("a move takes what nothing is known of", |wrong| {
        // To a register that is never read.
        let (from, to) = (Source::Loc(Loc::Slot(Slot(7))), Loc::Reg(X[5]));
        wrong.moves.insert(0, Move { before: InstId(1), from, to, ty: Type::I64 });
    }),
    // The place holds the value too, but the instruction reads another one.
    ("operand 0 of 2: is not where it must be", |wrong| wrong.locs[4] = Loc::Reg(X[0])),
    ("is in a register of the other class", |wrong| {
        wrong.locs[6] = Loc::Reg(Reg::float(0));
        wrong.used.insert(Reg::float(0));
    }),
    ("reads a place that does not hold the value", |wrong| wrong.locs[7] = Loc::Reg(X[3])),
    ("writes a register that is not said to be used", |wrong| wrong.used.remove(X[4])),
    ("writes a spill slot that there is not", |wrong| wrong.slots = 0),
    ("is overwritten while it is needed", |wrong| wrong.locs[6] = Loc::Reg(X[2])),
    ("operands 0 and 2 of 2: share a register at once", |wrong| wrong.locs[6] = Loc::Reg(X[1])),
];

#[test]
fn assignments() {
    let tiles = parse::tiles(TILES, parse::KnownNames::NUMBERS).expect("it is well written");
    let right = assigned();
    assert_eq!(check::assignment::assignment(&tiles, &right), []);
    let mut said = Vec::new();
    for (words, damage) in ASSIGNMENTS {
        let mut wrong = right.clone();
        damage(&mut wrong);
        let found = check::assignment::assignment(&tiles, &wrong);
        let found: Vec<String> = found.iter().map(ToString::to_string).collect();
        exactly(&found, &[words], || print::assignment(&tiles, &wrong, print::Names::NUMBERS));
        said.extend(found);
    }
    all_were_said(include_str!("../src/check/assignment.rs"), &said);
}

/// A function that may end before it makes its frame, and exits with it.
const LATE: &str = "\
r0 i64
r1 i64
b0 unframed:
    t0.void.i64 def:r0%x0
    t1.void.void r0
    -> b1
    -> b2
b1 unframed:
    t2.void.void r0
b2:
    t3.void.i64 def:r1 r0
    t4.void.void r1 clobbers x4
    -> b3
b3 cold:
    t2.void.void r1
";

const FRAMES: [Damage<(TileList, Assignment)>; 9] = [
    ("b0: has the frame, which is made late", |(tiles, _)| tiles.blocks[0].framed = true),
    ("b3: has no frame, and is entered from b2, which has one", |(tiles, _)| tiles.blocks[3].framed = false),
    ("b1: uses the frame, which is not there", |(tiles, _)| tiles.blocks[1].uses_frame = true),
    ("b3: is cold, and has no frame", |(tiles, _)| tiles.blocks[3].framed = false),
    ("b2: is entered from b3, with the frame, and from b0", |(tiles, _)| {
        let to_b2 = tiles.edges[1];
        tiles.edges.push(to_b2);
        tiles.blocks[3].edges = List { start: tiles.edges.len() as u32 - 1, len: 1 };
    }),
    ("b0: 1: uses Reg(x4) without the frame", |(_, assignment)| assignment.locs[1] = Loc::Reg(X[4])),
    ("b1: 2: uses Slot(slot0) without the frame", |(_, assignment)| assignment.locs[2] = Loc::Slot(Slot(0))),
    ("b1: 2: uses Slot(slot0) without the frame", |(_, assignment)| {
        let (from, to) = (Source::Loc(Loc::Reg(X[0])), Loc::Slot(Slot(0)));
        assignment.moves.push(Move { before: InstId(2), from, to, ty: Type::I64 });
    }),
    ("b0: 1: changes a register that callees save", |(tiles, _)| {
        tiles.insts[1].clobbers = RegSet::of(&[X[4]]);
    }),
];

#[test]
fn frames() {
    let tiles = parse::tiles(LATE, parse::KnownNames::NUMBERS).expect("it is well written");
    let saved = RegSet::of(&[X[4], X[5]]);
    let [x0, _, _, _, x4, _] = X.map(Loc::Reg);
    let right = (
        tiles,
        Assignment { locs: vec![x0, x0, x0, x4, x0, x4, x4], has_late_frame: true, ..Assignment::default() },
    );
    assert_eq!(check::frames::frames(&right.0, &right.1, saved), []);
    let mut said = Vec::new();
    for (words, damage) in FRAMES {
        let mut wrong = right.clone();
        damage(&mut wrong);
        let found = check::frames::frames(&wrong.0, &wrong.1, saved);
        let found: Vec<String> = found.iter().map(ToString::to_string).collect();
        assert!(found.iter().any(|found| found.contains(words)), "{words}: {found:?}");
        said.extend(found);
    }
    all_were_said(include_str!("../src/check/frames.rs"), &said);
}

#[test]
fn evaluation() {
    use check::evaluate::{Environment, Memory, evaluate};
    let run = |graph: &Graph| {
        let mut callee = |_: &_, _: u64, _: &[u64], _: &mut Memory| 0;
        let memory = Memory::default();
        evaluate(graph, &mut Environment { context: 0, unit: 0, frame: 64, memory, callee: &mut callee }, 100)
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
