//! Follows a chapter of the book as a reader does: makes the files it shows, runs the commands it names, and compares
//! what they print with what the chapter says they print.
//!
//! Each block of a chapter stands behind a comment that says what it is; readers do not see it. A block without one is a
//! fault, so nothing in the book is only claimed.
//!
//! | comment | the block is |
//! | --- | --- |
//! | `<!-- file: PATH -->` | a file, whole |
//! | `<!-- change: PATH -->` | some lines of the file: what was there from its first line to its last line goes; `// …` stands for what stays |
//! | `<!-- add: PATH -->` | lines behind the end of the file |
//! | `<!-- wrong: PATH -->` | a change that is undone after the next run |
//! | `<!-- run: FOLDER -->` | commands (`$ …`) that succeed, each with what it prints |
//! | `<!-- run: FOLDER with TOOL -->` | the same, where there is that tool |
//! | `<!-- fails: FOLDER -->` | commands that fail, each with what it prints, errors too |
//! | `<!-- output -->` | a part of what the last command printed |
//! | `<!-- from: PATH -->` | parts of a file of this repository, between lines of `…` |
//! | `<!-- command -->` | commands for azulejo's own folder: an example, or `cargo xtask` |
//! | `<!-- drawing -->` | neither code nor output |
//!
//! In output a line of `…` stands for any lines, and `…` within a line for anything.

pub mod edit;
#[cfg(unix)]
pub mod follow;
pub mod matching;
pub mod parse;
