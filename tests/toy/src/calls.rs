//! Calls between functions of bytecode, and adapters.
//!
//! | register | holds in a call |
//! | --- | --- |
//! | `x1` | the callee's cell |
//! | `x0` | the context |
//! | `x2` | the number of arguments |
//! | `x3` `x4` | the first two arguments; the others are on the stack |
//!
//! A call returns the bits of the result in `x0` and zero in `x1`, or a trap's code in `x1`. A call whose arguments are in
//! memory passes their address in `x3` and their number in `x4`.

use crate::emit::{Emitter, Tile};
use crate::frame::Frame;
use crate::instruction::Code;
use crate::regs::*;
use crate::stubs::STUBS;
use azulejo_code::call::{
    Accepts, AdapterAdmission, Admission, CallCell, Entries, Host, SLACK, TAIL_CALL, TargetCode,
};
use azulejo_code::emit::{Frame as _, Options, by_hand};
use azulejo_code::unwind::StackFrame;
use azulejo_core::ir::index::Block;
use azulejo_core::ir::status::Left;
use azulejo_core::target::{Reg, RegSet};
use azulejo_core::vocab::{Op, Sig, Trap, Type};

/// A failure exit, which is emitted behind all blocks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Failure {
    block: Block,
    origin: u32,
}

impl Emitter {
    /// Calls the function whose call cell is in `x1`, and exits if it failed. `others` of the tile's operands are not
    /// arguments.
    pub(crate) fn invoke(&mut self, t: &Tile<'_>, others: usize) {
        self.set(X2.number(), (t.operands() - others) as u64);
        self.load_word(TEMP, X1, CallCell::ENTRY as i64);
        self.registers(Code::Call, [TEMP.number(), 0, 0]);
        self.expect_result(t);
    }

    /// Calls the function whose call cell is in `x1` with arguments that stay in memory.
    pub(crate) fn invoke_from_memory(&mut self, t: &Tile<'_>) {
        self.load_word(TEMP, X1, CallCell::UNPACK as i64);
        self.registers(Code::Call, [TEMP.number(), 0, 0]);
        self.expect_result(t);
    }

    /// Exits if the callee that was called last has failed.
    pub(crate) fn expect_result(&mut self, t: &Tile<'_>) {
        let block = self.add_block();
        self.failures.push(Failure { block, origin: t.origin });
        self.test_trap();
        self.jump_on(Code::JumpIf, FLAG, block);
    }

    /// Sets the flag if `x1` holds a trap's code.
    pub(crate) fn test_trap(&mut self) {
        let sig = Sig { from: Type::I32, ty: Type::Flag };
        self.operate(Op::NZ, sig, FLAG.number(), [X1.number(), 0]);
    }

    fn compare(&mut self, op: Op, first: Reg, second: Reg) {
        let sig = Sig { from: Type::I64, ty: Type::Flag };
        self.operate(op, sig, FLAG.number(), [first.number(), second.number()]);
    }

    /// Leaves the function for the host's pending tail call.
    pub(crate) fn tail(&mut self) {
        if !self.is_call_entry {
            self.set(X0.number(), Left::Tailed.word(0));
            return self.leave_unfinished();
        }
        self.enter_next();
    }

    fn enter_next(&mut self) {
        self.set(FLAG.number(), self.host);
        self.enter_next_of_host();
    }

    /// Drops the frame and enters the pending tail call's function; the flag register holds the host.
    pub(crate) fn enter_next_of_host(&mut self) {
        self.drop_frame();
        self.load_word(TEMP, FLAG, Host::ENTER_NEXT as i64);
        self.registers(Code::JumpTo, [TEMP.number(), 0, 0]);
    }

    /// Skips the code that follows, unless the outcome of a function that the host ran is a tail call.
    pub(crate) fn skip_unless_tail_call(&mut self) -> usize {
        self.set(TEMP.number(), TAIL_CALL);
        self.operate_wide(Op::AND, TEMP, X1, TEMP);
        self.skip(Code::JumpUnless, TEMP)
    }

