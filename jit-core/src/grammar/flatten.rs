//! Flattens nested patterns into rules over symbols.
//!
//! Each operator below a pattern's root gets a symbol of its own, shared by all equal sub-patterns. The type of a
//! sub-pattern's result is not part of its symbol, since it follows from the operator above: `(load (addr reg))` under an
//! `add` of any width is one symbol. The operands' type is part of the symbol if the result does not determine it
//! (comparisons, conversions). A commuting operator yields two flat rules, the second with its operands swapped. Rules that
//! differ only in types become one flat rule too. Forms of operators with the same flat rules become one *shape*, and tables
//! are made for shapes.
//!
//! In `$p@… $p`, the second place becomes the symbol `any`, which every node has. The rule holds only in a variant of the
//! root's operator: the one for nodes in which both paths end at the same node.

use super::error::{MAX_VARIANTS, Problem, Refusal, RulePart};
use super::pattern::{Clause, Concrete, Grammar, Predicate, Symbol, concrete, has_imm, is_const};
use crate::vocab::{Op, Props, Sig, Type};
use std::collections::BTreeMap;

/// A symbol by number: the four of [`Symbol`], `any`, then one for each distinct sub-pattern.
pub type SymbolId = u16;
/// The symbol that matches every node.
pub const ANY: SymbolId = 4;
/// The first symbol that represents a sub-pattern.
pub const FIRST_SYNTHETIC: SymbolId = 5;
/// Replaces a tile's number in a rule that only derives a sub-pattern's symbol.
pub const NO_TILE: u16 = u16::MAX;
/// The greatest number of operands that patterns match.
pub const MAX_ARITY: usize = 3;

/// The form in which the emit function receives the constant of a node.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum ImmKind {
    /// The node has no constant.
    None,
    /// Unchanged.
    Plain,
    /// As a signed number of the node's type.
    Signed,
    /// As the address of the function that is called.
    Callee,
}

/// A rule over symbols.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, PartialOrd, Ord)]
pub struct FlatRule {
    /// The symbol that it derives.
    pub result: SymbolId,
    /// The tile that it belongs to, or [`NO_TILE`].
    pub tile: u16,
    /// Its cost without its operands.
    pub cost: u16,
    /// The number of operands.
    pub arity: u8,
    /// The symbols of the node's operands, in the node's order.
    pub children: [SymbolId; MAX_ARITY],
    /// The node's operands in the pattern's order.
    pub order: [u8; MAX_ARITY],
    /// The form of the node's constant.
    pub imm: ImmKind,
}

/// The two places of a `$p@… $p`, as paths of operand numbers from the root, terminated by [`Same::END`].
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, PartialOrd, Ord)]
pub struct Same {
    /// The place that binds the node.
    pub bound: [u8; Same::LENGTH],
    /// The place that must be the same node.
    pub again: [u8; Same::LENGTH],
}

impl Same {
    /// Terminates a path.
    pub const END: u8 = u8::MAX;
    /// The greatest length of a path, including its end.
    pub const LENGTH: usize = 6;
}

/// The sub-pattern that a symbol represents, for dumps and to find the symbol of an equal sub-pattern.
#[derive(Clone, PartialEq, Eq, Debug, Hash, PartialOrd, Ord)]
pub struct Synthetic {
    /// The operator.
    pub op: Op,
    /// The operands' type, if the operator's key depends on it.
    pub from: Type,
    /// The operands, in pattern order.
    pub children: Vec<SymbolId>,
    /// The operands' places; only if they may not be swapped.
    pub order: Option<Vec<u8>>,
    /// The predicate on a constant's value.
    pub predicate: Option<Predicate>,
}

/// A rule of one operator form, and its conditions.
#[derive(Clone, Debug)]
pub struct FormRule {
    /// In [`Flat::rules`].
    pub rule: u16,
    /// The CPU features it needs.
    pub needs: u32,
    /// The same-node conditions it needs, in [`Form::sames`].
    pub sames: u32,
    /// The predicate on a constant's value.
    pub predicate: Option<Predicate>,
}

