//! Inlining: which calls of a function become part of its code, and where the bytecodes of the callees are.
//!
//! In: a function, and other functions that it may call. Out: one list of bytecodes, in which those of a callee follow the call, and those
//! of a function that is inlined there again follow that call. A place in this list stands for a bytecode in all that `build` does.
//! So liveness, loops, guards and exits know nothing of inlined functions; they only ask which [place follows](InlinePlan::next), and whose
//! bytecode one is. Each inlined call has registers of its own, behind those of all others.
//!
//! A callee needs no frame of its own: its registers are values. What has to be in memory is not inlined, but for frames that are shown to
//! calls which observe. These, each as long as the callee's own would be, stand in the machine's frame of the function in which all is inlined.
//! A callee must be small, the smaller the deeper it is, and no function is inlined in itself more than once. The callee of a tail call takes
//! the place of its caller, which must be inlined itself: it returns to where that was called. What a callee needs for its own calls is
//! known when the functions that these call have been tried: if it is too much, it is taken out again.

use super::calls::{CallSite, FrameNeed, TemplateCalls};
use super::candidate::{KnownCallee, LARGEST, MOST_SLOTS, can_be_inlined};
use super::decode::name_stack_slots;
use super::invoke::MAX_ARGUMENTS;
use super::known_steps::steps_of_bytecode;
use super::{CallEntry, FunctionSource};
use crate::ir::bytecode::{OperandInfo, OperandKind, Raw};
use crate::ir::inlining::{InlineRefusal, InlinedFrame, Inlining, RefusedCall};
use crate::verify::Shape;
use crate::vocab::Type;

/// How many bytecodes a callee that makes calls which remain has at most, by depth: each takes its code and its frame's, to save one call of several.
const LARGEST_SHOWN: [usize; 4] = [11, 6, 4, 4];

/// How many bytecodes of others a function gets at most.
const MOST: usize = 240;

/// What is planned for one frame.
#[derive(Clone, Copy, Debug)]
struct PlannedCall {
    /// The callee, by its number in the source's list.
    callee: u32,
    /// The frame that makes the call, the step of its template, and the place of the callee's first bytecode.
    maker: u32,
    step: u32,
    first: u32,
    /// The place of the call that returns when the callee does: for a tail call, that of the frame whose place it takes.
    returns: u32,
    /// Where the places of the callee's bytecodes start in the list, how many there are, and where its labels start.
    places: u32,
    len: u32,
    labels: u32,
    /// The next call of the same bytecode that is inlined; 0 if there is none.
    next: u32,
}

/// The calls that are inlined. Empty if there are none.
#[derive(Debug, Default)]
pub(super) struct InlinePlan {
    pub(super) inlining: Inlining,
    /// By frame.
    calls: Vec<PlannedCall>,
    /// By frame and bytecode: the place.
    places: Vec<u32>,
    /// By place: whether its slow path is left out. That may run meanwhile, so it is asked once.
    lacks_slow_path: Vec<bool>,
    /// By place: the first of the calls that are inlined there; 0 if there is none.
    first_call: Vec<u32>,
    /// The targets of `Labels` operands of all frames, as places.
    labels: Vec<u32>,
    /// The places at which the function calls itself in its own place, in order: see [`repeats`](InlinePlan::repeats).
    repeats: Vec<u32>,
    /// How many registers there are in all.
    slots: u32,
    /// How many places belong to inlined calls.
    n_inlined: usize,
    /// Whether frames of inlined calls can be shown.
    can_show: bool,
    /// By callee: the least depth at which it turned out to need a frame. It is not tried there again, nor deeper.
    refused_at: Vec<usize>,
    pub(super) templates: TemplateCalls,
}

/// How much of a plan there was before a frame was added.
#[derive(Clone, Copy)]
struct Before {
    frames: usize,
    places: usize,
    bytecodes: usize,
    labels: usize,
    slots: u32,
    n_inlined: usize,
    shown_slots: u32,
    refused: usize,
}

impl InlinePlan {
    /// Decides what is inlined in a function.
    pub(super) fn make(&mut self, source: &FunctionSource<'_>) {
        self.clear();
        self.slots = source.slots;
        if source.callees.is_empty() {
            self.decide_alone(source);
        } else {
            self.decide_with_callees(source);
        }
        self.find_repeats(source);
    }

