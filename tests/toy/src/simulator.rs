//! Runs the machine's code, one instruction at a time.
//!
//! In: installed code, and the registers at entry. Out: the result registers. Memory is the host's own; each thread has a stack
//! of its own. Whatever no instruction has written holds garbage: registers at entry, the bits above a narrow result, and
//! caller-saved registers after a call. So code that relies on any of these fails.

use crate::instruction::{Code, Distance, Word};
use crate::natives::{self, Native};
use crate::regs::*;
use crate::stubs::{self, Stub};
use azulejo_code::call::{CallCell, Callbacks, Host, HostFunctions, Outcome, UnresolvedCall};
use azulejo_code::exit::{Exited, Records, RegisterDump};
use azulejo_code::status::RawStatus;
use azulejo_core::ir::template::{Convention, Signature};
use azulejo_core::target::Reg;
use azulejo_core::vocab::op::{Key, Kind};
use azulejo_core::vocab::{Class, Op, OpInfo, Sig, Type, Vocabulary};
use std::cell::Cell;
use std::mem::MaybeUninit;

type Resolve = unsafe extern "C-unwind" fn(&mut UnresolvedCall);
type Resume = unsafe extern "C-unwind" fn(&CallCell, *mut (), *mut u64, RawStatus) -> Outcome;
type Note = unsafe extern "C-unwind" fn(&CallCell, u32);
type Refuse = unsafe extern "C-unwind" fn(&CallCell, *mut ()) -> u64;

/// An engine's functions, as the stubs call them. The simulator learns of those that compiled code calls.
pub(crate) fn callbacks<H: HostFunctions>() -> Callbacks {
    let callbacks = stubs::callbacks::<H>();
    natives::learn(callbacks.resume().addr(), Native::Resume);
    static WORDS: [Type; 4] = [Type::I64; 4];
    let of = |args| Signature { convention: Convention::C, args, ret: Type::I64 };
    natives::learn_function(stubs::set_tail_call as *const (), of(&WORDS));
    natives::learn_function(stubs::begin_tail_call as *const (), of(&WORDS[..3]));
    natives::learn_function(stubs::caught as *const (), of(&WORDS[..2]));
    callbacks
}

/// The size of a thread's stack.
const STACK_WORDS: usize = 1 << 18;

thread_local! {
    /// The lowest address of the stack that is in use.
    static STACK: Cell<u64> = {
        let memory = Vec::leak(vec![0u64; STACK_WORDS]);
        Cell::new(memory.as_mut_ptr_range().end.expose_provenance() as u64)
    };
}

/// Runs code with a context, a frame and one more argument.
///
/// # Safety
///
/// The code must be a function that takes these arguments.
pub(crate) unsafe fn enter(
    code: *const u8,
    context: *mut (),
    frame: *mut u64,
    third: *const (),
) -> RawStatus {
    let mut cpu = Processor::new();
    let arguments = [context.expose_provenance(), frame.expose_provenance(), third.expose_provenance()];
    for (reg, value) in [X0, X1, X2].into_iter().zip(arguments) {
        cpu.set(reg, value as u64);
    }
    // SAFETY: the caller guarantees it.
    unsafe { cpu.run(code.expose_provenance() as u64) };
    RawStatus::new(cpu.get(X0), cpu.get(X1))
}

/// Makes a call with arguments from memory.
///
/// # Safety
///
/// As for [`Stubs::call`](azulejo_code::call::Stubs::call).
pub(crate) unsafe fn call(cell: &CallCell, context: *mut (), args: *const u64, count: usize) -> Outcome {
    let mut cpu = Processor::new();
    cpu.set(X0, context.expose_provenance() as u64);
    cpu.set(X1, core::ptr::from_ref(cell).expose_provenance() as u64);
    cpu.set(X3, args.expose_provenance() as u64);
    cpu.set(X4, count as u64);
    // SAFETY: the caller guarantees it, and `unpack` is the address of code.
    unsafe {
        let unpack = cpu.word_at(cpu.get(X1) + CallCell::UNPACK as u64);
        cpu.run(unpack);
    }
    Outcome { value: cpu.get(X0), trap: cpu.get(X1) }
}

/// The content of a register that was never written, in the bits of this mask.
fn garbage(mask: u64) -> u64 {
    0xa5c3_96f1_5a3c_e178 & mask
}

/// The registers, and the stubs' record of the stack.
struct Processor {
    ints: [u64; COUNT],
    floats: [u64; COUNT],
    /// For each stub that waits for a function to return, its return address and its stack pointer.
    waiting: Vec<[u64; 2]>,
}