/// An operator on certain types.
#[derive(Clone, Debug, Default)]
pub struct Form {
    /// The rules with this operator at their head.
    pub entries: Vec<FormRule>,
    /// The same-node conditions that some of the rules need.
    pub sames: Vec<Same>,
    /// The CPU features that some of the rules need.
    pub features: u32,
    /// The number of operands that are matched.
    pub arity: u8,
}

/// A flattened grammar.
#[derive(Clone, Debug)]
pub struct Flat {
    /// The sub-patterns that the symbols from [`FIRST_SYNTHETIC`] on represent.
    pub symbols: Vec<Synthetic>,
    /// Every flat rule. Rules that derive a tile's result are in the order of the tiles.
    pub rules: Vec<FlatRule>,
    /// The operator of each rule, for dumps.
    pub heads: Vec<Op>,
    /// The predicate of each rule, for dumps.
    pub predicates: Vec<Option<Predicate>>,
    /// The forms, by operator and types.
    pub forms: BTreeMap<(Op, u8), Form>,
}

impl Flat {
    /// The number of symbols.
    pub fn symbol_count(&self) -> usize {
        FIRST_SYNTHETIC as usize + self.symbols.len()
    }
}

/// Packs both types of a signature into one number.
#[inline]
pub const fn pack(sig: Sig) -> u8 {
    (sig.from as u8) << 3 | sig.ty as u8
}

/// The signature that [`pack`] packed.
pub const fn unpack(packed: u8) -> Sig {
    Sig { from: Type::ALL[(packed >> 3) as usize], ty: Type::ALL[(packed & 7) as usize] }
}

/// Flattens every rule of a grammar, or returns all refusals of their patterns.
pub fn flatten(grammar: &Grammar) -> Result<Flat, Vec<Refusal>> {
    let mut flattener = Flattener {
        grammar,
        flat: Flat {
            symbols: Vec::new(),
            rules: Vec::new(),
            heads: Vec::new(),
            predicates: Vec::new(),
            forms: BTreeMap::new(),
        },
        known_symbols: BTreeMap::new(),
        known_rules: BTreeMap::new(),
    };
    let mut refusals = Vec::new();
    for at in 0..grammar.rules.len() {
        if let Err(refusal) = flattener.rule(at) {
            refusals.push(refusal);
        }
    }
    if refusals.is_empty() { Ok(flattener.flat) } else { Err(refusals) }
}

/// A concrete node with its operands' places.
struct Placed<'a> {
    op: Op,
    sig: Sig,
    predicate: Option<Predicate>,
    children: Vec<(Option<&'a str>, Tree<'a>)>,
    /// For each child, in pattern order, the number of the node's operand that it matches.
    order: Vec<u8>,
    /// Whether the operands may be swapped: no same-node path leads through this node.
    free: bool,
}

enum Tree<'a> {
    Symbol(Symbol),
    Same(&'a str),
    Node(Box<Placed<'a>>),
}

struct Flattener<'a> {
    grammar: &'a Grammar,
    flat: Flat,
    known_symbols: BTreeMap<Synthetic, SymbolId>,
    known_rules: BTreeMap<(Op, FlatRule, Option<Predicate>), u16>,
}

