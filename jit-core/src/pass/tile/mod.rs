//! Tile a graph: choose the cheapest machine instructions that cover it.
//!
//! In: a graph, its schedule, a tile set and what the CPU has. Out: a [`TileList`].
//! Needs: every form in the graph is covered by the set (`tileset!` refuses a set that leaves one out), and the
//! operators are those the set was made for ([`TileSet::stranger`]).
//! Keeps: the order of effects. Cost: one table look-up a node going up, one a tile going down.
//!
//! Three walks over the schedule. [`label`] gives each node its state, operands first. [`choose`] goes backward:
//! what an instruction reads from registers is needed, what is needed gets a rule. [`emit`] writes the chosen
//! tiles down in order, with the conventions of calls and the edges between blocks.
//!
//! A graph is no tree, so `label` decides where it is cut. An operand is *seen through* (its state takes part)
//! or seen as a *leaf* (a value in a register):
//!
//! - Used more than once: a leaf, because the value is made once. Not so for what is cheap to make again and has
//!   no effect: constants, flags (which live in no register) and addresses. What only such a node uses is used as
//!   often as that node.
//! - In another block, directly or below it: a leaf, because the work would move, perhaps into a loop.
//! - It reads memory, directly or below it, and something has been written since: a leaf.
//! - It may fault, and since then something else was done that others see (a write, an access that may fault): a leaf.
//!   The same if its consumer yields fewer bits than it takes: that instruction may read fewer bytes, and not fault.
//! - It writes memory, or is a block parameter: a leaf.
//!
//! What may fault is done whether or not its value is needed, by the tile that covers it or by one of its own; the tile list
//! says which ([`TileList::faults`]).
//!
//! A flag has no register to be a leaf in. It is labeled anew at each consumer, as if it stood there; then only
//! its own operands can be leaves.

mod choose;
mod emit;
mod label;

use super::chaos::Chaos;
use super::limits::Steps;
use crate::grammar::TileSet;
use crate::grammar::flatten::{Same, pack};
use crate::grammar::pattern::is_const;
use crate::ir::graph::{Access, Effect, Graph, NodeData, Target};
use crate::ir::index::{Block, Loop, Node, Vreg};
use crate::ir::schedule::Schedule;
use crate::ir::tiles::TileList;
use crate::target::RegisterFile;
use crate::vocab::op::Yields;
use crate::vocab::{OpInfo, Props, Sig, Type};
use bitflags::bitflags;

/// Chooses tiles for a scheduled graph.
pub fn tile(
    scratch: &mut Scratch,
    graph: &Graph,
    schedule: &Schedule,
    set: &TileSet,
    features: u32,
    regs: &RegisterFile,
    out: &mut TileList,
) {
    scratch.prepare(set, graph, features);
    label::label(scratch, graph, schedule, set);
    choose::choose(scratch, graph, schedule, set);
    emit::emit(scratch, graph, schedule, set, regs, out);
}

/// Memory kept between functions, and the tables resolved for one CPU.
#[derive(Debug, Default)]
pub struct Scratch {
    /// For which set and features `forms` and `facts` are, by the address of the set's tiles.
    resolved: (usize, u32),
    /// The table of each operator form, at `op << 6 | types`.
    forms: Vec<Form>,
    /// What the operators' rows say, in short.
    facts: Vec<Facts>,
    /// What is known of each node.
    labels: Vec<Label>,
    /// The register of each node that has one.
    vregs: Vec<Vreg>,
    /// The chosen tiles, the last first.
    chosen: Vec<Chosen>,
    /// What they read.
    leaves: Vec<Node>,
    /// Their constants.
    imms: Vec<i64>,
    /// Nodes that are there when the function is entered.
    entries: Vec<Node>,
    /// For each way out of each block: which predecessor it is of its target.
    ways: Vec<u32>,
    /// Where the ways out of each block start in `ways`.
    first_way: Vec<u32>,
    /// Split edges into cold blocks: they are emitted behind all else.
    late: Vec<Split>,
    /// Makes values leaves that need not be.
    pub(super) chaos: Chaos,
    pub(super) steps: Steps,
}

/// Where the state of an operator form comes from.
#[derive(Clone, Copy, Debug)]
struct Form {
    /// Its table, or the first of its tables if there are same-node conditions.
    table: u16,
    /// Its position in `TileSet::heads` if there are same-node conditions.
    head: u16,
}

