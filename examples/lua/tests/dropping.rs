//! Values of Rust in a program of Lua that do something when they are dropped, and functions of Rust that panic: the program goes on.

use azulejo_lua::api::{Lua, LuaResult, UserData};
use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;

/// Does this when it is dropped.
struct OnDrop<F: FnMut()>(F);

impl<F: FnMut()> Drop for OnDrop<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

impl<F: FnMut() + 'static> UserData for OnDrop<F> {}

/// Makes garbage until the collector has worked some times.
const CHURN: &str = "local t for i = 1, 200000 do t = { i, tostring(i % 100) } end return #t";

fn churn(lua: &Lua) -> LuaResult<()> {
    assert_eq!(lua.load(CHURN).eval::<i64>()?, 2);
    Ok(())
}

#[test]
fn a_value_that_panics_is_dropped_once_and_the_others_later() -> LuaResult<()> {
    let lua = Lua::new();
    let dropped = Rc::new(Cell::new(0));
    for at in 0..10 {
        let dropped = dropped.clone();
        drop(lua.create_userdata(OnDrop(move || {
            dropped.set(dropped.get() + 1);
            assert!(at != 4, "this one panics");
        })));
    }
    let collected = catch_unwind(AssertUnwindSafe(|| lua.gc_collect()));
    assert!(collected.is_err());
    churn(&lua)?;
    lua.gc_collect()?;
    assert_eq!(dropped.get(), 10);
    churn(&lua)
}

#[test]
fn a_value_may_use_the_program_when_it_is_dropped() -> LuaResult<()> {
    let lua = Lua::new();
    let seen = Rc::new(RefCell::new(Vec::new()));
    for at in 0..20i64 {
        let (program, seen) = (lua.clone(), seen.clone());
        drop(lua.create_userdata(OnDrop(move || {
            let code = "local t = {} for i = 1, 1000 do t[i] = { i } end return #t";
            let n = program.load(code).eval::<i64>().expect("it runs");
            program.gc_collect().expect("it collects");
            seen.borrow_mut().push((at, n));
            if at < 3 {
                // Another one, which does nothing.
                drop(program.create_userdata(OnDrop(|| ())));
            }
        })));
    }
    // Some go while the program makes objects, the others at once.
    churn(&lua)?;
    lua.gc_collect()?;
    let mut seen = seen.take();
    seen.sort_unstable();
    assert_eq!(seen, (0..20).map(|at| (at, 1000)).collect::<Vec<_>>());
    churn(&lua)
}

#[test]
fn values_are_dropped_where_code_has_its_results_at_hand() -> LuaResult<()> {
    let lua = Lua::new();
    let dropped = Rc::new(Cell::new(0));
    let counted = dropped.clone();
    let make = lua.create_function(move |lua, ()| {
        let (program, dropped) = (lua.clone(), counted.clone());
        Ok(lua.create_userdata(OnDrop(move || {
            dropped.set(dropped.get() + 1);
            program.load("return 7, 8, 9").exec().expect("it runs");
        })))
    });
    lua.globals().set("make", make)?;
    let code = "local function two(i) make() return i, { i } end
        local sum = 0
        for i = 1, 20000 do local a, b = two(i) sum = sum + a - b[1] + select('#', two(i)) end
        return sum";
    assert_eq!(lua.load(code).eval::<i64>()?, 40000);
    lua.gc_collect()?;
    assert_eq!(dropped.get(), 40000);
    Ok(())
}

#[test]
fn a_panic_ends_the_coroutine_that_it_passes() -> LuaResult<()> {
    let lua = Lua::new();
    let panics = lua.create_function(|_, ()| -> LuaResult<()> { panic!("on purpose") });
    lua.globals().set("panics", panics)?;
    let code = "co = coroutine.create(function() coroutine.yield(1) panics() end)
        coroutine.resume(co)
        other = coroutine.wrap(function() while true do coroutine.yield(coroutine.resume(co)) end end)
        other()";
    let panicked = catch_unwind(AssertUnwindSafe(|| lua.load(code).exec()));
    assert!(panicked.is_err());
    let status = "return coroutine.running() == nil, coroutine.status(co), (coroutine.resume(co))";
    assert_eq!(lua.load(status).eval::<(bool, String, bool)>()?, (true, "dead".into(), false));
    let works = "local f = coroutine.wrap(function(a) local b = coroutine.yield(a + 1) return b * 2 end) return f(1) + f(4)";
    assert_eq!(lua.load(works).eval::<i64>()?, 10);
    Ok(())
}

#[test]
fn finalizers_call_functions_of_rust_when_the_program_ends() -> LuaResult<()> {
    let called = Rc::new(Cell::new(0));
    let lua = Lua::with_all_libraries();
    let counted = called.clone();
    let count = lua.create_function(move |_, ()| {
        counted.set(counted.get() + 1);
        Ok(())
    });
    lua.globals().set("count", count)?;
    lua.load("p = newproxy(true) getmetatable(p).__gc = function() count() end").exec()?;
    drop(lua);
    assert_eq!(called.get(), 1);
    Ok(())
}

#[test]
fn a_value_that_panics_at_the_end_keeps_none_of_the_others() {
    let dropped = Rc::new(Cell::new(0));
    let lua = Lua::new();
    for at in 0..4 {
        let dropped = dropped.clone();
        let value = lua.create_userdata(OnDrop(move || {
            dropped.set(dropped.get() + 1);
            assert!(at != 1, "this one panics");
        }));
        lua.globals().set(at, value).expect("it may be a field");
    }
    assert!(catch_unwind(AssertUnwindSafe(|| drop(lua))).is_err());
    assert_eq!(dropped.get(), 4);
}
