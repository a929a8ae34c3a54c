//! Calls that observe, and `(frames)`, by which a function that such a call is of finds the frames of all that wait for a call.
//!
//! In: the arguments of a call. Out: a [`Typed`] tree for `(frames)`, or an error: only a function that is named, without a convention,
//! in a call that `observes`, can have the frames. A number for each call that observes, by which the frame says where it waits.

use super::ast::{Kind, Typed};
use super::check::{Checked, Checker, fail, wrong_count};
use super::signs::Sign;
use crate::place::Place;
use crate::sexpr::Sexpr;
use azulejo_core::ir::graph::Effect;
use azulejo_core::vocab::{Scalar, Type};

impl Checker<'_> {
    /// The number of a call with this effect, if it observes.
    pub(super) fn shown(&mut self, effect: Effect) -> Option<u32> {
        let number = (effect == Effect::Observes).then_some(self.n_shown);
        self.n_shown = self.n_shown.wrapping_add(number.is_some() as u32);
        number
    }

    /// Checks `(frames)`, if an argument of a call is that. `is_native` says that a native function is called, which makes `Frames` of it.
    pub(super) fn frames_passed(
        &mut self,
        [written, ty]: [&Sexpr; 2],
        effect: Effect,
        is_native: bool,
    ) -> Checked<Option<Typed>> {
        let Sexpr::List(parts, place) = written else { return Ok(None) };
        let (place, [head, rest @ ..]) = (*place, &parts[..]) else { return Ok(None) };
        if head.word() != Some("frames") {
            return Ok(None);
        }
        if !rest.is_empty() {
            return wrong_count(place, "frames", "nothing", rest);
        }
        if self.scalar(ty)? != Scalar::Ptr {
            return fail(ty.place(), "frames are passed as `ptr`: `(carg (frames) ptr)`");
        }
        if !is_native {
            let message =
                "a function takes `Frames`, which are made on the way: name it, without a convention";
            return fail(place, message);
        }
        if effect != Effect::Observes {
            let message = "the frames are there for a function that observes: `(call observes function …)`";
            return fail(place, message);
        }
        let (ty, sign) = (Type::I64, Sign::Unsigned);
        Ok(Some(Typed { kind: Kind::Frames, ty, sign, leaves: false, is_loose: false, place }))
    }

    /// Checks that no output is passed beside the frames: it is in one of them, and written through both.
    pub(super) fn goes_with_frames(&self, passed: &[(Typed, Scalar)]) -> Checked<()> {
        let has_frames = passed.iter().any(|(arg, _)| matches!(arg.kind, Kind::Frames));
        let output = passed.iter().find(|(arg, _)| matches!(arg.kind, Kind::Place(_)));
        match output {
            Some((output, _)) if has_frames => fail(
                output.place,
                "a function that has the frames finds its caller's outputs there: pass no `(place …)`",
            ),
            _ => Ok(()),
        }
    }
}

/// The error for `(frames)` that is no argument of a call.
pub(super) fn no_value<T>(place: Place) -> Checked<T> {
    fail(place, "the frames are an argument of a function that observes: `(carg (frames) ptr)`")
}
