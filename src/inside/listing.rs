//! Listings of a function's machine code with its bytecode.

use super::machine::{self, Machine};
use std::fmt;

/// A function's machine code, with the bytecode that each piece came from. It prints as one line for each piece, with the
/// offset, the bytes and the bytecode; with the feature `disasm`, as one line for each instruction.
///
/// ```
#[doc = include_str!("../engine/doubling.txt")]
/// let engine = Engine::<Op>::new();
/// let double = engine.define("double", code, 1)?;
/// # if azulejo::can_compile().is_ok() {
/// engine.compile(double)?;
/// println!("{}", engine.disassemble(double)?);
/// # }
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Listing {
    /// The address at which the code runs.
    pub(crate) address: usize,
    pub(crate) bytes: Vec<u8>,
    pub(crate) map: Vec<(u32, u32)>,
    pub(crate) bytecode: Vec<String>,
}

impl Listing {
    /// Returns the bytes of the machine code.
    ///
    /// ```
    #[doc = include_str!("../engine/doubling.txt")]
    /// let engine = Engine::<Op>::new();
    /// let double = engine.define("double", code, 1)?;
    /// # if azulejo::can_compile().is_ok() {
    /// engine.compile(double)?;
    /// assert_eq!(engine.disassemble(double)?.bytes().len(), engine.code_len(double));
    /// # }
    /// # Ok::<(), Error>(())
    /// ```
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

impl fmt::Display for Listing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut last = None;
        let machine = Machine { code: &self.bytes, address: self.address as u64, addresses: &[] };
        for line in machine::lines(machine, self.map.iter().map(|(at, _)| *at)) {
            let origin = origin(&self.map, line.at).copied();
            let is_other = origin != last;
            last = origin;
            // A bytecode is named only on its first line.
            let note = origin.filter(|_| is_other);
            let note = note.map(|at| format!("; {at}: {}", self.bytecode[at as usize])).unwrap_or_default();
            let text = if line.text.is_empty() { line.hex() } else { line.text };
            writeln!(f, "{}", format!("{:6x}  {text:40}{note}", line.at).trim_end())?;
        }
        Ok(())
    }
}

/// The origin of the last piece that starts at or before an offset.
pub(crate) fn origin<T>(map: &[(u32, T)], offset: u32) -> Option<&T> {
    let next = map.partition_point(|(start, _)| *start <= offset);
    Some(&map[next.checked_sub(1)?].1)
}
