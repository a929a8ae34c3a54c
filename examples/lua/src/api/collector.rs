//! The collector of garbage, and the memory that a program may have.

use super::{Lua, LuaResult};
use crate::object::heap::CollectorStatistics;

impl Lua {
    /// How many bytes the heap has.
    pub fn used_memory(&self) -> usize {
        self.with(|vm, _| vm.heap.bytes())
    }

    /// Sets how many bytes the heap may have that are alive, from now on; zero stands for any number. Returns what it was.
    ///
    /// A program that needs more gets an error, which it may catch: `not enough memory`. It gets it when the collector has found that
    /// so much is alive, so the heap may have had up to about twice as many bytes for a moment. The stacks of
    /// coroutines, the code of functions, the memory in which a text is read, and what values of Rust have do not count: who runs programs of people
    /// that nobody knows lets the system limit the process, too.
    ///
    /// ```
    /// use azulejo_lua::api::Lua;
    ///
    /// let lua = Lua::new();
    /// lua.set_memory_limit(4 << 20);
    /// let wrong = lua.load("local t = {}; while true do t[#t + 1] = {} end").exec().unwrap_err();
    /// assert_eq!(wrong.to_string(), "not enough memory");
    /// lua.load("t = {}; for i = 1, 100 do t[i] = {} end").exec()?;
    /// # Ok::<(), azulejo_lua::api::LuaError>(())
    /// ```
    pub fn set_memory_limit(&self, bytes: usize) -> usize {
        let limit = if bytes == 0 { usize::MAX } else { bytes };
        let before = self.with(|vm, _| vm.heap.set_limit(limit));
        if before == usize::MAX { 0 } else { before }
    }

    /// What the collector has done so far.
    ///
    /// ```
    /// use azulejo_lua::api::Lua;
    ///
    /// let lua = Lua::new();
    /// lua.gc_collect()?;
    /// assert_eq!(lua.collector_statistics().collections, 1);
    /// assert_eq!(lua.collector_statistics().bytes, lua.used_memory());
    /// # Ok::<(), azulejo_lua::api::LuaError>(())
    /// ```
    pub fn collector_statistics(&self) -> CollectorStatistics {
        self.with(|vm, _| vm.heap.statistics())
    }

    /// Frees all that nothing refers to, and runs the finalizers of that.
    pub fn gc_collect(&self) -> LuaResult<()> {
        self.attempt(|vm, frames| vm.collect_all(frames))
    }

    /// Lets the collector work as if so many KiB had been allocated, and runs the finalizers of what it has found. Returns whether a cycle
    /// has ended. A program with a moment to spare, say between two pictures, does this then.
    ///
    /// ```
    /// use azulejo_lua::api::Lua;
    ///
    /// let lua = Lua::new();
    /// lua.gc_stop();
    /// lua.load("for i = 1, 10000 do local garbage = {} end").exec()?;
    /// let before = lua.used_memory();
    /// while !lua.gc_step(100)? {}
    /// while !lua.gc_step(100)? {}
    /// assert!(lua.used_memory() < before / 2);
    /// # Ok::<(), azulejo_lua::api::LuaError>(())
    /// ```
    pub fn gc_step(&self, kib: u32) -> LuaResult<bool> {
        self.attempt(|vm, frames| vm.collect_some(frames, kib as usize))
    }

    /// Stops the collector until [`gc_restart`](Self::gc_restart), or until a collection or a step is asked for, as in C's Lua.
    ///
    /// ```
    /// use azulejo_lua::api::Lua;
    ///
    /// let lua = Lua::new();
    /// lua.gc_stop();
    /// assert!(!lua.gc_is_running());
    /// lua.load("for i = 1, 100000 do local garbage = {} end").exec()?;
    /// assert_eq!(lua.collector_statistics().collections, 0);
    /// lua.gc_restart();
    /// lua.load("for i = 1, 100000 do local garbage = {} end").exec()?;
    /// assert!(lua.gc_is_running() && lua.collector_statistics().collections > 0);
    /// # Ok::<(), azulejo_lua::api::LuaError>(())
    /// ```
    pub fn gc_stop(&self) {
        self.with(|vm, _| vm.heap.stop());
    }

    /// Lets the collector work again.
    pub fn gc_restart(&self) {
        self.with(|vm, _| vm.heap.restart());
    }

    /// Whether the collector works whenever it has to: nobody has stopped it.
    pub fn gc_is_running(&self) -> bool {
        self.with(|vm, _| !vm.heap.is_stopped())
    }
}
