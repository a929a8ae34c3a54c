//! Instruction selection: cover a graph with the cheapest tiles.
//!
//! In: a graph, its schedule, a tile set and the CPU's features. Out: a [`TileList`]. Needs: the set covers every form in
//! the graph (`tileset!` rejects a set that leaves one out), and was made for the graph's operators
//! ([`TileSet::stranger`]). Keeps: the order of effects. Cost: one table look-up per node going up, one per tile going
//! down.
//!
//! There are three walks over the schedule. [`label`] gives each node its state, operands first. [`choose`] goes backward
//! and selects a rule for each needed node; the registers that an instruction reads make further nodes needed. [`emit`]
//! emits the chosen tiles in order, with the conventions of calls and the edges between blocks.
//!
//! A graph is not a tree, so `label` decides where it is cut. An operand is *seen through* (its state takes part) or a
//! *leaf* (a value in a register). It is a leaf in these cases:
//!
//! - It is used more than once, because a value is computed only once. Exempt are operators that are cheap and have no
//!   effect, which are computed again: constants, flags (which live in no register) and addresses. An operand of such a
//!   node counts as used as often as the node. So is a load from a slot whose bits are moved into the other register file: that takes
//!   longer than loading them there once more, also in a block behind.
//! - It is in another block, itself or anything below it, because the work would move, perhaps into a loop.
//! - It reads memory, itself or anything below it, and there has been a write since.
//! - It may fault, and there has been another observable effect since (a write, or an access that may fault). It is also a
//!   leaf if its consumer yields fewer bits than it: the consumer's instruction may read fewer bytes, and not fault.
//! - It writes memory, or is a block parameter.
//!
//! An access that may fault is executed whether or not its value is needed, by the tile that covers it or by a tile of its
//! own. The tile list says by which ([`TileList::faults`]).
//!
//! A flag has no register, so it cannot be a leaf. It is labeled anew at each consumer, as if it were there; then only its
//! own operands can be leaves.

mod choose;
mod emit;
mod label;

use super::chaos::Chaos;
use super::limits::Steps;
use crate::grammar::TileSet;
use crate::grammar::flatten::{Same, pack};
use crate::grammar::pattern::is_const;
use crate::ir::graph::{Access, CallTarget, Effect, Graph, NodeData};
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
    /// The set, by the address of its tiles, and the features for which `forms` and `facts` are valid.
    resolved: (usize, u32),
    /// The table of each operator form, at `op << 6 | types`.
    forms: Vec<FormTable>,
    /// The facts of each operator, from its row.
    facts: Vec<OpFacts>,
    /// The label of each node.
    labels: Vec<NodeLabel>,
    /// The register of each node that has one.
    vregs: Vec<Vreg>,
    /// The chosen tiles, the last first.
    chosen: Vec<Chosen>,
    /// The nodes that they read from registers.
    leaves: Vec<Node>,
    /// Their constants.
    imms: Vec<i64>,
    /// The epoch in which each block ends, by position in the schedule.
    epochs: Vec<u32>,
    /// Nodes that are defined on entry.
    entries: Vec<Node>,
    /// The second results of calls, each behind its call; the last first.
    seconds: Vec<(Node, Node)>,
    /// For each outgoing edge of each block: its index among the target's predecessors.
    ways: Vec<u32>,
    /// Where the outgoing edges of each block start in `ways`.
    first_way: Vec<u32>,
    /// Split edges from hot blocks into cold ones: each is emitted before the block that it leads to.
    late: Vec<Split>,
    /// Makes leaves of values at random.
    pub(super) chaos: Chaos,
    pub(super) steps: Steps,
}

/// The table of an operator form.
#[derive(Clone, Copy, Debug)]
struct FormTable {
    /// The table, or the first of the tables if there are same-node conditions.
    table: u16,
    /// The index in `TileSet::heads` if there are same-node conditions.
    head: u16,
}

impl FormTable {
    const NONE: FormTable = FormTable { table: u16::MAX, head: u16::MAX };
}

