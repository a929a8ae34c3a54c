//! Packs states into tables, and refuses grammars with dead tiles or uncovered forms.
//!
//! The result does not depend on hashing or addresses: the same grammar always yields the same bytes.

use super::error::{Problem, Refusal, RulePart};
use super::flatten::{ANY, Flat, FlatRule, MAX_ARITY, NO_TILE, Same, flatten, unpack};
use super::pattern::{Grammar, Predicate, Symbol, is_const, matched, operand_type};
use super::plan::{Plan, PlannedUse, Where, plan};
use super::set::{Head, OpTable, RegisterUse, TileInfo, TileSet};
use super::states::{LEAVES, NEVER, NO_RULE, States, close};
use crate::ir::tiles::{Constraint, Role};
use crate::target::{Reg, RegSet};
use crate::vocab::{Op, Props, Sig, Type, Vocabulary};
use std::collections::BTreeMap;

/// A tile set with owned parts.
#[derive(Clone, Debug)]
pub struct Tables {
    /// The operators.
    pub vocab: Vocabulary,
    /// The names of CPU features.
    pub features: Vec<String>,
    /// The tiles.
    pub tiles: Vec<Plan>,
    /// See [`TileSet::rules`].
    pub rules: Vec<FlatRule>,
    /// See [`TileSet::ops`].
    pub ops: Vec<OpTable>,
    /// See [`TileSet::cells`].
    pub cells: Vec<u16>,
    /// See [`TileSet::views`].
    pub views: Vec<u16>,
    /// See [`TileSet::classes`].
    pub classes: Vec<u8>,
    /// See [`TileSet::heads`].
    pub heads: Vec<Head>,
    /// See [`TileSet::variants`].
    pub variants: Vec<u16>,
    /// See [`TileSet::sames`].
    pub sames: Vec<Same>,
    /// See [`TileSet::predicates`].
    pub predicates: Vec<Predicate>,
    /// See [`TileSet::constants`].
    pub constants: Vec<u16>,
    /// See [`TileSet::select`].
    pub select: Vec<u16>,
    /// See [`TileSet::offsets`].
    pub offsets: Vec<u16>,
    /// The flattened grammar, for dumps.
    pub flat: Flat,
    /// The states, for dumps.
    pub states: States,
}

/// Builds the tables of a grammar, or returns all its refusals.
pub fn build(grammar: &Grammar) -> Result<Tables, Vec<Refusal>> {
    let plans = plan(grammar);
    let flat = flatten(grammar);
    let (plans, flat) = match (plans, flat) {
        (Ok(plans), Ok(flat)) => (plans, flat),
        (plans, flat) => {
            let mut refusals = flat.err().unwrap_or_default();
            refusals.extend(plans.err().unwrap_or_default());
            return Err(refusals);
        }
    };
    let states = close(&flat, grammar.vocab).map_err(|refusal| vec![refusal])?;
    let mut refusals = dead(grammar, &flat, &states);
    let mut packer = Packer::default();
    packer.pack(&flat, &states);
    let tables = Tables {
        vocab: grammar.vocab,
        features: grammar.features.clone(),
        tiles: plans,
        rules: flat.rules.clone(),
        ops: packer.ops,
        cells: packer.cells,
        views: packer.views,
        classes: packer.classes,
        heads: packer.heads,
        variants: packer.variants,
        sames: packer.sames,
        predicates: packer.predicates,
        constants: packer.constants,
        select: packer.select,
        offsets: packer.offsets,
        flat,
        states,
    };
    if grammar.complete {
        refusals.extend(tables.uncovered());
    }
    if refusals.is_empty() { Ok(tables) } else { Err(refusals) }
}

