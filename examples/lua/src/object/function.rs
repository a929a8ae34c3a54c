//! Functions on the heap, what they keep, and values of Rust.
//!
//! A closure of Lua has its upvalues behind it: the value of a variable that nobody assigns to, or else a [`VarCell`], which all who
//! use the variable share. Functions of Rust have values behind them in the same way.
//!
//! Each closure has the [`Definition`] that it was made from, which has the constants of its code. When the last closure is gone, the
//! definition is, too, and its number is put into a list: whoever runs functions forgets their code then.

use crate::object::heap::{Gc, Header, Heap, Marker, ObjectKind, Trace};
use crate::object::layout::Layout;
use crate::object::table::Table;
use crate::object::value::Value;
use std::any::Any;
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

/// A function of Lua. Its upvalues follow.
#[repr(C)]
pub struct Closure {
    /// Its length is the number of upvalues.
    header: Header,
    /// The address by which bytecode calls it.
    pub(crate) code: Cell<u64>,
    /// What it was made from.
    pub(crate) definition: Gc<Definition>,
    /// Where it looks for global variables.
    pub(crate) environment: Cell<Gc<Table>>,
}

/// What closures are made from.
#[repr(C)]
pub struct Definition {
    header: Header,
    /// The address by which bytecode calls the code.
    pub(crate) code: Cell<u64>,
    /// The number of the function.
    number: u32,
    /// The objects that the code refers to: constants, and definitions of inner functions.
    constants: RefCell<Vec<Gc<Header>>>,
    /// The layouts of which the code has the addresses and shapes.
    layouts: Vec<Rc<Layout>>,
    /// What else is known of the function.
    about: RefCell<Rc<dyn Any>>,
    /// Where its number is put when it is gone.
    gone: Rc<RefCell<Vec<u32>>>,
}

impl Drop for Definition {
    fn drop(&mut self) {
        self.gone.borrow_mut().push(self.number);
    }
}

/// A function of Rust. Its upvalues follow.
#[repr(C)]
pub struct Native {
    /// Its length is the number of upvalues.
    header: Header,
    /// The address of the Rust function.
    pub(crate) function: u64,
    /// Its name, for messages.
    pub(crate) name: &'static str,
    /// What `getfenv` gives.
    pub(crate) environment: Cell<Gc<Table>>,
    /// By the number of arguments: the quick functions for it.
    quick: Cell<[Option<Quick>; 3]>,
}

/// A function for a few arguments of the right types, which bytecode calls without frames.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Quick {
    /// Its address, if it is not one of those that templates compute. It takes the machine and the arguments.
    pub(crate) address: u64,
    /// What it is to calls: see [`CallCase::kind`](crate::run::cases::CallCase::kind).
    pub(crate) kind: u32,
}

/// A variable that closures share.
#[repr(C)]
pub struct VarCell {
    header: Header,
    /// Its value.
    pub(crate) value: Cell<Value>,
}

/// Values in a row, such as the arguments behind a function's parameters. They follow.
#[repr(C)]
pub struct Pack {
    /// Its length is their number.
    header: Header,
}

/// A value of Rust.
#[repr(C)]
pub struct Userdata {
    header: Header,
    pub(crate) metatable: Cell<Option<Gc<Table>>>,
    pub(crate) environment: Cell<Option<Gc<Table>>>,
    /// The value; `None` once it was taken.
    pub(crate) value: Box<dyn Any>,
}

/// The flag of userdata whose finalizers are to run, or have run.
const FINALIZED: u16 = 1;

/// The flag of userdata that the collector looks at when nothing refers to them.
const LISTED: u16 = 2;

/// The values that follow an object.
///
/// # Safety
///
/// As many as its header says must follow.
unsafe fn behind<T>(object: &T, header: &Header) -> &'static [Cell<Value>] {
    // SAFETY: the caller guarantees it.
    unsafe { std::slice::from_raw_parts(std::ptr::from_ref(object).add(1).cast(), header.len.get() as usize) }
}

/// Up to so many values are moved in a loop.
const FEW: usize = 8;

/// Moves values up by some places: so many are at this address. Mostly they are few, as in [`copy_values`].
///
/// # Safety
///
/// There must be room for them.
#[inline(always)]
pub(crate) unsafe fn move_values(at: *mut Value, count: usize, by: usize) {
    // SAFETY: the caller guarantees it.
    unsafe {
        if count > FEW {
            return at.copy_to(at.add(by), count);
        }
        (0..count).rev().for_each(|value| at.add(value + by).write_volatile(at.add(value).read()));
    }
}

