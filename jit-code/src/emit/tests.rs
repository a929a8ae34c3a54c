//! Linking on a fictional machine: instructions of four bytes, in which distances are bit fields of several widths.

use super::assembler::{CallRegisters, Target, Test};
use super::*;
use crate::exit::Records;
use crate::field::Field;
use crate::machine::toy::{Frame, STUBS, TOY};
use azulejo_core::fuzzing::Random;
use azulejo_core::target::Reg;
use core::ops::Deref;

/// The distances of its jumps and constant loads; they count from the instruction's start, in instructions.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Distance {
    Jump,
    Branch,
    Constant,
}

impl DistanceForm for Distance {
    fn field(self) -> Field {
        match self {
            Distance::Jump => Field { bytes: 4, first: 0, width: 26, shift: 2 },
            Distance::Branch | Distance::Constant => Field { bytes: 4, first: 5, width: 19, shift: 2 },
        }
    }

    fn base(self) -> u32 {
        0
    }

    fn shorter(self) -> Option<Shorter<Distance>> {
        None
    }
}

#[derive(Debug)]
struct Emitter(Buffer<Emitter>);

/// A register; nothing else may be an operand.
struct Register;

impl Place for Register {
    fn register(_: u8) -> Register {
        Register
    }

    fn stack(_: u32) -> Register {
        unreachable!("no instruction of this machine has an operand in memory")
    }
}

impl Deref for Emitter {
    type Target = Buffer<Emitter>;

    fn deref(&self) -> &Buffer<Emitter> {
        &self.0
    }
}

impl DerefMut for Emitter {
    fn deref_mut(&mut self) -> &mut Buffer<Emitter> {
        &mut self.0
    }
}

impl Backend for Emitter {
    const MACHINE: &'static Machine = &TOY;
    const STUBS: &'static Stubs = &STUBS;
    type Form = Distance;
    type Frame = Frame;
    type Place = Register;

    fn new(buffer: Buffer<Emitter>) -> Emitter {
        Emitter(buffer)
    }

    fn into_buffer(self) -> Buffer<Emitter> {
        self.0
    }

    fn prologue(&mut self) -> usize {
        self.instruction(MAKE);
        0
    }

    fn epilogue(&mut self) {
        unreachable!("nothing returns here")
    }

    fn shuffle(&mut self, _: &Move, _: u16) {
        unreachable!("what is emitted by hand is not allocated")
    }

    fn fill_slots(&mut self, _: u32, _: Accepts, _: &[u32]) -> bool {
        unreachable!("nothing is called here")
    }

    fn change_results(&mut self, _: Results) {
        unreachable!("nothing returns here")
    }

    fn callbacks<H: HostFunctions>() -> Callbacks {
        unreachable!("nothing is called here")
    }

    unsafe fn enter(_: *const u8, _: *mut (), _: *mut u64, _: *const ()) -> RawStatus {
        unreachable!("nobody has this machine")
    }
}

/// Nothing is entered or left, so none of these instructions is asked for.
impl Assembler for Emitter {
    const REGISTERS: CallRegisters = CallRegisters {
        results: [NONE; 2],
        cell: NONE,
        context: NONE,
        count: NONE,
        count_in_memory: NONE,
        entered_with: [NONE; 3],
        resume: [NONE; 5],
        noted: NONE,
        left: NONE,
        host: NONE,
        temp: NONE,
        kept: [NONE; 3],
        pinned: &[],
        interpreted: [NONE; 3],
    };

    fn copy_register(&mut self, _: Reg, _: Reg) {
        unreachable!()
    }

    fn set_register(&mut self, _: Reg, _: u64) {
        unreachable!()
    }

    fn clear_register(&mut self, _: Reg) {
        unreachable!()
    }

    fn set_later(&mut self, _: Reg) -> Vec<(usize, Field)> {
        unreachable!()
    }

    fn load_word(&mut self, _: Reg, _: Reg, _: i64) {
        unreachable!()
    }

    fn store_word(&mut self, _: Reg, _: i64, _: Option<Reg>) {
        unreachable!()
    }

    fn address(&mut self, _: Reg, _: Reg, _: i64) {
        unreachable!()
    }

    fn jump_at(&mut self, _: Target) {
        unreachable!()
    }

    fn call_at(&mut self, _: Target) {
        unreachable!()
    }

    fn jump_to(&mut self, _: Goal) {
        unreachable!()
    }

    fn branch_to(&mut self, _: Test, _: Block) {
        unreachable!()
    }

    fn skip_if(&mut self, _: Test) -> usize {
        unreachable!()
    }

