//! A function's machine code, before it is installed.

use super::Backend;
use crate::exit::Records;
use crate::faults::{Guarded, Registered, Site};
use crate::memory::Finished;
use crate::unwind::{Described, FrameChange};
use azulejo_core::ir::emitted::{Emitted, Maker};

/// A function's machine code.
#[derive(Debug)]
pub struct Code<M: Backend> {
    /// The bytes. They are position-independent, once `addresses` are filled in.
    pub bytes: Vec<u8>,
    /// For each piece of code, in order, its offset and its origin; an instruction that emitted nothing has no piece.
    pub map: Vec<(u32, Maker)>,
    /// The offset of the first cold byte.
    pub cold: u32,
    /// The offset at which the code ends and its constants begin.
    pub end: u32,
    /// The offset of the entry.
    pub entry: u32,
    /// The function's frame on the stack.
    pub frame: M::Frame,
    /// Where the frame is made, and from where on it is there or not.
    pub frames: Vec<(u32, FrameChange)>,
    /// The offsets of the epilogues.
    pub leaves: Vec<u32>,
    /// Which of these epilogues ends the function after a faulting access, if an access may fault.
    pub lands: Option<u32>,
    /// The places that hold the distance to an address, and the address.
    pub addresses: Vec<(u32, u64)>,
    /// The accesses that may fault, in order.
    pub sites: Vec<Site>,
    /// Where the values of VM registers are at its exits. The code contains their address.
    pub records: Option<Box<Records>>,
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
            frames: Vec::new(),
            leaves: Vec::new(),
            lands: None,
            addresses: Vec::new(),
            sites: Vec::new(),
            records: None,
        }
    }
}

impl<M: Backend> Code<M> {
    /// The code as an observer sees it.
    pub fn emitted(&self) -> Emitted<'_> {
        Emitted { code: &self.bytes[..self.end as usize], pieces: &self.map, addresses: &self.addresses }
    }

    /// The code as debuggers and unwinders see it.
    pub fn described(&self) -> Described<'_> {
        Described {
            machine: M::MACHINE,
            frame: &self.frame,
            frames: &self.frames,
            leaves: &self.leaves,
            end: self.end as usize,
        }
    }

    /// Tells the fault handler of the code, which is at this address. `None` if no access may fault.
    pub(crate) fn register_faults(&self, start: usize, is_call_entry: bool) -> Option<Registered> {
        let lands = self.lands.filter(|_| !self.sites.is_empty())?;
        Some(Registered::new(Guarded {
            start,
            len: self.end as usize,
            leave: self.leaves[lands as usize],
            is_call_entry,
            sites: Box::new(Box::<[Site]>::from(&self.sites[..])),
        }))
    }

    /// The code as code memory takes it.
    pub fn finished(&self) -> Finished<'_> {
        Finished { bytes: &self.bytes, addresses: &self.addresses, described: self.described() }
    }
}
