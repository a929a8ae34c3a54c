//! The code of one opcode, before it is in memory.
//!
//! In: emitted code. Out: a [`Piece`], which contains all that putting it into memory takes.

use super::around::{self, Made};
use crate::emit::{Backend, Buffer, Code, DistanceForm, Goal, Options};
use crate::faults::{Guarded, Registered, Site};
use crate::field::Field;
use crate::unwind::{Described, MADE_AT_ONCE};
use crate::{CodeMemory, Installed};
use azulejo_core::error::Error;

/// The code of one opcode.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Piece {
    /// The code, and its constants.
    pub(crate) bytes: Vec<u8>,
    /// The offset at which the code ends and its constants begin.
    pub(crate) end: u32,
    /// The fields that name an address by its distance, and the address.
    pub(crate) addresses: Vec<(u32, u64)>,
    /// The fields that hold the distance to where code is left, from this many bytes behind their start.
    pub(crate) exits: Vec<(u32, Field, u8)>,
    /// The accesses that may fault, and where the function leaves then.
    pub(crate) faults: Option<(u32, Vec<Site>)>,
}

impl Piece {
    /// The code as it was emitted.
    pub(super) fn of<M: Backend>(code: &Code<M>, buffer: &Buffer<M>) -> Piece {
        let exits = buffer.unresolved_distances(code).filter(|(_, _, to, _)| matches!(to, Goal::Exit(_)));
        let lands = code.lands.filter(|_| !code.sites.is_empty());
        Piece {
            bytes: code.bytes.clone(),
            end: code.end,
            addresses: code.addresses.clone(),
            exits: exits.map(|(at, form, ..)| (at, form.field(), form.base() as u8)).collect(),
            faults: lands.map(|lands| (code.leaves[lands as usize], code.sites.clone())),
        }
    }

    /// Puts the code into memory. Where it is left, it goes to `out`.
    pub(super) fn install<M: Backend>(
        self,
        memory: &CodeMemory,
        options: &Options,
        out: usize,
    ) -> Result<(Installed, Option<Registered>), Error> {
        let Piece { bytes, end, addresses, exits, faults } = self;
        let frame = &Made(&around::frame::<M>(options));
        let len = end as usize;
        let described = Described { machine: M::MACHINE, frame, frames: MADE_AT_ONCE, leaves: &[], end: len };
        let installed = memory.install_with(described, bytes.len(), |address, room| {
            room.copy_from_slice(&bytes);
            for &(place, to) in &addresses {
                M::MACHINE.relocate(room, place as usize, address, to);
            }
            for &(place, field, base) in &exits {
                let from = address + place as usize + base as usize;
                field.write(&mut room[place as usize..], out.wrapping_sub(from) as i64);
            }
        })?;
        let start = installed.address().addr();
        let faults = faults.map(|(leave, sites)| {
            let sites = Box::new(Box::<[Site]>::from(sites));
            Registered::new(Guarded { start, len, leave, is_call_entry: false, sites })
        });
        Ok((installed, faults))
    }
}
