//! Finds every state that a node can have.
//!
//! A state summarizes what can be derived from a subtree: for each symbol, the cost of the cheapest derivation, minus the cost
//! of the cheapest symbol (Pelegrí-Llopart and Graham's delta costs), and the rule of that derivation. Since the differences
//! are exact, selecting by states selects the cheapest cover of the whole tree. The states of an operator depend on its
//! operands' states only through the symbols that its rules name. So operand states are grouped into *classes* first (Chase),
//! and an operator's table has a cell for each combination of classes.
//!
//! Forms of operators with the same rules share one *shape*. CPU features and same-node conditions lead to further shapes of a
//! form, one for each combination.
//!
//! The symbol `any`, the second place of a same-node pattern, costs as much as the node in a register. That is an upper bound,
//! since the first place already pays for the node, perhaps in a cheaper form. But this bound keeps differences small. If
//! `any` were free, a chain of such sub-patterns would become ever cheaper than the same chain in registers, and there would
//! be infinitely many states.

use super::error::{Problem, Refusal, RulePart};
use super::flatten::{ANY, Flat, FlatRule, Form, MAX_ARITY, NO_TILE, SymbolId};
use super::pattern::{Predicate, Symbol, is_const};
use crate::vocab::{Op, Vocabulary};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// The cost of a symbol that cannot be derived.
pub const NEVER: u16 = u16::MAX;
/// No rule.
pub const NO_RULE: u16 = u16::MAX;
/// A difference of costs that is larger than in any sound set.
const LIMIT: u32 = 10_000;
/// The greatest number of states; no sound set needs as many.
const MAX_STATES: usize = 4096;

/// A state by number.
pub type StateId = u16;

/// The symbols that can be derived from a subtree.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct State {
    /// For each symbol, its cost above that of the cheapest one; [`NEVER`] if it cannot be derived.
    pub costs: Vec<u16>,
    /// For each symbol, the rule that derives it.
    pub rules: Vec<u16>,
}

/// A grouping of operand states by the symbols that rules name at an operand's place.
#[derive(Clone, Debug)]
pub struct Projection {
    /// The symbols that the rules name at the place, in ascending order.
    pub symbols: Vec<SymbolId>,
    /// The class of each state.
    pub class_of: Vec<u16>,
    /// The costs of `symbols` in each class.
    pub classes: Vec<Vec<u16>>,
}

/// A set of forms with the same rules.
#[derive(Clone, Debug)]
pub struct OpShape {
    /// The rules, in order of preference.
    pub rules: Vec<u16>,
    /// The number of operands that are matched.
    pub arity: usize,
    /// The index in [`States::projections`] for each operand.
    pub operands: [usize; MAX_ARITY],
    /// The state for each combination of classes.
    pub cells: HashMap<[u16; MAX_ARITY], StateId>,
    done: [usize; MAX_ARITY],
}

/// The shapes of a form under each set of conditions.
#[derive(Clone, Debug)]
pub struct Variants {
    /// The CPU features that the form depends on, as bits. The lowest one is bit 0 of a subset.
    pub features: u32,
    /// The number of same-node conditions that the form depends on.
    pub sames: u32,
    /// In [`States::shapes`], at `subset of features << sames | subset of conditions`.
    pub shapes: Vec<usize>,
}

/// All states of a grammar.
#[derive(Clone, Debug)]
pub struct States {
    /// The states. Nothing can be derived in the first one; then come [`LEAVES`].
    pub states: Vec<State>,
    /// The groupings of operand states.
    pub projections: Vec<Projection>,
    /// Every shape.
    pub shapes: Vec<OpShape>,
    /// The shapes of each form that is no constant.
    pub variants: BTreeMap<(Op, u8), Variants>,
    /// The state of a constant, for each type and mask of predicates.
    pub constants: BTreeMap<(u8, u16), StateId>,
    /// For each rule, whether it is the best one in some state, and the tiles that beat it.
    pub fates: Vec<Fate>,
}

/// The outcome of a rule.
#[derive(Clone, Debug, Default)]
pub struct Fate {
    /// Whether it is the best one in some state.
    pub wins: bool,
    /// The tiles that were selected where the rule would have fit.
    pub beaten_by: BTreeSet<u16>,
}

/// The states of values that are already in a register or in the flags.
pub const LEAVES: [(StateId, Symbol); 3] = [(1, Symbol::Reg), (2, Symbol::Num), (3, Symbol::Flag)];

