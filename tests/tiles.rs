//! The x86-64 tile set: the meaning of its patterns, the size of its tables, and its extension by another crate.
//!
//! Tile lists are executed by the meaning of their patterns, before registers are allocated and code is emitted.
#![cfg(target_arch = "x86_64")]

use azulejo::__private::core::check::evaluate::{Environment, Memory, Outcome, evaluate};
use azulejo::__private::core::check::{self, Violation, execute};
use azulejo::__private::core::fuzzing::{self, AT_EDGE, Options, Random};
use azulejo::__private::core::grammar::pattern::{self, Concrete};
use azulejo::__private::core::grammar::{Grammar, Predicate, Symbol, TileSet, build, explain, text};
use azulejo::__private::core::ir::graph::{Access, CallData, CallMemory, CallTarget, Effect, Graph};
use azulejo::__private::core::ir::index::{Block, List, Node};
use azulejo::__private::core::ir::schedule::Schedule;
use azulejo::__private::core::ir::state::{FrameState, StateRegister};
use azulejo::__private::core::ir::template::{Convention, Signature};
use azulejo::__private::core::ir::tiles::TileList;
use azulejo::__private::core::pass;
use azulejo::__private::core::text::{parse, print};
use azulejo::__private::core::vocab::op::Param;
use azulejo::__private::core::vocab::{Op, Props, Sig, Trap, Type, Vocabulary};
use azulejo::x64::regs::REGISTERS;
use azulejo::x64::{Features, X64, emit};
use iced_x86::{Mnemonic, OpKind, Register};

