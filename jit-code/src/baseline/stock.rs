//! The stencils of one bytecode, shared by all compilers of the process that make the same choices.
//!
//! In: all that stencils depend on ([`Key`]), and stencils as they are made. Out: a [`Stock`], in which they are numbered. A
//! stencil contains nothing that belongs to one engine: such a value is a hole, filled when the stencil is copied. So the first
//! engine that needs a stencil makes it, and all others find it here.
//!
//! - A compiler reads its stock without a lock: a stock never changes while another compiler reads it. A compiler that adds to
//!   a stock with other readers adds to a copy, and the readers get the copy when they miss a stencil.
//! - Numbers never change: a stock only grows, and there is one growing at a time for each key.
//! - The lock is held to add a stencil or to fetch the additions of others, never while a stencil is made. A thread that holds
//!   it waits for no other lock of this crate.
//! - A stock lives as long as the process: the next engine needs it. There are as many as the program has types of bytecode and
//!   ways to compile them, so their number does not grow with time.

use super::opcodes::Opcodes;
use super::operand::Operand;
use super::pack::{Packed, PackedStencil, StencilId, TableId};
use super::plan::Missing;
use crate::emit::{Backend, Options, Set};
use crate::machine::Machine;
use crate::memory::fork;
use crate::memory::reach::Reach;
use crate::saved::{self, Image, KeyOf};
use crate::stencil::Stencil;
use azulejo_core::ir::bytecode::Bytecode;
use azulejo_core::ir::template::Template;
use azulejo_core::pass::Target;
use azulejo_core::pass::build::Linkage;
use azulejo_core::target::RegSet;
use core::any::TypeId;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Stencils, and the facts of their opcodes.
#[derive(Clone, Debug)]
pub(super) struct Stock {
    pub(super) opcodes: Opcodes,
    pub(super) packed: Packed,
    /// The most bytes of the machine's stack that any stencil uses.
    pub(super) room: u32,
    /// The callee-saved registers that stencils use.
    pub(super) saved: RegSet,
}

/// All that stencils depend on. Whatever the key holds the address of lives as long as the process.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Key {
    bytecode: TypeId,
    templates: (usize, usize),
    tiles: usize,
    rules: (usize, usize),
    registers: usize,
    features: u32,
    checks: bool,
    options: Options,
    /// The functions of this crate that stencils call.
    callees: [u64; 3],
}

fn address<T>(of: &'static T) -> usize {
    core::ptr::from_ref(of).addr()
}

fn addresses<T>(of: &'static [T]) -> (usize, usize) {
    (of.as_ptr().addr(), of.len())
}

impl Key {
    pub(crate) fn of<B: Bytecode>(
        templates: &'static [&'static Template],
        target: &Target<'static>,
        set: &'static Set<impl Backend>,
        options: &Options,
        functions: &Linkage<'_>,
    ) -> Key {
        let Linkage { set_tail_call, begin_tail_call, caught, .. } = *functions;
        Key {
            bytecode: TypeId::of::<B>(),
            templates: addresses(templates),
            tiles: address(set),
            rules: addresses(target.rules),
            registers: address(target.registers),
            features: target.features,
            checks: target.check,
            options: options.clone(),
            callees: [set_tail_call, begin_tail_call, caught],
        }
    }

    /// The type of bytecode.
    pub(super) fn bytecode(&self) -> TypeId {
        self.bytecode
    }

    /// What the keys begin with by which code is saved that depends on this. `None` if it cannot be saved: if its memory, which has this
    /// reach, is not near the program.
    pub(crate) fn saved<'a>(&self, image: &'a Image, reach: &Reach) -> Option<KeyOf<'a>> {
        let Key { bytecode, templates, tiles, rules, registers, features, checks, ref options, callees } =
            *self;
        let Options { reach: _, frame_pointers, backtraces } = *options;
        let list = |key: KeyOf<'a>, (start, len): (usize, usize)| {
            key.value(len).address_or_none(if len > 0 { start as u64 } else { 0 })
        };
        let key = KeyOf::new(image).value(bytecode).address(tiles as u64).address(registers as u64);
        let key = list(list(key, templates), rules);
        let key = callees.iter().fold(key, |key, callee| key.address_or_none(*callee));
        let is_near = image.ends().iter().all(|end| reach.covers(*end));
        is_near.then(|| key.value((features, checks, frame_pointers, backtraces)))
    }
}

/// A stock for each key in use. An entry keeps its index.
static ALL: Mutex<Vec<(Key, Arc<Stock>)>> = Mutex::new(Vec::new());

