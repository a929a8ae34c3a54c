//! Values of Rust in Lua.

use super::function::Fault;
use super::handle::{Handle, Lua};
use super::{
    FromLua, FromLuaMulti, IntoLua, IntoLuaMulti, LuaError, LuaFunction, LuaResult, LuaTable, LuaValue,
};
use crate::library::as_text;
use crate::object::value::{USERDATA, Value};
use crate::run::error::Thrown;
use crate::run::slow::NativeFunction;
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
    /// What computes fields, and what sets them.
    getters: LuaTable,
    setters: LuaTable,
    /// What finds fields that are none of these, and what sets them.
    otherwise: [Option<LuaFunction>; 2],
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
    fn add(&mut self, is_meta: bool, name: &str, function: LuaFunction) {
        match (is_meta, name) {
            (true, "__index") => self.otherwise[0] = Some(function),
            (true, "__newindex") => self.otherwise[1] = Some(function),
            _ => {
                let table = if is_meta { self.meta.clone() } else { self.index.clone() };
                self.put(&table, name, function);
            }
        }
    }

    fn put(&mut self, table: &LuaTable, name: &str, value: impl IntoLua) {
        if let Err(error) = table.raw_set(name, value) {
            self.result = Err(error);
        }
    }

    fn of<A: FromLuaMulti, R: IntoLuaMulti>(
        &self,
        method: impl Fn(&Lua, &T, A) -> LuaResult<R> + 'static,
    ) -> LuaFunction {
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
        let function = self.of_mut(method);
        self.add(false, name, function);
    }

    fn of_mut<A: FromLuaMulti, R: IntoLuaMulti>(
        &self,
        method: impl Fn(&Lua, &mut T, A) -> LuaResult<R> + 'static,
    ) -> LuaFunction {
        self.lua.create_any(move |lua, arguments| {
            let (userdata, arguments) = receiver::<A>(lua, arguments).map_err(Fault::Arguments)?;
            let call = || method(lua, &mut *userdata.borrow_mut::<T>()?, arguments)?.into_lua_multi(lua);
            call().map_err(Fault::Said)
        })
    }

    /// Adds a field that all values of the type have in common.
    pub fn add_field(&mut self, name: &str, value: impl IntoLua) {
        let index = self.index.clone();
        self.put(&index, name, value);
    }

    /// Adds a field that is computed whenever Lua code reads it.
    ///
    /// ```
    /// use azulejo_lua::api::{Lua, LuaError, Methods, UserData};
    ///
    /// struct Square(f64);
    ///
    /// impl UserData for Square {
    ///     fn methods(methods: &mut Methods<'_, Square>) {
    ///         methods.add_field("sides", 4);
    ///         methods.add_field_method_get("area", |_, square| Ok(square.0 * square.0));
    ///         methods.add_field_method_get("side", |_, square| Ok(square.0));
    ///         methods.add_field_method_set("side", |_, square, side: f64| {
    ///             square.0 = side;
    ///             Ok(())
    ///         });
    ///     }
    /// }
    ///
    /// let lua = Lua::new();
    /// lua.globals().set("square", lua.create_userdata(Square(2.0)))?;
    /// let code = "square.side = square.side + 1; return square.area, square.sides";
    /// assert_eq!(lua.load(code).eval::<(f64, i64)>()?, (9.0, 4));
    /// let error = lua.load("square.area = 1").set_name("o.lua").exec().unwrap_err();
    /// assert_eq!(error.to_string(), "o.lua:1: no field 'area' can be set");
    /// # Ok::<(), LuaError>(())
    /// ```
    pub fn add_field_method_get<R: IntoLua>(
        &mut self,
        name: &str,
        get: impl Fn(&Lua, &T) -> LuaResult<R> + 'static,
    ) {
        let function = self.of(move |lua, value, ()| get(lua, value));
        let getters = self.getters.clone();
        self.put(&getters, name, function);
    }

    /// Adds what Lua code calls when it sets a field.
    pub fn add_field_method_set<A: FromLua>(
        &mut self,
        name: &str,
        set: impl Fn(&Lua, &mut T, A) -> LuaResult<()> + 'static,
    ) {
        let function = self.of_mut(set);
        let setters = self.setters.clone();
        self.put(&setters, name, function);
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

    /// Makes the metamethods by which fields are found and set. Where nothing is computed there is a table, which is found more quickly.
    fn finish_fields(&self) -> LuaResult<()> {
        let [finds, sets] = self.otherwise.each_ref().map(Option::as_ref);
        let bits =
            |function: Option<&LuaFunction>| function.map_or(Value::NIL, |function| function.0.value());
        let make = |name, function: NativeFunction, upvalues: &[Value]| {
            let made = self.lua.with(|vm, _| vm.native_function(name, function, upvalues));
            self.meta.raw_set(name, LuaFunction(self.lua.keep(made)))
        };
        let [index, getters, setters] =
            [&self.index, &self.getters, &self.setters].map(|table| table.0.value());
        let is_empty = |table: &LuaTable| table.pairs::<LuaValue, LuaValue>().next().is_none();
        if finds.is_some() || !is_empty(&self.getters) {
            make("__index", find_field, &[index, getters, bits(finds)])?;
        }
        if sets.is_some() || !is_empty(&self.setters) {
            make("__newindex", set_field, &[setters, bits(sets)])?;
        }
        Ok(())
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

/// The metamethod `__index` of a type that computes fields: looks for a method, then for what computes the field, and then asks the metamethod
/// that the type says.
fn find_field(vm: &mut Vm, frames: &Frames<'_>, args: &[Value]) -> Result<Value, Thrown> {
    let native = vm.native().expect("this is one");
    let [methods, getters, otherwise] = [0, 1, 2].map(|at| native.upvalues()[at].get());
    let (object, key) = (argument(args, 0), argument(args, 1));
    let of = |table: Value| table.as_table().expect("it was made with one").get(key);
    let (method, getter) = (of(methods), of(getters));
    match () {
        () if !method.is_nil() => Ok(vm.give(&[method])),
        () if !getter.is_nil() => vm.in_place(|vm| vm.call_value(frames, getter, &[object])),
        () if !otherwise.is_nil() => vm.in_place(|vm| vm.call_value(frames, otherwise, args)),
        () => Ok(vm.give(&[Value::NIL])),
    }
}

/// The metamethod `__newindex` of a type of which fields can be set.
fn set_field(vm: &mut Vm, frames: &Frames<'_>, args: &[Value]) -> Result<Value, Thrown> {
    let native = vm.native().expect("this is one");
    let [setters, otherwise] = [0, 1].map(|at| native.upvalues()[at].get());
    let key = argument(args, 1);
    let setter = setters.as_table().expect("it was made with one").get(key);
    match () {
        () if !setter.is_nil() => {
            vm.in_place(|vm| vm.call_value(frames, setter, &[argument(args, 0), argument(args, 2)]))
        }
        () if !otherwise.is_nil() => vm.in_place(|vm| vm.call_value(frames, otherwise, args)),
        () => {
            let key = as_text(vm, key).map_or(b"?".to_vec(), |text| text.bytes().to_vec());
            vm.fail(frames, [b"no field '", &key[..], b"' can be set"].concat())
        }
    }
}

fn argument(args: &[Value], at: usize) -> Value {
    args.get(at).copied().unwrap_or(Value::NIL)
}

impl Lua {
    /// Gives Lua a value of Rust.
    pub fn create_userdata<T: UserData>(&self, value: T) -> AnyUserData {
        let metatable = self.metatable_of::<T>();
        let userdata = self.make(|vm| {
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
            getters: self.create_table(),
            setters: self.create_table(),
            otherwise: [None, None],
            result,
            of: std::marker::PhantomData,
        };
        T::methods(&mut methods);
        let result = methods.result.clone();
        let result = result.and_then(|()| methods.finish_fields());
        result.expect("the names of methods may be keys");
        let table = meta.0.value().as_table().expect("it is one");
        self.with(|vm, _| vm.rust_types.insert(TypeId::of::<T>(), table));
        meta
    }
}

/// What people call a type.
fn name_of<T>() -> &'static str {
    let name = std::any::type_name::<T>();
    name.rsplit("::").next().unwrap_or(name)
}

/// Somebody has a value already.
fn in_use<T>(how: &str) -> LuaError {
    LuaError::Runtime(format!("a value of type {} is {how}", name_of::<T>()).into())
}

impl AnyUserData {
    fn cell<T: 'static>(&self) -> LuaResult<&RefCell<T>> {
        let userdata = self.0.value().as_userdata();
        // SAFETY: the handle keeps the userdata, whose value stays where it is.
        let value = userdata.map(|userdata| unsafe { &(*userdata.pointer()).value });
        let wrong = LuaError::conversion("userdata of another type", name_of::<T>());
        value.and_then(|value| value.downcast_ref()).ok_or(wrong)
    }

    /// The value, if it is of this type and nobody changes it.
    pub fn borrow<T: 'static>(&self) -> LuaResult<Ref<'_, T>> {
        self.cell::<T>()?.try_borrow().map_err(|_| in_use::<T>("used while it is changed"))
    }

    /// The value, to change it, if it is of this type and nobody else uses it.
    pub fn borrow_mut<T: 'static>(&self) -> LuaResult<RefMut<'_, T>> {
        self.cell::<T>()?.try_borrow_mut().map_err(|_| in_use::<T>("changed while it is used"))
    }
}

impl<T: UserData> IntoLua for T {
    fn into_lua(self, lua: &Lua) -> LuaResult<LuaValue> {
        Ok(LuaValue::UserData(lua.create_userdata(self)))
    }
}
