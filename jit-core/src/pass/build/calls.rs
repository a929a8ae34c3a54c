//! What templates say of their calls: which could be inlined, and which functions may be where that is done.
//!
//! In: a template. Out: its calls of functions of bytecode behind which nothing is left to do but to store the result. An exit in an
//! inlined function has to say where the caller goes on, and it can only say: at its next bytecode, with the result in a register. So
//! the answer follows from the template alone. Behind a tail call its caller has nothing to do at all: the callee takes the caller's place,
//! if that is inlined itself.

use super::effects::ByOpcode;
use super::known_steps::{ControlFlow, quick_steps, steps_without_cases, steps_without_made};
use super::{FunctionSource, Linkage};
use crate::ir::bytecode::{OpcodeInfo, OperandKind, Raw, run_of};
use crate::ir::graph::Effect;
use crate::ir::template::{Arguments, Ref, Step, Template};
use crate::vocab::{Op, Type, Vocabulary};
use core::cell::OnceCell;

/// A call that can be inlined if its callee is known.
#[derive(Clone, Copy, Debug)]
pub(super) struct CallSite {
    /// The step of the template.
    pub(super) step: usize,
    pub(super) callee: CalleeAt,
    pub(super) args: Arguments,
    /// The type that the result is read as.
    pub(super) ret: Type,
    /// The operand that the result is written to, if it is.
    pub(super) result: Option<u8>,
    /// Which of the template's calls that show their frame it is, if it does.
    pub(super) shown: Option<u32>,
    /// Whether it is a tail call. What becomes of the result is for the caller's caller to say.
    pub(super) is_tail: bool,
}

/// What the templates of one table say of their calls, each found out once.
#[derive(Debug, Default)]
pub struct TemplateCalls {
    /// Whether frames are shown.
    shows: bool,
    of_opcode: ByOpcode<OpcodeCalls>,
}

/// What a template says of its calls.
#[derive(Debug)]
pub(super) struct OpcodeCalls {
    /// The calls that can be inlined.
    pub(super) sites: Vec<CallSite>,
    /// Whether it needs its function's own frame, whatever is inlined.
    is_refused: QuickAndSlow,
    /// The steps that matter unless they are calls that are inlined.
    framed: Vec<Framed>,
    /// The steps at which other code may see the VM registers in their slots, and whether control comes there without the slow path.
    observing: Vec<(usize, bool)>,
    /// Whether it takes the frame's address, by which other code may see all registers at any time.
    pub(super) exposes: bool,
    /// Where control goes in it, found when it is first asked for.
    control: OnceCell<ControlFlow>,
}

/// A step at which a template needs a frame in memory, or ends its function by a tail call.
#[derive(Clone, Copy, Debug)]
struct Framed {
    step: usize,
    /// Whether control comes there without the slow path.
    quick: bool,
    /// Whether it is a call to which the frame is shown: any memory that is laid out like a frame will do.
    is_shown: bool,
    /// Whether control comes there only if the memory is made that the template makes.
    goes_with_made: bool,
}

/// What an inlined function needs for a bytecode.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum FrameNeed {
    Nothing,
    /// Memory in which its frame is shown, if it makes memory that is needed.
    ShownIfMade,
    /// Memory in which its frame is shown.
    Shown,
    /// A frame of its own: it cannot be inlined.
    Own,
}

impl TemplateCalls {
    /// What the template of an opcode says.
    pub(super) fn of(&mut self, source: &FunctionSource<'_>, opcode: usize) -> &OpcodeCalls {
        let shows = source.functions.show.is_some();
        if self.shows != shows {
            *self = TemplateCalls { shows, ..TemplateCalls::default() };
        }
        let find = |template: &_, info: &_| OpcodeCalls::of(source.vocab, template, info, shows);
        self.of_opcode.of(source, opcode, find)
    }

    /// The same of an opcode that was asked for before.
    pub(super) fn known(&self, opcode: usize) -> &OpcodeCalls {
        self.of_opcode.known(opcode)
    }
}

