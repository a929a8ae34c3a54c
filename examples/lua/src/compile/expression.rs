//! Expressions into registers.
//!
//! An operand that is a local variable is read when its operator runs, as C's Lua does it: in `s + f()` behind the call, which may assign to `s`.
//! Arguments, and the operands of `..`, are read one after the other.

use super::condition::{LATER, is_comparison, number};
use super::function::upvalue;
use super::names::{name_of, suffix_name};
use super::{Builder, CLOSURE, NameKind, Place};
use crate::number::power;
use crate::object::value::Value;
use crate::run::bytecode::Op;
use crate::run::cases::OperatorCase;
use crate::syntax::ast::{BinaryOp, Expr, Line, LocalId, Name, Operation, Suffix, SuffixKind, UnaryOp};
use azulejo::{Imm, In, Out, Regs, Site};

impl Builder<'_> {
    /// The register that has an expression's value: a variable's own, or a new temporary one.
    pub(super) fn any(&mut self, expr: &Expr) -> u32 {
        let operand = self.operand(expr);
        self.read(operand)
    }

    /// Evaluates an operand, but for the reading of a local variable.
    pub(super) fn operand(&mut self, expr: &Expr) -> Operand {
        match expr {
            Expr::Paren(inner) if !inner.is_multiple() => self.operand(inner),
            Expr::Local(local) => Operand::Local(*local),
            _ => Operand::In(self.push(expr)),
        }
    }

    /// The register that has the value of an operand when the next bytecode runs.
    pub(super) fn read(&mut self, operand: Operand) -> u32 {
        match operand {
            Operand::In(register) => register,
            Operand::Local(local) => match self.place(local) {
                Place::Register(register) => register,
                _ => self.push(&Expr::Local(local)),
            },
        }
    }

    /// Puts an expression's value into a new register.
    pub(super) fn push(&mut self, expr: &Expr) -> u32 {
        let dst = self.take(1);
        self.put(dst, expr);
        dst
    }

    /// Puts an expression's value into a register. The register may be that of a variable in the expression only if
    /// [`may_be_put`] says so.
    pub(super) fn put(&mut self, dst: u32, expr: &Expr) {
        if !self.put_selected(dst, expr) {
            self.put_multiple(dst, expr);
        }
    }

    /// Likewise, if all results are wanted that it may have.
    pub(super) fn put_multiple(&mut self, dst: u32, expr: &Expr) {
        if self.is_too_complex() {
            return;
        }
        match expr {
            Expr::Nil => self.constant(dst, Value::NIL),
            Expr::Bool(value) => self.constant(dst, Value::bool(*value)),
            Expr::Number(value) => self.constant(dst, Value::number(*value)),
            Expr::String(text) => {
                let string = self.string(text);
                self.constant(dst, Value::string(string));
            }
            Expr::Vararg => self.take_varargs(dst, 1),
            Expr::Function(function) => {
                self.line = function.last_line;
                self.closure(dst, function, None);
            }
            Expr::Local(local) => match self.place(*local) {
                Place::Register(a) if a == dst => {}
                Place::Register(a) => drop(self.emit(Op::Move { dst: dst.into(), a: a.into() })),
                Place::Cell(cell) => drop(self.emit(Op::GetCell { dst: dst.into(), cell: cell.into() })),
                Place::Nowhere => unreachable!("a variable is used in its scope"),
            },
            Expr::Upvalue(at) => {
                let (dst, closure, shared) = (dst.into(), CLOSURE.into(), self.shared[*at as usize]);
                let at = upvalue(*at);
                self.emit(match shared {
                    true => Op::GetSharedUpvalue { dst, closure, at },
                    false => Op::GetUpvalue { dst, closure, at },
                });
            }
            Expr::Global(name, line) => {
                let key = self.key(name);
                let (dst, closure) = (dst.into(), CLOSURE.into());
                self.emit_at(
                    *line,
                    Op::GetGlobal { dst, closure, key, cache: Site::new(), seen: Site::new() },
                );
            }
            Expr::Table(table) => self.table(dst, table),
            Expr::Suffixed(first, suffixes) => self.scratch(|builder| builder.suffixes(dst, first, suffixes)),
            Expr::Unary(op, operand, line) => self.unary(dst, *op, operand, *line),
            Expr::Binary(first, rest) => self.put_operations(dst, first, rest),
            Expr::Paren(inner) => self.put(dst, inner),
        }
    }

    /// A string as a field's name.
    pub(super) fn key(&mut self, name: &Name) -> Imm<u64> {
        Imm(Value::string(self.string(name)).0)
    }

    fn unary(&mut self, dst: u32, op: UnaryOp, operand: &Expr, line: Line) {
        if op == UnaryOp::Negate
            && let Some(value) = number(operand)
        {
            return self.constant(dst, Value::number(-value));
        }
        if op == UnaryOp::Not {
            return self.put_condition(dst, operand, false);
        }
        self.scratch(|builder| {
            let a = builder.any(operand);
            let (dst, from) = (dst.into(), a.into());
            builder.emit_at(
                line,
                match op {
                    UnaryOp::Negate => Op::Negate { dst, a: from, cache: Site::new() },
                    UnaryOp::Length => Op::Length { dst, a: from },
                    UnaryOp::Not => unreachable!("it was done above"),
                },
            );
            builder.name(0, name_of(builder, operand));
        });
    }

    /// `true` if an expression's truth is the one that is asked for, and else `false`.
    fn put_condition(&mut self, dst: u32, expr: &Expr, wanted: bool) {
        if !wanted
            && !matches!(expr, Expr::Binary(_, rest) if rest.last().is_some_and(|last| is_decided(last.op)))
        {
            return self.scratch(|builder| {
                let a = builder.any(expr);
                builder.emit(Op::Not { dst: dst.into(), a: a.into() });
            });
        }
        let others = self.jump(expr, !wanted);
        self.put_either_truth(dst, others);
    }

    /// A jump whose target is set later.
    pub(super) fn jump_later(&mut self) -> usize {
        self.emit(Op::Jump { to: LATER })
    }

    /// Puts the value of operations, one after the other, into a register.
    pub(super) fn put_operations(&mut self, dst: u32, first: &Expr, rest: &[Operation]) {
        let Some((last, before)) = rest.split_last() else { return self.put(dst, first) };
        if let Some(value) = folded(first, rest) {
            return self.constant(dst, Value::number(value));
        }
        // A chain is done from its start: its length is no depth.
        let start =
            rest.iter().rposition(|operation| is_decided(operation.op) || operation.op == BinaryOp::Concat);
        match last.op {
            BinaryOp::And | BinaryOp::Or => {
                let ends = self.put_operations_if(dst, first, before, last.op == BinaryOp::Or);
                self.put(dst, &last.right);
                self.land(ends);
            }
            op if is_comparison(op) => {
                let others = self.jump_operations(first, rest, false);
                self.put_either_truth(dst, others);
            }
            BinaryOp::Concat => self.concat(dst, first, rest),
            _ => self.scratch(|builder| {
                let from = start.map_or(0, |at| at + 1);
                let (done, arithmetic) = rest.split_at(from);
                let mut left = match done {
                    [] => Left::Expr(first),
                    _ => {
                        let left = builder.take(1);
                        builder.put_operations(left, first, done);
                        Left::In(left)
                    }
                };
                // What is between goes into a temporary register, since `dst` may be that of a variable.
                let between = if arithmetic.len() > 1 { builder.take(1) } else { dst };
                for (at, operation) in arithmetic.iter().enumerate() {
                    let to = if at + 1 == arithmetic.len() { dst } else { between };
                    builder.arithmetic(to, left, operation);
                    left = Left::In(to);
                }
            }),
        }
    }

    fn put_operations_before(&mut self, dst: u32, first: &Expr, before: &[Operation]) {
        match before {
            [] => self.put(dst, first),
            _ => self.put_operations(dst, first, before),
        }
    }

    fn arithmetic(&mut self, dst: u32, left: Left<'_>, operation: &Operation) {
        let Operation { op, line, right } = operation;
        self.scratch(|builder| {
            let (to, cache) = (dst.into(), Site::new());
            let left_name = left.expr().and_then(|expr| name_of(builder, expr));
            if let Some(k) = number(right) {
                let left = builder.left(left);
                let (a, k) = (builder.read(left).into(), Imm(k));
                builder.emit_at(
                    *line,
                    match op {
                        BinaryOp::Add => Op::AddConst { dst: to, a, k, cache },
                        BinaryOp::Subtract => Op::SubtractConst { dst: to, a, k, cache },
                        BinaryOp::Multiply => Op::MultiplyConst { dst: to, a, k, cache },
                        BinaryOp::Divide => Op::DivideConst { dst: to, a, k, cache },
                        BinaryOp::Modulo => Op::ModuloConst { dst: to, a, k, cache },
                        _ => Op::PowerConst { dst: to, a, k, cache },
                    },
                );
                return builder.name(0, left_name);
            }
            if let Some(k) = left.expr().and_then(number)
                && let Some(opcode) = with_constant_left(*op)
            {
                let b = builder.any(right).into();
                builder.emit_at(*line, opcode(to, Imm(k), b, cache));
            } else {
                let (left, right) = (builder.left(left), builder.operand(right));
                let (a, b) = (builder.read(left).into(), builder.read(right).into());
                builder.emit_at(
                    *line,
                    match op {
                        BinaryOp::Add => Op::Add { dst: to, a, b, cache },
                        BinaryOp::Subtract => Op::Subtract { dst: to, a, b, cache },
                        BinaryOp::Multiply => Op::Multiply { dst: to, a, b, cache },
                        BinaryOp::Divide => Op::Divide { dst: to, a, b, cache },
                        BinaryOp::Modulo => Op::Modulo { dst: to, a, b, cache },
                        _ => Op::Power { dst: to, a, b, cache },
                    },
                );
            }
            builder.name(0, left_name);
            builder.name(1, name_of(builder, right));
        });
    }

    /// Evaluates the left operand of arithmetic.
    fn left(&mut self, left: Left<'_>) -> Operand {
        match left {
            Left::Expr(expr) => self.operand(expr),
            Left::In(register) => Operand::In(register),
        }
    }

    /// Concatenates the operands of operators of one level, and of those that their right operands end with.
    fn concat(&mut self, dst: u32, first: &Expr, rest: &[Operation]) {
        self.scratch(|builder| {
            // Only the last one can be `..`, since that binds its right operand more strongly than its left one.
            let (last, before) = rest.split_last().expect("there is one");
            let left = builder.take(1);
            builder.put_operations_before(left, first, before);
            let mut count = 1;
            let mut names = vec![before.is_empty().then(|| name_of(builder, first)).flatten()];
            let (mut operation, mut lines) = (last, last.line);
            loop {
                let next = match &operation.right {
                    Expr::Binary(first, rest) if rest.len() == 1 && rest[0].op == BinaryOp::Concat => {
                        Some((&**first, &rest[0]))
                    }
                    _ => None,
                };
                let operand = next.map_or(&operation.right, |(first, _)| first);
                builder.push(operand);
                names.push(name_of(builder, operand));
                count += 1;
                match next {
                    Some((_, rest)) => operation = rest,
                    None => break,
                }
                lines = lines.max(operation.line);
            }
            builder.emit_at(lines, Op::Concat { dst: dst.into(), values: Regs { first: left, count } });
            names.into_iter().zip(0..).for_each(|(name, operand)| builder.name(operand, name));
        });
    }

    /// Puts what an expression and all that stands behind it give into a register.
    fn suffixes(&mut self, dst: u32, first: &Expr, suffixes: &[Suffix]) {
        let (last, before) = suffixes.split_last().expect("there is one");
        let object = self.before(first, before);
        self.suffix(dst, object, last);
    }

    /// Puts what stands behind an object gives into a register.
    fn suffix(&mut self, dst: u32, (object, name): NamedOperand, suffix: &Suffix) {
        match &suffix.kind {
            SuffixKind::Call(arguments) => {
                let callee = (self.read(object), name);
                self.call(dst, callee, arguments, suffix.line.get());
            }
            SuffixKind::Method(method, arguments) => {
                let object = (self.read(object), name);
                self.method(dst, object, (method, arguments), suffix.line.get());
            }
            _ => self.get(dst, (object, name), suffix),
        }
    }

    /// Evaluates an expression and what stands behind it, and says what that is called.
    pub(super) fn before(&mut self, first: &Expr, before: &[Suffix]) -> NamedOperand {
        let mut object = (self.operand(first), name_of(self, first));
        for suffix in before {
            let dst = self.take(1);
            self.scratch(|builder| builder.suffix(dst, object, suffix));
            object = (Operand::In(dst), suffix_name(suffix));
        }
        object
    }

    /// Gets a field or an element.
    fn get(&mut self, dst: u32, (object, name): NamedOperand, suffix: &Suffix) {
        let to = dst.into();
        match &suffix.kind {
            SuffixKind::Field(key) | SuffixKind::Index(Expr::String(key)) => {
                let (from, key) = (self.read(object).into(), self.key(key));
                self.emit_at(
                    suffix.line.get(),
                    Op::GetField { dst: to, object: from, key, cache: Site::new(), seen: Site::new() },
                );
            }
            SuffixKind::Index(key) => self.scratch(|builder| {
                let key = builder.operand(key);
                let (from, key) = (builder.read(object).into(), builder.read(key).into());
                builder.emit_at(
                    suffix.line.get(),
                    Op::GetIndex { dst: to, object: from, key, seen: Site::new(), by: Site::new() },
                );
            }),
            SuffixKind::Call(_) | SuffixKind::Method(..) => unreachable!("a call is no field"),
        }
        self.name(0, name);
    }
}

