//! An object file in memory that describes one compiled function to a debugger.
//!
//! In: the function's name, its address, its unwind rules. Out: the bytes of an ELF file with one symbol and an `.eh_frame`;
//! the file contains the code's address instead of the code.

/// The numbers of the sections; section zero is always empty.
const TEXT: usize = 1;
const EH_FRAME: usize = 2;
const SYMBOLS: usize = 3;
const STRINGS: usize = 4;
const NAMES: usize = 5;
const SECTIONS: usize = 6;

const HEADER_LEN: usize = 64;
const SECTION_LEN: usize = 64;
const SYMBOL_LEN: usize = 24;

const PROGBITS: u32 = 1;
const SYMTAB: u32 = 2;
const STRTAB: u32 = 3;
const NOBITS: u32 = 8;
const ALLOCATED: u64 = 2;
const EXECUTABLE: u64 = 4;

/// A section's header.
#[derive(Default)]
struct SectionHeader {
    name: usize,
    kind: u32,
    flags: u64,
    address: usize,
    offset: usize,
    size: usize,
    link: u32,
    info: u32,
    alignment: u64,
    entry: u64,
}

/// The string table of section names, in which each is found by its offset.
const SECTION_NAMES: &[u8] = b"\0.text\0.eh_frame\0.symtab\0.strtab\0.shstrtab\0";

fn section_name(name: &str) -> usize {
    let at = SECTION_NAMES.windows(name.len()).position(|window| window == name.as_bytes());
    at.expect("it is one of these")
}

/// The file for a function on the machine with this ELF number.
pub(crate) fn object(machine: u16, name: &str, address: usize, size: usize, eh_frame: &[u8]) -> Box<[u8]> {
    let mut file = vec![0; HEADER_LEN];
    let mut append = |bytes: &[u8]| {
        file.resize(file.len().next_multiple_of(8), 0);
        let offset = file.len();
        file.extend_from_slice(bytes);
        (offset, bytes.len())
    };
    let rules = append(eh_frame);
    let symbols = append(&symbols(size));
    // A name in a C string ends at its first zero.
    let name: Vec<u8> = name.bytes().filter(|byte| *byte != 0).collect();
    let strings = append(&[b"\0", &name[..], b"\0"].concat());
    let names = append(SECTION_NAMES);
    let mut sections: [SectionHeader; SECTIONS] = Default::default();
    sections[TEXT] = SectionHeader {
        name: section_name(".text"),
        kind: NOBITS,
        flags: ALLOCATED | EXECUTABLE,
        address,
        size,
        alignment: 16,
        ..SectionHeader::default()
    };
    let data = |name: &str, kind: u32, (offset, size): (usize, usize)| SectionHeader {
        name: section_name(name),
        kind,
        offset,
        size,
        alignment: 8,
        ..SectionHeader::default()
    };
    sections[EH_FRAME] = SectionHeader { flags: ALLOCATED, ..data(".eh_frame", PROGBITS, rules) };
    sections[SYMBOLS] = SectionHeader {
        link: STRINGS as u32,
        // The number of local symbols.
        info: 1,
        entry: SYMBOL_LEN as u64,
        ..data(".symtab", SYMTAB, symbols)
    };
    sections[STRINGS] = data(".strtab", STRTAB, strings);
    sections[NAMES] = data(".shstrtab", STRTAB, names);
    file.resize(file.len().next_multiple_of(8), 0);
    let table = file.len();
    sections.iter().for_each(|section| section.write(&mut file));
    file[..HEADER_LEN].copy_from_slice(&header(machine, table));
    // The section header of the rules holds their address in the finished file.
    let mut file = file.into_boxed_slice();
    let at = table + EH_FRAME * SECTION_LEN + 16;
    let address = file[rules.0..].as_ptr().addr() as u64;
    file[at..at + 8].copy_from_slice(&address.to_le_bytes());
    file
}

/// One symbol for the whole code.
fn symbols(size: usize) -> [u8; 2 * SYMBOL_LEN] {
    const GLOBAL_FUNCTION: u8 = 1 << 4 | 2;
    let mut symbols = [0; 2 * SYMBOL_LEN];
    let symbol = &mut symbols[SYMBOL_LEN..];
    symbol[0..4].copy_from_slice(&1u32.to_le_bytes()); // the offset of its name
    symbol[4] = GLOBAL_FUNCTION;
    symbol[6..8].copy_from_slice(&(TEXT as u16).to_le_bytes());
    symbol[16..24].copy_from_slice(&(size as u64).to_le_bytes());
    symbols
}

fn header(machine: u16, table: usize) -> [u8; HEADER_LEN] {
    const RELOCATABLE: u16 = 1;
    let mut header = [0; HEADER_LEN];
    // 64 bits, little-endian, version 1.
    header[..7].copy_from_slice(b"\x7fELF\x02\x01\x01");
    let mut half = |at: usize, value: u16| header[at..at + 2].copy_from_slice(&value.to_le_bytes());
    half(16, RELOCATABLE);
    half(18, machine);
    half(20, 1);
    half(52, HEADER_LEN as u16);
    half(58, SECTION_LEN as u16);
    half(60, SECTIONS as u16);
    half(62, NAMES as u16);
    header[40..48].copy_from_slice(&(table as u64).to_le_bytes());
    header
}

impl SectionHeader {
    fn write(&self, file: &mut Vec<u8>) {
        let SectionHeader { name, kind, flags, address, offset, size, link, info, alignment, entry } = self;
        file.extend((*name as u32).to_le_bytes());
        file.extend(kind.to_le_bytes());
        file.extend(flags.to_le_bytes());
        for number in [*address as u64, *offset as u64, *size as u64] {
            file.extend(number.to_le_bytes());
        }
        file.extend(link.to_le_bytes());
        file.extend(info.to_le_bytes());
        file.extend(alignment.to_le_bytes());
        file.extend(entry.to_le_bytes());
    }
}
