//! Random graphs as machine code and in the reference evaluator: what bytecode cannot say, such as loops with several
//! ways in.
//!
//! In: a graph that touches only the slots of its own frame and context. Out: agreement, or the pass that changed
//! what the graph means.

use crate::compare::{Failure, Rig};
use azulejo::rules::BUILTIN;
use azulejo::x64::Status;
use azulejo_core::check::evaluate::{Machine, Memory, Outcome, evaluate};
use azulejo_core::fuzzing::{OWN_SLOTS, Random};
use azulejo_core::grammar::TileSet;
use azulejo_core::ir::assignment::Assignment;
use azulejo_core::ir::graph::Graph;
use azulejo_core::ir::index::Node;
use azulejo_core::ir::tiles::TileList;
use azulejo_core::pass::Observer;
use azulejo_core::pass::rewrite::CaseConstant;
use azulejo_core::text::print;
use azulejo_core::vocab::op::{Kind, Yields};
use azulejo_core::vocab::{Op, Props, Sig, Type};

/// A graph that takes longer is left out.
const STEPS: usize = 20_000;

/// Keeps the graph after each pass, so that the one to blame can be told.
#[derive(Default)]
struct Stages {
    graphs: Vec<(&'static str, Graph)>,
    assignment: String,
}

impl Observer for Stages {
    fn graph(&mut self, pass: &'static str, graph: &Graph) {
        self.graphs.push((pass, graph.clone()));
    }

    fn assignment(&mut self, _: &TileSet, tiles: &TileList, assignment: &Assignment) {
        self.assignment = print::assignment(tiles, assignment, print::Names::NUMBERS);
    }
}

/// How a graph ends on these slots, and what is in them then; nothing if it executes a division that has no result: what
/// was planted may have made a divisor something else.
fn meaning(graph: &Graph, slots: &[u64], frame: u64) -> Option<(Outcome, Vec<u64>)> {
    let mut memory = Memory::default();
    for (at, slot) in slots.iter().enumerate() {
        memory.write(frame + at as u64 * 8, 8, *slot);
    }
    let mut callee = |_: &_, _, _: &[u64], _: &mut Memory| unreachable!("there are no calls");
    let context = frame + OWN_SLOTS as u64 * 8;
    let mut machine = Machine { context, unit: 0, frame, memory, callee: &mut callee };
    let outcome = evaluate(graph, &mut machine, STEPS).ok()?;
    let after = (0..slots.len() as u64).map(|at| machine.memory.read(frame + at * 8, 8)).collect();
    Some((outcome, after))
}

/// Puts the left side of some rewrite rule in the place of some value.
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
    // What the old value is made of is there wherever it is; and so are constants.
    let mut around = vec![old];
    for at in 0..8 {
        let Some(&node) = around.get(at) else { break };
        if graph.node(node).op != Op::PARAM && !graph.node(node).block.is_some() {
            around.extend_from_slice(graph.inputs(node));
        }
    }
    let leaves: Vec<Node> = case.leaves.iter().map(|ty| leaf(random, graph, &around, types[*ty])).collect();
    let small = [0, 1, 2, 3, 4, 5, 7, 8, 15, 31, 63, 255, -1, -2];
    let mut constant = |constant: &CaseConstant| match constant {
        CaseConstant::Scale => 1 << random.below(4),
        CaseConstant::Offset => random.below(64) as i64,
        CaseConstant::Value { ty } if random.one_in(3) => {
            types[*ty].signed(types[*ty].truncate(random.number()))
        }
        CaseConstant::Value { .. } => small[random.below(small.len())],
    };
    let constants: Vec<i64> = case.constants.iter().map(&mut constant).collect();
    let n_before = graph.nodes.len();
    let root = (case.left)(graph, types, &leaves, &constants);
    // What may trap or touches memory has a place among effects, which a planted value has not.
    let floats = |node: usize| {
        let props = graph.vocab.info(graph.nodes[node].op).props;
        props.contains(Props::PURE) && !props.contains(Props::GUARDED)
    };
    if !(n_before..graph.nodes.len()).all(floats) {
        return;
    }
    graph.links[link] = convert(graph, root, graph.node(old).ty());
}

