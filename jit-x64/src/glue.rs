//! Calls between functions of bytecode, as machine code: the stubs of [`azulejo_code::call`].
//!
//! A call follows the convention [`crate::abi::BYTECODE`]:
//!
//! | register | holds |
//! | --- | --- |
//! | `rsi` | the callee's cell |
//! | `rdi` | the context |
//! | `rax` | the number of arguments |
//! | `rdx` `rcx` `r8` `r9` `r10` | the first five arguments; the others are on the stack, as in the System V convention |
//!
//! It returns the bits of the result in `rax` and zero in `rdx`, or a trap's
//! [code](azulejo_core::vocab::Trap::code) in `rdx`.
//!
//! A caller whose arguments are already in memory jumps through the cell's second entry, with their address in `rdx` and their
//! number in `rcx`. By default that entry is [`unpack`], which loads them into the registers above; code that reads arguments
//! from memory replaces it by its own.

use crate::abi::REGISTER_ARGUMENTS;
use crate::interpreted;
use azulejo_code::call::{CallCell, Host, MAX_REGISTER_ARGUMENTS, Outcome, Stubs, UnresolvedCall};
use azulejo_code::exit::{Exited, Records, RegisterDump};

const _: () = assert!(
    REGISTER_ARGUMENTS == 5 && REGISTER_ARGUMENTS <= MAX_REGISTER_ARGUMENTS,
    "so many the stubs load"
);

/// The stubs as call cells and hosts refer to them.
pub static STUBS: Stubs = Stubs {
    register_arguments: REGISTER_ARGUMENTS,
    resolve: resolve as *const u8,
    pack: pack as *const u8,
    unpack: unpack as *const u8,
    enter_next: next as *const u8,
    enter_next_of_cell: next_of_cell as *const u8,
    note: note_stub as *const u8,
    refuse: refuse as *const u8,
    call: |cell, context, args, count| {
        // SAFETY: the caller guarantees what the stub relies on.
        unsafe { call(cell, context, args, count) }
    },
    set_tail_call: set_tail_call as *const u8,
    begin_tail_call: begin_tail_call as *const u8,
    caught: caught as *const u8,
    interpreted: Some(interpreted::STUBS),
};

azulejo_code::engine_functions!("sysv64-unwind");

/// Loads the register arguments from consecutive words.
macro_rules! load_arguments {
    ($from:literal) => {
        concat!(
            concat!("mov rdx, [", $from, "]\n"),
            concat!("mov rcx, [", $from, " + 8]\n"),
            concat!("mov r8, [", $from, " + 16]\n"),
            concat!("mov r9, [", $from, " + 24]\n"),
            concat!("mov r10, [", $from, " + 32]"),
        )
    };
}

/// Makes a frame, and sets `rdx` to the value of the stack pointer that leaves room for `rcx` arguments.
macro_rules! make_frame {
    () => {
        concat!(
            "push rbp\n",
            ".cfi_def_cfa_offset 16\n",
            ".cfi_offset rbp, -16\n",
            "mov rbp, rsp\n",
            ".cfi_def_cfa_register rbp\n",
            "lea rdx, [rcx * 8 + 15]\n",
            "and rdx, -16\n",
            "neg rdx\n",
            "add rdx, rsp",
        )
    };
}

/// Calls the function with the call cell in `rsi`, with arguments from consecutive words at `r11`: loads those that are passed
/// in registers, and copies the `rcx` others to the stack.
macro_rules! call_with_all {
    () => {
        concat!(
            "9:\n",
            "mov rdx, [r11 + rcx * 8 + {registers} * 8 - 8]\n",
            "mov [rsp + rcx * 8 - 8], rdx\n",
            "dec rcx\n",
            "jne 9b\n",
            load_arguments!("r11"),
            "\n",
            "call [rsi + {entry}]",
        )
    };
}

/// Drops the frame and returns; at this label, the call is refused instead, by the stub `refuse`.
macro_rules! drop_frame {
    ($overflow:literal) => {
        concat!(
            "leave\n",
            ".cfi_remember_state\n",
            ".cfi_def_cfa rsp, 8\n",
            "ret\n",
            concat!($overflow, ":\n"),
            ".cfi_restore_state\n",
            "leave\n",
            ".cfi_def_cfa rsp, 8\n",
            "jmp {refuse}",
        )
    };
}

