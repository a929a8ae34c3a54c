//! A function's registers, code and upvalues.

use super::call::Named;
use super::{
    Builder, CLOSURE, CapturedVariable, Draft, Form, MAX_REGISTERS, NameKind, OperandName, Owners, Place,
    TooComplex, Watch,
};
use crate::depth::StackEnd;
use crate::object::heap::Heap;
use crate::object::value::{NIL, Value};
use crate::run::bytecode::Op;
use crate::run::draft::CALLEE;
use crate::syntax::ast::{Function, Line, LocalId, Name, UpvalueSource};
use azulejo::{Imm, Label, Regs};

/// For so many bytecodes there is room from the start.
const USUAL_LENGTH: usize = 16;

/// The number of an upvalue in a bytecode: a small one, which code adds to an address.
pub(super) fn upvalue(number: u32) -> Imm<u16> {
    Imm(u16::try_from(number).expect("a function has at most sixty"))
}

impl<'a> Builder<'a> {
    /// Starts a function whose upvalues are captured so.
    pub(super) fn new(
        heap: &'a mut Heap,
        function: &'a Function,
        captures: &[CapturedVariable],
        form: Form,
    ) -> Builder<'a> {
        Builder {
            heap,
            function,
            shared: captures.iter().map(|capture| capture.is_shared).collect(),
            functions: vec![None; function.locals.len()],
            captured_functions: captures.iter().map(|capture| capture.function).collect(),
            form,
            varargs: None,
            code: Vec::with_capacity(USUAL_LENGTH),
            lines: Vec::with_capacity(USUAL_LENGTH),
            names: Vec::new(),
            constants: Vec::new(),
            layouts: Vec::new(),
            inner: Vec::new(),
            places: vec![Place::Nowhere; function.locals.len()],
            owners: Owners::new(function.locals.len()),
            free: CLOSURE + 1,
            registers: CLOSURE + 1,
            breaks: Vec::new(),
            fields_to_come: 0,
            line: function.line,
            looked: None,
            locals: Vec::new(),
            open_locals: Vec::new(),
            stack: StackEnd::find(),
        }
    }

    /// Compiles the whole function.
    pub(super) fn finish(mut self) -> Result<Draft, TooComplex> {
        let function = self.function;
        // What a function needs for its arguments is no line of its own.
        self.line = function.body.statements.first().map_or(function.last_line, |first| first.line);
        let parameters: Vec<u32> = (0..function.parameters).map(|_| self.take(1)).collect();
        let behind = function.is_vararg.then(|| self.take(self.varargs.unwrap_or(1)));
        self.look_at_start();
        for (at, register) in parameters.into_iter().enumerate() {
            self.declare(LocalId(at as u32), register);
        }
        if function.is_vararg && self.varargs.is_none() {
            self.emit(Op::Collect);
        }
        if let (Some(arg), Some(pack)) = (function.arg, behind)
            && (function.local(arg).is_used || self.form.watch == Watch::All)
        {
            let dst = self.take(1);
            match function.uses_dots {
                true => self.constant(dst, Value::NIL),
                false => drop(self.emit(Op::NewArg { dst: dst.into(), pack: pack.into() })),
            }
            self.declare(arg, dst);
        }
        self.look_again();
        self.block(&function.body);
        self.line = function.last_line;
        self.emit(Op::Return0);
        if self.registers > MAX_REGISTERS {
            return Err(TooComplex { line: function.line });
        }
        let (recipe, varargs) = (self.recipe(), self.vararg_forms());
        // Each constant came with each of its uses. Functions of data have very many.
        self.constants.sort_unstable_by_key(|constant| constant.0);
        self.constants.dedup();
        let upvalues =
            function.upvalues.iter().map(|upvalue| upvalue.name.clone()).zip(self.shared).collect();
        Ok(Draft {
            code: self.code,
            lines: self.lines,
            names: self.names,
            locals: self.locals,
            registers: self.registers,
            parameters: function.parameters + self.varargs.unwrap_or(0),
            is_vararg: function.is_vararg && self.varargs.is_none(),
            recipe,
            varargs,
            constants: self.constants,
            layouts: self.layouts,
            inner: self.inner,
            upvalues,
            // A chunk has no lines of its own.
            span: if function.line == 0 { (0, 0) } else { (function.line, function.last_line) },
            text: Some(function.text.clone()),
        })
    }

    /// The register of the arguments behind the parameters, or of the first of them.
    pub(super) fn behind_parameters(&self) -> u32 {
        CLOSURE + 1 + self.function.parameters
    }

    /// Takes registers in a row; returns the first.
    pub(super) fn take(&mut self, count: u32) -> u32 {
        let first = self.free;
        self.free += count;
        self.registers = self.registers.max(self.free);
        first
    }

    /// Whether the function is too complex: it takes too many registers, or nests deeper than the stack allows. Then nothing more is compiled,
    /// so that nothing asks for a variable whose declaration was left out.
    pub(super) fn is_too_complex(&mut self) -> bool {
        if self.stack.is_near() {
            self.registers = MAX_REGISTERS + 1;
        }
        self.registers > MAX_REGISTERS
    }

    /// Does something with temporary registers, which are free again afterwards.
    pub(super) fn scratch<T>(&mut self, work: impl FnOnce(&mut Self) -> T) -> T {
        let free = self.free;
        let result = work(self);
        self.free = free;
        self.forget_locals();
        result
    }

    /// Appends a bytecode; returns where it is.
    pub(super) fn emit(&mut self, op: Op) -> usize {
        self.before_op(&op);
        self.append(op)
    }

    /// Appends it, and nothing in front of it.
    pub(super) fn append(&mut self, op: Op) -> usize {
        self.note_op(&op);
        self.code.push(op);
        self.lines.push(self.line);
        self.code.len() - 1
    }

    /// Appends a bytecode of a line.
    pub(super) fn emit_at(&mut self, line: Line, op: Op) -> usize {
        self.line = line;
        self.emit(op)
    }

    /// The place of the next bytecode.
    pub(super) fn here(&self) -> Label {
        Label(self.code.len() as u32)
    }

    /// Lets jumps that were emitted without a target go to the next bytecode.
    pub(super) fn land(&mut self, jumps: impl IntoIterator<Item = usize>) {
        let here = self.here();
        for at in jumps {
            self.set_target(at, here);
        }
    }

    /// Sets where a jump goes.
    pub(super) fn set_target(&mut self, at: usize, to: Label) {
        set_target(&mut self.code[at], to);
    }

    /// The name of what the last bytecode works on, by its place among those.
    pub(super) fn name(&mut self, operand: u32, name: Option<(NameKind, Name)>) {
        if let Some((kind, name)) = name {
            let at = self.code.len() as u32 - 1;
            self.names.push(OperandName { at, operand, kind, name, function: None });
        }
    }

    /// The name of what the last bytecode calls, and which function that is, if it is known.
    pub(super) fn name_callee(&mut self, (register, name): &Named) {
        self.name(CALLEE, name.clone());
        let function = name.as_ref().and_then(|(kind, name)| match kind {
            NameKind::Local => {
                // Of those that have had the register the last one is in scope.
                let place = Place::Register(*register);
                self.functions[self.places.iter().rposition(|other| *other == place)?]
            }
            NameKind::Upvalue => {
                let at = self.function.upvalues.iter().position(|upvalue| upvalue.name == name)?;
                self.captured_functions[at]
            }
            _ => None,
        });
        if let (Some(name), Some(_)) = (self.names.last_mut(), name) {
            name.function = function;
        }
    }

    /// A local variable is in scope from here on. Its value is in the register, which is its own.
    pub(super) fn declare(&mut self, local: LocalId, register: u32) {
        let is_cell = self.is_in_cell(local);
        if is_cell {
            self.emit(Op::NewCell { dst: register.into(), value: register.into() });
        }
        self.places[local.0 as usize] =
            if is_cell { Place::Cell(register) } else { Place::Register(register) };
        self.note_local(self.function.local(local).name.clone(), register, is_cell);
        self.note_declaration(local);
    }

    /// Whether a local variable is in a cell.
    pub(super) fn is_in_cell(&self, local: LocalId) -> bool {
        let local = self.function.local(local);
        local.is_captured && (local.is_assigned || self.form.shares_all)
    }

    /// Where a local variable is.
    pub(super) fn place(&self, local: LocalId) -> Place {
        self.owners.note_use(local, self.code.len());
        self.places[local.0 as usize]
    }

    /// Puts a constant into a register.
    pub(super) fn constant(&mut self, dst: u32, value: Value) {
        self.emit(Op::Const { dst: dst.into(), value: Imm(value.0) });
    }

    /// Puts nil into registers.
    pub(super) fn nils(&mut self, first: u32, count: u32) {
        (first..first + count).for_each(|dst| self.constant(dst, Value(NIL)));
    }

    /// Makes a closure. `itself` is the local variable that the function is the value of, if it uses that.
    pub(super) fn closure(&mut self, dst: u32, function: &Function, itself: Option<LocalId>) {
        let captures: Vec<CapturedVariable> = function
            .upvalues
            .iter()
            .map(|upvalue| {
                let is_shared = match upvalue.source {
                    UpvalueSource::Local(local) => self.is_in_cell(local),
                    UpvalueSource::Upvalue(outer) => self.shared[outer as usize],
                };
                let function = match upvalue.source {
                    UpvalueSource::Local(local) => self.functions[local.0 as usize],
                    UpvalueSource::Upvalue(at) => self.captured_functions[at as usize],
                };
                CapturedVariable { source: upvalue.source, is_shared, function }
            })
            .collect();
        self.scratch(|builder| {
            let first = builder.take(captures.len() as u32);
            for (capture, to) in captures.iter().zip(first..) {
                match capture.source {
                    // It is not there yet: the closure is told that it has itself.
                    UpvalueSource::Local(local) if Some(local) == itself && !capture.is_shared => {
                        builder.constant(to, Value::ABSENT);
                    }
                    UpvalueSource::Local(local) => {
                        let (Place::Register(a) | Place::Cell(a)) = builder.place(local) else {
                            unreachable!("a variable is used in its scope")
                        };
                        builder.emit(Op::Move { dst: to.into(), a: a.into() });
                    }
                    UpvalueSource::Upvalue(at) => {
                        let (dst, closure) = (to.into(), CLOSURE.into());
                        builder.emit(Op::GetUpvalue { dst, closure, at: upvalue(at) });
                    }
                }
            }
            let count = captures.len() as u32;
            let number = builder.inner.len() as u64;
            let line = builder.line;
            builder.emit(Op::NewClosure {
                dst: dst.into(),
                closure: CLOSURE.into(),
                definition: Imm(number),
                upvalues: Regs { first, count },
            });
            match Builder::new(&mut *builder.heap, function, &captures, builder.form).finish() {
                Ok(draft) => builder.inner.push(draft),
                // The function around it is too complex, then, too.
                Err(_) => builder.registers = MAX_REGISTERS + 1,
            }
            builder.line = line;
        });
    }
}

