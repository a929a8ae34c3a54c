//! Statements.

use super::call::More;
use super::condition::{LATER, number};
use super::constructor::fields_to_come;
use super::{Builder, NameKind, Place, Watch};
use crate::object::value::Value;
use crate::run::bytecode::Op;
use crate::run::draft::ITERATOR;
use crate::run::slow::{INITIAL, LIMIT, STEP};
use crate::syntax::ast::{Block, Expr, GenericFor, LocalId, NumericFor, Statement, StatementKind};
use azulejo::{Imm, In, Label, Regs, Site};
use std::rc::Rc;

/// So many results have opcodes of their own.
const FEW: usize = 3;

impl Builder<'_> {
    /// Compiles a block; its variables' registers are free afterwards.
    pub(super) fn block(&mut self, block: &Block) {
        self.scratch(|builder| {
            let scope = builder.open_scope();
            builder.statements(block.statements);
            let last = block.statements.last().map(|statement| &statement.kind);
            builder
                .close_scope(scope, !matches!(last, Some(StatementKind::Return(_) | StatementKind::Break)));
        });
    }

    fn statements(&mut self, statements: &[Statement]) {
        for (at, statement) in statements.iter().enumerate() {
            self.fields_to_come = fields_to_come(statement, &statements[at + 1..]);
            self.statement(statement);
        }
    }

    fn statement(&mut self, statement: &Statement) {
        if self.is_too_complex() {
            return;
        }
        self.line = statement.line;
        match &statement.kind {
            StatementKind::Local(locals, values) if values.is_empty() => {
                self.look_past();
                self.declare_all(locals, values);
            }
            StatementKind::Local(locals, values) => {
                self.declare_all(locals, values);
                self.sample_statement(statement.line);
            }
            StatementKind::LocalFunction(local, function) => self.declare_function(*local, function),
            StatementKind::Assign(targets, values, line) => {
                self.assign(targets, values, *line);
                self.sample_statement(statement.line);
            }
            StatementKind::Call(call) => {
                self.scratch(|builder| builder.push(call));
            }
            StatementKind::Do(block) => self.block(block),
            StatementKind::While(condition, body) => self.while_loop(condition, body),
            StatementKind::Repeat(body, condition) => self.repeat_loop(body, condition),
            StatementKind::If(arms, otherwise) => self.conditional(arms, otherwise.as_ref()),
            StatementKind::NumericFor(parts) => self.scratch(|builder| builder.numeric_for(parts)),
            StatementKind::GenericFor(parts) => self.scratch(|builder| builder.generic_for(parts)),
            StatementKind::Return(values) => self.scratch(|builder| builder.give(values)),
            StatementKind::Break => {
                let jump = self.jump_later();
                self.breaks.last_mut().expect("a loop is open").push(jump);
            }
        }
    }

    /// Compiles the body of a loop; `break` goes to what is emitted when the returned jumps land.
    fn in_loop(&mut self, body: impl FnOnce(&mut Self)) -> Vec<usize> {
        self.breaks.push(Vec::new());
        body(self);
        self.breaks.pop().expect("it was pushed")
    }

    fn while_loop(&mut self, condition: &Expr, body: &Block) {
        // The condition is behind the body, so that an iteration has one jump.
        let line = self.line;
        let to_condition = self.jump_later();
        let start = self.here();
        self.sample();
        let breaks = self.in_loop(|builder| builder.block(body));
        self.land([to_condition]);
        self.line = line;
        self.look_again();
        let again = self.jump(condition, true);
        self.jump_back(again, start);
        self.land(breaks);
    }

    fn repeat_loop(&mut self, body: &Block, condition: &Expr) {
        let start = self.here();
        self.sample();
        self.look_again();
        let breaks = self.in_loop(|builder| {
            builder.scratch(|builder| {
                let scope = builder.open_scope();
                builder.statements(body.statements);
                // The condition sees the variables of the block.
                let again = builder.jump(condition, false);
                builder.jump_back(again, start);
                builder.close_scope(scope, true);
            });
        });
        self.land(breaks);
    }

    /// Lets jumps go back to a place.
    fn jump_back(&mut self, jumps: Vec<usize>, to: Label) {
        jumps.into_iter().for_each(|at| self.set_target(at, to));
    }

    fn conditional(&mut self, arms: &[(Expr, Block)], otherwise: Option<&Block>) {
        let mut ends = Vec::new();
        for (at, (condition, block)) in arms.iter().enumerate() {
            let others = self.jump(condition, false);
            self.block(block);
            let is_last = at + 1 == arms.len() && otherwise.is_none();
            if !is_last {
                ends.push(self.jump_later());
            }
            self.land(others);
        }
        otherwise.into_iter().for_each(|block| self.block(block));
        self.land(ends);
    }

    fn numeric_for(&mut self, parts: &NumericFor) {
        let NumericFor { variable, start, limit: end, step, begin, body } = parts;
        let line = self.line;
        let index = self.push(start);
        let limit = self.push(end);
        let constant = step.as_ref().map_or(Some(1.0), number).filter(|step| *step != 0.0);
        let by = self.take(1);
        match step {
            None => self.constant(by, Value::number(1.0)),
            Some(step) => self.put(by, step),
        }
        let parts = [(index, Some(start), INITIAL), (limit, Some(end), LIMIT), (by, step.as_ref(), STEP)];
        for (register, part, which) in parts {
            if part.is_some_and(|part| number(part).is_none()) {
                self.emit_at(*begin, Op::ForNumber { a: register.into(), which: Imm(which) });
            }
        }
        let (i, l, s) = (index.into(), limit.into(), by.into());
        let end = self.emit_at(*begin, Op::ForPrepare { index: i, limit: l, step: s, end: LATER });
        let top = self.here();
        self.note_hidden(["(for index)", "(for limit)", "(for step)"], index);
        let breaks = self.in_loop(|builder| {
            builder.scratch(|builder| {
                builder.declare_copy(*variable, index);
                builder.begin_iteration(body);
                builder.block(body);
            });
        });
        let (index, limit, step, to) = (index.into(), limit.into(), by.into(), top);
        self.emit_at(
            line,
            match constant {
                Some(k) if k > 0.0 => Op::ForLoopUp { index, limit, step: Imm(k), to },
                Some(k) => Op::ForLoopDown { index, limit, step: Imm(k), to },
                None => Op::ForLoop { index, limit, step, to },
            },
        );
        self.land(breaks.into_iter().chain([end]));
    }

    /// Code jumps to the body of a loop.
    fn begin_iteration(&mut self, body: &Block) {
        self.sample();
        self.line = body.statements.first().map_or(self.line, |first| first.line);
        self.look_at_iteration();
    }

    /// A variable that starts with the value of a hidden one, and is that itself if nobody assigns to it, not even `debug.setlocal`.
    fn declare_copy(&mut self, variable: LocalId, hidden: u32) {
        let is_watched = self.form.watch == Watch::All;
        if is_watched || self.function.local(variable).is_assigned || self.is_in_cell(variable) {
            let register = self.take(1);
            self.emit(Op::Move { dst: register.into(), a: hidden.into() });
            self.declare(variable, register);
        } else {
            self.places[variable.0 as usize] = Place::Register(hidden);
            self.note_local(self.function.local(variable).name.clone(), hidden, false);
        }
    }

    fn generic_for(&mut self, parts: &GenericFor) {
        let GenericFor { variables, values, line, body } = parts;
        let control = self.take(3);
        let count = variables.len() as u32;
        self.put_all(control, 3, values);
        // Keys and values are all that `pairs` gives. If nobody wants the values, they are there all the same.
        let may_be_pairs = count <= 2;
        let position = may_be_pairs.then(|| self.take(1));
        let first = self.take(if may_be_pairs { 2 } else { count });
        if let Some(position) = position {
            self.constant(position, Value(0));
        }
        if count > 3 {
            // Results are written by address: the collector takes what was there before for alive.
            self.nils(first + 1, count - 1);
        }
        let to_next = self.jump_later();
        let top = self.here();
        self.note_hidden(["(for generator)", "(for state)", "(for control)"], control);
        let breaks = self.in_loop(|builder| {
            builder.scratch(|builder| {
                for (variable, register) in variables.iter().zip(first..) {
                    builder.declare(*variable, register);
                }
                builder.begin_iteration(body);
                builder.block(body);
            });
        });
        self.land([to_next]);
        let (function, state, to) = (control.into(), (control + 1).into(), top);
        let control = control + 2;
        let mut ended = Vec::new();
        if let Some(position) = position {
            let (control, position) = (control.into(), position.into());
            let (key, value, end) = (first.into(), (first + 1).into(), LATER);
            if count == 2 {
                let op = Op::ForEachIndex { function, state, control, position, index: key, value, to, end };
                ended.push(self.emit_at(*line, op));
            }
            let op = Op::ForEachPair { function, state, control, position, key, value, to, end };
            ended.push(self.emit_at(*line, op));
        }
        let (dst, a, b) = (first.into(), state, control.into());
        self.emit_at(*line, Op::Call2 { dst, function, a, b, cache: Site::new() });
        self.name(ITERATOR, Some((NameKind::Local, Rc::from(&b"(for generator)"[..]))));
        self.take_results(first, count);
        self.emit_at(*line, Op::ForEach { first: first.into(), control: control.into(), to });
        self.land(breaks.into_iter().chain(ended));
    }

    fn give(&mut self, values: &[Expr]) {
        match values {
            [call @ Expr::Suffixed(first, suffixes)] if call.is_multiple() => self.tail_call(first, suffixes),
            values if values.len() <= FEW && !values.last().is_some_and(Expr::is_multiple) => {
                let values: Vec<In<u64>> = values.iter().map(|value| self.any(value).into()).collect();
                self.give_few(&values);
            }
            values => {
                let first = self.free;
                let more = self.push_all(values);
                let (values, pack) =
                    (Regs { first, count: self.free - first }, self.behind_parameters().into());
                if more == More::Nothing && values.count as usize <= FEW {
                    let values: Vec<In<u64>> = (first..self.free).map(In::new).collect();
                    return self.give_few(&values);
                }
                self.keep_all();
                self.emit(match more {
                    More::Nothing => Op::ReturnMany { values },
                    More::Results => Op::ReturnResults { values },
                    More::Varargs => Op::ReturnVarargs { values, pack },
                });
            }
        }
    }

    /// Ends the function with at most [`FEW`] results.
    fn give_few(&mut self, values: &[In<u64>]) {
        self.keep_all();
        self.emit(match *values {
            [] => Op::Return0,
            [a] => Op::Return { a },
            [a, b] => Op::ReturnTwo { a, b },
            [a, b, c] => Op::ReturnThree { a, b, c },
            _ => unreachable!("there are at most three"),
        });
    }
}
