//! Find the blocks that run before a function makes its frame.
//!
//! In: a tile list, whose blocks say whether their instructions use the frame. Out: the same list, whose blocks say whether the frame
//! is there. Holds afterwards: control never comes from a block with the frame into one without it, and a block with the frame that is
//! entered from one without it is entered only from such: it makes the frame. Keeps: everything else. Cost: a few visits to each
//! block.
//!
//! Many functions end at once in a simple case, and need a frame only in the others, or only where they are left:
//!
//! ```text
//!     entry: if n < 2: simple            without the frame
//!     simple: return n                   without the frame
//!     b2: make the frame; call …         with it
//!     cold: make the frame; exit         with it
//! ```
//!
//! What runs without the frame has neither spill slots nor the registers that callees save, so the allocator cuts values at its borders
//! ([`super::allocate`]). That pays for some instructions on the way to a return, and not for more, and not for loops: there a value
//! without a register costs more than the frame. Cold blocks have it always, since they share the code that they end with.

use crate::ir::tiles::TileList;

/// How many instructions may run without the frame.
const MAX_INSTS: u32 = 48;

/// How often all blocks are visited, at most. In blocks that follow their dominators, what one visit finds out hardly ever asks for
/// a third.
const MAX_VISITS: usize = 6;

/// Memory kept between functions.
#[derive(Debug, Default)]
pub struct Scratch {
    /// By position: whether control comes into the block from one with the frame.
    comes_from_framed: Vec<bool>,
}

/// Marks the blocks for which the frame is there; all of them unless some pay without it.
pub fn late_frame(scratch: &mut Scratch, tiles: &mut TileList) {
    if !find(scratch, tiles) || !pays(tiles) {
        tiles.blocks.iter_mut().for_each(|block| block.framed = true);
    }
}

/// Marks blocks until what holds afterwards does. Returns false if the entry needs the frame, or if that takes too long.
fn find(scratch: &mut Scratch, tiles: &mut TileList) -> bool {
    for block in &mut tiles.blocks {
        block.framed = block.uses_frame || block.cold || block.inner.is_some();
    }
    let Scratch { comes_from_framed } = scratch;
    comes_from_framed.clear();
    comes_from_framed.resize(tiles.blocks.len(), false);
    for _ in 0..MAX_VISITS {
        if tiles.blocks[0].framed {
            return false;
        }
        let mut has_changed = false;
        for at in 0..tiles.blocks.len() {
            let block = tiles.blocks[at];
            // Nothing drops the frame on an edge.
            if block.framed {
                for edge in block.edges.range() {
                    let to = tiles.position[tiles.edges[edge].to.at()] as usize;
                    comes_from_framed[to] = true;
                    has_changed |= !core::mem::replace(&mut tiles.blocks[to].framed, true);
                }
            }
        }
        for at in 0..tiles.blocks.len() {
            let block = tiles.blocks[at];
            // A block that others with the frame lead to cannot make it.
            let mut targets = tiles.edges(&block).iter().map(|edge| tiles.position[edge.to.at()] as usize);
            if !block.framed && targets.any(|to| comes_from_framed[to]) {
                tiles.blocks[at].framed = true;
                has_changed = true;
            }
        }
        if !has_changed {
            return true;
        }
    }
    false
}

/// Whether control leaves the function from a block without the frame, after few instructions.
fn pays(tiles: &TileList) -> bool {
    let unframed = || tiles.blocks.iter().filter(|block| !block.framed);
    unframed().any(|block| block.edges.len == 0)
        && unframed().map(|block| block.insts.len).sum::<u32>() <= MAX_INSTS
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::parse;

    /// The blocks without the frame, in a list of blocks with their successors: those whose name is followed by `!` use it.
    fn unframed(blocks: &str) -> Vec<String> {
        let mut text = String::new();
        for block in blocks.split(';') {
            let (name, edges) = block.split_once("->").unwrap_or((block, ""));
            let cold = if name.contains("cold") { " cold" } else { "" };
            let name = name.trim().trim_end_matches(" cold");
            text += &format!("{}{cold}:\n    t0.void.void\n", name.trim_end_matches('!'));
            edges.split_whitespace().for_each(|to| text += &format!("    -> {to}\n"));
        }
        let mut tiles = parse::tiles(&text, parse::KnownNames::NUMBERS).expect("it is well written");
        let needing = blocks.split(';').map(|block| block.contains('!'));
        core::iter::zip(&mut tiles.blocks, needing).for_each(|(block, needs)| block.uses_frame = needs);
        late_frame(&mut Scratch::default(), &mut tiles);
        let without = tiles.blocks.iter().filter(|block| !block.framed);
        without.map(|block| block.block.to_string()).collect()
    }

    #[test]
    fn what_ends_soon_does_without_the_frame() {
        assert_eq!(unframed("b0 -> b1 b2; b1; b2!"), ["b0", "b1"]);
        // A leaf that only its exit needs the frame for.
        assert_eq!(unframed("b0 -> b1 b2; b1; b2 cold!"), ["b0", "b1"]);
        // Cold code makes it for itself.
        assert_eq!(unframed("b0 -> b1 b2; b1; b2 cold -> b3; b3 cold!"), ["b0", "b1"]);
    }

    #[test]
    fn the_frame_is_made_once_on_each_way_and_stays() {
        // What comes behind a use has it, also where others come from without it: those make it, if they lead nowhere else.
        assert_eq!(unframed("b0 -> b1 b2; b1 -> b3 b4; b2! -> b5; b4 -> b5; b3; b5"), ["b0", "b1", "b3"]);
        // The entry would have to make it.
        assert_eq!(unframed("b0 -> b1 b2; b1! -> b2; b2"), [""; 0]);
        assert_eq!(unframed("b0! -> b1 b2; b1; b2"), [""; 0]);
    }

    #[test]
    fn only_few_instructions_on_the_way_to_an_end_do_without() {
        // All of it uses the frame in the end.
        assert_eq!(unframed("b0 -> b1 b2; b1! -> b3; b2! -> b3; b3"), [""; 0]);
        let long = |n: usize| {
            let chain = (2..n).map(|at| format!("; b{at} -> b{}", at + 1)).collect::<String>();
            format!("b0 -> b1 b2; b1!{chain}; b{n}")
        };
        assert_eq!(unframed(&long(MAX_INSTS as usize)).len(), MAX_INSTS as usize);
        assert_eq!(unframed(&long(MAX_INSTS as usize + 1)), [""; 0]);
    }
}