/// The tiles that no state selects.
fn dead(grammar: &Grammar, flat: &Flat, states: &States) -> Vec<Refusal> {
    let mut alive = vec![false; grammar.rules.len()];
    let mut beaten_by = vec![Vec::new(); grammar.rules.len()];
    for (rule, fate) in flat.rules.iter().zip(&states.fates).filter(|(rule, _)| rule.tile != NO_TILE) {
        alive[rule.tile as usize] |= fate.wins;
        beaten_by[rule.tile as usize].extend(fate.beaten_by.iter().copied());
    }
    let mut refusals = Vec::new();
    for (at, mut tiles) in
        beaten_by.into_iter().enumerate().filter(|(at, _)| !alive[*at] && *at < grammar.own)
    {
        tiles.sort_unstable();
        tiles.dedup();
        let beaten_by = tiles.into_iter().map(|tile| grammar.rules[tile as usize].name.clone()).collect();
        let problem = Problem::NeverSelected { beaten_by };
        refusals.push(Refusal { rule: Some(at), part: RulePart::Name, problem });
    }
    refusals
}

#[derive(Default)]
struct Packer {
    ops: Vec<OpTable>,
    cells: Vec<u16>,
    views: Vec<u16>,
    classes: Vec<u8>,
    heads: Vec<Head>,
    variants: Vec<u16>,
    sames: Vec<Same>,
    predicates: Vec<Predicate>,
    constants: Vec<u16>,
    select: Vec<u16>,
    offsets: Vec<u16>,
}

impl Packer {
    fn pack(&mut self, flat: &Flat, states: &States) {
        // The first of the states with equal costs represents all of them: their rules make no difference to the operators
        // above.
        let mut first = Vec::new();
        let mut by_costs: BTreeMap<&[u16], u16> = BTreeMap::new();
        for (at, state) in states.states.iter().enumerate() {
            let next = first.len() as u16;
            let view = *by_costs.entry(&state.costs).or_insert(next);
            if view == next {
                first.push(at);
            }
            self.views.push(view);
        }
        let mut maps: BTreeMap<Vec<u16>, u16> = BTreeMap::new();
        let mut known: BTreeMap<(Vec<u16>, [u16; MAX_ARITY]), u32> = BTreeMap::new();
        for shape in &states.shapes {
            let mut counts = [1; MAX_ARITY];
            let mut offsets = [0; MAX_ARITY];
            for place in 0..shape.arity {
                let projection = &states.projections[shape.operands[place]];
                counts[place] = projection.classes.len();
                let map: Vec<u16> = first.iter().map(|state| projection.class_of[*state]).collect();
                offsets[place] = *maps.entry(map).or_insert_with_key(|map| {
                    let start =
                        u16::try_from(self.classes.len()).expect("there are fewer than 65,536 classes");
                    self.classes.extend(map.iter().map(|class| {
                        u8::try_from(*class).expect("an operand place tells fewer than 256 states apart")
                    }));
                    start
                });
            }
            let mut cells = Vec::with_capacity(counts.iter().product());
            for a in 0..counts[0] {
                for b in 0..counts[1] {
                    cells.extend((0..counts[2]).map(|c| shape.cells[&[a as u16, b as u16, c as u16]]));
                }
            }
            let base = *known.entry((cells.clone(), offsets)).or_insert_with(|| {
                let start = self.cells.len() as u32;
                self.cells.extend_from_slice(&cells);
                start
            });
            let strides = [(counts[1] * counts[2]) as u16, counts[2] as u16, 1];
            self.ops.push(OpTable { arity: shape.arity as u8, base, maps: offsets, strides });
        }
        self.heads(flat, states);
        self.constants(flat, states);
        self.selection(flat, states);
    }

    fn heads(&mut self, flat: &Flat, states: &States) {
        for (&(op, packed), variants) in &states.variants {
            let sames = &flat.forms[&(op, packed)].sames;
            self.heads.push(Head {
                op,
                sig: unpack(packed),
                features: variants.features,
                same: self.sames.len() as u16,
                sames: sames.len() as u8,
                variants: self.variants.len() as u16,
            });
            self.sames.extend_from_slice(sames);
            self.variants.extend(variants.shapes.iter().map(|shape| *shape as u16));
        }
    }

