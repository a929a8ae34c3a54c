//! What a frame says of its function when it is shown.
//!
//! In: a function some of whose calls observe. Out: a [`FrameLayout`], whose address the frames of the function have: the function's
//! number, where in a frame it is shown, and which registers are alive at each of those calls. The last is found when somebody asks
//! for the first time.

use azulejo_core::ir::bytecode::{Bytecode, MAX_OPERANDS, Raw};
use azulejo_core::ir::frames::{SHOWN_SLOTS, ShowPlan, call_of};
use azulejo_core::pass::build::{FunctionSource, Instructions, Linkage, Roots, TemplateUses, roots};
use azulejo_core::verify::Shape;
use azulejo_core::vocab::Vocabulary;
use std::cell::OnceCell;
use std::fmt;
use std::slice;
use std::sync::Arc;

/// Whether functions are to show their frames, and as which function.
#[derive(Clone, Debug)]
pub(crate) struct Showing {
    /// The address of the word that leads to the newest of the frames that are shown.
    pub(crate) newest: u64,
    /// The function's number.
    pub(crate) function: u32,
    /// What the templates do with their operands.
    pub(crate) uses: Arc<TemplateUses>,
}

/// What is known of the frames of a function. It does not move, since frames have its address.
pub(crate) struct FrameLayout {
    function: u32,
    /// The first of the slots in which a frame is shown. The registers and the operand stack are below it.
    slot: u32,
    /// The size of a bytecode.
    size: u32,
    roots: OnceCell<Roots>,
    code: Box<dyn HasRoots>,
}

impl fmt::Debug for FrameLayout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FrameLayout").field("function", &self.function).finish_non_exhaustive()
    }
}

/// Bytecode of any type.
trait HasRoots {
    /// # Safety
    ///
    /// The bytecode must still exist.
    unsafe fn roots(&self) -> Roots;
    /// The number by which the roots know a call that a frame shows.
    ///
    /// # Safety
    ///
    /// The bytecode must still exist, and this is its engine's thread.
    unsafe fn call(&self, bytecode: u32, shown: u32) -> u32;
}

/// The bytecode of a function. The lists belong to the function's body, and nobody changes them.
struct Bytecodes<B> {
    ops: *const B,
    /// Where they run: some may have become others.
    running: *const B,
    len: usize,
    labels: (*const u32, usize),
    depths: (*const u32, usize),
    registers: u32,
    captured: Box<[u32]>,
    slots: u32,
    uses: Arc<TemplateUses>,
}

impl<B: Bytecode> Instructions for Bytecodes<B> {
    fn len(&self) -> usize {
        self.len
    }

    fn address_of(&self, _: usize) -> u64 {
        unreachable!("no code is made of this")
    }

    fn get(&self, at: usize) -> (usize, [Raw; MAX_OPERANDS]) {
        // SAFETY: the bytecode exists, as whoever asks for the roots promises.
        let ops = unsafe { slice::from_raw_parts(self.ops, self.len) };
        (ops[at].opcode(), ops[at].operands())
    }
}

impl<B: Bytecode> HasRoots for Bytecodes<B> {
    unsafe fn roots(&self) -> Roots {
        // SAFETY: the caller guarantees that they exist.
        let [labels, depths] =
            [self.labels, self.depths].map(|(first, len)| unsafe { slice::from_raw_parts(first, len) });
        let source = FunctionSource {
            vocab: Vocabulary { extra: B::OPERATORS },
            opcodes: B::OPCODES,
            templates: B::templates(),
            code: self,
            labels,
            locals: self.registers,
            slots: self.slots,
            depths,
            entry: 0,
            arguments: None,
            functions: Linkage::default(),
            slow_paths: None,
            sites: None,
            missing: 0,
            drops_surplus: false,
            captured: &self.captured,
            call_entry: None,
            callees: &[],
        };
        roots(&source, &self.uses)
    }

    unsafe fn call(&self, bytecode: u32, shown: u32) -> u32 {
        // SAFETY: the caller guarantees that they exist, and nobody writes them now.
        let [defined, now] =
            [self.ops, self.running].map(|ops| unsafe { *ops.add(bytecode as usize) }.opcode());
        call_of(shown, defined, now)
    }
}

impl FrameLayout {
    /// The layout of a function with these bytecodes, which run at this address, and whose frames get room to be shown in.
    pub(crate) fn new<B: Bytecode>(
        Showing { function, uses, .. }: Showing,
        (ops, running, labels): (&[B], *const B, &[u32]),
        (registers, captured): (u32, &[u32]),
        shape: &mut Shape,
    ) -> Box<FrameLayout> {
        let slot = shape.slots;
        shape.slots += SHOWN_SLOTS;
        let code = Bytecodes {
            ops: ops.as_ptr(),
            running,
            len: ops.len(),
            labels: (labels.as_ptr(), labels.len()),
            depths: (shape.depths.as_ptr(), shape.depths.len()),
            registers,
            captured: captured.into(),
            slots: slot,
            uses,
        };
        let (size, roots, code) = (size_of::<B>() as u32, OnceCell::new(), Box::new(code));
        Box::new(FrameLayout { function, slot, size, roots, code })
    }

    /// How the function shows its frames in the list to which this word leads.
    pub(crate) fn plan(&self, newest: u64) -> ShowPlan {
        ShowPlan { newest, layout: std::ptr::from_ref(self).expose_provenance() as u64, slot: self.slot }
    }

    /// The function's number.
    pub(crate) fn function(&self) -> u32 {
        self.function
    }

    /// The first of the slots in which a frame is shown.
    pub(crate) fn slot(&self) -> u32 {
        self.slot
    }

    /// The number of the bytecode at a distance from the first, in bytes.
    pub(crate) fn at_distance(&self, distance: u32) -> u32 {
        distance / self.size
    }

    /// The registers that are alive at a call of a bytecode.
    ///
    /// # Safety
    ///
    /// The function's body must exist, and this is its engine's thread. Whoever finds the layout by a frame knows that.
    pub(crate) unsafe fn roots_at(&self, bytecode: u32, call: u32) -> &[u32] {
        // SAFETY: the caller guarantees it.
        let roots = self.roots.get_or_init(|| unsafe { self.code.roots() });
        // SAFETY: as above.
        roots.at(bytecode, unsafe { self.code.call(bytecode, call) })
    }
}
