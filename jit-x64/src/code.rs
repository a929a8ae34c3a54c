//! A function's machine code, before it is anywhere.

use crate::frame::Frame;
use azulejo_code::faults::Site;
use azulejo_code::memory::Finished;
use azulejo_code::unwind::Described;
use azulejo_core::ir::emitted::{Emitted, Maker};

/// A function's machine code.
#[derive(Clone, Debug, Default)]
pub struct Code {
    /// The bytes. They run wherever they are put, once `addresses` are filled in.
    pub bytes: Vec<u8>,
    /// What made each piece of the code, in order; an instruction that emitted nothing has none.
    pub map: Vec<(u32, Maker)>,
    /// Where the first cold byte is.
    pub cold: u32,
    /// Where the code ends and its constants begin.
    pub end: u32,
    /// Where it is entered.
    pub entry: u32,
    /// What the function has on the stack.
    pub frame: Frame,
    /// Where it takes that back and ends.
    pub leaves: Vec<u32>,
    /// Which of these ends the function where an access faults, if one does.
    pub lands: Option<u32>,
    /// Where four bytes are to hold the distance from behind them to an address.
    pub addresses: Vec<(u32, u64)>,
    /// Where accesses may fault, in order.
    pub sites: Vec<Site>,
}

impl Code {
    /// As who looks at it sees it.
    pub fn emitted(&self) -> Emitted<'_> {
        Emitted { code: &self.bytes[..self.end as usize], pieces: &self.map, addresses: &self.addresses }
    }

    pub(crate) fn described(&self) -> Described<'_> {
        self.frame.described(&self.leaves, self.end as usize)
    }

    /// What memory for code takes.
    pub fn finished(&self) -> Finished<'_> {
        Finished { bytes: &self.bytes, addresses: &self.addresses, described: self.described() }
    }
}