impl OpcodeCalls {
    fn of(vocab: Vocabulary, template: &Template, opcode: &OpcodeInfo, shows: bool) -> OpcodeCalls {
        let is_written = opcode.operands.iter().any(|info| info.kind == OperandKind::RegsMut);
        let mut is_refused = QuickAndSlow { quick: is_written, slow: false };
        let (mut framed, mut observing, mut was_shown) = (Vec::new(), Vec::new(), false);
        let quick_steps = quick_steps(template);
        for (number, (step, &quick)) in core::iter::zip(template.steps, &quick_steps).enumerate() {
            let is_shown = core::mem::replace(&mut was_shown, matches!(step, Step::Show { .. }));
            let goes_with_made = false;
            if observes(step) {
                observing.push((number, quick));
            }
            match step {
                Step::Window { .. } => is_refused.add(quick, true),
                Step::Tail { .. } => {
                    framed.push(Framed { step: number, quick, is_shown: false, goes_with_made })
                }
                // Its callees may look at the callers of the function, who show no frame while that is inlined.
                Step::Invoke { .. } if shows => {
                    framed.push(Framed { step: number, quick, is_shown, goes_with_made })
                }
                // Nor does a function of Rust show them to the bytecode that it calls.
                Step::Call { effect: Effect::Memory, .. } if shows => {
                    framed.push(Framed { step: number, quick, is_shown: false, goes_with_made });
                }
                step if observes(step) => {
                    framed.push(Framed { step: number, quick, is_shown: shows && is_shown, goes_with_made });
                }
                _ => {}
            }
        }
        if template.steps.iter().any(|step| matches!(step, Step::Node { op: Op::KEPT, .. })) {
            let control = ControlFlow::of(vocab, template);
            let without_made = steps_without_made(vocab, template, &control);
            framed.iter_mut().for_each(|framed| framed.goes_with_made = !without_made.contains(framed.step));
        }
        let exposes = template.takes_address_of_frame();
        let sites = call_sites(template, opcode, &quick_steps);
        OpcodeCalls { sites, is_refused, framed, observing, exposes, control: OnceCell::new() }
    }

    /// Where control goes in the template, which is the opcode's.
    pub(super) fn control(&self, vocab: Vocabulary, template: &Template) -> &ControlFlow {
        self.control.get_or_init(|| ControlFlow::of(vocab, template))
    }

    /// Where other code may see the VM registers in their slots, beside what happens at these steps.
    pub(super) fn observing(&self, is_left_out: impl Fn(usize) -> bool) -> QuickAndSlow {
        let mut parts = QuickAndSlow::default();
        for &(step, quick) in &self.observing {
            parts.add(quick, !is_left_out(step));
        }
        parts
    }

    /// What a bytecode needs beside what these of its calls need, which are inlined.
    pub(super) fn needs_frame(&self, lacks_slow_path: bool, is_inlined: impl Fn(usize) -> bool) -> FrameNeed {
        if self.is_refused.remains(lacks_slow_path) {
            return FrameNeed::Own;
        }
        let remains = |call: &&Framed| (call.quick || !lacks_slow_path) && !is_inlined(call.step);
        let need = |call: &Framed| match call.is_shown {
            true if call.goes_with_made => FrameNeed::ShownIfMade,
            true => FrameNeed::Shown,
            false => FrameNeed::Own,
        };
        self.framed.iter().filter(remains).map(need).max().unwrap_or(FrameNeed::Nothing)
    }

    /// Whether it can be inlined, if all calls were inlined that can be.
    pub(super) fn may_be_inlined(&self, lacks_slow_path: bool) -> bool {
        let is_site = |step| self.sites.iter().any(|site| site.step == step);
        self.needs_frame(lacks_slow_path, is_site) < FrameNeed::Own
    }
}

