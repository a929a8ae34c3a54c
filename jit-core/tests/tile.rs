//! The tile pass on a small machine: golden tile lists, each judged, and tests of the judge itself.

// Miri takes an hour to build the machine's tables, which need no unsafe code.
#![cfg(not(miri))]

mod messages;

use azulejo_core::check::evaluate::{Environment, Memory, Outcome, evaluate};
use azulejo_core::check::{self, Violation, execute};
use azulejo_core::fuzzing::{self, AT_EDGE, Options, Random};
use azulejo_core::grammar::{Grammar, Problem, Rule, Symbol, TileSet, build, text};
use azulejo_core::ir::graph::{CallData, Effect, Graph};
use azulejo_core::ir::index::{Block, InstId, Node, Vreg};
use azulejo_core::ir::schedule::Schedule;
use azulejo_core::ir::state::SavedValue;
use azulejo_core::ir::template::Convention;
use azulejo_core::ir::tiles::{Constraint, Operand, Role, TileId, TileList};
use azulejo_core::pass;
use azulejo_core::target::{Abi, Reg, RegSet, RegisterFile};
use azulejo_core::text::{parse, print};
use azulejo_core::vocab::op::Yields;
use azulejo_core::vocab::{Type, Vocabulary};
use messages::{all_were_said, exactly};
use std::fs;
use std::path::{Path, PathBuf};

const A: Reg = Reg::int(0);
const B: Reg = Reg::int(1);
const C: Reg = Reg::int(2);
const D: Reg = Reg::int(3);
const F: Reg = Reg::float(0);
const G: Reg = Reg::float(1);

static REGISTERS: RegisterFile = RegisterFile {
    int: &[A, B, C, D],
    float: &[F, G],
    callee_saved: RegSet::of(&[B]),
    kept: RegSet::EMPTY,
    name: |reg| ["a", "b", "c", "d", "f", "g"][if reg.0 < 32 { reg.0 as usize } else { reg.0 as usize - 28 }],
    abi: |convention| if convention == Convention::Win64 { &BY_POSITION } else { &BY_CLASS },
};
static BY_CLASS: Abi = Abi {
    int_args: &[A, C],
    float_args: &[F],
    by_position: false,
    shadow: 0,
    int_ret: A,
    float_ret: F,
    caller_saved: RegSet::of(&[A, C, D, F, G]),
};
static BY_POSITION: Abi =
    Abi { int_args: &[C, D], float_args: &[F, G], by_position: true, shadow: 4, ..BY_CLASS };

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden")
}

fn machine() -> TileSet {
    let tiles = fs::read_to_string(folder().join("machine.tiles")).expect("the machine is there");
    let mut rules = text::rules(&tiles).expect("the machine can be read");
    rules.extend(text::rules(&rest(&rules)).expect("what is missing can be read"));
    let features = vec!["fast".to_string()];
    let grammar = Grammar { vocab: Vocabulary::BUILTIN, features, own: rules.len(), rules, complete: true };
    let tables = build(&grammar).unwrap_or_else(|refusals| panic!("{:?}", refusals[0]));
    tables.leak(&|name| match name {
        "a" => A,
        "b" => B,
        "c" => C,
        _ => D,
    })
}

/// Tiles for each form that the rules of the small machine do not cover.
fn rest(rules: &[Rule]) -> String {
    let vocab = Vocabulary::BUILTIN;
    let grammar = Grammar {
        vocab,
        features: vec!["fast".to_string()],
        own: rules.len(),
        rules: rules.to_vec(),
        complete: true,
    };
    let refusals = build(&grammar).expect_err("the machine has tiles for what the tests show only");
    let uncovered = refusals.iter().map(|refusal| match &refusal.problem {
        Problem::Uncovered { form, without: None } => form,
        other => panic!("{other}"),
    });
    let result = |form: &str| {
        let op = form.trim_start_matches('(').split(['.', ' ', ')']).next().expect("a form has an operator");
        let info = vocab.info(vocab.find(op).expect("a form's operator is known"));
        match info.yields {
            Yields::Flag => Symbol::Flag,
            Yields::Void => Symbol::Void,
            Yields::Ptr => Symbol::Reg,
            _ => {
                let mut suffixes = form.split([' ', ')']).next().expect("a form has an operator").split('.');
                Symbol::of(
                    Type::from_name(suffixes.next_back().expect("there is a type")).expect("it is a type"),
                )
            }
        }
    };
    let mut rows = String::new();
    for (at, form) in uncovered.enumerate() {
        let result = result(form);
        rows.push_str(&format!("rest{at}: {form} -> {result}, 9\n"));
        // A variant with an operand in memory, so that most loads have an instruction into which they could be folded.
        if let Some(start) = form.strip_suffix(" reg)") {
            rows.push_str(&format!("load{at}: {start} (load (addr reg $o))) -> {result}, 12\n"));
        }
    }
    rows
}