impl Processor {
    fn new() -> Processor {
        let mut ints = [0; COUNT];
        for (at, register) in ints.iter_mut().enumerate() {
            *register = garbage(!0) ^ at as u64;
        }
        let mut cpu = Processor { ints, floats: ints, waiting: Vec::new() };
        cpu.set(SP, STACK.get());
        cpu
    }

    fn get(&self, reg: Reg) -> u64 {
        match reg.class() {
            Class::Int => self.ints[reg.number() as usize],
            Class::Float => self.floats[reg.number() as usize],
        }
    }

    fn set(&mut self, reg: Reg, value: u64) {
        match reg.class() {
            Class::Int => self.ints[reg.number() as usize] = value,
            Class::Float => self.floats[reg.number() as usize] = value,
        }
    }

    fn file(&mut self, is_float: bool) -> &mut [u64; COUNT] {
        if is_float { &mut self.floats } else { &mut self.ints }
    }

    /// # Safety
    ///
    /// The address must be that of a readable word.
    unsafe fn word_at(&self, address: u64) -> u64 {
        // SAFETY: the caller guarantees it.
        unsafe { core::ptr::with_exposed_provenance::<u64>(address as usize).read_unaligned() }
    }

    /// Runs code from this address until it returns.
    ///
    /// # Safety
    ///
    /// The address must be that of this machine's code, and the registers must hold what the code relies on.
    unsafe fn run(&mut self, start: u64) {
        let stack = STACK.get();
        let kept = CALLEE_SAVED.iter().map(|reg| self.get(reg)).collect::<Vec<_>>();
        self.set(LINK, Stub::Halt.address().expose_provenance() as u64);
        let mut at = start;
        // SAFETY: the caller guarantees it, and code only jumps to code.
        while let Some(next) = unsafe { self.step(at) } {
            at = next;
        }
        STACK.set(stack);
        assert_eq!(self.get(SP), stack, "a function gives the stack back");
        for (reg, kept) in CALLEE_SAVED.iter().zip(kept) {
            assert_eq!(self.get(reg), kept, "a function gives {reg:?} back");
        }
    }

    /// Executes an instruction; returns the address of the next one.
    ///
    /// # Safety
    ///
    /// The address must be that of this machine's code, and the registers must hold what the code relies on.
    unsafe fn step(&mut self, at: u64) -> Option<u64> {
        // SAFETY: the caller guarantees that this is an instruction.
        let word = Word(unsafe { core::ptr::with_exposed_provenance::<u32>(at as usize).read() });
        let [first, second, third] = word.registers();
        let Sig { ty, .. } = word.sig();
        let away = |distance: Distance| at.wrapping_add_signed(word.distance(distance));
        let next = at + 4;
        match word.code() {
            Code::Nothing => panic!("there is no instruction at {at:x}"),
            Code::Operate => self.operate(word),
            Code::Select => {
                let from = if self.get(FLAG) != 0 { second } else { third };
                let file = self.file(ty.is_float());
                file[first] = file[from];
            }
            Code::Move => {
                let file = self.file(ty.is_float());
                file[first] = file[second];
            }
            Code::Set => self.ints[first] = word.immediate() as u64 & 0xfff,
            Code::Keep => {
                let shift = 12 * word.step();
                let (mask, part) = (0xfff << shift, (word.immediate() as u64 & 0xfff) << shift);
                self.ints[first] = self.ints[first] & !mask | part;
            }
            Code::Sign => {
                let low = self.ints[first] as u32 & 0xff_ffff;
                self.ints[first] = (low | (word.immediate() as u32) << 24) as i32 as u64;
            }
            Code::Add => self.ints[first] = self.ints[second].wrapping_add_signed(word.immediate()),
            Code::Load => {
                let address = self.ints[second].wrapping_add_signed(word.immediate());
                // SAFETY: compiled code only loads from readable memory.
                let bits = unsafe { read(address, ty) };
                self.file(ty.is_float())[first] = bits | above(ty);
            }
            Code::Store => {
                let address = self.ints[second].wrapping_add_signed(word.immediate());
                let bits = self.file(ty.is_float())[first];
                // SAFETY: compiled code only stores to writable memory.
                unsafe { write(address, ty, bits) };
            }
            // SAFETY: as above.
            Code::Atomic => unsafe { self.atomic(word) },
            Code::Jump => return Some(away(Distance::Far)),
            Code::JumpIf if self.ints[first] != 0 => return Some(away(Distance::Near)),
            Code::JumpUnless if self.ints[first] == 0 => return Some(away(Distance::Near)),
            Code::JumpIf | Code::JumpUnless => {}
            Code::JumpTo => return Some(self.ints[first]),
            Code::JumpBy => return Some(next + self.ints[first] * 4),
            Code::Call => {
                let target = self.ints[first];
                self.set(LINK, next);
                match natives::find(target as usize) {
                    None => return Some(target),
                    // SAFETY: compiled code calls functions with valid arguments.
                    Some(native) => unsafe { self.call_native(target, native) },
                }
            }
            Code::Return => return Some(self.get(LINK)),
            // SAFETY: the constant is behind the code, at this distance.
            Code::Constant => self.floats[first] = unsafe { self.word_at(away(Distance::Near)) },
            // SAFETY: the caller guarantees what stubs rely on.
            Code::Stub => return unsafe { self.stub(Stub::of(word), next) },
        }
        Some(next)
    }

