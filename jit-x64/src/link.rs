//! Link: give jumps their shortest form, put constants behind the code, and fill in every distance.
//!
//! In: code as it was emitted, with room for 32 bits in each jump whose target was not known or near, and the list
//! of those places in order. Out: the same code, in place, shorter; block starts and the map moved along. A jump is
//! short if the distance was short before anything shrank: distances only get smaller, so this is safe, and one
//! pass is enough. Cost: linear.

use crate::code::Code;
use crate::machine::FILLER;
use azulejo_core::ir::index::Block;
use std::collections::HashMap;

/// The machine's alignment of what `xorps` and its like read, and so of every entry of the pool.
const ENTRY: usize = 16;

/// Constants that stand behind the code, 16 bytes each.
#[derive(Debug, Default)]
pub(crate) struct Pool {
    entries: Vec<u128>,
    known: HashMap<u128, u32>,
}

impl Pool {
    pub(crate) fn clear(&mut self) {
        self.entries.clear();
        self.known.clear();
    }

    /// The number of a constant's entry.
    pub(crate) fn entry(&mut self, bits: u128) -> u32 {
        let entries = &mut self.entries;
        *self.known.entry(bits).or_insert_with(|| {
            entries.push(bits);
            entries.len() as u32 - 1
        })
    }
}

/// Where a distance leads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Target {
    Block(Block),
    /// An entry of the pool.
    Constant(u32),
    /// Something outside of the code: known when the code gets its place.
    Address(u64),
    /// Another bytecode, by the number of the exit; in a stencil.
    Exit(u32),
}

/// A place that holds the distance from behind it to a target, plus what it holds now.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fixup {
    /// Where it is.
    pub(crate) at: u32,
    pub(crate) target: Target,
    pub(crate) form: Form,
    /// Whether the distance stays open: the two ends are put down apart.
    pub(crate) is_open: bool,
}

/// What kind of place it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Form {
    /// Four bytes.
    Field,
    /// Four bytes behind the one byte of a jump.
    Jump,
    /// Four bytes behind the two bytes of a conditional jump.
    Branch,
    /// One byte of a jump that was shortened.
    Short,
}

impl Form {
    /// How many bytes of opcode there are before it, and how many bytes the short form saves.
    fn opcode_and_saving(self) -> (u32, u32) {
        match self {
            Form::Jump => (1, 3),
            Form::Branch => (2, 4),
            Form::Field | Form::Short => (0, 0),
        }
    }
}

/// Memory kept between functions.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    /// Jumps that were shortened: where their distance was, and how much was saved up to and with them.
    cuts: Vec<(u32, u32)>,
}

/// Shortens and links. `starts` are the blocks' by number, `order` are the blocks that were emitted, in order, and `others`
/// are some more in any order.
pub(crate) fn link(
    scratch: &mut Scratch,
    code: &mut Code,
    fixups: &mut [Fixup],
    starts: &mut [u32],
    order: impl Iterator<Item = Block>,
    others: impl Iterator<Item = Block>,
    pool: &Pool,
) {
    scratch.cuts.clear();
    shorten(&mut scratch.cuts, &mut code.bytes, fixups, starts);
    if !scratch.cuts.is_empty() {
        let mut moved = moved(&scratch.cuts);
        order.for_each(|block| starts[block.at()] = moved(starts[block.at()]));
        for block in others {
            let start = &mut starts[block.at()];
            let n_before = scratch.cuts.partition_point(|(at, _)| at < start);
            *start -= n_before.checked_sub(1).map_or(0, |last| scratch.cuts[last].1);
        }
        let mut moved = self::moved(&scratch.cuts);
        code.map.iter_mut().for_each(|(at, _)| *at = moved(*at));
        let mut moved = self::moved(&scratch.cuts);
        code.leaves.iter_mut().for_each(|at| *at = moved(*at));
        let mut moved = self::moved(&scratch.cuts);
        for site in &mut code.sites {
            (site.start, site.end) = (moved(site.start), moved(site.end));
        }
        code.cold = self::moved(&scratch.cuts)(code.cold);
    }
    code.end = code.bytes.len() as u32;
    if !pool.entries.is_empty() {
        code.bytes.resize(code.bytes.len().next_multiple_of(ENTRY), FILLER);
    }
    for entry in &pool.entries {
        code.bytes.extend_from_slice(&entry.to_le_bytes());
    }
    code.addresses.clear();
    for fixup in fixups.iter_mut().filter(|fixup| !fixup.is_open) {
        let to = match fixup.target {
            Target::Address(address) => {
                code.addresses.push((fixup.at, address));
                continue;
            }
            Target::Block(block) => starts[block.at()] as i64,
            Target::Constant(entry) => constant_at(code.end, entry) as i64,
            Target::Exit(_) => unreachable!("an exit to another bytecode stays open"),
        };
        let at = fixup.at as usize;
        if fixup.form == Form::Short {
            code.bytes[at] = i8::try_from(to - (at as i64 + 1)).expect("it was near already") as u8;
        } else {
            let field: &mut [u8; 4] = (&mut code.bytes[at..at + 4]).try_into().expect("four bytes");
            let distance = to - (at as i64 + 4) + i32::from_le_bytes(*field) as i64;
            *field = (distance as i32).to_le_bytes();
        }
    }
}

/// Where a constant is, behind code that ends there.
pub(crate) fn constant_at(end: u32, entry: u32) -> u32 {
    end.next_multiple_of(ENTRY as u32) + entry * ENTRY as u32
}

