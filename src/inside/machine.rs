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

/// Disassembles code. Jumps are shown with the offset of their target, calls with the address of their callee. Constants between the
/// instructions are shown as such: what instructions that can be reached read at addresses in the code.
#[cfg(feature = "disasm")]
pub(crate) fn lines(machine: Machine<'_>, pieces: impl Iterator<Item = u32>) -> Vec<Line> {
    let known = Known::find(machine, pieces);
    let mut formatter = disassembler();
    let mut lines = Vec::new();
    let mut at = 0;
    while let Some(rest) = machine.code.get(at..).filter(|rest| !rest.is_empty()) {
        // What nobody is known to reach may be no instruction, but leads to none that is known.
        let most = known.next_behind(at).map_or(rest.len(), |next| next - at);
        let line = match known.constants.get(&at) {
            Some(len) => constant(machine, at, (*len).min(most)),
            None => instruction(machine, at, most, &mut formatter),
        };
        at += line.bytes.len();
        lines.push(line);
    }
    lines
}

#[cfg(feature = "disasm")]
fn disassembler() -> iced_x86::NasmFormatter {
    let mut formatter = iced_x86::NasmFormatter::new();
    let options = iced_x86::Formatter::options_mut(&mut formatter);
    options.set_hex_prefix("0x");
    options.set_hex_suffix("");
    options.set_uppercase_hex(false);
    options.set_branch_leading_zeros(false);
    options.set_show_branch_size(false);
    options.set_space_after_operand_separator(true);
    options.set_rip_relative_addresses(true);
    formatter
}

/// What is known of code before it is shown: where instructions start that can be reached, and the constants that they read.
#[cfg(feature = "disasm")]
struct Known {
    starts: std::collections::BTreeSet<usize>,
    /// The offsets of the constants, and their sizes in bytes.
    constants: std::collections::BTreeMap<usize, usize>,
}

#[cfg(feature = "disasm")]
impl Known {
    /// Follows the code from its start, and from the starts of all pieces.
    fn find(machine: Machine<'_>, pieces: impl Iterator<Item = u32>) -> Known {
        use iced_x86::FlowControl::{Exception, IndirectBranch, Interrupt, Return, UnconditionalBranch};
        let mut known = Known { starts: Default::default(), constants: Default::default() };
        let mut ways: Vec<usize> = pieces.map(|piece| piece as usize).chain([0]).collect();
        while let Some(at) = ways.pop() {
            if at >= machine.code.len() || known.starts.contains(&at) {
                continue;
            }
            let instruction = machine.decode(at);
            if instruction.is_invalid() {
                continue;
            }
            known.starts.insert(at);
            if instruction.is_jcc_short_or_near() || instruction.is_jmp_short_or_near() {
                ways.push(instruction.near_branch_target() as usize);
            }
            let is_here = instruction.is_ip_rel_memory_operand() && machine.linked(&instruction).is_none();
            let place = instruction.memory_displacement64() as usize;
            if is_here && place < machine.code.len() {
                known.constants.insert(place, instruction.memory_size().size().max(1));
            }
            let ends = [Exception, IndirectBranch, Interrupt, Return, UnconditionalBranch];
            if !ends.contains(&instruction.flow_control()) {
                ways.push(at + instruction.len());
            }
        }
        // An address of code is no constant.
        known.constants.retain(|place, _| !known.starts.contains(place));
        known
    }

    /// The next offset at which something is known to start.
    fn next_behind(&self, at: usize) -> Option<usize> {
        let start = self.starts.range(at + 1..).next().copied();
        let constant = self.constants.range(at + 1..).next().map(|(place, _)| *place);
        start.into_iter().chain(constant).min()
    }
}

#[cfg(feature = "disasm")]
impl Machine<'_> {
    /// The instruction at an offset. Its address is that.
    fn decode(&self, at: usize) -> iced_x86::Instruction {
        use iced_x86::{Decoder, DecoderOptions};
        Decoder::with_ip(64, &self.code[at..], at as u64, DecoderOptions::NONE).decode()
    }

    /// The address that the field at the end of an instruction will lead to.
    fn linked(&self, instruction: &iced_x86::Instruction) -> Option<u64> {
        let end = instruction.next_ip32();
        self.addresses.iter().find(|(field, _)| field + 4 == end).map(|(_, address)| *address)
    }
}

