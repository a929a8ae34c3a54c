//! Machine code as lines of text.
//!
//! In: bytes, and where pieces start that are told apart. Out: a [`Line`] for each instruction, or for each piece if there
//! is no disassembler.

/// Some bytes and what they say.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Line {
    /// Where they are in the code.
    pub(crate) at: u32,
    pub(crate) bytes: Vec<u8>,
    /// Empty if nobody can tell.
    pub(crate) text: String,
}

impl Line {
    /// The bytes in hexadecimal.
    pub(crate) fn hex(&self) -> String {
        self.bytes.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().join(" ")
    }
}

/// Code, and what is known of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Machine<'a> {
    pub(crate) code: &'a [u8],
    /// Where it runs, if it is there already.
    #[cfg_attr(not(feature = "disasm"), expect(dead_code, reason = "bytes are shown as they are"))]
    pub(crate) address: u64,
    /// Where four bytes will hold the distance from behind them to an address.
    #[cfg_attr(not(feature = "disasm"), expect(dead_code, reason = "bytes are shown as they are"))]
    pub(crate) addresses: &'a [(u32, u64)],
}

/// Takes code apart. Jumps are shown by where they lead in the code, calls by whom they call.
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

/// A line for each piece.
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
