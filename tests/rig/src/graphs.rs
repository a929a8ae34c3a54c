//! Random graphs as machine code and in the reference evaluator. They cover what bytecode cannot express, such as loops
//! with several entries.
//!
//! In: a graph that touches only the slots of its own frame and context, and the edge of memory. Out: agreement, or the
//! pass that changed the graph's meaning.

use crate::compare::{Failure, RigOn};
use crate::edge::{self, Edge};
use crate::run::Made;
use crate::shrink::shrink;
use crate::subject::Subject;
use azulejo::rules::BUILTIN;
use azulejo_code::status::Status;
use azulejo_core::check::evaluate::{Environment, Memory, Outcome, evaluate};
use azulejo_core::fuzzing::{AT_EDGE, OWN_SLOTS, Random};
use azulejo_core::ir::graph::Graph;
use azulejo_core::ir::index::Node;
use azulejo_core::pass::rewrite::CaseConstant;
use azulejo_core::pass::{Allocated, Observer, Target};
use azulejo_core::text::print;
use azulejo_core::vocab::op::{Kind, Yields};
use azulejo_core::vocab::{Op, Props, Sig, Type};

/// A graph that takes more steps is skipped.
const STEPS: usize = 20_000;

/// Keeps the graph after each pass, to find the pass at fault.
#[derive(Default)]
struct Stages {
    graphs: Vec<(&'static str, Graph)>,
    assignment: String,
}

impl Observer for Stages {
    fn graph(&mut self, pass: &'static str, graph: &Graph) {
        self.graphs.push((pass, graph.clone()));
    }

