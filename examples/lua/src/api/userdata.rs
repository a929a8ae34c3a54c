//! Values of Rust in Lua.

use super::function::Fault;
use super::handle::{Handle, Lua};
use super::{FromLuaMulti, IntoLua, IntoLuaMulti, LuaError, LuaResult, LuaTable, LuaValue};
use crate::object::value::{USERDATA, Value};
use crate::run::error::Thrown;
use crate::run::vm::Vm;
use azulejo::Frames;
use std::any::TypeId;
use std::cell::{Ref, RefCell, RefMut};

/// A type of Rust whose values Lua code may have.
///
/// ```
/// use azulejo_lua::api::{Lua, LuaError, Methods, UserData};
///
/// struct Counter(i64);
///
/// impl UserData for Counter {
///     fn methods(methods: &mut Methods<'_, Counter>) {
///         methods.add_method("get", |_, counter, ()| Ok(counter.0));
///         methods.add_method_mut("add", |_, counter, by: i64| {
///             counter.0 += by;
///             Ok(())
///         });
///         methods.add_meta_method("__len", |_, counter, ()| Ok(counter.0));
///     }
/// }
///
/// let lua = Lua::new();
/// lua.globals().set("counter", lua.create_userdata(Counter(40)))?;
/// assert_eq!(lua.load("counter:add(2); return counter:get()").eval::<i64>()?, 42);
/// assert_eq!(lua.load("#counter").eval::<i64>()?, 42);
/// let error = lua.load("counter.get(7)").exec().unwrap_err();
/// assert!(error.to_string().contains("userdata expected, got number"));
/// # Ok::<(), LuaError>(())
/// ```
pub trait UserData: Sized + 'static {
    /// Says which methods the type has.
    fn methods(methods: &mut Methods<'_, Self>) {
        let _ = methods;
    }
}

/// Takes the methods of a type.
#[derive(Debug)]
pub struct Methods<'a, T> {
    lua: &'a Lua,
    index: LuaTable,
    meta: LuaTable,
    /// What finds fields that are no methods.
    otherwise: Option<super::LuaFunction>,
    result: LuaResult<()>,
    of: std::marker::PhantomData<T>,
}

/// The receiver of a method, and the other arguments.
fn receiver<A: FromLuaMulti>(lua: &Lua, arguments: Vec<LuaValue>) -> LuaResult<(AnyUserData, A)> {
    let mut arguments = arguments.into_iter();
    let receiver = match arguments.next().unwrap_or(LuaValue::Nil) {
        LuaValue::UserData(userdata) => userdata,
        other => return Err(LuaError::conversion(other.type_name(), "userdata").behind(0)),
    };
    let arguments = A::from_lua_multi(arguments.collect(), lua).map_err(|error| error.behind(1))?;
    Ok((receiver, arguments))
}