    fn constants(&mut self, flat: &Flat, states: &States) {
        self.predicates = Predicate::ALL
            .into_iter()
            .filter(|predicate| flat.predicates.contains(&Some(*predicate)))
            .collect();
        let compact = |mask: u16| {
            let bit = |(at, predicate): (usize, &Predicate)| (mask as usize >> *predicate as usize & 1) << at;
            self.predicates.iter().enumerate().map(bit).sum::<usize>()
        };
        // ORDER TYPES: the types of values come first, so six rows are enough.
        let mut constants = vec![0; 6 << self.predicates.len()];
        for (&(ty, mask), &state) in &states.constants {
            constants[(ty as usize) << self.predicates.len() | compact(mask)] = state;
        }
        self.constants = constants;
    }

    /// Overlays the rows of the symbols (for each state, the rule that derives the symbol) wherever they have no entry in
    /// common. A look-up need not check whose entry it found: only symbols that a state has are ever looked up.
    fn selection(&mut self, flat: &Flat, states: &States) {
        for symbol in 0..flat.symbol_count() {
            let row: Vec<(usize, u16)> = states
                .states
                .iter()
                .enumerate()
                .filter(|(_, state)| state.costs[symbol] != NEVER && state.rules[symbol] != NO_RULE)
                .map(|(at, state)| (at, state.rules[symbol]))
                .collect();
            let fits = |offset: &usize| {
                row.iter().all(|(at, rule)| {
                    self.select.get(offset + at).is_none_or(|there| *there == NO_RULE || there == rule)
                })
            };
            let offset = (0..).find(fits).expect("there is room behind all rows");
            for (at, rule) in row {
                if self.select.len() <= offset + at {
                    self.select.resize(offset + at + 1, NO_RULE);
                }
                self.select[offset + at] = rule;
            }
            self.offsets.push(offset as u16);
        }
        // A look-up of a symbol that a state does not have is wrong, but must stay inside the table.
        let most = self.offsets.iter().copied().max().unwrap_or(0) as usize + states.states.len();
        self.select.resize(self.select.len().max(most), NO_RULE);
    }
}

impl Tables {
    /// A refusal for every form that a graph may contain and that has no tile, or none without some feature.
    fn uncovered(&self) -> Vec<Refusal> {
        let mut refusals = Vec::new();
        for (op, info) in self.vocab.iter() {
            // Block parameters are no instructions.
            if !info.props.contains(Props::GRAPH) || op == Op::PARAM {
                continue;
            }
            for sig in info.sigs() {
                for indirect in [false, true] {
                    if indirect && !info.calls_addresses() {
                        continue;
                    }
                    if let Some(without) = self.gap(op, sig, indirect) {
                        let form = form(self.vocab, op, sig, indirect);
                        let without = (!without.is_empty()).then(|| without.join(" or "));
                        let problem = Problem::Uncovered { form, without };
                        refusals.push(Refusal { rule: None, part: RulePart::Name, problem });
                    }
                }
            }
        }
        refusals
    }

    /// The CPU features whose lack leaves a form with operands in registers without a tile; `None` if it always has one.
    fn gap(&self, op: Op, sig: Sig, indirect: bool) -> Option<Vec<&str>> {
        let info = self.vocab.info(op);
        let result = Symbol::of(sig.ty) as usize;
        let has = |state: u16| self.states.states[state as usize].costs[result] != NEVER;
        if is_const(info) {
            let all = Predicate::masks(sig.ty).into_iter().all(|mask| {
                self.states.constants.get(&(sig.ty as u8, mask)).is_some_and(|state| has(*state))
            });
            return (!all).then(Vec::new);
        }
        let key = (op, super::flatten::pack(super::pattern::key(sig, indirect)));
        let Some(variants) = self.states.variants.get(&key) else { return Some(Vec::new()) };
        let mut operands = [0; MAX_ARITY];
        let kinds = matched(info).filter(|_| !info.is_call() || indirect);
        for (place, kind) in kinds.enumerate() {
            let symbol = Symbol::of(operand_type(info, kind, sig));
            operands[place] = LEAVES.iter().find(|(_, leaf)| *leaf == symbol)?.0;
        }
        for (at, shape) in variants.shapes.iter().enumerate() {
            let shape = &self.states.shapes[*shape];
            let class = |place: usize| {
                let projection = &self.states.projections[shape.operands[place]];
                if place < shape.arity { projection.class_of[operands[place] as usize] } else { 0 }
            };
            if has(shape.cells[&[class(0), class(1), class(2)]]) {
                continue;
            }
            let subset = at >> variants.sames;
            let bits = (0..32).filter(|bit| variants.features >> bit & 1 != 0);
            let missing = bits.enumerate().filter(|(position, _)| subset >> position & 1 == 0);
            return Some(missing.map(|(_, bit)| self.features[bit as usize].as_str()).collect());
        }
        None
    }

