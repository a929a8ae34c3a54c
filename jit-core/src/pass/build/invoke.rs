//! Calls from one function of bytecode to another.
//!
//! In: a function's number, or its address, which is that of its call cell; and its arguments, as values or as a run of VM registers.
//! Out: a node that calls the function through its call cell, with the context and the bits of each argument, or with the address of
//! the arguments in memory; for a tail call, a node that jumps there in the same way, or nodes that tell the engine's host the next
//! function and its arguments. A known call cell's address is part of the code; by a number that is not known the code looks up the
//! cell at run time.

use super::cursor::Cursor;
use super::link::{Linker, Operands};
use super::{SLOT_BYTES, WORD};
use crate::ir::frames::ShowPlan;
use crate::ir::graph::{CallData, CallMemory, CallTarget, Effect};
use crate::ir::index::Node;
use crate::ir::list::Refs;
use crate::ir::template::{Arguments, Convention, Ref, Signature};
use crate::vocab::{Op, Sig, Type};

/// The maximum number of arguments that a call passes in registers and on the stack. If there are more, all are in memory.
pub const MAX_ARGUMENTS: usize = 64;

/// The types of a call's context and arguments.
static TYPES: [Type; 1 + MAX_ARGUMENTS] = [Type::I64; 1 + MAX_ARGUMENTS];

/// The addresses through which code calls functions of bytecode, and through which it is stopped. By default there are no
/// functions, and no code can be stopped.
#[derive(Clone, Copy, Debug, Default)]
pub struct Linkage<'a> {
    /// The address of each function's call cell, by number. Only the machine knows the contents of a call cell.
    pub cells: &'a [u64],
    /// The address of a [`CellTable`], which never moves: there code finds functions that are added later.
    pub table: u64,
    /// The address of a native function that notes which function replaces the caller. It takes the call cell, the context,
    /// the address of the arguments, and their number, and copies the arguments.
    pub set_tail_call: u64,
    /// The address of a native function that notes which function replaces the caller, but leaves copying to the caller. It
    /// takes the call cell, the context, and the number of arguments, and returns the address at which the caller stores
    /// them.
    pub begin_tail_call: u64,
    /// Where code notes a tail call with few arguments itself. If it is not known, `begin_tail_call` is called for them, too.
    pub pending: Option<&'static PendingPlace>,
    /// The address of a native function that is told of a failure which goes no further. It takes the call cell of the function that
    /// failed, and the trap's code. It returns that code, or [`Trap::Ended`](crate::vocab::Trap)'s if the program is to end.
    pub caught: u64,
    /// The address of a word that becomes nonzero when the program is to stop, if it can be stopped. Each loop reads it at
    /// its head, and exits there if it is nonzero.
    pub stop: Option<u64>,
    /// The address of a 64-bit number, if the program runs on fuel. It is decremented whenever a function starts or a loop
    /// reaches its head. Below zero, the code exits there.
    pub fuel: Option<u64>,
    /// How the function at hand shows its frame, if some template of its bytecode type passes the frames that are shown to a function.
    /// In stencils, and in code that interprets opcodes, only whether that is so counts.
    pub show: Option<ShowPlan>,
    /// Whether those who look at frames write no registers: they have the same values behind a call that observes. Only code of whole functions
    /// depends on it.
    pub only_read: bool,
}

/// Where the function is noted that replaces the one which ends in a tail call. All are offsets in bytes.
#[derive(Clone, Copy, Debug)]
pub struct PendingPlace {
    /// In a call cell: the address of the data that all functions share. The others are in that.
    pub shared: u64,
    /// The call cell.
    pub cell: u64,
    /// The context.
    pub context: u64,
    /// The number of arguments.
    pub count: u64,
    /// The address of the arguments.
    pub args: u64,
    /// Room for arguments.
    pub room: u64,
    /// How many of them there is room for.
    pub most: usize,
}

