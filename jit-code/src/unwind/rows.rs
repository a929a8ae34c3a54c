//! Unwind rules read back: what they say at each address, for the tests of machines.
//!
//! In: the rules of one function, as [`of_function`](super::of_function) writes them. Out: a [`Row`] for each byte of its code.

use super::dwarf::*;

/// The end of the caller's frame, as a register and a distance, and the distances from there down to the saved registers. The
/// registers have their DWARF numbers.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Row {
    /// The register from which the frame's end counts.
    pub base: u8,
    /// The distance from there.
    pub distance: u64,
    /// Where each register is saved, if it is.
    pub saved: [Option<u64>; 32],
}

/// The rules of a function's section that hold at each of the first `len` addresses.
pub fn rows(section: &[u8], len: usize) -> Vec<Row> {
    let word = |at: usize| u32::from_le_bytes(section[at..at + 4].try_into().expect("four bytes")) as usize;
    let cie_end = word(0) + 4;
    let fde_end = cie_end + 4 + word(cie_end);
    let nothing = Row { base: 0, distance: 0, saved: [None; 32] };
    // After a CIE's header of 9 bytes, and an FDE's pointer, start and size.
    let (_, initial) = read(&section[4 + 9..cie_end], nothing, &mut Vec::new());
    let mut rows = Vec::new();
    let (kept, last) = read(&section[cie_end + 4 + 20..fde_end], initial, &mut rows);
    assert!(rows.len() <= len && kept == 0, "as many states are kept as restored, within the code");
    rows.resize(len, last);
    rows
}

/// Reads rules that start with this row. Returns how many states are still kept, and the last row.
fn read(rules: &[u8], initial: Row, rows: &mut Vec<Row>) -> (usize, Row) {
    let (mut row, mut kept) = (initial, Vec::new());
    let mut rules = rules.iter().copied();
    let mut next = || rules.next();
    while let Some(rule) = next() {
        let mut operand = || {
            let (mut value, mut shift) = (0, 0);
            loop {
                let byte = next().expect("there is an operand");
                value |= ((byte & 0x7f) as u64) << shift;
                shift += 7;
                if byte < 0x80 {
                    return value;
                }
            }
        };
        match (rule & 0xc0, rule & 0x3f) {
            (ADVANCE_LOC, by) => rows.resize(rows.len() + by as usize, row),
            (OFFSET, register) => row.saved[register as usize] = Some(operand() * 8),
            (RESTORE, register) => row.saved[register as usize] = initial.saved[register as usize],
            (_, 0) => {}
            (_, ADVANCE_LOC4) => {
                let by = u32::from_le_bytes(std::array::from_fn(|_| next().expect("four bytes")));
                rows.resize(rows.len() + by as usize, row);
            }
            (_, DEF_CFA) => (row.base, row.distance) = (operand() as u8, operand()),
            (_, DEF_CFA_REGISTER) => row.base = operand() as u8,
            (_, DEF_CFA_OFFSET) => row.distance = operand(),
            (_, REMEMBER_STATE) => kept.push(row),
            (_, RESTORE_STATE) => row = kept.pop().expect("one was kept"),
            other => unreachable!("{other:?} is not written"),
        }
    }
    (kept.len(), row)
}
