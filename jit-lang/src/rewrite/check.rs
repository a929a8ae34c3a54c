//! Type inference and all checks for a rewrite rule.
//!
//! In: a row as written. Out: a [`Rule`] in which every node has its two types, as terms over the rule's type
//! variables, and the list of type assignments under which both sides are legal. Operators, their operands
//! and legal types come from the vocabulary's table.

use super::ast::{FunctionCall, Literal, RuleRow, Term};
use super::rule::{
    BoundConstant, Built, Matched, MatchedConstant, MatchedNode, Rule, TypeVar, Value, count_leaves, forms,
    rename_built, rename_matched, rename_value,
};
use crate::pattern::{self, Node, TYPES, TypeTerm};
use crate::place::{Errors, Place};
use crate::token::Leaf;
use crate::words::did_you_mean;
use azulejo_core::grammar::Predicate;
use azulejo_core::vocab::op::{Key, Kind, Param, Props, Yields};
use azulejo_core::vocab::{Op, OpInfo, Sig, Type, Vocabulary};

const FLAG: u8 = 1 << Type::Flag as u8;
const VOID: u8 = 1 << Type::Void as u8;
const INTS: u8 = 0b1111;
const FLOATS: u8 = 0b11_0000;
const VALUES: u8 = INTS | FLOATS;
/// The predicates that a pattern may apply to a constant.
const PREDICATES: [Predicate; 8] = [
    Predicate::Zero,
    Predicate::One,
    Predicate::MinusOne,
    Predicate::Pow2,
    Predicate::Imm8,
    Predicate::Imm32,
    Predicate::Uimm32,
    Predicate::Scale,
];

struct RuleChecker<'a> {
    errors: &'a mut Errors,
    n_errors: usize,
    /// For each type variable, the set of types it may be, or the variable it was unified with.
    types: Vec<Result<u8, TypeVar>>,
    named_types: Vec<(String, TypeVar)>,
    leaves: Vec<(String, TypeVar)>,
    constants: Vec<(String, BoundConstant)>,
    captures: Vec<(String, TypeVar)>,
    /// The signatures that must be legal: those of the left side, and those of the right side.
    nodes: [Vec<(Op, TypeVar, TypeVar)>; 2],
    is_right: bool,
}

/// Checks a row. Returns `None` if it has an error.
pub fn check(row: &RuleRow, errors: &mut Errors) -> Option<Rule> {
    let n_errors = errors.0.len();
    let mut checker = RuleChecker {
        errors,
        n_errors,
        types: Vec::new(),
        named_types: Vec::new(),
        leaves: Vec::new(),
        constants: Vec::new(),
        captures: Vec::new(),
        nodes: [Vec::new(), Vec::new()],
        is_right: false,
    };
    checker.rule(row)
}

