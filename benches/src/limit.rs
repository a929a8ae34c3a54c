//! How fast copy-and-patch can be: a table of stencils, their bytes copied and three holes filled for each bytecode.
//!
//! The stencils mean nothing. They are as many, as long and as full of holes as those of a register bytecode
//! (load, operate, store: 21 bytes, three 32-bit offsets), each with its own bytes and places of holes, so that
//! neither the compiler nor the branch predictor knows them beforehand.

/// How many bytes one stencil has.
const BYTES: usize = 21;
/// How many holes one stencil has.
const HOLES: usize = 3;
/// Room for a stencil, so that copies are of one size.
const ROOM: usize = 32;

#[derive(Clone, Copy)]
struct Stencil {
    bytes: [u8; ROOM],
    len: u8,
    hole_count: u8,
    holes: [Hole; 4],
}

/// Where an operand goes, and which.
#[derive(Clone, Copy)]
struct Hole {
    at: u8,
    operand: u8,
}

/// A bytecode: its number and three operands.
#[derive(Clone, Copy)]
struct Bytecode {
    opcode: u8,
    operands: [u16; 3],
}

/// The table, bytecode of one length, and memory for its code.
pub(crate) struct Limit {
    table: [Stencil; 64],
    code: Vec<Bytecode>,
    out: Vec<u8>,
}

impl Limit {
    /// Bytecode of this length, opcodes in random order.
    pub(crate) fn new(bytecodes: usize) -> Limit {
        let mut state = 1u64;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as u32
        };
        let table = std::array::from_fn(|number| Stencil {
            bytes: [number as u8; ROOM],
            len: BYTES as u8,
            hole_count: HOLES as u8,
            holes: [3, 10, 17, 0]
                .map(|at: u8| Hole { at: at.saturating_sub(number as u8 % 3), operand: at / 7 }),
        });
        let code = (0..bytecodes)
            .map(|_| Bytecode {
                opcode: next() as u8 & 63,
                operands: std::array::from_fn(|_| next() as u16 & 63),
            })
            .collect();
        Limit { table, code, out: vec![0; bytecodes * BYTES + ROOM] }
    }

    /// Makes the code; how many bytes there are.
    #[inline(never)]
    pub(crate) fn compile(&mut self) -> usize {
        let start = self.out.as_mut_ptr();
        let mut at = start;
        for bytecode in &self.code {
            let stencil = &self.table[bytecode.opcode as usize & 63];
            // SAFETY: there is room for all stencils, and for the whole block that is copied for the last one.
            unsafe {
                core::ptr::copy_nonoverlapping(stencil.bytes.as_ptr(), at, ROOM);
                for hole in stencil.holes.get_unchecked(..stencil.hole_count as usize) {
                    let operand = *bytecode.operands.get_unchecked(hole.operand as usize) as u32;
                    at.add(hole.at as usize).cast::<u32>().write_unaligned(operand * 8);
                }
                at = at.add(stencil.len as usize);
            }
        }
        at as usize - start as usize
    }
}
