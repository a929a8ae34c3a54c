//! Which rules are to be tried at a node.
//!
//! In: checked rules. Out: for each operator that roots have a tree that branches on the operators of the operands, so that only
//! rules whose two upper levels agree with the graph are tried, in the order in which they are written.

use super::check::{Matched, MatchedNode, Rule};
use azulejo_core::vocab::Op;
use std::collections::BTreeMap;

/// A form of a rule: the rule's number, and the form's among those of the rule.
pub type Form = (usize, usize);

/// What is tried where the root's operator is known.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Dispatch {
    /// These forms, one after the other.
    Try(Vec<Form>),
    /// What the operator of an operand says.
    Branch {
        /// Which operand.
        operand: usize,
        /// What is tried if it has one of these operators.
        arms: Vec<(Op, Dispatch)>,
        /// What is tried if it has another one.
        otherwise: Box<Dispatch>,
    },
}

/// What is tried at the nodes of each operator, in the order of the operators' numbers.
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
