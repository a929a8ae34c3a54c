//! Calls of functions that machine code interprets.
//!
//! A call makes the frame that interpreted code runs in, with the function's slots on the machine's stack: from `rbp` down the saved
//! registers, the call cell, the context, a word that is not used, the slots, and at `rsp` the room of opcodes. So the size of the
//! frame differs from function to function, and the unwinder finds its end by `rbp`. Then the call enters the code of the first
//! bytecode. Where opcodes leave, the function's outcome becomes that of the call; if it has exited, the host runs it to its end.
//!
//! A call that takes the budget below zero, and one with more arguments than it may have, goes to the host.

use crate::abi::REGISTER_ARGUMENTS;
use crate::glue::{refuse, resolve, unpack};
use azulejo_code::call::{CallCell, Host, InterpretedStubs, TAIL_CALL};
use azulejo_code::interpreter::{PLACES, ROOM, WORDS};
use azulejo_core::ir::interpreted::Record;
use azulejo_core::ir::status::Left;

/// The stubs.
pub(crate) const STUBS: InterpretedStubs = InterpretedStubs {
    call: call as *const u8,
    call_from_memory: call_from_memory as *const u8,
    leave: leave as *const u8,
};

/// How many bytes are above the slots and below the saved `rbp`.
const SAVED: usize = 5 * 8;

const _: () = {
    assert!(REGISTER_ARGUMENTS == 5, "so many are stored");
    assert!(ROOM.is_multiple_of(16) && (SAVED + WORDS as usize).is_multiple_of(16), "calls need it");
    assert!(PLACES[0] == -(SAVED as i64) - 8 && PLACES[1] == PLACES[0] - 8, "they are below the registers");
    assert!(TAIL_CALL == 1 << 32, "the bit that is tested");
};

/// Saves the registers, and loads the function's record into `r14`. Goes on at `2` if the budget is used up, and at `3` if there is
/// no room on the stack. Makes the frame; `rbx` is the address of its slots.
macro_rules! start {
    () => {
        concat!(
            "push rbp\n",
            ".cfi_def_cfa_offset 16\n",
            ".cfi_offset rbp, -16\n",
            "mov rbp, rsp\n",
            ".cfi_def_cfa_register rbp\n",
            "push rbx\n",
            "push r12\n",
            "push r13\n",
            "push r14\n",
            "push r15\n",
            ".cfi_offset rbx, -24\n",
            ".cfi_offset r12, -32\n",
            ".cfi_offset r13, -40\n",
            ".cfi_offset r14, -48\n",
            ".cfi_offset r15, -56\n",
            "mov r14, r11\n",
            "mov r15, [r14 + {budget}]\n",
            "sub dword ptr [r15], 1\n",
            "js 2f\n",
            "lea r13, [rbp - {saved} - {words}]\n",
            "sub r13, [r14 + {frame_bytes}]\n",
            "mov r15, [rsi + {host}]\n",
            "cmp r13, [r15 + {lowest}]\n",
            "jb 3f\n",
            "mov rsp, r13\n",
            "mov [rbp + {cell}], rsi\n",
            "mov [rbp + {context}], rdi\n",
            "lea rbx, [rsp + {room}]\n",
            "mov r12, rdi\n",
        )
    };
}

/// Enters the first bytecode's code.
macro_rules! enter {
    () => {
        concat!(
            "mov r13, [r14 + {code}]\n",
            "mov r15, [r14 + {mask}]\n",
            "and r15, rbx\n",
            "add r15, [r14 + {kept}]\n",
            "jmp [r14 + {start}]\n",
        )
    };
}

/// The targets of `start!`; the first one leads to another stub.
macro_rules! give_up {
    () => {
        concat!(
            "2:\n",
            ".cfi_remember_state\n",
            drop_frame!(),
            "\njmp {refused}\n",
            "3:\n",
            ".cfi_restore_state\n",
            drop_frame!(),
            "\njmp {refuse}",
        )
    };
}

