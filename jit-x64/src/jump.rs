//! Distances in instructions: jumps with 32 bits and with eight, and fields of any other instruction.

use azulejo_code::Field;
use azulejo_code::emit::{DistanceForm, Shorter};

/// The kinds of places that hold distances. All count from behind the place, where the instruction ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Jump {
    /// Four bytes.
    Field,
    /// Four bytes behind the one byte of a jump.
    Jump,
    /// Four bytes behind the two bytes of a conditional jump.
    Branch,
    /// One byte of a jump that was shortened.
    Short,
}

impl DistanceForm for Jump {
    #[inline]
    fn field(self) -> Field {
        match self {
            Jump::Field | Jump::Jump | Jump::Branch => Field::WORD,
            Jump::Short => Field::whole(1),
        }
    }

    #[inline]
    fn base(self) -> u32 {
        self.field().bytes as u32
    }

    #[inline]
    fn shorter(self) -> Option<Shorter<Jump>> {
        match self {
            Jump::Jump => Some(Shorter { form: Jump::Short, opcode: 1, short: |_| 0xeb }),
            // Both forms have the condition in their lowest bits.
            Jump::Branch => Some(Shorter { form: Jump::Short, opcode: 2, short: |long| 0x70 | long & 0x0f }),
            Jump::Field | Jump::Short => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::emit::{Code, Emitter};
    use azulejo_code::emit::{Fixup, Goal, link_by_hand};
    use azulejo_core::fuzzing::Random;
    use azulejo_core::ir::emitted::Maker;
    use azulejo_core::ir::index::Block;
    use azulejo_core::vocab::Type;
    use iced_x86::{Decoder, DecoderOptions, FlowControl, OpKind};

    /// Blocks of random length, each of which reads a constant and ends with a jump and a conditional jump to random blocks:
    /// all distances lead to their goals, and no jump is longer than its original distance required.
    #[test]
    fn jumps_lead_to_their_blocks_in_their_shortest_form() {
        let mut random = Random::new(1);
        for _ in 0..300 {
            let n_blocks = 1 + random.below(12);
            let (mut cx, mut code) = (Emitter::bare(), Code::default());
            let blocks: Vec<Block> = (0..n_blocks).map(|_| cx.add_block()).collect();
            let mut constants = Vec::new();
            for (at, block) in blocks.iter().enumerate() {
                cx.start(*block);
                code.map.push((cx.here() as u32, Maker::Inst(at as u32)));
                let len = random.below(100);
                cx.bytes(&vec![0x90; len]);
                let mut fixup = |opcode: &[u8], to, form| {
                    cx.bytes(opcode);
                    cx.fixup(to, form);
                    cx.bytes(&[0; 4]);
                };
                let bits = random.below(5) as u128;
                constants.push(bits);
                let mut any_block = || Goal::Block(blocks[random.below(n_blocks)]);
                fixup(&[0x0f, 0x84], any_block(), Jump::Branch);
                fixup(&[0xe9], any_block(), Jump::Jump);
                let constant = cx.constant(bits);
                cx.load(Type::F64, 0, constant);
            }
            let last = *cx.starts.last().expect("there is a block");
            cx.leaves.push(last);
            let distance = |fixup: &Fixup<Jump>| match fixup.to {
                Goal::Block(to) => Some((to, cx.starts[to.at()] as i64 - (fixup.at as i64 + 4))),
                Goal::Constant(_) | Goal::Address(_) | Goal::Exit(_) => None,
            };
            let before: Vec<(Block, i64)> = cx.fixups.iter().filter_map(distance).collect();
            link_by_hand(cx, &mut code, true);
            let starts: Vec<u32> = code.map.iter().map(|(at, _)| *at).collect();
            assert_eq!(code.leaves, [*starts.last().expect("as above")]);
            assert_eq!((starts[0], code.cold), (0, code.end));
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
                    let (to, distance) = jumps.next().expect("there are as many jumps as before");
                    assert_eq!(instruction.near_branch_target(), starts[to.at()] as u64);
                    assert_eq!(instruction.len() == 2, i8::try_from(*distance).is_ok());
                }
            }
            assert!(jumps.next().is_none() && constants.next().is_none());
        }
    }
}
