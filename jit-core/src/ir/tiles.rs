//! The tile list: machine instructions in order, before register allocation.
//!
//! Blocks keep the graph's numbers but are in emission order. Critical edges are split: if a block has several successors,
//! each of them has one predecessor. The targets of switches and branches never have parameters. The positions at which an
//! instruction reads and writes are those of [`super::ranges`].

use super::index::{Block, InstId, List, Loop, Node, Vreg};
use super::inlining::Inlining;
use super::schedule::LoopData;
use super::state::{Boxes, Saved, TileState};
use super::template::Convention;
use crate::target::{Reg, RegSet};
use crate::vocab::{Sig, Type};

/// How an instruction uses an operand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    /// Read at the start; a result may reuse the register.
    Use,
    /// Read until the end: never shares a register with a result.
    LateUse,
    /// Written at the end.
    Def,
    /// Written before the operands are read: shares a register with none of them.
    EarlyDef,
    /// Scratch: any content, free for the whole instruction. Its vreg occurs nowhere else.
    Temp,
}

/// The places in which an operand may be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Constraint {
    /// In any register of the vreg's class.
    Reg,
    /// In a register, or in its spill slot.
    Any,
    /// In this register. Several uses of one vreg in different registers are legal: the vreg is copied.
    Fixed(Reg),
    /// A result: in the register of the use with this operand number.
    Tied(u8),
    /// A use of a [`FrameState`](super::state::FrameState): wherever it is, in a register or its spill slot. It never keeps a value in a
    /// register, and no move is made for it.
    Anywhere,
    /// A use: stored in this 8-byte unit of the outgoing argument area. The allocator stores it there.
    OutArg(Unit),
}

/// A unit of the outgoing argument area. It is an array of bytes, so that an operand takes eight bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Unit([u8; 2]);

impl Unit {
    /// Its number.
    pub const fn number(self) -> u16 {
        u16::from_le_bytes(self.0)
    }
}

impl From<u16> for Unit {
    fn from(number: u16) -> Unit {
        Unit(number.to_le_bytes())
    }
}

const _: () = assert!(size_of::<Operand>() == 8 && size_of::<VregData>() == 8);

/// An operand of an instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Operand {
    /// The value.
    pub vreg: Vreg,
    /// How it is used.
    pub role: Role,
    /// Where it must be.
    pub constraint: Constraint,
}

/// The number of a tile in its tile set.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, PartialOrd, Ord)]
pub struct TileId(pub u16);

/// An instruction: a selected tile and its operands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Inst {
    /// The tile.
    pub tile: TileId,
    /// The types of the pattern's root.
    pub sig: Sig,
    /// In [`TileList::operands`]: results, then uses in pattern order, then temporaries. For a call: the result, the callee's
    /// address if it is a value, and the arguments.
    pub operands: List,
    /// In [`TileList::imms`]: the constants of the pattern, in pattern order.
    pub imms: List,
    /// The registers that it clobbers, besides those of results.
    pub clobbers: RegSet,
    /// The node at the pattern's root.
    pub node: Node,
    /// The bytecode it came from.
    pub origin: u32,
}

/// An instruction that may fault, and the trap that the fault becomes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FaultSite {
    /// The instruction.
    pub inst: InstId,
    /// The node of the access.
    pub node: Node,
    /// The trap's code.
    pub code: u32,
    /// The bytecode that traps.
    pub origin: u32,
}

/// A virtual register. It is defined once, by an instruction or as a block parameter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct VregData {
    /// Its type; never a flag or `Void`.
    pub ty: Type,
    /// For a constant, which can be rematerialized instead of being kept: its index in [`TileList::constants`]. Otherwise
    /// `u32::MAX`.
    pub constant: u32,
}

/// An edge out of a block.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Edge {
    /// The successor.
    pub to: Block,
    /// In [`TileList::args`]: the arguments for the successor's parameters.
    pub args: List,
}

/// A block of instructions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TileBlock {
    /// The graph's block, or a new number for a split edge.
    pub block: Block,
    /// Its instructions, which are contiguous; the last one leaves the block.
    pub insts: List,
    /// In [`TileList::args`]: the parameters.
    pub params: List,
    /// In [`TileList::edges`]: the edges out of it, in the order of the graph's successors.
    pub edges: List,
    /// The innermost loop that contains it, or none.
    pub inner: Loop,
    /// Whether it is emitted after all blocks that are not cold.
    pub cold: bool,
    /// Whether an instruction uses the function's frame on the stack, or calls.
    pub uses_frame: bool,
    /// Whether the function's frame is there when it runs. The frame is made where control first comes from a block without it into
    /// one with it, and dropped only where control leaves the function.
    pub framed: bool,
}

impl TileBlock {
    /// Its instructions in order.
    #[inline(always)]
    pub fn insts(&self) -> impl Iterator<Item = InstId> + use<> {
        self.insts.range().map(InstId::from)
    }

    /// Its first instruction.
    #[inline(always)]
    pub const fn first(&self) -> InstId {
        InstId(self.insts.start)
    }