/// Makes a call with arguments from memory, which must hold at least as many words as there are argument registers.
#[unsafe(naked)]
unsafe extern "sysv64-unwind" fn call(
    cell: &CallCell,
    context: *mut (),
    args: *const u64,
    count: usize,
) -> Outcome {
    core::arch::naked_asm!(
        ".cfi_startproc",
        "xchg rdi, rsi",
        "jmp [rsi + {unpack}]",
        ".cfi_endproc",
        unpack = const CallCell::UNPACK,
    )
}

/// Enters the function with the call cell in `rsi`, with arguments from memory. There may be fewer than argument registers, but
/// as many words must be readable. If all fit in registers, nothing is put on the stack.
#[unsafe(naked)]
pub(crate) unsafe extern "sysv64-unwind" fn unpack() {
    core::arch::naked_asm!(
        ".cfi_startproc",
        "mov r11, rdx",
        "mov eax, ecx",
        "sub rcx, {registers}",
        "ja 2f",
        load_arguments!("r11"),
        "jmp [rsi + {entry}]",
        "2:",
        make_frame!(),
        "mov r8, [rsi + {host}]",
        "cmp rdx, [r8 + {lowest}]",
        "jb 4f",
        "mov rsp, rdx",
        call_with_all!(),
        drop_frame!("4"),
        ".cfi_endproc",
        registers = const REGISTER_ARGUMENTS,
        host = const CallCell::HOST,
        lowest = const Host::LOWEST,
        refuse = sym refuse,
        entry = const CallCell::ENTRY,
    )
}

#[unsafe(naked)]
unsafe extern "sysv64-unwind" fn next_of_cell() {
    core::arch::naked_asm!(
        ".cfi_startproc",
        "mov r11, [rsi + {host}]",
        "jmp {next}",
        ".cfi_endproc",
        host = const CallCell::HOST,
        next = sym next,
    )
}

/// Enters the pending tail call's function, as if the caller of the function that has ended had called it. Arguments on the
/// stack need room that this caller has not left: they get a frame, which is dropped when the next function ends, or when that
/// one, too, is followed by one with such arguments.
#[unsafe(naked)]
unsafe extern "sysv64-unwind" fn next() {
    core::arch::naked_asm!(
        ".cfi_startproc",
        "mov rsi, [r11 + {cell}]",
        "mov rdi, [r11 + {context}]",
        "mov rax, [r11 + {count}]",
        "mov rcx, rax",
        "sub rcx, {registers}",
        "ja 2f",
        "mov r11, [r11 + {args}]",
        load_arguments!("r11"),
        "jmp [rsi + {entry}]",
        "2:",
        "lea rdx, [rip + 5f]",
        "cmp [rsp], rdx",
        "jne 3f",
        "mov rsp, rbp",
        "pop rbp",
        "3:",
        make_frame!(),
        "cmp rdx, [r11 + {lowest}]",
        "jb 6f",
        "mov rsp, rdx",
        "mov r11, [r11 + {args}]",
        call_with_all!(),
        "5:",
        drop_frame!("6"),
        ".cfi_endproc",
        registers = const REGISTER_ARGUMENTS,
        cell = const Host::NEXT_CELL,
        context = const Host::NEXT_CONTEXT,
        count = const Host::NEXT_COUNT,
        args = const Host::NEXT_ARGS,
        lowest = const Host::LOWEST,
        refuse = sym refuse,
        entry = const CallCell::ENTRY,
    )
}

#[unsafe(naked)]
unsafe extern "sysv64-unwind" fn note_stub() {
    core::arch::naked_asm!(
        ".cfi_startproc",
        "push rbp",
        ".cfi_def_cfa_offset 16",
        ".cfi_offset rbp, -16",
        "mov rbp, rsp",
        ".cfi_def_cfa_register rbp",
        "sub rsp, 16",
        "and rsp, -16",
        "mov [rbp - 8], rdx",
        "mov rdi, rsi",
        "mov esi, eax",
        "mov rax, [rdi + {host}]",
        "call [rax + {note}]",
        "mov rdx, [rbp - 8]",
        "leave",
        ".cfi_def_cfa rsp, 8",
        "ret",
        ".cfi_endproc",
        host = const CallCell::HOST,
        note = const Host::NOTE,
    )
}

