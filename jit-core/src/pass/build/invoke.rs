//! Calls from one function of bytecode to another.
//!
//! In: a function's number and its arguments, as values or as a run of VM registers. Out: a node that calls it by its
//! call cell, with the context and each argument's bits, or with where those stand in memory; or what has it take the
//! caller's place. The call cell of a function that is known by now is part of the code; that of any other is looked up where
//! the functions of an engine say, when the code runs.

use super::{Builder, SLOT_BYTES, WORD};
use crate::ir::bytecode::run_of;
use crate::ir::graph::{CallData, Effect, Target};
use crate::ir::index::Node;
use crate::ir::template::{Arguments, Convention, Ref, Signature};
use crate::vocab::{Op, Sig, Type};
use core::ops::Range;

/// The most arguments that one function of bytecode gives to another in registers and on the stack. More come from memory.
pub const MAX_ARGUMENTS: usize = 64;

/// What a call takes: the context, and the arguments.
static TYPES: [Type; 1 + MAX_ARGUMENTS] = [Type::I64; 1 + MAX_ARGUMENTS];

/// Where functions of bytecode find each other. Where nobody said, there are none.
#[derive(Clone, Copy, Debug, Default)]
pub struct Functions<'a> {
    /// The address of each function's call cell, by number. What a call cell is, is the machine's business.
    pub cells: &'a [u64],
    /// The address of a [`Table`] that stays where it is: it tells of functions that will be there later.
    pub table: u64,
    /// The address of a function that notes which function takes the caller's place. It takes the call cell, the context, where
    /// the arguments are, and how many, and copies them.
    pub set_tail_call: u64,
    /// The address of one that takes the call cell, the context, and how many arguments there are, and says where they go.
    pub begin_tail_call: u64,
    /// The address of a word that is not zero once the program is to stop, if anybody may have it stopped. Loops look at it
    /// each time around, and are left at their heads.
    pub stop: Option<u64>,
    /// The address of a number of 64 bits that goes down by one each time a loop goes around or a function starts, if the
    /// program runs on fuel. Below zero, the function is left there.
    pub fuel: Option<u64>,
}

/// The call cells of all functions, as compiled code sees them.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Table {
    /// The addresses of the call cells, and behind them one more: that of the call cell for all other numbers.
    pub cells: *const u64,
    /// How many functions there are.
    pub len: u64,
}

/// Which function is called.
#[derive(Clone, Copy)]
pub(super) enum Invoked {
    /// That with this number.
    Number(Ref),
    /// The same, found in the table of all functions at this address.
    Sought(Node, Ref),
    /// That with this call cell.
    Cell(Node),
}

/// What a function is given.
pub(super) enum Given {
    Values(&'static [Ref]),
    /// What these VM registers have.
    Registers(Range<usize>),
    /// Words in memory: where they start, and how many there are.
    InMemory([Node; 2]),
}

impl Given {
    /// How many arguments there are, as far as that is known.
    fn len(&self) -> usize {
        match self {
            Given::Values(args) => args.len(),
            Given::Registers(run) => run.len(),
            Given::InMemory(_) => 0,
        }
    }
}

impl Functions<'_> {
    /// What is the same for all engines of the process.
    pub fn of_process(&self) -> Functions<'static> {
        let Functions { set_tail_call, begin_tail_call, .. } = *self;
        Functions { set_tail_call, begin_tail_call, ..Functions::default() }
    }
}