impl Form {
    const NONE: Form = Form { table: u16::MAX, head: u16::MAX };
}

bitflags! {
    /// What this pass asks of an operator.
    #[derive(Clone, Copy, Debug, Default)]
    struct Facts: u8 {
        /// Cheap to make again, without effect.
        const REPEATS = 1 << 0;
        /// Its state depends on its value.
        const IS_CONST = 1 << 1;
        /// Its operands follow a convention.
        const IS_CALL = 1 << 2;
        /// Its constant says how it touches memory.
        const IS_ACCESS = 1 << 3;
        /// Depends on memory; of a call its own data decides.
        const READS = 1 << 4;
        /// Changes memory; of a call its own data decides.
        const WRITES = 1 << 5;
        /// Must be done even if nobody uses its result.
        const STAYS = 1 << 6;
        /// May fault; of an access its node decides.
        const FAULTS = 1 << 7;
    }

    /// What is noted of a node.
    #[derive(Clone, Copy, Debug)]
    struct Marks: u8 {
        /// It is used.
        const USED = 1 << 0;
        /// It is used more than once, or below something that is made more than once.
        const MULTI = 1 << 1;
        /// Its subtree holds what may not be made again elsewhere.
        const BOUND = 1 << 2;
        /// It is a leaf for everyone.
        const OPAQUE = 1 << 3;
        /// Something reads it from a register.
        const NEEDED = 1 << 4;
        /// It may fault, and a consumer's tile does it.
        const COVERED = 1 << 5;
    }
}

/// What is known of a node.
#[derive(Clone, Copy, Debug)]
struct Label {
    /// What its subtree offers, as far as it is seen through.
    state: u16,
    /// If it is the root of a tile: which, in [`Scratch::chosen`].
    chosen: u32,
    /// The block it stands in, by position in the schedule.
    block: u32,
    /// The epoch, between two writes, that a read in its subtree belongs to; 0 if there is none.
    epoch: u32,
    /// The epoch, between two effects, that begins with an access in its subtree that may fault; 0 if there is none.
    fault: u32,
    marks: Marks,
}

impl Label {
    const NEW: Label = Label {
        state: 0,
        chosen: u32::MAX,
        block: u32::MAX,
        epoch: 0,
        fault: 0,
        marks: Marks::BOUND.union(Marks::OPAQUE),
    };
}

/// A chosen tile and what it covers.
#[derive(Clone, Copy, Debug)]
struct Chosen {
    /// Which.
    tile: u16,
    /// The flag it consumes.
    flag: Node,
    /// The access that may fault and that it does; of several the first.
    fault: Node,
    /// In [`Scratch::leaves`]: the nodes it reads from registers, as many as it says.
    leaves: u32,
    /// In [`Scratch::imms`]: the constants it is handed, as many as it says.
    imms: u32,
}

/// A block to be put on an edge.
#[derive(Clone, Copy, Debug)]
struct Split {
    block: Block,
    from: Block,
    succ: u32,
    inner: Loop,
    origin: u32,
}

impl Scratch {
    /// Gives its memory back, but for the tables.
    pub(super) fn release(&mut self) {
        let Scratch { resolved, forms, facts, chaos, steps, .. } = core::mem::take(self);
        *self = Scratch { resolved, forms, facts, chaos, steps, ..Scratch::default() };
    }

    fn prepare(&mut self, set: &TileSet, graph: &Graph, features: u32) {
        debug_assert!(set.stranger(graph.vocab).is_none(), "the set was made for other operators");
        let key = (set.tiles.as_ptr() as usize, features);
        if self.resolved != key || self.forms.is_empty() {
            self.resolved = key;
            self.facts.clear();
            self.facts.extend(set.vocab.iter().map(|(_, info)| facts(info)));
            self.forms.clear();
            self.forms.resize(self.facts.len() << 6, Form::NONE);
            for (at, head) in set.heads.iter().enumerate() {
                let variant = head.variant(features);
                let form = match head.sames {
                    0 => Form { table: set.variants[variant as usize], head: u16::MAX },
                    _ => Form { table: variant, head: at as u16 },
                };
                self.forms[(head.op.0 as usize) << 6 | pack(head.sig) as usize] = form;
            }
        }
        self.labels.clear();
        self.labels.resize(graph.nodes.len(), Label::NEW);
        self.vregs.clear();
        self.vregs.resize(graph.nodes.len(), Vreg::NONE);
        self.chosen.clear();
        self.leaves.clear();
        self.imms.clear();
        self.entries.clear();
        self.late.clear();
    }

