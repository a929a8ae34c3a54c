//! The x86-64 tile set: what its patterns mean, how large its tables are, and how another crate extends it.
//!
//! Tile lists are executed by the meaning of their patterns, before any register is given and any byte emitted.
#![cfg(target_arch = "x86_64")]

use azulejo::__private::core::check::evaluate::{Machine, Memory, Outcome, evaluate};
use azulejo::__private::core::check::{self, Violation, execute};
use azulejo::__private::core::fuzzing::{self, Options, Random};
use azulejo::__private::core::grammar::{Grammar, TileSet, build, explain, text};
use azulejo::__private::core::ir::graph::{CallData, Effect, Graph};
use azulejo::__private::core::ir::schedule::Schedule;
use azulejo::__private::core::ir::tiles::TileList;
use azulejo::__private::core::pass;
use azulejo::__private::core::text::{parse, print};
use azulejo::__private::core::vocab::Vocabulary;
use azulejo::x64::regs::REGISTERS;
use azulejo::x64::{Features, X64};

/// Operators of a user, in a module of their own.
mod my_ops {
    azulejo::operators! {
        /// The low bits of the first operand, spread to where the second has ones.
        pdep: (same same) -> same, i32|i64, unsigned, pure => |sig, operands| {
            let (mut bits, mut mask, mut result) = (operands[0], sig.ty.truncate(operands[1]), 0);
            while mask != 0 {
                result |= (bits & 1) * (mask & mask.wrapping_neg());
                bits >>= 1;
                mask &= mask - 1;
            }
            Ok(result)
        },
    }
}

/// Tiles of a user: one for an operator of theirs, and one that is better than what is there.
mod my_tiles {
    azulejo::tile! {
        pub group my_tiles;

        pdep: (pdep.$t:i32|i64 reg reg) -> reg, 3 => |cx, t| cx.mov(t.out(), t.reg(0)),
        pdep_load: (pdep.$t:i32|i64 reg (load.$t (addr reg $o))) -> reg, 6 => |cx, t| cx.mov(t.out(), t.reg(0)),
    }
}

azulejo::tileset! {
    pub static MINE:
    extends azulejo::x64::X64;
    operators = crate::my_ops;
    groups = crate::my_tiles;
}

/// Everything that is kept between functions, as it is in use.
struct Bench<'a> {
    set: &'a TileSet,
    place: pass::place::Scratch,
    tile: pass::tile::Scratch,
    schedule: Schedule,
    list: TileList,
}

impl<'a> Bench<'a> {
    fn new(set: &'a TileSet) -> Bench<'a> {
        let (place, tile) = (Default::default(), Default::default());
        Bench { set, place, tile, schedule: Schedule::default(), list: TileList::default() }
    }

    fn tile(&mut self, graph: &Graph, features: Features) {
        pass::place::place(&mut self.place, graph, &mut self.schedule);
        let Bench { tile, schedule, set, list, .. } = self;
        pass::tile::tile(tile, graph, schedule, set, features.bits(), &REGISTERS, list);
    }

    fn names(&self) -> Vec<&'static str> {
        self.list.insts.iter().map(|inst| self.set.tiles[inst.tile.0 as usize].name).collect()
    }

    fn print(&self) -> String {
        let tile = |tile: azulejo::__private::core::ir::tiles::TileId| {
            self.set.tiles[tile.0 as usize].name.to_string()
        };
        let names = print::Names { tile: &tile, reg: &|reg| (REGISTERS.name)(reg).to_string() };
        print::tiles(&self.list, names)
    }
}

const FRAME: u64 = 0x10_0000;

/// What a function did: how it ended, what memory then was, and which calls saw what.
#[derive(PartialEq, Debug)]
struct Trace {
    outcome: Outcome,
    memory: Vec<(u64, u8)>,
    calls: Vec<(u64, Vec<u64>, u64)>,
}

fn trace(run: impl FnOnce(&mut Machine<'_>) -> Result<Outcome, Violation>) -> Result<Trace, Violation> {
    let mut calls = Vec::new();
    let mut callee = |call: &CallData, callee: u64, args: &[u64], memory: &mut Memory| {
        let mut result = args.iter().fold(callee, |hash, arg| (hash ^ arg).wrapping_mul(0x0100_0000_01b3));
        if call.effect != Effect::Pure {
            result ^= memory.read(FRAME + 8, 8);
            memory.write(FRAME + 8, 8, result);
            calls.push((callee, args.to_vec(), result));
        }
        result
    };
    let memory = Memory::default();
    let mut machine = Machine { context: FRAME + 12, unit: 0x77, frame: FRAME, memory, callee: &mut callee };
    let outcome = run(&mut machine)?;
    let memory = machine.memory.written().collect();
    Ok(Trace { outcome, memory, calls })
}

#[test]
fn tiles_of_random_graphs_mean_what_the_graphs_mean() {
    let mut bench = Bench::new(&X64);
    let patterns = execute::Patterns::of(&X64);
    let mut number = pass::number::Scratch::default();
    for seed in 0..3000 {
        let options = Options { max_nodes: 8 + seed as usize % 4 * 8, ..Options::SMALL };
        let mut graph = fuzzing::graph(&mut Random::new(seed), &options);
        pass::number::number(&mut number, &mut graph);
        let features = if seed % 2 == 0 { Features::empty() } else { Features::all() };
        bench.tile(&graph, features);
        let report = || format!("seed {seed}\n{}----\n{}", print::graph(&graph), bench.print());
        assert_eq!(check::tiles::tiles(&graph, &bench.list, &X64), [], "{}", report());
        let expected = trace(|machine| evaluate(&graph, machine, 300)).expect("a graph has a meaning");
        let found = trace(|machine| execute::execute(&graph, &bench.list, &X64, &patterns, machine, 6000))
            .unwrap_or_else(|violation| panic!("{violation}\n{}", report()));
        if expected.outcome != Outcome::OutOfSteps {
            assert_eq!(found, expected, "{}", report());
        }
    }
}

#[test]
fn the_tables_are_small_and_the_same_each_time() {
    assert!(X64.table_bytes() < 64 << 10, "{}", explain::summary(&X64));
    let rules = text::rules(azulejo::x64::X64_ROWS).expect("the rows are text");
    let features = X64.features.iter().map(|feature| feature.to_string()).collect();
    let grammar = Grammar { vocab: Vocabulary::BUILTIN, features, own: rules.len(), rules, complete: true };
    let tables = build(&grammar).expect("what was built once can be built again");
    assert_eq!(tables.cells, X64.cells);
    assert_eq!(tables.select, X64.select);
    assert_eq!(tables.rules, X64.rules);
}

#[test]
fn a_users_operator_gets_the_users_tile() {
    let graph = parse::graph(
        Vocabulary { extra: my_ops::ROWS },
        "b0:
            v0 = local
            v1 = load.i64 v0
            v2 = addr v0 8
            v3 = load.i64 v2
            v4 = pdep.i64 v1 v3
            v5 = pdep.i64 v4 v1
            return.i64 v5",
    )
    .expect("the graph can be read");
    let mut bench = Bench::new(&MINE);
    bench.tile(&graph, Features::empty());
    assert_eq!(check::tiles::tiles(&graph, &bench.list, &MINE), [], "{}", bench.print());
    assert_eq!(bench.names(), ["local", "load_base", "pdep_load", "pdep", "return_int"]);
    assert_eq!(MINE.tiles.len(), MINE_EMIT.len());
    assert_eq!(MINE.tiles.len(), X64.tiles.len() + 2);
}