/// Sets slots that get no argument to what they have to be, from the `rax` arguments on and perhaps one more, and enters the first bytecode's
/// code.
macro_rules! clear_and_enter {
    () => {
        concat!(
            "4:\n",
            "cmp rax, [r14 + {may_miss}]\n",
            "jb 8f\n",
            "9:\n",
            "mov rcx, [r14 + {cleared}]\n",
            "xorps xmm0, xmm0\n",
            "cmp rax, rcx\n",
            "jae 6f\n",
            "5:\n",
            "movups [rbx + rax * 8], xmm0\n",
            "add rax, 2\n",
            "cmp rax, rcx\n",
            "jb 5b\n",
            "6:\n",
            enter!(),
            // Arguments are missing.
            "8:\n",
            "mov rcx, [r14 + {missing}]\n",
            "7:\n",
            "mov [rbx + rax * 8], rcx\n",
            "inc rax\n",
            "cmp rax, [r14 + {may_miss}]\n",
            "jb 7b\n",
            "jmp 9b\n",
        )
    };
}

/// Gives the registers back.
macro_rules! drop_frame {
    () => {
        concat!(
            "lea rsp, [rbp - {saved}]\n",
            "pop r15\n",
            "pop r14\n",
            "pop r13\n",
            "pop r12\n",
            "pop rbx\n",
            "pop rbp\n",
            ".cfi_def_cfa rsp, 8",
        )
    };
}

/// Stores the arguments in registers, or what else they hold.
macro_rules! store_registers {
    () => {
        concat!(
            "mov [rbx], rdx\n",
            "mov [rbx + 8], rcx\n",
            "mov [rbx + 16], r8\n",
            "mov [rbx + 24], r9\n",
            "mov [rbx + 32], r10\n",
        )
    };
}

