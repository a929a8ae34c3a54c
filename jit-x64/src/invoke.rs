//! Code by which one function of bytecode calls another.
//!
//! For the caller: a call whose operands are in place becomes the call itself, and behind the function's code a way out for
//! when the callee failed: the caller fails too.
//!
//! For the callee: a [`Door`] takes calls for code that wants its arguments in a frame. It makes the frame on the
//! machine's stack. [`crate::record`] says how calls are made.

use crate::bare;
use crate::emit::{Code, Cond, Emitter, Options, Tile};
use crate::encode::{Alu, Mem};
use crate::frame::{Frame, MAX_FRAME_BYTES};
use crate::memory::{CodeMemory, Installed};
use crate::record::{Host, PUT_OFF, REGISTER_ARGUMENTS, Record};
use crate::regs::*;
use azulejo_core::error::Error;
use azulejo_core::ir::index::Block;
use azulejo_core::pass::build::{TAILED, TRAPPED};
use azulejo_core::target::{Reg, RegSet};
use azulejo_core::vocab::{Trap, Type};

/// A way out of a function that stands behind all its blocks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Failure {
    block: Block,
    origin: u32,
}

impl Emitter {
    /// Calls the function whose record is in `rsi`, and leaves if it failed. So many of the tile's operands are no arguments.
    pub fn invoke(&mut self, tile: &Tile<'_>, others: usize) {
        self.mov_imm(RAX.number(), (tile.operands() - others) as u64);
        self.call(Mem::at(RSI.number(), 0));
        self.expect_result(tile);
    }

    /// Behind a call of a function of bytecode: leaves if it failed.
    pub(crate) fn expect_result(&mut self, tile: &Tile<'_>) {
        self.test(Type::I32, RDX.number(), RDX.number());
        let shared = self.failures.first().filter(|_| self.is_called).map(|failure| failure.block);
        let block = shared.unwrap_or_else(|| {
            let block = self.add_block();
            self.failures.push(Failure { block, origin: tile.origin });
            block
        });
        self.jcc(Cond::Ne, block);
    }

    /// Leaves the function for one that takes its place, which its host knows of.
    pub(crate) fn tail(&mut self) {
        if !self.is_called {
            self.mov_imm(RAX.number(), TAILED);
            return self.leave();
        }
        self.go_to_next();
    }

    fn go_to_next(&mut self) {
        self.mov_imm(R11.number(), self.host);
        self.mov_imm(RAX.number(), Host::go_to_next());
        self.drop_frame();
        self.jmp_to(RAX.number());
    }

    /// Leaves a function that its host ran to its end, or up to where another one takes its place.
    pub(crate) fn hand_on(&mut self) {
        self.bytes(&[0x48, 0x0f, 0xba, 0xe2, PUT_OFF.trailing_zeros() as u8]); // bt rdx, imm8
        let has_ended = self.skip_if(Cond::Ae);
        self.go_to_next();
        self.land(has_ended);
        self.leave();
    }

    /// Says that there is a result.
    pub(crate) fn succeed(&mut self) {
        self.alu(Alu::Xor, Type::I32, RDX.number(), RDX.number());
    }

    /// Emits what stands behind the blocks. The trap's number is in `edx`.
    pub(crate) fn fail(&mut self) {
        for Failure { block, origin } in core::mem::take(&mut self.failures) {
            self.start(block);
            if self.is_called {
                self.leave();
                continue;
            }
            self.mov_imm(RAX.number(), TRAPPED);
            self.alu(Alu::Or, Type::I64, RAX.number(), RDX.number());
            self.mov_imm(RDX.number(), origin as u64);
            self.leave();
        }
    }
}

/// Where functions of bytecode come in that others call.
#[derive(Debug)]
pub struct Door {
    installed: Installed,
    entry: u32,
}

impl Door {
    /// Where calls go.
    pub fn entry(&self) -> *const u8 {
        self.installed.address().wrapping_add(self.entry as usize)
    }

    /// The addresses of its code.
    pub fn addresses(&self) -> core::ops::Range<usize> {
        let start = self.installed.address().addr();
        start..start + self.installed.size()
    }
}

/// What a door leads to.
#[derive(Clone, Copy, Debug)]
pub struct Behind<'a> {
    /// How many arguments calls have for which it opens; all others are the host's.
    pub arguments: u32,
    /// How many slots a frame has.
    pub slots: u32,
    /// The code, which is called with context, frame, and the third.
    pub code: *const u8,
    /// What it is called with besides.
    pub third: *const (),
    /// How much of the machine's stack it takes.
    pub stack_bytes: usize,
    /// Where calls are counted down; below zero they are the host's.
    pub budget: Option<*const i32>,
    /// For the host's data.
    pub record: &'a Record,
}

/// Code that takes no more of the machine's stack than this only compares the stack pointer when it is entered.
pub(crate) const SLACK: usize = 4096;

/// The most slots for which a frame is made on the machine's stack.
const MAX_SLOTS: u32 = (MAX_FRAME_BYTES / 16) as u32;

/// Slots that are cleared by a store each; more are cleared by one instruction.
const FEW: u32 = 12;

