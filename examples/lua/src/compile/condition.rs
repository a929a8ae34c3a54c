//! Conditions as jumps.
//!
//! In: an expression, and whether to jump if it is true or if it is false. Out: jumps whose targets are set later. `and`, `or`, `not`
//! and comparisons make no values. Where the value itself is wanted, as that of the left operand of `or` is if it is true, it is made on
//! the ways on which it has that truth, and on no other.

use super::Builder;
use super::expression::Operand;
use crate::object::value::{FALSE, NIL, TRUE, Value};
use crate::run::bytecode::Op;
use crate::syntax::ast::{BinaryOp, Expr, Line, Operation, UnaryOp};
use azulejo::{Imm, Label, Site};

/// A target that is set later.
pub(super) const LATER: Label = Label(u32::MAX);

/// A comparison of which the result decides a jump.
#[derive(Clone, Copy)]
pub(super) struct Comparison<'e> {
    op: BinaryOp,
    line: Line,
    right: &'e Expr<'e>,
}

impl<'e> Comparison<'e> {
    /// What an operation compares with, if it does.
    fn of(operation: &'e Operation) -> Option<Self> {
        let Operation { op, line, right } = operation;
        is_comparison(*op).then_some(Comparison { op: *op, line: *line, right })
    }
}

impl Builder<'_> {
    /// Jumps if an expression is true, or if it is false; returns the jumps, which go nowhere yet.
    pub(super) fn jump(&mut self, expr: &Expr, if_true: bool) -> Vec<usize> {
        if self.is_too_complex() {
            return Vec::new();
        }
        match expr {
            Expr::Paren(inner) => self.jump(inner, if_true),
            Expr::Nil | Expr::Bool(false) => self.jump_always(!if_true),
            Expr::Bool(true) | Expr::Number(_) | Expr::String(_) | Expr::Function(_) => {
                self.jump_always(if_true)
            }
            Expr::Unary(UnaryOp::Not, inner, _) => self.jump(inner, !if_true),
            Expr::Binary(first, rest) => self.jump_operations(first, rest, if_true),
            _ => self.jump_value(expr, if_true),
        }
    }

    fn jump_always(&mut self, does: bool) -> Vec<usize> {
        if does { vec![self.emit(Op::Jump { to: LATER })] } else { Vec::new() }
    }

    fn jump_value(&mut self, expr: &Expr, if_true: bool) -> Vec<usize> {
        self.scratch(|builder| {
            let a = builder.any(expr);
            vec![builder.jump_register(a, if_true)]
        })
    }

    /// Jumps if a register has something true, or something false.
    pub(super) fn jump_register(&mut self, register: u32, if_true: bool) -> usize {
        let (a, to) = (register.into(), LATER);
        self.emit(if if_true { Op::JumpIfTrue { a, to } } else { Op::JumpIfFalse { a, to } })
    }

    /// Jumps on what operations of one level give. A chain is done from its start: its length is no depth.
    pub(super) fn jump_operations(&mut self, first: &Expr, rest: &[Operation], if_true: bool) -> Vec<usize> {
        let (before, logical) = rest.split_at(behind_last(rest, |op| !is_logical(op)));
        // Of what is left of `or` matters whether it is true, of what is left of `and` whether it is false.
        let wanted = |at: usize| logical.get(at).map_or(if_true, |next| next.op == BinaryOp::Or);
        let mut jumps = self.jump_before(first, before, wanted(0));
        for (at, operation) in logical.iter().enumerate() {
            let more = self.jump(&operation.right, wanted(at + 1));
            if wanted(at + 1) == wanted(at) {
                jumps.extend(more);
            } else {
                self.land(jumps);
                jumps = more;
            }
        }
        jumps
    }

    /// The same, if the last one is neither `and` nor `or`.
    fn jump_before(&mut self, first: &Expr, before: &[Operation], if_true: bool) -> Vec<usize> {
        let Some((last, others)) = before.split_last() else { return self.jump(first, if_true) };
        self.scratch(|builder| {
            let Some(comparison) = Comparison::of(last) else {
                let left = builder.take(1);
                builder.put_operations(left, first, before);
                return vec![builder.jump_register(left, if_true)];
            };
            if others.is_empty() {
                return builder.jump_compared(first, comparison, if_true);
            }
            let left = builder.take(1);
            let compared = others.iter().position(|operation| is_comparison(operation.op));
            let (start, compared) = others.split_at(compared.map_or(others.len(), |at| at + 1));
            builder.put_operations(left, first, start);
            for comparison in compared.iter().filter_map(Comparison::of) {
                let failed =
                    builder.scratch(|builder| builder.jump_comparison(Operand::In(left), comparison, false));
                builder.put_either_truth(left, vec![failed]);
            }
            vec![builder.jump_comparison(Operand::In(left), comparison, if_true)]
        })
    }

    /// Jumps with an expression's value in a register if that is true, or if it is false; returns the jumps. Otherwise control goes on
    /// with something or other in the register, which is no variable's.
    fn put_if(&mut self, dst: u32, expr: &Expr, wanted: bool) -> Vec<usize> {
        if self.is_too_complex() {
            return Vec::new();
        }
        match expr {
            Expr::Paren(inner) if !inner.is_multiple() => self.put_if(dst, inner, wanted),
            Expr::Nil | Expr::Bool(false) if wanted => Vec::new(),
            Expr::Bool(true) | Expr::Number(_) | Expr::String(_) | Expr::Function(_) if !wanted => Vec::new(),
            Expr::Nil | Expr::Bool(_) | Expr::Number(_) | Expr::String(_) | Expr::Function(_) => {
                self.put(dst, expr);
                vec![self.jump_later()]
            }
            Expr::Unary(UnaryOp::Not, inner, _) => {
                let others = self.jump(inner, wanted);
                self.put_truth(dst, wanted, others)
            }
            Expr::Binary(first, rest) => self.put_operations_if(dst, first, rest, wanted),
            _ => {
                self.put(dst, expr);
                vec![self.jump_register(dst, wanted)]
            }
        }
    }

    /// The same, with what operations of one level give.
    pub(super) fn put_operations_if(
        &mut self,
        dst: u32,
        first: &Expr,
        rest: &[Operation],
        wanted: bool,
    ) -> Vec<usize> {
        // Either operand of these may be the value.
        let may_be = |op| is_logical(op) && wanted == (op == BinaryOp::Or);
        let (rest, either) = rest.split_at(behind_last(rest, |op| !may_be(op)));
        let mut ends = self.put_last_if(dst, first, rest, wanted);
        for operation in either {
            ends.extend(self.put_if(dst, &operation.right, wanted));
        }
        ends
    }

    /// The same, if the left operand of the last one is not the value, or is no value that it could be.
    fn put_last_if(&mut self, dst: u32, first: &Expr, rest: &[Operation], wanted: bool) -> Vec<usize> {
        let Some((last, before)) = rest.split_last() else { return self.put_if(dst, first, wanted) };
        match last.op {
            BinaryOp::And | BinaryOp::Or => {
                // If the left operand is the value, its truth is not the one that is wanted.
                let others = self.jump_operations(first, before, !wanted);
                let ends = self.put_if(dst, &last.right, wanted);
                self.land(others);
                ends
            }
            op if is_comparison(op) => {
                let others = self.jump_operations(first, rest, !wanted);
                self.put_truth(dst, wanted, others)
            }
            _ => {
                self.put_operations(dst, first, rest);
                vec![self.jump_register(dst, wanted)]
            }
        }
    }

    /// Jumps with `true` or `false` in a register; other jumps land behind that.
    fn put_truth(&mut self, dst: u32, truth: bool, others: Vec<usize>) -> Vec<usize> {
        self.constant(dst, Value::bool(truth));
        let end = self.jump_later();
        self.land(others);
        vec![end]
    }

    /// Puts `true` into a register, or `false` where others jump.
    pub(super) fn put_either_truth(&mut self, dst: u32, others: Vec<usize>) {
        let ends = self.put_truth(dst, true, others);
        self.constant(dst, Value::FALSE);
        self.land(ends);
    }

    fn jump_compared(&mut self, left: &Expr, comparison: Comparison<'_>, if_true: bool) -> Vec<usize> {
        // A constant stands on the right.
        if let Some(mirrored) = mirrored(comparison.op)
            && is_constant(left)
            && !is_constant(comparison.right)
        {
            let right = self.operand(comparison.right);
            let turned = Comparison { op: mirrored, right: left, ..comparison };
            return vec![self.jump_comparison(right, turned, if_true)];
        }
        let left = self.operand(left);
        vec![self.jump_comparison(left, comparison, if_true)]
    }

    /// Jumps if a comparison with an operand holds, or if it does not.
    fn jump_comparison(&mut self, left: Operand, comparison: Comparison<'_>, if_true: bool) -> usize {
        let Comparison { op, line, right } = comparison;
        let to = LATER;
        let if_equal = if_true == (op == BinaryOp::Equal);
        let is_equality = matches!(op, BinaryOp::Equal | BinaryOp::NotEqual);
        if let Some(k) = number(right) {
            let (a, k) = (self.read(left).into(), Imm(k));
            let jump = match (op, if_true) {
                _ if is_equality && if_equal => Op::JumpIfNumber { a, k, to },
                _ if is_equality => Op::JumpIfNotNumber { a, k, to },
                (BinaryOp::Less, true) => Op::JumpIfLessConst { a, k, to },
                (BinaryOp::Less, false) => Op::JumpIfNotLessConst { a, k, to },
                (BinaryOp::LessEqual, true) => Op::JumpIfLessEqualConst { a, k, to },
                (BinaryOp::LessEqual, false) => Op::JumpIfNotLessEqualConst { a, k, to },
                (BinaryOp::Greater, true) => Op::JumpIfGreaterConst { a, k, to },
                (BinaryOp::Greater, false) => Op::JumpIfNotGreaterConst { a, k, to },
                (BinaryOp::GreaterEqual, true) => Op::JumpIfGreaterEqualConst { a, k, to },
                (_, _) => Op::JumpIfNotGreaterEqualConst { a, k, to },
            };
            return self.emit_at(line, jump);
        }
        if is_equality {
            let bits = match right {
                Expr::Nil => Some(NIL),
                Expr::Bool(value) => Some(if *value { TRUE } else { FALSE }),
                Expr::String(text) => {
                    let string = self.string(text);
                    Some(Value::string(string).0)
                }
                _ => None,
            };
            if let Some(bits) = bits {
                let (a, value) = (self.read(left).into(), Imm(bits));
                let is = Op::JumpIfIs { a, value, to };
                return self.emit_at(line, if if_equal { is } else { Op::JumpIfIsNot { a, value, to } });
            }
        }
        let right = self.operand(right);
        let (left, right) = (self.read(left), self.read(right));
        // `a > b` is `b < a`.
        let (a, b) = match op {
            BinaryOp::Greater | BinaryOp::GreaterEqual => (right.into(), left.into()),
            _ => (left.into(), right.into()),
        };
        let cache = Site::new();
        let jump = match (op, if_true) {
            _ if is_equality && if_equal => Op::JumpIfEqual { a, b, to, cache },
            _ if is_equality => Op::JumpIfNotEqual { a, b, to, cache },
            (BinaryOp::Less | BinaryOp::Greater, true) => Op::JumpIfLess { a, b, to, cache },
            (BinaryOp::Less | BinaryOp::Greater, false) => Op::JumpIfNotLess { a, b, to, cache },
            (_, true) => Op::JumpIfLessEqual { a, b, to, cache },
            (_, false) => Op::JumpIfNotLessEqual { a, b, to, cache },
        };
        self.emit_at(line, jump)
    }
}