/// An operand, whose parts are evaluated.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Operand {
    /// Its value is in a register.
    In(u32),
    /// It is what a local variable of the function has when the operator runs.
    Local(LocalId),
}

/// An operand, and what it is called.
pub(super) type NamedOperand = (Operand, Option<(NameKind, Name)>);

/// The left operand of arithmetic.
#[derive(Clone, Copy)]
enum Left<'e> {
    /// It is not in a register yet; a number need not be.
    Expr(&'e Expr<'e>),
    In(u32),
}

impl<'e> Left<'e> {
    fn expr(self) -> Option<&'e Expr<'e>> {
        match self {
            Left::Expr(expr) => Some(expr),
            Left::In(_) => None,
        }
    }
}

/// Makes the bytecode of an operator whose left operand is a constant.
type WithConstantLeft = fn(Out<u64>, Imm<f64>, In<u64>, Site<OperatorCase, 1>) -> Op;

/// The opcode of an operator with a constant on its left, if there is one.
fn with_constant_left(op: BinaryOp) -> Option<WithConstantLeft> {
    match op {
        BinaryOp::Add => Some(|dst, k, b, cache| Op::ConstAdd { dst, k, b, cache }),
        BinaryOp::Subtract => Some(|dst, k, b, cache| Op::ConstSubtract { dst, k, b, cache }),
        BinaryOp::Multiply => Some(|dst, k, b, cache| Op::ConstMultiply { dst, k, b, cache }),
        BinaryOp::Divide => Some(|dst, k, b, cache| Op::ConstDivide { dst, k, b, cache }),
        _ => None,
    }
}