bitflags! {
    /// The properties of an operator that matter to this pass.
    #[derive(Clone, Copy, Debug, Default)]
    struct OpFacts: u16 {
        /// Cheap to compute again, and without effect.
        const REPEATS = 1 << 0;
        /// Its state depends on its value.
        const IS_CONST = 1 << 1;
        /// Its operands follow a calling convention.
        const IS_CALL = 1 << 2;
        /// Its constant says how it touches memory.
        const IS_ACCESS = 1 << 3;
        /// Depends on memory; the data of a call overrides this.
        const READS = 1 << 4;
        /// Changes memory; the data of a call overrides this.
        const WRITES = 1 << 5;
        /// Must be executed even if its result is unused.
        const STAYS = 1 << 6;
        /// May fault; set by the constant of an access.
        const FAULTS = 1 << 7;
        /// Its operands are a frame state.
        const HAS_STATE = 1 << 8;
        /// The instruction of its operand, a call, writes it.
        const IS_SECOND = 1 << 9;
        /// Its value is its operand's bits.
        const IS_BITS = 1 << 10;
        /// Its value is the address of the function's slots.
        const IS_SLOTS = 1 << 11;
    }

    /// Marks of a node.
    #[derive(Clone, Copy, Debug)]
    struct Marks: u8 {
        /// It is used.
        const USED = 1 << 0;
        /// It is used more than once, or below a node that is computed more than once.
        const MULTI = 1 << 1;
        /// Its subtree contains a node that may not be computed again elsewhere.
        const BOUND = 1 << 2;
        /// It is a leaf for all its users.
        const OPAQUE = 1 << 3;
        /// An instruction reads it from a register.
        const NEEDED = 1 << 4;
        /// It may fault, and a consumer's tile executes it.
        const COVERED = 1 << 5;
    }
}

/// The label of a node.
#[derive(Clone, Copy, Debug)]
struct NodeLabel {
    /// The state of its subtree, as far as that is seen through.
    state: u16,
    /// If it is the root of a tile: the tile's index in [`Scratch::chosen`].
    chosen: u32,
    /// Its block, by position in the schedule.
    block: u32,
    /// The epoch, which ends at the next write, of a read in its subtree; 0 if there is none.
    epoch: u32,
    /// The epoch, which ends at the next effect, after an access in its subtree that may fault; 0 if there is none.
    fault: u32,
    marks: Marks,
}

impl NodeLabel {
    const NEW: NodeLabel = NodeLabel {
        state: 0,
        chosen: u32::MAX,
        block: u32::MAX,
        epoch: 0,
        fault: 0,
        marks: Marks::BOUND.union(Marks::OPAQUE),
    };
}

/// A chosen tile, and the nodes that it covers.
#[derive(Clone, Copy, Debug)]
struct Chosen {
    /// Its index in the set.
    tile: u16,
    /// The flag it consumes.
    flag: Node,
    /// The access that may fault and is executed by the tile; of several the first.
    fault: Node,
    /// The first of the nodes it reads from registers, in [`Scratch::leaves`]. The tile says how many there are.
    leaves: u32,
    /// The first of its constants, in [`Scratch::imms`]. The tile says how many there are.
    imms: u32,
}

/// A block to be inserted on an edge.
#[derive(Clone, Copy, Debug)]
struct Split {
    block: Block,
    from: Block,
    succ: u32,
    inner: Loop,
    origin: u32,
}

impl Split {
    /// Where the edge leads.
    fn to(&self, graph: &Graph) -> Block {
        graph.block(self.from).succs[self.succ as usize]
    }
}