/// Where a template has a callee's number or address from.
#[derive(Clone, Copy, Debug)]
pub(super) enum CalleeAt {
    /// A constant of the bytecode with this type: a number, or an address if it has 64 bits.
    Constant(u8, Type),
    /// An address in a site.
    Site { operand: u8, offset: u32, learns_slowly: bool },
}

impl CallSite {
    /// How many arguments the call has, if its bytecode, which has these operands, says that.
    pub(super) fn given(&self, raws: &[Raw]) -> Option<usize> {
        match self.args {
            Arguments::Values(values) => Some(values.len()),
            Arguments::Run(operand) => Some(run_of(raws[operand as usize]).len()),
            Arguments::Spread(_) => None,
        }
    }
}

impl CalleeAt {
    /// The address of the callee's call cell, if it is known.
    pub(super) fn cell(
        self,
        source: &FunctionSource<'_>,
        functions: &Linkage<'_>,
        raws: &[Raw],
        lacks_slow_path: bool,
    ) -> Option<u64> {
        match self {
            CalleeAt::Constant(operand, Type::I64) => Some(raws[operand as usize]),
            CalleeAt::Constant(operand, ty) => {
                functions.cells.get(ty.truncate(raws[operand as usize]) as usize).copied()
            }
            CalleeAt::Site { .. } => self.known(source, raws, Type::I64, lacks_slow_path),
        }
    }

    /// A value in a site, if it is known.
    pub(super) fn known(
        self,
        source: &FunctionSource<'_>,
        raws: &[Raw],
        ty: Type,
        lacks_slow_path: bool,
    ) -> Option<u64> {
        let CalleeAt::Site { operand, offset, learns_slowly } = self else { return None };
        let site = raws[operand as usize];
        let sites = source.sites?;
        let is_known = learns_slowly && lacks_slow_path || sites.is_full(site);
        // SAFETY: templates read nothing else of sites.
        is_known.then(|| unsafe { sites.read(site + offset as u64, ty.bytes()) }).flatten()
    }

    /// Whether the call is for the cases of a site that has none, and gets none but on a slow path that is left out.
    pub(super) fn has_no_case(
        self,
        source: &FunctionSource<'_>,
        raws: &[Raw],
        lacks_slow_path: bool,
    ) -> bool {
        let CalleeAt::Site { operand, learns_slowly: true, .. } = self else { return false };
        lacks_slow_path && source.n_cases(raws[operand as usize]) == Some(0)
    }
}

/// What stands in a template where control comes without its slow path, and where it comes only by that.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct QuickAndSlow {
    pub(super) quick: bool,
    pub(super) slow: bool,
}

impl QuickAndSlow {
    /// Notes that it stands, or does not, at a step to which control comes without the slow path, or only by that.
    fn add(&mut self, is_quick: bool, stands: bool) {
        let part = if is_quick { &mut self.quick } else { &mut self.slow };
        *part |= stands;
    }

    /// Whether it stands in what is left of the template.
    pub(super) fn remains(self, lacks_slow_path: bool) -> bool {
        self.quick || self.slow && !lacks_slow_path
    }
}

/// Where other code may see the VM registers in their slots.
pub(super) fn observing(template: &Template) -> QuickAndSlow {
    let mut parts = QuickAndSlow::default();
    for (step, quick) in core::iter::zip(template.steps, quick_steps(template)) {
        parts.add(quick, observes(step));
    }
    parts
}

/// The site, which gets cases on the slow path only, without whose cases other code sees VM registers on that path only, if there is one.
pub(super) fn observes_for(vocab: Vocabulary, template: &Template) -> Option<u8> {
    let site = template.steps.iter().find_map(|step| match *step {
        Step::SiteValue { operand, learns_slowly: true, .. } => Some(operand),
        _ => None,
    })?;
    let control = ControlFlow::of(vocab, template);
    let remaining = steps_without_cases(vocab, template, &control, site);
    let mut observing = template.steps.iter().enumerate().filter(|(_, step)| observes(step));
    observing.all(|(number, _)| !remaining.contains(number)).then_some(site)
}

