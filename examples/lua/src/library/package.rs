//! Modules: `require`, `module` and the table `package`.

use super::arguments::{self, table};
use super::as_text;
use super::load::loaded_file;
use crate::object::heap::Gc;
use crate::object::table::{Room, Table};
use crate::object::value::{Type, Value};
use crate::run::error::Result;
use crate::run::slow::NativeFunction;
use crate::run::vm::{Vm, lua_closure};
use crate::system_text::system_text;
use azulejo::Frames;

/// Where modules are looked for, if the environment does not say so.
const PATH: &str = "./?.lua;/usr/local/share/lua/5.1/?.lua;/usr/local/share/lua/5.1/?/init.lua;\
                    /usr/local/lib/lua/5.1/?.lua;/usr/local/lib/lua/5.1/?/init.lua;\
                    /usr/share/lua/5.1/?.lua;/usr/share/lua/5.1/?/init.lua";

/// Where modules of C are looked for, likewise. None can be loaded, but programs take this text apart, and an error says where there is one.
const C_PATH: &str = "./?.so;/usr/local/lib/lua/5.1/?.so;/usr/lib/x86_64-linux-gnu/lua/5.1/?.so;\
                      /usr/lib/lua/5.1/?.so;/usr/local/lib/lua/5.1/loadall.so";

/// The words of paths: what separates folders, paths, what stands for the name, and what C's modules need.
const CONFIG: &str = "/\n;\n?\n!\n-";