    fn operate(&mut self, word: Word) {
        let (op, sig, [out, registers @ ..]) = (word.op(), word.sig(), word.registers());
        let info = Vocabulary::BUILTIN.info(op);
        let types: Vec<Type> = info.operands.iter().map(|kind| operand_type(info, *kind, sig)).collect();
        let operands: Vec<u64> = std::iter::zip(&types, registers)
            .map(|(ty, register)| ty.truncate(self.file(ty.is_float())[register]))
            .collect();
        let result = Vocabulary::BUILTIN.evaluate(op, sig, &operands);
        let bits = result.expect("it is an operator on values").expect("what would trap was checked");
        let ty = if sig.ty == Type::Void { types[0] } else { sig.ty };
        self.file(ty.is_float())[out] = bits | above(ty);
    }

    /// # Safety
    ///
    /// The address must be that of a writable value.
    unsafe fn atomic(&mut self, word: Word) {
        let [first, second, third] = word.registers();
        let (ty, address) = (word.sig().ty, self.ints[second]);
        let update = Vocabulary::BUILTIN.info(word.op()).update.expect("it is an atomic operator");
        // SAFETY: the caller guarantees it, and there is only one thread.
        unsafe {
            let old = read(address, ty);
            let value = ty.truncate(self.ints[third]);
            let new = match word.op() {
                Op::ATOMIC_CAS => update(&[old, ty.truncate(self.ints[first]), value]),
                _ => update(&[old, value]),
            };
            write(address, ty, new);
            self.ints[first] = old | above(ty);
        }
    }

    /// # Safety
    ///
    /// The convention's argument registers and stack slots must hold valid arguments for the function.
    unsafe fn call_native(&mut self, address: u64, native: Native) {
        // The stack of any code that the function calls starts below the part in use.
        let stack = STACK.replace(self.get(SP));
        let results = match native {
            Native::Function(signature) => {
                let args = self.arguments(&signature);
                // SAFETY: the caller guarantees it.
                let bits = unsafe { natives::call(address as usize, &signature, &args) };
                (bits | above(signature.ret), signature.ret.is_float(), None)
            }
            Native::Fallible(signature) => {
                let args = self.arguments(&signature);
                // SAFETY: the caller guarantees it.
                let attempt = unsafe { natives::attempt(address as usize, &signature, &args) };
                (attempt.bits, false, Some(attempt.failure))
            }
            Native::Resume => {
                let [cell, context, frame, status, value] = [X0, X1, X2, X3, X4].map(|reg| self.get(reg));
                // SAFETY: the caller guarantees it, and `callbacks` learned this address as that of `resume`.
                let Outcome { value, trap } = unsafe {
                    let resume: Resume = core::mem::transmute(address as usize);
                    let cell = &*core::ptr::with_exposed_provenance::<CallCell>(cell as usize);
                    let context = core::ptr::with_exposed_provenance_mut(context as usize);
                    let frame = core::ptr::with_exposed_provenance_mut(frame as usize);
                    resume(cell, context, frame, RawStatus::new(status, value))
                };
                (value, false, Some(trap))
            }
        };
        STACK.set(stack);
        let link = self.get(LINK);
        for reg in (REGISTERS.abi)(Convention::C).caller_saved.iter().chain([TEMP, FLAG, FTEMP]) {
            self.set(reg, garbage(!0) ^ reg.0 as u64);
        }
        self.set(LINK, link);
        let (bits, is_float, second) = results;
        self.file(is_float)[0] = bits;
        if let Some(trap) = second {
            self.set(X1, trap);
        }
    }