impl<T: UserData> Methods<'_, T> {
    fn add(&mut self, is_meta: bool, name: &str, function: super::LuaFunction) {
        if is_meta && name == "__index" {
            self.otherwise = Some(function);
            return;
        }
        let table = if is_meta { &self.meta } else { &self.index };
        if let Err(error) = table.raw_set(name, function) {
            self.result = Err(error);
        }
    }

    fn of<A: FromLuaMulti, R: IntoLuaMulti>(
        &self,
        method: impl Fn(&Lua, &T, A) -> LuaResult<R> + 'static,
    ) -> super::LuaFunction {
        self.lua.create_any(move |lua, arguments| {
            let (userdata, arguments) = receiver::<A>(lua, arguments).map_err(Fault::Arguments)?;
            let call = || method(lua, &*userdata.borrow::<T>()?, arguments)?.into_lua_multi(lua);
            call().map_err(Fault::Said)
        })
    }

    /// Adds a method.
    pub fn add_method<A: FromLuaMulti, R: IntoLuaMulti>(
        &mut self,
        name: &str,
        method: impl Fn(&Lua, &T, A) -> LuaResult<R> + 'static,
    ) {
        let function = self.of(method);
        self.add(false, name, function);
    }

    /// Adds a method that changes the value.
    pub fn add_method_mut<A: FromLuaMulti, R: IntoLuaMulti>(
        &mut self,
        name: &str,
        method: impl Fn(&Lua, &mut T, A) -> LuaResult<R> + 'static,
    ) {
        let function = self.lua.create_any(move |lua, arguments| {
            let (userdata, arguments) = receiver::<A>(lua, arguments).map_err(Fault::Arguments)?;
            let call = || method(lua, &mut *userdata.borrow_mut::<T>()?, arguments)?.into_lua_multi(lua);
            call().map_err(Fault::Said)
        });
        self.add(false, name, function);
    }

    /// Adds a metamethod, such as `__add` or `__tostring`. What `__index` is, is asked for what is no method. Lua code does not get at the
    /// metatable, unless a field `__metatable` says what it gets.
    ///
    /// The value is the first operand. Where it may be the second one, as in `1 - value`, [`add_meta_function`](Self::add_meta_function) gets both.
    pub fn add_meta_method<A: FromLuaMulti, R: IntoLuaMulti>(
        &mut self,
        name: &str,
        method: impl Fn(&Lua, &T, A) -> LuaResult<R> + 'static,
    ) {
        let function = self.of(method);
        self.add(true, name, function);
    }

    /// Adds a metamethod that gets both operands as they stand: a value of the type may be on either side of an operator, or on both.
    ///
    /// ```
    /// use azulejo_lua::api::{Lua, LuaError, LuaResult, LuaValue, Methods, UserData};
    ///
    /// struct Meters(f64);
    ///
    /// /// How many meters an operand is.
    /// fn meters(operand: LuaValue) -> LuaResult<f64> {
    ///     match operand {
    ///         LuaValue::Number(number) => Ok(number),
    ///         LuaValue::UserData(value) => Ok(value.borrow::<Meters>()?.0),
    ///         other => Err(LuaError::Runtime(format!("a {} is no length", other.type_name()).into())),
    ///     }
    /// }
    ///
    /// impl UserData for Meters {
    ///     fn methods(methods: &mut Methods<'_, Meters>) {
    ///         methods.add_meta_function("__sub", |lua, (a, b): (LuaValue, LuaValue)| {
    ///             Ok(lua.create_userdata(Meters(meters(a)? - meters(b)?)))
    ///         });
    ///         methods.add_meta_function("__lt", |_, (a, b): (LuaValue, LuaValue)| Ok(meters(a)? < meters(b)?));
    ///         methods.add_meta_method("__tostring", |_, length, ()| Ok(format!("{} m", length.0)));
    ///     }
    /// }
    ///
    /// let lua = Lua::new();
    /// lua.globals().set("length", lua.create_userdata(Meters(3.0)))?;
    /// let texts = "return tostring(length - 1), tostring(10 - length), tostring(length - length)";
    /// let texts: (String, String, String) = lua.load(texts).eval()?;
    /// assert_eq!(texts, ("2 m".into(), "7 m".into(), "0 m".into()));
    /// assert!(lua.load("return length - 1 < length").eval::<bool>()?);
    /// # Ok::<(), LuaError>(())
    /// ```
    pub fn add_meta_function<A: FromLuaMulti, R: IntoLuaMulti>(
        &mut self,
        name: &str,
        function: impl Fn(&Lua, A) -> LuaResult<R> + 'static,
    ) {
        let function = self.lua.create_function(function);
        self.add(true, name, function);
    }

    /// Adds a function to the fields, which gets all its arguments.
    pub fn add_function<A: FromLuaMulti, R: IntoLuaMulti>(
        &mut self,
        name: &str,
        function: impl Fn(&Lua, A) -> LuaResult<R> + 'static,
    ) {
        let function = self.lua.create_function(function);
        self.add(false, name, function);
    }
}

