//! What Rust code that embeds Lua relies on: errors that pass through it, numbers at the borders, and values of Rust that scripts cannot spoil.

use azulejo_lua::api::{
    Library, Lua, LuaError, LuaFunction, LuaResult, LuaTable, LuaValue, Methods, RegistryKey, UserData,
};
use std::cell::Cell;
use std::error::Error;
use std::rc::Rc;

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

/// A value of which fields are computed, set, or made up.
struct Sensor {
    celsius: f64,
    notes: Vec<String>,
}

impl UserData for Sensor {
    fn methods(methods: &mut Methods<'_, Sensor>) {
        methods.add_field("unit", "C");
        methods.add_method("describe", |_, sensor, ()| Ok(format!("{} degrees", sensor.celsius)));
        methods.add_field_method_get("celsius", |_, sensor| Ok(sensor.celsius));
        methods.add_field_method_get("kelvin", |_, sensor| match sensor.celsius {
            cold if cold < -273.15 => Err(LuaError::Runtime("too cold".into())),
            celsius => Ok(celsius + 273.15),
        });
        // A method has the name as well: it is found first.
        methods.add_field_method_get("describe", |_, _| Ok(0));
        methods.add_field_method_set("celsius", |_, sensor, celsius: f64| {
            sensor.celsius = celsius;
            Ok(())
        });
        methods.add_meta_method("__index", |_, _, key: String| Ok(key + "?"));
        methods.add_meta_function("__newindex", |_, (sensor, key, value): (LuaValue, String, String)| {
            let LuaValue::UserData(sensor) = sensor else { unreachable!("only sensors have it") };
            sensor.borrow_mut::<Sensor>()?.notes.push(format!("{key}={value}"));
            Ok(())
        });
    }
}

#[test]
fn fields_are_computed_and_set() -> LuaResult<()> {
    let lua = Lua::new();
    let sensor = lua.create_userdata(Sensor { celsius: 20.0, notes: Vec::new() });
    lua.globals().set("sensor", sensor.clone())?;
    let all: (String, String, f64, f64, String) = lua
        .load("return sensor.unit, sensor:describe(), sensor.celsius, sensor.kelvin, sensor.other")
        .eval()?;
    assert_eq!(all, ("C".into(), "20 degrees".into(), 20.0, 293.15, "other?".into()));
    lua.load("for i = 1, 200 do sensor.celsius = sensor.celsius + 1 end; sensor.place = 'roof'").exec()?;
    assert_eq!(sensor.borrow::<Sensor>()?.celsius, 220.0);
    assert_eq!(sensor.borrow::<Sensor>()?.notes, ["place=roof"]);
    let error = lua.load("sensor.celsius = 'warm'").exec().expect_err("it is no number");
    assert!(error.to_string().contains("number expected, got string"), "{error}");
    let error = lua.load("sensor.celsius = -300; return sensor.kelvin").set_name("o.lua").exec();
    assert_eq!(error.expect_err("it is too cold").to_string(), "o.lua:1: too cold");
    Ok(())
}

#[test]
fn functions_have_environments() -> LuaResult<()> {
    let (lua, other) = (Lua::new(), Lua::new());
    let made: LuaFunction = lua.load("function() x = (x or 0) + 1; return x end").eval()?;
    let tables = [lua.create_table(), lua.create_table()];
    for round in 1..=300 {
        for table in &tables {
            made.set_environment(table)?;
            assert_eq!(made.call::<_, i64>(())?, round);
        }
    }
    assert_eq!(made.environment().as_ref(), Some(&tables[1]));
    assert!(!lua.globals().contains_key("x")?);
    assert!(matches!(made.set_environment(&other.globals()), Err(LuaError::OtherProgram)));
    assert!(matches!(
        lua.load("x = 1").set_environment(&other.globals()).exec(),
        Err(LuaError::OtherProgram)
    ));
    let rust = lua.create_function(|_, ()| Ok(()));
    assert!(rust.environment().is_none() && rust.set_environment(&tables[0]).is_err());
    // The table is kept by the function alone.
    let kept = lua
        .load("return function() return deep.value end")
        .set_environment(&lua.create_table_from([("deep", lua.create_table_from([("value", 7)])?)])?);
    let kept: LuaFunction = kept.eval()?;
    lua.gc_collect()?;
    assert_eq!(kept.call::<_, i64>(())?, 7);
    Ok(())
}