fn observes(step: &Step) -> bool {
    matches!(
        step,
        Step::Node { op: Op::LOCAL, .. }
            | Step::Call { effect: Effect::Observes, .. }
            | Step::Invoke { effect: Effect::Observes, .. }
    )
}

/// The calls of a template that can be inlined.
fn call_sites(template: &Template, opcode: &OpcodeInfo, quick_steps: &[bool]) -> Vec<CallSite> {
    let mut sites = Vec::new();
    let has_calls = template.steps.iter().any(|step| matches!(step, Step::Invoke { .. } | Step::Tail { .. }));
    // Registers that other code may write at any time are read again behind the template, and none is left in the middle of it.
    let is_exposed = opcode.operands.iter().any(|info| info.kind == OperandKind::RegsMut)
        || template.takes_address_of_frame();
    if !has_calls || is_exposed {
        return sites;
    }
    let block_starts = block_starts(template);
    let mut values: Vec<Option<CalleeAt>> = Vec::new();
    let mut before = None;
    for (number, (step, quick)) in core::iter::zip(template.steps, quick_steps).enumerate() {
        let call = match *step {
            Step::Invoke { function, args, ret, catches: false, .. } => Some((function, args, ret, false)),
            Step::Tail { function, args } => Some((function, args, Type::I64, true)),
            _ => None,
        };
        if let Some((function, args, ret, is_tail)) = call
            && !matches!(args, Arguments::Spread(_))
            && let Some(callee) = values[function as usize].filter(|_| *quick)
            && let Some(result) = match is_tail {
                true => Some(None),
                false => stores_result(template, &block_starts, number, values.len() as Ref, ret),
            }
        {
            sites.push(CallSite { step: number, callee, args, ret, result, shown: before, is_tail });
        }
        before = match *step {
            Step::Show { call } => Some(call),
            _ => None,
        };
        let origin = match *step {
            Step::Constant { operand, ty } => Some(CalleeAt::Constant(operand, ty)),
            Step::SiteValue { operand, offset, ty: Type::I64, learns_slowly } => {
                Some(CalleeAt::Site { operand, offset, learns_slowly })
            }
            _ => None,
        };
        values.extend(core::iter::repeat_n(origin, step.n_values()));
    }
    sites
}

/// Where a template's blocks start: the step, and the number of the first parameter.
fn block_starts(template: &Template) -> Vec<(usize, usize)> {
    let mut starts = vec![(0, 0); template.blocks as usize];
    let mut n_values = 0;
    for (number, step) in template.steps.iter().enumerate() {
        if let Step::Block { block, .. } = *step {
            starts[block as usize] = (number, n_values);
        }
        n_values += step.n_values();
    }
    starts
}

/// If the steps behind a call do nothing but to write its result to one operand at most, that operand.
fn stores_result(
    template: &Template,
    block_starts: &[(usize, usize)],
    call: usize,
    result: Ref,
    ret: Type,
) -> Option<Option<u8>> {
    let mut results: Vec<Ref> = if ret == Type::Void { Vec::new() } else { vec![result] };
    let mut written = None;
    let mut at = call + 1;
    // A loop without an end does something else.
    for _ in call..template.steps.len() {
        let Some(step) = template.steps.get(at) else { return Some(written) };
        at += 1;
        match *step {
            Step::Next => return Some(written),
            Step::Write { operand, value } if results.contains(&value) => {
                if written.is_some_and(|other| other != operand) {
                    return None;
                }
                written = Some(operand);
            }
            Step::Jump { block, args } => {
                let (start, first) = block_starts[block as usize];
                let passed = args.iter().enumerate().filter(|(_, arg)| results.contains(arg));
                let passed: Vec<Ref> = passed.map(|(param, _)| (first + param) as Ref).collect();
                results.extend(passed);
                at = start + 1;
            }
            _ => return None,
        }
    }
    (at >= template.steps.len()).then_some(written)
}