/// A stub that takes calls. `r11` is the function's record where the first lines decide whether it does; the others stand behind `start!`,
/// and enter the first bytecode's code. What the stub refuses goes to another one. The lines' own operands come last.
macro_rules! stub {
    ($(#[$doc:meta])* $name:ident, [$($admits:expr),*], [$($enters:expr),*], $refused:ident, $($operands:tt)*) => {
        $(#[$doc])*
        #[unsafe(naked)]
        unsafe extern "sysv64-unwind" fn $name() {
            core::arch::naked_asm!(
                ".cfi_startproc",
                "mov r11, [rsi + {record}]",
                $($admits,)*
                start!(),
                $($enters,)*
                give_up!(),
                ".cfi_endproc",
                record = const CallCell::RECORD,
                host = const CallCell::HOST,
                lowest = const Host::LOWEST,
                budget = const Record::BUDGET,
                frame_bytes = const Record::FRAME_BYTES,
                code = const Record::CODE,
                mask = const Record::MASK,
                kept = const Record::KEPT,
                start = const Record::START,
                cell = const PLACES[0],
                context = const PLACES[1],
                saved = const SAVED,
                words = const WORDS,
                room = const ROOM,
                refuse = sym refuse,
                refused = sym $refused,
                $($operands)*
            )
        }
    };
}

stub! {
    /// Takes a call with arguments in registers, of which there are just as many as the function takes, if it needs nothing else. Others go
    /// to [`call_with_any`].
    call,
    ["cmp rax, [r11 + {exact_arguments}]", "jne {any}"],
    [store_registers!(), enter!()],
    resolve,
    exact_arguments = const Record::EXACT_ARGUMENTS,
    any = sym call_with_any,
}

/// A stub that takes calls with any number of arguments that the function permits: `counted` is the register with the number, and the lines
/// store them in the slots, after which `rax` is their number. What it refuses goes to another stub.
macro_rules! takes_any {
    ($(#[$doc:meta])* $name:ident, $counted:literal, [$($line:expr),*], $refused:ident, $($operands:tt)*) => {
        stub! {
            $(#[$doc])*
            $name,
            [concat!("cmp ", $counted, ", [r11 + {most_arguments}]"), "ja {refused}"],
            [
                // The slots behind those that are taken are cleared.
                concat!("cmp ", $counted, ", [r14 + {taken_arguments}]"),
                concat!("cmova ", $counted, ", [r14 + {taken_arguments}]"),
                $($line,)*
                clear_and_enter!()
            ],
            $refused,
            most_arguments = const Record::MOST_ARGUMENTS,
            taken_arguments = const Record::TAKEN_ARGUMENTS,
            cleared = const Record::CLEARED,
            missing = const Record::MISSING,
            may_miss = const Record::MAY_MISS,
            $($operands)*
        }
    };
}

takes_any! {
    /// Takes a call with arguments in registers and on the stack.
    call_with_any, "rax",
    [
        store_registers!(),
        "mov ecx, {registers}",
        "cmp rax, rcx",
        "jbe 4f",
        "7:",
        // Above the saved pointer and the return address.
        "mov rdx, [rbp + rcx * 8 + 16 - {registers} * 8]",
        "mov [rbx + rcx * 8], rdx",
        "inc rcx",
        "cmp rcx, rax",
        "jb 7b"
    ],
    resolve,
    registers = const REGISTER_ARGUMENTS,
}

takes_any! {
    /// Takes a call with `rcx` arguments at the address in `rdx`.
    call_from_memory, "rcx",
    [
        "xor eax, eax",
        "cmp rax, rcx",
        "jae 4f",
        "7:",
        "mov r8, [rdx + rax * 8]",
        "mov [rbx + rax * 8], r8",
        "inc rax",
        "cmp rax, rcx",
        "jb 7b"
    ],
    unpack,
}

/// Sets `rdx` to the number of the bytecode whose address it holds.
macro_rules! number {
    () => {
        concat!(
            "mov rcx, [r14 + {shift}]\n",
            "sub rdx, [r14 + {code}]\n",
            "shr rdx, cl\n",
            "imul rdx, [r14 + {inverse}]",
        )
    };
}

/// Leaves a function that was called, without a result: `rax` has the status, and `rdx` the address of the bytecode.
#[unsafe(naked)]
unsafe extern "sysv64-unwind" fn leave() {
    core::arch::naked_asm!(
        ".cfi_startproc",
        ".cfi_def_cfa rbp, 16",
        ".cfi_offset rbp, -16",
        ".cfi_offset rbx, -24",
        ".cfi_offset r12, -32",
        ".cfi_offset r13, -40",
        ".cfi_offset r14, -48",
        ".cfi_offset r15, -56",
        "mov r12, rax",
        "shr rax, 32",
        "cmp eax, {exited}",
        "je 4f",
        "cmp eax, {trapped}",
        "jne 5f",
        // It fails: the host takes note of that.
        number!(),
        "mov esi, edx",
        "mov rdi, [rbp + {cell}]",
        "mov rax, [rdi + {host}]",
        "call [rax + {note}]",
        "mov edx, r12d",
        "2:",
        ".cfi_remember_state",
        drop_frame!(),
        "ret",
        ".cfi_restore_state",
        // The host runs it to its end.
        "4:",
        number!(),
        "mov rcx, r12",
        "or rcx, rdx",
        "xor r8d, r8d",
        "mov rdi, [rbp + {cell}]",
        "mov rsi, [rbp + {context}]",
        "lea rdx, [rsp + {room}]",
        "mov rax, [rdi + {host}]",
        "call [rax + {resume}]",
        "bt rdx, 32",
        "jnc 2b",
        // Another function takes its place.
        "5:",
        "mov r11, [rbp + {cell}]",
        "mov r11, [r11 + {host}]",
        drop_frame!(),
        "jmp [r11 + {enter_next}]",
        ".cfi_endproc",
        shift = const Record::SHIFT,
        code = const Record::CODE,
        inverse = const Record::INVERSE,
        exited = const Left::Exited as u32,
        trapped = const Left::Trapped as u32,
        cell = const PLACES[0],
        context = const PLACES[1],
        saved = const SAVED,
        room = const ROOM,
        host = const CallCell::HOST,
        note = const Host::NOTE,
        resume = const Host::RESUME,
        enter_next = const Host::ENTER_NEXT,
    )
}