/// Takes calls for which there is no room on the stack.
#[unsafe(naked)]
pub(crate) unsafe extern "sysv64-unwind" fn refuse() {
    core::arch::naked_asm!(
        ".cfi_startproc",
        "push rbp",
        ".cfi_def_cfa_offset 16",
        ".cfi_offset rbp, -16",
        "mov rbp, rsp",
        ".cfi_def_cfa_register rbp",
        "and rsp, -16",
        "xchg rdi, rsi",
        "mov rax, [rdi + {host}]",
        "call [rax + {refuse}]",
        "mov rdx, rax",
        "leave",
        ".cfi_def_cfa rsp, 8",
        "ret",
        ".cfi_endproc",
        host = const CallCell::HOST,
        refuse = const Host::REFUSE,
    )
}

/// How many bytes of the stack an exit takes, from its block to the stub: the number of its record, `rax`, and the address of the
/// records.
pub(crate) const PUSHED: usize = 24;

/// Finds the values of an exit in the registers and on the stack.
unsafe extern "sysv64" fn leave(
    records: &Records,
    record: u32,
    registers: &RegisterDump,
    stack: *mut u8,
) -> Exited {
    // SAFETY: the code that contains these addresses belongs to the function that was left.
    unsafe { records.leave(record, registers, stack) }
}

/// Saves all registers and passes them to [`leave`]; see [`Assembler::store_state`](azulejo_code::emit::Assembler::store_state). For
/// the unwinder, what was pushed belongs to this frame.
#[unsafe(naked)]
pub(crate) unsafe extern "sysv64" fn store_state() {
    core::arch::naked_asm!(
        ".cfi_startproc",
        ".cfi_def_cfa_offset {pushed} + 8",
        ".cfi_offset rip, -({pushed} + 8)",
        "sub rsp, {dump}",
        ".cfi_adjust_cfa_offset {dump}",
        "mov [rsp + 8], rcx",
        "mov rcx, [rsp + {dump} + 16]",
        "mov [rsp], rcx",
        "mov [rsp + 16], rdx",
        "mov [rsp + 24], rbx",
        "mov [rsp + 40], rbp",
        "mov [rsp + 48], rsi",
        "mov [rsp + 56], rdi",
        "mov [rsp + 64], r8",
        "mov [rsp + 72], r9",
        "mov [rsp + 80], r10",
        "mov [rsp + 88], r11",
        "mov [rsp + 96], r12",
        "mov [rsp + 104], r13",
        "mov [rsp + 112], r14",
        "mov [rsp + 120], r15",
        "movsd [rsp + {floats}], xmm0",
        "movsd [rsp + {floats} + 8], xmm1",
        "movsd [rsp + {floats} + 16], xmm2",
        "movsd [rsp + {floats} + 24], xmm3",
        "movsd [rsp + {floats} + 32], xmm4",
        "movsd [rsp + {floats} + 40], xmm5",
        "movsd [rsp + {floats} + 48], xmm6",
        "movsd [rsp + {floats} + 56], xmm7",
        "movsd [rsp + {floats} + 64], xmm8",
        "movsd [rsp + {floats} + 72], xmm9",
        "movsd [rsp + {floats} + 80], xmm10",
        "movsd [rsp + {floats} + 88], xmm11",
        "movsd [rsp + {floats} + 96], xmm12",
        "movsd [rsp + {floats} + 104], xmm13",
        "movsd [rsp + {floats} + 112], xmm14",
        "movsd [rsp + {floats} + 120], xmm15",
        "mov rdi, [rsp + {dump} + 8]",
        "mov esi, [rsp + {dump} + 24]",
        "mov rdx, rsp",
        "lea rcx, [rsp + {dump} + {pushed} + 8]",
        "mov rbx, rsp",
        ".cfi_def_cfa_register rbx",
        "and rsp, -16",
        "call {leave}",
        "mov rsp, rbx",
        ".cfi_def_cfa_register rsp",
        "mov rbx, [rsp + 24]",
        "add rsp, {dump}",
        ".cfi_adjust_cfa_offset -{dump}",
        "ret",
        ".cfi_endproc",
        pushed = const PUSHED,
        dump = const size_of::<RegisterDump>(),
        floats = const core::mem::offset_of!(RegisterDump, floats),
        leave = sym leave,
    )
}