/// Sets where a jump goes.
fn set_target(op: &mut Op, target: Label) {
    match op {
        Op::Jump { to }
        | Op::JumpIfTrue { to, .. }
        | Op::JumpIfFalse { to, .. }
        | Op::JumpIfEqual { to, .. }
        | Op::JumpIfNotEqual { to, .. }
        | Op::JumpIfIs { to, .. }
        | Op::JumpIfIsNot { to, .. }
        | Op::JumpIfNumber { to, .. }
        | Op::JumpIfNotNumber { to, .. }
        | Op::JumpIfLess { to, .. }
        | Op::JumpIfNotLess { to, .. }
        | Op::JumpIfLessEqual { to, .. }
        | Op::JumpIfNotLessEqual { to, .. }
        | Op::JumpIfLessConst { to, .. }
        | Op::JumpIfNotLessConst { to, .. }
        | Op::JumpIfLessEqualConst { to, .. }
        | Op::JumpIfNotLessEqualConst { to, .. }
        | Op::JumpIfGreaterConst { to, .. }
        | Op::JumpIfNotGreaterConst { to, .. }
        | Op::JumpIfGreaterEqualConst { to, .. }
        | Op::JumpIfNotGreaterEqualConst { to, .. }
        | Op::ForPrepare { end: to, .. }
        | Op::ForEachPair { end: to, .. }
        | Op::ForEachIndex { end: to, .. }
        | Op::ForEach { to, .. }
        | Op::IfOneResult { otherwise: to } => *to = target,
        other => unreachable!("{other:?} is no jump"),
    }
}