impl Vm {
    /// Adds `require`, `module` and the table `package` to the global variables.
    pub(crate) fn open_package(&mut self) {
        let globals = self.globals;
        self.add_natives(globals, &[("module", module), ("require", require)]);
        let package = self.heap.table(Room { slots: 10, elements: 0 });
        self.set_field_of(globals, "package", Value::table(package));
        self.add_natives(package, &[("loadlib", loadlib), ("seeall", seeall)]);
        let config = self.text(CONFIG);
        self.set_field_of(package, "config", config);
        for (name, variable, path) in [("path", "LUA_PATH", PATH), ("cpath", "LUA_CPATH", C_PATH)] {
            // An empty part of the variable stands for what is used without it.
            let set = std::env::var(variable).map(|set| set.replace(";;", &format!(";{path};")));
            let path = self.text(set.as_deref().unwrap_or(path));
            self.set_field_of(package, name, path);
        }
        let [modules, preload, loaders] = [(); 3].map(|()| self.heap.table(Room::default()));
        self.set_field_of(package, "loaded", Value::table(modules));
        self.set_field_of(package, "preload", Value::table(preload));
        self.set_field_of(package, "loaders", Value::table(loaders));
        let all: [(&'static str, NativeFunction); 4] =
            [("preload", find_preloaded), ("file", find_file), ("c", find_of_c), ("c_root", find_root_of_c)];
        for ((name, loader), at) in all.into_iter().zip(1..) {
            let loader = self.native_function(name, loader, &[]);
            self.heap.set_integer(loaders, at, loader).expect("the key may be one");
        }
        self.package = Some(package);
        for name in ["_G", "coroutine", "table", "io", "os", "string", "math", "debug", "package", "bit"] {
            let key = self.heap.string(name.as_bytes());
            let library = globals.get_string(key);
            if !library.is_nil() {
                self.set_field_of(modules, name, library);
            }
        }
    }

    /// A field of `package`.
    pub(super) fn package_field(&mut self, name: &str) -> Value {
        let key = self.heap.string(name.as_bytes());
        self.package.map_or(Value::NIL, |package| package.get_string(key))
    }

    /// The table of modules that were loaded.
    fn modules(&mut self, frames: &Frames<'_>) -> Result<Gc<Table>> {
        match self.package_field("loaded").as_table() {
            Some(modules) => Ok(modules),
            None => self.fail(frames, "'package.loaded' must be a table"),
        }
    }
}

fn require(vm: &mut Vm, frames: &Frames<'_>, args: &[Value]) -> Result<Value> {
    let name = arguments::string(vm, frames, args, 0)?;
    let modules = vm.modules(frames)?;
    // While a module loads, this stands for it.
    let sentinel = Value(crate::object::value::LIGHT | 1);
    let known = modules.get_string(name);
    if known == sentinel {
        let message = [b"loop or previous error loading module '", name.bytes(), b"'"].concat();
        return vm.fail(frames, message);
    }
    if known.is_true() {
        return Ok(known);
    }
    let loader = find(vm, frames, name.bytes())?;
    let name = Value::string(name);
    vm.heap.set(modules, name, sentinel).or_else(|error| vm.fail(frames, error.message()))?;
    let first = vm.call_value(frames, loader, &[name])?;
    let result = if vm.results.count == 0 { Value::NIL } else { first };
    if !result.is_nil() {
        vm.heap.set(modules, name, result).or_else(|error| vm.fail(frames, error.message()))?;
    } else if modules.get(name) == sentinel {
        vm.heap.set(modules, name, Value::TRUE).or_else(|error| vm.fail(frames, error.message()))?;
    }
    vm.results.count = 1;
    Ok(modules.get(name))
}

/// The function that loads a module.
fn find(vm: &mut Vm, frames: &Frames<'_>, name: &[u8]) -> Result<Value> {
    let Some(loaders) = vm.package_field("loaders").as_table() else {
        return vm.fail(frames, "'package.loaders' must be a table");
    };
    let mut message = Vec::new();
    for at in 1.. {
        let loader = loaders.get_integer(at);
        if loader.is_nil() {
            let text = [b"module '", name, b"' not found:", &message[..]].concat();
            return vm.fail(frames, text);
        }
        let key = Value::string(vm.heap.string(name));
        let first = vm.call_value(frames, loader, &[key])?;
        match vm.results.count {
            0 => {}
            _ if first.type_of() == Type::Function => return Ok(first),
            _ => as_text(vm, first).iter().for_each(|text| message.extend_from_slice(text.bytes())),
        }
    }
    unreachable!("a table has an end")
}

fn find_preloaded(vm: &mut Vm, frames: &Frames<'_>, args: &[Value]) -> Result<Value> {
    let name = arguments::string(vm, frames, args, 0)?;
    let Some(preload) = vm.package_field("preload").as_table() else {
        return vm.fail(frames, "'package.preload' must be a table");
    };
    let loader = preload.get_string(name);
    if loader.is_nil() {
        let text = [b"\n\tno field package.preload['", name.bytes(), b"']"].concat();
        return Ok(Value::string(vm.heap.string(&text)));
    }
    Ok(loader)
}

/// The first file that a path leads to and that can be read; or else what an error says about all.
fn search(
    vm: &mut Vm,
    frames: &Frames<'_>,
    name: &[u8],
    field: &str,
) -> Result<std::result::Result<Vec<u8>, Vec<u8>>> {
    let path = vm.package_field(field);
    let Some(path) = as_text(vm, path) else {
        return vm.fail(frames, format!("'package.{field}' must be a string"));
    };
    let place: Vec<u8> = name.iter().map(|byte| if *byte == b'.' { b'/' } else { *byte }).collect();
    let mut message = Vec::new();
    for template in path.bytes().split(|byte| *byte == b';').filter(|template| !template.is_empty()) {
        let mut file = Vec::new();
        for byte in template {
            match byte {
                b'?' => file.extend_from_slice(&place),
                byte => file.push(*byte),
            }
        }
        if std::fs::File::open(system_text(&file)).is_ok() {
            return Ok(Ok(file));
        }
        message.extend_from_slice(&[b"\n\tno file '", &file[..], b"'"].concat());
    }
    Ok(Err(message))
}

/// Fails because what was found for a module is none.
fn fail_loading<T>(vm: &mut Vm, frames: &Frames<'_>, name: &[u8], file: &[u8], reason: &[u8]) -> Result<T> {
    let text = [b"error loading module '", name, b"' from file '", file, b"':\n\t", reason].concat();
    vm.fail(frames, text)
}

fn find_file(vm: &mut Vm, frames: &Frames<'_>, args: &[Value]) -> Result<Value> {
    let name = arguments::string(vm, frames, args, 0)?;
    match search(vm, frames, name.bytes(), "path")? {
        Ok(file) => {
            let function = loaded_file(vm, Some(&file));
            if function.is_nil() {
                let reason =
                    vm.results.behind()[0].as_string().map(|text| text.bytes().to_vec()).unwrap_or_default();
                return fail_loading(vm, frames, name.bytes(), &file, &reason);
            }
            Ok(function)
        }
        Err(message) => Ok(Value::string(vm.heap.string(&message))),
    }
}

/// Why libraries of C are not loaded, as C's Lua says where it cannot load any.
const NO_LIBRARIES: &str = "dynamic libraries not enabled; check your Lua installation";

/// Looks for a library of C, only to say that it cannot be loaded.
fn find_of_c(vm: &mut Vm, frames: &Frames<'_>, args: &[Value]) -> Result<Value> {
    let name = arguments::string(vm, frames, args, 0)?;
    library_of_c(vm, frames, name.bytes(), name.bytes())
}

/// Likewise, for one that has a module and those below it.
fn find_root_of_c(vm: &mut Vm, frames: &Frames<'_>, args: &[Value]) -> Result<Value> {
    let name = arguments::string(vm, frames, args, 0)?;
    match name.bytes().iter().position(|byte| *byte == b'.') {
        Some(dot) => library_of_c(vm, frames, name.bytes(), &name.bytes()[..dot]),
        None => Ok(vm.give(&[])),
    }
}

fn library_of_c(vm: &mut Vm, frames: &Frames<'_>, name: &[u8], place: &[u8]) -> Result<Value> {
    match search(vm, frames, place, "cpath")? {
        Ok(file) => fail_loading(vm, frames, name, &file, NO_LIBRARIES.as_bytes()),
        Err(message) => Ok(Value::string(vm.heap.string(&message))),
    }
}

fn loadlib(vm: &mut Vm, frames: &Frames<'_>, args: &[Value]) -> Result<Value> {
    arguments::string(vm, frames, args, 0)?;
    arguments::string(vm, frames, args, 1)?;
    let [message, place] = [NO_LIBRARIES, "absent"].map(|text| vm.text(text));
    Ok(vm.give(&[Value::NIL, message, place]))
}

fn seeall(vm: &mut Vm, frames: &Frames<'_>, args: &[Value]) -> Result<Value> {
    let module = table(vm, frames, args, 0)?;
    let meta = match module.metatable() {
        Some(meta) => meta,
        None => {
            let meta = vm.heap.table(Room { slots: 1, elements: 0 });
            vm.heap.set_metatable(module, Some(meta));
            meta
        }
    };
    let globals = Value::table(vm.globals());
    vm.set_field_of(meta, "__index", globals);
    Ok(vm.give(&[]))
}

/// The table at a name with dots, made where it is missing; `None` if something else is there.
fn table_at(vm: &mut Vm, name: &[u8]) -> Option<Gc<Table>> {
    let mut at = vm.globals();
    for part in name.split(|byte| *byte == b'.') {
        let key = vm.heap.string(part);
        let next = at.get_string(key);
        at = match next.is_nil() {
            true => {
                let new = vm.heap.table(Room::default());
                vm.heap.set_string(at, key, Value::table(new)).ok()?;
                new
            }
            false => next.as_table()?,
        };
    }
    Some(at)
}

fn module(vm: &mut Vm, frames: &Frames<'_>, args: &[Value]) -> Result<Value> {
    let name = arguments::string(vm, frames, args, 0)?;
    let modules = vm.modules(frames)?;
    let known = modules.get_string(name).as_table();
    let Some(module) = known.or_else(|| table_at(vm, name.bytes())) else {
        let text = [b"name conflict for module '", name.bytes(), b"'"].concat();
        return vm.fail(frames, text);
    };
    let value = Value::table(module);
    vm.heap.set_string(modules, name, value).expect("the key may be one");
    let own_name = vm.heap.string(b"_NAME");
    if module.get_string(own_name).is_nil() {
        let end = name.bytes().iter().rposition(|byte| *byte == b'.').map_or(0, |dot| dot + 1);
        let package = Value::string(vm.heap.string(&name.bytes()[..end]));
        for (field, value) in [("_M", value), ("_NAME", Value::string(name)), ("_PACKAGE", package)] {
            vm.set_field_of(module, field, value);
        }
    }
    let caller = vm.caller(frames).and_then(|frame| frame.get(0));
    let Some(caller) = caller.and_then(|function| lua_closure(Value(function))) else {
        return vm.fail(frames, "'module' not called from a Lua function");
    };
    caller.environment.set(module);
    vm.heap.again(caller.header());
    for option in args.get(1..).unwrap_or_default() {
        vm.call_value(frames, *option, &[value])?;
    }
    Ok(vm.give(&[]))
}