#[test]
fn a_program_has_the_libraries_that_it_was_given() -> LuaResult<()> {
    let names = |lua: &Lua| -> LuaResult<Vec<String>> {
        let all = ["io", "dofile", "loadfile", "os", "package", "require", "module", "debug"];
        let is_there = |name: &&str| lua.globals().contains_key(*name).is_ok_and(|is_there| is_there);
        Ok(all.into_iter().filter(is_there).map(String::from).collect())
    };
    assert_eq!(names(&Lua::new())?, [""; 0]);
    for (library, has) in [
        (Library::Io, &["io", "dofile", "loadfile"][..]),
        (Library::Os, &["os"]),
        (Library::Package, &["package", "require", "module"]),
        (Library::Debug, &["debug"]),
    ] {
        assert_eq!(names(&Lua::builder().library(library).build())?, has);
    }
    // Modules know the libraries that are there, in whatever order these were asked for.
    let both = Lua::builder().library(Library::Package).library(Library::Os).library(Library::Os).build();
    assert!(both.load("return require 'os' == os and not pcall(require, 'io')").eval::<bool>()?);
    assert_eq!(names(&Lua::with_all_libraries())?.len(), 8);
    assert_eq!(names(&Lua::builder().all_libraries(true).all_libraries(false).build())?.len(), 0);
    Ok(())
}