    /// Leaves a function that its host has run to its end or to a tail call.
    pub(crate) fn hand_on(&mut self) {
        let has_ended = self.skip_unless_tail_call();
        self.enter_next();
        self.land(has_ended);
        self.leave();
    }

    /// Returns a result to a caller in bytecode.
    pub(crate) fn succeed(&mut self) {
        self.set(X1.number(), 0);
        self.leave();
    }

    /// Emits the failure exits. The trap's code is in `x1`.
    pub(crate) fn fail(&mut self) {
        for Failure { block, origin } in core::mem::take(&mut self.failures) {
            self.start(block);
            match (self.is_call_entry, self.noted) {
                (true, None) => self.leave(),
                (true, Some(_)) => {
                    self.set(X0.number(), origin as u64);
                    self.leave_failed();
                }
                (false, _) => {
                    self.set(TEMP.number(), Left::Trapped.word(0));
                    let sig = Sig { from: Type::I32, ty: Type::I64 };
                    self.operate(Op::UCAST, sig, X0.number(), [X1.number(), 0]);
                    self.operate_wide(Op::OR, X0, X0, TEMP);
                    self.set(X1.number(), origin as u64);
                    self.leave();
                }
            }
        }
    }

    /// Leaves a function that fails. If failures are noted, the failing bytecode is in `x0`.
    pub(crate) fn leave_failed(&mut self) {
        let Some(cell) = self.noted else { return self.leave() };
        self.land_faults();
        self.drop_frame();
        self.set(X2.number(), cell);
        self.load_word(TEMP, X2, CallCell::HOST as i64);
        self.load_word(TEMP, TEMP, Host::NOTE_STUB as i64);
        self.registers(Code::JumpTo, [TEMP.number(), 0, 0]);
    }

    /// Makes this a function that other functions of bytecode call; returns the offset of the entry that they use.
    pub(crate) fn admit_calls(&mut self, admission: &Admission<'_>, backtraces: bool) -> u32 {
        self.is_call_entry = true;
        self.noted = backtraces.then(|| core::ptr::from_ref(admission.cell).addr() as u64);
        self.host = admission.host();
        let is_deep = self.refuse();
        let is_foreign = self.send_aside();
        let entry = self.here() as u32;
        self.expect_count(X2, admission.arguments, is_foreign);
        let stack_bytes = self.frame.size() as usize;
        self.look_at_stack(stack_bytes, is_deep);
        self.start_frame();
        entry
    }

    /// Emits the code before an adapter's frame is made; returns its entries.
    fn admit_to_adapter(&mut self, admission: &AdapterAdmission<'_>, stack_bytes: usize) -> Entries {
        let AdapterAdmission { accepts, budget, cell, .. } = *admission;
        self.host = core::ptr::from_ref(cell.host()).addr() as u64;
        let is_deep = self.refuse();
        let is_foreign_in_memory = self.here();
        self.jump_address(STUBS.unpack.addr() as u64);
        let is_the_hosts = self.here();
        if matches!(accepts, Accepts::Exactly(1..)) {
            self.back(Code::JumpUnless, X2, is_foreign_in_memory);
        }
        self.jump_address(STUBS.resolve.addr() as u64);
        let entries = match accepts {
            Accepts::Exactly(arguments) => {
                let is_foreign = self.send_aside();
                let entry = self.here() as u32;
                self.expect_count(X2, arguments, is_foreign);
                let is_admitted = self.skip(Code::JumpIf, FLAG);
                let from_memory = self.here() as u32;
                self.expect_count(X4, arguments, is_foreign_in_memory);
                self.set(X2.number(), IN_MEMORY);
                self.land(is_admitted);
                (entry, Some(from_memory))
            }
            Accepts::UpTo(most) => {
                let entry = self.here() as u32;
                self.set(TEMP.number(), most as u64);
                self.compare(Op::UGT, X2, TEMP);
                self.back(Code::JumpIf, FLAG, is_the_hosts);
                (entry, None)
            }
        };
        if let Some(budget) = budget {
            self.count(budget, is_the_hosts);
        }
        self.look_at_stack(stack_bytes, is_deep);
        self.start_frame();
        entries
    }