/// Copies values to memory that is not theirs. Mostly they are few: then a loop is quicker than a call of C's `memcpy`.
///
/// # Safety
///
/// There must be room for so many.
#[inline(always)]
pub(crate) unsafe fn copy_values(from: &[Value], to: *mut Value) {
    // SAFETY: the caller guarantees it.
    unsafe {
        match *from {
            [] => {}
            [a] => to.write(a),
            [a, b] => to.cast::<[Value; 2]>().write([a, b]),
            _ if from.len() > FEW => to.copy_from_nonoverlapping(from.as_ptr(), from.len()),
            _ => {
                for (at, value) in from.iter().enumerate() {
                    // Volatile, because the compiler makes that call of all other loops.
                    to.add(at).write_volatile(*value);
                }
            }
        }
    }
}

fn trace_all(values: &[Cell<Value>], marker: &mut Marker<'_>) -> usize {
    values.iter().for_each(|value| marker.value(value.get()));
    size_of_val(values)
}

impl Closure {
    /// The upvalues: values, or cells as values.
    pub(crate) fn upvalues(&self) -> &[Cell<Value>] {
        // SAFETY: they were made with the object.
        unsafe { behind(self, &self.header) }
    }

    pub(crate) fn trace(&self, marker: &mut Marker<'_>) -> usize {
        marker.object(self.environment.get().header());
        marker.object(self.definition.header());
        size_of::<Self>() + trace_all(self.upvalues(), marker)
    }
}

impl Native {
    /// Adds a quick function for so many arguments.
    pub(crate) fn add_quick(&self, arguments: usize, quick: Quick) {
        let mut all = self.quick.get();
        all[arguments - 1] = Some(quick);
        self.quick.set(all);
    }

    /// The quick function for so many arguments, if there is one.
    pub(crate) fn quick(&self, arguments: usize) -> Option<Quick> {
        self.quick.get().get(arguments.checked_sub(1)?).copied()?
    }
}

impl Definition {
    /// What else is known of the function.
    pub(crate) fn about(&self) -> Rc<dyn Any> {
        self.about.borrow().clone()
    }

    pub(crate) fn trace(&self, marker: &mut Marker<'_>) -> usize {
        let constants = self.constants.borrow();
        constants.iter().for_each(|constant| marker.object(*constant));
        self.layouts.iter().for_each(|layout| marker.shape(layout.shape));
        size_of::<Self>() + size_of_val(&constants[..])
    }
}

impl Native {
    /// The upvalues.
    pub(crate) fn upvalues(&self) -> &[Cell<Value>] {
        // SAFETY: they were made with the object.
        unsafe { behind(self, &self.header) }
    }

    pub(crate) fn trace(&self, marker: &mut Marker<'_>) -> usize {
        marker.object(self.environment.get().header());
        size_of::<Self>() + trace_all(self.upvalues(), marker)
    }
}

impl VarCell {
    pub(crate) fn trace(&self, marker: &mut Marker<'_>) -> usize {
        marker.value(self.value.get());
        size_of::<Self>()
    }
}

impl Pack {
    /// The values. Nobody changes them once they are there.
    pub(crate) fn plain_values(&self) -> &[Value] {
        let values = self.values();
        // SAFETY: a cell is what it has, and nobody writes to these.
        unsafe { std::slice::from_raw_parts(values.as_ptr().cast(), values.len()) }
    }

    /// The values as the collector looks at them.
    pub(crate) fn values(&self) -> &[Cell<Value>] {
        // SAFETY: they were made with the object.
        unsafe { behind(self, &self.header) }
    }

    pub(crate) fn trace(&self, marker: &mut Marker<'_>) -> usize {
        size_of::<Self>() + trace_all(self.values(), marker)
    }
}

impl Userdata {
    /// Whether the collector has found that nothing refers to it.
    pub(crate) fn is_finalized(&self) -> bool {
        self.header.has(FINALIZED)
    }

    pub(crate) fn set_finalized(&self) {
        self.header.set(FINALIZED);
    }

    /// Notes that the collector looks at it when nothing refers to it; returns whether it did not before.
    pub(super) fn join_finalizers(&self) -> bool {
        !self.header.has(LISTED) && {
            self.header.set(LISTED);
            true
        }
    }

    /// Notes that the collector does not look at it any more.
    pub(super) fn leave_finalizers(&self) {
        self.header.flags.set(self.header.flags.get() & !LISTED);
    }

    pub(crate) fn trace(&self, marker: &mut Marker<'_>) -> usize {
        [&self.metatable, &self.environment].iter().filter_map(|table| table.get()).for_each(|table| {
            marker.object(table.header());
        });
        if let Some(traced) = self.value.downcast_ref::<Box<dyn Trace>>() {
            traced.trace(marker);
        }
        size_of::<Self>()
    }
}