    /// The instruction that leaves it.
    #[inline(always)]
    pub const fn last(&self) -> InstId {
        InstId(self.insts.start + self.insts.len - 1)
    }
}

/// A function as tiles.
#[derive(Clone, Debug, Default)]
pub struct TileList {
    /// Instructions in emission order.
    pub insts: Vec<Inst>,
    /// The pool of operands.
    pub operands: Vec<Operand>,
    /// The pool of constants.
    pub imms: Vec<i64>,
    /// The instructions that may fault, in order.
    pub faults: Vec<FaultSite>,
    /// Blocks in emission order, the entry first.
    pub blocks: Vec<TileBlock>,
    /// The position in `blocks` of each block number (`u32::MAX` if absent).
    pub position: Vec<u32>,
    /// Every loop.
    pub loops: Vec<LoopData>,
    /// The pool of edges.
    pub edges: Vec<Edge>,
    /// The pool of parameters and arguments.
    pub args: Vec<Vreg>,
    /// Every virtual register.
    pub vregs: Vec<VregData>,
    /// The pool of the constants that virtual registers stand for.
    pub constants: Vec<u64>,
    /// The frame states, by the numbers that the graph's states have. An instruction that leaves with one has its number as
    /// constant, and as operands the address of the frame or the context, and the values.
    pub states: Vec<TileState>,
    /// The pool of VM registers in frame states.
    pub saved: Vec<Saved>,
    /// How the boxes of values in frame states are made.
    pub boxes: Boxes,
    /// The inlined calls.
    pub inlining: Inlining,
    /// The size of the outgoing argument area in 8-byte units, including the shadow space.
    pub out_args: u16,
    /// Whether there are calls from which control comes back.
    pub has_calls: bool,
}

impl TileList {
    /// Empties the list and keeps its memory.
    pub fn clear(&mut self) {
        self.insts.clear();
        self.operands.clear();
        self.imms.clear();
        self.faults.clear();
        self.blocks.clear();
        self.position.clear();
        self.loops.clear();
        self.edges.clear();
        self.args.clear();
        self.vregs.clear();
        self.constants.clear();
        self.states.clear();
        self.saved.clear();
        self.boxes = Boxes::default();
        self.inlining.clear();
        self.out_args = 0;
        self.has_calls = false;
    }

    /// The operands of an instruction.
    #[inline(always)]
    pub fn operands(&self, inst: usize) -> &[Operand] {
        &self.operands[self.insts[inst].operands.range()]
    }

    /// The constants of an instruction.
    #[inline(always)]
    pub fn imms(&self, inst: usize) -> &[i64] {
        &self.imms[self.insts[inst].imms.range()]
    }

    /// The frame state of an instruction, if it leaves with one.
    pub fn state(&self, inst: usize) -> Option<&TileState> {
        let has_state =
            self.operands(inst).first().is_some_and(|first| first.constraint == Constraint::Anywhere);
        let number = self.imms(inst).last().filter(|_| has_state)?;
        self.states.get(*number as usize)
    }

    /// The edges out of a block.
    #[inline(always)]
    pub fn edges(&self, block: &TileBlock) -> &[Edge] {
        &self.edges[block.edges.range()]
    }

    /// The nesting depth of a loop, itself included; 0 if there is no loop.
    #[inline(always)]
    pub fn depth(&self, inner: Loop) -> u16 {
        self.loops.get(inner.at()).map_or(0, |inner| inner.depth)
    }

    /// The innermost loop that contains both loops.
    pub fn loop_around(&self, a: Loop, b: Loop) -> Loop {
        let (mut a, mut b) = (a, b);
        while a != b {
            match self.depth(a) >= self.depth(b) {
                true => a = self.loops[a.at()].around,
                false => b = self.loops[b.at()].around,
            }
        }
        a
    }

    /// The block with this number.
    #[inline(always)]
    pub fn block(&self, block: Block) -> &TileBlock {
        &self.blocks[self.position[block.at()] as usize]
    }

    /// Adds a virtual register.
    pub fn add_vreg(&mut self, ty: Type) -> Vreg {
        debug_assert!(ty.is_value());
        self.vregs.push(VregData { ty, constant: u32::MAX });
        Vreg::from(self.vregs.len() - 1)
    }

    /// Adds a virtual register that stands for a constant.
    pub fn add_constant(&mut self, ty: Type, bits: u64) -> Vreg {
        self.vregs.push(VregData { ty, constant: self.constants.len() as u32 });
        self.constants.push(bits);
        Vreg::from(self.vregs.len() - 1)
    }

    /// The constant that a virtual register stands for, if any.
    #[inline(always)]
    pub fn constant(&self, vreg: Vreg) -> Option<u64> {
        self.constants.get(self.vregs[vreg.at()].constant as usize).copied()
    }
}

/// The calling convention that [`Convention::C`] stands for on this system; all others unchanged.
pub fn resolve(convention: Convention) -> Convention {
    match convention {
        Convention::C if cfg!(windows) => Convention::Win64,
        Convention::C => Convention::SysV64,
        other => other,
    }
}
