//! How cold code ends: ways out that do the same in the end share the code that does it.
//!
//! In: a block that is about to leave the function, in an emitter. Out: a jump to where code ends like that, or nothing, and
//! what is emitted then is where others go that end alike. Hot code and stencils share nothing: there a jump would cost, or
//! is what leaving is already.

use crate::emit::{Emitter, distance};
use crate::encode::opcode::opcode;
use crate::jump::Jump;
use azulejo_core::ir::index::Block;

/// How cold code ends in several places.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Ending {
    /// With what is in `rax` and `rdx`.
    AsItIs,
    /// With this status and what is in `rdx`.
    WithStatus(u64),
    /// With this in `rdx`.
    Failed(u64),
    /// With a failure that is noted.
    Noted,
}

/// How many different endings are remembered.
const MAX_ENDINGS: usize = 32;

/// How many bytes a jump has that goes far.
const JUMP_LEN: u32 = 5;

/// In cold code: goes where code ends like this, if there is any. If not, what follows is such code.
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
