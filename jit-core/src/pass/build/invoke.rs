//! Calls from one function of bytecode to another.
//!
//! In: a function's number and its arguments, as values or as a run of VM registers. Out: a node that calls it by its
//! record, with the context and each argument's bits, or with where those stand in memory. The record of a function that is known by now is part of the code; that of any other is looked up
//! where the functions of an engine say, when the code runs.

use super::decode::run_of;
use super::{Builder, SLOT_BYTES, WORD};
use crate::ir::graph::{CallData, Effect, Target};
use crate::ir::index::Node;
use crate::ir::template::{Arguments, Convention, Ref, Signature};
use crate::vocab::{Op, Sig, Type};

/// The most arguments that one function of bytecode gives to another in registers and on the stack. More come from memory.
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
    /// The address of a function that makes a call with arguments from memory. It takes the record, the context, where the
    /// arguments are, and how many.
    pub spread: u64,
    /// The address of a function that notes which function takes the caller's place. It takes the same, and copies the
    /// arguments.
    pub put_off: u64,
    /// The address of one that takes the record, the context, and how many arguments there are, and says where they go.
    pub room: u64,
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
    pub(super) fn invoke(&mut self, function: Ref, args: Arguments, ret: Type, effect: Effect) {
        if effect == Effect::Observes {
            self.observed = true;
            self.flush_all();
        }
        let context = self.graph.add(Op::TC, WORD, &[], 0, self.at);
        match args {
            Arguments::Values(args) => self.invoke_node(context, function, args, ret, effect),
            Arguments::Run(operand) => {
                self.invoke_run(context, function, operand, ret, effect);
            }
        }
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
        let target = self.start_call(context, function);
        for &arg in args {
            let value = self.value(arg);
            let bits = self.widen(value);
            self.scratch.stack_inputs.push(bits);
        }
        self.end_call(target, args.len(), ret, effect);
    }

    /// A call with the registers of a run: as values or, if those are many or others write them, from their slots.
    fn invoke_run(&mut self, context: Node, function: Ref, operand: u8, ret: Type, effect: Effect) {
        let run = run_of(self.operand(operand));
        let is_written = run.clone().any(|register| self.is_in_window(register as u32));
        if run.len() > MAX_ARGUMENTS || self.observed || is_written {
            let count = self.graph.constant(Type::I64, run.len() as u64, self.at);
            let first = self.window(operand);
            return self.invoke_spread(context, function, [first, count], ret, effect);
        }
        let target = self.start_call(context, function);
        for register in run.clone() {
            let bits = self.read(register as u32, Type::I64);
            self.scratch.stack_inputs.push(bits);
        }
        self.end_call(target, run.len(), ret, effect);
    }

    /// A call with arguments from memory: where they start, and how many there are.
    pub(super) fn invoke_spread(
        &mut self,
        context: Node,
        function: Ref,
        [first, count]: [Node; 2],
        ret: Type,
        effect: Effect,
    ) {
        let record = self.record_of(function);
        let signature = Signature { convention: Convention::SysV64, args: &TYPES[..4], ret: Type::I64 };
        let target = Target::Direct(self.source.functions.spread);
        self.graph.calls.push(CallData { target, signature, effect });
        let call = self.graph.calls.len() as u64 - 1;
        let inputs = [record, context, first, count];
        let bits = self.graph.push(self.current, Op::INVOKE_SPREAD, WORD, &inputs, call, self.at);
        self.result(bits, ret);
    }

    /// Ends the function; another one takes its place.
    pub(super) fn tail(&mut self, function: Ref, args: Arguments) {
        let context = self.graph.add(Op::TC, WORD, &[], 0, self.at);
        let operand = match args {
            Arguments::Values(args) => return self.tail_values(context, function, args),
            Arguments::Run(operand) => operand,
        };
        let run = run_of(self.operand(operand));
        let is_written = run.clone().any(|register| self.is_in_window(register as u32));
        if run.len() > MAX_ARGUMENTS || self.observed || is_written {
            let count = self.graph.constant(Type::I64, run.len() as u64, self.at);
            let first = self.window(operand);
            return self.tail_spread(context, function, [first, count]);
        }
        let room = self.room(context, function, run.len());
        for (at, register) in run.enumerate() {
            let bits = self.read(register as u32, Type::I64);
            self.put(room, at, bits);
        }
        self.leave(Op::TAILED, Type::Void, &[], 0);
    }

    pub(super) fn tail_values(&mut self, context: Node, function: Ref, args: &[Ref]) {
        let room = self.room(context, function, args.len());
        for (at, &arg) in args.iter().enumerate() {
            let value = self.value(arg);
            let bits = self.widen(value);
            self.put(room, at, bits);
        }
        self.leave(Op::TAILED, Type::Void, &[], 0);
    }

    pub(super) fn tail_spread(&mut self, context: Node, function: Ref, [first, count]: [Node; 2]) {
        let record = self.record_of(function);
        let inputs = [record, context, first, count];
        let call = self.native(self.source.functions.put_off, &TYPES[..4], Type::Void);
        let sig = Sig { from: Type::Void, ty: Type::Void };
        self.graph.push(self.current, Op::CALLV, sig, &inputs, call, self.at);
        self.leave(Op::TAILED, Type::Void, &[], 0);
    }

    /// Where the arguments go of the function that takes this one's place.
    fn room(&mut self, context: Node, function: Ref, count: usize) -> Node {
        let record = self.record_of(function);
        let count = self.graph.constant(Type::I64, count as u64, self.at);
        let call = self.native(self.source.functions.room, &TYPES[..3], Type::I64);
        self.graph.push(self.current, Op::CALL, WORD, &[record, context, count], call, self.at)
    }

    fn put(&mut self, room: Node, at: usize, bits: Node) {
        let address = self.graph.add_normal(Op::ADDR, WORD, &[room], at as u64 * SLOT_BYTES, self.at);
        let sig = Sig { from: Type::I64, ty: Type::Void };
        self.graph.push(self.current, Op::STORE, sig, &[address, bits], 0, self.at);
    }

    /// The number of a call of one of the machine's own functions.
    fn native(&mut self, address: u64, args: &'static [Type], ret: Type) -> u64 {
        let signature = Signature { convention: Convention::SysV64, args, ret };
        let target = Target::Direct(address);
        self.graph.calls.push(CallData { target, signature, effect: Effect::Memory });
        self.graph.calls.len() as u64 - 1
    }

    fn record_of(&mut self, function: Ref) -> Node {
        match self.known(function) {
            Some(record) => self.graph.constant(Type::I64, record, self.at),
            None => self.record(function),
        }
    }

    /// Collects what a call takes before its arguments.
    fn start_call(&mut self, context: Node, function: Ref) -> Target {
        let known = self.known(function);
        let record = known.is_none().then(|| self.record(function));
        self.scratch.stack_inputs.clear();
        self.scratch.stack_inputs.extend(record);
        self.scratch.stack_inputs.push(context);
        known.map_or(Target::Indirect, Target::Direct)
    }

    fn end_call(&mut self, target: Target, args: usize, ret: Type, effect: Effect) {
        let signature =
            Signature { convention: Convention::Bytecode, args: &TYPES[..1 + args], ret: Type::I64 };
        self.graph.calls.push(CallData { target, signature, effect });
        let call = self.graph.calls.len() as u64 - 1;
        let inputs = &self.scratch.stack_inputs;
        let bits = self.graph.push(self.current, Op::INVOKE, WORD, inputs, call, self.at);
        self.result(bits, ret);
    }

    fn result(&mut self, bits: Node, ret: Type) {
        if ret != Type::Void {
            let value = self.bits_as(bits, ret);
            self.scratch.linked.values.push(value);
        }
    }

    /// The record of a function that is there already, and is known by number.
    fn known(&self, function: Ref) -> Option<u64> {
        let number = self.graph.as_const(self.value(function))?;
        self.source.functions.records.get(number as usize).copied()
    }

    /// The record of a function whose number is found out when the code runs.
    fn record(&mut self, function: Ref) -> Node {
        let function = self.value(function);
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