/// Closes the states of a flattened grammar under all operators.
pub fn close(flat: &Flat, vocab: Vocabulary) -> Result<States, Refusal> {
    let mut closer = Closer::new(flat);
    let mut known = HashMap::new();
    for (&(op, packed), form) in &flat.forms {
        if is_const(vocab.info(op)) {
            closer.constants(packed, form);
        } else {
            closer.form(op, packed, form, &mut known);
        }
    }
    loop {
        let before = closer.all.states.len();
        for shape in 0..closer.all.shapes.len() {
            closer.shape(shape);
        }
        let diverges = closer.diverges || closer.all.states.len() > MAX_STATES;
        if diverges {
            return Err(Refusal { rule: None, part: RulePart::Name, problem: Problem::Diverges });
        }
        if closer.all.states.len() == before && closer.is_done() {
            return Ok(closer.all);
        }
    }
}

struct Closer<'a> {
    flat: &'a Flat,
    all: States,
    known: HashMap<State, StateId>,
    known_projections: HashMap<Vec<SymbolId>, usize>,
    known_classes: Vec<HashMap<Vec<u16>, u16>>,
    diverges: bool,
}

impl<'a> Closer<'a> {
    fn new(flat: &'a Flat) -> Closer<'a> {
        let mut closer = Closer {
            flat,
            all: States {
                states: Vec::new(),
                projections: Vec::new(),
                shapes: Vec::new(),
                variants: BTreeMap::new(),
                constants: BTreeMap::new(),
                fates: vec![Fate::default(); flat.rules.len()],
            },
            known: HashMap::new(),
            known_projections: HashMap::new(),
            known_classes: Vec::new(),
            diverges: false,
        };
        let nothing = closer.empty();
        closer.intern(nothing.clone());
        for (_, symbol) in LEAVES {
            let mut leaf = nothing.clone();
            leaf.costs[symbol as usize] = 0;
            leaf.costs[ANY as usize] = 0;
            closer.intern(leaf);
        }
        closer
    }

    fn empty(&self) -> State {
        let symbols = self.flat.symbol_count();
        State { costs: vec![NEVER; symbols], rules: vec![NO_RULE; symbols] }
    }

    fn intern(&mut self, state: State) -> StateId {
        if let Some(id) = self.known.get(&state) {
            return *id;
        }
        let id = self.all.states.len() as StateId;
        for (projection, known) in self.all.projections.iter_mut().zip(&mut self.known_classes) {
            projection.add(&state, known);
        }
        self.known.insert(state.clone(), id);
        self.all.states.push(state);
        id
    }

    fn constants(&mut self, packed: u8, form: &Form) {
        let ty = super::flatten::unpack(packed).ty;
        for mask in Predicate::masks(ty) {
            let fits = form
                .entries
                .iter()
                .filter(|entry| entry.predicate.is_none_or(|predicate| mask & (1 << predicate as u8) != 0));
            let rules: Vec<u16> = sorted(fits.map(|entry| entry.rule));
            let state = self.combine(&rules, &[]);
            self.all.constants.insert((ty as u8, mask), state);
        }
    }

    fn form(&mut self, op: Op, packed: u8, form: &Form, known: &mut HashMap<(Vec<u16>, usize), usize>) {
        let features: Vec<u32> = (0..32).filter(|bit| form.features & (1 << bit) != 0).collect();
        let sames = form.sames.len() as u32;
        let mut shapes = Vec::new();
        for subset in 0..1u32 << features.len() {
            let has: u32 = features.iter().enumerate().map(|(at, bit)| (subset >> at & 1) << bit).sum();
            for conditions in 0..1u32 << sames {
                let fits = form
                    .entries
                    .iter()
                    .filter(|entry| entry.needs & !has == 0 && entry.sames & !conditions == 0);
                let rules = sorted(fits.map(|entry| entry.rule));
                let arity = form.arity as usize;
                let shape = match known.get(&(rules.clone(), arity)) {
                    Some(shape) => *shape,
                    None => {
                        let shape = self.add_shape(rules.clone(), arity);
                        known.insert((rules, arity), shape);
                        shape
                    }
                };
                shapes.push(shape);
            }
        }
        self.all.variants.insert((op, packed), Variants { features: form.features, sames, shapes });
    }

    fn add_shape(&mut self, rules: Vec<u16>, arity: usize) -> usize {
        let mut operands = [0; MAX_ARITY];
        for (place, operand) in operands.iter_mut().enumerate().take(arity) {
            *operand = self
                .projection(sorted(rules.iter().map(|rule| self.flat.rules[*rule as usize].children[place])));
        }
        self.all.shapes.push(OpShape { rules, arity, operands, cells: HashMap::new(), done: [0; MAX_ARITY] });
        self.all.shapes.len() - 1
    }

    fn projection(&mut self, symbols: Vec<SymbolId>) -> usize {
        if let Some(known) = self.known_projections.get(&symbols) {
            return *known;
        }
        let mut projection =
            Projection { symbols: symbols.clone(), class_of: Vec::new(), classes: Vec::new() };
        let mut known = HashMap::new();
        for state in &self.all.states {
            projection.add(state, &mut known);
        }
        self.all.projections.push(projection);
        self.known_classes.push(known);
        self.known_projections.insert(symbols, self.all.projections.len() - 1);
        self.all.projections.len() - 1
    }

    /// The number of classes of each operand of a shape; one for a missing operand.
    fn class_counts(&self, shape: usize) -> [usize; MAX_ARITY] {
        let shape = &self.all.shapes[shape];
        let mut counts = [1; MAX_ARITY];
        for (count, operand) in counts.iter_mut().zip(shape.operands).take(shape.arity) {
            *count = self.all.projections[operand].classes.len();
        }
        counts
    }

    fn is_done(&self) -> bool {
        (0..self.all.shapes.len()).all(|shape| self.class_counts(shape) == self.all.shapes[shape].done)
    }

    /// Fills the cells of new combinations of classes.
    fn shape(&mut self, at: usize) {
        let counts = self.class_counts(at);
        let done = self.all.shapes[at].done;
        if counts == done {
            return;
        }
        let arity = self.all.shapes[at].arity;
        let operands = self.all.shapes[at].operands;
        let rules = core::mem::take(&mut self.all.shapes[at].rules);
        for a in 0..counts[0] {
            for b in 0..counts[1] {
                for c in 0..counts[2] {
                    if a < done[0] && b < done[1] && c < done[2] {
                        continue;
                    }
                    let class = [a, b, c];
                    let seen: Vec<(usize, usize)> =
                        (0..arity).map(|place| (operands[place], class[place])).collect();
                    let state = self.combine(&rules, &seen);
                    self.all.shapes[at].cells.insert(class.map(|class| class as u16), state);
                }
            }
        }
        self.all.shapes[at].rules = rules;
        self.all.shapes[at].done = counts;
    }

    /// The state of a node with these rules and operands of these classes.
    fn combine(&mut self, rules: &[u16], operands: &[(usize, usize)]) -> StateId {
        let mut best = vec![u32::MAX; self.flat.symbol_count()];
        let mut chosen = vec![NO_RULE; self.flat.symbol_count()];
        let mut fitting = Vec::new();
        for &rule in rules {
            let Some(cost) = self.cost(&self.flat.rules[rule as usize], operands) else { continue };
            let result = self.flat.rules[rule as usize].result as usize;
            fitting.push(rule);
            if cost < best[result] {
                best[result] = cost;
                chosen[result] = rule;
            }
        }
        for rule in fitting {
            let winner = chosen[self.flat.rules[rule as usize].result as usize];
            let tile = self.flat.rules[winner as usize].tile;
            let fate = &mut self.all.fates[rule as usize];
            if winner == rule {
                fate.wins = true;
            } else if tile != NO_TILE {
                fate.beaten_by.insert(tile);
            }
        }
        let Some(least) = best.iter().copied().min().filter(|least| *least != u32::MAX) else { return 0 };
        let mut state = self.empty();
        for (symbol, cost) in best.into_iter().enumerate().filter(|(_, cost)| *cost != u32::MAX) {
            self.diverges |= cost - least > LIMIT;
            state.costs[symbol] = (cost - least).min(LIMIT) as u16;
        }
        state.costs[ANY as usize] = state.costs[..ANY as usize].iter().copied().min().unwrap_or(NEVER);
        state.rules = chosen;
        self.intern(state)
    }

    fn cost(&self, rule: &FlatRule, operands: &[(usize, usize)]) -> Option<u32> {
        let mut sum = rule.cost as u32;
        for (&(projection, class), symbol) in operands.iter().zip(&rule.children) {
            let projection = &self.all.projections[projection];
            let place =
                projection.symbols.binary_search(symbol).expect("the projection has every symbol named");
            match projection.classes[class][place] {
                NEVER => return None,
                cost => sum += cost as u32,
            }
        }
        Some(sum)
    }
}

impl Projection {
    fn add(&mut self, state: &State, known: &mut HashMap<Vec<u16>, u16>) {
        let costs: Vec<u16> = self.symbols.iter().map(|symbol| state.costs[*symbol as usize]).collect();
        let least = costs.iter().copied().min().unwrap_or(NEVER);
        let costs: Vec<u16> =
            costs.into_iter().map(|cost| if cost == NEVER { NEVER } else { cost - least }).collect();
        let next = self.classes.len() as u16;
        let class = *known.entry(costs.clone()).or_insert_with(|| {
            self.classes.push(costs);
            next
        });
        self.class_of.push(class);
    }
}

fn sorted(items: impl Iterator<Item = u16>) -> Vec<u16> {
    let mut items: Vec<u16> = items.collect();
    items.sort_unstable();
    items.dedup();
    items
}