/// The instruction at an offset, or its bytes, if it is none or longer than this.
#[cfg(feature = "disasm")]
fn instruction(
    machine: Machine<'_>,
    at: usize,
    most: usize,
    formatter: &mut iced_x86::NasmFormatter,
) -> Line {
    let mut instruction = machine.decode(at);
    if instruction.is_invalid() || instruction.len() > most {
        return data(machine, at, most.min(8));
    }
    let bytes = machine.code[at..at + instruction.len()].to_vec();
    let known = machine.linked(&instruction);
    if instruction.is_call_near() {
        let callee = instruction.near_branch_target().wrapping_add(machine.address);
        instruction.set_near_branch64(known.unwrap_or(callee));
    }
    let mut text = String::new();
    iced_x86::Formatter::format(formatter, &instruction, &mut text);
    if let Some(address) = known.filter(|_| instruction.is_ip_rel_memory_operand()) {
        text = text.replace("[rip]", &format!("[{address:#x}]"));
    }
    Line { at: at as u32, bytes, text }
}

/// A constant as assemblers write it.
#[cfg(feature = "disasm")]
fn constant(machine: Machine<'_>, at: usize, len: usize) -> Line {
    let bytes = &machine.code[at..(at + len).min(machine.code.len())];
    let word = match bytes.len() {
        4 => "dd",
        8 => "dq",
        _ => return data(machine, at, bytes.len()),
    };
    let value = bytes.iter().rev().fold(0u64, |value, byte| value << 8 | *byte as u64);
    Line { at: at as u32, bytes: bytes.to_vec(), text: format!("{word} {value:#x}") }
}

/// Bytes of which nothing is known.
#[cfg(feature = "disasm")]
fn data(machine: Machine<'_>, at: usize, len: usize) -> Line {
    let bytes = &machine.code[at..at + len];
    let written: Vec<String> = bytes.iter().map(|byte| format!("{byte:#04x}")).collect();
    Line { at: at as u32, bytes: bytes.to_vec(), text: format!("db {}", written.join(", ")) }
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

#[cfg(all(test, feature = "disasm"))]
mod tests {
    use super::*;

    #[test]
    fn constants_between_code_are_no_instructions() {
        let code = [
            &[0xf2, 0x0f, 0x10, 0x05, 0x05, 0, 0, 0][..], // movsd xmm0, [rip+5]
            &[0x74, 0x0d],                                // je 23
            &[0xc3],                                      // ret
            &[0x90, 0x90],                                // what is not reached
            // Half of an instruction, if it were one.
            &1.5f64.to_bits().to_le_bytes(),
            &[0x48, 0xb8],
            &[0xb8, 1, 0, 0, 0], // mov eax, 1
            &[0xc3],
        ]
        .concat();
        let machine = Machine { code: &code, address: 0x1000, addresses: &[] };
        let shown = |machine, pieces: &[u32]| -> Vec<String> {
            let lines = lines(machine, pieces.iter().copied());
            assert_eq!(lines.iter().flat_map(|line| line.bytes.clone()).collect::<Vec<_>>(), machine.code);
            lines.into_iter().map(|line| format!("{} {}", line.at, line.text)).collect()
        };
        let expected = [
            "0 movsd xmm0, [rip+5]",
            "8 je 0x17",
            "10 ret",
            "11 nop",
            "12 nop",
            "13 dq 0x3ff8000000000000",
            "21 db 0x48, 0xb8",
            "23 mov eax, 1",
            "28 ret",
        ];
        assert_eq!(shown(machine, &[])[..], expected);
        // A piece that starts where a constant is is code.
        let all = shown(machine, &[13]);
        assert!(all.iter().all(|line| !line.contains("dq")), "{all:?}");
        // A field that will lead elsewhere is no address here.
        let linked = Machine { addresses: &[(4, 0x7777)], ..machine };
        assert!(shown(linked, &[]).iter().all(|line| !line.contains("dq")));
    }
}
