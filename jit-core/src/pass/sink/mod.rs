//! Leave out memory that nobody needs.
//!
//! In and out: a graph behind `forward`. A call that [makes memory](crate::ir::graph::CallMemory::makes) goes, with all that is stored there,
//! if its address is used only where that is rare: in exits, behind the loop that the call is in, and on other ways from which none leads back
//! to where the memory is used otherwise. It is made there, with what it had at that point. Out: no `holds` is left. Needs: `forward` has
//! found what is loaded from the memory. Cost: linear, for each of at most [`MAX_MADE`] calls.
//!
//! What depends on whether memory is made, such as a collector's turn, asks by `kept`. The code is built as if none were needed
//! ([`find_needed`]), since what forgets what is known of other memory is on those ways. If some is needed all the same, the code is built once
//! more.
//!
//! Memory may be stored in memory: then it is made where that is made.

use super::flow::FlowGraph;
use super::limits::Steps;
use super::places::made_in;
use crate::ir::graph::Graph;
use crate::ir::index::Node;
use crate::vocab::Op;
use fields::Fields;
use uses::{AddressUse, UseKind};

mod fields;
mod make;
mod uses;

/// How many calls are looked at.
const MAX_MADE: usize = 48;

/// So often it is looked how the calls depend on each other.
const MAX_ROUNDS: usize = 16;

/// A call that makes memory.
#[derive(Clone, Copy, Debug)]
struct MakingCall {
    call: Node,
    /// The rank of its block.
    home: u32,
    /// Whether it stands for one in a loop in front of that loop, or behind it, where it makes little difference.
    is_seldom: bool,
    /// Whether it is made where it is called.
    is_needed: bool,
}

/// Memory kept between functions.
#[derive(Debug, Default)]
pub struct Scratch {
    flow: FlowGraph,
    is_cold: Vec<bool>,
    is_live: Vec<bool>,
    work: Vec<Node>,
    /// The calls in their order: one that gets another's address comes later.
    made: Vec<MakingCall>,
    /// What uses their addresses, by call.
    uses: Vec<AddressUse>,
    /// Where each call is made instead: number of the call, rank, and the new call. No rank dominates another one of the same call.
    places: Vec<NewPlace>,
    fields: Fields,
    /// Whether a call is needed, or has other places, since that was looked at last.
    has_changed: bool,
    seen: Vec<bool>,
    ranks: Vec<u32>,
    pub(super) steps: Steps,
}

/// Where memory is made instead.
#[derive(Clone, Copy, Debug)]
struct NewPlace {
    of: u32,
    rank: u32,
    /// The call, once it is there.
    call: Node,
}

impl Scratch {
    /// Frees the memory.
    pub(super) fn release(&mut self) {
        *self = Scratch { steps: core::mem::take(&mut self.steps), ..Scratch::default() };
    }
}

/// What has become of the calls that make memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sunk {
    /// Nothing has changed.
    Nothing,
    /// Some are gone.
    Some,
    /// Some are needed that the code was built without: nothing has changed.
    BuildAgain,
}

/// Adds the bytecodes whose memory is certainly needed, in a graph that was just built: its address goes elsewhere where that is not rare.
/// Returns whether there are any among these.
pub(super) fn find_needed(
    scratch: &mut Scratch,
    graph: &Graph,
    without: &[u32],
    needed: &mut Vec<u32>,
) -> bool {
    if without.is_empty() {
        return false;
    }
    let mut sinker = Sinker { graph, scratch };
    sinker.find();
    sinker.find_uses();
    sinker.each_until_stable(|sinker, of| {
        sinker.uses_of(of).iter().any(|one| match one.kind {
            UseKind::Escape => !sinker.scratch.is_rare(of, one.rank),
            UseKind::Held(by) => sinker.scratch.made[by as usize].is_needed,
            _ => false,
        })
    });
    add_needed(scratch, graph, without, needed)
}

/// Whether a graph makes memory, or says what places hold.
pub(super) fn has_any(graph: &Graph) -> bool {
    graph.makes_memory() || graph.nodes.iter().any(|data| data.op == Op::HOLDS)
}