/// The number that an expression is, if it is a constant.
pub(super) fn number(expr: &Expr) -> Option<f64> {
    match expr {
        Expr::Number(value) => Some(*value),
        Expr::Paren(inner) => number(inner),
        Expr::Unary(UnaryOp::Negate, inner, _) => number(inner).map(|value| -value),
        _ => None,
    }
}

fn is_constant(expr: &Expr) -> bool {
    matches!(expr, Expr::Nil | Expr::Bool(_) | Expr::String(_)) || number(expr).is_some()
}

/// How many operations there are up to the last one with such an operator.
fn behind_last(operations: &[Operation], is_such: impl Fn(BinaryOp) -> bool) -> usize {
    operations.iter().rposition(|operation| is_such(operation.op)).map_or(0, |at| at + 1)
}

fn is_logical(op: BinaryOp) -> bool {
    matches!(op, BinaryOp::And | BinaryOp::Or)
}

/// The comparison that holds for exchanged operands.
fn mirrored(op: BinaryOp) -> Option<BinaryOp> {
    Some(match op {
        BinaryOp::Less => BinaryOp::Greater,
        BinaryOp::Greater => BinaryOp::Less,
        BinaryOp::LessEqual => BinaryOp::GreaterEqual,
        BinaryOp::GreaterEqual => BinaryOp::LessEqual,
        BinaryOp::Equal | BinaryOp::NotEqual => op,
        _ => return None,
    })
}

/// Whether an operator compares.
pub(super) fn is_comparison(op: BinaryOp) -> bool {
    mirrored(op).is_some()
}
