//! The opcodes that a random program is made of.
//!
//! In: the opcodes of the rig's bytecode and their templates. Out: [`CHOICES`], the opcodes by what they do; the themes and
//! families that programs have; and which opcodes only stand where the plan wants them.

use crate::machine::Op;
use azulejo::Bytecode;
use azulejo_core::ir::graph::Effect;
use azulejo_core::ir::template::Step;
use azulejo_core::vocab::{Props, Vocabulary};
use std::sync::LazyLock;

/// Opcodes that are placed by the plan only.
pub(crate) const PLANNED: [&str; 21] = [
    "Count",
    "CountIf",
    "Return",
    "PushOne",
    "PushFloat",
    "PushWide",
    "StackAdd",
    "StackLess",
    "StackWide",
    "InvokePop",
    "ReturnNothing",
    "ReturnFloat",
    "ReturnSingle",
    "SumAt",
    "FillAt",
    "StackWides",
    "Dup",
    "PopOne",
    "PopJump",
    "PopWide",
    "Jump",
];
/// Opcodes that often end the program, so they are chosen rarely.
pub(crate) const ENDINGS: [&str; 10] =
    ["Div", "Udiv", "Rem", "Urem", "FtosTrap", "FtouTrap", "TrapIf", "ReturnIf", "Exit", "Guard"];

/// The selection of opcodes in a program.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Theme {
    /// All opcodes.
    Any,
    /// All opcodes, but few that may end the program: it is long, and all of it should run.
    Long,
    /// A few cells of memory.
    Cells,
    /// Another family of opcodes.
    Family(Family),
}

/// The themes of short programs, one of which is chosen at random.
pub(crate) const THEMES: [Theme; 16] = {
    let mut themes = [Theme::Any; 16];
    let mut at = 0;
    while at < 4 {
        themes[at] = Theme::Cells;
        at += 1;
    }
    themes[4] = Theme::Family(Family::Tagged);
    themes[5] = Theme::Family(Family::Swaps);
    themes[6] = Theme::Family(Family::Regions);
    themes[7] = Theme::Family(Family::Regions);
    themes[8] = Theme::Family(Family::Boxed);
    themes[9] = Theme::Family(Family::Boxed);
    themes[10] = Theme::Family(Family::Calls);
    themes[11] = Theme::Family(Family::Captured);
    themes
};

/// Opcodes that work on the same data.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Family {
    /// Values with tags.
    Tagged,
    /// Values of kinds.
    Boxed,
    /// Memory of two regions.
    Regions,
    /// Registers that are swapped.
    Swaps,
    /// Calls of the library's functions.
    Calls,
    /// Registers that are captured.
    Captured,
}

/// Sequences of work on the operand stack without a branch in between.
pub(crate) const STACK_WORK: [&[&str]; 8] = [
    &["PushOne", "PopOne"],
    &["PushOne", "PushOne", "StackAdd", "Dup", "PopOne", "PopJump"],
    &["PushFloat", "PushFloat", "StackLess", "PopJump"],
    &["PushOne", "Dup", "StackAdd", "PopOne"],
    &["PushOne", "StackWide", "PushWide", "StackAdd", "PopOne"],
    &["PushWide", "StackWides", "PopWide"],
    &["PushOne", "PushOne", "InvokePop", "StackAdd", "PopOne"],
    &["PushOne", "StackWides", "StackWide", "PopOne"],
];

/// The opcodes to choose from.
#[derive(Default)]
pub(crate) struct Choices {
    /// Most opcodes.
    pub(crate) usual: Vec<usize>,
    /// Opcodes that often end the program.
    pub(crate) endings: Vec<usize>,
    /// The usual opcodes that always continue at the next bytecode or at a label.
    pub(crate) lasting: Vec<usize>,
    /// The lasting opcodes by their effects: no memory and no calls, only reads, and the rest.
    pub(crate) quiet: Vec<usize>,
    pub(crate) loads: Vec<usize>,
    pub(crate) writes: Vec<usize>,
    /// Opcodes of the cells family that read, and those that write.
    pub(crate) cell_loads: Vec<usize>,
    pub(crate) cell_writes: Vec<usize>,
    pub(crate) tagged: Vec<usize>,
    pub(crate) boxed: Vec<usize>,
    pub(crate) regions: Vec<usize>,
    pub(crate) swaps: Vec<usize>,
    pub(crate) calls: Vec<usize>,
    pub(crate) captured: Vec<usize>,
}

pub(crate) static CHOICES: LazyLock<Choices> = LazyLock::new(|| {
    let mut choices = Choices::default();
    for (number, info) in Op::OPCODES.iter().enumerate() {
        let name = info.name;
        if PLANNED.contains(&name) {
            continue;
        }
        if ENDINGS.iter().any(|ending| name.starts_with(ending)) {
            choices.endings.push(number);
            continue;
        }
        choices.usual.push(number);
        let template = Op::templates()[number];
        let has = |props: Props| {
            let is_node = |step: &Step| matches!(step, Step::Node { op, .. } if Vocabulary::BUILTIN.info(*op).props.intersects(props));
            template.steps.iter().any(is_node)
        };
        let is_call = |step: &Step| match step {
            Step::Call { effect, .. } => *effect != Effect::Pure,
            Step::Invoke { .. } | Step::Window { .. } => true,
            _ => false,
        };
        let may_end = |step: &Step| {
            matches!(step, Step::Trap { .. } | Step::Return { .. } | Step::Tail { .. } | Step::Exit { .. })
        };
        let writes = has(Props::WRITES) || template.steps.iter().any(is_call);
        let reads = has(Props::READS);
        let families = [
            ("Tagged", &mut choices.tagged),
            ("Boxed", &mut choices.boxed),
            ("Regions", &mut choices.regions),
            ("Swap", &mut choices.swaps),
            ("Invoke", &mut choices.calls),
            ("Capture", &mut choices.captured),
        ];
        families
            .into_iter()
            .filter(|(start, _)| name.starts_with(start))
            .for_each(|(_, all)| all.push(number));
        if name.starts_with("Cell") {
            let of_cells = if writes { &mut choices.cell_writes } else { &mut choices.cell_loads };
            of_cells.push(number);
        }
        if !template.steps.iter().any(may_end) {
            choices.lasting.push(number);
            let kind = match (writes, reads) {
                (true, _) => &mut choices.writes,
                (false, true) => &mut choices.loads,
                (false, false) => &mut choices.quiet,
            };
            kind.push(number);
        }
    }
    choices
});
