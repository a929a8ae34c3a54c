//! What stops a program that runs too long: another thread, or the end of its fuel.
//!
//! Such an end is no error of Lua's: no `pcall`, coroutine or handler in the program catches it. It comes to the code of Rust that has called
//! the program, and the program can be used again.

use super::{Lua, LuaBuilder};
use crate::run::vm::Vm;
use azulejo::Frames;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};

/// Stops a program from any thread. Made by [`Lua::interrupter`].
///
/// ```
/// fn is_for_any_thread<T: Send + Sync + Clone>() {}
/// is_for_any_thread::<azulejo_lua::api::Interrupter>();
/// ```
#[derive(Clone, Debug)]
pub struct Interrupter {
    engine: azulejo::Interrupter,
    /// What searches look at, which are no code of the engine's.
    stop: Arc<AtomicBool>,
}

impl Interrupter {
    /// Ends what runs with [`LuaError::Interrupted`](super::LuaError::Interrupted), or if nothing runs, the next call. It takes
    /// microseconds. But functions of the library and of Rust are not interrupted while they run, unless they search for a pattern: the
    /// program ends when they return.
    pub fn interrupt(&self) {
        self.engine.interrupt();
        self.stop.store(true, SeqCst);
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
        self.stop.store(false, SeqCst);
        self.engine.withdraw();
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
        self.with(|vm, _| {
            let (engine, stop) = (vm.engine.interrupter(), vm.library.stop.get_or_insert_default().clone());
            vm.library.matcher.stop_if(stop.clone());
            Interrupter { engine, stop }
        })
    }

    /// A call from outside was interrupted, and has ended. The request is done, whoever has noticed it.
    pub(super) fn has_stopped(&self) {
        let is_outermost =
            |vm: &mut Vm, frames: &Frames<'_>| vm.library.stop.is_some() && frames.iter().next().is_none();
        if self.with(is_outermost) {
            self.interrupter().withdraw();
        }
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
    /// Compiled code becomes slower by about a sixth. Searching for a pattern takes one unit for
    /// 64 steps back; what other functions of the library do takes none.
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
