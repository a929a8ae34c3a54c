//! What the collector starts from.
//!
//! In: a program, and the frames of its functions. Out: the heap, and all else that refers to objects. Holds: what code of Rust keeps
//! across a step of the collector is here, or in registers of frames.

use super::handles::Handles;
use super::vm::Vm;
use crate::object::heap::{Gc, Header, Heap, Marker, Trace};
use crate::object::thread::{Thread, running};
use crate::object::value::Value;
use crate::run::hooks::Hooks;
use crate::run::levels::{Activation, trace_activations};
use azulejo::Frames;
use std::cell::RefCell;

/// What the collector starts from.
pub(crate) struct Roots<'a> {
    frames: &'a Frames<'a>,
    values: [&'a [Value]; 2],
    single: [Value; 6],
    handlers: &'a [Option<Value>],
    handles: &'a RefCell<Handles>,
    hooks: &'a Hooks,
    running: *const Activation,
    objects: Vec<Gc<Header>>,
    coroutine: Option<Gc<Thread>>,
}

impl<'a> Roots<'a> {
    /// The heap of a program, and what refers to its objects.
    pub(crate) fn of(vm: &'a mut Vm, frames: &'a Frames<'a>) -> (&'a mut Heap, Roots<'a>) {
        let tables = vm.metatables.iter().flatten().chain(vm.package.iter()).chain(&vm.registry);
        let tables = tables.chain(vm.rust_types.values()).chain([&vm.globals]);
        let objects = tables.map(|table| table.header()).collect();
        // What was gathered is in registers by now.
        let roots = Roots {
            frames,
            values: [vm.results.behind(), &vm.roots],
            single: [vm.error, vm.next, vm.each_pair, vm.each_index, vm.outside, vm.notes],
            handlers: &vm.handlers,
            handles: &vm.handles,
            hooks: &vm.hooks,
            running: vm.running,
            objects,
            coroutine: vm.coroutine,
        };
        (&mut vm.heap, roots)
    }
}

impl Trace for Roots<'_> {
    fn trace(&self, marker: &mut Marker<'_>) {
        let values = self.values.into_iter().flatten().chain(&self.single);
        values.chain(self.handlers.iter().flatten()).for_each(|value| marker.value(*value));
        self.handles.borrow().values().iter().for_each(|value| marker.value(*value));
        self.objects.iter().for_each(|object| marker.object(*object));
        for thread in running(self.coroutine) {
            marker.object(thread.header());
            // Those of its resumer, which it may have got since it was traced.
            thread.each_handler(|handler| marker.value(handler));
        }
        self.hooks.trace(marker);
        trace_activations(self.running, marker);
        trace_frames(self.frames, marker);
    }
}

/// Marks what frames have, and what their code refers to.
pub(crate) fn trace_frames(frames: &Frames<'_>, marker: &mut Marker<'_>) {
    for frame in frames.iter() {
        // The register of the closure may be dead.
        marker.frame(frame.function().number(), frame.registers().map(|(_, bits)| Value(bits)));
    }
}