/// The state that is kept between functions, as in a compiler.
struct Bench {
    set: TileSet,
    number: pass::number::Scratch,
    place: pass::place::Scratch,
    tile: pass::tile::Scratch,
    schedule: Schedule,
    list: TileList,
}

impl Bench {
    fn new() -> Bench {
        Bench {
            set: machine(),
            number: Default::default(),
            place: Default::default(),
            tile: Default::default(),
            schedule: Schedule::default(),
            list: TileList::default(),
        }
    }

    fn number(&mut self, graph: &mut Graph) {
        pass::number::number(&mut self.number, graph);
    }

    /// Runs `place` and `tile`. Returns the graph after placing.
    fn tile(&mut self, graph: &Graph, features: u32) -> Graph {
        let mut graph = graph.clone();
        pass::place::place(&mut self.place, &mut graph, &mut self.schedule);
        let Bench { tile, schedule, set, list, .. } = self;
        pass::tile::tile(tile, &graph, schedule, set, features, &REGISTERS, list);
        graph
    }

    fn print(&self) -> String {
        let names = print::Names {
            tile: &|tile| self.set.tiles[tile.0 as usize].name.to_string(),
            reg: &|reg| (REGISTERS.name)(reg).to_string(),
        };
        print::tiles(&self.list, names)
    }

    fn violations(&self, graph: &Graph) -> Vec<String> {
        check::tiles::tiles(graph, &self.list, &self.set).iter().map(|wrong| wrong.to_string()).collect()
    }
}

fn case(name: &str) -> (Graph, PathBuf, String) {
    let path = folder().join("tile").join(name);
    let text = fs::read_to_string(&path).expect("the case can be read");
    let input = text.split_once("----\n").map_or(text.as_str(), |(input, _)| input);
    let graph = parse::graph(Vocabulary::BUILTIN, input).unwrap_or_else(|error| panic!("{name}: {error}"));
    (graph, path, text)
}