/// A user's operators, in a module of their own.
mod my_ops {
    azulejo::operators! {
        /// Deposits the low bits of the first operand at the positions of the second operand's ones.
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

/// A user's tiles: one for a user's operator, and a better one for the operator with a memory operand.
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

/// The passes' memory that is reused from function to function.
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

    /// Places and tiles a graph. Returns the graph after placing.
    fn tile(&mut self, graph: &Graph, features: Features) -> Graph {
        let mut graph = graph.clone();
        pass::place::place(&mut self.place, &mut graph, &mut self.schedule);
        let Bench { tile, schedule, set, list, .. } = self;
        pass::tile::tile(tile, &graph, schedule, set, features.bits(), &REGISTERS, list);
        graph
    }

    /// Whether the list contains a tile. One instruction represents all tiles at the entry of the function.
    fn has(&self, tile: usize) -> bool {
        let info = &self.set.tiles[tile];
        self.list.insts.iter().enumerate().any(|(at, inst)| {
            let found = &self.set.tiles[inst.tile.0 as usize];
            let at_entry = || self.list.operands(at).iter().any(|operand| operand.constraint == info.out);
            inst.tile.0 as usize == tile || info.entry && found.entry && at_entry()
        })
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
/// No other memory of the test is near this address.
const UNIT: u64 = 0x7654_3210_0000;

/// The observable behaviour of a function: its outcome, the memory afterwards, and the calls with their arguments and
/// results.
#[derive(PartialEq, Debug)]
struct Trace {
    outcome: Outcome,
    memory: Vec<(u64, u8)>,
    calls: Vec<(u64, Vec<u64>, u64)>,
}

fn trace(run: impl FnOnce(&mut Environment<'_>) -> Result<Outcome, Violation>) -> Result<Trace, Violation> {
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
    let memory = Memory::ending_at(UNIT + AT_EDGE);
    let mut machine =
        Environment { context: FRAME + 12, unit: UNIT, frame: FRAME, memory, callee: &mut callee };
    let outcome = run(&mut machine)?;
    let memory = machine.memory.written().collect();
    Ok(Trace { outcome, memory, calls })
}

#[test]
fn tiles_of_random_graphs_mean_what_the_graphs_mean() {
    let mut bench = Bench::new(X64.tables);
    let patterns = execute::Patterns::of(X64.tables);
    let mut number = pass::number::Scratch::default();
    for seed in 0..3000 {
        let options = Options { max_nodes: 8 + seed as usize % 4 * 8, ..Options::SMALL };
        let mut graph = fuzzing::graph(&mut Random::new(seed), &options);
        pass::number::number(&mut number, &mut graph);
        let features = if seed % 2 == 0 { Features::empty() } else { Features::all() };
        let placed = bench.tile(&graph, features);
        let report = || format!("seed {seed}\n{}----\n{}", print::graph(&graph), bench.print());
        assert_eq!(check::tiles::tiles(&placed, &bench.list, X64.tables), [], "{}", report());
        let expected = trace(|machine| evaluate(&graph, machine, 300)).expect("a graph has a meaning");
        let found =
            trace(|machine| execute::execute(&placed, &bench.list, X64.tables, &patterns, machine, 6000))
                .unwrap_or_else(|violation| panic!("{violation}\n{}", report()));
        if expected.outcome != Outcome::OutOfSteps {
            assert_eq!(found, expected, "{}", report());
        }
    }
}

/// Makes a graph from a tile's pattern. The leaves are loaded first, and the store behind them keeps the loads apart.
struct Example<'a> {
    graph: Graph,
    block: Block,
    next_slot: u64,
    bound: Vec<(&'a str, Node)>,
    leaves: Vec<Type>,
}

const WORD: Sig = Sig { from: Type::Void, ty: Type::I64 };

impl<'a> Example<'a> {
    fn of(tree: &'a Concrete) -> Graph {
        let mut graph = Graph::new(Vocabulary::BUILTIN);
        let block = graph.add_block();
        let mut example = Example { graph, block, next_slot: 0, bound: Vec::new(), leaves: Vec::new() };
        example.collect(tree, Type::Void);
        let base = example.graph.add(Op::CU, WORD, &[], 0, 0);
        let leaves: Vec<Node> = core::mem::take(&mut example.leaves)
            .into_iter()
            .map(|ty| {
                let slot = example.graph.add(Op::ADDR, WORD, &[base], 8 * example.next_slot, 0);
                example.next_slot += 1;
                example.graph.push(block, Op::LOAD, Sig { from: Type::Void, ty }, &[slot], 0, 0)
            })
            .collect();
        let zero = example.graph.constant(Type::I64, 0, 0);
        let barrier = example.graph.add(Op::ADDR, WORD, &[base], 800, 0);
        let store = Sig { from: Type::I64, ty: Type::Void };
        example.graph.push(block, Op::STORE, store, &[barrier, zero], 0, 0);
        let root = example.node(tree, &mut leaves.into_iter());
        example.close(root);
        example.graph
    }

    /// Collects the types of leaves, in the order of the pattern.
    fn collect(&mut self, tree: &Concrete, ty: Type) {
        match tree {
            Concrete::Symbol(Symbol::Flag) => self.leaves.push(Type::I64),
            Concrete::Symbol(_) => self.leaves.push(ty),
            Concrete::Same(_) => {}
            Concrete::Node { op, sig, children, .. } => {
                let info = self.graph.vocab.info(*op);
                for ((_, child), kind) in children.iter().zip(pattern::matched(info)) {
                    self.collect(child, pattern::operand_type(info, kind, *sig));
                }
            }
        }
    }

    fn node(&mut self, tree: &'a Concrete, leaves: &mut impl Iterator<Item = Node>) -> Node {
        let (op, sig, children, predicate) = match tree {
            Concrete::Symbol(Symbol::Flag) => {
                let value = leaves.next().expect("a leaf for each symbol");
                return self.graph.add(Op::ZR, Sig { from: Type::I64, ty: Type::Flag }, &[value], 0, 0);
            }
            Concrete::Symbol(_) => return leaves.next().expect("a leaf for each symbol"),
            Concrete::Same(name) => {
                return self.bound.iter().find(|(known, _)| known == name).expect("bound before").1;
            }
            Concrete::Node { op, sig, children, predicate } => (*op, *sig, children, predicate),
        };
        let info = self.graph.vocab.info(op);
        let mut inputs = Vec::new();
        for (bind, child) in children {
            let node = self.node(child, leaves);
            self.bound.extend(bind.as_deref().map(|name| (name, node)));
            inputs.push(node);
        }
        if info.is_call() {
            let target = if inputs.is_empty() { CallTarget::Direct(0x1000) } else { CallTarget::Indirect };
            let signature = Signature { convention: Convention::SysV64, args: &[], ret: sig.ty };
            self.graph.calls.push(CallData {
                target,
                signature,
                effect: Effect::Memory,
                memory: CallMemory::ANY,
            });
            let imm = self.graph.calls.len() as u64 - 1;
            if info.props.contains(Props::ENDS) {
                return self.graph.end(self.block, op, Type::Void, &inputs, imm, &[], 0);
            }
            return self.graph.push(self.block, op, Sig { from: Type::Void, ty: sig.ty }, &inputs, imm, 0);
        }
        if info.props.contains(Props::SECOND) {
            let signature = Signature { convention: Convention::SysV64, args: &[], ret: Type::I64 };
            let target = CallTarget::Direct(0x1000);
            self.graph.calls.push(CallData {
                target,
                signature,
                effect: Effect::Memory,
                memory: CallMemory::ANY,
            });
            let call = self.graph.calls.len() as u64 - 1;
            inputs = vec![self.graph.push(self.block, Op::TRY_CALL, WORD, &[], call, 0)];
        }
        if info.props.contains(Props::STATE) {
            let [frame, value] = [Op::LOCAL, Op::CU].map(|op| self.graph.add(op, WORD, &[], 0, 0));
            let registers = List::push(&mut self.graph.states.registers, &[StateRegister::plain(3)]);
            self.graph.states.all.push(FrameState { to: 24, registers, frame: 0 });
            let state = self.graph.states.all.len() as u64 - 1;
            return self.graph.end(self.block, op, Type::Void, &[frame, value], state, &[], 0);
        }
        let imm = match info.params.first() {
            Some(Param::Value) => constant(sig.ty, *predicate),
            Some(Param::Scale) => 8,
            Some(Param::Offset | Param::Code) => 24,
            _ => 0,
        };
        if info.props.contains(Props::ENDS) {
            let n_succs = if op == Op::SWITCH { 3 } else { inputs.len() };
            let is_jump = matches!(op, Op::JUMP | Op::BR | Op::SWITCH);
            let succs: Vec<Block> = (0..n_succs.max(1) + (op == Op::BR) as usize)
                .filter(|_| is_jump)
                .map(|_| {
                    let succ = self.graph.add_block();
                    self.graph.end(succ, Op::RET, Type::Void, &[], 0, &[], 0);
                    succ
                })
                .collect();
            return self.graph.end(self.block, op, sig.from, &inputs, imm, &succs, 0);
        }
        match info.is_pure(sig) {
            true => self.graph.add(op, sig, &inputs, imm, 0),
            false => self.graph.push(self.block, op, sig, &inputs, imm, 0),
        }
    }

    /// Uses the root's value and ends the block.
    fn close(&mut self, root: Node) {
        if self.graph.block(self.block).end.is_some() {
            return;
        }
        let result = match self.graph.node(root).ty() {
            Type::Void => {
                self.graph.end(self.block, Op::RET, Type::Void, &[], 0, &[], 0);
                return;
            }
            Type::Flag => self.graph.add(Op::FLAGVAL, WORD, &[root], 0, 0),
            _ => root,
        };
        let from = self.graph.node(result).ty();
        self.graph.end(self.block, Op::RETURN, from, &[result], 0, &[], 0);
    }
}

/// A constant that satisfies the predicate, and as few others as possible.
fn constant(ty: Type, predicate: Option<Predicate>) -> u64 {
    let has = |value: u64| {
        let mask = Predicate::mask(ty, value);
        predicate
            .is_none_or(|predicate| mask >> predicate as u8 & 1 != 0)
            .then_some((mask.count_ones(), value))
    };
    let values = [
        0x1234_5678_9abc_def1,
        0xffff_ffff_8765_4321,
        0x8765_4321,
        0x1234_5678,
        0x5a,
        0,
        1,
        2,
        3,
        64,
        1 << 40,
        u64::MAX,
    ];
    values.into_iter().map(|value| ty.truncate(value)).filter_map(has).min().expect("there is such a value").1
}

/// Each tile is selected for a graph that is made from its pattern, and does what the graph means.
#[test]
fn every_tile_is_selected_and_means_its_pattern() {
    let rules = text::rules(X64.rows).expect("the rows are text");
    let features = X64.tables.features.iter().map(|feature| feature.to_string()).collect();
    let grammar = Grammar { vocab: Vocabulary::BUILTIN, features, own: rules.len(), rules, complete: true };
    let patterns = execute::Patterns::of(X64.tables);
    let mut bench = Bench::new(X64.tables);
    let mut never = Vec::new();
    for (at, rule) in grammar.rules.iter().enumerate() {
        let mut selected = false;
        for (_, tree) in pattern::concrete(&grammar, at).expect("the set is sound") {
            let graph = Example::of(&tree);
            assert_eq!(check::graph::graph(&graph), [], "{rule}\n{}", print::graph(&graph));
            for features in [Features::all(), Features::empty()] {
                bench.tile(&graph, features);
                let report = || format!("{rule}\n{}----\n{}", print::graph(&graph), bench.print());
                assert_eq!(check::tiles::tiles(&graph, &bench.list, X64.tables), [], "{}", report());
                // A second result is an operand of its call's instruction.
                let is_second = |op| Vocabulary::BUILTIN.info(op).props.contains(Props::SECOND);
                let is_operand = || {
                    let out = X64.tables.tiles[at].out;
                    bench.list.operands.iter().any(|operand| operand.constraint == out)
                };
                selected |= match &tree {
                    Concrete::Node { op, .. } if is_second(*op) => is_operand(),
                    _ => bench.has(at),
                };
                // An operator that occurs only in stencils or in called functions has a meaning only among other bytecodes;
                // the rig tests it.
                let elsewhere = Props::STENCIL | Props::CALLED;
                let is_elsewhere = |op| Vocabulary::BUILTIN.info(op).props.intersects(elsewhere);
                if matches!(&tree, Concrete::Node { op, .. } if is_elsewhere(*op)) {
                    continue;
                }
                let expected = trace(|machine| evaluate(&graph, machine, 300));
                let found = trace(|machine| {
                    execute::execute(&graph, &bench.list, X64.tables, &patterns, machine, 300)
                });
                // If a division traps, both must trap.
                assert_eq!(found.ok(), expected.ok(), "{}", report());
            }
        }
        if !selected {
            never.push(rule.to_string());
        }
    }
    assert_eq!(never, Vec::<String>::new());
}

#[test]
fn the_tables_are_small_and_the_same_each_time() {
    assert!(X64.tables.table_bytes() < 65 << 10, "{}", explain::summary(X64.tables));
    let rules = text::rules(X64.rows).expect("the rows are text");
    let features = X64.tables.features.iter().map(|feature| feature.to_string()).collect();
    let grammar = Grammar { vocab: Vocabulary::BUILTIN, features, own: rules.len(), rules, complete: true };
    let tables = build(&grammar).expect("what was built once can be built again");
    assert_eq!(tables.cells, X64.tables.cells);
    assert_eq!(tables.select, X64.tables.select);
    assert_eq!(tables.rules, X64.tables.rules);
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
    let mut bench = Bench::new(MINE.tables);
    bench.tile(&graph, Features::empty());
    assert_eq!(check::tiles::tiles(&graph, &bench.list, MINE.tables), [], "{}", bench.print());
    assert_eq!(bench.names(), ["local", "load_base", "pdep_load", "pdep", "return_int"]);
    assert_eq!(MINE.tables.tiles.len(), MINE.emit.len());
    assert_eq!(MINE.tables.stranger(graph.vocab), None);
    assert_eq!(MINE.tables.stranger(Vocabulary::BUILTIN), None);
    assert_eq!(X64.tables.stranger(graph.vocab), Some("pdep"));
    assert_eq!(MINE.tables.tiles.len(), X64.tables.tiles.len() + 2);
}

/// Marks the accesses in a tile's pattern as accesses that may fault. They are behind the store that follows the leaves.
fn with_faults(mut graph: Graph) -> Graph {
    for at in 0..graph.blocks.len() {
        let body = graph.blocks[at].body.clone();
        let barrier = body.iter().position(|node| graph.node(*node).op == Op::STORE).unwrap_or(body.len());
        for node in body.into_iter().skip(barrier + 1) {
            if graph.vocab.info(graph.node(node).op).props.contains(Props::ACCESS) {
                graph.nodes[node.at()].imm = Access::Within(Trap::User(1).code()).bits();
            }
        }
    }
    graph
}

/// An access that may fault must do so if any of its bytes is out of bounds, whatever the tile: the instruction accesses
/// exactly those bytes.
#[test]
fn an_access_that_may_fault_touches_its_bytes_and_no_others() {
    let rules = text::rules(X64.rows).expect("the rows are text");
    let features = X64.tables.features.iter().map(|feature| feature.to_string()).collect();
    let grammar = Grammar { vocab: Vocabulary::BUILTIN, features, own: rules.len(), rules, complete: true };
    let (mut compilation, mut scratch, mut code) =
        (pass::Compilation::default(), emit::Scratch::default(), azulejo::x64::Code::default());
    let mut n_checked = 0;
    for (at, rule) in grammar.rules.iter().enumerate() {
        let touches_memory = rule.to_string().contains("(load") || rule.to_string().contains("(store");
        for (_, tree) in pattern::concrete(&grammar, at).expect("the set is sound") {
            let graph = with_faults(Example::of(&tree));
            let elsewhere = Props::STENCIL | Props::CALLED;
            let is_elsewhere = |op| Vocabulary::BUILTIN.info(op).props.intersects(elsewhere);
            if !touches_memory || matches!(&tree, Concrete::Node { op, .. } if is_elsewhere(*op)) {
                continue;
            }
            let target = pass::Target {
                set: X64.tables,
                features: Features::all().bits(),
                registers: &REGISTERS,
                rules: &[],
                check: true,
            };
            compilation.graph = graph;
            compilation.graph(&target, &mut pass::Blind).expect("it compiles");
            let (tiles, assignment) = (&compilation.tiles, &compilation.assignment);
            emit::emit(&mut scratch, tiles, assignment, &X64, &emit::Options::default(), &mut code)
                .expect("it is small");
            assert_eq!(code.sites.len(), tiles.faults.len(), "{rule}");
            // Sites are in the order of the blocks. Each of them contains the instructions that access memory.
            for (site, fault) in std::iter::zip(&code.sites, &tiles.faults) {
                let data = compilation.graph.node(fault.node);
                let bytes = data.ty().bytes().max(data.sig.from.bytes()) as usize;
                let range = site.start as usize..site.end as usize;
                let mut sizes = iced_x86::Decoder::new(64, &code.bytes[range], 0)
                    .iter()
                    .filter(|one| {
                        let is_data = one.memory_base() != Register::RSP && !one.is_ip_rel_memory_operand();
                        is_data
                            && one.mnemonic() != Mnemonic::Lea
                            && (0..one.op_count()).any(|at| one.op_kind(at) == OpKind::Memory)
                    })
                    .map(|one| one.memory_size().size())
                    .collect::<Vec<_>>();
                sizes.dedup();
                assert_eq!(sizes, [bytes], "{rule}\n{}", print::graph(&compilation.graph));
                n_checked += 1;
            }
        }
    }
    assert!(n_checked > 1000, "only {n_checked} were looked at");
}
