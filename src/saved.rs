//! Machine code of opcodes, from one process of a program to the next.
//!
//! Baseline code is copied from *stencils*, and the interpreter in machine code jumps from one opcode's code to the next. Both are made from
//! templates when a process first needs them, some 20 to 100 microseconds for each opcode. A program that runs for seconds does not notice
//! that; one that runs for some milliseconds may spend a third of them so. It can [load] what an earlier process has made, and
//! [save] what it has made itself.
//!
//! ```no_run
//! use azulejo::prelude::*;
//! use azulejo::saved;
//! # #[derive(Bytecode, Clone, Copy, Debug)]
//! # enum Op {
//! #     AddConst { dst: Out<i64>, a: In<i64>, b: Imm<i64> },
//! #     Return { a: In<i64> },
//! # }
//! # template! {
//! #     Op::AddConst => (add $a $b)
//! #     Op::Return   => (return $a)
//! # }
//! # fn run(_: &Engine<Op>) {}
//!
//! # fn main() -> std::io::Result<()> {
//! let path = std::path::Path::new("/home/me/.cache/my-machine/stencils");
//! // SAFETY: nobody but this program writes that file.
//! unsafe { saved::load(path) }?;
//! let engine = Engine::<Op>::new();
//! run(&engine);
//! saved::save(path)?;
//! # Ok(())
//! # }
//! ```
//!
//! A file is of one executable: one that was built anew finds nothing in it, and overwrites it. It is read lazily, so what it has beyond what
//! a process needs costs nothing.

use std::io;
use std::path::Path;

#[cfg(all(target_arch = "x86_64", any(unix, windows)))]
use azulejo_code::saved as file;

/// Where nothing is compiled, nothing is saved.
#[cfg(not(all(target_arch = "x86_64", any(unix, windows))))]
mod file {
    use std::io;
    use std::path::Path;

    pub(super) unsafe fn load(_: &Path) -> io::Result<usize> {
        Ok(0)
    }

    pub(super) fn save(_: &Path) -> io::Result<usize> {
        Ok(0)
    }

    pub(super) fn has_any() -> bool {
        false
    }
}

/// Loads what an earlier process of this program has [saved](save) in a file, and keeps what this one makes from now on, to be saved. Returns
/// how many pieces of code there are: none if there is no such file, or if it is that of another executable.
///
/// This is to be called before the first engine is made. What a process has loaded first stays. On systems other than Linux, and in a shared
/// library, it does nothing.
///
/// # Safety
///
/// What is in the file is run as machine code. Nobody but [`save`] may have written it. A file that others than the user own, or may write to, is
/// not read, and one that is damaged by accident is noticed.
///
/// ```
/// # fn main() -> std::io::Result<()> {
/// let path = std::env::temp_dir().join(format!("azulejo-{}", std::process::id()));
/// // SAFETY: nobody has written such a file.
/// assert_eq!(unsafe { azulejo::saved::load(&path) }?, 0);
/// # Ok(())
/// # }
/// ```
pub unsafe fn load(path: &Path) -> io::Result<usize> {
    // SAFETY: as the caller promises.
    unsafe { file::load(path) }
}

/// Saves what this process has made, with what it has loaded, in a file; returns how many pieces of code that are. If it has loaded all that it
/// needed, it writes nothing, and returns 0. Several processes may save in one file: it has what the last of them has made or loaded.
///
/// ```
/// // A process that has not called `load` saves nothing.
/// assert_eq!(azulejo::saved::save(std::path::Path::new("/no/such/place"))?, 0);
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn save(path: &Path) -> io::Result<usize> {
    file::save(path)
}

/// Whether an earlier process has saved anything for this one.
pub(crate) fn has_any() -> bool {
    file::has_any()
}