impl Heap {
    /// Makes an object with values behind it.
    #[inline(always)]
    pub(crate) fn with_values<T>(
        &mut self,
        kind: ObjectKind,
        values: &[Value],
        make: impl FnOnce(Header) -> T,
    ) -> Gc<T> {
        let memory = self.allocate(size_of::<T>() + size_of_val(values));
        // SAFETY: there is so much memory.
        unsafe {
            memory.cast::<T>().write(make(Header::new(kind, self.white(), values.len() as u32)));
            let first: *mut Value = memory.add(size_of::<T>()).cast();
            copy_values(values, first);
            Gc::of(memory.cast())
        }
    }

    /// A function of Lua.
    pub(crate) fn closure(
        &mut self,
        definition: Gc<Definition>,
        environment: Gc<Table>,
        upvalues: &[Value],
    ) -> Gc<Closure> {
        let (code, environment) = (definition.code.clone(), Cell::new(environment));
        self.with_values(ObjectKind::Closure, upvalues, |header| Closure {
            header,
            code,
            definition,
            environment,
        })
    }

    /// What closures are made from: the number of a function, the address of its code, and the objects that this refers to.
    pub(crate) fn definition(
        &mut self,
        (number, code): (u32, u64),
        (constants, layouts): (Vec<Gc<Header>>, Vec<Rc<Layout>>),
        about: Rc<dyn Any>,
    ) -> Gc<Definition> {
        let gone = self.gone.clone();
        let made = self.with_values(ObjectKind::Definition, &[], |header| Definition {
            header,
            code: Cell::new(code),
            number,
            constants: RefCell::new(constants),
            layouts,
            about: RefCell::new(about),
            gone,
        });
        let at = number as usize;
        self.definitions.resize(self.definitions.len().max(at + 1), None);
        self.definitions[at] = Some(made);
        made
    }

    /// Lets a definition refer to one object more.
    pub(crate) fn keep_with(&mut self, definition: Gc<Definition>, object: Gc<Header>) {
        definition.constants.borrow_mut().push(object);
        self.again(definition.header());
    }

    /// The definition of the function that has a number; `None` if it is gone.
    pub(crate) fn definition_of(&self, number: u32) -> Option<Gc<Definition>> {
        self.definitions.get(number as usize).copied()?
    }

    /// Lets closures that are made from a definition from now on have the code of another one, and what is known of that.
    pub(crate) fn redefine(&mut self, definition: Gc<Definition>, other: Gc<Definition>) {
        self.keep_with(definition, other.header());
        definition.code.set(other.code.get());
        definition.about.replace(other.about());
    }

    /// Lets closures that are there have other code: by the address that they have, the one that they get.
    pub(crate) fn change_code(&mut self, changes: &HashMap<u64, u64>) {
        self.blocks.each(|object| {
            // SAFETY: the object is there. If nothing refers to it any more, its memory is as it was.
            unsafe {
                if (*object).kind() == ObjectKind::Closure {
                    let code = &(*object.cast::<Closure>()).code;
                    changes.get(&code.get()).into_iter().for_each(|new| code.set(*new));
                }
            }
        });
    }

    /// The numbers of the functions whose definitions are gone since the last time.
    pub(crate) fn take_gone(&mut self) -> Vec<u32> {
        let gone = self.gone.take();
        gone.iter().for_each(|number| self.definitions[*number as usize] = None);
        gone
    }

    /// A function of Rust.
    pub(crate) fn native(
        &mut self,
        (name, function): (&'static str, u64),
        environment: Gc<Table>,
        upvalues: &[Value],
    ) -> Gc<Native> {
        let environment = Cell::new(environment);
        self.with_values(ObjectKind::Native, upvalues, |header| Native {
            header,
            function,
            name,
            environment,
            quick: Cell::default(),
        })
    }

    /// A variable that closures share.
    pub(crate) fn cell(&mut self, value: Value) -> Gc<VarCell> {
        self.with_values(ObjectKind::Cell, &[], |header| VarCell { header, value: Cell::new(value) })
    }

    /// Values in a row.
    pub(crate) fn pack(&mut self, values: &[Value]) -> Gc<Pack> {
        self.with_values(ObjectKind::Pack, values, |header| Pack { header })
    }

    /// A value of Rust.
    pub(crate) fn userdata(&mut self, value: Box<dyn Any>) -> Gc<Userdata> {
        let (metatable, environment) = (Cell::new(None), Cell::new(None));
        self.charge(size_of_val(&*value));
        self.with_values(ObjectKind::Userdata, &[], |header| Userdata {
            header,
            metatable,
            environment,
            value,
        })
    }
}
