//! Traces: the stages of a function's compilation as text.
//!
//! In: the result of each stage, which the compiler shows to its observer. Out: text, in which nodes, virtual registers,
//! instructions and bytecodes have the same numbers throughout. Logs consist of this text, and explorer pages are made from it.

use super::listing::origin;
use super::machine::{self, Machine};
use super::{Learned, Subject};
use azulejo_core::ir::emitted::{Emitted, Maker};
use azulejo_core::ir::graph::Graph;
use azulejo_core::ir::index::Node;
use azulejo_core::ir::inlining::RefusedCall;
use azulejo_core::ir::kinds::KindMask;
use azulejo_core::ir::ranges::Ranges;
use azulejo_core::ir::schedule::Schedule;
use azulejo_core::ir::tiles::TileList;
use azulejo_core::pass::{Allocated, Observer, STAGES, Target};
use azulejo_core::text::{dot, print};
use azulejo_core::vocab::{Op, Props, Type};
use std::fmt::{Debug, Write};

/// The names that can be selected, in the order in which they are shown: the bytecode, and each stage.
pub(crate) fn selectable() -> impl Iterator<Item = &'static str> {
    ["bytecode"].into_iter().chain(STAGES)
}

/// A set of stages, one bit each.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Selection(u32);

impl Selection {
    pub(crate) const ALL: Selection = Selection((2 << STAGES.len()) - 1);
    pub(crate) const NONE: Selection = Selection(0);

    /// Adds a stage. Returns whether a stage of this name exists.
    pub(crate) fn add(&mut self, name: &str) -> bool {
        let bit = selectable().position(|stage| stage == name).map(|at| 1 << at);
        self.0 |= bit.unwrap_or(0);
        bit.is_some()
    }

    fn has(self, name: &str) -> bool {
        selectable().zip(0..).any(|(stage, at)| stage == name && self.0 >> at & 1 != 0)
    }
}

/// An observer that keeps the text of the selected stages.
#[derive(Debug)]
pub(crate) struct Trace {
    pub(crate) text: String,
    /// Where the text of the stages starts.
    start: usize,
    selection: Selection,
    /// The graphs in Graphviz's language, each with its stage, if they are wanted.
    pub(crate) drawings: Option<Vec<(&'static str, String)>>,
    /// The old number of each node, if the last stage has renumbered the nodes.
    old_numbers: Vec<Node>,
    /// What is known of the kind of each value in the next graph.
    kinds: Vec<Option<String>>,
}

impl Trace {
    /// Starts a trace with a head, which consists of lines such as `function sum`, and the bytecode.
    pub(crate) fn new<B: Debug>(subject: &Subject<'_, B>, selection: Selection) -> Trace {
        let (text, old_numbers, kinds) = (subject.head(), Vec::new(), Vec::new());
        let mut trace = Trace { text, start: 0, selection, drawings: None, old_numbers, kinds };
        trace.add("bytecode", || bytecode(subject.code, subject.learned));
        trace.start = trace.text.len();
        trace
    }

    fn add(&mut self, stage: &str, text: impl FnOnce() -> String) {
        if self.selection.has(stage) {
            write!(self.text, "\n== {stage}\n{}", text()).expect("text has room");
        }
    }

    /// Adds baseline code. The map has the offset at which each bytecode's code starts; no more is known of it.
    pub(crate) fn baseline(&mut self, code: &[u8], address: u64, map: &[(u32, u32)]) {
        self.add("emit", || {
            let note = |at| origin(map, at).map_or("frame".to_string(), |at| format!("@{at}"));
            assembly(Machine { code, address, addresses: &[] }, map.iter().map(|(at, _)| *at), note)
        });
    }
}

impl Observer for Trace {
    fn graph(&mut self, pass: &'static str, graph: &Graph) {
        let old_numbers = std::mem::take(&mut self.old_numbers);
        let kinds = std::mem::take(&mut self.kinds);
        let note = |node: Node| {
            let name = unnamed(graph, node);
            let kind = kinds.get(node.at()).cloned().flatten().or_else(|| not_inlined(graph, node));
            match (old_numbers.get(node.at()), kind) {
                (Some(old), _) => Some(format!("{name}was {old}")),
                (None, Some(kind)) => Some(format!("{name}{kind}")),
                (None, None) => Some(name.trim_end().to_string()).filter(|name| !name.is_empty()),
            }
        };
        self.add(pass, || print::graph_with_notes(graph, &note));
        if let Some(drawings) = self.drawings.as_mut().filter(|_| self.selection.has(pass)) {
            drawings.push((pass, dot::graph(graph)));
        }
    }