/// Finds the jumps that have a short form, and moves all bytes together.
fn shorten(cuts: &mut Vec<(u32, u32)>, bytes: &mut Vec<u8>, fixups: &mut [Fixup], starts: &[u32]) {
    let (mut read, mut write, mut saved) = (0, 0, 0);
    for fixup in fixups {
        let (opcode, saving) = fixup.form.opcode_and_saving();
        let at = fixup.at as usize;
        let is_open = fixup.is_open;
        let is_near =
            |block: Block| !is_open && i8::try_from(starts[block.at()] as i64 - (at as i64 + 4)).is_ok();
        fixup.at -= saved;
        if !matches!(fixup.target, Target::Block(block) if saving > 0 && is_near(block)) {
            continue;
        }
        let start = at - opcode as usize;
        let short = if fixup.form == Form::Jump { 0xeb } else { 0x70 | bytes[at - 1] & 0x0f };
        bytes.copy_within(read..start, write);
        write += start - read;
        bytes[write] = short;
        (read, write) = (at + 4, write + 2);
        saved += saving;
        *fixup = Fixup { at: write as u32 - 1, form: Form::Short, ..*fixup };
        cuts.push((at as u32, saved));
    }
    let end = bytes.len();
    bytes.copy_within(read..end, write);
    bytes.truncate(write + end - read);
}

/// Where positions are afterwards; they must be asked for in order.
fn moved(cuts: &[(u32, u32)]) -> impl FnMut(u32) -> u32 {
    let mut next = 0;
    move |position| {
        while cuts.get(next).is_some_and(|(at, _)| *at < position) {
            next += 1;
        }
        position - if next == 0 { 0 } else { cuts[next - 1].1 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use azulejo_core::fuzzing::Random;
    use azulejo_core::ir::emitted::Maker;
    use iced_x86::{Decoder, DecoderOptions, FlowControl, OpKind};

    /// Blocks of random length, each ending with a jump and a conditional jump to random blocks, and reading a
    /// constant: all lead where they should, and no jump is longer than its distance was before.
    #[test]
    fn jumps_lead_to_their_blocks_in_their_shortest_form() {
        let mut random = Random::new(1);
        for _ in 0..300 {
            let n_blocks = 1 + random.below(12);
            let (mut code, mut fixups, mut starts) = (Code::default(), Vec::new(), Vec::new());
            let mut pool = Pool::default();
            let mut constants = Vec::new();
            for _ in 0..n_blocks {
                starts.push(code.bytes.len() as u32);
                code.map.push((code.bytes.len() as u32, Maker::Inst(starts.len() as u32 - 1)));
                code.bytes.resize(code.bytes.len() + random.below(100), 0x90);
                let mut fixup = |opcode: &[u8], target, form| {
                    code.bytes.extend(opcode);
                    fixups.push(Fixup { at: code.bytes.len() as u32, target, form, is_open: false });
                    code.bytes.extend([0; 4]);
                };
                let bits = random.below(5) as u128;
                constants.push(bits);
                let constant = Target::Constant(pool.entry(bits));
                // movsd xmm0, [rip + constant]
                fixup(&[0xf2, 0x0f, 0x10, 0x05], constant, Form::Field);
                let mut any_block = || Target::Block(Block(random.below(n_blocks) as u32));
                fixup(&[0x0f, 0x84], any_block(), Form::Branch);
                fixup(&[0xe9], any_block(), Form::Jump);
            }
            code.cold = *starts.last().expect("there is a block");
            let before: Vec<(Fixup, i64)> = fixups
                .iter()
                .filter_map(|fixup| match fixup.target {
                    Target::Block(to) => Some((*fixup, starts[to.at()] as i64 - (fixup.at as i64 + 4))),
                    Target::Constant(_) | Target::Address(_) | Target::Exit(_) => None,
                })
                .collect();
            let order = (0..n_blocks).map(Block::from);
            let none = core::iter::empty();
            link(&mut Scratch::default(), &mut code, &mut fixups, &mut starts, order, none, &pool);
            assert_eq!(code.cold, *starts.last().expect("there is a block"));
            assert!(code.map.iter().map(|(at, _)| at).eq(&starts), "the map moves along");
            let mut jumps = before.iter();
            let mut constants = constants.iter();
            let decoder = Decoder::with_ip(64, &code.bytes[..code.end as usize], 0, DecoderOptions::NONE);
            for instruction in decoder {
                assert!(!instruction.is_invalid());
                if instruction.is_ip_rel_memory_operand() {
                    let at = instruction.ip_rel_memory_address() as usize;
                    let found = u128::from_le_bytes(code.bytes[at..at + 16].try_into().expect("16 bytes"));
                    assert_eq!(Some(&found), constants.next());
                    assert_eq!(at % 16, 0);
                } else if instruction.flow_control() != FlowControl::Next {
                    assert_eq!(instruction.op0_kind(), OpKind::NearBranch64);
                    let (fixup, distance) = jumps.next().expect("there are as many jumps as before");
                    let Target::Block(to) = fixup.target else { unreachable!("only jumps were kept") };
                    assert_eq!(instruction.near_branch_target(), starts[to.at()] as u64);
                    assert_eq!(instruction.len() == 2, i8::try_from(*distance).is_ok());
                }
            }
            assert!(jumps.next().is_none() && constants.next().is_none());
        }
    }
}