/// The call cells of all functions, as compiled code accesses them.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct CellTable {
    /// The addresses of the call cells, followed by that of the call cell for all other numbers.
    pub cells: *const u64,
    /// The number of functions.
    pub len: u64,
}

/// The callee of a call between functions of bytecode.
#[derive(Clone, Copy)]
pub(super) enum InvokeTarget {
    /// The function whose call cell has this address.
    Known(u64),
    /// The function whose call cell has the address that the code computes.
    Cell(Node),
    /// The function with this number. The code looks it up in the engine's [`CellTable`].
    Number(Node),
    /// The function with a number in a table, whose address is a value too.
    InTable(Node, Node),
}

/// The arguments of a call between functions of bytecode.
pub(super) enum InvokeArguments<R> {
    /// The template's values.
    Values(Refs),
    /// The values of a run of registers.
    Run(R),
    /// Slots in memory: the address of the first, and their number.
    InMemory([Node; 2]),
}

impl Linkage<'_> {
    /// The fields that are the same for all engines of the process.
    pub fn of_process(&self) -> Linkage<'static> {
        let Linkage { set_tail_call, begin_tail_call, pending, caught, show, .. } = *self;
        let show = show.map(|_| ShowPlan::default());
        Linkage { set_tail_call, begin_tail_call, pending, caught, show, ..Linkage::default() }
    }
}

