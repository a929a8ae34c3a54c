//! What expressions are called in messages: `attempt to index local 'x' (a nil value)`.
//!
//! In: an expression. Out: its name, if it has one. A value that `and` and `or` have chosen has the name that C's Lua gives it, which finds it by
//! following all jumps from the expression's start: the name of the operand to which these lead.

use super::Builder;
use crate::run::draft::NameKind;
use crate::syntax::ast::{BinaryOp, Expr, Name, Operation, Suffix, SuffixKind};

/// How an operand of `and` or `or` is left.
struct Exit {
    /// Whether what follows takes the value as true.
    is_true: bool,
    /// The name of the value, if it is the expression's.
    name: Option<(NameKind, Name)>,
}

/// The name of an expression.
pub(super) fn name_of(builder: &Builder<'_>, expr: &Expr) -> Option<(NameKind, Name)> {
    match expr {
        Expr::Local(local) => Some((NameKind::Local, builder.function.local(*local).name.clone())),
        Expr::Upvalue(at) => Some((NameKind::Upvalue, builder.function.upvalues[*at as usize].name.clone())),
        Expr::Global(name, _) => Some((NameKind::Global, (*name).clone())),
        Expr::Suffixed(_, suffixes) => suffix_name(suffixes.last()?),
        Expr::Paren(inner) => name_of(builder, inner),
        Expr::Binary(first, rest) => exit_of_operations(builder, first, rest, None).name,
        _ => None,
    }
}

/// What a suffix gives is called.
pub(super) fn suffix_name(suffix: &Suffix) -> Option<(NameKind, Name)> {
    match &suffix.kind {
        SuffixKind::Field(name) | SuffixKind::Index(Expr::String(name)) => {
            Some((NameKind::Field, (*name).clone()))
        }
        SuffixKind::Index(_) => Some((NameKind::Field, Name::from(&b"?"[..]))),
        _ => None,
    }
}

/// How an operand is left that an operator takes, if any does.
fn exit(builder: &Builder<'_>, expr: &Expr, by: Option<BinaryOp>) -> Exit {
    match expr {
        Expr::Paren(inner) => exit(builder, inner, by),
        Expr::Binary(first, rest) => exit_of_operations(builder, first, rest, by),
        // Nothing jumps where the operator goes on to its other operand whatever happens.
        Expr::Nil | Expr::Bool(false) if by == Some(BinaryOp::Or) => Exit { is_true: false, name: None },
        Expr::Bool(true) | Expr::Number(_) | Expr::String(_) if by == Some(BinaryOp::And) => {
            Exit { is_true: true, name: None }
        }
        // C's Lua takes a test for an assignment, so a value that was tested has no name.
        _ if by.is_some() => Exit { is_true: by == Some(BinaryOp::Or), name: None },
        _ => Exit { is_true: false, name: name_of(builder, expr) },
    }
}

fn exit_of_operations(builder: &Builder<'_>, first: &Expr, rest: &[Operation], by: Option<BinaryOp>) -> Exit {
    let Some((last, before)) = rest.split_last() else { return exit(builder, first, by) };
    if !matches!(last.op, BinaryOp::And | BinaryOp::Or) {
        return Exit { is_true: by == Some(BinaryOp::Or), name: None };
    }
    let left = exit_of_operations(builder, first, before, Some(last.op));
    let is_decided = left.is_true == (last.op == BinaryOp::Or);
    if is_decided { left } else { exit(builder, &last.right, by) }
}