    /// Decides what is inlined in a function that may call others.
    fn decide_with_callees(&mut self, source: &FunctionSource<'_>) {
        let own = InlinedFrame {
            function: u32::MAX,
            cell: 0,
            first_register: 0,
            slots: source.slots,
            caller: 0,
            call: 0,
            shown: None,
            result: None,
        };
        let call = PlannedCall {
            callee: 0,
            maker: 0,
            step: 0,
            first: 0,
            returns: 0,
            places: 0,
            len: 0,
            labels: 0,
            next: 0,
        };
        self.refused_at.clear();
        self.refused_at.resize(source.callees.len(), usize::MAX);
        // Whoever has the frame's address sees all registers at each call that observes: nothing is shown beside them.
        let mut opcodes = (0..source.code.len()).map(|at| source.code.get(at).0);
        self.can_show = !opcodes.any(|opcode| self.templates.of(source, opcode).exposes);
        self.add_frame(source, own, call);
        if self.calls.len() == 1 {
            let refused = core::mem::take(&mut self.inlining.refused);
            self.clear();
            self.inlining.refused = refused;
            self.decide_alone(source);
        }
    }

    /// Decides which slow paths of a function are left out, in which nothing is inlined: liveness and the linker ask at different times.
    fn decide_alone(&mut self, source: &FunctionSource<'_>) {
        if source.slow_paths.is_some() {
            self.lacks_slow_path.extend((0..source.code.len()).map(|at| lacks_slow_path(source, at)));
        }
    }

    fn clear(&mut self) {
        self.inlining.clear();
        self.calls.clear();
        self.places.clear();
        self.lacks_slow_path.clear();
        self.first_call.clear();
        self.labels.clear();
        self.repeats.clear();
        self.n_inlined = 0;
    }

    /// Finds the tail calls by which a function that others call starts again, with as many arguments.
    fn find_repeats(&mut self, source: &FunctionSource<'_>) {
        let Some(CallEntry { cell, arguments, .. }) = source.call_entry else { return };
        for at in 0..source.code.len() {
            if source.depths.get(at) == Some(&Shape::UNREACHED) {
                continue;
            }
            let place = self.place_of(at);
            let (opcode, raws) = source.code.get(at);
            let lacks_slow_path = self.lacks_slow_path(place).unwrap_or(false);
            let is_own = |site: &CallSite| {
                let callee = site.callee.cell(source, &source.functions, &raws, lacks_slow_path);
                site.is_tail && site.given(&raws) == Some(arguments as usize) && callee == Some(cell)
            };
            if self.templates.of(source, opcode).sites.iter().any(is_own) {
                self.repeats.push(place as u32);
            }
        }
    }

    /// Whether the function starts again behind this place, on one way: a tail call of itself is a jump to its first bytecode.
    #[inline]
    pub(super) fn repeats(&self, place: usize) -> bool {
        self.repeats.binary_search(&(place as u32)).is_ok()
    }

    /// The last place at which it does.
    pub(super) fn last_repeat(&self) -> Option<u32> {
        self.repeats.last().copied()
    }

    /// Adds a frame, the places of its bytecodes, and what is inlined in it. Returns whether that is possible.
    fn add_frame(&mut self, source: &FunctionSource<'_>, frame: InlinedFrame, call: PlannedCall) -> bool {
        let number = self.calls.len() as u32;
        let (first, labels) = (self.places.len(), self.labels.len());
        let start = self.inlining.places.len() as u32;
        self.calls.push(PlannedCall { first: start, places: first as u32, labels: labels as u32, ..call });
        self.inlining.frames.push(frame);
        let owner = self.owner_of(source, number);
        self.calls[number as usize].len = owner.code.len() as u32;
        self.places.resize(first + owner.code.len(), 0);
        self.labels.extend_from_slice(owner.labels);
        for at in 0..owner.code.len() {
            let place = self.inlining.places.len();
            self.places[first + at] = place as u32;
            self.inlining.places.push((number, at as u32));
            self.lacks_slow_path.push(lacks_slow_path(owner, at));
            self.first_call.push(0);
            if owner.depths.get(at) != Some(&Shape::UNREACHED) {
                self.add_calls(source, owner, place);
                let need = if number > 0 { self.frame_need(owner, place) } else { FrameNeed::Nothing };
                let is_small = || owner.code.len() <= LARGEST_SHOWN[self.makers(number).count() - 1];
                match need {
                    FrameNeed::Nothing => {}
                    FrameNeed::ShownIfMade | FrameNeed::Shown
                        if self.can_show && (need == FrameNeed::ShownIfMade || is_small()) =>
                    {
                        self.inlining.shown_slots = self.slots - source.slots;
                    }
                    _ => return false,
                }
            }
        }
        for label in &mut self.labels[labels..labels + owner.labels.len()] {
            // No bytecode has been found to name one that leads nowhere.
            *label = self.places[first..].get(*label as usize).copied().unwrap_or(0);
        }
        true
    }

