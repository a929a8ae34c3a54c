//! Coverage of the compiler: the tiles that were chosen, and the rewrite rules that applied.

use crate::ties::SHUFFLED;
use azulejo::rules::{BUILTIN, Matcher};
use azulejo_core::grammar::TileSet;
use azulejo_core::ir::graph::Graph;
use azulejo_core::ir::index::Node;
use azulejo_core::ir::tiles::TileList;
use azulejo_core::pass::rewrite::Case;
use azulejo_core::pass::{Observer, Target};
use azulejo_core::vocab::{Op, Props};
use std::cell::RefCell;
use std::sync::LazyLock;

/// Records the tiles that were chosen.
#[derive(Clone, Debug)]
pub struct Reached {
    /// A machine's tiles.
    tables: &'static TileSet,
    /// By number.
    is_reached: Vec<bool>,
    /// By number: whether the tile is never chosen for an instruction of its own, since calls write such a result with their first.
    is_of_calls: Vec<bool>,
    /// How many calls were inlined.
    pub inlined: u64,
}

impl Observer for Reached {
    fn tiles(&mut self, target: &Target<'_>, tiles: &TileList) {
        self.inlined += tiles.inlining.frames.len().saturating_sub(1) as u64;
        let is_shuffled = !std::ptr::eq(target.set, self.tables);
        for tile in tiles.insts.iter().map(|inst| inst.tile.0 as usize) {
            let tile = if is_shuffled { SHUFFLED.original[tile] as usize } else { tile };
            self.is_reached[tile] = true;
        }
    }
}

impl Reached {
    /// Nothing of these tiles yet.
    pub(crate) fn of(tables: &'static TileSet) -> Reached {
        let is_second = |pattern: &str| {
            let name = pattern.trim_start_matches('(').split(['.', ' ', ')']).next().unwrap_or_default();
            let op = tables.vocab.find(name);
            op.is_some_and(|op| tables.vocab.info(op).props.contains(Props::SECOND))
        };
        Reached {
            tables,
            inlined: 0,
            is_reached: vec![false; tables.tiles.len()],
            is_of_calls: tables.tiles.iter().map(|tile| is_second(tile.pattern)).collect(),
        }
    }

    /// How many tiles were chosen, of how many.
    pub fn count(&self) -> (usize, usize) {
        let is_reached = self.is_reached.iter().filter(|reached| **reached).count();
        (is_reached, self.is_of_calls.iter().filter(|of_calls| !**of_calls).count())
    }

    /// The tiles that were never chosen.
    pub fn never(&self) -> Vec<&'static str> {
        let is_missed = |at: &usize| !self.is_reached[*at] && !self.is_of_calls[*at];
        (0..self.is_reached.len()).filter(is_missed).map(|at| self.tables.tiles[at].name).collect()
    }
}

/// The built-in rules, each tried alone, to record which of them applied.
pub static COUNTED: [Matcher; 1] = [counted];

thread_local! {
    static APPLIED: RefCell<Vec<bool>> = RefCell::new(vec![false; rules().count()]);
}

fn rules() -> impl Iterator<Item = &'static Case> {
    BUILTIN.iter().flat_map(|rules| rules.cases)
}

/// For each operator, the numbers of the rules whose left side has it at the root, in ascending order.
static BY_ROOT: LazyLock<Vec<Vec<(usize, Matcher)>>> = LazyLock::new(|| {
    let mut by_root = vec![Vec::new(); Op::BUILTINS as usize];
    for (number, case) in rules().enumerate() {
        let (graph, root) = case.on_parameters(case.types[0]);
        by_root[graph.node(root).op.0 as usize].push((number, case.apply));
    }
    by_root
});

fn counted(graph: &mut Graph, node: Node) -> Option<Node> {
    let of_root = BY_ROOT.get(graph.node(node).op.0 as usize)?;
    let (number, made) = of_root.iter().find_map(|(number, apply)| Some((*number, apply(graph, node)?)))?;
    APPLIED.with_borrow_mut(|applied| applied[number] = true);
    Some(made)
}

/// How many rules have applied in this thread, and how many there are.
pub fn rules_applied() -> (usize, usize) {
    APPLIED.with_borrow(|applied| (applied.iter().filter(|applied| **applied).count(), applied.len()))
}

/// The rules that have never applied in this thread.
pub fn rules_never_applied() -> Vec<&'static str> {
    let applied = APPLIED.with_borrow(Clone::clone);
    std::iter::zip(rules(), applied).filter(|(_, applied)| !applied).map(|(case, _)| case.text).collect()
}
