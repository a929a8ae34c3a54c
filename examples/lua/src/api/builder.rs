//! How a program is made.

use super::{Library, Lua, Tiers};
use crate::run::settings::Settings;

/// Makes a program that is not as [`Lua::new`] makes it. Made by [`Lua::builder`].
///
/// ```
/// use azulejo_lua::api::{Lua, LuaError};
///
/// let lua = Lua::builder().all_libraries(true).fuel(1_000_000).build();
/// assert!(lua.load("return os.time()").eval::<f64>()? > 0.0);
/// # Ok::<(), LuaError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct LuaBuilder {
    pub(super) settings: Settings,
    /// What there is beside what reaches nothing but the program.
    pub(super) libraries: Vec<Library>,
}

impl Lua {
    /// Says how a program is to be made.
    pub fn builder() -> LuaBuilder {
        LuaBuilder::default()
    }
}

impl LuaBuilder {
    /// Sets where functions run. By default the hottest ones are compiled best.
    ///
    /// ```
    /// use azulejo_lua::api::{Lua, LuaError, Tiers};
    ///
    /// let lua = Lua::builder().tiers(Tiers::Interpreter).build();
    /// assert_eq!(lua.load("return 6 * 7").eval::<i64>()?, 42);
    /// # Ok::<(), LuaError>(())
    /// ```
    pub fn tiers(mut self, tiers: Tiers) -> LuaBuilder {
        self.settings.tiers = tiers;
        self
    }

    /// Sets whether the optimizer works on a thread of its own, while the program goes on. By default it works in between, and the
    /// program has no thread but those that call it. It starts when the first function is hot, and ends with the program.
    ///
    /// ```
    /// use azulejo_lua::api::{Lua, LuaError};
    ///
    /// let lua = Lua::builder().background(true).build();
    /// let sum: i64 = lua.load("local sum = 0 for i = 1, 100000 do sum = sum + i end return sum").eval()?;
    /// assert_eq!(sum, 5_000_050_000);
    /// # Ok::<(), LuaError>(())
    /// ```
    pub fn background(mut self, background: bool) -> LuaBuilder {
        self.settings.background = background;
        self
    }

    /// Makes the program.
    pub fn build(self) -> Lua {
        Lua::with_settings(&self.settings, |vm| {
            vm.open_safe();
            let has = |library: &&Library| self.libraries.contains(library);
            Library::ALL.iter().filter(has).for_each(|library| library.open(vm));
        })
    }
}
