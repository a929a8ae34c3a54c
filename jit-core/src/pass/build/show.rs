//! Frames that are shown to calls which observe: see [`crate::ir::frames`].
//!
//! In: a call that observes. Out: stores in front of it that put the frame into the list, and behind it one that takes it out. In an inlined
//! function the frames of its callers are put there with it, if their calls observe.

use super::cursor::Cursor;
use super::link::{Linker, Operands};
use crate::ir::frames::ShownFrame;
use crate::ir::graph::Effect;
use crate::ir::index::Node;
use crate::vocab::Type;

/// How a function shows its frame, as values of the code.
#[derive(Clone, Copy, Debug)]
pub(super) struct ShowNodes {
    /// The address of the word that leads to the newest of the frames that are shown.
    pub(super) newest: Node,
    /// The address of the [`ShownFrame`].
    pub(super) shown: Node,
    pub(super) layout: Node,
    /// The number of the bytecode, in 64 bits.
    pub(super) bytecode: Node,
    /// The frames of callers that are shown with it, if it is an inlined function's.
    pub(super) around: Option<ShownFrames>,
}

/// The frames that were put into the list for a call: the address of the [`ShownFrame`] of the outermost, and of the innermost.
#[derive(Clone, Copy, Debug)]
pub(super) struct ShownFrames {
    outermost: Node,
    innermost: Node,
}

/// The list of frames as it is in front of a call: where the word is that leads to it, and what is there.
#[derive(Clone, Copy, Debug)]
pub(super) struct KeptList {
    newest: Node,
    frame: Node,
}

impl<O: Operands> Linker<'_, O> {
    /// Shows the frame to the call that follows.
    pub(super) fn show(&mut self, call: u32) {
        let Linker { cursor, operands, scratch, .. } = self;
        scratch.shown = operands.show(cursor).map(|frame| {
            let list = ShownFrames::add(frame.around, cursor, &frame, call);
            cursor.store(frame.newest, frame.shown);
            (frame.newest, list)
        });
    }

    /// Called behind a call: hides the frame again.
    pub(super) fn after_call(&mut self, effect: Effect) {
        let Linker { cursor, operands, scratch, .. } = self;
        operands.after_call(cursor, effect);
        if let Some((newest, list)) = scratch.shown.take() {
            let [newest, outermost] = operands.shown_behind_call(cursor, [newest, list.outermost]);
            let before = cursor.load(Type::I64, outermost);
            cursor.store(newest, before);
        }
    }

    /// The list, if there is one: the function shows no frame to the call that follows, but goes on if that fails. A call that fails leaves
    /// frames in the list.
    pub(super) fn keep_list(&mut self) -> Option<KeptList> {
        self.functions.show?;
        let newest = self.operands.newest(&mut self.cursor);
        Some(KeptList { newest, frame: self.cursor.load(Type::I64, newest) })
    }

    /// Behind the call the list is what it was.
    pub(super) fn restore_list(&mut self, KeptList { newest, frame }: KeptList) {
        self.cursor.store(newest, frame);
    }
}

impl ShownFrames {
    /// Fills in what a frame shows of itself, in front of those of its callers.
    pub(super) fn add(around: Option<Self>, cursor: &mut Cursor<'_>, frame: &ShowNodes, call: u32) -> Self {
        let before = match around {
            Some(around) => around.innermost,
            None => cursor.load(Type::I64, frame.newest),
        };
        let ShowNodes { shown, layout, bytecode, .. } = *frame;
        store(cursor, shown, ShownFrame::BEFORE, before);
        store(cursor, shown, ShownFrame::LAYOUT, layout);
        // Most templates have one such call: then this writes both numbers.
        store(cursor, shown, ShownFrame::BYTECODE, bytecode);
        if call > 0 {
            let call = cursor.constant(Type::I32, call as u64);
            store(cursor, shown, ShownFrame::CALL, call);
        }
        let outermost = around.map_or(shown, |around| around.outermost);
        ShownFrames { outermost, innermost: shown }
    }
}

fn store(cursor: &mut Cursor<'_>, shown: Node, offset: u64, value: Node) {
    let address = cursor.address(shown, offset);
    cursor.store(address, value);
}