/// Whether an operator's value is decided by jumps.
fn is_decided(op: BinaryOp) -> bool {
    is_comparison(op) || matches!(op, BinaryOp::And | BinaryOp::Or)
}

/// The value of operations on constants. What C's Lua computes when the program runs is not computed here: divisions by zero, and NaNs.
fn folded(first: &Expr, rest: &[Operation]) -> Option<f64> {
    let mut value = constant(first)?;
    for operation in rest {
        let right = constant(&operation.right)?;
        value = match operation.op {
            BinaryOp::Add => value + right,
            BinaryOp::Subtract => value - right,
            BinaryOp::Multiply => value * right,
            BinaryOp::Divide if right != 0.0 => value / right,
            BinaryOp::Modulo if right != 0.0 => value - (value / right).floor() * right,
            BinaryOp::Power => power(value, right),
            _ => return None,
        };
    }
    (!value.is_nan()).then_some(value)
}

fn constant(expr: &Expr) -> Option<f64> {
    match expr {
        Expr::Binary(first, rest) => folded(first, rest),
        Expr::Paren(inner) => constant(inner),
        Expr::Unary(UnaryOp::Negate, inner, _) => constant(inner).map(|value| -value),
        _ => number(expr),
    }
}

/// Whether an expression may be put into the register of a variable that it uses: it writes there last.
pub(super) fn may_be_put(expr: &Expr) -> bool {
    match expr {
        Expr::Binary(_, rest) => !rest.iter().any(|operation| is_decided(operation.op)),
        Expr::Unary(op, inner, _) => *op != UnaryOp::Not || may_be_put(inner),
        Expr::Paren(inner) => may_be_put(inner),
        _ => true,
    }
}