    /// The arguments of a call, by the convention of this machine.
    fn arguments(&self, signature: &Signature) -> Vec<u64> {
        let abi = (REGISTERS.abi)(signature.convention);
        let (mut ints, mut floats) = (abi.int_args.iter(), abi.float_args.iter());
        let mut on_stack = self.get(SP);
        let args = signature.args.iter().map(|ty| {
            let register = if ty.is_float() { floats.next() } else { ints.next() };
            match register {
                Some(register) => self.get(*register),
                None => {
                    on_stack += 8;
                    // SAFETY: the caller has stored the argument there.
                    unsafe { self.word_at(on_stack - 8) }
                }
            }
        });
        args.collect()
    }

    /// # Safety
    ///
    /// The registers must hold what the stub requires.
    unsafe fn stub(&mut self, stub: Stub, next: u64) -> Option<u64> {
        let pointer = |address: u64| core::ptr::with_exposed_provenance::<()>(address as usize);
        STACK.set(self.get(SP));
        // SAFETY: the caller guarantees it for all that is read here.
        unsafe {
            match stub {
                Stub::Halt => None,
                Stub::Resolve => Some(self.resolve()),
                Stub::Unpack => {
                    let host = self.word_at(self.get(X1) + CallCell::HOST as u64);
                    Some(self.pass(host, self.get(X3), self.get(X4)))
                }
                Stub::EnterNext => Some(self.enter_next(self.get(FLAG))),
                Stub::EnterNextOfCell => {
                    Some(self.enter_next(self.word_at(self.get(X1) + CallCell::HOST as u64)))
                }
                Stub::Note => {
                    let cell = self.get(X2);
                    let host = self.word_at(cell + CallCell::HOST as u64);
                    let note: Note = core::mem::transmute(self.word_at(host + Host::NOTE as u64) as usize);
                    note(&*pointer(cell).cast(), self.get(X0) as u32);
                    Some(self.get(LINK))
                }
                Stub::Refuse => Some(self.refuse()),
                Stub::StoreState => {
                    let file =
                        |values: &[u64]| core::array::from_fn(|at| values.get(at).copied().unwrap_or(0));
                    let dump = RegisterDump { ints: file(&self.ints), floats: file(&self.floats) };
                    let records = &*pointer(self.get(TEMP)).cast::<Records>();
                    let stack = pointer(self.get(SP)).cast::<u8>().cast_mut();
                    let Exited { status, first } = records.leave(self.get(FLAG) as u32, &dump, stack);
                    self.set(X0, status);
                    self.set(X1, first);
                    Some(next)
                }
                Stub::Drop => Some(self.drop_arguments()),
            }
        }
    }

    fn drop_arguments(&mut self) -> u64 {
        let [link, stack] = self.waiting.pop().expect("arguments were put on the stack");
        self.set(SP, stack);
        self.set(LINK, link);
        link
    }

    /// Enters the function of the call cell in `x1` with arguments from memory.
    ///
    /// # Safety
    ///
    /// `args` must point to `count` words, and `host` to a host.
    unsafe fn pass(&mut self, host: u64, args: u64, count: u64) -> u64 {
        // SAFETY: the caller guarantees it.
        unsafe {
            let on_stack = count.saturating_sub(ARGUMENTS.len() as u64);
            if on_stack > 0 {
                let stack = self.get(SP);
                let lower = (stack - on_stack * 8) & !15;
                if lower < self.word_at(host + Host::LOWEST as u64) {
                    return self.refuse();
                }
                self.waiting.push([self.get(LINK), stack]);
                self.set(LINK, Stub::Drop.address().expose_provenance() as u64);
                self.set(SP, lower);
                for at in 0..on_stack {
                    let from = args + (ARGUMENTS.len() as u64 + at) * 8;
                    write(lower + at * 8, Type::I64, self.word_at(from));
                }
            }
            for (at, reg) in (0..).zip(ARGUMENTS) {
                self.set(reg, self.word_at(args + at * 8));
            }
            self.set(X2, count);
            self.word_at(self.get(X1) + CallCell::ENTRY as u64)
        }
    }

    /// Enters the pending tail call's function, as if the caller of the function that has ended had called it.
    ///
    /// # Safety
    ///
    /// A tail call of this host must be pending.
    unsafe fn enter_next(&mut self, host: u64) -> u64 {
        // The arguments of the function that has ended are dropped.
        if self.get(LINK) == Stub::Drop.address().expose_provenance() as u64 {
            self.drop_arguments();
        }
        // SAFETY: the caller guarantees it.
        unsafe {
            let [cell, context, count, args] =
                [Host::NEXT_CELL, Host::NEXT_CONTEXT, Host::NEXT_COUNT, Host::NEXT_ARGS]
                    .map(|at| self.word_at(host + at as u64));
            self.set(X1, cell);
            self.set(X0, context);
            self.pass(host, args, count)
        }
    }

