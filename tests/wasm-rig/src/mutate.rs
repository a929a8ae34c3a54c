//! Mutates a module: the result is often not valid, and if it is, it behaves differently.
//!
//! A random change of a byte seldom leaves a module valid. So most changes here replace an instruction by another one of
//! the same shape, or change bytes of the code only.

use crate::sections;
use azulejo_core::random::Random;

/// Ranges of opcodes (first and last) with the same operands, results and immediates. All are one byte long.
const SHAPES: [&[(u8, u8)]; 16] = [
    &[(0x28, 0x28), (0x2c, 0x2f)],
    &[(0x29, 0x29), (0x30, 0x35)],
    &[(0x36, 0x36), (0x3a, 0x3b)],
    &[(0x37, 0x37), (0x3c, 0x3e)],
    &[(0x46, 0x4f), (0x6a, 0x78)],
    &[(0x51, 0x5a)],
    &[(0x5b, 0x60)],
    &[(0x61, 0x66)],
    &[(0x45, 0x45), (0x67, 0x69), (0xc0, 0xc1)],
    &[(0x79, 0x7b), (0xc2, 0xc4)],
    &[(0x7c, 0x8a)],
    &[(0x8b, 0x91)],
    &[(0x92, 0x98)],
    &[(0x99, 0x9f)],
    &[(0xa0, 0xa6)],
    &[(0xa8, 0xa9), (0xbc, 0xbc)],
];

/// Makes one to four changes.
pub fn mutate(module: &mut Vec<u8>, random: &mut Random) {
    for _ in 0..1 + random.below(4) {
        let code =
            sections::find(module, sections::CODE).filter(|code| !code.is_empty()).unwrap_or(0..module.len());
        if code.is_empty() {
            return;
        }
        let at = code.start + random.below(code.len());
        match random.below(12) {
            0 => {
                let anywhere = random.below(module.len());
                module[anywhere] ^= 1 << random.below(8);
            }
            1 => module[at] = random.number() as u8,
            2 => module.truncate(random.below(module.len()).max(8)),
            3 => {
                module.remove(at);
            }
            4 => module.insert(at, random.number() as u8),
            5 => {
                // Copies a piece of the code over another piece.
                let length = 1 + random.below(8).min(code.len() - 1);
                let [from, to] = [(); 2].map(|()| code.start + random.below(code.len() - length + 1));
                module.copy_within(from..from + length, to);
            }
            6 => module[at] = module[at].wrapping_add(1),
            7 => module[at] = module[at].wrapping_sub(1),
            _ => {
                let first = module[at..code.end].iter().position(|byte| same_shape(*byte).is_some());
                let Some(at) = first.map(|first| at + first) else { continue };
                let shape = same_shape(module[at]).into_iter().flatten();
                let shape: Vec<u8> = shape.flat_map(|&(first, last)| first..=last).collect();
                module[at] = shape[random.below(shape.len())];
            }
        }
    }
}

fn same_shape(opcode: u8) -> Option<&'static [(u8, u8)]> {
    SHAPES.into_iter().find(|shape| shape.iter().any(|&(first, last)| (first..=last).contains(&opcode)))
}