impl Builder<'_> {
    pub(super) fn invoke(&mut self, function: Ref, args: Arguments, ret: Type, effect: Effect) {
        if effect == Effect::Observes {
            self.observed = true;
            self.flush_all();
        }
        let context = self.graph.add(Op::TC, WORD, &[], 0, self.at);
        let given = self.given(args);
        self.invoke_node(context, Invoked::Number(function), given, ret, effect);
        if effect == Effect::Observes {
            self.reload_all();
        }
    }

    /// Ends the function; another one takes its place.
    pub(super) fn tail(&mut self, function: Ref, args: Arguments) {
        let context = self.graph.add(Op::TC, WORD, &[], 0, self.at);
        let given = self.given(args);
        self.tail_node(context, Invoked::Number(function), given);
    }

    /// The registers of a run are values, unless they are many or others write them.
    fn given(&mut self, args: Arguments) -> Given {
        let operand = match args {
            Arguments::Values(args) => return Given::Values(args),
            Arguments::Run(operand) => operand,
        };
        let run = run_of(self.operand(operand));
        let is_written = run.clone().any(|register| self.is_in_window(register as u32));
        if run.len() > MAX_ARGUMENTS || self.observed || is_written {
            let count = self.graph.constant(Type::I64, run.len() as u64, self.at);
            let first = self.window(operand);
            return Given::InMemory([first, count]);
        }
        Given::Registers(run)
    }

    pub(super) fn invoke_node(
        &mut self,
        context: Node,
        function: Invoked,
        given: Given,
        ret: Type,
        effect: Effect,
    ) {
        let target = self.start_call(context, function);
        let (op, n_args) = match given {
            Given::InMemory(run) => {
                self.scratch.stack_inputs.extend(run);
                (Op::INVOKE_SPREAD, run.len())
            }
            _ => (Op::INVOKE, given.len()),
        };
        for at in 0..given.len() {
            let bits = self.argument_bits(&given, at);
            self.scratch.stack_inputs.push(bits);
        }
        let signature =
            Signature { convention: Convention::Bytecode, args: &TYPES[..1 + n_args], ret: Type::I64 };
        self.graph.calls.push(CallData { target, signature, effect });
        let call = self.graph.calls.len() as u64 - 1;
        let bits = self.graph.push(self.current, op, WORD, &self.scratch.stack_inputs, call, self.at);
        if ret != Type::Void {
            let value = self.bits_as(bits, ret);
            self.scratch.linked.values.push(value);
        }
    }

    pub(super) fn tail_node(&mut self, context: Node, function: Invoked, given: Given) {
        let cell = self.cell_of(function);
        let native = |args, ret| Signature { convention: Convention::SysV64, args, ret };
        if let Given::InMemory([first, count]) = given {
            let signature = native(&TYPES[..4], Type::Void);
            let call = self.callee(self.source.functions.set_tail_call, signature, Effect::Memory);
            let sig = Sig { from: Type::Void, ty: Type::Void };
            let inputs = [cell, context, first, count];
            self.graph.push(self.current, Op::CALLV, sig, &inputs, call, self.at);
        } else {
            let count = self.graph.constant(Type::I64, given.len() as u64, self.at);
            let signature = native(&TYPES[..3], Type::I64);
            let call = self.callee(self.source.functions.begin_tail_call, signature, Effect::Memory);
            let inputs = [cell, context, count];
            let begin_tail_call = self.graph.push(self.current, Op::CALL, WORD, &inputs, call, self.at);
            for at in 0..given.len() {
                let bits = self.argument_bits(&given, at);
                self.put(begin_tail_call, at, bits);
            }
        }
        self.leave(Op::TAILED, Type::Void, &[], 0);
    }

    /// The bits of an argument that is not in memory.
    fn argument_bits(&mut self, given: &Given, at: usize) -> Node {
        match given {
            Given::Values(args) => {
                let value = self.value(args[at]);
                self.widen(value)
            }
            Given::Registers(run) => self.read((run.start + at) as u32, Type::I64),
            Given::InMemory(_) => unreachable!("it is not looked at"),
        }
    }

    fn put(&mut self, begin_tail_call: Node, at: usize, bits: Node) {
        let address =
            self.graph.add_normal(Op::ADDR, WORD, &[begin_tail_call], at as u64 * SLOT_BYTES, self.at);
        let sig = Sig { from: Type::I64, ty: Type::Void };
        self.graph.push(self.current, Op::STORE, sig, &[address, bits], 0, self.at);
    }

    /// The number of a call of a function at a known address.
    fn callee(&mut self, address: u64, signature: Signature, effect: Effect) -> u64 {
        self.graph.calls.push(CallData { target: Target::Direct(address), signature, effect });
        self.graph.calls.len() as u64 - 1
    }

    fn cell_of(&mut self, function: Invoked) -> Node {
        match self.known(function) {
            Some(cell) => self.graph.constant(Type::I64, cell, self.at),
            None => self.cell(function),
        }
    }

    /// Collects what a call takes before its arguments.
    fn start_call(&mut self, context: Node, function: Invoked) -> Target {
        let known = self.known(function);
        let cell = known.is_none().then(|| self.cell(function));
        self.scratch.stack_inputs.clear();
        self.scratch.stack_inputs.extend(cell);
        self.scratch.stack_inputs.push(context);
        known.map_or(Target::Indirect, Target::Direct)
    }

    /// The call cell of a function that is there already, and is known by number.
    fn known(&self, function: Invoked) -> Option<u64> {
        let Invoked::Number(function) = function else { return None };
        let number = self.graph.as_const(self.value(function))?;
        self.source.functions.cells.get(number as usize).copied()
    }

    /// The call cell of a function whose number is found out when the code runs.
    fn cell(&mut self, function: Invoked) -> Node {
        let (table, function) = match function {
            Invoked::Number(function) => {
                (self.graph.constant(Type::I64, self.source.functions.table, self.at), function)
            }
            Invoked::Sought(table, function) => (table, function),
            Invoked::Cell(cell) => return cell,
        };
        let function = self.widen(self.value(function));
        let second = core::mem::offset_of!(Table, len) as u64;
        let second = self.graph.add(Op::ADDR, WORD, &[table], second, self.at);
        let cells = self.graph.push(self.current, Op::LOAD, WORD, &[table], 0, self.at);
        let len = self.graph.push(self.current, Op::LOAD, WORD, &[second], 0, self.at);
        let below = Sig { from: Type::I64, ty: Type::Flag };
        let is_there = self.graph.add(Op::ULT, below, &[function, len], 0, self.at);
        let place = self.graph.add(Op::SELECT, WORD, &[is_there, function, len], 0, self.at);
        let place = self.graph.add(Op::IDX, WORD, &[cells, place], SLOT_BYTES, self.at);
        self.graph.push(self.current, Op::LOAD, WORD, &[place], 0, self.at)
    }
}