impl RuleChecker<'_> {
    fn rule(&mut self, row: &RuleRow) -> Option<Rule> {
        let result = self.fresh(u8::MAX);
        let left = self.matched_node(&row.left, result)?;
        let root = BUILTIN.info(left.op);
        self.is_right = true;
        let right = self.built(&row.right, result);
        let conditions: Vec<Value> =
            row.conditions.iter().filter_map(|condition| self.call(condition, result)).collect();
        let right = right?;
        let in_place = !root.props.contains(Props::PURE);
        if in_place {
            let is_same = matches!(&right, Built::Node { op, imm: None, .. } if *op == left.op);
            if !is_same {
                let message = format!(
                    "`{0}` has an effect: a rule may give it other operands, `=> ({0} …)`, but not replace it",
                    root.name
                );
                self.errors.add(row.left.operator.place, message);
            }
        }
        if root.props.contains(Props::ENDS) {
            self.errors
                .add(row.left.operator.place, format!("`{}` ends a block and has no rules", root.name));
        }
        if self.errors.0.len() > self.n_errors {
            return None;
        }
        self.finish(row, left, right, conditions, in_place)
    }

    fn finish(
        &mut self,
        row: &RuleRow,
        left: MatchedNode,
        right: Built,
        conditions: Vec<Value>,
        in_place: bool,
    ) -> Option<Rule> {
        // Only representatives remain after unification; they are renumbered in order.
        let roots: Vec<TypeVar> = (0..self.types.len()).filter(|var| self.types[*var].is_ok()).collect();
        let number = |var: TypeVar| roots.binary_search(&var).expect("every variable has a root");
        let renumber: Vec<usize> = (0..self.types.len()).map(|var| number(self.root(var))).collect();
        let used: Vec<bool> = self.used_types(&roots, &renumber);
        for (at, _) in used.iter().enumerate().filter(|(_, used)| !**used) {
            // A type variable of the right side that the pattern does not bind.
            if !is_single(self.types[roots[at]].unwrap_or(0)) {
                let message =
                    "the types of the right side do not follow from the pattern: write them, `(op.type …)`";
                self.errors.add(row.right.place(), message);
                return None;
            }
        }
        let assignments = self.assignments(&roots, &renumber, in_place);
        if assignments.is_empty() {
            self.errors.add(
                row.left.operator.place,
                "there are no types for which both sides mean something and the right one cannot trap",
            );
            return None;
        }
        let rename = |var: TypeVar| renumber[var];
        let left = rename_matched(Matched::Node(left), &rename);
        let right = rename_built(right, &rename);
        let conditions = conditions.into_iter().map(|value| rename_value(value, &rename)).collect();
        let constants =
            self.constants.iter().map(|(_, constant)| BoundConstant { ty: rename(constant.ty), ..*constant });
        Some(Rule {
            text: row.to_string(),
            forms: forms(&left, &count_leaves(&left, self.leaves.len())),
            right,
            conditions,
            n_types: roots.len(),
            assignments,
            leaves: self.leaves.iter().map(|(_, ty)| rename(*ty)).collect(),
            constants: constants.collect(),
            in_place,
        })
    }

    /// For each type variable, whether the left side binds it.
    fn used_types(&self, roots: &[TypeVar], renumber: &[usize]) -> Vec<bool> {
        let mut used = vec![false; roots.len()];
        for (_, from, ty) in &self.nodes[0] {
            used[renumber[*from]] = true;
            used[renumber[*ty]] = true;
        }
        used
    }

    fn assignments(&self, roots: &[TypeVar], renumber: &[usize], in_place: bool) -> Vec<Vec<Type>> {
        let mut all = vec![Vec::new()];
        for root in roots {
            let set = self.types[*root].unwrap_or(0);
            let members = Type::ALL.into_iter().filter(|ty| set & (1 << *ty as u8) != 0);
            let members: Vec<Type> = members.collect();
            all =
                all.iter().flat_map(|start| members.iter().map(|ty| [&start[..], &[*ty]].concat())).collect();
        }
        let is_legal = |types: &[Type], (op, from, ty): &(Op, TypeVar, TypeVar), must_be_pure: bool| {
            let sig = Sig { from: types[renumber[*from]], ty: types[renumber[*ty]] };
            let info = BUILTIN.info(*op);
            (info.allows(sig) || (*op == Op::CONST && sig.ty == Type::Flag))
                && (!must_be_pure || info.is_pure(sig))
        };
        all.retain(|types| {
            let left = self.nodes[0].iter().all(|node| is_legal(types, node, false));
            // The root of a rule in place is the first node of its right side.
            let mut right = self.nodes[1].iter().enumerate();
            left && right.all(|(at, node)| is_legal(types, node, !(in_place && at == 0)))
        });
        all
    }

    fn fresh(&mut self, set: u8) -> TypeVar {
        self.types.push(Ok(set));
        self.types.len() - 1
    }

    fn root(&self, mut var: TypeVar) -> TypeVar {
        while let Err(next) = self.types[var] {
            var = next;
        }
        var
    }

    fn set(&self, var: TypeVar) -> u8 {
        self.types[self.root(var)].unwrap_or(0)
    }

    fn unify(&mut self, a: TypeVar, b: TypeVar, place: Place) {
        let (a, b) = (self.root(a), self.root(b));
        if a == b {
            return;
        }
        let both = self.set(a) & self.set(b);
        if both == 0 {
            let message = format!("expected {}, found {}", describe(self.set(a)), describe(self.set(b)));
            self.errors.add(place, message);
            return;
        }
        // The older variable becomes the representative, so that those of the pattern keep their order.
        let (kept, gone) = (a.min(b), a.max(b));
        self.types[gone] = Err(kept);
        self.types[kept] = Ok(both);
    }

    fn named_type(&mut self, term: &TypeTerm) -> TypeVar {
        let set = term.names.iter().fold(0, |set, name| set | self.class(name));
        let set = if term.names.is_empty() { u8::MAX } else { set };
        let Some(name) = &term.variable else { return self.fresh(set) };
        if let Some((_, known)) = self.named_types.iter().find(|(known, _)| name.text == *known) {
            let known = *known;
            let here = self.fresh(set);
            self.unify(known, here, name.place);
            return known;
        }
        if self.is_right {
            self.errors.add(name.place, format!("the pattern has no type `${name}`"));
        }
        let var = self.fresh(set);
        self.named_types.push((name.text.clone(), var));
        var
    }

    fn class(&mut self, name: &Leaf) -> u8 {
        pattern::types(name).unwrap_or_else(|| {
            self.errors.add(name.place, format!("there is no type `{name}`; there are {TYPES}"));
            u8::MAX
        })
    }

    /// Resolves an operator. Returns its two types and the type of each operand.
    fn operator(
        &mut self,
        node: &Node<Term>,
        result: TypeVar,
    ) -> Option<(Op, TypeVar, TypeVar, Vec<TypeVar>)> {
        let place = node.operator.place;
        let name = &node.operator.text;
        let is_known = |info: &OpInfo| {
            info.props.contains(Props::GRAPH) && !info.props.intersects(Props::STENCIL | Props::CALLED)
        };
        let Some(op) = BUILTIN.find(name).filter(|op| is_known(BUILTIN.info(*op))) else {
            let known = BUILTIN.iter().filter(|(_, info)| is_known(info)).map(|(_, info)| info.name);
            let hint = did_you_mean(name, known);
            self.errors.add(place, format!("there is no operator `{name}` in graphs{hint}"));
            return None;
        };
        let info = BUILTIN.info(op);
        if info.is_call() || op == Op::PARAM {
            self.errors.add(place, format!("`{name}` has no rules: its operands are not fixed"));
            return None;
        }
        let named: Vec<TypeVar> = node.types.iter().map(|term| self.named_type(term)).collect();
        let sets = if op == Op::CONST { VALUES | FLAG } else { info.types.0 };
        let fixed = match info.yields {
            Yields::Flag => FLAG,
            Yields::Ptr => 1 << Type::I64 as u8,
            _ => VOID,
        };
        let (from, ty, n_named) = match info.key {
            Key::None => (VOID, fixed, 0),
            Key::Result => (VOID, sets, 1),
            Key::Operand => (sets, fixed, 1),
            Key::Both { .. } => (VALUES, VALUES, 2),
        };
        let (from, ty) = (self.fresh(from), self.fresh(ty));
        match (info.key, &named[..]) {
            (_, []) => {}
            (Key::Result, [named]) => self.unify(ty, *named, place),
            (Key::Operand, [named]) => self.unify(from, *named, place),
            (Key::Both { .. }, [first, second]) => {
                self.unify(from, *first, place);
                self.unify(ty, *second, place);
            }
            _ => self.errors.add(place, format!("`{name}` takes {n_named} types, not {}", named.len())),
        }
        self.unify(result, ty, place);
        let operating = if matches!(info.key, Key::Result | Key::None) { ty } else { from };
        let mut operands = Vec::new();
        for kind in info.operands {
            match kind {
                Kind::Same | Kind::Value => operands.push(operating),
                Kind::Ptr | Kind::Word => operands.push(self.fresh(1 << Type::I64 as u8)),
                Kind::Flag => operands.push(self.fresh(FLAG)),
                Kind::Void | Kind::Label | Kind::Args | Kind::Arg => {}
            }
        }
        self.nodes[self.is_right as usize].push((op, from, ty));
        let n_params = info.params.iter().filter(|param| **param != Param::Type).count();
        if node.operands.len() != operands.len() + n_params {
            let message = format!(
                "`{name}` has {} operands and {n_params} constants, not {} in all",
                operands.len(),
                node.operands.len()
            );
            self.errors.add(place, message);
            return None;
        }
        Some((op, from, ty, operands))
    }

    fn matched_node(&mut self, node: &Node<Term>, result: TypeVar) -> Option<MatchedNode> {
        let (op, from, ty, kinds) = self.operator(node, result)?;
        let (operands, constant) = node.operands.split_at(kinds.len());
        let operands: Vec<Option<Matched>> =
            core::iter::zip(operands, kinds).map(|(term, ty)| self.matched(term, ty)).collect();
        let imm = match constant {
            [] => None,
            [term, ..] => {
                let param = BUILTIN.info(op).params.iter().copied().find(|param| *param != Param::Type);
                let param = param.filter(|_| op != Op::CONST);
                let ty = if op == Op::CONST { ty } else { self.fresh(1 << Type::I64 as u8) };
                Some(self.matched_constant(term, BoundConstant { ty, param })?)
            }
        };
        let mut operands: Vec<Matched> = operands.into_iter().collect::<Option<_>>()?;
        let is_const = |matched: &Matched| matches!(matched, Matched::Node(node) if node.op == Op::CONST);
        if let [a, b] = &operands[..]
            && BUILTIN.info(op).props.contains(Props::COMMUTES)
            && is_const(a)
            && !is_const(b)
        {
            // The pass puts the constants of commutative operators on the right.
            operands.swap(0, 1);
        }
        Some(MatchedNode { op, from, ty, operands, imm, capture: None })
    }

    fn matched(&mut self, term: &Term, ty: TypeVar) -> Option<Matched> {
        match term {
            Term::Any(_) => {
                self.leaves.push((String::new(), ty));
                Some(Matched::Leaf { number: self.leaves.len() - 1, must_vary: false })
            }
            Term::Node(node) => self.matched_node(node, ty).map(Matched::Node),
            Term::Variable { name, predicate, node: None } => {
                let must_vary = predicate.as_ref().is_some_and(|predicate| predicate.text == "variable");
                if let Some(predicate) = predicate.as_ref().filter(|_| !must_vary) {
                    let message = format!(
                        "of a value there is the predicate `variable` only; of a constant: `(const ${name}:{predicate})`"
                    );
                    self.errors.add(predicate.place, message);
                }
                let text = name.text.clone();
                if let Some(number) = self.leaves.iter().position(|(known, _)| *known == text) {
                    self.unify(self.leaves[number].1, ty, name.place);
                    return Some(Matched::Leaf { number, must_vary });
                }
                self.leaves.push((text, ty));
                Some(Matched::Leaf { number: self.leaves.len() - 1, must_vary })
            }
            Term::Variable { name, node: Some(node), .. } => {
                let mut matched = self.matched_node(node, ty)?;
                matched.capture = Some(self.captures.len());
                self.captures.push((name.to_string(), ty));
                Some(Matched::Node(matched))
            }
            Term::Literal { place, .. } => {
                self.errors.add(*place, "a number is a constant: write `(const …)`");
                None
            }
            Term::Call(call) => {
                self.errors.add(call.place, "a function may stand on the right side and in conditions only");
                None
            }
        }
    }

    fn matched_constant(&mut self, term: &Term, constant: BoundConstant) -> Option<MatchedConstant> {
        match term {
            Term::Any(_) => {
                self.constants.push((String::new(), constant));
                Some(MatchedConstant::Any(self.constants.len() - 1))
            }
            Term::Literal { value, place, .. } => {
                self.literal(*value, constant.ty, *place);
                Some(MatchedConstant::Is(*value))
            }
            Term::Variable { name, predicate, node: None } => {
                let known = |name: &Leaf| PREDICATES.into_iter().find(|known| known.name() == name.text);
                if let Some(unknown) = predicate.as_ref().filter(|name| known(name).is_none()) {
                    let names = PREDICATES.map(Predicate::name).join(" ");
                    let message = format!("there is no predicate `{unknown}`; there are {names}");
                    self.errors.add(unknown.place, message);
                }
                let text = name.text.clone();
                let predicate = predicate.as_ref().and_then(known);
                if let Some(number) = self.constants.iter().position(|(known, _)| *known == text) {
                    self.unify(self.constants[number].1.ty, constant.ty, name.place);
                    return Some(MatchedConstant::Bind { number, predicate });
                }
                self.constants.push((text, constant));
                let number = self.constants.len() - 1;
                Some(MatchedConstant::Bind { number, predicate })
            }
            other => {
                self.errors
                    .add(other.place(), "expected a constant: `$name`, `$name:predicate`, a number or `_`");
                None
            }
        }
    }

    /// A literal denotes different values in different type classes, so it fixes the class.
    fn literal(&mut self, value: Literal, ty: TypeVar, place: Place) {
        let set = if matches!(value, Literal::Float(_)) { FLOATS } else { INTS | FLAG };
        let class = self.fresh(set);
        self.unify(ty, class, place);
    }

    fn built(&mut self, term: &Term, ty: TypeVar) -> Option<Built> {
        match term {
            Term::Variable { name, predicate: None, node: None } => {
                let text = name.text.clone();
                if let Some(at) = self.leaves.iter().position(|(known, _)| *known == text) {
                    self.unify(ty, self.leaves[at].1, name.place);
                    return Some(Built::Leaf(at));
                }
                if let Some(at) = self.captures.iter().position(|(known, _)| *known == text) {
                    self.unify(ty, self.captures[at].1, name.place);
                    return Some(Built::Capture(at));
                }
                let message = match self.constants.iter().any(|(known, _)| *known == text) {
                    true => format!("`${name}` is a number: write `(const ${name})`"),
                    false => format!("the pattern has no `${name}`"),
                };
                self.errors.add(name.place, message);
                None
            }
            Term::Node(node) if node.operator.text == "const" => {
                let (_, _, ty, _) = self.operator(node, ty)?;
                if let Term::Literal { value, place, .. } = &node.operands[0] {
                    self.literal(*value, ty, *place);
                }
                let value = self.value(&node.operands[0], ty)?;
                Some(Built::Constant { ty, value })
            }
            Term::Node(node) => {
                let (op, from, ty, kinds) = self.operator(node, ty)?;
                let (operands, constant) = node.operands.split_at(kinds.len());
                let operands: Vec<Option<Built>> =
                    core::iter::zip(operands, kinds).map(|(term, ty)| self.built(term, ty)).collect();
                let imm = match constant.first() {
                    Some(term) => Some(self.value(term, ty)?),
                    None => None,
                };
                let operands = operands.into_iter().collect::<Option<_>>()?;
                Some(Built::Node { op, from, ty, operands, imm })
            }
            Term::Call(call) => {
                self.errors.add(call.place, "a function gives a number: write `(const (&function …))`");
                None
            }
            Term::Literal { place, .. } => {
                self.errors.add(*place, "a number is a constant: write `(const …)`");
                None
            }
            other => {
                self.errors.add(other.place(), "the right side names what the pattern bound: `$name`");
                None
            }
        }
    }

    fn value(&mut self, term: &Term, ty: TypeVar) -> Option<Value> {
        match term {
            Term::Literal { value, .. } => Some(Value::Literal(*value)),
            Term::Call(call) => self.call(call, ty),
            Term::Variable { name, predicate: None, node: None } => {
                let text = name.text.clone();
                if let Some(at) = self.constants.iter().position(|(known, _)| *known == text) {
                    return Some(Value::Constant(at));
                }
                if let Some((_, ty)) = self.named_types.iter().find(|(known, _)| *known == text) {
                    return Some(Value::Type(*ty));
                }
                let message = match self.leaves.iter().any(|(known, _)| *known == text) {
                    true => format!(
                        "`${name}` is not known before the code runs; a function takes constants and types"
                    ),
                    false => format!("the pattern has no constant and no type `${name}`"),
                };
                self.errors.add(name.place, message);
                None
            }
            other => {
                self.errors.add(other.place(), "expected a constant, a type, a number or `(&function …)`");
                None
            }
        }
    }

    fn call(&mut self, call: &FunctionCall, ty: TypeVar) -> Option<Value> {
        let arguments: Vec<Option<Value>> = call.arguments.iter().map(|term| self.value(term, ty)).collect();
        Some(Value::Call {
            path: call.path.clone(),
            arguments: arguments.into_iter().collect::<Option<_>>()?,
        })
    }
}

const BUILTIN: Vocabulary = Vocabulary::BUILTIN;

fn is_single(set: u8) -> bool {
    set.is_power_of_two()
}

fn describe(set: u8) -> String {
    let members: Vec<&str> =
        Type::ALL.into_iter().filter(|ty| set & (1 << *ty as u8) != 0).map(Type::name).collect();
    members.join(" or ")
}
