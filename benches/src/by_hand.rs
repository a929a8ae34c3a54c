//! A typical hand-written interpreter: a loop around a `match`, registers in an array, no checks.
//!
//! It is the yardstick for the generated interpreter, and provides the expected results of programs without a Rust twin.

use crate::assembler::Assembled;
use crate::op::{self, Op};

/// The maximum total number of slots of all active calls.
const SLOTS: usize = 1 << 12;

/// The memory for frames.
pub(crate) struct Stack(Vec<u64>);

impl Stack {
    /// A stack that is large enough for the programs.
    pub(crate) fn new() -> Stack {
        Stack(vec![0; SLOTS])
    }

    /// Runs a function.
    pub(crate) fn call(&mut self, code: &Assembled, args: &[u64]) -> u64 {
        self.0[..args.len()].copy_from_slice(args);
        // SAFETY: the programs stay within their registers and memory, and recursion within the stack.
        unsafe { run(code, self.0.as_mut_ptr()) }
    }
}

/// The maximum number of slots for pushed arguments.
const PUSHED: usize = 12;

/// # Safety
///
/// The code must be valid, and the frame as large as it and its callees need.
unsafe fn run(code: &Assembled, frame: *mut u64) -> u64 {
    // SAFETY: the author of the bytecode guarantees that registers, jumps and addresses are valid; the frame has
    // room for the registers and the pushed arguments.
    unsafe {
        let ops = code.ops.as_ptr();
        let mut stack = frame.add(code.registers as usize);
        let mut at = ops;
        macro_rules! get {
            ($reg:ident) => {
                *frame.add($reg.index as usize)
            };
            ($reg:ident f64) => {
                f64::from_bits(get!($reg))
            };
            ($reg:ident $ty:ident) => {
                get!($reg) as $ty
            };
        }
        macro_rules! set {
            ($reg:ident = $value:expr) => {{
                let value = $value;
                *frame.add($reg.index as usize) = value;
                at = at.add(1);
            }};
        }
        macro_rules! jump {
            ($to:ident) => {
                at = ops.add($to.0 as usize)
            };
            ($to:ident if $condition:expr) => {
                if $condition { jump!($to) } else { at = at.add(1) }
            };
        }
        macro_rules! float {
            ($dst:ident = $value:expr) => {
                set!($dst = f64::to_bits($value))
            };
        }
        macro_rules! place {
            ($base:ident [$index:ident] $ty:ident) => {
                (get!($base) as *mut $ty).offset(get!($index) as isize)
            };
        }
        macro_rules! pop {
            ($n:literal) => {{
                stack = stack.sub($n);
                std::array::from_fn::<i64, $n, _>(|at| *stack.add(at) as i64)
            }};
        }
        loop {
            match *at {
                Op::Int { dst, value } => set!(dst = value.0 as u64),
                Op::Float { dst, value } => float!(dst = value.0),
                Op::Move { dst, a } => set!(dst = get!(a)),
                Op::MoveFloat { dst, a } => set!(dst = get!(a)),
                Op::Add { dst, a, b } => set!(dst = get!(a).wrapping_add(get!(b))),
                Op::Sub { dst, a, b } => set!(dst = get!(a).wrapping_sub(get!(b))),
                Op::Mul { dst, a, b } => set!(dst = get!(a).wrapping_mul(get!(b))),
                Op::And { dst, a, b } => set!(dst = get!(a) & get!(b)),
                Op::Or { dst, a, b } => set!(dst = get!(a) | get!(b)),
                Op::Xor { dst, a, b } => set!(dst = get!(a) ^ get!(b)),
                Op::Shl { dst, a, b } => set!(dst = get!(a).wrapping_shl(get!(b u32))),
                Op::Shr { dst, a, b } => set!(dst = get!(a).wrapping_shr(get!(b u32))),
                Op::Sar { dst, a, b } => set!(dst = get!(a i64).wrapping_shr(get!(b u32)) as u64),
                Op::Rem { dst, a, b } => {
                    let divisor = get!(b);
                    assert!(divisor != 0, "the programs do not trap");
                    set!(dst = get!(a) % divisor)
                }
                Op::Less { dst, a, b } => set!(dst = (get!(a i64) < get!(b i64)) as u64),
                Op::AddConst { dst, a, k } => set!(dst = get!(a).wrapping_add(k.0 as i64 as u64)),
                Op::MulConst { dst, a, k } => set!(dst = get!(a).wrapping_mul(k.0 as i64 as u64)),
                Op::AndConst { dst, a, k } => set!(dst = get!(a) & k.0 as i64 as u64),
                Op::XorConst { dst, a, k } => set!(dst = get!(a) ^ k.0 as i64 as u64),
                Op::ShlConst { dst, a, k } => set!(dst = get!(a).wrapping_shl(k.0 as u32)),
                Op::ShrConst { dst, a, k } => set!(dst = get!(a).wrapping_shr(k.0 as u32)),
                Op::SarConst { dst, a, k } => set!(dst = get!(a i64).wrapping_shr(k.0 as u32) as u64),
                Op::RotlConst { dst, a, k } => set!(dst = get!(a).rotate_left(k.0 as u32 & 63)),
                Op::Add32 { dst, a, b } => set!(dst = get!(a u32).wrapping_add(get!(b u32)) as u64),
                Op::Sub32 { dst, a, b } => set!(dst = get!(a u32).wrapping_sub(get!(b u32)) as u64),
                Op::Mul32 { dst, a, b } => set!(dst = get!(a u32).wrapping_mul(get!(b u32)) as u64),
                Op::Xor32 { dst, a, b } => set!(dst = (get!(a u32) ^ get!(b u32)) as u64),
                Op::AddConst32 { dst, a, k } => set!(dst = get!(a u32).wrapping_add(k.0 as u32) as u64),
                Op::RotlConst32 { dst, a, k } => set!(dst = get!(a u32).rotate_left(k.0 as u32 & 31) as u64),
                Op::AddFloat { dst, a, b } => float!(dst = get!(a f64) + get!(b f64)),
                Op::SubFloat { dst, a, b } => float!(dst = get!(a f64) - get!(b f64)),
                Op::MulFloat { dst, a, b } => float!(dst = get!(a f64) * get!(b f64)),
                Op::DivFloat { dst, a, b } => float!(dst = get!(a f64) / get!(b f64)),
                Op::SqrtFloat { dst, a } => float!(dst = get!(a f64).sqrt()),
                Op::ToFloat { dst, a } => float!(dst = get!(a i64) as f64),
                Op::LoadU8 { dst, base, index } => set!(dst = *place!(base[index] u8) as u64),
                Op::LoadI32 { dst, base, index } => set!(dst = *place!(base[index] u32) as u64),
                Op::LoadI64 { dst, base, index } => set!(dst = *place!(base[index] u64)),
                Op::LoadF64 { dst, base, index } => set!(dst = *place!(base[index] u64)),
                Op::StoreU8 { base, index, a } => {
                    *place!(base[index] u8) = get!(a u8);
                    at = at.add(1)
                }
                Op::StoreI32 { base, index, a } => {
                    *place!(base[index] u32) = get!(a u32);
                    at = at.add(1)
                }
                Op::StoreI64 { base, index, a } => {
                    *place!(base[index] u64) = get!(a);
                    at = at.add(1)
                }
                Op::StoreF64 { base, index, a } => {
                    *place!(base[index] u64) = get!(a);
                    at = at.add(1)
                }
                Op::GetF64 { dst, base, offset } => {
                    set!(dst = *(get!(base) as *const u64).byte_offset(offset.0 as isize))
                }
                Op::PutF64 { base, offset, a } => {
                    *(get!(base) as *mut u64).byte_offset(offset.0 as isize) = get!(a);
                    at = at.add(1)
                }
                Op::Jump { to } => jump!(to),
                Op::JumpEq { a, b, to } => jump!(to if get!(a) == get!(b)),
                Op::JumpNe { a, b, to } => jump!(to if get!(a) != get!(b)),
                Op::JumpLt { a, b, to } => jump!(to if get!(a i64) < get!(b i64)),
                Op::JumpLe { a, b, to } => jump!(to if get!(a i64) <= get!(b i64)),
                Op::JumpEqConst { a, k, to } => jump!(to if get!(a i64) == k.0 as i64),
                Op::JumpNeConst { a, k, to } => jump!(to if get!(a i64) != k.0 as i64),
                Op::JumpLtConst { a, k, to } => jump!(to if get!(a i64) < k.0 as i64),
                Op::JumpLt32 { a, b, to } => jump!(to if get!(a i32) < get!(b i32)),
                Op::JumpLtFloat { a, b, to } => jump!(to if get!(a f64) < get!(b f64)),
                Op::JumpLeFloat { a, b, to } => jump!(to if get!(a f64) <= get!(b f64)),
                Op::Switch { a, to } => {
                    let case = get!(a).min(to.count as u64 - 1) as usize;
                    at = ops.add(*code.labels.get_unchecked(to.first as usize + case) as usize)
                }
                Op::Push { a, .. } => {
                    *stack = get!(a);
                    stack = stack.add(1);
                    at = at.add(1)
                }
                Op::Call1 { dst, a } => set!(dst = op::one(get!(a i64)) as u64),
                Op::Call6 { dst, .. } => {
                    let [a, b, c, d, e, f] = pop!(6);
                    set!(dst = op::six(a, b, c, d, e, f) as u64)
                }
                Op::Call12 { dst, .. } => {
                    let [a, b, c, d, e, f, g, h, i, j, k, l] = pop!(12);
                    set!(dst = op::twelve(a, b, c, d, e, f, g, h, i, j, k, l) as u64)
                }
                Op::Invoke { dst, a, .. } => {
                    let callee = frame.add(code.registers as usize + PUSHED);
                    *callee = get!(a);
                    set!(dst = run(code, callee))
                }
                Op::Return { a } => return get!(a),
                Op::ReturnFloat { a } => return get!(a),
            }
        }
    }
}
