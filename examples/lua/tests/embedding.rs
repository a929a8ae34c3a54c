//! What Rust code that embeds Lua relies on: errors that pass through it, numbers at the borders, and values of Rust that scripts cannot spoil.

use azulejo_lua::api::{Lua, LuaError, LuaFunction, LuaResult, Methods, UserData};
use std::error::Error;

/// A function of Rust that calls what it gets, and passes its error on.
fn with_call() -> LuaResult<Lua> {
    let lua = Lua::with_all_libraries();
    let call = lua.create_function(|_, f: LuaFunction| f.call::<_, ()>(()));
    lua.globals().set("call", call)?;
    Ok(lua)
}

#[test]
fn an_error_that_passes_through_rust_stays_as_it_is() -> LuaResult<()> {
    let lua = with_call()?;
    let code = "return select(2, pcall(call, function() call(function() error('inner') end) end))";
    assert_eq!(lua.load(code).set_name("o.lua").eval::<String>()?, "o.lua:1: inner");
    // Bytes that are no UTF-8 as well.
    let code = "local _, message = pcall(call, function() error('\\255\\128', 0) end) return message == '\\255\\128'";
    assert!(lua.load(code).eval::<bool>()?);
    // A chunk that is wrong says so where it is wrong.
    let load = lua.create_function(|lua, text: String| lua.load(&text[..]).set_name("wrong.lua").exec());
    lua.globals().set("run", load)?;
    let code = "return select(2, pcall(run, 'x x'))";
    assert_eq!(lua.load(code).eval::<String>()?, "wrong.lua:1: '=' expected near 'x'");
    // One that Rust code says itself gets the place of the call.
    let fails = lua.create_function(|_, ()| -> LuaResult<()> { Err(LuaError::Runtime("own".into())) });
    lua.globals().set("fails", fails)?;
    let code = "return select(2, pcall(function() fails() end))";
    assert_eq!(lua.load(code).set_name("o.lua").eval::<String>()?, "o.lua:1: own");
    Ok(())
}

#[test]
fn an_error_of_rust_has_its_source() {
    let inner = "x".parse::<i32>().expect_err("it is no number");
    let error = LuaError::external(inner.clone());
    let source = error.source().and_then(|source| source.downcast_ref::<std::num::ParseIntError>());
    assert_eq!(source, Some(&inner));
    assert!(LuaError::Interrupted.source().is_none());
}

#[test]
fn integers_are_exact_or_refused() -> LuaResult<()> {
    let lua = Lua::new();
    assert_eq!(lua.load("-2^63").eval::<i64>()?, i64::MIN);
    assert_eq!(lua.load("2^63").eval::<u64>()?, 1 << 63);
    assert_eq!(lua.load("2^31 - 1").eval::<i32>()?, i32::MAX);
    assert_eq!(lua.load("-0").eval::<i64>()?, 0);
    for (code, message) in [
        ("2^63", "number out of range"),
        ("-2^63 - 2048", "number out of range"),
        ("0.5", "number with a fraction"),
        ("0/0", "number that is not finite"),
        ("1/0", "number that is not finite"),
    ] {
        let error = lua.load(code).eval::<i64>().expect_err(code);
        assert!(error.to_string().ends_with(message), "{code}: {error}");
    }
    assert!(lua.load("2^64").eval::<u64>().is_err() && lua.load("2^31").eval::<i32>().is_err());
    Ok(())
}

/// A pair of numbers that has other fields, too.
struct Pair(f64, f64);

impl UserData for Pair {
    fn methods(methods: &mut Methods<'_, Pair>) {
        methods.add_method("sum", |_, pair, ()| Ok(pair.0 + pair.1));
        methods.add_meta_method("__index", |_, pair, key: String| match &key[..] {
            "first" => Ok(Some(pair.0)),
            "second" => Ok(Some(pair.1)),
            _ => Ok(None),
        });
    }
}

#[test]
fn fields_stand_behind_methods() -> LuaResult<()> {
    let lua = Lua::new();
    lua.globals().set("pair", lua.create_userdata(Pair(1.5, 2.0)))?;
    let code = "return pair.first + pair.second, pair:sum(), pair.third";
    assert_eq!(lua.load(code).eval::<(f64, f64, Option<f64>)>()?, (3.5, 3.5, None));
    Ok(())
}

#[test]
fn scripts_do_not_get_at_the_metatables_of_types() -> LuaResult<()> {
    let lua = Lua::new();
    lua.globals().set("pair", lua.create_userdata(Pair(1.0, 2.0)))?;
    assert!(!lua.load("return getmetatable(pair)").eval::<bool>()?);
    assert!(lua.load("setmetatable(pair, {})").exec().is_err());
    assert_eq!(lua.load("return pair:sum()").eval::<f64>()?, 3.0);
    Ok(())
}

/// `nil` ends a sequence for Lua, and not for who gets it back.
#[test]
fn what_is_nothing_in_a_sequence_comes_back() -> LuaResult<()> {
    let lua = Lua::new();
    for values in
        [vec![Some(1), None, Some(3)], vec![None, Some(2)], vec![Some(1), None, None, Some(4)], vec![]]
    {
        let value = lua.to_value(&values)?;
        assert_eq!(lua.from_value::<Vec<Option<i32>>>(value)?, values);
    }
    let tuple = (1, None::<bool>, "three".to_string(), None::<i32>);
    let value = lua.to_value(&tuple)?;
    assert_eq!(lua.from_value::<(i32, Option<bool>, String, Option<i32>)>(value)?, tuple);
    // A few elements far apart are no sequence of so many.
    let far = lua.load("return { 1, 2, [1e9] = 3 }").eval()?;
    assert_eq!(lua.from_value::<Vec<Option<i32>>>(far)?, [Some(1), Some(2)]);
    for beyond in [i64::MAX, (1 << 53) + 1] {
        let error = lua.to_value(&beyond).expect_err("there is no such number");
        assert_eq!(error.to_string(), format!("no number of Lua is exactly {beyond}"));
    }
    Ok(())
}
