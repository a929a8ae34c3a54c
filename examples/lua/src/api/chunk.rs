//! Chunks of source text.

use super::{FromLuaMulti, IntoLuaMulti, Lua, LuaError, LuaFunction, LuaResult, LuaTable};
use crate::object::value::{FUNCTION, Value};
use crate::syntax::SyntaxErrorKind;

/// Source text that is to run. Made by [`Lua::load`].
///
/// ```
/// use azulejo_lua::api::{Lua, LuaError};
///
/// let lua = Lua::new();
/// lua.load("function double(x) return 2 * x end").set_name("double.lua").exec()?;
/// assert_eq!(lua.load("return double(21), 'text'").eval::<(i64, String)>()?, (42, "text".into()));
/// let wrong = lua.load("return double(").set_name("wrong.lua").exec().unwrap_err();
/// assert_eq!(wrong.to_string(), "wrong.lua:1: unexpected symbol near '<eof>'");
/// # Ok::<(), LuaError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Chunk {
    lua: Lua,
    source: Vec<u8>,
    name: Vec<u8>,
    environment: Option<LuaTable>,
}

impl Lua {
    /// Takes source text, to run it.
    pub fn load(&self, source: impl AsRef<[u8]>) -> Chunk {
        let source = source.as_ref().to_vec();
        Chunk { lua: self.clone(), name: source.clone(), source, environment: None }
    }
}

impl Chunk {
    /// Sets what error messages call it, in place of its first line.
    pub fn set_name(mut self, name: &str) -> Chunk {
        self.name = [b"=", name.as_bytes()].concat();
        self
    }

    /// Sets the table that has its global variables, in place of the program's.
    ///
    /// ```
    /// use azulejo_lua::api::{Lua, LuaError};
    ///
    /// let lua = Lua::new();
    /// let config = lua.create_table();
    /// config.set("cores", 8)?;
    /// lua.load("threads = cores * 2; name = 'main'").set_environment(&config).exec()?;
    /// assert_eq!(config.get::<i64>("threads")?, 16);
    /// assert_eq!(lua.globals().get::<Option<String>>("name")?, None);
    /// // Nothing else is there, unless the table says where to look.
    /// assert!(lua.load("print(1)").set_environment(&config).exec().is_err());
    /// # Ok::<(), LuaError>(())
    /// ```
    pub fn set_environment(mut self, environment: &LuaTable) -> Chunk {
        self.environment = Some(environment.clone());
        self
    }

    /// The function that runs it.
    pub fn into_function(self) -> LuaResult<LuaFunction> {
        let Chunk { lua, source, name, environment } = &self;
        match lua.with(|vm, _| vm.load(source, name)) {
            Ok(closure) => {
                let function = LuaFunction(lua.keep(Value::object(FUNCTION, closure)));
                environment.iter().try_for_each(|environment| function.set_environment(environment))?;
                Ok(function)
            }
            Err(error) => {
                let message = String::from_utf8_lossy(&error.text(name)).into_owned();
                Err(match error.kind {
                    SyntaxErrorKind::Stopped => {
                        lua.has_stopped();
                        LuaError::Interrupted
                    }
                    SyntaxErrorKind::TooLarge => LuaError::Runtime(message.into()),
                    kind => LuaError::Syntax { message, is_incomplete: kind == SyntaxErrorKind::Incomplete },
                })
            }
        }
    }

    /// Runs it.
    pub fn exec(self) -> LuaResult<()> {
        self.call(())
    }

    /// Runs it; returns what it returns. A chunk that is only an expression gives its value.
    pub fn eval<R: FromLuaMulti>(self) -> LuaResult<R> {
        let expression = Chunk { source: [b"return ", &self.source[..]].concat(), ..self.clone() };
        match expression.into_function() {
            Ok(function) => function.call(()),
            Err(LuaError::Syntax { .. }) => self.call(()),
            Err(error) => Err(error),
        }
    }

    /// Runs it with these values as `...`; returns what it returns.
    pub fn call<A: IntoLuaMulti, R: FromLuaMulti>(self, arguments: A) -> LuaResult<R> {
        self.into_function()?.call(arguments)
    }
}