    /// Asks the host to refuse a call, and returns to the caller.
    ///
    /// # Safety
    ///
    /// The registers must hold a call.
    unsafe fn refuse(&mut self) -> u64 {
        let (cell, context) = (self.get(X1), self.get(X0));
        let pointer = |address: u64| core::ptr::with_exposed_provenance_mut::<()>(address as usize);
        // SAFETY: the caller guarantees it.
        let code = unsafe {
            let host = self.word_at(cell + CallCell::HOST as u64);
            let refuse: Refuse = core::mem::transmute(self.word_at(host + Host::REFUSE as u64) as usize);
            refuse(&*pointer(cell).cast(), pointer(context))
        };
        self.set(X1, code);
        self.get(LINK)
    }

    /// Passes a call to the host as an [`UnresolvedCall`], and follows the host's answer.
    ///
    /// # Safety
    ///
    /// The registers must hold a call.
    unsafe fn resolve(&mut self) -> u64 {
        let mut call = MaybeUninit::<UnresolvedCall>::zeroed();
        let start = call.as_mut_ptr().expose_provenance() as u64;
        let (count, in_registers) = (self.get(X2) as usize, ARGUMENTS.len());
        let mut arguments: Vec<u64> = ARGUMENTS.iter().map(|reg| self.get(*reg)).collect();
        // SAFETY: the caller has put all others on the stack.
        arguments.extend(
            (in_registers..count)
                .map(|at| unsafe { self.word_at(self.get(SP) + (at - in_registers) as u64 * 8) }),
        );
        let fields = [
            (UnresolvedCall::CONTEXT, self.get(X0)),
            (UnresolvedCall::CELL, self.get(X1)),
            (UnresolvedCall::COUNT, self.get(X2)),
            (UnresolvedCall::ARGUMENTS, arguments.as_mut_ptr().expose_provenance() as u64),
        ];
        // SAFETY: these are offsets of its fields, and all other fields may be zero.
        unsafe {
            for (at, value) in fields {
                write(start + at as u64, Type::I64, value);
            }
            let host = self.word_at(self.get(X1) + CallCell::HOST as u64);
            let resolve: Resolve = core::mem::transmute(self.word_at(host + Host::RESOLVE as u64) as usize);
            resolve(&mut *core::ptr::with_exposed_provenance_mut(start as usize));
            let entry = self.word_at(start + UnresolvedCall::ENTRY as u64);
            if entry != 0 {
                self.set(X1, self.word_at(start + UnresolvedCall::CELL as u64));
                self.set(X2, self.word_at(start + UnresolvedCall::COUNT as u64));
                ARGUMENTS.into_iter().zip(arguments).for_each(|(reg, argument)| self.set(reg, argument));
                return entry;
            }
            self.set(X0, self.word_at(start + UnresolvedCall::VALUE as u64));
            self.set(X1, self.word_at(start + UnresolvedCall::TRAP as u64));
        }
        self.get(LINK)
    }
}

/// The bits above a value of this type in a register: garbage, on which no code may rely.
fn above(ty: Type) -> u64 {
    match ty {
        Type::Flag | Type::Void => 0,
        _ => garbage(!ty.truncate(!0)),
    }
}

fn operand_type(info: &OpInfo, kind: Kind, sig: Sig) -> Type {
    match kind {
        Kind::Flag => Type::Flag,
        Kind::Same | Kind::Value if matches!(info.key, Key::Result) => sig.ty,
        Kind::Same | Kind::Value => sig.from,
        _ => Type::I64,
    }
}

/// # Safety
///
/// The address must be that of a readable value of this type.
unsafe fn read(address: u64, ty: Type) -> u64 {
    let mut bytes = [0; 8];
    let from = core::ptr::with_exposed_provenance::<u8>(address as usize);
    // SAFETY: the caller guarantees it.
    unsafe { from.copy_to_nonoverlapping(bytes.as_mut_ptr(), ty.bytes() as usize) };
    u64::from_le_bytes(bytes)
}

/// # Safety
///
/// The address must be that of writable memory for a value of this type.
unsafe fn write(address: u64, ty: Type, bits: u64) {
    let to = core::ptr::with_exposed_provenance_mut::<u8>(address as usize);
    // SAFETY: the caller guarantees it.
    unsafe { to.copy_from_nonoverlapping(bits.to_le_bytes().as_ptr(), ty.bytes() as usize) };
}
