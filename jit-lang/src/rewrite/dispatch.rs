//! Decision trees that select the rules to try at a node.
//!
//! In: checked rules. Out: for each operator that is the root of a rule, a tree that branches on the operators of the operands.
//! Only rules whose two upper levels match the graph are tried, in source order.

use super::rule::{Matched, MatchedNode, Rule};
use azulejo_core::vocab::Op;
use std::collections::BTreeMap;

/// A form of a rule: the rule's index, and the form's index within the rule.
pub type Form = (usize, usize);

/// The decision tree below a root whose operator is known.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Dispatch {
    /// Tries these forms in order.
    Try(Vec<Form>),
    /// Branches on the operator of an operand.
    Branch {
        /// The operand's index.
        operand: usize,
        /// The subtrees, each for one operator.
        arms: Vec<(Op, Dispatch)>,
        /// The subtree for all other operators.
        otherwise: Box<Dispatch>,
    },
}

/// The decision trees, sorted by the number of the root's operator.
pub fn dispatch(rules: &[Rule]) -> Vec<(Op, Dispatch)> {
    let mut groups: BTreeMap<Op, Vec<(Form, &MatchedNode)>> = BTreeMap::new();
    for (number, rule) in rules.iter().enumerate() {
        for (at, form) in rule.forms.iter().enumerate() {
            let Matched::Node(root) = form else { unreachable!("a rule's root is a node") };
            groups.entry(root.op).or_default().push(((number, at), root));
        }
    }
    let of_group = |(op, group): (Op, Vec<(Form, &MatchedNode)>)| {
        let n_operands = group[0].1.operands.len();
        (op, branch(&group, 0, n_operands))
    };
    groups.into_iter().map(of_group).collect()
}

fn branch(group: &[(Form, &MatchedNode)], at: usize, n_operands: usize) -> Dispatch {
    if at == n_operands || group.is_empty() {
        return Dispatch::Try(group.iter().map(|(form, _)| *form).collect());
    }
    let wanted = |root: &MatchedNode| match &root.operands[at] {
        Matched::Leaf { .. } => None,
        Matched::Node(node) => Some(node.op),
    };
    let mut ops: Vec<Op> = group.iter().filter_map(|(_, root)| wanted(root)).collect();
    ops.sort_unstable();
    ops.dedup();
    let rest = |op: Option<Op>| {
        let fits = |root: &MatchedNode| wanted(root).is_none() || wanted(root) == op;
        let group: Vec<_> = group.iter().copied().filter(|(_, root)| fits(root)).collect();
        branch(&group, at + 1, n_operands)
    };
    let otherwise = rest(None);
    if ops.is_empty() {
        return otherwise;
    }
    let arms = ops.iter().map(|op| (*op, rest(Some(*op)))).collect();
    Dispatch::Branch { operand: at, arms, otherwise: Box::new(otherwise) }
}
