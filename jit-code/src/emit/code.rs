//! A function's machine code, before it is anywhere.

use super::Backend;
use crate::faults::Site;
use crate::memory::Finished;
use crate::unwind::Described;
use azulejo_core::ir::emitted::{Emitted, Maker};

/// A function's machine code.
#[derive(Debug)]
pub struct Code<M: Backend> {
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
    pub frame: M::Frame,
    /// Where it takes that back and ends.
    pub leaves: Vec<u32>,
    /// Which of these ends the function where an access faults, if one does.
    pub lands: Option<u32>,
    /// Where the code is to hold the distance to an address.
    pub addresses: Vec<(u32, u64)>,
    /// Where accesses may fault, in order.
    pub sites: Vec<Site>,
}

impl<M: Backend> Default for Code<M> {
    fn default() -> Self {
        Code {
            bytes: Vec::new(),
            map: Vec::new(),
            cold: 0,
            end: 0,
            entry: 0,
            frame: M::Frame::default(),
            leaves: Vec::new(),
            lands: None,
            addresses: Vec::new(),
            sites: Vec::new(),
        }
    }
}

impl<M: Backend> Code<M> {
    /// As who looks at it sees it.
    pub fn emitted(&self) -> Emitted<'_> {
        Emitted { code: &self.bytes[..self.end as usize], pieces: &self.map, addresses: &self.addresses }
    }

    /// As debuggers and unwinders are told of it.
    pub fn described(&self) -> Described<'_> {
        Described { machine: M::MACHINE, frame: &self.frame, leaves: &self.leaves, end: self.end as usize }
    }

    /// What memory for code takes.
    pub fn finished(&self) -> Finished<'_> {
        Finished { bytes: &self.bytes, addresses: &self.addresses, described: self.described() }
    }
}
