//! The parts of the library that reach more than the program itself.

use super::LuaBuilder;
use crate::run::vm::Vm;

/// A part of the library by which Lua code reaches more than the program itself. [`Lua::new`](super::Lua::new) has none of them.
///
/// ```
/// use azulejo_lua::api::{Library, Lua, LuaError};
///
/// // Scripts know what time it is, and read no files.
/// let lua = Lua::builder().library(Library::Os).build();
/// assert!(lua.load("return os.time()").eval::<f64>()? > 0.0);
/// assert!(lua.load("return io == nil and dofile == nil and require == nil").eval::<bool>()?);
/// # Ok::<(), LuaError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Library {
    /// `io`, `dofile` and `loadfile`: files.
    Io,
    /// `os`: time, the environment, other programs, and the names of files.
    Os,
    /// `package`, `require` and `module`: modules, which are files.
    Package,
    /// `debug`: what runs, with all variables, and hooks.
    Debug,
}

impl Library {
    /// All, in the order in which they are opened: `package` knows those that were opened before it.
    pub(super) const ALL: [Library; 4] = [Library::Io, Library::Os, Library::Debug, Library::Package];

    /// Adds it to a program.
    pub(super) fn open(self, vm: &mut Vm) {
        match self {
            Library::Io => vm.open_files(),
            Library::Os => vm.open_os(),
            Library::Package => vm.open_package(),
            Library::Debug => vm.open_debug(),
        }
    }
}

impl LuaBuilder {
    /// Gives the program this part of the library, too.
    pub fn library(mut self, library: Library) -> LuaBuilder {
        if !self.libraries.contains(&library) {
            self.libraries.push(library);
        }
        self
    }

    /// Whether the program gets the whole library, by which its code can do what this process can.
    pub fn all_libraries(mut self, has_all: bool) -> LuaBuilder {
        self.libraries = if has_all { Library::ALL.to_vec() } else { Vec::new() };
        self
    }
}
