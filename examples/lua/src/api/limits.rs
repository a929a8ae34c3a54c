//! What stops a program that runs too long: another thread, or the end of its fuel.
//!
//! Such an end is no error of Lua's: no `pcall`, coroutine or handler in the program catches it. It comes to the code of Rust that has called
//! the program, and the program can be used again.

use super::{Lua, LuaBuilder};

/// Stops a program from any thread. Made by [`Lua::interrupter`].
///
/// ```
/// fn is_for_any_thread<T: Send + Sync + Clone>() {}
/// is_for_any_thread::<azulejo_lua::api::Interrupter>();
/// ```
#[derive(Clone, Debug)]
pub struct Interrupter(azulejo::Interrupter);

impl Interrupter {
    /// Ends what runs with [`LuaError::Interrupted`](super::LuaError::Interrupted), or if nothing runs, the next call. It takes
    /// microseconds. But functions of the library and of Rust are not interrupted while they run: the program ends when they return.
    pub fn interrupt(&self) {
        self.0.interrupt();
    }

    /// Takes that back, if nothing was interrupted yet.
    ///
    /// ```
    /// use azulejo_lua::api::{Lua, LuaError};
    ///
    /// let lua = Lua::new();
    /// let interrupter = lua.interrupter();
    /// interrupter.interrupt();
    /// interrupter.withdraw();
    /// assert_eq!(lua.load("return 1").eval::<i64>()?, 1);
    /// # Ok::<(), LuaError>(())
    /// ```
    pub fn withdraw(&self) {
        self.0.withdraw();
    }
}

impl Lua {
    /// A handle by which other threads stop the program. It makes loops a little slower from then on: each iteration looks whether
    /// it is to stop. Machine code that is there is made again.
    ///
    /// ```
    /// use azulejo_lua::api::{Lua, LuaError};
    /// use std::time::Duration;
    ///
    /// let lua = Lua::new();
    /// let interrupter = lua.interrupter();
    /// std::thread::spawn(move || {
    ///     std::thread::sleep(Duration::from_millis(10));
    ///     interrupter.interrupt();
    /// });
    /// let ended = lua.load("pcall(function() while true do end end)").exec();
    /// assert!(matches!(ended, Err(LuaError::Interrupted)));
    /// assert_eq!(lua.load("return 1").eval::<i64>()?, 1);
    /// # Ok::<(), LuaError>(())
    /// ```
    pub fn interrupter(&self) -> Interrupter {
        Interrupter(self.with(|vm, _| vm.engine.interrupter()))
    }

    /// How much fuel is left; `None` if the program was made without [`LuaBuilder::fuel`].
    ///
    /// ```
    /// use azulejo_lua::api::{Lua, LuaError};
    ///
    /// let lua = Lua::builder().fuel(1000).build();
    /// lua.load("for i = 1, 500 do end").exec()?;
    /// assert!(lua.fuel().is_some_and(|left| left < 510));
    /// # Ok::<(), LuaError>(())
    /// ```
    pub fn fuel(&self) -> Option<u64> {
        self.with(|vm, _| vm.engine.fuel())
    }

    /// Sets how much fuel is left. Functions of Rust may do this while the program runs: about 64 units that an interpreter has taken are
    /// not counted then. Does nothing if the program was made without [`LuaBuilder::fuel`].
    ///
    /// ```
    /// use azulejo_lua::api::{Lua, LuaError};
    ///
    /// let lua = Lua::builder().fuel(0).build();
    /// assert!(matches!(lua.load("return 1").eval::<i64>(), Err(LuaError::OutOfFuel)));
    /// lua.set_fuel(10);
    /// assert_eq!(lua.load("return 1").eval::<i64>()?, 1);
    /// # Ok::<(), LuaError>(())
    /// ```
    pub fn set_fuel(&self, fuel: u64) {
        self.with(|vm, _| vm.engine.set_fuel(fuel));
    }
}

impl LuaBuilder {
    /// Limits how much the program may run. Each call of a function of Lua and each iteration of a loop takes one unit. Without fuel the
    /// program ends with [`LuaError::OutOfFuel`](super::LuaError::OutOfFuel), and so does each further call until there is more.
    /// Compiled code becomes slower by about a sixth. What functions of the library do takes no fuel.
    ///
    /// ```
    /// use azulejo_lua::api::{Lua, LuaError};
    ///
    /// let lua = Lua::builder().fuel(1_000_000).build();
    /// let ended = lua.load("while true do pcall(error) end").exec();
    /// assert!(matches!(ended, Err(LuaError::OutOfFuel)));
    /// ```
    pub fn fuel(mut self, fuel: u64) -> LuaBuilder {
        self.settings.fuel = Some(fuel);
        self
    }
}