#[test]
fn tile_lists_are_as_expected() {
    let mut bench = Bench::new();
    let mut names: Vec<String> = fs::read_dir(folder().join("tile"))
        .expect("there are cases")
        .map(|entry| entry.expect("the folder can be read").file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    for name in names {
        let (graph, path, text) = case(&name);
        bench.tile(&graph, 0);
        assert_eq!(bench.violations(&graph), Vec::<String>::new(), "{name}\n{}", bench.print());
        let input = text.split_once("----\n").map_or(text.as_str(), |(input, _)| input);
        let found = format!("{input}----\n{}", bench.print());
        if std::env::var_os("UPDATE_EXPECT").is_some() {
            fs::write(path, &found).expect("a case can be written");
        } else {
            assert_eq!(found, text, "{name}");
        }
    }
}

#[test]
fn the_cpu_decides_which_tile() {
    let mut bench = Bench::new();
    let (graph, ..) = case("constraints.txt");
    bench.tile(&graph, 1);
    assert!(bench.print().contains("popcntx"), "{}", bench.print());
    bench.tile(&graph, 0);
    assert!(!bench.print().contains("popcntx"), "{}", bench.print());
}

const FRAME: u64 = 0x10_0000;
/// No other memory is near this address.
const UNIT: u64 = 0x7654_3210_0000;

/// The behavior of a function: how it ended, the memory at that time, and what its calls saw.
#[derive(PartialEq, Debug)]
struct Trace {
    outcome: Outcome,
    memory: Vec<(u64, u8)>,
    calls: Vec<(u64, Vec<u64>, u64)>,
}

/// Runs a function on a machine whose context is in the frame, so that two base addresses lead to the same bytes.
fn trace(run: impl FnOnce(&mut Environment<'_>) -> Result<Outcome, Violation>) -> Result<Trace, Violation> {
    let mut calls = Vec::new();
    let mut callee = |call: &CallData, callee: u64, args: &[u64], memory: &mut Memory| {
        let mut result = args.iter().fold(callee, |hash, arg| (hash ^ arg).wrapping_mul(0x0100_0000_01b3));
        if call.effect == Effect::Pure {
            return result;
        }
        result ^= memory.read(FRAME + 8, 8);
        memory.write(FRAME + 8, 8, result);
        calls.push((callee, args.to_vec(), result));
        result
    };
    let memory = Memory::ending_at(UNIT + AT_EDGE);
    let mut machine =
        Environment { context: FRAME + 12, unit: UNIT, frame: FRAME, memory, callee: &mut callee };
    let outcome = run(&mut machine)?;
    let memory = machine.memory.written().collect();
    Ok(Trace { outcome, memory, calls })
}

/// Tiles behave like the graph: the same memory, the same calls in the same order, the same end.
#[test]
fn tiles_of_random_graphs_mean_what_the_graphs_mean() {
    let mut bench = Bench::new();
    let patterns = execute::Patterns::of(&bench.set);
    let mut n_ended = 0;
    for seed in 0..3000 {
        let options = Options { max_nodes: 8 + seed as usize % 3 * 8, ..Options::SMALL };
        let mut graph = fuzzing::graph(&mut Random::new(seed), &options);
        // Equal addresses become one node, as in a compiler, where numbering precedes the selection of tiles.
        bench.number(&mut graph);
        let placed = bench.tile(&graph, seed as u32 & 1);
        let report = || format!("seed {seed}\n{}----\n{}", print::graph(&graph), bench.print());
        assert_eq!(bench.violations(&placed), Vec::<String>::new(), "{}", report());
        let expected = trace(|machine| evaluate(&graph, machine, 300)).expect("a graph has a meaning");
        let found =
            trace(|machine| execute::execute(&placed, &bench.list, &bench.set, &patterns, machine, 6000));
        let found = found.unwrap_or_else(|violation| panic!("{violation}\n{}", report()));
        if expected.outcome != Outcome::OutOfSteps {
            n_ended += 1;
            assert_eq!(found, expected, "{}", report());
        }
    }
    assert!(n_ended > 2000, "most graphs end");
}

type Damage = (&'static str, fn(&mut TileList, &TileSet), &'static [&'static str]);

fn named(set: &TileSet, name: &str) -> TileId {
    TileId(set.tiles.iter().position(|tile| tile.name == name).expect("the machine has it") as u16)
}

/// An operand of an instruction, by position.
fn operand(list: &mut TileList, inst: usize, number: usize) -> &mut Operand {
    &mut list.operands[list.insts[inst].operands.range().start + number]
}

const BLOCKS: [Damage; 10] = [
    (
        "loop.txt",
        |list, _| {
            list.blocks[0].block = Block(9);
            list.position.resize(10, 0);
        },
        &["does not stand first"],
    ),
    ("switch.txt", |list, _| list.position[1] = 0, &["is not where `position` says"]),
    (
        "flags.txt",
        |list, _| {
            list.blocks[1].insts.start += 1;
            list.blocks[1].insts.len -= 1;
        },
        &["has no instructions of its own, or not directly behind those before it"],
    ),
    ("loop.txt", |list, _| list.blocks[1].params.start = 99, &["reaches beyond a pool"]),
    ("loop.txt", |list, _| list.blocks[2].cold = true, &["b2: stands behind a cold block and is not cold"]),
    ("loop.txt", |list, _| list.insts.push(list.insts[0]), &["has instructions in no block"]),
    ("loop.txt", |list, _| list.insts[1].tile = TileId(60_000), &["is of no tile"]),
    ("flags.txt", |list, _| list.edges[0].to = Block(77), &["is gone to and stands nowhere"]),
    ("flags.txt", |list, _| list.edges[0].to = Block(0), &["is gone to"]),
    ("loop.txt", |list, _| list.edges[0].args.len = 1, &["brings"]),
];

const FLAGS: [Damage; 5] = [
    (
        "loop.txt",
        |list, _| {
            let way_out = list.edges.iter_mut().find(|edge| edge.to == Block(2)).expect("there is one");
            way_out.to = Block(3);
        },
        &["is critical", "is critical"],
    ),
    (
        "flags.txt",
        |list, set| list.insts[12].tile = named(set, "jump"),
        &["does not consume the flag before it"],
    ),
    ("flags.txt", |list, set| list.insts[10].tile = named(set, "store"), &["has no flag before it"]),
    // The instruction gets the flag of another `select`.
    ("flags.txt", |list, _| list.insts[2].node = Node(12), &["is not fed by the flag before it"]),
    ("flags.txt", |list, set| list.insts[12].tile = named(set, "notf"), &["closes with a flag"]),
];

const OPERANDS: [Damage; 9] = [
    ("fold.txt", |list, _| list.insts[1].imms.len = 0, &["has 0 constants"]),
    (
        "constraints.txt",
        |list, _| operand(list, 0, 0).constraint = Constraint::Reg,
        &["is there at entry, but not as results in fixed registers before all else"],
    ),
    ("constraints.txt", |list, _| list.insts[3].operands.len -= 1, &["has 2 operands, its tile describes 3"]),
    ("constraints.txt", |list, _| operand(list, 1, 0).role = Role::EarlyDef, &["result is not as described"]),
    ("constraints.txt", |list, _| operand(list, 2, 2).constraint = Constraint::Any, &["operand 1 is not as"]),
    (
        "call.txt",
        |list, _| operand(list, 3, 4).constraint = Constraint::OutArg(99.into()),
        &["argument r0 is not where conventions put one"],
    ),
    (
        "try.txt",
        |list, _| operand(list, 1, 1).constraint = Constraint::Reg,
        &["its second result is in no fixed register"],
    ),
    ("constraints.txt", |list, _| list.vregs[5].ty = Type::F64, &["scratch r5 is not as described"]),
    (
        "constraints.txt",
        |list, _| operand(list, 3, 2).role = Role::LateUse,
        &["scratch r5 is not", "r5 is read"],
    ),
];

const CONSTRAINTS: [Damage; 7] = [
    ("constraints.txt", |list, _| list.insts[2].clobbers.remove(D), &["keeps what its tile destroys"]),
    (
        "call.txt",
        |list, _| operand(list, 3, 0).constraint = Constraint::Fixed(F),
        &["r4 is fixed in a register of another class"],
    ),
    (
        "call.txt",
        |list, _| operand(list, 3, 3).constraint = Constraint::Fixed(A),
        &["r1 is fixed where another operand is"],
    ),
    // The next two damages also contradict the tile's description.
    (
        "constraints.txt",
        |list, _| operand(list, 2, 2).constraint = Constraint::Fixed(D),
        &["operand 1 is not as described", "r1 is fixed in what is destroyed"],
    ),
    (
        "constraints.txt",
        |list, _| operand(list, 1, 0).constraint = Constraint::Tied(7),
        &["its result is not as described", "r2 is tied to what it cannot be tied to"],
    ),
    (
        "constraints.txt",
        |list, _| operand(list, 3, 1).vreg = Vreg(4),
        &["r4 is read and may not have been written"],
    ),
    ("call.txt", |list, _| operand(list, 8, 0).vreg = Vreg(4), &["writes r4 again"]),
];

const STATES: [Damage; 4] = [
    ("exit.txt", |list, _| list.saved[1].to.register = 4, &["its state is not that of its node"]),
    ("exit.txt", |list, _| list.states[0].to = 3, &["its state is not that of its node"]),
    (
        "exit.txt",
        |list, _| list.saved[0].value = SavedValue::Constant(7),
        &["its state is not that of its node"],
    ),
    (
        "exit.txt",
        |list, _| {
            let exit = list.insts.iter().rposition(|inst| inst.operands.len == 4).expect("it is there");
            operand(list, exit, 1).constraint = Constraint::Any;
        },
        &["argument r2 is not where conventions put one"],
    ),
];

const FAULTS: [Damage; 7] = [
    // A store is done twice.
    ("faults.txt", |list, _| list.insts[8].node = list.insts[7].node, &["to memory, and not"]),
    ("faults.txt", |list, _| _ = list.faults.remove(3), &["to memory, and not"]),
    // An access that may fault is done after the store that should follow it.
    (
        "faults.txt",
        |list, _| {
            list.insts.swap(6, 7);
            list.faults[4].inst = InstId(7);
        },
        &["to memory, and not"],
    ),
    ("faults.txt", |list, _| list.faults[1].origin = 5, &["is to fault like v6, but by another trap"]),
    ("faults.txt", |list, _| list.faults[5].code = 16, &["is to fault like v16, but by another trap"]),
    ("faults.txt", |list, _| list.faults.swap(6, 7), &["does not have what may fault in order"]),
    ("faults.txt", |list, _| list.blocks[0].uses_frame = false, &["b0: uses the frame, and does not say so"]),
];

/// Damages a correct tile list in each way that the judge claims to notice. The judge must notice that damage and nothing
/// else.
#[test]
fn the_judge_notices() {
    let mut bench = Bench::new();
    let mut said = Vec::new();
    for (name, damage, expected) in
        BLOCKS.into_iter().chain(FLAGS).chain(OPERANDS).chain(CONSTRAINTS).chain(STATES).chain(FAULTS)
    {
        let (graph, ..) = case(name);
        bench.tile(&graph, 0);
        assert_eq!(bench.violations(&graph), Vec::<String>::new(), "{name}");
        damage(&mut bench.list, &bench.set);
        let found = bench.violations(&graph);
        exactly(&found, expected, || format!("{name}\n{}", bench.print()));
        said.extend(found);
    }
    all_were_said(include_str!("../src/check/tiles.rs"), &said);
    all_were_said(include_str!("../src/check/faults.rs"), &said);
}