fn all() -> MutexGuard<'static, Vec<(Key, Arc<Stock>)>> {
    // A stencil gets its number only after it has been added, so a panic leaves the stock consistent.
    ALL.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A compiler's hold on the stencils of one key.
#[derive(Debug)]
pub(super) struct Shelf {
    pub(super) key: Key,
    /// The key's index in `ALL`; none if this compiler shares no stencils.
    place: Option<usize>,
    /// The stock; absent only while it is being changed.
    stock: Option<Arc<Stock>>,
    /// What the keys begin with by which its stencils are saved, if they are.
    pub(super) saved: Option<KeyOf<'static>>,
}

impl Shelf {
    /// Stencils that other compilers share.
    pub(super) fn shared<B: Bytecode>(key: Key, machine: &'static Machine) -> Shelf {
        // A thread takes the lock only after this call, since it needs a shelf first.
        fork::protect(&ALL);
        let mut all = all();
        let place = all.iter().position(|(known, _)| *known == key).unwrap_or(all.len());
        if place == all.len() {
            all.push((key.clone(), Arc::new(Stock::of::<B>(machine))));
        }
        let stock = Arc::clone(&all[place].1);
        let saved = saved::image().and_then(|image| key.saved(image, &key.options.reach));
        Shelf { key, place: Some(place), stock: Some(stock), saved }
    }

    /// Stencils that no other compiler shares.
    pub(super) fn own<B: Bytecode>(key: Key, machine: &'static Machine) -> Shelf {
        Shelf { key, place: None, stock: Some(Arc::new(Stock::of::<B>(machine))), saved: None }
    }

    pub(super) fn is_for(&self, key: &Key, shares: bool) -> bool {
        self.key == *key && self.place.is_some() == shares
    }

    pub(super) fn stock(&self) -> &Stock {
        self.stock.as_ref().expect("nobody looks while it is changed")
    }

    /// Fetches the additions of other compilers; returns whether there are any.
    pub(super) fn look_again(&mut self) -> bool {
        let Some(place) = self.place else { return false };
        let newest = Arc::clone(&all()[place].1);
        let is_newer = !Arc::ptr_eq(&newest, self.stock.as_ref().expect("as above"));
        self.stock = Some(newest);
        is_newer
    }

    /// Adds to the newest stock, which may hold more than this compiler has seen.
    pub(super) fn add(&mut self, add: impl FnOnce(&mut Stock)) {
        let Some(place) = self.place else {
            return add(Arc::make_mut(self.stock.as_mut().expect("as above")));
        };
        let mut all = all();
        // The stock is copied only if other compilers read it.
        self.stock = None;
        add(Arc::make_mut(&mut all[place].1));
        self.stock = Some(Arc::clone(&all[place].1));
    }
}

impl Stock {
    fn of<B: Bytecode>(machine: &'static Machine) -> Stock {
        let (opcodes, packed) = (Opcodes::of::<B>(), Packed::of(machine));
        Stock { opcodes, packed, room: 0, saved: RegSet::EMPTY }
    }

    /// Whether the stock has this stencil by now.
    pub(super) fn has(&self, missing: Missing) -> bool {
        match missing.no_store_of {
            Some(of) => self.packed.stencils[of.at()].no_store != PackedStencil::UNKNOWN,
            None => self.opcodes.has(missing),
        }
    }

    /// Adds a stencil that was missing, unless another compiler has added it first.
    pub(super) fn set(&mut self, missing: Missing, stencil: &Stencil) {
        if self.has(missing) {
            return;
        }
        let detail = &mut self.opcodes.details[missing.opcode];
        let (operands, table) = (core::mem::take(&mut detail.operands), detail.table);
        let number = self.add(stencil, &operands, table);
        self.opcodes.details[missing.opcode].operands = operands;
        match missing.no_store_of {
            None => self.opcodes.set(missing, stencil, number, &self.packed),
            Some(of) => {
                let stencils = &mut self.packed.stencils;
                let [is_listed, is_to_be] = [of, number].map(|one| stencils[one.at()].has_more_to_do());
                // The variant fits if its bytecodes are on the plan's list already, or need not be on it.
                let fits = is_listed || !is_to_be;
                stencils[of.at()].no_store = if fits { number } else { PackedStencil::NONE };
            }
        }
    }

    /// Adds a stencil of an opcode with these operands and this table, and returns its number.
    pub(super) fn add(&mut self, stencil: &Stencil, operands: &[Operand], table: TableId) -> StencilId {
        self.room = self.room.max(stencil.frame_bytes);
        self.saved = self.saved.union(stencil.saved);
        self.packed.add(stencil, operands, table)
    }
}