/// Leaves out the memory that is not needed, in a graph that was built without what belongs to the memory of these bytecodes. Adds those that
/// are needed all the same.
pub fn sink(scratch: &mut Scratch, graph: &mut Graph, without: &[u32], needed: &mut Vec<u32>) -> Sunk {
    let mut sinker = Sinker { graph, scratch };
    sinker.find();
    sinker.find_live();
    sinker.find_uses();
    sinker.each_until_stable(|sinker, of| !sinker.find_places(of) || !sinker.find_fields(of));
    for at in 0..sinker.scratch.made.len() {
        let made = &mut sinker.scratch.made[at];
        made.is_needed = made.is_needed || !sinker.scratch.steps.take();
    }
    let Scratch { places, made, .. } = &mut *sinker.scratch;
    places.retain(|place| !made[place.of as usize].is_needed);
    // What holds others that are needed is as it was, and what is held by what is needed is needed.
    sinker.each_until_stable(|sinker, of| !sinker.find_places(of));
    if add_needed(scratch, graph, without, needed) {
        return Sunk::BuildAgain;
    }
    for data in &mut graph.blocks {
        data.body.retain(|node| graph.nodes[node.at()].op != Op::HOLDS);
    }
    match scratch.made.iter().all(|made| made.is_needed) {
        true => Sunk::Nothing,
        false => {
            make::make(scratch, graph);
            Sunk::Some
        }
    }
}

fn add_needed(scratch: &Scratch, graph: &Graph, without: &[u32], needed: &mut Vec<u32>) -> bool {
    let before = needed.len();
    for made in scratch.made.iter().filter(|made| made.is_needed) {
        let origin = graph.node(made.call).origin;
        if !made.is_seldom && without.contains(&origin) && !needed.contains(&origin) {
            needed.push(origin);
        }
    }
    needed.len() > before
}

struct Sinker<'a> {
    graph: &'a Graph,
    scratch: &'a mut Scratch,
}

impl Sinker<'_> {
    /// Finds the calls.
    fn find(&mut self) {
        let Scratch { flow, is_cold, made, .. } = &mut *self.scratch;
        flow.find(self.graph);
        flow.find_cold(self.graph, is_cold);
        made.clear();
        for (rank, block) in (0u32..).zip(&flow.order) {
            let data = self.graph.block(*block);
            is_cold[rank as usize] |= rank > 0 && self.graph.end_with_state(*block).is_some();
            for &call in data.body.iter().filter(|node| self.graph.makes(**node)) {
                let is_needed = made.len() >= MAX_MADE;
                made.push(MakingCall { call, home: rank, is_seldom: false, is_needed });
            }
        }
        let place = |made: &MakingCall| (self.graph.node(made.call).origin, flow.depth(made.home));
        let mut places: Vec<(u32, u16)> = made.iter().map(place).collect();
        places.sort_unstable();
        for made in made {
            let (origin, depth) = place(made);
            let deepest = places.partition_point(|(other, _)| *other <= origin) - 1;
            made.is_seldom = places[deepest].1 > depth;
        }
        self.scratch.is_live.clear();
        self.scratch.uses.clear();
        self.scratch.places.clear();
    }

    /// Finds what is computed for anything but `holds`.
    fn find_live(&mut self) {
        let Scratch { is_live, work, flow, .. } = &mut *self.scratch;
        is_live.clear();
        is_live.resize(self.graph.nodes.len(), false);
        for block in &flow.order {
            let data = self.graph.block(*block);
            let effects = data.body.iter().filter(|node| !self.graph.is_removable(**node));
            work.extend(effects.chain([&data.end]));
        }
        while let Some(node) = work.pop() {
            if !core::mem::replace(&mut is_live[node.at()], true) {
                work.extend(self.graph.inputs(node));
            }
        }
    }

    /// Asks of each call that is not needed whether it is, until nothing changes.
    fn each_until_stable(&mut self, mut is_needed: impl FnMut(&mut Self, u32) -> bool) {
        self.scratch.has_changed = true;
        for _ in 0..MAX_ROUNDS {
            if !core::mem::take(&mut self.scratch.has_changed) {
                return;
            }
            // What is held is asked of behind what holds it, mostly: that is made later.
            for of in (0..self.scratch.made.len() as u32).rev() {
                if !self.scratch.made[of as usize].is_needed && is_needed(self, of) {
                    self.scratch.made[of as usize].is_needed = true;
                    self.scratch.places.retain(|place| place.of != of);
                    self.scratch.has_changed = true;
                }
            }
        }
        self.scratch.made.iter_mut().for_each(|made| made.is_needed = true);
    }

    /// Finds where a call can be made instead; returns whether all its uses allow that.
    fn find_places(&mut self, of: u32) -> bool {
        let before: Vec<u32> = self.scratch.ranks_of(of).collect();
        self.scratch.places.retain(|place| place.of != of);
        let home = self.scratch.made[of as usize].home;
        let mut ranks = core::mem::take(&mut self.scratch.ranks);
        ranks.clear();
        let is_found = self.find_escapes(of, &mut ranks);
        ranks.sort_unstable();
        ranks.dedup();
        let mut all_fit = is_found;
        for &rank in &ranks {
            let Scratch { flow, places, .. } = &*self.scratch;
            if places.iter().any(|place| place.of == of && flow.dominates(place.rank, rank)) {
                continue;
            }
            all_fit &= self.scratch.is_rare(of, rank) && rank != home && flow.dominates(home, rank);
            all_fit = all_fit && self.leads_nowhere(of, rank);
            if !all_fit {
                break;
            }
            self.scratch.places.push(NewPlace { of, rank, call: Node::NONE });
        }
        // What is loaded is loaded from what was made.
        all_fit = all_fit
            && self.uses_of(of).iter().all(|one| one.kind != UseKind::Load || self.is_made(of, one.rank));
        self.scratch.ranks = ranks;
        self.scratch.has_changed |= !self.scratch.ranks_of(of).eq(before);
        all_fit
    }

    /// Where the address of what a call makes is needed. Returns false if that cannot be said.
    fn find_escapes(&self, of: u32, ranks: &mut Vec<u32>) -> bool {
        let Scratch { flow, made, is_cold, places, .. } = &*self.scratch;
        let home = made[of as usize].home;
        for one in self.uses_of(of) {
            match one.kind {
                UseKind::Anywhere => return false,
                UseKind::Escape => ranks.push(one.rank),
                UseKind::Load if is_cold[one.rank as usize] => ranks.push(one.rank),
                UseKind::Load | UseKind::Store => {}
                UseKind::Held(by) if made[by as usize].is_needed => ranks.push(one.rank),
                UseKind::Held(by) => {
                    let of_holder = places.iter().filter(|place| place.of == by).map(|place| place.rank);
                    for rank in of_holder {
                        if flow.dominates(rank, one.rank) {
                            // What holds this is there by then.
                            ranks.push(one.rank);
                        } else if flow.dominates(home, rank) {
                            ranks.push(rank);
                        }
                    }
                }
            }
        }
        true
    }

    /// Whether no way leads from a block to uses that it does not dominate, or back to it, without the call.
    fn leads_nowhere(&mut self, of: u32, rank: u32) -> bool {
        let Scratch { flow, seen, made, uses, .. } = &mut *self.scratch;
        let MakingCall { home, .. } = made[of as usize];
        seen.clear();
        seen.resize(flow.order.len(), false);
        let mut work = vec![rank];
        while let Some(at) = work.pop() {
            for succ in &self.graph.block(flow.order[at as usize]).succs {
                let succ = flow.rank[succ.at()];
                if succ == rank {
                    return false;
                }
                if succ != home && !core::mem::replace(&mut seen[succ as usize], true) {
                    work.push(succ);
                }
            }
        }
        let is_inside = |one: &AddressUse| !seen[one.rank as usize] || flow.dominates(rank, one.rank);
        uses.iter().filter(|one| one.of == of).all(is_inside)
    }

    /// Whether what a call makes is made in a block or in front of it.
    fn is_made(&self, of: u32, rank: u32) -> bool {
        self.scratch.place_of(of, rank).is_some()
    }

    fn uses_of(&self, of: u32) -> &[AddressUse] {
        self.scratch.uses_of(of)
    }

    /// Whether it is known what the memory has wherever it is made.
    fn find_fields(&mut self, of: u32) -> bool {
        let Scratch { flow, fields, places, made, uses, .. } = &mut *self.scratch;
        if places.iter().all(|place| place.of != of) {
            return true;
        }
        let home = made[of as usize].home;
        let uses = uses.iter().filter(|one| one.of == of);
        fields.find(self.graph, flow, home, uses)
            && places
                .iter()
                .filter(|place| place.of == of)
                .all(|place| fields.are_known(self.graph, flow, made, place.rank))
    }
}