    fn assignment(&mut self, _: &Target<'_>, allocated: &Allocated<'_>) {
        let Allocated { tiles, assignment, .. } = *allocated;
        self.assignment = print::assignment(tiles, assignment, print::Names::NUMBERS);
    }
}

/// The outcome of a graph on these slots, and their contents afterwards. `None` if it executes a division without a result,
/// because a planted value changed the divisor.
fn meaning(graph: &Graph, room: &Room, frame: u64) -> Option<(Outcome, Vec<u64>)> {
    let unit = Edge::default().middle();
    let mut memory = Memory::ending_at(unit + AT_EDGE);
    let in_frame = (0..room.slots.len() as u64).map(|at| frame + at * 8);
    let at_edge = (0..room.at_edge.len() as u64).map(|at| unit - AT_EDGE + at * 8);
    let addresses: Vec<u64> = in_frame.chain(at_edge).collect();
    for (address, slot) in std::iter::zip(&addresses, room.slots.iter().chain(&room.at_edge)) {
        memory.write(*address, 8, *slot);
    }
    let mut callee = |_: &_, _, _: &[u64], _: &mut Memory| unreachable!("there are no calls");
    let context = frame + OWN_SLOTS as u64 * 8;
    let mut machine = Environment { context, unit, frame, memory, callee: &mut callee };
    let outcome = evaluate(graph, &mut machine, STEPS).ok()?;
    let after = addresses.iter().map(|address| machine.memory.read(*address, 8));
    Some((outcome, after.collect()))
}

/// Replaces a random value by the left side of a random rewrite rule.
pub fn plant(random: &mut Random, graph: &mut Graph) {
    let cases: Vec<_> = BUILTIN.iter().flat_map(|rules| rules.cases).collect();
    let case = cases[random.below(cases.len())];
    let types = case.types[random.below(case.types.len())];
    let (alone, root) = case.on_parameters(types);
    let ty = alone.node(root).ty();
    let is_variable = |old: Node| graph.node(old).op != Op::CONST;
    let users = (0..graph.nodes.len()).map(Node::from);
    let links = users.flat_map(|user| values(graph, user));
    let mut links: Vec<usize> = links.filter(|link| is_variable(graph.links[*link])).collect();
    let has_type = |link: &usize| graph.node(graph.links[*link]).ty() == ty;
    if links.iter().any(has_type) && !random.one_in(4) {
        links.retain(has_type);
    }
    if links.is_empty() {
        return;
    }
    let link = links[random.below(links.len())];
    let old = graph.links[link];
    // The inputs of the old value are available wherever it is; and so are constants.
    let mut around = vec![old];
    for at in 0..8 {
        let Some(&node) = around.get(at) else { break };
        if graph.node(node).op != Op::PARAM && !graph.node(node).block.is_some() {
            around.extend_from_slice(graph.inputs(node));
        }
    }
    let leaves: Vec<Node> = case.leaves.iter().map(|ty| leaf(random, graph, &around, types[*ty])).collect();
    let small: [i64; 13] = [0, 1, 2, 3, 4, 5, 7, 8, 9, 31, 63, -1, -2];
    let mut constant = |constant: &CaseConstant| match constant {
        CaseConstant::Scale => 1 << random.below(4),
        CaseConstant::Offset => random.below(64) as i64,
        CaseConstant::Value { ty } => {
            let bits = match random.below(5) {
                0 => random.number(),
                // A mask.
                1 => u64::MAX >> random.below(64),
                // The minimum and the maximum of a signed type, for which comparisons have rules.
                2 => (1 << (types[*ty].bits() - 1)) - random.below(2) as u64,
                _ => small[random.below(small.len())] as u64,
            };
            types[*ty].signed(types[*ty].truncate(bits))
        }
    };
    let constants: Vec<i64> = case.constants.iter().map(&mut constant).collect();
    let n_before = graph.nodes.len();
    let root = (case.left)(graph, types, &leaves, &constants);
    // An operator that may trap or touches memory needs a position among the effects, and a planted value has none.
    let floats = |node: usize| {
        let props = graph.vocab.info(graph.nodes[node].op).props;
        props.contains(Props::PURE) && !props.contains(Props::GUARDED)
    };
    if !(n_before..graph.nodes.len()).all(floats) {
        return;
    }
    graph.links[link] = convert(graph, root, graph.node(old).ty());
}

/// A value of this type: one of `around`, or one made from the first of them, which is not a constant. The folder would
/// replace a constant before any rule matches it.
fn leaf(random: &mut Random, graph: &mut Graph, around: &[Node], ty: Type) -> Node {
    if ty.is_value() && random.one_in(8) {
        return graph.constant(ty, random.number(), 0);
    }
    let fits = |node: &Node| graph.node(*node).ty() == ty && graph.node(*node).op != Op::CONST;
    let fitting: Vec<Node> = around.iter().copied().filter(fits).collect();
    if !fitting.is_empty() && !random.one_in(3) {
        return fitting[random.below(fitting.len())];
    }
    // Another constant each time, so that operands are different where a rule requires that.
    let word = convert(graph, around[0], Type::I64);
    let other = graph.constant(Type::I64, random.number(), 0);
    let word = graph.add(Op::XOR, Sig { from: Type::Void, ty: Type::I64 }, &[word, other], 0, 0);
    // A comparison of integers has an inverse, one of floats has none.
    let by = if random.one_in(2) { Type::I64 } else { Type::F64 };
    let tested = if ty == Type::Flag { convert(graph, word, by) } else { word };
    convert(graph, tested, ty)
}

/// Converts a value to this type; the result depends on the value.
fn convert(graph: &mut Graph, node: Node, ty: Type) -> Node {
    let from = graph.node(node).ty();
    let op = match (from, ty) {
        _ if from == ty => return node,
        (Type::Flag, _) if ty.is_int() => {
            return graph.add(Op::FLAGVAL, Sig { from: Type::Void, ty }, &[node], 0, 0);
        }
        (_, Type::Flag) if from.is_int() => Op::NZ,
        (_, Type::Flag) => {
            let zero = graph.constant(from, 0, 0);
            return graph.add(Op::LT, Sig { from, ty }, &[node, zero], 0, 0);
        }
        (Type::Flag, _) => {
            let word = convert(graph, node, Type::I64);
            return convert(graph, word, ty);
        }
        _ if from.is_float() && ty.is_float() => Op::FCAST,
        _ if from.is_float() => Op::FTOI_WRAP,
        _ if ty.is_float() => Op::STOF,
        _ => Op::UCAST,
    };
    graph.add(op, Sig { from, ty }, &[node], 0, 0)
}

/// The links of a node to operands that may have any value. Left out are addresses, the operands that they are computed
/// from, and divisors.
pub(crate) fn values(graph: &Graph, node: Node) -> impl Iterator<Item = usize> {
    let data = graph.node(node);
    let info = graph.vocab.info(data.op);
    let is_address = matches!(info.yields, Yields::Ptr);
    let is_free = !is_address && !info.props.contains(Props::GUARDED);
    let may_be_any = move |at: usize| {
        data.op == Op::PARAM
            || is_free && info.operands.get(at).is_some_and(|kind| !matches!(kind, Kind::Ptr))
    };
    data.inputs.range().enumerate().filter(move |(at, _)| may_be_any(*at)).map(|(_, link)| link)
}

/// The initial state that a graph is run on.
struct Room {
    slots: [u64; 2 * OWN_SLOTS],
    at_edge: [u64; edge::BYTES / 8],
    chaos: u64,
}

impl Room {
    fn new(seed: u64) -> Room {
        let mut random = Random::new(seed);
        let slots = std::array::from_fn(|_| random.number() >> random.below(64));
        let chaos = random.number() | 1;
        Room { slots, at_edge: std::array::from_fn(|_| random.number() >> random.below(64)), chaos }
    }
}

impl<M: Subject> RigOn<M> {
    /// Runs a graph, on what this seed says, in every tier; whether it ends soon. What differs is made small and told, with a
    /// file for `found/`.
    pub fn check_graph(&mut self, graph: &Graph, start: u64) -> Result<bool, String> {
        if let Ok(ends) = self.compare_graph(graph, start) {
            return Ok(ends);
        }
        let small = shrink(graph, |smaller| self.compare_graph(smaller, start).is_err());
        let failure = self.compare_graph(&small, start).expect_err("it fails each time");
        let text = print::graph(&small);
        let blame = self.blame(&failure, &small, start);
        Err(format!(
            "{failure}\n{blame}\nas a file for tests/rig/found, with the ending `graph`:\nstart {start}\n{text}"
        ))
    }