    fn start_frame(&mut self) {
        let here = self.here() as u32;
        self.frame.start_at(here);
    }

    /// Emits the target of calls that have no room left on the stack; returns its offset.
    fn refuse(&mut self) -> usize {
        let is_deep = self.here();
        self.set(X1.number(), Trap::StackOverflow.code() as u64);
        self.registers(Code::Return, [0; 3]);
        is_deep
    }

    /// Emits the target of calls with another number of arguments; returns its offset.
    fn send_aside(&mut self) -> usize {
        let is_foreign = self.here();
        self.load_word(TEMP, X1, CallCell::FALLBACK as i64);
        self.registers(Code::JumpTo, [TEMP.number(), 0, 0]);
        is_foreign
    }

    /// Jumps to `is_foreign` unless this is the number of arguments.
    fn expect_count(&mut self, count: Reg, arguments: u32, is_foreign: usize) {
        self.set(TEMP.number(), arguments as u64);
        self.compare(Op::EQ, count, TEMP);
        self.back(Code::JumpUnless, FLAG, is_foreign);
    }

    /// Counts a call down; a call below zero goes to the host.
    fn count(&mut self, budget: *const i32, is_used_up: usize) {
        let (flag, temp) = (FLAG.number(), TEMP.number());
        self.set(flag, budget.addr() as u64);
        self.load(Type::I32, temp, flag, 0);
        self.add(temp, temp, -1);
        self.store(Type::I32, flag, 0, temp);
        self.set(flag, 0);
        self.operate(Op::LT, Sig { from: Type::I32, ty: Type::Flag }, flag, [temp, flag]);
        self.back(Code::JumpIf, FLAG, is_used_up);
    }

    fn look_at_stack(&mut self, stack_bytes: usize, is_deep: usize) {
        self.set(TEMP.number(), self.host);
        self.load_word(TEMP, TEMP, Host::LOWEST as i64);
        let more = stack_bytes.saturating_sub(SLACK) as i64;
        self.set(FLAG.number(), more as u64);
        self.operate_wide(Op::ADD, TEMP, TEMP, FLAG);
        self.compare(Op::ULT, SP, TEMP);
        self.back(Code::JumpIf, FLAG, is_deep);
    }

    /// The offset of the slots for VM registers, in a function that has its own.
    pub(crate) fn vm_frame(&self) -> i64 {
        self.room as i64
    }

    /// The offset of an argument that the caller put on the stack.
    pub(crate) fn argument(&self, offset: i64) -> i64 {
        self.frame.size() as i64 + offset
    }
}

/// In `x2`, behind both entries of an adapter whose function takes arguments: this if they are in memory, otherwise their
/// number.
const IN_MEMORY: u64 = 0;

/// An adapter for this code. It clears the `cleared` slots.
pub(crate) fn adapter(
    code: &TargetCode<Frame>,
    admission: &AdapterAdmission<'_>,
    cleared: &[u32],
    options: &Options,
) -> (Emitter, Entries) {
    match *code {
        TargetCode::RunsInFrame { frame, places: [cell, context, slots], unit, start } => {
            let mut cx: Emitter = by_hand(options, frame);
            let entries = cx.admit_to_adapter(admission, frame.size() as usize);
            cx.make_frame();
            cx.store_word(SP, cell as i64, X1);
            cx.store_word(SP, context as i64, X0);
            cx.fill(slots, admission.accepts, cleared);
            let [context, slots_in, unit_in] = KEPT;
            cx.mov(context, X0);
            cx.add(slots_in.number(), SP.number(), slots as i64);
            if let Some(unit) = unit {
                cx.set(unit_in.number(), unit);
            }
            cx.jump_address(start.addr() as u64);
            (cx, entries)
        }
        TargetCode::TakesFrame { entry, third, stack_bytes, is_turned } => {
            around((entry, third, stack_bytes, is_turned), admission, cleared, options)
        }
    }
}