    /// What the operator's row says of a node, and a call's data of a call.
    #[inline]
    fn facts(&self, graph: &Graph, node: Node) -> Facts {
        let data = graph.node(node);
        let facts = self.facts[data.op.0 as usize];
        match facts.intersects(Facts::IS_CALL.union(Facts::IS_ACCESS)) {
            true => special(graph, data, facts),
            false => facts,
        }
    }

    /// The table that gives a node's state.
    #[inline]
    fn table(&self, graph: &Graph, set: &TileSet, node: Node) -> u16 {
        let data = graph.node(node);
        let sig = if self.facts[data.op.0 as usize].contains(Facts::IS_CALL) {
            call_key(graph, node)
        } else {
            data.sig
        };
        let form = self.forms[(data.op.0 as usize) << 6 | pack(sig) as usize];
        if form.head == u16::MAX {
            return form.table;
        }
        let head = &set.heads[form.head as usize];
        let mut conditions = 0;
        for (bit, same) in set.sames[head.same as usize..][..head.sames as usize].iter().enumerate() {
            conditions |= (holds(graph, node, same) as u16) << bit;
        }
        set.variants[(form.table + conditions) as usize]
    }
}

fn facts(info: &OpInfo) -> Facts {
    let cheap = matches!(info.yields, Yields::Ptr | Yields::Flag) || info.operands.is_empty();
    let is_free = info.props.contains(Props::PURE) && !info.props.contains(Props::GUARDED);
    let mut facts = Facts::empty();
    facts.set(Facts::REPEATS, is_free && cheap);
    facts.set(Facts::IS_CONST, is_const(info));
    facts.set(Facts::IS_CALL, info.is_call());
    facts.set(Facts::IS_ACCESS, info.props.contains(Props::ACCESS));
    facts.set(Facts::READS, info.props.contains(Props::READS));
    facts.set(Facts::WRITES, info.props.contains(Props::WRITES));
    facts.set(Facts::STAYS, info.props.intersects(Props::WRITES | Props::ENDS));
    facts
}

/// What its own data says of a call or an access.
fn special(graph: &Graph, data: &NodeData, mut facts: Facts) -> Facts {
    if facts.contains(Facts::IS_CALL) {
        let touches = graph.calls[data.imm as usize].effect != Effect::Pure;
        facts.set(Facts::READS | Facts::WRITES | Facts::STAYS, touches);
        return facts;
    }
    match Access::of(data.imm) {
        Access::Plain => {}
        Access::Pure => facts.remove(Facts::READS),
        Access::Within(_) => facts.insert(Facts::FAULTS | Facts::STAYS),
    }
    facts
}

fn call_key(graph: &Graph, node: Node) -> Sig {
    let data = graph.node(node);
    crate::grammar::pattern::key(data.sig, fixed_operands(graph, node) > 0)
}

/// How many operands of a call its tile reads.
fn fixed_operands(graph: &Graph, call: Node) -> usize {
    match graph.calls[graph.node(call).imm as usize].target {
        Target::Direct(_) => 0,
        Target::Indirect => 1,
    }
}

/// Whether both paths lead to one node.
fn holds(graph: &Graph, root: Node, same: &Same) -> bool {
    let end = |path: &[u8; Same::LENGTH]| {
        path.iter()
            .take_while(|step| **step != Same::END)
            .try_fold(root, |node, step| graph.inputs(node).get(*step as usize).copied())
    };
    let bound = end(&same.bound);
    bound.is_some() && bound == end(&same.again)
}

/// Says which form has no tile, which a complete set has not.
#[cold]
#[inline(never)]
fn uncovered(graph: &Graph, node: Node) -> ! {
    let data = graph.node(node);
    let indirect = data.sig.ty != Type::Void && data.inputs.len > 0;
    let form = crate::grammar::tables::form(graph.vocab, data.op, data.sig, indirect);
    unreachable!("{node}: no tile covers {form}, and the set was not marked partial")
}