    fn compare_graph(&mut self, graph: &Graph, start: u64) -> Result<bool, Failure> {
        let room = Room::new(start);
        let (mut real, at_edge) = (room.slots, Edge::default());
        let Some(expected) = meaning(graph, &room, real.as_mut_ptr() as u64) else { return Ok(false) };
        if expected.0 == Outcome::OutOfSteps {
            return Ok(false);
        }
        for index in 0..self.ways.len() {
            let way = self.ways[index];
            let compiled = self.compile_in(way, room.chaos, |compiler, observer| {
                compiler.graph(|to| *to = graph.clone(), observer)
            })?;
            real = room.slots;
            at_edge.write(room.at_edge);
            let unit = std::ptr::with_exposed_provenance(at_edge.middle() as usize);
            let (frame, context) = (real.as_mut_ptr(), real[OWN_SLOTS..].as_mut_ptr());
            // SAFETY: the graph accesses only its slots and the edge; behind the edge its accesses fault.
            let outcome = match unsafe {
                M::enter_closely(compiled.entry(), context.cast(), frame, unit).map(Status::from)
            } {
                Ok(Status::Returned(bits)) => Ok(Outcome::Returned(bits)),
                Ok(Status::Exited { at }) => Ok(Outcome::Exited(at as u64)),
                Ok(Status::Trapped { trap, at }) => {
                    Ok(Outcome::Trapped { code: trap.code() as u64, origin: at })
                }
                Ok(Status::Tailed) => unreachable!("there are no calls"),
                Ok(Status::MovedOn { .. } | Status::Missed { .. } | Status::Inlined { .. }) => {
                    unreachable!("no graph leaves like that")
                }
                Err(what) => Err(what),
            };
            self.keep(way, Made::Optimized(compiled));
            let found = (outcome, [&real[..], &at_edge.read()].concat());
            if found.0.as_ref() != Ok(&expected.0) || found.1 != expected.1 {
                return Err(Failure::Graph { way: M::WAYS[way].name, found, expected });
            }
        }
        Ok(true)
    }

    /// Finds the pass that changed the meaning of a graph, if it is one of the passes.
    fn blame(&mut self, failure: &Failure, graph: &Graph, start: u64) -> String {
        let Failure::Graph { way, expected, .. } = failure else { return String::new() };
        let way = M::WAYS.iter().position(|known| known.name == *way).expect("it failed in one of them");
        let room = Room::new(start);
        let frame = room.slots.as_ptr() as u64;
        let Some(expected) = meaning(graph, &room, frame).filter(|now| now.0 == expected.0) else {
            return "what it means depends on where its frame is\n".into();
        };
        let mut stages = Stages::default();
        let again = self
            .compile_in(way, room.chaos, |compiler, _| compiler.graph(|to| *to = graph.clone(), &mut stages));
        if again.is_err() {
            return String::new();
        }
        let mut before = graph;
        for (pass, after) in &stages.graphs {
            if meaning(after, &room, frame).as_ref() != Some(&expected) {
                let (before, after) = (print::graph(before), print::graph(after));
                return format!("{pass} changes what this means:\n{before}----\n{after}");
            }
            before = after;
        }
        format!("the machine code does not mean it:\n{}", stages.assignment)
    }
}