impl Flattener<'_> {
    fn rule(&mut self, at: usize) -> Result<(), Refusal> {
        let rule = &self.grammar.rules[at];
        let refuse = |part, problem| Refusal { rule: Some(at), part, problem };
        let mut needs = 0;
        for (position, clause) in rule.clauses.iter().enumerate() {
            if let Clause::Needs(name) = clause {
                let Some(bit) = self.grammar.features.iter().position(|feature| feature == name) else {
                    return Err(refuse(RulePart::Clause(position), Problem::UnknownFeature(name.clone())));
                };
                needs |= 1 << bit;
            }
        }
        for (_, tree) in concrete(self.grammar, at)? {
            for placed in self.placements(&tree) {
                let Tree::Node(root) = placed else { unreachable!("a symbol is no pattern") };
                self.root(at, &root, needs)?;
            }
        }
        Ok(())
    }

    /// The trees that result from fixing the order of operands wherever a same-node path leads through, one for each order.
    fn placements<'t>(&self, tree: &'t Concrete) -> Vec<Tree<'t>> {
        match tree {
            Concrete::Symbol(symbol) => vec![Tree::Symbol(*symbol)],
            Concrete::Same(name) => vec![Tree::Same(name)],
            Concrete::Node { op, sig, children, predicate } => {
                let special = children.iter().any(|(bind, child)| bind.is_some() || has_same(child));
                let mut lists: Vec<Vec<(Option<&str>, Tree)>> = vec![Vec::new()];
                for (bind, child) in children {
                    // Trees are small: recomputing each choice is simpler than sharing them.
                    let choices = self.placements(child).len();
                    let mut longer = Vec::with_capacity(lists.len() * choices);
                    for choice in 0..choices {
                        for list in &lists {
                            let mut list: Vec<_> =
                                list.iter().map(|(bind, tree)| (*bind, tree.copy())).collect();
                            list.push((bind.as_deref(), self.placements(child).swap_remove(choice)));
                            longer.push(list);
                        }
                    }
                    lists = longer;
                }
                let commutes =
                    self.grammar.vocab.info(*op).props.contains(Props::COMMUTES) && children.len() == 2;
                let mut trees = Vec::new();
                for list in lists {
                    let orders: &[&[u8]] =
                        if special && commutes { &[&[0, 1], &[1, 0]] } else { &[&[0, 1, 2]] };
                    for order in orders {
                        trees.push(Tree::Node(Box::new(Placed {
                            op: *op,
                            sig: *sig,
                            predicate: *predicate,
                            children: list.iter().map(|(bind, tree)| (*bind, tree.copy())).collect(),
                            order: order[..children.len()].to_vec(),
                            free: !special,
                        })));
                    }
                }
                trees
            }
        }
    }

    fn root(&mut self, at: usize, root: &Placed, needs: u32) -> Result<(), Refusal> {
        let rule = &self.grammar.rules[at];
        let refuse = |problem| Refusal { rule: Some(at), part: RulePart::Name, problem };
        let name = || self.grammar.vocab.info(root.op).name.to_string();
        let result = rule.result as SymbolId;
        let entries = self.node(root, result, at as u16, rule.cost);
        let mut sames = Vec::new();
        let mut bound = Vec::new();
        find_sames(root, &mut Vec::new(), &mut bound, &mut sames);
        let constant = is_const(self.grammar.vocab.info(root.op));
        if constant && needs != 0 {
            return Err(refuse(Problem::FeatureOnConstant));
        }
        let form = self.flat.forms.entry((root.op, pack(root.sig))).or_default();
        form.arity = root.children.len() as u8;
        form.features |= needs;
        let mut conditions = 0;
        for same in sames {
            let position = form.sames.iter().position(|known| *known == same).unwrap_or_else(|| {
                form.sames.push(same);
                form.sames.len() - 1
            });
            conditions |= 1 << position;
        }
        if form.sames.len() > MAX_VARIANTS || form.features.count_ones() as usize > MAX_VARIANTS {
            return Err(refuse(Problem::TooManyVariants(name())));
        }
        for rule in entries {
            let entry = FormRule { rule, needs, sames: conditions, predicate: root.predicate };
            add_entry(form, entry);
        }
        Ok(())
    }

    /// The flat rules that derive `result` from a node: one rule, or two if the operands may be swapped.
    fn node(&mut self, node: &Placed, result: SymbolId, tile: u16, cost: u16) -> Vec<u16> {
        let info = self.grammar.vocab.info(node.op);
        let symbols: Vec<SymbolId> = node.children.iter().map(|(_, child)| self.symbol(child)).collect();
        let imm = if is_const(info) {
            ImmKind::Signed
        } else if info.is_call() {
            if symbols.is_empty() { ImmKind::Callee } else { ImmKind::None }
        } else if has_imm(info) {
            ImmKind::Plain
        } else {
            ImmKind::None
        };
        let mut rule = FlatRule {
            result,
            tile,
            cost,
            arity: symbols.len() as u8,
            children: [ANY; MAX_ARITY],
            order: [0; MAX_ARITY],
            imm,
        };
        for (position, (symbol, place)) in symbols.iter().zip(&node.order).enumerate() {
            rule.children[*place as usize] = *symbol;
            rule.order[position] = *place;
        }
        let mut rules = vec![self.intern(node.op, rule, node.predicate)];
        let commutes = info.props.contains(Props::COMMUTES) && symbols.len() == 2;
        if node.free && commutes && symbols[0] != symbols[1] {
            rule.children.swap(0, 1);
            rule.order.swap(0, 1);
            rules.push(self.intern(node.op, rule, node.predicate));
        }
        rules
    }

    /// The symbol of a sub-pattern. Adds its rules for the types that it has here, if they are new.
    fn symbol(&mut self, tree: &Tree) -> SymbolId {
        let node = match tree {
            Tree::Symbol(symbol) => return *symbol as SymbolId,
            Tree::Same(_) => return ANY,
            Tree::Node(node) => node,
        };
        let children = node.children.iter().map(|(_, child)| self.symbol(child)).collect();
        let key = Synthetic {
            op: node.op,
            from: node.sig.from,
            children,
            order: (!node.free).then(|| node.order.clone()),
            predicate: node.predicate,
        };
        let next = self.flat.symbol_count() as SymbolId;
        let symbol = *self.known_symbols.entry(key.clone()).or_insert_with(|| {
            self.flat.symbols.push(key);
            next
        });
        let rules = self.node(node, symbol, NO_TILE, 0);
        let form = self.flat.forms.entry((node.op, pack(node.sig))).or_default();
        form.arity = node.children.len() as u8;
        for rule in rules {
            add_entry(form, FormRule { rule, needs: 0, sames: 0, predicate: node.predicate });
        }
        symbol
    }

    fn intern(&mut self, op: Op, rule: FlatRule, predicate: Option<Predicate>) -> u16 {
        let flat = &mut self.flat;
        *self.known_rules.entry((op, rule, predicate)).or_insert_with(|| {
            flat.rules.push(rule);
            flat.heads.push(op);
            flat.predicates.push(predicate);
            (flat.rules.len() - 1) as u16
        })
    }
}

