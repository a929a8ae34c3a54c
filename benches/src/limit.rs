//! An upper bound on the speed of copy-and-patch: for each bytecode it copies a stencil from a table and fills three holes.
//!
//! The stencils' code is meaningless. Their number, size and holes are those of a register bytecode
//! (load, operate, store: 21 bytes, three 32-bit offsets). Each has its own bytes and offsets of holes, so that
//! neither the compiler nor the branch predictor can exploit regularity.

/// The size of a stencil in bytes.
const BYTES: usize = 21;
/// The number of holes in a stencil.
const HOLES: usize = 3;
/// The table's space for a stencil, so that all copies have a fixed size.
const ROOM: usize = 32;

#[derive(Clone, Copy)]
struct Stencil {
    bytes: [u8; ROOM],
    len: u8,
    hole_count: u8,
    holes: [Hole; 4],
}

/// A hole: its offset, and the operand that goes into it.
#[derive(Clone, Copy)]
struct Hole {
    at: u8,
    operand: u8,
}

/// A bytecode: its opcode and three operands.
#[derive(Clone, Copy)]
struct Bytecode {
    opcode: u8,
    operands: [u16; 3],
}

/// The stencil table, the bytecode, and a buffer for the machine code.
pub(crate) struct Limit {
    table: [Stencil; 64],
    code: Vec<Bytecode>,
    out: Vec<u8>,
}

impl Limit {
    /// A bytecode of this length with opcodes in random order.
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

    /// Generates the code. Returns its size in bytes.
    #[inline(never)]
    pub(crate) fn compile(&mut self) -> usize {
        let start = self.out.as_mut_ptr();
        let mut at = start;
        for bytecode in &self.code {
            let stencil = &self.table[bytecode.opcode as usize & 63];
            // SAFETY: the buffer has room for all stencils, and for the whole block that is copied for the last one.
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