    /// What a bytecode needs, with the calls that are inlined there. Calls that are left out need nothing.
    fn frame_need(&mut self, owner: &FunctionSource<'_>, place: usize) -> FrameNeed {
        let (opcode, raws) = owner.code.get(self.inlining.places[place].1 as usize);
        let mut templates = core::mem::take(&mut self.templates);
        let lacks_slow_path = self.lacks_slow_path[place];
        let calls = templates.of(owner, opcode);
        let is_left_out = |step| {
            let is_it = |site: &&CallSite| site.step == step;
            let site = calls.sites.iter().find(is_it);
            site.is_some_and(|site| site.callee.has_no_case(owner, &raws, lacks_slow_path))
        };
        let is_inlined = |step| self.call_of(place, step).is_some() || is_left_out(step);
        let mut need = calls.needs_frame(lacks_slow_path, is_inlined);
        if need >= FrameNeed::Shown {
            let reached = steps_of_bytecode(owner, (opcode, calls), &raws, lacks_slow_path);
            need = calls.needs_frame(lacks_slow_path, |step| is_inlined(step) || !reached.contains(step));
        }
        self.templates = templates;
        need
    }

    fn before(&self) -> Before {
        let InlinePlan { inlining, places, labels, slots, n_inlined, .. } = self;
        let (frames, bytecodes) = (inlining.frames.len(), inlining.places.len());
        Before {
            frames,
            places: places.len(),
            bytecodes,
            labels: labels.len(),
            slots: *slots,
            n_inlined: *n_inlined,
            shown_slots: inlining.shown_slots,
            refused: inlining.refused.len(),
        }
    }

    /// Takes out what was added since.
    fn go_back(&mut self, before: Before) {
        let Before { frames, places, bytecodes, labels, slots, n_inlined, shown_slots, refused } = before;
        self.inlining.frames.truncate(frames);
        self.inlining.refused.truncate(refused);
        self.calls.truncate(frames);
        self.places.truncate(places);
        self.inlining.places.truncate(bytecodes);
        self.lacks_slow_path.truncate(bytecodes);
        self.first_call.truncate(bytecodes);
        self.labels.truncate(labels);
        (self.slots, self.n_inlined, self.inlining.shown_slots) = (slots, n_inlined, shown_slots);
    }

    /// Adds the frames of the calls of a bytecode that are inlined.
    fn add_calls(&mut self, source: &FunctionSource<'_>, owner: &FunctionSource<'_>, place: usize) {
        let (frame, at) = self.inlining.places[place];
        let (opcode, mut raws) = owner.code.get(at as usize);
        let info = &owner.opcodes[opcode];
        if self.templates.of(owner, opcode).sites.is_empty() {
            return;
        }
        let sites = self.templates.of(owner, opcode).sites.clone();
        if let Some(&depth) = owner.depths.get(at as usize) {
            name_stack_slots(owner, depth, info.operands, &mut raws[..info.operands.len()]);
        }
        let depth = self.makers(frame).count();
        let mut last = 0;
        // The function's own tail calls end it.
        for site in sites.into_iter().filter(|site| frame > 0 || !site.is_tail) {
            let lacks_slow_path = self.lacks_slow_path[place];
            let cell = site.callee.cell(owner, &source.functions, &raws, lacks_slow_path);
            let Some(callee) = source.callees.iter().position(|callee| Some(callee.cell) == cell) else {
                continue;
            };
            let KnownCallee { function, cell, .. } = source.callees[callee];
            let refused = |refusal| RefusedCall { function, caller: frame, call: at, refusal };
            let known = match self.inlinable(source, callee, frame, site.given(&raws)) {
                Ok(known) => known,
                Err(refusal) => {
                    self.inlining.refused.push(refused(refusal));
                    continue;
                }
            };
            let before = self.before();
            let child = self.calls.len() as u32;
            let maker = self.inlining.frames[frame as usize];
            let slots = known.slots;
            let new = InlinedFrame { function, cell, first_register: self.slots, slots, ..maker };
            let new = match site.is_tail {
                true => new,
                false => InlinedFrame {
                    caller: frame,
                    call: at,
                    shown: site.shown,
                    result: site
                        .result
                        .map(|operand| (raws[operand as usize] as u32 + maker.first_register, site.ret)),
                    ..new
                },
            };
            self.slots += slots;
            let call = PlannedCall {
                callee: callee as u32,
                maker: frame,
                step: site.step as u32,
                first: 0,
                returns: if site.is_tail { self.calls[frame as usize].returns } else { place as u32 },
                places: 0,
                len: 0,
                labels: 0,
                next: 0,
            };
            self.n_inlined += known.code.len();
            if !self.add_frame(source, new, call) {
                self.go_back(before);
                self.refused_at[callee] = depth;
                self.inlining.refused.push(refused(InlineRefusal::NeedsFrame));
                continue;
            }
            match last {
                0 => self.first_call[place] = child,
                last => self.calls[last as usize].next = child,
            }
            last = child;
        }
    }