impl Scratch {
    /// Whether it makes little difference that something is made in a block: that is cold, or outside of the loop that the call is in, or
    /// the call itself is.
    fn is_rare(&self, of: u32, rank: u32) -> bool {
        let MakingCall { home, is_seldom, .. } = self.made[of as usize];
        is_seldom || self.is_cold[rank as usize] || self.flow.leaves_loop(home, rank)
    }

    /// The uses of what a call makes.
    fn uses_of(&self, of: u32) -> &[AddressUse] {
        let start = self.uses.partition_point(|one| one.of < of);
        let len = self.uses[start..].partition_point(|one| one.of == of);
        &self.uses[start..start + len]
    }

    /// The ranks of the blocks in which a call is made instead.
    fn ranks_of(&self, of: u32) -> impl Iterator<Item = u32> + '_ {
        self.places.iter().filter(move |place| place.of == of).map(|place| place.rank)
    }

    /// The number of the call in whose memory an address is.
    fn number_of(&self, graph: &Graph, address: Node) -> Option<u32> {
        let call = made_in(graph, address)?;
        self.made.iter().position(|made| made.call == call).map(|at| at as u32)
    }

    /// The number of the place that dominates a block.
    fn place_of(&self, of: u32, rank: u32) -> Option<usize> {
        self.places.iter().position(|place| place.of == of && self.flow.dominates(place.rank, rank))
    }
}