    fn again(&mut self) {
        self.text.truncate(self.start);
        self.drawings.iter_mut().for_each(Vec::clear);
        self.old_numbers.clear();
        self.kinds.clear();
    }

    fn kinds(&mut self, graph: &Graph, masks: &[KindMask]) {
        // A mask is about boxes; only what may be one has a kind. Operators on kinds say by themselves which one they mean.
        let known = |(at, mask): (usize, &KindMask)| {
            let data = &graph.nodes[at];
            let says_itself = graph.vocab.info(data.op).props.contains(Props::KINDS);
            let may_be_box = data.ty() == Type::I64 && *mask != KindMask::NO_KIND;
            mask.describe(graph.kinds).filter(|_| may_be_box && !says_itself)
        };
        self.kinds = masks.iter().enumerate().map(known).collect();
    }

    fn renumbered(&mut self, numbers: &[Node]) {
        let stay = numbers.iter().enumerate().filter(|(_, new)| new.is_some());
        self.old_numbers = stay.map(|(old, _)| Node::from(old)).collect();
    }

    fn schedule(&mut self, graph: &Graph, schedule: &Schedule) {
        let note =
            |node: Node| Some(unnamed(graph, node).trim_end().to_string()).filter(|name| !name.is_empty());
        self.add("place", || print::schedule_with_notes(graph, schedule, &note));
    }

    fn tiles(&mut self, target: &Target<'_>, tiles: &TileList) {
        self.add("tile", || target.named(|names| print::tiles(tiles, names)));
    }

    fn ranges(&mut self, target: &Target<'_>, tiles: &TileList, ranges: &Ranges) {
        self.add("live", || target.named(|names| print::ranges(tiles, ranges, names)));
    }

    fn assignment(&mut self, target: &Target<'_>, allocated: &Allocated<'_>) {
        let Allocated { tiles, ranges, assignment, .. } = *allocated;
        self.add("allocate", || {
            target.named(|names| {
                print::parts(ranges, allocated.parts(), names) + &print::assignment(tiles, assignment, names)
            })
        });
    }

    fn code(&mut self, target: &Target<'_>, tiles: &TileList, code: &Emitted<'_>) {
        let of_inst = |number: u32| {
            let inst = &tiles.insts[number as usize];
            let name = target.set.tiles[inst.tile.0 as usize].name;
            let node = if inst.node.is_some() { format!(" {}", inst.node) } else { String::new() };
            format!("{number} {name}{node} {}", tiles.inlining.name(inst.origin))
        };
        let note = |at| match origin(code.pieces, at) {
            Some(&Maker::Inst(inst)) => of_inst(inst),
            Some(&Maker::Moves(before)) => {
                format!("{before} move {}", tiles.inlining.name(tiles.insts[before as usize].origin))
            }
            Some(Maker::Frame) | None => "frame".to_string(),
        };
        self.add("emit", || {
            let machine = Machine { code: code.code, address: 0, addresses: code.addresses };
            assembly(machine, code.pieces.iter().map(|(at, _)| *at), note)
        });
    }
}

/// The name of a node that has no value, followed by a space; empty for others, whose lines start with their names.
fn unnamed(graph: &Graph, node: Node) -> String {
    if graph.node(node).ty() == Type::Void { format!("{node} ") } else { String::new() }
}

/// Why a call of a function of bytecode is not inlined, if its callee is known.
fn not_inlined(graph: &Graph, node: Node) -> Option<String> {
    const CALLS: [Op; 4] = [Op::INVOKE, Op::INVOKE_SPREAD, Op::TRY_INVOKE, Op::TRY_INVOKE_SPREAD];
    let data = graph.node(node);
    let RefusedCall { function, refusal, .. } = graph.states.inlining.refused_at(data.origin).next()?;
    CALLS.contains(&data.op).then(|| format!("f{function} is not inlined: {}", refusal.reason()))
}

/// The text of bytecode, one line for each, with what it has learned.
pub(crate) fn bytecode<B: Debug>(code: &[B], learned: &dyn Learned) -> String {
    let line = |(at, op): (usize, &B)| match learned.note(at as u32) {
        Some(note) => format!("{at:5}: {op:?} # {note}\n"),
        None => format!("{at:5}: {op:?}\n"),
    };
    code.iter().enumerate().map(line).collect()
}

/// A line for each instruction: the offset, the bytes, the disassembly if there is one, and a note on its origin.
fn assembly(machine: Machine<'_>, pieces: impl Iterator<Item = u32>, note: impl Fn(u32) -> String) -> String {
    let lines = machine::lines(machine, pieces).into_iter().map(|line| {
        let (at, hex, text) = (line.at, line.hex(), &line.text);
        format!("{at:6x}  {hex:30} {text:36} ; {}\n", note(at))
    });
    lines.collect()
}
