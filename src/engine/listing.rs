//! Machine code as text.

use std::fmt;

/// A function's machine code with the bytecode that each piece came from. Printed, it is one line a piece: the
/// offset, the bytes and the bytecode; with the feature `disasm` one line an instruction.
#[derive(Clone, Debug)]
pub struct Listing {
    /// Where the code runs.
    #[cfg_attr(not(feature = "disasm"), expect(dead_code, reason = "bytes are shown as they are"))]
    pub(super) address: usize,
    pub(super) bytes: Vec<u8>,
    pub(super) map: Vec<(u32, u32)>,
    pub(super) bytecode: Vec<String>,
}

impl Listing {
    /// The bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The bytecode that the code at an offset came from.
    fn origin(&self, offset: u32) -> Option<u32> {
        let next = self.map.partition_point(|(start, _)| *start <= offset);
        Some(self.map[next.checked_sub(1)?].1)
    }

    /// A bytecode's text where a piece of another one ends.
    fn note(&self, offset: u32, last: &mut Option<u32>) -> String {
        let origin = self.origin(offset);
        if origin == *last {
            return String::new();
        }
        *last = origin;
        origin.map_or_else(String::new, |at| format!("; {at}: {}", self.bytecode[at as usize]))
    }
}

#[cfg(feature = "disasm")]
impl fmt::Display for Listing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use iced_x86::{Decoder, DecoderOptions, Formatter, Instruction, NasmFormatter};
        let mut decoder = Decoder::with_ip(64, &self.bytes, 0, DecoderOptions::NONE);
        let mut formatter = NasmFormatter::new();
        let mut instruction = Instruction::default();
        let mut last = None;
        while decoder.can_decode() {
            decoder.decode_out(&mut instruction);
            let mut text = String::new();
            if instruction.is_call_near() {
                // Jumps are shown by where they lead in the code, calls by whom they call.
                let callee = instruction.near_branch_target().wrapping_add(self.address as u64);
                instruction.set_near_branch64(callee);
            }
            formatter.format(&instruction, &mut text);
            let note = self.note(instruction.ip32(), &mut last);
            writeln!(f, "{}", format!("{:6x}  {text:40}{note}", instruction.ip()).trim_end())?;
        }
        Ok(())
    }
}

#[cfg(not(feature = "disasm"))]
impl fmt::Display for Listing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut last = None;
        for (at, (start, _)) in self.map.iter().enumerate() {
            let end = self.map.get(at + 1).map_or(self.bytes.len(), |(next, _)| *next as usize);
            let bytes: Vec<String> =
                self.bytes[*start as usize..end].iter().map(|byte| format!("{byte:02x}")).collect();
            let note = self.note(*start, &mut last);
            writeln!(f, "{}", format!("{start:6x}  {:40}{note}", bytes.join(" ")).trim_end())?;
        }
        Ok(())
    }
}