/// An adapter that calls code which takes a frame as an engine passes it, and that checks the returned status.
fn around(
    (entry, third, stack_bytes, is_turned): (*const u8, *const (), usize, bool),
    admission: &AdapterAdmission<'_>,
    cleared: &[u32],
    options: &Options,
) -> (Emitter, Entries) {
    // The slots, and the context behind them.
    let frame = Frame::new(RegSet::EMPTY, (admission.slots + 1) * 8, true, options);
    let mut cx: Emitter = by_hand(options, frame);
    let entries = cx.admit_to_adapter(admission, frame.size() as usize + stack_bytes);
    cx.make_frame();
    let context = admission.slots as i64 * 8;
    cx.store_word(SP, context, X0);
    cx.fill(0, admission.accepts, cleared);
    cx.mov(X1, SP);
    cx.set(X2.number(), third.addr() as u64);
    cx.call_address(entry.addr() as u64);
    if is_turned {
        cx.turn();
    }
    let is_left = cx.skip(Code::JumpIf, X0);
    cx.mov(X0, X1);
    cx.succeed();
    cx.land(is_left);
    cx.set(TEMP.number(), Left::Tailed.word(0));
    cx.compare(Op::EQ, X0, TEMP);
    let has_no_successor = cx.skip(Code::JumpUnless, FLAG);
    cx.enter_next();
    cx.land(has_no_successor);
    cx.mov(X3, X0);
    cx.mov(X4, X1);
    cx.mov(X2, SP);
    cx.load_word(X1, SP, context);
    cx.set(X0.number(), core::ptr::from_ref(admission.cell).addr() as u64);
    cx.call_address(admission.cell.resume());
    cx.hand_on();
    (cx, entries)
}

impl Emitter {
    /// Swaps status and value, which calls between functions of bytecode have in the other order.
    pub(crate) fn turn(&mut self) {
        self.mov(TEMP, X0);
        self.mov(X0, X1);
        self.mov(X1, TEMP);
    }

    /// Copies the arguments, from registers, stack or memory, into the slots that start at this offset, and clears the others.
    fn fill(&mut self, start: u32, accepts: Accepts, cleared: &[u32]) {
        let slot = |at: u32| start as i64 + at as i64 * 8;
        self.set(FLAG.number(), 0);
        for at in cleared {
            self.store_word(SP, slot(*at), FLAG);
        }
        let passed = self.frame.size() as i64;
        let take = |cx: &mut Emitter, at: u32| match ARGUMENTS.get(at as usize) {
            Some(reg) => cx.store_word(SP, slot(at), *reg),
            None => {
                cx.load_word(FLAG, SP, passed + (at as i64 - ARGUMENTS.len() as i64) * 8);
                cx.store_word(SP, slot(at), FLAG);
            }
        };
        match accepts {
            Accepts::Exactly(0) => {}
            Accepts::Exactly(arguments) => {
                let is_in_registers = self.skip(Code::JumpIf, X2);
                for at in 0..arguments {
                    self.load_word(FLAG, X3, at as i64 * 8);
                    self.store_word(SP, slot(at), FLAG);
                }
                self.set(FLAG.number(), 0);
                let are_taken = self.skip(Code::JumpUnless, FLAG);
                self.land(is_in_registers);
                (0..arguments).for_each(|at| take(self, at));
                self.land(are_taken);
            }
            Accepts::UpTo(most) => {
                let mut are_all_taken = Vec::new();
                for at in 0..most {
                    self.set(TEMP.number(), at as u64);
                    self.compare(Op::EQ, X2, TEMP);
                    are_all_taken.push(self.skip(Code::JumpIf, FLAG));
                    take(self, at);
                }
                are_all_taken.into_iter().for_each(|from| self.land(from));
            }
        }
    }
}