/// Makes a door.
pub(crate) fn door(behind: &Behind<'_>, memory: &CodeMemory, options: &Options) -> Result<Door, Error> {
    let Behind { arguments, slots, code, third, stack_bytes, budget, record } = *behind;
    if slots > MAX_SLOTS || arguments > slots {
        return Err(Error::FrameTooLarge { bytes: slots as usize * 8 });
    }
    let mut cx = Emitter::of_frame(options, |keeps_pointer| {
        Frame::new(RegSet::of(&[RBX, R12]), slots * 8, true, keeps_pointer)
    });
    let stack_bytes = cx.frame.size() as usize + stack_bytes;
    let entry = cx.admit(&Admission { arguments, budget, host: record.host() }, stack_bytes);
    cx.prologue();
    let [rax, rcx, rdx, rbx, rsp] = [RAX, RCX, RDX, RBX, RSP].map(Reg::number);
    let [rsi, rdi, r8, r12] = [RSI, RDI, R8, R12].map(Reg::number);
    cx.mov(rbx, rsi);
    cx.mov(r12, rdi);
    for (at, reg) in (0..arguments).zip(&crate::abi::BYTECODE.int_args[1..]) {
        cx.store(Type::I64, slot(at), reg.number());
    }
    for at in REGISTER_ARGUMENTS as u32..arguments {
        let passed = cx.frame.size() as i64 + (at as i64 - REGISTER_ARGUMENTS as i64) * 8;
        cx.load(Type::I64, rax, Mem::at(rsp, passed));
        cx.store(Type::I64, slot(at), rax);
    }
    cx.mov_imm(rax, 0);
    match slots - arguments {
        0..=FEW => (arguments..slots).for_each(|at| cx.store(Type::I64, slot(at), rax)),
        many => {
            cx.mov_imm(rcx, many as u64);
            cx.lea(true, rdi, slot(arguments));
            cx.bytes(&[0xf3, 0x48, 0xab]); // rep stosq
            cx.mov(rdi, r12);
        }
    }
    cx.mov(rsi, rsp);
    cx.mov_imm(rdx, third.addr() as u64);
    cx.call_address(code.addr() as u64, rax);
    cx.test(Type::I64, rax, rax);
    let is_left = cx.skip_if(Cond::Ne);
    cx.mov(rax, rdx);
    cx.succeed();
    cx.leave();
    cx.land(is_left);
    cx.mov_imm(rcx, TAILED);
    cx.alu(Alu::Cmp, Type::I64, rax, rcx);
    let has_no_successor = cx.skip_if(Cond::Ne);
    cx.mov(rdi, r12);
    cx.go_to_next();
    cx.land(has_no_successor);
    cx.mov(r8, rdx);
    cx.mov(rcx, rax);
    cx.mov(rdx, rsp);
    cx.mov(rsi, r12);
    cx.mov(rdi, rbx);
    cx.load(Type::I64, rax, Mem::at(rbx, Record::HOST as i64));
    cx.call(Mem::at(rax, Host::GO_ON as i64));
    cx.hand_on();
    let mut code = Code::default();
    bare::close(cx, &mut code);
    Ok(Door { installed: memory.install(&code)?, entry })
}

fn slot(at: u32) -> Mem {
    Mem::at(RSP.number(), at as i64 * 8)
}

impl Emitter {
    /// What stands before the frame is made; where the entry is. Calls that are not for this code go to the host, and
    /// those for which there is no room on the stack fail.
    pub(crate) fn admit(&mut self, admission: &Admission<'_>, stack_bytes: usize) -> u32 {
        let Admission { arguments, budget, host } = *admission;
        let [rax, rdx, r11, rsp] = [RAX, RDX, R11, RSP].map(Reg::number);
        self.host = core::ptr::from_ref(host).addr() as u64;
        let is_deep = self.here();
        self.mov_imm(rdx, Trap::StackOverflow.code() as u64);
        self.byte(0xc3);
        let is_foreign = self.here();
        self.mov_imm(r11, Record::nowhere().addr() as u64);
        self.jmp_to(r11);
        while !self.here().is_multiple_of(16) {
            self.byte(0xcc);
        }
        let entry = self.here();
        self.alu_imm(Alu::Cmp, Type::I32, rax, arguments as i64);
        self.skip_back_if(Cond::Ne, is_foreign);
        if let Some(budget) = budget {
            self.mov_imm(r11, budget.addr() as u64);
            self.alu_imm(Alu::Sub, Type::I32, Mem::at(r11, 0), 1);
            self.skip_back_if(Cond::S, is_foreign);
        }
        self.mov_imm(r11, self.host);
        let lowest = Mem::at(r11, Host::LOWEST as i64);
        match stack_bytes.checked_sub(SLACK) {
            None | Some(0) => self.alu(Alu::Cmp, Type::I64, rsp, lowest),
            Some(more) => {
                self.load(Type::I64, r11, lowest);
                self.alu_imm(Alu::Add, Type::I64, r11, more as i64);
                self.alu(Alu::Cmp, Type::I64, rsp, r11);
            }
        }
        self.skip_back_if(Cond::B, is_deep);
        self.frame.start_at(self.here() as u32);
        entry as u32
    }

    /// A place for the values of VM registers, in a function that makes its own.
    pub(crate) fn vm_frame(&self) -> Mem {
        Mem::at(RSP.number(), self.vm_frame as i64)
    }

    /// An argument that the caller put on the stack.
    pub(crate) fn argument(&self, offset: i64) -> Mem {
        Mem::at(RSP.number(), self.frame.size() as i64 + offset)
    }
}

/// Which calls a function takes that others of bytecode call.
#[derive(Clone, Copy, Debug)]
pub struct Admission<'a> {
    /// Those with so many arguments; all others are the host's.
    pub arguments: u32,
    /// Where they are counted down; below zero they are the host's.
    pub budget: Option<*const i32>,
    /// What the function shares with others.
    pub host: &'a Host,
}