/// Where the stubs that ask the host keep the return address: behind an [`UnresolvedCall`].
const BACK: usize = size_of::<UnresolvedCall>();

/// How many bytes of the stack these stubs take below the arguments: so many that the stack is aligned at their calls.
const ROOM: usize = (BACK + 8 + PUT_IN_FRONT).next_multiple_of(16) - PUT_IN_FRONT;

/// How many bytes the arguments in registers take when they are in front of those on the stack: the last of them is where the return
/// address was.
const PUT_IN_FRONT: usize = REGISTER_ARGUMENTS * 8;

/// Passes a call to one of the host's callbacks as an [`UnresolvedCall`], and follows the host's answer. The return address makes room for
/// the arguments in registers, so that all are in a row.
macro_rules! ask_host {
    ($callback:expr) => {
        core::arch::naked_asm!(
            ".cfi_startproc",
            "mov r11, [rsp]",
            ".cfi_register rip, r11",
            "mov [rsp], r10",
            "push r9",
            ".cfi_adjust_cfa_offset 8",
            "push r8",
            ".cfi_adjust_cfa_offset 8",
            "push rcx",
            ".cfi_adjust_cfa_offset 8",
            "push rdx",
            ".cfi_adjust_cfa_offset 8",
            "mov rcx, rsp",
            "sub rsp, {room}",
            ".cfi_adjust_cfa_offset {room}",
            "mov [rsp + {back}], r11",
            ".cfi_offset rip, -({in_front} + {room} - {back})",
            "mov [rsp + {context}], rdi",
            "mov [rsp + {cell}], rsi",
            "mov [rsp + {count}], rax",
            "mov [rsp + {arguments}], rcx",
            "mov rdi, rsp",
            "mov rax, [rsi + {host}]",
            "call [rax + {callback}]",
            "mov r11, [rsp + {back}]",
            "cmp qword ptr [rsp + {entry}], 0",
            "jne 2f",
            "mov rax, [rsp + {value}]",
            "mov rdx, [rsp + {trap}]",
            "mov [rsp + {room} + {in_front} - 8], r11",
            ".cfi_remember_state",
            ".cfi_offset rip, -8",
            "add rsp, {room} + {in_front} - 8",
            ".cfi_def_cfa_offset 8",
            "ret",
            "2:",
            ".cfi_restore_state",
            load_arguments!("rsp + {room}"),
            "mov [rsp + {room} + {in_front} - 8], r11",
            ".cfi_offset rip, -8",
            "mov r11, [rsp + {entry}]",
            "mov rdi, [rsp + {context}]",
            "mov rsi, [rsp + {cell}]",
            "mov rax, [rsp + {count}]",
            "add rsp, {room} + {in_front} - 8",
            ".cfi_def_cfa_offset 8",
            "jmp r11",
            ".cfi_endproc",
            room = const ROOM,
            back = const BACK,
            in_front = const PUT_IN_FRONT,
            context = const UnresolvedCall::CONTEXT,
            cell = const UnresolvedCall::CELL,
            count = const UnresolvedCall::COUNT,
            arguments = const UnresolvedCall::ARGUMENTS,
            entry = const UnresolvedCall::ENTRY,
            value = const UnresolvedCall::VALUE,
            trap = const UnresolvedCall::TRAP,
            host = const CallCell::HOST,
            callback = const $callback,
        )
    };
}

/// Takes calls of functions without code.
#[unsafe(naked)]
pub(crate) unsafe extern "sysv64-unwind" fn resolve() {
    ask_host!(Host::RESOLVE)
}

/// Takes calls of functions whose surplus of arguments is packed.
#[unsafe(naked)]
unsafe extern "sysv64-unwind" fn pack() {
    ask_host!(Host::PACK)
}
