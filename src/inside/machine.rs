//! Machine code as lines of text.
//!
//! In: bytes, and the offsets at which pieces start. Out: a [`Line`] for each instruction, or for each piece if there is no
//! disassembler.

/// The bytes of an instruction or piece, with their disassembly.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Line {
    /// Their offset in the code.
    pub(crate) at: u32,
    pub(crate) bytes: Vec<u8>,
    /// The disassembly; empty if there is no disassembler.
    pub(crate) text: String,
}

impl Line {
    /// The bytes in hexadecimal.
    pub(crate) fn hex(&self) -> String {
        self.bytes.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().join(" ")
    }
}

/// Code, with the addresses that the disassembler needs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Machine<'a> {
    pub(crate) code: &'a [u8],
    /// The address at which the code runs; zero if it has not been installed.
    #[cfg_attr(not(feature = "disasm"), expect(dead_code, reason = "bytes are shown as they are"))]
    pub(crate) address: u64,
    /// The offsets of four-byte fields that will hold distances to addresses, counted from the end of the field.
    #[cfg_attr(not(feature = "disasm"), expect(dead_code, reason = "bytes are shown as they are"))]
    pub(crate) addresses: &'a [(u32, u64)],
}

/// Disassembles code. Jumps are shown with the offset of their target, calls with the address of their callee.
#[cfg(feature = "disasm")]
pub(crate) fn lines(machine: Machine<'_>, _: impl Iterator<Item = u32>) -> Vec<Line> {
    use iced_x86::{Decoder, DecoderOptions, Formatter, Instruction, NasmFormatter};
    let Machine { code, address, addresses } = machine;
    let mut decoder = Decoder::with_ip(64, code, 0, DecoderOptions::NONE);
    let mut formatter = NasmFormatter::new();
    let options = formatter.options_mut();
    options.set_hex_prefix("0x");
    options.set_hex_suffix("");
    options.set_uppercase_hex(false);
    options.set_branch_leading_zeros(false);
    options.set_show_branch_size(false);
    options.set_space_after_operand_separator(true);
    options.set_rip_relative_addresses(true);
    let mut instruction = Instruction::default();
    let mut lines = Vec::new();
    while decoder.can_decode() {
        decoder.decode_out(&mut instruction);
        let at = instruction.ip32();
        let bytes = code[at as usize..at as usize + instruction.len()].to_vec();
        let end = instruction.next_ip32();
        let known = addresses.iter().find(|(field, _)| field + 4 == end).map(|(_, address)| *address);
        if instruction.is_call_near() {
            let callee = instruction.near_branch_target().wrapping_add(address);
            instruction.set_near_branch64(known.unwrap_or(callee));
        }
        let mut text = String::new();
        formatter.format(&instruction, &mut text);
        if let Some(address) = known.filter(|_| instruction.is_ip_rel_memory_operand()) {
            text = text.replace("[rip]", &format!("[{address:#x}]"));
        }
        lines.push(Line { at, bytes, text });
    }
    lines
}

/// Makes a line for each piece.
#[cfg(not(feature = "disasm"))]
pub(crate) fn lines(machine: Machine<'_>, pieces: impl Iterator<Item = u32>) -> Vec<Line> {
    let Machine { code, .. } = machine;
    let mut starts: Vec<u32> = pieces.filter(|start| (*start as usize) < code.len()).collect();
    starts.dedup();
    let ends = starts.iter().skip(1).copied().chain([code.len() as u32]);
    let line = |(at, end): (u32, u32)| Line {
        at,
        bytes: code[at as usize..end as usize].to_vec(),
        text: String::new(),
    };
    starts.iter().copied().zip(ends).map(line).collect()
}
