//! Shared endings of cold code: exits that end alike share the code that does it.
//!
//! In: an emitter, at a place where a block is about to leave the function. Out: a jump to existing code with the same ending;
//! or nothing, and the code emitted next becomes the shared ending. Hot code and stencils share nothing: in hot code a jump
//! would cost time, and in a stencil leaving is a jump already.

use crate::emit::{Emitter, distance};
use crate::jump::Jump;
use crate::opcode::opcode;
use azulejo_core::ir::index::Block;

/// The endings that several cold blocks may share.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Ending {
    /// With `rax` and `rdx` as they are.
    AsItIs,
    /// With this status; `rdx` stays as it is.
    WithStatus(u64),
    /// With this in `rdx`.
    Failed(u64),
    /// With a failure that is noted.
    Noted,
}

/// The limit on the number of different endings.
const MAX_ENDINGS: usize = 32;

/// The length of a jump with a distance of 32 bits.
const JUMP_LEN: u32 = 5;

/// In cold code, jumps to code with this ending, if there is any. If not, the code that follows is recorded as such.
pub(crate) fn ends_as_before(cx: &mut Emitter, ending: Ending) -> bool {
    let is_short = matches!(ending, Ending::AsItIs) && cx.frame.leave_len() <= JUMP_LEN;
    if !cx.is_cold || cx.is_stencil() || is_short {
        return false;
    }
    if let Some(&(_, block)) = cx.endings.iter().find(|(other, _)| *other == ending) {
        opcode!(jmp DWORD 0).write_plain(cx);
        distance(cx, block, Jump::Jump);
        return true;
    }
    if cx.endings.len() < MAX_ENDINGS {
        let block: Block = cx.add_block();
        cx.start(block);
        cx.endings.push((ending, block));
    }
    false
}