    /// The callee with this number in the list, if a call with so many arguments is to be inlined in a frame.
    fn inlinable<'s>(
        &mut self,
        source: &'s FunctionSource<'_>,
        number: usize,
        frame: u32,
        given: Option<usize>,
    ) -> Result<&'s FunctionSource<'s>, InlineRefusal> {
        let callee = source.callees[number].source.as_ref().map_err(|refusal| *refusal)?;
        let depth = self.makers(frame).count();
        if depth >= self.refused_at[number] {
            return Err(InlineRefusal::NeedsFrame);
        }
        if self.makers(frame).any(|maker| maker == number) {
            return Err(InlineRefusal::Recursive);
        }
        let largest = *LARGEST.get(depth).ok_or(InlineRefusal::Deep)?;
        if callee.code.len() > largest {
            return Err(InlineRefusal::Long);
        }
        let (bytecodes, slots) = (self.n_inlined + callee.code.len(), self.slots + callee.slots);
        if bytecodes > MOST || slots > source.slots + MOST_SLOTS {
            return Err(InlineRefusal::Full);
        }
        let takes = |given: usize| given <= callee.most_arguments() as usize || callee.drops_surplus;
        if !given.is_some_and(|given| given <= MAX_ARGUMENTS && takes(given)) {
            return Err(InlineRefusal::Arguments);
        }
        match can_be_inlined(callee, &mut self.templates) {
            true => Ok(callee),
            false => Err(InlineRefusal::NeedsFrame),
        }
    }

    /// The functions, by their numbers in the list of callees, by whose calls control came to a frame, from its own on: also those whose
    /// place another has taken.
    fn makers(&self, frame: u32) -> impl Iterator<Item = usize> {
        let mut next = frame;
        core::iter::from_fn(move || {
            let PlannedCall { callee, maker, .. } = *self.calls.get(next as usize).filter(|_| next > 0)?;
            next = maker;
            Some(callee as usize)
        })
    }

    /// Whether nothing is inlined.
    #[inline(always)]
    pub(super) fn is_empty(&self) -> bool {
        self.calls.is_empty()
    }

    /// How many places there are.
    pub(super) fn len(&self, source: &FunctionSource<'_>) -> usize {
        if self.is_empty() { source.code.len() } else { self.inlining.places.len() }
    }

    /// How many registers there are in all.
    pub(super) fn slots(&self) -> u32 {
        self.slots
    }

    /// The frame of a place; 0 is the function's own.
    #[inline(always)]
    pub(super) fn frame(&self, place: usize) -> u32 {
        self.inlining.place(place as u32).0
    }

    /// The function that a frame is of.
    pub(super) fn owner_of<'s>(&self, source: &'s FunctionSource<'_>, frame: u32) -> &'s FunctionSource<'s> {
        match frame {
            0 => source,
            frame => {
                let callee = &source.callees[self.calls[frame as usize].callee as usize];
                callee.source.as_ref().expect("what is inlined may be")
            }
        }
    }

    /// The function that a place belongs to, and which of its bytecodes it is.
    #[inline(always)]
    pub(super) fn owner<'s>(
        &self,
        source: &'s FunctionSource<'_>,
        place: usize,
    ) -> (&'s FunctionSource<'s>, usize) {
        if self.is_empty() {
            return (source, place);
        }
        let (frame, at) = self.inlining.places[place];
        (self.owner_of(source, frame), at as usize)
    }

    /// Whether control cannot come to a place.
    #[inline(always)]
    pub(super) fn is_unreached(&self, source: &FunctionSource<'_>, place: usize) -> bool {
        let (owner, at) = self.owner(source, place);
        owner.depths.get(at) == Some(&Shape::UNREACHED)
    }

    /// The place of a bytecode of the function itself.
    #[inline(always)]
    pub(super) fn place_of(&self, at: usize) -> usize {
        if self.is_empty() { at } else { self.places[at] as usize }
    }

    /// The place of the bytecode that follows, if one does.
    #[inline(always)]
    pub(super) fn next(&self, place: usize) -> usize {
        if self.is_empty() {
            return place + 1;
        }
        let (frame, at) = self.inlining.places[place];
        let PlannedCall { places, len, .. } = self.calls[frame as usize];
        let places = &self.places[places as usize..][..len as usize];
        places.get(at as usize + 1).map_or(self.inlining.places.len(), |place| *place as usize)
    }

    /// Whether a place makes calls that are inlined.
    #[inline(always)]
    pub(super) fn has_calls(&self, place: usize) -> bool {
        !self.is_empty() && self.first_call[place] > 0
    }

    /// All inlined calls.
    pub(super) fn all_calls(&self) -> impl Iterator<Item = u32> + use<> {
        1..self.calls.len() as u32
    }

    /// The inlined calls that a place makes.
    #[inline(always)]
    pub(super) fn calls(&self, place: usize) -> impl Iterator<Item = u32> + use<'_> {
        let mut next = self.first_call.get(place).copied().unwrap_or(0);
        core::iter::from_fn(move || {
            let call = next;
            next = self.calls.get(call as usize).filter(|_| call > 0)?.next;
            Some(call)
        })
    }

    /// The inlined call that a step of a place's template makes.
    #[inline]
    pub(super) fn call_of(&self, place: usize, step: usize) -> Option<u32> {
        if self.is_empty() {
            return None;
        }
        self.calls(place).find(|call| self.calls[*call as usize].step as usize == step)
    }

    /// The place of the first bytecode of an inlined call.
    pub(super) fn first(&self, call: u32) -> usize {
        self.calls[call as usize].first as usize
    }

    /// The callee of an inlined call.
    pub(super) fn callee<'s>(&self, source: &'s FunctionSource<'_>, call: u32) -> &'s KnownCallee<'s> {
        &source.callees[self.calls[call as usize].callee as usize]
    }

    /// The registers of an inlined call.
    pub(super) fn registers(&self, call: u32) -> core::ops::Range<u32> {
        let InlinedFrame { first_register, slots, .. } = self.inlining.frames[call as usize];
        first_register..first_register + slots
    }

    /// Where control goes on when an inlined call returns, the register that gets the result, and the type that it is read as.
    pub(super) fn way_back(&self, call: u32) -> (usize, Option<(u32, Type)>) {
        let next = self.next(self.calls[call as usize].returns as usize);
        (next, self.inlining.frames[call as usize].result)
    }

    /// Whether calls of a place show the frame that a register belongs to: the place's own, or that of a caller whose call observes.
    pub(super) fn shows(&self, place: usize, register: u32) -> bool {
        if self.inlining.shown_slots == 0 {
            return self.inlining.frames.first().is_none_or(|own| register < own.slots);
        }
        let has_register = |frame: u32| {
            let InlinedFrame { first_register, slots, .. } = self.inlining.frames[frame as usize];
            (first_register..first_register + slots).contains(&register)
        };
        let frame = self.frame(place);
        has_register(frame)
            || self.inlining.around(frame).any(|callee| callee.shown.is_some() && has_register(callee.caller))
    }

    /// Whether the slow path of a place is left out; `None` if that was not decided.
    pub(super) fn lacks_slow_path(&self, place: usize) -> Option<bool> {
        self.lacks_slow_path.get(place).copied()
    }

    /// The targets of `Labels` operands.
    #[inline(always)]
    pub(super) fn labels<'s>(&'s self, source: &'s FunctionSource<'_>) -> &'s [u32] {
        if self.is_empty() { source.labels } else { &self.labels }
    }

    /// Turns the registers and labels in the operands of a place into those of the whole.
    pub(super) fn translate(&self, place: usize, infos: &[OperandInfo], raws: &mut [Raw]) {
        let frame = self.frame(place) as usize;
        let PlannedCall { places, labels, .. } = self.calls[frame];
        let first_register = self.inlining.frames[frame].first_register as Raw;
        for (info, raw) in core::iter::zip(infos, raws) {
            match info.kind {
                OperandKind::Imm | OperandKind::Site => {}
                OperandKind::Label => *raw = self.places[places as usize + *raw as usize] as Raw,
                // The start of a run is in the lower half.
                OperandKind::Labels => *raw += labels as Raw,
                // The operands of unreachable bytecode may name no registers.
                _ => *raw = raw.saturating_add(first_register),
            }
        }
    }
}

/// Whether the slow path of a bytecode is left out now.
pub(super) fn lacks_slow_path(source: &FunctionSource<'_>, at: usize) -> bool {
    source.slow_paths.is_some_and(|slow_paths| !slow_paths.have_run(at as u32))
}