impl<'a> Tree<'a> {
    fn copy(&self) -> Tree<'a> {
        match self {
            Tree::Symbol(symbol) => Tree::Symbol(*symbol),
            Tree::Same(name) => Tree::Same(name),
            Tree::Node(node) => Tree::Node(Box::new(Placed {
                op: node.op,
                sig: node.sig,
                predicate: node.predicate,
                children: node.children.iter().map(|(bind, tree)| (*bind, tree.copy())).collect(),
                order: node.order.clone(),
                free: node.free,
            })),
        }
    }
}

fn add_entry(form: &mut Form, entry: FormRule) {
    let known = |other: &FormRule| {
        other.rule == entry.rule && other.needs == entry.needs && other.sames == entry.sames
    };
    if !form.entries.iter().any(known) {
        form.entries.push(entry);
    }
}

fn has_same(tree: &Concrete) -> bool {
    match tree {
        Concrete::Symbol(_) => false,
        Concrete::Same(_) => true,
        Concrete::Node { children, .. } => {
            children.iter().any(|(bind, child)| bind.is_some() || has_same(child))
        }
    }
}

fn find_sames<'t>(
    node: &Placed<'t>,
    path: &mut Vec<u8>,
    bound: &mut Vec<(&'t str, [u8; Same::LENGTH])>,
    sames: &mut Vec<Same>,
) {
    for ((bind, child), place) in node.children.iter().zip(&node.order) {
        path.push(*place);
        let mut closed = [Same::END; Same::LENGTH];
        // Patterns are checked to be less deep than the greatest length of a path.
        closed[..path.len().min(Same::LENGTH - 1)].copy_from_slice(&path[..path.len().min(Same::LENGTH - 1)]);
        bound.extend(bind.map(|name| (name, closed)));
        match child {
            Tree::Symbol(_) => {}
            Tree::Same(name) => {
                let binding = bound.iter().find(|(known, _)| known == name);
                let (_, at) = binding.expect("checked to be bound before");
                sames.push(Same { bound: *at, again: closed });
            }
            Tree::Node(child) => find_sames(child, path, bound, sames),
        }
        path.pop();
    }
}