    /// Converts the tables to static data. The memory is leaked: this is for tests and tools.
    pub fn leak(&self, register: &dyn Fn(&str) -> Reg) -> TileSet {
        fn keep<T: Clone>(items: &[T]) -> &'static [T] {
            Vec::leak(items.to_vec())
        }
        let text = |text: &String| -> &'static str { String::leak(text.clone()) };
        let tiles: Vec<TileInfo> = self.tiles.iter().map(|plan| tile_info(plan, register)).collect();
        let features: Vec<&'static str> = self.features.iter().map(text).collect();
        TileSet {
            vocab: self.vocab,
            features: Vec::leak(features),
            tiles: Vec::leak(tiles),
            rules: keep(&self.rules),
            ops: keep(&self.ops),
            cells: keep(&self.cells),
            views: keep(&self.views),
            classes: keep(&self.classes),
            heads: keep(&self.heads),
            variants: keep(&self.variants),
            sames: keep(&self.sames),
            predicates: keep(&self.predicates),
            constants: keep(&self.constants),
            select: keep(&self.select),
            offsets: keep(&self.offsets),
            states: self.states.states.len() as u16,
        }
    }

    /// The symbols that can be derived in a state, except `any`, with their costs above the cheapest.
    pub fn offers(&self, state: usize) -> impl Iterator<Item = (u16, u16)> {
        let costs = self.states.states[state].costs.iter().enumerate();
        costs
            .filter(|(symbol, cost)| **cost != NEVER && *symbol != ANY as usize)
            .map(|(symbol, cost)| (symbol as u16, *cost))
    }
}

fn tile_info(plan: &Plan, register: &dyn Fn(&str) -> Reg) -> TileInfo {
    let constraint = |place: &Where| match place {
        Where::Reg => Constraint::Reg,
        Where::Any => Constraint::Any,
        Where::Fixed(name) => Constraint::Fixed(register(name)),
        Where::Tied(at) => Constraint::Tied(*at + 1),
    };
    let planned = |planned: &PlannedUse| RegisterUse {
        class: planned.class,
        role: if planned.late { Role::LateUse } else { Role::Use },
        constraint: constraint(&planned.place),
    };
    let uses: Vec<RegisterUse> = plan.uses.iter().map(planned).collect();
    let clobbers: Vec<Reg> = plan.clobbers.iter().map(|name| register(name)).collect();
    TileInfo {
        name: String::leak(plan.name.clone()),
        pattern: String::leak(plan.pattern.clone()),
        cost: plan.cost,
        result: plan.result,
        role: if plan.early { Role::EarlyDef } else { Role::Def },
        out: constraint(&plan.out),
        uses: Vec::leak(uses),
        imms: plan.imms,
        takes_flag: plan.takes_flag,
        temps: Vec::leak(plan.temps.clone()),
        clobbers: RegSet::of(&clobbers),
        entry: plan.entry,
        framed: plan.framed,
    }
}

/// A form as it is spelled in patterns.
pub fn form(vocab: Vocabulary, op: Op, sig: Sig, indirect: bool) -> String {
    use crate::vocab::op::Key;
    let info = vocab.info(op);
    let mut text = format!("({}", info.name);
    let types: &[Type] = match info.key {
        Key::Result => &[sig.ty],
        Key::Operand => &[sig.from],
        Key::Both { .. } => &[sig.from, sig.ty],
        Key::None => &[],
    };
    types.iter().for_each(|ty| text.push_str(&format!(".{ty}")));
    for kind in matched(info).filter(|_| !info.is_call() || indirect) {
        text.push_str(&format!(" {}", Symbol::of(operand_type(info, kind, sig))));
    }
    text.push(')');
    text
}
