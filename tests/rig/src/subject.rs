//! The machines whose code the rig runs.
//!
//! In: what differs between them. Out: [`Subject`], by which the rest of the rig knows a machine: ways to compile, tiles, and how
//! code is entered by a caller that looks what it gets back.

use crate::compare::{USUAL, WAYS, Way};
use crate::enter;
use crate::machine::{Op, natives};
use crate::reached::COUNTED;
use crate::ties::SHUFFLED;
use azulejo::x64::{self, Features, X64};
use azulejo_code::emit::{Backend, Set};
use azulejo_code::status::RawStatus;
use azulejo_core::target::{RegSet, RegisterFile};
use azulejo_toy::regs::{self, F0, F1, F2, X0, X1, X2, X3, X4};
use azulejo_toy::{TOY, natives as toy_natives};

/// A machine as the rig knows it.
pub trait Subject: Backend {
    /// Every way to compile for it.
    const WAYS: &'static [Way];

    /// Its tiles, as a way has them.
    fn set(way: &Way) -> &'static Set<Self>;

    /// The features of this processor.
    fn features() -> u32;

    /// Whether accesses may fault in code for it.
    const MAY_FAULT: bool;

    /// Is told once before code is run.
    fn prepare() {}

    /// Enters code as a caller that looks what of its own was changed.
    ///
    /// # Safety
    ///
    /// As for [`Backend::enter`].
    unsafe fn enter_closely(
        entry: *const u8,
        context: *mut (),
        frame: *mut u64,
        third: *const (),
    ) -> Result<RawStatus, &'static str>;
}

impl Subject for x64::Emitter {
    const WAYS: &'static [Way] = &WAYS;
    const MAY_FAULT: bool = true;

    fn set(way: &Way) -> &'static Set<Self> {
        if way.has_other_ties { &SHUFFLED.set } else { &X64 }
    }

    fn features() -> u32 {
        Features::detect().bits()
    }

    unsafe fn enter_closely(
        entry: *const u8,
        context: *mut (),
        frame: *mut u64,
        third: *const (),
    ) -> Result<RawStatus, &'static str> {
        // SAFETY: the caller promises it.
        unsafe { enter::enter(entry, context, frame, third) }
    }
}

/// As few registers of the toy as tiles and calls want by name, and three for floats.
static FEW_OF_TOY: RegisterFile = RegisterFile {
    int: &[X0, X1, X2, X3, X4],
    float: &[F0, F1, F2],
    callee_saved: RegSet::EMPTY,
    ..regs::REGISTERS
};

const OF_TOY: Way =
    Way { name: "optimizer of the toy", registers: &regs::REGISTERS, has_features: false, ..USUAL };

impl Subject for azulejo_toy::Emitter {
    const WAYS: &'static [Way] = &[
        OF_TOY,
        Way {
            name: "optimizer of the toy with few registers",
            registers: &FEW_OF_TOY,
            rules: &COUNTED,
            ..OF_TOY
        },
        Way {
            name: "optimizer of the toy with chaos",
            has_chaos: true,
            may_stop: true,
            has_fuel: true,
            ..OF_TOY
        },
        Way { name: "optimizer of the toy without rules", rules: &[], ..OF_TOY },
        Way { name: "optimizer of the toy for calls", is_called: true, ..OF_TOY },
        Way {
            name: "optimizer of the toy for calls with few registers, chaos and limits",
            is_called: true,
            registers: &FEW_OF_TOY,
            has_chaos: true,
            has_limits: true,
            ..OF_TOY
        },
        Way { name: "baseline of the toy", is_baseline: true, ..OF_TOY },
        Way { name: "baseline of the toy that may be stopped", is_baseline: true, may_stop: true, ..OF_TOY },
        Way { name: "interpreter of the toy", is_interpreted: true, ..OF_TOY },
        Way {
            name: "interpreter of the toy with fuel",
            is_interpreted: true,
            may_stop: true,
            has_fuel: true,
            ..OF_TOY
        },
    ];
    const MAY_FAULT: bool = false;

    fn set(_: &Way) -> &'static Set<Self> {
        &TOY
    }

    fn features() -> u32 {
        0
    }

    fn prepare() {
        toy_natives::learn_templates::<Op>();
        natives()
            .into_iter()
            .for_each(|(address, signature)| toy_natives::learn_function(address, signature));
    }

    unsafe fn enter_closely(
        entry: *const u8,
        context: *mut (),
        frame: *mut u64,
        third: *const (),
    ) -> Result<RawStatus, &'static str> {
        // The simulator looks itself, and panics.
        // SAFETY: the caller promises it.
        Ok(unsafe { Self::enter(entry, context, frame, third) })
    }
}
