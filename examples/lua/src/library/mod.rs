//! The library of Lua 5.1: functions that are written in Rust.
//!
//! In: a [`Vm`] without them. Out: global functions, and a global table for each part of the library. What computes on bytes, numbers and
//! files alone is elsewhere; here are the arguments, the results and the calls back.
//!
//! **Invariant:** the collector works only while a function is called back, never between the lines of one of these functions. So what a
//! function holds across such a call, and nothing else may refer to any more, it [roots](rooted).

pub(crate) mod arguments;
pub(crate) mod base;
mod bit;
mod coroutine;
mod debug;
mod file;
mod io;
mod load;
mod math;
mod os;
mod package;
mod quick;
mod search;
mod sort;
mod string;
mod table;
#[cfg(test)]
mod tests;
mod watching;

pub(crate) use arguments::Arguments;
pub(crate) use debug::with_traceback;
pub(crate) use load::read_file;

use crate::number;
use crate::object::heap::Gc;
use crate::object::string::Str;
use crate::object::table::{Room, Table};
use crate::object::value::Value;
use crate::run::error::Result;
use crate::run::slow::NativeFunction;
use crate::run::vm::Vm;

/// Functions and their names.
pub(crate) type Natives = [(&'static str, NativeFunction)];

impl Vm {
    /// Adds what reaches nothing but the program itself.
    pub(crate) fn open_safe(&mut self) {
        self.open_base();
        self.open_coroutine();
        string::open(self);
        table::open(self);
        math::open(self);
        bit::open(self);
        quick::open(self);
    }

    /// Adds the whole library.
    pub fn open(&mut self) {
        self.open_safe();
        self.open_os();
        self.open_files();
        self.open_debug();
        self.open_package();
    }

    /// Adds what reads and writes files.
    pub(crate) fn open_files(&mut self) {
        self.open_files_of_base();
        io::open_library(self);
    }

    /// Adds what asks the system.
    pub(crate) fn open_os(&mut self) {
        os::open(self);
    }
}

/// Makes functions the fields of a global table, which may be there.
pub(crate) fn register(vm: &mut Vm, name: &str, natives: &Natives) -> Gc<Table> {
    let key = vm.heap.permanent_string(name.as_bytes());
    let table = vm.globals.get_string(key).as_table().unwrap_or_else(|| {
        let table = vm.heap.table(Room { slots: natives.len() as u32, elements: 0 });
        vm.set_field_of(vm.globals, name, Value::table(table));
        table
    });
    vm.add_natives(table, natives);
    table
}

/// Keeps values for the collector while something runs that may call back.
pub(crate) fn rooted<T>(vm: &mut Vm, values: &[Value], body: impl FnOnce(&mut Vm) -> T) -> T {
    let before = vm.roots.len();
    vm.roots.extend_from_slice(values);
    let result = body(vm);
    vm.roots.truncate(before);
    result
}

/// Lets a function make a string in memory that is used again, and that has room for so many bytes.
pub(crate) fn built(vm: &mut Vm, room: usize, build: impl FnOnce(&mut Vec<u8>)) -> Result<Value> {
    let mut buffer = vm.library.take_buffer();
    vm.make_room(&mut buffer, room)?;
    build(&mut buffer);
    let result = vm.new_string(&buffer);
    vm.library.bring_back(buffer);
    result
}

/// The string that a value is, or its number's text.
pub(crate) fn as_text(vm: &mut Vm, value: Value) -> Option<Gc<Str>> {
    value.as_string().or_else(|| {
        let number = value.as_number()?;
        let mut buffer = vm.library.take_buffer();
        number::write(number, &mut buffer);
        let text = vm.heap.string(&buffer);
        vm.library.bring_back(buffer);
        Some(text)
    })
}