#[test]
fn tables_are_sequences() -> LuaResult<()> {
    let lua = Lua::new();
    let table = lua.create_sequence_from(1..=3)?;
    table.push("four")?;
    assert_eq!(table.raw_len(), 4);
    let texts: Vec<String> = table.sequence_values().collect::<LuaResult<_>>()?;
    assert_eq!(texts, ["1", "2", "3", "four"]);
    assert!(table.sequence_values::<i64>().nth(3).expect("there is one").is_err());
    assert_eq!(table.pop::<String>()?, "four");
    table.raw_set(2, LuaValue::Nil)?;
    assert_eq!(table.sequence_values::<i64>().collect::<LuaResult<Vec<_>>>()?, [1]);
    let empty = lua.create_table_from([(0, "zero")])?;
    assert_eq!((empty.pop::<Option<String>>()?, empty.contains_key(0)?), (None, true));
    assert_eq!(empty.sequence_values::<LuaValue>().count(), 0);
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

#[test]
fn functions_that_change_their_state_do_not_run_twice_at_once() -> LuaResult<()> {
    let lua = Lua::new();
    let mut log = Vec::new();
    let push = lua.create_function_mut(move |_, (text, then): (String, Option<LuaFunction>)| {
        log.push(text);
        if let Some(then) = then {
            then.call::<_, ()>(())?;
        }
        Ok(log.join(" "))
    });
    lua.globals().set("push", push)?;
    assert_eq!(lua.load("push('a'); return push('b')").eval::<String>()?, "a b");
    // Neither a direct call, nor one that Lua code makes, nor one of a coroutine gets in.
    for code in [
        "return pcall(push, 'c', function() push('never') end)",
        "return push('c', function() assert(not pcall(push, 'never')) end)",
        "return push('c', function() assert(not coroutine.resume(coroutine.create(function() push('never') end))) end)",
    ] {
        lua.load(code).exec()?;
    }
    assert_eq!(lua.load("return push('d')").eval::<String>()?, "a b c c c d");
    let code = "return select(2, pcall(push, 'e', function() push('never') end))";
    let said: String = lua.load(code).set_name("m.lua").eval()?;
    assert_eq!(said, "m.lua:1: a function of Rust that changes its state is called while it runs");
    Ok(())
}

/// A length, which is on either side of operators.
struct Length(f64);

/// How long an operand is.
fn length(operand: LuaValue) -> LuaResult<f64> {
    match operand {
        LuaValue::Number(number) => Ok(number),
        LuaValue::UserData(value) => Ok(value.borrow::<Length>()?.0),
        other => Err(LuaError::Runtime(format!("a {} is no length", other.type_name()).into())),
    }
}

type Operands = (LuaValue, LuaValue);

impl UserData for Length {
    fn methods(methods: &mut Methods<'_, Length>) {
        for (name, of) in [
            ("__add", (|a, b| a + b) as fn(f64, f64) -> f64),
            ("__sub", |a, b| a - b),
            ("__mul", |a, b| a * b),
            ("__div", |a, b| a / b),
            ("__mod", |a, b| a % b),
            ("__pow", f64::powf),
        ] {
            methods.add_meta_function(name, move |_, (a, b): Operands| Ok(of(length(a)?, length(b)?)));
        }
        methods.add_meta_function("__concat", |lua, (a, b): Operands| {
            let text = |value| match value {
                LuaValue::String(text) => Ok(text.to_text()),
                other => length(other).map(|length| length.to_string()),
            };
            Ok(lua.create_string(text(a)? + &text(b)?))
        });
        methods.add_meta_function("__eq", |_, (a, b): Operands| Ok(length(a)? == length(b)?));
        methods.add_meta_function("__lt", |_, (a, b): Operands| Ok(length(a)? < length(b)?));
        methods.add_meta_function("__le", |_, (a, b): Operands| Ok(length(a)? <= length(b)?));
        methods.add_meta_function("__unm", |_, a: LuaValue| Ok(-length(a)?));
    }
}

#[test]
fn values_of_rust_stand_on_either_side_of_operators() -> LuaResult<()> {
    let lua = Lua::new();
    lua.globals().set("u", lua.create_userdata(Length(3.0)))?;
    lua.globals().set("v", lua.create_userdata(Length(4.0)))?;
    for (code, found) in [
        ("return 1 + u, u + 1, u + v", (4.0, 4.0, 7.0)),
        ("return 10 - u, u - 10, u - v", (7.0, -7.0, -1.0)),
        ("return 2 * u, u * 2, u * v", (6.0, 6.0, 12.0)),
        ("return 6 / u, u / 6, u / v", (2.0, 0.5, 0.75)),
        ("return 7 % u, u % 2, v % u", (1.0, 1.0, 1.0)),
        ("return 2 ^ u, u ^ 2, -u", (8.0, 9.0, -3.0)),
    ] {
        assert_eq!(lua.load(code).eval::<(f64, f64, f64)>()?, found, "{code}");
    }
    let found: (String, String, String) = lua.load("return 'a' .. u, u .. 'b', 1 .. u .. v").eval()?;
    assert_eq!(found, ("a3".into(), "3b".into(), "134".into()));
    let code = "return u < v, v < u, u <= v, u >= v, u == v, u ~= v, u == 3";
    let found: (bool, bool, bool, bool, bool, bool, bool) = lua.load(code).eval()?;
    assert_eq!(found, (true, false, true, false, false, true, false));
    let error = lua.load("return {} + u").exec().expect_err("a table has no length");
    assert!(error.to_string().ends_with("a table is no length"), "{error}");
    Ok(())
}

#[test]
fn what_a_key_keeps_goes_with_the_key_and_the_program() -> LuaResult<()> {
    let lua = Lua::new();
    lua.load("alive = setmetatable({}, { __mode = 'k' })").exec()?;
    let alive = |lua: &Lua| -> LuaResult<i64> {
        lua.gc_collect()?;
        lua.load("local n = 0; for _ in pairs(alive) do n = n + 1 end; return n").eval()
    };
    let new = "local t = {}; alive[t] = true; return t";
    let key = lua.create_registry_value(lua.load(new).eval::<LuaTable>()?)?;
    let other = lua.create_registry_value(lua.load(new).eval::<LuaTable>()?)?;
    assert_eq!(alive(&lua)?, 2);
    drop(other);
    assert_eq!(alive(&lua)?, 1);
    assert!(lua.registry_value::<LuaTable>(&key).is_ok());
    lua.replace_registry_value(&key, 7)?;
    assert_eq!((alive(&lua)?, lua.registry_value::<i64>(&key)?), (0, 7));
    assert!(matches!(Lua::new().registry_value::<i64>(&key), Err(LuaError::OtherProgram)));
    assert!(matches!(Lua::new().replace_registry_value(&key, 1), Err(LuaError::OtherProgram)));

    /// Has a key, and says when it is dropped.
    struct Holder(Option<RegistryKey>, Rc<Cell<bool>>);
    impl UserData for Holder {}
    impl Drop for Holder {
        fn drop(&mut self) {
            self.1.set(true);
        }
    }
    // A key does not keep the program: the program goes, and with it its value that has the key.
    let is_gone = Rc::new(Cell::new(false));
    let holder = Holder(Some(lua.create_registry_value(lua.globals())?), is_gone.clone());
    assert!(holder.0.is_some());
    lua.globals().set("holder", lua.create_userdata(holder))?;
    drop(lua);
    assert!(is_gone.get());
    drop(key);
    Ok(())
}

#[test]
fn errors_know_where_they_were_raised() -> LuaResult<()> {
    let lua = with_call()?;
    let lines = |error: &LuaError| -> Vec<String> {
        error.traceback().unwrap_or("nothing").lines().map(str::to_string).collect()
    };
    let code = "local function inner() error('wrong') end\nfunction outer() inner() end\ncall(outer)";
    let error = lua.load(code).set_name("t.lua").exec().expect_err("it is wrong");
    assert_eq!(error.to_string(), "t.lua:1: wrong");
    // The function of Rust between passes on where it was.
    let found = lines(&error);
    let expected = [
        "stack traceback:",
        "\t[C]: in function 'error'",
        "\tt.lua:1: in function 'inner'",
        "\tt.lua:2: in function <t.lua:2>",
        "\t[C]: in function 'call'",
        "\tt.lua:3: in main chunk",
        "\t[C]: ?",
    ];
    assert_eq!(found, expected);
    // An error that was caught is not that of another.
    let code = "pcall(call, outer)\nlocal t = nil\nt.x = 1";
    let error = lua.load(code).set_name("u.lua").exec().expect_err("it is wrong");
    assert_eq!(lines(&error), ["stack traceback:", "\tu.lua:3: in main chunk", "\t[C]: ?"]);
    // One that goes to a handler of Lua first is what that makes of it.
    let code = "return select(2, xpcall(outer, function(message) return message .. '!' end))";
    assert_eq!(lua.load(code).eval::<String>()?, "t.lua:1: wrong!");
    // A function that is called by itself has nothing around it.
    let outer: LuaFunction = lua.globals().get("outer")?;
    let error = outer.call::<_, ()>(()).expect_err("it is wrong");
    assert_eq!(lines(&error)[3..], ["\tt.lua:2: in function <t.lua:2>", "\t[C]: ?"]);
    let deep = lua.load("local function f() return 1 + f() end f()").exec().expect_err("it has no end");
    assert!(deep.to_string().ends_with("stack overflow") && lines(&deep).len() > 20, "{deep:?}");
    for (code, is_text) in [("error({})", false), ("x x", false), ("error('x', 0)", true)] {
        let error = lua.load(code).exec().expect_err(code);
        assert_eq!(error.traceback().is_some(), is_text, "{code}");
    }
    assert!(LuaError::Runtime("made by Rust code".into()).traceback().is_none());
    Ok(())
}

#[test]
fn values_of_other_programs_are_refused_wherever_they_get() -> LuaResult<()> {
    let (lua, other) = (Lua::new(), Lua::new());
    let function: LuaFunction = other.load("function() return 1 end").eval()?;
    assert!(matches!(lua.create_thread(&function), Err(LuaError::OtherProgram)));
    assert!(matches!(lua.globals().set("f", function.clone()), Err(LuaError::OtherProgram)));
    assert!(matches!(lua.create_registry_value(function), Err(LuaError::OtherProgram)));
    // An error may have a value, too.
    let thrown = other.load("error({})").exec().expect_err("it fails");
    let throw = lua.create_function(move |_, ()| -> LuaResult<()> { Err(thrown.clone()) });
    lua.globals().set("throw", throw)?;
    let message: String = lua.load("return select(2, pcall(throw))").eval()?;
    assert_eq!(message, "a value belongs to another program");
    Ok(())
}

#[test]
fn what_rust_code_makes_and_drops_is_collected() -> LuaResult<()> {
    const MOST: usize = 8 << 20;
    let lua = Lua::new();
    let nothing: LuaFunction = lua.load("function() end").eval()?;
    let table = lua.create_table();
    type Making<'a> = &'a dyn Fn(usize) -> LuaResult<()>;
    let makers: [(&str, Making<'_>); 6] = [
        ("tables", &|_| lua.create_table().set("x", 1)),
        ("texts", &|at| {
            drop(lua.create_string(format!("{at} {}", "x".repeat(100))));
            Ok(())
        }),
        ("functions", &|at| {
            drop(lua.create_function(move |_, ()| Ok(at)));
            Ok(())
        }),
        ("arguments", &|at| nothing.call(vec![at; 10])),
        ("keys", &|at| table.get::<LuaValue>(format!("{at} {}", "x".repeat(100))).map(drop)),
        ("fields", &|at| table.set("field", vec![at; 10])),
    ];
    for (what, make) in makers {
        for at in 0..200_000 {
            make(at)?;
            assert!(lua.used_memory() < MOST, "{what}: {} bytes after {at}", lua.used_memory());
        }
    }
    Ok(())
}

/// Something large, and how many of it there are.
struct Large([u64; 10_000], Rc<Cell<usize>>);

impl UserData for Large {}

impl Drop for Large {
    fn drop(&mut self) {
        self.1.set(self.1.get() - 1);
    }
}

#[test]
fn large_values_of_rust_are_dropped_soon() -> LuaResult<()> {
    let (lua, count) = (Lua::new(), Rc::new(Cell::new(0)));
    for at in 0..5000 {
        count.set(count.get() + 1);
        let large = lua.create_userdata(Large([at; 10_000], count.clone()));
        assert_eq!(large.borrow::<Large>()?.0[9], at);
        // Each is 80 KB.
        assert!(count.get() < 1000, "{} are there after {at}", count.get());
    }
    drop(lua);
    assert_eq!(count.get(), 0);
    Ok(())
}

#[test]
fn errors_go_to_other_threads() -> LuaResult<()> {
    let lua = Lua::new();
    let code = "local n = 0 function fail() n = n + 1 error(setmetatable({ n = n }, { __mode = 'k' })) end";
    lua.load(code).exec()?;
    let errors: Vec<LuaError> = (0..100).map(|_| lua.load("fail()").exec().expect_err("it fails")).collect();
    // Some are dropped elsewhere, and their values may go.
    let errors = std::thread::spawn(move || errors.into_iter().step_by(2).collect::<Vec<_>>()).join();
    let errors = errors.expect("nothing panics there");
    lua.gc_collect()?;
    for (error, n) in errors.iter().zip((1..).step_by(2)) {
        let LuaError::Thrown(thrown) = error else { panic!("{error}") };
        let LuaValue::Table(table) = thrown.value(&lua)? else { panic!("{thrown:?}") };
        assert_eq!(table.get::<i64>("n")?, n);
        assert!(matches!(thrown.value(&Lua::new()), Err(LuaError::OtherProgram)));
    }
    // Those that nobody has take no memory.
    let before = lua.used_memory();
    for _ in 0..20_000 {
        let error = lua.load("fail()").exec().expect_err("it fails");
        drop(std::hint::black_box(error));
        if lua.used_memory() > before + (4 << 20) {
            panic!("{} bytes, and {before} before", lua.used_memory());
        }
    }
    // The error is there when its program is gone.
    drop(lua);
    assert_eq!(errors[0].to_string(), "(error object is a table value)");
    Ok(())
}

/// Calls what it gets, while it is changed or used.
struct Caller(i64);

impl UserData for Caller {
    fn methods(methods: &mut Methods<'_, Caller>) {
        methods.add_method("value", |_, caller, ()| Ok(caller.0));
        methods.add_method("using", |_, _, f: LuaFunction| f.call::<_, ()>(()));
        methods.add_method_mut("changing", |_, caller, f: LuaFunction| {
            caller.0 += 1;
            f.call::<_, ()>(())
        });
    }
}

#[test]
fn a_value_that_is_in_use_says_so() -> LuaResult<()> {
    let lua = Lua::new();
    lua.globals().set("it", lua.create_userdata(Caller(0)))?;
    for (code, expected) in [
        (
            "it:changing(function() it:value() end)",
            "o.lua:1: a value of type Caller is used while it is changed",
        ),
        (
            "it:using(function() it:changing(print) end)",
            "o.lua:1: a value of type Caller is changed while it is used",
        ),
    ] {
        let error = lua.load(code).set_name("o.lua").exec().expect_err(code);
        assert_eq!(error.to_string(), expected);
    }
    assert_eq!(
        lua.load("it:using(function() it:using(function() end) end) return it:value()").eval::<i64>()?,
        1
    );
    Ok(())
}

#[test]
fn collections_come_back() -> LuaResult<()> {
    use std::collections::{BTreeSet, HashSet};

    let lua = Lua::new();
    let words = HashSet::from(["a".to_string(), "b".to_string()]);
    lua.globals().set("words", words.clone())?;
    assert_eq!(lua.load("words.c = false return words").eval::<HashSet<String>>()?, words);
    assert_eq!(lua.load("return { [3] = true, [1] = 1 }").eval::<BTreeSet<u8>>()?, BTreeSet::from([1, 3]));
    assert_eq!(lua.load("return { 1, 2 }").eval::<[u8; 2]>()?, [1, 2]);
    let error = lua.load("return { 1, 2 }").eval::<[u8; 3]>().expect_err("it has two");
    assert_eq!(error.to_string(), "an array expected, got table of another length");
    assert_eq!(lua.load("return 'ß'").eval::<char>()?, 'ß');
    assert!(lua.load("return ''").eval::<char>().is_err() && lua.load("return 'ab'").eval::<char>().is_err());
    let (value, text) = (lua.load("return {}").eval::<LuaValue>()?, lua.create_string("x"));
    lua.globals().set(&text, &value)?;
    assert_eq!(lua.globals().get::<LuaValue>(&text)?, value);
    Ok(())
}
