//! Compiling before anything runs.

use super::Lua;
use azulejo::{FunctionId, Tier};
use std::ops::ControlFlow;

/// What [`Lua::compile_all`] has compiled.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct Compiled {
    /// How many functions.
    pub functions: u64,
    /// How many bytecodes they have.
    pub bytecodes: u64,
    /// How many bytes of machine code that is, with the constants in it.
    pub bytes: u64,
}

impl Lua {
    /// Gives all functions that have been loaded, and have no machine code yet, that of the baseline compiler. So they are quick from their
    /// first call on, as otherwise they are a while later. The optimizer compiles what turns out to be hot as ever.
    ///
    /// ```
    /// use azulejo_lua::api::{Lua, LuaError, LuaFunction};
    ///
    /// let lua = Lua::new();
    /// let answer: LuaFunction = lua.load("function(n) for i = 1, 2 do n = n + 1 end return n end").eval()?;
    /// let compiled = lua.compile_all();
    /// # if azulejo::can_compile().is_ok() {
    /// // The chunk is a function, too.
    /// assert!(compiled.functions >= 2);
    /// assert!(compiled.bytecodes > 4 && compiled.bytes > compiled.bytecodes);
    /// assert_eq!(lua.compile_all().functions, 0);
    /// # }
    /// assert_eq!(answer.call::<_, i64>(40)?, 42);
    /// # Ok::<(), LuaError>(())
    /// ```
    pub fn compile_all(&self) -> Compiled {
        self.with(|vm, _| {
            let functions: Vec<FunctionId> = vm.functions().collect();
            let before = vm.engine.stats().baseline;
            vm.engine.compile_all(&functions, Tier::Baseline, |_| ControlFlow::Continue(()));
            let after = vm.engine.stats().baseline;
            Compiled {
                functions: after.compiled - before.compiled,
                bytecodes: after.bytecodes - before.bytecodes,
                bytes: after.bytes - before.bytes,
            }
        })
    }
}