    fn back_if(&mut self, _: Test, _: usize) {
        unreachable!()
    }

    fn land_skip(&mut self, _: usize) {
        unreachable!()
    }

    fn leave_noting(&mut self, _: u32, _: Block) {
        unreachable!()
    }

    fn store_state(&mut self, _: *const Records) {
        unreachable!()
    }
}

const NONE: Reg = Reg::int(0);

const NOTHING: u32 = 0xd503_201f;
const MAKE: u32 = 0xd100_43ff;
const JUMP: u32 = 0x1400_0000;
const BRANCH: u32 = 0x5400_000b;
const CONSTANT: u32 = 0x5c00_0007;

impl Emitter {
    fn instruction(&mut self, word: u32) {
        self.bytes(&word.to_le_bytes());
    }

    fn distant(&mut self, word: u32, to: Goal, form: Distance) {
        self.fixup(to, form);
        self.instruction(word);
    }
}

/// Blocks of random length, each of which reads a constant and ends with a branch and a jump to random blocks: all distances
/// lead to their goals, the other bits of the instructions stay, and the bytes between code and constants trap.
#[test]
fn distances_are_put_into_their_bits() {
    let mut random = Random::new(1);
    for _ in 0..200 {
        let n_blocks = 1 + random.below(12);
        let mut cx: Emitter = by_hand(&Options::default(), Frame);
        make_frame(&mut cx);
        let blocks: Vec<Block> = (0..n_blocks).map(|_| cx.add_block()).collect();
        let mut expected = Vec::new();
        for block in &blocks {
            cx.start(*block);
            (0..random.below(30)).for_each(|_| cx.instruction(NOTHING));
            let to = Goal::Constant(cx.pool.entry(random.below(5) as u128));
            expected.push((cx.here(), CONSTANT, to, Distance::Constant));
            cx.distant(CONSTANT, to, Distance::Constant);
            for (word, form) in [(BRANCH, Distance::Branch), (JUMP, Distance::Jump)] {
                let to = Goal::Block(blocks[random.below(n_blocks)]);
                expected.push((cx.here(), word, to, form));
                cx.distant(word, to, form);
            }
        }
        let (starts, before) = (cx.starts.clone(), cx.bytes.clone());
        let constants: Vec<u128> = (0..5).collect();
        let entries: Vec<u32> = constants.iter().map(|bits| cx.pool.entry(*bits)).collect();
        let mut code = Code::default();
        link_by_hand(cx, &mut code, true);
        assert_eq!(code.end as usize, before.len(), "this machine has no shorter jumps");
        let word = |code: &[u8], at: usize| {
            u32::from_le_bytes(code[at..at + 4].try_into().expect("an instruction has four bytes"))
        };
        let mut others: Vec<usize> = (0..before.len()).step_by(4).collect();
        for (at, plain, to, form) in expected {
            others.retain(|other| *other != at);
            let to_there = at as i64 + form.field().read(&code.bytes[at..]);
            match to {
                Goal::Block(block) => assert_eq!(to_there, starts[block.at()] as i64),
                Goal::Constant(entry) => {
                    let known = entries.iter().position(|known| *known == entry).expect("it has one");
                    let found = &code.bytes[to_there as usize..][..16];
                    assert_eq!(u128::from_le_bytes(found.try_into().expect("16 bytes")), constants[known]);
                }
                Goal::Address(_) | Goal::Exit(_) => unreachable!("there are none"),
            }
            assert_eq!(form.field().around(&code.bytes[at..]), plain as u64);
        }
        assert!(others.iter().all(|at| word(&code.bytes, *at) == word(&before, *at)));
        let pool = code.bytes.len() - 16 * entries.len();
        let gap = code.end as usize..pool;
        assert!(gap.clone().all(|at| code.bytes[at] == TOY.filler[at % 4]) && gap.len() < 16);
    }
}

/// A distance that does not fit its field is a panic, not a jump to another target.
#[test]
fn a_distance_that_does_not_fit_is_a_panic() {
    let link = |words: usize| {
        let mut cx: Emitter = by_hand(&Options::default(), Frame);
        let end = cx.add_block();
        cx.distant(BRANCH, Goal::Block(end), Distance::Branch);
        (1..words).for_each(|_| cx.instruction(NOTHING));
        cx.start(end);
        link_by_hand(cx, &mut Code::default(), true);
    };
    link((1 << 18) - 1);
    let panic = std::panic::catch_unwind(|| link(1 << 18)).expect_err("19 bits have a sign");
    assert!(panic.downcast_ref::<String>().is_some_and(|text| text.contains("Branch")));
}