/// A value of Rust in Lua, of any type.
#[derive(Clone, PartialEq, Debug)]
pub struct AnyUserData(pub(super) Handle);

/// The metamethod `__index` of a type that has one of its own: looks for a method, and asks that one for what is none.
fn method_first(vm: &mut Vm, frames: &Frames<'_>, args: &[Value]) -> Result<Value, Thrown> {
    let native = vm.native().expect("this is one");
    let [methods, otherwise] = [0, 1].map(|at| native.upvalues()[at].get());
    let key = args.get(1).copied().unwrap_or(Value::NIL);
    let method = methods.as_table().expect("it was made with one").get(key);
    if method.is_nil() { vm.call_value(frames, otherwise, args) } else { Ok(vm.give(&[method])) }
}

impl Lua {
    /// Gives Lua a value of Rust.
    pub fn create_userdata<T: UserData>(&self, value: T) -> AnyUserData {
        let metatable = self.metatable_of::<T>();
        let userdata = self.with(|vm, _| {
            let userdata = vm.heap.userdata(Box::new(RefCell::new(value)));
            let metatable = metatable.0.value().as_table();
            vm.heap.set_userdata_metatable(userdata, metatable);
            Value::object(USERDATA, userdata)
        });
        AnyUserData(self.keep(userdata))
    }

    /// The metatable that all values of a type share.
    fn metatable_of<T: UserData>(&self) -> LuaTable {
        let known = self.with(|vm, _| vm.rust_types.get(&TypeId::of::<T>()).copied());
        if let Some(known) = known {
            return LuaTable(self.keep(Value::table(known)));
        }
        let (index, meta) = (self.create_table(), self.create_table());
        // All values of the type have it, so that nobody may change it.
        let result = meta.raw_set("__metatable", false).and_then(|()| meta.raw_set("__index", index.clone()));
        let mut methods = Methods {
            lua: self,
            index: index.clone(),
            meta: meta.clone(),
            otherwise: None,
            result,
            of: std::marker::PhantomData,
        };
        T::methods(&mut methods);
        let Methods { otherwise, result, .. } = methods;
        let result = result.and_then(|()| match otherwise {
            Some(otherwise) => {
                let both = [index.0.value(), otherwise.0.value()];
                let finds = self.with(|vm, _| vm.native_function("__index", method_first, &both));
                meta.raw_set("__index", super::LuaFunction(self.keep(finds)))
            }
            None => Ok(()),
        });
        result.expect("the names of methods may be keys");
        let table = meta.0.value().as_table().expect("it is one");
        self.with(|vm, _| vm.rust_types.insert(TypeId::of::<T>(), table));
        meta
    }
}

impl AnyUserData {
    fn cell<T: 'static>(&self) -> LuaResult<&RefCell<T>> {
        let userdata = self.0.value().as_userdata();
        // SAFETY: the handle keeps the userdata, whose value stays where it is.
        let value = userdata.map(|userdata| unsafe { &(*userdata.pointer()).value });
        let name = std::any::type_name::<T>();
        let name = name.rsplit("::").next().unwrap_or(name);
        let wrong = LuaError::conversion("userdata of another type", name);
        value.and_then(|value| value.downcast_ref()).ok_or(wrong)
    }

    /// The value, if it is of this type and nobody changes it.
    pub fn borrow<T: 'static>(&self) -> LuaResult<Ref<'_, T>> {
        self.cell::<T>()?.try_borrow().map_err(LuaError::external)
    }

    /// The value, to change it, if it is of this type and nobody else uses it.
    pub fn borrow_mut<T: 'static>(&self) -> LuaResult<RefMut<'_, T>> {
        self.cell::<T>()?.try_borrow_mut().map_err(LuaError::external)
    }
}

impl<T: UserData> IntoLua for T {
    fn into_lua(self, lua: &Lua) -> LuaResult<LuaValue> {
        Ok(LuaValue::UserData(lua.create_userdata(self)))
    }
}