/// A value of a type: one of these, or made of one of these.
fn leaf(random: &mut Random, graph: &mut Graph, around: &[Node], ty: Type) -> Node {
    let fitting: Vec<Node> = around.iter().copied().filter(|node| graph.node(*node).ty() == ty).collect();
    if !fitting.is_empty() && !random.one_in(4) {
        return fitting[random.below(fitting.len())];
    }
    // Another one each time, so that what a rule wants to be different is.
    let word = convert(graph, around[random.below(around.len())], Type::I64);
    let other = graph.constant(Type::I64, random.number(), 0);
    let word = graph.add(Op::XOR, Sig { from: Type::Void, ty: Type::I64 }, &[word, other], 0, 0);
    // A comparison of floats has no inverse, one of integers has.
    let by = if random.one_in(2) { Type::I64 } else { Type::F64 };
    let tested = if ty == Type::Flag { convert(graph, word, by) } else { word };
    convert(graph, tested, ty)
}

/// Something of this type that depends on a value.
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

/// The links of a node to operands that may be any values: no addresses, nor what they are made of, and no divisors.
fn values(graph: &Graph, node: Node) -> impl Iterator<Item = usize> {
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

impl Rig {
    /// Runs a graph in every tier; `None` if it does not end soon.
    pub fn compare_graph(&mut self, graph: &Graph, random: &mut Random) -> Option<Result<(), Failure>> {
        let slots: [u64; 2 * OWN_SLOTS] = std::array::from_fn(|_| random.number() >> random.below(64));
        let mut real = slots;
        let frame = real.as_mut_ptr();
        let expected = meaning(graph, &slots, frame as u64)?;
        if expected.0 == Outcome::OutOfSteps {
            return None;
        }
        let chaos = random.number() | 1;
        for index in 0..self.ways.len() {
            let way = self.ways[index];
            let compiled = match self.compile_in(way, chaos, |compiler, observer| {
                compiler.graph(|to| *to = graph.clone(), observer)
            }) {
                Ok(compiled) => compiled,
                Err(failure) => {
                    let text = print::graph(graph);
                    return Some(Err(Failure::Graph(format!("{failure}\nin\n{text}"))));
                }
            };
            real = slots;
            let (frame, context) = (real.as_mut_ptr(), real[OWN_SLOTS..].as_mut_ptr());
            // SAFETY: the graph uses only the slots there are.
            let outcome = match unsafe { compiled.enter(context.cast(), frame, std::ptr::null()) } {
                Status::Returned(bits) => Outcome::Returned(bits),
                Status::Exited { at } => Outcome::Exited(at as u64),
                Status::Trapped { trap, at } => Outcome::Trapped { code: trap.code() as u64, origin: at },
            };
            if (outcome, real.to_vec()) != expected {
                let text = self.blame(way, chaos, graph, &slots, frame as u64, &expected);
                return Some(Err(Failure::Graph(format!("found {outcome:?}, {real:x?}\n{text}"))));
            }
        }
        Some(Ok(()))
    }

    /// Which pass it is that changes what a graph means.
    fn blame(
        &mut self,
        way: usize,
        chaos: u64,
        graph: &Graph,
        slots: &[u64],
        frame: u64,
        expected: &(Outcome, Vec<u64>),
    ) -> String {
        let mut stages = Stages::default();
        let again =
            self.compile_in(way, chaos, |compiler, _| compiler.graph(|to| *to = graph.clone(), &mut stages));
        if again.is_err() {
            return print::graph(graph);
        }
        let mut before = graph;
        for (pass, after) in &stages.graphs {
            if meaning(after, slots, frame).as_ref() != Some(expected) {
                let (before, after) = (print::graph(before), print::graph(after));
                return format!("{pass} changes what this means:\n{before}----\n{after}");
            }
            before = after;
        }
        format!("the machine code does not mean\n{}{}", print::graph(graph), stages.assignment)
    }
}
