//! Follows a chapter of the book as a reader does: makes the files it shows, runs the commands it names, and compares the
//! output with the output it shows.
//!
//! Each block of a chapter follows a comment that classifies it; readers do not see the comment. A block without one is an
//! error, so every block in the book is tested.
//!
//! | comment | the block is |
//! | --- | --- |
//! | `<!-- file: PATH -->` | a file, whole |
//! | `<!-- change: PATH -->` | a replacement for the lines from its first to its last one; `// …` stands for unchanged lines |
//! | `<!-- add: PATH -->` | lines that are appended to the file |
//! | `<!-- wrong: PATH -->` | a change that is undone after the next run |
//! | `<!-- run: FOLDER -->` | commands (`$ …`) that succeed, each with its output |
//! | `<!-- run: FOLDER with TOOL -->` | commands that succeed, which run only where the tool is installed |
//! | `<!-- fails: FOLDER -->` | commands that fail, each with its output and errors |
//! | `<!-- output -->` | a part of the last command's output |
//! | `<!-- from: PATH -->` | parts of a file of this repository, between lines of `…` |
//! | `<!-- command -->` | commands for azulejo's own folder: an example, a package, or `cargo xtask` |
//! | `<!-- drawing -->` | neither code nor output |
//!
//! In output a line of `…` stands for any lines, and `…` within a line for anything.

pub mod edit;
#[cfg(unix)]
pub mod follow;
pub mod matching;
pub mod parse;