impl Scratch {
    /// Frees the memory, except for the tables.
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
            self.forms.resize(self.facts.len() << 6, FormTable::NONE);
            for (at, head) in set.heads.iter().enumerate() {
                let variant = head.variant(features);
                let form = match head.sames {
                    0 => FormTable { table: set.variants[variant as usize], head: u16::MAX },
                    _ => FormTable { table: variant, head: at as u16 },
                };
                self.forms[(head.op.0 as usize) << 6 | pack(head.sig) as usize] = form;
            }
        }
        self.labels.clear();
        self.labels.resize(graph.nodes.len(), NodeLabel::NEW);
        self.vregs.clear();
        self.vregs.resize(graph.nodes.len(), Vreg::NONE);
        self.chosen.clear();
        self.leaves.clear();
        self.imms.clear();
        self.epochs.clear();
        self.entries.clear();
        self.seconds.clear();
        self.late.clear();
    }

    /// The facts of a node: its operator's, refined by the data of a call or an access.
    #[inline]
    fn facts(&self, graph: &Graph, node: Node) -> OpFacts {
        let data = graph.node(node);
        let facts = self.facts[data.op.0 as usize];
        match facts.intersects(OpFacts::IS_CALL.union(OpFacts::IS_ACCESS)) {
            true => special(graph, data, facts),
            false => facts,
        }
    }

    /// The table that determines a node's state.
    #[inline]
    fn table(&self, graph: &Graph, set: &TileSet, node: Node) -> u16 {
        let data = graph.node(node);
        let sig = if self.facts[data.op.0 as usize].contains(OpFacts::IS_CALL) {
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

fn facts(info: &OpInfo) -> OpFacts {
    let cheap = matches!(info.yields, Yields::Ptr | Yields::Flag) || info.operands.is_empty();
    let is_free = info.props.contains(Props::PURE) && !info.props.contains(Props::GUARDED);
    let mut facts = OpFacts::empty();
    facts.set(OpFacts::REPEATS, is_free && cheap);
    facts.set(OpFacts::IS_CONST, is_const(info));
    facts.set(OpFacts::IS_CALL, info.is_call());
    facts.set(OpFacts::IS_ACCESS, info.props.contains(Props::ACCESS));
    facts.set(OpFacts::READS, info.props.contains(Props::READS));
    facts.set(OpFacts::WRITES, info.props.contains(Props::WRITES));
    facts.set(OpFacts::HAS_STATE, info.props.contains(Props::STATE));
    facts.set(OpFacts::IS_SECOND, info.props.contains(Props::SECOND));
    facts.set(OpFacts::IS_BITS, info.props.contains(Props::BITS));
    facts.set(OpFacts::IS_SLOTS, info.props.contains(Props::SLOTS));
    facts.set(OpFacts::STAYS, info.props.intersects(Props::WRITES | Props::ENDS));
    facts
}

/// The facts of a call or an access, refined by its own data.
fn special(graph: &Graph, data: &NodeData, mut facts: OpFacts) -> OpFacts {
    if facts.contains(OpFacts::IS_CALL) {
        let touches = graph.calls[data.imm as usize].effect != Effect::Pure;
        facts.set(OpFacts::READS | OpFacts::WRITES | OpFacts::STAYS, touches);
        return facts;
    }
    match Access::of(data.imm) {
        Access::Plain => {}
        Access::Pure => facts.remove(OpFacts::READS),
        Access::Within(_) => facts.insert(OpFacts::FAULTS | OpFacts::STAYS),
    }
    facts
}

fn call_key(graph: &Graph, node: Node) -> Sig {
    let data = graph.node(node);
    crate::grammar::pattern::key(data.sig, fixed_operands(graph, node) > 0)
}

/// How many operands of a call are read by its tile.
fn fixed_operands(graph: &Graph, call: Node) -> usize {
    match graph.calls[graph.node(call).imm as usize].target {
        CallTarget::Direct(_) => 0,
        CallTarget::Indirect => 1,
    }
}

/// Whether both paths lead to the same node.
fn holds(graph: &Graph, root: Node, same: &Same) -> bool {
    let end = |path: &[u8; Same::LENGTH]| {
        path.iter()
            .take_while(|step| **step != Same::END)
            .try_fold(root, |node, step| graph.inputs(node).get(*step as usize).copied())
    };
    let bound = end(&same.bound);
    bound.is_some() && bound == end(&same.again)
}

/// Reports the form that has no tile; a complete set has a tile for each.
#[cold]
#[inline(never)]
fn uncovered(graph: &Graph, node: Node) -> ! {
    let data = graph.node(node);
    let indirect = data.sig.ty != Type::Void && data.inputs.len > 0;
    let form = crate::grammar::tables::form(graph.vocab, data.op, data.sig, indirect);
    unreachable!("{node}: no tile covers {form}, and the set was not marked partial")
}
