//! Handles: how Rust code keeps a program of Lua, and what is on its heap.
//!
//! **Invariants:** the program is borrowed for no longer than one operation. While a function of Rust runs that Lua code has called, the
//! program is that function's to use. The place of a handle has its value until the handle is dropped.

use super::LuaResult;
use crate::object::value::Value;
use crate::run::error::Thrown;
use crate::run::handles::Handles;
use crate::run::settings::Settings;
use crate::run::vm::Vm;
use azulejo::Frames;
use std::any::Any;
use std::cell::{Cell, RefCell};
use std::fmt;
use std::ptr::NonNull;
use std::rc::Rc;

/// A program of Lua: its heap and its functions. Copies of this are the same program.
///
/// ```
/// use azulejo_lua::api::Lua;
///
/// let lua = Lua::new();
/// let sum: f64 = lua.load("local s = 0; for i = 1, 10 do s = s + i end; return s").eval()?;
/// assert_eq!(sum, 55.0);
/// # Ok::<(), azulejo_lua::api::LuaError>(())
/// ```
#[derive(Clone)]
pub struct Lua(pub(super) Rc<Inner>);

pub(crate) struct Inner {
    /// The program, by the address that may be used now.
    vm: Cell<NonNull<Vm>>,
    /// The frames that wait for the function of Rust that runs.
    frames: Cell<Frames<'static>>,
    handles: Rc<RefCell<Handles>>,
}

impl Drop for Inner {
    fn drop(&mut self) {
        // SAFETY: the program was boxed in `with_settings`, and nobody uses it any more.
        drop(unsafe { Box::from_raw(self.vm.get().as_ptr()) });
    }
}

impl Drop for Lua {
    fn drop(&mut self) {
        // The last handle is still there while finalizers run, which may call functions of Rust.
        if Rc::strong_count(&self.0) == 1 {
            self.with(|vm, _| vm.close());
        }
    }
}

impl Lua {
    /// A program with the library, but for what reaches the system: files, other programs, the environment, modules of files, and `debug`.
    pub fn new() -> Lua {
        Lua::builder().build()
    }

    /// A program with the whole library. Its code can do what this process can.
    pub fn with_all_libraries() -> Lua {
        Lua::builder().all_libraries(true).build()
    }

    /// A program with what `open` adds to its global variables.
    pub(crate) fn with_settings(settings: &Settings, open: impl FnOnce(&mut Vm)) -> Lua {
        let mut vm = Box::new(Vm::with_settings(settings));
        vm.drop_value = Lua::drop_value;
        open(&mut vm);
        let handles = vm.handles.clone();
        let vm = Box::leak(vm);
        let pointer = NonNull::from(&mut *vm);
        let inner = Rc::new(Inner { vm: Cell::new(pointer), frames: Cell::new(Frames::none()), handles });
        // SAFETY: the program is there as long as the handle.
        unsafe { (*pointer.as_ptr()).owner = Rc::downgrade(&(inner.clone() as Rc<dyn Any>)) };
        Lua(inner)
    }

    /// Uses the program.
    pub(crate) fn with<T>(&self, work: impl FnOnce(&mut Vm, &Frames<'_>) -> T) -> T {
        // SAFETY: the invariants: nobody else uses the program as long as `work` runs, unless `work` calls Lua code which calls Rust
        // code, and that has an address of its own.
        let vm = unsafe { self.0.vm.get().as_mut() };
        work(vm, &self.0.frames.get())
    }

    /// Makes an object. The collector works first, if it is its turn: what it finds to be garbage is dropped, but finalizers, which may fail,
    /// wait for a call.
    pub(super) fn make<T>(&self, work: impl FnOnce(&mut Vm) -> T) -> T {
        self.with(|vm, frames| {
            if vm.heap.wants_step() {
                vm.collect(frames, false);
                vm.drop_lost_values(frames);
            }
            work(vm)
        })
    }

    /// Uses the program in a way that Lua code may make fail. All values that `work` has must be kept by handles: the collector may work first.
    pub(super) fn attempt<T>(
        &self,
        work: impl FnOnce(&mut Vm, &Frames<'_>) -> Result<T, Thrown>,
    ) -> LuaResult<T> {
        let result = self.with(|vm, frames| {
            // Whoever protects calls further out handles what comes out of this, not what stays inside.
            let before = vm.handlers.len();
            let noting = vm.noting();
            vm.handlers.push(Some(noting));
            vm.failed_at = None;
            let collected = if vm.heap.wants_step() { vm.collect_due(frames) } else { Ok(()) };
            let result = collected.and_then(|()| work(vm, frames));
            // A program that is stopped leaves those of its calls.
            vm.handlers.truncate(before);
            vm.show_output();
            result
        });
        result.map_err(|thrown| self.failure(thrown))
    }

    /// Drops a value of a userdata that is gone. It may use the program, unless that is over.
    fn drop_value(vm: &mut Vm, frames: &Frames<'_>, value: Box<dyn Any>) {
        match vm.owner.strong_count() {
            0 => drop(value),
            _ => Lua::lend(vm, frames, |_| drop(value)),
        }
    }

    /// Lets Rust code use the program that has called it.
    pub(super) fn lend<T>(vm: &mut Vm, frames: &Frames<'_>, work: impl FnOnce(&Lua) -> T) -> T {
        vm.show_output();
        let owner = vm.owner.upgrade().and_then(|owner| owner.downcast().ok());
        let lua = Lua(owner.expect("whoever calls functions of Rust has the handle"));
        // SAFETY: the frames are put back before the call ends that they wait for.
        let frames = unsafe { std::mem::transmute::<Frames<'_>, Frames<'static>>(*frames) };
        let before = (lua.0.vm.replace(NonNull::from(vm)), lua.0.frames.replace(frames));
        let _back = Back(&lua, before);
        work(&lua)
    }

    /// Keeps a value.
    pub(super) fn keep(&self, value: Value) -> Handle {
        let place = self.0.handles.borrow_mut().keep(value);
        Handle { lua: self.clone(), place }
    }

    /// What Rust code keeps of this program.
    pub(super) fn handles(&self) -> &Rc<RefCell<Handles>> {
        &self.0.handles
    }

    /// Whether a handle is of this program.
    pub(super) fn owns(&self, handle: &Handle) -> bool {
        Rc::ptr_eq(&self.0, &handle.lua.0)
    }
}

/// The program's owner may use it by the address from before again.
struct Back<'a>(&'a Lua, (NonNull<Vm>, Frames<'static>));

impl Drop for Back<'_> {
    fn drop(&mut self) {
        let Back(lua, (vm, frames)) = self;
        lua.0.vm.set(*vm);
        lua.0.frames.set(*frames);
    }
}

impl Default for Lua {
    fn default() -> Self {
        Lua::new()
    }
}

impl fmt::Debug for Lua {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lua").finish_non_exhaustive()
    }
}

/// Keeps a value, and the program.
pub(super) struct Handle {
    pub(super) lua: Lua,
    place: usize,
}

impl Handle {
    /// The value.
    pub(super) fn value(&self) -> Value {
        self.lua.0.handles.borrow().value(self.place)
    }
}

impl Clone for Handle {
    fn clone(&self) -> Self {
        self.lua.keep(self.value())
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        self.lua.0.handles.borrow_mut().forget(self.place);
    }
}

impl PartialEq for Handle {
    fn eq(&self, other: &Handle) -> bool {
        self.lua.owns(other) && self.value() == other.value()
    }
}

impl fmt::Debug for Handle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.value().fmt(f)
    }
}
