//! Calls from one function of bytecode to another.
//!
//! In: a function's number and its arguments, as values. Out: a node that calls it by its record, with the context and
//! each argument's bits. The record of a function that is known by now is part of the code; that of any other is looked up
//! where the functions of an engine say, when the code runs.

use super::{Builder, SLOT_BYTES, WORD};
use crate::ir::graph::{CallData, Effect, Target};
use crate::ir::index::Node;
use crate::ir::template::{Convention, Ref, Signature};
use crate::vocab::{Op, Sig, Type};

/// The most arguments that one function of bytecode may give to another.
pub const MAX_ARGUMENTS: usize = 64;

/// What a call takes: the context, and the arguments.
static TYPES: [Type; 1 + MAX_ARGUMENTS] = [Type::I64; 1 + MAX_ARGUMENTS];

/// Where functions of bytecode find each other. Where nobody said, there are none.
#[derive(Clone, Copy, Debug, Default)]
pub struct Functions<'a> {
    /// The address of each function's record, by number. What a record is, is the machine's business.
    pub records: &'a [u64],
    /// The address of a [`Table`] that stays where it is: it tells of functions that will be there later.
    pub table: u64,
}

/// The records of all functions, as compiled code sees them.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Table {
    /// The addresses of the records, and behind them one more: that of the record for all other numbers.
    pub records: *const u64,
    /// How many functions there are.
    pub len: u64,
}

impl Builder<'_> {
    pub(super) fn invoke(&mut self, function: Ref, args: &[Ref], ret: Type, effect: Effect) {
        if effect == Effect::Observes {
            self.observed = true;
            self.flush_all();
        }
        let context = self.graph.add(Op::TC, WORD, &[], 0, self.at);
        self.invoke_node(context, function, args, ret, effect);
        if effect == Effect::Observes {
            self.reload_all();
        }
    }

    pub(super) fn invoke_node(
        &mut self,
        context: Node,
        function: Ref,
        args: &[Ref],
        ret: Type,
        effect: Effect,
    ) {
        let function = self.value(function);
        let number = self.graph.as_const(function);
        let known = number.and_then(|number| self.source.functions.records.get(number as usize));
        let target = known.map_or(Target::Indirect, |record| Target::Direct(*record));
        let record = known.is_none().then(|| self.record(function));
        self.scratch.stack_inputs.clear();
        self.scratch.stack_inputs.extend(record);
        self.scratch.stack_inputs.push(context);
        for &arg in args {
            let value = self.value(arg);
            let bits = self.widen(value);
            self.scratch.stack_inputs.push(bits);
        }
        let signature =
            Signature { convention: Convention::Bytecode, args: &TYPES[..1 + args.len()], ret: Type::I64 };
        self.graph.calls.push(CallData { target, signature, effect });
        let call = self.graph.calls.len() as u64 - 1;
        let bits = self.graph.push(self.current, Op::INVOKE, WORD, &self.scratch.stack_inputs, call, self.at);
        if ret != Type::Void {
            let value = self.bits_as(bits, ret);
            self.scratch.linked.values.push(value);
        }
    }

    /// The record of a function whose number is found out when the code runs.
    fn record(&mut self, function: Node) -> Node {
        let function = self.widen(function);
        let table = self.graph.constant(Type::I64, self.source.functions.table, self.at);
        let second = core::mem::offset_of!(Table, len) as u64;
        let second = self.graph.add(Op::ADDR, WORD, &[table], second, self.at);
        let records = self.graph.push(self.current, Op::LOAD, WORD, &[table], 0, self.at);
        let len = self.graph.push(self.current, Op::LOAD, WORD, &[second], 0, self.at);
        let below = Sig { from: Type::I64, ty: Type::Flag };
        let is_there = self.graph.add(Op::ULT, below, &[function, len], 0, self.at);
        let place = self.graph.add(Op::SELECT, WORD, &[is_there, function, len], 0, self.at);
        let place = self.graph.add(Op::IDX, WORD, &[records, place], SLOT_BYTES, self.at);
        self.graph.push(self.current, Op::LOAD, WORD, &[place], 0, self.at)
    }
}