impl<O: Operands> Linker<'_, O> {
    /// Calls a function of bytecode. If the caller catches failures, the trap's code is a value, too.
    pub(super) fn invoke(
        &mut self,
        function: Ref,
        args: Arguments,
        (ret, catches): (Type, bool),
        effect: Effect,
    ) {
        self.operands.before_call(&mut self.cursor, effect);
        let kept = if catches && effect != Effect::Observes { self.keep_list() } else { None };
        let (context, callee, args) = self.prepare_invoke(function, args);
        let target = self.start_inputs(callee, context);
        let (op, n_args) = match args {
            InvokeArguments::InMemory(run) => {
                self.scratch.inputs.extend(run);
                (if catches { Op::TRY_INVOKE_SPREAD } else { Op::INVOKE_SPREAD }, run.len())
            }
            _ => (if catches { Op::TRY_INVOKE } else { Op::INVOKE }, args.len::<O>()),
        };
        self.each_argument(&args, |linker, _, bits| linker.scratch.inputs.push(bits));
        let signature =
            Signature { convention: Convention::Bytecode, args: &TYPES[..1 + n_args], ret: Type::I64 };
        let call = self.cursor.call_data(CallData { target, signature, effect, memory: CallMemory::ANY });
        let bits = self.cursor.push(op, WORD, &self.scratch.inputs, call);
        if ret != Type::Void {
            let value = self.cursor.bits_as(bits, ret);
            self.define(value);
        }
        if catches {
            let failure = self.cursor.failure(bits);
            self.define(failure);
        }
        self.after_call(effect);
        if let Some(kept) = kept {
            self.restore_list(kept);
        }
    }

    /// Ends the block where an inlined function takes its place. Control goes on behind the template.
    pub(super) fn enter_inlined(&mut self, call: u32, args: Arguments) {
        let args = match args {
            Arguments::Values(args) => InvokeArguments::Values(args),
            Arguments::Run(operand) => self.operands.run(&mut self.cursor, operand),
            Arguments::Spread(_) => unreachable!("nobody knows how many arguments there will be"),
        };
        self.scratch.inputs.clear();
        self.each_argument(&args, |linker, _, bits| linker.scratch.inputs.push(bits));
        self.operands.before_end(&mut self.cursor);
        self.operands.enter_inlined(&mut self.cursor, call, &self.scratch.inputs);
    }

    /// Tells the engine's host of a failure that goes no further, and asks it whether the program is to end.
    pub(super) fn caught(&mut self, function: Ref, code: Ref) {
        let (number, code) = (self.value(function), self.value(code));
        self.operands.before_call(&mut self.cursor, Effect::Memory);
        let callee = callee_of(&mut self.cursor, &mut self.operands, number);
        let cell = self.cell(callee);
        let code = self.cursor.widen(code);
        let call = self.cursor.native_call(self.functions.caught, &TYPES[..2], Type::I64);
        let code = self.cursor.push(Op::CALL, WORD, &[cell, code], call);
        let code = self.cursor.bits_as(code, Type::I32);
        self.define(code);
        self.operands.after_call(&mut self.cursor, Effect::Memory);
    }

    /// Ends the function with a tail call: another function replaces it, and returns its result.
    pub(super) fn tail(&mut self, function: Ref, args: Arguments) {
        let (context, callee, args) = self.prepare_invoke(function, args);
        if let InvokeTarget::Known(cell) = callee
            && self.operands.repeats(&self.cursor, cell, args.len::<O>())
        {
            self.scratch.inputs.clear();
            self.each_argument(&args, |linker, _, bits| linker.scratch.inputs.push(bits));
            return self.operands.repeat(&mut self.cursor, &self.scratch.inputs);
        }
        let in_registers = !matches!(args, InvokeArguments::InMemory(_))
            && self.operands.tail_arguments().is_some_and(|most| args.len::<O>() <= most);
        if in_registers {
            return self.tail_invoke(context, callee, &args);
        }
        let cell = self.cell(callee);
        let Linkage { set_tail_call, begin_tail_call, pending, .. } = *self.functions;
        if let InvokeArguments::InMemory([first, count]) = args {
            let call = self.cursor.native_call(set_tail_call, &TYPES[..4], Type::Void);
            let sig = Sig { from: Type::Void, ty: Type::Void };
            self.cursor.push(Op::CALLV, sig, &[cell, context, first, count], call);
        } else {
            let n_args = args.len::<O>();
            let count = self.cursor.constant(Type::I64, n_args as u64);
            let first = match pending.filter(|pending| n_args <= pending.most) {
                Some(pending) => self.note_pending(pending, [cell, context, count]),
                None => {
                    let call = self.cursor.native_call(begin_tail_call, &TYPES[..3], Type::I64);
                    self.cursor.push(Op::CALL, WORD, &[cell, context, count], call)
                }
            };
            self.each_argument(&args, |linker, index, bits| {
                let address = linker.cursor.address(first, index as u64 * SLOT_BYTES);
                linker.cursor.store(address, bits);
            });
        }
        self.cursor.leave(Op::TAILED, Type::Void, &[], 0);
    }

    /// Ends the function with a jump to the one that replaces it, which gets its arguments in registers.
    fn tail_invoke(&mut self, context: Node, callee: InvokeTarget, args: &InvokeArguments<O::Run>) {
        let target = self.start_inputs(callee, context);
        self.each_argument(args, |linker, _, bits| linker.scratch.inputs.push(bits));
        let args = &TYPES[..1 + args.len::<O>()];
        let signature = Signature { convention: Convention::Bytecode, args, ret: Type::Void };
        let memory = CallMemory::ANY;
        let call = self.cursor.call_data(CallData { target, signature, effect: Effect::Memory, memory });
        self.cursor.leave(Op::TAIL_INVOKE, Type::Void, &self.scratch.inputs, call);
    }

    /// Notes a tail call, but for its arguments; returns the address to store them at.
    fn note_pending(&mut self, pending: &PendingPlace, [cell, context, count]: [Node; 3]) -> Node {
        let cursor = &mut self.cursor;
        let place = cursor.address(cell, pending.shared);
        let shared = cursor.load(Type::I64, place);
        let room = cursor.address(shared, pending.room);
        let noted =
            [(pending.cell, cell), (pending.context, context), (pending.count, count), (pending.args, room)];
        for (offset, value) in noted {
            let place = cursor.address(shared, offset);
            cursor.store(place, value);
        }
        room
    }

    fn prepare_invoke(
        &mut self,
        function: Ref,
        args: Arguments,
    ) -> (Node, InvokeTarget, InvokeArguments<O::Run>) {
        let number = self.value(function);
        let Linker { cursor, operands, .. } = self;
        let context = operands.context(cursor);
        let callee = callee_of(cursor, operands, number);
        let args = match args {
            Arguments::Values(args) => InvokeArguments::Values(args),
            Arguments::Run(operand) => operands.run(cursor, operand),
            Arguments::Spread([first, count]) => {
                InvokeArguments::InMemory([self.value(first), self.value(count)])
            }
        };
        (context, callee, args)
    }

    /// Visits the bits of the arguments that are not in memory.
    fn each_argument(
        &mut self,
        args: &InvokeArguments<O::Run>,
        mut visit: impl FnMut(&mut Self, usize, Node),
    ) {
        for index in 0..args.len::<O>() {
            let bits = match args {
                InvokeArguments::Values(args) => {
                    let value = self.value(args[index]);
                    self.cursor.widen(value)
                }
                InvokeArguments::Run(run) => self.operands.run_element(&mut self.cursor, run, index),
                InvokeArguments::InMemory(_) => return,
            };
            visit(self, index, bits);
        }
    }

    /// Sets the operands of a call's node to those in front of the arguments: the call cell, if it is computed, and the context. Returns
    /// what the call goes to.
    fn start_inputs(&mut self, callee: InvokeTarget, context: Node) -> CallTarget {
        let (target, cell) = match callee {
            InvokeTarget::Known(cell) => (CallTarget::Direct(cell), None),
            callee => (CallTarget::Indirect, Some(self.cell(callee))),
        };
        self.scratch.inputs.clear();
        self.scratch.inputs.extend(cell);
        self.scratch.inputs.push(context);
        target
    }

    /// The address of a function's call cell.
    fn cell(&mut self, callee: InvokeTarget) -> Node {
        let cursor = &mut self.cursor;
        let (table, number) = match callee {
            InvokeTarget::Known(cell) => return cursor.constant(Type::I64, cell),
            InvokeTarget::Cell(cell) => return cell,
            InvokeTarget::Number(number) => (cursor.constant(Type::I64, self.functions.table), number),
            InvokeTarget::InTable(table, number) => (table, number),
        };
        let number = cursor.widen(number);
        let second = cursor.add(Op::ADDR, WORD, &[table], core::mem::offset_of!(CellTable, len) as u64);
        let cells = cursor.load(Type::I64, table);
        let len = cursor.load(Type::I64, second);
        let below = Sig { from: Type::I64, ty: Type::Flag };
        let is_there = cursor.add(Op::ULT, below, &[number, len], 0);
        let place = cursor.add(Op::SELECT, WORD, &[is_there, number, len], 0);
        let place = cursor.add(Op::IDX, WORD, &[cells, place], SLOT_BYTES);
        cursor.load(Type::I64, place)
    }
}

/// The callee that a value is the number or the address of.
fn callee_of(cursor: &mut Cursor<'_>, operands: &mut impl Operands, value: Node) -> InvokeTarget {
    match (cursor.graph.node(value).ty(), cursor.graph.as_const(value)) {
        (Type::I64, Some(cell)) => InvokeTarget::Known(cell),
        (Type::I64, None) => InvokeTarget::Cell(value),
        _ => operands.callee(cursor, value),
    }
}

impl<R> InvokeArguments<R> {
    /// The number of arguments that are not in memory.
    fn len<O: Operands<Run = R>>(&self) -> usize {
        match self {
            InvokeArguments::Values(args) => args.len(),
            InvokeArguments::Run(run) => O::run_length(run),
            InvokeArguments::InMemory(_) => 0,
        }
    }
}
